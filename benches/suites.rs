//! Two thousand cases for fifty CRDs: the cost of parsing them, and of reading and running them.
#![allow(clippy::disallowed_macros, reason = "a benchmark talks")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crdwise::stages::run_suites;
use crdwise::{Documents, File, Origin, YamlBudget};

const CRDS: usize = 50;
const CASES: usize = 40;

fn main() {
    let files: Vec<File> = (0..CRDS).flat_map(|n| [File::new(format!("{n}.yaml"), crd(n), Origin::Stdin), suite(n)]).collect();
    let documents = Documents::parse(files.clone(), &YamlBudget::default());
    assert_eq!(run_suites(&documents), (CRDS * CASES, 0));
    let (mut parse, mut run) = (Duration::MAX, Duration::MAX);
    for _ in 0..10 {
        let copy = files.clone();
        let start = Instant::now();
        std::hint::black_box(Documents::parse(copy, &YamlBudget::default()));
        parse = parse.min(start.elapsed());
        let start = Instant::now();
        std::hint::black_box(run_suites(&documents));
        run = run.min(start.elapsed());
    }
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    println!(
        "{} cases over {CRDS} CRDs: parse {:.1} ms, run {:.1} ms ({:.2} × the parse)",
        CRDS * CASES,
        millis(parse),
        millis(run),
        millis(run) / millis(parse)
    );
}

fn crd(n: usize) -> String {
    let mut fields = String::new();
    for field in 0..60 {
        let _ = writeln!(fields, "              f{field}: {{type: string, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'}}");
    }
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: routes{n}.shop.example.com}}
spec:
  group: shop.example.com
  names: {{plural: routes{n}, kind: Route{n}}}
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
            x-kubernetes-validations:
            - {{rule: '!has(self.hostnames) || self.hostnames.all(h, h.size() < 100)', message: too long}}
            - {{rule: 'has(self.owner) == has(oldSelf.owner)', message: owner stays}}
            properties:
              mode: {{type: string, enum: [Fast, Safe], default: Safe}}
              owner: {{type: string, maxLength: 20}}
              size: {{type: integer, minimum: 1, maximum: 100}}
              hostnames: {{type: array, maxItems: 16, items: {{type: string, maxLength: 253}}}}
{fields}"
    )
}

fn suite(n: usize) -> File {
    let mut text = format!("crd: routes{n}.shop.example.com\ncases:\n");
    for case in 0..CASES / 4 {
        let _ = writeln!(
            text,
            "- {{name: 'accepted {case}', create: {{spec: {{size: {}, f{case}: abc}}}}, stores: {{spec: {{size: {}, f{case}: abc, mode: Safe}}}}}}
- {{name: 'rejected {case}', create: {{spec: {{size: {}}}}}, rejects: less than or equal to 100}}
- {{name: 'pattern {case}', create: {{spec: {{f{case}: A}}}}, rejects: [{{path: spec.f{case}, message: should match}}]}}
- {{name: 'update {case}', previous: {{spec: {{owner: a}}}}, update: {{spec: {{}}}}, rejects: owner stays}}",
            case + 1,
            case + 1,
            case + 101
        );
    }
    File::new(format!("{n}.crdtest.yaml"), text, Origin::Stdin)
}
