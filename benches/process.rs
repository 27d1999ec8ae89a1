//! What a user waits for, as ratios measured in one run: `cargo bench --bench process`.
//!
//! Whole processes of the program: its start, reviews, the hook, and a bundle of growing size. Runs alternate, and the best of each
//! counts, because machines are noisy. Real bundles are used if they are next to the project.
#![allow(clippy::disallowed_macros, reason = "a benchmark talks")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shared::measure;

mod shared;

const PROGRAM: &str = env!("CARGO_BIN_EXE_crdwise");

/// How many CRDs the smallest bundle has.
const CRDS: usize = 50;

/// Less memory than the program itself takes, in MB.
const LEAST: f64 = 10.0;

/// The time that a program takes from start to end, whatever its exit code is.
fn run<A: AsRef<OsStr>>(dir: &Path, program: &str, arguments: &[A]) -> Duration {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    command.status().expect("the program runs");
    start.elapsed()
}

/// Runs all commands in turn, and returns the best time of each in milliseconds.
fn best<const N: usize>(rounds: usize, commands: [&dyn Fn() -> Duration; N]) -> [f64; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..rounds {
        for (best, command) in best.iter_mut().zip(commands) {
            *best = (*best).min(command());
        }
    }
    best.map(|time| time.as_secs_f64() * 1e3)
}

/// The peak memory of a review in MB.
fn peak(old: &Path, new: &Path) -> f64 {
    let mut command = Command::new(PROGRAM);
    measure(command.args(["review", "--format=json"]).args([old, new]), Duration::from_secs(60)).memory
}

fn start() {
    let here = Path::new(".");
    let [nothing, version] = best(60, [&|| run::<&str>(here, "true", &[]), &|| run(here, PROGRAM, &["--version"])]);
    println!("start: {version:.2} ms, {:.2} ms more than `true`", version - nothing);
}

/// A review as a process, beside the start of the program and the same review without a change.
fn review(name: &str, old: &Path, new: &Path, rounds: usize) {
    if !old.exists() || !new.exists() {
        println!("{name}: not beside the project, left out");
        return;
    }
    let here = Path::new(".");
    let reviewed = |old: &Path, new: &Path| run(here, PROGRAM, &[OsStr::new("review"), old.as_os_str(), new.as_os_str()]);
    let [started, same, changed] = best(rounds, [&|| run(here, PROGRAM, &["--version"]), &|| reviewed(old, old), &|| reviewed(old, new)]);
    println!("{name}");
    println!("  review                 {changed:9.2} ms   {:.1} × the start", changed / started);
    println!("  of the old side twice  {same:9.2} ms   the change makes it {:.2} × of it", changed / same);
    // A process that ends between two looks shows less than its own program.
    let peak = peak(old, new);
    if peak > LEAST {
        println!("  peak memory            {peak:9.1} MB");
    }
}

/// A bundle of this many CRDs, one file each, with another limit on each side.
fn bundle(dir: &Path, count: usize, limit: usize) {
    fs::create_dir_all(dir).expect("a directory");
    for number in 0..count {
        fs::write(dir.join(format!("{number}.yaml")), crd(number, limit)).expect("a file");
    }
}

fn crd(number: usize, limit: usize) -> String {
    let mut fields = String::new();
    for field in 0..200 {
        let _ = write!(
            fields,
            "              f{field}:\n                description: Field {field} of the route.\n                maxLength: {limit}\n                type: string\n"
        );
    }
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: routes{number}.shop.example.com
spec:
  group: shop.example.com
  names:
    kind: Route{number}
    plural: routes{number}
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
{fields}            type: object
        type: object
    served: true
    storage: true
"
    )
}

/// The cost of a bundle, of which every tenth CRD changes, at 1, 2, 4 and 8 times its size.
fn growth(dir: &Path) {
    let sizes = [1, 2, 4, 8];
    let side = |times: usize, name: &str| dir.join(format!("{times}/{name}"));
    for times in sizes {
        bundle(&side(times, "old"), times * CRDS, 64);
        bundle(&side(times, "new"), times * CRDS, 64);
        for number in (0..times * CRDS).step_by(10) {
            fs::write(side(times, "new").join(format!("{number}.yaml")), crd(number, 32)).expect("a file");
        }
    }
    let reviewed =
        |times: usize| run(dir, PROGRAM, &[OsStr::new("review"), side(times, "old").as_os_str(), side(times, "new").as_os_str()]);
    let start = best(20, [&|| run(dir, PROGRAM, &["--version"])])[0];
    let costs = best(5, [&|| reviewed(1), &|| reviewed(2), &|| reviewed(4), &|| reviewed(8)]);
    println!("a bundle of {CRDS} CRDs, and 2, 4 and 8 times as many; ratios without the start of the program");
    for (times, cost) in sizes.into_iter().zip(costs) {
        let ratio = (cost - start) / (costs[0] - start);
        println!("  {times} ×   {cost:9.2} ms   {ratio:.2} × the first, {:.2} per CRD", ratio / times as f64);
    }
}

/// The hook in a repository with 200 CRDs of which one is staged, beside `git diff --cached`.
fn hook(dir: &Path) {
    let git = |arguments: &[&str]| run(dir, "git", arguments);
    bundle(dir, 200, 64);
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "a"]);
    fs::write(dir.join("7.yaml"), crd(7, 32)).expect("a file");
    git(&["add", "."]);
    let [diff, staged] = best(20, [&|| git(&["diff", "--cached", "--stat"]), &|| run(dir, PROGRAM, &["review", "--staged"])]);
    println!("hook: {staged:.2} ms, {:.1} × `git diff --cached` ({diff:.2} ms)", staged / diff);
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = root.join("../shared/corpus");
    start();
    review("the demo", &root.join("testdata/demo/old"), &root.join("testdata/demo/new"), 30);
    let made = tempfile::tempdir().expect("a directory");
    growth(made.path());
    if Command::new("git").arg("--version").output().is_ok() {
        let repository = tempfile::tempdir().expect("a directory");
        hook(repository.path());
    }
    let route = |tag: &str| corpus.join(format!("gateway-api/{tag}/experimental/gateway.networking.k8s.io_httproutes.yaml"));
    review("HTTPRoute, gateway-api 1.3.0 → 1.4.0, experimental", &route("v1.3.0"), &route("v1.4.0"), 30);
    let pairs: [(&str, PathBuf, PathBuf, usize); 2] = [
        (
            "gateway-api 1.3.0 → 1.4.0, experimental",
            corpus.join("gateway-api/v1.3.0/experimental"),
            corpus.join("gateway-api/v1.4.0/experimental"),
            20,
        ),
        ("provider-upjet-aws 0.47 → 1.0", corpus.join("provider-upjet-aws/v0.47.0"), corpus.join("provider-upjet-aws/v1.0.0"), 5),
    ];
    for (name, old, new, rounds) in pairs {
        review(name, &old, &new, rounds);
    }
}
