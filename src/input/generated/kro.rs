//! Generates the CRD that kro creates for a `ResourceGraphDefinition`.
//!
//! Fields of `status` are expressions whose types only the cluster knows, so only their names are compared.

use serde_json::{Value, json};

use crate::input::yaml::{Graft, Node, NodeId};

use super::mapping::{Mapping, crd};
use super::simple_schema::CustomTypes;
use super::{Generated, Refusal};

/// The default group.
const GROUP: &str = "kro.run";

pub(super) fn crds(node: Node<'_>) -> Generated {
    let schema = node.get("spec").and_then(|spec| spec.get("schema"));
    let schema = schema.ok_or_else(|| Refusal::at(node, "a ResourceGraphDefinition needs spec.schema"))?;
    let kind = schema.text("kind").ok_or_else(|| Refusal::at(schema, "spec.schema.kind is missing"))?;
    let version = schema.text("apiVersion").ok_or_else(|| Refusal::at(schema, "spec.schema.apiVersion is missing"))?;
    let group = schema.text("group").unwrap_or(GROUP);
    let lower = kind.to_lowercase();
    let plural = plural(&lower);
    let written = schema.entry("scope");
    let scope = match written.and_then(|scope| scope.value.as_str()).unwrap_or("Namespaced") {
        scope @ ("Namespaced" | "Cluster") => scope,
        other => {
            let why = format!("unknown scope `{other}`; use Namespaced or Cluster");
            return Err(Refusal::at(written.map_or(schema, |scope| scope.value), why));
        }
    };
    let types = CustomTypes::new(schema.get("types"));
    let tree = node.tree().graft(|graft| {
        let named = schema.entry("kind").map_or(schema, |entry| entry.value).span();
        let mut metadata = Mapping::new(named);
        metadata.value(graft, "name", &format!("{plural}.{group}").into());
        if let Some(own) = schema.get("metadata") {
            metadata.some(own, &["labels", "annotations"]);
        }
        let metadata = metadata.finish(graft);
        let mut spec = Mapping::new(schema.span());
        spec.value(graft, "group", &group.into());
        let mut names = Mapping::new(named);
        names.values(graft, &json!({"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": lower}));
        names.some(schema, &["shortNames", "categories"]);
        let names = names.finish(graft);
        spec.node(graft, "names", names);
        let scope = graft.text(scope, written.map_or(schema, |scope| scope.value).span());
        spec.node(graft, "scope", scope);
        let mut properties = Mapping::new(schema.span());
        properties.values(graft, &json!({"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}));
        match schema.entry("spec") {
            Some(entry) => {
                let made = types.object(graft, entry.value)?;
                properties.set("spec", entry.key.id(), made);
            }
            None => drop(properties.value(graft, "spec", &json!({"type": "object"}))),
        }
        let status = status(graft, schema);
        properties.node(graft, "status", status);
        let properties = properties.finish(graft);
        let mut root = Mapping::new(schema.span());
        root.value(graft, "type", &"object".into()).node(graft, "properties", properties);
        let root = root.finish(graft);
        let mut one = Mapping::new(schema.span());
        let name = schema.get("apiVersion").unwrap_or(schema).span();
        let name = graft.text(version, name);
        one.node(graft, "name", name);
        one.values(graft, &json!({"served": true, "storage": true, "subresources": {"status": {}}}));
        match schema.get("additionalPrinterColumns").is_some_and(|columns| columns.items().next().is_some()) {
            true => drop(one.some(schema, &["additionalPrinterColumns"])),
            false => drop(one.value(graft, "additionalPrinterColumns", &printer_columns())),
        }
        let mut around = Mapping::new(schema.span());
        around.node(graft, "openAPIV3Schema", root);
        let around = around.finish(graft);
        one.node(graft, "schema", around);
        let one = one.finish(graft);
        let versions = graft.list(&[one], schema.span());
        spec.node(graft, "versions", versions);
        let spec = spec.finish(graft);
        Ok(crd(graft, node.span(), metadata, spec))
    })?;
    Ok(vec![tree])
}

/// The plural of a kind, by rules that work for nearly all of them.
fn plural(lower: &str) -> String {
    let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
    let consonant_y = lower.ends_with('y') && !ends(&["ay", "ey", "iy", "oy", "uy"]);
    match lower.strip_suffix('y').filter(|_| consonant_y) {
        Some(stem) => format!("{stem}ies"),
        None if ends(&["s", "x", "z", "ch", "sh"]) => format!("{lower}es"),
        None => format!("{lower}s"),
    }
}

/// The default printer columns.
fn printer_columns() -> Value {
    json!([
        {"name": "State", "description": "The state of a ResourceGraphDefinition instance", "type": "string", "jsonPath": ".status.state"},
        {
            "name": "Ready",
            "description": "Whether a ResourceGraphDefinition instance is ready",
            "type": "string",
            "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"
        },
        {"name": "Age", "description": "Age of the resource", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ])
}

fn status(graft: &mut Graft, schema: Node<'_>) -> NodeId {
    let own = schema.get("status");
    let at = own.unwrap_or(schema).span();
    let mut fields = Mapping::new(at);
    fields.value(graft, "state", &json!({"type": "string"}));
    let names = ["type", "status", "reason", "message", "lastTransitionTime"];
    let mut condition: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    condition.insert("observedGeneration".to_owned(), json!({"type": "integer"}));
    fields.value(graft, "conditions", &json!({"type": "array", "items": {"type": "object", "properties": condition}}));
    for entry in own.into_iter().flat_map(Node::entries) {
        let any = graft.value(&json!({"x-kubernetes-preserve-unknown-fields": true}), entry.value.span());
        fields.set(entry.name(), entry.key.id(), any);
    }
    let fields = fields.finish(graft);
    let mut status = Mapping::new(at);
    status.value(graft, "type", &"object".into()).node(graft, "properties", fields);
    status.finish(graft)
}
