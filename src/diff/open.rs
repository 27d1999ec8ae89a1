//! What becomes of keys that a node doesn't declare: pruned, kept, kept as values of a map, refused.

use crate::fact::{Affected, Aspect, Effect, Evidence, Fact};
use crate::order::Sample;
use crate::schema::{Additional, Keyword, Schema, Shape};

use super::around;
use super::change::Changes;
use super::limits::Types;
use super::relation::Relation;
use super::walk::{Pair, Walk};
use super::wording;

/// The fate of an undeclared key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undeclared {
    Pruned,
    /// `additionalProperties: false`.
    Refused,
    /// `additionalProperties: true`: kept, but objects below it are emptied.
    Emptied,
    /// A map: kept, pruned and validated by the schema of its values.
    Values,
    /// `x-kubernetes-preserve-unknown-fields: true`.
    Preserved,
}

impl Undeclared {
    pub(super) fn of(schema: &Schema<'_>) -> Self {
        match (schema.additional(), schema.preserves_unknown()) {
            (Additional::Schema(_), _) => Undeclared::Values,
            (Additional::Flag(false), _) => Undeclared::Refused,
            (_, true) => Undeclared::Preserved,
            (Additional::Flag(true), false) => Undeclared::Emptied,
            (Additional::Absent, false) => Undeclared::Pruned,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Undeclared::Pruned => "pruned",
            Undeclared::Refused => "refused",
            Undeclared::Emptied => "kept, objects in them emptied",
            Undeclared::Values => "values of a map",
            Undeclared::Preserved => "kept",
        }
    }

    /// Whether data may stand under a name that is not declared.
    pub(super) fn keeps(self) -> bool {
        matches!(self, Undeclared::Emptied | Undeclared::Preserved)
    }
}

impl Walk<'_> {
    /// Tells a change in what happens to undeclared keys; false where it explains what became of the declared ones too.
    pub(super) fn opened<'t>(&mut self, pair: &Pair<'_, 't>, changes: &mut Changes<'t>) -> bool {
        let words = [Keyword::AdditionalProperties, Keyword::PreserveUnknownFields];
        if !changes.has_any(&words) && pair.old.additional_flag() == pair.new.additional_flag() {
            return true;
        }
        if !Types::of(&pair.old).and(Types::of(&pair.new)).has(Types::OBJECT) {
            // What takes any type must preserve, so a type that comes or goes takes the keyword with it.
            if changes.has_any(super::accept::TYPES) {
                changes.tell_all(&words);
            }
            return true;
        }
        let (old, new) = (Undeclared::of(&pair.old), Undeclared::of(&pair.new));
        if old == new {
            return true;
        }
        let (had, has) = (pair.old.property_count() > 0, pair.new.property_count() > 0);
        let (guess, walked) = match (old, new) {
            (_, Undeclared::Values | Undeclared::Emptied | Undeclared::Preserved) if had && !has => (self.released(pair), false),
            (Undeclared::Values, _) if has && !had => (Relation::Narrowed, false),
            _ => (self.reopened(pair, old, new), true),
        };
        let opening = exactly(pair, (old, new), walked, guess);
        let relation = opening.relation;
        let aspect = match (old, new) {
            (Undeclared::Preserved, Undeclared::Pruned)
            | (Undeclared::Pruned | Undeclared::Values | Undeclared::Emptied, Undeclared::Preserved) => Aspect::PreserveUnknown,
            _ => Aspect::AdditionalProperties,
        };
        let first = if aspect == Aspect::PreserveUnknown { [words[1], words[0]] } else { words };
        let flag = |schema: &Schema<'t>| first.iter().find_map(|&word| schema.entry(word));
        let change = changes.first(&first).map(|change| (change.old, change.new)).unwrap_or((flag(&pair.old), flag(&pair.new)));
        changes.tell_all(&words);
        if !walked {
            changes.tell(Keyword::Properties);
        }
        // A node that lost its type as well is told as a retyped one.
        if Types::of(&pair.old) != Types::of(&pair.new) && changes.has_any(super::accept::TYPES) && relation == Relation::Widened {
            return walked;
        }
        let mut fact =
            self.keyword_fact(pair, aspect, relation.effect(), change.0, change.1).word("old", old.name()).word("new", new.name());
        if !walked {
            let side = if had { &pair.old } else { &pair.new };
            fact = fact.word("fields", wording::names(&side.properties().map(|(entry, _)| entry.name()).collect::<Vec<_>>()));
        }
        let fact = affected(fact, relation, new);
        // What preserves prunes nothing: a value that is lost there is refused.
        let refused = opening.lost && new == Undeclared::Preserved;
        let fact = if refused { fact.affects(&[Affected::Writers, Affected::Stored]) } else { fact };
        let fact = match opening.reason.filter(|_| relation == Relation::Undecided) {
            Some(reason) => fact.evidence(Evidence::undecided(reason)),
            None => fact,
        };
        self.push_lost(fact, opening.sample);
        walked
    }

    /// Declared properties are gone and their keys are kept by other means: a break only where values of old don't survive it.
    fn released<'t>(&mut self, pair: &Pair<'_, 't>) -> Relation {
        let mut lost = false;
        for (entry, child) in pair.old.properties() {
            lost |= has_default(&child);
            lost |= match pair.new.additional() {
                Additional::Schema(values) => {
                    let inner = Walk::new(self.scope);
                    let key = entry.key;
                    inner
                        .run((&child, key), (&values, key))
                        .iter()
                        .any(|fact| !matches!(fact.effect, Effect::Widened | Effect::Rewritten) && !is_text(fact))
                }
                _ if Undeclared::of(&pair.new) == Undeclared::Emptied => holds_objects(&child),
                _ => false,
            };
        }
        if lost { Relation::Changed } else { Relation::Widened }
    }

    fn reopened(&mut self, pair: &Pair<'_, '_>, old: Undeclared, new: Undeclared) -> Relation {
        use Undeclared::{Emptied, Preserved, Pruned, Refused, Values};
        let objects = |schema: &Schema<'_>| matches!(schema.additional(), Additional::Schema(values) if holds_objects(&values));
        let anything = |schema: &Schema<'_>| matches!(schema.additional(), Additional::Schema(values) if accepts_anything(&values));
        match (old, new) {
            (Refused, _) => Relation::Widened,
            (_, Refused) => Relation::Narrowed,
            (Pruned, _) => Relation::Widened,
            (_, Pruned) => Relation::Narrowed,
            (Emptied, Preserved) => Relation::Widened,
            (Preserved, Emptied) => Relation::Narrowed,
            (Values, Preserved) => Relation::Widened,
            (Preserved, Values) if anything(&pair.new) => Relation::Equal,
            (Preserved, Values) => Relation::Narrowed,
            (Values, Emptied) if objects(&pair.old) => Relation::Changed,
            (Values, Emptied) => Relation::Widened,
            (Emptied, Values) if anything(&pair.new) => Relation::Widened,
            (Emptied, Values) if objects(&pair.new) => Relation::Changed,
            (Emptied, Values) => Relation::Narrowed,
            _ => Relation::Equal,
        }
    }

    /// Whether a field that is declared now, where undeclared keys were kept, can refuse or prune what stands there.
    pub(super) fn meets_old_data(&self, parent: &Schema<'_>, child: &Schema<'_>) -> bool {
        Undeclared::of(parent).keeps() && !accepts_anything(child)
    }

    /// Whether a null that was kept under a name is dropped now that the name is declared, and missed by the objects around it.
    pub(super) fn misses_null(&self, pair: &Pair<'_, '_>, name: &str, child: &Schema<'_>) -> bool {
        if !Undeclared::of(&pair.old).keeps() || child.flag(Keyword::Nullable) {
            return false;
        }
        let Some(notice) = around::notice(pair, around::KEYS) else { return false };
        let Some(after) = around::shape(&pair.new) else { return true };
        let mut before = after.clone();
        before.properties.remove(name);
        let order = around::compare(pair, Some(&notice), before, after);
        order.is_none_or(|order| order.loses != Some(false))
    }

    /// A new field that is filled by default can be one too many for the objects around it.
    pub(super) fn crowded<'t>(&mut self, pair: &Pair<'_, 't>, name: &str, child: &Schema<'t>) {
        if child.default().is_none() {
            return;
        }
        let Some(notice) = around::notice(pair, around::MOST) else { return };
        let shapes = around::shape(&pair.new).map(|after| {
            let mut before = after.clone();
            before.properties.remove(name);
            forgo(&mut before, name);
            (before, after)
        });
        let order = shapes.and_then(|(before, after)| around::compare(pair, Some(&notice), before, after));
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
        let fact = fact.word("reason", reason).key(name).affects(&[Affected::Writers, Affected::Stored]).ratchet(ratchet);
        self.push_lost(fact, order.and_then(|order| order.lost).and_then(|found| notice.part(found)));
    }
}

/// What became of the values of a node whose undeclared keys have another fate.
struct Opening {
    relation: Relation,
    /// Proved: some value is refused or pruned now.
    lost: bool,
    /// Such a value of the node.
    sample: Option<Sample>,
    /// Why it is undecided.
    reason: Option<String>,
}

/// What the keywords suggest, corrected by the exact comparison: nulls that were dropped may be counted now, and what undeclared
/// keys held may no longer fit.
fn exactly(pair: &Pair<'_, '_>, fates: (Undeclared, Undeclared), walked: bool, guess: Relation) -> Opening {
    let (old, new) = fates;
    let known = |relation| Opening { relation, lost: false, sample: None, reason: None };
    // Junk that was pruned before and is refused now is not what the old schema knew, but it is told.
    if matches!(new, Undeclared::Pruned | Undeclared::Refused) {
        return known(guess);
    }
    let values_default = |schema: &Schema<'_>| matches!(schema.additional(), Additional::Schema(values) if has_default(&values));
    let refilled = values_default(&pair.old)
        || (old.keeps() && values_default(&pair.new))
        || (old == Undeclared::Values && !walked && pair.new.properties().any(|(_, child)| has_default(&child)));
    // Where a default comes or goes nothing is refused or pruned, and yet something else is stored.
    let filled = |relation: Relation| if refilled && !relation.narrows() { Relation::Changed } else { relation };
    let notice = around::notice(pair, around::KEYS);
    let order = open_shapes(pair, walked).and_then(|(before, after)| around::compare(pair, notice.as_ref(), before, after));
    let Some(order) = order else { return known(filled(guess)) };
    let relation = match (order.loses, guess) {
        (Some(true), Relation::Equal | Relation::Widened) => Relation::of(true, order.gained.is_some()),
        (Some(false), Relation::Narrowed | Relation::Undecided) => Relation::of(false, order.gained.is_some()),
        (None, Relation::Equal | Relation::Widened) if old.keeps() || notice.is_some() => Relation::Undecided,
        (_, guess) => guess,
    };
    let sample = match &notice {
        Some(notice) => order.lost.and_then(|found| notice.part(found)),
        None => order.lost,
    };
    Opening { relation: filled(relation), lost: order.loses == Some(true), sample, reason: order.reason }
}

/// Both nodes with nothing different but the fate of undeclared keys, and the declarations where they came or went with it.
fn open_shapes(pair: &Pair<'_, '_>, walked: bool) -> Option<(Shape, Shape)> {
    let (old, mut after) = (around::shape(&pair.old)?, around::shape(&pair.new)?);
    // Names that only one side demands are told as such; here both demand them.
    after.required.extend(old.required.iter().cloned());
    after.nullable = false;
    around::name_a_key(&mut after, &old);
    let properties = if walked { after.properties.clone() } else { old.properties };
    let before = Shape { extra: old.extra, preserve_unknown: old.preserve_unknown, properties, ..after.clone() };
    Some((before, after))
}

/// Demands a name no longer, neither by the node nor by a clause that always holds: what is filled by default is never missing.
fn forgo(shape: &mut Shape, name: &str) {
    shape.required.remove(name);
    let single = [&mut shape.any_of, &mut shape.one_of].into_iter().filter(|clauses| clauses.len() == 1);
    single.chain([&mut shape.all_of]).flatten().for_each(|clause| forgo(clause, name));
}

fn affected(fact: Fact, relation: Relation, new: Undeclared) -> Fact {
    let fact = match relation {
        Relation::Equal => fact,
        Relation::Widened => fact.affects(&[Affected::Readers]),
        Relation::Narrowed | Relation::Undecided => fact.affects(&[Affected::Data]),
        Relation::Changed => fact.affects(&[Affected::Data, Affected::Readers]),
    };
    match new {
        Undeclared::Refused | Undeclared::Values if relation.narrows() => fact.affects(&[Affected::Writers, Affected::Stored]),
        _ => fact,
    }
}

fn is_text(fact: &Fact) -> bool {
    matches!(fact.aspect, Aspect::Description | Aspect::Annotation | Aspect::Meaning | Aspect::Deprecation)
}

/// Whether values may hold objects, which `additionalProperties: true` empties.
fn holds_objects(schema: &Schema<'_>) -> bool {
    let types = Types::of(schema);
    types.has(Types::OBJECT) || (types.has(Types::ARRAY) && schema.items().is_none_or(|items| holds_objects(&items)))
}

/// Whether a node takes and keeps everything but null.
fn accepts_anything(schema: &Schema<'_>) -> bool {
    let silent =
        [Keyword::Description, Keyword::Title, Keyword::Example, Keyword::ExternalDocs, Keyword::PreserveUnknownFields, Keyword::Nullable];
    schema.preserves_unknown() && schema.words().all(|(word, _)| silent.contains(&word))
}

/// Whether anything at or below a node is filled by default.
fn has_default(schema: &Schema<'_>) -> bool {
    schema.default().is_some()
        || schema.properties().any(|(_, child)| has_default(&child))
        || schema.items().is_some_and(|items| has_default(&items))
        || matches!(schema.additional(), Additional::Schema(values) if has_default(&values))
}

/// `Some` where `additionalProperties` is a flag.
trait Flagged {
    fn additional_flag(&self) -> Option<bool>;
}

impl Flagged for Schema<'_> {
    fn additional_flag(&self) -> Option<bool> {
        match self.additional() {
            Additional::Flag(flag) => Some(flag),
            _ => None,
        }
    }
}
