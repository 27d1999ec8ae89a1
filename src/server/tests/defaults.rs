//! Defaults as the server judged them when a CRD was created.

use std::collections::BTreeSet;

use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::model::schema::Shape;
use crate::model::{Bundle, Documents};
use crate::server::object::default_of_schema;
use serde_json::Value;

use crate::testing::documents;
use crate::testing::recorded::{records, releases};

/// Collects the paths of nodes with a wrong default, in the server's format below the root schema, with the error.
fn wrong(shape: &Shape, path: &str, found: &mut Vec<(String, String)>) {
    for error in default_of_schema(shape) {
        let inside = if error.path.is_root() { String::new() } else { format!(".{}", error.path.dotted()) };
        found.push((format!("{path}.default"), format!("{inside} {} {}", error.reason.name(), error.message)));
    }
    if let Some(items) = &shape.items {
        wrong(items, &format!("{path}.items"), found);
    }
    for (name, property) in &shape.properties {
        wrong(property, &format!("{path}.properties[{name}]"), found);
    }
}

/// A recorded error in the same format: the node below the root schema, then the path inside the default.
fn recorded(error: &Value) -> Option<(String, String)> {
    let (_, below) = error["field"].as_str()?.split_once("openAPIV3Schema")?;
    let end = below.find(".default")? + ".default".len();
    Some((below[..end].to_owned(), format!("{} {} {}", &below[end..], error["type"].as_str()?, error["detail"].as_str()?)))
}

#[test]
fn recorded_defaults_are_refused_where_the_server_refused_them() {
    let records = records("lint");
    let (mut judged, mut different) = (0, 0);
    for record in &records {
        let member = File::new("crd.json", record["crd"].to_string(), Origin::Stdin);
        let documents = Documents::parse(vec![member], &YamlBudget::default());
        let bundle = Bundle::read(&documents);
        let mut found = Vec::new();
        for version in bundle.crds.iter().flat_map(|crd| &crd.versions) {
            if let Some(schema) = &version.schema {
                wrong(&Shape::of(schema), "", &mut found);
            }
        }
        let accepted = record["accepted"] == true;
        let about_value = |error: &&Value| {
            !["Forbidden", "list-map-keys"].iter().any(|other| error["detail"].as_str().is_some_and(|words| words.contains(other)))
        };
        let reported: BTreeSet<(String, String)> =
            record["errors"].as_array().into_iter().flatten().filter(about_value).filter_map(recorded).collect();
        let here: BTreeSet<(String, String)> = found.iter().cloned().collect();
        judged += usize::from(!reported.is_empty() || !here.is_empty());
        // If a CRD is refused for another reason, its defaults may be unchecked.
        if (accepted && !here.is_empty()) || (!reported.is_empty() && reported != here) {
            different += 1;
            println!("{} {}: server {reported:?} {}; here {found:?}", record["id"], record["about"], summary(&record["errors"]));
        }
    }
    println!("{judged} records about defaults, {different} different");
    assert!(judged > 0);
    assert_eq!(different, 0);
}

fn summary(errors: &Value) -> String {
    errors.to_string().chars().take(400).collect()
}

/// Released CRDs were accepted by a server, including their defaults.
#[test]
#[ignore = "reads the whole corpus"]
fn defaults_of_released_crds_are_fine() {
    let (mut defaults, mut different) = (0, 0);
    for folder in releases().into_iter().flatten() {
        let documents = documents(&folder);
        for version in Bundle::read(&documents).crds.iter().flat_map(|crd| &crd.versions) {
            let Some(schema) = &version.schema else { continue };
            let shape = Shape::of(schema);
            defaults += count(&shape);
            let mut found = Vec::new();
            wrong(&shape, "", &mut found);
            different += found.len();
            if !found.is_empty() {
                println!("{} {}: {found:?}", folder.display(), version.name);
            }
        }
    }
    println!("{defaults} defaults, {different} refused");
    assert!(defaults > 0);
    assert_eq!(different, 0);
}

fn count(shape: &Shape) -> usize {
    let own = usize::from(shape.default.is_some());
    own + shape.items.iter().map(|items| count(items)).sum::<usize>() + shape.properties.values().map(|child| count(child)).sum::<usize>()
}
