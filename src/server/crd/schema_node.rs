//! Checks that apply to every schema: types, forbidden keywords, lists and maps, the fields of CEL rules.

use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Word};
use crate::model::schema::{Keyword, Schema, ValidationRule};

use super::json_path;
use super::list_types;
use super::schema_position::SchemaPosition;
use super::schema_walk::{CrdSchemaWalk, NoDefault, NodeContext};

const REASONS: &[&str] = &["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Returns whether the node passes.
pub(super) fn check<'t>(
    walk: &mut CrdSchemaWalk<'_, 't>,
    schema: &Schema<'t>,
    position: &SchemaPosition<'_, 't>,
    context: NodeContext<'_, 't>,
) -> bool {
    let before = walk.collector.count();
    types(walk, schema, position);
    keywords(walk, schema, position);
    default(walk, schema, position, context);
    if context.meta
        && let Some(entry) = schema.entry(Keyword::EmbeddedResource).filter(|entry| entry.value.as_bool() == Some(true))
    {
        let below = format!(".{}", Keyword::EmbeddedResource.name());
        walk.refuse((Aspect::EmbeddedResource, Effect::Misplaced), entry.key, position, &below, "must not be used inside of resource meta");
    }
    if schema.property_count() > 0
        && let Some(entry) = schema.entry(Keyword::AdditionalProperties)
        && entry.value.as_bool() != Some(true)
    {
        let reason = "additionalProperties and properties are mutual exclusive";
        walk.refuse((Aspect::AdditionalProperties, Effect::Mixed), entry.key, position, ".additionalProperties", reason);
    }
    if let Some(entry) = schema.entry(Keyword::PreserveUnknownFields).filter(|entry| entry.value.as_bool() == Some(false)) {
        let below = format!(".{}", Keyword::PreserveUnknownFields.name());
        walk.refuse((Aspect::PreserveUnknown, Effect::Invalid), entry.value, position, &below, "must be true or undefined");
    }
    list_types::check(walk, schema, position);
    for (index, rule) in schema.cel_rules().enumerate() {
        rule_form(walk, schema, position, index, &rule);
    }
    walk.collector.count() == before
}

fn types<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let (Some(ty), Some(entry)) = (schema.ty(), schema.entry(Keyword::Type)) else { return };
    let known = matches!(ty, "array" | "boolean" | "integer" | "number" | "object" | "string");
    if known || !walk.checks.valid_type && ty != "null" {
        return;
    }
    let reason = if ty == "null" {
        "type cannot be set to null, use nullable as an alternative"
    } else {
        "supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\""
    };
    let fact = walk.refuse((Aspect::Type, Effect::Unknown), entry.value, position, ".type", reason);
    fact.words.insert(Word::Name, ty.to_owned());
}

fn keywords<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    use Keyword as K;
    for word in [K::Id, K::SchemaUri, K::Ref, K::AdditionalItems, K::PatternProperties, K::Definitions, K::Dependencies, K::Items] {
        let Some(entry) = schema.entry(word) else { continue };
        let reason = match word {
            K::Id | K::SchemaUri if entry.value.as_str() == Some("") => continue,
            // Only the conversion to a structural schema fails.
            K::SchemaUri if !walk.structural => continue,
            K::PatternProperties | K::Definitions if entry.value.is_empty() => continue,
            K::Items if !entry.value.is_seq() || entry.value.is_empty() => continue,
            K::Items => "items must be a schema object and not an array".to_owned(),
            word => format!("{} is not supported", word.name()),
        };
        let base = walk.base.clone();
        let fact = walk.refuse((Aspect::Keyword, Effect::Forbidden), entry.key, position, &format!(".{}", word.name()), reason);
        if word == K::SchemaUri {
            // The server reports this one for the whole schema.
            fact.field = Some(base);
        }
        fact.key = Some(word.name().to_owned());
        fact.words.insert(Word::Keyword, word.name().to_owned());
        walk.unsound = true;
    }
    if let Some(entry) = schema.entry(K::UniqueItems).filter(|entry| entry.value.as_bool() == Some(true)) {
        let reason = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        walk.refuse((Aspect::UniqueItems, Effect::Forbidden), entry.key, position, ".uniqueItems", reason);
    }
}

fn default<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, context: NodeContext<'_, 't>) {
    let (Some(place), Some(entry)) = (context.no_default, schema.entry(Keyword::Default)) else { return };
    let reason = match place {
        NoDefault::TopLevel => "must not be set in top-level metadata, apiVersion or kind",
        NoDefault::MetadataValues => "must not be set inside additionalProperties applying to object metadata",
    };
    walk.refuse((Aspect::Default, Effect::Forbidden), entry.key, position, ".default", reason);
}

/// Checks the fields of a rule without compiling it.
fn rule_form<'t>(
    walk: &mut CrdSchemaWalk<'_, 't>,
    schema: &Schema<'t>,
    position: &SchemaPosition<'_, 't>,
    index: usize,
    rule: &ValidationRule<'t>,
) {
    let base = format!(".{}[{index}]", Keyword::Validations.name());
    let anchor = rule.node.entry_at(0).map_or(rule.node, |entry| entry.key);
    let at = |key: &str| rule.node.get(key).unwrap_or(anchor);
    let text = rule.rule();
    let message = rule.text("message").unwrap_or_default();
    let mut refuse = |what: (Aspect, Effect), key: &str, node: Node<'t>, reason: &str| {
        let fact = walk.refuse(what, node, position, &format!("{base}.{key}"), reason);
        fact.key = Some(text.trim().to_owned());
        fact.words.insert(Word::Rule, text.trim().to_owned());
    };
    if text.trim().is_empty() {
        refuse((Aspect::CelRule, Effect::Missing), "rule", at("rule"), "rule is not specified");
    } else if !message.is_empty() && message.trim().is_empty() {
        refuse((Aspect::CelMessage, Effect::Invalid), "message", at("message"), "must be non-empty if specified");
    } else if has_line_break(message.trim()) {
        refuse((Aspect::CelMessage, Effect::Invalid), "message", at("message"), "must not contain line breaks");
    } else if has_line_break(text.trim()) && message.trim().is_empty() {
        let reason = "message must be specified if rule contains line breaks";
        refuse((Aspect::CelMessage, Effect::Missing), "message", at("rule"), reason);
    }
    if rule.text("messageExpression").is_some_and(|text| !text.is_empty() && text.trim().is_empty()) {
        let what = (Aspect::CelMessageExpression, Effect::Missing);
        refuse(what, "messageExpression", at("messageExpression"), "must be non-empty if specified");
    }
    if rule.text("reason").is_some_and(|reason| !REASONS.contains(&reason)) {
        let reason = format!("supported values: {}", REASONS.join(", "));
        refuse((Aspect::CelReason, Effect::Unknown), "reason", at("reason"), &reason);
    }
    if let Some(path) = rule.text("fieldPath").filter(|path| !path.is_empty()) {
        let reason = if path.trim().is_empty() {
            "must be non-empty if specified".to_owned()
        } else if has_line_break(path) {
            "must not contain line breaks".to_owned()
        } else if let Err(fault) = json_path::resolve(path, schema, true) {
            format!("must be a valid path: {fault}")
        } else {
            return;
        };
        refuse((Aspect::CelFieldPath, Effect::Invalid), "fieldPath", at("fieldPath"), &reason);
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
