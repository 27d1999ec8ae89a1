//! CEL rules, and the objects that show what they refuse.

use super::*;

#[test]
fn an_object_proves_a_change_only_if_that_change_affects_it() {
    // The default of the new field satisfies the rule, and the defaulted value isn't caused by the rule.
    let rule = "x-kubernetes-validations: [{rule: \"self.mode == 'Legacy' || !has(self.keys)\"}]";
    let keys = "keys: {type: array, items: {type: string}}";
    specs(
        &format!("{{type: object, properties: {{{keys}}}}}"),
        &format!("{{type: object, properties: {{{keys}, mode: {{type: string, default: Legacy}}}}, {rule}}}"),
        Class::Additive,
        &["cel-rule-added-on-new-fields@spec", "field-added@spec.mode"],
    );
    // Existing items have no `name`, so the new rule can't refuse them and isn't a break.
    let rule = |rule: &str| format!("x-kubernetes-validations: [{{rule: \"{rule}\"}}]");
    let list = |more: &str, rule: &str| {
        format!("{{type: array, maxItems: 9, items: {{type: object, properties: {{a: {{type: string, maxLength: 9}}{more}}}}}{rule}}}")
    };
    let unique = rule("self.all(x, !has(x.name) || self.exists_one(y, has(y.name) && x.name == y.name))");
    objects(
        &list("", ""),
        &list(", name: {type: string, maxLength: 9}", &format!(", {unique}")),
        Class::Additive,
        &["cel-rule-added-on-new-fields@spec.o", "field-added@spec.o[].name"],
    );
    // Each of two new rules has its own object, and a removed field is pruned from an otherwise valid one.
    let old = "{type: object, properties: {a: {type: integer}, b: {type: integer}, c: {type: integer}}}";
    let new = "{type: object, required: [c], properties: {a: {type: integer}, c: {type: integer}}, \
               x-kubernetes-validations: [{rule: \"!has(self.a) || self.a > 1\"}, {rule: \"self.c > 5\"}]}";
    let shown = |fact: &Fact| fact.evidence.witness.as_ref().map(|witness| witness.because.clone()).unwrap_or_default();
    let found = facts(&with_spec(old), &with_spec(new));
    let object = |fact: &Fact| fact.evidence.witness.as_ref().map(|witness| witness.object["spec"].to_string()).unwrap_or_default();
    let said = |fact: &Fact| format!("{} {:?} {}: {}", fact.path, fact.effect, object(fact), shown(fact));
    let because: Vec<String> = found.iter().map(said).collect();
    assert_eq!(
        because,
        [
            "spec Added {\"a\":0,\"c\":6}: spec: Invalid value: failed rule: !has(self.a) || self.a > 1",
            "spec Added {\"c\":0}: spec: Invalid value: failed rule: self.c > 5",
            "spec.b Removed {\"b\":0,\"c\":6}: spec.b is dropped",
            "spec.c Added {}: spec.c: Required value",
        ]
    );
}

#[test]
fn a_union_may_get_another_member() {
    let union = |names: &[&str], rule: &str| {
        let fields: Vec<String> = names.iter().map(|name| format!("{name}: {{type: string}}")).collect();
        let asked: Vec<String> = names.iter().map(|name| format!("has(self.{name})")).collect();
        let rule = rule.replace("LIST", &format!("[{}]", asked.join(", ")));
        format!(
            "{{type: object, properties: {{{}}}, x-kubernetes-validations: [{{rule: \"{rule}\", message: one of}}]}}",
            fields.join(", ")
        )
    };
    for rule in ["LIST.filter(x, x == true).size() == 1", "LIST.filter(x, x).size() <= 1", "LIST.exists_one(x, x)", "LIST.exists(x, x)"] {
        let (old, new) = (union(&["a", "b"], rule), union(&["a", "b", "c"], rule));
        let (there, back) = (judged(&facts(&with_spec(&old), &with_spec(&new))), judged(&facts(&with_spec(&new), &with_spec(&old))));
        assert_eq!(there.0, Class::Additive, "{rule}: {:?}", there.1);
        assert_eq!(back.0, Class::SemanticBreaking, "{rule}");
    }
    let (old, new) = (union(&["a", "b"], "LIST.exists(x, x)"), union(&["a", "b"], "LIST.exists_one(x, x)"));
    assert_eq!(judged(&facts(&with_spec(&old), &with_spec(&new))), (Class::SemanticBreaking, vec!["cel-rule-narrowed@spec".to_owned()]));
}

#[test]
fn fields_that_always_exist_are_not_new() {
    let rule = |rule: &str| format!("x-kubernetes-validations: [{{rule: \"{rule}\"}}]");
    roots(
        "{type: object, properties: {spec: {type: object}}}",
        &format!(
            "{{type: object, properties: {{metadata: {{type: object}}, spec: {{type: object}}}}, {}}}",
            rule("!has(self.metadata) || self.metadata.name.size() < 4")
        ),
        Class::SemanticBreaking,
        &["cel-rule-added@"],
    );
    // Constants with another type than in CEL don't help.
    for (field, text) in [
        ("{x-kubernetes-int-or-string: true, default: 5}", "self.b != 5.0"),
        ("{type: string, format: byte, default: YWJj}", "self.b != b'abc'"),
    ] {
        let new = format!("{{type: object, properties: {{a: {{type: string}}, b: {field}}}, {}}}", rule(text));
        let found = judged(&facts(&with_spec("{type: object, properties: {a: {type: string}}}"), &with_spec(&new)));
        assert_eq!(found.0, Class::SemanticBreaking, "{text}");
    }
}

#[test]
fn equivalent_rules_are_no_change() {
    let fields = "a: {type: string, maxLength: 9}, b: {type: string, maxLength: 9}, i: {type: integer}, j: {type: integer}, \
                  l: {type: array, maxItems: 5, items: {type: string, maxLength: 5}}";
    let with = |rules: &[&str]| {
        let list: Vec<String> = rules.iter().map(|rule| format!("{{rule: \"{rule}\"}}")).collect();
        format!("{{type: object, properties: {{{fields}}}, x-kubernetes-validations: [{}]}}", list.join(", "))
    };
    for (one, other) in [
        (&["self.a == self.b"][..], &["self.b == self.a"][..]),
        (&["self == oldSelf"], &["oldSelf == self"]),
        (&["self.i <= self.j"], &["!(self.i > self.j)"]),
        (&["self.a == 'x' || self.a == 'y'"], &["self.a in ['x', 'y']"]),
        (&["size(self.a) >= 1"], &["self.a != ''"]),
        (&["self.a.startsWith('x')"], &["self.a.matches('^x')"]),
        (&["!('a' in self.l)"], &["self.l.all(x, x != 'a')"]),
        (&["self.i >= 0 && self.i <= 10"], &["self.i >= 0", "self.i < 11"]),
        (&["self.a == oldSelf.a && self.b == oldSelf.b"], &["self.a == oldSelf.a", "self.b == oldSelf.b"]),
        (&["has(oldSelf.a) ? has(self.a) : true"], &["!has(oldSelf.a) || has(self.a)"]),
    ] {
        for (old, new) in [(one, other), (other, one)] {
            let reported = judged(&facts(&with_spec(&with(old)), &with_spec(&with(new))));
            assert_eq!(reported.0, Class::None, "{old:?} → {new:?}: {:?}", reported.1);
        }
    }
    let widened = judged(&facts(&with_spec(&with(&["self.i > oldSelf.i"])), &with_spec(&with(&["self.i >= oldSelf.i"]))));
    assert_eq!(widened.0, Class::Additive, "{:?}", widened.1);
}

#[test]
fn an_object_violates_the_keyword_it_proves() {
    let list = |more: &str| format!("{{type: object, properties: {{l: {{type: array, items: {{type: string}}{more}}}}}}}");
    let text = |more: &str| format!("{{type: object, properties: {{s: {{type: string{more}}}}}}}");
    for (old, new, words) in [
        (list(""), list(", minItems: 1, maxItems: 3"), ["at least 1 items", "at most 3 items"]),
        (text(""), text(", maxLength: 3, pattern: '^a'"), ["may not be more than 3", "should match"]),
    ] {
        let found = facts(&with_spec(&old), &with_spec(&new));
        let because: Vec<&str> = found.iter().filter_map(|fact| Some(&*fact.evidence.witness.as_ref()?.because)).collect();
        assert_eq!(because.len(), 2, "{because:?}");
        assert!(words.iter().all(|word| because.iter().filter(|text| text.contains(word)).count() == 1), "{because:?}");
    }
}

#[test]
fn a_rule_follows_a_renamed_field() {
    let node = |name: &str, more: &str| {
        format!(
            "{{type: object, properties: {{{name}: {{type: array, maxItems: 8, description: Certificates of the authority., items: {{type: string}}}}, \
             h: {{type: string}}, selfish: {{type: string}}}}, \
             x-kubernetes-validations: [{{rule: \"has(self.{name}) && size(self.{name}) > 0 || has(self.h){more}\"}}]}}"
        )
    };
    let reported = |old: &str, new: &str| judged(&facts(&with_spec(old), &with_spec(new))).1;
    assert_eq!(reported(&node("caCertRefs", ""), &node("caCertificateRefs", "")), ["field-renamed@spec.caCertRefs"]);
    let narrowed = reported(&node("caCertRefs", ""), &node("caCertificateRefs", " && has(self.selfish)"));
    assert!(narrowed.iter().any(|reported| reported.starts_with("cel-rule")), "{narrowed:?}");
}

#[test]
fn a_default_is_shown_at_its_own_field() {
    let old = "{type: object, properties: {a: {type: string}, b: {type: string}}}";
    let new = "{type: object, properties: {a: {type: string, default: one}, b: {type: string, default: two}}}";
    for (old, new) in [(old, new), (new, old)] {
        for fact in facts(&with_spec(old), &with_spec(new)) {
            let because = fact.evidence.witness.as_ref().map(|witness| witness.because.clone()).unwrap_or_default();
            assert!(because.starts_with(&format!("{} is stored", fact.path)), "{}: {because}", fact.path);
        }
    }
}

#[test]
fn a_renamed_field_is_not_renamed_in_string_literals() {
    let spec = |field: &str, rule: &str| {
        let fields = format!("{field}: {{type: integer}}, note: {{type: string}}");
        format!("{{type: object, required: [note], properties: {{{fields}}}, x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}")
    };
    let changed = |old: &str, new: &str| judged(&facts(&with_spec(&spec("replicaCount", old)), &with_spec(&spec("replicas", new)))).1;
    // The rule follows the field, and is otherwise unchanged.
    for (old, new) in [
        ("!has(self.replicaCount) || self.replicaCount > 1", "!has(self.replicas) || self.replicas > 1"),
        ("self.?replicaCount.orValue(2) > 1", "self.?replicas.orValue(2) > 1"),
    ] {
        assert_eq!(changed(old, new), ["field-renamed@spec.replicaCount"], "{old}");
    }
    // A different text is a different rule: an object with the new text passed before.
    let texts = changed("self.note != 'self.replicaCount'", "self.note != 'self.replicas'");
    assert!(texts.iter().any(|found| found.starts_with("cel-rule-")), "{texts:?}");
}
