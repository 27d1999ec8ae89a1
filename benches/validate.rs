//! Objects: the cost of parsing ten thousand, checking them, and converting them from text to text; and of finding which of fifty
//! thousand existing ones a change affects.
#![allow(clippy::disallowed_macros, reason = "a benchmark talks")]

use std::time::{Duration, Instant};

use crdwise::Conversions;
use crdwise::stages::{Bundle, ConversionTarget, FileConverter, ImpactChecker, check_objects};
use crdwise::{Documents, File, Origin, YamlBudget};
use rayon::prelude::*;

fn main() {
    let crds = Documents::parse(vec![File::new("crd.yaml", CRD, Origin::Stdin)], &YamlBudget::default());
    let bundle = Bundle::read(&crds);
    let files = objects(COUNT);
    let documents = Documents::parse(files.clone(), &YamlBudget::default());
    let reports = check_objects(&documents, &bundle, None);
    assert_eq!(reports.len(), COUNT);
    assert!(reports.iter().all(|report| report.is_clean()), "{:?}", reports.iter().find(|report| !report.is_clean()));
    let conversions = Conversions::of_text("conversion.yaml", MANIFEST);
    assert!(!conversions.is_empty(), "{:?}", conversions.invalid());
    let converter = FileConverter::new(&conversions, ConversionTarget { to: "v2".to_owned(), from: None });
    let converted: usize = files.iter().map(|file| converter.convert(&file.text).converted).sum();
    assert_eq!(converted, COUNT);
    let (mut parse, mut judge, mut convert) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..10 {
        let copy = files.clone();
        let start = Instant::now();
        std::hint::black_box(Documents::parse(copy, &YamlBudget::default()));
        parse = parse.min(start.elapsed());
        let start = Instant::now();
        std::hint::black_box(check_objects(&documents, &bundle, None).len());
        judge = judge.min(start.elapsed());
        let start = Instant::now();
        files.par_iter().for_each(|file| drop(std::hint::black_box(converter.convert(&file.text))));
        convert = convert.min(start.elapsed());
    }
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    let listed = list();
    let (mut list_parse, mut list_convert) = (Duration::MAX, Duration::MAX);
    for _ in 0..10 {
        let copy = vec![listed.clone()];
        let start = Instant::now();
        std::hint::black_box(Documents::parse(copy, &YamlBudget::default()));
        list_parse = list_parse.min(start.elapsed());
        let start = Instant::now();
        assert_eq!(std::hint::black_box(converter.convert(&listed.text)).converted, COUNT);
        list_convert = list_convert.min(start.elapsed());
    }
    println!(
        "{COUNT} objects as kubectl lists them: parse {:.1} ms, convert, parsing and writing included, {:.1} ms ({:.2} ×)",
        millis(list_parse),
        millis(list_convert),
        millis(list_convert) / millis(list_parse)
    );
    println!(
        "{COUNT} objects: parse {:.1} ms, judge {:.1} ms ({:.2} × the parse), convert, parsing and writing included, {:.1} ms ({:.2} ×)",
        millis(parse),
        millis(judge),
        millis(judge) / millis(parse),
        millis(convert),
        millis(convert) / millis(parse)
    );
    existing(&bundle);
}

/// Does what `review --objects` does besides reading.
fn existing(old: &Bundle<'_>) {
    let text = CRD.replace("maximum: 1000000", "maximum: 49989");
    let crds = Documents::parse(vec![File::new("crd.yaml", text, Origin::Stdin)], &YamlBudget::default());
    let new = Bundle::read(&crds);
    let checker = ImpactChecker::new(old, &new);
    let files = objects(EXISTING);
    let (mut parse, mut compare) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        let copy = files.clone();
        let start = Instant::now();
        let documents = Documents::parse(copy, &YamlBudget::default());
        parse = parse.min(start.elapsed());
        let start = Instant::now();
        let page = checker.page(&documents);
        compare = compare.min(start.elapsed());
        assert_eq!((page.checked, page.hit.len()), (EXISTING, 10));
    }
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    println!(
        "{EXISTING} existing objects: parse {:.1} ms, compare {:.1} ms ({:.2} × the parse, both together)",
        millis(parse),
        millis(compare),
        millis(parse + compare) / millis(parse)
    );
}

const EXISTING: usize = 50_000;

const COUNT: usize = 10_000;

const MANIFEST: &str = "apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {name: route-v2}
resource: {group: shop.example.com, kind: Route}
from: {version: v1}
to: {version: v2}
steps:
- rename: {from: spec.hostnames, to: spec.hosts}
- mapValues: {path: spec.mode, values: {Fast: Quick}}
reverse: auto
";
const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: routes.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: routes, kind: Route}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [hostnames]
            x-kubernetes-validations:
            - {rule: 'self.hostnames.all(h, h.size() < 100)', message: too long}
            properties:
              mode: {type: string, enum: [Fast, Safe], default: Safe}
              timeout: {type: string, pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$', default: 10s}
              hostnames:
                type: array
                maxItems: 16
                x-kubernetes-list-type: set
                items: {type: string, minLength: 1, maxLength: 253, pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'}
              labels: {type: object, additionalProperties: {type: string, maxLength: 63}}
              rules:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  oneOf: [{required: [service]}, {required: [url]}]
                  x-kubernetes-validations:
                  - {rule: '!has(self.weight) || self.weight >= 0'}
                  properties:
                    name: {type: string, maxLength: 63}
                    weight: {type: integer, format: int32, minimum: 0, maximum: 1000000, default: 1}
                    service: {type: object, required: [port], properties: {name: {type: string}, port: {type: integer, minimum: 1, maximum: 65535}}}
                    url: {type: string, format: uri}
                    replicas: {x-kubernetes-int-or-string: true}
";

/// Objects of one kind with different names and numbers, all valid.
fn objects(count: usize) -> Vec<File> {
    let object = |n: usize| {
        format!(
            "apiVersion: shop.example.com/v1
kind: Route
metadata:
  name: route-{n}
  namespace: shop
  labels: {{app: shop, part: \"{n}\"}}
spec:
  mode: Fast
  hostnames:
  - a{n}.example.com
  - b{n}.example.com
  labels:
    team: red
    tier: \"{n}\"
  rules:
  - name: first
    weight: {n}
    service: {{name: svc-{n}, port: 8080}}
  - name: second
    url: https://example.com/{n}
    replicas: 50%
"
        )
    };
    // A hundred documents per file.
    let file = |n: usize| {
        let text = (n * 100..(n + 1) * 100).map(object).collect::<Vec<_>>().join("---\n");
        File::new(format!("{n}.yaml"), text, Origin::Stdin)
    };
    (0..count / 100).map(file).collect()
}

/// A list in the style of `kubectl get -o yaml`, which is read in a single pass.
fn list() -> File {
    let item = |n: usize| {
        format!(
            "- apiVersion: shop.example.com/v1
  kind: Route
  metadata:
    creationTimestamp: \"2024-05-01T10:00:00Z\"
    generation: {n}
    labels:
      app: shop
    name: route-{n}
    namespace: shop
    resourceVersion: \"{n}\"
    uid: 5e8f2b0e-4b1d-9a37-{n:012}
  spec:
    hostnames:
    - a{n}.example.com
    - b{n}.example.com
    labels:
      team: red
      tier: back
    mode: Fast
    rules:
    - name: first
      service:
        name: svc-{n}
        port: 8080
      weight: {n}
    - name: second
      replicas: 50%
      url: https://example.com/{n}
  status:
    conditions:
    - lastTransitionTime: \"2024-05-01T10:00:00Z\"
      message: all good
      reason: Ready
      status: \"True\"
      type: Ready
    observedGeneration: {n}
"
        )
    };
    let text =
        format!("apiVersion: v1\nitems:\n{}kind: List\nmetadata:\n  resourceVersion: \"\"\n", (0..COUNT).map(item).collect::<String>());
    File::new("list.yaml", text, Origin::Stdin)
}
