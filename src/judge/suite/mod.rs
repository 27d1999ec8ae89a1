//! Test suites for CRDs: requests with expected responses.
//!
//! A suite is read from crdwise's own format ([`read`]) or from OpenShift's ([`openshift`]) into one form. [`run`] sends each case
//! to the server model ([`send`]) and compares the response with the expectations ([`expect`]); [`coverage`] counts which
//! constraints of a CRD some case passes and violates, and [`generate`] creates cases for the others.

pub(crate) mod coverage;
mod crd_patch;
pub(crate) mod expect;
pub(crate) mod feature_gates;
pub(crate) mod generate_cases;
mod openshift;
mod read_suite;
pub(crate) mod run;
mod send;

use serde_json::Value;

use crate::input::json_schema_check::Fault;
use crate::input::yaml::Node;
use crate::model::kubernetes::Minors;
use crate::model::{Documents, FileId, Place};
use crate::server::object::Subresource;

pub(crate) use read_suite::SCHEMA;

/// The ending of suite file names.
pub(crate) const SUFFIX: &str = ".crdtest.yaml";

/// One file with cases.
#[derive(Debug)]
pub(crate) struct Suite {
    pub file: FileId,
    pub name: String,
    /// The name of the CRD.
    pub crd: Option<String>,
    pub version: Option<String>,
    /// Feature gates that a variant of the CRD must have, or with a `-` must not have.
    pub gates: Vec<String>,
    pub layout: Layout,
    pub cases: Vec<SuiteCase>,
}

/// How a suite finds its CRDs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    Own,
    /// `tests/NAME/suite.yaml` applies to the CRDs in the directory `manifests` next to `tests`, and its version counts as served.
    OpenShift {
        manifests: Option<String>,
    },
}

#[derive(Debug)]
pub(crate) struct SuiteCase {
    pub name: String,
    pub place: Place,
    pub request: SuiteRequest,
    pub expects: Expectations,
    pub version: Option<String>,
    /// The servers that must respond this way; by default those of the run.
    pub kubernetes: Option<Minors>,
}

#[derive(Debug)]
pub(crate) enum SuiteRequest {
    Create(Value),
    /// `previous` is stored first, valid or not.
    Update {
        previous: Value,
        object: Value,
        subresource: Option<Subresource>,
    },
    /// Like OpenShift's runner: a create with a status write, then an update with a status write.
    Sequence {
        initial: Value,
        updated: Value,
        /// Patches for the CRD under which the first object is created.
        patches: Vec<crd_patch::CrdPatch>,
    },
}

/// The expected response. Anything not stated isn't compared.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    pub verdict: Option<Expected>,
    pub stores: Option<Value>,
    pub warns: Option<Vec<String>>,
    /// The error of the last status write.
    pub status_error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    Accepted,
    Rejected,
    /// Some error contains this text.
    RejectedWith(String),
    /// These are all the errors.
    RejectedBy(Vec<ExpectedError>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExpectedError {
    pub path: Option<String>,
    pub message: Option<String>,
}

/// An unreadable suite, with everything wrong with it.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub file: FileId,
    pub faults: Vec<Fault>,
}

/// All suites among the documents.
pub(crate) fn suites(documents: &Documents) -> Vec<Result<Suite, Unreadable>> {
    let mut found = Vec::new();
    for (file, document) in &documents.documents {
        let Some(name) = documents.file(*file).map(|file| file.name.as_str()) else { continue };
        let own = is_suite_name(name);
        let root = match &document.tree {
            Ok(tree) => tree.root(),
            Err(error) if own => {
                let faults = vec![Fault::new(error.kind.to_string(), error.span)];
                found.push(Err(Unreadable { file: *file, faults }));
                continue;
            }
            Err(_) => continue,
        };
        let suite = if own {
            read_suite::read(*file, name, root)
        } else if openshift::is_suite(root) {
            openshift::read(*file, name, root)
        } else {
            continue;
        };
        found.push(suite.map_err(|faults| Unreadable { file: *file, faults }));
    }
    found
}

pub(crate) fn is_suite_name(name: &str) -> bool {
    name.ends_with(SUFFIX) || name.ends_with(".crdtest.yml")
}

/// The object that a case tests.
fn subject(case: &SuiteCase) -> &Value {
    match &case.request {
        SuiteRequest::Create(object) => object,
        // A `Scale` belongs to the object it scales.
        SuiteRequest::Update { previous, object, .. } => {
            if object.get("kind").is_some_and(|kind| kind == "Scale") {
                previous
            } else {
                object
            }
        }
        SuiteRequest::Sequence { updated, .. } => updated,
    }
}

fn text<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str)
}

fn word(node: Node<'_>, key: &str) -> Option<String> {
    let node = node.get(key)?;
    // A version such as 1.33 may be written without quotes.
    node.as_str().map(str::to_owned).or_else(|| node.as_f64().map(|_| node.source().trim().to_owned()))
}

/// Runs the suites in the documents on the CRDs among them, and returns how many cases there are and how many fail.
pub fn run_all(documents: &Documents) -> (usize, usize) {
    let suites: Vec<Suite> = suites(documents).into_iter().flatten().collect();
    let (results, _) = run::SuiteRunner::new(&crate::model::Bundle::read(documents), &[documents]).run(&suites);
    (results.len(), results.iter().filter(|result| !result.failures.is_empty()).count())
}
