//! Runs the rules of `x-kubernetes-validations` on an object: which rule runs where, with which old value, and its message.

use std::sync::OnceLock;

use serde_json::Value;

use crate::cel::check::{CompileError, Purpose};
use crate::cel::eval::{EvalError, Program};
use crate::model::kubernetes::Feature;
use crate::model::schema::shape::{CelRule, Extra, Shape, Type};

use super::error::{FieldError, FieldErrorKind, FieldErrorType};
use super::node::CompiledNode;
use super::path::{ObjectPath, ObjectStep, Trail};
use super::ratchet::{Correlated, KeyedItems, Tolerance, Tolerated};
use super::trace::{Check, Seen};

/// How many steps all rules may take on one object. The server stops at a cost of ten million, which is of the same order.
const MAX_STEPS: usize = 10_000_000;
/// How many errors of rules are listed for one object.
const MAX_ERRORS: usize = 10_000;
/// How many bytes of a message count as one step.
const MESSAGE_STEP: usize = 16;
/// The longest text that a messageExpression may return.
const MESSAGE_BYTES: usize = 5 << 10;

/// A compiled rule. Compiled on first use, because most rules of a schema are never run.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// The program, or why it can't be run here.
    rule: OnceLock<Result<Program, CompileError>>,
    message: OnceLock<Option<Program>>,
}

/// A rule with its node.
#[derive(Clone, Copy)]
struct Rule<'n> {
    text: &'n CelRule,
    programs: &'n Programs,
    node: &'n CompiledNode,
}

impl<'n> Rule<'n> {
    fn all(node: &'n CompiledNode) -> impl Iterator<Item = Rule<'n>> {
        node.shape.rules.iter().zip(&node.programs).map(move |(text, programs)| Rule { text, programs, node })
    }

    fn compile(&self, source: &str, purpose: Purpose) -> Result<Program, CompileError> {
        let optional = self.text.optional_old_self.unwrap_or(false);
        Program::compile(source, purpose, self.node.decl(), optional, self.node.shape.kubernetes.stored_expressions())
    }

    fn program(&self) -> Result<&'n Program, &'n CompileError> {
        self.programs.rule.get_or_init(|| self.compile(&self.text.rule, Purpose::Rule)).as_ref()
    }

    fn message(&self) -> Option<&'n Program> {
        let source = self.text.message_expression.as_deref()?;
        self.programs.message.get_or_init(|| self.compile(source, Purpose::Message).ok()).as_ref()
    }

    /// The message if messageExpression doesn't return one.
    fn fixed_message(&self) -> String {
        match self.text.message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
            Some(message) => message.to_owned(),
            None => format!("failed rule: {}", self.text.rule.trim()),
        }
    }

    /// The name of the rule in evaluation errors.
    fn name(&self) -> &str {
        let message = self.text.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
        message.unwrap_or(self.text.rule.trim())
    }

    fn text_for(&self, value: &Value, old: Option<&Value>) -> String {
        let computed = self.message().and_then(|program| program.message(value, old).ok());
        let fits = |text: &String| !text.is_empty() && text.len() <= MESSAGE_BYTES && !text.contains('\n');
        computed.map(|text| text.trim().to_owned()).filter(fits).unwrap_or_else(|| self.fixed_message())
    }

    fn reason(&self) -> FieldErrorType {
        match self.text.reason.as_deref() {
            Some("FieldValueForbidden") => FieldErrorType::Forbidden,
            Some("FieldValueRequired") => FieldErrorType::Required,
            Some("FieldValueDuplicate") => FieldErrorType::Duplicate,
            _ => FieldErrorType::Invalid,
        }
    }

    fn broken(&self, value: &Value, old: Option<&Value>, trail: &Trail<'_>) -> FieldError {
        let mut path = trail.path();
        if let Some(further) = self.text.field_path.as_deref() {
            extend(&mut path, &self.node.shape, further);
        }
        let reason = self.reason();
        let detail = if reason == FieldErrorType::Duplicate { String::new() } else { self.text_for(value, old) };
        let ty = Value::from(self.type_name());
        let shown = match self.node.shape.kubernetes.words(Feature::RuleValues) {
            // Only scalars are shown.
            true => Some(value).filter(|value| !(value.is_object() || value.is_array()) || reason == FieldErrorType::Duplicate),
            false => Some(&ty),
        };
        FieldError::new(path, super::error::Naming::Bracketed, FieldErrorKind::Rule, reason, shown, &detail).of_rule(&self.text.rule)
    }

    fn type_name(&self) -> &'static str {
        self.node.shape.ty.map_or("", Type::name)
    }

    /// The error of a rule that couldn't be run: the server shows the type of the node instead of its value.
    fn failed(&self, trail: &Trail<'_>, detail: &str) -> FieldError {
        FieldError::invalid(trail, FieldErrorKind::Rule, &self.type_name().into(), detail)
    }
}

/// Follows a `fieldPath` (`.a.b`, `['k']`) from the node of the rule.
fn extend(path: &mut ObjectPath, shape: &Shape, text: &str) {
    let mut shape = Some(shape);
    let mut rest = text;
    while !rest.is_empty() {
        let (name, tail) = match rest.strip_prefix("['") {
            Some(quoted) => quoted.split_once("']").unwrap_or((quoted, "")),
            None => {
                let dotted = rest.strip_prefix('.').unwrap_or(rest);
                dotted.split_at(dotted.find(['.', '[']).unwrap_or(dotted.len()))
            }
        };
        let declared = shape.is_none_or(|shape| !shape.properties.is_empty());
        path.push(if declared { ObjectStep::Key(name.into()) } else { ObjectStep::Entry(name.into()) });
        shape = shape.and_then(|shape| shape.value_of(name));
        if name.is_empty() {
            return;
        }
        rest = tail;
    }
}

/// The old value to compare with: that of the node itself, or of its nearest parent.
#[derive(Clone, Copy, Default)]
pub(super) struct Ratchet<'a> {
    current: Option<Correlated<'a>>,
    nearest: Option<Correlated<'a>>,
    /// How many steps lead from the root to the matched value.
    depth: usize,
}

impl<'a> Ratchet<'a> {
    pub fn of(root: Option<Correlated<'a>>) -> Self {
        Ratchet { current: root, nearest: None, depth: 0 }
    }

    /// Why an error here is tolerated, if it is.
    fn tolerance(self, trail: &Trail<'_>) -> Option<Tolerance> {
        self.current.or(self.nearest).filter(|known| known.is_tolerated()).map(|_| Tolerance::Unchanged(trail.path().prefix(self.depth)))
    }

    fn below(self, current: Correlated<'a>, child: Option<Correlated<'a>>) -> Self {
        Ratchet { current: child, nearest: Some(current), depth: self.depth + usize::from(child.is_some()) }
    }

    fn key(self, name: &str) -> Self {
        match (self.current, self.nearest) {
            (None, _) => self,
            // Both are rewritten to the version of the request, which hides a change.
            (Some(_), None) if matches!(name, "apiVersion" | "kind") => Ratchet::default(),
            (Some(current), _) => self.below(current, current.key(name)),
        }
    }

    fn item(self, item: Option<Correlated<'a>>) -> Self {
        match self.current {
            None => self,
            Some(current) => self.below(current, item),
        }
    }
}

/// The results of all rules on an object.
#[derive(Debug, Default)]
pub(super) struct RuleResults {
    pub errors: Vec<FieldError>,
    pub warnings: Vec<Tolerated>,
    /// Steps that the rules took.
    pub steps: usize,
    /// Rules of the server that can't be run here.
    pub undecided: Vec<(ObjectPath, String)>,
    /// The results of individual rules, if requested.
    pub seen: Option<Vec<Seen>>,
}

impl RuleResults {
    pub fn new(trace: bool) -> Self {
        RuleResults { seen: trace.then(Vec::new), ..RuleResults::default() }
    }

    /// Records once that the remaining rules were not run.
    fn stop(&mut self, trail: &Trail<'_>, reason: String) {
        if self.steps < usize::MAX {
            self.steps = usize::MAX;
            self.undecided.push((trail.path(), reason));
        }
    }

    fn saw(&mut self, rule: &Rule<'_>, trail: &Trail<'_>, holds: bool) {
        if let Some(seen) = &mut self.seen {
            let number = rule.node.shape.rules.iter().position(|text| std::ptr::eq(text, rule.text)).unwrap_or_default();
            seen.push(Seen { path: trail.path().general(), check: Check::Rule(number), holds, update: false });
        }
    }
}

pub(super) fn check(
    value: &Value,
    old: Option<&Value>,
    node: &CompiledNode,
    trail: &Trail<'_>,
    ratchet: Ratchet<'_>,
    results: &mut RuleResults,
) {
    if value.is_null() || !node.below.rules {
        return;
    }
    let old = old.filter(|old| !old.is_null());
    for rule in Rule::all(node) {
        run(rule, value, old, trail, ratchet, results);
    }
    match value {
        Value::Array(items) => {
            let Some(child) = node.items.as_deref().filter(|child| child.below.rules) else { return };
            let before = old.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let (before, correlated) = (KeyedItems::of(&node.shape, before), ratchet.current.map(Correlated::items));
            for (index, item) in items.iter().enumerate() {
                let correlated = correlated.as_ref().and_then(|items| items.at(index));
                check(item, before.like(item), child, &Trail::Index(trail, index), ratchet.item(correlated), results);
            }
        }
        Value::Object(map) => {
            let before = |name: &str| old.filter(|_| !node.shape.map_type_atomic).and_then(|old| old.get(name));
            for (name, value) in map {
                if let Extra::Values(child) = &node.extra {
                    check(value, before(name), child, &Trail::Entry(trail, name), ratchet.key(name), results);
                }
                if let Some(child) = node.properties.get(name.as_str()) {
                    check(value, before(name), child, &Trail::Key(trail, name), ratchet.key(name), results);
                }
            }
        }
        _ => {}
    }
}

fn run(rule: Rule<'_>, value: &Value, old: Option<&Value>, trail: &Trail<'_>, ratchet: Ratchet<'_>, results: &mut RuleResults) {
    // The server doesn't compile an empty rule.
    if rule.text.rule.trim().is_empty() {
        return;
    }
    let program = match rule.program() {
        Ok(program) => program,
        Err(CompileError::Refused { reason, .. }) => {
            let detail = format!("rule compile error: {reason} in `{}`", rule.text.rule.trim());
            // A CRD stored before its rule was refused rejects every object that the rule applies to.
            return results.errors.push(rule.failed(trail, &detail).of_rule(&rule.text.rule));
        }
        Err(reason) => return results.undecided.push((trail.path(), format!("rule `{}`: {reason}", rule.text.rule.trim()))),
    };
    if !program.applies(value, old) {
        return;
    }
    if results.steps >= MAX_STEPS {
        return results.stop(trail, format!("the rules on this object take more than {MAX_STEPS} steps"));
    }
    if results.errors.len() >= MAX_ERRORS {
        return results.stop(trail, format!("rules fail in more than {MAX_ERRORS} places; the others aren't listed"));
    }
    let holds = program.holds_counted(value, old, &mut results.steps);
    if !matches!(holds, Ok(true)) {
        // The message repeats the rule.
        results.steps += rule.text.rule.len() / MESSAGE_STEP;
    }
    match holds {
        Ok(true) => results.saw(&rule, trail, true),
        Ok(false) => {
            let error = rule.broken(value, old, trail);
            match ratchet.tolerance(trail).filter(|_| !program.is_transition()) {
                Some(because) => results.warnings.push(Tolerated { error, because }),
                None => {
                    results.saw(&rule, trail, false);
                    results.errors.push(error);
                }
            }
        }
        Err(EvalError::Failed(words)) => {
            let detail = if words.starts_with("no such overload") {
                format!(
                    "'{words}': call arguments did not match a supported operator, function or macro signature for rule: {}",
                    rule.name()
                )
            } else {
                format!("{words} evaluating rule: {}", rule.name())
            };
            results.saw(&rule, trail, false);
            results.errors.push(rule.failed(trail, &detail).of_rule(&rule.text.rule));
        }
        Err(open) => results.undecided.push((trail.path(), format!("rule `{}` {open}", rule.text.rule.trim()))),
    }
}
