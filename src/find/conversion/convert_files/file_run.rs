//! Converts one file: its objects one by one, and the text with all of them replaced.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::input::yaml::{self, Node};
use crate::input::{Text, edited};
use crate::server::object::ObjectPath;

use super::super::convert::{ConversionLog, ConvertError};
use super::super::manifest::{Direction, group_version_kind, split_api_version};
use super::super::object_route::{NoRoute, object_route};
use super::super::step::Op;
use super::super::text::{self, Rewritten, rewrite};
use super::route::Route;
use super::{ConversionRemark, ConvertedFile, FileConverter, places};

/// How objects of one kind and version are converted.
#[derive(Clone)]
enum ObjectConversion<'c> {
    Route(Rc<Route<'c>>),
    /// The kind has no manifest.
    OtherKind,
    Current,
    /// The message, and whether it is about the object's version.
    Error(String, bool),
}

pub(super) struct FileRun<'c, 'm> {
    converter: &'c FileConverter<'m>,
    text: &'c Text,
    /// By `apiVersion` and kind.
    by_kind: BTreeMap<String, BTreeMap<String, ObjectConversion<'c>>>,
    outcome: ConvertedFile,
    edits: Vec<Rewritten>,
}

impl<'c, 'm> FileRun<'c, 'm> {
    pub fn new(converter: &'c FileConverter<'m>, text: &'c Text) -> Self {
        FileRun { converter, text, by_kind: BTreeMap::new(), outcome: ConvertedFile::default(), edits: Vec::new() }
    }

    pub fn run(mut self) -> ConvertedFile {
        for document in yaml::parse(self.text, &self.converter.budget) {
            match &document.tree {
                Ok(tree) => self.node(tree.root()),
                Err(error) => {
                    self.outcome.failed += 1;
                    self.outcome.remarks.push(ConversionRemark { message: error.kind.to_string(), span: error.span, error: true });
                }
            }
        }
        self.edits.sort_by_key(|edit| edit.range.start);
        let edits = self.edits.into_iter().map(|edit| (edit.range, edit.text));
        ConvertedFile { text: edited(self.text, edits).unwrap_or_else(|| self.text.to_string()), ..self.outcome }
    }

    /// Converts an object, or the items of a list of objects.
    fn node(&mut self, node: Node<'_>) {
        let word = |key: &str| node.text(key).unwrap_or_default();
        let (api_version, kind) = (word("apiVersion"), word("kind"));
        if let Some(items) = node.get("items").filter(|items| items.is_seq() && kind.ends_with("List")) {
            self.list(node, items);
            return;
        }
        match self.way(api_version, kind) {
            ObjectConversion::OtherKind => self.outcome.other_kinds += 1,
            ObjectConversion::Current => self.outcome.current += 1,
            ObjectConversion::Error(message, of_version) => {
                let version = node.entry("apiVersion").map_or(node, |entry| entry.value).span();
                let span = if of_version { version } else { places::first_line(node) };
                self.outcome.failed(node, vec![ConversionRemark { message, span, error: true }]);
            }
            ObjectConversion::Route(route) => self.object(node, &route),
        }
    }

    fn way(&mut self, api_version: &str, kind: &str) -> ObjectConversion<'c> {
        if let Some(way) = self.by_kind.get(api_version).and_then(|kinds| kinds.get(kind)) {
            return way.clone();
        }
        let way = self.find_way(api_version, kind);
        self.by_kind.entry(api_version.to_owned()).or_default().insert(kind.to_owned(), way.clone());
        way
    }

    fn find_way(&self, api_version: &str, kind: &str) -> ObjectConversion<'c> {
        let (group, version) = split_api_version(api_version);
        let converter: &'c FileConverter<'m> = self.converter;
        let Some(graph) = converter.graphs.get(&(group, kind)) else { return ObjectConversion::OtherKind };
        let legs = match object_route(graph, kind, version, &converter.target) {
            Ok(legs) => legs,
            Err(NoRoute::Current) => return ObjectConversion::Current,
            Err(NoRoute::Error(message)) => return ObjectConversion::Error(message, true),
        };
        let keys = converter.keys.get(&(group.to_owned(), kind.to_owned()));
        match Route::new(legs, keys, keys.is_some()) {
            Ok(route) => ObjectConversion::Route(Rc::new(route)),
            Err(error) => ObjectConversion::Error(error.to_string(), false),
        }
    }

    /// Converts the items of a list. A typed list such as `WidgetList` has the version of its items.
    fn list(&mut self, list: Node<'_>, items: Node<'_>) {
        let (first, failed) = (self.edits.len(), self.outcome.failed);
        items.items().for_each(|item| self.node(item));
        let own = list.get("apiVersion").filter(|own| own.as_str().is_some_and(|own| !split_api_version(own).0.is_empty()));
        let Some(own) = own.filter(|_| self.outcome.failed == failed) else { return };
        let mut versions: Vec<&str> = self.edits.get(first..).unwrap_or_default().iter().map(|edit| edit.api_version.as_str()).collect();
        versions.dedup();
        if let [version] = versions.as_slice()
            && own.as_str() != Some(*version)
        {
            let range = own.span().range();
            let quoted = own.source().starts_with(['"', '\'']);
            let text = if quoted { format!("\"{version}\"") } else { (*version).to_owned() };
            let api_version = (*version).to_owned();
            self.edits.push(Rewritten { range, text, api_version, reformatted: false });
        }
    }

    fn object(&mut self, node: Node<'_>, route: &Route<'_>) {
        let Some(target) = self.converted(node, route) else { return };
        if text::equal_fields(node, &target, route.fields.as_ref()) {
            self.outcome.current += 1;
            return;
        }
        let rewritten = rewrite(self.text, node, target, &route.renames, route.fields.as_ref());
        self.outcome.converted += 1;
        self.outcome.reformatted += usize::from(rewritten.reformatted);
        self.edits.push(rewritten);
    }

    /// Converts the object, or only the fields that the route touches, with each manifest in turn; `None` if one fails.
    fn converted(&mut self, node: Node<'_>, route: &Route<'_>) -> Option<Map<String, Value>> {
        let mut object = match &route.fields {
            Some(fields) => {
                let entries = node.entries().filter(|entry| fields.contains(entry.name()));
                Value::Object(entries.map(|entry| (entry.name().to_owned(), entry.value.to_json())).collect())
            }
            None => node.to_json(),
        };
        let mut before: Vec<Op> = Vec::new();
        let mut remarks = Vec::new();
        let mut failed = false;
        for (leg, converter) in &route.legs {
            let mut log = ConversionLog::default();
            let result = converter.convert_with_log(&mut object, &mut log);
            let at = |path: &ObjectPath| places::span(node, &before, path);
            match result {
                Ok(notes) => remarks.extend(notes.iter().map(|note| ConversionRemark {
                    message: note.to_string(),
                    span: at(&note.path),
                    error: false,
                })),
                Err(ConvertError::Refused(refusal)) => {
                    remarks.push(ConversionRemark { message: refusal.to_string(), span: at(&refusal.path), error: true });
                    failed = true;
                }
                Err(error) => {
                    remarks.push(ConversionRemark { message: error.to_string(), span: places::first_line(node), error: true });
                    failed = true;
                }
            }
            remarks.extend(
                log.applied.iter().filter_map(|applied| places::deprecated(leg, applied)).map(|(message, path)| ConversionRemark {
                    message,
                    span: at(&path),
                    error: false,
                }),
            );
            if failed {
                break;
            }
            let steps = leg.manifest.directed_steps(leg.direction).unwrap_or_default();
            let ops = steps.iter().map(|step| step.op.clone());
            for loss in &log.lost {
                // A dropped deprecated field was already reported.
                let dropped = || steps.get(loss.position).is_some_and(|step| step.op.drops_field());
                if leg.manifest.in_place() && leg.direction == Direction::Forward && dropped() {
                    continue;
                }
                let earlier: Vec<Op> = before.iter().cloned().chain(ops.clone().take(loss.position)).collect();
                remarks.push(ConversionRemark { message: loss.to_string(), span: places::span(node, &earlier, &loss.path), error: false });
            }
            before.extend(ops);
        }
        if !failed {
            failed = self.is_invalid(node, &object, &before, &mut remarks);
        }
        if failed {
            self.outcome.failed(node, remarks);
            return None;
        }
        self.outcome.remarks.extend(remarks);
        if let Value::Object(map) = object { Some(map) } else { None }
    }

    /// Validates the result against its CRD, and returns whether it is invalid.
    fn is_invalid(&self, node: Node<'_>, object: &Value, ops: &[Op], remarks: &mut Vec<ConversionRemark>) -> bool {
        if self.converter.endpoints.is_empty() {
            return false;
        }
        let (group, version, kind) = group_version_kind(object);
        let key = (group.to_owned(), kind.to_owned(), version.to_owned());
        let Some(endpoint) = self.converter.endpoints.get(&key) else { return false };
        let outcome = endpoint.request(object);
        let known = remarks.len();
        for path in outcome.pruned.iter().take(MAX_REMARKS) {
            let message = format!("`{path}` doesn't exist in {version}, and no step converts it");
            remarks.push(ConversionRemark { message, span: places::span(node, ops, path), error: true });
        }
        for error in outcome.errors.iter().take(MAX_REMARKS) {
            let message = format!("not valid as {version}: {}: {}", error.field, error.message);
            remarks.push(ConversionRemark { message, span: places::span(node, ops, &error.path), error: true });
        }
        let left = outcome.pruned.len().saturating_sub(MAX_REMARKS) + outcome.errors.len().saturating_sub(MAX_REMARKS);
        if left > 0 {
            let message = format!("and {left} more fields that don't exist in {version} or aren't valid");
            remarks.push(ConversionRemark { message, span: places::first_line(node), error: true });
        }
        remarks.len() > known
    }
}

/// How many lost fields of one object are listed, and how many errors; the others are counted.
const MAX_REMARKS: usize = 1_000;
