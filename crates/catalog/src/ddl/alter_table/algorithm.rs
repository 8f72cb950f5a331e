//! `ALGORITHM=` and `LOCK=NONE`: the speed at which MariaDB would do the change, and therefore the values that it
//! rejects.
//!
//! ALGORITHM is a promise that the statement is not slower than that. MariaDB rejects a value that it could
//! not keep, and programs rely on both the rejection and the acceptance. Some changes that MariaDB does
//! instantly are a rebuild here (a new VIRTUAL column; new and dropped columns of a table without a key). They are
//! accepted and done as a rebuild, with a note.

use paceline_types::error_code::*;

use super::compatibility::{stored_alike, text_grows};
use super::instant::{ColumnChange, has_varying_default};
use crate::error::{Error, Result};
use crate::{ColumnDefinition, GeneratedStorage, IndexDefinition, IndexKind, TableEngine};
use paceline_expression::session::SessionContext;

/// The algorithm that MariaDB needs at least, fastest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Algorithm {
    Instant,
    NoCopy,
    InPlace,
    Copy,
}

impl Algorithm {
    const fn as_str(self) -> &'static str {
        match self {
            Algorithm::Instant => "ALGORITHM=INSTANT",
            Algorithm::NoCopy => "ALGORITHM=NOCOPY",
            Algorithm::InPlace => "ALGORITHM=INPLACE",
            Algorithm::Copy => "ALGORITHM=COPY",
        }
    }

    fn named(word: &str) -> Self {
        match word {
            "INSTANT" => Algorithm::Instant,
            "NOCOPY" => Algorithm::NoCopy,
            "INPLACE" => Algorithm::InPlace,
            _ => Algorithm::Copy,
        }
    }
}

/// An algorithm, and MariaDB's reason for not using a faster one, if it states one.
type Needed = (Algorithm, Option<&'static str>);

/// A change of a table.
pub(super) struct Change<'c> {
    pub columns: ColumnChange<'c>,
    /// `FORCE`, or an explicit engine.
    pub is_forced: bool,
    pub has_new_checks: bool,
    /// Whether this server leaves the rows in place.
    pub rows_stay: bool,
}

impl Change<'_> {
    /// Checks that MariaDB could do the change with this value of ALGORITHM.
    ///
    /// # Errors
    /// 1845, 1846.
    pub fn check(&self, word: &str, session: &mut SessionContext) -> Result<()> {
        let asked = Algorithm::named(word);
        let (needed, why) = self.needed();
        if needed > asked {
            return Err(match why {
                None => Error::new(
                    ER_ALTER_OPERATION_NOT_SUPPORTED,
                    &[&asked.as_str(), &needed.as_str()],
                ),
                Some(why) => refusal(asked, why, needed),
            });
        }
        if asked <= Algorithm::NoCopy && !self.rows_stay {
            let note = refusal(asked, "The rows are written anew", Algorithm::Copy);
            session.diagnostics.note(note.code(), note.message());
        }
        Ok(())
    }

    /// Checks that MariaDB could do the change with LOCK=NONE, while others write to the table, by the
    /// requested algorithm.
    ///
    /// # Errors
    /// 1845, 1846.
    pub fn check_no_lock(&self, word: &str) -> Result<()> {
        const WANTED: &str = "LOCK=NONE";
        const INSTEAD: &str = "LOCK=SHARED";
        let (needed, why) = self.needed();
        let numbers = self.columns.sources.iter().zip(&self.columns.new.columns);
        let has_new_number = { numbers }.any(|(source, column)| source.is_none() && column.auto_increment);
        let why = match (needed, why) {
            _ if word == "COPY" || self.changes_engine() => Some("COPY algorithm requires a lock"),
            (Algorithm::Copy, None) => {
                return Err(Error::new(ER_ALTER_OPERATION_NOT_SUPPORTED, &[&WANTED, &INSTEAD]));
            }
            (Algorithm::Copy, why) => why,
            _ if has_new_number => Some("Adding an auto-increment column requires a lock"),
            _ => None,
        };
        match why {
            None => Ok(()),
            Some(why) => Err(Error::new(
                ER_ALTER_OPERATION_NOT_SUPPORTED_REASON,
                &[&WANTED, &why, &INSTEAD],
            )),
        }
    }

    fn changes_engine(&self) -> bool {
        self.columns.new.engine != self.columns.old.engine
    }

    fn needed(&self) -> Needed {
        let copied = self.changes_engine() || self.columns.old.engine != TableEngine::InnoDb;
        if copied && !(self.rows_stay && self.indexes_stay()) {
            return (Algorithm::Copy, None);
        }
        let columns = self.columns.sources.iter().zip(&self.columns.new.columns);
        let columns = columns.map(|(source, column)| match source {
            None => new_column(column),
            Some(place) => self.changed_column(&self.columns.old.columns()[*place], column),
        });
        let checks = match self.has_new_checks {
            true => (Algorithm::Copy, None),
            false => (Algorithm::Instant, None),
        };
        let table = match (
            self.is_forced,
            self.columns.new.row_format == self.columns.old.row_format,
        ) {
            (true, _) => (Algorithm::InPlace, None),
            (false, true) => (Algorithm::Instant, None),
            (false, false) => (
                Algorithm::InPlace,
                Some("Changing table options requires the table to be rebuilt"),
            ),
        };
        // Of several equally slow parts, the first one determines the message.
        columns
            .chain([checks, self.primary_key(), table, self.other_indexes()])
            .fold((Algorithm::Instant, None), |slowest, needed| {
                match needed.0 > slowest.0 {
                    true => needed,
                    false => slowest,
                }
            })
    }

    fn changed_column(&self, old: &ColumnDefinition, new: &ColumnDefinition) -> Needed {
        let nullable = ColumnDefinition {
            nullable: old.nullable,
            ..new.clone()
        };
        if !stored_alike(old, &nullable, self.columns.renames) && !text_grows(&old.data_type, &new.data_type)
        {
            return match old.data_type == new.data_type && old.auto_increment == new.auto_increment {
                true => (Algorithm::Copy, None),
                false => (Algorithm::Copy, Some("Cannot change column type")),
            };
        }
        match old.nullable && !new.nullable {
            true => (Algorithm::InPlace, None),
            false => (Algorithm::Instant, None),
        }
    }

    fn primary_key(&self) -> Needed {
        let is_primary = |index: &&IndexDefinition| index.kind == IndexKind::Primary;
        let old = self.columns.old.indexes().iter().find(is_primary);
        let new = self.columns.new.indexes.iter().find(is_primary);
        match (old, new) {
            (Some(old), Some(new)) if old.id == new.id => (Algorithm::Instant, None),
            (Some(_), None) => (
                Algorithm::Copy,
                Some("Dropping a primary key is not allowed without also adding a new primary key"),
            ),
            (None, None) => (Algorithm::Instant, None),
            _ => (Algorithm::InPlace, None),
        }
    }

    fn is_new(&self, index: &IndexDefinition) -> bool {
        !self.columns.old.indexes().iter().any(|old| old.id == index.id)
    }

    fn is_gone(&self, index: &IndexDefinition) -> bool {
        !self.columns.new.indexes.iter().any(|new| new.id == index.id)
    }

    fn indexes_stay(&self) -> bool {
        !self.columns.new.indexes.iter().any(|index| self.is_new(index))
            && !self.columns.old.indexes().iter().any(|index| self.is_gone(index))
    }

    fn other_indexes(&self) -> Needed {
        let is_other = |index: &&IndexDefinition| index.kind != IndexKind::Primary;
        if self
            .columns
            .new
            .indexes
            .iter()
            .filter(is_other)
            .any(|index| self.is_new(index))
        {
            return (Algorithm::NoCopy, Some("ADD INDEX"));
        }
        if self
            .columns
            .old
            .indexes()
            .iter()
            .filter(is_other)
            .any(|index| self.is_gone(index))
        {
            return (Algorithm::NoCopy, Some("DROP INDEX"));
        }
        (Algorithm::Instant, None)
    }
}

fn new_column(column: &ColumnDefinition) -> Needed {
    let is_stored = column
        .generated
        .as_ref()
        .is_some_and(|generated| generated.storage == GeneratedStorage::Stored);
    if is_stored || has_varying_default(column) {
        return (Algorithm::Copy, None);
    }
    match column.auto_increment {
        true => (Algorithm::InPlace, None),
        false => (Algorithm::Instant, None),
    }
}

fn refusal(asked: Algorithm, why: &str, instead: Algorithm) -> Error {
    Error::new(
        ER_ALTER_OPERATION_NOT_SUPPORTED_REASON,
        &[&asked.as_str(), &why, &instead.as_str()],
    )
}
