//! CEL rules: whether they compile against the schema around them, and what the server estimates them to cost.

use crate::cel::check::{self, Problem, Purpose};
use crate::cel::decl::Decl;
use crate::fact::{Aspect, Effect, Fact, Subject};
use crate::schema::{CelRule, Keyword, Shape};
use crate::yaml::Node;

use super::walk::{RuleSite, Walk};

pub(super) fn check<'t>(walk: &mut Walk<'_, 't>, sites: &[RuleSite<'t>]) {
    for site in sites {
        let decl = Decl::of(&Shape::of(&site.schema), site.root || site.schema.flag(Keyword::EmbeddedResource));
        for (index, rule) in site.schema.cel_rules().enumerate() {
            Judge { walk, site, decl: &decl, index, rule }.run();
        }
    }
}

struct Judge<'a, 'w, 't> {
    walk: &'a mut Walk<'w, 't>,
    site: &'a RuleSite<'t>,
    decl: &'a Decl,
    index: usize,
    rule: CelRule<'t>,
}

impl<'t> Judge<'_, '_, 't> {
    fn run(mut self) {
        let text = self.rule.rule();
        let optional = self.rule.optional_old_self().unwrap_or(false);
        let checked = match check::check(text, Purpose::Rule, self.decl, optional) {
            Ok(checked) => checked,
            Err(Problem::Refused { at, reason }) => {
                self.refuse((Aspect::CelRule, Effect::Invalid), "rule", format!("compilation failed: {reason}"))
                    .words
                    .insert("offset", at.to_string());
                return;
            }
            Err(Problem::Unsure { .. }) => return,
        };
        if checked.uses_old_self {
            if let Some(around) = &self.site.uncorrelated {
                let reason = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {around}");
                self.refuse((Aspect::CelTransition, Effect::Misplaced), "rule", reason);
            }
        } else if self.rule.optional_old_self().is_some() {
            let reason = "may not be set if oldSelf is not used in rule".to_owned();
            self.refuse((Aspect::CelOptionalOldSelf, Effect::Unused), "optionalOldSelf", reason);
        }
        self.message(optional);
    }

    fn message(&mut self, optional: bool) {
        let Some(text) = self.rule.text("messageExpression").filter(|text| !text.trim().is_empty()) else { return };
        if let Err(Problem::Refused { at, reason }) = check::check(text, Purpose::Message, self.decl, optional) {
            let what = (Aspect::CelMessageExpression, Effect::Invalid);
            self.refuse(what, "messageExpression", format!("compilation failed: {reason}")).words.insert("offset", at.to_string());
        }
    }

    fn refuse(&mut self, (aspect, effect): (Aspect, Effect), member: &str, reason: String) -> &mut Fact {
        let field = format!("{}.{}[{}].{member}", self.site.field, Keyword::Validations.name(), self.index);
        let node: Node<'t> = self.rule.node.get(member).unwrap_or(self.rule.node);
        let version = self.walk.version.to_owned();
        let fact = self.walk.ledger.refuse((Subject::Field, aspect, effect), node, field, reason);
        fact.version = Some(version);
        fact.path = self.site.path.clone();
        fact.key = Some(self.rule.rule().trim().to_owned());
        fact.words.insert("rule", self.rule.rule().trim().to_owned());
        fact
    }
}
