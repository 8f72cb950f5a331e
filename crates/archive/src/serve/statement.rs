//! Statements that an archive supports.

use super::answer::{Answer, Cell, Table};
use super::evaluate::unsupported;
use super::session::Session;
use super::variables::is_accepted;
use crate::follow::{Follower, RequestedState};
use crate::options::{Address, Candidates};
use crate::writer::RotateError;
use paceline_binlog::log::PurgeTarget;
use paceline_syntax::Error;
use paceline_syntax::ast::{QueryBody, SelectItem};
use paceline_syntax::{
    FlushTarget, KillTarget, ParseOptions, Purge, QueryStatement, ReplicationStatement, ReplicationValue,
    SetItem, SetValue, Statement, VariableScope, parse_first,
};
use paceline_txn::InterruptReason;
use paceline_types::Value;
use paceline_types::error_code::*;
use std::sync::Arc;

impl Session {
    /// Executes a statement.
    pub(super) async fn execute(&mut self, text: &[u8]) -> Result<Answer, Error> {
        let parsed = parse_first(text, &ParseOptions::default())?;
        match parsed.statement {
            Statement::Empty | Statement::Use(_) | Statement::Transaction(_) => Ok(Answer::DONE),
            Statement::Query(query) => self.select(&query).await,
            Statement::Set(items) => self.set(&items).await,
            Statement::Show(show) => self.show(&show),
            Statement::Replication(statement) => self.replication_statement(&statement),
            Statement::Purge(purge) => self.purge(&purge).await,
            Statement::Flush { targets, .. } => self.flush_statement(&targets).await,
            Statement::Kill(kill) => match kill.target {
                KillTarget::Connection(expr) => match self.evaluate(&expr).await? {
                    Cell::Number(id) => self.kill(id),
                    _ => Err(Error::new(ER_NO_SUCH_THREAD, &[&0])),
                },
                _ => Err(unsupported("KILL of anything but a connection")),
            },
            Statement::Shutdown => {
                self.archive.context.request_stop();
                Ok(Answer::DONE)
            }
            _ => {
                let text = String::from_utf8_lossy(&text[parsed.text]).into_owned();
                let words: Vec<&str> = text.split_whitespace().take(2).collect();
                Err(unsupported(words.join(" ")))
            }
        }
    }

    async fn select(&self, query: &QueryStatement) -> Result<Answer, Error> {
        let QueryBody::Select(select) = &query.query.body else {
            return Err(unsupported("UNION"));
        };
        if !select.from.is_empty() {
            return Err(unsupported("SELECT … FROM"));
        }
        let mut named = Vec::new();
        for item in &select.items {
            let (name, expr) = match item {
                SelectItem::Expr { expr, name } => {
                    let name = name.text().map_or_else(|| expr.to_string(), str::to_owned);
                    (name, expr)
                }
                SelectItem::Wildcard | SelectItem::TableWildcard(_) => return Err(unsupported("*")),
            };
            named.push((name, self.evaluate(expr).await?));
        }
        Ok(Answer::Rows(Table::of_row(named)))
    }

    async fn set(&mut self, items: &[SetItem]) -> Result<Answer, Error> {
        for item in items {
            match item {
                SetItem::UserVariable { name, value } => {
                    let value = match self.evaluate(value).await? {
                        Cell::Null => Value::Null,
                        Cell::Number(number) => Value::Int(number),
                        Cell::Text(text) => Value::Text(text),
                    };
                    self.state.user_variables.set(name, value)?;
                }
                SetItem::Names { .. } | SetItem::CharacterSet(_) | SetItem::Transaction { .. } => {}
                SetItem::Variable {
                    scope, name, value, ..
                } => {
                    self.set_variable(*scope, &name.to_ascii_lowercase(), value)
                        .await?
                }
                SetItem::Password { .. }
                | SetItem::Role(_)
                | SetItem::DefaultRole { .. }
                | SetItem::ProgramVariable { .. } => {
                    return Err(unsupported("SET PASSWORD and SET ROLE"));
                }
            }
        }
        Ok(Answer::DONE)
    }

    async fn set_variable(
        &mut self,
        scope: VariableScope,
        name: &str,
        value: &SetValue,
    ) -> Result<(), Error> {
        if super::variables::selected(&self.archive, name).is_none() && !is_accepted(name) {
            return Err(Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]));
        }
        if scope == VariableScope::Global {
            return Err(unsupported(format!("SET GLOBAL {name}")));
        }
        if name == "skip_replication" {
            self.state.skips_marked = match value {
                SetValue::Default => false,
                SetValue::Word(word) => word.eq_ignore_ascii_case("ON"),
                SetValue::Expr(expr) => self.evaluate(expr).await? == Cell::Number(1),
            };
            return Ok(());
        }
        match is_accepted(name) {
            true => Ok(()),
            false => Err(Error::new(ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&name, &"read only"])),
        }
    }

    fn kill(&self, id: i64) -> Result<Answer, Error> {
        let all = self.archive.sessions.all();
        let found = all.iter().find(|session| i64::from(session.id) == id);
        let session = found.ok_or_else(|| Error::new(ER_NO_SUCH_THREAD, &[&id]))?;
        session.kill(InterruptReason::Connection);
        Ok(Answer::DONE)
    }

    async fn flush_statement(&self, targets: &[FlushTarget]) -> Result<Answer, Error> {
        for target in targets {
            match target {
                FlushTarget::Logs("" | "BINARY") => {
                    let writer = self.archive.context.writer.lock().clone();
                    let Some(writer) = writer else {
                        return Err(unsupported("FLUSH BINARY LOGS without a primary"));
                    };
                    let rotated = writer.rotate().await;
                    rotated.map_err(|error| {
                        let code = match &error {
                            RotateError::Closed(_) => ER_SERVER_SHUTDOWN,
                            RotateError::NoSpace(_) => ER_ERROR_ON_WRITE,
                        };
                        Error::with_message(code, error.to_string())
                    })?;
                }
                _ => return Err(unsupported("FLUSH of anything but the binary log")),
            }
        }
        Ok(Answer::DONE)
    }

    /// PURGE BINARY LOGS TO. Files that a replica reads are not removed, nor files that still have to be copied to
    /// object storage.
    async fn purge(&self, purge: &Purge) -> Result<Answer, Error> {
        let Purge::To(file) = purge else {
            return Err(unsupported("PURGE BINARY LOGS BEFORE"));
        };
        let target = PurgeTarget::File(file.clone());
        let context = self.archive.context.clone();
        let log = self.archive.context.log.clone();
        let retention = self.archive.retention.clone();
        let guard = move |file: &paceline_binlog::log::LogFile| {
            let is_due = retention
                .as_ref()
                .is_some_and(|retention| retention.is_upload_pending(&file.name));
            match is_due {
                true => Some("the copy to object storage".to_owned()),
                false => context.needed_by(file),
            }
        };
        let purged = tokio::task::block_in_place(|| log.purge(&target, &guard));
        match purged {
            Ok(outcome) => match outcome.blocked {
                None => Ok(Answer::DONE),
                Some(block) => Err(Error::with_message(
                    ER_LOG_IN_USE,
                    format!(
                        "{}: '{}' is needed by {}",
                        ER_LOG_IN_USE.message(&[]),
                        block.file,
                        block.needed_by
                    ),
                )),
            },
            Err(paceline_binlog::Error::UnknownFile(_)) => Err(Error::new(ER_UNKNOWN_TARGET_BINLOG, &[])),
            Err(error) => Err(Error::with_message(ER_UNKNOWN_ERROR, error.to_string())),
        }
    }

    fn replication_statement(&self, statement: &ReplicationStatement) -> Result<Answer, Error> {
        if self.archive.member.is_some() {
            // The cluster decides whom its members follow.
            return Err(Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--cluster"]));
        }
        match statement {
            ReplicationStatement::Start {
                connection,
                all,
                until,
                ..
            } => {
                if !until.is_empty() {
                    return Err(unsupported("START SLAVE UNTIL"));
                }
                self.request(connection.as_deref(), *all, RequestedState::Follow)
            }
            ReplicationStatement::Stop { connection, all, .. } => {
                self.request(connection.as_deref(), *all, RequestedState::Stop)
            }
            ReplicationStatement::ChangeMaster { connection, settings } => {
                let follower = self.follower(connection.as_deref())?;
                let mut address = follower.candidates().0[0].clone();
                for (name, value) in settings {
                    let text = match value {
                        ReplicationValue::Text(text)
                        | ReplicationValue::Number(text)
                        | ReplicationValue::Word(text) => text.clone(),
                        ReplicationValue::Numbers(_) => String::new(),
                    };
                    match name.as_str() {
                        "MASTER_HOST" if !text.is_empty() => address.host = text,
                        "MASTER_PORT" => {
                            address.port = text
                                .parse()
                                .map_err(|_| Error::new(ER_WRONG_ARGUMENTS, &[&"MASTER_PORT"]))?;
                        }
                        // Ignored: the archive has its own account and uses the position of its own log.
                        "MASTER_USER" | "MASTER_PASSWORD" | "MASTER_USE_GTID" | "MASTER_CONNECT_RETRY" => {}
                        other => return Err(unsupported(format!("CHANGE MASTER TO {other}"))),
                    }
                }
                follow_now(follower, address);
                Ok(Answer::DONE)
            }
        }
    }

    fn request(
        &self,
        connection: Option<&str>,
        all: bool,
        requested: RequestedState,
    ) -> Result<Answer, Error> {
        if all {
            for follower in &self.archive.followers {
                follower.request(requested);
            }
        } else {
            self.follower(connection)?.request(requested);
        }
        Ok(Answer::DONE)
    }

    /// Returns the connection with a name; without a name, the only connection.
    pub(super) fn follower(&self, connection: Option<&str>) -> Result<&Arc<Follower>, Error> {
        let name = connection.unwrap_or("");
        let found = self
            .archive
            .followers
            .iter()
            .find(|follower| follower.name() == name);
        found.ok_or_else(|| match name {
            "" => Error::new(ER_BAD_SLAVE, &[]),
            name => Error::new(WARN_NO_MASTER_INFO, &[&name]),
        })
    }
}

/// Follows this server from now on, in preference to the others, until the archive is restarted.
fn follow_now(follower: &Follower, address: Address) {
    let mut addresses = vec![address.clone()];
    addresses.extend(
        follower
            .candidates()
            .0
            .into_iter()
            .filter(|other| *other != address),
    );
    tracing::info!("CHANGE MASTER: {address} is to be followed, until the archive is started again");
    follower.set_candidates(Candidates(addresses));
}
