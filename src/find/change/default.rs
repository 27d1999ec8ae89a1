//! Compares defaults: what absent values become, and which conditions notice that.

use crate::compare::completed;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Mark, Word};
use crate::model::schema::{Keyword, Schema, Shape};

use super::ancestors;
use super::change_list::Changes;
use super::value_text;
use super::walk::{ChangeWalk, NodePair, Position};

impl ChangeWalk<'_> {
    pub(super) fn defaulted<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let Some(change) = changes.take(Keyword::Default) else { return };
        let (was_required, is_required) = match pair.position {
            Position::Property { was_required, is_required } => (was_required, is_required),
            _ => (false, false),
        };
        let nullable = |schema: &Schema<'t>| schema.flag(Keyword::Nullable);
        let (effect, affects): (Effect, &[Affected]) = match (change.old, change.new) {
            // An item or map value is never absent: a default replaces null, and null stays if it is allowed.
            _ if matches!(pair.position, Position::Item | Position::Value) && nullable(&pair.old) && nullable(&pair.new) => {
                (Effect::Rewritten, &[])
            }
            // An absent value was refused before, or is refused now: the default only decides who may omit it.
            (None, _) if was_required => (Effect::Widened, &[Affected::Readers]),
            // An item is never absent, and without a default null is refused.
            (None, _) if pair.position == Position::Item && !pair.old.flag(Keyword::Nullable) => (Effect::Widened, &[Affected::Readers]),
            (_, None) if pair.position == Position::Item && !pair.new.flag(Keyword::Nullable) => {
                (Effect::Narrowed, &[Affected::Writers, Affected::Stored])
            }
            (Some(_), Some(_)) if filled(&pair.old) == filled(&pair.new) => (Effect::Rewritten, &[]),
            (_, None) if is_required => (Effect::Narrowed, &[Affected::Writers, Affected::Stored]),
            (None, _) => (Effect::Added, &[Affected::Behaviour, Affected::Readers]),
            (_, None) => (Effect::Removed, &[Affected::Behaviour, Affected::Readers]),
            _ => (Effect::Changed, &[Affected::Behaviour]),
        };
        let fact = self
            .keyword_fact(pair, Aspect::Default, effect, change.old, change.new)
            .word(Word::Old, value_text::value(change.old.map(|entry| entry.value)))
            .word(Word::New, value_text::value(change.new.map(|entry| entry.value)))
            .affects(affects);
        let fact = if effect == Effect::Narrowed { fact.ratchet(self.ratchet(true)) } else { fact };
        let fact = if pair.position == Position::Item { fact.mark(Mark::Item) } else { fact };
        let only = change.old.or(change.new).filter(|_| change.old.is_none() || change.new.is_none());
        let fact = if only.is_some_and(|entry| is_zero(&entry.value.to_json())) { fact.mark(Mark::ZeroDefault) } else { fact };
        self.push(fact);
    }

    /// Reports a new field whose default is one key too many for its ancestors.
    pub(super) fn default_over_limit<'t>(&mut self, pair: &NodePair<'_, 't>, name: &str, child: &Schema<'t>) {
        if child.default().is_none() {
            return;
        }
        let Some(notice) = ancestors::notice(pair, ancestors::MOST) else { return };
        let shapes = ancestors::shape(&pair.new).zip(ancestors::shape(&pair.old)).map(|(after, old)| {
            // Keys that are kept from now on have their own fact.
            let after = Shape { extra: old.extra, preserve_unknown: old.preserve_unknown, ..after };
            let mut before = after.clone();
            before.properties.remove(name);
            drop_key(&mut before, name);
            (before, after)
        });
        let order = shapes.and_then(|(before, after)| ancestors::compare(pair, Some(&notice), before, after));
        let effect = match order.as_ref().map(|order| order.loses) {
            Some(Some(false)) => return,
            Some(Some(true)) => Effect::Narrowed,
            Some(None) | None => Effect::Undecided,
        };
        let reason = format!("the default of the new field `{name}` counts against {}", notice.new.name());
        let mut fact = self.keyword_fact(pair, Aspect::Accepted, effect, notice.old, Some(notice.new));
        if effect == Effect::Undecided {
            let why = order.as_ref().and_then(|order| order.reason.clone());
            fact = fact.evidence(Evidence::undecided(why.unwrap_or_else(|| "a list that is too long to be tried".to_owned())));
        }
        let ratchet = self.ratchet(true);
        let fact = fact.word(Word::Reason, reason).key(name).affects(&[Affected::Writers, Affected::Stored]).ratchet(ratchet);
        self.push_lost(fact, order.and_then(|order| order.lost).and_then(|found| notice.part(found)));
    }
}

/// The default, completed with the defaults that its own schema sets inside it.
fn filled(schema: &Schema<'_>) -> Option<serde_json::Value> {
    Some(completed(&schema.default()?.to_json(), &Shape::of(schema)))
}

/// Whether anything at or below a node has a default.
pub(super) fn has_default(schema: &Schema<'_>) -> bool {
    schema.default().is_some() || schema.children().any(|(_, _, child)| has_default(&child))
}

/// Drops the requirement of a name from the node and from clauses that always apply, because a field with a default is never
/// missing.
fn drop_key(shape: &mut Shape, name: &str) {
    shape.required.remove(name);
    let single = [&mut shape.any_of, &mut shape.one_of].into_iter().filter(|clauses| clauses.len() == 1);
    single.chain([&mut shape.all_of]).flatten().for_each(|clause| drop_key(clause, name));
}

/// Whether a value is Go's zero value for an absent field.
fn is_zero(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        // An object that exists has its own defaults, and Go distinguishes a nil pointer from an empty struct.
        Value::Object(_) => false,
    }
}
