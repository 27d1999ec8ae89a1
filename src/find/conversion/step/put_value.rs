//! Writes and removes values of an object, for all kinds of steps.

use serde_json::{Map, Value};

use crate::find::conversion::address::{NamePath, get, get_mut, put};

use super::reason::{Conflict, StepFailure};

/// Writes a value if there is none yet; if there is another value, the step's conflict rule decides.
pub(super) fn put_value(container: &mut Value, to: &NamePath, value: Value, conflict: Conflict) -> Result<(), StepFailure> {
    match get(container, to).filter(|present| !present.is_null()) {
        Some(present) if *present == value => return Ok(()),
        Some(_) => match conflict {
            Conflict::Error => return Err(StepFailure::Conflict),
            Conflict::PreferNew => return Ok(()),
            Conflict::PreferOld => {}
        },
        None => {}
    }
    Ok(put(container, to, value)?)
}

/// Returns the parent of a field and the field's name, if the parent is an object. Steps that add or remove a single field act only
/// there, like the server's defaulting.
pub(super) fn parent<'v>(container: &'v mut Value, path: &NamePath) -> Option<(&'v mut Map<String, Value>, String)> {
    let (last, above) = path.split_last()?;
    Some((get_mut(container, above)?.as_object_mut()?, last.as_ref().to_owned()))
}

/// Writes a value if there is none yet; null counts as none.
pub(super) fn put_if_missing(container: &mut Value, path: &NamePath, value: &Value) {
    if let Some((map, name)) = parent(container, path)
        && map.get(&name).is_none_or(Value::is_null)
    {
        map.insert(name, value.clone());
    }
}

/// Removes a field but keeps its parent, even if it is empty now.
pub(super) fn remove(container: &mut Value, path: &NamePath) {
    if let Some((map, name)) = parent(container, path) {
        map.remove(&name);
    }
}
