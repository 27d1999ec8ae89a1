//! Compares the declared versions of two bundles with what the changes require.

use crate::judge::bump::Recommendation;
use crate::model::Place;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};

use super::Side;
use super::ruling::Ruling;

/// Reports a declared version that is too low for the changes. An unchanged version isn't a release yet.
pub(super) fn version_facts(bump: &Recommendation, rulings: &[Ruling<'_>], old: &Side<'_>, new: &Side<'_>) -> Vec<Fact> {
    let mut facts = mixed_versions(new);
    let mixed_before = !mixed_versions(old).is_empty();
    facts.iter_mut().for_each(|fact| fact.pre_existing = mixed_before);
    let (Some(from), Some(declared)) = (&bump.from, &bump.declared) else { return facts };
    let effect = match bump.sufficient {
        _ if declared < from => Effect::Decreased,
        Some(false) if declared == from && !old.is_release && new.version.is_none() => Effect::Pending,
        Some(false) => Effect::Mismatched,
        _ => return facts,
    };
    let mut fact = Fact::new(Subject::Bundle, Aspect::BundleVersion, effect, "")
        .word(Word::Old, from.to_string())
        .word(Word::New, declared.to_string())
        .word(Word::Required, bump.required.name());
    if let Some(recommended) = &bump.recommended {
        fact = fact.word(Word::Recommended, recommended.to_string());
    }
    // Prefer the CRD whose change requires the version.
    let changed = |name: &str| rulings.iter().any(|ruling| ruling.bump == bump.required && ruling.fact.crd == name);
    let annotated = || new.bundle.crds.iter().filter_map(|crd| Some((crd, crd.place(crd.bundle_version()?.node))));
    fact.after = annotated().find(|(crd, _)| changed(crd.name)).or_else(|| annotated().next()).map(|(_, place)| place);
    facts.push(fact);
    facts
}

/// Reports CRDs of one bundle that declare different bundle versions.
pub(super) fn mixed_versions(side: &Side<'_>) -> Vec<Fact> {
    let mut seen: Vec<(&str, Place)> = Vec::new();
    for crd in &side.bundle.crds {
        if let Some(version) = crd.bundle_version()
            && seen.iter().all(|(value, _)| *value != version.value)
        {
            seen.push((version.value, crd.place(version.node)));
        }
    }
    let (Some(first), Some(second)) = (seen.first(), seen.get(1)) else { return Vec::new() };
    let values: Vec<&str> = seen.iter().map(|(value, _)| *value).take(5).collect();
    let mut fact = Fact::new(Subject::Bundle, Aspect::BundleVersion, Effect::Mixed, "").after(second.1).word(Word::List, values.join(", "));
    fact.words.insert(Word::First, first.0.to_owned());
    vec![fact]
}
