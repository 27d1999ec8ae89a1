//! Searches for objects that violate a proved law, with other objects than those that the law check uses itself.

use serde_json::{Map, Value};

use crate::compare::Random;
use crate::find::conversion::manifest::{Direction, Manifest};
use crate::find::conversion::schema_endpoint::SchemaEndpoint;
use crate::model::schema::shape::Type;
use crate::model::schema::{Shape, is_meta};

use super::{Attempt, Law, LawCheck, LawVerdict};

/// How many objects are made up for each version, and how often each of them is changed.
const OBJECTS: usize = 40;
const CHANGES: usize = 6;

/// What checking the laws of one manifest found.
#[derive(Debug, Default)]
pub(crate) struct LawCount {
    /// How many laws apply to the manifest.
    pub laws: usize,
    pub proved: usize,
    /// A proved law, and an object that breaks it.
    pub wrong: Option<String>,
}

/// Checks objects of both sides against every proved law. `text` is the manifest: its words and numbers are used in objects.
pub(crate) fn violation(manifest: &Manifest, text: &str, old: &SchemaEndpoint, new: &SchemaEndpoint) -> LawCount {
    let law_check = LawCheck::new(manifest, old, new);
    let mut count = LawCount::default();
    let verdicts = Law::ALL.map(|law| (law, law_check.verdict(law)));
    count.laws = verdicts.iter().filter(|(_, verdict)| !matches!(verdict, LawVerdict::Undecided(_))).count();
    let proved: Vec<Law> = verdicts.into_iter().filter(|(_, verdict)| matches!(verdict, LawVerdict::Proved)).map(|(law, _)| law).collect();
    count.proved = proved.len();
    if proved.is_empty() {
        return count;
    }
    let literals = literals(text);
    let mut olds = made_up(old, &literals);
    let mut news = made_up(new, &literals);
    // Objects that an earlier conversion produced may contain preserved values.
    let converted = |objects: &[Value], direction, end: &SchemaEndpoint| -> Vec<Value> {
        let all = objects.iter().filter_map(|object| match law_check.convert(object, direction) {
            Attempt::Converted(converted) => Some(converted),
            _ => None,
        });
        all.filter(|object| is_stored(end, object)).collect()
    };
    let (mut from_new, mut from_old) = (converted(&news, Direction::Back, old), converted(&olds, Direction::Forward, new));
    // …, and may have been edited since.
    from_new.extend(changed(&from_new, old, &literals));
    from_old.extend(changed(&from_old, new, &literals));
    // Preserved values show the version of an object, so they don't count for the independence of it.
    let without_preserved = olds.len();
    olds.extend(from_new);
    news.extend(from_old);
    for law in proved {
        let objects = match law {
            Law::ValidBack | Law::RoundTripBack => &news[..],
            Law::Valid | Law::RoundTrip | Law::Idempotent => &olds[..],
            Law::StoredVersion => &olds[..without_preserved],
        };
        if let Some((object, why)) = objects.iter().find_map(|object| Some((object, broken(&law_check, law, object)?))) {
            count.wrong = Some(format!("{law:?} is proved, and {object} breaks it: {why}"));
            return count;
        }
    }
    count
}

fn broken(law_check: &LawCheck<'_>, law: Law, object: &Value) -> Option<String> {
    let verdict = match law {
        Law::Valid | Law::ValidBack => {
            let direction = if law == Law::Valid { Direction::Forward } else { Direction::Back };
            if matches!(law_check.convert(object, direction), Attempt::Excused) {
                return Some("it can't be converted".into());
            }
            law_check.invalid(object, direction)
        }
        Law::RoundTrip => law_check.lossy(object, Direction::Forward),
        Law::RoundTripBack => law_check.lossy(object, Direction::Back),
        Law::Idempotent => law_check.unstable(object),
        Law::StoredVersion => law_check.changed_in_both(object),
    };
    match verdict? {
        LawVerdict::Broken(broken) => Some(broken.because),
        other => Some(format!("{other:?}")),
    }
}

/// Whether the server would store the object like this, apart from defaults.
fn is_stored(endpoint: &SchemaEndpoint, object: &Value) -> bool {
    fn nulls_stay(before: &Value, after: &Value) -> bool {
        match (before, after) {
            (Value::Null, after) => after.is_null(),
            (Value::Object(a), Value::Object(b)) => a.iter().all(|(key, value)| b.get(key).is_some_and(|after| nulls_stay(value, after))),
            (Value::Array(a), Value::Array(b)) => a.iter().zip(b).all(|(before, after)| nulls_stay(before, after)),
            _ => true,
        }
    }
    let response = endpoint.request(object);
    response.accepted()
        && response.pruned.is_empty()
        && response.undecided.is_empty()
        && response.nulls.is_empty()
        && nulls_stay(object, &response.stored)
}

/// The words and numbers of a text.
fn literals(text: &str) -> Vec<Value> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !":.-_".contains(c)).filter(|word| !word.is_empty());
    let mut literals: Vec<Value> = Vec::new();
    for word in words {
        let word = word.trim_end_matches(':');
        for value in [word.into(), serde_json::from_str(word).unwrap_or(Value::Null)] {
            if !literals.contains(&value) {
                literals.push(value);
            }
        }
    }
    for more in ["", "a", "x:y", "a b", "1", "007", "true"] {
        literals.push(more.into());
    }
    literals.extend([0, 1, -1, 7, 1000].map(Value::from));
    literals.extend([Value::from(0.5), Value::from(true), Value::from(false), Value::Object(Map::new()), Value::Array(Vec::new())]);
    literals
}

/// The samples of a schema, and changed copies of them.
fn made_up(endpoint: &SchemaEndpoint, literals: &[Value]) -> Vec<Value> {
    let mut objects: Vec<Value> = endpoint.samples().iter().filter(|object| is_stored(endpoint, object)).cloned().collect();
    objects.extend(changed(&objects, endpoint, literals));
    objects
}

/// Changed copies of some objects.
fn changed(start: &[Value], endpoint: &SchemaEndpoint, literals: &[Value]) -> Vec<Value> {
    let mut objects = Vec::new();
    let mut changer = Changer { random: Random(0x2545_F491_4F6C_DD1D), literals };
    for _ in 0..OBJECTS {
        if start.is_empty() {
            break;
        }
        let mut object = start[changer.below(start.len())].clone();
        let before = object.clone();
        for _ in 0..CHANGES {
            let mut next = object.clone();
            changer.change_root(&mut next, &endpoint.shape);
            if is_stored(endpoint, &next) {
                object = next;
            }
        }
        if object != before {
            objects.push(object);
        }
    }
    objects
}

/// Changes objects at random.
struct Changer<'l> {
    random: Random,
    literals: &'l [Value],
}

impl Changer<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn literal(&mut self) -> Value {
        self.literals[self.below(self.literals.len())].clone()
    }

    fn change_root(&mut self, object: &mut Value, shape: &Shape) {
        let heads: Vec<&String> = shape.properties.keys().filter(|name| !is_meta(name)).collect();
        let Some(head) = heads.get(self.below(heads.len())) else { return };
        let (Some(map), Some(below)) = (object.as_object_mut(), shape.property(head)) else { return };
        let value = map.entry((*head).clone()).or_insert_with(|| Value::Object(Map::new()));
        self.change(value, Some(below));
    }

    /// Changes something inside a value.
    fn change(&mut self, value: &mut Value, shape: Option<&Shape>) {
        match value {
            Value::Object(map) if !self.once_in(8) => {
                let declared = shape.into_iter().flat_map(|shape| shape.properties.keys());
                let mut names: Vec<String> = declared.chain(map.keys()).cloned().collect();
                names.extend(["a", "b"].map(str::to_owned));
                let name = names.swap_remove(self.below(names.len()));
                let child = shape.and_then(|shape| shape.value_of(&name));
                match map.get_mut(&name) {
                    Some(_) if self.once_in(4) => {
                        map.remove(&name);
                    }
                    Some(held) if !self.once_in(3) => self.change(held, child),
                    _ => {
                        let fresh = self.fresh(child, 3);
                        map.insert(name, fresh);
                    }
                }
            }
            Value::Array(items) if !self.once_in(8) => {
                let child = shape.and_then(|shape| shape.items.as_deref());
                let at = self.below(items.len());
                match self.below(5) {
                    0 if !items.is_empty() => {
                        items.remove(at);
                    }
                    1 if !items.is_empty() => items.push(items[at].clone()),
                    2 => items.reverse(),
                    3 | 4 if !items.is_empty() => self.change(&mut items[at], child),
                    _ => items.push(self.fresh(child, 3)),
                }
            }
            other => *other = self.fresh(shape, 3),
        }
    }

    /// A value that mostly fits a schema.
    fn fresh(&mut self, shape: Option<&Shape>, depth: usize) -> Value {
        let Some(shape) = shape.filter(|_| !self.once_in(5)) else { return self.literal() };
        if shape.nullable && self.once_in(3) {
            return Value::Null;
        }
        if let Some(values) = shape.enum_values.as_ref().filter(|values| !values.is_empty()) {
            return values[self.below(values.len())].clone();
        }
        let fitting: Vec<&Value> = self.literals.iter().filter(|value| fits(shape, value)).collect();
        match shape.ty {
            Some(Type::Array) => {
                (0..self.below(4)).map(|_| if depth == 0 { Value::Null } else { self.fresh(shape.items.as_deref(), depth - 1) }).collect()
            }
            Some(Type::Object) if depth > 0 => {
                let mut map = Map::new();
                for (name, child) in &shape.properties {
                    if shape.required.contains(name) || self.once_in(2) {
                        map.insert(name.clone(), self.fresh(Some(child), depth - 1));
                    }
                }
                if let Some(values) = shape.values() {
                    for _ in 0..self.below(3) {
                        let name = ["a", "b", "k"][self.below(3)];
                        map.insert(name.to_owned(), self.fresh(Some(values), depth - 1));
                    }
                }
                Value::Object(map)
            }
            _ if fitting.is_empty() => self.literal(),
            _ => fitting[self.below(fitting.len())].clone(),
        }
    }
}

fn fits(shape: &Shape, value: &Value) -> bool {
    match shape.ty {
        Some(Type::String) => value.is_string(),
        Some(Type::Integer) => value.is_i64(),
        Some(Type::Number) => value.is_number(),
        Some(Type::Boolean) => value.is_boolean(),
        Some(Type::Object) => value.is_object(),
        Some(Type::Array) => value.is_array(),
        None => !value.is_null(),
    }
}
