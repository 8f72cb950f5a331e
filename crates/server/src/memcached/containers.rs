//! The table of containers, and what was read from it last.
//!
//! `paceline.memcached_containers` is an ordinary table: replicas have it too, and privileges decide who may change it.
//! It is read again when a request comes and the last reading is older than [`READ_EVERY`], or a table has been defined
//! since: containers are checked against their tables' columns and indexes. A container that has not changed stays
//! the same object, so that the statements which sessions have prepared for it stay too.
//!
//! Rejected: a trigger of the catalog or of the commit pipeline on this table. A table that somebody else's key
//! happens to be in would then be special everywhere, for a query a second.

use super::container::{Container, ContainerRow};
use crate::server::Server;
use crate::session::Session;
use crate::session::direct::{DirectStatement, server_session};
use crate::variables::Variable;
use arc_swap::ArcSwap;
use paceline_query::execute::RowSink;
use paceline_query::plan::ResultColumn;
use paceline_syntax::{Error, Result};
use paceline_types::{Value, Version};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

/// Time after which the table is read again.
const READ_EVERY: Duration = Duration::from_secs(1);
/// Name of the session that reads it.
const SESSION: &str = "memcached";

/// Database of the tables that the server makes for this port.
pub const DATABASE: &str = "paceline";
/// Table of containers in it.
pub const TABLE: &str = "memcached_containers";

/// Statements that make the tables, and a container for keys that no other one has.
const DEFINITIONS: &str = "\
CREATE DATABASE IF NOT EXISTS paceline;
CREATE TABLE IF NOT EXISTS paceline.memcached_items (
  `key` VARBINARY(250) NOT NULL PRIMARY KEY,
  value LONGBLOB NOT NULL,
  flags INT UNSIGNED NOT NULL DEFAULT 0,
  cas BIGINT UNSIGNED NOT NULL DEFAULT 0,
  expiry BIGINT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'UNIX time; 0: never'
);
CREATE TABLE IF NOT EXISTS paceline.memcached_containers (
  prefix VARBINARY(250) NOT NULL PRIMARY KEY COMMENT 'the longest prefix of a key that is here decides',
  `database` VARCHAR(64) NOT NULL,
  `table` VARCHAR(64) NOT NULL,
  key_column VARCHAR(64) NOT NULL,
  value_columns VARCHAR(1024) NOT NULL COMMENT 'names, separated by commas',
  `separator` VARBINARY(16) NOT NULL DEFAULT '|' COMMENT 'between the parts of a value of several columns',
  flags_column VARCHAR(64),
  cas_column VARCHAR(64),
  expiry_column VARCHAR(64),
  allow_flush BOOLEAN NOT NULL DEFAULT FALSE COMMENT 'whether flush_all empties the table',
  sync BOOLEAN NOT NULL DEFAULT TRUE COMMENT 'whether a set is answered when it is durable'
);
INSERT INTO paceline.memcached_containers
  (prefix, `database`, `table`, key_column, value_columns, flags_column, cas_column, expiry_column)
  SELECT '', 'paceline', 'memcached_items', 'key', 'value', 'flags', 'cas', 'expiry'
  WHERE NOT EXISTS (SELECT * FROM paceline.memcached_containers)";

/// Columns of the containers.
const COLUMNS: &str = "prefix, `database`, `table`, key_column, value_columns, `separator`, flags_column, cas_column, \
                       expiry_column, allow_flush";
/// Column that a table made by an earlier version lacks.
const SYNC_COLUMN: &str = "sync";

/// Containers as read last.
struct ContainerList {
    /// The longest prefix first.
    containers: Vec<Arc<Container>>,
    /// Rows that fit no table: their prefixes, with the reason.
    refused: Vec<(Vec<u8>, Arc<str>)>,
    read_at: Option<Instant>,
    /// Version of the catalog against which they were checked.
    checked_with: Option<Version>,
}

/// Whether the known containers can be used.
enum Freshness {
    Current,
    /// They have to be read again. `fits_tables`: no table has been defined since they were checked.
    Stale {
        fits_tables: bool,
    },
}

/// A session of the server with the prepared query.
struct Reader {
    session: Session,
    query: DirectStatement,
    has_sync: bool,
    _other_end: UnixStream,
}

/// All containers.
pub struct Containers {
    known: ArcSwap<ContainerList>,
    /// Only one request reads the table.
    reader: Mutex<Option<Reader>>,
}

impl Default for Containers {
    fn default() -> Self {
        Containers {
            known: ArcSwap::from_pointee(ContainerList {
                containers: Vec::new(),
                refused: Vec::new(),
                read_at: None,
                checked_with: None,
            }),
            reader: Mutex::default(),
        }
    }
}

impl Containers {
    /// Returns the container of a key.
    ///
    /// # Errors
    /// A message: there is none, or it does not fit its table.
    pub async fn of_key(
        &self,
        key: &[u8],
        server: &Arc<Server>,
    ) -> std::result::Result<Arc<Container>, String> {
        self.refresh(server).await?;
        let known = self.known.load();
        let found = known
            .containers
            .iter()
            .find(|container| key.starts_with(&container.row.prefix));
        let refused = known.refused.iter().find(|(prefix, _)| key.starts_with(prefix));
        match (found, refused) {
            (found, Some((prefix, reason)))
                if found.is_none_or(|found| found.row.prefix.len() < prefix.len()) =>
            {
                Err(reason.to_string())
            }
            (Some(found), _) => Ok(found.clone()),
            (None, _) => Err("no container has a prefix of this key".to_owned()),
        }
    }

    /// Returns the containers that `flush_all` empties.
    pub async fn to_flush(&self, server: &Arc<Server>) -> std::result::Result<Vec<Arc<Container>>, String> {
        self.refresh(server).await?;
        let known = self.known.load();
        Ok(known
            .containers
            .iter()
            .filter(|container| container.row.allow_flush)
            .cloned()
            .collect())
    }

    /// Reads the table, if that was too long ago. Makes it, if this server accepts changes.
    ///
    /// # Errors
    /// A message: it cannot be read.
    pub async fn refresh(&self, server: &Arc<Server>) -> std::result::Result<(), String> {
        let Freshness::Stale { fits_tables } = self.freshness(server) else {
            return Ok(());
        };
        let mut reader = match (fits_tables, self.reader.try_lock()) {
            (_, Ok(reader)) => reader,
            // Another request reads the table, and what is known can be used until then.
            (true, Err(_)) => return Ok(()),
            (false, Err(_)) => self.reader.lock().await,
        };
        if let Freshness::Current = self.freshness(server) {
            return Ok(());
        }
        match self.read(server, &mut reader).await {
            Ok(()) => Ok(()),
            Err(error) => {
                // Perhaps the session was killed.
                *reader = None;
                Err(format!(
                    "the containers cannot be read: {} {error}",
                    error.code().number()
                ))
            }
        }
    }

    fn freshness(&self, server: &Server) -> Freshness {
        let known = self.known.load();
        let fits_tables = known.checked_with == Some(server.catalog.load().version());
        let is_recent = known
            .read_at
            .is_some_and(|read_at| read_at.elapsed() < READ_EVERY);
        match fits_tables && is_recent {
            true => Freshness::Current,
            false => Freshness::Stale { fits_tables },
        }
    }

    async fn read(&self, server: &Arc<Server>, reader: &mut Option<Reader>) -> Result<()> {
        if server.catalog.load().ordinary_table(DATABASE, TABLE).is_none() {
            self.define(server).await?;
        }
        let rows = match server.catalog.load().ordinary_table(DATABASE, TABLE) {
            // A replica that has not received it.
            None => Vec::new(),
            Some(table) => {
                let has_sync = table.column(SYNC_COLUMN).is_some();
                let reader = match reader {
                    Some(reader) if reader.has_sync == has_sync => reader,
                    _ => reader.insert(open(server, has_sync)?),
                };
                let (rows, _): (Rows, _) = reader.session.run_direct(&mut reader.query, &[]).await?;
                rows.0
            }
        };
        let before = self.known.load();
        let catalog = server.catalog.load();
        let (mut containers, mut refused) = (Vec::new(), Vec::new());
        for row in rows {
            let prefix = row.prefix.clone();
            match Container::new(row, &catalog) {
                Ok(container) => {
                    let same = before.containers.iter().find(|known| ***known == container);
                    containers.push(same.cloned().unwrap_or_else(|| Arc::new(container)));
                }
                Err(reason) => {
                    if !before.refused.iter().any(|(_, known)| **known == *reason) {
                        tracing::warn!("memcached: {reason}");
                    }
                    refused.push((prefix, reason.into()));
                }
            }
        }
        containers.sort_by_key(|container| std::cmp::Reverse(container.row.prefix.len()));
        refused.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        self.known.store(Arc::new(ContainerList {
            containers,
            refused,
            read_at: Some(Instant::now()),
            checked_with: Some(catalog.version()),
        }));
        Ok(())
    }

    /// Makes the tables, if this server accepts changes.
    async fn define(&self, server: &Arc<Server>) -> Result<()> {
        if server.globals.is_on(Variable::ReadOnly) || server.follows_another() {
            return Ok(());
        }
        let (mut session, _other_end) = server_session(server, SESSION).map_err(no_session)?;
        session.run_text(DEFINITIONS.as_bytes()).await
    }
}

fn no_session(error: std::io::Error) -> Error {
    Error::new(
        paceline_types::error_code::ER_CANT_CREATE_THREAD,
        &[&error.raw_os_error().unwrap_or(0)],
    )
}

fn open(server: &Arc<Server>, has_sync: bool) -> Result<Reader> {
    let (mut session, other_end) = server_session(server, SESSION).map_err(no_session)?;
    let sync = if has_sync { SYNC_COLUMN } else { "1" };
    let query = session.prepare_direct(&format!("SELECT {COLUMNS}, {sync} FROM {DATABASE}.{TABLE}"))?;
    Ok(Reader {
        session,
        query,
        has_sync,
        _other_end: other_end,
    })
}

fn is_true(value: &Value) -> bool {
    matches!(value, Value::Int(number) if *number != 0)
}

/// Rows of the table.
#[derive(Default)]
struct Rows(Vec<ContainerRow>);

impl RowSink for Rows {
    fn columns(&mut self, _columns: &[ResultColumn]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let bytes = |number: usize| match &row[number] {
            Value::Text(text) => text.as_bytes().to_vec(),
            Value::Bytes(bytes) => bytes.clone(),
            _ => Vec::new(),
        };
        let text = |number: usize| String::from_utf8_lossy(&bytes(number)).into_owned();
        let name = |number: usize| Some(text(number)).filter(|name| !name.is_empty());
        self.0.push(ContainerRow {
            prefix: bytes(0),
            database: text(1),
            table: text(2),
            key_column: text(3),
            value_columns: text(4),
            separator: bytes(5),
            flags_column: name(6),
            cas_column: name(7),
            expiry_column: name(8),
            allow_flush: is_true(&row[9]),
            sync: is_true(&row[10]),
        });
        Ok(())
    }
}
