//! Compiles and costs all rules of a version's schema, like the server.
//!
//! For the [`Shape`] of the schema's root, returns each rule's programs, cost and the errors that the server would report.

use std::collections::HashSet;

use thiserror::Error;

use crate::model::FieldPath;
use crate::model::kubernetes::{Environment, Feature, Minor, QueriedFeatures, Server};
use crate::model::schema::Shape;
use crate::model::schema::shape::CelRule;

use super::check::{CompileError, Purpose};
use super::cost;
use super::decl::MAX_REQUEST;
use super::eval::Program;
use super::site::{Site, sites};

/// The maximum cost of a rule, multiplied by how often it can run.
pub const RULE_LIMIT: u64 = 10_000_000;
/// The maximum total cost of all rules of a version.
pub const TOTAL_LIMIT: u64 = 100_000_000;

/// The texts of the expressions in the stored CRD: on update, the server compiles them with its newest environment.
#[derive(Debug, Clone, Default)]
pub struct StoredExpressions {
    pub rules: HashSet<String>,
    pub messages: HashSet<String>,
}

impl StoredExpressions {
    fn environment(&self, purpose: Purpose, text: &str, kubernetes: Server) -> Environment {
        let stored = match purpose {
            Purpose::Message => self.messages.contains(text) && kubernetes.has(Feature::StoredMessageExpressions),
            _ => self.rules.contains(text),
        };
        if stored { kubernetes.stored_expressions() } else { kubernetes.new_expressions() }
    }
}

/// A reason why the server refuses a CRD with this rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CelRuleError {
    /// Once for all rules of a node.
    #[error("CEL can't represent this field or a parent of it: it has no type")]
    Untyped,
    #[error("the rule does not compile: {0}")]
    Rule(CompileError),
    #[error("the messageExpression does not compile: {0}")]
    Message(CompileError),
    #[error("oldSelf can't be used below `{list}`: items of a list can be matched between updates only with x-kubernetes-list-type: map")]
    Uncorrelated { list: FieldPath },
    #[error("optionalOldSelf is set, but the rule doesn't use oldSelf")]
    OptionalOldSelfUnused,
    #[error("estimated cost {cost} is {:.1} times the limit of {RULE_LIMIT} for one rule", *cost as f64 / RULE_LIMIT as f64)]
    RuleCost { cost: u64 },
    #[error("estimated cost {cost} of the messageExpression is above the limit of {RULE_LIMIT}")]
    MessageCost { cost: u64 },
}

/// A rule with its programs, its cost and its errors.
#[derive(Clone, Debug)]
pub struct CheckedRule<'s> {
    /// Its index among the rules of its node.
    pub index: usize,
    pub rule: &'s CelRule,
    pub program: Option<Program>,
    pub message: Option<Program>,
    /// The estimated cost of one run, and of all runs on one object.
    pub cost_once: u64,
    pub cost: u64,
    pub message_cost: u64,
    /// The features that the costs depended on. The code that compares the costs with a limit knows whether that matters.
    pub asked: QueriedFeatures,
    pub errors: Vec<CelRuleError>,
}

/// A node with its rules.
#[derive(Clone, Debug)]
pub struct CheckedSite<'s> {
    pub site: Site<'s>,
    pub rules: Vec<CheckedRule<'s>>,
}

/// Compiles and costs all rules of the schema with this root. Their structure was checked when the schema was read.
pub fn check_rules<'s>(root: &'s Shape, stored: &StoredExpressions) -> Vec<CheckedSite<'s>> {
    let sites = sites(root).into_iter();
    sites
        .map(|site| {
            let rules = site.rules().iter().enumerate().map(|(index, rule)| check_rule(&site, index, rule, stored)).collect();
            CheckedSite { site, rules }
        })
        .collect()
}

/// How often the server expects a rule of this node to run on one object.
pub fn runs(site: &Site<'_>) -> u64 {
    let fitting = MAX_REQUEST / (site.decl.min_bytes + 1).max(1);
    site.occurrences.unwrap_or(fitting.max(0) as u64)
}

fn check_rule<'s>(site: &Site<'s>, index: usize, rule: &'s CelRule, stored: &StoredExpressions) -> CheckedRule<'s> {
    let mut checked = CheckedRule {
        index,
        rule,
        program: None,
        message: None,
        cost_once: 0,
        cost: 0,
        message_cost: 0,
        asked: QueriedFeatures::NOTHING,
        errors: Vec::new(),
    };
    if site.untyped {
        checked.errors.extend((index == 0).then_some(CelRuleError::Untyped));
        return checked;
    }
    let optional = rule.optional_old_self == Some(true);
    let compile = |text: &str, purpose| {
        let environment = stored.environment(purpose, text, site.shape.kubernetes);
        Program::compile(text, purpose, &site.decl, optional, environment)
    };
    match compile(&rule.rule, Purpose::Rule) {
        Ok(program) => checked.take_program(site, program),
        Err(problem) => {
            // For a rule that doesn't compile, the server doesn't know that it uses `oldSelf`.
            let unused = rule.optional_old_self.is_some() && matches!(problem, CompileError::Refused { .. });
            checked.errors.push(CelRuleError::Rule(problem));
            checked.errors.extend(unused.then_some(CelRuleError::OptionalOldSelfUnused));
            return checked;
        }
    }
    let expression = rule.message_expression.as_deref().filter(|text| !text.is_empty());
    match expression.map(|text| compile(text, Purpose::Message)) {
        Some(Ok(program)) => {
            checked.message_cost = checked.estimate(&program, site);
            if checked.message_cost > RULE_LIMIT {
                checked.errors.push(CelRuleError::MessageCost { cost: checked.message_cost });
            }
            checked.message = Some(program);
        }
        Some(Err(problem)) => checked.errors.push(CelRuleError::Message(problem)),
        None => {}
    }
    checked
}

impl CheckedRule<'_> {
    fn estimate(&mut self, program: &Program, site: &Site<'_>) -> u64 {
        let (cost, asked) = site.shape.kubernetes.observe(|server| cost::cost(program.checked(), &site.decl, server));
        self.asked = self.asked.and(asked);
        cost
    }

    /// The costs on another server that also compiles it: of all runs of the rule, and of its message.
    pub fn costs_on(&self, site: &Site<'_>, kubernetes: Minor) -> (u64, u64) {
        let cost = |program: &Option<Program>| {
            let program = program.as_ref();
            program.map_or(0, |program| cost::cost(program.checked(), &site.decl, kubernetes.server()))
        };
        (cost(&self.program).saturating_mul(runs(site)), cost(&self.message))
    }

    fn take_program(&mut self, site: &Site<'_>, program: Program) {
        self.cost_once = self.estimate(&program, site);
        self.cost = self.cost_once.saturating_mul(runs(site));
        if self.cost > RULE_LIMIT {
            self.errors.push(CelRuleError::RuleCost { cost: self.cost });
        }
        if program.is_transition() {
            if let Some(list) = &site.uncorrelated {
                self.errors.push(CelRuleError::Uncorrelated { list: list.clone() });
            }
        } else if self.rule.optional_old_self.is_some() {
            self.errors.push(CelRuleError::OptionalOldSelfUnused);
        }
        self.program = Some(program);
    }
}

#[cfg(test)]
mod tests;
