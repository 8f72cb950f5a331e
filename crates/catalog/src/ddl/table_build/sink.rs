//! Destination of index entries: sorted files, or the statement's write set.

use paceline_storage::{
    BulkBuild, Change, EntryKind, Error, IndexBuilder, IndexId, InputOrder, Result, RowId, RowPlacement,
    TableSchema, WriteSet, value_payload,
};

use super::description::{BuildKind, TableBuild};
use super::rows::BuiltRow;

/// Destination of index entries.
pub(super) struct Sink {
    /// Builder of each index in files, by its index in the schema. The last two are the hidden ones.
    builders: Vec<Option<IndexBuilder>>,
    rows: Option<IndexBuilder>,
    hashes: Option<IndexBuilder>,
    /// Indexes to fill; all if rows are rewritten.
    only: Option<Vec<usize>>,
    key: Vec<u8>,
    row_key: Vec<u8>,
    value: Vec<u8>,
}

impl Sink {
    pub fn new(build: &TableBuild, schema: &TableSchema, files: Option<&BulkBuild>) -> Self {
        let only = match &build.kind {
            BuildKind::Rebuild(_) => None,
            BuildKind::Indexes(indexes) => Some(indexes.clone()),
        };
        let wanted = |index: usize| only.as_ref().is_none_or(|only| only.contains(&index));
        let builder = |order| files.map(|files| files.index(order));
        let hidden = only.is_none() && matches!(schema.clustered(), RowPlacement::RowId(_));
        Self {
            builders: (0..schema.indexes().len())
                .map(|index| {
                    if wanted(index) {
                        builder(InputOrder::Unsorted)
                    } else {
                        None
                    }
                })
                .collect(),
            rows: if hidden { builder(InputOrder::Sorted) } else { None },
            hashes: if hidden {
                builder(InputOrder::Unsorted)
            } else {
                None
            },
            only,
            key: Vec::new(),
            row_key: Vec::new(),
            value: Vec::new(),
        }
    }

    pub fn row(&mut self, schema: &TableSchema, row: &BuiltRow, writes: &mut WriteSet) -> Result<()> {
        if !schema.stores_rows() {
            return Ok(());
        }
        self.row_key.clear();
        if self.only.is_some() {
            self.row_key.extend_from_slice(&row.key);
        } else if let Some(key) = schema.row_id_key(RowId::rebuilt(row.ordinal)) {
            self.row_key.extend_from_slice(&key);
            self.set_value(row, &[&row.image]);
            put(&mut self.rows, &self.row_key, &self.value, writes)?;
            self.hash_entry(schema, row, writes)?;
        } else {
            schema.append_row_key(&row.image, &mut self.row_key)?;
        }
        for index in 0..schema.indexes().len() {
            if self.only.as_ref().is_some_and(|only| !only.contains(&index)) {
                continue;
            }
            if schema.clustered() == RowPlacement::Key(index) {
                self.set_value(row, &[&row.image]);
                put(&mut self.builders[index], &self.row_key, &self.value, writes)?;
                continue;
            }
            self.key.clear();
            let kind = schema.append_entry_key(index, &row.image, &self.row_key, &mut self.key)?;
            match kind {
                EntryKind::Unique => {
                    let row_key = self.row_key[IndexId::LENGTH..].to_vec();
                    self.set_value(row, &[&[0, 0], &row_key]);
                }
                EntryKind::Shared { row_key_offset } => self.set_value(row, &[&row_key_offset.to_be_bytes()]),
            }
            put(&mut self.builders[index], &self.key, &self.value, writes)?;
        }
        Ok(())
    }

    fn hash_entry(&mut self, schema: &TableSchema, row: &BuiltRow, writes: &mut WriteSet) -> Result<()> {
        let Some(range) = schema.hash_range(&row.image) else {
            return Ok(());
        };
        self.key.clear();
        self.key.extend_from_slice(&range.start);
        self.key
            .extend_from_slice(&RowId::rebuilt(row.ordinal).to_be_bytes());
        self.set_value(row, &[]);
        put(&mut self.hashes, &self.key, &self.value, writes)
    }

    fn set_value(&mut self, row: &BuiltRow, payload: &[&[u8]]) {
        self.value.clear();
        self.value.extend_from_slice(&row.version);
        for part in payload {
            self.value.extend_from_slice(part);
        }
    }

    pub fn finish(self) -> Result<()> {
        self.builders
            .into_iter()
            .chain([self.rows, self.hashes])
            .flatten()
            .try_for_each(IndexBuilder::finish)
    }
}

/// Adds an entry to a file, or to the write set for a table in memory.
fn put(builder: &mut Option<IndexBuilder>, key: &[u8], value: &[u8], writes: &mut WriteSet) -> Result<()> {
    match builder {
        Some(builder) => builder.put(key, value),
        None => {
            if writes
                .get(key)
                .is_some_and(|change| matches!(change, Change::Put(_)))
            {
                return Err(Error::DuplicateKey { key: key.to_vec() });
            }
            writes.put(key, value_payload(value));
            Ok(())
        }
    }
}
