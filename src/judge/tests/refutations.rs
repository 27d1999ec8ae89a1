//! Searches for objects and updates that contradict what a review says.

use serde_json::{Value, json};

use crate::compare::Random;
use crate::model::fact::{Affected, Affects, Certainty, Fact, Outcome, Ratchet, Subject};
use crate::model::{Bundle, Crd, Documents};
use crate::server::object::{Endpoint, Response};

use super::made_up_objects::{Literals, altered, object};

/// How many objects are tried with each pair.
const OBJECTS: usize = 200;

/// A CRD with its versions as endpoints, without conversion webhooks.
pub(super) struct Server {
    versions: Vec<ServedVersion>,
}

struct ServedVersion {
    name: String,
    served: bool,
    storage: bool,
    schema: Value,
    endpoint: Endpoint,
}

impl Server {
    pub(super) fn new(crd: &str) -> Server {
        let documents = Documents::of_text("crd.yaml", crd);
        let bundle = Bundle::read(&documents);
        let crd: &Crd<'_> = &bundle.crds[0];
        let version = |version: &crate::model::Version<'_>| {
            let schema = version.schema.as_ref()?;
            Some(ServedVersion {
                name: version.name.to_owned(),
                served: version.served,
                storage: version.storage,
                schema: schema.node().to_json(),
                endpoint: Endpoint::new(version)?,
            })
        };
        Server { versions: crd.versions.iter().filter_map(version).collect() }
    }

    fn version(&self, name: &str) -> Option<&ServedVersion> {
        self.versions.iter().find(|version| version.name == name && version.served)
    }

    fn storage(&self) -> &ServedVersion {
        self.versions.iter().find(|version| version.storage).expect("a storage version")
    }

    /// What is written to etcd for an accepted request.
    fn written(&self, object: Value) -> Value {
        let storage = self.storage();
        storage.endpoint.convert(object, &api_version(&storage.name))
    }

    /// What clients of a version read.
    fn read(&self, written: &Value, version: &ServedVersion) -> Option<Value> {
        let from = written["apiVersion"].as_str()?.rsplit('/').next()?;
        let stored = self.versions.iter().find(|version| version.name == from)?;
        Some(version.endpoint.convert(stored.endpoint.read(written.clone()), &api_version(&version.name)))
    }
}

fn api_version(name: &str) -> String {
    format!("shop.example.com/{name}")
}

/// What objects and updates show.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// It was accepted and kept, and now it is refused.
    pub refused: Option<String>,
    /// It was kept, and now a part of it is dropped or replaced.
    pub lost: Option<String>,
    /// It was refused, and now it is accepted and kept.
    pub passes: Option<String>,
    /// An object is stored or read differently.
    pub differs: Option<String>,
    /// An existing object can't be written again as it is read.
    pub stuck: Option<String>,
    /// An update is refused that was accepted before.
    pub update_refused: Option<String>,
    /// An update of another part is refused because of a violation that was there before.
    pub untolerated: Option<String>,
}

impl Seen {
    /// An object or update that breaks.
    pub(super) fn hurt(&self) -> Option<&String> {
        [&self.refused, &self.lost, &self.stuck, &self.update_refused].into_iter().find_map(Option::as_ref)
    }
}

/// Whether a list is sent to a string with a format: servers accept it there, which nobody means and no review counts as a gain.
fn has_stray_list(schema: &Value, value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            let declared = schema["properties"].get(key).unwrap_or(&schema["additionalProperties"]);
            has_stray_list(declared, value)
        }),
        Value::Array(items) => {
            let stray = schema["type"] == "string" && !schema["format"].is_null();
            stray || items.iter().any(|item| has_stray_list(&schema["items"], item))
        }
        _ => false,
    }
}

/// Whether a value that a client sent is stored on one side, and missing or different on the other. An empty name in the metadata of
/// an embedded resource is the same as none.
fn is_lost(sent: &Value, old: Option<&Value>, new: Option<&Value>) -> bool {
    match (sent, old, new) {
        (Value::Null, ..) | (_, None, _) => false,
        (Value::Object(sent), Some(Value::Object(old)), Some(Value::Object(new))) => {
            let is_same = |key: &str, value: &Value| key == "metadata" && *value == json!({"name": ""});
            sent.iter().any(|(key, value)| !is_same(key, value) && is_lost(value, old.get(key), new.get(key)))
        }
        (Value::Array(sent), Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() && sent.len() == old.len() => {
            sent.iter().zip(old.iter().zip(new)).any(|(sent, (old, new))| is_lost(sent, Some(old), Some(new)))
        }
        (_, old, new) => old != new,
    }
}

fn shown(object: &Value) -> String {
    json!({"spec": object["spec"], "status": object["status"]}).to_string()
}

/// Tries objects and updates at a version that both sides serve.
pub(super) fn seen(random: &mut Random, old: &Server, new: &Server) -> Seen {
    let mut seen = Seen::default();
    let names: Vec<&str> = old.versions.iter().filter(|version| version.served).map(|version| version.name.as_str()).collect();
    let all: Vec<&Value> = old.versions.iter().chain(&new.versions).map(|version| &version.schema).collect();
    let words = Literals::of(&all);
    for _ in 0..OBJECTS {
        let name = random.one_of(&names);
        let (Some(before), Some(after)) = (old.version(name), new.version(name)) else { continue };
        let near = if random.below(2) == 0 { &before.schema } else { &after.schema };
        let mut object = object(random, near, &words);
        object["apiVersion"] = api_version(name).into();
        let [was, is] = [before, after].map(|side| side.endpoint.validate(object.clone()));
        if was.undecided.is_empty() && is.undecided.is_empty() {
            created(&mut seen, (old, before, &was), (new, after, &is), &object);
        }
        let created = before.endpoint.create_with_status(object.clone());
        if was.accepted() && created.accepted() && created.undecided.is_empty() {
            let sent = (random.below(3) > 0).then(|| altered(random, near, &was.stored, &words));
            updated(&mut seen, (old, before), (new, after), &was.stored, sent);
        }
    }
    seen
}

type Judged<'s> = (&'s Server, &'s ServedVersion, &'s Response);

fn created(seen: &mut Seen, old: Judged<'_>, new: Judged<'_>, object: &Value) {
    let note = |slot: &mut Option<String>| {
        slot.get_or_insert_with(|| format!("{} {}", old.1.name, shown(object)));
    };
    match (old.2.accepted(), new.2.accepted()) {
        (true, false) if old.2.pruned.is_empty() => note(&mut seen.refused),
        (false, true) if new.2.pruned.is_empty() && !has_stray_list(&new.1.schema, object) => note(&mut seen.passes),
        (true, true) => {
            let read_back = |side: Judged<'_>| side.0.read(&side.0.written(side.2.stored.clone()), side.1);
            let (was, is) = (read_back(old), read_back(new));
            if is_lost(object, was.as_ref(), is.as_ref()) {
                note(&mut seen.lost);
            }
            // What was stored before the upgrade.
            let kept = new.0.read(&old.0.written(old.2.stored.clone()), new.1);
            if is_lost(object, was.as_ref(), kept.as_ref()) {
                note(&mut seen.lost);
            }
            if was != is {
                note(&mut seen.differs);
            }
        }
        _ => {}
    }
}

/// Tries an update of an existing object; `None` writes it as it is read.
fn updated(seen: &mut Seen, old: (&Server, &ServedVersion), new: (&Server, &ServedVersion), stored: &Value, sent: Option<Value>) {
    let written = old.0.written(stored.clone());
    let (Some(was), Some(is)) = (old.0.read(&written, old.1), new.0.read(&written, new.1)) else { return };
    let unchanged = sent.is_none();
    let requests = match &sent {
        Some(sent) => [sent.clone(), sent.clone()],
        None => [was.clone(), is.clone()],
    };
    let [first, second] = requests;
    let before = old.1.endpoint.update(&was, first.clone());
    let after = new.1.endpoint.update(&is, second.clone());
    if !before.undecided.is_empty() || !after.undecided.is_empty() {
        return;
    }
    let update =
        || format!("{} {} to {}, {:?}", old.1.name, shown(stored), shown(&first), after.errors.first().map(|error| &error.message));
    match (before.accepted(), after.accepted()) {
        (true, false) if unchanged => {
            seen.stuck.get_or_insert_with(update);
        }
        (true, false) if before.pruned.is_empty() => {
            seen.update_refused.get_or_insert_with(update);
            // Everything that is wrong now was wrong before, at values that stay as they are.
            let already = new.1.endpoint.validate(is.clone()).errors;
            let stays = |error: &crate::server::object::FieldError| {
                already.iter().any(|known| known.field == error.field && known.message == error.message)
                    && error.path.get(&is) == error.path.get(&second)
            };
            let now = new.1.endpoint.validate(second.clone()).errors;
            if !now.is_empty() && now.iter().all(stays) {
                seen.untolerated.get_or_insert_with(update);
            }
        }
        (false, true) if after.pruned.is_empty() && !has_stray_list(&new.1.schema, &second) => {
            seen.passes.get_or_insert_with(update);
        }
        _ => {}
    }
}

/// Who is affected although a review says otherwise.
pub(super) fn refuted(found: &[Fact], seen: &Seen) -> Option<String> {
    let affects = found.iter().fold(Affects::NONE, |all, fact| all.union(fact.affects));
    let claims = |one: Affected| affects.contains(one);
    let refused = claims(Affected::Stored) || claims(Affected::Writers);
    // What an object loses in its storage version, another version may miss.
    let lost_elsewhere = |update: &Option<String>| {
        let version = update.as_ref().and_then(|update| update.split(' ').next());
        let lossy = |fact: &&Fact| fact.affects.contains(Affected::Data) || fact.affects.contains(Affected::Behaviour);
        found.iter().filter(lossy).any(|fact| fact.version.as_deref() != version)
    };
    let refuted = [
        ("no writer is affected", &seen.refused, claims(Affected::Writers)),
        ("no data is lost", &seen.lost, claims(Affected::Data) || claims(Affected::Behaviour)),
        ("no stored object is affected", &seen.stuck, refused || lost_elsewhere(&seen.stuck)),
        ("no update is affected", &seen.update_refused, refused || lost_elsewhere(&seen.update_refused)),
    ];
    first(refuted)
}

/// Updates of existing objects that are refused although a review says that they are tolerated. Whether they are depends on the
/// object: on unknown keys in it, and on whether a rule is false or fails with an error. A review says what happens to its example.
pub(super) fn untolerated(found: &[Fact], seen: &Seen) -> Option<String> {
    let breaking: Vec<&Fact> = found.iter().filter(|fact| fact.affects.contains(Affected::Stored)).collect();
    let never = breaking.is_empty() || breaking.iter().any(|fact| matches!(fact.ratchet, Some(Ratchet::Never) | None));
    let only_fields = breaking.iter().all(|fact| matches!(fact.ratchet, Some(Ratchet::Field | Ratchet::Always)));
    first([
        ("unchanged objects can be written", &seen.stuck, never),
        ("other fields can be updated", &seen.untolerated, breaking.is_empty() || !only_fields),
    ])
}

/// The first claim that doesn't hold, and the object that shows it.
fn first<const N: usize>(claims: [(&str, &Option<String>, bool); N]) -> Option<String> {
    claims.into_iter().find_map(|(claim, object, holds)| object.as_ref().filter(|_| !holds).map(|object| format!("{claim}: {object}")))
}

/// A fact whose example doesn't show what it says.
pub(super) fn unconfirmed<'f>(found: &'f [Fact], old: &Server, new: &Server) -> Option<(&'f Fact, &'static str)> {
    found.iter().find_map(|fact| {
        let Some(witness) = &fact.evidence.witness else {
            let unshown = fact.evidence.certainty == Certainty::Proved
                && fact.affects.needs_object()
                && fact.subject != Subject::NewVersion
                && fact.evident().is_none();
            return unshown.then_some((fact, "there is no object"));
        };
        let version = fact.version.as_deref()?;
        let (before, after) = (old.version(fact.against.as_deref().unwrap_or(version))?, new.version(version)?);
        let ask = |side: &ServedVersion| match &witness.previous {
            Some(previous) => {
                let stored = side.endpoint.read(before.endpoint.validate(previous.clone()).stored);
                side.endpoint.compiled().request_update(&stored, witness.object.clone())
            }
            None => side.endpoint.validate(witness.object.clone()),
        };
        let (was, is) = (ask(before), ask(after));
        let shown = match witness.new {
            Outcome::Rejected => !is.accepted(),
            Outcome::Pruned => !is.pruned.is_empty(),
            _ => was.stored != is.stored,
        };
        if !was.accepted() || !shown {
            return Some((fact, "the object doesn't show it"));
        }
        if witness.previous.is_some() || witness.new != Outcome::Rejected {
            return None;
        }
        let again = after.endpoint.compiled().request_update(&was.stored, was.stored.clone());
        (fact.ratchet == Some(Ratchet::Never) && again.accepted()).then_some((fact, "the object can be written again"))
    })
}
