//! Implicit fields of every resource: `apiVersion`, `kind` and `metadata` are kept and checked by the server even if undeclared, so
//! declaring them can only restrict them.

use std::sync::LazyLock;

use crate::input::yaml::{Document, Entry, YamlBudget, parse};
use crate::model::schema::Keyword;
use crate::server::object::METADATA_PROPERTIES;

use super::walk::NodePair;

static RESOURCE: LazyLock<Vec<Document>> =
    LazyLock::new(|| read("{apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}}"));

static METADATA: LazyLock<Vec<Document>> = LazyLock::new(|| read(&METADATA_PROPERTIES.to_string()));

fn read(text: &str) -> Vec<Document> {
    parse(&text.into(), &YamlBudget::default())
}

/// The implicit schema of a name that the schema of a resource, or of its metadata, doesn't declare.
pub(super) fn property(pair: &NodePair<'_, '_>, name: &str) -> Option<Entry<'static>> {
    let documents = match (is_resource(pair), is_metadata(pair)) {
        (true, _) => &*RESOURCE,
        (_, true) => &*METADATA,
        _ => return None,
    };
    documents.first()?.tree.as_ref().ok()?.root().entry(name)
}

/// Whether the server ensures that a key exists which is required now (or was before).
pub(super) fn is_present(pair: &NodePair<'_, '_>, name: &str, now: bool) -> bool {
    // The side that doesn't require it must still have it.
    let other = if now { &pair.old } else { &pair.new };
    match name {
        "apiVersion" | "kind" => pair.up.is_none() || other.flag(Keyword::EmbeddedResource),
        "metadata" => pair.up.is_none(),
        _ => false,
    }
}

/// Whether an object always has certain keys, whatever its schema declares.
pub(super) fn is_reserved(pair: &NodePair<'_, '_>) -> bool {
    is_resource(pair) || is_metadata(pair)
}

pub(super) fn is_metadata(pair: &NodePair<'_, '_>) -> bool {
    pair.name == ("metadata", "metadata") && pair.up.is_some_and(is_resource)
}

/// Whether a node is below the metadata of a resource, where nothing is pruned.
pub(super) fn is_below_metadata(pair: &NodePair<'_, '_>) -> bool {
    std::iter::successors(pair.up, |pair| pair.up).any(is_metadata)
}

fn is_resource(pair: &NodePair<'_, '_>) -> bool {
    pair.up.is_none() || (pair.old.flag(Keyword::EmbeddedResource) && pair.new.flag(Keyword::EmbeddedResource))
}
