//! The conditions that one schema node puts on a value, and how to restore them one by one.
//!
//! A difference between two nodes is attributed to a keyword by restoring that keyword and comparing again.

use crate::model::fact::Aspect;
use crate::model::schema::{Keyword, Shape};

/// Each condition, with the keywords that express it.
pub(crate) const CONDITIONS: &[(Aspect, &[Keyword])] = &[
    (Aspect::Type, &[Keyword::Type, Keyword::IntOrString]),
    (Aspect::Enum, &[Keyword::Enum]),
    (Aspect::Minimum, &[Keyword::Minimum, Keyword::ExclusiveMinimum]),
    (Aspect::Maximum, &[Keyword::Maximum, Keyword::ExclusiveMaximum]),
    (Aspect::MultipleOf, &[Keyword::MultipleOf]),
    (Aspect::MinLength, &[Keyword::MinLength]),
    (Aspect::MaxLength, &[Keyword::MaxLength]),
    (Aspect::Pattern, &[Keyword::Pattern]),
    (Aspect::Format, &[Keyword::Format]),
    (Aspect::MinItems, &[Keyword::MinItems]),
    (Aspect::MaxItems, &[Keyword::MaxItems]),
    (Aspect::UniqueItems, &[Keyword::UniqueItems]),
    (Aspect::MinProperties, &[Keyword::MinProperties]),
    (Aspect::MaxProperties, &[Keyword::MaxProperties]),
    (Aspect::AllOf, &[Keyword::AllOf]),
    (Aspect::AnyOf, &[Keyword::AnyOf]),
    (Aspect::OneOf, &[Keyword::OneOf]),
    (Aspect::Not, &[Keyword::Not]),
];

/// Keywords of [`CONDITIONS`], all of them.
pub(crate) fn condition_keywords() -> impl Iterator<Item = Keyword> {
    CONDITIONS.iter().flat_map(|(_, words)| words.iter().copied())
}

/// Restores one condition of a node to its old state.
pub(crate) fn restore(node: &mut Shape, was: &Shape, condition: Aspect) {
    let written = match condition {
        Aspect::ExclusiveMinimum => Aspect::Minimum,
        Aspect::ExclusiveMaximum => Aspect::Maximum,
        other => other,
    };
    let words = CONDITIONS.iter().filter(|(aspect, _)| *aspect == written).flat_map(|(_, words)| *words);
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
        Keyword::MinLength => node.length.min = was.length.min,
        Keyword::MaxLength => node.length.max = was.length.max,
        Keyword::Pattern => node.pattern.clone_from(&was.pattern),
        Keyword::Format => node.format.clone_from(&was.format),
        Keyword::MinItems => node.item_count.min = was.item_count.min,
        Keyword::MaxItems => node.item_count.max = was.item_count.max,
        Keyword::UniqueItems => node.unique_items = was.unique_items,
        Keyword::MinProperties => node.property_count.min = was.property_count.min,
        Keyword::MaxProperties => node.property_count.max = was.property_count.max,
        Keyword::AllOf => node.all_of.clone_from(&was.all_of),
        Keyword::AnyOf => node.any_of.clone_from(&was.any_of),
        Keyword::OneOf => node.one_of.clone_from(&was.one_of),
        Keyword::Not => node.not.clone_from(&was.not),
        _ => {}
    }
}
