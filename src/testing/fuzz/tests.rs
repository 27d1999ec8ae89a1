//! Tests that every target holds for the test data, and for pseudo-random bytes.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

use std::path::{Path, PathBuf};

use super::choices::Choices;
use super::manifests::made_up;
use crate::compare::Random;
use crate::find::conversion::laws::violation::violation;
use crate::testing::number_in;

/// Test data files that are small enough.
fn seeds() -> Vec<PathBuf> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let files = walkdir::WalkDir::new(testdata).sort_by_file_name().into_iter().flatten().filter(|entry| entry.file_type().is_file());
    files.filter(|entry| entry.metadata().is_ok_and(|data| data.len() < 20_000)).map(|entry| entry.into_path()).collect()
}

#[test]
fn targets_hold_for_the_test_data() {
    let seeds = seeds();
    assert!(seeds.len() > 300);
    for file in seeds {
        let bytes = std::fs::read(&file).unwrap();
        super::yaml(&bytes);
        super::archive(&bytes);
        super::configuration(&bytes);
        super::conversion(&[&[1], &bytes[..]].concat());
        if bytes.len() < 6_000 {
            super::bundle(&bytes);
        }
    }
}

#[test]
fn targets_hold_for_bytes_of_any_kind() {
    // A linear congruential generator: the same bytes in every run.
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let runs = std::env::var("CRDWISE_FUZZ_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(200_usize);
    for length in (0..runs).map(|run| run % 200) {
        let bytes: Vec<u8> = (0..length).map(|_| next()).collect();
        super::comparison(&bytes);
        super::conversion(&bytes);
        super::cel(&bytes);
        super::archive(&bytes);
    }
}

/// Cuts, repeats and replaces a few parts of a text.
fn mutated(text: &str, random: &mut dyn FnMut(usize) -> usize) -> String {
    const TOKENS: [&str; 22] = [
        "'", "\"", "{", "}", "[", "]", ",", ":", ": ", "- ", "#", "&a ", "*a", "\n", "  ", "|", "? ", "<<: *a", "null", "---\n", "v1", "v2",
    ];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random(4) {
        let (from, to) = (random(lines.len()), random(lines.len()));
        match random(6) {
            0 => drop(lines.remove(from)),
            1 => lines.insert(to, lines[from].clone()),
            2 => lines.swap(from, to),
            _ => {
                let line = &mut lines[from];
                let at = (0..=random(line.len() + 1).min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
                let rest = line.split_off(at);
                line.push_str(TOKENS[random(TOKENS.len())]);
                line.push_str(if random(2) == 0 { &rest } else { rest.get(1..).unwrap_or("") });
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn mutated_crds_have_no_changes_compared_with_themselves() {
    let seeds: Vec<String> = seeds().iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let seeds: Vec<&String> = seeds.iter().filter(|text| text.len() < 4_000 && text.contains("openAPIV3Schema")).collect();
    let mut state = std::env::var("CRDWISE_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1_u64);
    let mut random = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end.max(1)
    };
    let runs = std::env::var("CRDWISE_FUZZ_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(200_usize);
    for _ in 0..runs {
        let text = mutated(seeds[random(seeds.len())], &mut random);
        if std::panic::catch_unwind(|| super::bundle(text.as_bytes())).is_err() {
            panic!("{text}");
        }
    }
}

#[test]
fn expressions_and_reports_are_tried_as_well() {
    for rule in ["self.a.size() > 1", "self.l.all(x, x.v > 0) && oldSelf.b < self.b", "self.c.exists(x, x.matches('^a'))", "'a' + self.a"] {
        super::cel(&[b"12345678", rule.as_bytes()].concat());
    }
    let hostile = "<script>alert(1)</script>\n\u{1b}[31m\n::error::x\n]]>\n`|a`\n# x\n&amp;\n%0A\n\"x\n";
    let formats = super::rendered(hostile.as_bytes());
    assert_eq!(formats.len(), 12);
    for rendered in formats {
        assert!(!rendered.text.is_empty() && !rendered.text.contains('\u{1b}'), "{}", rendered.format);
    }
}

/// `CRDWISE_MANIFESTS=50000 cargo test --lib -- proved_law --nocapture` tries that many manifests, from the seed
/// `CRDWISE_MANIFEST_SEED`, and prints how many laws are proved.
#[test]
fn no_object_contradicts_a_proved_law() {
    let manifests = number_in("CRDWISE_MANIFESTS").unwrap_or(300);
    let mut random = Random(number_in("CRDWISE_MANIFEST_SEED").unwrap_or(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut laws, mut proved) = (0, 0);
    let mut wrong = Vec::new();
    for _ in 0..manifests {
        let bytes: Vec<u8> = (0..400).map(|_| random.below(256) as u8).collect();
        let made_up = made_up(&mut Choices::new(&bytes));
        let Some(manifest) = made_up.manifest() else { continue };
        let count = violation(manifest, &made_up.text, &made_up.old, &made_up.new);
        laws += count.laws;
        proved += count.proved;
        wrong.extend(count.wrong.map(|said| format!("{said}\n{}{}\n", made_up.text, made_up.schemas)));
    }
    println!("{manifests} manifests: {proved} of {laws} laws proved, {} manifests with a wrong proof", wrong.len());
    let shown: Vec<&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{}", shown.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n"));
}
