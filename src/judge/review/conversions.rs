//! Applies conversion manifests to the changes of a review: which changes they cover, which remain, and what is wrong with the
//! manifests.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::find::change;
use crate::find::conversion::Conversions;
use crate::find::conversion::check::{check, unused_manifests};
use crate::find::conversion::conversion_coverage::{ConversionCoverage, Cover};
use crate::find::conversion::manifest::Manifest;
use crate::find::conversion::manifest_endpoints::ManifestEndpoints;
use crate::find::conversion::scaffold::{Draft, ReleasedBundle, RemovedVersion, scaffold};
use crate::input::list_some;
use crate::judge::bump::Recommendation;
use crate::judge::rule::Book;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Mark, Subject, Word};

use super::ruling::{Ruling, needs_conversion, verdict};
use super::{Judgement, Side, recommendation};

/// The manifests of both sides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manifests<'j> {
    pub now: Option<&'j Conversions>,
    /// The earlier manifests, if known.
    pub before: Option<&'j Conversions>,
    /// Whether only manifests that existed before the change lower the severity of breaks.
    pub only_earlier: bool,
}

impl Manifests<'_> {
    /// The manifests that don't lower the severity of breaks, because they arrive with the change.
    pub(crate) fn ignored(&self) -> impl Iterator<Item = &str> {
        let known =
            |manifest: &Manifest| self.before.is_some_and(|before| before.manifests.iter().any(|earlier| manifest.has_steps_of(earlier)));
        let now = self.now.filter(|_| self.only_earlier).into_iter().flat_map(|now| &now.manifests);
        now.filter(move |manifest| !known(manifest)).map(|manifest| manifest.name.as_str())
    }
}

/// Finds what covers a change, and remembers which changes were asked about.
pub(super) struct Covering<'j> {
    coverage: Option<ConversionCoverage<'j>>,
    /// Manifests that don't lower the severity of breaks.
    ignored: BTreeSet<String>,
}

impl<'j> Covering<'j> {
    pub fn new(manifests: &Manifests<'j>, old: &Side<'_>, new: &Side<'_>) -> Self {
        Covering {
            coverage: manifests.now.map(|now| ConversionCoverage::new(now, &old.bundle, &new.bundle)),
            ignored: manifests.ignored().map(str::to_owned).collect(),
        }
    }

    /// Finds what covers a change that needs a conversion.
    pub fn cover(&self, fact: &Fact) -> Option<Cover> {
        self.coverage.as_ref()?.cover(fact)
    }

    /// Whether a conversion lowers the severity of the break it covers: crdwise must be able to prove it. What a proof finds wrong
    /// is reported as a finding about the manifest.
    pub fn lowers(&self, cover: &Cover) -> bool {
        cover.provable && !self.ignored.contains(&cover.manifest)
    }
}

/// Whether a manifest draft needs a step for a change. Fields and values that a new version only adds need none.
pub(crate) fn needs_step(fact: &Fact) -> bool {
    let added =
        fact.subject == Subject::NewVersion && matches!(fact.effect, Effect::Added | Effect::Widened) && fact.aspect != Aspect::Required;
    !added && Book::builtin().choose(fact, "").is_some_and(|rule| needs_conversion(rule, fact))
}

/// Drafts of manifests for the changes that need a conversion and don't have one.
pub(crate) fn drafts(
    changes: &[Fact],
    (old, new): (&Side<'_>, &Side<'_>),
    bump: &Recommendation,
    wanted: &dyn Fn(&Fact) -> bool,
) -> Vec<Draft> {
    let is_removal = |fact: &&Fact| (fact.subject, fact.aspect, fact.effect) == (Subject::Version, Aspect::Presence, Effect::Removed);
    let mut removed = Vec::new();
    let mut successions: Vec<Fact> = Vec::new();
    for fact in changes.iter().filter(is_removal).filter(|fact| wanted(fact)) {
        let sides = old.bundle.find(&fact.crd, fact.channel.as_deref()).zip(new.bundle.find(&fact.crd, fact.channel.as_deref()));
        let (Some((before, after)), Some(from)) = (sides, fact.version.clone()) else { continue };
        let Some((to, differences)) = change::successor(before, after, &from, &change::ChangeOptions::default()) else { continue };
        removed.push(RemovedVersion { crd: fact.crd.clone(), channel: fact.channel.clone(), from, to });
        successions.extend(differences.into_iter().map(|other| Fact { channel: fact.channel.clone(), ..other }));
    }
    let is_too_low = bump.sufficient == Some(false);
    let facts: Vec<&Fact> = changes.iter().chain(&successions).collect();
    scaffold(&facts, &removed, old.released(), ReleasedBundle { is_too_low, ..new.released() }, wanted)
}

/// Changes of meaning, which only a manifest declares.
pub(super) fn meanings(manifests: &Manifests<'_>, old: &Side<'_>, new: &Side<'_>) -> Vec<Fact> {
    let told = |manifest: &Manifest| -> Vec<Fact> {
        if manifest.meaning_changed.is_empty() {
            return Vec::new();
        }
        let Some(ends) = ManifestEndpoints::new(manifest, &old.bundle, &new.bundle).filter(|ends| ends.of_change) else {
            return Vec::new();
        };
        let fact = |field_note: &crate::find::conversion::manifest::FieldNote| {
            let mut fact = Fact::about(ends.new_crd, Subject::Field, Aspect::Meaning, Effect::Changed)
                .version(ends.to.name)
                .path(&field_note.path)
                .after(manifest.place(field_note.span))
                .affects(&[Affected::Behaviour])
                .mark(Mark::Declared)
                .word(Word::Note, field_note.note.clone())
                .word(Word::Name, manifest.name.clone());
            if ends.from.name != ends.to.name {
                fact = fact.against(ends.from.name);
            }
            fact
        };
        manifest.meaning_changed.iter().map(fact).collect()
    };
    manifests.now.into_iter().flat_map(|now| &now.manifests).flat_map(told).collect()
}

/// Facts about the manifests of this change, and about breaks that none of them covers. Marks the breaks that a draft could cover.
pub(super) fn facts(
    rulings: &mut [Ruling<'_>],
    changes: &[Fact],
    old: &Side<'_>,
    new: &Side<'_>,
    judgement: &Judgement<'_>,
    covering: &Covering<'_>,
) -> Vec<Fact> {
    let mut found = Vec::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut open: BTreeMap<(&str, Option<&str>), Vec<&Fact>> = BTreeMap::new();
    for ruling in rulings.iter().filter(|ruling| !ruling.extra && ruling.counts() && needs_conversion(ruling.rule, ruling.fact)) {
        let fact = ruling.fact;
        match &ruling.cover {
            Some(cover) => {
                used.insert(cover.manifest.clone());
            }
            None if ruling.is_break() && judgement.policy.asks_for_conversion(ruling.channel()) => {
                open.entry((&fact.crd, fact.channel.as_deref())).or_default().push(fact);
            }
            None => {}
        }
    }
    let wanted =
        |fact: &Fact| needs_step(fact) && open.contains_key(&(&*fact.crd, fact.channel.as_deref())) && covering.cover(fact).is_none();
    let bump = recommendation(verdict(rulings).1, old, new, judgement);
    let drafts = self::drafts(changes, (old, new), &bump, &wanted);
    let mut by_crd: BTreeMap<(&str, Option<&str>), Vec<&Draft>> = BTreeMap::new();
    for draft in &drafts {
        by_crd.entry((&draft.crd, draft.channel.as_deref())).or_default().push(draft);
    }
    for ((name, channel), breaks) in open {
        let drafts = by_crd.get(&(name, channel)).map(Vec::as_slice).unwrap_or_default();
        found.push(undefined(name, channel, &breaks, drafts, old, new));
    }
    for ruling in rulings.iter_mut().filter(|ruling| ruling.cover.is_none() && ruling.is_break()) {
        let fact = ruling.fact;
        let mut drafts = by_crd.get(&(&*fact.crd, fact.channel.as_deref())).into_iter().flatten();
        ruling.drafted = drafts.any(|draft| draft.covers(fact));
    }
    let Some(now) = judgement.conversions.now else { return found };
    let known = |manifest: &Manifest| {
        judgement.conversions.before.is_some_and(|before| before.manifests.iter().any(|other| other.name == manifest.name))
    };
    // An in-place manifest that existed before belongs to an earlier change, whatever the CRDs declare.
    let of_change = |manifest: &Manifest| {
        !(manifest.in_place() && known(manifest))
            && ManifestEndpoints::new(manifest, &old.bundle, &new.bundle).is_some_and(|ends| ends.of_change)
    };
    for manifest in now.manifests.iter().filter(|manifest| of_change(manifest) && !known(manifest) && !used.contains(&manifest.name)) {
        let crd = new.bundle.crds.iter().find(|crd| crd.group() == manifest.group && crd.kind() == manifest.kind);
        found.push(
            Fact::new(Subject::Conversion, Aspect::Coverage, Effect::Unused, crd.map_or("", |crd| crd.name))
                .after(manifest.place(manifest.span))
                .key(manifest.name.clone())
                .word(Word::Name, manifest.name.clone())
                .word(Word::From, manifest.from.to_string())
                .word(Word::New, manifest.to.to_string()),
        );
    }
    found.extend(unused_manifests(now, judgement.conversions.before, &old.bundle, &new.bundle));
    let checked = check(now, &old.bundle, &new.bundle, &|manifest| of_change(manifest) || used.contains(&manifest.name));
    found.extend(checked.into_iter().flat_map(|one| one.facts));
    found
}

/// One fact for all uncovered breaks of a CRD, with a draft of a manifest.
fn undefined(name: &str, channel: Option<&str>, breaks: &[&Fact], drafts: &[&Draft], old: &Side<'_>, new: &Side<'_>) -> Fact {
    const NAMED: usize = 4;
    let (mut names, mut seen): (Vec<String>, HashSet<String>) = Default::default();
    for fact in breaks {
        let shown = match &fact.version {
            _ if !fact.path.is_root() => fact.path.to_string(),
            Some(version) => version.clone(),
            None => format!("objects of {name}"),
        };
        if seen.insert(shown.clone()) {
            names.push(shown);
        }
    }
    let draft = drafts.iter().map(|draft| draft.text.as_str()).collect::<Vec<_>>().join("---\n");
    let proves = |draft: &&&Draft| breaks.iter().any(|fact| draft.covers(fact));
    let file = drafts.iter().find(proves).map(|draft| format!("conversions/{}.yaml", draft.name)).unwrap_or_default();
    let mut fact = Fact::new(Subject::Crd, Aspect::Coverage, Effect::Missing, name)
        .word(Word::Count, breaks.len().to_string())
        .word(Word::List, list_some(names, NAMED))
        .word(Word::File, file);
    fact.suggestion = Some(draft).filter(|draft| !draft.is_empty());
    let here = |side: &Side<'_>| side.bundle.find(name, channel).map(|crd| crd.place(crd.name_node));
    fact.before = here(old).filter(|_| here(new).is_none());
    fact.after = here(new);
    fact.channel = channel.map(str::to_owned);
    fact
}
