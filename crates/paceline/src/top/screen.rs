//! The state of the screen, and what keys do to it. It knows no terminal and no server, so tests press its keys.

use super::options::Options;
use super::reader::Kill;
use super::reading::{ReaderConnection, Reading};
use super::table::{Sorting, Table, TableRow};
use super::view::summary::summary;
use super::view::{Idle, Input, View};
use crate::connection::{Result, ServerError};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::collections::VecDeque;
use std::time::Duration;

/// Effect of a key outside the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Nothing,
    /// Read at once.
    Read,
    /// A kill of a session that was read through this connection.
    Kill(Kill, ReaderConnection),
    Quit,
}

/// Part of the screen that receives keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    Table,
    /// The filter's text is typed. The old one comes back with Esc.
    Filter {
        old: String,
    },
    /// The question before a kill.
    Kill {
        connection: u64,
        seen_by: ReaderConnection,
        description: String,
    },
    /// All cells of the selected row.
    Details,
    Help,
}

/// A line about what happened last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    Done(String),
    Failed(String),
}

/// Intervals between two readings.
const INTERVALS: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_secs(60),
];
/// Values of the history that are kept.
const HISTORY_MAX: usize = 600;
/// Characters of a filter.
const FILTER_MAX: usize = 100;
/// Reason for not killing while the rows are old.
const NO_KILL_IN_OUTAGE: &str = "nothing was killed: the rows are old, and an id may be another session's";

/// The state of the screen.
pub struct Screen {
    address: String,
    view: View,
    sortings: [Sorting; View::ALL.len()],
    selected: [Option<String>; View::ALL.len()],
    filter: String,
    idle: Idle,
    interval: Duration,
    is_paused: bool,
    mode: Mode,
    message: Option<Message>,
    /// Text of the error that keeps the reading from being renewed.
    outage: Option<String>,
    reading: Option<Reading>,
    before: Option<Reading>,
    /// The view's table, filtered and sorted. It is built again when something changes from which it is built.
    table: Table,
    commits: VecDeque<u64>,
    needs_clear: bool,
    /// First row on the screen, which the drawing sets.
    pub offset: usize,
    /// Rows on the screen, which the drawing sets.
    pub page: usize,
}

impl Screen {
    pub fn new(options: &Options, address: String) -> Self {
        Screen {
            address,
            view: options.first_view(),
            sortings: View::ALL.map(View::sorting),
            selected: [const { None }; View::ALL.len()],
            filter: options.filter.clone(),
            idle: options.idle(),
            interval: options.interval(),
            is_paused: false,
            mode: Mode::Table,
            message: None,
            outage: None,
            reading: None,
            before: None,
            table: Table::default(),
            commits: VecDeque::new(),
            needs_clear: false,
            offset: 0,
            page: 1,
        }
    }

    pub fn view(&self) -> View {
        self.view
    }

    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    pub fn interval(&self) -> Duration {
        self.interval
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    pub fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    pub fn outage(&self) -> Option<&str> {
        self.outage.as_deref()
    }

    /// Returns the commits per second of the past, oldest first.
    pub fn commits(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.commits.iter().copied()
    }

    /// Returns the order of the view's rows.
    pub fn sorting(&self) -> Sorting {
        self.sortings[self.view.index()]
    }

    /// Returns whether everything has to be drawn again, once.
    pub fn wants_redraw(&mut self) -> bool {
        std::mem::take(&mut self.needs_clear)
    }

    /// Takes a new reading.
    pub fn accept(&mut self, reading: Reading) {
        self.outage = None;
        self.before = self.reading.take();
        if let Some(before) = &self.before {
            let rate = reading.rate(before, "Binlog_commits").unwrap_or_default();
            if self.commits.len() == HISTORY_MAX {
                self.commits.pop_front();
            }
            self.commits.push_back(rate as u64);
        }
        self.reading = Some(reading);
        self.rebuild();
    }

    /// Records that there is no reading.
    pub fn fail(&mut self, error: &ServerError) {
        self.outage = Some(super::harmless::harmless(&error.to_string()));
    }

    /// Records the end of a kill.
    pub fn killed(&mut self, done: Result<Kill>) {
        self.message = Some(match done {
            Ok(kill) => Message::Done(format!("{}: done", kill.statement())),
            Err(error) => Message::Failed(super::harmless::harmless(&error.to_string())),
        });
    }

    /// Records that something was not done.
    pub fn refuse(&mut self, reason: &str) {
        self.message = Some(Message::Failed(reason.to_owned()));
    }

    /// Returns the lines above the table.
    pub fn summary(&self) -> [String; 2] {
        match &self.reading {
            Some(reading) => summary(&self.address, reading, self.before.as_ref().unwrap_or(reading)),
            None => [self.address.clone(), String::new()],
        }
    }

    pub fn table(&self) -> &Table {
        &self.table
    }

    fn rebuild(&mut self) {
        self.table = self.build();
    }

    fn build(&self) -> Table {
        let Some(reading) = &self.reading else {
            return Table::default();
        };
        // After a change of the view its parts are not there yet.
        if self
            .view
            .parts()
            .iter()
            .any(|part| !reading.parts.contains_key(part))
        {
            return Table {
                notes: vec!["reading …".into()],
                ..Table::default()
            };
        }
        let mut table = self.view.table(Input {
            reading,
            before: self.before.as_ref().unwrap_or(reading),
            idle: self.idle,
        });
        table.filter(&self.filter);
        table.sort(self.sorting());
        table
    }

    /// Returns the index of the selected row: the one with the selected key, or the first.
    pub fn selected(&self) -> Option<usize> {
        let rows = &self.table.rows;
        let key = self.selected[self.view.index()].as_ref();
        let found = key.and_then(|key| rows.iter().position(|row| row.key == *key));
        found.or((!rows.is_empty()).then_some(0))
    }

    /// Takes an event of the terminal.
    pub fn take(&mut self, event: &Event) -> Action {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.press(*key),
            Event::Resize(..) => {
                self.needs_clear = true;
                Action::Nothing
            }
            _ => Action::Nothing,
        }
    }

    fn press(&mut self, key: KeyEvent) -> Action {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if is_control => return Action::Quit,
            KeyCode::Char('l') if is_control => {
                self.needs_clear = true;
                return Action::Nothing;
            }
            _ if is_control || key.modifiers.contains(KeyModifiers::ALT) => return Action::Nothing,
            _ => {}
        }
        match std::mem::replace(&mut self.mode, Mode::Table) {
            Mode::Table => self.press_in_table(key.code),
            Mode::Filter { old } => self.press_in_filter(key.code, old),
            Mode::Kill {
                connection, seen_by, ..
            } => match key.code {
                KeyCode::Char('y' | 's') if self.outage.is_some() => {
                    self.refuse(NO_KILL_IN_OUTAGE);
                    Action::Nothing
                }
                KeyCode::Char('y') => Action::Kill(Kill::Connection(connection), seen_by),
                KeyCode::Char('s') => Action::Kill(Kill::Statement(connection), seen_by),
                _ => {
                    self.message = Some(Message::Done("nothing was killed".into()));
                    Action::Nothing
                }
            },
            Mode::Details | Mode::Help => Action::Nothing,
        }
    }

    fn press_in_filter(&mut self, key: KeyCode, old: String) -> Action {
        match key {
            KeyCode::Enter => return Action::Nothing,
            KeyCode::Esc => {
                self.filter = old;
                self.rebuild();
                return Action::Nothing;
            }
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(character)
                if !character.is_control() && self.filter.chars().count() < FILTER_MAX =>
            {
                self.filter.push(character);
            }
            _ => {}
        }
        self.rebuild();
        self.mode = Mode::Filter { old };
        Action::Nothing
    }

    fn press_in_table(&mut self, key: KeyCode) -> Action {
        self.message = None;
        match key {
            KeyCode::Char('q') => return Action::Quit,
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.mode = Mode::Help,
            KeyCode::Char(digit @ '1'..='6') => {
                return self.show(View::ALL[usize::from(digit as u8 - b'1')]);
            }
            KeyCode::Tab | KeyCode::Right => return self.turn(1),
            KeyCode::BackTab | KeyCode::Left => return self.turn(View::ALL.len() - 1),
            KeyCode::Up => self.move_by(-1),
            KeyCode::Down => self.move_by(1),
            KeyCode::PageUp => self.move_by(-(self.page.max(1) as isize)),
            KeyCode::PageDown => self.move_by(self.page.max(1) as isize),
            KeyCode::Home => self.move_by(isize::MIN / 2),
            KeyCode::End => self.move_by(isize::MAX / 2),
            KeyCode::Char('s' | '>') => self.sort_by_next(1),
            KeyCode::Char('S' | '<') => self.sort_by_next(-1),
            KeyCode::Char('r') => {
                let sorting = &mut self.sortings[self.view.index()];
                sorting.direction = sorting.direction.reverse();
                self.rebuild();
            }
            KeyCode::Char('i') => {
                self.idle = match self.idle {
                    Idle::Shown => Idle::Hidden,
                    Idle::Hidden => Idle::Shown,
                };
                self.rebuild();
            }
            KeyCode::Char('/' | 'f') => {
                self.mode = Mode::Filter {
                    old: self.filter.clone(),
                };
            }
            KeyCode::Esc => {
                self.filter.clear();
                self.rebuild();
            }
            KeyCode::Char('+') => {
                self.change_interval(INTERVALS.into_iter().find(|longer| *longer > self.interval));
            }
            KeyCode::Char('-') => {
                self.change_interval(INTERVALS.into_iter().rfind(|shorter| *shorter < self.interval));
            }
            KeyCode::Char(' ' | 'p') => {
                self.is_paused = !self.is_paused;
                return if self.is_paused {
                    Action::Nothing
                } else {
                    Action::Read
                };
            }
            KeyCode::Enter if self.selected_row().is_some() => self.mode = Mode::Details,
            KeyCode::Char('k') => self.ask_to_kill(),
            _ => {}
        }
        Action::Nothing
    }

    fn show(&mut self, view: View) -> Action {
        self.view = view;
        self.offset = 0;
        self.rebuild();
        // A view of a paused screen needs its parts, once.
        Action::Read
    }

    fn turn(&mut self, by: usize) -> Action {
        self.show(View::ALL[(self.view.index() + by) % View::ALL.len()])
    }

    /// Returns the selected row.
    pub fn selected_row(&self) -> Option<&TableRow> {
        self.table.rows.get(self.selected()?)
    }

    fn move_by(&mut self, rows: isize) {
        if let Some(at) = self.selected() {
            let last = self.table.rows.len() - 1;
            let to = at.saturating_add_signed(rows).min(last);
            self.selected[self.view.index()] = Some(self.table.rows[to].key.clone());
        }
    }

    fn sort_by_next(&mut self, by: isize) {
        let columns = self.table.columns.len();
        if columns > 0 {
            let sorting = &mut self.sortings[self.view.index()];
            let at = sorting.column.min(columns);
            sorting.column = match (at, by) {
                (at, 1) if at + 1 < columns => at + 1,
                (_, 1) => 0,
                (0, _) => columns - 1,
                (at, _) => at - 1,
            };
            self.rebuild();
        }
    }

    /// Takes the next interval; keeps the current one without a next one.
    fn change_interval(&mut self, next: Option<Duration>) {
        self.interval = next.unwrap_or(self.interval);
        self.message = Some(Message::Done(format!("every {} s", self.interval.as_secs())));
    }

    fn ask_to_kill(&mut self) {
        if self.outage.is_some() {
            self.refuse(NO_KILL_IN_OUTAGE);
            return;
        }
        let row = self.selected_row();
        let target = row.and_then(|row| Some((row.connection?, row, self.reading.as_ref()?.seen_by)));
        let Some((connection, row, seen_by)) = target else {
            self.refuse("this row has no session to kill");
            return;
        };
        let cells = row.cells.iter().map(|cell| cell.shown.as_str());
        let cells: Vec<&str> = cells.filter(|cell| !matches!(*cell, "" | "-")).collect();
        let description = cells.join("  ");
        self.mode = Mode::Kill {
            connection,
            seen_by,
            description,
        };
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::reading::{Part, Row};
    use super::super::view::test_support::{reading, row};
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    /// Returns a screen with these sessions, by id and state.
    pub fn screen(sessions: &[(&str, &str)]) -> Screen {
        let session = |(id, state): &(&str, &str)| {
            row(&[
                ("ID", id),
                ("USER", "app"),
                ("HOST", "h"),
                ("COMMAND", "Query"),
                ("TIME_MS", id),
                ("STATE", state),
                ("INFO", "select 表\x1b[2J"),
            ])
        };
        let mut screen = empty();
        let rows: Vec<Row> = sessions.iter().map(session).collect();
        screen.accept(reading(
            0,
            &[("Binlog_commits", "0")],
            vec![(Part::Sessions, Ok(vec![])), (Part::Transactions, Ok(vec![]))],
        ));
        screen.accept(reading(
            1,
            &[("Binlog_commits", "70")],
            vec![(Part::Sessions, Ok(rows)), (Part::Transactions, Ok(vec![]))],
        ));
        screen
    }

    /// Returns a screen without a reading.
    pub fn empty() -> Screen {
        Screen::new(&Line::parse_from(["top"]).options, "db1:3306".into())
    }

    pub fn press(screen: &mut Screen, keys: &str) -> Action {
        let mut action = Action::Nothing;
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                '\x1b' => KeyCode::Esc,
                '\t' => KeyCode::Tab,
                '\x08' => KeyCode::Backspace,
                'v' => KeyCode::Down,
                '^' => KeyCode::Up,
                other => KeyCode::Char(other),
            };
            action = screen.take(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
            assert_eq!(screen.table, screen.build(), "after {key:?}");
        }
        action
    }

    fn ids(screen: &Screen) -> Vec<String> {
        let rows = screen.table().rows.iter();
        rows.map(|row| row.key.clone()).collect()
    }

    #[test]
    fn sorting_and_its_direction_are_the_views_own() {
        let mut screen = screen(&[("5", "executing"), ("7", "init")]);
        assert_eq!(ids(&screen), ["7", "5"]);
        press(&mut screen, "r");
        assert_eq!(ids(&screen), ["5", "7"]);
        press(&mut screen, "s");
        assert_eq!(screen.sorting().column, 6);
        assert_eq!(press(&mut screen, "\t"), Action::Read);
        assert_eq!(
            (screen.view(), screen.sorting()),
            (View::Statements, View::Statements.sorting())
        );
        press(&mut screen, "<");
        assert_eq!(
            screen.sorting().column,
            0,
            "a view without a table has no columns"
        );
    }

    #[test]
    fn idle_sessions_come_and_go_with_a_key() {
        let mut screen = screen(&[("5", "")]);
        let idle = row(&[("ID", "7"), ("COMMAND", "Sleep")]);
        let parts = vec![(Part::Sessions, Ok(vec![idle])), (Part::Transactions, Ok(vec![]))];
        screen.accept(reading(2, &[], parts));
        assert!(ids(&screen).is_empty());
        press(&mut screen, "i");
        assert_eq!(ids(&screen), ["7"]);
        press(&mut screen, "i");
        assert!(ids(&screen).is_empty());
    }

    #[test]
    fn a_selection_stays_with_its_row() {
        let mut screen = screen(&[("5", ""), ("7", "")]);
        press(&mut screen, "v");
        assert_eq!(screen.selected_row().unwrap().key, "5");
        press(&mut screen, "r");
        assert_eq!(screen.selected_row().unwrap().key, "5");
        press(&mut screen, "^vvvv");
        assert_eq!(screen.selected_row().unwrap().key, "7");
    }

    #[test]
    fn a_kill_asks_and_anything_but_yes_is_no() {
        let mut screen = screen(&[("5", "executing")]);
        assert_eq!(press(&mut screen, "k"), Action::Nothing);
        let Mode::Kill {
            connection: 5,
            description,
            ..
        } = screen.mode()
        else {
            panic!("{:?}", screen.mode());
        };
        assert!(
            description.contains("app") && description.contains("select 表·[2J"),
            "{description}"
        );
        assert_eq!(press(&mut screen, "q"), Action::Nothing);
        assert_eq!(
            screen.message(),
            Some(&Message::Done("nothing was killed".into()))
        );
        let seen_by = ReaderConnection::default();
        assert_eq!(
            press(&mut screen, "ky"),
            Action::Kill(Kill::Connection(5), seen_by)
        );
        assert_eq!(
            press(&mut screen, "ks"),
            Action::Kill(Kill::Statement(5), seen_by)
        );
        assert_eq!(press(&mut screen, "/zzz\nk"), Action::Nothing);
        assert_eq!(
            screen.message(),
            Some(&Message::Failed("this row has no session to kill".into()))
        );
    }

    #[test]
    fn nothing_is_killed_while_the_rows_are_old() {
        let lost = ServerError::new("db1:3306", "connection lost");
        let mut screen = screen(&[("5", "executing")]);
        screen.fail(&lost);
        for keys in ["ky", "ks"] {
            assert_eq!(press(&mut screen, keys), Action::Nothing);
            assert_eq!(screen.mode(), &Mode::Table);
        }
        press(&mut screen, "k");
        assert_eq!(screen.message(), Some(&Message::Failed(NO_KILL_IN_OUTAGE.into())));
    }

    #[test]
    fn a_question_from_before_an_outage_kills_only_through_its_own_connection() {
        let lost = ServerError::new("db1:3306", "connection lost");
        let mut screen = screen(&[("5", "executing")]);
        let again = Reading {
            seen_by: ReaderConnection::default().next(),
            ..screen.reading.clone().unwrap()
        };
        for key in ["y", "s"] {
            press(&mut screen, "k");
            screen.fail(&lost);
            assert_eq!(press(&mut screen, key), Action::Nothing);
            screen.accept(screen.reading.clone().unwrap());
        }
        press(&mut screen, "k");
        screen.fail(&lost);
        screen.accept(again);
        let seen_by = ReaderConnection::default();
        assert_eq!(
            press(&mut screen, "y"),
            Action::Kill(Kill::Connection(5), seen_by)
        );
        let kill = Action::Kill(Kill::Connection(5), seen_by.next());
        assert_eq!(press(&mut screen, "ky"), kill);
    }

    #[test]
    fn a_filter_is_taken_back_with_escape() {
        let mut screen = screen(&[("5", "executing"), ("7", "init")]);
        press(&mut screen, "/inix\x08\n");
        assert_eq!((screen.filter(), ids(&screen)), ("ini", vec!["7".to_owned()]));
        press(&mut screen, "/q\x1b");
        assert_eq!(screen.filter(), "ini");
        press(&mut screen, "\x1b");
        assert_eq!((screen.filter(), screen.mode()), ("", &Mode::Table));
    }

    #[test]
    fn pause_interval_help_and_the_end() {
        let mut screen = screen(&[]);
        assert_eq!(press(&mut screen, " "), Action::Nothing);
        assert!(screen.is_paused());
        assert_eq!(press(&mut screen, " "), Action::Read);
        press(&mut screen, "+");
        assert_eq!(screen.interval(), Duration::from_secs(5));
        press(&mut screen, "----");
        assert_eq!(screen.interval(), Duration::from_secs(1));
        press(&mut screen, "++++++++");
        assert_eq!(screen.interval(), Duration::from_secs(60));
        for (keys, seconds) in [("+", 5), ("-", 2)] {
            screen.interval = Duration::from_secs(3);
            press(&mut screen, keys);
            assert_eq!(screen.interval(), Duration::from_secs(seconds), "{keys} from 3 s");
        }
        press(&mut screen, "?");
        assert_eq!(screen.mode(), &Mode::Help);
        assert_eq!(press(&mut screen, "q"), Action::Nothing, "it closes the help");
        assert_eq!(press(&mut screen, "q"), Action::Quit);
        let control = Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
        assert_eq!(screen.take(&control), Action::Quit);
    }
}
