//! The steps of a draft: the step for each change, and the questions that only a person can answer.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use memchr::memmem;

use crate::find::conversion::address::Containers;
use crate::find::conversion::catalogue::Conversions;
use crate::find::conversion::convert::Converter;
use crate::find::conversion::lossless::never_fails;
use crate::find::conversion::manifest::{API_VERSION, Direction, KIND};
use crate::find::conversion::readability;
use crate::find::conversion::schema_endpoint::SchemaEndpoint;
use crate::model::fact::{Aspect, Effect, Fact, Word};
use crate::model::schema::shape::Type;
use crate::model::schema::{Schema, Shape};
use crate::model::{FieldPath, PathStep};

use super::alternatives::{AddedFields, merged};
use super::units::factor;
use super::{MAPPED, MOST_STEPS, TODO, quoted};

pub(super) struct DraftWriter<'s, 't> {
    old: &'s Schema<'t>,
    new: &'s Schema<'t>,
    /// The shapes of both, which only some steps need.
    shapes: OnceCell<(Shape, Shape)>,
    /// Whether the server prunes values that the new schema doesn't keep before a converter can read them.
    prunes: bool,
    /// How many more changed types are tried on generated objects.
    tried: usize,
    steps: Vec<DraftedStep>,
    /// The texts of all steps.
    texts: HashSet<String>,
    /// Fields that no step can read after the upgrade.
    unreadable: Vec<FieldPath>,
    /// Whether a step loses values.
    pub loses: bool,
    /// The changes that have a step which can be proved.
    pub provable: Changes,
}

/// Changes, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Changes(BTreeMap<FieldPath, Vec<(Aspect, Effect)>>);

impl Changes {
    fn add(&mut self, fact: &Fact) {
        self.0.entry(fact.path.clone()).or_default().push((fact.aspect, fact.effect));
    }

    pub fn contains(&self, fact: &Fact) -> bool {
        self.0.get(&fact.path).is_some_and(|changes| changes.contains(&(fact.aspect, fact.effect)))
    }

    /// Whether a field inside the one at this path has changed.
    fn has_inside(&self, path: &FieldPath) -> bool {
        self.0.keys().any(|other| other != path && other.starts_with(path))
    }
}

/// A step, the question it leaves open, and what else the change could mean.
#[derive(Debug, Default)]
pub(super) struct DraftedStep {
    comments: Vec<String>,
    step: String,
    alternatives: Vec<Alternative>,
}

/// A step that could be used instead.
#[derive(Debug)]
pub(super) struct Alternative {
    pub when: String,
    pub step: String,
}

impl<'s, 't> DraftWriter<'s, 't> {
    pub fn new(old: &'s Schema<'t>, new: &'s Schema<'t>, prunes: bool, tried: usize) -> Self {
        DraftWriter {
            shapes: OnceCell::new(),
            old,
            new,
            prunes,
            tried,
            steps: Vec::new(),
            texts: HashSet::new(),
            unreadable: Vec::new(),
            loses: false,
            provable: Changes::default(),
        }
    }

    fn shapes(&self) -> &(Shape, Shape) {
        self.shapes.get_or_init(|| (Shape::of(self.old), Shape::of(self.new)))
    }

    /// Whether the new version prunes values at a path of the old one.
    fn is_pruned(&self, path: &FieldPath) -> bool {
        let (old, new) = self.shapes();
        readability::is_pruned(old, new, path)
    }

    /// Whether the old version prunes values at a path of the new one.
    fn is_pruned_back(&self, path: &FieldPath) -> bool {
        let (old, new) = self.shapes();
        readability::is_pruned(new, old, path)
    }

    /// Drafts the steps for the changes of one pair of versions. Returns whether any of them has one.
    pub fn all(&mut self, facts: &[&Fact], added: &[&Fact]) -> bool {
        // If a version replaces another one, they are compared twice: as a new version, and as the successor.
        let (facts, added) = (&distinct(facts), &distinct(added));
        let mut ordered: Vec<&&Fact> = facts.iter().collect();
        // Inner fields come first, so that the parents in every path still have their old names.
        ordered.sort_by(|a, b| (std::cmp::Reverse(a.path.steps().len()), &a.path).cmp(&(std::cmp::Reverse(b.path.steps().len()), &b.path)));
        let fields = AddedFields::new(added, self.old, self.new);
        for fact in ordered {
            if self.fact(fact, facts, &fields) {
                self.provable.add(fact);
            }
        }
        let removed: Vec<&FieldPath> = facts.iter().filter(|fact| is_removal(fact)).map(|fact| &fact.path).collect();
        let merge = merged(&removed, added, self.old, self.new);
        if let Some(last) = self.steps.last_mut() {
            last.alternatives.extend(merge);
        }
        let has_steps = !self.steps.is_empty();
        self.additions(added);
        has_steps
    }

    /// Adds steps for fields that only the new version has: naming them keeps their values when an object is converted back and
    /// forth.
    fn additions(&mut self, added: &[&Fact]) {
        let mut comment = "only the new version has the following; `preserve` keeps its values for converting back and forth";
        let mut outermost: Vec<&FieldPath> = added.iter().map(|fact| &fact.path).collect();
        outermost.sort();
        outermost.dedup_by(|inner, outer| inner.starts_with(outer));
        let texts = self.steps.iter().flat_map(|step| std::iter::once(&step.step).chain(step.alternatives.iter().map(|other| &other.step)));
        let drafted = texts.map(String::as_str).collect::<Vec<_>>().join("\n");
        for path in outermost {
            let at = quoted(path);
            let known = memmem::find(drafted.as_bytes(), at.as_bytes()).is_some();
            let fits = Containers::of(&[path]).is_some();
            if known || !fits || self.steps.len() >= MOST_STEPS || !self.is_pruned_back(path) {
                continue;
            }
            self.loses = true;
            self.step(std::mem::take(&mut comment), format!("add: {{path: {at}}}"));
        }
    }

    /// Says what must be done before the upgrade, because the new schema prunes values that the steps read.
    pub fn before_the_upgrade(&self) -> Option<String> {
        let inner = |path: &&FieldPath| self.unreadable.iter().any(|above| *path != above && path.starts_with(above));
        let paths: Vec<&FieldPath> = self.unreadable.iter().filter(|path| !inner(path)).collect();
        (!paths.is_empty()).then(|| format!("{}: {}.", readability::reason(&paths), readability::ADVICE))
    }

    /// The text below `steps:`.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let line = |text: &str| text.replace(char::is_control, " ");
        for step in &self.steps {
            for comment in &step.comments {
                let _ = writeln!(text, "  # {}", line(comment));
            }
            let _ = writeln!(text, "  - {}", step.step);
            for other in &step.alternatives {
                let _ = writeln!(text, "  # instead, {}:\n  # - {}", line(&other.when), other.step);
            }
        }
        text
    }

    fn step(&mut self, comment: impl Into<String>, step: impl Into<String>) {
        self.step_for(None, comment, step, Vec::new());
    }

    /// Adds a step that reads `path`.
    fn step_for(&mut self, path: Option<&FieldPath>, comment: impl Into<String>, step: impl Into<String>, alternatives: Vec<Alternative>) {
        let (comment, step) = (comment.into(), step.into());
        if !self.texts.insert(step.clone()) {
            return;
        }
        let comments: Vec<String> = Some(comment).filter(|comment| !comment.is_empty()).into_iter().collect();
        if let Some(path) = path.filter(|path| self.prunes && self.is_pruned(path)) {
            self.unreadable.push(path.clone());
        }
        self.steps.push(DraftedStep { comments, step, alternatives });
    }

    /// Drafts the step for a change. Returns whether it can be proved.
    fn fact(&mut self, fact: &Fact, all: &[&Fact], added: &AddedFields<'_, '_>) -> bool {
        let path = &fact.path;
        // A step can't change an object as a whole, nor what identifies it.
        if path.is_root() || path.head() == Some("metadata") {
            return false;
        }
        let at = quoted(path);
        match (fact.aspect, fact.effect) {
            (Aspect::Presence, Effect::Renamed | Effect::Moved) => self.renamed(fact),
            (Aspect::Presence, Effect::Removed) => {
                self.loses = true;
                let alternatives = added.replacing(path);
                self.step_for(
                    Some(path),
                    "the new version has no field for its value, which `preserve` keeps for converting back",
                    format!("drop: {{path: {at}}}"),
                    alternatives,
                );
            }
            _ if is_retyped(fact) => self.retyped(fact, all),
            (Aspect::Presence, Effect::Added) | (Aspect::Required, Effect::Added) => {
                let target = fact.to.as_ref().unwrap_or(path);
                let value = self.new.at(target).and_then(|schema| Some(schema.enum_values()?.next()?.to_json()));
                let said = value.map_or_else(|| TODO.to_owned(), |value| value.to_string());
                // Converting back removes a field that the old version doesn't have.
                self.loses |= self.old.at(path).is_none();
                self.step(
                    "every object needs a value here; is this the one?",
                    format!("default: {{path: {}, value: {said}}}", quoted(path)),
                );
            }
            (Aspect::Enum, Effect::Narrowed | Effect::Changed | Effect::Added) if self.enums(fact) => {}
            (
                Aspect::CelRule | Aspect::CelTransition | Aspect::AllOf | Aspect::AnyOf | Aspect::OneOf | Aspect::Not | Aspect::Accepted,
                _,
            ) if all.iter().any(|other| other.path != *path && other.path.starts_with(path)) => {
                // The steps for the fields below handle the condition; `conversions check` verifies it.
                return self.provable.has_inside(path);
            }
            (aspect, effect) => {
                let detail = match (fact.words.get(&Word::Old), fact.words.get(&Word::New)) {
                    (Some(old), Some(new)) => format!(": {old} → {new}"),
                    _ => String::new(),
                };
                let what = match aspect {
                    Aspect::CelRule | Aspect::CelTransition => "validation rule".to_owned(),
                    _ => fact.words.get(&Word::Keyword).cloned().unwrap_or_else(|| aspect.to_string()),
                };
                let comment = format!("{what}{detail}: how are old values converted? With a manual step the break stays an error");
                self.step(comment, format!("manual: {{path: {at}, effect: {effect}, guidance: {TODO}}}"));
                return false;
            }
        }
        true
    }

    fn renamed(&mut self, fact: &Fact) {
        let Some(to) = &fact.to else { return };
        let (from, to) = (&fact.path, with_old_parents(&fact.path, to));
        let (old, new) = (self.old.at(from), fact.to.as_ref().and_then(|to| self.new.at(to)));
        let list = |schema: Option<&Schema<'_>>| schema.is_some_and(|schema| ty(schema) == Some(Type::Array));
        let verb = match (list(old.as_ref()), list(new.as_ref())) {
            (false, true) if is_map(old.as_ref()) => "mapToList",
            (true, false) if is_map(new.as_ref()) => "listToMap",
            (false, true) => "wrap",
            (true, false) => "unwrap",
            _ if from.parent() == to.parent() => "rename",
            _ => "move",
        };
        if let Some(factor) =
            Some(&to).filter(|_| matches!(verb, "rename" | "move")).and_then(|to| self.unit_factor(from, to, new.as_ref()))
        {
            // A value in the finer unit may not be a whole number in the coarser one.
            self.loses = true;
            let comment = "the names have different units: is this the factor?";
            self.step_for(Some(from), comment, format!("scale: {{from: {}, to: {}, {factor}}}", quoted(from), quoted(&to)), Vec::new());
            return;
        }
        let comment = match verb {
            "wrap" | "unwrap" => "a single value and a list",
            "mapToList" | "listToMap" => "`key` is the field of an item that holds the map key",
            _ => "",
        };
        let key = if verb.contains("To") { format!(", key: {TODO}") } else { String::new() };
        self.loses |= !matches!(verb, "rename" | "move");
        let from_path = from.clone();
        self.step_for(Some(&from_path), comment, format!("{verb}: {{from: {}, to: {}{key}}}", quoted(from), quoted(&to)), Vec::new());
    }

    /// The conversion factor between two number fields whose names end with units.
    fn unit_factor(&self, from: &FieldPath, to: &FieldPath, new: Option<&Schema<'_>>) -> Option<String> {
        let number = |schema: Option<&Schema<'_>>| schema.and_then(ty).is_some_and(|ty| matches!(ty, Type::Integer | Type::Number));
        if !number(self.old.at(from).as_ref()) || !number(new) {
            return None;
        }
        factor(from.name()?, to.name()?)
    }

    fn retyped(&mut self, fact: &Fact, all: &[&Fact]) {
        // A rename to a list already covers this change.
        if all.iter().any(|other| other.path == fact.path && other.aspect == Aspect::Presence) {
            return;
        }
        let (old, new) = (self.old.at(&fact.path), self.new.at(fact.to.as_ref().unwrap_or(&fact.path)));
        let ty = |schema: Option<&Schema<'_>>| schema.filter(|schema| !schema.is_int_or_string()).and_then(ty);
        let at = quoted(&fact.path);
        let scalar = |ty: Option<Type>| ty.filter(|ty| !matches!(ty, Type::Object | Type::Array)).map(Type::name);
        match (ty(old.as_ref()), ty(new.as_ref())) {
            (Some(Type::Object), Some(Type::Array)) if is_map(old.as_ref()) => {
                self.step(
                    "`key` is the field of an item that holds the map key",
                    format!("mapToList: {{from: {at}, to: {at}, key: {TODO}}}"),
                );
            }
            (Some(Type::Array), Some(Type::Object)) if is_map(new.as_ref()) => {
                self.step(
                    "`key` is the field of an item that holds the map key",
                    format!("listToMap: {{from: {at}, to: {at}, key: {TODO}}}"),
                );
            }
            (Some(_), Some(Type::Array)) => self.step("a single value and a list", format!("wrap: {{from: {at}, to: {at}}}")),
            (Some(Type::Array), Some(_)) => self.step("a single value and a list", format!("unwrap: {{from: {at}, to: {at}}}")),
            (was, becomes) => match (scalar(was), scalar(becomes)) {
                (Some(was), Some(becomes)) if was != becomes => {
                    // Different strings, such as `007` and `7`, become the same number.
                    self.loses |= was == "string" || was == "number";
                    let retype = format!("retype: {{path: {at}, was: {was}, becomes: {becomes}}}");
                    let known = self.tried > 0;
                    self.tried = self.tried.saturating_sub(1);
                    if known && always_succeeds(&retype, &only(&self.shapes().0, fact.path.steps())) {
                        self.step("", retype);
                    } else {
                        let not = if known { "not every" } else { "too many changes to find out whether every" };
                        let comment = format!("{not} {was} is {}: an expression over `self` for each direction", with_article(becomes));
                        let step = format!("cel: {{from: {at}, forward: {TODO}, back: {TODO}}}");
                        let alternative = Alternative { when: "if all objects have values that can be converted".to_owned(), step: retype };
                        self.step_for(None, comment, step, vec![alternative]);
                    }
                }
                _ => {
                    let step = format!("cel: {{from: {at}, forward: {TODO}, back: {TODO}}}");
                    self.step("an expression over `self` for each direction", step);
                }
            },
        }
    }

    /// Drafts a table for the values that are no longer accepted.
    fn enums(&mut self, fact: &Fact) -> bool {
        let (old, new) = (self.old.at(&fact.path), self.new.at(fact.to.as_ref().unwrap_or(&fact.path)));
        let values = |schema: Option<&Schema<'_>>| -> Option<Vec<String>> {
            Some(schema?.enum_values()?.map(|value| value.to_json().to_string()).collect())
        };
        let (Some(old), Some(new)) = (values(old.as_ref()), values(new.as_ref())) else { return false };
        if old.is_empty() || new.is_empty() {
            return false;
        }
        let kept: BTreeSet<&String> = new.iter().collect();
        let gone: Vec<&String> = old.iter().filter(|value| !kept.contains(value)).collect();
        if gone.is_empty() || gone.len() > MAPPED {
            return false;
        }
        let gone: Vec<String> = gone.iter().map(|value| format!("{value}: {TODO}")).collect();
        self.loses = true;
        let offered: Vec<&str> = new.iter().take(8).map(String::as_str).collect();
        let comment = format!("replace each value with one of {}", offered.join(", "));
        self.step(comment, format!("mapValues: {{path: {}, values: {{{}}}}}", quoted(&fact.path), gone.join(", ")));
        true
    }
}

/// The schema with nothing but what leads to a field. Nothing else is copied, because that would cost as much as the schema for each
/// field.
fn only(shape: &Shape, steps: &[PathStep]) -> Shape {
    let Some((step, rest)) = steps.split_first() else { return shape.clone() };
    let mut way = Shape {
        kubernetes: shape.kubernetes,
        ty: shape.ty,
        int_or_string: shape.int_or_string,
        item_count: shape.item_count,
        unique_items: shape.unique_items,
        list_type: shape.list_type,
        map_keys: shape.map_keys.clone(),
        preserve_unknown: shape.preserve_unknown,
        embedded: shape.embedded,
        ..Shape::default()
    };
    match step {
        PathStep::Key(name) => {
            way.properties.extend(shape.property(name).map(|child| (name.to_string(), Arc::new(only(child, rest)))));
            way.required.extend(shape.required.get(&**name).cloned());
            way.extra = shape.extra.clone();
        }
        PathStep::Items => way.items = shape.items.as_ref().map(|items| Arc::new(only(items, rest))),
        PathStep::Values => way.extra = shape.extra.as_ref().map(|values| Arc::new(only(values, rest))),
    }
    way
}

/// Whether a step succeeds on every object of a schema, as far as a proof or generated objects show.
fn always_succeeds(step: &str, shape: &Shape) -> bool {
    let text = format!(
        "apiVersion: {API_VERSION}\nkind: {KIND}\nmetadata: {{name: a}}\nresource: {{group: a.example, kind: A}}\n\
         from: {{version: v1}}\nto: {{version: v1, bundle: next}}\nsteps:\n- {step}\n"
    );
    let conversions = Conversions::of_text("draft.yaml", &text);
    let Some(manifest) = conversions.manifests.first() else { return false };
    if manifest.steps.iter().all(|step| never_fails(&step.op, shape, step.conflict).is_ok()) {
        return true;
    }
    let Ok(converter) = Converter::new(manifest, Direction::Forward) else { return false };
    let endpoint = SchemaEndpoint::new(shape.clone(), "a.example", "v1", "A");
    endpoint.samples().iter().all(|object| converter.converted(object).is_ok())
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with('i') { "an" } else { "a" };
    format!("{article} {noun}")
}

/// Removes duplicate changes, keeping the order.
fn distinct<'f>(facts: &[&'f Fact]) -> Vec<&'f Fact> {
    let mut seen = BTreeSet::new();
    facts.iter().copied().filter(|fact| seen.insert((fact.path.clone(), fact.aspect, fact.effect))).collect()
}

/// The new path of a field while its parents still have their old names.
fn with_old_parents(from: &FieldPath, to: &FieldPath) -> FieldPath {
    let same_depth = from.steps().len() == to.steps().len();
    match (from.steps().split_last(), to.steps().last()) {
        (Some((_, above)), Some(last @ PathStep::Key(_))) if same_depth => FieldPath::root().join(above).child(last.clone()),
        _ => to.clone(),
    }
}

pub(super) fn is_map(schema: Option<&Schema<'_>>) -> bool {
    schema.is_some_and(|schema| schema.values().is_some())
}

pub(super) fn ty(schema: &Schema<'_>) -> Option<Type> {
    schema.ty().and_then(Type::parse)
}

pub(super) fn is_retyped(fact: &Fact) -> bool {
    matches!(fact.aspect, Aspect::Type | Aspect::IntOrString)
}

/// Whether a field was removed and no replacement was recognised.
fn is_removal(fact: &Fact) -> bool {
    (fact.aspect, fact.effect) == (Aspect::Presence, Effect::Removed)
}
