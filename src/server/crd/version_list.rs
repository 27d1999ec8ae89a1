//! The versions of a CRD as the server stores them, and the paths under which it reports errors.
//!
//! The server's internal type stores what all versions share once, at the top (`spec.validation`, `spec.subresources`, …), and only
//! the differences under `spec.versions[i]`. Its error paths follow that form, and so do some of its checks.

use crate::input::yaml::Node;
use crate::model::schema::Schema;
use crate::model::{Api, Crd, Version};

use super::document_types;
use super::same_value::{same_schema, same_value};

/// One entry of `spec.versions`, with or without a name.
pub(crate) struct VersionEntry<'t> {
    pub index: usize,
    pub node: Node<'t>,
    pub name: &'t str,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    /// `schema`, which may be empty.
    pub wrapper: Option<Node<'t>>,
    pub schema: Option<Schema<'t>>,
    pub subresources: Option<Node<'t>>,
    pub columns: Option<Node<'t>>,
    pub selectable: Option<Node<'t>>,
}

impl<'t> VersionEntry<'t> {
    fn read(crd: &Crd<'t>, index: usize, node: Node<'t>) -> Self {
        let flag = |key: &str| node.get(key).and_then(Node::as_bool).unwrap_or(false);
        let wrapper = node.get("schema");
        VersionEntry {
            index,
            node,
            name: node.text("name").unwrap_or_default(),
            served: flag("served"),
            storage: flag("storage"),
            deprecated: flag("deprecated"),
            wrapper,
            schema: wrapper.and_then(|wrapper| wrapper.get("openAPIV3Schema")).map(|node| Schema::new(node).on(crd.kubernetes)),
            subresources: node.get("subresources"),
            columns: node.get("additionalPrinterColumns"),
            selectable: crd.kubernetes.selectable(node.get("selectableFields")),
        }
    }

    /// A version in `apiextensions.k8s.io/v1beta1`, where versions can share a schema and subresources.
    fn outdated(crd: &Crd<'t>, version: &Version<'t>) -> Self {
        let read = Self::read(crd, version.index, version.node);
        VersionEntry {
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

    /// The key of the schema, or the version if it is missing.
    pub fn schema_key(&self) -> Node<'t> {
        self.wrapper.and_then(|node| node.entry("openAPIV3Schema")).map_or_else(|| self.anchor(), |entry| entry.key)
    }

    pub fn has_status(&self) -> bool {
        self.subresources.is_some_and(|node| node.get("status").is_some())
    }

    /// Where to report facts about the whole version: at its name, or its first key.
    pub fn anchor(&self) -> Node<'t> {
        self.node.get("name").or_else(|| self.node.entry_at(0).map(|entry| entry.key)).unwrap_or(self.node)
    }

    /// Where to report facts about a key of the version: at the key, or at the version if the key is missing.
    pub fn key(&self, name: &str) -> Node<'t> {
        self.node.entry(name).map_or_else(|| self.anchor(), |entry| entry.key)
    }
}

/// All versions, and what they share.
pub(crate) struct VersionList<'t> {
    pub entries: Vec<VersionEntry<'t>>,
    pub shared_schema: bool,
    pub shared_subresources: bool,
    pub shared_columns: bool,
    pub shared_selectable: bool,
}

impl<'t> VersionList<'t> {
    pub fn of(crd: &Crd<'t>) -> Self {
        let listed = crd.spec.items_of("versions").enumerate();
        let entries: Vec<_> = match crd.api {
            Api::V1 => listed.map(|(index, node)| VersionEntry::read(crd, index, node)).collect(),
            Api::V1Beta1 => crd.versions.iter().map(|version| VersionEntry::outdated(crd, version)).collect(),
        };
        let first = entries.first();
        let all = |same: &dyn Fn(&VersionEntry<'t>, &VersionEntry<'t>) -> bool| {
            first.is_some_and(|first| entries.iter().skip(1).all(|other| same(first, other)))
        };
        VersionList {
            shared_schema: all(&|a, b| a.wrapper.is_some() == b.wrapper.is_some() && same_schema(a.schema.as_ref(), b.schema.as_ref())),
            shared_subresources: all(&|a, b| same_value(&document_types::SUBRESOURCES, a.subresources, b.subresources, true)),
            shared_columns: all(&|a, b| same_value(&document_types::COLUMNS, a.columns, b.columns, false)),
            shared_selectable: all(&|a, b| same_value(&document_types::SELECTABLE, a.selectable, b.selectable, false)),
            entries,
        }
    }

    pub fn schema_field(&self, version: &VersionEntry<'_>) -> String {
        if self.shared_schema {
            "spec.validation.openAPIV3Schema".into()
        } else {
            format!("spec.versions[{}].schema.openAPIV3Schema", version.index)
        }
    }

    pub fn subresources_field(&self, version: &VersionEntry<'_>) -> String {
        placed(self.shared_subresources, version, "subresources")
    }

    pub fn columns_field(&self, version: &VersionEntry<'_>) -> String {
        placed(self.shared_columns, version, "additionalPrinterColumns")
    }

    pub fn selectable_field(&self, version: &VersionEntry<'_>) -> String {
        placed(self.shared_selectable, version, "selectableFields")
    }

    /// Whether the status subresource restricts the version's schema. A shared schema is restricted if any version has the
    /// subresource.
    pub fn status_enabled(&self, version: &VersionEntry<'_>) -> bool {
        if self.shared_schema { self.entries.iter().any(VersionEntry::has_status) } else { version.has_status() }
    }
}

fn placed(shared: bool, version: &VersionEntry<'_>, name: &str) -> String {
    if shared { format!("spec.{name}") } else { format!("spec.versions[{}].{name}", version.index) }
}
