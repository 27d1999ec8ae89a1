//! What a server itself prunes, defaults, requires and refuses.

use crate::model::fact::Ratchet;

use super::*;

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
fn a_format_means_something_else_in_a_clause_and_without_a_type() {
    let breaks = |old: &str, new: &str| objects(old, new, Class::SemanticBreaking, &["format-narrowed@spec.o"]);
    breaks("{type: integer, allOf: [{format: int32}]}", "{type: integer, format: int32}");
    objects("{type: integer, format: int32}", "{type: integer, allOf: [{format: int32}]}", Class::Additive, &["format-widened@spec.o"]);
    breaks("{x-kubernetes-int-or-string: true, format: ipv4}", "{x-kubernetes-int-or-string: true, allOf: [{format: ipv4}]}");
    breaks("{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}}, allOf: [{format: uuid}]}");
    breaks("{PUF}", "{PUF, format: password}");
    objects(
        "{type: integer, format: int32, allOf: [{maximum: 3000000000}]}",
        "{type: integer, format: int32, maximum: 3000000000}",
        Class::SemanticBreaking,
        &["bound-narrowed@spec.o"],
    );
    // A string with its own format, and only such a string, may be a list.
    objects(
        "{type: string, format: ipv4}",
        "{type: string, anyOf: [{format: ipv4}, {format: ipv6}]}",
        Class::SemanticBreaking,
        &["format-removed@spec.o", "composition-narrowed@spec.o"],
    );
    objects("{type: string, format: ipv4}", "{type: string}", Class::SemanticBreaking, &["format-removed@spec.o"]);
    objects("{type: string, format: password}", "{type: string}", Class::SemanticBreaking, &["format-removed@spec.o"]);
    breaks("{type: string}", "{type: string, format: ipv4}");
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
fn what_the_server_ensures_is_not_a_requirement() {
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

#[test]
fn absent_and_null_values_depend_on_the_stored_version() {
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
fn endpoints_of_an_unserved_version_affect_nobody() {
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
fn an_embedded_resource_may_be_of_any_kind() {
    let embedded = "type: object, x-kubernetes-embedded-resource: true, PUF";
    let of = |properties: &str, more: &str| format!("{{{embedded}, properties: {{{properties}}}{more}}}");
    let named = "apiVersion: {type: string}, kind: {type: string}";
    for rule in ["self.apiVersion != 'apps/v1'", "!(self.kind in ['DaemonSet', 'StatefulSet'])"] {
        let rule = format!(", x-kubernetes-validations: [{{rule: \"{rule}\"}}]");
        objects(&of(named, ""), &of(named, &rule), Class::SemanticBreaking, &["cel-rule-added@spec.o"]);
    }
    // A sibling field accepts fewer values, and only objects of such a kind can show it.
    for name in ["kind: {type: string, enum: [DaemonSet, StatefulSet]}", "apiVersion: {type: string, enum: [apps/v1]}"] {
        let beside = |most: u32| {
            format!("{{type: object, required: [f], properties: {{c: {{type: string, maxLength: {most}}}, f: {}}}}}", of(name, ""))
        };
        breaks(&beside(10), &beside(5), &["bound-narrowed@spec.c"]);
    }
    // Its declared metadata is pruned once it is no longer a resource.
    let declared = of("metadata: {type: object}", "");
    objects(
        &declared,
        "{type: object, PUF, properties: {metadata: {type: object}}}",
        Class::SemanticBreaking,
        &["embedded-resource-removed@spec.o"],
    );
}

#[test]
fn kept_undeclared_values_are_validated_by_a_new_field() {
    let list =
        |more: &str, rule: &str| format!("{{type: array, PUF, items: {{type: object, properties: {{a: {{type: string}}{more}}}{rule}}}}}");
    objects(&list("", ""), &list(", name: {type: string}", ""), Class::SemanticBreaking, &["field-added-under-preserve@spec.o[].name"]);
    let kept = "{type: object, properties: {f: {type: object, PUF, properties: {a: {type: string}}}}}";
    let closed = "{type: object, properties: {f: {type: object, PUF, properties: {a: {type: string}, e: {type: object}}}}}";
    let (old, new) = (versions(kept, closed, "served: true,", 0), versions(kept, closed, "served: true,", 1));
    assert_eq!(judged(&facts(&old, &new)), (Class::SemanticBreaking, vec!["storage-moved-lossy@".to_owned()]));
    // If the version itself declares the field now, the storage version doesn't matter.
    let (old, new) = (versions(kept, kept, "served: true,", 0), versions(closed, closed, "served: true,", 1));
    let rules = judged(&facts(&old, &new)).1;
    assert!(rules.iter().all(|rule| rule.starts_with("field-added-under-preserve@")), "{rules:?}");
}

#[test]
fn one_step_is_judged_by_itself() {
    // The default of a new field counts among the keys kept before, not among those kept now.
    let field = |more: &str, limit: &str| format!("{{type: object, properties: {{d: {{type: string}}{more}}}, {limit}}}");
    for limit in ["maxProperties: 5", "anyOf: [{required: [d]}, {maxProperties: 2}]"] {
        let found = judged(&facts(
            &with_spec(&field("", limit)),
            &with_spec(&field(", a: {type: boolean, default: true}", &format!("{limit}, x-kubernetes-preserve-unknown-fields: true"))),
        ));
        assert_eq!(found.0, Class::Additive, "{limit}: {:?}", found.1);
    }
    // An embedded resource already had to state its kind.
    let embedded = "{type: object, PUF, x-kubernetes-embedded-resource: true}";
    objects(embedded, "{type: object, PUF, required: [apiVersion, kind]}", Class::Additive, &["accepted-widened@spec.o"]);
    // A null that is refused from now on was dropped before, so nothing stored changes.
    let plain = "{type: object, properties: {a: {type: string, enum: [x]}}}";
    let nullable = "{type: object, properties: {a: {type: string, enum: [x], nullable: true}}}";
    let (old, new) = (versions(plain, nullable, "served: true,", 0), versions(plain, nullable, "served: true,", 1));
    assert_eq!(judged(&facts(&old, &new)).0, Class::Additive);
}

/// Whether an update passes that keeps a newly invalid value is decided by the server model, with the object that proves the break.
#[test]
fn ratcheting_is_what_the_server_does_with_the_object() {
    let ratchet = |old: &str, new: &str| {
        let spec = |field: &str| {
            let field = field.replace("PUF", "x-kubernetes-preserve-unknown-fields: true");
            with_root(&format!("{{type: object, properties: {{spec: {{type: object, properties: {{f: {field}}}}}}}}}"))
        };
        let facts = facts(&spec(old), &spec(new));
        facts.iter().find_map(|fact| fact.ratchet).unwrap_or_else(|| panic!("{facts:?}"))
    };
    assert_eq!(ratchet("{type: string}", "{type: string, maxLength: 3}"), Ratchet::Field);
    assert_eq!(ratchet("{type: array, items: {type: string}}", "{type: array, items: {type: string}, maxItems: 1}"), Ratchet::Container);
    let set = "{type: array, items: {type: string}, x-kubernetes-list-type: set}";
    assert_eq!(ratchet("{type: array, items: {type: string}}", set), Ratchet::Always);
    let rule = |rule: &str| format!("{{type: string, maxLength: 20, x-kubernetes-validations: [{{rule: \"{rule}\"}}]}}");
    assert_eq!(ratchet("{type: string, maxLength: 20}", &rule("self != 'a'")), Ratchet::Field);
    // A rule with a runtime error isn't ratcheted, nor is an object with undeclared keys.
    assert_eq!(ratchet("{type: string, maxLength: 20}", &rule("duration(self) > duration('1ms')")), Ratchet::Never);
    assert_eq!(ratchet("{type: object, PUF}", "{type: object, PUF, maxProperties: 3}"), Ratchet::Never);
}
