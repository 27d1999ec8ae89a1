//! Schemas of recorded CRDs.

use std::path::Path;

use crdwise::input::yaml::Budget;
use crdwise::input::{File, Origin};
use crdwise::model::schema::Shape;
use crdwise::model::{Bundle, Documents};
use serde_json::Value;

/// The shape of the only version of a CRD.
pub fn shape(crd: &Value) -> Shape {
    let member = File::new("crd.json", crd.to_string(), Origin::Stdin);
    let documents = Documents::parse(vec![member], &Budget::default());
    let bundle = Bundle::read(&documents);
    let schema = bundle.crds[0].versions[0].schema.as_ref().expect("a schema");
    Shape::of(schema)
}

/// Everything below a folder.
pub fn documents(folder: &Path) -> Documents {
    let loaded = crdwise::input::load(&[crdwise::input::Input::path(folder)], &Default::default());
    Documents::parse(loaded.files, &Budget::default())
}
