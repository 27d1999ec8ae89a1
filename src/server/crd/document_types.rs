//! The Go types of a CRD document: which JSON type the server's decoder needs at each key.

use crate::model::schema::Keyword;
use crate::server::decoded_type::{DecodedType, OBJECT_META};

use DecodedType::*;

const TEXTS: DecodedType = List(&Text);
const SCHEMAS: DecodedType = List(&Schema);
const SCHEMA_MAP: DecodedType = Map(&Schema);

pub(super) static CRD: DecodedType =
    Struct(&[("apiVersion", Text), ("kind", Text), ("metadata", Struct(OBJECT_META)), ("spec", Struct(SPEC)), ("status", Struct(STATUS))]);

static SPEC: &[(&str, DecodedType)] = &[
    ("group", Text),
    ("names", Struct(NAMES)),
    ("scope", Text),
    ("versions", List(&Struct(VERSION))),
    ("conversion", Struct(CONVERSION)),
    ("preserveUnknownFields", Flag),
];

static NAMES: &[(&str, DecodedType)] =
    &[("plural", Text), ("singular", Text), ("shortNames", TEXTS), ("kind", Text), ("listKind", Text), ("categories", TEXTS)];

static VERSION: &[(&str, DecodedType)] = &[
    ("name", Text),
    ("served", Flag),
    ("storage", Flag),
    ("deprecated", Flag),
    ("deprecationWarning", Text),
    ("schema", Struct(&[("openAPIV3Schema", Schema)])),
    ("subresources", Struct(SUBRESOURCE_FIELDS)),
    ("additionalPrinterColumns", List(&Struct(COLUMN_FIELDS))),
    ("selectableFields", List(&Struct(SELECTABLE_FIELD))),
];

pub(super) static SUBRESOURCES: DecodedType = Struct(SUBRESOURCE_FIELDS);

static SUBRESOURCE_FIELDS: &[(&str, DecodedType)] = &[("status", Struct(&[])), ("scale", Struct(SCALE))];

static SELECTABLE_FIELD: &[(&str, DecodedType)] = &[("jsonPath", Text)];

pub(super) static SELECTABLE: DecodedType = List(&Struct(SELECTABLE_FIELD));

static SCALE: &[(&str, DecodedType)] = &[("specReplicasPath", Text), ("statusReplicasPath", Text), ("labelSelectorPath", Text)];

pub(super) static COLUMNS: DecodedType = List(&Struct(COLUMN_FIELDS));

static COLUMN_FIELDS: &[(&str, DecodedType)] =
    &[("name", Text), ("type", Text), ("format", Text), ("description", Text), ("priority", Int32), ("jsonPath", Text)];

static CONVERSION: &[(&str, DecodedType)] = &[("strategy", Text), ("webhook", Struct(WEBHOOK))];

static WEBHOOK: &[(&str, DecodedType)] = &[("clientConfig", Struct(CLIENT)), ("conversionReviewVersions", TEXTS)];

static CLIENT: &[(&str, DecodedType)] = &[("url", Text), ("service", Struct(SERVICE)), ("caBundle", Bytes)];

static SERVICE: &[(&str, DecodedType)] = &[("namespace", Text), ("name", Text), ("path", Text), ("port", Int32)];

static STATUS: &[(&str, DecodedType)] =
    &[("conditions", List(&Struct(CONDITION))), ("acceptedNames", Struct(NAMES)), ("storedVersions", TEXTS), ("observedGeneration", Int64)];

static CONDITION: &[(&str, DecodedType)] =
    &[("type", Text), ("status", Text), ("lastTransitionTime", Time), ("reason", Text), ("message", Text), ("observedGeneration", Int64)];

static DOCS: DecodedType = Struct(&[("description", Text), ("url", Text)]);

static RULES: DecodedType = List(&Struct(&[
    ("rule", Text),
    ("message", Text),
    ("messageExpression", Text),
    ("reason", Text),
    ("fieldPath", Text),
    ("optionalOldSelf", Flag),
]));

/// What the value of a schema keyword must be.
pub(super) fn keyword(word: Keyword) -> &'static DecodedType {
    use Keyword as K;
    match word {
        K::Id | K::SchemaUri | K::Ref | K::Description | K::Type | K::Format | K::Title | K::Pattern | K::ListType | K::MapType => &Text,
        K::Nullable
        | K::ExclusiveMaximum
        | K::ExclusiveMinimum
        | K::UniqueItems
        | K::PreserveUnknownFields
        | K::EmbeddedResource
        | K::IntOrString => &Flag,
        K::Maximum | K::Minimum | K::MultipleOf => &Number,
        K::MaxLength | K::MinLength | K::MaxItems | K::MinItems | K::MaxProperties | K::MinProperties => &Int64,
        K::Default | K::Example => &Any,
        K::Enum => &List(&Any),
        K::Required | K::ListMapKeys => &TEXTS,
        K::Items => &SchemaOrList,
        K::AllOf | K::OneOf | K::AnyOf => &SCHEMAS,
        K::Not => &Schema,
        K::Properties | K::PatternProperties | K::Definitions => &SCHEMA_MAP,
        K::AdditionalProperties | K::AdditionalItems => &SchemaOrFlag,
        K::Dependencies => &Map(&SchemaOrNames),
        K::ExternalDocs => &DOCS,
        K::Validations => &RULES,
    }
}
