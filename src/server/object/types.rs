//! What `type`, `x-kubernetes-int-or-string`, `nullable` and `format` accept together, and the numbers that a node accepts.

use serde_json::Value;

use crate::go::strfmt::Format;
use crate::model::kubernetes::Feature;
use crate::model::number::{NumberDomain, NumberFormat, NumberKind};
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

/// Why a schema is compiled: the server treats some keywords differently when it checks a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadPurpose {
    Request,
    /// `x-kubernetes-int-or-string` alone doesn't restrict the type, and formats that the server doesn't know aren't removed.
    Default,
}

impl ReadPurpose {
    /// The single type that a node restricts its values to.
    fn only_type(self, shape: &Shape) -> Option<Type> {
        if shape.int_or_string && self == ReadPurpose::Request { None } else { shape.ty }
    }
}

/// The JSON types that a node allows; empty means all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Types(u8);

impl Types {
    fn bit(ty: Type) -> u8 {
        match ty {
            Type::Object => 1,
            Type::Array => 2,
            Type::String => 4,
            Type::Integer => 8,
            Type::Number => 16,
            Type::Boolean => 32,
        }
    }

    pub(super) fn of(shape: &Shape, purpose: ReadPurpose) -> Self {
        let types: &[Type] = match (shape.int_or_string, purpose) {
            (true, ReadPurpose::Request) => &[Type::Integer, Type::String],
            _ => shape.ty.as_slice(),
        };
        Types(types.iter().fold(0, |bits, &ty| bits | Self::bit(ty)))
    }

    pub fn has(self, ty: Type) -> bool {
        self.0 & Self::bit(ty) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a number must be whole.
    pub fn whole_only(self) -> bool {
        self.has(Type::Integer) && !self.has(Type::Number)
    }

    /// The types as the server writes them in a message.
    pub fn names(self) -> String {
        let named: Vec<&str> = Type::ALL.into_iter().filter(|&ty| self.has(ty)).map(Type::name).collect();
        named.join(",")
    }

    /// The kinds of values that the server's type check accepts. A [`JsonKind::Float`] may also have to be whole.
    pub fn kinds(self, has_format: bool, nullable: bool) -> JsonKinds {
        if self.is_empty() && !has_format {
            return JsonKinds::ALL;
        }
        let mut kinds = Type::ALL.into_iter().filter(|&ty| self.has(ty)).fold(JsonKinds::NONE, |kinds, ty| match ty {
            Type::Object => kinds.with(JsonKind::Object),
            Type::Array => kinds.with(JsonKind::Array),
            Type::String => kinds.with(JsonKind::String),
            Type::Integer | Type::Number => kinds.with(JsonKind::Int).with(JsonKind::Float),
            Type::Boolean => kinds.with(JsonKind::Bool),
        });
        // The server leaves strings to the format check, and with them skips the type check of lists.
        if has_format && !self.has(Type::Number) && !self.has(Type::Integer) {
            kinds = kinds.with(JsonKind::String).with(JsonKind::Array);
        }
        if nullable || self.is_empty() { kinds.with(JsonKind::Null) } else { kinds }
    }
}

/// The kinds of JSON values that the server distinguishes.
///
/// An integral number written with a fraction (`2.0`) is a `Float`: the server treats `2` and `2.0` differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum JsonKind {
    String,
    Int,
    Bool,
    Object,
    Array,
    Float,
    Null,
}

impl JsonKind {
    /// In the order in which the solver looks for a value.
    pub const ALL: [JsonKind; 7] =
        [JsonKind::String, JsonKind::Int, JsonKind::Bool, JsonKind::Object, JsonKind::Array, JsonKind::Float, JsonKind::Null];

    pub fn of(value: &Value) -> JsonKind {
        match value {
            Value::Null => JsonKind::Null,
            Value::Bool(_) => JsonKind::Bool,
            Value::Number(number) if number.is_i64() => JsonKind::Int,
            Value::Number(_) => JsonKind::Float,
            Value::String(_) => JsonKind::String,
            Value::Array(_) => JsonKind::Array,
            Value::Object(_) => JsonKind::Object,
        }
    }

    /// The server's name for it in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            JsonKind::Null => "null",
            JsonKind::Bool => Type::Boolean.name(),
            JsonKind::Int => Type::Integer.name(),
            JsonKind::Float => Type::Number.name(),
            JsonKind::String => Type::String.name(),
            JsonKind::Array => Type::Array.name(),
            JsonKind::Object => Type::Object.name(),
        }
    }

    /// The format that the server's validator infers from a value that isn't a string or a list.
    pub(super) fn format_name(self) -> &'static str {
        match self {
            JsonKind::Int => "int64",
            JsonKind::Float => "float64",
            _ => "",
        }
    }

    pub fn is_scalar(self) -> bool {
        !matches!(self, JsonKind::Object | JsonKind::Array)
    }
}

/// A set of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonKinds(u8);

impl JsonKinds {
    pub const NONE: JsonKinds = JsonKinds(0);
    pub const ALL: JsonKinds = JsonKinds(0x7f);

    pub fn of(kinds: &[JsonKind]) -> JsonKinds {
        kinds.iter().fold(JsonKinds::NONE, |set, &kind| set.with(kind))
    }

    /// The kinds of values that the type check of a node accepts.
    pub fn accepted_by(shape: &Shape) -> JsonKinds {
        Types::of(shape, ReadPurpose::Request).kinds(string_format(shape, ReadPurpose::Request).is_some(), shape.nullable)
    }

    pub const fn with(self, kind: JsonKind) -> JsonKinds {
        JsonKinds(self.0 | 1 << kind as u8)
    }

    pub const fn has(self, kind: JsonKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// The format that strings must have, if the server knows it.
pub(super) fn string_format(shape: &Shape, purpose: ReadPurpose) -> Option<Format> {
    let name = shape.format.as_deref()?;
    let format = matches!(purpose.only_type(shape), None | Some(Type::String)).then(|| Format::of(name))??;
    let known = match (format, purpose) {
        (Format::K8sLongName | Format::K8sShortName, ReadPurpose::Request) => shape.kubernetes.has(Feature::NameFormats),
        (Format::K8sLongName | Format::K8sShortName, ReadPurpose::Default) => shape.kubernetes.has(Feature::NameFormatsInDefaults),
        _ => true,
    };
    known.then_some(format)
}

/// Whether the format is part of the type check: one that the server knows; for defaults, any.
pub(super) fn has_format(shape: &Shape, purpose: ReadPurpose) -> bool {
    match purpose {
        ReadPurpose::Request => string_format(shape, purpose).is_some(),
        ReadPurpose::Default => shape.format.is_some(),
    }
}

/// The numbers that the bounds and the format of a node accept. String formats are left to the type check.
pub(super) fn number_domain(shape: &Shape, purpose: ReadPurpose) -> NumberDomain {
    let kind = match purpose.only_type(shape) {
        Some(Type::Integer) => NumberKind::Integer,
        Some(Type::Number) => NumberKind::Number,
        _ => NumberKind::Untyped,
    };
    let bounds = &shape.bounds;
    NumberDomain {
        kind,
        minimum: bounds.minimum,
        exclusive_minimum: bounds.exclusive_minimum && bounds.minimum.is_some(),
        maximum: bounds.maximum,
        exclusive_maximum: bounds.exclusive_maximum && bounds.maximum.is_some(),
        multiple_of: bounds.multiple_of,
        format: shape
            .format
            .as_deref()
            .and_then(|name| NumberFormat::of(kind, name))
            .filter(|format| *format != NumberFormat::Text && shape.kubernetes.has(Feature::NumberFormats)),
    }
}

/// Whether the server enforces the format of a node.
pub(crate) fn enforced_format(shape: &Shape) -> bool {
    string_format(shape, ReadPurpose::Request).is_some() || number_domain(shape, ReadPurpose::Request).format.is_some()
}

/// The numbers that a node accepts, including its type: a number must be in each of these domains.
pub(crate) fn number_domains(shape: &Shape) -> impl Iterator<Item = NumberDomain> {
    let domain = number_domain(shape, ReadPurpose::Request);
    let whole = Types::of(shape, ReadPurpose::Request).whole_only() && domain.kind != NumberKind::Integer;
    whole.then(|| NumberDomain { kind: NumberKind::Integer, ..NumberDomain::default() }).into_iter().chain([domain])
}
