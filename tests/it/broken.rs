//! Bad inputs: each gets a clear message with its place, and nothing else is lost.
//!
//! Readable files are in `testdata/broken`; those too large or too strange for a repository are generated here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn broken(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/broken").join(name)
}

fn lint(arguments: &[&std::ffi::OsStr]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_crdwise"))
        .arg("lint")
        .args(arguments)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program runs")
}

/// The exit code, and stdout and stderr together with white space folded.
fn said(path: &Path) -> (i32, String) {
    let output = lint(&[path.as_os_str()]);
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), text.replace(" │ ", " ").split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn each_file_gets_its_message() {
    let cases: &[(&str, i32, &[&str])] = &[
        ("02-self-reference.yaml", 3, &["alias `*a` refers to a node that contains it", "02-self-reference.yaml:1:8"]),
        ("11-empty.yaml", 3, &["no CRD was found"]),
        ("11-only-marker.yaml", 3, &["no CRD was found"]),
        ("13-other-kinds.yaml", 0, &["1 CRD", "kind Namespace (not a CRD"]),
        ("14-v1beta1.yaml", 1, &["apiextensions.k8s.io/v1beta1", "1.22"]),
        ("15-list.yaml", 0, &["1 CRD"]),
        ("16-twice.yaml", 3, &["`widgets.shop.example.com` is in this bundle twice", "16-twice.yaml:4:9", "16-twice.yaml:25:9"]),
        ("17-duplicate-key.yaml", 3, &["`scope` appears twice", "first is on line 8", "17-duplicate-key.yaml:9:3"]),
        ("18-bom.yaml", 3, &["tab", "18-bom.yaml:8:"]),
        ("18-bom-good.yaml", 0, &["1 CRD"]),
        ("19-utf16.yaml", 0, &["1 CRD", "UTF-16"]),
        ("20-invalid-utf8.yaml", 3, &["is not UTF-8", "20:33"]),
        ("21-control.yaml", 3, &["U+0001", "20:"]),
        ("22-crlf.yaml", 3, &["`scope` appears twice", "first is on line 8", ":9:3"]),
        ("22-cr.yaml", 3, &["`scope` appears twice", "first is on line 8", ":9:3"]),
        ("23-tab.yaml", 3, &["tab", "indent with spaces", ":8:"]),
        ("24-binary-tag.yaml", 3, &["tag `!!binary`"]),
        ("24-custom-tag.yaml", 3, &["tag `!secret`"]),
        ("25-merge-key.yaml", 0, &["1 CRD"]),
        ("26-typed.yaml", 0, &["on", "0777"]),
        ("27-not-a-number.yaml", 3, &["`.nan`", "20:"]),
        ("27-too-large.yaml", 1, &["is a string, but must be a number", "1e400"]),
        ("28-truncated.yaml", 3, &["28-truncated.yaml"]),
        ("28-conflict.yaml", 3, &["merge-conflict marker", ":8:1"]),
        ("29-helm.yaml", 3, &["Helm template", "render it first", ":1:1"]),
        ("29-braces-in-text.yaml", 0, &["1 CRD"]),
        ("30-ref.yaml", 1, &["$ref"]),
        ("31-type-number.yaml", 1, &["31-type-number.yaml:20:"]),
        ("31-properties-list.yaml", 1, &["31-properties-list.yaml:19:"]),
        ("31-versions-null.yaml", 1, &["version"]),
        ("32-no-storage.yaml", 1, &["storage"]),
        ("33-backtracking.yaml", 0, &["1 CRD"]),
        ("34-repeats.yaml", 1, &["34-repeats.yaml:20:"]),
        ("35-lookahead.yaml", 1, &["35-lookahead.yaml:20:"]),
        ("36-cel.yaml", 1, &["36-cel.yaml:20:"]),
        ("38-terminal.yaml", 0, &["1 CRD"]),
    ];
    let mut wrong = Vec::new();
    for (name, code, texts) in cases {
        let arguments = [broken(name).into_os_string(), "--policy=kubernetes".into()];
        let output = lint(&arguments.iter().map(|a| a.as_os_str()).collect::<Vec<_>>());
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let text = text.replace(" │ ", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let got = output.status.code().unwrap_or(-1);
        if got != *code {
            wrong.push(format!("{name}: exit {got}, expected {code}: {text}"));
        }
        for part in *texts {
            if !text.contains(part) {
                wrong.push(format!("{name}: nothing says {part:?}: {text}"));
            }
        }
    }
    let listed: Vec<&str> = cases.iter().map(|(name, ..)| *name).collect();
    for entry in fs::read_dir(broken("")).expect("testdata/broken") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        if !listed.contains(&&*name) {
            wrong.push(format!("{name} stands in testdata/broken and is not tried"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn inputs_beyond_the_limits_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..30 {
        bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", ")));
    }
    let deep_blocks: String = (0..20_000).map(|i| format!("{}a:\n", " ".repeat(i))).take(3_000).collect();
    let cases: Vec<(&str, String, &str)> = vec![
        ("bomb.yaml", bomb, "--max-nodes"),
        ("brackets.yaml", "[".repeat(20_000), "--max-depth"),
        ("blocks.yaml", deep_blocks, "--max-depth"),
        ("dashes.yaml", "- ".repeat(4_000), "--max-depth"),
        ("properties.json", "{\"properties\":{\"a\":".repeat(5_000), "--max-depth"),
        ("documents.yaml", "---\na: 1\n".repeat(100_000), "--max-documents"),
        ("scalar.yaml", format!("a: {}\n", "x".repeat(50 << 20)), "--max-scalar"),
        ("large.yaml", "a: 1\n".repeat(15 << 20), "--max-file-size"),
    ];
    for (name, text, flag) in cases {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        let (code, text) = said(&path);
        assert_eq!(code, 3, "{name}: {text}");
        assert!(text.contains(flag), "{name} doesn't name {flag}: {text}");
        assert!(text.len() < 2_000, "{name}: {} characters of answer", text.len());
        fs::remove_file(&path).expect("removed");
    }
}

#[test]
fn a_million_enum_values_are_fine() {
    let dir = tempfile::tempdir().expect("a folder");
    let head = fs::read_to_string(broken("13-other-kinds.yaml")).expect("read");
    let schema = |range: std::ops::Range<u32>| {
        let values: Vec<String> = range.map(|i| format!("v{i}")).collect();
        head.replace("{type: string}", &format!("{{type: string, enum: [{}]}}", values.join(", ")))
    };
    let (old, new) = (dir.path().join("old.yaml"), dir.path().join("new.yaml"));
    fs::write(&old, schema(0..200_000)).expect("written");
    fs::write(&new, schema(100_000..300_000)).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_crdwise")).arg("review").args([&old, &new]).output().expect("runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.len() < 20_000, "{} bytes", output.stdout.len());
}

#[test]
fn text_from_files_reaches_no_terminal() {
    let dir = tempfile::tempdir().expect("a folder");
    let old = fs::read_to_string(broken("38-terminal.yaml")).expect("read");
    let new = old.replace("\"\\e[31m\", ", "").replace("a\\rb", "\\e[2J");
    let (before, after) = (dir.path().join("old.yaml"), dir.path().join("new\u{1b}[31m.yaml"));
    fs::write(&before, old).expect("written");
    fs::write(&after, new).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_crdwise")).args(["review", "--all"]).args([&before, &after]).output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("enum"), "{text}");
    let active: Vec<char> = text.chars().filter(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{200b}')).collect();
    assert!(active.is_empty(), "{active:?} in\n{text}");
}

#[test]
fn one_broken_document_does_not_affect_the_others() {
    let dir = tempfile::tempdir().expect("a folder");
    let good = fs::read_to_string(broken("13-other-kinds.yaml")).expect("read");
    fs::write(dir.path().join("a.yaml"), format!("x: [\n---\n{good}")).expect("written");
    fs::write(dir.path().join("b.yaml"), "\u{0}").expect("written");
    let (code, text) = said(dir.path());
    assert_eq!(code, 3);
    assert!(text.contains("(1 CRD;"), "{text}");
    assert!(text.contains("b.yaml"), "{text}");
}

/// A reader that has closed its end.
struct Gone;

impl std::io::Write for Gone {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_stops_still_gets_the_exit_code() {
    let terminal = crdwise::program::Terminal { out: false, err: false, width: 80, unicode: true, moves: false };
    let demo = |side: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/demo").join(side).into_os_string();
    let mut said = Vec::new();
    let mut streams = crdwise::program::Streams::new(Box::new(Gone), Box::new(&mut said), terminal);
    let exit = crdwise::program::main(["crdwise".into(), "review".into(), demo("old"), demo("new")], &mut streams);
    drop(streams);
    assert_eq!((exit.code(), String::from_utf8(said).unwrap().as_str()), (1, ""));
}
