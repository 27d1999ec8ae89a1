//! Go types as the server's JSON decoder uses them: which JSON values each of them can be decoded from.

use serde_json::{Map as JsonMap, Value, json};

use crate::go::base64::{self, Base64Alphabet};
use crate::go::time::Timestamp;
use crate::input::yaml::Data;

/// What a value must be to be decoded.
#[derive(Debug)]
pub(super) enum DecodedType {
    Text,
    Flag,
    Int32,
    Int64,
    Number,
    Any,
    /// A base64 string.
    Bytes,
    /// An RFC 3339 string.
    Time,
    List(&'static DecodedType),
    Map(&'static DecodedType),
    /// An object with these fields; other fields are unknown to the server and dropped.
    Struct(&'static [(&'static str, DecodedType)]),
    Schema,
    SchemaOrFlag,
    /// An object is a schema, a list is a list of schemas; anything else is ignored without an error.
    SchemaOrList,
    /// An object is a schema, a list is a list of strings; anything else is ignored without an error.
    SchemaOrNames,
}

use DecodedType::{Any, Flag, Int64, List, Map, Struct, Text, Time};

/// The fields of Go's `ObjectMeta`.
pub(super) static OBJECT_META: &[(&str, DecodedType)] = &[
    ("name", Text),
    ("generateName", Text),
    ("namespace", Text),
    ("selfLink", Text),
    ("uid", Text),
    ("resourceVersion", Text),
    ("generation", Int64),
    ("creationTimestamp", Time),
    ("deletionTimestamp", Time),
    ("deletionGracePeriodSeconds", Int64),
    ("labels", Map(&Text)),
    ("annotations", Map(&Text)),
    ("ownerReferences", List(&Struct(OWNER_REFERENCE))),
    ("finalizers", List(&Text)),
    ("managedFields", List(&Struct(MANAGED_FIELDS))),
];

static OWNER_REFERENCE: &[(&str, DecodedType)] =
    &[("apiVersion", Text), ("kind", Text), ("name", Text), ("uid", Text), ("controller", Flag), ("blockOwnerDeletion", Flag)];

static MANAGED_FIELDS: &[(&str, DecodedType)] = &[
    ("manager", Text),
    ("operation", Text),
    ("apiVersion", Text),
    ("time", Time),
    ("fieldsType", Text),
    ("fieldsV1", Any),
    ("subresource", Text),
];

/// The type of a field, if the server knows it.
pub(super) fn field<'f>(fields: &'f [(&str, DecodedType)], name: &str) -> Option<&'f DecodedType> {
    fields.iter().find(|(known, _)| *known == name).map(|(_, ty)| ty)
}

impl DecodedType {
    /// Whether a value itself can be decoded; the caller checks items and entries.
    pub fn decodes(&self, data: Data<'_>) -> bool {
        match (self, data) {
            (_, Data::Null) | (Any | DecodedType::SchemaOrList | DecodedType::SchemaOrNames, _) => true,
            (Text, Data::Str(_)) | (Flag | DecodedType::SchemaOrFlag, Data::Bool(_)) => true,
            (Int64, Data::Int(_)) | (DecodedType::Number, Data::Int(_) | Data::Float(_)) => true,
            (DecodedType::Int32, Data::Int(value)) => i32::try_from(value).is_ok(),
            (DecodedType::Bytes, Data::Str(text)) => base64::decode(text, Base64Alphabet::Standard).is_some(),
            (Time, Data::Str(text)) => Timestamp::parse(text).is_some(),
            (List(_), Data::Seq) => true,
            (Map(_) | Struct(_) | DecodedType::Schema | DecodedType::SchemaOrFlag, Data::Map) => true,
            _ => false,
        }
    }

    /// The schema of what can be decoded.
    pub fn schema(&self) -> Value {
        match self {
            Text | DecodedType::Bytes => json!({"type": "string"}),
            Flag => json!({"type": "boolean"}),
            DecodedType::Int32 | Int64 => json!({"type": "integer"}),
            DecodedType::Number => json!({"type": "number"}),
            Time => json!({"type": "string", "format": "date-time"}),
            List(items) => json!({"type": "array", "items": items.schema()}),
            Map(values) => json!({"type": "object", "additionalProperties": values.schema()}),
            Struct(fields) => json!({"type": "object", "properties": properties(fields)}),
            _ => json!({"x-kubernetes-preserve-unknown-fields": true}),
        }
    }

    /// Describes what a value must be, for messages.
    pub fn description(&self) -> &'static str {
        match self {
            Text => "a string",
            Flag => "true or false",
            DecodedType::Int32 => "a 32-bit integer",
            Int64 => "an integer",
            DecodedType::Number => "a number",
            Any => "any value",
            DecodedType::Bytes => "base64 text",
            Time => "a time in RFC 3339 format",
            List(Text) => "a list of strings",
            List(Struct(_)) => "a list of objects",
            List(_) | DecodedType::SchemaOrList | DecodedType::SchemaOrNames => "a list",
            Map(Text) => "a map of strings",
            Map(_) => "a map",
            Struct(_) => "an object",
            DecodedType::Schema => "a schema",
            DecodedType::SchemaOrFlag => "a schema, true or false",
        }
    }
}

/// The `properties` of an object with these fields.
pub(super) fn properties(fields: &[(&str, DecodedType)]) -> Value {
    fields.iter().map(|(name, ty)| ((*name).to_owned(), ty.schema())).collect::<JsonMap<_, _>>().into()
}

/// A JSON value as the decoder sees it.
pub(super) fn data(value: &Value) -> Data<'_> {
    match value {
        Value::Null => Data::Null,
        Value::Bool(flag) => Data::Bool(*flag),
        Value::Number(number) => number.as_i64().map_or_else(|| Data::Float(number.as_f64().unwrap_or(f64::NAN)), Data::Int),
        Value::String(text) => Data::Str(text),
        Value::Array(_) => Data::Seq,
        Value::Object(_) => Data::Map,
    }
}
