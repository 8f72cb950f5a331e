//! LOAD DATA: an INSERT whose rows come from a file.

use paceline_types::error_code::{ER_BAD_FIELD_ERROR, ER_UPDATE_TABLE_USED};

use super::block::Block;
use super::change_plan::{LoadPlan, LoadTarget};
use super::dml::{bind_assigned, find_assigned};
use super::row_format::{RowFormat, has_odd_separators};
use super::{AssignmentPlan, InsertPlan, InsertRows, PlanKind, Planner, ResultColumn, TableUsage};
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
        let table = self.find_table(load.table.database.as_deref(), &load.table.name)?;
        let usage = TableUsage {
            insert: true,
            delete: load.duplicates == Duplicates::Replace,
            ..TableUsage::default()
        };
        self.use_table(table.database(), table.name(), Some(&table), usage);
        let mut block = Block::new(self, None);
        block.add_base(table.name(), &table, &[])?;
        block.visible = (0..table.columns().len())
            .map(|column| super::block::VisibleColumn { table: 0, column })
            .collect();
        let mut targets = Vec::new();
        for name in &load.columns {
            targets.push(load_target(&block, name)?);
        }
        if load.columns.is_empty() {
            let visible = (0..table.columns().len()).filter(|&column| !table.columns()[column].invisible);
            targets.extend(visible.map(LoadTarget::Column));
        }
        let mut assignments = Vec::with_capacity(load.assignments.len());
        for assignment in &load.assignments {
            let (_, column) = find_assigned(&block, &assignment.column, "SELECT")?;
            let value = bind_assigned(&mut block, 0, column, &assignment.value, "SELECT")?;
            assignments.push(AssignmentPlan { column, value });
        }
        let reads_target = self.tables.borrow().iter().any(|used| {
            *used.database == *table.database() && *used.name == *table.name() && used.usage.select
        });
        if reads_target {
            return Err(Error::new(ER_UPDATE_TABLE_USED, &[&table.name(), &"LOAD DATA"]));
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
            table,
        };
        let plan = LoadPlan {
            insert,
            targets,
            assignments,
            format,
            ignore_lines: load.ignore_lines,
            now: super::defaults::current_timestamp(self, 6)?,
            odd_separators: has_odd_separators(&load.format),
        };
        Ok((PlanKind::Load(Box::new(plan)), Vec::new()))
    }
}

fn load_target(block: &Block<'_, '_>, name: &ast::Expr) -> Result<LoadTarget> {
    let column = match name {
        ast::Expr::UserVariable(variable) => return Ok(LoadTarget::Variable(variable.to_lowercase())),
        ast::Expr::Column(column) => column,
        other => return Err(Error::new(ER_BAD_FIELD_ERROR, &[other, &"SELECT"])),
    };
    find_assigned(block, column, "SELECT").map(|(_, column)| LoadTarget::Column(column))
}
