//! Checks the fields of a manifest against the new CRD: fields pruned before they can be read, and removed names used again.

use crate::find::conversion::manifest_endpoints::ManifestEndpoints;
use crate::find::conversion::path_through_steps::origin;
use crate::find::conversion::readability;
use crate::find::conversion::step::Op;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Subject, Word};
use crate::model::{Bundle, FieldPath};

use super::ManifestChecker;

impl ManifestChecker<'_> {
    /// Reports fields that a step reads but the new CRD prunes, so no converter ever sees them.
    pub fn pruned_sources(&mut self, ends: &ManifestEndpoints<'_, '_, '_>) {
        if !self.manifest.in_place() && ends.new_crd.version(ends.from.name).is_some_and(|version| version.served) {
            return;
        }
        let ops: Vec<Op> = self.manifest.steps.iter().map(|step| step.op.clone()).collect();
        let mut reported: Vec<FieldPath> = Vec::new();
        for (index, step) in self.manifest.steps.iter().enumerate() {
            let done = ops.get(..index).unwrap_or_default();
            for path in step.op.reads() {
                let path = origin(done, path);
                let shadowed = reported.iter().any(|above| path.starts_with(above));
                if !readability::is_pruned(&ends.old.shape, &ends.new.shape, &path) || shadowed {
                    continue;
                }
                let fact = self.at_step(Aspect::Readability, Effect::Lossy, index, step, &path).affects(&[Affected::Data]);
                self.facts.push(
                    fact.word(Word::ToVersion, ends.to.name)
                        .word(Word::Hint, readability::ADVICE)
                        .key(format!("{}/read/{path}", self.manifest.name)),
                );
                reported.push(path);
            }
        }
    }

    /// Reports removed field names that the new bundle uses again.
    pub fn tombstones(&mut self, new: &Bundle<'_>) {
        let manifest = self.manifest;
        for field_note in &manifest.tombstones {
            let crds = new.crds.iter().filter(|crd| crd.group() == manifest.group && crd.kind() == manifest.kind);
            for (crd, version) in crds.flat_map(|crd| crd.versions.iter().map(move |version| (crd, version))) {
                let Some(schema) = &version.schema else { continue };
                if let Some(node) = schema.at(&field_note.path) {
                    let fact = Fact::about(crd, Subject::Conversion, Aspect::Tombstone, Effect::Reused)
                        .version(version.name)
                        .path(&field_note.path)
                        .after(crd.place(node.node()))
                        .word(Word::Name, manifest.name.clone())
                        .word(Word::Note, field_note.note.clone())
                        .affects(&[Affected::Behaviour, Affected::Data]);
                    self.facts.push(fact);
                }
            }
        }
    }
}
