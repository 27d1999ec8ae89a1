//! CEL rules as real commits change them: equivalent rewrites, weaker rules, and stronger rules.

use crate::find::change::{ChangeOptions, diff};
use crate::judge::finding::Class;
use crate::model::fact::{Affected, Certainty, Fact, Word};
use crate::model::{Bundle, Documents};

use super::{facts, judged, with_root};

/// A schema for rules to refer to; `FIELD` rules of other nodes are inserted by name.
fn spec(rules: &[&str], more: &str) -> String {
    let quoted: Vec<String> = rules.iter().map(|rule| format!("{{rule: {}}}", serde_json::to_string(rule).expect("a string"))).collect();
    let validations = if rules.is_empty() { String::new() } else { format!(", x-kubernetes-validations: [{}]", quoted.join(", ")) };
    let text = "{type: string, maxLength: 20}";
    let keyed = "{type: array, maxItems: 5, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, \
                 required: [name], properties: {name: {type: string, maxLength: 9}, size: {type: integer}}}}";
    with_root(&format!(
        "{{type: object, properties: {{spec: {{type: object, properties: {{a: {{type: integer}}, b: {{type: integer}}, s: {text}, u: {text}, \
         e: {{type: string, enum: [A, B, C]}}, l: {{type: array, maxItems: 5, items: {text}}}, n: {{type: array, maxItems: 5, items: {{type: \
         integer}}}}, m: {{type: object, maxProperties: 5, additionalProperties: {text}}}, k: {keyed}{more}}}, required: [a, s, e, l, n, m, k]\
         {validations}}}}}}}"
    ))
}

fn reviewed(old: &str, new: &str) -> (Class, Vec<Fact>) {
    let found = facts(&spec(&[old], ""), &spec(&[new], ""));
    (judged(&found).0, found)
}

#[test]
fn equivalent_rules_are_no_change() {
    let mut wrong = Vec::new();
    for (old, new) in [
        ("self.e == 'A' || self.e == 'B'", "self.e in ['A', 'B']"),
        ("!(self.a > 1 && self.b > 1)", "!(self.a > 1) || !(self.b > 1)"),
        ("self.a > 1 && self.s != ''", "self.s != '' && self.a > 1"),
        ("self.s.size() > 0", "self.s != ''"),
        ("self.l.all(x, x != 'a')", "!self.l.exists(x, x == 'a')"),
        ("self.a > 1 ? self.s != '' : true", "!(self.a > 1) || self.s != ''"),
        ("has(self.m.x)", "'x' in self.m"),
        ("self.s.contains('ab')", "self.s.indexOf('ab') >= 0"),
        ("self.l.filter(x, x == 'a').size() == 0", "!self.l.exists(x, x == 'a')"),
        ("sets.contains(self.l, ['a'])", "'a' in self.l"),
        ("!has(self.b) || self.b > 2", "self.?b.orValue(3) > 2"),
        ("self.a - 3 > 0", "self.a > 3"),
        ("self.a == 1 || self.a == 2", "[1, 2].exists(x, x == self.a)"),
        ("self.s.indexOf('ab') == 0", "self.s.startsWith('ab')"),
        ("self.m.all(k, self.m[k] != '')", "self.m.all(k, self.m[k].size() > 0)"),
        ("self.l.size() in [1, 2]", "self.l.size() >= 1 && self.l.size() <= 2"),
    ] {
        for (old, new) in [(old, new), (new, old)] {
            let (class, _) = reviewed(old, new);
            if class != Class::None {
                wrong.push(format!("{old} -> {new}: {class}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No object has the new value yet. The comparison of the rules itself must show that: several such nodes are too many to search
/// for an object of each.
#[test]
fn rules_that_follow_a_new_enum_value_refuse_nothing() {
    let balancer = |values: &str, rules: &[(&str, &str)]| {
        let rules: Vec<String> = rules.iter().map(|(rule, message)| format!("{{rule: \"{rule}\", message: {message}}}")).collect();
        let (field, fields) = ("{type: object, properties: {a: {type: string}}}", ["slow", "zone", "override"]);
        let fields: Vec<String> = fields.iter().map(|name| format!("{name}: {field}")).collect();
        with_root(&format!(
            "{{type: object, properties: {{spec: {{type: object, required: [type], properties: {{type: {{type: string, enum: [{values}]}}, \
             {}}}, x-kubernetes-validations: [{}]}}}}}}",
            fields.join(", "),
            rules.join(", ")
        ))
    };
    let old = balancer(
        "Random, Hash, Least",
        &[
            ("self.type in ['Random', 'Hash'] ? !has(self.slow) : true", "Slow start is only supported for Least"),
            ("self.type == 'Least' ? !has(self.zone) : true", "Zones are not supported for Least"),
        ],
    );
    let new = balancer(
        "Random, Hash, Least, Module",
        &[
            ("self.type in ['Random', 'Hash', 'Module'] ? !has(self.slow) : true", "Slow start is only supported for Least"),
            ("self.type in ['Least', 'Module'] ? !has(self.zone) : true", "Zones are not supported for Least and Module"),
            ("self.type == 'Module' ? !has(self.override) : true", "Overrides are not supported for Module"),
        ],
    );
    let (old, new) = (Documents::of_text("old.yaml", &old), Documents::of_text("new.yaml", &new));
    let options = ChangeOptions { witnesses: false, ..ChangeOptions::default() };
    let found = diff(&Bundle::read(&old), &Bundle::read(&new), &options);
    let refusing: Vec<&Fact> = found.iter().filter(|fact| fact.affects.contains(Affected::Writers)).collect();
    assert!(found.len() > 2 && refusing.is_empty(), "{refusing:?}");
    let zones = found.iter().find(|fact| fact.words.get(&Word::Rule).is_some_and(|rule| rule.contains("'Least', 'Module'")));
    assert!(zones.is_some_and(|fact| fact.words.contains_key(&Word::Old)), "it is matched with the rule that it extends: {zones:?}");
}

/// A rule that the search for an object can't analyse must not hide what happens to null.
#[test]
fn nulls_that_are_dropped_next_to_a_rule_are_a_break() {
    for rule in ["self.b > self.a", "self.b != self.a", "isURL(string(self.b))", "self.o.x > self.b"] {
        let side = |nullable: &str| {
            let rules = serde_json::json!([{ "rule": rule }]);
            with_root(&format!(
                "{{type: object, properties: {{spec: {{type: object, properties: {{a: {{type: integer}}, b: {{type: integer}}, o: {{type: \
                 object, properties: {{x: {{type: integer}}}}}}, s: {{type: string{nullable}}}}}, x-kubernetes-validations: {rules}}}}}}}"
            ))
        };
        let found = facts(&side(", nullable: true"), &side(""));
        assert_eq!(judged(&found).0, Class::SemanticBreaking, "{rule}");
        let found = facts(&side(""), &side(", nullable: true"));
        assert_eq!(judged(&found).0, Class::SemanticBreaking, "{rule}");
    }
}

/// A format lets lists pass where the type is string. A rule that asks for such a field fails on one.
#[test]
fn a_list_under_a_format_is_not_seen_by_rules() {
    let side = |format: &str, more: &str| {
        with_root(&format!("{{type: object, properties: {{spec: {{type: object, properties: {{e: {{type: string{format}}}}}{more}}}}}}}"))
    };
    let (rule, required) = (r#", x-kubernetes-validations: [{rule: "has(self.e)"}]"#, ", required: [e]");
    let class = |format: &str, old: &str, new: &str| judged(&facts(&side(format, old), &side(format, new))).0;
    assert_eq!([class("", rule, required), class("", required, rule)], [Class::None; 2]);
    assert_eq!(class(", format: email", rule, required), Class::Additive);
    assert_eq!(class(", format: email", required, rule), Class::SemanticBreaking);
}

#[test]
fn weaker_rules_break_nobody() {
    let mut wrong = Vec::new();
    for (old, new) in [
        ("self.e in ['A', 'B']", "self.e in ['A', 'B', 'C']"),
        ("self.a == 1 ? self.e == 'A' : true", "self.a == 1 ? self.e in ['A', 'B'] : true"),
        ("self.a > 1 && self.s != '' && self.l.size() > 0", "self.a > 1 && self.l.size() > 0"),
        ("self.l.all(x, x == 'a')", "self.l.all(x, x in ['a', 'b'])"),
        ("self.l.size() <= 2", "self.l.size() <= 3"),
        ("self.l.filter(x, x == 'a').size() <= 1", "self.l.filter(x, x == 'a').size() <= 2"),
        ("self.a > 3", "self.a > 3 || self.s == 'x'"),
        ("self.l.all(x, x.startsWith('a'))", "(has(self.l) ? self.l : []).all(x, x.startsWith('a'))"),
        ("isIP(self.s) && self.s.startsWith('10.')", "isIP(self.s)"),
    ] {
        let (class, _) = reviewed(old, new);
        if class == Class::SemanticBreaking {
            wrong.push(format!("{old} -> {new}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn stronger_rules_are_shown_by_an_object() {
    let mut wrong = Vec::new();
    for (old, new) in [
        ("true", "self.n.sum() < 10"),
        ("true", "self.n.isSorted()"),
        ("true", "self.l.join(',').size() < 12"),
        ("has(self.u)", "has(self.u) && self.s.startsWith(self.u)"),
        ("true", "!isCIDR(self.s) || self.a > 2"),
        ("true", "self.l.filter(x, x == 'a').size() <= 1"),
        ("true", "self.l.exists_one(x, x == 'a')"),
        ("true", "self.l.all(x, self.l.filter(y, y == x).size() == 1)"),
        ("true", "self.l.size() + self.n.size() < 6"),
        ("true", "self.s.split('.')[0].size() < 3"),
        ("true", "self.m.map(k, self.m[k].size()).sum() <= 60"),
        ("true", "self.s != 'literal'"),
        // The product overflows.
        ("self.a > 3", "self.a * 2 > 6"),
        ("self.a > 0", "self.a * self.a < 100 && self.a > 0"),
    ] {
        let (_, found) = reviewed(old, new);
        let shown = |fact: &Fact| fact.evidence.certainty == Certainty::Proved && fact.evidence.witness.is_some();
        if !found.iter().any(shown) {
            wrong.push(format!("{old} -> {new}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Strengthens a rule about a string by a condition on its parts, and checks that an object shows it.
#[track_caller]
fn parts_are_tried(rule: &str, conditions: &[&str]) {
    let mut wrong = Vec::new();
    for condition in conditions {
        let (class, found) = reviewed(rule, &format!("{rule} && {condition}"));
        let shown = |fact: &Fact| fact.evidence.certainty == Certainty::Proved && fact.evidence.witness.is_some();
        if class != Class::SemanticBreaking || !found.iter().any(shown) {
            wrong.push(format!("{condition}: {class}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn library_functions_are_tried_with_the_numbers_and_strings_of_rules() {
    parts_are_tried(
        "isCIDR(self.s)",
        &[
            "cidr(self.s).prefixLength() <= 24",
            "cidr(self.s).prefixLength() < 64",
            "(cidr(self.s).ip().family() == 4 || cidr(self.s).prefixLength() <= 126)",
            "!cidr(self.s).ip().isLoopback()",
        ],
    );
    parts_are_tried(
        "isIP(self.s)",
        &["!ip(self.s).isUnspecified()", "!ip(self.s).isLinkLocalUnicast()", "!ip(self.s).isLinkLocalMulticast()"],
    );
    parts_are_tried(
        "isSemver(self.s)",
        &[
            "semver(self.s).major() < 2",
            "semver(self.s).minor() != 7",
            "semver(self.s).patch() < 100",
            "!self.s.contains('+')",
            "(semver(self.s).major() != 13 || semver(self.s).minor() > 4)",
        ],
    );
    parts_are_tried(
        "isURL(self.s)",
        &[
            "url(self.s).getHostname() != 'localhost'",
            "url(self.s).getPort() != '8080'",
            "url(self.s).getPort() in ['', '443']",
            "!url(self.s).getHostname().endsWith('.local')",
            "!('token' in url(self.s).getQuery())",
            "url(self.s).getScheme() != 'file'",
            "url(self.s).getEscapedPath().size() <= 5",
            "!self.s.contains('@')",
        ],
    );
    parts_are_tried("true", &["self.s.split('.').size() < 6", "self.s.size() + self.u.size() < 36"]);
}

#[test]
fn keywords_and_equivalent_rules_are_interchangeable() {
    let quoted = |rule: &str| format!("x-kubernetes-validations: [{{rule: {}}}]", serde_json::to_string(rule).expect("a string"));
    let mut wrong = Vec::new();
    for (keyword, rule, of_spec) in
        [("minimum: 3", "self >= 3", "self.z >= 3"), ("minimum: 3, maximum: 9", "self >= 3 && self <= 9", "self.z >= 3 && self.z <= 9")]
    {
        let node = |conditions: &str| format!(", z: {{type: integer, default: 5{conditions}}}");
        let by_keyword = spec(&["self.a != 7"], &node(&format!(", {keyword}")));
        let by_rule = spec(&["self.a != 7"], &node(&format!(", {}", quoted(rule))));
        let by_parent = spec(&["self.a != 7", of_spec], &node(""));
        for (old, new) in [(&by_keyword, &by_rule), (&by_rule, &by_keyword), (&by_keyword, &by_parent), (&by_parent, &by_rule)] {
            let (class, rules) = judged(&facts(old, new));
            if class != Class::None {
                wrong.push(format!("{keyword}: {class} {rules:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_transition_rule_on_a_new_field_fails_where_its_parent_is_absent() {
    let o = |more: &str| format!(", o: {{type: object, properties: {{x: {{type: integer}}{more}}}}}");
    let new = o(", z: {type: integer}");
    let class = |rule: &str| judged(&facts(&spec(&["self.a != 7"], &o("")), &spec(&["self.a != 7", rule], &new))).0;
    assert_eq!(class("!has(self.o.z) || !has(oldSelf.o.z) || self.o.z == oldSelf.o.z"), Class::SemanticBreaking);
    let guarded = "!has(self.o) || !has(oldSelf.o) || !has(self.o.z) || !has(oldSelf.o.z) || self.o.z == oldSelf.o.z";
    assert_eq!(class(guarded), Class::Additive);
}

#[test]
fn a_transition_rule_of_the_root_may_assume_that_spec_exists() {
    let root = |more: &str, rules: &str| {
        with_root(&format!(
            "{{type: object, properties: {{spec: {{type: object, properties: {{x: {{type: integer}}{more}}}}}, status: {{type: object, \
             properties: {{on: {{type: boolean}}}}}}}}{rules}}}"
        ))
    };
    let rule = "has(self.status) ? (has(oldSelf.spec.z) ? oldSelf.spec.z : 0) == (has(self.spec.z) ? self.spec.z : 0) : true";
    let new = root(", z: {type: integer}", &format!(", x-kubernetes-validations: [{{rule: \"{rule}\"}}]"));
    assert_eq!(judged(&facts(&root("", ""), &new)).0, Class::Additive);
}

#[test]
fn rules_that_the_schema_implies_change_nothing() {
    let class = |rule: &str| judged(&facts(&spec(&["self.a > 1"], ""), &spec(&["self.a > 1", rule], ""))).0;
    for rule in [
        "self.k.all(z, self.k.exists_one(y, y.name == z.name))",
        "self.k.all(z, self.k.filter(y, y.name == z.name).size() == 1)",
        "self.k.all(z, size(self.k.filter(y, z.name == y.name)) < 2)",
        "self.l.size() >= 0 || self.n.exists_one(x, x == 1)",
        "!(self.l.size() < 0 && self.s.trim() == '')",
    ] {
        assert_eq!(class(rule), Class::None, "{rule}");
    }
    for rule in [
        "self.k.all(z, self.k.exists_one(y, y.size == z.size))",
        "self.k.all(z, self.k.filter(y, y.name == z.name).size() == 2)",
        "self.k.all(z, self.k.exists_one(y, y.name != z.name))",
        "self.l.all(z, self.l.exists_one(y, y == z))",
        "self.l.size() >= 1 || self.n.exists_one(x, x == 1)",
    ] {
        assert_eq!(class(rule), Class::SemanticBreaking, "{rule}");
    }
}

#[test]
fn a_rule_that_accepts_other_values_is_no_rewrite() {
    let class = |old: &[&str], new: &[&str]| judged(&facts(&spec(old, ""), &spec(new, ""))).0;
    // Only 1 passed, and 2 passes now.
    assert_eq!(class(&["self.a == 2 || self.a >= 1", "self.a <= 1"], &["self.a >= 1"]), Class::Additive);
}

#[test]
fn an_empty_key_is_a_key() {
    let class = |rule: &str| judged(&facts(&spec(&["self.a > 1"], ""), &spec(&["self.a > 1", rule], ""))).0;
    assert_eq!(class("self.m.all(k, k.size() > 0)"), Class::SemanticBreaking);
    assert_eq!(class("self.m.all(k, k != '')"), Class::SemanticBreaking);
}

#[test]
fn a_rule_for_new_objects_only_does_not_restrict_updates() {
    let schema = |rules: &str| {
        with_root(&format!("{{type: object, properties: {{spec: {{type: object, properties: {{a: {{type: integer}}}}{rules}}}}}}}"))
    };
    let rule = ", x-kubernetes-validations: [{rule: \"oldSelf.hasValue() || !has(self.a) || self.a == 1\", optionalOldSelf: true}]";
    let found = facts(&schema(""), &schema(rule));
    assert_eq!(judged(&found).0, Class::SemanticBreaking);
    assert!(found.iter().all(|fact| fact.ratchet.is_none()), "{found:?}");
}
