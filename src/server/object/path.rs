//! The path of a value in one object: `spec.rules[3].name`. Map keys and declared fields are different steps.

use std::fmt::{self, Write as _};

use serde_json::Value;

use crate::input::yaml::Node;
use crate::model::{FieldPath, PathStep};

/// One step from a value of an object to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectStep {
    /// A named field.
    Key(Box<str>),
    /// A key of a map, whose values all have one schema.
    Entry(Box<str>),
    Index(usize),
}

/// A path from the root of one object; the empty path is the object itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectPath {
    steps: Vec<ObjectStep>,
}

impl ObjectPath {
    pub fn root() -> Self {
        Self::default()
    }

    pub fn steps(&self) -> &[ObjectStep] {
        &self.steps
    }

    pub fn is_root(&self) -> bool {
        self.steps.is_empty()
    }

    /// The name of the last field or key.
    pub fn last_name(&self) -> Option<&str> {
        match self.steps.last()? {
            ObjectStep::Key(name) | ObjectStep::Entry(name) => Some(name),
            ObjectStep::Index(_) => None,
        }
    }

    pub fn push(&mut self, step: ObjectStep) {
        self.steps.push(step);
    }

    pub fn pop(&mut self) -> Option<ObjectStep> {
        self.steps.pop()
    }

    pub fn key(mut self, name: &str) -> Self {
        self.push(ObjectStep::Key(name.into()));
        self
    }

    pub fn starts_with(&self, other: &ObjectPath) -> bool {
        self.steps.starts_with(&other.steps)
    }

    /// The path with only the first `count` steps.
    pub fn prefix(&self, count: usize) -> Self {
        ObjectPath { steps: self.steps.iter().take(count).cloned().collect() }
    }

    /// The same field in every object: indices become `[]`, map keys `{}`.
    pub fn general(&self) -> FieldPath {
        let mut path = FieldPath::root();
        for step in &self.steps {
            path.push(match step {
                ObjectStep::Key(name) => PathStep::Key(name.clone()),
                ObjectStep::Entry(_) => PathStep::Values,
                ObjectStep::Index(_) => PathStep::Items,
            });
        }
        path
    }

    /// The deepest existing node of the document along the path, and how many steps lead to it. A defaulted or missing field has no
    /// node, but its parent does.
    pub fn locate<'t>(&self, root: Node<'t>) -> (Node<'t>, usize) {
        let mut node = root;
        for (taken, step) in self.steps.iter().enumerate() {
            let next = match step {
                ObjectStep::Key(name) | ObjectStep::Entry(name) => node.entry(name).map(|entry| entry.value),
                ObjectStep::Index(index) => node.item_at(*index),
            };
            match next {
                Some(next) => node = next,
                None => return (node, taken),
            }
        }
        (node, self.steps.len())
    }

    /// The node of the key that the last step names, if there is one.
    pub fn locate_key<'t>(&self, root: Node<'t>) -> Option<Node<'t>> {
        let (last, rest) = self.steps.split_last()?;
        let name = match last {
            ObjectStep::Key(name) | ObjectStep::Entry(name) => name,
            ObjectStep::Index(_) => return None,
        };
        let parent = ObjectPath { steps: rest.to_vec() };
        let (node, taken) = parent.locate(root);
        if taken < rest.len() {
            return None;
        }
        node.entry(name).map(|entry| entry.key)
    }

    pub fn get<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(root, |value, step| match step {
            ObjectStep::Key(name) | ObjectStep::Entry(name) => value.get(&**name),
            ObjectStep::Index(index) => value.get(*index),
        })
    }

    /// The format of the server's schema validator and its pruning: every key after a dot.
    pub fn dotted(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            match step {
                ObjectStep::Key(name) | ObjectStep::Entry(name) => push_dotted(&mut text, name),
                ObjectStep::Index(index) => {
                    let _ = write!(text, "[{index}]");
                }
            }
        }
        text
    }

    /// The format of the server's other checks: map keys in brackets.
    pub fn bracketed(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            match step {
                ObjectStep::Key(name) => push_dotted(&mut text, name),
                ObjectStep::Entry(name) => {
                    let _ = write!(text, "[{name}]");
                }
                ObjectStep::Index(index) => {
                    let _ = write!(text, "[{index}]");
                }
            }
        }
        text
    }
}

fn push_dotted(text: &mut String, name: &str) {
    if !text.is_empty() {
        text.push('.');
    }
    text.push_str(name);
}

/// Names with a dot or a bracket are quoted: `metadata.labels["app.kubernetes.io/name"]`.
impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            match step {
                ObjectStep::Index(index) => write!(f, "[{index}]")?,
                ObjectStep::Key(name) | ObjectStep::Entry(name) => {
                    let text = FieldPath::root().key(name).to_string();
                    if number > 0 && !text.starts_with('[') {
                        f.write_str(".")?;
                    }
                    f.write_str(&text)?;
                }
            }
        }
        Ok(())
    }
}

/// A path on the stack of a walk; it becomes an [`ObjectPath`] only if there is something to report.
#[derive(Clone, Copy)]
pub(super) enum Trail<'a> {
    Root,
    Key(&'a Trail<'a>, &'a str),
    Entry(&'a Trail<'a>, &'a str),
    Index(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    pub fn is_root(&self) -> bool {
        matches!(self, Trail::Root)
    }

    pub fn path(&self) -> ObjectPath {
        let mut path = match self {
            Trail::Root => return ObjectPath::root(),
            Trail::Key(parent, _) | Trail::Entry(parent, _) | Trail::Index(parent, _) => parent.path(),
        };
        match self {
            Trail::Root => {}
            Trail::Key(_, name) => path.push(ObjectStep::Key((*name).into())),
            Trail::Entry(_, name) => path.push(ObjectStep::Entry((*name).into())),
            Trail::Index(_, index) => path.push(ObjectStep::Index(*index)),
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ObjectPath {
        let root = Trail::Root;
        let spec = Trail::Key(&root, "spec");
        let labels = Trail::Key(&spec, "labels");
        let entry = Trail::Entry(&labels, "a.b");
        Trail::Index(&entry, 3).path()
    }

    #[test]
    fn one_path_is_written_in_three_ways() {
        let path = sample();
        assert_eq!(path.dotted(), "spec.labels.a.b[3]");
        assert_eq!(path.bracketed(), "spec.labels[a.b][3]");
        assert_eq!(path.to_string(), "spec.labels[\"a.b\"][3]");
        assert_eq!(path.general().to_string(), "spec.labels{}[]");
    }

    #[test]
    fn a_path_is_followed_as_far_as_values_exist() {
        let value = serde_json::json!({"spec": {"labels": {"a.b": [1, 2, 3, "x"]}}});
        assert_eq!(sample().get(&value), Some(&Value::from("x")));
        let text: crate::input::Text = "spec:\n  labels: {}\n".into();
        let documents = crate::input::yaml::parse(&text, &crate::input::yaml::YamlBudget::default());
        let tree = documents[0].tree.as_ref().unwrap();
        let (node, taken) = sample().locate(tree.root());
        assert_eq!((node.source(), taken), ("{}", 2));
        assert!(sample().locate_key(tree.root()).is_none());
    }
}
