//! VIEWS, and the rows of views in TABLES and COLUMNS.

use std::sync::Arc;

use paceline_catalog::ViewDefinition;
use paceline_expression::session::WantedRows;
use paceline_query::plan::ResultColumn;
use paceline_types::{DataType, Value};

use super::database::CATALOG;
use super::shown_column::ShownColumn;
use super::sources::Sources;
use super::wanted_databases::{TABLE_COLUMNS, wanted_databases};
use crate::cells::{Row, text};

fn for_each_view(sources: &dyn Sources, wanted: &WantedRows, mut take: impl FnMut(&Arc<ViewDefinition>)) {
    for database in wanted_databases(sources, wanted) {
        for view in sources.views(&database.name) {
            if wanted.admits(&TABLE_COLUMNS, &view.name) {
                take(&view);
            }
        }
    }
}

pub(super) fn views(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_view(sources, wanted, |view| {
        rows.push(vec![
            text(CATALOG),
            text(&*view.database),
            text(&*view.name),
            text(view.shown_query()),
            text(view.check.name()),
            text(match sources.view_columns(view) {
                Err(_) => "",
                Ok(_) if sources.is_updatable(view) => "YES",
                Ok(_) => "NO",
            }),
            text(format!("{}@{}", view.definer.0, view.definer.1)),
            text(view.security.name()),
            text(&*view.character_set_client),
            text(&*view.collation_connection),
            text(view.algorithm.name()),
        ]);
    });
    rows
}

/// Returns the rows of views in TABLES. The comment says that it is a view, or why it is invalid.
pub(super) fn tables(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_view(sources, wanted, |view| {
        let comment = match wanted
            .reads(&["TABLE_COMMENT"])
            .then(|| sources.view_columns(view))
        {
            Some(Err(error)) => error.message().to_owned(),
            _ => "VIEW".to_owned(),
        };
        let mut row = vec![
            text(CATALOG),
            text(&*view.database),
            text(&*view.name),
            text("VIEW"),
        ];
        row.extend(std::iter::repeat_n(Value::Null, 16));
        row.extend([text(comment), Value::Null, Value::Null]);
        rows.push(row);
    });
    rows
}

/// Returns the default of a view's column that is not a table's column, as in MariaDB: NULL, or the zero of its type.
pub(crate) fn default_of_expression(column: &ResultColumn) -> String {
    let fraction = |digits: u8| match digits {
        0 => String::new(),
        digits => format!(".{}", "0".repeat(usize::from(digits))),
    };
    if !column.is_not_null() {
        return "NULL".to_owned();
    }
    match &column.data_type {
        DataType::Date => "'0000-00-00'".to_owned(),
        DataType::Time { decimals } => format!("'00:00:00{}'", fraction(*decimals)),
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            format!("'0000-00-00 00:00:00{}'", fraction(*decimals))
        }
        DataType::Decimal(decimal) => format!("0{}", fraction(decimal.scale)),
        data_type if data_type.is_numeric() => "0".to_owned(),
        _ => "''".to_owned(),
    }
}

/// Returns the columns of valid views.
pub(super) fn columns(sources: &dyn Sources, wanted: &WantedRows) -> Vec<Row> {
    let mut rows = Vec::new();
    for_each_view(sources, wanted, |view| {
        let privileges = sources.column_privileges(&view.database, &view.name);
        // An invalid view has no columns.
        let columns = sources.view_columns(view).unwrap_or_default().into_iter();
        rows.extend(columns.enumerate().filter_map(|(offset, column)| {
            let privileges = privileges.of(&column.name)?;
            let shown = ShownColumn {
                database: &view.database,
                table: &view.name,
                name: &column.name,
                offset,
                data_type: &column.data_type,
                compressed: false,
                nullable: column.nullable,
                default: column.default,
                key: "",
                extra: String::new(),
                privileges,
                comment: &column.comment,
                generated: None,
            };
            Some(shown.row())
        }));
    });
    rows
}
