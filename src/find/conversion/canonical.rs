//! Canonicalisation: a controller converts each object it receives to the version it was written for, without changing the object
//! in the cluster.

use serde_json::Value;

use super::catalogue::Conversions;
use super::convert::Converter;
use super::graph::{Graph, Leg};
use super::manifest::{Direction, group_version_kind};

/// The result of canonicalising an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Canonical {
    /// The object had an older version; this is its current form.
    Converted(Value),
    /// The object is already in the current form.
    AlreadyCurrent,
    /// The object has a newer or unknown version, or can't be converted for this reason. Ignore it.
    NotSupported(String),
}

/// Converts objects of one kind from older versions to the current one, never back.
///
/// For controllers that follow the guideline "DO Implement Canonicalization": convert each object as it is received, and
/// never write the result back to the cluster.
///
/// ```
/// use crdwise::{Canonical, Canonicaliser, Conversions};
/// use serde_json::json;
///
/// let conversions = Conversions::of_text("widget.yaml", "
/// apiVersion: crdwise.dev/v1alpha1
/// kind: Conversion
/// resource: {group: shop.example.com, kind: Widget}
/// from: {version: v1}
/// to: {version: v2}
/// steps:
///   - rename: {from: spec.seconds, to: spec.timeoutSeconds}
/// ");
/// assert!(conversions.invalid().is_empty());
///
/// let widgets = Canonicaliser::new(&conversions, "shop.example.com", "Widget", "v2");
/// let old = json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "spec": {"seconds": 5}});
/// let new = json!({"apiVersion": "shop.example.com/v2", "kind": "Widget", "spec": {"timeoutSeconds": 5}});
/// assert_eq!(widgets.canonicalise(&old), Canonical::Converted(new.clone()));
/// assert_eq!(widgets.canonicalise(&new), Canonical::AlreadyCurrent);
/// ```
#[derive(Debug)]
pub struct Canonicaliser<'m> {
    group: String,
    kind: String,
    current: String,
    graph: Graph<'m>,
}

impl<'m> Canonicaliser<'m> {
    /// `current` is an API version, a bundle version, or `v1alpha3@1.1.0`.
    pub fn new(conversions: &'m Conversions, group: &str, kind: &str, current: &str) -> Self {
        Canonicaliser { group: group.to_owned(), kind: kind.to_owned(), current: current.to_owned(), graph: conversions.graph(group, kind) }
    }

    /// Converts an object to its current form. Values that steps lose are preserved if the manifests say where.
    pub fn canonicalise(&self, object: &Value) -> Canonical {
        let (group, version, kind) = group_version_kind(object);
        if (group, kind) != (&*self.group, &*self.kind) {
            return Canonical::NotSupported(format!("{kind} in group `{group}` is not {} in group `{}`", self.kind, self.group));
        }
        let goals = self.graph.named(&self.current);
        let starts = self.graph.named(version);
        let legs = match self.graph.route(&starts, &goals) {
            Some(legs) => legs,
            None if version == self.current => Vec::new(),
            None => return Canonical::NotSupported(format!("no manifest converts from {version} to {}", self.current)),
        };
        if legs.iter().any(|leg| leg.direction == Direction::Back) {
            return Canonical::NotSupported(format!("{version} is newer than {}", self.current));
        }
        match along(&legs, object) {
            Ok(converted) if equal_without_preserved(&legs, &converted, object) => Canonical::AlreadyCurrent,
            Ok(converted) => Canonical::Converted(converted),
            Err(reason) => Canonical::NotSupported(reason),
        }
    }
}

/// Converts an object with each manifest of a route in turn.
fn along(legs: &[Leg<'_>], object: &Value) -> Result<Value, String> {
    let mut object = object.clone();
    for leg in legs {
        let converter = Converter::new(leg.manifest, leg.direction).map_err(|error| error.to_string())?;
        converter.convert(&mut object).map_err(|error| error.to_string())?;
    }
    Ok(object)
}

/// Whether two objects are equal, ignoring values that the manifests preserve in them.
fn equal_without_preserved(legs: &[Leg<'_>], a: &Value, b: &Value) -> bool {
    let bare = |object: &Value| legs.iter().fold(object.clone(), |object, leg| leg.manifest.without_preserved(&object));
    a == b || bare(a) == bare(b)
}
