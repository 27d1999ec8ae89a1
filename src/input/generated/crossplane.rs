//! Generates the CRDs that Crossplane creates for a `CompositeResourceDefinition`: the composite resource, and for legacy ones the
//! claim.
//!
//! Crossplane takes parts of the author's schema and adds its own fields: under `spec` for legacy composites and claims, under
//! `spec.crossplane` for version 2. Of `spec` and `status`, only the keywords listed here reach the CRD.

use serde_json::{Value, json};

use crate::input::yaml::{Graft, Node, NodeId, Tree};

use super::mapping::{Mapping, crd};
use super::{Generated, Refusal};

/// Names are also used as label values.
const NAME_LENGTH: i64 = 63;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Namespaced,
    Cluster,
    /// Has claims, and Crossplane's fields directly under `spec`.
    Legacy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GeneratedKind {
    Composite(Scope),
    Claim,
}

pub(super) fn crds(node: Node<'_>, api: &str) -> Generated {
    if !matches!(api, "v1" | "v2") {
        return Err(Refusal::at(node, format!("unknown version `{api}` of CompositeResourceDefinition; v1 and v2 are read")));
    }
    let spec = node.get("spec").ok_or_else(|| Refusal::at(node, "a CompositeResourceDefinition needs a spec"))?;
    let written = spec.get("scope");
    let scope = match (written.and_then(Node::as_str), api) {
        (Some("Namespaced"), _) | (None, "v2") => Scope::Namespaced,
        (Some("Cluster"), _) => Scope::Cluster,
        (Some("LegacyCluster"), "v1") | (None, _) => Scope::Legacy,
        (Some(other), _) => {
            let allowed = if api == "v1" { "Namespaced, Cluster or LegacyCluster" } else { "Namespaced or Cluster" };
            return Err(Refusal::at(written.unwrap_or(spec), format!("unknown scope `{other}`; use {allowed}")));
        }
    };
    let mut trees = vec![generated(node, spec, GeneratedKind::Composite(scope))?];
    if let Some(claim) = spec.get("claimNames") {
        if scope != Scope::Legacy {
            return Err(Refusal::at(claim, "only composite resources of scope LegacyCluster can have claims"));
        }
        let same = |key: &str| claim.text(key).filter(|name| names(spec, key) == Some(name));
        if let Some(name) = ["kind", "plural", "singular", "listKind"].into_iter().find_map(same) {
            return Err(Refusal::at(claim, format!("the claim has the name `{name}` of the composite resource")));
        }
        trees.push(generated(node, spec, GeneratedKind::Claim)?);
    }
    Ok(trees)
}

fn names<'t>(spec: Node<'t>, key: &str) -> Option<&'t str> {
    spec.get("names")?.get(key)?.as_str()
}

fn generated(node: Node<'_>, spec: Node<'_>, made: GeneratedKind) -> Result<Tree, Refusal> {
    node.tree().graft(|graft| {
        let metadata = metadata(graft, node, spec, made)?;
        let mut body = Mapping::new(spec.span());
        body.some(spec, &["group", "conversion"]);
        let (key, category) = if made == GeneratedKind::Claim { ("claimNames", "claim") } else { ("names", "composite") };
        let own = spec.entry(key).ok_or_else(|| Refusal::at(spec, format!("spec.{key} is missing")))?;
        let mut names = Mapping::new(own.value.span());
        names.all(Some(own.value));
        let mut categories: Vec<NodeId> = own.value.items_of("categories").map(Node::id).collect();
        categories.push(graft.text(category, own.key.span()));
        let categories = graft.list(&categories, own.value.span());
        names.node(graft, "categories", categories);
        let names = names.finish(graft);
        body.node(graft, "names", names);
        let scope =
            if matches!(made, GeneratedKind::Claim | GeneratedKind::Composite(Scope::Namespaced)) { "Namespaced" } else { "Cluster" };
        let at = spec.entry("scope").map_or(own.key, |entry| entry.value).span();
        let scope = graft.text(scope, at);
        body.node(graft, "scope", scope);
        let versions = spec.entry("versions").ok_or_else(|| Refusal::at(spec, "spec.versions is missing"))?;
        let mut list = Vec::new();
        for item in versions.value.items() {
            list.push(version(graft, item, spec, made)?);
        }
        let list = graft.list(&list, versions.value.span());
        body.set("versions", versions.key.id(), list);
        let body = body.finish(graft);
        Ok(crd(graft, node.span(), metadata, body))
    })
}

fn metadata(graft: &mut Graft, node: Node<'_>, spec: Node<'_>, made: GeneratedKind) -> Result<NodeId, Refusal> {
    let own = node.get("metadata").ok_or_else(|| Refusal::at(node, "a CompositeResourceDefinition needs metadata.name"))?;
    let mut metadata = Mapping::new(own.span());
    if made == GeneratedKind::Claim {
        let plural = spec.get("claimNames").and_then(|names| names.get("plural"));
        let plural = plural.ok_or_else(|| Refusal::at(spec, "spec.claimNames.plural is missing"))?;
        let group = spec.text("group").unwrap_or_default();
        let name = graft.text(&format!("{}.{group}", plural.as_str().unwrap_or_default()), plural.span());
        metadata.node(graft, "name", name);
    } else {
        metadata.some(own, &["name"]);
    }
    let given = spec.get("metadata");
    let mut labels = Mapping::new(own.span());
    labels.all(own.get("labels")).all(given.and_then(|given| given.get("labels")));
    if own.get("labels").is_some() || given.is_some_and(|given| given.get("labels").is_some()) {
        let labels = labels.finish(graft);
        metadata.node(graft, "labels", labels);
    }
    if let Some(given) = given {
        metadata.some(given, &["annotations"]);
    }
    Ok(metadata.finish(graft))
}

fn version(graft: &mut Graft, node: Node<'_>, spec: Node<'_>, made: GeneratedKind) -> Result<NodeId, Refusal> {
    let at = node.span();
    let mut version = Mapping::new(at);
    version.some(node, &["name", "served", "deprecated", "deprecationWarning"]);
    if let Some(referenceable) = node.entry("referenceable") {
        version.set("storage", graft.text("storage", referenceable.key.span()), referenceable.value.id());
    }
    let mut columns: Vec<NodeId> = node.items_of("additionalPrinterColumns").map(Node::id).collect();
    for column in printer_columns(made) {
        columns.push(graft.value(&column, at));
    }
    let columns = graft.list(&columns, node.get("additionalPrinterColumns").map_or(at, Node::span));
    version.node(graft, "additionalPrinterColumns", columns);
    let mut subresources = Mapping::new(at);
    subresources.value(graft, "status", &json!({}));
    if let Some(own) = node.get("subresources") {
        subresources.some(own, &["scale"]);
    }
    let subresources = subresources.finish(graft);
    version.node(graft, "subresources", subresources);
    let entry = node.get("schema").and_then(|schema| schema.entry("openAPIV3Schema"));
    let entry = entry.filter(|entry| entry.value.is_map()).ok_or_else(|| Refusal::at(node, "the version has no schema.openAPIV3Schema"))?;
    let root = root(graft, entry.value, spec, made);
    let mut schema = Mapping::new(entry.value.span());
    schema.set("openAPIV3Schema", entry.key.id(), root);
    let schema = schema.finish(graft);
    version.node(graft, "schema", schema);
    Ok(version.finish(graft))
}

fn root(graft: &mut Graft, own: Node<'_>, spec: Node<'_>, made: GeneratedKind) -> NodeId {
    let at = own.span();
    let parts = own.get("properties");
    let part = |name: &str| parts.and_then(|parts| parts.entry(name));
    let mut properties = Mapping::new(parts.map_or(at, Node::span));
    properties.values(graft, &json!({"apiVersion": {"type": "string"}, "kind": {"type": "string"}}));
    let name = part("metadata").and_then(|metadata| metadata.value.get("properties")?.get("name")?.get("maxLength")?.as_int());
    let length = name.unwrap_or(NAME_LENGTH).min(NAME_LENGTH);
    let named = json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": length}}});
    properties.value(graft, "metadata", &named);
    let added = [("spec", spec_fields(spec, made)), ("status", status_fields(made))];
    for (name, added) in added {
        let entry = part(name);
        let place = entry.map_or(at, |entry| entry.value.span());
        let mut object = Mapping::new(place);
        object.value(graft, "type", &"object".into());
        let mut fields = Mapping::new(place);
        if let Some(entry) = entry {
            object.some(entry.value, &["description", "required", "x-kubernetes-validations", "oneOf"]);
            if name == "spec" {
                object.some(entry.value, &["x-kubernetes-preserve-unknown-fields"]);
            }
            fields.all(entry.value.get("properties"));
        }
        fields.values(graft, &added);
        let fields = fields.finish(graft);
        match entry.and_then(|entry| entry.value.entry("properties")) {
            Some(own) => object.set("properties", own.key.id(), fields),
            None => drop(object.node(graft, "properties", fields)),
        }
        let object = object.finish(graft);
        match entry {
            Some(entry) => properties.set(name, entry.key.id(), object),
            None => drop(properties.node(graft, name, object)),
        }
    }
    let properties = properties.finish(graft);
    let mut root = Mapping::new(at);
    root.some(own, &["description", "x-kubernetes-validations"]);
    root.values(graft, &json!({"type": "object", "required": ["spec"]}));
    root.node(graft, "properties", properties);
    root.finish(graft)
}

fn reference(required: &[&str], fields: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> = fields.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// The fields that Crossplane adds to `spec`.
fn spec_fields(spec: Node<'_>, made: GeneratedKind) -> Value {
    let selector = json!({
        "type": "object",
        "required": ["matchLabels"],
        "properties": {"matchLabels": {"type": "object", "additionalProperties": {"type": "string"}}},
    });
    let policy = |values: [&str; 2], default: Option<&str>| {
        let mut policy = json!({"type": "string", "enum": values});
        if let (Some(default), Some(map)) = (default, policy.as_object_mut()) {
            map.insert("default".to_owned(), default.into());
        }
        policy
    };
    let mut fields = json!({
        "compositionRef": reference(&["name"], &["name"]),
        "compositionSelector": selector,
        "compositionRevisionRef": reference(&["name"], &["name"]),
        "compositionRevisionSelector": selector,
    });
    let Some(map) = fields.as_object_mut() else { return fields };
    let mut add = |name: &str, value: Value| drop(map.insert(name.to_owned(), value));
    let GeneratedKind::Composite(scope) = made else {
        add("compositionUpdatePolicy", policy(["Automatic", "Manual"], None));
        add("compositeDeletePolicy", policy(["Background", "Foreground"], spec.text("defaultCompositeDeletePolicy")));
        add("resourceRef", reference(&["apiVersion", "kind", "name"], &["apiVersion", "kind", "name"]));
        add("writeConnectionSecretToRef", reference(&["name"], &["name"]));
        return fields;
    };
    add("compositionUpdatePolicy", policy(["Automatic", "Manual"], spec.text("defaultCompositionUpdatePolicy")));
    let composed: &[&str] = match scope {
        // A namespaced composite resource can't compose anything outside its namespace.
        Scope::Namespaced => &["apiVersion", "name", "kind"],
        Scope::Cluster | Scope::Legacy => &["apiVersion", "name", "namespace", "kind"],
    };
    let items = reference(&["apiVersion", "kind"], composed);
    add("resourceRefs", json!({"type": "array", "x-kubernetes-list-type": "atomic", "items": items}));
    if scope == Scope::Legacy {
        let claim = ["apiVersion", "kind", "namespace", "name"];
        add("claimRef", reference(&claim, &claim));
        add("writeConnectionSecretToRef", reference(&["name", "namespace"], &["name", "namespace"]));
        return fields;
    }
    let description = "Configures how Crossplane will reconcile this composite resource";
    json!({"crossplane": {"type": "object", "description": description, "properties": fields}})
}

/// The fields that Crossplane adds to `status`.
fn status_fields(made: GeneratedKind) -> Value {
    let mut fields = json!({
        "conditions": {
            "description": "Conditions of the resource.",
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": {
                "type": "object",
                "required": ["lastTransitionTime", "reason", "status", "type"],
                "properties": {
                    "lastTransitionTime": {"type": "string", "format": "date-time"},
                    "message": {"type": "string"},
                    "reason": {"type": "string"},
                    "status": {"type": "string"},
                    "type": {"type": "string"},
                    "observedGeneration": {"type": "integer", "format": "int64"},
                },
            },
        },
    });
    if let (GeneratedKind::Claim | GeneratedKind::Composite(Scope::Legacy), Some(map)) = (made, fields.as_object_mut()) {
        let published = json!({"type": "object", "properties": {"lastPublishedTime": {"type": "string", "format": "date-time"}}});
        map.insert("connectionDetails".to_owned(), published);
        let types = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
        map.insert("claimConditionTypes".to_owned(), types);
    }
    fields
}

fn printer_columns(made: GeneratedKind) -> Vec<Value> {
    let column = |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
    let mut columns = vec![
        column("SYNCED", "string", ".status.conditions[?(@.type=='Synced')].status"),
        column("READY", "string", ".status.conditions[?(@.type=='Ready')].status"),
    ];
    match made {
        GeneratedKind::Claim => columns.push(column("CONNECTION-SECRET", "string", ".spec.writeConnectionSecretToRef.name")),
        GeneratedKind::Composite(scope) => {
            let spec = if scope == Scope::Legacy { ".spec" } else { ".spec.crossplane" };
            columns.push(column("COMPOSITION", "string", &format!("{spec}.compositionRef.name")));
            let path = format!("{spec}.compositionRevisionRef.name");
            columns.push(json!({"name": "COMPOSITIONREVISION", "type": "string", "jsonPath": path, "priority": 1}));
        }
    }
    columns.push(column("AGE", "date", ".metadata.creationTimestamp"));
    columns
}
