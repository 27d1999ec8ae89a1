//! Tests with pairs of small bundles, the facts between them, and the rules that judge them; also recorded servers, and general
//! laws.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

use crate::find::change::{ChangeOptions, diff};
use crate::judge::finding::Class;
use crate::judge::policy::Policy;
use crate::judge::review::{Judgement, Side, review};
use crate::judge::rule::Book;
use crate::model::fact::{Affected, Aspect, Fact};
use crate::model::{Bundle, Documents};
use crate::testing::HEAD;

mod changes;
mod made_up_changes;
mod made_up_objects;
mod made_up_schemas;
mod mutations;
mod proofs;
mod refutations;
mod release_steps;
mod rule_changes;
mod rule_pairs;
mod rules;
mod scale;
mod schema_pairs;
mod server;
mod server_verdicts;
mod shown_breaks;
mod version_loss;

fn facts(old: &str, new: &str) -> Vec<Fact> {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    let (old, new) = (Bundle::read(&old), Bundle::read(&new));
    assert!(old.problems.is_empty() && new.problems.is_empty(), "{:?} {:?}", old.problems, new.problems);
    diff(&old, &new, &ChangeOptions::default())
}

/// A CRD with one version, whose root schema is given in flow style.
fn with_root(schema: &str) -> String {
    format!("{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n")
}

/// The worst class of all facts, and the rules and paths of the facts that have it.
fn judged(facts: &[Fact]) -> (Class, Vec<String>) {
    let rules: Vec<_> = facts
        .iter()
        .map(|fact| {
            let rule = Book::builtin().choose(fact, "").expect("a rule for every fact");
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

/// Compares two schemas of `spec` in flow style; `PUF` is replaced with the keyword that preserves unknown fields.
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
fn required_fields_are_reported_when_declarations_are_removed() {
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

/// The same for a change of `spec.o`.
#[track_caller]
fn objects(old: &str, new: &str, class: Class, rules: &[&str]) {
    let spec = |o: &str| format!("{{type: object, properties: {{o: {o}}}}}");
    specs(&spec(old), &spec(new), class, rules);
}

#[test]
fn kept_undeclared_keys_are_validated_by_the_new_schema() {
    let breaks = |old: &str, new: &str, rule| objects(old, new, Class::SemanticBreaking, &[rule]);
    let adds = |old: &str, new: &str, rule| objects(old, new, Class::Additive, &[rule]);
    let kept = "{type: object, PUF, properties: {a: {type: integer}}}";
    breaks(kept, "{type: object, additionalProperties: true}", "map-values-changed@spec.o");
    breaks(kept, "{type: object, additionalProperties: {type: integer}}", "map-values-narrowed@spec.o");
    adds(kept, "{type: object, additionalProperties: {PUF}}", "map-values-widened@spec.o");
    let emptied = "{type: object, additionalProperties: true, properties: {a: {type: integer}}}";
    breaks(emptied, "{type: object, additionalProperties: {type: integer}}", "map-values-narrowed@spec.o");
    adds(emptied, "{type: object, PUF}", "preserve-unknown-fields-added@spec.o");
    // A map whose keys are all kept, one of them declared with the same schema.
    adds(
        "{type: object, additionalProperties: {type: integer}}",
        "{type: object, PUF, properties: {a: {type: integer}}}",
        "preserve-unknown-fields-added@spec.o",
    );
    breaks(
        "{type: object, additionalProperties: {type: integer}}",
        "{type: object, PUF, properties: {a: {type: string}}}",
        "preserve-unknown-fields-changed@spec.o",
    );
}

#[test]
fn defaults_in_map_values_are_removed_with_their_schema() {
    let breaks = |old: &str, new: &str, rule| objects(old, new, Class::SemanticBreaking, &[rule]);
    let filled = "{type: object, additionalProperties: {type: object, properties: {x: {type: integer, default: 1}}}}";
    breaks(filled, "{type: object, PUF}", "preserve-unknown-fields-changed@spec.o");
    let scalar = "{type: object, additionalProperties: {type: integer, default: 1}}";
    breaks(scalar, "{type: object, additionalProperties: true}", "map-values-changed@spec.o");
    breaks(scalar, "{type: object, PUF, properties: {a: {type: integer}}}", "preserve-unknown-fields-changed@spec.o");
    // A field named `default` isn't a default.
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
    // Conditions of a parent count it.
    let around = |o: &str| format!("{{type: object, properties: {{o: {o}}}, allOf: [{{properties: {{o: {{maxProperties: 1}}}}}}]}}");
    specs(&around(&map("")), &around(&kept("")), Class::SemanticBreaking, &["preserve-unknown-fields-changed@spec.o"]);
}

#[test]
fn parent_conditions_see_a_new_default() {
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
    // A clause about the other field isn't affected.
    objects(&own("", "allOf: [{required: [a]}]"), &own(filled, "allOf: [{required: [a]}]"), Class::Additive, &["field-added@spec.o.b"]);
    // apiVersion, kind and metadata count as well.
    let root = |most: u32, more: &str| format!("{{type: object, maxProperties: {most}, properties: {{spec: {{type: object}}{more}}}}}");
    let z = ", z: {type: integer, default: 1}";
    roots(&root(4, ""), &root(4, z), Class::SemanticBreaking, &["accepted-narrowed@"]);
    roots(&root(5, ""), &root(5, z), Class::Additive, &["field-added@z"]);
}

#[test]
fn newly_kept_nulls_are_reported() {
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
fn nulls_dropped_by_a_new_declaration_are_reported() {
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

/// The same for a change of an integer field.
#[track_caller]
fn integers(old: &str, new: &str, class: Class, rules: &[&str]) {
    objects(&format!("{{type: integer{old}}}"), &format!("{{type: integer{new}}}"), class, rules);
}

#[test]
fn a_fractional_bound_refuses_all_integers_beside_their_type_only() {
    for word in ["maximum: 2.5", "minimum: 0.5", "multipleOf: 2.5"] {
        for junctor in ["allOf", "anyOf", "oneOf"] {
            let (clause, spine) = (format!(", {junctor}: [{{{word}}}]"), format!(", {word}"));
            integers(&clause, &spine, Class::SemanticBreaking, &["bound-narrowed@spec.o"]);
            integers(&spine, &clause, Class::Additive, &["bound-widened@spec.o"]);
        }
    }
}

#[test]
fn bounds_are_compared_by_the_numbers_that_meet_them() {
    let integers = |old: &str, new: &str, class, rules: &[&str]| integers(&format!(", {old}"), &format!(", {new}"), class, rules);
    let numbers = |old: &str, new: &str, class, rules: &[&str]| {
        objects(&format!("{{type: number, {old}}}"), &format!("{{type: number, {new}}}"), class, rules);
    };
    let (breaking, narrowed) = (Class::SemanticBreaking, &["bound-narrowed@spec.o"]);
    // An exclusive bound of integers is equivalent to an inclusive one.
    let same = &["schema-rewritten@spec.o", "schema-rewritten@spec.o"];
    integers("minimum: 9, exclusiveMinimum: true", "minimum: 10", Class::None, same);
    integers("maximum: 10", "maximum: 11, exclusiveMaximum: true", Class::None, same);
    numbers("minimum: 9, exclusiveMinimum: true", "minimum: 10", breaking, narrowed);
    // For an integer, the bound is truncated to an integer: 2 was refused by the exclusive 2.5 and is accepted now, 2.2 the
    // reverse.
    numbers("maximum: 2.5, exclusiveMaximum: true", "maximum: 2", breaking, &["bound-changed@spec.o"]);
    numbers("minimum: 0.5", "minimum: 0", Class::Additive, &["bound-widened@spec.o"]);
    // The server reads bounds as floats.
    integers("maximum: 9223372036854775807", "maximum: 9223372036854775806", Class::None, &["schema-rewritten@spec.o"]);
    integers("multipleOf: 4", "multipleOf: 2", Class::Additive, &["bound-widened@spec.o"]);
    integers("minimum: 0", "minimum: 0, multipleOf: 1", Class::None, &["schema-rewritten@spec.o"]);
    numbers("minimum: 0", "minimum: 0, multipleOf: 1", breaking, narrowed);
    integers("multipleOf: 4", "multipleOf: 6", breaking, &["bound-changed@spec.o"]);
}

#[test]
fn formats_are_compared_by_the_texts_that_have_them() {
    let formats = |old: &str, new: &str, class, rules: &[&str]| {
        objects(&format!("{{type: string, format: {old}}}"), &format!("{{type: string, format: {new}}}"), class, rules);
    };
    formats("date-time", "datetime", Class::None, &["schema-rewritten@spec.o"]);
    formats("quantity", "int32", Class::None, &["schema-rewritten@spec.o"]);
    formats("uuid", "uuid4", Class::SemanticBreaking, &["format-narrowed@spec.o"]);
    formats("uuid4", "uuid", Class::Additive, &["format-widened@spec.o"]);
    // For a list, it restricts nothing.
    objects(
        "{type: array, items: {type: string}}",
        "{type: array, format: cidr, items: {type: string}}",
        Class::None,
        &["schema-rewritten@spec.o"],
    );
    formats("date", "email", Class::SemanticBreaking, &["format-changed@spec.o"]);
}

#[test]
fn a_multiple_of_zero_refuses_everything() {
    for factor in ["-2", "0"] {
        let none = format!(", multipleOf: {factor}");
        integers("", &none, Class::SemanticBreaking, &["bound-narrowed@spec.o"]);
        integers(&none, "", Class::Additive, &["bound-widened@spec.o"]);
        integers(", multipleOf: 2", &none, Class::SemanticBreaking, &["bound-narrowed@spec.o"]);
    }
}

#[test]
fn integers_in_a_clause_meet_the_bound_as_they_are_sent() {
    // 0 passes both; 0.0 passes only the first, but clients send it as 0.
    integers(", allOf: [{minimum: 0}]", ", allOf: [{minimum: 0.5}]", Class::None, &["schema-rewritten@spec.o"]);
    // Both refuse 1.
    integers(", allOf: [{maximum: 0}]", ", maximum: 0", Class::None, &["schema-rewritten@spec.o", "schema-rewritten@spec.o"]);
}

#[test]
fn what_no_object_could_have_is_accepted_now() {
    let spec = |o: &str| format!("{{type: object, properties: {{o: {o}}}}}");
    let (never, text) = ("{type: integer, not: {}}", "{type: string}");
    specs(&spec(never), &spec(text), Class::Additive, &["accepted-widened@spec.o"]);
    specs(&spec(never), &spec("{type: string, not: {}}"), Class::None, &["schema-rewritten@spec.o"]);
}

#[test]
fn nothing_changes_where_no_object_could_be() {
    let never = "{type: object, properties: {c: {type: string}}, required: [c], not: {required: [c]}, PUF";
    objects(&format!("{never}}}"), &format!("{never}, x-kubernetes-embedded-resource: true}}"), Class::None, &["schema-rewritten@spec.o"]);
    // The solver can't build an IP address, but one shows that the schema accepts something.
    let ip = |more: &str| {
        let rule = "x-kubernetes-validations: [{rule: isIP(self.s)}]";
        let spec = format!("{{type: object, required: [s], properties: {{s: {{type: string, maxLength: 40{more}}}}}, {rule}}}");
        format!("{{type: object, required: [spec], properties: {{spec: {spec}}}}}")
    };
    roots(&ip(""), &ip(", minLength: 1"), Class::None, &["schema-rewritten@spec.s"]);
    let shorter = ip("").replace("maxLength: 40", "maxLength: 39");
    roots(&ip(""), &shorter, Class::SemanticBreaking, &["bound-narrowed@spec.s"]);
}

#[test]
fn values_that_are_only_accepted_now_are_no_rewrite() {
    let spec = |values: &str| {
        let even = "allOf: [{properties: {a: {multipleOf: 2}}}]";
        format!("{{type: object, properties: {{a: {{type: integer, enum: {values}}}}}, {even}}}")
    };
    specs(&spec("[0, 3]"), &spec("[0, 2]"), Class::Additive, &["accepted-widened@spec.a"]);
    specs(&spec("[0, 3]"), &spec("[0, 1]"), Class::None, &["schema-rewritten@spec.a"]);
    // Other keys are kept now.
    let fields = "{type: object, properties: {k: {type: object, properties: {c: {type: string, default: d}}}}}";
    let map = "{type: object, additionalProperties: {type: object, properties: {c: {type: string, default: d}}}}";
    specs(fields, map, Class::Additive, &["accepted-widened@spec"]);
    // Updates may change the value now.
    let text = |rule: &str| {
        format!("{{type: object, properties: {{c: {{type: string, enum: [a, b], x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}}}}}")
    };
    specs(&text("self == oldSelf"), &text("self != 'abc'"), Class::Additive, &["cel-rule-widened@spec.c"]);
}

#[test]
fn requests_that_are_refused_because_of_another_stored_value_are_writers() {
    let writers = |old: &str, new: &str| {
        let root = |spec: &str| with_root(&format!("{{type: object, properties: {{spec: {spec}}}}}"));
        let found = facts(&root(old), &root(new));
        assert!(found.iter().any(|fact| fact.affects.contains(Affected::Writers)), "{old} -> {new}: {found:?}");
    };
    let needs = |b: &str, more: &str| format!("{{type: object, properties: {{b: {{type: integer{b}}}, c: {{type: integer}}}}, {more}}}");
    let rule = "x-kubernetes-validations: [{rule: \"!has(self.c) || has(self.b)\"}]";
    writers(&needs(", default: 4", rule), &needs("", rule));
    writers(&needs("", "not: {required: [b, c]}"), &needs(", default: 4", "not: {required: [b, c]}"));
    let null = "anyOf: [{required: [b]}, {required: [c]}]";
    writers(&needs(", nullable: true", null), &needs("", null));
    // A list that must not have duplicates any more is another change.
    let list = |default: &str, kind: &str| {
        let item = format!("{{type: object, required: [b], properties: {{b: {{type: string}}, c: {{type: string{default}}}}}}}");
        with_root(&format!(
            "{{type: object, properties: {{spec: {{type: object, properties: {{l: {{type: array, items: {item}{kind}}}}}}}}}}}"
        ))
    };
    let map = ", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b]";
    let found = facts(&list("", ""), &list(", default: d", map));
    let default = found.iter().find(|fact| fact.aspect == Aspect::Default).expect("a default is added");
    assert!(!default.affects.contains(Affected::Writers), "{default:?}");
    let map = "{type: object, additionalProperties: {type: integer}}";
    writers(map, "{type: object, properties: {a: {type: integer, minimum: 5}}}");
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
        // Objects stored at it are read through its schema.
        assert_eq!(class(false, storage, &field(""), ""), Class::SemanticBreaking);
        assert_eq!(class(false, storage, &field(", default: x"), &field(", default: y")), Class::SemanticBreaking);
    }
}

#[test]
fn objects_of_another_version_may_be_lost_in_one_that_accepts_nothing() {
    let (closed, open) = ("{type: object, PUF, not: {}}", "{type: object, PUF}");
    let class = |stored: usize, other: &str| {
        let spec = |field: &str| format!("{{type: object, properties: {{s: {field}}}}}");
        let with = |field: &str| versions(&spec(field), &spec(open), other, stored);
        judged(&facts(&with(closed), &with("{type: string}"))).0
    };
    // What v2 accepts is pruned by v1, where it is stored or read.
    assert_eq!(class(0, "served: true,"), Class::SemanticBreaking);
    assert_eq!(class(1, "served: true,"), Class::SemanticBreaking);
    assert_eq!(class(0, "served: false,"), Class::Additive);
}

/// Builds two versions, each with a schema of `spec`; the second may be unserved, and either can be the storage version.
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

fn with_spec(spec: &str) -> String {
    with_root(&format!("{{type: object, properties: {{spec: {spec}}}}}"))
}

#[test]
fn a_fingerprint_covers_the_edit_and_not_what_is_around_it() {
    let crd = |maximum: u32| {
        with_root(&format!(
            "{{type: object, properties: {{spec: {{type: object, properties: {{a: {{type: integer, maximum: {maximum}}}}}}}}}}}"
        ))
    };
    let print = |old: u32, new: u32, rule: &str| -> String {
        let (old, new) = (Documents::of_text("old.yaml", &crd(old)), Documents::of_text("new.yaml", &crd(new)));
        let policy = Policy::find("guidelines").expect("a policy");
        let report = review(&Side::new("old", &old), &Side::new("new", &new), &Judgement::new(Book::builtin(), &policy));
        let finding = report.findings.iter().find(|finding| finding.rule == rule);
        finding.map(|finding| finding.fingerprint.clone()).unwrap_or_else(|| panic!("no {rule}"))
    };
    assert_eq!(print(10, 5, "bound-narrowed"), print(10, 5, "bound-narrowed"));
    assert_ne!(print(10, 5, "bound-narrowed"), print(5, 3, "bound-narrowed"));
    assert_ne!(print(10, 5, "bound-narrowed"), print(10, 4, "bound-narrowed"));
    let lint = "preserve-unknown-fields-missing";
    assert_eq!(print(10, 5, lint), print(5, 3, lint));
}
