//! Whole schemas of the recorded pairs compared: no break is missed, equal rewrites are equal, a widening is no break.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crdwise::order::{Order, Relation, order_roots};
use crdwise::validate::Compiled;
use serde_json::{Value, json};

use crate::vectors;

/// What is wrong with an answer, or worth counting.
#[derive(Debug, Default)]
struct Table {
    counts: BTreeMap<&'static str, usize>,
    shown: usize,
}

impl Table {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn tell(&mut self, what: &'static str, record: &Value, order: &Order) {
        self.count(what);
        self.shown += 1;
        if self.shown <= 60 {
            println!(
                "{what}: {} {} {:?} lost {} gained {} changed {} {:?}",
                record["id"].as_str().unwrap_or_default(),
                record["mutations"],
                order.relation,
                show(&order.lost),
                show(&order.gained),
                show(&order.changed),
                order.reason
            );
        }
    }

    fn of(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or(0)
    }
}

fn show(value: &Option<Value>) -> String {
    value.as_ref().map_or("-".to_owned(), Value::to_string)
}

fn whole(body: &Value) -> Value {
    let mut object = body.clone();
    object["apiVersion"] = json!("vec.example.com/v1");
    object["kind"] = json!("Item");
    object["metadata"] = json!({"name": "obj"});
    object
}

/// Whether the first schema accepts and keeps the object and the second doesn't.
fn is_lost(before: &Compiled, after: &Compiled, body: &Value) -> bool {
    let (old, new) = (before.request(whole(body)), after.request(whole(body)));
    old.accepted() && old.pruned.is_empty() && (!new.accepted() || !new.pruned.is_empty())
}

fn is_changed(before: &Compiled, after: &Compiled, body: &Value) -> bool {
    let (old, new) = (before.request(whole(body)), after.request(whole(body)));
    old.accepted() && new.accepted() && old.stored != new.stored
}

#[test]
fn recorded_pairs_compare_as_the_server_showed() {
    let Some(records) = vectors::records("compat/train.jsonl") else { return };
    let mut table = Table::default();
    let (mut total, mut worst) = (Duration::ZERO, (Duration::ZERO, String::new()));
    let only = std::env::var("CRDWISE_RECORD").ok();
    for record in &records {
        if only.as_ref().is_some_and(|only| record["id"] != **only) {
            continue;
        }
        let (old, new) = (vectors::shape(&record["old"]), vectors::shape(&record["new"]));
        let start = Instant::now();
        let order = order_roots(&old, &new);
        let took = start.elapsed();
        total += took;
        if took > worst.0 {
            worst = (took, record["id"].to_string());
        }
        let flag = |name: &str| record["observed"][name] == true;
        let equal = record["mutations"].as_array().unwrap().iter().all(|name| name.as_str().unwrap().starts_with("eq:"));
        let breaks = flag("writer_break_known") || flag("data_loss");
        let (before, after) = (Compiled::new(&old), Compiled::new(&new));
        if only.is_some() {
            println!("{order:#?}");
            for body in [&order.lost, &order.gained, &order.changed].into_iter().flatten() {
                println!("{body}\nold {:#?}\nnew {:#?}", before.request(whole(body)), after.request(whole(body)));
            }
        }
        if order.relation == Relation::Undecided {
            table.tell("undecided", record, &order);
        }
        if breaks {
            table.count("breaks");
            if matches!(order.relation, Relation::Equal | Relation::Wider) {
                table.tell("missed break", record, &order);
            }
            // A null in a list that becomes another default counts as given in the records.
            if order.lost.is_some() || order.changed.is_some() {
                table.count("breaks with a witness");
            } else {
                table.tell("break without a witness", record, &order);
            }
        } else if matches!(order.relation, Relation::Narrower) && flag("loosened_known") {
            table.tell("loosening called narrower", record, &order);
        }
        if equal {
            table.count("equal rewrites");
            if order.relation != Relation::Equal {
                table.tell("equal rewrite not equal", record, &order);
            }
        }
        if flag("default_change") || flag("null_change") {
            table.count("default or null changes");
            if order.relation == Relation::Equal {
                table.tell("missed change", record, &order);
            }
        }
        if (flag("loosened_known") || flag("data_gain")) && matches!(order.relation, Relation::Equal | Relation::Narrower) {
            // What old pruned and new keeps is a gain only where new drops nothing from the object.
            if flag("loosened_known") {
                table.tell("missed loosening", record, &order);
            }
        }
        if order.lost.as_ref().is_some_and(|body| !is_lost(&before, &after, body)) {
            table.tell("witness of a loss that does not hold", record, &order);
        }
        if order.gained.as_ref().is_some_and(|body| !is_lost(&after, &before, body)) {
            table.tell("witness of a gain that does not hold", record, &order);
        }
        if order.changed.as_ref().is_some_and(|body| !is_changed(&before, &after, body)) {
            table.tell("witness of a change that does not hold", record, &order);
        }
        // Nothing that was sampled contradicts the answer.
        for sample in record["objects"].as_array().into_iter().flatten() {
            let accepted = |side: &str| sample[side]["accepted"] == true && sample[side].get("dropped").is_none();
            let refused = |side: &str| sample[side]["accepted"] != true;
            if accepted("old") && refused("new") && matches!(order.relation, Relation::Equal | Relation::Wider) {
                table.tell("contradicted", record, &order);
            }
            if accepted("new") && refused("old") && matches!(order.relation, Relation::Equal | Relation::Narrower) {
                table.tell("contradicted", record, &order);
            }
        }
    }
    println!("{} pairs", records.len());
    for (what, count) in &table.counts {
        println!("{count:>6}  {what}");
    }
    println!("mean {:?}, worst {:?} ({})", total / u32::try_from(records.len()).unwrap(), worst.0, worst.1);
    let breaks = table.of("breaks");
    for never in
        ["missed break", "equal rewrite not equal", "contradicted", "witness of a loss that does not hold", "loosening called narrower"]
    {
        assert_eq!(table.of(never), 0, "{never}");
    }
    assert!(table.of("breaks with a witness") * 100 >= breaks * 98);
    assert!(table.of("undecided") * 100 <= records.len() * 2);
}
