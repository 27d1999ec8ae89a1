//! CEL: any text is parsed or refused, checked expressions run on any object, and equal normal forms give equal results.

use std::sync::Arc;

use serde_json::{Value, json};

use super::choices::Choices;
use super::schemas::value;
use super::text;
use crate::cel::check::Purpose;
use crate::cel::cost::cost;
use crate::cel::decl::Decl;
use crate::cel::eval::{EvalError, Program};
use crate::cel::normalise::normal;
use crate::cel::parse::parse;
use crate::cel::reads::reads;
use crate::model::kubernetes::{Environment, Minor};
use crate::testing::decl;

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "array", "maxItems": 9, "items": {"type": "string"}},
        "d": {"type": "object", "additionalProperties": {"type": "integer"}}, "n": {"type": "number"}, "t": {"type": "boolean"},
        "i": {"x-kubernetes-int-or-string": true}, "at": {"type": "string", "format": "date-time"}, "by": {"type": "string", "format": "byte"},
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer", "nullable": true}}}},
    }})
}

/// An object that fits the schema, with values chosen by bytes.
fn object(choices: &mut Choices<'_>) -> Value {
    json!({
        "a": "ab", "b": 3, "c": ["a", "é"], "d": {"x": 1, "y": -1}, "n": 1.5, "t": true, "i": "5%", "at": "2024-02-29T12:30:00Z",
        "by": "aGVsbG8=", "l": [{"k": "x", "v": 1}, {"k": "y", "v": null}], "z": value(choices, 2),
    })
}

/// Fuzzes parsing, checking, cost and evaluation of one expression: the bytes after the first eight.
pub fn cel(bytes: &[u8]) {
    let (head, source) = bytes.split_at(bytes.len().min(8));
    let Some(source) = text(source) else { return };
    let mut choices = Choices::new(head);
    let optional = choices.once_in(2);
    let Ok(expr) = parse(source) else { return };
    assert_eq!(normal(&expr, None), normal(&parse(source).expect("it was read before"), None));
    reads(source);
    let decl: Arc<Decl> = decl(&schema());
    let (first, second) = (object(&mut choices), value(&mut choices, 2));
    for purpose in [Purpose::Rule, Purpose::Message] {
        let Ok(program) = Program::compile(source, purpose, &decl, optional, Environment::default()) else { continue };
        cost(program.checked(), &decl, Minor::default().server());
        for (this, old) in [(&first, None), (&first, Some(&first)), (&second, Some(&first))] {
            let _ = program.message(this, old);
            let answer = program.holds(this, old);
            assert_eq!(answer, program.holds(this, old), "another run of {source}");
            same_with_blanks(source, purpose, &decl, optional, this, old, &answer);
        }
    }
}

/// Checks that a newline before it and parentheses around it change nothing.
fn same_with_blanks(
    source: &str,
    purpose: Purpose,
    decl: &Arc<Decl>,
    optional: bool,
    this: &Value,
    old: Option<&Value>,
    answer: &Result<bool, EvalError>,
) {
    let wrapped = format!("\n({source}\n)");
    let Ok(program) = Program::compile(&wrapped, purpose, decl, optional, Environment::default()) else { return };
    assert_eq!(program.holds(this, old), *answer, "{wrapped}");
}
