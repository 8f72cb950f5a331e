//! Replicas of this server: COM_REGISTER_SLAVE, COM_BINLOG_DUMP, SHOW SLAVE HOSTS. The session passes its connection to
//! [`paceline_replication::primary`].

use super::query::Execution;
use super::{Phase, Session};
use crate::output::Output;
use crate::registry::STREAM_COMMAND;
use crate::variables::Variable;
use paceline_expression::session::Privilege;
use paceline_replication::primary::{
    DumpRequest, Host, Link, MarkedForSkip, Refusal, Registration, RegistrationState, StreamEnd,
};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_UNKNOWN_ERROR;
use paceline_types::{ServerId, Value};
use paceline_wire::WireResult;
use paceline_wire::command::Command;
use paceline_wire::response::write_eof;

impl Session {
    fn own_server_id(&self) -> ServerId {
        ServerId(self.server.globals.number(Variable::ServerId) as u32)
    }

    /// Executes COM_REGISTER_SLAVE.
    pub fn register_replica(&mut self) {
        let done = self.try_register();
        self.ok_or_error(done);
    }

    fn try_register(&mut self) -> Result<()> {
        self.services.require_any(&[Privilege::ReplicationSlave])?;
        let Ok(Command::RegisterReplica(payload)) = Command::parse(self.connection.reader.payload()) else {
            return Ok(());
        };
        let registration = Registration::parse(payload, &self.client.name, self.own_server_id())
            .map_err(|problem| Error::with_message(ER_UNKNOWN_ERROR, problem))?;
        self.server
            .primary
            .replicas()
            .register(self.shared.id, registration);
        Ok(())
    }

    /// Executes COM_BINLOG_DUMP. The connection ends after it, as in MariaDB.
    pub async fn binlog_dump(&mut self) -> WireResult<()> {
        self.begin_command(STREAM_COMMAND, b"");
        self.phase = Phase::Closing;
        let request = match self.dump_request() {
            Ok(request) => request,
            Err(error) => {
                self.write_sql_error(&error);
                return Ok(());
            }
        };
        let shared = self.shared.clone();
        let show = move |state: &'static str| shared.update(|activity| activity.state = state);
        let server = self.server.clone();
        let host = Host {
            connection: self.shared.id,
            interrupt: &self.shared.interrupt,
            show: &show,
            server_id: self.own_server_id(),
            replicated: self.server.transactions.replicated_position(),
        };
        let link = Link {
            socket: &mut self.connection.socket,
            reader: &mut self.connection.reader,
            writer: &mut self.connection.writer,
            write_timeout: self.connection.write_timeout,
        };
        match server.primary.serve(link, &request, host).await {
            StreamEnd::AtEnd => {
                let status = self.status();
                write_eof(&mut self.connection.writer, 0, status);
                Ok(())
            }
            StreamEnd::Refused(refusal) => {
                tracing::warn!(
                    "connection {}: the replica with server id {} is not served: {refusal}",
                    self.shared.id,
                    request.server_id
                );
                let error = of_refusal(&refusal);
                self.write_sql_error(&error);
                Ok(())
            }
            StreamEnd::Gone(error) => Err(error),
        }
    }

    fn dump_request(&self) -> Result<DumpRequest> {
        self.services.require_any(&[Privilege::ReplicationSlave])?;
        let Ok(Command::BinlogDump(dump)) = Command::parse(self.connection.reader.payload()) else {
            return Err(Error::new(ER_UNKNOWN_ERROR, &[]));
        };
        let registered = match self.server.primary.replicas().registration(self.shared.id) {
            Some(registration) => RegistrationState::As(registration.server_id),
            None => RegistrationState::No,
        };
        let marked = match self
            .services
            .values
            .lock()
            .get(Variable::SkipReplication)
            .as_bool()
        {
            true => MarkedForSkip::LeftOut,
            false => MarkedForSkip::Sent,
        };
        let request = DumpRequest::read(&dump, &self.context.user_variables, registered, marked)
            .map_err(|refusal| of_refusal(&refusal))?;
        tracing::info!(
            "Start binlog_dump to slave_server({}), pos({}, {}), from {}",
            request.server_id,
            request.asked.0,
            request.asked.1,
            request.start
        );
        Ok(request)
    }

    /// Executes SHOW SLAVE HOSTS.
    pub fn show_replica_hosts(&mut self, execution: Execution<'_>) -> Result<()> {
        self.services.require_any(&[Privilege::ReplicationMasterAdmin])?;
        let mut output = Output::new();
        output
            .number("Server_id")
            .text("Host", 20)
            .number("Port")
            .number("Master_id");
        for replica in self.server.primary.replicas().list() {
            output.row(vec![
                Value::UInt(u64::from(replica.server_id.0)),
                Value::Text(replica.host),
                Value::UInt(u64::from(replica.port)),
                Value::UInt(u64::from(replica.source_id.0)),
            ]);
        }
        self.send(output, execution)
    }
}

/// Returns the client's error: the number and the text.
fn of_refusal(refusal: &Refusal) -> Error {
    Error::with_message(refusal.code(), refusal.to_string())
}
