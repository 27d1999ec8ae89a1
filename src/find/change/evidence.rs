//! Finds an object for each break, and keeps the facts that an object can show.

use std::cell::LazyCell;

use crate::cel::normalise::is_transition;
use crate::compare::{Budget, CONDITIONS, Cause, Sample, SchemaPair, Trial, What, Witnesses, errors_of, is_oversized};
use crate::model::fact::{Affected, Affects, Aspect, Certainty, Effect, Evidence, Fact, Mark, Outcome, Ratchet, Witness, Word};
use crate::model::relation::Search;
use crate::model::schema::{Schema, Shape};
use crate::model::{FieldPath, PathStep};
use crate::server::object::{Scale, has_embedded, value_count, with_standard_metadata, without_empty_metadata};

use super::fact_draft::FactDraft;

/// How many facts of one version get an object; more would only repeat the same.
const SHOWN: usize = 400;
/// The cost of a search, besides what it does.
const SEARCH: usize = 1_000;
/// The cost of a fact, unless a field was only added or removed.
const FULL_PRICE: usize = 8;
/// An object with more values than this counts as several, to limit the memory for all of them.
const LARGE: usize = 500;
/// For how many facts of one version an object is searched that only the new schema accepts.
const REVERSED: usize = 100;

/// The names for objects of the version.
#[derive(Clone, Copy)]
pub(super) struct ResourceNames<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub kind: &'a str,
    /// Whether objects of other versions are stored in or read through this one, which needn't accept them.
    pub shares_objects: bool,
}

impl ResourceNames<'_> {
    pub(super) fn witnesses<'s>(&self, old: &'s Shape, new: &'s Shape, budget: &Budget) -> Witnesses<'s> {
        self.witnesses_of(SchemaPair::new(old, new), budget)
    }

    fn witnesses_of<'s>(&self, pair: SchemaPair<'s>, budget: &Budget) -> Witnesses<'s> {
        Witnesses::new(pair, &format!("{}/{}", self.group, self.version), self.kind, budget)
    }
}

/// What a version accepts: its schema, and what its scale subresource can read.
pub(super) fn scaled(schema: &Schema<'_>, scale: &Scale) -> Shape {
    narrowed(Shape::of(schema), scale)
}

fn narrowed(mut shape: Shape, scale: &Scale) -> Shape {
    scale.narrow(&mut shape);
    shape
}

/// A shape that also declares what embedded resources keep without declaring it, for searches.
fn with_all_metadata(shape: &Shape) -> Shape {
    let mut all = shape.clone();
    with_standard_metadata(&mut all);
    without_empty_metadata(&mut all);
    all
}

/// Attaches objects to the facts that break requests or data.
pub(super) fn attach(
    drafts: Vec<FactDraft>,
    old: (&Schema<'_>, &Scale),
    new: (&Schema<'_>, &Scale),
    resource: ResourceNames<'_>,
    budget: &Budget,
) -> Vec<Fact> {
    let roots = [old.0.node(), new.0.node()];
    let may_break = |draft: &FactDraft| breaks(&draft.fact) || is_transition_on_new_fields(&draft.fact);
    if !drafts.iter().any(|draft| may_break(draft) || widens(&draft.fact)) {
        return drafts.into_iter().map(|draft| draft.fact).collect();
    }
    if roots.into_iter().any(is_oversized) {
        let unshown = |fact: Fact| if breaks(&fact) { FactDraft::unshown(fact, "a list is too long to be searched") } else { fact };
        return drafts.into_iter().map(|draft| unshown(draft.fact)).collect();
    }
    let was = Shape::of(old.0);
    let is = Shape::beside(new.0, (old.0, &was));
    let requested = [narrowed(was, old.1), narrowed(is, new.1)];
    let [before, after] = requested.each_ref().map(with_all_metadata);
    let sent_to = if requested.iter().any(has_embedded) { requested.each_ref() } else { [&before, &after] };
    let pair = SchemaPair::answered_by((&before, &after), sent_to.into());
    let (widening, others): (Vec<_>, Vec<_>) = drafts.into_iter().enumerate().partition(|(_, draft)| widens(&draft.fact));
    let one_way = widening.is_empty() || !others.iter().any(|(_, draft)| may_break(draft));
    // A keyword that became a rule, or a rule that moved, accepts no more than before; only an object can distinguish accepting
    // more values from a rewrite.
    let check_widening = |budget: &Budget| {
        let reversed = LazyCell::new(|| resource.witnesses_of(pair.clone(), budget).reversed(budget));
        let inhabited = LazyCell::new(|| reversed.is_inhabited());
        let check = |(number, (at, draft)): (usize, (usize, FactDraft))| match number < REVERSED && budget.spend(SEARCH) {
            true => (at, widened(draft, &reversed, &|| *inhabited)),
            false => (at, draft.fact),
        };
        widening.into_iter().enumerate().map(check).collect::<Vec<_>>()
    };
    let show_breaks = |budget: &Budget| {
        let witnesses = LazyCell::new(|| resource.witnesses_of(pair.clone(), budget));
        // "No object shows it" proves something only if some object is known to satisfy the schema.
        let inhabited = LazyCell::new(|| witnesses.is_inhabited());
        let reversed = LazyCell::new(|| witnesses.reversed(&budget.part(2)));
        let mut left = FULL_PRICE * SHOWN;
        let mut show_one = |draft| show(draft, &witnesses, &|| *inhabited, &|path| gains(&reversed, path), (&mut left, budget));
        let show = |(at, draft): (usize, FactDraft)| {
            let lossy = (resource.shares_objects && draft.fact.affects.contains(Affected::Data)).then(|| draft.fact.clone());
            let fact = show_one(draft);
            match lossy {
                Some(lossy) if !fact.affects.contains(Affected::Data) => {
                    (at, FactDraft::unshown(lossy, "objects of other versions pass through this one, whether or not it accepts them"))
                }
                _ => (at, fact),
            }
        };
        others.into_iter().map(show).collect::<Vec<_>>()
    };
    let (mut facts, shown) = match one_way {
        true => (check_widening(budget), show_breaks(budget)),
        false => budget.join(check_widening, show_breaks),
    };
    facts.extend(shown);
    facts.sort_by_key(|(at, _)| *at);
    let facts: Vec<Fact> = facts.into_iter().map(|(_, fact)| fact).collect();
    debug_assert!(facts.iter().all(is_sound), "a break is proved without an object");
    facts
}

/// A break of requests, stored objects or data is proved only with an object.
fn is_sound(fact: &Fact) -> bool {
    !breaks(fact) || !fact.affects.needs_object() || fact.evidence.certainty != Certainty::Proved || fact.evidence.witness.is_some()
}

/// A rule that only reads new fields, but fails if their parent is absent.
fn is_transition_on_new_fields(fact: &Fact) -> bool {
    fact.aspect == Aspect::CelTransition && fact.is(Mark::NewFields)
}

/// Whether a fact says that more values are accepted, because of a condition that another one may have replaced.
fn widens(fact: &Fact) -> bool {
    let aspect = match fact.aspect {
        Aspect::CelRule | Aspect::Required | Aspect::Accepted => true,
        aspect => aspect != Aspect::Type && CONDITIONS.iter().any(|(known, ..)| *known == aspect),
    };
    aspect
        && fact.to.is_none()
        && matches!(fact.effect, Effect::Widened | Effect::Removed)
        && fact.affects == Affects::of(&[Affected::Readers])
}

/// Checks a fact that says that more values are accepted; it becomes a rewrite if no object is accepted now that was refused
/// before.
fn widened(draft: FactDraft, reversed: &Witnesses<'_>, inhabited: &dyn Fn() -> bool) -> Fact {
    let fact = &draft.fact;
    let rule = draft.old_rule.as_deref().or(draft.rule.as_deref());
    let (what, cause) = match (fact.aspect, rule) {
        (Aspect::CelRule, Some(text)) if !is_transition(text) => (What::Sent, Cause::Rule(text)),
        // Updates that a transition rule refused aren't searched.
        (Aspect::CelRule, _) => return draft.fact,
        (Aspect::Required, _) => (What::Absent, Cause::Refusal),
        _ => (What::Sent, Cause::Refusal),
    };
    match reversed.show(&fact.path, what, cause) {
        Search::Impossible if !reversed.is_reserved(&fact.path) && inhabited() => draft.harmless(),
        Search::Undecided(_) if fact.aspect == Aspect::CelRule && !reversed.is_shown_somehow(&fact.path, cause) => {
            match reversed.sample(&fact.path, cause) {
                Trial::Passed { .. } => draft.tested(false),
                Trial::Shown(_) | Trial::Open => draft.fact,
            }
        }
        _ => draft.fact,
    }
}

/// Whether a fact is about too few keys of an embedded resource, where undeclared keys don't help to violate it.
fn needs_fewer_keys(fact: &Fact, witnesses: &Witnesses<'_>) -> bool {
    fact.aspect == Aspect::MinProperties && witnesses.is_embedded_resource(&fact.path)
}

/// Whether a plain object becomes an embedded resource: then the old schema says everything about what was accepted there.
fn becomes_resource(fact: &Fact) -> bool {
    (fact.aspect, fact.effect) == (Aspect::EmbeddedResource, Effect::Added)
}

fn breaks(fact: &Fact) -> bool {
    match fact.aspect {
        Aspect::Deprecation => false,
        // A rule that was removed refuses nothing.
        Aspect::CelTransition | Aspect::CelOptionalOldSelf => fact.affects.needs_object(),
        _ => fact.affects.needs_object() || fact.affects.contains(Affected::Behaviour),
    }
}

/// Whether something at the path may be accepted or kept that was refused or dropped before.
fn gains(reversed: &Witnesses<'_>, path: &FieldPath) -> bool {
    let null = Sample::Sent(serde_json::Value::Null);
    let ways =
        [(What::Sent, Cause::Refusal), (What::Absent, Cause::Refusal), (What::Sample(&null), Cause::Refusal), (What::Sent, Cause::Lost)];
    ways.into_iter().any(|(what, cause)| reversed.show(path, what, cause) != Search::Impossible)
}

/// Whether a fact may also be about values that are only accepted now; objects that were accepted before prove nothing about those.
fn may_widen(fact: &Fact) -> bool {
    let both_ways = matches!(fact.effect, Effect::Changed | Effect::Undecided) && fact.aspect != Aspect::Presence;
    let other_rule = fact.aspect == Aspect::CelRule && fact.words.contains_key(&Word::Old) && fact.words.contains_key(&Word::New);
    both_ways || other_rule || changes_kinds(fact)
}

/// Whether a fact is about a keyword that lets other kinds of values pass; a format of strings also accepts lists.
fn changes_kinds(fact: &Fact) -> bool {
    matches!(
        fact.aspect,
        Aspect::Type
            | Aspect::Format
            | Aspect::Default
            | Aspect::Nullable
            | Aspect::Items
            | Aspect::Structure
            | Aspect::AdditionalProperties
            | Aspect::PreserveUnknown
    )
}

fn show(
    draft: FactDraft,
    witnesses: &Witnesses<'_>,
    inhabited: &dyn Fn() -> bool,
    gains: &dyn Fn(&FieldPath) -> bool,
    (left, budget): (&mut usize, &Budget),
) -> Fact {
    let FactDraft { mut fact, mut lost, rule, old_rule } = draft;
    if let (true, Some(text)) = (is_transition_on_new_fields(&fact), &rule) {
        return match witnesses.sample_update_with_spec(&fact.path, text) {
            Trial::Shown(witness) => {
                fact.marks.remove(&Mark::NewFields);
                shown(fact.affects(&[Affected::Writers]).ratchet(Ratchet::Never), *witness)
            }
            Trial::Passed { .. } | Trial::Open => fact,
        };
    }
    if !breaks(&fact) {
        return fact;
    }
    // The object for a field that was added or removed needs little more than that field.
    let price = if fact.aspect == Aspect::Presence { 1 } else { FULL_PRICE };
    if *left < price || !budget.spend(SEARCH) {
        return FactDraft::unshown(fact, "there are too many changes to search for an object of each");
    }
    *left -= price;
    // Sets and maps refuse duplicates that a list may contain.
    if matches!(fact.aspect, Aspect::ListType | Aspect::MapKeys) {
        lost = lost.or_else(|| witnesses.twice(&fact.path).map(Sample::Sent));
    }
    let null = Sample::Sent(serde_json::Value::Null);
    let what = match (&lost, fact.aspect, fact.effect) {
        (Some(sample), _, _) => What::Sample(sample),
        (None, Aspect::Required, _) => What::Absent,
        (None, Aspect::Presence, Effect::Added) if fact.is(Mark::Demanded) || fact.is(Mark::Refused) => What::Absent,
        // In a list or map, a default only replaces null.
        (None, Aspect::Default, _) if !matches!(fact.path.steps().last(), Some(PathStep::Key(_))) => What::Sample(&null),
        (None, Aspect::Default, _) => What::Absent,
        (None, Aspect::Nullable, _) => What::Sample(&null),
        _ => What::Sent,
    };
    if let (Aspect::CelTransition, Some(text)) = (fact.aspect, &rule) {
        return match witnesses.sample_update(&fact.path, text) {
            Trial::Shown(witness) => {
                // With an optional `oldSelf`, a rule may refuse new objects only.
                if witness.previous.is_none() && witnesses.is_ratcheted(&witness, &fact.path) {
                    fact.ratchet = None;
                }
                shown(fact, *witness)
            }
            Trial::Passed { loosened } => FactDraft::from(fact).tested(loosened),
            Trial::Open => FactDraft::unshown(fact, "none of the random updates that were tried shows it"),
        };
    }
    // If no object shows it, every new object may satisfy the rule; that isn't proved.
    if let (Aspect::CelOptionalOldSelf, Some(text)) = (fact.aspect, &rule) {
        return match witnesses.sample_update(&fact.path, text) {
            Trial::Shown(witness) => shown(fact, *witness),
            Trial::Passed { .. } | Trial::Open => {
                FactDraft::unshown(fact, "none of the random objects and updates that were tried shows it")
            }
        };
    }
    let cause = rule.as_deref().filter(|_| fact.aspect == Aspect::CelRule).map_or_else(|| cause(&fact), Cause::Rule);
    let found = match witnesses.show(&fact.path, what, cause) {
        // A field that can't be pruned from a valid object may be refused with it.
        Search::Impossible | Search::Undecided(_) if cause == Cause::Lost => witnesses.show(&fact.path, what, Cause::Near),
        found => found,
    };
    let found = match (found, &fact.to) {
        // The field is missing under its new name, which may be the server's complaint.
        (Search::Impossible | Search::Undecided(_), Some(to)) if fact.effect == Effect::Renamed => witnesses.show(to, What::Absent, cause),
        (found, _) => found,
    };
    let found = match (fact.aspect, fact.effect) {
        (Aspect::Presence, Effect::Added) => found.or_else_shown(|| witnesses.show_undeclared(&fact.path, cause)),
        (Aspect::Presence, Effect::Removed) if fact.affects.contains(Affected::Behaviour) => {
            found.or_else_shown(|| witnesses.show(&fact.path, What::Absent, cause).found())
        }
        (Aspect::PreserveUnknown | Aspect::AdditionalProperties, _) => {
            found.or_else_shown(|| witnesses.show_undeclared_key(&fact.path, cause))
        }
        (Aspect::EmbeddedResource, Effect::Removed) => found.or_else_shown(|| witnesses.show_undeclared_metadata(&fact.path, cause)),
        (Aspect::MaxProperties, _) if witnesses.is_embedded_resource(&fact.path) => {
            found.or_else_shown(|| witnesses.show_all_keys(&fact.path, cause))
        }
        _ => found,
    };
    let found = match found {
        Search::Undecided(reason) => match witnesses.sample(&fact.path, cause) {
            Trial::Shown(witness) => Search::Found(*witness),
            Trial::Passed { loosened } if fact.to.is_none() && is_condition(&fact) => return FactDraft::from(fact).tested(loosened),
            Trial::Passed { .. } | Trial::Open => Search::Undecided(reason),
        },
        found => found,
    };
    match found {
        Search::Found(mut witness) => {
            if witness.new != Outcome::Rejected
                && let Some(refused) = also_refused(&fact, what, witnesses)
            {
                fact = fact.affects(&[Affected::Writers, Affected::Stored]);
                if witness.new == Outcome::Changed {
                    witness = refused;
                }
            }
            if witness.new == Outcome::Rejected && refuses_by_itself(&fact, &witness, witnesses) {
                fact = fact.affects(&[Affected::Writers, Affected::Stored]);
            }
            *left = left.saturating_sub(FULL_PRICE * (value_count(&witness.object) / LARGE));
            // The object shows what the server tolerates; only the schema shows how far that applies.
            if witness.new == Outcome::Rejected && fact.ratchet.is_some() {
                fact.ratchet = match (fact.ratchet, witnesses.is_ratcheted(&witness, &fact.path)) {
                    (_, false) => Some(Ratchet::Never),
                    (Some(Ratchet::Never), true) => Some(Ratchet::Field),
                    (reach, true) => reach,
                };
            }
            // Whatever is updated, the server tolerates what is stored.
            if fact.ratchet == Some(Ratchet::Always) {
                fact.affects = fact.affects.without(Affected::Stored);
            }
            return shown(fact, witness);
        }
        Search::Impossible
            if fact.to.is_none()
                && (!witnesses.is_reserved(&fact.path) || needs_fewer_keys(&fact, witnesses) || becomes_resource(&fact))
                && inhabited()
                && (is_condition(&fact) || witnesses.is_unreachable(&fact.path)) =>
        {
            if !may_widen(&fact) {
                return FactDraft::from(fact).harmless();
            }
            // A null that was dropped before may be kept now, and exceed `maxProperties`. A fact that also covers data covers nulls.
            let nulls = if fact.affects.contains(Affected::Data) { Cause::Near } else { Cause::Refusal };
            if let Search::Found(witness) = witnesses.show(&fact.path, What::Sample(&null), nulls) {
                return shown(fact, witness);
            }
            // The default changed with the type, and what a type lets pass besides its values may fail in rules that only updates run.
            if fact.aspect == Aspect::Type {
                let absent = || witnesses.show(&fact.path, What::Absent, Cause::Near).found();
                if let Some(witness) = absent().or_else(|| witnesses.sample_refusal(&fact.path, false)) {
                    return shown(fact, witness);
                }
            }
            // New objects satisfied the old rule, and updates no longer need to.
            let was_transition = fact.aspect == Aspect::CelRule && old_rule.as_deref().is_some_and(is_transition);
            return if was_transition || gains(&fact.path) { FactDraft::from(fact).widened() } else { FactDraft::from(fact).harmless() };
        }
        // Lists are still merged differently.
        Search::Impossible
            if matches!(fact.aspect, Aspect::ListType | Aspect::MapKeys) && fact.affects.contains(Affected::Merge) && inhabited() =>
        {
            fact.affects = fact.affects.without(Affected::Writers).without(Affected::Stored);
        }
        Search::Impossible if witnesses.is_reserved(&fact.path) => {
            return FactDraft::unshown(fact, "the search doesn't vary what identifies the object");
        }
        Search::Impossible => return FactDraft::unshown(fact, "a complete search found no object that shows it"),
        Search::Undecided(reason) => {
            return FactDraft::unshown(fact, format!("neither a search nor random objects found one that shows it, because {reason}"));
        }
    }
    fact
}

/// An object or update that is refused, for a change whose first example is only stored differently: conditions around it may see
/// the difference.
fn also_refused(fact: &Fact, what: What<'_>, witnesses: &Witnesses<'_>) -> Option<Witness> {
    let path = &fact.path;
    let found = match fact.aspect {
        Aspect::Default | Aspect::Nullable | Aspect::EmbeddedResource => witnesses.show(path, what, Cause::Refusal),
        // Nothing fills the field any more.
        Aspect::Presence if fact.affects.contains(Affected::Behaviour) => witnesses.show(path, What::Absent, Cause::Refusal),
        Aspect::PreserveUnknown | Aspect::AdditionalProperties => {
            let found = witnesses.show(path, what, Cause::Refusal);
            found.or_else_shown(|| witnesses.show_undeclared_key(path, Cause::Refusal))
        }
        _ => return None,
    };
    let undecided = matches!(found, Search::Undecided(_));
    let is_cause = |witness: &Witness| witnesses.is_refused_because_of(path, fact.aspect, witness);
    found.found().filter(is_cause).or_else(|| witnesses.sample_refusal(path, undecided).filter(is_cause))
}

/// Whether an object is refused because of a change that usually only prunes or replaces values: conditions around them may see it.
fn refuses_by_itself(fact: &Fact, witness: &Witness, witnesses: &Witnesses<'_>) -> bool {
    match fact.aspect {
        Aspect::Default | Aspect::Nullable => true,
        Aspect::Presence if !fact.affects.contains(Affected::Behaviour) => false,
        Aspect::PreserveUnknown | Aspect::AdditionalProperties | Aspect::EmbeddedResource | Aspect::Presence => {
            witnesses.is_refused_because_of(&fact.path, fact.aspect, witness)
        }
        _ => false,
    }
}

/// A fact with the object that shows it.
fn shown(mut fact: Fact, witness: Witness) -> Fact {
    fact.evidence = Evidence::shown(witness);
    if fact.effect == Effect::Undecided && !matches!(fact.aspect, Aspect::Items | Aspect::Structure) {
        fact.effect = Effect::Narrowed;
    }
    fact
}

/// What an object must show for a change; another change below the node would prove nothing about it.
fn cause(fact: &Fact) -> Cause<'static> {
    let gone = matches!(fact.effect, Effect::Removed | Effect::Narrowed) && fact.affects.contains(Affected::Data);
    match fact.aspect {
        Aspect::AllOf | Aspect::AnyOf | Aspect::OneOf | Aspect::Not | Aspect::Accepted => Cause::Refusal,
        Aspect::Presence | Aspect::PreserveUnknown | Aspect::AdditionalProperties if gone => Cause::Lost,
        Aspect::Type | Aspect::UniqueItems => Cause::Near,
        aspect if !errors_of(aspect).is_empty() => Cause::Here(aspect),
        _ => Cause::Near,
    }
}

/// Whether a fact only states which values are refused, so that without such a value it states nothing.
pub(super) fn is_condition(fact: &Fact) -> bool {
    match fact.aspect {
        Aspect::Presence => fact.effect == Effect::Added && fact.is(Mark::Demanded) && !fact.is(Mark::Kept),
        // These matter even if no object shows it.
        Aspect::ListType | Aspect::MapKeys | Aspect::MapType | Aspect::EmbeddedResource | Aspect::Items | Aspect::Structure => false,
        _ => true,
    }
}
