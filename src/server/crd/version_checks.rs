//! Checks `spec.versions`: names, storage, deprecation, a schema in each, and what a status subresource allows at a schema's root.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::go::strfmt::name;
use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Keyword, Schema};

use super::identity::spec_key;
use super::schema_walk::any_node;
use super::server_checks::ServerChecks;
use super::version_list::{VersionEntry, VersionList};

const WARNING_MAX: usize = 256;

pub(super) fn check<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>, checks: &ServerChecks) {
    storage(collector, versions);
    preserved_defaults(collector, versions);
    let mut seen: Vec<&str> = Vec::with_capacity(versions.entries.len());
    for version in &versions.entries {
        name(collector, version, &mut seen);
        deprecation(collector, version);
        schema(collector, version, checks);
        if let Some(schema) = &version.schema
            && versions.status_enabled(version)
        {
            status_root(collector, versions, version, schema);
        }
    }
}

fn storage<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>) {
    let stored: Vec<_> = versions.entries.iter().filter(|version| version.storage).collect();
    if stored.len() == 1 {
        return;
    }
    let list = collector.crd.spec.entry("versions").map_or_else(|| spec_key(collector), |entry| entry.key);
    let (effect, node) = match stored.get(1) {
        Some(second) => (Effect::Excessive, second.key("storage")),
        None => (Effect::Missing, list),
    };
    let reason = "must have exactly one version marked as storage version";
    let fact = collector.refuse((Subject::Crd, Aspect::Storage, effect), node, "spec.versions", reason);
    fact.words.insert(Word::Versions, stored.iter().map(|version| version.name).collect::<Vec<_>>().join(", "));
}

/// A CRD with `preserveUnknownFields: true` can't have defaults, even if an update may keep the flag.
fn preserved_defaults<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>) {
    let Some(entry) = collector.crd.spec.entry("preserveUnknownFields").filter(|entry| entry.value.as_bool() == Some(true)) else { return };
    let schemas = versions.entries.iter().filter_map(|version| version.schema.as_ref());
    if schemas.into_iter().any(|schema| any_node(schema, &mut |schema| schema.default().is_some())) {
        let reason = "must be false in order to use defaults in the schema";
        let what = (Subject::Crd, Aspect::PreserveUnknownSpec, Effect::Forbidden);
        collector.refuse(what, entry.key, "spec.preserveUnknownFields", reason).key = Some("defaults".into());
    }
}

fn name<'t>(collector: &mut FactCollector<'t>, version: &VersionEntry<'t>, seen: &mut Vec<&'t str>) {
    let mut refuse = |effect, field: String, reason: &str| {
        let fact = collector.refuse((Subject::Version, Aspect::Name, effect), version.anchor(), field, reason);
        fact.version = Some(version.name.to_owned());
        fact.words.insert(Word::Name, version.name.to_owned());
        if version.name.is_empty() {
            fact.key = Some(version.index.to_string());
        }
    };
    if let Some(fault) = name::letter_label(version.name) {
        refuse(Effect::Invalid, format!("spec.versions[{}].name", version.index), &fault);
    }
    if seen.contains(&version.name) {
        refuse(Effect::Duplicate, "spec.versions".into(), "must contain unique version names");
    }
    seen.push(version.name);
}

fn deprecation<'t>(collector: &mut FactCollector<'t>, version: &VersionEntry<'t>) {
    let Some(warning) = version.node.text("deprecationWarning") else { return };
    let unprintable = warning.char_indices().find(|&(_, c)| !is_print(c)).map(|(at, _)| at);
    let (effect, reason) = if !version.deprecated {
        (Effect::Misplaced, "can only be set for deprecated versions".to_owned())
    } else if warning.len() > WARNING_MAX {
        (Effect::Invalid, "must be <= 256 characters long".to_owned())
    } else if warning.is_empty() {
        (Effect::Invalid, "must not be an empty string".to_owned())
    } else if let Some(at) = unprintable {
        (Effect::Invalid, format!("must only contain printable UTF-8 characters; non-printable character found at index {at}"))
    } else {
        return;
    };
    let field = format!("spec.versions[{}].deprecationWarning", version.index);
    let fact = collector.refuse((Subject::Version, Aspect::DeprecationWarning, effect), version.key("deprecationWarning"), field, reason);
    fact.version = Some(version.name.to_owned());
}

/// Like Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
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

fn schema<'t>(collector: &mut FactCollector<'t>, version: &VersionEntry<'t>, checks: &ServerChecks) {
    if version.schema.is_some() {
        return;
    }
    let pruned = collector.crd.spec.get("preserveUnknownFields").and_then(Node::as_bool) != Some(true);
    let reason = match (checks.schema, pruned && version.served) {
        (true, _) => "schemas are required",
        (false, true) => "required, because otherwise all fields are pruned",
        (false, false) => return,
    };
    let field = format!("spec.versions[{}].schema.openAPIV3Schema", version.index);
    let fact = collector.refuse((Subject::Version, Aspect::Schema, Effect::Missing), version.key("schema"), field, reason);
    fact.version = Some(version.name.to_owned());
}

/// With a status subresource, the root may only have keywords that still hold when `status` is removed from the object.
fn status_root<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>, version: &VersionEntry<'t>, schema: &Schema<'t>) {
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
                format!("{}.type", versions.schema_field(version)),
                "only \"object\" is allowed as the type at the root if the status subresource is enabled",
            )
        } else {
            (versions.schema_field(version), "is not allowed at the root of the schema if the status subresource is enabled")
        };
        let fact = collector.refuse((Subject::Version, Aspect::StatusRoot, Effect::Forbidden), entry.key, field, reason);
        fact.version = Some(version.name.to_owned());
        fact.key = Some(word.name().to_owned());
        fact.words.insert(Word::Keyword, word.name().to_owned());
    }
}
