//! Every kind of fact that the comparison of two bundles can emit. A test holds that each has its rule.

use crate::model::fact::{Aspect, Effect, Subject};

use Aspect as A;
use Effect as E;

const TYPES: &[Aspect] = &[A::Type, A::IntOrString];
const BOUNDS: &[Aspect] = &[
    A::Minimum,
    A::Maximum,
    A::ExclusiveMinimum,
    A::ExclusiveMaximum,
    A::MultipleOf,
    A::MinLength,
    A::MaxLength,
    A::MinItems,
    A::MaxItems,
    A::UniqueItems,
    A::MinProperties,
    A::MaxProperties,
];
const COMPOSITIONS: &[Aspect] = &[A::AllOf, A::AnyOf, A::OneOf, A::Not];
const OPEN: &[Aspect] = &[A::AdditionalProperties, A::PreserveUnknown];
const RULES: &[Aspect] = &[A::CelRule, A::CelTransition];
const MERGE: &[Aspect] = &[A::ListType, A::MapKeys, A::MapType];
const COME_AND_GO: &[Effect] = &[E::Added, E::Removed];
const ALTER: &[Effect] = &[E::Added, E::Removed, E::Changed];
const DIRECTION: &[Effect] = &[E::Narrowed, E::Widened, E::Changed, E::Undecided];

/// Facts about nodes of a schema, of a version that both sides have.
const FIELD: &[(&[Aspect], &[Effect])] = &[
    (&[A::Presence], &[E::Added, E::Removed, E::Renamed]),
    (&[A::Required, A::EmbeddedResource, A::CelOptionalOldSelf], COME_AND_GO),
    (&[A::Nullable], &[E::Narrowed, E::Widened, E::Changed]),
    (TYPES, &[E::Narrowed, E::Widened, E::Changed]),
    (&[A::Enum], &[E::Added, E::Removed, E::Narrowed, E::Widened, E::Changed]),
    (BOUNDS, DIRECTION),
    (&[A::Pattern, A::Format], DIRECTION),
    (&[A::Default], &[E::Added, E::Removed, E::Changed, E::Narrowed, E::Widened]),
    (&[A::Items], &[E::Added, E::Removed, E::Undecided]),
    (OPEN, DIRECTION),
    (MERGE, &[E::Changed]),
    (RULES, &[E::Added, E::Removed, E::Narrowed, E::Widened, E::Changed, E::Undecided]),
    (COMPOSITIONS, DIRECTION),
    (&[A::Accepted], DIRECTION),
    (&[A::Structure], &[E::Undecided]),
    (&[A::Deprecation], COME_AND_GO),
    (&[A::Keyword], ALTER),
];
/// What is told only inside one version: words, and forms that mean the same.
const WORDS: &[(&[Aspect], &[Effect])] = &[
    (&[A::Description, A::Annotation], ALTER),
    (&[A::Meaning], &[E::Changed]),
    (&[A::CelMessage, A::CelMessageExpression, A::CelReason, A::CelFieldPath], ALTER),
    (&[A::Presence], &[E::Rewritten]),
    (TYPES, &[E::Rewritten]),
    (BOUNDS, &[E::Rewritten]),
    (COMPOSITIONS, &[E::Rewritten]),
    (OPEN, &[E::Rewritten]),
    (RULES, &[E::Rewritten]),
    (MERGE, &[E::Rewritten]),
    (
        &[
            A::Required,
            A::Nullable,
            A::Enum,
            A::Pattern,
            A::Format,
            A::Default,
            A::Properties,
            A::Items,
            A::EmbeddedResource,
            A::CelOptionalOldSelf,
            A::Annotation,
            A::Accepted,
        ],
        &[E::Rewritten],
    ),
];
const VERSION: &[(&[Aspect], &[Effect])] = &[
    (&[A::Presence, A::Served, A::Deprecation, A::Schema, A::StatusSubresource, A::SelectableField], COME_AND_GO),
    (&[A::Storage], &[E::Moved, E::Lossy, E::Unsafe, E::Added, E::Removed]),
    (&[A::DeprecationWarning, A::ScaleSubresource, A::Keyword], ALTER),
    (&[A::Schema, A::StatusSubresource, A::ScaleSubresource, A::SelectableField], &[E::Rewritten]),
    (&[A::PrinterColumn], &[E::Added, E::Removed, E::Changed, E::Moved]),
];
const CRD: &[(&[Aspect], &[Effect])] = &[
    (&[A::Presence, A::ShortName, A::Category, A::StoredVersions], COME_AND_GO),
    (&[A::Preferred, A::Api, A::Group, A::Plural, A::Kind], &[E::Changed]),
    (&[A::Scope, A::ListKind, A::Singular], &[E::Changed, E::Rewritten]),
    (&[A::PreserveUnknownSpec], &[E::Narrowed, E::Widened, E::Rewritten]),
    (&[A::AnnotationKey, A::Label, A::BundleVersion, A::Channel, A::ApprovedAnnotation, A::Metadata, A::Keyword], ALTER),
    (&[A::ConversionStrategy], &[E::Added, E::Removed, E::Changed, E::Rewritten]),
    (&[A::ConversionWebhook, A::ReviewVersions], ALTER),
];

/// All coordinates, each once.
pub fn emitted() -> impl Iterator<Item = (Subject, Aspect, Effect)> {
    let tables =
        [(Subject::Field, FIELD), (Subject::Field, WORDS), (Subject::NewVersion, FIELD), (Subject::Version, VERSION), (Subject::Crd, CRD)];
    tables.into_iter().flat_map(|(subject, table)| {
        let rows = table
            .iter()
            .flat_map(|(aspects, effects)| aspects.iter().flat_map(|&aspect| effects.iter().map(move |&effect| (aspect, effect))));
        rows.map(move |(aspect, effect)| (subject, aspect, effect))
    })
}
