//! Compilation: from the tree of a program to instructions with jumps.

use paceline_syntax::ast::{BinaryOp, Expr, Literal};
use paceline_syntax::{
    Block, Branch, ConditionValue, Cursor, ForRange, ForRows, HandlerAction, Label, LocatedExpr,
    LocatedStatement, Loop, Program, ProgramStatement, QueryStatement, SetItem, SqlStatement, Statement,
    Target, Variable, VariableKind,
};
use std::ops::Range;

/// Instructions of a program.
#[derive(Debug)]
pub struct Code {
    pub(crate) variables: Vec<Variable>,
    pub(crate) parameters: usize,
    pub(crate) cursors: Vec<Cursor>,
    pub(crate) instructions: Vec<Instruction>,
    /// Line of each instruction in the text.
    pub(crate) lines: Vec<u32>,
    pub(crate) handlers: Vec<CompiledHandler>,
}

/// Index of an instruction.
pub(crate) type Address = usize;

/// Place of an expression or a statement in a program, by which a caller can keep what it has made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodePlace {
    pub(crate) instruction: Address,
    pub(crate) item: usize,
}

impl CodePlace {
    /// Returns the place of one of the expressions of the statement here: an item of SET, an argument of CALL.
    pub fn of_item(self, item: usize) -> CodePlace {
        CodePlace { item, ..self }
    }

    /// Returns the index of the instruction; less than [`Code::instruction_count`].
    pub fn instruction(self) -> usize {
        self.instruction
    }

    /// Returns the number of the expression within its statement; 0 if it is the only one.
    pub fn item(self) -> usize {
        self.item
    }
}

#[derive(Debug)]
pub(crate) enum Instruction {
    /// Gives a variable a value; `None` is NULL.
    Assign {
        variable: usize,
        value: Option<Expr>,
    },
    /// Gives the fields of a row their values.
    AssignRow {
        row: usize,
        value: RowValue,
    },
    /// Gives the fields of a row the values of a query's row.
    AssignQuery {
        row: usize,
        query: SqlStatement,
    },
    /// Gives a row the columns of a cursor's query as its fields.
    DefineRow {
        row: usize,
        cursor: usize,
    },
    /// Executes a statement of SQL.
    Execute(SqlStatement),
    /// Executes a query and stores its row.
    SelectInto {
        query: SqlStatement,
        targets: Vec<Target>,
    },
    Jump(Address),
    /// Jumps to `otherwise` if the condition is not true, and to `after` if it fails and a CONTINUE handler is found.
    JumpUnless {
        condition: Expr,
        otherwise: Address,
        after: Address,
    },
    /// Error 1339.
    CaseNotFound,
    /// Begins a block with these handlers.
    BeginHandlers(Vec<usize>),
    /// Ends the innermost block with handlers.
    EndHandlers,
    /// Ends the statement of a handler.
    EndHandler,
    /// Opens a cursor, whose parameters have been set.
    Open {
        cursor: usize,
    },
    Fetch {
        cursor: usize,
        into: Vec<usize>,
    },
    /// Reads the next row of a cursor, if there is one, into a row variable.
    FetchRow {
        cursor: usize,
        row: [usize; 1],
    },
    /// Jumps to `end` unless the last [`Instruction::FetchRow`] has read a row of the cursor.
    JumpUnlessFound {
        cursor: usize,
        end: Address,
    },
    Close {
        cursor: usize,
    },
    /// Takes the next row of the group.
    FetchGroup,
    /// Closes those of the cursors that are open.
    CloseOpen(Range<usize>),
    Return(Expr),
    /// Ends the program.
    End,
}

/// Value that is assigned to a row variable.
#[derive(Debug)]
pub enum RowValue {
    /// NULL for each field.
    Null,
    /// `ROW (…)`: a value for each field.
    Fields(Vec<Expr>),
    /// Another row variable, by number.
    Variable(usize),
    /// An expression that is not a row: error 1241.
    Scalar,
}

#[derive(Debug)]
pub(crate) struct CompiledHandler {
    pub action: HandlerAction,
    pub conditions: Vec<ConditionValue>,
    /// Start of its statement.
    pub start: Address,
    /// End of its block, where an EXIT handler leads.
    pub exit: Address,
}

impl Code {
    /// Compiles a program.
    pub fn compile(program: &Program) -> Code {
        let mut compiler = Compiler {
            code: Code {
                variables: program.variables.clone(),
                parameters: program.parameters,
                cursors: program.cursors.clone(),
                instructions: Vec::new(),
                lines: Vec::new(),
                handlers: Vec::new(),
            },
            open: Vec::new(),
            line: 1,
        };
        compiler.statement(&program.body);
        compiler.emit(Instruction::End);
        compiler.code
    }

    /// Returns the variables, parameters first.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the number of instructions.
    pub fn instruction_count(&self) -> usize {
        self.instructions.len()
    }

    /// Returns the number of parameters.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Returns the cursors.
    pub fn cursors(&self) -> &[Cursor] {
        &self.cursors
    }
}

/// A statement around the one that is being compiled.
enum Open {
    /// A block with handlers, or with cursors to close.
    Block {
        has_handlers: bool,
        cursors: Range<usize>,
    },
    /// A statement that LEAVE and ITERATE can mean.
    Labelled {
        label: Label,
        /// Jumps to its end.
        leaves: Vec<Address>,
        /// Jumps to its next pass.
        iterates: Vec<Address>,
    },
}

struct Compiler {
    code: Code,
    open: Vec<Open>,
    line: u32,
}

impl Compiler {
    fn here(&self) -> Address {
        self.code.instructions.len()
    }

    fn emit(&mut self, instruction: Instruction) -> Address {
        self.code.instructions.push(instruction);
        self.code.lines.push(self.line);
        self.here() - 1
    }

    /// Sets the target of a jump to the next instruction.
    fn land(&mut self, jump: Address) {
        let here = self.here();
        self.aim(jump, here);
    }

    fn aim(&mut self, jump: Address, target: Address) {
        match &mut self.code.instructions[jump] {
            Instruction::Jump(address) => *address = target,
            Instruction::JumpUnless { otherwise, .. } => *otherwise = target,
            Instruction::JumpUnlessFound { end, .. } => *end = target,
            other => unreachable!("{other:?} is no jump"),
        }
    }

    fn add_variable(&mut self) -> usize {
        self.code.variables.push(Variable {
            name: String::new(),
            kind: VariableKind::Operand,
        });
        self.code.variables.len() - 1
    }

    fn statements(&mut self, statements: &[LocatedStatement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, located: &LocatedStatement) {
        self.line = located.line;
        match &located.statement {
            ProgramStatement::Block(block) => self.block(block),
            ProgramStatement::If { branches, otherwise } => {
                let conditions: Vec<LocatedExpr> =
                    branches.iter().map(|branch| branch.condition.clone()).collect();
                self.branches(&conditions, branches, |compiler| compiler.statements(otherwise));
            }
            ProgramStatement::Case {
                operand,
                branches,
                otherwise,
                end_line,
            } => self.case(operand.as_ref(), branches, otherwise.as_deref(), *end_line),
            ProgramStatement::Loop(parsed) => self.r#loop(parsed),
            ProgramStatement::ForRange(parsed) => self.for_range(parsed),
            ProgramStatement::ForRows(parsed) => self.for_rows(parsed),
            ProgramStatement::Leave(label) => self.jump_out(*label, JumpKind::Leave),
            ProgramStatement::Iterate(label) => self.jump_out(*label, JumpKind::Iterate),
            ProgramStatement::Return(value) => {
                self.emit(Instruction::Return(value.clone()));
            }
            ProgramStatement::Open { cursor, arguments } => {
                self.open_arguments(*cursor, arguments);
                self.emit(Instruction::Open { cursor: *cursor });
            }
            ProgramStatement::Fetch { cursor, into } => {
                self.emit(Instruction::Fetch {
                    cursor: *cursor,
                    into: into.clone(),
                });
            }
            ProgramStatement::Close { cursor } => {
                self.emit(Instruction::Close { cursor: *cursor });
            }
            ProgramStatement::FetchGroup => {
                self.emit(Instruction::FetchGroup);
            }
            ProgramStatement::Assign(items) => items.iter().for_each(|item| self.assign(item)),
            ProgramStatement::Sql(sql) => self.sql(sql),
        }
    }

    /// Gives the parameters of a cursor their values.
    fn open_arguments(&mut self, cursor: usize, arguments: &[Expr]) {
        let parameters = self.code.cursors[cursor].parameters.clone();
        for (variable, value) in parameters.into_iter().zip(arguments) {
            let value = Some(value.clone());
            self.emit(Instruction::Assign { variable, value });
        }
    }

    fn assign(&mut self, item: &SetItem) {
        match item {
            SetItem::ProgramVariable { variable, value } => self.assign_variable(*variable, value.as_ref()),
            other => {
                self.emit(Instruction::Execute(SqlStatement {
                    statement: Statement::Set(vec![other.clone()]),
                    text: String::new(),
                }));
            }
        }
    }

    fn assign_variable(&mut self, variable: usize, value: Option<&Expr>) {
        if !self.is_row(variable) {
            let value = value.cloned();
            self.emit(Instruction::Assign { variable, value });
            return;
        }
        let value = match value.map(Expr::without_parentheses) {
            None | Some(Expr::Literal(Literal::Null)) => RowValue::Null,
            Some(Expr::Row(fields)) => RowValue::Fields(fields.clone()),
            Some(Expr::Parameter(other)) if self.is_row(*other) => RowValue::Variable(*other),
            Some(Expr::Subquery(query)) => {
                let query = QueryStatement::of_query((**query).clone());
                self.emit(Instruction::AssignQuery {
                    row: variable,
                    query: SqlStatement {
                        statement: Statement::Query(Box::new(query)),
                        text: String::new(),
                    },
                });
                return;
            }
            Some(_) => RowValue::Scalar,
        };
        self.emit(Instruction::AssignRow { row: variable, value });
    }

    fn is_row(&self, variable: usize) -> bool {
        matches!(
            self.code.variables[variable].kind,
            VariableKind::Row { .. } | VariableKind::RowOf { .. }
        )
    }

    fn sql(&mut self, sql: &SqlStatement) {
        if let Statement::Query(query) = &sql.statement
            && let Some(paceline_syntax::SelectInto::Variables(targets)) = &query.into
        {
            let targets = targets.clone();
            let mut query = sql.clone();
            if let Statement::Query(statement) = &mut query.statement {
                statement.into = None;
            }
            self.emit(Instruction::SelectInto { query, targets });
            return;
        }
        if let Statement::Set(items) = &sql.statement {
            // Each item is executed before the next one is evaluated, as in MariaDB's programs.
            items.iter().for_each(|item| self.assign(item));
            return;
        }
        self.emit(Instruction::Execute(sql.clone()));
    }

    fn block(&mut self, block: &Block) {
        for initial in &block.initial {
            self.line = initial.line;
            if let VariableKind::RowOf { cursor } = self.code.variables[initial.variable].kind {
                let row = initial.variable;
                self.emit(Instruction::DefineRow { row, cursor });
            }
            self.assign_variable(initial.variable, initial.value.as_ref());
        }
        self.begin_labelled(block.label);
        let has_handlers = !block.handlers.is_empty();
        let first = self.code.handlers.len();
        if has_handlers {
            self.handlers(block);
        }
        self.open.push(Open::Block {
            has_handlers,
            cursors: block.cursors.clone(),
        });
        self.statements(&block.statements);
        self.open.pop();
        let exit = self.here();
        for handler in &mut self.code.handlers[first..first + block.handlers.len()] {
            handler.exit = exit;
        }
        self.leave_block(has_handlers, block.cursors.clone());
        self.end_labelled(block.label, None);
    }

    /// Compiles the statements of a block's handlers, which are jumped over, and begins their activity.
    fn handlers(&mut self, block: &Block) {
        let first = self.code.handlers.len();
        // The handlers of a block have consecutive numbers; those of blocks in their statements come after them.
        for handler in &block.handlers {
            self.code.handlers.push(CompiledHandler {
                action: handler.action,
                conditions: handler.conditions.clone(),
                start: 0,
                exit: 0,
            });
        }
        let over = self.emit(Instruction::Jump(0));
        for (index, handler) in block.handlers.iter().enumerate() {
            self.code.handlers[first + index].start = self.here();
            self.statement(&handler.statement);
            self.emit(Instruction::EndHandler);
        }
        self.land(over);
        self.emit(Instruction::BeginHandlers(
            (first..first + block.handlers.len()).collect(),
        ));
    }

    fn leave_block(&mut self, has_handlers: bool, cursors: Range<usize>) {
        if has_handlers {
            self.emit(Instruction::EndHandlers);
        }
        if !cursors.is_empty() {
            self.emit(Instruction::CloseOpen(cursors));
        }
    }

    fn begin_labelled(&mut self, label: Label) {
        self.open.push(Open::Labelled {
            label,
            leaves: Vec::new(),
            iterates: Vec::new(),
        });
    }

    /// Ends a labelled statement here; `next` is where ITERATE leads.
    fn end_labelled(&mut self, expected: Label, next: Option<Address>) {
        let Some(Open::Labelled {
            label,
            leaves,
            iterates,
        }) = self.open.pop()
        else {
            unreachable!("labelled statements end in the order in which they begin")
        };
        debug_assert_eq!(label, expected);
        for jump in leaves {
            self.land(jump);
        }
        for jump in iterates {
            self.aim(jump, next.expect("ITERATE means a loop"));
        }
    }

    fn jump_out(&mut self, label: Label, way: JumpKind) {
        let is_meant = |open: &Open| matches!(open, Open::Labelled { label: known, .. } if *known == label);
        let place = self
            .open
            .iter()
            .rposition(is_meant)
            .expect("the parser has found the label");
        let left: Vec<(bool, Range<usize>)> = (self.open[place + 1..].iter().rev())
            .filter_map(|open| match open {
                Open::Block {
                    has_handlers,
                    cursors,
                } => Some((*has_handlers, cursors.clone())),
                Open::Labelled { .. } => None,
            })
            .collect();
        for (has_handlers, cursors) in left {
            self.leave_block(has_handlers, cursors);
        }
        let jump = self.emit(Instruction::Jump(0));
        if let Open::Labelled { leaves, iterates, .. } = &mut self.open[place] {
            match way {
                JumpKind::Leave => leaves.push(jump),
                JumpKind::Iterate => iterates.push(jump),
            }
        }
    }

    /// Compiles branches, of which the first whose condition is true is executed.
    fn branches(
        &mut self,
        conditions: &[LocatedExpr],
        branches: &[Branch],
        otherwise: impl FnOnce(&mut Self),
    ) {
        let first = self.here();
        let mut ends = Vec::new();
        for (condition, branch) in conditions.iter().zip(branches) {
            let jump = self.jump_unless(condition, 0);
            self.statements(&branch.statements);
            ends.push(self.emit(Instruction::Jump(0)));
            self.land(jump);
        }
        otherwise(self);
        for jump in ends {
            self.land(jump);
        }
        // Branches within this statement have theirs already.
        let end = self.here();
        for instruction in &mut self.code.instructions[first..] {
            if let Instruction::JumpUnless { after: after @ 0, .. } = instruction {
                *after = end;
            }
        }
    }

    fn case(
        &mut self,
        operand: Option<&LocatedExpr>,
        branches: &[Branch],
        otherwise: Option<&[LocatedStatement]>,
        end_line: u32,
    ) {
        let conditions: Vec<LocatedExpr> = match operand {
            None => branches.iter().map(|branch| branch.condition.clone()).collect(),
            Some(operand) => {
                // The operand is evaluated once.
                let variable = self.add_variable();
                let value = Some(operand.expr.clone());
                self.line = operand.line;
                self.emit(Instruction::Assign { variable, value });
                (branches.iter())
                    .map(|branch| LocatedExpr {
                        line: branch.condition.line,
                        expr: Expr::Binary {
                            left: Box::new(Expr::Parameter(variable)),
                            op: BinaryOp::Equal,
                            right: Box::new(branch.condition.expr.clone()),
                        },
                    })
                    .collect()
            }
        };
        self.branches(&conditions, branches, |compiler| match otherwise {
            Some(statements) => compiler.statements(statements),
            None => {
                compiler.line = end_line;
                compiler.emit(Instruction::CaseNotFound);
            }
        });
    }

    fn r#loop(&mut self, parsed: &Loop) {
        self.begin_labelled(parsed.label);
        let start = self.here();
        let out = { parsed.while_true.as_ref() }.map(|condition| self.jump_unless(condition, 0));
        self.statements(&parsed.statements);
        match &parsed.until {
            Some(condition) => {
                let again = self.jump_unless(condition, start);
                self.set_after(again);
            }
            None => {
                self.emit(Instruction::Jump(start));
            }
        }
        if let Some(out) = out {
            self.land(out);
            self.set_after(out);
        }
        self.end_labelled(parsed.label, Some(start));
    }

    /// Compiles a FOR loop over the rows of a cursor, which is closed when the loop is left.
    fn for_rows(&mut self, parsed: &ForRows) {
        let (row, cursor) = (parsed.variable, parsed.cursor);
        self.line = parsed.line;
        self.open_arguments(cursor, &parsed.arguments);
        self.emit(Instruction::DefineRow { row, cursor });
        self.emit(Instruction::Open { cursor });
        let cursors = cursor..cursor + 1;
        // LEAVE and ITERATE of this loop stay within the block. LEAVE of another one closes the cursor.
        self.open.push(Open::Block {
            has_handlers: false,
            cursors: cursors.clone(),
        });
        self.begin_labelled(parsed.label);
        let next = self.emit(Instruction::FetchRow { cursor, row: [row] });
        let out = self.emit(Instruction::JumpUnlessFound { cursor, end: 0 });
        self.statements(&parsed.statements);
        self.emit(Instruction::Jump(next));
        self.land(out);
        self.end_labelled(parsed.label, Some(next));
        self.open.pop();
        self.emit(Instruction::CloseOpen(cursors));
    }

    fn jump_unless(&mut self, condition: &LocatedExpr, otherwise: Address) -> Address {
        self.line = condition.line;
        self.emit(Instruction::JumpUnless {
            condition: condition.expr.clone(),
            otherwise,
            after: 0,
        })
    }

    /// Sets where a CONTINUE handler leads after a failed condition: here.
    fn set_after(&mut self, jump: Address) {
        let here = self.here();
        if let Instruction::JumpUnless { after, .. } = &mut self.code.instructions[jump] {
            *after = here;
        }
    }

    fn for_range(&mut self, parsed: &ForRange) {
        let variable = || Box::new(Expr::Parameter(parsed.variable));
        let (first, last, step, within) = match parsed.reverse {
            false => (&parsed.from, &parsed.to, BinaryOp::Add, BinaryOp::LessOrEqual),
            true => (
                &parsed.to,
                &parsed.from,
                BinaryOp::Subtract,
                BinaryOp::GreaterOrEqual,
            ),
        };
        self.begin_labelled(parsed.label);
        let assign = |compiler: &mut Self, variable: usize, value: Expr| {
            let value = Some(value);
            compiler.emit(Instruction::Assign { variable, value })
        };
        self.line = first.line;
        assign(self, parsed.variable, first.expr.clone());
        self.line = last.line;
        assign(self, parsed.last, last.expr.clone());
        let test = self.emit(Instruction::JumpUnless {
            condition: Expr::Binary {
                left: variable(),
                op: within,
                right: Box::new(Expr::Parameter(parsed.last)),
            },
            otherwise: 0,
            after: 0,
        });
        self.statements(&parsed.statements);
        let next = self.here();
        let one = Box::new(Expr::number("1"));
        assign(
            self,
            parsed.variable,
            Expr::Binary {
                left: variable(),
                op: step,
                right: one,
            },
        );
        self.emit(Instruction::Jump(test));
        self.land(test);
        self.set_after(test);
        self.end_labelled(parsed.label, Some(next));
    }
}

/// Kind of a jump out of statements.
enum JumpKind {
    Leave,
    Iterate,
}
