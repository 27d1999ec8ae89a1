//! The `when:` of a rule: CEL over the fact.

use std::collections::BTreeMap;

use kube_cel::cel::{Context, Program, Value, to_value};
use serde::Serialize;

use crate::cel::ast::{Expr, Kind};
use crate::cel::parse::read;
use crate::model::fact::{Affects, Aspect, Certainty, Effect, Fact, Subject};

pub struct Condition {
    text: String,
    program: Program,
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    pub fn parse(text: &str) -> Result<Self, String> {
        let program = Program::compile(text).map_err(|error| format!("is not CEL: {error}"))?;
        Ok(Condition { text: text.to_owned(), program })
    }

    /// What is wrong with a condition that can be run: what a fact doesn't have would never hold, without a word.
    pub fn fault(text: &str) -> Option<String> {
        let strange = read(text).ok()?.descendants().into_iter().find_map(strange)?;
        Some(format!("speaks of `{strange}`; a fact has {}", FIELDS.join(", ")))
    }

    /// What doesn't evaluate to true doesn't hold: a rule must not judge what it can't read.
    pub fn holds(&self, fact: &Value) -> bool {
        thread_local! {
            /// The functions of CEL, set up once.
            static FUNCTIONS: Context<'static> = Context::default();
        }
        FUNCTIONS.with(|functions| {
            let mut context = functions.new_inner_scope();
            context.add_variable_from_value("fact", fact.clone());
            matches!(self.program.execute(&context), Ok(Value::Bool(true)))
        })
    }
}

/// What [`View`] has.
const FIELDS: [&str; 13] = [
    "subject",
    "aspect",
    "effect",
    "crd",
    "channel",
    "version",
    "path",
    "in_status",
    "affects",
    "certainty",
    "ratchet",
    "maturity",
    "words",
];

/// A field of the fact that there isn't.
fn strange(expr: &Expr) -> Option<String> {
    let Kind::Select(select) = &expr.kind else { return None };
    let of_fact = matches!(&select.operand.kind, Kind::Ident(name) if name == "fact");
    (of_fact && !FIELDS.contains(&&*select.field)).then(|| format!("fact.{}", select.field))
}

/// The fact as `when:` sees it.
#[derive(Serialize)]
struct View<'f> {
    subject: Subject,
    aspect: Aspect,
    effect: Effect,
    crd: &'f str,
    channel: &'f str,
    version: &'f str,
    path: String,
    in_status: bool,
    affects: Affects,
    certainty: Certainty,
    ratchet: &'f str,
    maturity: &'f str,
    words: &'f BTreeMap<&'static str, String>,
}

pub(super) fn view(fact: &Fact, maturity: &str) -> Value {
    let view = View {
        subject: fact.subject,
        aspect: fact.aspect,
        effect: fact.effect,
        crd: &fact.crd,
        channel: fact.channel.as_deref().unwrap_or_default(),
        version: fact.version.as_deref().unwrap_or_default(),
        path: fact.path.to_string(),
        in_status: fact.in_status(),
        affects: fact.affects,
        certainty: fact.evidence.certainty,
        ratchet: fact.ratchet.map_or("", |ratchet| ratchet.name()),
        maturity,
        words: &fact.words,
    };
    to_value(view).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fact_does_not_have_is_told() {
        assert_eq!(Condition::fault("fact.words.type == 'number' && fact.in_status"), None);
        assert!(Condition::fault("fact.wrods.type == 'number'").unwrap().contains("fact.wrods"));
        let shown = view(&Fact::new(Subject::Crd, Aspect::Presence, Effect::Added, "a"), "ga");
        assert!(FIELDS.iter().all(|field| Condition::parse(&format!("has(fact.{field})")).unwrap().holds(&shown)));
    }
}
