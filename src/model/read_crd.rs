//! Reads a CRD from a document. Malformed parts are left out here and reported by lint.

use crate::input::yaml::Node;
use crate::model::kubernetes::Server;
use crate::model::schema::Schema;

use super::FileId;
use super::crd::{Api, Conversion, Crd, Keys, Names, StringNode, Version};

fn text<'t>(node: Option<Node<'t>>) -> Option<StringNode<'t>> {
    let node = node?;
    Some(StringNode { value: node.as_str()?, node })
}

fn texts<'t>(node: Option<Node<'t>>) -> Vec<StringNode<'t>> {
    node.into_iter().flat_map(Node::items).filter_map(|item| text(Some(item))).collect()
}

/// The API version of a document that declares itself a CRD.
pub(super) fn api_of(node: Node<'_>) -> Option<Result<Api, &str>> {
    if node.get("kind")?.as_str()? != "CustomResourceDefinition" {
        return None;
    }
    match node.text("apiVersion") {
        Some("apiextensions.k8s.io/v1") => Some(Ok(Api::V1)),
        Some("apiextensions.k8s.io/v1beta1") => Some(Ok(Api::V1Beta1)),
        Some(other) => Some(Err(other)),
        None => Some(Err("")),
    }
}

/// Whether a document is only part of a CRD, to be used as a kustomize patch.
pub(super) fn is_patch(node: Node<'_>) -> bool {
    let spec = node.get("spec");
    if node.get("$patch").is_some() || spec.is_some_and(|spec| spec.get("$patch").is_some()) {
        return true;
    }
    let metadata = |key: &str| node.get("metadata").and_then(|metadata| metadata.get(key));
    let is_generated = || metadata("annotations").is_some_and(|map| map.entries().any(|entry| entry.name() == GENERATED));
    let patches_spec = || spec.is_some_and(|spec| spec.entries().next().is_some());
    let patches_metadata = || spec.is_none() && (metadata("annotations").is_some() || metadata("labels").is_some());
    let is_whole = spec.is_some_and(|spec| CRD_FIELDS.iter().any(|key| spec.entry(key).is_some()));
    !is_whole && (patches_spec() || patches_metadata()) && !is_generated()
}

/// Whether a CRD states neither group nor names nor scope. Next to a CRD with its name, it is a patch of that CRD's versions.
pub(super) fn is_anonymous(crd: &Crd<'_>) -> bool {
    ["group", "names", "scope"].iter().all(|key| crd.spec.entry(key).is_none())
}

/// Every CRD has some of these, even one with mistakes; a patch of anything else has none.
const CRD_FIELDS: [&str; 6] = ["group", "names", "scope", "versions", "version", "validation"];
/// An annotation of controller-gen, which doesn't write patches.
const GENERATED: &str = "controller-gen.kubebuilder.io/version";

/// `metadata.name`, if it is a string.
pub(super) fn name(node: Node<'_>) -> Option<StringNode<'_>> {
    text(node.get("metadata").and_then(|metadata| metadata.get("name"))).filter(|name| !name.value.is_empty())
}

/// The name that a CRD must have, from its plural and group.
pub(super) fn name_in_spec(node: Node<'_>) -> String {
    let spec = node.get("spec");
    let word = |node: Option<Node<'_>>| text(node).map(|text| text.value.to_owned());
    let plural = word(spec.and_then(|spec| spec.get("names")).and_then(|names| names.get("plural")));
    let group = word(spec.and_then(|spec| spec.get("group")));
    let parts: Vec<String> = [plural, group].into_iter().flatten().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "a CRD without a name".to_owned() } else { parts.join(".") }
}

pub(super) fn crd<'t>(file: FileId, api: Api, node: Node<'t>, keys: &Keys) -> Crd<'t> {
    let spec = node.get("spec").unwrap_or(node);
    let names = spec.get("names");
    let name = name(node);
    // Findings about a missing name are shown where it should be.
    let nowhere = || {
        let given = node.get("metadata").and_then(|metadata| metadata.entry("name")).map(|entry| entry.key);
        let around = || node.entry("metadata").map(|entry| entry.key).or_else(|| node.get("kind"));
        given.or_else(around).unwrap_or(node)
    };
    let conversion = spec.get("conversion");
    let word = |key: &str| text(names.and_then(|names| names.get(key)));
    let list = |key: &str| texts(names.and_then(|names| names.get(key)));
    let mut crd = Crd {
        file,
        path: "",
        api,
        kubernetes: Server::default(),
        node,
        spec,
        name: name.map_or("", |name| name.value),
        name_node: name.map_or_else(nowhere, |name| name.node),
        group: text(spec.get("group")),
        names: Names {
            plural: word("plural"),
            singular: word("singular"),
            kind: word("kind"),
            list_kind: word("listKind"),
            short_names: list("shortNames"),
            categories: list("categories"),
        },
        scope: text(spec.get("scope")),
        conversion: Conversion { node: conversion, strategy: text(conversion.and_then(|node| node.get("strategy"))), patched: None },
        versions: versions(api, spec),
        stored_versions: texts(node.get("status").and_then(|status| status.get("storedVersions"))),
        marks: Default::default(),
    };
    crd.mark(keys);
    let open = crd.preserves_unknown();
    for version in &mut crd.versions {
        version.schema = version.schema.take().map(|schema| schema.within(open));
    }
    crd
}

fn versions<'t>(api: Api, spec: Node<'t>) -> Vec<Version<'t>> {
    let listed = spec.items_of("versions").enumerate();
    let mut versions: Vec<_> = listed.filter_map(|(index, node)| version(api, spec, index, node)).collect();
    if versions.is_empty()
        && api == Api::V1Beta1
        && let Some(name) = text(spec.get("version"))
    {
        let shared = attributes(api, spec, spec);
        versions.push(Version { name: name.value, name_node: name.node, served: true, storage: true, ..shared });
    }
    versions
}

fn version<'t>(api: Api, spec: Node<'t>, index: usize, node: Node<'t>) -> Option<Version<'t>> {
    let name = text(node.get("name"))?;
    let flag = |key: &str| node.get(key).and_then(Node::as_bool).unwrap_or(false);
    Some(Version {
        index,
        name: name.value,
        name_node: name.node,
        served: flag("served"),
        storage: flag("storage"),
        deprecated: flag("deprecated"),
        deprecation_warning: text(node.get("deprecationWarning")),
        ..attributes(api, spec, node)
    })
}

/// Reads the attributes that v1 has in each version, and v1beta1 there or once for all versions.
fn attributes<'t>(api: Api, spec: Node<'t>, node: Node<'t>) -> Version<'t> {
    let shared = |own: &str, top: &str| node.get(own).or_else(|| if api == Api::V1Beta1 { spec.get(top) } else { None });
    Version {
        index: 0,
        node,
        name: "",
        name_node: node,
        served: false,
        storage: false,
        deprecated: false,
        deprecation_warning: None,
        schema: shared("schema", "validation").and_then(|schema| schema.get("openAPIV3Schema")).map(Schema::new),
        subresources: shared("subresources", "subresources"),
        columns: shared("additionalPrinterColumns", "additionalPrinterColumns"),
        selectable_fields: node.get("selectableFields"),
    }
}
