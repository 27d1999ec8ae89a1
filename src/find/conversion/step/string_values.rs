//! Finds strings that a schema accepts, for steps that read or write strings.

use serde_json::Value;

use crate::compare::Budget;
use crate::compare::strings::{TextDomain, TextGoal};
use crate::find::conversion::lossless::Obstacle;
use crate::find::conversion::shape_edit::declared;
use crate::go::regexp::Pattern;
use crate::go::strfmt::Format;
use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

/// The strings that a schema accepts. A pattern that can't be parsed is ignored, so this may include strings that the schema
/// refuses.
fn domain<'d>(shape: &'d Shape, patterns: &'d [Pattern]) -> TextDomain<'d> {
    TextDomain {
        min_length: shape.length.min,
        max_length: shape.length.max,
        patterns: patterns.iter().collect(),
        formats: shape.format.as_deref().and_then(Format::of).into_iter().collect(),
        allowed: shape.enum_values.as_ref().map(|values| values.iter().filter_map(Value::as_str).collect()),
    }
}

fn patterns(shape: &Shape) -> Vec<Pattern> {
    let clauses = shape.all_of.iter().filter_map(|clause| clause.pattern.as_deref());
    shape.pattern.as_deref().into_iter().chain(clauses).filter_map(|text| Pattern::new(text).ok()).collect()
}

/// Searches for a string that the schema accepts and the pattern doesn't match.
pub(super) fn string_outside(shape: &Shape, pattern: &str) -> Search<String> {
    let own = patterns(shape);
    let Ok(pattern) = Pattern::new(pattern) else { return Search::Undecided("a pattern can't be parsed".into()) };
    TextGoal { avoids: vec![&pattern], ..domain(shape, &own).goal() }.find(&Budget::of_each())
}

/// Searches for a string that the schema accepts and that contains the text.
pub(super) fn string_containing(shape: &Shape, text: &str) -> Search<String> {
    let own = patterns(shape);
    let Ok(pattern) = Pattern::new(&regex_syntax::escape(text)) else { return Search::Undecided("a text can't be searched for".into()) };
    let mut goal = domain(shape, &own).goal();
    goal.matches.push(&pattern);
    goal.find(&Budget::of_each())
}

/// Searches for a string that the schema accepts and that is longer than this.
pub(super) fn string_longer_than(shape: &Shape, length: u64) -> Search<String> {
    TextGoal { min_length: length + 1, ..domain(shape, &patterns(shape)).goal() }.find(&Budget::of_each())
}

/// The schema of a field, if it is always a string.
pub(super) fn plain_string<'s>(shape: &'s Shape, path: &FieldPath) -> Result<&'s Shape, Obstacle> {
    match declared(shape, path) {
        Some(child) if child.ty == Some(Type::String) && !child.nullable && !child.int_or_string => Ok(child),
        _ => Err(Obstacle::new(format!("`{path}` is not a plain string"))),
    }
}
