//! Compares the attributes of a version besides its schema: served, deprecated, subresources, unknown keys.

use crate::input::yaml::{Entry, Node};
use crate::model::Version;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Mark, Subject, Word};
use crate::model::schema::Schema;

use super::crd::CrdComparison;
use super::documentation::presence;
use super::fact_draft::FactDraft;
use super::side_by_side::entries;
use super::undeclared_keys::Undeclared;
use super::value_text::{cut, value};

const VERSION: &[&str] = &[
    "name",
    "served",
    "storage",
    "deprecated",
    "deprecationWarning",
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
];
const SUBRESOURCES: &[&str] = &["status", "scale"];

impl<'t> CrdComparison<'_, 't> {
    /// A fact about an attribute of a version, at its node on both sides, or at the version's name.
    pub(super) fn version_fact(
        &self,
        versions: (&Version<'t>, &Version<'t>),
        aspect: Aspect,
        effect: Effect,
        old: Option<Node<'t>>,
        new: Option<Node<'t>>,
    ) -> Fact {
        self.fact(Subject::Version, aspect, effect)
            .version(versions.1.name)
            .before(self.old_place(old.unwrap_or(versions.0.name_node)))
            .after(self.new_place(new.unwrap_or(versions.1.name_node)))
    }

    pub(super) fn version(&mut self, old: &Version<'t>, new: &Version<'t>) {
        let both = (old, new);
        let node = |version: &Version<'t>, key: &str| version.node.get(key);
        if old.served != new.served {
            let effect = if new.served { Effect::Added } else { Effect::Removed };
            let fact = self.version_fact(both, Aspect::Served, effect, node(old, "served"), node(new, "served"));
            let fact = if old.deprecated { fact.mark(Mark::WasDeprecated) } else { fact };
            self.facts.push(if new.served { fact } else { fact.affects(&[Affected::Writers, Affected::Readers]) });
        }
        if old.deprecated != new.deprecated {
            let effect = if new.deprecated { Effect::Added } else { Effect::Removed };
            let fact = self.version_fact(both, Aspect::Deprecation, effect, node(old, "deprecated"), node(new, "deprecated"));
            let warning = new.deprecation_warning.or(old.deprecation_warning);
            self.facts.push(fact.word(Word::Notice, warning.map_or(String::new(), |text| cut(text.value, 160))));
        } else if old.deprecation_warning.map(|text| text.value) != new.deprecation_warning.map(|text| text.value) {
            let texts = (old.deprecation_warning, new.deprecation_warning);
            let effect = presence(texts.0.is_some(), texts.1.is_some());
            let fact = self.version_fact(both, Aspect::DeprecationWarning, effect, texts.0.map(|t| t.node), texts.1.map(|t| t.node));
            let shown = |text: Option<crate::model::StringNode<'t>>| text.map_or(String::new(), |text| cut(text.value, 160));
            self.facts.push(fact.word(Word::Old, shown(texts.0)).word(Word::New, shown(texts.1)));
        }
        self.subresources(both);
        self.columns(both);
        self.selectable_fields(both);
        let stanza = |version: &Version<'t>| version.node.get("schema").or_else(|| version.node.get("validation"));
        for (before, after) in entries(stanza(old), stanza(new), &["openAPIV3Schema"]) {
            self.keyword(both, before, after);
        }
        for (before, after) in entries(Some(old.node), Some(new.node), VERSION) {
            // A v1beta1 CRD with a single version has all of it in the spec.
            if old.node.id() != self.old.spec.id() && new.node.id() != self.new.spec.id() {
                self.keyword(both, before, after);
            }
        }
    }

    pub(super) fn keyword(&mut self, both: (&Version<'t>, &Version<'t>), before: Option<Entry<'t>>, after: Option<Entry<'t>>) {
        let name = before.or(after).map_or("", |entry| entry.name());
        let shown = |entry: Option<Entry<'t>>| entry.map(|entry| entry.value);
        let effect = presence(before.is_some(), after.is_some());
        let fact = self.version_fact(both, Aspect::Keyword, effect, shown(before), shown(after)).key(name).word(Word::Name, cut(name, 100));
        self.facts.push(fact.word(Word::Old, value(shown(before))).word(Word::New, value(shown(after))));
    }

    /// Adds a fact about an endpoint of a version, which affects nobody unless both sides serve it.
    pub(super) fn push_endpoint_fact(&mut self, both: (&Version<'t>, &Version<'t>), fact: Fact) {
        let served = both.0.served && both.1.served;
        self.facts.push(if served { fact } else { FactDraft::from(fact).harmless() });
    }

    fn subresources(&mut self, both: (&Version<'t>, &Version<'t>)) {
        let (old, new) = (both.0.status_subresource(), both.1.status_subresource());
        if old.is_some() != new.is_some() {
            let kept = kept_status(both.0);
            let (effect, affects): (Effect, &[Affected]) = match new {
                // There was no status to write.
                Some(_) if !kept => (Effect::Added, &[]),
                // From now on, writes through the main endpoint silently lose their status.
                Some(_) => (Effect::Added, &[Affected::Writers, Affected::Behaviour]),
                None => (Effect::Removed, &[Affected::Writers, Affected::Behaviour]),
            };
            let at = (old.or(both.0.subresources), new.or(both.1.subresources));
            let fact = self.version_fact(both, Aspect::StatusSubresource, effect, at.0, at.1);
            let fact = if kept { fact.mark(Mark::Kept) } else { fact };
            self.push_endpoint_fact(both, fact.affects(affects));
        }
        self.scale(both);
        for (before, after) in entries(both.0.subresources, both.1.subresources, SUBRESOURCES) {
            self.keyword(both, before, after);
        }
    }
}

/// Whether objects of an old version could have a status.
fn kept_status(version: &Version<'_>) -> bool {
    let kept =
        |root: &Schema<'_>| root.property("status").is_some() || !matches!(Undeclared::of(root), Undeclared::Pruned | Undeclared::Refused);
    version.schema.as_ref().is_none_or(kept)
}
