//! `paceline demo`: a primary, a replica, an archive and a load, for somebody who wants to see Paceline.
//!
//! ```text
//!   temporary directory, cleaner ──▶ topology ──▶ what runs where ──▶ prompt, or wait ──▶ stop ──▶ cleaner removes all
//! ```
//! *Everything is gone at the end*, whatever the end is:
//!
//! | end | what happens |
//! |---|---|
//! | the prompt is left, `--seconds` are over, SIGINT, SIGTERM, SIGHUP of a closed terminal | the load ends and checks its rows, the servers stop, the directory is removed |
//! | a process of the demo dies | the same, with the process's last messages |
//! | a second SIGINT or SIGTERM, a panic, `kill -9` | the kernel kills the servers ([`bound_process`]), the [`cleaner`] ends the client and removes the directory |
//!
//! While the client has the prompt, SIGINT is for the client: it cancels a statement or a line.

pub mod bound_process;
mod child_process;
mod cleaner;
mod error;
mod topology;

use crate::stop::SECOND_SIGNAL_STATUS;
use cleaner::Cleaner;
use error::{Error, Result};
use std::fs::DirBuilder;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use topology::{AllAddresses, LoadOptions, Topology};

/// Time limit for the client to end after SIGTERM.
const CLIENT_END: Duration = Duration::from_secs(2);
/// Interval of polling.
const POLL: Duration = Duration::from_millis(10);

/// Options of `paceline demo`.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Time in seconds after which the demo ends by itself.
    #[arg(long, value_name = "N", default_value_t = 8 * 3600, value_parser = clap::value_parser!(u64).range(1..=7 * 86_400))]
    seconds: u64,
    /// Transactions per second of the load.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    rate: u64,
    /// Keep the directory with all data and logs at the end.
    #[arg(long)]
    keep: bool,
    /// Used by the demo itself: remove this directory of a demo when standard input ends.
    #[arg(long, value_name = "DIR", hide = true)]
    clean_up: Option<PathBuf>,
}

/// Runs the demo. To be called in the main thread.
///
/// # Errors
/// A message for users.
pub fn run(options: &Options) -> Result<(), String> {
    if let Some(directory) = &options.clean_up {
        return cleaner::run(directory);
    }
    // The processes are started by this thread, with whose end they end.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(demo(options)).map_err(|error| error.to_string())
}

async fn demo(options: &Options) -> Result<()> {
    let started = Instant::now();
    let mut signals = Signals::watch().map_err(Error::system("watch signals"))?;
    let program = std::env::current_exe().map_err(Error::system("find this program"))?;
    let directory = new_directory()?;
    let mut cleaner = Cleaner::start(&program, &directory)?;
    if options.keep {
        cleaner.keep_directory();
    }
    let load = LoadOptions {
        rate: options.rate,
        seconds: options.seconds,
    };
    let done = match Topology::new(&program, &directory) {
        Ok(mut topology) => {
            let ready = tokio::select! {
                ready = topology.start(load) => ready.map(Some),
                () = signals.end(Interrupt::Ends) => Ok(None),
            };
            let done = match ready {
                Ok(Some(addresses)) => {
                    print(&description(
                        &topology,
                        &addresses,
                        &directory,
                        options,
                        started.elapsed(),
                    ));
                    show(&mut topology, &mut signals, &mut cleaner).await
                }
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            let summary = tokio::select! {
                summary = topology.stop() => summary,
                () = signals.second() => std::process::exit(SECOND_SIGNAL_STATUS),
            };
            if !summary.is_empty() {
                print(&format!("\nThe load until the end:\n{summary}"));
            }
            done
        }
        Err(error) => Err(error),
    };
    let cleaned = cleaner.finish();
    print(&match &cleaned {
        _ if options.keep => format!("Kept: {}", directory.display()),
        Ok(()) => "All processes are stopped, and the directory is removed.".to_owned(),
        Err(_) => format!(
            "All processes are stopped. The directory is not removed: {}",
            directory.display()
        ),
    });
    done.and(cleaned)
}

/// Creates the directory of a new demo, which only this user can enter.
fn new_directory() -> Result<PathBuf> {
    let name = format!("{}{}", cleaner::PREFIX, std::process::id());
    let above = std::env::temp_dir();
    let number = std::iter::once(String::new()).chain((2..100).map(|number| format!("-{number}")));
    let mut failed = None;
    for number in number {
        // Paths in options of the processes must not depend on the working directory.
        let directory = std::path::absolute(above.join(format!("{name}{number}")));
        let directory = directory.map_err(Error::system("find the directory for temporary files"))?;
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => {
                let marker = directory.join(cleaner::MARKER);
                if let Err(error) = std::fs::write(&marker, "") {
                    // Without a marker the cleaner would not remove it.
                    let _ = std::fs::remove_dir_all(&directory);
                    return Err(Error::system(format!("write {}", marker.display()))(error));
                }
                return Ok(directory);
            }
            // A demo with this process id was kept.
            Err(error) => failed = Some((directory, error)),
        }
    }
    let (directory, source) = failed.unwrap_or_else(|| (above, std::io::ErrorKind::AlreadyExists.into()));
    Err(Error::System {
        doing: format!("create {}", directory.display()),
        source,
    })
}

/// Lets the user look around until the end.
async fn show(topology: &mut Topology, signals: &mut Signals, cleaner: &mut Cleaner) -> Result<()> {
    let mut client = match std::io::stdin().is_terminal() {
        true => start_client(&topology.option_file("primary")),
        false => None,
    };
    let interrupt = match &client {
        Some(client) => {
            cleaner.client_started(client);
            Interrupt::IsForClient
        }
        None => {
            print("\nCtrl-C ends it.");
            Interrupt::Ends
        }
    };
    let done = loop {
        if let Some(client) = &mut client
            && client.try_wait().is_ok_and(|status| status.is_some())
        {
            return Ok(());
        }
        if let Err(error) = topology.check() {
            break Err(error);
        }
        if topology.load_has_ended() {
            break Ok(());
        }
        if signals.end_or_child(interrupt).await == Event::End {
            break Ok(());
        }
    };
    if let Some(client) = client {
        end_client(client).await;
        // The client sends the signal that ends it to its process group too.
        signals.forget().await;
    }
    done
}

/// Starts `mariadb`; `None` if it is not installed.
fn start_client(option_file: &Path) -> Option<Child> {
    print("\nThe end of the prompt (\\q) ends the demo.");
    let client = Command::new("mariadb")
        .arg(format!("--defaults-file={}", option_file.display()))
        .arg("--prompt=primary [\\d]> ")
        .arg("workload_bank")
        .spawn();
    if let Err(error) = &client {
        print(&format!("\nNo prompt: `mariadb` cannot be started ({error})."));
    }
    client.ok()
}

async fn end_client(mut client: Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let deadline = Instant::now() + CLIENT_END;
    // It has not been waited for, so the id is its own. It restores the terminal's settings.
    let _ = kill_process(Pid::from_child(&client), Signal::TERM);
    while client.try_wait().is_ok_and(|status| status.is_none()) {
        if Instant::now() > deadline {
            let _ = client.kill();
            let _ = client.wait();
            return;
        }
        tokio::time::sleep(POLL).await;
    }
}

fn description(
    topology: &Topology,
    addresses: &AllAddresses,
    directory: &Path,
    options: &Options,
    elapsed: Duration,
) -> String {
    let mut text = format!(
        "Paceline demo: ready in {:.1} s. It ends after {} s; all files are in {}.\n\n",
        elapsed.as_secs_f64(),
        options.seconds,
        directory.display()
    );
    for (name, of) in [
        ("primary", &addresses.primary),
        ("replica", &addresses.replica),
        ("archive", &addresses.archive),
    ] {
        let http = of.http.as_deref().map(|http| format!("   http://{http}/"));
        text.push_str(&format!(
            "  {name}   {}   {}{}\n",
            of.tcp,
            topology.socket(name).display(),
            http.unwrap_or_default()
        ));
    }
    text.push_str(&format!(
        "  load      bank, {} transfers per second: {}\n\nTry in another terminal:\n\n",
        options.rate,
        directory.join("load.log").display()
    ));
    let file = |name| topology.option_file(name).display().to_string();
    let http = addresses.primary.http.as_deref().unwrap_or_default();
    let replica_http = addresses.replica.http.as_deref().unwrap_or_default();
    for command in [
        format!("mariadb --defaults-file={}", file("primary")),
        format!(
            "mariadb --defaults-file={} -e 'SHOW SLAVE STATUS\\G'",
            file("replica")
        ),
        format!(
            "mariadb --defaults-file={} -e 'SHOW ALL SLAVES STATUS\\G'",
            file("archive")
        ),
        format!("paceline top --defaults-file={}", file("primary")),
        format!(
            "paceline workload bank --check --defaults-file={}",
            file("replica")
        ),
        format!("curl -s http://{http}/metrics | grep paceline_commit_seconds_count"),
        format!("curl -s 'http://{replica_http}/replica?max_lag=1'"),
        format!("tail -f {}", directory.join("load.log").display()),
    ] {
        text.push_str(&format!("  {command}\n"));
    }
    text.trim_end().to_owned()
}

/// Prints a text. Nothing has to be printed if the terminal is closed.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Meaning of SIGINT.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interrupt {
    Ends,
    IsForClient,
}

/// Event reported by a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    End,
    /// A child has ended.
    Child,
}

/// Signals that the demo handles.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    child: Signal,
}

impl Signals {
    fn watch() -> std::io::Result<Self> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            child: signal(SignalKind::child())?,
        })
    }

    /// Waits for a signal that ends the demo.
    async fn end(&mut self, interrupt: Interrupt) {
        while self.end_or_child(interrupt).await != Event::End {}
    }

    /// Waits for a signal that asks to end at once. A terminal that is closed sends SIGHUP more than once.
    async fn second(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Forgets the signals that have come.
    async fn forget(&mut self) {
        while tokio::select! {
            biased;
            _ = self.interrupt.recv() => true,
            _ = self.terminate.recv() => true,
            _ = self.hangup.recv() => true,
            () = tokio::time::sleep(POLL) => false,
        } {}
    }

    /// Waits for a signal that ends the demo, or until a child has ended.
    async fn end_or_child(&mut self, interrupt: Interrupt) -> Event {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => if interrupt == Interrupt::Ends { return Event::End },
                _ = self.terminate.recv() => return Event::End,
                _ = self.hangup.recv() => return Event::End,
                _ = self.child.recv() => return Event::Child,
            }
        }
    }
}
