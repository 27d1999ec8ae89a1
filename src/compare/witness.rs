//! Finds an object that shows a difference at a path, and confirms it with a request to both sides.

mod combine;
mod random;
mod schema_pair;
mod verdict;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cel::ast::{ExprKind, Literal as CelLiteral};
use crate::cel::parse::read;
use crate::go::strfmt::name::subdomain;
use crate::model::fact::{Aspect, Outcome, Witness};
use crate::model::number::write_as_sent;
use crate::model::relation::{Search, UndecidedReason};
use crate::model::schema::{Shape, is_meta};
use crate::model::{FieldPath, PathStep};
use crate::server::object::Compiled;

use super::condition::restore;
use super::generate::BodyMaker;
use super::solver::{Difference, Formula, Goal, Pin, PinTarget, Preference, ReadBy, SharedRules, SideView, Solver, Term, TermLiteral};
use super::{Budget, MAX_RULE, Sample};
use verdict::{concerns, verdict};

use random::MAX_REFUSALS;
pub use random::Trial;
pub use schema_pair::SchemaPair;

/// What to show at a path.
#[derive(Debug, Clone, Copy)]
pub enum What<'w> {
    /// Exactly this value, found by comparing the nodes there; or another one, if no object can have it.
    Sample(&'w Sample),
    /// Some value that the old schema accepts there.
    Sent,
    /// The field is missing, but its parent exists.
    Absent,
}

/// Which differences count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause<'c> {
    /// Any difference that concerns the path.
    Near,
    /// A refusal that concerns the path.
    Refusal,
    /// Something at the path is pruned from an otherwise valid object.
    Lost,
    /// A refusal of the node itself, not of something below it, and by this keyword if possible.
    Here(Aspect),
    /// This CEL rule fails there.
    Rule(&'c str),
}

/// How many object names are tried.
const MAX_NAMES: usize = 12;
/// How many rules provide literals and fields.
const MAX_LEARNT: usize = 24;
/// Metadata that every resource can have: undeclared fields there are kept.
const OBJECT_META: &[&str] = &[
    r#"{"labels": {"a": "b"}}"#,
    r#"{"name": "a"}"#,
    r#"{"generation": 1}"#,
    r#"{"finalizers": ["a.example/b"]}"#,
    r#"{"annotations": {"a": "b"}, "generateName": "a", "labels": {"a": "b"}, "name": "a", "namespace": "a", "uid": "a"}"#,
];
/// Values that may exist in a newly declared field whose parent kept undeclared fields: one of each type, and objects with
/// undeclared keys.
const UNDECLARED: &[&str] =
    &["false", "0", r#""""#, "[]", "{}", "1.5", r#"{"key": "a"}"#, r#"[{"key": "a"}]"#, "[false]", r#"{"key": {"key": "a"}}"#];
/// The cost of copying a declared key, and of compiling a node or rule, relative to that of a condition.
const COPIED: usize = 32;
const COMPILED: usize = 32;
/// The most items in a list that is rebuilt to show one keyword alone.
const MAX_BUILT: u64 = 128;

/// Shows the differences between the old and the new schema of a version.
pub struct Witnesses<'s> {
    pair: SchemaPair<'s>,
    rules: Rc<SharedRules<'s>>,
    api_version: String,
    kind: String,
    /// apiVersion, kind and metadata: several, if rules of the root depend on the name.
    heads: OnceCell<Vec<Value>>,
    /// For how many changes it may still be tried who else is refused.
    refusals_left: Cell<usize>,
    /// Whether an example should show one change alone. Whether there is any is decided faster.
    isolates: bool,
    budget: Budget,
}

impl<'s> Witnesses<'s> {
    /// `api_version` and `kind` are those of the objects.
    pub fn new(pair: SchemaPair<'s>, api_version: &str, kind: &str, budget: &Budget) -> Self {
        let rules = SharedRules::of(&[pair.old, pair.new]);
        Witnesses::sharing(&rules, pair, api_version, kind, budget)
    }

    /// Uses, and adds to, what is known about nodes of these schemas.
    pub(super) fn sharing(rules: &Rc<SharedRules<'s>>, pair: SchemaPair<'s>, api_version: &str, kind: &str, budget: &Budget) -> Self {
        Witnesses {
            rules: Rc::clone(rules),
            pair,
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            heads: OnceCell::new(),
            refusals_left: Cell::new(MAX_REFUSALS),
            isolates: true,
            budget: budget.clone(),
        }
    }

    /// Shows the differences from the new to the old schema, with any examples: only whether there are some matters.
    pub fn reversed(&self, budget: &Budget) -> Self {
        Witnesses {
            pair: self.pair.reversed(),
            rules: Rc::clone(&self.rules),
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            heads: OnceCell::new(),
            refusals_left: Cell::new(MAX_REFUSALS),
            isolates: false,
            budget: budget.clone(),
        }
    }

    /// The heads of objects that the old schema accepts.
    fn heads(&self) -> &[Value] {
        self.heads.get_or_init(|| {
            let plain = resource_name(self.pair.old, &self.budget).unwrap_or_else(|| "example".to_owned());
            let names = std::iter::once(plain).chain(names_in_rules([self.pair.old, self.pair.new]));
            names.map(|name| json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": name}})).collect()
        })
    }

    fn solver(&self, preference: Preference) -> Solver<'s> {
        Solver::new(preference, &self.budget).sharing(&self.rules)
    }

    /// A list with a duplicate item, for the old list at a path.
    pub fn twice(&self, path: &FieldPath) -> Option<Value> {
        let items = self.pair.old.at(path.steps())?.items.as_deref()?;
        match self.solver(Preference::Small).solve(&Goal::of(items, false)) {
            Search::Found(item) => Some(json!([item, item])),
            _ => None,
        }
    }

    /// Whether the path leads to a resource, or to fields that the server itself manages, where it knows more than the schema says.
    pub fn is_reserved(&self, path: &FieldPath) -> bool {
        let steps = path.steps();
        let own = match steps.first() {
            None => true,
            Some(PathStep::Key(name)) => is_meta(name),
            Some(_) => false,
        };
        let put_there = match steps.split_last() {
            Some((PathStep::Key(name), around)) => is_meta(name) && self.is_embedded(around),
            _ => false,
        };
        own || put_there || self.is_embedded(steps)
    }

    /// Whether the path leads to an embedded resource.
    pub fn is_embedded_resource(&self, path: &FieldPath) -> bool {
        !path.steps().is_empty() && self.is_embedded(path.steps())
    }

    fn is_embedded(&self, way: &[PathStep]) -> bool {
        [self.pair.old, self.pair.new].iter().any(|root| root.at(way).is_some_and(|node| node.embedded))
    }

    /// Whether the path leads to the metadata of an embedded resource, where undeclared keys are kept.
    fn is_embedded_metadata(&self, path: &FieldPath) -> bool {
        let Some((PathStep::Key(name), around)) = path.steps().split_last() else { return false };
        &**name == "metadata" && self.is_embedded(around)
    }

    /// Whether the old schema accepts no object that has anything at the path.
    pub fn is_unreachable(&self, path: &FieldPath) -> bool {
        let pin = Pin { steps: path.steps(), target: PinTarget::Sent };
        let mut solver = self.solver(Preference::Small).with_roots(&[self.pair.old]);
        !path.steps().is_empty() && solver.solve(&self.goal(&[], Difference::None, Some(pin))) == Search::Impossible
    }

    /// Whether some object is known that the old schema accepts.
    pub fn is_inhabited(&self) -> bool {
        let made = BodyMaker::with(self.solver(Preference::Small), self.pair.old).make(None);
        made.is_some_and(|body| self.pair.before.request(body).accepted()) || self.guesses_accepted()
    }

    /// Finds a small object that the old schema accepts and keeps, while the new one refuses it, prunes part of it, or stores
    /// something else, for a reason that concerns the path.
    pub fn show(&self, path: &FieldPath, what: What<'_>, cause: Cause<'_>) -> Search<Witness> {
        let search = |target| self.search(path, target, cause);
        match what {
            // Other values say nothing about null.
            What::Sample(Sample::Sent(Value::Null)) => Search::any([PinTarget::Null, PinTarget::Sent].into_iter().map(search)),
            What::Sample(Sample::Sent(value)) => search(PinTarget::Value(value)).or_else(|| search(PinTarget::Sent)),
            What::Sample(Sample::Absent) | What::Absent => search(PinTarget::Missing),
            What::Sent => search(PinTarget::Sent),
        }
        .or_else_shown(|| self.metadata(path, cause))
    }

    /// An object with a value at a path that the old schema keeps without declaring it.
    pub fn show_undeclared(&self, path: &FieldPath, cause: Cause<'_>) -> Option<Witness> {
        UNDECLARED.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok()).find_map(|value| {
            let pin = Pin { steps: path.steps(), target: PinTarget::Value(&value) };
            let mut solver = self.solver(Preference::Small).with_roots(&[self.pair.old]);
            let body = solver.solve(&self.goal(&[], Difference::None, Some(pin))).found()?;
            self.confirm(&body, path, cause)
        })
    }

    /// An object with a key at the path that neither schema declares.
    pub fn show_undeclared_key(&self, path: &FieldPath, cause: Cause<'_>) -> Option<Witness> {
        let pin = (!path.steps().is_empty()).then_some(Pin { steps: path.steps(), target: PinTarget::Sent });
        let mut solver = self.solver(Preference::Small).with_roots(&[self.pair.old]);
        let body = solver.solve(&self.goal(&[], Difference::None, pin)).found()?;
        UNDECLARED.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok()).find_map(|value| {
            let mut body = body.clone();
            first_at(&mut body, path.steps())?.as_object_mut()?.insert("undeclaredKey".to_owned(), value);
            self.confirm(&body, path, cause)
        })
    }

    /// An embedded resource with every possible key, including its metadata, whether or not the schema declares it.
    pub fn show_all_keys(&self, path: &FieldPath, cause: Cause<'_>) -> Option<Witness> {
        let mut solver = self.solver(Preference::Full).with_roots(&[self.pair.old]);
        let pin = Pin { steps: path.steps(), target: PinTarget::Sent };
        let mut body = solver.solve(&self.goal(&[], Difference::None, Some(pin))).found()?;
        first_at(&mut body, path.steps())?.as_object_mut()?.entry("metadata").or_insert_with(|| json!({"name": "a"}));
        self.confirm(&body, path, cause)
    }

    /// An embedded resource with metadata that its schema may not declare.
    pub fn show_undeclared_metadata(&self, resource: &FieldPath, cause: Cause<'_>) -> Option<Witness> {
        self.with_metadata(&resource.key("metadata"), resource, cause)
    }

    /// The possible metadata of an embedded resource, whether or not its schema declares it.
    fn metadata(&self, path: &FieldPath, cause: Cause<'_>) -> Option<Witness> {
        if self.is_embedded_metadata(path) { self.with_metadata(path, path, cause) } else { None }
    }

    /// An object with any of several values at the path of some metadata.
    fn with_metadata(&self, at: &FieldPath, path: &FieldPath, cause: Cause<'_>) -> Option<Witness> {
        let goal = self.goal(&[], Difference::None, Some(Pin { steps: at.steps(), target: PinTarget::Sent }));
        let mut solver = self.solver(Preference::Small).with_roots(&[self.pair.old]);
        let body = solver.solve(&goal).found()?;
        OBJECT_META.iter().find_map(|text| {
            let mut body = body.clone();
            *first_at(&mut body, at.steps())? = serde_json::from_str(text).ok()?;
            self.confirm(&body, path, cause)
        })
    }

    fn search<'p>(&'p self, path: &'p FieldPath, target: PinTarget<'p>, cause: Cause<'_>) -> Search<Witness> {
        let mut solver = self.solver(Preference::Small).with_roots(&[self.pair.old, self.pair.new]);
        let steps: &[PathStep] = path.steps();
        let pin = (!steps.is_empty()).then_some(Pin { steps, target });
        let goal = |accepted: Option<bool>, difference: Difference| self.goal(&[(self.pair.new, accepted)], difference, pin);
        // If none shows this change alone, that proves nothing.
        if self.isolates
            && let Some(witness) = self.alone(path, pin, cause)
        {
            return Search::Found(witness);
        }
        // The smallest object with the value usually shows the difference already.
        let plain = pin.map(|_| goal(None, Difference::None));
        let refused = || goal(Some(false), Difference::None);
        let lost = || goal(Some(true), Difference::Lost(1));
        let asked = match cause {
            Cause::Near => vec![refused(), lost(), goal(Some(true), Difference::Stored)],
            Cause::Lost => vec![lost()],
            Cause::Refusal | Cause::Here(_) | Cause::Rule(_) => vec![refused()],
        };
        let mut open = None;
        for goal in plain.into_iter().chain(asked) {
            solver.refill();
            match solver.solve(&goal) {
                Search::Found(body) => match self.confirm(&body, path, cause) {
                    Some(witness) => return Search::Found(witness),
                    None => open = open.or_else(|| goal.literals.get(1).map(|_| UndecidedReason::from("another difference hides it"))),
                },
                Search::Impossible if goal.literals.len() == 1 => return Search::Impossible,
                Search::Impossible => {}
                // The smallest object is only a guess; the searches for a difference are complete without it.
                Search::Undecided(_) if goal.literals.len() == 1 => {}
                Search::Undecided(reason) => open = open.or(Some(reason)),
            }
        }
        Err(open).into()
    }

    /// Whether an object that the old side stores and the new one refuses here can still get a label.
    pub fn is_ratcheted(&self, witness: &Witness, path: &FieldPath) -> bool {
        let stored = self.pair.after.read(self.pair.before.request(witness.object.clone()).stored);
        let mut labelled = stored.clone();
        if let Some(metadata) = labelled.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("labels".to_owned(), json!({"a": "b"}));
        }
        let response = self.updated(&self.pair.after, &stored, &labelled);
        !response.errors.iter().any(|error| concerns(&error.path.general(), path))
    }

    /// Whether the new schema would accept a request that it refuses, if the node at the path were as before, or only its default and
    /// how it treats null. Another change may refuse the request as well.
    pub fn is_refused_because_of(&self, path: &FieldPath, aspect: Aspect, witness: &Witness) -> bool {
        let mut shape = self.pair.new.clone();
        let Some(was) = self.pair.old.at(path.steps()) else { return false };
        let restored = match (aspect, path.steps().split_last()) {
            (Aspect::Presence, Some((PathStep::Key(name), around))) => {
                shape.at_mut(around).map(|parent| drop(parent.properties.insert(name.to_string(), Arc::new(was.clone()))))
            }
            (Aspect::Default | Aspect::Nullable, _) => shape.at_mut(path.steps()).map(|node| {
                node.default.clone_from(&was.default);
                node.nullable = was.nullable;
            }),
            _ => shape.at_mut(path.steps()).map(|node| *node = was.clone()),
        };
        if restored.is_none() || !self.budget.spend(copying(self.pair.new, path.steps()) + COMPILED * was.node_count()) {
            return false;
        }
        let restored = Compiled::beside(&shape, &self.pair.after);
        let response = match &witness.previous {
            Some(previous) => {
                let stored = restored.read(self.pair.before.request(previous.clone()).stored);
                restored.request_update(&stored, witness.object.clone())
            }
            None => restored.request(witness.object.clone()),
        };
        response.accepted()
    }

    /// Finds an object that is valid except for the change to be shown.
    fn alone<'p>(&'p self, path: &FieldPath, pin: Option<Pin<'p>>, cause: Cause<'_>) -> Option<Witness> {
        let value = pin.filter(|pin| matches!(pin.target, PinTarget::Value(_)));
        if value.is_none() && !matches!(cause, Cause::Rule(_)) {
            return None;
        }
        let lenient = self.lenient(path, cause)?;
        let mut solver = self.solver(Preference::Small).with_roots(&[self.pair.old, &lenient, self.pair.new]);
        if matches!(cause, Cause::Rule(_) | Cause::Here(Aspect::Pattern)) {
            // They differ only at the end of the path.
            let above = (0..path.steps().len()).filter_map(|length| path.steps().get(..length));
            let copies = above.filter_map(|steps| Some((lenient.at(steps)?, self.pair.new.at(steps)?)));
            copies.for_each(|(copy, of)| solver.rules.copy(copy, of));
        }
        let others = [(&lenient, Some(true)), (self.pair.new, Some(false))];
        // A value found by comparing is already refused, though maybe for another reason.
        let found = value.map(|pin| self.goal(&others[..1], Difference::None, Some(pin)));
        let sent = match value {
            Some(pin) => Some(Pin { target: PinTarget::Sent, ..pin }),
            None => pin,
        };
        // Another list or map is only built if a few more items are enough.
        let small = value.is_none()
            || self
                .pair
                .new
                .at(path.steps())
                .is_some_and(|node| [node.item_count.max, node.property_count.max].into_iter().flatten().all(|most| most <= MAX_BUILT));
        let sent = small.then(|| self.goal(&others, Difference::None, sent));
        found.into_iter().chain(sent).find_map(|goal| match solver.solve(&goal) {
            Search::Found(body) => self.confirm(&body, path, cause),
            _ => None,
        })
    }

    /// A goal for an object that the old schema accepts and keeps; for each other schema, whether it must accept the object.
    fn goal<'g>(&'g self, others: &[(&'g Shape, Option<bool>)], difference: Difference, pin: Option<Pin<'g>>) -> Goal<'g> {
        let mut goal = Goal { difference, pin, ..Goal::of(self.pair.old, true) };
        for &(other, accepted) in others {
            let view = goal.views.len();
            goal.views.push(SideView { read_by: ReadBy::shape_of(other), faithful: false });
            goal.literals.extend(accepted.map(|holds| TermLiteral { view, holds, term: Term::Node(other) }));
        }
        goal
    }

    /// The new schema with the old keyword at the path, or without the rule to be shown.
    fn lenient(&self, path: &FieldPath, cause: Cause<'_>) -> Option<Shape> {
        if !matches!(cause, Cause::Rule(_) | Cause::Here(_)) {
            return None;
        }
        let was = self.pair.old.at(path.steps())?;
        if !self.budget.spend(copying(self.pair.new, path.steps())) {
            return None;
        }
        let mut shape = self.pair.new.clone();
        let node = shape.at_mut(path.steps())?;
        match cause {
            Cause::Rule(text) => node.rules.retain(|rule| rule.rule != text),
            Cause::Here(keyword) => restore(node, was, keyword),
            Cause::Near | Cause::Refusal | Cause::Lost => {}
        }
        Some(shape)
    }

    /// Sends a body to both sides, and returns the difference if it concerns the path.
    pub fn confirm(&self, body: &Value, path: &FieldPath, cause: Cause<'_>) -> Option<Witness> {
        self.heads().iter().find_map(|head| {
            let object = whole(head, body).filter(|_| self.budget.spend(0))?;
            let old = self.created(&self.pair.before, &object);
            if !old.accepted() || !old.pruned.is_empty() || !old.undecided.is_empty() {
                return None;
            }
            let new = self.created(&self.pair.after, &object);
            let (outcome, because) = verdict(&old, &new, path, cause)?;
            Some(Witness { previous: None, object, old: Outcome::Accepted, new: outcome, because })
        })
    }
}

/// The cost of changing a node in a copy of a schema, which shares all nodes but this one and those above it.
pub(super) fn copying(root: &Shape, steps: &[PathStep]) -> usize {
    let on_the_way = (0..=steps.len()).filter_map(|length| root.at(steps.get(..length)?));
    on_the_way.map(|node| COPIED * node.properties.len() + COMPILED * (1 + node.rules.len())).sum()
}

/// A whole object from its head and a body.
fn whole(head: &Value, body: &Value) -> Option<Value> {
    let mut object = head.clone();
    let (Value::Object(all), Value::Object(own)) = (&mut object, body) else { return None };
    all.extend(own.clone());
    write_as_sent(&mut object);
    Some(object)
}

/// Object names that rules of the roots may distinguish from others.
fn names_in_rules(roots: [&Shape; 2]) -> Vec<String> {
    let rules = roots.into_iter().flat_map(|root| &root.rules).map(|rule| rule.rule.as_str());
    let about_names = rules.filter(|rule| rule.contains("metadata") && rule.len() <= MAX_RULE).take(MAX_LEARNT);
    let mut names: Vec<String> = Vec::new();
    for rule in about_names.filter_map(|rule| read(rule).ok()) {
        for part in rule.descendants() {
            if let ExprKind::Literal(CelLiteral::String(text)) = &part.kind {
                let spellings = [text.clone(), format!("{text}a"), format!("a{text}")];
                let fresh = spellings.into_iter().filter(|name| !name.is_empty() && subdomain(name).is_none());
                names.extend(fresh.filter(|name| !names.contains(name)).collect::<Vec<_>>());
            }
        }
    }
    names.truncate(MAX_NAMES);
    names
}

/// The first value at a path.
pub(super) fn first_at<'v>(value: &'v mut Value, steps: &[PathStep]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        PathStep::Key(key) => value.get_mut(&**key),
        PathStep::Items => value.get_mut(0),
        PathStep::Values => value.as_object_mut()?.values_mut().next(),
    })
}

/// A name that the root's conditions on `metadata.name` allow.
fn resource_name(root: &Shape, budget: &Budget) -> Option<String> {
    let shape = root.property("metadata")?.property("name")?;
    let label = Rc::new(Formula::Matches("^[a-z]([-a-z0-9]*[a-z0-9])?$".into()));
    let goal = Goal {
        views: vec![SideView { read_by: ReadBy::Nothing, faithful: false }],
        literals: vec![
            TermLiteral { view: 0, holds: true, term: Term::Clause(shape) },
            TermLiteral { view: 0, holds: true, term: Term::Formula(label) },
        ],
        difference: Difference::None,
        pin: None,
        root: false,
    };
    match Solver::new(Preference::Small, budget).solve(&goal) {
        Search::Found(Value::String(name)) => Some(name),
        _ => None,
    }
}
