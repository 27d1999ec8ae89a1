//! Recognises rules that require distinct items, which the type of a list may guarantee already.

use std::collections::BTreeSet;

use crate::cel::ast::{Comprehension, Expr, ExprKind as Node, Literal, Quantifier};
use crate::cel::comparison::Operator;
use crate::cel::name::unescape;
use crate::compare::cel_condition::{Condition, size_of};
use crate::model::schema::shape::{ListType, Shape, Type};

use super::{Subject, Ty};

impl Subject<'_> {
    /// Whether `list.all(x, body)` says that each item of a set, or the keys of each item of a list of type `map`, occur only
    /// once: `list.exists_one(y, y.key == x.key)`, `list.filter(y, y.key == x.key).size() == 1`. Values of the node meet that.
    pub(super) fn is_unique(&self, fold: &Comprehension, body: &Expr) -> bool {
        let Some((_, Ty::List(list))) = self.path(&fold.range) else { return false };
        let Some((inner, condition)) = only_one(body) else { return false };
        let range = fold.range.qualified_name();
        let same_list = range.is_some() && range == inner.range.qualified_name();
        let variables = fold.var2.is_none() && inner.var2.is_none() && fold.var != inner.var;
        // The inner list isn't a variable of the outer quantifier.
        let hidden = [&fold.var, &inner.var].into_iter().any(|var| fold.range.head() == Some(var));
        if !same_list || !variables || hidden {
            return false;
        }
        let mut keys = BTreeSet::new();
        compared(condition, (&fold.var, &inner.var), &mut keys) && is_distinct_by(list, &keys)
    }
}

/// The quantifier or filter over the items of which exactly one meets a condition.
fn only_one(expr: &Expr) -> Option<(&Comprehension, &Expr)> {
    match Condition::read(expr) {
        Condition::Quantified { fold, quantifier: Quantifier::ExistsOne, body } => Some((fold, body)),
        Condition::Compared { left, operator, right } => {
            let (counted, operator, than) = match (left.literal(), right.literal()) {
                (None, Some(Literal::Int(than))) => (left, operator, *than),
                (Some(Literal::Int(than)), None) => (right, operator.swapped(), *than),
                _ => return None,
            };
            // The item itself is always counted.
            let one = matches!((operator, than), (Operator::Equal | Operator::AtMost, 1) | (Operator::Less, 2));
            let Node::Comprehension(filter) = &size_of(counted).filter(|_| one)?.kind else { return None };
            Some((filter, filter.filter()?))
        }
        _ => None,
    }
}

/// Collects the fields that must be equal in both items; the empty name stands for whole items. False for any other condition.
fn compared(condition: &Expr, items: (&str, &str), keys: &mut BTreeSet<String>) -> bool {
    match Condition::read(condition) {
        Condition::And(parts) => parts.iter().all(|part| compared(part, items, keys)),
        Condition::Compared { left, operator: Operator::Equal, right } => {
            let (Some((a, x)), Some((b, y))) = (field(left), field(right)) else { return false };
            let both = (a, b) == items || (b, a) == items;
            both && x == y && {
                keys.insert(x);
                true
            }
        }
        _ => false,
    }
}

/// A variable, and the field that is read from it.
fn field(expr: &Expr) -> Option<(&str, String)> {
    match &expr.kind {
        Node::Ident(name) => Some((name, String::new())),
        Node::Select(select) if !select.test => match &select.operand.kind {
            Node::Ident(name) => Some((name, unescape(&select.field)?)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether no two items of a list have equal values in all of these fields, and every item has them.
fn is_distinct_by(list: &Shape, keys: &BTreeSet<String>) -> bool {
    let Some(items) = list.items.as_deref().filter(|items| !items.nullable) else { return false };
    let scalar = |shape: &Shape| matches!(shape.ty, Some(Type::String | Type::Integer | Type::Boolean)) && shape.format.is_none();
    match list.list_type {
        ListType::Atomic => false,
        ListType::Set => scalar(items) && keys.iter().eq([""]),
        ListType::Map => {
            let is_given = |key: &String| {
                let field = items.property(key);
                field.is_some_and(|field| scalar(field) && !field.nullable && (items.required.contains(key) || field.default.is_some()))
            };
            items.ty == Some(Type::Object)
                && list.map_keys.iter().all(|key| keys.contains(key) && is_given(key))
                && keys.len() == list.map_keys.len()
        }
    }
}
