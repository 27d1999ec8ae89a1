//! One document → one CRD. What is malformed is left out here and reported by the checks of a single bundle.

use crate::schema::Schema;
use crate::yaml::Node;

use super::FileId;
use super::model::{Api, Conversion, Crd, Keys, Names, Text, Version};

fn text<'t>(node: Option<Node<'t>>) -> Option<Text<'t>> {
    let node = node?;
    Some(Text { value: node.as_str()?, node })
}

fn texts<'t>(node: Option<Node<'t>>) -> Vec<Text<'t>> {
    node.into_iter().flat_map(Node::items).filter_map(|item| text(Some(item))).collect()
}

/// The form of a document that says it is a CRD.
pub(super) fn api_of(node: Node<'_>) -> Option<Result<Api, &str>> {
    if node.get("kind")?.as_str()? != "CustomResourceDefinition" {
        return None;
    }
    match node.get("apiVersion").and_then(Node::as_str) {
        Some("apiextensions.k8s.io/v1") => Some(Ok(Api::V1)),
        Some("apiextensions.k8s.io/v1beta1") => Some(Ok(Api::V1Beta1)),
        Some(other) => Some(Err(other)),
        None => Some(Err("")),
    }
}

pub(super) fn crd<'t>(file: FileId, api: Api, node: Node<'t>, keys: &Keys) -> Crd<'t> {
    let spec = node.get("spec").unwrap_or(node);
    let names = spec.get("names");
    let name = node.get("metadata").and_then(|metadata| metadata.get("name")).filter(|name| name.as_str().is_some());
    let conversion = spec.get("conversion");
    let word = |key: &str| text(names.and_then(|names| names.get(key)));
    let list = |key: &str| texts(names.and_then(|names| names.get(key)));
    let mut crd = Crd {
        file,
        api,
        node,
        spec,
        name: name.and_then(Node::as_str).unwrap_or_default(),
        name_node: name.unwrap_or(node),
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
        conversion: Conversion { node: conversion, strategy: text(conversion.and_then(|node| node.get("strategy"))) },
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
    let listed = spec.get("versions").into_iter().flat_map(Node::items).enumerate();
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

/// What v1 writes in each version, and v1beta1 there or once for all of them.
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
