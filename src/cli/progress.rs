//! Shows a progress line on the terminal for work that takes longer than a second, and erases it afterwards.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Quicker work needs no progress line.
const DELAY: Duration = Duration::from_secs(1);

#[derive(Default)]
struct State {
    stage: Mutex<Option<&'static str>>,
    changed: Condvar,
    /// How much is done, if it is counted.
    done: AtomicUsize,
}

/// Shown until dropped; does nothing without a terminal.
pub(super) struct Progress {
    running: Option<(Arc<State>, JoinHandle<()>)>,
}

impl Progress {
    pub fn start(terminal: bool, stage: &'static str) -> Self {
        if !terminal {
            return Progress { running: None };
        }
        let state = Arc::new(State { stage: Mutex::new(Some(stage)), ..State::default() });
        let shared = Arc::clone(&state);
        let running = std::thread::Builder::new().name("progress".into()).spawn(move || show(&shared, &mut io::stderr()));
        // If the thread can't be started, the work continues without progress.
        Progress { running: running.ok().map(|thread| (state, thread)) }
    }
}

impl Progress {
    /// Sets how much is done.
    pub fn done(&self, count: usize) {
        if let Some((state, _)) = &self.running {
            state.done.store(count, Ordering::Relaxed);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((state, thread)) = self.running.take() {
            set(&state, None);
            // A thread that failed to write has nothing to clean up.
            let _ = thread.join();
        }
    }
}

fn set(state: &State, stage: Option<&'static str>) {
    if let Ok(mut now) = state.stage.lock() {
        *now = stage;
        state.changed.notify_all();
    }
}

fn show(state: &State, out: &mut dyn Write) {
    let start = Instant::now();
    let mut due = DELAY;
    let mut shown = false;
    let Ok(mut stage) = state.stage.lock() else { return };
    while let Some(word) = *stage {
        let elapsed = start.elapsed();
        if elapsed >= due {
            due = elapsed + DELAY;
            let done = match state.done.load(Ordering::Relaxed) {
                0 => String::new(),
                count => format!(" ({count})"),
            };
            shown = write!(out, "\r\u{1b}[Kcrdwise: {word}{done}, {} s", elapsed.as_secs()).and_then(|()| out.flush()).is_ok();
        }
        let Ok((next, _)) = state.changed.wait_timeout(stage, due.saturating_sub(start.elapsed())) else { return };
        stage = next;
    }
    if shown {
        let _ = write!(out, "\r\u{1b}[K").and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_work_shows_no_progress_and_long_work_erases_it() {
        let state = State::default();
        let mut out = Vec::new();
        show(&state, &mut out);
        assert!(out.is_empty());
        let state = Arc::new(State { stage: Mutex::new(Some("reading")), ..State::default() });
        let shared = Arc::clone(&state);
        let ends = std::thread::spawn(move || {
            std::thread::sleep(DELAY + Duration::from_millis(200));
            set(&shared, None);
        });
        show(&state, &mut out);
        ends.join().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("crdwise: reading, 1 s") && text.ends_with("\r\u{1b}[K"), "{text:?}");
    }
}
