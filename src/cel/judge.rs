//! The server's judgement on all rules of one version's schema.
//!
//! Comes in: the [`Shape`] of the schema's root. Goes out: for each rule its programs, its cost and every error the
//! server would report about it, and the cost of all of them together.

use thiserror::Error;

use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::model::schema::shape::CelRule;

use super::check::{Problem, Purpose};
use super::cost;
use super::decl::MAX_REQUEST;
use super::eval::Program;
use super::site::{Site, sites};

/// The most that one rule may cost, times the number of times it can run.
pub const RULE_LIMIT: u64 = 10_000_000;
/// The most that all rules of a version may cost together.
pub const TOTAL_LIMIT: u64 = 100_000_000;

/// Something for which the server refuses a CRD with this rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// Once for all rules of a node.
    #[error("CEL can't represent this node, or one around it: it has no type")]
    Untyped,
    #[error("the rule does not compile: {0}")]
    Rule(Problem),
    #[error("the messageExpression does not compile: {0}")]
    Message(Problem),
    #[error(
        "oldSelf can't be used below `{list}`: items of a list can be told apart between updates only with x-kubernetes-list-type: map"
    )]
    Uncorrelated { list: FieldPath },
    #[error("optionalOldSelf is set, but the rule doesn't use oldSelf")]
    OptionalOldSelfUnused,
    #[error("estimated cost {cost} is {:.1} times the limit of {RULE_LIMIT} for one rule", *cost as f64 / RULE_LIMIT as f64)]
    RuleCost { cost: u64 },
    #[error("estimated cost {cost} of the messageExpression is above the limit of {RULE_LIMIT}")]
    MessageCost { cost: u64 },
}

impl RuleError {
    /// The member of the rule that the server points at, if it is not the list of rules.
    pub fn member(&self) -> &'static str {
        match self {
            RuleError::Rule(_) | RuleError::Uncorrelated { .. } | RuleError::RuleCost { .. } => "rule",
            RuleError::Message(_) | RuleError::MessageCost { .. } => "messageExpression",
            RuleError::OptionalOldSelfUnused => "optionalOldSelf",
            RuleError::Untyped => "",
        }
    }

    /// Whether we only doubt that the server takes the rule.
    pub fn is_doubt(&self) -> bool {
        matches!(self, RuleError::Rule(Problem::Unsure { .. }) | RuleError::Message(Problem::Unsure { .. }))
    }
}

/// One rule, judged.
#[derive(Clone, Debug)]
pub struct JudgedRule<'s> {
    /// Position among the rules of its node.
    pub index: usize,
    pub rule: &'s CelRule,
    pub program: Option<Program>,
    pub message: Option<Program>,
    /// Estimated cost of one run, and of all runs on one object.
    pub cost_once: u64,
    pub cost: u64,
    pub message_cost: u64,
    pub errors: Vec<RuleError>,
}

/// A node with rules, judged.
#[derive(Clone, Debug)]
pub struct JudgedSite<'s> {
    pub site: Site<'s>,
    pub rules: Vec<JudgedRule<'s>>,
}

/// All rules of a version, judged.
#[derive(Clone, Debug)]
pub struct Judgement<'s> {
    pub sites: Vec<JudgedSite<'s>>,
    pub total_cost: u64,
}

impl<'s> Judgement<'s> {
    pub fn exceeds_total(&self) -> bool {
        self.total_cost > TOTAL_LIMIT
    }

    pub fn errors(&self) -> impl Iterator<Item = (&JudgedSite<'s>, &JudgedRule<'s>, &RuleError)> {
        let rules = self.sites.iter().flat_map(|site| site.rules.iter().map(move |rule| (site, rule)));
        rules.flat_map(|(site, rule)| rule.errors.iter().map(move |error| (site, rule, error)))
    }

    /// Whether the server refuses the schema because of its rules; doubts don't count.
    pub fn refused(&self) -> bool {
        self.exceeds_total() || self.errors().any(|(_, _, error)| !error.is_doubt())
    }
}

/// Judges all rules of the schema whose root is `root`. Their form is right: whoever reads a schema looks at that first.
pub fn judge(root: &Shape) -> Judgement<'_> {
    let mut total_cost = 0_u64;
    let sites = sites(root)
        .into_iter()
        .map(|site| {
            let rules: Vec<_> = site.rules().iter().enumerate().map(|(index, rule)| judge_rule(&site, index, rule)).collect();
            for rule in &rules {
                total_cost = total_cost.saturating_add(rule.cost).saturating_add(rule.message_cost);
            }
            JudgedSite { site, rules }
        })
        .collect();
    Judgement { sites, total_cost }
}

/// How often the server expects a rule of this node to run on one object.
pub fn runs(site: &Site<'_>) -> u64 {
    let fitting = MAX_REQUEST / (site.decl.min_bytes + 1).max(1);
    site.occurrences.unwrap_or(fitting.max(0) as u64)
}

fn judge_rule<'s>(site: &Site<'s>, index: usize, rule: &'s CelRule) -> JudgedRule<'s> {
    let mut judged = JudgedRule { index, rule, program: None, message: None, cost_once: 0, cost: 0, message_cost: 0, errors: Vec::new() };
    if site.untyped {
        judged.errors.extend((index == 0).then_some(RuleError::Untyped));
        return judged;
    }
    let optional = rule.optional_old_self == Some(true);
    match Program::compile(&rule.rule, Purpose::Rule, &site.decl, optional) {
        Ok(program) => judged.take_program(site, program),
        Err(problem) => {
            // Of a rule that doesn't compile the server doesn't know that it uses `oldSelf`.
            let unused = rule.optional_old_self.is_some() && matches!(problem, Problem::Refused { .. });
            judged.errors.push(RuleError::Rule(problem));
            judged.errors.extend(unused.then_some(RuleError::OptionalOldSelfUnused));
            return judged;
        }
    }
    let expression = rule.message_expression.as_deref().filter(|text| !text.is_empty());
    match expression.map(|text| Program::compile(text, Purpose::Message, &site.decl, optional)) {
        Some(Ok(program)) => {
            judged.message_cost = cost::cost(program.checked(), &site.decl);
            if judged.message_cost > RULE_LIMIT {
                judged.errors.push(RuleError::MessageCost { cost: judged.message_cost });
            }
            judged.message = Some(program);
        }
        Some(Err(problem)) => judged.errors.push(RuleError::Message(problem)),
        None => {}
    }
    judged
}

impl JudgedRule<'_> {
    fn take_program(&mut self, site: &Site<'_>, program: Program) {
        self.cost_once = cost::cost(program.checked(), &site.decl);
        self.cost = self.cost_once.saturating_mul(runs(site));
        if self.cost > RULE_LIMIT {
            self.errors.push(RuleError::RuleCost { cost: self.cost });
        }
        if program.is_transition() {
            if let Some(list) = &site.uncorrelated {
                self.errors.push(RuleError::Uncorrelated { list: list.clone() });
            }
        } else if self.rule.optional_old_self.is_some() {
            self.errors.push(RuleError::OptionalOldSelfUnused);
        }
        self.program = Some(program);
    }
}

#[cfg(test)]
mod tests;
