//! Manifests: the list of a backup's objects.
//!
//! ```text
//!   PLACE/
//!     backup.json                      the full backup; written last. Without it there is no backup
//!     increment-000001.json …          increments: each names the manifest that it follows
//!     tables/rocksdb/000017.sst …      table files
//!     log/binlog.000007.000000000000   a piece of a log file, starting at that offset
//!     log/binlog.000007.000000048213   the next piece, from an increment
//!     unfinished.json                  exists while a backup is being written, or after one was interrupted
//! ```
//! Every object is written once. Its length and checksum (XXH3, 128 bits) are in a manifest; the manifest contains its
//! own checksum too. An object that no manifest names is not part of a backup.

use super::error::{Error, Result};
use paceline_object_storage::{ObjectStorage, Overwrite};
use paceline_server::backup::position_text;
use paceline_types::LogPosition;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tokio::task::JoinHandle;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Object name of the full backup's manifest.
pub const FULL: &str = "backup.json";
/// Prefix of the object names of increments' manifests.
const INCREMENT: &str = "increment-";
/// Number of manifests read at the same time. A read from a bucket takes tens of milliseconds, and there may be an
/// increment for every minute of a week.
const SIDE_BY_SIDE: usize = 8;
/// Current format of manifests.
const FORMAT: u32 = 1;

/// Contents of a manifest: a full backup or an increment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the manifest format: at most [`FORMAT`].
    pub format: u32,
    /// The preceding manifest; `None` for a full backup.
    pub follows: Option<ParentManifest>,
    pub server: Server,
    /// Time when the backup started (RFC 3339, UTC).
    pub begun: String,
    /// Time when all data was written.
    pub finished: String,
    /// The tables; `None` for an increment.
    pub tables: Option<Tables>,
    pub log: LogPart,
    /// GTID position at the end of the log part.
    pub gtid_position: String,
    /// Argument for requesting the next increment from the server.
    pub next: String,
}

/// Reference to the preceding manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentManifest {
    /// Number of this increment, from 1.
    pub number: u32,
    /// Checksum of the preceding manifest.
    pub checksum: String,
}

/// Identity of the server that was backed up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// `@@version`.
    pub version: String,
    /// `@@server_id`.
    pub server_id: u32,
    /// `@@hostname`.
    pub hostname: String,
    /// `--log-bin`.
    pub log_bin: String,
}

/// The tables of a full backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// Log position of the tables: they contain everything before it.
    #[serde(with = "position_text")]
    pub position: LogPosition,
    /// GTID position at that point.
    pub gtid_position: String,
    pub files: Vec<TableFile>,
}

/// A table file. It is stored as the object `tables/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// Path relative to the tables' directory.
    pub name: String,
    /// Length in bytes.
    pub length: u64,
    /// XXH3, 128 bits, hexadecimal.
    pub checksum: String,
}

/// A part of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPart {
    /// Start.
    #[serde(with = "position_text")]
    pub from: LogPosition,
    /// End.
    #[serde(with = "position_text")]
    pub to: LogPosition,
    /// Pieces in order.
    pub pieces: Vec<LogPiece>,
}

/// A piece of a log file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPiece {
    /// Name of the log file.
    pub file: String,
    /// Offset of the piece in the file.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// XXH3, 128 bits, hexadecimal.
    pub checksum: String,
}

impl TableFile {
    pub fn object(&self) -> String {
        table_object(&self.name)
    }
}

impl LogPiece {
    pub fn object(&self) -> String {
        log_object(&self.file, self.offset)
    }
}

/// Returns the object name of a table file.
pub fn table_object(name: &str) -> String {
    format!("tables/{name}")
}

/// Returns the object name of a piece of the log.
pub fn log_object(file: &str, offset: u64) -> String {
    format!("log/{file}.{offset:012}")
}

/// Returns the object name of an increment's manifest.
fn increment_name(number: u32) -> String {
    format!("{INCREMENT}{number:06}.json")
}

/// Returns the number of an increment from the object name of its manifest, or `None` for another object.
fn increment_number(object: &str) -> Option<u32> {
    let number = object.strip_prefix(INCREMENT)?.strip_suffix(".json")?;
    number.parse().ok()
}

/// Returns a checksum in the notation of manifests.
pub fn checksum_text(checksum: &Xxh3) -> String {
    format!("{:032x}", checksum.digest128())
}

/// A manifest as stored, with its checksum.
#[derive(Serialize, Deserialize)]
struct StoredManifest {
    /// Checksum of the manifest as compact JSON.
    checksum: String,
    manifest: Manifest,
}

impl Manifest {
    pub fn format() -> u32 {
        FORMAT
    }

    pub fn checksum(&self) -> String {
        let bytes = serde_json::to_vec(self).expect("a manifest can be represented in JSON");
        format!("{:032x}", xxh3_128(&bytes))
    }

    pub fn object(&self) -> String {
        match &self.follows {
            None => FULL.to_owned(),
            Some(follows) => increment_name(follows.number),
        }
    }

    /// Stores the manifest. From now on the backup exists.
    ///
    /// # Errors
    /// Fails if there is one already, or if the place fails.
    pub async fn store(&self, storage: &ObjectStorage) -> Result<()> {
        let stored = StoredManifest {
            checksum: self.checksum(),
            manifest: self.clone(),
        };
        let mut text = serde_json::to_string_pretty(&stored).expect("a manifest can be represented in JSON");
        text.push('\n');
        Ok(storage.put(&self.object(), text, Overwrite::No).await?)
    }

    fn decode(storage: &ObjectStorage, name: &str, bytes: &[u8]) -> Result<Manifest> {
        let damaged = |problem: String| Error::Damaged {
            place: storage.place().to_owned(),
            name: name.to_owned(),
            problem,
        };
        let stored: StoredManifest =
            serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if stored.manifest.format > FORMAT {
            return Err(damaged(format!(
                "its format {} is that of a later version of this program",
                stored.manifest.format
            )));
        }
        if stored.manifest.checksum() != stored.checksum {
            return Err(damaged("its checksum is wrong".into()));
        }
        Ok(stored.manifest)
    }
}

/// Increments that are being read, in order.
type PendingReads = VecDeque<(u32, JoinHandle<Result<Manifest>>)>;

/// Reads the manifest of an increment that must exist.
async fn read_increment(storage: ObjectStorage, number: u32) -> Result<Manifest> {
    let name = increment_name(number);
    match storage.get(&name).await {
        Ok(bytes) => Manifest::decode(&storage, &name, &bytes),
        // Without the missing increment, later ones would be ignored.
        Err(paceline_object_storage::Error::NotFound { .. }) => Err(Error::Damaged {
            place: storage.place().to_owned(),
            name,
            problem: "it is missing, although later ones exist".into(),
        }),
        Err(error) => Err(error.into()),
    }
}

/// A full backup with its increments.
#[derive(Debug)]
pub struct Chain {
    /// Manifests, the full backup first.
    pub manifests: Vec<Manifest>,
}

impl Chain {
    /// Reads the manifests in a place. Returns `None` if there is no full backup.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a manifest is damaged or missing, or does not follow the one before it; fails if the place
    /// fails.
    pub async fn load(storage: &ObjectStorage) -> Result<Option<Chain>> {
        let full = match storage.get(FULL).await {
            Ok(bytes) => Manifest::decode(storage, FULL, &bytes)?,
            Err(paceline_object_storage::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut chain = Chain {
            manifests: vec![full],
        };
        let last = storage.list("").await?;
        let last = last
            .iter()
            .filter_map(|object| increment_number(&object.name))
            .max();
        let mut coming = VecDeque::new();
        for number in 1..=last.unwrap_or(0) {
            coming.push_back((number, tokio::spawn(read_increment(storage.clone(), number))));
            if coming.len() == SIDE_BY_SIDE {
                chain.append_next(storage, &mut coming).await?;
            }
        }
        while !coming.is_empty() {
            chain.append_next(storage, &mut coming).await?;
        }
        Ok(Some(chain))
    }

    /// Waits for the first of the increments that are being read, and appends it.
    async fn append_next(&mut self, storage: &ObjectStorage, coming: &mut PendingReads) -> Result<()> {
        let Some((number, reading)) = coming.pop_front() else {
            return Ok(());
        };
        let next = match reading.await {
            Ok(next) => next?,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let last = self.last();
        let wanted = ParentManifest {
            number,
            checksum: last.checksum(),
        };
        if next.follows.as_ref() != Some(&wanted) || next.log.from != last.log.to {
            return Err(Error::Damaged {
                place: storage.place().to_owned(),
                name: increment_name(number),
                problem: "it does not follow the previous part".into(),
            });
        }
        self.manifests.push(next);
        Ok(())
    }

    /// Returns the newest manifest.
    pub fn last(&self) -> &Manifest {
        self.manifests.last().expect("there is a full backup")
    }

    /// Returns the tables of the full backup.
    pub fn tables(&self) -> Option<&Tables> {
        self.manifests[0].tables.as_ref()
    }

    /// Returns all pieces of the log, in order.
    pub fn log_pieces(&self) -> impl Iterator<Item = &LogPiece> {
        self.manifests.iter().flat_map(|manifest| &manifest.log.pieces)
    }

    /// Returns the name, length and checksum of every object of the backup.
    pub fn objects(&self) -> impl Iterator<Item = (String, u64, &str)> {
        let tables = self.tables().into_iter().flat_map(|tables| &tables.files);
        let tables = tables.map(|file| (file.object(), file.length, file.checksum.as_str()));
        let log = self.log_pieces();
        tables.chain(log.map(|piece| (piece.object(), piece.length, piece.checksum.as_str())))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the manifest of a full backup with one piece of log.
    pub fn full() -> Manifest {
        manifest(None, LogPosition::new(7, 0), LogPosition::new(7, 500))
    }

    fn manifest(follows: Option<ParentManifest>, from: LogPosition, to: LogPosition) -> Manifest {
        Manifest {
            format: FORMAT,
            follows,
            server: Server {
                version: "10.11".into(),
                server_id: 1,
                hostname: "db1".into(),
                log_bin: "binlog".into(),
            },
            begun: "2026-01-01T00:00:00Z".into(),
            finished: "2026-01-01T00:00:01Z".into(),
            tables: None,
            log: LogPart {
                from,
                to,
                pieces: vec![LogPiece {
                    file: "binlog.000007".into(),
                    offset: from.offset(),
                    length: to.offset() - from.offset(),
                    checksum: "0".into(),
                }],
            },
            gtid_position: "0-1-5".into(),
            next: "x".into(),
        }
    }

    #[test]
    fn a_chain_is_loaded_as_stored_and_damage_is_detected() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().to_str().unwrap();
        let at = |offset| LogPosition::new(7, offset);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let storage = ObjectStorage::open(place).unwrap();
            assert!(Chain::load(&storage).await.unwrap().is_none());
            let full = manifest(None, at(0), at(500));
            full.store(&storage).await.unwrap();
            assert!(full.store(&storage).await.is_err());
            let follows = ParentManifest {
                number: 1,
                checksum: full.checksum(),
            };
            let increment = manifest(Some(follows.clone()), at(500), at(900));
            increment.store(&storage).await.unwrap();
            let chain = Chain::load(&storage).await.unwrap().unwrap();
            assert_eq!(chain.manifests, [full.clone(), increment.clone()]);
            let objects: Vec<String> = chain.objects().map(|object| object.0).collect();
            assert_eq!(
                objects,
                ["log/binlog.000007.000000000000", "log/binlog.000007.000000000500"]
            );

            // A missing increment.
            let bytes = storage.get("increment-000001.json").await.unwrap().to_vec();
            storage.delete("increment-000001.json").await.unwrap();
            storage
                .put("increment-000002.json", bytes.clone(), Overwrite::No)
                .await
                .unwrap();
            let error = Chain::load(&storage).await.unwrap_err().to_string();
            assert!(
                error.contains("'increment-000001.json' is damaged: it is missing"),
                "{error}"
            );
            storage.delete("increment-000002.json").await.unwrap();
            storage
                .put("increment-000001.json", bytes, Overwrite::No)
                .await
                .unwrap();

            // An increment that follows another manifest.
            let stray = ParentManifest {
                number: 2,
                checksum: full.checksum(),
            };
            manifest(Some(stray), at(900), at(950))
                .store(&storage)
                .await
                .unwrap();
            assert!(matches!(Chain::load(&storage).await, Err(Error::Damaged { .. })));
            storage.delete("increment-000002.json").await.unwrap();

            // A change in the contents.
            let bytes = storage.get(FULL).await.unwrap().to_vec();
            let text = String::from_utf8(bytes).unwrap();
            let changed = text.replace("\"0-1-5\"", "\"0-1-4\"");
            assert_ne!(text, changed);
            storage.put(FULL, changed, Overwrite::Yes).await.unwrap();
            assert!(matches!(Chain::load(&storage).await, Err(Error::Damaged { .. })));
        });
    }
}
