//! The list of versions: names, storage, deprecation, a schema in each, what a schema may hold at its root beside a status subresource.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::go::strfmt::name;
use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Keyword, Schema};

use super::edition::{Edition, Layout};
use super::fact_collector::Ledger;
use super::identity::spec_key;
use super::server_checks::Demands;

const WARNING_MAX: usize = 256;

pub(super) fn check<'t>(ledger: &mut Ledger<'t>, layout: &Layout<'t>, demands: &Demands) {
    storage(ledger, layout);
    preserved_defaults(ledger, layout);
    let mut seen: Vec<&str> = Vec::with_capacity(layout.editions.len());
    for edition in &layout.editions {
        name(ledger, edition, &mut seen);
        deprecation(ledger, edition);
        schema(ledger, edition, demands);
        if let Some(schema) = &edition.schema
            && layout.status_enabled(edition)
        {
            status_root(ledger, layout, edition, schema);
        }
    }
}

fn storage<'t>(ledger: &mut Ledger<'t>, layout: &Layout<'t>) {
    let stored: Vec<_> = layout.editions.iter().filter(|edition| edition.storage).collect();
    if stored.len() == 1 {
        return;
    }
    let list = ledger.crd.spec.entry("versions").map_or_else(|| spec_key(ledger), |entry| entry.key);
    let (effect, node) = match stored.get(1) {
        Some(second) => (Effect::Excessive, second.key("storage")),
        None => (Effect::Missing, list),
    };
    let reason = "must have exactly one version marked as storage version";
    let fact = ledger.refuse((Subject::Crd, Aspect::Storage, effect), node, "spec.versions", reason);
    fact.words.insert(Word::Versions, stored.iter().map(|edition| edition.name).collect::<Vec<_>>().join(", "));
}

/// A CRD that still keeps all unknown fields can't have defaults, also where an update may leave the flag as it was.
fn preserved_defaults<'t>(ledger: &mut Ledger<'t>, layout: &Layout<'t>) {
    let Some(entry) = ledger.crd.spec.entry("preserveUnknownFields").filter(|entry| entry.value.as_bool() == Some(true)) else { return };
    let schemas = layout.editions.iter().filter_map(|edition| edition.schema.as_ref());
    if schemas.into_iter().any(|schema| super::anywhere(schema, &mut |schema| schema.default().is_some())) {
        let reason = "must be false in order to use defaults in the schema";
        let what = (Subject::Crd, Aspect::PreserveUnknownSpec, Effect::Forbidden);
        ledger.refuse(what, entry.key, "spec.preserveUnknownFields", reason).key = Some("defaults".into());
    }
}

fn name<'t>(ledger: &mut Ledger<'t>, edition: &Edition<'t>, seen: &mut Vec<&'t str>) {
    let mut refuse = |effect, field: String, reason: &str| {
        let fact = ledger.refuse((Subject::Version, Aspect::Name, effect), edition.anchor(), field, reason);
        fact.version = Some(edition.name.to_owned());
        fact.words.insert(Word::Name, edition.name.to_owned());
        if edition.name.is_empty() {
            fact.key = Some(edition.index.to_string());
        }
    };
    if let Some(fault) = name::letter_label(edition.name) {
        refuse(Effect::Invalid, format!("spec.versions[{}].name", edition.index), &fault);
    }
    if seen.contains(&edition.name) {
        refuse(Effect::Duplicate, "spec.versions".into(), "must contain unique version names");
    }
    seen.push(edition.name);
}

fn deprecation<'t>(ledger: &mut Ledger<'t>, edition: &Edition<'t>) {
    let Some(warning) = edition.node.get("deprecationWarning").and_then(Node::as_str) else { return };
    let unprintable = warning.char_indices().find(|&(_, c)| !is_print(c)).map(|(at, _)| at);
    let (effect, reason) = if !edition.deprecated {
        (Effect::Misplaced, "can only be set for deprecated versions".to_owned())
    } else if warning.len() > WARNING_MAX {
        (Effect::Invalid, "must be <= 256 characters long".to_owned())
    } else if warning.is_empty() {
        (Effect::Invalid, "must not be an empty string".to_owned())
    } else if let Some(at) = unprintable {
        (Effect::Invalid, format!("must only contain printable characters; another one was found at index {at}"))
    } else {
        return;
    };
    let field = format!("spec.versions[{}].deprecationWarning", edition.index);
    let fact = ledger.refuse((Subject::Version, Aspect::DeprecationWarning, effect), edition.key("deprecationWarning"), field, reason);
    fact.version = Some(edition.name.to_owned());
}

/// Letters, marks, numbers, punctuation, symbols and the plain space; no code point without a character.
fn is_print(c: char) -> bool {
    static SHOWN: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
        let class = regex_syntax::parse(r"[\p{L}\p{M}\p{N}\p{P}\p{S}]").map(Hir::into_kind);
        match class {
            Ok(HirKind::Class(Class::Unicode(class))) => class.iter().map(|range| (range.start(), range.end())).collect(),
            _ => Vec::new(),
        }
    });
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    let after = SHOWN.partition_point(|(start, _)| *start <= c);
    after.checked_sub(1).and_then(|at| SHOWN.get(at)).is_some_and(|(_, end)| c <= *end)
}

fn schema<'t>(ledger: &mut Ledger<'t>, edition: &Edition<'t>, demands: &Demands) {
    if edition.schema.is_some() {
        return;
    }
    let pruned = ledger.crd.spec.get("preserveUnknownFields").and_then(Node::as_bool) != Some(true);
    let reason = match (demands.schema, pruned && edition.served) {
        (true, _) => "schemas are required",
        (false, true) => "required, because otherwise all fields are pruned",
        (false, false) => return,
    };
    let field = format!("spec.versions[{}].schema.openAPIV3Schema", edition.index);
    let fact = ledger.refuse((Subject::Version, Aspect::Schema, Effect::Missing), edition.key("schema"), field, reason);
    fact.version = Some(edition.name.to_owned());
}

/// Beside a status subresource the root may only hold what survives when `status` is taken out of it.
fn status_root<'t>(ledger: &mut Ledger<'t>, layout: &Layout<'t>, edition: &Edition<'t>, schema: &Schema<'t>) {
    use Keyword as K;
    for (word, entry) in schema.words() {
        let allowed = match word {
            K::Description
            | K::Format
            | K::Title
            | K::Maximum
            | K::ExclusiveMaximum
            | K::Minimum
            | K::ExclusiveMinimum
            | K::MaxLength
            | K::MinLength
            | K::Pattern
            | K::MaxItems
            | K::MinItems
            | K::UniqueItems
            | K::MultipleOf
            | K::Required
            | K::Items
            | K::Properties
            | K::ExternalDocs
            | K::Example
            | K::PreserveUnknownFields
            | K::Validations => true,
            K::Type => matches!(entry.value.as_str(), Some("object" | "")),
            K::Id | K::SchemaUri => entry.value.as_str() == Some(""),
            K::Nullable | K::EmbeddedResource | K::IntOrString => entry.value.as_bool() == Some(false),
            _ => false,
        };
        if allowed {
            continue;
        }
        let (field, reason) = if word == K::Type {
            (
                format!("{}.type", layout.schema_field(edition)),
                "only \"object\" is allowed as the type at the root if the status subresource is enabled",
            )
        } else {
            (layout.schema_field(edition), "is not allowed at the root of the schema if the status subresource is enabled")
        };
        let fact = ledger.refuse((Subject::Version, Aspect::StatusRoot, Effect::Forbidden), entry.key, field, reason);
        fact.version = Some(edition.name.to_owned());
        fact.key = Some(word.name().to_owned());
        fact.words.insert(Word::Keyword, word.name().to_owned());
    }
}
