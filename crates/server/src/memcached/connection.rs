//! A client of the memcached port, from its first byte to its last.

use super::item_row::now_seconds;
use super::items::{Failure, ItemSession};
use super::shared::Memcached;
use crate::memcached_counters::count;
use crate::server::Server;
use crate::session::Session;
use crate::variables::Variable;
use paceline_memcached::{
    Item, Key, Reply, ReplyForm, Request, RequestReader, Store, StoreMode, write_item, write_meta_miss,
    write_reply,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{timeout, timeout_at};

/// Number of bytes of replies at which they are sent before the next request is executed.
const FLUSH_AT: usize = 64 << 10;
/// Number of bytes that are read at once.
const READ_BYTES: usize = 16 << 10;
/// Maximum length of a user name and a password, in bytes.
const LOGIN_BYTES_MAX: usize = 1024;

/// Returns the version of memcached whose protocol this is, and that of this server: clients compare the number.
fn version() -> String {
    format!("1.6.18-paceline-{}", paceline_program_version::number())
}

/// Whether the connection goes on.
enum Next {
    Request,
    End,
}

/// A client.
pub struct MemcachedConnection {
    items: ItemSession,
    reader: RequestReader,
    /// Buffer for what is read.
    received: Box<[u8]>,
    replies: Vec<u8>,
}

impl MemcachedConnection {
    /// Creates the connection of a session that has not logged in.
    pub fn new(session: Session, memcached: Arc<Memcached>) -> MemcachedConnection {
        let value_bytes_max = session.server().globals.number(Variable::MaxAllowedPacket) as usize;
        MemcachedConnection {
            items: ItemSession::new(session, memcached),
            reader: RequestReader::new(LOGIN_BYTES_MAX.min(value_bytes_max)),
            received: vec![0; READ_BYTES].into(),
            replies: Vec::new(),
        }
    }

    fn server(&self) -> Arc<Server> {
        self.items.session.server().clone()
    }

    /// Serves the client until it leaves.
    pub async fn run(mut self, account: &str) {
        let may_enter = match account.is_empty() {
            true => self.wait_for_login().await,
            false => self.log_in_as(account),
        };
        let served = match may_enter && self.enter().await {
            true => self.serve().await,
            false => self.flush().await,
        };
        self.items.commit_batch().await;
        let session = &mut self.items.session;
        // A client may also leave without `quit`.
        if may_enter && (served.is_err() || session.is_killed()) {
            session.count_aborted_client();
        }
        if let Err(error) = served {
            tracing::debug!("memcached: a connection ended: {error}");
        }
        session.end_direct();
    }

    fn log_in_as(&mut self, account: &str) -> bool {
        let outcome = self.items.session.log_in_as(account);
        if outcome.is_err() {
            self.items.session.count_refused_login();
        }
        self.has_succeeded(outcome)
    }

    /// Answers a failure. Returns whether there was none.
    fn has_succeeded(&mut self, outcome: paceline_syntax::Result<()>) -> bool {
        match outcome {
            Ok(()) => true,
            Err(error) => {
                let failure = Failure::Server(format!("{} {error}", error.code().number()));
                self.reply(Err(failure), &ReplyForm::Classic);
                false
            }
        }
    }

    /// Prepares the session of an account. Returns whether it may be used.
    async fn enter(&mut self) -> bool {
        let bytes_max = self.server().globals.number(Variable::MaxAllowedPacket) as usize;
        self.reader.set_value_bytes_max(bytes_max);
        // Whatever the defaults are: each request is a transaction, and a value that does not fit is refused.
        let settings = b"SET SESSION autocommit = 1, sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')";
        let outcome = self.items.session.run_text(settings).await;
        self.has_succeeded(outcome)
    }

    /// Waits until the client has logged in, as long as a login may last. As in memcached it has one attempt. Returns
    /// whether it succeeded.
    async fn wait_for_login(&mut self) -> bool {
        let limit = Duration::from_secs(self.server().globals.number(Variable::ConnectTimeout));
        match timeout(limit, self.next_request()).await {
            Ok(Ok(Some(Request::Store(store, form)))) if store.mode == StoreMode::Set => {
                let is_right = self.log_in(&store, &form);
                if !is_right {
                    self.items.session.count_refused_login();
                }
                is_right
            }
            Ok(Ok(Some(Request::Quit))) => {
                self.items.session.count_refused_login();
                false
            }
            Ok(Ok(Some(_))) => {
                self.items.session.count_refused_login();
                let refusal = Failure::Client("unauthenticated".to_owned());
                self.reply(Err(refusal), &ReplyForm::Classic);
                false
            }
            Ok(Ok(None) | Err(_)) | Err(_) => {
                self.items.session.count_aborted_login();
                false
            }
        }
    }

    /// Logs in with the value of a `set`: user name, a space, password. Returns whether it succeeded.
    fn log_in(&mut self, store: &Store, form: &ReplyForm) -> bool {
        let server = self.server();
        count(&server.memcached.auth_cmds);
        let mut words = store.value.splitn(2, |byte| *byte == b' ');
        let user = words.next().and_then(|user| std::str::from_utf8(user).ok());
        let is_right = match (user, words.next()) {
            (Some(user), Some(password)) => self.items.session.log_in(user, password).is_ok(),
            _ => false,
        };
        let done = match is_right {
            true => Ok(Reply::Stored(Item::default())),
            false => {
                count(&server.memcached.auth_errors);
                Err(Failure::Client("authentication failure".to_owned()))
            }
        };
        self.reply(done, form);
        is_right
    }

    async fn serve(&mut self) -> io::Result<()> {
        while let Some(request) = self.next_request().await? {
            if let Next::End = self.execute(request).await {
                break;
            }
            if self.items.session.has_to_end() {
                break;
            }
            if self.replies.len() >= FLUSH_AT {
                self.flush().await?;
            }
        }
        self.flush().await
    }

    /// Returns the next request; `None` at the client's end. Sends the replies before it waits.
    async fn next_request(&mut self) -> io::Result<Option<Request>> {
        loop {
            match self.reader.next_request() {
                Ok(Some(request)) => return Ok(Some(request)),
                Err(error) => {
                    self.replies.extend_from_slice(error.to_string().as_bytes());
                    self.replies.extend_from_slice(b"\r\n");
                    if error.ends_connection() {
                        self.flush().await?;
                        return Ok(None);
                    }
                    if self.replies.len() >= FLUSH_AT {
                        self.flush().await?;
                    }
                }
                Ok(None) => {
                    self.flush().await?;
                    let deadline = self.items.batch_deadline().map(tokio::time::Instant::from_std);
                    let receiving = self.items.session.socket().receive(&mut self.received);
                    let received = match deadline {
                        None => receiving.await?,
                        Some(deadline) => match timeout_at(deadline, receiving).await {
                            Ok(received) => received?,
                            Err(_) => {
                                self.items.commit_batch().await;
                                continue;
                            }
                        },
                    };
                    self.reader.buffer().extend_from_slice(&self.received[..received]);
                    if received == 0 {
                        return Ok(None);
                    }
                    let server = self.items.session.server();
                    server
                        .memcached
                        .bytes_read
                        .fetch_add(received as u64, Ordering::Relaxed);
                    self.items.session.count_bytes(received as u64, 0);
                }
            }
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        if self.replies.is_empty() {
            return Ok(());
        }
        let server = self.server();
        let limit = Duration::from_secs(server.globals.number(Variable::NetWriteTimeout));
        let sent = self.replies.len() as u64;
        let done = timeout(limit, self.items.session.socket().send(&self.replies)).await;
        done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        self.replies.clear();
        self.replies.shrink_to(FLUSH_AT * 2);
        server.memcached.bytes_written.fetch_add(sent, Ordering::Relaxed);
        self.items.session.count_bytes(0, sent);
        Ok(())
    }

    async fn execute(&mut self, request: Request) -> Next {
        if !matches!(request, Request::Store(..)) {
            // A client sees its own sets, and each other request is a transaction of its own.
            self.items.commit_batch().await;
        }
        match request {
            Request::Get {
                keys,
                with_cas,
                touch,
            } => self.get(&keys, with_cas, touch).await,
            Request::MetaGet {
                key,
                flags,
                touch,
                unless,
            } => {
                let found = match touch {
                    Some(time_to_live) => self.items.get_and_touch(&key, time_to_live).await,
                    None => self.items.get(&key).await,
                };
                match found {
                    Ok(Some(item)) => {
                        let is_known = unless.is_some_and(|cas| cas == item.cas);
                        let reply = match is_known {
                            true => Reply::Unchanged(item.seen()),
                            false => Reply::Found(item.seen()),
                        };
                        write_reply(&mut self.replies, &reply, &ReplyForm::Meta(flags));
                    }
                    Ok(None) => write_meta_miss(&mut self.replies, &flags),
                    Err(failure) => self.reply(Err(failure), &ReplyForm::Classic),
                }
            }
            Request::Store(store, form) => {
                let done = self.items.store(store).await;
                self.reply(done, &form);
            }
            Request::Delete { key, compare, form } => {
                let done = self.items.delete(&key, compare).await;
                self.reply(done, &form);
            }
            Request::Arithmetic(change, form) => {
                let done = self.items.calculate(change).await;
                self.reply(done, &form);
            }
            Request::Touch {
                key,
                time_to_live,
                form,
            } => {
                let done = self.items.touch(&key, time_to_live).await;
                let done = done.map(|item| item.map_or(Reply::NotFound, |_| Reply::Touched));
                self.reply(done, &form);
            }
            Request::MetaDebug { key, written } => match self.items.get(&key).await {
                Ok(Some(item)) => self.show_item(&written, item.seen()),
                Ok(None) => self.replies.extend_from_slice(b"EN\r\n"),
                Err(failure) => self.reply(Err(failure), &ReplyForm::Classic),
            },
            Request::MetaNoop => self.replies.extend_from_slice(b"MN\r\n"),
            Request::Stats(arguments) => self.stats(&arguments),
            Request::Version => {
                self.replies
                    .extend_from_slice(format!("VERSION {}\r\n", version()).as_bytes());
            }
            // There are no levels of messages; clients send it as a test.
            Request::Verbosity(form) => self.reply(Ok(Reply::Ok), &form),
            Request::FlushAll { delay, form } => {
                let done = match delay {
                    ..=0 => self.items.flush_all().await,
                    _ => Err(Failure::Client(
                        "flush_all with a delay is not possible".to_owned(),
                    )),
                };
                self.reply(done.map(|()| Reply::Ok), &form);
            }
            Request::Quit => return Next::End,
        }
        Next::Request
    }

    fn reply(&mut self, done: Result<Reply, Failure>, form: &ReplyForm) {
        let reply = done.unwrap_or_else(Reply::from);
        if reply.is_error() && *form == ReplyForm::Quiet {
            count(&self.items.session.server().memcached.noreply_errors);
        }
        write_reply(&mut self.replies, &reply, form);
    }

    async fn get(&mut self, keys: &[Key], with_cas: bool, touch: Option<i64>) {
        for key in keys {
            let found = match touch {
                Some(time_to_live) => self.items.get_and_touch(key, time_to_live).await,
                None => self.items.get(key).await,
            };
            match found {
                Ok(Some(item)) => write_item(&mut self.replies, key, &item.seen(), with_cas),
                Ok(None) => {}
                Err(failure) => {
                    // Instead of END, so that the client does not take the rest for missing.
                    self.reply(Err(failure), &ReplyForm::Classic);
                    return;
                }
            }
            if self.replies.len() >= FLUSH_AT && self.flush().await.is_err() {
                return;
            }
        }
        self.replies.extend_from_slice(b"END\r\n");
    }

    fn show_item(&mut self, written: &[u8], item: Item) {
        let time_to_live = item.time_to_live.map_or(-1, |seconds| seconds as i64);
        let (cas, size) = (item.cas, item.value.len());
        self.replies.extend_from_slice(b"ME ");
        self.replies.extend_from_slice(written);
        let rest = format!(" exp={time_to_live} cas={cas} size={size}\r\n");
        self.replies.extend_from_slice(rest.as_bytes());
    }

    /// Shows the statistics. Those about memcached's memory do not exist.
    fn stats(&mut self, arguments: &[u8]) {
        let server = self.server();
        let lines: Vec<(String, String)> = match arguments {
            b"" => {
                let uptime = server.started.elapsed().as_secs();
                let general = [
                    ("pid", u64::from(std::process::id())),
                    ("uptime", uptime),
                    ("time", now_seconds()),
                    ("pointer_size", 64),
                    ("max_connections", server.globals.number(Variable::MaxConnections)),
                ];
                let general = general.into_iter().chain(server.memcached.all());
                let version = ("version".to_owned(), version());
                let numbers = general.map(|(name, value)| (name.to_owned(), value.to_string()));
                std::iter::once(version).chain(numbers).collect()
            }
            b"settings" => {
                let number = |variable: Variable| server.globals.number(variable).to_string();
                vec![
                    ("maxconns".to_owned(), number(Variable::MaxConnections)),
                    ("tcpport".to_owned(), number(Variable::PacelineMemcachedPort)),
                    ("udpport".to_owned(), "0".to_owned()),
                    (
                        "inter".to_owned(),
                        server
                            .globals
                            .get(Variable::PacelineMemcachedAddress)
                            .as_str()
                            .to_owned(),
                    ),
                    ("item_size_max".to_owned(), number(Variable::MaxAllowedPacket)),
                    ("cas_enabled".to_owned(), "yes".to_owned()),
                ]
            }
            b"items" | b"slabs" | b"sizes" => Vec::new(),
            _ => {
                self.replies.extend_from_slice(b"ERROR\r\n");
                return;
            }
        };
        for (name, value) in lines {
            self.replies
                .extend_from_slice(format!("STAT {name} {value}\r\n").as_bytes());
        }
        self.replies.extend_from_slice(b"END\r\n");
    }
}
