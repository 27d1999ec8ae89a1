//! Evaluates rules on objects.
//!
//! Given a checked expression with its schema node, and `self` and `oldSelf` as JSON, returns the value, an evaluation error (which
//! the server treats as a violation), or "undecided".

mod access;
mod convert;
mod data;
mod file_expression;
pub(super) mod format;
mod json;
mod kubernetes;
mod lists;
mod machine;
mod operators;
mod strings;
mod time;
mod value;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;
use thiserror::Error;

use super::ast::{Expr, ExprKind, Literal};
use super::check::{CheckedExpr, CompileError, Purpose, check};
use super::decl::Decl;
use super::need::Need;
use super::types::CelType;
use crate::go::bounded_cache::BoundedCache;
use crate::go::regexp::Pattern;
use crate::model::kubernetes::{Environment, Feature, QueriedFeatures};
pub use file_expression::FileExpression;
pub use machine::Machine;
use value::Val;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvalError {
    /// The expression fails on this object, also on the server.
    #[error("{0}")]
    Failed(String),
    /// Something that isn't modelled; the server's result is unknown.
    #[error("can't be evaluated here: {0}")]
    Unsupported(String),
    /// More work than is allowed for one expression.
    #[error("evaluation takes too many steps")]
    Limit,
}

impl EvalError {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        EvalError::Failed(message.into())
    }

    pub(crate) fn unsupported(what: &str) -> Self {
        EvalError::Unsupported(what.to_string())
    }

    pub(crate) fn no_such_overload() -> Self {
        EvalError::failed("no such overload")
    }
}

/// The remaining work for one evaluation, in the environment of the server that does it.
#[derive(Debug)]
pub struct Fuel {
    steps: usize,
    /// How many there were at first.
    most: usize,
    environment: Environment,
}

/// The maximum number of steps. The server stops at a cost of one million, which is of the same order.
const MAX_STEPS: usize = 1_000_000;
/// How many bytes of text count as one step.
const STEP_BYTES: usize = 64;

impl Fuel {
    fn full(environment: Environment) -> Self {
        Fuel { steps: MAX_STEPS, most: MAX_STEPS, environment }
    }

    /// Allows at most this many steps.
    fn limit(&mut self, steps: usize) {
        self.most = self.most.min(steps);
        self.steps = self.most;
    }

    /// Steps that were taken.
    fn burnt(&self) -> usize {
        self.most - self.steps
    }

    /// Counts one step, and more for work on `bytes` of text.
    fn burn(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.steps = self.steps.checked_sub(1 + bytes / STEP_BYTES).ok_or(EvalError::Limit)?;
        Ok(())
    }
}

/// How many bytes of expressions and surrounding nodes a thread caches.
const REMEMBERED: usize = 1 << 16;

/// An expression with the node it is compiled for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Question {
    source: Arc<str>,
    purpose: Purpose,
    decl: Arc<Decl>,
    optional_old_self: bool,
    environment: Environment,
}

/// A program or the error, and the features that this depended on.
type Compilation = (Result<Program, CompileError>, QueriedFeatures);

thread_local! {
    static KNOWN: BoundedCache<Question, Compilation> = BoundedCache::new(REMEMBERED);
}

/// An expression ready to run: compiled once, run many times.
#[derive(Clone, Debug)]
pub struct Program {
    checked: Arc<CheckedExpr>,
    decl: Arc<Decl>,
    optional_old_self: bool,
    /// The environment of the server that runs it; another server with the same version may have compiled it.
    environment: Environment,
    /// Constant patterns of the expression, so that no run compiles them again.
    patterns: Arc<HashMap<String, Pattern>>,
}

impl Program {
    /// Compiles a rule or messageExpression for the node `decl`, or finds it among those that this thread has cached.
    pub fn compile(
        source: &str,
        purpose: Purpose,
        decl: &Arc<Decl>,
        optional_old_self: bool,
        environment: Environment,
    ) -> Result<Program, CompileError> {
        KNOWN.with(|known| {
            let decl = decl.reduced(&Need::of(source));
            let question = Question { source: source.into(), purpose, decl, optional_old_self, environment };
            let weigh = |_: &Compilation| source.len() + question.decl.nodes;
            let (program, asked) = known.get(&question, weigh, || {
                let decl = Arc::clone(&question.decl);
                environment.server().observe(|server| Self::read(source, purpose, decl, optional_old_self, environment.on(server)))
            });
            environment.server().note(asked);
            program.map(|program| Program { environment, ..program })
        })
    }

    fn read(
        source: &str,
        purpose: Purpose,
        decl: Arc<Decl>,
        optional_old_self: bool,
        environment: Environment,
    ) -> Result<Program, CompileError> {
        let checked = Arc::new(check(source, purpose, &decl, optional_old_self, environment)?);
        let patterns = Arc::new(patterns(&checked));
        Ok(Program { checked, decl, optional_old_self, environment, patterns })
    }

    pub fn checked(&self) -> &CheckedExpr {
        &self.checked
    }

    /// Whether a server with a feature may evaluate it differently from one without, although both compile it.
    pub fn is_evaluated_by(&self, feature: Feature) -> bool {
        let calls = |overloads: &[&str]| {
            let nodes = self.checked.expr.descendants().into_iter();
            nodes.flat_map(|e| self.checked.overloads_of(e)).any(|overload| overloads.contains(overload))
        };
        match feature {
            Feature::SubnetsContained => calls(&["cidr_contains_cidr_string", "cidr_contains_cidr"]),
            Feature::NullFieldsEqual => self.decl.has_nullable_field() && self.compares_structures(),
            Feature::QuantitiesCopied => calls(&["quantity_add", "quantity_add_int", "quantity_sub", "quantity_sub_int"]),
            _ => false,
        }
    }

    /// Whether it compares objects, or lists or maps that may have objects in them.
    fn compares_structures(&self) -> bool {
        let is_structure = |e: &Expr| {
            let ty = self.checked.type_of(e);
            matches!(ty, CelType::Dyn | CelType::Struct(_) | CelType::List(_) | CelType::Map(..) | CelType::Optional(_))
        };
        self.checked.expr.descendants().into_iter().any(|e| match &e.kind {
            ExprKind::Call(call) => matches!(&*call.function, "_==_" | "_!=_" | "@in") && call.args.iter().all(is_structure),
            _ => false,
        })
    }

    /// Whether it needs the old object: such a rule only runs on updates, unless `oldSelf` is optional.
    pub fn is_transition(&self) -> bool {
        self.checked.uses_old_self
    }

    /// Whether the server would run this rule here.
    pub fn applies(&self, value: &Json, old: Option<&Json>) -> bool {
        let lacks_old = self.is_transition() && !self.optional_old_self && old.is_none_or(Json::is_null);
        !value.is_null() && !lacks_old
    }

    /// Whether a rule holds for `value`.
    #[cfg(any(test, fuzzing))]
    pub fn holds(&self, value: &Json, old: Option<&Json>) -> Result<bool, EvalError> {
        self.holds_counted(value, old, &mut 0)
    }

    /// The same, adding the steps that it took.
    pub fn holds_counted(&self, value: &Json, old: Option<&Json>, steps: &mut usize) -> Result<bool, EvalError> {
        match self.run(value, old, steps)? {
            Val::Bool(b) => Ok(b),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    /// Evaluates a messageExpression.
    pub fn message(&self, value: &Json, old: Option<&Json>) -> Result<String, EvalError> {
        match self.run(value, old, &mut 0)? {
            Val::Text(text) => Ok(text.to_string()),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    fn run<'a>(&'a self, value: &'a Json, old: Option<&'a Json>, steps: &mut usize) -> Result<Val<'a>, EvalError> {
        let this = data::read(value, &self.decl);
        let old = old.filter(|old| !old.is_null()).map(|old| data::read(old, &self.decl));
        let old = match (old, self.optional_old_self) {
            (Some(old), true) => old.map(|old| Val::some(data::without_schema(old))),
            (None, true) => Ok(Val::Optional(None)),
            (Some(old), false) => old,
            (None, false) => Err(EvalError::failed("no such attribute: oldSelf")),
        };
        let mut machine = Machine::new(&self.checked, self.environment, &self.patterns, vec![("self", this), ("oldSelf", old)]);
        let result = machine.run();
        *steps += machine.fuel.burnt();
        result
    }
}

/// The constant patterns of an expression.
fn patterns(checked: &CheckedExpr) -> HashMap<String, Pattern> {
    let calls = checked.expr.descendants().into_iter().filter_map(|e| match &e.kind {
        ExprKind::Call(call) if matches!(&*call.function, "matches" | "find" | "findAll") => Some(call),
        _ => None,
    });
    let literals = calls.flat_map(|call| &call.args).filter_map(|arg| match arg.literal() {
        Some(Literal::String(text)) => Some((text.clone(), Pattern::new(text).ok()?)),
        _ => None,
    });
    literals.collect()
}

/// Functions whose constant argument is converted when the program is built.
pub(super) const CONVERSIONS: [&str; 10] = ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Whether the conversion of a constant fails, so that the program can't be built.
pub(super) fn constant_conversion_fails(function: &str, argument: &Expr) -> bool {
    constant(argument).is_some_and(|value| convert::convert(function, value).is_err())
}

/// A literal, or the result of conversions of one.
fn constant(expr: &Expr) -> Option<Val<'_>> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(machine::constant(literal)),
        ExprKind::Call(call) if call.target.is_none() && CONVERSIONS.contains(&&*call.function) => match call.args.as_slice() {
            [argument] => convert::convert(&call.function, constant(argument)?).ok(),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
