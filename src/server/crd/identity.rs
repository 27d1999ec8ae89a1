//! Checks a CRD's identity: metadata, group, names, scope, and the approval that protected groups need.

use crate::go::strfmt::name;
use crate::go::url::Url;
use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::{FactCollector, StringNode};

use super::server_checks::ServerChecks;
use crate::input::has_template_expression;
use crate::server::object::{FieldErrorType, ObjectStep};
use crate::server::object_meta::{self, MetadataFault, NamePart};

const APPROVAL: &str = "api-approved.kubernetes.io";

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

/// The server's message for a CRD whose name doesn't match its plural and group.
const NAME_MISMATCH: &str = "must be spec.names.plural+\".\"+spec.group";

fn metadata(collector: &mut FactCollector<'_>) {
    let plural = collector.crd.names.plural.map_or("", |plural| plural.value);
    let wanted = format!("{plural}.{}", collector.crd.group());
    let names = |text: &str, part: NamePart| {
        let fault = match part {
            NamePart::Whole => name::subdomain(text),
            NamePart::Prefix => name::subdomain_prefix(text),
        };
        fault.into_iter().chain((text != wanted).then(|| NAME_MISMATCH.to_owned())).collect()
    };
    let node = collector.crd.metadata();
    let mut values = node.map(Node::to_json).and_then(|value| value.as_object().cloned()).unwrap_or_default();
    // The server clears the namespace of cluster-scoped objects before validation.
    values.remove("namespace");
    // Helm replaces the expressions in labels before a server sees them.
    if let Some(labels) = values.get_mut("labels").and_then(serde_json::Value::as_object_mut) {
        labels.retain(|_, value| !value.as_str().is_some_and(has_template_expression));
    }
    for fault in object_meta::check_named(&values, &names) {
        refuse_metadata(collector, &fault, &wanted);
    }
}

fn refuse_metadata(collector: &mut FactCollector<'_>, fault: &MetadataFault, wanted: &str) {
    let field = format!("metadata.{}", fault.path.bracketed());
    if field == "metadata.name" {
        let effect = match fault.reason {
            FieldErrorType::Required => Effect::Missing,
            _ if fault.detail == NAME_MISMATCH => Effect::Mismatched,
            _ => Effect::Invalid,
        };
        let node = collector.crd.name_node;
        let reason = if effect == Effect::Missing { "Required value" } else { &fault.detail };
        let fact = collector.refuse((Subject::Crd, Aspect::Name, effect), node, field, reason);
        if let Some(name) = fault.value.as_str() {
            fact.words.insert(Word::Name, name.to_owned());
        }
        if effect != Effect::Invalid {
            fact.words.insert(Word::Wanted, wanted.to_owned());
        }
        return;
    }
    let Some(node) = collector.crd.metadata().map(|metadata| faulty_node(fault, metadata)) else { return };
    let key = Some(format!("{field}/{}", node.key_text()));
    // One finding per entry is enough, even if both its key and its value are wrong.
    if collector.facts().iter().any(|fact| fact.key == key) {
        return;
    }
    let fact = collector.refuse((Subject::Crd, Aspect::Metadata, Effect::Invalid), node, field, fault.detail.as_str());
    fact.key = key;
    fact.words.insert(Word::Name, node.key_text().to_owned());
}

/// The node to point at: the key of an entry, the first key of an item, or the value of a plain field.
fn faulty_node<'t>(fault: &MetadataFault, metadata: Node<'t>) -> Node<'t> {
    let (field, _) = fault.path.locate(metadata);
    match &fault.entry {
        Some(ObjectStep::Index(index)) => field.item_at(*index).map_or(field, first_key),
        Some(ObjectStep::Key(key) | ObjectStep::Entry(key)) => field.entry(key).map_or(field, |entry| entry.key),
        None if field.is_map() || field.is_seq() => fault.path.locate_key(metadata).unwrap_or(field),
        None => field,
    }
}

fn first_key(node: Node<'_>) -> Node<'_> {
    node.entry_at(0).map_or(node, |entry| entry.key)
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
    let value = |text: Option<StringNode<'_>>| text.map_or("", |text| text.value).to_owned();
    let kind = value(names.kind);
    let plural = value(names.plural);
    // The server fills in missing names, and then validates them like the others.
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

/// The state of the approval annotation.
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
