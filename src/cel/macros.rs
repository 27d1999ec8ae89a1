//! Expands macro calls into the folds they stand for.
//!
//! Returns the same expansion as cel-go, or the call itself if it isn't a macro.

use super::ast::{ACCU, Call, Comprehension, Expr, ExprKind, List, Literal, Select};
use super::parse::{Parser, SyntaxError};

type Expanded = Result<Expr, SyntaxError>;

/// A call without a target: `has(a.b)` or a plain function.
pub(super) fn call(p: &mut Parser, at: usize, function: String, args: Vec<Expr>) -> Expanded {
    if function == "has" && args.len() == 1 {
        let mut args = args;
        let Some(Expr { kind: ExprKind::Select(select), .. }) = args.pop() else {
            return Err(SyntaxError::new(at, "invalid argument to has() macro".into()));
        };
        return Ok(p.node(at, ExprKind::Select(Select { test: true, ..select })));
    }
    Ok(p.node(at, ExprKind::Call(Call { function: function.into(), target: None, args })))
}

/// A call on a target: a comprehension or a method.
pub(super) fn member_call(p: &mut Parser, at: usize, function: String, target: Expr, mut args: Vec<Expr>) -> Expanded {
    let mut expansion = Expansion { p, at };
    match (function.as_str(), args.len()) {
        ("all" | "exists" | "exists_one", 2 | 3) | ("existsOne", 3) => {
            let Some(body) = args.pop() else { return Err(expansion.bad("missing argument")) };
            let (var, var2) = expansion.variables(&args)?;
            Ok(expansion.quantifier(&function, target, var, var2, body))
        }
        ("map", 2 | 3) => {
            let (var, _) = expansion.variables(&args[..1])?;
            args.remove(0);
            Ok(expansion.collect(target, var, None, args))
        }
        ("filter", 2) => {
            let (var, _) = expansion.variables(&args[..1])?;
            args.reverse();
            Ok(expansion.collect(target, var, None, args))
        }
        ("transformList", 3 | 4) => {
            let (var, var2) = expansion.variables(&args[..2])?;
            args.drain(..2);
            Ok(expansion.collect(target, var, var2, args))
        }
        ("transformMap" | "transformMapEntry", 3 | 4) => {
            let (var, var2) = expansion.variables(&args[..2])?;
            args.drain(..2);
            Ok(expansion.transform_map(&function, target, var, var2, args))
        }
        ("optMap" | "optFlatMap", 2) => expansion.opt_map(&function, target, args),
        ("sortBy", 2) => expansion.sort_by(target, args),
        _ => Ok(p.node(at, ExprKind::Call(Call { function: function.into(), target: Some(Box::new(target)), args }))),
    }
}

struct Expansion<'p> {
    p: &'p mut Parser,
    at: usize,
}

impl Expansion<'_> {
    fn bad(&self, message: &str) -> SyntaxError {
        SyntaxError::new(self.at, message.to_string())
    }

    fn node(&mut self, kind: ExprKind) -> Expr {
        self.p.node(self.at, kind)
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.node(ExprKind::Literal(literal))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.node(ExprKind::Ident(name.to_string()))
    }

    fn accu(&mut self) -> Expr {
        self.ident(ACCU)
    }

    fn list(&mut self, items: Vec<Expr>) -> Expr {
        self.node(ExprKind::List(List { items, optional: vec![] }))
    }

    fn call(&mut self, function: &'static str, args: Vec<Expr>) -> Expr {
        self.p.call(self.at, function, args)
    }

    fn method(&mut self, function: &'static str, target: Expr, args: Vec<Expr>) -> Expr {
        self.node(ExprKind::Call(Call { function: function.into(), target: Some(Box::new(target)), args }))
    }

    /// The names of one or two iteration variables.
    fn variables(&self, args: &[Expr]) -> Result<(String, Option<String>), SyntaxError> {
        let mut names = vec![];
        for arg in args {
            match &arg.kind {
                ExprKind::Ident(name) if name == "__result__" => {
                    return Err(self.bad("iteration variable overwrites accumulator variable"));
                }
                ExprKind::Ident(name) if !name.starts_with('.') => names.push(name.clone()),
                _ => return Err(self.bad("argument must be a simple name")),
            }
        }
        let second = if names.len() == 2 { names.pop() } else { None };
        let first = names.pop().unwrap_or_default();
        if second.as_ref() == Some(&first) {
            return Err(self.bad("duplicate variable name"));
        }
        Ok((first, second))
    }

    fn quantifier(&mut self, name: &str, range: Expr, var: String, var2: Option<String>, body: Expr) -> Expr {
        let (init, condition, step, result);
        match name {
            "all" => {
                init = self.literal(Literal::Bool(true));
                let accu = self.accu();
                condition = self.call("@not_strictly_false", vec![accu]);
                let accu = self.accu();
                step = self.call("_&&_", vec![accu, body]);
                result = self.accu();
            }
            "exists" => {
                init = self.literal(Literal::Bool(false));
                let accu = self.accu();
                let not = self.call("!_", vec![accu]);
                condition = self.call("@not_strictly_false", vec![not]);
                let accu = self.accu();
                step = self.call("_||_", vec![accu, body]);
                result = self.accu();
            }
            _ => {
                init = self.literal(Literal::Int(0));
                condition = self.literal(Literal::Bool(true));
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                let more = self.call("_+_", vec![accu, one]);
                let same = self.accu();
                step = self.call("_?_:_", vec![body, more, same]);
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                result = self.call("_==_", vec![accu, one]);
            }
        }
        self.fold(Comprehension { range, var, var2, accu: ACCU.to_string(), init, condition, step, result })
    }

    fn fold(&mut self, comprehension: Comprehension) -> Expr {
        self.node(ExprKind::Comprehension(Box::new(comprehension)))
    }

    /// `[item]` or `[filter, item]`: a list of the items for which the filter holds.
    fn collect(&mut self, range: Expr, var: String, var2: Option<String>, mut args: Vec<Expr>) -> Expr {
        let item = args.pop().unwrap_or_else(|| self.accu());
        let accu = self.accu();
        let init = self.list(vec![]);
        let condition = self.literal(Literal::Bool(true));
        let one = self.list(vec![item]);
        let longer = self.call("_+_", vec![accu.clone(), one]);
        let step = match args.pop() {
            Some(filter) => self.call("_?_:_", vec![filter, longer, accu.clone()]),
            None => longer,
        };
        self.fold(Comprehension { range, var, var2, accu: ACCU.to_string(), init, condition, step, result: accu })
    }

    fn transform_map(&mut self, name: &str, range: Expr, var: String, var2: Option<String>, mut args: Vec<Expr>) -> Expr {
        let value = args.pop().unwrap_or_else(|| self.accu());
        let accu = self.accu();
        let insertion = if name == "transformMap" {
            let key = self.ident(&var);
            vec![accu, key, value]
        } else {
            vec![accu, value]
        };
        let inserted = self.call("cel.@mapInsert", insertion);
        let step = match args.pop() {
            Some(filter) => {
                let accu = self.accu();
                self.call("_?_:_", vec![filter, inserted, accu])
            }
            None => inserted,
        };
        let init = self.node(ExprKind::Map(vec![]));
        let condition = self.literal(Literal::Bool(true));
        let result = self.accu();
        self.fold(Comprehension { range, var, var2, accu: ACCU.to_string(), init, condition, step, result })
    }

    /// `let name = value in body`, in cel-go's form: a fold over an empty list.
    fn bind(&mut self, name: &str, value: Expr, body: Expr) -> Expr {
        let range = self.list(vec![]);
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(name);
        let (var, accu) = ("#unused".to_string(), name.to_string());
        self.fold(Comprehension { range, var, var2: None, accu, init: value, condition, step, result: body })
    }

    fn opt_map(&mut self, name: &str, target: Expr, mut args: Vec<Expr>) -> Expanded {
        // The target is written twice, so a chain of these doubles at each step.
        self.p.check_size(self.at)?;
        let body = args.pop().unwrap_or_else(|| self.accu());
        let (var, _) = self.variables(&args)?;
        let copy = self.renumbered(&target);
        let has_value = self.method("hasValue", target, vec![]);
        let value = self.method("value", copy, vec![]);
        let mut mapped = self.bind(&var, value, body);
        if name == "optMap" {
            mapped = self.call("optional.of", vec![mapped]);
        }
        let none = self.call("optional.none", vec![]);
        Ok(self.call("_?_:_", vec![has_value, mapped, none]))
    }

    fn sort_by(&mut self, target: Expr, mut args: Vec<Expr>) -> Expanded {
        if matches!(target.kind, ExprKind::Literal(_) | ExprKind::Map(_) | ExprKind::Struct(_)) {
            return Err(self.bad("sortBy can only be applied to a list, identifier, comprehension, call or select"));
        }
        let (var, _) = self.variables(&args[..1])?;
        args.remove(0);
        const INPUT: &str = "@__sortBy_input__";
        let input = self.ident(INPUT);
        let keys = self.collect(input, var, None, args);
        let input = self.ident(INPUT);
        let sorted = self.method("@sortByAssociatedKeys", input, vec![keys]);
        Ok(self.bind(INPUT, target, sorted))
    }

    /// A copy whose nodes have new numbers.
    fn renumbered(&mut self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.renumber(&mut copy);
        copy
    }

    fn renumber(&mut self, expr: &mut Expr) {
        expr.id = self.literal(Literal::Null).id;
        match &mut expr.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select(s) => self.renumber(&mut s.operand),
            ExprKind::Call(c) => {
                if let Some(target) = &mut c.target {
                    self.renumber(target);
                }
                c.args.iter_mut().for_each(|e| self.renumber(e));
            }
            ExprKind::List(l) => l.items.iter_mut().for_each(|e| self.renumber(e)),
            ExprKind::Map(entries) => entries.iter_mut().for_each(|e| {
                self.renumber(&mut e.key);
                self.renumber(&mut e.value);
            }),
            ExprKind::Struct(s) => s.values.iter_mut().for_each(|e| self.renumber(e)),
            ExprKind::Comprehension(c) => {
                let c = &mut **c;
                for part in [&mut c.range, &mut c.init, &mut c.condition, &mut c.step, &mut c.result] {
                    self.renumber(part);
                }
            }
        }
    }
}
