//! Accepts connections and begins a session for each client.

use crate::accounts::ClientHost;
use crate::registry::SessionShared;
use crate::server::Server;
use crate::session::connection::Connection;
use crate::session::login::LOGIN_PACKET_MAX;
use crate::session::services::SessionServices;
use crate::session::{Phase, Registered, Session};
use crate::variables::Variable;
use paceline_expression::session::{Services, SessionContext, SessionMemory};
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Accepts clients until shutdown is requested.
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

/// Starts a session as its own task.
fn begin(server: &Arc<Server>, socket: Socket, client: ClientHost, host: String) {
    match session(server, socket, client, host) {
        Ok(session) => {
            tokio::spawn(session.run());
        }
        Err(error) => tracing::warn!("a connection could not be kept: {error}"),
    }
}

/// Creates a session for a client that has not logged in.
fn session(
    server: &Arc<Server>,
    socket: Socket,
    client: ClientHost,
    host: String,
) -> std::io::Result<Session> {
    let handle = socket.handle()?;
    let number = server.counters.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let wait_timeout = server.globals.number(Variable::WaitTimeout);
    let shared = Arc::new(SessionShared::new(
        number as u32,
        handle,
        host,
        wait_timeout,
        SessionMemory::new(server.memory.clone()),
    ));
    let registered = Registered::new(server, &shared);
    let locks = server.transactions.session(shared.interrupt.clone());
    shared.locks.get_or_init(|| locks.clone());
    let services = Arc::new(SessionServices::new(server.clone(), shared.clone(), locks));
    let context = SessionContext::charged_to(
        shared.memory.clone(),
        u64::from(shared.id),
        Services {
            variables: services.clone(),
            privileges: services.clone(),
            virtual_tables: services.clone(),
            functions: services.clone(),
        },
    );
    Ok(Session {
        temporary: server.temporary_tables(),
        other_temporary: Default::default(),
        server: server.clone(),
        connection: Connection::new(socket, LOGIN_PACKET_MAX, shared.killed.clone()),
        shared,
        services,
        context,
        transaction: Default::default(),
        prepared: Default::default(),
        binlog_format: None,
        table_locks: Default::default(),
        multi_statements: false,
        state_changes: vec![],
        statement_log_settings: Default::default(),
        phase: Phase::Login,
        login_collation: None,
        client,
        registered: Some(registered),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_expression::session::{ServerFunctions, WaitOutcome};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_session_that_panics_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let server = crate::startup::tests::server(directory.path());
        let (socket, _client) = tokio::net::UnixStream::pair().unwrap();
        let mut session = session(
            &server,
            Socket::unix(socket),
            ClientHost::local(),
            "localhost".into(),
        )
        .unwrap();
        session.prepare(b"SELECT 1".to_vec());
        session.prepare(b"SELECT ?".to_vec());
        let locked = session.services.get_lock(&session.context, "a", 0.0).unwrap();
        assert_eq!(locked, WaitOutcome::Done);
        assert_eq!((server.prepared_statements(), server.sessions.count()), (2, 1));
        let ended = tokio::spawn(async move {
            let _session = session;
            panic!("as a defect would");
        });
        assert!(ended.await.unwrap_err().is_panic());
        assert_eq!((server.prepared_statements(), server.sessions.count()), (0, 0));
        assert!(server.user_locks.lock().is_empty());
    }
}
