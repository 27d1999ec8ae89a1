//! Files, directories and standard input: what is read, skipped and refused.

use std::io::Read;

use super::super::decode::Malformed;
use super::super::problem::Special;
use super::super::scratch::Scratch;
use super::super::{Limits, LineColumn, Note, Origin, Problem};

#[test]
fn a_directory_is_read_in_the_order_of_its_paths() {
    let scratch = Scratch::new();
    for name in ["crd/b.yml", "crd/a/z.yaml", "crd/a-b/x.JSON", "crd/a.yaml", "crd/.hidden/y.yaml"] {
        scratch.write(name, name);
    }
    scratch.write("crd/README.md", "").write("crd/Makefile", "");
    let loaded = scratch.load(&["crd"]);
    let sorted = ["crd/.hidden/y.yaml", "crd/a-b/x.JSON", "crd/a.yaml", "crd/a/z.yaml", "crd/b.yml"];
    assert_eq!(loaded.names(), sorted);
    assert_eq!(loaded.texts(), sorted);
    assert_eq!(
        loaded.skipped_lines(),
        ["crd/Makefile: neither .yaml nor .yml nor .json", "crd/README.md: neither .yaml nor .yml nor .json",]
    );
    assert!(loaded.problems.is_empty());
    assert_eq!(loaded.files[2].origin, Origin::Path(scratch.path().join("crd/a.yaml")));
}

#[test]
fn names_are_shown_as_given() {
    let scratch = Scratch::new();
    scratch.write("crd/a.yaml", "x");
    let absolute = scratch.path().join("crd");
    let absolute = absolute.to_str().unwrap();
    assert_eq!(scratch.load(&["."]).names(), ["crd/a.yaml"]);
    assert_eq!(scratch.load(&["./crd/"]).names(), ["crd/a.yaml"]);
    assert_eq!(scratch.load(&["../work/crd"]).names(), ["../work/crd/a.yaml"]);
    assert_eq!(scratch.load(&[absolute]).names(), [format!("{absolute}/a.yaml")]);
}

#[test]
fn a_file_that_is_named_is_read_whatever_its_name() {
    let scratch = Scratch::new();
    scratch.write("crd.txt", "a: 1");
    let loaded = scratch.load(&["crd.txt"]);
    assert_eq!(loaded.texts(), ["a: 1"]);
    assert!(loaded.is_clean());
}

#[test]
fn the_same_file_is_read_once() {
    let scratch = Scratch::new();
    scratch.write("crd/a.yaml", "x");
    let loaded = scratch.load(&["crd/a.yaml", "crd", "./crd/../crd/a.yaml"]);
    assert_eq!(loaded.names(), ["crd/a.yaml"]);
    assert_eq!(loaded.skipped_lines(), ["crd/a.yaml: the same file as crd/a.yaml", "crd/../crd/a.yaml: the same file as crd/a.yaml"]);
}

#[test]
fn empty_inputs_are_counted() {
    let scratch = Scratch::new();
    scratch.write("empty.yaml", "").write("dashes.yaml", "---\n").write("none/notes.txt", "");
    let loaded = scratch.load(&["empty.yaml", "dashes.yaml", "none"]);
    assert_eq!(loaded.texts(), ["", "---\n"]);
    assert_eq!(loaded.skipped.len(), 1);
    assert!(loaded.problems.is_empty());
}

#[test]
fn missing_inputs_do_not_hide_others() {
    let scratch = Scratch::new();
    scratch.write("a.yaml", "x");
    let loaded = scratch.load(&["gone.yaml", "a.yaml", "a.yaml/b"]);
    assert_eq!(loaded.names(), ["a.yaml"]);
    let not_found = |name: &str| Problem::NotFound { name: name.to_owned() };
    assert_eq!(loaded.problems, [not_found("gone.yaml"), not_found("a.yaml/b")]);
}

#[test]
fn standard_input_is_read_once_and_bounded() {
    let scratch = Scratch::new().limited(Limits { file_bytes: 10, ..Limits::default() });
    let inputs = scratch.inputs(&["-", "-"]);
    let loaded = scratch.loader().load_with(&inputs, &b"\xEF\xBB\xBFa: 1"[..]);
    assert_eq!((loaded.names(), loaded.texts()), (vec!["<stdin>"], vec!["a: 1"]));
    assert_eq!(loaded.files[0].origin, Origin::Stdin);
    assert_eq!(loaded.problem(), &Problem::StdinTwice);

    let both_sides = scratch.loader();
    assert!(both_sides.load_with(&inputs[..1], &b"a: 1"[..]).is_clean());
    assert_eq!(both_sides.load_with(&inputs[..1], &b""[..]).problem(), &Problem::StdinTwice);

    let endless = std::io::repeat(b'#');
    let loaded = scratch.loader().load_with(&inputs[..1], endless);
    assert!(matches!(loaded.problem(), Problem::TooLarge { size: None, limit: 10, .. }));
    let advice = loaded.problem().advice().unwrap();
    assert!(advice.contains("--max-file-size"), "{advice}");
}

#[test]
fn a_stream_that_breaks_is_a_problem() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let scratch = Scratch::new();
    let loaded = scratch.loader().load_with(&scratch.inputs(&["-"]), Broken);
    assert_eq!(loaded.problem().to_string(), "`<stdin>` can't be read: gone");
}

#[test]
fn a_huge_file_is_refused_by_its_size() {
    let scratch = Scratch::new();
    scratch.write("small.yaml", "x").write("huge.yaml", "");
    let huge = std::fs::File::options().write(true).open(scratch.path().join("huge.yaml")).unwrap();
    huge.set_len(1 << 40).unwrap();
    for inputs in [&["."][..], &["small.yaml", "huge.yaml"]] {
        let loaded = scratch.load(inputs);
        assert_eq!(loaded.names(), ["small.yaml"]);
        assert_eq!(loaded.problem().to_string(), "`huge.yaml` has 1024 GiB, the limit is 64 MiB a file");
    }
}

#[test]
fn files_beyond_the_bundle_budget_are_reported() {
    let four = |limits| {
        let scratch = Scratch::new().limited(limits);
        for name in ["a.yaml", "b.yaml", "c.yaml", "d.yaml"] {
            scratch.write(name, "12345");
        }
        scratch
    };
    let loaded = four(Limits { files: 3, ..Limits::default() }).load(&["."]);
    assert_eq!(loaded.names(), ["a.yaml", "b.yaml", "c.yaml"]);
    let name = "d.yaml".to_owned();
    assert_eq!(loaded.problem(), &Problem::TooManyFiles { name, left: 1, limit: 3 });

    let loaded = four(Limits { total_bytes: 12, ..Limits::default() }).load(&["a.yaml", "."]);
    assert_eq!(loaded.names(), ["a.yaml", "b.yaml"]);
    let name = "c.yaml".to_owned();
    assert_eq!(loaded.problem(), &Problem::TotalTooLarge { name, left: 2, limit: 12 });

    let loaded = four(Limits { entries: 3, ..Limits::default() }).load(&["."]);
    assert!(loaded.files.is_empty());
    assert!(matches!(loaded.problem(), Problem::TooManyEntries { limit: 3, .. }));
}

#[test]
fn depth_is_bounded() {
    let scratch = Scratch::new().limited(Limits { directory_depth: 2, ..Limits::default() });
    scratch.write("a/b/x.yaml", "x").write("a/b/c/y.yaml", "y");
    let loaded = scratch.load(&["."]);
    assert_eq!(loaded.names(), ["a/b/x.yaml"]);
    let name = "a/b/c".to_owned();
    assert_eq!(loaded.problem(), &Problem::TooDeep { name, limit: 2 });
}

#[test]
fn many_skipped_files_are_counted_in_one_line() {
    let scratch = Scratch::new();
    for number in 0..1_005 {
        scratch.write(format!("{number:04}.txt"), "");
    }
    let loaded = scratch.load(&["."]);
    assert_eq!(loaded.skipped.len(), 1_001);
    assert_eq!(loaded.skipped[1_000].what, "5 more in .");
}

#[test]
fn encodings_are_reported_with_their_places() {
    let scratch = Scratch::new();
    let utf16: Vec<u8> = "\u{FEFF}a: ä".encode_utf16().flat_map(u16::to_le_bytes).collect();
    scratch.write("bom.yaml", "\u{FEFF}a: 1\r\nb: 2\rc: 3\n").write("wide.yaml", utf16);
    scratch.write("bad.yaml", b"a: 1\nb: \xC3\x28").write("zip.yaml", b"PK\x03\x04");
    let loaded = scratch.load(&["."]);
    assert_eq!(loaded.texts(), ["a: 1\r\nb: 2\rc: 3\n", "a: ä"]);
    let bom = &loaded.files[0];
    assert_eq!(bom.place(0), LineColumn { line: 1, column: 1 });
    assert_eq!(bom.place(bom.text.find('c').unwrap()), LineColumn { line: 3, column: 1 });
    assert!(matches!(&loaded.notes[..], [Note::Encoding { name, .. }] if name == "wide.yaml"));
    let said: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["`bad.yaml` at 2:4: byte 8 (0xC3) is not UTF-8", "`zip.yaml`: this is a zip archive, not a manifest",]);
    assert_eq!(loaded.problems[0].place(), Some(LineColumn { line: 2, column: 4 }));
}

#[test]
fn a_git_lfs_pointer_is_recognised() {
    let scratch = Scratch::new();
    scratch.write("a.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    let malformed = Malformed::LfsPointer;
    let loaded = scratch.load(&["a.yaml"]);
    assert!(matches!(loaded.problem(), Problem::Malformed { malformed: m, .. } if *m == malformed));
}

#[test]
fn threads_and_order_of_creation_change_nothing() {
    let (one, other) = (Scratch::new(), Scratch::new());
    for number in 0..200 {
        one.write(format!("{number}.yaml"), number.to_string());
        let backwards = 199 - number;
        other.write(format!("{backwards}.yaml"), backwards.to_string());
    }
    let one = one.load(&["."]);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let other = alone.install(|| other.load(&["."]));
    assert_eq!(one.names(), other.names());
    assert_eq!(one.texts(), other.texts());
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn special_files_are_refused_without_opening() {
        let scratch = Scratch::new();
        let pipe = scratch.path().join("pipe.yaml");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let _socket = UnixListener::bind(scratch.path().join("socket.yaml")).unwrap();
        scratch.link("zero.yaml", "/dev/zero");
        let kinds = |loaded: super::super::super::Loaded| -> Vec<Special> {
            let kind = |problem| match problem {
                Problem::NotRegular { kind, .. } => kind,
                other => panic!("{other}"),
            };
            loaded.problems.into_iter().map(kind).collect()
        };
        let named = scratch.load(&["pipe.yaml", "socket.yaml", "zero.yaml", "/dev/zero"]);
        assert_eq!(kinds(named), [Special::Fifo, Special::Socket, Special::CharacterDevice, Special::CharacterDevice]);
        std::fs::remove_file(scratch.path().join("zero.yaml")).unwrap();
        assert_eq!(kinds(scratch.load(&["."])), [Special::Fifo, Special::Socket]);
    }

    #[test]
    fn links_are_followed_inside_the_tree() {
        let scratch = Scratch::new();
        scratch.write("crd/real.yaml", "r").write("crd/other/x.yaml", "x").write("crd/data", "d");
        scratch.link("crd/alias.yaml", "real.yaml").link("crd/data.yaml", "data");
        scratch.link("crd/again", "other").link("crd/other/up", "..");
        let loaded = scratch.load(&["crd"]);
        assert_eq!(loaded.names(), ["crd/data.yaml", "crd/other/x.yaml", "crd/real.yaml"]);
        assert_eq!(loaded.texts(), ["d", "x", "r"]);
        assert_eq!(
            loaded.skipped_lines(),
            [
                "crd/again: a link to a directory that is not entered twice (other)",
                "crd/data: neither .yaml nor .yml nor .json",
                "crd/other/up: a link to a directory that is not entered twice (.)",
                "crd/alias.yaml: the same file as crd/real.yaml",
            ]
        );
        assert!(loaded.problems.is_empty());
    }

    #[test]
    fn links_that_leave_loop_or_dangle_are_problems() {
        let scratch = Scratch::new();
        let secret = scratch.outside("secret.yaml");
        std::fs::write(&secret, "password").unwrap();
        scratch.link("crd/leaves.yaml", &secret).link("crd/leaves", scratch.outside("home"));
        scratch.link("crd/loop.yaml", "loop.yaml").link("crd/a", "b").link("crd/b", "a");
        scratch.link("crd/gone.yaml", "nowhere").link("crd/gone.txt", "nowhere");
        scratch.write("crd/fine.yaml", "x");
        let loaded = scratch.load(&["crd"]);
        assert_eq!(loaded.names(), ["crd/fine.yaml"]);
        let looping = |name: &str| Problem::LinkLoop { name: name.to_owned() };
        let leaving = |name: &str| Problem::LinkLeaves { name: name.to_owned(), in_git: false };
        assert_eq!(
            loaded.problems,
            [
                looping("crd/a"),
                looping("crd/b"),
                Problem::DanglingLink { name: "crd/gone.yaml".to_owned() },
                leaving("crd/leaves"),
                leaving("crd/leaves.yaml"),
                looping("crd/loop.yaml"),
            ]
        );
        assert_eq!(loaded.skipped.len(), 1);
        let named = scratch.load(&["crd/leaves.yaml", "crd/loop.yaml", "crd/gone.yaml"]);
        assert_eq!(named.texts(), ["password"], "who names it means it");
        assert_eq!(named.problems.len(), 2);
    }

    #[test]
    fn links_may_lead_anywhere_inside_the_repository() {
        let scratch = Scratch::repository();
        scratch.write("config/crd/a.yaml", "a").write("charts/values.yml", "v");
        scratch.link("charts/crds", "../config/crd").link("charts/a.yaml", "../config/crd/a.yaml");
        scratch.link("charts/config.yaml", "../.git/config").link("charts/up", "..");
        let loaded = scratch.load(&["charts"]);
        assert_eq!(loaded.names(), ["charts/a.yaml", "charts/values.yml"]);
        assert_eq!(loaded.texts(), ["a", "v"]);
        assert_eq!(
            loaded.skipped_lines(),
            ["charts/up: a link to a directory that is not entered twice (.)", "charts/crds/a.yaml: the same file as charts/a.yaml",]
        );
        let name = "charts/config.yaml".to_owned();
        assert_eq!(loaded.problem(), &Problem::LinkLeaves { name, in_git: false });

        let whole = scratch.load(&["."]);
        assert_eq!(whole.names(), ["charts/values.yml", "config/crd/a.yaml"]);
        assert!(whole.skipped_lines().contains(&".git: git's own directory".to_owned()));
    }

    #[test]
    fn a_chain_of_linked_directories_ends() {
        let scratch = Scratch::repository();
        for number in 0..300 {
            scratch.write(format!("pool/{number}/x.yaml"), number.to_string());
            scratch.link(&format!("pool/{number}/next"), format!("../{}", (number + 1) % 300));
        }
        scratch.link("start/first", "../pool/0");
        let loaded = scratch.load(&["start"]);
        assert_eq!(loaded.files.len(), 300);
        assert!(loaded.problems.is_empty());
    }

    #[test]
    fn names_that_are_not_unicode_are_shown_lossily() {
        let scratch = Scratch::new();
        scratch.write(OsStr::from_bytes(b"a\xFFb.yaml"), "x").write(OsStr::from_bytes(b"\xFE.txt"), "");
        let expected = ["a\u{FFFD}b.yaml"];
        let loaded = scratch.load(&["."]);
        assert_eq!(loaded.names(), expected);
        assert_eq!(loaded.texts(), ["x"]);
        assert_eq!(loaded.skipped[0].what, "\u{FFFD}.txt");
        assert_eq!(scratch.load(&[OsStr::from_bytes(b"a\xFFb.yaml")]).names(), expected);
    }

    #[test]
    fn unreadable_files_are_named_and_the_others_read() {
        let scratch = Scratch::new();
        scratch.write("a.yaml", "x").write("b.yaml", "y");
        let closed = scratch.path().join("a.yaml");
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o0)).unwrap();
        if std::fs::read(&closed).is_ok() {
            eprintln!("skipped: this user may read everything");
            return;
        }
        let loaded = scratch.load(&["."]);
        assert_eq!(loaded.names(), ["b.yaml"]);
        assert!(matches!(loaded.problem(), Problem::Unreadable { name, .. } if name == "a.yaml"));
    }
}
