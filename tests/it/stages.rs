//! Stages depend on each other in one direction only.

use std::fs;
use std::path::{Path, PathBuf};

/// Left to right, as data flows. A stage may use those before it, and itself.
const ORDER: &[&str] = &[
    "memo",
    "glob",
    "date",
    "source",
    "yaml",
    "form",
    "crd",
    "schema",
    "cel",
    "validate",
    "fact",
    "order",
    "finding",
    "rule",
    "bump",
    "diff",
    "inspect",
    "conversion",
    "policy",
    "baseline",
    "waiver",
    "config",
    "report",
    "review",
    "render",
    "cli",
    "run",
];

/// Words without behaviour that both sides of an edge name.
const PAIRS: &[(&str, &str)] = &[("finding", "rule"), ("crd", "schema"), ("baseline", "waiver")];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_stage_uses_one_to_its_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let rank = |stage: &str| ORDER.iter().position(|name| *name == stage);
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let stage = inside.components().next().unwrap().as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
        if matches!(&*stage, "lib" | "main") {
            continue;
        }
        let own = rank(&stage).unwrap_or_else(|| panic!("src/{stage} has no place in the order of stages"));
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            for part in line.split("crate::").skip(1) {
                let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if rank(&used).is_some_and(|used| used > own) && !PAIRS.contains(&(&*stage, &*used)) {
                    wrong.push(format!("{}:{}: {stage} uses {used}", inside.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
