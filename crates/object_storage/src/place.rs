//! Opens places: directories and buckets.

use crate::error::{Error, Result};
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, RetryConfig};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// A place that was opened.
pub(crate) struct OpenedPlace {
    pub store: Arc<dyn ObjectStore>,
    /// Prefix of all object names.
    pub prefix: Path,
    /// The directory; `None` for a bucket.
    pub directory: Option<PathBuf>,
    /// Whether opening the place has created the directory.
    pub origin: DirectoryOrigin,
}

/// Origin of a place's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryOrigin {
    /// The directory existed.
    Existing,
    /// Opening the place created the directory.
    Created,
}

/// Opens a place.
///
/// # Errors
/// [`Error::Place`] if it is neither a directory nor a known URL, or cannot be opened.
pub(crate) fn open(place: &str) -> Result<OpenedPlace> {
    let problem = |problem: String| Error::Place {
        place: place.to_owned(),
        problem,
    };
    if let Some(scheme) = ["s3:", "file:"].iter().find(|scheme| place.starts_with(**scheme))
        && !place[scheme.len()..].starts_with("//")
    {
        return Err(problem(format!(
            "a URL begins with {scheme}//; a directory of that name is written ./{place}"
        )));
    }
    if !place.contains("://") {
        return open_directory(place, PathBuf::from(place));
    }
    let url = Url::parse(place).map_err(|error| problem(error.to_string()))?;
    match url.scheme() {
        "file" => {
            let path = url
                .to_file_path()
                .map_err(|()| problem("a file:// URL names an absolute directory: file:///DIR".into()))?;
            open_directory(place, path)
        }
        "s3" => open_bucket(place, &url, AmazonS3Builder::from_env().with_retry(retry())),
        scheme => Err(problem(format!(
            "'{scheme}' is not known; there are: a directory, file:///DIR, s3://BUCKET/NAME"
        ))),
    }
}

fn open_directory(place: &str, path: PathBuf) -> Result<OpenedPlace> {
    let problem = |error: String| Error::Place {
        place: place.to_owned(),
        problem: error,
    };
    if path.as_os_str().is_empty() {
        return Err(problem("it has no name".into()));
    }
    let origin = match path.exists() {
        true => DirectoryOrigin::Existing,
        false => DirectoryOrigin::Created,
    };
    make_directory(&path).map_err(|error| problem(error.to_string()))?;
    let path = path.canonicalize().map_err(|error| problem(error.to_string()))?;
    let store = LocalFileSystem::new_with_prefix(&path).map_err(|error| problem(error.to_string()))?;
    Ok(OpenedPlace {
        store: Arc::new(store.with_fsync(true)),
        prefix: Path::default(),
        directory: Some(path),
        origin,
    })
}

/// Creates a directory, accessible only to its owner, and its missing parents.
fn make_directory(path: &std::path::Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    DirBuilder::new().mode(0o700).create(path)
}

pub(crate) fn open_bucket(place: &str, url: &Url, service: AmazonS3Builder) -> Result<OpenedPlace> {
    let problem = |error: String| Error::Place {
        place: place.to_owned(),
        problem: error,
    };
    let bucket = url
        .host_str()
        .filter(|bucket| !bucket.is_empty())
        .ok_or_else(|| problem("it names no bucket: s3://BUCKET/NAME".into()))?;
    // If a provider is installed already, it stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = service
        .with_bucket_name(bucket)
        .build()
        .map_err(|error| problem(error.to_string()))?;
    let prefix = Path::from_url_path(url.path()).map_err(|error| problem(error.to_string()))?;
    Ok(OpenedPlace {
        store: Arc::new(store),
        prefix,
        directory: None,
        origin: DirectoryOrigin::Existing,
    })
}

/// Returns the policy for a service that does not answer or is temporarily unavailable: it may be restarting.
fn retry() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(2),
            base: 3.0,
        },
        // The time limit below ends the attempts first.
        max_retries: 1000,
        retry_timeout: Duration::from_secs(30),
    }
}

/// Removes the directories below `directory` that contain no files.
pub(crate) fn remove_empty_below(directory: &std::path::Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty_below(&entry.path());
            // Fails for a directory that is not empty: it remains.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Removes the temporary files in which the directory store writes unfinished objects: `NAME#1`.
pub(crate) fn remove_unfinished(directory: &std::path::Path) -> io::Result<usize> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            removed += remove_unfinished(&entry.path())?;
        } else if is_unfinished(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn is_unfinished(name: &str) -> bool {
    name.rsplit_once('#')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ObjectStorage, Overwrite};

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn a_path_and_a_file_url_open_the_same_directory_and_other_places_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a b/c");
        let by_path = ObjectStorage::open(path.to_str().unwrap()).unwrap();
        let by_url = ObjectStorage::open(Url::from_file_path(&path).unwrap().as_ref()).unwrap();
        run(async {
            by_path.put("x/y", "content", Overwrite::No).await.unwrap();
            assert_eq!(by_url.get("x/y").await.unwrap(), "content");
        });
        for wrong in [
            "",
            "ftp://x/y",
            "s3:///name",
            "file://relative/name",
            "s3:/b/x",
            "s3:b",
            "file:/x",
        ] {
            assert!(
                matches!(ObjectStorage::open(wrong), Err(Error::Place { .. })),
                "{wrong}"
            );
        }
        fs::write(directory.path().join("file"), "").unwrap();
        assert!(ObjectStorage::open(directory.path().join("file/below").to_str().unwrap()).is_err());
    }

    #[test]
    fn an_object_exists_only_after_its_upload_is_finished() {
        let directory = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::open(directory.path().to_str().unwrap()).unwrap();
        run(async {
            let big = vec![7; 20 << 20];
            let mut upload = storage.upload("a/big").await.unwrap();
            for chunk in big.chunks(1 << 20) {
                upload.write(chunk.to_vec()).await.unwrap();
            }
            assert!(storage.list("").await.unwrap().is_empty());
            assert!(matches!(
                storage.describe("a/big").await,
                Err(Error::NotFound { .. })
            ));
            upload.finish().await.unwrap();
            let mut download = storage.download("a/big").await.unwrap();
            assert_eq!(download.length(), big.len() as u64);
            let mut read = Vec::new();
            while let Some(chunk) = download.next().await.unwrap() {
                read.extend_from_slice(&chunk);
            }
            assert!(read == big);

            let mut left = storage.upload("a/left").await.unwrap();
            left.write(vec![1; 9 << 20]).await.unwrap();
            std::mem::forget(left);
            let mut given_up = storage.upload("b/given_up").await.unwrap();
            given_up.write("x").await.unwrap();
            given_up.abort().await.unwrap();
            storage.put("ab", "1", Overwrite::Yes).await.unwrap();
            let names: Vec<String> = storage
                .list("a")
                .await
                .unwrap()
                .into_iter()
                .map(|o| o.name)
                .collect();
            assert_eq!(names, ["a/big"]);
            assert_eq!(storage.remove_unfinished("").await.unwrap(), 1);
            assert_eq!(storage.remove_unfinished("not there").await.unwrap(), 0);
        });
    }

    #[test]
    fn a_listing_is_sorted_by_name_and_has_only_whole_segments_of_the_prefix() {
        let directory = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::open(directory.path().to_str().unwrap()).unwrap();
        run(async {
            let mut names: Vec<String> = (0..40)
                .map(|number| format!("log/{:02}", number * 27 % 40))
                .collect();
            for name in names.iter().map(String::as_str).chain(["logs", "log2/1", "0"]) {
                storage.put(name, "x", Overwrite::No).await.unwrap();
            }
            names.sort();
            let listed = storage.list("log").await.unwrap();
            let listed: Vec<String> = listed.into_iter().map(|object| object.name).collect();
            assert_eq!(listed, names);
        });
    }

    #[test]
    fn empty_directories_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let (made, there) = (directory.path().join("made"), directory.path().join("there"));
        fs::create_dir(&there).unwrap();
        run(async {
            for (path, stays) in [(&made, false), (&there, true)] {
                let storage = ObjectStorage::open(path.to_str().unwrap()).unwrap();
                storage.put("a/b/c", "1", Overwrite::No).await.unwrap();
                storage.put("a/d", "1", Overwrite::No).await.unwrap();
                storage.delete("a/b/c").await.unwrap();
                storage.remove_empty().await;
                assert!(!path.join("a/b").exists() && path.join("a/d").exists());
                storage.delete("a/d").await.unwrap();
                storage.remove_empty().await;
                assert!(!path.join("a").exists());
                assert_eq!(path.exists(), stays);
            }
        });
    }

    #[test]
    fn small_objects_are_written_read_replaced_and_deleted() {
        let directory = tempfile::tempdir().unwrap();
        let storage = ObjectStorage::open(directory.path().to_str().unwrap()).unwrap();
        run(async {
            storage.put("m", "one", Overwrite::No).await.unwrap();
            let again = storage.put("m", "two", Overwrite::No).await;
            assert!(matches!(again, Err(Error::AlreadyThere { .. })));
            assert_eq!(storage.get("m").await.unwrap(), "one");
            storage.put("m", "three", Overwrite::Yes).await.unwrap();
            assert_eq!(storage.read("m", 1..4).await.unwrap(), "hre");
            assert_eq!(storage.read("m", 3..3).await.unwrap(), "");
            for range in [3..9, 7..9] {
                let short = storage.read("m", range).await;
                assert!(matches!(
                    short,
                    Err(Error::Short {
                        end: 5,
                        wanted: 9,
                        ..
                    })
                ));
            }
            storage.delete("m").await.unwrap();
            storage.delete("m").await.unwrap();
            assert!(matches!(storage.get("m").await, Err(Error::NotFound { .. })));
            assert!(matches!(storage.download("m").await, Err(Error::NotFound { .. })));
            assert!(matches!(
                storage.read("m", 0..1).await,
                Err(Error::NotFound { .. })
            ));
        });
    }
}
