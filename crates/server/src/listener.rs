//! Begins a session for each client.

use crate::accounts::ClientHost;
use crate::registry::SessionShared;
use crate::server::Server;
use crate::session::connection::Connection;
use crate::session::login::LOGIN_PACKET_MAX;
use crate::session::services::SessionServices;
use crate::session::{Phase, Session};
use crate::variables::Variable;
use paceline_sql::session::{Services, SessionContext};
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Accepts clients until the server is to stop.
pub async fn serve(listener: &Listener, server: &Arc<Server>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = server.shutdown_requested() => return,
        };
        match accepted {
            Ok((socket, Some(address))) => {
                let client = ClientHost::of(address.ip());
                let host = format!("{}:{}", client.name, address.port());
                begin(server, socket, client, host);
            }
            Ok((socket, None)) => begin(server, socket, ClientHost::local(), "localhost".to_owned()),
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(Listener::PAUSE).await;
            }
        }
    }
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
