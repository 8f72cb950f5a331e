//! Start-up's replay of the log, and what a restart does to MEMORY tables.

use crate::accounts::show::identifier;
use crate::accounts::statements::{StatementContext, apply};
use crate::server::{Server, accounts_of};
use crate::session::account::changes;
use crate::session::ddl::{LoggedStatement, commit_prepared};
use crate::variables::Variable;
use paceline_apply::{DdlEffect, Definitions, LoggedDdl, ReplayTable};
use paceline_binlog::log::Log;
use paceline_sql::catalog::{Catalog, CatalogChange, CatalogHandle, TableEngine};
use paceline_sql::ddl::{AccountStatements, DdlInput, prepare_ddl, replay_ddl};
use paceline_sql::parse::{AccountStatement, DdlStatement, TableName};
use paceline_sql::session::{KeepDiagnostics, Services, SessionContext};
use paceline_storage::Storage;
use paceline_txn::{GtidChoice, Interrupt, Replication};
use paceline_types::{DomainId, ServerId};
use std::sync::Arc;
use std::time::Duration;

/// Applies what the tables do not hold yet, and reads the catalog.
///
/// # Errors
/// For people.
pub fn recover(storage: &Arc<Storage>, log: &Log) -> Result<Arc<CatalogHandle>, String> {
    let catalog =
        Catalog::load(&storage.snapshot()).map_err(|error| format!("cannot read the catalog: {error}"))?;
    let catalog = Arc::new(CatalogHandle::new(catalog));
    let mut definitions = Replay {
        catalog: catalog.clone(),
    };
    paceline_apply::recover(log, storage, &mut definitions)
        .map_err(|error| format!("the binary log cannot be applied to the tables: {error}"))?;
    Ok(catalog)
}

/// The catalog, as replay sees and changes it.
struct Replay {
    catalog: Arc<CatalogHandle>,
}

/// Statements about accounts, replayed.
struct ReplayedAccounts;

impl AccountStatements for ReplayedAccounts {
    fn replay(
        &self,
        statement: &AccountStatement,
        catalog: &Catalog,
        session: &SessionContext,
    ) -> paceline_sql::Result<Vec<CatalogChange>> {
        let before = accounts_of(catalog);
        let current = (
            session.current_user.user.as_str(),
            session.current_user.host.as_str(),
        );
        let context = StatementContext {
            accounts: &before,
            current,
            database: session.database.as_deref(),
        };
        let applied = apply(statement, context)?;
        Ok(changes(
            &before,
            &applied.accounts,
            catalog.accounts().next().is_none(),
        ))
    }
}

impl Definitions for Replay {
    fn table(&self, database: &str, table: &str) -> Option<ReplayTable> {
        let catalog = self.catalog.load();
        let definition = catalog.table(database, table)?;
        Some(ReplayTable {
            schema: definition.schema().clone(),
            defined_at: definition.version(),
        })
    }

    fn replay_ddl(
        &mut self,
        ddl: &LoggedDdl<'_>,
        storage: &Arc<Storage>,
    ) -> Result<DdlEffect, Box<dyn std::error::Error + Send + Sync>> {
        let replayed = replay_ddl(
            &self.catalog,
            storage,
            ddl.query,
            ddl.timestamp_seconds,
            &ReplayedAccounts,
        )?;
        let (catalog, changes) = (self.catalog.clone(), replayed.changes);
        Ok(DdlEffect {
            writes: replayed.writes,
            builds: replayed.builds,
            publish: Box::new(move |version| Ok(catalog.publish(&changes, version)?)),
        })
    }
}

/// MEMORY tables are empty now: logs a TRUNCATE for each, so that replicas and a replay agree.
///
/// # Errors
/// For people.
pub async fn empty_memory_tables(server: &Arc<Server>) -> Result<(), String> {
    let catalog = server.catalog.load();
    let locks = server.transactions.session(Interrupt::new());
    for table in catalog
        .tables()
        .filter(|table| table.description().engine == TableEngine::Memory)
    {
        let mut context = SessionContext::new(0, Services::default());
        context.begin_statement(KeepDiagnostics::No);
        let snapshot = server.transactions.snapshot();
        let input = DdlInput {
            catalog: &server.catalog,
            storage: server.transactions.storage(),
            snapshot: &snapshot,
            default_engine: TableEngine::InnoDb,
            select_columns: None,
        };
        let statement = DdlStatement::TruncateTable(TableName::qualified(table.database(), table.name()));
        let name = format!("{}.{}", identifier(table.database()), identifier(table.name()));
        let failed =
            |error: paceline_sql::Error| format!("the MEMORY table {name} cannot be emptied: {error}");
        let prepared = prepare_ddl(input, &mut context, &statement).map_err(failed)?;
        let text = format!("TRUNCATE TABLE {name}");
        let logged = LoggedStatement::of_context(&context, text.as_bytes(), "SYSTEM".into());
        let gtid = GtidChoice::Next {
            domain_id: DomainId(server.globals.number(Variable::GtidDomainId) as u32),
            server_id: ServerId(server.globals.number(Variable::ServerId) as u32),
        };
        commit_prepared(
            server,
            &locks,
            prepared,
            &logged,
            gtid,
            Replication::Replicated,
            Duration::from_secs(3600),
        )
        .await
        .map_err(failed)?;
    }
    Ok(())
}
