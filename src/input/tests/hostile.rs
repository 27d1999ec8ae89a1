//! Repositories that try to run something.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::super::scratch::Scratch;
use super::super::{GitError, Problem, against};

/// A program that creates a marker file, and the path of that file.
fn trap(scratch: &Scratch) -> (String, PathBuf) {
    let (program, mark) = (scratch.outside("trap"), scratch.outside("sprung"));
    std::fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\nexit 1\n", mark.display())).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    (program.to_str().unwrap().to_owned(), mark)
}

fn trapped() -> (Scratch, PathBuf) {
    let scratch = Scratch::repository();
    scratch.write("crd/a.yaml", "a").write(".gitattributes", "*.yaml diff=evil filter=evil merge=evil\n");
    scratch.commit();
    scratch.git(&["tag", "v1.0.0"]);
    scratch.write("crd/b.yaml", "b");
    scratch.commit();
    let (program, mark) = trap(&scratch);
    for name in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "merge.evil.driver",
        "credential.helper",
        "gpg.program",
        "pager.ls-tree",
        "pager.cat-file",
        "interactive.diffFilter",
    ] {
        scratch.git(&["config", name, &program]);
    }
    for name in ["alias.ls-tree", "alias.cat-file", "alias.rev-parse"] {
        scratch.git(&["config", name, &format!("!{program}")]);
    }
    let hooks = scratch.path().join("hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"] {
        std::fs::copy(scratch.outside("trap"), hooks.join(hook)).unwrap();
    }
    scratch.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
    // Setting up the traps may have triggered them; only what happens after this counts.
    let _ = std::fs::remove_file(&mark);
    (scratch, mark)
}

#[test]
fn nothing_of_the_repository_runs() {
    let (scratch, mark) = trapped();
    let loaded = scratch.load(&["HEAD:crd", "v1.0.0:", ":crd", "HEAD~1:crd/a.yaml"]);
    assert_eq!(loaded.texts(), ["a", "b", "a", "a", "b"]);
    let repository = scratch.around();
    repository.changed_paths().unwrap();
    repository.merge_base("HEAD", "v1.0.0").unwrap();
    repository.newest_tag("v*", "HEAD").unwrap();
    repository.tag_of("v1.0.0").unwrap();
    repository.resolve("nope").unwrap_err();
    against(&scratch.loader(), "v1.0.0".as_ref(), &scratch.inputs(&["crd"])).unwrap();
    assert!(!mark.exists(), "{}", std::fs::read_to_string(mark).unwrap());
    scratch.try_git(&["status"]);
    assert!(mark.exists(), "the trap does work");
}

#[test]
fn the_working_tree_and_the_index_are_unchanged() {
    let (scratch, _) = trapped();
    // A touched file makes git try to refresh the index.
    scratch.write("crd/a.yaml", "a");
    let index = scratch.path().join(".git/index");
    let before = std::fs::read(&index).unwrap();
    scratch.load(&[":crd", "HEAD:crd"]);
    scratch.around().changed_paths().unwrap();
    assert_eq!(std::fs::read(&index).unwrap(), before);
    assert!(!scratch.path().join(".git/index.lock").exists());
}

#[test]
fn a_partial_clone_fetches_nothing() {
    let scratch = Scratch::repository();
    scratch.write("crd/a.yaml", "a").write("crd/b.yaml", "b");
    scratch.commit();
    let (program, mark) = trap(&scratch);
    scratch.git(&["config", "core.repositoryFormatVersion", "1"]);
    scratch.git(&["config", "extensions.partialClone", "origin"]);
    scratch.git(&["config", "remote.origin.promisor", "true"]);
    scratch.git(&["config", "remote.origin.url", &format!("ext::{program} x")]);
    scratch.git(&["config", "protocol.ext.allow", "always"]);
    let id = scratch.git(&["rev-parse", "HEAD:crd/a.yaml"]);
    let object = scratch.path().join(".git/objects").join(&id[..2]).join(&id[2..]);
    std::fs::remove_file(object).unwrap();

    let loaded = scratch.load(&["HEAD:crd"]);
    assert_eq!(loaded.texts(), ["b"]);
    let error = GitError::MissingObject { name: "crd/a.yaml".to_owned(), id: id.clone() };
    let name = "HEAD:crd/a.yaml".to_owned();
    assert_eq!(loaded.problem(), &Problem::Git { name, error });
    assert!(!mark.exists(), "{}", std::fs::read_to_string(mark).unwrap());
    scratch.try_git(&["cat-file", "-p", &id]);
    assert!(mark.exists(), "the trap does work");
}

#[test]
fn a_configured_worktree_does_not_widen_the_boundary() {
    let scratch = Scratch::repository();
    std::fs::write(scratch.outside("secret.yaml"), "password").unwrap();
    scratch.write("crd/a.yaml", "a").link("crd/secret.yaml", "../../secret.yaml");
    scratch.commit();
    scratch.git(&["config", "core.worktree", "/"]);
    let loaded = scratch.load(&["crd"]);
    assert_eq!(loaded.texts(), ["a"]);
    assert!(matches!(loaded.problem(), Problem::LinkLeaves { .. }));
}

#[test]
fn git_refuses_a_repository_of_another_user() {
    let scratch = Scratch::repository();
    scratch.write("crd/a.yaml", "a");
    scratch.commit();
    let scratch = scratch.variable("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let loaded = scratch.load(&["HEAD:crd"]);
    let Problem::Git { error: GitError::DubiousOwnership { path }, .. } = loaded.problem() else {
        panic!("{:?}", loaded.problem());
    };
    let advice = loaded.problem().advice().unwrap();
    assert!(advice.contains(&format!("git config --global --add safe.directory {path}")), "{advice}");
}

#[test]
fn without_git_the_error_says_so() {
    let scratch = Scratch::repository().variable("PATH", "/nowhere");
    let loaded = scratch.load(&["HEAD:crd"]);
    let Problem::Git { error, .. } = loaded.problem() else { panic!() };
    assert!(matches!(error, GitError::NotStarted { .. }), "{error}");
}

#[test]
fn broken_repositories_are_errors() {
    let scratch = Scratch::repository();
    scratch.write("crd/a.yaml", "a");
    scratch.commit();
    let id = scratch.git(&["rev-parse", "HEAD:crd/a.yaml"]);
    let object = scratch.path().join(".git/objects").join(&id[..2]).join(&id[2..]);
    std::fs::set_permissions(&object, PermissionsExt::from_mode(0o644)).unwrap();
    std::fs::write(&object, "garbage").unwrap();
    assert!(scratch.load(&["HEAD:crd"]).files.is_empty());
    assert_eq!(scratch.load(&["HEAD:crd"]).problems.len(), 1);
    std::fs::write(scratch.path().join(".git/config"), "[broken").unwrap();
    let loaded = scratch.load(&["HEAD:crd", ":crd"]);
    assert_eq!(loaded.problems.len(), 2);
}
