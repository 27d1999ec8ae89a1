//! Compares what happens to explicit nulls.

use crate::model::fact::{Affected, Aspect, Effect, Word};
use crate::model::relation::Relation;
use crate::model::schema::{Keyword, Schema};
use crate::server::null_fate::{NullFate, NullPosition};

use super::ancestors;
use super::change_list::Changes;
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
