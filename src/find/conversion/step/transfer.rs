//! Values that change their place: rename and move, copy.

use serde_json::Value;

use crate::find::conversion::address::{Names, get, put, take};

use super::reason::{Conflict, Reason};

/// Moves a value. Missing parents are made, parents that it leaves empty go.
pub(super) fn relocate(container: &mut Value, from: &Names, to: &Names, conflict: Conflict) -> Result<(), Reason> {
    let Some(value) = take(container, from) else { return Ok(()) };
    place(container, to, value, conflict)
}

pub(super) fn copy(container: &mut Value, from: &Names, to: &Names, conflict: Conflict) -> Result<(), Reason> {
    match get(container, from) {
        Some(value) => {
            let value = value.clone();
            place(container, to, value, conflict)
        }
        None => Ok(()),
    }
}

/// Takes back what a copy made.
pub(super) fn uncopy(container: &mut Value, to: &Names) {
    take(container, to);
}

/// Puts a value where nothing else stands, or decides between the two.
pub(super) fn place(container: &mut Value, to: &Names, value: Value, conflict: Conflict) -> Result<(), Reason> {
    match get(container, to).filter(|standing| !standing.is_null()) {
        Some(standing) if *standing == value => return Ok(()),
        Some(_) => match conflict {
            Conflict::Error => return Err(Reason::Conflict),
            Conflict::PreferNew => return Ok(()),
            Conflict::PreferOld => {}
        },
        None => {}
    }
    Ok(put(container, to, value)?)
}
