//! Every folder in `testdata/cases` is like a bug report: the input, the command, and all of the output.
//!
//! A case has `old` and `new` (a review), or `input` (a lint), each a folder, or a file with the extension `.yaml` or `.json`.
//! `args` adds arguments to the command; `command` contains whole command lines instead, run one after the other. `expected.txt` is
//! stdout; `expected.code` contains the exit code followed by stderr, unless they are 0 and empty. `CRDWISE_BLESS=1` records the
//! current output.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The date for every case: 2026-01-15.
const TODAY: &str = "1768435200";

struct Said {
    out: String,
    code: String,
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases");
    let mut found: Vec<PathBuf> = fs::read_dir(root).expect("testdata/cases").map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

/// `old`, `old.yaml` or `old.json`, whichever exists.
fn side(case: &Path, name: &str) -> Option<String> {
    [name.to_owned(), format!("{name}.yaml"), format!("{name}.json")].into_iter().find(|name| case.join(name).exists())
}

/// Splits a command line into words at spaces, except inside single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut open) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, open) = (!quoted, true),
            c if c.is_whitespace() && !quoted => {
                if open {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            c => {
                word.push(c);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

fn commands(case: &Path) -> Vec<Vec<String>> {
    if let Ok(text) = fs::read_to_string(case.join("command")) {
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        return lines.map(|line| words(line.strip_prefix("crdwise ").unwrap_or(line))).collect();
    }
    let mut command = match (side(case, "old"), side(case, "new"), side(case, "input")) {
        (Some(old), Some(new), None) => vec!["review".to_owned(), old, new],
        (None, None, Some(input)) => vec!["lint".to_owned(), input],
        _ => panic!("{}: a case has `old` and `new`, or `input`, or a `command`", case.display()),
    };
    command.extend(words(&fs::read_to_string(case.join("args")).unwrap_or_default()));
    vec![command]
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// Runs a case in a copy of its folder, so that no configuration around this repository is found and nothing here is written.
fn run(case: &Path) -> Said {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(case, folder.path());
    let commands = commands(case);
    let mut said = Said { out: String::new(), code: String::new() };
    for command in &commands {
        let output = Command::new(env!("CARGO_BIN_EXE_crdwise"))
            .args(command)
            .current_dir(folder.path())
            .env("NO_COLOR", "1")
            .env("SOURCE_DATE_EPOCH", TODAY)
            .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap_or(Path::new("/")))
            .env_remove("COLUMNS")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the program runs");
        if commands.len() > 1 {
            let _ = writeln!(said.out, "$ crdwise {}", command.join(" "));
        }
        said.out.push_str(&String::from_utf8_lossy(&output.stdout));
        let _ = write!(said.code, "{}\n{}", output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr));
    }
    said
}

#[test]
fn every_case_has_its_recorded_output() {
    let bless = std::env::var_os("CRDWISE_BLESS").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let said = run(&case);
        let quiet = said.code == "0\n";
        if bless {
            fs::write(case.join("expected.txt"), &said.out).expect("expected.txt");
            if quiet {
                let _ = fs::remove_file(case.join("expected.code"));
            } else {
                fs::write(case.join("expected.code"), &said.code).expect("expected.code");
            }
            continue;
        }
        let expected = |name: &str| fs::read_to_string(case.join(name)).ok();
        let code = expected("expected.code").unwrap_or_else(|| "0\n".to_owned());
        for (what, wanted, got) in
            [("expected.txt", expected("expected.txt").unwrap_or_default(), said.out), ("expected.code", code, said.code)]
        {
            if wanted != got {
                let difference = similar::TextDiff::from_lines(&wanted, &got).unified_diff().header(what, "said").to_string();
                wrong.push(format!("{}\n{difference}", case.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ; CRDWISE_BLESS=1 writes down what is said now\n\n{}", wrong.len(), wrong.join("\n"));
}

/// A change is reported once: these had 68 and thousands of lines when every place had its own finding.
#[test]
fn one_cause_is_one_block() {
    for (case, most) in [("one-required-field", 25), ("embedded-types-updated", 60)] {
        let said =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases").join(case).join("expected.txt")).unwrap();
        assert!(said.lines().count() <= most, "{case}: {} lines, at most {most}\n{said}", said.lines().count());
        assert!(said.lines().all(|line| line.chars().count() <= 80 || !line.contains(' ')), "{case} fits in 80 columns\n{said}");
    }
}
