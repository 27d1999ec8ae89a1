//! What a controller does with objects of older versions: it adapts what it received to the version it was written for, and
//! leaves the object in the cluster alone.

use serde_json::Value;

use super::catalogue::Conversions;
use super::convert::Converter;
use super::graph::{Graph, Leg};
use super::manifest::Direction;

/// An object as the current version has it.
#[derive(Debug, Clone, PartialEq)]
pub enum Canonical {
    /// It was older; this is it in the current form.
    Converted(Value),
    /// It is in the current form.
    AlreadyCurrent,
    /// It is of no version that the manifests lead from: newer, or unknown. Ignore it.
    NotSupported(String),
}

/// Brings objects of one kind from older versions to the current one, never the other way.
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

    pub fn canonicalise(&self, object: &Value) -> Canonical {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        if (group, kind) != (&*self.group, &*self.kind) {
            return Canonical::NotSupported(format!("{api_version} {kind} is not {} {}", self.group, self.kind));
        }
        let goals = self.graph.named(&self.current);
        let starts = self.graph.named(version);
        let legs = match self.graph.route(&starts, &goals) {
            Some(legs) => legs,
            None if version == self.current => Vec::new(),
            None => return Canonical::NotSupported(format!("no manifest leads from {version} to {}", self.current)),
        };
        if legs.iter().any(|leg| leg.direction == Direction::Back) {
            return Canonical::NotSupported(format!("{version} is newer than {}", self.current));
        }
        match along(&legs, object) {
            Ok(converted) if same_but_kept(&legs, &converted, object) => Canonical::AlreadyCurrent,
            Ok(converted) => Canonical::Converted(converted),
            Err(reason) => Canonical::NotSupported(reason),
        }
    }
}

/// An object taken along a way.
pub(crate) fn along(legs: &[Leg<'_>], object: &Value) -> Result<Value, String> {
    let mut object = object.clone();
    for leg in legs {
        let converter = Converter::new(leg.manifest, leg.direction).map_err(|error| error.to_string())?;
        converter.convert(&mut object).map_err(|error| error.to_string())?;
    }
    Ok(object)
}

/// Equal but for what manifests keep beside it.
fn same_but_kept(legs: &[Leg<'_>], a: &Value, b: &Value) -> bool {
    let bare = |object: &Value| {
        let mut object = object.clone();
        for preserve in legs.iter().filter_map(|leg| leg.manifest.preserve.as_ref()) {
            preserve.clear(&mut object);
        }
        object
    };
    a == b || bare(a) == bare(b)
}
