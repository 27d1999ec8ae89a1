//! Checks how fields and versions are removed: deprecated with an alternative, then unserved, then migrated, then removed.

use crate::find::review_context::ReviewContext;
use crate::input::list_all;
use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Subject, Word};
use crate::model::schema::{Keyword, Schema, deprecation_notice, is_deprecated};
use crate::model::{Crd, FieldPath, Maturity, PathStep, Priority, Version};

pub(super) fn check(collector: &mut FactCollector<'_>, context: &ReviewContext<'_>) {
    let crd = collector.crd.clone();
    let marks = Marks::of(crd.node, !context.assigned.is_empty());
    for version in &crd.versions {
        deprecated_version(collector, &crd, version);
        if let Some(schema) = version.schema.as_ref().filter(|schema| marks.are_in(schema.node())) {
            Fields { collector, context, crd: &crd, version, marks: &marks }.walk(schema, None, &mut FieldPath::root());
        }
    }
    storage(collector, &crd);
}

/// Whether a fact is one that [`check`] emits.
pub(super) fn is_retirement(fact: &Fact) -> bool {
    let aspects = [Aspect::DeprecationWarning, Aspect::Deprecation, Aspect::Maturity, Aspect::Storage, Aspect::StoredVersions];
    aspects.contains(&fact.aspect)
}

/// Reports a deprecated version whose warning doesn't name a replacement.
fn deprecated_version(collector: &mut FactCollector<'_>, crd: &Crd<'_>, version: &Version<'_>) {
    if !version.deprecated {
        return;
    }
    let text = version.deprecation_warning.map_or("", |warning| warning.value);
    let names_version = crd.versions.iter().any(|other| other.name != version.name && text.contains(other.name));
    // Without a text, the server writes one that recommends the newest version with a higher priority.
    let better = |other: &Version<'_>| other.served && !other.deprecated && Priority::of(other.name) > Priority::of(version.name);
    let recommended = version.deprecation_warning.is_none() && crd.versions.iter().any(better);
    if names_version || recommended || names_replacement(text) {
        return;
    }
    let entry = ["deprecationWarning", "deprecated"].iter().find_map(|key| collector.crd.version(version.name)?.node.entry(key));
    let node = entry.map_or(collector.crd.name_node, |entry| entry.key);
    let fact = collector.note((Subject::Version, Aspect::DeprecationWarning, Effect::Unclear), node);
    fact.version = Some(version.name.to_owned());
    fact.words.insert(Word::What, format!("version {}", version.name));
}

/// Reports objects that are still stored at a deprecated version.
fn storage(collector: &mut FactCollector<'_>, crd: &Crd<'_>) {
    if let Some(version) = collector.crd.clone().storage_version()
        && (version.deprecated || !version.served)
        && crd.versions.iter().any(|other| other.served && other.name != version.name)
    {
        let node = version.node.entry("storage").map_or(version.name_node, |entry| entry.key);
        let fact = collector.note((Subject::Version, Aspect::Storage, Effect::Early), node);
        fact.version = Some(version.name.to_owned());
        fact.words.insert(Word::State, if version.served { "deprecated" } else { "no longer served" }.to_owned());
    }
    let stored: Vec<&str> = crd.stored_versions.iter().map(|text| text.value).collect();
    if let (true, Some(node)) = (stored.len() > 1, collector.crd.stored_versions.first().map(|text| text.node)) {
        let fact = collector.note((Subject::Crd, Aspect::StoredVersions, Effect::Mixed), node);
        fact.affects = fact.affects.with(Affected::Stored);
        fact.words.insert(Word::List, stored.join(", "));
    }
}

/// Whether a deprecation notice names a replacement, or says that there is none.
pub(super) fn names_replacement(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    const WAYS: &[&str] = &[
        "use ",
        "use:",
        "using ",
        "instead",
        "replace",
        "supersede",
        "migrat",
        "in favor",
        "in favour",
        "see ",
        "prefer",
        "moved to",
        "renamed",
        "switch to",
        "no effect",
        "no longer ",
        "ignored",
        "alternative",
        "set ",
        "configure",
        "refer to",
        "specif",
        "redirect",
        "never set",
        "unused",
        "not used",
        "can't be",
    ];
    WAYS.iter().any(|way| lower.contains(way)) || text.contains('`')
}

/// The positions of words that relevant descriptions contain, so that the rest of the schema can be skipped.
struct Marks {
    everywhere: bool,
    offsets: Vec<usize>,
}

impl Marks {
    fn of(node: Node<'_>, everywhere: bool) -> Self {
        let mut offsets: Vec<usize> = Vec::new();
        let (text, start) = (node.source().as_bytes(), node.span().start as usize);
        for word in ["eprecated", "EPRECATED", "lpha", "LPHA", "xperimental"] {
            offsets.extend(memchr::memmem::find_iter(text, word).map(|at| start + at));
        }
        offsets.sort_unstable();
        Marks { everywhere: everywhere || node.tree().is_aliased(), offsets }
    }

    fn are_in(&self, node: Node<'_>) -> bool {
        let range = node.span().range();
        let first = self.offsets.partition_point(|&at| at < range.start);
        self.everywhere || self.offsets.get(first).is_some_and(|at| range.contains(at))
    }
}

struct Fields<'w, 'o, 't> {
    collector: &'w mut FactCollector<'t>,
    context: &'w ReviewContext<'o>,
    crd: &'w Crd<'t>,
    version: &'w Version<'t>,
    marks: &'w Marks,
}

impl<'t> Fields<'_, '_, 't> {
    /// `given` is the key of the field, and whether its parent requires it.
    fn walk(&mut self, schema: &Schema<'t>, given: Option<(Node<'t>, bool)>, path: &mut FieldPath) {
        if !self.marks.are_in(schema.node()) {
            return;
        }
        let description = schema.text(Keyword::Description).unwrap_or_default();
        if let Some((key, required)) = given {
            if is_deprecated(description) && !names_replacement(deprecation_notice(description)) {
                let fact = self.collector.note((Subject::Field, Aspect::Deprecation, Effect::Unclear), key);
                fact.version = Some(self.version.name.to_owned());
                fact.path = path.clone();
                fact.words.insert(Word::What, format!("`{path}`"));
            }
            if required && schema.default().is_none() && self.version.maturity() > Maturity::Alpha && self.is_alpha(description, path) {
                let fact = self.collector.note((Subject::Field, Aspect::Maturity, Effect::Forbidden), key);
                fact.version = Some(self.version.name.to_owned());
                fact.path = path.clone();
            }
        }
        for (step, entry, child) in schema.children() {
            let given = match step {
                PathStep::Key(name) => Some((entry.key, schema.is_required(name))),
                PathStep::Items | PathStep::Values => None,
            };
            path.push(step.into());
            self.walk(&child, given, path);
            path.pop();
        }
    }

    /// Whether the field is alpha, by its description or by the configuration. The parent of an alpha field isn't alpha, and an
    /// alpha object may have required fields.
    fn is_alpha(&self, description: &str, path: &FieldPath) -> bool {
        let own = |path: &FieldPath| self.context.assigned_maturity(self.crd.name, self.version.name, path);
        let around = path.parent().and_then(|parent| own(&parent));
        let given = own(path).filter(|maturity| around != Some(*maturity));
        given.or_else(|| crate::find::maturity_marker::marker(description)) == Some(Maturity::Alpha)
    }
}

/// Reports steps of a removal that a change skips.
pub(super) fn steps(collector: &mut FactCollector<'_>, old: &Crd<'_>) {
    let place = |node: Node<'_>| old.place(node);
    for before in &old.versions {
        let after = collector.crd.version(before.name);
        let mut skipped = Vec::new();
        let aspect = match after {
            None => {
                if !before.deprecated {
                    skipped.push("deprecated");
                }
                if before.served {
                    skipped.push("taken out of service");
                }
                if before.storage || old.stored_versions.iter().any(|stored| stored.value == before.name) {
                    skipped.push("migrated");
                }
                Aspect::Presence
            }
            Some(after) if before.served && !after.served && !before.deprecated => {
                skipped.push("deprecated");
                Aspect::Served
            }
            Some(_) => continue,
        };
        if skipped.is_empty() {
            continue;
        }
        let survivor = collector.crd.spec.entry("versions").map_or(collector.crd.name_node, |entry| entry.key);
        let node = after.map_or(survivor, |after| after.name_node);
        let note = collector.note((Subject::Version, aspect, Effect::Early), node);
        note.version = Some(before.name.to_owned());
        note.before = Some(place(before.name_node));
        note.words.insert(Word::Step, if aspect == Aspect::Served { "taken out of service" } else { "removed" }.to_owned());
        note.words.insert(Word::Skipped, list_all(skipped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_are_recognised() {
        for text in
            ["Deprecated: use b instead.", "DEPRECATED. Replaced by spec.b", "deprecated in favor of b", "Deprecated: has no effect"]
        {
            assert!(names_replacement(deprecation_notice(text)), "{text}");
        }
        for text in ["Deprecated.", "Use with care. Deprecated since 1.2.", "This field is deprecated and will be removed."] {
            assert!(!names_replacement(deprecation_notice(text)), "{text}");
        }
    }
}
