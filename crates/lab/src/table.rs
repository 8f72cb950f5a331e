//! A table of figures, printed as Markdown, so that a page can quote it as it is.

use crate::statistics::Sample;
use std::fmt;

/// A table: a heading for each column, and rows of cells.
#[derive(Debug)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<H: Into<String>>(headings: impl IntoIterator<Item = H>) -> Self {
        Table {
            headings: headings.into_iter().map(Into::into).collect(),
            rows: vec![],
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has another number of cells than the table has columns.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.headings.len(), "cells of {cells:?}");
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    /// Writes the first column aligned to the left, the others to the right.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.headings.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| &row[column]);
                let longest = cells
                    .chain([&self.headings[column]])
                    .map(|cell| cell.chars().count());
                longest.max().unwrap_or(0)
            })
            .collect();
        let mut line = |cells: &[String]| {
            for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(f, "| {cell:<width$} |")?,
                    _ => write!(f, " {cell:>width$} |")?,
                }
            }
            writeln!(f)
        };
        line(&self.headings)?;
        let rule: Vec<String> = (0..widths.len())
            .map(|column| match column {
                0 => "-".repeat(widths[0]),
                _ => format!("{}:", "-".repeat(widths[column] - 1)),
            })
            .collect();
        line(&rule)?;
        self.rows.iter().try_for_each(|row| line(row))
    }
}

/// Returns a figure with three significant digits, and thousands with commas.
pub fn figure(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude < 9.995 {
        return format!("{value:.2}");
    }
    if magnitude < 99.95 {
        return format!("{value:.1}");
    }
    let digits = format!("{magnitude:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    match value < 0.0 {
        true => format!("-{text}"),
        false => text,
    }
}

/// Returns the lowest and the highest of the repeats.
pub fn spread(sample: &Sample) -> String {
    format!("{} … {}", figure(sample.lowest()), figure(sample.highest()))
}

/// Returns a figure that may be absent.
pub fn figure_or_blank(value: Option<f64>) -> String {
    value.map(figure).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["kind", "ms"]);
        table.row(["futex, one each", "7.10"]);
        table.row(["µ", "12,000"]);
        let expected = "\
| kind            |     ms |
| --------------- | -----: |
| futex, one each |   7.10 |
| µ               | 12,000 |
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn figures_have_three_digits() {
        let texts = [
            0.0,
            0.456,
            9.994,
            9.996,
            46.94,
            99.96,
            1234.5,
            1_234_567.0,
            -1234.0,
        ]
        .map(figure);
        let expected = [
            "0.00",
            "0.46",
            "9.99",
            "10.0",
            "46.9",
            "100",
            "1,234",
            "1,234,567",
            "-1,234",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_spread_is_lowest_and_highest() {
        assert_eq!(spread(&Sample::new(vec![2.0, 1.0, 30.0])), "1.00 … 30.0");
    }
}
