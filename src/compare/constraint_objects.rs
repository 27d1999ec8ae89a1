//! Generates objects for one constraint of a schema: one that satisfies it and is accepted, and one that is rejected because of it,
//! if possible only because of it.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::schema::shape::{CountRange, Type};
use crate::model::{FieldPath, fact::Witness};
use crate::server::object::{Check, Compiled, FieldErrorKind};

use super::generate::BodyMaker;
use super::solver::{Pin, PinTarget, Preference, SharedRules};
use super::witness::{copying, first_at};
use super::{Budget, Cause, SchemaPair, Trial, What, Witnesses};

/// The longest string that is generated to be too long.
const MAX_TEXT: u64 = 1 << 16;
/// The search for the object with every field takes at most one part of this many of the budget.
const FULL_PART: usize = 4;
/// The most elements or keys that are generated to be too many.
const MAX_COUNT: usize = 256;

/// Generates objects of one version.
pub(crate) struct CaseMaker<'s> {
    root: &'s Shape,
    small: BodyMaker<'s>,
    /// The field of the last small body, with that body.
    last: Option<(&'s FieldPath, Option<Value>)>,
    compiled: Arc<Compiled>,
    rules: Rc<SharedRules<'s>>,
    /// The schema without any rules.
    ruleless: OnceCell<Shape>,
    budget: Budget,
    api_version: &'s str,
    kind: &'s str,
}

/// A request that is rejected.
pub(crate) struct Rejected {
    pub previous: Option<Value>,
    pub object: Value,
}

impl From<Witness> for Rejected {
    fn from(witness: Witness) -> Self {
        Rejected { previous: witness.previous, object: witness.object }
    }
}

impl<'s> CaseMaker<'s> {
    pub fn new(root: &'s Shape, api_version: &'s str, kind: &'s str, budget: &Budget) -> Self {
        CaseMaker {
            root,
            small: BodyMaker::new(root, Preference::Small, budget),
            last: None,
            compiled: Arc::new(Compiled::new(root)),
            rules: SharedRules::of(&[root]),
            ruleless: OnceCell::new(),
            budget: budget.clone(),
            api_version,
            kind,
        }
    }

    /// Bodies with as few and as many fields as possible.
    pub fn extremes(&mut self) -> Vec<Value> {
        let full = super::generate::filled_within(self.root, &self.budget.part(FULL_PART));
        full.into_iter().chain(self.small.make(None)).collect()
    }

    /// A small body with a value at the path.
    pub fn with(&mut self, path: &'s FieldPath) -> Option<Value> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != path) {
            let pin = (!path.is_root()).then_some(Pin { steps: path.steps(), target: PinTarget::Sent });
            self.last = Some((path, self.small.make(pin)));
        }
        self.last.as_ref().and_then(|(_, body)| body.clone())
    }

    /// Like [`CaseMaker::rejected`], if a small object with another value is enough. That is much faster.
    pub fn plainly_rejected(&mut self, path: &'s FieldPath, check: &Check) -> Option<Rejected> {
        let node = self.root.at(path.steps())?;
        let body = self.with(path)?;
        let mut bodies = Vec::new();
        match check {
            Check::Required(name) => {
                let mut body = body;
                first_at(&mut body, path.steps())?.as_object_mut()?.remove(&**name)?;
                bodies.push(body);
            }
            Check::Keyword(_) => {
                for value in breaking(node, check) {
                    let mut body = body.clone();
                    *first_at(&mut body, path.steps())? = value;
                    bodies.push(body);
                }
            }
            Check::Rule(_) => {}
        }
        bodies.into_iter().find_map(|body| {
            let object = self.whole(body);
            let response = self.compiled.request(object.clone());
            let only = response.errors.len() == 1 && response.pruned.is_empty() && response.undecided.is_empty();
            only.then_some(Rejected { previous: None, object })
        })
    }

    /// A request that this check of the node at the path rejects.
    pub fn rejected(&self, path: &FieldPath, check: &Check) -> Option<Rejected> {
        let lenient = self.without(path, check).filter(|_| self.budget.spend(copying(self.root, path.steps())))?;
        let pair = SchemaPair::against(&lenient, (self.root, &self.compiled));
        let witnesses = Witnesses::sharing(&self.rules, pair, self.api_version, self.kind, &self.budget);
        let (at, what, cause) = match check {
            Check::Required(name) => (path.key(name), What::Absent, Cause::Refusal),
            Check::Keyword(kind) => (path.clone(), What::Sent, Cause::Here(super::condition_of(*kind)?)),
            Check::Rule(number) => (path.clone(), What::Sent, Cause::Rule(&self.root.at(path.steps())?.rules.get(*number)?.rule)),
        };
        let transition = matches!(cause, Cause::Rule(rule) if crate::cel::normalise::is_transition(rule));
        if !transition && let Search::Found(witness) = witnesses.show(&at, what, cause) {
            return Some(witness.into());
        }
        if !matches!(check, Check::Rule(_)) {
            return self.forced(&at, check);
        }
        let trial = match cause {
            Cause::Rule(rule) if transition => witnesses.sample_update(&at, rule),
            _ => witnesses.sample(&at, cause),
        };
        match trial {
            Trial::Shown(witness) => Some((*witness).into()),
            Trial::Passed { .. } | Trial::Open => None,
        }
    }

    /// An object with a value that violates the check, whatever else is wrong with it: other conditions of the node and all rules
    /// are ignored in the search.
    fn forced(&self, at: &FieldPath, check: &Check) -> Option<Rejected> {
        let mut root = self.ruleless.get_or_init(|| without_rules(self.root)).clone();
        let body = if let Check::Required(name) = check {
            root.at_mut(at.parent()?.steps())?.required.remove(&**name);
            let pin = Pin { steps: at.steps(), target: PinTarget::Missing };
            BodyMaker::new(&root, Preference::Small, &self.budget).make(Some(pin))
        } else {
            let node = root.at_mut(at.steps())?;
            let was = node.clone();
            *node = Shape::anything();
            breaking(&was, check).into_iter().find_map(|value| super::generate::embed_within(&root, at, &value, &self.budget))
        };
        Some(Rejected { previous: None, object: self.whole(body?) })
    }

    /// The schema without the check.
    fn without(&self, path: &FieldPath, check: &Check) -> Option<Shape> {
        let mut root = self.root.clone();
        let node = root.at_mut(path.steps())?;
        match check {
            Check::Required(name) => {
                node.required.remove(&**name);
            }
            Check::Rule(number) if *number < node.rules.len() => {
                node.rules.remove(*number);
            }
            Check::Rule(_) => return None,
            Check::Keyword(kind) => {
                let free = Shape::default();
                super::restore(node, &free, super::condition_of(*kind)?);
            }
        }
        Some(root)
    }

    /// The object for a body.
    pub fn whole(&self, body: Value) -> Value {
        let mut object = serde_json::json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": "example"}});
        if let (Value::Object(all), Value::Object(own)) = (&mut object, body) {
            all.extend(own.into_iter().filter(|(key, _)| !crate::model::schema::is_meta(key)));
        }
        crate::model::number::write_as_sent(&mut object);
        object
    }
}

/// A copy that lacks the rules of all nodes. The recursion is limited by the depth of the shape.
fn without_rules(shape: &Shape) -> Shape {
    let mut copy = shape.clone();
    copy.rules.clear();
    copy.children_mut().for_each(|child| *child = Arc::new(without_rules(child)));
    copy
}

/// Values that violate a check of the node.
fn breaking(node: &Shape, check: &Check) -> Vec<Value> {
    let Check::Keyword(kind) = check else { return Vec::new() };
    let text = |length: u64| Value::from("a".repeat(usize::try_from(length.min(MAX_TEXT)).unwrap_or_default()));
    match kind {
        FieldErrorKind::MinLength => vec![text(node.length.min.saturating_sub(1))],
        FieldErrorKind::MaxLength => node.length.max.map(|max| text(max.saturating_add(1))).into_iter().collect(),
        FieldErrorKind::Pattern => vec![Value::from("!"), Value::from(""), Value::from(" "), Value::from("a")],
        FieldErrorKind::Format | FieldErrorKind::Enum => vec![Value::from("?"), Value::from(-7)],
        FieldErrorKind::Minimum => node.bounds.minimum.map(|bound| Value::from(bound as i64 - 1)).into_iter().collect(),
        FieldErrorKind::Maximum => node.bounds.maximum.map(|bound| Value::from(bound as i64 + 1)).into_iter().collect(),
        FieldErrorKind::MinItems => vec![Value::Array(Vec::new())],
        FieldErrorKind::MaxItems => {
            let item = node.items.as_deref().map_or(Value::Null, plain);
            beyond(node.item_count).map(|count| Value::Array(vec![item; count])).into_iter().collect()
        }
        FieldErrorKind::MinProperties => vec![Value::Object(serde_json::Map::new())],
        FieldErrorKind::MaxProperties => {
            let value = node.values().map_or(Value::Null, plain);
            let object = |count| (0..count).map(|number| (format!("key{number}"), value.clone())).collect::<serde_json::Map<_, _>>();
            beyond(node.property_count).map(|count| Value::Object(object(count))).into_iter().collect()
        }
        // For example, a field that accepts integers and strings.
        FieldErrorKind::AnyOf | FieldErrorKind::OneOf => vec![Value::from(true)],
        _ => Vec::new(),
    }
}

/// One more than a limit, if that isn't too many to generate.
fn beyond(count: CountRange) -> Option<usize> {
    usize::try_from(count.max?).ok().filter(|max| *max < MAX_COUNT).map(|max| max + 1)
}

/// A value of the node's type.
fn plain(node: &Shape) -> Value {
    match node.ty {
        Some(Type::Object) => Value::Object(serde_json::Map::new()),
        Some(Type::Array) => Value::Array(Vec::new()),
        Some(Type::String) => Value::from("a"),
        Some(Type::Integer | Type::Number) => Value::from(1),
        Some(Type::Boolean) => Value::from(true),
        None => Value::Null,
    }
}
