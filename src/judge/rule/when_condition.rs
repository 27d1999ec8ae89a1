//! The `when:` of a rule: CEL over the fact.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cel::ast::{Expr, ExprKind as Kind, Literal};
use crate::cel::decl::{Decl, DeclKind, ObjectDecl};
use crate::cel::eval::FileExpression;
use crate::cel::parse::read;
use crate::cel::types::CelType;
use crate::input::json_schema_check::{Fault, nearest};
use crate::input::yaml::Node;
use crate::model::fact::{Affected, Affects, Aspect, Certainty, Effect, Fact, Subject};
use crate::model::schema::shape::ListType;

use super::mistake::Mistake;

pub struct WhenCondition {
    text: String,
    program: FileExpression,
}

impl std::fmt::Debug for WhenCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for WhenCondition {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match WhenCondition::mistakes(&text).into_iter().next() {
            Some(mistake) => Err(serde::de::Error::custom(format_args!("the condition `{text}` {}", mistake.message))),
            None => WhenCondition::parse(&text).map_err(|error| serde::de::Error::custom(format_args!("the condition `{text}` {error}"))),
        }
    }
}

impl WhenCondition {
    /// Compiles a condition, and checks its types against those of a fact.
    pub fn parse(text: &str) -> Result<Self, String> {
        let program = FileExpression::compile(text, "fact", &FACT).map_err(|error| format!("does not compile: {error}"))?;
        match program.result_type() {
            CelType::Bool => Ok(WhenCondition { text: text.to_owned(), program }),
            other => Err(format!("must return a bool, but returns {other}")),
        }
    }

    /// Finds names and values in a condition that no fact has. Such a condition would silently never hold.
    pub(super) fn mistakes(text: &str) -> Vec<Mistake> {
        let Ok(expr) = read(text) else { return Vec::new() };
        expr.descendants().into_iter().flat_map(|expr| unknown(expr, text).into_iter().chain(unknown_values(expr, text))).collect()
    }

    /// Returns what is wrong with the condition at a key of a page.
    pub(crate) fn faults(key: &str, node: Node<'_>) -> Vec<Fault> {
        let text = node.as_str().unwrap_or_default();
        let faults: Vec<Fault> = WhenCondition::mistakes(text).into_iter().map(|mistake| mistake.fault(key, node)).collect();
        match WhenCondition::parse(text) {
            Err(error) if faults.is_empty() => vec![Fault::at(node, format!("`{key}` {error}"))],
            _ => faults,
        }
    }

    /// A condition that fails to evaluate doesn't hold, because a rule must not judge what it can't read.
    fn holds(&self, fact: &Value, steps: &mut usize) -> bool {
        self.program.holds(fact, steps) == Ok(true)
    }
}

/// How many steps the conditions of rules and policies may take for all facts of a review together. Built-in ones take a few for each.
const STEPS: usize = 10_000_000;
/// How many they may take for one fact in any case.
const STEPS_FOR_ONE: usize = 300;

/// The fields of [`View`].
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

/// The CEL type of `fact`.
static FACT: LazyLock<Arc<Decl>> = LazyLock::new(|| {
    let node = |kind| Arc::new(Decl::outside_a_schema(kind));
    let text = node(DeclKind::String);
    let field = |name: &str| match name {
        "in_status" => node(DeclKind::Bool),
        "affects" => node(DeclKind::List { item: Arc::clone(&text), list_type: ListType::Atomic, keys: Vec::new() }),
        "words" => node(DeclKind::Map { value: Arc::clone(&text) }),
        _ => Arc::clone(&text),
    };
    node(DeclKind::Object(ObjectDecl { fields: FIELDS.iter().map(|name| ((*name).to_owned(), field(name))).collect() }))
});

/// The mistake of reading something that no fact has.
fn unknown(expr: &Expr, text: &str) -> Option<Mistake> {
    let (owner, name) = read_of(expr)?;
    let message = match owner.qualified_name()?.as_str() {
        "fact" if !FIELDS.contains(&name) => {
            format!("reads `fact.{name}`, which doesn't exist{}; a fact has {}", nearest(name, FIELDS.into_iter()), FIELDS.join(", "))
        }
        "fact.words" if Fact::message_names().all(|word| word != name) => {
            format!("reads the unknown word `{name}`{}", nearest(name, Fact::message_names()))
        }
        _ => return None,
    };
    // A selection starts at its dot, an index at its bracket, and `in` between both sides.
    let after = text.get(expr.at..).and_then(|tail| tail.find(name)).map(|start| start + expr.at);
    let start = after.filter(|_| !is_in(expr)).or_else(|| text.get(..expr.at)?.rfind(name));
    Some(Mistake { message, at: start.map(|start| start..start + name.len()) })
}

/// The mistakes of comparing with a value that a coordinate never has.
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
        let message = format!("compares `{field}` with `{name}`, which is never its value{}", nearest(name, known.iter().copied()));
        Mistake { message, at: start.map(|start| start..start + name.len()) }
    };
    unknown.map(mistake).collect()
}

fn is_in(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Call(call) if call.function == "@in")
}

/// Recognises reading a name: `a.name`, `has(a.name)`, `a['name']` or `'name' in a`.
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

/// A fact as conditions see it, built when the first one needs it.
pub(crate) struct FactView<'f> {
    pub fact: &'f Fact,
    pub maturity: &'static str,
    value: OnceCell<Value>,
    /// How many steps conditions may still take.
    steps: Cell<usize>,
}

impl<'f> FactView<'f> {
    pub fn new(fact: &'f Fact, maturity: &'static str) -> Self {
        FactView { fact, maturity, value: OnceCell::new(), steps: Cell::new(usize::MAX) }
    }

    /// A view for one of this many facts, in which conditions take a limited number of steps.
    pub fn one_of(fact: &'f Fact, maturity: &'static str, facts: usize) -> Self {
        let steps = Cell::new((STEPS / facts.max(1)).max(STEPS_FOR_ONE));
        FactView { steps, ..FactView::new(fact, maturity) }
    }

    /// Whether conditions needed more steps than they may take.
    pub fn is_cut(&self) -> bool {
        self.steps.get() == 0
    }

    /// Whether someone is affected, and nobody other than these.
    pub fn affects_only(&self, list: &[Affected]) -> bool {
        !self.fact.affects.is_empty() && self.fact.affects.iter().all(|one| list.contains(&one))
    }

    pub fn holds(&self, when: &WhenCondition) -> bool {
        let mut steps = self.steps.get();
        let holds = when.holds(self.value.get_or_init(|| view(self.fact, self.maturity)), &mut steps);
        self.steps.set(steps);
        holds
    }
}

/// The `fact` variable of `when:`.
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

fn view(fact: &Fact, maturity: &str) -> Value {
    let view = View {
        subject: fact.subject,
        aspect: fact.aspect,
        effect: fact.effect,
        crd: &fact.crd,
        channel: fact.channel.as_deref().unwrap_or_default(),
        version: fact.version.as_deref().unwrap_or_default(),
        path: fact.path.to_string(),
        in_status: fact.path.in_status(),
        affects: fact.affects,
        certainty: fact.evidence.certainty,
        ratchet: fact.ratchet.map_or("", |ratchet| ratchet.name()),
        maturity,
        words: fact.message_values(),
    };
    serde_json::to_value(view).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(condition: &str, fact: &Value) -> bool {
        WhenCondition::parse(condition).unwrap().holds(fact, &mut 1_000)
    }
    use crate::model::fact::{Affected, Word};

    #[test]
    fn unknown_names_and_values_are_mistakes() {
        let said = |text: &str| -> Vec<(String, String)> {
            let mistakes = WhenCondition::mistakes(text).into_iter();
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
        let never = "compares `fact.subject` with `feild`, which is never its value (did you mean `field`?)".to_owned();
        assert_eq!(said("fact.subject == 'feild' && fact.effect in ['added', 'removed']"), [(never, "feild".to_owned())]);
        assert_eq!(said("fact.effect in ['added', 'remvoed']").len(), 1);
        let shown = view(&Fact::new(Subject::Crd, Aspect::Presence, Effect::Added, "a"), "ga");
        assert!(FIELDS.iter().all(|field| holds(&format!("has(fact.{field})"), &shown)));
    }

    fn added() -> Fact {
        Fact::new(Subject::Crd, Aspect::Presence, Effect::Added, "a")
    }

    #[test]
    fn two_negations_cancel_each_other() {
        let shown = view(&added(), "ga");
        assert!(!holds("!!fact.in_status", &shown));
        assert!(holds("!fact.in_status", &shown));
        assert!(holds("!!(fact.maturity == 'ga')", &shown));
    }

    #[test]
    fn a_condition_that_fails_does_not_hold() {
        let shown = view(&added(), "ga");
        for text in ["fact.words.type == 'number'", "!(fact.words.type == 'number')", "int(fact.crd) < 5", "fact.words['a'] != ''"] {
            assert!(!holds(text, &shown), "{text}");
        }
        assert!(holds("!('type' in fact.words) && !has(fact.words.type)", &shown));
        assert!(holds("fact.words.type == 'number' || fact.effect == 'added'", &shown));
    }

    #[test]
    fn a_condition_is_checked_when_it_is_read() {
        for (text, said) in [
            ("fact.subject ==", "does not compile: Syntax error: unexpected end of the expression (character 16)"),
            ("fcat.crd == ''", "does not compile: undeclared reference to 'fcat' (character 1)"),
            ("self.crd == ''", "does not compile: undeclared reference to 'self' (character 1)"),
            (
                "fact.in_status == 'yes'",
                "does not compile: found no matching overload for '_==_' applied to '(bool, string)' (character 16)",
            ),
            ("fact.words.served", "must return a bool, but returns string"),
            ("fact.words", "must return a bool, but returns map(string, string)"),
            ("fact", "must return a bool, but returns"),
            ("fact.crd.matches('[')", "does not compile: invalid matches argument"),
        ] {
            let error = WhenCondition::parse(text).unwrap_err();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }

    #[test]
    fn the_declared_type_matches_a_fact() {
        let mut fact = added();
        fact.affects = Affects::of(&[Affected::Writers]);
        let fact = fact.word(Word::Type, "number");
        let shown = view(&fact, "ga");
        assert_eq!(shown.as_object().unwrap().len(), FIELDS.len());
        for field in FIELDS {
            // Reading a value that isn't of the declared type fails.
            assert!(holds(&format!("type(fact.{field}) != null_type"), &shown), "{field}");
        }
        assert!(holds("fact.words.all(word, fact.words[word] != '')", &shown));
    }
}
