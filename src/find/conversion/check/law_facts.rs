//! Facts about laws that a manifest breaks.

use crate::find::conversion::laws::{Counterexample, Law, LawCheck, LawVerdict};
use crate::find::conversion::manifest::Reverse;
use crate::find::conversion::step::Step;
use crate::model::fact::{Affected, Aspect, Certainty, Effect, Evidence, Outcome, Witness, Word};

use super::ManifestChecker;

impl ManifestChecker<'_> {
    /// Decides each law, and emits a fact for each broken one.
    pub fn laws(&mut self, check: &LawCheck<'_>) -> Vec<(Law, LawVerdict)> {
        let mut verdicts: Vec<(Law, LawVerdict)> = Law::ALL.into_iter().map(|law| (law, check.verdict(law))).collect();
        for (law, verdict) in &verdicts {
            if let LawVerdict::Broken(broken) = verdict {
                self.broken(*law, broken);
            }
        }
        let irreversible = match &self.manifest.reverse {
            Reverse::None(reason) => Some(reason.clone()),
            _ if self.manifest.is_reversible() => None,
            _ => Some("a step has no inverse".to_owned()),
        };
        if let Some(reason) = irreversible {
            let fact = self.fact(Aspect::RoundTrip, Effect::Missing, self.manifest.place(self.manifest.reverse_span));
            self.facts.push(fact.word(Word::Detail, reason).affects(&[Affected::Data]));
        }
        // A declared change of meaning is reported by its own fact.
        if let Some(field_note) = self.manifest.meaning_changed.first()
            && let Some((_, verdict)) = verdicts.iter_mut().find(|(law, _)| *law == Law::StoredVersion)
            && !matches!(verdict, LawVerdict::Broken(_))
        {
            *verdict = LawVerdict::Broken(Box::new(Counterexample {
                object: serde_json::Value::Null,
                because: format!("the manifest says that the meaning of `{}` changed", field_note.path),
                path: Some(field_note.path.clone()),
                step: None,
            }));
        }
        verdicts
    }

    fn broken(&mut self, law: Law, broken: &Counterexample) {
        let (aspect, effect, word) = coordinates(law);
        let path = broken.path.clone().unwrap_or_default();
        let by_path = || {
            let near =
                |step: &Step| step.op.paths().iter().any(|other| !path.is_root() && (path.starts_with(other) || other.starts_with(&path)));
            self.manifest.steps.iter().position(near)
        };
        let place = match broken.step.or_else(by_path).and_then(|index| self.manifest.steps.get(index)) {
            Some(step) => self.manifest.place(step.path_spans.first().copied().unwrap_or(step.span)),
            None => self.manifest.place(self.manifest.span),
        };
        let outcome = match law {
            Law::Valid | Law::ValidBack => Outcome::Rejected,
            Law::RoundTrip | Law::RoundTripBack => Outcome::Pruned,
            Law::Idempotent | Law::StoredVersion => Outcome::Changed,
        };
        let witness = Witness {
            previous: None,
            object: broken.object.clone(),
            old: Outcome::Accepted,
            new: outcome,
            because: broken.because.clone(),
        };
        let fact = self
            .fact(aspect, effect, place)
            .path(&path)
            .key(format!("{}/{word}", self.manifest.name))
            .word(Word::Law, word)
            .word(Word::Detail, broken.because.clone())
            .evidence(Evidence { certainty: Certainty::Proved, witness: Some(witness), reason: None });
        let affects: &[Affected] = match law {
            Law::Valid | Law::ValidBack => &[Affected::Writers, Affected::Stored],
            Law::StoredVersion | Law::Idempotent => &[Affected::Behaviour],
            _ => &[Affected::Data],
        };
        self.facts.push(fact.affects(affects));
    }

    /// Reports fields whose meaning changed without a schema change, so that an object doesn't show which meaning applies.
    pub fn meanings(&mut self) {
        for field_note in &self.manifest.meaning_changed {
            let note = if field_note.note.is_empty() { "its meaning changed".to_owned() } else { field_note.note.clone() };
            let fact = self.fact(Aspect::VersionBlind, Effect::Unsafe, self.manifest.place(field_note.span)).path(&field_note.path);
            let key = format!("{}/meaning/{}", self.manifest.name, field_note.path);
            self.facts.push(fact.key(key).word(Word::Law, "meaning").word(Word::Detail, note).affects(&[Affected::Behaviour]));
        }
    }
}

/// The coordinates of the fact about a broken law, and the law's name in keys and rules.
fn coordinates(law: Law) -> (Aspect, Effect, &'static str) {
    match law {
        Law::Valid => (Aspect::Validity, Effect::Invalid, "forward"),
        Law::ValidBack => (Aspect::Validity, Effect::Invalid, "back"),
        Law::RoundTrip => (Aspect::RoundTrip, Effect::Lossy, "there-and-back"),
        Law::RoundTripBack => (Aspect::RoundTrip, Effect::Lossy, "back-and-there"),
        Law::Idempotent => (Aspect::Idempotence, Effect::Unsafe, "twice"),
        Law::StoredVersion => (Aspect::VersionBlind, Effect::Unsafe, "blind"),
    }
}
