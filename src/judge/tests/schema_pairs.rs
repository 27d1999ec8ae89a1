//! Checks reviews of generated CRD pairs against random objects and updates.
//!
//! `CRDWISE_SCHEMA_PAIRS=20000 cargo test --lib -- schema_pairs --nocapture` tries that many, from the seed `CRDWISE_SCHEMA_SEED`, and
//! prints how many were proved, tested and undecided. `SHOW=1` also prints the undecided ones. Half of the pairs are changes of recorded
//! schemas.

use serde_json::{Value, json};

use crate::compare::Random;
use crate::judge::finding::Class;
use crate::judge::policy::Policy;
use crate::judge::review::{Judgement, Side, lint};
use crate::judge::rule::Book;
use crate::model::Documents;
use crate::model::fact::{Affected, Certainty};
use crate::testing::recorded::records;
use crate::testing::{HEAD, number_in};

use super::made_up_changes::{RulePool, changed};
use super::made_up_schemas::root;
use super::refutations::{Seen, Server, refuted, seen, unconfirmed, untolerated};
use super::{facts, judged};

/// How many pairs every test run tries.
const PAIRS: usize = 150;

/// Whether a server accepts the CRD.
fn is_accepted(crd: &str) -> bool {
    let policy = Policy::find("kubernetes").expect("a built-in policy");
    let documents = Documents::of_text("crd.yaml", crd);
    let report = lint(&Side::new("crd", &documents), &Judgement::new(Book::builtin(), &policy));
    !report.findings.iter().any(|finding| finding.affects.contains(Affected::Refused))
}

/// The schemas of recorded CRDs, and their rules.
struct Recorded {
    schemas: Vec<Value>,
    rules: RulePool,
}

impl Recorded {
    fn read() -> Recorded {
        let (mut schemas, mut rules) = (Vec::new(), RulePool::default());
        for record in records("fresh-pairs") {
            for version in ["old", "new"].iter().flat_map(|side| record[side]["spec"]["versions"].as_array().cloned().unwrap_or_default()) {
                let schema = version["schema"]["openAPIV3Schema"].clone();
                rules.add(&schema);
                schemas.push(schema);
            }
        }
        Recorded { schemas, rules }
    }
}

/// A CRD with these schemas as versions; the storage version is given by its index.
fn crd(schemas: &[Value], storage: usize, status: bool) -> String {
    let version = |(index, schema): (usize, &Value)| {
        let subresources = if status { json!({"status": {}}) } else { json!({}) };
        let name = format!("v{}", index + 1);
        json!({
            "name": name, "served": true, "storage": index == storage, "subresources": subresources,
            "schema": {"openAPIV3Schema": schema},
        })
    };
    let versions: Vec<Value> = schemas.iter().enumerate().map(version).collect();
    format!("{HEAD}  versions: {}\n", json!(versions))
}

/// Two CRDs, and how the second was derived.
fn pair(random: &mut Random, recorded: &Recorded) -> (String, [String; 2]) {
    let schema = match random.below(2) {
        0 => root(random),
        _ => recorded.schemas[random.below(recorded.schemas.len())].clone(),
    };
    let (how, other) = changed(random, &schema, &recorded.rules);
    let mut sides = [vec![schema.clone()], vec![other.clone()]];
    let (mut storage, mut note) = ([0, 0], String::new());
    if random.below(5) == 0 {
        // A second version, which may differ from the first, may change as well, and may become the storage version.
        let second = if random.below(2) == 0 { schema } else { changed(random, &schema, &recorded.rules).1 };
        let changes = random.below(3) == 0;
        let after = if changes { changed(random, &second, &recorded.rules).1 } else { second.clone() };
        sides[0].push(second);
        sides[1].push(after);
        storage = [random.below(2), random.below(2)];
        note = format!("two versions, storage {storage:?}, ");
    }
    let status = random.below(3) == 0;
    let mut crds = [0, 1].map(|side| crd(&sides[side], storage[side], status));
    if random.below(2) == 0 {
        crds.reverse();
    }
    (format!("{note}{how}"), crds)
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
    untolerated: usize,
    skipped: usize,
}

/// What the objects show that the class of the review excludes.
fn mistake(class: Class, seen: &Seen) -> Option<&String> {
    match class {
        Class::SemanticBreaking => None,
        Class::None => seen.hurt().or(seen.passes.as_ref()).or(seen.differs.as_ref()),
        Class::Additive => seen.hurt(),
    }
}

#[test]
fn no_object_refutes_a_review() {
    let pairs = number_in("CRDWISE_SCHEMA_PAIRS").and_then(|count| usize::try_from(count).ok()).unwrap_or(PAIRS);
    let mut random = Random::seeded(number_in("CRDWISE_SCHEMA_SEED").unwrap_or(1));
    let show = std::env::var_os("SHOW").is_some();
    let recorded = Recorded::read();
    let (mut rates, mut wrong) = (Rates::default(), Vec::new());
    for _ in 0..pairs {
        let (how, crds) = pair(&mut random, &recorded);
        if !crds.iter().all(|crd| is_accepted(crd)) {
            rates.skipped += 1;
            continue;
        }
        let [old, new] = crds.each_ref().map(|crd| Server::new(crd));
        let found = facts(&crds[0], &crds[1]);
        let (class, rules) = judged(&found);
        let said = |what: &str| {
            let versions = crds.each_ref().map(|crd| crd.split_once("versions: ").map_or("", |(_, versions)| versions));
            format!("{how}: {class} {rules:?}, {what}\n  {}  {}", versions[0], versions[1])
        };
        wrong.extend(unconfirmed(&found, &old, &new).map(|(fact, why)| {
            let object = fact.evidence.witness.as_ref().map(|witness| format!("{} {}", witness.object["spec"], witness.object["status"]));
            said(&format!("but of {} {} {why}: {object:?}", fact.path, fact.aspect))
        }));
        let seen = seen(&mut random, &old, &new);
        let hurt = seen.hurt();
        let certainty = |one: Certainty| found.iter().any(|fact| fact.evidence.certainty == one);
        match hurt {
            Some(_) => rates.breaks += 1,
            None => rates.harmless += 1,
        }
        if let Some(update) = untolerated(&found, &seen) {
            rates.untolerated += 1;
            if show {
                println!("UNTOLERATED {}", said(&update));
            }
        }
        let mistake = mistake(class, &seen).cloned().or_else(|| refuted(&found, &seen));
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
                    println!("TESTED {}", said(&object));
                }
            }
            () => {
                rates.proved += 1;
                wrong.extend(mistake.map(|object| said(&object)));
            }
        }
        if show && how.starts_with("equal") && class != Class::None && hurt.is_none() && seen.passes.is_none() {
            println!("UNRECOGNISED {}", said(""));
        }
    }
    println!("{rates:?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
