//! Breaks of real releases that used to be undecided: each is now shown by an object, or proved not to be a break.

use crate::judge::finding::Class;
use crate::model::fact::{Affected, Certainty, Fact};

use super::{facts, judged, with_root};

/// Checks that every break is shown by an object.
#[track_caller]
fn shown(old: &str, new: &str) {
    let found: Vec<Fact> = facts(&with_root(old), &with_root(new));
    let breaking: Vec<&Fact> = found.iter().filter(|fact| fact.affects.needs_object()).collect();
    assert!(!breaking.is_empty(), "{new} {found:?}");
    for fact in breaking {
        let evidence = &fact.evidence;
        let because = (fact.aspect, &fact.path, &evidence.reason);
        assert!(evidence.certainty == Certainty::Proved && evidence.witness.is_some(), "{because:?}\n{new}");
    }
}

fn spec(schema: &str) -> String {
    format!("{{type: object, properties: {{spec: {schema}}}}}")
}

const PRESERVES: &str = "x-kubernetes-preserve-unknown-fields: true";

#[test]
fn fields_declared_under_a_parent_that_preserved_unknown_fields() {
    let old = format!("{{type: object, {PRESERVES}}}");
    let fields = "a: {type: array, items: {type: string}}, b: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}, \
                  c: {type: string}, d: {type: object, properties: {x: {type: string}}}";
    shown(&spec(&old), &spec(&format!("{{type: object, {PRESERVES}, properties: {{{fields}}}}}")));
    shown(&spec(&old), &spec(&format!("{{type: object, properties: {{{fields}}}}}")));
    let listed = |items: &str| spec(&format!("{{type: object, properties: {{l: {{type: array, items: {items}}}}}}}"));
    shown(&listed(&old), &listed(&format!("{{type: object, properties: {{{fields}}}}}")));
}

#[test]
fn rules_about_the_name_of_the_object() {
    let root =
        |rules: &str| format!("{{type: object, properties: {{spec: {{type: object, properties: {{a: {{type: string}}}}}}}}{rules}}}");
    for rule in [
        "self.metadata.name == 'default' ? !has(self.spec.a) : true",
        "self.metadata.name.startsWith('node.') ? self.spec.a == 'b' : true",
        "!self.metadata.name.endsWith('-x')",
    ] {
        shown(&root(""), &root(&format!(", x-kubernetes-validations: [{{rule: \"{rule}\"}}]")));
    }
}

#[test]
fn long_strings_and_long_lists() {
    let map =
        |rules: &str| spec(&format!("{{type: object, maxProperties: 8, additionalProperties: {{type: string, maxLength: 9}}{rules}}}"));
    shown(&map(""), &map(", x-kubernetes-validations: [{rule: \"self.all(key, key.split('/')[0].size() < 253)\"}]"));
    let list = |keywords: &str| spec(&format!("{{type: array, items: {{type: object, properties: {{p: {{type: integer}}}}}}{keywords}}}"));
    shown(&list(""), &list(", maxItems: 4096"));
}

/// Lists of at most `most` strings in each item.
fn lists(most: u32, rules: &str) -> String {
    let items = format!("{{type: object, properties: {{m: {{type: array, maxItems: {most}, items: {{type: string, maxLength: 9}}}}}}}}");
    spec(&format!("{{type: array, maxItems: 4, items: {items}{rules}}}"))
}

#[test]
fn sums_of_sizes() {
    let sum: Vec<String> = (0..4).map(|i| format!("(self.size() > {i} ? (has(self[{i}].m) ? self[{i}].m.size() : 0) : 0)")).collect();
    let rule = format!(", x-kubernetes-validations: [{{rule: \"{} <= 128\"}}]", sum.join(" + "));
    shown(&lists(64, ""), &lists(64, &rule));
    let found = facts(&with_root(&lists(32, "")), &with_root(&lists(32, &rule)));
    assert_eq!(judged(&found).0, Class::None);
    assert!(found.iter().all(|fact| fact.evidence.certainty == Certainty::Proved), "{found:?}");
}

#[test]
fn limits_that_only_long_lists_exceed() {
    for (outer, inner, most) in [(8, 12, 90), (20, 20, 390), (40, 60, 2_000)] {
        let items =
            format!("{{type: object, properties: {{m: {{type: array, maxItems: {inner}, items: {{type: string, maxLength: 9}}}}}}}}");
        let of = |rules: &str| {
            spec(&format!("{{type: object, properties: {{outer: {{type: array, maxItems: {outer}, items: {items}}}}}{rules}}}"))
        };
        for rule in [
            format!("self.outer.map(o, has(o.m) ? o.m.size() : 0).sum() <= {most}"),
            format!("self.outer.filter(o, has(o.m) && o.m.size() >= {inner}).size() < {outer}"),
        ] {
            shown(&of(""), &of(&format!(", x-kubernetes-validations: [{{rule: \"!has(self.outer) || {rule}\"}}]")));
        }
    }
}

#[test]
fn a_field_of_a_parent_that_was_renamed() {
    let old = "{type: object, properties: {targetRef: {type: object, required: [name], properties: {name: {type: string}, namespace: {type: \
               string}}}}, required: [targetRef]}";
    let new = "{type: object, properties: {targetRefs: {type: array, minItems: 1, items: {type: object, required: [name], properties: {name: \
               {type: string}}}}}, required: [targetRefs]}";
    shown(&spec(old), &spec(new));
}

#[test]
fn keys_of_an_embedded_resource() {
    let embedded = |most: &str| {
        let fields = "a: {type: string}, b: {type: string}";
        spec(&format!(
            "{{type: object, properties: {{e: {{type: object, x-kubernetes-embedded-resource: true, properties: {{{fields}}}{most}}}}}}}"
        ))
    };
    shown(&embedded(""), &embedded(", maxProperties: 4"));
}

#[test]
fn rules_next_to_an_embedded_resource() {
    let fields =
        "e: {type: object, x-kubernetes-embedded-resource: true, properties: {a: {type: string}}}, a: {type: string}, b: {type: string}";
    for rule in [
        "(self.a + '-' + self.b).split('-').size() < 4",
        "self.a.replace('x', self.b) != 'yy'",
        "self.a.lowerAscii() != 'tea' || self.b.lowerAscii() == 'pot'",
    ] {
        let of = |rules: &str| spec(&format!("{{type: object, required: [a, b, e], properties: {{{fields}}}{rules}}}"));
        shown(&of(""), &of(&format!(", x-kubernetes-validations: [{{rule: \"{rule}\"}}]")));
    }
}

#[test]
fn undeclared_keys_that_conditions_count() {
    for condition in ["minProperties: 1", "anyOf: [{minProperties: 2}]", "not: {maxProperties: 1}"] {
        let field = |more: &str| spec(&format!("{{type: object, properties: {{c: {{type: object, {condition}{more}}}}}}}"));
        let found = facts(&with_root(&field(&format!(", {PRESERVES}"))), &with_root(&field("")));
        assert!(found.iter().any(|fact| fact.affects.contains(Affected::Writers)), "{found:?}");
    }
}

#[test]
fn standard_metadata_of_an_embedded_resource() {
    let embedded = |metadata: &str| {
        spec(&format!("{{type: object, properties: {{e: {{type: object, x-kubernetes-embedded-resource: true{metadata}}}}}}}"))
    };
    let metadata = |fields: &str| embedded(&format!(", properties: {{metadata: {{type: object, properties: {{{fields}}}}}}}"));
    let plain = embedded(", properties: {metadata: {type: object}}");
    // The default is dropped again as an empty name.
    let named = |default: &str| with_root(&metadata(&format!("name: {{type: string, maxLength: 3{default}}}")));
    let found = facts(&named(""), &named(", default: \"\""));
    assert!(found.iter().all(|fact| !fact.affects.contains(Affected::Writers)), "{found:?}");
    for fields in [
        "name: {type: string, maxLength: 3}",
        "name: {type: integer}",
        "namespace: {type: string, enum: [a]}",
        "uid: {type: string, format: uuid}",
        "resourceVersion: {type: string, pattern: '^[0-9]+$'}",
        "generation: {type: integer, maximum: 3}",
        "labels: {type: object, additionalProperties: {type: string, maxLength: 3}}",
        "labels: {type: object, required: [a], properties: {a: {type: string}}}",
        "annotations: {type: object, maxProperties: 1, additionalProperties: {type: string}}",
        "finalizers: {type: array, maxItems: 1, items: {type: string}}",
    ] {
        shown(&plain, &metadata(fields));
        shown(&embedded(""), &metadata(fields));
    }
    // What the server decodes anyway is no condition.
    for fields in [
        "name: {type: string}",
        "labels: {type: object, additionalProperties: {type: string}}",
        "labels: {type: object}",
        "finalizers: {type: array, items: {type: string}}",
        "generation: {type: integer}",
    ] {
        let found = facts(&with_root(&plain), &with_root(&metadata(fields)));
        assert_eq!(judged(&found).0, Class::None, "{fields}: {found:?}");
    }
}

#[test]
fn fields_that_become_a_map_with_rules() {
    let day = "{type: object, required: [d], properties: {d: {type: string, format: duration, maxLength: 20}}";
    let ruled = format!("{day}, x-kubernetes-validations: [{{rule: \"self.d >= duration('1m')\"}}]}}");
    let old = spec(&format!("{{type: object, maxProperties: 2, properties: {{a: {ruled}, b: {day}}}}}}}"));
    shown(&old, &spec(&format!("{{type: object, maxProperties: 2, additionalProperties: {ruled}}}")));
    // Only updates run this rule.
    let fixed = |rule: &str| format!("{{type: object, properties: {{v: {{type: string}}}}{rule}}}");
    let plain = fixed("");
    let kept = fixed(", x-kubernetes-validations: [{rule: \"has(self.v) == has(oldSelf.v)\"}]");
    let fields = |b: &str| spec(&format!("{{type: object, properties: {{a: {kept}, b: {b}}}}}"));
    let map = spec(&format!("{{type: object, additionalProperties: {kept}}}"));
    shown(&fields(&plain), &map);
    let deeper = "{type: object, properties: {v: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}}";
    shown(&fields(&plain), &spec(&format!("{{type: object, additionalProperties: {deeper}}}")));
    assert_eq!(judged(&facts(&with_root(&fields(&kept)), &with_root(&map))).0, Class::Additive);
}

#[test]
fn requests_without_a_default_that_conditions_needed() {
    let writers = |old: &str, new: &str| {
        shown(&spec(old), &spec(new));
        let found = facts(&with_root(&spec(old)), &with_root(&spec(new)));
        assert!(found.iter().any(|fact| fact.affects.contains(Affected::Writers)), "{old} -> {new}: {found:?}");
    };
    let counted = |default: &str| {
        let rule = "(self.l[0] == 0) ? has(self.x) : self.l.exists(i, i == 2)";
        let fields = format!("l: {{type: array, maxItems: 5, items: {{type: integer}}}}, x: {{type: integer{default}}}");
        format!("{{type: object, properties: {{{fields}}}, x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}")
    };
    writers(&counted(", default: 4"), &counted(""));
    let kept = |default: &str| {
        let rule = "!has(oldSelf.c) || has(self.c)";
        format!("{{type: object, properties: {{c: {{type: integer{default}}}}}, x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}")
    };
    writers(&kept(", default: 1"), &kept(""));
    let equal = |default: &str| {
        let item = format!("{{type: object, required: [k], properties: {{k: {{type: string}}, v: {{type: boolean{default}}}}}}}");
        let list = "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], x-kubernetes-validations: [{rule: \"self == oldSelf\"}]";
        format!("{{type: object, properties: {{b: {{type: array, items: {item}, {list}}}}}}}")
    };
    writers(&equal(", default: true"), &equal(""));
    let some = |embedded: &str| {
        let fields = format!("type: object{embedded}, minProperties: 1, properties: {{spec: {{type: object}}}}");
        format!("{{type: object, required: [d], properties: {{d: {{{fields}}}}}}}")
    };
    writers(&some(", x-kubernetes-embedded-resource: true"), &some(""));
    // Existing objects have a value now, which can't be changed.
    let fixed = |default: &str| {
        let rule = "x-kubernetes-validations: [{rule: \"self == oldSelf\"}]";
        format!("{{type: object, properties: {{a: {{type: integer}}, b: {{type: string{default}, {rule}}}}}}}")
    };
    writers(&fixed(""), &fixed(", default: x"));
    let required = |fields: &str| format!("{{type: object, {PRESERVES}, oneOf: [{{required: [b]}}]{fields}}}");
    writers(&required(", properties: {b: {type: object, default: {}}}"), &required(""));
    let refused = |field: &str| format!("{{type: object, not: {{required: [b]}}, properties: {{b: {field}}}}}");
    writers(&refused("{type: string}"), &refused("{type: boolean, default: true}"));
}

#[test]
fn lists_in_strings_that_only_updates_refuse() {
    let list = "{type: object, properties: {a: {type: array, maxItems: 0, items: {type: string}}}}";
    let date = "{type: object, properties: {a: {type: string, format: date, x-kubernetes-validations: [{rule: \"self == oldSelf\"}]}}}";
    shown(&spec(list), &spec(date));
}
