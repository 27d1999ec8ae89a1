//! Replays recorded stories of objects, versions and CRD updates on a simulated server.

use std::collections::BTreeMap;

use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::model::{Bundle, Documents};
use crate::server::object::{Endpoint, FieldErrorKind, Subresource};
use serde_json::{Value, json};

use crate::testing::recorded::records;

struct Version {
    storage: bool,
    endpoint: Endpoint,
}

/// An API server with one CRD, strategy None, and its stored objects.
struct Server {
    group: String,
    versions: BTreeMap<String, Version>,
    stored: BTreeMap<String, Value>,
}

type Answer = (u64, Value, Vec<String>);

fn merge(base: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *base = patch.clone();
        return;
    };
    if !base.is_object() {
        *base = json!({});
    }
    let map = base.as_object_mut().unwrap();
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

impl Server {
    fn set_versions(&mut self, crd: &Value) {
        let member = File::new("crd.json", crd.to_string(), Origin::Stdin);
        let documents = Documents::parse(vec![member], &YamlBudget::default());
        let bundle = Bundle::read(&documents);
        self.versions = bundle.crds[0]
            .versions
            .iter()
            .map(|version| {
                let endpoint = Endpoint::new(version).unwrap();
                (version.name.to_owned(), Version { storage: version.storage, endpoint })
            })
            .collect();
    }

    fn convert(&self, object: Value, to: &str) -> Value {
        self.versions[to].endpoint.convert(object, &format!("{}/{to}", self.group))
    }

    fn read(&self, name: &str, to: &str) -> Result<Value, Answer> {
        let Some(object) = self.stored.get(name).cloned() else { return Err((404, Value::Null, vec![])) };
        let from = object["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let Some(version) = self.versions.get(&from) else { return Err((500, Value::Null, vec![])) };
        Ok(self.convert(version.endpoint.read(object), to))
    }

    /// Stores an accepted object; the response is read back.
    fn write(&mut self, name: &str, via: &str, object: Value, code: u64, warnings: Vec<String>) -> Answer {
        let storage = self.versions.iter().find(|(_, version)| version.storage).map(|(name, _)| name.clone()).unwrap();
        self.stored.insert(name.to_owned(), self.convert(object, &storage));
        self.read(name, via).map_or_else(|error| error, |object| (code, object, warnings))
    }

    fn create(&mut self, name: &str, via: &str, object: Value) -> Answer {
        let outcome = self.versions[via].endpoint.create(object);
        if !outcome.accepted() {
            return (
                422,
                json!(outcome.errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect::<Vec<_>>()),
                vec![],
            );
        }
        self.write(name, via, outcome.stored, 201, vec![])
    }

    fn update(&mut self, name: &str, via: &str, old: &Value, new: Value, status: bool) -> Answer {
        let endpoint = &self.versions[via].endpoint;
        let outcome = match status {
            true => endpoint.update_subresource(Subresource::Status, old, new).unwrap(),
            false => endpoint.update(old, new),
        };
        if !outcome.accepted() {
            return (
                422,
                json!(outcome.errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect::<Vec<_>>()),
                vec![],
            );
        }
        // Of tolerated errors, the server only warns about violated rules.
        let shown = outcome.warnings.iter().map(|tolerated| &tolerated.error).filter(|error| error.kind == FieldErrorKind::Rule);
        let warnings = shown.map(|error| format!("{}: {}", error.field, error.message)).collect();
        self.write(name, via, outcome.stored, 200, warnings)
    }

    fn step(&mut self, crd: &mut Value, step: &Value) -> Option<Answer> {
        let via = step["version"].as_str().unwrap_or_default();
        let given = step.get("object").or_else(|| step.get("body")).cloned().unwrap_or_default();
        let name = step["name"].as_str().or_else(|| given["metadata"]["name"].as_str()).unwrap_or("obj").to_owned();
        let name = name.as_str();
        Some(match step["op"].as_str().unwrap_or_default() {
            "update-crd" => {
                crd["spec"]["versions"] = step["versions"].clone();
                self.set_versions(crd);
                return None;
            }
            "trim-stored-versions" => return None,
            "create" => self.create(name, via, given),
            "get" => self.read(name, via).map_or_else(|error| error, |object| (200, object, vec![])),
            "delete" => match self.read(name, via) {
                Ok(_) => (200, Value::Null, vec![]),
                Err(error) => error,
            },
            "apply" if !self.stored.contains_key(name) => self.create(name, via, given),
            op => match self.read(name, via) {
                Err(error) => error,
                Ok(old) => {
                    let mut new = old.clone();
                    if op == "put" || step["method"] == "put" {
                        new = given;
                        // The client fills in what the request's path states.
                        for key in ["apiVersion", "kind", "metadata"] {
                            if new.get(key).is_none() {
                                new[key] = old[key].clone();
                            }
                        }
                    } else {
                        merge(&mut new, &given);
                    }
                    self.update(name, via, &old, new, op == "status")
                }
            },
        })
    }
}

fn content(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("metadata");
    }
    object
}

#[test]
fn recorded_stories_end_as_on_the_server() {
    let records = records("cross");
    let (mut steps, mut different) = (0, 0);
    for record in &records {
        let mut crd = record["crd"].clone();
        let group = crd["spec"]["group"].as_str().unwrap_or_default().to_owned();
        let mut server = Server { group, versions: BTreeMap::new(), stored: BTreeMap::new() };
        server.set_versions(&crd);
        for (number, step) in record["steps"].as_array().into_iter().flatten().enumerate() {
            // How an apply merges lists isn't part of the model.
            if step["op"] == "apply" && !server.stored.is_empty() {
                break;
            }
            let Some((code, object, warnings)) = server.step(&mut crd, step) else { continue };
            steps += 1;
            let result = &step["result"];
            let shown = result["message"].as_str().unwrap_or_default();
            let equal = result["code"] == code
                && match code {
                    200 | 201 if step["op"] != "delete" => content(&object) == content(&result["object"]),
                    422 => object.as_array().is_some_and(|errors| errors.iter().all(|error| shown.contains(error.as_str().unwrap_or("?")))),
                    _ => true,
                };
            let warned: Vec<String> = result["warnings"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|text| text.as_str().map(|text| text.replace('\\', "")))
                .collect();
            if !equal || warned != warnings {
                different += 1;
                println!("{} step {}: {step}\n  here {code} {object} {warnings:?}", record["id"], number + 1);
            }
        }
    }
    println!("{steps} steps played, {different} different");
    assert!(steps > 0);
    assert_eq!(different, 0);
}
