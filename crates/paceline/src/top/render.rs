//! Draws the screen.
//!
//! ```text
//!   address, version, role, up          every 2 s
//!   sessions, statements/s, commits/s …
//!   1 Sessions  2 Statements  …
//!   ID  USER  …                                      the table; the last column gets the rest of the line
//!   (notes)
//!   message, or the keys
//! ```
//! A terminal that is too small for that says so. Nothing here can fail: what does not fit is cut.

use super::number;
use super::plain_text::width;
use super::screen::{Message, Mode, Screen};
use super::table::{Alignment, Direction, Emphasis, Table};
use super::view::View;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Sparkline, TableState, Wrap};

/// Smallest terminal on which the screen is of use.
const WIDTH_MIN: u16 = 40;
const HEIGHT_MIN: u16 = 8;
/// Greatest width of a column other than the last.
const COLUMN_MAX: usize = 40;
/// Width of the last column that others must leave, if there is any.
const LAST_COLUMN_MIN: usize = 20;
/// Height of the commits' history.
const HISTORY_HEIGHT: u16 = 4;
const NOTES_MAX: usize = 4;

const ALARM: Style = Style::new().fg(Color::Red);
const TITLE: Style = Style::new().add_modifier(Modifier::BOLD);
const INVERSE: Style = Style::new().add_modifier(Modifier::REVERSED);
const QUIET: Style = Style::new().add_modifier(Modifier::DIM);

const KEYS: &str =
    "q quit  ? help  1-6 views  s sort  r reverse  / filter  space pause  + - interval  k kill";

/// Draws the screen.
pub fn draw(frame: &mut Frame, screen: &mut Screen) {
    let area = frame.area();
    if area.width < WIDTH_MIN || area.height < HEIGHT_MIN {
        let text = format!(
            "The terminal is too small: {WIDTH_MIN} columns and {HEIGHT_MIN} lines are needed. q quits."
        );
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return;
    }
    let notes = screen.table().notes.len().min(NOTES_MAX) as u16;
    let history = match screen.view() == View::Commits && area.height > HEIGHT_MIN + 2 * HISTORY_HEIGHT {
        true => HISTORY_HEIGHT,
        false => 0,
    };
    let [summary, tabs, plot, rows, below, bottom] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(1),
        Constraint::Length(history),
        Constraint::Min(1),
        Constraint::Length(notes),
        Constraint::Length(1),
    ])
    .areas(area);
    draw_summary(frame, screen, summary);
    draw_tabs(frame, screen.view(), tabs);
    if history > 0 {
        draw_history(frame, screen, plot);
    }
    draw_table(frame, screen, rows);
    let table = screen.table();
    let lines: Vec<Line> = table
        .notes
        .iter()
        .take(NOTES_MAX)
        .map(|note| Line::from(note.as_str()).style(QUIET))
        .collect();
    frame.render_widget(Paragraph::new(lines), below);
    draw_bottom(frame, screen, bottom);
    match screen.mode() {
        Mode::Table | Mode::Filter { .. } => {}
        Mode::Help => draw_dialog(frame, " Keys ", help()),
        Mode::Details => draw_dialog(frame, " Row ", details(screen)),
        Mode::Kill {
            connection,
            description,
            ..
        } => {
            let lines = vec![
                Line::from(format!("Kill the connection {connection}?")).style(ALARM),
                Line::from(description.as_str()),
                Line::default(),
                Line::from("y  the connection: its transaction is rolled back"),
                Line::from("s  only the statement that it executes"),
                Line::from("any other key  nothing"),
            ];
            draw_dialog(frame, " Kill ", lines);
        }
    }
}

fn draw_summary(frame: &mut Frame, screen: &Screen, area: Rect) {
    let pace = match (screen.is_paused(), screen.outage()) {
        (true, _) => Span::styled(" PAUSED ", INVERSE),
        (false, Some(_)) => Span::styled(" OLD ", INVERSE),
        (false, None) => Span::raw(format!(" every {} s ", screen.interval().as_secs())),
    };
    let [first, second] = screen.summary();
    let [left, right] =
        Layout::horizontal([Constraint::Min(1), Constraint::Length(pace.width() as u16)]).areas(area);
    let lines = vec![Line::from(first).style(TITLE), Line::from(second)];
    frame.render_widget(Paragraph::new(lines), left);
    frame.render_widget(Paragraph::new(Line::from(pace)), right);
}

fn draw_tabs(frame: &mut Frame, shown: View, area: Rect) {
    let mut spans = Vec::new();
    for view in View::ALL {
        let style = if view == shown { INVERSE } else { Style::new() };
        let title = format!(" {} {} ", view.index() + 1, view.title());
        spans.push(Span::styled(title, style));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn draw_history(frame: &mut Frame, screen: &Screen, area: Rect) {
    // The newest at the right edge.
    let fitting = usize::from(area.width.saturating_sub(2));
    let mut values: Vec<u64> = screen.commits().rev().take(fitting).collect();
    values.reverse();
    let now = screen.commits().next_back().unwrap_or_default();
    let most = values.iter().copied().max().unwrap_or_default();
    let title = format!(
        " commits/s: {} now, {} at most ",
        number::count(now as f64),
        number::count(most as f64)
    );
    let plot = Sparkline::default()
        .data(values)
        .block(Block::bordered().title(title));
    frame.render_widget(plot, area);
}

/// Returns the columns' widths on a terminal of this width. Columns beyond it get none.
fn column_widths(table: &Table, available: usize) -> Vec<usize> {
    let Some((_, others)) = table.columns.split_last() else {
        return Vec::new();
    };
    let mut widths: Vec<usize> = Vec::new();
    let mut left = available.saturating_sub(LAST_COLUMN_MIN);
    for (at, column) in others.iter().enumerate() {
        let cells = table.rows.iter().filter_map(|row| row.cells.get(at));
        // One more for the arrow of the sorting.
        let widest = cells
            .map(|cell| width(&cell.shown))
            .chain([width(column.title) + 1])
            .max();
        let given = widest.unwrap_or_default().min(COLUMN_MAX).min(left);
        left = left.saturating_sub(given + 1);
        widths.push(given);
    }
    widths.push(left + LAST_COLUMN_MIN.min(available));
    widths
}

fn draw_table(frame: &mut Frame, screen: &mut Screen, area: Rect) {
    screen.page = usize::from(area.height.saturating_sub(1));
    let table = screen.table();
    if table.rows.is_empty() {
        return;
    }
    let widths = column_widths(table, usize::from(area.width));
    let sorting = screen.sorting();
    let text = |text: String, alignment: Alignment| match alignment {
        Alignment::Left => Cell::from(Line::from(text)),
        Alignment::Right => Cell::from(Line::from(text).right_aligned()),
    };
    let titles = table.columns.iter().enumerate().map(|(at, column)| {
        let arrow = match (at == sorting.column, sorting.direction) {
            (false, _) => "",
            (true, Direction::Ascending) => "▲",
            (true, Direction::Descending) => "▼",
        };
        text(format!("{}{arrow}", column.title), column.alignment)
    });
    let selected = screen.selected();
    // Only what is on the screen is drawn: the table may be long.
    let first = match selected {
        Some(at) if at < screen.offset => at,
        Some(at) if at >= screen.offset + screen.page => at + 1 - screen.page.max(1),
        _ => screen.offset.min(table.rows.len().saturating_sub(screen.page)),
    };
    let rows = table.rows.iter().skip(first).take(screen.page).map(|row| {
        let cells = row.cells.iter().zip(&table.columns);
        let style = match row.emphasis {
            Emphasis::Normal => Style::new(),
            Emphasis::Alarm => ALARM,
            Emphasis::Quiet => QUIET,
        };
        Row::new(cells.map(|(cell, column)| text(cell.shown.clone(), column.alignment))).style(style)
    });
    let widths = widths.iter().map(|width| Constraint::Length(*width as u16));
    let drawn = ratatui::widgets::Table::new(rows, widths)
        .column_spacing(1)
        .header(Row::new(titles).style(TITLE))
        .row_highlight_style(INVERSE);
    let mut state = TableState::default().with_selected(selected.map(|at| at - first));
    frame.render_stateful_widget(drawn, area, &mut state);
    screen.offset = first;
}

fn draw_bottom(frame: &mut Frame, screen: &Screen, area: Rect) {
    let line = match (screen.mode(), screen.outage(), screen.message()) {
        (Mode::Filter { .. }, ..) => Line::from(format!(
            "filter: {}▏  Enter keeps it, Esc takes it back",
            screen.filter()
        )),
        (_, Some(outage), _) => Line::from(format!("trying again: {outage}")).style(ALARM),
        (_, None, Some(Message::Failed(text))) => Line::from(text.as_str()).style(ALARM),
        (_, None, Some(Message::Done(text))) => Line::from(text.as_str()),
        (_, None, None) if !screen.filter().is_empty() => {
            Line::from(format!("filter: {}  (Esc shows all)", screen.filter()))
        }
        (_, None, None) => Line::from(KEYS).style(QUIET),
    };
    frame.render_widget(Paragraph::new(line), area);
}

fn help() -> Vec<Line<'static>> {
    const HELP: [(&str, &str); 13] = [
        ("1-6, Tab, ← →", "another view"),
        ("↑ ↓ PgUp PgDn", "select a row"),
        ("Enter", "all of the selected row"),
        ("s S  < >", "sort by the next, the previous column"),
        ("r", "reverse the order"),
        ("/", "show only rows with a text; Esc shows all"),
        ("i", "show or hide idle sessions"),
        ("+ -", "interval"),
        ("space", "pause, go on"),
        ("k", "kill the selected session, or the blocker; asks"),
        ("Ctrl-L", "draw everything again"),
        ("? h", "this help"),
        ("q Ctrl-C", "quit"),
    ];
    HELP.iter()
        .map(|(keys, meaning)| Line::from(format!("{keys:<15} {meaning}")))
        .collect()
}

fn details(screen: &Screen) -> Vec<Line<'static>> {
    let Some(row) = screen.selected_row() else {
        return vec![Line::from("the row is gone")];
    };
    let cells = screen.table().columns.iter().zip(&row.cells);
    cells
        .map(|(column, cell)| Line::from(format!("{}: {}", column.title, cell.shown)))
        .collect()
}

/// Draws lines in a box in the middle.
fn draw_dialog(frame: &mut Frame, title: &'static str, lines: Vec<Line>) {
    let area = frame.area();
    let inner = usize::from(area.width.saturating_sub(6)).max(1);
    let wanted: usize = lines.iter().map(|line| line.width().div_ceil(inner).max(1)).sum();
    let widest = lines.iter().map(Line::width).max().unwrap_or_default().min(inner);
    let width = (widest as u16 + 4).clamp(10, area.width);
    let height = (wanted as u16 + 2).min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let text = Paragraph::new(lines)
        .wrap(Wrap { trim: false })
        .block(Block::bordered().title(title));
    frame.render_widget(text, place);
}

#[cfg(test)]
mod tests {
    use super::super::reading::Problem;
    use super::super::screen::tests::{empty, press, screen};
    use super::super::view::test_support::{reading, row};
    use super::*;
    use crate::connection::ServerError;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(screen: &mut Screen, columns: u16, lines: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        terminal.draw(|frame| draw(frame, screen)).unwrap();
        let buffer = terminal.backend().buffer();
        let mut shown = Vec::new();
        for y in 0..lines {
            let mut line = String::new();
            let mut covered = 0;
            for x in 0..columns {
                let symbol = buffer[(x, y)].symbol();
                // The cell after a wide character belongs to it.
                if covered == 0 {
                    line.push_str(symbol);
                    covered = width(symbol).saturating_sub(1);
                } else {
                    covered -= 1;
                }
            }
            shown.push(line.trim_end().to_owned());
        }
        shown
    }

    #[test]
    fn sessions() {
        let mut screen = screen(&[("5", "executing"), ("7", "Waiting for row lock")]);
        let lines = drawn(&mut screen, 130, 10);
        assert_eq!(
            lines[0],
            format!(
                "{:<119} every 2 s",
                "db1:3306  db1  10.11.19-MariaDB-paceline-0.2.0  server 1  writable  up 1:00:00"
            )
        );
        assert!(
            lines[1].starts_with("sessions 3 (- running)  statements/s -  commits/s 70 (group -)"),
            "{lines:?}"
        );
        assert_eq!(
            lines[2],
            " 1 Sessions  2 Statements  3 Locks  4 Transactions  5 Commits  6 Replication"
        );
        assert!(
            lines[3].starts_with(" ID USER  HOST  DATABASE  COMMAND   TIME▼"),
            "{lines:?}"
        );
        assert!(
            lines[4].starts_with("  7 app   h") && lines[4].contains("select 表·[2J"),
            "{lines:?}"
        );
        assert_eq!(lines[9], KEYS);
    }

    #[test]
    fn every_view_empty_full_and_refused() {
        for view in View::ALL {
            let key = format!("{}", view.index() + 1);
            let mut nothing = empty();
            press(&mut nothing, &key);
            assert!(
                drawn(&mut nothing, 100, 20)[0].starts_with("db1:3306"),
                "{view:?}"
            );

            let full = |_| {
                row(&[
                    ("ID", "1"),
                    ("COMMAND", "Binlog Dump"),
                    ("USER", "表"),
                    ("STATE", "Waiting for lock"),
                    ("DIGEST_TEXT", "SELECT\x07"),
                    ("trx_id", "1"),
                    ("trx_mysql_thread_id", "1"),
                    ("requesting_trx_id", "1"),
                    ("blocking_trx_id", "1"),
                    ("NAME", "Paceline_sync_usec_count"),
                    ("VALUE", "3"),
                    ("Connection_name", "c"),
                    ("OBJECT_TYPE", "TABLE"),
                    ("LOCK_STATUS", "PENDING"),
                    ("PROCESSLIST_ID", "1"),
                ])
            };
            let mut many = empty();
            press(&mut many, &key);
            let parts = || {
                view.parts()
                    .iter()
                    .map(|part| (*part, Ok((0..50).map(full).collect())))
                    .collect()
            };
            many.accept(reading(
                0,
                &[("Binlog_commits", "1"), ("Binlog_group_commits", "1")],
                parts(),
            ));
            many.accept(reading(
                1,
                &[("Binlog_commits", "9"), ("Binlog_group_commits", "3")],
                parts(),
            ));
            let lines = drawn(&mut many, 100, 20);
            assert!(
                lines.iter().any(|line| line.contains(view.title())),
                "{view:?}: {lines:?}"
            );
            assert!(!lines.iter().any(|line| line.contains('\x07')), "{lines:?}");
            let header = many.table().columns[0].title;
            assert!(
                lines.iter().any(|line| line.trim_start().starts_with(header)),
                "{view:?}: {lines:?}"
            );

            let mut refused = empty();
            press(&mut refused, &key);
            let parts = view
                .parts()
                .iter()
                .map(|part| (*part, Err(Problem::Missing)))
                .collect();
            refused.accept(reading(0, &[], parts));
            let lines = drawn(&mut refused, 100, 20);
            assert!(
                lines
                    .iter()
                    .any(|line| line.contains("not exist") || line.contains("not known")),
                "{view:?}: {lines:?}"
            );
        }
    }

    #[test]
    fn an_outage_shows_that_the_rows_are_old() {
        let mut screen = screen(&[("5", "executing")]);
        screen.fail(&ServerError::new("db1:3306", "connection\x1b lost"));
        let lines = drawn(&mut screen, 100, 12);
        assert!(lines[0].ends_with(" OLD"), "{lines:?}");
        assert_eq!(lines[11], "trying again: db1:3306: connection· lost");
        assert!(lines[4].contains("select"));
    }

    #[test]
    fn dialogs_fit_into_small_terminals_and_a_smaller_one_says_so() {
        for (keys, text) in [
            ("?", "another view"),
            ("k", "Kill the connection 5?"),
            ("\n", "STATEMENT: select"),
            ("/x", "filter: x"),
        ] {
            let mut screen = screen(&[("5", "executing")]);
            press(&mut screen, keys);
            let lines = drawn(&mut screen, 80, 20);
            assert!(lines.iter().any(|line| line.contains(text)), "{keys}: {lines:?}");
            for (columns, rows) in [
                (WIDTH_MIN, HEIGHT_MIN),
                (300, 8),
                (40, 100),
                (1, 1),
                (39, 50),
                (0, 0),
            ] {
                drawn(&mut screen, columns, rows);
            }
        }
        let lines = drawn(&mut screen(&[]), 39, 8);
        assert!(lines[0].starts_with("The terminal is too small"), "{lines:?}");
    }

    #[test]
    fn the_selected_row_stays_on_the_screen() {
        let ids: Vec<String> = (100..200).map(|id| id.to_string()).collect();
        let sessions: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "")).collect();
        let mut screen = screen(&sessions);
        drawn(&mut screen, 100, 14);
        press(&mut screen, &"v".repeat(50));
        let lines = drawn(&mut screen, 100, 14);
        assert!(
            lines[4..13].iter().any(|line| line.starts_with("149 ")),
            "{lines:?}"
        );
        press(&mut screen, &"^".repeat(80));
        let lines = drawn(&mut screen, 100, 14);
        assert!(lines[4].starts_with("199 "), "{lines:?}");
    }

    #[test]
    fn the_last_column_gets_the_rest() {
        let screen = screen(&[("5", "x")]);
        for available in [0, 10, 40, 100, 500] {
            let widths = column_widths(screen.table(), available);
            let used: usize = widths.iter().sum::<usize>();
            assert!(used <= available, "{available}: {widths:?}");
        }
    }
}
