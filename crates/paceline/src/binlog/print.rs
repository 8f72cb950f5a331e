//! Events as `mariadb-binlog` prints them: text that restores the log when a client runs it.
//!
//! Rows are printed as one BINLOG statement for each SQL statement that changed them: its table maps and rows events are
//! collected until the last one, with their headers before it and their readable form behind it.
//!
//! ```text
//!  # at 414                      as each event comes
//!  #261122 … Table_map …         head: comments
//!  BINLOG '…'/*!*/;              body: encoded events
//!  ### UPDATE …                  tail: with -v
//! ```
//! The settings of a session are printed where they differ from those of the statement before ([`super::settings`]).

use super::column::MappedTable;
use super::error::{Error, Result};
use super::flashback::{EndsStatement, Undone, inverse, set_end_of_statement};
use super::hexdump::append_hexdump;
use super::options::{EncodedOutput, Options, Verbosity};
use super::rows_text::{append_rows, count_rows, escaped_name};
use super::settings::Settings;
use super::source::{Checksums, LoggedEvent};
use super::user_variable::append_user_variable;
use paceline_binlog::event::{
    CHECKSUM_LENGTH, ChecksumAlgorithm, Event, EventFlags, EventStamp, EventType, GtidEvent, GtidFlags,
    IntvarKind, QueryEvent, RowsCompression, RowsEvent, RowsKind, TableId, TableMapEvent, XaName,
    encode_event, set_end_position,
};
use paceline_types::base64::append_base64_lines;
use paceline_types::{DateTime, DomainId, ServerId, TimeZone};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// What ends each statement, so that semicolons in a statement's text do not.
pub const DELIMITER: &str = "/*!*/;";

/// Encoded events that fit one statement: MariaDB's limit, a quarter of its longest packet.
const STATEMENT_BYTES_MAX: usize = 256 << 20;

/// Where an event's length stands in its header.
const LENGTH_OFFSET: usize = 9;

/// Extra flags of a Gtid event: the two phases of an ALTER TABLE.
const EXTRA_START_ALTER: u8 = 2;
const EXTRA_COMMIT_ALTER: u8 = 4;
const EXTRA_ROLLBACK_ALTER: u8 = 8;

/// Which way a log is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// As it is.
    Forward,
    /// `--flashback`: what undoes it, the newest first. What only tells of the log comes before all of that.
    Back,
}

/// The part of the options that says how things are printed.
#[derive(Clone, Debug)]
struct Style {
    direction: Direction,
    encoded: EncodedOutput,
    verbosity: Verbosity,
    short: bool,
    hexdump: bool,
    positions: bool,
    row_counts: bool,
    annotations: bool,
    database: Option<Vec<u8>>,
    table: Option<Vec<u8>>,
}

/// The text of a statement whose rows follow.
#[derive(Debug, Default)]
struct Annotation {
    header: Vec<u8>,
    /// The event, where its bytes are to be shown.
    dumped: Vec<u8>,
    text: Vec<u8>,
}

/// Prints the events of one file.
pub struct Printer<'o> {
    out: &'o mut dyn Write,
    style: Style,
    time_zone: TimeZone,
    settings: Settings,
    head: Vec<u8>,
    body: Vec<u8>,
    tail: Vec<u8>,
    /// Rows of the current statement, if any of its events is printed.
    rows: Option<u64>,
    /// The statement whose rows follow, not printed before the first of its tables is.
    annotation: Annotation,
    tables: HashMap<TableId, Option<MappedTable>>,
    ignored: HashSet<TableId>,
    domain: Option<DomainId>,
    server: Option<ServerId>,
    parallel: Option<bool>,
    skip_replication: bool,
    format_printed: bool,
    /// With [`Direction::Back`]: the inverses of the current statement's rows events, and what each event has become so far.
    inverses: Vec<Vec<u8>>,
    undone: Undone,
}

/// What is printed before the first file.
pub fn write_prologue(options: &Options, out: &mut dyn Write) -> Result<()> {
    out.write_all(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n")?;
    out.write_all(b"/*!40019 SET @@session.max_delayed_threads=0*/;\n")?;
    if options.disable_log_bin {
        out.write_all(b"/*!32316 SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0*/;\n")?;
    }
    out.write_all(b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n")?;
    if let Some(charset) = &options.set_charset {
        out.write_all(
            b"\n/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n\
              /*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;\n\
              /*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;\n",
        )?;
        writeln!(out, "/*!40101 SET NAMES {charset} */;")?;
    }
    Ok(())
}

/// Whether GTIDs decided what was printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// They did: the session is given its own ids back.
    ByGtid,
    /// They did not.
    Other,
}

/// What is printed behind the last file.
pub fn write_epilogue(options: &Options, selection: Selection, out: &mut dyn Write) -> Result<()> {
    out.write_all(b"# End of log file\nROLLBACK /* added by mysqlbinlog */;\n")?;
    out.write_all(b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n")?;
    if options.disable_log_bin {
        out.write_all(b"/*!32316 SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN*/;\n")?;
    }
    if options.set_charset.is_some() {
        out.write_all(
            b"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n\
              /*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;\n\
              /*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;\n",
        )?;
    }
    out.write_all(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n")?;
    if selection == Selection::ByGtid {
        out.write_all(b"/*!100001 SET @@SESSION.SERVER_ID=@@GLOBAL.SERVER_ID */;\n")?;
        out.write_all(b"/*!100001 SET @@SESSION.GTID_DOMAIN_ID=@@GLOBAL.GTID_DOMAIN_ID */;\n")?;
    }
    Ok(())
}

impl<'o> Printer<'o> {
    /// For one file: what a session was told before is forgotten.
    pub fn begin(options: &Options, out: &'o mut dyn Write) -> Result<Self> {
        writeln!(out, "DELIMITER {DELIMITER}")?;
        let bytes = |name: &Option<String>| name.as_ref().map(|name| name.clone().into_bytes());
        Ok(Printer {
            out,
            style: Style {
                direction: options.direction(),
                encoded: options.base64_output,
                verbosity: options.verbosity(),
                short: options.short_form,
                hexdump: options.hexdump,
                positions: !options.skip_print_row_event_positions,
                row_counts: !options.skip_print_row_count && !options.short_form,
                annotations: !options.skip_annotate_row_events,
                database: bytes(&options.database),
                table: bytes(&options.table),
            },
            time_zone: TimeZone::system(),
            settings: Settings::default(),
            head: Vec::new(),
            body: Vec::new(),
            tail: Vec::new(),
            rows: None,
            annotation: Annotation::default(),
            tables: HashMap::new(),
            ignored: HashSet::new(),
            domain: None,
            server: None,
            parallel: None,
            skip_replication: false,
            format_printed: false,
            inverses: Vec::new(),
            undone: Undone::default(),
        })
    }

    /// Ends the file's part.
    pub fn end(self) -> Result<Undone> {
        if self.style.direction == Direction::Forward {
            self.out.write_all(b"DELIMITER ;\n")?;
        }
        Ok(self.undone)
    }

    /// Hands on what was printed.
    pub fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// Whether rows and formats are printed encoded.
    fn encodes(&self) -> bool {
        self.style.encoded == EncodedOutput::Auto && !self.style.short
    }

    fn skips_database(&self, name: &[u8]) -> bool {
        self.style.database.as_deref().is_some_and(|only| only != name)
    }

    fn skips_table(&self, name: &[u8]) -> bool {
        self.style.table.as_deref().is_some_and(|only| only != name)
    }

    /// Prints an event.
    ///
    /// # Errors
    /// [`Error::Output`]; [`Error::NeedsEncoding`]; [`Error::Event`] for one whose body is malformed, without its file.
    pub fn print(&mut self, event: &LoggedEvent<'_>) -> Result<()> {
        let event_type = event.header().event_type;
        let shows_place = self.style.positions && !self.style.short;
        if shows_place && self.style.direction == Direction::Forward {
            writeln!(self.out, "# at {}", event.offset)?;
        }
        let decoded = event.decode().map_err(|error| Error::Event {
            file: Default::default(),
            offset: event.offset,
            problem: error.to_string(),
        })?;
        match &decoded {
            Event::AnnotateRows(annotate) => {
                if self.style.annotations {
                    self.keep_annotation(event, annotate.sql);
                }
                return Ok(());
            }
            Event::TableMap(map) => return self.print_table_map(event, map),
            Event::Rows(rows) => return self.print_rows(event, rows),
            Event::Query(query)
                if !is_transaction_keyword(&query.sql) && self.skips_database(query.database) =>
            {
                return Ok(());
            }
            Event::FormatDescription(_) => {}
            Event::Query(query) if self.style.direction == Direction::Back && !has_inverse(&query.sql) => {
                return Err(Error::NoInverse {
                    sql: String::from_utf8_lossy(&query.sql).into_owned(),
                });
            }
            _ => self.print_skip_replication(event)?,
        }
        match decoded {
            Event::FormatDescription(format) => {
                let at_startup = if format.created != 0 { " at startup" } else { "" };
                let text = format!(
                    "\tStart: binlog v {}, server v {} created {}{at_startup}\n",
                    format.binlog_version,
                    format.server_version,
                    self.local_time(event)
                );
                self.print_header(event, &text);
                if !self.style.short && event.header().flags.contains(EventFlags::BINLOG_IN_USE) {
                    self.head.extend_from_slice(
                        b"# Warning: this binlog is either in use or was not closed properly.\n",
                    );
                }
                if format.created != 0 && !event.header().flags.contains(EventFlags::ARTIFICIAL) {
                    let _ = writeln!(self.head, "ROLLBACK{DELIMITER}");
                }
                if self.style.encoded != EncodedOutput::Never && !self.style.short {
                    if self.encodes() {
                        let mut statement = b"BINLOG '\n".to_vec();
                        append_base64_lines(event.raw.bytes(), &mut statement);
                        let _ = writeln!(statement, "'{DELIMITER}");
                        self.head.extend_from_slice(&statement);
                        self.undone.set_format(format.checksum, statement);
                    }
                    self.format_printed = true;
                }
                self.settings.set_format(&format);
            }
            Event::Gtid(gtid) => self.print_gtid(event, &gtid),
            Event::Query(query) => self.print_query(event, &query),
            Event::Xid(xid) => {
                self.print_header(event, &format!("\tXid = {}\n", xid.xid));
                let statement = match self.style.direction {
                    Direction::Forward => "COMMIT",
                    Direction::Back => "START TRANSACTION",
                };
                let _ = writeln!(self.head, "{statement}{DELIMITER}");
            }
            Event::XaPrepare(prepare) => {
                let name = xa_text(&prepare.xa);
                self.print_header(event, &format!("\tXID = {name}\n"));
                let _ = writeln!(self.head, "XA PREPARE {name}\n{DELIMITER}");
            }
            Event::Intvar(intvar) => {
                self.print_header(event, "\tIntvar\n");
                let name = match intvar.kind {
                    IntvarKind::LastInsertId => "LAST_INSERT_ID",
                    IntvarKind::InsertId => "INSERT_ID",
                };
                // MariaDB prints the number with a sign.
                let _ = writeln!(self.head, "SET {name}={}{DELIMITER}", intvar.value as i64);
            }
            Event::Rand(rand) => {
                self.print_header(event, "\tRand\n");
                let _ = writeln!(
                    self.head,
                    "SET @@RAND_SEED1={}, @@RAND_SEED2={}{DELIMITER}",
                    rand.seed1 as i64, rand.seed2 as i64
                );
            }
            Event::UserVar(variable) => {
                self.print_header(event, "\tUser_var\n");
                append_user_variable(&variable, &mut self.head);
                let _ = writeln!(self.head, "{DELIMITER}");
            }
            Event::Rotate(rotate) => {
                let file = String::from_utf8_lossy(rotate.file_name).into_owned();
                self.print_header(event, &format!("\tRotate to {file}  pos: {}\n", rotate.position));
            }
            Event::Stop => self.print_header(event, "\tStop\n"),
            Event::BinlogCheckpoint(checkpoint) => {
                let file = String::from_utf8_lossy(checkpoint.file_name).into_owned();
                self.print_header(event, &format!("\tBinlog checkpoint {file}\n"));
            }
            Event::GtidList(list) => {
                let mut gtids = list.gtids;
                gtids.sort();
                let texts: Vec<_> = gtids.iter().map(ToString::to_string).collect();
                self.print_header(event, &format!("\tGtid list [{}]\n", texts.join(",\n# ")));
            }
            Event::Ignorable(_) => self.print_header(
                event,
                "\tIgnorable\n# Ignorable event type 28 (Ignorable log event)\n",
            ),
            Event::Incident(_) => self.print_header(
                event,
                "\n# Incident: LOST_EVENTS\nRELOAD DATABASE; # Shall generate syntax error\n",
            ),
            _ if event.header().flags.contains(EventFlags::IGNORABLE) => {
                let code = event.header().event_type.0;
                let name = event.header().event_type.name();
                self.print_header(
                    event,
                    &format!("\tIgnorable\n# Ignorable event type {code} ({name})\n"),
                );
            }
            _ => self.print_header(event, "\n# Unknown event\n"),
        }
        if self.style.direction == Direction::Back {
            let held = match event_type {
                EventType::GTID | EventType::QUERY | EventType::QUERY_COMPRESSED | EventType::XID => {
                    Some(self.undone.next_text())
                }
                EventType::STOP => Some(self.undone.stop_text()),
                _ => None,
            };
            if let Some(held) = held {
                std::mem::swap(held, &mut self.head);
                self.head.clear();
            }
        }
        self.flush_head()
    }

    fn flush_head(&mut self) -> Result<()> {
        self.out.write_all(&self.head)?;
        self.head.clear();
        Ok(())
    }

    fn local_time(&self, event: &LoggedEvent<'_>) -> String {
        let DateTime {
            date,
            hour,
            minute,
            second,
            ..
        } = self.time_zone.to_local(i64::from(event.header().timestamp));
        let (year, month, day) = (date.year % 100, date.month, date.day);
        format!("{year:02}{month:02}{day:02} {hour:2}:{minute:02}:{second:02}")
    }

    /// An event's header as a comment, up to what its kind adds.
    fn header_text(&self, event: &LoggedEvent<'_>) -> String {
        let header = event.header();
        let checksum = event
            .checksum()
            .map_or(String::new(), |checksum| format!("CRC32 0x{checksum:08x} "));
        format!(
            "#{} server id {}  end_log_pos {} {checksum}",
            self.local_time(event),
            header.server_id,
            header.end_position
        )
    }

    fn print_header(&mut self, event: &LoggedEvent<'_>, rest: &str) {
        self.print_header_of(event, event.raw.bytes(), rest);
    }

    /// As [`Printer::print_header`], with other bytes to be shown.
    fn print_header_of(&mut self, event: &LoggedEvent<'_>, bytes: &[u8], rest: &str) {
        if !self.style.short {
            let header = self.header_text(event);
            self.head.extend_from_slice(header.as_bytes());
            if self.style.hexdump {
                append_hexdump(event.offset, bytes, &mut self.head);
            }
            self.head.extend_from_slice(rest.as_bytes());
        }
    }

    fn print_skip_replication(&mut self, event: &LoggedEvent<'_>) -> Result<()> {
        let skip = event.header().flags.contains(EventFlags::SKIP_REPLICATION);
        if skip != self.skip_replication {
            writeln!(
                self.out,
                "/*!50521 SET skip_replication={}*/{DELIMITER}",
                u8::from(skip)
            )?;
            self.skip_replication = skip;
        }
        Ok(())
    }

    fn print_gtid(&mut self, event: &LoggedEvent<'_>, gtid: &GtidEvent<'_>) {
        let has = |flag| gtid.flags.contains(flag);
        if self.style.direction == Direction::Back {
            // What undoes a transaction is another transaction, whose end is this one's beginning.
            if !has(GtidFlags::STANDALONE) {
                let _ = writeln!(self.head, "COMMIT\n{DELIMITER}");
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
            text.push_str(&alter_text(gtid.extra));
            text.push('\n');
            self.print_header(event, &text);
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

    fn print_query(&mut self, event: &LoggedEvent<'_>, query: &QueryEvent<'_>) {
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
        match self.style.direction {
            Direction::Forward => self.head.extend_from_slice(&query.sql),
            Direction::Back if query.sql[..] == *b"COMMIT" => {
                self.head.extend_from_slice(b"START TRANSACTION")
            }
            Direction::Back if query.sql[..] == *b"BEGIN" => self.head.extend_from_slice(b"COMMIT"),
            Direction::Back => return,
        }
        let _ = writeln!(self.head, "\n{DELIMITER}");
    }

    fn keep_annotation(&mut self, event: &LoggedEvent<'_>, sql: &[u8]) {
        self.annotation = Annotation {
            header: match self.style.short {
                true => b"# Annotate_rows:\n".to_vec(),
                false => self.header_text(event).into_bytes(),
            },
            dumped: match self.style.hexdump && !self.style.short {
                true => event.raw.bytes().to_vec(),
                false => Vec::new(),
            },
            text: Vec::new(),
        };
        let text = &mut self.annotation.text;
        if !self.style.short {
            text.extend_from_slice(b"\tAnnotate_rows:\n");
        }
        let lines = sql.split(|byte| matches!(byte, b'\r' | b'\n'));
        for line in lines.filter(|line| !line.is_empty()) {
            text.extend_from_slice(b"#Q> ");
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }

    /// Prints the statement whose first table map stands at that offset. MariaDB's program shows its bytes as if they stood there.
    fn print_annotation(&mut self, offset: u64) {
        let Annotation { header, dumped, text } = std::mem::take(&mut self.annotation);
        self.head.extend_from_slice(&header);
        if !dumped.is_empty() {
            append_hexdump(offset, &dumped, &mut self.head);
        }
        self.head.extend_from_slice(&text);
    }

    fn needs_format(&self, event: &LoggedEvent<'_>) -> Result<()> {
        let decodes = self.style.encoded == EncodedOutput::DecodeRows;
        if self.format_printed || self.style.short || decodes {
            return Ok(());
        }
        Err(Error::NeedsEncoding(event.header().event_type.name()))
    }

    fn print_table_map(&mut self, event: &LoggedEvent<'_>, map: &TableMapEvent<'_>) -> Result<()> {
        const FLAG_HAS_TRIGGERS: u16 = 1 << 14;
        if self.skips_database(map.database) || self.skips_table(map.table) {
            self.ignored.insert(map.table_id);
            return Ok(());
        }
        self.ignored.remove(&map.table_id);
        self.print_annotation(event.offset);
        self.needs_format(event)?;
        let triggers = if map.flags & FLAG_HAS_TRIGGERS != 0 {
            " (has triggers)"
        } else {
            ""
        };
        if !self.style.short {
            self.print_header(event, "\tTable_map: `");
            self.head.extend_from_slice(&escaped_name(map.database));
            self.head.extend_from_slice(b"`.`");
            self.head.extend_from_slice(&escaped_name(map.table));
            let _ = writeln!(self.head, "` mapped to number {}{triggers}", map.table_id.0);
            self.tables.insert(map.table_id, MappedTable::of(map));
            if self.encodes() {
                append_base64_lines(event.raw.bytes(), &mut self.body);
            }
        }
        self.flush_head()
    }

    fn print_rows(&mut self, event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) -> Result<()> {
        let last = rows.flags.ends_statement();
        if !self.ignored.contains(&rows.table_id) {
            self.needs_format(event)?;
            match self.style.direction {
                Direction::Forward => self.collect_rows(event, rows),
                Direction::Back => self.invert_rows(event, rows)?,
            }
        }
        if last {
            self.ignored.clear();
            self.annotation = Annotation::default();
            self.collect_inverses(event)?;
            if self.style.direction == Direction::Forward {
                self.flush_head()?;
            }
            let mut text = std::mem::take(&mut self.head);
            if !self.body.is_empty() {
                append_binlog_statement(&self.body, &mut text);
            }
            text.append(&mut self.tail);
            match self.style.direction {
                Direction::Forward => self.out.write_all(&text)?,
                Direction::Back => *self.undone.next_text() = text,
            }
            if let Some(rows) = self.rows.take()
                && self.style.row_counts
            {
                writeln!(self.out, "# Number of rows: {rows}")?;
            }
            self.body.clear();
        }
        Ok(())
    }

    /// Keeps what undoes a rows event until its statement ends: the last one comes first.
    fn invert_rows(&mut self, event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) -> Result<()> {
        let problem = |problem: String| Error::Event {
            file: Default::default(),
            offset: event.offset,
            problem,
        };
        let Some(Some(table)) = self.tables.get(&rows.table_id) else {
            return match rows.rows.is_empty() {
                true => Ok(()),
                false => Err(problem("rows of a table that no table map names".into())),
            };
        };
        let bytes = match rows.compression {
            RowsCompression::Plain => Cow::Borrowed(event.raw.bytes()),
            RowsCompression::Compressed => Cow::Owned(uncompressed(event, rows)),
        };
        let checksum = event.format.checksum;
        let inverse = inverse(rows, &bytes, checksum, table).map_err(problem)?;
        self.inverses.push(inverse);
        Ok(())
    }

    fn collect_inverses(&mut self, event: &LoggedEvent<'_>) -> Result<()> {
        let mut inverses = std::mem::take(&mut self.inverses);
        inverses.reverse();
        let count = inverses.len();
        for (number, bytes) in inverses.iter_mut().enumerate() {
            let ends = match number + 1 == count {
                true => EndsStatement::Yes,
                false => EndsStatement::No,
            };
            set_end_of_statement(bytes, ends);
            let problem = |problem: paceline_binlog::Error| Error::Event {
                file: Default::default(),
                offset: event.offset,
                problem: problem.to_string(),
            };
            let inverse =
                LoggedEvent::new(event.offset, bytes, event.format, Checksums::Ignore).map_err(problem)?;
            if let Event::Rows(rows) = inverse.decode().map_err(problem)? {
                self.collect_rows(&inverse, &rows);
            }
        }
        Ok(())
    }

    fn collect_rows(&mut self, event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) {
        if self.style.short {
            return;
        }
        let flags = match rows.flags.ends_statement() {
            true => " flags: STMT_END_F",
            false => "",
        };
        let name = match (rows.kind, rows.compression) {
            (RowsKind::Write, RowsCompression::Plain) => "Write_rows",
            (RowsKind::Update, RowsCompression::Plain) => "Update_rows",
            (RowsKind::Delete, RowsCompression::Plain) => "Delete_rows",
            (RowsKind::Write, RowsCompression::Compressed) => "Write_compressed_rows",
            (RowsKind::Update, RowsCompression::Compressed) => "Update_compressed_rows",
            (RowsKind::Delete, RowsCompression::Compressed) => "Delete_compressed_rows",
        };
        let plain = match rows.compression {
            RowsCompression::Plain => Cow::Borrowed(event.raw.bytes()),
            RowsCompression::Compressed => Cow::Owned(uncompressed(event, rows)),
        };
        let rest = format!("\t{name}: table id {}{flags}\n", rows.table_id.0);
        self.print_header_of(event, &plain, &rest);
        if self.encodes() {
            append_base64_lines(&plain, &mut self.body);
        }
        let count = self.rows.get_or_insert(0);
        let Some(Some(table)) = self.tables.get(&rows.table_id) else {
            if self.style.verbosity != Verbosity::Quiet {
                let _ = write!(self.tail, "### Row event for unknown table #{}", rows.table_id.0);
            }
            return;
        };
        *count += count_rows(table, rows).unwrap_or(0);
        if self.style.verbosity != Verbosity::Quiet {
            append_rows(table, rows, self.style.verbosity, &mut self.tail);
        }
    }
}

/// Appends a BINLOG statement of encoded events. What is too long for one packet goes into two variables, as `mariadb-binlog` does it.
fn append_binlog_statement(encoded: &[u8], out: &mut Vec<u8>) {
    if encoded.len() <= STATEMENT_BYTES_MAX {
        out.extend_from_slice(b"\nBINLOG '\n");
        out.extend_from_slice(encoded);
        let _ = writeln!(out, "'{DELIMITER}");
        return;
    }
    let (first, second) = encoded.split_at(encoded.len() / 2 + 1);
    for (number, fragment) in [first, second].into_iter().enumerate() {
        let _ = write!(out, "\nSET @binlog_fragment_{number} ='\n");
        out.extend_from_slice(fragment);
        let _ = writeln!(out, "'{DELIMITER}");
    }
    let _ = writeln!(out, "BINLOG @binlog_fragment_0, @binlog_fragment_1{DELIMITER}");
}

/// Whether something undoes a statement: what only frames rows.
fn has_inverse(sql: &[u8]) -> bool {
    let frames = sql.eq_ignore_ascii_case(b"BEGIN") || sql.eq_ignore_ascii_case(b"COMMIT");
    frames
        || sql
            .get(..9)
            .is_some_and(|head| head.eq_ignore_ascii_case(b"SAVEPOINT"))
}

/// A compressed rows event as it would be without compression, at the same place.
fn uncompressed(event: &LoggedEvent<'_>, rows: &RowsEvent<'_>) -> Vec<u8> {
    let header = event.header();
    let plain = RowsEvent {
        compression: RowsCompression::Plain,
        ..rows.clone()
    };
    let stamp = EventStamp {
        timestamp: header.timestamp,
        server_id: header.server_id,
        flags: header.flags,
    };
    let mut bytes = Vec::new();
    encode_event(&mut bytes, &stamp, 0, &plain);
    set_end_position(&mut bytes, header.end_position);
    if event.format.checksum == ChecksumAlgorithm::None {
        let length = bytes.len() - CHECKSUM_LENGTH;
        bytes.truncate(length);
        bytes[LENGTH_OFFSET..LENGTH_OFFSET + 4].copy_from_slice(&(length as u32).to_le_bytes());
    }
    bytes
}

/// Whether a statement only begins, ends or structures a transaction: it belongs to no database.
pub fn is_transaction_keyword(sql: &[u8]) -> bool {
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

fn alter_text(extra: &[u8]) -> String {
    let flags = extra.first().copied().unwrap_or(0);
    let id = extra
        .last_chunk()
        .map_or(0, |bytes: &[u8; 8]| u64::from_le_bytes(*bytes));
    let mut text = String::new();
    if flags & EXTRA_START_ALTER != 0 {
        text.push_str(" START ALTER");
    }
    if flags & EXTRA_COMMIT_ALTER != 0 {
        text.push_str(&format!(" COMMIT ALTER id= {id}"));
    }
    if flags & EXTRA_ROLLBACK_ALTER != 0 {
        text.push_str(&format!(" ROLLBACK ALTER id= {id}"));
    }
    text
}

/// An XA transaction's name as a literal.
fn xa_text(xa: &XaName<'_>) -> String {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    format!(
        "X'{}',X'{}',{}",
        hex(xa.global_id),
        hex(xa.branch_qualifier),
        xa.format_id
    )
}
