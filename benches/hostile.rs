//! Inputs of at most 10 MB that are made to take long: `cargo bench --bench hostile [-- PART-OF-A-NAME…]`.
//!
//! Each is given to the program on one thread, in every command and format that its case names. No run should take more than 2 s of
//! CPU time or 1 GB. `CRDWISE_PROGRAM` names another build to measure.
#![allow(clippy::disallowed_macros, reason = "a benchmark talks")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hostile_inputs::cases;
use shared::measure;

mod hostile_inputs;
mod shared;

const MOST_TIME: Duration = Duration::from_secs(2);
/// In MB.
const MOST_MEMORY: f64 = 1_000.0;
/// What all files of a case may have, in bytes.
const MOST_INPUT: u64 = 10_000_000;
/// When a run is stopped.
const STOPPED: Duration = Duration::from_secs(10);

fn main() {
    let program = std::env::var_os("CRDWISE_PROGRAM").unwrap_or_else(|| OsString::from(env!("CARGO_BIN_EXE_crdwise")));
    // `cargo bench` adds flags of its own.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let (mut runs, mut above) = (0, 0);
    println!("CPU time   memory  exit");
    for case in cases() {
        if !wanted.is_empty() && !wanted.iter().any(|part| case.name.contains(part)) {
            continue;
        }
        let made = tempfile::tempdir().expect("a directory");
        (case.make)(made.path());
        let size = size(made.path());
        assert!(size <= MOST_INPUT, "{}: {size} bytes", case.name);
        for command in case.commands {
            let mut process = Command::new(&program);
            process.args(command.split(' ')).current_dir(made.path()).env("RAYON_NUM_THREADS", "1");
            let used = measure(&mut process, STOPPED);
            let bad = used.cpu > MOST_TIME || used.memory > MOST_MEMORY || used.code.is_none();
            runs += 1;
            above += usize::from(bad);
            let code = used.code.map_or("-".to_owned(), |code| code.to_string());
            let mark = if bad { "!" } else { " " };
            println!("{mark}{:5.2} s  {:4.0} MB  {code:>4}  {} | {command}", used.cpu.as_secs_f64(), used.memory, case.name);
        }
    }
    println!("{above} of {runs} runs take more than {} s or {MOST_MEMORY} MB", MOST_TIME.as_secs());
}

/// The size of all files in a directory.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry"));
    entries.map(|entry| if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().map_or(0, |file| file.len()) }).sum()
}
