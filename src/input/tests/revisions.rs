//! Revisions, merge bases, tags and staged changes; shallow clones, and the commands suggested for them.

use super::super::scratch::Scratch;
use super::super::{GitError, Note, Problem, Repository, StagedChange, repo_root};

/// `main` with v1.0.0 … v1.2.0 and a branch `side` off v1.1.0.
fn history() -> Scratch {
    let scratch = Scratch::repository();
    for version in ["v1.0.0", "v1.10.0", "v1.2.0-rc.1", "v1.2.0", "nightly", "api/v3.0.0"] {
        scratch.write("a.yaml", version);
        scratch.commit();
        scratch.git(&["tag", version]);
    }
    scratch.git(&["tag", "-a", "-m", "annotated", "v1.3.0", "HEAD~1"]);
    scratch.git(&["branch", "side", "v1.10.0"]);
    scratch
}

#[test]
fn ids_are_shown_short() {
    let scratch = history();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    let loaded = scratch.load(&[format!("{head}:a.yaml")]);
    assert_eq!(loaded.files[0].name, format!("{}:a.yaml", &head[..12]));
    assert_eq!(scratch.load(&["v1.2.0:a.yaml".to_owned()]).files[0].name, "v1.2.0:a.yaml");
}

#[test]
fn revisions_are_commits() {
    let scratch = history();
    let repository = scratch.around();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    for rev in ["HEAD", "main", "refs/heads/main", &head, &head[..10], "api/v3.0.0", "@"] {
        assert_eq!(repository.resolve(rev).unwrap().id, head, "{rev}");
    }
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(repository.resolve("HEAD^{tree}").unwrap().id, tree);
    let side = scratch.git(&["rev-parse", "side"]);
    assert_eq!(repository.merge_base("main", "side").unwrap().id, side);
    for rev in ["-x", "--output=x", "^main", "", "a\nb", "a\0b"] {
        assert!(matches!(repository.resolve(rev), Err(GitError::NotARevision { .. })), "{rev:?}");
    }
    for rev in ["nope", "main..side", "main...side", "HEAD~99", "main side", "HEAD:a.yaml", "*", "../x"] {
        assert!(matches!(repository.resolve(rev), Err(GitError::UnknownRevision { .. })), "{rev}");
    }
}

#[test]
fn a_revision_that_is_refused_leaves_no_file() {
    let scratch = history();
    let _ = scratch.around().resolve("--output=x");
    assert!(!scratch.path().join("x").exists());
}

#[test]
fn tags_are_ordered_by_version() {
    let scratch = history();
    let repository = scratch.around();
    let newest = |pattern, from| repository.newest_tag(pattern, from).map(|tag| tag.name);
    assert_eq!(newest("v*", "HEAD").unwrap(), "v1.10.0");
    assert_eq!(newest("v1.2*", "HEAD").unwrap(), "v1.2.0");
    assert_eq!(newest("v*", "v1.0.0").unwrap(), "v1.0.0");
    assert_eq!(newest("api/v*", "HEAD").unwrap(), "api/v3.0.0");
    assert_eq!(newest("n*", "HEAD").unwrap(), "nightly");
    assert!(matches!(newest("--all", "HEAD"), Err(GitError::NoTag { .. })));
    assert!(matches!(newest("v9*", "HEAD"), Err(GitError::NoTag { fetch: Some(_), .. })));
    let annotated = repository.newest_tag("v1.3*", "HEAD").unwrap();
    assert_eq!(annotated.commit, scratch.git(&["rev-parse", "HEAD~1"]));
    let all: Vec<String> = repository.tags("v*", "HEAD").unwrap().into_iter().map(|tag| tag.name).collect();
    assert_eq!(all, ["v1.10.0", "v1.3.0", "v1.2.0", "v1.2.0-rc.1", "v1.0.0"]);
}

#[test]
fn a_revision_may_be_a_tag_with_a_version() {
    let scratch = history();
    scratch.git(&["branch", "v7.0.0"]);
    let repository = scratch.around();
    let version = |rev| repository.tag_of(rev).unwrap().and_then(|tag| tag.version).map(|v| v.to_string());
    assert_eq!(version("v1.2.0").as_deref(), Some("1.2.0"));
    assert_eq!(version("refs/tags/v1.2.0-rc.1").as_deref(), Some("1.2.0-rc.1"));
    assert_eq!(version("tags/api/v3.0.0").as_deref(), Some("3.0.0"));
    for rev in ["nightly", "HEAD", "v7.0.0", "v8.0.0", "--help"] {
        assert_eq!(version(rev), None, "{rev}");
    }
}

#[test]
fn the_root_is_found_from_below() {
    let scratch = history();
    scratch.write("deep/er/x", "");
    let deep = scratch.path().join("deep/er");
    let repository = Repository::around_with(&deep, &scratch.environment()).unwrap();
    assert_eq!(repository.root().unwrap().canonicalize().unwrap(), scratch.path().canonicalize().unwrap());
    assert!(repo_root(std::path::Path::new("/")).is_err());
}

#[test]
fn without_a_repository_the_error_says_so() {
    let scratch = Scratch::new();
    scratch.write("a.yaml", "x");
    let loaded = scratch.load(&["main:crd", ":crd", "a.yaml"]);
    assert_eq!(loaded.texts(), ["x"]);
    assert_eq!(loaded.problems[0].to_string(), "`main:crd`: the current directory is not in a git repository");
    assert_eq!(loaded.problems.len(), 2);
}

#[test]
fn staged_changes_against_head() {
    let scratch = Scratch::repository();
    scratch.write("a.yaml", "1").write("b.yaml", "1").write("c.yaml", "1");
    scratch.git(&["add", "--all"]);
    let changes = |scratch: &Scratch| -> Vec<(String, StagedChange)> {
        let staged = scratch.around().changed_paths().unwrap();
        staged.into_iter().map(|staged| (staged.path, staged.change)).collect()
    };
    let change = |path: &str, change| (path.to_owned(), change);
    let first = ["a.yaml", "b.yaml", "c.yaml"].map(|path| change(path, StagedChange::Added));
    assert_eq!(changes(&scratch), first);
    scratch.commit();
    assert_eq!(changes(&scratch), []);
    scratch.write("a.yaml", "2").write("d d\nd.yaml", "1");
    scratch.git(&["add", "--all"]);
    scratch.git(&["rm", "--quiet", "--cached", "b.yaml"]);
    scratch.write("c.yaml", "not staged");
    assert_eq!(
        changes(&scratch),
        [change("a.yaml", StagedChange::Modified), change("b.yaml", StagedChange::Deleted), change("d d\nd.yaml", StagedChange::Added),]
    );
}

#[test]
fn a_name_that_is_both_a_tag_and_a_branch_is_reported() {
    let scratch = history();
    scratch.git(&["branch", "twice", "HEAD~2"]);
    scratch.git(&["tag", "twice", "HEAD~1"]);
    let loaded = scratch.load(&["twice:a.yaml", "twice:"]);
    assert!(matches!(&loaded.notes[..], [Note::GitWarned { rev, .. }] if rev == "twice"), "{:?}", loaded.notes);
}

#[test]
fn an_ambiguous_commit_is_reported() {
    let scratch = Scratch::repository();
    scratch.commit();
    let repository = scratch.around();
    // These two commits differ only in such a message, and share their first digits.
    let tree = scratch.git(&["rev-parse", "HEAD^{tree}"]);
    let [one, other] = ["60", "137"].map(|message| scratch.git(&["commit-tree", &tree, "-m", message]));
    let short = one[..4].to_owned();
    assert!(other.starts_with(&short) && one != other);
    assert_eq!(repository.resolve(&short), Err(GitError::AmbiguousRevision { rev: short.clone() }));
}

/// A clone of only the last commit, as CI services make it.
fn shallow() -> (Scratch, Scratch) {
    let upstream = history();
    let clone = Scratch::new();
    let url = format!("file://{}", upstream.path().display());
    clone.git(&["clone", "--quiet", "--depth=1", "--no-tags", &url, "."]);
    (upstream, clone)
}

#[test]
fn a_shallow_clone_gets_the_command_that_helps() {
    let (_upstream, clone) = shallow();
    for (rev, fetch) in [
        ("v1.0.0", "git fetch --depth=1 origin tag v1.0.0"),
        ("refs/tags/nightly", "git fetch --depth=1 origin tag nightly"),
        ("origin/side", "git fetch --depth=1 origin side:refs/remotes/origin/side"),
        ("side", "git fetch --depth=1 origin side:side"),
        ("HEAD~1", "git fetch --unshallow origin"),
    ] {
        let loaded = clone.load(&[format!("{rev}:a.yaml")]);
        let error = GitError::Shallow { rev: rev.to_owned(), fetch: fetch.to_owned() };
        let name = format!("{rev}:a.yaml");
        assert_eq!(loaded.problem(), &Problem::Git { name, error });
        assert_eq!(loaded.problem().advice(), Some(format!("run `{fetch}`")));

        let words: Vec<&str> = fetch.split(' ').skip(1).collect();
        clone.git(&words);
        assert_eq!(clone.load(&[format!("{rev}:a.yaml")]).files.len(), 1, "{fetch}");
    }
}

#[test]
fn a_commit_that_a_shallow_clone_lacks_is_fetched_by_its_id() {
    let (upstream, clone) = shallow();
    let id = upstream.git(&["rev-parse", "v1.0.0"]);
    let error = clone.around().resolve(&id).unwrap_err();
    assert_eq!(error.advice().unwrap(), format!("run `git fetch --depth=1 origin {id}`"));
}

#[test]
fn a_merge_base_that_a_shallow_clone_lacks_is_reported() {
    let (_upstream, clone) = shallow();
    let error = clone.around().merge_base("HEAD", "origin/side").unwrap_err();
    assert_eq!(error.advice().unwrap(), "run `git fetch --unshallow origin side:refs/remotes/origin/side`");
    clone.git(&["fetch", "--quiet", "--depth=1", "origin", "side:side"]);
    let error = clone.around().merge_base("HEAD", "side").unwrap_err();
    assert!(matches!(&error, GitError::NoMergeBase { fetch: Some(fetch), .. } if fetch == "git fetch --unshallow origin"));
    clone.git(&["fetch", "--quiet", "--unshallow", "origin"]);
    assert!(clone.around().merge_base("HEAD", "side").is_ok());
}

#[test]
fn a_complete_clone_gets_a_hint_too() {
    let scratch = history();
    let error = scratch.around().resolve("mian").unwrap_err();
    assert_eq!(error.to_string(), "unknown revision `mian` in this repository");
    assert_eq!(error.advice().unwrap(), "`git branch --all` and `git tag` list the known ones");
}
