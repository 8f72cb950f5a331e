//! One execution of a program.

// A variant is documented by its statement; a field whose name is the clause needs no comment.
#![allow(missing_docs)]

use crate::code::{Address, Code, CodePlace, CompiledHandler, Instruction, RowValue};
use paceline_syntax::ast::Expr;
use paceline_syntax::{ConditionValue, HandlerAction, SqlStatement, Target};
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, Value};

/// Next step of a program, which the caller performs.
#[derive(Debug)]
pub enum Request<'c> {
    /// Evaluate an expression and convert its value for a variable. Answer: [`Answer::Value`].
    Assign {
        variable: usize,
        value: Option<&'c Expr>,
    },
    /// Give the fields of a row their values, one after the other: each sees those before. Answer: [`Answer::Values`].
    AssignRow { row: usize, value: &'c RowValue },
    /// Give the fields of a row the values of a query's row; NULL if it has none. Answer: [`Answer::Values`].
    AssignQuery { row: usize, query: &'c SqlStatement },
    /// Give a row the columns of a cursor's query as its fields. Answer: [`Answer::Done`].
    DefineRow { row: usize, query: &'c SqlStatement },
    /// Evaluate a condition. Answer: [`Answer::Truth`].
    Test(&'c Expr),
    /// Execute a statement. Answer: [`Answer::Done`].
    Execute(&'c SqlStatement),
    /// Execute a query, whose row is for `targets`. Answer: [`Answer::Values`], with the converted values of those
    /// targets that are variables; or [`Answer::Done`] if there was no row.
    SelectInto {
        query: &'c SqlStatement,
        targets: &'c [Target],
    },
    /// Execute the query of a cursor and keep its rows. Answer: [`Answer::Done`].
    Open { cursor: usize, query: &'c SqlStatement },
    /// Read the next row of an open cursor. Answer: as of [`Request::SelectInto`].
    Fetch { cursor: usize, into: &'c [usize] },
    /// Read the next row of an open cursor for a FOR loop. Answer: [`Answer::Values`], or [`Answer::Done`] after the
    /// last.
    FetchNext { cursor: usize, into: &'c [usize] },
    /// Forget the rows of a cursor. Answer: [`Answer::Done`].
    Close { cursor: usize },
    /// Take the next row of an aggregate function's group: its arguments. Answer: [`Answer::Values`], or
    /// [`Answer::Done`] if the parameters have them.
    FetchGroup,
    /// Evaluate the value that the function returns. Answer: [`Answer::Value`].
    Return(&'c Expr),
    /// Nothing: the program has ended, with the value of its RETURN.
    End(Option<Value>),
}

/// Result of a request.
#[derive(Debug)]
pub enum Answer {
    Done,
    Value(Value),
    Truth(bool),
    /// Values of variables, by number.
    Values(Vec<(usize, Value)>),
}

/// An error or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedCondition {
    pub level: RaisedLevel,
    pub code: u16,
    pub sqlstate: String,
    pub message: String,
}

/// Severity of what is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaisedLevel {
    Warning,
    Error,
    /// An error that ends every program: KILL, or no memory.
    Fatal,
}

impl RaisedCondition {
    /// Creates an error of the program itself.
    fn error(code: ErrorCode) -> RaisedCondition {
        RaisedCondition {
            level: RaisedLevel::Error,
            code: code.number(),
            sqlstate: code.sqlstate().to_owned(),
            message: code.message(&[]),
        }
    }
}

/// Handlers of a block that has begun.
struct ActiveBlock {
    handlers: Vec<usize>,
}

/// A handler whose statement is being executed.
struct RunningHandler {
    /// Block of the handler: its index among the active blocks.
    block: usize,
    /// Number of active blocks when it began: those from `block` up to here are not active meanwhile.
    blocks: usize,
    /// Where the program continues after it.
    then: Then,
    raised: RaisedCondition,
}

#[derive(Clone, Copy)]
enum Then {
    Continue(Address),
    Exit(Address),
}

/// One execution of a program.
pub struct Run<'c> {
    code: &'c Code,
    at: Address,
    values: Vec<Value>,
    /// By cursor: whether it is open.
    open: Vec<bool>,
    /// By cursor: whether the last FETCH of a FOR loop since it was opened has read a row.
    found: Vec<bool>,
    blocks: Vec<ActiveBlock>,
    running: Vec<RunningHandler>,
    /// The last error of the program itself for which a handler was found, until the caller takes it.
    raised: Option<RaisedCondition>,
    returned: Option<Value>,
}

impl<'c> Run<'c> {
    /// Begins an execution with the values of the parameters. All other variables are NULL.
    pub fn new(code: &'c Code, parameters: Vec<Value>) -> Run<'c> {
        debug_assert!(parameters.len() <= code.variables.len());
        let mut values = parameters;
        values.resize(code.variables.len(), Value::Null);
        Run {
            code,
            at: 0,
            values,
            open: vec![false; code.cursors.len()],
            found: vec![false; code.cursors.len()],
            blocks: Vec::new(),
            running: Vec::new(),
            raised: None,
            returned: None,
        }
    }

    /// Sets the value of a variable before the first step: a column of NEW or OLD.
    pub fn set_value(&mut self, variable: usize, value: Value) {
        self.values[variable] = value;
    }

    /// Returns the values of the variables: the parameters of all statements and expressions of the program.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the values of the variables at the end; those of the parameters first.
    pub fn into_values(self) -> Vec<Value> {
        self.values
    }

    /// Returns the place of the expression or statement of the last request.
    pub fn place(&self) -> CodePlace {
        CodePlace {
            instruction: self.at,
            item: 0,
        }
    }

    /// Returns the line of the statement that is being executed, from 1.
    pub fn line(&self) -> u32 {
        self.code.lines[self.at]
    }

    /// Returns what is being handled, for RESIGNAL.
    pub fn handled(&self) -> Option<&RaisedCondition> {
        self.running.last().map(|handler| &handler.raised)
    }

    /// Takes the error of the program itself, rather than of a request, whose handler the last request belongs to.
    pub fn take_raised(&mut self) -> Option<RaisedCondition> {
        self.raised.take()
    }

    /// Returns what the program needs next. Each request must be answered before the next call.
    ///
    /// # Errors
    /// An error of the program itself that no handler is for: a CASE without a branch, a cursor that is open already.
    pub fn request(&mut self) -> Result<Request<'c>, RaisedCondition> {
        loop {
            let code = self.code;
            match &code.instructions[self.at] {
                Instruction::Assign { variable, value } => {
                    return Ok(Request::Assign {
                        variable: *variable,
                        value: value.as_ref(),
                    });
                }
                Instruction::AssignRow { row, value } => {
                    return Ok(Request::AssignRow { row: *row, value });
                }
                Instruction::AssignQuery { row, query } => {
                    return Ok(Request::AssignQuery { row: *row, query });
                }
                Instruction::DefineRow { row, cursor } => {
                    return Ok(Request::DefineRow {
                        row: *row,
                        query: &code.cursors[*cursor].query,
                    });
                }
                Instruction::Execute(sql) => return Ok(Request::Execute(sql)),
                Instruction::SelectInto { query, targets } => {
                    return Ok(Request::SelectInto { query, targets });
                }
                Instruction::Jump(target) => self.at = *target,
                Instruction::JumpUnless { condition, .. } => return Ok(Request::Test(condition)),
                Instruction::CaseNotFound => self.raise_own(ER_SP_CASE_NOT_FOUND)?,
                Instruction::BeginHandlers(handlers) => {
                    self.blocks.push(ActiveBlock {
                        handlers: handlers.clone(),
                    });
                    self.at += 1;
                }
                Instruction::EndHandlers => {
                    self.blocks.pop();
                    self.at += 1;
                }
                Instruction::EndHandler => self.end_handler(),
                Instruction::Open { cursor } => match self.open[*cursor] {
                    true => self.raise_own(ER_SP_CURSOR_ALREADY_OPEN)?,
                    false => {
                        return Ok(Request::Open {
                            cursor: *cursor,
                            query: &code.cursors[*cursor].query,
                        });
                    }
                },
                Instruction::Fetch { cursor, into } => match self.open[*cursor] {
                    true => {
                        return Ok(Request::Fetch {
                            cursor: *cursor,
                            into,
                        });
                    }
                    false => self.raise_own(ER_SP_CURSOR_NOT_OPEN)?,
                },
                Instruction::FetchRow { cursor, row } => match self.open[*cursor] {
                    true => {
                        return Ok(Request::FetchNext {
                            cursor: *cursor,
                            into: row,
                        });
                    }
                    false => self.raise_own(ER_SP_CURSOR_NOT_OPEN)?,
                },
                Instruction::JumpUnlessFound { cursor, end } => {
                    match (self.open[*cursor], self.found[*cursor]) {
                        (true, true) => self.at += 1,
                        (true, false) => self.at = *end,
                        (false, _) => self.raise_own(ER_SP_CURSOR_NOT_OPEN)?,
                    }
                }
                Instruction::Close { cursor } => match self.open[*cursor] {
                    true => return Ok(Request::Close { cursor: *cursor }),
                    false => self.raise_own(ER_SP_CURSOR_NOT_OPEN)?,
                },
                Instruction::CloseOpen(cursors) => match cursors.clone().find(|cursor| self.open[*cursor]) {
                    Some(cursor) => return Ok(Request::Close { cursor }),
                    None => self.at += 1,
                },
                Instruction::FetchGroup => return Ok(Request::FetchGroup),
                Instruction::Return(value) => match self.returned.take() {
                    Some(value) => return Ok(Request::End(Some(value))),
                    None => return Ok(Request::Return(value)),
                },
                Instruction::End => return Ok(Request::End(None)),
            }
        }
    }

    /// Takes the answer to the last request, and the warnings that it has led to.
    ///
    /// # Errors
    /// The error itself, if no handler is for it: the program has failed.
    pub fn answer(
        &mut self,
        answer: Result<Answer, RaisedCondition>,
        warnings: &[RaisedCondition],
    ) -> Result<(), RaisedCondition> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(raised) => return self.raise(raised),
        };
        let code = self.code;
        match (&code.instructions[self.at], answer) {
            (Instruction::Assign { variable, .. }, Answer::Value(value)) => {
                self.values[*variable] = value;
                self.at += 1;
            }
            (Instruction::JumpUnless { otherwise, .. }, Answer::Truth(is_true)) => {
                self.at = if is_true { self.at + 1 } else { *otherwise };
            }
            (Instruction::Open { cursor }, _) => {
                self.open[*cursor] = true;
                self.found[*cursor] = false;
                self.at += 1;
            }
            (Instruction::Close { cursor }, _) => {
                self.open[*cursor] = false;
                self.at += 1;
            }
            (Instruction::CloseOpen(cursors), _) => {
                if let Some(cursor) = cursors.clone().find(|cursor| self.open[*cursor]) {
                    self.open[cursor] = false;
                }
            }
            (Instruction::Return(_), Answer::Value(value)) => self.returned = Some(value),
            (Instruction::FetchRow { cursor, .. }, Answer::Done) => {
                self.found[*cursor] = false;
                self.at += 1;
            }
            (instruction, Answer::Values(values)) => {
                if let Instruction::FetchRow { cursor, .. } = instruction {
                    self.found[*cursor] = true;
                }
                for (variable, value) in values {
                    // A field that the program does not name.
                    if variable >= self.values.len() {
                        self.values.resize(variable + 1, Value::Null);
                    }
                    self.values[variable] = value;
                }
                self.at += 1;
            }
            (_, Answer::Done) => self.at += 1,
            (instruction, answer) => unreachable!("{answer:?} is no answer to {instruction:?}"),
        }
        // The last warning counts, as in MariaDB.
        match warnings.last() {
            Some(warning) if self.find_handler(warning).is_some() => {
                // The statement has been executed, and its successor is where the program stands.
                let next = self.at;
                self.handle(warning.clone(), next);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Goes to the handler of an error of the program itself.
    fn raise_own(&mut self, code: ErrorCode) -> Result<(), RaisedCondition> {
        let raised = RaisedCondition::error(code);
        self.raise(raised.clone())?;
        self.raised = Some(raised);
        Ok(())
    }

    /// Goes to the handler of an error at the current instruction.
    fn raise(&mut self, raised: RaisedCondition) -> Result<(), RaisedCondition> {
        let next = match &self.code.instructions[self.at] {
            Instruction::JumpUnless { after, .. } => *after,
            Instruction::JumpUnlessFound { end, .. } => *end,
            _ => self.at + 1,
        };
        match raised.level != RaisedLevel::Fatal && self.find_handler(&raised).is_some() {
            true => {
                self.handle(raised, next);
                Ok(())
            }
            false => Err(raised),
        }
    }

    /// Begins the handler of something that has one; `next` is where CONTINUE leads.
    fn handle(&mut self, raised: RaisedCondition, next: Address) {
        let Some((block, handler)) = self.find_handler(&raised) else {
            return;
        };
        // Handlers of inner blocks that were interrupted by this one never end.
        if handler.action == HandlerAction::Exit {
            self.running.retain(|running| running.block < block);
        }
        self.running.push(RunningHandler {
            block,
            blocks: self.blocks.len(),
            then: match handler.action {
                HandlerAction::Continue => Then::Continue(next),
                HandlerAction::Exit => Then::Exit(handler.exit),
            },
            raised,
        });
        self.at = handler.start;
    }

    fn end_handler(&mut self) {
        let ended = self
            .running
            .pop()
            .expect("a handler's statement is only reached by its handler");
        match ended.then {
            Then::Continue(next) => self.at = next,
            Then::Exit(exit) => {
                self.blocks.truncate(ended.block + 1);
                self.at = exit;
            }
        }
    }

    /// Returns the handler for a condition, and the index of its block.
    fn find_handler(&self, raised: &RaisedCondition) -> Option<(usize, &'c CompiledHandler)> {
        let code = self.code;
        let is_active = |block: usize| {
            let hides = |running: &RunningHandler| (running.block..running.blocks).contains(&block);
            !self.running.iter().any(hides)
        };
        for (index, block) in self.blocks.iter().enumerate().rev() {
            if !is_active(index) {
                continue;
            }
            let handlers = block.handlers.iter().map(|handler| &code.handlers[*handler]);
            let specific = handlers.filter_map(|handler| {
                let conditions = handler.conditions.iter();
                let best = conditions
                    .filter_map(|condition| specificity(condition, raised))
                    .max()?;
                Some((best, handler))
            });
            // Among equals the first one: max_by_key would return the last.
            let best = specific.fold(None, |best: Option<(u8, &CompiledHandler)>, found| match best {
                Some((specificity, _)) if specificity >= found.0 => best,
                _ => Some(found),
            });
            if let Some((_, handler)) = best {
                return Some((index, handler));
            }
        }
        None
    }
}

/// Returns how exactly a condition describes what was raised; `None` if it does not.
fn specificity(condition: &ConditionValue, raised: &RaisedCondition) -> Option<u8> {
    let class = raised.sqlstate.get(..2).unwrap_or_default();
    let (matches, specificity) = match condition {
        ConditionValue::Error(code) => (*code == u64::from(raised.code), 3),
        ConditionValue::SqlState(state) => (*state == raised.sqlstate, 2),
        ConditionValue::Warning => (
            class == "01" || raised.level == RaisedLevel::Warning && class != "02",
            1,
        ),
        ConditionValue::NotFound => (class == "02", 1),
        ConditionValue::Exception => (
            !matches!(class, "00" | "01" | "02") && raised.level != RaisedLevel::Warning,
            1,
        ),
    };
    matches.then_some(specificity)
}
