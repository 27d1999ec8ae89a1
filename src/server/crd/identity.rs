//! A CRD's identity: metadata, group, names, scope, and the approval that protected groups need.

use crate::go::strfmt::name;
use crate::go::url::Url;
use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::{FactCollector, Text};

use super::server_checks::ServerChecks;

const APPROVAL: &str = "api-approved.kubernetes.io";
/// The limit in bytes for all keys and values of `metadata.annotations` together.
const ANNOTATIONS_MAX: usize = 256 * 1024;

pub(super) fn check(collector: &mut FactCollector<'_>, checks: &ServerChecks) {
    metadata(collector);
    group(collector);
    scope(collector);
    names(collector);
    preserve(collector, checks);
    approval(collector, checks);
}

/// Where to report a missing key.
fn within<'t>(parent: Node<'t>, key: &str, fallback: Node<'t>) -> Node<'t> {
    parent.entry(key).map_or(fallback, |entry| if entry.value.is_null() { entry.key } else { entry.value })
}

pub(super) fn spec_key<'t>(collector: &FactCollector<'t>) -> Node<'t> {
    collector.crd.node.entry("spec").map_or(collector.crd.name_node, |entry| entry.key)
}

fn metadata(collector: &mut FactCollector<'_>) {
    let plural = collector.crd.names.plural.map_or("", |plural| plural.value);
    let wanted = format!("{plural}.{}", collector.crd.group());
    name(collector, &wanted);
    let Some(metadata) = collector.crd.metadata() else { return };
    for entry in metadata.get("labels").into_iter().flat_map(Node::entries) {
        let fault = name::qualified(entry.name()).or_else(|| entry.value.as_str().and_then(name::label_value));
        if let Some(fault) = fault {
            named(collector, entry.key, "metadata.labels", &fault);
        }
    }
    let mut size = 0;
    for entry in metadata.get("annotations").into_iter().flat_map(Node::entries) {
        size += entry.name().len() + entry.value.as_str().map_or(0, str::len);
        if let Some(fault) = name::qualified(&entry.name().to_lowercase()) {
            named(collector, entry.key, "metadata.annotations", &fault);
        }
    }
    if size > ANNOTATIONS_MAX
        && let Some(entry) = metadata.entry("annotations")
    {
        named(collector, entry.key, "metadata.annotations", "may not be more than 262144 bytes");
    }
    if let Some(node) = metadata.get("generateName")
        && node.as_str().is_some_and(|text| !text.is_empty() && text != wanted)
    {
        named(collector, node, "metadata.generateName", "must be spec.names.plural+\".\"+spec.group");
    }
    let mut controllers = 0;
    for (index, owner) in metadata.get("ownerReferences").into_iter().flat_map(Node::items).enumerate() {
        if owner.get("controller").and_then(Node::as_bool) == Some(true) {
            controllers += 1;
            if controllers > 1 {
                let at = owner.entry_at(0).map_or(owner, |entry| entry.key);
                named(collector, at, "metadata.ownerReferences", "only one reference can have controller set to true");
            }
        }
        for part in ["apiVersion", "kind", "name", "uid"] {
            let text = owner.get(part).and_then(Node::as_str).unwrap_or_default();
            if text.is_empty() || (part == "apiVersion" && !name::names_version(text)) {
                let at = owner.entry_at(0).map_or(owner, |entry| entry.key);
                named(collector, at, &format!("metadata.ownerReferences[{index}].{part}"), &format!("{part} must not be empty"));
            }
        }
    }
    for item in metadata.get("finalizers").into_iter().flat_map(Node::items) {
        if let Some(fault) = item.as_str().and_then(name::qualified) {
            named(collector, item, "metadata.finalizers", &fault);
        }
    }
    if let Some(entry) = metadata.entry("finalizers")
        && ["orphan", "foregroundDeletion"].iter().all(|name| entry.value.items().any(|item| item.as_str() == Some(name)))
    {
        named(collector, entry.key, "metadata.finalizers", "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

/// Checks `metadata.name`. A generated name is never the one that is required.
fn name(collector: &mut FactCollector<'_>, wanted: &str) {
    let node = collector.crd.name_node;
    let prefix = collector.crd.metadata().and_then(|metadata| metadata.get("generateName")).and_then(Node::as_str).unwrap_or_default();
    let name = match collector.crd.is_named() {
        true => collector.crd.name.to_owned(),
        false if prefix.is_empty() => {
            let fact = collector.refuse((Subject::Crd, Aspect::Name, Effect::Missing), node, "metadata.name", "Required value");
            fact.words.insert(Word::Wanted, wanted.to_owned());
            return;
        }
        false => format!("{prefix}xxxxx"),
    };
    if let Some(fault) = name::subdomain(&name) {
        collector
            .refuse((Subject::Crd, Aspect::Name, Effect::Invalid), node, "metadata.name", fault)
            .words
            .insert(Word::Name, name.clone());
    }
    if name != wanted {
        let what = (Subject::Crd, Aspect::Name, Effect::Mismatched);
        let fact = collector.refuse(what, node, "metadata.name", "must be spec.names.plural+\".\"+spec.group");
        fact.words.insert(Word::Name, name);
        fact.words.insert(Word::Wanted, wanted.to_owned());
    }
}

fn named<'t>(collector: &mut FactCollector<'t>, node: Node<'t>, field: &str, fault: &str) {
    let fact = collector.refuse((Subject::Crd, Aspect::Metadata, Effect::Invalid), node, field, fault);
    fact.key = Some(format!("{field}/{}", node.key_text()));
    fact.words.insert(Word::Name, node.key_text().to_owned());
}

fn group(collector: &mut FactCollector<'_>) {
    let spec = collector.crd.spec;
    let node = within(spec, "group", spec_key(collector));
    let group = collector.crd.group();
    let fault = if group.is_empty() {
        collector.refuse((Subject::Crd, Aspect::Group, Effect::Missing), node, "spec.group", "Required value");
        return;
    } else if let Some(fault) = name::subdomain(group) {
        fault
    } else if !group.contains('.') {
        "should be a domain with at least one dot".to_owned()
    } else {
        return;
    };
    collector.refuse((Subject::Crd, Aspect::Group, Effect::Invalid), node, "spec.group", fault).words.insert(Word::Name, group.to_owned());
}

fn scope(collector: &mut FactCollector<'_>) {
    let node = within(collector.crd.spec, "scope", spec_key(collector));
    match collector.crd.scope.map_or("", |scope| scope.value) {
        "Cluster" | "Namespaced" => {}
        "" => {
            collector.refuse((Subject::Crd, Aspect::Scope, Effect::Missing), node, "spec.scope", "Required value");
        }
        other => {
            let reason = "supported values: \"Cluster\", \"Namespaced\"";
            let fact = collector.refuse((Subject::Crd, Aspect::Scope, Effect::Invalid), node, "spec.scope", reason);
            fact.words.insert(Word::Name, other.to_owned());
        }
    }
}

fn names<'t>(collector: &mut FactCollector<'t>) {
    let names = collector.crd.names.clone();
    let spec = collector.crd.spec;
    let parent = spec.entry("names").map_or_else(|| spec_key(collector), |entry| entry.key);
    let at = |key: &str| spec.get("names").map_or(parent, |names| within(names, key, parent));
    let value = |text: Option<Text<'_>>| text.map_or("", |text| text.value).to_owned();
    let kind = value(names.kind);
    let plural = value(names.plural);
    // The server fills in what is missing, and then validates it like the rest.
    let singular = Some(value(names.singular)).filter(|text| !text.is_empty()).unwrap_or_else(|| kind.to_lowercase());
    let list_kind = Some(value(names.list_kind))
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| if kind.is_empty() { String::new() } else { format!("{kind}List") });

    let mut judge = |aspect: Aspect, key: &str, text: &str, fold: bool, node: Node<'t>| {
        let field = format!("spec.names.{key}");
        let folded = if fold { text.to_lowercase() } else { text.to_owned() };
        let (effect, reason) = if text.is_empty() {
            (Effect::Missing, "Required value".to_owned())
        } else if let Some(fault) = name::letter_label(&folded) {
            (Effect::Invalid, if fold { format!("may have mixed case, but should otherwise match: {fault}") } else { fault })
        } else {
            return;
        };
        let fact = collector.refuse((Subject::Crd, aspect, effect), node, field, reason);
        fact.words.insert(Word::Name, text.to_owned());
    };
    judge(Aspect::Plural, "plural", &plural, false, at("plural"));
    judge(Aspect::Singular, "singular", &singular, false, at("singular"));
    judge(Aspect::Kind, "kind", &kind, true, at("kind"));
    judge(Aspect::ListKind, "listKind", &list_kind, true, at("listKind"));

    if !kind.is_empty() && kind == list_kind {
        let reason = "kind and listKind may not be the same";
        collector.refuse((Subject::Crd, Aspect::ListKind, Effect::Mismatched), at("listKind"), "spec.names.listKind", reason);
    }
    for (aspect, key) in [(Aspect::ShortName, "shortNames"), (Aspect::Category, "categories")] {
        for (index, item) in spec.get("names").and_then(|names| names.get(key)).into_iter().flat_map(Node::items).enumerate() {
            let text = item.as_str().unwrap_or_default();
            if let Some(fault) = name::letter_label(text) {
                let fact = collector.refuse((Subject::Crd, aspect, Effect::Invalid), item, format!("spec.names.{key}[{index}]"), fault);
                fact.key = Some(text.to_owned());
                fact.words.insert(Word::Name, text.to_owned());
            }
        }
    }
}

fn preserve(collector: &mut FactCollector<'_>, checks: &ServerChecks) {
    let Some(entry) = collector.crd.spec.entry("preserveUnknownFields") else { return };
    if entry.value.as_bool() == Some(true) && checks.no_preserve {
        let reason = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        collector.refuse((Subject::Crd, Aspect::PreserveUnknownSpec, Effect::Forbidden), entry.key, "spec.preserveUnknownFields", reason);
    }
}

/// What the approval annotation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    Missing,
    Bypassed,
    Approved,
    Invalid,
}

impl Approval {
    pub fn of(crd: &crate::model::Crd<'_>) -> Self {
        let text = crd.annotations().find(|(entry, _)| entry.name() == APPROVAL).map_or("", |(_, text)| text);
        if text.is_empty() {
            Approval::Missing
        } else if text.starts_with("unapproved") {
            Approval::Bypassed
        } else if Url::parse_request_uri(text).is_ok_and(|url| !url.host.is_empty() && !url.scheme.is_empty()) {
            Approval::Approved
        } else {
            Approval::Invalid
        }
    }
}

fn approval(collector: &mut FactCollector<'_>, checks: &ServerChecks) {
    let group = collector.crd.group();
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let state = Approval::of(&collector.crd);
    if !is_protected || checks.approval == Some(state) {
        return;
    }
    let field = format!("metadata.annotations[{APPROVAL}]");
    let entry = collector.crd.annotations().find(|(entry, _)| entry.name() == APPROVAL).map(|(entry, _)| entry);
    match state {
        Approval::Approved | Approval::Bypassed => {}
        Approval::Missing => {
            let reason = format!("protected groups must have the annotation {APPROVAL}");
            let node = entry.map_or(collector.crd.name_node, |entry| entry.key);
            collector.refuse((Subject::Crd, Aspect::ApprovedAnnotation, Effect::Missing), node, field, reason);
        }
        Approval::Invalid => {
            let reason = format!("{APPROVAL} must be a URL, or a reason starting with \"unapproved\"");
            let node = entry.map_or(collector.crd.name_node, |entry| entry.value);
            collector.refuse((Subject::Crd, Aspect::ApprovedAnnotation, Effect::Invalid), node, field, reason);
        }
    }
}
