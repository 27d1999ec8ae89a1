//! Every kind of fact that the finders emit. Tests check that each has its rule, and that no others are emitted.

use crate::model::fact::{Aspect, Effect, Fact, Subject};

use Aspect as A;
use Effect as E;

/// Aspects, each combined with all of the effects.
type Table = &'static [(&'static [Aspect], &'static [Effect])];

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

/// Changes of schema nodes, in a version on both sides or between two versions.
const FIELD: Table = &[
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
/// Facts that only count inside one version: documentation, and equivalent schemas.
const DOCUMENTATION: Table = &[
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
/// Changes of a version besides its schema.
const VERSION: Table = &[
    (&[A::Presence, A::Served, A::Deprecation, A::Schema, A::StatusSubresource, A::SelectableField], COME_AND_GO),
    (&[A::Storage], &[E::Moved, E::Lossy, E::Unsafe, E::Added, E::Removed]),
    (&[A::DeprecationWarning, A::ScaleSubresource, A::Keyword], ALTER),
    (&[A::Schema, A::StatusSubresource, A::ScaleSubresource, A::SelectableField], &[E::Rewritten]),
    (&[A::PrinterColumn], &[E::Added, E::Removed, E::Changed, E::Moved]),
];
/// Changes of a CRD outside its versions.
const CRD: Table = &[
    (&[A::Presence, A::ShortName, A::Category, A::StoredVersions], COME_AND_GO),
    (&[A::Preferred, A::Api, A::Group, A::Plural, A::Kind], &[E::Changed]),
    (&[A::Scope, A::ListKind, A::Singular], &[E::Changed, E::Rewritten]),
    (&[A::PreserveUnknownSpec], &[E::Narrowed, E::Widened, E::Rewritten]),
    (&[A::AnnotationKey, A::Label, A::BundleVersion, A::Channel, A::ApprovedAnnotation, A::Metadata, A::Keyword], ALTER),
    (&[A::ConversionStrategy], &[E::Added, E::Removed, E::Changed, E::Rewritten]),
    (&[A::ConversionWebhook, A::ReviewVersions], ALTER),
];

/// Problems of a schema node: rejected by servers, hazardous, or different between versions.
const FIELD_LINT: Table = &[
    (&[A::Type], &[E::Missing, E::Unknown, E::Mismatched, E::Mixed]),
    (&[A::Items], &[E::Missing, E::Invalid, E::Mismatched, E::Unsafe]),
    (&[A::Properties], &[E::Missing, E::Lossy]),
    (&[A::AdditionalProperties], &[E::Misplaced, E::Mixed, E::Lossy]),
    (&[A::PreserveUnknown], &[E::Invalid]),
    (&[A::EmbeddedResource], &[E::Missing, E::Misplaced, E::Mismatched, E::Mixed]),
    (&[A::IntOrString], &[E::Mixed]),
    (&[A::Nullable], &[E::Forbidden, E::Dead, E::Mixed]),
    (&[A::Required], &[E::Unresolved, E::Mixed]),
    (&[A::Enum], &[E::Duplicate, E::Mismatched]),
    (&[A::Pattern], &[E::Invalid, E::Unsafe]),
    (&[A::Format], &[E::Unknown, E::Unsafe]),
    (&[A::UniqueItems], &[E::Forbidden]),
    (&[A::Accepted], &[E::Dead, E::Mixed, E::Lapsed]),
    (&[A::Default], &[E::Missing, E::Invalid, E::Forbidden, E::Duplicate, E::Mismatched, E::Dead, E::Unsafe, E::Unknown, E::Mixed]),
    (&[A::ListType], &[E::Missing, E::Unknown, E::Forbidden, E::Mismatched, E::Mixed, E::Unsafe]),
    (&[A::MapKeys], &[E::Missing, E::Invalid, E::Forbidden, E::Duplicate, E::Mismatched, E::Misplaced, E::Unresolved, E::Mixed]),
    (&[A::MapType], &[E::Unknown, E::Mismatched, E::Mixed]),
    (&[A::CelRule], &[E::Missing, E::Invalid, E::Duplicate]),
    (&[A::CelTransition], &[E::Misplaced]),
    (&[A::CelMessage, A::CelMessageExpression], &[E::Missing, E::Invalid]),
    (&[A::CelReason], &[E::Unknown]),
    (&[A::CelFieldPath], &[E::Invalid]),
    (&[A::CelOptionalOldSelf], &[E::Unused]),
    (&[A::CelCost], &[E::Excessive]),
    (&[A::Keyword], &[E::Unknown, E::Forbidden, E::Dead]),
    (&[A::Structure], &[E::Forbidden, E::Unresolved]),
    (&[A::Metadata], &[E::Forbidden, E::Invalid, E::Mismatched]),
    (&[A::Name], &[E::Unclear, E::Reused]),
    (&[A::Presence], &[E::Lossy]),
    (&[A::Deprecation], &[E::Unclear, E::Early]),
    (&[A::Maturity], &[E::Forbidden]),
    (&[A::Channel], &[E::Misplaced, E::Early]),
];
const VERSION_LINT: Table = &[
    (&[A::Name], &[E::Invalid, E::Duplicate, E::Unclear, E::Reused]),
    (&[A::Presence, A::Served, A::Storage, A::Deprecation], &[E::Early]),
    (&[A::DeprecationWarning], &[E::Invalid, E::Misplaced, E::Unclear]),
    (&[A::Schema, A::StoredVersions], &[E::Missing]),
    (&[A::StatusSubresource], &[E::Missing, E::Unused, E::Mixed]),
    (&[A::StatusRoot], &[E::Forbidden]),
    (&[A::ScaleSubresource], &[E::Missing, E::Invalid, E::Unresolved]),
    (&[A::PrinterColumn], &[E::Missing, E::Invalid, E::Unresolved, E::Mismatched]),
    (&[A::SelectableField], &[E::Missing, E::Invalid, E::Duplicate, E::Excessive, E::Mismatched, E::Misplaced, E::Unresolved]),
    (&[A::PreserveUnknown], &[E::Missing, E::Shallow]),
    (&[A::CelCost], &[E::Excessive]),
];
const CRD_LINT: Table = &[
    (&[A::Name], &[E::Missing, E::Invalid, E::Mismatched]),
    (&[A::Group, A::Plural, A::Kind, A::Scope], &[E::Missing, E::Invalid, E::Immutable]),
    (&[A::Singular, A::ListKind], &[E::Missing, E::Invalid]),
    (&[A::ListKind], &[E::Mismatched]),
    (&[A::Kind], &[E::Unclear]),
    (&[A::ShortName, A::Category, A::Metadata], &[E::Invalid]),
    (&[A::Api], &[E::Lapsed]),
    (&[A::Document], &[E::Invalid, E::Unclear, E::Unsafe, E::Excessive]),
    (&[A::Keyword], &[E::Unknown]),
    (&[A::PreserveUnknownSpec], &[E::Forbidden]),
    (&[A::ApprovedAnnotation, A::BundleVersion, A::Channel], &[E::Missing, E::Invalid]),
    (&[A::Served, A::Coverage], &[E::Missing]),
    (&[A::Storage], &[E::Missing, E::Excessive]),
    (&[A::StoredVersions], &[E::Mixed]),
    (&[A::ConversionStrategy], &[E::Missing, E::Invalid, E::Forbidden, E::Unsafe]),
    (&[A::ConversionWebhook], &[E::Missing, E::Invalid, E::Forbidden, E::Mismatched, E::Unclear]),
    (&[A::ReviewVersions], &[E::Missing, E::Invalid, E::Duplicate, E::Unknown, E::Forbidden]),
];
const BUNDLE: Table = &[(&[A::BundleVersion], &[E::Missing, E::Mixed, E::Decreased, E::Mismatched, E::Pending])];
/// Problems of a conversion manifest.
const CONVERSION: Table = &[
    (&[A::Coverage], &[E::Unused]),
    (&[A::ConversionWebhook], &[E::Manual]),
    (&[A::Step], &[E::Manual, E::Lossy, E::Mixed, E::Unknown]),
    (&[A::Example], &[E::Mismatched]),
    (&[A::RoundTrip], &[E::Missing, E::Lossy]),
    (&[A::Validity], &[E::Invalid]),
    (&[A::Idempotence, A::VersionBlind], &[E::Unsafe]),
    (&[A::Readability], &[E::Lossy]),
    (&[A::Graph], &[E::Duplicate, E::Excessive]),
    (&[A::Tombstone], &[E::Reused]),
];
/// Changes of the configuration, and parts without effect.
const CONFIG: Table = &[
    (&[A::Policy], &[E::Changed]),
    (&[A::Waiver], &[E::Added, E::Changed, E::Unused, E::Lapsed]),
    (&[A::Baseline], &[E::Added, E::Unused]),
];

const CHANGES: &[(Subject, Table)] = &[
    (Subject::Field, FIELD),
    (Subject::Field, DOCUMENTATION),
    (Subject::NewVersion, FIELD),
    (Subject::Version, VERSION),
    (Subject::Crd, CRD),
];
const OTHERS: &[(Subject, Table)] = &[
    (Subject::Field, FIELD_LINT),
    (Subject::Version, VERSION_LINT),
    (Subject::Crd, CRD_LINT),
    (Subject::Bundle, BUNDLE),
    (Subject::Conversion, CONVERSION),
    (Subject::Config, CONFIG),
];

/// Whether a finder may emit facts of this kind.
pub fn is_listed(fact: &Fact) -> bool {
    let listed = |(subject, table): &(Subject, Table)| {
        let row = |(aspects, effects): &(&[Aspect], &[Effect])| aspects.contains(&fact.aspect) && effects.contains(&fact.effect);
        *subject == fact.subject && table.iter().any(row)
    };
    CHANGES.iter().chain(OTHERS).any(listed)
}

/// The kinds that the comparison of two bundles emits, each once.
#[cfg(test)]
pub fn changes() -> impl Iterator<Item = (Subject, Aspect, Effect)> {
    kinds(CHANGES)
}

/// The kinds that all finders emit, each once.
#[cfg(test)]
pub fn emitted() -> impl Iterator<Item = (Subject, Aspect, Effect)> {
    kinds(CHANGES).chain(kinds(OTHERS))
}

#[cfg(test)]
fn kinds(tables: &'static [(Subject, Table)]) -> impl Iterator<Item = (Subject, Aspect, Effect)> {
    tables.iter().flat_map(|&(subject, table)| {
        let pairs = |(aspects, effects): &(&'static [Aspect], &'static [Effect])| {
            let effects = *effects;
            aspects.iter().flat_map(move |&aspect| effects.iter().map(move |&effect| (aspect, effect)))
        };
        table.iter().flat_map(pairs).map(move |(aspect, effect)| (subject, aspect, effect))
    })
}
