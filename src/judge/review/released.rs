//! Finds breaks that affect users: those of something the last release contains.
//!
//! A break counts if users of the release see it: comparing the release with the new bundle shows a break that comparing it with
//! the old bundle doesn't.

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;

use crate::find::change::{ChangeOptions, diff};
use crate::judge::finding::{Bump, Class, Severity};
use crate::judge::rule::Book;
use crate::model::fact::{Fact, Identity, Word};
use crate::model::{Bundle, Documents};

use super::ruling::Ruling;
use super::{Judgement, Side};

/// The last release, as far as a review needs it.
pub struct Released {
    pub name: String,
    pub documents: Documents,
    /// Whether all of it could be read. Anything that couldn't be read counts as released.
    pub complete: bool,
}

/// Finds the last release, when a review needs it.
pub trait LastRelease: Sync {
    /// The version in the name of the release.
    fn version(&self) -> Option<Version>;
    /// Reads the CRDs with these names from the release.
    fn read(&self, names: &BTreeSet<&str>) -> Option<Released>;
}

/// Lowers breaks of unreleased features to notes. Returns the name of the release that they were compared with.
pub(super) fn mark_unreleased(rulings: &mut [Ruling<'_>], old: &Side<'_>, new: &Side<'_>, judgement: &Judgement<'_>) -> Option<String> {
    let last = judgement.last_release?;
    let names: BTreeSet<&str> = rulings.iter().filter(|ruling| ruling.is_break()).map(|ruling| &*ruling.fact.crd).collect();
    if names.is_empty() {
        return None;
    }
    let released = last.read(&names)?;
    let release = Bundle::read(&released.documents);
    let complete = released.complete && release.problems.is_empty();
    // An object for each break of the whole release would take longer than the review itself.
    let broken: Vec<&Fact> = rulings.iter().filter(|ruling| ruling.is_break()).map(|ruling| ruling.fact).collect();
    let near = (broken.len() <= MAX_NEAR).then_some(&*broken);
    let (before, after) = rayon::join(|| breaks(&release, &old.bundle, &names, near), || breaks(&release, &new.bundle, &names, near));
    let known: BTreeSet<_> = before.iter().map(meaning).collect();
    let breaks_of_release: Vec<&Fact> = after.iter().filter(|fact| !known.contains(&meaning(fact))).collect();
    let met = noticed_by_release_users(&breaks_of_release, rulings);
    let unreadable = |name: &str| !complete && release.named(name).is_empty();
    for (index, ruling) in rulings.iter_mut().enumerate().filter(|(_, ruling)| ruling.is_break()) {
        let is_released = met.contains(&index) || unreadable(&ruling.fact.crd);
        ruling.released = Some(is_released);
        if !is_released {
            ruling.severity = Severity::Info;
            ruling.bump = Bump::None;
        }
    }
    Some(released.name)
}

/// With more breaks than this, the whole release is compared.
const MAX_NEAR: usize = 500;

/// The breaks between two bundles, in the CRDs with these names.
fn breaks(from: &Bundle<'_>, to: &Bundle<'_>, names: &BTreeSet<&str>, near: Option<&[&Fact]>) -> Vec<Fact> {
    let mut facts = diff(&from.only(names), &to.only(names), &ChangeOptions { near, ..ChangeOptions::default() });
    facts.retain(|fact| Book::builtin().choose(fact, "").is_some_and(|rule| rule.class == Some(Class::SemanticBreaking)));
    facts
}

/// What identifies a break of the release: the place, and the effect.
fn meaning(fact: &Fact) -> (Identity<'_>, Option<&str>, &BTreeMap<Word, String>) {
    (fact.identity(), fact.variant.as_deref(), &fact.words)
}

/// The rulings that users of the release notice. Each break of the release is traced to the changes that cause it: the same keyword
/// at the same path, or else the same path, or else the nearest paths above or below it.
fn noticed_by_release_users(breaks: &[&Fact], rulings: &[Ruling<'_>]) -> BTreeSet<usize> {
    let mut by_version: BTreeMap<(&str, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (index, ruling) in rulings.iter().enumerate().filter(|(_, ruling)| ruling.is_break()) {
        by_version.entry((&ruling.fact.crd, ruling.fact.version.as_deref())).or_default().push(index);
    }
    let mut met = BTreeSet::new();
    for fact in breaks {
        let Some(candidates) = by_version.get(&(&*fact.crd, fact.version.as_deref())) else { continue };
        let change = |index: usize| rulings.get(index).map(|ruling| ruling.fact);
        let same_path = |other: &Fact| fact.has_path_of(other);
        let same_keyword = |other: &Fact| same_path(other) && other.aspect == fact.aspect;
        let near = |other: &Fact| fact.is_near(other);
        let tests: [&dyn Fn(&Fact) -> bool; 3] = [&same_keyword, &same_path, &near];
        let causes =
            tests.iter().map(|test| candidates.iter().copied().filter(|&index| change(index).is_some_and(test)).collect::<Vec<_>>());
        met.extend(causes.into_iter().find(|causes| !causes.is_empty()).unwrap_or_default());
    }
    met
}
