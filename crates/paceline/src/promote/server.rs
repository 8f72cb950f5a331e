//! A server that takes part in a promotion, through SQL.

use super::Result;
use super::plan::{Holding, not_logged};
use crate::connection::{Address, Connection, ServerError, master_tls, quoted};
use paceline_binlog::{BinlogState, GtidPosition};
use paceline_replication::replica::definition::TlsSettings;
use paceline_wire::TcpAddress;
use paceline_wire::client::ConnectOptions;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How often something is looked at that is waited for.
const POLL: Duration = Duration::from_millis(50);

/// How long a replica may take to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// Whom servers replicate as.
#[derive(Clone, Debug)]
pub struct Replication {
    pub user: String,
    pub password: String,
    /// What CHANGE MASTER says of TLS where a connection is new: nothing, or with a comma before it.
    pub tls: String,
}

/// What a session is set to: literals are read as they are written here, and it is not closed while others are waited for.
const SESSION: &str = "SET SESSION sql_mode='', wait_timeout=86400";

/// A connection to a server.
pub struct Server {
    connection: Connection,
    /// HOST:PORT.
    name: String,
}

/// A row by its columns' names.
type Row = HashMap<String, String>;

impl Server {
    /// Connects to a server that others can connect to, too.
    pub async fn connect(address: &str, account: &ConnectOptions) -> Result<Self> {
        let address = address.parse::<Address>()?.for_others()?.clone();
        let name = address.to_string();
        let connection = Connection::open(&Address::Tcp(address), account).await?;
        let mut server = Server { connection, name };
        server.execute(SESSION).await?;
        Ok(server)
    }

    /// HOST:PORT.
    pub fn address(&self) -> &str {
        &self.name
    }

    fn problem(&self, problem: impl ToString) -> ServerError {
        self.connection.problem(problem)
    }

    /// Executes a statement without a result.
    pub async fn execute(&mut self, statement: &str) -> Result<()> {
        Ok(self.connection.rows(statement).await.map(drop)?)
    }

    /// What an expression is there.
    pub async fn value(&mut self, expression: &str) -> Result<String> {
        let row = self.connection.row(&format!("SELECT {expression}")).await?;
        let value = row.into_iter().next();
        Ok(value.ok_or_else(|| self.problem(format!("no answer to {expression}")))?)
    }

    async fn position(&mut self, variable: &str) -> Result<GtidPosition> {
        let text = self.value(variable).await?;
        let position = text.parse::<GtidPosition>();
        Ok(position.map_err(|error| self.problem(format!("{variable}: {error}")))?)
    }

    /// What it has.
    pub async fn holding(&mut self) -> Result<Holding> {
        Ok(Holding {
            address: self.address().to_owned(),
            logged: self.position("@@GLOBAL.gtid_binlog_pos").await?,
            replicated: self.position("@@GLOBAL.gtid_slave_pos").await?,
        })
    }

    /// Whether clients may write there.
    pub async fn is_writable(&mut self) -> Result<bool> {
        // MariaDB 12 has names for it.
        let read_only = self.value("@@GLOBAL.read_only").await?;
        Ok(matches!(read_only.as_str(), "0" | "OFF"))
    }

    async fn connections(&mut self) -> Result<Vec<Row>> {
        Ok(self.connection.named_rows("SHOW ALL SLAVES STATUS").await?)
    }

    /// How its connection to its primary is encrypted, for CHANGE MASTER. Nothing if it is in clear.
    pub async fn tls_settings(&mut self) -> Result<String> {
        let connections = self.connections().await?;
        Ok(connections.first().map(tls_settings).unwrap_or_default())
    }

    /// Receives no more from anybody, and applies what it has received.
    pub async fn stop_receiving(&mut self, patience: Duration) -> Result<()> {
        for connection in self.connections().await? {
            let name = quoted(&connection["Connection_name"]);
            self.execute(&format!("STOP SLAVE {name} IO_THREAD")).await?;
        }
        let deadline = Instant::now() + patience;
        loop {
            let connections = self.connections().await?;
            let has = self.holding().await?.has();
            let Some(behind) = connections.iter().find(|row| !has_applied_all(row, &has)) else {
                return Ok(());
            };
            let error = &behind["Last_SQL_Error"];
            if !error.is_empty() || behind["Slave_SQL_Running"] != "Yes" {
                return Err(self
                    .problem(format!(
                        "it has received transactions that it does not apply (connection '{}'): {error}",
                        behind["Connection_name"]
                    ))
                    .into());
            }
            if Instant::now() > deadline {
                return Err(self
                    .problem("it has not applied in time what it has received")
                    .into());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until it has everything up to there, its own or replicated.
    pub async fn wait_for(&mut self, position: &GtidPosition, patience: Duration) -> Result<()> {
        let state = self.value("@@GLOBAL.gtid_binlog_state").await?;
        let state = state.parse::<BinlogState>();
        let state = state.map_err(|error| self.problem(format!("@@GLOBAL.gtid_binlog_state: {error}")))?;
        let yet = not_logged(&state, position);
        match yet.is_empty() {
            true => Ok(()),
            false => self.wait_replicated(&yet, patience).await,
        }
    }

    /// Waits until it has replicated up to there.
    pub async fn wait_replicated(&mut self, position: &GtidPosition, patience: Duration) -> Result<()> {
        let wait = format!("MASTER_GTID_WAIT('{position}', {})", patience.as_secs());
        if self.value(&wait).await? == "0" {
            return Ok(());
        }
        let errors: Vec<String> = self
            .connections()
            .await?
            .iter()
            .flat_map(|row| [&row["Last_IO_Error"], &row["Last_SQL_Error"]])
            .filter(|error| !error.is_empty())
            .cloned()
            .collect();
        let problem = format!("it does not come to {position}. {}", errors.join("; "));
        Err(self.problem(problem).into())
    }

    /// Replicates from another server, until it has come to `until` in the domains named there.
    pub async fn fetch(
        &mut self,
        name: &str,
        source: &str,
        replication: &Replication,
        until: &GtidPosition,
        patience: Duration,
    ) -> Result<()> {
        for connection in self.connections().await? {
            let name = quoted(&connection["Connection_name"]);
            self.execute(&format!("STOP SLAVE {name}")).await?;
        }
        let quoted_name = quoted(name);
        let change = change_master(&quoted_name, source, replication)? + &replication.tls;
        self.execute(&change).await?;
        self.execute(&format!(
            "START SLAVE {quoted_name} UNTIL master_gtid_pos='{until}'"
        ))
        .await?;
        let fetched = self.wait_replicated(until, patience).await;
        self.execute(&format!("STOP SLAVE {quoted_name}")).await?;
        fetched?;
        self.execute(&format!("RESET SLAVE {quoted_name} ALL")).await
    }

    /// Is nobody's replica any more.
    pub async fn forget_primaries(&mut self) -> Result<()> {
        for connection in self.connections().await? {
            let name = quoted(&connection["Connection_name"]);
            self.execute(&format!("STOP SLAVE {name}")).await?;
            self.execute(&format!("RESET SLAVE {name} ALL")).await?;
        }
        Ok(())
    }

    /// Replicates from the new primary, by the connection that it had to the old one.
    pub async fn follow(&mut self, primary: &str, replication: &Replication) -> Result<()> {
        let connections = self.connections().await?;
        let name = match connections.as_slice() {
            [only] => only["Connection_name"].clone(),
            _ => String::new(),
        };
        let name = quoted(&name);
        let mut change = change_master(&name, primary, replication)?;
        match connections.is_empty() {
            true => change.push_str(&replication.tls),
            false => self.execute(&format!("STOP SLAVE {name}")).await?,
        }
        self.execute(&change).await?;
        self.execute(&format!("START SLAVE {name}")).await?;
        self.wait_connected(&name).await
    }

    /// Waits until a connection receives. An account that may not replicate is found out here.
    async fn wait_connected(&mut self, quoted_name: &str) -> Result<()> {
        let deadline = Instant::now() + CONNECT;
        loop {
            let rows = self.connections().await?;
            let row = rows
                .iter()
                .find(|row| quoted(&row["Connection_name"]) == quoted_name);
            let Some(row) = row else {
                return Err(self.problem("it has lost its connection").into());
            };
            let (running, error) = (&row["Slave_IO_Running"], &row["Last_IO_Error"]);
            if running == "Yes" {
                return Ok(());
            }
            if !error.is_empty() || Instant::now() > deadline {
                let problem = match error.as_str() {
                    "" => "it does not connect in time",
                    error => error,
                };
                return Err(self.problem(problem).into());
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Whether a server that has `has` has applied everything that a connection has received. (`Gtid_IO_Pos` begins with the position that
/// was asked for, in which there may be transactions of its own.)
fn has_applied_all(row: &Row, has: &GtidPosition) -> bool {
    if row["Using_Gtid"] == "No" {
        return row["Relay_Master_Log_File"] == row["Master_Log_File"]
            && row["Exec_Master_Log_Pos"] == row["Read_Master_Log_Pos"];
    }
    let received = row["Gtid_IO_Pos"].parse::<GtidPosition>().unwrap_or_default();
    has.covers(&received)
}

/// What SHOW SLAVE STATUS says of TLS, for CHANGE MASTER.
fn tls_settings(row: &Row) -> String {
    let value = |column: &str| {
        row.get(&format!("Master_SSL_{column}"))
            .cloned()
            .unwrap_or_default()
    };
    master_tls(&TlsSettings {
        enabled: value("Allowed") == "Yes",
        parameters: paceline_wire::tls::TlsParameters {
            ca: value("CA_File"),
            ca_path: value("CA_Path"),
            certificate: value("Cert"),
            key: value("Key"),
            cipher: value("Cipher"),
            crl: value("Crl"),
            crl_path: value("Crlpath"),
            versions: String::new(),
        },
        verify_server_certificate: value("Verify_Server_Cert") == "Yes",
    })
}

/// `current_pos`: a server that was a primary itself fetches only what is new.
fn change_master(name: &str, source: &str, replication: &Replication) -> Result<String> {
    let source: Address = source.parse()?;
    let TcpAddress { host, port } = source.for_others()?;
    Ok(format!(
        "CHANGE MASTER {name} TO MASTER_HOST={}, MASTER_PORT={port}, MASTER_USER={}, MASTER_PASSWORD={}, \
         MASTER_USE_GTID=current_pos",
        quoted(host),
        quoted(&replication.user),
        quoted(&replication.password)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        let replication = Replication {
            user: "repl".into(),
            password: r"it's \ odd".into(),
            tls: String::new(),
        };
        assert_eq!(
            change_master("''", "db2:3307", &replication).unwrap(),
            r"CHANGE MASTER '' TO MASTER_HOST='db2', MASTER_PORT=3307, MASTER_USER='repl', MASTER_PASSWORD='it''s \\ odd', MASTER_USE_GTID=current_pos"
        );
    }

    #[test]
    fn a_new_connection_is_encrypted_as_the_old_one() {
        let row = |allowed: &str| -> Row {
            [
                ("Allowed", allowed),
                ("CA_File", "/it's"),
                ("Verify_Server_Cert", "Yes"),
                ("Cert", ""),
            ]
            .map(|(name, value)| (format!("Master_SSL_{name}"), value.to_owned()))
            .into()
        };
        assert_eq!(tls_settings(&row("No")), "");
        assert_eq!(
            tls_settings(&row("Yes")),
            ", MASTER_SSL=1, MASTER_SSL_VERIFY_SERVER_CERT=1, MASTER_SSL_CA='/it''s'"
        );
    }

    #[test]
    fn what_is_received_is_applied_first() {
        let row = |using: &str, io: &str| {
            let values = [
                ("Using_Gtid", using),
                ("Gtid_IO_Pos", io),
                ("Master_Log_File", "a.000002"),
                ("Relay_Master_Log_File", "a.000002"),
                ("Read_Master_Log_Pos", "500"),
                ("Exec_Master_Log_Pos", "400"),
            ];
            values
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect::<Row>()
        };
        let has: GtidPosition = "0-1-5,2-2-2".parse().unwrap();
        assert!(has_applied_all(&row("Slave_Pos", "0-1-5"), &has));
        assert!(has_applied_all(&row("Current_Pos", "0-1-5,2-2-2"), &has));
        assert!(!has_applied_all(&row("Slave_Pos", "0-1-6"), &has));
        assert!(!has_applied_all(&row("No", ""), &has));
    }
}
