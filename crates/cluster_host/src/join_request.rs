//! The request of a new member to become a log holder.
//!
//! A directory that is new has the file `paceline.joining` from before it has an identity until the cluster's settings
//! in etcd name the member as a log holder. So the request outlives a process that ends meanwhile, and a member that
//! was removed later does not add itself again when it starts.
//!
//! The request is made while the member runs, however long etcd is away. Rejected: a task of the start alone, which
//! ended when the tables were opened; and "the identity is new", which a process that was killed did not know again.

use crate::commands::{self, CommandError};
use crate::etcd::Store;
use crate::register::{KindText, MemberEntry};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "paceline.joining";
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Request that has not been made yet.
#[derive(Debug)]
pub struct JoinRequest {
    path: PathBuf,
}

impl JoinRequest {
    /// Begins a request, durably.
    pub(crate) fn begin(directory: &Path) -> io::Result<()> {
        File::create(directory.join(NAME))?.sync_all()?;
        File::open(directory)?.sync_all()
    }

    /// Returns the request that this directory has still to make.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn unmade(directory: &Path) -> io::Result<Option<JoinRequest>> {
        let path = directory.join(NAME);
        Ok(path.try_exists()?.then_some(JoinRequest { path }))
    }

    /// Makes the request: a server founds the cluster if there is none. Repeats it until etcd has it.
    pub(crate) async fn make(self, store: Arc<Store>, entry: MemberEntry) {
        let mut told = String::new();
        while let Err(error) = try_join(&store, &entry).await {
            let text = error.to_string();
            if text != told {
                tracing::warn!("cluster: this member cannot be entered: {text}");
                told = text;
            }
            tokio::time::sleep(PAUSE).await;
        }
        // If the file stays, the next start asks for what is there already.
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("{} cannot be removed: {error}", self.path.display());
        }
    }
}

async fn try_join(store: &Store, entry: &MemberEntry) -> Result<(), CommandError> {
    if entry.kind == KindText::Server {
        store.found(entry).await?;
    }
    store.enter(entry).await?;
    commands::add(store, entry.member()).await.map(drop)
}
