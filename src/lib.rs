//! crdwise lints CRDs and reviews changes to them, knowing what an API server does.
//!
//! Code finds facts, data judges them, evidence proves them: bundles are read with exact places, compared and inspected, each fact
//! is judged by a rule file under a policy, and a [`judge::report::Report`] comes out.
//!
//! ```
//! use crdwise::model::Documents;
//! use crdwise::judge::finding::Class;
//! use crdwise::judge::policy::Policy;
//! use crdwise::judge::review::{Judgement, Side, review};
//! use crdwise::judge::rule::Book;
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
//! // Load: texts from anywhere; `input::load` reads files, directories and git revisions.
//! let (old, new) = (Documents::of_text("old.yaml", &crd(10)), Documents::of_text("new.yaml", &crd(5)));
//! // Review: rules and a policy judge what changed.
//! let policy = Policy::find("guidelines").expect("a built-in policy");
//! let report = review(&Side::new("old", &old), &Side::new("new", &new), &Judgement::new(Book::builtin(), &policy));
//! // Report: the same that `--format json` prints.
//! assert_eq!(report.verdict, Some(Class::SemanticBreaking));
//! assert!(report.findings.iter().any(|finding| finding.path == "spec.size"));
//! ```

pub mod cel;
pub mod cli;
pub mod compare;
pub mod find;
pub mod go;
pub mod input;
pub mod judge;
pub mod model;
pub mod render;
pub mod server;
#[cfg(test)]
mod testing;
