//! Which servers accept a bundle: the oldest one, and for each that doesn't, the first reason with its place.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::find::facts_by_server::{CrdAcceptance, acceptance};
use crate::judge::finding::Spot;
use crate::judge::review::Side;
use crate::model::fact::{Aspect, Fact, Mark, Word};
use crate::model::kubernetes::{Minor, Minors};

/// How servers respond to creating the CRDs of a bundle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Servers {
    /// The oldest server that accepts all of them; null if none does.
    pub oldest: Option<Minor>,
    /// For each server that refuses the bundle, newest first, the first reason.
    pub refused: Vec<BundleRefusal>,
    /// For each CRD, the servers of the range that accept it, if the range has several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub crds: BTreeMap<String, Minors>,
}

/// Why servers refuse a bundle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BundleRefusal {
    /// The servers for which this is the first reason.
    pub kubernetes: Minors,
    pub crd: String,
    pub version: Option<String>,
    pub path: String,
    pub reason: String,
    pub after: Option<Spot>,
}

impl Servers {
    /// Checks every released server that the model knows, and those of the range.
    pub(crate) fn of(side: &Side<'_>, range: Minors) -> Self {
        let all = Minors::between(Minor::OLDEST, Minor::DEFAULT).and(range);
        let crds = acceptance(&side.bundle, all);
        let accepts = |minor: &Minor| crds.iter().all(|crd| crd.accepted.contains(*minor));
        let oldest = all.iter().find(accepts).filter(|_| !crds.is_empty());
        let mut refused: Vec<BundleRefusal> = Vec::new();
        for minor in all.iter().rev().filter(|minor| !accepts(minor)) {
            let Some((acceptor, fact, on)) = crds.iter().find_map(|crd| first(crd, minor)) else { continue };
            let reason = reason(fact, on, all);
            let known = refused.iter_mut().find(|known| known.crd == acceptor.crd && known.reason == reason);
            match known {
                Some(known) => known.kubernetes = known.kubernetes.and(Minors::only(minor)),
                None => refused.push(BundleRefusal {
                    kubernetes: Minors::only(minor),
                    crd: acceptor.crd.clone(),
                    version: fact.version.clone(),
                    path: fact.path.to_string(),
                    reason,
                    after: side.spot(fact.after),
                }),
            }
        }
        let table = crds.iter().filter(|_| range.count() > 1).map(|crd| {
            let name = crd.channel.as_ref().map_or_else(|| crd.crd.clone(), |channel| format!("{} ({channel})", crd.crd));
            (name, crd.accepted.within(range))
        });
        Servers { oldest, refused, crds: table.collect() }
    }
}

/// The first refusal of a CRD on a server.
fn first(crd: &CrdAcceptance, minor: Minor) -> Option<(&CrdAcceptance, &Fact, Minors)> {
    let (on, fact) = crd.refused.iter().find(|(on, _)| on.contains(minor))?;
    Some((crd, fact, *on))
}

/// `needs Kubernetes 1.31: ip() in a new rule at spec.address`.
fn reason(fact: &Fact, on: Minors, all: Minors) -> String {
    let above = all.iter().find(|minor| on.last().is_some_and(|last| *minor > last));
    let below = all.iter().rev().find(|minor| on.first().is_some_and(|first| *minor < first));
    let said = fact.words.get(&Word::Reason).map_or("", String::as_str);
    let called = ["undeclared reference to '", "found no matching overload for '"]
        .iter()
        .find_map(|start| said.strip_prefix(start)?.split_once('\''))
        .map(|(name, _)| name);
    let what = match (fact.aspect, called) {
        (Aspect::CelRule, _) if fact.is(Mark::OldSelfDropped) => "`optionalOldSelf` in a rule".to_owned(),
        (Aspect::CelRule, Some(name)) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => format!("`{name}()` in a new rule"),
        (Aspect::CelMessageExpression, Some(name)) => format!("`{name}()` in a new messageExpression"),
        (Aspect::CelRule, _) => format!("a new rule: {said}"),
        (Aspect::CelCost, _) => format!("a rule: {said}"),
        _ => said.to_owned(),
    };
    let path = fact.path.to_string();
    let place = match (path.is_empty(), &fact.field) {
        (false, _) => format!(" at {path}"),
        (true, Some(field)) => format!(" at {field}"),
        (true, None) => String::new(),
    };
    match (above, below) {
        (Some(needed), _) => format!("needs Kubernetes {needed}: {what}{place}"),
        (None, Some(last)) => format!("accepted only up to Kubernetes {last}: {what}{place}"),
        (None, None) => format!("{what}{place}"),
    }
}
