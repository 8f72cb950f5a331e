//! Handles of tables.

use crate::error::Result;
use arc_swap::ArcSwap;
use paceline_server::embedded::ProgramSession;
use paceline_table_access::TableView;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A table and the columns that are read and written through this handle, in this order. Clones share it; it can be
/// used by any session of its database. When the table is altered, the handle finds its columns again by their names.
#[derive(Clone)]
pub struct Table(Arc<TableState>);

struct TableState {
    /// Number of the handle, under which sessions keep their plans for it.
    id: u64,
    database: String,
    name: String,
    /// Names of the columns; `None` for all visible ones.
    columns: Option<Vec<String>>,
    view: ArcSwap<TableView>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl Table {
    pub(crate) fn find(session: &ProgramSession, name: &str, columns: Option<&[&str]>) -> Result<Table> {
        let (database, name) = match name.split_once('.') {
            Some((database, name)) => (database, name),
            None => (session.database().unwrap_or_default(), name),
        };
        let columns = columns.map(|columns| columns.iter().map(|&name| name.to_owned()).collect());
        let view = view_of(session, database, name, columns.as_deref())?;
        Ok(Table(Arc::new(TableState {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            database: database.to_owned(),
            name: name.to_owned(),
            columns,
            view: ArcSwap::from_pointee(view),
        })))
    }

    /// Returns the name of the database.
    pub fn database(&self) -> &str {
        &self.0.database
    }

    /// Returns the name of the table.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.view().columns().map(str::to_owned).collect()
    }

    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    pub(crate) fn view(&self) -> Arc<TableView> {
        self.0.view.load_full()
    }

    /// Looks the table up again.
    pub(crate) fn refresh(&self, session: &ProgramSession) -> Result<()> {
        let state = &*self.0;
        let view = view_of(session, &state.database, &state.name, state.columns.as_deref())?;
        state.view.store(Arc::new(view));
        Ok(())
    }
}

fn view_of(
    session: &ProgramSession,
    database: &str,
    name: &str,
    columns: Option<&[String]>,
) -> Result<TableView> {
    let definition = session.table_definition(database, name)?;
    Ok(match columns {
        Some(columns) => TableView::new(definition, columns)?,
        None => TableView::of_all(definition),
    })
}
