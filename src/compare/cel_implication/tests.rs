//! Which rules have the same form, and which follow from others.

use super::rule_form::{Known, RuleForm};

fn parse(rule: &str) -> RuleForm {
    let number = serde_json::json!({"type": "integer"});
    let list = serde_json::json!({"type": "array", "items": {"type": "string"}});
    let schema = serde_json::json!({"type": "object", "properties": {
        "i": number, "j": number, "l": list,
        "t": {"type": "string", "format": "date-time"}, "d": {"type": "string", "format": "duration"},
    }});
    RuleForm::parse(rule, &crate::testing::shape(&schema)).unwrap()
}

fn same(a: &str, b: &str) -> bool {
    parse(a) == parse(b)
}

fn follows(a: &str, b: &str) -> bool {
    super::implies::implies(&parse(a), &parse(b))
}

#[test]
fn spelling_does_not_matter() {
    assert!(same("self % 2 == 0", "  self%2==0 "));
    assert!(same("self >= 2", "(self >= 2) && true"));
    assert!(same("self != 1.5", "!(!(self != 1.5))"));
    assert!(same("self <= 2.5", "(self <= 2.5) ? true : false"));
    assert!(same("!has(self.a) || has(self.b)", "has(self.b) || !has(self.a)"));
    assert!(same("size(self) < 5", "5 > self.size()"));
    assert!(same("self.all(x, x > 1 && x < 5)", "self.all(x, x<5 && 1 < x)"));
    assert!(same("self == 'a'", "\"a\" == self"));
    assert!(same("self.i == self.j", "self.j == self.i"));
    assert!(same("self.i + self.j < 3", "self.j + self.i < 3"));
    assert!(same("self.i <= self.j", "!(self.i > self.j)"));
    assert!(same("self == oldSelf", "oldSelf == self"));
    assert!(same("self == 'a' || self == 'b'", "self in ['b', 'a']"));
    assert!(same("self != 'a' && self != 'b'", "!(self in ['b', 'a'])"));
    assert!(same("has(self.a) != has(self.b)", "has(self.a) && !has(self.b) || !has(self.a) && has(self.b)"));
    assert!(same("has(self.a) ? self.b : self.c", "!has(self.a) ? self.c : self.b"));
    assert!(same("has(self.a) ? self.a > 1 : false", "has(self.a) && self.a > 1"));
    assert!(same("oldSelf.hasValue() ? self == oldSelf.value() : true", "!oldSelf.hasValue() || self == oldSelf.value()"));
}

#[test]
fn absent_fields_are_not_there() {
    let known = |path: &str| match path {
        "self.new" | "self[].new" => Some(Known::Absent),
        "self.mode" => Known::is(&"old".into()),
        _ => None,
    };
    let left = |rule: &str| parse(rule).given(&known);
    assert_eq!(left("self.mode == 'old' || !has(self.keys)"), RuleForm::True);
    assert_eq!(left("self.mode in ['x', 'y'] || has(self.keys)"), parse("has(self.keys)"));
    assert_eq!(left("self.all(a, !has(a.new) || self.exists_one(b, has(b.new) && b.new == a.new))"), RuleForm::True);
    assert_eq!(left("!self.exists(a, has(a.new))"), RuleForm::True);
    assert_ne!(left("self.list.all(a, !has(a.new))"), RuleForm::True);
    assert_eq!(left("!(has(self.new) && has(self.old))"), RuleForm::True);
    assert_eq!(left("!has(self.new) || self.new > 3"), RuleForm::True);
    assert_eq!(left("has(self.new) ? self.new > 3 : true"), RuleForm::True);
    assert_eq!(left("has(self.new) || has(self.old)"), parse("has(self.old)"));
    assert_ne!(left("self.news > 3"), RuleForm::True);
}

#[test]
fn different_rules_have_different_forms() {
    assert!(!same("self.a < self.b", "self.b < self.a"));
    assert!(!same("has(self.a)", "has(self.b)"));
    assert!(!same("self.a - self.b == 0", "self.b - self.a == 0"));
    assert!(!same("self == oldSelf", "self != oldSelf"));
    assert!(!same("self.all(x, x > 1)", "self.exists(x, x > 1)"));
    assert!(!same("self == '1'", "self == 1"));
    assert!(!same("(self.a ? 1 : 2) == 1", "(self.a ? 2 : 1) == 1"));
    assert!(!same("self.l == self.k", "self.k == self.l"));
    assert!(!same("self.i / self.j < self.k", "!(self.i / self.j >= self.k)"));
    // Arithmetic on doubles may give NaN.
    assert!(!same("self.a / self.b >= 3.0", "!(self.a / self.b < 3.0)"));
    assert!(same("self.i / self.j >= 3", "!(self.i / self.j < 3)"));
    // A condition that fails isn't false.
    assert!(!same("self.a.b ? self.c : false", "self.a.b && self.c"));
}

#[test]
fn one_rule_follows_from_another() {
    assert!(follows("self >= 2", "self >= 1"));
    assert!(!follows("self >= 1", "self >= 2"));
    assert!(follows("self > 1 && self < 12", "self < 13"));
    assert!(follows("self == 'a'", "self in ['a', 'b']"));
    assert!(follows("self.size() <= 2", "type(self) == string || self.size() <= 3"));
    assert!(!follows("has(self.a) || has(self.b)", "has(self.a)"));
    assert!(follows("self.all(x, x > 2)", "self.all(y, y > 1)"));
    assert!(!follows("self.all(x, x > 2)", "self.exists(y, y > 1)"));
    assert!(!follows("self.exists_one(x, x > 2)", "self.exists_one(x, x > 1)"));
}

#[test]
fn a_guard_accepts_more() {
    assert!(follows("self.a > 1", "!has(self.a) || self.a > 1"));
    assert!(follows("self.a > 1", "has(self.a) && self.a > 1"));
    assert!(!follows("!has(self.a) || self.a > 1", "self.a > 1"));
    assert!(!follows("self.ab > 1", "has(self.a)"));
    assert!(!follows("self.a > 1 || self.b", "has(self.a)"));
    assert!(follows("self.kind == 'x' ? self.name != '' : true", "self.kind == 'x' && has(self.name) ? self.name != '' : true"));
    let unguarded = "self.all(a, a.t == 'x' ? self.exists_one(b, b.t == a.t && b.v == a.v) : true)";
    let guarded = "self.all(a, a.t == 'x' && has(a.v) ? self.exists_one(b, b.t == a.t && has(b.v) && b.v == a.v) : true)";
    assert!(follows(unguarded, guarded));
    assert!(!follows(guarded, unguarded));
    // A name in a string isn't a read.
    assert!(!follows("self.b.startsWith('self.a')", "self.b.startsWith('self.a') && has(self.a)"));
    assert!(follows("self.b.contains('x')", "has(self.a) ? self.b.contains('x') : true"));
    assert!(!follows("self.b.contains('x')", "has(self.a) ? self.b.contains('y') : true"));
    // Without the read, the guard excludes elements that counted before.
    assert!(!follows("self.exists_one(b, b.t == 'x')", "self.exists_one(b, has(b.v) && b.t == 'x')"));
}

/// Whether a rule follows from another in every case.
fn follows_in_all_cases(given: &str, rule: &str) -> bool {
    let text = serde_json::json!({"type": "string"});
    let number = serde_json::json!({"type": "integer"});
    let condition = serde_json::json!({"type": "object", "required": ["t"], "properties": {"t": text, "u": text}});
    let schema = serde_json::json!({"type": "object", "required": ["r"], "properties": {
        "a": text, "b": text, "i": number, "r": number, "t": {"type": "boolean"},
        "e": {"type": "array", "items": text}, "c": {"type": "array", "items": condition},
        "m": {"type": "object", "additionalProperties": text},
        "o": {"type": "object", "required": ["r"], "properties": {"x": number, "r": number}},
    }});
    super::case_analysis::implied(&[given], rule, &crate::testing::shape(&schema), &|_| None)
}

#[test]
fn rules_with_the_same_cases_are_equal() {
    for (a, b) in [
        ("self.t ? self.r > 1 : self.i > 2", "(!self.t || self.r > 1) && (self.t || self.i > 2) && (self.t || !self.t)"),
        ("self.i > 2 ? has(self.a) : has(self.b)", "!(self.i > 2) ? has(self.b) : has(self.a)"),
        (
            "has(self.a) && self.a.startsWith('u') ? !has(self.b) : true",
            "(has(self.a) ? self.a : '').startsWith('u') ? !has(self.b) : true",
        ),
        ("!has(self.e) || self.e.size() <= 1", "(has(self.e) ? self.e : []).size() <= 1"),
        ("!(has(self.e) && self.e.exists(k, k.contains('/')))", "!((has(self.e) ? self.e : []).exists(k, k.contains('/')))"),
        ("self.m.exists(k, k != 'x')", "!self.m.all(k, !(k != 'x'))"),
        ("has(self.m.x)", "'x' in self.m"),
        ("has(self.a) == has(self.b)", "has(self.a) ? has(self.b) : !has(self.b)"),
    ] {
        assert!(follows_in_all_cases(a, b), "{b} follows from {a}");
        assert!(follows_in_all_cases(b, a), "{a} follows from {b}");
    }
}

#[test]
fn a_weaker_rule_follows() {
    for (a, b) in [
        (
            "!has(oldSelf.a) || self == oldSelf",
            "!has(oldSelf.a) || (has(self.b) == has(oldSelf.b) && (!has(self.b) || self.b == oldSelf.b))",
        ),
        ("has(self.a) ? self.b == oldSelf.b : true", "has(self.a) && has(self.b) && has(oldSelf.b) ? self.b == oldSelf.b : true"),
        ("[self.a, self.b] in [['x', 'y']]", "[self.a, self.b] in [['x', 'y'], ['z', 'y']]"),
        ("self.a == 'x' || self.a == 'y'", "self.a != 'z'"),
        ("self.o.x > 1", "has(self.o.x)"),
        ("has(self.c) && self.c.exists(c, c.t == 'x')", "has(self.c)"),
        // What follows from a rule that holds doesn't fail.
        ("self.c.all(c, c.t.trim() == 'x' && has(c.u))", "self.c.all(c, c.t.trim() == 'x')"),
        ("self.c.exists_one(c, c.t == c.u)", "self.c.exists_one(c, has(c.u) && c.t == c.u) || self.t"),
    ] {
        assert!(follows_in_all_cases(a, b), "{b} follows from {a}");
        assert!(!follows_in_all_cases(b, a), "{a} doesn't follow from {b}");
    }
    for (a, b) in [
        // An error isn't false.
        ("self.t || self.r > 0", "self.t ? true : self.r > 0"),
        ("true", "self.o.x > 1 || !(self.o.x > 1)"),
        ("true", "has(self.o.r) || true == has(self.o.r)"),
        // Lists of sets are equal in any order.
        ("self == oldSelf", "self.e[0] == oldSelf.e[0]"),
        ("self.a != 'x'", "self.a == 'y'"),
        ("self.c.all(c, c.u == 'x')", "self.c.all(c, has(c.u)) && self.t"),
    ] {
        assert!(!follows_in_all_cases(a, b), "{b} doesn't follow from {a}");
    }
}

#[test]
fn times_are_compared_by_their_value() {
    assert!(same("self.t > timestamp('2020-01-01T01:00:00+01:00')", "timestamp('2020-01-01T00:00:00Z') < self.t"));
    assert!(same("self.t == timestamp('2020-01-01T01:00:00+01:00')", "self.t == timestamp('2020-01-01T00:00:00Z')"));
    assert!(follows("self.t > timestamp('2021-01-01T00:00:00Z')", "self.t >= timestamp('2020-01-01T00:00:00Z')"));
    assert!(!follows("self.t > timestamp('2020-01-01T00:00:00Z')", "self.t > timestamp('2021-01-01T00:00:00Z')"));
    assert!(same("self.d > duration('60s')", "self.d > duration('1m')"));
    assert!(same("self.d.getMinutes() >= 2", "self.d >= duration('2m')"));
    assert!(same("self.d.getMinutes() > 1", "!(self.d < duration('2m'))"));
    assert!(same("self.d.getSeconds() < 0", "self.d <= duration('-1s')"));
    assert!(same("0 <= self.d.getHours()", "self.d > duration('-1h')"));
    assert!(follows("self.d.getMinutes() >= 2", "self.d.getSeconds() >= 60"));
    assert!(!follows("self.d.getSeconds() >= 60", "self.d.getMinutes() >= 2"));
    // Of a timestamp, these are parts of the time of day.
    assert!(!follows("self.t.getMinutes() >= 2", "self.t.getSeconds() >= 60"));
}
