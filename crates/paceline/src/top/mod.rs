//! `paceline top`: what a server does, live in the terminal.
//!
//! ```text
//!   keys, resize ──▶ Screen ──draws──▶ terminal          a thread reads the keys: they are never late
//!                      ▲ │
//!              Reading │ │ Request: read these parts, kill that connection
//!                      │ ▼
//!                    Reader, a task with the only connection ──▶ server
//! ```
//! A [`reading::Reading`] is what the server said at one moment, part by part: the status always, the rest if the view
//! shows it. A part that the server refuses or lacks is a [`reading::Problem`], which the view shows instead; it does
//! not end the program. A [`view::View`] makes a [`table::Table`] from the latest reading and the one before it, from
//! which rates come. Sorting, filtering, drawing and plain text know only tables.
//!
//! *Ordering.* At most one request is on its way. A tick during that time asks nothing, so a slow server gets no queue.
//! A kill waits for the reading before it, whose time is limited by `--net-timeout`.
//!
//! *The terminal* is restored when the program ends: by a key, SIGINT, SIGTERM, SIGHUP, an error, a panic
//! ([`terminal`]). Texts of others are [made harmless](harmless) before they are drawn or printed.
//!
//! *Limits.* 2,000 rows of a part, the busiest first, and 1,000 characters of a statement; the view says what is left
//! out. 600 values of history. Intervals of 1 to 60 s.
//!
//! *After a lost connection* the last reading stays, marked as old, and each tick tries to connect again. The first
//! connection must succeed. Nothing can be killed then: ids on the screen may belong to other sessions after a restart.
//! So a kill uses only the connection through which its session was read.
//!
//! Rejected: the server's HTTP address as source (MariaDB has none; it is off by default); a thread per part with a
//! connection each (a monitor must not use up `max_connections`).

mod error;
mod harmless;
mod number;
mod options;
mod plain_text;
mod reader;
mod reading;
mod render;
mod screen;
mod table;
mod terminal;
mod view;

pub use options::Options;

use crate::connection::Connection;
use crate::server_options::Server;
use error::{Error, Result};
use reader::{Answer, Reader, Request};
use reading::Reading;
use screen::{Action, Screen};
use std::io::{ErrorKind, IsTerminal, Write};
use terminal::{TerminalEvents, TerminalGuard};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// Shows a server until it is told to end.
///
/// # Errors
/// Errors have texts for users: the server cannot be reached, standard output is no terminal and no text was asked for.
pub async fn run(options: &Options) -> Result<()> {
    let server = options.server.server().map_err(Error::Usage)?;
    let connection = Connection::open(&server.address, &server.login).await?;
    match options.output() {
        options::Output::Screen => {
            if !std::io::stdout().is_terminal() {
                return Err(Error::NoTerminal);
            }
            watch(options, server, connection).await
        }
        options::Output::Once => print(options, server, connection, Some(1)).await,
        options::Output::Batch => print(options, server, connection, None).await,
    }
}

/// Prints screens as plain text. Rates are those of the interval before each.
async fn print(options: &Options, server: Server, connection: Connection, count: Option<u32>) -> Result<()> {
    let mut reader = Reader::new(server, connection);
    let mut stop = crate::stop::StopSignals::take().map_err(Error::Terminal)?;
    let views = options.views();
    let mut ticks = interval(options.interval());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut printed = 0;
    let mut before: Option<Reading> = None;
    while count.is_none_or(|count| printed < count) {
        let reading = tokio::select! {
            reading = async { ticks.tick().await; reader.read(&views).await } => reading?,
            () = stop.wait() => return Ok(()),
        };
        if let Some(before) = &before {
            let text = plain_text::screen(options, &views, &reading, before);
            let mut out = std::io::stdout().lock();
            match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                Ok(()) => printed += 1,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(Error::Terminal(error)),
            }
        }
        before = Some(reading);
    }
    Ok(())
}

/// Maximum number of requests that wait: a reading, and a KILL after it.
const REQUESTS: usize = 2;

/// Shows the server in the terminal.
async fn watch(options: &Options, server: Server, connection: Connection) -> Result<()> {
    let address = server.address.to_string();
    let mut reader = Reader::new(server, connection);
    // The first reading before the terminal changes: an error is an ordinary line.
    let mut screen = Screen::new(options, address);
    let first = reader.read(&[screen.view()]).await?;
    screen.accept(first);
    let (requests, answers) = spawn(reader);
    let mut link = Link {
        requests,
        answers,
        is_reading: false,
    };

    let mut guard = TerminalGuard::enter().map_err(Error::Terminal)?;
    let mut events = TerminalEvents::start();
    let mut ends = Ends::take().map_err(Error::Terminal)?;
    let mut next = Instant::now() + screen.interval();
    // A paused screen reads when a key asks for it.
    let mut is_asked = false;
    loop {
        guard.draw(&mut screen).map_err(Error::Terminal)?;
        tokio::select! {
            event = events.next() => match event {
                None => return Ok(()),
                Some(Err(error)) => return Err(Error::Terminal(error)),
                Some(Ok(event)) => match screen.take(&event) {
                    Action::Nothing => {}
                    Action::Read => (next, is_asked) = (Instant::now(), true),
                    Action::Quit => return Ok(()),
                    Action::Kill(kill, seen_by) => {
                        if link.requests.try_send(Request::Kill(kill, seen_by)).is_err() {
                            screen.refuse("nothing was killed: the server has not answered yet");
                        }
                    }
                },
            },
            answer = link.answers.recv() => match answer {
                None => return Ok(()),
                Some(Answer::Reading(reading)) => {
                    link.is_reading = false;
                    match reading {
                        Ok(reading) => screen.accept(*reading),
                        Err(error) => screen.fail(&error),
                    }
                }
                Some(Answer::Killed(done)) => {
                    screen.killed(done);
                    (next, is_asked) = (Instant::now(), true);
                }
            },
            () = sleep_until(next), if !link.is_reading && (is_asked || !screen.is_paused()) => {
                is_asked = false;
                let views = vec![screen.view()];
                link.is_reading = link.requests.try_send(Request::Read(views)).is_ok();
                next = Instant::now() + screen.interval();
            }
            () = ends.wait() => return Ok(()),
        }
    }
}

/// The way to the reader's task and back.
struct Link {
    requests: mpsc::Sender<Request>,
    answers: mpsc::Receiver<Answer>,
    is_reading: bool,
}

fn spawn(mut reader: Reader) -> (mpsc::Sender<Request>, mpsc::Receiver<Answer>) {
    let (requests, mut asked) = mpsc::channel(REQUESTS);
    let (answer, answers) = mpsc::channel(REQUESTS);
    tokio::spawn(async move {
        while let Some(request) = asked.recv().await {
            let answered = match request {
                Request::Read(views) => Answer::Reading(reader.read(&views).await.map(Box::new)),
                Request::Kill(kill, seen_by) => Answer::Killed(reader.kill(kill, seen_by).await),
            };
            if answer.send(answered).await.is_err() {
                return;
            }
        }
    });
    (requests, answers)
}

/// Signals that end the program as the key does. In raw mode Ctrl-C is a key.
struct Ends([tokio::signal::unix::Signal; 3]);

impl Ends {
    fn take() -> std::io::Result<Self> {
        Ok(Ends([
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    async fn wait(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
