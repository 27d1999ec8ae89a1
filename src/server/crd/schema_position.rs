//! The position of a node in a schema: a chain of steps on the stack, which becomes a path only if there is something to report.

use std::fmt::Write;

use crate::input::yaml::Node;
use crate::model::schema::Keyword;
use crate::model::{FieldPath, PathStep};

#[derive(Debug, Clone, Copy)]
pub(crate) enum SchemaStep<'t> {
    Root,
    Property(&'t str),
    Items,
    /// One of several schemas under `items`.
    Item(usize),
    Values,
    /// A clause of `allOf`, `anyOf` or `oneOf`.
    Clause(Keyword, usize),
    Not,
    /// A schema with a name, under a keyword that the server forbids.
    Named(Keyword, &'t str),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaPosition<'p, 't> {
    pub parent: Option<&'p SchemaPosition<'p, 't>>,
    pub step: SchemaStep<'t>,
    /// The key of the node, where facts about the whole node are reported.
    pub key: Node<'t>,
}

impl<'p, 't> SchemaPosition<'p, 't> {
    pub fn root(key: Node<'t>) -> Self {
        SchemaPosition { parent: None, step: SchemaStep::Root, key }
    }

    pub fn child<'q>(&'q self, step: SchemaStep<'t>, key: Node<'t>) -> SchemaPosition<'q, 't> {
        SchemaPosition { parent: Some(self), step, key }
    }

    /// The path that the server reports for this node, below `base`.
    pub fn field(&self, base: &str) -> String {
        let mut text = base.to_owned();
        self.write_field(&mut text);
        text
    }

    fn write_field(&self, text: &mut String) {
        if let Some(parent) = self.parent {
            parent.write_field(text);
        }
        // ok: writing to a String can't fail
        let _ = match self.step {
            SchemaStep::Root => Ok(()),
            SchemaStep::Property(name) => write!(text, ".properties[{name}]"),
            SchemaStep::Items => write!(text, ".items"),
            SchemaStep::Item(index) => write!(text, ".items[{index}]"),
            SchemaStep::Values => write!(text, ".additionalProperties"),
            SchemaStep::Clause(word, index) => write!(text, ".{}[{index}]", word.name()),
            SchemaStep::Not => write!(text, ".not"),
            SchemaStep::Named(word, name) => write!(text, ".{}[{name}]", word.name()),
        };
    }

    /// The path in objects of the version. A clause of `allOf` and similar has the path of the node that it constrains.
    pub fn path(&self) -> FieldPath {
        let mut path = self.parent.map(SchemaPosition::path).unwrap_or_default();
        match self.step {
            SchemaStep::Property(name) => path.push(PathStep::Key(name.into())),
            SchemaStep::Items | SchemaStep::Item(_) => path.push(PathStep::Items),
            SchemaStep::Values => path.push(PathStep::Values),
            SchemaStep::Root | SchemaStep::Clause(..) | SchemaStep::Not | SchemaStep::Named(..) => {}
        }
        path
    }

    /// The name of the root's property that this is, or is inside.
    pub fn head(&self) -> Option<&'t str> {
        let mut here = self;
        let mut head = None;
        while let Some(parent) = here.parent {
            head = here.name();
            here = parent;
        }
        head
    }

    /// The name of the property, if this is one.
    pub fn name(&self) -> Option<&'t str> {
        match self.step {
            SchemaStep::Property(name) => Some(name),
            _ => None,
        }
    }
}
