//! The figures of `bench/embedded.py`: rows within the process beside prepared statements over the UNIX socket of the
//! same database.
//!
//! `measure DIRECTORY REQUEST_LOAD ROUNDS SECONDS MARIADB_SOCKET`
//!
//! The loads take turns, A B A B. The load over the socket is `bench/request_load`, the same program that measures the
//! memcached port.

use paceline_embedded::{Database, ListenAddress, Options, Scan, Session};
use paceline_wire::client::{Client, ConnectOptions, QueryResult};
use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const KEYS: u64 = 100_000;
const WRITERS: usize = 32;
const AUTHORS: u64 = 1000;
const MESSAGES: u64 = 100_000;

/// The same question as SQL can put it. The fastest of them counts.
const QUESTIONS: [&str; 3] = [
    "SELECT m.author, m.sent, m.text FROM chat.messages m JOIN (SELECT author, MAX(sent) AS sent FROM chat.messages \
     WHERE author IN (SELECT id FROM chat.friends) GROUP BY author) l ON m.author = l.author AND m.sent = l.sent",
    "SELECT f.id, m.sent, m.text FROM chat.friends f JOIN chat.messages m ON m.author = f.id AND m.sent = (SELECT \
     MAX(sent) FROM chat.messages WHERE author = f.id)",
    "SELECT f.id, (SELECT text FROM chat.messages m WHERE m.author = f.id ORDER BY sent DESC LIMIT 1) FROM chat.friends f",
];

/// Tables of the messages, for both servers.
const MESSAGE_TABLES: [&str; 3] = [
    "CREATE DATABASE chat",
    "CREATE TABLE chat.messages (id BIGINT PRIMARY KEY, author INT NOT NULL, sent BIGINT NOT NULL, text VARCHAR(200) NOT \
     NULL, KEY by_author (author, sent))",
    "CREATE TABLE chat.friends (id INT PRIMARY KEY)",
];

/// Function in WebAssembly that answers it.
const FUNCTION: &str = include_str!("latest_messages.wat");

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Arguments {
    directory: PathBuf,
    request_load: PathBuf,
    rounds: usize,
    seconds: u64,
    mariadb: PathBuf,
}

/// Rates of one load, in runs of all rounds.
struct Load {
    name: String,
    rates: Vec<f64>,
}

impl Load {
    fn new(name: impl Into<String>) -> Load {
        Load {
            name: name.into(),
            rates: Vec::new(),
        }
    }

    fn median(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    }
}

/// Returns a sequence of keys that no prefetch guesses.
fn keys(seed: u64, count: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % count
    }
}

/// Repeats a step for a time. Returns the number of steps per second.
fn rate(limit: Duration, mut step: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let started = Instant::now();
    let mut steps = 0_u64;
    while started.elapsed() < limit {
        for _ in 0..16 {
            step()?;
        }
        steps += 16;
    }
    Ok(steps as f64 / started.elapsed().as_secs_f64())
}

fn over_socket(arguments: &Arguments, kind: &str, socket: &Path, connections: usize) -> Outcome<f64> {
    let done = Command::new(&arguments.request_load)
        .args([kind.as_ref(), socket.as_os_str()])
        .args([
            connections.to_string(),
            arguments.seconds.to_string(),
            KEYS.to_string(),
        ])
        .output()?;
    if !done.status.success() {
        return Err(format!("{kind}: {}", String::from_utf8_lossy(&done.stderr)).into());
    }
    Ok(String::from_utf8(done.stdout)?.trim().parse()?)
}

fn fill(session: &mut Session) -> Outcome<()> {
    session.execute("CREATE DATABASE `load`", ())?;
    session.execute(
        "CREATE TABLE `load`.items (id BIGINT PRIMARY KEY, value VARBINARY(64) NOT NULL)",
        (),
    )?;
    let items = session.table("load.items")?;
    for begin in (0..KEYS).step_by(10_000) {
        session.insert_all(&items, (begin..begin + 10_000).map(|key| (key, vec![b'v'; 32])))?;
    }
    for statement in MESSAGE_TABLES {
        session.execute(statement, ())?;
    }
    let messages = session.table("chat.messages")?;
    for begin in (0..MESSAGES).step_by(10_000) {
        let rows = (begin..begin + 10_000).map(|id| (id, id % AUTHORS, id, format!("{:a<100}", id)));
        session.insert_all(&messages, rows)?;
    }
    let friends = session.table("chat.friends")?;
    session.insert_all(&friends, (0..AUTHORS).step_by(10).map(|id| (id,)))?;
    Ok(())
}

async fn fill_mariadb(client: &mut Client) -> Outcome<()> {
    for statement in MESSAGE_TABLES {
        client.query(statement).await?;
    }
    for begin in (0..MESSAGES).step_by(1000) {
        let rows: Vec<String> = (begin..begin + 1000)
            .map(|id| format!("({id},{},{id},'{:a<100}')", id % AUTHORS, id))
            .collect();
        client
            .query(&format!("INSERT INTO chat.messages VALUES {}", rows.join(",")))
            .await?;
    }
    let rows: Vec<String> = (0..AUTHORS).step_by(10).map(|id| format!("({id})")).collect();
    client
        .query(&format!("INSERT INTO chat.friends VALUES {}", rows.join(",")))
        .await?;
    client.query("ANALYZE TABLE chat.messages, chat.friends").await?;
    Ok(())
}

/// Measures changes by several threads, each durable when it returns.
fn write_rate(database: &Database, seconds: u64) -> Outcome<f64> {
    let (is_over, count) = (AtomicBool::new(false), AtomicU64::new(0));
    let started = Instant::now();
    std::thread::scope(|scope| -> Outcome<()> {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (is_over, count) = (&is_over, &count);
                scope.spawn(move || -> paceline_embedded::Result<()> {
                    let mut session = database.session()?;
                    let value = session.table_columns("load.items", &["value"])?;
                    let mut key = keys(writer as u64 + 1, KEYS);
                    let mut number = 0_u64;
                    while !is_over.load(Ordering::Relaxed) {
                        number += 1;
                        session.update(
                            &value,
                            (key(),),
                            (format!("{writer:016}{number:016}").as_bytes(),),
                        )?;
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        // The time is the measurement.
        std::thread::sleep(Duration::from_secs(seconds));
        is_over.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().map_err(|_| "a writer has panicked")??;
        }
        Ok(())
    })?;
    Ok(count.into_inner() as f64 / started.elapsed().as_secs_f64())
}

/// Returns whether this is one row that has 100 lines.
fn is_answer(answer: &[QueryResult]) -> bool {
    let [QueryResult::Rows(rows)] = answer else {
        return false;
    };
    let [row] = &rows.rows[..] else {
        return false;
    };
    let Some(payload) = &row[0] else {
        return false;
    };
    payload.windows(2).filter(|pair| pair == b"a\n").count() == 100
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, request_load, rounds, seconds, mariadb] = &arguments[..] else {
        return Err("usage: measure DIRECTORY REQUEST_LOAD ROUNDS SECONDS MARIADB_SOCKET".into());
    };
    let arguments = Arguments {
        directory: directory.into(),
        request_load: request_load.into(),
        rounds: rounds.parse()?,
        seconds: seconds.parse()?,
        mariadb: mariadb.into(),
    };
    let options = Options::new()
        .argument("--initialize-insecure")
        .argument("--skip-ssl");
    let database = Database::open(arguments.directory.join("data"), options)?;
    let socket = arguments.directory.join("measure.sock");
    database.listen(ListenAddress::Socket(socket.clone()))?;
    let mut session = database.session()?;
    fill(&mut session)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let login = ConnectOptions {
        user: "root".to_owned(),
        ..ConnectOptions::default()
    };
    let mut own = runtime.block_on(Client::connect_unix(&socket, &login))?;
    runtime.block_on(own.query("ANALYZE TABLE chat.messages, chat.friends"))?;
    let mut mariadb = runtime.block_on(Client::connect_unix(&arguments.mariadb, &login))?;
    runtime.block_on(fill_mariadb(&mut mariadb))?;
    let function = format!(
        "CREATE FUNCTION chat.latest_messages() RETURNS TEXT READS SQL DATA LANGUAGE WASM AS '{FUNCTION}'"
    );
    runtime.block_on(own.query(&function))?;
    let called = runtime.block_on(own.prepare("SELECT chat.latest_messages()"))?;
    let (mut own_questions, mut their_questions) = (Vec::new(), Vec::new());
    for question in QUESTIONS {
        own_questions.push(runtime.block_on(own.prepare(question))?);
        their_questions.push(runtime.block_on(mariadb.prepare(question))?);
    }

    let limit = Duration::from_secs(arguments.seconds);
    let items = session.table_columns("load.items", &["value"])?;
    let messages = session.table_columns("chat.messages", &["author", "sent", "text"])?;
    let mut get = Load::new("get, 1 thread");
    let mut select = Load::new("prepared SELECT over the socket, 1 connection");
    let mut write = Load::new("durable update, 32 threads");
    let mut update = Load::new("prepared UPDATE over the socket, 32 connections");
    let mut latest = Load::new("latest messages of 100 friends, rows");
    let mut wasm = Load::new("the same, function in WebAssembly");
    let mut own_sql: Vec<Load> = (1..=QUESTIONS.len())
        .map(|number| Load::new(format!("the same, SQL {number}")))
        .collect();
    let mut their_sql: Vec<Load> = (1..=QUESTIONS.len())
        .map(|number| Load::new(format!("the same, MariaDB's SQL {number}")))
        .collect();
    for _ in 0..arguments.rounds {
        let mut key = keys(7, KEYS);
        get.rates.push(rate(limit, || {
            let length = session.get(&items, (key(),), |row| row.get::<&[u8]>(0).map(<[u8]>::len))?;
            black_box(length.ok_or("a row is missing")?);
            Ok(())
        })?);
        select.rates.push(over_socket(&arguments, "select", &socket, 1)?);
        write.rates.push(write_rate(&database, arguments.seconds)?);
        update
            .rates
            .push(over_socket(&arguments, "update", &socket, WRITERS)?);
        latest.rates.push(rate(limit, || {
            let mut found = 0;
            let scan = Scan::index("by_author").backward().limit(1);
            let friends = (0..AUTHORS).step_by(10).map(|friend| (friend,));
            session.scan_each(&messages, &scan, friends, |row| {
                let (_, _, text): (i32, i64, &str) = row.read()?;
                black_box(text);
                found += 1;
                Ok(true)
            })?;
            assert_eq!(found, 100);
            Ok(())
        })?);
        wasm.rates.push(rate(limit, || {
            let answer = runtime.block_on(own.execute(&called, &[]))?;
            assert!(is_answer(&answer), "{answer:?}");
            Ok(())
        })?);
        for (client, questions, loads) in [
            (&mut own, &own_questions, &mut own_sql),
            (&mut mariadb, &their_questions, &mut their_sql),
        ] {
            for (question, load) in questions.iter().zip(loads) {
                load.rates.push(rate(limit, || {
                    black_box(runtime.block_on(client.execute(question, &[]))?);
                    Ok(())
                })?);
            }
        }
    }
    let best = |loads: &[Load]| loads.iter().map(Load::median).fold(0.0, f64::max);
    println!("| load | per second |\n|---|---|");
    let all = [&get, &select, &write, &update, &latest, &wasm]
        .into_iter()
        .chain(&own_sql)
        .chain(&their_sql);
    for load in all {
        println!("| {} | {:.0} |", load.name, load.median());
        eprintln!("{}: {:.0?}", load.name, load.rates);
    }
    println!("\n| ratio | | wanted |\n|---|---|---|");
    for (name, above, below, wanted) in [
        ("get / prepared SELECT", get.median(), select.median(), 10.0),
        (
            "durable update / prepared UPDATE",
            write.median(),
            update.median(),
            1.5,
        ),
        (
            "function in WebAssembly / own best SQL",
            wasm.median(),
            best(&own_sql),
            10.0,
        ),
        (
            "function in WebAssembly / MariaDB's best SQL",
            wasm.median(),
            best(&their_sql),
            10.0,
        ),
        (
            "latest messages / own best SQL",
            latest.median(),
            best(&own_sql),
            10.0,
        ),
        (
            "latest messages / MariaDB's best SQL",
            latest.median(),
            best(&their_sql),
            10.0,
        ),
    ] {
        println!("| {name} | {:.2} | {wanted} |", above / below);
    }
    Ok(())
}
