//! Fields that only one of the versions has, and constants that the other one asks for.
//!
//! All of these act only where the parent is there, as the server's own defaults do.

use serde_json::Value;

use crate::find::conversion::address::{Names, get_mut};

fn parent<'v>(container: &'v mut Value, path: &Names) -> Option<(&'v mut serde_json::Map<String, Value>, String)> {
    let (last, above) = path.split_last()?;
    Some((get_mut(container, above)?.as_object_mut()?, last.as_ref().to_owned()))
}

pub(super) fn drop(container: &mut Value, path: &Names) {
    if let Some((map, name)) = parent(container, path) {
        map.remove(&name);
    }
}

/// Puts a value where there is none; a null counts as none.
pub(super) fn fill(container: &mut Value, path: &Names, value: Option<&Value>) {
    let Some(value) = value else { return };
    if let Some((map, name)) = parent(container, path)
        && map.get(&name).is_none_or(Value::is_null)
    {
        map.insert(name, value.clone());
    }
}

/// Takes a value away where it is this one.
pub(super) fn unfill(container: &mut Value, path: &Names, value: &Value) {
    if let Some((map, name)) = parent(container, path)
        && map.get(&name) == Some(value)
    {
        map.remove(&name);
    }
}

pub(super) fn set(container: &mut Value, path: &Names, value: &Value) {
    if let Some((map, name)) = parent(container, path) {
        map.insert(name, value.clone());
    }
}
