//! Finds findings that follow from others: a break has no conversion, a field is lost between versions, the version must be raised.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::judge::finding::{Bump, Severity};
use crate::judge::rule::Family;
use crate::model::FieldPath;
use crate::model::fact::{Aspect, Effect, Fact, Subject};

use super::ruling::{Ruling, needs_conversion};

/// Changes by the properties that other facts refer to.
struct Changes<'r> {
    rulings: &'r [Ruling<'r>],
    of_crd: HashMap<&'r str, Vec<usize>>,
    at_path: HashMap<(&'r str, FieldPath), Vec<usize>>,
    /// The bump that all changes together require.
    required: Bump,
    /// The breaks of a CRD that its other facts follow from: all of a channel, or those without a conversion.
    breaks: RefCell<HashMap<BreaksOf<'r>, Causes>>,
}

/// A CRD, its channel, and whether only breaks without a conversion are meant.
type BreaksOf<'r> = (&'r str, Option<&'r str>, bool);

/// The changes that a fact follows from, shared by all facts that follow from the same ones.
type Causes = Rc<[usize]>;

/// How many causes a finding lists, and all findings together; beyond that, each lists one. Findings of real changes have up to a
/// hundred, and thousands together.
const MAX_CAUSES: usize = 1_000;
const MAX_LISTED: usize = 200_000;

impl<'r> Changes<'r> {
    fn new(rulings: &'r [Ruling<'r>], required: Bump) -> Self {
        let mut changes = Changes { rulings, of_crd: HashMap::new(), at_path: HashMap::new(), required, breaks: RefCell::default() };
        for (index, Ruling { fact, .. }) in rulings.iter().enumerate().filter(|(_, ruling)| ruling.rule.class.is_some()) {
            changes.of_crd.entry(&fact.crd).or_default().push(index);
            for path in [Some(&fact.path), fact.to.as_ref()].into_iter().flatten() {
                changes.at_path.entry((&fact.crd, path.clone())).or_default().push(index);
            }
        }
        changes
    }

    fn select(&self, candidates: Option<&Vec<usize>>, takes: impl Fn(&Ruling<'_>) -> bool) -> Causes {
        let taken = |index: &&usize| self.rulings.get(**index).is_some_and(&takes);
        candidates.into_iter().flatten().filter(taken).copied().collect()
    }

    fn at(&self, crd: &'r str, path: &FieldPath) -> Option<&Vec<usize>> {
        self.at_path.get(&(crd, path.clone()))
    }

    /// The breaks of the CRD that a fact is about; every version of the CRD may have the same fact.
    fn breaks(&self, fact: &'r Fact, only_uncovered: bool) -> Causes {
        let key = (&*fact.crd, fact.channel.as_deref(), only_uncovered);
        let breaks = |change: &Ruling<'_>| {
            let uncovered = || change.cover.is_none() && needs_conversion(change.rule, change.fact);
            change.is_break() && change.counts() && change.fact.channel == fact.channel && (!only_uncovered || uncovered())
        };
        let select = || self.select(self.of_crd.get(&*fact.crd), breaks);
        Rc::clone(self.breaks.borrow_mut().entry(key).or_insert_with(select))
    }

    /// The changes that a fact follows from.
    fn causes(&self, fact: &'r Fact) -> Causes {
        let of_crd = self.of_crd.get(&*fact.crd);
        match (fact.subject, fact.aspect, fact.effect) {
            (Subject::Crd, Aspect::Coverage, Effect::Missing) => self.breaks(fact, true),
            (_, Aspect::PreserveUnknown, Effect::Missing | Effect::Shallow) => self.breaks(fact, false),
            (_, Aspect::BundleVersion, Effect::Mismatched | Effect::Pending) => {
                let needs = |index: &usize| self.rulings.get(*index).is_some_and(|ruling| ruling.bump == self.required);
                (0..self.rulings.len()).filter(needs).filter(|_| self.required != Bump::None).collect()
            }
            (_, Aspect::Deprecation, Effect::Early) => self.select(self.at(&fact.crd, &fact.path), |change| {
                change.fact.version == fact.version && change.fact.effect != Effect::Added
            }),
            (Subject::Version, Aspect::StoredVersions, Effect::Missing)
            | (Subject::Version, Aspect::Presence | Aspect::Served, Effect::Early) => self.select(of_crd, |change| {
                let gone = matches!(change.fact.aspect, Aspect::Presence | Aspect::Served) && change.fact.effect == Effect::Removed;
                change.fact.subject == Subject::Version && gone && change.fact.version == fact.version
            }),
            (Subject::Crd, _, Effect::Immutable) => {
                self.select(of_crd, |change| change.fact.subject == Subject::Crd && change.fact.aspect == fact.aspect)
            }
            (_, _, Effect::Lossy) => {
                let around = std::iter::successors(Some(fact.path.clone()), FieldPath::parent);
                let changes = around.filter(|path| !path.is_root()).filter_map(|path| self.at(&fact.crd, &path)).flatten();
                changes.take(MAX_CAUSES).copied().collect()
            }
            _ => Rc::default(),
        }
    }

    /// The highest severity among causes, if all of them are breaks.
    fn gravest(&self, causes: &[usize]) -> Option<Severity> {
        let cause = |&index: &usize| self.rulings.get(index).filter(|cause| cause.is_break()).map(|cause| cause.severity);
        causes.iter().map(cause).collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

/// Links every ruling to the changes it follows from. A consequence of breaks alone is not more severe than the worst of them.
pub(super) fn link(rulings: &mut [Ruling<'_>], required: Bump) {
    let changes = Changes::new(rulings, required);
    let mut listed = MAX_LISTED;
    let linked: Vec<(Vec<usize>, Option<Severity>)> = rulings
        .iter()
        .map(|ruling| match ruling.rule.class {
            None if !ruling.fact.pre_existing => {
                let causes = changes.causes(ruling.fact);
                // A server's refusal and what a guideline requires keep their severity. A server has nothing stored at a version
                // that no release contains.
                let unreleased = |index: &usize| rulings.get(*index).is_some_and(|cause| cause.released == Some(false));
                let never_stored = ruling.fact.aspect == Aspect::StoredVersions && causes.iter().all(unreleased);
                // A conversion lowers the severity of the break it covers, but not of its own problems.
                let converts = |index: &usize| rulings.get(*index).is_some_and(|cause| cause.cover.is_some() && cause.counts());
                let conversion = ruling.fact.subject == Subject::Conversion && causes.iter().any(converts);
                let own = ruling.fact.is_refusal() && !never_stored || ruling.rule.family == Family::Guideline || conversion;
                let limit = if own { None } else { changes.gravest(&causes) };
                let few = causes.len().min(MAX_CAUSES).min(listed.max(1));
                listed = listed.saturating_sub(few);
                (causes.iter().take(few).copied().collect(), limit)
            }
            _ => (Vec::new(), None),
        })
        .collect();
    for (ruling, (causes, limit)) in rulings.iter_mut().zip(linked) {
        ruling.severity = limit.map_or(ruling.severity, |limit| ruling.severity.min(limit));
        ruling.causes = causes;
    }
}
