//! Real bundles at successive releases, where they are at hand (`../shared/corpus`): how much is decided and shown, and how
//! long it takes. Run with `--ignored`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crdwise::compare::{Cause, Relation, Role, What, Witnesses, filled, order_local, order_roots, smallest};
use crdwise::input::yaml::Budget;
use crdwise::input::{File, Origin};
use crdwise::model::schema::Shape;
use crdwise::model::schema::shape::Extra;
use crdwise::model::{Bundle, Documents, FieldPath};
use crdwise::server::object::Compiled;

fn files(folder: &Path, found: &mut Vec<File>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            found.push(File::new(path.display().to_string(), text, Origin::Stdin));
        }
    }
}

/// The shapes of a folder's CRDs by name and version.
fn shapes(folder: &Path) -> BTreeMap<(String, String), Shape> {
    let mut members = Vec::new();
    files(folder, &mut members);
    let documents = Documents::parse(members, &Budget::default());
    let bundle = Bundle::read(&documents);
    let mut shapes = BTreeMap::new();
    for crd in &bundle.crds {
        for version in &crd.versions {
            if let Some(schema) = &version.schema {
                shapes.insert((crd.name.to_owned(), version.name.to_owned()), Shape::of(schema));
            }
        }
    }
    shapes
}

#[derive(Default)]
struct Tally {
    counts: BTreeMap<String, usize>,
    worst: BTreeMap<&'static str, (Duration, String)>,
    total: BTreeMap<&'static str, Duration>,
}

impl Tally {
    fn count(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    fn timed<T>(&mut self, what: &'static str, about: &str, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = run();
        let took = start.elapsed();
        *self.total.entry(what).or_default() += took;
        let worst = self.worst.entry(what).or_default();
        if took > worst.0 {
            *worst = (took, about.to_owned());
        }
        result
    }
}

fn walk(a: &Shape, b: &Shape, path: &FieldPath, role: Option<Role>, visit: &mut dyn FnMut(&FieldPath, Role, &Shape, &Shape)) {
    if let Some(role) = role {
        visit(path, role, a, b);
    }
    for (name, child) in &a.properties {
        if let Some(other) = b.properties.get(name) {
            walk(child, other, &path.key(name), Some(Role::Field), visit);
        }
    }
    if let (Some(a), Some(b)) = (&a.items, &b.items) {
        walk(a, b, &path.items(), Some(Role::Item), visit);
    }
    if let (Extra::Values(a), Extra::Values(b)) = (&a.extra, &b.extra) {
        walk(a, b, &path.values(), Some(Role::Entry), visit);
    }
}

#[test]
#[ignore = "takes minutes"]
fn releases_are_compared() {
    let corpus: PathBuf = std::env::var_os("CRDWISE_CORPUS")
        .map_or_else(|| [env!("CARGO_MANIFEST_DIR"), "..", "shared", "corpus"].iter().collect(), PathBuf::from);
    let Ok(projects) = std::fs::read_dir(&corpus) else {
        println!("skipped: no {}", corpus.display());
        return;
    };
    let only = std::env::var("CRDWISE_PROJECT").ok();
    let mut projects: Vec<PathBuf> = projects.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect();
    projects.sort();
    let mut tally = Tally::default();
    for project in projects {
        if only.as_ref().is_some_and(|only| !project.ends_with(only)) {
            continue;
        }
        let mut tags: Vec<PathBuf> = std::fs::read_dir(&project).unwrap().filter_map(|entry| Some(entry.ok()?.path())).collect();
        tags.sort();
        for pair in tags.windows(2) {
            let channels = ["standard", "experimental", ""];
            for channel in channels.iter().filter(|channel| channel.is_empty() != pair[0].join("standard").is_dir()) {
                compare(&pair[0].join(channel), &pair[1].join(channel), &mut tally);
            }
        }
    }
    for (what, count) in &tally.counts {
        println!("{count:>7}  {what}");
    }
    for (what, total) in &tally.total {
        let (worst, about) = &tally.worst[what];
        println!("{what}: {total:?} in all, worst {worst:?} ({about})");
    }
}

fn compare(before: &Path, after: &Path, tally: &mut Tally) {
    let (old, new) = (shapes(before), shapes(after));
    for ((crd, version), a) in &old {
        let Some(b) = new.get(&(crd.clone(), version.clone())) else { continue };
        let about = format!("{crd} {version} {} → {}", before.display(), after.display());
        tally.count("versions");
        let order = tally.timed("order of roots", &about, || order_roots(a, b));
        tally.count(format!("root {:?}", order.relation));
        if order.relation == Relation::Undecided {
            println!("undecided: {about}: {:?}", order.reason);
        }
        let witnesses = tally.timed("compile", &about, || Witnesses::new(a, b, "g/v1", "Kind"));
        for sample in [&order.lost].into_iter().flatten() {
            if let Some(body) = sample.value() {
                tally.count(if witnesses.confirm(body, &FieldPath::root(), Cause::Near).is_some() {
                    "root witness holds"
                } else {
                    "root witness does NOT hold"
                });
            }
        }
        walk(a, b, &FieldPath::root(), None, &mut |path, role, x, y| {
            let order = tally.timed("local order", &about, || order_local(x, y, role));
            if order.relation == Relation::Equal {
                return;
            }
            tally.count(format!("local {:?}", order.relation));
            if order.relation == Relation::Undecided {
                println!("undecided: {about}: {path}: {:?}", order.reason);
            }
            if let Some(sample) = &order.lost {
                match tally.timed("witness", &about, || witnesses.show(path, What::Sample(sample), Cause::Near)) {
                    Ok(_) => tally.count("local loss shown"),
                    Err(why) => {
                        println!("not shown: {about}: {path}: {sample:?} {why:?}");
                        tally.count("local loss not shown");
                    }
                }
            }
        });
        let compiled = Compiled::new(b);
        for (what, made) in
            [("smallest", tally.timed("smallest", &about, || smallest(b))), ("filled", tally.timed("filled", &about, || filled(b)))]
        {
            let Some(body) = made else {
                println!("no {what}: {about}");
                tally.count(format!("no {what}"));
                continue;
            };
            let outcome = compiled.request(body);
            if !outcome.errors.is_empty() || !outcome.pruned.is_empty() {
                println!("{what} not valid: {about}: {:?} {:?}", outcome.errors.first(), outcome.pruned.first());
                tally.count(format!("{what} not valid"));
            }
        }
    }
}
