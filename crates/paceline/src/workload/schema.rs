//! The database of a load, and its marker table.
//!
//! The marker says which load the database belongs to, how many rows it was filled with, and whether that was finished.
//! ```text
//!   no database, or an empty one ──▶ marker, not complete ──▶ tables and rows ──▶ marker, complete
//!                                          ▲    │ an interrupted --prepare: the tables are dropped and made again
//!                                          └────┘
//!   other contents, and no marker: somebody else's. Nothing is changed.
//! ```

use super::error::{Error, Result};
use super::kind::{Kind, Load};
use super::options::ROWS;
use super::session::Session;
use crate::connection::{quoted, quoted_identifier};

/// Databases of the server itself. Some servers do not list all of their tables.
const SYSTEM: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];
const MARKER: &str = "paceline_workload";
/// Rows if `--rows` is not given.
const ROWS_DEFAULT: u64 = 1000;

struct Marker {
    kind: String,
    rows: u64,
    is_complete: bool,
}

/// Contents of a database.
enum Contents {
    /// The database does not exist, or contains nothing that would be lost with it.
    Nothing,
    Load(Marker),
    /// Tables, procedures, functions or events, and no marker.
    Others,
}

async fn contents(session: &mut Session, database: &str) -> Result<Contents> {
    if SYSTEM.iter().any(|name| name.eq_ignore_ascii_case(database)) {
        return Ok(Contents::Others);
    }
    let schema = quoted(database);
    let mut count = async |table: &str, condition: &str| -> Result<u64> {
        let query = format!("SELECT COUNT(*) FROM information_schema.{table} WHERE {condition}");
        let count = session.value(&query).await?;
        count
            .parse()
            .map_err(|_| problem(database, format!("{query}: '{count}' is not a number")))
    };
    let marker = format!("TABLE_SCHEMA = {schema} AND TABLE_NAME = {}", quoted(MARKER));
    if count("TABLES", &marker).await? == 0 {
        for (table, column) in [
            ("TABLES", "TABLE_SCHEMA"),
            ("ROUTINES", "ROUTINE_SCHEMA"),
            ("EVENTS", "EVENT_SCHEMA"),
        ] {
            if count(table, &format!("{column} = {schema}")).await? > 0 {
                return Ok(Contents::Others);
            }
        }
        return Ok(Contents::Nothing);
    }
    session.use_database().await?;
    let rows = session
        .rows(&format!("SELECT kind, row_count, is_complete FROM {MARKER}"))
        .await?;
    let invalid = || problem(database, format!("the table '{MARKER}' is not valid"));
    // The marker table was created, and then the command was killed.
    let Some(row) = rows.first() else {
        return Ok(Contents::Load(Marker {
            kind: String::new(),
            rows: 0,
            is_complete: false,
        }));
    };
    let [kind, rows, is_complete] = row.as_slice() else {
        return Err(invalid());
    };
    Ok(Contents::Load(Marker {
        kind: kind.clone(),
        rows: rows
            .parse()
            .ok()
            .filter(|rows| ROWS.contains(rows))
            .ok_or_else(invalid)?,
        is_complete: is_complete == "1",
    }))
}

fn problem(database: &str, problem: String) -> Error {
    Error::Database {
        database: database.to_owned(),
        problem,
    }
}

fn others(database: &str) -> Error {
    problem(
        database,
        "it is not empty and was not created by `paceline workload`: give another --database".into(),
    )
}

fn other_kind(database: &str, marker: &Marker) -> Error {
    problem(
        database,
        format!(
            "it belongs to the load '{}': give another --database",
            marker.kind
        ),
    )
}

/// Returns the load that an existing database was made for.
///
/// # Errors
/// Fails if there is none of this kind.
pub async fn find(session: &mut Session, kind: Kind, database: &str) -> Result<Load> {
    match contents(session, database).await? {
        Contents::Nothing => Err(problem(database, "it contains no load".into())),
        Contents::Others => Err(others(database)),
        Contents::Load(marker) if !marker.is_complete => Err(problem(
            database,
            "its --prepare was interrupted: run it again".into(),
        )),
        Contents::Load(marker) if marker.kind != kind.name() => Err(other_kind(database, &marker)),
        Contents::Load(marker) => Ok(kind.load(marker.rows)),
    }
}

/// Creates the database and its rows, unless they exist.
///
/// # Errors
/// Fails if the database belongs to somebody else, or has another number of rows than `rows`.
pub async fn prepare(session: &mut Session, kind: Kind, database: &str, rows: Option<u64>) -> Result<Load> {
    let wanted = rows.unwrap_or(ROWS_DEFAULT);
    match contents(session, database).await? {
        Contents::Others => return Err(others(database)),
        Contents::Load(marker) if marker.is_complete && marker.kind != kind.name() => {
            return Err(other_kind(database, &marker));
        }
        Contents::Load(marker) if marker.is_complete => {
            return match rows {
                Some(rows) if rows != marker.rows => Err(problem(
                    database,
                    format!(
                        "it has {} rows: leave out --rows, or remove it with --cleanup first",
                        marker.rows
                    ),
                )),
                _ => Ok(kind.load(marker.rows)),
            };
        }
        Contents::Load(marker) if !marker.kind.is_empty() && marker.kind != kind.name() => {
            return Err(other_kind(database, &marker));
        }
        Contents::Load(_) => drop_tables(session, kind).await?,
        Contents::Nothing => {
            let create = format!("CREATE DATABASE IF NOT EXISTS {}", quoted_identifier(database));
            session.execute(&create).await?;
        }
    }
    session.use_database().await?;
    for statement in [
        format!(
            "CREATE TABLE IF NOT EXISTS {MARKER} (kind VARCHAR(20) PRIMARY KEY, row_count BIGINT NOT NULL, \
             is_complete INT NOT NULL) ENGINE=InnoDB"
        ),
        format!(
            "REPLACE INTO {MARKER} VALUES ({}, {wanted}, 0)",
            quoted(kind.name())
        ),
    ] {
        session.execute(&statement).await?;
    }
    let load = kind.load(wanted);
    load.fill(session).await?;
    let complete = format!("UPDATE {MARKER} SET is_complete = 1");
    session.execute(&complete).await?;
    Ok(load)
}

async fn drop_tables(session: &mut Session, kind: Kind) -> Result<()> {
    let drop = format!("DROP TABLE IF EXISTS {}", kind.tables().join(", "));
    session.execute(&drop).await?;
    Ok(())
}

/// Drops the tables of the load, and the database if nothing else is in it.
///
/// # Errors
/// Fails if the database belongs to somebody else.
pub async fn clean_up(session: &mut Session, kind: Kind, database: &str) -> Result<()> {
    match contents(session, database).await? {
        Contents::Nothing => return Ok(()),
        Contents::Others => return Err(others(database)),
        Contents::Load(marker) if !marker.kind.is_empty() && marker.kind != kind.name() => {
            return Err(other_kind(database, &marker));
        }
        Contents::Load(_) => {}
    }
    drop_tables(session, kind).await?;
    session.execute(&format!("DROP TABLE {MARKER}")).await?;
    if matches!(contents(session, database).await?, Contents::Nothing) {
        let drop = format!("DROP DATABASE {}", quoted_identifier(database));
        session.execute(&drop).await?;
    }
    Ok(())
}
