//! Shared helpers for tests: shapes and bundles from text, recorded verdicts, and fuzz targets.
#![cfg_attr(fuzzing, allow(dead_code))]

pub(crate) mod contradiction;
pub mod fuzz;
#[cfg(test)]
pub(crate) mod recorded;

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::cel::decl::Decl;
use crate::input::yaml::{YamlBudget, parse};
use crate::input::{Input, load};
use crate::model::schema::{Schema, Shape};
use crate::model::{Bundle, Documents};

/// A CRD up to its versions.
pub(crate) const HEAD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
";

/// A number in an environment variable.
#[cfg(test)]
pub(crate) fn number_in(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The shape of a schema written as JSON.
pub(crate) fn shape(schema: &Value) -> Shape {
    let documents = parse(&schema.to_string().into(), &YamlBudget::default());
    let tree = documents.first().and_then(|document| document.tree.as_ref().ok()).expect("a schema");
    Shape::of(&Schema::new(tree.root()))
}

/// The CEL declaration of a schema written as JSON.
pub(crate) fn decl(schema: &Value) -> Arc<Decl> {
    Arc::new(Decl::of(&shape(schema), false))
}

/// The shape of the first version of a CRD.
pub(crate) fn shape_of_crd(crd: &Value) -> Shape {
    let documents = Documents::of_text("crd.json", &crd.to_string());
    let bundle = Bundle::read(&documents);
    Shape::of(bundle.crds[0].versions[0].schema.as_ref().expect("a schema"))
}

/// All documents below a folder.
pub(crate) fn documents(folder: &Path) -> Documents {
    let loaded = load(&[Input::path(folder)], &Default::default());
    Documents::parse(loaded.files, &YamlBudget::default())
}
