//! `--verify`: reads whole files and reports the first error in them.
//!
//! Errors are: a wrong checksum, length or position in an event's header; a body that its type does not allow; rows
//! that do not match their table map; an event outside an event group, or a group that does not end; a GTID that is not
//! greater than all earlier ones of its domain; a file that does not continue where the previous one ended. Gaps in a
//! domain's numbers and an incomplete end of a file that its server has not closed are legal and only reported.

use super::column::MappedTable;
use super::error::{Error, Result};
use super::rows_text::count_rows;
use super::source::{Checksums, EventFile, EventSource, FileLocations, LoggedEvent};
use paceline_binlog::GtidState;
use paceline_binlog::event::{BlockKind, Event, EventFlags, EventType, GtidFlags, GtidListEvent, TableId};
use paceline_types::Gtid;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Maximum number of gaps that are reported individually. Further ones are only counted.
const HOLES_SHOWN_MAX: u64 = 20;

/// Reads the files, oldest first, and prints a report.
///
/// # Errors
/// [`Error::Event`] for the first error.
pub fn verify(locations: &FileLocations, files: &[PathBuf], out: &mut dyn Write) -> Result<()> {
    let mut verifier = Verifier::default();
    for path in files {
        verifier.verify_file(locations, path, out)?;
    }
    let Counts {
        events,
        transactions,
        rows,
        bytes,
        holes,
    } = verifier.counts;
    writeln!(
        out,
        "{} files, {bytes} bytes, {events} events, {transactions} transactions, {rows} rows: no damage",
        files.len()
    )?;
    writeln!(out, "GTID position at the end: {}", verifier.state.position())?;
    writeln!(out, "holes in the numbers: {holes}")?;
    Ok(())
}

#[derive(Debug, Default)]
struct Counts {
    events: u64,
    transactions: u64,
    rows: u64,
    bytes: u64,
    holes: u64,
}

/// An event group that has begun but not ended.
#[derive(Debug)]
struct OpenGroup {
    gtid: Gtid,
    standalone: bool,
}

#[derive(Debug, Default)]
struct Verifier {
    counts: Counts,
    state: GtidState,
    /// True if a file has been read, so that the next one must continue from the state.
    follows: bool,
    /// Name of the next file according to the last one.
    next_file: Option<OsString>,
    group: Option<OpenGroup>,
    tables: HashMap<TableId, MappedTable>,
    /// Files that LOAD DATA in the open group may read.
    load_files: HashSet<u32>,
}

impl Verifier {
    fn verify_file(&mut self, locations: &FileLocations, path: &Path, out: &mut dyn Write) -> Result<()> {
        let problem = |offset: u64, problem: String| Error::Event {
            file: path.to_owned(),
            offset,
            problem,
        };
        if let Some(expected) = self.next_file.take()
            && path.file_name() != Some(&expected)
        {
            let expected = expected.to_string_lossy().into_owned();
            return Err(problem(
                0,
                format!("the log continues in '{expected}', not in this file"),
            ));
        }
        let mut file = EventFile::open(locations, path, Checksums::Verify)?;
        let (mut first, mut end, mut in_use) = (true, 4, false);
        while let Some(event) = file.next_event()? {
            let is_format = event.header().event_type == EventType::FORMAT_DESCRIPTION;
            if first && !is_format {
                return Err(problem(
                    event.offset,
                    "the file does not start with a Format_desc event".into(),
                ));
            }
            if is_format {
                in_use = event.header().flags.contains(EventFlags::BINLOG_IN_USE);
            }
            first = false;
            self.check(&event, out)
                .map_err(|what| problem(event.offset, what))?;
            end = event.offset + u64::from(event.header().length);
            self.counts.events += 1;
        }
        self.counts.bytes += end;
        if let Some(group) = self.group.take() {
            let what = format!("the event group of {} does not end", group.gtid);
            if !in_use {
                return Err(problem(end, what));
            }
            writeln!(out, "'{}': {what}: the file was not closed", path.display())?;
        }
        if in_use {
            writeln!(out, "'{}': in use, or not closed properly", path.display())?;
        }
        self.follows = true;
        Ok(())
    }

    /// Checks an event. The error describes what is wrong with it.
    fn check(&mut self, event: &LoggedEvent<'_>, out: &mut dyn Write) -> Result<(), String> {
        let header = event.header();
        let end = (event.offset + u64::from(header.length)) as u32;
        let elsewhere =
            header.flags.contains(EventFlags::ARTIFICIAL) || header.flags.contains(EventFlags::RELAY_LOG);
        if header.end_position != end && !elsewhere {
            return Err(format!(
                "its header says that it ends at {}, but it ends at {end}",
                header.end_position
            ));
        }
        let decoded = event.decode().map_err(|error| error.to_string())?;
        let is_part_of_group = matches!(&decoded, Event::Ignorable(record) if record.is_part_of_group());
        let is_control = header.event_type.is_control() && !is_part_of_group;
        let decoded = event.rows_of(decoded).map_err(|error| error.to_string())?;
        if is_control && self.group.is_some() {
            return Err(format!("{} event inside an event group", header.event_type));
        }
        match decoded {
            Event::GtidList(list) => self.check_list(&list),
            Event::Rotate(rotate) => {
                let name = String::from_utf8_lossy(rotate.file_name).into_owned();
                self.next_file = Some(name.into());
                Ok(())
            }
            Event::Gtid(gtid) => {
                if let Some(open) = &self.group {
                    return Err(format!("{} begins, but {} has not ended", gtid.gtid, open.gtid));
                }
                self.group = Some(OpenGroup {
                    gtid: gtid.gtid,
                    standalone: gtid.flags.contains(GtidFlags::STANDALONE),
                });
                self.check_gtid(gtid.gtid, out)
            }
            _ if is_control => Ok(()),
            decoded => self.check_in_group(event, &decoded),
        }
    }

    /// Checks that a file continues where the previous one ended. A domain may be missing, because it can be deleted
    /// from the state.
    fn check_list(&mut self, list: &GtidListEvent) -> Result<(), String> {
        if !self.follows {
            self.state = list.state();
            return Ok(());
        }
        for gtid in &list.gtids {
            let known = self.state.last_of(gtid.domain_id, gtid.server_id);
            if known != Some(*gtid) {
                let known = known.map_or("nothing".to_owned(), |known| known.to_string());
                return Err(format!(
                    "the file continues after {gtid}, but the previous file ended with {known}"
                ));
            }
        }
        self.state = list.state();
        Ok(())
    }

    fn check_gtid(&mut self, gtid: Gtid, out: &mut dyn Write) -> Result<(), String> {
        if let Some(highest) = self.state.highest_sequence(gtid.domain_id) {
            if gtid.sequence <= highest {
                return Err(format!(
                    "{gtid} is out of order: the domain is already at {highest}"
                ));
            }
            let missing = gtid.sequence.0 - highest.0 - 1;
            if missing > 0 {
                self.counts.holes += 1;
                if self.counts.holes <= HOLES_SHOWN_MAX {
                    writeln!(out, "hole of {missing} before {gtid}").map_err(|error| error.to_string())?;
                }
            }
        }
        self.state.update(gtid);
        self.counts.transactions += 1;
        Ok(())
    }

    fn check_in_group(&mut self, event: &LoggedEvent<'_>, decoded: &Event<'_>) -> Result<(), String> {
        let Some(group) = &self.group else {
            return Err(format!(
                "{} event outside an event group",
                event.header().event_type
            ));
        };
        let ends = match decoded {
            Event::Xid(_) | Event::XaPrepare(_) => true,
            Event::Query(query) => group.standalone || query.ends_group(),
            Event::Incident(_) => group.standalone,
            Event::FileBlock(block) => {
                let begins = block.kind == BlockKind::First;
                if begins {
                    self.load_files.insert(block.file_id);
                } else if !self.load_files.contains(&block.file_id) {
                    return Err(format!(
                        "block of file {}, whose first block is not in the event group",
                        block.file_id
                    ));
                }
                false
            }
            Event::ExecuteLoadQuery(load) => {
                if !self.load_files.remove(&load.file_id) {
                    return Err(format!(
                        "LOAD DATA reads file {}, which is not in the event group",
                        load.file_id
                    ));
                }
                group.standalone
            }
            Event::DeleteFile(delete) => {
                self.load_files.remove(&delete.file_id);
                group.standalone
            }
            Event::TableMap(map) => {
                let table = MappedTable::of(map).ok_or("table map with unknown column types")?;
                self.tables.insert(map.table_id, table);
                false
            }
            Event::Rows(rows) => {
                if let Some(table) = self.tables.get(&rows.table_id) {
                    if table.columns.len() != rows.columns {
                        return Err(format!(
                            "rows with {} columns for a table with {}",
                            rows.columns,
                            table.columns.len()
                        ));
                    }
                    let count = count_rows(table, rows).map_err(|_| "its rows do not match its table map")?;
                    self.counts.rows += count;
                } else if rows.table_id != TableId::DUMMY {
                    return Err(format!("rows of table {} without a table map", rows.table_id.0));
                }
                if rows.flags.ends_statement() {
                    self.tables.clear();
                }
                false
            }
            _ => false,
        };
        if ends {
            self.group = None;
            self.load_files.clear();
        }
        Ok(())
    }
}
