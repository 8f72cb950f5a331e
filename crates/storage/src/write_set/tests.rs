use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn contents(set: &WriteSet) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    set.entries()
        .map(|(key, change)| {
            let value = match change {
                Change::Put(value) => Some(value[VERSION_LENGTH..].to_vec()),
                Change::Delete => None,
            };
            (key.to_vec(), value)
        })
        .collect()
}

const KEYS: u16 = 1400;

/// Returns keys that differ in their first bytes, only far after them, or only in the number of zeros at their
/// end.
fn key_bytes(number: u16) -> Vec<u8> {
    let in_front = number.to_be_bytes().to_vec();
    match number % 4 {
        0 => in_front,
        1 | 2 => [vec![0x11; 20], in_front].concat(),
        _ => [vec![0x11, (number % 8) as u8], vec![0; usize::from(number % 24)]].concat(),
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(u16, Vec<u8>),
    Delete(u16),
    DeleteRange(u16, u16),
    Mark,
    RollbackTo(usize),
    /// Values go to a file from now on; if they do already, buffered ones are written.
    Spill,
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0u16..KEYS;
    prop_oneof![
        8 => (key.clone(), proptest::collection::vec(any::<u8>(), 0..12)).prop_map(|(k, v)| Step::Put(k, v)),
        3 => key.clone().prop_map(Step::Delete),
        1 => (key.clone(), key).prop_map(|(a, b)| Step::DeleteRange(a.min(b), a.max(b).min(a.min(b) + 40))),
        1 => Just(Step::Mark),
        1 => (0usize..6).prop_map(Step::RollbackTo),
        1 => Just(Step::Spill),
    ]
}

type Model = (BTreeMap<Vec<u8>, Option<Vec<u8>>>, Vec<KeyRange>);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A write set behaves as a sorted map with copies of itself to restore.
    #[test]
    fn a_write_set_behaves_as_a_map_with_copies(steps in proptest::collection::vec(step(), 0..2500)) {
        let mut set = WriteSet::new();
        let mut model: Model = Default::default();
        let mut marks: Vec<(Mark, Model)> = Vec::new();
        for step in steps {
            match step {
                Step::Put(key, value) => {
                    set.put(&key_bytes(key), &value);
                    model.0.insert(key_bytes(key), Some(value));
                }
                Step::Spill if set.is_spilled() => set.write_spilled().unwrap(),
                Step::Spill => {
                    let file = SpillFile::create_in(&std::env::temp_dir()).unwrap();
                    set.spill_to(file, ValueVersion::Known(Version::new(3, 4)));
                }
                Step::Delete(key) => {
                    set.delete(&key_bytes(key));
                    model.0.insert(key_bytes(key), None);
                }
                Step::DeleteRange(from, to) => {
                    let (from, to) = (key_bytes(from), key_bytes(to));
                    let range = KeyRange::new(from.clone().min(to.clone()), to.max(from));
                    set.delete_range(range.clone());
                    if !range.is_empty() {
                        for (_, value) in model.0.range_mut(range.start.clone()..range.end.clone()) {
                            *value = None;
                        }
                        model.1.push(range);
                    }
                }
                Step::Mark => marks.push((set.mark(), model.clone())),
                Step::RollbackTo(index) => {
                    if index < marks.len() {
                        marks.truncate(index + 1);
                        let (mark, copy) = &marks[index];
                        set.rollback_to(*mark);
                        model = copy.clone();
                    }
                }
            }
        }
        prop_assert_eq!(contents(&set), model.0.clone().into_iter().collect::<Vec<_>>());
        prop_assert_eq!(set.deleted_ranges(), &model.1[..]);
        for key in 0..KEYS {
            let key = key_bytes(key);
            let expected = match model.0.get(&key[..]) {
                Some(Some(value)) => Some(Some(value.clone())),
                Some(None) => Some(None),
                None if model.1.iter().any(|range| range.contains(&key)) => Some(None),
                None => None,
            };
            let got = set.get(&key).map(|change| match change {
                Change::Put(value) => Some(value[VERSION_LENGTH..].to_vec()),
                Change::Delete => None,
            });
            prop_assert_eq!(got, expected);
        }
        let range = KeyRange::new(key_bytes(100), key_bytes(350));
        let forward: Vec<_> = set.range(&range).map(|(key, _)| key.to_vec()).collect();
        let mut backward: Vec<_> = set.range(&range).rev().map(|(key, _)| key.to_vec()).collect();
        backward.reverse();
        let expected: Vec<_> = model.0.range(range.start.clone()..range.end.clone()).map(|(key, _)| key.clone()).collect();
        prop_assert_eq!(&forward, &expected);
        let shared: Vec<_> = set.shared_range(&range).map(|(key, value)| (key.to_vec(), value)).collect();
        let values: Vec<_> = set
            .range(&range)
            .map(|(key, change)| match change {
                Change::Put(value) => (key.to_vec(), Some(value.to_vec())),
                Change::Delete => (key.to_vec(), None),
            })
            .collect();
        // Kept while the set continues to change.
        for key in 0..KEYS {
            set.put(&key_bytes(key), b"another value");
            set.write_spilled().unwrap();
        }
        let shared: Vec<_> = shared.iter().map(|(key, value)| (key.clone(), value.as_deref().map(<[u8]>::to_vec))).collect();
        prop_assert_eq!(shared, values);
        prop_assert_eq!(&backward, &expected);
    }
}

#[test]
fn freezing_writes_the_version_everywhere() {
    let mut set = WriteSet::new();
    let id = set.allocate_row_id();
    assert!(id.is_placeholder());
    let key = [b"tbl1".as_slice(), &id.to_be_bytes()].concat();
    set.put_parts(&key, &[b"image"], RowIdLocation::KeyEnd);
    set.put_parts(b"tbl2-unique", &[&id.to_be_bytes()], RowIdLocation::ValueEnd);
    set.delete(b"tbl3-gone");
    let version = Version::new(3, 77);
    let frozen = set.assign_version(version);
    let real = RowId { version, ordinal: 0 };
    let key = [b"tbl1".as_slice(), &real.to_be_bytes()].concat();
    let put = |payload: &[u8]| [&version.to_be_bytes(), payload].concat();
    assert_eq!(frozen.get(&key), Some(Change::Put(&put(b"image"))));
    assert_eq!(
        frozen.get(b"tbl2-unique"),
        Some(Change::Put(&put(&real.to_be_bytes())))
    );
    assert_eq!(frozen.get(b"tbl3-gone"), Some(Change::Delete));
    assert_eq!(frozen.entries().count(), 3);
    assert_eq!(
        frozen
            .indexes()
            .map(|index| frozen.key(index).len())
            .sum::<usize>(),
        16 + 11 + 9
    );
}

#[test]
fn values_in_a_file_carry_the_mark_from_the_beginning() {
    let mut set = WriteSet::new();
    set.put(b"tbl1-before", b"old");
    let mark = VersionMark::new(3, 9);
    let file = SpillFile::create_in(&std::env::temp_dir()).unwrap();
    set.spill_to(file, ValueVersion::Mark(mark));
    assert_eq!(set.version_mark(), Some(mark));
    let id = set.allocate_row_id();
    let key = [b"tbl1".as_slice(), &id.to_be_bytes()].concat();
    set.put_parts(&key, &[b"image"], RowIdLocation::KeyEnd);
    set.put_parts(b"tbl2-unique", &[&id.to_be_bytes()], RowIdLocation::ValueEnd);
    set.put(b"tbl2-long", &[7; 100]);
    set.write_spilled().unwrap();
    set.put_parts(b"tbl2-behind", &[&id.to_be_bytes()], RowIdLocation::ValueEnd);
    let version = Version::new(4, 77);
    let frozen = set.assign_mark(mark).unwrap().placed_at(version);
    assert_eq!(frozen.version(), version);
    let stamp = mark.as_version();
    let real = RowId {
        version: stamp,
        ordinal: 0,
    };
    let put = |payload: &[u8]| [&stamp.to_be_bytes(), payload].concat();
    let expected = [
        (b"tbl1-before".to_vec(), put(b"old")),
        ([b"tbl1".as_slice(), &real.to_be_bytes()].concat(), put(b"image")),
        (b"tbl2-behind".to_vec(), put(&real.to_be_bytes())),
        (b"tbl2-long".to_vec(), put(&[7; 100])),
        (b"tbl2-unique".to_vec(), put(&real.to_be_bytes())),
    ];
    let found: Vec<_> = frozen
        .entries()
        .map(|(key, change)| match change {
            Change::Put(value) => (key.to_vec(), value.to_vec()),
            Change::Delete => panic!("nothing was deleted"),
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_rollback_releases_row_ordinals() {
    let mut set = WriteSet::new();
    set.allocate_row_id();
    let mark = set.mark();
    set.allocate_row_id();
    set.rollback_to(mark);
    assert_eq!(set.allocate_row_id().ordinal, 1);
}

#[test]
fn rewriting_a_row_does_not_grow_the_set() {
    let mut set = WriteSet::new();
    set.put(b"key", b"12345678");
    let bytes = set.memory_bytes();
    for _ in 0..1000 {
        set.put(b"key", b"abcdefgh");
    }
    assert_eq!(set.memory_bytes(), bytes);
}

#[test]
fn numbers_are_rolled_back_and_taken_out() {
    let (a, b) = (IndexId::new(1030), IndexId::new(1031));
    let mut set = WriteSet::new();
    set.raise_counter(a, 5);
    set.raise_counter(a, 3);
    let mark = set.mark();
    set.raise_counter(a, 4);
    set.raise_counter(b, 1);
    set.raise_counter(a, 9);
    assert_eq!(set.counters(), [(a, 5), (a, 9), (b, 1)]);
    set.rollback_to(mark);
    assert_eq!(set.counters(), [(a, 5)]);
    set.raise_counter(b, 2);
    assert_eq!(set.take_since(mark).counters(), [(b, 2)]);
    assert_eq!(set.counters(), [(a, 5)]);
}
