//! Where a schema walk stands: a chain of steps on the stack, turned into paths only when there is something to report.

use std::fmt::Write;

use crate::input::yaml::Node;
use crate::model::schema::Keyword;
use crate::model::{FieldPath, Step};

#[derive(Debug, Clone, Copy)]
pub(super) enum Turn<'t> {
    Root,
    Property(&'t str),
    Items,
    /// One of several schemas under `items`.
    Item(usize),
    Values,
    /// A clause of `allOf`, `anyOf` or `oneOf`.
    Clause(Keyword, usize),
    Not,
    /// A schema kept under a name by a keyword that the server forbids.
    Named(Keyword, &'t str),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Route<'p, 't> {
    pub parent: Option<&'p Route<'p, 't>>,
    pub turn: Turn<'t>,
    /// The key that leads here: where a fact about the whole node stands.
    pub key: Node<'t>,
}

impl<'p, 't> Route<'p, 't> {
    pub fn root(key: Node<'t>) -> Self {
        Route { parent: None, turn: Turn::Root, key }
    }

    pub fn step<'q>(&'q self, turn: Turn<'t>, key: Node<'t>) -> Route<'q, 't> {
        Route { parent: Some(self), turn, key }
    }

    /// The server's path of this node, below `base`.
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
        let _ = match self.turn {
            Turn::Root => Ok(()),
            Turn::Property(name) => write!(text, ".properties[{name}]"),
            Turn::Items => write!(text, ".items"),
            Turn::Item(index) => write!(text, ".items[{index}]"),
            Turn::Values => write!(text, ".additionalProperties"),
            Turn::Clause(word, index) => write!(text, ".{}[{index}]", word.name()),
            Turn::Not => write!(text, ".not"),
            Turn::Named(word, name) => write!(text, ".{}[{name}]", word.name()),
        };
    }

    /// The path in objects of the version; a clause speaks of the node that it stands on.
    pub fn path(&self) -> FieldPath {
        let mut path = self.parent.map(Route::path).unwrap_or_default();
        match self.turn {
            Turn::Property(name) => path.push(Step::Key(name.into())),
            Turn::Items | Turn::Item(_) => path.push(Step::Items),
            Turn::Values => path.push(Step::Values),
            Turn::Root | Turn::Clause(..) | Turn::Not | Turn::Named(..) => {}
        }
        path
    }

    /// The name of the root's property that this is or stands in.
    pub fn head(&self) -> Option<&'t str> {
        let mut here = self;
        let mut head = None;
        while let Some(parent) = here.parent {
            head = here.name();
            here = parent;
        }
        head
    }

    /// The name of the property, where this is one.
    pub fn name(&self) -> Option<&'t str> {
        match self.turn {
            Turn::Property(name) => Some(name),
            _ => None,
        }
    }
}
