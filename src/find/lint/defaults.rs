//! Finds defaults that the server accepts but that make objects invalid.

use serde_json::Value;

use crate::compare::completed;
use crate::model::fact::{Aspect, Effect, Word};
use crate::model::schema::{Keyword, Schema, Shape};
use crate::server::crd::{SchemaPosition, has_int_or_string_pair, shown_default};
use crate::server::object;

use super::walk::{LintContext, LintWalk};

pub(super) fn check<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: LintContext<'_, 't>) {
    let Some(default) = schema.default() else { return };
    let key = schema.entry(Keyword::Default).map_or(default, |entry| entry.key);
    let mut note = |effect, reason: String| {
        let fact = walk.note((Aspect::Default, effect), key, position);
        fact.words.insert(Word::Default, shown_default(default));
        fact.words.insert(Word::Reason, reason);
    };
    if context.in_map
        && let Some(error) = object::default_of_schema(&Shape::of(schema)).into_iter().next()
    {
        note(Effect::Unsafe, error.to_string());
    }
    let value = default.to_json();
    if schema.is_int_or_string() && !(value.is_i64() || value.is_string()) && !has_int_or_string_pair(schema) {
        note(Effect::Mismatched, "it is neither an integer nor a string".into());
    }
    if let Some(twice) = duplicate(schema, &value) {
        note(Effect::Duplicate, twice);
    }
}

/// An item of a set, or the keys of a map list item, that the default contains twice once its own defaults are filled in.
fn duplicate(schema: &Schema<'_>, value: &Value) -> Option<String> {
    if !value.is_array() || !matches!(schema.text(Keyword::ListType), Some("set" | "map")) {
        return None;
    }
    let shape = Shape::of(schema);
    object::repeated(&shape, completed(value, &shape).as_array()?).map(|twice| twice.to_string())
}
