//! Reviews inside a real repository: revisions, merge bases, tags, and staged changes.

use std::path::Path;
use std::process::{Command, Output};

const CRD: &str = include_str!("../../testdata/demo/old/bookings.yaml");

pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Self {
        let scratch = Scratch(tempfile::tempdir().unwrap());
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .status()
            .unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    pub fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn commit(&self, name: &str, text: &str) {
        self.write(name, text);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", name]);
    }

    /// The program in this repository, outside of any CI job.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crdwise"));
        command.args(arguments).current_dir(self.path());
        for variable in ["CI", "GITHUB_BASE_REF", "CI_MERGE_REQUEST_DIFF_BASE_SHA", "PULL_BASE_SHA", "JENKINS_URL", "TF_BUILD"] {
            command.env_remove(variable);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }
}

/// The CRD with another bound, and without a bundle version that would have to be raised.
fn bounded(maximum: usize) -> String {
    let lines = CRD.lines().filter(|line| !line.contains("bundle-version")).map(|line| format!("{line}\n"));
    lines.collect::<String>().replace("maximum: 100", &format!("maximum: {maximum}"))
}

#[test]
fn the_merge_base_is_where_a_branch_began() {
    let scratch = Scratch::new();
    scratch.commit("config/crd/bookings.yaml", &bounded(100));
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    scratch.commit("config/crd/bookings.yaml", &bounded(700));
    scratch.git(&["checkout", "-q", "main"]);
    scratch.commit("config/crd/bookings.yaml", &bounded(9000));
    scratch.git(&["checkout", "-q", "topic"]);
    // Compared with the tip of main, the topic branch seems to break something, but it doesn't.
    assert_eq!(scratch.run(&["review", "config/crd", "--against", "main"]).0, 1);
    let (code, out, error) = scratch.run(&["review", "config/crd", "--against", "main", "--merge-base"]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.contains("COMPATIBLE:") && out.contains("main at its merge base "), "{out}");
    let (code, _, error) = scratch.run(&["review", "config/crd", "--merge-base"]);
    assert!(code == 2 && error.contains("--against"), "{error}");
    let (code, _, error) = scratch.run(&["review", "config/crd", "--against", "nowhere", "--merge-base"]);
    assert!(code == 3 && error.contains("unknown revision `nowhere`"), "{error}");
}

#[test]
fn the_newest_tag_is_found_and_gives_the_version() {
    let scratch = Scratch::new();
    scratch.commit("config/crd/bookings.yaml", &bounded(100));
    scratch.git(&["tag", "v1.9.0"]);
    scratch.git(&["tag", "v1.10.0"]);
    scratch.git(&["tag", "w9.0.0"]);
    scratch.commit("config/crd/bookings.yaml", &bounded(7));
    let (code, out, error) = scratch.run(&["review", "config/crd", "--against-tag", "v*"]);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("next version: 1.11.0 or later (minor; 1.10.0 before)") && out.contains("compared: v1.10.0"), "{out}");
    let (code, _, error) = scratch.run(&["review", "config/crd", "--against-tag", "x*"]);
    assert!(code == 3 && error.contains("no tag that matches `x*`"), "{error}");
}

#[test]
fn annotations_have_paths_from_the_root_in_any_directory() {
    let scratch = Scratch::new();
    scratch.commit("config/crd/bookings.yaml", &bounded(100));
    scratch.write("config/crd/bookings.yaml", &bounded(7));
    let output = Command::new(env!("CARGO_BIN_EXE_crdwise"))
        .args(["review", ".", "--against", "HEAD", "--format", "github"])
        .current_dir(scratch.path().join("config/crd"))
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("::error file=config/crd/bookings.yaml,line=47,"), "{out}");
}

#[test]
fn a_removed_file_is_shown_at_an_existing_file() {
    let scratch = Scratch::new();
    scratch.commit("crd/bookings.yaml", CRD);
    scratch.commit("crd/other.yaml", &CRD.replace("bookings", "others").replace("Booking", "Other"));
    scratch.git(&["rm", "-q", "crd/bookings.yaml"]);
    let (code, out, _) = scratch.run(&["review", "crd", "--against", "HEAD", "--format", "sarif"]);
    let log: serde_json::Value = serde_json::from_str(&out).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "crd/other.yaml", "{result}");
    assert_eq!(code, 1);
}

#[test]
fn only_staged_content_counts_and_only_of_crds() {
    let scratch = Scratch::new();
    scratch.write("notes.yaml", "{{ not yaml at all\n");
    scratch.commit("crd/bookings.yaml", CRD);
    // Nothing is staged, whatever is in the working tree.
    scratch.write("crd/bookings.yaml", &bounded(7));
    assert_eq!(scratch.run(&["review", "--staged"]), (0, String::new(), String::new()));
    // Staged, but not a CRD, and not even YAML.
    scratch.write("notes.yaml", "{{ still not yaml\n");
    scratch.git(&["add", "notes.yaml"]);
    assert_eq!(scratch.run(&["review", "--staged"]), (0, String::new(), String::new()));
    // The staged content accepts fewer values; the working tree was fixed since.
    scratch.git(&["add", "-A"]);
    scratch.write("crd/bookings.yaml", CRD);
    let (code, out, error) = scratch.run(&["review", "--staged", "--format", "github"]);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("::error file=crd/bookings.yaml,line=47,"), "{out}");
    assert_eq!(scratch.run(&["review", "--staged", "crd"]).0, 1);
    assert_eq!(scratch.run(&["review", "--staged", "elsewhere"]).0, 0, "nothing is staged there");
}

#[test]
fn a_staged_removal_is_a_finding() {
    let scratch = Scratch::new();
    scratch.commit("crd/bookings.yaml", CRD);
    scratch.git(&["rm", "-q", "crd/bookings.yaml"]);
    let (code, out, error) = scratch.run(&["review", "--staged"]);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("(major; "), "{out}");
}

#[test]
fn the_first_commit_has_only_additions() {
    let scratch = Scratch::new();
    scratch.write("crd/bookings.yaml", CRD);
    scratch.git(&["add", "-A"]);
    let (code, out, error) = scratch.run(&["review", "--staged", "--fail-on", "never"]);
    assert!(code == 0 && out.contains("COMPATIBLE:"), "{out}{error}");
}

#[test]
fn a_moved_crd_is_the_same_crd() {
    let scratch = Scratch::new();
    scratch.commit("a/bookings.yaml", CRD);
    scratch.git(&["mv", "a", "b"]);
    let (code, out, error) = scratch.run(&["review", "--staged"]);
    assert!(code == 0 && out.contains("NO API CHANGE"), "{out}{error}");
}

#[test]
fn lint_ignores_files_without_a_crd() {
    let scratch = Scratch::new();
    scratch.write("chart.yaml", "{{ template }}\n");
    assert_eq!(scratch.run(&["lint", "chart.yaml"]).0, 3);
    assert_eq!(scratch.run(&["lint", "--crds-only", "chart.yaml"]).0, 0);
    scratch.write("bookings.yaml", CRD);
    let (_, out, _) = scratch.run(&["lint", "--crds-only", "--exit-zero", "chart.yaml", "bookings.yaml"]);
    assert!(out.contains("1 CRD"), "{out}");
}

#[test]
fn init_writes_what_is_missing_and_leaves_the_rest() {
    let scratch = Scratch::new();
    scratch.write("deploy/crds/bookings.yaml", CRD);
    scratch.write("vendor/x/a.yaml", CRD);
    scratch.write("vendor/x/b.yaml", CRD);
    scratch.write(".pre-commit-config.yaml", "repos: []\n");
    std::fs::create_dir_all(scratch.path().join("sub")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_crdwise")).arg("init").current_dir(scratch.path().join("sub")).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains("wrote  crdwise.yaml\nwrote  .github/workflows/crdwise.yml\nleft   .pre-commit-config.yaml"), "{out}");
    assert!(out.contains("- id: crdwise-review"), "what to add is shown\n{out}");
    assert!(out.contains("found  deploy/crds: 1 file with CRDs\n") && !out.contains("vendor"), "{out}");
    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).unwrap();
    assert_eq!(read(".pre-commit-config.yaml"), "repos: []\n");
    let workflow = read(".github/workflows/crdwise.yml");
    assert!(workflow.contains("paths: deploy/crds\n"), "{workflow}");
    let action = concat!("uses: ", env!("CARGO_PKG_REPOSITORY"), "@v", env!("CARGO_PKG_VERSION")).replace("https://github.com/", "");
    assert!(workflow.contains(&action), "{action}\n{workflow}");
    assert!(read("crdwise.yaml").starts_with(concat!("# yaml-language-server: $schema=", env!("CARGO_PKG_HOMEPAGE"))));
    let before = (read("crdwise.yaml"), workflow);
    let (code, out, _) = scratch.run(&["init"]);
    assert_eq!((code, out.matches("left   ").count()), (0, 3), "{out}");
    assert_eq!(before, (read("crdwise.yaml"), read(".github/workflows/crdwise.yml")));
}

#[test]
fn init_follows_what_the_repository_has() {
    let scratch = Scratch::new();
    scratch.write("config/crd/bookings.yaml", CRD);
    scratch.write("config/crd/more.yaml", CRD);
    scratch.write("charts/crds/bookings.yaml", CRD);
    scratch.write(".gitlab-ci.yml", "stages: [test]\n");
    scratch.write("lefthook.yml", "pre-commit: {}\n");
    let (code, out, _) = scratch.run(&["init"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("found  config/crd: 2 files") && out.contains("found  charts/crds: 1 file"), "{out}");
    assert!(out.contains("found  GitLab: it has a .gitlab-ci.yml\n"), "{out}");
    assert!(out.contains("script:\n") && out.contains("crdwise review config/crd --against"), "the job to add is shown\n{out}");
    assert!(out.contains("left   hooks alone: lefthook.yml"), "{out}");
    assert!(!scratch.path().join(".pre-commit-config.yaml").exists() && !scratch.path().join(".github").exists());

    let scratch = Scratch::new();
    scratch.write(".github/workflows/api.yml", "run: crdwise review config/crd\n");
    let (_, out, _) = scratch.run(&["init"]);
    assert!(out.contains("found  no CRDs: using config/crd"), "{out}");
    assert!(out.contains("left   .github/workflows/api.yml: it already runs crdwise"), "{out}");
    assert!(!scratch.path().join(".github/workflows/crdwise.yml").exists());
}

#[test]
fn completions_know_rules_policies_and_formats() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, _) = scratch.run(&["completions", shell]);
        assert_eq!(code, 0);
        if shell != "elvish" && shell != "powershell" {
            for word in ["field-removed", "preserve-unknown-fields-missing", "gep-922", "sarif", "hazard"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
            for word in ["generate", "min-coverage", "downgrade", "kubernetes", "previous", "subresource"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
    // They are suggested, not required: a team has its own rules, and a typo gets a suggestion.
    let (code, _, error) = scratch.run(&["explain", "field-remove"]);
    assert!(code == 2 && error.contains("field-removed"), "{error}");
    let (_, help, _) = scratch.run(&["explain", "--help"]);
    assert!(!help.contains("field-removed"), "{help}");
}

#[test]
fn git_diff_shows_api_changes() {
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "crd/** diff=crdwise\n");
    scratch.write("crd/values.yaml", "a: 1\n");
    scratch.commit("crd/bookings.yaml", CRD);
    scratch.write("crd/values.yaml", "a: 2\n");
    scratch.commit("crd/bookings.yaml", &CRD.replace("maximum: 100", "maximum: 7"));
    scratch.git(&["config", "diff.crdwise.command", concat!("'", env!("CARGO_BIN_EXE_crdwise"), "' git-diff-driver")]);
    let log = Command::new("git").args(["log", "-p", "--ext-diff", "--format=%s"]).current_dir(scratch.path()).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(
        log.contains("diff --crdwise a/crd/bookings.yaml b/crd/bookings.yaml\n@@ bookings.rail.example.com v1 @@\n-bound-narrowed:"),
        "{log}"
    );
    assert!(log.contains("+resource-added") || log.contains("+crd-added"), "the first commit adds it\n{log}");
    assert!(log.contains("-a: 1\n+a: 2\n"), "what is no CRD is shown as lines\n{log}");
}
