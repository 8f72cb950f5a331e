//! Golden scripts of transactions (`testscripts/transactions/`).

use crate::IsolationLevel;
use crate::lock::{LockMode, LockOutcome, LockWait, MetadataMode, MetadataObject};
use crate::options::SnapshotIsolation;
use crate::testing::{Actors, TEST_INDEX, TestServer, TestTable};
use crate::{Error, Interrupt, Result, Session, Transaction, TransactionOptions};
use paceline_golden_script::{Answers, Block, Command, Context, Runner};
use paceline_storage::{Direction, KeyRange};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

struct Client {
    server: Arc<TestServer>,
    session: Session,
    transaction: Option<Transaction>,
}

/// Commands of a session: `begin rc|rr|ser [snapshot] [off]` (`off` is `innodb_snapshot_isolation=OFF`), `get
/// KEY [share|update] [nowait|skip]`, `scan FROM TO [share|update] [skip] [backward]`, `set KEY=VALUE…` (one
/// statement), `add KEY=NUMBER…`, `del KEY`, `savepoint N`, `rollback_to N`, `commit`, `rollback`, `all` (the
/// published rows). Without `begin` a statement is a transaction of its own.
struct TransactionScript {
    server: Arc<TestServer>,
    sessions: HashMap<String, Session>,
    actors: Actors<Client>,
}

impl TransactionScript {
    fn new() -> Self {
        TransactionScript {
            server: Arc::new(TestServer::new()),
            sessions: HashMap::new(),
            actors: Actors::new(),
        }
    }
}

impl Client {
    /// Runs a statement in the open transaction or in one of its own.
    fn statement(&mut self, work: impl FnOnce(&TestServer, &mut Transaction) -> Result<String>) -> String {
        let is_own = self.transaction.is_none();
        let mut transaction = match self.transaction.take() {
            Some(transaction) => transaction,
            None => self.server.begin(&self.session, IsolationLevel::ReadCommitted),
        };
        let result = transaction
            .begin_statement(None, 1)
            .and_then(|()| work(&self.server, &mut transaction));
        let result = result.and_then(|output| transaction.end_statement().map(|()| output));
        match result {
            Ok(output) if is_own => match transaction.commit_blocking() {
                Ok(_) => output,
                Err(error) => describe(&error),
            },
            Ok(output) => {
                self.transaction = Some(transaction);
                output
            }
            Err(error) => {
                transaction.rollback_statement();
                if !is_own && !transaction.is_rolled_back() {
                    self.transaction = Some(transaction);
                }
                describe(&error)
            }
        }
    }
}

fn describe(error: &Error) -> String {
    let undone = match error.rollback_scope() {
        crate::RollbackScope::Statement => "statement",
        crate::RollbackScope::Transaction => "transaction",
    };
    format!("error {}, {undone} rolled back", error.error_code().number())
}

fn isolation(text: &str) -> IsolationLevel {
    match text {
        "rc" => IsolationLevel::ReadCommitted,
        "rr" => IsolationLevel::RepeatableRead,
        "ser" => IsolationLevel::Serializable,
        other => panic!("isolation {other}"),
    }
}

fn lock_of(words: &[String]) -> Option<LockMode> {
    words.iter().find_map(|word| match word.as_str() {
        "share" => Some(LockMode::Shared),
        "update" => Some(LockMode::Exclusive),
        _ => None,
    })
}

fn wait_of(words: &[String]) -> LockWait {
    match words
        .iter()
        .map(String::as_str)
        .find(|word| ["nowait", "skip"].contains(word))
    {
        Some("nowait") => LockWait::NoWait,
        Some(_) => LockWait::SkipLocked,
        None => LockWait::Default,
    }
}

fn get(transaction: &mut Transaction, name: &str, words: &[String]) -> Result<String> {
    let key = TestTable::key(name);
    let row = match lock_of(words) {
        None => transaction.get(&key)?,
        Some(mode) => match transaction.lock(&key, mode, wait_of(words))? {
            LockOutcome::Skipped => return Ok("skipped".into()),
            LockOutcome::Granted => transaction.get_newest(&key)?,
        },
    };
    Ok(row.map_or("-".into(), |row| TestTable::value(row.payload())))
}

fn scan(transaction: &mut Transaction, from: &str, to: &str, words: &[String]) -> Result<String> {
    let range = KeyRange::new(TestTable::key(from), TestTable::key(to));
    let direction = if words.iter().any(|word| word == "backward") {
        Direction::Backward
    } else {
        Direction::Forward
    };
    let mut rows = Vec::new();
    match lock_of(words) {
        None => {
            let mut scan = transaction.scan(range, direction)?;
            while let Some(entry) = scan.next()? {
                let name = std::str::from_utf8(&entry.key[4..]).unwrap();
                rows.push(format!("{name}={}", TestTable::value(entry.payload())));
            }
        }
        Some(mode) => {
            // As an executor does: find candidates, lock each, read it again.
            let mut scan = transaction.scan_newest(range, direction)?;
            while let Some(entry) = scan.next()? {
                if transaction.lock(entry.key, mode, wait_of(words))? == LockOutcome::Skipped {
                    continue;
                }
                let name = std::str::from_utf8(&entry.key[4..]).unwrap().to_owned();
                if let Some(row) = transaction.get_newest(entry.key)? {
                    rows.push(format!("{name}={}", TestTable::value(row.payload())));
                }
            }
        }
    }
    Ok(if rows.is_empty() {
        "-".into()
    } else {
        rows.join(" ")
    })
}

impl Runner for TransactionScript {
    type Command = Command;

    fn run(
        &mut self,
        command: &Command,
        context: &Context,
    ) -> std::result::Result<String, Box<dyn std::error::Error>> {
        let name = context.prefix.clone().ok_or("name the actor")?;
        if !self.actors.contains(&name) {
            let session = self.server.session();
            self.sessions.insert(name.clone(), session.clone());
            let client = Client {
                server: self.server.clone(),
                session: session.clone(),
                transaction: None,
            };
            self.actors.add(&name, session.owner.clone(), client);
        }
        let mut consumer = command.consume_args();
        let mut pairs = Vec::new();
        while let Some((key, value)) = consumer.next_key() {
            pairs.push((key.to_owned(), value.to_owned()));
        }
        let words: Vec<String> = std::iter::from_fn(|| consumer.next_pos().map(str::to_owned)).collect();
        let output = match command.name.as_str() {
            "begin" => self.actors.run(&name, move |client| {
                assert!(client.transaction.is_none(), "a transaction is open");
                let mut transaction = match words.iter().any(|word| word == "off") {
                    false => client.server.begin(&client.session, isolation(&words[0])),
                    true => client.server.manager.begin(
                        &client.session,
                        TransactionOptions {
                            isolation: isolation(&words[0]),
                            snapshot_isolation: SnapshotIsolation::Off,
                            ..TransactionOptions::default()
                        },
                    ),
                };
                if words.iter().any(|word| word == "snapshot") {
                    transaction.snapshot();
                }
                client.transaction = Some(transaction);
                "ok".into()
            }),
            "get" => self.actors.run(&name, move |client| {
                client.statement(|_, transaction| get(transaction, &words[0], &words[1..]))
            }),
            "scan" => self.actors.run(&name, move |client| {
                client.statement(|_, transaction| scan(transaction, &words[0], &words[1], &words[2..]))
            }),
            "set" => self.actors.run(&name, move |client| {
                client.statement(|server, transaction| {
                    for (key, value) in &pairs {
                        server.table.change(transaction, key, |_| Some(value.clone()))?;
                    }
                    Ok("ok".into())
                })
            }),
            "add" => self.actors.run(&name, move |client| {
                client.statement(|server, transaction| {
                    for (key, value) in &pairs {
                        let add: i64 = value.parse().unwrap();
                        server.table.change(transaction, key, |before| {
                            Some((before.map_or(0, |text| text.parse::<i64>().unwrap()) + add).to_string())
                        })?;
                    }
                    Ok("ok".into())
                })
            }),
            "del" => self.actors.run(&name, move |client| {
                client.statement(|server, transaction| {
                    server.table.change(transaction, &words[0], |_| None)?;
                    Ok("ok".into())
                })
            }),
            "savepoint" => self.actors.run(&name, move |client| {
                client.transaction.as_mut().unwrap().savepoint(&words[0]);
                "ok".into()
            }),
            "rollback_to" => self.actors.run(&name, move |client| {
                match client
                    .transaction
                    .as_mut()
                    .unwrap()
                    .rollback_to_savepoint(&words[0])
                {
                    Ok(()) => "ok".into(),
                    Err(error) => describe(&error),
                }
            }),
            "commit" => self
                .actors
                .run(&name, move |client| match client.transaction.take() {
                    None => "ok".into(),
                    Some(transaction) => match transaction.commit_blocking() {
                        Ok(outcome) => outcome
                            .gtid
                            .map_or("ok, nothing logged".into(), |gtid| format!("ok, {gtid}")),
                        Err(error) => describe(&error),
                    },
                }),
            "rollback" => self.actors.run(&name, move |client| {
                client.transaction = None;
                "ok".into()
            }),
            "all" => {
                let content = self.server.content();
                let rows: Vec<String> = content
                    .iter()
                    .map(|(key, value)| format!("{key}={value}"))
                    .collect();
                Some(if rows.is_empty() {
                    "-".into()
                } else {
                    rows.join(" ")
                })
            }
            other => return Err(format!("no command {other}").into()),
        };
        Ok(output.unwrap_or_else(|| "waits".into()))
    }

    fn end_block(&mut self, _: &Block) -> std::result::Result<String, Box<dyn std::error::Error>> {
        let mut news = String::new();
        loop {
            let round = self.actors.news();
            if round.is_empty() {
                return Ok(news);
            }
            for (name, result) in round {
                news += &format!("then {name}: {result}\n");
            }
        }
    }

    fn end_script(&mut self) -> std::result::Result<(), Box<dyn std::error::Error>> {
        assert!(
            self.actors.waiting().is_empty(),
            "still waiting: {:?}",
            self.actors.waiting()
        );
        Ok(())
    }
}

macro_rules! scripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let path = concat!("testscripts/transactions/", stringify!($name));
                paceline_golden_script::run(&mut TransactionScript::new(), path, Answers::Own);
            }
        )*
    };
}

scripts! { read_committed repeatable_read serializable locking_reads savepoints anomalies }

#[test]
fn a_scan_merges_its_layers() {
    let server = TestServer::new();
    for name in ["a", "c", "e", "g"] {
        server.set(name, "old").unwrap();
    }
    let mut transaction = server.begin(&server.session(), IsolationLevel::RepeatableRead);
    server.table.set(&mut transaction, "b", "new").unwrap();
    server.table.set(&mut transaction, "c", "new").unwrap();
    transaction.begin_statement(None, 1).unwrap();
    server.table.change(&mut transaction, "e", |_| None).unwrap();
    transaction.end_statement().unwrap();
    server.set("f", "later").unwrap();
    let words: Vec<String> = Vec::new();
    // This scan takes the snapshot; the writes before it did not.
    assert_eq!(
        scan(&mut transaction, "a", "z", &words).unwrap(),
        "a=old b=new c=new f=later g=old"
    );
    server.set("h", "too late").unwrap();
    assert_eq!(
        scan(&mut transaction, "a", "z", &["backward".to_owned()]).unwrap(),
        "g=old f=later c=new b=new a=old"
    );
    let mut forward = transaction.scan(TEST_INDEX.range(), Direction::Forward).unwrap();
    forward.seek(&TestTable::key("c"));
    assert_eq!(forward.next().unwrap().unwrap().key, TestTable::key("c"));
    forward.seek(&TestTable::key("d"));
    assert_eq!(forward.next().unwrap().unwrap().key, TestTable::key("f"));
    let mut backward = transaction.scan(TEST_INDEX.range(), Direction::Backward).unwrap();
    backward.seek(&TestTable::key("e"));
    assert_eq!(backward.next().unwrap().unwrap().key, TestTable::key("c"));
}

#[test]
fn an_applier_takes_locks_from_transactions_that_are_not_committing() {
    let server = TestServer::new();
    server.set("x", "1").unwrap();
    let first = server.session();
    let mut local = server.manager.begin(&first, TransactionOptions::default());
    server.table.set(&mut local, "x", "local").unwrap();
    server.table.set(&mut local, "y", "local").unwrap();
    // Another session waits for the first.
    let manager = server.manager.clone();
    let table = server.table.clone();
    let session = server.session();
    let waiting = {
        let session = session.clone();
        std::thread::spawn(move || {
            let mut second = manager.begin(&session, TransactionOptions::default());
            table.set(&mut second, "z", "second").unwrap();
            let error = table.set(&mut second, "y", "second").err();
            (
                error.map(|error| error.error_code().number()),
                second.is_rolled_back(),
            )
        })
    };
    while !session.is_waiting_for_lock() {
        std::thread::yield_now();
    }
    let applier = server.manager.applier_session(Interrupt::new());
    let mut applied = server.manager.begin(&applier, TransactionOptions::default());
    // Held by the first transaction; held by the second, which waits.
    server.table.set(&mut applied, "x", "applied").unwrap();
    server.table.set(&mut applied, "z", "applied").unwrap();
    assert_eq!(waiting.join().unwrap(), (Some(1213), true));
    applied.commit_blocking().unwrap();
    let error = server.table.set(&mut local, "y", "again").unwrap_err();
    assert_eq!(error.error_code().number(), 1213);
    assert!(local.is_rolled_back());
    // Nothing else is affected: its session waits for other locks as usual.
    let name_lock = |session: &Session| {
        let name = MetadataObject::UserLevel("name");
        session.lock_metadata(name, MetadataMode::Exclusive, Duration::from_millis(1))
    };
    let guard = name_lock(&session).unwrap();
    let error = name_lock(&first).err().expect("it is held");
    assert_eq!(error.error_code().number(), 1205);
    drop((guard, local));
    assert_eq!(server.get("x").as_deref(), Some("applied"));
    assert_eq!(server.get("z").as_deref(), Some("applied"));
    assert_eq!(server.get("y"), None);
    assert_eq!(server.manager.status().locked_keys, 0);
    // A commit also finds that its transaction is doomed.
    let mut local = server
        .manager
        .begin(&server.session(), TransactionOptions::default());
    server.table.set(&mut local, "x", "local").unwrap();
    let mut applied = server.manager.begin(&applier, TransactionOptions::default());
    server.table.set(&mut applied, "x", "applied again").unwrap();
    assert_eq!(local.commit_blocking().unwrap_err().error_code().number(), 1213);
    applied.commit_blocking().unwrap();
    assert_eq!(server.get("x").as_deref(), Some("applied again"));
    // The session continues.
    server.set("x", "last").unwrap();
    assert_eq!(server.get("x").as_deref(), Some("last"));
}
