//! The request of a new member to become a log holder.
//!
//! A directory that is new has the file `paceline.joining` from before it has an identity until the cluster's settings
//! in etcd name the member as a log holder. So the request outlives a process that ends meanwhile, and a member that
//! was removed later does not add itself again when it starts.
//!
//! Rejected: to ask when the identity is new, which a process that was killed did not know again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "paceline.joining";

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

    /// Ends the request, which has been made.
    pub(crate) fn end(self) {
        // If the file stays, the next start asks for what is there already.
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("{} cannot be removed: {error}", self.path.display());
        }
    }
}
