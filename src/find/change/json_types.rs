//! The JSON types that a node accepts.

use crate::model::schema::shape::Type;
use crate::model::schema::{Schema, Shape};

/// A set of JSON types; integers and fractions are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JsonTypes(u8);

impl JsonTypes {
    pub(super) const OBJECT: JsonTypes = JsonTypes(1);
    pub(super) const ARRAY: JsonTypes = JsonTypes(2);
    pub(super) const STRING: JsonTypes = JsonTypes(4);
    pub(super) const INTEGER: JsonTypes = JsonTypes(8);
    pub(super) const ANY: JsonTypes = JsonTypes(63);

    const INT_OR_STRING: JsonTypes = JsonTypes(8 | 4);

    pub(super) fn of(schema: &Schema<'_>) -> JsonTypes {
        if schema.is_int_or_string() {
            return JsonTypes::INT_OR_STRING;
        }
        schema.ty().and_then(Type::parse).map_or(JsonTypes::ANY, JsonTypes::only)
    }

    fn only(ty: Type) -> JsonTypes {
        match ty {
            Type::Object => JsonTypes::OBJECT,
            Type::Array => JsonTypes::ARRAY,
            Type::String => JsonTypes::STRING,
            Type::Integer => JsonTypes::INTEGER,
            Type::Number => JsonTypes(8 | 16),
            Type::Boolean => JsonTypes(32),
        }
    }

    pub(super) fn and(self, other: JsonTypes) -> JsonTypes {
        JsonTypes(self.0 & other.0)
    }

    pub(super) fn has(self, other: JsonTypes) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn covers(self, other: JsonTypes) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a format restricts values of these types. With a format, servers also accept strings that aren't values of the type,
    /// but nobody relies on that.
    pub(super) fn read_formats(self) -> bool {
        self.has(JsonTypes::STRING) || self.has(JsonTypes::INTEGER)
    }

    /// Sets these types on a shape.
    pub(super) fn apply(self, shape: &mut Shape) {
        shape.int_or_string = self == JsonTypes::INT_OR_STRING;
        shape.ty = Type::ALL.into_iter().find(|&ty| JsonTypes::only(ty) == self);
    }
}
