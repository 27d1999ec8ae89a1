//! Checks structural schemas: types and items, what `allOf`, `anyOf`, `oneOf` and `not` must not have, resources and their
//! metadata.

use crate::input::yaml::Node;
use crate::model::Crd;
use crate::model::fact::{Aspect, Effect, Word};
use crate::model::kubernetes::Feature;
use crate::model::schema::{Keyword, Schema};

use super::pattern;
use super::schema_position::{SchemaPosition, SchemaStep};
use super::schema_walk::{CrdSchemaWalk, SchemaLevel, any_node};
use super::server_checks::ServerChecks;
use super::version_list::VersionList;

/// Checks a node outside `allOf`, `anyOf`, `oneOf` and `not`. Returns whether it failed.
pub(super) fn plain_node<'t>(
    walk: &mut CrdSchemaWalk<'_, 't>,
    schema: &Schema<'t>,
    position: &SchemaPosition<'_, 't>,
    level: SchemaLevel,
) -> bool {
    let before = walk.collector.count();
    let ty = schema.ty();
    let root = level == SchemaLevel::Root;
    let embedded = schema.flag(Keyword::EmbeddedResource);
    let type_at = schema.entry(Keyword::Type).map_or(position.key, |entry| entry.value);
    if unsupported(schema) {
        // The server can't convert such a node, and only reports the keyword.
        return false;
    }
    if ty == Some("array") && !schema.word(Keyword::Items).is_some_and(|items| items.is_map()) {
        let at = schema.entry(Keyword::Items).map_or(position.key, |entry| entry.key);
        walk.refuse((Aspect::Items, Effect::Missing), at, position, ".items", "must be specified");
    }
    if let Some(entry) = schema.entry(Keyword::AdditionalProperties) {
        if root {
            walk.refuse(
                (Aspect::AdditionalProperties, Effect::Misplaced),
                entry.key,
                position,
                ".additionalProperties",
                "must not be used at the root",
            );
        }
        if embedded {
            let reason = "must not be used if x-kubernetes-embedded-resource is set";
            walk.refuse((Aspect::EmbeddedResource, Effect::Mixed), entry.key, position, ".additionalProperties", reason);
        }
    }
    int_or_string(walk, schema, position);
    pattern::check(walk, schema, position);

    if embedded && ty != Some("object") {
        let reason = "must be object if x-kubernetes-embedded-resource is true";
        walk.refuse((Aspect::EmbeddedResource, Effect::Mismatched), type_at, position, ".type", reason);
    } else if ty.is_none() && !schema.is_int_or_string() && !schema.flag(Keyword::PreserveUnknownFields) {
        let reason = match level {
            SchemaLevel::Root => "must not be empty at the root",
            SchemaLevel::Item => "must not be empty for specified array items",
            SchemaLevel::Field => "must not be empty for specified object fields",
        };
        walk.refuse((Aspect::Type, Effect::Missing), type_at, position, ".type", reason);
    }
    if root && ty.is_some_and(|ty| ty != "object") {
        let fact = walk.refuse((Aspect::Type, Effect::Mismatched), type_at, position, ".type", "must be object at the root");
        fact.words.insert(Word::Wanted, "object".into());
    }
    if root || embedded {
        resource(walk, schema, position, root);
    }
    if embedded && !schema.flag(Keyword::PreserveUnknownFields) && schema.property_count() == 0 {
        let at = schema.entry(Keyword::EmbeddedResource).map_or(position.key, |entry| entry.key);
        let reason = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        walk.refuse((Aspect::EmbeddedResource, Effect::Missing), at, position, ".properties", reason);
    }
    walk.collector.count() > before
}

/// Whether the node has a keyword that the server can't convert to a structural schema.
pub(super) fn unsupported(schema: &Schema<'_>) -> bool {
    let filled = |word| schema.word(word).is_some_and(|node| !node.is_empty());
    let text = |word| schema.text(word).is_some_and(|text| !text.is_empty());
    text(Keyword::Id)
        || text(Keyword::SchemaUri)
        || text(Keyword::Ref)
        || filled(Keyword::PatternProperties)
        || filled(Keyword::Dependencies)
        || filled(Keyword::Definitions)
        || schema.word(Keyword::AdditionalItems).is_some()
        || schema.word(Keyword::Items).is_some_and(|items| items.is_seq() && !items.is_empty())
}

fn int_or_string<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    if !schema.is_int_or_string() {
        return;
    }
    for word in [Keyword::PreserveUnknownFields, Keyword::EmbeddedResource] {
        if let Some(entry) = schema.entry(word).filter(|entry| entry.value.as_bool() == Some(true)) {
            let below = format!(".{}", word.name());
            let reason = "must be false if x-kubernetes-int-or-string is true";
            let fact = walk.refuse((Aspect::IntOrString, Effect::Mixed), entry.key, position, &below, reason);
            fact.key = Some(word.name().to_owned());
            fact.words.insert(Word::Keyword, word.name().to_owned());
        }
    }
}

/// Checks `kind`, `apiVersion` and `metadata` of a resource: the root, or an embedded one.
fn resource<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, root: bool) {
    for (name, wanted) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let Some((entry, child)) = schema.property(name) else { continue };
        let inner = position.child(SchemaStep::Property(entry.name()), entry.key);
        if child.ty() != Some(wanted) {
            let at = child.entry(Keyword::Type).map_or(entry.key, |entry| entry.value);
            let fact = walk.refuse((Aspect::Metadata, Effect::Mismatched), at, &inner, ".type", format!("must be {wanted}"));
            fact.words.insert(Word::Wanted, wanted.to_owned());
        }
        if name == "metadata" && root {
            for word in metadata_extras(&child) {
                let at = child.entry(word).map_or(entry.key, |entry| entry.key);
                let reason = "must not specify anything other than name and generateName, but metadata is implicitly specified";
                let fact = walk.refuse((Aspect::Metadata, Effect::Invalid), at, &inner, "", reason);
                fact.key = Some(word.name().to_owned());
                fact.words.insert(Word::Keyword, word.name().to_owned());
            }
        }
    }
}

/// Keywords of the root's `metadata` other than its type and constraints on the two names.
fn metadata_extras(schema: &Schema<'_>) -> Vec<Keyword> {
    use Keyword as K;
    let extra = |(word, entry): &(K, crate::input::yaml::Entry<'_>)| match word {
        K::Type | K::Default => false,
        K::ExternalDocs | K::Example => schema.kubernetes().has(Feature::StructuralExamples),
        K::Properties => entry.value.entries().any(|property| !matches!(property.name(), "name" | "generateName")),
        _ => !is_zero(*word, schema),
    };
    schema.words().filter(extra).map(|(word, _)| word).collect()
}

/// Whether a keyword is present but has no effect.
fn is_zero(word: Keyword, schema: &Schema<'_>) -> bool {
    use Keyword as K;
    match word {
        K::Id | K::SchemaUri | K::Description | K::Type | K::Format | K::Title | K::Pattern => schema.text(word) == Some(""),
        K::Nullable | K::ExclusiveMaximum | K::ExclusiveMinimum | K::UniqueItems | K::EmbeddedResource | K::IntOrString => {
            !schema.flag(word)
        }
        K::Enum | K::AllOf | K::AnyOf | K::OneOf | K::Properties => schema.word(word).is_some_and(|node| node.is_empty()),
        _ => false,
    }
}

/// Whether the node has exactly `anyOf: [{type: integer}, {type: string}]`, in that order and with nothing else in the clauses.
pub(crate) fn has_int_or_string_pair(schema: &Schema<'_>) -> bool {
    let clauses = schema.clauses(Keyword::AnyOf);
    clauses.len() == 2 && clauses.zip(["integer", "string"]).all(|(clause, ty)| says_only_type(&clause, ty))
}

fn says_only_type(clause: &Schema<'_>, ty: &str) -> bool {
    use Keyword as K;
    let is_ignored = |word, value: &Node<'_>| match word {
        K::Type => true,
        K::ExternalDocs | K::Example => !clause.kubernetes().has(Feature::StructuralExamples),
        K::Properties => false,
        K::Items => !value.is_map(),
        K::AdditionalProperties => value.as_bool() == Some(false) && clause.kubernetes().has(Feature::ClosedClauses),
        K::Definitions | K::PatternProperties => value.is_empty(),
        _ => is_zero(word, clause),
    };
    clause.ty() == Some(ty) && clause.words().all(|(word, entry)| is_ignored(word, &entry.value))
}

/// Checks a node inside `allOf`, `anyOf`, `oneOf` or `not`, which may only constrain values. Returns whether it failed.
pub(super) fn clause_node<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) -> bool {
    use Keyword as K;
    if unsupported(schema) {
        return false;
    }
    let before = walk.collector.count();
    pattern::check(walk, schema, position);
    for (word, entry) in schema.words() {
        let reason = match word {
            K::Type | K::Title | K::Description if schema.text(word).is_some_and(|text| !text.is_empty()) => {
                "must be empty to be structural"
            }
            K::AdditionalProperties if entry.value.as_bool() == Some(false) && schema.kubernetes().has(Feature::ClosedClauses) => continue,
            K::AdditionalProperties | K::Default | K::ListType | K::MapType => "must be undefined to be structural",
            K::Nullable | K::PreserveUnknownFields | K::EmbeddedResource | K::IntOrString if schema.flag(word) => {
                "must be false to be structural"
            }
            K::ListMapKeys | K::Validations if !entry.value.is_empty() => "must be empty to be structural",
            _ => continue,
        };
        let fact = walk.refuse((Aspect::Structure, Effect::Forbidden), entry.key, position, &format!(".{}", word.name()), reason);
        fact.key = Some(format!("{}.{}", clause_path(position), word.name()));
        fact.words.insert(Word::Keyword, word.name().to_owned());
        fact.words.insert(Word::Composition, clause_path(position));
    }
    if let Some((entry, _)) = schema.property("metadata") {
        let reason = "must not be specified in a nested context";
        let fact = walk.refuse((Aspect::Metadata, Effect::Forbidden), entry.key, position, ".properties[metadata]", reason);
        fact.key = Some(clause_path(position));
        fact.words.insert(Word::Composition, clause_path(position));
    }
    walk.collector.count() > before
}

/// The path from the constrained node to a node inside a clause: `anyOf[1].properties[a]`.
fn clause_path(position: &SchemaPosition<'_, '_>) -> String {
    let mut steps = Vec::new();
    let mut at = Some(position);
    let mut last = 0;
    while let Some(here) = at {
        steps.push(here);
        if matches!(here.step, SchemaStep::Clause(..) | SchemaStep::Not | SchemaStep::Named(..)) {
            last = steps.len();
        }
        at = here.parent;
    }
    let mut text = String::new();
    for here in steps.iter().take(last).rev() {
        let own = SchemaPosition { parent: None, step: here.step, key: here.key };
        text.push_str(&own.field(""));
    }
    text.trim_start_matches('.').to_owned()
}

/// Fields in a clause of the root's `allOf`, `anyOf`, `oneOf` or `not` must be declared outside it.
///
/// The server checks this only for the root.
pub(super) fn completeness<'t>(walk: &mut CrdSchemaWalk<'_, 't>, root: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    each_clause(root, position, &mut |clause, at| complete(walk, clause, at, Some(root), position));
}

fn each_clause<'t>(schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, each: &mut dyn FnMut(&Schema<'t>, &SchemaPosition<'_, 't>)) {
    if let (Some(clause), Some(entry)) = (schema.not(), schema.entry(Keyword::Not)) {
        each(&clause, &position.child(SchemaStep::Not, entry.key));
    }
    for word in [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf] {
        for (index, clause) in schema.clauses(word).enumerate() {
            let key = clause.node().entry_at(0).map_or(clause.node(), |entry| entry.key);
            each(&clause, &position.child(SchemaStep::Clause(word, index), key));
        }
    }
}

fn complete<'t>(
    walk: &mut CrdSchemaWalk<'_, 't>,
    clause: &Schema<'t>,
    at: &SchemaPosition<'_, 't>,
    declared: Option<&Schema<'t>>,
    position: &SchemaPosition<'_, 't>,
) {
    let Some(declared) = declared else {
        undeclared(walk, at, position);
        return;
    };
    each_clause(clause, at, &mut |inner, inner_at| complete(walk, inner, inner_at, Some(declared), position));
    if let (Some(items), Some(entry)) = (clause.items(), clause.entry(Keyword::Items)) {
        let below = at.child(SchemaStep::Items, entry.key);
        complete(walk, &items, &below, declared.items().as_ref(), &position.child(SchemaStep::Items, entry.key));
    }
    for (entry, child) in clause.properties() {
        let step = SchemaStep::Property(entry.name());
        let declared = declared.property(entry.name()).map(|(_, schema)| schema);
        complete(walk, &child, &at.child(step, entry.key), declared.as_ref(), &position.child(step, entry.key));
    }
}

fn undeclared<'t>(walk: &mut CrdSchemaWalk<'_, 't>, at: &SchemaPosition<'_, 't>, position: &SchemaPosition<'_, 't>) {
    let reason = format!("required, because it is defined in {}", at.field(&walk.base));
    let fact = walk.refuse((Aspect::Structure, Effect::Unresolved), at.key, position, "", reason);
    fact.key = Some(clause_path(at));
    fact.words.insert(Word::Composition, clause_path(at));
    walk.unsound = true;
}

/// Whether schemas must be structural: unless the old one wasn't, unknown fields are kept, and nothing in the schema depends on
/// structure.
pub(super) fn needs_structure(crd: &Crd<'_>, versions: &VersionList<'_>, checks: &ServerChecks) -> bool {
    let preserved = crd.spec.get("preserveUnknownFields").and_then(Node::as_bool) == Some(true);
    checks.structural || !preserved || versions.entries.iter().filter_map(|version| version.schema.as_ref()).any(depends_on_structure)
}

fn depends_on_structure(schema: &Schema<'_>) -> bool {
    use Keyword as K;
    any_node(schema, &mut |schema| {
        schema.flag(K::EmbeddedResource)
            || schema.is_int_or_string()
            || [K::Default, K::PreserveUnknownFields, K::ListType].iter().any(|&word| schema.word(word).is_some())
            || [K::ListMapKeys, K::Validations].iter().any(|&word| schema.word(word).is_some_and(|node| !node.is_empty()))
    })
}
