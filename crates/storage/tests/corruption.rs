//! A flipped bit in a table file is an error that names the file, never a wrong row. So is a missing file.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{frozen, key, open_small, position};
use paceline_storage::{Direction, EngineKind, Error, KeyRange, Storage};

fn value(number: u32) -> Vec<u8> {
    (0..100u32)
        .map(|at| (number.wrapping_mul(31).wrapping_add(at * at)) as u8)
        .collect()
}

fn fill(directory: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let storage = open_small(directory);
    let mut model = BTreeMap::new();
    for n in 1..=40u64 {
        let set = frozen(position(n), |set| {
            for number in 0..50 {
                let number = (n as u32 * 50 + number) % 1500;
                set.put(&key(EngineKind::RocksDb, number), &value(number));
                let stored = [&position(n).to_be_bytes()[..], &value(number)].concat();
                model.insert(key(EngineKind::RocksDb, number), stored);
            }
        });
        storage.apply(&[set], position(n)).unwrap();
    }
    storage.close().unwrap();
    model
}

fn table_files(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory.join("rocksdb"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "sst"))
        .collect()
}

/// Reads everything, by scan and by key, and compares it with what was written.
fn read_all(storage: &Storage, model: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<(), Error> {
    let range = KeyRange::new(key(EngineKind::RocksDb, 0), key(EngineKind::RocksDb, u32::MAX));
    let mut cursor = storage.scan_newest(range, Direction::Forward);
    let mut entries = 0;
    while let Some((key, value)) = cursor.next()? {
        assert_eq!(
            model.get(key).map(Vec::as_slice),
            Some(value),
            "a wrong row was read"
        );
        entries += 1;
    }
    assert_eq!(entries, model.len(), "a row is missing without an error");
    for (key, value) in model {
        let found = storage
            .get_newest(key)?
            .expect("a row is missing without an error");
        assert_eq!(&found[..], &value[..], "a wrong row was read");
    }
    Ok(())
}

#[test]
fn every_flipped_bit_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let model = fill(directory.path());
    let files = table_files(directory.path());
    assert!(!files.is_empty());
    let (mut found, mut harmless) = (0, 0);
    for file in &files {
        let whole = fs::read(file).unwrap();
        // Some sixty positions in every file.
        for at in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(file, &damaged).unwrap();
            let outcome = Storage::open(&common::small_config(directory.path()))
                .and_then(|storage| read_all(&storage, &model));
            match outcome {
                Err(Error::Corruption(message)) => {
                    let name = file.file_name().unwrap().to_str().unwrap();
                    assert!(
                        message.contains(name),
                        "the message does not name {name}: {message}"
                    );
                    found += 1;
                }
                Err(Error::Open { message, .. }) => {
                    assert!(message.contains("Corruption"), "at {at}: {message}");
                    found += 1;
                }
                Err(other) => panic!("at {at} of {}: {other}", file.display()),
                // Some properties of a file are not needed to read it.
                Ok(()) => harmless += 1,
            }
        }
        fs::write(file, &whole).unwrap();
    }
    println!("{found} found, {harmless} harmless");
    assert!(found > 10 * harmless, "{found} found, {harmless} harmless");
    read_all(&open_small(directory.path()), &model).unwrap();
}

#[test]
fn a_missing_file_is_found_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    fill(directory.path());
    let file = table_files(directory.path()).pop().unwrap();
    fs::remove_file(&file).unwrap();
    let error = Storage::open(&common::small_config(directory.path()))
        .err()
        .expect("refused")
        .to_string();
    assert!(
        error.contains(file.file_name().unwrap().to_str().unwrap()),
        "{error}"
    );
}

#[test]
fn a_directory_in_use_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let _storage = open_small(directory.path());
    let error = Storage::open(&common::small_config(directory.path()))
        .err()
        .expect("refused")
        .to_string();
    assert!(error.contains("lock"), "{error}");
}
