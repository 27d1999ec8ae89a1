//! The laws that a conversion keeps: its results are valid, nothing is lost on the way there and back, doing it twice is doing
//! it once, and nobody needs to know which version an object was stored in.
//!
//! A law is proved by the conditions of the steps where they allow it, and else tested with objects of the schemas.

use std::sync::Arc;

use serde_json::Value;

use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;

use super::address::Keys;
use super::convert::{ConvertError, Converter};
use super::keep::Preserve;
use super::lossless::{Obstacle, lossless, never_fails};
use super::manifest::{Direction, Manifest, Reverse};
use super::output_schema::output_schema;
use super::path_through_steps;
use super::schema_endpoint::Ground;
use super::search;
use super::shape_edit::{holds_anything, kept_by};
use super::step::{Op, Reason};

/// An object that breaks a law.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    pub object: Value,
    /// What became of it.
    pub result: Option<Value>,
    pub because: String,
    /// Where the two differ, or what is wrong with the result.
    pub path: Option<FieldPath>,
    /// Position of the step that is to blame, where one is.
    pub step: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Proved,
    /// Held for so many objects; why it could not be proved.
    Tested {
        objects: usize,
        because: String,
    },
    Broken(Box<Counterexample>),
    /// There is nothing to judge.
    Undecided(String),
}

/// A manifest between two schemas.
pub struct Trial<'m> {
    pub manifest: &'m Manifest,
    pub old: &'m Ground,
    pub new: &'m Ground,
    there: Option<Converter<'m>>,
    back: Option<Converter<'m>>,
}

/// What came of converting one object.
enum Turned {
    To(Value),
    /// No machine's business, or beyond what numbers can hold.
    Excused,
    Failed(ConvertError),
}

impl<'m> Trial<'m> {
    pub fn new(manifest: &'m Manifest, old: &'m Ground, new: &'m Ground) -> Self {
        let mut keys = Keys::default();
        [old, new].into_iter().for_each(|ground| keys.learn(&ground.shape));
        let keys = Arc::new(keys);
        let way = |direction| Converter::new(manifest, direction).ok().map(|converter| converter.with_keys(&keys));
        Trial { manifest, old, new, there: way(Direction::Forward), back: way(Direction::Back) }
    }

    fn way(&self, direction: Direction) -> Option<&Converter<'m>> {
        match direction {
            Direction::Forward => self.there.as_ref(),
            Direction::Back => self.back.as_ref(),
        }
    }

    /// The schema that a direction starts from, and the one it leads to.
    fn grounds(&self, direction: Direction) -> (&'m Ground, &'m Ground) {
        match direction {
            Direction::Forward => (self.old, self.new),
            Direction::Back => (self.new, self.old),
        }
    }

    fn turn(&self, object: &Value, direction: Direction) -> Turned {
        let Some(way) = self.way(direction) else { return Turned::Excused };
        match way.converted(object) {
            Ok(converted) => Turned::To(converted),
            Err(ConvertError::Refused(refusal)) if matches!(refusal.reason, Reason::Manual(_) | Reason::Overflow(_)) => Turned::Excused,
            Err(error) => Turned::Failed(error),
        }
    }

    /// Objects to try: the examples of the manifest, then those of the schema.
    fn samples(&self, direction: Direction) -> impl Iterator<Item = &Value> {
        let (start, _) = self.grounds(direction);
        let side = move |example: &'m super::manifest::Example| if direction == Direction::Forward { &example.old } else { &example.new };
        let examples = self.manifest.examples.iter().map(side).filter(|object| start.accepts(object));
        examples.chain(start.samples())
    }

    /// Whether what a direction loses is kept beside the objects that it gives: their schema must have room for it.
    fn keeps(&self, direction: Direction) -> bool {
        let (_, end) = self.grounds(direction);
        match &self.manifest.preserve {
            None => false,
            Some(Preserve::Annotation(_)) => true,
            Some(Preserve::Field(path)) => holds_anything(&end.shape, path),
        }
    }

    /// The operations of a direction, and whether what each loses is kept.
    fn ops(&self, direction: Direction) -> Option<Vec<(Op, bool)>> {
        let kept = self.keeps(direction);
        let ready = self.manifest.ready(direction)?;
        Some(ready.iter().map(|ready| (ready.op.clone(), kept && ready.step.preserve && ready.inverse.is_some())).collect())
    }

    /// The shape of everything that a direction can give.
    fn image(&self, direction: Direction) -> Option<Shape> {
        let (start, _) = self.grounds(direction);
        Some(self.ops(direction)?.iter().fold(start.shape.clone(), |shape, (op, _)| output_schema(op, &shape)))
    }

    /// Every converted object is valid on the other side (RT3).
    pub fn validity(&self, direction: Direction) -> Verdict {
        let (start, end) = self.grounds(direction);
        let Some(image) = self.image(direction) else { return Verdict::Undecided("there is no such way".into()) };
        let manual = self.manuals();
        let cramped = self.manifest.preserve.is_some() && !self.keeps(direction);
        let because = if cramped {
            "the field that keeps what is lost has no room for it".to_owned()
        } else if manual.is_empty() {
            match search::refused(&image, &end.shape) {
                Search::Impossible => match self.stumbles(direction) {
                    None => return Verdict::Proved,
                    Some(why) => why,
                },
                Search::Found(body) => {
                    if let Turned::To(origin) = self.turn(&end.whole(body), direction.turned())
                        && start.accepts(&origin)
                        && let Some(broken) = self.invalid(&origin, direction)
                    {
                        return broken;
                    }
                    "what the steps give is known only in part".to_owned()
                }
                Search::Undecided(reason) => reason.to_string(),
            }
        } else {
            "a step is done by hand".to_owned()
        };
        let mut objects = 0;
        for sample in self.samples(direction) {
            if let Some(broken) = self.invalid(sample, direction) {
                return broken;
            }
            objects += 1;
        }
        Verdict::Tested { objects, because }
    }

    /// Why a step may fail on an object of the schema; `None` if none can.
    fn stumbles(&self, direction: Direction) -> Option<String> {
        let (start, _) = self.grounds(direction);
        let mut shape = start.shape.clone();
        self.manifest.ready(direction).unwrap_or_default().iter().find_map(|ready| {
            let why = never_fails(&ready.op, &shape, ready.step.conflict).err();
            shape = output_schema(&ready.op, &shape);
            why
        })
    }

    /// Paths that people convert.
    fn manuals(&self) -> Vec<&FieldPath> {
        self.manifest.steps.iter().filter_map(|step| step.op.manual()).map(|manual| &manual.path).collect()
    }

    fn invalid(&self, object: &Value, direction: Direction) -> Option<Verdict> {
        let (_, end) = self.grounds(direction);
        let (result, because, path, step) = match self.turn(object, direction) {
            Turned::Excused => return None,
            Turned::Failed(error) => {
                let step = if let ConvertError::Refused(refusal) = &error { Some(refusal.step) } else { None };
                (None, format!("it can't be converted: {error}"), None, step)
            }
            Turned::To(converted) => {
                let outcome = end.request(&converted);
                let by_hand = |path: &FieldPath| self.manuals().iter().any(|manual| path.starts_with(manual));
                let error = outcome.errors.iter().find(|error| !by_hand(&error.path.general()))?;
                (Some(converted), format!("{}: {}", error.field, error.message), Some(error.path.general()), None)
            }
        };
        Some(Verdict::Broken(Box::new(Counterexample { object: object.clone(), result, because, path, step })))
    }

    /// There and back gives what was there (RT1), or back and there (RT2), up to normal form, through a server that prunes.
    pub fn round_trip(&self, direction: Direction) -> Verdict {
        if self.way(direction).is_none() || self.way(direction.turned()).is_none() {
            return Verdict::Undecided("there is no way back".into());
        }
        let Obstacle { reason: because, hint, .. } = match self.returns(direction) {
            Ok(()) => return Verdict::Proved,
            Err(obstacle) => obstacle,
        };
        let mut objects = 0;
        if let Some(hinted) = hint.and_then(|(path, value)| self.showing(direction, &path, &value)) {
            objects += 1;
            if let Some(broken) = self.lossy(&hinted, direction) {
                return broken;
            }
        }
        for sample in self.samples(direction) {
            if let Some(broken) = self.lossy(sample, direction) {
                return broken;
            }
            objects += 1;
        }
        Verdict::Tested { objects, because }
    }

    /// The proof: each step gives back what it took, and the schema between keeps all that arrives there.
    fn returns(&self, direction: Direction) -> Result<(), Obstacle> {
        if !matches!(self.manifest.reverse, Reverse::Auto) {
            return Err(Obstacle::permanent("the way back has steps of its own".into()));
        }
        let (start, end) = self.grounds(direction);
        let mut shape = start.shape.clone();
        let mut done: Vec<Op> = Vec::new();
        for (op, kept) in self.ops(direction).unwrap_or_default() {
            match lossless(&op, &shape) {
                Ok(()) => {}
                Err(Obstacle { preservable: true, .. }) if kept => {}
                Err(mut found) => {
                    found.hint = found.hint.map(|(path, value)| (path_through_steps::origin(&done, &path), value));
                    return Err(found);
                }
            }
            shape = output_schema(&op, &shape);
            done.push(op);
        }
        kept_by(&shape, &end.shape, &FieldPath::root())
            .map_err(|path| Obstacle::permanent(format!("`{path}` is not kept on the other side")))
    }

    /// The smallest object with this value at a path.
    fn showing(&self, direction: Direction, path: &FieldPath, value: &Value) -> Option<Value> {
        let (start, _) = self.grounds(direction);
        let object = start.whole(crate::compare::embed(&start.shape, path, value)?);
        start.accepts(&object).then_some(object)
    }

    fn lossy(&self, object: &Value, direction: Direction) -> Option<Verdict> {
        let (start, end) = self.grounds(direction);
        let Turned::To(there) = self.turn(object, direction) else { return None };
        let stored = end.pruned(&there);
        let (result, because, path, step) = match self.turn(&stored, direction.turned()) {
            Turned::Excused => return None,
            Turned::Failed(error) => {
                let step = if let ConvertError::Refused(refusal) = &error { Some(refusal.step) } else { None };
                (None, format!("it can't be converted back: {error}"), None, step)
            }
            Turned::To(returned) => {
                // The place where values are kept is the conversion's own.
                let (before, after) = (start.normal(&self.unkept(object)), start.normal(&self.unkept(&returned)));
                let (path, said) = difference(&before, &after, &FieldPath::root())?;
                (Some(returned), said, Some(path), None)
            }
        };
        Some(Verdict::Broken(Box::new(Counterexample { object: object.clone(), result, because, path, step })))
    }

    /// Doing it twice is doing it once (RT4).
    pub fn idempotence(&self) -> Verdict {
        let (Some(ops), Some(image)) = (self.ops(Direction::Forward), self.image(Direction::Forward)) else {
            return Verdict::Undecided("there is no such way".into());
        };
        if ops.iter().all(|(op, _)| op.is_noop(&image)) {
            return Verdict::Proved;
        }
        let mut objects = 0;
        for sample in self.samples(Direction::Forward) {
            objects += 1;
            let Turned::To(once) = self.turn(sample, Direction::Forward) else { continue };
            let broken = |result: Option<Value>, because: String, path: Option<FieldPath>, step| {
                Verdict::Broken(Box::new(Counterexample { object: sample.clone(), result, because, path, step }))
            };
            match self.turn(&once, Direction::Forward) {
                Turned::To(twice) => {
                    if let Some((path, said)) = difference(&self.bare(&once), &self.bare(&twice), &FieldPath::root()) {
                        return broken(Some(twice), format!("converted once more, {said}"), Some(path), None);
                    }
                }
                Turned::Failed(error) => return broken(Some(once), format!("it can't be converted once more: {error}"), None, None),
                Turned::Excused => {}
            }
        }
        Verdict::Tested { objects, because: "a step may find something to do in what it gave".into() }
    }

    fn unkept(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Some(preserve) = &self.manifest.preserve {
            preserve.clear(&mut object);
        }
        object
    }

    fn bare(&self, object: &Value) -> Value {
        let mut object = self.unkept(object);
        if let Some(map) = object.as_object_mut() {
            map.remove("apiVersion");
        }
        object
    }

    /// What is valid on both sides stays as it is, so that nobody needs to know in which version an object was stored.
    pub fn blindness(&self) -> Verdict {
        let Some(ready) = self.manifest.ready(Direction::Forward) else { return Verdict::Undecided("there is no such way".into()) };
        let (old, new) = (&self.old.shape, &self.new.shape);
        let mut tested = 0;
        let mut open = None;
        for ready in ready.iter() {
            // The first step that does something acts on the object as it was, so each is looked at alone.
            if ready.op.is_noop(old) || ready.op.is_noop(new) || !ready.op.acts_on_both(old, new) {
                continue;
            }
            for (path, wanted) in ready.op.triggers() {
                match search::shared(old, new, path, &wanted) {
                    Search::Impossible => {}
                    Search::Found(body) => {
                        tested += 1;
                        if let Some(verdict) = self.seen_both_ways(&body, ready.index) {
                            return verdict;
                        }
                        open = open.or_else(|| Some(format!("objects with `{path}` are valid on both sides")));
                    }
                    Search::Undecided(reason) => open = open.or(Some(reason.to_string())),
                }
            }
            if !ready.op.decided_by_triggers() && open.is_none() {
                open = Some(format!("`{}` is valid on both sides", ready.op.paths().first().map(ToString::to_string).unwrap_or_default()));
            }
        }
        let Some(because) = open else { return Verdict::Proved };
        for sample in self.old.samples() {
            if self.new.accepts(&self.renamed(sample)) {
                tested += 1;
                if let Some(verdict) = self.changed(sample, None) {
                    return verdict;
                }
            }
        }
        Verdict::Tested { objects: tested, because }
    }

    fn seen_both_ways(&self, body: &Value, step: usize) -> Option<Verdict> {
        let object = self.old.whole(body.clone());
        if !self.old.accepts(&object) || !self.new.accepts(&self.new.whole(body.clone())) {
            return None;
        }
        self.changed(&object, Some(step))
    }

    fn renamed(&self, object: &Value) -> Value {
        let mut body = object.clone();
        if let Some(map) = body.as_object_mut() {
            map.remove("apiVersion");
        }
        self.new.whole(body)
    }

    fn changed(&self, object: &Value, step: Option<usize>) -> Option<Verdict> {
        let (result, because, path) = match self.turn(object, Direction::Forward) {
            Turned::Excused => return None,
            Turned::Failed(error) => (None, format!("it is valid before and after, and can't be converted: {error}"), None),
            Turned::To(converted) => {
                let (before, after) = (self.new.normal(&self.bare(object)), self.new.normal(&self.bare(&converted)));
                let (path, said) = difference(&before, &after, &FieldPath::root())?;
                (Some(converted), format!("it is valid before and after, and converting it changes it: {said}"), Some(path))
            }
        };
        Some(Verdict::Broken(Box::new(Counterexample { object: object.clone(), result, because, path, step })))
    }
}

/// The first place where two objects differ, in words.
pub(crate) fn difference(before: &Value, after: &Value, at: &FieldPath) -> Option<(FieldPath, String)> {
    let shown = |value: &Value| {
        let text = value.to_string();
        if text.chars().count() > 80 { format!("{}…", text.chars().take(79).collect::<String>()) } else { text }
    };
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, x) in a {
                let here = at.key(key);
                match b.get(key) {
                    Some(y) => {
                        if let Some(found) = difference(x, y, &here) {
                            return Some(found);
                        }
                    }
                    None => return Some((here.clone(), format!("`{here}` is lost: it was {}", shown(x)))),
                }
            }
            let (key, y) = b.iter().find(|(key, _)| !a.contains_key(*key))?;
            let here = at.key(key);
            Some((here.clone(), format!("`{here}` appears: it is {}", shown(y))))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a.iter().zip(b).find_map(|(x, y)| difference(x, y, &at.items())),
        _ if super::step::same(before, after) => None,
        _ => Some((at.clone(), format!("`{at}` was {} and is {}", shown(before), shown(after)))),
    }
}

#[cfg(test)]
mod tests;
