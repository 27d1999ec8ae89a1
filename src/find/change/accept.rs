//! What a node accepts: types, values, bounds, texts, counts and junctors.

use std::collections::BTreeSet;

use crate::compare::CONDITIONS;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Mark, Word};
use crate::model::relation::Relation;
use crate::model::schema::{Keyword, Schema};

use super::change_list::Changes;
use super::judge::{Judgement, NodeComparison};
use super::types::Types;
use super::walk::{Pair, Walk};
use super::wording::{self, names};

/// Keywords that say which JSON types a node accepts.
pub(super) const TYPES: &[Keyword] = &[Keyword::Type, Keyword::IntOrString];

pub(super) const JUNCTORS: &[Keyword] = &[Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::Not];

/// One condition that differs, with the keywords that write it.
struct Part {
    aspect: Aspect,
    words: &'static [Keyword],
    relation: Relation,
}

impl<'a> Walk<'a> {
    /// What became of the values that a node accepts. The comparison of both nodes decides; each condition that differs is a cause as far
    /// as it makes the same difference by itself.
    pub(super) fn accepted<'t>(&mut self, pair: &Pair<'_, 't>, changes: &mut Changes<'t>) {
        let comparison = NodeComparison::of(pair, self.demanded_by_scale(pair));
        let moved = changes.has_any(JUNCTORS);
        let differ = CONDITIONS.iter().filter(|(aspect, words)| (moved || changes.has_any(words)) && comparison.differs(*aspect));
        let differ: Vec<(Aspect, &'static [Keyword])> = differ.copied().collect();
        let (whole, relations) = comparison.judge(differ.iter().map(|(aspect, _)| *aspect).collect());
        let parts = differ.into_iter().zip(relations).map(|((aspect, words), relation)| Part { aspect, words, relation });
        let parts: Vec<Part> = parts.filter(|part| part.relation != Relation::Equal).collect();
        // The same values are accepted: every keyword that changed is only written differently, and told so at the end.
        let explained = parts.iter().fold(Relation::Equal, |all, part| all.and(part.relation));
        for part in &parts {
            let fact = self.part_fact(pair, changes, part, &comparison);
            let lost = whole.lost.clone().filter(|_| part.relation.narrows());
            self.push_lost(evident(fact, part.relation, &whole), lost);
        }
        let unexplained = match (whole.relation, explained) {
            (Relation::Equal | Relation::Undecided, _) => None,
            (whole, explained) if whole == explained || explained == Relation::Undecided => None,
            (Relation::Incomparable, Relation::Narrower) => Some(Relation::Wider),
            (Relation::Incomparable, Relation::Wider) => Some(Relation::Narrower),
            (whole, Relation::Equal) => Some(whole),
            _ => None,
        };
        // Which types are accepted is a fact whatever else is refused.
        let retyped = parts.iter().any(|part| part.aspect == Aspect::Type);
        if let Some(relation) = unexplained.filter(|relation| !retyped || relation.narrows()) {
            let change = CONDITIONS.iter().find_map(|(_, words)| changes.first(words));
            let fact = self.keyword_fact(pair, Aspect::Accepted, relation.effect(), change.and_then(|c| c.old), change.and_then(|c| c.new));
            let fact = constrained(fact, relation).ratchet(self.ratchet(true));
            let lost = whole.lost.clone().filter(|_| relation.narrows());
            self.push_lost(evident(fact, relation, &whole), lost);
        }
    }

    fn part_fact<'t>(
        &mut self,
        pair: &Pair<'_, 't>,
        changes: &mut Changes<'t>,
        part: &Part,
        comparison: &NodeComparison<'_, '_, 't>,
    ) -> Fact {
        let own = changes.first(part.words);
        // A keyword that moved into a clause, or only stands there, is shown at the clause.
        let change = own.or_else(|| changes.first(JUNCTORS));
        let aspect = match (part.aspect, change.map(|change| change.word)) {
            (_, Some(Keyword::ExclusiveMinimum)) => Aspect::ExclusiveMinimum,
            (_, Some(Keyword::ExclusiveMaximum)) => Aspect::ExclusiveMaximum,
            (_, Some(Keyword::IntOrString)) if !changes.has(Keyword::Type) => Aspect::IntOrString,
            // A single clause of another junctor is folded into what all must hold.
            (Aspect::AllOf, Some(Keyword::AnyOf)) => Aspect::AnyOf,
            (Aspect::AllOf, Some(Keyword::OneOf)) => Aspect::OneOf,
            (Aspect::AllOf, Some(Keyword::Not)) => Aspect::Not,
            (aspect, _) => aspect,
        };
        changes.tell_all(part.words);
        if own.is_none() {
            changes.tell_all(JUNCTORS);
        }
        let (before, after) = (change.and_then(|change| change.old), change.and_then(|change| change.new));
        let values = (part.aspect == Aspect::Enum).then(|| comparison.values());
        let effect = match (&values, part.relation) {
            (Some((None, _)), Relation::Narrower) => Effect::Added,
            (Some((_, None)), Relation::Wider) => Effect::Removed,
            (_, relation) => relation.effect(),
        };
        let mut fact = self.keyword_fact(pair, aspect, effect, before, after);
        fact = match (part.aspect, values) {
            (Aspect::Type, _) => typed(fact, type_name(&pair.old), type_name(&pair.new)),
            (_, Some((old, new))) => enum_words(fact, &old.unwrap_or_default(), &new.unwrap_or_default()),
            _ => fact
                .word(Word::Old, wording::value(before.map(|entry| entry.value)))
                .word(Word::New, wording::value(after.map(|entry| entry.value))),
        };
        let name = change.map_or(aspect.name(), |change| change.word.name());
        let container = matches!(
            part.aspect,
            Aspect::MinItems
                | Aspect::MaxItems
                | Aspect::MinProperties
                | Aspect::MaxProperties
                | Aspect::AllOf
                | Aspect::AnyOf
                | Aspect::OneOf
                | Aspect::Not
        );
        constrained(fact, part.relation).word(Word::Keyword, name).ratchet(self.ratchet(container))
    }

    /// A node whose old and new types have nothing in common: one fact, whatever else became of it.
    pub(super) fn retyped<'t>(&mut self, pair: &Pair<'_, 't>, changes: &mut Changes<'t>) -> bool {
        let (old, new) = (Types::of(&pair.old), Types::of(&pair.new));
        if !old.and(new).is_empty() {
            return false;
        }
        let names = (type_name(&pair.old), type_name(&pair.new));
        match self.found.last_mut().filter(|found| pair.name.0 != pair.name.1 && found.fact.effect == Effect::Renamed) {
            // Nothing stands under the new name that could be refused.
            Some(renamed) => drop(renamed.fact.words.insert(Word::Retyped, format!("{} instead of {}", names.1, names.0))),
            None => {
                let change = changes.first(TYPES);
                let fact = self.keyword_fact(pair, Aspect::Type, Effect::Changed, change.and_then(|c| c.old), change.and_then(|c| c.new));
                let fact = typed(fact, names.0, names.1)
                    .affects(&[Affected::Writers, Affected::Stored, Affected::Readers, Affected::Data])
                    .ratchet(self.ratchet(false));
                self.push(fact);
            }
        }
        self.documented(pair, changes);
        self.wrapped(pair);
        true
    }

    /// A value that became a list of such values, or the reverse: what else changed in it is told too.
    fn wrapped(&mut self, pair: &Pair<'_, '_>) {
        use super::walk::Position;
        use crate::model::Step;
        let inner = |schema: &Schema<'_>, other: &Schema<'_>| {
            schema.items().is_some_and(|items| items.ty() == Some("object") && other.ty() == Some("object") && items.property_count() > 0)
        };
        let (old, new) = (&pair.old, &pair.new);
        let inside = |old: &Schema<'_>, new: &Schema<'_>| shares_names(old, new);
        if inner(new, old)
            && let Some(items) = new.items()
            && inside(old, &items)
        {
            self.new_path.push(Step::Items);
            self.diverged += 1;
            self.properties(
                &Pair {
                    old: old.clone(),
                    new: items,
                    old_key: pair.old_key,
                    new_key: pair.new_key,
                    position: Position::Item,
                    name: pair.name,
                    up: pair.up,
                    budget: pair.budget,
                },
                None,
            );
            self.diverged -= 1;
            self.new_path.pop();
        } else if inner(old, new)
            && let Some(items) = old.items()
            && inside(&items, new)
        {
            self.old_path.push(Step::Items);
            self.diverged += 1;
            self.properties(
                &Pair {
                    old: items,
                    new: new.clone(),
                    old_key: pair.old_key,
                    new_key: pair.new_key,
                    position: Position::Item,
                    name: pair.name,
                    up: pair.up,
                    budget: pair.budget,
                },
                None,
            );
            self.diverged -= 1;
            self.old_path.pop();
        }
    }
}

fn enum_words(fact: Fact, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Fact {
    let list = |from: &BTreeSet<String>, without: &BTreeSet<String>| names(&from.difference(without).collect::<Vec<_>>());
    let all = |set: &BTreeSet<String>| if set.is_empty() { wording::UNSET.to_owned() } else { names(&set.iter().collect::<Vec<_>>()) };
    fact.word(Word::Removed, list(old, new)).word(Word::Added, list(new, old)).word(Word::Old, all(old)).word(Word::New, all(new))
}

/// Whether at least half of the properties of the smaller side are also on the other.
fn shares_names(old: &Schema<'_>, new: &Schema<'_>) -> bool {
    let names: BTreeSet<&str> = old.properties().map(|(entry, _)| entry.name()).collect();
    let shared = new.properties().filter(|(entry, _)| names.contains(entry.name())).count();
    shared * 2 >= names.len().min(new.property_count()).max(1)
}

/// A fact about a type, with the names of both.
fn typed(fact: Fact, old: &str, new: &str) -> Fact {
    let holds_values = |name: &str| matches!(name, "object" | "array" | "any");
    let fact = if holds_values(old) || holds_values(new) { fact.mark(Mark::Container) } else { fact };
    fact.word(Word::Old, old).word(Word::New, new)
}

/// A type as people say it.
pub(super) fn type_name(schema: &Schema<'_>) -> &'static str {
    if schema.is_int_or_string() {
        return "int-or-string";
    }
    match schema.ty() {
        Some("object") => "object",
        Some("array") => "array",
        Some("string") => "string",
        Some("integer") => "integer",
        Some("number") => "number",
        Some("boolean") => "boolean",
        _ => "any",
    }
}

pub(super) fn constrained(fact: Fact, relation: Relation) -> Fact {
    match relation {
        Relation::Equal => fact,
        Relation::Narrower | Relation::Undecided => fact.affects(&[Affected::Writers, Affected::Stored]),
        Relation::Wider => fact.affects(&[Affected::Readers]),
        Relation::Incomparable => fact.affects(&[Affected::Writers, Affected::Stored, Affected::Readers]),
    }
}

fn evident(fact: Fact, relation: Relation, whole: &Judgement) -> Fact {
    match relation {
        Relation::Undecided => {
            let reason =
                whole.reason.clone().unwrap_or_else(|| "both sides accept other values, and which of them was not decided".to_owned());
            fact.word(Word::Reason, reason.clone()).evidence(Evidence::undecided(reason))
        }
        _ => fact,
    }
}
