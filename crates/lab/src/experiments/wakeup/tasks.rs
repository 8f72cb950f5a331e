//! The same with tasks of an async runtime, which wait without a thread each.

use super::gates::Sharing;
use crate::machine;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::sync::Notify;

/// Measures one signal to that many tasks, in ms. The signal comes from a thread outside of the runtime.
pub fn wake_tasks(tasks: usize, sharing: Sharing) -> io::Result<f64> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(machine::processors())
        .build()?;
    let notifications: Vec<Arc<Notify>> = match sharing {
        Sharing::Shared => vec![Arc::default()],
        Sharing::Own => (0..tasks).map(|_| Arc::default()).collect(),
    };
    let arrived = Arc::new(AtomicUsize::new(0));
    let awaited = Arc::new(AtomicUsize::new(tasks));
    let (last, last_woken) = mpsc::channel();
    for number in 0..tasks {
        let notification = notifications[number % notifications.len()].clone();
        let (arrived, awaited, last) = (arrived.clone(), awaited.clone(), last.clone());
        runtime.spawn(async move {
            let mut notified = pin!(notification.notified());
            // From here on it is among those that `notify_waiters` wakes.
            notified.as_mut().enable();
            arrived.fetch_add(1, Ordering::Relaxed);
            notified.await;
            if awaited.fetch_sub(1, Ordering::Relaxed) == 1 {
                // The receiver is there until it has this.
                let _ = last.send(Instant::now());
            }
        });
    }
    while arrived.load(Ordering::Relaxed) < tasks {
        thread::sleep(Duration::from_millis(1));
    }
    machine::await_sleeping_threads()?;
    let start = Instant::now();
    notifications
        .iter()
        .for_each(|notification| notification.notify_waiters());
    let end = last_woken.recv().map_err(io::Error::other)?;
    Ok((end - start).as_secs_f64() * 1000.0)
}
