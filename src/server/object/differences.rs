//! Finds where two objects differ.

use serde_json::Value;

use super::path::{ObjectPath, Trail};

/// A place where two objects differ, with what each has there.
pub(crate) struct Difference<'v> {
    pub path: ObjectPath,
    pub old: Option<&'v Value>,
    pub new: Option<&'v Value>,
}

/// The topmost places where two objects differ. The recursion is limited by their depth.
pub(crate) fn differences<'v>(old: &'v Value, new: &'v Value, same: fn(&Value, &Value) -> bool) -> Vec<Difference<'v>> {
    let mut found = Vec::new();
    collect((old, new), same, &Trail::Root, &mut found);
    found
}

fn collect<'v>((old, new): (&'v Value, &'v Value), same: fn(&Value, &Value) -> bool, trail: &Trail<'_>, found: &mut Vec<Difference<'v>>) {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            for name in a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))) {
                let trail = Trail::Key(trail, name);
                match (a.get(name), b.get(name)) {
                    (Some(old), Some(new)) => collect((old, new), same, &trail, found),
                    (old, new) => found.push(Difference { path: trail.path(), old, new }),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, pair) in a.iter().zip(b).enumerate() {
                collect(pair, same, &Trail::Index(trail, index), found);
            }
        }
        (old, new) if same(old, new) => {}
        (old, new) => found.push(Difference { path: trail.path(), old: Some(old), new: Some(new) }),
    }
}
