//! What a committer waits for, and the cost of formats: `cargo bench --bench platforms`.
//!
//! The hook is compared with `git diff --cached` in the same run, and the formats with the review that they show. Rounds alternate,
//! and the best and the median of each are reported. Real bundles are used if they are next to the project, the demo otherwise.
#![allow(clippy::disallowed_macros, reason = "a benchmark talks")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crdwise::stages::{Anchors, View, env, github, gitlab, human, junit, markdown, sarif};
use crdwise::{Book, Documents, Input, Judgement, Limits, Policy, Repository, Severity, Side, Spot, YamlBudget, load, review};

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = std::hint::black_box(work());
    (start.elapsed(), value)
}

fn corpus() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.ancestors().map(|folder| folder.join("shared/corpus")).find(|folder| folder.exists())
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(folder).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "git {arguments:?}");
}

fn hook(name: &str, old: &Path, new: &Path) {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let file = folder.join("crd.yaml");
    git(folder, &["init", "-q"]);
    std::fs::copy(old, &file).expect("copied");
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "old"]);
    std::fs::copy(new, &file).expect("copied");
    git(folder, &["add", "-A"]);
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        time(|| command.status().expect("runs")).0
    };
    let crdwise = env!("CARGO_BIN_EXE_crdwise");
    let (mut diffs, mut reviews, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..25 {
        diffs.push(run("git", &["diff", "--cached"]));
        reviews.push(run(crdwise, &["review", "--staged"]));
    }
    git(folder, &["commit", "-q", "-m", "new"]);
    for _ in 0..25 {
        idle.push(run(crdwise, &["review", "--staged"]));
    }
    println!("{name}: {:.0} KB staged", std::fs::metadata(new).map_or(0.0, |meta| meta.len() as f64 / 1e3));
    for (what, list) in
        [("git diff --cached", &mut diffs), ("the hook, review --staged", &mut reviews), ("the hook, nothing staged", &mut idle)]
    {
        list.sort();
        println!("  {what:<28} best {:7.2} ms   median {:7.2} ms", millis(list[0]), millis(list[list.len() / 2]));
    }
}

struct Texts<'s> {
    old: &'s Documents,
    new: &'s Documents,
}

impl human::Texts for Texts<'_> {
    fn text(&self, spot: &Spot, old: bool) -> Option<&str> {
        let documents = if old { self.old } else { self.new };
        Some(&documents.file(spot.place?.file)?.text)
    }
}

fn formats(name: &str, old: &Path, new: &Path, rounds: usize) {
    let files = |path: &Path| load(&[Input::path(path)], &Limits::default()).files;
    let (old_files, new_files) = (files(old), files(new));
    let repository = Repository::around(Path::new(env!("CARGO_MANIFEST_DIR"))).ok();
    let mut best: Vec<(&str, Duration, usize)> = Vec::new();
    let mut note = |what: &'static str, (duration, size): (Duration, usize)| match best.iter_mut().find(|(name, ..)| *name == what) {
        Some(slot) => slot.1 = slot.1.min(duration),
        None => best.push((what, duration, size)),
    };
    for _ in 0..rounds {
        let start = Instant::now();
        let budget = YamlBudget::default();
        let (old, new) = (Documents::parse(old_files.clone(), &budget), Documents::parse(new_files.clone(), &budget));
        let (old, new) = (Side::new("old", &old), Side::new("new", &new));
        let policy = Policy::find(crdwise::DEFAULT_POLICY).expect("the default policy");
        let report = review(&old, &new, &Judgement::new(Book::builtin(), &policy));
        note("the review", (start.elapsed(), report.findings.len()));
        let (anchoring, anchors) = time(|| Anchors::new(Some(old.documents), new.documents, repository.as_ref()));
        note("anchors", (anchoring, 0));
        let view =
            View { report: &report, book: Book::builtin(), anchors: &anchors, all: false, gate: Some(Severity::Error), complete: true };
        let texts = Texts { old: old.documents, new: new.documents };
        let style = human::Style { color: false, unicode: true, width: 80 };
        let options = human::Options { style, all: false, proof: false, quiet: None, incomplete: false, gate: None };
        let sized = |work: &dyn Fn() -> String| {
            let (duration, text) = time(work);
            (duration, text.len())
        };
        note("human", sized(&|| human::render(&report, &texts, &options)));
        note("json", sized(&|| crdwise::to_json(&report)));
        note("github", sized(&|| github::render(&view)));
        note("sarif", sized(&|| sarif::render(&view)));
        note("gitlab", sized(&|| gitlab::render(&view)));
        note("junit", sized(&|| junit::render(&view)));
        note("markdown", sized(&|| markdown::render(&view)));
        note("env", sized(&|| env::render(&view)));
    }
    let review = best.first().map_or(1.0, |(_, duration, _)| millis(*duration));
    println!("{name}: {} findings, review {review:.1} ms", best.first().map_or(0, |(.., size)| *size));
    let mut sum = 0.0;
    for (what, duration, size) in best.iter().skip(1) {
        sum += millis(*duration);
        println!("  {what:<10} {:9.2} ms  {:8.1} KB", millis(*duration), *size as f64 / 1e3);
    }
    println!("  all together add {:.1} ms: {:.1} % of the review", sum, 100.0 * sum / review);
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let demo = |side: &str| root.join("testdata/demo").join(side);
    hook("demo", &demo("old/bookings.yaml"), &demo("new/bookings.yaml"));
    formats("demo", &demo("old"), &demo("new"), 20);
    let Some(corpus) = corpus() else {
        println!("no corpus beside the project: HTTPRoute and provider-upjet-aws left out");
        return;
    };
    let route = |tag: &str| corpus.join(format!("gateway-api/{tag}/experimental/gateway.networking.k8s.io_httproutes.yaml"));
    hook("HTTPRoute, gateway-api 1.3.0 → 1.4.0", &route("v1.3.0"), &route("v1.4.0"));
    let aws = |tag: &str| corpus.join("provider-upjet-aws").join(tag);
    formats("provider-upjet-aws 0.47 → 1.0", &aws("v0.47.0"), &aws("v1.0.0"), 3);
}
