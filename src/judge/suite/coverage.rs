//! Counts which constraints of a CRD test cases pass and violate.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::compare::{condition_keywords, errors_of};
use crate::model::schema::{Keyword, Schema, Shape};
use crate::model::{Bundle, Crd, FieldPath, Place, Version};
use crate::server::object::{Check, Seen};

/// The checks that passed and failed, by CRD and version of a bundle.
#[derive(Debug, Default)]
pub(crate) struct CheckCoverage {
    seen: BTreeMap<(usize, usize), SeenChecks>,
}

/// The checks of one version.
#[derive(Debug, Default, Clone)]
pub(crate) struct SeenChecks {
    passed: CheckSet,
    failed: CheckSet,
    /// For rules, the same for updates only.
    passed_update: CheckSet,
    failed_update: CheckSet,
}

/// Checks by the nodes that require them.
#[derive(Debug, Default, Clone)]
struct CheckSet(HashMap<FieldPath, BTreeSet<Check>>);

impl CheckSet {
    fn insert(&mut self, path: &FieldPath, check: &Check) {
        match self.0.get_mut(path) {
            Some(checks) if checks.contains(check) => {}
            Some(checks) => drop(checks.insert(check.clone())),
            None => drop(self.0.insert(path.clone(), BTreeSet::from([check.clone()]))),
        }
    }

    fn contains(&self, constraint: &Constraint) -> bool {
        self.0.get(&constraint.path).is_some_and(|checks| checks.contains(&constraint.check))
    }
}

impl SeenChecks {
    pub fn add(&mut self, seen: &[Seen]) {
        for seen in seen {
            let (all, by_update) =
                if seen.holds { (&mut self.passed, &mut self.passed_update) } else { (&mut self.failed, &mut self.failed_update) };
            if seen.update && matches!(seen.check, Check::Rule(_)) {
                by_update.insert(&seen.path, &seen.check);
            }
            all.insert(&seen.path, &seen.check);
        }
    }

    pub fn passes(&self, constraint: &Constraint) -> bool {
        let side = if constraint.transition { &self.passed_update } else { &self.passed };
        side.contains(constraint)
    }

    pub fn fails(&self, constraint: &Constraint) -> bool {
        let side = if constraint.transition { &self.failed_update } else { &self.failed };
        side.contains(constraint)
    }
}

impl CheckCoverage {
    pub fn add(&mut self, crd: usize, version: usize, seen: &[Seen]) {
        self.seen.entry((crd, version)).or_default().add(seen);
    }

    pub fn of(&self, crd: usize, version: usize) -> SeenChecks {
        self.seen.get(&(crd, version)).cloned().unwrap_or_default()
    }

    /// Every constraint of the CRDs that have cases, or of all CRDs, with its coverage.
    pub fn lines(&self, bundle: &Bundle<'_>, all: bool) -> Vec<CoverageLine> {
        let mut lines = Vec::new();
        for (index, crd) in bundle.crds.iter().enumerate() {
            let tested = self.seen.keys().any(|(crd, _)| *crd == index);
            if !all && !tested {
                continue;
            }
            for version in crd.versions.iter().filter(|version| version.served) {
                let sides = self.of(index, version.index);
                lines.extend(constraints(crd, version).into_iter().map(|constraint| CoverageLine {
                    passes: sides.passes(&constraint),
                    fails: sides.fails(&constraint),
                    crd: crd.name.to_owned(),
                    version: version.name.to_owned(),
                    constraint,
                }));
            }
        }
        lines
    }
}

/// A constraint with its coverage.
#[derive(Debug, Clone)]
pub(crate) struct CoverageLine {
    pub crd: String,
    pub version: String,
    pub constraint: Constraint,
    pub passes: bool,
    pub fails: bool,
}

impl CoverageLine {
    pub fn is_covered(&self) -> bool {
        self.passes && self.fails
    }
}

/// How much is covered.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct CoverageShare {
    pub constraints: usize,
    pub covered: usize,
}

impl CoverageShare {
    pub fn of<'l>(lines: impl Iterator<Item = &'l CoverageLine>) -> Self {
        lines.fold(CoverageShare::default(), |share, line| CoverageShare {
            constraints: share.constraints + 1,
            covered: share.covered + usize::from(line.is_covered()),
        })
    }

    pub fn percent(self) -> f64 {
        if self.constraints == 0 { 100.0 } else { self.covered as f64 * 100.0 / self.constraints as f64 }
    }
}

/// A constraint that a schema puts on objects.
#[derive(Debug, Clone)]
pub(crate) struct Constraint {
    /// The path of the schema that has the constraint.
    pub path: FieldPath,
    pub check: Check,
    /// As written in the CRD: `maximum: 5`.
    pub text: String,
    /// Whether it is a CEL rule that reads the old value.
    pub transition: bool,
    pub place: Option<Place>,
}

impl Constraint {
    /// The field that the constraint applies to.
    pub fn subject(&self) -> FieldPath {
        match &self.check {
            Check::Required(name) => self.path.key(name),
            _ => self.path.clone(),
        }
    }
}

/// The constraints of a version, in the order of its fields. Constraints that can't be violated are omitted: a required field with
/// a default, a minimum length of 0.
pub(crate) fn constraints(crd: &Crd<'_>, version: &Version<'_>) -> Vec<Constraint> {
    let Some(schema) = &version.schema else { return Vec::new() };
    let shape = Shape::of(schema);
    let mut found = Vec::new();
    collect(&shape, &FieldPath::root(), &mut found);
    for constraint in &mut found {
        let place = schema.at(&constraint.path).and_then(|node| place_of(&node, &constraint.check));
        constraint.place = place.map(|span| Place { file: crd.file, span });
    }
    found
}

/// The recursion is limited by the depth of the shape.
fn collect(shape: &Shape, path: &FieldPath, found: &mut Vec<Constraint>) {
    let mut add = |check: Check, text: String, transition: bool| {
        found.push(Constraint { path: path.clone(), check, text, transition, place: None });
    };
    for keyword in condition_keywords() {
        if let (Some(value), Some(kind)) = (written(shape, keyword), errors_of(keyword.aspect()).first()) {
            let text = if value.is_empty() { keyword.name().to_owned() } else { format!("{}: {value}", keyword.name()) };
            add(Check::Keyword(*kind), text, false);
        }
    }
    for name in &shape.required {
        if shape.property(name).is_none_or(|property| property.default.is_none()) {
            add(Check::Required(name.as_str().into()), format!("required: {name}"), false);
        }
    }
    for (number, rule) in shape.rules.iter().enumerate().filter(|(_, rule)| !rule.rule.trim().is_empty()) {
        add(Check::Rule(number), rule.rule.trim().to_owned(), crate::cel::normalise::is_transition(&rule.rule));
    }
    shape.children_at(path).for_each(|(path, child)| collect(child, &path, found));
}

/// The text of a keyword, if a value can violate it.
fn written(shape: &Shape, keyword: Keyword) -> Option<String> {
    let least = |least: u64| (least > 0 && least < u64::MAX).then(|| least.to_string());
    match keyword {
        Keyword::Enum => shape.enum_values.as_ref().filter(|values| !values.is_empty()).map(|_| String::new()),
        Keyword::Pattern => shape.pattern.as_ref().map(|pattern| pattern.to_string()),
        Keyword::Format => crate::server::object::checks_format(shape).then(|| shape.format.as_deref().unwrap_or_default().to_owned()),
        Keyword::MinLength => least(shape.length.min),
        Keyword::MaxLength => shape.length.max.map(|most| most.to_string()),
        Keyword::Minimum => shape.bounds.minimum.map(|bound| bound.to_string()),
        Keyword::Maximum => shape.bounds.maximum.map(|bound| bound.to_string()),
        Keyword::MultipleOf => shape.bounds.multiple_of.map(|step| step.to_string()),
        Keyword::MinItems => least(shape.item_count.min),
        Keyword::MaxItems => shape.item_count.max.map(|most| most.to_string()),
        Keyword::MinProperties => least(shape.property_count.min),
        Keyword::MaxProperties => shape.property_count.max.map(|most| most.to_string()),
        Keyword::AnyOf => (!shape.any_of.is_empty()).then(String::new),
        Keyword::OneOf => (!shape.one_of.is_empty()).then(String::new),
        Keyword::AllOf => (!shape.all_of.is_empty()).then(String::new),
        Keyword::Not => shape.not.is_some().then(String::new),
        _ => None,
    }
}

fn place_of(schema: &Schema<'_>, check: &Check) -> Option<crate::input::yaml::Span> {
    match check {
        Check::Keyword(kind) => {
            let keyword = condition_keywords().find(|word| errors_of(word.aspect()).first() == Some(kind))?;
            schema.entry(keyword).map(|entry| entry.key.span())
        }
        Check::Required(name) => {
            let list = schema.entry(Keyword::Required)?;
            let item = list.value.items().find(|item| item.as_str() == Some(name));
            Some(item.map_or(list.key.span(), |item| item.span()))
        }
        Check::Rule(number) => schema.cel_rules().nth(*number).map(|rule| rule.node.get("rule").unwrap_or(rule.node).span()),
    }
}
