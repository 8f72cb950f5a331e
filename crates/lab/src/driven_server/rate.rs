//! How many statements clients do in a second.

use super::connection::Connection;
use super::server::Server;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Clients that execute statements. Each is a thread with a connection of its own.
pub struct Load<'a> {
    pub clients: usize,
    /// Statement that each client executes first.
    pub start: Option<&'a str>,
    /// How long is counted.
    pub window: Duration,
}

/// Lets clients execute statements as fast as they can. A statement is made from a random number of 64 bits, whose
/// higher bits are the better ones. Returns the rate a second, and the number of all statements, which is larger than
/// that of the window.
///
/// # Errors
/// The first of a client.
pub fn rate_of_statements(
    server: &Server,
    load: &Load<'_>,
    statement: impl Fn(u64) -> String + Sync,
) -> io::Result<(f64, u64)> {
    let connections = (0..load.clients).map(|_| {
        let mut connection = server.connect()?;
        load.start.map_or(Ok(()), |start| connection.execute(start))?;
        Ok(connection)
    });
    let connections: Vec<Connection> = connections.collect::<io::Result<_>>()?;
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let mut handles = vec![];
        for (number, connection) in connections.into_iter().enumerate() {
            let (statement, done, is_over) = (&statement, &done, &is_over);
            handles.push(scope.spawn(move || execute(connection, number as u64, statement, done, is_over)));
        }
        // Every client has begun, on average.
        while done.load(Ordering::Relaxed) < load.clients as u64
            && handles.iter().all(|handle| !handle.is_finished())
        {
            thread::sleep(Duration::from_millis(1));
        }
        let (begin, before) = (Instant::now(), done.load(Ordering::Relaxed));
        thread::sleep(load.window);
        let (seconds, after) = (begin.elapsed().as_secs_f64(), done.load(Ordering::Relaxed));
        is_over.store(true, Ordering::Relaxed);
        for handle in handles {
            handle
                .join()
                .map_err(|_| io::Error::other("a client panicked"))??;
        }
        Ok(((after - before) as f64 / seconds, done.load(Ordering::Relaxed)))
    })
}

/// Executes statements until it is over.
fn execute(
    mut connection: Connection,
    seed: u64,
    statement: impl Fn(u64) -> String,
    done: &AtomicU64,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let mut random = seed;
    while !is_over.load(Ordering::Relaxed) {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        connection.execute(&statement(random))?;
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
