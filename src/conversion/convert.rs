//! One object and a manifest come in; the object in its other form goes out.

use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::validate::ObjectPath;

use super::address::{Keys, place};
use super::keep::{Kept, Turn};
use super::manifest::{Direction, Manifest, Ready};
use super::step::{Op, Refusal, view};

#[derive(Debug, Clone, PartialEq, Error)]
pub enum ConvertError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("`{manifest}` has no way back: {reason}")]
    NoReverse { manifest: String, reason: String },
    #[error("`{0}` is done by a webhook, not by steps")]
    Webhook(String),
}

/// Something that a person must look at, though the object was converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub path: ObjectPath,
    pub about: About,
}

/// What a note is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Guidance for what only a person can do.
    Manual(String),
    /// A value that was kept for the way back and found no place any more, as JSON.
    Homeless(String),
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = if self.path.steps().is_empty() { String::new() } else { format!(" at `{}`", self.path) };
        match &self.about {
            About::Manual(guidance) => write!(f, "`{}` needs a person: {guidance}", self.path),
            About::Homeless(value) => write!(f, "{value} was kept for the way back and is dropped: what it belonged to{at} has changed"),
        }
    }
}

/// A step that found something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Position of the step in its manifest.
    pub step: usize,
    /// The first of its paths.
    pub path: ObjectPath,
}

/// A manifest made ready for many objects, in one direction.
#[derive(Debug, Clone)]
pub struct Converter<'m> {
    manifest: &'m Manifest,
    direction: Direction,
    ready: Vec<Ready>,
    keys: Arc<Keys>,
}

impl<'m> Converter<'m> {
    pub fn new(manifest: &'m Manifest, direction: Direction) -> Result<Self, ConvertError> {
        if manifest.webhook {
            return Err(ConvertError::Webhook(manifest.name.clone()));
        }
        let ready = manifest.ready(direction).ok_or_else(|| ConvertError::NoReverse {
            manifest: manifest.name.clone(),
            reason: match &manifest.reverse {
                super::manifest::Reverse::None(reason) => reason.clone(),
                _ => "a step has no inverse".to_owned(),
            },
        })?;
        Ok(Converter { manifest, direction, ready, keys: Arc::default() })
    }

    /// Tells list items apart by the keys that schemas declare, when kept values are put back.
    pub(crate) fn with_keys(mut self, keys: &Arc<Keys>) -> Self {
        self.keys = Arc::clone(keys);
        self
    }

    pub fn manifest(&self) -> &'m Manifest {
        self.manifest
    }

    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Converts in place. On an error the object is left half done: work on a copy where that matters.
    pub fn convert(&self, object: &mut Value) -> Result<Vec<Note>, ConvertError> {
        self.run(object, None)
    }

    /// As [`Converter::convert`], and tells which steps did something.
    pub fn convert_and_tell(&self, object: &mut Value, done: &mut Vec<Done>) -> Result<Vec<Note>, ConvertError> {
        self.run(object, Some(done))
    }

    fn run(&self, object: &mut Value, mut done: Option<&mut Vec<Done>>) -> Result<Vec<Note>, ConvertError> {
        let forward = self.direction == Direction::Forward;
        let preserve = self.manifest.preserve.as_ref();
        let mut kept = preserve.map(|preserve| Kept::load(preserve, object, forward));
        let mut notes = Vec::new();
        let keys = kept.as_ref().map(|kept| Keys::clone(&self.keys).recall(kept.labels()));
        for ready in &self.ready {
            run(ready, object, keys.as_ref(), kept.as_mut(), &mut notes, done.as_deref_mut())?;
        }
        if let (Some(preserve), Some(kept)) = (preserve, kept) {
            let homeless = kept.store(preserve, object, forward).into_iter();
            notes.extend(homeless.map(|(path, value)| Note { path, about: About::Homeless(value.to_string()) }));
        }
        let end = self.manifest.end(self.direction);
        if let (Some(version), Some(map)) = (&end.version, object.as_object_mut()) {
            let group = &self.manifest.group;
            let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
            map.insert("apiVersion".to_owned(), Value::String(api_version));
        }
        Ok(notes)
    }

    /// As [`Converter::convert`], with the input untouched.
    pub fn converted(&self, object: &Value) -> Result<Value, ConvertError> {
        let mut copy = object.clone();
        self.convert(&mut copy)?;
        Ok(copy)
    }
}

fn run(
    ready: &Ready,
    object: &mut Value,
    keys: Option<&Keys>,
    mut kept: Option<&mut Kept>,
    notes: &mut Vec<Note>,
    mut done: Option<&mut Vec<Done>>,
) -> Result<(), Refusal> {
    let step = &ready.step;
    let inner = &step.region.inner;
    let turn = Turn {
        op: &ready.op,
        inverse: ready.inverse.as_ref(),
        name: step.name,
        conflict: step.conflict,
        inner,
        inverse_inner: &ready.inverse_inner,
    };
    if !step.preserve || ready.inverse.is_none() {
        kept = None;
    }
    let keys = keys.filter(|_| kept.is_some());
    step.region.visit(object, keys, &mut |container, at| {
        let refusal = |reason| Refusal {
            step: ready.index,
            name: step.name,
            path: place(&at.path, ready.op_inner.first().map_or(&[][..], Vec::as_slice)),
            reason,
        };
        if let (Op::Manual { guidance, .. }, Some(names)) = (&ready.op, inner.first())
            && super::address::get(container, names).is_some_and(|value| !value.is_null())
        {
            notes.push(Note { path: place(&at.path, names), about: About::Manual(guidance.clone()) });
        }
        let before = (kept.is_some() || done.is_some()).then(|| view(container, inner));
        let restored = kept.as_deref_mut().is_some_and(|kept| kept.restore(&turn, at, container));
        if !restored {
            ready.op.apply(container, &ready.op_inner, step.conflict).map_err(refusal)?;
        }
        let Some(before) = before else { return Ok(()) };
        if let Some(done) = done.as_deref_mut()
            && view(container, inner) != before
        {
            done.push(Done { step: ready.index, path: place(&at.path, ready.op_inner.first().map_or(&[][..], Vec::as_slice)) });
        }
        if let Some(kept) = kept.as_deref_mut().filter(|_| !restored) {
            kept.remember(&turn, at, before, container);
        }
        Ok(())
    })
}
