//! Reads a manifest from a document, or reports everything wrong with it.

use std::sync::LazyLock;

use serde_json::Value;

use crate::input::json_schema_check::{Fault, FileSchema};
use crate::input::yaml::{Node, Span};
use crate::model::{FieldPath, FileId, PathStep};

use super::address::Containers;
use super::manifest::{API_VERSION, BundleVersion, Example, FieldNote, KIND, Manifest, ManifestEndpoint, Reverse, SCHEMA, api_version};
use super::preserve::Preserve;
use super::step::parse::{FOR_EACH, PathRole, StepNode, kind_name, kind_names, read_path};
use super::step::{Conflict, Step};

/// How deep `forEach` may be nested.
const NESTING: usize = 8;
/// How many steps a manifest may have. Each is compared with those before it; real manifests have about ten.
pub(super) const MAX_STEPS: usize = 500;
/// How many examples a manifest may have. Each runs all steps, forward and back.
const MAX_EXAMPLES: usize = 1_000;

static FILE_SCHEMA: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(SCHEMA));

/// Whether a document declares itself a manifest.
pub fn is_manifest(node: Node<'_>) -> bool {
    node.text("kind") == Some(KIND) && node.text("apiVersion").is_some_and(|api| api.starts_with("crdwise.dev/"))
}

pub fn read(file: FileId, file_name: &str, root: Node<'_>) -> Result<Manifest, Vec<Fault>> {
    if let Some(api) = root.get("apiVersion").filter(|api| api.as_str() != Some(API_VERSION)) {
        return Err(vec![Fault::at(api, format!("must be `{API_VERSION}`"))]);
    }
    let errors = FILE_SCHEMA.check(root);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut reader = Reader { errors: Vec::new() };
    reader.unfinished(root.get("steps"));
    let manifest = reader.manifest(file, file_name, root);
    if reader.errors.is_empty() { Ok(manifest) } else { Err(reader.errors) }
}

struct Reader {
    errors: Vec<Fault>,
}

impl Reader {
    fn wrong(&mut self, node: Node<'_>, message: impl Into<String>) {
        self.errors.push(Fault::at(node, message));
    }

    /// Reports the placeholders that were left in a draft.
    fn unfinished(&mut self, node: Option<Node<'_>>) {
        let Some(node) = node else { return };
        if node.as_str().is_some_and(|text| text.starts_with(super::scaffold::TODO)) {
            self.wrong(node, "fill in this value");
        }
        node.items().for_each(|item| self.unfinished(Some(item)));
        node.entries().for_each(|entry| self.unfinished(Some(entry.value)));
    }

    fn manifest(&mut self, file: FileId, file_name: &str, root: Node<'_>) -> Manifest {
        let resource = root.get("resource").unwrap_or(root);
        let word = |node: Node<'_>, key: &str| node.text(key).unwrap_or_default().to_owned();
        let named = root.get("metadata").and_then(|metadata| metadata.get("name"));
        let name = named.and_then(Node::as_str).map_or_else(|| stem(file_name), str::to_owned);
        let mut steps = Vec::new();
        if let Some(list) = root.get("steps") {
            self.steps(list, &FieldPath::root(), 0, &mut steps);
        }
        let (from, mut to) = (self.endpoint(root, "from"), self.endpoint(root, "to"));
        if from.bundle == Some(BundleVersion::Next) {
            self.wrong(root.get("from").and_then(|from| from.get("bundle")).unwrap_or(root), "only `to` can be the next release");
        }
        // If source and target have the same API version, a target without a release means the next release.
        let open = from.bundle.is_some() && to.bundle.is_none() && from.version == to.version && from.channel == to.channel;
        if open {
            to.bundle = Some(BundleVersion::Next);
        }
        let drafted = |key: &str| root.get(key).and_then(|end| end.get("bundle")?.as_str()) == Some(super::scaffold::TODO);
        if from == to && !drafted("from") && !drafted("to") {
            self.wrong(
                root.entry("to").map_or(root, |entry| entry.key),
                "`from` and `to` are the same version; use `bundle` to distinguish releases of one version, such as `bundle: next` in `to`",
            );
        }
        let reverse = self.reverse(root.get("reverse"));
        let mut manifest = Manifest {
            name,
            file,
            span: named.map_or_else(|| first_key(root), Node::span),
            group: word(resource, "group"),
            kind: word(resource, "kind"),
            from,
            to,
            steps,
            earlier_steps: 0,
            reverse,
            reverse_span: root.get("reverse").map_or_else(|| named.map_or(first_key(root), Node::span), first_key),
            preserve: self.preserve(root.get("preserve")),
            preserve_span: root
                .get("preserve")
                .map_or_else(|| first_key(root), |node| node.entry_at(0).map_or(node, |entry| entry.value).span()),
            examples: Vec::new(),
            tombstones: self.field_notes(root.get("tombstones")),
            meaning_changed: self.field_notes(root.get("meaningChanged")),
            webhook: root.get("webhook").and_then(Node::as_bool).unwrap_or(false),
            directed_steps: Default::default(),
        };
        let examples = || root.items_of("examples");
        if let Some(node) = examples().nth(MAX_EXAMPLES) {
            self.wrong(node, format!("more than {MAX_EXAMPLES} examples; each runs all steps"));
        }
        manifest.examples = examples().take(MAX_EXAMPLES).map(|node| example(node, &manifest)).collect();
        if manifest.webhook && !manifest.steps.is_empty() {
            self.wrong(root.entry("webhook").map_or(root, |entry| entry.key), "use either `webhook` or `steps`, not both");
        }
        manifest
    }

    fn endpoint(&mut self, root: Node<'_>, key: &str) -> ManifestEndpoint {
        let Some(node) = root.get(key) else { return ManifestEndpoint::default() };
        let text = |key: &str| node.text(key).map(str::to_owned);
        let bundle = node.get("bundle").and_then(|given| {
            let version = given.as_str().and_then(BundleVersion::parse);
            match given.as_str() {
                _ if version.is_some() => {}
                Some(super::scaffold::TODO) => self.wrong(given, "fill in a release, such as `2.0.0`, or `next` in `to`"),
                _ => self.wrong(given, "not a semantic version, such as `2.0.0`, nor `next`"),
            }
            version
        });
        ManifestEndpoint { version: text("version"), bundle, channel: text("channel") }
    }

    fn reverse(&mut self, node: Option<Node<'_>>) -> Reverse {
        let Some(node) = node else { return Reverse::Auto };
        if let Some(reason) = node.text("none") {
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
            let path = read_path(field, PathRole::Field, &mut self.errors)?;
            if path.steps().iter().any(|step| !matches!(step, PathStep::Key(_))) {
                self.wrong(field, "must not contain `[]` or `{}`: values are preserved in one place");
            }
            return Some(Preserve::Field(path));
        }
        Some(Preserve::Annotation(node.get("annotation")?.as_str()?.to_owned()))
    }

    fn field_notes(&mut self, node: Option<Node<'_>>) -> Vec<FieldNote> {
        let field_note = |item: Node<'_>| {
            let at = item.get("path")?;
            let note = item.text("note").unwrap_or_default().to_owned();
            Some(FieldNote { path: read_path(at, PathRole::Value, &mut self.errors)?, note, span: at.span() })
        };
        node.into_iter().flat_map(Node::items).filter_map(field_note).collect()
    }

    fn steps(&mut self, list: Node<'_>, within: &FieldPath, nesting: usize, steps: &mut Vec<Step>) {
        for node in list.items() {
            if steps.len() == MAX_STEPS {
                self.wrong(node, format!("more than {MAX_STEPS} steps; divide them among several manifests, with a release in between"));
                return;
            }
            let Some((entry, name)) = node.entries().find_map(|entry| Some((entry, kind_name(entry.name())?))) else {
                let kinds: Vec<&str> = kind_names().collect();
                self.wrong(node, format!("the step has no kind; use one of {}", kinds.join(", ")));
                continue;
            };
            if let Some(second) = node.entries().filter(|entry| kind_name(entry.name()).is_some()).nth(1) {
                self.wrong(second.key, format!("a step has one kind: use either `{name}` or `{}`", second.name()));
                continue;
            }
            if name == FOR_EACH {
                self.for_each(entry.value, within, nesting, steps);
                continue;
            }
            let mut read = StepNode { name, node: entry.value, errors: &mut self.errors, within, spans: Vec::new() };
            let Some(op) = read.parse() else { continue };
            let path_spans = read.spans;
            let Some(containers) = Containers::of(&op.paths()) else {
                self.wrong(entry.value, "`[]` and `{}` may only be in the part that all paths of the step share");
                continue;
            };
            let conflict = match node.text("conflict") {
                Some("prefer-new") => Conflict::PreferNew,
                Some("prefer-old") => Conflict::PreferOld,
                _ => Conflict::Error,
            };
            let preserve = node.get("preserve").and_then(Node::as_bool).unwrap_or(true);
            steps.push(Step { op, name, conflict, preserve, span: entry.key.span(), path_spans, containers });
        }
    }

    fn for_each(&mut self, node: Node<'_>, within: &FieldPath, nesting: usize, steps: &mut Vec<Step>) {
        let (Some(at), Some(list)) = (node.get("path"), node.get("steps")) else { return };
        if nesting == NESTING {
            self.wrong(at, format!("`forEach` is nested deeper than {NESTING} levels"));
            return;
        }
        let Some(path) = read_path(at, PathRole::Value, &mut self.errors) else { return };
        if matches!(path.steps().last(), Some(PathStep::Key(_))) {
            self.wrong(at, "the path of `forEach` must end with `[]` or `{}`");
            return;
        }
        self.steps(list, &within.join(path.steps()), nesting + 1, steps);
    }
}

/// Reads an example and fills in the `apiVersion` and `kind` if they are left out.
fn example(node: Node<'_>, manifest: &Manifest) -> Example {
    let side = |key: &str, end: &ManifestEndpoint| {
        let mut object = node.get(key).map(Node::to_json).unwrap_or_default();
        if let Value::Object(map) = &mut object {
            if let Some(version) = &end.version {
                map.entry("apiVersion").or_insert_with(|| api_version(&manifest.group, version).into());
            }
            map.entry("kind").or_insert_with(|| manifest.kind.clone().into());
        }
        object
    };
    Example { old: side("old", &manifest.from), new: side("new", &manifest.to), span: first_key(node) }
}

/// The span of a mapping's first key, to underline less than the whole document; the node's span if it isn't a mapping.
fn first_key(node: Node<'_>) -> Span {
    node.entry_at(0).map_or(node.span(), |entry| entry.key.span())
}

/// The default name of a manifest: `widget-v2` for `conversions/widget-v2.yaml`.
fn stem(file: &str) -> String {
    let last = file.rsplit(['/', '\\', ':']).next().unwrap_or(file);
    last.rsplit_once('.').map_or(last, |(stem, _)| stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_usable() {
        assert!(FILE_SCHEMA.is_usable());
    }
}
