//! Pairs of small bundles and the facts between them.

use crate::crd::testing::HEAD;
use crate::crd::{Bundle, Documents};
use crate::fact::Fact;
use crate::finding::Class;
use crate::rule::Book;

use super::{Options, diff};

fn facts(old: &str, new: &str) -> Vec<Fact> {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    let (old, new) = (Bundle::read(&old), Bundle::read(&new));
    assert!(old.problems.is_empty() && new.problems.is_empty(), "{:?} {:?}", old.problems, new.problems);
    diff(&old, &new, &Options::default())
}

/// A CRD with one version, whose root schema is given in flow style.
fn with_root(schema: &str) -> String {
    format!("{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n")
}

/// The class of all facts, and the rules and paths of those that have it.
fn judged(facts: &[Fact]) -> (Class, Vec<String>) {
    let rules: Vec<_> = facts
        .iter()
        .map(|fact| {
            let rule = Book::builtin().judge(fact, "").first().map(|verdict| verdict.rule).expect("a rule for every fact");
            (rule.class.unwrap_or(Class::None), format!("{}@{}", rule.id, fact.path))
        })
        .collect();
    let class = rules.iter().map(|(class, _)| *class).max().unwrap_or(Class::None);
    (class, rules.into_iter().filter(|(one, _)| *one == class).map(|(_, rule)| rule).collect())
}

#[track_caller]
fn roots(old: &str, new: &str, class: Class, rules: &[&str]) {
    let found = judged(&facts(&with_root(old), &with_root(new)));
    assert_eq!((found.0, found.1.iter().map(String::as_str).collect::<Vec<_>>()), (class, rules.to_vec()), "{old} -> {new}");
}

/// Schemas of `spec` in flow style; `PUF` stands for what preserves unknown fields.
#[track_caller]
fn specs(old: &str, new: &str, class: Class, rules: &[&str]) {
    let root = |spec: &str| {
        format!("{{type: object, properties: {{spec: {}}}}}", spec.replace("PUF", "x-kubernetes-preserve-unknown-fields: true"))
    };
    roots(&root(old), &root(new), class, rules);
}

#[track_caller]
fn breaks(old: &str, new: &str, rules: &[&str]) {
    specs(old, new, Class::SemanticBreaking, rules);
}

#[track_caller]
fn adds(old: &str, new: &str, rules: &[&str]) {
    specs(old, new, Class::Additive, rules);
}

#[test]
fn what_is_required_is_told_where_declarations_go() {
    let old = "{type: object, properties: {a: {type: integer}}}";
    for open in ["PUF", "additionalProperties: true", "additionalProperties: {type: integer}"] {
        breaks(old, &format!("{{type: object, {open}, required: [a]}}"), &["required-added@spec.a"]);
        let required = "{type: object, properties: {a: {type: integer}}, required: [a]}";
        adds(
            required,
            &format!("{{type: object, {open}, required: [a]}}"),
            &[match open {
                "PUF" => "preserve-unknown-fields-added@spec",
                _ => "map-values-widened@spec",
            }],
        );
    }
    breaks(
        "{type: object, additionalProperties: {type: integer}}",
        "{type: object, properties: {a: {type: integer}}, required: [a]}",
        &["map-values-narrowed@spec", "required-added@spec.a"],
    );
}

/// The same change of `spec.o`.
#[track_caller]
fn objects(old: &str, new: &str, class: Class, rules: &[&str]) {
    let spec = |o: &str| format!("{{type: object, properties: {{o: {o}}}}}");
    specs(&spec(old), &spec(new), class, rules);
}

#[test]
fn undeclared_keys_that_were_kept_meet_the_new_schema() {
    let breaks = |old: &str, new: &str, rule| objects(old, new, Class::SemanticBreaking, &[rule]);
    let adds = |old: &str, new: &str, rule| objects(old, new, Class::Additive, &[rule]);
    let kept = "{type: object, PUF, properties: {a: {type: integer}}}";
    breaks(kept, "{type: object, additionalProperties: true}", "map-values-changed@spec.o");
    breaks(kept, "{type: object, additionalProperties: {type: integer}}", "map-values-narrowed@spec.o");
    adds(kept, "{type: object, additionalProperties: {PUF}}", "map-values-widened@spec.o");
    let emptied = "{type: object, additionalProperties: true, properties: {a: {type: integer}}}";
    breaks(emptied, "{type: object, additionalProperties: {type: integer}}", "map-values-narrowed@spec.o");
    adds(emptied, "{type: object, PUF}", "preserve-unknown-fields-added@spec.o");
    // a map whose keys are all kept, one of them declared as it was
    adds(
        "{type: object, additionalProperties: {type: integer}}",
        "{type: object, PUF, properties: {a: {type: integer}}}",
        "preserve-unknown-fields-added@spec.o",
    );
    breaks(
        "{type: object, additionalProperties: {type: integer}}",
        "{type: object, PUF, properties: {a: {type: string}}}",
        "preserve-unknown-fields-removed@spec.o",
    );
}

#[test]
fn defaults_in_values_of_a_map_go_with_their_schema() {
    let breaks = |old: &str, new: &str, rule| objects(old, new, Class::SemanticBreaking, &[rule]);
    let filled = "{type: object, additionalProperties: {type: object, properties: {x: {type: integer, default: 1}}}}";
    breaks(filled, "{type: object, PUF}", "preserve-unknown-fields-changed@spec.o");
    let scalar = "{type: object, additionalProperties: {type: integer, default: 1}}";
    breaks(scalar, "{type: object, additionalProperties: true}", "map-values-changed@spec.o");
    breaks(scalar, "{type: object, PUF, properties: {a: {type: integer}}}", "preserve-unknown-fields-changed@spec.o");
    // a field of that name is no default
    objects(
        "{type: object, properties: {default: {type: integer}}}",
        "{type: object, PUF}",
        Class::Additive,
        &["preserve-unknown-fields-added@spec.o"],
    );
}

#[test]
fn nulls_that_were_dropped_are_counted_where_keys_are_kept() {
    let breaks = |old: &str, new: &str, rule| objects(old, new, Class::SemanticBreaking, &[rule]);
    let map = |more: &str| format!("{{type: object, additionalProperties: {{type: string}}{more}}}");
    let kept = |more: &str| format!("{{type: object, PUF{more}}}");
    for more in [", maxProperties: 1", ", not: {required: [a]}"] {
        breaks(&map(more), &kept(more), "preserve-unknown-fields-changed@spec.o");
    }
    objects(&map(", minProperties: 1"), &kept(", minProperties: 1"), Class::Additive, &["preserve-unknown-fields-added@spec.o"]);
    let clause = ", allOf: [{properties: {d: {enum: [a]}}}]";
    breaks(
        &format!("{{type: object, properties: {{d: {{type: string}}}}{clause}}}"),
        &kept(clause),
        "preserve-unknown-fields-changed@spec.o",
    );
    breaks(&kept(", required: [a]"), "{type: object, additionalProperties: {PUF}, required: [a]}", "map-values-narrowed@spec.o");
    // what is counted from above
    let around = |o: &str| format!("{{type: object, properties: {{o: {o}}}, allOf: [{{properties: {{o: {{maxProperties: 1}}}}}}]}}");
    specs(&around(&map("")), &around(&kept("")), Class::SemanticBreaking, &["preserve-unknown-fields-changed@spec.o"]);
}

#[test]
fn a_new_default_is_noticed_from_above() {
    let fields = |more: &str| format!("{{type: object, properties: {{a: {{type: integer}}{more}}}}}");
    let filled = ", b: {type: integer, default: 5}";
    let check = |around: &dyn Fn(&str) -> String, rule: &str| {
        let (old, new) = (around(&fields("")), around(&fields(filled)));
        specs(&old, &new, Class::SemanticBreaking, &[rule]);
    };
    let over = |junctor: &str| {
        let junctor = junctor.to_owned();
        move |o: &str| format!("{{type: object, properties: {{p: {{type: string}}, o: {o}}}, {junctor}}}")
    };
    check(&over("allOf: [{properties: {o: {maxProperties: 1}}}]"), "accepted-narrowed@spec.o");
    check(&over("not: {required: [p], properties: {o: {minProperties: 2}}}"), "accepted-narrowed@spec.o");
    check(&over("anyOf: [{properties: {o: {enum: [{a: 1}]}}}, {required: [p]}]"), "accepted-narrowed@spec.o");
    check(
        &|o| {
            format!(
                "{{type: object, properties: {{l: {{type: array, items: {o}}}}}, allOf: [{{properties: {{l: {{items: {{maxProperties: 1}}}}}}}}]}}"
            )
        },
        "accepted-narrowed@spec.l[]",
    );
    let own = |more: &str, word: &str| format!("{{type: object, properties: {{a: {{type: integer}}{more}}}, {word}}}");
    objects(&own("", "enum: [{a: 1}]"), &own(filled, "enum: [{a: 1}]"), Class::SemanticBreaking, &["accepted-narrowed@spec.o"]);
    objects(&own("", "maxProperties: 1"), &own(filled, "maxProperties: 1"), Class::SemanticBreaking, &["accepted-narrowed@spec.o"]);
    objects(&own("", "maxProperties: 2"), &own(filled, "maxProperties: 2"), Class::Additive, &["field-added@spec.o.b"]);
    for demand in ["required: [b]", "allOf: [{required: [b]}]"] {
        let new = own(filled, &format!("maxProperties: 1, {demand}"));
        objects(&own("", "maxProperties: 1"), &new, Class::SemanticBreaking, &["accepted-narrowed@spec.o"]);
    }
    // a clause about the other field doesn't mind
    objects(&own("", "allOf: [{required: [a]}]"), &own(filled, "allOf: [{required: [a]}]"), Class::Additive, &["field-added@spec.o.b"]);
    // apiVersion, kind and metadata count as well
    let root = |most: u32, more: &str| format!("{{type: object, maxProperties: {most}, properties: {{spec: {{type: object}}{more}}}}}");
    let z = ", z: {type: integer, default: 1}";
    roots(&root(4, ""), &root(4, z), Class::SemanticBreaking, &["accepted-narrowed@"]);
    roots(&root(5, ""), &root(5, z), Class::Additive, &["field-added@z"]);
}

#[test]
fn nulls_that_are_kept_now_are_noticed() {
    let breaks = |old: &str, new: &str, rule| objects(old, new, Class::SemanticBreaking, &[rule]);
    let adds = |old: &str, new: &str, rule| objects(old, new, Class::Additive, &[rule]);
    let map = |null: &str, more: &str| format!("{{type: object, additionalProperties: {{type: integer{null}}}, {more}}}");
    let now = ", nullable: true";
    for more in ["maxProperties: 1", "x-kubernetes-validations: [{rule: \"self.all(k, k != 'bad')\"}]"] {
        breaks(&map("", more), &map(now, more), "null-handling-changed@spec.o{}");
    }
    adds(&map("", "minProperties: 1"), &map(now, "minProperties: 1"), "null-handling-widened@spec.o{}");
    let field =
        |null: &str, more: &str| format!("{{type: object, properties: {{a-b: {{type: integer{null}}}, c: {{type: integer}}}}, {more}}}");
    breaks(&field("", "maxProperties: 1"), &field(now, "maxProperties: 1"), "null-handling-changed@spec.o.a-b");
    adds(&field("", "maxProperties: 2"), &field(now, "maxProperties: 2"), "null-handling-widened@spec.o.a-b");
    let rule = "x-kubernetes-validations: [{rule: \"!has(self.a__dash__b)\"}]";
    breaks(&field("", rule), &field(now, rule), "null-handling-changed@spec.o.a-b");
    let above = |null: &str| {
        format!(
            "{{type: object, properties: {{o: {{type: object, properties: {{b: {{type: integer{null}}}}}}}}}, not: {{required: [o], properties: {{o: {{required: [b]}}}}}}}}"
        )
    };
    specs(&above(""), &above(now), Class::SemanticBreaking, &["null-handling-changed@spec.o.b"]);
}

#[test]
fn nulls_that_are_dropped_once_a_name_is_declared_are_missed() {
    let kept = |more: &str| format!("{{type: object, PUF{more}}}");
    let declared = ", properties: {a: {PUF}}";
    for more in [", required: [a]", ", minProperties: 1"] {
        let (old, new) = (kept(more), kept(&format!("{more}{declared}")));
        objects(&old, &new, Class::SemanticBreaking, &["field-added-under-preserve@spec.o.a"]);
    }
    objects(&kept(""), &kept(declared), Class::Additive, &["field-added@spec.o.a"]);
    objects(
        &kept(", required: [a]"),
        &kept(", required: [a], properties: {a: {PUF, nullable: true}}"),
        Class::Additive,
        &["field-added@spec.o.a"],
    );
}

/// The same change of an integer field.
#[track_caller]
fn integers(old: &str, new: &str, class: Class, rules: &[&str]) {
    objects(&format!("{{type: integer{old}}}"), &format!("{{type: integer{new}}}"), class, rules);
}

#[test]
fn a_fractional_bound_refuses_all_integers_beside_their_type_only() {
    for word in ["maximum: 2.5", "minimum: 0.5", "multipleOf: 2.5"] {
        for junctor in ["allOf", "anyOf", "oneOf"] {
            let (clause, spine) = (format!(", {junctor}: [{{{word}}}]"), format!(", {word}"));
            integers(&clause, &spine, Class::SemanticBreaking, &["accepted-narrowed@spec.o"]);
            integers(&spine, &clause, Class::Additive, &["accepted-widened@spec.o"]);
        }
    }
}

#[test]
fn a_multiple_of_nothing_refuses_everything() {
    for factor in ["-2", "0"] {
        let none = format!(", multipleOf: {factor}");
        integers("", &none, Class::SemanticBreaking, &["bound-narrowed@spec.o"]);
        integers(&none, "", Class::Additive, &["bound-widened@spec.o"]);
        integers(", multipleOf: 2", &none, Class::SemanticBreaking, &["bound-narrowed@spec.o"]);
    }
}

#[test]
fn integers_in_a_clause_meet_the_bound_as_they_are_written() {
    // 0 passes both, 0.0 only the first
    integers(", allOf: [{minimum: 0}]", ", allOf: [{minimum: 0.5}]", Class::SemanticBreaking, &["bound-narrowed@spec.o"]);
    // 1 and 1.0 are refused by both
    integers(", allOf: [{maximum: 0}]", ", maximum: 0", Class::None, &["schema-rewritten@spec.o", "schema-rewritten@spec.o"]);
}

#[test]
fn an_unserved_version_validates_nothing() {
    let crd = |served: bool, storage: bool, field: &str| {
        let version = |name: &str, served: bool, storage: bool, field: &str| {
            format!(
                "    - {{name: {name}, served: {served}, storage: {storage}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object{field}}}}}}}}}}}\n"
            )
        };
        format!(
            "{HEAD}  versions:\n{}{}",
            version("v1", served, storage, field),
            version("v2", true, !storage, ", properties: {a: {type: string}}")
        )
    };
    let field = |more: &str| format!(", properties: {{a: {{type: string{more}}}}}");
    let class = |served, storage, old: &str, new: &str| judged(&facts(&crd(served, storage, old), &crd(served, storage, new))).0;
    for storage in [false, true] {
        for (old, new) in [
            (field(", maxLength: 5"), field(", maxLength: 3")),
            (field(""), field(", enum: [x]")),
            (field(""), field(", x-kubernetes-validations: [{rule: \"self != 'x'\"}]")),
            (field(""), format!("{}, required: [a]", field(""))),
        ] {
            assert_eq!(class(false, storage, &old, &new), Class::None, "{old} -> {new}");
            assert_eq!(class(true, storage, &old, &new), Class::SemanticBreaking, "{old} -> {new}");
        }
        // objects that are stored at it are read through its schema
        assert_eq!(class(false, storage, &field(""), ""), Class::SemanticBreaking);
        assert_eq!(class(false, storage, &field(", default: x"), &field(", default: y")), Class::SemanticBreaking);
    }
}

#[test]
fn additional_properties_empty_objects_even_where_unknown_fields_are_preserved() {
    breaks("{type: object, PUF}", "{type: object, PUF, additionalProperties: true}", &["map-values-narrowed@spec"]);
    breaks(
        "{type: object, PUF, properties: {a: {type: string}}}",
        "{type: object, PUF, additionalProperties: true, properties: {a: {type: string}}}",
        &["map-values-narrowed@spec"],
    );
    breaks("{PUF}", "{PUF, additionalProperties: true}", &["map-values-narrowed@spec"]);
    adds("{type: object, PUF, additionalProperties: true}", "{type: object, PUF}", &["preserve-unknown-fields-added@spec"]);
    specs(
        "{type: object, additionalProperties: true}",
        "{type: object, PUF, additionalProperties: true}",
        Class::None,
        &["schema-rewritten@spec"],
    );
}

#[test]
fn items_of_a_list_that_preserves_preserve_too() {
    let list = |more: &str, item: &str| {
        format!(
            "{{type: object, properties: {{l: {{type: array{more}, items: {{type: object{item}, properties: {{a: {{type: string}}}}}}}}}}}}"
        )
    };
    breaks(&list(", PUF", ""), &list("", ""), &["preserve-unknown-fields-removed@spec.l[]"]);
    adds(&list("", ""), &list(", PUF", ""), &["preserve-unknown-fields-added@spec.l[]"]);
    specs(&list("", ", PUF"), &list(", PUF", ""), Class::None, &["schema-rewritten@spec.l", "schema-rewritten@spec.l[]"]);
    specs(&list(", PUF", ", PUF"), &list("", ", PUF"), Class::None, &["schema-rewritten@spec.l"]);
    let nested = |more: &str| format!("{{type: array{more}, items: {{type: array, items: {{type: object}}}}}}");
    breaks(&nested(", PUF"), &nested(""), &["preserve-unknown-fields-removed@spec[][]"]);
}

#[test]
fn a_format_reads_otherwise_in_a_clause_and_without_a_type() {
    let breaks = |old: &str, new: &str| objects(old, new, Class::SemanticBreaking, &["accepted-narrowed@spec.o"]);
    breaks("{type: integer, allOf: [{format: int32}]}", "{type: integer, format: int32}");
    objects("{type: integer, format: int32}", "{type: integer, allOf: [{format: int32}]}", Class::Additive, &["accepted-widened@spec.o"]);
    breaks("{x-kubernetes-int-or-string: true, format: ipv4}", "{x-kubernetes-int-or-string: true, allOf: [{format: ipv4}]}");
    breaks("{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}}, allOf: [{format: uuid}]}");
    breaks("{PUF}", "{PUF, format: password}");
    breaks("{type: integer, format: int32, allOf: [{maximum: 3000000000}]}", "{type: integer, format: int32, maximum: 3000000000}");
    // What only lists would show is no difference.
    objects(
        "{type: string, format: ipv4}",
        "{type: string, anyOf: [{format: ipv4}, {format: ipv6}]}",
        Class::Additive,
        &["format-widened@spec.o"],
    );
}

#[test]
fn defaults_are_compared_as_they_are_stored() {
    let field = |default: &str| {
        format!("{{type: object, default: {default}, properties: {{a: {{type: integer}}, b: {{type: integer, default: 2}}}}}}")
    };
    objects(&field("{a: 1}"), &field("{a: 1, b: 2}"), Class::None, &["schema-rewritten@spec.o"]);
    objects(&field("{a: 1}"), &field("{a: 1, b: 3}"), Class::SemanticBreaking, &["default-changed@spec.o"]);
    objects(
        "{type: array, items: {type: boolean}}",
        "{type: array, items: {type: boolean, default: true}}",
        Class::Additive,
        &["default-added-to-required@spec.o[]"],
    );
}

#[test]
fn what_the_server_sees_to_is_no_demand() {
    let bare = "{type: object, properties: {spec: {type: object}}}";
    roots(
        bare,
        "{type: object, required: [apiVersion, kind, metadata], properties: {spec: {type: object}}}",
        Class::None,
        &["schema-rewritten@apiVersion", "schema-rewritten@kind", "schema-rewritten@metadata"],
    );
    roots(
        "{x-kubernetes-preserve-unknown-fields: true}",
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        Class::None,
        &["schema-rewritten@"],
    );
    let embedded = |more: &str| format!("{{type: object, PUF, x-kubernetes-embedded-resource: true{more}}}");
    objects(
        &embedded(""),
        &embedded(", required: [apiVersion, kind]"),
        Class::None,
        &["schema-rewritten@spec.o.apiVersion", "schema-rewritten@spec.o.kind"],
    );
    objects(&embedded(""), &embedded(", required: [metadata]"), Class::SemanticBreaking, &["required-added@spec.o.metadata"]);
    objects(&embedded(""), "{type: object, PUF}", Class::Additive, &["accepted-widened@spec.o"]);
}

/// Two versions with a schema of `spec` each; the second one may be unserved, and the first or the second is stored.
fn versions(first: &str, second: &str, more: &str, stored: usize) -> String {
    let version = |name: &str, index: usize, spec: &str, more: &str| {
        let storage = index == stored;
        format!(
            "    - {{name: {name}, storage: {storage}, {more} schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}}}\n"
        )
    };
    let both = format!("{}{}", version("v1", 0, first, "served: true,"), version("v2", 1, second, more));
    format!("{HEAD}  versions:\n{}", both.replace("PUF", "x-kubernetes-preserve-unknown-fields: true"))
}

#[test]
fn what_an_absent_or_null_value_becomes_follows_the_stored_version() {
    let plain = "{type: object, properties: {a: {type: string}}}";
    for other in ["default: x", "nullable: true"] {
        let other = format!("{{type: object, properties: {{a: {{type: string, {other}}}}}}}");
        let (old, new) = (versions(&other, plain, "served: true,", 0), versions(&other, plain, "served: true,", 1));
        let found = judged(&facts(&old, &new));
        assert_eq!(found, (Class::SemanticBreaking, vec!["storage-moved-lossy@".to_owned()]), "{other}");
    }
    let (old, new) = (versions(plain, plain, "served: true,", 0), versions(plain, plain, "served: true,", 1));
    assert_eq!(judged(&facts(&old, &new)).0, Class::Additive);
}

#[test]
fn endpoints_of_a_version_that_is_not_served_hurt_nobody() {
    let spec = "{type: object, properties: {a: {type: string}}}";
    let with = |more: &str| versions(spec, spec, &format!("served: false, {more}"), 0);
    for more in ["subresources: {status: {}},", "selectableFields: [{jsonPath: .spec.a}],"] {
        assert_eq!(judged(&facts(&with(more), &with(""))).0, Class::None, "{more}");
        assert_eq!(judged(&facts(&with(""), &with(more))).0, Class::None, "{more}");
    }
}

#[test]
fn an_old_crd_is_namespaced_by_default() {
    let old = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.shop.example.com}\n\
               spec:\n  group: shop.example.com\n  names: {plural: widgets, kind: Widget}\n  version: v1\n";
    let scoped = |scope: &str| format!("{old}  scope: {scope}\n");
    assert_eq!(judged(&facts(old, &scoped("Namespaced"))), (Class::None, vec!["attribute-rewritten@".to_owned()]));
    assert_eq!(judged(&facts(old, &scoped("Cluster"))).0, Class::SemanticBreaking);
}

#[test]
fn an_object_shows_a_change_only_where_that_change_is_what_it_meets() {
    // The default that comes with the new field satisfies the rule, and that it is filled in is no sign of the rule.
    let rule = "x-kubernetes-validations: [{rule: \"self.mode == 'Legacy' || !has(self.keys)\"}]";
    let keys = "keys: {type: array, items: {type: string}}";
    specs(
        &format!("{{type: object, properties: {{{keys}}}}}"),
        &format!("{{type: object, properties: {{{keys}, mode: {{type: string, default: Legacy}}}}, {rule}}}"),
        Class::Additive,
        &["cel-rule-added-on-new-fields@spec", "field-added@spec.mode"],
    );
    // What an object without a name can't break is no break either, though a rule about the others is known to be one.
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
    // Of two new rules each has its own object, and a removed field is dropped from one that is fine otherwise.
    let old = "{type: object, properties: {a: {type: integer}, b: {type: integer}, c: {type: integer}}}";
    let new = "{type: object, required: [c], properties: {a: {type: integer}, c: {type: integer}}, \
               x-kubernetes-validations: [{rule: \"!has(self.a) || self.a > 1\"}, {rule: \"self.c > 5\"}]}";
    let shown = |fact: &Fact| fact.evidence.witness.as_ref().map(|witness| witness.because.clone()).unwrap_or_default();
    let found = facts(&with_spec(old), &with_spec(new));
    let because: Vec<String> = found.iter().map(|fact| format!("{} {:?}: {}", fact.path, fact.effect, shown(fact))).collect();
    assert_eq!(
        because,
        [
            "spec Added: spec: Invalid value: {\"a\":0,\"c\":6}: failed rule: !has(self.a) || self.a > 1",
            "spec Added: spec: Invalid value: {\"c\":0}: failed rule: self.c > 5",
            "spec.b Removed: spec.b is dropped",
            "spec.c Added: spec.c: Required value",
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

fn with_spec(spec: &str) -> String {
    with_root(&format!("{{type: object, properties: {{spec: {spec}}}}}"))
}

#[test]
fn an_embedded_resource_may_be_of_any_kind() {
    let embedded = "type: object, x-kubernetes-embedded-resource: true, PUF";
    let of = |properties: &str, more: &str| format!("{{{embedded}, properties: {{{properties}}}{more}}}");
    let named = "apiVersion: {type: string}, kind: {type: string}";
    for rule in ["self.apiVersion != 'apps/v1'", "!(self.kind in ['DaemonSet', 'StatefulSet'])"] {
        let rule = format!(", x-kubernetes-validations: [{{rule: \"{rule}\"}}]");
        objects(&of(named, ""), &of(named, &rule), Class::SemanticBreaking, &["cel-rule-added@spec.o"]);
    }
    // A sibling narrows, and only objects of such a kind can show it.
    for name in ["kind: {type: string, enum: [DaemonSet, StatefulSet]}", "apiVersion: {type: string, enum: [apps/v1]}"] {
        let beside = |most: u32| {
            format!("{{type: object, required: [f], properties: {{c: {{type: string, maxLength: {most}}}, f: {}}}}}", of(name, ""))
        };
        breaks(&beside(10), &beside(5), &["bound-narrowed@spec.c"]);
    }
    // What it declares of its metadata is pruned once it is no resource any more.
    let declared = of("metadata: {type: object}", "");
    objects(
        &declared,
        "{type: object, PUF, properties: {metadata: {type: object}}}",
        Class::SemanticBreaking,
        &["embedded-resource-removed@spec.o"],
    );
}

#[test]
fn what_is_kept_without_a_declaration_meets_a_new_field() {
    let list =
        |more: &str, rule: &str| format!("{{type: array, PUF, items: {{type: object, properties: {{a: {{type: string}}{more}}}{rule}}}}}");
    objects(&list("", ""), &list(", name: {type: string}", ""), Class::SemanticBreaking, &["field-added-under-preserve@spec.o[].name"]);
    let kept = "{type: object, properties: {f: {type: object, PUF, properties: {a: {type: string}}}}}";
    let closed = "{type: object, properties: {f: {type: object, PUF, properties: {a: {type: string}, e: {type: object}}}}}";
    let (old, new) = (versions(kept, closed, "served: true,", 0), versions(kept, closed, "served: true,", 1));
    assert_eq!(judged(&facts(&old, &new)), (Class::SemanticBreaking, vec!["storage-moved-lossy@".to_owned()]));
    // Where the version itself declares the field now, the storage has no part in it.
    let (old, new) = (versions(kept, kept, "served: true,", 0), versions(closed, closed, "served: true,", 1));
    let rules = judged(&facts(&old, &new)).1;
    assert!(rules.iter().all(|rule| rule.starts_with("field-added-under-preserve@")), "{rules:?}");
}

#[test]
fn what_is_always_there_is_no_new_field() {
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
    // Constants of another type than CEL's are no help.
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
fn a_selector_that_is_no_text_refuses_objects() {
    let with = |more: &str, ty: &str| {
        let scale = format!("subresources: {{scale: {{specReplicasPath: .spec.n, statusReplicasPath: .spec.n{more}}}}}");
        format!(
            "{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, {scale}, schema: {{openAPIV3Schema: {{type: object, \
             properties: {{spec: {{type: object, properties: {{n: {{type: integer}}, s: {{type: {ty}}}}}}}}}}}}}}}\n"
        )
    };
    let change = |ty: &str| judged(&facts(&with("", ty), &with(", labelSelectorPath: .spec.s", ty)));
    assert_eq!(change("string"), (Class::Additive, vec!["scale-subresource-added@".to_owned()]));
    assert_eq!(change("object"), (Class::SemanticBreaking, vec!["scale-subresource-changed@".to_owned()]));
}

#[test]
fn one_step_is_judged_by_itself() {
    // The default of a new field is counted among the keys that were kept before, not among those that are kept now.
    let field = |more: &str, limit: &str| format!("{{type: object, properties: {{d: {{type: string}}{more}}}, {limit}}}");
    for limit in ["maxProperties: 5", "anyOf: [{required: [d]}, {maxProperties: 2}]"] {
        let found = judged(&facts(
            &with_spec(&field("", limit)),
            &with_spec(&field(", a: {type: boolean, default: true}", &format!("{limit}, x-kubernetes-preserve-unknown-fields: true"))),
        ));
        assert_eq!(found.0, Class::Additive, "{limit}: {:?}", found.1);
    }
    // An embedded resource had to name its kind already.
    let embedded = "{type: object, PUF, x-kubernetes-embedded-resource: true}";
    objects(embedded, "{type: object, PUF, required: [apiVersion, kind]}", Class::Additive, &["accepted-widened@spec.o"]);
    // A null that is refused from now on was dropped before: nothing that is stored changes.
    let plain = "{type: object, properties: {a: {type: string, enum: [x]}}}";
    let nullable = "{type: object, properties: {a: {type: string, enum: [x], nullable: true}}}";
    let (old, new) = (versions(plain, nullable, "served: true,", 0), versions(plain, nullable, "served: true,", 1));
    assert_eq!(judged(&facts(&old, &new)).0, Class::Additive);
}
