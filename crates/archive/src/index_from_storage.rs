//! Restores an archive whose machine is lost: its files are in object storage, and a new archive continues after them.
//!
//! An empty directory that is given the same storage gets a stub for each file in it, and an index of the files.
//! Transactions that the old archive had received but not copied are requested from the primaries again.

use crate::disk::remote::{Fetcher, RemoteFrames, write_stub};
use crate::disk::{COMPRESSED, STUB, UNFINISHED, put_in_place, with_suffix};
use crate::error::{Error, Result};
use paceline_object_storage::{Object, ObjectStorage};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

/// Fills a directory that has no index from the storage, which `fetcher` reads. Returns the number of files; 0 if there
/// is an index already.
///
/// # Errors
/// Fails if the storage or the directory fails; [`Error::Option`] if files are missing in the middle.
pub async fn index_from_storage(
    storage: &ObjectStorage,
    fetcher: &Fetcher,
    directory: &Path,
    base_name: &str,
) -> Result<usize> {
    let index = directory.join(format!("{base_name}.index"));
    if index.exists() {
        return Ok(0);
    }
    let mut files: Vec<(u32, String, Object)> = storage
        .list("")
        .await?
        .into_iter()
        .filter_map(|object| {
            let name = object.name.strip_suffix(COMPRESSED)?.to_owned();
            let digits = name.strip_prefix(base_name)?.strip_prefix('.')?;
            let number = digits.parse().ok()?;
            Some((number, name, object))
        })
        .collect();
    files.sort_by_key(|(number, ..)| *number);
    for pair in files.windows(2) {
        if pair[1].0 != pair[0].0 + 1 {
            return Err(Error::Option(format!(
                "{}: there is nothing between '{}' and '{}', and the directory is empty: the log cannot go on behind a hole",
                storage.place(),
                pair[0].1,
                pair[1].1
            )));
        }
    }
    if files.is_empty() {
        return Ok(0);
    }
    let mut names = String::new();
    for (_, name, object) in &files {
        let found = tokio::task::block_in_place(|| {
            RemoteFrames::of_object(object.name.clone(), object.length, fetcher.clone())
        });
        let (frames, table) = found.map_err(Error::system(format!("use what is in {}", storage.place())))?;
        let stub = with_suffix(&directory.join(name), STUB);
        write_stub(&stub, frames.first(), &table, object.modified)
            .map_err(Error::system(format!("write {}", stub.display())))?;
        names.push_str(&format!("./{name}\n"));
    }
    let unfinished = with_suffix(&index, UNFINISHED);
    let written = File::create(&unfinished).and_then(|mut file| {
        file.write_all(names.as_bytes())?;
        put_in_place(&file, &unfinished, &index, SystemTime::now())
    });
    written.map_err(Error::system(format!("write {}", index.display())))?;
    Ok(files.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::ArchiveDisk;
    use crate::disk::seekable::compress;
    use crate::test_support::{fill, open_log, run};
    use paceline_simulated_store::{Failure, SimulatedStore};
    use std::fs;
    use std::sync::Arc;

    const FILES: u64 = 3;

    /// Returns the closed files of a log as objects: name and content.
    fn objects() -> Vec<(String, Vec<u8>)> {
        let directory = tempfile::tempdir().unwrap();
        let log = open_log(ArchiveDisk::default(), directory.path());
        fill(&log, FILES);
        let object = |number| {
            let name = format!("archive.{number:06}");
            let compressed = directory.path().join(format!("{name}{COMPRESSED}"));
            compress(&directory.path().join(&name), &compressed).unwrap();
            (format!("{name}{COMPRESSED}"), fs::read(compressed).unwrap())
        };
        (1..=FILES).map(object).collect()
    }

    fn store_with(objects: &[(String, Vec<u8>)]) -> SimulatedStore {
        let store = SimulatedStore::new();
        objects
            .iter()
            .for_each(|(name, content)| run(store.replace(name, content.clone())));
        store
    }

    fn filled_store() -> SimulatedStore {
        store_with(&objects())
    }

    fn open(store: &SimulatedStore) -> (ObjectStorage, Fetcher) {
        let storage = ObjectStorage::of_store(Arc::new(store.clone()), "there");
        let fetcher = Fetcher::start_with(|| Ok(storage.clone())).unwrap();
        (storage, fetcher)
    }

    fn fill_directory(store: &SimulatedStore, directory: &Path) -> Result<usize> {
        let (storage, fetcher) = open(store);
        run(index_from_storage(&storage, &fetcher, directory, "archive"))
    }

    #[test]
    fn an_empty_directory_gets_the_log_of_the_storage_and_continues_it() {
        let store = filled_store();
        run(store.replace("other.000009.zst", "x"));
        run(store.replace("archive.notes.zst", "x"));
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(fill_directory(&store, directory.path()).unwrap(), 3);
        let index = fs::read_to_string(directory.path().join("archive.index")).unwrap();
        assert_eq!(index, "./archive.000001\n./archive.000002\n./archive.000003\n");
        let (_, fetcher) = open(&store);
        let log = open_log(ArchiveDisk::new(Some(fetcher)), directory.path());
        assert_eq!(log.state().to_string(), "0-1-3");
        assert!(log.find("0-1-2".parse().unwrap()).unwrap().is_some());
        assert_eq!(log.files().last().unwrap().name, "archive.000004");
    }

    #[test]
    fn a_directory_with_an_index_and_an_empty_storage_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(
            fill_directory(&SimulatedStore::new(), directory.path()).unwrap(),
            0
        );
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        let store = filled_store();
        fs::write(directory.path().join("archive.index"), "./archive.000007\n").unwrap();
        assert_eq!(fill_directory(&store, directory.path()).unwrap(), 0);
        assert!(store.take_requests().is_empty());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_hole_in_the_log_and_a_damaged_file_are_refused() {
        let store = filled_store();
        run(store.replace("archive.000005.zst", "x"));
        let directory = tempfile::tempdir().unwrap();
        let hole = fill_directory(&store, directory.path()).unwrap_err().to_string();
        assert!(
            hole.contains("between 'archive.000003' and 'archive.000005'"),
            "{hole}"
        );
        let store = filled_store();
        run(store.replace("archive.000002.zst", "no frames"));
        let damaged = fill_directory(&store, directory.path()).unwrap_err().to_string();
        assert!(damaged.contains("'archive.000002.zst'"), "{damaged}");
        assert!(!directory.path().join("archive.index").exists());
    }

    #[test]
    fn whichever_request_fails_there_is_no_index_or_a_complete_one() {
        let mut count = 0;
        let objects = objects();
        for request in 1.. {
            let store = store_with(&objects);
            store.fail_at(request, Failure::Refused);
            let directory = tempfile::tempdir().unwrap();
            let filled = fill_directory(&store, directory.path());
            if !store.has_failed() {
                assert_eq!(filled.unwrap(), 3);
                break;
            }
            count += 1;
            // Reads are repeated; the listing is not.
            assert_eq!(filled.is_ok(), request > 1, "{request}: {filled:?}");
            assert_eq!(directory.path().join("archive.index").exists(), filled.is_ok());
            store.repair();
            assert_eq!(
                fill_directory(&store, directory.path()).unwrap(),
                if request > 1 { 0 } else { 3 }
            );
        }
        // The listing; for each file its table and its first frame, each a request and its content.
        assert_eq!(count, 1 + FILES as usize * 4);
    }
}
