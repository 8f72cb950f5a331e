//! An HTTP address of a server (`--http-address`), for statistics and probes: the listener, the rules of access and the
//! forms of the answers. The server and the archive each have a [`Site`] of their own on it.
//!
//! ```text
//!   accept ─▶ place of 64 ─▶ TLS, where needed ─▶ head of a request ─▶ Site::answer ─▶ Access::check, Exposition …
//! ```
//! **Access.** The address is off unless it is given. On a loopback address a token is optional and the transport is
//! plain. On any other address there is no endpoint without `--http-token-file`, and it speaks TLS only. The token
//! protects everything that tells more than yes or no: probes need none, because few probes can send one. Without a
//! token on a loopback address, a request must name this machine in its `Host` header, or a web page that lets its own
//! name point to 127.0.0.1 could read the statistics through a user's browser. A site decides which of its paths it
//! [checks](Access::check).
//!
//! **Limits.** 64 connections; one more is closed at once. 10 seconds for a TLS handshake, the head of a request or its
//! body; heads have at most 8 KiB, and a body is not read unless the site asks for it, with a limit ([`read_body`]). A
//! connection ends after 10 minutes, whatever it does, so a client that does not read keeps its place that long at
//! most.
//!
//! Rejected: a framework of routes (axum): a few paths are a `match`. An HTTP parser of our own: hyper is in the binary
//! for object stores anyway. Statistics on the port of SQL clients: load balancers and firewalls tell ports apart.
#![forbid(unsafe_code)]

mod access;
mod answer;
mod exposition;
mod process_usage;

pub use access::{Access, Refusal};
pub use answer::{Answer, JSON, TEXT, json, only_methods, refused, respond, text};
pub use exposition::{Exposition, Labels, MEDIA_TYPE as EXPOSITION_MEDIA_TYPE, SampleKind};

use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
pub use hyper::{HeaderMap, Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use paceline_wire::tls::{ServerTls, TlsSession};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

const CONNECTIONS_MAX: usize = 64;
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
const LIFETIME_MAX: Duration = Duration::from_secs(600);

/// Service of an endpoint: answers its requests.
pub trait Site: Send + Sync + 'static {
    /// Answers a request.
    fn answer(&self, request: Request<Incoming>, from: Requester<'_>) -> impl Future<Output = Answer> + Send;

    /// Returns the TLS configuration for new connections; `None` for the one of the start.
    fn tls(&self) -> Option<ServerTls> {
        None
    }
}

/// Origin of a request.
#[derive(Clone, Copy)]
pub struct Requester<'a> {
    /// The rules, for paths that are not open to all.
    pub access: &'a Access,
    /// Address of the client.
    pub address: SocketAddr,
    /// TLS of the connection; `None` where requests are plain.
    pub tls: Option<&'a TlsSession>,
}

/// Address and token of an endpoint, from the options.
#[derive(Debug, Clone)]
pub struct EndpointOptions {
    /// `HOST:PORT`.
    pub address: String,
    /// File with the token; empty without one.
    pub token_file: String,
}

/// An endpoint, which ends when this is dropped.
pub struct Endpoint {
    address: SocketAddr,
    url: String,
    accepting: tokio::task::JoinHandle<()>,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// State shared by all connections.
struct Shared<S> {
    site: Arc<S>,
    access: Access,
    /// TLS of the start; `None` where requests are plain.
    tls: Option<ServerTls>,
    connections: Arc<Semaphore>,
}

impl Endpoint {
    /// Begins to listen. `make_tls` is called for an address that other machines can reach; without it there is none.
    ///
    /// # Errors
    /// A message: an address that is none or not free; a token file that cannot be read or that others can read; an
    /// address that is not loopback without a token or without TLS; TLS files.
    pub async fn start<S: Site>(
        options: &EndpointOptions,
        make_tls: Option<&(dyn Fn() -> Result<ServerTls, String> + Sync)>,
        site: Arc<S>,
    ) -> Result<Endpoint, String> {
        let cannot = |reason: String| format!("--http-address={}: {reason}", options.address);
        let all = access::addresses(&options.address).await.map_err(cannot)?;
        let is_loopback = all.iter().all(|address| address.ip().is_loopback());
        let access = Access::new(&options.token_file, is_loopback).map_err(cannot)?;
        let tls = match (is_loopback, make_tls) {
            (true, _) => None,
            (false, Some(make)) => Some(make().map_err(cannot)?),
            (false, None) => {
                return Err(cannot(
                    "an address that other machines can reach needs TLS, which --skip-ssl switches off"
                        .into(),
                ));
            }
        };
        let listener = TcpListener::bind(&*all)
            .await
            .map_err(|error| cannot(error.to_string()))?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let address = listener.local_addr().map_err(|error| cannot(error.to_string()))?;
        let shared = Arc::new(Shared {
            site,
            access,
            tls,
            connections: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        });
        let accepting = tokio::spawn(accept(listener, shared));
        Ok(Endpoint {
            address,
            url: format!("{scheme}://{address}"),
            accepting,
        })
    }

    /// Returns the address: with port 0 the system has chosen one.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address for people.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Accepts connections for ever.
async fn accept<S: Site>(listener: TcpListener, shared: Arc<Shared<S>>) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                // Without a free place the connection is closed.
                if let (Ok(socket), Ok(place)) = (
                    Socket::tcp(stream),
                    shared.connections.clone().try_acquire_owned(),
                ) {
                    let shared = shared.clone();
                    tokio::spawn(async move {
                        let _ = tokio::time::timeout(LIFETIME_MAX, converse(socket, address, &shared)).await;
                        drop(place);
                    });
                }
            }
            Err(error) => {
                tracing::warn!("an HTTP connection could not be accepted: {error}");
                tokio::time::sleep(Listener::PAUSE).await;
            }
        }
    }
}

/// Answers the requests of a connection.
async fn converse<S: Site>(socket: Socket, address: SocketAddr, shared: &Arc<Shared<S>>) {
    let Some(socket) = encrypted(socket, shared).await else {
        return;
    };
    let tls = socket.tls().cloned();
    let service = service_fn(|request| async {
        let from = Requester {
            access: &shared.access,
            address,
            tls: tls.as_ref(),
        };
        Ok::<_, Infallible>(shared.site.answer(request, from).await)
    });
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(socket), service);
    if let Err(error) = conversation.await {
        tracing::debug!("an HTTP connection ended: {error}");
    }
}

/// Performs the TLS handshake, where the address needs one. Returns nothing if it fails.
async fn encrypted<S: Site>(socket: Socket, shared: &Shared<S>) -> Option<Socket> {
    let Some(tls) = &shared.tls else {
        return Some(socket);
    };
    let tls = shared.site.tls().unwrap_or_else(|| tls.clone());
    match tokio::time::timeout(HEAD_PATIENCE, socket.accept_tls(&tls, vec![])).await {
        Ok(Ok(socket)) => Some(socket),
        Ok(Err(error)) => {
            tracing::debug!("an HTTP connection could not be encrypted: {error}");
            None
        }
        Err(_) => None,
    }
}

/// Reads the body of a request.
///
/// # Errors
/// The answer for the client: the body is longer than `bytes_max`, incomplete, or too slow.
pub async fn read_body(body: Incoming, bytes_max: usize) -> Result<Bytes, Answer> {
    let limited = Limited::new(body, bytes_max).collect();
    match tokio::time::timeout(HEAD_PATIENCE, limited).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            Err(text(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"))
        }
        Ok(Err(_)) => Err(text(StatusCode::BAD_REQUEST, "the body is incomplete")),
        Err(_) => Err(text(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
    }
}
