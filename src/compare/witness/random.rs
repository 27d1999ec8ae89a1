//! Tries random objects that may show a difference, for rules and combinations that the search doesn't support.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cel::normalise::is_transition;
use crate::compare::sampling::Sampler;
use crate::model::fact::{Outcome, Witness};
use crate::model::schema::Shape;
use crate::model::{FieldPath, PathStep};
use crate::server::object::{Compiled, Response, value_count};

use super::combine::{Combiner, with_fields_of};
use super::verdict::{refuses, verdict};
use super::{Cause, MAX_LEARNT, Pin, PinTarget, Witnesses, whole};

/// How many random objects are tried to show one change.
const MAX_TRIES: usize = 3_000;
/// How many are tried before a search that takes longer.
const QUICK_TRIES: usize = 60;
/// How many are tried to find out who else is refused.
const REFUSAL_TRIES: usize = 600;
/// For how many changes of one version that is tried.
pub(super) const MAX_REFUSALS: usize = 12;
/// How many different objects of each kind are needed; fewer prove too little.
const FEW: usize = 2;
const ENOUGH: usize = 24;
/// How many random objects are tried to find one that the old schema accepts.
const MAX_GUESSES: usize = 200;
/// The cost of a try, and of each value of an object that is sent and each error in it, relative to that of a condition.
const TRY: usize = 200;
const REQUEST: usize = 256;
/// How many errors of an object cost nothing.
const FEW_ERRORS: usize = 16;

/// What random objects show about a change.
pub enum Trial {
    /// An object that breaks.
    Shown(Box<Witness>),
    /// Many passed on both sides, and many that the change refuses were already refused; whether some pass only now.
    Passed { loosened: bool },
    /// Too few of them are conclusive.
    Open,
}

impl Trial {
    pub fn shown(self) -> Option<Witness> {
        match self {
            Trial::Shown(witness) => Some(*witness),
            Trial::Passed { .. } | Trial::Open => None,
        }
    }
}

/// Counts what random objects show.
#[derive(Default)]
struct Tally {
    /// Accepted by both sides.
    kept: BTreeSet<String>,
    /// Refused by the old side, and by the new one because of the change.
    refused: BTreeSet<String>,
    loosened: bool,
}

impl Tally {
    fn count(&mut self, object: &Value, (accepted, new): (bool, &Response), path: &FieldPath, cause: Cause<'_>) {
        match (accepted, new.accepted()) {
            (true, true) if self.kept.len() < ENOUGH => drop(self.kept.insert(object.to_string())),
            (false, true) => self.loosened = true,
            (false, false) if self.refused.len() < ENOUGH && refuses(new, path, cause) => drop(self.refused.insert(object.to_string())),
            _ => {}
        }
    }

    fn trial(self) -> Trial {
        match self.kept.len().min(self.refused.len()) >= FEW && self.kept.len() + self.refused.len() >= ENOUGH {
            true => Trial::Passed { loosened: self.loosened },
            false => Trial::Open,
        }
    }
}

impl Witnesses<'_> {
    /// Like [`Witnesses::show`], by trying random objects, for rules and combinations that the search doesn't support.
    pub fn sample(&self, path: &FieldPath, cause: Cause<'_>) -> Trial {
        self.sample_objects(path, cause, MAX_TRIES)
    }

    /// Whether one of a few random objects shows the change, or else one that shows it alone, which takes longer to find.
    pub fn is_shown_somehow(&self, path: &FieldPath, cause: Cause<'_>) -> bool {
        let pin = (!path.is_root()).then_some(Pin { steps: path.steps(), target: PinTarget::Sent });
        self.sample_objects(path, cause, QUICK_TRIES).shown().is_some() || self.alone(path, pin, cause).is_some()
    }

    /// Tries random objects and updates to find one that is refused now because of the path, as far as rules around it may be the
    /// reason. `objects`: whether a search for an object was undecided.
    pub fn sample_refusal(&self, path: &FieldPath, objects: bool) -> Option<Witness> {
        let rules = self.rules_around(path, Cause::Refusal);
        let updates = rules.iter().any(|rule| is_transition(rule));
        let left = self.refusals_left.get();
        if left == 0 || rules.is_empty() || !(objects || updates) {
            return None;
        }
        self.refusals_left.set(left - 1);
        let object = if objects { self.sample_objects(path, Cause::Refusal, REFUSAL_TRIES).shown() } else { None };
        let update = || self.sample_updates(path, Cause::Refusal, REFUSAL_TRIES, &|_| true).shown();
        object.or_else(|| if updates { update() } else { None })
    }

    fn sample_objects(&self, path: &FieldPath, cause: Cause<'_>, tries: usize) -> Trial {
        let ways = [path.steps(), self.ruled(path)];
        let mut sampler = self.sampler(path, cause);
        let mut tally = Tally::default();
        let mut combiner = Combiner::default();
        let mut accepted = None;
        let heads = self.heads().iter().flat_map(|head| [head; 2]).cycle();
        for (turn, (at, head)) in ways.into_iter().cycle().zip(heads).take(tries).enumerate() {
            if !self.may_try() {
                return Trial::Open;
            }
            let combined = match turn % 3 == 2 {
                true => combiner.combined(&mut sampler, |a, b, choice| with_fields_of(a, b, at, choice)),
                false => None,
            };
            // Every other object is derived from one that the old side accepts, because differences are often close.
            let near = || accepted.take().and_then(|body: Value| sampler.changed(&body, self.pair.old, at));
            let derived = combined.or_else(near);
            let is_new = derived.is_none();
            let Some(body) = derived.or_else(|| sampler.body(self.pair.old, at)) else { continue };
            let Some(object) = whole(head, &body) else { continue };
            let old = self.created(&self.pair.before, &object);
            if !is_kept(&old) {
                continue;
            }
            let new = self.created(&self.pair.after, &object);
            let difference = verdict(&old, &new, path, cause);
            combiner.note(&body, old.accepted(), difference.is_some());
            if let Some((outcome, because)) = difference.filter(|_| old.accepted()) {
                return Trial::Shown(Box::new(Witness { previous: None, object, old: Outcome::Accepted, new: outcome, because }));
            }
            tally.count(&object, (old.accepted(), &new), path, cause);
            accepted = Some(body).filter(|_| is_new && old.accepted());
        }
        tally.trial()
    }

    /// Tries random updates to find one that the old schema accepts and a rule of the new one refuses, or an object, if the rule
    /// also runs on create.
    pub fn sample_update(&self, path: &FieldPath, rule: &str) -> Trial {
        self.sample_updates(path, Cause::Rule(rule), MAX_TRIES, &|_| true)
    }

    /// The same with objects that have a `spec`, if the old schema declares one, because a resource is useless without it.
    pub fn sample_update_with_spec(&self, path: &FieldPath, rule: &str) -> Trial {
        let declared = self.pair.old.properties.contains_key("spec");
        self.sample_updates(path, Cause::Rule(rule), MAX_TRIES, &|object| !declared || object.get("spec").is_some())
    }

    fn sample_updates(&self, path: &FieldPath, cause: Cause<'_>, tries: usize, fits: &dyn Fn(&Value) -> bool) -> Trial {
        // The node of a rule has everything that the rule reads; anything else may also be absent.
        let around = path.parent().unwrap_or_default();
        let ways = if matches!(cause, Cause::Rule(_)) { [path.steps(); 2] } else { [path.steps(), self.ruled(&around)] };
        let mut sampler = self.sampler(path, cause);
        let mut tally = Tally::default();
        let mut combiner: Combiner<(Value, Value)> = Combiner::default();
        for (turn, (at, head)) in ways.into_iter().cycle().zip(self.heads().iter().cycle()).take(tries).enumerate() {
            let both = |a: &(Value, Value), b: &(Value, Value), choice: u64| {
                Some((with_fields_of(&a.0, &b.0, at, choice)?, with_fields_of(&a.1, &b.1, at, choice)?))
            };
            if !self.may_try() {
                return Trial::Open;
            }
            let combined = if turn % 3 == 2 { combiner.combined(&mut sampler, both) } else { None };
            let other = || {
                let before = sampler.body(self.pair.old, at)?;
                let after = match turn % 6 {
                    // Some updates replace the whole object, and some send the same again.
                    1 => sampler.body(self.pair.old, at),
                    3 => Some(before.clone()),
                    _ => sampler.changed(&before, self.pair.old, at),
                };
                Some((before, after?))
            };
            let Some(update) = combined.or_else(other) else { continue };
            let (Some(previous), Some(object)) = (whole(head, &update.0), whole(head, &update.1)) else { continue };
            if !fits(&previous) || !fits(&object) {
                continue;
            }
            let stored = self.created(&self.pair.before, &previous);
            if !is_kept(&stored) || !stored.accepted() {
                continue;
            }
            let created = self.created(&self.pair.after, &previous);
            if let Some((outcome, because)) = verdict(&stored, &created, path, cause) {
                let object = previous;
                return Trial::Shown(Box::new(Witness { previous: None, object, old: Outcome::Accepted, new: outcome, because }));
            }
            let old = self.updated(&self.pair.before, &stored.stored, &object);
            if !is_kept(&old) {
                continue;
            }
            // The new schema reads the stored object before comparing.
            let new = self.updated(&self.pair.after, &self.pair.after.read(stored.stored), &object);
            let difference = verdict(&old, &new, path, cause);
            combiner.note(&update, old.accepted(), difference.is_some());
            if let Some((outcome, because)) = difference.filter(|_| old.accepted()) {
                let previous = Some(previous);
                return Trial::Shown(Box::new(Witness { previous, object, old: Outcome::Accepted, new: outcome, because }));
            }
            tally.count(&object, (old.accepted(), &new), path, cause);
        }
        tally.trial()
    }

    /// Whether the old schema accepts one of a few random objects.
    pub(super) fn guesses_accepted(&self) -> bool {
        let mut sampler = self.sampler(&FieldPath::root(), Cause::Near);
        self.heads().iter().cycle().take(MAX_GUESSES).take_while(|_| self.may_try()).any(|head| {
            let object = sampler.body(self.pair.old, &[]).and_then(|body| whole(head, &body));
            object.is_some_and(|object| self.created(&self.pair.before, &object).accepted())
        })
    }

    fn may_try(&self) -> bool {
        self.budget.spend(TRY)
    }

    /// Sends a create to one side.
    pub(super) fn created(&self, side: &Compiled, object: &Value) -> Response {
        self.counted(side.request(object.clone()))
    }

    /// Sends an update to one side.
    pub(super) fn updated(&self, side: &Compiled, old: &Value, object: &Value) -> Response {
        self.counted(side.request_update(old, object.clone()))
    }

    fn counted(&self, response: Response) -> Response {
        let handled = value_count(&response.stored) + response.errors.len().saturating_sub(FEW_ERRORS);
        self.budget.spend(response.steps.saturating_add(REQUEST * handled));
        response
    }

    /// The path to the topmost node on the way that has rules, or else to the node itself.
    fn ruled<'p>(&self, path: &'p FieldPath) -> &'p [PathStep] {
        let steps = path.steps();
        let ruled = |root: &Shape, way: &[PathStep]| root.at(way).is_some_and(|node| !node.rules.is_empty());
        let mut ways = (0..=steps.len()).filter_map(|length| steps.get(..length));
        ways.find(|way| ruled(self.pair.old, way) || ruled(self.pair.new, way)).unwrap_or(steps)
    }

    /// A sampler for the rules of the node, its parents and its children.
    fn sampler(&self, path: &FieldPath, cause: Cause<'_>) -> Sampler<'_> {
        Sampler::new(self.rules_around(path, cause).into_iter(), &self.budget)
    }

    /// The rules of the node, its parents and its children.
    fn rules_around<'r>(&'r self, path: &FieldPath, cause: Cause<'r>) -> Vec<&'r str> {
        let steps = path.steps();
        let mut rules: Vec<&str> = Vec::new();
        if let Cause::Rule(text) = cause {
            rules.push(text);
        }
        for root in [self.pair.old, self.pair.new] {
            root.at(steps).into_iter().for_each(|node| rules_below(node, &mut rules));
            let ways = (0..steps.len()).rev().filter_map(|length| steps.get(..length));
            let around = ways.filter_map(|way| root.at(way)).flat_map(|node| &node.rules);
            rules.extend(around.map(|rule| rule.rule.as_str()).take(MAX_LEARNT));
        }
        let mut seen = BTreeSet::new();
        rules.retain(|rule| seen.insert(*rule));
        rules.truncate(MAX_LEARNT);
        rules
    }
}

/// Collects the rules of a node and of those below it, up to the limit.
fn rules_below<'s>(node: &'s Shape, rules: &mut Vec<&'s str>) {
    if rules.len() >= MAX_LEARNT {
        return;
    }
    rules.extend(node.rules.iter().map(|rule| rule.rule.as_str()));
    node.children().for_each(|child| rules_below(child, rules));
}

/// Whether a request was stored as sent, and every check could be made.
fn is_kept(response: &Response) -> bool {
    response.pruned.is_empty() && response.undecided.is_empty()
}
