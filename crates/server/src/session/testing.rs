//! Sessions for tests: a server on an empty directory, without listeners.

use super::Session;
use super::execution::Execution;
use super::internal::internal_session;
use super::protocol::Connection;
use super::state::SessionState;
use crate::accounts::ClientHost;
use crate::listener;
use crate::server::Server;
use paceline_query::plan::Plan;
use paceline_syntax::{ParseOptions, Result, parse_first};
use paceline_txn::Interrupt;
use paceline_wire::client::{Client, ConnectOptions};
use paceline_wire::socket::Socket;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::UnixStream;

/// A server whose directory is removed with it.
pub(crate) struct TestServer {
    pub(crate) server: Arc<Server>,
    _directory: TempDir,
}

impl TestServer {
    pub(crate) fn new() -> TestServer {
        let directory = tempfile::tempdir().unwrap();
        TestServer {
            server: crate::startup::tests::server(directory.path()),
            _directory: directory,
        }
    }

    /// Returns a session of a client that has not logged in, and the client's socket.
    pub(crate) fn session(&self) -> (Session, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        let socket = Socket::unix(near);
        let session = listener::session(&self.server, socket, ClientHost::local(), "localhost".into());
        (session.unwrap(), far)
    }

    /// Logs `root` in, through the protocol.
    pub(crate) async fn client(&self) -> Client {
        let (session, far) = self.session();
        tokio::spawn(session.run());
        let options = ConnectOptions {
            user: "root".to_owned(),
            ..ConnectOptions::default()
        };
        Client::handshake(Socket::unix(far), &options).await.unwrap()
    }

    /// Returns a session with all privileges, whose statements are executed directly.
    pub(crate) fn internal(&self) -> TestSession {
        let locks = self.server.transactions.session(Interrupt::new());
        let (session, far) = internal_session(&self.server, "root", locks).unwrap();
        TestSession { session, _far: far }
    }
}

/// A session without a client.
pub(crate) struct TestSession {
    session: Session,
    _far: UnixStream,
}

impl TestSession {
    pub(crate) fn state(&mut self) -> &mut SessionState {
        &mut self.session.state
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.session.connection
    }

    /// Plans a statement.
    pub(crate) fn plan(&self, text: &str) -> Plan {
        self.session.state.plan_text(text).unwrap()
    }

    /// Executes statements whose replies do not matter.
    pub(crate) async fn execute_all(&mut self, texts: &[&str]) {
        for text in texts {
            self.execute(text).await.unwrap();
        }
        self.session.connection.writer.clear();
    }

    /// Executes a statement and returns the packets of its reply, without headers.
    pub(crate) async fn packets(&mut self, text: &str) -> Vec<Vec<u8>> {
        let done = self.execute(text).await;
        let _sent = self.session.end_statement(text.as_bytes(), None, done);
        let packets = packets_of(self.session.connection.writer.bytes());
        self.session.connection.writer.clear();
        packets
    }

    /// Executes a statement whose reply does not matter.
    pub(crate) async fn execute(&mut self, text: &str) -> Result<()> {
        let parsed = parse_first(text.as_bytes(), &ParseOptions::default())?;
        self.session.state.begin_statement(Some(&parsed.statement));
        let execution = Execution::of_text(text.as_bytes());
        self.session.run_statement(&parsed.statement, execution).await
    }
}

/// Returns the payloads of framed packets.
pub(crate) fn packets_of(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = vec![];
    while let Some((&[a, b, c, _], rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        packets.push(rest[..length].to_vec());
        bytes = &rest[length..];
    }
    packets
}
