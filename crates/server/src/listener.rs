//! Listens on TCP and on a UNIX socket, and begins a session for each client.

use crate::accounts::ClientHost;
use crate::registry::SessionShared;
use crate::server::Server;
use crate::session::connection::Connection;
use crate::session::login::LOGIN_PACKET_MAX;
use crate::session::services::SessionServices;
use crate::session::{Phase, Session};
use crate::variables::Variable;
use paceline_sql::session::{Services, SessionContext};
use paceline_wire::socket::Socket;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// How long accepting pauses when the system has no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// The sockets that clients connect to.
pub struct Listener {
    tcp: Option<TcpListener>,
    unix: UnixListener,
    path: PathBuf,
}

impl Listener {
    /// Binds both. A socket file that nobody listens on any more is replaced.
    pub async fn bind(address: &str, port: Option<u16>, path: &Path) -> Result<Listener, String> {
        let tcp = match port {
            None => None,
            Some(port) => Some(
                bind_tcp(address, port)
                    .await
                    .map_err(|error| format!("cannot listen on {address} port {port}: {error}"))?,
            ),
        };
        let unix = bind_unix(path)
            .await
            .map_err(|error| format!("cannot listen on the socket {}: {error}", path.display()))?;
        Ok(Listener {
            tcp,
            unix,
            path: path.to_owned(),
        })
    }

    /// Where it listens, for people.
    pub fn addresses(&self) -> String {
        let socket = format!("socket {}", self.path.display());
        match self.tcp.as_ref().and_then(|tcp| tcp.local_addr().ok()) {
            Some(address) => format!("{address}, {socket}"),
            None => socket,
        }
    }

    /// The TCP port, as it is when 0 was asked for.
    pub fn port(&self) -> Option<u16> {
        self.tcp.as_ref()?.local_addr().ok().map(|address| address.port())
    }

    /// Accepts clients until the server is to stop.
    pub async fn serve(&self, server: &Arc<Server>) {
        let tcp = async {
            let Some(listener) = &self.tcp else {
                return std::future::pending().await;
            };
            loop {
                match listener.accept().await {
                    Ok((stream, address)) => match Socket::tcp(stream) {
                        Ok(socket) => begin(
                            server,
                            socket,
                            ClientHost::of(address.ip()),
                            format!("{}:{}", ClientHost::of(address.ip()).name, address.port()),
                        ),
                        Err(error) => tracing::debug!("a connection was gone before it began: {error}"),
                    },
                    Err(error) => pause(error).await,
                }
            }
        };
        let unix = async {
            loop {
                match self.unix.accept().await {
                    Ok((stream, _)) => begin(
                        server,
                        Socket::unix(stream),
                        ClientHost::local(),
                        "localhost".to_owned(),
                    ),
                    Err(error) => pause(error).await,
                }
            }
        };
        tokio::select! {
            () = tcp => {}
            () = unix => {}
            () = server.shutdown_requested() => {}
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Most errors of accept concern one connection; running out of descriptors passes.
async fn pause(error: io::Error) {
    tracing::warn!("a connection could not be accepted: {error}");
    tokio::time::sleep(PAUSE).await;
}

async fn bind_tcp(address: &str, port: u16) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::AddrNotAvailable, "no such address");
    for address in tokio::net::lookup_host((address, port)).await? {
        let socket = match address.is_ipv4() {
            true => tokio::net::TcpSocket::new_v4()?,
            false => tokio::net::TcpSocket::new_v6()?,
        };
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(BACKLOG)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    if std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket()) {
        if tokio::net::UnixStream::connect(path).await.is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "another server listens there",
            ));
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    // Anybody on this machine may connect; who they are is asked then.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
    Ok(listener)
}

/// Begins a session as a task of its own.
fn begin(server: &Arc<Server>, socket: Socket, client: ClientHost, host: String) {
    let handle = match socket.handle() {
        Ok(handle) => handle,
        Err(error) => {
            tracing::warn!("a connection could not be kept: {error}");
            return;
        }
    };
    let number = server.counters.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let wait_timeout = server.globals.number(Variable::WaitTimeout);
    let shared = Arc::new(SessionShared::new(number as u32, handle, host, wait_timeout));
    server.sessions.add(shared.clone());
    let locks = server.transactions.session(shared.interrupt.clone());
    let services = Arc::new(SessionServices::new(server.clone(), shared.clone(), locks));
    let context = SessionContext::new(
        u64::from(shared.id),
        Services {
            variables: services.clone(),
            privileges: services.clone(),
            virtual_tables: services.clone(),
            functions: services.clone(),
        },
    );
    let session = Session {
        temporary: server.temporary_tables(),
        other_temporary: Default::default(),
        server: server.clone(),
        shared,
        services,
        context,
        connection: Connection::new(socket, LOGIN_PACKET_MAX),
        transaction: Default::default(),
        prepared: Default::default(),
        binlog_format: None,
        table_locks: Default::default(),
        multi_statements: false,
        state_changes: vec![],
        phase: Phase::Login,
        client,
    };
    tokio::spawn(session.run());
}
