//! Combines facts for a range of servers: each fact records the servers it applies to, and what each server refuses in a CRD.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::model::fact::{Aspect, Effect, Fact, Mark, Ratchet, Subject, Word};
use crate::model::kubernetes::{Minors, Server};
use crate::model::{Api, Bundle, Crd};
use crate::server::crd;

/// Calls `then` with a CRD as a server reads it. Nothing is copied if it was read for that server.
pub(super) fn read_by<'t, R>(crd: &Crd<'t>, server: Server, then: impl FnOnce(&Crd<'t>) -> R) -> R {
    if crd.kubernetes.is(server) { then(crd) } else { then(&crd.on(server)) }
}

/// The facts for all servers of a range; computed once for servers that can't differ.
pub(super) fn facts_for(range: Minors, mut facts: impl FnMut(Server) -> Vec<Fact>) -> Vec<Fact> {
    match range.last() {
        Some(only) if range == Minors::only(only) => facts(only.into()),
        _ => merge(range, range.each(facts)),
    }
}

/// Merges the facts for each server, newest first. The words are those for the newest server.
fn merge(range: Minors, answers: Vec<(Minors, Vec<Fact>)>) -> Vec<Fact> {
    if answers.len() == 1 {
        return answers.into_iter().flat_map(|(_, facts)| facts).collect();
    }
    let mut merged: Vec<(Fact, Minors)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (minors, facts) in answers {
        let mut times: HashMap<String, usize> = HashMap::new();
        for fact in facts {
            // If one server tolerates what another refuses, these are two facts.
            let tolerated = (fact.pre_existing, fact.is(Mark::RefusedAgain));
            let identity = format!("{:?}{:?}{tolerated:?}", fact.identity(), fact.against);
            let twin = times.entry(identity.clone()).or_default();
            *twin += 1;
            match known.get(&format!("{twin} {identity}")).and_then(|at| merged.get_mut(*at)) {
                Some((same, on)) => {
                    *on = on.and(minors);
                    join(same, fact, minors);
                }
                None => {
                    known.insert(format!("{twin} {identity}"), merged.len());
                    merged.push((fact, minors));
                }
            }
        }
    }
    let limit = |(fact, on): (Fact, Minors)| Fact { kubernetes: (on != range).then_some(on), ..fact };
    merged.into_iter().map(limit).collect()
}

/// Adds the same fact from older servers: anyone affected on one of them is affected.
fn join(fact: &mut Fact, older: Fact, minors: Minors) {
    fact.affects = fact.affects.union(older.affects);
    if older.is(Mark::StoredOnly) {
        fact.words.extend(older.words.get(&Word::Stored).map(|minor| (Word::Stored, minor.clone())));
    }
    fact.marks.extend(older.marks);
    if fact.ratchet.is_some_and(|ratchet| ratchet != Ratchet::Never) && older.ratchet == Some(Ratchet::Never) {
        fact.untolerated = Some(fact.untolerated.unwrap_or(Minors::NONE).and(minors));
    }
    if fact.evidence.witness.is_none() && older.evidence.witness.is_some() {
        fact.evidence = older.evidence;
    }
}

/// Why no server that the model knows accepts a CRD of the old API.
const OUTDATED: &str = "apiextensions.k8s.io/v1beta1 was removed in Kubernetes 1.22";

/// How servers respond to creating a CRD.
#[derive(Debug)]
pub struct CrdAcceptance {
    pub crd: String,
    pub channel: Option<String>,
    /// The servers that accept it.
    pub accepted: Minors,
    /// What the others refuse: the first refusal that each reports, with the servers that report it.
    pub refused: Vec<(Minors, Fact)>,
}

/// How each of these servers responds to each CRD of a bundle.
pub fn acceptance(bundle: &Bundle<'_>, range: Minors) -> Vec<CrdAcceptance> {
    bundle.crds.par_iter().map(|crd| of_crd(crd, range)).collect()
}

fn of_crd(crd: &Crd<'_>, range: Minors) -> CrdAcceptance {
    let refusals = |server| {
        if crd.api == Api::V1Beta1 {
            let node = crd.node.get("apiVersion").unwrap_or(crd.name_node);
            let fact = Fact::about(crd, Subject::Crd, Aspect::Api, Effect::Lapsed);
            return vec![fact.after(crd.place(node)).word(Word::Reason, OUTDATED)];
        }
        let answer = read_by(crd, server, crd::create);
        answer.facts.into_iter().filter(Fact::is_refusal).collect::<Vec<_>>()
    };
    let answers = range.each(refusals);
    let accepted = answers.iter().filter(|(_, facts)| facts.is_empty()).fold(Minors::NONE, |set, (minors, _)| set.and(*minors));
    let everywhere = |fact: &Fact| {
        let with = answers.iter().filter(|(_, facts)| facts.iter().any(|other| other.identity() == fact.identity()));
        with.fold(Minors::NONE, |set, (minors, _)| set.and(*minors))
    };
    let mut refused: Vec<(Minors, Fact)> = Vec::new();
    for (_, facts) in &answers {
        // The refusal on the fewest servers says most about these.
        if let Some(fact) = facts.iter().min_by_key(|fact| everywhere(fact).count())
            && !refused.iter().any(|(_, known)| known.identity() == fact.identity())
        {
            refused.push((everywhere(fact), fact.clone()));
        }
    }
    CrdAcceptance { crd: crd.name.to_owned(), channel: crd.channel().map(str::to_owned), accepted, refused }
}
