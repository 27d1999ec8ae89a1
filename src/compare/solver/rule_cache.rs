//! Caches the formula, program and fields of each CEL rule.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
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
use super::same::SharedPairs;
use super::translate::translate;

/// What is known about the rules of nodes, each computed once.
#[derive(Default)]
struct KnownRules {
    formulas: Table<RuleId, Option<Rc<Formula>>>,
    necessary: Table<RuleId, Option<Rc<Formula>>>,
    sufficient: Table<RuleId, Option<Rc<Formula>>>,
    programs: Table<(RuleId, bool), Option<Rc<Program>>>,
    readings: Table<RuleId, Reading>,
    /// The CEL declarations of nodes with rules, as roots of resources or not.
    decls: Table<(usize, bool), Arc<Decl>>,
}

type Table<K, V> = RefCell<HashMap<K, V>>;

/// The address of a node, and the index of a rule there.
type RuleId = (usize, usize);

/// What is known about some schemas and their rules, for all searches that compare them.
pub(crate) struct SharedRules<'s> {
    known: KnownRules,
    /// The nodes with rules. A search may also use nodes that don't live as long, and their addresses say nothing later.
    nodes: HashSet<usize>,
    pub(super) pairs: Rc<SharedPairs>,
    schemas: PhantomData<&'s Shape>,
}

fn address(shape: &Shape) -> usize {
    std::ptr::from_ref(shape).addr()
}

impl<'s> SharedRules<'s> {
    pub(crate) fn of(schemas: &[&'s Shape]) -> Rc<Self> {
        let mut nodes = HashSet::default();
        schemas.iter().for_each(|schema| collect(schema, &mut nodes));
        Rc::new(SharedRules { known: KnownRules::default(), nodes, pairs: SharedPairs::of(schemas), schemas: PhantomData })
    }
}

/// Adds the nodes with rules.
fn collect(shape: &Shape, nodes: &mut HashSet<usize>) {
    if !shape.rules.is_empty() {
        nodes.insert(address(shape));
    }
    shape.children().for_each(|child| collect(child, nodes));
}

/// Translated and compiled rules, each computed once.
pub(crate) struct RuleCache<'s> {
    /// The budget of the comparison that needs these objects.
    budget: Budget,
    own: KnownRules,
    shared: Option<Rc<SharedRules<'s>>>,
    /// Nodes that differ from shared ones only in something below them on which their rules don't depend.
    copies: Vec<(usize, usize)>,
    /// The roots of resources, whose rules see a name and a kind.
    pub(crate) roots: Vec<usize>,
}

impl<'s> RuleCache<'s> {
    /// Runs rules as long as the budget lasts.
    pub(crate) fn within(budget: &Budget) -> Self {
        RuleCache { budget: budget.clone(), own: KnownRules::default(), shared: None, copies: Vec::new(), roots: Vec::new() }
    }

    /// Uses, and adds to, what other searches know about the rules of the same schemas.
    pub(crate) fn share(&mut self, rules: &Rc<SharedRules<'s>>) {
        self.shared = Some(Rc::clone(rules));
    }

    /// Marks a node that differs from a shared one only in rules or patterns below it: neither changes what its own rules mean.
    pub(crate) fn copy(&mut self, copy: &Shape, of: &Shape) {
        self.copies.push((address(copy), address(of)));
    }

    /// What is known about the rules of a node, and the address under which it is known.
    fn known(&self, shape: &Shape) -> (&KnownRules, usize) {
        let own = address(shape);
        let of = self.copies.iter().find(|(copy, _)| *copy == own).map_or(own, |(_, of)| *of);
        match &self.shared {
            Some(shared) if shared.nodes.contains(&of) => (&shared.known, of),
            _ => (&self.own, own),
        }
    }

    /// The formula under which a rule holds on create.
    pub(crate) fn formula(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
        let (KnownRules { formulas, .. }, node) = self.known(shape);
        let id = (node, index(rule, shape));
        if let Some(known) = formulas.borrow().get(&id) {
            debug_assert!(node == address(shape) || *known == translate(rule, shape), "a rule depends on what a copy lacks");
            return known.clone();
        }
        let formula = translate(rule, shape);
        formulas.borrow_mut().insert(id, formula.clone());
        formula
    }

    /// A condition that holds wherever a rule without a formula holds.
    pub(crate) fn necessary(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
        let (KnownRules { necessary: known, .. }, node) = self.known(shape);
        known.borrow_mut().entry((node, index(rule, shape))).or_insert_with(|| necessary(rule, shape)).clone()
    }

    /// A condition that holds only where a rule without a formula holds.
    pub(crate) fn sufficient(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
        let (KnownRules { sufficient: known, .. }, node) = self.known(shape);
        known.borrow_mut().entry((node, index(rule, shape))).or_insert_with(|| sufficient(rule, shape)).clone()
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
        let (KnownRules { readings, .. }, node) = self.known(shape);
        let id = (node, index(rule, shape));
        if let Some(known) = readings.borrow().get(&id) {
            return known.clone();
        }
        let reading = match analysed(&rule.rule) {
            Some(expr) => {
                Reading { canonical: [normal(&expr, None).into(), normal(&expr, Some(shape)).into()], keys: keys(&expr).map(Into::into) }
            }
            None => Reading { canonical: [rule.rule.trim().into(), rule.rule.trim().into()], keys: None },
        };
        readings.borrow_mut().insert(id, reading.clone());
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

    fn program(&self, rule: &CelRule, shape: &Shape) -> Option<Rc<Program>> {
        let root = shape.embedded || self.roots.contains(&address(shape));
        let (KnownRules { programs, decls, .. }, node) = self.known(shape);
        let id = ((node, index(rule, shape)), root);
        if let Some(known) = programs.borrow().get(&id) {
            return known.clone();
        }
        let decl = Arc::clone(decls.borrow_mut().entry((node, root)).or_insert_with(|| Arc::new(Decl::of(shape, root))));
        let optional = rule.optional_old_self == Some(true);
        let program = Program::compile(&rule.rule, Purpose::Rule, &decl, optional, shape.kubernetes.stored_expressions()).ok().map(Rc::new);
        programs.borrow_mut().insert(id, program.clone());
        program
    }
}

/// The index of a rule among those of its node.
fn index(rule: &CelRule, shape: &Shape) -> usize {
    let offset = std::ptr::from_ref(rule).addr().wrapping_sub(shape.rules.as_ptr().addr());
    offset / size_of::<CelRule>()
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
