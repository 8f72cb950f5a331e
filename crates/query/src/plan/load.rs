//! LOAD DATA and LOAD XML: an INSERT whose rows come from a file.

use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_UPDATE_TABLE_USED};

use super::block::{Block, VisibleColumn, find_assigned};
use super::change_plan::{LoadPlan, LoadTarget, XmlPlan};
use super::dml::bind_assigned;
use super::row_format::{RowFormat, has_odd_separators};
use super::view_target::InsertTarget;
use super::{
    AssignmentPlan, ColumnUsage, InsertPlan, InsertRows, PlanKind, Planner, ResultColumn, TableUsage,
};
use crate::error::{Error, Result};
use paceline_syntax::Duplicates;
use paceline_syntax::ast;

impl Planner<'_> {
    pub(super) fn plan_load(
        &self,
        load: &paceline_syntax::LoadData,
    ) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let session = self.context.session;
        let format = RowFormat::new(
            &load.format,
            session.settings.collation_database.charset(),
            session.settings.sql_mode,
        )?;
        let InsertTarget {
            mut block,
            table: target,
            definition: table,
            view,
            ..
        } = self.load_target(&load.table)?;
        let usage = TableUsage {
            insert: true,
            delete: load.duplicates == Duplicates::Replace,
            ..TableUsage::default()
        };
        block.note_write(target, usage);
        let (mut targets, mut names) = (Vec::new(), Vec::new());
        for name in &load.columns {
            targets.push(field_target(&block, name)?);
            names.push(field_name(name));
        }
        if load.columns.is_empty() {
            let is_shown =
                |found: &&VisibleColumn| !block.tables[found.table].columns[found.column].invisible;
            for found in block.visible.iter().filter(is_shown) {
                targets.push(LoadTarget::Column(loaded_column(
                    &block,
                    *found,
                    ColumnUsage::InsertAll,
                )?));
                names.push(block.tables[found.table].columns[found.column].name().to_owned());
            }
        }
        let mut assignments = Vec::with_capacity(load.assignments.len());
        for assignment in &load.assignments {
            let found = find_assigned(&block, &assignment.column, "SELECT")?;
            let column = loaded_column(&block, found, ColumnUsage::Insert)?;
            let value = bind_assigned(&mut block, target, column, &assignment.value, "SELECT")?;
            assignments.push(AssignmentPlan { column, value });
        }
        let reads_target = self.tables.borrow().iter().any(|used| {
            *used.database == *table.database() && *used.name == *table.name() && used.usage.select
        });
        if reads_target {
            return Err(Error::new(
                ER_UPDATE_TABLE_USED,
                &[&load.table.name, &"LOAD DATA"],
            ));
        }
        let mut columns: Vec<usize> = Vec::new();
        let from_file = targets.iter().filter_map(|target| match target {
            LoadTarget::Column(column) => Some(*column),
            LoadTarget::Variable(_) => None,
        });
        for column in from_file.chain(assignments.iter().map(|assignment| assignment.column)) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let usage = match load.columns.is_empty() {
            true => ColumnUsage::InsertAll,
            false => ColumnUsage::Insert,
        };
        for &column in &columns {
            block.note_column(target, column, usage);
        }
        let mut generated = super::defaults::generated_plans(self, &table, 0)?;
        if session.settings.load_generated {
            generated.retain(|made| !columns.contains(&made.column));
        }
        // The client sends its file to the end in any case, so a bad row is skipped.
        let ignore = match load.duplicates {
            Duplicates::Error => load.local,
            Duplicates::Ignore => true,
            Duplicates::Replace => false,
        };
        let insert = InsertPlan {
            replace: load.duplicates == Duplicates::Replace,
            ignore,
            columns,
            source: InsertRows::File,
            defaults: super::defaults::default_plans(self, &table, |_| true)?,
            on_duplicate: Vec::new(),
            on_update: Vec::new(),
            reads_changed: false,
            reads_row: false,
            source_slots: 0..0,
            generated,
            checks: super::defaults::check_plans(self, &table)?,
            returning: None,
            slot_count: block.slot_count,
            view,
            table,
        };
        let plan = LoadPlan {
            insert,
            targets,
            assignments,
            format,
            xml: (load.xml_row_tag.as_ref()).map(|tag| XmlPlan {
                row_tag: tag.clone().into_bytes(),
                names,
            }),
            ignore_lines: load.ignore_lines,
            now: super::defaults::current_timestamp(self, 6)?,
            odd_separators: has_odd_separators(&load.format),
        };
        Ok((PlanKind::Load(Box::new(plan)), Vec::new()))
    }
}

fn field_target(block: &Block<'_, '_>, name: &ast::Expr) -> Result<LoadTarget> {
    let column = match name {
        ast::Expr::UserVariable(variable) => return Ok(LoadTarget::Variable(variable.to_lowercase())),
        ast::Expr::Column(column) => column,
        other => return Err(Error::new(ER_BAD_FIELD_ERROR, &[other, &"SELECT"])),
    };
    let found = find_assigned(block, column, "SELECT")?;
    loaded_column(block, found, ColumnUsage::Insert).map(LoadTarget::Column)
}

/// Returns the table's column that a target is. Records the use of a view's column.
fn loaded_column(block: &Block<'_, '_>, found: VisibleColumn, usage: ColumnUsage) -> Result<usize> {
    let (base, _) = block.updated_column(found)?;
    if found != base {
        block.note_column(found.table, found.column, usage);
    }
    Ok(base.column)
}

/// Returns the name of the field for a target: of a variable without `@`.
fn field_name(name: &ast::Expr) -> String {
    match name {
        ast::Expr::UserVariable(variable) => variable.clone(),
        ast::Expr::Column(column) => column.name.clone(),
        other => other.to_string(),
    }
}
