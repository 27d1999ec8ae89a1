//! Decides whether CEL rules of a node follow from others, and compares the accepted values when rules are replaced.
//!
//! Two questions are asked about a rule, and each needs its own form of it:
//!
//! - What does it say, whatever functions it calls? One rule implies another if it holds in every case of the conditions that they
//!   consist of ([`case_analysis`]). A [`RuleForm`] is a condition as written, without order, negation and spelling; the forms show
//!   which conditions are the same or follow from others ([`implies`]). This needs no values, so it also works for functions that
//!   the solver doesn't know and for `oldSelf`.
//! - Which values satisfy it? The solver's `Formula` answers that, for rules whose every part is a condition on a value. With it,
//!   [`RuledValues::compare`] looks for a value on which the rules differ, given everything else that the schema requires.
//!
//! Both read the parts of an expression the same way (`cel_condition`), and cases are tried first. One can't replace the other: the
//! solver searches for one value that two schemas read in their own way, with their defaults and pruning, so a condition that it
//! can't evaluate would have to be the same for both readers, and `oldSelf` is a second value. Rules about sums of sizes have no
//! formula; the bounds of the schema may show that they always hold ([`size_bounds`]).

mod case_analysis;
mod implies;
mod rule_form;
mod size_bounds;
#[cfg(test)]
mod tests;
mod time_bounds;

use std::cell::{LazyCell, OnceCell};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::cel::normalise::is_transition;
use crate::cel::reads::reads;
use crate::model::FieldPath;
use crate::model::relation::{Comparison, Relation, UndecidedReason};
use crate::model::schema::{Schema, Shape, ValidationRule};

use super::{Budget, MAX_LIST, MAX_RULE, Role, Sample, bounded_shape, order_local};
use rule_form::RuleForm;

pub(crate) use rule_form::Known;

/// How many rules one rule is compared with at once.
const MAX_TOGETHER: usize = 8;
/// How many old rules are tried together with a new one that reads the same fields, and how many rules the node may have for that.
const MAX_RELATED: usize = 3;
const MAX_NODE_RULES: usize = 40;

/// The cost of reading a rule, by its bytes, and of going through its cases, in conditions of the budget.
const FORM: usize = 20;
const CASES: usize = 4_000;

/// What all rules of a node share.
struct Node<'t> {
    schema: Schema<'t>,
    shape: OnceCell<Shape>,
    /// With everything below it, however large.
    whole: OnceCell<Shape>,
}

/// A rule of a node.
pub(crate) struct NodeRule<'t> {
    pub(crate) cel: ValidationRule<'t>,
    pub(crate) text: &'t str,
    node: Rc<Node<'t>>,
    /// Parsed once, and only if texts differ.
    term: OnceCell<Option<RuleForm>>,
    fields: OnceCell<Vec<FieldPath>>,
}

impl<'t> NodeRule<'t> {
    /// The rules of a node.
    pub(crate) fn list(schema: &Schema<'t>) -> Vec<Self> {
        let node = Rc::new(Node { schema: schema.clone(), shape: OnceCell::new(), whole: OnceCell::new() });
        let rule = |cel: ValidationRule<'t>| NodeRule {
            cel,
            text: cel.rule(),
            node: Rc::clone(&node),
            term: OnceCell::new(),
            fields: OnceCell::new(),
        };
        schema.cel_rules().map(rule).collect()
    }

    /// The fields that it reads; none if it can't be parsed.
    pub(crate) fn fields(&self) -> &[FieldPath] {
        self.fields.get_or_init(|| reads(self.text).fields)
    }

    /// Whether this is a transition rule.
    pub(crate) fn is_transition(&self) -> bool {
        is_transition(self.text)
    }

    /// Whether the rule runs on create. Transition rules don't, unless `oldSelf` is optional.
    pub(crate) fn runs_on_create(&self) -> bool {
        !self.is_transition() || self.cel.optional_old_self() == Some(true)
    }

    /// Parses a text in this rule's place.
    pub(crate) fn read(&self, text: &str) -> Option<RuleForm> {
        RuleForm::parse(text, self.shape())
    }

    /// Whether the rule holds for every value, given what is known about some fields, each written `self.a.b`, or `self[].a` in
    /// items.
    pub(crate) fn always_holds(&self, known: &dyn Fn(&str) -> Option<Known>) -> bool {
        // Objects that lack the parent of a new field aren't restricted, either.
        let absent = |path: &str| match known(path) {
            Some(Known::Absent) => Some(false),
            Some(Known::Parent) => Some(true),
            _ => None,
        };
        self.term().is_some_and(|term| term.given(known) == RuleForm::True) || case_analysis::implied(&[], self.text, self.whole(), &absent)
    }

    /// The form of the rule; rules with the same form are equivalent.
    pub(crate) fn term(&self) -> Option<&RuleForm> {
        self.term.get_or_init(|| self.read(self.text)).as_ref()
    }

    fn whole(&self) -> &Shape {
        self.node.whole.get_or_init(|| Shape::of(&self.node.schema))
    }

    fn shape(&self) -> &Shape {
        self.node.shape.get_or_init(|| bounded_shape(&self.node.schema))
    }
}

/// Whether two nodes have the same rules, by their form: messages, spelling, order and repetition don't matter.
pub(crate) fn same_rules<'r, 't: 'r>(first: impl Iterator<Item = &'r NodeRule<'t>>, other: impl Iterator<Item = &'r NodeRule<'t>>) -> bool {
    fn forms<'r, 't>(rules: &[&'r NodeRule<'t>]) -> BTreeSet<(Option<bool>, Result<&'r RuleForm, &'t str>)> {
        let flag = |rule: &NodeRule<'_>| rule.cel.optional_old_self().filter(|_| rule.is_transition());
        rules.iter().map(|rule| (flag(rule), rule.term().ok_or(rule.text))).collect()
    }
    let (first, other): (Vec<_>, Vec<_>) = (first.collect(), other.collect());
    let alike = |(a, b): (&&NodeRule<'_>, &&NodeRule<'_>)| a.text == b.text && a.cel.optional_old_self() == b.cel.optional_old_self();
    (first.len() == other.len() && first.iter().zip(&other).all(alike)) || forms(&first) == forms(&other)
}

/// Whether some rules together refuse whatever another one refuses, in every case of their conditions; false if the budget doesn't
/// allow that many rules.
fn implied<'r, 't: 'r>(rules: impl ExactSizeIterator<Item = &'r NodeRule<'t>>, other: &NodeRule<'_>, budget: &Budget) -> bool {
    if !budget.spend(rules.len().saturating_mul(FORM)) {
        return false;
    }
    // For some rules `oldSelf` is the old object, and for others an optional.
    let optional = |rule: &NodeRule<'_>| rule.cel.optional_old_self() == Some(true);
    let comparable = |rule: &&NodeRule<'_>| !rule.is_transition() || (other.is_transition() && optional(rule) == optional(other));
    let runs = |rule: &&NodeRule<'_>| rule.runs_on_create() || !other.runs_on_create();
    let running: Vec<&NodeRule<'_>> = rules.filter(runs).filter(comparable).filter(|rule| rule.text.len() <= MAX_RULE).collect();
    let follows = |given: &[&NodeRule<'_>]| {
        let texts: Vec<&str> = given.iter().map(|rule| rule.text).collect();
        let affordable = budget.spend(given.len() * CASES + FORM * (other.text.len() + texts.iter().map(|text| text.len()).sum::<usize>()));
        affordable && given.first().is_some_and(|first| case_analysis::implied(&texts, other.text, first.whole(), &|_| None))
    };
    other.text.len() <= MAX_RULE
        && other.term().is_some()
        && (running.iter().any(|rule| follows(&[rule])) || (running.len() > 1 && running.len() <= MAX_TOGETHER && follows(&running)))
}

/// The values of a node that its rules apply to.
pub(crate) struct RuledValues<'f> {
    role: Role,
    budget: &'f Budget,
    schema: &'f Schema<'f>,
    /// `None` for a schema that is too large to be searched.
    shape: LazyCell<Option<Shape>, Box<dyn FnOnce() -> Option<Shape> + 'f>>,
}

impl<'f> RuledValues<'f> {
    /// `schema` is that of the old node, and `shape` returns its other requirements. It is only called if a search is needed, and
    /// returns `None` if the schema has a list that is too long.
    pub(crate) fn new(role: Role, budget: &'f Budget, schema: &'f Schema<'f>, shape: impl FnOnce() -> Option<Shape> + 'f) -> Self {
        RuledValues { role, budget, schema, shape: LazyCell::new(Box::new(shape)) }
    }

    /// Compares the accepted values before and after these rules are replaced, by search.
    fn compare(&self, old: &[&str], new: &[&str]) -> Comparison<Sample> {
        let undecided = |reason: String| Comparison { reason: Some(reason), ..Comparison::known(Relation::Undecided) };
        let Some(shape) = &*self.shape else { return undecided(format!("a list of more than {MAX_LIST} items")) };
        if old.iter().chain(new).any(|rule| rule.len() > MAX_RULE) {
            return undecided(format!("a rule of more than {MAX_RULE} bytes"));
        }
        // The shape is copied for each side, and the rules are parsed for it.
        let bytes: usize = old.iter().chain(new).map(|rule| rule.len()).sum();
        if !self.budget.spend(CASES + FORM * (bytes + 4 * shape.properties.len())) {
            return undecided(UndecidedReason::Budget.to_string());
        }
        // A rule that always holds requires nothing.
        let new: Vec<&str> = new.iter().copied().filter(|rule| !size_bounds::always_holds(rule, self.schema)).collect();
        let with = |rules: &[&str]| Shape { rules: rules.iter().map(|rule| rule_of(rule)).collect(), ..shape.clone() };
        order_local(&with(old), &with(&new), self.role, self.budget).or_wider()
    }

    /// Compares the values after adding a rule: nothing is lost if the old rules or the schema already imply it. `gone` are the old
    /// rules that it may replace.
    pub(crate) fn added(&self, (old, gone): (&[NodeRule<'_>], &[&NodeRule<'_>]), rule: &NodeRule<'_>) -> Comparison<Sample> {
        if implied(old.iter(), rule, self.budget) {
            return Comparison::equal();
        }
        if rule.is_transition() {
            let reason = || "rules that compare with the object before are compared by their form only".to_owned();
            let reason = gone.iter().any(|other| other.is_transition()).then(reason);
            return Comparison { reason, ..Comparison::known(Relation::Narrower) };
        }
        // Adding rules never accepts more.
        let asks_nothing = |compared: &Comparison<Sample>| matches!(compared.relation, Relation::Equal | Relation::Wider);
        let compared = self.compare(&[], &[rule.text]);
        let follows = |held: &[&str]| !held.is_empty() && asks_nothing(&self.compare(held, &[held, &[rule.text]].concat()));
        let gone = texts(gone);
        let follows_from_related = || {
            let related = texts(&related(old, rule));
            related != gone && follows(&related)
        };
        if asks_nothing(&compared) || follows(&gone) || follows_from_related() {
            return Comparison::equal();
        }
        Comparison { relation: Relation::Narrower, ..compared }
    }

    /// Compares the values after removing a rule: nothing is gained if the new rules (`came`) or the schema still imply it.
    pub(crate) fn removed(&self, (new, came): (&[NodeRule<'_>], &[&NodeRule<'_>]), rule: &NodeRule<'_>) -> Comparison<Sample> {
        if implied(new.iter(), rule, self.budget) {
            return Comparison::equal();
        }
        if rule.is_transition() {
            return Comparison::known(Relation::Wider);
        }
        let held = texts(came);
        self.equal_or_wider(&[held.as_slice(), &[rule.text]].concat(), &held)
    }

    /// Compares the values after replacing one rule with another.
    pub(crate) fn changed(&self, old: &NodeRule<'_>, new: &NodeRule<'_>) -> Comparison<Sample> {
        let transition = old.is_transition() || new.is_transition();
        if new.runs_on_create() && !old.runs_on_create() {
            // From now on, creates must satisfy it.
            return match self.compare(&[], &[new.text]) {
                _ if new.is_transition() => Comparison::known(Relation::Undecided),
                compared if compared.relation == Relation::Equal => Comparison::known(Relation::Wider),
                compared => Comparison { relation: Relation::Narrower, ..compared },
            };
        }
        let implies = |one: &NodeRule<'_>, other: &NodeRule<'_>| implied([one].into_iter(), other, self.budget);
        match (implies(old, new), implies(new, old)) {
            (true, true) => Comparison::equal(),
            (true, false) if transition => Comparison::known(Relation::Wider),
            (true, false) => self.equal_or_wider(&[old.text], &[new.text]),
            (false, true) if transition => Comparison::known(Relation::Narrower),
            (false, false) if transition => Comparison::known(Relation::Undecided),
            (_, nothing_gained) => {
                let compared = self.compare(&[old.text], &[new.text]);
                match compared.relation {
                    Relation::Equal => compared,
                    _ if nothing_gained => Comparison { relation: Relation::Narrower, ..compared },
                    _ => compared,
                }
            }
        }
    }

    /// Like [`Self::compare`], if it is known that nothing is lost.
    fn equal_or_wider(&self, old: &[&str], new: &[&str]) -> Comparison<Sample> {
        match self.compare(old, new).relation {
            Relation::Equal => Comparison::equal(),
            _ => Comparison::known(Relation::Wider),
        }
    }
}

/// The rules that have most to do with another one: those that read the same fields.
fn related<'r, 't>(rules: &'r [NodeRule<'t>], other: &NodeRule<'_>) -> Vec<&'r NodeRule<'t>> {
    if rules.len() > MAX_NODE_RULES || other.text.len() > MAX_RULE {
        return Vec::new();
    }
    let shared = |rule: &NodeRule<'_>| rule.fields().iter().filter(|field| other.fields().contains(field)).count();
    let mut related: Vec<(usize, &NodeRule<'t>)> = rules.iter().map(|rule| (shared(rule), rule)).filter(|(count, _)| *count > 0).collect();
    related.sort_by_key(|(count, _)| Reverse(*count));
    related.into_iter().take(MAX_RELATED).map(|(_, rule)| rule).collect()
}

/// The rules that apply on create.
fn texts<'t>(rules: &[&NodeRule<'t>]) -> Vec<&'t str> {
    rules.iter().filter(|rule| !rule.is_transition()).map(|rule| rule.text).take(MAX_TOGETHER).collect()
}

fn rule_of(rule: &str) -> crate::model::schema::shape::CelRule {
    crate::model::schema::shape::CelRule {
        rule: rule.to_owned(),
        message: None,
        message_expression: None,
        reason: None,
        field_path: None,
        optional_old_self: None,
    }
}
