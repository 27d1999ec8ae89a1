//! Compares what happens to keys that a node doesn't declare: pruned, kept, kept as values of a map, refused.

use std::sync::Arc;

use crate::compare::Sample;
use crate::model::PathStep;
use crate::model::fact::{Affected, Aspect, Evidence, Fact, Word};
use crate::model::relation::Relation;
use crate::model::schema::{Keyword, Schema, Shape, is_meta};

use crate::server::key_fate::{KeyFate, Pruning};

use super::ancestors;
use super::change_list::Changes;
use super::default::has_default;
use super::fact_draft::FactDraft;
use super::implicit::{is_below_metadata, is_metadata};
use super::json_types::JsonTypes;
use super::value_text;
use super::walk::{ChangeWalk, NodePair, Position};
use crate::input::yaml::Entry;

/// What happens to the keys that a node doesn't declare.
pub(super) type Undeclared = KeyFate<()>;

impl Undeclared {
    pub(super) fn of(schema: &Schema<'_>) -> Self {
        Self::under(schema, false)
    }

    /// Items of a list that preserves unknown fields do so too.
    pub(super) fn under(schema: &Schema<'_>, preserves: bool) -> Self {
        let keeps = preserves || schema.preserves_unknown();
        Pruning::Schema { node: schema.clone(), keeps }.undeclared().without_schema()
    }

    /// What happens to undeclared keys on both sides of a pair.
    pub(super) fn both(pair: &NodePair<'_, '_>) -> (Self, Self) {
        let (old, new) = listed(pair);
        if is_below_metadata(pair) {
            return (Self::in_metadata(&pair.old), Self::in_metadata(&pair.new));
        }
        (Self::under(&pair.old, old.is_some()), Self::under(&pair.new, new.is_some()))
    }

    /// Below the metadata of a resource, nothing is pruned, and the values of all maps are strings.
    fn in_metadata(schema: &Schema<'_>) -> Self {
        match (Self::under(schema, true), schema.values()) {
            (KeyFate::MapValue(()), Some(values)) if is_plain_string(&values) => KeyFate::Kept,
            (KeyFate::Emptied, _) => KeyFate::Kept,
            (fate, _) => fate,
        }
    }

    fn name(self) -> &'static str {
        match self {
            KeyFate::Pruned => "pruned",
            KeyFate::Refused => "rejected",
            KeyFate::Emptied => "kept, objects in them emptied",
            KeyFate::MapValue(()) => "values of a map",
            KeyFate::Kept | KeyFate::Meta | KeyFate::Declared(()) => "kept",
        }
    }

    /// Whether objects may have values under undeclared names.
    pub(super) fn keeps(self) -> bool {
        matches!(self, KeyFate::Emptied | KeyFate::Kept)
    }
}

impl ChangeWalk<'_> {
    /// Reports a change in what happens to undeclared keys. Returns false if that also explains the changes of the declared ones.
    pub(super) fn undeclared_keys<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) -> bool {
        let words = [Keyword::AdditionalProperties, Keyword::PreserveUnknownFields];
        let lists = listed(pair);
        let same = lists.0.is_some() == lists.1.is_some() && pair.old.additional_flag() == pair.new.additional_flag();
        if !changes.has_any(&words) && same {
            return true;
        }
        if !JsonTypes::of(&pair.old).and(JsonTypes::of(&pair.new)).has(JsonTypes::OBJECT) {
            // A node of any type must preserve unknown fields, so the keyword changes with the type; for a list, the facts about
            // its items cover it.
            if changes.has_any(super::accepted_values::TYPES) || (items_follow(&pair.old) && items_follow(&pair.new)) {
                changes.report_all(&words);
            }
            return true;
        }
        let (old, new) = Undeclared::both(pair);
        if old == new {
            return true;
        }
        let (had, has) = (pair.old.property_count() > 0, pair.new.property_count() > 0);
        // Properties that were removed while their keys are kept by other means, or declared where there was a map.
        let walked = match (old, new) {
            (_, KeyFate::MapValue(()) | KeyFate::Emptied | KeyFate::Kept) if had && !has => false,
            (KeyFate::MapValue(()), _) => !has || had,
            _ => true,
        };
        let opening = match (is_metadata(pair), old, new) {
            // The fields of ObjectMeta are kept, declared or not, and are now values of the map.
            (true, KeyFate::Pruned, KeyFate::MapValue(()) | KeyFate::Emptied) => {
                let reason = "the server keeps the standard metadata fields".to_owned();
                UndeclaredKeyChange { relation: Relation::Undecided, lost: false, sample: None, reason: Some(reason) }
            }
            _ => exactly(pair, (old, new), walked),
        };
        let relation = opening.relation;
        let aspect = match (old, new) {
            (KeyFate::Kept, KeyFate::Pruned) | (KeyFate::Pruned | KeyFate::MapValue(()) | KeyFate::Emptied, KeyFate::Kept) => {
                Aspect::PreserveUnknown
            }
            _ => Aspect::AdditionalProperties,
        };
        let first = if aspect == Aspect::PreserveUnknown { [words[1], words[0]] } else { words };
        let flag = |schema: &Schema<'t>, list: Option<Entry<'t>>| first.iter().find_map(|&word| schema.entry(word)).or(list);
        let change = changes.first(&first).map(|change| (change.old, change.new));
        let change = change.unwrap_or((flag(&pair.old, lists.0), flag(&pair.new, lists.1)));
        changes.report_all(&words);
        if !walked {
            changes.report(Keyword::Properties);
        }
        // A node that also lost its type is reported as retyped.
        if JsonTypes::of(&pair.old) != JsonTypes::of(&pair.new)
            && changes.has_any(super::accepted_values::TYPES)
            && relation == Relation::Wider
        {
            return walked;
        }
        let mut fact =
            self.keyword_fact(pair, aspect, relation.effect(), change.0, change.1).word(Word::Old, old.name()).word(Word::New, new.name());
        if !walked {
            let side = if had { &pair.old } else { &pair.new };
            fact = fact.word(Word::Fields, value_text::names(&side.properties().map(|(entry, _)| entry.name()).collect::<Vec<_>>()));
        }
        let fact = affected(fact, relation, new);
        // A node that preserves unknown fields prunes nothing, so a value that is lost there is refused.
        let refused = opening.lost && new == KeyFate::Kept;
        let fact = if refused { fact.affects(&[Affected::Writers, Affected::Stored]) } else { fact };
        let fact = match opening.reason.filter(|_| relation == Relation::Undecided) {
            Some(reason) => fact.evidence(Evidence::undecided(reason)),
            None => fact,
        };
        self.push_lost(fact, opening.sample);
        if !walked {
            self.transitions_of_values(pair);
        }
        walked
    }

    /// Reports transition rules in the values of a map that fields didn't have before they became keys of the map. Only updates run
    /// them, so the comparison of both nodes doesn't see them.
    fn transitions_of_values<'t>(&mut self, pair: &NodePair<'_, 't>) {
        let (Some(values), Some(entry)) = (pair.new.values(), pair.new.entry(Keyword::AdditionalProperties)) else { return };
        let fields: Vec<(Entry<'t>, Schema<'t>)> = pair.old.properties().collect();
        for (field, child) in fields {
            let known = self.drafts.len();
            self.step(PathStep::Key(field.name().into()), PathStep::Values, |walk| {
                let (old_key, new_key) = (field.key, entry.key);
                let (name, up, budget) = (("", ""), Some(pair), pair.budget);
                walk.node(&NodePair { old: child, new: values.clone(), old_key, new_key, position: Position::Value, name, up, budget });
            });
            let found = self.drafts.split_off(known);
            let adds = |draft: &FactDraft| draft.fact.aspect == Aspect::CelTransition && draft.fact.affects.contains(Affected::Writers);
            self.drafts.extend(found.into_iter().filter(adds));
            // The other fields have the same to say.
            if self.drafts.len() > known {
                return;
            }
        }
    }

    /// Whether a field that is now declared, where undeclared keys were kept, can reject or prune existing values.
    pub(super) fn may_refuse_old_values(&self, pair: &NodePair<'_, '_>, child: &Schema<'_>) -> bool {
        Undeclared::both(pair).0.keeps() && !accepts_anything(child)
    }

    /// Whether a null that was kept under a name is dropped now that the name is declared, so that an ancestor misses it.
    pub(super) fn misses_null(&self, pair: &NodePair<'_, '_>, name: &str, child: &Schema<'_>) -> bool {
        if !Undeclared::both(pair).0.keeps() || child.flag(Keyword::Nullable) {
            return false;
        }
        let Some(notice) = ancestors::notice(pair, ancestors::KEYS) else { return false };
        let Some(after) = ancestors::shape(&pair.new) else { return true };
        let mut before = after.clone();
        before.properties.remove(name);
        let order = ancestors::compare(pair, Some(&notice), before, after);
        order.is_none_or(|order| order.loses != Some(false))
    }
}

/// The effect on a node's values when undeclared keys are treated differently.
struct UndeclaredKeyChange {
    relation: Relation,
    /// Proved: some value is refused or pruned now.
    lost: bool,
    /// Such a value of the node.
    sample: Option<Sample>,
    /// Why it is undecided.
    reason: Option<String>,
}

/// Compares the node before and after.
fn exactly(pair: &NodePair<'_, '_>, (old, new): (Undeclared, Undeclared), walked: bool) -> UndeclaredKeyChange {
    let known = |relation| UndeclaredKeyChange { relation, lost: false, sample: None, reason: None };
    match (old, new) {
        (KeyFate::Refused, KeyFate::Pruned) => return known(Relation::Wider),
        // The old schema doesn't know undeclared keys that were pruned and are now rejected, but they are reported.
        (_, KeyFate::Pruned | KeyFate::Refused) => return known(Relation::Narrower),
        _ => {}
    }
    let notice = ancestors::notice(pair, ancestors::KEYS);
    let order = open_shapes(pair, walked).and_then(|(before, after)| ancestors::compare(pair, notice.as_ref(), before, after));
    let Some(order) = order else { return known(Relation::Undecided) };
    let relation = match order.loses {
        // Nothing is refused or pruned, but something else is stored.
        Some(false) if refilled(pair, old, walked) => Relation::Incomparable,
        Some(true) => Relation::of(true, order.gained.is_some()),
        Some(false) => Relation::of(false, order.gains != Some(false) || order.changed.is_some()),
        None => Relation::Undecided,
    };
    let sample = match &notice {
        Some(notice) => order.lost.and_then(|found| notice.part(found)),
        None => order.lost,
    };
    UndeclaredKeyChange { relation, lost: order.loses == Some(true), sample, reason: order.reason }
}

/// Whether a default is added or removed with the treatment of undeclared keys.
fn refilled(pair: &NodePair<'_, '_>, old: Undeclared, walked: bool) -> bool {
    let values_default = |schema: &Schema<'_>| schema.values().is_some_and(|values| has_default(&values));
    let declared_default = |schema: &Schema<'_>| schema.properties().any(|(_, child)| has_default(&child));
    values_default(&pair.old)
        || (old.keeps() && values_default(&pair.new))
        || (!walked && (declared_default(&pair.old) || declared_default(&pair.new)))
}

/// Whether items keep undeclared keys only because the enclosing list does.
fn items_follow(list: &Schema<'_>) -> bool {
    list.items().is_some_and(|items| match JsonTypes::of(&items).has(JsonTypes::OBJECT) {
        true => Undeclared::of(&items) == KeyFate::Pruned,
        false => items_follow(&items),
    })
}

/// Whether only one side has an enclosing list that preserves unknown fields.
pub(super) fn is_relisted(pair: &NodePair<'_, '_>) -> bool {
    let (old, new) = listed(pair);
    old.is_some() != new.is_some()
}

/// Whether a schema says nothing but `type: string`.
fn is_plain_string(schema: &Schema<'_>) -> bool {
    schema.ty() == Some("string") && schema.words().all(|(word, _)| matches!(word, Keyword::Type | Keyword::Description))
}

/// Where an enclosing list of an item preserves unknown fields, on both sides.
fn listed<'t>(pair: &NodePair<'_, 't>) -> (Option<Entry<'t>>, Option<Entry<'t>>) {
    let Some(list) = pair.up.filter(|_| matches!(pair.position, Position::Item)) else { return (None, None) };
    let around = listed(list);
    let own = |schema: &Schema<'t>| schema.entry(Keyword::PreserveUnknownFields).filter(|_| schema.preserves_unknown());
    (own(&list.old).or(around.0), own(&list.new).or(around.1))
}

/// Both nodes, differing only in the treatment of undeclared keys, and in declarations added or removed with it. Rules count where
/// nothing else compares them.
fn open_shapes(pair: &NodePair<'_, '_>, walked: bool) -> Option<(Shape, Shape)> {
    let (mut old, mut after) = (ancestors::ruled_shape(&pair.old)?, ancestors::ruled_shape(&pair.new)?);
    for shape in [&mut old, &mut after] {
        shape.rules.clear();
        if walked {
            shape.properties.values_mut().for_each(|child| ancestors::unruled(Arc::make_mut(child)));
        }
    }
    let lists = listed(pair);
    old.preserve_unknown |= lists.0.is_some();
    after.preserve_unknown |= lists.1.is_some();
    // Names that only one side requires already have a fact; here both require them.
    after.required.extend(old.required.iter().cloned());
    after.nullable = false;
    ancestors::name_a_key(&mut after, &old);
    let properties = if walked { after.properties.clone() } else { old.properties };
    let before = Shape { extra: old.extra, preserve_unknown: old.preserve_unknown, properties, ..after.clone() };
    Some((before, after))
}

fn affected(fact: Fact, relation: Relation, new: Undeclared) -> Fact {
    let fact = match relation {
        Relation::Equal => fact,
        Relation::Wider => fact.affects(&[Affected::Readers]),
        Relation::Narrower | Relation::Undecided => fact.affects(&[Affected::Data]),
        Relation::Incomparable => fact.affects(&[Affected::Data, Affected::Readers]),
    };
    match new {
        KeyFate::Refused | KeyFate::MapValue(()) if relation.narrows() => fact.affects(&[Affected::Writers, Affected::Stored]),
        _ => fact,
    }
}

/// Whether some object of a schema loses undeclared keys. The implicit fields of a resource are never pruned.
pub(super) fn prunes(root: &Schema<'_>) -> bool {
    is_emptied(root, false) || root.properties().any(|(entry, child)| !is_meta(entry.name()) && prunes_below(&child, false))
}

/// The same for a node; `listed` if it is under a list that preserves unknown fields.
fn prunes_below(schema: &Schema<'_>, listed: bool) -> bool {
    let types = JsonTypes::of(schema);
    let around = types.has(JsonTypes::ARRAY) && (listed || schema.preserves_unknown());
    (types.has(JsonTypes::OBJECT) && is_emptied(schema, listed))
        || schema.children().any(|(step, _, child)| prunes_below(&child, around && step == PathStep::Items))
}

fn is_emptied(schema: &Schema<'_>, listed: bool) -> bool {
    matches!(Undeclared::under(schema, listed), KeyFate::Pruned | KeyFate::Emptied)
}

/// Whether a node accepts and keeps everything but null.
fn accepts_anything(schema: &Schema<'_>) -> bool {
    let silent =
        [Keyword::Description, Keyword::Title, Keyword::Example, Keyword::ExternalDocs, Keyword::PreserveUnknownFields, Keyword::Nullable];
    schema.preserves_unknown() && schema.words().all(|(word, _)| silent.contains(&word))
}
