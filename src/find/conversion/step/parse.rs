//! Parses the parts of a step that several kinds share.

use serde_json::Value;

use crate::input::json_schema_check::Fault;
use crate::input::yaml::{Node, Span};
use crate::model::{FieldPath, PathStep};

use super::{Ends, KINDS, Op};

/// The key that applies steps to each item of a list or each value of a map.
pub(crate) const FOR_EACH: &str = "forEach";

/// What a path must refer to.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PathRole {
    /// A field that can be added or removed: the path ends with a name.
    Field,
    /// A value that changes: the path may end with `[]` or `{}`.
    Value,
}

/// The names of all kinds of steps.
pub(crate) fn kind_names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name).chain([FOR_EACH])
}

/// The static name of a kind of step, if the kind exists.
pub(crate) fn kind_name(name: &str) -> Option<&'static str> {
    kind_names().find(|known| *known == name)
}

/// Parses a path.
pub(crate) fn read_path(node: Node<'_>, role: PathRole, errors: &mut Vec<Fault>) -> Option<FieldPath> {
    let Some(path) = node.as_str().and_then(FieldPath::parse).filter(|path| !path.is_root()) else {
        errors.push(Fault::at(node, "not a field path; write for example `spec.rules[].name`, `spec.labels{}` or `spec[\"a.b\"]`"));
        return None;
    };
    if role == PathRole::Field && !matches!(path.steps().last(), Some(PathStep::Key(_))) {
        errors.push(Fault::at(node, "this path must end with the name of a field"));
        return None;
    }
    Some(path)
}

/// A step while it is parsed.
pub(crate) struct StepNode<'r, 'n> {
    /// The name of the kind in the manifest.
    pub name: &'static str,
    pub node: Node<'n>,
    pub errors: &'r mut Vec<Fault>,
    /// The list or map whose elements the step applies to; the root outside `forEach`.
    pub within: &'r FieldPath,
    /// The span of each path, in the order of the operation's paths.
    pub spans: Vec<Span>,
}

impl<'n> StepNode<'_, 'n> {
    /// Parses the operation with the parser of its kind.
    pub fn parse(&mut self) -> Option<Op> {
        let (_, parse) = KINDS.iter().find(|(name, _)| *name == self.name)?;
        parse(self)
    }

    pub fn wrong(&mut self, node: Node<'_>, message: impl Into<String>) {
        self.errors.push(Fault::at(node, message));
    }

    /// Parses a path and makes it relative to the whole object.
    pub fn path_at(&mut self, node: Node<'n>, role: PathRole) -> Option<FieldPath> {
        let path = self.within.join(read_path(node, role, self.errors)?.steps());
        self.check_mutable(node, &path);
        self.spans.push(node.span());
        Some(path)
    }

    /// Parses the path of a field.
    pub fn field(&mut self, key: &str) -> Option<FieldPath> {
        self.path_at(self.node.get(key)?, PathRole::Field)
    }

    /// Parses the paths of a value that moves `from` one place `to` another.
    pub fn ends(&mut self) -> Option<Ends> {
        Some(Ends { from: self.field("from")?, to: self.field("to")? })
    }

    /// Like [`StepNode::ends`], or the `path` of a value that changes in place.
    pub fn ends_or_path(&mut self) -> Option<Ends> {
        match self.node.get("path") {
            Some(node) => {
                let path = self.path_at(node, PathRole::Value)?;
                Some(Ends { from: path.clone(), to: path })
            }
            None => self.ends(),
        }
    }

    pub fn json(&self, key: &str) -> Option<Value> {
        self.node.entry(key).map(|entry| entry.value.to_json())
    }

    pub fn text(&self, key: &str) -> Option<&'n str> {
        self.node.text(key)
    }

    /// Reports metadata fields that a conversion must not change: only labels and annotations are allowed.
    fn check_mutable(&mut self, node: Node<'_>, path: &FieldPath) {
        let head = path.head().unwrap_or_default();
        let second = path.steps().get(1);
        let label = matches!(second, Some(PathStep::Key(name)) if &**name == "labels" || &**name == "annotations");
        if matches!(head, "apiVersion" | "kind") || (head == "metadata" && !label) {
            self.wrong(node, "a conversion can't change `apiVersion`, `kind` or `metadata`, apart from labels and annotations");
        }
    }
}
