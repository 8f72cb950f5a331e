//! A server within another program.
//!
//! The program opens a directory, uses it and closes it. It gets a server like any other: recovery, commits, events,
//! statistics, replicas. What belongs to a process stays the program's:
//!
//! | | a process of its own | within another program |
//! |---|---|---|
//! | signals | SIGTERM and SIGINT stop it | untouched |
//! | standard error, messages | the error log | `tracing`; without a subscriber nothing is written, except before an abort |
//! | file with the process id | written | none |
//! | listening sockets | always | none until [`EmbeddedServer::listen`] |
//! | SHUTDOWN | stops it | 1235: the program closes it |
//! | lock of the directory | waited for 10 s | waited for as long as the program says |
//! | a log that fails (invariant 4) | the process aborts | the process aborts: nothing that it says could be trusted |
//!
//! The server has its own threads and its own runtime. Every function here blocks its caller and may be called from a
//! thread of another runtime, because nothing is run on the caller's one.
//!
//! # Connections
//! [`EmbeddedServer::connect`] returns one end of a pair of sockets; the other is served by an ordinary session. The
//! program is the server's administrator: it could read and write the files as well. So such a session accepts any
//! login, has all privileges, and is `root@localhost`.
//!
//! [`ProgramSession`] is a session without packets, for rows and SQL of the program itself.
//!
//! # Rejected
//! - *A duplex stream in memory instead of the pair*: KILL, timeouts and shutdown end a session by its descriptor, and
//!   a C program can wait for a descriptor. What a program does often is faster through typed rows, without packets.
//! - *The program's own runtime*: statements occupy their threads while they wait for locks, with deep stacks.

mod block_on;
mod change_stream;
mod program_session;

pub use block_on::block_on;
pub use change_stream::{ChangeRef, ChangeStream, ChangedTransaction, RowChange};
pub use program_session::{Interrupter, PreparedChange, ProgramSession};

pub use crate::session::rows::{CollectedRows, Currency};
pub use crate::sql_text::identifier;

use crate::accounts::ClientHost;
use crate::data_directory::DataDirectory;
use crate::listener;
use crate::memcached::MemcachedPort;
use crate::options::{OfferTls, StartOptions};
use crate::server::{Hosting, Server};
use crate::startup::{OpenServer, PreparedServer, runtime};
use crate::variables::{Variable, VariableValue};
use paceline_binlog::GtidPosition;
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;

/// Time that the server's threads have to end after its close.
const THREADS_END_WITHIN: Duration = Duration::from_secs(1);

/// Stack of the thread that opens or closes a server, like that of the server's own threads.
const STACK_BYTES: usize = 8 << 20;

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// A UNIX socket in the file system.
    Socket(PathBuf),
    /// TCP. Port 0 chooses a free one.
    Tcp {
        /// Address, or name of the host.
        address: String,
        /// Port.
        port: u16,
    },
}

/// An open server within another program. Dropping it closes it.
pub struct EmbeddedServer {
    opened: OpenServer,
    runtime: Mutex<Option<Runtime>>,
    handle: Handle,
    listening: Mutex<Vec<ListeningSocket>>,
    /// Dropped last: its lock ends when nothing of the server remains.
    directory: DataDirectory,
}

/// A listening socket with its task.
struct ListeningSocket {
    /// Dropping it ends the task.
    stop: oneshot::Sender<()>,
    ended: std::sync::mpsc::Receiver<()>,
}

impl EmbeddedServer {
    /// Opens a directory. A new one is created. Waits as long as `patience` for another server that has locked it.
    ///
    /// # Errors
    /// A message: why it cannot be opened.
    pub fn open(options: StartOptions, patience: Duration) -> Result<EmbeddedServer, String> {
        for (variable, option) in [(Variable::LogError, "log_error"), (Variable::PidFile, "pid_file")] {
            if !options.globals.get(variable).as_str().is_empty() {
                return Err(format!(
                    "option '{option}' is for a server that is a process of its own"
                ));
            }
        }
        let (options, directory) = PreparedServer::embedded(options, patience)?.into_parts();
        let runtime = runtime(&options.globals)?;
        let opened = on_thread(|| runtime.block_on(open(options, directory.path())));
        match opened {
            Ok(opened) => Ok(EmbeddedServer {
                opened,
                handle: runtime.handle().clone(),
                runtime: Mutex::new(Some(runtime)),
                listening: Mutex::default(),
                directory,
            }),
            Err(error) => {
                end_threads(runtime);
                Err(error)
            }
        }
    }

    /// Returns the GTID position of what is committed now.
    pub fn position(&self) -> GtidPosition {
        self.server().transactions.gtid_state().position()
    }

    /// Returns the path of the data directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the server's runtime.
    pub fn runtime(&self) -> &Handle {
        &self.handle
    }

    /// Returns the server.
    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.opened.server
    }

    /// Listens on an address, and returns it, with the port that was chosen. Clients log in as with any server.
    ///
    /// # Errors
    /// A message.
    pub fn listen(&self, address: ListenAddress) -> Result<ListenAddress, String> {
        // Held until the socket is in the list, so that a close finds it.
        let mut listening = self.listening.lock();
        let server = self.server().clone();
        if server.is_stopping() {
            return Err("the server is closed".to_owned());
        }
        if self.opened.tls == OfferTls::Yes && server.tls.current().is_none() {
            server.tls.offer(&server.globals)?;
        }
        let bound = {
            let address = address.clone();
            self.run(async move {
                match &address {
                    ListenAddress::Socket(path) => Listener::bind("", None, Some(path)).await,
                    ListenAddress::Tcp { address, port } => Listener::bind(address, Some(*port), None).await,
                }
            })
        };
        let listener = bound.map_err(|error| error.to_string())?;
        tracing::info!("ready for connections. {}", listener.addresses());
        let (globals, port) = (&server.globals, listener.port());
        let address = match address {
            ListenAddress::Socket(path) => {
                globals.set_text(Variable::Socket, path.display().to_string());
                ListenAddress::Socket(path)
            }
            ListenAddress::Tcp {
                address,
                port: wanted,
            } => {
                let port = port.unwrap_or(wanted);
                globals.set(Variable::Port, VariableValue::Unsigned(u64::from(port)));
                globals.set(Variable::SkipNetworking, VariableValue::Boolean(false));
                ListenAddress::Tcp { address, port }
            }
        };
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = std::sync::mpsc::channel();
        self.handle.spawn(async move {
            tokio::select! {
                () = listener::serve(&listener, &server) => {}
                _ = stopped => {}
            }
            drop(listener);
            let _ = end.send(());
        });
        listening.push(ListeningSocket { stop, ended });
        Ok(address)
    }

    /// Stops to listen on all addresses. Connections that exist go on.
    pub fn stop_listening(&self) {
        let mut listening = self.listening.lock();
        for socket in listening.drain(..) {
            drop(socket.stop);
            // An error means that the runtime has dropped the task, with the socket.
            let _ = socket.ended.recv();
        }
        let globals = &self.server().globals;
        globals.set(Variable::SkipNetworking, VariableValue::Boolean(true));
    }

    /// Returns a connection of the client protocol within the process. The first packet on it is the server's greeting.
    /// Any login is accepted, with all privileges.
    ///
    /// # Errors
    /// The operating system's; "not connected" after the close.
    pub fn connect(&self) -> io::Result<std::os::unix::net::UnixStream> {
        let server = self.server();
        if server.is_stopping() {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let (near, far) = std::os::unix::net::UnixStream::pair()?;
        near.set_nonblocking(true)?;
        let entered = self.handle.enter();
        let socket = Socket::unix(UnixStream::from_std(near)?);
        drop(entered);
        let client = ClientHost::local();
        let mut session = listener::session(server, socket, client, "localhost".to_owned())?;
        session.trust();
        self.handle.spawn(session.run());
        Ok(far)
    }

    /// Runs a task on the server's threads and waits for its result.
    fn run<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> T {
        let (send, receive) = std::sync::mpsc::channel();
        self.handle.spawn(async move {
            let _ = send.send(task.await);
        });
        receive.recv().expect("the server's threads run until its close")
    }

    /// Closes the server: ends its sessions, flushes the tables and closes the log. A second close does nothing.
    ///
    /// # Errors
    /// A message; the next start replays the log then.
    pub fn close(&self) -> Result<(), String> {
        self.server().request_shutdown();
        self.stop_listening();
        let Some(runtime) = self.runtime.lock().take() else {
            return Ok(());
        };
        self.opened.show_stopping();
        let outcome = on_thread(|| runtime.block_on(self.opened.stop()));
        end_threads(runtime);
        outcome
    }
}

impl Drop for EmbeddedServer {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!("{error}");
        }
    }
}

async fn open(options: StartOptions, directory: &Path) -> Result<OpenServer, String> {
    let opened = OpenServer::open(options, directory, None, Hosting::OtherProgram).await?;
    let server = &opened.server;
    let begun = async {
        let memcached = MemcachedPort::bind(&server.globals, opened.tls).await?;
        opened.begin_background_work(directory)?;
        opened.show_running();
        opened.begin_following(memcached).await
    };
    if let Err(error) = begun.await {
        server.request_shutdown();
        opened.stop().await?;
        return Err(error);
    }
    Ok(opened)
}

/// Runs a function on a thread of its own, because a thread of another runtime must not wait for this one's.
fn on_thread<T: Send>(function: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("paceline-open".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, function);
        match thread.expect("a thread can be started").join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn end_threads(runtime: Runtime) {
    on_thread(|| runtime.shutdown_timeout(THREADS_END_WITHIN));
}
