//! Every object of the recorded pairs, on both sides: verdict, stored form, dropped paths and error fields.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::number::write_as_sent;
use crate::server::object::{Compiled, Response};
use serde_json::{Value, json};

use crate::testing::recorded::{committed, records};
use crate::testing::shape_of_crd;

/// The full object of a recorded body.
fn whole(crd: &Value, body: &Value) -> Value {
    let mut object = body.clone();
    let group = crd["spec"]["group"].as_str().unwrap_or_default();
    let version = crd["spec"]["versions"][0]["name"].as_str().unwrap_or_default();
    object["apiVersion"] = json!(format!("{group}/{version}"));
    object["kind"] = crd["spec"]["names"]["kind"].clone();
    if object.get("metadata").is_none() {
        object["metadata"] = json!({"name": "obj"});
    }
    object
}

fn body(mut object: Value) -> Value {
    if let Some(map) = object.as_object_mut() {
        for key in ["apiVersion", "kind", "metadata"] {
            map.remove(key);
        }
    }
    object
}

fn words(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Describes the differences from the server's response; empty if there are none.
fn differences(outcome: &Response, side: &Value) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let told: Vec<String> = outcome.errors.iter().map(|error| format!("{} ({:?})", error.field, error.kind)).collect();
    let accepted = side["accepted"] == true;
    if outcome.accepted() != accepted {
        found.push(("verdict", format!("server accepted={accepted} {}; here {told:?}", side["errors"])));
    }
    if accepted && outcome.accepted() && body(outcome.stored.clone()) != side["stored"] {
        found.push(("stored", format!("server {}; here {}", side["stored"], outcome.stored)));
    }
    let dropped: BTreeSet<String> = outcome.pruned.iter().map(|path| path.dotted()).collect();
    if dropped != words(&side["dropped"]) {
        found.push(("dropped", format!("server {}; here {dropped:?}", side["dropped"])));
    }
    let fields: BTreeSet<String> = outcome.errors.iter().map(|error| error.field.clone()).collect();
    if !accepted && !outcome.accepted() && fields != words(&side["errors"]) {
        found.push(("fields", format!("server {}; here {told:?}", side["errors"])));
    }
    found
}

#[test]
fn every_recorded_object_is_judged_as_the_server_judged_it() {
    let records = records("compat");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut judged, mut shown) = (0, 0);
    for record in &records {
        for side in ["old", "new"] {
            let compiled = Compiled::new(&shape_of_crd(&record[side]));
            for sample in record["objects"].as_array().into_iter().flatten() {
                judged += 1;
                let outcome = compiled.request(whole(&record[side], &sample["object"]));
                if outcome.accepted() {
                    let again = compiled.request(outcome.stored.clone());
                    let settled =
                        again.accepted() && again.stored == outcome.stored && again.pruned.is_empty() && again.defaulted.is_empty();
                    assert!(settled, "{} {side}: what was stored is not stored again: {:?}", record["id"], again);
                    let update = compiled.request_update(&outcome.stored, outcome.stored.clone());
                    assert!(update.accepted(), "{} {side}: an update that changes nothing is refused: {:?}", record["id"], update.errors);
                }
                for (what, text) in differences(&outcome, &sample[side]) {
                    *counts.entry(what).or_default() += 1;
                    shown += 1;
                    if shown <= 40 {
                        println!("{} {side} {what}: {text}\n    object {}", record["id"], sample["object"]);
                    }
                }
            }
        }
    }
    println!("{judged} requests judged");
    for what in ["verdict", "stored", "dropped", "fields"] {
        println!("{:>8} differences: {}", what, counts.get(what).copied().unwrap_or(0));
    }
    assert!(judged > 0);
    assert!(counts.is_empty(), "{counts:?}");
}

/// Objects created and updated on a server of the default version, under CRDs that this version accepts.
#[test]
fn objects_are_judged_as_kubernetes_1_36_judges_them() {
    let mut judged = 0;
    for record in committed("servers") {
        let (crd, verdict) = (&record["crd"], &record["verdicts"]["1.36"]);
        if verdict["crd_refused_on_create"] == true {
            continue;
        }
        let send = |name: &str| whole(crd, &record[name]);
        let outcome = match record["kind"].as_str() {
            Some("object-create") => Compiled::new(&shape_of_crd(crd)).request(send("object")),
            Some("object-update") => {
                let compiled = Compiled::new(&shape_of_crd(crd));
                let old = compiled.request(send("old_object")).stored;
                compiled.request_update(&old, send("object"))
            }
            _ => continue,
        };
        judged += 1;
        assert_eq!(outcome.accepted(), verdict["accepted"] == true, "{}: {:?}, server {verdict}", record["id"], outcome.errors);
        if outcome.accepted() {
            let mut stored = body(outcome.stored);
            write_as_sent(&mut stored);
            assert_eq!(stored, verdict["stored"], "{}", record["id"]);
        }
    }
    assert!(judged > 50, "{judged} objects");
}
