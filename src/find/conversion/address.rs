//! The places of one object that a path with `[]` and `{}` names, and how values get there and away.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::hash::fnv1a;
use crate::model::schema::Shape;
use crate::model::schema::shape::{Extra, ListType};
use crate::model::{FieldPath, Step};
use crate::server::object::{ObjectPath, ObjectStep};

/// Property names from a container down to a value.
pub(crate) type Names = Vec<Box<str>>;

/// Paths of one step taken apart: where the containers are, and what is looked at inside each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub prefix: FieldPath,
    /// One for each path; empty for the container itself.
    pub inner: Vec<Names>,
}

impl Region {
    /// The deepest containers that all paths share: their nearest common parent. `None` if a path still has `[]` or `{}`
    /// below it: then it is not clear which value belongs to which.
    pub fn of(paths: &[&FieldPath]) -> Option<Region> {
        let first = paths.first()?.steps();
        // A value that has a name is looked at from its parent; an element stands for itself.
        let parent = |path: &FieldPath| match path.steps() {
            [above @ .., Step::Key(_)] => above.len(),
            all => all.len(),
        };
        let shared = |path: &FieldPath| path.steps().iter().zip(first).take_while(|(a, b)| a == b).count();
        let depth = paths.iter().map(|path| parent(path).min(shared(path))).min()?;
        let head = first.get(..depth)?;
        let mut prefix = FieldPath::root();
        head.iter().cloned().for_each(|step| prefix.push(step));
        let mut inner = Vec::new();
        for path in paths {
            let rest = path.steps().strip_prefix(head)?;
            inner.push(
                rest.iter().map(|step| if let Step::Key(name) = step { Some(name.clone()) } else { None }).collect::<Option<Names>>()?,
            );
        }
        Some(Region { prefix, inner })
    }

    /// Calls `visit` with every container that is there. With keys, each of its list items gets labels.
    pub fn visit<E>(&self, object: &mut Value, keys: Option<&Keys>, visit: &mut Visit<'_, E>) -> Result<(), E> {
        Walk { keys, inner: &self.inner }.walk(object, self.prefix.steps(), &mut Spot::default(), visit)
    }
}

/// By which fields the items of lists are told apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    declared: BTreeMap<FieldPath, Vec<Vec<String>>>,
    /// What items of any list were told apart by before.
    used: Vec<Vec<String>>,
}

impl Keys {
    /// Adds the keys of all lists of a schema.
    pub fn learn(&mut self, shape: &Shape) {
        self.below(shape, &FieldPath::root());
    }

    fn below(&mut self, shape: &Shape, at: &FieldPath) {
        if shape.list_type == ListType::Map && !shape.map_keys.is_empty() {
            let known = self.declared.entry(at.clone()).or_default();
            if !known.contains(&shape.map_keys) {
                known.push(shape.map_keys.clone());
            }
        }
        shape.properties.iter().for_each(|(name, child)| self.below(child, &at.key(name)));
        if let Some(items) = &shape.items {
            self.below(items, &at.items());
        }
        if let Extra::Values(values) = &shape.extra {
            self.below(values, &at.values());
        }
    }

    /// As [`Keys::learn`], from labels that were given to items before: `[port=80,protocol="TCP"]`.
    pub fn recall<'l>(mut self, labels: impl Iterator<Item = &'l String>) -> Keys {
        for label in labels {
            let mut rest = label.as_str();
            while let Some((_, inside)) = rest.split_once('[') {
                let (names, tail) = key_names(inside);
                if !names.is_empty() && !self.used.contains(&names) {
                    self.used.push(names);
                }
                rest = tail;
            }
        }
        self
    }
}

/// The names in `port=80,protocol="TCP"]…`, and what follows them.
fn key_names(mut text: &str) -> (Vec<String>, &str) {
    let mut names = Vec::new();
    loop {
        let end = text.find(['=', ']', '"', '[', ',']).unwrap_or(text.len());
        let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let Some(value) = rest.strip_prefix('=') else { return (names, rest) };
        names.push(name.to_owned());
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
        let taken = match values.next() {
            Some(Ok(_)) => values.byte_offset(),
            _ => return (names, value),
        };
        match value.get(taken..).unwrap_or_default().strip_prefix(',') {
            Some(next) => text = next,
            None => return (names, value.get(taken..).unwrap_or_default()),
        }
    }
}

/// Where a container stands in its object.
#[derive(Debug, Default)]
pub(crate) struct Spot {
    pub path: ObjectPath,
    /// For each list item on the way what it may be called, the best first.
    called: Vec<Vec<String>>,
}

impl Spot {
    /// The path with list items by what they hold, so that it survives another order of the list.
    pub fn label(&self) -> String {
        self.text(&mut self.called.iter().map(|names| names.first().map_or("", String::as_str)))
    }

    /// Every label that the place could have got.
    pub fn labels(&self) -> Vec<String> {
        const MOST: usize = 64;
        let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
        for names in &self.called {
            let longer = choices.iter().flat_map(|chosen| names.iter().map(move |name| [chosen.as_slice(), &[name.as_str()]].concat()));
            choices = longer.take(MOST).collect();
        }
        choices.into_iter().map(|chosen| self.text(&mut chosen.into_iter())).collect()
    }

    pub fn in_list(&self) -> bool {
        !self.called.is_empty()
    }

    fn text(&self, called: &mut dyn Iterator<Item = &str>) -> String {
        let mut text = String::new();
        for step in self.path.steps() {
            match step {
                ObjectStep::Index(_) => text.push_str(called.next().unwrap_or_default()),
                ObjectStep::Key(name) | ObjectStep::Entry(name) => {
                    let name = FieldPath::root().key(name).to_string();
                    if !text.is_empty() && !name.starts_with('[') {
                        text.push('.');
                    }
                    text.push_str(&name);
                }
            }
        }
        text
    }
}

type Visit<'f, E> = dyn FnMut(&mut Value, &Spot) -> Result<(), E> + 'f;

struct Walk<'k> {
    keys: Option<&'k Keys>,
    inner: &'k [Names],
}

impl Walk<'_> {
    fn walk<E>(&self, value: &mut Value, steps: &[Step], at: &mut Spot, visit: &mut Visit<'_, E>) -> Result<(), E> {
        let Some((step, rest)) = steps.split_first() else { return visit(value, at) };
        match (step, value) {
            (Step::Key(name), Value::Object(map)) => {
                let Some(child) = map.get_mut(&**name) else { return Ok(()) };
                at.path.push(ObjectStep::Key(name.clone()));
                self.walk(child, rest, at, visit)?;
                at.path.pop();
            }
            (Step::Items, Value::Array(items)) => {
                let mut names = self.keys.map(|keys| self.names(keys, items, rest, at)).unwrap_or_default().into_iter();
                for (index, item) in items.iter_mut().enumerate() {
                    at.path.push(ObjectStep::Index(index));
                    at.called.push(names.next().unwrap_or_default());
                    self.walk(item, rest, at, visit)?;
                    at.called.pop();
                    at.path.pop();
                }
            }
            (Step::Values, Value::Object(map)) => {
                for (key, child) in map.iter_mut() {
                    at.path.push(ObjectStep::Entry(key.as_str().into()));
                    self.walk(child, rest, at, visit)?;
                    at.path.pop();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What each item may be called: by its keys, by its `name` if no other item has it, and by all it holds apart from what the
    /// step is about. Items that hold the same are counted.
    fn names(&self, keys: &Keys, items: &[Value], rest: &[Step], at: &Spot) -> Vec<Vec<String>> {
        let declared = keys.declared.get(&at.path.general()).into_iter().flatten();
        let name = vec!["name".to_owned()];
        let mut sets: Vec<&Vec<String>> = Vec::new();
        for set in declared.chain([&name]).chain(&keys.used) {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        let mut names: Vec<Vec<String>> = vec![Vec::new(); items.len()];
        for set in sets {
            let own: Vec<Option<String>> = items.iter().map(|item| by_keys(item, set)).collect();
            let mut count: BTreeMap<&String, usize> = BTreeMap::new();
            own.iter().flatten().for_each(|label| *count.entry(label).or_default() += 1);
            for (label, names) in own.iter().zip(&mut names) {
                names.extend(label.iter().filter(|label| count.get(label) == Some(&1)).cloned());
            }
        }
        let held: Vec<u64> = items.iter().map(|item| self.held(item, rest)).collect();
        let (mut like, mut before): (BTreeMap<u64, usize>, BTreeMap<u64, usize>) = Default::default();
        held.iter().for_each(|held| *like.entry(*held).or_default() += 1);
        for (held, names) in held.iter().zip(&mut names) {
            let number = before.entry(*held).or_default();
            names.push(match like.get(held) {
                Some(&like) if like > 1 => format!("[~{held:016x} {number}/{like}]"),
                _ => format!("[~{held:016x}]"),
            });
            *number += 1;
        }
        names
    }

    /// A number for what an item holds, the same before and after the step.
    fn held(&self, item: &Value, rest: &[Step]) -> u64 {
        let mut item = item.clone();
        self.inner.iter().for_each(|names| strip(&mut item, rest, names));
        fnv1a(item.to_string().bytes())
    }
}

fn by_keys(item: &Value, keys: &[String]) -> Option<String> {
    let part = |key: &String| {
        let value = item.get(key).filter(|value| value.is_string() || value.is_number() || value.is_boolean())?;
        Some(format!("{key}={value}"))
    };
    Some(format!("[{}]", keys.iter().map(part).collect::<Option<Vec<_>>>()?.join(",")))
}

/// Takes away all that a path below a value names.
fn strip(value: &mut Value, steps: &[Step], names: &[Box<str>]) {
    match (steps.split_first(), value) {
        (None, value) if names.is_empty() => *value = Value::Null,
        (None, value) => {
            take(value, names);
        }
        (Some((Step::Key(name), rest)), Value::Object(map)) => {
            if let Some(child) = map.get_mut(&**name) {
                strip(child, rest, names);
            }
        }
        (Some((Step::Items, rest)), Value::Array(items)) => items.iter_mut().for_each(|item| strip(item, rest, names)),
        (Some((Step::Values, rest)), Value::Object(map)) => map.iter_mut().for_each(|(_, child)| strip(child, rest, names)),
        _ => {}
    }
}

pub(crate) fn get<'v>(container: &'v Value, names: &[Box<str>]) -> Option<&'v Value> {
    names.iter().try_fold(container, |value, name| value.get(&**name))
}

pub(crate) fn get_mut<'v>(container: &'v mut Value, names: &[Box<str>]) -> Option<&'v mut Value> {
    names.iter().try_fold(container, |value, name| value.get_mut(&**name))
}

/// Takes a value away, and with it the parents below the container that it leaves empty.
pub(crate) fn take(container: &mut Value, names: &[Box<str>]) -> Option<Value> {
    let (first, rest) = names.split_first()?;
    let map = container.as_object_mut()?;
    if rest.is_empty() {
        return map.remove(&**first);
    }
    let child = map.get_mut(&**first)?;
    let taken = take(child, rest)?;
    if child.as_object().is_some_and(Map::is_empty) {
        map.remove(&**first);
    }
    Some(taken)
}

/// Something that is no object stands where a parent is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked;

/// Puts a value in its place and makes the parents that are missing; a null parent counts as missing.
pub(crate) fn put(container: &mut Value, names: &[Box<str>], value: Value) -> Result<(), Blocked> {
    let Some((first, rest)) = names.split_first() else {
        *container = value;
        return Ok(());
    };
    if container.is_null() {
        *container = Value::Object(Map::new());
    }
    let map = container.as_object_mut().ok_or(Blocked)?;
    if rest.is_empty() {
        map.insert(first.as_ref().to_owned(), value);
        return Ok(());
    }
    let child = map.entry(first.as_ref().to_owned()).or_insert(Value::Null);
    put(child, rest, value)
}

/// The full path of a value inside a container.
pub(crate) fn place(container: &ObjectPath, names: &[Box<str>]) -> ObjectPath {
    names.iter().fold(container.clone(), |path, name| path.key(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).unwrap()
    }

    #[test]
    fn paths_share_their_containers() {
        let region = Region::of(&[&path("spec.rules[].timeout"), &path("spec.rules[].timeouts.request")]).unwrap();
        assert_eq!(region.prefix.to_string(), "spec.rules[]");
        assert_eq!(region.inner, [vec![Box::from("timeout")], vec!["timeouts".into(), "request".into()]]);
        assert_eq!(Region::of(&[&path("spec.a[].x"), &path("spec.b[].x")]), None);
        assert_eq!(Region::of(&[&path("spec.ports[]")]).unwrap().inner, [Names::new()]);
        let region = Region::of(&[&path("spec.a.b"), &path("spec.c")]).unwrap();
        assert_eq!((region.prefix.to_string().as_str(), region.inner.len()), ("spec", 2));
        assert_eq!(Region::of(&[&path("spec.a.b"), &path("spec.a")]).unwrap().prefix.to_string(), "spec");
    }

    #[test]
    fn what_is_taken_leaves_no_empty_parent_of_its_own() {
        let mut object = json!({"a": {"b": {"c": 1}}, "x": {}});
        let names: Names = vec!["a".into(), "b".into(), "c".into()];
        assert_eq!(take(&mut object, &names), Some(json!(1)));
        assert_eq!(object, json!({"x": {}}));
        put(&mut object, &names, json!(2)).unwrap();
        assert_eq!(object, json!({"a": {"b": {"c": 2}}, "x": {}}));
        assert_eq!(put(&mut object, &["a".into(), "b".into(), "c".into(), "d".into()], json!(1)), Err(Blocked));
    }

    #[test]
    fn keys_are_read_from_labels() {
        let labels = ["drop spec.l[port=80,protocol=\"T[C]P\"].m[name=\"x\"].a".to_owned(), "drop spec[\"a.b\"][~0 0/2]".to_owned()];
        assert_eq!(Keys::default().recall(labels.iter()).used, [vec!["port".to_owned(), "protocol".to_owned()], vec!["name".to_owned()]]);
    }

    #[test]
    fn every_container_is_visited() {
        let mut object = json!({"m": {"k": [{"v": 1}, {"v": 2}], "l": [{"v": 3}]}});
        let region = Region::of(&[&path("m{}[].v")]).unwrap();
        let mut seen = Vec::new();
        let done: Result<(), ()> = region.visit(&mut object, None, &mut |container, at| {
            seen.push((place(&at.path, &region.inner[0]).to_string(), get(container, &region.inner[0]).cloned()));
            Ok(())
        });
        done.unwrap();
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[1], ("m.k[1].v".to_owned(), Some(json!(2))));
    }
}
