//! Both engines against a sorted map: random groups, retained snapshots, scans in both directions, builds,
//! restarts.

mod common;

use std::collections::BTreeMap;

use common::{frozen, key, open_small, position};
use paceline_storage::{
    BuildId, Cursor, Direction, EngineKind, InputOrder, KeyRange, StorageSnapshot, VERSION_LENGTH,
};
use paceline_types::LogPosition;
use proptest::prelude::*;

const ENGINES: [EngineKind; 2] = [EngineKind::RocksDb, EngineKind::Memory];
const KEYS: u32 = 60;

#[derive(Clone, Debug)]
enum Change {
    Put(usize, u32, Vec<u8>),
    Delete(usize, u32),
    DeleteRange(usize, u32, u32),
}

#[derive(Clone, Debug)]
enum Step {
    /// The transactions of one group.
    Apply(Vec<Vec<Change>>),
    /// A build of these keys, with a transaction.
    Activate(Vec<u32>, Vec<Change>),
    Snapshot,
    DropSnapshot(usize),
    Flush,
    Maintain,
    Restart,
}

fn change() -> impl Strategy<Value = Change> {
    let value = proptest::collection::vec(any::<u8>(), 0..200);
    prop_oneof![
        6 => (0usize..2, 0..KEYS, value).prop_map(|(e, k, v)| Change::Put(e, k, v)),
        3 => (0usize..2, 0..KEYS).prop_map(|(e, k)| Change::Delete(e, k)),
        1 => (0usize..2, 0..KEYS, 0..KEYS).prop_map(|(e, a, b)| Change::DeleteRange(e, a.min(b), a.max(b))),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let changes = || proptest::collection::vec(change(), 0..12);
    prop_oneof![
        10 => proptest::collection::vec(changes(), 1..4).prop_map(Step::Apply),
        1 => (proptest::collection::vec(0..KEYS, 1..30), changes()).prop_map(|(k, c)| Step::Activate(k, c)),
        3 => Just(Step::Snapshot),
        3 => (0usize..8).prop_map(Step::DropSnapshot),
        1 => Just(Step::Flush),
        1 => Just(Step::Maintain),
        1 => Just(Step::Restart),
    ]
}

/// Key → value as the engines store it, preceded by its version.
type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn apply_to_model(model: &mut Model, changes: &[Change], version: LogPosition) {
    // Changes in their order: a range deletes only what existed before or came earlier in the set.
    for change in changes {
        match change {
            Change::Put(engine, number, value) => {
                model.insert(
                    key(ENGINES[*engine], *number),
                    [&version.to_be_bytes(), &value[..]].concat(),
                );
            }
            Change::Delete(engine, number) => {
                model.remove(&key(ENGINES[*engine], *number));
            }
            Change::DeleteRange(engine, from, to) => {
                let range = key(ENGINES[*engine], *from)..key(ENGINES[*engine], *to);
                model.retain(|key, _| !range.contains(key));
            }
        }
    }
}

fn write_set(changes: &[Change], version: LogPosition) -> std::sync::Arc<paceline_storage::FrozenWriteSet> {
    frozen(version, |set| {
        for change in changes {
            match change {
                Change::Put(engine, number, value) => set.put(&key(ENGINES[*engine], *number), value),
                Change::Delete(engine, number) => set.delete(&key(ENGINES[*engine], *number)),
                Change::DeleteRange(engine, from, to) => set.delete_range(KeyRange::new(
                    key(ENGINES[*engine], *from),
                    key(ENGINES[*engine], *to),
                )),
            }
        }
    })
}

fn read(mut cursor: Cursor) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    while let Some((key, value)) = cursor.next().expect("readable") {
        entries.push((key.to_vec(), value.to_vec()));
    }
    assert!(cursor.next().expect("still at its end").is_none());
    entries
}

fn check(
    model: &Model,
    get: impl Fn(&[u8]) -> Option<Vec<u8>>,
    scan: impl Fn(KeyRange, Direction) -> Cursor,
) -> Result<(), TestCaseError> {
    for engine in ENGINES {
        for number in 0..KEYS {
            let key = key(engine, number);
            prop_assert_eq!(get(&key), model.get(&key).cloned());
        }
        for (from, to) in [(0, KEYS), (7, 33), (20, 20), (30, 10)] {
            let range = KeyRange::new(key(engine, from), key(engine, to));
            let mut expected: Vec<_> = if range.is_empty() {
                Vec::new()
            } else {
                model
                    .range(range.start.clone()..range.end.clone())
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect()
            };
            prop_assert_eq!(&read(scan(range.clone(), Direction::Forward)), &expected);
            expected.reverse();
            prop_assert_eq!(&read(scan(range.clone(), Direction::Backward)), &expected);
            // From the middle on.
            let middle = key(engine, 15);
            let mut cursor = scan(range.clone(), Direction::Backward);
            cursor.seek(&middle);
            expected.retain(|(key, _)| *key <= middle);
            prop_assert_eq!(&read(cursor), &expected);
        }
    }
    Ok(())
}

fn check_snapshot(model: &Model, snapshot: &StorageSnapshot) -> Result<(), TestCaseError> {
    check(
        model,
        |key| snapshot.get(key).expect("readable").map(|value| value.to_vec()),
        |range, direction| snapshot.scan(range, direction),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn engines_behave_as_a_map_with_snapshots(steps in proptest::collection::vec(step(), 1..50)) {
        let directory = tempfile::tempdir().unwrap();
        let mut storage = open_small(directory.path());
        let mut model = Model::new();
        let mut snapshots: Vec<(StorageSnapshot, Model)> = Vec::new();
        let mut clock = 100;
        for step in steps {
            match step {
                Step::Apply(transactions) => {
                    let mut group = Vec::new();
                    for changes in transactions {
                        clock += 10;
                        apply_to_model(&mut model, &changes, position(clock));
                        group.push(write_set(&changes, position(clock)));
                    }
                    storage.apply(&group, position(clock)).unwrap();
                    prop_assert_eq!(storage.position(), position(clock));
                }
                Step::Activate(keys, changes) => {
                    clock += 10;
                    let build = storage.begin_build(BuildId(clock)).unwrap();
                    let mut index = build.index(InputOrder::Unsorted);
                    let built: BTreeMap<u32, Vec<u8>> =
                        keys.iter().map(|key| (*key, [&position(clock).to_be_bytes()[..], b"built"].concat())).collect();
                    for (number, value) in built.iter().rev() {
                        index.put(&key(EngineKind::RocksDb, *number), value).unwrap();
                    }
                    index.finish().unwrap();
                    build.finish().unwrap();
                    prop_assert_eq!(storage.builds().unwrap(), vec![BuildId(clock)]);
                    storage.prepare_activate().unwrap();
                    let group = [write_set(&changes, position(clock))];
                    storage.activate(&[BuildId(clock)], &group, position(clock)).unwrap();
                    prop_assert!(storage.builds().unwrap().is_empty());
                    prop_assert_eq!(storage.durable_position().unwrap(), position(clock));
                    apply_to_model(&mut model, &changes, position(clock));
                    model.extend(built.into_iter().map(|(number, value)| (key(EngineKind::RocksDb, number), value)));
                }
                Step::Snapshot => snapshots.push((storage.snapshot(), model.clone())),
                Step::DropSnapshot(index) => {
                    if index < snapshots.len() {
                        let (snapshot, model) = snapshots.remove(index);
                        check_snapshot(&model, &snapshot)?;
                    }
                }
                Step::Flush => {
                    prop_assert_eq!(storage.flush().unwrap(), storage.position());
                }
                Step::Maintain => storage.maintain().unwrap(),
                Step::Restart => {
                    snapshots.clear();
                    let position = storage.position();
                    storage.close().unwrap();
                    storage = open_small(directory.path());
                    prop_assert_eq!(storage.position(), position);
                    model.retain(|key, _| EngineKind::of_key(key) == EngineKind::RocksDb);
                }
            }
        }
        for (snapshot, model) in &snapshots {
            check_snapshot(model, snapshot)?;
        }
        check(
            &model,
            |key| storage.get_newest(key).expect("readable").map(|value| value.to_vec()),
            |range, direction| storage.scan_newest(range, direction),
        )?;
        check_snapshot(&model, &storage.snapshot())?;
        for value in model.values() {
            prop_assert!(value.len() >= VERSION_LENGTH);
        }
        // No snapshot needs an old version any more: the memory engine contains only what the model does.
        snapshots.clear();
        storage.maintain().unwrap();
        let live: Vec<_> = model.iter().filter(|(key, _)| EngineKind::of_key(key) == EngineKind::Memory).collect();
        let least: usize = live.iter().map(|(key, value)| key.len() + value.len()).sum();
        let overhead = (storage.memory_sizes().memory_tables as usize - least) / live.len().max(1);
        prop_assert!(overhead < 200, "{} bytes for each entry", overhead);
        prop_assert!(!live.is_empty() || storage.memory_sizes().memory_tables == 0);
    }
}
