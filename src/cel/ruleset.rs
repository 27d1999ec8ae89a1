//! All rules of a schema, ready to run on objects.
//!
//! Comes in: a [`Shape`] once, then objects. Goes out: the rules each object violates, in the server's manner: rules
//! see present, non-null values only, an evaluation error is a violation, transition rules need the old object.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::schema::Shape;
use crate::schema::shape::{Extra, ListType};

use super::check::{Problem, Purpose};
use super::decl::Decl;
use super::eval::{EvalError, Program};

/// Rules by the nodes they stand at.
#[derive(Clone, Debug, Default)]
pub struct Ruleset {
    rules: Vec<Compiled>,
    properties: BTreeMap<String, Ruleset>,
    values: Option<Box<Ruleset>>,
    items: Option<Box<Items>>,
}

#[derive(Clone, Debug)]
struct Items {
    rules: Ruleset,
    /// Keys by which items of a map list are found again in the old list.
    keys: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
struct Compiled {
    index: usize,
    program: Result<Program, Problem>,
    message: Option<Program>,
    text: String,
}

/// A rule that an object doesn't satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where the value stands: keys and list positions from the root.
    pub path: Vec<PathStep>,
    /// Position of the rule at its node.
    pub rule: usize,
    pub message: String,
    pub kind: ViolationKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// The rule gave false.
    False,
    /// The rule failed, which the server treats the same.
    Error,
    /// We can't tell what the rule gives here.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    Key(String),
    Index(usize),
}

/// Where the walk stands: a value, what it was before, and the way to it.
struct Visit<'a> {
    path: Vec<PathStep>,
    out: &'a mut Vec<Violation>,
}

impl Ruleset {
    /// Compiles every rule below `root`.
    pub fn of(root: &Shape) -> Ruleset {
        Self::node(root, true).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.properties.is_empty() && self.values.is_none() && self.items.is_none()
    }

    /// `None` if there are no rules at or below the node.
    fn node(shape: &Shape, root: bool) -> Option<Ruleset> {
        let mut set = Ruleset::default();
        if !shape.rules.is_empty() {
            let decl = std::sync::Arc::new(Decl::of(shape, root || shape.embedded));
            let compiled = shape.rules.iter().enumerate().filter(|(_, rule)| !rule.rule.trim().is_empty());
            set.rules = compiled
                .map(|(index, rule)| {
                    let optional = rule.optional_old_self == Some(true);
                    let compile = |text: &str, purpose| Program::compile(text, purpose, decl.clone(), optional);
                    let expression = rule.message_expression.as_deref().filter(|text| !text.is_empty());
                    Compiled {
                        index,
                        program: compile(&rule.rule, Purpose::Rule),
                        message: expression.and_then(|text| compile(text, Purpose::Message).ok()),
                        text: rule.message.clone().unwrap_or_else(|| format!("failed rule: {}", rule.rule.trim())),
                    }
                })
                .collect();
        }
        set.properties =
            shape.properties.iter().filter_map(|(name, property)| Some((name.clone(), Self::node(property, false)?))).collect();
        if let Extra::Values(values) = &shape.extra {
            set.values = Self::node(values, false).map(Box::new);
        }
        if let Some(items) = &shape.items {
            let keys = (shape.list_type == ListType::Map).then(|| shape.map_keys.clone());
            set.items = Self::node(items, false).map(|rules| Box::new(Items { rules, keys }));
        }
        (!set.is_empty()).then_some(set)
    }

    /// The rules that `object` violates, given what it was before the request (`None` for a create).
    pub fn violations(&self, object: &Json, old: Option<&Json>) -> Vec<Violation> {
        let mut out = vec![];
        self.visit(object, old, &mut Visit { path: vec![], out: &mut out });
        out
    }

    fn visit(&self, value: &Json, old: Option<&Json>, visit: &mut Visit<'_>) {
        for rule in &self.rules {
            rule.run(value, old, visit);
        }
        match value {
            Json::Object(map) => {
                for (key, child) in map {
                    let set = self.properties.get(key).or(self.values.as_deref());
                    let Some(set) = set else { continue };
                    visit.path.push(PathStep::Key(key.clone()));
                    set.visit(child, old.and_then(|old| old.get(key)), visit);
                    visit.path.pop();
                }
            }
            Json::Array(items) => {
                let Some(set) = &self.items else { return };
                for (index, item) in items.iter().enumerate() {
                    visit.path.push(PathStep::Index(index));
                    set.rules.visit(item, set.counterpart(item, old), visit);
                    visit.path.pop();
                }
            }
            _ => {}
        }
    }
}

impl Items {
    /// The item of the old list that `item` was.
    fn counterpart<'j>(&self, item: &Json, old: Option<&'j Json>) -> Option<&'j Json> {
        let keys = self.keys.as_ref()?;
        let same = |other: &&Json| keys.iter().all(|key| other.get(key) == item.get(key));
        old?.as_array()?.iter().find(same)
    }
}

impl Compiled {
    fn run(&self, value: &Json, old: Option<&Json>, visit: &mut Visit<'_>) {
        let program = match &self.program {
            Ok(program) => program,
            Err(problem) => {
                let kind = if matches!(problem, Problem::Refused { .. }) { ViolationKind::Error } else { ViolationKind::Unknown };
                return self.report(visit, kind, problem.to_string());
            }
        };
        if !program.applies(value, old) {
            return;
        }
        match program.holds(value, old) {
            Ok(true) => {}
            Ok(false) => {
                let message = self.message.as_ref().and_then(|program| program.message(value, old).ok());
                let message = message.map(|m| m.trim().to_string()).filter(|m| !m.is_empty() && !m.contains('\n'));
                self.report(visit, ViolationKind::False, message.unwrap_or_else(|| self.text.clone()));
            }
            Err(error @ EvalError::Failed(_)) => self.report(visit, ViolationKind::Error, error.to_string()),
            Err(error) => self.report(visit, ViolationKind::Unknown, error.to_string()),
        }
    }

    fn report(&self, visit: &mut Visit<'_>, kind: ViolationKind, message: String) {
        visit.out.push(Violation { path: visit.path.clone(), rule: self.index, message, kind });
    }
}
