//! The terminal: taken at the start, restored at the end, whatever the end is.

use super::render;
use super::screen::Screen;
use ratatui::Terminal;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::{cursor, execute, terminal};
use ratatui::layout::{Position, Size};
use std::io::{self, Stdout, Write};
use std::sync::Once;
use tokio::sync::mpsc;

/// A terminal in raw mode with an empty alternate screen. Its end restores what was there.
pub struct TerminalGuard {
    terminal: Terminal<SilentBackend>,
}

/// The panic hook is installed once per process.
static PANIC_HOOK: Once = Once::new();

impl TerminalGuard {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Fails if it has no raw mode or cannot be written.
    pub fn enter() -> io::Result<Self> {
        // A panic's message would be drawn over, and the shell would stay in raw mode.
        PANIC_HOOK.call_once(|| {
            let inherited = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                inherited(panic);
            }));
        });
        terminal::enable_raw_mode()?;
        let entered = execute!(io::stdout(), terminal::EnterAlternateScreen, cursor::Hide)
            .and_then(|()| Terminal::new(SilentBackend(CrosstermBackend::new(io::stdout()))));
        match entered {
            Ok(terminal) => Ok(TerminalGuard { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws the screen. What has not changed is not sent.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, screen: &mut Screen) -> io::Result<()> {
        if screen.wants_redraw() {
            self.terminal.clear()?;
        }
        self.terminal.draw(|frame| render::draw(frame, screen)).map(drop)
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
    }
}

/// Writes to the terminal and never asks it. ratatui asks for the cursor's position before it clears; the answer would
/// come as input, which the thread of the keys reads, or never. The cursor is hidden, so its position is of no
/// interest.
struct SilentBackend(CrosstermBackend<Stdout>);

impl Backend for SilentBackend {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        self.0.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.0.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

/// Restores the terminal, as far as it still exists.
fn restore() {
    let _ = terminal::disable_raw_mode();
    let mut out = io::stdout();
    let _ = execute!(out, terminal::LeaveAlternateScreen, cursor::Show);
    let _ = out.flush();
}

/// Keys and changes of size, read by a thread.
pub struct TerminalEvents {
    events: mpsc::Receiver<io::Result<Event>>,
}

/// Events that wait. More wait in the terminal.
const EVENTS: usize = 64;

impl TerminalEvents {
    /// Starts to read. The thread ends with the process, or when nobody takes its events.
    pub fn start() -> Self {
        let (sender, events) = mpsc::channel(EVENTS);
        std::thread::spawn(move || {
            loop {
                let event = event::read();
                let is_end = event.is_err();
                if sender.blocking_send(event).is_err() || is_end {
                    return;
                }
            }
        });
        TerminalEvents { events }
    }

    /// Waits for the next event; `None` after an error.
    pub async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }
}
