//! Every format of a review of the demo, as files that can be compared. `CRDWISE_BLESS=1 cargo test` records them.

use std::path::Path;
use std::process::Command;

const FORMATS: [(&str, &str); 11] = [
    ("human", "human.txt"),
    ("short", "short.txt"),
    ("json", "report.json"),
    ("github", "github.txt"),
    ("sarif", "crdwise.sarif"),
    ("gitlab", "gitlab.json"),
    ("junit", "junit.xml"),
    ("markdown", "comment.md"),
    ("changelog", "changelog.md"),
    ("minutes", "minutes.md"),
    ("env", "crdwise.env"),
];

fn crdwise() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdwise"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("COLUMNS");
    command
}

#[test]
fn each_format_of_the_demo_has_its_recorded_output() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = crdwise();
    command.args(["review", "testdata/demo/old", "testdata/demo/new"]);
    for (format, file) in FORMATS {
        command.arg("--format").arg(format!("{format}={}", folder.path().join(file).display()));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty(), "every format has its file");
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/demo/expected");
    let bless = std::env::var_os("CRDWISE_BLESS").is_some();
    let mut moved = Vec::new();
    for (format, file) in FORMATS {
        let now = std::fs::read_to_string(folder.path().join(file)).unwrap();
        if bless {
            std::fs::create_dir_all(&expected).unwrap();
            std::fs::write(expected.join(file), &now).unwrap();
        }
        let before = std::fs::read_to_string(expected.join(file)).unwrap_or_default();
        if now != before {
            let diff = similar::TextDiff::from_lines(&before, &now).unified_diff().header(file, "now").to_string();
            moved.push(format!("{format}:\n{diff}"));
        }
    }
    assert!(moved.is_empty(), "rewrite them with CRDWISE_BLESS=1 if this is meant\n{}", moved.join("\n"));
}

#[test]
fn one_format_goes_to_standard_output_and_the_others_to_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    let demo = ["review", "testdata/demo/old", "testdata/demo/new"];
    let output = crdwise().args(demo).arg("--format=github").arg(format!("--format=json={}", file.display())).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("::error "));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("{\n  \"schema\": \"crdwise.report/v1\""));
    for (arguments, code, said) in [
        (vec!["--format=github", "--format=sarif"], 2, "only one format can go to standard output"),
        (vec!["--format=sarfi"], 2, "did you mean `sarif`?"),
        (vec!["--format=sarif="], 2, "a file name must follow"),
        (vec!["--format=json=testdata/demo/new/bookings.yaml"], 2, "is an input"),
        (vec!["--format=json=/proc/none/x.json"], 4, "can't write"),
        (vec!["--format=human", "--exit-zero"], 0, ""),
        (vec!["--format=human", "--fail-on=never"], 0, ""),
    ] {
        let output = crdwise().args(demo).args(&arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_device_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let demo = ["lint", "testdata/demo/new", "--exit-zero"];
    let output = crdwise().args(demo).arg(format!("--format=json={}", link.display())).arg("--format=junit=/dev/stderr").output().unwrap();
    assert!(link.is_symlink() && std::fs::read_to_string(&file).unwrap().starts_with('{'));
    assert!(String::from_utf8_lossy(&output.stderr).contains("<testsuites "));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn the_readme_shows_the_output_of_the_demo() {
    let shown = std::fs::read_to_string("README.md").unwrap();
    let said = std::fs::read_to_string("testdata/demo/expected/human.txt").unwrap();
    let sample = shown.split("$ crdwise review testdata/demo/old testdata/demo/new\n").nth(1).unwrap();
    let sample: Vec<&str> = sample.lines().take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
    // Between the ellipses, every line must be in the output, in this order.
    for part in sample.split(|line| line.trim() == "…") {
        let text: Vec<&str> = part.iter().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
        assert!(said.contains(text.join("\n").trim_matches('\n')), "{}", text.join("\n"));
    }
}

/// The page has tests in a browser.
#[test]
fn every_format_is_shown_for_the_demo_and_listed_in_the_readme() {
    let output = crdwise().args(["review", "--format=?"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let names = error.lines().find_map(|line| line.split("use one of ").nth(1)).expect(&error);
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let listed = readme.split("`--format ").find_map(|rest| rest.split('`').next().filter(|list| list.contains('|'))).unwrap();
    for name in names.split(", ") {
        assert!(name == "html" || FORMATS.iter().any(|(format, _)| *format == name), "`{name}` has no expected output");
        assert!(listed.split('|').any(|format| format == name), "README doesn't list `{name}`");
    }
}
