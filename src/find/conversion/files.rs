//! A file with objects and the version they should have come in; its text with the objects in that version, and what is to be
//! said about each of them, go out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::input::Text;
use crate::input::yaml::{self, Budget, Node, Span};
use crate::model::schema::Shape;
use crate::model::{Bundle, FieldPath, Step as Hop};
use crate::server::object::{ObjectPath, ObjectStep};

use super::address::Keys;
use super::catalogue::Conversions;
use super::convert::{ConvertError, Converter, Done, Told};
use super::graph::{Graph, Leg};
use super::manifest::{Direction, Reverse};
use super::path_through_steps::origin;
use super::schema_endpoint::Ground;
use super::step::Op;
use super::text::{Rewritten, rename_pairs, rewrite};

/// Where objects go.
#[derive(Debug, Clone)]
pub struct Target {
    /// An API version, a bundle version, or `v1alpha3@1.1.0`.
    pub to: String,
    /// The form that the objects are in, where `apiVersion` doesn't tell.
    pub from: Option<String>,
}

/// Something to say about a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub message: String,
    pub span: Span,
    /// The object was not converted.
    pub error: bool,
}

/// What became of one file.
#[derive(Debug, Default)]
pub struct Outcome {
    pub text: String,
    pub remarks: Vec<Remark>,
    pub converted: usize,
    pub current: usize,
    /// Objects of kinds that no manifest speaks of.
    pub other: usize,
    /// Objects that were written anew, without their comments.
    pub anew: usize,
}

impl Outcome {
    pub fn failed(&self) -> bool {
        self.remarks.iter().any(|remark| remark.error)
    }
}

type Key = (String, String, String);

/// Converts files of objects, one after the other or side by side.
#[derive(Debug)]
pub struct Workshop<'m> {
    graphs: BTreeMap<(&'m str, &'m str), Graph<'m>>,
    /// Schemas to judge results by.
    grounds: BTreeMap<Key, Ground>,
    /// By group and kind, what the items of their lists are told apart by.
    keys: BTreeMap<(String, String), Arc<Keys>>,
    target: Target,
    budget: Budget,
}

impl<'m> Workshop<'m> {
    pub fn new(conversions: &'m Conversions, target: Target) -> Self {
        let graphs = conversions.kinds().into_iter().map(|(group, kind)| ((group, kind), conversions.graph(group, kind))).collect();
        Workshop { graphs, grounds: BTreeMap::new(), keys: BTreeMap::new(), target, budget: Budget::default() }
    }

    /// Also holds results against the CRDs.
    pub fn with_crds(mut self, bundle: &Bundle<'_>) -> Self {
        for crd in &bundle.crds {
            for version in &crd.versions {
                let Some(schema) = &version.schema else { continue };
                let key = (crd.group().to_owned(), crd.kind().to_owned(), version.name.to_owned());
                self.grounds.entry(key).or_insert_with(|| Ground::new(Shape::of(schema), crd.group(), version.name, crd.kind()));
            }
        }
        let mut keys: BTreeMap<(String, String), Keys> = BTreeMap::new();
        for ((group, kind, _), ground) in &self.grounds {
            keys.entry((group.clone(), kind.clone())).or_default().learn(&ground.shape);
        }
        self.keys = keys.into_iter().map(|(name, keys)| (name, Arc::new(keys))).collect();
        self
    }

    /// Whether any manifest leads to the target.
    pub fn knows_target(&self) -> bool {
        self.graphs.values().any(|graph| !graph.named(&self.target.to).is_empty())
    }

    /// What may be asked for: API versions, and below them the versions of bundles.
    pub fn targets(&self) -> Vec<String> {
        let nodes = || self.graphs.values().flat_map(|graph| &graph.nodes);
        let versions: BTreeSet<&String> = nodes().filter_map(|node| node.version.as_ref()).collect();
        let bundles: BTreeSet<_> = nodes().filter_map(|node| node.bundle.as_ref()).collect();
        versions.into_iter().cloned().chain(bundles.into_iter().map(ToString::to_string)).collect()
    }

    pub fn convert(&self, text: &Text) -> Outcome {
        let mut outcome = Outcome::default();
        let mut edits: Vec<Rewritten> = Vec::new();
        for document in yaml::parse(text, &self.budget) {
            match &document.tree {
                Ok(tree) => self.node(text, tree.root(), &mut outcome, &mut edits),
                Err(error) => outcome.remarks.push(Remark { message: error.kind.to_string(), span: error.span, error: true }),
            }
        }
        edits.sort_by_key(|edit| edit.range.start);
        let mut at = 0;
        for edit in &edits {
            outcome.text.push_str(text.get(at..edit.range.start).unwrap_or_default());
            outcome.text.push_str(&edit.text);
            at = edit.range.end;
        }
        outcome.text.push_str(text.get(at..).unwrap_or_default());
        outcome
    }

    /// An object, or the items of a list of objects.
    fn node(&self, text: &str, node: Node<'_>, outcome: &mut Outcome, edits: &mut Vec<Rewritten>) {
        let word = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default();
        let (api_version, kind) = (word("apiVersion"), word("kind"));
        if let Some(items) = node.get("items").filter(|items| items.is_seq() && kind.ends_with("List")) {
            items.items().for_each(|item| self.node(text, item, outcome, edits));
            return;
        }
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let Some(graph) = self.graphs.get(&(group, kind)) else {
            outcome.other += 1;
            return;
        };
        let place = node.entry("apiVersion").map_or(node, |entry| entry.value);
        let goals = graph.named(&self.target.to);
        let starts = graph.named(self.target.from.as_deref().unwrap_or(version));
        let legs = match graph.route(&starts, &goals) {
            // The object may be in a newer form than the oldest of its API version, unless somebody says otherwise.
            Some(legs) if legs.is_empty() && self.target.from.is_none() => graph.retreat(&starts, &goals).unwrap_or_default(),
            Some(legs) => legs,
            None if version == self.target.to || goals.is_empty() => {
                outcome.current += 1;
                return;
            }
            None => {
                let message = format!("no manifest leads from {} {version} to {}", kind, self.target.to);
                outcome.remarks.push(Remark { message, span: place.span(), error: true });
                return;
            }
        };
        match self.object(node, &legs, outcome) {
            None => {}
            Some(target) if super::text::equal(node, &target) => outcome.current += 1,
            Some(target) => {
                let rewritten = rewrite(text, node, &target, &rename_pairs(&legs));
                outcome.converted += 1;
                outcome.anew += usize::from(rewritten.anew);
                edits.push(rewritten);
            }
        }
    }

    /// The object at the end of the way, if it gets there.
    fn object(&self, node: Node<'_>, legs: &[Leg<'_>], outcome: &mut Outcome) -> Option<Value> {
        let mut object = node.to_json();
        let mut before: Vec<Op> = Vec::new();
        let mut remarks = Vec::new();
        let mut failed = false;
        for leg in legs {
            let converter = match Converter::new(leg.manifest, leg.direction) {
                Ok(converter) => match self.keys.get(&(leg.manifest.group.clone(), leg.manifest.kind.clone())) {
                    Some(keys) => converter.with_keys(keys),
                    None => converter,
                },
                Err(error) => {
                    outcome.remarks.push(Remark { message: error.to_string(), span: first_line(node), error: true });
                    return None;
                }
            };
            let mut told = Told::default();
            let result = converter.convert_and_tell(&mut object, &mut told);
            let at = |path: &ObjectPath| self.span(node, &before, path);
            match result {
                Ok(notes) => {
                    remarks.extend(notes.iter().map(|note| Remark { message: note.to_string(), span: at(&note.path), error: false }))
                }
                Err(ConvertError::Refused(refusal)) => {
                    remarks.push(Remark { message: refusal.to_string(), span: at(&refusal.path), error: true });
                    failed = true;
                }
                Err(error) => {
                    remarks.push(Remark { message: error.to_string(), span: first_line(node), error: true });
                    failed = true;
                }
            }
            remarks.extend(told.done.iter().filter_map(|done| deprecated(leg, done)).map(|(message, path)| Remark {
                message,
                span: at(&path),
                error: false,
            }));
            if failed {
                break;
            }
            let ready = leg.manifest.ready(leg.direction);
            let ops: Vec<Op> = ready.iter().flat_map(|ready| ready.iter()).map(|ready| ready.op.clone()).collect();
            for loss in &told.lost {
                // Of a deprecated field it was said that it is dropped.
                if leg.manifest.in_place() && leg.direction == Direction::Forward && ops.get(loss.turn).is_some_and(|op| op.drops_field()) {
                    continue;
                }
                let earlier: Vec<Op> = before.iter().chain(ops.iter().take(loss.turn)).cloned().collect();
                remarks.push(Remark { message: loss.to_string(), span: self.span(node, &earlier, &loss.path), error: false });
            }
            before.extend(ops);
        }
        if !failed {
            failed = self.judged(node, &object, &before, &mut remarks);
        }
        outcome.remarks.extend(remarks);
        (!failed).then_some(object)
    }

    /// Holds the result against its CRD. Says whether it must not be written.
    fn judged(&self, node: Node<'_>, object: &Value, ops: &[Op], remarks: &mut Vec<Remark>) -> bool {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
        let Some(ground) = self.grounds.get(&(group.to_owned(), text("kind").to_owned(), version.to_owned())) else { return false };
        let outcome = ground.request(object);
        let known = remarks.len();
        for path in &outcome.pruned {
            let message = format!("`{path}` is not in {version}: it was removed, or never there");
            remarks.push(Remark { message, span: self.span(node, ops, path), error: true });
        }
        for error in &outcome.errors {
            let message = format!("not valid as {version}: {}: {}", error.field, error.message);
            remarks.push(Remark { message, span: self.span(node, ops, &error.path), error: true });
        }
        remarks.len() > known
    }

    /// Where the value at a path of the converted object stands in the file.
    fn span(&self, node: Node<'_>, ops: &[Op], path: &ObjectPath) -> Span {
        let source = source(ops, path);
        let found = source.locate_key(node).unwrap_or_else(|| {
            let (found, taken) = source.locate(node);
            let whole = found.is_map() || found.is_seq();
            source.prefix(taken).locate_key(node).filter(|_| whole).unwrap_or(found)
        });
        // A whole object underlined shows nothing.
        if found.id() == node.id() { first_line(node) } else { found.span() }
    }
}

fn first_line(node: Node<'_>) -> Span {
    node.entry("apiVersion").map_or(node.span(), |entry| entry.key.span())
}

/// The path before the operations, with the indices that it had after them.
fn source(ops: &[Op], path: &ObjectPath) -> ObjectPath {
    let general: FieldPath = origin(ops, &path.general());
    let mut indices = path.steps().iter().filter_map(|step| if let ObjectStep::Index(index) = step { Some(*index) } else { None });
    let mut entries = path.steps().iter().filter_map(|step| if let ObjectStep::Entry(name) = step { Some(name.clone()) } else { None });
    let mut found = ObjectPath::root();
    for hop in general.steps() {
        found.push(match hop {
            Hop::Key(name) => ObjectStep::Key(name.clone()),
            Hop::Items => ObjectStep::Index(indices.next().unwrap_or(0)),
            Hop::Values => ObjectStep::Entry(entries.next().unwrap_or_default()),
        });
    }
    found
}

/// Within one API version an old name is a deprecated one: what it is called now.
fn deprecated(leg: &Leg<'_>, done: &Done) -> Option<(String, ObjectPath)> {
    if leg.direction == Direction::Back || !leg.manifest.in_place() {
        return None;
    }
    let step = leg.manifest.steps.get(done.step)?;
    let op = &step.op;
    if op.drops_field() {
        let kept = leg.manifest.preserve.is_some() && step.preserve && matches!(leg.manifest.reverse, Reverse::Auto);
        let fate = if kept { "dropped, and kept for the way back" } else { "dropped" };
        return Some((format!("`{}` is deprecated and has no replacement: it is {fate}", done.path), done.path.clone()));
    }
    let new: Vec<String> = op.replacements().into_iter().map(|path| format!("`{path}`")).collect();
    if new.is_empty() {
        return None;
    }
    Some((format!("`{}` is deprecated: use {}", done.path, new.join(" and ")), done.path.clone()))
}
