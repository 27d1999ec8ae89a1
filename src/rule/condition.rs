//! The `when:` of a rule: CEL over the fact.

use std::collections::BTreeMap;

use kube_cel::cel::{Context, Program, Value, to_value};
use serde::Serialize;

use crate::cel::ast::{Expr, Kind, Literal};
use crate::cel::parse::read;
use crate::model::fact::{Affects, Aspect, Certainty, Effect, Fact, Subject};
use crate::input::json_schema_check::nearest;

use super::mistake::Mistake;

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

    /// What is wrong with a condition that can be run: what a fact doesn't have would never hold, and nobody would notice.
    pub(super) fn mistakes(text: &str) -> Vec<Mistake> {
        let Ok(expr) = read(text) else { return Vec::new() };
        expr.descendants().into_iter().flat_map(|expr| unknown(expr, text).into_iter().chain(unknown_values(expr, text))).collect()
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

/// The mistake of an expression that reads what no fact has.
fn unknown(expr: &Expr, text: &str) -> Option<Mistake> {
    let (owner, name) = read_of(expr)?;
    let message = match owner.qualified_name()?.as_str() {
        "fact" if !FIELDS.contains(&name) => {
            format!("reads `fact.{name}`, which doesn't exist{}; a fact has {}", nearest(name, FIELDS.into_iter()), FIELDS.join(", "))
        }
        "fact.words" if Fact::sayable().all(|word| word != name) => {
            format!("reads the unknown word `{name}`{}", nearest(name, Fact::sayable()))
        }
        _ => return None,
    };
    // A selection begins at its dot, an index at its bracket, `in` between both sides.
    let after = text.get(expr.at..).and_then(|tail| tail.find(name)).map(|start| start + expr.at);
    let start = after.filter(|_| !is_in(expr)).or_else(|| text.get(..expr.at)?.rfind(name));
    Some(Mistake { message, at: start.map(|start| start..start + name.len()) })
}

/// The mistakes of a comparison with a value that a coordinate never has.
fn unknown_values(expr: &Expr, text: &str) -> Vec<Mistake> {
    let Kind::Call(call) = &expr.kind else { return Vec::new() };
    let (field, values) = match (&*call.function, call.args.as_slice()) {
        ("_==_" | "_!=_", [one, other]) if one.literal().is_some() => (other, vec![one]),
        ("_==_" | "_!=_", [one, other]) => (one, vec![other]),
        ("@in", [value, list]) => match &list.kind {
            Kind::List(list) => (value, list.items.iter().collect()),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let field = field.qualified_name().unwrap_or_default();
    let known: Vec<&str> = match field.as_str() {
        "fact.subject" => Subject::ALL.iter().map(|one| one.name()).collect(),
        "fact.aspect" => Aspect::ALL.iter().map(|one| one.name()).collect(),
        "fact.effect" => Effect::ALL.iter().map(|one| one.name()).collect(),
        "fact.certainty" => Certainty::ALL.iter().map(|one| one.name()).collect(),
        _ => return Vec::new(),
    };
    let unknown = values.into_iter().filter_map(|value| match value.literal()? {
        Literal::String(name) if !known.contains(&name.as_str()) => Some((value.at, name)),
        _ => None,
    });
    let mistake = |(at, name): (usize, &String)| {
        let start = text.get(at..).and_then(|tail| tail.find(name.as_str())).map(|start| start + at);
        let message = format!("compares `{field}` with `{name}`, which it never is{}", nearest(name, known.iter().copied()));
        Mistake { message, at: start.map(|start| start..start + name.len()) }
    };
    unknown.map(mistake).collect()
}

fn is_in(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Call(call) if call.function == "@in")
}

/// What an expression reads a name of: `a.name`, `has(a.name)`, `a['name']` or `'name' in a`.
fn read_of(expr: &Expr) -> Option<(&Expr, &str)> {
    fn text(expr: &Expr) -> Option<&str> {
        match expr.literal()? {
            Literal::String(text) => Some(text),
            _ => None,
        }
    }
    match &expr.kind {
        Kind::Select(select) => Some((&select.operand, &select.field)),
        Kind::Call(call) => match (&*call.function, call.args.as_slice()) {
            ("_[_]" | "_[?_]" | "_?._", [owner, name]) => Some((owner, text(name)?)),
            ("@in", [name, owner]) => Some((owner, text(name)?)),
            _ => None,
        },
        _ => None,
    }
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
    words: BTreeMap<&'static str, &'f str>,
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
        words: fact.said(),
    };
    to_value(view).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_fact_does_not_have_is_a_mistake() {
        let said = |text: &str| -> Vec<(String, String)> {
            let mistakes = Condition::mistakes(text).into_iter();
            mistakes.map(|mistake| (mistake.message, text[mistake.at.unwrap()].to_owned())).collect()
        };
        let known = "fact.words.type == 'number' && fact.in_status && has(fact.words.law) && 'kept' in fact.words";
        assert_eq!(said(known), []);
        let [(message, place)] = &said("fact.wrods.type == 'number'")[..] else { panic!("one mistake") };
        assert!(message.starts_with("reads `fact.wrods`, which doesn't exist (did you mean `words`?)"), "{message}");
        assert_eq!(place, "wrods");
        for text in [
            "fact.words.tpye == 'tpye '",
            "has(fact.words.tpye)",
            "'tpye' in fact.words",
            "!('tpye' in fact.words) && fact.in_status",
            "fact.words['tpye'] == ''",
            "fact.affects.exists(one, one == fact.words.tpye)",
        ] {
            let unknown = ("reads the unknown word `tpye` (did you mean `type`?)".to_owned(), "tpye".to_owned());
            assert_eq!(said(text), [unknown], "{text}");
        }
        let never = "compares `fact.subject` with `feild`, which it never is (did you mean `field`?)".to_owned();
        assert_eq!(said("fact.subject == 'feild' && fact.effect in ['added', 'removed']"), [(never, "feild".to_owned())]);
        assert_eq!(said("fact.effect in ['added', 'remvoed']").len(), 1);
        let shown = view(&Fact::new(Subject::Crd, Aspect::Presence, Effect::Added, "a"), "ga");
        assert!(FIELDS.iter().all(|field| Condition::parse(&format!("has(fact.{field})")).unwrap().holds(&shown)));
    }
}
