//! Walks the schemas of all versions at once, and finds which versions keep each value and which don't.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::compare::Budget;
use crate::input::list_all;
use crate::model::FactCollector;
use crate::model::fact::{Affected, Aspect, Effect, Subject, Word};
use crate::model::schema::is_meta;
use crate::model::{FieldPath, PathStep};

use super::field_fate::{Declared, FieldFate, Form};
use super::{Gate, anchor};

pub(super) struct VersionLossWalk<'w, 'b, 't> {
    pub gates: &'w [Gate<'b, 't>],
    pub collector: &'w mut FactCollector<'t>,
    /// The index of the storage version.
    pub storage: usize,
    /// The remaining budget for comparing all versions.
    pub budget: &'w Budget,
}

/// Which versions lose a field: those it is written through, and those whose schema drops it.
pub(super) struct FieldLoss {
    /// Lost immediately, because objects are stored in a version that drops it.
    at_once: bool,
    /// The responsible versions: those written through if it is lost immediately, otherwise those that erase it.
    via: Vec<usize>,
    /// A version that has it.
    pub owner: usize,
}

/// The versions that accept what is written in one form; the others need no further checks.
struct FittingVersions<'r, 't> {
    fates: Cow<'r, [FieldFate<'t>]>,
    /// Whether it was reported that another version drops the content.
    emptied: bool,
}

/// Whether a value of any type is assumed to have this form: that of the typed versions, or else an object.
fn is_assumed_form(form: Form, fates: &[FieldFate<'_>]) -> bool {
    let mut forms = fates.iter().filter_map(|fate| fate.declared()?.form()).peekable();
    (form == Form::Object && forms.peek().is_none()) || forms.any(|other| other == form)
}

/// Where the objects are that lose their content: here, or in the lists here.
fn emptied(form: Form, fate: Option<&FieldFate<'_>>, path: &FieldPath) -> FieldPath {
    if form == Form::Object {
        return path.clone();
    }
    let items = fate.map(FieldFate::items);
    let below = items.as_ref().and_then(|items| items.declared()?.form()).unwrap_or(Form::Object);
    emptied(below, items.as_ref(), &path.items())
}

impl<'w, 'b, 't> VersionLossWalk<'w, 'b, 't> {
    pub fn new(gates: &'w [Gate<'b, 't>], collector: &'w mut FactCollector<'t>, budget: &'w Budget) -> Self {
        let storage = gates.iter().position(|gate| gate.storage).unwrap_or(0);
        VersionLossWalk { gates, collector, storage, budget }
    }

    pub fn run(mut self, fates: &[FieldFate<'t>]) {
        let mut path = FieldPath::root();
        self.fields(fates, &mut path);
    }

    /// The recursion is limited by the depth of the document.
    fn node(&mut self, mut fates: Vec<FieldFate<'t>>, path: &mut FieldPath) {
        let says_something = |fate: &FieldFate<'t>| fate.is_named() || matches!(fate, FieldFate::Emptied(_));
        if !fates.iter().any(says_something) || fates.iter().filter(|fate| !fate.is_reported()).count() < 2 {
            return;
        }
        if self.presence(&mut fates, path) {
            return;
        }
        let objects = self.of_form(Form::Object, &fates, path);
        let lists = self.of_form(Form::List, &fates, path);
        if !self.types(&fates, path, objects.emptied || lists.emptied) {
            self.aspects(&fates, path);
        }
        self.fields(&objects.fates, path);
        self.items(&lists.fates, path);
    }

    fn fields(&mut self, fates: &[FieldFate<'t>], path: &mut FieldPath) {
        let names: BTreeSet<&'t str> = fates.iter().filter_map(FieldFate::declared).flat_map(Declared::names).collect();
        for name in names {
            // The server keeps these, whatever the schema declares.
            if path.is_root() && is_meta(name) {
                continue;
            }
            path.push(PathStep::Key(name.into()));
            self.node(fates.iter().map(|fate| fate.child(name)).collect(), path);
            path.pop();
        }
        self.others(fates, path);
    }

    fn items(&mut self, fates: &[FieldFate<'t>], path: &mut FieldPath) {
        if fates.iter().filter_map(FieldFate::declared).any(|here| here.schema.items().is_some()) {
            path.push(PathStep::Items);
            self.node(fates.iter().map(FieldFate::items).collect(), path);
            path.pop();
        }
    }

    /// Reports a field that some versions have and others prune. Returns true if nothing is left to report below it.
    fn presence(&mut self, fates: &mut [FieldFate<'t>], path: &FieldPath) -> bool {
        let Some(loss) = self
            .loss(|index| fates.get(index).is_some_and(FieldFate::is_named), |index| fates.get(index).is_some_and(FieldFate::is_pruned))
        else {
            return false;
        };
        self.report_loss(&loss, Aspect::Presence, anchor(fates, loss.owner), path, &[]);
        for fate in fates.iter_mut().filter(|fate| fate.is_pruned()) {
            *fate = FieldFate::Reported;
        }
        loss.at_once
    }

    /// Compares keys that no version declares: kept by a map or preserve-unknown-fields in one, pruned by a closed object in
    /// another.
    fn others(&mut self, fates: &[FieldFate<'t>], path: &mut FieldPath) {
        if !fates.iter().any(FieldFate::is_open) {
            return;
        }
        let closed = |fate: &FieldFate<'t>| fate.declared().is_some() && !fate.is_open();
        let drops = |index: usize| fates.get(index).is_some_and(closed);
        // A version without the flag is expected to drop undeclared keys; this is reported only where the flag never works.
        let loss = self.loss(|index| fates.get(index).is_some_and(FieldFate::is_open), drops).filter(|loss| loss.at_once);
        let loss = loss.or_else(|| self.loss(|index| fates.get(index).is_some_and(FieldFate::promises_keys), drops));
        if let Some(loss) = &loss {
            let keys = if fates.get(loss.owner).is_some_and(FieldFate::is_map) { "keys of the map" } else { "unknown fields" };
            self.report_loss(loss, Aspect::Properties, anchor(fates, loss.owner), path, &[(Word::What, keys)]);
        }
        if loss.is_some_and(|loss| loss.at_once) {
            return;
        }
        path.push(PathStep::Values);
        self.node(fates.iter().map(|fate| if closed(fate) { FieldFate::Reported } else { fate.values() }).collect(), path);
        path.pop();
    }

    /// What the versions keep of objects or lists written here. A version that declares another type drops their content.
    fn of_form<'r>(&mut self, form: Form, fates: &'r [FieldFate<'t>], path: &FieldPath) -> FittingVersions<'r, 't> {
        // A version with another type doesn't write this form, and drops nothing of it if it preserves unknown fields.
        let foreign = |fate: &FieldFate<'t>| match fate {
            FieldFate::Emptied(_) => true,
            FieldFate::Declared(here) => here.form() != Some(form) && !here.is_any_type(),
            _ => false,
        };
        if !fates.iter().any(foreign) {
            return FittingVersions { fates: Cow::Borrowed(fates), emptied: false };
        }
        let typed = |fate: &FieldFate<'t>| fate.declared().is_some_and(|here| here.form() == Some(form)) && fate.holds_fields();
        let meant = is_assumed_form(form, fates);
        // A key that one version only preserves is assumed to contain what another one declares, not an object in place of a
        // scalar.
        let hollow = fates.iter().any(|fate| matches!(fate, FieldFate::Emptied(_)));
        let full =
            |fate: &FieldFate<'t>| typed(fate) || meant && fate.holds_fields() && fate.declared().map_or(hollow, Declared::is_any_type);
        let drops = |index: usize| fates.get(index).is_some_and(|fate| foreign(fate) && fate.declared().is_none_or(|here| !here.keeps));
        let loss = self.loss(|index| fates.get(index).is_some_and(full), drops).filter(|loss| loss.at_once);
        let loss = loss.or_else(|| self.loss(|index| fates.get(index).is_some_and(typed), drops));
        if let Some(loss) = &loss {
            let at = emptied(form, fates.get(loss.owner), path);
            self.report_loss(loss, Aspect::Properties, anchor(fates, loss.owner), &at, &[(Word::What, "fields")]);
        }
        let gone = loss.as_ref().is_some_and(|loss| loss.at_once);
        let left = fates.iter().map(|fate| if gone || foreign(fate) { FieldFate::Reported } else { fate.clone() });
        FittingVersions { fates: left.collect(), emptied: loss.is_some() }
    }

    /// The loss that results from some versions keeping a value and others dropping it.
    pub(super) fn loss(&self, keeps: impl Fn(usize) -> bool, drops: impl Fn(usize) -> bool) -> Option<FieldLoss> {
        let served = |index: &usize| self.gates.get(*index).is_some_and(|gate| gate.served);
        let all = 0..self.gates.len();
        let keepers: Vec<usize> = all.clone().filter(|&index| keeps(index)).collect();
        if drops(self.storage) {
            let (via, stored): (Vec<usize>, Vec<usize>) = keepers.into_iter().partition(served);
            if let Some(&owner) = via.first() {
                return Some(FieldLoss { at_once: true, via, owner });
            }
            // Objects stored at another version still have it.
            let (owner, via) = (*stored.first()?, all.filter(served).collect::<Vec<_>>());
            return (!via.is_empty()).then_some(FieldLoss { at_once: false, via, owner });
        }
        let via: Vec<usize> = all.filter(served).filter(|&index| drops(index)).collect();
        let owner = if keepers.contains(&self.storage) { self.storage } else { *keepers.first()? };
        (!via.is_empty()).then_some(FieldLoss { at_once: false, via, owner })
    }

    pub(super) fn report_loss(
        &mut self,
        loss: &FieldLoss,
        aspect: Aspect,
        node: Option<crate::input::yaml::Node<'t>>,
        path: &FieldPath,
        words: &[(Word, &str)],
    ) {
        let name = |index: usize| self.gates.get(index).map_or("", |gate| gate.name);
        let (via, storage, owner) = (list_all(loss.via.iter().map(|&index| name(index))), name(self.storage), name(loss.owner));
        let Some(node) = node else { return };
        let fact = self.collector.note((Subject::Field, aspect, Effect::Lossy), node);
        fact.version = Some(owner.to_owned());
        fact.path = path.clone();
        fact.affects = fact.affects.with(Affected::Data);
        if !loss.at_once {
            fact.affects = fact.affects.with(Affected::Readers);
        }
        fact.words.insert(Word::When, if loss.at_once { "at once" } else { "next write" }.to_owned());
        fact.words.insert(Word::Via, via);
        fact.words.insert(Word::Storage, storage.to_owned());
        fact.words.insert(Word::Verb, if loss.via.len() > 1 { "don't" } else { "doesn't" }.to_owned());
        for &(key, value) in words {
            fact.words.insert(key, value.to_owned());
        }
    }
}
