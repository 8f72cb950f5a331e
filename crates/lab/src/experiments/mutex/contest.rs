//! One figure: threads that contend for mutexes of one kind.

use super::locks::Lock;
use crate::processor_time::{Interval, Moment};
use crate::statistics::Sample;
use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Conditions of a figure.
#[derive(Debug)]
pub struct Contest {
    pub threads: usize,
    pub mutexes: usize,
    /// Rounds of work while a mutex is held.
    pub rounds: u64,
    pub window: Duration,
    pub windows: usize,
}

/// Figures of a contest.
#[derive(Debug)]
pub struct Outcome {
    /// Time of an iteration of all threads together, in ns, in each window.
    pub nanoseconds: Sample,
    /// Context switches for an iteration.
    pub switches: f64,
    /// All windows.
    pub interval: Interval,
}

/// Something that shares its cache lines with nothing. Processors fetch lines in pairs.
#[repr(align(128))]
#[derive(Default)]
struct Alone<T>(T);

/// A mutex, and how often it was held: changed only by its holder, and not atomically as a whole.
struct Counted<L> {
    lock: L,
    held: AtomicU64,
}

/// Stack of a thread, in bytes.
const STACK: usize = 64 * 1024;

impl Contest {
    /// Measures mutexes of this kind.
    ///
    /// # Errors
    /// Those of creating threads, and of reading /proc.
    ///
    /// # Panics
    /// If two threads had a mutex at the same time.
    pub fn measure<L: Lock>(&self) -> io::Result<Outcome> {
        let mutexes: Vec<_> = (0..self.mutexes)
            .map(|_| {
                Alone(Counted {
                    lock: L::new(),
                    held: AtomicU64::new(0),
                })
            })
            .collect();
        let iterations: Vec<Alone<AtomicU64>> = (0..self.threads).map(|_| Alone::default()).collect();
        let (begun, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let outcome = thread::scope(|scope| {
            let mut started = Ok(());
            for (number, iterations) in iterations.iter().enumerate() {
                let (mutexes, begun, is_over) = (&mutexes, &begun, &is_over);
                let body = move || {
                    begun.fetch_add(1, Ordering::Relaxed);
                    self.contend(number, mutexes, &iterations.0, is_over);
                };
                if let Err(error) = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body) {
                    started = Err(io::Error::new(error.kind(), format!("{number} threads: {error}")));
                    break;
                }
            }
            // Threads end only after this is set, whatever has failed.
            let outcome = started.and_then(|()| self.watch(&iterations, &begun));
            is_over.store(true, Ordering::Relaxed);
            outcome
        });
        let held: u64 = mutexes
            .iter()
            .map(|mutex| mutex.0.held.load(Ordering::Relaxed))
            .sum();
        let done: u64 = iterations
            .iter()
            .map(|iterations| iterations.0.load(Ordering::Relaxed))
            .sum();
        assert_eq!(held, done, "two threads had a mutex at the same time");
        outcome
    }

    /// Iterates until it is over.
    fn contend<L: Lock>(
        &self,
        number: usize,
        mutexes: &[Alone<Counted<L>>],
        iterations: &AtomicU64,
        is_over: &AtomicBool,
    ) {
        let mut random = number as u64;
        let mut done = 0;
        while !is_over.load(Ordering::Relaxed) {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let mutex = &mutexes[(random >> 33) as usize % mutexes.len()].0;
            mutex.lock.hold(|| {
                if self.rounds > 0 {
                    work(self.rounds);
                }
                mutex
                    .held
                    .store(mutex.held.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            });
            done += 1;
            iterations.store(done, Ordering::Relaxed);
        }
    }

    /// Waits until all threads have begun, and reads the counters at the ends of the windows.
    fn watch(&self, iterations: &[Alone<AtomicU64>], begun: &AtomicUsize) -> io::Result<Outcome> {
        while begun.load(Ordering::Relaxed) < self.threads {
            thread::sleep(Duration::from_millis(1));
        }
        let look = || -> io::Result<(Moment, u64)> {
            let counts = iterations
                .iter()
                .map(|iterations| iterations.0.load(Ordering::Relaxed));
            Ok((Moment::now()?, counts.sum()))
        };
        let (begin, done_before) = look()?;
        let (mut moment, mut done) = (begin, done_before);
        let mut nanoseconds = vec![];
        for _ in 0..self.windows {
            // With slow mutexes a window lasts until there is something to count.
            let (next, count) = loop {
                thread::sleep(self.window);
                let (next, count) = look()?;
                if count > done {
                    break (next, count);
                }
            };
            nanoseconds.push(next.since(&moment).seconds * 1e9 / (count - done) as f64);
            (moment, done) = (next, count);
        }
        let interval = moment.since(&begin);
        Ok(Outcome {
            nanoseconds: Sample::new(nanoseconds),
            switches: interval.switches / (done - done_before) as f64,
            interval,
        })
    }
}

/// Works for a number of rounds that depend on each other. There is one copy of it, so that a round takes the same time
/// with each kind of mutex.
#[inline(never)]
fn work(rounds: u64) {
    let mut x = rounds;
    for _ in 0..rounds {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(x);
}

/// Returns how many rounds of work take a nanosecond: the most of several short attempts, since others may have the
/// processor during some.
pub fn rounds_per_ns() -> f64 {
    const ROUNDS: u64 = 100_000;
    let attempts = (0..20).map(|_| {
        let begin = Instant::now();
        work(ROUNDS);
        ROUNDS as f64 / begin.elapsed().as_secs_f64() / 1e9
    });
    attempts.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contest_counts_iterations() {
        let contest = Contest {
            threads: 3,
            mutexes: 2,
            rounds: 10,
            window: Duration::from_millis(1),
            windows: 2,
        };
        let outcome = contest.measure::<std::sync::Mutex<()>>().unwrap();
        assert!(outcome.nanoseconds.lowest() > 0.0, "{outcome:?}");
    }

    #[test]
    fn work_takes_time() {
        let rate = rounds_per_ns();
        assert!((0.001..100.0).contains(&rate), "{rate}");
    }
}
