//! Compares the properties of an object, and which of them are required: added, removed, renamed, required.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::input::yaml::{Entry, Node};
use crate::model::PathStep;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Mark, Subject, Word};
use crate::model::schema::shape::Type;
use crate::model::schema::{Keyword, Schema, Shape, is_deprecated};
use crate::server::key_fate::KeyFate;
use crate::server::object::Compiled;

use super::conditions::Conditions;
use super::default::has_default;
use super::evidence::is_condition;
use super::implicit;
use super::rename::{self, RenameMatch};
use super::side_by_side::{EntryPair, side_by_side};
use super::undeclared_keys::Undeclared;
use super::value_text;
use super::walk::{ChangeWalk, NodePair, Position};

type Property<'t> = (Entry<'t>, Schema<'t>);

/// Keywords that can require names.
pub(super) const DEMANDS: &[Keyword] = &[Keyword::Required, Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::Not];

/// The required names, by the node or by a clause that always applies.
pub(super) struct Required<'t> {
    old: BTreeSet<&'t str>,
    new: BTreeSet<&'t str>,
}

impl<'t> Required<'t> {
    pub(super) fn of(pair: &NodePair<'_, 't>) -> Self {
        Required { old: Conditions::of(&pair.old).required(), new: Conditions::of(&pair.new).required() }
    }

    pub(super) fn differs(&self) -> bool {
        self.old != self.new
    }

    fn position(&self, old: &str, new: &str) -> Position {
        Position::Property { was_required: self.old.contains(old), is_required: self.new.contains(new) }
    }
}

impl ChangeWalk<'_> {
    pub(super) fn properties<'t>(&mut self, pair: &NodePair<'_, 't>, changed: Option<&Required<'t>>) {
        let maps = (pair.old.word(Keyword::Properties), pair.new.word(Keyword::Properties));
        if let (Some(old), Some(new), None) = (maps.0, maps.1, changed)
            && old.same_text(new)
        {
            return;
        }
        let lists = lists(maps.0, maps.1);
        if changed.is_none()
            && lists.iter().all(|(old, new)| matches!((old, new), (Some(old), Some(new)) if old.value.same_text(new.value)))
        {
            return;
        }
        let own;
        let required = match changed {
            Some(required) => required,
            None => {
                own = Required::of(pair);
                &own
            }
        };
        let mut removed: Vec<Property<'t>> = Vec::new();
        let mut added: Vec<Property<'t>> = Vec::new();
        for (old, new) in lists {
            match (old, new) {
                (Some(old), Some(new)) => self.property(pair, (old, old.key), (new, new.key), required),
                (Some(old), None) => match implicit::property(pair, old.name()) {
                    Some(new) => {
                        self.spelled_out(old.name(), old.key, pair.new_key);
                        self.property(pair, (old, old.key), (new, pair.new_key), required);
                    }
                    None => removed.push((old, pair.old.child(old.value))),
                },
                (None, Some(new)) => match implicit::property(pair, new.name()) {
                    Some(old) => {
                        self.spelled_out(new.name(), pair.old_key, new.key);
                        self.property(pair, (old, pair.old_key), (new, new.key), required);
                    }
                    None => added.push((new, pair.new.child(new.value))),
                },
                (None, None) => {}
            }
        }
        let renamed = rename::matches(&removed, &added, self.scope.options);
        for RenameMatch { old, new, score } in &renamed {
            self.renamed(pair, old, new, *score, required);
        }
        let gone = |name: &str| renamed.iter().any(|m| m.old.name() == name);
        let come = |name: &str| renamed.iter().any(|m| m.new.name() == name);
        for (entry, schema) in removed.iter().filter(|(entry, _)| !gone(entry.name())) {
            self.removed(pair, *entry, schema, required);
        }
        for (entry, schema) in added.iter().filter(|(entry, _)| !come(entry.name())) {
            self.added(pair, *entry, schema, required);
        }
        let told: BTreeSet<&str> = removed.iter().chain(&added).map(|(entry, _)| entry.name()).collect();
        self.demanded(pair, required, &told);
    }

    /// Compares the required names, if another fact covers the declarations.
    pub(super) fn demands<'t>(&mut self, pair: &NodePair<'_, 't>, changed: Option<&Required<'t>>) {
        if let Some(required) = changed {
            self.demanded(pair, required, &BTreeSet::new());
        }
    }

    fn demanded<'t>(&mut self, pair: &NodePair<'_, 't>, required: &Required<'t>, told: &BTreeSet<&str>) {
        let names = required.old.symmetric_difference(&required.new).filter(|name| !told.contains(**name));
        for name in names.copied().collect::<Vec<_>>() {
            self.required(pair, (name, name), required.new.contains(name));
        }
    }

    /// Compares an implicit field of every resource that only one side declares.
    fn spelled_out(&mut self, name: &str, old: Node<'_>, new: Node<'_>) {
        let fact = self.fact_at(Aspect::Presence, Effect::Rewritten, &self.old_path.key(name));
        self.push(fact.before(self.old_place(old)).after(self.new_place(new)).word(Word::Keyword, "properties"));
    }

    /// Compares a property on both sides, each with the key to show for it.
    fn property<'t>(
        &mut self,
        pair: &NodePair<'_, 't>,
        (old, old_key): (Entry<'t>, Node<'t>),
        (new, new_key): (Entry<'t>, Node<'t>),
        required: &Required<'t>,
    ) {
        if old.value.same_text(new.value) {
            return;
        }
        let key = |entry: Entry<'t>| PathStep::Key(entry.name().into());
        self.step(key(old), key(new), |walk| {
            walk.node(&NodePair {
                old: pair.old.child(old.value),
                new: pair.new.child(new.value),
                old_key,
                new_key,
                position: required.position(old.name(), new.name()),
                name: (old.name(), new.name()),
                up: Some(pair),
                budget: pair.budget,
            });
        });
    }

    fn renamed<'t>(&mut self, pair: &NodePair<'_, 't>, old: &Entry<'t>, new: &Entry<'t>, score: u32, required: &Required<'t>) {
        let kept = Undeclared::both(pair).1.keeps();
        let fact = self
            .fact_at(Aspect::Presence, Effect::Renamed, &self.old_path.key(old.name()))
            .before(self.old_place(old.key))
            .after(self.new_place(new.key))
            .affects(&[Affected::Writers, Affected::Stored, Affected::Readers])
            .word(Word::Old, old.name())
            .word(Word::New, new.name())
            .word(Word::Score, score.to_string())
            .word(Word::Threshold, self.scope.options.rename_threshold.to_string());
        let fact = if kept { fact.mark(Mark::Kept) } else { fact.affects(&[Affected::Data]) };
        let mut fact = deprecated(fact, &Schema::new(old.value));
        fact.to = Some(self.new_path.key(new.name()));
        self.push(fact);
        let inside = self.drafts.len();
        self.property(pair, (*old, old.key), (*new, new.key), required);
        let (was, is) = (required.old.contains(old.name()), required.new.contains(new.name()));
        if was != is {
            self.required(pair, (old.name(), new.name()), is);
        }
        if self.scope.subject == Subject::Field && Undeclared::both(pair).0 == KeyFate::Pruned {
            self.cover_conditions(inside);
        }
    }

    /// No object has a value under the new name yet, so a condition there can't reject any, and a default there changes no value that
    /// was read before. The rename, which is the fact before these, names the keywords that changed with it.
    fn cover_conditions(&mut self, inside: usize) {
        let mut changed = BTreeSet::new();
        for draft in self.drafts.split_off(inside) {
            let affects = draft.fact.affects;
            let requests = [Affected::Writers, Affected::Stored, Affected::Readers];
            let only_requests = affects.iter().all(|affected| requests.contains(&affected));
            let covered = only_requests || draft.fact.aspect == Aspect::Default;
            match covered && !affects.is_empty() && is_condition(&draft.fact) {
                true if draft.fact.aspect == Aspect::Presence => self.drafts.push(draft.harmless().into()),
                true => {
                    let keyword = draft.fact.words.get(&Word::Keyword).cloned();
                    changed.insert(keyword.unwrap_or_else(|| draft.fact.aspect.name().replace('-', " ")));
                }
                false => self.drafts.push(draft),
            }
        }
        if let Some(renamed) = inside.checked_sub(1).and_then(|index| self.drafts.get_mut(index)).filter(|_| !changed.is_empty()) {
            renamed.fact.words.insert(Word::Differing, changed.into_iter().collect::<Vec<_>>().join(", "));
        }
    }

    fn removed<'t>(&mut self, pair: &NodePair<'_, 't>, entry: Entry<'t>, schema: &Schema<'t>, required: &Required<'t>) {
        let still = required.new.contains(entry.name());
        let kept = Undeclared::both(pair).1.keeps();
        let survivor = pair.new.entry(Keyword::Properties).map_or(pair.new_key, |entry| entry.key);
        let mut fact = self
            .fact_at(Aspect::Presence, Effect::Removed, &self.old_path.key(entry.name()))
            .before(self.old_place(entry.key))
            .after(self.new_place(survivor))
            .word(Word::Type, super::accepted_values::type_name(schema))
            .affects(&[Affected::Readers]);
        fact = match kept {
            true if has_default(schema) => fact.mark(Mark::Kept).affects(&[Affected::Behaviour]),
            true => fact.mark(Mark::Kept),
            false => fact.affects(&[Affected::Writers, Affected::Data]),
        };
        if still {
            let hurt: &[Affected] = if kept { &[] } else { &[Affected::Stored] };
            fact = fact.mark(Mark::StillRequired).affects(hurt);
        }
        self.push(deprecated(fact, schema));
    }

    fn added<'t>(&mut self, pair: &NodePair<'_, 't>, entry: Entry<'t>, schema: &Schema<'t>, required: &Required<'t>) {
        let name = entry.name();
        let mut fact = self
            .fact_at(Aspect::Presence, Effect::Added, &self.new_path.key(name))
            .after(self.new_place(entry.key))
            .word(Word::Type, super::accepted_values::type_name(schema));
        let default = schema.default();
        let mut form = super::accepted_values::type_name(schema).to_owned();
        if let Some(default) = default {
            let default = value_text::value(Some(default));
            form = format!("{form}, default {default}");
            fact = fact.word(Word::Default, default);
        }
        fact = fact.word(Word::Form, form);
        if required.new.contains(name) {
            fact = fact.word(Word::Required, "true");
            // It was required before it was declared: nothing could satisfy that, so nothing breaks.
            if default.is_none() && !required.old.contains(name) {
                fact = fact.mark(Mark::Demanded).affects(&[Affected::Writers, Affected::Stored]).ratchet(self.ratchet(true));
            }
        }
        if default.is_some() && refuses_own_default(schema) {
            fact = fact.mark(Mark::Refused).affects(&[Affected::Writers, Affected::Stored]).ratchet(self.ratchet(true));
        }
        if self.may_refuse_old_values(pair, schema) || self.misses_null(pair, name, schema) {
            // A scalar has nothing inside that could be pruned.
            let is_scalar =
                matches!(super::accepted_values::type_name(schema), "string" | "integer" | "number" | "boolean" | "int-or-string");
            let (hurt, how): (&[Affected], _) = if is_scalar { (&[], "validated") } else { (&[Affected::Data], "validated and pruned") };
            fact = fact.mark(Mark::Kept).affects(&[Affected::Writers, Affected::Stored]).affects(hurt).ratchet(self.ratchet(true));
            fact = fact.word(Word::How, how);
        }
        self.push(fact);
        self.default_over_limit(pair, name, schema);
    }

    /// Reports a field on both sides that became required, or no longer is.
    fn required<'t>(&mut self, pair: &NodePair<'_, 't>, name: (&'t str, &'t str), now: bool) {
        let old = pair.old.property(name.0);
        let new = pair.new.property(name.1);
        let default = |property: &Option<Property<'t>>| property.as_ref().and_then(|(_, schema)| schema.default());
        // Defaults are applied before validation, so a field with a default is never missing. A default that replaces the
        // requirement is reported with the default.
        let filled = if now { default(&new) } else { default(&old).or(default(&new)) };
        let effect = match (filled, now) {
            _ if implicit::is_present(pair, name.0, now) => Effect::Rewritten,
            (Some(_), _) => Effect::Rewritten,
            (None, true) => Effect::Added,
            (None, false) => Effect::Removed,
        };
        let mut fact = self
            .fact_at(Aspect::Required, effect, &self.old_path.key(name.0))
            .before(self.old_place(listed(&pair.old, name.0).unwrap_or_else(|| old.as_ref().map_or(pair.old_key, |(entry, _)| entry.key))))
            .after(self.new_place(listed(&pair.new, name.1).unwrap_or_else(|| new.as_ref().map_or(pair.new_key, |(entry, _)| entry.key))));
        if self.diverged > 0 || name.0 != name.1 {
            fact.to = Some(self.new_path.key(name.1));
        }
        if let Some(default) = filled {
            fact = fact.word(Word::Default, value_text::value(Some(default)));
        }
        fact = match effect {
            Effect::Added => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(self.ratchet(true)),
            Effect::Removed => fact.affects(&[Affected::Readers]),
            _ => fact,
        };
        self.push(fact);
    }
}

/// Whether the server refuses a field's own default: it checks defaults less strictly than requests.
fn refuses_own_default(schema: &Schema<'_>) -> bool {
    let field = Shape::of(schema);
    let around = Shape { ty: Some(Type::Object), properties: [("field".to_owned(), Arc::new(field))].into(), ..Shape::default() };
    !Compiled::new(&around).request(serde_json::json!({})).accepted()
}

/// The node where a schema lists a name as required.
fn listed<'t>(schema: &Schema<'t>, name: &str) -> Option<Node<'t>> {
    schema.word(Keyword::Required)?.item_with_text(name)
}

fn deprecated(fact: Fact, schema: &Schema<'_>) -> Fact {
    match schema.text(Keyword::Description).is_some_and(is_deprecated) {
        true => fact.mark(Mark::WasDeprecated),
        false => fact,
    }
}

/// The entries of two mappings side by side, sorted by name.
fn lists<'t>(old: Option<Node<'t>>, new: Option<Node<'t>>) -> Vec<EntryPair<'t>> {
    let entries = |map: Option<Node<'t>>| map.into_iter().flat_map(Node::entries);
    let aligned = old.map_or(0, Node::len) == new.map_or(0, Node::len) && entries(old).zip(entries(new)).all(|(a, b)| a.name() == b.name());
    if aligned {
        return entries(old).zip(entries(new)).map(|(a, b)| (Some(a), Some(b))).collect();
    }
    side_by_side(entries(old), entries(new)).into_values().collect()
}
