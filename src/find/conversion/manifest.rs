//! A conversion manifest: how objects of one kind get from one version to another and back.

use std::sync::{Arc, OnceLock};

use semver::Version;
use serde_json::Value;

use crate::input::yaml::Span;
use crate::model::{FieldPath, FileId, Place};

use super::address::Names;
use super::keep::Preserve;
use super::step::{Op, Step, inner_paths};

pub const API_VERSION: &str = "crdwise.dev/v1alpha1";
pub const KIND: &str = "Conversion";
/// The JSON Schema of a manifest.
pub const SCHEMA: &str = include_str!("manifest.schema.json");

/// One end of a conversion: a "version" in the sense of the guidelines, which an `apiVersion` alone doesn't name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The API version, `v1alpha2`.
    pub version: Option<String>,
    /// The version of the bundle.
    pub bundle: Option<Version>,
    /// `standard` or `experimental`.
    pub channel: Option<String>,
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bundle = self.bundle.as_ref().map(ToString::to_string);
        let parts: Vec<&str> = [self.version.as_deref(), bundle.as_deref(), self.channel.as_deref()].into_iter().flatten().collect();
        f.write_str(&parts.join(" "))
    }
}

/// How objects get back.
#[derive(Debug, Clone)]
pub enum Reverse {
    /// The steps from last to first, each inverted.
    Auto,
    /// Steps of their own.
    Steps(Vec<Step>),
    /// Not at all, for this reason.
    None(String),
}

/// An object before and after.
#[derive(Debug, Clone)]
pub struct Example {
    pub old: Value,
    pub new: Value,
    pub span: Span,
}

/// A path that the manifest speaks of outside of its steps.
#[derive(Debug, Clone)]
pub struct Mention {
    pub path: FieldPath,
    pub note: String,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Manifest {
    pub name: String,
    pub file: FileId,
    /// Where the manifest is named, or begins.
    pub span: Span,
    pub group: String,
    pub kind: String,
    pub from: Endpoint,
    pub to: Endpoint,
    pub steps: Vec<Step>,
    pub reverse: Reverse,
    pub reverse_span: Span,
    pub preserve: Option<Preserve>,
    pub preserve_span: Span,
    pub examples: Vec<Example>,
    /// Names that must not be used again.
    pub tombstones: Vec<Mention>,
    /// Fields whose meaning changed while their schema didn't tell.
    pub meaning_changed: Vec<Mention>,
    /// Done by a conversion webhook; nothing here can be checked.
    pub webhook: bool,
    /// The steps of either direction, once they were asked for: ten thousand objects take the same ones.
    pub(crate) prepared: Prepared,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Prepared([OnceLock<Option<Arc<[Ready]>>>; 2]);

/// Which way a manifest is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    Forward,
    Back,
}

impl Direction {
    pub fn turned(self) -> Direction {
        match self {
            Direction::Forward => Direction::Back,
            Direction::Back => Direction::Forward,
        }
    }
}

/// A step as it is done in one direction.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// Position in the manifest's own list.
    pub index: usize,
    pub step: Step,
    pub op: Op,
    pub inverse: Option<Op>,
    /// What would bring back the step alone, even where there is no way back; `None` where the way back has steps of its own.
    pub undo: Option<Op>,
    pub op_inner: Vec<Names>,
    pub inverse_inner: Vec<Names>,
}

impl Manifest {
    pub fn place(&self, span: Span) -> Place {
        Place { file: self.file, span }
    }

    pub fn end(&self, direction: Direction) -> &Endpoint {
        match direction {
            Direction::Forward => &self.to,
            Direction::Back => &self.from,
        }
    }

    /// Whether the API version stays the same, so that an object doesn't tell which form it is in.
    pub fn in_place(&self) -> bool {
        self.from.version == self.to.version
    }

    /// Whether every step has an inverse.
    pub fn is_reversible(&self) -> bool {
        match &self.reverse {
            Reverse::Auto => self.steps.iter().all(|step| step.op.inverse().is_some()),
            Reverse::Steps(_) => true,
            Reverse::None(_) => false,
        }
    }

    /// The steps in the order and form of one direction; `None` if there is no way in this direction.
    pub(crate) fn ready(&self, direction: Direction) -> Option<Arc<[Ready]>> {
        let [forward, back] = &self.prepared.0;
        let known = if direction == Direction::Forward { forward } else { back };
        known.get_or_init(|| self.prepare(direction).map(Into::into)).clone()
    }

    fn prepare(&self, direction: Direction) -> Option<Vec<Ready>> {
        if self.webhook {
            return None;
        }
        let auto = matches!(self.reverse, Reverse::Auto);
        let own_way_back = matches!(self.reverse, Reverse::Steps(_));
        let forward = |index: usize, step: &Step, paired: bool| {
            let inverse = step.op.inverse();
            Ready {
                index,
                op: step.op.clone(),
                op_inner: step.region.inner.clone(),
                inverse_inner: inverse.as_ref().map(inner_paths).unwrap_or_default(),
                undo: inverse.clone().filter(|_| !own_way_back),
                inverse: inverse.filter(|_| paired),
                step: step.clone(),
            }
        };
        match (direction, &self.reverse) {
            (Direction::Forward, _) => Some(self.steps.iter().enumerate().map(|(index, step)| forward(index, step, auto)).collect()),
            (Direction::Back, Reverse::None(_)) => None,
            (Direction::Back, Reverse::Steps(steps)) => {
                Some(steps.iter().enumerate().map(|(index, step)| forward(index, step, false)).collect())
            }
            (Direction::Back, Reverse::Auto) => {
                let back = |(index, step): (usize, &Step)| {
                    let op = step.op.inverse()?;
                    Some(Ready {
                        index,
                        op_inner: inner_paths(&op),
                        inverse_inner: step.region.inner.clone(),
                        op,
                        inverse: Some(step.op.clone()),
                        undo: Some(step.op.clone()),
                        step: step.clone(),
                    })
                };
                self.steps.iter().enumerate().rev().map(back).collect()
            }
        }
    }
}
