//! Prints statements and the beginnings of transactions.

use super::super::options::Direction;
use super::super::script::DELIMITER;
use super::super::source::LoggedEvent;
use super::Printer;
use paceline_binlog::event::{AlterPhase, EventFlags, GtidEvent, GtidFlags, QueryEvent, XaName};
use std::io::Write;

impl Printer<'_> {
    pub(super) fn print_gtid(&mut self, event: &LoggedEvent<'_>, gtid: &GtidEvent<'_>) {
        let has = |flag| gtid.flags.contains(flag);
        self.alter_phase = gtid.alter_phase();
        if self.style.direction == Direction::Back {
            // A transaction is undone by another transaction, which ends where this one begins. DDL is not undone, or
            // not selected.
            if !has(GtidFlags::STANDALONE) {
                let _ = writeln!(self.head, "COMMIT\n{DELIMITER}");
                if self.is_local {
                    self.print_log_on();
                }
            }
            return;
        }
        if !self.style.short {
            let mut text = format!("\tGTID {}", gtid.gtid);
            if let Some(commit_id) = gtid.commit_id {
                text.push_str(&format!(" cid={}", commit_id.0));
            }
            for (flag, name) in [
                (GtidFlags::DDL, " ddl"),
                (GtidFlags::TRANSACTIONAL, " trans"),
                (GtidFlags::WAITED, " waited"),
            ] {
                if has(flag) {
                    text.push_str(name);
                }
            }
            text.push_str(&alter_text(gtid));
            text.push('\n');
            self.print_header(event, &text);
        }
        self.follow_locality();
        if !self.style.short && !self.is_local {
            let parallel = has(GtidFlags::ALLOW_PARALLEL);
            let (domain, server, sequence) = (gtid.gtid.domain_id, gtid.gtid.server_id, gtid.gtid.sequence);
            let mut set = |name: &str, value: u64, since: u32| {
                let _ = writeln!(self.head, "/*M!{since} SET @@session.{name}={value}*/{DELIMITER}");
            };
            if self.parallel.replace(parallel) != Some(parallel) {
                set("skip_parallel_replication", u64::from(!parallel), 100_101);
            }
            if self.domain.replace(domain) != Some(domain) {
                set("gtid_domain_id", u64::from(domain.0), 100_001);
            }
            if self.server.replace(server) != Some(server) {
                set("server_id", u64::from(server.0), 100_001);
            }
            set("gtid_seq_no", sequence.0, 100_001);
        }
        match &gtid.xa {
            Some(xa) if has(GtidFlags::PREPARED_XA) => {
                let _ = writeln!(self.head, "XA START {}{DELIMITER}", xa_text(xa));
            }
            _ if !has(GtidFlags::STANDALONE) => {
                let _ = writeln!(self.head, "START TRANSACTION\n{DELIMITER}");
            }
            _ => {}
        }
    }

    /// Switches the session's binary logging if the next group is replicated and the previous one was not, or vice
    /// versa. (With `--disable-log-bin` logging is always off.)
    pub(super) fn follow_locality(&mut self) {
        if self.log_is_off != self.is_local {
            self.log_is_off = self.is_local;
            match self.is_local {
                true => self.print_log_off(),
                false => self.print_log_on(),
            }
        }
    }

    fn print_log_off(&mut self) {
        self.print_log_setting("SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0");
    }

    fn print_log_on(&mut self) {
        self.print_log_setting("SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN");
    }

    fn print_log_setting(&mut self, statement: &str) {
        if !self.style.disable_log_bin {
            let _ = writeln!(self.head, "{statement}{DELIMITER}");
        }
    }

    /// Prints USE for the database that replaces a statement's default database. As with `mariadb-binlog`, it is
    /// printed before the event.
    pub(super) fn print_rewritten_use(&mut self, event: &LoggedEvent<'_>, query: &QueryEvent<'_>) {
        if event.header().flags.contains(EventFlags::SUPPRESS_USE) || is_transaction_keyword(&query.sql) {
            return;
        }
        if let Some(database) = self.style.rewrites.of(query.database) {
            self.settings
                .append_use_instead(query.database, database, &mut self.head);
        }
    }

    pub(super) fn print_query(&mut self, event: &LoggedEvent<'_>, query: &QueryEvent<'_>) {
        self.print_query_head(event, query);
        match self.style.direction {
            // `mariadb-binlog` prints these events as BINLOG statements, which only MariaDB understands. Here the
            // statement is executed when it is committed.
            Direction::Forward if self.is_undone_alter() => {
                for line in query.sql.split(|byte| *byte == b'\n') {
                    let _ = writeln!(self.head, "# {}", String::from_utf8_lossy(line));
                }
                return;
            }
            Direction::Forward => self.head.extend_from_slice(&query.sql),
            Direction::Back if query.sql[..] == *b"COMMIT" => self.print_start_back(),
            Direction::Back if query.sql[..] == *b"BEGIN" => self.head.extend_from_slice(b"COMMIT"),
            Direction::Back => return,
        }
        let _ = writeln!(self.head, "\n{DELIMITER}");
    }

    /// Prints the beginning of the transaction that undoes another one. It corresponds to the end of that transaction.
    pub(super) fn print_start_back(&mut self) {
        if self.is_local {
            self.print_log_off();
        }
        self.head.extend_from_slice(b"START TRANSACTION");
    }

    fn is_undone_alter(&self) -> bool {
        matches!(self.alter_phase, Some(AlterPhase::Start | AlterPhase::Rollback))
    }

    /// Prints what precedes a statement's text.
    pub(super) fn print_query_head(&mut self, event: &LoggedEvent<'_>, query: &QueryEvent<'_>) {
        let text = format!(
            "\t{}\tthread_id={}\texec_time={}\terror_code={}\txid={}\n",
            event.header().event_type.name(),
            query.connection_id,
            query.execution_seconds,
            query.error_code,
            query.xid().unwrap_or(0)
        );
        self.print_header(event, &text);
        let keyword = is_transaction_keyword(&query.sql);
        if event.header().flags.contains(EventFlags::SUPPRESS_USE) || keyword {
            if !keyword {
                self.settings.forget_database();
            }
        } else {
            self.settings.append_use(query.database, &mut self.head);
        }
        let thread = if self.style.short {
            999_999_999
        } else {
            query.connection_id
        };
        self.settings
            .append(event.header(), query, thread, &mut self.head);
    }
}

/// Returns whether a statement is allowed with `--flashback`: it only delimits row changes.
pub(super) fn has_inverse(sql: &[u8]) -> bool {
    let frames = sql.eq_ignore_ascii_case(b"BEGIN") || sql.eq_ignore_ascii_case(b"COMMIT");
    frames
        || sql
            .get(..9)
            .is_some_and(|head| head.eq_ignore_ascii_case(b"SAVEPOINT"))
}

/// Returns whether a statement only begins, ends or structures a transaction. Such a statement does not depend on a
/// database.
pub(super) fn is_transaction_keyword(sql: &[u8]) -> bool {
    let starts = |word: &[u8]| {
        sql.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    sql.eq_ignore_ascii_case(b"BEGIN")
        || sql.eq_ignore_ascii_case(b"COMMIT")
        || starts(b"SAVEPOINT")
        || starts(b"ROLLBACK")
        || starts(b"XA ")
}

fn alter_text(gtid: &GtidEvent<'_>) -> String {
    let last = gtid.extra.last_chunk();
    let id = last.map_or(0, |bytes: &[u8; 8]| u64::from_le_bytes(*bytes));
    match gtid.alter_phase() {
        None => String::new(),
        Some(AlterPhase::Start) => " START ALTER".into(),
        Some(AlterPhase::Commit) => format!(" COMMIT ALTER id= {id}"),
        Some(AlterPhase::Rollback) => format!(" ROLLBACK ALTER id= {id}"),
    }
}

/// Returns an XA transaction's name as a literal.
pub(super) fn xa_text(xa: &XaName<'_>) -> String {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    format!(
        "X'{}',X'{}',{}",
        hex(xa.global_id),
        hex(xa.branch_qualifier),
        xa.format_id
    )
}
