//! What a node accepts: types, values, bounds, texts, counts and junctors.
//!
//! Each differing part gets a direction of its own; the comparison of both nodes as a whole then corrects it, because a
//! keyword narrows nothing where another one already refuses the same values.

use std::collections::BTreeSet;

use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Mark, Word};
use crate::model::schema::{Keyword, Schema};

use super::change::Changes;
use super::judge::{Judgement, judge};
use super::limits::{Count, Limits, Types};
use super::relation::Relation;
use super::walk::{Pair, Walk};
use super::wording::{self, names};
use super::{format, number};

/// Keywords that say which JSON types a node accepts.
pub(super) const TYPES: &[Keyword] = &[Keyword::Type, Keyword::IntOrString];

/// Keywords that take part in what a node accepts.
pub(super) const CONSTRAINTS: &[Keyword] = &[
    Keyword::Type,
    Keyword::IntOrString,
    Keyword::Enum,
    Keyword::Minimum,
    Keyword::Maximum,
    Keyword::ExclusiveMinimum,
    Keyword::ExclusiveMaximum,
    Keyword::MultipleOf,
    Keyword::MinLength,
    Keyword::MaxLength,
    Keyword::Pattern,
    Keyword::Format,
    Keyword::MinItems,
    Keyword::MaxItems,
    Keyword::UniqueItems,
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::Required,
    Keyword::AllOf,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::Not,
];

pub(super) const JUNCTORS: &[Keyword] = &[Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::Not];

/// One part of what a node accepts, with the keywords that write it.
struct Part {
    aspect: Aspect,
    words: &'static [Keyword],
    relation: Relation,
}

fn parts(old: &Limits<'_>, new: &Limits<'_>) -> Vec<Part> {
    let shared = old.types.and(new.types);
    let held = shared.held();
    let when = |types: Types, relation: Relation| if shared.has(types) { relation } else { Relation::Equal };
    let part = |aspect, words, relation| Part { aspect, words, relation };
    let least = |old: i64, new: i64| Relation::of(new > old, new < old);
    let most = |old: Count, new: Count| match (old.max, new.max) {
        (None, None) => Relation::Equal,
        (None, Some(_)) => Relation::Narrowed,
        (Some(_), None) => Relation::Widened,
        (Some(old), Some(new)) => Relation::of(new < old, new > old),
    };
    let mut list = vec![
        part(Aspect::Type, TYPES, Relation::of(!new.types.covers(old.types), !old.types.covers(new.types))),
        part(Aspect::Enum, &[Keyword::Enum], values(old.values.as_ref(), new.values.as_ref())),
        part(Aspect::Minimum, &[Keyword::Minimum, Keyword::ExclusiveMinimum], number::lower(&old.numbers, &new.numbers, held)),
        part(Aspect::Maximum, &[Keyword::Maximum, Keyword::ExclusiveMaximum], number::upper(&old.numbers, &new.numbers, held)),
        part(Aspect::MultipleOf, &[Keyword::MultipleOf], number::multiples(&old.numbers, &new.numbers, held)),
        part(Aspect::MinLength, &[Keyword::MinLength], when(Types::STRING, least(old.length.min, new.length.min))),
        part(Aspect::MaxLength, &[Keyword::MaxLength], when(Types::STRING, most(old.length, new.length))),
        part(Aspect::Pattern, &[Keyword::Pattern], when(Types::STRING, Relation::of_conditions(&old.patterns, &new.patterns))),
        part(Aspect::Format, &[Keyword::Format], format::compare(&old.formats, &new.formats)),
        part(Aspect::MinItems, &[Keyword::MinItems], when(Types::ARRAY, least(old.items.min, new.items.min))),
        part(Aspect::MaxItems, &[Keyword::MaxItems], when(Types::ARRAY, most(old.items, new.items))),
        part(
            Aspect::UniqueItems,
            &[Keyword::UniqueItems],
            when(Types::ARRAY, Relation::of(new.unique && !old.unique, old.unique && !new.unique)),
        ),
        part(Aspect::MinProperties, &[Keyword::MinProperties], when(Types::OBJECT, least(old.properties.min, new.properties.min))),
        part(Aspect::MaxProperties, &[Keyword::MaxProperties], when(Types::OBJECT, most(old.properties, new.properties))),
        part(Aspect::AllOf, &[Keyword::AllOf], Relation::of_conditions(&old.nested, &new.nested)),
        part(Aspect::AnyOf, &[Keyword::AnyOf], any_of(&old.any_of, &new.any_of)),
        part(Aspect::OneOf, &[Keyword::OneOf], Relation::of_conditions(&old.one_of, &new.one_of)),
        part(Aspect::Not, &[Keyword::Not], Relation::of_conditions(&old.not, &new.not)),
    ];
    list.retain(|part| part.relation != Relation::Equal);
    list
}

fn values(old: Option<&BTreeSet<String>>, new: Option<&BTreeSet<String>>) -> Relation {
    match (old, new) {
        (None, None) => Relation::Equal,
        (None, Some(_)) => Relation::Narrowed,
        (Some(_), None) => Relation::Widened,
        (Some(old), Some(new)) => Relation::of(!old.is_subset(new), !new.is_subset(old)),
    }
}

fn any_of(old: &[BTreeSet<String>], new: &[BTreeSet<String>]) -> Relation {
    match (old, new) {
        ([old], [new]) => Relation::of_choices(old, new),
        (old, new) => Relation::of_conditions(&old.iter().collect(), &new.iter().collect()),
    }
}

/// The judgement on the whole corrects that on a part.
fn corrected(part: Relation, whole: Relation, alone: bool) -> Relation {
    use Relation::{Changed, Equal, Narrowed, Undecided, Widened};
    match (whole, part) {
        (Equal, _) => Equal,
        (Undecided, part) => part,
        (whole, _) if alone => whole,
        (Widened, Narrowed) | (Narrowed, Widened) => Equal,
        (Widened, Changed | Undecided) => Widened,
        (Narrowed, Changed | Undecided) => Narrowed,
        (Changed, Undecided) => Changed,
        (_, part) => part,
    }
}

impl<'a> Walk<'a> {
    pub(super) fn accepted<'t>(&mut self, pair: &Pair<'_, 't>, changes: &mut Changes<'t>, old: &Limits<'t>, new: &Limits<'t>) {
        let mut parts = parts(old, new);
        let together = parts.iter().fold(Relation::Equal, |all, part| all.and(part.relation));
        let whole = judge(pair, old, new, together, self.demanded_by_scale(pair));
        let alone = parts.len() == 1;
        // Which types are accepted is known exactly, and a fact whatever else is refused.
        let retyped = parts.iter().any(|part| part.aspect == Aspect::Type);
        for part in parts.iter_mut().filter(|part| part.aspect != Aspect::Type) {
            part.relation = corrected(part.relation, whole.relation, alone);
        }
        // The same values are accepted: every keyword that changed is only written differently, and told so at the end.
        parts.retain(|part| part.relation != Relation::Equal);
        let explained = parts.iter().fold(Relation::Equal, |all, part| all.and(part.relation));
        for part in &parts {
            let fact = self.part_fact(pair, changes, part, old, new);
            let lost = whole.lost.clone().filter(|_| part.relation.narrows());
            self.push_lost(evident(fact, part.relation, &whole), lost);
        }
        let unexplained = match (whole.relation, explained) {
            (Relation::Equal | Relation::Undecided, _) => None,
            (whole, explained) if whole == explained || explained == Relation::Undecided => None,
            (Relation::Changed, Relation::Narrowed) => Some(Relation::Widened),
            (Relation::Changed, Relation::Widened) => Some(Relation::Narrowed),
            (whole, Relation::Equal) => Some(whole),
            _ => None,
        };
        if let Some(relation) = unexplained.filter(|relation| !retyped || relation.narrows()) {
            let change = changes.first(CONSTRAINTS);
            let fact = self.keyword_fact(pair, Aspect::Accepted, relation.effect(), change.and_then(|c| c.old), change.and_then(|c| c.new));
            let fact = constrained(fact, relation).ratchet(self.ratchet(true));
            let lost = whole.lost.clone().filter(|_| relation.narrows());
            self.push_lost(evident(fact, relation, &whole), lost);
        }
    }

    fn part_fact<'t>(&mut self, pair: &Pair<'_, 't>, changes: &mut Changes<'t>, part: &Part, old: &Limits<'t>, new: &Limits<'t>) -> Fact {
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
        let effect = match (part.aspect, part.relation) {
            (Aspect::Enum, Relation::Narrowed) if old.values.is_none() => Effect::Added,
            (Aspect::Enum, Relation::Widened) if new.values.is_none() => Effect::Removed,
            (_, relation) => relation.effect(),
        };
        let mut fact = self.keyword_fact(pair, aspect, effect, before, after);
        fact = match part.aspect {
            Aspect::Type => typed(fact, type_name(&pair.old), type_name(&pair.new)),
            Aspect::Enum => self.enum_words(fact, old, new),
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

    fn enum_words(&self, fact: Fact, old: &Limits<'_>, new: &Limits<'_>) -> Fact {
        let empty = BTreeSet::new();
        let (old, new) = (old.values.as_ref().unwrap_or(&empty), new.values.as_ref().unwrap_or(&empty));
        let list = |from: &BTreeSet<String>, without: &BTreeSet<String>| names(&from.difference(without).collect::<Vec<_>>());
        let all = |set: &BTreeSet<String>| if set.is_empty() { wording::UNSET.to_owned() } else { names(&set.iter().collect::<Vec<_>>()) };
        fact.word(Word::Removed, list(old, new)).word(Word::Added, list(new, old)).word(Word::Old, all(old)).word(Word::New, all(new))
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
                },
                None,
            );
            self.diverged -= 1;
            self.old_path.pop();
        }
    }
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
        Relation::Narrowed | Relation::Undecided => fact.affects(&[Affected::Writers, Affected::Stored]),
        Relation::Widened => fact.affects(&[Affected::Readers]),
        Relation::Changed => fact.affects(&[Affected::Writers, Affected::Stored, Affected::Readers]),
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
