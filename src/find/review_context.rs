//! What the finders know besides the bundles, and the maturity and channel of every fact that follow from it.
//!
//! Maturity comes from the configuration, from a marker in a description, or from the standard channel.

use std::collections::HashMap;

use crate::input::glob::Glob;
use crate::model::fact::{Effect, Fact, Subject};
use crate::model::kubernetes::{Minor, Minors};
use crate::model::schema::{Keyword, Schema};
use crate::model::{Bundle, Crd, FieldPath, Maturity, Version};

use super::maturity_marker::{has_marker, marker};

/// A maturity that the configuration assigns to fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedMaturity {
    pub crd: Glob,
    pub version: Glob,
    pub path: Glob,
    pub maturity: Maturity,
}

/// What a review knows apart from the bundles.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReviewContext<'a> {
    pub assigned: &'a [AssignedMaturity],
    /// The bundle of the standard channel: its fields are standard.
    pub standard: Option<&'a Bundle<'a>>,
    /// Whether the bundle's version is known from a tag or the command line.
    pub versioned: bool,
    /// Whether part of the old bundle couldn't be read, so that what it seems to lack may not be new.
    pub old_incomplete: bool,
    /// The servers to judge for.
    pub kubernetes: Minors,
}

impl ReviewContext<'_> {
    /// No information besides the bundles.
    pub const NONE: ReviewContext<'static> =
        ReviewContext { assigned: &[], standard: None, versioned: false, old_incomplete: false, kubernetes: Minors::only(Minor::DEFAULT) };

    /// The maturity of a field, or of its nearest parent that has one. `None` for an undeclared field.
    pub fn field_maturity(&self, crd: &Crd<'_>, version: &Version<'_>, path: &FieldPath) -> Option<Option<Maturity>> {
        let marked = marked(version.schema.as_ref()?, path)?;
        let outside = || matches!(self.in_standard(crd.name, version.name, path), Some(false)).then_some(Maturity::Alpha);
        Some(self.assigned_maturity(crd.name, version.name, path).or(marked).or_else(outside))
    }

    /// The maturity of a CRD: that of the most mature version that clients can use, because it promises the most.
    fn crd_maturity(&self, crd: &Crd<'_>) -> Option<Maturity> {
        let own = |version: &Version<'_>| {
            self.assigned_maturity(crd.name, version.name, &FieldPath::root()).unwrap_or_else(|| version.maturity())
        };
        let served = crd.versions.iter().filter(|version| version.served).map(own).max();
        served.or_else(|| crd.versions.iter().map(own).max())
    }

    /// The maturity in the configuration; the first match, from the field outwards.
    pub fn assigned_maturity(&self, crd: &str, version: &str, path: &FieldPath) -> Option<Maturity> {
        if self.assigned.is_empty() {
            return None;
        }
        let mut around = Some(path.clone());
        while let Some(path) = around {
            let text = path.to_string();
            let fits = |one: &&AssignedMaturity| one.crd.matches(crd) && one.version.matches(version) && one.path.matches(&text);
            if let Some(one) = self.assigned.iter().find(fits) {
                return Some(one.maturity);
            }
            around = path.parent();
        }
        None
    }

    /// Whether the field is in the standard bundle, if there is one.
    pub fn in_standard(&self, crd: &str, version: &str, path: &FieldPath) -> Option<bool> {
        let standard = self.standard?;
        let found = standard.named(crd).first().and_then(|crd| crd.version(version));
        Some(found.is_some_and(|version| version.schema.as_ref().is_some_and(|schema| schema.at(path).is_some())))
    }
}

/// The maturity and channel of the fields, versions and CRDs in a review, or in one bundle.
///
/// Every finder passes its facts through [`Stability::complete`] as it emits them; they don't change afterwards.
pub(super) struct Stability<'r> {
    old: Option<&'r Bundle<'r>>,
    new: &'r Bundle<'r>,
    context: &'r ReviewContext<'r>,
    has_channels: bool,
}

impl<'r> Stability<'r> {
    pub(super) fn new(old: Option<&'r Bundle<'r>>, new: &'r Bundle<'r>, context: &'r ReviewContext<'r>) -> Self {
        let has_channels = old.into_iter().chain([new]).any(|bundle| bundle.crds.iter().any(|crd| crd.channel().is_some()));
        Stability { old, new, context, has_channels }
    }

    /// The old bundle comes first, because users rely on it; anything new is only in the new one.
    fn bundles(&self) -> impl Iterator<Item = &'r Bundle<'r>> {
        self.old.into_iter().chain([self.new])
    }

    /// Adds the maturity of its field, version or CRD, and its channel, to each fact, as far as they are known.
    pub(super) fn complete(&self, facts: Vec<Fact>) -> Vec<Fact> {
        let mut marked_crds: HashMap<String, bool> = HashMap::new();
        let mut has_maturities = |name: &str| match marked_crds.get(name) {
            Some(&known) => known,
            None => *marked_crds.entry(name.to_owned()).or_insert_with(|| self.has_field_maturities(name)),
        };
        facts
            .into_iter()
            .map(|fact| {
                let is_field = fact.version.is_some() && !fact.path.is_root();
                let maturity = match &fact.version {
                    None => self
                        .bundles()
                        .filter(|_| fact.subject == Subject::Crd)
                        .find_map(|bundle| self.context.crd_maturity(bundle.find(&fact.crd, fact.channel.as_deref())?)),
                    Some(version) if fact.path.is_root() => self.context.assigned_maturity(&fact.crd, version, &fact.path),
                    Some(version) if has_maturities(&fact.crd) => self.field_maturity(&fact, version),
                    Some(_) => None,
                };
                let standard = fact.version.as_deref().filter(|_| is_field);
                let standard = standard.and_then(|version| self.context.in_standard(&fact.crd, version, &fact.path));
                let former_channel = if standard.is_none() { self.former_channel(&fact) } else { None };
                let channel = match standard {
                    Some(true) => Some("standard".to_owned()),
                    Some(false) => Some("experimental".to_owned()),
                    None => fact.channel.clone(),
                };
                Fact { maturity, former_channel, channel, ..fact }
            })
            .collect()
    }

    /// Whether any field of a CRD may have a different maturity than its version.
    fn has_field_maturities(&self, crd: &str) -> bool {
        let known = !self.context.assigned.is_empty() || self.context.standard.is_some();
        known || self.bundles().flat_map(|bundle| bundle.named(crd)).any(|crd| has_marker(crd.node.source()))
    }

    fn field_maturity(&self, fact: &Fact, version: &str) -> Option<Maturity> {
        let own = |bundle: &Bundle<'_>| {
            let crd = bundle.find(&fact.crd, fact.channel.as_deref())?;
            self.context.field_maturity(crd, crd.version(version)?, &fact.path)
        };
        self.bundles().find_map(own).flatten()
    }

    /// The old channel of a CRD that moves to another one in the same change. What users relied on is judged by the old channel;
    /// what is new or newly allowed, by the new one.
    fn former_channel(&self, fact: &Fact) -> Option<String> {
        if !self.has_channels || fact.affects.is_empty() || fact.effect == Effect::Widened {
            return None;
        }
        let before = self.old?.find(&fact.crd, fact.channel.as_deref())?;
        let was = before.channel();
        (was != fact.channel.as_deref()).then(|| was.unwrap_or_default().to_owned())
    }
}

/// The marker nearest to the field on its path from the root, if the field is declared.
fn marked(schema: &Schema<'_>, path: &FieldPath) -> Option<Option<Maturity>> {
    let mut here = schema.clone();
    let mut found = None;
    for step in path.steps() {
        here = here.below(step)?;
        found = here.text(Keyword::Description).and_then(marker).or(found);
    }
    Some(found)
}
