//! The versions that two bundles declare, compared with what the changes between them need.

use crate::judge::bump::Recommendation;
use crate::model::Place;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};

use super::Side;

/// What the declared versions say against what the changes ask for.
pub(super) fn version_facts(bump: &Recommendation, old: &Side<'_>, new: &Side<'_>) -> Vec<Fact> {
    let place = || new.bundle.crds.iter().find_map(|crd| Some(Place { file: crd.file, span: crd.bundle_version()?.node.span() }));
    let fact = |effect| {
        let mut fact = Fact::new(Subject::Bundle, Aspect::BundleVersion, effect, "");
        fact.after = place();
        fact
    };
    let mut facts = mixed_versions(new);
    let mixed_before = !mixed_versions(old).is_empty();
    facts.iter_mut().for_each(|fact| fact.pre_existing = mixed_before);
    if let (Some(from), Some(declared)) = (&bump.from, &bump.declared) {
        let words = |fact: Fact| fact.word(Word::Old, from.to_string()).word(Word::New, declared.to_string());
        if declared < from {
            facts.push(words(fact(Effect::Decreased)));
        } else if bump.sufficient == Some(false) {
            let recommended = bump.recommended.as_ref().map(ToString::to_string).unwrap_or_default();
            facts.push(words(fact(Effect::Mismatched)).word(Word::Recommended, recommended).word(Word::Required, bump.required.name()));
        }
    }
    facts
}

/// CRDs of one bundle that claim different versions of it.
pub(super) fn mixed_versions(side: &Side<'_>) -> Vec<Fact> {
    let mut seen: Vec<(&str, Place)> = Vec::new();
    for crd in &side.bundle.crds {
        if let Some(version) = crd.bundle_version()
            && seen.iter().all(|(value, _)| *value != version.value)
        {
            seen.push((version.value, Place { file: crd.file, span: version.node.span() }));
        }
    }
    let (Some(first), Some(second)) = (seen.first(), seen.get(1)) else { return Vec::new() };
    let values: Vec<&str> = seen.iter().map(|(value, _)| *value).take(5).collect();
    let mut fact = Fact::new(Subject::Bundle, Aspect::BundleVersion, Effect::Mixed, "").after(second.1).word(Word::List, values.join(", "));
    fact.words.insert(Word::First, first.0.to_owned());
    vec![fact]
}
