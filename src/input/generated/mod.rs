//! Generates the CRDs for documents from which other controllers generate them, with places in those documents.
//!
//! Crossplane, kcp and kro define APIs in their own kinds, and clients get a CRD. Everything after loading only sees that CRD.

mod crossplane;
mod kcp;
mod kro;
mod mapping;
mod simple_schema;

use std::sync::Arc;

use super::yaml::{Document, Error, ErrorKind, Node, Span, Tree};

/// Every text with such a document contains one of these words.
pub const KINDS: [&str; 3] = ["CompositeResourceDefinition", "APIResourceSchema", "ResourceGraphDefinition"];

/// Why no CRD can be generated from a document, and where.
#[derive(Debug)]
struct Refusal {
    why: String,
    span: Span,
}

impl Refusal {
    fn at(node: Node<'_>, why: impl Into<String>) -> Refusal {
        Refusal { why: why.into(), span: node.span() }
    }
}

type Generated = Result<Vec<Tree>, Refusal>;

/// Replaces a document with the CRDs generated from it; other documents are returned unchanged.
pub fn expand(document: Document) -> Vec<Document> {
    let Ok(tree) = &document.tree else { return vec![document] };
    let root = tree.root();
    if let Some(generated) = generate(root) {
        return documents(generated, document.span);
    }
    // `kubectl get xrd -o yaml` writes a list.
    let is_list = root.text("kind").is_some_and(|kind| kind.ends_with("List"));
    let items = root.get("items").filter(|_| is_list).into_iter().flat_map(Node::items);
    let more: Vec<Document> = items.filter_map(generate).flat_map(|generated| documents(generated, document.span)).collect();
    std::iter::once(document).chain(more).collect()
}

fn documents(generated: Generated, span: Span) -> Vec<Document> {
    match generated {
        Ok(trees) => trees.into_iter().map(|tree| Document { span, tree: Ok(Arc::new(tree)) }).collect(),
        Err(Refusal { why, span: at }) => {
            vec![Document { span, tree: Err(Error { kind: ErrorKind::NotGenerated(why), span: at, related: None }) }]
        }
    }
}

/// Returns `None` for other documents.
fn generate(node: Node<'_>) -> Option<Generated> {
    let (group, version) = node.text("apiVersion")?.split_once('/')?;
    match (group, node.text("kind")?) {
        ("apiextensions.crossplane.io", "CompositeResourceDefinition") => Some(crossplane::crds(node, version)),
        ("apis.kcp.io", "APIResourceSchema") => Some(kcp::crds(node)),
        ("kro.run", "ResourceGraphDefinition") => Some(kro::crds(node)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
