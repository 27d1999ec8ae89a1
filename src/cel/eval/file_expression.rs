//! Expressions in crdwise's own files: conditions of rules, steps of conversions.
//!
//! Compiles a text with one typed variable into a program that runs on JSON.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::value::Val;
use super::{EvalError, Machine, data, json, patterns};
use crate::cel::check::{CheckedExpr, CompileError, SELF_TYPE, check_over};
use crate::cel::decl::Decl;
use crate::cel::types::CelType;
use crate::go::regexp::Pattern;
use crate::model::kubernetes::Environment;

/// How many steps it takes to start an expression.
const START: usize = 2;

/// An expression over one variable, compiled once and run many times.
#[derive(Clone, Debug)]
pub struct FileExpression {
    variable: &'static str,
    decl: Arc<Decl>,
    checked: Arc<CheckedExpr>,
    patterns: Arc<HashMap<String, Pattern>>,
}

impl FileExpression {
    /// Compiles `source`, or returns what is wrong with it and at which character.
    pub fn compile(source: &str, variable: &'static str, decl: &Arc<Decl>) -> Result<FileExpression, String> {
        let checked = check_over(variable, source, decl).map_err(|problem| {
            let (CompileError::Refused { at, reason } | CompileError::Unsure { at, reason }) = problem;
            let character = source.get(..at).map_or(0, |before| before.chars().count()) + 1;
            format!("{} (character {character})", reason.replace(SELF_TYPE, variable))
        })?;
        let patterns = Arc::new(patterns(&checked));
        Ok(FileExpression { variable, decl: Arc::clone(decl), checked: Arc::new(checked), patterns })
    }

    /// The result type, as far as it is known before evaluation.
    pub fn result_type(&self) -> CelType {
        match self.checked.type_of(&self.checked.expr) {
            CelType::Struct(name) if &*name == SELF_TYPE => CelType::Struct(self.variable.into()),
            other => other,
        }
    }

    /// Whether it is `true` for `value`. It may take this many steps, which are reduced by those that it took.
    pub fn holds(&self, value: &Json, steps: &mut usize) -> Result<bool, EvalError> {
        let mut machine = self.machine(value);
        machine.fuel.limit(*steps);
        let result = machine.run();
        *steps = match &result {
            Err(EvalError::Limit) => 0,
            _ => steps.saturating_sub(START + machine.fuel.burnt()),
        };
        match result? {
            Val::Bool(b) => Ok(b),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    /// Evaluates the expression for `value`.
    pub fn result(&self, value: &Json) -> Result<Json, EvalError> {
        let mut machine = self.machine(value);
        let result = machine.run().map_err(|error| machine.explain(error))?;
        json::from_val(&result, &mut machine.fuel)
    }

    fn machine<'a>(&'a self, value: &'a Json) -> Machine<'a> {
        Machine::new(&self.checked, Environment::default(), &self.patterns, vec![(self.variable, data::read(value, &self.decl))])
    }
}
