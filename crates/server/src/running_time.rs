//! Processor time of the statement that a session's task executes.
//!
//! The system's clock of a thread costs a call into the kernel, a few percent of the read of one row, and two are
//! needed for a statement. So the time is measured with the clock that a statement reads anyway: a task has the
//! thread's processor to itself from the moment when the runtime polls it until it waits.
//!
//! ```text
//!   begin ─── runs ──▶ waits: the commit, a row lock, the client ··· is polled again ─── runs ──▶ end
//!          counted            not counted                                     counted
//! ```
//! The system may take the processor away in between, and some waits block the thread. So a run of [`LONG`] or more is
//! bounded by the thread's clock. The clock's value at the beginning of the run is not known either: the last one that
//! was read is used, which is less than [`LONG`] older. So the time of a long run can be too long by that, and the
//! time of a short one by an interruption that is shorter than [`LONG`].
//!
//! # Alternatives considered
//! *The thread's clock at the beginning and at the end of each statement.* While one waits its thread serves other
//! sessions, whose time was counted, too. *A sample of the statements*: a user with few long statements would be shown
//! wrongly.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Time after which a run is compared with the clock of its thread.
const LONG: Duration = Duration::from_millis(1);

/// Part of a statement that runs on this thread without waiting.
#[derive(Clone, Copy)]
struct Run {
    began: Instant,
    /// Processor time of the thread, read at most [`LONG`] before `began`.
    thread_time: Duration,
    /// Time of the statement's earlier runs.
    earlier: Duration,
}

impl Run {
    fn begin(began: Instant, earlier: Duration) -> Run {
        let known = CLOCK.get().filter(|(until, _)| began < *until);
        let thread_time = match known {
            Some((_, known)) => known,
            None => {
                let thread_time = thread_time();
                CLOCK.set(Some((began + LONG, thread_time)));
                thread_time
            }
        };
        Run {
            began,
            thread_time,
            earlier,
        }
    }

    /// Returns the statement's time up to now.
    fn end(self, now: Instant) -> Duration {
        self.end_after(now.duration_since(self.began))
    }

    /// Returns the statement's time when the run has taken so long.
    fn end_after(self, elapsed: Duration) -> Duration {
        self.earlier
            + match elapsed < LONG {
                true => elapsed,
                false => elapsed.min(thread_time().saturating_sub(self.thread_time)),
            }
    }
}

thread_local! {
    /// The run of the statement that this thread executes.
    static RUN: Cell<Option<Run>> = const { Cell::new(None) };
    /// A reading of the thread's clock, and the time up to which it may be used.
    static CLOCK: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

/// Returns the processor time that this thread has used.
fn thread_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(Duration::ZERO, Duration::from)
}

/// Begins a statement of the task that runs.
pub fn begin(started: Instant) {
    RUN.set(Some(Run::begin(started, Duration::ZERO)));
}

/// Ends the statement of the task that runs, and returns its processor time. Zero if none was begun. The statement has
/// begun at `started` and has taken `duration`: one that has not waited needs no difference of times of its own, which
/// costs as much as the rest of this.
pub fn end(started: Instant, duration: Duration) -> Duration {
    match RUN.take() {
        None => Duration::ZERO,
        Some(run) if run.began == started => run.end_after(duration),
        Some(run) => run.end(started + duration),
    }
}

/// A task whose statements are measured.
pub struct Measured<F> {
    // In a box: a function that is async would keep the task twice, and that of a session is large.
    task: Pin<Box<F>>,
    /// Time of the earlier runs of the statement that waits.
    earlier: Option<Duration>,
}

impl<F: Future> Measured<F> {
    /// Creates the task.
    pub fn new(task: F) -> Self {
        Measured {
            task: Box::pin(task),
            earlier: None,
        }
    }
}

impl<F: Future> Future for Measured<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // A statement of a task that is not measured may have left its run on this thread.
        let earlier = self.earlier.take();
        RUN.set(earlier.map(|earlier| Run::begin(Instant::now(), earlier)));
        let polled = self.task.as_mut().poll(context);
        self.earlier = RUN.take().map(|run| run.end(Instant::now()));
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(duration: Duration) {
        let began = thread_time();
        while thread_time() - began < duration {}
    }

    const STEP: Duration = Duration::from_millis(20);

    /// Runs a task with waits of both kinds on one thread, together with another that is busy meanwhile.
    #[test]
    fn the_time_of_a_statement_is_that_in_which_its_task_runs() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let statement = Measured::new(async {
            let started = Instant::now();
            begin(started);
            busy(STEP);
            // The thread goes on to the other task.
            tokio::time::sleep(STEP).await;
            // The thread waits.
            std::thread::sleep(STEP);
            busy(STEP);
            end(started, started.elapsed())
        });
        let other = Measured::new(async {
            assert_eq!(end(Instant::now(), STEP), Duration::ZERO);
            busy(10 * STEP);
        });
        let (time, ()) = runtime.block_on(async { tokio::join!(statement, other) });
        assert!(time >= 2 * STEP && time < 2 * STEP + 4 * LONG, "{time:?}");
    }

    #[test]
    fn a_short_run_needs_no_clock_of_the_thread() {
        let began = Instant::now();
        begin(began);
        let read = CLOCK.get();
        let duration = Duration::from_micros(7);
        assert_eq!(end(began, duration), duration);
        begin(began);
        assert_eq!(end(began - duration, 3 * duration), 2 * duration);
        begin(began + LONG / 2);
        assert_eq!(CLOCK.get(), read);
        begin(began + 2 * LONG);
        assert_ne!(CLOCK.get(), read);
    }
}
