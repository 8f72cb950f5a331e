//! Rows that are read by their keys together: what leads to them is searched once for several keys.
//!
//! ```text
//!   index entries ─▶ row keys, in the index's order ─▶ sorted ─▶ get_many ─▶ images ─▶ rows, in the index's order
//! ```
//! The first batch is small, because a LIMIT may need few rows; each later one is four times as large. A batch never
//! holds more than a fixed number of rows, and after large rows it holds fewer.

use paceline_storage::TableSchema;
use paceline_txn::Transaction;
use std::ops::Range;

/// Number of rows in a batch, at most.
const ROWS_MAX: usize = 128;
/// Size of the rows of a batch beyond which the next batch is smaller, in bytes.
const BYTES_MAX: usize = 1 << 20;

/// Keys of rows, and their images after [`RowBatch::read`].
pub(super) struct RowBatch {
    /// Maximum number of keys.
    size: usize,
    key_bytes: Vec<u8>,
    keys: Vec<Range<usize>>,
    image_bytes: Vec<u8>,
    /// For each key its image, or nothing.
    images: Vec<Option<Range<usize>>>,
}

impl RowBatch {
    /// Creates a batch whose first filling has `size` rows.
    pub fn new(size: usize) -> RowBatch {
        RowBatch {
            size,
            key_bytes: Vec::new(),
            keys: Vec::new(),
            image_bytes: Vec::new(),
            images: Vec::new(),
        }
    }

    /// Adds a key.
    pub fn add(&mut self, key: &[u8]) {
        let start = self.key_bytes.len();
        self.key_bytes.extend_from_slice(key);
        self.keys.push(start..self.key_bytes.len());
    }

    /// Returns whether the rows should be read.
    pub fn is_full(&self) -> bool {
        self.keys.len() >= self.size
    }

    /// Reads the rows of a table.
    ///
    /// # Errors
    /// Those of [`Transaction::get_many`]; that of a row that does not fit the table.
    pub fn read(&mut self, schema: &TableSchema, transaction: &mut Transaction) -> paceline_txn::Result<()> {
        let key = |index: usize| &self.key_bytes[self.keys[index].clone()];
        let mut order: Vec<usize> = (0..self.keys.len()).collect();
        order.sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
        let sorted: Vec<&[u8]> = order.iter().map(|index| key(*index)).collect();
        self.image_bytes.clear();
        self.images.clear();
        self.images.resize(self.keys.len(), None);
        let mut unreadable = None;
        transaction.get_many(&sorted, &mut |index, value| {
            let start = self.image_bytes.len();
            match schema.row_image(value) {
                Ok(image) => self.image_bytes.extend_from_slice(&image),
                Err(error) => unreadable = Some(error),
            }
            self.images[order[index]] = Some(start..self.image_bytes.len());
        })?;
        unreadable.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Returns the rows that exist, in the order of their keys' addition.
    pub fn images(&self) -> impl Iterator<Item = &[u8]> {
        self.images
            .iter()
            .flatten()
            .map(|range| &self.image_bytes[range.clone()])
    }

    /// Empties the batch, and chooses the size of the next one.
    pub fn clear(&mut self) {
        let row_bytes = (self.image_bytes.len() / self.keys.len().max(1)).max(1);
        self.size = (self.size * 4).min(ROWS_MAX).min((BYTES_MAX / row_bytes).max(1));
        self.key_bytes.clear();
        self.keys.clear();
        self.images.clear();
        self.image_bytes.clear();
        self.image_bytes.shrink_to(BYTES_MAX);
    }
}
