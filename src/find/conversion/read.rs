//! One document → one manifest, or everything that is wrong with it.

use serde_json::Value;

use crate::input::yaml::{Node, Span};
use crate::model::fact::Effect;
use crate::model::{FieldPath, FileId, Step as Hop, release};

use super::address::Region;
use super::form::{self, Malformed};
use super::keep::Preserve;
use super::manifest::{API_VERSION, Endpoint, Example, KIND, Manifest, Mention, Reverse};
use super::step::cel::Expression;
use super::step::keyed::Keying;
use super::step::parts::{Form, PartType};
use super::step::retype::Scalar;
use super::step::scale::{Factor, Round};
use super::step::template::Template;
use super::step::values::{Otherwise, Table};
use super::step::{Conflict, Op, Step};

/// Steps inside `forEach` inside `forEach` ….
const NESTING: usize = 8;

/// Whether a document says that it is a manifest.
pub fn is_manifest(node: Node<'_>) -> bool {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    text("kind") == Some(KIND) && text("apiVersion").is_some_and(|api| api.starts_with("crdwise.dev/"))
}

pub fn read(file: FileId, file_name: &str, root: Node<'_>) -> Result<Manifest, Vec<Malformed>> {
    if let Some(api) = root.get("apiVersion").filter(|api| api.as_str() != Some(API_VERSION)) {
        return Err(vec![Malformed::at(api, format!("this tool reads manifests of {API_VERSION}"))]);
    }
    let errors = form::check(root);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut reader = Reader { errors: Vec::new() };
    reader.unfinished(root.get("steps"));
    let manifest = reader.manifest(file, file_name, root);
    if reader.errors.is_empty() { Ok(manifest) } else { Err(reader.errors) }
}

struct Reader {
    errors: Vec<Malformed>,
}

/// What a path must be able to do.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// A field that can come and go: it ends with a name.
    Field,
    /// A value that becomes another: `[]` and `{}` at the end are fine.
    Value,
}

impl Reader {
    fn wrong(&mut self, node: Node<'_>, message: impl Into<String>) {
        self.errors.push(Malformed::at(node, message));
    }

    /// A draft is no definition.
    fn unfinished(&mut self, node: Option<Node<'_>>) {
        let Some(node) = node else { return };
        if node.as_str().is_some_and(|text| text.starts_with(super::scaffold::TODO)) {
            self.wrong(node, "fill this in");
        }
        node.items().for_each(|item| self.unfinished(Some(item)));
        node.entries().for_each(|entry| self.unfinished(Some(entry.value)));
    }

    fn manifest(&mut self, file: FileId, file_name: &str, root: Node<'_>) -> Manifest {
        let resource = root.get("resource").unwrap_or(root);
        let word = |node: Node<'_>, key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
        let named = root.get("metadata").and_then(|metadata| metadata.get("name"));
        let name = named.and_then(Node::as_str).map_or_else(|| stem(file_name), str::to_owned);
        let mut steps = Vec::new();
        if let Some(list) = root.get("steps") {
            self.steps(list, &FieldPath::root(), 0, &mut steps);
        }
        let (from, to) = (self.endpoint(root, "from"), self.endpoint(root, "to"));
        let drafted = |key: &str| root.get(key).and_then(|end| end.get("bundle")?.as_str()) == Some(super::scaffold::TODO);
        if from == to && !drafted("from") && !drafted("to") {
            self.wrong(
                root.entry("to").map_or(root, |entry| entry.key),
                "`from` and `to` are the same version; `bundle:` tells releases of one version apart",
            );
        }
        let reverse = self.reverse(root.get("reverse"));
        let mut manifest = Manifest {
            name,
            file,
            span: named.map_or_else(|| form::first(root), Node::span),
            group: word(resource, "group"),
            kind: word(resource, "kind"),
            from,
            to,
            steps,
            reverse,
            reverse_span: root.get("reverse").map_or_else(|| named.map_or(form::first(root), Node::span), form::first),
            preserve: self.preserve(root.get("preserve")),
            preserve_span: root
                .get("preserve")
                .map_or_else(|| form::first(root), |node| node.entry_at(0).map_or(node, |entry| entry.value).span()),
            examples: Vec::new(),
            tombstones: self.mentions(root.get("tombstones")),
            meaning_changed: self.mentions(root.get("meaningChanged")),
            webhook: root.get("webhook").and_then(Node::as_bool).unwrap_or(false),
            prepared: Default::default(),
        };
        manifest.examples = root.get("examples").into_iter().flat_map(Node::items).map(|node| example(node, &manifest)).collect();
        if manifest.webhook && !manifest.steps.is_empty() {
            self.wrong(root.entry("webhook").map_or(root, |entry| entry.key), "a webhook converts, or steps do, not both");
        }
        manifest
    }

    fn endpoint(&mut self, root: Node<'_>, key: &str) -> Endpoint {
        let Some(node) = root.get(key) else { return Endpoint::default() };
        let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
        let bundle = node.get("bundle").and_then(|given| {
            let version = given.as_str().and_then(release::parse);
            match given.as_str() {
                _ if version.is_some() => {}
                Some(super::scaffold::TODO) => self.wrong(given, "fill in a release, such as `2.0.0`"),
                _ => self.wrong(given, "this is no semantic version"),
            }
            version
        });
        Endpoint { version: text("version"), bundle, channel: text("channel") }
    }

    fn reverse(&mut self, node: Option<Node<'_>>) -> Reverse {
        let Some(node) = node else { return Reverse::Auto };
        if let Some(reason) = node.get("none").and_then(Node::as_str) {
            return Reverse::None(reason.to_owned());
        }
        match node.get("steps") {
            Some(list) => {
                let mut steps = Vec::new();
                self.steps(list, &FieldPath::root(), 0, &mut steps);
                Reverse::Steps(steps)
            }
            None => Reverse::Auto,
        }
    }

    fn preserve(&mut self, node: Option<Node<'_>>) -> Option<Preserve> {
        let node = node?;
        if let Some(field) = node.get("field") {
            let path = self.path(field, Role::Field)?;
            if path.steps().iter().any(|hop| !matches!(hop, Hop::Key(_))) {
                self.wrong(field, "values are kept in one place, not one for each element");
            }
            return Some(Preserve::Field(path));
        }
        Some(Preserve::Annotation(node.get("annotation")?.as_str()?.to_owned()))
    }

    fn mentions(&mut self, node: Option<Node<'_>>) -> Vec<Mention> {
        let mention = |item: Node<'_>| {
            let at = item.get("path")?;
            let note = item.get("note").and_then(Node::as_str).unwrap_or_default().to_owned();
            Some(Mention { path: self.path(at, Role::Value)?, note, span: at.span() })
        };
        node.into_iter().flat_map(Node::items).filter_map(mention).collect()
    }

    /// A path as written, checked for its form.
    fn path(&mut self, node: Node<'_>, role: Role) -> Option<FieldPath> {
        let Some(path) = node.as_str().and_then(FieldPath::parse).filter(|path| !path.is_root()) else {
            self.wrong(node, "this is no path; write `spec.rules[].name`, `spec.labels{}` or `spec[\"a.b\"]`");
            return None;
        };
        if role == Role::Field && !matches!(path.steps().last(), Some(Hop::Key(_))) {
            self.wrong(node, "this path must end with the name of a field");
            return None;
        }
        Some(path)
    }

    fn steps(&mut self, list: Node<'_>, within: &FieldPath, nesting: usize, steps: &mut Vec<Step>) {
        for node in list.items() {
            let Some((entry, name)) = node.entries().find_map(|entry| Some((entry, kind(entry.name())?))) else {
                self.wrong(
                    node,
                    "a step needs one of: rename, move, copy, drop, add, set, default, mapValues, split, merge, wrap, unwrap, …",
                );
                continue;
            };
            if let Some(second) = node.entries().filter(|entry| kind(entry.name()).is_some()).nth(1) {
                self.wrong(second.key, format!("one step does one thing: `{name}` or `{}`", second.name()));
                continue;
            }
            if name == "forEach" {
                self.for_each(entry.value, within, nesting, steps);
                continue;
            }
            let Some((op, path_spans)) = self.op(name, entry.value, within) else { continue };
            let Some(region) = Region::of(&op.paths()) else {
                self.wrong(entry.value, "`[]` and `{}` must stand in the part that all paths of the step share");
                continue;
            };
            let conflict = match node.get("conflict").and_then(Node::as_str) {
                Some("prefer-new") => Conflict::PreferNew,
                Some("prefer-old") => Conflict::PreferOld,
                _ => Conflict::Error,
            };
            let preserve = node.get("preserve").and_then(Node::as_bool).unwrap_or(true);
            steps.push(Step { op, name, conflict, preserve, span: entry.key.span(), path_spans, region });
        }
    }

    fn for_each(&mut self, node: Node<'_>, within: &FieldPath, nesting: usize, steps: &mut Vec<Step>) {
        let (Some(at), Some(list)) = (node.get("path"), node.get("steps")) else { return };
        if nesting == NESTING {
            self.wrong(at, format!("`forEach` is nested deeper than {NESTING} levels"));
            return;
        }
        let Some(path) = self.path(at, Role::Value) else { return };
        if matches!(path.steps().last(), Some(Hop::Key(_))) {
            self.wrong(at, "each of what? The path must end with `[]` or `{}`");
            return;
        }
        self.steps(list, &joined(within, &path), nesting + 1, steps);
    }

    /// The operation of a step, with the bytes of each of its paths.
    fn op(&mut self, name: &str, node: Node<'_>, within: &FieldPath) -> Option<(Op, Vec<Span>)> {
        let mut spans = Vec::new();
        let mut path = |reader: &mut Reader, key: &str, role: Role| {
            let at = node.get(key)?;
            let path = joined(within, &reader.path(at, role)?);
            reader.mutable(at, &path);
            spans.push(at.span());
            Some(path)
        };
        let value = |key: &str| node.entry(key).map(|entry| entry.value.to_json());
        // A value that changes stays at `path`, or goes `from` one place `to` another.
        let ends = |reader: &mut Reader, path: &mut dyn FnMut(&mut Reader, &str, Role) -> Option<FieldPath>| {
            if node.get("path").is_some() {
                let path = path(reader, "path", Role::Value)?;
                return Some((path.clone(), path));
            }
            Some((path(reader, "from", Role::Field)?, path(reader, "to", Role::Field)?))
        };
        let op = match name {
            "rename" | "move" => {
                let (from, to) = (path(self, "from", Role::Field)?, path(self, "to", Role::Field)?);
                if from == to {
                    self.wrong(node, "`from` and `to` are the same");
                }
                if name == "rename" && from.parent() != to.parent() {
                    self.wrong(node.get("to").unwrap_or(node), "a field is renamed under its own parent; to another place it is a `move`");
                }
                Op::Move { from, to }
            }
            "copy" => Op::Copy { from: path(self, "from", Role::Field)?, to: path(self, "to", Role::Field)? },
            "drop" => Op::Drop { path: path(self, "path", Role::Field)?, restore: value("restore") },
            "add" => Op::Add { path: path(self, "path", Role::Field)?, value: value("value") },
            "set" => Op::Set { path: path(self, "path", Role::Field)?, value: value("value")? },
            "default" => Op::Default { path: path(self, "path", Role::Field)?, value: value("value")? },
            "mapValues" => {
                let (from, to) = ends(self, &mut path)?;
                Op::MapValues { from, to, table: self.table(node)? }
            }
            "split" => {
                let from = path(self, "from", Role::Field)?;
                let (into, form, mut more) = self.parts(node, "into", within)?;
                spans.append(&mut more);
                Op::Split { from, into, form }
            }
            "merge" => {
                let to = path(self, "to", Role::Field)?;
                let (parts, form, mut more) = self.parts(node, "from", within)?;
                more.append(&mut spans);
                spans = more;
                Op::Merge { parts, to, form }
            }
            "wrap" => Op::Wrap { from: path(self, "from", Role::Field)?, to: path(self, "to", Role::Field)? },
            "unwrap" => Op::Unwrap { from: path(self, "from", Role::Field)?, to: path(self, "to", Role::Field)? },
            "mapToList" | "listToMap" => {
                let (from, to) = (path(self, "from", Role::Field)?, path(self, "to", Role::Field)?);
                let text = |key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
                let keying = Keying { key: text("key")?, value: text("value") };
                if name == "mapToList" { Op::MapToList { from, to, keying } } else { Op::ListToMap { from, to, keying } }
            }
            "scale" => {
                let (from, to) = ends(self, &mut path)?;
                Op::Scale { from, to, factor: factor(node) }
            }
            "retype" => {
                let scalar = |key: &str| node.get(key).and_then(Node::as_str).and_then(Scalar::parse);
                let (was, becomes) = (scalar("was")?, scalar("becomes")?);
                let (from, to) = ends(self, &mut path)?;
                Op::Retype { from, to, was, becomes }
            }
            "cel" => {
                let from = path(self, "from", Role::Field)?;
                let to = if node.get("to").is_some() { path(self, "to", Role::Field)? } else { from.clone() };
                let forward = self.expression(node.get("forward")?)?;
                let back = match node.get("back") {
                    Some(back) => Some(self.expression(back)?),
                    None => None,
                };
                Op::Cel { from, to, forward, back }
            }
            "manual" => Op::Manual {
                path: path(self, "path", Role::Value)?,
                effect: node.get("effect").and_then(Node::as_str).and_then(Effect::parse)?,
                guidance: node.get("guidance").and_then(Node::as_str)?.to_owned(),
            },
            _ => return None,
        };
        Some((op, spans))
    }

    /// Of what every object has, a conversion may touch labels and annotations alone.
    fn mutable(&mut self, node: Node<'_>, path: &FieldPath) {
        let head = path.head().unwrap_or_default();
        let second = path.steps().get(1);
        let label = matches!(second, Some(Hop::Key(name)) if &**name == "labels" || &**name == "annotations");
        if matches!(head, "apiVersion" | "kind") || (head == "metadata" && !label) {
            self.wrong(node, "a conversion may change labels and annotations, and nothing else of `apiVersion`, `kind` and `metadata`");
        }
    }

    fn expression(&mut self, node: Node<'_>) -> Option<Expression> {
        match Expression::parse(node.as_str()?) {
            Ok(expression) => Some(expression),
            Err(message) => {
                self.wrong(node, format!("this is no CEL expression: {message}"));
                None
            }
        }
    }

    fn table(&mut self, node: Node<'_>) -> Option<Table> {
        let values = node.get("values")?;
        let side = |item: Node<'_>, key: &str| item.entry(key).map(|entry| entry.value.to_json()).unwrap_or_default();
        let pairs: Vec<(Node<'_>, Value, Value)> = if values.is_seq() {
            values.items().map(|item| (item, side(item, "old"), side(item, "new"))).collect()
        } else {
            values.entries().map(|entry| (entry.key, entry.key.to_json(), entry.value.to_json())).collect()
        };
        for (index, (at, old, _)) in pairs.iter().enumerate() {
            if pairs.iter().take(index).any(|(_, earlier, _)| super::step::same(earlier, old)) {
                self.wrong(*at, "this value is in the table twice");
            }
        }
        let otherwise = if node.get("otherwise").and_then(Node::as_str) == Some("error") { Otherwise::Error } else { Otherwise::Keep };
        Some(Table { pairs: pairs.into_iter().map(|(_, old, new)| (old, new)).collect(), otherwise })
    }

    /// The fields of a template's parts, in the order of the template.
    fn parts(&mut self, node: Node<'_>, key: &str, within: &FieldPath) -> Option<(Vec<FieldPath>, Form, Vec<Span>)> {
        let at = node.get("template")?;
        let template = match Template::parse(at.as_str()?) {
            Ok(template) => template,
            Err(message) => {
                self.wrong(at, message);
                return None;
            }
        };
        let fields = node.get(key)?;
        for entry in fields.entries().filter(|entry| !template.names.iter().any(|name| name == entry.name())) {
            self.wrong(entry.key, format!("the template has no part `{{{}}}`", entry.name()));
        }
        let (mut paths, mut types, mut spans) = (Vec::new(), Vec::new(), Vec::new());
        for name in &template.names {
            let Some(field) = fields.get(name) else {
                self.wrong(at, format!("the part `{{{name}}}` has no field"));
                return None;
            };
            let place = field.get("path").unwrap_or(field);
            let path = joined(within, &self.path(place, Role::Field)?);
            self.mutable(place, &path);
            paths.push(path);
            spans.push(place.span());
            let integer = field.get("type").and_then(Node::as_str) == Some("integer");
            types.push(if integer { PartType::Integer } else { PartType::String });
        }
        Some((paths, Form { template, types }, spans))
    }
}

fn joined(within: &FieldPath, path: &FieldPath) -> FieldPath {
    path.steps().iter().cloned().fold(within.clone(), |path, hop| path.child(hop))
}

fn factor(node: Node<'_>) -> Factor {
    let number = |key: &str| node.get(key).and_then(Node::as_int).filter(|number| *number > 0).unwrap_or(1);
    let round = match node.get("round").and_then(Node::as_str) {
        Some("up") => Round::Up,
        Some("nearest") => Round::Nearest,
        _ => Round::Down,
    };
    Factor { multiply: number("multiply"), divide: number("divide"), round }
}

/// An example with what every object of the manifest begins with, where it leaves that out.
fn example(node: Node<'_>, manifest: &Manifest) -> Example {
    let side = |key: &str, end: &Endpoint| {
        let mut object = node.get(key).map(Node::to_json).unwrap_or_default();
        if let Value::Object(map) = &mut object {
            if let Some(version) = &end.version {
                let group = if manifest.group.is_empty() { String::new() } else { format!("{}/", manifest.group) };
                map.entry("apiVersion").or_insert_with(|| format!("{group}{version}").into());
            }
            map.entry("kind").or_insert_with(|| manifest.kind.clone().into());
        }
        object
    };
    Example { old: side("old", &manifest.from), new: side("new", &manifest.to), span: form::first(node) }
}

/// The name of a kind of step, as it lives for ever.
fn kind(name: &str) -> Option<&'static str> {
    const KINDS: [&str; 19] = [
        "rename",
        "move",
        "copy",
        "drop",
        "add",
        "set",
        "default",
        "mapValues",
        "split",
        "merge",
        "wrap",
        "unwrap",
        "mapToList",
        "listToMap",
        "scale",
        "retype",
        "forEach",
        "cel",
        "manual",
    ];
    KINDS.into_iter().find(|kind| *kind == name)
}

/// `conversions/widget-v2.yaml` is called `widget-v2` where it doesn't say.
fn stem(file: &str) -> String {
    let last = file.rsplit(['/', '\\', ':']).next().unwrap_or(file);
    last.rsplit_once('.').map_or(last, |(stem, _)| stem).to_owned()
}
