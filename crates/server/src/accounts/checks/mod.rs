//! Privileges that a statement needs: functions of an account's [`Authority`](super::Authority) and the statement.
//!
//! | statement | check | errors |
//! |---|---|---|
//! | queries, changes of rows, EXPLAIN | [`check_plan`] | 1142, 1143, 1227, 1345, 1356, 1449 |
//! | the same, if they cannot be planned | [`denied_instead`] | 1142, 1143 |
//! | CREATE, ALTER, DROP … of tables and databases | [`check_definition`] | 1142, 1044 |
//! | CREATE VIEW | [`check_view_definer`], [`check_view_query`] | 1142, 1227 |
//! | CREATE USER, GRANT … | [`check_account_statement`], [`check_grant_options`] | 1044, 1045, 1142, 1227, 1370, 1410, 1698, 1959 |
//! | SET ROLE | [`check_member`] | 1959 |
//! | SET of a system variable | [`check_assignment`] | 1227 |
//! | events; SHOW and lists of stored programs | [`check_events`], [`routine_access`], [`may_see_triggers`], [`may_see_events`] | 1227, 1305 |
//! | CHECK, ANALYZE, OPTIMIZE, REPAIR | [`check_maintenance`] | 1142 |
//!
//! Other statements need one of a few global privileges, and ask for it themselves: [`super::Authority::require_any`].

mod account_statement;
mod assignment;
mod definition;
mod maintenance;
mod named_tables;
mod plan;
mod stored_program;
mod view;

pub use account_statement::{check_account_statement, check_grant_options, check_member};
pub use assignment::check_assignment;
pub use definition::{DefinitionCatalogs, check_definition, check_routine};
pub use maintenance::check_maintenance;
pub use named_tables::denied_instead;
pub use plan::{check_explain, check_plan};
pub use stored_program::{check_events, may_see_events, may_see_triggers, routine_access};
pub use view::{check_view_definer, check_view_query};
