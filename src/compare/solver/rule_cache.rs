//! Caches the formula, program and fields of each CEL rule.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::HashMap;
use serde_json::Value;

use crate::cel::ast::{Expr, ExprKind as Node};
use crate::cel::check::Purpose;
use crate::cel::decl::Decl;
use crate::cel::eval::{EvalError, Program};
use crate::cel::name::unescape;
use crate::cel::normalise::normal;
use crate::compare::budget::Budget;
use crate::compare::cel_condition::field_of;
use crate::compare::limits::analysed;
use crate::model::schema::shape::{CelRule, Shape};

use super::formula::Formula;
use super::necessary::{necessary, sufficient};
use super::translate::translate;

/// Translated and compiled rules, each computed once.
pub(crate) struct RuleCache {
    /// The budget of the comparison that needs these objects.
    budget: Budget,
    known: RefCell<HashMap<usize, Option<Rc<Formula>>>>,
    necessary: RefCell<HashMap<usize, Option<Rc<Formula>>>>,
    sufficient: RefCell<HashMap<usize, Option<Rc<Formula>>>>,
    programs: RefCell<HashMap<usize, Option<Rc<Program>>>>,
    readings: RefCell<HashMap<usize, Reading>>,
    /// The CEL declarations of nodes with rules.
    decls: RefCell<HashMap<usize, Arc<Decl>>>,
    /// The roots of resources, whose rules see a name and a kind.
    pub(crate) roots: Vec<usize>,
}

impl RuleCache {
    /// Runs rules as long as the budget lasts.
    pub(crate) fn within(budget: &Budget) -> Self {
        RuleCache {
            budget: budget.clone(),
            known: RefCell::default(),
            necessary: RefCell::default(),
            sufficient: RefCell::default(),
            programs: RefCell::default(),
            readings: RefCell::default(),
            decls: RefCell::default(),
            roots: Vec::new(),
        }
    }

    /// The formula under which a rule holds on create.
    pub(crate) fn formula(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
        let id = std::ptr::from_ref(rule).addr();
        if let Some(known) = self.known.borrow().get(&id) {
            return known.clone();
        }
        let formula = translate(rule, shape);
        self.known.borrow_mut().insert(id, formula.clone());
        formula
    }

    /// A condition that holds wherever a rule without a formula holds.
    pub(crate) fn necessary(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
        let id = std::ptr::from_ref(rule).addr();
        self.necessary.borrow_mut().entry(id).or_insert_with(|| necessary(rule, shape)).clone()
    }

    /// A condition that holds only where a rule without a formula holds.
    pub(crate) fn sufficient(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
        let id = std::ptr::from_ref(rule).addr();
        self.sufficient.borrow_mut().entry(id).or_insert_with(|| sufficient(rule, shape)).clone()
    }

    /// The normal forms of a rule: by itself, and for values that its node accepts. Rules that share one of them are equivalent.
    pub(crate) fn canonical(&self, rule: &CelRule, shape: &Shape) -> [Rc<str>; 2] {
        self.read(rule, shape).canonical
    }

    /// The keys of the node that a rule reads; `None` if it uses the value as a whole.
    pub(crate) fn keys(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<[String]>> {
        self.read(rule, shape).keys
    }

    fn read(&self, rule: &CelRule, shape: &Shape) -> Reading {
        let id = std::ptr::from_ref(rule).addr();
        if let Some(known) = self.readings.borrow().get(&id) {
            return known.clone();
        }
        let reading = match analysed(&rule.rule) {
            Some(expr) => {
                Reading { canonical: [normal(&expr, None).into(), normal(&expr, Some(shape)).into()], keys: keys(&expr).map(Into::into) }
            }
            None => Reading { canonical: [rule.rule.trim().into(), rule.rule.trim().into()], keys: None },
        };
        self.readings.borrow_mut().insert(id, reading.clone());
        reading
    }

    /// Whether a rule holds for a value; `None` if it can't be run here.
    pub(crate) fn verdict(&self, rule: &CelRule, shape: &Shape, value: &Value) -> Option<bool> {
        let program = self.program(rule, shape)?;
        if !program.applies(value, None) {
            return Some(true);
        }
        let mut steps = 0;
        let verdict = program.holds_counted(value, None, &mut steps);
        if !self.budget.spend(steps) {
            return None;
        }
        match verdict {
            Ok(holds) => Some(holds),
            Err(EvalError::Failed(_)) => Some(false),
            Err(EvalError::Unsupported(_) | EvalError::Limit) => None,
        }
    }

    fn decl(&self, shape: &Shape) -> Arc<Decl> {
        let id = std::ptr::from_ref(shape).addr();
        let root = shape.embedded || self.roots.contains(&id);
        Arc::clone(self.decls.borrow_mut().entry(id).or_insert_with(|| Arc::new(Decl::of(shape, root))))
    }

    fn program(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Program>> {
        let id = std::ptr::from_ref(rule).addr();
        if let Some(known) = self.programs.borrow().get(&id) {
            return known.clone();
        }
        let optional = rule.optional_old_self == Some(true);
        let program = Program::compile(&rule.rule, Purpose::Rule, &self.decl(shape), optional, shape.kubernetes.stored_expressions())
            .ok()
            .map(Rc::new);
        self.programs.borrow_mut().insert(id, program.clone());
        program
    }
}

/// The keys that an expression selects from `self`; `None` if it uses `self` as a whole.
fn keys(expr: &Expr) -> Option<Vec<String>> {
    let mut keys = BTreeSet::new();
    let mut selected = BTreeSet::new();
    let parts = expr.descendants();
    for part in &parts {
        if let Some(select) = field_of(part, &["self", "oldSelf"]) {
            keys.insert(unescape(&select.field)?);
            selected.insert(select.operand.id);
        }
    }
    let whole = parts
        .iter()
        .any(|part| matches!(&part.kind, Node::Ident(name) if name == "self" || name == "oldSelf") && !selected.contains(&part.id));
    (!whole).then(|| keys.into_iter().collect())
}

/// What a rule reads.
#[derive(Clone)]
struct Reading {
    canonical: [Rc<str>; 2],
    keys: Option<Rc<[String]>>,
}
