//! LOAD DATA: an INSERT whose rows come from a file.

use paceline_types::Charset;
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_UNKNOWN_CHARACTER_SET, ER_UPDATE_TABLE_USED, ER_WRONG_FIELD_TERMINATORS,
};

use super::block::Block;
use super::dml::{bind_assigned, find_assigned};
use super::{AssignmentPlan, InsertPlan, InsertRows, PlanKind, Planner, ResultColumn, TableUsage};
use crate::error::{Error, Result};
use paceline_expression::Expr;
use paceline_expression::session::SqlMode;
use paceline_syntax::ast;
use paceline_syntax::{Duplicates, FileFormat};

/// LOAD DATA.
#[derive(Debug)]
pub struct LoadPlan {
    /// How the rows go in.
    pub insert: InsertPlan,
    /// Where a line's fields go, in order.
    pub targets: Vec<LoadTarget>,
    /// `SET`.
    pub assignments: Vec<AssignmentPlan>,
    /// How the file holds rows.
    pub format: RowFormat,
    /// How many lines are passed over.
    pub ignore_lines: u64,
    /// The current time.
    pub now: Expr,
    /// Whether the separators are such that MariaDB warns of them.
    pub odd_separators: bool,
}

/// Where a field goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadTarget {
    /// To a column of the table.
    Column(usize),
    /// To a user variable, in lower case.
    Variable(String),
}

/// [`FileFormat`], checked, with what it leaves to the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFormat {
    /// What the text is in.
    pub charset: Charset,
    /// What is behind a field that is not a line's last.
    pub field_end: Vec<u8>,
    /// What may be around a field.
    pub quote: Option<u8>,
    /// What takes the meaning from the character behind it.
    pub escape: Option<u8>,
    /// What is in front of a line.
    pub line_start: Vec<u8>,
    /// What is behind a line. Empty if it is the same as `field_end`: then all lines have the same number of fields.
    pub line_end: Vec<u8>,
}

impl RowFormat {
    /// Checks a format. `default_charset` is for one that names none.
    ///
    /// # Errors
    /// 1083, 1115; 1235 for rows of fixed length.
    pub fn new(format: &FileFormat, default_charset: Charset, sql_mode: SqlMode) -> Result<Self> {
        let charset = match &format.charset {
            None => default_charset,
            Some(name) => {
                Charset::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_CHARACTER_SET, &[name]))?
            }
        };
        let escaped_by = match &format.fields_escaped_by {
            Some(text) => &text[..],
            None if sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES) => b"",
            None => b"\\",
        };
        let one = |text: &[u8]| match text {
            [] => Ok(None),
            [byte] => Ok(Some(*byte)),
            _ => Err(Error::new(ER_WRONG_FIELD_TERMINATORS, &[])),
        };
        let (escape, quote) = (one(escaped_by)?, one(&format.fields_enclosed_by)?);
        if format.fields_terminated_by.is_empty() && quote.is_none() {
            return Err(Error::unsupported("rows of fixed length in files"));
        }
        let line_end = match format.lines_terminated_by == format.fields_terminated_by {
            true => Vec::new(),
            false => format.lines_terminated_by.clone(),
        };
        Ok(RowFormat {
            charset,
            field_end: format.fields_terminated_by.clone(),
            quote,
            escape,
            line_start: format.lines_starting_by.clone(),
            line_end,
        })
    }
}

/// Whether MariaDB warns of a format's separators (1638).
pub fn has_odd_separators(format: &FileFormat) -> bool {
    let escaped_by = format.fields_escaped_by.as_deref().unwrap_or_default();
    let separators = [
        escaped_by,
        &format.fields_enclosed_by,
        &format.fields_terminated_by,
        &format.lines_terminated_by,
        &format.lines_starting_by,
    ];
    separators.iter().any(|text| !text.is_ascii())
}

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
        // The client sends its file to the end, whatever becomes of a row: so a bad one is passed over.
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
            defaults: super::defaults::default_plans(self, &table)?,
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
