//! One value becomes a list of one, and the reverse.

use serde_json::Value;

use crate::find::conversion::address::{Names, take};

use super::reason::{Conflict, Reason};
use super::transfer::place;

/// A list that stands there already is left alone.
pub(super) fn wrap(container: &mut Value, from: &Names, to: &Names, conflict: Conflict) -> Result<(), Reason> {
    match take(container, from) {
        None => Ok(()),
        Some(list @ Value::Array(_)) if from == to => place(container, to, list, conflict),
        Some(Value::Null) => Ok(()),
        Some(value) => place(container, to, Value::Array(vec![value]), conflict),
    }
}

/// The first item is taken; an empty list is nothing.
pub(super) fn unwrap(container: &mut Value, from: &Names, to: &Names, conflict: Conflict) -> Result<(), Reason> {
    match take(container, from) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(items)) => match items.into_iter().next() {
            Some(first) => place(container, to, first, conflict),
            None => Ok(()),
        },
        Some(value) if from == to => place(container, to, value, conflict),
        Some(other) => Err(Reason::ty("a list", &other)),
    }
}
