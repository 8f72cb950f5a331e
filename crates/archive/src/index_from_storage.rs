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
