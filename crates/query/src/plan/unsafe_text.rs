//! Reasons why the text of a statement may have another effect on another server: those in the statement itself, which
//! were collected while it was planned, and those in the tables that it uses. The latter need the defaults of tables to
//! be parsed, so they are found when the text is to be logged.

use super::statement_plan::{Plan, TableUse};
use super::text_dependence::{UnsafeReason, UnsafeReasons};
use paceline_catalog::{ColumnDefault, SYSTEM_DATABASE, TableDefinition};
use paceline_expression::native_function;
use paceline_syntax::ast::Expr;
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::parse_expression;

impl Plan {
    /// Returns the reasons why the text of the statement may have another effect on another server.
    pub fn unsafe_reasons(&self) -> UnsafeReasons {
        *self.unsafe_reasons.get_or_init(|| {
            let mut reasons = self.text_dependence().unsafe_reasons();
            add_reasons_of_tables(self.tables(), &mut reasons);
            reasons
        })
    }
}

/// Adds the reasons that lie in the tables that a statement uses.
fn add_reasons_of_tables(tables: &[TableUse], reasons: &mut UnsafeReasons) {
    if tables.iter().any(describes_server) {
        reasons.add(UnsafeReason::SystemTable);
    }
    let is_read =
        |table: &TableUse| table.usage.queried && !table.usage.writes() && table.definition.is_some();
    let reads = tables.iter().any(is_read);
    let written = tables.iter().filter(|table| table.usage.writes());
    for definition in written.filter_map(|table| table.definition.as_ref()) {
        if reads && definition.auto_increment_column().is_some() {
            reasons.add(UnsafeReason::WriteAutoincSelect);
        }
        if has_unsafe_default(definition) {
            reasons.add(UnsafeReason::SystemFunction);
        }
    }
}

/// Returns whether a table describes the server itself.
fn describes_server(table: &TableUse) -> bool {
    &*table.database == "performance_schema"
        || &*table.database == SYSTEM_DATABASE && matches!(&*table.name, "general_log" | "slow_log")
}

/// Returns whether a default of the table may have another value elsewhere. As in MariaDB, it does not matter whether
/// the statement uses it.
fn has_unsafe_default(table: &TableDefinition) -> bool {
    let mut is_unsafe = |expr: &Expr| match expr {
        Expr::Call(call) => {
            let function = native_function(&call.name);
            function.is_some_and(|function| function.name == "rand" || function.depends_on_server)
        }
        _ => false,
    };
    table.columns().iter().any(|column| match &column.default {
        ColumnDefault::Expression(text) => {
            parse_expression(text).is_ok_and(|expr| any_expr(&expr, &mut is_unsafe))
        }
        _ => false,
    })
}
