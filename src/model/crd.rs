//! A CRD as the server reads it, with the YAML node of each attribute.

use crate::input::yaml::Node;
use crate::model::kubernetes::{Feature, Server};
use crate::model::schema::Schema;

use super::{FileId, Place};

/// A string and its node; `None` if missing in the document.
#[derive(Debug, Clone, Copy)]
pub struct StringNode<'t> {
    pub value: &'t str,
    pub node: Node<'t>,
}

/// The version of the CRD API that the document uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    V1,
    /// Removed in Kubernetes 1.22; still read for comparison, with its top-level `version`, `validation` and so on.
    V1Beta1,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// The stability that a version's name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Maturity {
    Alpha,
    Beta,
    Stable,
}

impl Maturity {
    pub fn name(self) -> &'static str {
        match self {
            Maturity::Alpha => "alpha",
            Maturity::Beta => "beta",
            Maturity::Stable => "ga",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Names<'t> {
    pub plural: Option<StringNode<'t>>,
    pub singular: Option<StringNode<'t>>,
    pub kind: Option<StringNode<'t>>,
    pub list_kind: Option<StringNode<'t>>,
    pub short_names: Vec<StringNode<'t>>,
    pub categories: Vec<StringNode<'t>>,
}

#[derive(Debug, Clone)]
pub struct Conversion<'t> {
    pub node: Option<Node<'t>>,
    /// As in the document: `None` or `Webhook`.
    pub strategy: Option<StringNode<'t>>,
    /// The strategy that a kustomize patch sets.
    pub patched: Option<&'t str>,
}

impl<'t> Conversion<'t> {
    /// The effective strategy: from a patch, or from the document, or else `None`.
    pub fn strategy(&self) -> &'t str {
        self.patched.or(self.strategy.map(|strategy| strategy.value)).unwrap_or("None")
    }

    pub fn is_webhook(&self) -> bool {
        self.strategy() == "Webhook"
    }
}

#[derive(Debug, Clone)]
pub struct Version<'t> {
    /// Its index in `spec.versions`.
    pub index: usize,
    /// The version's mapping; for a v1beta1 CRD with only `spec.version`, the spec.
    pub node: Node<'t>,
    pub name: &'t str,
    pub name_node: Node<'t>,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    pub deprecation_warning: Option<StringNode<'t>>,
    /// Root of `openAPIV3Schema`.
    pub schema: Option<Schema<'t>>,
    pub subresources: Option<Node<'t>>,
    pub columns: Option<Node<'t>>,
    pub selectable_fields: Option<Node<'t>>,
}

impl<'t> Version<'t> {
    /// The key of the schema, or the version's name without a schema.
    pub fn schema_key(&self) -> Node<'t> {
        let stanza = self.node.get("schema").or_else(|| self.node.get("validation"));
        stanza.and_then(|stanza| stanza.entry("openAPIV3Schema")).map_or(self.name_node, |entry| entry.key)
    }

    pub fn status_subresource(&self) -> Option<Node<'t>> {
        self.subresources.and_then(|node| node.get("status"))
    }

    pub fn scale_subresource(&self) -> Option<Node<'t>> {
        self.subresources.and_then(|node| node.get("scale"))
    }

    /// The stability that the version's name promises.
    pub fn maturity(&self) -> Maturity {
        self.priority().maturity()
    }

    pub fn priority(&self) -> Priority<'t> {
        Priority::of(self.name)
    }
}

/// The order in which discovery lists versions; `kubectl` uses the greatest by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority<'t> {
    Kube { maturity: Maturity, major: u64, minor: u64 },
    Other(&'t str),
}

impl<'t> Priority<'t> {
    pub fn of(name: &'t str) -> Self {
        Self::kube(name).unwrap_or(Priority::Other(name))
    }

    /// `v1` is stable, `v1beta2` beta, `v1alpha1` alpha. The name of an alpha version warns its users; a name of another form
    /// doesn't, so it counts as stable.
    pub fn maturity(self) -> Maturity {
        match self {
            Priority::Kube { maturity, .. } => maturity,
            Priority::Other(_) => Maturity::Stable,
        }
    }

    fn kube(name: &str) -> Option<Self> {
        let rest = name.strip_prefix('v')?;
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let positive = |text: &str| text.parse::<u64>().ok().filter(|n| *n > 0 && !text.starts_with('0'));
        let (major, rest) = rest.split_at_checked(digits(rest))?;
        let major = positive(major)?;
        if rest.is_empty() {
            return Some(Priority::Kube { maturity: Maturity::Stable, major, minor: 0 });
        }
        let (maturity, minor) = match rest.strip_prefix("alpha") {
            Some(minor) => (Maturity::Alpha, minor),
            None => (Maturity::Beta, rest.strip_prefix("beta")?),
        };
        Some(Priority::Kube { maturity, major, minor: positive(minor)? })
    }
}

impl Ord for Priority<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        use std::cmp::Ordering;
        match (self, other) {
            (Priority::Kube { maturity: a, major: b, minor: c }, Priority::Kube { maturity: x, major: y, minor: z }) => {
                (a, b, c).cmp(&(x, y, z))
            }
            (Priority::Kube { .. }, Priority::Other(_)) => Ordering::Greater,
            (Priority::Other(_), Priority::Kube { .. }) => Ordering::Less,
            (Priority::Other(a), Priority::Other(b)) => b.cmp(a),
        }
    }
}

impl PartialOrd for Priority<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Annotations that a project uses to mark its CRDs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// If empty, every key that ends with `/bundle-version`.
    pub bundle_version: Vec<String>,
    /// If empty, every key that ends with `/channel`.
    pub channel: Vec<String>,
    /// Distinguishes several CRDs with the same name in one bundle, in addition to the channel.
    pub feature_set: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Crd<'t> {
    pub file: FileId,
    /// The file's path, without a revision.
    pub path: &'t str,
    pub api: Api,
    /// The server that reads it.
    pub kubernetes: Server,
    /// The whole document.
    pub node: Node<'t>,
    /// `spec`, or the document itself if missing.
    pub spec: Node<'t>,
    /// `metadata.name`, or what it should be if missing.
    pub name: &'t str,
    pub name_node: Node<'t>,
    pub group: Option<StringNode<'t>>,
    pub names: Names<'t>,
    pub scope: Option<StringNode<'t>>,
    pub conversion: Conversion<'t>,
    pub versions: Vec<Version<'t>>,
    /// `status.storedVersions`, in a dump of a live CRD.
    pub stored_versions: Vec<StringNode<'t>>,
    pub(super) marks: Marks<'t>,
}

/// What the annotations of a CRD say about its release.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks<'t> {
    bundle_version: Option<StringNode<'t>>,
    channel: Option<StringNode<'t>>,
    feature_set: Vec<&'t str>,
    /// The part of the path that other copies in the bundle don't share, if they differ from this one.
    pub(super) file: Option<&'t str>,
}

impl Server {
    /// The `selectableFields` of a version, if the server supports them.
    pub fn selectable<'t>(self, list: Option<Node<'t>>) -> Option<Node<'t>> {
        list.filter(|list| list.is_empty() || self.has(Feature::SelectableFields))
    }
}

/// Distinguishes a CRD from others with its name: its channel, its feature set, and if necessary its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Track<'a> {
    pub channel: Option<&'a str>,
    pub feature_set: &'a [&'a str],
    pub file: Option<&'a str>,
}

impl<'t> Crd<'t> {
    /// The same CRD as this server reads it, without the fields that the server drops.
    pub fn on(&self, kubernetes: impl Into<Server>) -> Crd<'t> {
        let kubernetes = kubernetes.into();
        let mut crd = Crd { kubernetes, ..self.clone() };
        for version in &mut crd.versions {
            version.schema = version.schema.take().map(|schema| schema.on(kubernetes));
            version.selectable_fields = kubernetes.selectable(version.selectable_fields);
        }
        crd
    }

    /// Whether the whole CRD keeps undeclared fields. v1beta1 does by default, v1 never does.
    pub fn preserves_unknown(&self) -> bool {
        self.spec.get("preserveUnknownFields").and_then(Node::as_bool).unwrap_or(self.api == Api::V1Beta1)
    }

    pub fn kind(&self) -> &'t str {
        self.names.kind.map_or("", |kind| kind.value)
    }

    pub fn group(&self) -> &'t str {
        self.group.map_or("", |group| group.value)
    }

    pub fn scope(&self) -> Option<Scope> {
        match self.scope?.value {
            "Namespaced" => Some(Scope::Namespaced),
            "Cluster" => Some(Scope::Cluster),
            _ => None,
        }
    }

    pub fn version(&self, name: &str) -> Option<&Version<'t>> {
        self.versions.iter().find(|version| version.name == name)
    }

    pub fn storage_version(&self) -> Option<&Version<'t>> {
        self.versions.iter().find(|version| version.storage)
    }

    /// The version that `kubectl` uses by default.
    pub fn preferred_version(&self) -> Option<&Version<'t>> {
        self.versions.iter().filter(|version| version.served).max_by_key(|version| version.priority())
    }

    /// Whether the document has a name.
    pub fn is_named(&self) -> bool {
        super::read_crd::name(self.node).is_some()
    }

    pub fn metadata(&self) -> Option<Node<'t>> {
        self.node.get("metadata")
    }

    pub fn annotations(&self) -> impl Iterator<Item = (crate::input::yaml::Entry<'t>, &'t str)> + 't {
        let map = self.metadata().and_then(|metadata| metadata.get("annotations"));
        map.into_iter().flat_map(Node::entries).filter_map(|entry| Some((entry, entry.value.as_str()?)))
    }

    /// The value of an annotation whose key ends with `/suffix`: `…/bundle-version`, `…/channel`.
    pub fn annotation_by_suffix(&self, suffix: &str) -> Option<StringNode<'t>> {
        self.annotations().find_map(|(entry, value)| {
            let (prefix, last) = entry.name().rsplit_once('/')?;
            (last == suffix && !prefix.is_empty()).then_some(StringNode { value, node: entry.value })
        })
    }

    /// Reads the annotations with these keys.
    pub(super) fn mark(&mut self, keys: &Keys) {
        let named = |names: &[String], suffix: &str| match names {
            [] => self.annotation_by_suffix(suffix),
            names => names.iter().find_map(|name| self.annotation(name)),
        };
        let feature_set = keys.feature_set.iter().map(|key| self.annotation(key).map_or("", |text| text.value)).collect();
        let (bundle_version, channel) = (named(&keys.bundle_version, "bundle-version"), named(&keys.channel, "channel"));
        self.marks = Marks { bundle_version, channel, feature_set, file: None };
    }

    fn annotation(&self, key: &str) -> Option<StringNode<'t>> {
        self.annotations().find_map(|(entry, value)| (entry.name() == key).then_some(StringNode { value, node: entry.value }))
    }

    pub fn track(&self) -> Track<'_> {
        Track { channel: self.marks.channel.map(|channel| channel.value), feature_set: &self.marks.feature_set, file: self.marks.file }
    }

    /// The file that distinguishes this CRD from other copies in its bundle.
    pub fn variant(&self) -> Option<&'t str> {
        self.marks.file
    }

    /// Whether another CRD with this name is published for the same clusters: in the same channel and feature set.
    pub fn is_parallel(&self, other: &Crd<'_>) -> bool {
        let (own, other) = (self.track(), other.track());
        (own.channel, own.feature_set) == (other.channel, other.feature_set)
    }

    /// The CRD among `others` that corresponds to this one: in the same channel, and in the file with the most similar path.
    pub fn counterpart<'b, 'o>(&self, others: impl IntoIterator<Item = &'b Crd<'o>>) -> Option<&'b Crd<'o>>
    where
        'o: 'b,
    {
        let shared = |other: &Crd<'_>| {
            let (own, other) = (self.path.rsplit('/'), other.path.rsplit('/'));
            own.zip(other).take_while(|(a, b)| a == b).count()
        };
        let parallel = others.into_iter().filter(|other| self.is_parallel(other));
        parallel.min_by_key(|other| std::cmp::Reverse((other.variant() == self.variant(), shared(other))))
    }

    pub fn bundle_version(&self) -> Option<StringNode<'t>> {
        self.marks.bundle_version
    }

    /// `standard` or `experimental`, if the bundle is published in channels.
    pub fn channel(&self) -> Option<&'t str> {
        self.channel_node().map(|channel| channel.value)
    }

    pub fn channel_node(&self) -> Option<StringNode<'t>> {
        self.marks.channel
    }

    /// The place of one of its nodes.
    pub fn place(&self, node: Node<'_>) -> Place {
        Place { file: self.file, span: node.span() }
    }
}
