//! The kinds of JSON values as the server tells them apart, and which of them a `type` lets in.

use serde_json::Value;

use crate::model::schema::shape::{Shape, Type};

/// An integral number written with a fraction (`2.0`) is a `Float`: the server treats `2` and `2.0` differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    String,
    Int,
    Bool,
    Object,
    Array,
    Float,
    Null,
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kind {
    /// In the order in which a value is looked for.
    pub(crate) const ALL: [Kind; 7] = [Kind::String, Kind::Int, Kind::Bool, Kind::Object, Kind::Array, Kind::Float, Kind::Null];

    pub(crate) fn of(value: &Value) -> Kind {
        match value {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Number(n) if n.is_i64() => Kind::Int,
            Value::Number(_) => Kind::Float,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }

    pub(crate) fn is_scalar(self) -> bool {
        !matches!(self, Kind::Object | Kind::Array)
    }
}

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const ALL: Kinds = Kinds(0x7f);

    pub(crate) fn of(kinds: &[Kind]) -> Kinds {
        kinds.iter().fold(Kinds::NONE, |set, &kind| set.with(kind))
    }

    pub(crate) const fn with(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind as u8)
    }

    pub(crate) const fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// What the server's type check lets through. A `Float` under `type: integer` must also be whole.
pub(crate) fn kinds(shape: &Shape, formatted: bool) -> Kinds {
    let mut set = match (shape.int_or_string, shape.ty) {
        (true, _) => Kinds::of(&[Kind::Int, Kind::Float, Kind::String]),
        (false, Some(ty)) => match ty {
            Type::Object => Kinds::of(&[Kind::Object]),
            Type::Array => Kinds::of(&[Kind::Array]),
            Type::String => Kinds::of(&[Kind::String]),
            Type::Integer | Type::Number => Kinds::of(&[Kind::Int, Kind::Float]),
            Type::Boolean => Kinds::of(&[Kind::Bool]),
        },
        // A format without a type lets nothing but strings and lists through.
        (false, None) if formatted => return Kinds::of(&[Kind::String, Kind::Array, Kind::Null]),
        (false, None) => return Kinds::ALL,
    };
    let numeric = shape.int_or_string || matches!(shape.ty, Some(Type::Integer | Type::Number));
    if formatted && !numeric {
        // The server leaves strings to the check of the format, and lists with them.
        set = set.with(Kind::String).with(Kind::Array);
    }
    if shape.nullable {
        set = set.with(Kind::Null);
    }
    set
}
