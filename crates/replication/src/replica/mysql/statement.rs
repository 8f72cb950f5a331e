//! Statements of MySQL with the settings that they ran under.
//!
//! The settings in a Query event have MariaDB's numbers up to 13; those that MySQL 8 has added are taken out, once the text has what they say.
//! Collations go by the nearest that there are. MySQL's SQL mode has one bit that means something else to MariaDB.

use super::super::error::{SourceError, corrupt};
use paceline_binlog::event::{EventType, ExecuteLoadQueryEvent, QueryEvent, StatusVar};
use paceline_sql::parse::{MySqlSession, MySqlStatement, translate_mysql};
use paceline_sql::session::SqlMode;
use paceline_types::{Charset, Collation};
use std::borrow::Cow;

/// MySQL's TIME_TRUNCATE_FRACTIONAL; to MariaDB the bit is EMPTY_STRING_IS_NULL.
const TIME_TRUNCATE_FRACTIONAL: u64 = 1 << 32;

/// Q_DEFAULT_COLLATION_FOR_UTF8MB4.
const UTF8MB4_COLLATION: u8 = 18;

/// What is executed in place of a statement that is about MySQL itself.
const ITS_OWN: &[u8] = b"/* a statement about the primary's own accounts or storage */";

/// MariaDB's statement for a Query event of MySQL. `None`: it is the same.
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

/// LOAD DATA with MariaDB's settings. Its words are the same.
pub(super) fn translate_load(body: &[u8]) -> Result<ExecuteLoadQueryEvent<'_>, SourceError> {
    let mut load = ExecuteLoadQueryEvent::decode(body).map_err(corrupt)?;
    load.query.status_vars = load.query.status_vars.drain(..).filter_map(setting).collect();
    Ok(load)
}

/// MariaDB's SQL mode for MySQL's. Options that only MySQL has are passed over, as MySQL does with MariaDB's.
fn mode_of(bits: u64) -> SqlMode {
    let rounds = bits & TIME_TRUNCATE_FRACTIONAL == 0;
    let mode =
        SqlMode::from_bits(bits & (TIME_TRUNCATE_FRACTIONAL - 1)).with(SqlMode::IGNORE_BAD_TABLE_OPTIONS);
    match rounds {
        true => mode.with(SqlMode::TIME_ROUND_FRACTIONAL),
        false => mode,
    }
}

/// MariaDB's setting for one of MySQL's; `None` for what MariaDB does not have.
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
