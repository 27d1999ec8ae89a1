//! Compares labels, annotations and everything else in a CRD document outside its spec.

use crate::input::yaml::{Entry, Node};
use crate::model::Crd;
use crate::model::fact::{Affected, Aspect, Effect, Mark, Word};

use super::crd::CrdComparison;
use super::documentation::presence;
use super::side_by_side::{entries, only_on_one_side};
use super::value_text::{cut, value};

/// Written by the server, not by the author.
const OWNED: &[&str] = &[
    "name",
    "annotations",
    "labels",
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];
/// Keys of a CRD document, of its spec and of its names, in both versions of the API.
const DOCUMENT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];
const SPEC: &[&str] = &[
    "group",
    "names",
    "scope",
    "versions",
    "conversion",
    "preserveUnknownFields",
    "version",
    "validation",
    "subresources",
    "additionalPrinterColumns",
];
const NAMES: &[&str] = &["plural", "singular", "kind", "listKind", "shortNames", "categories"];

impl<'t> CrdComparison<'_, 't> {
    pub(super) fn metadata(&mut self) {
        let (old, new) = (self.old.metadata(), self.new.metadata());
        let map = |metadata: Option<Node<'t>>, name: &str| metadata.and_then(|metadata| metadata.get(name));
        for (before, after) in entries(map(old, "annotations"), map(new, "annotations"), &[]) {
            let name = before.or(after).map_or("", |entry| entry.name());
            let aspect = match name.rsplit('/').next() {
                Some("bundle-version") if name.contains('/') => Aspect::BundleVersion,
                Some("channel") if name.contains('/') => Aspect::Channel,
                _ if name == "api-approved.kubernetes.io" => Aspect::ApprovedAnnotation,
                _ => Aspect::AnnotationKey,
            };
            self.entry(aspect, before, after);
        }
        for (before, after) in entries(map(old, "labels"), map(new, "labels"), &[]) {
            self.entry(Aspect::Label, before, after);
        }
        for (before, after) in entries(old, new, OWNED) {
            self.entry(Aspect::Metadata, before, after);
        }
        self.stored_versions();
    }

    fn entry(&mut self, aspect: Aspect, old: Option<Entry<'t>>, new: Option<Entry<'t>>) {
        let name = old.or(new).map_or("", |entry| entry.name());
        let effect = presence(old.is_some(), new.is_some());
        let shown = |entry: Option<Entry<'t>>| entry.map(|entry| entry.value);
        let text = |entry: Option<Entry<'t>>| match entry.and_then(|entry| entry.value.as_str()) {
            Some(text) => cut(text, 72),
            None => value(shown(entry)),
        };
        let fact = self.crd_fact(aspect, effect, shown(old), shown(new)).key(name).word(Word::Name, cut(name, 100));
        let fact = fact.word(Word::Old, text(old)).word(Word::New, text(new));
        let channel = |entry: Option<Entry<'t>>| entry.and_then(|entry| entry.value.as_str()).filter(|_| aspect == Aspect::Channel);
        let graduates = (channel(old), channel(new)) == (Some("experimental"), Some("standard"));
        self.facts.push(if graduates { fact.mark(Mark::Graduates) } else { fact });
    }

    /// Compares the stored versions, if both sides are dumps of a live CRD.
    fn stored_versions(&mut self) {
        let (old, new) = (&self.old.stored_versions, &self.new.stored_versions);
        // A manifest has no status, so only two dumps can be compared.
        if old.is_empty() || new.is_empty() {
            return;
        }
        let (gone, come) = only_on_one_side(old, new);
        for gone in gone {
            let fact = self.crd_fact(Aspect::StoredVersions, Effect::Removed, Some(gone.node), None);
            self.facts.push(fact.key(gone.value).word(Word::Name, gone.value).affects(&[Affected::Stored]));
        }
        for come in come {
            let fact = self.crd_fact(Aspect::StoredVersions, Effect::Added, None, Some(come.node));
            self.facts.push(fact.key(come.value).word(Word::Name, come.value));
        }
    }

    /// Reports keys that no CRD has.
    pub(super) fn keywords(&mut self) {
        let names = |crd: &Crd<'t>| crd.spec.get("names");
        // v1beta1 has one schema for all versions.
        let validation = |crd: &Crd<'t>| crd.spec.get("validation");
        for (known, old, new) in [
            (DOCUMENT, Some(self.old.node), Some(self.new.node)),
            (SPEC, Some(self.old.spec), Some(self.new.spec)),
            (NAMES, names(self.old), names(self.new)),
            (&["openAPIV3Schema"], validation(self.old), validation(self.new)),
        ] {
            for (before, after) in entries(old, new, known) {
                self.entry(Aspect::Keyword, before, after);
            }
        }
    }
}
