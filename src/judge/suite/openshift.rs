//! Reads a suite in OpenShift's format: `tests` with lists `onCreate` and `onUpdate`, whose objects are YAML strings.

use serde_json::Value;

use crate::input::json_schema_check::{Fault, nearest};
use crate::input::yaml::{self, Node, YamlBudget};
use crate::model::{FileId, Place};

use super::crd_patch::CrdPatch;
use super::{Expectations, Expected, Layout, Suite, SuiteCase, SuiteRequest, word};

const SUITE_KEYS: &[&str] = &["apiVersion", "name", "crd", "crdName", "version", "featureGate", "featureGates", "tests"];
const CREATE_KEYS: &[&str] = &["name", "initial", "expected", "expectedError"];
const UPDATE_KEYS: &[&str] = &["name", "initial", "updated", "expected", "expectedError", "expectedStatusError", "initialCRDPatches"];

/// The directory where OpenShift has the CRDs of an API group and version.
pub(crate) const MANIFESTS: &str = "zz_generated.crd-manifests";

pub(super) fn is_suite(root: Node<'_>) -> bool {
    root.get("tests").is_some_and(|tests| tests.get("onCreate").is_some() || tests.get("onUpdate").is_some())
}

pub(super) fn read(file: FileId, name: &str, root: Node<'_>) -> Result<Suite, Vec<Fault>> {
    let mut faults = Vec::new();
    known(root, SUITE_KEYS, &mut faults);
    let tests = root.get("tests").unwrap_or(root);
    known(tests, &["onCreate", "onUpdate"], &mut faults);
    let list = |key: &str| tests.items_of(key);
    let mut cases: Vec<SuiteCase> = list("onCreate").filter_map(|node| on_create(file, node, &mut faults)).collect();
    cases.extend(list("onUpdate").filter_map(|node| on_update(file, node, &mut faults)));
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut gates: Vec<String> = word(root, "featureGate").into_iter().collect();
    gates.extend(root.items_of("featureGates").filter_map(|gate| gate.as_str().map(str::to_owned)));
    Ok(Suite {
        file,
        name: word(root, "name").unwrap_or_else(|| name.to_owned()),
        crd: word(root, "crdName"),
        version: word(root, "version"),
        gates,
        layout: Layout::OpenShift { manifests: manifests(name) },
        cases,
    })
}

/// `config/v1/zz_generated.crd-manifests/` for `config/v1/tests/widgets.example.com/suite.yaml`.
fn manifests(name: &str) -> Option<String> {
    let (directory, _) = name.rsplit_once('/')?;
    let (tests, _) = directory.rsplit_once('/').unwrap_or((directory, ""));
    let above = tests.strip_suffix("tests").filter(|above| above.is_empty() || above.ends_with('/'))?;
    Some(format!("{above}{MANIFESTS}/"))
}

fn known(node: Node<'_>, keys: &[&str], faults: &mut Vec<Fault>) {
    for entry in node.entries().filter(|entry| !keys.contains(&entry.key.key_text())) {
        let key = entry.key.key_text();
        let hint = nearest(key, keys.iter().copied());
        let list = if hint.is_empty() { format!("; use one of {}", keys.join(", ")) } else { hint };
        faults.push(Fault::at(entry.key, format!("unknown key `{key}`{list}")));
    }
}

fn on_create(file: FileId, node: Node<'_>, faults: &mut Vec<Fault>) -> Option<SuiteCase> {
    known(node, CREATE_KEYS, faults);
    let initial = object(node, "initial", faults)?;
    let stores = expected(node, faults).or_else(|| Some(initial.clone()));
    Some(case(file, node, SuiteRequest::Create(initial), stores))
}

fn on_update(file: FileId, node: Node<'_>, faults: &mut Vec<Fault>) -> Option<SuiteCase> {
    known(node, UPDATE_KEYS, faults);
    let patches = node.items_of("initialCRDPatches").filter_map(|patch| CrdPatch::read(patch, faults)).collect();
    let (initial, updated) = (object(node, "initial", faults), object(node, "updated", faults));
    let (initial, updated) = (initial?, updated?);
    let stores = expected(node, faults).or_else(|| Some(updated.clone()));
    Some(case(file, node, SuiteRequest::Sequence { initial, updated, patches }, stores))
}

fn case(file: FileId, node: Node<'_>, request: SuiteRequest, stores: Option<Value>) -> SuiteCase {
    let text = |key: &str| word(node, key).filter(|text| !text.is_empty());
    let error = text("expectedError");
    let status_error = text("expectedStatusError");
    let stores = stores.filter(|_| error.is_none() && status_error.is_none());
    SuiteCase {
        name: word(node, "name").unwrap_or_default(),
        place: Place { file, span: node.get("name").unwrap_or(node).span() },
        request,
        expects: Expectations {
            verdict: Some(error.map_or(Expected::Accepted, Expected::RejectedWith)),
            stores,
            warns: None,
            status_error,
        },
        version: None,
        kubernetes: None,
    }
}

fn expected(node: Node<'_>, faults: &mut Vec<Fault>) -> Option<Value> {
    let given = node.get("expected")?.as_str()?.trim();
    if given.is_empty() { None } else { object(node, "expected", faults) }
}

/// Parses an object that is written as a string. An error is reported at the string.
fn object(node: Node<'_>, key: &str, faults: &mut Vec<Fault>) -> Option<Value> {
    let Some(text) = node.get(key) else {
        faults.push(Fault::at(node, format!("`{key}` is missing")));
        return None;
    };
    let Some(source) = text.as_str() else {
        faults.push(Fault::at(text, "must be a string that contains an object"));
        return None;
    };
    let documents = yaml::parse(&source.into(), &YamlBudget::default());
    match documents.into_iter().next().map(|document| document.tree) {
        Some(Ok(tree)) if tree.root().is_map() => Some(tree.root().to_json()),
        Some(Err(error)) => {
            faults.push(Fault::at(text, format!("the object can't be read: {}", error.kind)));
            None
        }
        _ => {
            faults.push(Fault::at(text, "must be a string that contains an object"));
            None
        }
    }
}
