//! The closed set of schema keywords that a CRD may use.

use crate::model::fact::Aspect;

macro_rules! keywords {
    ($($variant:ident = $name:literal => $aspect:ident,)*) => {
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

            /// The aspect of facts about the keyword.
            pub fn aspect(self) -> Aspect {
                match self { $(Keyword::$variant => Aspect::$aspect,)* }
            }
        }
    };
}

keywords! {
    Id = "id" => Structure,
    SchemaUri = "$schema" => Structure,
    Ref = "$ref" => Structure,
    Description = "description" => Annotation,
    Type = "type" => Type,
    Nullable = "nullable" => Nullable,
    Format = "format" => Format,
    Title = "title" => Annotation,
    Default = "default" => Default,
    Maximum = "maximum" => Maximum,
    ExclusiveMaximum = "exclusiveMaximum" => ExclusiveMaximum,
    Minimum = "minimum" => Minimum,
    ExclusiveMinimum = "exclusiveMinimum" => ExclusiveMinimum,
    MaxLength = "maxLength" => MaxLength,
    MinLength = "minLength" => MinLength,
    Pattern = "pattern" => Pattern,
    MaxItems = "maxItems" => MaxItems,
    MinItems = "minItems" => MinItems,
    UniqueItems = "uniqueItems" => UniqueItems,
    MultipleOf = "multipleOf" => MultipleOf,
    Enum = "enum" => Enum,
    MaxProperties = "maxProperties" => MaxProperties,
    MinProperties = "minProperties" => MinProperties,
    Required = "required" => Required,
    Items = "items" => Items,
    AllOf = "allOf" => AllOf,
    OneOf = "oneOf" => OneOf,
    AnyOf = "anyOf" => AnyOf,
    Not = "not" => Not,
    Properties = "properties" => Properties,
    AdditionalProperties = "additionalProperties" => AdditionalProperties,
    PatternProperties = "patternProperties" => Structure,
    Dependencies = "dependencies" => Structure,
    AdditionalItems = "additionalItems" => Structure,
    Definitions = "definitions" => Structure,
    ExternalDocs = "externalDocs" => Annotation,
    Example = "example" => Annotation,
    PreserveUnknownFields = "x-kubernetes-preserve-unknown-fields" => PreserveUnknown,
    EmbeddedResource = "x-kubernetes-embedded-resource" => EmbeddedResource,
    IntOrString = "x-kubernetes-int-or-string" => IntOrString,
    ListMapKeys = "x-kubernetes-list-map-keys" => MapKeys,
    ListType = "x-kubernetes-list-type" => ListType,
    MapType = "x-kubernetes-map-type" => MapType,
    Validations = "x-kubernetes-validations" => CelRule,
}

pub(super) const COUNT: usize = Keyword::ALL.len();
