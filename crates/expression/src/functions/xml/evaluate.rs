//! Evaluation of XPath over a document.

use std::borrow::Cow;

use paceline_syntax::stack;
use paceline_types::error_code::ER_DIVISION_BY_ZERO;
use paceline_types::{Collation, TimeZone, Value, text};

use super::document::{Document, Node, NodeKind};
use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::{check_interrupt, convert};
use crate::functions::string::find;
use crate::xpath::{ArithmeticOperator, Axis, CompareOperator, Step, XPath, XPathFunction};

/// Steps of work between two checks of memory and of KILL.
const CHECK_INTERVAL: usize = 1 << 14;

/// A node of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    pub node: u32,
    /// Position among the nodes that its step found, from 0.
    position: u32,
    /// Number of nodes that a predicate tests; 0 elsewhere.
    size: u32,
}

/// A value.
#[derive(Debug)]
pub(super) enum XValue {
    Nodes(Vec<Selected>),
    Boolean(bool),
    Integer(i64),
    /// A number, and the digits after the point that it shows; `None` for as many as it has.
    Double(f64, Option<u8>),
    Text(String),
    Null,
}

/// A document, the session, and the work done so far.
pub(super) struct Evaluation<'e, 'c, 'd> {
    pub document: &'e Document<'d>,
    pub collation: Collation,
    pub context: &'e mut EvalContext<'c>,
    pub work: usize,
}

type Nodes = Vec<Selected>;

impl Evaluation<'_, '_, '_> {
    /// Evaluates an expression. `current` is the node that the innermost predicate tests.
    ///
    /// # Errors
    /// 1317 and related errors; errors of memory; 1292 in strict writes.
    pub(super) fn value(&mut self, xpath: &XPath, current: Option<Selected>) -> Result<XValue> {
        stack::on_enough(|| self.value_here(xpath, current))
    }

    fn value_here(&mut self, xpath: &XPath, current: Option<Selected>) -> Result<XValue> {
        Ok(match xpath {
            XPath::Root | XPath::Current | XPath::Path(..) | XPath::Union(..) => {
                XValue::Nodes(self.nodes(xpath, current)?)
            }
            XPath::Integer(number) => XValue::Integer(*number),
            XPath::Double(number, decimals) => XValue::Double(*number, Some(*decimals)),
            XPath::Text(text) => XValue::Text(text.clone()),
            XPath::UserVariable(name) => self.user_variable(name),
            XPath::And(left, right) => {
                XValue::Boolean(self.truth(left, current)? && self.truth(right, current)?)
            }
            XPath::Or(left, right) => {
                XValue::Boolean(self.truth(left, current)? || self.truth(right, current)?)
            }
            XPath::Compare(operator, left, right) => {
                XValue::Boolean(self.compare(*operator, left, right, current)?)
            }
            XPath::Negate(operand) => match self.value(operand, current)? {
                XValue::Integer(number) => XValue::Integer(number.wrapping_neg()),
                XValue::Boolean(truth) => XValue::Integer(-i64::from(truth)),
                XValue::Null => XValue::Null,
                value => {
                    let (number, decimals) = self.double(value)?;
                    XValue::Double(-number, decimals)
                }
            },
            XPath::Arithmetic(operator, left, right) => {
                let left = self.value(left, current)?;
                let right = self.value(right, current)?;
                self.arithmetic(*operator, left, right)?
            }
            XPath::Call(function, args) => self.call(*function, args, current)?,
        })
    }

    fn nodes(&mut self, xpath: &XPath, current: Option<Selected>) -> Result<Nodes> {
        match xpath {
            XPath::Root => Ok(vec![Selected {
                node: 0,
                position: 0,
                size: 0,
            }]),
            XPath::Current => Ok(current.into_iter().collect()),
            XPath::Path(start, steps) => {
                let mut nodes = stack::on_enough(|| self.nodes(start, current))?;
                for step in steps {
                    nodes = self.step(nodes, step)?;
                }
                Ok(nodes)
            }
            XPath::Union(left, right) => stack::on_enough(|| {
                let mut found = vec![false; self.document.nodes.len()];
                for side in [left, right] {
                    for selected in self.nodes(side, current)? {
                        found[selected.node as usize] = true;
                    }
                }
                self.numbered(&found)
            }),
            _ => Ok(Nodes::new()),
        }
    }

    /// Returns the marked nodes in the order of the document.
    fn numbered(&mut self, marks: &[bool]) -> Result<Nodes> {
        let mut nodes = Nodes::new();
        for (index, _) in marks.iter().enumerate().filter(|(_, is_marked)| **is_marked) {
            let position = nodes.len() as u32;
            self.push(&mut nodes, index, position)?;
        }
        Ok(nodes)
    }

    fn push(&mut self, nodes: &mut Nodes, node: usize, position: u32) -> Result<()> {
        self.worked(1, nodes)?;
        nodes.push(Selected {
            node: node as u32,
            position,
            size: 0,
        });
        Ok(())
    }

    /// Counts work, and checks KILL and the memory of a set now and then.
    fn worked(&mut self, work: usize, nodes: &Nodes) -> Result<()> {
        self.work += work;
        if self.work >= CHECK_INTERVAL {
            self.work = 0;
            check_interrupt(self.context)?;
            // A set can have a node several times.
            let bytes = 2 * nodes.len() * size_of::<Selected>();
            self.context.session.memory.check_room(bytes)?;
        }
        Ok(())
    }

    fn has_name(&self, node: &Node, name: &str) -> bool {
        name == "*" || self.document.content(node) == name
    }

    fn step(&mut self, nodes: Nodes, step: &Step) -> Result<Nodes> {
        match step {
            Step::Axis(axis, name) => self.along(nodes, *axis, name),
            Step::Predicate(condition) => {
                let size = nodes.len() as u32;
                let mut out = Nodes::new();
                for selected in nodes {
                    let tested = Selected { size, ..selected };
                    if self.truth(condition, Some(tested))? {
                        let position = out.len() as u32;
                        self.push(&mut out, selected.node as usize, position)?;
                    }
                }
                Ok(out)
            }
            Step::Position(position) => {
                let size = nodes.len() as u32;
                let mut out = Nodes::new();
                for selected in nodes {
                    let tested = Selected { size, ..selected };
                    let value = self.value(position, Some(tested))?;
                    let wanted = self.integer(value)?.unwrap_or(0);
                    if wanted - 1 == i64::from(selected.position) {
                        let position = out.len() as u32;
                        self.push(&mut out, selected.node as usize, position)?;
                    }
                }
                Ok(out)
            }
        }
    }

    fn along(&mut self, nodes: Nodes, axis: Axis, name: &str) -> Result<Nodes> {
        let document = self.document;
        let mut out = Nodes::new();
        match axis {
            Axis::Itself => {
                for selected in nodes {
                    if self.has_name(&document.nodes[selected.node as usize], name) {
                        self.push(&mut out, selected.node as usize, 0)?;
                    }
                }
            }
            Axis::Child | Axis::Attribute | Axis::Descendant | Axis::DescendantOrSelf => {
                let kind = match axis {
                    Axis::Attribute => NodeKind::Attribute,
                    _ => NodeKind::Tag,
                };
                let is_direct = matches!(axis, Axis::Child | Axis::Attribute);
                for selected in nodes {
                    let mut position = 0;
                    let own = selected.node as usize;
                    if axis == Axis::DescendantOrSelf && self.has_name(&document.nodes[own], name) {
                        self.push(&mut out, own, position)?;
                        position += 1;
                    }
                    let level = document.nodes[own].level;
                    for (index, node) in document.nodes.iter().enumerate().skip(own + 1) {
                        if node.level <= level {
                            break;
                        }
                        self.worked(1, &out)?;
                        let is_wanted = node.kind == kind && (!is_direct || node.parent == selected.node);
                        if is_wanted && self.has_name(node, name) {
                            self.push(&mut out, index, position)?;
                            position += 1;
                        }
                    }
                }
            }
            Axis::Parent => {
                let mut marks = vec![false; document.nodes.len()];
                for selected in nodes.iter().filter(|selected| selected.node > 0) {
                    let parent = document.nodes[selected.node as usize].parent as usize;
                    marks[parent] |= self.has_name(&document.nodes[parent], name);
                }
                return self.numbered(&marks);
            }
            Axis::Ancestor | Axis::AncestorOrSelf => return self.ancestors(&nodes, axis, name),
        }
        Ok(out)
    }

    /// Returns ancestors. As in MariaDB, their positions count down from how often they were met.
    fn ancestors(&mut self, nodes: &Nodes, axis: Axis, name: &str) -> Result<Nodes> {
        let document = self.document;
        let mut marks = vec![false; document.nodes.len()];
        let mut met: u32 = 0;
        for selected in nodes {
            let own = &document.nodes[selected.node as usize];
            if axis == Axis::AncestorOrSelf && self.has_name(own, name) {
                marks[selected.node as usize] = true;
                met += 1;
            }
            let mut index = own.parent;
            while document.nodes[index as usize].parent != index {
                self.worked(1, nodes)?;
                if selected.node > 0 && self.has_name(&document.nodes[index as usize], name) {
                    marks[index as usize] = true;
                    met += 1;
                }
                index = document.nodes[index as usize].parent;
            }
        }
        let mut out = self.numbered(&marks)?;
        for selected in &mut out {
            met = met.wrapping_sub(1);
            selected.position = met;
        }
        Ok(out)
    }

    fn user_variable(&self, name: &str) -> XValue {
        match self
            .context
            .session
            .user_variables
            .get(name)
            .map(|variable| &variable.value)
        {
            None | Some(Value::Null) => XValue::Null,
            Some(Value::Int(number)) => XValue::Integer(*number),
            Some(Value::UInt(number)) => match i64::try_from(*number) {
                Ok(number) => XValue::Integer(number),
                Err(_) => XValue::Double(*number as f64, None),
            },
            Some(Value::Double(number)) => XValue::Double(*number, None),
            Some(Value::Decimal(number)) => XValue::Double(number.to_f64(), Some(number.scale())),
            Some(value) => XValue::Text(text::to_string(&value.as_ref(), &TimeZone::UTC)),
        }
    }

    /// Returns the texts directly within nodes, each once, with a blank between them.
    pub(super) fn text_of_nodes(&mut self, nodes: &Nodes) -> Result<String> {
        let mut marks = vec![false; self.document.nodes.len()];
        for selected in nodes {
            marks[selected.node as usize] = true;
        }
        let mut out = String::new();
        for node in &self.document.nodes {
            if node.kind == NodeKind::Text && marks[node.parent as usize] {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(self.document.content(node));
            }
        }
        self.worked(self.document.nodes.len(), nodes)?;
        Ok(out)
    }

    /// Returns a value as text; `None` for NULL.
    pub(super) fn text(&mut self, value: XValue) -> Result<Option<String>> {
        Ok(Some(match value {
            XValue::Null => return Ok(None),
            XValue::Nodes(nodes) => self.text_of_nodes(&nodes)?,
            XValue::Boolean(truth) => i64::from(truth).to_string(),
            XValue::Integer(number) => number.to_string(),
            XValue::Double(number, Some(decimals)) => format!("{number:.*}", usize::from(decimals)),
            XValue::Double(number, None) => text::to_string(&Value::Double(number).as_ref(), &TimeZone::UTC),
            XValue::Text(text) => text,
        }))
    }

    /// Returns a value as a number, and the digits after the point that it shows.
    fn double(&mut self, value: XValue) -> Result<(f64, Option<u8>)> {
        Ok(match value {
            XValue::Null => (0.0, None),
            XValue::Boolean(truth) => (f64::from(u8::from(truth)), Some(0)),
            XValue::Integer(number) => (number as f64, Some(0)),
            XValue::Double(number, decimals) => (number, decimals),
            value => {
                let text = Value::Text(self.text(value)?.unwrap_or_default());
                (convert::to_double(&text, self.context)?, None)
            }
        })
    }

    /// Returns a value as an integer; `None` for NULL.
    fn integer(&mut self, value: XValue) -> Result<Option<i64>> {
        Ok(Some(match value {
            XValue::Null => return Ok(None),
            XValue::Boolean(truth) => i64::from(truth),
            XValue::Integer(number) => number,
            XValue::Double(number, _) => number.round_ties_even() as i64,
            value => {
                let text = Value::Text(self.text(value)?.unwrap_or_default());
                convert::to_i64(&text, self.context)?
            }
        }))
    }

    fn truth(&mut self, xpath: &XPath, current: Option<Selected>) -> Result<bool> {
        let value = self.value(xpath, current)?;
        self.truth_of(value)
    }

    /// Returns whether a value is true. A set of nodes is true if it has exactly one.
    fn truth_of(&mut self, value: XValue) -> Result<bool> {
        Ok(match value {
            XValue::Null => false,
            XValue::Nodes(nodes) => nodes.len() == 1,
            XValue::Boolean(truth) => truth,
            XValue::Integer(number) => number != 0,
            value => self.double(value)?.0 != 0.0,
        })
    }

    /// Compares two values; with a set of nodes the text of each is tried.
    fn compare(
        &mut self,
        operator: CompareOperator,
        left: &XPath,
        right: &XPath,
        current: Option<Selected>,
    ) -> Result<bool> {
        let (nodes, other, operator) = match (left.is_nodes(), right.is_nodes()) {
            (true, _) => (left, right, operator),
            (_, true) => (right, left, reversed(operator)),
            _ => {
                let left = self.value(left, current)?;
                let right = self.value(right, current)?;
                return self.compare_values(operator, &left, &right);
            }
        };
        let document = self.document;
        let nodes = self.nodes(nodes, current)?;
        let other = self.value(other, current)?;
        for selected in &nodes {
            let level = document.nodes[selected.node as usize].level;
            for node in &document.nodes[selected.node as usize + 1..] {
                if node.level <= level {
                    break;
                }
                self.worked(1, &nodes)?;
                if node.kind == NodeKind::Text && node.parent == selected.node {
                    let text = XValue::Text(document.content(node).to_owned());
                    if self.compare_values(operator, &text, &other)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn compare_values(&mut self, operator: CompareOperator, left: &XValue, right: &XValue) -> Result<bool> {
        use std::cmp::Ordering;
        let ordering = match (left, right) {
            (XValue::Null, _) | (_, XValue::Null) => return Ok(false),
            (XValue::Text(left), XValue::Text(right)) => Some(self.collation.compare(left, right)),
            (XValue::Double(..), _) | (_, XValue::Double(..)) => {
                let (left, right) = (self.comparable(left)?, self.comparable(right)?);
                left.partial_cmp(&right)
            }
            (XValue::Text(text), number) | (number, XValue::Text(text)) => {
                let number = match number {
                    XValue::Integer(number) => *number,
                    XValue::Boolean(truth) => i64::from(*truth),
                    _ => 0,
                };
                let text_number = convert::to_decimal(&Value::Text(text.clone()), self.context)?;
                let ordering = text_number.cmp(&paceline_types::Decimal::from(number));
                Some(match left {
                    XValue::Text(_) => ordering,
                    _ => ordering.reverse(),
                })
            }
            (left, right) => self.comparable(left)?.partial_cmp(&self.comparable(right)?),
        };
        let Some(ordering) = ordering else {
            return Ok(false);
        };
        Ok(match operator {
            CompareOperator::Equal => ordering == Ordering::Equal,
            CompareOperator::NotEqual => ordering != Ordering::Equal,
            CompareOperator::Less => ordering == Ordering::Less,
            CompareOperator::LessOrEqual => ordering != Ordering::Greater,
            CompareOperator::Greater => ordering == Ordering::Greater,
            CompareOperator::GreaterOrEqual => ordering != Ordering::Less,
        })
    }

    fn comparable(&mut self, value: &XValue) -> Result<f64> {
        Ok(match value {
            XValue::Integer(number) => *number as f64,
            XValue::Boolean(truth) => f64::from(u8::from(*truth)),
            XValue::Double(number, _) => *number,
            XValue::Text(text) => convert::to_double(&Value::Text(text.clone()), self.context)?,
            XValue::Nodes(_) | XValue::Null => 0.0,
        })
    }

    fn arithmetic(&mut self, operator: ArithmeticOperator, left: XValue, right: XValue) -> Result<XValue> {
        if matches!(left, XValue::Null) || matches!(right, XValue::Null) {
            return Ok(XValue::Null);
        }
        let whole = |value: &XValue| match value {
            XValue::Integer(number) => Some(*number),
            XValue::Boolean(truth) => Some(i64::from(*truth)),
            _ => None,
        };
        if let (Some(left), Some(right)) = (whole(&left), whole(&right)) {
            let result = match operator {
                ArithmeticOperator::Add => left.checked_add(right),
                ArithmeticOperator::Subtract => left.checked_sub(right),
                ArithmeticOperator::Multiply => left.checked_mul(right),
                ArithmeticOperator::Divide | ArithmeticOperator::Modulo if right == 0 => {
                    return self.division_by_zero();
                }
                ArithmeticOperator::Divide => left.checked_div(right),
                ArithmeticOperator::Modulo => left.checked_rem(right),
            };
            if let Some(result) = result {
                return Ok(XValue::Integer(result));
            }
        }
        let (left, left_decimals) = self.double(left)?;
        let (right, right_decimals) = self.double(right)?;
        let most = left_decimals
            .zip(right_decimals)
            .map(|(left, right)| left.max(right));
        Ok(match operator {
            ArithmeticOperator::Add => XValue::Double(left + right, most),
            ArithmeticOperator::Subtract => XValue::Double(left - right, most),
            ArithmeticOperator::Multiply => XValue::Double(left * right, most),
            ArithmeticOperator::Divide | ArithmeticOperator::Modulo if right == 0.0 => {
                return self.division_by_zero();
            }
            ArithmeticOperator::Divide => XValue::Integer((left / right).trunc() as i64),
            ArithmeticOperator::Modulo => XValue::Double(left % right, most),
        })
    }

    fn division_by_zero(&mut self) -> Result<XValue> {
        let message = ER_DIVISION_BY_ZERO.message(&[]);
        self.context.warn(ER_DIVISION_BY_ZERO, message)?;
        Ok(XValue::Null)
    }

    fn call(&mut self, function: XPathFunction, args: &[XPath], current: Option<Selected>) -> Result<XValue> {
        let first = match args.first() {
            Some(first) => self.value(first, current)?,
            None => XValue::Null,
        };
        Ok(match (function, first) {
            (XPathFunction::True, _) => XValue::Boolean(true),
            (XPathFunction::False, _) => XValue::Boolean(false),
            (XPathFunction::Not, first) => {
                let is_null = matches!(first, XValue::Null);
                XValue::Boolean(!self.truth_of(first)? && !is_null)
            }
            (XPathFunction::Boolean, first) => XValue::Boolean(self.truth_of(first)?),
            (XPathFunction::Last | XPathFunction::Count, XValue::Nodes(nodes)) => match &nodes[..] {
                [Selected { size, .. }] if *size > 0 => XValue::Integer(i64::from(*size)),
                nodes => XValue::Integer(nodes.len() as i64),
            },
            (XPathFunction::Position, XValue::Nodes(nodes)) => match &nodes[..] {
                [selected] => XValue::Integer(i64::from(selected.position) + 1),
                _ => XValue::Integer(0),
            },
            (XPathFunction::Sum, XValue::Nodes(nodes)) => XValue::Double(self.sum(&nodes)?, None),
            (_, XValue::Null) => XValue::Null,
            (XPathFunction::Number, first) => XValue::Double(self.double(first)?.0, None),
            (XPathFunction::Ceiling | XPathFunction::Floor | XPathFunction::Round, first) => match first {
                XValue::Integer(number) => XValue::Integer(number),
                XValue::Boolean(truth) => XValue::Integer(i64::from(truth)),
                first => {
                    let number = self.double(first)?.0;
                    let whole = match function {
                        XPathFunction::Ceiling => number.ceil(),
                        XPathFunction::Floor => number.floor(),
                        _ => number.round_ties_even(),
                    };
                    XValue::Double(whole, Some(0))
                }
            },
            (XPathFunction::StringLength, first) => {
                let text = self.text(first)?.unwrap_or_default();
                XValue::Integer(text.chars().count() as i64)
            }
            (XPathFunction::Contains, first) => {
                let text = self.text(first)?.unwrap_or_default();
                let second = self.value(&args[1], current)?;
                match self.text(second)? {
                    Some(part) => XValue::Boolean(find(&text, &part, self.collation).is_some()),
                    None => XValue::Boolean(false),
                }
            }
            // Further arguments have no effect.
            (XPathFunction::Concat, first) => {
                let text = self.text(first)?.unwrap_or_default();
                let second = self.value(&args[1], current)?;
                match self.text(second)? {
                    Some(second) => XValue::Text(text + &second),
                    None => XValue::Null,
                }
            }
            (XPathFunction::Substring, first) => {
                let text = self.text(first)?.unwrap_or_default();
                self.substring(&text, &args[1..], current)?
            }
            (
                XPathFunction::Last | XPathFunction::Count | XPathFunction::Position | XPathFunction::Sum,
                _,
            ) => XValue::Null,
        })
    }

    /// Adds the numbers directly within nodes.
    fn sum(&mut self, nodes: &Nodes) -> Result<f64> {
        let document = self.document;
        let mut sum = 0.0;
        for selected in nodes {
            let level = document.nodes[selected.node as usize].level;
            for node in &document.nodes[selected.node as usize + 1..] {
                if node.level <= level {
                    break;
                }
                self.worked(1, nodes)?;
                if node.kind == NodeKind::Text && node.parent == selected.node {
                    let text = Value::Text(document.content(node).to_owned());
                    let zone = &self.context.session.settings.time_zone;
                    sum += paceline_types::convert::to_double(&text, zone).map_or(0.0, |(number, _)| number);
                }
            }
        }
        Ok(sum)
    }

    /// SUBSTR: positions from 1, from the end if negative.
    fn substring(&mut self, text: &str, args: &[XPath], current: Option<Selected>) -> Result<XValue> {
        let mut numbers = [0, i64::MAX];
        for (number, arg) in numbers.iter_mut().zip(args) {
            let value = self.value(arg, current)?;
            match self.integer(value)? {
                Some(value) => *number = value,
                None => return Ok(XValue::Null),
            }
        }
        let [start, length] = numbers;
        let characters = text.chars().count() as i64;
        let skipped = match start {
            1.. => start - 1,
            0 => characters,
            start => characters.saturating_add(start),
        };
        if skipped < 0 || skipped >= characters || length <= 0 {
            return Ok(XValue::Text(String::new()));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let part: Cow<'_, str> = text.chars().skip(skipped as usize).take(length).collect();
        Ok(XValue::Text(part.into_owned()))
    }
}

fn reversed(operator: CompareOperator) -> CompareOperator {
    match operator {
        CompareOperator::Less => CompareOperator::Greater,
        CompareOperator::LessOrEqual => CompareOperator::GreaterOrEqual,
        CompareOperator::Greater => CompareOperator::Less,
        CompareOperator::GreaterOrEqual => CompareOperator::LessOrEqual,
        other => other,
    }
}
