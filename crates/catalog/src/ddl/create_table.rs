//! CREATE TABLE.

use paceline_types::error_code::*;
use paceline_types::{Collation, DataType, Value};

use super::column::{give_old_timestamp_defaults, resolve_column};
use super::comment::shortened_comment;
use super::foreign_key::{KeyStatement, drop_covered};
use super::index::{DraftIndex, NO_NUMBER, PRIMARY, check_auto_increment, resolve_indexes};
use super::loadable::refuse_loadable;
use super::normal_form::{GENERATED_CLAUSE, normal_form, quote_identifier};
use super::plan::{LoggedStatement, Planner, engine};
use super::routine::NAME_LENGTH_MAX;
use super::show_create::show_create_table;
use super::table::check_table_name;
use super::table_options::OptionStatement;
use crate::column_type::{resolve_collation, row_bytes};
use crate::ddl::foreign_key::own_index;
use crate::error::{Error, Result};
use crate::sequence::SequenceRow;
use crate::{
    CatalogChange, CheckConstraint, ColumnDefinition, IndexDefinition, IndexKind, TableDefinition,
    TableDescription, TableEngine, same_name,
};
use paceline_expression::session::{SessionContext, SqlMode, VariableScope};
use paceline_syntax::TableName;
use paceline_syntax::ast::Expr;
use paceline_syntax::ast::visit::for_each_expr;
use paceline_syntax::definition::{
    CreateTable, CreateTableBody, ForeignKeySpec, TableConstraint, TableOptions,
};

/// Maximum number of columns of a table.
const COLUMNS_MAX: usize = 4096;
/// Maximum length of a row without BLOBs, in bytes.
const ROW_BYTES_MAX: u64 = 65_535;

impl Planner<'_> {
    pub(super) fn create_table(&mut self, create: &CreateTable) -> Result<()> {
        let (database, name) = self.qualified(&create.name)?;
        check_table_name(&name)?;
        if let CreateTableBody::Like(source) = &create.body
            && self.qualified(source)? == (database.clone(), name.clone())
        {
            return Err(Error::new(ER_NONUNIQ_TABLE, &[&name]));
        }
        if !self.make_room(
            create.temporary,
            create.or_replace,
            create.if_not_exists,
            &database,
            &name,
        )? {
            return Ok(());
        }
        match &create.body {
            CreateTableBody::Like(source) => self.create_like(&database, &name, source),
            CreateTableBody::Definition {
                columns,
                constraints,
                options,
                select,
            } => {
                if select.is_some() && self.select_columns.is_none() {
                    return Err(Error::unsupported("CREATE TABLE … SELECT here"));
                }
                let collation = self.table_collation(&database, options)?;
                let engine = self.table_engine(&name, options)?;
                let mut resolved = Vec::new();
                let mut drafts = Vec::new();
                let mut keys: Vec<ForeignKeySpec> = Vec::new();
                for spec in columns {
                    resolved.push(resolve_column(spec, collation, self.session)?);
                    drafts.extend(DraftIndex::of_column(spec));
                    if let Some(key) = &spec.references {
                        drafts.push(own_index(key)?);
                        keys.push(key.clone());
                    }
                }
                give_old_timestamp_defaults(resolved.iter_mut().map(|column| (column, true)), self.session)?;
                self.merge_select_columns(&mut resolved);
                let mut checks = Vec::new();
                for constraint in constraints {
                    add_constraint(constraint, &mut drafts, &mut checks, self.session)?;
                    if let TableConstraint::ForeignKey(key) = constraint {
                        keys.push(key.clone());
                    }
                }
                check_constraint_names(&checks, &keys)?;
                let comment = checked_table_comment(options, &name, self.session)?.unwrap_or_default();
                let mut description = TableDescription {
                    database,
                    name,
                    id: self.new_id(engine)?,
                    temporary: create.temporary,
                    sequence: options.sequence == Some(true),
                    engine,
                    collation,
                    columns: resolved,
                    indexes: Vec::new(),
                    hidden: [self.new_id(engine)?, self.new_id(engine)?],
                    checks,
                    foreign_keys: Vec::new(),
                    auto_increment_start: options.auto_increment.unwrap_or(1).max(1),
                    comment,
                    row_format: None,
                    options: Vec::new(),
                    created_seconds: self.session.statement.start_micros / 1_000_000,
                    earlier_rows: Vec::new(),
                };
                self.complete(&mut description, drafts, Occasion::Create)?;
                self.set_options(&mut description, options, OptionStatement::Create)?;
                if description.sequence {
                    if select.is_some() {
                        SequenceRow::check_structure(&description)?;
                        return Err(Error::unsupported("CREATE TABLE … SEQUENCE=1 … SELECT"));
                    }
                    self.sequence_engine(&description.name, options)?;
                    return self.put_default_sequence(description);
                }
                self.add_foreign_keys(&mut description, &keys, KeyStatement::Create)?;
                self.check_forward_references(&description)?;
                if options.engine.is_none() && engine != TableEngine::InnoDb {
                    // The log does not contain `default_storage_engine`.
                    self.log_as_definition(&description)?;
                }
                if select.is_some() {
                    self.log_as_definition(&description)?;
                    self.plan.fill = Some(TableName::qualified(
                        description.database.clone(),
                        description.name.clone(),
                    ));
                }
                self.change(CatalogChange::PutTable(Box::new(description)))
            }
        }
    }

    /// Makes room for a new table or sequence: drops the one that it replaces. Returns false if IF NOT EXISTS keeps
    /// it.
    ///
    /// # Errors
    /// 1050 or 1965 if the name is taken; 1044, 1049.
    pub(super) fn make_room(
        &mut self,
        temporary: bool,
        or_replace: bool,
        if_not_exists: bool,
        database: &str,
        name: &str,
    ) -> Result<bool> {
        // A temporary and an ordinary table can have the same name.
        let existing = match temporary {
            true => {
                self.refuse_virtual(database)?;
                self.make_temporary()?;
                self.catalog.temporary_table(database, name)
            }
            false => {
                self.database(database)?;
                self.catalog.ordinary_table(database, name)
            }
        };
        if let Some(existing) = existing.cloned() {
            if !or_replace {
                let error = Error::new(ER_TABLE_EXISTS_ERROR, &[&name]);
                self.note_or_fail(if_not_exists.into(), error)?;
                return Ok(false);
            }
            self.refuse_referenced(&existing, None)?;
            self.drop_table(&existing)?;
        }
        if !temporary && self.catalog.ordinary_view(database, name).is_some() {
            if or_replace {
                return Err(Error::new(ER_IT_IS_A_VIEW, &[&format!("{database}.{name}")]));
            }
            let error = Error::new(ER_TABLE_EXISTS_ERROR, &[&name]);
            self.note_or_fail(if_not_exists.into(), error)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Logs a table that is filled by a query by its resulting definition. Its rows follow.
    fn log_as_definition(&mut self, description: &TableDescription) -> Result<()> {
        if description.temporary {
            return Ok(());
        }
        let table = TableDefinition::new(description.clone(), Default::default(), Default::default())?;
        let mut text = show_create_table(&table, SqlMode::EMPTY, description.auto_increment_start);
        // Include the database: the current one may be different.
        let mut name = String::new();
        quote_identifier(table.name(), &mut name);
        let mut qualified = String::new();
        quote_identifier(table.database(), &mut qualified);
        qualified.push('.');
        qualified.push_str(&name);
        text.replace_range(
            "CREATE TABLE ".len().."CREATE TABLE ".len() + name.len(),
            &qualified,
        );
        if self
            .plan
            .changes
            .iter()
            .any(|change| matches!(change, CatalogChange::DropTable { .. }))
        {
            text.replace_range(.."CREATE".len(), "CREATE OR REPLACE");
        }
        self.plan.logged = LoggedStatement::Rewritten(text);
        Ok(())
    }

    /// Appends the query's columns to the defined ones, except those whose name is defined.
    fn merge_select_columns(&mut self, columns: &mut Vec<ColumnDefinition>) {
        let Some(selected) = self.select_columns else {
            return;
        };
        let mut defined = std::mem::take(columns);
        let mut merged = Vec::new();
        for column in selected {
            match defined
                .iter()
                .position(|other| same_name(&other.name, &column.name))
            {
                Some(place) => merged.push(defined.remove(place)),
                None => merged.push(column.definition()),
            }
        }
        defined.extend(merged);
        *columns = defined;
    }

    /// Rejects the names of InnoDB's hidden columns and index, and adds InnoDB's warning after the error.
    ///
    /// # Errors
    /// 1166, 1280.
    fn check_reserved_names(
        &mut self,
        description: &TableDescription,
        drafts: &[DraftIndex],
        occasion: Occasion,
    ) -> Result<()> {
        if description.engine != TableEngine::InnoDb {
            return Ok(());
        }
        let is_hidden = |name: &str| {
            HIDDEN_COLUMNS
                .iter()
                .any(|hidden| name.eq_ignore_ascii_case(hidden))
        };
        if let Some(column) = description.columns.iter().find(|column| is_hidden(&column.name)) {
            self.engine_says(occasion, 168, "Unknown (generic) error from engine");
            return Err(Error::new(ER_WRONG_COLUMN_NAME, &[&column.name]));
        }
        let is_reserved = |draft: &DraftIndex| {
            (draft.name.as_ref()).is_some_and(|name| name.eq_ignore_ascii_case(HIDDEN_INDEX))
        };
        if drafts.iter().any(is_reserved) {
            let message = format!(
                "Cannot Create Index with name '{HIDDEN_INDEX}'. The name is reserved for the system default primary index."
            );
            self.session.diagnostics.warn(ER_WRONG_NAME_FOR_INDEX, message);
            self.engine_says(occasion, 124, "Wrong index given to a function");
            return Err(Error::new(ER_WRONG_NAME_FOR_INDEX, &[&HIDDEN_INDEX]));
        }
        Ok(())
    }

    /// Adds warning 1030 after the error of a CREATE TABLE that an engine rejects.
    fn engine_says(&mut self, occasion: Occasion, number: u32, what: &str) {
        if occasion == Occasion::Create {
            let message = format!("Got error {number} \"{what}\" from storage engine InnoDB");
            self.session.diagnostics.warn_after_error(ER_GET_ERRNO, message);
        }
    }

    /// Returns whether `innodb_force_primary_key` requires InnoDB tables to have a primary key, or a unique
    /// key that can replace it.
    fn forces_primary_key(&self) -> bool {
        let variables = &self.session.services.variables;
        let read = variables.get(self.session, "innodb_force_primary_key", VariableScope::Global);
        read.is_ok_and(|variable| variable.value == Value::Int(1))
    }

    /// Resolves the indexes and checks the table as a whole.
    pub(super) fn complete(
        &mut self,
        description: &mut TableDescription,
        drafts: Vec<DraftIndex>,
        occasion: Occasion,
    ) -> Result<()> {
        self.check_reserved_names(description, &drafts, occasion)?;
        if description.columns.is_empty() {
            return Err(Error::new(ER_TABLE_MUST_HAVE_COLUMNS, &[]));
        }
        if description.columns.len() > COLUMNS_MAX {
            return Err(Error::new(ER_TOO_MANY_FIELDS, &[]));
        }
        for (n, column) in description.columns.iter().enumerate() {
            // A query's column can have an empty name, as the column of SELECT '' has, or a long one.
            if column.name.is_empty() || column.name.chars().count() > NAME_LENGTH_MAX {
                return Err(Error::new(ER_WRONG_COLUMN_NAME, &[&column.name]));
            }
            if description.columns[..n]
                .iter()
                .any(|other| same_name(&other.name, &column.name))
            {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&column.name]));
            }
        }
        if description.columns.iter().all(|column| column.invisible) {
            return Err(Error::new(ER_TABLE_MUST_HAVE_COLUMNS, &[]));
        }
        let mut drafts = drafts;
        for draft in &mut drafts {
            // An index without a name will get the name of its first column.
            let first_column = draft.parts.first().map(|part| part.0.clone());
            let name = draft.name.clone().or(first_column).unwrap_or_default();
            draft.comment = shortened_comment(
                std::mem::take(&mut draft.comment),
                1024,
                ER_TOO_LONG_INDEX_COMMENT,
                &name,
                self.session,
            )?;
        }
        let written = drafts.iter().filter(|draft| !draft.is_known);
        for draft in written.filter(|draft| draft.kind == IndexKind::Primary) {
            if let Some(name) = draft.name.as_ref().filter(|name| !same_name(name, PRIMARY)) {
                let message = format!("Name '{name}' ignored for PRIMARY key.");
                self.session.diagnostics.warn(ER_WRONG_NAME_FOR_INDEX, message);
            }
        }
        drop_covered(&mut drafts);
        let engine = description.engine;
        let is_blob = |column: &ColumnDefinition| {
            matches!(
                column.data_type,
                DataType::Text { .. } | DataType::Blob { .. } | DataType::Json
            )
        };
        // This server could store them; a MariaDB replica cannot.
        if engine == TableEngine::Memory && description.columns.iter().any(is_blob) {
            return Err(Error::new(ER_TABLE_CANT_HANDLE_BLOB, &[&engine.name()]));
        }
        let has_generated = description
            .columns
            .iter()
            .any(|column| column.generated.is_some());
        if engine == TableEngine::Blackhole && has_generated {
            return Err(Error::new(
                ER_UNSUPPORTED_ENGINE_FOR_GENERATED_COLUMNS,
                &[&engine.name()],
            ));
        }
        description.indexes = resolve_indexes(drafts, &mut description.columns, self.session)?;
        for place in 0..description.indexes.len() {
            if description.indexes[place].id == NO_NUMBER {
                description.indexes[place].id = self.new_id(engine)?;
            }
        }
        // MariaDB keeps the hash in a hidden generated column.
        if engine == TableEngine::Memory && description.indexes.iter().any(|index| index.hashed) {
            return Err(Error::new(
                ER_UNSUPPORTED_ENGINE_FOR_GENERATED_COLUMNS,
                &[&engine.name()],
            ));
        }
        check_auto_increment(&description.columns, &description.indexes)?;
        if engine == TableEngine::InnoDb && !has_row_key(description) && self.forces_primary_key() {
            return Err(Error::new(ER_REQUIRES_PRIMARY_KEY, &[]));
        }
        let row = description
            .columns
            .iter()
            .map(|column| row_bytes(&column.data_type))
            .sum::<u64>();
        if row > ROW_BYTES_MAX {
            return Err(Error::new(ER_TOO_BIG_ROWSIZE, &[&ROW_BYTES_MAX]));
        }
        check_expressions(description)?;
        self.check_sequences(description)?;
        name_checks(&mut description.checks, &description.columns)?;
        Ok(())
    }

    /// Checks that the sequences of defaults exist.
    ///
    /// # Errors
    /// 1146, 4089.
    fn check_sequences(&self, description: &TableDescription) -> Result<()> {
        for column in &description.columns {
            let crate::ColumnDefault::Expression(text) = &column.default else {
                continue;
            };
            let mut checked = Ok(());
            for_each_expr(&paceline_syntax::parse_expression(text)?, |expr| {
                if let Expr::Sequence(value) = expr
                    && checked.is_ok()
                {
                    let database = value.sequence.database.as_deref().unwrap_or_default();
                    checked = self.catalog.sequence(database, &value.sequence.name).map(drop);
                }
            });
            checked?;
        }
        Ok(())
    }

    fn create_like(&mut self, database: &str, name: &str, source: &TableName) -> Result<()> {
        let (source_database, source_name) = self.qualified(source)?;
        self.refuse_view(&source_database, &source_name)?;
        let Some(table) = self.catalog.table(&source_database, &source_name).cloned() else {
            return Err(Error::new(ER_NO_SUCH_TABLE, &[&source_database, &source_name]));
        };
        let mut description = table.description().clone();
        description.database = database.to_owned();
        description.name = name.to_owned();
        let engine = description.engine;
        description.temporary = self.makes_temporary();
        description.id = self.new_id(engine)?;
        description.hidden = [self.new_id(engine)?, self.new_id(engine)?];
        for index in &mut description.indexes {
            index.id = 0;
            if !index.hashed && index.is_long_hash(engine) {
                index.algorithm = None;
            }
        }
        for place in 0..description.indexes.len() {
            description.indexes[place].id = self.new_id(engine)?;
        }
        description.auto_increment_start = 1;
        description.foreign_keys.clear();
        description.earlier_rows.clear();
        self.check_forward_references(&description)?;
        description.created_seconds = self.session.statement.start_micros / 1_000_000;
        if table.is_temporary() {
            // A replica or a replay does not have the temporary table.
            self.log_as_definition(&description)?;
        }
        if description.sequence {
            return self.put_default_sequence(description);
        }
        self.change(CatalogChange::PutTable(Box::new(description)))
    }

    /// Returns the collation of a new table.
    fn table_collation(&self, database: &str, options: &TableOptions) -> Result<Collation> {
        let default = self.default_collation(database)?;
        let resolved = resolve_collation(options.charset.as_ref(), options.collation.as_deref(), default)?;
        Ok(resolved.unwrap_or(default))
    }

    /// Returns the collation of tables in a database that specify none.
    ///
    /// # Errors
    /// 1049. The database of a temporary table need not exist.
    pub(super) fn default_collation(&self, database: &str) -> Result<Collation> {
        match self.catalog.database(database) {
            None if self.makes_temporary() => Ok(self.session.settings.collation_server),
            _ => Ok(self.database(database)?.definition().collation),
        }
    }

    /// Returns the engine for ENGINE.
    ///
    /// # Errors
    /// 1286, if `sql_mode` forbids a replacement.
    pub(super) fn table_engine(&mut self, table: &str, options: &TableOptions) -> Result<TableEngine> {
        if let Some(what) = options.unsupported {
            return Err(Error::unsupported(what));
        }
        let Some(name) = &options.engine else {
            return Ok(self.default_engine);
        };
        if let Some(engine) = engine(name) {
            let synonym = match engine {
                TableEngine::InnoDb => "XtraDB",
                TableEngine::Memory => "HEAP",
                _ => engine.name(),
            };
            if ![engine.name(), synonym]
                .iter()
                .any(|own| own.eq_ignore_ascii_case(name))
            {
                self.warn_stand_in(engine, table);
            }
            return Ok(engine);
        }
        let error = Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[name]);
        if self
            .session
            .settings
            .sql_mode
            .contains(SqlMode::NO_ENGINE_SUBSTITUTION)
        {
            return Err(error);
        }
        self.session.diagnostics.warn(error.code(), error.message());
        self.warn_stand_in(self.default_engine, table);
        Ok(self.default_engine)
    }

    /// Adds warning 1266: the named engine does not exist here and another one replaces it.
    fn warn_stand_in(&mut self, engine: TableEngine, table: &str) {
        let message = ER_WARN_USING_OTHER_HANDLER.message(&[&engine.name(), &table]);
        self.session
            .diagnostics
            .warn(ER_WARN_USING_OTHER_HANDLER, message);
    }
}

/// Names of the hidden columns of every InnoDB table.
const HIDDEN_COLUMNS: [&str; 3] = ["DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR"];
const HIDDEN_INDEX: &str = "GEN_CLUST_INDEX";

/// Returns whether a table has a primary key, or a unique key without NULL and prefixes, which can replace
/// it.
fn has_row_key(description: &TableDescription) -> bool {
    let is_whole = |index: &IndexDefinition| {
        !index.hashed
            && (index.parts.iter())
                .all(|part| !description.columns[part.column].nullable && part.prefix_length.is_none())
    };
    description.indexes.iter().any(|index| match index.kind {
        IndexKind::Primary => true,
        kind => kind.is_unique() && is_whole(index),
    })
}

/// Statement that completes a table's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// CREATE TABLE.
    Create,
    /// ALTER TABLE, CREATE INDEX.
    Alter,
}

/// Adds an index or a check.
///
/// # Errors
/// 1235, 1901 and those of [`DraftIndex::new`].
pub(super) fn add_constraint(
    constraint: &TableConstraint,
    drafts: &mut Vec<DraftIndex>,
    checks: &mut Vec<CheckConstraint>,
    session: &SessionContext,
) -> Result<()> {
    match constraint {
        TableConstraint::Index(spec) => drafts.push(DraftIndex::new(spec)?),
        TableConstraint::Check(check) => {
            let name = check.name.clone().unwrap_or_default();
            refuse_loadable(&check.expr, "CHECK", &name, session)?;
            let expression = normal_form(&check.expr, "CHECK", &name)?;
            checks.push(CheckConstraint { name, expression });
        }
        // The key itself is checked when the table has its columns and indexes.
        TableConstraint::ForeignKey(key) => drafts.push(own_index(key)?),
        TableConstraint::Period => return Err(Error::unsupported("PERIOD")),
    }
    Ok(())
}

/// # Errors
/// 1826 if a check has the name of a foreign key.
fn check_constraint_names(checks: &[CheckConstraint], keys: &[ForeignKeySpec]) -> Result<()> {
    for check in checks.iter().filter(|check| !check.name.is_empty()) {
        let has_name = |key: &ForeignKeySpec| {
            key.constraint_name
                .as_ref()
                .is_some_and(|name| same_name(name, &check.name))
        };
        if keys.iter().any(has_name) {
            return Err(Error::new(ER_DUP_CONSTRAINT_NAME, &[&"CHECK", &check.name]));
        }
    }
    Ok(())
}

/// Names the unnamed checks: `CONSTRAINT_1` … The check of a column has the column's name.
fn name_checks(checks: &mut [CheckConstraint], columns: &[ColumnDefinition]) -> Result<()> {
    for n in 0..checks.len() {
        let name = &checks[n].name;
        if !name.is_empty() && checks[..n].iter().any(|other| same_name(&other.name, name)) {
            return Err(Error::new(ER_DUP_CONSTRAINT_NAME, &[&"CHECK", name]));
        }
    }
    let mut number = 1;
    for n in 0..checks.len() {
        while checks[n].name.is_empty() {
            let name = format!("CONSTRAINT_{number}");
            let mut checked = columns.iter().filter(|column| column.check.is_some());
            if !checks.iter().any(|other| same_name(&other.name, &name))
                && !checked.any(|column| same_name(&column.name, &name))
            {
                checks[n].name = name;
            }
            number += 1;
        }
    }
    Ok(())
}

/// Checks the columns that stored expressions name, in the order in which MariaDB reads a table: column by column, then
/// the table's checks.
///
/// # Errors
/// 1054 for an unknown column, 1901 for an AUTO_INCREMENT column, 4029 for a column that is generated later, 1903 for a
/// generated column in the primary key; 1826 if two checks have one name, or a check has that of another constraint.
fn check_expressions(description: &TableDescription) -> Result<()> {
    use crate::ColumnDefault;
    for check in &description.checks {
        let mut keys = description
            .indexes
            .iter()
            .filter(|index| index.kind == IndexKind::Unique);
        let mut foreign_keys = description.foreign_keys.iter();
        if keys.any(|index| same_name(&index.name, &check.name))
            || foreign_keys.any(|key| same_name(&key.name, &check.name))
        {
            return Err(Error::new(ER_DUP_CONSTRAINT_NAME, &[&"CHECK", &check.name]));
        }
    }
    for column in description.columns.iter().filter(|column| column.check.is_some()) {
        // The check of a column has its name.
        if description
            .checks
            .iter()
            .any(|check| same_name(&check.name, &column.name))
        {
            return Err(Error::new(ER_DUP_CONSTRAINT_NAME, &[&"CHECK", &column.name]));
        }
    }
    let mut refers_to_uninitialized = None;
    for (place, column) in description.columns.iter().enumerate() {
        let mut initialized_later = |named: &[usize], generated_before: usize| {
            let found = (named.iter()).find(|other| {
                description.columns[**other].generated.is_some() && **other >= generated_before
            });
            if let Some(other) = found {
                refers_to_uninitialized.get_or_insert((place, *other));
            }
        };
        if let Some(generated) = &column.generated {
            let named = checked_columns(&generated.expression, description, GENERATED_CLAUSE)?;
            initialized_later(&named, place);
        }
        if let ColumnDefault::Expression(text) = &column.default {
            // Defaults are assigned before any column is generated.
            initialized_later(&checked_columns(text, description, "DEFAULT")?, 0);
        }
        if let Some(text) = &column.check {
            checked_columns(text, description, "CHECK")?;
        }
    }
    for check in &description.checks {
        checked_columns(&check.expression, description, "CHECK")?;
    }
    if let Some((place, other)) = refers_to_uninitialized {
        let name = |place: usize| &description.columns[place].name;
        return Err(Error::new(
            ER_EXPRESSION_REFERS_TO_UNINIT_FIELD,
            &[name(place), name(other)],
        ));
    }
    let mut primary = description
        .indexes
        .iter()
        .filter(|index| index.kind == IndexKind::Primary);
    let is_generated = |part: &crate::IndexPart| description.columns[part.column].generated.is_some();
    if primary.any(|index| index.parts.iter().any(is_generated)) {
        return Err(Error::new(ER_PRIMARY_KEY_BASED_ON_GENERATED_COLUMN, &[]));
    }
    Ok(())
}

/// Returns the places of the columns that a stored expression names, in ascending order.
///
/// # Errors
/// 1054 for a column that does not exist, 1901 for one with AUTO_INCREMENT: its value is not known yet when the
/// expression is evaluated.
fn checked_columns(text: &str, description: &TableDescription, clause: &str) -> Result<Vec<usize>> {
    let columns = &description.columns;
    let mut unknown = None;
    let mut named = Vec::new();
    for_each_expr(&paceline_syntax::parse_expression(text)?, |expr| {
        if let Expr::Column(name) = expr {
            match columns
                .iter()
                .position(|column| same_name(&column.name, &name.name))
            {
                Some(place) => named.push(place),
                None => _ = unknown.get_or_insert_with(|| name.name.clone()),
            }
        }
    });
    if let Some(name) = unknown {
        return Err(Error::new(ER_BAD_FIELD_ERROR, &[&name, &clause]));
    }
    if let Some(place) = named.iter().find(|place| columns[**place].auto_increment) {
        return Err(Error::new(
            ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
            &[&"AUTO_INCREMENT", &clause, &columns[*place].name],
        ));
    }
    named.sort_unstable();
    Ok(named)
}

/// Returns the table's comment.
///
/// # Errors
/// 1628.
pub(super) fn checked_table_comment(
    options: &TableOptions,
    table: &str,
    session: &mut SessionContext,
) -> Result<Option<String>> {
    let shorten = |comment| shortened_comment(comment, 2048, ER_TOO_LONG_TABLE_COMMENT, table, session);
    options.comment.clone().map(shorten).transpose()
}
