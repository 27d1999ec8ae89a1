//! Judges the facts about one or two bundles with rules and a policy, and writes a report.
//!
//! All facts exist before the first finding is written: rulings record the rule and the policy's decision for each fact, then facts
//! that follow from breaks (no conversion defined, version too low) are derived from rulings, and then all findings are written
//! once.

mod causes;
mod conversions;
mod embedded_types;
mod released;
mod ruling;
mod side;
mod versions;

use std::collections::BTreeSet;

use crate::find::change;
use crate::find::lint::{self, Release};
use crate::find::review_context::ReviewContext;
use crate::judge::accepting_servers::Servers;
use crate::judge::bump::Recommendation;
use crate::judge::finding::{Bump, Class, Finding, Status, UNDEFINED};
use crate::judge::overview::Counts;
use crate::judge::policy::Policy;
use crate::judge::report::{self, Report};
use crate::judge::rule::Book;
use crate::judge::scope::RunScope;
use crate::judge::waiver::Waivers;
use crate::model::fact::{Aspect, Effect, Fact, Subject};
use crate::model::kubernetes::{Minor, Minors};

use conversions::Covering;
pub use conversions::Manifests;
pub(crate) use conversions::{drafts, needs_step};
pub use released::{LastRelease, Released};
use ruling::{Context, Ruling, findings, rule_all, verdict};
pub use side::{Side, StatedVersion};
use versions::{mixed_versions, version_facts};

/// The rules, policy and context by which facts are judged.
pub struct Judgement<'j> {
    pub book: &'j Book,
    pub policy: &'j Policy,
    /// What is known besides the bundles.
    pub context: ReviewContext<'j>,
    /// Earlier releases, oldest first.
    pub history: &'j [Release<'j>],
    pub waivers: Waivers<'j>,
    /// Changes to the configuration that judges this change.
    pub changed: &'j [Fact],
    pub conversions: Manifests<'j>,
    /// If unset, everything counts as released.
    pub last_release: Option<&'j dyn LastRelease>,
}

impl<'j> Judgement<'j> {
    pub fn new(book: &'j Book, policy: &'j Policy) -> Self {
        Judgement {
            book,
            policy,
            context: ReviewContext::default(),
            history: &[],
            waivers: Waivers::default(),
            changed: &[],
            conversions: Manifests::default(),
            last_release: None,
        }
    }
}

/// Compares two bundles.
pub fn review(old: &Side<'_>, new: &Side<'_>, judgement: &Judgement<'_>) -> Report {
    let changes = change_facts(old, new, judgement);
    let covering = Covering::new(&judgement.conversions, old, new);
    let mut rulings = rule_all(&changes, judgement, Some(&covering));
    let release = released::mark_unreleased(&mut rulings, old, new, judgement);
    let consequences = consequences(&mut rulings, &changes, old, new, judgement, &covering);
    rulings.extend(rule_all(&consequences, judgement, Some(&covering)));
    let (class, required) = verdict(&rulings);
    let bump = recommendation(required, old, new, judgement);
    let declared = version_facts(&bump, &rulings, old, new);
    rulings.extend(rule_all(&declared, judgement, None));
    causes::link(&mut rulings, required);
    let context = Context { old: Some(old), new, judgement, release: release.as_deref() };
    let findings = accept(&rulings, &context);
    Report { verdict: Some(class), bump: Some(bump), release, ..report(Some(old), new, judgement, findings) }
}

/// Recommends a version. Without a version in the bundles, the next one follows the last release.
fn recommendation(required: Bump, old: &Side<'_>, new: &Side<'_>, judgement: &Judgement<'_>) -> Recommendation {
    let (from, declared) = (old.version(), new.version());
    let is_unknown = from.is_none() && declared.is_none() && required != Bump::None;
    let released = judgement.last_release.filter(|_| is_unknown).and_then(LastRelease::version);
    Recommendation::new(required, from.or(released), declared)
}

/// Collects the changes between two bundles, and the lint facts about the new one.
fn change_facts(old: &Side<'_>, new: &Side<'_>, judgement: &Judgement<'_>) -> Vec<Fact> {
    let context = judgement.context;
    let (mut facts, inspected) = rayon::join(
        || change::diff(&old.bundle, &new.bundle, &change::ChangeOptions { context, ..change::ChangeOptions::default() }),
        || lint::review(&old.bundle, &new.bundle, &context),
    );
    // A CRD that is missing on one side may be in a file that couldn't be read.
    facts.retain(|fact| match (fact.subject, fact.aspect, fact.effect) {
        (Subject::Crd, Aspect::Presence, Effect::Removed) => new.unread.is_empty(),
        (Subject::Crd, Aspect::Presence, Effect::Added) => old.unread.is_empty(),
        _ => true,
    });
    facts.extend(inspected);
    facts.extend(conversions::meanings(&judgement.conversions, old, new));
    facts
}

/// Derives facts from the changes: missing or wrong conversions, guidelines that now apply, versions removed too early.
fn consequences(
    rulings: &mut [Ruling<'_>],
    changes: &[Fact],
    old: &Side<'_>,
    new: &Side<'_>,
    judgement: &Judgement<'_>,
    covering: &Covering<'_>,
) -> Vec<Fact> {
    let mut facts = conversions::facts(rulings, changes, old, new, judgement, covering);
    let broken: BTreeSet<String> =
        rulings.iter().filter(|ruling| ruling.is_break() && ruling.counts()).map(|ruling| ruling.fact.crd.clone()).collect();
    let context = ReviewContext { versioned: new.version.is_some(), old_incomplete: !old.unread.is_empty(), ..judgement.context };
    facts.extend(lint::guidelines_review(&old.bundle, &new.bundle, &context, &broken));
    facts.extend(lint::history(changes, judgement.history, &old.bundle, &new.bundle, &context));
    facts
}

/// Checks one bundle.
pub fn lint(side: &Side<'_>, judgement: &Judgement<'_>) -> Report {
    let context = ReviewContext { versioned: side.version.is_some(), ..judgement.context };
    let mut facts = lint::inspect(&side.bundle, &context);
    facts.extend(lint::guidelines(&side.bundle, &context));
    facts.extend(mixed_versions(side));
    let findings = accept(&rule_all(&facts, judgement, None), &Context { old: None, new: side, judgement, release: None });
    let servers = Servers::of(side, judgement.context.kubernetes);
    Report { servers: Some(servers), ..report(None, side, judgement, findings) }
}

/// Reviews what an upgrade of the cluster changes for an unchanged bundle.
pub fn upgrade(side: &Side<'_>, minors: (Minor, Minor), judgement: &Judgement<'_>) -> Report {
    let facts = change::upgrade(&side.bundle, minors, &judgement.context);
    let rulings = rule_all(&facts, judgement, None);
    let (class, _) = verdict(&rulings);
    let findings = accept(&rulings, &Context { old: Some(side), new: side, judgement, release: None });
    let kubernetes = Minors::only(minors.0).and(Minors::only(minors.1));
    Report { verdict: Some(class), kubernetes, ..report(Some(side), side, judgement, findings) }
}

/// Judges facts about conversion manifests only.
pub fn of_manifests(facts: &[Fact], old: &Side<'_>, new: &Side<'_>, judgement: &Judgement<'_>) -> Report {
    let findings = findings(&rule_all(facts, judgement, None), &Context { old: Some(old), new, judgement, release: None });
    report(Some(old), new, judgement, findings)
}

/// A report without a verdict, for a run that doesn't compare two bundles.
fn report(old: Option<&Side<'_>>, new: &Side<'_>, judgement: &Judgement<'_>, findings: Vec<Finding>) -> Report {
    Report {
        schema: report::SCHEMA,
        tool: report::TOOL,
        policy: judgement.policy.id.clone(),
        old: old.map(Side::summary),
        new: new.summary(),
        verdict: None,
        bump: None,
        objects: None,
        release: None,
        kubernetes: judgement.context.kubernetes,
        servers: None,
        summary: Counts::of(&findings),
        change: None,
        findings,
    }
}

/// The scope of a run.
pub fn scope<'s>(old: Option<&'s Side<'_>>, new: &'s Side<'_>, book: &'s Book) -> RunScope<'s> {
    let crds = old.into_iter().chain([new]).flat_map(|side| &side.bundle.crds).map(|crd| crd.name).collect();
    RunScope { crds, review: old.is_some(), book }
}

/// Writes the findings, and waives those that the team has accepted. Findings about the waivers themselves can't be waived.
fn accept(rulings: &[Ruling<'_>], context: &Context<'_, '_>) -> Vec<Finding> {
    let Context { old, new, judgement, .. } = *context;
    let mut found = findings(rulings, context);
    let mut facts = judgement.waivers.apply(&mut found, &scope(old, new, judgement.book));
    waive_sums(&mut found);
    facts.extend(judgement.changed.iter().cloned());
    found.extend(findings(&rule_all(&facts, judgement, None), context));
    found.sort_unstable_by(|a, b| a.coordinates().cmp(&b.coordinates()).then_with(|| a.message.cmp(&b.message)));
    found
}

/// Waives a finding that only summarises breaks if all of them are waived, and the refusal of a version's removal together with the
/// removal.
fn waive_sums(findings: &mut [Finding]) {
    let open = |finding: &&Finding| finding.class == Some(Class::SemanticBreaking) && finding.status == Status::New;
    let open: BTreeSet<String> =
        findings.iter().filter(open).filter(|finding| finding.conversion.is_none()).map(|finding| finding.crd.clone()).collect();
    let sums = |finding: &&mut Finding| finding.rule == UNDEFINED && finding.status == Status::New;
    for sum in findings.iter_mut().filter(sums).filter(|sum| !open.contains(&sum.crd)) {
        sum.status = Status::Waived;
        sum.waiver = Some("the changes that it sums up are waived".to_owned());
    }
    let waived: BTreeSet<String> =
        findings.iter().filter(|finding| finding.status == Status::Waived).map(|finding| finding.fingerprint.clone()).collect();
    let refused = |finding: &&mut Finding| finding.rule == "stored-version-removed" && finding.status == Status::New;
    let follows = |finding: &&mut Finding| !finding.cause.is_empty() && finding.cause.iter().all(|cause| waived.contains(cause));
    for refusal in findings.iter_mut().filter(refused).filter(follows) {
        refusal.status = Status::Waived;
        refusal.waiver = Some("the removal of the version is waived".to_owned());
    }
}
