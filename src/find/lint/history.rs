//! Finds facts that need more than two releases, from the changes and the bundles of earlier releases.
//!
//! A field or version may be removed once enough releases have deprecated it, and a removed name must not come back with another
//! meaning.

use serde_json::Value;

use crate::find::review_context::ReviewContext;
use crate::model::fact::{Aspect, Effect, Evidence, Fact, Subject, Word};
use crate::model::schema::is_deprecated;
use crate::model::schema::{Keyword, Schema};
use crate::model::{Bundle, Crd, FieldPath, Maturity, Version};

/// How many releases must have a deprecation before the field or version may be removed.
pub const RELEASES: usize = 3;

/// An earlier release.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    pub name: &'a str,
    pub bundle: &'a Bundle<'a>,
}

/// Finds facts about the changes from `old` to `new` that earlier releases, oldest first, reveal. Empty without releases.
pub fn history(changes: &[Fact], releases: &[Release<'_>], old: &Bundle<'_>, new: &Bundle<'_>, context: &ReviewContext<'_>) -> Vec<Fact> {
    if releases.is_empty() {
        return Vec::new();
    }
    let past = Past { releases, old, new, context };
    changes
        .iter()
        .flat_map(|change| match (change.subject, change.aspect, change.effect) {
            (Subject::Field, Aspect::Presence, Effect::Removed) => vec![past.field_removed(change)],
            (Subject::Field, Aspect::Presence, Effect::Renamed | Effect::Moved) => {
                vec![past.field_removed(change), past.field_added(change, change.to.as_ref())]
            }
            (Subject::Field, Aspect::Presence, Effect::Added) => vec![past.field_added(change, Some(&change.path))],
            (Subject::Version, Aspect::Presence, Effect::Removed) | (Subject::Version, Aspect::Served, Effect::Removed) => {
                vec![past.version_removed(change)]
            }
            (Subject::Version, Aspect::Presence, Effect::Added) => vec![past.version_added(change)],
            _ => Vec::new(),
        })
        .flatten()
        .collect()
}

struct Past<'p, 'o> {
    releases: &'p [Release<'p>],
    old: &'p Bundle<'p>,
    new: &'p Bundle<'p>,
    context: &'p ReviewContext<'o>,
}

impl Past<'_, '_> {
    /// How many consecutive releases, up to the old one, deprecated it.
    fn releases_deprecated(&self, change: &Fact, deprecated: impl Fn(&Crd<'_>) -> bool) -> usize {
        let earlier = self.releases.iter().rev().map(|release| release.bundle);
        let in_row = std::iter::once(self.old).chain(earlier).take_while(|bundle| same(bundle, change).is_some_and(&deprecated));
        in_row.count()
    }

    fn field_removed(&self, change: &Fact) -> Option<Fact> {
        let name = change.version.as_deref()?;
        let crd = same(self.old, change)?;
        let version = crd.version(name)?;
        let maturity = self.context.field_maturity(crd, version, &change.path).flatten().unwrap_or_else(|| version.maturity());
        let count = self.releases_deprecated(change, |crd| crd.version(name).is_some_and(|version| says_deprecated(version, &change.path)));
        if maturity == Maturity::Alpha || count >= RELEASES {
            return None;
        }
        let fact = note(change, Subject::Field, Aspect::Deprecation, Effect::Early).version(name).path(&change.path);
        Some(
            fact.word(Word::What, format!("`{}`", change.path))
                .word(Word::Count, count.to_string())
                .word(Word::Needed, RELEASES.to_string()),
        )
    }

    fn version_removed(&self, change: &Fact) -> Option<Fact> {
        let name = change.version.as_deref()?;
        let version = same(self.old, change)?.version(name)?;
        let count = self.releases_deprecated(change, |crd| crd.version(name).is_some_and(|version| version.deprecated));
        if version.maturity() == Maturity::Alpha || count >= RELEASES || !version.served {
            return None;
        }
        let fact = note(change, Subject::Version, Aspect::Deprecation, Effect::Early).version(name);
        Some(fact.word(Word::What, format!("version {name}")).word(Word::Count, count.to_string()).word(Word::Needed, RELEASES.to_string()))
    }

    /// Reports a new field whose name was in an earlier release but not in the old one.
    fn field_added(&self, change: &Fact, path: Option<&FieldPath>) -> Option<Fact> {
        let (name, path) = (change.version.as_deref()?, path?);
        let schema = |bundle: &Bundle<'_>| same(bundle, change)?.version(name)?.schema.as_ref()?.at(path).map(|schema| plain(&schema));
        let now = schema(self.new)?;
        let (release, before) = self.releases.iter().rev().find_map(|release| Some((release.name, schema(release.bundle)?)))?;
        let (how, evidence) = difference(&before, &now)?;
        let fact = note(change, Subject::Field, Aspect::Name, Effect::Reused).version(name).path(path).evidence(evidence);
        Some(fact.word(Word::What, format!("`{path}`")).word(Word::Release, release).word(Word::How, how))
    }

    fn version_added(&self, change: &Fact) -> Option<Fact> {
        let name = change.version.as_deref()?;
        let schema = |bundle: &Bundle<'_>| same(bundle, change)?.version(name)?.schema.as_ref().map(plain);
        let now = schema(self.new)?;
        let (release, before) = self.releases.iter().rev().find_map(|release| Some((release.name, schema(release.bundle)?)))?;
        let (how, evidence) = difference(&before, &now)?;
        let fact = note(change, Subject::Version, Aspect::Name, Effect::Reused).version(name).evidence(evidence);
        Some(fact.word(Word::What, format!("version {name}")).word(Word::Release, release).word(Word::How, how))
    }
}

fn note(change: &Fact, subject: Subject, aspect: Aspect, effect: Effect) -> Fact {
    let mut fact = Fact::new(subject, aspect, effect, &change.crd);
    fact.channel.clone_from(&change.channel);
    fact.before = change.before;
    fact.after = change.after;
    fact
}

/// The CRD of a change in another bundle.
fn same<'b, 't>(bundle: &'b Bundle<'t>, change: &Fact) -> Option<&'b Crd<'t>> {
    bundle.find(&change.crd, change.channel.as_deref())
}

/// Whether the field, one of its parents or the whole version is marked as deprecated.
fn says_deprecated(version: &Version<'_>, path: &FieldPath) -> bool {
    let Some(schema) = &version.schema else { return false };
    let mut around = Some(path.clone());
    let mut declared = false;
    while let Some(path) = around {
        if let Some(node) = schema.at(&path) {
            declared = true;
            if node.text(Keyword::Description).is_some_and(is_deprecated) {
                return true;
            }
        }
        around = path.parent();
    }
    declared && version.deprecated
}

/// A schema as plain data.
fn plain(schema: &Schema<'_>) -> Value {
    schema.node().to_json()
}

/// How two schemas with the same name differ, if they do.
fn difference(before: &Value, now: &Value) -> Option<(String, Evidence)> {
    if before == now {
        return None;
    }
    let ty = |value: &Value| value.get("type").and_then(Value::as_str).unwrap_or("any type").to_owned();
    if ty(before) != ty(now) {
        return Some((format!("its type was {} and is now {}", ty(before), ty(now)), Evidence::proved()));
    }
    let (mut before, mut now) = (before.clone(), now.clone());
    strip(&mut before);
    strip(&mut now);
    if before != now {
        return Some(("its schema is different".to_owned(), Evidence::proved()));
    }
    Some(("its description is different".to_owned(), Evidence::undecided("only the description differs")))
}

/// Removes documentation keywords from a schema, but not properties of the same name.
fn strip(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for word in ["description", "title", "example", "externalDocs"] {
        map.remove(word);
    }
    for (word, value) in map.iter_mut() {
        match (&**word, value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(strip),
            ("allOf" | "anyOf" | "oneOf", Value::Array(clauses)) => clauses.iter_mut().for_each(strip),
            ("items" | "additionalProperties" | "not", value) => strip(value),
            _ => {}
        }
    }
}
