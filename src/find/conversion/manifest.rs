//! A conversion manifest: how objects of one kind are converted from one version to another and back.

use std::sync::{Arc, OnceLock};

use semver::Version;
use serde_json::Value;

use crate::input::yaml::Span;
use crate::model::{FieldPath, FileId, Place, semantic_version};

use super::directed_step::DirectedStep;
use super::preserve::Preserve;
use super::step::Step;

pub const API_VERSION: &str = "crdwise.dev/v1alpha1";
pub const KIND: &str = "Conversion";
/// The JSON Schema of a manifest.
pub const SCHEMA: &str = include_str!("manifest.schema.json");

/// A version of the bundle; a later one is greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BundleVersion {
    Released(Version),
    /// The upcoming release. `conversions release` replaces it with a version.
    Next,
}

impl BundleVersion {
    /// The name that manifests use for a release without a version yet.
    pub const NEXT: &str = "next";

    pub fn parse(text: &str) -> Option<BundleVersion> {
        if text == BundleVersion::NEXT { Some(BundleVersion::Next) } else { semantic_version::parse(text).map(BundleVersion::Released) }
    }
}

impl std::fmt::Display for BundleVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BundleVersion::Released(version) => version.fmt(f),
            BundleVersion::Next => f.write_str(BundleVersion::NEXT),
        }
    }
}

/// The version that a manifest converts from or to.
///
/// As in the versioning guidelines, an `apiVersion` alone doesn't identify it: a bundle version and a channel may be part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManifestEndpoint {
    /// The API version, such as `v1alpha2`.
    pub version: Option<String>,
    /// The version of the bundle.
    pub bundle: Option<BundleVersion>,
    /// `standard` or `experimental`.
    pub channel: Option<String>,
}

impl ManifestEndpoint {
    /// The endpoint in the syntax of `--from` and `--to`: `v1@1.1.0`, or whichever part is known.
    pub fn argument(&self) -> String {
        let bundle = self.bundle.as_ref().map(ToString::to_string);
        let parts: Vec<&str> = [self.version.as_deref(), bundle.as_deref()].into_iter().flatten().collect();
        parts.join("@")
    }
}

impl std::fmt::Display for ManifestEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bundle = self.bundle.as_ref().map(ToString::to_string);
        let parts: Vec<&str> = [self.version.as_deref(), bundle.as_deref(), self.channel.as_deref()].into_iter().flatten().collect();
        f.write_str(&parts.join(" "))
    }
}

/// How objects are converted back.
#[derive(Debug, Clone)]
pub enum Reverse {
    /// The steps from last to first, each inverted.
    Auto,
    /// These steps, listed in the manifest.
    Steps(Vec<Step>),
    /// Not at all, for this reason.
    None(String),
}

/// An object before and after conversion.
#[derive(Debug, Clone)]
pub struct Example {
    pub old: Value,
    pub new: Value,
    pub span: Span,
}

/// A field that the manifest mentions outside its steps.
#[derive(Debug, Clone)]
pub struct FieldNote {
    pub path: FieldPath,
    pub note: String,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Manifest {
    pub name: String,
    pub file: FileId,
    /// The manifest's name, or its beginning if it has none.
    pub span: Span,
    pub group: String,
    pub kind: String,
    pub from: ManifestEndpoint,
    pub to: ManifestEndpoint,
    pub steps: Vec<Step>,
    /// How many steps were left out before these, because the old side already has them.
    pub earlier_steps: usize,
    pub reverse: Reverse,
    pub reverse_span: Span,
    pub preserve: Option<Preserve>,
    pub preserve_span: Span,
    pub examples: Vec<Example>,
    /// Names of removed fields that must not be used again.
    pub tombstones: Vec<FieldNote>,
    /// Fields whose meaning changed although their schema didn't.
    pub meaning_changed: Vec<FieldNote>,
    /// A conversion webhook does the conversion, so nothing here can be checked.
    pub webhook: bool,
    /// The steps of each direction, prepared once for all objects.
    pub(crate) directed_steps: DirectedSteps,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct DirectedSteps([OnceLock<Option<Arc<[DirectedStep]>>>; 2]);

/// The direction in which a manifest is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    Forward,
    Back,
}

impl Direction {
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Forward => Direction::Back,
            Direction::Back => Direction::Forward,
        }
    }
}

impl Manifest {
    pub fn place(&self, span: Span) -> Place {
        Place { file: self.file, span }
    }

    /// The version that a direction converts to.
    pub fn target(&self, direction: Direction) -> &ManifestEndpoint {
        match direction {
            Direction::Forward => &self.to,
            Direction::Back => &self.from,
        }
    }

    /// Whether the API version stays the same, so that an object doesn't show which form it is in.
    pub fn in_place(&self) -> bool {
        self.from.version == self.to.version
    }

    /// Whether the release that the manifest converts to has no version yet.
    pub fn is_pending(&self) -> bool {
        self.to.bundle == Some(BundleVersion::Next)
    }

    /// Leaves out the steps that an earlier version of the manifest already had, if this one only adds steps after them. Examples
    /// cover all steps, so they are dropped.
    pub(crate) fn leave_out(&mut self, earlier: &Manifest) {
        let count = earlier.steps.len();
        let grew = self.steps.iter().zip(&earlier.steps).filter(|(now, before)| now.is_like(before)).count() == count;
        if grew && !matches!(self.reverse, Reverse::Steps(_)) && (&self.from, &self.to) == (&earlier.from, &earlier.to) {
            self.steps.drain(..count);
            self.earlier_steps = count;
            self.examples.clear();
        }
    }

    /// Whether an earlier version of the manifest already had the same steps.
    pub(crate) fn has_steps_of(&self, earlier: &Manifest) -> bool {
        let own = earlier.steps.iter().skip(self.earlier_steps);
        let same = (&self.name, &self.from, &self.to, self.webhook) == (&earlier.name, &earlier.from, &earlier.to, earlier.webhook);
        same && own.len() == self.steps.len() && self.steps.iter().zip(own).all(|(now, before)| now.is_like(before))
    }

    /// Whether every step has an inverse.
    pub fn is_reversible(&self) -> bool {
        match &self.reverse {
            Reverse::Auto => self.steps.iter().all(|step| step.op.inverse().is_some()),
            Reverse::Steps(_) => true,
            Reverse::None(_) => false,
        }
    }

    /// The steps of one direction, in order; `None` if the manifest doesn't convert in this direction.
    pub(crate) fn directed_steps(&self, direction: Direction) -> Option<Arc<[DirectedStep]>> {
        let [forward, back] = &self.directed_steps.0;
        let known = if direction == Direction::Forward { forward } else { back };
        known.get_or_init(|| self.prepare(direction).map(Into::into)).clone()
    }

    fn prepare(&self, direction: Direction) -> Option<Vec<DirectedStep>> {
        if self.webhook {
            return None;
        }
        let own_reverse = matches!(self.reverse, Reverse::Steps(_));
        let listed = |steps: &[Step], reversed: bool| {
            steps.iter().enumerate().map(|(index, step)| DirectedStep::listed(index, step, reversed, own_reverse)).collect()
        };
        match (direction, &self.reverse) {
            (Direction::Forward, reverse) => Some(listed(&self.steps, matches!(reverse, Reverse::Auto))),
            (Direction::Back, Reverse::None(_)) => None,
            (Direction::Back, Reverse::Steps(steps)) => Some(listed(steps, false)),
            (Direction::Back, Reverse::Auto) => {
                self.steps.iter().enumerate().rev().map(|(index, step)| DirectedStep::inverted(index, step)).collect()
            }
        }
    }

    /// Returns the object without the values that the manifest preserves in it.
    pub(crate) fn without_preserved(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Some(preserve) = &self.preserve {
            preserve.clear(&mut object);
        }
        object
    }
}

/// `shop.example.com/v1`, or `v1` for the core group.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// The group, version and kind of an object; empty where missing.
pub(crate) fn group_version_kind(object: &Value) -> (&str, &str, &str) {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = split_api_version(text("apiVersion"));
    (group, version, text("kind"))
}

/// Group and version of an `apiVersion`.
pub(crate) fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.rsplit_once('/').unwrap_or(("", api_version))
}
