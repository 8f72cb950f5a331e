//! Definition statements: from the parsed statement to the changes that it makes.
//!
//! ```text
//!   DdlStatement ─▶ plan_ddl(catalog, session, first id) ─▶ DdlPlan ─▶ TableBuild::run ─▶ files aside, synced
//!                                                            │ CatalogChanges, range deletes
//!                                                            ▼
//!                              one Query event with the id, one batch, published in the log's order
//! ```
//!
//! The protocol at run time: lock the [`ddl_objects`] and [`foreign_key_names`] exclusively; [`prepare_ddl`]
//! plans, and builds aside what must be built, synced; the Query event with the plan's id is logged; then
//! records, range deletes and builds become visible at once, and the catalog is switched before any session
//! sees them. Recovery and replicas call [`replay_ddl`] with the event: the same plan with the same numbers
//! finds its finished build, or builds again.
//!
//! Planning reads only the catalog, the statement and the session's settings. The log carries all of them.

mod alter_table;
mod assignment;
mod column;
mod comment;
mod create_table;
mod database;
mod default_value;
mod event;
mod foreign_key;
mod index;
mod loadable;
mod normal_form;
mod plan;
mod routine;
mod row_expression;
mod run;
mod select;
mod sequence;
mod show_create;
mod table;
mod table_build;
mod table_options;
mod trigger;
mod view;

pub use crate::column_type::{charset, collation, resolve_type, resolve_with_notes};
pub use default_value::default_of_absent;
pub use event::{show_create_event, shown_interval};
pub use foreign_key::foreign_key_names;
pub use loadable::check_loadable_function;
pub use normal_form::{push_escaped, quote_identifier, quote_text, write_definer};
pub use plan::{CommittedData, DdlContext, DdlPlan, LoggedStatement, SequenceRowWrite, engine, plan_ddl};
pub use routine::{definer_account, no_such_routine, show_create_routine};
pub use row_expression::GeneratedColumns;
pub use run::{
    DdlInput, DdlNeed, DdlObject, PreparedDdl, ProgramName, ProgramNameKind, ReplayHost, ReplayedDdl,
    ddl_objects, is_temporary_ddl, prepare_ddl, program_names, read_ddl_objects, referenced_tables,
    related_ddl_objects, replay_ddl, session_flags, session_of_event, temporary_renames,
};
pub use select::SelectedColumn;
pub use sequence::{read_row as read_sequence_row, show_create_sequence};
pub use show_create::{IfNotExists, ShownType, engine_options, show_create_database, show_create_table};
pub use table_build::{BuildKind, BuildSummary, ColumnSource, TableBuild, alter_info};
pub use table_options::is_engine_option;
pub use trigger::show_create_trigger;
pub use view::{ViewValidity, is_updatable, is_writable, names_read, reads_in_subquery, show_create_view};
