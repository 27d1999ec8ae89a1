//! Compares the versions of one CRD: those on both sides, those added and those removed.

use crate::compare::{Budget, Cause, What, is_oversized_shape};
use crate::input::yaml::Node;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Mark, Subject, Word};
use crate::model::schema::{Keyword, Schema, Shape};
use crate::model::{Crd, FieldPath, Maturity, Repeat, Version};
use crate::server::object::Scale;

use super::crd::CrdComparison;
use super::evidence::{ResourceNames, scaled};
use super::fact_draft::FactDraft;
use super::walk::{ChangeWalk, FactScope};

impl<'a, 't> CrdComparison<'a, 't> {
    pub(super) fn versions(&mut self) {
        let (old, new) = (self.old, self.new);
        for (index, after) in new.versions.iter().enumerate() {
            let budget = self.budget.part(new.versions.len() - index);
            match self.before(after) {
                Some(before) => {
                    self.version(before, after);
                    self.schema(before, after, &budget);
                }
                None => self.version_added(after, &budget),
            }
        }
        for before in old.versions.iter().filter(|version| new.version(version.name).is_none()) {
            self.version_removed(before);
        }
    }

    /// The old version of the same name. If several have it, which servers refuse, they are paired in their order.
    pub(super) fn before(&self, after: &Version<'t>) -> Option<&'a Version<'t>> {
        let same = |version: &&Version<'t>| version.name == after.name;
        let earlier = self.new.versions.iter().take_while(|version| !std::ptr::eq(*version, after)).filter(same).count();
        self.old.versions.iter().filter(same).nth(earlier)
    }

    fn schema(&mut self, before: &Version<'t>, after: &Version<'t>, budget: &Budget) {
        match (&before.schema, &after.schema) {
            (Some(old), Some(new)) => {
                let scales = (Scale::of(before), Scale::of(after));
                let scope = self.scope(after, Subject::Field, None, &scales, budget);
                let sides = ((old, before.schema_key()), (new, after.schema_key()));
                let (served, start) = (before.served && after.served, self.facts.len());
                let is_other = |other: &Version<'_>| other.served && other.name != after.name;
                let shares_objects = (after.storage || after.served) && self.new.versions.iter().any(is_other);
                let resource = ResourceNames { shares_objects, ..self.resource(after) };
                let own = ((old.node(), sides.0.1), (new.node(), sides.1.1));
                let alike = |known: &&Compared<'t>| {
                    (known.served, known.shares_objects) == (served, shares_objects) && known.scales == scales && known.is_repeated_by(own)
                };
                if let Some(known) = self.compared.iter().find(alike) {
                    let moved = (Repeat { from: known.old, to: own.0 }, Repeat { from: known.new, to: own.1 });
                    let facts = self.facts.get(known.facts.clone()).unwrap_or_default().iter();
                    let facts: Vec<Fact> = facts.map(|fact| fact.repeated(after.name, Some(moved.0), moved.1)).collect();
                    self.facts.extend(facts);
                    return;
                }
                if served {
                    let facts = ChangeWalk::new(scope).shown(sides.0, sides.1, resource);
                    self.facts.extend(self.seen_by_clients(facts, before, after));
                } else {
                    let drafts = ChangeWalk::new(scope).drafts(sides.0, sides.1).into_iter().map(unserved).collect::<Vec<_>>();
                    self.facts.extend(match self.options.witnesses {
                        true => super::evidence::attach(drafts, (old, &scales.0), (new, &scales.1), resource, budget),
                        false => drafts.into_iter().map(|draft| draft.fact).collect(),
                    });
                }
                self.compared.push(Compared { old: own.0, new: own.1, served, shares_objects, scales, facts: start..self.facts.len() });
            }
            (None, None) => {}
            (old, new) => {
                // Without a schema everything is accepted and kept, and some schemas require no more than that.
                let silent = old.as_ref().or(new.as_ref()).is_some_and(accepts_everything);
                let effect = match () {
                    () if silent => Effect::Rewritten,
                    () if old.is_none() => Effect::Added,
                    () => Effect::Removed,
                };
                let pruned = new.as_ref().is_some_and(super::undeclared_keys::prunes);
                let evidence = match new {
                    Some(schema) if effect == Effect::Added => self.shown_by_schema(schema, after),
                    _ => Evidence::proved(),
                };
                let fact = self
                    .fact(Subject::Version, Aspect::Schema, effect)
                    .version(after.name)
                    .before(self.old_place(before.schema_key()))
                    .after(self.new_place(after.schema_key()))
                    .evidence(evidence);
                self.facts.push(match effect {
                    Effect::Rewritten => fact.word(Word::Keyword, "schema"),
                    Effect::Added if pruned => fact.mark(Mark::Dropped).affects(&[Affected::Writers, Affected::Stored, Affected::Data]),
                    Effect::Added => fact.affects(&[Affected::Writers, Affected::Stored]),
                    _ => fact.affects(&[Affected::Readers]),
                });
            }
        }
    }

    /// An object that a version refuses or prunes only because it has a schema.
    fn shown_by_schema(&self, schema: &Schema<'_>, version: &Version<'t>) -> Evidence {
        let after = scaled(schema, &Scale::of(version));
        let before = Shape::anything();
        self.shown_at_root(&before, &after, version)
    }

    /// An object that shows how the whole of a version's objects is treated differently.
    pub(super) fn shown_at_root(&self, before: &Shape, after: &Shape, version: &Version<'t>) -> Evidence {
        if !self.options.witnesses {
            return Evidence::proved();
        }
        if is_oversized_shape(after) {
            return Evidence::undecided("a list is too long to be searched");
        }
        let witnesses = self.resource(version).witnesses(before, after, self.budget);
        let root = FieldPath::root();
        let found = witnesses.show_undeclared_key(&root, Cause::Near);
        let found = found.or_else(|| witnesses.show(&root, What::Sent, Cause::Near).found());
        found.map_or_else(|| Evidence::undecided("no object was found that shows it"), Evidence::shown)
    }

    pub(super) fn resource<'s>(&'s self, version: &'s Version<'t>) -> ResourceNames<'s> {
        ResourceNames { group: self.new.group(), version: version.name, kind: self.new.kind(), shares_objects: false }
    }

    fn scope<'s>(
        &'s self,
        version: &'s Version<'t>,
        subject: Subject,
        against: Option<&'s str>,
        scales: &'s (Scale, Scale),
        budget: &'s Budget,
    ) -> FactScope<'s> {
        FactScope {
            crd: self.new.name,
            channel: self.new.channel().or(self.old.channel()),
            version: version.name,
            old_file: self.old.file,
            new_file: self.new.file,
            kubernetes: self.new.kubernetes,
            subject,
            against,
            scales,
            options: self.options,
            budget,
        }
    }

    fn version_added(&mut self, version: &Version<'t>, budget: &Budget) {
        let nearest = self.nearest(version);
        let mut fact = self
            .fact(Subject::Version, Aspect::Presence, Effect::Added)
            .version(version.name)
            .after(self.new_place(version.name_node))
            .word(Word::Served, version.served.to_string());
        if let Some(before) = nearest {
            fact = fact.against(before.name);
        }
        self.facts.push(fact);
        let Some(before) = nearest else { return };
        // While clients can stay on the older version, differences from its current form are left to a conversion; otherwise
        // clients are moved from what they knew.
        let now = self.new.version(before.name);
        let stays = !before.served || now.is_some_and(|version| version.served);
        let moved = |other: &Version<'t>| other.schema.as_ref().zip(before.schema.as_ref()).is_some_and(|(a, b)| !a.node().same(b.node()));
        let beside = now.filter(|now| stays && moved(now));
        let subject = if stays { Subject::NewVersion } else { Subject::Field };
        let from = beside.unwrap_or(before);
        let (Some(old), Some(new)) = (&from.schema, &version.schema) else { return };
        let scales = (Scale::of(from), Scale::of(version));
        let walk = ChangeWalk::new(self.scope(version, subject, Some(before.name), &scales, budget));
        let (old, new) = ((old, from.schema_key()), (new, version.schema_key()));
        // Clients that are moved send the same objects to the new version.
        let mut facts = if stays { walk.run(old, new) } else { walk.shown(old, new, self.resource(version)) };
        facts.retain(|fact| fact.effect != Effect::Rewritten);
        if beside.is_some() {
            // The old bundle has something else there.
            facts.iter_mut().for_each(|fact| fact.before = None);
        }
        self.facts.extend(facts);
    }

    /// The version of the old CRD that clients of a new one come from: the greatest below it, or else the least above.
    fn nearest(&self, version: &Version<'t>) -> Option<&'a Version<'t>> {
        let older = self.old.versions.iter().filter(|old| order(old) < order(version)).max_by_key(|old| order(old));
        older.or_else(|| self.old.versions.iter().min_by_key(|old| order(old)))
    }

    /// Compares a removed version with the one that its clients move to.
    pub(super) fn successor(&mut self, before: &Version<'t>, after: &Version<'t>) {
        let (Some(old), Some(new)) = (&before.schema, &after.schema) else { return };
        let scales = (Scale::of(before), Scale::of(after));
        let walk = ChangeWalk::new(self.scope(after, Subject::NewVersion, Some(before.name), &scales, self.budget));
        let facts = walk.run((old, before.schema_key()), (new, after.schema_key()));
        self.facts.extend(facts);
    }

    fn version_removed(&mut self, version: &Version<'t>) {
        let listed = |list: &[crate::model::StringNode<'t>]| list.iter().any(|stored| stored.value == version.name);
        let stored = version.storage || listed(&self.old.stored_versions) || listed(&self.new.stored_versions);
        // Without a status, only the cluster knows whether objects are left at a version that no client can reach.
        let unknown = !stored && !version.served && self.old.stored_versions.is_empty() && self.new.stored_versions.is_empty();
        let survivor = self.new.spec.entry("versions").map_or(self.new.name_node, |entry| entry.key);
        let mut fact = self
            .fact(Subject::Version, Aspect::Presence, Effect::Removed)
            .version(version.name)
            .before(self.old_place(version.name_node))
            .after(self.new_place(survivor))
            .word(Word::Served, version.served.to_string())
            .word(Word::Stored, if unknown { "unknown".to_owned() } else { stored.to_string() });
        if version.deprecated {
            fact = fact.mark(Mark::WasDeprecated);
        }
        if version.served {
            fact = fact.affects(&[Affected::Writers, Affected::Readers]);
        }
        if stored {
            fact = fact.affects(&[Affected::Stored, Affected::Data]);
        }
        if unknown {
            fact = fact.affects(&[Affected::Stored]);
        }
        self.facts.push(fact);
    }
}

/// The schemas of a version on both sides, each with its key, and the facts about them.
pub(super) struct Compared<'t> {
    old: (Node<'t>, Node<'t>),
    new: (Node<'t>, Node<'t>),
    served: bool,
    shares_objects: bool,
    scales: (Scale, Scale),
    facts: std::ops::Range<usize>,
}

impl<'t> Compared<'t> {
    /// Whether another version has the same schemas, and no rule can distinguish the two versions.
    fn is_repeated_by(&self, (old, new): ((Node<'t>, Node<'t>), (Node<'t>, Node<'t>))) -> bool {
        let named = |schema: Node<'_>| memchr::memmem::find(schema.source().as_bytes(), b".apiVersion").is_some();
        self.old.0.same_text(old.0) && self.new.0.same_text(new.0) && !named(old.0) && !named(new.0)
    }
}

/// Adjusts a fact for an unserved version. A request is validated only by the schema of its own version; a version that wasn't
/// served, or no longer is, prunes and defaults objects stored at it, but refuses nothing that it accepted before.
fn unserved(draft: FactDraft) -> FactDraft {
    let fact = &draft.fact;
    let hurt = [Affected::Data, Affected::Behaviour].iter().any(|&one| fact.affects.contains(one));
    let refuses = [Affected::Writers, Affected::Stored, Affected::Merge].iter().any(|&one| fact.affects.contains(one));
    let stays = match fact.aspect {
        // Fields inside a container are pruned differently; a scalar is kept, whatever its type.
        Aspect::Type | Aspect::IntOrString => fact.is(Mark::Container),
        // A removed default is no longer applied.
        Aspect::Default | Aspect::Structure => true,
        _ => hurt,
    };
    if stays || !refuses { draft } else { draft.harmless().mark(Mark::Unserved).into() }
}

/// The age of a version, not its order in discovery: `v1beta1` is older than `v1`, and `v1` older than `v2alpha1`.
fn order<'t>(version: &Version<'t>) -> (u64, Maturity, u64, &'t str) {
    use crate::model::Priority;
    match version.priority() {
        Priority::Kube { maturity, major, minor } => (major, maturity, minor, version.name),
        Priority::Other(name) => (0, Maturity::Alpha, 0, name),
    }
}

/// The version that clients of a removed one move to: the least above it, or else the storage version.
pub(super) fn successor<'a, 't>(new: &'a Crd<'t>, gone: &Version<'_>) -> Option<&'a Version<'t>> {
    let above = new.versions.iter().filter(|version| version.served && order(version) > order(gone)).min_by_key(|version| order(version));
    above.or_else(|| new.storage_version())
}

/// Whether a root schema accepts and keeps every object.
fn accepts_everything(root: &Schema<'_>) -> bool {
    let silent = [Keyword::Type, Keyword::PreserveUnknownFields, Keyword::Description];
    root.preserves_unknown() && root.words().all(|(word, _)| silent.contains(&word))
}
