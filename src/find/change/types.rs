//! The JSON types that a node accepts.

use crate::model::schema::shape::Type;
use crate::model::schema::{Schema, Shape};

/// A set of JSON types; integers and fractions are distinguished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const OBJECT: Types = Types(1);
    pub(super) const ARRAY: Types = Types(2);
    pub(super) const STRING: Types = Types(4);
    pub(super) const INTEGER: Types = Types(8);
    pub(super) const BOOLEAN: Types = Types(32);
    pub(super) const ANY: Types = Types(63);

    /// Integers and fractions.
    const NUMBER: Types = Types(8 | 16);
    const INT_OR_STRING: Types = Types(8 | 4);

    pub(super) fn of(schema: &Schema<'_>) -> Types {
        if schema.is_int_or_string() {
            return Types::INT_OR_STRING;
        }
        match schema.ty() {
            Some("object") => Types::OBJECT,
            Some("array") => Types::ARRAY,
            Some("string") => Types::STRING,
            Some("integer") => Types::INTEGER,
            Some("number") => Types::NUMBER,
            Some("boolean") => Types::BOOLEAN,
            _ => Types::ANY,
        }
    }

    pub(super) fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(super) fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn covers(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a format beside these types restricts values. Beside a format servers also let strings pass that are no value of the
    /// type; nobody relies on that.
    pub(super) fn read_formats(self) -> bool {
        self.has(Types::STRING) || self.has(Types::INTEGER)
    }

    /// Gives a shape these types.
    pub(super) fn apply(self, shape: &mut Shape) {
        shape.int_or_string = self == Types::INT_OR_STRING;
        shape.ty = match self {
            Types::OBJECT => Some(Type::Object),
            Types::ARRAY => Some(Type::Array),
            Types::STRING => Some(Type::String),
            Types::INTEGER => Some(Type::Integer),
            Types::NUMBER => Some(Type::Number),
            Types::BOOLEAN => Some(Type::Boolean),
            _ => None,
        };
    }
}
