//! The HTTP address (`--http-address`): statistics for Prometheus, and probes for load balancers and orchestrators.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the page for people: topology, plots, statements, waits |
//! | `/api/overview`, `/api/statements`, `/api/transactions` | its data as JSON; they change with the page |
//! | `/metrics` | the statistics in Prometheus' text format |
//! | `/health` | 200 while the process answers, also during a long recovery |
//! | `/ready` | 200 if clients can connect; 503 while the server starts or stops |
//! | `/primary` | 200 if clients can write here; else 503 |
//! | `/replica?max_lag=SECONDS` | 200 if this is a replica whose receiver and applier run, at most so far behind; else 503 |
//!
//! The listener begins before recovery, because recovery may take long: an orchestrator has to see a server that is
//! alive and not ready yet, instead of one that is dead. `Phase` says how far the server is.
//!
//! **Access.** The address is off unless it is given. On a loopback address a token is optional and the transport is
//! plain. On any other address the server does not start without `--http-token-file`, and speaks TLS only, with the
//! certificate of `ssl_cert` or the one that it creates at every start. The token protects everything that tells more
//! than yes or no: the probes need none, because few probes can send one. Without a token on a loopback address, a
//! request must name this machine in its `Host` header, or a web page that lets its own name point to 127.0.0.1 could
//! read the statistics through a user's browser.
//!
//! **Limits.** 64 connections; one more is closed at once. 10 seconds for a TLS handshake or the head of a request,
//! which has at most 8 KiB; bodies are not read. A connection ends after 10 minutes, whatever it does, so a client that
//! does not read keeps its place that long at most. Answers are made without waiting for locks of transactions or
//! disks.
//!
//! Rejected: a framework of routes (axum): five paths are a `match`. An HTTP parser of our own: hyper is in the binary
//! for object stores anyway. Statistics on the port of SQL clients: load balancers and firewalls tell ports apart.

mod access;
mod api;
mod page;
mod routes;
mod state;

use crate::options::OfferTls;
use crate::server::Server;
use crate::tls;
use crate::variables::{Globals, Variable};
use access::Access;
use arc_swap::ArcSwap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use paceline_wire::socket_stream::SocketStream;
use state::{Phase, State};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

const CONNECTIONS_MAX: usize = 64;
const HEAD_BYTES_MAX: usize = 8 << 10;
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
const LIFETIME_MAX: Duration = Duration::from_secs(600);

/// The HTTP server, which ends when this is dropped.
pub struct Http {
    state: Arc<State>,
    addresses: String,
    accepting: tokio::task::JoinHandle<()>,
}

impl Drop for Http {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Http {
    /// Begins to listen, if the variables name an address.
    ///
    /// # Errors
    /// A message: an address that is none or not free; a token file that cannot be read or that others can read; an
    /// address that is not loopback without a token or with `--skip-ssl`; TLS files.
    pub async fn start(globals: &Globals, offer_tls: OfferTls) -> Result<Option<Http>, String> {
        let address = globals.get(Variable::PacelineHttpAddress);
        let address = address.as_str();
        if address.is_empty() {
            return Ok(None);
        }
        let cannot = |reason: String| format!("--http-address={address}: {reason}");
        let all = access::addresses(address).await.map_err(cannot)?;
        let is_loopback = all.iter().all(|address| address.ip().is_loopback());
        let access = Access::new(globals, is_loopback).map_err(cannot)?;
        let tls = match (is_loopback, offer_tls) {
            (true, _) => None,
            (false, OfferTls::Yes) => Some(tls::make(globals).map_err(cannot)?),
            (false, OfferTls::No) => {
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
        let bound = listener.local_addr().map_err(|error| cannot(error.to_string()))?;
        // With port 0 the system has chosen one.
        globals.set_text(Variable::PacelineHttpAddress, bound.to_string());
        let addresses = format!("{scheme}://{bound}");
        let state = Arc::new(State {
            phase: ArcSwap::from_pointee(Phase::Starting),
            access,
            tls,
            connections: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        });
        let accepting = tokio::spawn(accept(listener, state.clone()));
        Ok(Some(Http {
            state,
            addresses,
            accepting,
        }))
    }

    /// Returns the address for people.
    pub fn addresses(&self) -> &str {
        &self.addresses
    }

    /// Records that the server accepts clients.
    pub fn running(&self, server: &Arc<Server>) {
        self.state.phase.store(Arc::new(Phase::Running(server.clone())));
    }

    /// Records that the server is shutting down.
    pub fn stopping(&self) {
        self.state.phase.store(Arc::new(Phase::Stopping));
    }
}

/// Accepts connections for ever.
async fn accept(listener: TcpListener, state: Arc<State>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without a free place the connection is closed.
                if let (Ok(socket), Ok(place)) =
                    (Socket::tcp(stream), state.connections.clone().try_acquire_owned())
                {
                    let state = state.clone();
                    tokio::spawn(async move {
                        let _ = tokio::time::timeout(LIFETIME_MAX, converse(socket, &state)).await;
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
async fn converse(socket: Socket, state: &Arc<State>) {
    let Some(socket) = encrypted(socket, state).await else {
        return;
    };
    let service = service_fn(|request| {
        let answer = routes::answer(state, &request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let stream = TokioIo::new(SocketStream::new(socket, vec![]));
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(stream, service);
    if let Err(error) = conversation.await {
        tracing::debug!("an HTTP connection ended: {error}");
    }
}

/// Performs the TLS handshake, where the address needs one. Returns nothing if it fails.
async fn encrypted(socket: Socket, state: &State) -> Option<Socket> {
    let Some(tls) = &state.tls else {
        return Some(socket);
    };
    let current = match &**state.phase.load() {
        Phase::Running(server) => server.tls.current(),
        Phase::Starting | Phase::Stopping => None,
    };
    let tls = current.unwrap_or_else(|| tls.clone());
    match tokio::time::timeout(HEAD_PATIENCE, tls.accept(socket, vec![])).await {
        Ok(Ok(socket)) => Some(socket),
        Ok(Err(error)) => {
            tracing::debug!("an HTTP connection could not be encrypted: {error}");
            None
        }
        Err(_) => None,
    }
}
