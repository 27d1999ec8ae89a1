//! The places of one object that a path with `[]` and `{}` names, and how values get there and away.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::crd::{FieldPath, Step};
use crate::validate::{ObjectPath, ObjectStep};

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

    /// Calls `visit` with every container that is there.
    pub fn visit<E>(&self, object: &mut Value, visit: &mut Visit<'_, E>) -> Result<(), E> {
        walk(object, self.prefix.steps(), &mut Spot::default(), visit)
    }
}

/// Where a container stands in its object.
#[derive(Debug, Default)]
pub(crate) struct Spot {
    pub path: ObjectPath,
    /// For each list item on the way its `name`, if no other item has it, and how many items there are.
    called: Vec<(Option<String>, usize)>,
}

impl Spot {
    /// The path with list items by their own names, so that it survives another order of the list; an item without one
    /// is known by its place among all of them.
    pub fn label(&self) -> String {
        let mut text = String::new();
        let mut called = self.called.iter();
        for step in self.path.steps() {
            match step {
                ObjectStep::Index(index) => match called.next() {
                    Some((Some(name), _)) => text.push_str(&format!("[name={name}]")),
                    Some((None, count)) => text.push_str(&format!("[{index}/{count}]")),
                    None => text.push_str(&format!("[{index}]")),
                },
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

/// The `name` of each item that is the only one to have it.
fn own_names(items: &[Value]) -> Vec<Option<String>> {
    let name = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
    let names: Vec<Option<String>> = items.iter().map(name).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    names.iter().flatten().for_each(|name| *count.entry(name).or_default() += 1);
    let single: Vec<bool> = names.iter().map(|name| name.as_deref().is_some_and(|name| count.get(name) == Some(&1))).collect();
    names.into_iter().zip(single).map(|(name, single)| name.filter(|_| single)).collect()
}

type Visit<'f, E> = dyn FnMut(&mut Value, &Spot) -> Result<(), E> + 'f;

fn walk<E>(value: &mut Value, steps: &[Step], at: &mut Spot, visit: &mut Visit<'_, E>) -> Result<(), E> {
    let Some((step, rest)) = steps.split_first() else { return visit(value, at) };
    match (step, value) {
        (Step::Key(name), Value::Object(map)) => {
            let Some(child) = map.get_mut(&**name) else { return Ok(()) };
            at.path.push(ObjectStep::Key(name.clone()));
            walk(child, rest, at, visit)?;
            at.path.pop();
        }
        (Step::Items, Value::Array(items)) => {
            let count = items.len();
            let names = own_names(items);
            for (index, item) in items.iter_mut().enumerate() {
                at.path.push(ObjectStep::Index(index));
                at.called.push((names.get(index).cloned().flatten(), count));
                walk(item, rest, at, visit)?;
                at.called.pop();
                at.path.pop();
            }
        }
        (Step::Values, Value::Object(map)) => {
            for (key, child) in map.iter_mut() {
                at.path.push(ObjectStep::Entry(key.as_str().into()));
                walk(child, rest, at, visit)?;
                at.path.pop();
            }
        }
        _ => {}
    }
    Ok(())
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
    fn every_container_is_visited() {
        let mut object = json!({"m": {"k": [{"v": 1}, {"v": 2}], "l": [{"v": 3}]}});
        let region = Region::of(&[&path("m{}[].v")]).unwrap();
        let mut seen = Vec::new();
        let done: Result<(), ()> = region.visit(&mut object, &mut |container, at| {
            seen.push((place(&at.path, &region.inner[0]).to_string(), get(container, &region.inner[0]).cloned()));
            Ok(())
        });
        done.unwrap();
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[1], ("m.k[1].v".to_owned(), Some(json!(2))));
    }
}
