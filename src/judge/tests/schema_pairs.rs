//! Checks reviews of generated schema pairs (rewrites, weaker and stronger schemas) against random objects.
//!
//! `CRDWISE_SCHEMA_PAIRS=20000 cargo test --lib -- schema_pairs --nocapture` tries that many, from the seed `CRDWISE_SCHEMA_SEED`, and
//! prints how many were proved, tested and undecided. `SHOW=1` also prints the undecided ones.

use serde_json::{Value, json};

use crate::judge::finding::Class;
use crate::judge::policy::Policy;
use crate::judge::review::{Judgement, Side, lint};
use crate::judge::rule::Book;
use crate::model::Documents;
use crate::model::fact::{Affected, Certainty, Fact, Outcome};
use crate::server::object::Compiled;
use crate::testing::shape;

use super::made_up_schemas::{changed, object, schema};
use super::rule_pairs::{Random, number_in};
use super::{facts, judged, with_root};

/// How many pairs every test run tries.
const PAIRS: usize = 150;
/// How many objects are tried with each pair.
const OBJECTS: usize = 250;

/// What an object shows.
#[derive(Debug, Default)]
struct Seen {
    /// It was accepted and kept, and now it is refused.
    refused: Option<Value>,
    /// It was kept, and now a part of it is dropped or replaced.
    lost: Option<Value>,
    /// It was refused, and now it is accepted and kept.
    passes: Option<Value>,
}

/// Whether a value that a client sent is stored on one side, and missing or different on the other.
fn is_lost(sent: &Value, old: Option<&Value>, new: Option<&Value>) -> bool {
    match (sent, old, new) {
        (Value::Null, ..) | (_, None, _) => false,
        (Value::Object(sent), Some(Value::Object(old)), Some(Value::Object(new))) => {
            sent.iter().any(|(key, value)| is_lost(value, old.get(key), new.get(key)))
        }
        (Value::Array(sent), Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() && sent.len() == old.len() => {
            sent.iter().zip(old.iter().zip(new)).any(|(sent, (old, new))| is_lost(sent, Some(old), Some(new)))
        }
        (_, old, new) => old != new,
    }
}

fn seen(random: &mut Random, schemas: &[Value; 2], sides: &[Compiled; 2]) -> Seen {
    let mut seen = Seen::default();
    for _ in 0..OBJECTS {
        let near = random.below(2);
        let object = object(random, &schemas[near]);
        let [old, new] = sides.each_ref().map(|side| side.request(object.clone()));
        if !old.undecided.is_empty() || !new.undecided.is_empty() {
            continue;
        }
        let slot = match (old.accepted(), new.accepted()) {
            (true, false) if old.pruned.is_empty() => &mut seen.refused,
            (false, true) if new.pruned.is_empty() => &mut seen.passes,
            (true, true) if is_lost(&object, Some(&old.stored), Some(&new.stored)) => &mut seen.lost,
            _ => continue,
        };
        slot.get_or_insert(object["spec"].clone());
    }
    seen
}

/// Whether a server accepts the CRD.
fn is_accepted(crd: &str) -> bool {
    let policy = Policy::find("kubernetes").expect("a built-in policy");
    let documents = Documents::of_text("crd.yaml", crd);
    let report = lint(&Side::new("crd", &documents), &Judgement::new(Book::builtin(), &policy));
    !report.findings.iter().any(|finding| finding.affects.contains(Affected::Refused))
}

/// A fact whose example doesn't show what it says.
fn unconfirmed<'f>(found: &'f [Fact], sides: &[Compiled; 2]) -> Option<&'f Fact> {
    found.iter().find(|fact| {
        let Some(witness) = fact.evidence.witness.as_ref().filter(|witness| witness.previous.is_none()) else {
            return fact.evidence.certainty == Certainty::Proved && fact.affects.needs_object() && fact.evidence.witness.is_none();
        };
        let [old, new] = sides.each_ref().map(|side| side.request(witness.object.clone()));
        let shown = match witness.new {
            Outcome::Rejected => !new.accepted(),
            Outcome::Pruned => !new.pruned.is_empty(),
            _ => old.stored != new.stored,
        };
        !old.accepted() || !shown
    })
}

#[derive(Debug, Default)]
struct Rates {
    breaks: usize,
    harmless: usize,
    proved: usize,
    tested: usize,
    undecided_break: usize,
    undecided_unseen: usize,
    tested_wrong: usize,
    skipped: usize,
}

#[test]
fn no_object_refutes_a_review() {
    let pairs = number_in("CRDWISE_SCHEMA_PAIRS").and_then(|count| usize::try_from(count).ok()).unwrap_or(PAIRS);
    let mut random = Random::seeded(number_in("CRDWISE_SCHEMA_SEED").unwrap_or(1));
    let show = std::env::var_os("SHOW").is_some();
    let (mut rates, mut wrong) = (Rates::default(), Vec::new());
    for _ in 0..pairs {
        let spec = schema(&mut random, 3);
        let (how, other) = changed(&mut random, &spec);
        let mut schemas = [spec, other];
        if random.below(2) == 0 {
            schemas.reverse();
        }
        let schemas = schemas.map(|spec| json!({"type": "object", "properties": {"spec": spec}}));
        let crds = schemas.each_ref().map(|schema| with_root(&schema.to_string()));
        if !crds.iter().all(|crd| is_accepted(crd)) {
            rates.skipped += 1;
            continue;
        }
        let sides = schemas.each_ref().map(|schema| Compiled::new(&shape(schema)));
        let found = facts(&crds[0], &crds[1]);
        let (class, rules) = judged(&found);
        let said = |what: &str| format!("{how}: {class} {rules:?}, {what}\n  {}\n  {}", schemas[0], schemas[1]);
        wrong.extend(unconfirmed(&found, &sides).map(|fact| {
            let object = fact.evidence.witness.as_ref().map(|witness| witness.object["spec"].to_string());
            said(&format!("but {} is not shown by {object:?}", fact.path))
        }));
        let seen = seen(&mut random, &schemas, &sides);
        let hurt = seen.refused.as_ref().or(seen.lost.as_ref());
        let certainty = |one: Certainty| found.iter().any(|fact| fact.evidence.certainty == one);
        let mistake = match class {
            Class::SemanticBreaking => None,
            Class::None => hurt.or(seen.passes.as_ref()),
            Class::Additive => hurt,
        };
        match hurt {
            Some(_) => rates.breaks += 1,
            None => rates.harmless += 1,
        }
        match () {
            () if certainty(Certainty::Undecided) => {
                match hurt {
                    Some(_) => rates.undecided_break += 1,
                    None => rates.undecided_unseen += 1,
                }
                if show {
                    println!("UNDECIDED {}", said(&format!("seen {hurt:?}")));
                }
            }
            () if certainty(Certainty::Tested) => {
                rates.tested += 1;
                rates.tested_wrong += usize::from(mistake.is_some());
                if let Some(object) = mistake.filter(|_| show) {
                    println!("TESTED {}", said(&object.to_string()));
                }
            }
            () => {
                rates.proved += 1;
                wrong.extend(mistake.map(|object| said(&object.to_string())));
            }
        }
        if show && how.starts_with("equal") && class != Class::None && hurt.is_none() && seen.passes.is_none() {
            println!("UNRECOGNISED {}", said(""));
        }
    }
    println!("{rates:?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
