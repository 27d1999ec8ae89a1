//! The hostile inputs: for each a name, what is run, and a function that writes its files.

use std::fs;
use std::path::Path;

mod bundles;
mod objects;
mod schemas;
mod trees;

#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub commands: &'static [&'static str],
    pub make: fn(&Path),
}

const fn case(name: &'static str, commands: &'static [&'static str], make: fn(&Path)) -> Case {
    Case { name, commands, make }
}

/// The format that most people see, the one with all findings, and the one that takes longest.
const REVIEW: &[&str] = &["review old.yaml new.yaml", "review old.yaml new.yaml --format json", "review old.yaml new.yaml --format html"];
/// Every format.
const FORMATS: &[&str] = &[
    "review old.yaml new.yaml",
    "review old.yaml new.yaml --format short",
    "review old.yaml new.yaml --format json",
    "review old.yaml new.yaml --format html",
    "review old.yaml new.yaml --format markdown",
    "review old.yaml new.yaml --format changelog",
    "review old.yaml new.yaml --format sarif",
    "review old.yaml new.yaml --format github",
    "review old.yaml new.yaml --format gitlab",
    "review old.yaml new.yaml --format junit",
];
/// One format of a review, and lint.
const REVIEW_AND_LINT: &[&str] = &["review old.yaml new.yaml", "review old.yaml new.yaml --format json", "lint new.yaml"];
const LINT: &[&str] = &["lint new.yaml", "lint new.yaml --format json"];
/// One side by itself.
const ONE_SIDE: &[&str] = &[
    "lint new.yaml",
    "lint new.yaml --format json",
    "test generate new.yaml --dir suites",
    "fixtures write new.yaml --dir fixtures",
    "baseline write new.yaml",
];
/// What compares two sides, and what reads one of them.
const EVERYTHING: &[&str] = &[
    "review old.yaml new.yaml",
    "review old.yaml new.yaml --format json",
    "review old.yaml new.yaml --format html",
    "lint new.yaml",
    "test generate new.yaml --dir suites",
    "fixtures write new.yaml --dir fixtures",
];
/// What is done with conversions between two sides.
const CONVERSIONS: &[&str] = &[
    "conversions scaffold old.yaml new.yaml",
    "conversions plan old.yaml new.yaml",
    "conversions check old.yaml new.yaml --conversions conversions",
    "review old.yaml new.yaml --conversions conversions",
    "conversions generate go --conversions conversions --crd new.yaml --output go",
];

pub fn cases() -> Vec<Case> {
    [bundles::CASES, schemas::CASES, trees::CASES, objects::CASES].into_iter().flat_map(|cases| cases.iter()).copied().collect()
}

fn write(dir: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

/// Writes `old.yaml` and `new.yaml`.
fn sides(dir: &Path, text: impl Fn(Side) -> String) {
    write(dir, "old.yaml", text(Side::Old));
    write(dir, "new.yaml", text(Side::New));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

impl Side {
    fn of<T>(self, old: T, new: T) -> T {
        if self == Side::Old { old } else { new }
    }
}

/// Texts for numbers, with commas between them.
fn list(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(", ")
}

/// A CRD with these versions.
fn crd(number: usize, versions: &[String]) -> String {
    let name = format!("routes{number}.shop.example.com");
    format!(
        "---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {name}}}
spec: {{group: shop.example.com, names: {{plural: routes{number}, kind: Route{number}}}, scope: Namespaced, versions: [{}]}}
",
        versions.join(", ")
    )
}

/// A version with this schema of `spec`.
fn version(name: &str, stored: bool, spec: &str) -> String {
    let schema = format!("{{type: object, properties: {{spec: {spec}}}}}");
    format!("{{name: {name}, served: true, storage: {stored}, schema: {{openAPIV3Schema: {schema}}}}}")
}

/// A CRD with one version, whose `spec` has this schema.
fn of_spec(number: usize, spec: &str) -> String {
    crd(number, &[version("v1", true, spec)])
}

/// A CRD whose `spec` has these properties.
fn of_fields(number: usize, fields: &str) -> String {
    of_spec(number, &format!("{{type: object, properties: {{{fields}}}}}"))
}
