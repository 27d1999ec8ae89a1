//! Converts one object with one manifest.

use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::server::object::ObjectPath;

use super::address::{ListKeys, get, place};
use super::directed_step::DirectedStep;
use super::manifest::{Direction, Manifest, Reverse, api_version};
use super::preserve::PreservedValues;
use super::step::{StepRefusal, shown, view};

#[derive(Debug, Clone, PartialEq, Error)]
pub enum ConvertError {
    #[error(transparent)]
    Refused(#[from] StepRefusal),
    #[error("`{manifest}` can't convert back: {reason}")]
    NoReverse { manifest: String, reason: String },
    #[error("`{0}` relies on a webhook for the conversion")]
    Webhook(String),
}

/// Something a person must check, although the object was converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionNote {
    pub path: ObjectPath,
    pub about: About,
}

/// What a note is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Guidance for a manual step.
    Manual(String),
    /// A preserved value that could not be restored, as JSON.
    NotRestored(String),
}

impl std::fmt::Display for ConversionNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.about {
            About::Manual(guidance) => write!(f, "`{}` needs a manual step: {guidance}", self.path),
            About::NotRestored(value) if self.path.steps().is_empty() => {
                write!(f, "the preserved value {value} can't be restored and is dropped: the object was changed in the meantime")
            }
            About::NotRestored(value) => {
                write!(f, "the preserved value {value} can't be restored and is dropped: `{}` was changed in the meantime", self.path)
            }
        }
    }
}

/// A step that changed the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedStep {
    /// Position of the step in its manifest.
    pub step: usize,
    /// The first of the step's paths.
    pub path: ObjectPath,
}

/// A value that isn't restored when converting back.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// Position of the step in its direction.
    pub position: usize,
    pub path: ObjectPath,
    pub value: Value,
    /// The value found there after converting back.
    pub restored: Option<Value>,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, value) = (&self.path, shown(&self.value));
        match &self.restored {
            Some(restored) => write!(f, "`{path}` is changed by a round trip: {value} becomes {}", shown(restored)),
            None => write!(f, "`{path}` is lost: converting back doesn't restore {value}"),
        }
    }
}

/// What the conversion of one object changed and lost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversionLog {
    pub applied: Vec<AppliedStep>,
    pub lost: Vec<Loss>,
}

/// A manifest prepared to convert many objects in one direction.
#[derive(Debug, Clone)]
pub struct Converter<'m> {
    manifest: &'m Manifest,
    direction: Direction,
    steps: Arc<[DirectedStep]>,
    keys: Arc<ListKeys>,
}

impl<'m> Converter<'m> {
    pub fn new(manifest: &'m Manifest, direction: Direction) -> Result<Self, ConvertError> {
        if manifest.webhook {
            return Err(ConvertError::Webhook(manifest.name.clone()));
        }
        let steps = manifest.directed_steps(direction).ok_or_else(|| ConvertError::NoReverse {
            manifest: manifest.name.clone(),
            reason: match &manifest.reverse {
                Reverse::None(reason) => reason.clone(),
                _ => "a step has no inverse".to_owned(),
            },
        })?;
        Ok(Converter { manifest, direction, steps, keys: Arc::default() })
    }

    /// Identifies list items by the keys that schemas declare, to restore preserved values.
    pub(crate) fn with_keys(mut self, keys: &Arc<ListKeys>) -> Self {
        self.keys = Arc::clone(keys);
        self
    }

    /// Converts in place. After an error the object is half converted, so work on a copy if that matters.
    pub fn convert(&self, object: &mut Value) -> Result<Vec<ConversionNote>, ConvertError> {
        self.run(object, None)
    }

    /// Like [`Converter::convert`], and also records which steps changed something and which values are lost.
    pub fn convert_with_log(&self, object: &mut Value, log: &mut ConversionLog) -> Result<Vec<ConversionNote>, ConvertError> {
        let before = matches!(self.manifest.reverse, Reverse::Steps(_)).then(|| object.clone());
        let notes = self.run(object, Some(log))?;
        // Separate reverse steps have no per-step inverse, so try the whole round trip.
        if let Some(before) = before
            && let Some(loss) = self.round_trip_loss(&before, object)
        {
            log.lost.push(loss);
        }
        Ok(notes)
    }

    /// Returns the first value that converting back doesn't restore.
    fn round_trip_loss(&self, before: &Value, after: &Value) -> Option<Loss> {
        let reverse = Converter::new(self.manifest, self.direction.opposite()).ok()?.with_keys(&self.keys);
        let restored = reverse.converted(after).ok()?;
        let (before, restored) = (self.manifest.without_preserved(before), self.manifest.without_preserved(&restored));
        let (path, value, restored) = lost_value(&before, &restored, ObjectPath::root())?;
        Some(Loss { position: 0, path, value, restored })
    }

    fn run(&self, object: &mut Value, mut log: Option<&mut ConversionLog>) -> Result<Vec<ConversionNote>, ConvertError> {
        let preserve = self.manifest.preserve.as_ref();
        let mut preserved = preserve.map(|preserve| PreservedValues::load(preserve, object, self.direction));
        let mut notes = Vec::new();
        let keys = preserved.as_ref().map(|preserved| ListKeys::clone(&self.keys).add_labels(preserved.labels()));
        for (position, step) in self.steps.iter().enumerate() {
            run_step(step, position, object, keys.as_ref(), preserved.as_mut(), &mut notes, log.as_deref_mut())?;
        }
        if let (Some(preserve), Some(preserved)) = (preserve, preserved) {
            let not_restored = preserved.store(preserve, object, self.direction).into_iter();
            notes.extend(not_restored.map(|(path, value)| ConversionNote { path, about: About::NotRestored(value.to_string()) }));
        }
        let target = self.manifest.target(self.direction);
        if let (Some(version), Some(map)) = (&target.version, object.as_object_mut()) {
            map.insert("apiVersion".to_owned(), Value::String(api_version(&self.manifest.group, version)));
        }
        Ok(notes)
    }

    /// Like [`Converter::convert`], but on a copy.
    pub fn converted(&self, object: &Value) -> Result<Value, ConvertError> {
        let mut copy = object.clone();
        self.convert(&mut copy)?;
        Ok(copy)
    }
}

/// Returns the first value of `before` that differs or is missing in `after`.
fn lost_value(before: &Value, after: &Value, at: ObjectPath) -> Option<(ObjectPath, Value, Option<Value>)> {
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => a.iter().find_map(|(key, value)| match b.get(key) {
            Some(other) => lost_value(value, other, at.clone().key(key)),
            None => Some((at.clone().key(key), value.clone(), None)),
        }),
        _ if super::step::same(before, after) => None,
        _ => Some((at, before.clone(), Some(after.clone()))),
    }
}

fn run_step(
    step: &DirectedStep,
    position: usize,
    object: &mut Value,
    keys: Option<&ListKeys>,
    preserved: Option<&mut PreservedValues>,
    notes: &mut Vec<ConversionNote>,
    mut log: Option<&mut ConversionLog>,
) -> Result<(), StepRefusal> {
    let inner = step.inner();
    let mut preserved = preserved.filter(|_| step.step.preserve && step.reversed);
    let keys = keys.filter(|_| preserved.is_some());
    step.step.containers.visit(object, keys, &mut |container, at| {
        let first_path = || place(&at.path, step.op_inner.first().map_or(&[][..], Vec::as_slice));
        let refusal = |reason| StepRefusal { step: step.index, name: step.step.name, path: first_path(), reason };
        if let (Some(manual), Some(names)) = (step.op.manual(), inner.first())
            && get(container, names).is_some_and(|value| !value.is_null())
        {
            notes.push(ConversionNote { path: place(&at.path, names), about: About::Manual(manual.guidance.clone()) });
        }
        let before = (preserved.is_some() || log.is_some()).then(|| view(container, inner));
        let restored = preserved.as_deref_mut().is_some_and(|preserved| preserved.restore(step, at, container));
        if !restored {
            step.op.apply(container, &step.op_inner, step.step.conflict).map_err(refusal)?;
        }
        let Some(before) = before else { return Ok(()) };
        if let Some(log) = log.as_deref_mut()
            && inner.iter().zip(&before).any(|(names, was)| get(container, names) != was.as_ref())
        {
            log.applied.push(AppliedStep { step: step.index, path: first_path() });
            // Preserved values are restored when converting back, so they aren't lost.
            if preserved.is_none()
                && !step.only_moves(&before)
                && let Some((index, restored)) = step.lost_value(&before, container)
                && let (Some(names), Some(Some(value))) = (inner.get(index), before.get(index))
            {
                log.lost.push(Loss { position, path: place(&at.path, names), value: value.clone(), restored });
            }
        }
        if let Some(preserved) = preserved.as_deref_mut().filter(|_| !restored) {
            preserved.remember(step, at, before, container);
        }
        Ok(())
    })
}
