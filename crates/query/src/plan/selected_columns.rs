//! CREATE TABLE … SELECT: the columns that a query gives to the new table, and the INSERT that fills it.

use super::{Plan, Through};
use paceline_catalog::ddl::SelectedColumn;
use paceline_catalog::{Catalog, ColumnDefault};
use paceline_expression::ExprType;
use paceline_syntax::definition::CreateSelect;
use paceline_syntax::{ColumnName, Duplicates, Insert, InsertKind, InsertSource, Statement, TableName};
use paceline_types::DataType;

/// Returns the columns that a planned query gives to a new table.
pub fn selected_columns(plan: &Plan, catalog: &Catalog) -> Vec<SelectedColumn> {
    let columns = plan.columns().iter().map(|column| {
        let source = column.origin.as_ref().and_then(|origin| {
            let table = catalog.table(&origin.database, &origin.table)?;
            Some(&table.columns()[table.column(&origin.column)?])
        });
        let through = column.origin.as_ref().map(|origin| origin.through);
        SelectedColumn {
            name: column.name.to_string(),
            data_type: match column.is_stored_as_text {
                true => text_if_long(&column.data_type),
                false => column.data_type.clone(),
            },
            nullable: !column.is_not_null(),
            default: match source {
                Some(source) if source.auto_increment && !source.nullable => {
                    ColumnDefault::Literal("0".to_owned())
                }
                Some(source) if through != Some(Through::Merged) => source.default.clone(),
                None if column.is_temporary && column.is_not_null() => zero_default(&column.data_type),
                _ => ColumnDefault::None,
            },
            on_update: source
                .filter(|_| through == Some(Through::Nothing))
                .and_then(|source| source.on_update),
            comment: source.map(|source| source.comment.clone()).unwrap_or_default(),
        }
    });
    columns.collect()
}

/// Maximum length of a computed text in a column of type VARCHAR, in characters: MariaDB's `CONVERT_IF_BIGGER_TO_BLOB`.
const VARCHAR_CHARACTERS_MAX: u32 = 512;

/// Returns the type of a column that stores computed values of a type.
fn text_if_long(data_type: &DataType) -> DataType {
    match *data_type {
        DataType::VarChar { length, .. } | DataType::VarBinary { length }
            if length > VARCHAR_CHARACTERS_MAX =>
        {
            ExprType::long_text(length.into(), data_type.collation()).data_type
        }
        _ => data_type.clone(),
    }
}

/// Returns the default of a column that is read from a temporary table: the zero of its type.
fn zero_default(data_type: &DataType) -> ColumnDefault {
    let zero = match data_type {
        DataType::Integer(_) | DataType::Decimal(_) | DataType::Float(_) | DataType::Double(_) => "0",
        DataType::Char { .. }
        | DataType::VarChar { .. }
        | DataType::Binary { .. }
        | DataType::VarBinary { .. } => "",
        DataType::Date => "0000-00-00",
        DataType::Time { .. } => "00:00:00",
        DataType::DateTime { .. } => "0000-00-00 00:00:00",
        _ => return ColumnDefault::None,
    };
    ColumnDefault::Literal(zero.to_owned())
}

/// Returns the statement that inserts the rows of the query, whose plan is `plan`, into the new table.
pub fn insert_of_select(table: TableName, select: &CreateSelect, plan: &Plan) -> Statement {
    let columns = plan.columns().iter();
    Statement::Insert(Box::new(Insert {
        kind: match select.duplicates {
            Duplicates::Replace => InsertKind::Replace,
            Duplicates::Error | Duplicates::Ignore => InsertKind::Insert,
        },
        ignore: select.duplicates == Duplicates::Ignore,
        table,
        columns: columns
            .map(|column| ColumnName::new(column.name.to_string()))
            .collect(),
        source: InsertSource::Query(Box::new(select.query.clone())),
        on_duplicate: vec![],
        returning: vec![],
    }))
}
