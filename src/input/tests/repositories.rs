//! `REV:path` and `:path`: reading from a repository.

use super::super::scratch::Scratch;
use super::super::{Against, AgainstError, GitError, Limits, Note, Origin, Problem, against, same_paths};

fn two_commits() -> Scratch {
    let scratch = Scratch::repository();
    scratch.write("config/crd/a.yaml", "a1").write("config/crd/b.json", "b1");
    scratch.write("config/crd/README.md", "").write("top.yaml", "top");
    scratch.commit();
    scratch.git(&["tag", "v1.0.0"]);
    scratch.write("config/crd/a.yaml", "a2").write("config/crd/sub/c.yml", "c2");
    scratch.commit();
    scratch
}

fn git_error(problem: &Problem) -> &GitError {
    match problem {
        Problem::Git { error, .. } => error,
        other => panic!("{other}"),
    }
}

#[test]
fn directories_and_files_of_a_revision() {
    let scratch = two_commits();
    let loaded = scratch.load(&["HEAD~1:config/crd"]);
    assert_eq!(loaded.names(), ["HEAD~1:config/crd/a.yaml", "HEAD~1:config/crd/b.json"]);
    assert_eq!(loaded.texts(), ["a1", "b1"]);
    let readme = "HEAD~1:config/crd/README.md: neither .yaml nor .yml nor .json";
    assert_eq!(loaded.skipped_lines(), [readme]);
    let commit = scratch.git(&["rev-parse", "v1.0.0"]);
    let rev = "HEAD~1".to_owned();
    let path = "config/crd/a.yaml".to_owned();
    assert_eq!(loaded.files[0].origin, Origin::Git { rev, path, commit });

    assert_eq!(scratch.load(&["main:config/crd/"]).texts(), ["a2", "b1", "c2"]);
    assert_eq!(scratch.load(&["v1.0.0:"]).texts(), ["a1", "b1", "top"]);
    assert_eq!(scratch.load(&["v1.0.0:config/crd/README.md"]).texts(), [""]);
    assert_eq!(scratch.load(&["main:config/crd/sub", "main:top.yaml", "v1.0.0:top.yaml"]).texts(), ["c2", "top", "top"]);
}

#[test]
fn paths_are_relative_to_the_root_or_with_a_dot_to_the_directory() {
    let scratch = two_commits();
    let here = scratch.loader_in("config/crd");
    let load = |text| here.load_with(&scratch.inputs(&[text]), &b""[..]);
    assert_eq!(load("HEAD:./a.yaml").names(), ["HEAD:config/crd/a.yaml"]);
    assert_eq!(load("HEAD:../../top.yaml").names(), ["HEAD:top.yaml"]);
    assert_eq!(load("HEAD:config/crd/a.yaml").names(), ["HEAD:config/crd/a.yaml"]);
    assert_eq!(load(":./sub").names(), [":config/crd/sub/c.yml"]);
    assert_eq!(load("HEAD:.").files.len(), 3);
    assert!(git_error(load("HEAD:a.yaml").problem()).is_absent());
}

#[test]
fn a_path_that_leads_out_is_looked_up_nowhere() {
    let scratch = two_commits();
    for text in ["HEAD:../../etc/passwd", "HEAD:../work/top.yaml", "HEAD:config/../../x", "HEAD:/etc/passwd", ":../x"] {
        let loaded = scratch.load(&[text]);
        assert!(loaded.files.is_empty());
        assert!(matches!(git_error(loaded.problem()), GitError::Outside { .. }), "{text}");
    }
}

#[test]
fn a_missing_path_is_its_own_kind_of_error() {
    let scratch = two_commits();
    let loaded = scratch.load(&["v1.0.0:config/crd/sub", "v1.0.0:top.yaml/x", ":gone", "v1.0.0:top.yaml"]);
    assert_eq!(loaded.texts(), ["top"]);
    assert_eq!(loaded.problems.len(), 3);
    assert!(loaded.problems.iter().all(|problem| git_error(problem).is_absent()));
    assert_eq!(loaded.problems[0].to_string(), "`v1.0.0:config/crd/sub`: `config/crd/sub` does not exist in revision `v1.0.0`");
}

#[test]
fn names_with_special_characters_are_only_names() {
    let scratch = Scratch::repository();
    for name in ["[a]*.yaml", ":(top)x.yaml", "new\nline.yaml", "tab\t.yaml", "-dash.yaml", "quote\".yaml"] {
        scratch.write(name, name);
    }
    scratch.write("a.yaml", "other");
    scratch.commit();
    for name in ["[a]*.yaml", ":(top)x.yaml", "new\nline.yaml", "tab\t.yaml", "-dash.yaml", "quote\".yaml"] {
        assert_eq!(scratch.load(&[format!("HEAD:{name}")]).texts(), [name]);
        assert_eq!(scratch.load(&[format!(":0:{name}")]).texts(), [name]);
    }
    assert_eq!(scratch.load(&["HEAD:"]).files.len(), 7);
}

#[test]
fn the_index_is_what_is_staged() {
    let scratch = two_commits();
    scratch.write("config/crd/a.yaml", "staged");
    scratch.git(&["add", "config/crd/a.yaml"]);
    scratch.write("config/crd/a.yaml", "worked on").write("config/crd/untracked.yaml", "u");
    let loaded = scratch.load(&[":config/crd"]);
    assert_eq!(loaded.names(), [":config/crd/a.yaml", ":config/crd/b.json", ":config/crd/sub/c.yml"]);
    assert_eq!(loaded.texts(), ["staged", "b1", "c2"]);
    let path = "config/crd/a.yaml".to_owned();
    assert_eq!(loaded.files[0].origin, Origin::Index { path });
    assert_eq!(scratch.load(&[":config/crd/a.yaml"]).texts(), ["staged"]);
    assert_eq!(scratch.load(&[":"]).files.len(), 4);
}

#[test]
fn a_hook_sees_the_index_it_is_given() {
    let scratch = two_commits();
    let other = scratch.outside("other-index");
    std::fs::copy(scratch.path().join(".git/index"), &other).unwrap();
    scratch.git(&["rm", "--quiet", "--cached", "top.yaml"]);
    assert!(git_error(scratch.load(&[":top.yaml"]).problem()).is_absent());
    let hooked = scratch.variable("GIT_INDEX_FILE", other.to_str().unwrap());
    assert_eq!(hooked.load(&[":top.yaml"]).texts(), ["top"]);
}

#[test]
fn an_unfinished_merge_is_named() {
    let scratch = two_commits();
    scratch.git(&["checkout", "--quiet", "-b", "side", "v1.0.0"]);
    scratch.write("config/crd/a.yaml", "a3");
    scratch.commit();
    let merged = scratch.try_git(&["merge", "main"]);
    assert!(!merged.status.success(), "it conflicts");
    let loaded = scratch.load(&[":config/crd"]);
    assert_eq!(loaded.problem(), &Problem::Unmerged { name: ":config/crd/a.yaml".to_owned() });
    assert_eq!(loaded.texts(), ["b1", "c2"]);
    assert!(matches!(scratch.load(&[":config/crd/a.yaml"]).problem(), Problem::Unmerged { .. }));
}

#[cfg(unix)]
#[test]
fn links_of_a_tree_stay_in_it() {
    let scratch = Scratch::repository();
    std::fs::write(scratch.outside("secret.yaml"), "password").unwrap();
    scratch.write("config/crd/a.yaml", "a").write("charts/v.yaml", "v").write("data", "d");
    scratch.link("charts/crds", "../config/crd").link("charts/d.yaml", "../data");
    scratch.link("charts/loop.yaml", "loop.yaml").link("charts/up", "..");
    scratch.link("charts/out.yaml", "../../secret.yaml").link("charts/etc.yaml", "/etc/passwd");
    scratch.link("charts/gone.yaml", "nowhere").link("charts/gone.txt", "nowhere").link("alias", "charts");
    scratch.commit();
    for (rev, input) in [("HEAD:", "HEAD:charts"), (":", ":charts")] {
        let loaded = scratch.load(&[input]);
        let names = ["charts/crds/a.yaml", "charts/d.yaml", "charts/v.yaml"].map(|name| format!("{rev}{name}"));
        assert_eq!(loaded.names(), names);
        assert_eq!(loaded.texts(), ["a", "d", "v"]);
        let problem = |name: &str| format!("{rev}charts/{name}.yaml");
        let leaves = |name| Problem::LinkLeaves { name: problem(name), in_git: true };
        assert_eq!(
            loaded.problems,
            [leaves("etc"), Problem::DanglingLink { name: problem("gone") }, Problem::LinkLoop { name: problem("loop") }, leaves("out"),]
        );
        assert_eq!(loaded.skipped.len(), 2, "{:?}", loaded.skipped);
    }
    let through = scratch.load(&["HEAD:alias/crds", "HEAD:charts/d.yaml", "HEAD:alias/v.yaml"]);
    assert_eq!(through.names(), ["HEAD:alias/crds/a.yaml", "HEAD:charts/d.yaml", "HEAD:alias/v.yaml"]);
    assert_eq!(through.texts(), ["a", "d", "v"]);
    let all = scratch.load(&["HEAD:"]);
    assert_eq!(all.names(), ["HEAD:charts/d.yaml", "HEAD:charts/v.yaml", "HEAD:config/crd/a.yaml"]);
}

#[test]
fn submodules_and_pointers_are_named() {
    let scratch = Scratch::repository();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    scratch.write("crd/big.yaml", pointer).write("crd/a.yaml", "a");
    let commit = scratch.commit();
    scratch.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},crd/module")]);
    scratch.git(&["commit", "--quiet", "--message", "module"]);
    for input in ["HEAD:crd", ":crd"] {
        let loaded = scratch.load(&[input]);
        assert_eq!(loaded.texts(), ["a"]);
        assert!(matches!(&loaded.problems[0], Problem::Malformed { .. }));
        let name = format!("{input}/module");
        assert_eq!(loaded.problems[1], Problem::Submodule { name, commit: commit.clone() });
    }
    for input in ["HEAD:crd/module", "HEAD:crd/module/config"] {
        assert!(matches!(scratch.load(&[input]).problem(), Problem::Submodule { .. }), "{input}");
    }
}

#[test]
fn limits_hold_for_blobs() {
    let limited = |limits| {
        let scratch = Scratch::repository().limited(limits);
        scratch.write("a.yaml", "1").write("b.yaml", "x".repeat(5_000)).write("c.yaml", "3").write("d.yaml", "4");
        scratch.commit();
        scratch.load(&["HEAD:", ":a.yaml"])
    };
    let loaded = limited(Limits { file_bytes: 4_000, ..Limits::default() });
    assert_eq!(loaded.texts(), ["1", "3", "4", "1"]);
    let name = "HEAD:b.yaml".to_owned();
    let size = Some(5_000);
    assert_eq!(loaded.problem(), &Problem::TooLarge { name: name.clone(), size, limit: 4_000 });

    let loaded = limited(Limits { total_bytes: 4_000, ..Limits::default() });
    assert_eq!(loaded.texts(), ["1"]);
    assert_eq!(loaded.problem(), &Problem::TotalTooLarge { name, left: 4, limit: 4_000 });

    let loaded = limited(Limits { files: 2, ..Limits::default() });
    assert_eq!(loaded.files.len(), 2);
    assert!(matches!(loaded.problem(), Problem::TooManyFiles { left: 3, limit: 2, .. }));

    let loaded = limited(Limits { entries: 3, ..Limits::default() });
    assert_eq!(loaded.texts(), ["1"]);
    assert!(matches!(loaded.problem(), Problem::TooManyEntries { limit: 3, .. }));
}

#[test]
fn hundreds_of_blobs_come_in_order() {
    let scratch = Scratch::repository();
    for number in 0..400 {
        scratch.write(format!("{number:03}.yaml"), format!("{number:03}").repeat(400));
    }
    scratch.commit();
    let loaded = scratch.load(&["HEAD:"]);
    let expected: Vec<String> = (0..400).map(|number| format!("{number:03}").repeat(400)).collect();
    assert_eq!(loaded.texts(), expected);
}

#[test]
fn the_old_side_of_against() {
    let scratch = two_commits();
    let loader = scratch.loader_in("config");
    let old = |text: &str, new: &[&str]| -> Result<Against, AgainstError> { against(&loader, text.as_ref(), &scratch.inputs(new)) };
    let shown = |old: Against| -> Vec<String> { old.inputs.iter().map(ToString::to_string).collect() };

    let same = old("v1.0.0", &["crd", "../top.yaml", ":config/crd", "main:config", "crd/sub/c.yml"]).unwrap();
    assert!(same.inputs.iter().all(|input| input.absent_is_empty));
    let loaded = loader.load_with(&same.inputs, &b""[..]);
    assert!(loaded.problems.is_empty());
    assert_eq!(loaded.texts(), ["a1", "b1", "top"]);
    let name = "v1.0.0:config/crd/sub/c.yml".to_owned();
    assert_eq!(loaded.notes, [Note::EmptyAtRevision { name }]);
    assert_eq!(shown(same), ["v1.0.0:config/crd", "v1.0.0:top.yaml", "v1.0.0:config/crd", "v1.0.0:config", "v1.0.0:config/crd/sub/c.yml"]);

    let absolute = scratch.path().join("config/gone/x.yaml");
    let same = old("HEAD", &[absolute.to_str().unwrap()]).unwrap();
    assert_eq!(shown(same), ["HEAD:config/gone/x.yaml"]);

    assert_eq!(shown(old("crd", &["x"]).unwrap()), ["crd"]);
    assert_eq!(shown(old("main:config", &["x"]).unwrap()), ["main:config"]);
    assert!(matches!(old("HEAD", &["-"]), Err(AgainstError::NoPath { .. })));
    assert!(matches!(old("HEAD", &["../../x"]), Err(AgainstError::Git(GitError::Outside { .. }))));
    assert!(matches!(old("nope", &["crd"]), Err(AgainstError::Git(GitError::UnknownRevision { .. }))));
    assert!(matches!(old("--output=x", &["crd"]), Err(AgainstError::Input(_))));
    assert!(matches!(same_paths(&loader, "--output=x", &[]), Err(AgainstError::Git(GitError::NotARevision { .. }))));
}

#[test]
fn a_directory_named_like_a_branch_is_read_with_a_note() {
    let scratch = two_commits();
    scratch.write("main/x.yaml", "directory");
    let old = against(&scratch.loader(), "main".as_ref(), &scratch.inputs(&["config"])).unwrap();
    let loaded = scratch.loader().load_with(&old.inputs, &b""[..]);
    assert_eq!(loaded.texts(), ["directory"]);
    assert!(matches!(&loaded.notes[..], [Note::FileNotRevision { .. }]));
    let meant = against(&scratch.loader(), "main^0".as_ref(), &scratch.inputs(&["config/crd"])).unwrap();
    assert_eq!(scratch.loader().load_with(&meant.inputs, &b""[..]).texts(), ["a2", "b1", "c2"]);
}

#[test]
fn a_bare_repository_has_revisions() {
    let scratch = two_commits();
    let bare = scratch.outside("bare.git");
    scratch.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let loader = scratch.loader().within(&bare);
    let loaded = loader.load_with(&scratch.inputs(&["v1.0.0:top.yaml"]), &b""[..]);
    assert_eq!(loaded.texts(), ["top"]);
    let dotted = loader.load_with(&scratch.inputs(&["HEAD:./top.yaml"]), &b""[..]);
    assert_eq!(git_error(dotted.problem()), &GitError::NoWorkTree);
}

#[test]
fn other_object_formats_and_worktrees_are_read() {
    let scratch = Scratch::new();
    scratch.git(&["init", "--quiet", "--object-format=sha256", "--initial-branch=main"]);
    scratch.write("crd/a.yaml", "a");
    scratch.commit();
    assert_eq!(scratch.load(&["main:crd", ":crd"]).texts(), ["a", "a"]);
    let beside = scratch.outside("beside");
    scratch.git(&["worktree", "add", "--quiet", beside.to_str().unwrap()]);
    let loader = scratch.loader().within(beside.join("crd"));
    assert_eq!(loader.load_with(&scratch.inputs(&["HEAD:./a.yaml"]), &b""[..]).texts(), ["a"]);
}
