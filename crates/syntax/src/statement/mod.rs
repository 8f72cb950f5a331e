//! What a statement can be, once it is parsed.
//!
//! Queries and expressions have [their own tree](crate::ast). Everything else is a structure of this
//! module, which says exactly what MariaDB's grammar says and no more.

mod account;
mod administration;
mod data_change;
pub mod definition;
mod file_format;
mod query;
mod replication;
mod set;
mod show;
mod transaction;

pub use account::*;
pub use administration::*;
pub use data_change::*;
pub use file_format::FileFormat;
pub use query::*;
pub use replication::*;
pub use set::*;
pub use show::*;
pub use transaction::*;

use self::definition::DdlStatement;
use crate::ast::{Expr, TableName};

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Nothing but comments: answered with OK.
    Empty,
    /// `SELECT`, `VALUES`, `TABLE`, `WITH … SELECT`, and everything in parentheses.
    Query(Box<QueryStatement>),
    /// `INSERT` and `REPLACE`.
    Insert(Box<Insert>),
    /// `UPDATE`, of one table or several.
    Update(Box<Update>),
    /// `DELETE`, of one table or several.
    Delete(Box<Delete>),
    /// `DO expr, …`.
    Do(Vec<Expr>),
    /// `LOAD DATA INFILE`.
    LoadData(Box<LoadData>),
    /// `SET …`: several assignments, in order.
    Set(Vec<SetItem>),
    /// `SET STATEMENT … FOR statement`.
    SetStatement {
        /// The assignments that hold for the statement.
        items: Vec<SetItem>,
        /// The statement.
        statement: Box<Statement>,
    },
    /// Transactions and savepoints.
    Transaction(TransactionStatement),
    /// `USE database`.
    Use(String),
    /// `SHOW …`, and `DESCRIBE table`.
    Show(Show),
    /// `EXPLAIN statement`.
    Explain(Box<Explain>),
    /// `PREPARE name FROM text`.
    Prepare {
        /// The statement's name.
        name: String,
        /// The statement's text: a string or a user variable, or any expression.
        source: Expr,
    },
    /// `EXECUTE name [USING …]`.
    Execute {
        /// The statement's name.
        name: String,
        /// The parameters.
        using: Vec<Expr>,
    },
    /// `EXECUTE IMMEDIATE text [USING …]`.
    ExecuteImmediate {
        /// The statement's text.
        source: Expr,
        /// The parameters.
        using: Vec<Expr>,
    },
    /// `DEALLOCATE PREPARE name`.
    Deallocate(String),
    /// Statements that define databases, tables and indexes.
    Ddl(DdlStatement),
    /// Statements about accounts and privileges.
    Account(AccountStatement),
    /// `ANALYZE`, `CHECK`, `OPTIMIZE`, `REPAIR TABLE`.
    TableMaintenance {
        /// What to do.
        operation: TableMaintenance,
        /// The tables.
        tables: Vec<TableName>,
        /// Whether it is logged.
        write_to_binlog: WriteToBinlog,
    },
    /// `CHECKSUM TABLE`.
    ChecksumTable {
        /// The tables.
        tables: Vec<TableName>,
        /// How the checksum is come by.
        effort: ChecksumEffort,
    },
    /// `KILL …`.
    Kill(Kill),
    /// `FLUSH …`.
    Flush {
        /// What.
        targets: Vec<FlushTarget>,
        /// Whether it is logged, if such targets are.
        write_to_binlog: WriteToBinlog,
    },
    /// `PURGE BINARY LOGS …`.
    Purge(Purge),
    /// `BACKUP …`.
    Backup(Backup),
    /// `RESET …`.
    Reset(Vec<ResetTarget>),
    /// `LOCK TABLES`.
    LockTables(Vec<LockTable>),
    /// `UNLOCK TABLES`.
    UnlockTables,
    /// `HELP topic`.
    Help(String),
    /// `BINLOG 'base64'`.
    Binlog(BinlogEvents),
    /// `SHUTDOWN`.
    Shutdown,
    /// `CHANGE MASTER`, `START SLAVE` and their like.
    Replication(ReplicationStatement),
    /// A statement that MariaDB has and this server has not: 1235 with this name for it.
    Unsupported(&'static str),
}
