//! A worker: a session that executes one transaction after the other, as a careful application does.

use super::kind::Load;
use super::schedule::Schedule;
use super::session::{ErrorKind, Session, SessionResult, Target};
use super::statistics::Statistics;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// First pause between attempts to connect. It doubles.
const PAUSE_MIN: Duration = Duration::from_millis(20);
/// Longest pause between attempts to connect.
pub const PAUSE_MAX: Duration = Duration::from_millis(500);
/// Number of times that a transaction is executed again before it counts as failed.
const RETRIES_MAX: u32 = 100;

/// Executes transactions until the load ends.
pub async fn run(target: Arc<Target>, load: Arc<Load>, schedule: Arc<Schedule>, statistics: Arc<Statistics>) {
    let mut random = SmallRng::from_os_rng();
    let mut session = None;
    let mut pause = PAUSE_MIN;
    while let Some(planned) = schedule.next().await {
        let mut connected = match session.take() {
            Some(session) => session,
            None => match connect(&target).await {
                Ok(session) => session,
                Err(error) => {
                    match ErrorKind::of(&error) {
                        ErrorKind::Unexpected => statistics.failed(&error),
                        _ => statistics.lost(&error),
                    }
                    schedule.pause(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                    continue;
                }
            },
        };
        pause = PAUSE_MIN;
        if execute(&mut connected, &load, &mut random, planned, &statistics)
            .await
            .is_ok()
        {
            session = Some(connected);
        }
    }
}

async fn connect(target: &Arc<Target>) -> SessionResult<Session> {
    let mut session = Session::open(target).await?;
    session.use_database().await?;
    Ok(session)
}

/// Executes a transaction, repeatedly if necessary, and counts it.
///
/// # Errors
/// Fails if the session cannot be used any longer.
async fn execute(
    session: &mut Session,
    load: &Load,
    random: &mut SmallRng,
    planned: Instant,
    statistics: &Statistics,
) -> Result<(), ()> {
    // A retry has the same parameters.
    let first = random.clone();
    for attempt in 0..=RETRIES_MAX {
        *random = first.clone();
        let Err(error) = load.transaction(session, random).await else {
            statistics.committed(planned.elapsed());
            return Ok(());
        };
        let kind = session.kind_of(&error);
        match kind {
            ErrorKind::Away => {
                statistics.lost(&error);
                return Err(());
            }
            ErrorKind::Retry if attempt < RETRIES_MAX => statistics.retried(&error),
            ErrorKind::Retry => statistics.failed(&error),
            ErrorKind::Unexpected => statistics.failed(&error),
        }
        if session.execute("ROLLBACK").await.is_err() {
            return Err(());
        }
        if kind == ErrorKind::Unexpected {
            return Ok(());
        }
    }
    Ok(())
}
