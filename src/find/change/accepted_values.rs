//! Compares what a node accepts: types, values, bounds, formats, counts and compositions.

use std::collections::BTreeSet;

use crate::compare::{CONDITIONS, Comparison, Sample};
use crate::input::yaml::Node;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Mark, Word};
use crate::model::relation::Relation;
use crate::model::schema::shape::Type;
use crate::model::schema::{Keyword, Schema, Shape};
use crate::model::{FieldPath, PathStep};
use crate::server::object::enforced_format;

use super::change_list::Changes;
use super::json_types::JsonTypes;
use super::node_comparison::NodeComparison;
use super::value_text::{self, names};
use super::walk::{ChangeWalk, NodePair, Position};

/// Keywords that decide which JSON types a node accepts.
pub(super) const TYPES: &[Keyword] = &[Keyword::Type, Keyword::IntOrString];

pub(super) const COMPOSITIONS: &[Keyword] = &[Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf, Keyword::Not];

/// A condition that differs, with the keywords that express it.
struct Part {
    aspect: Aspect,
    words: &'static [Keyword],
    relation: Relation,
}

impl<'a> ChangeWalk<'a> {
    /// Compares the values that a node accepts. The exact comparison of both nodes decides; each condition that contributes to the
    /// difference is reported as its cause.
    pub(super) fn accepted<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let comparison = NodeComparison::of(pair, self.demanded_by_scale());
        let moved = changes.has_any(COMPOSITIONS);
        let differ = CONDITIONS.iter().filter(|(aspect, words, _)| (moved || changes.has_any(words)) && comparison.differs(*aspect));
        let differ: Vec<(Aspect, &'static [Keyword])> = differ.map(|(aspect, words, _)| (*aspect, *words)).collect();
        let (whole, relations) = comparison.judge(&differ.iter().map(|(aspect, _)| *aspect).collect::<Vec<_>>());
        let parts = differ.into_iter().zip(relations).map(|((aspect, words), relation)| Part { aspect, words, relation });
        // If the same values are accepted, every changed keyword is only written differently, and reported as such at the end.
        let parts: Vec<Part> = parts.filter(|part| part.relation != Relation::Equal).collect();
        for part in &parts {
            let fact = self.part_fact(pair, changes, part, &comparison);
            let lost = match fact.is(Mark::ListsOnly) {
                true => Some(Sample::Sent(serde_json::json!([]))),
                false => whole.lost.clone().filter(|_| part.relation.narrows()),
            };
            self.push_lost(with_reason(fact, part.relation, &whole), lost);
        }
        if parts.is_empty() && !matches!(whole.relation, Relation::Equal | Relation::Undecided) {
            let change = CONDITIONS.iter().find_map(|(_, words, _)| changes.first(words));
            let (before, after) = (change.and_then(|change| change.old), change.and_then(|change| change.new));
            let fact = self.keyword_fact(pair, Aspect::Accepted, whole.relation.effect(), before, after);
            let fact = with_audience(fact, whole.relation).ratchet(self.ratchet(true));
            self.push_lost(fact, whole.lost.filter(|_| whole.relation.narrows()));
        }
    }

    fn part_fact<'t>(
        &mut self,
        pair: &NodePair<'_, 't>,
        changes: &mut Changes<'t>,
        part: &Part,
        comparison: &NodeComparison<'_, '_, 't>,
    ) -> Fact {
        let own = changes.first(part.words);
        // A keyword that is inside a clause now is shown at the clause.
        let change = own.or_else(|| changes.first(COMPOSITIONS));
        let aspect = match (part.aspect, change.map(|change| change.word)) {
            (_, Some(Keyword::ExclusiveMinimum)) => Aspect::ExclusiveMinimum,
            (_, Some(Keyword::ExclusiveMaximum)) => Aspect::ExclusiveMaximum,
            (_, Some(Keyword::IntOrString)) if !changes.has(Keyword::Type) => Aspect::IntOrString,
            // A single clause of another composition counts as `allOf`.
            (Aspect::AllOf, Some(Keyword::AnyOf)) => Aspect::AnyOf,
            (Aspect::AllOf, Some(Keyword::OneOf)) => Aspect::OneOf,
            (Aspect::AllOf, Some(Keyword::Not)) => Aspect::Not,
            (aspect, _) => aspect,
        };
        changes.report_all(part.words);
        if own.is_none() {
            changes.report_all(COMPOSITIONS);
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
            (_, Some((old, new))) => {
                // Show the removed or added value rather than the keyword above it.
                if let Some(gone) = only_in(&pair.old, &pair.new).filter(|_| new.is_some()) {
                    fact.before = Some(self.old_place(gone));
                }
                if let Some(come) = only_in(&pair.new, &pair.old).filter(|_| old.is_some()) {
                    fact.after = Some(self.new_place(come));
                }
                enum_words(fact, &old.unwrap_or_default(), &new.unwrap_or_default())
            }
            _ => fact
                .word(Word::Old, value_text::value(before.map(|entry| entry.value)))
                .word(Word::New, value_text::value(after.map(|entry| entry.value))),
        };
        if part.aspect == Aspect::Format
            && part.relation.narrows()
            && pair.new.ty() == Some("string")
            && !enforced_format(&Shape::local(&pair.new))
        {
            fact = fact.mark(Mark::ListsOnly);
        }
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
        with_audience(fact, part.relation).word(Word::Keyword, name).ratchet(self.ratchet(container))
    }

    /// Reports a node whose old and new types have nothing in common: one fact, whatever else changed.
    pub(super) fn retyped<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) -> bool {
        let (old, new) = (JsonTypes::of(&pair.old), JsonTypes::of(&pair.new));
        if !old.and(new).is_empty() {
            return false;
        }
        let names = (type_name(&pair.old), type_name(&pair.new));
        match self.drafts.last_mut().filter(|found| pair.name.0 != pair.name.1 && found.fact.effect == Effect::Renamed) {
            // No object has a value under the new name that could be rejected.
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
        self.list_of_objects(pair);
        true
    }

    /// Compares the fields of an object that became a list of such objects, or vice versa.
    fn list_of_objects(&mut self, pair: &NodePair<'_, '_>) {
        let (became_list, old, new) = match (object_items(&pair.new, &pair.old), object_items(&pair.old, &pair.new)) {
            (Some(items), _) => (true, pair.old.clone(), items),
            (None, Some(items)) => (false, items, pair.new.clone()),
            (None, None) => return,
        };
        let listed = |walk: &mut Self, path: fn(&mut FieldPath)| path(if became_list { &mut walk.new_path } else { &mut walk.old_path });
        listed(self, |path| path.push(PathStep::Items));
        self.diverged += 1;
        self.properties(&NodePair { old, new, position: Position::Item, ..*pair }, None);
        self.diverged -= 1;
        listed(self, |path| drop(path.pop()));
    }
}

/// The items of a list, if they are objects with mostly the same fields as another object.
fn object_items<'t>(list: &Schema<'t>, object: &Schema<'_>) -> Option<Schema<'t>> {
    let items = list.items()?;
    let are_objects = items.ty() == Some("object") && object.ty() == Some("object") && items.property_count() > 0;
    (are_objects && shares_names(&items, object)).then_some(items)
}

/// The first value of an enum that another one doesn't have.
fn only_in<'t>(one: &Schema<'t>, other: &Schema<'_>) -> Option<Node<'t>> {
    let known: BTreeSet<String> = other.enum_values()?.map(|value| value_text::value(Some(value))).collect();
    one.enum_values()?.find(|value| !known.contains(&value_text::value(Some(*value))))
}

fn enum_words(fact: Fact, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Fact {
    let list = |from: &BTreeSet<String>, without: &BTreeSet<String>| names(&from.difference(without).collect::<Vec<_>>());
    let all = |set: &BTreeSet<String>| if set.is_empty() { value_text::UNSET.to_owned() } else { names(&set.iter().collect::<Vec<_>>()) };
    fact.word(Word::Removed, list(old, new)).word(Word::Added, list(new, old)).word(Word::Old, all(old)).word(Word::New, all(new))
}

/// Whether at least half of the properties of the smaller schema are also in the other.
fn shares_names(one: &Schema<'_>, other: &Schema<'_>) -> bool {
    let names: BTreeSet<&str> = one.properties().map(|(entry, _)| entry.name()).collect();
    let shared = other.properties().filter(|(entry, _)| names.contains(entry.name())).count();
    shared * 2 >= names.len().min(other.property_count()).max(1)
}

/// A fact about a type, with the names of both.
fn typed(fact: Fact, old: &str, new: &str) -> Fact {
    let holds_values = |name: &str| matches!(name, "object" | "array" | "any");
    let fact = if holds_values(old) || holds_values(new) { fact.mark(Mark::Container) } else { fact };
    fact.word(Word::Old, old).word(Word::New, new)
}

/// The name of a type for messages.
pub(super) fn type_name(schema: &Schema<'_>) -> &'static str {
    match schema.ty().and_then(Type::parse) {
        _ if schema.is_int_or_string() => "int-or-string",
        ty => ty.map_or("any", Type::name),
    }
}

pub(super) fn with_audience(fact: Fact, relation: Relation) -> Fact {
    match relation {
        Relation::Equal => fact,
        Relation::Narrower | Relation::Undecided => fact.affects(&[Affected::Writers, Affected::Stored]),
        Relation::Wider => fact.affects(&[Affected::Readers]),
        Relation::Incomparable => fact.affects(&[Affected::Writers, Affected::Stored, Affected::Readers]),
    }
}

fn with_reason(fact: Fact, relation: Relation, whole: &Comparison<Sample>) -> Fact {
    match relation {
        Relation::Undecided => {
            let reason = whole.reason.clone().unwrap_or_else(|| "crdwise could not decide which values each side accepts".to_owned());
            fact.word(Word::Reason, reason.clone()).evidence(Evidence::undecided(reason))
        }
        _ => fact,
    }
}
