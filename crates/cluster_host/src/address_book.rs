//! Copy of the members' directory on disk, `paceline.members`: a member that starts while etcd is away still knows the
//! addresses of the others, and can follow the primary.
//!
//! The file is a hint. It is written when the directory changes, without sync, and one that cannot be read counts as
//! empty; a wrong address reaches nobody, because each connection names the member that it looks for.

use crate::handle::ClusterHandle;
use crate::register::{MEMBERS_MAX, MemberEntry};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAME: &str = "paceline.members";
const NEW_NAME: &str = "paceline.members.new";
/// Maximum length of the file.
const BYTES_MAX: u64 = 1 << 20;

/// Returns the directory that was written last; empty if there is none.
pub fn read(directory: &Path) -> Vec<MemberEntry> {
    let read = || -> io::Result<Vec<MemberEntry>> {
        let mut bytes = Vec::new();
        let file = File::open(directory.join(NAME))?;
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    };
    let mut members = read().unwrap_or_default();
    members.truncate(MEMBERS_MAX);
    members
}

fn write(directory: &Path, members: &[MemberEntry]) -> io::Result<()> {
    let new = directory.join(NEW_NAME);
    fs::write(&new, serde_json::to_vec(members)?)?;
    fs::rename(new, directory.join(NAME))
}

/// Writes the members' directory whenever it changes.
pub(crate) async fn keep(directory: PathBuf, handle: ClusterHandle) {
    let mut changes = handle.directory();
    while changes.changed().await.is_ok() {
        let members = Arc::clone(&changes.borrow_and_update());
        let directory = directory.clone();
        let written = tokio::task::spawn_blocking(move || write(&directory, &members)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!("{NAME} cannot be written: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::KindText;

    #[test]
    fn addresses_are_read_as_they_were_written_and_damage_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()), []);
        let members = [MemberEntry {
            id: 7,
            name: "a".to_owned(),
            host: "10.0.0.1".to_owned(),
            port: 3306,
            cluster_host: "10.0.0.1".to_owned(),
            cluster_port: 3307,
            kind: KindText::Server,
            zone: 0,
            priority: 0,
            version: "0".to_owned(),
            log_format: 1,
        }];
        write(directory.path(), &members).unwrap();
        assert_eq!(read(directory.path()), members);
        fs::write(directory.path().join(NAME), "[{").unwrap();
        assert_eq!(read(directory.path()), []);
    }
}
