//! Conversion of MySQL's statements and their session settings.
//!
//! The settings in a Query event have the same codes in MariaDB up to 13. Those added by MySQL 8 are removed after the
//! text has been adapted to them. Collations are replaced by the closest ones that exist here. One bit of MySQL's SQL
//! mode has another meaning in MariaDB.

use super::super::error::{SourceError, corrupt};
use paceline_binlog::event::{EventType, ExecuteLoadQueryEvent, QueryEvent, StatusVar};
use paceline_syntax::{MySqlSession, MySqlStatement, translate_mysql};
use paceline_types::SqlMode;
use paceline_types::{Charset, Collation};
use std::borrow::Cow;

/// MySQL's TIME_TRUNCATE_FRACTIONAL. In MariaDB the bit is EMPTY_STRING_IS_NULL.
const TIME_TRUNCATE_FRACTIONAL: u64 = 1 << 32;

/// Q_DEFAULT_COLLATION_FOR_UTF8MB4.
const UTF8MB4_COLLATION: u8 = 18;

/// Statement executed instead of one about MySQL itself.
const ITS_OWN: &[u8] = b"/* a statement about the primary's own accounts or storage */";

/// Converts a Query event of MySQL. `None` if it needs no change.
pub(super) fn translate(body: &[u8]) -> Result<Option<QueryEvent<'_>>, SourceError> {
    let mut query = QueryEvent::decode(EventType::QUERY, body).map_err(corrupt)?;
    let sql = query.sql.trim_ascii();
    if sql.eq_ignore_ascii_case(b"BEGIN") || sql.eq_ignore_ascii_case(b"COMMIT") {
        return Ok(None);
    }
    let (mut mode, mut utf8mb4) = (SqlMode::DEFAULT, None);
    for var in &query.status_vars {
        match var {
            StatusVar::SqlMode(bits) => mode = mode_of(*bits),
            StatusVar::MySql {
                code: UTF8MB4_COLLATION,
                value: [low, high],
            } => utf8mb4 = Collation::of_mysql_id(u16::from_le_bytes([*low, *high])),
            _ => {}
        }
    }
    query.status_vars = query.status_vars.drain(..).filter_map(setting).collect();
    let session = MySqlSession {
        sql_mode: mode,
        utf8mb4_collation: utf8mb4.unwrap_or(Charset::Utf8mb4.default_collation()),
    };
    let text = match &query.sql {
        Cow::Borrowed(text) => translate_mysql(text, &session),
        Cow::Owned(_) => return Err(corrupt("a Query event of MySQL with a compressed text")),
    };
    query.sql = match text {
        MySqlStatement::Text(text) => text,
        MySqlStatement::ItsOwn => {
            let words: Vec<_> = query.sql.split(|byte| *byte == b' ').take(2).collect();
            tracing::warn!(
                "a {} statement of the primary is passed over: it is about accounts, storage or components of MySQL",
                String::from_utf8_lossy(&words.join(&b' '))
            );
            Cow::Borrowed(ITS_OWN)
        }
    };
    Ok(Some(query))
}

/// Converts the settings of LOAD DATA. Its text needs no change.
pub(super) fn translate_load(body: &[u8]) -> Result<ExecuteLoadQueryEvent<'_>, SourceError> {
    let mut load = ExecuteLoadQueryEvent::decode(body).map_err(corrupt)?;
    load.query.status_vars = load.query.status_vars.drain(..).filter_map(setting).collect();
    Ok(load)
}

/// Converts MySQL's SQL mode. Options that only MySQL has are ignored, as MySQL ignores MariaDB's.
fn mode_of(bits: u64) -> SqlMode {
    let rounds = bits & TIME_TRUNCATE_FRACTIONAL == 0;
    let mode =
        SqlMode::from_bits(bits & (TIME_TRUNCATE_FRACTIONAL - 1)).with(SqlMode::IGNORE_BAD_TABLE_OPTIONS);
    match rounds {
        true => mode.with(SqlMode::TIME_ROUND_FRACTIONAL),
        false => mode,
    }
}

/// Converts a setting of MySQL. `None` if MariaDB does not have it.
fn setting(var: StatusVar<'_>) -> Option<StatusVar<'_>> {
    let nearest = |id: u16| Collation::of_mysql_id(id).map_or(id, Collation::id);
    Some(match var {
        StatusVar::SqlMode(bits) => StatusVar::SqlMode(mode_of(bits).bits()),
        StatusVar::Charset {
            client,
            connection,
            server,
        } => StatusVar::Charset {
            client: nearest(client),
            connection: nearest(connection),
            server: nearest(server),
        },
        StatusVar::CharsetDatabase(id) => StatusVar::CharsetDatabase(nearest(id)),
        StatusVar::MySql { .. } | StatusVar::Unknown(_) => return None,
        other => other,
    })
}
