//! What a step loses is kept beside the object, and put back when it is converted again.
//!
//! A value is put back only while it still fits: what was kept, converted, must be what stands there now. So an edit made in
//! between is never undone.

use serde_json::{Map, Value};

use super::address::{Names, Spot, put, take};
use super::step::{Conflict, Op, view};
use crate::model::FieldPath;
use crate::server::object::ObjectPath;

/// Where lost values are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preserve {
    /// As JSON in an annotation of this name.
    Annotation(String),
    /// As an object in a field of its own, which both versions must keep.
    Field(FieldPath),
}

/// Values of the side that an object is not in, by step and place.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Values of the side that is being converted to.
    coming: Map<String, Value>,
    /// Values of the side that is being left.
    going: Map<String, Value>,
    /// The object came with such values: it was converted before.
    carried: bool,
    /// Values that were kept and could not be put back.
    unfit: Vec<(ObjectPath, Value)>,
}

const OLD: &str = "old";
const NEW: &str = "new";

impl Preserve {
    fn read(&self, object: &Value) -> Map<String, Value> {
        let whole = match self {
            Preserve::Annotation(name) => {
                let text =
                    object.get("metadata").and_then(|meta| meta.get("annotations")).and_then(|all| all.get(name)).and_then(Value::as_str);
                text.and_then(|text| serde_json::from_str(text).ok())
            }
            Preserve::Field(path) => super::address::get(object, &names(path)).cloned(),
        };
        match whole {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }

    /// Takes away all that is kept beside an object.
    pub fn clear(&self, object: &mut Value) {
        self.write(object, Map::new());
    }

    fn write(&self, object: &mut Value, kept: Map<String, Value>) {
        let place: Names = match self {
            Preserve::Annotation(name) => vec!["metadata".into(), "annotations".into(), name.as_str().into()],
            Preserve::Field(path) => names(path),
        };
        if kept.is_empty() {
            // Parents that only existed for it go with it.
            take(object, &place);
            return;
        }
        let value = match self {
            Preserve::Annotation(_) => Value::String(Value::Object(kept).to_string()),
            Preserve::Field(_) => Value::Object(kept),
        };
        // An object whose metadata is no mapping is refused by everybody else.
        let _ = put(object, &place, value);
    }
}

fn names(path: &FieldPath) -> Names {
    path.steps().iter().filter_map(|step| if let crate::model::Step::Key(name) = step { Some(name.clone()) } else { None }).collect()
}

impl Kept {
    pub fn load(preserve: &Preserve, object: &Value, forward: bool) -> Kept {
        let mut whole = preserve.read(object);
        let mut side = |name: &str| match whole.remove(name) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let (old, new) = (side(OLD), side(NEW));
        let (coming, going) = if forward { (new, old) } else { (old, new) };
        Kept { coming, carried: !going.is_empty(), going, unfit: Vec::new() }
    }

    /// The names by which items were told apart when values were kept.
    pub fn labels(&self) -> impl Iterator<Item = &String> {
        self.coming.keys()
    }

    /// Writes down what is kept from now on. Gives the values that found no place any more.
    pub fn store(self, preserve: &Preserve, object: &mut Value, forward: bool) -> Vec<(ObjectPath, Value)> {
        let mut homeless = self.unfit;
        let left = self.coming.into_values().filter_map(|saved| first_saved(&saved));
        homeless.extend(left.map(|value| (ObjectPath::root(), value)));
        let mut whole = Map::new();
        if !self.going.is_empty() {
            whole.insert(if forward { OLD } else { NEW }.to_owned(), Value::Object(self.going));
        }
        preserve.write(object, whole);
        homeless
    }

    /// Puts back what was kept for this place, if it still fits. Says whether it did.
    pub fn restore(&mut self, turn: &Turn<'_>, at: &Spot, container: &mut Value) -> bool {
        let inner = turn.inner;
        if self.coming.is_empty() {
            return false;
        }
        let found = at.labels().iter().find_map(|label| self.coming.remove(&key(turn.name, label, inner)));
        let Some(Value::Array(saved)) = found else { return false };
        let whole = first_saved(&Value::Array(saved.clone()));
        let saved: Vec<Option<Value>> = saved.into_iter().map(unpack).collect();
        if saved.len() != inner.len() || !turn.may_write(container) {
            self.unfit.extend(whole.map(|value| (at.path.clone(), value)));
            return false;
        }
        let mut scratch = scratch(&saved, inner, container);
        let fits = turn.undo(&mut scratch) && view(&scratch, inner) == view(container, inner);
        if fits {
            assign(container, inner, &saved);
        } else if !turn.op.is_default() {
            self.unfit.extend(whole.map(|value| (at.path.clone(), value)));
        }
        fits
    }

    /// Remembers the values before a step where its inverse would not bring them back.
    pub fn remember(&mut self, turn: &Turn<'_>, at: &Spot, before: Vec<Option<Value>>, container: &Value) {
        let inner = turn.inner;
        let after = view(container, inner);
        let mut scratch = scratch(&after, inner, container);
        let returned = turn.undo(&mut scratch) && view(&scratch, inner) == before;
        let unchanged = after == before;
        if unchanged && returned {
            return;
        }
        let key = key(turn.name, &at.label(), inner);
        // Later steps may have changed by what an item of a list is known.
        let known = self.going.contains_key(&key) || (self.carried && at.in_list());
        if returned {
            self.going.remove(&key);
        } else if !(unchanged && known) {
            self.going.insert(key, Value::Array(before.into_iter().map(pack).collect()));
        }
    }
}

/// One step in one direction.
pub(crate) struct Turn<'m> {
    pub op: &'m Op,
    /// Brings back what `op` did; `None` where nobody wrote how.
    pub inverse: Option<&'m Op>,
    pub name: &'static str,
    pub conflict: Conflict,
    /// Paths inside a container, in the order of the manifest.
    pub inner: &'m [Names],
    pub inverse_inner: &'m [Names],
}

impl Turn<'_> {
    fn undo(&self, container: &mut Value) -> bool {
        self.inverse.is_some_and(|inverse| inverse.apply(container, self.inverse_inner, self.conflict).is_ok())
    }

    /// Which of the values before the step its inverse doesn't bring back, and what comes in its place. A default that is written
    /// out where it was left out, or was there anyway, loses nothing.
    pub fn forgets(&self, before: &[Option<Value>], container: &Value) -> Option<(usize, Option<Value>)> {
        if self.inverse.is_none() || self.op.is_default() {
            return None;
        }
        let mut scratch = scratch(&view(container, self.inner), self.inner, container);
        let returned = if self.undo(&mut scratch) { view(&scratch, self.inner) } else { vec![None; before.len()] };
        let lost = |(was, back): &(&Option<Value>, Option<Value>)| match (was, back) {
            (None, _) => false,
            (Some(was), Some(back)) => !super::step::same(was, back),
            (Some(_), None) => true,
        };
        let pairs = before.iter().zip(returned);
        pairs.enumerate().find(|(_, pair)| lost(pair)).map(|(index, (_, back))| (index, back))
    }

    /// Fields are put only into parents that are there.
    fn may_write(&self, container: &Value) -> bool {
        let parent = |names: &Names| names.split_last().and_then(|(_, above)| super::address::get(container, above)).is_some();
        !self.op.needs_parent() || self.inner.iter().all(parent)
    }
}

/// A container with nothing but these values. Parents that fields need are there, as they were.
fn scratch(values: &[Option<Value>], inner: &[Names], container: &Value) -> Value {
    let mut scratch = Value::Object(Map::new());
    for names in inner {
        let mut depth = names.len().saturating_sub(1);
        while depth > 0 && super::address::get(container, names.get(..depth).unwrap_or_default()).is_none() {
            depth -= 1;
        }
        if let Some(above) = names.get(..depth).filter(|above| !above.is_empty()) {
            let _ = put(&mut scratch, above, Value::Object(Map::new()));
        }
    }
    assign(&mut scratch, inner, values);
    scratch
}

fn assign(container: &mut Value, inner: &[Names], values: &[Option<Value>]) {
    for (names, _) in inner.iter().zip(values).filter(|(_, value)| value.is_none()) {
        take(container, names);
    }
    for (names, value) in inner.iter().zip(values) {
        if let Some(value) = value {
            let _ = put(container, names, value.clone());
        }
    }
}

/// `[value]` for a value, `[]` for none: a null is a value.
fn pack(value: Option<Value>) -> Value {
    Value::Array(value.into_iter().collect())
}

fn unpack(value: Value) -> Option<Value> {
    match value {
        Value::Array(items) => items.into_iter().next(),
        _ => None,
    }
}

/// The first of the values that were kept for a place.
fn first_saved(saved: &Value) -> Option<Value> {
    saved.as_array()?.iter().find_map(|packed| unpack(packed.clone()))
}

/// The step and the place of its first path.
fn key(step: &str, label: &str, inner: &[Names]) -> String {
    let field = inner.first().map(|names| super::address::place(&ObjectPath::root(), names).to_string()).unwrap_or_default();
    let dot = if label.is_empty() || field.is_empty() || field.starts_with('[') { "" } else { "." };
    format!("{step} {label}{dot}{field}")
}
