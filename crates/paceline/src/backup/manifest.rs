//! What a backup consists of.
//!
//! ```text
//!   PLACE/
//!     backup.json                      the full backup: written last. Without it there is no backup
//!     increment-000001.json …          what was added: each names the manifest that it follows
//!     tables/rocksdb/000017.sst …      the table files
//!     log/binlog.000007.000000000000   a piece of a file of the log, from that offset on
//!     log/binlog.000007.000000048213   the next one: an increment's
//!     unfinished.json                  there while a backup is written, or since one was interrupted
//! ```
//! Every object is written once, and its length and checksum (XXH3, 128 bits) stand in the manifest, which has one of its own. An object
//! that no manifest names is no part of a backup.

use super::error::{Error, Result};
use paceline_object_storage::{ObjectStorage, Replace};
use paceline_server::backup::position_text;
use paceline_types::LogPosition;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tokio::task::JoinHandle;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The manifest of the full backup.
pub const FULL: &str = "backup.json";
/// What the manifests of increments begin with.
const INCREMENT: &str = "increment-";
/// How many manifests are read at a time: each takes a bucket tens of milliseconds, and there may be one for every minute of a week.
const SIDE_BY_SIDE: usize = 8;
/// The manifests' format.
const FORMAT: u32 = 1;

/// A backup or an increment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// What it continues; none for a full backup.
    pub follows: Option<Follows>,
    /// The server.
    pub server: Server,
    /// When it began (RFC 3339, UTC).
    pub begun: String,
    /// When all of it was written.
    pub finished: String,
    /// The tables; none in an increment.
    pub tables: Option<Tables>,
    /// The log.
    pub log: LogPart,
    /// The GTID position at its end.
    pub gtid_position: String,
    /// What the server is asked for the next increment with.
    pub next: String,
}

/// What an increment continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follows {
    /// Its own number, from 1.
    pub number: u32,
    /// The checksum of the manifest before it.
    pub checksum: String,
}

/// The server that was backed up.
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

/// The tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// Up to where in the log they hold everything.
    #[serde(with = "position_text")]
    pub position: LogPosition,
    /// The GTID position there.
    pub gtid_position: String,
    /// Their files.
    pub files: Vec<TableFile>,
}

/// A table file: the object `tables/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// Its path below the tables' directory.
    pub name: String,
    /// In bytes.
    pub length: u64,
    /// XXH3, 128 bits, hexadecimal.
    pub checksum: String,
}

/// A part of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPart {
    /// Where it begins.
    #[serde(with = "position_text")]
    pub from: LogPosition,
    /// Where it ends.
    #[serde(with = "position_text")]
    pub to: LogPosition,
    /// Its pieces, in order.
    pub pieces: Vec<LogPiece>,
}

/// A piece of a file of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPiece {
    /// The file's name.
    pub file: String,
    /// Where in the file it begins.
    pub offset: u64,
    /// In bytes.
    pub length: u64,
    /// XXH3, 128 bits, hexadecimal.
    pub checksum: String,
}

impl TableFile {
    /// The object's name.
    pub fn object(&self) -> String {
        table_object(&self.name)
    }
}

impl LogPiece {
    /// The object's name.
    pub fn object(&self) -> String {
        log_object(&self.file, self.offset)
    }
}

/// The object of a table file.
pub fn table_object(name: &str) -> String {
    format!("tables/{name}")
}

/// The object of a piece of the log.
pub fn log_object(file: &str, offset: u64) -> String {
    format!("log/{file}.{offset:012}")
}

/// The object of an increment's manifest.
fn increment_name(number: u32) -> String {
    format!("{INCREMENT}{number:06}.json")
}

/// The number of an increment, if the object is its manifest.
fn increment_number(object: &str) -> Option<u32> {
    let number = object.strip_prefix(INCREMENT)?.strip_suffix(".json")?;
    number.parse().ok()
}

/// A checksum as manifests have it.
pub fn checksum_text(checksum: &Xxh3) -> String {
    format!("{:032x}", checksum.digest128())
}

/// A manifest as it is stored.
#[derive(Serialize, Deserialize)]
struct Sealed {
    /// Of the manifest as compact JSON.
    checksum: String,
    manifest: Manifest,
}

impl Manifest {
    /// The format that is written now.
    pub fn format() -> u32 {
        FORMAT
    }

    /// Its own checksum.
    pub fn checksum(&self) -> String {
        let bytes = serde_json::to_vec(self).expect("a manifest has nothing that JSON cannot say");
        format!("{:032x}", xxh3_128(&bytes))
    }

    /// Its object's name.
    pub fn object(&self) -> String {
        match &self.follows {
            None => FULL.to_owned(),
            Some(follows) => increment_name(follows.number),
        }
    }

    /// Writes it: from now on there is that backup.
    ///
    /// # Errors
    /// If there is one already, or the place fails.
    pub async fn store(&self, storage: &ObjectStorage) -> Result<()> {
        let sealed = Sealed {
            checksum: self.checksum(),
            manifest: self.clone(),
        };
        let mut text =
            serde_json::to_string_pretty(&sealed).expect("a manifest has nothing that JSON cannot say");
        text.push('\n');
        Ok(storage.put(&self.object(), text, Replace::No).await?)
    }

    fn unseal(storage: &ObjectStorage, name: &str, bytes: &[u8]) -> Result<Manifest> {
        let damaged = |problem: String| Error::Damaged {
            place: storage.place().to_owned(),
            name: name.to_owned(),
            problem,
        };
        let sealed: Sealed = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if sealed.manifest.format > FORMAT {
            return Err(damaged(format!(
                "its format {} is of a later version of this program",
                sealed.manifest.format
            )));
        }
        if sealed.manifest.checksum() != sealed.checksum {
            return Err(damaged("its checksum is wrong".into()));
        }
        Ok(sealed.manifest)
    }
}

/// Increments that are being read, by their numbers.
type Coming = VecDeque<(u32, JoinHandle<Result<Manifest>>)>;

/// Reads the manifest of an increment that has to be there.
async fn read_increment(storage: ObjectStorage, number: u32) -> Result<Manifest> {
    let name = increment_name(number);
    match storage.get(&name).await {
        Ok(bytes) => Manifest::unseal(&storage, &name, &bytes),
        // Without the one that is missing the others would seem to be none.
        Err(paceline_object_storage::Error::NotFound { .. }) => Err(Error::Damaged {
            place: storage.place().to_owned(),
            name,
            problem: "it is missing, and there are later ones".into(),
        }),
        Err(error) => Err(error.into()),
    }
}

/// A full backup and its increments.
#[derive(Debug)]
pub struct Chain {
    /// The full one first.
    pub manifests: Vec<Manifest>,
}

impl Chain {
    /// Reads the manifests in a place; `None` if there is no full backup.
    ///
    /// # Errors
    /// [`Error::Damaged`] for one that is not as it was written, does not follow the one before, or is missing; if the place fails.
    pub async fn load(storage: &ObjectStorage) -> Result<Option<Chain>> {
        let full = match storage.get(FULL).await {
            Ok(bytes) => Manifest::unseal(storage, FULL, &bytes)?,
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
                chain.take_first(storage, &mut coming).await?;
            }
        }
        while !coming.is_empty() {
            chain.take_first(storage, &mut coming).await?;
        }
        Ok(Some(chain))
    }

    /// Adds the first of the increments that are being read.
    async fn take_first(&mut self, storage: &ObjectStorage, coming: &mut Coming) -> Result<()> {
        let Some((number, reading)) = coming.pop_front() else {
            return Ok(());
        };
        let next = match reading.await {
            Ok(next) => next?,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let last = self.last();
        let wanted = Follows {
            number,
            checksum: last.checksum(),
        };
        if next.follows.as_ref() != Some(&wanted) || next.log.from != last.log.to {
            return Err(Error::Damaged {
                place: storage.place().to_owned(),
                name: increment_name(number),
                problem: "it does not follow the part before it".into(),
            });
        }
        self.manifests.push(next);
        Ok(())
    }

    /// The newest part.
    pub fn last(&self) -> &Manifest {
        self.manifests.last().expect("there is a full backup")
    }

    /// The tables of the full backup.
    pub fn tables(&self) -> Option<&Tables> {
        self.manifests[0].tables.as_ref()
    }

    /// All pieces of the log, in order.
    pub fn log_pieces(&self) -> impl Iterator<Item = &LogPiece> {
        self.manifests.iter().flat_map(|manifest| &manifest.log.pieces)
    }

    /// Every object that belongs to it, with length and checksum.
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

    /// A full one, whose log has one piece.
    pub fn full() -> Manifest {
        manifest(None, LogPosition::new(7, 0), LogPosition::new(7, 500))
    }

    fn manifest(follows: Option<Follows>, from: LogPosition, to: LogPosition) -> Manifest {
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
    fn a_chain_is_read_as_it_was_written() {
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
            let follows = Follows {
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

            // One that is missing.
            let bytes = storage.get("increment-000001.json").await.unwrap().to_vec();
            storage.delete("increment-000001.json").await.unwrap();
            storage
                .put("increment-000002.json", bytes.clone(), Replace::No)
                .await
                .unwrap();
            let error = Chain::load(&storage).await.unwrap_err().to_string();
            assert!(
                error.contains("'increment-000001.json' is damaged: it is missing"),
                "{error}"
            );
            storage.delete("increment-000002.json").await.unwrap();
            storage
                .put("increment-000001.json", bytes, Replace::No)
                .await
                .unwrap();

            // One that follows another.
            let stray = Follows {
                number: 2,
                checksum: full.checksum(),
            };
            manifest(Some(stray), at(900), at(950))
                .store(&storage)
                .await
                .unwrap();
            assert!(matches!(Chain::load(&storage).await, Err(Error::Damaged { .. })));
            storage.delete("increment-000002.json").await.unwrap();

            // A flipped bit anywhere in what is said.
            let bytes = storage.get(FULL).await.unwrap().to_vec();
            let text = String::from_utf8(bytes).unwrap();
            let changed = text.replace("\"0-1-5\"", "\"0-1-4\"");
            assert_ne!(text, changed);
            storage.put(FULL, changed, Replace::Yes).await.unwrap();
            assert!(matches!(Chain::load(&storage).await, Err(Error::Damaged { .. })));
        });
    }
}
