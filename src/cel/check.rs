//! Type-checks an expression like cel-go's checker in the environment of an API server.
//!
//! Given a parsed expression and the [`Decl`] of `self`, returns the expression with names resolved, the type of every node and the
//! overloads of every call, or why the server refuses it, or why that can't be decided.

mod calls;

use thiserror::Error;

use super::ast::{ACCU, Comprehension, Expr, ExprKind, Learnt, List, Literal, MapEntry};
use super::decl::{Decl, DeclKind};
use super::library;
use super::literals;
use super::name;
use super::parse;
use super::types::CelType;
use super::unify::Substitution;
use crate::model::kubernetes::{Environment, Feature};

/// What an expression is used for, and therefore which type it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    Rule,
    Message,
    /// An expression in one of crdwise's own files, which may have any type, even a list of mixed types.
    File,
}

/// Why there is no checked expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The server refuses this.
    #[error("{reason}")]
    Refused { at: usize, reason: String },
    /// Not enough is known to decide whether the server accepts this.
    #[error("{reason}")]
    Unsure { at: usize, reason: String },
}

impl CompileError {
    pub(super) fn refused(at: usize, reason: impl Into<String>) -> Self {
        CompileError::Refused { at, reason: reason.into() }
    }

    pub(super) fn unsure(at: usize, reason: impl Into<String>) -> Self {
        CompileError::Unsure { at, reason: reason.into() }
    }
}

/// An expression that compiles.
#[derive(Clone, Debug)]
pub struct CheckedExpr {
    pub expr: Expr,
    pub types: Learnt<CelType>,
    /// The ids of the overloads that a call may resolve to.
    pub overloads: Learnt<Vec<&'static str>>,
    pub uses_old_self: bool,
}

/// The maximum size of an expression's type; real ones have a dozen parts.
const MAX_TYPE_PARTS: usize = 1_000;

/// The old name of a macro's result, before it was hidden.
const OLD_ACCU: &str = "__result__";

/// The type name of objects of the schema; no expression can spell it.
pub(super) const SELF_TYPE: &str = "@self";

/// Compiles `source` for a node of the schema. With `optional_old_self`, `oldSelf` is an optional value.
pub fn check(
    source: &str,
    purpose: Purpose,
    decl: &Decl,
    optional_old_self: bool,
    environment: Environment,
) -> Result<CheckedExpr, CompileError> {
    let self_type = decl.cel_type(&|| SELF_TYPE.to_owned());
    let old_type = if optional_old_self { CelType::optional(self_type.clone()) } else { self_type.clone() };
    check_in(source, purpose, decl, vec![("self".into(), self_type), ("oldSelf".into(), old_type)], environment)
}

/// Compiles `source` over one variable, for an expression in one of crdwise's own files.
pub fn check_over(variable: &str, source: &str, decl: &Decl) -> Result<CheckedExpr, CompileError> {
    let scope = vec![(variable.into(), decl.cel_type(&|| SELF_TYPE.to_owned()))];
    check_in(source, Purpose::File, decl, scope, Environment::default())
}

fn check_in(
    source: &str,
    purpose: Purpose,
    decl: &Decl,
    scope: Vec<(String, CelType)>,
    environment: Environment,
) -> Result<CheckedExpr, CompileError> {
    let expr = parse::read(source).map_err(|e| match e.too_deep {
        true => CompileError::unsure(e.at, e.message),
        false => CompileError::refused(e.at, format!("Syntax error: {}", e.message)),
    })?;
    let mut checker = Checker {
        decl,
        environment,
        substitution: Substitution::default(),
        types: Learnt::about(&expr),
        overloads: Learnt::about(&expr),
        scope,
        entered: false,
        problem: None,
    };
    let mut expr = Expr::clone(&expr);
    checker.expr(&mut expr);
    if let Some(problem) = checker.problem {
        return Err(problem);
    }
    for t in checker.types.values_mut().filter(|t| !t.is_plain()) {
        *t = checker.substitution.apply(t, true);
    }
    let uses_old_self = expr.reads_old_self();
    let checked = CheckedExpr { expr, types: checker.types, overloads: checker.overloads, uses_old_self };
    literals::validate(&checked, purpose, environment)?;
    let result = checked.type_of(&checked.expr);
    match purpose {
        Purpose::Rule if result != CelType::Bool => {
            Err(CompileError::refused(0, format!("a rule must return a bool, but this one returns {result}")))
        }
        Purpose::Message if result != CelType::String => {
            Err(CompileError::refused(0, format!("a messageExpression must return a string, but this one returns {result}")))
        }
        _ => Ok(checked),
    }
}

impl CheckedExpr {
    pub fn type_of(&self, expr: &Expr) -> CelType {
        self.types.get(expr).cloned().unwrap_or(CelType::Dyn)
    }

    pub fn overloads_of(&self, expr: &Expr) -> &[&'static str] {
        self.overloads.get(expr).map_or(&[], Vec::as_slice)
    }
}

struct Checker<'d> {
    decl: &'d Decl,
    environment: Environment,
    substitution: Substitution,
    types: Learnt<CelType>,
    overloads: Learnt<Vec<&'static str>>,
    /// Variables in scope, innermost last.
    scope: Vec<(String, CelType)>,
    /// Whether the body of a macro was entered: from then on, older checkers forget that they compare only numbers of one type.
    entered: bool,
    /// The first error or, without any, the first doubt.
    problem: Option<CompileError>,
}

impl Checker<'_> {
    fn refuse(&mut self, at: usize, reason: String) {
        if !matches!(self.problem, Some(CompileError::Refused { .. })) {
            self.problem = Some(CompileError::Refused { at, reason });
        }
    }

    /// Refuses what the server's environment doesn't have.
    fn require(&mut self, at: usize, feature: Feature, reason: &str) {
        if !self.environment.has(feature) {
            self.refuse(at, reason.to_owned());
        }
    }

    fn doubt(&mut self, at: usize, reason: String) {
        if self.problem.is_none() {
            self.problem = Some(CompileError::Unsure { at, reason });
        }
    }

    fn type_of(&self, expr: &Expr) -> CelType {
        self.types.get(expr).cloned().unwrap_or(CelType::Error)
    }

    fn expr(&mut self, e: &mut Expr) {
        let t = match &mut e.kind {
            ExprKind::Literal(literal) => literal_type(literal),
            ExprKind::Ident(_) => self.ident(e),
            ExprKind::Select(_) => self.select(e),
            ExprKind::Call(_) => self.call(e),
            ExprKind::List(list) => self.list(list),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct(s) => {
                let name = s.type_name.clone();
                if name.contains("google.") {
                    self.doubt(e.at, format!("message '{name}' is not known here"));
                } else {
                    self.refuse(e.at, undeclared(&name));
                }
                CelType::Error
            }
            ExprKind::Comprehension(c) => self.comprehension(c),
        };
        // `[1].map(a, {a: a}).map(b, {b: b})…` doubles its type at each step.
        let t = if !t.is_plain() && t.larger_than(MAX_TYPE_PARTS) {
            self.doubt(e.at, "a type is too large to be followed".into());
            CelType::Error
        } else {
            t
        };
        self.types.insert(e.id, t);
    }

    /// Looks up a variable or the name of a type.
    fn lookup(&mut self, name: &str) -> Option<CelType> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, t)) = self.scope.iter().rev().find(|(n, _)| n == name) {
            let t = t.clone();
            return Some(t);
        }
        library::type_name_in(name, self.environment).map(|t| CelType::Type(Some(t.into())))
    }

    fn ident(&mut self, e: &mut Expr) -> CelType {
        let ExprKind::Ident(name) = &mut e.kind else { return CelType::Error };
        if name == OLD_ACCU && self.scope.iter().any(|(n, _)| n == ACCU) && !self.environment.has(Feature::HiddenAccumulator) {
            *name = ACCU.to_owned();
        }
        if let Some(t) = self.lookup(name) {
            return t;
        }
        let reason = undeclared(name);
        self.refuse(e.at, reason);
        CelType::Error
    }

    fn select(&mut self, e: &mut Expr) -> CelType {
        if let Some(qualified) = qualified(e) {
            if qualified.contains('.')
                && let Some(t) = self.lookup(&qualified)
            {
                e.kind = ExprKind::Ident(qualified);
                return t;
            }
            if qualified.starts_with("google.") || qualified.starts_with("kubernetes.") {
                self.doubt(e.at, format!("'{qualified}' is not known here"));
                return CelType::Error;
            }
        }
        let ExprKind::Select(select) = &mut e.kind else { return CelType::Error };
        self.expr(&mut select.operand);
        let operand = self.type_of(&select.operand);
        let result = self.field(e.at, &operand, &select.field, false);
        if select.test { CelType::Bool } else { self.substitution.apply(&result, false) }
    }

    fn field(&mut self, at: usize, operand: &CelType, field: &str, optional: bool) -> CelType {
        let operand = self.substitution.apply(operand, false);
        let (target, was_optional) = operand.unwrap_optional();
        let result = match &target {
            CelType::Map(_, value) => (**value).clone(),
            CelType::Struct(name) => match self.struct_field(name, field) {
                Some(t) => t,
                None => {
                    self.refuse(at, format!("undefined field '{field}'"));
                    CelType::Error
                }
            },
            CelType::Param(_) => {
                self.substitution.assignable(&CelType::Dyn, &target);
                CelType::Dyn
            }
            t if t.is_dyn_or_error() => CelType::Dyn,
            t => {
                self.refuse(at, format!("type '{t}' does not support field selection"));
                CelType::Dyn
            }
        };
        if was_optional || optional { CelType::optional(result) } else { result }
    }

    fn struct_field(&self, object: &str, field: &str) -> Option<CelType> {
        let DeclKind::Object(declared) = &self.decl.named(SELF_TYPE, object)?.kind else { return None };
        if let Some((_, decl)) = declared.field(field) {
            return Some(decl.cel_type(&|| format!("{object}.{field}")));
        }
        // After a dot, reserved words can be written unescaped.
        let escaped = name::reserved(field).then(|| format!("__{field}__"))?;
        let found = declared.field(&escaped)?;
        self.environment.has(Feature::ReservedFieldNames).then_some(found)?;
        Some(found.1.cel_type(&|| format!("{object}.{escaped}")))
    }

    fn list(&mut self, list: &mut List) -> CelType {
        let mut joined: Option<CelType> = None;
        for (i, item) in list.items.iter_mut().enumerate() {
            self.expr(item);
            let mut t = self.type_of(item);
            if list.optional.contains(&i) {
                t = self.optional_element(item.at, t);
            }
            joined = self.substitution.join(joined, t).or(Some(CelType::Dyn));
        }
        CelType::list(joined.unwrap_or_else(|| self.substitution.fresh()))
    }

    fn optional_element(&mut self, at: usize, t: CelType) -> CelType {
        self.require(at, Feature::OptionalValues, "unsupported syntax '?'");
        let (inner, was_optional) = t.unwrap_optional();
        if !was_optional && inner != CelType::Dyn {
            self.refuse(at, format!("expected type 'optional_type({inner})' but found '{inner}'"));
        }
        inner
    }

    fn map(&mut self, entries: &mut [MapEntry]) -> CelType {
        let (mut keys, mut values): (Option<CelType>, Option<CelType>) = (None, None);
        for entry in entries {
            self.expr(&mut entry.key);
            let key = self.type_of(&entry.key);
            keys = self.substitution.join(keys, key).or(Some(CelType::Dyn));
            self.expr(&mut entry.value);
            let mut value = self.type_of(&entry.value);
            if entry.optional {
                value = self.optional_element(entry.value.at, value);
            }
            values = self.substitution.join(values, value).or(Some(CelType::Dyn));
        }
        let key = keys.unwrap_or_else(|| self.substitution.fresh());
        CelType::map(key, values.unwrap_or_else(|| self.substitution.fresh()))
    }

    fn comprehension(&mut self, c: &mut Comprehension) -> CelType {
        if c.var2.is_some() {
            self.require(c.range.at, Feature::TwoVariableMacros, "undeclared reference to a macro with two variables");
        }
        self.expr(&mut c.range);
        self.expr(&mut c.init);
        let accu = self.type_of(&c.init);
        let range = self.substitution.apply(&self.type_of(&c.range), false);
        let (first, second) = match &range {
            CelType::List(item) if c.var2.is_some() => (CelType::Int, (**item).clone()),
            CelType::List(item) => ((**item).clone(), CelType::Error),
            CelType::Map(key, value) => ((**key).clone(), (**value).clone()),
            CelType::Dyn | CelType::Error | CelType::Param(_) => {
                self.substitution.assignable(&CelType::Dyn, &range);
                (CelType::Dyn, CelType::Dyn)
            }
            other => {
                self.refuse(c.range.at, format!("expression of type '{other}' cannot be range of a comprehension"));
                (CelType::Error, CelType::Error)
            }
        };
        self.entered = true;
        let depth = self.scope.len();
        self.scope.push((c.accu.clone(), accu.clone()));
        self.scope.push((c.var.clone(), first));
        if let Some(var2) = &c.var2 {
            self.scope.push((var2.clone(), second));
        }
        self.expr(&mut c.condition);
        self.assert(&c.condition, &CelType::Bool);
        self.expr(&mut c.step);
        self.assert(&c.step, &accu);
        self.scope.truncate(depth + 1);
        self.expr(&mut c.result);
        self.scope.truncate(depth);
        self.substitution.apply(&self.type_of(&c.result), false)
    }

    fn assert(&mut self, e: &Expr, expected: &CelType) {
        let found = self.type_of(e);
        if !self.substitution.assignable(expected, &found) {
            let (expected, found) = (self.substitution.apply(expected, true), self.substitution.apply(&found, true));
            self.refuse(e.at, format!("expected type '{expected}' but found '{found}'"));
        }
    }
}

/// `a.b.c` as one name, if it can be the name of a type or function. A chain that starts with the object never is.
fn qualified(e: &Expr) -> Option<String> {
    (!matches!(e.head()?, "self" | "oldSelf")).then(|| e.qualified_name())?
}

fn undeclared(name: &str) -> String {
    format!("undeclared reference to '{name}'")
}

fn literal_type(literal: &Literal) -> CelType {
    match literal {
        Literal::Null => CelType::Null,
        Literal::Bool(_) => CelType::Bool,
        Literal::Int(_) => CelType::Int,
        Literal::Uint(_) => CelType::Uint,
        Literal::Double(_) => CelType::Double,
        Literal::String(_) => CelType::String,
        Literal::Bytes(_) => CelType::Bytes,
    }
}

#[cfg(test)]
mod tests;
