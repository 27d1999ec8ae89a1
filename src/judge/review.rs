//! Facts of two bundles, or of one, come in; a report, judged by rules under a policy, goes out.

mod conversions;

use rayon::prelude::*;
use semver::Version;

use crate::find::conversion::Conversions;
use crate::find::conversion::scaffold::ReleasedBundle;
use crate::find::lint::{self, Outlook, Release};
use crate::judge::bump::Recommendation;
use crate::judge::finding::{Bump, Class, Finding, Spot, Status, fingerprint};
use crate::judge::policy::{Policy, Situation};
use crate::judge::report::{self, Report, SideSummary};
use crate::judge::rule::Book;
use crate::judge::waiver::{Scope, Waivers};
use crate::model::fact::{Aspect, Effect, Fact, Mark, Subject, Word};
use crate::model::{Bundle, Documents, Place, Priority, Skipped, release};

use conversions::Covering;
pub use conversions::Manifests;
pub(crate) use conversions::needs_step;

/// One side of a review, read and ready to be compared.
pub struct Side<'t> {
    pub source: String,
    pub documents: &'t Documents,
    pub bundle: Bundle<'t>,
    /// What the reader of files left out.
    pub skipped: Vec<Skipped>,
    /// A version that stands outside of the CRDs: a tag, or the command line.
    pub version: Option<Version>,
    /// What could not be read: a CRD that isn't here may be there all the same.
    pub unread: Vec<Skipped>,
}

impl<'t> Side<'t> {
    pub(crate) fn released(&self) -> ReleasedBundle<'_, 't> {
        ReleasedBundle { bundle: &self.bundle, version: self.version.as_ref() }
    }

    pub fn new(source: impl Into<String>, documents: &'t Documents) -> Self {
        let bundle = Bundle::read(documents);
        let mut side = Side { source: source.into(), documents, bundle, skipped: Vec::new(), version: None, unread: Vec::new() };
        let unread = side.bundle.problems.iter().map(|problem| {
            let what = side.spot(Some(problem.place)).map(|spot| format!("{}:{}:{}", spot.file, spot.line, spot.column));
            Skipped { what: what.unwrap_or_default(), why: format!("not read: {}", problem.kind) }
        });
        side.unread = unread.collect();
        side
    }

    /// The version that annotations give in place of another one that was given.
    pub fn overruling(&self) -> Option<(Version, &Version)> {
        let given = self.version.as_ref()?;
        self.version().filter(|own| own != given).map(|own| (own, given))
    }

    /// Annotations first, then what was given; several versions in one bundle give none.
    fn version(&self) -> Option<Version> {
        let mut annotated: Vec<&str> = self.bundle.crds.iter().filter_map(|crd| crd.bundle_version()).map(|text| text.value).collect();
        annotated.sort_unstable();
        annotated.dedup();
        match annotated.as_slice() {
            [one] => release::parse(one).or_else(|| self.version.clone()),
            [] => self.version.clone(),
            _ => None,
        }
    }

    pub fn spot(&self, place: Option<Place>) -> Option<Spot> {
        let place = place?;
        let file = self.documents.file(place.file)?;
        let at = file.place(place.span.start as usize);
        Some(Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(place) })
    }

    fn summary(&self) -> SideSummary {
        SideSummary::of(&self.source, &self.bundle, &self.unread, &self.skipped)
    }
}

/// By whom and how facts are judged.
pub struct Judgement<'j> {
    pub book: &'j Book,
    pub policy: &'j Policy,
    /// What is known beside the bundles.
    pub outlook: Outlook<'j>,
    /// Earlier releases, oldest first.
    pub history: &'j [Release<'j>],
    pub waivers: Waivers<'j>,
    /// What the change did to the configuration that judges it.
    pub changed: &'j [Fact],
    pub conversions: Manifests<'j>,
}

impl<'j> Judgement<'j> {
    pub fn new(book: &'j Book, policy: &'j Policy) -> Self {
        Judgement {
            book,
            policy,
            outlook: Outlook::default(),
            history: &[],
            waivers: Waivers::default(),
            changed: &[],
            conversions: Manifests::default(),
        }
    }
}

/// Compares two bundles.
pub fn review(old: &Side<'_>, new: &Side<'_>, judgement: &Judgement<'_>) -> Report {
    let (mut facts, inspected) = rayon::join(
        || crate::find::change::diff(&old.bundle, &new.bundle, &crate::find::change::Options::default()),
        || lint::review(&old.bundle, &new.bundle),
    );
    // What was not read is not judged: it neither came nor went.
    facts.retain(|fact| match (fact.subject, fact.aspect, fact.effect) {
        (Subject::Crd, Aspect::Presence, Effect::Removed) => new.unread.is_empty(),
        (Subject::Crd, Aspect::Presence, Effect::Added) => old.unread.is_empty(),
        _ => true,
    });
    facts.extend(inspected);
    lint::set_maturity_and_channel(&mut facts, Some(&old.bundle), &new.bundle, &judgement.outlook);
    facts.extend(conversions::meanings(&judgement.conversions, old, new));
    let covering = Covering::new(&judgement.conversions, old, new);
    let judge_all = |facts: &[Fact]| judge_all(facts, Some(old), new, judgement, Some(&covering));
    let mut findings = judge_all(&facts);
    findings.extend(judge_all(&conversions::facts(&facts, old, new, judgement, &covering)));
    let (class, required) = report::verdict(&findings);
    let broken =
        findings.iter().filter(|finding| finding.class == Some(Class::SemanticBreaking)).map(|finding| finding.crd.clone()).collect();
    let outlook = Outlook { versioned: new.version.is_some(), ..judgement.outlook };
    findings.extend(judge_all(&lint::guidelines_review(&old.bundle, &new.bundle, &outlook, &broken)));
    let bump = Recommendation::new(required, old.version(), new.version());
    findings.extend(judge_all(&lint::history(&facts, judgement.history, &old.bundle, &new.bundle, &outlook)));
    findings.extend(judge_all(&version_facts(&bump, old, new)));
    accept(&mut findings, Some(old), new, judgement);
    finish(&mut findings);
    Report { verdict: Some(class), bump: Some(bump), ..report(Some(old), new, judgement, findings) }
}

/// A report without a verdict: what a run says that doesn't look for changes.
fn report(old: Option<&Side<'_>>, new: &Side<'_>, judgement: &Judgement<'_>, findings: Vec<Finding>) -> Report {
    Report {
        schema: report::SCHEMA,
        tool: report::TOOL,
        policy: judgement.policy.id.clone(),
        old: old.map(Side::summary),
        new: new.summary(),
        verdict: None,
        bump: None,
        findings,
    }
}

/// Checks one bundle.
pub fn lint(side: &Side<'_>, judgement: &Judgement<'_>) -> Report {
    let mut facts = lint::inspect(&side.bundle);
    let outlook = Outlook { versioned: side.version.is_some(), ..judgement.outlook };
    facts.extend(lint::guidelines(&side.bundle, &outlook));
    lint::set_maturity_and_channel(&mut facts, None, &side.bundle, &outlook);
    facts.extend(mixed_versions(side));
    let mut findings = judge_all(&facts, None, side, judgement, None);
    accept(&mut findings, None, side, judgement);
    finish(&mut findings);
    report(None, side, judgement, findings)
}

/// What a run looks at.
pub fn scope<'s>(old: Option<&'s Side<'_>>, new: &'s Side<'_>, book: &'s Book) -> Scope<'s> {
    let crds = old.into_iter().chain([new]).flat_map(|side| &side.bundle.crds).map(|crd| crd.name).collect();
    Scope { crds, review: old.is_some(), book }
}

/// Waives what the team has accepted. What is to be said of the waivers themselves is never waived.
fn accept(findings: &mut Vec<Finding>, old: Option<&Side<'_>>, new: &Side<'_>, judgement: &Judgement<'_>) {
    let mut facts = judgement.waivers.apply(findings, &scope(old, new, judgement.book));
    waive_sums(findings);
    facts.extend(judgement.changed.iter().cloned());
    findings.extend(judge_all(&facts, old, new, judgement, None));
}

/// Judges facts about manifests alone.
pub fn of_manifests(facts: &[Fact], old: &Side<'_>, new: &Side<'_>, judgement: &Judgement<'_>) -> Report {
    let mut findings = judge_all(facts, Some(old), new, judgement, None);
    finish(&mut findings);
    report(Some(old), new, judgement, findings)
}

/// What only sums up breaks that are all waived is waived with them.
fn waive_sums(findings: &mut [Finding]) {
    let open = |finding: &&Finding| finding.class == Some(Class::SemanticBreaking) && finding.status == Status::New;
    let open: std::collections::BTreeSet<String> =
        findings.iter().filter(open).filter(|finding| finding.conversion.is_none()).map(|finding| finding.crd.clone()).collect();
    let sums = |finding: &&mut Finding| finding.rule == "conversion-undefined" && finding.status == Status::New;
    for sum in findings.iter_mut().filter(sums).filter(|sum| !open.contains(&sum.crd)) {
        sum.status = Status::Waived;
        sum.waiver = Some("the changes that it sums up are waived".to_owned());
    }
}

/// Sorted by place, and numbered where a fingerprint would name two findings.
fn finish(findings: &mut [Finding]) {
    findings.sort_by(|a, b| a.coordinates().cmp(&b.coordinates()).then_with(|| a.message.cmp(&b.message)));
}

/// Judges facts, in their order.
fn judge_all(
    facts: &[Fact],
    old: Option<&Side<'_>>,
    new: &Side<'_>,
    judgement: &Judgement<'_>,
    covering: Option<&Covering<'_>>,
) -> Vec<Finding> {
    let judged = facts.par_iter().with_min_len(64).map(|fact| judge(fact, old, new, judgement, covering));
    judged.collect::<Vec<_>>().into_iter().flatten().collect()
}

fn judge(fact: &Fact, old: Option<&Side<'_>>, new: &Side<'_>, judgement: &Judgement<'_>, covering: Option<&Covering<'_>>) -> Vec<Finding> {
    let maturity = maturity(fact);
    let situation = Situation {
        channel: channel(fact),
        maturity,
        graduates: fact.is(Mark::Graduates),
        deprecated: fact.is(Mark::WasDeprecated),
        covered: false,
        raised: false,
    };
    let verdicts = judgement.book.judge(fact, maturity);
    let finding = |verdict: crate::judge::rule::Verdict<'_>| {
        let rule = verdict.rule;
        let cover = covering.and_then(|covering| covering.cover(rule, fact));
        let situation = Situation { raised: verdict.raised, covered: cover.is_some(), ..situation };
        let (severity, bump) = judgement.policy.judge(rule, &situation)?;
        let path = fact.path.to_string();
        let version = fact.version.clone();
        let mut parts =
            vec![rule.first_id(), &*fact.crd, version.as_deref().unwrap_or_default(), &*path, fact.key.as_deref().unwrap_or_default()];
        // One name may stand for a CRD of each channel, and one rule for several keywords.
        parts.extend(fact.channel.as_deref());
        parts.extend((rule.matches.aspects.len() > 1).then(|| fact.aspect.name()));
        Some(Finding {
            rule: rule.id.clone(),
            family: rule.family,
            kind: rule.kind,
            title: rule.title.clone(),
            class: rule.class,
            severity,
            bump: if rule.class.is_some() { bump } else { Bump::None },
            crd: fact.crd.clone(),
            fingerprint: fingerprint(&parts),
            version,
            path,
            to: fact.to.as_ref().map(ToString::to_string),
            message: verdict.message,
            help: verdict.help,
            affects: fact.affects,
            certainty: fact.evidence.certainty,
            ratchet: fact.ratchet,
            status: if fact.pre_existing { Status::PreExisting } else { Status::New },
            before: old.and_then(|old| old.spot(fact.before)),
            after: new.spot(fact.after).or_else(|| manifest_spot(judgement.conversions.now?, fact.after?)),
            witness: fact.evidence.witness.clone(),
            waiver: None,
            conversion: cover.map(|cover| cover.manifest),
            suggestion: fact.suggestion.clone(),
            field: fact.field.clone(),
        })
    };
    verdicts.into_iter().filter_map(finding).collect()
}

/// A place in a manifest.
fn manifest_spot(conversions: &Conversions, place: Place) -> Option<Spot> {
    let file = conversions.file(place.file)?;
    let at = file.place(place.span.start as usize);
    Some(Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(place) })
}

/// The maturity of the field or of the whole CRD where it is known, else that of the version's name.
fn maturity(fact: &Fact) -> &'static str {
    let of_version = || fact.version.as_deref().map(|version| Priority::of(version).maturity());
    fact.maturity.or_else(of_version).map_or("", |maturity| maturity.name())
}

/// The channel that the change is judged by: the old one where somebody relied on it.
fn channel(fact: &Fact) -> &str {
    fact.former_channel.as_deref().or(fact.channel.as_deref()).unwrap_or_default()
}

/// What the declared versions say against what the changes ask for.
fn version_facts(bump: &Recommendation, old: &Side<'_>, new: &Side<'_>) -> Vec<Fact> {
    let place = || new.bundle.crds.iter().find_map(|crd| Some(Place { file: crd.file, span: crd.bundle_version()?.node.span() }));
    let fact = |effect| {
        let mut fact = Fact::new(Subject::Bundle, Aspect::BundleVersion, effect, "");
        fact.after = place();
        fact
    };
    let mut facts = mixed_versions(new);
    let mixed_before = !mixed_versions(old).is_empty();
    facts.iter_mut().for_each(|fact| fact.pre_existing = mixed_before);
    if let (Some(from), Some(declared)) = (&bump.from, &bump.declared) {
        let words = |fact: Fact| fact.word(Word::Old, from.to_string()).word(Word::New, declared.to_string());
        if declared < from {
            facts.push(words(fact(Effect::Decreased)));
        } else if bump.sufficient == Some(false) {
            let recommended = bump.recommended.as_ref().map(ToString::to_string).unwrap_or_default();
            facts.push(words(fact(Effect::Mismatched)).word(Word::Recommended, recommended).word(Word::Required, bump.required.name()));
        }
    }
    facts
}

/// CRDs of one bundle that claim different versions of it.
fn mixed_versions(side: &Side<'_>) -> Vec<Fact> {
    let mut seen: Vec<(&str, Place)> = Vec::new();
    for crd in &side.bundle.crds {
        if let Some(version) = crd.bundle_version()
            && seen.iter().all(|(value, _)| *value != version.value)
        {
            seen.push((version.value, Place { file: crd.file, span: version.node.span() }));
        }
    }
    let (Some(first), Some(second)) = (seen.first(), seen.get(1)) else { return Vec::new() };
    let values: Vec<&str> = seen.iter().map(|(value, _)| *value).take(5).collect();
    let mut fact = Fact::new(Subject::Bundle, Aspect::BundleVersion, Effect::Mixed, "").after(second.1).word(Word::List, values.join(", "));
    fact.words.insert(Word::First, first.0.to_owned());
    vec![fact]
}
