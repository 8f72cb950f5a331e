//! `paceline workload`: a load that checks itself, for any server that speaks MariaDB's protocol.
//!
//! ```text
//!   schedule ──▶ workers, a session each ──▶ server          each transaction: begin … commit, again after a deadlock
//!                   │ latency, retries, errors
//!                   ▼
//!              statistics ──▶ a line per second ──▶ summary ──▶ check of all rows
//! ```
//! Each kind keeps an invariant that any reader can check with SQL, so a load proves something about the server that it
//! ran on, also across crashes, fail-overs and on replicas: money is neither created nor lost ([`bank`]), a value
//! belongs to its key and version ([`key_value`]), what was sold left the stock ([`shop`]).
//!
//! *Workers behave as an application should.* A transaction that fails with 1213, 1205 or 1020 is rolled back and
//! executed again with the same parameters. After a lost connection a worker connects again, with a growing pause. The
//! transaction is not repeated, because its commit may have succeeded. The checks do not depend on which it was.
//!
//! *Latency* is the time that an application waits: it includes retries and, with `--rate`, the time since the moment
//! at which the schedule wanted the transaction to start. So a server that stops for a second shows in the percentiles.
//!
//! *Limits.* A load ends after `--seconds`, or with the first SIGINT or SIGTERM; transactions in progress are finished.
//! Errors are counted by number. The latencies of a second are a histogram of fixed size.
//!
//! *Tables of others are safe.* The load works in a database of its own, which contains a marker table ([`schema`]).
//! Without it, nothing is written to a database that has tables, and nothing is dropped.

mod bank;
mod error;
mod finding;
mod key_value;
mod kind;
mod options;
mod schedule;
mod schema;
mod session;
mod shop;
mod statistics;
mod worker;

pub use options::Options;

use crate::stop::StopSignals;
use error::{Error, Result};
use finding::Finding;
use kind::Load;
use options::{Action, Format};
use schedule::Schedule;
use session::{ErrorKind, Session, Target};
use statistics::{Seconds, Statistics, to_tenths};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval_at};

/// Interval of the printed lines.
const LINE: Duration = Duration::from_secs(1);
/// Time for which a server may be away when the load ends, before its check is given up.
const RETURN: Duration = Duration::from_secs(30);

/// Runs the load, or a part of it.
///
/// # Errors
/// Errors have texts for users. A run fails if its check fails, if an error occurred that an application could not have
/// handled, or if no transaction succeeded.
pub async fn run(options: &Options) -> Result<()> {
    let mut stop = StopSignals::take().map_err(|error| Error::Usage(error.to_string()))?;
    let target = Arc::new(options.target()?);
    let mut printer = Printer {
        format: options.format(),
    };
    let preparation = async {
        let mut session = Session::open(&target).await?;
        match options.action() {
            Action::CleanUp => schema::clean_up(&mut session, options.kind, &target.database)
                .await
                .map(|()| None),
            Action::Check => schema::find(&mut session, options.kind, &target.database)
                .await
                .map(Some),
            Action::Prepare | Action::Run => {
                let rows = options.rows;
                schema::prepare(&mut session, options.kind, &target.database, rows)
                    .await
                    .map(Some)
            }
        }
    };
    let load = tokio::select! {
        prepared = preparation => prepared?,
        () = stop.wait() => return Err(Error::Interrupted),
    };
    let Some(load) = load else { return Ok(()) };
    let load = Arc::new(load);
    let mut expected = None;
    let done = match options.action() {
        Action::Run => {
            let before = count_added(&target, &load).await?;
            let done = drive(options, &target, &load, &mut stop, &mut printer).await?;
            expected = before.map(|before| (before, done.transactions));
            Some(done)
        }
        Action::Check => None,
        Action::Prepare | Action::CleanUp => return Ok(()),
    };
    let wrong = tokio::select! {
        checked = check(&target, &load, expected, &mut printer) => checked?,
        () = stop.wait() => return Err(Error::Interrupted),
    };
    match done {
        _ if wrong > 0 => Err(Error::Wrong(wrong)),
        Some(seconds) if seconds.unexpected() > 0 => Err(Error::Unexpected {
            count: seconds.unexpected(),
            first: seconds.first_error.unwrap_or_default(),
        }),
        Some(seconds) if seconds.transactions == 0 => Err(Error::NoTransaction),
        _ => Ok(()),
    }
}

/// Runs the workers until the load ends. Returns the total.
async fn drive(
    options: &Options,
    target: &Arc<Target>,
    load: &Arc<Load>,
    stop: &mut StopSignals,
    printer: &mut Printer,
) -> Result<Seconds> {
    let started = Instant::now();
    let schedule = Arc::new(Schedule::new(started, options.duration(), options.rate));
    let statistics = Arc::new(Statistics::default());
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..options.threads {
        let (target, load) = (target.clone(), load.clone());
        workers.spawn(worker::run(target, load, schedule.clone(), statistics.clone()));
    }
    let mut lines = interval_at((started + LINE).into(), LINE);
    lines.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut total = Seconds::default();
    let mut last = started;
    loop {
        tokio::select! {
            joined = workers.join_next() => match joined {
                None => break,
                Some(Ok(())) => {}
                Some(Err(error)) => return Err(Error::Usage(format!("a worker has failed: {error}"))),
            },
            _ = lines.tick() => {
                let seconds = statistics.take();
                let now = Instant::now();
                let is_printed = printer.line(now - started, now - last, &seconds);
                total.add(&seconds);
                last = now;
                if !is_printed {
                    schedule.end();
                }
            }
            () = stop.wait() => schedule.end(),
        }
    }
    total.add(&statistics.take());
    printer.summary(started.elapsed(), &total);
    Ok(total)
}

/// Returns [`Load::count_added`].
async fn count_added(target: &Arc<Target>, load: &Load) -> Result<Option<u64>> {
    let mut session = Session::open(target).await?;
    session.use_database().await?;
    load.count_added(&mut session).await
}

/// Checks all rows. Returns the number of things that are wrong. `expected` is the number of rows of
/// [`Load::count_added`] before this load, and of the transactions that it has committed.
async fn check(
    target: &Arc<Target>,
    load: &Load,
    expected: Option<(u64, u64)>,
    printer: &mut Printer,
) -> Result<usize> {
    let deadline = Instant::now() + RETURN;
    let findings = loop {
        let checked = async {
            let mut session = Session::open(target).await?;
            session.begin_snapshot().await?;
            let mut findings = load.check(&mut session).await?;
            if let Some((before, committed)) = expected
                && let Some(present) = load.count_added(&mut session).await?
            {
                // There may be more: of other loads, and commits whose reply was lost.
                let missing = (before + committed).saturating_sub(present);
                let rule = format!("no row of the {committed} transactions is missing");
                findings.push(Finding::new(rule, 0, missing));
            }
            Ok(findings)
        };
        match checked.await {
            Ok(findings) => break findings,
            Err(Error::Server(error))
                if ErrorKind::of(&error) == ErrorKind::Away && Instant::now() < deadline =>
            {
                tokio::time::sleep(worker::PAUSE_MAX).await;
            }
            Err(error) => return Err(error),
        }
    };
    for finding in &findings {
        printer.finding(finding);
    }
    Ok(findings.iter().filter(|finding| !finding.is_right()).count())
}

/// Writes to standard output, as text or as one JSON object per line.
struct Printer {
    format: Format,
}

impl Printer {
    /// Writes a line. Returns whether anybody reads it.
    fn write(&self, line: &str) -> bool {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
    }

    fn line(&self, since_start: Duration, length: Duration, seconds: &Seconds) -> bool {
        let second = since_start.as_secs();
        self.write(&match self.format {
            Format::Text => format!("{second:5} s  {}", seconds.text(length)),
            Format::Json => {
                let mut object = seconds.json(length);
                object["second"] = second.into();
                object.to_string()
            }
        })
    }

    fn summary(&self, length: Duration, total: &Seconds) {
        self.write(&match self.format {
            Format::Text => format!(
                "total    {}\n         {} transactions in {:.1} s",
                total.text(length),
                total.transactions,
                length.as_secs_f64()
            ),
            Format::Json => {
                let mut object = total.json(length);
                object["seconds"] = to_tenths(length.as_secs_f64()).into();
                object["transactions"] = total.transactions.into();
                object.to_string()
            }
        });
    }

    fn finding(&self, finding: &Finding) {
        self.write(&match (self.format, finding.is_right()) {
            (Format::Text, true) => format!("check    {}: right", finding.rule),
            (Format::Text, false) => format!("check    {}: WRONG: {}", finding.rule, finding.problem()),
            (Format::Json, right) => serde_json::json!({
                "check": finding.rule,
                "right": right,
                "problem": finding.problem(),
            })
            .to_string(),
        });
    }
}
