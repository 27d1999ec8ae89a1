//! Collects the facts about one CRD and fills in what they all have in common: the CRD's name, channel and file.

use crate::input::yaml::Node;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Subject, Word};
use crate::model::{Crd, Repeat};

pub struct FactCollector<'t> {
    pub crd: Crd<'t>,
    facts: Vec<Fact>,
}

impl<'t> FactCollector<'t> {
    pub fn new(crd: &Crd<'t>) -> Self {
        FactCollector { crd: crd.clone(), facts: Vec::new() }
    }

    /// Adds a refusal by the server: `field` is the path that the server reports, `reason` its message.
    pub fn refuse(
        &mut self,
        what: (Subject, Aspect, Effect),
        node: Node<'t>,
        field: impl Into<String>,
        reason: impl Into<String>,
    ) -> &mut Fact {
        let fact = self.note(what, node);
        fact.affects = fact.affects.with(Affected::Refused);
        fact.field = Some(field.into());
        fact.words.insert(Word::Reason, reason.into());
        fact
    }

    /// Adds a fact about something that the server accepts.
    pub fn note(&mut self, (subject, aspect, effect): (Subject, Aspect, Effect), node: Node<'t>) -> &mut Fact {
        let mut fact = Fact::about(&self.crd, subject, aspect, effect).after(self.crd.place(node));
        fact.variant = self.crd.variant().map(str::to_owned);
        self.facts.push(fact);
        let last = self.facts.len() - 1;
        // ok: something was pushed just above
        &mut self.facts[last]
    }

    /// Repeats facts for another version whose schema has the same text.
    pub fn repeat(&mut self, facts: std::ops::Range<usize>, version: &str, repeat: Repeat<'_>) {
        let facts: Vec<Fact> = self.facts.get(facts).unwrap_or_default().iter().map(|fact| fact.repeated(version, None, repeat)).collect();
        self.facts.extend(facts);
    }

    pub fn count(&self) -> usize {
        self.facts.len()
    }

    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    pub fn into_facts(self) -> Vec<Fact> {
        self.facts
    }
}
