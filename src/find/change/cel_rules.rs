//! Compares the CEL rules of a node: which were added, removed, or only rewritten.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::compare::cel_implication::{Known, NodeRule, RuledValues};
use crate::compare::{Comparison, Sample, bounded_shape, is_oversized};
use crate::input::yaml::Entry;
use crate::model::PathStep;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Mark, Ratchet, Word};
use crate::model::relation::Relation;
use crate::model::schema::{Keyword, Schema, Shape, is_meta};

use super::change_list::Changes;
use super::json_types::JsonTypes;
use super::node_comparison::role;
use super::rename;
use super::side_by_side::differing;
use super::undeclared_keys::Undeclared;
use super::value_text::{around_difference, cut};
use super::walk::{ChangeWalk, NodePair};

/// How many rules of one node are matched by similarity; beyond that, they count as removed and added.
const MATCHED: usize = 40;
/// How similar two texts must be to be one changed rule.
const ALIKE: f32 = 0.6;
/// How many characters of a rule a message shows.
const RULE: usize = 120;
/// How many characters of a rule's message are used to name it.
const NAME: usize = 60;
/// How many characters of a rule are compared for similarity.
const COMPARED: usize = 400;

impl ChangeWalk<'_> {
    pub(super) fn rules<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let Some(change) = changes.get(Keyword::Validations) else { return };
        let (all_old, all_new) = (NodeRule::list(&pair.old), NodeRule::list(&pair.new));
        // An empty list, or a value that isn't a list, has no rules.
        if all_old.is_empty() && all_new.is_empty() {
            return;
        }
        changes.report(change.word);
        let (mut old, mut new): (Vec<_>, Vec<_>) = (all_old.iter().collect(), all_new.iter().collect());
        for (before, after) in paired(&mut old, &mut new, |rule| Some(rule.text), |rule| Some(rule.text)) {
            self.attributes(pair, before, after);
        }
        if old.is_empty() && new.is_empty() {
            return;
        }
        for (before, after) in paired(&mut old, &mut new, NodeRule::term, NodeRule::term) {
            self.changed_rule(pair, before, after, Comparison::equal());
            self.attributes(pair, before, after);
        }
        let values = RuledValues::new(role(pair.position), pair.budget, &pair.old, || values_before(pair));
        let renames = if old.is_empty() || new.is_empty() { Vec::new() } else { self.renames(pair) };
        if let (false, Some(first)) = (renames.is_empty(), new.first().copied()) {
            let following = |rule: &NodeRule<'_>| first.read(&renamed(rule.text, &renames)?);
            for (before, after) in paired(&mut old, &mut new, following, |rule| rule.term().cloned()) {
                self.changed_rule(pair, before, after, Comparison::equal());
            }
        }
        for (before, after) in pair_similar(&mut old, &mut new) {
            let judgement = values.changed(before, after);
            self.changed_rule(pair, before, after, judgement);
        }
        for rule in &old {
            let judgement = values.removed((&all_new, &new), rule);
            // The rules that replace it are reported.
            if judgement.relation != Relation::Equal || new.is_empty() {
                self.lone_rule(pair, rule, judgement, true);
            }
        }
        for rule in &new {
            let judgement = values.added((&all_old, &old), rule);
            self.lone_rule(pair, rule, judgement, false);
        }
    }

    /// Fields of the node that were renamed: a rule that only follows the renames is the same rule.
    fn renames<'t>(&self, pair: &NodePair<'_, 't>) -> Vec<(&'t str, &'t str)> {
        let lone = |one: &Schema<'t>, other: &Schema<'t>| -> Vec<(Entry<'t>, Schema<'t>)> {
            one.properties().filter(|(entry, _)| other.property(entry.name()).is_none()).collect()
        };
        let (gone, come) = (lone(&pair.old, &pair.new), lone(&pair.new, &pair.old));
        rename::matches(&gone, &come, self.scope.options).iter().map(|found| (found.old.name(), found.new.name())).collect()
    }

    fn lone_rule<'t>(&mut self, pair: &NodePair<'_, 't>, rule: &NodeRule<'t>, judgement: Comparison<Sample>, was: bool) {
        let on_new_fields = !was && reads_new_fields(pair, rule) && (judgement.relation == Relation::Equal || about_new_fields(pair, rule));
        let effect = match judgement.relation {
            _ if on_new_fields => Effect::Added,
            Relation::Equal => Effect::Rewritten,
            Relation::Wider => Effect::Removed,
            _ => Effect::Added,
        };
        let list = |schema: &Schema<'t>| schema.entry(Keyword::Validations);
        let (old, new) = if was { (entry(rule), list(&pair.new)) } else { (list(&pair.old), entry(rule)) };
        let mut fact = self.keyword_fact(pair, aspect(rule), effect, old, new).key(rule.text).word(Word::Rule, cut(rule.text, RULE));
        if let Some(message) = rule.cel.text("message") {
            fact = fact.word(Word::Message, cut(message, RULE));
        }
        if rule.cel.optional_old_self() == Some(true) && effect == Effect::Added {
            fact = fact.mark(Mark::OnCreate);
        }
        if on_new_fields {
            self.push_rule(fact.mark(Mark::NewFields), None, rule, None);
            return;
        }
        if let Some(reason) = judgement.reason.filter(|_| effect == Effect::Added && judgement.lost.is_none()) {
            fact = fact.evidence(Evidence::undecided(reason));
        }
        let fact = self.rule_effects(pair, fact, rule, judgement.relation);
        self.push_rule(fact, judgement.lost, rule, None);
    }

    fn changed_rule<'t>(&mut self, pair: &NodePair<'_, 't>, old: &NodeRule<'t>, new: &NodeRule<'t>, judgement: Comparison<Sample>) {
        let relation = judgement.relation;
        let (was, is) = around_difference(old.text, new.text, RULE);
        let mut fact = self
            .keyword_fact(pair, aspect(new), relation.effect(), entry(old), entry(new))
            .key(old.text)
            .word(Word::Rule, cut(new.text, RULE))
            .word(Word::Old, was)
            .word(Word::New, is);
        // The author's message says more than the rule's text.
        if let (Some(name), true) = (old.cel.text("message"), old.cel.text("message") == new.cel.text("message")) {
            fact = fact.word(Word::Name, cut(name, NAME));
        }
        if relation == Relation::Undecided {
            let reason =
                judgement.reason.unwrap_or_else(|| "crdwise can't decide in general what a different CEL expression accepts".to_owned());
            fact = fact.word(Word::Reason, reason.clone()).evidence(Evidence::undecided(reason));
        } else if let Some(reason) = judgement.reason.filter(|_| relation.narrows() && judgement.lost.is_none()) {
            fact = fact.evidence(Evidence::undecided(reason));
        }
        let fact = self.rule_effects(pair, fact, new, relation);
        self.push_rule(fact, judgement.lost, new, Some(old));
    }

    fn push_rule(&mut self, fact: Fact, lost: Option<Sample>, rule: &NodeRule<'_>, old: Option<&NodeRule<'_>>) {
        let known = self.drafts.len();
        self.push_lost(fact, lost);
        if let Some(found) = self.drafts.get_mut(known) {
            found.rule = Some(rule.text.to_owned());
            found.old_rule = old.map(|old| old.text.to_owned());
        }
    }

    fn rule_effects(&self, pair: &NodePair<'_, '_>, fact: Fact, rule: &NodeRule<'_>, relation: Relation) -> Fact {
        let whole = JsonTypes::of(&pair.new).has(JsonTypes::OBJECT) || JsonTypes::of(&pair.new).has(JsonTypes::ARRAY);
        match (relation, rule.is_transition()) {
            (Relation::Equal, _) => fact,
            // Controllers may have relied on a rule that was removed.
            (Relation::Wider, true) => fact.affects(&[Affected::Readers, Affected::Behaviour]),
            (Relation::Wider, false) => fact.affects(&[Affected::Readers]),
            (_, true) => fact.affects(&[Affected::Writers]).ratchet(Ratchet::Never),
            (_, false) => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(self.ratchet(whole)),
        }
    }

    /// Compares the attributes of a rule whose expression is unchanged.
    fn attributes<'t>(&mut self, pair: &NodePair<'_, 't>, old: &NodeRule<'t>, new: &NodeRule<'t>) {
        if old.cel.node.same(new.cel.node) {
            return;
        }
        for (name, aspect) in [
            ("message", Aspect::CelMessage),
            ("messageExpression", Aspect::CelMessageExpression),
            ("reason", Aspect::CelReason),
            ("fieldPath", Aspect::CelFieldPath),
        ] {
            let text = |rule: &NodeRule<'t>| rule.cel.text(name).unwrap_or_default();
            if text(old) != text(new) {
                let (before, after) = (old.cel.node.entry(name), new.cel.node.entry(name));
                let effect = super::documentation::presence(before.is_some(), after.is_some());
                let fact = self.keyword_fact(pair, aspect, effect, before.or(entry(old)), after.or(entry(new))).key(new.text);
                self.push(
                    fact.word(Word::Rule, cut(new.text, RULE)).word(Word::Old, cut(text(old), RULE)).word(Word::New, cut(text(new), RULE)),
                );
            }
        }
        self.optional_old_self(pair, old, new);
        let known = ["rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"];
        let others = |rule: &NodeRule<'t>| rule.cel.node.entries().filter(|entry| !known.contains(&entry.name()));
        for (before, after) in differing(others(old), others(new)) {
            let name = before.or(after).map_or("", |entry| entry.name());
            let effect = super::documentation::presence(before.is_some(), after.is_some());
            let fact = self.keyword_fact(pair, Aspect::Keyword, effect, before, after).key(format!("{}/{name}", new.text));
            self.push(fact.word(Word::Keyword, cut(name, 60)));
        }
    }

    fn optional_old_self<'t>(&mut self, pair: &NodePair<'_, 't>, old: &NodeRule<'t>, new: &NodeRule<'t>) {
        let (was, is) = (old.cel.optional_old_self(), new.cel.optional_old_self());
        if was == is {
            return;
        }
        let effect = match (was.unwrap_or(false), is.unwrap_or(false)) {
            (false, true) => Effect::Added,
            (true, false) => Effect::Removed,
            _ => Effect::Rewritten,
        };
        let name = "optionalOldSelf";
        let (before, after) = (old.cel.node.entry(name).or(entry(old)), new.cel.node.entry(name).or(entry(new)));
        let mut fact =
            self.keyword_fact(pair, Aspect::CelOptionalOldSelf, effect, before, after).key(new.text).word(Word::Rule, cut(new.text, RULE));
        fact = match effect {
            // The rule now also runs on create, where there is no old value.
            Effect::Added => fact.affects(&[Affected::Writers]).ratchet(Ratchet::Never),
            Effect::Removed => fact.affects(&[Affected::Readers]),
            _ => fact.word(Word::Keyword, name),
        };
        self.push_rule(fact, None, new, Some(old));
    }
}

fn aspect(rule: &NodeRule<'_>) -> Aspect {
    if rule.is_transition() { Aspect::CelTransition } else { Aspect::CelRule }
}

fn entry<'t>(rule: &NodeRule<'t>) -> Option<Entry<'t>> {
    rule.cel.node.entry("rule")
}

/// The values of the old node, ignoring its rules; `None` if a list is too long to be searched.
fn values_before(pair: &NodePair<'_, '_>) -> Option<Shape> {
    if is_oversized(pair.old.node()) {
        return None;
    }
    let mut before = bounded_shape(&pair.old);
    before.default = None;
    // Rules may read fields that the old schema pruned; no stored object has them.
    if Undeclared::both(pair).0 == Undeclared::Pruned {
        let added = pair.new.properties().filter(|(entry, child)| pair.old.property(entry.name()).is_none() && child.default().is_none());
        for (entry, child) in added {
            let name = entry.name().to_owned();
            let there = Shape { required: [name.clone()].into(), ..Shape::default() };
            before.all_of.push(Shape { not: Some(Arc::new(there)), ..Shape::default() });
            before.properties.insert(name, Arc::new(bounded_shape(&child)));
        }
    }
    Some(before)
}

/// Whether a rule holds for all objects without the fields that the old schema didn't have.
fn about_new_fields(pair: &NodePair<'_, '_>, rule: &NodeRule<'_>) -> bool {
    let known = |path: &str| {
        let path = path.strip_prefix("oldSelf").or_else(|| path.strip_prefix("self"))?;
        let fate = Undeclared::both(pair).0;
        // A rule that fails because a parent is absent rejects requests. In an update, both objects have what it reads.
        let deeper = || within(&pair.old, &pair.new, path).filter(|_| aspect(rule) == Aspect::CelTransition);
        new_field((&pair.old, fate), &pair.new, path).or_else(deeper)
    };
    rule.always_holds(&known)
}

/// Classifies a field that the old schema has, or whose parent may be absent: new, or containing new fields.
fn within(old: &Schema<'_>, new: &Schema<'_>, path: &str) -> Option<Known> {
    let path = path.strip_prefix('.')?;
    let (first, rest) = path.find('.').map_or((path, None), |end| (path.get(..end).unwrap_or(path), path.get(end..)));
    let name = crate::cel::name::unescape(first).unwrap_or_else(|| first.to_owned());
    if is_meta(&name) || path.contains('[') {
        return None;
    }
    let ((_, before), (_, after)) = (old.property(&name)?, new.property(&name)?);
    if before.flag(Keyword::Nullable) || Undeclared::of(&before) != Undeclared::Pruned {
        return None;
    }
    match rest {
        None => after.properties().any(|(entry, _)| before.property(entry.name()).is_none()).then_some(Known::Parent),
        Some(rest) => match new_field((&before, Undeclared::of(&before)), &after, rest) {
            Some(known) => Some(known),
            None => within(&before, &after, rest),
        },
    }
}

/// Whether a rule reads a field that the old schema didn't have.
fn reads_new_fields(pair: &NodePair<'_, '_>, rule: &NodeRule<'_>) -> bool {
    let is_new = |path: String| {
        let path = if path.starts_with('[') { path } else { format!(".{path}") };
        new_field((&pair.old, Undeclared::both(pair).0), &pair.new, &path).is_some()
            || within(&pair.old, &pair.new, &path).is_some_and(|known| known != Known::Parent)
    };
    rule.fields().iter().map(ToString::to_string).any(is_new)
}

/// What old objects have in a field that the old schema didn't declare: nothing, or its default. The path is written `.a.b`, or
/// `[].a` for items.
fn new_field((old, fate): (&Schema<'_>, Undeclared), new: &Schema<'_>, path: &str) -> Option<Known> {
    if let Some(rest) = path.strip_prefix("[]") {
        let (before, after) = (old.items().filter(|items| !items.flag(Keyword::Nullable))?, new.items()?);
        return new_field((&before, Undeclared::under(&before, fate == Undeclared::Kept)), &after, rest);
    }
    let path = path.strip_prefix('.')?;
    let (first, rest) = path.find(['.', '[']).map_or((path, None), |end| (path.get(..end).unwrap_or(path), path.get(end..)));
    let name = crate::cel::name::unescape(first).unwrap_or_else(|| first.to_owned());
    // Every resource has these, declared or not.
    if is_meta(&name) {
        return None;
    }
    let (_, after) = new.property(&name)?;
    match (old.property(&name), rest) {
        // Under a parent that kept undeclared keys, the field may already exist.
        (None, None) if fate != Undeclared::Pruned => None,
        // In CEL, numbers, formats and int-or-string have other types than as written.
        (None, None)
            if after.default().is_some() && (after.ty() == Some("number") || after.has(Keyword::Format) || after.is_int_or_string()) =>
        {
            None
        }
        (None, None) => after.default().map_or(Some(Known::Absent), |default| Known::is(&default.to_json())),
        // Selecting a field of an absent value is an error.
        (Some((_, before)), Some(rest)) if old.is_required(&name) && !before.flag(Keyword::Nullable) => {
            new_field((&before, Undeclared::of(&before)), &after, rest)
        }
        _ => None,
    }
}

/// The text of a rule after fields of its node were renamed; `None` if it can't follow them.
fn renamed(text: &str, renames: &[(&str, &str)]) -> Option<String> {
    let step = |name: &str| [PathStep::Key(name.into())];
    renames.iter().try_fold(text.to_owned(), |text, (old, new)| crate::cel::rename::rename(&text, &step(old), &step(new)))
}

/// Removes matching rules from both lists, in order: the first new rule with the same key.
fn paired<'r, 't, K: Ord>(
    old: &mut Vec<&'r NodeRule<'t>>,
    new: &mut Vec<&'r NodeRule<'t>>,
    old_key: impl Fn(&'r NodeRule<'t>) -> Option<K>,
    new_key: impl Fn(&'r NodeRule<'t>) -> Option<K>,
) -> Vec<(&'r NodeRule<'t>, &'r NodeRule<'t>)> {
    let mut places: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
    for (index, rule) in new.iter().enumerate() {
        if let Some(key) = new_key(rule) {
            places.entry(key).or_default().push_back(index);
        }
    }
    let (mut pairs, mut taken) = (Vec::new(), BTreeSet::new());
    old.retain(|before| {
        let place = old_key(before).and_then(|key| places.get_mut(&key)?.pop_front());
        let after = place.and_then(|index| new.get(index));
        taken.extend(place);
        pairs.extend(after.map(|after| (*before, *after)));
        after.is_none()
    });
    remove(new, &taken);
    pairs
}

/// Removes rewritten rules from both lists: the best matches first, by message, by what they read, or by text.
fn pair_similar<'r, 't>(old: &mut Vec<&'r NodeRule<'t>>, new: &mut Vec<&'r NodeRule<'t>>) -> Vec<(&'r NodeRule<'t>, &'r NodeRule<'t>)> {
    if old.len() > MATCHED || new.len() > MATCHED {
        return Vec::new();
    }
    let mut scores: Vec<rename::Score> = Vec::new();
    for (row, before) in old.iter().enumerate() {
        for (column, after) in new.iter().enumerate() {
            let score = score(before, after);
            scores.extend((score >= ALIKE).then_some((f64::from(score), row, column)));
        }
    }
    let places = rename::best_pairs(scores);
    let pairs = places.iter().filter_map(|(_, row, column)| Some((*old.get(*row)?, *new.get(*column)?))).collect();
    remove(old, &places.iter().map(|(_, row, _)| *row).collect());
    remove(new, &places.iter().map(|(.., column)| *column).collect());
    pairs
}

fn remove<T>(list: &mut Vec<T>, places: &BTreeSet<usize>) {
    let mut index = 0..;
    list.retain(|_| index.next().is_some_and(|at| !places.contains(&at)));
}

/// How likely two rules are the same one, rewritten. Rules of one node often have the same form, and differ in what they read.
fn score(old: &NodeRule<'_>, new: &NodeRule<'_>) -> f32 {
    let message = matches!((old.cel.text("message"), new.cel.text("message")), (Some(a), Some(b)) if a == b);
    let text = similar::TextDiff::from_words(cut(old.text, COMPARED).as_str(), cut(new.text, COMPARED).as_str()).ratio();
    match () {
        () if message => text.max(ALIKE) + 2.0,
        () if text >= ALIKE && old.fields() == new.fields() => text + 1.0,
        () => text,
    }
}
