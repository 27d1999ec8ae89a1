//! Random objects around the literals of CEL rules: a break that no method derives is often found in a few hundred tries.
//!
//! The generator has a fixed seed, so the objects are always the same.

mod learnt;
mod library_texts;

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::model::PathStep;
use crate::model::number::as_sent;
use crate::model::schema::shape::{Extra, ListType, Type};
use crate::model::schema::{Shape, is_meta};
use crate::server::object::clause_accepts;

use super::Budget;
use super::random::Random;
use super::solver::{Goal, Pin, PinTarget, Preference, Reader, Solver};
use learnt::Learnt;

/// The maximum nesting of generated values.
const MAX_DEPTH: usize = 24;
/// The longest list that is generated to reach an upper bound.
const MAX_ITEMS: u64 = 70;
/// One in this many objects has lists of maximum length.
const FULL: usize = 250;
/// How many nested lists are filled this way.
const MAX_FULL: usize = 2;
/// How many values of one scalar are kept.
const MAX_LEAF: usize = 200;
/// The longest text that is generated to reach an upper bound.
const MAX_TEXT: u64 = 1_024;

/// Generates random values of a schema.
pub(super) struct Sampler<'s> {
    random: Random,
    learnt: Learnt,
    /// The few scalars that one object is mostly made of, so that its parts are often equal.
    palette: Vec<Value>,
    /// The values that a scalar node accepts, by its address.
    leaves: HashMap<usize, Leaf>,
    /// Values of nodes with their own rules, which random values rarely satisfy, by the address of the node.
    valid: HashMap<usize, Vec<Value>>,
    /// How many objects were generated so far.
    made: usize,
    /// Whether this object has long lists, and how many of them enclose the current value.
    full: bool,
    lists: usize,
    solver: Solver<'s>,
    budget: Budget,
}

/// The values that are worth trying at a scalar node.
struct Leaf {
    values: Vec<Value>,
    /// Those made for the library functions in the rules.
    library: Vec<Value>,
}

impl<'s> Sampler<'s> {
    /// `rules` are the texts whose literals and fields are used.
    pub(super) fn new<'r>(rules: impl Iterator<Item = &'r str>, budget: &Budget) -> Self {
        Sampler {
            random: Random(0x9E37_79B9_7F4A_7C15),
            learnt: Learnt::of(rules),
            palette: Vec::new(),
            leaves: HashMap::new(),
            valid: HashMap::new(),
            made: 0,
            full: false,
            lists: 0,
            solver: Solver::new(Preference::Small, budget),
            budget: budget.clone(),
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    /// An element of a list; the first ones more often, so that two fields are often equal.
    fn one_of<'v>(&mut self, list: &'v [Value]) -> Option<&'v Value> {
        let end = match self.below(10) {
            0..5 => list.len().min(4),
            5..8 => list.len().min(14),
            _ => list.len(),
        };
        list.get(self.below(end))
    }

    /// A body for the root of a resource with a value at the path: random there, and as small as possible elsewhere.
    pub(super) fn body(&mut self, root: &'s Shape, path: &[PathStep]) -> Option<Value> {
        self.mix();
        self.made += 1;
        self.full = self.made % FULL == FULL / 2;
        let mut body = self.toward(root, path)?;
        body.as_object_mut()?.retain(|key, _| !is_meta(key));
        Some(body)
    }

    /// Chooses another palette.
    fn mix(&mut self) {
        self.palette.clear();
        for _ in 0..3 {
            let end = if self.below(3) > 0 { 16 } else { usize::MAX };
            let texts = if self.below(2) == 0 { self.learnt.written.max(2) } else { end };
            let (text, number) = (self.below(texts.min(self.learnt.texts.len())), self.below(end.min(self.learnt.numbers.len())));
            self.palette.extend(self.learnt.texts.get(text).map(|text| Value::from(text.as_str())));
            self.palette.extend(self.learnt.numbers.get(number).map(|&x| as_sent(x)));
        }
    }

    fn toward(&mut self, shape: &'s Shape, path: &[PathStep]) -> Option<Value> {
        let Some((step, rest)) = path.split_first() else { return self.value(shape, true, 0) };
        match step {
            PathStep::Items => Some(Value::Array(vec![self.toward(shape.items.as_deref()?, rest)?])),
            PathStep::Values => {
                let values = shape.values()?;
                let mut map = self.required(shape, false, 0)?;
                map.insert("key".to_owned(), self.toward(values, rest)?);
                Some(Value::Object(map))
            }
            PathStep::Key(key) => {
                let below = self.toward(shape.value_of(key)?, rest)?;
                // A node with rules may need more than its required fields.
                let known = if shape.rules.is_empty() { None } else { self.valid(shape).into_iter().next() };
                let mut map = match known {
                    Some(Value::Object(map)) => map,
                    _ => self.required(shape, false, 0)?,
                };
                map.insert(key.to_string(), below);
                Some(Value::Object(map))
            }
        }
    }

    fn required(&mut self, shape: &'s Shape, rich: bool, depth: usize) -> Option<Map<String, Value>> {
        let mut map = Map::new();
        for name in &shape.required {
            if let Some(child) = shape.property(name) {
                map.insert(name.clone(), self.value(child, rich, depth + 1)?);
            }
        }
        if shape.embedded {
            for key in ["apiVersion", "kind"] {
                map.entry(key).or_insert_with(|| "v1".into());
            }
            map.entry("metadata").or_insert_with(|| serde_json::json!({"name": "a"}));
        }
        Some(map)
    }

    /// A value of a node; `rich` values have optional fields.
    fn value(&mut self, shape: &'s Shape, rich: bool, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        if depth > 0 && !shape.rules.is_empty() && !self.full {
            let known = self.valid(shape);
            if !known.is_empty() && self.below(3) > 0 {
                return known.get(self.below(known.len())).cloned();
            }
        }
        let object = shape.ty == Some(Type::Object) || (shape.ty.is_none() && !shape.properties.is_empty());
        match shape.ty {
            _ if object && self.full => self.with_long_lists(shape, depth),
            Some(Type::Array) if self.full => self.long_list(shape, depth),
            _ if object => {
                let mut map = self.required(shape, rich, depth)?;
                if rich {
                    self.budget.spend(shape.properties.len());
                    for (name, child) in &shape.properties {
                        let chance = if self.learnt.named.contains(name) { 65 } else { 3 };
                        if !map.contains_key(name) && self.below(100) < chance {
                            map.extend(self.value(child, true, depth + 1).map(|value| (name.clone(), value)));
                        }
                    }
                    self.entries(shape, &mut map, depth);
                }
                Some(Value::Object(map))
            }
            Some(Type::Array) => {
                let count = usize::try_from(shape.item_count.min).ok()?;
                let most = shape.item_count.max.unwrap_or(4).min(MAX_ITEMS);
                let count = match self.below(12) {
                    _ if !rich => count,
                    0 => usize::try_from(most).ok()?.max(count),
                    _ => (count + self.below(4)).min(usize::try_from(most).ok()?.max(count)),
                };
                if count > usize::try_from(MAX_ITEMS).ok()? {
                    return None;
                }
                let mut items: Vec<Value> = Vec::new();
                for _ in 0..count {
                    let again = self.below(3) == 0;
                    let known = if again { items.get(self.below(items.len())).cloned() } else { None };
                    let item = match (known, shape.items.as_deref()) {
                        (Some(known), _) => known,
                        (None, Some(node)) => self.value(node, rich, depth + 1)?,
                        (None, None) => Value::from("a"),
                    };
                    items.push(item);
                }
                Some(Value::Array(items))
            }
            _ => {
                let leaf = self.leaf(shape);
                let chosen: Vec<Value> = self.palette.iter().filter(|value| leaf.values.contains(value)).cloned().collect();
                let value = match chosen.is_empty() || self.below(4) == 0 {
                    _ if self.full && self.learnt.measures && self.below(2) == 0 => longest(&leaf.values),
                    _ if !leaf.library.is_empty() && self.below(4) == 0 => leaf.library.get(self.below(leaf.library.len())).cloned(),
                    true => self.one_of(&leaf.values).cloned(),
                    false => chosen.get(self.below(chosen.len())).cloned(),
                };
                self.leaves.insert(std::ptr::from_ref(shape).addr(), leaf);
                value
            }
        }
    }

    /// An object with the lists and maps that rules mention, and little else.
    fn with_long_lists(&mut self, shape: &'s Shape, depth: usize) -> Option<Value> {
        let known = if depth > 0 && !shape.rules.is_empty() { self.valid(shape).into_iter().next() } else { None };
        let mut map = match known {
            Some(Value::Object(map)) => map,
            _ => self.required(shape, false, depth)?,
        };
        let named: Vec<(&'s String, &'s Shape)> = shape
            .properties
            .iter()
            .filter(|(name, _)| self.learnt.named.contains(*name))
            .map(|(name, child)| (name, child.as_ref()))
            .collect();
        for (name, child) in named {
            if child.ty == Some(Type::Array) || (child.ty == Some(Type::Object) && self.below(2) == 0) {
                map.extend(self.value(child, true, depth + 1).map(|value| (name.clone(), value)));
            }
        }
        if let Extra::Values(values) = &shape.extra {
            let count = shape.property_count.max.unwrap_or(0).min(MAX_ITEMS);
            let value = if count > 0 { self.value(values, true, depth + 1) } else { None };
            map.extend(value.into_iter().flat_map(|value| (0..count).map(move |index| (format!("key{index}"), value.clone()))));
        }
        Some(Value::Object(map))
    }

    /// The same item as often as allowed.
    fn long_list(&mut self, shape: &'s Shape, depth: usize) -> Option<Value> {
        let least = shape.item_count.min;
        let most = shape.item_count.max.unwrap_or(MAX_ITEMS).min(MAX_ITEMS);
        let unique = shape.unique_items || shape.list_type != ListType::Atomic;
        let count = match self.lists < MAX_FULL && !unique {
            true => most.max(least),
            false => least,
        };
        if count > MAX_ITEMS {
            return None;
        }
        self.lists += 1;
        let item = shape.items.as_deref().map_or(Some(Value::from("a")), |node| self.value(node, true, depth + 1));
        self.lists -= 1;
        Some(Value::Array(vec![item?; usize::try_from(count).ok()?]))
    }

    /// Values that satisfy a node and its rules: the smallest, and one for each enum value in it.
    fn valid(&mut self, shape: &'s Shape) -> Vec<Value> {
        let address = std::ptr::from_ref(shape).addr();
        if let Some(known) = self.valid.get(&address) {
            return known.clone();
        }
        let mut found: Vec<Value> = self.solver.solve(&Goal::of(shape, false)).found().into_iter().collect();
        for (name, child) in shape.properties.iter().filter(|(_, child)| child.enum_values.is_some()).take(3) {
            let steps = [PathStep::Key(name.as_str().into())];
            for value in child.enum_values.iter().flatten().take(16) {
                let pin = Some(Pin { steps: &steps, target: PinTarget::Value(value) });
                let mut solver = Solver::new(Preference::Small, &self.budget);
                found.extend(solver.solve(&Goal { pin, ..Goal::of(shape, false) }).found());
            }
        }
        self.valid.insert(address, found.clone());
        found
    }

    /// Generates entries of a map.
    fn entries(&mut self, shape: &'s Shape, map: &mut Map<String, Value>, depth: usize) {
        let values = match &shape.extra {
            Extra::Values(values) => Some(values.as_ref()),
            Extra::Any => None,
            _ => return,
        };
        let least = usize::try_from(shape.property_count.min).unwrap_or(0).min(MAX_ITEMS as usize);
        let most = if shape.property_count.max == Some(0) { 0 } else { 3 };
        for _ in 0..self.below(most + 1).max(least) {
            let written = self.learnt.written;
            let few = match self.below(4) {
                0 => usize::MAX,
                1 => 14,
                _ => written.max(3),
            };
            let index = self.below(few.min(self.learnt.texts.len()));
            // The empty key is only tried if a rule has it.
            let Some(key) = self.learnt.texts.get(index).filter(|key| !key.is_empty() || index < written).cloned() else { continue };
            let value = values.map_or(Some(Value::from("a")), |node| self.value(node, true, depth + 1));
            map.extend(value.map(|value| (key, value)));
        }
    }

    /// The values of a scalar that are worth trying.
    fn leaf(&mut self, shape: &'s Shape) -> Leaf {
        if let Some(known) = self.leaves.remove(&std::ptr::from_ref(shape).addr()) {
            return known;
        }
        let texts = shape.int_or_string || matches!(shape.ty, None | Some(Type::String));
        let numbers = shape.int_or_string || matches!(shape.ty, Some(Type::Integer | Type::Number));
        let mut list: Vec<Value> = shape.enum_values.iter().flatten().filter(|value| !value.is_null()).cloned().collect();
        list.extend(self.solver.solve(&Goal::of(shape, false)).found());
        if shape.ty == Some(Type::Boolean) {
            list.extend([true.into(), false.into()]);
        }
        if numbers {
            let bounds =
                [shape.bounds.minimum, shape.bounds.maximum].into_iter().flatten().flat_map(|bound| [bound, bound + 1.0, bound - 1.0]);
            let fractions = shape.ty == Some(Type::Number);
            let bounds: Vec<f64> = bounds.collect();
            list.extend(bounds.iter().chain(&self.learnt.numbers).map(|&x| as_sent(x)).filter(|number| fractions || number.is_i64()));
            // Beyond what a float can represent exactly, and where sums and products overflow.
            list.extend([9_007_199_254_740_993_i64, i64::MAX, i64::MIN].map(Value::from));
        }
        if texts {
            list.extend(self.learnt.texts.iter().map(|text| Value::from(text.as_str())));
            let longest = shape.length.max.filter(|length| self.learnt.measures && *length <= MAX_TEXT);
            list.extend(longest.and_then(|length| Some(Value::from("a".repeat(usize::try_from(length).ok()?)))));
        }
        let reader = Reader::of(shape);
        let accepted = |value: &Value| clause_accepts(value, &reader) != Some(false);
        let mut values: Vec<Value> = Vec::new();
        for value in list {
            if values.len() < MAX_LEAF && !values.contains(&value) && accepted(&value) {
                values.push(value);
            }
        }
        if shape.nullable {
            values.push(Value::Null);
        }
        let library = self.learnt.library.iter().filter(|_| texts).map(|text| Value::from(text.as_str())).filter(accepted).collect();
        Leaf { values, library }
    }

    /// Picks one of a list, and a random number.
    pub(super) fn pick<'v, V>(&mut self, list: &'v [V]) -> Option<(&'v V, u64)> {
        let picked = list.get(self.below(list.len()))?;
        Some((picked, self.random.0))
    }

    /// Changes one or two places of a value below the path.
    pub(super) fn changed(&mut self, value: &Value, root: &'s Shape, path: &[PathStep]) -> Option<Value> {
        let mut changed = value.clone();
        for _ in 0..=self.below(2) {
            self.change(&mut changed, root, path, 0)?;
        }
        Some(changed)
    }

    fn change(&mut self, value: &mut Value, shape: &'s Shape, path: &[PathStep], depth: usize) -> Option<()> {
        if let Some((step, rest)) = path.split_first() {
            return match (step, value) {
                (PathStep::Items, Value::Array(items)) => self.change(items.first_mut()?, shape.items.as_deref()?, rest, depth),
                (PathStep::Values, Value::Object(map)) => self.change(map.get_mut("key")?, shape.values()?, rest, depth),
                (PathStep::Key(key), Value::Object(map)) => self.change(map.get_mut(&**key)?, shape.property(key)?, rest, depth),
                _ => None,
            };
        }
        match value {
            _ if depth > MAX_DEPTH || self.below(8) == 0 => *value = self.value(shape, true, depth)?,
            Value::Object(map) => {
                let named: Vec<(&'s String, &'s Shape)> = shape
                    .properties
                    .iter()
                    .filter(|(name, _)| self.learnt.named.contains(*name) && !(depth == 0 && is_meta(name)))
                    .map(|(name, child)| (name, child.as_ref()))
                    .collect();
                match named.get(self.below(named.len())) {
                    Some((name, child)) => match map.get_mut(*name) {
                        Some(_) if self.below(4) == 0 => drop(map.remove(*name)),
                        Some(below) => self.change(below, child, &[], depth + 1)?,
                        None => drop(map.insert((*name).clone(), self.value(child, true, depth + 1)?)),
                    },
                    None => {
                        map.clear();
                        map.extend(self.required(shape, true, depth)?);
                        self.entries(shape, map, depth);
                    }
                }
            }
            Value::Array(items) => {
                let node = shape.items.as_deref()?;
                let at = self.below(items.len());
                match self.below(3) {
                    0 if !items.is_empty() => drop(items.remove(at)),
                    1 => items.push(self.value(node, true, depth + 1)?),
                    _ => match items.get_mut(at) {
                        Some(item) => self.change(item, node, &[], depth + 1)?,
                        None => items.push(self.value(node, true, depth + 1)?),
                    },
                }
            }
            _ => *value = self.value(shape, true, depth)?,
        }
        Some(())
    }
}

/// The longest text among some values, or else the first value.
fn longest(values: &[Value]) -> Option<Value> {
    let texts = values.iter().filter(|value| value.is_string());
    texts.max_by_key(|value| value.as_str().map(str::len)).or(values.first()).cloned()
}
