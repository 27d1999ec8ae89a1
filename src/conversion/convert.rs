//! One object and a manifest come in; the object in its other form goes out.

use serde_json::Value;
use thiserror::Error;

use crate::validate::ObjectPath;

use super::address::place;
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
    pub guidance: String,
}

/// A manifest made ready for many objects, in one direction.
#[derive(Debug, Clone)]
pub struct Converter<'m> {
    manifest: &'m Manifest,
    direction: Direction,
    ready: Vec<Ready>,
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
        Ok(Converter { manifest, direction, ready })
    }

    pub fn manifest(&self) -> &'m Manifest {
        self.manifest
    }

    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Converts in place. On an error the object is left half done: work on a copy where that matters.
    pub fn convert(&self, object: &mut Value) -> Result<Vec<Note>, ConvertError> {
        let forward = self.direction == Direction::Forward;
        let preserve = self.manifest.preserve.as_ref();
        let mut kept = preserve.map(|preserve| Kept::load(preserve, object, forward));
        let mut notes = Vec::new();
        for ready in &self.ready {
            run(ready, object, kept.as_mut(), &mut notes)?;
        }
        if let (Some(preserve), Some(kept)) = (preserve, kept) {
            kept.store(preserve, object, forward);
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

fn run(ready: &Ready, object: &mut Value, mut kept: Option<&mut Kept>, notes: &mut Vec<Note>) -> Result<(), Refusal> {
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
    step.region.visit(object, &mut |container, at| {
        let refusal = |reason| Refusal {
            step: ready.index,
            name: step.name,
            path: place(&at.path, ready.op_inner.first().map_or(&[][..], Vec::as_slice)),
            reason,
        };
        if let (Op::Manual { guidance, .. }, Some(names)) = (&ready.op, inner.first())
            && super::address::get(container, names).is_some_and(|value| !value.is_null())
        {
            notes.push(Note { path: place(&at.path, names), guidance: guidance.clone() });
        }
        let Some(kept) = kept.as_deref_mut() else {
            return ready.op.apply(container, &ready.op_inner, step.conflict).map_err(refusal);
        };
        if kept.restore(&turn, at, container) {
            return Ok(());
        }
        let before = view(container, inner);
        ready.op.apply(container, &ready.op_inner, step.conflict).map_err(refusal)?;
        kept.remember(&turn, at, before, container);
        Ok(())
    })
}
