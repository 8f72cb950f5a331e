//! Bounds of a scan: from values of an index's columns to a range of its keys.

use crate::input::IntoValues;
use crate::view::TableView;
use crate::{Error, Result};
use paceline_storage::{IndexKind, KeyRange, prefix_end};
use paceline_types::convert::{ConvertContext, assign};
use paceline_types::error_code::{
    ER_BAD_NULL_ERROR, ER_NOT_SUPPORTED_YET, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, ER_WRONG_VALUE_COUNT_ON_ROW,
};
use paceline_types::{Value, ValueRef, text};

/// Part of an index: bounds on the values of its first columns. Without any it is the whole index.
///
/// ```
/// # use paceline_table_access::IndexBounds;
/// // The messages of one author, from number 100 on.
/// let bounds = IndexBounds::all().prefix((7,)).at_least((7, 100));
/// ```
#[derive(Debug, Clone, Default)]
pub struct IndexBounds {
    prefix: Option<Vec<Value>>,
    lower: Option<Bound>,
    upper: Option<Bound>,
}

/// Values of an index's first columns. All keys that begin with them are on the same side of the bound.
#[derive(Debug, Clone)]
struct Bound {
    values: Vec<Value>,
    is_inclusive: bool,
}

fn collect(values: impl IntoValues) -> Vec<Value> {
    let mut collected = Vec::with_capacity(4);
    values.append_to(&mut collected);
    collected
}

impl IndexBounds {
    /// Returns the whole index.
    pub fn all() -> IndexBounds {
        IndexBounds::default()
    }

    /// Only entries whose first columns have these values.
    #[must_use]
    pub fn prefix(mut self, values: impl IntoValues) -> IndexBounds {
        self.prefix = Some(collect(values));
        self
    }

    /// Only entries that are at or after these values of the index's first columns.
    #[must_use]
    pub fn at_least(mut self, values: impl IntoValues) -> IndexBounds {
        self.lower = Some(Bound {
            values: collect(values),
            is_inclusive: true,
        });
        self
    }

    /// Only entries that are after all with these values.
    #[must_use]
    pub fn after(mut self, values: impl IntoValues) -> IndexBounds {
        self.lower = Some(Bound {
            values: collect(values),
            is_inclusive: false,
        });
        self
    }

    /// Only entries that are at or before these values.
    #[must_use]
    pub fn at_most(mut self, values: impl IntoValues) -> IndexBounds {
        self.upper = Some(Bound {
            values: collect(values),
            is_inclusive: true,
        });
        self
    }

    /// Only entries that are before all with these values.
    #[must_use]
    pub fn before(mut self, values: impl IntoValues) -> IndexBounds {
        self.upper = Some(Bound {
            values: collect(values),
            is_inclusive: false,
        });
        self
    }

    /// Returns the range of the index's keys.
    ///
    /// # Errors
    /// Those of [`append_key`]; 1235 for an index without an order of its values.
    pub(crate) fn range(
        &self,
        view: &TableView,
        index: usize,
        context: &ConvertContext<'_>,
    ) -> Result<KeyRange> {
        if view.definition().schema().indexes()[index].kind == IndexKind::UniqueHash {
            return Err(Error::new(
                ER_NOT_SUPPORTED_YET,
                &[&"scans of an index of hashes"],
            ));
        }
        let key = |values: &[Value]| {
            let mut key = Vec::with_capacity(32);
            append_key(view, index, values, context, &mut key).map(|()| key)
        };
        let start = key(self.prefix.as_deref().unwrap_or_default())?;
        let end = prefix_end(&start);
        let mut range = KeyRange::new(start, end);
        if let Some(Bound { values, is_inclusive }) = &self.lower {
            let key = key(values)?;
            let start = if *is_inclusive { key } else { prefix_end(&key) };
            range.start = range.start.max(start);
        }
        if let Some(Bound { values, is_inclusive }) = &self.upper {
            let key = key(values)?;
            let end = if *is_inclusive { prefix_end(&key) } else { key };
            range.end = range.end.min(end);
        }
        Ok(range)
    }
}

/// Appends the beginning of an index's keys with these values of its first columns.
///
/// # Errors
/// 1136 for more values than columns; 1366 for a value that the column cannot store without a loss; 1048 for NULL in a
/// column that has none; 1235 for a column of which the index has only a prefix.
pub(crate) fn append_key(
    view: &TableView,
    index: usize,
    values: &[Value],
    context: &ConvertContext<'_>,
    key: &mut Vec<u8>,
) -> Result<()> {
    let definition = view.definition();
    let schema = definition.schema();
    let parts = &schema.indexes()[index].parts;
    if values.len() > parts.len() {
        return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&1]));
    }
    let mut stored: Vec<Value> = Vec::with_capacity(values.len());
    for (value, part) in values.iter().zip(parts) {
        let column = &definition.columns()[part.column];
        if part.prefix.is_some() {
            let what = "keys of a prefix of a column";
            return Err(Error::new(ER_NOT_SUPPORTED_YET, &[&what]));
        }
        if value.is_null() && !column.nullable {
            return Err(Error::new(ER_BAD_NULL_ERROR, &[&column.name]));
        }
        let converted = assign(value.clone(), &column.data_type, context);
        if converted.problem.is_some() {
            let shown = text::to_string(&value.as_ref(), context.time_zone);
            let (database, table) = (definition.database(), definition.name());
            return Err(Error::new(
                ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
                &[&"key", &shown, &database, &table, &column.name, &1],
            ));
        }
        stored.push(converted.value);
    }
    let stored: Vec<ValueRef<'_>> = stored.iter().map(Value::as_ref).collect();
    Ok(schema.append_key_prefix(index, &stored, key)?)
}
