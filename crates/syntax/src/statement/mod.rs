//! Statements, as parsed.
//!
//! Queries and expressions have [their own tree](crate::ast). All other statements are structures of this
//! module, which express exactly what MariaDB's grammar allows.

// A statement is documented by its SQL; a field whose name is the clause needs no comment.
#![allow(missing_docs)]

mod account;
mod administration;
mod data_change;
pub mod definition;
mod file_format;
mod handler;
mod plugin;
mod program;
mod query;
mod replication;
mod set;
mod show;
mod transaction;

pub use account::*;
pub use administration::*;
pub use data_change::*;
pub use file_format::FileFormat;
pub use handler::*;
pub use plugin::*;
pub use program::*;
pub use query::*;
pub use replication::*;
pub use set::*;
pub use show::*;
pub use transaction::*;

use self::definition::DdlStatement;
use crate::ast::{Expr, TableName};

/// Keyword of USING in the place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmittedValue {
    /// `DEFAULT`.
    Default,
    /// `IGNORE`.
    Ignore,
}

/// Parameters of USING without a value, by number.
pub type OmittedValues = Vec<(usize, OmittedValue)>;

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Only comments; the answer is OK.
    Empty,
    /// `SELECT`, `VALUES`, `TABLE`, `WITH … SELECT`, and a query in parentheses.
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
    /// `HANDLER …`.
    Handler(Box<HandlerStatement>),
    /// `SET …`: assignments in order.
    Set(Vec<SetItem>),
    /// `SET STATEMENT … FOR statement`.
    SetStatement {
        /// Assignments that are valid during the statement.
        items: Vec<SetItem>,
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
        name: String,
        /// Text of the statement: a string or a user variable, or any expression.
        source: Expr,
    },
    /// `EXECUTE name [USING …]`.
    Execute {
        name: String,
        using: Vec<Expr>,
        /// Those without a value; they are NULL in `using`.
        omitted: OmittedValues,
    },
    /// `EXECUTE IMMEDIATE text [USING …]`.
    ExecuteImmediate {
        /// Text of the statement.
        source: Expr,
        using: Vec<Expr>,
        /// As in EXECUTE.
        omitted: OmittedValues,
    },
    /// `DEALLOCATE PREPARE name`.
    Deallocate(String),
    /// Statements that define databases, tables and indexes.
    Ddl(DdlStatement),
    /// `BEGIN NOT ATOMIC … END`.
    Compound(Box<CompoundStatement>),
    /// `CALL procedure(…)`.
    Call {
        procedure: TableName,
        arguments: Vec<Expr>,
    },
    /// `SIGNAL`, `RESIGNAL`.
    Signal(Box<Signal>),
    /// `GET DIAGNOSTICS`.
    GetDiagnostics(Box<GetDiagnostics>),
    /// Statements about accounts and privileges.
    Account(AccountStatement),
    /// `ANALYZE`, `CHECK`, `OPTIMIZE`, `REPAIR TABLE`.
    TableMaintenance {
        operation: TableMaintenance,
        tables: Vec<TableName>,
        /// Whether the statement is logged.
        write_to_binlog: WriteToBinlog,
    },
    /// `CHECKSUM TABLE`.
    ChecksumTable {
        tables: Vec<TableName>,
        /// Method of computing the checksum.
        effort: ChecksumEffort,
    },
    /// `KILL …`.
    Kill(Kill),
    /// `FLUSH …`.
    Flush {
        targets: Vec<FlushTarget>,
        /// Whether the statement is logged, if its targets are of a kind that is logged.
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
    /// `CHANGE MASTER`, `START SLAVE` and similar statements.
    Replication(ReplicationStatement),
    /// `INSTALL …`, `UNINSTALL …`.
    Plugin(PluginStatement),
    /// A statement that MariaDB has and this server does not: error 1235 with this name.
    Unsupported(&'static str),
}
