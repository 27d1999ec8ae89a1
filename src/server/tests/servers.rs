//! Requests recorded from ten minor versions of Kubernetes, each judged for each of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::cel::rule_check::{self, StoredExpressions};
use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::model::fact::Fact;
use crate::model::kubernetes::{FeatureScope, Minor, Minors, Server, TABLE};
use crate::model::schema::Shape;
use crate::model::{Bundle, Documents};
use crate::server::crd::{create, update};
use crate::server::object::{Endpoint, Subresource};
use crate::testing::recorded::{committed, id, records};

fn documents(crd: &Value) -> Documents {
    Documents::parse(vec![File::new("crd.json", crd.to_string(), Origin::Stdin)], &YamlBudget::default())
}

/// The old CRD as recorded: established, with the versions that objects were stored at.
fn stored(record: &Value) -> Value {
    let mut old = record["old"].clone();
    if let Some(versions) = record.get("stored_versions") {
        old["status"] = json!({"storedVersions": versions});
    }
    old
}

/// The model's complaints about a request; empty if it accepts it.
fn answer(record: &Value, server: Server) -> Vec<String> {
    let refused = |facts: &[Fact]| {
        let open = facts.iter().filter(|fact| fact.is_refusal() && !fact.pre_existing);
        open.map(|fact| format!("{}: {:?}", fact.field.as_deref().unwrap_or_default(), fact.words)).collect::<Vec<_>>()
    };
    match record["kind"].as_str().unwrap_or_default() {
        "crd-create" => {
            let documents = documents(&record["crd"]);
            refused(&create(&Bundle::read(&documents).crds[0].on(server)).facts)
        }
        "crd-update" => {
            let (old, new) = (documents(&stored(record)), documents(&record["new"]));
            refused(&update(&Bundle::read(&old).crds[0].on(server), &Bundle::read(&new).crds[0].on(server)).facts)
        }
        kind => {
            let documents = documents(&record["crd"]);
            let crd = Bundle::read(&documents).crds[0].on(server);
            let version = &crd.versions[0];
            let endpoint = Endpoint::new(version).expect("a schema");
            let complete = |object: &Value| {
                let mut object = object.clone();
                object["apiVersion"] = json!(format!("{}/{}", crd.group(), version.name));
                object["kind"] = json!(crd.kind());
                let metadata = object.as_object_mut().unwrap().entry("metadata").or_insert_with(|| json!({}));
                metadata.as_object_mut().unwrap().entry("name").or_insert_with(|| json!("x"));
                object
            };
            let object = complete(&record["object"]);
            let old = || endpoint.read(complete(&record["old_object"]));
            let outcome = match kind {
                "object-create" => endpoint.create(object),
                _ if record["subresource"] == "status" => {
                    endpoint.update_subresource(Subresource::Status, &old(), object).expect("a status")
                }
                _ => endpoint.update(&old(), object),
            };
            outcome.errors.iter().map(|error| format!("{}: {}", error.field, error.server_message())).collect()
        }
    }
}

#[test]
fn each_version_responds_as_recorded() {
    let kinds = ["crd-create", "crd-update", "object-create", "object-update"];
    let mut right: BTreeMap<(Minor, &str), (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for record in records("servers") {
        let kind = kinds.into_iter().find(|kind| record["kind"] == *kind).expect("a known kind");
        for (minors, said) in Minors::ALL.each(|server| answer(&record, server)) {
            for minor in minors.iter() {
                let recorded = &record["verdicts"][minor.to_string()];
                let tally = right.entry((minor, kind)).or_default();
                tally.1 += 1;
                if recorded["accepted"] == said.is_empty() {
                    tally.0 += 1;
                } else {
                    wrong.push(format!("{} on {minor} ({}): {:?}, recorded {}", id(&record), record["about"], said, recorded["errors"]));
                }
            }
        }
    }
    println!("minor  {}", kinds.map(|kind| format!("{kind:>16}")).join(""));
    for minor in Minor::ALL {
        let cells = kinds.map(|kind| right.get(&(minor, kind)).copied().unwrap_or_default());
        println!("{minor}   {}", cells.map(|(good, all)| format!("{:>16}", format!("{good} of {all}"))).join(""));
    }
    println!("{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{} verdicts are wrong", wrong.len());
}

/// The message for an expression that doesn't compile comes from the server's CEL library, and isn't reproduced here.
fn is_compile_error(text: &str) -> bool {
    text.contains("rule compile error")
}

/// Owner references without a name were worded in three ways.
const WORDED_OTHERWISE: [&str; 1] = ["meta-owner-empty"];

#[test]
fn each_version_words_errors_as_recorded() {
    let (mut right, mut wrong) = (0, Vec::new());
    let is_request = |record: &Value| record["kind"].as_str().is_some_and(|kind| kind.starts_with("object"));
    for record in records("servers").into_iter().filter(|record| is_request(record) && !WORDED_OTHERWISE.contains(&&*id(record))) {
        for minor in Minor::ALL {
            let mut said = answer(&record, minor.server());
            said.sort();
            let errors = record["verdicts"][minor.to_string()]["errors"].as_array().cloned().unwrap_or_default();
            let text = |error: &Value, key: &str| error[key].as_str().unwrap_or_default().to_owned();
            let mut recorded: Vec<String> =
                errors.iter().map(|error| format!("{}: {}", text(error, "field"), text(error, "detail"))).collect();
            recorded.sort();
            let same = |(ours, theirs): (&String, &String)| ours == theirs || is_compile_error(theirs);
            if said.len() == recorded.len() && said.iter().zip(&recorded).all(same) {
                right += 1;
            } else {
                wrong.push(format!("{} on {minor}:\n  {}\n  recorded:\n  {}", id(&record), said.join("\n  "), recorded.join("\n  ")));
            }
        }
    }
    println!("{right} answers are worded as recorded\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{} answers are worded differently", wrong.len());
}

#[test]
fn each_version_estimates_costs_as_recorded() {
    let (mut right, mut wrong) = (0, Vec::new());
    for record in records("servers") {
        for minor in Minor::ALL {
            let costs = record["verdicts"][minor.to_string()]["costs"].as_array().cloned().unwrap_or_default();
            if costs.is_empty() {
                continue;
            }
            let documents = documents(&record["crd"]);
            let crd = Bundle::read(&documents).crds[0].on(minor);
            let shape = Shape::of(crd.versions[0].schema.as_ref().expect("a schema"));
            let texts = costs.iter().filter_map(|cost| cost["rule"].as_str()).map(str::to_owned).collect();
            let known = StoredExpressions { rules: texts, ..StoredExpressions::default() };
            for (env, stored) in [("new", &StoredExpressions::default()), ("stored", &known)] {
                let sites = rule_check::check_rules(&shape, stored);
                let rules: Vec<_> = sites.iter().flat_map(|site| &site.rules).collect();
                for cost in costs.iter().filter(|cost| cost["env"] == env) {
                    let Some(rule) = rules.iter().find(|rule| cost["rule"] == rule.rule.rule.as_str()) else { continue };
                    let ours = rule.program.as_ref().map(|_| rule.cost_once);
                    // A type referred to by name isn't modelled here; dropping optionalOldSelf was recorded as if it didn't happen.
                    if ours == cost["cost"].as_u64() || ["cel-std-struct-lit-new", "oos-create"].contains(&&*id(&record)) {
                        right += 1;
                    } else {
                        wrong.push(format!("{} on {minor} as {env}: {ours:?}, recorded {} {}", id(&record), cost["cost"], cost["error"]));
                    }
                }
            }
        }
    }
    println!("{right} estimates are right\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{} estimates are wrong", wrong.len());
}

/// Each row of the feature table names the first version with a feature, and a case that shows it there.
#[test]
fn each_feature_names_a_case_that_shows_it() {
    let recorded: BTreeMap<String, Value> = committed("servers").into_iter().map(|record| (id(&record), record)).collect();
    let mut wrong = Vec::new();
    for row in TABLE {
        let Some(record) = recorded.get(row.case) else {
            wrong.push(format!("{:?}: no case `{}` in testdata/server/servers.jsonl", row.feature, row.case));
            continue;
        };
        // New expressions are compiled with the environment of the previous minor version.
        let new = row.scope == FeatureScope::Expressions && row.case.ends_with("-new");
        let changes = Minor::ALL
            .into_iter()
            .zip(Minor::ALL.into_iter().skip(1))
            .filter(|(before, after)| record["verdicts"][before.to_string()] != record["verdicts"][after.to_string()]);
        let shown = if new { Minor::first_with(row.feature) } else { row.since };
        if !changes.map(|(_, after)| after).any(|minor| minor == shown) {
            wrong.push(format!("{:?}: `{}` shows nothing at {shown}", row.feature, row.case));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
