//! The choice of the way from the old description to the new one.

use std::sync::Arc;

use paceline_storage::IndexId;

use super::Alteration;
use super::algorithm::Change;
use super::compatibility::clustered_stays;
use super::instant::{ColumnChange, RowTreatment};
use crate::ddl::create_table::Occasion;
use crate::ddl::foreign_key::{KeyStatement, malformed};
use crate::ddl::plan::Planner;
use crate::ddl::table_build::{BuildKind, ColumnSource, Misfits, TableBuild, TestedRows};
use crate::error::{Error, Result};
use crate::{CatalogChange, IndexDefinition, IndexKind, TableDefinition, TableDescription};
use paceline_types::error_code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON;

impl Planner<'_> {
    /// Chooses the way and plans it.
    pub(super) fn finish_alter(&mut self, alteration: Alteration) -> Result<()> {
        let Alteration {
            old,
            mut description,
            columns,
            drafts,
            checks,
            renames,
            rename,
            only_rename,
            new_checks,
            keys,
            new_keys,
            misfits,
            ..
        } = alteration;
        let sources: Vec<Option<usize>> = columns.iter().map(|draft| draft.source).collect();
        description.columns = columns.into_iter().map(|draft| draft.column).collect();
        description.checks = checks;
        self.complete(&mut description, drafts, Occasion::Alter)?;
        if old.is_temporary() && !new_keys.is_empty() {
            return Err(malformed(&description));
        }
        self.keep_keys(&old, &mut description, &sources, keys)?;
        let added = self.add_foreign_keys(&mut description, &new_keys, KeyStatement::Alter)?;
        let counting = description
            .columns
            .iter()
            .position(|column| column.auto_increment);
        // The numbers of deleted rows are not assigned again as long as the same column is AUTO_INCREMENT.
        let counts_on = counting.map(|place| sources[place]) == old.auto_increment_column().map(Some);
        if counting.is_none() || !(counts_on || alteration.forget_auto_increment) {
            // Without the column MariaDB forgets the number.
            description.auto_increment_start = 1;
        }
        let engine_changes = description.engine != old.engine;
        // MariaDB copies a temporary table for any change.
        let copies = old.is_temporary() && !only_rename;
        let known = |id: u32| old.indexes().iter().any(|index| index.id == id);
        let is_unique = |index: &IndexDefinition| index.kind != IndexKind::Plain;
        let has_new_unique = { description.indexes.iter() }.any(|index| is_unique(index) && !known(index.id));
        let may_drop_rows = misfits == Misfits::Adjusted && has_new_unique;
        let may_refuse_rows = misfits == Misfits::Adjusted && new_checks;
        let may_stay = !alteration.force_rebuild
            && !may_drop_rows
            && !may_refuse_rows
            && !copies
            && !engine_changes
            && clustered_stays(&old, &description)?;
        // IGNORE adjusts the values of new columns row by row.
        let is_adjusted = misfits == Misfits::Adjusted && sources.contains(&None);
        let columns = ColumnChange {
            old: &old,
            new: &description,
            sources: &sources,
            renames: &renames,
        };
        let changed_keys = columns.indexes_with_changed_keys();
        let treatment = match may_stay && !is_adjusted {
            true => columns.treatment(&changed_keys),
            false => RowTreatment::Rewritten,
        };
        let rows_stay = treatment != RowTreatment::Rewritten;
        let default = self.session.settings.alter_algorithm.as_str();
        let asked = alteration.algorithm.as_deref().filter(|word| *word != "DEFAULT");
        let word = asked.unwrap_or(default);
        let asks_no_lock = alteration.without_lock && !old.is_temporary();
        if may_drop_rows {
            let reason =
                "Creating unique indexes with IGNORE requires COPY algorithm to remove duplicate rows";
            let refused = |asked: &str, instead: &str| {
                Error::new(
                    ER_ALTER_OPERATION_NOT_SUPPORTED_REASON,
                    &[&asked, &reason, &instead],
                )
            };
            if !matches!(word, "DEFAULT" | "COPY") {
                return Err(refused(&format!("ALGORITHM={word}"), "ALGORITHM=COPY"));
            }
            if asks_no_lock {
                return Err(refused("LOCK=NONE", "LOCK=SHARED"));
            }
        }
        let change = Change {
            columns,
            is_forced: alteration.force_rebuild,
            has_new_checks: new_checks,
            rows_stay,
        };
        if word != "DEFAULT" {
            change.check(word, self.session)?;
        }
        if asks_no_lock {
            change.check_no_lock(word)?;
        }
        let earlier_rows = match treatment {
            RowTreatment::Kept => old.earlier_rows.clone(),
            RowTreatment::ConvertedLater => self.earlier_rows(&columns)?,
            RowTreatment::Rewritten => Vec::new(),
        };
        description.earlier_rows = earlier_rows;
        if rows_stay {
            for place in changed_keys {
                description.indexes[place].id = self.new_id(description.engine)?;
            }
            self.change_indexes(&old, &description, new_checks);
        } else {
            self.rebuild(&old, &mut description, &sources, new_checks)?;
        }
        if !rows_stay && let Some(build) = &mut self.plan.build {
            build.misfits = misfits;
            build.drops_duplicates = may_drop_rows;
        }
        let (database, name) = match rename {
            Some(target) if target != (old.database().to_owned(), old.name().to_owned()) => target,
            _ => (old.database().to_owned(), old.name().to_owned()),
        };
        let renamed = (database.as_str(), name.as_str()) != (old.database(), old.name());
        if renamed {
            self.check_new_name(&old, &database, &name, only_rename)?;
            description.database = database.clone();
            description.name = name.clone();
            self.rename_in_keys(&old, &mut description)?;
            self.check_forward_references(&description)?;
        }
        self.test_new_keys(&old, &description, &added)?;
        if let Some(build) = &mut self.plan.build {
            build.target.database.clone_from(&description.database);
            build.target.name.clone_from(&description.name);
        }
        self.change(CatalogChange::PutTable(Box::new(description)))?;
        if renamed {
            self.move_triggers(&old, &database, &name)?;
            self.forget_name(&old)?;
        }
        if alteration.forget_auto_increment || !counts_on {
            self.change(CatalogChange::ForgetAutoIncrement { database, name })?;
        }
        Ok(())
    }

    /// Plans changes of indexes; rows stay in place.
    fn change_indexes(
        &mut self,
        old: &Arc<TableDefinition>,
        description: &TableDescription,
        new_checks: bool,
    ) {
        let is_kept = |id: u32| description.indexes.iter().any(|index| index.id == id);
        for index in old.indexes().iter().filter(|index| !is_kept(index.id)) {
            self.plan.dropped.push(IndexId::new(index.id));
        }
        let known = |id: u32| old.indexes().iter().any(|index| index.id == id);
        let new: Vec<usize> = (0..description.indexes.len())
            .filter(|&place| !known(description.indexes[place].id))
            .collect();
        if !new.is_empty() || new_checks {
            self.plan.build = Some(TableBuild {
                source: old.clone(),
                target: description.clone(),
                kind: BuildKind::Indexes(new),
                tested: match new_checks {
                    true => TestedRows::All,
                    false => TestedRows::None,
                },
                tested_keys: Vec::new(),
                misfits: Misfits::Refused,
                drops_duplicates: false,
            });
        }
    }

    /// Plans a rebuild: all rows are rewritten under new numbers.
    fn rebuild(
        &mut self,
        old: &Arc<TableDefinition>,
        description: &mut TableDescription,
        sources: &[Option<usize>],
        new_checks: bool,
    ) -> Result<()> {
        self.plan.dropped.extend(old.schema().index_ids());
        let engine = description.engine;
        description.hidden = [self.new_id(engine)?, self.new_id(engine)?];
        for place in 0..description.indexes.len() {
            description.indexes[place].id = self.new_id(engine)?;
        }
        let columns: Vec<ColumnSource> = sources
            .iter()
            .enumerate()
            .map(|(n, source)| match source {
                Some(place) => {
                    let (before, after) = (&old.columns()[*place], &description.columns[n]);
                    if after.auto_increment && !before.auto_increment {
                        ColumnSource::Number(*place)
                    } else if before.data_type == after.data_type && (!before.nullable || after.nullable) {
                        ColumnSource::Copy(*place)
                    } else {
                        ColumnSource::Convert(*place)
                    }
                }
                None => ColumnSource::Default,
            })
            .collect();
        let tested = match new_checks
            || columns
                .iter()
                .any(|source| matches!(source, ColumnSource::Convert(_) | ColumnSource::Number(_)))
        {
            true => TestedRows::All,
            false => TestedRows::None,
        };
        self.plan.build = Some(TableBuild {
            source: old.clone(),
            target: description.clone(),
            kind: BuildKind::Rebuild(columns),
            tested,
            tested_keys: Vec::new(),
            misfits: Misfits::Refused,
            drops_duplicates: false,
        });
        Ok(())
    }
}
