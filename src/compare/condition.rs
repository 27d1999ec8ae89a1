//! The conditions that one schema node puts on a value, and how to restore them one by one.
//!
//! A difference between two nodes is attributed to a keyword by restoring that keyword and comparing again.

use crate::model::fact::Aspect;
use crate::model::schema::{Keyword, Shape};
use crate::server::object::FieldErrorKind;

/// Each condition, with the keywords that express it and the errors that it causes, its own first.
pub(crate) const CONDITIONS: &[(Aspect, &[Keyword], &[FieldErrorKind])] = &[
    (Aspect::Type, &[Keyword::Type, Keyword::IntOrString], &[FieldErrorKind::Type]),
    (Aspect::Enum, &[Keyword::Enum], &[FieldErrorKind::Enum]),
    (Aspect::Pattern, &[Keyword::Pattern], &[FieldErrorKind::Pattern]),
    (Aspect::Format, &[Keyword::Format], &[FieldErrorKind::Format, FieldErrorKind::Range]),
    (Aspect::MinLength, &[Keyword::MinLength], &[FieldErrorKind::MinLength]),
    (Aspect::MaxLength, &[Keyword::MaxLength], &[FieldErrorKind::MaxLength]),
    (Aspect::Minimum, &[Keyword::Minimum, Keyword::ExclusiveMinimum], &[FieldErrorKind::Minimum, FieldErrorKind::Range]),
    (Aspect::Maximum, &[Keyword::Maximum, Keyword::ExclusiveMaximum], &[FieldErrorKind::Maximum, FieldErrorKind::Range]),
    (Aspect::MultipleOf, &[Keyword::MultipleOf], &[FieldErrorKind::MultipleOf]),
    (Aspect::MinItems, &[Keyword::MinItems], &[FieldErrorKind::MinItems]),
    (Aspect::MaxItems, &[Keyword::MaxItems], &[FieldErrorKind::MaxItems]),
    (Aspect::UniqueItems, &[Keyword::UniqueItems], &[FieldErrorKind::UniqueItems]),
    (Aspect::MinProperties, &[Keyword::MinProperties], &[FieldErrorKind::MinProperties]),
    (Aspect::MaxProperties, &[Keyword::MaxProperties], &[FieldErrorKind::MaxProperties]),
    (Aspect::AnyOf, &[Keyword::AnyOf], &[FieldErrorKind::AnyOf]),
    (Aspect::OneOf, &[Keyword::OneOf], &[FieldErrorKind::OneOf]),
    (Aspect::AllOf, &[Keyword::AllOf], &[FieldErrorKind::AllOf]),
    (Aspect::Not, &[Keyword::Not], &[FieldErrorKind::Not]),
];

/// Keywords of [`CONDITIONS`], all of them.
pub(crate) fn condition_keywords() -> impl Iterator<Item = Keyword> {
    CONDITIONS.iter().flat_map(|(_, words, _)| words.iter().copied())
}

/// The condition that causes an error.
pub(crate) fn condition_of(kind: FieldErrorKind) -> Option<Aspect> {
    CONDITIONS.iter().find(|(_, _, kinds)| kinds.first() == Some(&kind)).map(|(aspect, ..)| *aspect)
}

/// The errors that a condition causes.
pub(crate) fn errors_of(condition: Aspect) -> &'static [FieldErrorKind] {
    row(condition).map_or(&[], |(_, _, kinds)| kinds)
}

fn row(condition: Aspect) -> Option<&'static (Aspect, &'static [Keyword], &'static [FieldErrorKind])> {
    let written = match condition {
        Aspect::ExclusiveMinimum => Aspect::Minimum,
        Aspect::ExclusiveMaximum => Aspect::Maximum,
        other => other,
    };
    CONDITIONS.iter().find(|(aspect, ..)| *aspect == written)
}

/// Restores one condition of a node to its old state.
pub(crate) fn restore(node: &mut Shape, was: &Shape, condition: Aspect) {
    let words = row(condition).into_iter().flat_map(|(_, words, _)| *words);
    words.for_each(|&word| restore_keyword(node, was, word));
}

/// The node with the conditions of another one: what a value must be, except for nulls, defaults, required names and children.
pub(crate) fn constrained_by(node: &Shape, other: &Shape) -> Shape {
    let mut constrained = node.clone();
    condition_keywords().for_each(|word| restore_keyword(&mut constrained, other, word));
    constrained.rules.clone_from(&other.rules);
    constrained
}

fn restore_keyword(node: &mut Shape, was: &Shape, word: Keyword) {
    match word {
        Keyword::Type => node.ty = was.ty,
        Keyword::IntOrString => node.int_or_string = was.int_or_string,
        Keyword::Enum => node.enum_values.clone_from(&was.enum_values),
        Keyword::Minimum => node.bounds.minimum = was.bounds.minimum,
        Keyword::Maximum => node.bounds.maximum = was.bounds.maximum,
        Keyword::ExclusiveMinimum => node.bounds.exclusive_minimum = was.bounds.exclusive_minimum,
        Keyword::ExclusiveMaximum => node.bounds.exclusive_maximum = was.bounds.exclusive_maximum,
        Keyword::MultipleOf => node.bounds.multiple_of = was.bounds.multiple_of,
        Keyword::MinLength => node.length = node.length.with_min(was.length),
        Keyword::MaxLength => node.length = node.length.with_max(was.length),
        Keyword::Pattern => node.pattern.clone_from(&was.pattern),
        Keyword::Format => node.format.clone_from(&was.format),
        Keyword::MinItems => node.item_count = node.item_count.with_min(was.item_count),
        Keyword::MaxItems => node.item_count = node.item_count.with_max(was.item_count),
        Keyword::UniqueItems => node.unique_items = was.unique_items,
        Keyword::MinProperties => node.property_count = node.property_count.with_min(was.property_count),
        Keyword::MaxProperties => node.property_count = node.property_count.with_max(was.property_count),
        Keyword::AllOf => node.all_of.clone_from(&was.all_of),
        Keyword::AnyOf => node.any_of.clone_from(&was.any_of),
        Keyword::OneOf => node.one_of.clone_from(&was.one_of),
        Keyword::Not => node.not.clone_from(&was.not),
        _ => {}
    }
}
