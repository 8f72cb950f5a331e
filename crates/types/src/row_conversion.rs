//! Conversion of a row image to another table's columns, without SQL's rules: values that both types represent.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::row_image::{PackedLength, RowImage, RowLayout, unpack};
use crate::{DataType, Value};

/// Source of a column of the new image.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnOrigin {
    /// The column with this number of the old image.
    Column(usize),
    /// The same value in each row: the image of a row that has this column alone ([`constant_image`]).
    Constant(Vec<u8>),
}

/// Returns the image of a row with one column: a [`ColumnOrigin::Constant`].
///
/// # Errors
/// `WrongType` if the value is not one of the type.
pub fn constant_image(data_type: &DataType, value: &Value) -> Result<Vec<u8>> {
    let mut image = Vec::new();
    RowLayout::new(vec![data_type.clone()]).encode(std::slice::from_ref(value), &mut image)?;
    Ok(image)
}

/// Length of the NULL bitmap of a row with one column.
const CONSTANT_BITMAP: usize = 1;

/// Conversion from one layout to another.
#[derive(Clone, Debug)]
pub struct RowConversion {
    from: RowLayout,
    to: RowLayout,
    /// For each column of the new image.
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    /// The bytes are the same, with their length field.
    Copy(usize),
    /// The bytes are the same, and the length field has this many bytes.
    Lengthen(usize, usize),
    /// The value is read and written.
    Write(usize),
    /// The packed value with its length field; `None` for NULL.
    Constant(Option<Box<[u8]>>),
}

impl RowConversion {
    /// Creates a conversion. `origins` are those of the columns of `to`.
    ///
    /// # Errors
    /// `ColumnCount` if an origin does not exist, or there are too many or too few.
    pub fn new(from: RowLayout, to: RowLayout, origins: &[ColumnOrigin]) -> Result<Self> {
        let missing = |column: usize| Error::ColumnCount {
            columns: from.columns(),
            given: column,
        };
        if origins.len() != to.columns() {
            return Err(missing(origins.len()));
        }
        let step = |(new, origin): (usize, &ColumnOrigin)| match origin {
            ColumnOrigin::Column(old) => {
                let before = from.types().get(*old).ok_or_else(|| missing(*old))?;
                let after = &to.types()[new];
                Ok(match (from.packed_length(*old), to.packed_length(new)) {
                    _ if before == after => Step::Copy(*old),
                    (PackedLength::Prefixed(a), PackedLength::Prefixed(b)) if same_bytes(before, after) => {
                        match a == b {
                            true => Step::Copy(*old),
                            false => Step::Lengthen(*old, usize::from(b)),
                        }
                    }
                    _ => Step::Write(*old),
                })
            }
            ColumnOrigin::Constant(image) => {
                let is_null = image.first().is_none_or(|bitmap| bitmap & 1 == 1);
                Ok(Step::Constant(
                    (!is_null).then(|| image[CONSTANT_BITMAP..].into()),
                ))
            }
        };
        let steps = origins.iter().enumerate().map(step).collect::<Result<_>>()?;
        Ok(RowConversion { from, to, steps })
    }

    /// Appends the new image of a row.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage`; `WrongType` if a value is not one of the new type.
    pub fn convert(&self, image: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let columns = Offsets::of(&self.from, image)?;
        let bitmap = out.len();
        out.resize(bitmap + self.to.bitmap_bytes(), 0xff);
        for (new, step) in self.steps.iter().enumerate() {
            let is_written = match step {
                Step::Copy(old) => columns.field(*old).map(|field| out.extend_from_slice(field)),
                Step::Lengthen(old, prefix) => columns.value(*old).map(|value| {
                    out.extend_from_slice(&(value.len() as u64).to_le_bytes()[..*prefix]);
                    out.extend_from_slice(value);
                }),
                Step::Write(old) => match columns.value(*old) {
                    None => None,
                    Some(bytes) => {
                        let data_type = &self.from.types()[*old];
                        let value = unpack(data_type, bytes).ok_or_else(|| Error::InvalidImage {
                            column: *old,
                            expected: data_type.name(),
                        })?;
                        Some(self.to.pack(new, &value, out)?)
                    }
                },
                Step::Constant(value) => value.as_ref().map(|value| out.extend_from_slice(value)),
            };
            if is_written.is_some() {
                out[bitmap + new / 8] &= !(1 << (new % 8));
            }
        }
        Ok(())
    }
}

/// Returns whether values of two types with a length field have the same bytes.
fn same_bytes(before: &DataType, after: &DataType) -> bool {
    use DataType::{Blob, Char, Text, VarBinary, VarChar};
    match (before, after) {
        (
            VarChar { collation: a, .. } | Text { collation: a, .. },
            VarChar { collation: b, .. } | Text { collation: b, .. },
        )
        | (Char { collation: a, .. }, Char { collation: b, .. }) => a.charset() == b.charset(),
        (VarBinary { .. } | Blob { .. }, VarBinary { .. } | Blob { .. }) => true,
        _ => false,
    }
}

/// Where the columns of an image are.
struct Offsets<'a> {
    image: RowImage<'a>,
    /// Start with the length field, start without it, end.
    places: Vec<[usize; 3]>,
}

impl<'a> Offsets<'a> {
    fn of(layout: &'a RowLayout, image: &'a [u8]) -> Result<Self> {
        if image.len() < layout.bitmap_bytes() {
            return Err(Error::TruncatedImage { column: 0 });
        }
        let image = layout.image(image);
        let mut places = Vec::with_capacity(layout.columns());
        let mut at = layout.bitmap_bytes();
        for column in 0..layout.columns() {
            if image.is_null(column) {
                places.push([at; 3]);
                continue;
            }
            let range = layout.packed_length(column).range(image.bytes(), at);
            let (start, end) = range.ok_or(Error::TruncatedImage { column })?;
            places.push([at, start, end]);
            at = end;
        }
        Ok(Offsets { image, places })
    }

    /// Returns a value with its length field; `None` for NULL.
    fn field(&self, column: usize) -> Option<&'a [u8]> {
        let [start, _, end] = self.places[column];
        (!self.image.is_null(column)).then(|| &self.image.bytes()[start..end])
    }

    /// Returns a value without its length field; `None` for NULL.
    fn value(&self, column: usize) -> Option<&'a [u8]> {
        let [_, start, end] = self.places[column];
        (!self.image.is_null(column)).then(|| &self.image.bytes()[start..end])
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Collation, Decimal, DecimalType, EnumValue, IntegerType, IntegerWidth, Labels, Sign};

    fn integer(width: IntegerWidth) -> DataType {
        DataType::Integer(IntegerType::new(width, Sign::Signed))
    }

    fn text(length: u32) -> DataType {
        DataType::VarChar {
            length,
            collation: Collation::Utf8mb4GeneralCi,
        }
    }

    fn labels(count: usize) -> DataType {
        DataType::Enum {
            labels: Arc::new(Labels::new((0..count).map(|number| format!("label {number}")))),
            collation: Collation::Utf8mb4GeneralCi,
        }
    }

    fn decimal(precision: u8, scale: u8) -> DataType {
        DataType::Decimal(DecimalType {
            precision,
            scale,
            sign: Sign::Signed,
            zerofill: false,
        })
    }

    #[test]
    fn columns_are_moved_added_dropped_and_widened() {
        let old = vec![
            integer(IntegerWidth::Int),
            text(10),
            labels(3),
            decimal(5, 2),
            text(10),
        ];
        let new = vec![
            text(300),
            integer(IntegerWidth::Big),
            text(20),
            decimal(9, 2),
            integer(IntegerWidth::Int),
            labels(300),
            text(10),
        ];
        let origins = [
            ColumnOrigin::Column(1),
            ColumnOrigin::Column(0),
            ColumnOrigin::Constant(constant_image(&text(20), &Value::from("new")).unwrap()),
            ColumnOrigin::Column(3),
            ColumnOrigin::Constant(constant_image(&integer(IntegerWidth::Int), &Value::Null).unwrap()),
            ColumnOrigin::Column(2),
            ColumnOrigin::Column(1),
        ];
        let (old, new) = (RowLayout::new(old), RowLayout::new(new));
        let conversion = RowConversion::new(old.clone(), new.clone(), &origins).unwrap();
        let chosen = |index| EnumValue {
            index,
            labels: match &old.types()[2] {
                DataType::Enum { labels, .. } => labels.clone(),
                _ => unreachable!(),
            },
        };
        let number = |text: &str| Value::Decimal(text.parse::<Decimal>().unwrap());
        for (row, expected) in [
            (
                vec![
                    Value::Int(-7),
                    Value::from("Ä"),
                    Value::Enum(chosen(2)),
                    number("-1.25"),
                    Value::from("gone"),
                ],
                vec!["'Ä'", "-7", "'new'", "-1.25", "NULL", "label 1", "'Ä'"],
            ),
            (
                vec![Value::Null; 5],
                vec!["NULL", "NULL", "'new'", "NULL", "NULL", "NULL", "NULL"],
            ),
        ] {
            let (mut before, mut after) = (Vec::new(), vec![9]);
            old.encode(&row, &mut before).unwrap();
            conversion.convert(&before, &mut after).unwrap();
            assert_eq!(after.remove(0), 9, "it is appended");
            let values = new.decode(&after).unwrap();
            let shown = values.iter().map(|value| match value {
                Value::Null => "NULL".to_owned(),
                Value::Int(number) => number.to_string(),
                Value::Text(text) => format!("'{text}'"),
                Value::Decimal(number) => number.to_string(),
                Value::Enum(chosen) => chosen.labels.get(chosen.index).to_owned(),
                other => format!("{other:?}"),
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected);
            let mut again = Vec::new();
            new.encode(&values, &mut again).unwrap();
            assert_eq!(after, again, "as if it had been written so");
            for length in 0..before.len() {
                assert!(conversion.convert(&before[..length], &mut Vec::new()).is_err());
            }
        }
    }
}
