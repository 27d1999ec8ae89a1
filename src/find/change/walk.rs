//! Walks two schemas of one version side by side, and emits facts about every node that differs.
//!
//! Equal subtrees are skipped immediately, so the cost is that of reading both sides once.

use crate::compare::{Budget, Sample};
use crate::input::yaml::{Entry, Node};
use crate::model::fact::{Affected, Aspect, Effect, Fact, Ratchet, Subject, Word};
use crate::model::kubernetes::{Feature, Server};
use crate::model::schema::{Keyword, Schema};
use crate::model::{FieldPath, FileId, PathStep, Place};
use crate::server::object::Scale;

use super::ChangeOptions;
use super::change_list::Changes;
use super::evidence::ResourceNames;
use super::fact_draft::FactDraft;
use super::json_types::JsonTypes;
use super::presence::Required;

/// Aspects of a field that say nothing about its objects, so that a conversion has nothing to handle.
pub(crate) const ABOUT_NO_OBJECT: &[Aspect] = &[
    Aspect::CelMessage,
    Aspect::CelMessageExpression,
    Aspect::CelReason,
    Aspect::CelFieldPath,
    Aspect::Description,
    Aspect::Annotation,
    Aspect::Meaning,
];

/// What all facts of one comparison have in common.
#[derive(Clone, Copy)]
pub(super) struct FactScope<'a> {
    pub crd: &'a str,
    pub channel: Option<&'a str>,
    pub version: &'a str,
    pub old_file: FileId,
    pub new_file: FileId,
    /// The server that reads both.
    pub kubernetes: Server,
    /// [`Subject::Field`], or [`Subject::NewVersion`] for a new version next to an older one that stays.
    pub subject: Subject,
    /// The older version that a new one is compared with.
    pub against: Option<&'a str>,
    /// What both versions require besides their schemas.
    pub scales: &'a (Scale, Scale),
    pub options: &'a ChangeOptions<'a>,
    /// What searches may still do.
    pub budget: &'a Budget,
}

/// How a node is attached to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Root,
    Property { was_required: bool, is_required: bool },
    Item,
    Value,
}

/// A node on both sides, with its keys in the file and its ancestors.
pub(super) struct NodePair<'f, 't> {
    pub old: Schema<'t>,
    pub new: Schema<'t>,
    pub old_key: Node<'t>,
    pub new_key: Node<'t>,
    pub position: Position,
    /// Its name on each side; empty for the root, items and values.
    pub name: (&'t str, &'t str),
    pub up: Option<&'f NodePair<'f, 't>>,
    /// The remaining budget for comparing the two schemas.
    pub budget: &'f Budget,
}

pub(super) struct ChangeWalk<'a> {
    pub scope: FactScope<'a>,
    pub old_path: FieldPath,
    pub new_path: FieldPath,
    /// How many ancestors have another path in the new version.
    pub diverged: u32,
    /// Whether the server can match values with their old ones here: not below lists without keys.
    pub correlatable: bool,
    pub drafts: Vec<FactDraft>,
}

impl<'a> ChangeWalk<'a> {
    pub(super) fn new(scope: FactScope<'a>) -> Self {
        ChangeWalk { scope, old_path: FieldPath::root(), new_path: FieldPath::root(), diverged: 0, correlatable: true, drafts: Vec::new() }
    }

    /// The facts about two root schemas, each with its key in the file, and with objects that show breaks.
    pub(super) fn shown<'t>(self, old: (&Schema<'t>, Node<'t>), new: (&Schema<'t>, Node<'t>), resource: ResourceNames<'_>) -> Vec<Fact> {
        if !self.scope.options.witnesses {
            return self.run(old, new);
        }
        let FactScope { scales, options, budget, .. } = self.scope;
        let mut drafts = self.drafts(old, new);
        if let Some(near) = options.near {
            drafts.retain(|draft| near.iter().any(|fact| fact.is_near(&draft.fact)));
        }
        super::evidence::attach(drafts, (old.0, &scales.0), (new.0, &scales.1), resource, budget)
    }

    /// The facts about two schemas, each with its key in the file.
    pub(super) fn run<'t>(self, old: (&Schema<'t>, Node<'t>), new: (&Schema<'t>, Node<'t>)) -> Vec<Fact> {
        self.drafts(old, new).into_iter().map(|draft| draft.fact).collect()
    }

    pub(super) fn drafts<'t>(mut self, old: (&Schema<'t>, Node<'t>), new: (&Schema<'t>, Node<'t>)) -> Vec<FactDraft> {
        // The other half finds objects that show what this half finds.
        let budget = self.scope.budget.part(2);
        let pair = NodePair {
            old: old.0.clone(),
            new: new.0.clone(),
            old_key: old.1,
            new_key: new.1,
            position: Position::Root,
            name: ("", ""),
            up: None,
            budget: &budget,
        };
        self.node(&pair);
        self.drafts
    }

    pub(super) fn node<'t>(&mut self, pair: &NodePair<'_, 't>) {
        // Comparing bytes is enough for most subtrees; the others are compared keyword by keyword.
        if pair.old.node().same_text(pair.new.node()) && !super::undeclared_keys::is_relisted(pair) {
            return;
        }
        let mut changes = Changes::between(&pair.old, &pair.new);
        if changes.has_any(super::accepted_values::TYPES) && self.retyped(pair, &mut changes) {
            return;
        }
        let required = changes.has_any(super::presence::DEMANDS).then(|| Required::of(pair));
        if crate::compare::condition_keywords().any(|word| changes.has(word)) {
            self.accepted(pair, &mut changes);
        }
        self.null_handling(pair, &mut changes);
        self.defaulted(pair, &mut changes);
        self.merge_keywords(pair, &mut changes);
        self.embedded_resource(pair, &mut changes);
        self.rules(pair, &mut changes);
        if self.undeclared_keys(pair, &mut changes) {
            self.properties(pair, required.as_ref());
        } else {
            self.demands(pair, required.as_ref());
        }
        self.mark_children_reported(pair, &mut changes, required.as_ref());
        self.items(pair, &mut changes);
        self.values(pair);
        self.documented(pair, &mut changes);
        self.remaining_keywords(pair, &mut changes);
    }

    /// Marks keywords that the facts about children cover.
    fn mark_children_reported<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>, required: Option<&Required<'t>>) {
        if pair.old.property_count() + pair.new.property_count() > 0 {
            changes.report(Keyword::Properties);
        }
        if required.is_some_and(Required::differs) {
            let told = if changes.has(Keyword::Required) { &[Keyword::Required][..] } else { super::accepted_values::COMPOSITIONS };
            changes.report_all(told);
        }
    }

    /// Compares the items of a list.
    fn items<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let entries = (pair.old.entry(Keyword::Items), pair.new.entry(Keyword::Items));
        match (pair.old.items(), pair.new.items(), entries) {
            (Some(old), Some(new), (Some(old_entry), Some(new_entry))) => {
                let correlatable = self.correlatable;
                // Only items of a keyed list are matched with their old values.
                self.correlatable &= pair.new.text(Keyword::ListType) == Some("map");
                self.step(PathStep::Items, PathStep::Items, |walk| {
                    walk.node(&NodePair {
                        old,
                        new,
                        old_key: old_entry.key,
                        new_key: new_entry.key,
                        position: Position::Item,
                        name: ("", ""),
                        up: Some(pair),
                        budget: pair.budget,
                    });
                });
                self.correlatable = correlatable;
            }
            (_, _, (old, new)) => {
                let same = match (old, new) {
                    (Some(old), Some(new)) => old.value.same(new.value),
                    (None, None) => true,
                    _ => false,
                };
                if !same {
                    let arrays = JsonTypes::of(&pair.old).and(JsonTypes::of(&pair.new)).has(JsonTypes::ARRAY);
                    let effect = match (arrays, old, new) {
                        (false, ..) => Effect::Rewritten,
                        // Without a schema, the server drops the content of objects in the list.
                        (_, Some(_), None) => Effect::Removed,
                        (_, None, Some(_)) => Effect::Added,
                        _ => Effect::Undecided,
                    };
                    let fact = self.keyword_fact(pair, Aspect::Items, effect, old, new);
                    let fact = if arrays { fact.affects(&[Affected::Writers, Affected::Stored, Affected::Data]) } else { fact };
                    self.push(fact);
                }
                changes.report(Keyword::Items);
            }
        }
    }

    /// Compares the values of a map.
    fn values<'t>(&mut self, pair: &NodePair<'_, 't>) {
        let (Some(old), Some(new)) = (pair.old.values(), pair.new.values()) else { return };
        let key = |schema: &Schema<'t>| schema.entry(Keyword::AdditionalProperties).map(|entry| entry.key);
        let (Some(old_key), Some(new_key)) = (key(&pair.old), key(&pair.new)) else { return };
        self.step(PathStep::Values, PathStep::Values, |walk| {
            walk.node(&NodePair {
                old,
                new,
                old_key,
                new_key,
                position: Position::Value,
                name: ("", ""),
                up: Some(pair),
                budget: pair.budget,
            });
        });
    }

    /// Descends one step on both sides, and returns afterwards.
    pub(super) fn step(&mut self, old: PathStep, new: PathStep, inside: impl FnOnce(&mut Self)) {
        let apart = u32::from(old != new);
        self.old_path.push(old);
        self.new_path.push(new);
        self.diverged += apart;
        inside(self);
        self.diverged -= apart;
        self.old_path.pop();
        self.new_path.pop();
    }

    /// A fact about the current node.
    pub(super) fn fact(&self, aspect: Aspect, effect: Effect) -> Fact {
        let mut fact = self.fact_at(aspect, effect, &self.old_path);
        if self.diverged > 0 {
            fact.to = Some(self.new_path.clone());
        }
        fact
    }

    pub(super) fn fact_at(&self, aspect: Aspect, effect: Effect, path: &FieldPath) -> Fact {
        let mut fact = Fact::new(self.scope.subject, aspect, effect, self.scope.crd).version(self.scope.version).path(path);
        fact.channel = self.scope.channel.map(str::to_owned);
        if let Some(against) = self.scope.against {
            fact = fact.against(against);
        }
        fact
    }

    pub(super) fn push(&mut self, fact: Fact) {
        self.push_lost(fact, None);
    }

    /// Adds a fact, with a value that the old node accepts and the new one doesn't.
    pub(super) fn push_lost(&mut self, mut fact: Fact, lost: Option<Sample>) {
        // Between two versions, only what a conversion must handle counts.
        let irrelevant = matches!(fact.effect, Effect::Rewritten) || ABOUT_NO_OBJECT.contains(&fact.aspect);
        if self.scope.against.is_some() && irrelevant {
            return;
        }
        if fact.effect == Effect::Rewritten {
            fact.words.entry(Word::Keyword).or_insert_with(|| fact.aspect.name().to_owned());
        }
        if !fact.affects.is_empty() {
            // `status` is written by controllers and read by users.
            let (writers, readers) = if fact.path.in_status() { ("controllers", "clients") } else { ("clients", "controllers") };
            fact = fact.word(Word::Writers, writers).word(Word::Readers, readers);
        }
        self.drafts.push(FactDraft { fact, lost, rule: None, old_rule: None });
    }

    /// A fact about a keyword of the node, at its value on both sides, or at the node if the keyword is missing.
    pub(super) fn keyword_fact(
        &self,
        pair: &NodePair<'_, '_>,
        aspect: Aspect,
        effect: Effect,
        old: Option<Entry<'_>>,
        new: Option<Entry<'_>>,
    ) -> Fact {
        self.fact(aspect, effect)
            .before(self.old_place(old.map_or(pair.old_key, best_node)))
            .after(self.new_place(new.map_or(pair.new_key, best_node)))
    }

    pub(super) fn old_place(&self, node: Node<'_>) -> Place {
        Place { file: self.scope.old_file, span: node.span() }
    }

    pub(super) fn new_place(&self, node: Node<'_>) -> Place {
        Place { file: self.scope.new_file, span: node.span() }
    }

    /// How far ratcheting applies to an error at this node; `container` for errors about the node's content.
    pub(super) fn ratchet(&self, container: bool) -> Ratchet {
        match () {
            () if self.new_path.is_root() || !self.scope.kubernetes.has(Feature::Ratcheting) => Ratchet::Never,
            () if container || !self.correlatable => Ratchet::Container,
            () => Ratchet::Field,
        }
    }
}

/// The node that shows an entry best: a scalar itself, otherwise its key.
pub(super) fn best_node<'t>(entry: Entry<'t>) -> Node<'t> {
    if entry.value.is_map() || entry.value.is_seq() { entry.key } else { entry.value }
}
