//! Compares one CRD on both sides: its names, scope, versions and conversion.

use crate::compare::Budget;
use crate::input::yaml::Node;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Subject, Word};
use crate::model::schema::Shape;
use crate::model::{Api, Crd, Place};

use super::ChangeOptions;
use super::version::Compared;

/// Collects the facts about one CRD.
pub(super) struct CrdComparison<'a, 't> {
    pub old: &'a Crd<'t>,
    pub new: &'a Crd<'t>,
    pub options: &'a ChangeOptions<'a>,
    pub facts: Vec<Fact>,
    /// Pairs of schemas that were already compared.
    pub compared: Vec<Compared<'t>>,
    pub budget: &'a Budget,
}

pub(super) fn changed(old: &Crd<'_>, new: &Crd<'_>, options: &ChangeOptions<'_>, budget: &Budget) -> Vec<Fact> {
    if old.node.same_text(new.node) && old.conversion.patched == new.conversion.patched {
        return Vec::new();
    }
    let mut review = CrdComparison { old, new, options, facts: Vec::new(), compared: Vec::new(), budget };
    review.api();
    review.names();
    review.metadata();
    review.conversion();
    review.versions();
    review.storage();
    review.keywords();
    let mut facts = review.facts;
    let key = |fact: &Fact| (fact.aspect, fact.effect);
    facts.sort_by(|a, b| {
        let place = (&a.version, &a.path).cmp(&(&b.version, &b.path));
        place.then_with(|| key(a).cmp(&key(b))).then_with(|| (&a.key, &a.to).cmp(&(&b.key, &b.to)))
    });
    facts
}

pub(super) fn removed(crd: &Crd<'_>) -> Fact {
    alone(crd, Effect::Removed).before(crd.place(crd.name_node)).affects(&[Affected::Writers, Affected::Readers, Affected::Data])
}

pub(super) fn added(crd: &Crd<'_>) -> Fact {
    alone(crd, Effect::Added).after(crd.place(crd.name_node))
}

fn alone(crd: &Crd<'_>, effect: Effect) -> Fact {
    Fact::about(crd, Subject::Crd, Aspect::Presence, effect).word(Word::Kind, crd.kind()).word(Word::Group, crd.group())
}

impl<'t> CrdComparison<'_, 't> {
    pub(super) fn fact(&self, subject: Subject, aspect: Aspect, effect: Effect) -> Fact {
        let channel = self.new.channel().or(self.old.channel());
        Fact { channel: channel.map(str::to_owned), ..Fact::new(subject, aspect, effect, self.new.name) }
    }

    /// A fact about an attribute of the CRD, at its node on both sides, or at the CRD's name if it is missing.
    pub(super) fn crd_fact(&self, aspect: Aspect, effect: Effect, old: Option<Node<'t>>, new: Option<Node<'t>>) -> Fact {
        self.fact(Subject::Crd, aspect, effect)
            .before(self.old_place(old.unwrap_or(self.old.name_node)))
            .after(self.new_place(new.unwrap_or(self.new.name_node)))
    }

    pub(super) fn old_place(&self, node: Node<'_>) -> Place {
        self.old.place(node)
    }

    pub(super) fn new_place(&self, node: Node<'_>) -> Place {
        self.new.place(node)
    }

    fn api(&mut self) {
        let name = |api: Api| match api {
            Api::V1 => "apiextensions.k8s.io/v1",
            Api::V1Beta1 => "apiextensions.k8s.io/v1beta1",
        };
        if self.old.api != self.new.api {
            let node = |crd: &Crd<'t>| crd.node.get("apiVersion");
            let fact = self.crd_fact(Aspect::Api, Effect::Changed, node(self.old), node(self.new));
            self.facts.push(fact.word(Word::Old, name(self.old.api)).word(Word::New, name(self.new.api)));
        }
        let flag = |crd: &Crd<'t>| crd.spec.get("preserveUnknownFields");
        let prunes = |crd: &Crd<'t>| crd.versions.iter().any(|version| version.schema.as_ref().is_none_or(super::undeclared_keys::prunes));
        let effect = match (self.old.preserves_unknown(), self.new.preserves_unknown()) {
            (true, false) if prunes(self.new) => Effect::Narrowed,
            (false, true) if prunes(self.old) => Effect::Widened,
            (was, is) if was != is && flag(self.old).is_some() != flag(self.new).is_some() => Effect::Rewritten,
            _ if self.old.api == self.new.api && flag(self.old).is_some() != flag(self.new).is_some() => Effect::Rewritten,
            _ => return,
        };
        let fact = self.crd_fact(Aspect::PreserveUnknownSpec, effect, flag(self.old), flag(self.new));
        self.facts.push(match effect {
            Effect::Narrowed => {
                let evidence = self.shown_by_pruning();
                fact.affects(&[Affected::Data]).evidence(evidence)
            }
            Effect::Widened => fact.affects(&[Affected::Readers]),
            _ => fact.word(Word::Keyword, "preserveUnknownFields"),
        });
    }

    /// An object that loses an undeclared field because undeclared fields are pruned from now on.
    fn shown_by_pruning(&self) -> Evidence {
        let schemas = self.new.versions.iter().filter_map(|version| Some((version, version.schema.as_ref()?)));
        let shown = schemas.map(|(version, schema)| {
            let after = Shape::of(schema);
            self.shown_at_root(&Shape { preserve_unknown: true, ..after.clone() }, &after, version)
        });
        let undecided = || Evidence::undecided("no object was found that shows it");
        shown.min_by_key(|evidence| evidence.certainty).unwrap_or_else(undecided)
    }

    fn names(&mut self) {
        let (old, new) = (&self.old.names, &self.new.names);
        // That servers refuse the update is reported with the updates.
        let another: &[Affected] = &[Affected::Writers, Affected::Readers];
        let lists: &[Affected] = &[Affected::Readers];
        let lower = |crd: &Crd<'t>| crd.kind().to_ascii_lowercase();
        let list = |crd: &Crd<'t>| format!("{}List", crd.kind());
        let scope = |crd: &Crd<'t>| if crd.api == Api::V1Beta1 { "Namespaced".to_owned() } else { String::new() };
        let rows = [
            (Aspect::Group, self.old.group, self.new.group, (String::new(), String::new()), another),
            (Aspect::Plural, old.plural, new.plural, (String::new(), String::new()), another),
            (Aspect::Kind, old.kind, new.kind, (String::new(), String::new()), another),
            (Aspect::Scope, self.old.scope, self.new.scope, (scope(self.old), scope(self.new)), another),
            (Aspect::ListKind, old.list_kind, new.list_kind, (list(self.old), list(self.new)), lists),
            (Aspect::Singular, old.singular, new.singular, (lower(self.old), lower(self.new)), &[]),
        ];
        for (aspect, before, after, (old_default, new_default), affects) in rows {
            let effective =
                |text: Option<crate::model::StringNode<'t>>, default: &str| text.map_or(default.to_owned(), |text| text.value.to_owned());
            let (was, is) = (effective(before, &old_default), effective(after, &new_default));
            let effect = match () {
                () if was != is => Effect::Changed,
                () if before.is_some() != after.is_some() => Effect::Rewritten,
                () => continue,
            };
            // A name derived from the kind changes with it, and is reported with it.
            if before.is_none() && after.is_none() {
                continue;
            }
            let fact = self
                .crd_fact(aspect, effect, before.map(|text| text.node), after.map(|text| text.node))
                .word(Word::Old, was)
                .word(Word::New, is);
            self.facts.push(if effect == Effect::Changed { fact.affects(affects) } else { fact.word(Word::Keyword, aspect.name()) });
        }
        self.name_list(Aspect::ShortName, &old.short_names, &new.short_names);
        self.name_list(Aspect::Category, &old.categories, &new.categories);
    }

    fn name_list(&mut self, aspect: Aspect, old: &[crate::model::StringNode<'t>], new: &[crate::model::StringNode<'t>]) {
        let (gone, come) = super::side_by_side::only_on_one_side(old, new);
        for gone in gone {
            let fact = self.crd_fact(aspect, Effect::Removed, Some(gone.node), None);
            self.facts.push(fact.key(gone.value).word(Word::Name, gone.value).affects(&[Affected::Readers]));
        }
        for come in come {
            let fact = self.crd_fact(aspect, Effect::Added, None, Some(come.node));
            self.facts.push(fact.key(come.value).word(Word::Name, come.value));
        }
    }
}
