//! Bound expressions as text, in the form of MariaDB's `Item::print`: for error 1690.
//!
//! The text is made when the error is raised, from the bound tree, so neither binding nor evaluation pays for it. A
//! column in the tree is a slot; the names of the slots of the block that is executed come from its plan, through
//! [`SlotNames`] in the [`EvalContext`](crate::EvalContext).
//!
//! ```text
//!   exp(a * 200)    ─bind─▶ Call exp [Arithmetic * [Column 0, 200]]    ─print─▶ exp(`db`.`t`.`a` * 200)
//! ```
//! An operation within another one has parentheses only if its precedence requires them. Operations that binding has
//! replaced are printed as what they became: a function under its canonical name, constant operands of integers and
//! doubles as their value.
//!
//! Alternatives considered: to keep the text of the syntax tree in the nodes, which costs memory and time in each
//! binding and knows no databases and aliases; to keep the name in each column, which makes every expression larger; to
//! number the columns in the message and to replace the numbers where the statement ends, which cannot tell the blocks
//! of a statement from each other.

use paceline_types::{TimeZone, Value, text};

use crate::slot_names::SlotNames;
use crate::tree::{
    Aggregate, AggregateFunction, ArithmeticOp, BitOp, Call, CastTarget, DEFAULT_ESCAPE, Distinctness,
    Escape, Expr, ExprKind, LoadableCall, Quantifier, Truth,
};

/// Precedences of operators, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    Assignment,
    Or,
    Xor,
    And,
    Comparison,
    Between,
    In,
    BitOr,
    BitAnd,
    Shift,
    Interval,
    Add,
    Multiply,
    BitXor,
    Negation,
    Collate,
    Highest,
}

impl Precedence {
    /// Returns the next stronger precedence, which a right operand needs to do without parentheses.
    fn next(self) -> Self {
        use Precedence as P;
        match self {
            P::Assignment => P::Or,
            P::Or => P::Xor,
            P::Xor => P::And,
            P::And => P::Comparison,
            P::Comparison => P::Between,
            P::Between => P::In,
            P::In => P::BitOr,
            P::BitOr => P::BitAnd,
            P::BitAnd => P::Shift,
            P::Shift => P::Interval,
            P::Interval => P::Add,
            P::Add => P::Multiply,
            P::Multiply => P::BitXor,
            P::BitXor => P::Negation,
            P::Negation => P::Collate,
            P::Collate | P::Highest => P::Highest,
        }
    }
}

/// Writer of the text of an expression.
pub(crate) struct Printer<'p> {
    names: Option<&'p dyn SlotNames>,
    parameters: &'p [Value],
    out: String,
}

impl<'p> Printer<'p> {
    pub fn new(names: Option<&'p dyn SlotNames>, parameters: &'p [Value]) -> Self {
        Printer {
            names,
            parameters,
            out: String::new(),
        }
    }

    /// Returns the text of an expression.
    pub fn expression(mut self, expr: &Expr) -> String {
        self.expr(expr);
        self.out
    }

    /// Returns the text of a call.
    pub fn function(mut self, call: &Call) -> String {
        self.call(call);
        self.out
    }

    fn word(&mut self, word: &str) {
        self.out.push_str(word);
    }

    /// Appends an operand, in parentheses if its operator is weaker than `least`.
    fn operand(&mut self, expr: &Expr, least: Precedence) {
        let parentheses = precedence(expr) < least;
        if parentheses {
            self.word("(");
        }
        self.expr(expr);
        if parentheses {
            self.word(")");
        }
    }

    fn binary(&mut self, operands: &[Expr; 2], operator: &str, precedence: Precedence) {
        self.operand(&operands[0], precedence);
        self.word(" ");
        self.word(operator);
        self.word(" ");
        self.operand(&operands[1], precedence.next());
    }

    fn list(&mut self, exprs: &[Expr]) {
        for (index, expr) in exprs.iter().enumerate() {
            if index > 0 {
                self.word(",");
            }
            self.expr(expr);
        }
    }

    /// Appends operands with an operator between them.
    fn chain(&mut self, operands: &[Expr], operator: &str, precedence: Precedence) {
        for (index, operand) in operands.iter().enumerate() {
            if index > 0 {
                self.word(operator);
            }
            self.operand(operand, precedence);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        paceline_syntax::stack::on_enough(|| self.node(expr));
    }

    fn node(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(value) => append_literal(value, &mut self.out),
            ExprKind::Column(slot) => {
                if let Some(names) = self.names {
                    names.append_slot(*slot, self.parameters, &mut self.out);
                }
            }
            ExprKind::Parameter(index) => match self.parameters.get(*index) {
                Some(value) => append_literal(value, &mut self.out),
                None => self.word("?"),
            },
            // Replaced by a column before evaluation.
            ExprKind::Aggregate(_) => {}
            ExprKind::UserVariable(name) => {
                self.word("@");
                append_quoted(name, &mut self.out);
            }
            ExprKind::AssignUserVariable { name, value } => {
                self.word("@");
                self.word(name);
                self.word(":=");
                self.operand(value, Precedence::Assignment);
            }
            ExprKind::SystemVariable { name, .. } => {
                self.word("@@");
                self.word(name);
            }
            ExprKind::Compare { op, operands, .. } => {
                self.binary(operands, op.as_str(), Precedence::Comparison);
            }
            ExprKind::And(parts) => self.chain(parts, " and ", Precedence::And),
            ExprKind::Or(parts) => self.chain(parts, " or ", Precedence::Or),
            ExprKind::Xor(operands) => self.binary(operands, "xor", Precedence::Xor),
            ExprKind::Not(operand) => {
                self.word("!");
                self.operand(operand, Precedence::Negation);
            }
            ExprKind::Is {
                test,
                negated,
                operand,
            } => {
                self.operand(operand, Precedence::Comparison);
                self.word(if *negated { " is not " } else { " is " });
                self.word(match test {
                    Truth::True => "true",
                    Truth::False => "false",
                    Truth::Null => "null",
                });
            }
            ExprKind::Between {
                negated, operands, ..
            } => {
                let [value, low, high] = &**operands;
                self.operand(value, Precedence::Between);
                self.word(if *negated { " not between " } else { " between " });
                self.operand(low, Precedence::Between);
                self.word(" and ");
                self.operand(high, Precedence::Between);
            }
            ExprKind::InList {
                negated,
                needle,
                list,
                ..
            } => {
                self.operand(needle, Precedence::In);
                self.word(if *negated { " not in (" } else { " in (" });
                self.list(list);
                self.word(")");
            }
            ExprKind::Like {
                negated,
                operands,
                escape,
                ..
            } => {
                self.operand(&operands[0], Precedence::In);
                self.word(if *negated { "  not like " } else { " like " });
                self.operand(&operands[1], Precedence::In.next());
                match escape {
                    Escape::Character(DEFAULT_ESCAPE) => {}
                    Escape::Character(escape) => {
                        self.word(" escape ");
                        append_text(&escape.to_string(), &mut self.out);
                    }
                    Escape::Computed(escape) => {
                        self.word(" escape ");
                        self.operand(escape, Precedence::In.next());
                    }
                }
            }
            ExprKind::Arithmetic { op, operands, .. } => {
                self.binary(operands, op.as_str(), arithmetic_precedence(*op));
            }
            ExprKind::Negate { operand, .. } => {
                self.word("-");
                self.operand(operand, Precedence::Negation);
            }
            ExprKind::Bits { op, operands } => {
                let (operator, precedence) = bit_operator(*op);
                self.binary(operands, operator, precedence);
            }
            ExprKind::BitNot(operand) => {
                self.word("~");
                self.operand(operand, Precedence::Negation);
            }
            // A conversion to a common type, which is not in the statement.
            ExprKind::Case {
                branches,
                otherwise: Some(converted),
            } if branches.is_empty() => self.expr(converted),
            ExprKind::Case { branches, otherwise } => {
                self.word("case ");
                for (condition, result) in branches {
                    self.branch(condition, result);
                }
                self.end_of_case(otherwise.as_deref());
            }
            ExprKind::SimpleCase {
                operand,
                branches,
                otherwise,
            } => {
                self.word("case ");
                self.expr(operand);
                self.word(" ");
                for (_, value, result) in branches {
                    self.branch(value, result);
                }
                self.end_of_case(otherwise.as_deref());
            }
            ExprKind::Cast { target, operand } => self.cast(target, operand),
            ExprKind::Collate(operand) => {
                self.operand(operand, Precedence::Collate);
                self.word(" collate ");
                self.word(expr.ty.collation().name());
            }
            ExprKind::Rounded(operand) => self.expr(operand),
            ExprKind::Call(call) => self.call(call),
            ExprKind::Row(items) => {
                self.word("(");
                self.list(items);
                self.word(")");
            }
            // As in MariaDB where the text of a subquery is not known: its number.
            ExprKind::ScalarSubquery(subquery) => self.subquery(subquery.id.index()),
            ExprKind::Exists { subquery, negated } => {
                self.word(if *negated { "!exists" } else { "exists" });
                self.subquery(subquery.id.index());
            }
            ExprKind::Quantified {
                op,
                quantifier,
                left,
                subquery,
                ..
            } => {
                self.operand(left, Precedence::Comparison);
                self.word(" ");
                self.word(op.as_str());
                self.word(match quantifier {
                    Quantifier::Any => " any ",
                    Quantifier::All => " all ",
                });
                self.subquery(subquery.id.index());
            }
        }
    }

    /// Appends a subquery by its number among the SELECTs, of which the statement's own is the first.
    fn subquery(&mut self, index: usize) {
        self.word(&format!("(select #{})", index + 2));
    }

    fn branch(&mut self, condition: &Expr, result: &Expr) {
        self.word("when ");
        self.expr(condition);
        self.word(" then ");
        self.expr(result);
        self.word(" ");
    }

    fn end_of_case(&mut self, otherwise: Option<&Expr>) {
        if let Some(otherwise) = otherwise {
            self.word("else ");
            self.expr(otherwise);
            self.word(" ");
        }
        self.word("end");
    }

    fn cast(&mut self, target: &CastTarget, operand: &Expr) {
        self.word("cast(");
        self.expr(operand);
        self.word(" as ");
        let digits = |name: &str, decimals: u8| match decimals {
            0 => name.to_owned(),
            decimals => format!("{name}({decimals})"),
        };
        let counted = |length: &Option<u32>| length.map_or_else(String::new, |length| format!("({length})"));
        let target = match target {
            CastTarget::Signed => "signed".to_owned(),
            CastTarget::Unsigned => "unsigned".to_owned(),
            CastTarget::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            CastTarget::Double { fixed: None } => "double".to_owned(),
            CastTarget::Double { fixed: Some(fixed) } => {
                format!("double({},{})", fixed.precision, fixed.scale)
            }
            CastTarget::Float => "float".to_owned(),
            CastTarget::Char { length, collation } => {
                format!("char{} charset {}", counted(length), collation.charset().name())
            }
            CastTarget::Binary { length } => format!("char{} charset binary", counted(length)),
            CastTarget::Date => "date".to_owned(),
            CastTarget::Time { decimals } => digits("time", *decimals),
            CastTarget::DateTime { decimals } => digits("datetime", *decimals),
            CastTarget::FixedBinary(fixed) => fixed.name().to_owned(),
        };
        self.word(&target);
        self.word(")");
    }

    fn call(&mut self, call: &Call) {
        let name = call.function.name;
        match (name, &call.args[..]) {
            ("date_add", [date, amount, unit]) => self.interval(date, " + interval ", amount, unit),
            ("date_sub", [date, amount, unit]) => self.interval(date, " - interval ", amount, unit),
            ("extract", [unit, operand]) => {
                self.word("extract(");
                self.keyword(unit, str::to_ascii_lowercase);
                self.word(" from ");
                self.expr(operand);
                self.word(")");
            }
            ("timestampdiff", [unit, from, to]) => {
                self.word("timestampdiff(");
                self.keyword(unit, str::to_ascii_uppercase);
                self.word(",");
                self.expr(from);
                self.word(",");
                self.expr(to);
                self.word(")");
            }
            ("regexp", [subject, pattern]) => {
                self.operand(subject, Precedence::In);
                self.word(" regexp ");
                self.operand(pattern, Precedence::In.next());
            }
            ("date", [operand]) => self.cast(&CastTarget::Date, operand),
            ("timestamp", [operand]) => self.cast(&CastTarget::DateTime { decimals: 0 }, operand),
            ("isnull", [operand]) => {
                self.operand(operand, Precedence::Comparison);
                self.word(" is null");
            }
            ("instr" | "locate" | "position", [first, second]) => {
                let (needle, text) = if name == "instr" {
                    (second, first)
                } else {
                    (first, second)
                };
                self.word("locate(");
                self.expr(needle);
                self.word(",");
                self.expr(text);
                self.word(")");
            }
            ("round", [operand]) => {
                self.word("round(");
                self.expr(operand);
                self.word(",0)");
            }
            ("bin" | "oct", [operand]) => {
                self.word("conv(");
                self.expr(operand);
                self.word(if name == "bin" { ",10,2)" } else { ",10,8)" });
            }
            (_, args) => {
                if let Some(stored) = &call.stored {
                    return self.word(&stored.text);
                }
                if let Some(loadable) = &call.loadable {
                    return self.loadable(loadable, args);
                }
                self.word(canonical_name(name));
                self.word("(");
                self.list(args);
                self.word(")");
            }
        }
    }

    /// Appends a call of a loadable function, whose arguments have names.
    fn loadable(&mut self, loadable: &LoadableCall, args: &[Expr]) {
        self.word(loadable.name());
        self.word("(");
        for (index, (arg, name)) in args.iter().zip(&loadable.argument_names).enumerate() {
            if index > 0 {
                self.word(",");
            }
            self.expr(arg);
            self.word(" AS ");
            append_quoted(name, &mut self.out);
        }
        self.word(")");
    }

    /// Appends a constant text that the binder has added to the arguments.
    fn keyword(&mut self, word: &Expr, case: fn(&str) -> String) {
        if let Some(Value::Text(word)) = word.as_literal() {
            self.word(&case(word));
        }
    }

    fn interval(&mut self, date: &Expr, operator: &str, amount: &Expr, unit: &Expr) {
        self.operand(date, Precedence::Interval);
        self.word(operator);
        self.operand(amount, Precedence::Interval);
        self.word(" ");
        self.keyword(unit, str::to_ascii_lowercase);
    }
}

/// Appends the text of an aggregate function over rows whose slots have these names.
pub fn append_aggregate(
    aggregate: &Aggregate,
    names: &dyn SlotNames,
    parameters: &[Value],
    out: &mut String,
) {
    use AggregateFunction as A;
    let name = match aggregate.function {
        A::CountRows => {
            out.push_str("count(0)");
            return;
        }
        A::Count => "count",
        A::Sum => "sum",
        A::Avg => "avg",
        A::Min => "min",
        A::Max => "max",
        A::GroupConcat => "group_concat",
        A::BitAnd => "bit_and",
        A::BitOr => "bit_or",
        A::BitXor => "bit_xor",
        A::StddevPop => "std",
        A::StddevSamp => "stddev_samp",
        A::VarPop => "variance",
        A::VarSamp => "var_samp",
        A::JsonArrayAgg => "json_arrayagg",
        A::JsonObjectAgg => "json_objectagg",
        A::Stored => "",
        A::Loadable => aggregate.loadable.as_ref().map_or("", |loadable| loadable.name()),
    };
    out.push_str(name);
    out.push_str(match aggregate.distinct {
        Distinctness::Distinct => "(distinct ",
        Distinctness::All => "(",
    });
    let mut printer = Printer::new(Some(names), parameters);
    printer.list(&aggregate.args);
    out.push_str(&printer.out);
    if aggregate.function == A::GroupConcat {
        out.push_str(" separator ");
        append_text(&aggregate.separator, out);
    }
    out.push(')');
}

/// Appends the text of an expression over rows whose slots have these names.
pub fn append_expression(expr: &Expr, names: &dyn SlotNames, parameters: &[Value], out: &mut String) {
    let mut printer = Printer::new(Some(names), parameters);
    printer.operand(expr, Precedence::Highest);
    out.push_str(&printer.out);
}

/// Appends a name in backticks.
pub fn append_quoted(name: &str, out: &mut String) {
    out.push('`');
    out.push_str(&name.replace('`', "``"));
    out.push('`');
}

/// Returns the name under which MariaDB prints a function with several names.
fn canonical_name(name: &'static str) -> &'static str {
    match name {
        "character_length" => "char_length",
        "ceil" => "ceiling",
        "current_date" => "curdate",
        "current_time" => "curtime",
        "day" => "dayofmonth",
        "length" | "lengthb" => "octet_length",
        "localtime" | "localtimestamp" | "now" => "current_timestamp",
        "lower" => "lcase",
        "mid" | "substring" => "substr",
        "nvl" => "ifnull",
        "power" => "pow",
        "schema" => "database",
        "upper" => "ucase",
        name => name,
    }
}

fn arithmetic_precedence(op: ArithmeticOp) -> Precedence {
    match op {
        ArithmeticOp::Add | ArithmeticOp::Subtract => Precedence::Add,
        _ => Precedence::Multiply,
    }
}

fn bit_operator(op: BitOp) -> (&'static str, Precedence) {
    match op {
        BitOp::Or => ("|", Precedence::BitOr),
        BitOp::And => ("&", Precedence::BitAnd),
        BitOp::Xor => ("^", Precedence::BitXor),
        BitOp::ShiftLeft => ("<<", Precedence::Shift),
        BitOp::ShiftRight => (">>", Precedence::Shift),
    }
}

/// Returns the precedence of an expression's operator.
fn precedence(expr: &Expr) -> Precedence {
    match &expr.kind {
        ExprKind::AssignUserVariable { .. } => Precedence::Assignment,
        ExprKind::Or(_) => Precedence::Or,
        ExprKind::Xor(_) => Precedence::Xor,
        ExprKind::And(_) => Precedence::And,
        ExprKind::Compare { .. } | ExprKind::Is { .. } | ExprKind::Quantified { .. } => {
            Precedence::Comparison
        }
        ExprKind::Between { .. } => Precedence::Between,
        ExprKind::InList { .. } | ExprKind::Like { .. } => Precedence::In,
        ExprKind::Bits { op, .. } => bit_operator(*op).1,
        ExprKind::Arithmetic { op, .. } => arithmetic_precedence(*op),
        ExprKind::Negate { .. } | ExprKind::BitNot(_) | ExprKind::Not(_) => Precedence::Negation,
        ExprKind::Collate(_) => Precedence::Collate,
        ExprKind::Rounded(operand) => precedence(operand),
        ExprKind::Case {
            branches,
            otherwise: Some(converted),
        } if branches.is_empty() => precedence(converted),
        ExprKind::Call(call) => match call.function.name {
            "regexp" => Precedence::In,
            "date_add" | "date_sub" => Precedence::Interval,
            "isnull" => Precedence::Comparison,
            _ => Precedence::Highest,
        },
        _ => Precedence::Highest,
    }
}

fn append_literal(value: &Value, out: &mut String) {
    let shown = || text::to_string(&value.as_ref(), &TimeZone::UTC);
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_) => {
            out.push_str(&shown());
        }
        Value::Bytes(bytes) => {
            out.push_str("X'");
            for byte in bytes {
                out.push_str(&format!("{byte:02X}"));
            }
            out.push('\'');
        }
        Value::Date(_) => out.push_str(&format!("DATE'{}'", shown())),
        Value::Time(_) => out.push_str(&format!("TIME'{}'", shown())),
        Value::DateTime(_) => out.push_str(&format!("TIMESTAMP'{}'", shown())),
        _ => append_text(&shown(), out),
    }
}

/// Appends a string in quotes, with MariaDB's escapes (`append_unescaped`).
fn append_text(text: &str, out: &mut String) {
    out.push('\'');
    for character in text.chars() {
        match character {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            other => out.push(other),
        }
    }
    out.push('\'');
}
