//! The `when:` of a rule: CEL over the fact.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Serialize;
use serde_json::Value;

use crate::cel::ast::{Expr, Kind};
use crate::cel::decl::{Decl, Kind as DeclKind, Object};
use crate::cel::eval::FileExpression;
use crate::cel::parse::read;
use crate::cel::types::Type;
use crate::input::json_schema_check::nearest;
use crate::model::fact::{Affects, Aspect, Certainty, Effect, Fact, Subject};
use crate::model::schema::shape::ListType;

pub struct Condition {
    text: String,
    program: FileExpression,
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    /// Compiles a condition; its types are checked against those of a fact.
    pub fn parse(text: &str) -> Result<Self, String> {
        let program = FileExpression::compile(text, "fact", &FACT)
            .map_err(|error| unknown_field(text).unwrap_or_else(|| format!("does not compile: {error}")))?;
        match program.result_type() {
            Type::Bool => Ok(Condition { text: text.to_owned(), program }),
            other => Err(format!("must give a bool, this gives {other}")),
        }
    }

    /// What is wrong with a condition that names something no fact has.
    pub fn fault(text: &str) -> Option<String> {
        unknown_field(text)
    }

    /// What doesn't evaluate to true doesn't hold: a rule must not judge what it can't read.
    pub fn holds(&self, fact: &Value) -> bool {
        self.program.holds(fact) == Ok(true)
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

/// The type of `fact`.
static FACT: LazyLock<Arc<Decl>> = LazyLock::new(|| {
    let node = |kind| Arc::new(Decl::outside_a_schema(kind));
    let text = node(DeclKind::String);
    let field = |name: &str| match name {
        "in_status" => node(DeclKind::Bool),
        "affects" => node(DeclKind::List { item: Arc::clone(&text), list_type: ListType::Atomic, keys: Vec::new() }),
        "words" => node(DeclKind::Map { value: Arc::clone(&text) }),
        _ => Arc::clone(&text),
    };
    node(DeclKind::Object(Object { fields: FIELDS.iter().map(|name| ((*name).to_owned(), field(name))).collect() }))
});

/// What to say about the first field in a condition that facts don't have.
fn unknown_field(text: &str) -> Option<String> {
    let expr = read(text).ok()?;
    let unknown = expr.descendants().into_iter().find_map(|part| match &part.kind {
        Kind::Select(select) if is_fact(&select.operand) => (!FIELDS.contains(&&*select.field)).then_some(&*select.field),
        _ => None,
    })?;
    let hint = nearest(unknown, FIELDS.into_iter());
    Some(format!("uses `fact.{unknown}`, which doesn't exist{hint}; a fact has {}", FIELDS.join(", ")))
}

fn is_fact(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Ident(name) if name == "fact")
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
    serde_json::to_value(view).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fact::Affected;

    #[test]
    fn what_a_fact_does_not_have_is_told() {
        assert_eq!(Condition::fault("fact.words.type == 'number' && fact.in_status"), None);
        assert!(Condition::fault("fact.wrods.type == 'number'").unwrap().contains("fact.wrods"));
        let shown = view(&Fact::new(Subject::Crd, Aspect::Presence, Effect::Added, "a"), "ga");
        assert!(FIELDS.iter().all(|field| Condition::parse(&format!("has(fact.{field})")).unwrap().holds(&shown)));
    }

    fn added() -> Fact {
        Fact::new(Subject::Crd, Aspect::Presence, Effect::Added, "a")
    }

    #[test]
    fn two_negations_cancel_each_other() {
        let shown = view(&added(), "ga");
        assert!(!Condition::parse("!!fact.in_status").unwrap().holds(&shown));
        assert!(Condition::parse("!fact.in_status").unwrap().holds(&shown));
        assert!(Condition::parse("!!(fact.maturity == 'ga')").unwrap().holds(&shown));
    }

    #[test]
    fn what_fails_does_not_hold() {
        let shown = view(&added(), "ga");
        for text in ["fact.words.type == 'number'", "!(fact.words.type == 'number')", "int(fact.crd) < 5", "fact.words['a'] != ''"] {
            assert!(!Condition::parse(text).unwrap().holds(&shown), "{text}");
        }
        assert!(Condition::parse("!('type' in fact.words) && !has(fact.words.type)").unwrap().holds(&shown));
        assert!(Condition::parse("fact.words.type == 'number' || fact.effect == 'added'").unwrap().holds(&shown));
    }

    #[test]
    fn a_condition_is_checked_when_it_is_read() {
        for (text, said) in [
            ("fact.subject ==", "does not compile: Syntax error: unexpected end of the expression (character 16)"),
            (
                "fact.crd == '' && fact.wrods.type == 'a'",
                "uses `fact.wrods`, which doesn't exist (did you mean `words`?); a fact has subject,",
            ),
            ("has(fact.efect)", "uses `fact.efect`, which doesn't exist (did you mean `effect`?); a fact has subject,"),
            ("fcat.crd == ''", "does not compile: undeclared reference to 'fcat' (character 1)"),
            ("self.crd == ''", "does not compile: undeclared reference to 'self' (character 1)"),
            (
                "fact.in_status == 'yes'",
                "does not compile: found no matching overload for '_==_' applied to '(bool, string)' (character 16)",
            ),
            ("fact.words.served", "must give a bool, this gives string"),
            ("fact.words", "must give a bool, this gives map(string, string)"),
            ("fact", "must give a bool, this gives"),
            ("fact.crd.matches('[')", "does not compile: invalid matches argument"),
        ] {
            let error = Condition::parse(text).unwrap_err();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }

    #[test]
    fn the_declared_type_is_what_a_fact_looks_like() {
        let mut fact = added();
        fact.affects = Affects::of(&[Affected::Writers]);
        fact.words.insert("type", "number".to_owned());
        let shown = view(&fact, "ga");
        assert_eq!(shown.as_object().unwrap().len(), FIELDS.len());
        for field in FIELDS {
            // Reading a value that isn't of the declared type fails.
            assert!(Condition::parse(&format!("type(fact.{field}) != null_type")).unwrap().holds(&shown), "{field}");
        }
        assert!(Condition::parse("fact.words.all(word, fact.words[word] != '')").unwrap().holds(&shown));
    }
}
