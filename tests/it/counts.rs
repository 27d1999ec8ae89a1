//! Every format shows the same counts: how many breaking changes, in how many places.

use std::process::Command;

use serde_json::Value;

fn run(old: &str, new: &str, format: &str) -> String {
    let arguments = ["review", old, new, "--exit-zero", "--format", format];
    let output = Command::new(env!("CARGO_BIN_EXE_crdwise")).args(arguments).env("COLUMNS", "120").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// `(changes, places)` of the first "N breaking changes in M places" in a text, ignoring markup and line breaks.
fn stated(text: &str) -> Option<(usize, usize)> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || "<>*│:;,.()\"".contains(c)).filter(|word| !word.is_empty()).collect();
    words.windows(6).find_map(|six| match six {
        [changes, "breaking", "change" | "changes", "in", places, "place" | "places"] => {
            Some((changes.parse().ok()?, places.parse().ok()?))
        }
        _ => None,
    })
}

fn in_summary(summary: &Value) -> Option<(usize, usize)> {
    let number = |name: &str| usize::try_from(summary["breaking"][name].as_u64()?).ok();
    Some((number("changes")?, number("places")?))
}

/// The counts in each format, by name.
fn counts(old: &str, new: &str) -> Vec<(&'static str, Option<(usize, usize)>)> {
    let json: Value = serde_json::from_str(&run(old, new, "json")).unwrap();
    let sarif: Value = serde_json::from_str(&run(old, new, "sarif")).unwrap();
    let breaks: Vec<&Value> =
        json["findings"].as_array().unwrap().iter().filter(|finding| finding["class"] == "semantic-breaking").collect();
    let groups: std::collections::BTreeSet<&str> = breaks.iter().filter_map(|finding| finding["group"].as_str()).collect();
    let mut said = vec![
        ("findings", Some((groups.len(), breaks.len()))),
        ("json", in_summary(&json["summary"])),
        ("sarif", in_summary(&sarif["runs"][0]["properties"]["summary"])),
    ];
    for format in ["human", "short", "markdown", "github", "changelog", "html"] {
        said.push((format, stated(&run(old, new, format))));
    }
    said
}

#[track_caller]
fn agree(old: &str, new: &str) {
    let said = counts(old, new);
    let first = said[0].1;
    println!("{new}: {said:?}");
    assert!(first.is_some_and(|(changes, _)| changes > 0), "{new} breaks something");
    assert!(said.iter().all(|(_, count)| *count == first), "{old} → {new}: {said:?}");
}

#[test]
fn every_format_states_the_same_counts() {
    agree("testdata/demo/old", "testdata/demo/new");
    for case in ["one-required-field", "embedded-types-updated"] {
        agree(&format!("testdata/cases/{case}/old.yaml"), &format!("testdata/cases/{case}/new.yaml"));
    }
}

#[test]
fn every_format_states_the_same_counts_of_released_bundles() {
    let corpus = std::path::Path::new("../shared/corpus");
    if !corpus.exists() {
        return;
    }
    for (project, old, new) in [
        ("gateway-api", "v1.3.0/experimental", "v1.4.0/experimental"),
        ("prometheus-operator", "v0.80.0", "v0.92.0"),
        ("crossplane", "v1.20.0", "v2.0.0"),
        ("cilium", "v1.16.0", "v1.17.0"),
        ("tekton-pipeline", "v0.60.0", "v1.0.0"),
    ] {
        let side = |version: &str| corpus.join(project).join(version).display().to_string();
        agree(&side(old), &side(new));
    }
}
