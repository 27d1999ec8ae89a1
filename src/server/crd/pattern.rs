//! Patterns must be regular expressions that Go's `regexp` can compile.

use crate::go::regexp::{Pattern, PatternError};
use crate::model::fact::{Aspect, Effect, Word};
use crate::model::schema::{Keyword, Schema};

use super::schema_position::SchemaPosition;
use super::schema_walk::CrdSchemaWalk;

pub(super) fn check<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let (Some(text), Some(entry)) = (schema.text(Keyword::Pattern).filter(|text| !text.is_empty()), schema.entry(Keyword::Pattern)) else {
        return;
    };
    if let Err(fault @ PatternError::GoRefuses { .. }) = Pattern::new(text) {
        let reason = format!("must be a valid regular expression, but isn't: {fault}");
        let fact = walk.refuse((Aspect::Pattern, Effect::Invalid), entry.value, position, ".pattern", reason);
        fact.words.insert(Word::Pattern, text.to_owned());
    }
}
