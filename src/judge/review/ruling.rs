//! Decides about a fact before any finding is written: its rule, severity, bump and conversion.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::find::conversion::conversion_coverage::Cover;
use crate::judge::finding::{Bump, Class, Finding, Severity, Spot, Status, Values, fingerprint};
use crate::judge::policy::Situation;
use crate::judge::rule::{Book, FactView, MatchingRule, Need, Rule};
use crate::model::fact::{Aspect, Certainty, Effect, Fact, Mark, Subject, Word};
use crate::model::kubernetes::{Feature, Minors};
use crate::model::{Place, Priority};

use super::conversions::Covering;
use super::embedded_types::EmbeddedTypes;
use super::{Judgement, Side};

/// A fact with the rule that judges it and the policy's decision.
pub(super) struct Ruling<'r> {
    pub fact: &'r Fact,
    pub rule: &'r Rule,
    pub severity: Severity,
    pub bump: Bump,
    /// The conversion that covers the change, if the change needs one.
    pub cover: Option<Cover>,
    /// Whether that conversion lowers the severity of the change.
    pub lowered: bool,
    /// Whether a draft of a manifest has a step for the change that can be proved.
    pub drafted: bool,
    /// Whether this is a custom rule that adds to the built-in one.
    pub extra: bool,
    /// Whether the last release contains what is broken, if known.
    pub released: Option<bool>,
    /// The rulings that this one follows from.
    pub causes: Vec<usize>,
}

/// Decides about facts, in order. Facts whose rule the policy switches off are left out.
pub(super) fn rule_all<'r>(facts: &'r [Fact], judgement: &Judgement<'r>, covering: Option<&Covering<'_>>) -> Vec<Ruling<'r>> {
    facts.par_iter().with_min_len(64).flat_map_iter(|fact| rule(fact, judgement, covering, facts.len())).collect()
}

fn rule<'r>(fact: &'r Fact, judgement: &Judgement<'r>, covering: Option<&Covering<'_>>, facts: usize) -> Vec<Ruling<'r>> {
    let kind = (fact.subject, fact.aspect, fact.effect);
    // The built-in pages are the list of what finders may emit.
    debug_assert!(Book::builtin().takes(kind) > 0, "no page in `rules/` matches {} {} {}", kind.0, kind.1, kind.2);
    let view = &FactView::one_of(fact, maturity(fact), facts);
    let ruling = |taken: MatchingRule<'r>| {
        let rule = taken.rule;
        let cover = covering.filter(|_| needs_conversion(rule, fact)).and_then(|covering| covering.cover(fact));
        let lowered = cover.as_ref().is_some_and(|cover| covering.is_some_and(|covering| covering.lowers(cover)));
        let situation = Situation {
            fact: view,
            channel: channel(fact),
            graduates: fact.is(Mark::Graduates),
            deprecated: fact.is(Mark::WasDeprecated),
            covered: lowered,
            raised: taken.raised,
        };
        let (severity, bump) = judgement.policy.judge(rule, &situation)?;
        let bump = if rule.class.is_some() { bump } else { Bump::None };
        Some(Ruling { fact, rule, severity, bump, cover, lowered, drafted: false, extra: taken.extra, released: None, causes: Vec::new() })
    };
    let rulings = judgement.book.rules_for(view).into_iter().filter_map(ruling).collect();
    if view.is_cut() {
        judgement.book.cut();
    }
    rulings
}

/// Whether a change needs a conversion: a break, or a difference between versions that a conversion must handle.
pub(super) fn needs_conversion(rule: &Rule, fact: &Fact) -> bool {
    rule.conversion != Need::None && (rule.class == Some(Class::SemanticBreaking) || fact.subject == Subject::NewVersion)
}

impl Ruling<'_> {
    pub fn is_break(&self) -> bool {
        self.rule.class == Some(Class::SemanticBreaking)
    }

    /// Whether the change has consequences: someone may already use what changed, and the policy cares.
    pub fn counts(&self) -> bool {
        self.released != Some(false) && self.severity > Severity::Info
    }

    /// The channel that the change is judged by.
    pub fn channel(&self) -> &str {
        channel(self.fact)
    }

    fn fingerprint(&self) -> String {
        let Ruling { fact, rule, .. } = self;
        let path = fact.path.to_string();
        let version = fact.version.as_deref().unwrap_or_default();
        let mut parts = vec![rule.first_id(), &*fact.crd, version, &*path, fact.key.as_deref().unwrap_or_default()];
        // Each channel and several files may have a CRD of the same name, and one rule may judge several keywords.
        parts.extend(fact.channel.as_deref());
        parts.extend(fact.variant.as_deref());
        parts.extend((rule.matches.aspects.len() > 1).then(|| fact.aspect.name()));
        // The edit itself is part of a change's identity: accepting `10 → 5` doesn't accept a later `5 → 3`, nor the next version
        // that is too low.
        if rule.class.is_some() || fact.subject == Subject::Bundle {
            let values = [Word::Old, Word::New].into_iter().filter_map(|word| Some([word.name(), fact.words.get(&word)?.as_str()]));
            parts.extend(values.flatten());
        }
        fingerprint(&parts)
    }

    /// Identifies the same edit wherever it is made: the rule, the values before and after, and the name of a field that was added,
    /// removed or made required. All edits of an embedded type are one, because one dependency update made them. A server refuses
    /// each mistake separately. Other findings are grouped by rule.
    fn group(&self, embedded: Option<&str>, message: &str) -> String {
        let Ruling { fact, rule, .. } = self;
        let said = message.replace(&fact.path.to_string(), "");
        match (rule.class, embedded) {
            (Some(class), Some(name)) if class != Class::None => fingerprint(&["embedded", name, class.name()]),
            (Some(_), _) => {
                let words = [Word::Old, Word::New].map(|word| fact.words.get(&word).map_or("", String::as_str));
                let name = fact.path.name().filter(|_| matches!(fact.aspect, Aspect::Presence | Aspect::Required));
                let mut parts = vec![rule.first_id()];
                parts.extend(words.into_iter().chain([fact.key.as_deref().unwrap_or_default(), name.unwrap_or_default()]));
                // What else changed with a name.
                parts.extend([Word::Retyped, Word::Differing].iter().filter_map(|word| fact.words.get(word).map(String::as_str)));
                // One rule may judge several keywords, and `unset → 1` says little without the keyword.
                parts.extend((rule.matches.aspects.len() > 1).then(|| fact.aspect.name()));
                fingerprint(&parts)
            }
            (None, _) if fact.is_refusal() => fingerprint(&[rule.first_id(), &said]),
            (None, _) => fingerprint(&[rule.first_id()]),
        }
    }

    fn values(&self) -> Option<Values> {
        let word = |word: Word| self.fact.words.get(&word).cloned();
        self.rule.class?;
        let are_rules = matches!(self.fact.aspect, Aspect::CelRule | Aspect::CelTransition);
        Some(Values { old: word(Word::Old)?, new: word(Word::New)?, are_rules })
    }

    fn finding(&self, fingerprint: String, causes: Vec<String>, embedded: Option<&str>, context: &Context<'_, '_>) -> Finding {
        let Context { old, new, judgement, release } = context;
        let Ruling { fact, rule, severity, bump, cover, released, .. } = self;
        let (mut message, help) = rule.texts(fact);
        let group = self.group(embedded, &message);
        if fact.is(Mark::RefusedAgain) {
            message.push_str(" (the old CRD has the same mistake, and the API server still rejects the update)");
        }
        if fact.is(Mark::RefusedOnUpdate) {
            message.push_str(" (a stored CRD that has it can't be updated either)");
        }
        if let (Some(false), Some(release)) = (released, release) {
            message.push_str(&format!(" (the last release, {release}, doesn't contain it)"));
        }
        if let Some(minors) = fact.kubernetes {
            message.push_str(&format!(" (only on Kubernetes {minors})"));
        }
        message.push_str(&stored_expression(fact, judgement.context.kubernetes));
        if let Some(minors) = fact.untolerated {
            message.push_str(&format!(" (Kubernetes {minors} also rejects updates that leave it unchanged)"));
        }
        Finding {
            rule: rule.id.clone(),
            family: rule.family,
            kind: rule.kind,
            title: rule.title.clone(),
            class: rule.class,
            severity: *severity,
            bump: *bump,
            crd: fact.crd.clone(),
            variant: fact.variant.clone(),
            fingerprint,
            version: fact.version.clone(),
            path: fact.path.to_string(),
            to: fact.to.as_ref().map(ToString::to_string),
            message,
            help,
            affects: fact.affects,
            certainty: fact.evidence.certainty,
            reason: fact.evidence.reason.clone().filter(|_| fact.evidence.certainty != Certainty::Proved),
            ratchet: fact.ratchet,
            kubernetes: fact.kubernetes,
            status: if fact.pre_existing { Status::PreExisting } else { Status::New },
            before: old.and_then(|old| old.spot(fact.before)),
            after: new.spot(fact.after).or_else(|| manifest_spot(judgement, fact.after?)),
            witness: fact.evidence.witness.clone(),
            waiver: None,
            conversion: cover.as_ref().filter(|_| self.lowered || !self.is_break()).map(|cover| cover.manifest.clone()),
            drafted: self.drafted,
            suggestion: fact.suggestion.clone(),
            field: fact.field.clone(),
            released: *released,
            objects: None,
            cause: causes,
            group,
            values: self.values(),
            embedded: embedded.map(str::to_owned),
        }
    }
}

/// The servers where a refused expression still works, and those where it fails even if already stored.
fn stored_expression(fact: &Fact, range: Minors) -> String {
    if !fact.is_refusal() || !matches!(fact.aspect, Aspect::CelRule | Aspect::CelMessageExpression) || fact.effect != Effect::Invalid {
        return String::new();
    }
    let mut said = Vec::new();
    if fact.is(Mark::OldSelfDropped) {
        said.push(format!("servers before {} drop `optionalOldSelf`", Feature::OptionalOldSelf.row().since));
    }
    let stored = fact.words.get(&Word::Stored).filter(|_| fact.is(Mark::StoredOnly));
    if let Some(minor) = stored {
        said.push(format!("Kubernetes {minor} compiles it, but only in CRDs that have it already"));
    }
    // A newer server of the range stores the CRD, and an older one finds it after a rollback.
    let on = fact.kubernetes.unwrap_or(Minors::NONE);
    let lost: Minors = on.iter().filter(|minor| stored.is_none_or(|stored| *stored != minor.to_string())).collect();
    if !lost.is_empty() && lost.last() < range.last() && fact.aspect == Aspect::CelRule {
        said.push(format!("after a rollback to {lost} no object can be written, because the stored rule doesn't compile"));
    }
    if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
}

/// What is needed besides the rulings to write findings.
#[derive(Clone, Copy)]
pub(super) struct Context<'c, 't> {
    pub old: Option<&'c Side<'t>>,
    pub new: &'c Side<'t>,
    pub judgement: &'c Judgement<'c>,
    /// The release that breaks were compared with.
    pub release: Option<&'c str>,
}

/// Writes the findings, sorted by place.
pub(super) fn findings(rulings: &[Ruling<'_>], context: &Context<'_, '_>) -> Vec<Finding> {
    let fingerprints: Vec<String> = rulings.par_iter().with_min_len(64).map(Ruling::fingerprint).collect();
    let fingerprint = |&cause: &usize| fingerprints.get(cause).cloned();
    let mut types = EmbeddedTypes::new(context.old, context.new);
    let embedded: Vec<Option<&str>> = rulings.iter().map(|ruling| ruling.rule.class.and_then(|_| types.around(ruling.fact))).collect();
    let own = rulings.par_iter().zip(&fingerprints).zip(embedded).with_min_len(64);
    let written = own.map(|((ruling, own), embedded)| {
        let mut causes: Vec<String> = ruling.causes.iter().filter_map(fingerprint).collect();
        causes.sort_unstable();
        causes.dedup();
        ruling.finding(own.clone(), causes, embedded, context)
    });
    let mut findings: Vec<Finding> = written.collect();
    // In place: findings are large, and there may be many.
    findings.sort_unstable_by(|a, b| a.coordinates().cmp(&b.coordinates()).then_with(|| a.message.cmp(&b.message)));
    name_embedded_groups(&mut findings);
    findings
}

/// Names a group after its edits, so that accepting those of one dependency update doesn't accept those of the next.
fn name_embedded_groups(findings: &mut [Finding]) {
    let mut edits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let is_grouped = |finding: &Finding| finding.embedded.is_some() && finding.class.is_some_and(|class| class != Class::None);
    for finding in findings.iter().filter(|finding| is_grouped(finding)) {
        edits.entry(finding.group.clone()).or_default().insert(finding.edit());
    }
    let names: BTreeMap<String, String> = edits
        .into_iter()
        .map(|(group, edits)| {
            let parts: Vec<&str> = std::iter::once(&*group).chain(edits.iter().map(String::as_str)).collect();
            let name = fingerprint(&parts);
            (group, name)
        })
        .collect();
    for finding in findings.iter_mut().filter(|finding| is_grouped(finding)) {
        if let Some(name) = names.get(&finding.group) {
            finding.group.clone_from(name);
        }
    }
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

/// The maturity of the field or of the whole CRD if known, otherwise that of the version's name.
fn maturity(fact: &Fact) -> &'static str {
    let of_version = || fact.version.as_deref().map(|version| Priority::of(version).maturity());
    fact.maturity.or_else(of_version).map_or("", |maturity| maturity.name())
}

/// The channel that the change is judged by: the old one, if someone may rely on it.
fn channel(fact: &Fact) -> &str {
    fact.former_channel.as_deref().or(fact.channel.as_deref()).unwrap_or_default()
}
