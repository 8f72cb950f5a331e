//! Arguments that experiments with servers share.

use super::server_program::ServerProgram;
use crate::scale::Scale;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

/// The server of this project.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PacelineOption {
    /// The server's program [default: `paceline` beside this program].
    #[arg(long)]
    server: Option<PathBuf>,
}

impl PacelineOption {
    pub fn program(&self) -> ServerProgram {
        let default = || {
            let this = env::current_exe().unwrap_or_default();
            this.with_file_name("paceline")
        };
        ServerProgram::Paceline(self.server.clone().unwrap_or_else(default))
    }
}

/// The server of this project and MariaDB, with their data on a disk.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ComparisonOptions {
    #[command(flatten)]
    paceline: PacelineOption,
    /// MariaDB's program [default: /usr/sbin/mariadbd].
    #[arg(long)]
    mariadb: Option<PathBuf>,
    /// Where the servers have their data; not on a RAM disk [default: the system's temporary directory].
    #[arg(long)]
    directory: Option<PathBuf>,
}

impl ComparisonOptions {
    /// Returns the server of this project, then MariaDB.
    pub fn programs(&self) -> [ServerProgram; 2] {
        let mariadb = self.mariadb.clone();
        let mariadb = mariadb.unwrap_or_else(|| PathBuf::from("/usr/sbin/mariadbd"));
        [self.paceline.program(), ServerProgram::MariaDb(mariadb)]
    }

    pub fn directory(&self) -> PathBuf {
        self.directory.clone().unwrap_or_else(env::temp_dir)
    }
}

/// Axes of an experiment that measures the rate of statements.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RateOptions {
    /// Numbers of clients [default: those of the experiment's page; 4 with --quick].
    #[arg(long, value_delimiter = ',')]
    clients: Vec<usize>,
    /// Length of a repeat, in ms [default: 1,500; 100 with --quick].
    #[arg(long)]
    window_ms: Option<u64>,
    /// Repeats of each figure [default: 5; 2 with --quick].
    #[arg(long)]
    repeats: Option<usize>,
}

impl RateOptions {
    /// Returns the numbers of clients. `all` are those of the full form.
    pub fn clients(&self, scale: Scale, all: &[usize]) -> Vec<usize> {
        match self.clients.is_empty() {
            true => scale.choose(all, &[4]).to_vec(),
            false => self.clients.clone(),
        }
    }

    pub fn window(&self, scale: Scale) -> Duration {
        Duration::from_millis(self.window_ms.unwrap_or(scale.choose(1500, 100)).max(1))
    }

    pub fn repeats(&self, scale: Scale) -> usize {
        self.repeats.unwrap_or(scale.choose(5, 2)).max(1)
    }
}
