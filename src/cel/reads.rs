//! Finds what an expression reads.
//!
//! The fields and constants of an expression are used to build objects around them.

use std::collections::BTreeMap;

use super::ast::{ACCU, Call, Comprehension, Expr, ExprKind, Literal};
use super::name;
use super::parse::parse;
use crate::model::FieldPath;

/// What an expression reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    /// Fields below `self` and `oldSelf` that the expression reads, tests or iterates over.
    pub fields: Vec<FieldPath>,
    pub old_fields: Vec<FieldPath>,
    pub strings: Vec<String>,
    pub ints: Vec<i64>,
    pub doubles: Vec<f64>,
    /// Fields and the constants they are used with in a call: `self.a.b < 3` gives (`a.b`, `_<_`, 3).
    pub meetings: Vec<(FieldPath, String, Literal)>,
}

/// The fields and constants of an expression; empty if it doesn't parse.
pub fn reads(source: &str) -> Reads {
    let mut reader = Reader { reads: Reads::default(), scope: BTreeMap::new() };
    if let Ok(expr) = parse(source) {
        reader.visit(&expr);
    }
    let mut reads = reader.reads;
    reads.fields.sort();
    reads.fields.dedup();
    reads.old_fields.sort();
    reads.old_fields.dedup();
    reads.strings.sort();
    reads.strings.dedup();
    reads.ints.sort_unstable();
    reads.ints.dedup();
    reads
}

/// A field below `self` or `oldSelf`.
#[derive(Clone)]
struct Place {
    old: bool,
    path: FieldPath,
}

struct Reader {
    reads: Reads,
    /// What iteration variables refer to.
    scope: BTreeMap<String, Vec<Option<Place>>>,
}

impl Reader {
    fn visit(&mut self, e: &Expr) {
        if let Some(place) = self.place(e) {
            let fields = if place.old { &mut self.reads.old_fields } else { &mut self.reads.fields };
            fields.push(place.path);
        }
        match &e.kind {
            ExprKind::Literal(Literal::String(text)) => self.reads.strings.push(text.clone()),
            ExprKind::Literal(Literal::Int(i)) => self.reads.ints.push(*i),
            ExprKind::Literal(Literal::Double(d)) => self.reads.doubles.push(*d),
            ExprKind::Call(call) => {
                self.meeting(call);
                let field_name = call.function == "_?._";
                let args = call.args.iter().enumerate().filter(|(i, _)| !(field_name && *i == 1));
                call.target.as_deref().into_iter().chain(args.map(|(_, arg)| arg)).for_each(|arg| self.visit(arg));
            }
            ExprKind::Comprehension(c) => self.fold(c),
            _ => e.children().into_iter().for_each(|child| self.visit(child)),
        }
    }

    fn meeting(&mut self, call: &Call) {
        let parts: Vec<&Expr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        let places: Vec<Place> = parts.iter().filter_map(|part| self.place(part)).filter(|place| !place.old).collect();
        let literals = parts.iter().flat_map(|part| match &part.kind {
            ExprKind::Literal(literal) => vec![literal.clone()],
            ExprKind::List(list) => list.items.iter().filter_map(|item| item.literal().cloned()).collect(),
            _ => vec![],
        });
        if let ([place], true) = (places.as_slice(), call.function != "_?._") {
            let met: Vec<_> = literals.map(|literal| (place.path.clone(), call.function.to_string(), literal)).collect();
            self.reads.meetings.extend(met);
        }
    }

    fn fold(&mut self, c: &Comprehension) {
        self.visit(&c.range);
        // A fold over an empty list binds a value.
        let bound = self.place(&c.init).filter(|_| c.accu != ACCU);
        let bind = c.accu != ACCU;
        if bind {
            self.visit(&c.init);
        }
        let element = self.place(&c.range).map(|place| Place { path: place.path.items(), ..place });
        let names = [Some(&c.var), c.var2.as_ref(), Some(&c.accu)];
        let places = match &c.var2 {
            Some(_) => [None, element, bound],
            None => [element, None, bound],
        };
        for (name, place) in names.iter().zip(places) {
            if let Some(name) = name {
                self.scope.entry((*name).clone()).or_default().push(place);
            }
        }
        self.visit(&c.step);
        self.visit(&c.result);
        for name in names.into_iter().flatten() {
            if let Some(stack) = self.scope.get_mut(name) {
                stack.pop();
            }
        }
    }

    /// The field that an expression refers to, if any.
    fn place(&self, e: &Expr) -> Option<Place> {
        match &e.kind {
            ExprKind::Ident(ident) => match (self.scope.get(ident).and_then(|stack| stack.last()), ident.as_str()) {
                (Some(place), _) => place.clone(),
                (None, "self") => Some(Place { old: false, path: FieldPath::root() }),
                (None, "oldSelf") => Some(Place { old: true, path: FieldPath::root() }),
                _ => None,
            },
            ExprKind::Select(select) => self.child(&select.operand, &select.field),
            ExprKind::Call(call) => match (&*call.function, call.args.as_slice(), &call.target) {
                ("_?._", [operand, field], _) => match field.literal() {
                    Some(Literal::String(field)) => self.child(operand, field),
                    _ => None,
                },
                ("_[_]" | "_[?_]", [operand, index], _) => {
                    let place = self.place(operand)?;
                    let values = matches!(index.literal(), Some(Literal::String(_)));
                    let path = if values { place.path.values() } else { place.path.items() };
                    Some(Place { path, ..place })
                }
                ("orValue" | "value" | "or" | "hasValue", _, Some(target)) => self.place(target),
                _ => None,
            },
            // `filter` keeps elements of its range.
            ExprKind::Comprehension(c) if matches!(c.init.kind, ExprKind::List(_)) => {
                let kept = c.step.descendants().into_iter().any(|part| match &part.kind {
                    ExprKind::List(list) => matches!(list.items.as_slice(), [Expr { kind: ExprKind::Ident(name), .. }] if *name == c.var),
                    _ => false,
                });
                if kept { self.place(&c.range) } else { None }
            }
            _ => None,
        }
    }

    fn child(&self, operand: &Expr, field: &str) -> Option<Place> {
        let place = self.place(operand)?;
        let field = name::unescape(field).unwrap_or_else(|| field.to_string());
        Some(Place { path: place.path.key(&field), ..place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_constants_are_found() {
        let found = reads("self.items.all(x, x.__namespace__ == 'a' && x.port in [80, 443]) && oldSelf.?mode.orValue('on') != self.mode");
        let shown = |paths: &[FieldPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&found.fields), ["", "items", "items[]", "items[].namespace", "items[].port", "mode"]);
        assert_eq!(shown(&found.old_fields), ["", "mode"]);
        assert_eq!(found.strings, ["a", "on"]);
        assert_eq!(found.ints, [80, 443]);
        let ports = found.meetings.iter().filter(|(path, function, _)| path.name() == Some("port") && function == "@in");
        assert_eq!(ports.count(), 2);
        let filtered = reads("self.filter(x, x.on).all(y, y.name != '')");
        assert_eq!(shown(&filtered.fields), ["", "[]", "[].name", "[].on"]);
    }
}
