//! The sockets that clients connect to: TCP, and a UNIX socket in the file system.

use crate::socket::Socket;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, UnixListener, UnixStream, lookup_host};

/// Maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// The sockets that clients connect to.
#[derive(Debug)]
pub struct Listener {
    tcp: Option<TcpListener>,
    unix: Option<(UnixListener, PathBuf)>,
}

/// Error of binding a listener.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {at}: {source}")]
pub struct ListenError {
    /// Address and port, or path of the socket; for people.
    pub at: String,
    /// Error of the operating system.
    pub source: io::Error,
}

impl Listener {
    /// Pause after an error of [`accept`](Listener::accept). Most errors concern a single connection, but a lack of
    /// file descriptors lasts for a while.
    pub const PAUSE: Duration = Duration::from_millis(100);

    /// Binds the given sockets. Replaces a socket file on which no process listens any more.
    ///
    /// # Errors
    /// If one of the sockets cannot be bound.
    pub async fn bind(
        address: &str,
        port: Option<u16>,
        path: Option<&Path>,
    ) -> Result<Listener, ListenError> {
        let tcp = match port {
            None => None,
            Some(port) => Some(bind_tcp(address, port).await.map_err(|source| ListenError {
                at: format!("{address} port {port}"),
                source,
            })?),
        };
        let unix = match path {
            None => None,
            Some(path) => {
                let bound = bind_unix(path).await.map_err(|source| ListenError {
                    at: format!("the socket {}", path.display()),
                    source,
                })?;
                Some((bound, path.to_owned()))
            }
        };
        Ok(Listener { tcp, unix })
    }

    /// Returns the addresses of the sockets, for people.
    pub fn addresses(&self) -> String {
        let tcp = self.tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());
        let tcp = tcp.map(|address| address.to_string());
        let unix = self.unix.as_ref();
        let unix = unix.map(|(_, path)| format!("socket {}", path.display()));
        tcp.into_iter().chain(unix).collect::<Vec<_>>().join(", ")
    }

    /// Returns the TCP port, also if port 0 was requested.
    pub fn port(&self) -> Option<u16> {
        self.tcp.as_ref()?.local_addr().ok().map(|address| address.port())
    }

    /// Returns the next client, with its address if it has connected over TCP. Dropping the future loses no client.
    ///
    /// # Errors
    /// Those of a single failed connection, or of a lack of resources; the next call may succeed.
    pub async fn accept(&self) -> io::Result<(Socket, Option<SocketAddr>)> {
        let tcp = async {
            match &self.tcp {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        let unix = async {
            match &self.unix {
                Some((listener, _)) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            accepted = tcp => {
                let (stream, address) = accepted?;
                Ok((Socket::tcp(stream)?, Some(address)))
            }
            accepted = unix => Ok((Socket::unix(accepted?.0), None)),
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

async fn bind_tcp(address: &str, port: u16) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::AddrNotAvailable, "no such address");
    for address in lookup_host((address, port)).await? {
        let socket = match address.is_ipv4() {
            true => TcpSocket::new_v4()?,
            false => TcpSocket::new_v6()?,
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
        if UnixStream::connect(path).await.is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "another server listens there",
            ));
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    // Every user of this machine may connect; authentication follows.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn clients_connect_over_tcp_and_unix_sockets() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.sock");
        let listener = Listener::bind("127.0.0.1", Some(0), Some(&path)).await.unwrap();
        let port = listener.port().unwrap();
        assert_eq!(
            listener.addresses(),
            format!("127.0.0.1:{port}, socket {}", path.display())
        );
        let client = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (_, address) = listener.accept().await.unwrap();
        assert_eq!(address, client.local_addr().ok());
        let _client = UnixStream::connect(&path).await.unwrap();
        assert_eq!(listener.accept().await.unwrap().1, None);
    }

    #[tokio::test]
    async fn a_socket_file_is_replaced_if_no_server_listens() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.sock");
        drop(UnixListener::bind(&path).unwrap());
        let first = Listener::bind("", None, Some(&path)).await.unwrap();
        let error = Listener::bind("", None, Some(&path)).await.unwrap_err();
        assert!(
            error.to_string().ends_with("another server listens there"),
            "{error}"
        );
        drop(first);
        assert!(!path.exists());
    }
}
