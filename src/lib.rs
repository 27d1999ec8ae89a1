//! crdwise lints CRDs and reviews changes to them, based on a model of the API server.
//!
//! Code finds facts, data judges them, evidence proves them: bundles are read with exact positions, compared and linted, each fact
//! is judged by a rule file under a policy, and the result is a [`Report`].
//!
//! ```
//! use crdwise::{Book, Class, Documents, Judgement, Policy, Side, review};
//!
//! let crd = |maximum: u32| format!("
//! apiVersion: apiextensions.k8s.io/v1
//! kind: CustomResourceDefinition
//! metadata: {{name: widgets.shop.example.com}}
//! spec:
//!   group: shop.example.com
//!   scope: Namespaced
//!   names: {{plural: widgets, kind: Widget}}
//!   versions:
//!     - name: v1
//!       served: true
//!       storage: true
//!       schema:
//!         openAPIV3Schema:
//!           type: object
//!           properties:
//!             spec: {{type: object, properties: {{size: {{type: integer, maximum: {maximum}}}}}}}
//! ");
//! // Load: texts from anywhere; [`load`] reads files, directories and git revisions.
//! let (old, new) = (Documents::of_text("old.yaml", &crd(10)), Documents::of_text("new.yaml", &crd(5)));
//! // Review: rules and a policy judge what changed.
//! let policy = Policy::find("guidelines").expect("a built-in policy");
//! let report = review(&Side::new("old", &old), &Side::new("new", &new), &Judgement::new(Book::builtin(), &policy));
//! // Report: the same that `--format json` prints.
//! assert_eq!(report.verdict, Some(Class::SemanticBreaking));
//! assert!(report.findings.iter().any(|finding| finding.path == "spec.size"));
//! ```

// Rooms are private, so that the compiler reports unused code; the public API is re-exported below.
mod cel;
mod cli;
mod compare;
mod find;
mod go;
mod input;
mod judge;
mod model;
mod render;
mod server;
#[cfg(any(test, fuzzing))]
mod testing;

// Load: files, directories, archives, git revisions or texts become documents.
pub use input::yaml::YamlBudget;
pub use input::{File, Input, InputError, Limits, Loaded, Origin, Repository, load};
pub use model::{Documents, Skipped};

// Review and lint: documents are judged by rules under a policy.
pub use judge::policy::{DEFAULT as DEFAULT_POLICY, Policy};
pub use judge::review::{Judgement, Side, lint, review};
pub use judge::rule::Book;

// Report: the findings.
pub use judge::bump::Recommendation;
pub use judge::finding::{Bump, Class, Finding, Severity, Spot, Status};
pub use judge::report::{Report, SideSummary};
pub use judge::rule::{Family, Kind};
pub use model::fact::{Affected, Affects, Certainty, Outcome, Ratchet, Witness};
pub use render::json::render as to_json;

// Conversions: manifests convert objects of older versions, for controllers and other tools.
pub use find::conversion::{Canonical, Canonicaliser, Conversions, InvalidManifest};

/// The program, for `main.rs` and its tests; not part of the API.
#[doc(hidden)]
pub mod program {
    pub use crate::cli::{Exit, Streams, Terminal, main};
}

/// Single stages, for the benchmarks; not part of the API.
#[doc(hidden)]
pub mod stages {
    pub use crate::find::change::{ChangeOptions, diff};
    pub use crate::find::conversion::convert_files::{ConversionTarget, FileConverter};
    pub use crate::judge::suite::run_all as run_suites;
    pub use crate::model::Bundle;
    pub use crate::render::{Anchors, View, env, github, gitlab, human, junit, markdown, sarif};
    pub use crate::server::object::{ImpactChecker, check_objects};
}

/// The targets that `fuzz/` runs; not part of the API.
#[cfg(fuzzing)]
#[doc(hidden)]
pub use testing::fuzz;
