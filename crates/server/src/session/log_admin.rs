//! Statements on the binary log: FLUSH, PURGE, RESET MASTER, SHOW.

use super::Session;
use super::errors::of_transaction;
use super::query::Execution;
use crate::output::Output;
use crate::registry::STREAM_COMMAND;
use crate::variables::Variable;
use paceline_binlog::event::{Event, EventFlags, GtidFlags, IntvarKind};
use paceline_binlog::log::PurgeTarget;
use paceline_expression::session::Privilege;
use paceline_replication::replica::connection_set::Forget;
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, Result};
use paceline_syntax::{Purge, ResetTarget, ShowLimit};
use paceline_txn::InterruptReason;
use paceline_types::error_code::*;
use paceline_types::{DomainId, Value};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum time that RESET MASTER waits for the streams that it ends, and the interval of its checks.
const STREAM_END_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);

fn of_log(error: paceline_binlog::Error) -> Error {
    of_transaction(&paceline_txn::Error::from(error))
}

impl Session {
    /// Executes FLUSH BINARY LOGS.
    pub fn flush_binary_logs(&mut self) -> Result<()> {
        let transactions = &self.server.transactions;
        let expire_after = self.server.globals.number(Variable::BinlogExpireLogsSeconds);
        let done = tokio::task::block_in_place(|| {
            transactions.rotate()?;
            // Purging first makes a checkpoint, after which recovery does not need old files.
            if expire_after > 0 {
                let limit = SystemTime::now() - Duration::from_secs(expire_after);
                let outcome = transactions.purge(&PurgeTarget::Before(limit))?;
                for file in &outcome.removed {
                    tracing::info!("purged the expired binary log {}", file.name);
                }
            }
            Ok(())
        });
        done.map_err(|error: paceline_txn::Error| of_transaction(&error))
    }

    /// Executes FLUSH BINARY LOGS DELETE_DOMAIN_ID=(…). As in MariaDB it rotates for an empty list, but not if none of
    /// the domains is known.
    pub fn delete_domains(&mut self, domains: &[u32]) -> Result<()> {
        if domains.is_empty() {
            return self.flush_binary_logs();
        }
        let domains: Vec<DomainId> = domains.iter().copied().map(DomainId).collect();
        let transactions = &self.server.transactions;
        let deletion = tokio::task::block_in_place(|| transactions.delete_domains(&domains))
            .map_err(|error| of_transaction(&error))?;
        let diagnostics = &mut self.context.diagnostics;
        for doubt in &deletion.doubts {
            let message = format!("The current gtid binlog state is incompatible with a former one {doubt}.");
            diagnostics.warn(ER_BINLOG_CANT_DELETE_GTID_DOMAIN, message);
        }
        for domain in &deletion.unknown {
            let message =
                format!("The gtid domain being deleted ('{domain}') is not in the current binlog state");
            diagnostics.warn(ER_BINLOG_CANT_DELETE_GTID_DOMAIN, message);
        }
        Ok(())
    }

    /// Executes PURGE BINARY LOGS.
    pub fn purge(&mut self, purge: &Purge, more: super::More) -> Result<()> {
        self.shared.counters.com_purge.add(1);
        self.services
            .require_any(&[Privilege::Super, Privilege::BinlogAdmin])?;
        let target = match purge {
            Purge::To(file) => PurgeTarget::File(file.clone()),
            Purge::Before(Expr::Subquery(_)) => {
                return Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&"PURGE..BEFORE"]));
            }
            Purge::Before(expr) => {
                let seconds = self.seconds_since_1970(expr)?;
                PurgeTarget::Before(UNIX_EPOCH + Duration::from_secs(seconds))
            }
        };
        let transactions = &self.server.transactions;
        let outcome = tokio::task::block_in_place(|| transactions.purge(&target))
            .map_err(|error| of_transaction(&error))?;
        for file in &outcome.removed {
            tracing::info!("purged binary log {}", file.name);
        }
        if let Some(block) = &outcome.blocked {
            let message = format!(
                "file {} was not purged because it was being read by {}",
                block.file, block.needed_by
            );
            self.context.diagnostics.warn(ER_LOG_IN_USE, message);
        }
        self.write_ok(0, 0, "", more);
        Ok(())
    }

    /// Returns the time of an expression: `UNIX_TIMESTAMP(expr)`.
    fn seconds_since_1970(&mut self, expr: &Expr) -> Result<u64> {
        let seconds = Expr::call("UNIX_TIMESTAMP", vec![expr.clone()]);
        match self.evaluate(&seconds)? {
            Value::Null => Err(Error::new(ER_WRONG_ARGUMENTS, &[&"PURGE LOGS BEFORE"])),
            value => {
                let text = paceline_types::text::to_string(&value.as_ref(), &self.context.settings.time_zone);
                let seconds = text.parse::<f64>().unwrap_or(0.0);
                Ok(seconds.max(0.0) as u64)
            }
        }
    }

    /// Executes RESET MASTER and related statements.
    pub async fn reset_statement(&mut self, targets: &[ResetTarget], more: super::More) -> Result<()> {
        self.shared.counters.com_reset.add(1);
        self.services.require_any(&[Privilege::Reload])?;
        for target in targets {
            match target {
                ResetTarget::Master(number) => {
                    self.commit().await?;
                    self.end_streams().await?;
                    let number = number.map(|number| u32::try_from(number).unwrap_or(u32::MAX));
                    let transactions = &self.server.transactions;
                    tokio::task::block_in_place(|| transactions.reset(number))
                        .map_err(|error| of_transaction(&error))?;
                    self.server.primary.semi_sync().begin_anew();
                    tracing::info!("RESET MASTER by {}: a new binary log begins", self.context.user);
                }
                ResetTarget::QueryCache => {}
                ResetTarget::Slave { connection, all } => {
                    let forget = match all {
                        true => Forget::Connection,
                        false => Forget::Place,
                    };
                    self.reset_slave(connection.as_deref(), forget).await?;
                }
            }
        }
        self.write_ok(0, 0, "", more);
        Ok(())
    }

    /// Ends the streams to replicas, which would otherwise continue in removed files. The replicas reconnect and are
    /// then told the state of the log.
    async fn end_streams(&self) -> Result<()> {
        let sessions = &self.server.sessions;
        let streams = || {
            let all = sessions.all().into_iter();
            all.filter(|session| session.activity().command == STREAM_COMMAND)
        };
        for session in streams() {
            session.kill(InterruptReason::Connection);
        }
        let deadline = Instant::now() + STREAM_END_MAX;
        while streams().next().is_some() && Instant::now() < deadline {
            self.shared
                .interrupt
                .check()
                .map_err(|error| of_transaction(&error))?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    fn may_see_log(&self) -> Result<()> {
        self.services
            .require_any(&[Privilege::Super, Privilege::BinlogMonitor])
    }

    /// Executes SHOW BINARY LOGS.
    pub fn show_binary_logs(&mut self, execution: Execution<'_>) -> Result<()> {
        self.may_see_log()?;
        let mut output = Output::new();
        output.text("Log_name", 255).number("File_size");
        for file in self.server.transactions.log().files() {
            output.row(vec![Value::Text(file.name), Value::UInt(file.length)]);
        }
        self.send(output, execution)
    }

    /// Executes SHOW MASTER STATUS.
    pub fn show_master_status(&mut self, execution: Execution<'_>) -> Result<()> {
        self.may_see_log()?;
        let transactions = &self.server.transactions;
        let (file, offset) = transactions
            .log()
            .coordinates(transactions.log().written())
            .map_err(of_log)?;
        let mut output = Output::new();
        output
            .text("File", 255)
            .number("Position")
            .text("Binlog_Do_DB", 255)
            .text("Binlog_Ignore_DB", 255);
        let empty = || Value::Text(String::new());
        output.row(vec![Value::Text(file), Value::UInt(offset), empty(), empty()]);
        self.send(output, execution)
    }

    /// Executes SHOW BINLOG EVENTS.
    pub fn show_binlog_events(
        &mut self,
        file: Option<&str>,
        position: Option<u64>,
        limit: ShowLimit,
        execution: Execution<'_>,
    ) -> Result<()> {
        self.may_see_log()?;
        let log = self.server.transactions.log();
        let files = log.files();
        let wrong = |what: &str| Error::new(ER_ERROR_WHEN_EXECUTING_COMMAND, &[&"SHOW BINLOG EVENTS", &what]);
        let name = match file {
            Some(name) => name.to_owned(),
            None => files
                .first()
                .map(|file| file.name.clone())
                .ok_or_else(|| wrong("Could not find target log"))?,
        };
        if !files.iter().any(|file| file.name == name) {
            return Err(wrong("Could not find target log"));
        }
        let from = log
            .position_of(&name, position.unwrap_or(4))
            .map_err(|_| wrong("Wrong offset or I/O error"))?;
        let mut reader = log
            .reader(from, log.written())
            .map_err(|_| wrong("Wrong offset or I/O error"))?;
        let mut output = Output::new();
        output
            .text("Log_name", 20)
            .number("Pos")
            .text("Event_type", 20)
            .number("Server_id")
            .number("End_log_pos")
            .text("Info", 65_535);
        let mut skip = limit.offset;
        let mut left = limit.count;
        while left > 0 {
            let format = reader.format().clone();
            let Some(logged) = reader.next_event().map_err(of_log)? else {
                break;
            };
            if logged.start.ordinal() != from.ordinal() {
                break;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            left -= 1;
            let header = *logged.event.header();
            let info = match logged.event.decode(&format) {
                Ok(event) => describe(&event, header.flags),
                Err(error) => error.to_string(),
            };
            output.row(vec![
                Value::Text(name.clone()),
                Value::UInt(logged.start.offset()),
                Value::Text(header.event_type.name().to_owned()),
                Value::UInt(u64::from(header.server_id.0)),
                Value::UInt(logged.end.offset()),
                Value::Text(info),
            ]);
        }
        self.send(output, execution)
    }
}

/// Returns the description of an event in SHOW BINLOG EVENTS.
fn describe(event: &Event<'_>, flags: EventFlags) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match event {
        Event::FormatDescription(format) => format!(
            "Server ver: {}, Binlog ver: {}",
            format.server_version, format.binlog_version
        ),
        Event::Rotate(rotate) => format!("{};pos={}", text(rotate.file_name), rotate.position),
        Event::GtidList(list) => {
            let gtids: Vec<String> = list.gtids.iter().map(ToString::to_string).collect();
            format!("[{}]", gtids.join(","))
        }
        Event::BinlogCheckpoint(checkpoint) => text(checkpoint.file_name),
        Event::Gtid(gtid) => {
            let begin = if gtid.flags.contains(GtidFlags::STANDALONE) {
                ""
            } else {
                "BEGIN "
            };
            let group = gtid
                .commit_id
                .map(|id| format!(" cid={}", id.0))
                .unwrap_or_default();
            format!("{begin}GTID {}{group}", gtid.gtid)
        }
        Event::AnnotateRows(annotation) => text(annotation.sql),
        Event::TableMap(map) => format!(
            "table_id: {} ({}.{})",
            map.table_id.0,
            text(map.database),
            text(map.table)
        ),
        Event::Rows(rows) => {
            let end = if rows.flags.ends_statement() {
                " flags: STMT_END_F"
            } else {
                ""
            };
            format!("table_id: {}{end}", rows.table_id.0)
        }
        Event::Query(query) => match query.database.is_empty() || flags.contains(EventFlags::SUPPRESS_USE) {
            true => text(&query.sql),
            false => format!("use `{}`; {}", text(query.database), text(&query.sql)),
        },
        Event::Xid(xid) => format!("COMMIT /* xid={} */", xid.xid),
        Event::Intvar(intvar) => match intvar.kind {
            IntvarKind::LastInsertId => format!("LAST_INSERT_ID={}", intvar.value),
            IntvarKind::InsertId => format!("INSERT_ID={}", intvar.value),
        },
        Event::Rand(rand) => format!("rand_seed1={},rand_seed2={}", rand.seed1, rand.seed2),
        // Only statements have them, and this log contains rows.
        Event::UserVar(variable) => format!("@`{}`", text(variable.name)),
        _ => String::new(),
    }
}
