//! Session settings of statements. They are printed when they differ from those of the preceding statement.

use super::rows_text::escaped_name;
use super::script::DELIMITER;
use paceline_binlog::event::{EventFlags, EventHeader, FormatDescription, QueryEvent, StatusVar};
use paceline_types::Collation;
use std::io::Write;

/// Bits in a Query event's flags (MariaDB's `OPTION_…`): the variable, the meaning of a set bit, and the first version
/// with the flag.
const FLAGS: [(u32, &str, SetBit, (u32, u32)); 7] = [
    (1 << 26, "foreign_key_checks", SetBit::Off, (0, 0)),
    (1 << 14, "sql_auto_is_null", SetBit::On, (0, 0)),
    (1 << 27, "unique_checks", SetBit::Off, (0, 0)),
    (1 << 19, "autocommit", SetBit::Off, (0, 0)),
    (1 << 15, "check_constraint_checks", SetBit::Off, (0, 0)),
    (1 << 28, "sql_if_exists", SetBit::On, (10, 5)),
    (1 << 24, "explicit_defaults_for_timestamp", SetBit::On, (10, 10)),
];

/// Value of the variable if the flag's bit is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SetBit {
    On,
    Off,
}

/// Current settings of the session.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    version: (u32, u32),
    database: Vec<u8>,
    thread_id: Option<u32>,
    flags: Option<u32>,
    sql_mode: Option<u64>,
    auto_increment: Option<(u16, u16)>,
    collations: Option<(u16, u16, u16)>,
    time_zone: Option<Vec<u8>>,
    lc_time_names: Option<u16>,
    collation_database: Option<u16>,
}

/// Sets a value. Returns whether it changed.
fn changes<T: PartialEq>(slot: &mut Option<T>, value: T) -> bool {
    let changed = slot.as_ref() != Some(&value);
    *slot = Some(value);
    changed
}

impl Settings {
    /// Sets the format of the file. The server version determines the meaning of flags.
    pub fn set_format(&mut self, format: &FormatDescription) {
        self.version = format.version();
    }

    /// Forgets the default database after a statement whose text names its database.
    pub fn forget_database(&mut self) {
        self.database.clear();
    }

    /// Appends USE if the statement's default database differs from the preceding one.
    pub fn append_use(&mut self, database: &[u8], out: &mut Vec<u8>) {
        self.append_use_instead(database, database, out);
    }

    /// Like `append_use`, but uses `instead` in place of the statement's database.
    pub fn append_use_instead(&mut self, database: &[u8], instead: &[u8], out: &mut Vec<u8>) {
        if self.database != database {
            self.database = database.to_vec();
            if !database.is_empty() {
                out.extend_from_slice(b"use `");
                out.extend_from_slice(&escaped_name(instead));
                let _ = writeln!(out, "`{DELIMITER}");
            }
        }
    }

    /// Appends the settings that the statement needs.
    pub fn append(&mut self, header: &EventHeader, query: &QueryEvent<'_>, thread: u32, out: &mut Vec<u8>) {
        let mut fraction = None;
        let (mut auto_increment, mut lc_time_names, mut collation_database) = ((1, 1), 0, 0);
        let (mut flags, mut sql_mode, mut collations, mut time_zone) = (None, None, None, None);
        for var in &query.status_vars {
            match var {
                StatusVar::Flags2(value) => flags = Some(*value),
                StatusVar::SqlMode(value) => sql_mode = Some(*value),
                StatusVar::AutoIncrement { increment, offset } => auto_increment = (*increment, *offset),
                StatusVar::Charset {
                    client,
                    connection,
                    server,
                } => collations = Some((*client, *connection, *server)),
                StatusVar::TimeZone(name) if !name.is_empty() => time_zone = Some(name.to_vec()),
                StatusVar::LcTimeNames(value) => lc_time_names = *value,
                StatusVar::CharsetDatabase(value) => collation_database = *value,
                StatusVar::HrNow(value) => fraction = Some(*value),
                _ => {}
            }
        }
        // Writing to memory does not fail.
        let _ = write!(out, "SET TIMESTAMP={}", header.timestamp);
        if let Some(fraction @ 1..=999_999) = fraction {
            let _ = write!(out, ".{fraction:06}");
        }
        let _ = writeln!(out, "{DELIMITER}");
        let temporary_tables = header.flags.contains(EventFlags::THREAD_SPECIFIC);
        let other_thread = self.thread_id != Some(query.connection_id);
        if self.thread_id.is_none() || (temporary_tables && other_thread) {
            self.thread_id = Some(query.connection_id);
            let _ = writeln!(out, "SET @@session.pseudo_thread_id={thread}{DELIMITER}");
        }
        if let Some(flags) = flags {
            self.append_flags(flags, out);
        }
        if let Some(mode) = sql_mode
            && changes(&mut self.sql_mode, mode)
        {
            let _ = writeln!(out, "SET @@session.sql_mode={mode}{DELIMITER}");
        }
        if changes(&mut self.auto_increment, auto_increment) {
            let (increment, offset) = auto_increment;
            let _ = writeln!(
                out,
                "SET @@session.auto_increment_increment={increment}, @@session.auto_increment_offset={offset}{DELIMITER}"
            );
        }
        if let Some(ids) = collations
            && changes(&mut self.collations, ids)
        {
            append_collations(ids, out);
        }
        if let Some(name) = time_zone
            && changes(&mut self.time_zone, name.clone())
        {
            out.extend_from_slice(b"SET @@session.time_zone='");
            out.extend_from_slice(&name);
            let _ = writeln!(out, "'{DELIMITER}");
        }
        if changes(&mut self.lc_time_names, lc_time_names) {
            let _ = writeln!(out, "SET @@session.lc_time_names={lc_time_names}{DELIMITER}");
        }
        if changes(&mut self.collation_database, collation_database) {
            out.extend_from_slice(b"SET @@session.collation_database=");
            let _ = match collation_database {
                0 => writeln!(out, "DEFAULT{DELIMITER}"),
                id => writeln!(out, "{id}{DELIMITER}"),
            };
        }
    }

    fn append_flags(&mut self, flags: u32, out: &mut Vec<u8>) {
        let changed = self.flags.map_or(u32::MAX, |before| before ^ flags);
        self.flags = Some(flags);
        if changed == 0 {
            return;
        }
        let shown = FLAGS
            .iter()
            .filter(|(bit, _, _, since)| changed & bit != 0 && self.version >= *since);
        let mut texts: Vec<_> = shown
            .map(|(bit, name, meaning, _)| {
                let on = (flags & bit != 0) == (*meaning == SetBit::On);
                format!("@@session.{name}={}", u8::from(on))
            })
            .collect();
        // A session that replays a log may insert history rows only through row events.
        if changed == u32::MAX && self.version >= (10, 11) {
            texts.push("@@session.system_versioning_insert_history=0".to_owned());
        }
        let _ = writeln!(out, "SET {}{DELIMITER}", texts.join(", "));
    }
}

fn append_collations((client, connection, server): (u16, u16, u16), out: &mut Vec<u8>) {
    let charset = Collation::from_id(client).map(|collation| collation.charset().name());
    let _ = match charset {
        Some(name) => writeln!(out, "/*!\\C {name} */{DELIMITER}"),
        None => write!(out, "# Ignored (Unknown charset) "),
    };
    let name = charset.unwrap_or("Unknown");
    let _ = writeln!(
        out,
        "SET @@session.character_set_client={name},@@session.collation_connection={connection},\
         @@session.collation_server={server}{DELIMITER}"
    );
}
