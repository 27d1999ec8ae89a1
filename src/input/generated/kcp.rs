//! Generates the CRD for a kcp `APIResourceSchema`, which is a CRD without its name whose schemas are one level higher.

use crate::input::yaml::{Graft, Node, NodeId};

use super::mapping::{Mapping, crd};
use super::{Generated, Refusal};

pub(super) fn crds(node: Node<'_>) -> Generated {
    let spec = node.get("spec").ok_or_else(|| Refusal::at(node, "an APIResourceSchema needs a spec"))?;
    let word = |node: Option<Node<'_>>| node.and_then(Node::as_str).map(str::to_owned);
    let plural = word(spec.get("names").and_then(|names| names.get("plural")));
    let plural = plural.ok_or_else(|| Refusal::at(spec, "spec.names.plural is missing"))?;
    // The core group is an empty string.
    let group = word(spec.get("group")).filter(|group| !group.is_empty());
    let group =
        group.ok_or_else(|| Refusal::at(spec, "spec.group is missing or empty: only CRDs are read, not types of the core group"))?;
    let tree = node.tree().graft(|graft| {
        let at = node.get("metadata").and_then(|metadata| metadata.get("name")).unwrap_or(node).span();
        let mut metadata = Mapping::new(at);
        if let Some(own) = node.get("metadata") {
            metadata.some(own, &["labels", "annotations"]);
        }
        metadata.value(graft, "name", &format!("{plural}.{group}").into());
        let metadata = metadata.finish(graft);
        let mut body = Mapping::new(spec.span());
        body.some(spec, &["group", "names", "scope", "conversion"]);
        if let Some(versions) = spec.entry("versions") {
            let list: Vec<NodeId> = versions.value.items().map(|item| version(graft, item)).collect();
            let list = graft.list(&list, versions.value.span());
            body.set("versions", versions.key.id(), list);
        }
        let body = body.finish(graft);
        Ok::<_, Refusal>(crd(graft, node.span(), metadata, body))
    })?;
    Ok(vec![tree])
}

fn version(graft: &mut Graft, node: Node<'_>) -> NodeId {
    let mut version = Mapping::new(node.span());
    version.all(Some(node));
    if let Some(schema) = node.entry("schema") {
        let mut around = Mapping::new(schema.value.span());
        let key = graft.text("openAPIV3Schema", schema.key.span());
        around.set("openAPIV3Schema", key, schema.value.id());
        let around = around.finish(graft);
        version.set("schema", schema.key.id(), around);
    }
    version.finish(graft)
}
