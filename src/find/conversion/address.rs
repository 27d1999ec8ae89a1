//! Finds the containers that a step's paths refer to, and reads, writes and removes values inside them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::hash::fnv1a;
use crate::model::schema::Shape;
use crate::model::schema::shape::ListType;
use crate::model::{FieldPath, PathStep};
use crate::server::object::{ObjectPath, ObjectStep};

/// Property names from a container down to a value.
pub(crate) type NamePath = Vec<Box<str>>;

/// The paths of one step, split into the path of its containers and the paths inside each container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Containers {
    pub prefix: FieldPath,
    /// One list of names per path; empty if the path is the container itself.
    pub inner: Vec<NamePath>,
}

impl Containers {
    /// Finds the deepest container that all paths share.
    ///
    /// Returns `None` if a path still has `[]` or `{}` below it, because its values couldn't be paired with those of the other
    /// paths.
    pub fn of(paths: &[&FieldPath]) -> Option<Containers> {
        let first = paths.first()?.steps();
        // The container of a named field is its parent; an element of a list or map is its own container.
        let parent = |path: &FieldPath| match path.steps() {
            [above @ .., PathStep::Key(_)] => above.len(),
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
                rest.iter()
                    .map(|step| if let PathStep::Key(name) = step { Some(name.clone()) } else { None })
                    .collect::<Option<NamePath>>()?,
            );
        }
        Some(Containers { prefix, inner })
    }

    /// Calls `visit` for every container that exists. If keys are given, the list items on the path are labelled.
    pub fn visit<E>(&self, object: &mut Value, keys: Option<&ListKeys>, visit: &mut Visit<'_, E>) -> Result<(), E> {
        ContainerWalk { keys, inner: &self.inner }.walk(object, self.prefix.steps(), &mut ContainerLocation::default(), visit)
    }
}

/// The field that identifies the items of a list if its schema doesn't declare others.
const NAME: &str = "name";

/// The fields that identify the items of lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListKeys {
    declared: BTreeMap<FieldPath, Vec<Vec<String>>>,
    /// Fields that identified list items when values were preserved; they apply to any list.
    used: Vec<Vec<String>>,
}

impl ListKeys {
    /// Whether a field may identify the items of a list.
    pub fn identify(&self, field: &str) -> bool {
        field == NAME || self.declared.values().flatten().flatten().any(|key| key == field)
    }

    /// Adds the keys of all lists of a schema.
    pub fn add_schema(&mut self, shape: &Shape) {
        self.below(shape, &FieldPath::root());
    }

    fn below(&mut self, shape: &Shape, at: &FieldPath) {
        if shape.list_type == ListType::Map && !shape.map_keys.is_empty() {
            let known = self.declared.entry(at.clone()).or_default();
            if !known.contains(&shape.map_keys) {
                known.push(shape.map_keys.clone());
            }
        }
        shape.children_at(at).for_each(|(at, child)| self.below(child, &at));
    }

    /// Like [`ListKeys::add_schema`], but takes the keys from the labels of preserved values: `[port=80,protocol="TCP"]`.
    pub fn add_labels<'l>(mut self, labels: impl Iterator<Item = &'l String>) -> ListKeys {
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

/// Parses the key names in `port=80,protocol="TCP"]…`, and returns them with the rest of the text.
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

/// The location of a container in its object.
#[derive(Debug, Default)]
pub(crate) struct ContainerLocation {
    pub path: ObjectPath,
    /// The possible labels of each list item on the path, best first.
    item_labels: Vec<Vec<String>>,
}

impl ContainerLocation {
    /// The path with labels instead of list indices, so that it stays valid when the list is reordered.
    pub fn label(&self) -> String {
        self.text(&mut self.item_labels.iter().map(|names| names.first().map_or("", String::as_str)))
    }

    /// Every possible label of the location.
    pub fn labels(&self) -> Vec<String> {
        const MOST: usize = 64;
        let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
        for names in &self.item_labels {
            let longer = choices.iter().flat_map(|chosen| names.iter().map(move |name| [chosen.as_slice(), &[name.as_str()]].concat()));
            choices = longer.take(MOST).collect();
        }
        choices.into_iter().map(|chosen| self.text(&mut chosen.into_iter())).collect()
    }

    pub fn in_list(&self) -> bool {
        !self.item_labels.is_empty()
    }

    fn text(&self, item_labels: &mut dyn Iterator<Item = &str>) -> String {
        let mut text = String::new();
        for step in self.path.steps() {
            match step {
                ObjectStep::Index(_) => text.push_str(item_labels.next().unwrap_or_default()),
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

type Visit<'f, E> = dyn FnMut(&mut Value, &ContainerLocation) -> Result<(), E> + 'f;

struct ContainerWalk<'k> {
    keys: Option<&'k ListKeys>,
    inner: &'k [NamePath],
}

impl ContainerWalk<'_> {
    fn walk<E>(&self, value: &mut Value, steps: &[PathStep], at: &mut ContainerLocation, visit: &mut Visit<'_, E>) -> Result<(), E> {
        let Some((step, rest)) = steps.split_first() else { return visit(value, at) };
        match (step, value) {
            (PathStep::Key(name), Value::Object(map)) => {
                let Some(child) = map.get_mut(&**name) else { return Ok(()) };
                at.path.push(ObjectStep::Key(name.clone()));
                self.walk(child, rest, at, visit)?;
                at.path.pop();
            }
            (PathStep::Items, Value::Array(items)) => {
                let mut names = self.keys.map(|keys| self.names(keys, items, rest, at)).unwrap_or_default().into_iter();
                for (index, item) in items.iter_mut().enumerate() {
                    at.path.push(ObjectStep::Index(index));
                    at.item_labels.push(names.next().unwrap_or_default());
                    self.walk(item, rest, at, visit)?;
                    at.item_labels.pop();
                    at.path.pop();
                }
            }
            (PathStep::Values, Value::Object(map)) => {
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

    /// Returns the possible labels of each item: its keys, its `name` if unique, and a hash of its content without the fields of
    /// the step. Items with equal content are numbered.
    fn names(&self, keys: &ListKeys, items: &[Value], rest: &[PathStep], at: &ContainerLocation) -> Vec<Vec<String>> {
        let declared = keys.declared.get(&at.path.general()).into_iter().flatten();
        let name = vec![NAME.to_owned()];
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
        let hashes: Vec<u64> = items.iter().map(|item| self.content_hash(item, rest)).collect();
        let (mut like, mut before): (BTreeMap<u64, usize>, BTreeMap<u64, usize>) = Default::default();
        hashes.iter().for_each(|hash| *like.entry(*hash).or_default() += 1);
        for (hash, names) in hashes.iter().zip(&mut names) {
            let number = before.entry(*hash).or_default();
            names.push(match like.get(hash) {
                Some(&like) if like > 1 => format!("[~{hash:016x} {number}/{like}]"),
                _ => format!("[~{hash:016x}]"),
            });
            *number += 1;
        }
        names
    }

    /// Hashes an item's content without the fields of the step, so that the hash is the same before and after the step.
    fn content_hash(&self, item: &Value, rest: &[PathStep]) -> u64 {
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

/// Removes everything that a path addresses below a value.
fn strip(value: &mut Value, steps: &[PathStep], names: &[Box<str>]) {
    match (steps.split_first(), value) {
        (None, value) if names.is_empty() => *value = Value::Null,
        (None, value) => {
            take(value, names);
        }
        (Some((PathStep::Key(name), rest)), Value::Object(map)) => {
            if let Some(child) = map.get_mut(&**name) {
                strip(child, rest, names);
            }
        }
        (Some((PathStep::Items, rest)), Value::Array(items)) => items.iter_mut().for_each(|item| strip(item, rest, names)),
        (Some((PathStep::Values, rest)), Value::Object(map)) => map.iter_mut().for_each(|(_, child)| strip(child, rest, names)),
        _ => {}
    }
}

pub(crate) fn get<'v>(container: &'v Value, names: &[Box<str>]) -> Option<&'v Value> {
    names.iter().try_fold(container, |value, name| value.get(&**name))
}

pub(crate) fn get_mut<'v>(container: &'v mut Value, names: &[Box<str>]) -> Option<&'v mut Value> {
    names.iter().try_fold(container, |value, name| value.get_mut(&**name))
}

/// Removes a value, and any parents inside the container that become empty.
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

/// A parent of the target is not an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParentNotObject;

/// Writes a value and creates missing parents; a null parent counts as missing.
pub(crate) fn put(container: &mut Value, names: &[Box<str>], value: Value) -> Result<(), ParentNotObject> {
    let Some((first, rest)) = names.split_first() else {
        *container = value;
        return Ok(());
    };
    if container.is_null() {
        *container = Value::Object(Map::new());
    }
    let map = container.as_object_mut().ok_or(ParentNotObject)?;
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
        let containers = Containers::of(&[&path("spec.rules[].timeout"), &path("spec.rules[].timeouts.request")]).unwrap();
        assert_eq!(containers.prefix.to_string(), "spec.rules[]");
        assert_eq!(containers.inner, [vec![Box::from("timeout")], vec!["timeouts".into(), "request".into()]]);
        assert_eq!(Containers::of(&[&path("spec.a[].x"), &path("spec.b[].x")]), None);
        assert_eq!(Containers::of(&[&path("spec.ports[]")]).unwrap().inner, [NamePath::new()]);
        let containers = Containers::of(&[&path("spec.a.b"), &path("spec.c")]).unwrap();
        assert_eq!((containers.prefix.to_string().as_str(), containers.inner.len()), ("spec", 2));
        assert_eq!(Containers::of(&[&path("spec.a.b"), &path("spec.a")]).unwrap().prefix.to_string(), "spec");
    }

    #[test]
    fn empty_parents_are_removed_with_the_value() {
        let mut object = json!({"a": {"b": {"c": 1}}, "x": {}});
        let names: NamePath = vec!["a".into(), "b".into(), "c".into()];
        assert_eq!(take(&mut object, &names), Some(json!(1)));
        assert_eq!(object, json!({"x": {}}));
        put(&mut object, &names, json!(2)).unwrap();
        assert_eq!(object, json!({"a": {"b": {"c": 2}}, "x": {}}));
        assert_eq!(put(&mut object, &["a".into(), "b".into(), "c".into(), "d".into()], json!(1)), Err(ParentNotObject));
    }

    #[test]
    fn keys_are_read_from_labels() {
        let labels = ["drop spec.l[port=80,protocol=\"T[C]P\"].m[name=\"x\"].a".to_owned(), "drop spec[\"a.b\"][~0 0/2]".to_owned()];
        assert_eq!(
            ListKeys::default().add_labels(labels.iter()).used,
            [vec!["port".to_owned(), "protocol".to_owned()], vec!["name".to_owned()]]
        );
    }

    #[test]
    fn every_container_is_visited() {
        let mut object = json!({"m": {"k": [{"v": 1}, {"v": 2}], "l": [{"v": 3}]}});
        let containers = Containers::of(&[&path("m{}[].v")]).unwrap();
        let mut seen = Vec::new();
        let done: Result<(), ()> = containers.visit(&mut object, None, &mut |container, at| {
            seen.push((place(&at.path, &containers.inner[0]).to_string(), get(container, &containers.inner[0]).cloned()));
            Ok(())
        });
        done.unwrap();
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[1], ("m.k[1].v".to_owned(), Some(json!(2))));
    }
}
