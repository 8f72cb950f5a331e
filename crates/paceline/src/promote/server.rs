//! A server that takes part in a promotion. It is controlled with SQL.

use super::error::{Error, Result};
use super::positions::{ServerPosition, missing_from_log};
use super::role::Role;
use crate::connection::{Address, Connection, ServerError, master_tls, quoted};
use paceline_binlog::{GtidPosition, GtidState};
use paceline_log_stream::source::definition::TlsSettings;
use paceline_types::{DomainId, ServerId};
use paceline_wire::TcpAddress;
use paceline_wire::client::ConnectOptions;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Interval of polling.
const POLL: Duration = Duration::from_millis(50);

/// Time limit for a replica to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// Account of a connection to a primary or an archive.
#[derive(Clone)]
pub struct Replication {
    pub user: String,
    pub password: String,
    /// TLS options of CHANGE MASTER for new connections, preceded by a comma; empty without TLS.
    pub tls: String,
}

/// A server from which another one replicates.
#[derive(Clone, Debug)]
pub struct Upstream {
    pub address: TcpAddress,
    /// Known after the first connection.
    pub server_id: Option<ServerId>,
    pub is_connected: bool,
}

/// Connections of a server that the promotion concerns.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ConnectionScope {
    All,
    /// Those with these names. The others go to other primaries.
    Named(HashSet<String>),
}

/// Settings of a session: literals are read as written here, and the session is not closed while it waits for other
/// servers.
const SESSION: &str = "SET SESSION sql_mode='', wait_timeout=86400";

/// A connection to a server.
pub struct Server {
    connection: Connection,
    /// HOST:PORT.
    name: String,
    role: Role,
    server_id: ServerId,
    concerned: ConnectionScope,
}

/// A row as a map from column names to values.
type Row = HashMap<String, String>;

impl Server {
    /// Connects to a server. Its address must also be usable by other servers.
    pub async fn connect(address: &str, account: &ConnectOptions, role: Role) -> Result<Self> {
        let address = address.parse::<Address>().map_err(Error::Address)?;
        let address = address.for_others().map_err(Error::Address)?.clone();
        let name = address.to_string();
        let connection = Connection::open(&Address::Tcp(address), account).await?;
        let mut server = Server {
            connection,
            name,
            role,
            server_id: ServerId(0),
            concerned: ConnectionScope::All,
        };
        server.execute(SESSION).await?;
        let id = server.value("@@GLOBAL.server_id").await?;
        server.server_id = id
            .parse()
            .map(ServerId)
            .map_err(|_| server.problem(format!("server_id: {id}")))?;
        Ok(server)
    }

    pub fn server_id(&self) -> ServerId {
        self.server_id
    }

    /// Returns HOST:PORT.
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

    /// Evaluates an expression on the server.
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

    /// Returns what the server has.
    pub async fn holding(&mut self) -> Result<ServerPosition> {
        Ok(ServerPosition {
            address: self.address().to_owned(),
            logged: self.position("@@GLOBAL.gtid_binlog_pos").await?,
            replicated: self.position("@@GLOBAL.gtid_slave_pos").await?,
        })
    }

    /// Returns what the server has. For an archive that also stores other primaries' logs, only these domains are
    /// returned.
    pub async fn holding_of(&mut self, domains: &HashSet<DomainId>) -> Result<ServerPosition> {
        let mut holding = self.holding().await?;
        if self.concerned != ConnectionScope::All {
            holding.keep(domains);
        }
        Ok(holding)
    }

    /// Returns whether clients may write.
    pub async fn is_writable(&mut self) -> Result<bool> {
        // MariaDB 12 uses names for its values.
        let read_only = self.value("@@GLOBAL.read_only").await?;
        Ok(matches!(read_only.as_str(), "0" | "OFF"))
    }

    /// Returns whether it acknowledges what it receives (semi-sync); `None` if it has no such variable.
    pub async fn acknowledges(&mut self) -> Option<bool> {
        let enabled = self.value("@@GLOBAL.rpl_semi_sync_slave_enabled").await.ok()?;
        Some(matches!(enabled.as_str(), "1" | "ON"))
    }

    async fn connections(&mut self) -> Result<Vec<Row>> {
        let mut rows = self.connection.named_rows("SHOW ALL SLAVES STATUS").await?;
        if let ConnectionScope::Named(names) = &self.concerned {
            rows.retain(|row| names.contains(&row["Connection_name"]));
        }
        Ok(rows)
    }

    /// Returns the servers from which it replicates or is configured to replicate.
    pub async fn upstreams(&mut self) -> Result<Vec<Upstream>> {
        let rows = self.connections().await?;
        Ok(rows.iter().filter_map(upstream).collect())
    }

    /// Returns the addresses of these servers.
    pub async fn primaries(&mut self) -> Result<Vec<String>> {
        let upstreams = self.upstreams().await?;
        Ok(upstreams.iter().map(|one| one.address.to_string()).collect())
    }

    /// If the server has several connections, restricts everything that follows to those to one of these servers.
    pub async fn restrict_connections(&mut self, servers: &HashSet<String>) -> Result<()> {
        let rows = self.connections().await?;
        if rows.len() < 2 {
            return Ok(());
        }
        let is_concerned = |row: &Row| {
            let candidates = row.get("Candidates").map(String::as_str).unwrap_or_default();
            let tried = upstream(row).map(|one| one.address.to_string());
            candidates.split(',').any(|one| servers.contains(one))
                || tried.is_some_and(|one| servers.contains(&one))
        };
        let names: HashSet<String> = rows
            .iter()
            .filter(|row| is_concerned(row))
            .map(|row| row["Connection_name"].clone())
            .collect();
        if names.is_empty() {
            return Err(self
                .problem("it follows several primaries, and none of them is one of these servers: use the addresses in its --from")
                .into());
        }
        self.concerned = ConnectionScope::Named(names);
        Ok(())
    }

    /// Returns the replicas that are connected to it: their ids and host names.
    pub async fn replicas(&mut self) -> Result<Vec<(ServerId, String)>> {
        let rows = self.connection.named_rows("SHOW SLAVE HOSTS").await?;
        let replica = |row: &Row| {
            let id = row.get("Server_id")?.parse().ok()?;
            let host = row.get("Host").map(String::as_str).unwrap_or_default();
            Some((ServerId(id), host.to_owned()))
        };
        Ok(rows.iter().filter_map(replica).collect())
    }

    /// Returns the TLS settings of its connection to its primary as options of CHANGE MASTER; empty without TLS.
    pub async fn tls_settings(&mut self) -> Result<String> {
        let connections = self.connections().await?;
        Ok(connections.first().map(tls_settings).unwrap_or_default())
    }

    /// Stops receiving on all connections, and waits until everything received is applied.
    pub async fn stop_receiving(&mut self, patience: Duration) -> Result<()> {
        for connection in self.connections().await? {
            let name = quoted(&connection["Connection_name"]);
            self.execute(&format!("STOP SLAVE {name} IO_THREAD")).await?;
        }
        let deadline = Instant::now() + patience;
        loop {
            let connections = self.connections().await?;
            let has = self.holding().await?.position();
            let Some(behind) = connections.iter().find(|row| !has_applied_all(row, &has)) else {
                return Ok(());
            };
            let error = &behind["Last_SQL_Error"];
            let is_archive = self.role == Role::Archive;
            if !is_archive && (!error.is_empty() || behind["Slave_SQL_Running"] != "Yes") {
                return Err(self
                    .problem(format!(
                        "it has received transactions but does not apply them (connection '{}'): {error}",
                        behind["Connection_name"]
                    ))
                    .into());
            }
            if Instant::now() > deadline {
                return Err(self
                    .problem("it has not applied all received transactions in time")
                    .into());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until the server has everything up to `position`, written by itself or replicated.
    pub async fn wait_for(&mut self, position: &GtidPosition, patience: Duration) -> Result<()> {
        let state = self.value("@@GLOBAL.gtid_binlog_state").await?;
        let state = state.parse::<GtidState>();
        let state = state.map_err(|error| self.problem(format!("@@GLOBAL.gtid_binlog_state: {error}")))?;
        let yet = missing_from_log(&state, position);
        match yet.is_empty() {
            true => Ok(()),
            false => self.wait_replicated(&yet, patience).await,
        }
    }

    /// Waits until the server has replicated up to `position`.
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
        let problem = format!("it does not reach {position}. {}", errors.join("; "));
        Err(self.problem(problem).into())
    }

    /// Replicates from another server until `until` is reached in the domains that it names.
    pub async fn fetch(
        &mut self,
        name: &str,
        source: &str,
        replication: &Replication,
        until: &GtidPosition,
        patience: Duration,
    ) -> Result<()> {
        let connections = self.connections().await?;
        for connection in &connections {
            let name = quoted(&connection["Connection_name"]);
            self.execute(&format!("STOP SLAVE {name}")).await?;
        }
        // A server can have only one connection to another server (1934).
        let existing = connections
            .iter()
            .find(|row| upstream(row).is_some_and(|one| one.address.to_string() == source));
        let own_name = existing.map_or(name, |row| &row["Connection_name"]);
        let quoted_name = quoted(own_name);
        let tls = match existing {
            Some(_) => "",
            None => &replication.tls,
        };
        self.change_master(&quoted_name, source, replication, tls).await?;
        self.execute(&format!(
            "START SLAVE {quoted_name} UNTIL master_gtid_pos='{until}'"
        ))
        .await?;
        let fetched = self.wait_replicated(until, patience).await;
        self.execute(&format!("STOP SLAVE {quoted_name}")).await?;
        fetched?;
        match existing {
            // It is removed later with the other connections.
            Some(_) => Ok(()),
            None => self.execute(&format!("RESET SLAVE {quoted_name} ALL")).await,
        }
    }

    async fn change_master(
        &mut self,
        quoted_name: &str,
        source: &str,
        replication: &Replication,
        tls: &str,
    ) -> Result<()> {
        let statement = change_master(quoted_name, source, replication)? + tls;
        let shown = format!("CHANGE MASTER {quoted_name} TO … ({source})");
        Ok(self.connection.execute_secret(&statement, &shown).await?)
    }

    /// Removes all its connections to primaries.
    pub async fn reset_connections(&mut self) -> Result<()> {
        for connection in self.connections().await? {
            let name = quoted(&connection["Connection_name"]);
            self.execute(&format!("STOP SLAVE {name}")).await?;
            self.execute(&format!("RESET SLAVE {name} ALL")).await?;
        }
        Ok(())
    }

    /// Starts receiving again. Used for archives after a failed promotion.
    pub async fn resume_receiving(&mut self) -> Result<()> {
        for connection in self.connections().await? {
            let name = quoted(&connection["Connection_name"]);
            self.execute(&format!("START SLAVE {name}")).await?;
        }
        Ok(())
    }

    /// Makes an archive follow the new primary.
    pub async fn archive_from(&mut self, primary: &str) -> Result<ArchiveOutcome> {
        let connections = self.connections().await?;
        let TcpAddress { host, port } = primary
            .parse::<TcpAddress>()
            .map_err(|error| self.problem(error))?;
        let Some(row) = connections.first() else {
            return Ok(ArchiveOutcome::FollowsNobody);
        };
        let candidates = row.get("Candidates").cloned().unwrap_or_default();
        let name = quoted(&row["Connection_name"]);
        let host = quoted(&host);
        self.execute(&format!(
            "CHANGE MASTER {name} TO MASTER_HOST={host}, MASTER_PORT={port}"
        ))
        .await?;
        self.execute(&format!("START SLAVE {name}")).await?;
        self.wait_connected(&name).await?;
        Ok(match candidates.split(',').any(|one| one == primary) {
            true => ArchiveOutcome::Follows,
            false => ArchiveOutcome::UntilRestart,
        })
    }

    /// Makes the server replicate from the new primary, over its connection to the old one if there is exactly one.
    pub async fn follow(&mut self, primary: &str, replication: &Replication) -> Result<()> {
        let connections = self.connections().await?;
        let name = match connections.as_slice() {
            [only] => only["Connection_name"].clone(),
            _ => String::new(),
        };
        let name = quoted(&name);
        let tls = match connections.is_empty() {
            true => &replication.tls,
            false => {
                self.execute(&format!("STOP SLAVE {name}")).await?;
                ""
            }
        };
        self.change_master(&name, primary, replication, tls).await?;
        self.execute(&format!("START SLAVE {name}")).await?;
        self.wait_connected(&name).await
    }

    /// Waits until a connection receives. This detects, for example, an account without the privilege to replicate.
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
                    "" => "it has not connected in time",
                    error => error,
                };
                return Err(self.problem(problem).into());
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Result of making an archive follow the new primary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArchiveOutcome {
    /// It follows the new primary.
    Follows,
    /// It follows, but its `--from` does not name the new primary: it forgets it when it is restarted.
    UntilRestart,
    /// It serves the files of a dead server (`--serve`) and follows no primary.
    FollowsNobody,
}

fn upstream(row: &Row) -> Option<Upstream> {
    let host = row.get("Master_Host").filter(|host| !host.is_empty())?.clone();
    let port = row.get("Master_Port")?.parse().ok()?;
    let id = row.get("Master_Server_Id").and_then(|id| id.parse().ok());
    Some(Upstream {
        address: TcpAddress { host, port },
        server_id: id.filter(|id| *id != 0).map(ServerId),
        is_connected: row["Slave_IO_Running"] == "Yes",
    })
}

/// Returns whether a server that has `has` has applied everything received on a connection. (`Gtid_IO_Pos` starts with
/// the requested position, which may contain transactions of its own.) For an archive: whether everything is written
/// and it no longer receives.
fn has_applied_all(row: &Row, has: &GtidPosition) -> bool {
    if let Some(waiting) = row.get("Waiting_Transactions") {
        return waiting == "0" && row["Slave_IO_Running"] == "No";
    }
    if row["Using_Gtid"] == "No" {
        return row["Relay_Master_Log_File"] == row["Master_Log_File"]
            && row["Exec_Master_Log_Pos"] == row["Read_Master_Log_Pos"];
    }
    let received = row["Gtid_IO_Pos"].parse::<GtidPosition>().unwrap_or_default();
    has.covers(&received)
}

/// Returns the TLS settings in SHOW SLAVE STATUS as options of CHANGE MASTER.
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
        ..TlsSettings::default()
    })
}

/// Returns the statement. With `current_pos`, a server that was a primary itself fetches only new transactions.
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
    fn change_master_quotes_its_values() {
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
    fn a_connection_has_applied_all_if_the_position_covers_what_it_received() {
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
