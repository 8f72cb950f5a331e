//! The memcached port (`--memcached-port`): tables as a store of keys and values.
//!
//! ```text
//!   socket ─▶ RequestReader ─▶ MemcachedConnection ─▶ ItemSession ─▶ Session (direct) ─▶ plans, transactions, log
//!                                                          │
//!                                                      Containers: which table and columns a key's prefix means
//! ```
//! Each request runs as statements of an ordinary session, with the account's privileges and limits, triggers,
//! foreign keys, locks, a GTID and a durable commit. SQL sees its effect at once, and replicas serve the same keys.
//!
//! - [`containers`]: the table of containers. [`container`]: one of them, and its statements.
//! - [`items`]: requests. [`open_batch`]: sets that are answered before they are committed. [`item_row`]: columns of
//!   a row. [`connection`]: a client.
//!
//! # Access
//! A client logs in with an account of the server: `set` with the value `USER PASSWORD` as its first request,
//! memcached's "ASCII authentication". `memcached_account` names an account for clients that do not, which is
//! possible on a loopback address only. With `memcached_tls` all connections are encrypted from their first byte,
//! with the server's certificate; other addresses than loopback ones need it, because passwords and values would be
//! readable.
//!
//! # Rejected
//! - *Access to the engine below SQL*, as MySQL's plugin has it: privileges, triggers, foreign keys, generated
//!   columns and checks would not apply, and each rule would have to be built twice.
//! - *The binary protocol and UDP*: memcached's authors have given them up.

mod connection;
mod container;
mod containers;
mod item_row;
mod items;
mod open_batch;
mod shared;

use crate::listener::session as client_session;
use crate::memcached_counters::count;
use crate::options::OfferTls;
use crate::running_time::Measured;
use crate::server::Server;
use crate::variables::{Globals, Variable, VariableValue};
use connection::MemcachedConnection;
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use shared::Memcached;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::timeout;

/// The listening port.
pub struct MemcachedPort {
    listener: Listener,
    account: Arc<str>,
    is_encrypted: bool,
    memcached: Arc<Memcached>,
}

impl MemcachedPort {
    /// Begins to listen, if the variables name a port.
    ///
    /// # Errors
    /// A message: the options do not fit each other, or the port cannot be had.
    pub async fn bind(globals: &Globals, tls: OfferTls) -> Result<Option<MemcachedPort>, String> {
        let port = globals.number(Variable::PacelineMemcachedPort);
        if port == 0 {
            return Ok(None);
        }
        let address = globals.get(Variable::PacelineMemcachedAddress);
        let account = globals.get(Variable::PacelineMemcachedAccount);
        let is_encrypted = globals.is_on(Variable::PacelineMemcachedTls);
        let is_local = address
            .as_str()
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback());
        if is_encrypted && tls == OfferTls::No {
            return Err("--memcached-tls needs TLS: not --skip-ssl".to_owned());
        }
        if !is_local && !is_encrypted {
            return Err(format!(
                "--memcached-address={} is no loopback address: it needs --memcached-tls",
                address.as_str()
            ));
        }
        if !is_local && !account.as_str().is_empty() {
            return Err(format!(
                "--memcached-account lets clients in without a password: not with --memcached-address={}",
                address.as_str()
            ));
        }
        let listener = Listener::bind(address.as_str(), Some(port as u16), None).await;
        let listener = listener.map_err(|error| format!("--memcached-port: {error}"))?;
        if let Some(port) = listener.port() {
            globals.set(
                Variable::PacelineMemcachedPort,
                VariableValue::Unsigned(u64::from(port)),
            );
        }
        tracing::info!("memcached protocol: {}", listener.addresses());
        Ok(Some(MemcachedPort {
            listener,
            account: account.as_str().into(),
            is_encrypted,
            memcached: Arc::default(),
        }))
    }

    /// Accepts clients until shutdown is requested.
    pub async fn serve(self, server: Arc<Server>) {
        // So that privileges on the tables can be granted before the first client comes.
        if let Err(reason) = self.memcached.containers.refresh(&server).await {
            tracing::warn!("memcached: {reason}");
        }
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = server.shutdown_requested() => return,
            };
            match accepted {
                Ok((socket, Some(address))) => self.begin(&server, socket, address),
                Ok((_, None)) => unreachable!("it listens on TCP only"),
                Err(error) => {
                    tracing::warn!("memcached: a connection could not be accepted: {error}");
                    tokio::time::sleep(Listener::PAUSE).await;
                }
            }
        }
    }

    fn begin(&self, server: &Arc<Server>, socket: Socket, address: SocketAddr) {
        let (server, memcached) = (server.clone(), self.memcached.clone());
        let (account, is_encrypted) = (self.account.clone(), self.is_encrypted);
        tokio::spawn(async move {
            count(&server.memcached.total_connections);
            let open = OpenConnection::new(&server);
            let connection = run(&server, socket, address, &memcached, &account, is_encrypted);
            if let Err(reason) = Measured::new(connection).await {
                tracing::warn!("memcached: {address}: {reason}");
            }
            drop(open);
        });
    }
}

/// Counts a connection while it is open, even if it panics.
struct OpenConnection(Arc<Server>);

impl OpenConnection {
    fn new(server: &Arc<Server>) -> OpenConnection {
        count(&server.memcached.curr_connections);
        OpenConnection(server.clone())
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.memcached.curr_connections.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn run(
    server: &Arc<Server>,
    socket: Socket,
    address: SocketAddr,
    memcached: &Arc<Memcached>,
    account: &str,
    is_encrypted: bool,
) -> Result<(), String> {
    let client = server.client_host(address.ip());
    let host = format!("{}:{}", client.name, address.port());
    let mut session = client_session(server, socket, client, host).map_err(|error| error.to_string())?;
    let limit = Duration::from_secs(server.globals.number(Variable::ConnectTimeout));
    if let Some(refusal) = session.connection_refusal() {
        count(&server.memcached.rejected_connections);
        session.count_refused_login();
        // A client that expects TLS cannot read it.
        if !is_encrypted {
            let text = format!("SERVER_ERROR {} {refusal}\r\n", refusal.code().number());
            let _ = timeout(limit, session.socket().send(text.as_bytes())).await;
        }
        return Ok(());
    }
    if is_encrypted {
        let tls = server.tls.current().ok_or("there is no certificate")?;
        let handshake = timeout(limit, session.encrypt(tls)).await;
        if !matches!(handshake, Ok(Ok(()))) {
            session.count_aborted_login();
            return Ok(());
        }
    }
    MemcachedConnection::new(session, memcached.clone())
        .run(account)
        .await;
    Ok(())
}
