//! Rows as a rows event of the binlog holds them, which is also how the engine stores them.
//!
//! ```text
//!   NULL bitmap, (columns + 7) / 8 bytes │ packed columns that are not NULL, one after the other
//!   bit n set: column n is NULL          │ little-endian, lengths in front, no padding
//!   unused bits set                      │
//! ```

use crate::data_type::DataType;
use crate::error::Result;
use crate::value::{Value, ValueRef};
use std::sync::Arc;

/// How the rows of a table are laid out; made once for a table definition.
#[derive(Clone, Debug)]
pub struct RowLayout {
    types: Arc<[DataType]>,
}

/// One encoded row.
#[derive(Clone, Copy, Debug)]
pub struct RowImage<'a> {
    layout: &'a RowLayout,
    bytes: &'a [u8],
}

impl RowLayout {
    /// The layout of rows with these columns.
    pub fn new(types: impl Into<Arc<[DataType]>>) -> Self {
        RowLayout {
            types: types.into(),
        }
    }

    /// The columns' types.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.types.len()
    }

    /// Appends the image of a row whose values are of their columns' types.
    ///
    /// # Errors
    /// `ColumnCount`, or `WrongType` where a value needs `convert::assign` first.
    pub fn encode(&self, _values: &[Value], _out: &mut Vec<u8>) -> Result<()> {
        todo!()
    }

    /// The image that starts at `bytes`, and the bytes after it.
    ///
    /// # Errors
    /// `TruncatedImage`
    pub fn split<'a>(&'a self, _bytes: &'a [u8]) -> Result<(RowImage<'a>, &'a [u8])> {
        todo!()
    }

    /// A whole image. Only its columns' decoding checks the bytes.
    pub fn image<'a>(&'a self, bytes: &'a [u8]) -> RowImage<'a> {
        RowImage {
            layout: self,
            bytes,
        }
    }

    /// Decodes all columns.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    pub fn decode(&self, _bytes: &[u8]) -> Result<Vec<Value>> {
        todo!()
    }

    /// Decodes all columns into `values`, which is cleared first.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    pub fn decode_into(&self, _bytes: &[u8], _values: &mut Vec<Value>) -> Result<()> {
        todo!()
    }
}

impl<'a> RowImage<'a> {
    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether that column is NULL.
    pub fn is_null(&self, _column: usize) -> bool {
        todo!()
    }

    /// One column's value. It walks over the columns before it: for several columns in order, [`RowImage::columns`] is faster.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`
    pub fn column(&self, _column: usize) -> Result<ValueRef<'a>> {
        let _ = self.layout;
        todo!()
    }

    /// All columns in order, decoded as they are asked for: `skip()` costs next to nothing.
    pub fn columns(&self) -> Columns<'a> {
        todo!()
    }
}

/// The columns of a row, in order.
#[derive(Clone, Debug)]
pub struct Columns<'a> {
    image: RowImage<'a>,
}

impl<'a> Columns<'a> {
    /// Passes over one column.
    ///
    /// # Errors
    /// `TruncatedImage`
    pub fn skip_column(&mut self) -> Result<()> {
        let _ = self.image;
        todo!()
    }
}

impl<'a> Iterator for Columns<'a> {
    type Item = Result<ValueRef<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}
