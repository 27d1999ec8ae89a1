//! Sends the requests of a case to a version of a CRD.

use serde_json::{Value, json};

use crate::server::object::{Endpoint, Response, Seen, Subresource};

use super::expect::{CaseFailure, compare, rejected_with};
use super::{Expected, SuiteCase, SuiteRequest, text};

/// The default name of an object.
const NAME: &str = "test";

/// An endpoint with the names for its objects.
pub(super) struct SuiteTarget<'e> {
    pub endpoint: &'e Endpoint,
    /// With CRD patches, the endpoint that the initial object is created at.
    pub patched: Option<&'e Endpoint>,
    pub api_version: String,
    pub kind: &'e str,
}

impl SuiteTarget<'_> {
    /// Fills in what the author may leave out of an object.
    pub fn complete(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let Some(map) = object.as_object_mut() else { return object };
        map.entry("apiVersion").or_insert_with(|| self.api_version.as_str().into());
        map.entry("kind").or_insert_with(|| self.kind.into());
        if let Some(metadata) = map.entry("metadata").or_insert_with(|| json!({})).as_object_mut()
            && !metadata.contains_key("generateName")
        {
            metadata.entry("name").or_insert_with(|| NAME.into());
        }
        object
    }

    pub fn send(&self, case: &SuiteCase) -> (Vec<CaseFailure>, Vec<Seen>) {
        match &case.request {
            SuiteRequest::Create(object) => {
                let outcome = self.endpoint.create(self.complete(object));
                self.compare(case, outcome, None)
            }
            SuiteRequest::Update { previous, object, subresource } => {
                let old = self.endpoint.read(self.complete(previous));
                let scale = text(object, "kind") == Some("Scale");
                let new = if scale { object.clone() } else { self.complete(object) };
                let outcome = match subresource {
                    None => Some(self.endpoint.update(&old, new)),
                    Some(subresource) => self.endpoint.update_subresource(*subresource, &old, new),
                };
                match outcome {
                    Some(outcome) => self.compare(case, outcome, Some(&old)),
                    None => {
                        let name = subresource.map_or("", Subresource::name);
                        (vec![CaseFailure::new(format!("{} has no {name} subresource", self.api_version))], Vec::new())
                    }
                }
            }
            SuiteRequest::Sequence { initial, updated, .. } => {
                let mut seen = Vec::new();
                let failures = self.sequence(case, initial, updated, &mut seen);
                (failures, seen)
            }
        }
    }

    fn compare(&self, case: &SuiteCase, outcome: Response, old: Option<&Value>) -> (Vec<CaseFailure>, Vec<Seen>) {
        (compare(&case.expects, &outcome, || self.endpoint.warnings(&outcome, old)), outcome.seen)
    }

    fn sequence(&self, case: &SuiteCase, initial: &Value, updated: &Value, seen: &mut Vec<Seen>) -> Vec<CaseFailure> {
        let (initial, updated) = (self.complete(initial), self.complete(updated));
        let old = match self.created(initial, seen) {
            Ok(old) => old,
            Err(failure) => return vec![failure],
        };
        // Like the runner does, whatever the object itself says.
        let mut updated = updated;
        for key in ["name", "namespace"] {
            let given = old.get("metadata").and_then(|metadata| metadata.get(key)).cloned();
            if let (Some(given), Some(Value::Object(metadata))) = (given, updated.get_mut("metadata")) {
                metadata.insert(key.to_owned(), given);
            }
        }
        let outcome = self.endpoint.update(&old, updated.clone());
        seen.extend(outcome.seen.iter().cloned());
        if !outcome.accepted() || matches!(case.expects.verdict, Some(Expected::Rejected | Expected::RejectedWith(_))) {
            return self.compare(case, outcome, Some(&old)).0;
        }
        let status = write_status(self.endpoint, &outcome.stored, &updated);
        seen.extend(status.iter().flat_map(|status| &status.seen).cloned());
        match (&case.expects.status_error, status) {
            (Some(_), None) => vec![CaseFailure::new("a status error is expected, but no status is written")],
            (Some(wanted), Some(status)) => rejected_with(wanted, &status).into_iter().collect(),
            (None, status) => self.compare(case, status.unwrap_or(outcome), Some(&old)).0,
        }
    }

    /// The initial object as read before the update.
    fn created(&self, initial: Value, seen: &mut Vec<Seen>) -> Result<Value, CaseFailure> {
        let endpoint = self.patched.unwrap_or(self.endpoint);
        // Checks under another schema say nothing about this one.
        let mut see = |outcome: &Response| seen.extend(outcome.seen.iter().filter(|_| self.patched.is_none()).cloned());
        let created = endpoint.create(initial.clone());
        see(&created);
        if !created.accepted() {
            return Err(CaseFailure::rejected("the initial object is rejected", &created.errors));
        }
        let stored = match write_status(endpoint, &created.stored, &initial) {
            None => created.stored,
            Some(outcome) => {
                see(&outcome);
                if !outcome.accepted() {
                    return Err(CaseFailure::rejected("the status of the initial object is rejected", &outcome.errors));
                }
                outcome.stored
            }
        };
        Ok(if self.patched.is_some() { self.endpoint.read(stored) } else { stored })
    }
}

/// Writes the status of an object separately, if it has one and there is a subresource.
fn write_status(endpoint: &Endpoint, stored: &Value, object: &Value) -> Option<Response> {
    object.get("status")?;
    endpoint.update_subresource(Subresource::Status, stored, object.clone())
}
