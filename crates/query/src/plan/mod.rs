//! The planner: binds the names of a parsed statement and chooses access paths.
//!
//! ```text
//!   Statement ──bind──▶ blocks of bound expressions ──optimize──▶ Plan ──▶ execute
//!               catalog,      (conditions split at AND,   statistics
//!               session        outer joins turned inner)
//! ```
//!
//! * [`statement`] is the entry point. [`planner`] is the state that all blocks of a statement share;
//!   [`statement_plan`] is the result.
//! * [`tree`] is the plan of a query, and the row layout that binding and execution share; [`change_plan`] has the
//!   plans of statements that change rows.
//! * [`block`] is one query block during binding, [`table_ref`] and [`bound_window`] are its tables and window
//!   functions, [`scope`] is the meaning of names in it. [`from`] binds its tables, [`select`] the rest of it,
//!   [`set_operation`] binds UNION and the other set operations, and [`view`] merges views. [`stored_items`] has the
//!   items of the select list that other clauses read from the row.
//! * [`conditions`] analyses conditions, [`keys`] finds the indexes that serve them, [`range`] converts conditions to
//!   ranges of an index at execution, [`join_order`] chooses the cheapest order of tables and the access path of each.
//! * [`index_order`] uses the order of an index, [`covering`] reads indexes without rows, [`loose_scan`] skips through
//!   them. [`statistics`] estimates numbers of rows, [`known_values`] has the values that are known during planning.
//! * [`text_dependence`] collects what the text of a statement depends on, for the log; [`unsafe_text`] adds the
//!   reasons that lie in its tables.
//! * [`schema_names`] compares names of databases and tables with case if a condition on `information_schema` asks for
//!   one.
//! * [`dml`] plans INSERT, UPDATE and DELETE, [`defaults`] the values of columns that are not named, [`source_columns`]
//!   the columns of a SELECT that ON DUPLICATE KEY UPDATE reads, [`load`] LOAD DATA. [`explain`] describes a plan, for
//!   ANALYZE with the [`measurements`] of its execution; [`trace`] describes the changes made by each pass.
//!
//! # Layers
//! The modules use each other in one direction, which `tools/tidy.py` checks:
//!
//! ```text
//!   statement ─▶ dml, load, explain, select, view, set_operation ─▶ from, join_order, … ─▶ block ─▶ planner
//!     ─▶ statement_plan, statistics, trace ─▶ change_plan, tree, range
//! ```
//! A module may call methods that another one adds to [`Planner`] or to a block: binding recurses through them.
//!
//! A plan contains no values of the session's data. Ranges and lookups are expressions that are computed at execution,
//! so a prepared statement's plan serves any parameters. A plan is valid as long as [`Plan::is_current`] returns true.

mod block;
mod bound_window;
mod buffered;
mod change_plan;
mod common_table;
mod conditions;
mod covering;
mod defaults;
mod dml;
mod document;
mod early_conditions;
mod equalities;
mod estimates;
mod explain;
mod from;
mod handler;
mod handler_plan;
mod index_order;
mod item_slots;
mod join_order;
mod json_table;
pub(crate) mod json_table_plan;
mod keys;
pub(crate) mod known_values;
mod load;
mod loose_scan;
pub(crate) mod measurements;
mod needless_distinct;
mod planner;
pub(crate) mod position;
pub(crate) mod range;
mod result_column;
mod row_format;
mod same_expr;
mod scan_counts;
mod schema_names;
mod scope;
mod select;
mod selected_columns;
mod selectivity;
mod semi_join;
mod set_operation;
pub(crate) mod slot_names;
mod source_columns;
mod statement;
mod statement_plan;
mod statistics;
mod stored_items;
mod table_ref;
mod text_dependence;
mod trace;
pub(crate) mod tree;
mod unread_columns;
mod unsafe_text;
mod view;
mod view_target;
mod volatile;
mod window;

pub use explain::{PlanExplanation, PlanOperations, shown_plan_columns};
pub use planner::PlanContext;
pub use result_column::{ColumnOrigin, ResultColumn, Through};
pub use row_format::{RowFormat, has_odd_separators};
pub use selected_columns::{insert_of_select, selected_columns};
pub use statement::{TracedPlan, plan_statement, plan_with_optimizer_trace, trace_passes};
pub use statement_plan::{
    Access, ColumnUsage, ColumnUse, Plan, PlanType, PlannedValues, TableUsage, TableUse,
    is_to_be_planned_again,
};
pub use statistics::{Statistics, StatisticsSource};
pub use text_dependence::{TextDependence, UnsafeReason, UnsafeReasons};

pub(crate) use change_plan::{
    AssignmentPlan, CheckPlan, DefaultPlan, DeletePlan, InsertPlan, InsertRows, LoadPlan, LoadTarget,
    UpdatePlan, UpdateTarget, ViewCheckPlan, XmlPlan,
};
pub(crate) use handler_plan::{HandlerPlan, HandlerReadPlan, HandlerStartPlan};
pub(crate) use planner::{Planner, unique_id};
pub(crate) use statement_plan::{PlanKind, PointRead, QueryStatementPlan};
