//! Finds findings inside a Kubernetes type that a CRD embeds.

use std::collections::HashMap;

use crate::model::fact::{Fact, Subject};
use crate::model::schema::Schema;
use crate::model::{FieldPath, core_type};

use super::Side;

/// The schemas of both sides, with the types recognised in them so far.
pub(super) struct EmbeddedTypes<'c, 't> {
    old: Option<&'c Side<'t>>,
    new: &'c Side<'t>,
    /// The known nodes, by CRD, channel and version, then by path.
    known: HashMap<(String, Option<String>, String), HashMap<FieldPath, Node<'t>>>,
}

#[derive(Clone)]
struct Node<'t> {
    /// `None` if the schema ends before the path does.
    schema: Option<Schema<'t>>,
    /// The outermost type that contains it.
    within: Option<&'static str>,
}

impl<'c, 't> EmbeddedTypes<'c, 't> {
    pub fn new(old: Option<&'c Side<'t>>, new: &'c Side<'t>) -> Self {
        EmbeddedTypes { old, new, known: HashMap::new() }
    }

    /// The outermost type that contains a change. Replacing the whole field that embeds the type isn't a change inside it.
    pub fn around(&mut self, fact: &Fact) -> Option<&'static str> {
        if !matches!(fact.subject, Subject::Field | Subject::NewVersion) {
            return None;
        }
        let parent = fact.path.parent()?;
        let version = fact.version.as_deref()?;
        let (old, new) = (self.old, self.new);
        let place = (fact.crd.clone(), fact.channel.clone(), version.to_owned());
        let nodes = self.known.entry(place).or_default();
        if nodes.is_empty() {
            let crd = |side: &'c Side<'t>| side.bundle.find(&fact.crd, fact.channel.as_deref());
            let of = |side| crd(side)?.version(version)?.schema.clone();
            let schema = of(new).or_else(|| old.and_then(of));
            nodes.insert(FieldPath::root(), Node { schema, within: None });
        }
        walk(nodes, &parent).within
    }
}

/// The node at a path, found from its nearest known parent.
fn walk<'t>(nodes: &mut HashMap<FieldPath, Node<'t>>, path: &FieldPath) -> Node<'t> {
    let mut missing = vec![path.clone()];
    let mut node = loop {
        let Some(last) = missing.last() else { break Node { schema: None, within: None } };
        if let Some(node) = nodes.get(last) {
            let node = node.clone();
            missing.pop();
            break node;
        }
        match last.parent() {
            Some(parent) => missing.push(parent),
            None => break Node { schema: None, within: None },
        }
    };
    while let Some(path) = missing.pop() {
        let schema = node.schema.as_ref().and_then(|schema| schema.below(path.steps().last()?));
        let within = node.within.or_else(|| schema.as_ref().and_then(core_type));
        node = Node { schema, within };
        nodes.insert(path, node.clone());
    }
    node
}
