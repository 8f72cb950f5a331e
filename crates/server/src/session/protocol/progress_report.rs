//! Progress packets: a client that asks for them (MARIADB_CLIENT_PROGRESS) is told how far ALTER TABLE, CREATE INDEX,
//! LOAD DATA, CHECK TABLE and the like are, before their reply.
//!
//! ```text
//!   statement begins ── lend ──▶ ProgressReports ◀── note_progress, deep within the statement
//!   statement ends  ◀── return ──┘        └─▶ packet, at most one each `progress_report_time` seconds
//! ```
//! Progress is reported by loops over rows that know no connection, and a statement that reports writes nothing
//! before its reply. So the session lends its connection to the place that progress is noted at. The reply then has
//! the next sequence number.
//!
//! As in MariaDB the packet is that of error 65535 without an SQLSTATE, the first one is sent at once, and one at the
//! beginning of each stage. With 0, of the session or of the server, nothing is sent; the larger of both counts
//! otherwise. A client that does not read delays the statement by at most `net_write_timeout`, once.
//!
//! Rejected: a thread that owns the connection meanwhile. It would have to be stopped and waited for at each statement.

use super::Connection;
use paceline_expression::session::StatementProgress;
use paceline_wire::Capabilities;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// First bytes of the packet: an error with the number 65535; then the number of texts.
const HEADER: [u8; 4] = [0xFF, 0xFF, 0xFF, 1];

/// All of a stage, in the unit of the packet.
const WHOLE: f64 = 100_000.0;

/// Maximum length of the state in the packet, so that one byte is enough for it.
const STATE_MAX: usize = 180;

/// Returns the packet.
fn packet(progress: &StatementProgress) -> Vec<u8> {
    let mut packet = HEADER.to_vec();
    packet.extend([progress.stage, progress.stages.max(progress.stage)]);
    let part = (progress.part.clamp(0.0, 1.0) * WHOLE) as u32;
    packet.extend_from_slice(&part.to_le_bytes()[..3]);
    let state = &progress.state.as_bytes()[..progress.state.len().min(STATE_MAX)];
    packet.push(state.len() as u8);
    packet.extend_from_slice(state);
    packet
}

/// Decision when the next packet is sent.
#[derive(Debug, Default)]
struct Schedule {
    stage: u8,
    /// Earliest time of the next packet of the stage.
    next: Option<Instant>,
}

impl Schedule {
    /// Returns whether a packet is due. `seconds` are between two; 0 if none are wanted.
    fn is_due(&mut self, stage: u8, seconds: u64, now: Instant) -> bool {
        if self.stage == stage && self.next.is_some_and(|next| now < next) {
            return false;
        }
        self.stage = stage;
        self.next = now.checked_add(Duration::from_secs(seconds.max(1)));
        seconds > 0
    }
}

#[derive(Debug)]
struct Lent {
    connection: Connection,
    schedule: Schedule,
}

/// Place that a session lends its connection to during a statement that reports its progress.
#[derive(Debug, Default)]
pub struct ProgressReports(Mutex<Option<Lent>>);

impl ProgressReports {
    /// Takes over the connection, if its client wants to know how far its statement is.
    pub fn lend(&self, connection: &mut Connection) {
        if !connection.capabilities.has(Capabilities::MARIADB_PROGRESS) {
            return;
        }
        let connection = connection.lend();
        *self.0.lock() = Some(Lent {
            connection,
            schedule: Schedule::default(),
        });
    }

    /// Returns the connection, if it was lent.
    pub fn give_back(&self, connection: &mut Connection) {
        if let Some(lent) = self.0.lock().take() {
            connection.take_back(lent.connection);
        }
    }

    /// Sends a packet if the connection is lent and one is due. `seconds` returns the time between two.
    pub fn report(&self, progress: &StatementProgress, seconds: impl FnOnce() -> u64) {
        let mut lent = self.0.lock();
        let Some(Lent { connection, schedule }) = &mut *lent else {
            return;
        };
        if !schedule.is_due(progress.stage, seconds(), Instant::now()) {
            return;
        }
        connection.writer.packet(&packet(progress));
        // A client that is gone ends the session when the reply is sent.
        if let Err(error) = connection.flush_blocking() {
            tracing::debug!("a progress report could not be sent: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_is_mariadbs() {
        let progress = StatementProgress {
            state: "copy to tmp table",
            stage: 1,
            stages: 2,
            part: 0.25,
        };
        let expected = b"\xff\xff\xff\x01\x01\x02\xa8\x61\x00\x11copy to tmp table";
        assert_eq!(packet(&progress), expected);
    }

    #[test]
    fn one_is_sent_at_once_one_for_each_stage_and_then_at_intervals() {
        let mut schedule = Schedule::default();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_millis((seconds * 1000.0) as u64);
        assert!(schedule.is_due(1, 5, start));
        assert!(!schedule.is_due(1, 5, after(4.9)));
        assert!(schedule.is_due(1, 5, after(5.0)));
        assert!(schedule.is_due(2, 5, after(5.1)));
        assert!(!schedule.is_due(2, 5, after(10.0)));
        // Switched off and on again: looked at each second.
        assert!(!schedule.is_due(2, 0, after(10.2)));
        assert!(!schedule.is_due(2, 5, after(11.1)));
        assert!(schedule.is_due(2, 5, after(11.2)));
    }
}
