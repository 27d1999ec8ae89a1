//! Checks CEL rules: whether they compile against their schema, and their estimated cost on the server.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

use crate::cel::advice::{self, SuggestedBound};
use crate::cel::check::{CompileError, Purpose};
use crate::cel::eval::Program;
use crate::cel::need::Need;
use crate::cel::rule_check::{self, CelRuleError, CheckedRule, CheckedSite, RULE_LIMIT, TOTAL_LIMIT};
use crate::cel::site::Site;
use crate::input::list_some;
use crate::input::yaml::Node;
use crate::model::fact::{Aspect, Effect, Fact, Mark, Subject, Word};
use crate::model::kubernetes::{Minor, QueriedFeatures, Server};
use crate::model::schema::shape::{CelRule, Extra};
use crate::model::schema::{Keyword, Schema, Shape, ValidationRule};
use crate::model::{FieldPath, PathStep};

use super::schema_walk::{CrdSchemaWalk, RuleSite};

/// Compiles the rules of `sites`: nodes without errors at or below them, because those are the ones the server compiles.
pub(super) fn check<'t>(walk: &mut CrdSchemaWalk<'_, 't>, root: &Schema<'t>, sites: &[RuleSite<'t>]) {
    if sites.is_empty() {
        return;
    }
    let places: HashMap<&FieldPath, &RuleSite<'t>> = sites.iter().map(|site| (&site.path, site)).collect();
    let paths: Vec<&[PathStep]> = sites.iter().map(|site| site.path.steps()).collect();
    let shape = skeleton(root, &paths, None, true);
    let (mut total, mut rest) = (0_u64, 0_u64);
    let mut dearest: Option<(u64, &RuleSite<'t>, usize)> = None;
    let checked_sites = rule_check::check_rules(&shape, &walk.checks.stored);
    note_costs(&checked_sites, shape.kubernetes);
    for checked in &checked_sites {
        let Some(&place) = places.get(&checked.site.path) else { continue };
        let all_written: Vec<ValidationRule<'t>> = place.schema.cel_rules().collect();
        for rule in &checked.rules {
            let Some(&written) = all_written.get(rule.index) else { continue };
            let cost = rule.cost.max(rule.message_cost);
            let both = rule.cost.saturating_add(rule.message_cost);
            total = total.saturating_add(both);
            if cost <= RULE_LIMIT || walk.waives_rule_cost() {
                rest = rest.saturating_add(both);
            }
            if dearest.is_none_or(|(most, _, _)| cost > most) {
                dearest = Some((cost, place, rule.index));
            }
            for error in &rule.errors {
                SourceRule { walk, place, index: rule.index, rule: written }.refuse(error, &checked.site, rule);
            }
        }
    }
    // A rule that exceeds its own limit is already reported; the total is only reported if the other rules exceed it too.
    if rest > TOTAL_LIMIT {
        total_cost(walk, root, total, dearest);
    }
}

/// Records the features that the costs depend on, unless all costs stay below the limits on every server in question.
fn note_costs(sites: &[CheckedSite<'_>], kubernetes: Server) {
    let asked = sites.iter().flat_map(|site| &site.rules).fold(QueriedFeatures::NOTHING, |asked, rule| asked.and(rule.asked));
    let within = |minor: Minor| {
        let costs = sites.iter().flat_map(|site| site.rules.iter().map(move |rule| (site, rule)));
        let mut total = 0_u64;
        for (site, rule) in costs {
            let (cost, message) = match rule.asked == QueriedFeatures::NOTHING {
                true => (rule.cost, rule.message_cost),
                false => rule.costs_on(&site.site, minor),
            };
            total = total.saturating_add(cost).saturating_add(message);
            if cost.max(message) > RULE_LIMIT {
                return false;
            }
        }
        total <= TOTAL_LIMIT
    };
    let others = kubernetes.other_answers(asked);
    let matters = || !within(kubernetes.minor()) || others.iter().any(|&minor| !within(minor));
    if !others.is_empty() && matters() {
        kubernetes.note(asked);
    }
}

/// The parts of a node that its rules read.
fn read_by_rules(schema: &Schema<'_>) -> Need {
    let texts = schema.cel_rules().flat_map(|rule| [rule.text("rule"), rule.text("messageExpression")]);
    texts.flatten().fold(Need::nothing(), |need, text| need.and(&Need::of(text)))
}

/// The fields that decide whether rules see a resource's metadata as declared.
fn identity() -> Need {
    let nothing = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), Need::nothing())).collect::<BTreeMap<_, _>>();
    let mut fields = nothing(&["apiVersion", "kind"]);
    fields.insert("metadata".into(), Need::Fields(nothing(&["name", "generateName"])));
    Need::Fields(fields)
}

/// The part of the schema needed to compile and cost the rules: what they read, and the path to each of them.
fn skeleton(schema: &Schema<'_>, paths: &[&[PathStep]], need: Option<Need>, root: bool) -> Shape {
    let own = paths.iter().any(|path| path.is_empty()).then(|| read_by_rules(schema));
    let need = match (need, own) {
        (Some(need), Some(own)) => Some(need.and(&own)),
        (need, own) => need.or(own),
    };
    let resource = root || schema.flag(Keyword::EmbeddedResource);
    if paths.is_empty() && need == Some(Need::nothing()) && matches!(schema.ty(), Some("array" | "object")) && schema.property_count() == 0
    {
        // No rule reads the content of this list or map; only the size of its elements matters, for the cost.
        let mut shape = Shape::local(schema);
        shape.items = schema.items().map(|items| Arc::new(skeleton(&items, &[], Some(Need::nothing()), false)));
        if let Some(values) = schema.values() {
            shape.extra = Extra::Values(Arc::new(skeleton(&values, &[], Some(Need::nothing()), false)));
        }
        return shape;
    }
    let plain = schema.ty() == Some("object") && !schema.has(Keyword::AdditionalProperties);
    let read = need.is_some();
    let need = if resource && plain { Some(need.unwrap_or_else(Need::nothing).and(&identity())) } else { need };
    let fields = match need {
        Some(Need::Fields(fields)) if plain => Some(fields),
        Some(_) => return Shape::of(schema),
        None => None,
    };
    let mut shape = Shape::local(schema);
    let mut tails: BTreeMap<&PathStep, Vec<&[PathStep]>> = BTreeMap::new();
    for (first, tail) in paths.iter().filter_map(|path| path.split_first()) {
        tails.entry(first).or_default().push(tail);
    }
    let mut fields = fields.map(|mut fields| {
        // Required fields count towards the minimum size of the object, and so towards the cost.
        for name in shape.required.iter().filter(|_| read) {
            fields.entry(name.clone()).or_insert_with(Need::nothing);
        }
        fields
    });
    for (first, tails) in tails {
        match first {
            PathStep::Key(name) => {
                let need = fields.as_mut().and_then(|fields| fields.remove(&**name));
                if let Some((entry, child)) = schema.property(name) {
                    shape.properties.insert(entry.name().to_owned(), Arc::new(skeleton(&child, &tails, need, false)));
                }
            }
            PathStep::Items => shape.items = schema.items().map(|items| Arc::new(skeleton(&items, &tails, None, false))),
            PathStep::Values => {
                if let Some(values) = schema.values() {
                    shape.extra = Extra::Values(Arc::new(skeleton(&values, &tails, None, false)));
                }
            }
        }
    }
    for (name, need) in fields.into_iter().flatten() {
        if let Some((entry, child)) = schema.property(&name) {
            shape.properties.insert(entry.name().to_owned(), Arc::new(skeleton(&child, &[], Some(need), false)));
        }
    }
    shape
}

/// A rule as written in the file.
struct SourceRule<'a, 'w, 't> {
    walk: &'a mut CrdSchemaWalk<'w, 't>,
    place: &'a RuleSite<'t>,
    index: usize,
    rule: ValidationRule<'t>,
}

impl<'t> SourceRule<'_, '_, 't> {
    fn refuse(&mut self, error: &CelRuleError, site: &Site<'_>, judged: &CheckedRule<'_>) {
        match error {
            CelRuleError::Untyped => {
                let reason = "unable to convert structural schema to CEL declarations".to_owned();
                let field = format!("{}.{}", self.place.field, Keyword::Validations.name());
                let fact = self.fact((Aspect::CelRule, Effect::Invalid), "rule", reason);
                fact.field = Some(field);
                fact.words.insert(Word::Offset, "0".into());
            }
            CelRuleError::Rule(CompileError::Refused { at, reason }) => {
                let what = (Aspect::CelRule, Effect::Invalid);
                self.uncompiled(what, ("rule", Purpose::Rule), (*at, reason), site, judged.rule);
            }
            CelRuleError::Message(CompileError::Refused { at, reason }) => {
                let what = (Aspect::CelMessageExpression, Effect::Invalid);
                self.uncompiled(what, ("messageExpression", Purpose::Message), (*at, reason), site, judged.rule);
            }
            // The server may accept what we can't decide.
            CelRuleError::Rule(CompileError::Unsure { .. }) | CelRuleError::Message(CompileError::Unsure { .. }) => {}
            CelRuleError::Uncorrelated { .. } => {
                let around = self.place.uncorrelated.clone().unwrap_or_default();
                let reason = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {around}");
                self.fact((Aspect::CelTransition, Effect::Misplaced), "rule", reason);
            }
            CelRuleError::OptionalOldSelfUnused => {
                let reason = "may not be set if oldSelf is not used in rule".to_owned();
                self.fact((Aspect::CelOptionalOldSelf, Effect::Unused), "optionalOldSelf", reason);
            }
            CelRuleError::RuleCost { cost } => {
                let advice = advice::advise(site, judged, RULE_LIMIT);
                self.cost("rule", *cost, advice.as_deref());
            }
            CelRuleError::MessageCost { cost } => self.cost("messageExpression", *cost, None),
        }
    }

    /// Reports an expression that doesn't compile, although it may if the stored CRD already has it.
    fn uncompiled(
        &mut self,
        what: (Aspect, Effect),
        (member, purpose): (&str, Purpose),
        (at, reason): (usize, &str),
        site: &Site<'_>,
        rule: &CelRule,
    ) {
        let server = site.shape.kubernetes;
        let text = if purpose == Purpose::Rule { Some(&rule.rule) } else { rule.message_expression.as_ref() };
        let optional = rule.optional_old_self == Some(true);
        let compiles = |text: &String| Program::compile(text, purpose, &site.decl, optional, server.stored_expressions()).is_ok();
        let stored_only = text.is_some_and(compiles);
        let written = self.rule.node.get("optionalOldSelf").and_then(Node::as_bool) == Some(true);
        let fact = self.fact(what, member, reason.to_owned());
        fact.words.insert(Word::Offset, at.to_string());
        if written && !optional {
            fact.marks.insert(Mark::OldSelfDropped);
        }
        if stored_only {
            fact.marks.insert(Mark::StoredOnly);
            fact.words.insert(Word::Stored, server.to_string());
        }
    }

    fn cost(&mut self, member: &str, cost: u64, advice: Option<&[SuggestedBound]>) {
        if self.walk.waives_rule_cost() {
            return;
        }
        let factor = factor(cost, RULE_LIMIT);
        let fact = self.fact((Aspect::CelCost, Effect::Excessive), member, format!("estimated cost exceeds budget by factor of {factor}"));
        fact.key = fact.key.take().map(|key| format!("{member}: {key}"));
        fact.words.insert(Word::Member, member.to_owned());
        fact.words.insert(Word::Cost, grouped(cost));
        fact.words.insert(Word::Limit, grouped(RULE_LIMIT));
        fact.words.insert(Word::Factor, factor);
        fact.words.insert(
            Word::Advice,
            advice.map_or_else(|| "lower the bounds of the lists and strings it reads, or simplify it".to_owned(), proposal),
        );
    }

    fn fact(&mut self, (aspect, effect): (Aspect, Effect), member: &str, reason: String) -> &mut Fact {
        let field = format!("{}.{}[{}].{member}", self.place.field, Keyword::Validations.name(), self.index);
        let node: Node<'t> = self.rule.node.get(member).unwrap_or(self.rule.node);
        let version = self.walk.version.to_owned();
        let fact = self.walk.collector.refuse((Subject::Field, aspect, effect), node, field, reason);
        fact.version = Some(version);
        fact.path = self.place.path.clone();
        fact.key = Some(self.rule.rule().trim().to_owned());
        fact.words.insert(Word::Rule, self.rule.rule().trim().to_owned());
        fact
    }
}

fn total_cost<'t>(walk: &mut CrdSchemaWalk<'_, 't>, root: &Schema<'t>, total: u64, dearest: Option<(u64, &RuleSite<'t>, usize)>) {
    let factor = factor(total, TOTAL_LIMIT);
    let reason = format!("estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of {factor}");
    let rule = dearest.and_then(|(_, place, index)| Some((place.path.to_string(), place.schema.cel_rules().nth(index)?)));
    let node = rule.as_ref().and_then(|(_, rule)| rule.node.get("rule")).unwrap_or_else(|| root.node());
    let (base, version) = (walk.base.clone(), walk.version.to_owned());
    let fact = walk.collector.refuse((Subject::Version, Aspect::CelCost, Effect::Excessive), node, base, reason);
    fact.version = Some(version);
    fact.words.insert(Word::Cost, grouped(total));
    fact.words.insert(Word::Limit, grouped(TOTAL_LIMIT));
    fact.words.insert(Word::Factor, factor);
    fact.words.insert(Word::Dearest, rule.map(|(path, _)| path).unwrap_or_default());
}

/// A cost with separators: `12,345,678`.
fn grouped(cost: u64) -> String {
    if cost == u64::MAX {
        return "more than can be counted".into();
    }
    let digits = cost.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The factor by which a cost exceeds the limit, in the server's format.
fn factor(cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    if factor > 100.0 {
        "more than 100x".into()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    }
}

/// Formats suggested bounds: `set maxItems: 64 at spec.rules, maxLength: 253 at spec.rules[].name`.
fn proposal(bounds: &[SuggestedBound]) -> String {
    let shown = bounds.iter().map(|bound| format!("{}: {} at {}", bound.keyword, bound.value, bound.path));
    format!("set {}", list_some(shown, 6))
}
