//! Cases in addition to the rule pages: near misses, and the effects of an update.

use crate::model::fact::Fact;
use crate::model::{Bundle, Documents};
use crate::testing::HEAD;

use super::{create, update};

fn facts(text: &str) -> Vec<Fact> {
    let documents = Documents::of_text("crd.yaml", text);
    let bundle = Bundle::read(&documents);
    assert!(bundle.problems.is_empty(), "{:?}\n{text}", bundle.problems);
    bundle.crds.iter().flat_map(|crd| create(crd).facts).collect()
}

fn refusals(text: &str) -> Vec<String> {
    facts(text).iter().filter(|fact| fact.is_refusal()).map(|fact| format!("{}/{}", fact.aspect, fact.effect)).collect()
}

/// A CRD with one version, whose root schema is given in flow style.
fn with_root(schema: &str) -> String {
    format!("{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n")
}

/// The same with the schema of `spec.f`.
fn with_field(schema: &str) -> String {
    with_root(&format!("{{type: object, properties: {{spec: {{type: object, properties: {{f: {schema}}}}}}}}}"))
}

fn with_versions(list: &[&str]) -> String {
    let lines: Vec<String> = list.iter().map(|version| format!("    - {version}\n")).collect();
    format!("{HEAD}  versions:\n{}", lines.concat())
}

#[track_caller]
fn field(schema: &str, expected: &[&str]) {
    assert_eq!(refusals(&with_field(schema)), expected, "{schema}");
}

#[track_caller]
fn root(schema: &str, expected: &[&str]) {
    assert_eq!(refusals(&with_root(schema)), expected, "{schema}");
}

#[test]
fn structure_near_misses() {
    field("{x-kubernetes-preserve-unknown-fields: true}", &[]);
    field("{type: object, additionalProperties: {}}", &["type/missing"]);
    field("{type: array, items: []}", &["items/missing"]);
    field("{type: array, items: true}", &["items/missing"]);
    field("{type: array, items: [{type: string}]}", &["keyword/forbidden"]);
    field("{type: string, items: {type: string}}", &[]);
    field("{type: string, anyOf: [{type: string}, {type: integer}]}", &["structure/forbidden", "structure/forbidden"]);
    field("{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string, description: ''}]}", &[]);
    field("{x-kubernetes-int-or-string: true, anyOf: [{type: integer, format: int32}, {type: string}]}", &["structure/forbidden"; 2]);
    for (nothing, expected) in [
        ("items: []", &[][..]),
        ("additionalProperties: false", &[]),
        ("definitions: {}", &[]),
        ("properties: {}", &["structure/forbidden"; 2]),
        ("example: 1", &["structure/forbidden"; 2]),
        ("externalDocs: {}", &["structure/forbidden"; 2]),
    ] {
        field(&format!("{{x-kubernetes-int-or-string: true, anyOf: [{{type: integer, {nothing}}}, {{type: string}}]}}"), expected);
    }
    field("{x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}], pattern: x}]}", &[]);
    field(
        "{x-kubernetes-int-or-string: true, allOf: [{pattern: x}, {anyOf: [{type: integer}, {type: string}]}]}",
        &["structure/forbidden"; 2],
    );
    field(
        "{x-kubernetes-int-or-string: true, allOf: [{allOf: [{anyOf: [{type: integer}, {type: string}]}]}]}",
        &["structure/forbidden"; 2],
    );
    field("{x-kubernetes-int-or-string: true, oneOf: [{type: integer}, {type: string}]}", &["structure/forbidden"; 2]);
    let pair = "{anyOf: [{type: integer}, {type: string}]}";
    field(
        &format!("{{type: object, properties: {{a: {{x-kubernetes-int-or-string: true}}}}, allOf: [{{properties: {{a: {pair}}}}}]}}"),
        &["structure/forbidden"; 2],
    );
    field(
        &format!("{{type: array, items: {{x-kubernetes-int-or-string: true}}, allOf: [{{items: {pair}}}]}}"),
        &["structure/forbidden"; 2],
    );
    field("{type: string, not: {anyOf: [{title: x}]}}", &["structure/forbidden"]);
    field("{type: object, properties: {a: {type: string}}, anyOf: [{properties: {metadata: {minLength: 1}}}]}", &["metadata/forbidden"]);
    field("{type: string, allOf: [{pattern: '['}]}", &["pattern/invalid"]);
    field("{type: string, allOf: [{additionalProperties: {type: string}}]}", &["structure/forbidden"]);
}

#[test]
fn keywords_near_misses() {
    field("{type: object, properties: {a: {type: string}}, additionalProperties: false}", &["additional-properties/mixed"]);
    field("{type: object, additionalProperties: false}", &[]);
    field("{type: string, definitions: {}, patternProperties: {}, id: ''}", &[]);
    field("{type: string, dependencies: {}}", &["keyword/forbidden"]);
    field("{type: string, $ref: ''}", &["keyword/forbidden"]);
    field("{type: string, $schema: x}", &["keyword/forbidden"]);
    field("{type: array, items: {type: string}, additionalItems: false}", &["keyword/forbidden"]);
    field("{type: string, uniqueItems: false}", &[]);
    field("{type: string, x-kubernetes-list-type: ''}", &["list-type/mismatched", "list-type/unknown"]);
    field("{type: array, x-kubernetes-list-type: set, items: {type: array, items: {type: string}}}", &[]);
    field("{type: array, x-kubernetes-list-type: set, items: {type: string, nullable: true}}", &["items/invalid"]);
    field("{type: array, x-kubernetes-list-map-keys: []  , items: {type: string}}", &[]);
}

#[test]
fn values_that_cannot_be_decoded() {
    for (schema, wanted) in [
        ("{type: 5}", true),
        ("{type: object, properties: []}", true),
        ("{type: string, maxLength: 1.5}", true),
        ("{type: string, maxLength: 1.0}", false),
        ("{type: string, maxLength: '5'}", true),
        ("{type: string, nullable: 'true'}", true),
        ("{type: string, nullable: yes}", false),
        ("{type: string, enum: a}", true),
        ("{type: object, additionalProperties: x}", true),
        ("{type: string, not: true}", true),
        ("{type: string, description: 5}", true),
        ("{type: string, description: null, maxLength: null, properties: null}", false),
        ("{type: object, required: a}", true),
        ("{type: string, x-kubernetes-validations: [{rule: 5}]}", true),
        ("{type: string, default: {a: [1]}, example: [x]}", false),
    ] {
        let found = refusals(&with_field(schema));
        assert_eq!(found.contains(&"document/invalid".to_owned()), wanted, "{schema}: {found:?}");
    }
    let text = with_field("{type: string}").replace("metadata: {name: ", "metadata: {labels: {a: true}, name: ");
    assert_eq!(refusals(&text), ["document/invalid"]);
}

#[test]
fn root_near_misses() {
    root("{x-kubernetes-preserve-unknown-fields: true}", &[]);
    root("{type: object, additionalProperties: {type: string}}", &["additional-properties/misplaced"]);
    root("{type: object, properties: {metadata: {type: object, properties: {name: {type: string}, generateName: {type: string}}}}}", &[]);
    root(
        "{type: object, properties: {metadata: {type: object, properties: {name: {type: string}, labels: {type: object}}}}}",
        &["metadata/invalid"],
    );
    root("{type: object, properties: {metadata: {type: object, required: []}}}", &["metadata/invalid"]);
    root("{type: object, properties: {metadata: {type: object, nullable: false, title: ''}}}", &[]);
    root("{type: object, properties: {apiVersion: {type: string, default: v1}}}", &["default/forbidden"]);
    root("{type: object, not: {properties: {x: {}}}}", &["structure/unresolved"]);
    root("{type: object, properties: {a: {type: array, items: {type: string}}}, allOf: [{properties: {a: {items: {minLength: 1}}}}]}", &[]);
    root("{type: object, properties: {a: {type: string}}, allOf: [{properties: {a: {items: {minLength: 1}}}}]}", &["structure/unresolved"]);
    root("{type: object, default: {}}", &["default/invalid", "default/invalid"]);
}

#[test]
fn defaults_inside_embedded_metadata() {
    let resource = |inner: &str| {
        format!(
            "{{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {{{inner}}}}}"
        )
    };
    field(&resource("apiVersion: {type: string, default: v1}, kind: {type: string, default: Pod}"), &[]);
    field(&resource("apiVersion: {type: string, default: a/b/c}"), &["default/invalid"]);
    field(&resource("metadata: {type: object, properties: {name: {type: string, default: good}}}"), &[]);
    field(
        &resource("metadata: {type: object, properties: {labels: {type: object, additionalProperties: {type: string, default: x}}}}"),
        &["default/forbidden"],
    );
}

#[test]
fn rules_see_declared_metadata_only_with_a_declared_identity() {
    let resource = |fields: &str, rule: &str| {
        format!(
            "{{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, \
             properties: {{kind: {{type: string}}, apiVersion: {{type: string}}, metadata: {{type: object, properties: {{{fields}}}}}}}, \
             x-kubernetes-validations: [{{rule: '{rule}'}}]}}"
        )
    };
    let labels = "labels: {type: object, maxProperties: 5, additionalProperties: {type: string}}";
    let names = "name: {type: string}, generateName: {type: string}";
    field(&resource(&format!("{labels}, {names}"), "self.metadata.labels.size() > 0"), &[]);
    field(&resource(&format!("{labels}, name: {{type: string}}"), "self.metadata.labels.size() > 0"), &["cel-rule/invalid"]);
    let dated = "name: {type: string, format: date-time}, generateName: {type: string}";
    field(&resource(dated, "self.metadata.name.size() > 1"), &["cel-rule/invalid"]);
}

#[test]
fn a_default_is_checked_before_a_rule_that_does_not_compile() {
    let fields = |schema: &str| -> Vec<String> {
        let all = facts(&with_field(schema)).into_iter().filter(Fact::is_refusal).filter_map(|fact| fact.field);
        all.map(|field| field.replace("spec.validation.openAPIV3Schema.properties[spec].properties[f]", "F")).collect()
    };
    let rules = "x-kubernetes-validations: [{rule: self.nope()}]";
    assert_eq!(fields(&format!("{{type: string, default: a, {rules}}}")), ["F.default"]);
    let below = format!("{{type: object, default: {{a: x}}, properties: {{a: {{type: string, maxLength: 5, {rules}}}}}}}");
    assert_eq!(fields(&below), ["F.default.a"]);
    let absent = format!("{{type: object, default: {{}}, properties: {{a: {{type: string, maxLength: 5, {rules}}}}}}}");
    assert_eq!(fields(&absent), ["F.properties[a].x-kubernetes-validations[0].rule"]);
}

#[test]
fn what_versions_share_decides_where_the_server_reports() {
    let version = |name: &str, storage: bool, schema: &str, more: &str| {
        format!("{{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {schema}}}{more}}}")
    };
    let broken = "{type: object, properties: {spec: {type: array}}}";
    let other = "{type: object, properties: {spec: {type: array}, status: {type: object}}}";
    let fields = |text: &str| -> Vec<String> { facts(text).into_iter().filter(Fact::is_refusal).filter_map(|fact| fact.field).collect() };
    let same = with_versions(&[&version("v1", true, broken, ""), &version("v2", false, broken, "")]);
    assert_eq!(fields(&same), vec!["spec.validation.openAPIV3Schema.properties[spec].items"; 2]);
    let differ = with_versions(&[&version("v1", true, broken, ""), &version("v2", false, other, "")]);
    assert_eq!(fields(&differ), [0, 1].map(|index| format!("spec.versions[{index}].schema.openAPIV3Schema.properties[spec].items")));
    // An absent flag and `false`, or an empty and a missing list, are the same schema.
    let spelled = "{type: object, nullable: false, required: [], properties: {spec: {type: array, description: ''}}}";
    let spelled = with_versions(&[&version("v1", true, broken, ""), &version("v2", false, spelled, "")]);
    assert!(fields(&spelled).iter().all(|field| field.starts_with("spec.validation")), "{:?}", fields(&spelled));
    for (one, two, shared) in [
        ("maximum: 1", "maximum: 1.0", true),
        ("externalDocs: {}", "externalDocs: {url: ''}", true),
        ("externalDocs: {}", "externalDocs: {url: x}", false),
    ] {
        let with = |word: &str| format!("{{type: object, properties: {{spec: {{type: array, {word}}}}}}}");
        let both = with_versions(&[&version("v1", true, &with(one), ""), &version("v2", false, &with(two), "")]);
        assert_eq!(fields(&both).iter().all(|field| field.starts_with("spec.validation")), shared, "{one} {two}");
    }
    // The status check follows the shared schema.
    let wide = "{type: object, maxProperties: 5, properties: {spec: {type: string}}}";
    let status = with_versions(&[&version("v1", true, wide, ""), &version("v2", false, wide, ", subresources: {status: {}}")]);
    assert_eq!(refusals(&status), ["status-root/forbidden"; 2]);
}

#[test]
fn selectable_fields_need_their_schema_on_the_same_level() {
    let version = |name: &str, storage: bool, schema: &str, more: &str| {
        format!("{{name: {name}, served: true, storage: {storage}, schema: {{openAPIV3Schema: {schema}}}{more}}}")
    };
    let (a, b) = ("{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}, b: {type: string}}}");
    let select = ", selectableFields: [{jsonPath: .a}]";
    let both = |x: &str, y: &str, s: &str, t: &str| with_versions(&[&version("v1", true, x, s), &version("v2", false, y, t)]);
    assert_eq!(refusals(&both(a, b, select, "")), Vec::<String>::new());
    assert_eq!(refusals(&both(a, a, select, select)), Vec::<String>::new());
    assert_eq!(refusals(&both(a, b, select, select)), ["selectable-field/misplaced"; 2]);
    assert_eq!(refusals(&both(a, a, select, "")), ["selectable-field/misplaced"]);
}

fn compared(old: &str, new: &str) -> Vec<(String, bool)> {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    let (old, new) = (Bundle::read(&old), Bundle::read(&new));
    let pairs = old.crds.iter().zip(&new.crds);
    pairs
        .flat_map(|(old, new)| update(old, new).facts)
        .map(|fact| (format!("{}/{}", fact.aspect, fact.effect), fact.pre_existing))
        .collect()
}

#[test]
fn checks_are_skipped_by_kind_for_the_whole_crd() {
    let set = "{type: array, x-kubernetes-list-type: set, items: {type: object, properties: {a: {type: string}}}}";
    let here = with_root(&format!("{{type: object, properties: {{a: {set}}}}}"));
    let there = with_root(&format!("{{type: object, properties: {{b: {set}}}}}"));
    let clean = with_root("{type: object, properties: {a: {type: string}}}");
    let spared = |facts: Vec<(String, bool)>| facts.into_iter().find(|(name, _)| name == "list-type/forbidden").map(|(_, spared)| spared);
    assert_eq!(spared(compared(&here, &there)), Some(true));
    assert_eq!(spared(compared(&clean, &there)), Some(false));
}

#[test]
fn an_unknown_type_is_tolerated_if_the_old_crd_has_one() {
    let unknown = with_field("{type: text}");
    let of_type = |old: &str| compared(old, &unknown).into_iter().filter(|(name, _)| name.starts_with("type/")).collect::<Vec<_>>();
    assert!(of_type(&unknown).iter().all(|(_, spared)| *spared), "{:?}", of_type(&unknown));
    assert!(of_type(&with_field("{type: string}")).iter().any(|(_, spared)| !spared));
}

#[test]
fn checks_that_are_never_skipped() {
    for schema in
        ["{type: string, pattern: '['}", "{type: integer, maximum: 1, default: 2}", "{type: string, uniqueItems: true}", "{minLength: 1}"]
    {
        let text = with_field(schema);
        let facts: Vec<_> = compared(&text, &text).into_iter().filter(|(_, spared)| !spared).collect();
        assert_eq!(facts.len(), 1, "{schema}: {facts:?}");
    }
}

#[test]
fn established_counts_only_if_the_status_says_so() {
    let old = with_field("{type: string}");
    let new = old.replace("scope: Namespaced", "scope: Cluster");
    assert_eq!(compared(&old, &new), [("scope/immutable".to_owned(), false)]);
    let fresh = format!("{old}status: {{conditions: [{{type: Established, status: 'False'}}]}}\n");
    assert_eq!(compared(&fresh, &new), []);
}

#[test]
fn a_crd_without_a_name_is_still_judged() {
    let text = with_root("{type: object}");
    let named = |metadata: &str| text.replace("metadata: {name: widgets.shop.example.com}\n", metadata);
    for (metadata, expected) in [
        ("", "name/missing metadata.name"),
        ("metadata: {}\n", "name/missing metadata.name"),
        ("metadata: {name: ''}\n", "name/missing metadata.name"),
        ("metadata: {name: null}\n", "name/missing metadata.name"),
        ("metadata: {generateName: widgets.shop.example.com}\n", "name/mismatched metadata.name"),
        ("metadata: {name: 5}\n", "document/invalid metadata.name"),
        ("metadata: x\n", "document/invalid metadata"),
    ] {
        let found = facts(&named(metadata));
        let refused: Vec<String> = found
            .iter()
            .filter(|fact| fact.is_refusal())
            .map(|fact| format!("{}/{} {}", fact.aspect, fact.effect, fact.field.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(refused, [expected], "{metadata}");
        assert!(found.iter().all(|fact| fact.crd == "widgets.shop.example.com"), "{metadata}");
    }
    let bare = facts("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n");
    assert!(bare.iter().any(|fact| fact.field.as_deref() == Some("metadata.name")));
}

#[test]
fn owners_and_finalizers_of_a_crd() {
    let with = |more: &str| with_root("{type: object}").replace("example.com}\nspec", &format!("example.com, {more}}}\nspec"));
    let owner = |more: &str| format!("{{apiVersion: v1, kind: Pod, name: a, uid: b{more}}}");
    let refused = |more: &str| refusals(&with(more));
    let (plain, controller) = (owner(""), owner(", controller: true"));
    assert!(refused(&format!("ownerReferences: [{plain}, {controller}]")).is_empty());
    assert_eq!(refused(&format!("ownerReferences: [{controller}, {controller}]")), ["metadata/invalid"]);
    assert_eq!(refused(&format!("ownerReferences: [{}]", plain.replace("v1", "a/b/v1"))), ["metadata/invalid"]);
    assert_eq!(refused(&format!("ownerReferences: [{}]", plain.replace("Pod", "Event"))), ["metadata/invalid"]);
    assert_eq!(refused("finalizers: [orphan, foregroundDeletion]"), ["metadata/invalid"]);
    assert_eq!(refused("finalizers: [null]"), ["metadata/invalid"]);
    assert_eq!(refused("labels: {'a b': '-'}, namespace: x.y"), ["metadata/invalid"]);
    assert!(refused("finalizers: [orphan, a/b]").is_empty());
}

#[test]
fn keys_and_warnings_as_go_reads_them() {
    field(
        "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [null], items: {type: object}}",
        &["map-keys/unresolved"],
    );
    let warned = |text: &str| {
        let version =
            "{name: v1, served: true, storage: true, deprecated: true, deprecationWarning: '@', schema: {openAPIV3Schema: {type: object}}}";
        refusals(&with_versions(&[&version.replace("'@'", &format!("\"{text}\""))]))
    };
    for good in ["use v2 ÿ 日本", r"a\u0301", "√ ²"] {
        assert!(warned(good).is_empty(), "{good}");
    }
    for bad in [r"\u0378", r"\u00a0", r"\u200b", r"\u2028", r"\ue000"] {
        assert_eq!(warned(bad), ["deprecation-warning/invalid"], "{bad}");
    }
}

#[test]
fn a_rule_is_compiled_whatever_field_path_it_has() {
    let node = |rule: &str| {
        format!(
            "{{type: object, properties: {{a: {{type: integer}}, c: {{type: integer}}}}, x-kubernetes-validations: [{{rule: \"{rule}\", fieldPath: .c}}]}}"
        )
    };
    field(&node("self.a > 'x'"), &["cel-rule/invalid"]);
    field(&node("self.a > 1"), &[]);
}

#[test]
fn webhook_urls_are_read_as_go_reads_them() {
    let with_url = |url: &str| {
        let webhook = format!("{{conversionReviewVersions: [v1], clientConfig: {{url: '{url}'}}}}");
        format!("{}  conversion: {{strategy: Webhook, webhook: {webhook}}}\n", with_field("{type: string}"))
    };
    for (url, fault) in [
        ("https://[zz]/", Some("url must be a valid URL")),
        ("foo://h:1:2/", Some("'https' is the only allowed URL scheme; desired format: https://host[/path]")),
        ("https://h:1:2/", Some("url must be a valid URL")),
        ("https://[::1%25eth0]/", None),
        ("https://h%E4/", None),
        ("https://h%41/", Some("url must be a valid URL")),
        ("https://h?", None),
    ] {
        let found: Vec<String> = facts(&with_url(url))
            .iter()
            .filter(|fact| fact.is_refusal())
            .map(|fact| fact.words[&crate::model::fact::Word::Reason].to_string())
            .collect();
        match fault {
            None => assert_eq!(found, Vec::<String>::new(), "{url}"),
            Some(fault) => assert!(matches!(found.as_slice(), [reason] if reason.starts_with(fault)), "{url}: {found:?}"),
        }
    }
}
