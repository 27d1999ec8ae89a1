//! Finds the effect of a CRD upgrade on existing objects, page by page: which are refused, lose values, or no longer have a
//! version.
//!
//! Values of objects aren't kept unless requested, so that a report can't leak them.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::Value;

use crate::input::shorten_line;
use crate::input::yaml::Node;
use crate::model::{Bundle, Documents};

use super::check_files::{BundleChecker, InputObject, read};
use super::crd_upgrade::{changes, pruned_now};
use super::endpoint::Endpoint;
use super::error::{FieldError, FieldErrorKind};
use super::path::{ObjectPath, ObjectStep};

/// What happens to an object, or to a value in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectHarm {
    /// Its kind or version is gone, or no longer served.
    Gone,
    /// Invalid now, so that even an unrelated update is refused.
    Refused(FieldErrorKind),
    /// Invalid now; ratcheting tolerates it as long as it is unchanged.
    Tolerated(FieldErrorKind),
    /// Kept before, dropped now.
    Pruned,
    /// Gets another value than before.
    Changed,
}

/// One effect of the upgrade on an object.
#[derive(Debug, Clone)]
pub struct Hit {
    pub harm: ObjectHarm,
    pub path: ObjectPath,
    /// The managers of the field, from `managedFields`.
    pub managers: Vec<String>,
    /// The value as JSON, shortened, if requested.
    pub value: Option<String>,
}

/// An object that the upgrade affects.
#[derive(Debug, Clone)]
pub struct HitObject {
    pub crd: String,
    pub version: String,
    pub namespace: Option<String>,
    pub name: String,
    pub hits: Vec<Hit>,
}

/// The result for some documents with objects.
#[derive(Debug, Default)]
pub struct ImpactPage {
    /// Objects of the old CRDs.
    pub checked: usize,
    /// Other objects, by kind.
    pub others: BTreeMap<String, usize>,
    pub hit: Vec<HitObject>,
}

/// Two bundles, ready for many pages of objects.
pub struct ImpactChecker<'b, 't> {
    old: BundleChecker<'b, 't>,
    new: BundleChecker<'b, 't>,
    keeps_values: bool,
}

/// How many characters of a value are kept.
const VALUE_LENGTH: usize = 200;

enum Outcome {
    Other(String),
    Unhurt,
    Hit(HitObject),
}

impl<'b, 't> ImpactChecker<'b, 't> {
    pub fn new(old: &'b Bundle<'t>, new: &'b Bundle<'t>) -> Self {
        ImpactChecker { old: BundleChecker::new(old), new: BundleChecker::new(new), keeps_values: false }
    }

    /// Whether to keep the values that the upgrade affects.
    pub fn keeping_values(self, keeps_values: bool) -> Self {
        ImpactChecker { keeps_values, ..self }
    }

    /// Checks the objects of some documents. Unreadable documents are reported by the caller that parsed them.
    pub fn page(&self, documents: &Documents) -> ImpactPage {
        let (objects, _) = read(documents);
        let outcomes: Vec<Outcome> = objects.par_iter().map(|object| self.outcome(object)).collect();
        let mut page = ImpactPage::default();
        for outcome in outcomes {
            page.checked += usize::from(!matches!(outcome, Outcome::Other(_)));
            match outcome {
                Outcome::Other(what) => *page.others.entry(what).or_default() += 1,
                Outcome::Unhurt => {}
                Outcome::Hit(object) => page.hit.push(object),
            }
        }
        page
    }

    fn outcome(&self, object: &InputObject<'_>) -> Outcome {
        let Some((&index, crd)) = self.old.crds(object).first().and_then(|index| Some((index, self.old.bundle.crds.get(*index)?))) else {
            return Outcome::Other(format!("kind {} of {}", object.kind, object.api_version));
        };
        let hits = self.hits(object, index);
        if hits.is_empty() {
            return Outcome::Unhurt;
        }
        let word = |key: &str| object.word(key).map(str::to_owned);
        let managed = Managed::of(object.node);
        let content = self.keeps_values.then(|| object.node.to_json());
        let hit = |(harm, path): (ObjectHarm, ObjectPath)| {
            let value = content.as_ref().filter(|_| !path.is_root()).and_then(|content| path.get(content));
            Hit { harm, managers: managed.managers(&path), value: value.map(|value| shorten_line(&value.to_string(), VALUE_LENGTH)), path }
        };
        Outcome::Hit(HitObject {
            crd: crd.name.to_owned(),
            version: object.version().to_owned(),
            namespace: word("namespace"),
            name: word("name").or_else(|| word("generateName")).unwrap_or_default(),
            hits: hits.into_iter().map(hit).collect(),
        })
    }

    fn hits(&self, object: &InputObject<'_>, old_crd: usize) -> Vec<(ObjectHarm, ObjectPath)> {
        let gone = || vec![(ObjectHarm::Gone, ObjectPath::root())];
        // The change can't remove what the old CRDs don't have or serve.
        let Ok(before) = self.old.endpoint(old_crd, object) else { return Vec::new() };
        let counterpart = self.old.bundle.crds.get(old_crd).and_then(|crd| self.new.counterpart(crd, object));
        let Some(new_crd) = counterpart else { return gone() };
        let Ok(after) = self.new.endpoint(new_crd, object) else { return gone() };
        compare(before, after, object.node.to_json())
    }
}

/// The effect on an object that both versions know.
fn compare(before: &Endpoint, after: &Endpoint, object: Value) -> Vec<(ObjectHarm, ObjectPath)> {
    let old = before.validate(object.clone());
    let new = after.validate(object.clone());
    let fresh = |error: &&FieldError| error.kind != FieldErrorKind::Unchecked && !old.errors.iter().any(|known| is_same(known, error));
    let errors: Vec<&FieldError> = new.errors.iter().filter(fresh).collect();
    let mut hits = Vec::new();
    if !errors.is_empty() {
        let update = after.update(&new.stored, object);
        for error in errors {
            let refused = update.errors.iter().any(|other| is_same(other, error));
            hits.push((if refused { ObjectHarm::Refused(error.kind) } else { ObjectHarm::Tolerated(error.kind) }, error.path.clone()));
        }
    }
    hits.extend(pruned_now(&old, &new).into_iter().map(|path| (ObjectHarm::Pruned, path)));
    if hits.is_empty() {
        hits.extend(changes(&old, &new).into_iter().map(|path| (ObjectHarm::Changed, path)));
    }
    hits
}

fn is_same(a: &FieldError, b: &FieldError) -> bool {
    a.path == b.path && a.kind == b.kind && a.rule == b.rule
}

/// `metadata.managedFields` of an object.
struct Managed<'t> {
    object: Node<'t>,
}

impl<'t> Managed<'t> {
    fn of(object: Node<'t>) -> Self {
        Managed { object }
    }

    /// The managers of a field, or of its nearest managed parent; sorted.
    fn managers(&self, path: &ObjectPath) -> Vec<String> {
        let entries = self.object.get("metadata").and_then(|metadata| metadata.get("managedFields"));
        let entries = entries.into_iter().flat_map(Node::items);
        let depths: Vec<(usize, String)> = entries
            .filter_map(|entry| {
                let depth = self.depth(entry.get("fieldsV1")?, path);
                Some((depth, entry.get("manager")?.as_str()?.to_owned()))
            })
            .filter(|(depth, _)| *depth > 0)
            .collect();
        let Some(deepest) = depths.iter().map(|(depth, _)| *depth).max() else { return Vec::new() };
        let mut names: Vec<String> = depths.into_iter().filter(|(depth, _)| *depth == deepest).map(|(_, name)| name).collect();
        names.sort();
        names.dedup();
        names
    }

    /// How many steps of a path a field set contains.
    fn depth(&self, fields: Node<'t>, path: &ObjectPath) -> usize {
        let (mut set, mut value, mut depth) = (fields, Some(self.object), 0);
        for step in path.steps() {
            let next = match step {
                ObjectStep::Key(name) | ObjectStep::Entry(name) => {
                    value = value.and_then(|value| value.get(name));
                    set.entries().find(|entry| entry.name().strip_prefix("f:") == Some(name))
                }
                ObjectStep::Index(index) => {
                    value = value.and_then(|value| value.item_at(*index));
                    set.entries().find(|entry| value.is_some_and(|item| is_item(entry.name(), item)))
                }
            };
            let Some(next) = next else { break };
            (set, depth) = (next.value, depth + 1);
        }
        depth
    }
}

/// Whether an element of a field set refers to this item: `k:{"name":"a"}` by its keys, `v:"a"` by its value.
fn is_item(element: &str, item: Node<'_>) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    if let Some(keys) = element.strip_prefix("k:").and_then(parse) {
        let has = |(name, value): (&String, &Value)| item.get(name).is_some_and(|own| own.to_json() == *value);
        return keys.as_object().is_some_and(|keys| keys.iter().all(has));
    }
    element.strip_prefix("v:").and_then(parse).is_some_and(|value| item.to_json() == value)
}
