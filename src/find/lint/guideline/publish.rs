//! Checks how a bundle declares its release: bundle versions and channels, and which fields are in which channel.

use std::collections::BTreeSet;

use crate::find::review_context::ReviewContext;
use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::schema::Schema;
use crate::model::{Bundle, Crd, FieldPath, PathStep};

fn note(crd: &Crd<'_>, what: (Subject, Aspect, Effect), node: Node<'_>) -> Fact {
    Fact::about(crd, what.0, what.1, what.2).after(crd.place(node))
}

/// `v0.0.0-dev` is a version too: that of a tree between releases.
fn is_semver(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let short =
        text.split('.').count() < 3 && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    short || semver::Version::parse(text).is_ok()
}

/// Checks the annotations for version and channel.
pub(super) fn annotations(bundle: &Bundle<'_>, context: &ReviewContext<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let versioned = bundle.crds.iter().any(|crd| crd.bundle_version().is_some());
    let channelled = bundle.crds.iter().any(|crd| crd.channel().is_some());
    if let (false, false, Some(first)) = (versioned, context.versioned, bundle.crds.first()) {
        facts.push(Fact::new(Subject::Bundle, Aspect::BundleVersion, Effect::Missing, "").after(first.place(first.name_node)));
    }
    for crd in &bundle.crds {
        let at = crd.metadata().and_then(|metadata| metadata.entry("annotations")).map_or(crd.name_node, |entry| entry.key);
        match crd.bundle_version() {
            Some(version) if !is_semver(version.value) => {
                facts
                    .push(note(crd, (Subject::Crd, Aspect::BundleVersion, Effect::Invalid), version.node).word(Word::Value, version.value));
            }
            None if versioned => facts.push(note(crd, (Subject::Crd, Aspect::BundleVersion, Effect::Missing), at)),
            _ => {}
        }
        match crd.channel_node() {
            Some(channel) if !["standard", "experimental"].contains(&channel.value) => {
                facts.push(note(crd, (Subject::Crd, Aspect::Channel, Effect::Invalid), channel.node).word(Word::Value, channel.value));
            }
            None if channelled || versioned => facts.push(note(crd, (Subject::Crd, Aspect::Channel, Effect::Missing), at)),
            _ => {}
        }
    }
    facts
}

/// The pairs of CRDs with the same name in each channel.
fn channels<'b, 't>(bundle: &'b Bundle<'t>) -> Vec<(&'b Crd<'t>, &'b Crd<'t>)> {
    let in_channel = |name: &str, channel: &str| bundle.named(name).iter().find(|crd| crd.channel() == Some(channel));
    let names: BTreeSet<&str> = bundle.crds.iter().map(|crd| crd.name).collect();
    names.into_iter().filter_map(|name| Some((in_channel(name, "standard")?, in_channel(name, "experimental")?))).collect()
}

/// Reports fields of the standard channel that the experimental one doesn't have.
pub(super) fn misplaced(bundle: &Bundle<'_>, context: &ReviewContext<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (standard, experimental) in channels(bundle) {
        absent(standard, experimental, &mut |version, path, key| {
            let fact = note(standard, (Subject::Field, Aspect::Channel, Effect::Misplaced), key);
            facts.push(fact.version(version).path(path));
        });
    }
    let Some(given) = context.standard else { return facts };
    for experimental in bundle.crds.iter().filter(|crd| crd.channel().is_none_or(|channel| channel == "experimental")) {
        let Some(standard) = given.named(experimental.name).first() else { continue };
        absent(standard, experimental, &mut |version, path, _| {
            let at = experimental.version(version).map_or(experimental.name_node, |version| version.name_node);
            let fact = note(experimental, (Subject::Field, Aspect::Channel, Effect::Misplaced), at);
            facts.push(fact.version(version).path(path));
        });
    }
    facts
}

/// Reports fields that are new in the standard channel and were never in the experimental one.
pub(super) fn early(old: &Bundle<'_>, new: &Bundle<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let before = channels(old);
    for (standard, experimental) in channels(new) {
        let Some((old_standard, old_experimental)) = before.iter().find(|(crd, _)| crd.name == standard.name) else { continue };
        absent(standard, old_standard, &mut |version, path, key| {
            let stood = |crd: &Crd<'_>| {
                crd.version(version).and_then(|version| version.schema.as_ref()).is_some_and(|schema| schema.at(path).is_some())
            };
            // A whole new version, and a field that only the standard channel has, have their own facts.
            if old_standard.version(version).is_some() && stood(experimental) && !stood(old_experimental) {
                let fact = note(standard, (Subject::Field, Aspect::Channel, Effect::Early), key);
                facts.push(fact.version(version).path(path));
            }
        });
    }
    facts
}

/// Calls `say` for every field that `crd` declares and `other` doesn't: the topmost of each branch, in versions that both have.
fn absent<'t>(crd: &Crd<'t>, other: &Crd<'_>, say: &mut dyn FnMut(&'t str, &FieldPath, Node<'t>)) {
    for version in &crd.versions {
        let Some(schema) = &version.schema else { continue };
        if let Some(theirs) = other.version(version.name).and_then(|version| version.schema.as_ref()) {
            compare(schema, theirs, &mut FieldPath::root(), &mut |path, key| say(version.name, path, key));
        }
    }
}

fn compare<'t>(ours: &Schema<'t>, theirs: &Schema<'_>, path: &mut FieldPath, say: &mut dyn FnMut(&FieldPath, Node<'t>)) {
    for (step, entry, child) in ours.children() {
        let path_step = PathStep::from(step);
        let other = theirs.below(&path_step);
        path.push(path_step);
        match (other, step) {
            (Some(other), _) => compare(&child, &other, path, say),
            (None, PathStep::Key(_)) => say(path, entry.key),
            (None, PathStep::Items | PathStep::Values) => {}
        }
        path.pop();
    }
}
