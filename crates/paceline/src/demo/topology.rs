//! The processes of a demo: a primary, a replica and an archive that follow it, and a load on the primary.
//!
//! ```text
//!   load ──▶ primary ──┬──▶ replica        all of them listen on 127.0.0.1 and on a socket in the directory
//!                      └──▶ archive
//! ```
//! *Ports* are chosen by the kernel when the servers bind them (port 0), and read from their logs. So no other program
//! can take them in between.
//!
//! *Access.* Other users of the machine can reach the ports, so all servers have one account `demo` with a random
//! password. It stands in option files in the directory, which only its owner can read.

use super::child_process::ChildProcess;
use super::error::{Error, Result};
use crate::connection::{Address, Connection, quoted};
use crate::sys_schema;
use paceline_server::accounts::own_user;
use paceline_wire::client::ConnectOptions;
use rand::RngCore;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Account on all servers.
const USER: &str = "demo";
/// Name of the primary's process.
const PRIMARY: &str = "primary";
/// Name of the load's process.
const LOAD: &str = "load";
/// Sessions of the load.
const LOAD_THREADS: &str = "4";
/// Interval of polling.
const POLL: Duration = Duration::from_millis(10);
/// Time in which the first transfer arrives at the replica.
const REPLICATION: Duration = Duration::from_secs(60);
/// Longest path of a UNIX socket.
const SOCKET_PATH_MAX: usize = 107;

/// Options of both servers: they share a machine, and a demo of hours should not fill a disk.
const SERVER_OPTIONS: [&str; 7] = [
    "--port=0",
    "--bind-address=127.0.0.1",
    "--http-address=127.0.0.1:0",
    "--paceline-block-cache-size=134217728",
    "--paceline-memtable-size=33554432",
    "--max-binlog-size=67108864",
    "--binlog-expire-logs-seconds=1800",
];

/// Options of the load.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Transactions per second.
    pub rate: u64,
    /// Duration.
    pub seconds: u64,
}

/// Addresses of a server that is ready.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// HOST:PORT.
    pub tcp: String,
    /// HOST:PORT of statistics and probes. An archive has none.
    pub http: Option<String>,
}

/// Addresses of all servers.
pub struct AllAddresses {
    pub primary: Addresses,
    pub replica: Addresses,
    pub archive: Addresses,
}

/// The processes. Those that have not been started yet are missing.
pub struct Topology {
    program: PathBuf,
    directory: PathBuf,
    /// In the order in which they were started. They are stopped in reverse order.
    processes: Vec<ChildProcess>,
}

/// Returns the addresses from a server's log, once it is ready.
fn addresses(log: &str) -> Option<Addresses> {
    let after = |text: &str| {
        let (_, rest) = log.split_once(text)?;
        Some(rest.split([',', ';', '\n']).next()?.trim().to_owned())
    };
    Some(Addresses {
        // The line is complete.
        tcp: log
            .rsplit_once('\n')
            .and_then(|_| after("ready for connections. "))?,
        http: after("statistics and probes: http://"),
    })
}

impl Topology {
    pub fn new(program: &Path, directory: &Path) -> Result<Self> {
        if directory.join("primary.sock").as_os_str().len() > SOCKET_PATH_MAX {
            return Err(Error::LongPath(directory.to_owned()));
        }
        Ok(Topology {
            program: program.to_owned(),
            directory: directory.to_owned(),
            processes: Vec::new(),
        })
    }

    /// Returns the path of a server's socket.
    pub fn socket(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.sock"))
    }

    /// Returns the path of the option file for clients of a server.
    pub fn option_file(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.cnf"))
    }

    /// Starts everything and waits until the load's transfers arrive at the replica.
    ///
    /// # Errors
    /// Fails if a process does not start or ends. Those that run are stopped by [`Topology::stop`].
    pub async fn start(&mut self, load: LoadOptions) -> Result<AllAddresses> {
        let password = self.write_option_files()?;
        self.start_server(PRIMARY, "1", &[])?;
        self.start_server("replica", "2", &["--read-only=ON"])?;
        let primary = self.process(PRIMARY).wait_for(addresses).await?;
        let mut session = self.session("primary").await?;
        for (statement, shown) in [
            (
                format!("CREATE USER {USER} IDENTIFIED BY {}", quoted(&password)),
                "CREATE USER",
            ),
            (format!("GRANT ALL ON *.* TO {USER} WITH GRANT OPTION"), "GRANT"),
        ] {
            session.execute_secret(&statement, shown).await?;
        }
        self.start_archive(&primary, &password)?;
        self.start_load(load)?;
        let replica = self.process("replica").wait_for(addresses).await?;
        self.follow(&primary, &password).await?;
        // The load begins meanwhile.
        tokio::try_join!(self.create_views(PRIMARY), self.create_views("replica"))?;
        let archive = self.process("archive").wait_for(addresses).await?;
        self.wait_for_transfers().await?;
        Ok(AllAddresses {
            primary,
            replica,
            archive,
        })
    }

    /// Writes the option files. Returns the password.
    fn write_option_files(&self) -> Result<String> {
        let mut bytes = [0; 16];
        rand::rng().fill_bytes(&mut bytes);
        let password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        for name in ["primary", "replica", "archive"] {
            let text = format!(
                "[client]\nuser={USER}\npassword={password}\nsocket={}\n",
                self.socket(name).display()
            );
            // Nobody else can read it: the program's umask.
            let file = self.option_file(name);
            std::fs::write(&file, text).map_err(Error::system(format!("write {}", file.display())))?;
        }
        Ok(password)
    }

    fn start_process(&mut self, name: &'static str, command: Command) -> Result<()> {
        let process = ChildProcess::start(name, &self.directory, command)?;
        self.processes.push(process);
        Ok(())
    }

    fn process(&mut self, name: &str) -> &mut ChildProcess {
        let mut processes = self.processes.iter_mut();
        let found = processes.find(|process| process.name == name);
        found.expect("the process has been started")
    }

    fn start_server(&mut self, name: &'static str, id: &str, more: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.program);
        command
            .arg("server")
            .arg("--datadir")
            .arg(self.directory.join(name))
            .arg("--socket")
            .arg(self.socket(name))
            .arg(format!("--server-id={id}"))
            .args(SERVER_OPTIONS)
            .args(more);
        self.start_process(name, command)
    }

    fn start_archive(&mut self, primary: &Addresses, password: &str) -> Result<()> {
        let mut command = Command::new(&self.program);
        command
            .args(["archive", "--from", &primary.tcp, "--user", USER])
            .arg("--datadir")
            .arg(self.directory.join("archive"))
            .arg("--socket")
            .arg(self.socket("archive"))
            .args(["--server-id=3", "--port=0", "--bind-address=127.0.0.1"])
            .args(["--max-binlog-size=67108864", "--max-binlog-total-size=1073741824"])
            .env("MYSQL_PWD", password);
        self.start_process("archive", command)
    }

    fn start_load(&mut self, load: LoadOptions) -> Result<()> {
        let mut command = Command::new(&self.program);
        command
            .args(["workload", "bank", "--threads", LOAD_THREADS])
            .arg("--defaults-file")
            .arg(self.option_file("primary"))
            .arg(format!("--rate={}", load.rate))
            .arg(format!("--seconds={}", load.seconds));
        self.start_process(LOAD, command)
    }

    /// Logs in over the socket as the user that runs the demo, for whom a new server has an account.
    async fn session(&self, name: &str) -> Result<Connection> {
        let login = ConnectOptions {
            user: own_user(),
            ..ConnectOptions::default()
        };
        Ok(Connection::open(&Address::Socket(self.socket(name)), &login).await?)
    }

    /// Makes the replica follow the primary.
    async fn follow(&self, primary: &Addresses, password: &str) -> Result<()> {
        let mut session = self.session("replica").await?;
        let (host, port) = primary.tcp.rsplit_once(':').unwrap_or((&primary.tcp, "3306"));
        let statement = format!(
            "CHANGE MASTER TO MASTER_HOST={}, MASTER_PORT={port}, MASTER_USER={}, MASTER_PASSWORD={}, \
             MASTER_USE_GTID=slave_pos",
            quoted(host),
            quoted(USER),
            quoted(password)
        );
        session.execute_secret(&statement, "CHANGE MASTER").await?;
        session.rows("START SLAVE").await?;
        Ok(())
    }

    /// Creates the database `sys` of a server. Its statements are long and many, so they are not among those that the
    /// page shows.
    async fn create_views(&self, name: &str) -> Result<()> {
        let mut session = self.session(name).await?;
        sys_schema::install(&mut session).await?;
        session
            .rows("TRUNCATE performance_schema.events_statements_summary_by_digest")
            .await?;
        Ok(())
    }

    /// Waits until a transfer has arrived at the replica.
    async fn wait_for_transfers(&mut self) -> Result<()> {
        let mut session = self.session("replica").await?;
        let deadline = Instant::now() + REPLICATION;
        loop {
            self.check()?;
            if Instant::now() > deadline {
                return Err(self.process("replica").not_ready(REPLICATION));
            }
            let query = "SELECT COUNT(*) FROM information_schema.TABLES \
                         WHERE TABLE_SCHEMA = 'workload_bank' AND TABLE_NAME = 'transfer'";
            if session.row(query).await? == ["1"] {
                let row = session
                    .row("SELECT EXISTS (SELECT * FROM workload_bank.transfer)")
                    .await?;
                if row == ["1"] {
                    return Ok(());
                }
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Checks that all processes run.
    ///
    /// # Errors
    /// Fails if one has ended. The load may, at its regular end.
    pub fn check(&mut self) -> Result<()> {
        for process in &mut self.processes {
            if let Some(status) = process.ended()
                && !(process.name == LOAD && status.success())
            {
                return Err(process.died(status));
            }
        }
        Ok(())
    }

    /// Returns whether the load has ended.
    pub fn load_has_ended(&mut self) -> bool {
        let mut processes = self.processes.iter_mut();
        processes.any(|process| process.name == LOAD && process.ended().is_some())
    }

    /// Stops everything. Returns the summary of the load; empty if there is none.
    pub async fn stop(&mut self) -> String {
        let mut summary = String::new();
        let mut processes = self.processes.iter_mut();
        if processes.any(|process| process.name == PRIMARY && process.ended().is_some()) {
            // Without it the load would wait before it gives up its check.
            self.processes
                .iter_mut()
                .filter(|process| process.name == LOAD)
                .for_each(ChildProcess::kill);
        }
        for process in self.processes.iter_mut().rev() {
            process.ask_to_end();
            process.wait_for_end().await;
            // The load has checked its rows while the servers still ran.
            if process.name == LOAD {
                let output = process.output();
                let lines = output.lines().skip_while(|line| !line.starts_with("total "));
                summary = lines.collect::<Vec<_>>().join("\n");
            }
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_complete_lines() {
        let http = "INFO statistics and probes: http://127.0.0.1:9\n";
        assert_eq!(addresses(http), None);
        let server = format!("{http}INFO paceline 10.11: ready for connections. 127.0.0.1:7, socket /s\n");
        assert_eq!(
            addresses(&server),
            Some(Addresses {
                tcp: "127.0.0.1:7".into(),
                http: Some("127.0.0.1:9".into())
            })
        );
        let archive = "INFO paceline: ready for connections. 127.0.0.1:8; server id 3\n";
        assert_eq!(
            addresses(archive).map(|found| (found.tcp, found.http)),
            Some(("127.0.0.1:8".into(), None))
        );
    }
}
