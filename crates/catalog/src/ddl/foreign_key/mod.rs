//! Foreign keys in definitions: resolution ([here](self)), restrictions on statements about referenced tables
//! ([`referenced`]) and on ALTER TABLE of the own table ([`alter`]), and names ([`names`]).
//!
//! * A key needs an index on each side that begins with its columns in their order. On its own side one is
//!   created if none exists ([`DraftIndex::generated`]), and dropped when another one can replace it.
//! * Under `foreign_key_checks=0` the referenced table need not exist yet. When it is created later, it must
//!   fit the key.
//! * Tables of other engines than InnoDB have no foreign keys: they are parsed and ignored, as in MariaDB.
//! * A referenced table cannot be dropped, nor changed so that a key no longer fits. Renaming tables and
//!   columns renames them in keys.
//!
//! Unlike in MariaDB, an index that a foreign key needs is never dropped, not even under
//! `foreign_key_checks=0`.

mod alter;
mod names;
mod referenced;

use paceline_types::error_code::*;
use paceline_types::{DataType, ErrorCode};

use super::index::DraftIndex;
use super::normal_form::quote_identifier;
use super::plan::Planner;
use crate::error::{Error, Result};
use crate::foreign_key::{constraint_text, serving_index};
use crate::{
    ColumnDefinition, ForeignKey, IndexKind, ReferentialAction, TableDefinition, TableDescription,
    TableEngine, same_name,
};
pub(super) use alter::Alter;
pub use names::foreign_key_names;
pub(super) use names::new_keys;
use paceline_syntax::definition::ForeignKeySpec;

/// Maximum length of a constraint's name, in characters.
const NAME_CHARACTERS_MAX: usize = 64;

/// Statement with a new key, which decides the first words of MariaDB's warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyStatement {
    Create,
    Alter,
}

/// Returns the index that a foreign key needs on its own side.
///
/// # Errors
/// 1239.
pub(super) fn own_index(key: &ForeignKeySpec) -> Result<DraftIndex> {
    if !key.referenced_columns.is_empty() && key.referenced_columns.len() != key.columns.len() {
        let name = key.name().map_or("foreign key without name", String::as_str);
        let why = "Key reference and table reference don't match";
        return Err(Error::new(ER_WRONG_FK_DEF, &[&name, &why]));
    }
    Ok(DraftIndex {
        id: None,
        kind: IndexKind::Plain,
        name: key.name().cloned(),
        parts: key
            .columns
            .iter()
            .map(|column| (column.clone(), None, false))
            .collect(),
        algorithm: None,
        comment: String::new(),
        ignored: false,
        generated: true,
        is_known: false,
        was_hashed: false,
    })
}

/// Removes generated indexes that other indexes can replace (`mysql_prepare_create_table`,
/// `sql/sql_table.cc`).
pub(super) fn drop_covered(drafts: &mut Vec<DraftIndex>) {
    let mut kept: Vec<DraftIndex> = Vec::with_capacity(drafts.len());
    'drafts: for draft in drafts.drain(..) {
        for place in 0..kept.len() {
            let other = &kept[place];
            let (short, long) = match (draft.generated, other.generated) {
                (false, false) => continue,
                (true, true) if draft.parts.len() > other.parts.len() => (other, &draft),
                (true, _) => (&draft, other),
                (false, true) => (other, &draft),
            };
            if !is_prefix(short, long) {
                continue;
            }
            if !other.generated || (draft.generated && draft.parts.len() < other.parts.len()) {
                continue 'drafts;
            }
            kept.remove(place);
            break;
        }
        kept.push(draft);
    }
    *drafts = kept;
}

fn is_prefix(short: &DraftIndex, long: &DraftIndex) -> bool {
    let mut parts = short.parts.iter().zip(&long.parts);
    short.parts.len() <= long.parts.len()
        && parts.all(|((a, length, _), (b, other, _))| same_name(a, b) && length == other)
}

/// Compatibility of the types of two columns.
enum Fit {
    Fits,
    Differs,
    /// InnoDB compares their bytes, which are different here.
    Unsupported,
}

fn fit(child: &DataType, parent: &DataType) -> Fit {
    let is_text = |data_type: &DataType| data_type.is_text();
    // Classes within which InnoDB compares bytes regardless of their meaning.
    let class = |data_type: &DataType| match data_type {
        DataType::Integer(_)
        | DataType::Enum { .. }
        | DataType::Set { .. }
        | DataType::Year
        | DataType::Date => 1,
        DataType::Decimal { .. }
        | DataType::Time { .. }
        | DataType::DateTime { .. }
        | DataType::Timestamp { .. }
        | DataType::Bit { .. }
        | DataType::FixedBinary(_) => 2,
        data_type if data_type.is_binary_string() => 2,
        _ => 0,
    };
    match (child, parent) {
        (a, b) if a == b => Fit::Fits,
        (DataType::Integer(a), DataType::Integer(b)) if (a.width, a.sign) == (b.width, b.sign) => Fit::Fits,
        (DataType::Integer(_), DataType::Integer(_)) => Fit::Differs,
        (a, b) if is_text(a) && is_text(b) => match a.collation() == b.collation() {
            true => Fit::Fits,
            false => Fit::Differs,
        },
        (DataType::VarBinary { .. }, DataType::VarBinary { .. }) => Fit::Fits,
        (a, b) if class(a) != 0 && class(a) == class(b) => Fit::Unsupported,
        _ => Fit::Differs,
    }
}

/// Returns error 1005 with number 150: an incorrect foreign key.
pub(super) fn malformed(description: &TableDescription) -> Error {
    cannot_create(description, 150, "Foreign key constraint is incorrectly formed")
}

fn cannot_create(description: &TableDescription, number: u32, text: &str) -> Error {
    let table = format!("`{}`.`{}`", description.database, description.name);
    Error::with_message(
        ER_CANT_CREATE_TABLE,
        format!("Can't create table {table} (errno: {number} \"{text}\")"),
    )
}

/// Returns 1451 for a whole table, with the message of 1217.
pub(super) fn is_referenced() -> Error {
    Error::with_message(ER_ROW_IS_REFERENCED_2, ER_ROW_IS_REFERENCED.message(&[]))
}

impl Planner<'_> {
    /// Adds new keys to a table that has its columns and indexes already.
    ///
    /// # Errors
    /// 1005 for an incorrect key, 1905 and 1901 for generated columns, 1235.
    pub(super) fn add_foreign_keys(
        &mut self,
        description: &mut TableDescription,
        specs: &[ForeignKeySpec],
        statement: KeyStatement,
    ) -> Result<Vec<ForeignKey>> {
        let mut added = Vec::new();
        if description.engine != TableEngine::InnoDb {
            return Ok(added);
        }
        for (place, spec) in specs.iter().enumerate() {
            check_dependents(description, &spec.columns, [spec.on_delete, spec.on_update])?;
            let same = |other: &ForeignKeySpec| match (other.name(), spec.name()) {
                (Some(other), Some(name)) => same_name(other, name),
                _ => false,
            };
            if specs[..place].iter().any(same) {
                return Err(malformed(description));
            }
        }
        for spec in specs {
            if description.temporary {
                let why = "Temporary tables can't have foreign key constraints.";
                let text = format!(
                    "{} with foreign key constraint failed. {why}",
                    head(description, statement)
                );
                self.session.diagnostics.warn(ErrorCode::from_number(150), text);
                return Err(malformed(description));
            }
            let key = self.resolve_key(description, spec, statement)?;
            description.foreign_keys.push(key.clone());
            added.push(key);
        }
        sort_keys(&mut description.foreign_keys);
        Ok(added)
    }

    fn resolve_key(
        &mut self,
        description: &TableDescription,
        spec: &ForeignKeySpec,
        statement: KeyStatement,
    ) -> Result<ForeignKey> {
        let name = match spec.name() {
            Some(name) => name.clone(),
            None => {
                let (database, name) = (&description.database, &description.name);
                let before = self.catalog.ordinary_table(database, name);
                next_name(description, before.map(|table| &**table))
            }
        };
        if name.chars().count() > NAME_CHARACTERS_MAX {
            return Err(Error::new(ER_TOO_LONG_IDENT, &[&name]));
        }
        let database = spec.table.database.clone();
        let mut key = ForeignKey {
            name,
            columns: Vec::with_capacity(spec.columns.len()),
            referenced_database: database.unwrap_or_else(|| description.database.clone()),
            referenced_table: spec.table.name.clone(),
            referenced_columns: spec.referenced_columns.clone(),
            on_delete: spec.on_delete,
            on_update: spec.on_update,
        };
        for column in &spec.columns {
            let found = find_column(description, column).ok_or_else(|| malformed(description))?;
            key.columns.push(found.name.clone());
        }
        self.check_name(description, &key)?;
        let fail = |planner: &mut Self, what: &str| {
            let shown = match spec.constraint_name.is_some() {
                true => format!("`{}`", key.name),
                false => format!("({})", spec.columns.join(", ")),
            };
            let text = format!(
                "{} with foreign key {shown} constraint failed. {what}",
                head(description, statement)
            );
            planner
                .session
                .diagnostics
                .warn(ErrorCode::from_number(150), text);
            Err(malformed(description))
        };
        let sets_null = [key.on_delete, key.on_update].contains(&ReferentialAction::SetNull);
        let not_null = |name: &&String| find_column(description, name).is_some_and(|column| !column.nullable);
        if sets_null && let Some(column) = key.columns.iter().find(not_null) {
            let what = format!(
                "You have defined a SET NULL condition but column '{column}' is defined as NOT NULL."
            );
            return fail(self, &what);
        }
        let is_self = (key.referenced_database.as_str(), key.referenced_table.as_str())
            == (description.database.as_str(), description.name.as_str());
        let parent = match is_self {
            true => Some(description.clone()),
            false => self
                .catalog
                .ordinary_table(&key.referenced_database, &key.referenced_table)
                .filter(|table| {
                    table.engine == TableEngine::InnoDb && table.database() != crate::SYSTEM_DATABASE
                })
                .map(|table| table.description().clone()),
        };
        let Some(parent) = parent else {
            if !self.session.settings.foreign_key_checks {
                return match key.referenced_columns.is_empty() {
                    true => Err(malformed(description)),
                    false => Ok(key),
                };
            }
            let what = format!(
                "Referenced table `{}`.`{}` not found in the data dictionary.",
                key.referenced_database, key.referenced_table
            );
            return fail(self, &what);
        };
        for (named, place) in key.referenced_columns.clone().iter().zip(0..) {
            match find_column(&parent, named) {
                Some(column) => key.referenced_columns[place].clone_from(&column.name),
                None => {
                    let text = format!(
                        "{} foreign key ({}) constraint failed. Column {named} was not found.",
                        head(description, statement),
                        spec.columns.join(", ")
                    );
                    self.session.diagnostics.warn(ErrorCode::from_number(150), text);
                    return Err(malformed(description));
                }
            }
        }
        match mismatch(description, &parent, &key) {
            None => Ok(key),
            Some(Mismatch::NoIndex) => fail(
                self,
                "There is no index in the referenced table where the referenced columns appear as the first columns.",
            ),
            Some(Mismatch::Types(column, referenced)) => {
                let what = format!(
                    "Field type or character set for column '{column}' does not match referenced column '{referenced}'."
                );
                fail(self, &what)
            }
            Some(Mismatch::Null) => Err(malformed(description)),
            Some(Mismatch::Unsupported) => Err(unsupported_types()),
        }
    }

    /// # Errors
    /// 1005 for the name of another key of the table or of its database.
    fn check_name(&mut self, description: &TableDescription, key: &ForeignKey) -> Result<()> {
        let has_name = |table: &TableDescription| {
            table
                .foreign_keys
                .iter()
                .any(|other| same_name(&other.name, &key.name))
        };
        let database = self.catalog.database(&description.database);
        let taken = database.is_some_and(|database| database.tables().any(|table| has_name(table)));
        if taken {
            let (database, name) = (&description.database, &description.name);
            let shown = constraint_text(&description.database, key);
            let text = format!("CREATE or ALTER TABLE `{database}`.`{name}` failed: duplicate name, {shown}");
            self.session.diagnostics.warn(ErrorCode::from_number(121), text);
            return Err(cannot_create(
                description,
                121,
                "Duplicate key on write or update",
            ));
        }
        match has_name(description) {
            true => Err(malformed(description)),
            false => Ok(()),
        }
    }

    /// Checks that a new or renamed table fits the keys that refer to its name already.
    ///
    /// # Errors
    /// 1005.
    pub(super) fn check_forward_references(&self, description: &TableDescription) -> Result<()> {
        if description.temporary {
            return Ok(());
        }
        for (child, key) in self
            .catalog
            .referring_keys(&description.database, &description.name)
        {
            if is_table(&child, description) {
                continue;
            }
            if description.engine != TableEngine::InnoDb || mismatch(&child, description, &key).is_some() {
                return Err(malformed(description));
            }
        }
        Ok(())
    }
}

/// Returns `Create  table `d`.`t``, the beginning of MariaDB's warnings.
fn head(description: &TableDescription, statement: KeyStatement) -> String {
    let word = match statement {
        KeyStatement::Create => "Create",
        KeyStatement::Alter => "Alter",
    };
    format!("{word}  table `{}`.`{}`", description.database, description.name)
}

pub(super) fn sort_keys(keys: &mut [ForeignKey]) {
    keys.sort_by(|a, b| a.name.cmp(&b.name));
}

pub(super) fn is_table(table: &TableDescription, other: &TableDescription) -> bool {
    (&table.database, &table.name) == (&other.database, &other.name)
}

fn refers_to(key: &ForeignKey, table: &TableDescription) -> bool {
    (&key.referenced_database, &key.referenced_table) == (&table.database, &table.name)
}

pub(super) fn unsupported_types() -> Error {
    Error::unsupported("FOREIGN KEY between columns of different types")
}

fn find_column<'d>(description: &'d TableDescription, name: &str) -> Option<&'d ColumnDefinition> {
    description
        .columns
        .iter()
        .find(|column| same_name(&column.name, name))
}

/// Returns `table_ibfk_N`, where N is one more than the highest number that the table has or had before the
/// statement.
fn next_name(description: &TableDescription, before: Option<&TableDefinition>) -> String {
    let prefix = format!("{}_ibfk_", description.name);
    let before = before.into_iter().flat_map(|table| &table.foreign_keys);
    let numbers = description
        .foreign_keys
        .iter()
        .chain(before)
        .filter_map(|key| key.name.strip_prefix(&prefix)?.parse::<u64>().ok());
    format!("{prefix}{}", numbers.max().unwrap_or(0).saturating_add(1))
}

/// Reason why a key does not fit two tables.
enum Mismatch {
    NoIndex,
    Types(String, String),
    /// The referenced column can have a NULL that the own column cannot.
    Null,
    Unsupported,
}

fn mismatch(child: &TableDescription, parent: &TableDescription, key: &ForeignKey) -> Option<Mismatch> {
    if key.referenced_columns.len() != key.columns.len()
        || serving_index(parent, &key.referenced_columns).is_none()
        || serving_index(child, &key.columns).is_none()
    {
        return Some(Mismatch::NoIndex);
    }
    for (own, other) in key.columns.iter().zip(&key.referenced_columns) {
        let (Some(own), Some(other)) = (find_column(child, own), find_column(parent, other)) else {
            return Some(Mismatch::NoIndex);
        };
        match fit(&own.data_type, &other.data_type) {
            Fit::Fits => {}
            Fit::Differs => return Some(Mismatch::Types(own.name.clone(), other.name.clone())),
            Fit::Unsupported => return Some(Mismatch::Unsupported),
        }
        if key.on_update == ReferentialAction::Cascade && other.nullable && !own.nullable {
            return Some(Mismatch::Null);
        }
    }
    None
}

/// # Errors
/// 1905 for actions that would change a generated column. 1901 and 1235 for actions that would change a
/// column on which a generated column or a check depends: it would not be evaluated again.
pub(super) fn check_dependents(
    description: &TableDescription,
    columns: &[String],
    [on_delete, on_update]: [ReferentialAction; 2],
) -> Result<()> {
    let clause = match (on_update, on_delete) {
        (ReferentialAction::Cascade, _) => "ON UPDATE CASCADE",
        (ReferentialAction::SetNull, _) => "ON UPDATE SET NULL",
        (_, ReferentialAction::SetNull) => "ON DELETE SET NULL",
        _ => return Ok(()),
    };
    for name in columns {
        let Some(column) = find_column(description, name) else {
            continue;
        };
        if column.generated.is_some() {
            return Err(Error::new(ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN, &[&clause]));
        }
        let mut quoted = String::new();
        quote_identifier(&column.name, &mut quoted);
        let refuse = |kind: &str, owner: &str| {
            let column = &column.name;
            Err(Error::with_message(
                ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
                format!("Function or expression '{column}' cannot be used in the {kind} clause of `{owner}`"),
            ))
        };
        for other in &description.columns {
            if other.check.as_ref().is_some_and(|check| check.contains(&quoted)) {
                return refuse("CHECK", &other.name);
            }
            let Some(generated) = &other.generated else {
                continue;
            };
            if !generated.expression.contains(&quoted) {
                continue;
            }
            if generated.storage == crate::GeneratedStorage::Virtual {
                return Err(Error::unsupported(format_args!(
                    "FOREIGN KEY … {clause} on a column that a generated one is made of"
                )));
            }
            return refuse("GENERATED ALWAYS AS", &other.name);
        }
        if let Some(check) = description
            .checks
            .iter()
            .find(|check| check.expression.contains(&quoted))
        {
            return refuse("CHECK", &check.name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(name: &str, columns: &[&str], generated: bool) -> DraftIndex {
        DraftIndex {
            id: None,
            kind: IndexKind::Plain,
            name: Some(name.to_owned()),
            parts: columns
                .iter()
                .map(|column| ((*column).to_owned(), None, false))
                .collect(),
            algorithm: None,
            comment: String::new(),
            ignored: false,
            generated,
            is_known: false,
            was_hashed: false,
        }
    }

    fn left(drafts: Vec<DraftIndex>) -> Vec<String> {
        let mut drafts = drafts;
        drop_covered(&mut drafts);
        drafts.into_iter().filter_map(|draft| draft.name).collect()
    }

    #[test]
    fn a_generated_index_is_dropped_when_another_replaces_it() {
        assert_eq!(
            left(vec![draft("k", &["a"], true), draft("i", &["a", "b"], false)]),
            ["i"]
        );
        assert_eq!(
            left(vec![draft("i", &["a", "b"], false), draft("k", &["a"], true)]),
            ["i"]
        );
        assert_eq!(
            left(vec![draft("k", &["a"], true), draft("l", &["a", "b"], true)]),
            ["l"]
        );
        assert_eq!(
            left(vec![draft("l", &["a", "b"], true), draft("k", &["a"], true)]),
            ["l"]
        );
        assert_eq!(
            left(vec![draft("k", &["a"], true), draft("l", &["a"], true)]),
            ["l"]
        );
        assert_eq!(
            left(vec![draft("i", &["b", "a"], false), draft("k", &["a"], true)]),
            ["i", "k"]
        );
        assert_eq!(
            left(vec![draft("i", &["a"], false), draft("j", &["a"], false)]),
            ["i", "j"]
        );
    }
}
