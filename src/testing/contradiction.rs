//! Checks the comparison of two schemas against what the server model does with objects.

use serde_json::{Value, json};

use crate::compare::{Comparison, Relation, Sample};
use crate::server::object::Compiled;

pub(crate) fn body(sample: &Option<Sample>) -> Option<&Value> {
    match sample {
        Some(Sample::Sent(value)) => Some(value),
        Some(Sample::Absent) | None => None,
    }
}

pub(crate) fn whole(body: &Value) -> Value {
    let mut object = body.clone();
    object["apiVersion"] = json!("vec.example.com/v1");
    object["kind"] = json!("Item");
    object["metadata"] = json!({"name": "obj"});
    object
}

/// Whether the first schema accepts and keeps the object and the second doesn't.
pub(crate) fn is_lost(before: &Compiled, after: &Compiled, body: &Value) -> bool {
    let (old, new) = (before.request(whole(body)), after.request(whole(body)));
    old.accepted() && old.pruned.is_empty() && (!new.accepted() || !new.pruned.is_empty())
}

pub(crate) fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

/// Finds an object that contradicts the comparison, or an example of the comparison that shows nothing.
pub(crate) fn contradiction(order: &Comparison<Sample>, old: &Compiled, new: &Compiled, objects: &[Value]) -> Option<String> {
    let never = [
        matches!(order.relation, Relation::Equal | Relation::Wider) || order.loses == Some(false),
        matches!(order.relation, Relation::Equal | Relation::Narrower),
    ];
    for ((before, after, sample), never) in [(old, new, &order.lost), (new, old, &order.gained)].into_iter().zip(never) {
        // A pruned null isn't a lost value.
        let lost = |object: &&Value| is_lost(before, after, object) && !(has_null(object) && after.request(whole(object)).accepted());
        if let Some(object) = objects.iter().filter(|_| never).find(lost) {
            return Some(format!("{:?}, and yet {object} is lost", order.relation));
        }
        if let Some(shown) = body(sample)
            && !is_lost(before, after, shown)
        {
            return Some(format!("{:?}, and {shown} doesn't show it", order.relation));
        }
    }
    None
}
