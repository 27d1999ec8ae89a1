//! The versions of a CRD as the server holds them, and where it reports their faults.
//!
//! The server's internal form keeps what all versions share once, at the top (`spec.validation`, `spec.subresources`, …), and only
//! what differs under `spec.versions[i]`. Its error paths follow that form, and so do a few of its checks.

use crate::input::yaml::Node;
use crate::model::schema::Schema;
use crate::model::{Api, Crd, Version};

use super::form;
use super::same::{same_schema, same_value};

/// One entry of `spec.versions`, also where it lacks its name.
pub(super) struct Edition<'t> {
    pub index: usize,
    pub node: Node<'t>,
    pub name: &'t str,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    /// `schema`, whether or not there is anything in it.
    pub wrapper: Option<Node<'t>>,
    pub schema: Option<Schema<'t>>,
    pub subresources: Option<Node<'t>>,
    pub columns: Option<Node<'t>>,
    pub selectable: Option<Node<'t>>,
}

impl<'t> Edition<'t> {
    fn read(index: usize, node: Node<'t>) -> Self {
        let flag = |key: &str| node.get(key).and_then(Node::as_bool).unwrap_or(false);
        let wrapper = node.get("schema");
        Edition {
            index,
            node,
            name: node.get("name").and_then(Node::as_str).unwrap_or_default(),
            served: flag("served"),
            storage: flag("storage"),
            deprecated: flag("deprecated"),
            wrapper,
            schema: wrapper.and_then(|wrapper| wrapper.get("openAPIV3Schema")).map(Schema::new),
            subresources: node.get("subresources"),
            columns: node.get("additionalPrinterColumns"),
            selectable: node.get("selectableFields"),
        }
    }

    /// A version of the old API, which may share what it has with the others.
    fn outdated(crd: &Crd<'t>, version: &Version<'t>) -> Self {
        let read = Self::read(version.index, version.node);
        Edition {
            name: version.name,
            served: version.served,
            storage: version.storage,
            wrapper: read.wrapper.or_else(|| crd.spec.get("validation")),
            schema: version.schema.clone(),
            subresources: version.subresources,
            columns: version.columns,
            ..read
        }
    }

    pub fn has_status(&self) -> bool {
        self.subresources.is_some_and(|node| node.get("status").is_some())
    }

    /// Where a fact about the whole version stands: its name, or its first key.
    pub fn anchor(&self) -> Node<'t> {
        self.node.get("name").or_else(|| self.node.entry_at(0).map(|entry| entry.key)).unwrap_or(self.node)
    }

    /// Where a fact about a key of the version stands: at the key, or at the version where the key is missing.
    pub fn key(&self, name: &str) -> Node<'t> {
        self.node.entry(name).map_or_else(|| self.anchor(), |entry| entry.key)
    }
}

/// All versions, and what they share.
pub(super) struct Layout<'t> {
    pub editions: Vec<Edition<'t>>,
    pub shared_schema: bool,
    pub shared_subresources: bool,
    pub shared_columns: bool,
    pub shared_selectable: bool,
}

impl<'t> Layout<'t> {
    pub fn of(crd: &Crd<'t>) -> Self {
        let listed = crd.spec.get("versions").into_iter().flat_map(Node::items).enumerate();
        let editions: Vec<_> = match crd.api {
            Api::V1 => listed.map(|(index, node)| Edition::read(index, node)).collect(),
            Api::V1Beta1 => crd.versions.iter().map(|version| Edition::outdated(crd, version)).collect(),
        };
        let first = editions.first();
        let all = |same: &dyn Fn(&Edition<'t>, &Edition<'t>) -> bool| {
            first.is_some_and(|first| editions.iter().skip(1).all(|other| same(first, other)))
        };
        Layout {
            shared_schema: all(&|a, b| a.wrapper.is_some() == b.wrapper.is_some() && same_schema(a.schema.as_ref(), b.schema.as_ref())),
            shared_subresources: all(&|a, b| same_value(&form::SUBRESOURCES, a.subresources, b.subresources, true)),
            shared_columns: all(&|a, b| same_value(&form::COLUMNS, a.columns, b.columns, false)),
            shared_selectable: all(&|a, b| same_value(&form::SELECTABLE, a.selectable, b.selectable, false)),
            editions,
        }
    }

    pub fn schema_field(&self, edition: &Edition<'_>) -> String {
        if self.shared_schema {
            "spec.validation.openAPIV3Schema".into()
        } else {
            format!("spec.versions[{}].schema.openAPIV3Schema", edition.index)
        }
    }

    pub fn subresources_field(&self, edition: &Edition<'_>) -> String {
        placed(self.shared_subresources, edition, "subresources")
    }

    pub fn columns_field(&self, edition: &Edition<'_>) -> String {
        placed(self.shared_columns, edition, "additionalPrinterColumns")
    }

    pub fn selectable_field(&self, edition: &Edition<'_>) -> String {
        placed(self.shared_selectable, edition, "selectableFields")
    }

    /// A schema that versions share is held to the status rules as soon as one of them has the subresource.
    pub fn status_enabled(&self, edition: &Edition<'_>) -> bool {
        if self.shared_schema { self.editions.iter().any(Edition::has_status) } else { edition.has_status() }
    }
}

fn placed(shared: bool, edition: &Edition<'_>, name: &str) -> String {
    if shared { format!("spec.{name}") } else { format!("spec.versions[{}].{name}", edition.index) }
}
