//! Replicas of this server: COM_REGISTER_SLAVE and COM_BINLOG_DUMP. The session passes its connection to
//! [`paceline_log_stream::primary`].

use crate::cluster::{CLUSTER_USER, Cluster};
use crate::registry::STREAM_COMMAND;
use crate::session::{Phase, Session};
use crate::variables::Variable;
use paceline_cluster::{Epoch, MemberId};
use paceline_cluster_host::Reader;
use paceline_expression::session::Privilege;
use paceline_log_stream::primary::{
    DumpRequest, Host, Link, MarkedEvents, Refusal, Registration, RegistrationState, StreamEnd,
};
use paceline_syntax::{Error, Result};
use paceline_txn::InterruptReason;
use paceline_types::ServerId;
use paceline_types::error_code::{ER_MASTER_FATAL_ERROR_READING_BINLOG, ER_UNKNOWN_ERROR};
use paceline_wire::WireResult;
use paceline_wire::command::Command;
use std::sync::Arc;

impl Session {
    fn own_server_id(&self) -> ServerId {
        ServerId(self.state.server.globals.number(Variable::ServerId) as u32)
    }

    /// Executes COM_REGISTER_SLAVE.
    pub(super) fn register_replica(&mut self) {
        let done = self.try_register();
        self.replies().ok_or_error(done);
    }

    fn try_register(&mut self) -> Result<()> {
        self.state.shared.counters.slave_connections.add(1);
        self.state.services.require_any(&[Privilege::ReplicationSlave])?;
        let Ok(Command::RegisterReplica(payload)) = Command::parse(self.connection.reader.payload()) else {
            return Ok(());
        };
        let registration = Registration::parse(payload, &self.client.name, self.own_server_id())
            .map_err(|problem| Error::with_message(ER_UNKNOWN_ERROR, problem))?;
        self.state
            .server
            .primary
            .replicas()
            .register(self.state.shared.id, registration);
        Ok(())
    }

    /// Executes COM_BINLOG_DUMP. As in MariaDB, the connection ends afterwards.
    pub(super) async fn binlog_dump(&mut self) -> WireResult<()> {
        self.begin_command(STREAM_COMMAND, b"");
        self.phase = Phase::Closing;
        let request = match self.dump_request() {
            Ok(request) => request,
            Err(error) => {
                self.replies().error(&error);
                return Ok(());
            }
        };
        let admitted = match self.admit_member(&request) {
            Ok(admitted) => admitted,
            Err(error) => {
                self.replies().error(&error);
                return Ok(());
            }
        };
        let shared = self.state.shared.clone();
        let show = move |state: &'static str| shared.update(|activity| activity.state = state);
        let accepted = || {
            if let Some(admitted) = &admitted {
                admitted.accept();
            }
        };
        let server = self.state.server.clone();
        let host = Host {
            connection: self.state.shared.id,
            interrupt: &self.state.shared.interrupt,
            show: &show,
            accepted: &accepted,
            server_id: self.own_server_id(),
            replicated: self.state.server.transactions.replicated_position(),
        };
        let link = Link {
            socket: &mut self.connection.socket,
            reader: &mut self.connection.reader,
            writer: &mut self.connection.writer,
            write_timeout: self.connection.write_timeout,
        };
        let served = server.primary.serve(link, &request, host).await;
        drop(admitted);
        match served {
            StreamEnd::AtEnd => {
                self.replies().eof();
                Ok(())
            }
            StreamEnd::Refused(refusal) => {
                tracing::warn!(
                    "connection {}: the replica with server id {} is not served: {refusal}",
                    self.state.shared.id,
                    request.server_id
                );
                let error = of_refusal(&refusal);
                self.replies().error(&error);
                Ok(())
            }
            StreamEnd::Gone(error) => Err(error),
        }
    }

    /// Admits the stream of a member of the cluster. Members get what is not acknowledged yet, so the session must be
    /// one of a member.
    ///
    /// # Errors
    /// 1236 if it is not, or if this server is not the primary of the epoch that the member follows.
    fn admit_member(&self, request: &DumpRequest) -> Result<Option<AdmittedMember>> {
        let Some((cluster, reader)) = self.state.server.cluster.clone().zip(request.member) else {
            return Ok(None);
        };
        let is_of_member = self.state.context.user.user == CLUSTER_USER;
        let shared = self.state.shared.clone();
        let end = move || shared.kill(InterruptReason::Connection);
        let reader = Reader {
            member: MemberId(reader.member),
            epoch: Epoch(reader.epoch),
        };
        let connection = self.state.shared.id;
        match is_of_member && cluster.readers.admit(reader, connection, end) {
            true => Ok(Some(AdmittedMember { cluster, connection })),
            false => Err(Error::with_message(
                ER_MASTER_FATAL_ERROR_READING_BINLOG,
                "this member of the cluster is not the primary of that epoch",
            )),
        }
    }

    fn dump_request(&self) -> Result<DumpRequest> {
        self.state.services.require_any(&[Privilege::ReplicationSlave])?;
        let Ok(Command::BinlogDump(dump)) = Command::parse(self.connection.reader.payload()) else {
            return Err(Error::new(ER_UNKNOWN_ERROR, &[]));
        };
        let registered = match self
            .state
            .server
            .primary
            .replicas()
            .registration(self.state.shared.id)
        {
            Some(registration) => RegistrationState::As(registration.server_id),
            None => RegistrationState::No,
        };
        let marked = match self
            .state
            .services
            .values
            .lock()
            .get(Variable::SkipReplication)
            .as_bool()
        {
            true => MarkedEvents::Omitted,
            false => MarkedEvents::Sent,
        };
        let variables = &self.state.context.user_variables;
        let lookup = |name: &str| variables.get(name).map(|variable| &variable.value);
        let request =
            DumpRequest::read(&dump, &lookup, registered, marked).map_err(|refusal| of_refusal(&refusal))?;
        tracing::info!(
            "Start binlog_dump to slave_server({}), pos({}, {}), from {}",
            request.server_id,
            request.asked.0,
            request.asked.1,
            request.start
        );
        Ok(request)
    }
}

/// Admission of a member's stream.
struct AdmittedMember {
    cluster: Arc<Cluster>,
    connection: u32,
}

impl AdmittedMember {
    /// The log has the position from which the member reads.
    fn accept(&self) {
        self.cluster.readers.accept(self.connection);
    }
}

impl Drop for AdmittedMember {
    fn drop(&mut self) {
        self.cluster.readers.remove(self.connection);
    }
}

/// Returns the error for the client, with number and text.
fn of_refusal(refusal: &Refusal) -> Error {
    Error::with_message(refusal.code(), refusal.to_string())
}
