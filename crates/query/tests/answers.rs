//! Comparison with MariaDB 10.11: golden scripts (`testscripts/answers`) with result sets, counts, errors and warnings.
//! The statements run through this crate from text to rows, with a transaction manager on temporary files, but without
//! a server and without sockets.
//!
//! The tag `[sort]` sorts the rows of a statement whose order SQL leaves open. `[meta]` adds the description of the
//! result set's columns.

mod harness;

use std::error::Error;
use std::fmt::Write as _;

use harness::Server;
use paceline_golden_script::{Answers, Command, Context, Runner};
use paceline_query::plan::ResultColumn;

impl Runner for Server {
    type Command = Command;

    fn start_script(&mut self) -> Result<(), Box<dyn Error>> {
        let database = "CREATE DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci";
        self.run(database).result?;
        self.use_database("test");
        Ok(())
    }

    fn run(&mut self, command: &Command, context: &Context) -> Result<String, Box<dyn Error>> {
        let mut out = String::new();
        let answer = Server::run(self, &command.name);
        match (answer.result, answer.columns) {
            (Err(error), _) => writeln!(out, "error {}: {}", error.code(), error.message())?,
            (Ok(_), Some(columns)) => {
                let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
                writeln!(out, "{}", names.join("\t"))?;
                let mut rows = answer.rows;
                if context.tags.contains("sort") {
                    rows.sort();
                }
                for row in rows {
                    writeln!(out, "{}", if row.is_empty() { "''" } else { &row })?;
                }
                if context.tags.contains("meta") {
                    for column in &columns {
                        writeln!(out, "meta: {}", described(column))?;
                    }
                }
            }
            (Ok(outcome), None) => {
                write!(out, "ok: {} affected", outcome.affected_rows)?;
                if outcome.last_insert_id != 0 {
                    write!(out, ", insert id {}", outcome.last_insert_id)?;
                }
                if !outcome.info.is_empty() {
                    write!(out, ", info: {}", outcome.info)?;
                }
                out.push('\n');
            }
        }
        for (level, code, message) in answer.warnings {
            writeln!(out, "{level} {code}: {message}")?;
        }
        Ok(out)
    }
}

/// Describes a column as in its definition packet.
fn described(column: &ResultColumn) -> String {
    format!(
        "{}.{}({}).{}({}) type={} charset={} length={} flags={} decimals={}",
        column.database,
        column.table,
        column.org_table,
        column.name,
        column.org_name,
        column.field_type.code(),
        if column.data_type.is_text() {
            45
        } else {
            column.collation.id()
        },
        column.length(4),
        column.flags,
        column.decimals
    )
}

#[test]
fn answers_are_mariadbs() {
    let answers = paceline_golden_script::run_folder("testscripts/answers", Answers::MariaDb, Server::new);
    assert!(answers > 1_700, "only {answers} answers were found");
}
