//! The Go types of a CRD document: which JSON type the server's decoder needs at each key.

use crate::model::schema::Keyword;

/// What a value must be so that it can be decoded.
#[derive(Debug)]
pub(super) enum DecodedType {
    Text,
    Flag,
    Int32,
    Int64,
    Number,
    Any,
    /// Base64 text.
    Bytes,
    /// RFC 3339 text.
    Time,
    List(&'static DecodedType),
    Map(&'static DecodedType),
    /// A mapping with these keys; others are unknown to the server and dropped.
    Struct(&'static [(&'static str, DecodedType)]),
    Schema,
    SchemaOrFlag,
    /// A mapping is a schema, a list is a list of schemas; anything else is ignored without an error.
    SchemaOrList,
    /// A mapping is a schema, a list is a list of strings; anything else is ignored without an error.
    SchemaOrNames,
}

use DecodedType::*;

const TEXTS: DecodedType = List(&Text);
const TEXT_MAP: DecodedType = Map(&Text);
const SCHEMAS: DecodedType = List(&Schema);
const SCHEMA_MAP: DecodedType = Map(&Schema);

pub(super) static CRD: DecodedType =
    Struct(&[("apiVersion", Text), ("kind", Text), ("metadata", Struct(METADATA)), ("spec", Struct(SPEC)), ("status", Struct(STATUS))]);

static METADATA: &[(&str, DecodedType)] = &[
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
    ("labels", TEXT_MAP),
    ("annotations", TEXT_MAP),
    ("ownerReferences", List(&Struct(OWNER))),
    ("finalizers", TEXTS),
    ("managedFields", List(&Struct(MANAGED))),
];

static OWNER: &[(&str, DecodedType)] =
    &[("apiVersion", Text), ("kind", Text), ("name", Text), ("uid", Text), ("controller", Flag), ("blockOwnerDeletion", Flag)];

static MANAGED: &[(&str, DecodedType)] = &[
    ("manager", Text),
    ("operation", Text),
    ("apiVersion", Text),
    ("time", Time),
    ("fieldsType", Text),
    ("fieldsV1", Any),
    ("subresource", Text),
];

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
