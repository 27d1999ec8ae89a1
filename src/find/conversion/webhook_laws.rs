//! The laws of an existing conversion webhook, tested with objects generated from all versions of a CRD.

use serde_json::{Value, json};

use crate::model::schema::Shape;
use crate::model::{Crd, Version};

use super::laws::difference;
use super::manifest::api_version;
use super::schema_endpoint::SchemaEndpoint;

/// How many objects one ConversionReview contains.
const BATCH: usize = 25;

/// Converts objects to an API version, as a webhook does.
pub type ConvertObjects<'c> = dyn Fn(&[Value], &str) -> Result<Vec<Value>, String> + 'c;

/// A law that a webhook breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenLaw {
    pub from: String,
    pub to: String,
    pub law: &'static str,
    pub because: String,
    pub object: Value,
}

/// The results for one CRD.
#[derive(Debug, Default)]
pub struct WebhookCheck {
    pub objects: usize,
    pub broken: Vec<BrokenLaw>,
}

/// Checks a webhook with objects of all versions: each law once per pair of versions.
pub fn check(crd: &Crd<'_>, convert: &ConvertObjects<'_>) -> WebhookCheck {
    let endpoint = |version: &Version<'_>| {
        let shape = Shape::of(version.schema.as_ref()?);
        Some((version.name.to_owned(), SchemaEndpoint::new(shape, crd.group(), version.name, crd.kind())))
    };
    let ends: Vec<(String, SchemaEndpoint)> = crd.versions.iter().filter_map(endpoint).collect();
    let mut result = WebhookCheck::default();
    for (from, start) in &ends {
        let objects: Vec<Value> = start.samples().iter().map(with_metadata).filter(|object| start.accepts(object)).collect();
        result.objects += objects.len();
        for (to, end) in &ends {
            let pair = Pair { names: (from, to), versions: (api_version(crd.group(), from), api_version(crd.group(), to)), start, end };
            for law in objects.chunks(BATCH).flat_map(|batch| pair.check(batch, convert)) {
                if !result.broken.iter().any(|known| (&known.from, &known.to, known.law) == (&law.from, &law.to, law.law)) {
                    result.broken.push(law);
                }
            }
        }
    }
    result
}

/// Adds metadata that a conversion must not change.
fn with_metadata(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("namespace".to_owned(), "shop".into());
        metadata.insert("uid".to_owned(), "7a1f9a3e-6c1d-4c58-9f3a-0d8c54b1f001".into());
        metadata.insert("generation".to_owned(), 3.into());
        metadata.insert("labels".to_owned(), json!({"app": "till"}));
        metadata.insert("annotations".to_owned(), json!({"shop.example.com/note": "kept"}));
        metadata.insert("finalizers".to_owned(), json!(["shop.example.com/clean"]));
    }
    object
}

struct Pair<'p> {
    names: (&'p String, &'p String),
    versions: (String, String),
    start: &'p SchemaEndpoint,
    end: &'p SchemaEndpoint,
}

impl Pair<'_> {
    fn check(&self, objects: &[Value], convert: &ConvertObjects<'_>) -> Vec<BrokenLaw> {
        let broken = |law: &'static str, because: String, object: &Value| BrokenLaw {
            from: self.names.0.clone(),
            to: self.names.1.clone(),
            law,
            because,
            object: object.clone(),
        };
        let answer = |objects: &[Value], version: &str| {
            let converted = convert(objects, version)?;
            if converted.len() == objects.len() {
                return Ok(converted);
            }
            Err(format!("{} objects were sent and {} returned", objects.len(), converted.len()))
        };
        let first = objects.first().cloned().unwrap_or_default();
        let converted = match answer(objects, &self.versions.1) {
            Ok(converted) => converted,
            Err(why) => return vec![broken("every object is converted", why, &first)],
        };
        let mut found = Vec::new();
        for (object, result) in objects.iter().zip(&converted) {
            found.extend(self.of_result(object, result).map(|(law, because)| broken(law, because, object)));
        }
        let differs = |a: &Value, b: &Value| difference(a, b).map(|(_, said)| said);
        if self.names.0 == self.names.1 {
            let changed = objects.iter().zip(&converted).find_map(|(object, result)| Some((differs(object, result)?, object)));
            found.extend(changed.map(|(said, object)| broken("converting to the same version changes nothing", said, object)));
            return found;
        }
        match answer(objects, &self.versions.1) {
            Ok(again) => {
                let changed = objects.iter().zip(converted.iter().zip(&again)).find_map(|(object, (a, b))| Some((differs(a, b)?, object)));
                found.extend(changed.map(|(said, object)| broken("the same object gives the same result", said, object)));
            }
            Err(why) => found.push(broken("every object is converted", why, &first)),
        }
        let stored: Vec<Value> = converted.iter().map(|object| self.end.pruned(object)).collect();
        match answer(&stored, &self.versions.0) {
            Ok(returned) => {
                for (object, returned) in objects.iter().zip(&returned) {
                    let (before, after) = (self.start.normalised(object), self.start.normalised(returned));
                    found.extend(differs(&before, &after).map(|said| broken("round trip is lossless", said, object)));
                }
            }
            Err(why) => found.push(broken("converted objects can be converted back", why, &first)),
        }
        found
    }

    /// Returns what is wrong with the result for one object.
    fn of_result(&self, object: &Value, result: &Value) -> Option<(&'static str, String)> {
        if result.get("apiVersion").and_then(Value::as_str) != Some(&self.versions.1) || result.get("kind") != object.get("kind") {
            let shown = (result.get("apiVersion").unwrap_or(&Value::Null), result.get("kind").unwrap_or(&Value::Null));
            return Some(("results have the desired version and the same kind", format!("apiVersion is {}, kind is {}", shown.0, shown.1)));
        }
        // The server only allows a conversion to change labels and annotations.
        let fixed = |object: &Value| {
            let mut metadata = object.get("metadata").cloned().unwrap_or_default();
            for name in ["labels", "annotations"] {
                if let Some(map) = metadata.as_object_mut() {
                    map.remove(name);
                }
            }
            serde_json::json!({"metadata": metadata})
        };
        if let Some((_, said)) = difference(&fixed(object), &fixed(result)) {
            return Some(("metadata is untouched", said));
        }
        let outcome = self.end.request(result);
        if let Some(error) = outcome.errors.first() {
            return Some(("results are valid", format!("{}: {}", error.field, error.message)));
        }
        outcome.pruned.first().map(|path| ("results are valid", format!("`{path}` doesn't exist in {}, and is lost", self.names.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bundle, Documents};

    const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.shop.example.com}\nspec:\n  group: shop.example.com\n  names: {plural: widgets, kind: Widget}\n  scope: Namespaced\n  versions:\n    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: string}, seconds: {type: integer, minimum: 0, maximum: 900}}}}}}}\n    - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {dimension: {type: string}, seconds: {type: integer, minimum: 0, maximum: 900}}}}}}}\n";

    /// Checks a lossless webhook whose results are altered by `spoil`, and returns the broken laws.
    fn laws(spoil: impl Fn(&mut Value, bool)) -> Vec<&'static str> {
        let documents = Documents::of_text("crd.yaml", CRD);
        let bundle = Bundle::read(&documents);
        let convert = |objects: &[Value], version: &str| {
            let convert = |object: &Value| {
                let mut object = object.clone();
                let (to_v2, changes) = (version.ends_with("v2"), object["apiVersion"] != version);
                let (from, to) = if to_v2 { ("size", "dimension") } else { ("dimension", "size") };
                if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
                    && let Some(value) = spec.remove(from)
                {
                    spec.insert(to.to_owned(), value);
                }
                object["apiVersion"] = version.into();
                if changes {
                    spoil(&mut object, to_v2);
                }
                object
            };
            Ok(objects.iter().map(convert).collect())
        };
        let mut broken: Vec<&str> = check(bundle.crds.first().unwrap(), &convert).broken.iter().map(|law| law.law).collect();
        broken.sort_unstable();
        broken.dedup();
        broken
    }

    #[test]
    fn a_lossless_webhook_passes() {
        assert_eq!(laws(|_, _| {}), [""; 0]);
    }

    #[test]
    fn planted_losses_are_found() {
        let remove = |object: &mut Value, parent: &str, name: &str| {
            if let Some(map) = object.get_mut(parent).and_then(Value::as_object_mut) {
                map.remove(name);
            }
        };
        assert!(
            laws(|object, to_v2| if to_v2 {
                remove(object, "spec", "dimension")
            })
            .contains(&"round trip is lossless")
        );
        assert!(
            laws(|object, to_v2| if !to_v2 {
                remove(object, "spec", "seconds")
            })
            .contains(&"round trip is lossless")
        );
        assert!(laws(|object, _| remove(object, "metadata", "annotations")).contains(&"round trip is lossless"));
        assert!(laws(|object, _| remove(object, "metadata", "finalizers")).contains(&"metadata is untouched"));
        assert!(laws(|object, _| object["metadata"]["name"] = "other".into()).contains(&"metadata is untouched"));
        assert!(
            laws(|object, _| object["apiVersion"] = "shop.example.com/v1".into())
                .contains(&"results have the desired version and the same kind")
        );
        assert!(
            laws(|object, to_v2| if to_v2 {
                object["spec"] = json!({"seconds": "5"})
            })
            .contains(&"results are valid")
        );
        let count = std::cell::Cell::new(0);
        let unsteady = laws(|object, to_v2| {
            count.set(count.get() + 1);
            if to_v2 {
                object["spec"] = json!({"seconds": count.get() % 900});
            }
        });
        assert!(unsteady.contains(&"the same object gives the same result"));
        // Each round trip rounds down.
        let rounds = laws(|object, to_v2| {
            if let Some(seconds) = object["spec"]["seconds"].as_i64() {
                object["spec"]["seconds"] = if to_v2 { (seconds / 10).into() } else { (seconds * 10).into() };
            }
        });
        assert!(rounds.contains(&"round trip is lossless"));
    }
}
