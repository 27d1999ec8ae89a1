//! However a run ends (full disk, unwritable directory, closed pipe, signal), files are complete or unchanged, and the error is
//! reported.
#![cfg(unix)]

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::repository::Scratch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_crdwise");
const CRD: &str = include_str!("../../testdata/demo/new/bookings.yaml");

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_disk_that_is_full_leaves_the_old_file() {
    let scratch = Scratch::new();
    scratch.write("crd.yaml", CRD);
    scratch.write("out/page.html", "old");
    let folder = scratch.path().join("out");
    // Limits files to four kilobytes, so that the output is cut off in the middle.
    let script = format!("trap '' XFSZ; ulimit -f 8; exec '{PROGRAM}' lint crd.yaml --exit-zero --format html=out/page.html");
    let output = Command::new("sh").args(["-c", &script]).current_dir(scratch.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(4) && error.contains("can't write out/page.html"), "{error}");
    assert_eq!(std::fs::read_to_string(folder.join("page.html")).unwrap(), "old");
    assert_eq!(names(&folder), ["page.html"], "nothing is left beside it");
    let (code, _, error) = scratch.run(&["lint", "crd.yaml", "--exit-zero", "--format", "json=/dev/full"]);
    assert!(code == 4 && error.contains("can't write /dev/full"), "{error}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(PROGRAM).args(["lint", "crd.yaml", "--exit-zero"]).current_dir(scratch.path()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn no_command_writes_half_a_file_to_a_full_disk() {
    let scratch = Scratch::new();
    scratch.write("crd.yaml", CRD);
    let limited = |arguments: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 0; exec '{PROGRAM}' {arguments}");
        let output = Command::new("sh").args(["-c", &script]).current_dir(scratch.path()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for arguments in ["init", "baseline write crd.yaml", "fixtures write crd.yaml --dir fixtures", "test generate crd.yaml --dir suites"] {
        let before = names(scratch.path());
        let (code, error) = limited(arguments);
        assert_eq!(code, Some(4), "{arguments}: {error}");
        assert!(error.contains("can't write"), "{arguments}: {error}");
        for name in names(scratch.path()).iter().filter(|name| !before.contains(name)) {
            let path = scratch.path().join(name);
            assert!(
                path.is_dir() && walkdir::WalkDir::new(&path).into_iter().flatten().all(|entry| entry.path().is_dir()),
                "{arguments}: {name}"
            );
        }
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let scratch = Scratch::new();
    scratch.write("crd.yaml", CRD);
    scratch.write("locked/page.html", "old");
    let folder = scratch.path().join("locked");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    // This can't be tested as a user who may write everywhere.
    if std::fs::write(folder.join("try"), "").is_err() {
        let (code, _, error) = scratch.run(&["lint", "crd.yaml", "--exit-zero", "--format", "html=locked/page.html"]);
        assert!(code == 4 && error.contains("can't write locked/page.html"), "{error}");
    }
    let (code, _, error) = scratch.run(&["lint", "crd.yaml", "--exit-zero", "--format", "html=crd.yaml/page.html"]);
    assert!(code == 4 && error.contains("can't write crd.yaml/page.html"), "{error}");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("page.html")).unwrap(), "old");
}

#[test]
fn a_reader_that_goes_away_still_gets_the_exit_code() {
    let scratch = Scratch::new();
    scratch.write("crd.yaml", CRD);
    let mut child = Command::new(PROGRAM)
        .args(["lint", "crd.yaml", "--all", "--format", "json", "--fail-on", "info"])
        .current_dir(scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    assert_eq!((child.wait().unwrap().code(), error.as_str()), (Some(1), ""));
}

const MANIFEST: &str = "apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {name: widget}
resource: {group: shop.example.com, kind: Widget}
from: {version: v1}
to: {version: v2}
steps:
  - rename: {from: spec.size, to: spec.dimension}
";

#[test]
fn a_conversion_that_is_killed_can_be_run_again() {
    const FILES: usize = 1000;
    let scratch = Scratch::new();
    scratch.write("conversions/widget.yaml", MANIFEST);
    let old =
        |number: usize| format!("apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {{name: w{number}}}\nspec: {{size: {number}}}\n");
    let new = |number: usize| old(number).replace("/v1", "/v2").replace("size:", "dimension:");
    (0..FILES).for_each(|number| scratch.write(&format!("objects/{number:03}.yaml"), &old(number)));
    let read = |number: usize| std::fs::read_to_string(scratch.path().join(format!("objects/{number:03}.yaml"))).unwrap();
    let convert = ["convert", "objects", "--to", "v2", "--write"];
    let mut child =
        Command::new(PROGRAM).args(convert).current_dir(scratch.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while read(3) == old(3) && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    // The signal that Ctrl-C sends.
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap().code();
    let converted = (0..FILES).filter(|number| read(*number) == new(*number)).count();
    println!("{converted} of {FILES} files were converted when it was ended ({killed}, {code:?})");
    for number in 0..FILES {
        assert!([old(number), new(number)].contains(&read(number)), "file {number} is neither the old nor the new one: {}", read(number));
    }
    let (code, _, error) = scratch.run(&convert);
    assert_eq!(code, 0, "{error}");
    assert!((0..FILES).all(|number| read(number) == new(number)));
}

/// Runs a command until the condition holds, and ends it like Ctrl-C does.
fn interrupt(scratch: &Scratch, arguments: &[&str], when: impl Fn() -> bool) {
    let mut child =
        Command::new(PROGRAM).args(arguments).current_dir(scratch.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !when() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    child.wait().unwrap();
}

/// Runs a command whose output nobody reads, and returns its exit code.
fn unread(scratch: &Scratch, arguments: &[&str]) -> Option<i32> {
    let mut child =
        Command::new(PROGRAM).args(arguments).current_dir(scratch.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().unwrap().code()
}

/// The files of a folder that are whole, by name.
fn whole_files(folder: &Path) -> Vec<(String, String)> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let whole = files.filter(|entry| entry.path().extension().is_none_or(|extension| extension != "part"));
    whole.map(|entry| (entry.path().display().to_string(), std::fs::read_to_string(entry.path()).unwrap())).collect()
}

#[test]
fn a_release_that_is_interrupted_can_be_run_again() {
    const MANIFESTS: usize = 300;
    let scratch = Scratch::new();
    let old = |number: usize| {
        let text =
            MANIFEST.replace("name: widget", &format!("name: widget{number}")).replace("kind: Widget", &format!("kind: Widget{number}"));
        text.replace("from: {version: v1}", "from: {version: v1, bundle: 1.0.0}")
            .replace("to: {version: v2}", "to: {version: v1, bundle: next}")
    };
    let new = |number: usize| old(number).replace("bundle: next", "bundle: 1.1.0");
    let place = |number: usize| scratch.path().join(format!("conversions/{number:03}.yaml"));
    let read = |number: usize| std::fs::read_to_string(place(number)).unwrap();
    let release = ["conversions", "release", "1.1.0", "--conversions", "conversions"];
    let prepare = || (0..MANIFESTS).for_each(|number| std::fs::write(place(number), old(number)).unwrap());
    scratch.write("conversions/000.yaml", "");
    prepare();
    interrupt(&scratch, &release, || read(2) != old(2));
    for number in 0..MANIFESTS {
        assert!(
            [old(number), new(number)].contains(&read(number)),
            "manifest {number} is neither the old nor the new one: {}",
            read(number)
        );
    }
    let (code, _, error) = scratch.run(&release);
    assert_eq!(code, 0, "{error}");
    assert!((0..MANIFESTS).all(|number| read(number) == new(number)), "{}", read(0));
    prepare();
    assert_eq!(unread(&scratch, &release), Some(0));
    assert!((0..MANIFESTS).all(|number| read(number) == new(number)), "{}", read(0));
}

#[test]
fn fixtures_and_baselines_that_are_interrupted_can_be_written_again() {
    for (folder, arguments) in [
        ("fixtures", &["fixtures", "write", "crds", "--dir", "fixtures"][..]),
        ("baseline", &["baseline", "write", "crds", "--baseline", "baseline/baseline.json"][..]),
    ] {
        let scratch = Scratch::new();
        std::fs::create_dir_all(scratch.path().join(folder)).unwrap();
        for number in 0..60 {
            scratch.write(&format!("crds/{number}.yaml"), &CRD.replace("ooking", &format!("ooking{number}")));
        }
        let place = scratch.path().join(folder);
        let all = || {
            let (code, _, error) = scratch.run(arguments);
            assert_eq!(code, 0, "{arguments:?}: {error}");
            let written = whole_files(&place);
            assert!(!written.is_empty());
            written
        };
        let expected = all();
        let empty = || expected.iter().for_each(|(name, _)| std::fs::remove_file(name).unwrap());
        empty();
        interrupt(&scratch, arguments, || !whole_files(&place).is_empty());
        for file in whole_files(&place) {
            assert!(expected.contains(&file), "{arguments:?}: {} is cut off", file.0);
        }
        assert_eq!(all(), expected);
        empty();
        assert_eq!(unread(&scratch, arguments), Some(0), "{arguments:?}");
        assert_eq!(whole_files(&place), expected);
    }
}

#[test]
fn what_is_not_written_is_not_counted_as_converted() {
    let scratch = Scratch::new();
    scratch.write("conversions/widget.yaml", MANIFEST);
    for name in ["a", "b"] {
        scratch.write(&format!("{name}.yaml"), "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 1}\n");
    }
    let locked = scratch.path().join("b.yaml");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o444)).unwrap();
    let (code, _, error) = scratch.run(&["convert", "a.yaml", "b.yaml", "--to", "v2", "--write"]);
    assert_eq!(code, 4, "{error}");
    assert!(error.contains("can't write b.yaml"), "{error}");
    assert!(error.contains("2 files, 1 of them not written: 1 object converted"), "{error}");
}

#[test]
fn init_goes_on_where_it_was_ended() {
    let scratch = Scratch::new();
    scratch.write("crd.yaml", CRD);
    // A killed run leaves the text under another name.
    scratch.write(".github/workflows/crdwise.yml.77.part", "name: crdwise\n");
    let (code, out, error) = scratch.run(&["init"]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(scratch.path().join(".github/workflows/crdwise.yml").is_file(), "{out}");
}
