//! The closed set of schema keywords that a CRD may use.

macro_rules! keywords {
    ($($variant:ident = $name:literal,)*) => {
        /// A member of `JSONSchemaProps`. Any other key of a schema is unknown to the server.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Keyword { $($variant,)* }

        impl Keyword {
            pub const ALL: &'static [Keyword] = &[$(Keyword::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(Keyword::$variant => $name,)* }
            }

            pub fn parse(name: &str) -> Option<Keyword> {
                match name { $($name => Some(Keyword::$variant),)* _ => None }
            }
        }
    };
}

keywords! {
    Id = "id",
    SchemaUri = "$schema",
    Ref = "$ref",
    Description = "description",
    Type = "type",
    Nullable = "nullable",
    Format = "format",
    Title = "title",
    Default = "default",
    Maximum = "maximum",
    ExclusiveMaximum = "exclusiveMaximum",
    Minimum = "minimum",
    ExclusiveMinimum = "exclusiveMinimum",
    MaxLength = "maxLength",
    MinLength = "minLength",
    Pattern = "pattern",
    MaxItems = "maxItems",
    MinItems = "minItems",
    UniqueItems = "uniqueItems",
    MultipleOf = "multipleOf",
    Enum = "enum",
    MaxProperties = "maxProperties",
    MinProperties = "minProperties",
    Required = "required",
    Items = "items",
    AllOf = "allOf",
    OneOf = "oneOf",
    AnyOf = "anyOf",
    Not = "not",
    Properties = "properties",
    AdditionalProperties = "additionalProperties",
    PatternProperties = "patternProperties",
    Dependencies = "dependencies",
    AdditionalItems = "additionalItems",
    Definitions = "definitions",
    ExternalDocs = "externalDocs",
    Example = "example",
    PreserveUnknownFields = "x-kubernetes-preserve-unknown-fields",
    EmbeddedResource = "x-kubernetes-embedded-resource",
    IntOrString = "x-kubernetes-int-or-string",
    ListMapKeys = "x-kubernetes-list-map-keys",
    ListType = "x-kubernetes-list-type",
    MapType = "x-kubernetes-map-type",
    Validations = "x-kubernetes-validations",
}

pub(super) const COUNT: usize = Keyword::ALL.len();
