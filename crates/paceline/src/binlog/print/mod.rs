//! Prints events as `mariadb-binlog` does: as text that restores the log when a client executes it.
//!
//! Rows are printed as one BINLOG statement for each SQL statement that changed them. Its table maps and rows events
//! are collected up to the last one. Their headers are printed before the statement, and their readable form after it.
//!
//! ```text
//!  # at 414                      printed for each event immediately
//!  #261122 … Table_map …         head: comments
//!  BINLOG '…'/*!*/;              body: encoded events
//!  ### UPDATE …                  tail: with -v
//! ```
//! Session settings are printed when they differ from those of the preceding statement ([`super::settings`]).

mod load_files;
mod rows;
mod statements;

use super::column::MappedTable;
use super::error::{Error, Result};
use super::flashback::InverseScript;
use super::hexdump::append_hexdump;
use super::options::{Direction, EncodedOutput, Options, Verbosity};
use super::rewrite::Rewrites;
use super::script::DELIMITER;
use super::settings::Settings;
use super::source::{Checksums, LoggedEvent};
use super::user_variable::append_user_variable;
use load_files::LoadFiles;
use paceline_binlog::LOCAL_DOMAIN;
use paceline_binlog::event::{AlterPhase, Event, EventFlags, EventType, IgnorableEvent, IntvarKind, TableId};
use paceline_types::base64::append_base64_lines;
use paceline_types::{DateTime, DomainId, ServerId, TimeZone};
use rows::{Annotation, encoded_in_place_of};
use statements::{has_inverse, is_transaction_keyword, xa_text};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// The options that concern the output.
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
    table_metadata: bool,
    disable_log_bin: bool,
    rewrites: Rewrites,
    database: Option<Vec<u8>>,
    table: Option<Vec<u8>>,
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
    /// Number of rows of the current statement; `None` if none of its events is printed.
    rows: Option<u64>,
    /// Text of the statement to which the next rows belong. It is printed before the first of its tables.
    annotation: Annotation,
    tables: HashMap<TableId, Option<MappedTable>>,
    ignored: HashSet<TableId>,
    domain: Option<DomainId>,
    server: Option<ServerId>,
    parallel: Option<bool>,
    /// ALTER TABLE phase of the current group.
    alter_phase: Option<AlterPhase>,
    skip_replication: bool,
    /// True if the event group was not replicated by its server ([`LOCAL_DOMAIN`]). Where the text is executed, it is
    /// not replicated either.
    is_local: bool,
    /// True if the session's binary logging is switched off.
    log_is_off: bool,
    format_printed: bool,
    /// With [`Direction::Back`]: the inverses of the current statement's rows events, and the texts of all events so
    /// far.
    inverses: Vec<Vec<u8>>,
    inverse: InverseScript,
    /// With [`Direction::Back`]: true from the record that announces a text to that text.
    skips_text: bool,
    load_files: LoadFiles,
}

impl<'o> Printer<'o> {
    /// Starts a file. Session settings are printed anew.
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
                table_metadata: options.print_table_metadata,
                disable_log_bin: options.disable_log_bin,
                rewrites: Rewrites::new(&options.rewrite_db),
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
            alter_phase: None,
            skip_replication: false,
            is_local: false,
            log_is_off: false,
            format_printed: false,
            inverses: Vec::new(),
            inverse: InverseScript::default(),
            skips_text: false,
            load_files: LoadFiles::new(options.local_load.as_deref()),
        })
    }

    /// Ends the file. Returns the texts for `--flashback`.
    pub fn end(mut self) -> Result<InverseScript> {
        if self.style.direction == Direction::Forward {
            self.is_local = false;
            self.follow_locality();
            self.flush_head()?;
            self.out.write_all(b"DELIMITER ;\n")?;
        }
        Ok(self.inverse)
    }

    pub fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// With [`Direction::Back`]: a statement with text is undone by the rows in the records beside it. Returns whether
    /// the event belongs to such a statement and is done.
    fn print_beside_text(&mut self, event: &LoggedEvent<'_>, decoded: &Event<'_>) -> Result<bool> {
        match decoded {
            // A new group. An incomplete one before it may lack its text.
            Event::Gtid(_) => {
                self.skips_text = false;
                Ok(false)
            }
            Event::Ignorable(IgnorableEvent::RowEvent { .. }) => {
                let problem = |error: paceline_binlog::Error| Error::Event {
                    file: Default::default(),
                    offset: event.offset,
                    problem: error.to_string(),
                };
                let flags = event.header().flags.without(EventFlags::IGNORABLE);
                let bytes = encoded_in_place_of(event, flags, &event.decode_rows().map_err(problem)?);
                let rows = LoggedEvent::new(event.offset, &bytes, event.format, Checksums::Ignore);
                let rows = rows.map_err(problem)?;
                self.print(&rows)?;
                Ok(true)
            }
            Event::Ignorable(IgnorableEvent::Text) => {
                self.skips_text = true;
                Ok(true)
            }
            Event::Query(_) => Ok(std::mem::take(&mut self.skips_text)),
            _ => Ok(self.skips_text),
        }
    }

    /// Returns whether rows and formats are printed in encoded form.
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
    /// [`Error::Output`]; [`Error::NeedsEncoding`]; [`Error::NoInverse`]; [`Error::Event`], without the file, if the
    /// event is malformed.
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
        if let Event::Gtid(gtid) = &decoded {
            self.is_local = gtid.gtid.domain_id == LOCAL_DOMAIN;
        }
        if self.style.direction == Direction::Back && self.print_beside_text(event, &decoded)? {
            return Ok(());
        }
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
            Event::ExecuteLoadQuery(load)
                if self.style.direction == Direction::Back && !self.skips_database(load.query.database) =>
            {
                return Err(Error::NoInverse {
                    sql: String::from_utf8_lossy(&load.query.sql).into_owned(),
                });
            }
            // With `--flashback`, LOAD DATA is refused or skipped, so no file is needed.
            Event::FileBlock(_) if self.style.direction == Direction::Back => return Ok(()),
            // All events of such a group have the flag.
            _ if self.is_local => {}
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
                        self.inverse.set_format(format.checksum, statement);
                    }
                    self.format_printed = true;
                }
                self.settings.set_format(&format);
            }
            Event::Gtid(gtid) => self.print_gtid(event, &gtid),
            Event::Query(query) => {
                self.print_rewritten_use(event, &query);
                self.print_query(event, &query);
            }
            Event::FileBlock(block) => self.print_block(event, &block)?,
            Event::ExecuteLoadQuery(load) => self.print_load(event, &load),
            Event::DeleteFile(delete) => {
                self.print_header(event, &format!("\n#Delete_file: file_id={}\n", delete.file_id));
            }
            Event::Xid(xid) => {
                self.print_header(event, &format!("\tXid = {}\n", xid.xid));
                match self.style.direction {
                    Direction::Forward => self.head.extend_from_slice(b"COMMIT"),
                    Direction::Back => self.print_start_back(),
                }
                let _ = writeln!(self.head, "{DELIMITER}");
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
                // MariaDB prints the number as signed.
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
                    Some(self.inverse.next_text())
                }
                EventType::STOP => Some(self.inverse.stop_text()),
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

    /// Returns an event's header as a comment, without the part that depends on its type.
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

    /// Like [`Printer::print_header`], but with other bytes for the hex dump.
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
}
