//! Estimated number of entries of an index that share the values of its first columns.
//!
//! Entries are read in the order of their keys, by a survey or a whole scan. A pair of neighbours without a gap shows
//! whether a new group begins between them: the share of such pairs is the number of groups per entry. If groups are
//! larger than the runs of a survey, the number of groups seen is a better estimate: it is a lower bound.

use paceline_storage::{
    IndexId, KeyPart, RowPlacement, StorageSnapshot, SurveyedEntry, TableSchema, value_payload,
};
use paceline_types::sort_key::{self, Nullability};

/// Counter of the groups of one index.
pub(super) struct PrefixGroups<'s> {
    schema: &'s TableSchema,
    index: usize,
    /// Ends of the parts of the previous entry's key.
    last_ends: Vec<usize>,
    last: Vec<u8>,
    /// Weight of the previous entry, which is that of its pair with the next entry.
    last_weight: f64,
    ends: Vec<usize>,
    /// Total weight of pairs of neighbours.
    pairs: f64,
    /// For each part, the weight of pairs that differ in it or in an earlier one.
    changes: Vec<f64>,
    /// For each part, the number of different values seen.
    seen: Vec<f64>,
    row_key: Vec<u8>,
}

impl<'s> PrefixGroups<'s> {
    pub fn new(schema: &'s TableSchema, index: usize) -> Self {
        let parts = schema.indexes()[index].parts.len();
        PrefixGroups {
            schema,
            index,
            last_ends: Vec::new(),
            last: Vec::new(),
            last_weight: 0.0,
            ends: Vec::new(),
            pairs: 0.0,
            changes: vec![0.0; parts],
            seen: vec![0.0; parts],
            row_key: Vec::new(),
        }
    }

    /// Adds the next entry of the index.
    pub fn add(&mut self, snapshot: &StorageSnapshot, entry: &SurveyedEntry<'_>) {
        self.ends.clear();
        let has_ends = self.find_ends(snapshot, entry).is_some();
        // The keys of long values are hashes.
        if !has_ends || self.ends.last().is_none_or(|end| *end > entry.key.len()) {
            return;
        }
        let is_pair = entry.is_successor && !self.last_ends.is_empty();
        let weight = self.last_weight;
        self.last_weight = entry.weight;
        if is_pair {
            self.pairs += weight;
        }
        for (place, &end) in self.ends.iter().enumerate() {
            let same = self
                .last_ends
                .get(place)
                .is_some_and(|&last| self.last[..last] == entry.key[..end]);
            if !same {
                self.seen[place] += 1.0;
                if is_pair {
                    self.changes[place] += weight;
                }
            }
        }
        std::mem::swap(&mut self.ends, &mut self.last_ends);
        self.last.clear();
        self.last.extend_from_slice(entry.key);
    }

    /// Returns the estimated number of rows, of `rows`, that share the values of the first 1, 2, … columns.
    pub fn rows_per_key(&self, rows: f64) -> Vec<f64> {
        let groups = |(changes, seen): (&f64, &f64)| {
            let estimate = if self.pairs > 0.0 {
                rows * changes / self.pairs
            } else {
                0.0
            };
            (rows / estimate.max(*seen).max(1.0)).max(1.0)
        };
        self.changes.iter().zip(&self.seen).map(groups).collect()
    }

    /// Finds the ends of the parts of an entry's key. Returns `None` if that is impossible.
    fn find_ends(&mut self, snapshot: &StorageSnapshot, entry: &SurveyedEntry<'_>) -> Option<()> {
        let definition = &self.schema.indexes()[self.index];
        let mut end = IndexId::LENGTH;
        for (place, part) in definition.parts.iter().enumerate() {
            match self.fixed_length(part, entry.key.get(end)) {
                Some(length) => end += length,
                None if place + 1 == definition.parts.len() && !self.is_clustered() => {
                    end = columns_end(entry)?
                }
                None => return self.ends_by_row(snapshot, entry),
            }
            if end > entry.key.len() {
                return None;
            }
            self.ends.push(end);
        }
        Some(())
    }

    fn is_clustered(&self) -> bool {
        self.schema.clustered() == RowPlacement::Key(self.index)
    }

    /// Returns the length of a part's key that begins with this byte; `None` if it depends on the value.
    fn fixed_length(&self, part: &KeyPart, first: Option<&u8>) -> Option<usize> {
        let column = &self.schema.columns()[part.column];
        let length = sort_key::fixed_length(&column.data_type, part.prefix)?;
        Some(match column.nullability {
            Nullability::NotNull => length,
            Nullability::Nullable if first == Some(&sort_key::NULL_MARKER) => 1,
            Nullability::Nullable => 1 + length,
        })
    }

    /// Like [`Self::find_ends`], from the values of the row.
    fn ends_by_row(&mut self, snapshot: &StorageSnapshot, entry: &SurveyedEntry<'_>) -> Option<()> {
        self.ends.clear();
        if self.is_clustered() {
            return self.ends_by_image(&self.schema.row_image(entry.value).ok()?);
        }
        self.row_key.clear();
        self.schema
            .append_row_key_of_entry(self.index, entry.key, entry.value, &mut self.row_key)
            .ok()?;
        let row = snapshot.get(&self.row_key).ok()??;
        self.ends_by_image(&self.schema.row_image(&row).ok()?)
    }

    fn ends_by_image(&mut self, image: &[u8]) -> Option<()> {
        let mut key = Vec::new();
        for part in &self.schema.indexes()[self.index].parts {
            let column = &self.schema.columns()[part.column];
            let value = self.schema.image(image).column(part.column).ok()?;
            sort_key::append(
                &value,
                &column.data_type,
                column.nullability,
                part.prefix,
                &mut key,
            )
            .ok()?;
            self.ends.push(IndexId::LENGTH + key.len());
        }
        Some(())
    }
}

/// Returns the end of the columns in the key of a secondary index's entry. The row's key follows if the index is not
/// unique.
fn columns_end(entry: &SurveyedEntry<'_>) -> Option<usize> {
    let offset = value_payload(entry.value).first_chunk::<2>()?;
    match usize::from(u16::from_be_bytes(*offset)) {
        0 => Some(entry.key.len()),
        offset => Some(offset),
    }
}
