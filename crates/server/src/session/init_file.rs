//! `--init-file`: statements that the server executes with all privileges before it accepts clients.
//!
//! As in MariaDB, execution stops at the first error, which is logged, and the server starts nevertheless. An
//! unreadable file prevents the start.

use super::Session;
use super::execution::Execution;
use super::internal::internal_session;
use crate::accounts::authentication::stored_hash;
use crate::server::Server;
use paceline_expression::session::Account;
use paceline_syntax::ParseOptions;
use paceline_syntax::{Error, Result};
use paceline_txn::Interrupt;
use paceline_types::error_code::ER_PARSE_ERROR;
use paceline_wire::Capabilities;
use std::path::Path;
use std::sync::Arc;

/// User that `USER()` returns.
const USER: &str = "boot";

/// Executes the statements of a file.
///
/// # Errors
/// A message if the file cannot be read.
pub async fn run_init_file(server: &Arc<Server>, path: &Path) -> std::result::Result<(), String> {
    let text = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let interrupt = Interrupt::new();
    let locks = server.transactions.session(interrupt.clone());
    let (mut session, mut other_end) = internal_session(server, USER, locks)
        .map_err(|error| format!("cannot run the init file: {error}"))?;
    // Selected rows are discarded, those of procedures too.
    session.connection.capabilities = Capabilities::MULTI_RESULTS;
    let drained = tokio::spawn(async move { tokio::io::copy(&mut other_end, &mut tokio::io::sink()).await });
    session.state.context.user = Account {
        user: USER.to_owned(),
        host: String::new(),
    };
    if let Err(error) = session.run_text(&text).await {
        tracing::error!(
            "--init-file {}: {} {error}; the statements after it are not run",
            path.display(),
            error.code().number()
        );
    }
    drop(session);
    drained.abort();
    Ok(())
}

impl Session {
    /// Executes the statements of a text up to the first error.
    pub(crate) async fn run_text(&mut self, text: &[u8]) -> Result<()> {
        let mut rest = text;
        while !rest.trim_ascii().is_empty() {
            let options = ParseOptions {
                sql_mode: self.state.context.settings.sql_mode,
                ..ParseOptions::default()
            };
            let parsed = paceline_syntax::parse_first(rest, &options)?;
            let shown = parsed.text_to_show(rest, stored_hash).into_owned();
            self.begin_command("Query", &shown);
            self.state.begin_statement(Some(&parsed.statement));
            let execution = Execution::of_text(&shown);
            let done = match parsed.parameters {
                0 => self.run_statement(&parsed.statement, execution).await,
                _ => Err(Error::new(ER_PARSE_ERROR, &[&"?", &1])),
            };
            let done = self.end_statement(&shown, None, done);
            self.connection.writer.clear();
            done?;
            match parsed.next {
                Some(next) => rest = &rest[next..],
                None => break,
            }
        }
        Ok(())
    }
}
