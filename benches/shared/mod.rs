//! Helpers that several benchmarks use.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a process took.
#[derive(Default)]
pub struct Usage {
    pub cpu: Duration,
    /// Its peak memory, in MB.
    pub memory: f64,
    /// Its exit code; `None` if it was stopped or crashed.
    pub code: Option<i32>,
}

/// How often a running process is looked at.
const INTERVAL: Duration = Duration::from_millis(2);
/// The kernel counts CPU time in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// Runs a process without output, and reads from Linux what it takes; stops it when it has used this much CPU time.
pub fn measure(command: &mut Command, limit: Duration) -> Usage {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs");
    let (mut usage, start) = (Usage::default(), Instant::now());
    while let Some((state, cpu)) = state_and_cpu(&child) {
        usage.cpu = cpu;
        // The times of an ended process are known until its exit code is taken.
        if state == "Z" {
            break;
        }
        usage.memory = peak(&child).unwrap_or_default().max(usage.memory);
        if cpu > limit || start.elapsed() > 4 * limit {
            child.kill().expect("the program is stopped");
            break;
        }
        sleep(INTERVAL);
    }
    usage.code = child.wait().expect("the program ends").code();
    usage
}

fn state_and_cpu(child: &Child) -> Option<(String, Duration)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name of the program, in parentheses, may contain spaces; the state is the next word.
    let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| words.get(at)?.parse::<u32>().ok();
    Some(((*words.first()?).to_owned(), TICK * (ticks(11)? + ticks(12)?)))
}

fn peak(child: &Child) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let kilobytes: f64 = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes / 1e3)
}
