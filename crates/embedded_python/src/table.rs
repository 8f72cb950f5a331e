//! Handles of tables.

use crate::process_bound::ProcessBound;
use pyo3::prelude::*;

/// A table and the columns that are read and written through this handle, in its order. Any session of its database may
/// use it. When the table is altered, it finds its columns again by their names.
#[pyclass(frozen, module = "paceline")]
pub struct Table {
    table: ProcessBound<paceline_embedded::Table>,
    database: String,
    name: String,
}

impl Table {
    pub fn new(table: paceline_embedded::Table) -> Table {
        Table {
            database: table.database().to_owned(),
            name: table.name().to_owned(),
            table: ProcessBound::new(table),
        }
    }

    pub fn inner(&self) -> crate::errors::Result<&paceline_embedded::Table> {
        self.table.get()
    }
}

#[pymethods]
impl Table {
    /// Name of the table's database.
    #[getter]
    fn database(&self) -> &str {
        &self.database
    }

    /// Name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns, in the order of a row.
    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        Ok(self.inner()?.columns())
    }

    fn __repr__(&self) -> String {
        format!("<paceline.Table {}.{}>", self.database, self.name)
    }
}
