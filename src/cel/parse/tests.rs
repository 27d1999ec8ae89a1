use kube_cel::cel::common::ast as other;
use kube_cel::cel::parser::Parser as OtherParser;

use super::*;
use crate::cel::ast::Comprehension;
use crate::cel::ast::{List, MapEntry};
use crate::cel::normalise::normal;

/// Converts the tree of the `cel` crate's parser to ours.
fn adopt(e: &other::IdedExpr) -> Expr {
    let all = |items: &[other::IdedExpr]| items.iter().map(adopt).collect::<Vec<_>>();
    let kind = match &e.expr {
        other::Expr::Literal(literal) => ExprKind::Literal(match literal {
            other::LiteralValue::Null => Literal::Null,
            other::LiteralValue::Boolean(b) => Literal::Bool(*b.inner()),
            other::LiteralValue::Int(i) => Literal::Int(*i.inner()),
            other::LiteralValue::UInt(u) => Literal::Uint(*u.inner()),
            other::LiteralValue::Double(d) => Literal::Double(*d.inner()),
            other::LiteralValue::String(s) => Literal::String(s.inner().to_string()),
            other::LiteralValue::Bytes(b) => Literal::Bytes(b.inner().to_vec()),
        }),
        other::Expr::Ident(name) => ExprKind::Ident(name.clone()),
        other::Expr::Select(s) => ExprKind::Select(Select { operand: Box::new(adopt(&s.operand)), field: s.field.clone(), test: s.test }),
        other::Expr::Call(c) => ExprKind::Call(Call {
            function: c.func_name.clone().into(),
            target: c.target.as_deref().map(|t| Box::new(adopt(t))),
            args: all(&c.args),
        }),
        other::Expr::List(l) => ExprKind::List(List { items: all(&l.elements), optional: l.optional_indices.clone() }),
        other::Expr::Map(m) => ExprKind::Map(m.entries.iter().filter_map(entry).collect()),
        other::Expr::Comprehension(c) => ExprKind::Comprehension(Box::new(Comprehension {
            range: adopt(&c.iter_range),
            var: c.iter_var.clone(),
            var2: c.iter_var2.clone(),
            accu: c.accu_var.clone(),
            init: adopt(&c.accu_init),
            condition: adopt(&c.loop_cond),
            step: adopt(&c.loop_step),
            result: adopt(&c.result),
        })),
        _ => ExprKind::Literal(Literal::Null),
    };
    Expr { id: 0, at: 0, kind }
}

fn entry(e: &other::IdedEntryExpr) -> Option<MapEntry> {
    match &e.expr {
        other::EntryExpr::MapEntry(m) => Some(MapEntry { key: adopt(&m.key), value: adopt(&m.value), optional: m.optional }),
        other::EntryExpr::StructField(_) => None,
    }
}

#[test]
fn agrees_with_another_parser() {
    for source in [
        "self.a.b[0].c == 'x'",
        "has(self.a) && !has(self.b) || self.c > 1 + 2 * 3 - 4 % 5",
        "self.all(x, x.y in ['a', \"b\"]) ? true : self.exists(z, z == null)",
        "self.map(x, x > 1, x + 1).filter(y, y < 3).exists_one(z, z == 2)",
        "[1, 2u, 3.5, -4, -5.5e3, 0xff, true, null, b'x']",
        "{'a': 1, 'b': [2]}.size() == size(self)",
        "self.?a[?0].orValue('x') == self['k']",
        "a ? b : c ? d : e",
        "-self.x < -1 && !(self.y == 2)",
        "'\\u00e9\\n\\x41' + r'\\d'",
        "self.matches('^[a-z]+$') // done",
        "duration('1h') < self.x - timestamp('2020-01-01T00:00:00Z')",
        "[?a, b]",
        "sets.contains(self.a, ['x'])",
    ] {
        let ours = parse(source).unwrap_or_else(|e| panic!("{source}: {e}"));
        let theirs = OtherParser::new().enable_optional_syntax(true).parse(source).expect("parses");
        assert_eq!(normal(&ours, None), normal(&adopt(&theirs), None), "{source}");
    }
}

#[test]
fn reads_what_cel_go_reads() {
    for (source, same) in [
        ("!!x", "x"),
        ("!!!x", "!x"),
        ("--x", "x"),
        ("'''it's'''", "\"it's\""),
        ("1 - -1", "1 - (-1)"),
        ("[1, 2,]", "[1, 2]"),
        ("{1: 2,}", "{1: 2}"),
        ("1 < 2 == true", "(1 < 2) == true"),
        ("a || b && c", "a || (b && c)"),
        ("self.namespace", "self.namespace"),
        // The form with one variable is only spelled the old way.
        ("a.existsOne(i, x, x)", "a.exists_one(i, x, x)"),
    ] {
        let (a, b) = (parse(source), parse(same));
        assert_eq!(a.map(|e| normal(&e, None)), b.map(|e| normal(&e, None)), "{source}");
    }
    assert_eq!(parse("-1").map(|e| e.literal().cloned()), Ok(Some(Literal::Int(-1))));
    assert_eq!(parse("-9223372036854775808").map(|e| e.literal().cloned()), Ok(Some(Literal::Int(i64::MIN))));
}

#[test]
fn refuses_what_cel_go_refuses() {
    for source in [
        "",
        "self.size( > 2",
        "1 +",
        "namespace",
        "package.x",
        "self.`a-b`",
        "has(self)",
        "has(self.a())",
        "self.all(1, true)",
        "self.all(x.y, true)",
        "f(1,)",
        "[,1]",
        "a ? b",
        "9223372036854775808",
        "1e400",
        "'a",
        "'\\q'",
        "self.in",
        "a &&& b",
        "a = b",
        "self.all(x, x, true)",
        "'a\nb'",
        "1.",
        "a b",
        "self.optMap(1, 2)",
        "-!x",
        "{a}",
        "self..a",
    ] {
        assert!(parse(source).is_err(), "{source}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    assert!(parse(&deep(249)).is_ok());
    let lists = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    assert!(parse(&lists(70)).is_ok());
    assert_eq!(parse(&lists(249)).map_err(|e| e.too_deep).err(), Some(true));
    assert_eq!(parse(&lists(250)).map_err(|e| e.too_deep).err(), Some(false));
    let choices = |n: usize| format!("{}1{}", "a ? b : (".repeat(n), ")".repeat(n));
    assert!(parse(&choices(124)).is_ok());
    assert_eq!(parse(&choices(125)).map_err(|e| e.too_deep).err(), Some(false));
    assert_eq!(parse(&deep(250)).map_err(|e| e.too_deep).err(), Some(false));
    assert_eq!(parse(&deep(100_000 / 2 - 1)).map_err(|e| e.too_deep).err(), Some(false));
    assert!(parse(&vec!["a"; 3_000].join(" || ")).is_ok());
    // Selections and operators count together, `!` and `&&` don't count.
    let highest = |ok: String, refused: String| {
        assert!(parse(&ok).is_ok(), "{ok}");
        assert_eq!(parse(&refused).map_err(|e| e.too_deep).err(), Some(false), "{refused}");
    };
    let chain = |term: &str, operator: &str, operators: usize| vec![term; operators + 1].join(operator);
    highest(chain("self.val1", " == ", 249), chain("self.val1", " == ", 250));
    highest(chain("1", " + ", 250), chain("1", " + ", 251));
    highest(format!("!a{} && c", ".b".repeat(250)), format!("!a{} && c", ".b".repeat(251)));
    highest(format!("a{}[{}]", ".b".repeat(249), chain("1", " * ", 249)), format!("a[{}]", chain("1", " * ", 250)));
    highest(format!("f(1, {}, 2) > 0", chain("1", "-", 249)), format!("f(1, {}, 2) > 0", chain("1", "-", 250)));
    highest(format!("[{}, 2].a()", chain("1", "-", 249)), format!("[{}, 2].a()", chain("1", "-", 250)));
    let chain = format!("a{}", ".optMap(x, x)".repeat(60));
    assert_eq!(parse(&chain).map_err(|e| e.too_deep).err(), Some(true));
    assert!(parse(&"!".repeat(90_000)).is_err());
}

#[test]
fn enclosing_parentheses_change_nothing() {
    for (with, without) in [
        ("((a) ? (b) : ((c ? d : (e))))", "a ? b : c ? d : e"),
        ("f(((a)), (b).c, (a) + (b), [(a)], {(a): (b)})", "f(a, b.c, a + b, [a], {a: b})"),
        ("(a || (b && (c)))", "a || b && c"),
        ("((a)).b((c))[(d)]", "a.b(c)[d]"),
    ] {
        let kinds = |source: &str| {
            let expr = parse(source).expect("an expression");
            expr.descendants().into_iter().map(|e| format!("{:?}", std::mem::discriminant(&e.kind))).collect::<Vec<_>>()
        };
        assert_eq!(kinds(with), kinds(without), "{with}");
    }
    for source in ["(a", "((a)", "(a))", "(a]", "a ? (b", "a ? b : (c", "a ? b : (c))", "()", "(a ? b) : c"] {
        assert!(parse(source).is_err(), "{source}");
    }
}

#[test]
fn opt_flat_map_is_recognised_in_the_tree() {
    let used = |source: &str| {
        let expr = parse(source).expect("an expression");
        expr.descendants().into_iter().any(|e| matches!(&e.kind, ExprKind::Call(call) if call.is_opt_flat_map()))
    };
    assert!(used("self.?a.optFlatMap (x, x.?b).hasValue()"));
    assert!(used("[self.?a . optFlatMap(x, x.?b)].size() == 1"));
    assert!(!used("self.?a.optMap(x, x).hasValue() && self.s != '.optFlatMap('"));
    assert!(!used("self.ls.sortBy(x, x) == [] ? self.ls.all(x, x) : self.a"));
}
