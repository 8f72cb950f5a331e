//! `paceline sys-schema`: creates the database `sys`, which MariaDB and MySQL have: views of waits, costly statements,
//! needless indexes and memory, and functions that make such numbers readable.
//!
//! ```text
//!   routines.sql ┐
//!   views.sql ───┴─▶ expand: pairs, users and hosts ─▶ statements ─▶ one session of the server, or standard output
//! ```
//! It is plain SQL over `information_schema` and `performance_schema`, written from the public documentation of the
//! columns; MariaDB's own text is under another licence. [`script`] has the form of the files.
//!
//! *Not replicated.* The session has `sql_log_bin=0`, as MariaDB's installation has: each server has a `sys` of its own
//! version, and a replica's transactions stay those of its primary. So the command is run on each server.
//!
//! *Independent of the session's settings.* Routines keep the SQL mode and the character set of their creation, so the
//! first statement sets both (`SESSION`).
//!
//! *Repeatable.* Everything is CREATE OR REPLACE, or is left alone if it exists; rows of `sys_config` that somebody has
//! changed stay. A statement that fails ends the command, and after its cause is removed the next run completes what is
//! missing. An object of the same name and another kind is not replaced: that fails, and nothing of it is lost.
//!
//! *Privileges.* Views and functions have SQL SECURITY INVOKER: a reader needs the privileges of the tables below them,
//! and sees no more than there.
//!
//! Rejected: a database that is built in like `information_schema`, which could not be dropped or changed; creation at
//! each start, which would write definitions that nobody has asked for.

mod error;
mod script;

pub use error::Error;

use crate::connection::Connection;
use crate::server_options::{Server, ServerOptions};
use error::Result;
use std::io::Write;

/// Settings of the session that creates the objects.
const SESSION: &str =
    "SET NAMES utf8mb3 COLLATE utf8mb3_general_ci, sql_mode = '', autocommit = 1, sql_log_bin = 0";

/// Options of `paceline sys-schema`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Print the SQL for the `mariadb` client instead of executing it.
    #[arg(long)]
    print: bool,
    /// The server and the account. It needs BINLOG ADMIN, SELECT on performance_schema and all privileges on sys.
    // The last field: the heading of its TLS options would also apply to options after them.
    #[command(flatten)]
    server: ServerOptions,
}

/// Creates or replaces the objects, and says how many they are.
///
/// # Errors
/// Errors have texts for users: a server that is not a Paceline, missing privileges, `read_only`.
pub async fn run(options: &Options) -> Result<()> {
    if options.print {
        let done = std::io::stdout().write_all(text(&script::statements()).as_bytes());
        return done.map_err(Error::Output);
    }
    let Server { address, login } = options.server.server().map_err(Error::Usage)?;
    let mut session = Connection::open(&address, &login).await?;
    install(&mut session).await?;
    let counted = session
        .row(
            "SELECT (SELECT COUNT(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'sys'), \
             (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'sys')",
        )
        .await?;
    let [views, routines] = counted.as_slice() else {
        return Err(session.problem("the objects cannot be counted").into());
    };
    let done =
        format!("{address}: the database sys has {views} views and {routines} functions and procedures\n");
    std::io::stdout()
        .write_all(done.as_bytes())
        .map_err(Error::Output)
}

/// Creates or replaces the objects in a session, which has `sql_log_bin=0` afterwards.
///
/// # Errors
/// Those of [`run`], except of the command line.
pub async fn install(session: &mut Connection) -> Result<()> {
    let version = session.row("SELECT VERSION()").await?.join("");
    if !version.to_ascii_lowercase().contains("paceline") {
        return Err(Error::NotPaceline {
            address: session.address().to_string(),
            version,
        });
    }
    let statements = script::statements();
    for statement in [SESSION].into_iter().chain(statements.iter().map(String::as_str)) {
        session.query(statement).await.map_err(Error::of_statement)?;
    }
    Ok(())
}

/// Returns the statements as a script for the `mariadb` client.
fn text(statements: &[String]) -> String {
    let mut text = format!("{SESSION};\nDELIMITER $$\n");
    for statement in statements {
        text.push_str(statement);
        text.push_str("$$\n");
    }
    text.push_str("DELIMITER ;\n");
    text
}
