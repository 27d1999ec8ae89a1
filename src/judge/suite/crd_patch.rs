//! JSON patches (RFC 6902) for a CRD, applied before the initial object of a case is created.

use serde_json::Value;

use crate::input::json_schema_check::Fault;
use crate::input::yaml::Node;
use crate::model::{Crd, Documents};

/// One operation.
#[derive(Debug, Clone)]
pub(crate) struct CrdPatch {
    operation: Operation,
    path: String,
}

#[derive(Debug, Clone)]
enum Operation {
    Add(Value),
    Replace(Value),
    Remove,
    Move(String),
    Copy(String),
    Test(Value),
}

const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

impl CrdPatch {
    /// Parses an operation; errors are reported at their place.
    pub fn read(node: Node<'_>, faults: &mut Vec<Fault>) -> Option<CrdPatch> {
        let mut missing = |key: &str| {
            faults.push(Fault::at(node, format!("`{key}` is missing in the patch")));
            None
        };
        let Some(name) = node.get("op") else { return missing("op") };
        let Some(path) = node.text("path") else { return missing("path") };
        let value = node.get("value").map(Node::to_json);
        let from = || node.text("from").map(str::to_owned);
        let operation = match name.as_str().unwrap_or_default() {
            "remove" => Some(Operation::Remove),
            "add" => value.map(Operation::Add),
            "replace" => value.map(Operation::Replace),
            "test" => value.map(Operation::Test),
            "move" => from().map(Operation::Move),
            "copy" => from().map(Operation::Copy),
            _ => {
                faults.push(Fault::at(name, format!("unknown operation; use one of {}", OPERATIONS.join(", "))));
                return None;
            }
        };
        let Some(operation) = operation else { return missing(if from().is_none() && value_is_used(name) { "value" } else { "from" }) };
        Some(CrdPatch { operation, path: path.trim().to_owned() })
    }
}

fn value_is_used(operation: Node<'_>) -> bool {
    !matches!(operation.as_str(), Some("move" | "copy"))
}

/// Applies patches to a CRD one by one, and returns it as separate documents.
pub(super) fn patched(crd: &Crd<'_>, patches: &[CrdPatch]) -> Result<Documents, String> {
    let mut document = crd.node.to_json();
    for (number, patch) in patches.iter().enumerate() {
        apply(&mut document, patch).map_err(|error| format!("initialCRDPatches[{number}] can't be applied: {error}"))?;
    }
    Ok(Documents::of_text(crd.path, &document.to_string()))
}

fn apply(document: &mut Value, patch: &CrdPatch) -> Result<(), String> {
    let taken = |document: &Value, path: &str| document.pointer(path).cloned().ok_or_else(|| absent(path));
    match &patch.operation {
        Operation::Add(value) => insert(document, &patch.path, value.clone()),
        Operation::Remove => remove(document, &patch.path).map(|_| ()),
        Operation::Replace(value) => {
            *document.pointer_mut(&patch.path).ok_or_else(|| absent(&patch.path))? = value.clone();
            Ok(())
        }
        Operation::Copy(from) => {
            let value = taken(document, from)?;
            insert(document, &patch.path, value)
        }
        Operation::Move(from) => {
            let value = remove(document, from)?;
            insert(document, &patch.path, value)
        }
        Operation::Test(value) if taken(document, &patch.path)? == *value => Ok(()),
        Operation::Test(_) => Err(format!("{} has another value", patch.path)),
    }
}

fn absent(path: &str) -> String {
    format!("the CRD has nothing at {path}")
}

/// The parent of a path, and its last segment.
fn parent<'d>(document: &'d mut Value, path: &str) -> Result<(&'d mut Value, String), String> {
    let (above, name) = path.rsplit_once('/').ok_or_else(|| format!("{path:?} is not a JSON pointer"))?;
    let found = document.pointer_mut(above).ok_or_else(|| absent(above))?;
    Ok((found, name.replace("~1", "/").replace("~0", "~")))
}

fn insert(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (parent, name) = parent(document, path)?;
    match parent {
        Value::Object(map) => {
            map.insert(name, value);
            Ok(())
        }
        Value::Array(list) => {
            let index = if name == "-" { Some(list.len()) } else { name.parse().ok() };
            let index = index.filter(|index| *index <= list.len()).ok_or_else(|| absent(path))?;
            list.insert(index, value);
            Ok(())
        }
        _ => Err(absent(path)),
    }
}

fn remove(document: &mut Value, path: &str) -> Result<Value, String> {
    let (parent, name) = parent(document, path)?;
    let removed = match parent {
        Value::Object(map) => map.remove(&name),
        Value::Array(list) => name.parse().ok().filter(|index| *index < list.len()).map(|index| list.remove(index)),
        _ => None,
    };
    removed.ok_or_else(|| absent(path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patch(operation: Operation, path: &str) -> CrdPatch {
        CrdPatch { operation, path: path.to_owned() }
    }

    #[test]
    fn operations_follow_the_standard() {
        let mut document = json!({"a": {"b": [1, 2]}, "c/d": 1});
        for one in [
            patch(Operation::Add(json!(0)), "/a/b/0"),
            patch(Operation::Add(json!(3)), "/a/b/-"),
            patch(Operation::Remove, "/a/b/1"),
            patch(Operation::Replace(json!(9)), "/c~1d"),
            patch(Operation::Copy("/c~1d".to_owned()), "/a/e"),
            patch(Operation::Move("/a/e".to_owned()), "/f"),
            patch(Operation::Test(json!(9)), "/f"),
        ] {
            assert_eq!(apply(&mut document, &one), Ok(()), "{one:?}");
        }
        assert_eq!(document, json!({"a": {"b": [0, 2, 3]}, "c/d": 9, "f": 9}));
        for one in [
            patch(Operation::Remove, "/a/x"),
            patch(Operation::Replace(json!(1)), "/x"),
            patch(Operation::Add(json!(1)), "/a/b/7"),
            patch(Operation::Test(json!(1)), "/f"),
            patch(Operation::Remove, "f"),
        ] {
            assert!(apply(&mut document, &one).is_err(), "{one:?}");
        }
    }
}
