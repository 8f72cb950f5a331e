//! Parameters, rows and effect of a statement.

use crate::values::{from_sequence, row_to_python};
use paceline_embedded::{CollectedRows, Value};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Effect of a statement.
#[pyclass(frozen, get_all, module = "paceline")]
pub struct Affected {
    /// Number of rows that were changed.
    rows: u64,
    /// First generated AUTO_INCREMENT value; 0 for none.
    last_insert_id: u64,
}

#[pymethods]
impl Affected {
    fn __repr__(&self) -> String {
        format!(
            "Affected(rows={}, last_insert_id={})",
            self.rows, self.last_insert_id
        )
    }
}

impl From<paceline_embedded::Affected> for Affected {
    fn from(affected: paceline_embedded::Affected) -> Affected {
        Affected {
            rows: affected.rows,
            last_insert_id: affected.last_insert_id,
        }
    }
}

/// Returns the rows of a query as a list of tuples.
pub fn rows_to_python(python: Python<'_>, rows: CollectedRows) -> PyResult<Py<PyList>> {
    let list = PyList::empty(python);
    for row in rows.rows {
        list.append(row_to_python(python, &row)?)?;
    }
    Ok(list.unbind())
}

/// Returns the values of a statement's parameters.
pub fn parameters_of(parameters: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Value>> {
    parameters.map_or(Ok(Vec::new()), from_sequence)
}
