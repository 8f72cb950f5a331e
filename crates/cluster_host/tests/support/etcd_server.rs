//! A real etcd on a free port, in a directory of its own. It ends with its owner.

use paceline_cluster_host::etcd::{EtcdSettings, Store};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Path of Debian's package etcd-server.
const PROGRAM: &str = "/usr/bin/etcd";

pub struct EtcdServer {
    directory: TempDir,
    client_port: u16,
    peer_port: u16,
    child: Option<Child>,
    arguments: Vec<String>,
    scheme: &'static str,
}

/// Returns a port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl EtcdServer {
    /// Starts an etcd and waits until it answers.
    pub fn start() -> EtcdServer {
        Self::start_with(&[], "http")
    }

    /// Starts an etcd with these arguments, whose clients use this scheme.
    pub fn start_with(arguments: &[String], scheme: &'static str) -> EtcdServer {
        assert!(
            Path::new(PROGRAM).exists(),
            "{PROGRAM} is missing: tools/install.sh test"
        );
        let mut server = EtcdServer {
            directory: tempfile::tempdir().unwrap(),
            client_port: free_port(),
            peer_port: free_port(),
            child: None,
            arguments: arguments.to_vec(),
            scheme,
        };
        server.restart();
        server
    }

    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.client_port)
    }

    pub fn settings(&self) -> EtcdSettings {
        EtcdSettings::of_urls(vec![self.url()])
    }

    pub fn store(&self, cluster: &str) -> Store {
        Store::new(&self.settings(), cluster).unwrap()
    }

    /// Starts it again on the same ports and data.
    pub fn restart(&mut self) {
        assert!(self.child.is_none());
        let (client, peer) = (self.url(), format!("http://127.0.0.1:{}", self.peer_port));
        let log = File::create(self.directory.path().join("log")).unwrap();
        let child = Command::new(PROGRAM)
            .args(["--name", "e", "--data-dir"])
            .arg(self.directory.path().join("data"))
            .args([
                "--listen-client-urls",
                &client,
                "--advertise-client-urls",
                &client,
            ])
            .args([
                "--listen-peer-urls",
                &peer,
                "--initial-advertise-peer-urls",
                &peer,
            ])
            .args(["--initial-cluster", &format!("e={peer}")])
            .args(["--heartbeat-interval", "50", "--election-timeout", "500"])
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
        let ends = Instant::now() + Duration::from_secs(30);
        while !self.is_healthy() {
            assert!(Instant::now() < ends, "etcd has not started: {}", self.log());
            // Another process: it tells nobody when it is ready.
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns whether it serves requests. With TLS, whether its port is open.
    fn is_healthy(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.client_port)) else {
            return false;
        };
        if self.scheme != "http" {
            return true;
        }
        let mut answer = String::new();
        let asked = stream.write_all(b"GET /health HTTP/1.0\r\n\r\n");
        asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.contains("\"true\"")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    /// Ends it with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Sends SIGSTOP or SIGCONT.
    pub fn signal(&self, name: &str) {
        let pid = self.child.as_ref().expect("it runs").id().to_string();
        let status = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(status.success());
    }

    /// Sends a request of an administrator.
    pub async fn call(&self, path: &str, body: serde_json::Value) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client
            .post(format!("{}{path}", self.url()))
            .body(body.to_string());
        let response = request.send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.status());
    }
}

impl Drop for EtcdServer {
    fn drop(&mut self) {
        self.kill();
    }
}
