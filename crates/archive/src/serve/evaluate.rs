//! Expressions without tables: literals, variables, and functions that replicas and operators call.

use super::answer::Cell;
use super::session::Session;
use super::variables::selected;
use crate::archive::version;
use crate::clock::unix_seconds;
use paceline_binlog::GtidPosition;
use paceline_syntax::Error;
use paceline_syntax::ast::{Arguments, Expr, FunctionCall, Literal, UnaryOp};
use paceline_types::Value;
use paceline_types::error_code::*;
use std::time::Duration;

impl Session {
    /// Evaluates an expression. Functions may wait.
    pub(super) async fn evaluate(&self, expr: &Expr) -> Result<Cell, Error> {
        match expr {
            Expr::Call(call) => self.call(call).await,
            Expr::Nested(inner) => Box::pin(self.evaluate(inner)).await,
            simple => self.evaluate_simple(simple),
        }
    }

    fn evaluate_simple(&self, expr: &Expr) -> Result<Cell, Error> {
        match expr {
            Expr::Literal(value) => literal(value),
            Expr::UserVariable(name) => Ok(self.user_variable(name)),
            Expr::SystemVariable { name, .. } => selected(&self.archive, &name.to_ascii_lowercase())
                .ok_or_else(|| Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[name])),
            Expr::Nested(inner) => self.evaluate_simple(inner),
            Expr::Unary {
                op: UnaryOp::Minus,
                operand,
            } => match self.evaluate_simple(operand)? {
                Cell::Number(number) => Ok(Cell::Number(number.saturating_neg())),
                Cell::Text(text) => Ok(Cell::Text(format!("-{text}"))),
                Cell::Null => Ok(Cell::Null),
            },
            other => Err(unsupported(other)),
        }
    }

    fn user_variable(&self, name: &str) -> Cell {
        let known = self.state.user_variables.get(name);
        known.map_or(Cell::Null, |value| match value {
            Value::Int(number) => Cell::Number(*number),
            Value::Text(text) => Cell::text(text.clone()),
            _ => Cell::Null,
        })
    }

    async fn call(&self, call: &FunctionCall) -> Result<Cell, Error> {
        if matches!(call.arguments, Arguments::Star) {
            return Err(unsupported(call));
        }
        let name = call.full_name().to_ascii_lowercase();
        let mut arguments = Vec::new();
        for argument in call.arguments.exprs() {
            arguments.push(self.evaluate_simple(argument)?);
        }
        Ok(match (name.as_str(), arguments.as_slice()) {
            ("unix_timestamp", []) => Cell::Number(i64::from(unix_seconds())),
            ("version", []) => Cell::text(version()),
            ("connection_id", []) => Cell::Number(i64::from(self.client.id)),
            ("database" | "schema", []) => Cell::Null,
            ("user" | "current_user" | "session_user" | "system_user", []) => {
                Cell::text(format!("{}@{}", self.state.user, self.client.host))
            }
            ("binlog_gtid_pos", [Cell::Text(file), Cell::Number(offset)]) => self.gtids_at(file, *offset),
            ("binlog_gtid_pos", [_, _]) => Cell::Null,
            ("master_gtid_wait", [position, rest @ ..]) => self.wait_for_gtids(position, rest).await?,
            _ => return Err(unsupported(call)),
        })
    }

    /// BINLOG_GTID_POS: returns NULL for a position that is not in the log.
    fn gtids_at(&self, file: &str, offset: i64) -> Cell {
        let log = &self.archive.context.log;
        let files = log.files();
        // An empty name means the first file.
        let file = match (file, files.first()) {
            ("", Some(first)) => &first.name,
            (file, _) => file,
        };
        let state = u64::try_from(offset)
            .ok()
            .and_then(|offset| log.position_of(file, offset.max(4)).ok())
            .and_then(|position| tokio::task::block_in_place(|| log.state_at(position)).ok());
        state.map_or(Cell::Null, |state| Cell::text(state.position().to_string()))
    }

    /// MASTER_GTID_WAIT: returns 0 when all named transactions are durable here, -1 after the timeout.
    async fn wait_for_gtids(&self, position: &Cell, timeout: &[Cell]) -> Result<Cell, Error> {
        let Cell::Text(text) = position else {
            return Ok(Cell::Null);
        };
        let requested: GtidPosition = text
            .parse()
            .map_err(|_| Error::new(ER_INCORRECT_GTID_STATE, &[]))?;
        let seconds = match timeout {
            [Cell::Number(seconds)] if *seconds >= 0 => Some(*seconds as f64),
            [Cell::Text(seconds)] => seconds.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0),
            _ => None,
        };
        let sendable = &self.archive.context.sendable;
        let arrives = async {
            loop {
                let seen = sendable.position();
                if self.archive.context.position().covers(&requested) {
                    return;
                }
                sendable.past(seen).await;
            }
        };
        let stopped = self.archive.context.stop_requested();
        let timeout = async {
            match seconds {
                Some(seconds) => tokio::time::sleep(Duration::from_secs_f64(seconds.min(1e9))).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = arrives => Ok(Cell::Number(0)),
            () = timeout => Ok(Cell::Number(-1)),
            () = stopped => Err(Error::new(ER_SERVER_SHUTDOWN, &[])),
        }
    }
}

fn literal(value: &Literal) -> Result<Cell, Error> {
    Ok(match value {
        Literal::Null => Cell::Null,
        Literal::Boolean(value) => Cell::Number(i64::from(*value)),
        Literal::Number(digits) => match digits.parse() {
            Ok(number) => Cell::Number(number),
            Err(_) => Cell::text(digits.clone()),
        },
        Literal::Text(text) => Cell::text(text.clone()),
        other => return Err(unsupported(other)),
    })
}

/// Returns error 1235: an archive has no tables and does not support this.
pub(super) fn unsupported(what: impl std::fmt::Display) -> Error {
    Error::unsupported(format!("{what} in an archive"))
}
