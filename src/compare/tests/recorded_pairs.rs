//! Compares whole schemas of the recorded pairs: no break is missed, equivalent rewrites are equal, and accepting more values isn't
//! a break.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::compare::{
    Budget, Cause, Comparison, Relation, Role, Sample, SchemaPair, What, Witnesses, around, embed, filled, order_local, order_roots,
    smallest,
};
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::model::schema::shape::Extra;
use crate::server::object::Compiled;
use serde_json::Value;

use crate::testing::contradiction::{body, is_lost, whole};
use crate::testing::recorded::records;
use crate::testing::shape_of_crd;

/// Wrong results, and counts.
#[derive(Debug, Default)]
struct Table {
    counts: BTreeMap<&'static str, usize>,
    shown: usize,
}

impl Table {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn record(&mut self, what: &'static str, record: &Value, order: &Comparison<Sample>) {
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

fn show(sample: &Option<Sample>) -> String {
    body(sample).map_or("-".to_owned(), Value::to_string)
}

fn is_changed(before: &Compiled, after: &Compiled, body: &Value) -> bool {
    let (old, new) = (before.request(whole(body)), after.request(whole(body)));
    old.accepted() && new.accepted() && old.stored != new.stored
}

#[test]
fn recorded_pairs_compare_as_the_server_showed() {
    let records = records("compat");
    let mut table = Table::default();
    let (mut total, mut worst) = (Duration::ZERO, (Duration::ZERO, String::new()));
    let only = std::env::var("CRDWISE_RECORD").ok();
    for record in &records {
        if only.as_ref().is_some_and(|only| record["id"] != **only) {
            continue;
        }
        let (old, new) = (shape_of_crd(&record["old"]), shape_of_crd(&record["new"]));
        let start = Instant::now();
        let order = order_roots(&old, &new, &Budget::of_each());
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
            for body in [&order.lost, &order.gained, &order.changed].into_iter().filter_map(body) {
                println!("{body}\nold {:#?}\nnew {:#?}", before.request(whole(body)), after.request(whole(body)));
            }
        }
        if order.relation == Relation::Undecided {
            table.record("undecided", record, &order);
        }
        if breaks {
            table.count("breaks");
            if matches!(order.relation, Relation::Equal | Relation::Wider) {
                table.record("missed break", record, &order);
            }
            // In the records, a null in a list that becomes another default counts as sent.
            if order.lost.is_some() || order.changed.is_some() {
                table.count("breaks with a witness");
            } else {
                table.record("break without a witness", record, &order);
            }
        } else if matches!(order.relation, Relation::Narrower) && flag("loosened_known") {
            table.record("loosening called narrower", record, &order);
        }
        if equal {
            table.count("equal rewrites");
            if order.relation != Relation::Equal {
                table.record("equal rewrite not equal", record, &order);
            }
        }
        if flag("default_change") || flag("null_change") {
            table.count("default or null changes");
            if order.relation == Relation::Equal {
                table.record("missed change", record, &order);
            }
        }
        if (flag("loosened_known") || flag("data_gain")) && matches!(order.relation, Relation::Equal | Relation::Narrower) {
            // A field that the old schema pruned and the new one keeps is a gain only if the new one drops nothing from the object.
            if flag("loosened_known") {
                table.record("missed loosening", record, &order);
            }
        }
        if body(&order.lost).is_some_and(|body| !is_lost(&before, &after, body)) {
            table.record("witness of a loss that does not hold", record, &order);
        }
        if body(&order.gained).is_some_and(|body| !is_lost(&after, &before, body)) {
            table.record("witness of a gain that does not hold", record, &order);
        }
        if body(&order.changed).is_some_and(|body| !is_changed(&before, &after, body)) {
            table.record("witness of a change that does not hold", record, &order);
        }
        // No recorded sample may contradict the result.
        for sample in record["objects"].as_array().into_iter().flatten() {
            let accepted = |side: &str| sample[side]["accepted"] == true && sample[side].get("dropped").is_none();
            let refused = |side: &str| sample[side]["accepted"] != true;
            if accepted("old") && refused("new") && matches!(order.relation, Relation::Equal | Relation::Wider) {
                table.record("contradicted", record, &order);
            }
            if accepted("new") && refused("old") && matches!(order.relation, Relation::Equal | Relation::Narrower) {
                table.record("contradicted", record, &order);
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

/// Compares each node that both schemas have by itself; nodes on only one side are reported.
fn walk(a: &Shape, b: &Shape, path: &FieldPath, role: Option<Role>, reported: &mut Vec<(FieldPath, String, Comparison<Sample>)>) {
    let order = match role {
        Some(role) => order_local(a, b, role, &Budget::of_each()),
        None => Comparison::equal(),
    };
    if order.relation != Relation::Equal {
        reported.push((path.clone(), format!("{:?}", order.relation), order));
    }
    for (name, child) in &a.properties {
        match b.properties.get(name) {
            Some(other) => walk(child, other, &path.key(name), Some(Role::Field), reported),
            None => reported.push((path.key(name), "removed".to_owned(), Comparison::equal())),
        }
    }
    for name in b.properties.keys().filter(|name| !a.properties.contains_key(*name)) {
        reported.push((path.key(name), "added".to_owned(), Comparison::equal()));
    }
    if let (Some(a), Some(b)) = (&a.items, &b.items) {
        walk(a, b, &path.items(), Some(Role::Item), reported);
    }
    if let (Extra::Values(a), Extra::Values(b)) = (&a.extra, &b.extra) {
        walk(a, b, &path.values(), Some(Role::Entry), reported);
    }
}

#[test]
fn nodes_compared_by_themselves_show_what_changed() {
    let records = records("compat");
    let mut table = Table::default();
    let only = std::env::var("CRDWISE_RECORD").ok();
    let start = Instant::now();
    for record in &records {
        if only.as_ref().is_some_and(|only| record["id"] != **only) {
            continue;
        }
        let (old, new) = (shape_of_crd(&record["old"]), shape_of_crd(&record["new"]));
        let mut reported = Vec::new();
        walk(&old, &new, &FieldPath::root(), None, &mut reported);
        let flag = |name: &str| record["observed"][name] == true;
        let equal = record["mutations"].as_array().unwrap().iter().all(|name| name.as_str().unwrap().starts_with("eq:"));
        let breaks = flag("writer_break_known") || flag("data_loss");
        let whole = Comparison::equal();
        if equal {
            for (path, what, order) in &reported {
                println!("{path} {what}");
                table.record("equal rewrite reported", record, order);
            }
        }
        if reported.iter().any(|(_, _, order)| order.relation == Relation::Undecided) {
            table.record("undecided", record, &reported.iter().find(|(_, _, order)| order.relation == Relation::Undecided).unwrap().2);
        }
        if breaks {
            table.count("breaks");
            if reported.is_empty() {
                table.record("break not reported", record, &whole);
            }
            let witnesses = Witnesses::new(SchemaPair::new(&old, &new), "vec.example.com/v1", "Item", &Budget::of_each());
            let shown = reported.iter().any(|(path, _, order)| {
                let samples = [&order.lost, &order.changed].into_iter().flatten().map(What::Sample);
                samples.chain([What::Sent, What::Absent]).any(|what| witnesses.show(path, what, Cause::Near).found().is_some())
            });
            if shown {
                table.count("breaks with a witness");
            } else {
                table.record("break without a witness", record, &whole);
            }
        }
        for (path, _, order) in &reported {
            if let Some(value) = body(&order.lost)
                && !value.is_null()
            {
                table.count("lost values");
                match embed(&old, path, value) {
                    Some(body) => {
                        table.count("lost values in an object");
                        let outcome = Compiled::new(&old).request(whole_of(&body));
                        if !outcome.accepted() || !outcome.pruned.is_empty() {
                            println!("{path} {body} {:?}", outcome.errors);
                            table.record("embedding not valid", record, order);
                        }
                    }
                    None => table.record("lost value in no object", record, order),
                }
            }
        }
    }
    println!("{:?}", start.elapsed());
    for (what, count) in &table.counts {
        println!("{count:>6}  {what}");
    }
    for never in ["equal rewrite reported", "break not reported", "embedding not valid"] {
        assert_eq!(table.of(never), 0, "{never}");
    }
}

fn whole_of(body: &Value) -> Value {
    whole(body)
}

#[test]
fn made_objects_are_valid() {
    let records = records("compat");
    let mut table = Table::default();
    let start = Instant::now();
    for record in records.iter().step_by(5) {
        let shape = shape_of_crd(&record["old"]);
        let compiled = Compiled::new(&shape);
        let order = Comparison::equal();
        let check = |table: &mut Table, what: &'static str, body: &Value| {
            let outcome = compiled.request(whole(body));
            if !outcome.accepted() || !outcome.pruned.is_empty() {
                println!("{body} {:?}", outcome.errors);
                table.record(what, record, &order);
            }
        };
        match smallest(&shape) {
            Some(body) => check(&mut table, "smallest not valid", &body),
            None => table.record("no smallest", record, &order),
        }
        match filled(&shape) {
            Some(body) => check(&mut table, "filled not valid", &body),
            None => table.record("no filled", record, &order),
        }
        let bodies = around(&shape, 1);
        assert_eq!(bodies, around(&shape, 1));
        for body in &bodies {
            table.count("around");
            check(&mut table, "around not valid", body);
        }
    }
    println!("{:?}", start.elapsed());
    for (what, count) in &table.counts {
        println!("{count:>6}  {what}");
    }
    for never in ["smallest not valid", "filled not valid", "around not valid"] {
        assert_eq!(table.of(never), 0, "{never}");
    }
    assert!(table.of("around") > 0);
}
