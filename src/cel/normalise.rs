//! The normal form of an expression: equal only for expressions that have the same value or both fail, on every object.
//!
//! It only depends on the form: white space, parentheses, names of iteration variables, the order of the operands of `&&` and `||`,
//! and the sides of a comparison with a constant don't matter. `compare::cel_implication` decides whether one rule follows from
//! another.

use super::ast::{Call, Comprehension, Expr, ExprKind, Literal};
use super::expr_types::ExprTypes;
use super::parse::parse;
use crate::cel::name;
use crate::model::schema::shape::{Shape, Type};

/// Whether a rule reads `oldSelf`, rather than just containing the word in a string. If it can't be parsed, the word counts.
pub fn is_transition(rule: &str) -> bool {
    rule.contains("oldSelf") && parse(rule).map_or(true, |expr| expr.reads_old_self())
}

/// The normal form of an expression, as text. The result of `&&` and `||` doesn't depend on order or repetition, so their operands
/// are sorted and deduplicated. With the schema of `self`, its requirements are assumed to hold: the form is then only valid for
/// objects that the schema accepts.
pub fn normal(expr: &Expr, schema: Option<&Shape>) -> String {
    NormalWriter { types: ExprTypes::of(schema), given: true }.write(expr, false)
}

fn truth(value: bool) -> String {
    format!("{:?}", Literal::Bool(value))
}

/// Writes expressions in normal form.
pub struct NormalWriter<'s> {
    /// Its n-th variable in scope is written `$n`.
    pub types: ExprTypes<'s>,
    /// Whether the schema's requirements are assumed to hold.
    given: bool,
}

impl<'s> NormalWriter<'s> {
    /// A writer that only uses the types of fields from the schema.
    pub fn typed(schema: &'s Shape) -> Self {
        NormalWriter { types: ExprTypes::of(Some(schema)), given: false }
    }

    /// Runs `work` with the variables of a fold in scope, and also returns how many were in scope before.
    pub fn inside<T>(&mut self, fold: &Comprehension, work: impl FnOnce(&mut Self) -> T) -> (usize, T) {
        let depth = self.types.bound.len();
        let names = [Some(&fold.accu), Some(&fold.var), fold.var2.as_ref()];
        self.types.bound.extend(names.into_iter().flatten().map(|name| (name.clone(), None)));
        let result = work(self);
        self.types.bound.truncate(depth);
        (depth, result)
    }

    /// Writes `expr` or its negation.
    pub fn write(&mut self, e: &Expr, negated: bool) -> String {
        if let ExprKind::Call(call) = &e.kind
            && let Some(text) = self.logic(call, negated)
        {
            return text;
        }
        match &e.kind {
            ExprKind::Literal(Literal::Bool(value)) => return truth(*value != negated),
            ExprKind::Select(select) if select.test && self.is_given(&select.operand, &select.field) => return truth(!negated),
            _ if negated => return format!("(!{})", self.write(e, false)),
            _ => {}
        }
        match &e.kind {
            ExprKind::Literal(literal) => format!("{literal:?}"),
            ExprKind::Ident(name) => match self.types.bound.iter().rposition(|(bound, _)| bound == name) {
                Some(n) => format!("${n}"),
                None => name.strip_prefix('.').unwrap_or(name).to_string(),
            },
            ExprKind::Select(select) => {
                let operand = self.write(&select.operand, false);
                if select.test { format!("(has {operand}.{})", select.field) } else { format!("{operand}.{}", select.field) }
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::List(list) => {
                let items: Vec<String> = list.items.iter().map(|item| self.write(item, false)).collect();
                format!("[{} {:?}]", items.join(" "), list.optional)
            }
            ExprKind::Map(entries) => {
                let entry = |w: &mut Self, e: &super::ast::MapEntry| {
                    format!("{}{}:{}", if e.optional { "?" } else { "" }, w.write(&e.key, false), w.write(&e.value, false))
                };
                format!("{{{}}}", entries.iter().map(|e| entry(self, e)).collect::<Vec<_>>().join(" "))
            }
            ExprKind::Struct(message) => {
                let values: Vec<String> = message.values.iter().map(|value| self.write(value, false)).collect();
                format!("{}{{{}}}", message.type_name, values.join(" "))
            }
            ExprKind::Comprehension(c) => self.comprehension(c),
        }
    }

    /// Writes `&&`, `||`, `!` and comparisons, with negations pushed inwards, which CEL's error semantics allow.
    fn logic(&mut self, call: &Call, negated: bool) -> Option<String> {
        match (&*call.function, call.args.as_slice()) {
            ("!_", [a]) => Some(self.write(a, !negated)),
            ("_&&_" | "_||_", [_, _]) => {
                let conjunction = (call.function == "_&&_") != negated;
                let mut terms = vec![];
                self.terms(call, &call.function, negated, &mut terms);
                terms.sort();
                terms.dedup();
                // A term that always holds adds nothing, and one that never holds decides the result, whatever else fails.
                terms.retain(|term| *term != truth(conjunction));
                if terms.is_empty() || terms.contains(&truth(!conjunction)) {
                    return Some(truth(terms.is_empty() == conjunction));
                }
                let sign = if conjunction { " && " } else { " || " };
                Some(if terms.len() == 1 { terms.concat() } else { format!("({})", terms.join(sign)) })
            }
            ("_==_" | "_!=_", [a, b]) => {
                let equal = (call.function == "_==_") != negated;
                let (mut left, mut right) = (self.write(a, false), self.write(b, false));
                let swaps = match (is_scalar(a), is_scalar(b)) {
                    (true, false) => !mentions_dyn(b),
                    (false, true) => false,
                    _ => left > right && self.types.commutes(a, b),
                };
                if swaps {
                    std::mem::swap(&mut left, &mut right);
                }
                Some(format!("({left} {} {right})", if equal { "==" } else { "!=" }))
            }
            _ => None,
        }
    }

    fn terms(&mut self, call: &Call, operator: &str, negated: bool, out: &mut Vec<String>) {
        for arg in &call.args {
            match &arg.kind {
                ExprKind::Call(inner) if inner.function == operator => self.terms(inner, operator, negated, out),
                _ => out.push(self.write(arg, negated)),
            }
        }
    }

    fn call(&mut self, call: &Call) -> String {
        let arguments: Vec<&Expr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        let mut args: Vec<String> = arguments.iter().map(|arg| self.write(arg, false)).collect();
        // Each part is written once, because rules may be deeply nested.
        if let ("_?_:_", [condition, yes, no]) = (&*call.function, args.as_slice()) {
            match condition {
                known if *known == truth(true) => return yes.clone(),
                known if *known == truth(false) => return no.clone(),
                _ => {}
            }
        }
        let function = match &*call.function {
            "_>_" => "_<_",
            "_>=_" => "_<=_",
            other => other,
        };
        let sum = matches!(function, "_+_" | "_*_") && arguments.iter().any(|arg| self.types.is_number(arg));
        if function != call.function || (sum && !args.is_sorted()) {
            args.reverse();
        }
        // `x in ['a', 'b']` doesn't depend on the order of the constants.
        if let ("@in", [_, list]) = (function, arguments.as_slice())
            && let ExprKind::List(list) = &list.kind
            && list.items.iter().all(is_scalar)
            && list.optional.is_empty()
        {
            let mut items: Vec<String> = list.items.iter().map(|item| self.write(item, false)).collect();
            items.sort();
            items.dedup();
            args.pop();
            args.push(format!("[{}]", items.join(" ")));
        }
        // `size(x)` and `x.size()` are the same function; so are both forms of `matches`.
        let member = call.target.is_some() && !matches!(function, "size" | "matches");
        format!("({}{function} {})", if member { "." } else { "" }, args.join(" "))
    }

    fn comprehension(&mut self, c: &Comprehension) -> String {
        let (range, init) = (self.write(&c.range, false), self.write(&c.init, false));
        let depth = self.types.bound.len();
        self.types.bound.push((c.accu.clone(), None));
        let result = self.write(&c.result, false);
        let list = self.types.shape(&c.range).filter(|range| range.ty == Some(Type::Array));
        let items = list.and_then(|range| range.items.as_deref()).filter(|items| !items.nullable);
        match &c.var2 {
            None => self.types.bound.push((c.var.clone(), items)),
            Some(var2) => self.types.bound.extend([(c.var.clone(), None), (var2.clone(), items)]),
        }
        let (condition, step) = (self.write(&c.condition, false), self.write(&c.step, false));
        self.types.bound.truncate(depth);
        format!("(fold{} {range} {init} {condition} {step} {result})", 1 + usize::from(c.var2.is_some()))
    }

    /// Whether every value that the schema accepts has this field, and everything that leads to it.
    fn is_given(&self, operand: &Expr, field: &str) -> bool {
        let Some(shape) = self.types.shape(operand).filter(|_| self.given) else { return false };
        let name = name::unescape(field).unwrap_or_else(|| field.to_string());
        let demanded = shape.required.contains(&name) && shape.property(&name).is_some_and(|child| !child.nullable);
        demanded
            && match &operand.kind {
                ExprKind::Select(select) => self.is_given(&select.operand, &select.field),
                _ => true,
            }
    }
}

fn is_scalar(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Literal(literal) if !matches!(literal, Literal::Bytes(_)))
}

fn mentions_dyn(e: &Expr) -> bool {
    e.descendants().iter().any(|e| matches!(&e.kind, ExprKind::Call(call) if call.function == "dyn"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        normal(&parse(a).unwrap(), None) == normal(&parse(b).unwrap(), None)
    }

    #[test]
    fn spelling_does_not_matter() {
        for (a, b) in [
            ("self.a>1", "( self.a  >  1 )"),
            ("self.a > 1", "1 < self.a"),
            ("has(self.a) && has(self.b)", "has(self.b) && has(self.a)"),
            ("a || (b || c)", "(c || a) || b || a"),
            ("self.all(x, x > 0)", "self.all(item, item > 0)"),
            ("!(has(self.a) && has(self.b))", "!has(self.a) || !has(self.b)"),
            ("self == 'x'", "'x' == self"),
            ("!(self == 'x')", "self != \"x\""),
            ("size(self) > 1", "self.size() > 1"),
            ("self in ['b', 'a']", "self in ['a', 'b', 'b']"),
            ("!!self.a", "self.a"),
            ("self.a == oldSelf.a", "oldSelf.a == self.a"),
            ("size(self.a) == self.b", "self.b == self.a.size()"),
            ("self.a + 1 == self.b * 2", "2 * self.b == 1 + self.a"),
            ("has(self.a) == has(self.b)", "has(self.b) == has(self.a)"),
        ] {
            assert!(same(a, b), "{a} and {b}");
        }
    }

    #[test]
    fn deep_choices_are_written_once() {
        let deep = (0..60).fold("self.a".to_owned(), |rule, _| format!("({rule} ? self.b : true)"));
        assert!(normal(&parse(&deep).unwrap(), None).len() < 10_000);
        assert!(same("true ? self.a : self.b", "self.a"));
    }

    #[test]
    fn required_fields_are_assumed_to_exist() {
        let text = serde_json::json!({"type": "string"});
        let open = serde_json::json!({"type": "string", "nullable": true});
        let item =
            serde_json::json!({"type": "object", "required": ["kind", "note"], "properties": {"kind": text, "name": text, "note": open}});
        let shape = crate::testing::shape(&serde_json::json!({"type": "array", "items": item}));
        let form = |source: &str| normal(&parse(source).unwrap(), Some(&shape));
        let every = |condition: &str| form(&format!("self.all(x, {condition})"));
        assert_eq!(every("has(x.kind) && x.kind == 'a'"), every("x.kind == 'a'"));
        assert_eq!(every("!has(x.kind) || x.kind == 'a'"), every("x.kind == 'a'"));
        assert_eq!(every("has(x.kind) ? x.kind == 'a' : false"), every("x.kind == 'a'"));
        assert_eq!(every("has(x.kind)"), every("true"));
        // The field is optional, or may be null.
        assert_ne!(every("has(x.name) && x.name == 'a'"), every("x.name == 'a'"));
        assert_ne!(every("has(x.note) && x.note == 'a'"), every("x.note == 'a'"));
        // A part of something that may be absent or null.
        let inner = serde_json::json!({"type": "object", "required": ["y"], "properties": {"y": text}});
        let outer = serde_json::json!({"type": "object", "properties": {"x": inner}});
        let form = |source: &str, shape: &Shape| normal(&parse(source).unwrap(), Some(shape));
        let shape = crate::testing::shape(&outer);
        assert_ne!(form("has(self.x.y) && self.s", &shape), form("self.s", &shape));
        let nulls = serde_json::json!({"type": "array", "items": {"type": "object", "nullable": true, "required": ["y"], "properties": {"y": text}}});
        let shape = crate::testing::shape(&nulls);
        assert_ne!(form("self.all(i, has(i.y))", &shape), form("self.all(i, true)", &shape));
        // Another variable with that name.
        assert_ne!(form("[{'kind': 1}].all(x, has(x.kind))", &shape), form("[{'kind': 1}].all(x, true)", &shape));
    }

    #[test]
    fn meaning_matters() {
        for (a, b) in [
            ("self.a > 1", "self.a >= 1"),
            // These may be lists.
            ("self.a == self.b", "self.b == self.a"),
            ("self.all(self, self.a == oldSelf.a)", "self.all(self, oldSelf.a == self.a)"),
            ("self.a + self.b == 1", "self.b + self.a == 1"),
            ("self.all(x, x > 0)", "self.exists(x, x > 0)"),
            ("self.all(x, self.all(y, x > y))", "self.all(x, self.all(y, y > x))"),
            ("a && b || c", "a && (b || c)"),
            ("[1, 2] == self", "[2, 1] == self"),
            ("self + 'a' == 'b'", "'a' + self == 'b'"),
            ("self.a", "has(self.a)"),
        ] {
            assert!(!same(a, b), "{a} and {b}");
        }
    }
}
