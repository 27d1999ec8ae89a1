//! Test suites for CRDs: requests with the answers that their author expects.
//!
//! A suite is read from crdwise's own format ([`read`]) or from OpenShift's ([`openshift`]) into one form. [`run`] sends each case to
//! the model of the server ([`send`]) and compares the answer with the expectations ([`expect`]); [`coverage`] counts which constraints of a CRD some case
//! passes and some case breaks, and [`generate`] makes cases for the others.

pub(crate) mod coverage;
mod crd_patch;
pub(crate) mod expect;
pub(crate) mod feature_gates;
pub(crate) mod generate;
mod openshift;
mod read;
pub(crate) mod run;
mod send;

use serde_json::Value;

use crate::input::json_schema_check::Fault;
use crate::input::yaml::Node;
use crate::model::kubernetes::Minors;
use crate::model::{Documents, FileId, Place};
use crate::server::object::Subresource;

pub(crate) use read::SCHEMA;

/// How the names of suites end.
pub(crate) const SUFFIX: &str = ".crdtest.yaml";

/// One file of cases.
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

/// By whose rules a suite belongs to its CRDs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    Own,
    /// `tests/NAME/suite.yaml` is for the CRDs in the directory `manifests` beside `tests`, and its version counts as served.
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
    /// The servers that must answer so; those of the run where the file doesn't say.
    pub kubernetes: Option<Minors>,
}

#[derive(Debug)]
pub(crate) enum SuiteRequest {
    Create(Value),
    /// `previous` is stored, whether it is valid or not.
    Update {
        previous: Value,
        object: Value,
        subresource: Option<Subresource>,
    },
    /// As OpenShift's runner does it: a create and a write of its status, an update, and a write of its status.
    Sequence {
        initial: Value,
        updated: Value,
        /// Of the CRD under which the first object is created.
        patches: Vec<crd_patch::CrdPatch>,
    },
}

/// What the author says about the answer. What isn't said isn't compared.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    pub verdict: Option<Expected>,
    pub stores: Option<Value>,
    pub warns: Option<Vec<String>>,
    /// The error of the last write of the status.
    pub status_error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    Accepted,
    Rejected,
    /// Some error has this text in it.
    RejectedWith(String),
    /// These are all errors.
    RejectedBy(Vec<ExpectedError>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExpectedError {
    pub path: Option<String>,
    pub message: Option<String>,
}

/// A suite that can't be read, with everything that is wrong with it.
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
            read::read(*file, name, root)
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

/// The object that a case is about.
fn subject(case: &SuiteCase) -> &Value {
    match &case.request {
        SuiteRequest::Create(object) => object,
        // A `Scale` belongs to what it scales.
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
    // A version such as 1.33 is written without quotes, too.
    node.as_str().map(str::to_owned).or_else(|| node.as_f64().map(|_| node.source().trim().to_owned()))
}

/// Runs the suites of the documents on the CRDs among them: how many cases there are, and how many fail.
pub fn run_all(documents: &Documents) -> (usize, usize) {
    let suites: Vec<Suite> = suites(documents).into_iter().flatten().collect();
    let (results, _) = run::Tested::new(&crate::model::Bundle::read(documents), &[documents]).run(&suites);
    (results.len(), results.iter().filter(|result| !result.failures.is_empty()).count())
}
