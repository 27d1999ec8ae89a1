//! What is decided about a fact before anything is written: the rule that takes it, its severity, its bump, and its conversion.

use rayon::prelude::*;

use crate::find::conversion::coverage::Cover;
use crate::judge::finding::{Bump, Class, Finding, Severity, Spot, Status, fingerprint};
use crate::judge::policy::Situation;
use crate::judge::rule::{Need, Rule};
use crate::model::fact::{Fact, Mark, Subject};
use crate::model::{Place, Priority};

use super::conversions::Covering;
use super::{Judgement, Side};

/// A fact that a rule takes, with what the policy says about it.
pub(super) struct Ruling<'r> {
    pub fact: &'r Fact,
    pub rule: &'r Rule,
    pub severity: Severity,
    pub bump: Bump,
    /// The conversion that covers the change, if it is one that needs a conversion.
    pub cover: Option<Cover>,
    /// Whether the rule is one of a team's own that adds to the built-in one.
    pub extra: bool,
}

/// Decides about facts, in their order. What the policy switches off is left out.
pub(super) fn rule_all<'r>(facts: &'r [Fact], judgement: &Judgement<'r>, covering: Option<&Covering<'_>>) -> Vec<Ruling<'r>> {
    let ruled = facts.par_iter().with_min_len(64).map(|fact| rule(fact, judgement, covering));
    ruled.collect::<Vec<_>>().into_iter().flatten().collect()
}

fn rule<'r>(fact: &'r Fact, judgement: &Judgement<'r>, covering: Option<&Covering<'_>>) -> Vec<Ruling<'r>> {
    let maturity = maturity(fact);
    let ruling = |taken: crate::judge::rule::Taken<'r>| {
        let rule = taken.rule;
        let cover = covering.filter(|_| needs_conversion(rule, fact)).and_then(|covering| covering.cover(fact));
        let situation = Situation {
            channel: channel(fact),
            maturity,
            graduates: fact.is(Mark::Graduates),
            deprecated: fact.is(Mark::WasDeprecated),
            covered: cover.is_some(),
            raised: taken.raised,
        };
        let (severity, bump) = judgement.policy.judge(rule, &situation)?;
        let bump = if rule.class.is_some() { bump } else { Bump::None };
        Some(Ruling { fact, rule, severity, bump, cover, extra: taken.extra })
    };
    judgement.book.rules_for(fact, maturity).into_iter().filter_map(ruling).collect()
}

/// Whether a change needs a conversion: a break, or a difference that a new version has to bridge.
pub(super) fn needs_conversion(rule: &Rule, fact: &Fact) -> bool {
    rule.conversion != Need::None && (rule.class == Some(Class::SemanticBreaking) || fact.subject == Subject::NewVersion)
}

impl Ruling<'_> {
    pub fn is_break(&self) -> bool {
        self.rule.class == Some(Class::SemanticBreaking)
    }

    /// The channel that the change is judged by.
    pub fn channel(&self) -> &str {
        channel(self.fact)
    }

    fn into_finding(self, old: Option<&Side<'_>>, new: &Side<'_>, judgement: &Judgement<'_>) -> Finding {
        let Ruling { fact, rule, severity, bump, cover, .. } = self;
        let (message, help) = rule.texts(fact);
        let path = fact.path.to_string();
        let version = fact.version.clone();
        let mut parts =
            vec![rule.first_id(), &*fact.crd, version.as_deref().unwrap_or_default(), &*path, fact.key.as_deref().unwrap_or_default()];
        // A CRD name may exist in each channel, and one rule may be about several keywords.
        parts.extend(fact.channel.as_deref());
        parts.extend((rule.matches.aspects.len() > 1).then(|| fact.aspect.name()));
        Finding {
            rule: rule.id.clone(),
            family: rule.family,
            kind: rule.kind,
            title: rule.title.clone(),
            class: rule.class,
            severity,
            bump,
            crd: fact.crd.clone(),
            fingerprint: fingerprint(&parts),
            version,
            path,
            to: fact.to.as_ref().map(ToString::to_string),
            message,
            help,
            affects: fact.affects,
            certainty: fact.evidence.certainty,
            ratchet: fact.ratchet,
            status: if fact.pre_existing { Status::PreExisting } else { Status::New },
            before: old.and_then(|old| old.spot(fact.before)),
            after: new.spot(fact.after).or_else(|| manifest_spot(judgement, fact.after?)),
            witness: fact.evidence.witness.clone(),
            waiver: None,
            conversion: cover.map(|cover| cover.manifest),
            suggestion: fact.suggestion.clone(),
            field: fact.field.clone(),
        }
    }
}

/// Writes the findings, sorted by place.
pub(super) fn findings(rulings: Vec<Ruling<'_>>, old: Option<&Side<'_>>, new: &Side<'_>, judgement: &Judgement<'_>) -> Vec<Finding> {
    let written = rulings.into_par_iter().with_min_len(64).map(|ruling| ruling.into_finding(old, new, judgement));
    let mut findings: Vec<Finding> = written.collect();
    findings.sort_by(|a, b| a.coordinates().cmp(&b.coordinates()).then_with(|| a.message.cmp(&b.message)));
    findings
}

/// The worst class and the highest bump of all changes; waivers don't lower them.
pub(super) fn verdict(rulings: &[Ruling<'_>]) -> (Class, Bump) {
    let class = rulings.iter().filter_map(|ruling| ruling.rule.class).max().unwrap_or(Class::None);
    let bump = rulings.iter().map(|ruling| ruling.bump).max().unwrap_or(Bump::None);
    (class, bump)
}

/// A place in a conversion manifest.
fn manifest_spot(judgement: &Judgement<'_>, place: Place) -> Option<Spot> {
    let file = judgement.conversions.now?.file(place.file)?;
    let at = file.place(place.span.start as usize);
    Some(Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(place) })
}

/// The maturity of the field or of the whole CRD if it is known, otherwise that of the version's name.
fn maturity(fact: &Fact) -> &'static str {
    let of_version = || fact.version.as_deref().map(|version| Priority::of(version).maturity());
    fact.maturity.or_else(of_version).map_or("", |maturity| maturity.name())
}

/// The channel that the change is judged by: the old one if somebody relied on it.
fn channel(fact: &Fact) -> &str {
    fact.former_channel.as_deref().or(fact.channel.as_deref()).unwrap_or_default()
}
