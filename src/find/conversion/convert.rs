//! One object and a manifest come in; the object in its other form goes out.

use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::server::object::ObjectPath;

use super::address::{Keys, place};
use super::keep::{Kept, Turn};
use super::manifest::{Direction, Manifest, Ready, Reverse};
use super::step::{Refusal, view};

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

/// A value that the way back wouldn't bring back.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// Position of the step in its direction.
    pub turn: usize,
    pub path: ObjectPath,
    pub was: Value,
    /// What would come back in its place.
    pub back: Option<Value>,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` can't be brought back: it is {}", self.path, shown(&self.was))?;
        match &self.back {
            Some(back) => write!(f, " and would come back as {}", shown(back)),
            None => Ok(()),
        }
    }
}

/// What happened to one object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    pub done: Vec<Done>,
    pub lost: Vec<Loss>,
}

/// A manifest made ready for many objects, in one direction.
#[derive(Debug, Clone)]
pub struct Converter<'m> {
    manifest: &'m Manifest,
    direction: Direction,
    ready: Arc<[Ready]>,
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
                Reverse::None(reason) => reason.clone(),
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

    /// As [`Converter::convert`], and tells which steps did something, and what is lost for good.
    pub fn convert_and_tell(&self, object: &mut Value, told: &mut Told) -> Result<Vec<Note>, ConvertError> {
        let before = matches!(self.manifest.reverse, Reverse::Steps(_)).then(|| object.clone());
        let notes = self.run(object, Some(told))?;
        // A way back of its own can only be tried as a whole.
        if let Some(before) = before
            && let Some(loss) = self.lost_by_turning(&before, object)
        {
            told.lost.push(loss);
        }
        Ok(notes)
    }

    /// The first value that the other direction doesn't bring back.
    fn lost_by_turning(&self, before: &Value, after: &Value) -> Option<Loss> {
        let back = Converter::new(self.manifest, self.direction.turned()).ok()?.with_keys(&self.keys).converted(after).ok()?;
        let bare = |object: &Value| {
            let mut object = object.clone();
            if let Some(preserve) = &self.manifest.preserve {
                preserve.clear(&mut object);
            }
            object
        };
        let (path, was, back) = lost_value(&bare(before), &bare(&back), ObjectPath::root())?;
        Some(Loss { turn: 0, path, was, back })
    }

    fn run(&self, object: &mut Value, mut told: Option<&mut Told>) -> Result<Vec<Note>, ConvertError> {
        let forward = self.direction == Direction::Forward;
        let preserve = self.manifest.preserve.as_ref();
        let mut kept = preserve.map(|preserve| Kept::load(preserve, object, forward));
        let mut notes = Vec::new();
        let keys = kept.as_ref().map(|kept| Keys::clone(&self.keys).recall(kept.labels()));
        for (turn, ready) in self.ready.iter().enumerate() {
            run(ready, turn, object, keys.as_ref(), kept.as_mut(), &mut notes, told.as_deref_mut())?;
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

/// A value as a message shows it.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = value.to_string();
    if text.chars().count() > LONGEST { format!("{}…", text.chars().take(LONGEST - 1).collect::<String>()) } else { text }
}

/// The first value of an object that is not in the other.
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

fn run(
    ready: &Ready,
    number: usize,
    object: &mut Value,
    keys: Option<&Keys>,
    mut kept: Option<&mut Kept>,
    notes: &mut Vec<Note>,
    mut told: Option<&mut Told>,
) -> Result<(), Refusal> {
    let step = &ready.step;
    let inner = &step.region.inner;
    let turn = Turn {
        op: &ready.op,
        inverse: ready.undo.as_ref(),
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
        if let (Some(manual), Some(names)) = (ready.op.manual(), inner.first())
            && super::address::get(container, names).is_some_and(|value| !value.is_null())
        {
            notes.push(Note { path: place(&at.path, names), about: About::Manual(manual.guidance.clone()) });
        }
        let before = (kept.is_some() || told.is_some()).then(|| view(container, inner));
        let restored = kept.as_deref_mut().is_some_and(|kept| kept.restore(&turn, at, container));
        if !restored {
            ready.op.apply(container, &ready.op_inner, step.conflict).map_err(refusal)?;
        }
        let Some(before) = before else { return Ok(()) };
        if let Some(told) = told.as_deref_mut()
            && view(container, inner) != before
        {
            told.done.push(Done { step: ready.index, path: place(&at.path, ready.op_inner.first().map_or(&[][..], Vec::as_slice)) });
            // What was put back from beside the object comes from there again.
            if kept.is_none()
                && let Some((index, back)) = turn.forgets(&before, container)
                && let (Some(names), Some(Some(was))) = (inner.get(index), before.get(index))
            {
                told.lost.push(Loss { turn: number, path: place(&at.path, names), was: was.clone(), back });
            }
        }
        if let Some(kept) = kept.as_deref_mut().filter(|_| !restored) {
            kept.remember(&turn, at, before, container);
        }
        Ok(())
    })
}
