//! Listens on TCP and on a UNIX socket, and begins a session for each client.

use super::registry::Admission;
use super::session::{Session, refuse};
use crate::archive::Archive;
use crate::error::{Error, Result};
use paceline_wire::socket::Socket;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};

/// How long accepting pauses when the system has no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// The sockets that clients connect to.
pub struct Listener {
    tcp: Option<TcpListener>,
    unix: Option<(UnixListener, PathBuf)>,
}

impl Listener {
    /// Binds those that are named. A socket file that nobody listens on any more is replaced.
    ///
    /// # Errors
    /// If one of them cannot be bound.
    pub async fn bind(address: &str, port: Option<u16>, path: Option<&Path>) -> Result<Listener> {
        let tcp = match port {
            None => None,
            Some(port) => Some(
                TcpListener::bind((address, port))
                    .await
                    .map_err(Error::system(format!("listen on {address} port {port}")))?,
            ),
        };
        let unix = match path {
            None => None,
            Some(path) => {
                let bound = bind_unix(path).await;
                let bound =
                    bound.map_err(Error::system(format!("listen on the socket {}", path.display())))?;
                Some((bound, path.to_owned()))
            }
        };
        Ok(Listener { tcp, unix })
    }

    /// Where it listens, for people.
    pub fn addresses(&self) -> String {
        let tcp = self.tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());
        let tcp = tcp.map(|address| address.to_string());
        let unix = self
            .unix
            .as_ref()
            .map(|(_, path)| format!("socket {}", path.display()));
        let both: Vec<String> = tcp.into_iter().chain(unix).collect();
        both.join(", ")
    }

    /// Accepts clients until the archive is to stop.
    pub async fn serve(&self, archive: &Arc<Archive>) {
        let tcp = async {
            let Some(listener) = &self.tcp else {
                return std::future::pending().await;
            };
            loop {
                match listener.accept().await {
                    Ok((stream, address)) => match Socket::tcp(stream) {
                        Ok(socket) => begin(archive, socket, address.ip().to_string()),
                        Err(error) => tracing::debug!("a connection was gone before it began: {error}"),
                    },
                    Err(error) => pause(error).await,
                }
            }
        };
        let unix = async {
            let Some((listener, _)) = &self.unix else {
                return std::future::pending().await;
            };
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => begin(archive, Socket::unix(stream), "localhost".to_owned()),
                    Err(error) => pause(error).await,
                }
            }
        };
        tokio::select! {
            () = tcp => {}
            () = unix => {}
            () = archive.shared.stop_requested() => {}
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some((_, path)) = &self.unix {
            let _ = std::fs::remove_file(path);
        }
    }
}

async fn pause(error: io::Error) {
    tracing::warn!("a connection could not be accepted: {error}");
    tokio::time::sleep(PAUSE).await;
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

fn begin(archive: &Arc<Archive>, socket: Socket, host: String) {
    let handle = match socket.handle() {
        Ok(handle) => handle,
        Err(error) => {
            tracing::warn!("a connection could not be kept: {error}");
            return;
        }
    };
    match archive.sessions.add(handle, host) {
        Admission::Admitted(shared) => {
            tokio::spawn(Session::new(archive.clone(), shared, socket).run());
        }
        Admission::Full(_) => {
            tokio::spawn(refuse(socket));
        }
    }
}
