//! Screens as plain text.

use super::options::Options;
use super::reading::Reading;
use super::table::{Alignment, Table};
use super::view::summary::summary;
use super::view::{Input, View};
use ratatui::text::Span;

/// Returns a screen with these views.
pub fn screen(options: &Options, views: &[View], reading: &Reading, before: &Reading) -> String {
    let mut text = String::new();
    for line in summary("", reading, before) {
        push(&mut text, line.trim());
    }
    for view in views {
        let mut table = view.table(Input {
            reading,
            before,
            idle: options.idle(),
        });
        table.filter(&options.filter);
        table.sort(view.sorting());
        push(&mut text, "");
        push(&mut text, view.title());
        for line in lines(&table) {
            push(&mut text, &line);
        }
    }
    text.push('\n');
    text
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Returns a table's lines: titles, rows, notes. Columns are as wide as their widest cell.
fn lines(table: &Table) -> Vec<String> {
    let mut widths: Vec<usize> = table.columns.iter().map(|column| width(column.title)).collect();
    for row in &table.rows {
        for (widest, cell) in widths.iter_mut().zip(&row.cells) {
            *widest = (*widest).max(width(&cell.shown));
        }
    }
    let line = |cells: Vec<&str>| {
        let cells = cells.into_iter().zip(&table.columns).zip(&widths);
        let padded: Vec<String> = cells
            .map(|((cell, column), widest)| {
                let space = " ".repeat(widest - width(cell));
                match column.alignment {
                    Alignment::Left => format!("{cell}{space}"),
                    Alignment::Right => format!("{space}{cell}"),
                }
            })
            .collect();
        padded.join("  ")
    };
    let mut lines = Vec::new();
    if !table.rows.is_empty() {
        lines.push(line(table.columns.iter().map(|column| column.title).collect()));
    }
    lines.extend(
        table
            .rows
            .iter()
            .map(|row| line(row.cells.iter().map(|cell| cell.shown.as_str()).collect())),
    );
    lines.extend(table.notes.iter().map(|note| format!("({note})")));
    lines
}

/// Returns a text's width in terminal cells.
pub fn width(text: &str) -> usize {
    Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::super::table::{Cell, Column, Emphasis, TableRow};
    use super::*;

    #[test]
    fn columns_are_aligned_by_their_width_on_the_terminal() {
        let row = |name: &str, value| TableRow {
            key: String::new(),
            connection: None,
            cells: vec![
                Cell::text(name),
                Cell::number(Some(value), |value| format!("{value}")),
                Cell::text("select 1"),
            ],
            emphasis: Emphasis::Normal,
        };
        let table = Table {
            columns: vec![
                Column::text("NAME"),
                Column::number("N"),
                Column::text("STATEMENT"),
            ],
            rows: vec![row("表表表", 5.0), row("é", 1234.0)],
            notes: vec!["a note".into()],
        };
        assert_eq!(
            lines(&table),
            [
                "NAME       N  STATEMENT",
                "表表表     5  select 1 ",
                "é       1234  select 1 ",
                "(a note)"
            ]
        );
    }
}
