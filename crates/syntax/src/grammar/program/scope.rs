//! Names within a program: variables, conditions, cursors and labels, and where they can be seen.

use crate::error::{Error, Result};
use crate::statement::definition::TypeKind;
use crate::statement::{
    Aggregation, ConditionValue, Cursor, Label, SqlStatement, TriggerEvent, TriggerRow, TriggerTime,
    VARIABLES_MAX, Variable, VariableKind,
};
use paceline_types::error_code::*;
use std::collections::HashMap;

/// Kind of the program that is being parsed: it decides what statements may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::grammar) enum ProgramKind {
    /// A procedure, or a compound statement that stands alone.
    Procedure,
    Function,
    Trigger {
        time: TriggerTime,
        event: TriggerEvent,
    },
}

impl ProgramKind {
    /// Returns whether it is executed within another statement, so that it cannot commit or return rows.
    pub fn is_within_statement(self) -> bool {
        self != ProgramKind::Procedure
    }
}

/// Declarations come in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Variables,
    Cursors,
    Handlers,
}

/// Kind of a variable as declared.
#[derive(Clone)]
pub(super) enum DeclaredKind {
    Simple(VariableKind),
    /// `ROW (…)`: names and kinds of the fields.
    Row(Vec<(String, VariableKind)>),
}

impl DeclaredKind {
    /// Returns the number of tokens that declare it, approximately.
    pub fn tokens(&self) -> usize {
        let of_kind = |kind: &VariableKind| match kind {
            VariableKind::Typed(spec) => 1 + spec.labels.len(),
            _ => 1,
        };
        match self {
            DeclaredKind::Simple(kind) => of_kind(kind),
            DeclaredKind::Row(fields) => fields.iter().map(|(_, kind)| 1 + of_kind(kind)).sum(),
        }
    }
}

/// Names of one block.
struct BlockNames {
    /// By name in lower case.
    variables: HashMap<String, usize>,
    conditions: Vec<(String, ConditionValue)>,
    cursors: Vec<(String, usize)>,
    /// Conditions of the block's handlers.
    handled: Vec<ConditionValue>,
    stage: Stage,
}

/// Owner of a field.
#[derive(PartialEq, Eq, Hash)]
enum FieldOwner {
    /// A row variable, by number.
    Row(usize),
    Trigger(TriggerRow),
}

/// A label and what it is for.
struct LabelName {
    /// `None` for a statement without a label.
    name: Option<String>,
    label: Label,
    is_loop: bool,
    /// Whether a handler begins here: labels before cannot be left from it.
    is_handler: bool,
}

/// State of parsing a program.
pub(in crate::grammar) struct ProgramScope {
    pub kind: ProgramKind,
    pub variables: Vec<Variable>,
    pub cursors: Vec<Cursor>,
    pub has_return: bool,
    /// Whether the program is an aggregate function.
    pub aggregation: Aggregation,
    /// Whether it contains FETCH GROUP NEXT ROW.
    pub fetches_group: bool,
    /// Whether a name at the cursor can be a column, outside of queries.
    pub has_columns: bool,
    /// Number of times that a variable was named in an expression.
    pub uses: usize,
    blocks: Vec<BlockNames>,
    /// Variables of fields, by their name in lower case.
    fields: HashMap<(FieldOwner, String), usize>,
    labels: Vec<LabelName>,
    labels_made: u32,
}

impl ProgramScope {
    pub fn new(kind: ProgramKind) -> Self {
        let mut scope = ProgramScope {
            kind,
            variables: Vec::new(),
            cursors: Vec::new(),
            has_return: false,
            aggregation: Aggregation::None,
            fetches_group: false,
            has_columns: false,
            uses: 0,
            blocks: Vec::new(),
            fields: HashMap::new(),
            labels: Vec::new(),
            labels_made: 0,
        };
        // For parameters, and for the columns of NEW and OLD.
        scope.begin_block();
        scope
    }

    pub(super) fn begin_block(&mut self) {
        self.blocks.push(BlockNames {
            variables: HashMap::new(),
            conditions: Vec::new(),
            cursors: Vec::new(),
            handled: Vec::new(),
            stage: Stage::Variables,
        });
    }

    pub(super) fn end_block(&mut self) {
        self.blocks.pop();
    }

    fn block(&mut self) -> &mut BlockNames {
        self.blocks.last_mut().expect("the outermost block never ends")
    }

    /// Checks the order of declarations.
    ///
    /// # Errors
    /// 1337, 1338.
    pub(super) fn begin_stage(&mut self, stage: Stage) -> Result<()> {
        let block = self.block();
        if stage < block.stage {
            let code = match stage {
                Stage::Variables => ER_SP_VARCOND_AFTER_CURSHNDLR,
                _ => ER_SP_CURSOR_AFTER_HANDLER,
            };
            return Err(Error::new(code, &[]));
        }
        block.stage = stage;
        Ok(())
    }

    // Variables --------------------------------------------------------------------------------------------------

    /// Adds a variable that no statement sees yet, and returns its number.
    ///
    /// # Errors
    /// 1117 beyond [`VARIABLES_MAX`]: in MariaDB too, variables are the columns of a table.
    pub fn add_variable(&mut self, name: String, kind: VariableKind) -> Result<usize> {
        if self.variables.len() >= VARIABLES_MAX {
            return Err(Error::new(ER_TOO_MANY_FIELDS, &[]));
        }
        self.variables.push(Variable { name, kind });
        Ok(self.variables.len() - 1)
    }

    /// Adds a variable, after it those of its fields, and returns its number.
    ///
    /// # Errors
    /// Those of [`Self::add_variable`].
    pub(super) fn declare_variable(&mut self, name: String, declared: &DeclaredKind) -> Result<usize> {
        let fields = match declared {
            DeclaredKind::Simple(kind) => return self.add_variable(name, kind.clone()),
            DeclaredKind::Row(fields) => fields,
        };
        let first = self.variables.len() + 1;
        let fields_end = first + fields.len();
        let row = self.add_variable(
            name,
            VariableKind::Row {
                fields: first..fields_end,
            },
        )?;
        for (name, kind) in fields {
            let field = self.add_variable(name.clone(), kind.clone())?;
            self.fields
                .insert((FieldOwner::Row(row), name.to_lowercase()), field);
        }
        Ok(row)
    }

    /// Returns whether a variable is declared as an integer, a BIT or a YEAR: LIMIT accepts these.
    pub(super) fn is_integer(&self, variable: usize) -> bool {
        use TypeKind::{BigInt, Bit, Bool, Int, MediumInt, SmallInt, TinyInt, Year};
        match &self.variables[variable].kind {
            VariableKind::Typed(spec) => {
                matches!(
                    spec.kind,
                    TinyInt | SmallInt | MediumInt | Int | BigInt | Bool | Bit | Year
                )
            }
            VariableKind::Counter => true,
            _ => false,
        }
    }

    /// Returns the kind of a variable, for another one like it.
    pub(super) fn kind_of(&self, variable: usize) -> DeclaredKind {
        match &self.variables[variable].kind {
            VariableKind::Row { fields } => DeclaredKind::Row(
                (self.variables[fields.clone()].iter())
                    .map(|field| (field.name.clone(), field.kind.clone()))
                    .collect(),
            ),
            kind => DeclaredKind::Simple(kind.clone()),
        }
    }

    /// Lets the statements after it see a variable.
    pub fn show_variable(&mut self, variable: usize) {
        let name = self.variables[variable].name.to_lowercase();
        self.block().variables.insert(name, variable);
    }

    /// Returns whether the innermost block has a variable of this name.
    pub fn declares_variable(&self, name: &str) -> bool {
        let block = self.blocks.last().expect("the outermost block never ends");
        block.variables.contains_key(&name.to_lowercase())
    }

    /// Returns the variable that a name means.
    pub fn variable(&self, name: &str) -> Option<usize> {
        let name = name.to_lowercase();
        let mut found = self.blocks.iter().rev().map(|block| block.variables.get(&name));
        found.find_map(Option::<&usize>::copied)
    }

    /// Returns the variable of a field; `None` if the variable is not a row.
    ///
    /// # Errors
    /// 4082 for a field that the row does not have. The fields of a query are only known later.
    pub fn row_field(&mut self, row: usize, field: &str) -> Result<Option<usize>> {
        let owner = FieldOwner::Row(row);
        match &self.variables[row].kind {
            VariableKind::Row { .. } => match self.fields.get(&(owner, field.to_lowercase())) {
                Some(variable) => Ok(Some(*variable)),
                None => {
                    let row = &self.variables[row].name;
                    Err(Error::new(ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD, &[row, &field]))
                }
            },
            VariableKind::RowOf { .. } => {
                let kind = VariableKind::RowField { row };
                self.find_or_add(owner, field, kind).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns the variable of a field, which is added if there is none.
    fn find_or_add(&mut self, owner: FieldOwner, name: &str, kind: VariableKind) -> Result<usize> {
        let key = (owner, name.to_lowercase());
        if let Some(variable) = self.fields.get(&key) {
            return Ok(*variable);
        }
        let variable = self.add_variable(name.to_owned(), kind)?;
        self.fields.insert(key, variable);
        Ok(variable)
    }

    /// Returns the row of a trigger that a name means.
    pub fn trigger_row(&self, name: &str) -> Option<TriggerRow> {
        match self.kind {
            ProgramKind::Trigger { .. } if name.eq_ignore_ascii_case("new") => Some(TriggerRow::New),
            ProgramKind::Trigger { .. } if name.eq_ignore_ascii_case("old") => Some(TriggerRow::Old),
            _ => None,
        }
    }

    /// Returns the variable of a column of NEW or OLD.
    ///
    /// # Errors
    /// 1363 for a row that the trigger does not have.
    pub fn trigger_column(&mut self, row: TriggerRow, column: &str) -> Result<usize> {
        let missing = match self.kind {
            ProgramKind::Trigger { event, .. } => match (row, event) {
                (TriggerRow::Old, TriggerEvent::Insert) => Some(("OLD", "on INSERT")),
                (TriggerRow::New, TriggerEvent::Delete) => Some(("NEW", "on DELETE")),
                _ => None,
            },
            _ => None,
        };
        if let Some((row, trigger)) = missing {
            return Err(Error::new(ER_TRG_NO_SUCH_ROW_IN_TRG, &[&row, &trigger]));
        }
        let kind = VariableKind::TriggerColumn { row };
        self.find_or_add(FieldOwner::Trigger(row), column, kind)
    }

    /// Returns the variable of a column of NEW that is assigned to.
    ///
    /// # Errors
    /// 1362 for OLD, and for NEW after the change; 1363.
    pub fn assigned_trigger_column(&mut self, row: TriggerRow, column: &str) -> Result<usize> {
        let variable = self.trigger_column(row, column)?;
        let time = match self.kind {
            ProgramKind::Trigger { time, .. } => time,
            _ => TriggerTime::Before,
        };
        match (row, time) {
            (TriggerRow::Old, _) => Err(Error::new(ER_TRG_CANT_CHANGE_ROW, &[&"OLD", &""])),
            (TriggerRow::New, TriggerTime::After) => {
                Err(Error::new(ER_TRG_CANT_CHANGE_ROW, &[&"NEW", &"after "]))
            }
            (TriggerRow::New, TriggerTime::Before) => Ok(variable),
        }
    }

    // Conditions and cursors -------------------------------------------------------------------------------------

    /// Adds a condition.
    ///
    /// # Errors
    /// 1332.
    pub(super) fn declare_condition(&mut self, name: String, condition: ConditionValue) -> Result<()> {
        let block = self.block();
        if block.conditions.iter().any(|(known, _)| same_name(known, &name)) {
            return Err(Error::new(ER_SP_DUP_COND, &[&name]));
        }
        block.conditions.push((name, condition));
        Ok(())
    }

    /// Returns the condition that a name means.
    ///
    /// # Errors
    /// 1319.
    pub(super) fn condition(&self, name: &str) -> Result<ConditionValue> {
        let mut known = self.blocks.iter().rev().flat_map(|block| &block.conditions);
        match known.find(|(known, _)| same_name(known, name)) {
            Some((_, condition)) => Ok(condition.clone()),
            None => Err(Error::new(ER_SP_COND_MISMATCH, &[&name])),
        }
    }

    /// Records the conditions of a handler.
    ///
    /// # Errors
    /// 1413 if the block has a handler for one of them.
    pub(super) fn declare_handler(&mut self, conditions: &[ConditionValue]) -> Result<()> {
        let block = self.block();
        for (index, condition) in conditions.iter().enumerate() {
            if block.handled.contains(condition) || conditions[..index].contains(condition) {
                return Err(Error::new(ER_SP_DUP_HANDLER, &[]));
            }
        }
        block.handled.extend_from_slice(conditions);
        Ok(())
    }

    /// Adds a cursor.
    ///
    /// # Errors
    /// 1333.
    pub(super) fn declare_cursor(&mut self, cursor: Cursor) -> Result<()> {
        let number = self.cursors.len();
        let name = cursor.name.clone();
        let block = self.block();
        if block.cursors.iter().any(|(known, _)| same_name(known, &name)) {
            return Err(Error::new(ER_SP_DUP_CURS, &[&name]));
        }
        block.cursors.push((name, number));
        self.cursors.push(cursor);
        Ok(())
    }

    /// Adds a cursor that has no name and no parameters. Returns its number.
    pub(super) fn add_cursor(&mut self, query: SqlStatement) -> usize {
        self.cursors.push(Cursor {
            name: String::new(),
            parameters: Vec::new(),
            query,
        });
        self.cursors.len() - 1
    }

    /// Checks the number of arguments for a cursor.
    ///
    /// # Errors
    /// 4080.
    pub(super) fn check_cursor_arguments(&self, cursor: usize, arguments: usize) -> Result<()> {
        let cursor = &self.cursors[cursor];
        match cursor.parameters.len() == arguments {
            true => Ok(()),
            false => Err(Error::new(ER_WRONG_PARAMCOUNT_TO_CURSOR, &[&cursor.name])),
        }
    }

    /// Returns the cursor that a name means.
    ///
    /// # Errors
    /// 1324.
    pub(super) fn cursor(&self, name: &str) -> Result<usize> {
        let mut known = self.blocks.iter().rev().flat_map(|block| &block.cursors);
        match known.find(|(known, _)| same_name(known, name)) {
            Some((_, cursor)) => Ok(*cursor),
            None => Err(Error::new(ER_SP_CURSOR_MISMATCH, &[&name])),
        }
    }

    // Labels -----------------------------------------------------------------------------------------------------

    /// Begins a statement that can be left.
    ///
    /// # Errors
    /// 1309 if a statement around it has this label.
    pub(super) fn begin_label(&mut self, name: Option<String>, is_loop: bool) -> Result<Label> {
        if let Some(name) = &name
            && self.find_label(name).is_some()
        {
            return Err(Error::new(ER_SP_LABEL_REDEFINE, &[name]));
        }
        let label = Label(self.labels_made);
        self.labels_made += 1;
        self.labels.push(LabelName {
            name,
            label,
            is_loop,
            is_handler: false,
        });
        Ok(label)
    }

    /// Ends such a statement; `name` is the label at its end.
    ///
    /// # Errors
    /// 1310 if it is another one.
    pub(super) fn end_label(&mut self, name: Option<String>) -> Result<()> {
        let begun = self.labels.pop().and_then(|label| label.name);
        match name {
            Some(name) if !begun.is_some_and(|begun| same_name(&begun, &name)) => {
                Err(Error::new(ER_SP_LABEL_MISMATCH, &[&name]))
            }
            _ => Ok(()),
        }
    }

    /// Begins and ends the statement of a handler.
    pub(super) fn begin_handler(&mut self) {
        self.labels.push(LabelName {
            name: None,
            label: Label(u32::MAX),
            is_loop: false,
            is_handler: true,
        });
    }

    pub(super) fn end_handler(&mut self) {
        self.labels.pop();
    }

    fn find_label(&self, name: &str) -> Option<&LabelName> {
        let visible = self.labels.iter().rev().take_while(|label| !label.is_handler);
        let mut named =
            visible.filter(|label| label.name.as_ref().is_some_and(|known| same_name(known, name)));
        named.next()
    }

    /// Returns the label of LEAVE or ITERATE.
    ///
    /// # Errors
    /// 1308.
    pub(super) fn label(&self, name: &str, statement: &'static str) -> Result<Label> {
        match self.find_label(name) {
            Some(label) if label.is_loop || statement == "LEAVE" => Ok(label.label),
            _ => Err(Error::new(ER_SP_LILABEL_MISMATCH, &[&statement, &name])),
        }
    }
}

/// Compares names of a program, which are case-insensitive.
fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}
