//! Finds which parts of a CEL expression read a field, or an object or list that contains it.

use std::ops::Range;

use crate::cel::ast::{ACCU, Call, Comprehension, Expr, ExprKind, Literal};
use crate::cel::name;
use crate::model::PathStep;

/// The position of a value relative to the path of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathPosition {
    /// This many steps down the path.
    On(usize),
    /// Not on the path, or not part of the object at all.
    Off,
    Unknown,
}

/// How a part of a value is accessed.
enum Accessor<'e> {
    Name(&'e str),
    Number,
    Computed,
}

/// Finds what an expression reads along a path.
pub(super) struct FieldReads<'e, 'p> {
    path: &'p [PathStep],
    scope: Vec<(&'e str, PathPosition)>,
    /// Expressions that refer to the field by its name.
    pub found: Vec<&'e Expr>,
    /// Whether the field is read at all.
    pub mentioned: bool,
    /// Whether something may be the field, but that isn't known.
    pub lost: bool,
    /// The depths of objects and lists around the field that are read as a whole.
    pub whole: Vec<usize>,
    /// The depths of objects and lists around the field whose presence is tested.
    tested: Vec<usize>,
}

impl<'e, 'p> FieldReads<'e, 'p> {
    pub fn of(expr: &'e Expr, path: &'p [PathStep]) -> Self {
        let (found, whole, tested) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = FieldReads { path, scope: Vec::new(), found, mentioned: path.is_empty(), lost: false, whole, tested };
        reader.visit_whole(expr);
        reader
    }

    /// Whether the rule reads or tests one of the objects at these depths.
    pub fn changes(&self, depths: Range<usize>) -> bool {
        self.whole.iter().chain(&self.tested).any(|depth| depths.contains(depth))
    }

    /// Visits an expression whose whole value is used.
    fn visit_whole(&mut self, expr: &'e Expr) -> PathPosition {
        let place = self.visit(expr);
        if let PathPosition::On(depth) = place
            && depth < self.path.len()
        {
            self.whole.push(depth);
        }
        place
    }

    fn visit(&mut self, expr: &'e Expr) -> PathPosition {
        match &expr.kind {
            ExprKind::Literal(_) => PathPosition::Off,
            ExprKind::Ident(ident) => self.variable(ident),
            ExprKind::Select(select) => {
                let operand = self.visit(&select.operand);
                let place = self.field(expr, operand, &select.field);
                if let PathPosition::On(depth) = place
                    && select.test
                {
                    self.tested.push(depth);
                }
                if select.test { PathPosition::Off } else { place }
            }
            ExprKind::Call(call) => self.call(expr, call),
            ExprKind::List(list) => self.together(list.items.iter()),
            ExprKind::Map(entries) => self.together(entries.iter().flat_map(|entry| [&entry.key, &entry.value])),
            ExprKind::Struct(made) => self.together(made.values.iter()),
            ExprKind::Comprehension(fold) => self.fold(fold),
        }
    }

    fn variable(&self, ident: &str) -> PathPosition {
        let bound = self.scope.iter().rev().find(|(name, _)| *name == ident);
        match (bound, ident) {
            (Some((_, place)), _) => *place,
            (None, "self" | "oldSelf" | ".self" | ".oldSelf") => PathPosition::On(0),
            _ => PathPosition::Off,
        }
    }

    /// Visits values that become part of something else.
    fn together(&mut self, parts: impl Iterator<Item = &'e Expr>) -> PathPosition {
        parts.fold(PathPosition::Off, |all, part| if self.visit_whole(part) == PathPosition::Off { all } else { PathPosition::Unknown })
    }

    fn call(&mut self, expr: &'e Expr, call: &'e Call) -> PathPosition {
        match (&*call.function, call.target.as_deref(), call.args.as_slice()) {
            ("_?._", _, [operand, Expr { kind: ExprKind::Literal(Literal::String(field)), .. }]) => {
                let operand = self.visit(operand);
                self.field(expr, operand, field)
            }
            ("_[_]" | "_[?_]", _, [operand, index]) => {
                let operand = self.visit(operand);
                self.visit_whole(index);
                let part = match index.literal() {
                    Some(Literal::String(key)) => Accessor::Name(key),
                    Some(_) => Accessor::Number,
                    None => Accessor::Computed,
                };
                let named = matches!(part, Accessor::Name(_));
                let place = self.part(operand, &part);
                if place == PathPosition::On(self.path.len()) && named {
                    self.found.push(expr);
                }
                place
            }
            ("size", Some(operand), []) | ("size", None, [operand]) => {
                self.visit(operand);
                PathPosition::Off
            }
            ("hasValue", Some(operand), []) => {
                if let PathPosition::On(depth) = self.visit(operand) {
                    self.tested.push(depth);
                }
                PathPosition::Off
            }
            ("value", Some(operand), []) | ("dyn" | "optional.of" | "optional.ofNonZeroValue", None, [operand]) => self.visit(operand),
            ("or" | "orValue", Some(one), [other]) | ("_+_", None, [one, other]) => self.either(one, other),
            ("_?_:_", _, [condition, one, other]) => {
                self.visit_whole(condition);
                self.either(one, other)
            }
            (function, target, args) => {
                let place = self.together(target.into_iter().chain(args));
                // Operators other than those above return booleans and numbers.
                let is_operator = function.starts_with(['_', '!', '-', '@']) && target.is_none();
                if is_operator { PathPosition::Off } else { place }
            }
        }
    }

    /// A value that is one of two.
    fn either(&mut self, one: &'e Expr, other: &'e Expr) -> PathPosition {
        match (self.visit(one), self.visit(other)) {
            (a, b) if a == b => a,
            (place, _) if is_plain(other) => place,
            (_, place) if is_plain(one) => place,
            _ => PathPosition::Unknown,
        }
    }

    /// Selects a field by its identifier.
    fn field(&mut self, expr: &'e Expr, operand: PathPosition, field: &str) -> PathPosition {
        let name = name::unescape(field);
        let place = self.part(operand, &Accessor::Name(name.as_deref().unwrap_or(field)));
        if place == PathPosition::On(self.path.len()) {
            self.found.push(expr);
        }
        place
    }

    fn part(&mut self, operand: PathPosition, part: &Accessor<'_>) -> PathPosition {
        let place = match (operand, part) {
            (PathPosition::Off, _) => PathPosition::Off,
            (PathPosition::Unknown, part) => {
                let last = self.path.iter().rev().find_map(|step| if let PathStep::Key(name) = step { Some(&**name) } else { None });
                self.lost |= matches!(part, Accessor::Name(name) if last == Some(*name));
                PathPosition::Unknown
            }
            (PathPosition::On(depth), part) => match (self.path.get(depth), part) {
                (None, _) => PathPosition::Off,
                (Some(PathStep::Items | PathStep::Values), _) => PathPosition::On(depth + 1),
                (Some(PathStep::Key(key)), Accessor::Name(name)) if **key == **name => PathPosition::On(depth + 1),
                (Some(PathStep::Key(_)), Accessor::Name(_) | Accessor::Number) => PathPosition::Off,
                (Some(PathStep::Key(_)), Accessor::Computed) => {
                    self.lost = true;
                    PathPosition::Unknown
                }
            },
        };
        self.mentioned |= place == PathPosition::On(self.path.len());
        place
    }

    fn fold(&mut self, fold: &'e Comprehension) -> PathPosition {
        let range = self.visit(&fold.range);
        let init = self.visit(&fold.init);
        let element = match range {
            PathPosition::On(depth) => match (self.path.get(depth), &fold.var2) {
                (None, _) => PathPosition::Off,
                // The only variable over a map is its key.
                (Some(PathStep::Values), None) => PathPosition::Off,
                (Some(PathStep::Items | PathStep::Values), _) => self.part(range, &Accessor::Computed),
                (Some(PathStep::Key(_)), _) => PathPosition::Unknown,
            },
            other => other,
        };
        let open = self.scope.len();
        let is_binding = fold.accu != ACCU;
        self.scope.push((fold.accu.as_str(), if is_binding { init } else { PathPosition::Off }));
        match &fold.var2 {
            Some(second) => self.scope.extend([(fold.var.as_str(), PathPosition::Off), (second.as_str(), element)]),
            None => self.scope.push((fold.var.as_str(), element)),
        }
        let place = if is_binding {
            self.visit(&fold.result)
        } else if let Some(condition) = filter(fold) {
            self.visit_whole(condition);
            range
        } else {
            self.visit_whole(&fold.condition);
            let step = self.visit(&fold.step);
            self.visit(&fold.result);
            if step == PathPosition::Off { PathPosition::Off } else { PathPosition::Unknown }
        };
        self.scope.truncate(open);
        place
    }
}

/// Whether a value has no fields.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::List(list) => list.items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        ExprKind::Call(call) => call.function == "optional.none",
        _ => false,
    }
}

/// The condition of a `filter`, which keeps elements as they are.
fn filter(fold: &Comprehension) -> Option<&Expr> {
    let ExprKind::Call(step) = &fold.step.kind else { return None };
    let ExprKind::Call(longer) = &step.args.get(1)?.kind else { return None };
    let ExprKind::List(list) = &longer.args.get(1)?.kind else { return None };
    let keeps = matches!(list.items.as_slice(), [Expr { kind: ExprKind::Ident(name), .. }] if *name == fold.var);
    fold.filter().filter(|_| keeps && fold.var2.is_none())
}
