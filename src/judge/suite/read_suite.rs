//! Reads a suite in crdwise's own format (`*.crdtest.yaml`).

use std::sync::LazyLock;

use serde_json::Value;

use crate::input::json_schema_check::{Fault, FileSchema};
use crate::input::yaml::Node;
use crate::model::kubernetes::{Minors, RangeError};
use crate::model::{FileId, Place};
use crate::server::object::Subresource;

use super::{Expectations, Expected, ExpectedError, Layout, Suite, SuiteCase, SuiteRequest, word};

pub(crate) const SCHEMA: &str = include_str!("suite.schema.json");

static FILE_SCHEMA: LazyLock<FileSchema> = LazyLock::new(|| FileSchema::new(SCHEMA));

pub(super) fn read(file: FileId, name: &str, root: Node<'_>) -> Result<Suite, Vec<Fault>> {
    let mut faults = FILE_SCHEMA.check(root);
    if !faults.is_empty() {
        return Err(faults);
    }
    let kubernetes = servers(root, &mut faults);
    let cases = root.items_of("cases").filter_map(|node| case(file, node, &mut faults)).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut suite = Suite {
        file,
        name: word(root, "name").unwrap_or_else(|| name.to_owned()),
        crd: word(root, "crd"),
        version: word(root, "version"),
        gates: Vec::new(),
        layout: Layout::Own,
        cases,
    };
    for case in &mut suite.cases {
        case.kubernetes = case.kubernetes.or(kubernetes);
    }
    Ok(suite)
}

fn case(file: FileId, node: Node<'_>, faults: &mut Vec<Fault>) -> Option<SuiteCase> {
    let object = |key: &str| node.get(key).map(Node::to_json);
    let key = |key: &str| node.entry(key).map_or(node, |entry| entry.key);
    let subresource = match word(node, "subresource").as_deref() {
        Some("status") => Some(Subresource::Status),
        Some("scale") => Some(Subresource::Scale),
        _ => None,
    };
    let request = match (object("create"), object("update"), object("previous")) {
        (Some(_), Some(_), _) => {
            faults.push(Fault::at(key("update"), "use either `create` or `update`, not both"));
            return None;
        }
        (Some(create), None, None) if subresource.is_none() => SuiteRequest::Create(create),
        (Some(_), None, _) => {
            let wrong = if node.get("previous").is_some() { "previous" } else { "subresource" };
            faults.push(Fault::at(key(wrong), format!("`{wrong}` belongs to an `update`")));
            return None;
        }
        (None, Some(object), Some(previous)) => SuiteRequest::Update { previous, object, subresource },
        (None, Some(_), None) => {
            faults.push(Fault::at(key("update"), "an `update` needs the object that it replaces, as `previous`"));
            return None;
        }
        (None, None, _) => return None,
    };
    let accepts = node.get("accepts").and_then(Node::as_bool);
    let rejects = node.get("rejects").map(rejection);
    if rejects.is_some() && (accepts == Some(true) || node.get("stores").is_some()) {
        let wrong = if node.get("stores").is_some() { "stores" } else { "accepts" };
        faults.push(Fault::at(key(wrong), format!("`{wrong}` and `rejects` contradict each other")));
        return None;
    }
    let verdict = rejects.or(match accepts {
        Some(true) => Some(Expected::Accepted),
        Some(false) => Some(Expected::Rejected),
        None => node.get("stores").map(|_| Expected::Accepted),
    });
    let expects = Expectations { verdict, stores: object("stores"), warns: node.get("warns").map(texts), status_error: None };
    if expects.verdict.is_none() && expects.warns.is_none() {
        faults.push(Fault::at(node, "the case expects nothing: add `accepts`, `rejects`, `stores` or `warns`"));
        return None;
    }
    Some(SuiteCase {
        name: word(node, "name").unwrap_or_default(),
        place: Place { file, span: node.get("name").unwrap_or(node).span() },
        request,
        expects,
        version: word(node, "version"),
        kubernetes: servers(node, faults),
    })
}

/// The range of servers that a suite or case applies to.
fn servers(node: Node<'_>, faults: &mut Vec<Fault>) -> Option<Minors> {
    match word(node, "kubernetes")?.parse() {
        Ok(minors) => Some(minors),
        Err(error) => {
            faults.push(Fault::at(node.get("kubernetes").unwrap_or(node), RangeError::to_string(&error)));
            None
        }
    }
}

fn rejection(node: Node<'_>) -> Expected {
    match node.as_str() {
        Some(text) => Expected::RejectedWith(text.to_owned()),
        None => Expected::RejectedBy(
            node.items().map(|item| ExpectedError { path: word(item, "path"), message: word(item, "message") }).collect(),
        ),
    }
}

fn texts(node: Node<'_>) -> Vec<String> {
    match node.to_json() {
        Value::String(text) => vec![text],
        Value::Array(items) => items.into_iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_usable() {
        assert!(FILE_SCHEMA.is_usable());
    }
}
