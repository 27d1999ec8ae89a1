//! The cost of a review, as ratios measured in one run: `cargo bench --bench review`.
//!
//! The reference is parsing both sides into events. Rounds alternate, and the best of each counts, because machines are noisy. Real
//! bundles are used if they are next to the project, the demo otherwise.
#![allow(clippy::disallowed_macros, reason = "a benchmark talks")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crdwise::stages::{Bundle, ChangeOptions, diff};
use crdwise::{Book, Documents, Input, Judgement, Limits, Policy, Side, YamlBudget, load, review};

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn files(path: &Path) -> Vec<crdwise::File> {
    load(&[Input::path(path)], &Limits::default()).files
}

/// Parses every event of every document and keeps nothing.
fn bare_parse(files: &[crdwise::File]) -> usize {
    let mut count = 0;
    for file in files {
        let mut options = granit_parser::options! { flow_nesting_limit: 200, block_nesting_limit: 200 };
        options.set_emit_comments(false);
        let mut parser = granit_parser::Parser::new_from_str_with_options(&file.text, options);
        while let Some(Ok(event)) = parser.next_event() {
            std::hint::black_box(&event);
            count += 1;
        }
    }
    count
}

/// Does what `crdwise review` does between reading bytes and writing text.
fn whole_review(old: &[crdwise::File], new: &[crdwise::File]) -> usize {
    let budget = YamlBudget::default();
    let parse = |files: &[crdwise::File]| Documents::parse(files.to_vec(), &budget);
    let (old, new) = rayon::join(|| parse(old), || parse(new));
    let (old, new) = rayon::join(|| Side::new("old", &old), || Side::new("new", &new));
    let policy = Policy::find(crdwise::DEFAULT_POLICY).expect("the default policy");
    let report = review(&old, &new, &Judgement::new(Book::builtin(), &policy));
    crdwise::to_json(&report).len()
}

/// Only the comparison, of bundles that were already read.
fn differences(old: &[crdwise::File], new: &[crdwise::File], witnesses: bool) -> Duration {
    let budget = YamlBudget::default();
    let (old, new) = (Documents::parse(old.to_vec(), &budget), Documents::parse(new.to_vec(), &budget));
    let (old, new) = (Bundle::read(&old), Bundle::read(&new));
    time(|| diff(&old, &new, &ChangeOptions { witnesses, ..ChangeOptions::default() }).len())
}

fn lint(new: &[crdwise::File]) -> usize {
    let new = Documents::parse(new.to_vec(), &YamlBudget::default());
    let policy = Policy::find(crdwise::DEFAULT_POLICY).expect("the default policy");
    crdwise::lint(&Side::new("new", &new), &Judgement::new(Book::builtin(), &policy)).findings.len()
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn compare(name: &str, old: &Path, new: &Path, rounds: usize) {
    let (old_files, new_files) = (files(old), files(new));
    let bytes: usize = old_files.iter().chain(&new_files).map(|file| file.text.len()).sum();
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let mut best = [Duration::MAX; 8];
    for _ in 0..rounds {
        // Threads cache what they have compiled, so new ones are used each time, as in a run of the program.
        let measured = [
            time(|| bare_parse(&old_files) + bare_parse(&new_files)),
            pool(1).install(|| time(|| whole_review(&old_files, &new_files))),
            pool(2).install(|| time(|| whole_review(&old_files, &new_files))),
            time(|| bare_parse(&new_files)),
            pool(1).install(|| time(|| lint(&new_files))),
            pool(1).install(|| differences(&old_files, &new_files, true)),
            pool(1).install(|| differences(&old_files, &new_files, false)),
            pool(1).install(|| time(|| Documents::parse(new_files.to_vec(), &YamlBudget::default()))),
        ];
        for (slot, value) in best.iter_mut().zip(measured) {
            *slot = (*slot).min(value);
        }
    }
    let [parse, single, double, parse_new, lint, shown, bare, trees] = best.map(millis);
    println!("{name}: {:.1} MB", bytes as f64 / 1e6);
    println!("  bare event parse of both sides, 1 thread   {parse:9.2} ms");
    println!("  whole review, 1 thread                     {single:9.2} ms   {:.2} × the parse", single / parse);
    println!("  whole review, 2 threads                    {double:9.2} ms   {:.2} × the parse", double / parse);
    println!(
        "  the review without witnesses, 1 thread     {:9.2} ms   with them {:.2} × of it",
        single - shown + bare,
        single / (single - shown + bare)
    );
    println!("  lint of the new side, 1 thread             {lint:9.2} ms   {:.2} × its parse ({parse_new:.2} ms)", lint / parse_new);
    println!("    beside its reading into trees            {trees:9.2} ms   {:.2} × of it", lint / trees);
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = root.join("../shared/corpus");
    compare("demo", &root.join("testdata/demo/old"), &root.join("testdata/demo/new"), 20);
    let route = |tag: &str| corpus.join(format!("gateway-api/{tag}/standard/gateway.networking.k8s.io_httproutes.yaml"));
    let pairs: [(&str, PathBuf, PathBuf, usize); 2] = [
        ("HTTPRoute, gateway-api 1.3.0 → 1.4.0", route("v1.3.0"), route("v1.4.0"), 60),
        ("provider-upjet-aws 0.47 → 1.0", corpus.join("provider-upjet-aws/v0.47.0"), corpus.join("provider-upjet-aws/v1.0.0"), 6),
    ];
    for (name, old, new, rounds) in pairs {
        if old.exists() && new.exists() {
            compare(name, &old, &new, rounds);
        } else {
            println!("{name}: not beside the project, left out");
        }
    }
}
