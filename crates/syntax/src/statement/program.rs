//! Stored programs: blocks, procedures, functions, triggers.
//!
//! ```text
//!   Routine, CompoundStatement ──▶ Program ─┬─ variables, cursors        (numbered)
//!                                           └─ body: ProgramStatement ─┬─ Block, If, Case, Loop …
//!                                                                      └─ Sql ──▶ Statement
//! ```
//! Names are resolved while parsing, as in MariaDB: a name that is a variable's is that variable, even if a table has
//! such a column. A variable in a statement is [`Expr::Parameter`] with the number of the variable, so planning and
//! execution know only parameters: the values of a program's variables are the parameters of all its statements.
//! Columns of NEW and OLD are variables, too.
//!
//! Rejected: a node for variables, as each pass over expressions would have to treat it exactly like a parameter; and
//! names that are resolved when a statement is executed, because MariaDB's rules depend on the place of the
//! declaration.

use serde::{Deserialize, Serialize};

use super::Statement;
use super::definition::TypeSpec;
use crate::ast::{ColumnName, Expr, TableName};

/// A program's body, with everything that its statements refer to by number.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Parameters first, in their order; then the variables of all blocks.
    pub variables: Vec<Variable>,
    /// Number of parameters among them.
    pub parameters: usize,
    /// Cursors of all blocks.
    pub cursors: Vec<Cursor>,
    pub body: LocatedStatement,
}

/// Maximum number of variables of a program, with the fields of rows.
pub const VARIABLES_MAX: usize = 65_536;

/// A variable, or a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: String,
    pub kind: VariableKind,
}

/// Origin of a variable's type.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableKind {
    /// A declared type.
    Typed(TypeSpec),
    /// `TYPE OF table.column`.
    TypeOf(ColumnName),
    /// `ROW (…)`, with the variables of its fields, by number.
    Row { fields: std::ops::Range<usize> },
    /// `ROW TYPE OF cursor`, `ROW TYPE OF table`, and the variable of a FOR loop over rows: its fields are the columns
    /// of the cursor's query.
    RowOf { cursor: usize },
    /// A field of a [`VariableKind::RowOf`] that is named somewhere.
    RowField { row: usize },
    /// A column of NEW or OLD.
    TriggerColumn { row: TriggerRow },
    /// The variable of a FOR loop over numbers, or its last value: a BIGINT.
    Counter,
    /// The operand of CASE, which cannot be named: its type is that of its value.
    Operand,
}

/// Rows of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriggerRow {
    Old,
    New,
}

/// A cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    pub name: String,
    /// Variables of its parameters, by number.
    pub parameters: Vec<usize>,
    pub query: SqlStatement,
}

/// A statement of SQL within a program.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlStatement {
    pub statement: Statement,
    pub text: String,
}

/// A statement of a program, with its place for messages.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedStatement {
    /// Line of the token after the statement, from 1. MariaDB takes this line for that of an error.
    pub line: u32,
    pub statement: ProgramStatement,
}

/// An expression of a program that is no statement, with its place for messages.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedExpr {
    /// Line of the token after the expression, from 1.
    pub line: u32,
    pub expr: Expr,
}

/// A statement of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum ProgramStatement {
    /// `BEGIN … END`.
    Block(Block),
    If {
        branches: Vec<Branch>,
        otherwise: Vec<LocatedStatement>,
    },
    Case {
        /// Value to compare with each branch's; without it each branch has a condition.
        operand: Option<LocatedExpr>,
        branches: Vec<Branch>,
        /// `None`: without ELSE the error 1339.
        otherwise: Option<Vec<LocatedStatement>>,
        /// Line of END, from 1.
        end_line: u32,
    },
    /// `LOOP`, `WHILE`, `REPEAT`.
    Loop(Box<Loop>),
    /// `FOR variable IN [REVERSE] from .. to`.
    ForRange(Box<ForRange>),
    /// `FOR variable IN cursor`, `FOR variable IN (query)`.
    ForRows(Box<ForRows>),
    /// `LEAVE label`: the number of the labelled statement.
    Leave(Label),
    /// `ITERATE label`.
    Iterate(Label),
    /// `RETURN value`.
    Return(Expr),
    Open {
        /// The cursor, by number.
        cursor: usize,
        arguments: Vec<Expr>,
    },
    Fetch {
        /// The cursor, by number.
        cursor: usize,
        /// Variables, by number.
        into: Vec<usize>,
    },
    Close {
        /// The cursor, by number.
        cursor: usize,
    },
    /// `FETCH GROUP NEXT ROW` of an aggregate function.
    FetchGroup,
    /// `SET` with a variable of the program among its items.
    Assign(Vec<super::SetItem>),
    /// Any other statement.
    Sql(Box<SqlStatement>),
}

/// Number of a labelled statement, unique in its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label(pub u32);

/// `BEGIN … END`.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub label: Label,
    /// Variables that get a value when the block begins, in the order of their declaration.
    pub initial: Vec<InitialValue>,
    /// Cursors that the block and the blocks in it declare, by number.
    pub cursors: std::ops::Range<usize>,
    pub handlers: Vec<Handler>,
    pub statements: Vec<LocatedStatement>,
}

/// Value of a variable at the beginning of its block.
#[derive(Debug, Clone, PartialEq)]
pub struct InitialValue {
    /// Line of the token after the declaration, from 1.
    pub line: u32,
    /// The variable, by number.
    pub variable: usize,
    /// `None` is NULL.
    pub value: Option<Expr>,
}

/// A condition and the statements to execute if it is true.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The condition, or the value to compare with.
    pub condition: LocatedExpr,
    pub statements: Vec<LocatedStatement>,
}

/// `LOOP`, `WHILE`, `REPEAT`.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    pub label: Label,
    /// ConditionValue before each pass: the loop ends if it is not true.
    pub while_true: Option<LocatedExpr>,
    pub statements: Vec<LocatedStatement>,
    /// ConditionValue after each pass: the loop ends if it is true.
    pub until: Option<LocatedExpr>,
}

/// `FOR variable IN [REVERSE] from .. to`.
#[derive(Debug, Clone, PartialEq)]
pub struct ForRange {
    pub label: Label,
    /// The variable, by number.
    pub variable: usize,
    /// Variable that holds the last value, by number.
    pub last: usize,
    pub reverse: bool,
    /// Lower bound, inclusive.
    pub from: LocatedExpr,
    /// Upper bound, inclusive.
    pub to: LocatedExpr,
    pub statements: Vec<LocatedStatement>,
}

/// `FOR variable IN cursor`, `FOR variable IN (query)`.
#[derive(Debug, Clone, PartialEq)]
pub struct ForRows {
    pub label: Label,
    /// Line of DO, from 1.
    pub line: u32,
    /// The variable, a [`VariableKind::RowOf`], by number.
    pub variable: usize,
    /// The cursor, by number. A query has one without a name.
    pub cursor: usize,
    /// Values of the cursor's parameters.
    pub arguments: Vec<Expr>,
    pub statements: Vec<LocatedStatement>,
}

/// `DECLARE … HANDLER`.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    pub action: HandlerAction,
    pub conditions: Vec<ConditionValue>,
    pub statement: Box<LocatedStatement>,
}

/// Continuation after a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerAction {
    /// The program continues after the statement that failed.
    Continue,
    /// The handler's block ends.
    Exit,
}

/// Value of a condition: what a handler is for, or what is signalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionValue {
    /// Number of an error; never 0. Errors have at most 16 bits.
    Error(u64),
    SqlState(String),
    /// `SQLWARNING`: states of class 01.
    Warning,
    /// `NOT FOUND`: states of class 02.
    NotFound,
    /// `SQLEXCEPTION`: all other states than success.
    Exception,
}

/// `BEGIN NOT ATOMIC … END` and other statements of programs outside one.
#[derive(Debug, Clone, PartialEq)]
pub struct CompoundStatement {
    pub program: Program,
}

/// `SIGNAL`, `RESIGNAL`.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    pub resignal: bool,
    /// `None` only for RESIGNAL: the condition that is being handled.
    pub condition: Option<ConditionValue>,
    /// `SET item = value, …`, each item at most once.
    pub items: Vec<(SignalItem, Expr)>,
}

/// Items of a condition that SIGNAL can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalItem {
    ClassOrigin,
    SubclassOrigin,
    ConstraintCatalog,
    ConstraintSchema,
    ConstraintName,
    CatalogName,
    SchemaName,
    TableName,
    ColumnName,
    CursorName,
    MessageText,
    MysqlErrno,
    RowNumber,
}

impl SignalItem {
    /// Returns all items with their names.
    pub const ALL: [(SignalItem, &'static str); 13] = [
        (SignalItem::ClassOrigin, "CLASS_ORIGIN"),
        (SignalItem::SubclassOrigin, "SUBCLASS_ORIGIN"),
        (SignalItem::ConstraintCatalog, "CONSTRAINT_CATALOG"),
        (SignalItem::ConstraintSchema, "CONSTRAINT_SCHEMA"),
        (SignalItem::ConstraintName, "CONSTRAINT_NAME"),
        (SignalItem::CatalogName, "CATALOG_NAME"),
        (SignalItem::SchemaName, "SCHEMA_NAME"),
        (SignalItem::TableName, "TABLE_NAME"),
        (SignalItem::ColumnName, "COLUMN_NAME"),
        (SignalItem::CursorName, "CURSOR_NAME"),
        (SignalItem::MessageText, "MESSAGE_TEXT"),
        (SignalItem::MysqlErrno, "MYSQL_ERRNO"),
        (SignalItem::RowNumber, "ROW_NUMBER"),
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(item, _)| *item == self);
        named.map_or("", |(_, name)| name)
    }
}

/// `GET [CURRENT] DIAGNOSTICS`. (MariaDB has no STACKED.)
#[derive(Debug, Clone, PartialEq)]
pub struct GetDiagnostics {
    pub information: DiagnosticsInformation,
}

/// Information that GET DIAGNOSTICS reads, each with its target.
#[derive(Debug, Clone, PartialEq)]
pub enum DiagnosticsInformation {
    /// `target = NUMBER`, `target = ROW_COUNT`.
    Statement(Vec<(Target, StatementItem)>),
    /// `CONDITION number target = item, …`.
    Condition {
        number: Expr,
        items: Vec<(Target, ConditionItem)>,
    },
}

/// Items about a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementItem {
    Number,
    RowCount,
}

/// Items about a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionItem {
    ReturnedSqlState,
    Signal(SignalItem),
}

/// Target of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A user variable, without the `@`.
    User(String),
    /// A variable of the program, by number.
    Variable(usize),
}

/// `CREATE PROCEDURE`, `CREATE FUNCTION`.
#[derive(Debug, Clone, PartialEq)]
pub struct Routine {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub definer: Option<super::AccountName>,
    pub name: TableName,
    pub kind: RoutineKind,
    pub parameters: Vec<RoutineParameter>,
    pub characteristics: Characteristics,
    /// Of a function whose code is a module this has the parameters only.
    pub program: Program,
    /// Code of a function that is not SQL: `LANGUAGE WASM AS …`.
    pub module: Option<ModuleSource>,
    /// Text of the parameters, without the parentheses.
    pub parameters_text: String,
    /// Text of the body.
    pub body_text: String,
}

/// A module of WebAssembly, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleSource {
    /// Its bytes, or its text.
    Bytes(Vec<u8>),
    /// The name of a file on the server.
    File(String),
}

/// Kinds of routines.
#[derive(Debug, Clone, PartialEq)]
pub enum RoutineKind {
    Procedure,
    /// A function with the type that it returns, and the text of the type.
    Function {
        returns: TypeSpec,
        returns_text: String,
        /// Whether the body contains a RETURN: without it the function is refused (1320).
        has_return: bool,
        aggregation: Aggregation,
    },
}

impl RoutineKind {
    /// Returns the kind without its details.
    pub fn routine_type(&self) -> RoutineType {
        match self {
            RoutineKind::Procedure => RoutineType::Procedure,
            RoutineKind::Function { .. } => RoutineType::Function,
        }
    }
}

/// Unit of a stored function's call: a row or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Aggregation {
    /// A row.
    #[default]
    None,
    /// A group of rows: `CREATE AGGREGATE FUNCTION`.
    Group,
}

/// Kinds of routines in ALTER.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RoutineType {
    Procedure,
    Function,
}

impl RoutineType {
    /// Returns its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            RoutineType::Procedure => "PROCEDURE",
            RoutineType::Function => "FUNCTION",
        }
    }
}

/// A parameter of a routine. Its variable has the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutineParameter {
    In,
    Out,
    InOut,
}

/// Characteristics of a routine; `None` where nothing was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Characteristics {
    pub comment: Option<String>,
    pub deterministic: Option<bool>,
    pub data_access: Option<DataAccess>,
    pub security: Option<super::definition::ViewSecurity>,
}

/// Characteristic of a routine: which statements it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum DataAccess {
    #[default]
    ContainsSql,
    NoSql,
    ReadsSqlData,
    ModifiesSqlData,
}

impl DataAccess {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            DataAccess::ContainsSql => "CONTAINS SQL",
            DataAccess::NoSql => "NO SQL",
            DataAccess::ReadsSqlData => "READS SQL DATA",
            DataAccess::ModifiesSqlData => "MODIFIES SQL DATA",
        }
    }
}

/// `CREATE TRIGGER`.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub definer: Option<super::AccountName>,
    pub name: TableName,
    pub table: TableName,
    pub time: TriggerTime,
    pub event: TriggerEvent,
    /// `FOLLOWS trigger`, `PRECEDES trigger`.
    pub order: Option<(TriggerOrder, String)>,
    pub program: Program,
    /// Text from the word TRIGGER on.
    pub text: String,
    /// Bytes of `text` from ON to the name of the table, which a renamed table replaces.
    pub on_table: std::ops::Range<usize>,
    /// Bytes of `text` after ROW that `order` takes, with the space before; empty without it.
    pub order_text: std::ops::Range<usize>,
    /// Text of the body.
    pub body_text: String,
}

/// Whether a trigger runs before or after the change of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TriggerTime {
    Before,
    After,
}

impl TriggerTime {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            TriggerTime::Before => "BEFORE",
            TriggerTime::After => "AFTER",
        }
    }
}

/// Change of a row that a trigger is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

impl TriggerEvent {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            TriggerEvent::Insert => "INSERT",
            TriggerEvent::Update => "UPDATE",
            TriggerEvent::Delete => "DELETE",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerOrder {
    Follows,
    Precedes,
}

/// `CREATE EVENT`.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub definer: Option<super::AccountName>,
    pub name: TableName,
    pub schedule: EventSchedule,
    /// `ON COMPLETION [NOT] PRESERVE`.
    pub completion: Option<EventCompletion>,
    pub status: Option<EventStatus>,
    pub comment: Option<String>,
    pub body: EventBody,
    /// Text from the word EVENT on.
    pub text: String,
}

/// `ALTER EVENT`; `None` where nothing was written.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterEvent {
    pub definer: Option<super::AccountName>,
    pub name: TableName,
    pub schedule: Option<EventSchedule>,
    pub completion: Option<EventCompletion>,
    pub new_name: Option<TableName>,
    pub status: Option<EventStatus>,
    pub comment: Option<String>,
    pub body: Option<EventBody>,
}

/// Statement of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventBody {
    pub program: Program,
    pub text: String,
}

/// When an event runs.
#[derive(Debug, Clone, PartialEq)]
pub enum EventSchedule {
    /// `AT time`.
    At(Expr),
    /// `EVERY value unit [STARTS time] [ENDS time]`.
    Every {
        value: Expr,
        unit: crate::ast::IntervalUnit,
        /// `None` is the time of the statement.
        starts: Option<Expr>,
        ends: Option<Expr>,
    },
}

/// Treatment of an event that will not run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum EventCompletion {
    /// It is dropped.
    #[default]
    Drop,
    /// It is disabled.
    Preserve,
}

impl EventCompletion {
    /// Returns its clause without `ON COMPLETION`.
    pub fn name(self) -> &'static str {
        match self {
            EventCompletion::Drop => "NOT PRESERVE",
            EventCompletion::Preserve => "PRESERVE",
        }
    }
}

/// Whether an event runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum EventStatus {
    #[default]
    Enabled,
    Disabled,
    /// It runs on the primary, not here.
    ReplicaSideDisabled,
}

impl EventStatus {
    /// Returns its name in `information_schema`.
    pub fn name(self) -> &'static str {
        match self {
            EventStatus::Enabled => "ENABLED",
            EventStatus::Disabled => "DISABLED",
            EventStatus::ReplicaSideDisabled => "SLAVESIDE_DISABLED",
        }
    }

    /// Returns the clause that sets it.
    pub fn clause(self) -> &'static str {
        match self {
            EventStatus::Enabled => "ENABLE",
            EventStatus::Disabled => "DISABLE",
            EventStatus::ReplicaSideDisabled => "DISABLE ON SLAVE",
        }
    }
}
