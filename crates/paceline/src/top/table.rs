//! Tables: what a view shows. Sorting, filtering, drawing and plain text know only these.

use std::cmp::Ordering;

/// A table with a column for each of `columns` in each row.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<TableRow>,
    /// Lines below the table: what is missing, and why.
    pub notes: Vec<String>,
}

/// A column. The last one of a table gets the rest of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    pub title: &'static str,
    pub alignment: Alignment,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alignment {
    /// Texts.
    Left,
    /// Numbers.
    Right,
}

impl Column {
    pub const fn text(title: &'static str) -> Self {
        Column {
            title,
            alignment: Alignment::Left,
        }
    }

    pub const fn number(title: &'static str) -> Self {
        Column {
            title,
            alignment: Alignment::Right,
        }
    }
}

/// A row.
#[derive(Clone, PartialEq, Debug)]
pub struct TableRow {
    /// Name of the row within its table, by which a selection finds it again in the next reading.
    pub key: String,
    /// Connection that a kill of this row ends.
    pub connection: Option<u64>,
    pub cells: Vec<Cell>,
    pub emphasis: Emphasis,
}

/// Weight of a row on the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emphasis {
    Normal,
    /// Something waits, or has failed.
    Alarm,
    /// Idle.
    Quiet,
}

/// A cell: its text is harmless.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    pub shown: String,
    order: Order,
}

#[derive(Clone, PartialEq, Debug)]
enum Order {
    Text(String),
    Number(f64),
    /// Before all others.
    Nothing,
}

impl Cell {
    /// Returns a cell with a text of others.
    pub fn text(text: &str) -> Self {
        let shown = super::harmless::harmless(text);
        Cell {
            order: Order::Text(shown.to_lowercase()),
            shown,
        }
    }

    /// Returns a cell with a number and its text.
    pub fn number(value: Option<f64>, shown: impl FnOnce(f64) -> String) -> Self {
        match value {
            Some(value) => Cell {
                shown: shown(value),
                order: Order::Number(value),
            },
            None => Cell {
                shown: "-".to_owned(),
                order: Order::Nothing,
            },
        }
    }

    pub fn compare(&self, other: &Cell) -> Ordering {
        let rank = |order: &Order| match order {
            Order::Nothing => 0,
            Order::Number(_) => 1,
            Order::Text(_) => 2,
        };
        match (&self.order, &other.order) {
            (Order::Text(one), Order::Text(two)) => one.cmp(two),
            (Order::Number(one), Order::Number(two)) => one.total_cmp(two),
            (one, two) => rank(one).cmp(&rank(two)),
        }
    }
}

/// Order of a table's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sorting {
    /// Index of the column.
    pub column: usize,
    pub direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    pub fn reverse(self) -> Self {
        match self {
            Direction::Ascending => Direction::Descending,
            Direction::Descending => Direction::Ascending,
        }
    }
}

impl Table {
    /// Sorts the rows. Equal rows keep the order of the view.
    pub fn sort(&mut self, sorting: Sorting) {
        self.rows.sort_by(|one, two| {
            let (Some(one), Some(two)) = (one.cells.get(sorting.column), two.cells.get(sorting.column))
            else {
                return Ordering::Equal;
            };
            match sorting.direction {
                Direction::Ascending => one.compare(two),
                Direction::Descending => two.compare(one),
            }
        });
    }

    /// Keeps the rows of which a cell contains `text`, in upper or lower case.
    pub fn filter(&mut self, text: &str) {
        let text = text.to_lowercase();
        if !text.is_empty() {
            self.rows.retain(|row| {
                let mut cells = row.cells.iter();
                cells.any(|cell| cell.shown.to_lowercase().contains(&text))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |name: &str, value| TableRow {
            key: name.to_owned(),
            connection: None,
            cells: vec![Cell::text(name), Cell::number(value, |value| format!("{value}"))],
            emphasis: Emphasis::Normal,
        };
        Table {
            columns: vec![Column::text("NAME"), Column::number("VALUE")],
            rows: vec![row("b", Some(10.0)), row("A", None), row("c", Some(9.0))],
            notes: vec![],
        }
    }

    fn names(table: &Table) -> String {
        table.rows.iter().map(|row| row.cells[0].shown.as_str()).collect()
    }

    #[test]
    fn numbers_are_sorted_as_numbers_and_texts_without_case() {
        let mut table = table();
        for (column, direction, expected) in [
            (0, Direction::Ascending, "Abc"),
            (1, Direction::Descending, "bcA"),
            (1, Direction::Ascending, "Acb"),
            (7, Direction::Ascending, "Acb"),
        ] {
            table.sort(Sorting { column, direction });
            assert_eq!(names(&table), expected);
        }
    }

    #[test]
    fn a_filter_looks_into_every_cell() {
        let mut found = table();
        found.filter("a");
        assert_eq!(names(&found), "A");
        let mut found = table();
        found.filter("10");
        assert_eq!(names(&found), "b");
        let mut found = table();
        found.filter("");
        assert_eq!(found.rows.len(), 3);
    }
}
