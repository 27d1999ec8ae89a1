//! A version with the same text as another is compared and linted once, but reported like any other.

use crdwise::{Book, DEFAULT_POLICY, Documents, Judgement, Policy, Report, Side, lint, review};
use serde_json::Value;

const OLD: &str = "
    type: object
    required: [spec]
    properties:
      spec:
        type: object
        default: {size: 1}
        properties:
          size: {type: integer, minimum: 1, default: 3}
          name: {type: string, pattern: '[a-z]+'}
          gone: {type: boolean}
          ports:
            type: array
            maxItems: 4
            items: {type: object, properties: {from: {type: integer}, to: {type: integer}}}
        x-kubernetes-validations:
          - {rule: 'self.size < 100', message: small}
      status: {type: object}
";

const NEW: &str = "
    type: object
    required: [spec]
    properties:
      spec:
        type: object
        required: [name]
        default: {size: 2, name: x}
        properties:
          size: {type: integer, minimum: 2, default: 3}
          name: {type: string, pattern: '[a-z]+'}
          ports:
            type: array
            maxItems: 4
            items:
              type: object
              properties: {from: {type: integer}, to: {type: integer}}
              x-kubernetes-validations:
                - {rule: '!has(self.from) || !has(self.to) || self.from <= self.to', message: a range}
                - {rule: 'self.nothing', message: undeclared}
        x-kubernetes-validations:
          - {rule: 'self.size < 50', message: small}
      status: {type: object}
";

fn crd(schemas: [&str; 2]) -> String {
    let [first, second] = schemas.map(|schema| schema.replace('\n', "\n        "));
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.shop.example.com}}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {{plural: widgets, kind: Widget}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:{first}
    - name: v1beta1
      served: true
      storage: false
      schema:
        openAPIV3Schema:{second}
"
    )
}

/// Two equal versions, and the same with a comment in the second one: equal data, different text.
fn twice(schema: &str) -> [String; 2] {
    let remarked = schema.replacen("properties:", "properties: # of the object", 1);
    [crd([schema, schema]), crd([schema, &remarked])]
}

/// The report, with the text of the lines it points at instead of their numbers.
fn with_lines(report: &Report, old: &str, new: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(&crdwise::to_json(report)).unwrap();
    let line = |text: &str, spot: &Value| {
        let number = spot.get("line").and_then(Value::as_u64)? as usize;
        Some(Value::from(text.lines().nth(number - 1)?.split(" # ").next()?))
    };
    let mut findings = report["findings"].as_array().unwrap().clone();
    for finding in &mut findings {
        for (side, text) in [("before", old), ("after", new)] {
            finding[side] = line(text, &finding[side]).unwrap_or_default();
        }
    }
    findings
}

#[test]
fn a_version_that_repeats_another_is_reviewed_like_any_other() {
    let policy = Policy::find(DEFAULT_POLICY).unwrap();
    let [alike, apart] = [0, 1].map(|index| {
        let (old, new) = (&twice(OLD)[index], &twice(NEW)[index]);
        let (before, after) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
        let judgement = Judgement::new(Book::builtin(), &policy);
        with_lines(&review(&Side::new("old", &before), &Side::new("new", &after), &judgement), old, new)
    });
    assert_eq!(alike, apart);
    let of = |version: &str| alike.iter().filter(|finding| finding["version"] == version).count();
    assert!(of("v1") > 6 && of("v1") == of("v1beta1"), "{} and {}", of("v1"), of("v1beta1"));
    let shown = |version: &str| alike.iter().find(|finding| finding["rule"] == "required-added" && finding["version"] == version).unwrap();
    assert_eq!(shown("v1beta1")["witness"]["object"]["apiVersion"], "shop.example.com/v1beta1");
    assert_eq!(shown("v1beta1")["before"], shown("v1")["before"]);
}

#[test]
fn a_version_that_repeats_another_is_linted_like_any_other() {
    let policy = Policy::find(DEFAULT_POLICY).unwrap();
    let [alike, apart] = [0, 1].map(|index| {
        let text = &twice(NEW)[index];
        let documents = Documents::of_text("new.yaml", text);
        with_lines(&lint(&Side::new("new", &documents), &Judgement::new(Book::builtin(), &policy)), "", text)
    });
    assert_eq!(alike, apart);
    assert!(alike.iter().any(|finding| finding["version"] == "v1beta1" && finding["rule"] == "cel-rule-invalid"), "{alike:#?}");
}
