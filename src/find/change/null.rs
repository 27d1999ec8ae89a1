//! Compares the handling of explicit nulls, absent values, and keys that lists are merged by.

use crate::compare::completed;
use crate::model::fact::{Affected, Aspect, Effect, Mark, Ratchet, Word};
use crate::model::relation::Relation;
use crate::model::schema::{Keyword, Schema, Shape};
use crate::server::null_fate::{NullFate, NullPosition};

use super::ancestors;
use super::change_list::Changes;
use super::value_text;
use super::walk::{ChangeWalk, NodePair, Position};

/// How the server treats `field: null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Null {
    Kept,
    /// Removed before validation.
    Dropped,
    /// Replaced by the default.
    Defaulted,
    Refused,
}

impl Null {
    /// `read`: by the scale subresource, which refuses a null that was kept.
    fn of(schema: &Schema<'_>, position: Position, read: bool) -> Null {
        let has_enum = schema.enum_values().is_some_and(|values| values.len() > 0);
        let required = matches!(position, Position::Property { was_required: true, is_required: true });
        let null_position = if matches!(position, Position::Item | Position::Root) { NullPosition::Item } else { NullPosition::Key };
        let is_nullable = schema.flag(Keyword::Nullable);
        match NullFate::of(is_nullable, schema.default().is_some(), null_position) {
            // A nullable node with its own enum refuses null, whether or not the enum contains it.
            NullFate::Kept if !is_nullable || has_enum || read => Null::Refused,
            NullFate::Kept => Null::Kept,
            NullFate::Defaulted => Null::Defaulted,
            NullFate::Dropped if required => Null::Refused,
            NullFate::Dropped => Null::Dropped,
        }
    }

    fn relation(old: Null, new: Null, noticed: bool) -> Relation {
        match (old, new) {
            (old, new) if old == new => Relation::Equal,
            (Null::Refused, _) => Relation::Wider,
            (_, Null::Refused) => Relation::Narrower,
            (Null::Dropped, Null::Defaulted) | (Null::Defaulted, Null::Dropped) => Relation::Equal,
            (Null::Defaulted, Null::Kept) | (Null::Kept, Null::Defaulted) => Relation::Incomparable,
            (Null::Dropped, _) if !noticed => Relation::Wider,
            (Null::Kept, _) if !noticed => Relation::Narrower,
            _ => Relation::Incomparable,
        }
    }
}

impl ChangeWalk<'_> {
    pub(super) fn null_handling<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        if !changes.has_any(&[Keyword::Nullable, Keyword::Enum]) {
            return;
        }
        let read = self.read_by_scale();
        let (old, new) = (Null::of(&pair.old, pair.position, read.0), Null::of(&pair.new, pair.position, read.1));
        let relation = Null::relation(old, new, noticed(pair));
        // The fact about an enum that accepts fewer or more values already covers null.
        let own = changes.get(Keyword::Nullable);
        let told = changes.unreported().all(|change| change.word != Keyword::Enum);
        if relation == Relation::Equal || (own.is_none() && told && changes.has(Keyword::Enum) && !self.enum_hides(relation)) {
            return;
        }
        let change = own.or_else(|| changes.get(Keyword::Enum));
        changes.report_all(&[Keyword::Nullable]);
        let mut fact = self
            .keyword_fact(pair, Aspect::Nullable, relation.effect(), change.and_then(|c| c.old), change.and_then(|c| c.new))
            .word(Word::Old, fate(old))
            .word(Word::New, fate(new));
        fact = match relation {
            Relation::Wider => fact.affects(&[Affected::Readers]),
            _ if new == Null::Refused => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(self.ratchet(false)),
            Relation::Narrower => fact.affects(&[Affected::Data, Affected::Behaviour]),
            _ => fact.affects(&[Affected::Writers, Affected::Behaviour]),
        };
        self.push(fact);
    }

    /// Whether the last enum fact contradicts the change for null: it accepts more values although null is refused now, or vice
    /// versa.
    fn enum_hides(&self, relation: Relation) -> bool {
        let last = self.drafts.last().map(|found| &found.fact).filter(|fact| fact.aspect == Aspect::Enum && fact.path == self.old_path);
        match last.map(|fact| fact.effect) {
            Some(Effect::Added | Effect::Narrowed) => relation != Relation::Narrower,
            Some(Effect::Removed | Effect::Widened) => relation != Relation::Wider,
            Some(_) => false,
            None => true,
        }
    }

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

    /// Compares keywords that decide how server-side apply merges, and what embedded objects must be.
    pub(super) fn merge_keywords<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let list_type = |schema: &Schema<'t>| schema.text(Keyword::ListType).unwrap_or("atomic");
        let map_type = |schema: &Schema<'t>| schema.text(Keyword::MapType).unwrap_or("granular");
        let (old, new) = (list_type(&pair.old), list_type(&pair.new));
        if old != new {
            let change = changes.first(&[Keyword::ListType, Keyword::ListMapKeys]);
            changes.report_all(&[Keyword::ListType, Keyword::ListMapKeys]);
            let mut fact = self
                .keyword_fact(pair, Aspect::ListType, Effect::Changed, change.and_then(|c| c.old), change.and_then(|c| c.new))
                .word(Word::Old, old)
                .word(Word::New, new)
                .affects(&[Affected::Merge]);
            if new != "atomic" {
                fact = fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Always);
            }
            self.push(fact);
        }
        if let Some(change) = changes.take(Keyword::ListMapKeys) {
            let sorted = |schema: &Schema<'t>| {
                let mut keys: Vec<&str> = schema.names(Keyword::ListMapKeys).collect();
                keys.sort_unstable();
                keys
            };
            let (old, new) = (sorted(&pair.old), sorted(&pair.new));
            let keyed = list_type(&pair.new) == "map";
            let effect = if old == new || !keyed { Effect::Rewritten } else { Effect::Changed };
            let mut fact = self
                .keyword_fact(pair, Aspect::MapKeys, effect, change.old, change.new)
                .word(Word::Old, value_text::names(&old))
                .word(Word::New, value_text::names(&new));
            if effect == Effect::Changed {
                fact = fact.affects(&[Affected::Merge]);
            }
            // With fewer keys, more items are duplicates.
            if effect == Effect::Changed && !old.iter().all(|key| new.contains(key)) {
                fact = fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Always).mark(Mark::Fewer);
            }
            self.push(fact);
        }
        let (old, new) = (map_type(&pair.old), map_type(&pair.new));
        if old != new
            && let Some(change) = changes.take(Keyword::MapType)
        {
            let fact = self.keyword_fact(pair, Aspect::MapType, Effect::Changed, change.old, change.new);
            self.push(fact.word(Word::Old, old).word(Word::New, new).affects(&[Affected::Merge]));
        }
        let (old, new) = (pair.old.flag(Keyword::EmbeddedResource), pair.new.flag(Keyword::EmbeddedResource));
        if old != new
            && let Some(change) = changes.take(Keyword::EmbeddedResource)
        {
            // A node that preserves unknown fields still keeps them, but no longer requires anything of them.
            let kept = pair.old.preserves_unknown() && pair.new.preserves_unknown() && pair.new.property("metadata").is_none();
            let (aspect, effect) = match (new, kept) {
                (true, _) => (Aspect::EmbeddedResource, Effect::Added),
                (false, false) => (Aspect::EmbeddedResource, Effect::Removed),
                (false, true) => (Aspect::Accepted, Effect::Widened),
            };
            let fact = self.keyword_fact(pair, aspect, effect, change.old, change.new);
            let fact = match new {
                true => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Never),
                false if kept => fact.affects(&[Affected::Readers]),
                // Its metadata, apiVersion and kind are no longer protected from pruning.
                false => fact.affects(&[Affected::Data]),
            };
            self.push(fact);
        }
    }
}

/// The default, completed with the defaults that its own schema sets inside it.
fn filled(schema: &Schema<'_>) -> Option<serde_json::Value> {
    Some(completed(&schema.default()?.to_json(), &Shape::of(schema)))
}

/// Whether the ancestors of a node notice a null in it: by a CEL rule, a count of keys or a composition.
fn noticed(pair: &NodePair<'_, '_>) -> bool {
    mentioned(pair) || ancestors::notices_null(pair)
}

/// Whether a rule of an ancestor mentions a node. An item or map value has no name, so every rule up to the next named field may
/// see it.
fn mentioned(pair: &NodePair<'_, '_>) -> bool {
    let mut here = pair;
    let mut name = "";
    while let Some(around) = here.up {
        if name.is_empty() {
            name = here.name.0;
        }
        let escaped = crate::cel::name::escape(name);
        let names = |rule: &str| rule.contains(name) || escaped.as_ref().is_some_and(|escaped| rule.contains(escaped.as_str()));
        if [&around.old, &around.new].iter().any(|schema| schema.cel_rules().any(|rule| names(rule.rule()))) {
            return true;
        }
        here = around;
    }
    false
}

fn fate(null: Null) -> &'static str {
    match null {
        Null::Kept => "kept",
        Null::Dropped => "dropped",
        Null::Defaulted => "replaced by the default",
        Null::Refused => "rejected",
    }
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
