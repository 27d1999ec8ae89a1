//! Finds schemas that the server accepts but that cause trouble later: they reject every value, drop data silently, or have no
//! effect.

use foldhash::{HashSet, HashSetExt as _};

use crate::go::regexp::Pattern;
use crate::input::yaml::{Data, Node};
use crate::model::fact::{Aspect, Effect, Word};
use crate::model::number::{Broken, write_as_sent};
use crate::model::schema::shape::Type;
use crate::model::schema::{Keyword, Schema, Shape, is_meta};

use crate::model::kubernetes::Feature;
use crate::server::crd::{self, SchemaLevel, SchemaPosition, fits};
use crate::server::key_fate::Pruning;
use crate::server::object::{self, number_domains};

use super::walk::{LintContext, LintWalk};

/// Checks a node outside `allOf`, `anyOf`, `oneOf` and `not`.
pub(super) fn node<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: LintContext<'_, 't>) {
    match schema.ty() {
        Some("object") => object(walk, schema, position, context),
        Some("array") => list(walk, schema, position),
        Some("string") => {
            if let Some(entry) = schema.entry(Keyword::Pattern)
                && let Some(text) = entry.value.as_str().filter(|text| Pattern::new(text).is_ok_and(|pattern| pattern.is_unanchored()))
            {
                let fact = walk.note((Aspect::Pattern, Effect::Unsafe), entry.value, position);
                fact.words.insert(Word::Pattern, text.to_owned());
            }
        }
        _ => {}
    }
    values(walk, schema, position);
    impossible(walk, schema, position);
    ineffective(walk, schema, position);
    format(walk, schema, position);
    default(walk, schema, position, context);
    rules(walk, schema, position);
}

fn object<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: LintContext<'_, 't>) {
    let resource = context.level == SchemaLevel::Root || schema.flag(Keyword::EmbeddedResource);
    if !Pruning::of(schema.clone()).keeps_undeclared_keys() {
        for node in schema.word(Keyword::Required).into_iter().flat_map(Node::items) {
            let Some(name) = node.as_str() else { continue };
            let implied = resource && is_meta(name);
            if !implied && schema.property(name).is_none() && !context.meta {
                let fact = walk.note((Aspect::Required, Effect::Unresolved), node, position);
                fact.key = Some(name.to_owned());
                fact.words.insert(Word::Name, name.to_owned());
            }
        }
        if schema.property_count() == 0 && !context.meta {
            walk.note((Aspect::Properties, Effect::Missing), schema.entry(Keyword::Type).map_or(position.key, |entry| entry.key), position);
        }
    }
    if let Some(entry) = schema.entry(Keyword::AdditionalProperties).filter(|entry| entry.value.as_bool() == Some(true)) {
        walk.note((Aspect::AdditionalProperties, Effect::Lossy), entry.key, position);
    }
}

/// Reports a list of objects that accepts `[{}]`.
fn list<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let (Some(items), Some(entry)) = (schema.items(), schema.entry(Keyword::Items)) else { return };
    let wants_something = items.count(Keyword::MinProperties).unwrap_or(0) > 0
        || [Keyword::Required, Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::Validations]
            .iter()
            .any(|&word| items.word(word).is_some_and(|node| !node.is_empty()));
    let plain = items.ty() == Some("object") && items.property_count() > 1 && !items.preserves_unknown();
    let map_list = schema.text(Keyword::ListType) == Some("map");
    if plain && !wants_something && !map_list && position.head() != Some("status") {
        walk.note((Aspect::Items, Effect::Unsafe), entry.key, position);
    }
    if let Some(ty) = crd::set_items_warned_about(schema, &items) {
        let fact = walk.note((Aspect::ListType, Effect::Unsafe), entry.key, position);
        fact.words.insert(Word::Type, ty.to_owned());
    }
}

fn values<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let Some(entry) = schema.entry(Keyword::Enum).filter(|entry| !entry.value.is_empty()) else { return };
    if schema.flag(Keyword::Nullable) {
        let at = schema.entry(Keyword::Nullable).map_or(entry.key, |entry| entry.key);
        walk.note((Aspect::Nullable, Effect::Dead), at, position);
    }
    let ty = schema.ty().filter(|ty| Type::parse(ty).is_some() && !schema.is_int_or_string());
    // Most enums consist of strings, which are compared as they are.
    let (mut texts, mut others): (HashSet<&str>, HashSet<String>) = Default::default();
    for value in entry.value.items() {
        if let Some(ty) = ty
            && !fits(ty, value.data())
            && !value.is_null()
        {
            let fact = walk.note((Aspect::Enum, Effect::Mismatched), value, position);
            fact.key = Some(value.source().to_owned());
            fact.words.insert(Word::Value, value.source().to_owned());
            fact.words.insert(Word::Wanted, ty.to_owned());
        }
        let is_new = match value.data() {
            Data::Str(text) => texts.insert(text),
            _ => {
                let mut data = value.to_json();
                write_as_sent(&mut data);
                others.insert(data.to_string())
            }
        };
        if !is_new {
            let fact = walk.note((Aspect::Enum, Effect::Duplicate), value, position);
            fact.key = Some(value.source().to_owned());
            fact.words.insert(Word::Value, value.source().to_owned());
        }
    }
}

/// Reports bounds that no value can satisfy.
fn impossible<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    use Keyword as K;
    let mut dead = |word: K, why: String| {
        let at = schema.entry(word).map_or(position.key, |entry| entry.key);
        let fact = walk.note((Aspect::Accepted, Effect::Dead), at, position);
        fact.key = Some(word.name().to_owned());
        fact.words.insert(Word::Keyword, word.name().to_owned());
        fact.words.insert(Word::Reason, why);
    };
    let pairs =
        [(K::MinLength, K::MaxLength, "string"), (K::MinItems, K::MaxItems, "array"), (K::MinProperties, K::MaxProperties, "object")];
    for (low, high, ty) in pairs {
        if let (Some(min), Some(max)) = (schema.count(low), schema.count(high))
            && min > max
            && schema.ty() == Some(ty)
        {
            dead(low, format!("{} {min} is above {} {max}", low.name(), high.name()));
        }
    }
    let ty = schema.ty();
    if !matches!(ty, Some("integer" | "number")) {
        return;
    }
    let (min, max) = (schema.number(K::Minimum), schema.number(K::Maximum));
    if let (Some(min), Some(max)) = (min, max) {
        let open = schema.flag(K::ExclusiveMinimum) || schema.flag(K::ExclusiveMaximum);
        if min > max || min == max && open {
            dead(K::Minimum, format!("no number lies between minimum {min} and maximum {max}"));
        }
    }
    for unusable in number_domains(&Shape::local(schema)).flat_map(|domain| domain.unusable().collect::<Vec<_>>()) {
        let word = match unusable {
            Broken::MultipleOf => K::MultipleOf,
            Broken::Minimum => K::Minimum,
            Broken::Maximum => K::Maximum,
            Broken::Factor | Broken::Range => continue,
        };
        let why = match schema.number(word) {
            Some(number) if number.fract() != 0.0 && ty == Some("integer") => {
                format!("the server rejects every integer if {} is a fraction", word.name())
            }
            _ => {
                let (format, server) = match schema.text(K::Format) {
                    Some(format @ ("int32" | "float")) => {
                        (format, format!("Kubernetes {} and later reject", Feature::NumberFormats.row().since))
                    }
                    _ => ("int64", "the server rejects".to_owned()),
                };
                format!("{} is out of the range of {format}, and because of that {server} every number", word.name())
            }
        };
        dead(word, why);
    }
}

/// Reports keywords that have no effect on values of the node's type.
fn ineffective<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    use Keyword as K;
    let Some(ty) = schema.ty().filter(|_| !schema.is_int_or_string()) else { return };
    for (word, entry) in schema.words() {
        let for_type = match word {
            K::MinLength | K::MaxLength | K::Pattern => "string",
            K::Minimum | K::Maximum | K::ExclusiveMinimum | K::ExclusiveMaximum | K::MultipleOf => "number",
            K::MinItems | K::MaxItems | K::Items | K::ListMapKeys => "array",
            K::MinProperties | K::MaxProperties | K::Properties | K::Required | K::AdditionalProperties => "object",
            _ => continue,
        };
        let says_nothing = match entry.value.data() {
            Data::Bool(flag) => !flag,
            Data::Str(text) => text.is_empty(),
            Data::Seq | Data::Map => entry.value.is_empty(),
            _ => false,
        };
        if for_type == ty || for_type == "number" && ty == "integer" || says_nothing {
            continue;
        }
        let fact = walk.note((Aspect::Keyword, Effect::Dead), entry.key, position);
        fact.key = Some(word.name().to_owned());
        fact.words.insert(Word::Keyword, word.name().to_owned());
        fact.words.insert(Word::Type, ty.to_owned());
    }
}

/// Reports a format that servers don't know for this type: they ignore it, and newer ones warn.
fn format<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let (Some(text), Some(entry)) = (schema.text(Keyword::Format).filter(|text| !text.is_empty()), schema.entry(Keyword::Format)) else {
        return;
    };
    let Some(warns) = crd::unrecognised_format(schema, text) else { return };
    let since = warns.row().since;
    let effect = match object::enforced_format(&Shape::local(schema)) {
        true => format!("it isn't a format of this type, and Kubernetes {since} and later answer with a warning"),
        false => format!("the server doesn't check it, so it has no effect, and Kubernetes {since} and later answer with a warning"),
    };
    let fact = walk.note((Aspect::Format, Effect::Unknown), entry.value, position);
    fact.words.insert(Word::Name, text.to_owned());
    fact.words.insert(Word::Reason, effect);
}

fn default<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: LintContext<'_, 't>) {
    if let Some(entry) = schema.entry(Keyword::Default) {
        // An item or a map value is never absent, so the default only replaces an explicit null.
        let where_ = match (context.level, context.parent.map(|parent| parent.ty())) {
            (SchemaLevel::Root, _) => Some("the root of an object is never absent"),
            (SchemaLevel::Item, _) => Some("an item of a list is never absent"),
            (SchemaLevel::Field, Some(Some("object"))) if position.name().is_none() => Some("a value of a map is never absent"),
            _ => None,
        };
        if let Some(reason) = where_ {
            walk.note((Aspect::Default, Effect::Dead), entry.key, position).words.insert(Word::Reason, reason.to_owned());
        }
    } else if let (Some(name), Some(parent)) = (position.name(), context.parent) {
        // Every child has a default, so the author expects all of them to apply, but without a default of `{}` here none does.
        let filled = schema.property_count() > 1 && schema.properties().all(|(_, child)| child.default().is_some());
        let top = position.parent.is_none_or(|parent| parent.parent.is_none());
        if schema.ty() == Some("object") && filled && !top && !parent.is_required(name) && !context.meta {
            walk.note((Aspect::Default, Effect::Missing), position.key, position).words.insert(Word::Name, name.to_owned());
        }
    }
}

fn rules<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for rule in schema.cel_rules() {
        let text = rule.rule().trim();
        if !seen.insert(text) && !text.is_empty() {
            let fact = walk.note((Aspect::CelRule, Effect::Duplicate), rule.node.get("rule").unwrap_or(rule.node), position);
            fact.key = Some(text.to_owned());
            fact.words.insert(Word::Rule, text.to_owned());
        }
    }
}
