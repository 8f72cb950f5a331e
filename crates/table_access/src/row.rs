//! A row that was read, and its columns as values of Rust types.

use crate::view::TableView;
use crate::{Error, Result};
use paceline_txn::RowValue;
use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD};
use paceline_types::row_image::{Columns, RowImage};
use paceline_types::{Date, DateTime, Decimal, Time, Timestamp, Value, ValueRef};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// A row. Its bytes are those of the table, of the transaction's changes, or of a commit that is not applied yet; only
/// columns that are asked for are decoded.
pub struct RowRef<'a> {
    view: ViewHandle<'a>,
    bytes: RowBytes<'a>,
}

/// A view that is borrowed from a scan, or that keeps itself.
pub(crate) enum ViewHandle<'a> {
    Borrowed(&'a TableView),
    Shared(Arc<TableView>),
}

impl Deref for ViewHandle<'_> {
    type Target = TableView;

    fn deref(&self) -> &TableView {
        match self {
            ViewHandle::Borrowed(view) => view,
            ViewHandle::Shared(view) => view,
        }
    }
}

enum RowBytes<'a> {
    Value(RowValue<'a>),
    Image(&'a [u8]),
    /// Of a row that was stored in an earlier format of the table.
    Converted(Vec<u8>),
}

impl<'a> RowRef<'a> {
    /// Returns a row that a transaction has read.
    ///
    /// # Errors
    /// If the row does not fit the table.
    pub(crate) fn of_value(view: ViewHandle<'a>, value: RowValue<'a>) -> Result<RowRef<'a>> {
        let converted = match view.definition().schema().row_image(&value)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(image) => Some(image),
        };
        let bytes = match converted {
            None => RowBytes::Value(value),
            Some(image) => RowBytes::Converted(image),
        };
        Ok(RowRef { view, bytes })
    }

    /// Returns the row of an image of the view's table.
    pub fn of_image(view: &'a TableView, image: &'a [u8]) -> RowRef<'a> {
        let (view, bytes) = (ViewHandle::Borrowed(view), RowBytes::Image(image));
        RowRef { view, bytes }
    }

    /// Returns the stored image, of all of the table's columns.
    pub fn image(&self) -> &[u8] {
        match &self.bytes {
            RowBytes::Value(value) => value.payload(),
            RowBytes::Image(image) => image,
            RowBytes::Converted(image) => image,
        }
    }

    /// Returns the view that the row was read through.
    pub fn view(&self) -> &TableView {
        &self.view
    }

    /// Returns the value of one of the view's columns, counted from 0.
    ///
    /// # Errors
    /// 1054 for a column that the view does not have; 1366 if the value is of another type, or NULL where the type has
    /// none.
    pub fn get<'r, T: FromValue<'r>>(&'r self, column: usize) -> Result<T> {
        self.convert(column, self.value(column)?)
    }

    /// Returns the value of one of the view's columns, counted from 0, as it is.
    ///
    /// # Errors
    /// 1054 for a column that the view does not have.
    pub fn value(&self, column: usize) -> Result<ValueRef<'_>> {
        let place = (self.view.places().get(column))
            .ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&column, &"the view"]))?;
        let value = self.view.definition().schema().image(self.image()).column(*place);
        value.map_err(|_| self.view.corrupt())
    }

    /// Returns the value of one of the view's columns by its name.
    ///
    /// # Errors
    /// Those of [`RowRef::get`].
    pub fn get_named<'r, T: FromValue<'r>>(&'r self, column: &str) -> Result<T> {
        let position = (self.view.columns()).position(|name| name.eq_ignore_ascii_case(column));
        match position {
            Some(position) => self.get(position),
            None => Err(Error::new(ER_BAD_FIELD_ERROR, &[&column, &"the view"])),
        }
    }

    /// Returns the values of the view's columns, in its order: `let (id, text): (u64, &str) = row.read()?;`
    ///
    /// # Errors
    /// Those of [`RowRef::get`]; 1136 if the view has another number of columns.
    pub fn read<'r, T: FromRow<'r>>(&'r self) -> Result<T> {
        T::from_row(self)
    }

    /// Returns the values of the view's columns.
    ///
    /// # Errors
    /// If the image is corrupt.
    pub fn values(&self) -> Result<Vec<Value>> {
        let image = self.view.definition().schema().image(self.image());
        let value = |place: &usize| image.column(*place).map(ValueRef::into_owned);
        let values: Result<Vec<Value>, _> = self.view.places().iter().map(value).collect();
        values.map_err(|_| self.view.corrupt())
    }

    fn convert<'r, T: FromValue<'r>>(&self, column: usize, value: ValueRef<'r>) -> Result<T> {
        T::from_value(value).ok_or_else(|| {
            let name = self.view.columns().nth(column).unwrap_or_default();
            let database = self.view.definition().database();
            let table = self.view.definition().name();
            let wanted = std::any::type_name::<T>();
            Error::new(
                ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
                &[&"Rust", &wanted, &database, &table, &name, &1],
            )
        })
    }
}

/// A type that a column can be read as.
pub trait FromValue<'r>: Sized {
    /// Returns the value; `None` if it is not of this type, or out of its range.
    fn from_value(value: ValueRef<'r>) -> Option<Self>;
}

macro_rules! from_integer {
    ($($type:ty)*) => {$(
        impl FromValue<'_> for $type {
            fn from_value(value: ValueRef<'_>) -> Option<Self> {
                match value {
                    ValueRef::Int(value) => value.try_into().ok(),
                    ValueRef::UInt(value) => value.try_into().ok(),
                    ValueRef::Year(value) => value.try_into().ok(),
                    ValueRef::Bit(value) => value.bits.try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

from_integer!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! from_variant {
    ($($type:ty: $variant:ident;)*) => {$(
        impl FromValue<'_> for $type {
            fn from_value(value: ValueRef<'_>) -> Option<Self> {
                match value {
                    ValueRef::$variant(value) => Some(value.into()),
                    _ => None,
                }
            }
        }
    )*};
}

from_variant! {
    Decimal: Decimal;
    Date: Date;
    Time: Time;
    DateTime: DateTime;
    Timestamp: Timestamp;
    f32: Float;
}

impl FromValue<'_> for bool {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        i64::from_value(value).map(|value| value != 0)
    }
}

impl FromValue<'_> for f64 {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Double(value) => Some(value),
            ValueRef::Float(value) => Some(f64::from(value)),
            _ => None,
        }
    }
}

impl<'r> FromValue<'r> for &'r str {
    /// The text itself. One in another character set than UTF-8 has to be read as `Cow<str>` or `String`.
    fn from_value(value: ValueRef<'r>) -> Option<Self> {
        match value {
            ValueRef::Text(Cow::Borrowed(text)) => Some(text),
            ValueRef::Enum(value) => Some(value.label()),
            _ => None,
        }
    }
}

impl<'r> FromValue<'r> for Cow<'r, str> {
    fn from_value(value: ValueRef<'r>) -> Option<Self> {
        match value {
            ValueRef::Text(text) => Some(text),
            ValueRef::Enum(value) => Some(Cow::Borrowed(value.label())),
            _ => None,
        }
    }
}

impl FromValue<'_> for String {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        Cow::<str>::from_value(value).map(Cow::into_owned)
    }
}

impl<'r> FromValue<'r> for Cow<'r, [u8]> {
    fn from_value(value: ValueRef<'r>) -> Option<Self> {
        match value {
            ValueRef::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl<'r> FromValue<'r> for &'r [u8] {
    /// The bytes themselves. A BINARY whose stored form omits zero bytes has to be read as `Cow<[u8]>` or `Vec<u8>`.
    fn from_value(value: ValueRef<'r>) -> Option<Self> {
        match value {
            ValueRef::Bytes(Cow::Borrowed(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

impl FromValue<'_> for Vec<u8> {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        Cow::<[u8]>::from_value(value).map(Cow::into_owned)
    }
}

impl FromValue<'_> for Value {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        Some(value.into_owned())
    }
}

impl<'r, T: FromValue<'r>> FromValue<'r> for Option<T> {
    fn from_value(value: ValueRef<'r>) -> Option<Self> {
        match value {
            ValueRef::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// A type that a whole row can be read as: a tuple.
pub trait FromRow<'r>: Sized {
    /// Returns the row's values.
    ///
    /// # Errors
    /// Those of [`RowRef::read`].
    fn from_row(row: &'r RowRef<'_>) -> Result<Self>;
}

macro_rules! from_row {
    ($count:literal: $($name:ident $column:literal)+) => {
        impl<'r, $($name: FromValue<'r>),+> FromRow<'r> for ($($name,)+) {
            fn from_row(row: &'r RowRef<'_>) -> Result<Self> {
                row.view.check_count($count)?;
                let mut walk = RowWalk::new(row);
                Ok(($(row.convert::<$name>($column, walk.column($column)?)?,)+))
            }
        }
    };
}

/// Decodes a row's columns one after the other: in one pass if the view's columns are in the table's order.
struct RowWalk<'r> {
    view: &'r TableView,
    image: RowImage<'r>,
    columns: Columns<'r>,
    /// Place of the next column of the pass.
    at: usize,
}

impl<'r> RowWalk<'r> {
    fn new(row: &'r RowRef<'_>) -> RowWalk<'r> {
        let view = row.view();
        let image = view.definition().schema().image(row.image());
        RowWalk {
            view,
            columns: image.columns(),
            image,
            at: 0,
        }
    }

    fn column(&mut self, column: usize) -> Result<ValueRef<'r>> {
        let place = self.view.places()[column];
        if !self.view.is_in_order() {
            return self.image.column(place).map_err(|_| self.view.corrupt());
        }
        while self.at < place {
            self.columns.skip_column().map_err(|_| self.view.corrupt())?;
            self.at += 1;
        }
        self.at += 1;
        let value = self.columns.next().transpose().map_err(|_| self.view.corrupt())?;
        Ok(value.unwrap_or(ValueRef::Null))
    }
}

from_row!(1: A 0);
from_row!(2: A 0 B 1);
from_row!(3: A 0 B 1 C 2);
from_row!(4: A 0 B 1 C 2 D 3);
from_row!(5: A 0 B 1 C 2 D 3 E 4);
from_row!(6: A 0 B 1 C 2 D 3 E 4 F 5);
from_row!(7: A 0 B 1 C 2 D 3 E 4 F 5 G 6);
from_row!(8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
