//! What the form of an expression and the schema of `self` say about the type of its value, before or without a type check.

use std::cell::RefCell;

use foldhash::HashMap;

use super::ast::{Expr, ExprKind, Literal};
use crate::cel::name;
use crate::model::schema::shape::{Shape, Type};

/// Functions that always return an integer.
const INTEGERS: [&str; 5] = ["size", "int", "uint", "indexOf", "lastIndexOf"];

/// Functions and operators that always return a string, number or boolean.
const PLAIN: [&str; 36] = [
    "_==_",
    "_!=_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "_&&_",
    "_||_",
    "!_",
    "@in",
    "_-_",
    "_*_",
    "_/_",
    "_%_",
    "-_",
    "size",
    "int",
    "uint",
    "double",
    "string",
    "bool",
    "matches",
    "contains",
    "startsWith",
    "endsWith",
    "lowerAscii",
    "upperAscii",
    "trim",
    "replace",
    "substring",
    "charAt",
    "indexOf",
    "lastIndexOf",
    "join",
    "format",
    "find",
];

/// The schema of `self`, and the variables in scope.
pub struct ExprTypes<'s> {
    schema: Option<&'s Shape>,
    /// Iteration variables in scope, with their schemas.
    pub(super) bound: Vec<(String, Option<&'s Shape>)>,
    /// Which sums and products are numbers, by their address: a sum of many terms is a sum of sums.
    numbers: RefCell<HashMap<usize, bool>>,
}

impl<'s> ExprTypes<'s> {
    pub(super) fn of(schema: Option<&'s Shape>) -> Self {
        ExprTypes { schema, bound: Vec::new(), numbers: RefCell::default() }
    }

    /// Whether `a == b` equals `b == a`. Lists are compared by the rules of the left side (a set has no order), so one of the two
    /// must not be or contain a list, or both must be of one kind: a part of `self` and the same part of `oldSelf`.
    pub(super) fn commutes(&self, a: &Expr, b: &Expr) -> bool {
        let part = |e| self.part(e).filter(|(root, _)| !self.bound.iter().any(|(bound, _)| bound == root)).map(|(_, fields)| fields);
        self.is_plain(a) || self.is_plain(b) || matches!((part(a), part(b)), (Some(a), Some(b)) if a == b)
    }

    /// Whether an expression is a string, number or boolean, by its form or by the schema.
    fn is_plain(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Literal(_) => true,
            ExprKind::Select(select) if select.test => true,
            ExprKind::Call(call) => match &*call.function {
                "_+_" => call.args.iter().any(|arg| self.is_plain(arg)),
                function => PLAIN.contains(&function),
            },
            ExprKind::Comprehension(fold) => fold.quantifier().is_some(),
            _ => self.typed_as(e).is_some_and(|ty| !matches!(ty, Type::Object | Type::Array)),
        }
    }

    pub(super) fn is_number(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Literal(literal) => matches!(literal, Literal::Int(_) | Literal::Uint(_) | Literal::Double(_)),
            ExprKind::Call(call) => match &*call.function {
                "_+_" | "_*_" => {
                    let id = std::ptr::from_ref(e).addr();
                    let known = self.numbers.borrow().get(&id).copied();
                    known.unwrap_or_else(|| {
                        let is_number = call.args.iter().any(|arg| self.is_number(arg));
                        self.numbers.borrow_mut().insert(id, is_number);
                        is_number
                    })
                }
                function => matches!(function, "size" | "int" | "uint" | "double" | "indexOf" | "lastIndexOf"),
            },
            _ => matches!(self.typed_as(e), Some(Type::Integer | Type::Number)),
        }
    }

    /// Whether a number may be NaN, which is neither below nor above any other.
    pub(crate) fn may_be_nan(&self, e: &Expr) -> bool {
        let ExprKind::Call(call) = &e.kind else { return false };
        match &*call.function {
            // Both sides have the same type, and arithmetic on integers gives an integer.
            "_+_" | "_-_" | "_*_" | "_/_" => !call.args.iter().any(|arg| self.is_integer(arg)),
            "-_" | "_?_:_" => call.args.iter().any(|arg| self.may_be_nan(arg)),
            "_[_]" => !call.args.first().is_some_and(|list| matches!(list.kind, ExprKind::Ident(_) | ExprKind::Select(_))),
            "_%_" => false,
            function => !INTEGERS.contains(&function),
        }
    }

    /// Whether an expression is a duration, by its form or by the schema.
    pub(crate) fn is_duration(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Call(call) => call.function == "duration" && call.target.is_none(),
            _ => self.typed_as(e) == Some(Type::String) && self.shape(e).is_some_and(|shape| shape.format.as_deref() == Some("duration")),
        }
    }

    fn is_integer(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Literal(literal) => matches!(literal, Literal::Int(_) | Literal::Uint(_)),
            ExprKind::Call(call) => match &*call.function {
                "_+_" | "_-_" | "_*_" | "_/_" => call.args.iter().any(|arg| self.is_integer(arg)),
                function => INTEGERS.contains(&function),
            },
            _ => self.typed_as(e) == Some(Type::Integer),
        }
    }

    /// The type that the schema declares for a part of `self` or `oldSelf`.
    fn typed_as(&self, e: &Expr) -> Option<Type> {
        let shape = match self.part(e)? {
            ("oldSelf", fields) if !self.bound.iter().any(|(bound, _)| bound == "oldSelf") => fields
                .iter()
                .try_fold(self.schema?, |shape, field| shape.property(&name::unescape(field).unwrap_or_else(|| (*field).to_owned())))?,
            _ => self.shape(e)?,
        };
        shape.ty.filter(|_| !shape.int_or_string)
    }

    /// A variable and the fields that are selected from it.
    fn part<'e>(&self, e: &'e Expr) -> Option<(&'e str, Vec<&'e str>)> {
        match &e.kind {
            ExprKind::Ident(name) => Some((name, vec![])),
            ExprKind::Select(select) if !select.test => {
                let (root, mut fields) = self.part(&select.operand)?;
                fields.push(&select.field);
                Some((root, fields))
            }
            _ => None,
        }
    }

    /// The schema of a part of `self`, if there is one.
    pub(super) fn shape(&self, e: &Expr) -> Option<&'s Shape> {
        match &e.kind {
            ExprKind::Ident(name) => match self.bound.iter().rev().find(|(bound, _)| bound == name) {
                Some((_, shape)) => *shape,
                None => self.schema.filter(|_| name == "self"),
            },
            ExprKind::Select(select) if !select.test => {
                let name = name::unescape(&select.field).unwrap_or_else(|| select.field.clone());
                self.shape(&select.operand)?.property(&name)
            }
            _ => None,
        }
    }
}
