//! A table, and the columns of it that a program wants.

use crate::{Error, Result};
use paceline_catalog::TableDefinition;
use paceline_storage::RowPlacement;
use paceline_types::Version;
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_FIELD_SPECIFIED_TWICE, ER_KEY_DOES_NOT_EXISTS, ER_NOT_KEYFILE,
    ER_WRONG_VALUE_COUNT_ON_ROW,
};
use std::sync::Arc;

/// A table's definition and a choice of its columns.
#[derive(Debug, Clone)]
pub struct TableView {
    definition: Arc<TableDefinition>,
    /// Places of the columns in the table.
    places: Box<[usize]>,
    is_in_order: bool,
}

impl TableView {
    /// Chooses columns by their names.
    ///
    /// # Errors
    /// 1054 for an unknown column, 1110 for one that is named twice.
    pub fn new<S: AsRef<str>>(definition: Arc<TableDefinition>, columns: &[S]) -> Result<TableView> {
        let mut places = Vec::with_capacity(columns.len());
        for name in columns {
            let name = name.as_ref();
            let place = (definition.column(name))
                .ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&name, &definition.name()]))?;
            if places.contains(&place) {
                return Err(Error::new(ER_FIELD_SPECIFIED_TWICE, &[&name]));
            }
            places.push(place);
        }
        Ok(TableView {
            is_in_order: places.is_sorted(),
            definition,
            places: places.into(),
        })
    }

    /// Chooses all visible columns.
    pub fn of_all(definition: Arc<TableDefinition>) -> TableView {
        let columns = definition.columns().iter().enumerate();
        let visible = columns.filter(|(_, column)| !column.invisible);
        let places = visible.map(|(place, _)| place).collect();
        TableView {
            definition,
            places,
            is_in_order: true,
        }
    }

    /// Returns the definition.
    pub fn definition(&self) -> &Arc<TableDefinition> {
        &self.definition
    }

    /// Returns the version of the definition.
    pub fn version(&self) -> Version {
        self.definition.version()
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let columns = self.definition.columns();
        self.places.iter().map(|place| columns[*place].name.as_str())
    }

    /// Returns an index by its name.
    ///
    /// # Errors
    /// 1176.
    pub fn index(&self, name: &str) -> Result<usize> {
        let unknown = || Error::new(ER_KEY_DOES_NOT_EXISTS, &[&name, &self.definition.name()]);
        self.definition.index(name).ok_or_else(unknown)
    }

    /// Returns the index under which the rows are stored: the primary key, or the first unique key without NULL.
    ///
    /// # Errors
    /// 1176 if there is none.
    pub fn row_index(&self) -> Result<usize> {
        match self.definition.schema().clustered() {
            RowPlacement::Key(index) => Ok(index),
            RowPlacement::RowId(_) | RowPlacement::Single(_) => Err(Error::new(
                ER_KEY_DOES_NOT_EXISTS,
                &[&"PRIMARY", &self.definition.name()],
            )),
        }
    }

    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }

    pub(crate) fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// Checks the number of a row's values.
    ///
    /// # Errors
    /// 1136.
    pub fn check_count(&self, count: usize) -> Result<()> {
        match count == self.places.len() {
            true => Ok(()),
            false => Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&1])),
        }
    }

    /// Returns the error of an image that does not fit the table: its file is damaged.
    pub(crate) fn corrupt(&self) -> Error {
        Error::new(ER_NOT_KEYFILE, &[&self.definition.name()])
    }
}
