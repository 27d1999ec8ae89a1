//! When an operation followed by its inverse gives back every object of a shape: each sort of step has its own condition.

use serde_json::Value;

use crate::compare::Budget;
use crate::compare::text::{TextDomain, TextGoal};
use crate::go::regexp::Pattern;
use crate::go::strfmt::Format;
use crate::model::FieldPath;
use crate::model::relation::Find;
use crate::model::schema::Shape;
use crate::model::schema::shape::{Extra, ListType, Type};

use super::address::Region;
use super::output_schema::INTEGER;
use super::shape_edit::{always_below, always_there, declared, never_there, open, prefix};
use super::step::keyed::Keying;
use super::step::parts::{Form, PartType};
use super::step::retype::{Scalar, retype};
use super::step::scale::Factor;
use super::step::values::Table;
use super::step::{Conflict, Op};

/// Why the inverse may not bring an object back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    pub reason: String,
    /// Whether keeping the values beside the object helps.
    pub keepable: bool,
    /// A value that may show it.
    pub hint: Option<(FieldPath, Value)>,
}

fn lost(reason: impl Into<String>) -> Result<(), Obstacle> {
    Err(Obstacle { reason: reason.into(), keepable: true, hint: None })
}

fn lost_by(path: &FieldPath, value: impl Into<Value>, reason: impl Into<String>) -> Result<(), Obstacle> {
    Err(Obstacle { reason: reason.into(), keepable: true, hint: Some((path.clone(), value.into())) })
}

/// Shows that `op` and then its inverse is the identity on all objects of the shape, up to their normal form.
pub(crate) fn exact(op: &Op, shape: &Shape) -> Result<(), Obstacle> {
    let Some(region) = Region::of(&op.paths()) else { return lost("its paths don't meet") };
    let container = region.prefix.steps().len();
    match op {
        Op::Manual { .. } => Ok(()),
        Op::Move { from, to } => arrives(shape, container, from, to),
        Op::Copy { from, to } => arrives(shape, container, from, to),
        Op::Uncopy { to, .. } if never_there(shape, to) => Ok(()),
        Op::Uncopy { from, to } => lost(format!("`{to}` may differ from `{from}`")),
        Op::Drop { path, restore } => dropped(shape, path, restore.as_ref()),
        Op::Add { path, .. } | Op::Set { path, .. } if never_there(shape, path) => Ok(()),
        Op::Add { path, .. } | Op::Set { path, .. } => lost(format!("`{path}` may have a value already")),
        Op::Unset { path, value } => dropped(shape, path, Some(value)),
        Op::Default { path, .. } if never_there(shape, path) => Ok(()),
        Op::Default { path, value } => match declared(shape, path) {
            Some(child) if child.default.as_ref() == Some(value) && !child.nullable => Ok(()),
            _ => lost(format!("whether `{path}` was written as {value} or left out is forgotten")),
        },
        Op::Undefault { path, value } => match declared(shape, path) {
            None if never_there(shape, path) => Ok(()),
            Some(child) if !child.nullable && (always_there(shape, path) || child.default.as_ref() == Some(value)) => Ok(()),
            _ => lost(format!("`{path}` left out would come back as {value}")),
        },
        Op::Split { from, into, form } => {
            into.iter().try_for_each(|to| arrives(shape, container, from, to))?;
            splits(shape, from, form)
        }
        Op::Merge { parts, to, form } => {
            parts.iter().try_for_each(|part| arrives(shape, container, part, to))?;
            merges(shape, container, parts, form)
        }
        Op::Wrap { from, to } => {
            let Some(child) = absent_or_child(shape, from)? else { return Ok(()) };
            if child.nullable {
                return lost(format!("null at `{from}` is forgotten"));
            }
            if from == to {
                return if child.ty.is_some_and(|ty| ty != Type::Array) { Ok(()) } else { lost(format!("`{from}` may be a list already")) };
            }
            arrives(shape, container, from, to)
        }
        Op::Unwrap { from, to } => {
            let Some(child) = absent_or_child(shape, from)? else { return Ok(()) };
            let single = child.item_count.min == 1 && child.item_count.max == Some(1);
            let item = child.items.as_deref();
            if !single || child.nullable || item.is_none_or(|item| item.nullable) {
                return lost(format!("`{from}` may have no item, or more than one"));
            }
            if from == to {
                let flat = item.is_some_and(|item| item.ty.is_some_and(|ty| ty != Type::Array));
                return if flat { Ok(()) } else { lost(format!("an item of `{from}` may be a list")) };
            }
            arrives(shape, container, from, to)
        }
        Op::MapToList { from, to, keying } => {
            let Some(child) = absent_or_child(shape, from)? else { return Ok(()) };
            lists(child, from, keying)?;
            if from == to { Ok(()) } else { arrives(shape, container, from, to) }
        }
        Op::ListToMap { from, to, keying } => {
            let Some(child) = absent_or_child(shape, from)? else { return Ok(()) };
            maps(child, from, keying)?;
            if from == to { Ok(()) } else { arrives(shape, container, from, to) }
        }
        Op::MapValues { from, to, table } => {
            let Some(child) = absent_or_child(shape, from)? else { return Ok(()) };
            injective(child, from, table)?;
            if from == to { Ok(()) } else { arrives(shape, container, from, to) }
        }
        Op::Scale { from, to, factor } => {
            let Some(child) = absent_or_child(shape, from)? else { return Ok(()) };
            divides(child, from, *factor)?;
            if from == to { Ok(()) } else { arrives(shape, container, from, to) }
        }
        Op::Retype { from, to, was, becomes } => {
            let Some(child) = absent_or_child(shape, from)? else { return Ok(()) };
            canonical(child, from, *was, *becomes)?;
            if from == to { Ok(()) } else { arrives(shape, container, from, to) }
        }
        Op::Cel { .. } => lost("what an expression does is not analysed"),
    }
}

/// The declared node; `None` if nothing ever stands there.
fn absent_or_child<'s>(shape: &'s Shape, path: &FieldPath) -> Result<Option<&'s Shape>, Obstacle> {
    match declared(shape, path) {
        Some(child) => Ok(Some(child)),
        None if never_there(shape, path) => Ok(None),
        None => Err(Obstacle { reason: format!("`{path}` is not declared, so its values are not known"), keepable: true, hint: None }),
    }
}

/// A value comes from one place to another where nothing stood, and leaves no trace when it goes back.
fn arrives(shape: &Shape, container: usize, from: &FieldPath, to: &FieldPath) -> Result<(), Obstacle> {
    if never_there(shape, from) {
        return Ok(());
    }
    if from.starts_with(to) || to.starts_with(from) {
        return Err(Obstacle { reason: format!("`{from}` and `{to}` overlap"), keepable: false, hint: None });
    }
    if !never_there(shape, to) {
        return lost(format!("`{to}` may have a value already"));
    }
    // A parent that was there and empty would go with the value on its way back.
    for depth in container + 1..to.steps().len() {
        let parent = prefix(to, depth);
        if let Some(node) = declared(shape, &parent)
            && !node.required.iter().any(|name| node.property(name).is_some_and(|child| child.default.is_none()))
        {
            return Err(Obstacle { reason: format!("`{parent}` may be there and empty"), keepable: false, hint: None });
        }
    }
    Ok(())
}

fn dropped(shape: &Shape, path: &FieldPath, restore: Option<&Value>) -> Result<(), Obstacle> {
    if never_there(shape, path) {
        // What would be put back was never there.
        return if restore.is_none() { Ok(()) } else { lost(format!("`{path}` would come back though it was never there")) };
    }
    let only = declared(shape, path).is_some_and(|child| {
        let single = child.enum_values.as_deref().is_some_and(|values| values.len() == 1 && values.first() == restore);
        single && !child.nullable && (always_there(shape, path) || child.default.as_ref() == restore)
    });
    if only { Ok(()) } else { lost(format!("the value of `{path}` is dropped")) }
}

/// What strings a node takes. A pattern that is not understood is left out: then the domain is larger than the truth.
fn domain<'d>(shape: &'d Shape, patterns: &'d [Pattern]) -> TextDomain<'d> {
    TextDomain {
        min_length: shape.length.min,
        max_length: shape.length.max,
        patterns: patterns.iter().collect(),
        formats: shape.format.as_deref().and_then(Format::of).into_iter().collect(),
        allowed: shape.enum_values.as_ref().map(|values| values.iter().filter_map(Value::as_str).collect()),
    }
}

fn patterns(shape: &Shape) -> Vec<Pattern> {
    let clauses = shape.all_of.iter().filter_map(|clause| clause.pattern.as_deref());
    shape.pattern.as_deref().into_iter().chain(clauses).filter_map(|text| Pattern::new(text).ok()).collect()
}

/// A string that the node takes and the pattern doesn't.
fn outside(shape: &Shape, pattern: &str) -> Find<String> {
    let own = patterns(shape);
    let Ok(pattern) = Pattern::new(pattern) else { return Find::Undecided("a pattern that is not understood".into()) };
    TextGoal { avoids: vec![&pattern], ..domain(shape, &own).goal() }.find(&Budget::of_each())
}

/// A string that the node takes and in which the text stands.
fn with_text(shape: &Shape, text: &str) -> Find<String> {
    let own = patterns(shape);
    let Ok(pattern) = Pattern::new(&regex_syntax::escape(text)) else { return Find::Undecided("a text that is not understood".into()) };
    let mut goal = domain(shape, &own).goal();
    goal.matches.push(&pattern);
    goal.find(&Budget::of_each())
}

fn text_node<'s>(shape: &'s Shape, path: &FieldPath) -> Result<&'s Shape, Obstacle> {
    match declared(shape, path) {
        Some(child) if child.ty == Some(Type::String) && !child.nullable && !child.int_or_string => Ok(child),
        _ => Err(Obstacle { reason: format!("`{path}` is no plain string"), keepable: true, hint: None }),
    }
}

fn splits(shape: &Shape, from: &FieldPath, form: &Form) -> Result<(), Obstacle> {
    let child = text_node(shape, from)?;
    if form.types.contains(&PartType::Integer) {
        return lost(format!("a number inside of `{from}` may be written in several ways"));
    }
    match outside(child, &form.template.pattern()) {
        Find::None => Ok(()),
        Find::Found(text) => {
            let said = format!("`{text}` at `{from}` doesn't have the form `{}`", form.template.source());
            lost_by(from, text, said)
        }
        Find::Undecided(reason) => lost(reason),
    }
}

fn merges(shape: &Shape, container: usize, parts: &[FieldPath], form: &Form) -> Result<(), Obstacle> {
    let fences = form.template.fences();
    for ((part, fence), ty) in parts.iter().zip(fences).zip(&form.types) {
        if !always_below(shape, container, part) {
            return lost(format!("`{part}` may be missing"));
        }
        if *ty == PartType::Integer {
            let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-');
            let whole = declared(shape, part).is_some_and(|child| child.ty == Some(Type::Integer) && !child.nullable);
            if !whole || fence.is_some_and(digits) {
                return lost(format!("`{part}` can't be told from what follows it"));
            }
            continue;
        }
        let child = text_node(shape, part)?;
        match fence.map_or(Find::None, |fence| with_text(child, fence)) {
            Find::None => {}
            Find::Found(text) => {
                let said = format!("`{text}` at `{part}` can't be told from what follows it");
                return lost_by(part, text, said);
            }
            Find::Undecided(reason) => return lost(reason),
        }
    }
    Ok(())
}

fn lists(map: &Shape, at: &FieldPath, keying: &Keying) -> Result<(), Obstacle> {
    let Extra::Values(values) = &map.extra else { return lost(format!("`{at}` is no map")) };
    if map.nullable || values.nullable || !map.properties.is_empty() {
        return lost(format!("`{at}` may be or hold null"));
    }
    let apart = values.ty == Some(Type::Object) && !open(values) && !values.properties.contains_key(&keying.key);
    if keying.value.is_some() || apart { Ok(()) } else { lost(format!("a value of `{at}` may have `{}` already", keying.key)) }
}

fn maps(list: &Shape, at: &FieldPath, keying: &Keying) -> Result<(), Obstacle> {
    let keyed = list.list_type == ListType::Map && list.map_keys == [keying.key.clone()] && !list.nullable;
    let Some(item) = list.items.as_deref().filter(|_| keyed) else {
        return lost(format!("the order of `{at}` is forgotten, and two items may have one key"));
    };
    let text = item.property(&keying.key).is_some_and(|key| key.ty == Some(Type::String) && key.default.is_none());
    let closed = item.ty == Some(Type::Object) && !open(item) && !item.nullable && text;
    let fields = match &keying.value {
        None => true,
        Some(field) => {
            item.required.contains(field)
                && item.property(field).is_some_and(|value| !value.nullable)
                && item.properties.keys().all(|name| *name == keying.key || name == field)
        }
    };
    if closed && fields { Ok(()) } else { lost(format!("an item of `{at}` may hold more than a map can")) }
}

/// Every value that the table changes or gives comes back from it.
fn injective(child: &Shape, at: &FieldPath, table: &Table) -> Result<(), Obstacle> {
    let inverse = table.inverse();
    let returns =
        |value: &Value| table.look_up(value).ok().and_then(|image| inverse.look_up(&image).ok()).is_some_and(|back| back == *value);
    let finite: Option<Vec<Value>> = match (&child.enum_values, child.ty) {
        (Some(values), _) => Some(values.clone()),
        (None, Some(Type::Boolean)) => Some(vec![false.into(), true.into()]),
        _ => None,
    };
    let finite = finite.map(|values| values.into_iter().filter(|value| !value.is_null()).collect::<Vec<_>>());
    let named = || table.pairs.iter().flat_map(|(old, new)| [old.clone(), new.clone()]).collect::<Vec<_>>();
    if finite.is_none() && table.otherwise == super::step::values::Otherwise::Error {
        return lost(format!("`{at}` may have values that the table doesn't name"));
    }
    match finite.unwrap_or_else(named).into_iter().find(|value| !returns(value)) {
        None => Ok(()),
        Some(value) => {
            let said = format!("{value} at `{at}` doesn't come back from the table");
            lost_by(at, value, said)
        }
    }
}

fn divides(child: &Shape, at: &FieldPath, factor: Factor) -> Result<(), Obstacle> {
    if let Some(values) = &child.enum_values {
        let returns = |value: &&Value| factor.apply(value).and_then(|scaled| factor.inverse().apply(&scaled)).as_ref() != Ok(*value);
        return match values.iter().find(returns) {
            None => Ok(()),
            Some(value) => lost(format!("{value} at `{at}` doesn't come back")),
        };
    }
    if child.ty != Some(Type::Integer) || child.int_or_string {
        return lost(format!("`{at}` is no integer, and fractions are rounded"));
    }
    if factor.multiply % factor.divide == 0 {
        return if scales(child, factor) { Ok(()) } else { lost(too_large(at, factor)) };
    }
    let step = child.bounds.multiple_of.filter(|step| step.fract() == 0.0 && *step < 9.0e15).map_or(1, |step| step as i64);
    let whole = step.checked_mul(factor.multiply).is_some_and(|step| step % factor.divide == 0);
    // The least value above the minimum that leaves a remainder.
    let least = child.bounds.minimum.filter(|bound| bound.abs() < 9.0e15).map_or(0, |bound| bound.ceil() as i64);
    let odd = (least..least.saturating_add(factor.divide).saturating_add(2)).find(|value| value % step == 0 && value % factor.divide != 0);
    let said = format!("the remainder of `{at}` divided by {} is forgotten", factor.divide);
    match odd {
        _ if whole => Ok(()),
        Some(odd) => lost_by(at, odd, said),
        None => lost(said),
    }
}

/// Whether every value of the node fits into its type once it is scaled.
fn scales(child: &Shape, factor: Factor) -> bool {
    if let Some(values) = &child.enum_values {
        return values.iter().all(|value| factor.apply(value).is_ok());
    }
    let times = factor.multiply as f64 / factor.divide as f64;
    if !matches!(child.ty, Some(Type::Integer | Type::Number)) {
        return false;
    }
    // Whole values of a number are scaled as integers too.
    let largest = i64::MAX as f64;
    let fits = |bound: Option<f64>| bound.is_some_and(|bound| bound.abs() < largest / times);
    let small = child.format.as_deref() == Some("int32") && child.ty == Some(Type::Integer) && times < f64::from(u32::MAX);
    times <= 1.0 || small || (fits(child.bounds.minimum) && fits(child.bounds.maximum))
}

/// What to say of values that don't fit after scaling.
pub(crate) fn too_large(at: &FieldPath, factor: Factor) -> String {
    let limit = i128::from(i64::MAX) * i128::from(factor.divide) / i128::from(factor.multiply.max(1));
    format!("`{at}` is not bounded: values above {limit} can't be converted")
}

fn canonical(child: &Shape, at: &FieldPath, was: Scalar, becomes: Scalar) -> Result<(), Obstacle> {
    if child.int_or_string {
        return lost(format!("`{at}` may be an integer or a string"));
    }
    if let Some(values) = &child.enum_values {
        let returns = |value: &&Value| retype(value, was, becomes).and_then(|new| retype(&new, becomes, was)).as_ref() != Ok(*value);
        return match values.iter().find(returns) {
            None => Ok(()),
            Some(value) => lost(format!("{value} at `{at}` doesn't come back")),
        };
    }
    match (was, becomes, child.ty) {
        (Scalar::Integer, Scalar::String | Scalar::Number, Some(Type::Integer)) => Ok(()),
        (Scalar::Boolean, _, Some(Type::Boolean)) => Ok(()),
        (Scalar::Number, Scalar::String, Some(Type::Number)) => Ok(()),
        (Scalar::String, Scalar::Integer, Some(Type::String)) => {
            // Eighteen digits fit into 64 bits, whatever they are.
            let short = TextGoal { min_length: 19, ..domain(child, &patterns(child)).goal() }.find(&Budget::of_each());
            match (outside(child, INTEGER), short) {
                (Find::None, Find::None) => Ok(()),
                (Find::Found(text), _) => {
                    let said = format!("`{text}` at `{at}` is no integer, or is one written differently");
                    lost_by(at, text, said)
                }
                (_, Find::Found(_)) => lost(format!("`{at}` has no maxLength: a very long number doesn't fit")),
                (Find::Undecided(reason), _) | (_, Find::Undecided(reason)) => lost(reason),
            }
        }
        _ => lost(format!("a value of `{at}` may be written in several ways")),
    }
}

/// Whether the operation succeeds on every object of the shape.
pub(crate) fn total(op: &Op, shape: &Shape, conflict: Conflict) -> bool {
    let free = |to: &FieldPath| conflict != Conflict::Error || never_there(shape, to);
    let way = |to: &FieldPath| {
        (1..to.steps().len()).all(|depth| {
            declared(shape, &prefix(to, depth)).is_none_or(|node| node.ty.is_some_and(|ty| ty != Type::String) && !open_scalar(node))
        })
    };
    let arrives = |from: &FieldPath, to: &FieldPath| from == to || (free(to) && way(to));
    let child = |path: &FieldPath| declared(shape, path).filter(|child| !child.int_or_string);
    match op {
        Op::Cel { .. } => false,
        Op::Copy { from, to } => arrives(from, to),
        Op::Split { from, into, form } => into.iter().all(|to| arrives(from, to)) && splits(shape, from, form).is_ok(),
        Op::Merge { parts, to, form } => {
            let region = Region::of(&op.paths()).map_or(0, |region| region.prefix.steps().len());
            let typed = |(part, ty): (&FieldPath, &PartType)| {
                let wanted = if *ty == PartType::Integer { Type::Integer } else { Type::String };
                child(part).is_some_and(|child| child.ty == Some(wanted) && !child.nullable)
            };
            parts.iter().all(|part| arrives(part, to) && always_below(shape, region, part)) && parts.iter().zip(&form.types).all(typed)
        }
        _ => {
            let Some((from, to)) = op.ends() else { return true };
            if never_there(shape, from) {
                return true;
            }
            let ty = child(from).and_then(|child| child.ty);
            let fits = match op {
                Op::Unwrap { .. } | Op::ListToMap { .. } if ty != Some(Type::Array) => op.in_place() && ty.is_some(),
                Op::ListToMap { keying, .. } => child(from).is_some_and(|child| maps(child, from, keying).is_ok()),
                Op::MapToList { keying, .. } => child(from).is_some_and(|child| lists(child, from, keying).is_ok()),
                Op::MapValues { table, .. } => {
                    table.otherwise == super::step::values::Otherwise::Keep
                        || child(from).is_some_and(|child| injective(child, from, table).is_ok())
                }
                Op::Scale { factor, .. } => child(from).is_some_and(|child| scales(child, *factor)),
                Op::Retype { was, becomes, .. } => match (ty, was, becomes) {
                    (Some(Type::Integer), Scalar::Integer | Scalar::Number, Scalar::String | Scalar::Number) => true,
                    (Some(Type::Number), Scalar::Number, Scalar::String) => true,
                    (Some(Type::Boolean), Scalar::Boolean, _) => true,
                    _ => child(from).is_some_and(|child| canonical(child, from, *was, *becomes).is_ok()),
                },
                _ => true,
            };
            fits && arrives(from, to)
        }
    }
}

fn open_scalar(shape: &Shape) -> bool {
    !matches!(shape.ty, Some(Type::Object | Type::Array))
}

/// Whether the operation does nothing to any object of the shape.
pub(crate) fn idle(op: &Op, shape: &Shape) -> bool {
    let ty = |path: &FieldPath| declared(shape, path).filter(|child| !child.int_or_string).and_then(|child| child.ty);
    match op {
        Op::Manual { .. } | Op::Add { value: None, .. } | Op::Undefault { .. } => true,
        Op::Drop { path, .. } | Op::Unset { path, .. } => never_there(shape, path),
        Op::Uncopy { to, .. } => never_there(shape, to),
        Op::Copy { from, .. } | Op::Split { from, .. } => never_there(shape, from),
        Op::Merge { parts, .. } => parts.iter().all(|part| never_there(shape, part)),
        Op::Set { path, value } => {
            let only = declared(shape, path).and_then(|child| child.enum_values.as_deref()).is_some_and(|values| values == [value.clone()]);
            only && always_there(shape, path)
        }
        Op::Default { path, .. } | Op::Add { path, value: Some(_) } => {
            always_there(shape, path) && declared(shape, path).is_some_and(|child| !child.nullable)
        }
        _ if op.ends().is_some_and(|(from, _)| never_there(shape, from)) => true,
        _ if !op.in_place() => false,
        Op::Wrap { from, .. } | Op::MapToList { from, .. } => ty(from) == Some(Type::Array),
        Op::ListToMap { from, .. } => ty(from) == Some(Type::Object),
        Op::Unwrap { from, .. } => ty(from).is_some_and(|ty| ty != Type::Array),
        Op::MapValues { from, table, .. } => {
            let fixed = |value: &Value| table.look_up(value).is_ok_and(|image| image == *value);
            match declared(shape, from).map(|child| (&child.enum_values, child.ty)) {
                Some((Some(values), _)) => values.iter().all(fixed),
                Some((None, Some(Type::Boolean))) => [false, true].into_iter().all(|flag| fixed(&flag.into())),
                _ => false,
            }
        }
        Op::Retype { from, was, becomes, .. } => {
            let new = match becomes {
                Scalar::String => Type::String,
                Scalar::Integer => Type::Integer,
                Scalar::Number => Type::Number,
                Scalar::Boolean => Type::Boolean,
            };
            let overlap = matches!((was, becomes), (Scalar::Number, Scalar::Integer) | (Scalar::Integer, Scalar::Number));
            ty(from) == Some(new) && (!overlap || *becomes == Scalar::Number || ty(from) == Some(Type::Integer)) && was != becomes
        }
        _ => false,
    }
}
