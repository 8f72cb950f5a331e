//! Row changes against a model: after any sequence of changes, the keys are those that the rows require, and a
//! replay of the images yields the same keys and values.

mod common;

use std::collections::BTreeMap;

use common::position;
use paceline_storage::{
    Change, CheckedIndex, ColumnSchema, EntryKind, Error, FrozenWriteSet, HiddenIndexes, IndexId, IndexKind,
    IndexMismatch, IndexSchema, KeyPart, KeyRange, Row, RowId, RowPlacement, RowReader, TableCheck,
    TableSchema, VERSION_LENGTH, WriteSet,
};
use paceline_types::sort_key::Nullability;
use paceline_types::{Collation, DataType, IntegerType, IntegerWidth, Sign, Value, ValueRef};
use proptest::prelude::*;

fn int() -> DataType {
    let width = IntegerWidth::Int;
    DataType::Integer(IntegerType {
        width,
        sign: Sign::Signed,
        zerofill: false,
        display_width: 11,
    })
}

fn column(data_type: DataType, nullability: Nullability) -> ColumnSchema {
    ColumnSchema {
        data_type,
        nullability,
    }
}

const HIDDEN: HiddenIndexes = HiddenIndexes {
    rows: IndexId::new(2000),
    hash: IndexId::new(2001),
};

fn index(id: u32, kind: IndexKind, parts: &[(usize, Option<u32>)]) -> IndexSchema {
    let parts = parts
        .iter()
        .map(|&(column, prefix)| KeyPart { column, prefix })
        .collect();
    IndexSchema {
        id: IndexId::new(id),
        kind,
        parts,
    }
}

/// Schema of (id INT NOT NULL, name VARCHAR(20), code INT, note VARCHAR(300) NOT NULL).
fn schema(primary: bool) -> TableSchema {
    let text = |length| DataType::VarChar {
        length,
        collation: Collation::Utf8mb4GeneralCi,
    };
    let columns = vec![
        column(int(), Nullability::NotNull),
        column(text(20), Nullability::Nullable),
        column(int(), Nullability::Nullable),
        column(text(300), Nullability::NotNull),
    ];
    let mut indexes = Vec::new();
    if primary {
        indexes.push(index(1030, IndexKind::Primary, &[(0, None)]));
        indexes.push(index(1031, IndexKind::Unique, &[(2, None), (0, None)]));
    }
    indexes.push(index(1032, IndexKind::Secondary, &[(1, Some(3))]));
    indexes.push(index(1033, IndexKind::Secondary, &[(2, None), (1, None)]));
    TableSchema::new(columns, indexes, HIDDEN).unwrap()
}

fn row(id: i64, name: Option<&str>, code: Option<i64>, note: &str) -> Vec<Value> {
    vec![
        Value::Int(id),
        name.map_or(Value::Null, |name| Value::Text(name.into())),
        code.map_or(Value::Null, Value::Int),
        Value::Text(note.into()),
    ]
}

fn image(schema: &TableSchema, values: &[Value]) -> Vec<u8> {
    let mut image = Vec::new();
    schema.encode_row(values, &mut image).unwrap();
    image
}

type Engine = BTreeMap<Vec<u8>, Vec<u8>>;

fn apply(engine: &mut Engine, set: &FrozenWriteSet) {
    for (key, change) in set.entries() {
        match change {
            Change::Put(value) => {
                engine.insert(key.to_vec(), value.to_vec());
            }
            Change::Delete => {
                engine.remove(key);
            }
        }
    }
}

/// The engine with a running transaction's writes on top.
struct Reader<'a>(&'a Engine, &'a WriteSet);

impl Reader<'_> {
    fn merged(&self) -> Engine {
        let mut merged = self.0.clone();
        for (key, change) in self.1.entries() {
            match change {
                Change::Put(value) => {
                    merged.insert(key.to_vec(), value.to_vec());
                }
                Change::Delete => {
                    merged.remove(key);
                }
            }
        }
        merged
    }
}

impl RowReader for Reader<'_> {
    type Error = Error;

    fn visit_keys(&mut self, range: KeyRange, visit: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Error> {
        for (key, _) in self.merged().range(range.start..range.end) {
            if !visit(key) {
                break;
            }
        }
        Ok(())
    }

    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, Error> {
        value.clear();
        match self.merged().get(key) {
            Some(found) => value.extend_from_slice(found),
            None => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns what the engine must contain for these rows: key and payload of each entry.
fn entries_of(schema: &TableSchema, rows: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    for (row_key, image) in rows {
        entries.push((row_key.clone(), image.clone()));
        if schema.clustered() == RowPlacement::RowId(HIDDEN) {
            let mut key = schema.hash_range(image).unwrap().start;
            key.extend_from_slice(&row_key[IndexId::LENGTH..]);
            entries.push((key, Vec::new()));
        }
        for number in 0..schema.indexes().len() {
            if schema.clustered() == RowPlacement::Key(number) {
                continue;
            }
            let mut key = Vec::new();
            let payload = match schema.append_entry_key(number, image, row_key, &mut key).unwrap() {
                EntryKind::Unique => [&[0, 0], &row_key[IndexId::LENGTH..]].concat(),
                EntryKind::Shared { row_key_offset } => row_key_offset.to_be_bytes().to_vec(),
            };
            entries.push((key, payload));
        }
    }
    entries.sort();
    entries
}

/// Returns the mismatches that CHECK TABLE finds.
fn checked(schema: &TableSchema, engine: &Engine) -> Result<Vec<IndexMismatch>, Error> {
    let mut check = TableCheck::new(schema);
    let rows = schema.rows_range();
    for (key, value) in engine.range(rows.start..rows.end) {
        check.add_row(key, value)?;
    }
    for range in check.entry_ranges() {
        for (key, value) in engine.range(range.start..range.end) {
            check.add_entry(key, &value[VERSION_LENGTH..]);
        }
    }
    Ok(check.mismatches())
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<Value>),
    Update(usize, Vec<Value>),
    Delete(usize),
    Commit,
}

fn values() -> impl Strategy<Value = Vec<Value>> {
    let name = prop_oneof![Just(None), "[aA]{0,3}b?".prop_map(Some)];
    let code = prop_oneof![Just(None), (-2i64..3).prop_map(Some)];
    (0i64..12, name, code, "[xy]{0,2}")
        .prop_map(|(id, name, code, note)| row(id, name.as_deref(), code, &note))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => values().prop_map(Step::Insert),
        4 => (0usize..40, values()).prop_map(|(row, values)| Step::Update(row, values)),
        2 => (0usize..40).prop_map(Step::Delete),
        2 => Just(Step::Commit),
    ]
}

/// Logged images of a row: before and after.
type Logged = (Option<Vec<u8>>, Option<Vec<u8>>);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn row_changes_keep_every_index_consistent(primary: bool, steps in proptest::collection::vec(step(), 0..60)) {
        let schema = schema(primary);
        let mut engine = Engine::new();
        let mut log: Vec<Vec<Logged>> = Vec::new();
        let mut writes = WriteSet::new();
        let mut group: Vec<Logged> = Vec::new();
        // The rows as this transaction sees them: key (possibly with a placeholder) and image.
        let mut rows: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let mut version = 100;
        for step in steps.into_iter().chain([Step::Commit]) {
            let pick = |number: usize| {
                let (key, image) = rows.iter().nth(number % rows.len().max(1))?;
                Some((key.clone(), image.clone()))
            };
            match step {
                Step::Insert(values) => {
                    let after = image(&schema, &values);
                    if primary {
                        let mut key = Vec::new();
                        schema.append_row_key(&after, &mut key).unwrap();
                        if rows.contains_key(&key) {
                            continue;
                        }
                        rows.insert(key, after.clone());
                        schema.row_change(None, Some(&after), &mut writes).unwrap();
                    } else {
                        schema.row_change(None, Some(&after), &mut writes).unwrap();
                        let mark = writes.mark();
                        let next = writes.allocate_row_id();
                        writes.rollback_to(mark);
                        let id = RowId { ordinal: next.ordinal - 1, ..next };
                        rows.insert(schema.row_id_key(id).unwrap(), after.clone());
                    }
                    group.push((None, Some(after)));
                }
                Step::Update(number, values) => {
                    let Some((key, before)) = pick(number) else { continue };
                    let after = image(&schema, &values);
                    if primary {
                        let mut new_key = Vec::new();
                        schema.append_row_key(&after, &mut new_key).unwrap();
                        if new_key != key && rows.contains_key(&new_key) {
                            continue;
                        }
                        rows.remove(&key);
                        rows.insert(new_key, after.clone());
                        schema.row_change(Some(before.as_slice().into()), Some(&after), &mut writes).unwrap();
                    } else {
                        let found = schema.find_row(&before, &mut Reader(&engine, &writes)).unwrap().unwrap();
                        prop_assert!(found <= key, "not the lowest id");
                        schema.row_change(Some(Row { image: &before, key: Some(&found) }), Some(&after), &mut writes).unwrap();
                        rows.insert(found, after.clone());
                    }
                    group.push((Some(before), Some(after)));
                }
                Step::Delete(number) => {
                    let Some((key, before)) = pick(number) else { continue };
                    let found = match primary {
                        true => key,
                        false => schema.find_row(&before, &mut Reader(&engine, &writes)).unwrap().unwrap(),
                    };
                    schema.row_change(Some(Row { image: &before, key: Some(&found) }), None, &mut writes).unwrap();
                    rows.remove(&found);
                    group.push((Some(before), None));
                }
                Step::Commit => {
                    version += 10;
                    apply(&mut engine, &std::mem::take(&mut writes).assign_version(position(version)));
                    log.push(std::mem::take(&mut group));
                    rows = rows.into_iter().map(|(mut key, image)| {
                        if !primary && RowId::at_end_of(&key).unwrap().is_placeholder() {
                            let id = RowId { version: position(version), ..RowId::at_end_of(&key).unwrap() };
                            key = schema.row_id_key(id).unwrap();
                        }
                        (key, image)
                    }).collect();
                    let stored: Vec<_> =
                        engine.iter().map(|(key, value)| (key.clone(), value[VERSION_LENGTH..].to_vec())).collect();
                    prop_assert_eq!(stored, entries_of(&schema, &rows));
                    prop_assert_eq!(checked(&schema, &engine).unwrap(), vec![]);
                }
            }
        }
        // Every entry leads to its row.
        for (key, value) in &engine {
            let id = IndexId::of_key(key).unwrap();
            if let Some(number) = schema.indexes().iter().position(|index| index.id == id) {
                let mut row_key = Vec::new();
                schema.append_row_key_of_entry(number, key, value, &mut row_key).unwrap();
                prop_assert!(rows.contains_key(&row_key));
            }
        }
        // A replay of the images yields the same keys, values and versions.
        let mut replayed = Engine::new();
        let mut version = 100;
        for group in &log {
            version += 10;
            let mut writes = WriteSet::new();
            for (before, after) in group {
                let key = match before {
                    Some(before) => schema.find_row(before, &mut Reader(&replayed, &writes)).unwrap(),
                    None => None,
                };
                let before = before.as_deref().map(|image| Row { image, key: key.as_deref() });
                schema.row_change(before, after.as_deref(), &mut writes).unwrap();
            }
            apply(&mut replayed, &writes.assign_version(position(version)));
        }
        prop_assert_eq!(replayed, engine);
    }
}

#[test]
fn an_update_of_a_column_without_index_touches_one_key() {
    let schema = schema(true);
    let (before, after) = (
        image(&schema, &row(1, Some("a"), Some(2), "x")),
        image(&schema, &row(1, Some("a"), Some(2), "y")),
    );
    let mut writes = WriteSet::new();
    schema
        .row_change(Some(before.as_slice().into()), Some(&after), &mut writes)
        .unwrap();
    assert_eq!(writes.len(), 1);
    // A value that differs, but not to the collation, moves no key but is stored.
    let other = image(&schema, &row(1, Some("A"), Some(2), "x"));
    let mut writes = WriteSet::new();
    schema
        .row_change(Some(before.as_slice().into()), Some(&other), &mut writes)
        .unwrap();
    assert!(
        writes.entries().all(|(_, change)| change != Change::Delete),
        "{writes:?}"
    );
}

#[test]
fn lookups_find_their_entries() {
    let schema = schema(true);
    let stored = image(&schema, &row(7, Some("Abcdef"), Some(2), "x"));
    let mut writes = WriteSet::new();
    schema.row_change(None, Some(&stored), &mut writes).unwrap();
    let frozen = writes.assign_version(position(5));
    let lookup = |number, values: &[ValueRef<'_>]| {
        let mut prefix = Vec::new();
        schema.append_key_prefix(number, values, &mut prefix).unwrap();
        frozen.range(&KeyRange::prefix(&prefix)).count()
    };
    assert_eq!(lookup(0, &[ValueRef::Int(7)]), 1);
    assert_eq!(lookup(0, &[ValueRef::Int(8)]), 0);
    assert_eq!(lookup(1, &[ValueRef::Int(2)]), 1);
    assert_eq!(lookup(2, &[ValueRef::Text("abCxyz".into())]), 1);
    assert_eq!(lookup(2, &[ValueRef::Text("abd".into())]), 0);
    let mut unique = Vec::new();
    assert!(schema.append_unique_key(1, &stored, &mut unique).unwrap());
    assert!(matches!(frozen.get(&unique), Some(Change::Put(_))));
    let with_null = image(&schema, &row(7, None, None, "x"));
    assert!(!schema.append_unique_key(1, &with_null, &mut unique).unwrap());
}

#[test]
fn the_number_of_a_deleted_row_is_kept() {
    let kept = IndexId::new(1040);
    let schema = schema(true).with_counter(0, kept);
    assert_eq!(schema.counter_id(), Some(kept));
    let image = |values: &[Value]| {
        let mut image = Vec::new();
        schema.encode_row(values, &mut image).unwrap();
        image
    };
    let (five, renamed, moved) = (
        image(&row(5, Some("a"), Some(1), "x")),
        image(&row(5, Some("b"), Some(2), "y")),
        image(&row(3, Some("a"), Some(1), "x")),
    );
    let numbers = |before: Option<&[u8]>, after: Option<&[u8]>| {
        let mut set = WriteSet::new();
        schema.row_change(before.map(Row::from), after, &mut set).unwrap();
        set.counters().to_vec()
    };
    assert_eq!(numbers(None, Some(&five)), []);
    assert_eq!(numbers(Some(&five), Some(&renamed)), []);
    assert_eq!(numbers(Some(&five), Some(&moved)), [(kept, 5)]);
    assert_eq!(numbers(Some(&five), None), [(kept, 5)]);
    assert_eq!(numbers(Some(&image(&row(-5, None, None, ""))), None), []);
}

#[test]
fn a_check_finds_entries_that_do_not_match_the_rows() {
    for primary in [true, false] {
        let schema = schema(primary);
        let mut engine = Engine::new();
        let mut writes = WriteSet::new();
        for id in 0..3 {
            let image = image(&schema, &row(id, Some("abc"), (id > 0).then_some(id), "x"));
            schema.row_change(None, Some(&image), &mut writes).unwrap();
        }
        apply(&mut engine, &writes.assign_version(position(5)));
        assert_eq!(checked(&schema, &engine).unwrap(), []);
        let rows = schema.rows_range();
        let is_row = |key: &Vec<u8>| rows.contains(key);
        for (key, value) in engine.clone() {
            // A missing entry, or a row that is missing.
            let mut damaged = engine.clone();
            damaged.remove(&key);
            let found = checked(&schema, &damaged).unwrap();
            let index = IndexId::of_key(&key).unwrap();
            match is_row(&key) {
                true => assert!(found.iter().all(|wrong| (wrong.found, wrong.expected) == (3, 2))),
                false => {
                    assert_eq!(found.len(), 1);
                    assert_eq!((found[0].found, found[0].expected), (2, 3));
                    let named = match found[0].index {
                        CheckedIndex::Declared(number) => schema.indexes()[number].id,
                        CheckedIndex::Hash => HIDDEN.hash,
                    };
                    assert_eq!(named, index);
                }
            }
            // An entry under another key.
            let mut damaged = engine.clone();
            damaged.remove(&key);
            let mut moved = key.clone();
            *moved.last_mut().unwrap() ^= 1;
            damaged.insert(moved, value.clone());
            let found = checked(&schema, &damaged);
            assert!(found.map_or(is_row(&key), |found| !found.is_empty()), "{key:?}");
        }
        // A truncated row.
        let (key, value) = engine.range(rows.start..rows.end).next().unwrap();
        let mut damaged = engine.clone();
        damaged.insert(key.clone(), value[..value.len() - 1].to_vec());
        assert!(checked(&schema, &damaged).is_err());
    }
}
