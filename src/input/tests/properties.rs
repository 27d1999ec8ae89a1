//! Whatever bytes a file has and whatever an input looks like: no panics, and nothing gets lost.

use proptest::prelude::*;

use super::super::scratch::Scratch;
use super::super::{Input, Limits};

/// File names, some of which look like other kinds of inputs.
fn name() -> impl Strategy<Value = String> {
    let ends = vec!["yaml", "yml", "json", "txt", "YAML", "x:y.yaml"];
    ("[a-c]{1,2}(/[a-c]{1,2}){0,2}", proptest::sample::select(ends)).prop_map(|(stem, end)| format!("{stem}.{end}"))
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        "\\PC{0,60}".prop_map(String::into_bytes),
        "[a-z]: (\\PC|\r|\n|\u{FEFF}){0,60}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u16>(), 0..100)
            .prop_map(|units| { std::iter::once(0xFEFF).chain(units).flat_map(u16::to_le_bytes).collect() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_file_is_read_skipped_or_a_problem(
        files in proptest::collection::btree_map(name(), bytes(), 0..12),
        file_bytes in 0u64..400,
        total_bytes in 0u64..2_000,
        limit in 0usize..14,
    ) {
        let limits = Limits { file_bytes, total_bytes, files: limit, ..Limits::default() };
        let scratch = Scratch::new().limited(limits);
        for (name, bytes) in &files {
            scratch.write(name, bytes);
        }
        let loaded = scratch.load(&["."]);
        let left: usize = loaded.problems.iter().map(|problem| match problem {
            super::super::Problem::TotalTooLarge { left, .. } | super::super::Problem::TooManyFiles { left, .. } => *left,
            _ => 1,
        }).sum();
        prop_assert_eq!(loaded.files.len() + loaded.skipped.len() + left, files.len());
        for file in &loaded.files {
            for offset in 0..file.text.len() + 2 {
                let place = file.place(offset);
                prop_assert!(place.line <= file.lines().count());
            }
        }
        for problem in &loaded.problems {
            prop_assert!(!problem.to_string().contains('\n'));
        }
        let again = scratch.load(&["."]);
        prop_assert_eq!(again.names(), loaded.names());
    }

    #[test]
    fn standard_input_never_panics(bytes in bytes(), file_bytes in 0u64..400) {
        let scratch = Scratch::new().limited(Limits { file_bytes, ..Limits::default() });
        let loaded = scratch.loader().load_with(&scratch.inputs(&["-"]), bytes.as_slice());
        prop_assert_eq!(loaded.files.len() + loaded.problems.len(), 1);
    }
}

proptest! {
    // Few cases, because each starts git several times.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn arbitrary_inputs_never_panic(texts in proptest::collection::vec("([-:./~^@{}a-cA-C0-3\\\\ *'\"ä\u{7f}\u{0}\n]|HEAD|main|crd){0,6}", 1..4)) {
        let scratch = Scratch::repository();
        scratch.write("crd/a.yaml", "a");
        scratch.commit();
        let parse = |text: &String| Input::parse_in(&scratch.path(), text.as_ref()).ok();
        let inputs: Vec<Input> = texts.iter().filter_map(parse).collect();
        let loaded = scratch.loader().load_with(&inputs, &b""[..]);
        for problem in &loaded.problems {
            prop_assert!(!problem.to_string().is_empty());
        }
    }
}
