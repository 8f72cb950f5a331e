//! Tests of positions, barriers, copies and limits.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{frozen, key, open_small, position};
use paceline_storage::{
    BuildId, Cursor, EngineKind, Error, IndexId, InputOrder, KeyRange, LogBarrier, Storage, StorageSnapshot,
};
use paceline_types::LogPosition;

struct Barrier {
    durable: AtomicU64,
    lagging: u64,
}

impl LogBarrier for Barrier {
    fn make_durable(&self, position: LogPosition) -> LogPosition {
        let durable = position.as_u64() - self.lagging;
        self.durable.store(durable, Ordering::SeqCst);
        LogPosition::from_u64(durable)
    }
}

fn put_one(storage: &Storage, n: u64, bytes: usize) {
    let set = frozen(position(n), |set| {
        set.put(&key(EngineKind::RocksDb, n as u32), &vec![n as u8; bytes])
    });
    storage.apply(&[set], position(n)).unwrap();
}

#[test]
fn no_flush_overtakes_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    let barrier = Arc::new(Barrier {
        durable: AtomicU64::new(0),
        lagging: 0,
    });
    storage.set_log_barrier(barrier.clone());
    // Much more than a memtable: flushed many times on the way, each time after the barrier.
    for n in 1..3000 {
        put_one(&storage, n, 1000);
        let durable = storage.durable_position().unwrap();
        assert!(
            durable.as_u64() <= barrier.durable.load(Ordering::SeqCst),
            "the tables are ahead of the log"
        );
    }
    assert!(storage.durable_position().unwrap() > position(2000));
    assert_eq!(storage.flush().unwrap(), position(2999));
}

#[test]
fn a_flush_ahead_of_a_lagging_log_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    storage.set_log_barrier(Arc::new(Barrier {
        durable: AtomicU64::new(0),
        lagging: 1,
    }));
    put_one(&storage, 5, 10);
    assert!(matches!(storage.flush(), Err(Error::AheadOfLog { .. })));
    assert_eq!(storage.durable_position().unwrap(), LogPosition::ZERO);
    // Nor is it written when the tables are closed: their log may have failed.
    drop(storage);
    let storage = open_small(directory.path());
    assert_eq!(storage.position(), LogPosition::ZERO);
}

/// Barrier that counts its calls.
#[derive(Default)]
struct CountingBarrier(AtomicU64);

impl LogBarrier for CountingBarrier {
    fn make_durable(&self, position: LogPosition) -> LogPosition {
        self.0.fetch_add(1, Ordering::SeqCst);
        position
    }
}

/// A retried flush includes what was applied since the failed one.
#[test]
fn a_retried_flush_does_not_overtake_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    let barrier = Arc::new(CountingBarrier::default());
    storage.set_log_barrier(barrier.clone());
    put_one(&storage, 1, 100);
    // Block the names of the next table files.
    for number in 1..100 {
        let name = format!("{number:06}.sst");
        std::fs::create_dir(directory.path().join("rocksdb").join(name)).unwrap();
    }
    let flushed = storage.flush();
    let requested = barrier.0.load(Ordering::SeqCst);
    assert!(requested > 1, "requested {requested} times: {flushed:?}");
}

#[test]
fn a_checkpoint_is_a_copy_at_its_position() {
    let directory = tempfile::tempdir().unwrap();
    let copies = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    for n in 1..200 {
        put_one(&storage, n, 3000);
    }
    let copy = copies.path().join("copy");
    assert_eq!(storage.checkpoint(&copy).unwrap(), position(199));
    for n in 200..300 {
        put_one(&storage, n, 3000);
    }
    drop(storage);
    let copied = open_small(&copy);
    assert_eq!(copied.position(), position(199));
    let rows = count(copied.scan_newest(
        IndexId::new(IndexId::FIRST_USER).range(),
        paceline_storage::Direction::Forward,
    ));
    assert_eq!(rows, 199);
}

#[test]
fn held_files_stay_until_they_are_released() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    for n in 1..200 {
        put_one(&storage, n, 3000);
    }
    let held = storage.hold_files().unwrap();
    assert_eq!(held.position(), position(199));
    let range = IndexId::new(IndexId::FIRST_USER).range();
    let set = frozen(position(200), |set| set.delete_range(range.clone()));
    storage.apply(&[set], position(200)).unwrap();
    storage.flush().unwrap();
    storage.maintain().unwrap();
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("rocksdb")).unwrap();
    for file in held.files() {
        let length = std::fs::copy(held.path(file), copy.path().join(&file.name)).unwrap();
        assert_eq!(length, file.length, "{}", file.name);
    }
    let copied = open_small(copy.path());
    assert_eq!(copied.position(), position(199));
    assert_eq!(
        count(copied.scan_newest(range, paceline_storage::Direction::Forward)),
        199
    );

    let again = storage.hold_files().unwrap();
    assert_eq!(again.position(), position(200));
    let places: Vec<_> = [&held, &again]
        .iter()
        .map(|held| held.path(&held.files()[0]))
        .collect();
    drop(held);
    assert!(!places[0].exists() && places[1].exists());
    // As if the server had been killed.
    std::mem::forget(again);
    drop(storage);
    open_small(directory.path());
    assert!(!places[1].exists());
}

fn count(mut cursor: Cursor) -> u64 {
    let mut rows = 0;
    while cursor.advance().unwrap() {
        rows += 1;
    }
    rows
}

#[test]
fn scans_over_old_versions_cause_a_flush_and_others_do_not() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    let rows = 50;
    let put_all = |n: u64| {
        let set = frozen(position(n), |set| {
            (0..rows).for_each(|row| set.put(&key(EngineKind::RocksDb, row), &n.to_be_bytes()));
        });
        storage.apply(&[set], position(n)).unwrap();
    };
    let scan = || {
        for _ in 0..3000 {
            let cursor = storage.scan_newest(
                IndexId::new(IndexId::FIRST_USER).range(),
                paceline_storage::Direction::Forward,
            );
            assert_eq!(count(cursor), u64::from(rows));
        }
        storage.maintain().unwrap();
        // A flush that was started ends by itself.
        std::thread::sleep(std::time::Duration::from_millis(300));
        storage.durable_position().unwrap()
    };
    put_all(1);
    assert_eq!(scan(), LogPosition::ZERO, "there is nothing to be gained");
    for n in 2..100 {
        put_all(n);
    }
    assert_eq!(scan(), position(99));
    put_all(100);
    assert_eq!(scan(), position(99), "one version of each row is no burden");
}

#[test]
fn memory_tables_have_a_limit() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = common::small_config(directory.path());
    config.memory.bytes_max = 10_000;
    let storage = Storage::open(&config).unwrap();
    storage.check_memory_room(9_000).unwrap();
    let set = frozen(position(1), |set| {
        set.put(&key(EngineKind::Memory, 1), &[7; 5000]);
        assert_eq!(set.memory_engine_bytes(), 5016);
    });
    storage.apply(&[set], position(1)).unwrap();
    assert!(matches!(
        storage.check_memory_room(9_000),
        Err(Error::MemoryFull {
            limit_bytes: 10_000,
            ..
        })
    ));
    let set = frozen(position(2), |set| {
        set.delete_range(IndexId::of_key(&key(EngineKind::Memory, 0)).unwrap().range())
    });
    storage.apply(&[set], position(2)).unwrap();
    storage.maintain().unwrap();
    storage.check_memory_room(9_000).unwrap();
}

#[test]
fn finished_builds_survive_a_crash_and_unfinished_ones_are_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    let build = |id, finish| {
        let build = storage.begin_build(BuildId(id)).unwrap();
        let mut index = build.index(InputOrder::Unsorted);
        for number in [5, 3, 9] {
            index.put(&key(EngineKind::RocksDb, number), &[0; 8]).unwrap();
        }
        index.finish().unwrap();
        if finish {
            build.finish().unwrap();
        } else {
            std::mem::forget(build); // as a crash would leave it
        }
    };
    build(7, true);
    build(8, false);
    build(9, true);
    drop(storage);
    let storage = open_small(directory.path());
    assert_eq!(storage.builds().unwrap(), [BuildId(7), BuildId(9)]);
    assert!(!directory.path().join("builds").join("8.building").exists());
    storage.abandon(BuildId(9)).unwrap();
    storage.activate(&[BuildId(7)], &[], position(3)).unwrap();
    assert!(matches!(
        storage.activate(&[BuildId(9)], &[], position(4)),
        Err(Error::NoSuchBuild(BuildId(9)))
    ));
    assert_eq!(storage.position(), position(3));
    let rows = |snapshot: StorageSnapshot| {
        count(snapshot.scan(
            IndexId::new(IndexId::FIRST_USER).range(),
            paceline_storage::Direction::Forward,
        ))
    };
    assert_eq!(rows(storage.snapshot()), 3);
}

#[test]
fn a_build_finds_duplicates_and_sorts_more_than_fits_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    let build = storage.begin_build(BuildId(1)).unwrap();
    let mut index = build.index(InputOrder::Unsorted);
    // 150 MB: several runs and files.
    let rows = 150_000u32;
    for number in 0..rows {
        let scattered = number.wrapping_mul(0x9e37_79b1);
        index
            .put(&key(EngineKind::RocksDb, scattered), &[1; 1000])
            .unwrap();
    }
    index.finish().unwrap();
    let mut unique = build.index(InputOrder::Sorted);
    unique.put(b"\0\0\x05\0a", &[0; 8]).unwrap();
    assert!(
        matches!(unique.put(b"\0\0\x05\0a", &[0; 8]), Err(Error::DuplicateKey { key }) if key == b"\0\0\x05\0a")
    );
    drop(unique);
    let mut unsorted = build.index(InputOrder::Unsorted);
    for key in [b"\0\0\x05\x01b", b"\0\0\x05\x01a", b"\0\0\x05\x01b"] {
        unsorted.put(key, &[0; 8]).unwrap();
    }
    assert!(matches!(unsorted.finish(), Err(Error::DuplicateKey { key }) if key == b"\0\0\x05\x01b"));
    build.finish().unwrap();
    storage.activate(&[BuildId(1)], &[], position(1)).unwrap();
    let index = IndexId::new(IndexId::FIRST_USER);
    assert_eq!(
        count(storage.scan_newest(index.range(), paceline_storage::Direction::Backward)),
        u64::from(rows)
    );
    assert!(storage.approximate_bytes(index) > 0);

    // After the index is dropped, its files are deleted when no snapshot needs them.
    let snapshot = storage.snapshot();
    let set = frozen(position(2), |set| set.delete_range(index.range()));
    storage.apply(&[set], position(2)).unwrap();
    storage.maintain().unwrap();
    assert_eq!(
        count(snapshot.scan(index.range(), paceline_storage::Direction::Forward)),
        u64::from(rows)
    );
    assert_eq!(
        count(storage.scan_newest(
            KeyRange::prefix(&index.to_be_bytes()),
            paceline_storage::Direction::Forward
        )),
        0
    );
    drop(snapshot);
    storage.maintain().unwrap();
    assert_eq!(
        count(
            storage
                .snapshot()
                .scan(index.range(), paceline_storage::Direction::Forward)
        ),
        0
    );
}

#[test]
fn a_large_group_leaves_the_last_value_of_each_key() {
    let directory = tempfile::tempdir().unwrap();
    let storage = open_small(directory.path());
    let long = |number: u32| {
        [
            key(EngineKind::RocksDb, 7),
            vec![1; 20],
            number.to_be_bytes().to_vec(),
        ]
        .concat()
    };
    let mut expected = std::collections::BTreeMap::new();
    let mut group = Vec::new();
    for n in 1..=500u64 {
        let version = position(n);
        let scattered = (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32;
        group.push(frozen(version, |set| {
            for key in [
                long(scattered % 40),
                key(EngineKind::RocksDb, scattered % 50),
                key(EngineKind::Memory, 1),
            ] {
                if scattered.is_multiple_of(3) {
                    set.delete(&key);
                    expected.remove(&key);
                } else {
                    set.put(&key, b"x");
                    expected.insert(key, version);
                }
            }
        }));
    }
    storage.apply(&group, position(500)).unwrap();
    let snapshot = storage.snapshot();
    for index in [key(EngineKind::RocksDb, 0), key(EngineKind::Memory, 0)] {
        let range = IndexId::of_key(&index).unwrap().range();
        let mut cursor = snapshot.scan(range.clone(), paceline_storage::Direction::Forward);
        let mut found = std::collections::BTreeMap::new();
        while let Some((key, value)) = cursor.next().unwrap() {
            found.insert(key.to_vec(), paceline_storage::value_version(value).unwrap());
        }
        let wanted: std::collections::BTreeMap<_, _> = expected
            .clone()
            .into_iter()
            .filter(|(key, _)| range.contains(key))
            .collect();
        assert_eq!(found, wanted);
    }
}

/// Returns the number kept under an id.
fn kept(storage: &Storage, id: IndexId) -> Option<u64> {
    let value = storage.get_newest(&id.number_key()).unwrap()?;
    IndexId::number_of(value.payload())
}

#[test]
fn numbers_only_rise_until_their_range_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (IndexId::new(1030), IndexId::new(1031));
    let raise = |version: u64, numbers: &[(IndexId, u64)]| {
        frozen(position(version), |set| {
            let key = key(EngineKind::RocksDb, 1);
            set.put(&key, b"row");
            numbers
                .iter()
                .for_each(|(id, number)| set.raise_counter(*id, *number));
        })
    };
    {
        let storage = open_small(directory.path());
        assert_eq!(kept(&storage, a), None);
        // In one group and in several, in log order.
        let group = [raise(1, &[(a, 7), (a, 3)]), raise(2, &[(a, 5), (b, 1)])];
        storage.apply(&group, position(2)).unwrap();
        storage.apply(&[raise(3, &[(a, 6)])], position(3)).unwrap();
        assert_eq!((kept(&storage, a), kept(&storage, b)), (Some(7), Some(1)));
        let snapshot = storage.snapshot();
        storage.apply(&[raise(4, &[(a, 8)])], position(4)).unwrap();
        let seen = snapshot.get(&a.number_key()).unwrap().unwrap();
        assert_eq!(IndexId::number_of(seen.payload()), Some(7));
        storage.flush().unwrap();
    }
    let storage = open_small(directory.path());
    storage.apply(&[raise(5, &[(a, 2)])], position(5)).unwrap();
    assert_eq!((kept(&storage, a), kept(&storage, b)), (Some(8), Some(1)));
    // Numbers in a range that a set deletes start again, and the set's own numbers apply after that.
    let emptied = frozen(position(6), |set| {
        set.raise_counter(b, 2);
        set.delete_range(a.range());
        set.delete_range(b.range());
    });
    storage
        .apply(&[raise(5, &[(a, 9)]), emptied], position(6))
        .unwrap();
    assert_eq!((kept(&storage, a), kept(&storage, b)), (None, Some(2)));
    storage
        .apply(&[raise(7, &[(a, 4), (b, 1)])], position(7))
        .unwrap();
    assert_eq!((kept(&storage, a), kept(&storage, b)), (Some(4), Some(2)));
    // Also the numbers of a large set, whose rows go to files.
    let mut large = paceline_storage::WriteSet::new();
    large.put(&key(EngineKind::RocksDb, 2), b"row");
    large.raise_counter(a, 40);
    storage
        .apply_large(&Arc::new(large.assign_version(position(8))), position(8))
        .unwrap();
    assert_eq!(kept(&storage, a), Some(40));
}
