//! The identity of a data directory: `paceline.member`, two lines of text.
//!
//! ```text
//!   cluster shop
//!   member 2750138231
//! ```
//! The number is random and made once per directory. A directory that is made anew is a new member, because the old
//! one's promise and log are gone. A directory that is copied must not bring this file along: two members of one
//! identity break each other's promises.

use crate::join_file::JoinRequest;
use paceline_cluster::MemberId;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Name of the file.
pub const NAME: &str = "paceline.member";
const NEW_NAME: &str = "paceline.member.new";

/// Reason why a directory does not belong to a member of this cluster.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum MemberFileError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: the file is damaged", path.display())]
    Damaged { path: PathBuf },
    #[error("{}: this directory belongs to the cluster {found}, not to {wanted}", path.display())]
    OtherCluster {
        path: PathBuf,
        found: String,
        wanted: String,
    },
    #[error("{0:?} is no name for a cluster: 1 to 64 letters, digits, dots, hyphens and underscores")]
    Name(String),
}

/// Identity of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberFile {
    cluster: String,
    id: MemberId,
}

/// Returns whether the directory has an identity.
pub(crate) fn exists(directory: &Path) -> bool {
    directory.join(NAME).exists()
}

/// Refuses a directory that belongs to a member of a cluster, for a program that does not take part in it.
///
/// # Errors
/// A message: which cluster it is, and what to do.
pub fn refuse_directory_of_member(directory: &Path) -> Result<(), String> {
    match MemberFile::read(directory) {
        Ok(None) => Ok(()),
        Ok(Some(member)) => Err(format!(
            "{}: this directory belongs to a member of the cluster '{}': start it with --cluster. To take it out of the \
             cluster for ever, remove the member (`paceline cluster remove`) and the file {NAME}",
            directory.display(),
            member.cluster
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns whether this is a name for a cluster. It is a part of keys in etcd.
pub fn is_cluster_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(is_allowed)
}

impl MemberFile {
    /// Reads the identity of the directory; makes one if it has none, and a [`JoinRequest`] before it. The promise's
    /// file must have been opened before.
    ///
    /// # Errors
    /// The directory belongs to another cluster, or the file is damaged or cannot be made.
    pub fn open(directory: &Path, cluster: &str) -> Result<MemberFile, MemberFileError> {
        if !is_cluster_name(cluster) {
            return Err(MemberFileError::Name(cluster.to_owned()));
        }
        match Self::read(directory)? {
            Some(found) if found.cluster == cluster => Ok(found),
            Some(found) => Err(MemberFileError::OtherCluster {
                path: directory.to_owned(),
                found: found.cluster,
                wanted: cluster.to_owned(),
            }),
            None => Self::create(directory, cluster),
        }
    }

    /// Reads the identity of the directory. `None`: it has none.
    ///
    /// # Errors
    /// The file is damaged or cannot be read.
    pub fn read(directory: &Path) -> Result<Option<MemberFile>, MemberFileError> {
        let path = directory.join(NAME);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(MemberFileError::Damaged { path });
            }
            Err(error) => return Err(MemberFileError::Io { path, error }),
            Ok(text) => text,
        };
        match parse(&text) {
            Some(found) => Ok(Some(found)),
            None => Err(MemberFileError::Damaged { path }),
        }
    }

    fn create(directory: &Path, cluster: &str) -> Result<MemberFile, MemberFileError> {
        let member = MemberFile {
            cluster: cluster.to_owned(),
            id: MemberId(rand::random_range(1..=u32::MAX)),
        };
        let (new, path) = (directory.join(NEW_NAME), directory.join(NAME));
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(format!("cluster {}\nmember {}\n", member.cluster, member.id.0).as_bytes())?;
            file.sync_all()?;
            JoinRequest::begin(directory)?;
            fs::rename(&new, &path)?;
            File::open(directory)?.sync_all()
        };
        match write() {
            Ok(()) => Ok(member),
            Err(error) => Err(MemberFileError::Io { path, error }),
        }
    }

    /// Returns the cluster's name.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Returns the member's identity.
    pub fn id(&self) -> MemberId {
        self.id
    }
}

fn parse(text: &str) -> Option<MemberFile> {
    let (cluster, member) = text.strip_suffix('\n')?.split_once('\n')?;
    let cluster = cluster
        .strip_prefix("cluster ")
        .filter(|name| is_cluster_name(name))?;
    let number = member.strip_prefix("member ")?;
    let id: u32 = number.parse().ok().filter(|id| *id != 0)?;
    (number == id.to_string()).then(|| MemberFile {
        cluster: cluster.to_owned(),
        id: MemberId(id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_made_once() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(MemberFile::read(directory.path()).unwrap(), None);
        assert!(JoinRequest::unmade(directory.path()).unwrap().is_none());
        let made = MemberFile::open(directory.path(), "shop").unwrap();
        assert_ne!(made.id().0, 0);
        assert_eq!(MemberFile::open(directory.path(), "shop").unwrap(), made);
        assert_eq!(MemberFile::read(directory.path()).unwrap(), Some(made.clone()));
        assert!(JoinRequest::unmade(directory.path()).unwrap().is_some());
        let other = tempfile::tempdir().unwrap();
        assert_ne!(MemberFile::open(other.path(), "shop").unwrap().id(), made.id());
    }

    #[test]
    fn a_directory_of_another_cluster_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        MemberFile::open(directory.path(), "shop").unwrap();
        let error = MemberFile::open(directory.path(), "bank").unwrap_err();
        assert!(matches!(error, MemberFileError::OtherCluster { .. }), "{error}");
        for name in ["", "a/b", "a b", "ä", &"x".repeat(65)] {
            let error = MemberFile::open(directory.path(), name).unwrap_err();
            assert!(matches!(error, MemberFileError::Name(_)), "{error}");
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_and_never_another_identity() {
        let directory = tempfile::tempdir().unwrap();
        let member = MemberFile::open(directory.path(), "shop").unwrap();
        let path = directory.path().join(NAME);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let error = MemberFile::open(directory.path(), "shop").unwrap_err();
            assert!(
                matches!(error, MemberFileError::Damaged { .. }),
                "{length}: {error}"
            );
        }
        for text in [
            "cluster shop\nmember 0\n",
            "cluster shop\nmember 007\n",
            "cluster shop\nmember -1\n",
        ] {
            fs::write(&path, text).unwrap();
            assert!(MemberFile::read(directory.path()).is_err(), "{text}");
        }
        fs::write(&path, &whole).unwrap();
        assert_eq!(MemberFile::open(directory.path(), "shop").unwrap(), member);
        // A file that was not finished is made anew.
        fs::remove_file(&path).unwrap();
        fs::write(directory.path().join(NEW_NAME), "clus").unwrap();
        MemberFile::open(directory.path(), "shop").unwrap();
    }
}
