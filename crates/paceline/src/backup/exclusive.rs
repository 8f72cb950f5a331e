//! Allows one backup at a time in a place, and removes the remains of an interrupted one.

use super::error::{Error, Result};
use super::manifest::Chain;
use paceline_object_storage::{ObjectStorage, Overwrite};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// Object that exists while a backup is written.
const UNFINISHED: &str = "unfinished.json";

/// The process that writes a backup.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Writer {
    hostname: String,
    process: u32,
    begun: String,
}

/// When the remains of another backup may be removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StaleBackup {
    /// If its process ran on this machine and is gone.
    RemoveIfGone,
    /// Always: the user states that its process is gone.
    RemoveAlways,
}

/// A backup that is being written.
#[derive(Debug)]
pub struct BackupInProgress {
    storage: ObjectStorage,
}

fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

impl Writer {
    fn this() -> Self {
        Writer {
            hostname: hostname(),
            process: std::process::id(),
            begun: jiff::Timestamp::now().to_string(),
        }
    }

    fn is_gone(&self) -> bool {
        self.hostname == hostname() && !Path::new(&format!("/proc/{}", self.process)).exists()
    }
}

impl BackupInProgress {
    /// Starts a backup. Removes the remains of an interrupted one. Returns the backups in the place; while this backup
    /// runs, no other can add to them.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`] if another backup may be running, or if the place contains something else.
    pub async fn begin(storage: &ObjectStorage, stale: StaleBackup) -> Result<(Self, Option<Chain>)> {
        let backup = BackupInProgress {
            storage: storage.clone(),
        };
        match storage.get(UNFINISHED).await {
            Ok(bytes) => {
                let writer: Option<Writer> = serde_json::from_slice(&bytes).ok();
                let is_gone = writer.as_ref().is_some_and(Writer::is_gone);
                if !is_gone && stale != StaleBackup::RemoveAlways {
                    let description = writer.map_or_else(String::new, |writer| {
                        format!(
                            ", started at {} by process {} on {}",
                            writer.begun, writer.process, writer.hostname
                        )
                    });
                    return Err(backup.already_exists(&format!(
                        "another backup is being written there, or was interrupted{description}. If it is no longer running, --replace-unfinished \
                         removes its remains"
                    )));
                }
                eprintln!("paceline backup: removing the remains of an interrupted backup");
                backup.remove_left().await?;
            }
            Err(paceline_object_storage::Error::NotFound { .. }) => {
                if Chain::load(storage).await?.is_none() && !storage.list("").await?.is_empty() {
                    return Err(backup.already_exists("it is not empty, but contains no backup"));
                }
            }
            Err(error) => return Err(error.into()),
        }
        let writer = serde_json::to_vec(&Writer::this()).expect("a writer is plain text and numbers");
        match storage.put(UNFINISHED, writer, Overwrite::No).await {
            Ok(()) => {
                let chain = Chain::load(storage).await?;
                Ok((backup, chain))
            }
            Err(paceline_object_storage::Error::AlreadyThere { .. }) => {
                Err(backup.already_exists("another backup has just started there"))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn already_exists(&self, problem: &str) -> Error {
        Error::AlreadyExists {
            place: self.storage.place().to_owned(),
            problem: problem.to_owned(),
        }
    }

    /// Removes the objects that no manifest names, and then the mark. The manifests are read now, because the other
    /// backup may have been completed just before.
    async fn remove_left(&self) -> Result<()> {
        let chain = Chain::load(&self.storage).await?;
        let named: HashSet<String> = chain
            .iter()
            .flat_map(|chain| chain.objects().map(|object| object.0))
            .collect();
        for below in ["tables", "log"] {
            self.storage.remove_unfinished(below).await?;
            for object in self.storage.list(below).await? {
                if !named.contains(&object.name) {
                    self.storage.delete(&object.name).await?;
                }
            }
        }
        Ok(self.storage.delete(UNFINISHED).await?)
    }

    /// Ends a complete backup.
    ///
    /// # Errors
    /// Fails if the place fails. The backup exists nevertheless.
    pub async fn end(self) -> Result<()> {
        Ok(self.storage.delete(UNFINISHED).await?)
    }

    /// Ends an incomplete backup: removes what was written.
    ///
    /// # Errors
    /// Fails if the place fails.
    pub async fn roll_back(self) -> Result<()> {
        self.remove_left().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_backup_runs_at_a_time_and_remains_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let storage = ObjectStorage::open(directory.path().to_str().unwrap()).unwrap();
            let (backup, _) = BackupInProgress::begin(&storage, StaleBackup::RemoveIfGone)
                .await
                .unwrap();
            storage
                .put("tables/rocksdb/1.sst", "x", Overwrite::No)
                .await
                .unwrap();
            // This process is alive.
            let second = BackupInProgress::begin(&storage, StaleBackup::RemoveIfGone).await;
            assert!(matches!(second, Err(Error::AlreadyExists { .. })));
            drop(backup);
            let (again, _) = BackupInProgress::begin(&storage, StaleBackup::RemoveAlways)
                .await
                .unwrap();
            assert_eq!(storage.list("").await.unwrap().len(), 1);
            again.end().await.unwrap();

            // A process that is gone: no process has this number.
            let gone = Writer {
                process: u32::MAX,
                ..Writer::this()
            };
            let gone = serde_json::to_vec(&gone).unwrap();
            storage.put(UNFINISHED, gone, Overwrite::No).await.unwrap();
            storage
                .put("log/binlog.000001.000000000000", "x", Overwrite::No)
                .await
                .unwrap();
            let (third, chain) = BackupInProgress::begin(&storage, StaleBackup::RemoveIfGone)
                .await
                .unwrap();
            assert!(chain.is_none());
            third.roll_back().await.unwrap();
            assert!(storage.list("").await.unwrap().is_empty());

            // A complete backup whose mark remained: nothing of it is removed.
            let full = crate::backup::manifest::tests::full();
            full.store(&storage).await.unwrap();
            let piece = full.log.pieces[0].object();
            storage.put(&piece, "x", Overwrite::No).await.unwrap();
            storage.put("log/other", "x", Overwrite::No).await.unwrap();
            let gone = Writer {
                process: u32::MAX,
                ..Writer::this()
            };
            let gone = serde_json::to_vec(&gone).unwrap();
            storage.put(UNFINISHED, gone, Overwrite::No).await.unwrap();
            let (fourth, chain) = BackupInProgress::begin(&storage, StaleBackup::RemoveIfGone)
                .await
                .unwrap();
            assert_eq!(chain.unwrap().manifests, [full]);
            fourth.roll_back().await.unwrap();
            let left = storage.list("").await.unwrap();
            let mut left: Vec<String> = left.into_iter().map(|object| object.name).collect();
            left.sort();
            assert_eq!(left, ["backup.json", piece.as_str()]);
            storage.delete("backup.json").await.unwrap();
            storage.delete(&piece).await.unwrap();

            storage.put("photo.jpg", "x", Overwrite::No).await.unwrap();
            let other = BackupInProgress::begin(&storage, StaleBackup::RemoveAlways).await;
            assert!(matches!(other, Err(Error::AlreadyExists { .. })));
        });
    }
}
