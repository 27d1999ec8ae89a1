//! Compares both readers: equal trees, or none from the fast one.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::YamlBudget;
use super::agreement::{Share, compare};

fn is_fast(text: &str) -> bool {
    let share = compare(text, &YamlBudget::default());
    share.documents == share.fast_documents
}

fn manifests(folder: &Path) -> Vec<PathBuf> {
    let is_yaml = |path: &Path| path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    walkdir::WalkDir::new(folder).into_iter().flatten().map(|entry| entry.into_path()).filter(|path| is_yaml(path)).collect()
}

fn compare_all(folder: &Path) -> Share {
    use rayon::prelude::*;
    let budget = YamlBudget::default();
    let shares = manifests(folder).into_par_iter().filter_map(|path| Some(compare(&std::fs::read_to_string(path).ok()?, &budget)));
    shares.reduce(Share::default, |a, b| Share {
        documents: a.documents + b.documents,
        fast_documents: a.fast_documents + b.fast_documents,
        bytes: a.bytes + b.bytes,
        fast: a.fast + b.fast,
    })
}

#[test]
fn both_readers_agree_on_test_data() {
    let share = compare_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"));
    assert!(share.documents > 200, "{share:?}");
}

#[test]
fn both_readers_agree_on_released_bundles_and_the_fast_one_reads_most() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if !corpus.is_dir() {
        return;
    }
    let share = compare_all(&corpus);
    assert!(share.documents > 2000, "{share:?}");
    assert!(share.fast * 100 >= share.bytes * 98, "{share:?}");
}

/// Documents with every relevant combination of what the subset contains.
const DOCUMENTS: &[&str] = &[
    "a: 1\nb: x\n",
    "---\na: 1",
    "--- # one\na:\n  b: c",
    "# head\n\na: b\n\n# tail\n",
    "a:\n- 1\n- 2\nb:\n  - x\n  - y\n",
    "a:\n- b: 1\n  c: 2\n- - x\n  - - y\n    - z\n",
    "-   a: 1\n    b: 2\n- c\n",
    "a:\nb:\n  c:\nd:\n- e:\n",
    "a: {}\nb: []\nc: {} # none\nd:\n- {}\n- []\n",
    "a: one two\n  three\n\n\n  four   \n  five\nb: x#y z:q\n",
    "a: b\n   # not text\nc: d\n",
    "a: 'it''s'\nb: 'x\n  y\n\n  z'\nc: '  '\nd: ''\ne: ' x   \n   y '\n",
    "a: \"x\\ty \\\"q\\\" \\\\ \\x41\\u00e9\\U0001F600\"\nb: \"one\\n\\\n  \\ two\\\n\n  three  \n  four\"\nc: \"\"\n",
    "\"a b\": 1\n'c: d': 2\n- : x\n",
    "a: |\n  one\n    two\n\n  three\n\n\nb: |-\n  x\nc: |+\n  y\n\n\nd: |2\n    z\ne: >\n  f\n  g\n\n  h\n   i\n  j\n\nk: >-\n\n  l\n  m\n",
    "a: |-\n  no break at the end",
    "a: |\n  x\n ",
    "a: |\n  x\n    ",
    "a: |+\n  x\n\n   \n",
    "a: |\n\n   \n   x\nb: 1\n",
    "a: |\n  x\n# comment\n  # another\nb: 1\n",
    "a: >\n  x\n\n    y\n    z\n\n\n  w\n  \tv\n",
    "a:\n  - |\n    x\n  - >-\n    y\n    z\n  - b: |\n      x\n    c: 1\n",
    "a: - x\n",
    "a: -x\nb: -1\nc: ?x\nd: :x\n",
    "a: on\ny: no\n1: 2\n0x1F: 0777\nz: ~\nn: null\nf: 1.0\ne: 1e3\nu: 1_000\n",
    "a: ünïcode\nb: 'ä\n  ö'\nc: \u{a0}x\u{2028}\n",
    "  a: 1\n  b:\n    c: 2\n",
    "a: x # comment\n",
    "a: x y # comment\n  z\n",
    "a: x\n  y # comment\n# more\nb: z #\n",
    "a: x # comment\n\n  z\n",
    "a:\n  some text\n  of two lines\nb:\n  'quoted\n   text'\nc:\n  \"more\"\n",
    "a:\n  - b:\n      text\n    c:\n\n      # note\n      text: x\n",
    "a:\n text\n more\nb:\ntext\n",
    "a:\n  {}\nb:\n  [x]\n",
    "a: [x, \"y z\", 'q', 1, on]\nb: [ ]\nc: [ x , y ]\nd: [x,y]\n- [x]\n",
    "a: [x, ]\nb: [, x]\n",
    "a: [x y]\n",
    "a: [x: y]\n",
    "a: ['x': y]\n",
    "a: [\"x\":y]\n",
    "a: [x\n  , y]\n",
    "a: [x] y\n",
    "a: [x]: y\n",
    "a: [x]\n  y\n",
    "- [a, b]\n- [c]\n",
    "[a, b]\n",
    "a: # comment\n  b: 1\n",
    "a: 'x' # comment\nb: \"y\"  # comment\n",
    "<<: x\n",
    "a: <<\n",
    "description: 'a: b'\nurl: https://x.example/#y\n",
    "a: x\n  - y\n  z\n",
    "a: x\n  ? y\n",
    "- a\n- b\n  c\n-\n",
    "a:\n  - b\n  c: d\n",
    "a:\n  b: 1\n c: 2\n",
    "a: 1\n- b\n",
    "- a\nb: 1\n",
    "a: 1\na: 2\n",
    "a: .inf\n",
    "a: |\nb: 1\n",
    "a: |",
    "a: |\n",
    "a: |2-\n   x\n  y\n",
    "a: |-3\n     x\n",
    "a: |\n\tx\n",
    "a: |\n  \tx\n  y\tz\n",
    "a:\tx\n",
    "a: x\ty\n",
    "a: 'x\t\n  y'\n",
    "a: \"x\n y\"\n",
    "a: \"x\ny\"\n",
    "a: 'x\n'\n",
    "a: x\n b: y\n",
    "a: x\n b:\n",
    "a: b: c\n",
    "a:b: c\n",
    "a: [x, y]\nb: {c: d}\n",
    "a: &x 1\nb: *x\n",
    "a: !!str 1\n",
    "? a\n: b\n",
    "%YAML 1.1\n---\na: 1\n",
    "a: 1\n...\nb: 2\n",
    "a: 1\r\nb: 2\r\n",
    "\u{feff}a: 1\n",
    "a: \u{85}\n",
    "plain\n",
    "'quoted'\n",
    "a:\n  plain\n",
    "a:\n  'quoted'\n",
    "a:\n  |\n  x\n",
    "a: 'x' y\n",
    "a: {} x\n",
    "a: {}x\n",
    "a: {}#x\n",
    "a: \"\\q\"\n",
    "a: \"\\ud83d\\ude00\"\n",
    "a: \"\\uD800\"\n",
    "a: \"\\x+1\"\n",
    "a: 'x\n---\ny'\n",
    "a: @x\n",
    "a: `x\n",
    "a: %x\n",
    "a: ,x\n",
    "a: }\n",
    "--- a: 1\n",
    "---a: 1\n",
    "--- |\n x\n",
    "a: 1 \nb: 2  \nc:  \n  d: 3\n",
    "a:\n\n  # x\n\n  b: 1\n# y\n  c: 2\n",
];

#[test]
fn both_readers_agree_in_and_around_the_subset() {
    DOCUMENTS.iter().for_each(|text| {
        compare(text, &YamlBudget::default());
    });
}

#[test]
fn generated_yaml_needs_no_parser() {
    // The first documents above must all be in the subset, so that the output of generators doesn't silently fall back to the
    // parser.
    for text in &DOCUMENTS[..13] {
        assert!(is_fast(text), "{text:?}");
    }
    for text in &DOCUMENTS[14..23] {
        assert!(is_fast(text), "{text:?}");
    }
    for text in ["a: x # y\n", "a:\n  text\n  more\n", "a: [x, \"y\"]\n"] {
        assert!(is_fast(text), "{text:?}");
    }
    for text in ["a: [x, {}]\n", "a: &x 1\n", "a: 1\r\n", "a: b: c\n", "? a\n", "a: 1\na: 2\n"] {
        assert!(!is_fast(text), "{text:?}");
    }
}

#[test]
fn both_readers_have_the_same_budgets() {
    let text = "a:\n  b:\n    c:\n      d: 01234567890123\n";
    for budget in [
        YamlBudget { depth: 3, ..YamlBudget::default() },
        YamlBudget { nodes: 5, ..YamlBudget::default() },
        YamlBudget { scalar: 10, ..YamlBudget::default() },
        YamlBudget { depth: 8, nodes: 9, documents: 1, scalar: 14 },
    ] {
        compare(text, &budget);
    }
}

/// Generates lines that touch every rule of the subset, in any order and indentation.
fn line() -> impl Strategy<Value = String> {
    let text = proptest::sample::select(vec![
        "a:",
        "b: 1",
        "c: x y",
        "- ",
        "- x",
        "- a: 1",
        "- - y",
        "text",
        "text: more",
        "'q'",
        "d: 'q",
        "q'",
        "e: \"w",
        "w\"",
        "f: |",
        "g: >-",
        "h: |+",
        "i: {}",
        "j: []",
        "# note",
        "",
        "   ",
        "k: x # y",
        "'l': 2",
        "m: \"\\n\\",
        "n: it's",
        "o: |2",
        "on: yes",
        "p: ''",
        "-",
        "? x",
        "x\ty",
        "...",
        "---",
        "é: ü",
        "r: - s",
        "s: [x, 'y']",
        "[x]",
        "t: u # v",
        "t: &u v",
        "  more",
        "\"v\": w",
        "z: ~",
    ]);
    (0..5_usize, text).prop_map(|(indent, text)| format!("{}{text}", " ".repeat(indent * 2 % 7)))
}

/// Generates a CRD with some of its bytes changed.
fn mutated() -> impl Strategy<Value = String> {
    let crd = include_str!("../../../../testdata/demo/new/bookings.yaml");
    let edit = (any::<prop::sample::Index>(), 0..4_usize, proptest::sample::select(b" \n:-#'\"|>{}[]\\\tax".to_vec()));
    proptest::collection::vec(edit, 1..4).prop_map(move |edits| {
        let mut bytes = crd.as_bytes().to_vec();
        for (place, length, byte) in edits {
            let start = place.index(bytes.len());
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, [byte]);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_readers_agree_on_lines_in_any_order(lines in proptest::collection::vec(line(), 1..12)) {
        compare(&lines.join("\n"), &YamlBudget::default());
    }

    #[test]
    fn both_readers_agree_on_mutated_crds(text in mutated()) {
        compare(&text, &YamlBudget::default());
    }

    #[test]
    fn both_readers_agree_on_any_text(text in "[ab:#'\"\\\\|>\\-+\\[\\]{}&*!?,~0-9 \n\t]{0,60}") {
        compare(&text, &YamlBudget::default());
    }
}
