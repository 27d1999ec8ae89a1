use serde_json::{Value, json};

use super::*;
use crate::input::yaml::{YamlBudget, parse};

fn expanded(text: &str) -> Vec<Document> {
    parse(&text.into(), &YamlBudget::default()).into_iter().flat_map(expand).collect()
}

fn crds(text: &str) -> Vec<Value> {
    expanded(text).iter().map(|document| document.tree.as_ref().unwrap().root().to_json()).collect()
}

fn refusal(text: &str) -> (String, String) {
    let documents = expanded(text);
    let error = documents[0].tree.as_ref().unwrap_err();
    (error.kind.to_string(), text[error.span.range()].to_owned())
}

const XRD: &str = r#"
metadata: {name: xdatabases.example.org, labels: {team: a}}
spec:
  group: example.org
  names: {kind: XDatabase, plural: xdatabases, categories: [all]}
  CLAIMS
  defaultCompositionUpdatePolicy: Manual
  defaultCompositeDeletePolicy: Foreground
  metadata: {labels: {tier: gold}, annotations: {note: x}}
  versions:
  - name: v1
    served: true
    referenceable: true
    additionalPrinterColumns: [{name: SIZE, type: integer, jsonPath: .spec.size}]
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}, status: {}}
    schema:
      openAPIV3Schema:
        type: object
        description: A database.
        x-kubernetes-validations: [{rule: "has(self.spec)"}]
        properties:
          metadata: {type: object, properties: {name: {type: string, maxLength: 30}}}
          spec:
            type: object
            description: What it should be.
            required: [size]
            minProperties: 1
            oneOf: [{required: [size]}]
            x-kubernetes-validations: [{rule: "self.size > 0"}]
            properties:
              size: {type: integer}
              compositionRef: {type: string}
          status: {type: object, required: [size], properties: {size: {type: integer}}}
"#;

fn xrd(api: &str, more: &str) -> String {
    let head = format!("apiVersion: apiextensions.crossplane.io/{api}\nkind: CompositeResourceDefinition");
    format!("{head}{}", XRD.replace("CLAIMS", more))
}

/// Each file contains a definition, followed by the CRDs that Crossplane generates from it.
#[test]
fn xrds_become_the_crds_that_crossplane_generates() {
    for name in ["legacy", "namespaced", "cluster"] {
        let path = format!("{}/testdata/crossplane/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut documents = parse(&text.as_str().into(), &YamlBudget::default()).into_iter();
        let made: Vec<Value> =
            expand(documents.next().unwrap()).iter().map(|document| document.tree.as_ref().unwrap().root().to_json()).collect();
        let expected: Vec<Value> = documents.map(|document| document.tree.unwrap().root().to_json()).collect();
        assert_eq!(made, expected, "{name}");
    }
}

#[test]
fn places_are_those_of_the_document() {
    let text = xrd("v1", "claimNames: {kind: Database, plural: databases}");
    for document in expanded(&text) {
        let tree = document.tree.unwrap();
        let versions = tree.root().get("spec").unwrap().get("versions").unwrap();
        let schema = versions.items().next().unwrap().get("schema").unwrap().get("openAPIV3Schema").unwrap();
        let spec = schema.get("properties").unwrap().get("spec").unwrap();
        let size = spec.get("properties").unwrap().entry("size").unwrap();
        assert_eq!((size.key.source(), size.value.source()), ("size", "{type: integer}"));
    }
}

#[test]
fn an_xrd_that_crossplane_refuses_is_refused() {
    let claims = refusal(&xrd("v2", "claimNames: {kind: A, plural: as}"));
    assert!(claims.0.ends_with("only composite resources of scope LegacyCluster can have claims"), "{claims:?}");
    let same = refusal(&xrd("v1", "claimNames: {kind: XDatabase, plural: databases}"));
    assert!(same.0.contains("the claim has the name `XDatabase`"), "{same:?}");
    let (why, at) = refusal(&xrd("v1", "scope: Galaxy"));
    assert!(why.contains("unknown scope `Galaxy`") && at == "Galaxy", "{why}");
    let none = refusal(&xrd("v1", "").replace("openAPIV3Schema", "schema"));
    assert!(none.0.ends_with("the version has no schema.openAPIV3Schema"), "{none:?}");
    assert!(refusal(&xrd("v3", "")).0.contains("unknown version `v3`"));
}

#[test]
fn lists_of_definitions_are_read() {
    let item = xrd("v2", "").replace('\n', "\n  ");
    let made = expanded(&format!("kind: List\napiVersion: v1\nitems:\n- {item}\n"));
    assert_eq!(made.len(), 2);
    assert_eq!(made[1].tree.as_ref().unwrap().root().get("kind").unwrap().as_str(), Some("CustomResourceDefinition"));
}

#[test]
fn an_api_resource_schema_is_a_crd_with_another_name() {
    let made = crds(
        "apiVersion: apis.kcp.io/v1alpha1\nkind: APIResourceSchema\nmetadata: {name: v240101.cowboys.wildwest.dev}\nspec:\n  \
         group: wildwest.dev\n  names: {kind: Cowboy, plural: cowboys}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    \
         storage: true\n    schema: {type: object, properties: {spec: {type: string}}}\n    subresources: {status: {}}\n",
    );
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "string"}}}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}}});
    assert_eq!(
        made,
        [json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "cowboys.wildwest.dev"},
            "spec": {
                "group": "wildwest.dev",
                "names": {"kind": "Cowboy", "plural": "cowboys"},
                "scope": "Namespaced",
                "versions": [version]
            }
        })]
    );
}

fn kro(spec: &str) -> String {
    format!(
        "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {{name: x}}\nspec:\n  schema:\n    apiVersion: v1alpha1\n    \
         kind: Policy\n    group: example.org\n    types:\n      Port: {{number: \"integer | required=true\", name: string}}\n      \
         Loop: {{again: Loop, more: Loop}}\n      \
         Name: string | minLength=2 immutable=true\n      Mode: {{speed: \"integer | default=1\"}}\n    status: {{url: \"${{x.y}}\"}}\n    spec:\n{spec}"
    )
}

fn kro_spec(spec: &str) -> Value {
    crds(&kro(spec))[0].pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec").unwrap().clone()
}

#[test]
fn a_simple_schema_is_translated() {
    let made = kro_spec(
        r#"
      name: string | required=true minLength=2 maxLength=9 pattern="^[a-z]+$" description="The \"name\""
      size: integer | default=3 minimum=1 maximum=10 enum="1,2,3"
      ratio: float
      on: boolean | default=true
      free: object
      tags: "[]string | uniqueItems=true minItems=1"
      labels: "map[string]string"
      deep: "map[string][]integer"
      ports: "[]Port"
      nested:
        mode: string | default=fast enum="fast,slow" immutable=true
      rule: string | validation="self != ''"
      alias: Name | maxLength=5 default=ab required=1
      mode: Mode
      items: "[]Port | listType=map listMapKey=number listMapKey=name"
"#,
    );
    let port = json!({
        "type": "object",
        "required": ["number"],
        "properties": {"number": {"type": "integer"}, "name": {"type": "string"}}
    });
    let immutable = json!([{"rule": "self == oldSelf", "message": "field is immutable"}]);
    let mode = json!({"type": "string", "default": "fast", "enum": ["fast", "slow"], "x-kubernetes-validations": immutable.clone()});
    let name = json!({"type": "string", "minLength": 2, "maxLength": 9, "pattern": "^[a-z]+$", "description": "The \"name\""});
    let rule = json!([{"rule": "self != ''", "message": "validation failed"}]);
    assert_eq!(
        made,
        json!({
            "type": "object",
            "required": ["name", "alias"],
            "properties": {
                "name": name,
                "size": {"type": "integer", "default": 3, "minimum": 1, "maximum": 10, "enum": [1, 2, 3]},
                "ratio": {"type": "number"},
                "true": {"type": "boolean", "default": true},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "minItems": 1},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "deep": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
                "ports": {"type": "array", "items": port.clone()},
                "nested": {"type": "object", "default": {}, "properties": {"mode": mode}},
                "rule": {"type": "string", "x-kubernetes-validations": rule},
                "alias": {"type": "string", "minLength": 2, "maxLength": 5, "default": "ab", "x-kubernetes-validations": immutable},
                "mode": {"type": "object", "default": {}, "properties": {"speed": {"type": "integer", "default": 1}}},
                "items": {
                    "type": "array",
                    "items": port,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["number", "name"]
                }
            }
        })
    );
    assert_eq!(crds(&kro("      a: string\n"))[0].pointer("/metadata/name").unwrap(), "policies.example.org");
}

#[test]
fn a_definition_names_its_crd() {
    let plain = crds(&kro("      a: string\n"));
    let columns = plain[0].pointer("/spec/versions/0/additionalPrinterColumns").unwrap();
    assert_eq!(columns.as_array().unwrap().iter().map(|column| &column["name"]).collect::<Vec<_>>(), ["State", "Ready", "Age"]);
    assert_eq!(plain[0].pointer("/spec/scope").unwrap(), "Namespaced");
    let own = "kind: Policy\n    scope: Cluster\n    shortNames: [pol]\n    metadata: {labels: {team: a}}\n";
    let made = crds(&kro("      a: string\n").replace("kind: Policy\n", own));
    assert_eq!(made[0].pointer("/spec/scope").unwrap(), "Cluster");
    assert_eq!(made[0].pointer("/spec/names/shortNames/0").unwrap(), "pol");
    assert_eq!(made[0].pointer("/metadata/labels/team").unwrap(), "a");
    let (why, at) = refusal(&kro("      a: string\n").replace("kind: Policy\n", "kind: Policy\n    scope: Galaxy\n"));
    assert!(why.contains("unknown scope `Galaxy`") && at == "Galaxy", "{why}");
}

#[test]
fn a_simple_schema_with_mistakes_is_refused_at_its_place() {
    for (field, words, place) in [
        ("number", "unknown type `number`", "number"),
        ("string | listType=map", "the marker `listType` is for fields of type array", "listType=map"),
        ("\"[]string | listType=bag\"", "`bag` is not a value of the marker `listType`", "listType=bag"),
        ("strin", "unknown type `strin`", "strin"),
        ("string | maximun=3", "unknown marker `maximun`", "maximun=3"),
        ("string | required=maybe", "`maybe` is not a value of the marker `required`", "required=maybe"),
        ("integer | minLength=1", "the marker `minLength` is for fields of type string", "minLength=1"),
        ("map[integer]string", "a map is written `map[string]TYPE`", "map[integer]string"),
        ("string | pattern=\"a", "a quote or bracket is not closed", "string | pattern=\"a"),
        ("Loop", "uses itself, or grows too large", ""),
    ] {
        let (why, at) = refusal(&kro(&format!("      a: {field}\n")));
        assert!(why.contains(words), "{why}");
        assert!(place.is_empty() || at == place, "{field}: {at:?}");
    }
}
