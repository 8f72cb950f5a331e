//! The settings in a Query event: each a code of one byte and a value, in the order in which the primary wrote them.
//! Codes up to 13 are those of MySQL 5.x and MariaDB, 14 to 20 of MySQL 8, and from 128 of MariaDB only
//! (log_event.h).

use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// A setting of the session that ran a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatusVar<'a> {
    /// Q_FLAGS2: OPTION_AUTO_IS_NULL, OPTION_NOT_AUTOCOMMIT, OPTION_NO_FOREIGN_KEY_CHECKS,
    /// OPTION_RELAXED_UNIQUE_CHECKS, …
    Flags2(u32),
    /// Q_SQL_MODE.
    SqlMode(u64),
    /// Q_CATALOG: the catalog followed by NUL, as MySQL 5.0.0 to 5.0.3 wrote it.
    CatalogWithNul(&'a [u8]),
    /// Q_AUTO_INCREMENT.
    AutoIncrement {
        /// auto_increment_increment.
        increment: u16,
        /// auto_increment_offset.
        offset: u16,
    },
    /// Q_CHARSET: collation ids.
    Charset {
        /// character_set_client.
        client: u16,
        /// collation_connection.
        connection: u16,
        /// collation_server.
        server: u16,
    },
    /// Q_TIME_ZONE: the name in time_zone.
    TimeZone(&'a [u8]),
    /// Q_CATALOG_NZ: the catalog, always `std`.
    Catalog(&'a [u8]),
    /// Q_LC_TIME_NAMES: number of the locale.
    LcTimeNames(u16),
    /// Q_CHARSET_DATABASE: collation_database.
    CharsetDatabase(u16),
    /// Q_TABLE_MAP_FOR_UPDATE: the tables that a multi-table UPDATE changes.
    TableMapForUpdate(u64),
    /// Q_MASTER_DATA_WRITTEN: length of the event on an older primary.
    MasterDataWritten(u32),
    /// Q_INVOKER: CURRENT_USER of a CREATE with a definer.
    Invoker {
        /// Name of the user or role.
        user: &'a [u8],
        /// Name of the host; empty for a role.
        host: &'a [u8],
    },
    /// Q_UPDATED_DB_NAMES: the databases that the statement changes; `None` if there are more than 16.
    UpdatedDatabases(Option<Vec<&'a [u8]>>),
    /// Q_MICROSECONDS (MySQL): microseconds of the statement's start time.
    Microseconds(u32),
    /// Q_COMMIT_TS and other codes of MySQL with a value of fixed length, which is not decoded.
    MySql {
        /// The code, from 14 to 20.
        code: u8,
        /// The encoded value.
        value: &'a [u8],
    },
    /// Q_HRNOW: microseconds of the statement's start time, if the statement read them.
    HrNow(u32),
    /// Q_XID: id of an atomic DDL statement. In Paceline's log, the first id that the statement assigned.
    Xid(u64),
    /// Q_GTID_FLAGS3: the GTID's extra flags, with the sequence number of the first phase of an ALTER TABLE if there
    /// is one.
    GtidFlags3 {
        /// FL_START_ALTER_E1 (2), FL_COMMIT_ALTER_E1 (4), FL_ROLLBACK_ALTER_E1 (8).
        flags: u8,
        /// Sequence number of the first phase, with the latter two flags.
        start_sequence: Option<u64>,
    },
    /// Q_CHARACTER_SET_COLLATIONS (11.x): pairs of ids, character set and default collation.
    CharacterSetCollations(Vec<(u16, u16)>),
    /// Everything from the first unknown code on. It states no length, so what follows it cannot be decoded. MariaDB
    /// stops reading there, too.
    Unknown(&'a [u8]),
}

const GTID_FLAGS3_WITH_SEQUENCE: u8 = 4 | 8;
/// Count that means "too many databases to list", as in MySQL.
const UPDATED_DATABASES_OVER: u8 = 254;

/// Decodes all settings.
pub(super) fn decode_status_vars<'a>(event: &'static str, block: &'a [u8]) -> Result<Vec<StatusVar<'a>>> {
    let mut cursor = Cursor::new(event, block);
    let mut vars = Vec::new();
    while !cursor.is_empty() {
        let from_here = cursor.peek_rest();
        vars.push(match cursor.u8()? {
            0 => StatusVar::Flags2(cursor.u32()?),
            1 => StatusVar::SqlMode(cursor.u64()?),
            2 => StatusVar::CatalogWithNul(cursor.short_bytes_with_nul()?),
            3 => StatusVar::AutoIncrement {
                increment: cursor.u16()?,
                offset: cursor.u16()?,
            },
            4 => StatusVar::Charset {
                client: cursor.u16()?,
                connection: cursor.u16()?,
                server: cursor.u16()?,
            },
            5 => StatusVar::TimeZone(cursor.short_bytes()?),
            6 => StatusVar::Catalog(cursor.short_bytes()?),
            7 => StatusVar::LcTimeNames(cursor.u16()?),
            8 => StatusVar::CharsetDatabase(cursor.u16()?),
            9 => StatusVar::TableMapForUpdate(cursor.u64()?),
            10 => StatusVar::MasterDataWritten(cursor.u32()?),
            11 => StatusVar::Invoker {
                user: cursor.short_bytes()?,
                host: cursor.short_bytes()?,
            },
            12 => StatusVar::UpdatedDatabases(decode_databases(&mut cursor)?),
            13 => StatusVar::Microseconds(cursor.u24()?),
            code @ 14..=20 => {
                let length = match code {
                    14 | 15 | 17 => 8,
                    18 => 2,
                    _ => 1,
                };
                StatusVar::MySql {
                    code,
                    value: cursor.bytes(length)?,
                }
            }
            128 => StatusVar::HrNow(cursor.u24()?),
            129 => StatusVar::Xid(cursor.u64()?),
            130 => {
                let flags = cursor.u8()?;
                let start_sequence = if flags & GTID_FLAGS3_WITH_SEQUENCE != 0 {
                    Some(cursor.u64()?)
                } else {
                    None
                };
                StatusVar::GtidFlags3 {
                    flags,
                    start_sequence,
                }
            }
            131 => {
                let count = cursor.u8()?;
                let pairs = (0..count)
                    .map(|_| Ok((cursor.u16()?, cursor.u16()?)))
                    .collect::<Result<_>>()?;
                StatusVar::CharacterSetCollations(pairs)
            }
            _ => {
                vars.push(StatusVar::Unknown(from_here));
                break;
            }
        });
    }
    Ok(vars)
}

fn decode_databases<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Vec<&'a [u8]>>> {
    let count = cursor.u8()?;
    if count == UPDATED_DATABASES_OVER {
        return Ok(None);
    }
    let names = (0..count).map(|_| {
        let rest = cursor.peek_rest();
        let length = memchr::memchr(0, rest)
            .ok_or_else(|| cursor.malformed("a database name does not end with NUL"))?;
        cursor.bytes(length + 1)?;
        Ok(&rest[..length])
    });
    names.collect::<Result<_>>().map(Some)
}

/// Encodes the settings in the given order.
pub(super) fn encode_status_vars(vars: &[StatusVar<'_>], out: &mut Vec<u8>) {
    for var in vars {
        match var {
            StatusVar::Flags2(flags) => {
                out.put_u8(0);
                out.put_u32(*flags);
            }
            StatusVar::SqlMode(mode) => {
                out.put_u8(1);
                out.put_u64(*mode);
            }
            StatusVar::CatalogWithNul(catalog) => {
                out.put_u8(2);
                out.put_short_bytes(catalog);
                out.put_u8(0);
            }
            StatusVar::AutoIncrement { increment, offset } => {
                out.put_u8(3);
                out.put_u16(*increment);
                out.put_u16(*offset);
            }
            StatusVar::Charset {
                client,
                connection,
                server,
            } => {
                out.put_u8(4);
                out.put_u16(*client);
                out.put_u16(*connection);
                out.put_u16(*server);
            }
            StatusVar::TimeZone(name) => {
                out.put_u8(5);
                out.put_short_bytes(name);
            }
            StatusVar::Catalog(catalog) => {
                out.put_u8(6);
                out.put_short_bytes(catalog);
            }
            StatusVar::LcTimeNames(number) => {
                out.put_u8(7);
                out.put_u16(*number);
            }
            StatusVar::CharsetDatabase(collation) => {
                out.put_u8(8);
                out.put_u16(*collation);
            }
            StatusVar::TableMapForUpdate(map) => {
                out.put_u8(9);
                out.put_u64(*map);
            }
            StatusVar::MasterDataWritten(length) => {
                out.put_u8(10);
                out.put_u32(*length);
            }
            StatusVar::Invoker { user, host } => {
                out.put_u8(11);
                out.put_short_bytes(user);
                out.put_short_bytes(host);
            }
            StatusVar::UpdatedDatabases(names) => {
                out.put_u8(12);
                match names {
                    None => out.put_u8(UPDATED_DATABASES_OVER),
                    Some(names) => {
                        out.put_u8(names.len() as u8);
                        for name in names {
                            out.extend_from_slice(name);
                            out.put_u8(0);
                        }
                    }
                }
            }
            StatusVar::Microseconds(fraction) => {
                out.put_u8(13);
                out.put_u24(*fraction);
            }
            StatusVar::MySql { code, value } => {
                out.put_u8(*code);
                out.extend_from_slice(value);
            }
            StatusVar::HrNow(fraction) => {
                out.put_u8(128);
                out.put_u24(*fraction);
            }
            StatusVar::Xid(xid) => {
                out.put_u8(129);
                out.put_u64(*xid);
            }
            StatusVar::GtidFlags3 {
                flags,
                start_sequence,
            } => {
                out.put_u8(130);
                out.put_u8(*flags);
                if let Some(sequence) = start_sequence {
                    out.put_u64(*sequence);
                }
            }
            StatusVar::CharacterSetCollations(pairs) => {
                out.put_u8(131);
                out.put_u8(pairs.len() as u8);
                for (charset, collation) in pairs {
                    out.put_u16(*charset);
                    out.put_u16(*collation);
                }
            }
            StatusVar::Unknown(rest) => out.extend_from_slice(rest),
        }
    }
}
