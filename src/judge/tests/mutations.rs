//! Nothing changes unnoticed: one key or scalar of a real CRD is changed at a time, and each change must be reported at its place.

use std::collections::BTreeMap;

use crate::model::fact::{Fact, Subject};
use crate::model::{Bundle, FieldPath, PathStep};
use serde_json::Value;

use super::changes::{facts, rule};
use crate::testing::documents;
use crate::testing::recorded::{corpus, project};

/// Bundles that CRDs are taken from; together they use every keyword that real CRDs use.
const BUNDLES: &[&str] = &[
    "gateway-api/v1.4.0/standard",
    "gateway-api/v1.1.0/experimental",
    "cilium/v1.17.0",
    "crossplane/v2.0.0",
    "tekton-pipeline/v1.0.0",
    "knative-serving/knative-v1.16.0",
    "istio-api/1.30.0",
    "metal3-bmo-rendered/v0.12.0",
    "calico-manifest/v3.32.0",
    "argo-cd/v1.8.0",
    "prometheus-operator/v0.92.0",
];
/// Larger CRDs would take too long, because they are parsed for every change.
const LARGEST: usize = 60_000;
/// How many changes of one sort (keyword and edit) are made in one CRD.
const EACH: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edit {
    Remove,
    Replace,
    AddKey,
}

/// A place in a document: keys and positions.
type Pointer = Vec<String>;

fn collect(value: &Value, at: &mut Pointer, found: &mut Vec<(Pointer, Edit)>) {
    match value {
        Value::Object(map) => {
            found.push((at.clone(), Edit::AddKey));
            for (key, child) in map {
                at.push(key.clone());
                found.push((at.clone(), Edit::Remove));
                collect(child, at, found);
                at.pop();
            }
        }
        Value::Array(list) => {
            for (index, child) in list.iter().enumerate() {
                at.push(index.to_string());
                found.push((at.clone(), Edit::Remove));
                collect(child, at, found);
                at.pop();
            }
        }
        _ => found.push((at.clone(), Edit::Replace)),
    }
}

fn edited(mut document: Value, at: &[String], edit: Edit) -> Option<Value> {
    let (last, parents) = match edit {
        Edit::AddKey => (None, at),
        _ => at.split_last().map(|(last, parents)| (Some(last), parents))?,
    };
    let mut node = &mut document;
    for step in parents {
        node = match node {
            Value::Object(map) => map.get_mut(step)?,
            Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    match (edit, last) {
        (Edit::AddKey, _) => {
            node.as_object_mut()?.insert("somethingElse".into(), "x".into());
        }
        (Edit::Remove, Some(last)) => match node {
            Value::Object(map) => {
                map.remove(last)?;
            }
            Value::Array(list) => {
                list.remove(last.parse::<usize>().ok()?);
            }
            _ => return None,
        },
        (Edit::Replace, Some(last)) => {
            let slot = match node {
                Value::Object(map) => map.get_mut(last)?,
                Value::Array(list) => list.get_mut(last.parse::<usize>().ok()?)?,
                _ => return None,
            };
            *slot = match &*slot {
                Value::String(text) => format!("{text}x").into(),
                Value::Bool(flag) => (!flag).into(),
                Value::Number(number) => number.as_i64().map_or(Value::from(1.5), |int| (int + 1).into()),
                _ => "x".into(),
            };
        }
        _ => return None,
    }
    Some(document)
}

/// The sort of a place: its keys without names chosen by authors.
fn sort(at: &[String]) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut named = false;
    for step in at {
        let name = std::mem::replace(&mut named, step == "properties");
        match name || step.parse::<usize>().is_ok() {
            true => words.push("*"),
            false => words.push(step),
        }
    }
    let tail = words.len().saturating_sub(2);
    words[tail..].join("/")
}

/// The version and field that a place in a schema belongs to.
fn field(at: &[String], document: &Value) -> Option<(String, FieldPath)> {
    let start = at.iter().position(|step| step == "openAPIV3Schema")?;
    let version = match at.get(1).map(String::as_str) {
        Some("versions") => document["spec"]["versions"][at.get(2)?.parse::<usize>().ok()?]["name"].as_str()?.to_owned(),
        _ => document["spec"]["version"].as_str().or(document["spec"]["versions"][0]["name"].as_str())?.to_owned(),
    };
    let mut path = FieldPath::root();
    let mut rest = at[start + 1..].iter();
    while let Some(step) = rest.next() {
        match step.as_str() {
            "properties" => match rest.next() {
                Some(name) => path.push(PathStep::Key(name.as_str().into())),
                None => break,
            },
            "items" => path.push(PathStep::Items),
            "additionalProperties" => path.push(PathStep::Values),
            _ => break,
        }
    }
    Some((version, path))
}

/// Edits without any meaning, each with the reason; reviewed by hand.
fn no_op(document: &Value, at: &[String], edit: Edit, before: Option<&Value>) -> Option<&'static str> {
    let words: Vec<&str> = at.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => None,
        ["spec", "version" | "versions"] | ["spec", "versions", "0"] | ["spec", "versions", "0", "name"]
            if !document["spec"]["version"].is_null() && edit == Edit::Remove || words.as_slice() == ["spec", "version"] =>
        {
            Some("v1beta1 names its only version twice")
        }
        ["status", "storedVersions", ..] => Some("only two dumps of a live CRD can be compared"),
        ["status", ..] => Some("the server writes the status"),
        ["metadata", "creationTimestamp" | "generation" | "resourceVersion" | "uid" | "managedFields" | "selfLink", ..] => {
            Some("the server keeps these")
        }
        ["spec", "versions", _, "served" | "storage" | "deprecated"] if edit == Edit::Remove && before == Some(&Value::Bool(false)) => {
            Some("false is what an absent flag means")
        }
        ["metadata", "annotations" | "labels"] | ["spec", "conversion", "webhook", "clientConfig"] | ["spec", "names"]
            if edit == Edit::Remove && before.is_some_and(|value| value.as_object().is_some_and(serde_json::Map::is_empty)) =>
        {
            Some("an empty mapping says nothing")
        }
        [.., "subresources"]
            if edit == Edit::Remove && before.is_some_and(|value| value.as_object().is_some_and(serde_json::Map::is_empty)) =>
        {
            Some("an empty mapping says nothing")
        }
        [.., "subresources", "status"] if edit == Edit::AddKey => Some("the status subresource has no members"),
        [.., "additionalPrinterColumns" | "selectableFields" | "shortNames" | "categories"]
            if edit == Edit::Remove && before.is_some_and(|value| value.as_array().is_some_and(Vec::is_empty)) =>
        {
            Some("an empty list says nothing")
        }
        [.., last] if edit == Edit::Remove && before == Some(&Value::Null) && *last != "default" => {
            Some("null is what an absent key means")
        }
        _ => None,
    }
}

/// Whether a place identifies the CRD.
fn identity(at: &[String]) -> bool {
    matches!(
        at.iter().map(String::as_str).collect::<Vec<_>>().as_slice(),
        ["apiVersion" | "kind" | "metadata"] | ["metadata", "name"] | ["spec"]
    )
}

fn is_reported(facts: &[Fact], at: &[String], document: &Value) -> bool {
    match field(at, document) {
        Some((version, path)) => facts.iter().any(|fact| {
            let near = |one: &FieldPath| one.starts_with(&path) || path.starts_with(one) && one.steps().len() + 1 >= path.steps().len();
            match fact.subject {
                Subject::Field => fact.version.as_deref() == Some(&version) && (near(&fact.path) || fact.to.as_ref().is_some_and(near)),
                // The whole schema was added or removed.
                Subject::Version => path.is_root(),
                _ => false,
            }
        }),
        None => facts.iter().any(|fact| matches!(fact.subject, Subject::Crd | Subject::Version | Subject::NewVersion)),
    }
}

/// A CRD that uses every keyword and every attribute.
const FULL: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.shop.example.com
  annotations: {shop.example.com/bundle-version: v1.0.0, shop.example.com/channel: standard, api-approved.kubernetes.io: "unapproved, a test", note: a}
  labels: {app: shop}
  finalizers: [a]
spec:
  group: shop.example.com
  scope: Namespaced
  preserveUnknownFields: false
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wi, wid], categories: [all]}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1, v1beta1]
      clientConfig: {caBundle: YQ==, service: {namespace: shop, name: convert, port: 443, path: /convert}}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size, priority: 1, description: d, format: int32}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    selectableFields: [{jsonPath: .spec.text}, {jsonPath: .spec.size}]
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size, labelSelectorPath: .status.selector}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            description: What is wanted. It MUST be set.
            title: Spec
            externalDocs: {url: https://example.com, description: d}
            example: {size: 1}
            minProperties: 1
            maxProperties: 9
            required: [size, text]
            x-kubernetes-map-type: atomic
            x-kubernetes-validations:
            - {rule: self.size < 50, message: too big, reason: FieldValueInvalid, fieldPath: .size}
            - {rule: "oldSelf.hasValue() ? self.size >= oldSelf.value().size : true", optionalOldSelf: true, messageExpression: "'size ' + string(self.size)"}
            oneOf: [{required: [text]}, {properties: {size: {minimum: 5}}}]
            properties:
              size: {type: integer, format: int32, minimum: 0, maximum: 100, multipleOf: 2, not: {enum: [13]}}
              ratio: {type: number, minimum: 0.5, exclusiveMinimum: true, maximum: 9.5, exclusiveMaximum: true}
              text: {type: string, minLength: 1, maxLength: 9, pattern: '^[a-z]+$', default: abc, nullable: true}
              at: {type: string, format: date-time}
              color: {type: string, enum: [red, blue, green], default: red, description: "Deprecated: use hue."}
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], allOf: [{maximum: 5}, {maxLength: 3}]}
              labels: {type: object, additionalProperties: {type: string, maxLength: 5}, maxProperties: 3}
              flags: {type: object, additionalProperties: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              template: {type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}
              names: {type: array, x-kubernetes-list-type: set, items: {type: string}, minItems: 1, maxItems: 5, uniqueItems: false}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name, port]
                items: {type: object, required: [name, port], properties: {name: {type: string}, port: {type: integer}}}
          status:
            type: object
            properties:
              size: {type: integer}
              selector: {type: string}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    deprecationWarning: use v1
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"#;

#[derive(Default)]
struct Tally {
    tried: u32,
    quiet: BTreeMap<&'static str, u32>,
    sorts: BTreeMap<String, u32>,
    silent: Vec<String>,
    unclassified: Vec<String>,
}

impl Tally {
    /// Changes one place of a document at a time, at most `each` of one sort.
    fn take(&mut self, name: &str, document: &Value, each: usize) {
        let text = document.to_string();
        let mut places = Vec::new();
        collect(document, &mut Vec::new(), &mut places);
        let mut counts: BTreeMap<(String, Edit), usize> = BTreeMap::new();
        for (at, edit) in places {
            let count = counts.entry((sort(&at), edit)).or_default();
            *count += 1;
            if *count > each || identity(&at) {
                continue;
            }
            let before =
                document.pointer(&at.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect::<String>());
            if let Some(why) = no_op(document, &at, edit, before) {
                *self.quiet.entry(why).or_default() += 1;
                continue;
            }
            let Some(new) = edited(document.clone(), &at, edit) else { continue };
            let facts = facts(&text, &new.to_string());
            self.tried += 1;
            *self.sorts.entry(at.last().filter(|step| step.parse::<usize>().is_err()).cloned().unwrap_or_default()).or_default() += 1;
            if !is_reported(&facts, &at, document) {
                let got: Vec<_> = facts.iter().map(|fact| (&rule(fact).id, fact.path.to_string())).collect();
                self.silent.push(format!("{name} {edit:?} {} → {got:?}", at.join("/")));
            }
            let catch_all = facts.iter().filter(|fact| rule(fact).id == "unclassified-change");
            self.unclassified.extend(catch_all.map(|fact| format!("{} {} {}", fact.subject, fact.aspect, fact.effect)));
        }
    }

    fn finish(mut self) {
        let explained: u32 = self.quiet.values().sum();
        println!(
            "{} changes at {} keys, {} silent; {explained} no-ops left out: {:?}",
            self.tried,
            self.sorts.len(),
            self.silent.len(),
            self.quiet
        );
        self.unclassified.sort();
        self.unclassified.dedup();
        assert!(self.unclassified.is_empty(), "{}", self.unclassified.join("\n"));
        assert!(self.silent.is_empty(), "{} silent\n{}", self.silent.len(), self.silent.join("\n"));
    }
}

#[test]
fn every_change_of_a_full_crd_is_reported() {
    let documents = crate::model::Documents::of_text("full.yaml", FULL);
    let bundle = Bundle::read(&documents);
    let mut tally = Tally::default();
    tally.take("full", &bundle.crds[0].node.to_json(), usize::MAX);
    tally.finish();
}

#[test]
fn every_single_change_of_real_crds_is_reported() {
    let mut tally = Tally::default();
    let demo = project().join("testdata/demo/new");
    for folder in [demo].into_iter().chain(corpus().iter().flat_map(|corpus| BUNDLES.iter().map(|name| corpus.join(name)))) {
        let documents = documents(&folder);
        let bundle = Bundle::read(&documents);
        for crd in bundle.crds.iter().filter(|crd| crd.node.source().len() < LARGEST).take(3) {
            tally.take(crd.name, &crd.node.to_json(), EACH);
        }
    }
    tally.finish();
}
