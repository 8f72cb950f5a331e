//! Which privileges a statement needs: functions of an account's [`Authority`](super::Authority) and the statement.
//!
//! | statement | check | errors |
//! |---|---|---|
//! | queries, changes of rows, EXPLAIN | [`check_plan`] | 1142, 1227, 1345, 1356, 1449 |
//! | CREATE, ALTER, DROP … of tables and databases | [`check_definition`] | 1142, 1044 |
//! | CREATE VIEW | [`check_view_definer`], [`check_view_query`] | 1142, 1227 |
//! | CREATE USER, GRANT … | [`check_account_statement`], [`check_grant_options`] | 1044, 1045, 1227, 1410 |
//! | SET of a system variable | [`check_assignment`] | 1227 |
//! | CHECK, ANALYZE, OPTIMIZE, REPAIR | [`check_maintenance`] | 1142 |
//!
//! Other statements need one of a few global privileges, and ask for it themselves: [`super::Authority::require_any`].

mod account_statement;
mod assignment;
mod definition;
mod maintenance;
mod plan;
mod view;

pub use account_statement::{check_account_statement, check_grant_options};
pub use assignment::check_assignment;
pub use definition::{DefinitionCatalogs, check_definition, check_routine};
pub use maintenance::check_maintenance;
pub use plan::check_plan;
pub use view::{check_view_definer, check_view_query};
