//! Finds recorded API server verdicts and real bundles for tests.
//!
//! `testdata/server` and `testdata/demo` always exist. The complete records and the released bundles are optional, next to the
//! checkout (`../shared`); `CRDWISE_VECTORS` and `CRDWISE_CORPUS` name other folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Records of one kind (`compat`, `fresh-lint`, …): those in `testdata/server`, then the rest of the complete set if available.
pub fn records(kind: &str) -> Vec<Value> {
    let mut records = committed(kind);
    let file = match kind.split_once('-') {
        Some((set, part)) => format!("{set}/{part}.jsonl"),
        None => format!("{kind}/train.jsonl"),
    };
    if let Some(folder) = shared_folder("CRDWISE_VECTORS", "vectors") {
        let known: BTreeSet<String> = records.iter().map(id).collect();
        let complete = lines(&folder.join(file));
        records.extend(complete.into_iter().filter(|record| !known.contains(&id(record))));
    }
    records
}

/// Records of one kind in `testdata/server`.
pub fn committed(kind: &str) -> Vec<Value> {
    let records = lines(&project().join("testdata/server").join(format!("{kind}.jsonl")));
    assert!(!records.is_empty(), "testdata/server/{kind}.jsonl holds records");
    records
}

pub fn id(record: &Value) -> String {
    record["id"].as_str().expect("a record has an id").to_owned()
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

pub fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder that a variable names, or the one next to the checkout, which may be one level deeper.
fn shared_folder(variable: &str, name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let found =
        named.map_or_else(|| ["../shared", "../../shared"].map(|folder| project().join(folder).join(name)).to_vec(), |one| vec![one]);
    found.into_iter().find(|folder| folder.is_dir())
}

/// The folder of released bundles, with a folder per project and release, if available.
pub fn corpus() -> Option<PathBuf> {
    shared_folder("CRDWISE_CORPUS", "corpus")
}

/// Bundles that succeed each other, oldest first: those of the demo and the cases, and the releases of each project in the corpus.
pub fn releases() -> Vec<Vec<PathBuf>> {
    let mut found = vec![["old", "new"].map(|side| project().join("testdata/demo").join(side)).to_vec()];
    for case in folders(&project().join("testdata/cases")) {
        for (old, new) in [("old", "new"), ("old.yaml", "new.yaml")] {
            found.push(vec![case.join(old), case.join(new)]);
        }
    }
    found.retain(|pair| pair.iter().all(|side| side.exists()));
    for project in corpus().iter().flat_map(|corpus| folders(corpus)) {
        // The largest is for the benchmark; the others are enough for a debug build.
        if project.ends_with(LARGE) {
            continue;
        }
        let (parted, whole): (Vec<PathBuf>, Vec<PathBuf>) = folders(&project).into_iter().partition(|tag| tag.join("standard").is_dir());
        for channel in ["standard", "experimental"] {
            found.push(parted.iter().map(|tag| tag.join(channel)).filter(|folder| folder.is_dir()).collect());
        }
        found.push(whole);
    }
    found.retain(|bundles| !bundles.is_empty());
    found
}

/// A project in the corpus whose bundles have hundreds of CRDs.
pub const LARGE: &str = "provider-upjet-aws";

pub fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}
