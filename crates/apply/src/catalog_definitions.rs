//! Implements [`Definitions`] with the catalog: the crate `catalog` plans and runs the DDL of the log.

use std::sync::Arc;

use paceline_catalog::CatalogHandle;
use paceline_catalog::ddl::{ReplayHost, replay_ddl};
use paceline_storage::{MarkState, Storage, VersionMark};

use crate::definitions::{DdlEffect, Definitions, LoggedDdl, ReplayTable};

/// A catalog that supplies the tables for row events, and that DDL in the log changes.
pub struct CatalogDefinitions<'a> {
    catalog: Arc<CatalogHandle>,
    host: &'a dyn ReplayHost,
}

impl<'a> CatalogDefinitions<'a> {
    /// Uses this catalog. `host` runs what DDL needs from outside the catalog.
    pub fn new(catalog: Arc<CatalogHandle>, host: &'a dyn ReplayHost) -> Self {
        CatalogDefinitions { catalog, host }
    }
}

impl Definitions for CatalogDefinitions<'_> {
    fn table(&self, database: &str, table: &str) -> Option<ReplayTable> {
        let catalog = self.catalog.load();
        let definition = catalog.table(database, table)?;
        Some(ReplayTable {
            schema: Arc::clone(definition.schema()),
            defined_at: definition.version(),
        })
    }

    fn replay_ddl(
        &mut self,
        ddl: &LoggedDdl<'_>,
        storage: &Arc<Storage>,
    ) -> Result<DdlEffect, Box<dyn std::error::Error + Send + Sync>> {
        // A large transaction that was committed before has a log file of its own, after the one that its mark names.
        // Later ones are replayed with their versions.
        let marks = MarkState {
            next: VersionMark::new(ddl.version.ordinal(), 0),
            open: Vec::new(),
        };
        let replayed = replay_ddl(
            &self.catalog,
            storage,
            &marks,
            ddl.query,
            ddl.timestamp_seconds,
            ddl.gtid.server_id,
            self.host,
        )?;
        let catalog = Arc::clone(&self.catalog);
        let changes = replayed.changes;
        Ok(DdlEffect {
            writes: replayed.writes,
            builds: replayed.builds,
            publish: Box::new(move |version| Ok(catalog.publish(&changes, version)?)),
        })
    }
}
