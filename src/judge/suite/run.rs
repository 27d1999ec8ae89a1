//! Runs the cases of suites on CRDs, for all servers that they must hold on.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::model::kubernetes::{Minor, Minors};
use crate::model::{Bundle, Crd, Documents};
use crate::server::object::{Endpoint, Seen};

use super::coverage::CheckCoverage;
use super::crd_patch;
use super::expect::CaseFailure;
use super::feature_gates::FeatureGates;
use super::send::SuiteTarget;
use super::{Layout, Suite, SuiteCase, SuiteRequest, subject, text};

/// The result of one case with one CRD.
#[derive(Debug)]
pub(crate) struct CaseResult<'s> {
    pub suite: &'s Suite,
    pub case: &'s SuiteCase,
    /// Distinguishes the variant of the CRD, if there are several.
    pub variant: Option<String>,
    /// How the response differs from the expectations; empty if the case passes.
    pub failures: Vec<CaseFailure>,
}

/// The CRDs and servers that suites run on.
#[derive(Debug)]
pub(crate) struct SuiteRunner<'b, 't> {
    pub crds: &'b Bundle<'t>,
    pub gates: FeatureGates,
    /// The servers that cases must hold on, unless they name others.
    pub kubernetes: Minors,
}

impl<'b, 't> SuiteRunner<'b, 't> {
    /// `documents` may contain the feature gates that are on.
    pub fn new(crds: &'b Bundle<'t>, documents: &[&Documents]) -> Self {
        SuiteRunner { crds, gates: FeatureGates::read(documents), kubernetes: Minors::default() }
    }

    /// Runs all cases in parallel; results are in the order of the suites.
    pub fn run<'s>(&self, suites: &'s [Suite]) -> (Vec<CaseResult<'s>>, CheckCoverage) {
        let endpoints = Endpoints::new(&self.crds.crds);
        let cases: Vec<(&Suite, &SuiteCase)> = suites.iter().flat_map(|suite| suite.cases.iter().map(move |case| (suite, case))).collect();
        let answered: Vec<Vec<(CaseResult<'s>, Option<CaseChecks>)>> =
            cases.par_iter().map(|(suite, case)| self.answers(suite, case, &endpoints)).collect();
        let mut coverage = CheckCoverage::default();
        let mut results = Vec::new();
        for (result, answered) in answered.into_iter().flatten() {
            if let Some(answered) = answered {
                coverage.add(answered.crd, answered.version, &answered.seen);
            }
            results.push(result);
        }
        (results, coverage)
    }

    /// The CRDs for a case: by the name in the suite, or by the object's group and kind. Several if there are variants.
    fn crds_for(&self, suite: &Suite, case: &SuiteCase) -> Result<Vec<(usize, Option<String>)>, String> {
        let object = subject(case);
        let group = text(object, "apiVersion").and_then(|version| version.split_once('/')).map(|(group, _)| group);
        let fits = |crd: &Crd<'_>| match (&suite.crd, group, text(object, "kind")) {
            (Some(name), _, _) => crd.name == name,
            (None, Some(group), Some(kind)) => crd.group() == group && crd.kind() == kind,
            (None, None, Some(kind)) => crd.kind() == kind,
            (None, _, None) => false,
        };
        let all = || self.crds.crds.iter().enumerate();
        let mut found: Vec<(usize, &Crd<'_>)> = all().filter(|(_, crd)| fits(crd)).collect();
        if suite.crd.is_none() && group.is_none() && found.is_empty() && self.crds.crds.len() == 1 {
            found = all().collect();
        }
        if let Layout::OpenShift { manifests: Some(manifests) } = &suite.layout
            && found.iter().any(|(_, crd)| crd.path.starts_with(manifests.as_str()))
        {
            found.retain(|(_, crd)| crd.path.starts_with(manifests.as_str()));
        }
        if found.is_empty() {
            return Err(match (&suite.crd, text(object, "kind")) {
                (Some(name), _) => format!("the CRD `{name}` was not found"),
                (None, Some(kind)) => format!("no CRD was found for kind {kind}"),
                (None, None) => "the object has no `kind`, and the suite doesn't name its `crd`".to_owned(),
            });
        }
        let found = self.gates.choose(&suite.gates, found)?;
        let several = found.len() > 1;
        Ok(found.into_iter().map(|(index, crd)| (index, several.then(|| variant(crd)))).collect())
    }

    fn answers<'s>(
        &self,
        suite: &'s Suite,
        case: &'s SuiteCase,
        endpoints: &Endpoints<'_, '_>,
    ) -> Vec<(CaseResult<'s>, Option<CaseChecks>)> {
        let result = |variant, failures| CaseResult { suite, case, variant, failures };
        let candidates = match self.crds_for(suite, case) {
            Ok(candidates) => candidates,
            Err(reason) => return vec![(result(None, vec![CaseFailure::new(reason)]), None)],
        };
        let answer = |(index, variant): (usize, Option<String>)| {
            let (failures, answered) = self.answer(suite, case, index, endpoints);
            (result(variant, failures), answered)
        };
        candidates.into_iter().map(answer).collect()
    }

    fn answer(
        &self,
        suite: &Suite,
        case: &SuiteCase,
        index: usize,
        endpoints: &Endpoints<'_, '_>,
    ) -> (Vec<CaseFailure>, Option<CaseChecks>) {
        let refuse = |reason: String| (vec![CaseFailure::new(reason)], None);
        let Some(crd) = self.crds.crds.get(index) else { return refuse("the CRD was not found".to_owned()) };
        let Some((position, version)) = version_of(crd, suite, case).and_then(|at| Some((at, crd.versions.get(at)?))) else {
            let known: Vec<&str> = crd.versions.iter().map(|version| version.name).collect();
            return refuse(format!("the CRD doesn't have this version; it has {}", known.join(", ")));
        };
        let api_version = format!("{}/{}", crd.group(), version.name);
        // OpenShift's runner installs only the version under test, and serves it.
        if !version.served && suite.layout == Layout::Own {
            return refuse(format!("{api_version} is not served"));
        }
        let patched = match patched_crd(crd, case) {
            Ok(patched) => patched,
            Err(reason) => return refuse(reason),
        };
        let on = |minor: Minor| {
            let endpoint = endpoints.get(index, position, minor)?;
            let patched = patched.as_ref().and_then(|documents| patched_endpoint(documents, version.name, minor));
            let target = SuiteTarget { endpoint, patched: patched.as_ref(), api_version: api_version.clone(), kind: crd.kind() };
            Some(target.send(case))
        };
        let range = case.kubernetes.unwrap_or(self.kubernetes);
        let (mut failures, mut seen) = (Vec::<(CaseFailure, Minors)>::new(), Vec::new());
        for minor in range.iter().rev() {
            let Some((failed, checks)) = on(minor) else { return refuse("the version has no schema".to_owned()) };
            seen.extend(checks);
            for failure in failed {
                match failures.iter_mut().find(|(known, _)| *known == failure) {
                    Some((_, on)) => *on = on.and(Minors::only(minor)),
                    None => failures.push((failure, Minors::only(minor))),
                }
            }
        }
        let limit = |(failure, on): (CaseFailure, Minors)| CaseFailure { kubernetes: (on != range).then_some(on), ..failure };
        (failures.into_iter().map(limit).collect(), Some(CaseChecks { crd: index, version: position, seen }))
    }
}

/// The checks made for a case, by CRD and version.
struct CaseChecks {
    crd: usize,
    version: usize,
    seen: Vec<Seen>,
}

/// The versions of CRDs as each server reads them, compiled on first use.
struct Endpoints<'b, 't> {
    crds: &'b [Crd<'t>],
    slots: Vec<Vec<[OnceLock<Option<Endpoint>>; Minor::ALL.len()]>>,
}

impl<'b, 't> Endpoints<'b, 't> {
    fn new(crds: &'b [Crd<'t>]) -> Self {
        let slots = crds.iter().map(|crd| crd.versions.iter().map(|_| Default::default()).collect()).collect();
        Endpoints { crds, slots }
    }

    fn get(&self, crd: usize, version: usize, minor: Minor) -> Option<&Endpoint> {
        let at = Minor::ALL.iter().position(|known| *known == minor)?;
        let slot = self.slots.get(crd)?.get(version)?.get(at)?;
        let compile = || Endpoint::traced(self.crds.get(crd)?.on(minor.server()).versions.get(version)?);
        slot.get_or_init(compile).as_ref()
    }
}

/// The CRD under which the initial object of a case is created, if it is a patched one.
fn patched_crd(crd: &Crd<'_>, case: &SuiteCase) -> Result<Option<Documents>, String> {
    match &case.request {
        SuiteRequest::Sequence { patches, .. } if !patches.is_empty() => crd_patch::patched(crd, patches).map(Some),
        _ => Ok(None),
    }
}

fn patched_endpoint(documents: &Documents, version: &str, minor: Minor) -> Option<Endpoint> {
    let bundle = Bundle::read(documents);
    let crd = bundle.crds.first()?.on(minor.server());
    crd.versions.iter().find(|found| found.name == version).and_then(Endpoint::traced)
}

fn variant(crd: &Crd<'_>) -> String {
    let track = crd.track();
    let mut words: Vec<&str> = track.channel.into_iter().collect();
    words.extend(track.feature_set);
    words.extend(track.file);
    words.join(" ")
}

/// The version named by the case or its object, or by the suite, or the one that `kubectl` uses.
fn version_of(crd: &Crd<'_>, suite: &Suite, case: &SuiteCase) -> Option<usize> {
    let named = text(subject(case), "apiVersion").map(|version| version.split_once('/').map_or(version, |(_, version)| version));
    let name = case.version.as_deref().or(named).or(suite.version.as_deref());
    match name {
        Some(name) => crd.versions.iter().position(|version| version.name == name),
        None => crd.preferred_version().map(|version| version.index),
    }
}
