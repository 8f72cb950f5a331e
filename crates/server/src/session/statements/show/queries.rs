//! SHOW statements that a query of `information_schema` answers: the text of the SELECT, which names the columns as
//! SHOW does.

use crate::information_schema;
use crate::sql_text::{identifier, text_literal};
use paceline_expression::session::VariableScope;
use paceline_syntax::ast::QueryBody;
use paceline_syntax::{ParseOptions, Result, ShowFilter, Statement, parse_first};

/// Query of a SHOW: the SELECT, and the column for LIKE.
#[derive(Debug)]
pub struct ShowQuery {
    select: String,
    /// Column to which LIKE applies.
    like: String,
}

fn query(select: impl Into<String>, like: &str) -> ShowQuery {
    ShowQuery {
        select: select.into(),
        like: like.to_owned(),
    }
}

/// Compares a column with case.
fn exact(column: &str) -> String {
    format!("{column} COLLATE utf8mb3_bin")
}

/// Converts a filter's pattern to a condition on the underlying column, so that rows that do not match are not built.
/// The filter itself is still applied to the result.
fn and_like(column: &str, filter: &ShowFilter) -> String {
    match filter {
        ShowFilter::Like(pattern) => format!(" AND {column} LIKE {}", text_literal(pattern)),
        ShowFilter::None | ShowFilter::Where(_) => String::new(),
    }
}

/// Columns of a SHOW: fewer without FULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownColumns {
    /// Without FULL.
    Short,
    /// With FULL.
    Full,
}

impl From<bool> for ShownColumns {
    fn from(is_full: bool) -> Self {
        match is_full {
            true => ShownColumns::Full,
            false => ShownColumns::Short,
        }
    }
}

/// A list of names and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueList {
    /// SHOW VARIABLES.
    Variables,
    /// SHOW STATUS.
    Status,
}

impl ShowQuery {
    /// Returns the statement with a filter applied to its result.
    ///
    /// # Errors
    /// The errors of the parser, for names that no text can contain.
    pub fn statement(&self, filter: &ShowFilter) -> Result<Statement> {
        let select = &self.select;
        let text = match filter {
            ShowFilter::None => select.clone(),
            ShowFilter::Like(pattern) => format!(
                "SELECT * FROM ({select}) AS shown WHERE {} LIKE {}",
                self.like,
                text_literal(pattern)
            ),
            ShowFilter::Where(_) => format!("SELECT * FROM ({select}) AS shown WHERE 1"),
        };
        let mut statement = parse_first(text.as_bytes(), &ParseOptions::default())?.statement;
        if let ShowFilter::Where(condition) = filter
            && let Statement::Query(query) = &mut statement
            && let QueryBody::Select(select) = &mut query.query.body
        {
            select.condition = Some((**condition).clone());
        }
        Ok(statement)
    }
}

/// Returns the query of SHOW DATABASES.
pub fn databases(filter: &ShowFilter) -> ShowQuery {
    let name = match filter {
        ShowFilter::Like(pattern) => format!("Database ({pattern})"),
        _ => "Database".to_owned(),
    };
    let name = identifier(&name);
    let select = format!("SELECT SCHEMA_NAME AS {name} FROM information_schema.SCHEMATA ORDER BY 1");
    query(select, &name)
}

/// Returns the query of SHOW [FULL] TABLES.
pub fn tables(database: &str, columns: ShownColumns, filter: &ShowFilter) -> ShowQuery {
    let name = match filter {
        ShowFilter::Like(pattern) => format!("Tables_in_{database} ({pattern})"),
        _ => format!("Tables_in_{database}"),
    };
    let name = identifier(&name);
    let kind = if columns == ShownColumns::Full {
        ", TABLE_TYPE AS `Table_type`"
    } else {
        ""
    };
    let select = format!(
        "SELECT TABLE_NAME AS {name}{kind} FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}{} ORDER BY BINARY TABLE_NAME",
        text_literal(database),
        and_like("TABLE_NAME", filter)
    );
    query(select, &exact(&name))
}

/// Returns the query of SHOW TABLE STATUS.
pub fn table_status(database: &str, filter: &ShowFilter) -> ShowQuery {
    let select = format!(
        "SELECT TABLE_NAME AS `Name`, ENGINE AS `Engine`, VERSION AS `Version`, ROW_FORMAT AS `Row_format`, TABLE_ROWS AS `Rows`, \
                     AVG_ROW_LENGTH AS `Avg_row_length`, DATA_LENGTH AS `Data_length`, MAX_DATA_LENGTH AS `Max_data_length`, \
                     INDEX_LENGTH AS `Index_length`, DATA_FREE AS `Data_free`, AUTO_INCREMENT AS `Auto_increment`, \
                     CREATE_TIME AS `Create_time`, UPDATE_TIME AS `Update_time`, CHECK_TIME AS `Check_time`, TABLE_COLLATION AS `Collation`, \
                     CHECKSUM AS `Checksum`, CREATE_OPTIONS AS `Create_options`, TABLE_COMMENT AS `Comment`, \
                     MAX_INDEX_LENGTH AS `Max_index_length`, TEMPORARY AS `Temporary` \
                     FROM information_schema.TABLES WHERE TABLE_SCHEMA = {}{} ORDER BY BINARY TABLE_NAME",
        text_literal(database),
        and_like("TABLE_NAME", filter)
    );
    query(select, &exact("`Name`"))
}

/// Returns the query of SHOW OPEN TABLES: no table is open longer than its statement.
pub fn open_tables() -> ShowQuery {
    let select = "SELECT TABLE_SCHEMA AS `Database`, TABLE_NAME AS `Table`, 0 AS `In_use`, 0 AS `Name_locked` \
                              FROM information_schema.TABLES WHERE 1 = 0";
    query(select, "`Table`")
}

/// Returns the query of SHOW [FULL] COLUMNS.
pub fn columns(database: &str, name: &str, columns: ShownColumns) -> ShowQuery {
    let (collation, rest) = match columns == ShownColumns::Full {
        true => (
            "COLLATION_NAME AS `Collation`, ",
            ", PRIVILEGES AS `Privileges`, COLUMN_COMMENT AS `Comment`",
        ),
        false => ("", ""),
    };
    // SHOW prints a default without the quotes that information_schema has, except that of a TEXT or BLOB, which
    // MariaDB stores as an expression.
    let quoted = "COLUMN_DEFAULT LIKE '''%' AND DATA_TYPE NOT LIKE '%text' AND DATA_TYPE NOT LIKE '%blob'";
    let select = format!(
        "SELECT COLUMN_NAME AS `Field`, COLUMN_TYPE AS `Type`, {collation}IS_NULLABLE AS `Null`, COLUMN_KEY AS `Key`, \
                     IF(COLUMN_DEFAULT = 'NULL', NULL, IF({quoted}, REPLACE(SUBSTRING(COLUMN_DEFAULT, 2, \
                     CHAR_LENGTH(COLUMN_DEFAULT) - 2), '''''', ''''), COLUMN_DEFAULT)) AS `Default`, EXTRA AS `Extra`{rest} \
                     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} ORDER BY ORDINAL_POSITION",
        text_literal(database),
        text_literal(name)
    );
    query(select, "`Field`")
}

/// Returns the query of SHOW INDEX.
pub fn indexes(database: &str, name: &str) -> ShowQuery {
    let select = format!(
        "SELECT TABLE_NAME AS `Table`, NON_UNIQUE AS `Non_unique`, INDEX_NAME AS `Key_name`, SEQ_IN_INDEX AS `Seq_in_index`, \
                     COLUMN_NAME AS `Column_name`, COLLATION AS `Collation`, CARDINALITY AS `Cardinality`, SUB_PART AS `Sub_part`, \
                     PACKED AS `Packed`, NULLABLE AS `Null`, INDEX_TYPE AS `Index_type`, COMMENT AS `Comment`, \
                     INDEX_COMMENT AS `Index_comment`, IGNORED AS `Ignored` \
                     FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
        text_literal(database),
        text_literal(name)
    );
    query(select, "`Key_name`")
}

/// Returns the query of SHOW ENGINES.
pub fn engines() -> ShowQuery {
    let select = "SELECT ENGINE AS `Engine`, SUPPORT AS `Support`, COMMENT AS `Comment`, TRANSACTIONS AS `Transactions`, \
                              XA AS `XA`, SAVEPOINTS AS `Savepoints` FROM information_schema.ENGINES";
    query(select, "`Engine`")
}

/// Returns the query of SHOW CHARACTER SET.
pub fn character_sets() -> ShowQuery {
    let select = "SELECT CHARACTER_SET_NAME AS `Charset`, DESCRIPTION AS `Description`, \
                              DEFAULT_COLLATE_NAME AS `Default collation`, MAXLEN AS `Maxlen` FROM information_schema.CHARACTER_SETS";
    query(select, "`Charset`")
}

/// Returns the query of SHOW COLLATION.
pub fn collations() -> ShowQuery {
    let select = "SELECT COLLATION_NAME AS `Collation`, CHARACTER_SET_NAME AS `Charset`, ID AS `Id`, IS_DEFAULT AS `Default`, \
                              IS_COMPILED AS `Compiled`, SORTLEN AS `Sortlen` FROM information_schema.COLLATIONS";
    query(select, "`Collation`")
}

/// Returns the query of SHOW [FULL] PROCESSLIST.
pub fn process_list(columns: ShownColumns) -> ShowQuery {
    let info = if columns == ShownColumns::Full {
        "INFO"
    } else {
        "LEFT(INFO, 100)"
    };
    let select = format!(
        "SELECT ID AS `Id`, USER AS `User`, HOST AS `Host`, DB AS `db`, COMMAND AS `Command`, TIME AS `Time`, \
                     IF(ID = CONNECTION_ID(), 'starting', STATE) AS `State`, \
                     {info} AS `Info`, PROGRESS AS `Progress` FROM information_schema.PROCESSLIST ORDER BY 1"
    );
    query(select, "`Id`")
}

/// Returns the query of SHOW TRIGGERS. LIKE is for names of tables.
pub fn triggers(database: &str, filter: &ShowFilter) -> ShowQuery {
    let select = format!(
        "SELECT TRIGGER_NAME AS `Trigger`, EVENT_MANIPULATION AS `Event`, EVENT_OBJECT_TABLE AS `Table`, \
                     ACTION_STATEMENT AS `Statement`, ACTION_TIMING AS `Timing`, CREATED AS `Created`, SQL_MODE AS `sql_mode`, \
                     DEFINER AS `Definer`, CHARACTER_SET_CLIENT AS `character_set_client`, \
                     COLLATION_CONNECTION AS `collation_connection`, DATABASE_COLLATION AS `Database Collation` \
                     FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = {}{}",
        text_literal(database),
        and_like("EVENT_OBJECT_TABLE", filter)
    );
    query(select, &exact("`Table`"))
}

/// Returns the query of SHOW EVENTS.
pub fn events(database: &str, filter: &ShowFilter) -> ShowQuery {
    let select = format!(
        "SELECT EVENT_SCHEMA AS `Db`, EVENT_NAME AS `Name`, DEFINER AS `Definer`, TIME_ZONE AS `Time zone`, \
                     EVENT_TYPE AS `Type`, EXECUTE_AT AS `Execute at`, INTERVAL_VALUE AS `Interval value`, \
                     INTERVAL_FIELD AS `Interval field`, STARTS AS `Starts`, ENDS AS `Ends`, STATUS AS `Status`, \
                     ORIGINATOR AS `Originator`, CHARACTER_SET_CLIENT AS `character_set_client`, \
                     COLLATION_CONNECTION AS `collation_connection`, DATABASE_COLLATION AS `Database Collation` \
                     FROM information_schema.EVENTS WHERE EVENT_SCHEMA = {}{}",
        text_literal(database),
        and_like("EVENT_NAME", filter)
    );
    query(select, "`Name`")
}

/// Returns the query of SHOW PROCEDURE STATUS and of the same for another kind of routines.
pub fn routines(kind: &str, filter: &ShowFilter) -> ShowQuery {
    let select = format!(
        "SELECT ROUTINE_SCHEMA AS `Db`, ROUTINE_NAME AS `Name`, ROUTINE_TYPE AS `Type`, DEFINER AS `Definer`, \
                     LAST_ALTERED AS `Modified`, CREATED AS `Created`, SECURITY_TYPE AS `Security_type`, \
                     ROUTINE_COMMENT AS `Comment`, CHARACTER_SET_CLIENT AS `character_set_client`, \
                     COLLATION_CONNECTION AS `collation_connection`, DATABASE_COLLATION AS `Database Collation` \
                     FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = {}{}",
        text_literal(kind),
        and_like("ROUTINE_NAME", filter)
    );
    query(select, "`Name`")
}

/// Returns the query of SHOW PLUGINS.
pub fn plugins() -> ShowQuery {
    let select = "SELECT PLUGIN_NAME AS `Name`, PLUGIN_STATUS AS `Status`, PLUGIN_TYPE AS `Type`, PLUGIN_LIBRARY AS `Library`, \
                              PLUGIN_LICENSE AS `License` FROM information_schema.PLUGINS";
    query(select, "`Name`")
}

/// Returns the query of SHOW USER_STATISTICS and related statements.
pub fn statistics(table: &str) -> ShowQuery {
    let columns = information_schema::columns(table).unwrap_or_default();
    let named: Vec<String> = columns
        .iter()
        .map(|column| shown_as_heading(&column.name))
        .collect();
    let columns = match named.is_empty() {
        true => "*".to_owned(),
        false => named.join(", "),
    };
    let select = format!(
        "SELECT {columns} FROM information_schema.{}",
        identifier(&table.to_uppercase())
    );
    query(select, "1")
}

/// Returns a column with its heading in SHOW: `ROWS_READ` becomes `Rows_read`.
fn shown_as_heading(column: &str) -> String {
    let heading = match column {
        "ROWS_CHANGED_X_INDEXES" => "Rows_changed_x_#indexes".to_owned(),
        _ => format!("{}{}", &column[..1], column[1..].to_lowercase()),
    };
    format!("{column} AS {}", identifier(&heading))
}

/// Returns the query of SHOW VARIABLES and SHOW STATUS.
pub fn values(list: ValueList, scope: VariableScope) -> ShowQuery {
    let scope = match scope {
        VariableScope::Global => "GLOBAL",
        VariableScope::Session | VariableScope::Default => "SESSION",
    };
    // Names of variables are shown in lower case, those of status values in their own spelling.
    let (what, name) = match list {
        ValueList::Variables => ("VARIABLES", "LOWER(VARIABLE_NAME)"),
        ValueList::Status => (
            "STATUS",
            "IF(VARIABLE_NAME LIKE 'WSREP%', LOWER(VARIABLE_NAME), \
                 CONCAT(UPPER(LEFT(VARIABLE_NAME, 1)), LOWER(SUBSTRING(VARIABLE_NAME, 2))))",
        ),
    };
    let select = format!(
        "SELECT {name} AS `Variable_name`, VARIABLE_VALUE AS `Value` FROM information_schema.{scope}_{what} ORDER BY BINARY LOWER(VARIABLE_NAME)"
    );
    query(select, "`Variable_name`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(show: &ShowQuery) -> &str {
        &show.select
    }

    #[test]
    fn names_and_patterns_are_quoted() {
        let filter = ShowFilter::Like("it's".to_owned());
        let show = tables("a'b", ShownColumns::Full, &filter);
        assert_eq!(
            text(&show),
            "SELECT TABLE_NAME AS `Tables_in_a'b (it's)`, TABLE_TYPE AS `Table_type` FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = 'a''b' AND TABLE_NAME LIKE 'it''s' ORDER BY BINARY TABLE_NAME"
        );
        assert_eq!(show.like, "`Tables_in_a'b (it's)` COLLATE utf8mb3_bin");
        assert!(show.statement(&filter).is_ok());
    }

    #[test]
    fn a_condition_replaces_the_placeholder() {
        let parsed = parse_first(
            b"SHOW VARIABLES WHERE Variable_name = 'port'",
            &ParseOptions::default(),
        )
        .unwrap();
        let Statement::Show(paceline_syntax::Show::Variables { scope, filter }) = parsed.statement else {
            panic!("another statement");
        };
        let Statement::Query(query) = values(ValueList::Variables, scope).statement(&filter).unwrap() else {
            panic!("not a query");
        };
        let QueryBody::Select(select) = query.query.body else {
            panic!("not a SELECT");
        };
        let ShowFilter::Where(condition) = filter else {
            panic!("no condition");
        };
        assert_eq!(select.condition, Some(*condition));
    }

    #[test]
    fn full_adds_columns() {
        let columns_of = |full| text(&columns("d", "t", full)).contains("COLUMN_COMMENT AS `Comment`");
        assert!(columns_of(ShownColumns::Full) && !columns_of(ShownColumns::Short));
        assert!(text(&process_list(ShownColumns::Short)).contains("LEFT(INFO, 100)"));
        assert!(!text(&process_list(ShownColumns::Full)).contains("LEFT"));
    }

    #[test]
    fn every_query_parses() {
        let none = ShowFilter::None;
        for show in [
            databases(&none),
            table_status("d", &none),
            open_tables(),
            indexes("d", "t"),
            engines(),
            character_sets(),
            collations(),
            triggers("d", &none),
            events("d", &none),
            routines("FUNCTION", &none),
            plugins(),
            statistics("user_statistics"),
            values(ValueList::Status, VariableScope::Global),
        ] {
            show.statement(&none).unwrap();
            show.statement(&ShowFilter::Like("x".to_owned())).unwrap();
        }
    }
}
