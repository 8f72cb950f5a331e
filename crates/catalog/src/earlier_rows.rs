//! Rows that were stored before their table's columns changed: what a table's record says about them.
//!
//! [`EarlierFormat`] explains how such rows are told apart and read. Here the list of formats is kept: each entry leads
//! to the columns of *today*, so a change of the columns changes all entries and adds one.

use paceline_storage::{EarlierFormat, FormatEnd, MarkState, VersionMark};
use paceline_types::error_code::ER_NOT_FORM_FILE;
use paceline_types::row_conversion::{ColumnOrigin, RowConversion};
use paceline_types::row_image::RowLayout;
use paceline_types::{DataType, Version};

use super::definition::{ColumnDefinition, EarlierRows, TableDescription};
use crate::error::{Error, Result};

/// Number of earlier formats that a table can have. The next change of its columns rewrites the rows.
pub(crate) const EARLIER_FORMATS_MAX: usize = 64;

/// Returns the form in which rows are read. `layout` is the one of today's columns.
fn format(rows: &EarlierRows, layout: &RowLayout) -> Result<EarlierFormat> {
    let mark = |mark: &Version| {
        let no_mark = || {
            let message = format!("'{mark}' is no mark of a large transaction");
            Error::with_message(ER_NOT_FORM_FILE, message)
        };
        VersionMark::of(*mark).ok_or_else(no_mark)
    };
    let end = FormatEnd {
        version: rows.until.unwrap_or(Version::MAX),
        marks: MarkState {
            next: mark(&rows.next_mark)?,
            open: rows.open_marks.iter().map(mark).collect::<Result<_>>()?,
        },
    };
    let stored = RowLayout::new(rows.types.clone());
    let conversion = RowConversion::new(stored, layout.clone(), &rows.columns)?;
    Ok(EarlierFormat { end, conversion })
}

/// Returns the forms in which a table's earlier rows are read.
///
/// # Errors
/// If the record contradicts itself.
pub(crate) fn earlier_formats(
    description: &TableDescription,
    layout: &RowLayout,
) -> Result<Vec<EarlierFormat>> {
    let earlier = description.earlier_rows.iter();
    earlier.map(|rows| format(rows, layout)).collect()
}

/// Returns the formats after a change of the columns. `origins` are those of the new columns in the old table.
///
/// # Errors
/// If a constant cannot be read.
pub(crate) fn after_change(
    old: &TableDescription,
    new: &[ColumnDefinition],
    origins: &[ColumnOrigin],
    marks: &MarkState,
) -> Result<Vec<EarlierRows>> {
    let mut formats = Vec::with_capacity(old.earlier_rows.len() + 1);
    for rows in &old.earlier_rows {
        let columns = origins.iter().zip(new).map(|(origin, column)| match origin {
            ColumnOrigin::Constant(_) => Ok(origin.clone()),
            ColumnOrigin::Column(place) => match &rows.columns[*place] {
                ColumnOrigin::Constant(image) => {
                    let before = &old.columns[*place].data_type;
                    Ok(ColumnOrigin::Constant(converted(
                        image,
                        before,
                        &column.data_type,
                    )?))
                }
                stored => Ok(stored.clone()),
            },
        });
        let columns = columns.collect::<Result<_>>()?;
        formats.push(EarlierRows {
            columns,
            ..rows.clone()
        });
    }
    formats.push(EarlierRows {
        until: None,
        next_mark: marks.next.as_version(),
        open_marks: marks.open.iter().map(|mark| mark.as_version()).collect(),
        types: old
            .columns
            .iter()
            .map(|column| column.data_type.clone())
            .collect(),
        columns: origins.to_vec(),
    });
    Ok(formats)
}

/// Converts the image of a constant to another type.
fn converted(image: &[u8], before: &DataType, after: &DataType) -> Result<Vec<u8>> {
    let layout = |data_type: &DataType| RowLayout::new(vec![data_type.clone()]);
    let conversion = RowConversion::new(layout(before), layout(after), &[ColumnOrigin::Column(0)])?;
    let mut out = Vec::new();
    conversion.convert(image, &mut out)?;
    Ok(out)
}
