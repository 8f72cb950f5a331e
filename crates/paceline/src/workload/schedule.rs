//! Moments at which transactions start, and the end of the load.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Start times of all workers' transactions.
///
/// With a rate, transaction `n` starts at `n / rate` seconds. The next free worker takes the next number; if all are
/// busy it starts late, and its latency counts from the planned time.
#[derive(Debug)]
pub struct Schedule {
    started: Instant,
    duration: Duration,
    rate: Option<u64>,
    next: AtomicU64,
    is_ended: AtomicBool,
    ended: Notify,
}

impl Schedule {
    pub fn new(started: Instant, duration: Duration, rate: Option<u64>) -> Self {
        Schedule {
            started,
            duration,
            rate,
            next: AtomicU64::new(0),
            is_ended: AtomicBool::new(false),
            ended: Notify::new(),
        }
    }

    /// Ends the load: nothing starts any more.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Release);
        self.ended.notify_waiters();
    }

    /// Returns whether the load has ended.
    pub fn has_ended(&self) -> bool {
        self.is_ended.load(Ordering::Acquire) || self.started.elapsed() >= self.duration
    }

    /// Waits until the next transaction may start. Returns the time from which its latency counts; `None` at the end.
    pub async fn next(&self) -> Option<Instant> {
        let Some(rate) = self.rate else {
            return (!self.has_ended()).then(Instant::now);
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let planned = self.started + planned_offset(number, rate);
        self.pause_until(planned).await;
        (!self.has_ended()).then_some(planned)
    }

    /// Waits for this long, or until the end.
    pub async fn pause(&self, duration: Duration) {
        self.pause_until(Instant::now() + duration).await;
    }

    async fn pause_until(&self, until: Instant) {
        let until = until.min(self.started + self.duration);
        let ended = self.ended.notified();
        tokio::pin!(ended);
        // Registers before the flag is read, so that an end in between is not missed.
        ended.as_mut().enable();
        if self.has_ended() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep_until(until.into()) => {}
            () = ended => {}
        }
    }
}

fn planned_offset(number: u64, rate: u64) -> Duration {
    let nanoseconds = u128::from(number) * 1_000_000_000 / u128::from(rate);
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_spread_evenly_over_a_second() {
        assert_eq!(planned_offset(0, 200), Duration::ZERO);
        assert_eq!(planned_offset(1, 200), Duration::from_millis(5));
        assert_eq!(planned_offset(200, 200), Duration::from_secs(1));
        assert_eq!(planned_offset(10, 3), Duration::from_nanos(3_333_333_333));
    }

    #[tokio::test]
    async fn an_ended_load_starts_nothing_and_wakes_those_that_wait() {
        let hour = Duration::from_secs(3600);
        let schedule = Schedule::new(Instant::now(), hour, Some(1));
        assert!(schedule.next().await.is_some());
        let (second, ()) = tokio::join!(async { (schedule.next().await, schedule.next().await) }, async {
            schedule.end();
        });
        assert_eq!(second, (None, None));
        schedule.pause(hour).await;
        assert!(schedule.has_ended());
        let over = Schedule::new(Instant::now(), Duration::ZERO, None);
        assert_eq!(over.next().await, None);
    }
}
