//! Verdicts recorded from a real API server, where they are at hand (`../shared/vectors`).
#![allow(clippy::disallowed_macros, reason = "tables of differences belong into a test's output")]

use std::path::PathBuf;

use crdwise::input::yaml::Budget;
use crdwise::input::{File, Origin};
use crdwise::model::schema::Shape;
use crdwise::model::{Bundle, Documents};
use serde_json::Value;

/// The records of one file; `None`, with a note, where the vectors are not there.
pub fn records(name: &str) -> Option<Vec<Value>> {
    let file = [env!("CARGO_MANIFEST_DIR"), "..", "shared", "vectors", name].iter().collect::<PathBuf>();
    let file = std::env::var_os("CRDWISE_VECTORS").map_or(file, |folder| PathBuf::from(folder).join(name));
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("skipped: no {}", file.display());
        return None;
    };
    Some(text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).expect("a record")).collect())
}

/// The shape of the only version of a CRD.
pub fn shape(crd: &Value) -> Shape {
    let member = File::new("crd.json", crd.to_string(), Origin::Stdin);
    let documents = Documents::parse(vec![member], &Budget::default());
    let bundle = Bundle::read(&documents);
    let schema = bundle.crds[0].versions[0].schema.as_ref().expect("a schema");
    Shape::of(schema)
}
