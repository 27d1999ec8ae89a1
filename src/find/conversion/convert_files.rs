//! Converts the objects in a file to a version, and reports what a person should know about each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::input::Text;
use crate::input::yaml::{self, Budget, Node, Span};
use crate::model::schema::Shape;
use crate::model::{Bundle, FieldPath, PathStep};
use crate::server::object::{ObjectPath, ObjectStep};

use super::address::ListKeys;
use super::catalogue::Conversions;
use super::convert::{AppliedStep, ConversionLog, ConvertError, Converter};
use super::graph::{Graph, Leg};
use super::manifest::{Direction, Reverse, group_version_kind, split_api_version};
use super::object_route::{NoRoute, object_route};
use super::path_through_steps::origin;
use super::schema_endpoint::SchemaEndpoint;
use super::step::Op;
use super::text::{Rewritten, rename_pairs, rewrite};

/// The version that objects are converted to.
#[derive(Debug, Clone)]
pub struct Target {
    /// An API version, a bundle version, or `v1alpha3@1.1.0`.
    pub to: String,
    /// The version that the objects have, if their `apiVersion` doesn't say.
    pub from: Option<String>,
}

/// A message about a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub message: String,
    pub span: Span,
    /// The object was not converted.
    pub error: bool,
}

/// The result of converting one file.
#[derive(Debug, Default)]
pub struct Outcome {
    pub text: String,
    pub remarks: Vec<Remark>,
    pub converted: usize,
    /// Objects that already have the target version.
    pub current: usize,
    /// Objects of kinds without a manifest.
    pub other_kinds: usize,
    /// Objects that had to be reformatted, without their comments.
    pub reformatted: usize,
    /// Objects that could not be converted, and documents that could not be read. They are in the text as they were.
    pub failed: usize,
}

impl Outcome {
    /// Counts an object that could not be converted. Each of its errors names it.
    fn failed(&mut self, node: Node<'_>, remarks: Vec<Remark>) {
        self.failed += 1;
        let named = identity(node);
        self.remarks.extend(remarks.into_iter().map(|remark| Remark {
            message: if remark.error { format!("{named}: {}", remark.message) } else { remark.message },
            ..remark
        }));
    }
}

/// `Widget shop/blue`, as messages call an object.
fn identity(node: Node<'_>) -> String {
    let word = |node: Node<'_>, key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
    let metadata = |key: &str| node.get("metadata").map(|metadata| word(metadata, key)).unwrap_or_default();
    let (namespace, name) = (metadata("namespace"), metadata("name"));
    let slash = if namespace.is_empty() { "" } else { "/" };
    let text = format!("{} {namespace}{slash}{name}", word(node, "kind"));
    crate::input::shorten(text.trim_end(), 120).into_owned()
}

type Key = (String, String, String);

/// Converts files of objects. It can be shared between threads.
#[derive(Debug)]
pub struct FileConverter<'m> {
    graphs: BTreeMap<(&'m str, &'m str), Graph<'m>>,
    /// Schemas that results must be valid against.
    endpoints: BTreeMap<Key, SchemaEndpoint>,
    /// By group and kind, the fields that identify the items of their lists.
    keys: BTreeMap<(String, String), Arc<ListKeys>>,
    target: Target,
    budget: Budget,
}

impl<'m> FileConverter<'m> {
    pub fn new(conversions: &'m Conversions, target: Target) -> Self {
        let graphs = conversions.kinds().into_iter().map(|(group, kind)| ((group, kind), conversions.graph(group, kind))).collect();
        FileConverter { graphs, endpoints: BTreeMap::new(), keys: BTreeMap::new(), target, budget: Budget::default() }
    }

    /// Also validates results against the CRDs.
    pub fn with_crds(mut self, bundle: &Bundle<'_>) -> Self {
        for crd in &bundle.crds {
            for version in &crd.versions {
                let Some(schema) = &version.schema else { continue };
                let key = (crd.group().to_owned(), crd.kind().to_owned(), version.name.to_owned());
                self.endpoints.entry(key).or_insert_with(|| SchemaEndpoint::new(Shape::of(schema), crd.group(), version.name, crd.kind()));
            }
        }
        let mut keys: BTreeMap<(String, String), ListKeys> = BTreeMap::new();
        for ((group, kind, _), endpoint) in &self.endpoints {
            keys.entry((group.clone(), kind.clone())).or_default().add_schema(&endpoint.shape);
        }
        self.keys = keys.into_iter().map(|(name, keys)| (name, Arc::new(keys))).collect();
        self
    }

    /// Whether any manifest converts to the target.
    pub fn knows_target(&self) -> bool {
        self.graphs.values().any(|graph| !graph.named(&self.target.to).is_empty())
    }

    /// Every possible target: API versions, then bundle versions.
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
                Err(error) => {
                    outcome.failed += 1;
                    outcome.remarks.push(Remark { message: error.kind.to_string(), span: error.span, error: true });
                }
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
        let (group, version) = split_api_version(api_version);
        if let Some(items) = node.get("items").filter(|items| items.is_seq() && kind.ends_with("List")) {
            self.list(text, node, items, outcome, edits);
            return;
        }
        let Some(graph) = self.graphs.get(&(group, kind)) else {
            outcome.other_kinds += 1;
            return;
        };
        let legs = match object_route(graph, kind, version, &self.target) {
            Ok(legs) => legs,
            Err(NoRoute::Current) => {
                outcome.current += 1;
                return;
            }
            Err(NoRoute::Error(message)) => {
                let span = node.entry("apiVersion").map_or(node, |entry| entry.value).span();
                outcome.failed(node, vec![Remark { message, span, error: true }]);
                return;
            }
        };
        match self.object(node, &legs, outcome) {
            None => {}
            Some(target) if super::text::equal(node, &target) => outcome.current += 1,
            Some(target) => {
                let rewritten = rewrite(text, node, &target, &rename_pairs(&legs));
                outcome.converted += 1;
                outcome.reformatted += usize::from(rewritten.reformatted);
                edits.push(rewritten);
            }
        }
    }

    /// The items of a list. A list of one kind, `WidgetList`, has the version of its items.
    fn list(&self, text: &str, list: Node<'_>, items: Node<'_>, outcome: &mut Outcome, edits: &mut Vec<Rewritten>) {
        let (first, failed) = (edits.len(), outcome.failed);
        items.items().for_each(|item| self.node(text, item, outcome, edits));
        let own = list.get("apiVersion").filter(|own| own.as_str().is_some_and(|own| !split_api_version(own).0.is_empty()));
        let Some(own) = own.filter(|_| outcome.failed == failed) else { return };
        let mut versions: Vec<&str> = edits.get(first..).unwrap_or_default().iter().map(|edit| edit.api_version.as_str()).collect();
        versions.dedup();
        if let [version] = versions.as_slice()
            && own.as_str() != Some(*version)
        {
            let range = own.span().range();
            let quoted = own.source().starts_with(['"', '\'']);
            let text = if quoted { format!("\"{version}\"") } else { (*version).to_owned() };
            edits.push(Rewritten { range, text, api_version: (*version).to_owned(), reformatted: false });
        }
    }

    /// The object converted by each manifest in turn; `None` if one of them fails.
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
                    outcome.failed(node, vec![Remark { message: error.to_string(), span: first_line(node), error: true }]);
                    return None;
                }
            };
            let mut log = ConversionLog::default();
            let result = converter.convert_with_log(&mut object, &mut log);
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
            remarks.extend(log.applied.iter().filter_map(|applied| deprecated(leg, applied)).map(|(message, path)| Remark {
                message,
                span: at(&path),
                error: false,
            }));
            if failed {
                break;
            }
            let steps = leg.manifest.directed_steps(leg.direction).unwrap_or_default();
            let ops: Vec<Op> = steps.iter().map(|step| step.op.clone()).collect();
            for loss in &log.lost {
                // A dropped deprecated field was already reported.
                let dropped = || ops.get(loss.position).is_some_and(|op| op.drops_field());
                if leg.manifest.in_place() && leg.direction == Direction::Forward && dropped() {
                    continue;
                }
                let earlier: Vec<Op> = before.iter().chain(ops.iter().take(loss.position)).cloned().collect();
                remarks.push(Remark { message: loss.to_string(), span: self.span(node, &earlier, &loss.path), error: false });
            }
            before.extend(ops);
        }
        if !failed {
            failed = self.is_invalid(node, &object, &before, &mut remarks);
        }
        if failed {
            outcome.failed(node, remarks);
            return None;
        }
        outcome.remarks.extend(remarks);
        Some(object)
    }

    /// Validates the result against its CRD, and returns whether it is invalid.
    fn is_invalid(&self, node: Node<'_>, object: &Value, ops: &[Op], remarks: &mut Vec<Remark>) -> bool {
        let (group, version, kind) = group_version_kind(object);
        let Some(endpoint) = self.endpoints.get(&(group.to_owned(), kind.to_owned(), version.to_owned())) else { return false };
        let outcome = endpoint.request(object);
        let known = remarks.len();
        for path in &outcome.pruned {
            let message = format!("`{path}` doesn't exist in {version}, and no step converts it");
            remarks.push(Remark { message, span: self.span(node, ops, path), error: true });
        }
        for error in &outcome.errors {
            let message = format!("not valid as {version}: {}: {}", error.field, error.message);
            remarks.push(Remark { message, span: self.span(node, ops, &error.path), error: true });
        }
        remarks.len() > known
    }

    /// The place in the file of the value at a path of the converted object.
    fn span(&self, node: Node<'_>, ops: &[Op], path: &ObjectPath) -> Span {
        let source = source(ops, path);
        let found = source.locate_key(node).unwrap_or_else(|| {
            let (found, taken) = source.locate(node);
            let whole = found.is_map() || found.is_seq();
            source.prefix(taken).locate_key(node).filter(|_| whole).unwrap_or(found)
        });
        // Underlining a whole object shows nothing.
        if found.id() == node.id() { first_line(node) } else { found.span() }
    }
}

fn first_line(node: Node<'_>) -> Span {
    node.entry("apiVersion").map_or(node.span(), |entry| entry.key.span())
}

/// The path before the operations, with the list indices that it has after them.
fn source(ops: &[Op], path: &ObjectPath) -> ObjectPath {
    let general: FieldPath = origin(ops, &path.general());
    let mut indices = path.steps().iter().filter_map(|step| if let ObjectStep::Index(index) = step { Some(*index) } else { None });
    let mut entries = path.steps().iter().filter_map(|step| if let ObjectStep::Entry(name) = step { Some(name.clone()) } else { None });
    let mut found = ObjectPath::root();
    for step in general.steps() {
        found.push(match step {
            PathStep::Key(name) => ObjectStep::Key(name.clone()),
            PathStep::Items => ObjectStep::Index(indices.next().unwrap_or(0)),
            PathStep::Values => ObjectStep::Entry(entries.next().unwrap_or_default()),
        });
    }
    found
}

/// The deprecation notice for a step: within one API version, an old name is a deprecated one.
fn deprecated(leg: &Leg<'_>, applied: &AppliedStep) -> Option<(String, ObjectPath)> {
    if leg.direction == Direction::Back || !leg.manifest.in_place() {
        return None;
    }
    let step = leg.manifest.steps.get(applied.step)?;
    let op = &step.op;
    if op.drops_field() {
        let preserved = leg.manifest.preserve.is_some() && step.preserve && matches!(leg.manifest.reverse, Reverse::Auto);
        let fate = if preserved { "dropped, and preserved for converting back" } else { "dropped" };
        return Some((format!("`{}` is deprecated and has no replacement: it is {fate}", applied.path), applied.path.clone()));
    }
    let new: Vec<String> = op.replacements().into_iter().map(|path| format!("`{path}`")).collect();
    if new.is_empty() {
        return None;
    }
    Some((format!("`{}` is deprecated: use {}", applied.path, new.join(" and ")), applied.path.clone()))
}
