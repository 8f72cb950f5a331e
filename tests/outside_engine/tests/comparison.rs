//! The engine beside MEMORY: the same random operations give the same answers.

use std::sync::Arc;

use outside_engine::TreeType;
use paceline_storage::{
    AddedEngine, Cursor, Direction, EngineKind, Error, FrozenWriteSet, IndexId, KeyRange, Storage,
    StorageConfig, StorageSnapshot, WriteSet, register_engine,
};
use paceline_types::LogPosition;
use proptest::prelude::*;

const NUMBER: u8 = 7;
const KEYS: u32 = 24;
const NEWEST: Option<&StorageSnapshot> = None;

fn tree() -> EngineKind {
    EngineKind::Added(AddedEngine::new(NUMBER).unwrap())
}

fn open(bytes_max: u64) -> (tempfile::TempDir, Storage) {
    // Each test registers it; the first one counts.
    let _ = register_engine(NUMBER, &TreeType);
    let directory = tempfile::tempdir().unwrap();
    let mut config = StorageConfig::new(directory.path());
    config.memory.bytes_max = bytes_max;
    let storage = Storage::open(&config).unwrap();
    (directory, storage)
}

fn key(engine: EngineKind, number: u32) -> Vec<u8> {
    let id = IndexId::in_engine(IndexId::FIRST_USER, engine);
    [id.to_be_bytes(), number.to_be_bytes()].concat()
}

fn position(number: u64) -> LogPosition {
    LogPosition::new(1, number)
}

fn frozen(version: LogPosition, fill: impl FnOnce(&mut WriteSet)) -> Arc<FrozenWriteSet> {
    let mut set = WriteSet::new();
    fill(&mut set);
    Arc::new(set.assign_version(version))
}

#[derive(Clone, Debug)]
enum Change {
    Put(u32, Vec<u8>),
    Delete(u32),
    DeleteRange(u32, u32),
}

#[derive(Clone, Debug)]
enum Step {
    /// A group of transactions.
    Apply(Vec<Vec<Change>>),
    Snapshot,
    DropSnapshot(usize),
    Maintain,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (0..KEYS, prop::collection::vec(any::<u8>(), 0..12)).prop_map(|(key, value)| Change::Put(key, value)),
        2 => (0..KEYS).prop_map(Change::Delete),
        1 => (0..KEYS, 0..KEYS).prop_map(|(from, to)| Change::DeleteRange(from, to)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let transaction = prop::collection::vec(change(), 1..8);
    prop_oneof![
        6 => prop::collection::vec(transaction, 1..4).prop_map(Step::Apply),
        2 => Just(Step::Snapshot),
        2 => (0usize..4).prop_map(Step::DropSnapshot),
        1 => Just(Step::Maintain),
    ]
}

fn write(set: &mut WriteSet, changes: &[Change]) {
    for engine in [EngineKind::Memory, tree()] {
        for change in changes {
            match change {
                Change::Put(number, value) => set.put(&key(engine, *number), value),
                Change::Delete(number) => set.delete(&key(engine, *number)),
                Change::DeleteRange(from, to) => {
                    set.delete_range(KeyRange::new(key(engine, *from), key(engine, *to)))
                }
            }
        }
    }
}

/// Keys without the index, and values.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Returns the rest of a scan.
fn read(mut cursor: Cursor) -> Entries {
    let mut entries = Vec::new();
    while let Some((key, value)) = cursor.next().unwrap() {
        entries.push((key[IndexId::LENGTH..].to_vec(), value.to_vec()));
    }
    assert!(cursor.next().unwrap().is_none(), "still at its end");
    entries
}

/// Returns everything that one engine shows, in a snapshot or its newest state.
fn shown(storage: &Storage, snapshot: Option<&StorageSnapshot>, engine: EngineKind) -> Vec<Entries> {
    let get = |number| {
        let key = key(engine, number);
        let found = match snapshot {
            Some(snapshot) => snapshot.get(&key).unwrap().map(|value| value.to_vec()),
            None => storage.get_newest(&key).unwrap().map(|value| value.to_vec()),
        };
        found.map(|value| (key[IndexId::LENGTH..].to_vec(), value))
    };
    let mut all = vec![(0..KEYS).filter_map(get).collect()];
    for direction in [Direction::Forward, Direction::Backward] {
        for (from, to) in [(0, KEYS), (5, 17), (9, 9), (20, 3)] {
            let range = KeyRange::new(key(engine, from), key(engine, to));
            let scan = || match snapshot {
                Some(snapshot) => snapshot.scan(range.clone(), direction),
                None => storage.scan_newest(range.clone(), direction),
            };
            all.push(read(scan()));
            // Back and forth.
            let mut cursor = scan();
            let _ = cursor.next().unwrap();
            for middle in [11, 2, 30] {
                cursor.seek(&key(engine, middle));
                let next = cursor.next().unwrap();
                let next = next.map(|(key, value)| (key[IndexId::LENGTH..].to_vec(), value.to_vec()));
                all.push(next.into_iter().collect());
            }
            all.push(read(cursor));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn random_operations_give_the_answers_of_memory(steps in prop::collection::vec(step(), 1..40)) {
        let (_directory, storage) = open(1 << 30);
        let mut snapshots = Vec::new();
        let mut clock = 0;
        for step in steps {
            match step {
                Step::Apply(transactions) => {
                    let mut group = Vec::new();
                    for changes in &transactions {
                        clock += 1;
                        group.push(frozen(position(clock), |set| write(set, changes)));
                    }
                    storage.apply(&group, position(clock)).unwrap();
                }
                Step::Snapshot => snapshots.push(storage.snapshot()),
                Step::DropSnapshot(number) if number < snapshots.len() => drop(snapshots.remove(number)),
                Step::DropSnapshot(_) => {}
                Step::Maintain => storage.maintain().unwrap(),
            }
            prop_assert_eq!(shown(&storage, NEWEST, tree()), shown(&storage, NEWEST, EngineKind::Memory));
            for snapshot in &snapshots {
                let expected = shown(&storage, Some(snapshot), EngineKind::Memory);
                prop_assert_eq!(shown(&storage, Some(snapshot), tree()), expected);
            }
        }
        // Both engines free what nothing shows any more.
        snapshots.clear();
        let nothing = frozen(position(clock + 1), |set| write(set, &[Change::DeleteRange(0, KEYS)]));
        storage.apply(&[nothing], position(clock + 1)).unwrap();
        storage.maintain().unwrap();
        prop_assert_eq!(storage.memory_sizes().memory_tables, 0);
    }
}

#[test]
fn a_cursor_keeps_its_version_readable() {
    let (_directory, storage) = open(1 << 30);
    let put = |number: u64| {
        let set = frozen(position(number), |set| {
            write(set, &[Change::Put(1, number.to_string().into_bytes())]);
        });
        storage.apply(&[set], position(number)).unwrap();
    };
    put(1);
    let mut cursors: Vec<Cursor> = [EngineKind::Memory, tree()]
        .map(|engine| {
            let range = IndexId::in_engine(IndexId::FIRST_USER, engine).range();
            storage.snapshot().scan(range, Direction::Forward)
        })
        .into();
    put(2);
    storage.maintain().unwrap();
    for cursor in &mut cursors {
        let (_, value) = cursor.next().unwrap().unwrap();
        assert_eq!(&value[8..], b"1");
    }
}

#[test]
fn memory_and_added_engines_have_one_limit() {
    let (_directory, storage) = open(10_000);
    storage.check_memory_room(9_000).unwrap();
    let set = frozen(position(1), |set| {
        set.put(&key(tree(), 1), &[7; 5_000]);
        assert_eq!(set.memory_engine_bytes(), 5_016);
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
        set.delete_range(KeyRange::prefix(&key(tree(), 1)[..4]))
    });
    storage.apply(&[set], position(2)).unwrap();
    storage.maintain().unwrap();
    storage.check_memory_room(9_000).unwrap();
}

#[test]
fn a_snapshot_has_all_of_a_group_in_every_engine_or_nothing() {
    let (_directory, storage) = open(1 << 30);
    let engines = [EngineKind::RocksDb, EngineKind::Memory, tree()];
    let apply = |number: u64| {
        let set = frozen(position(number), |set| {
            for engine in engines {
                set.put(&key(engine, 1), &number.to_be_bytes());
            }
        });
        storage.apply(&[set], position(number)).unwrap();
    };
    apply(1);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (2..3_000).for_each(apply));
        while !writer.is_finished() {
            let snapshot = storage.snapshot();
            let version = |engine| snapshot.get(&key(engine, 1)).unwrap().unwrap().version();
            assert_eq!(engines.map(version), [snapshot.position(); 3]);
        }
    });
}
