//! `cel`: a CEL expression over `self` for each direction, for conversions that no other kind of step can do.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::cel::decl::{Decl, DeclKind as Kind};
use crate::cel::eval::FileExpression;
use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::input::yaml::Node;
use crate::model::schema::Shape;

use super::parse::StepNode;
use super::value_change::{change_schema, change_value, noop_if};
use super::{Conflict, Ends, MAY_FAIL, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
struct Cel {
    ends: Ends,
    forward: Expression,
    back: Option<Expression>,
}

/// A compiled expression. `self` is the value to convert; a null result removes it.
#[derive(Clone)]
struct Expression {
    source: Arc<str>,
    program: FileExpression,
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)
    }
}

impl Expression {
    fn parse(source: &str) -> Result<Expression, String> {
        /// The declared type of `self`: the schema isn't known when the manifest is read, so any value is allowed.
        static ANY: LazyLock<Arc<Decl>> = LazyLock::new(|| Arc::new(Decl::outside_a_schema(Kind::Json)));
        Ok(Expression { source: source.into(), program: FileExpression::compile(source, "self", &ANY)? })
    }

    fn run(&self, value: &Value) -> Result<Value, StepFailure> {
        self.program.result(value).map_err(|error| StepFailure::Cel(error.to_string()))
    }
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let from = step.field("from")?;
    let to = if step.node.get("to").is_some() { step.field("to")? } else { from.clone() };
    let node = step.node;
    let mut expression = |node: Node<'_>| match Expression::parse(node.as_str()?) {
        Ok(expression) => Some(expression),
        Err(message) => {
            step.wrong(node, format!("not a CEL expression: {message}"));
            None
        }
    };
    let forward = expression(node.get("forward")?)?;
    let back = match node.get("back") {
        Some(back) => Some(expression(back)?),
        None => None,
    };
    Some(Arc::new(Cel { ends: Ends { from, to }, forward, back }))
}

impl StepKind for Cel {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        let forward = self.back.clone()?;
        Some(Arc::new(Cel { ends: self.ends.swapped(), forward, back: Some(self.forward.clone()) }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        change_value(container, inner, conflict, |value| self.forward.run(value))
    }

    fn go(&self) -> Result<GoStep, String> {
        Err("Go has no CEL in its standard library; use steps of other kinds, or convert this field by hand".to_owned())
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |_| Some((Shape { nullable: true, ..Shape::anything() }, false)))
    }

    fn lossless(&self, _shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        lost("CEL expressions are not analysed")
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Err(MAY_FAIL.to_owned())
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        noop_if(&self.ends, shape, |_| false)
    }

    fn decided_by_triggers(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::find::conversion::testing::{both_ways, check_laws};

    #[test]
    fn results_are_json() {
        let run = |source: &str, value: Value| Expression::parse(source).unwrap().run(&value);
        assert_eq!(run("self * 1000", json!(5)), Ok(json!(5000)));
        assert_eq!(run("{'name': self.a + '-' + string(self.b)}", json!({"a": "x", "b": 1})), Ok(json!({"name": "x-1"})));
        assert_eq!(run("self.split(',')", json!("a,b")), Ok(json!(["a", "b"])));
        assert!(run("self.nope.x", json!({})).is_err());
        assert!(Expression::parse("self +").is_err());
    }

    #[test]
    fn signs_cancel_each_other() {
        let run = |source: &str, value: Value| Expression::parse(source).unwrap().run(&value);
        assert_eq!(run("!!self", json!(true)), Ok(json!(true)));
        assert_eq!(run("!!!self", json!(true)), Ok(json!(false)));
        assert_eq!(run("--self", json!(3)), Ok(json!(3)));
    }

    #[test]
    fn values_keep_their_types() {
        let run = |source: &str, value: Value| Expression::parse(source).unwrap().run(&value);
        let all = json!({"n": null, "b": true, "i": -3, "f": 1.5, "big": 18_446_744_073_709_551_615_u64, "s": "x", "l": [1, "a", {}], "m": {"k-1": [null]}});
        let read = json!({"n": null, "b": true, "i": -3, "f": 1.5, "big": 18_446_744_073_709_551_615_f64, "s": "x", "l": [1, "a", {}], "m": {"k-1": [null]}});
        assert_eq!(run("self", all.clone()), Ok(read));
        assert_eq!(run("self['m']['k-1'][0]", all.clone()), Ok(json!(null)));
        assert_eq!(run("has(self.n) && !has(self.nope)", all.clone()), Ok(json!(true)));
        assert_eq!(
            run("{'text': self.s, 'number': self.i, 'list': [self.f, 'a']}", all),
            Ok(json!({"text": "x", "number": -3, "list": [1.5, "a"]}))
        );
        assert_eq!(run("{1: 'a', true: 'b'}", json!(null)), Ok(json!({"1": "a", "true": "b"})));
        assert_eq!(run("self.size() == 0 ? null : self[0]", json!([])), Ok(json!(null)));
    }

    #[test]
    fn results_that_are_not_json_are_errors() {
        let run = |source: &str| Expression::parse(source).unwrap().run(&json!(1));
        for source in ["b'x'", "duration('1s')", "0.0 / 0.0", "type(self)", "quantity('1')", "[duration('1s')]"] {
            assert_eq!(run(source), Err(StepFailure::Cel("the result is not a JSON value".to_owned())), "{source}");
        }
    }

    #[test]
    fn evaluation_errors_are_explained() {
        let run = |source: &str, value: Value| Expression::parse(source).unwrap().run(&value).unwrap_err().to_string();
        let mismatch = "the expression fails: found no matching overload for '_*_' applied to '(int, double)'";
        assert_eq!(run("self * 1.5", json!(5)), mismatch);
        assert_eq!(run("self.a", json!({"b": 1})), "the expression fails: no such key: a");
        assert_eq!(run("self[1]", json!([1])), "the expression fails: index out of bounds: 1");
    }

    #[test]
    fn expressions_that_do_not_compile_are_errors() {
        for (source, said) in [
            ("self +", "unexpected end of the expression (character 7)"),
            ("sefl", "undeclared reference to 'sefl' (character 1)"),
            ("oldSelf", "undeclared reference to 'oldSelf' (character 1)"),
            ("self && self.nope(1)", "undeclared reference to 'nope'"),
            ("'ö' + 1", "found no matching overload for '_+_' applied to '(string, int)' (character 5)"),
            ("self.matches('[')", "invalid matches argument"),
        ] {
            let error = Expression::parse(source).unwrap_err();
            assert!(error.contains(said), "{source}: {error}");
        }
    }

    #[test]
    fn long_running_expressions_are_stopped() {
        let ranges = "lists.range(100000)";
        for source in [
            format!("{ranges}.map(a, {ranges}.map(b, {ranges}.map(c, a + b + c)))"),
            format!("[1]{}", ".map(a, [a, a])".repeat(60)),
            format!("{ranges}.map(a, '{}').join('')", "x".repeat(50_000)),
        ] {
            let result = Expression::parse(&source).unwrap().run(&json!(1));
            assert_eq!(result, Err(StepFailure::Cel("evaluation takes too many steps".to_owned())));
        }
    }

    #[test]
    fn it_is_applied_and_undone() {
        both_ways(
            "- cel: {from: spec.a, to: spec.b, forward: \"self + '!'\", back: 'self.substring(0, self.size() - 1)'}",
            "",
            json!({"a": "x"}),
            json!({"b": "x!"}),
        );
        both_ways("- cel: {from: spec.a, to: spec.b, forward: '!!self', back: '!!self'}", "", json!({"a": true}), json!({"b": true}));
    }

    #[test]
    fn expressions_are_tested() {
        let cel = "- cel: {from: spec.a, to: spec.b, forward: \"self + '!'\", back: 'self.substring(0, self.size() - 1)'}";
        check_laws("{a: {type: string}}", "{b: {type: string, minLength: 1}}", cel, "", "tttxpp");
    }
}
