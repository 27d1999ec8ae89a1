//! Updates of a CRD: what the server refuses, and which checks it skips because the old CRD already failed them.

use std::collections::{BTreeSet, HashSet};

use crate::cel::rule_check::StoredExpressions;
use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::kubernetes::Feature;
use crate::model::schema::{Keyword, Schema, Shape};
use crate::model::{Api, Crd, FactCollector, Version};
use crate::server::object::{self, FieldErrorKind};

use super::conversion::{holds_certificate, knows_review};
use super::document_types;
use super::identity::{Approval, spec_key};
use super::same_value::{same_schema, same_value};
use super::schema_walk::{CrdSchemaWalk, any_node};
use super::server_checks::ServerChecks;
use super::version_list::VersionList;

/// Checks that the server makes only on update.
pub(super) fn check(old: &Crd<'_>, new: &Crd<'_>) -> Vec<Fact> {
    let mut collector = FactCollector::new(new);
    immutable(&mut collector, old);
    stored_versions(&mut collector, old);
    collector.into_facts()
}

/// Whether the old CRD is established. A dump of an installed CRD says so; one from a file is assumed to be installed.
fn established(old: &Crd<'_>) -> bool {
    let conditions = old.node.get("status").and_then(|status| status.get("conditions"));
    conditions.is_none_or(|list| {
        list.items().any(|item| {
            let text = |key| item.text(key);
            text("type") == Some("Established") && text("status") == Some("True")
        })
    })
}

fn immutable(collector: &mut FactCollector<'_>, old: &Crd<'_>) {
    let established = established(old);
    let scope = |crd: &Crd<'_>| crd.scope.map_or(if crd.api == Api::V1Beta1 { "Namespaced" } else { "" }, |scope| scope.value).to_owned();
    let new = collector.crd.clone();
    let text = |text: Option<crate::model::StringNode<'_>>| text.map_or("", |text| text.value).to_owned();
    let fields = [
        (Aspect::Group, "spec.group", text(old.group), text(new.group), old.group, new.group, true),
        (Aspect::Plural, "spec.names.plural", text(old.names.plural), text(new.names.plural), old.names.plural, new.names.plural, true),
        (Aspect::Scope, "spec.scope", scope(old), scope(&new), old.scope, new.scope, established),
        (Aspect::Kind, "spec.names.kind", text(old.names.kind), text(new.names.kind), old.names.kind, new.names.kind, established),
    ];
    for (aspect, field, before, after, old_text, new_text, fixed) in fields {
        if !fixed || before == after {
            continue;
        }
        let node = new_text.map_or_else(|| spec_key(collector), |text| text.node);
        let fact = collector.refuse((Subject::Crd, aspect, Effect::Immutable), node, field, "field is immutable");
        fact.before = old_text.map(|text| old.place(text.node));
        fact.words.insert(Word::Old, before);
        fact.words.insert(Word::New, after);
    }
}

/// Checks that versions that objects may be stored at aren't removed.
fn stored_versions(collector: &mut FactCollector<'_>, old: &Crd<'_>) {
    let listed: Vec<(&str, Node<'_>)> = if old.stored_versions.is_empty() {
        old.storage_version().map(|version| (version.name, version.name_node)).into_iter().collect()
    } else {
        old.stored_versions.iter().map(|text| (text.value, text.node)).collect()
    };
    let from_status = !old.stored_versions.is_empty();
    let versions = VersionList::of(&collector.crd).entries;
    let anchor = collector.crd.spec.entry("versions").map_or_else(|| spec_key(collector), |entry| entry.key);
    for (index, (name, node)) in listed.into_iter().enumerate() {
        if versions.iter().any(|version| version.name == name) {
            continue;
        }
        let reason = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        let what = (Subject::Version, Aspect::StoredVersions, Effect::Missing);
        let fact = collector.refuse(what, anchor, format!("status.storedVersions[{index}]"), reason);
        fact.version = Some(name.to_owned());
        fact.before = Some(old.place(node));
        fact.words.insert(Word::Name, name.to_owned());
        fact.words.insert(Word::Source, if from_status { "status" } else { "storage" }.to_owned());
    }
}

impl ServerChecks {
    /// The checks that the server makes when `new` replaces `old`.
    pub fn on_update(old: &Crd<'_>, new: &Crd<'_>) -> Self {
        let schemas = || old.versions.iter().filter_map(|version| version.schema.as_ref());
        let reviews = old.conversion.node.and_then(|node| node.get("webhook")).and_then(|node| node.get("conversionReviewVersions"));
        let names = reviews.into_iter().flat_map(Node::items).filter_map(Node::as_str);
        ServerChecks {
            schema: old.versions.iter().all(|version| version.schema.is_some()),
            valid_type: !schemas().any(has_invalid_type),
            structural: !schemas().any(|schema| is_unstructured(old, schema)),
            pruned_defaults: !schemas().any(|schema| has_unpruned_default(schema) && !is_unstructured(old, schema)),
            atomic_sets: !schemas().any(has_loose_set),
            map_keys: !schemas().any(has_loose_keys),
            review_version: reviews.is_none_or(Node::is_empty) || knows_review(names),
            ca_bundle: ca_bundle(new).is_some()
                && established(old)
                && ca_bundle(old).is_none_or(holds_certificate)
                && new.kubernetes.has(Feature::CheckedCaBundle),
            no_preserve: !old.preserves_unknown(),
            approval: Some(Approval::of(old)),
            stored: stored_expressions(old),
            unchanged: unchanged(old, new, |old, new| {
                old.node.get("schema").is_some() == new.node.get("schema").is_some()
                    && same_schema(old.schema.as_ref(), new.schema.as_ref())
            }),
            unchanged_selectable: unchanged(old, new, |old, new| {
                same_value(&document_types::SELECTABLE, old.selectable_fields, new.selectable_fields, false)
            }),
        }
    }
}

/// The expressions of all versions.
fn stored_expressions(old: &Crd<'_>) -> StoredExpressions {
    let mut stored = StoredExpressions::default();
    for schema in old.versions.iter().filter_map(|version| version.schema.as_ref()) {
        any_node(schema, &mut |schema| {
            for rule in schema.cel_rules() {
                stored.rules.insert(rule.rule().to_owned());
                stored.messages.extend(rule.text("messageExpression").map(str::to_owned));
            }
            false
        });
    }
    stored
}

pub(super) fn ca_bundle<'t>(crd: &Crd<'t>) -> Option<Node<'t>> {
    let client = crd.conversion.node?.get("webhook")?.get("clientConfig")?;
    client.get("caBundle").filter(|bundle| bundle.as_str() != Some(""))
}

fn unchanged(old: &Crd<'_>, new: &Crd<'_>, same: impl Fn(&Version<'_>, &Version<'_>) -> bool) -> BTreeSet<String> {
    let both = new.versions.iter().filter_map(|version| Some((old.version(version.name)?, version)));
    both.filter(|(old, new)| same(old, new)).map(|(_, new)| new.name.to_owned()).collect()
}

fn has_invalid_type(schema: &Schema<'_>) -> bool {
    let known = |ty: &str| matches!(ty, "array" | "boolean" | "integer" | "number" | "object" | "string");
    any_node(schema, &mut |schema| schema.ty().is_some_and(|ty| !known(ty)))
}

fn has_loose_set(schema: &Schema<'_>) -> bool {
    any_node(schema, &mut |schema| {
        let Some(items) = schema.items().filter(|_| schema.text(Keyword::ListType) == Some("set")) else { return false };
        match items.ty() {
            Some("array") => items.text(Keyword::ListType).is_some_and(|kind| kind != "atomic"),
            Some("object") => items.text(Keyword::MapType) != Some("atomic"),
            _ => false,
        }
    })
}

fn has_loose_keys(schema: &Schema<'_>) -> bool {
    any_node(schema, &mut |schema| {
        let kind = schema.text(Keyword::ListType);
        let Some(items) = schema.items().filter(|_| matches!(kind, Some("set" | "map"))) else { return false };
        items.flag(Keyword::Nullable)
            || kind == Some("map")
                && schema
                    .names(Keyword::ListMapKeys)
                    .filter_map(|name| Some((name, items.property(name)?.1)))
                    .any(|(name, key)| key.flag(Keyword::Nullable) || !items.is_required(name) && key.default().is_none())
    })
}

/// Whether a default has fields that pruning would remove, including below `additionalProperties`. Only for structural schemas.
fn has_unpruned_default(schema: &Schema<'_>) -> bool {
    any_node(schema, &mut |schema| {
        schema.default().is_some_and(|default| {
            let shape = Shape::reached(schema, default);
            object::default_of_schema(&shape).iter().any(|error| error.kind == FieldErrorKind::Unknown)
        })
    })
}

fn is_unstructured<'t>(crd: &Crd<'t>, schema: &Schema<'t>) -> bool {
    let (mut collector, checks) = (FactCollector::new(crd), ServerChecks::on_create());
    let mut walk = CrdSchemaWalk::new(&mut collector, &checks, "", String::new(), true);
    walk.root(schema, schema.node());
    walk.unsound
}

/// Marks the refusals on create that don't apply to the update, and adds those that only apply to the update.
pub(super) fn tolerate(on_create: Vec<Fact>, on_update: &[Fact]) -> Vec<Fact> {
    let refused: HashSet<_> = on_update.iter().filter(|fact| fact.is_refusal()).map(Fact::identity).collect();
    let known: HashSet<_> = on_create.iter().map(Fact::identity).collect();
    let more: Vec<Fact> = on_update.iter().filter(|fact| fact.is_refusal() && !known.contains(&fact.identity())).cloned().collect();
    let mut facts = on_create.clone();
    for fact in &mut facts {
        fact.pre_existing = fact.is_refusal() && !refused.contains(&fact.identity());
    }
    facts.extend(more);
    facts
}
