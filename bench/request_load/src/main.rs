//! Sends one kind of request over many connections, and prints how many were answered in a second.
//!
//! `request_load KIND ADDRESS CONNECTIONS SECONDS KEYS`
//!
//! - `get`, `get10`, `set`: memcached's text protocol, keys `k0` to `k<KEYS-1>`, values of 32 bytes; ADDRESS is
//!   HOST:PORT. `get10` asks for ten keys in a request, and counts keys.
//! - `select`, `update`: prepared statements of the MariaDB protocol, as root without a password: a row of
//!   `load.items` by its key, and a new value for it; ADDRESS is HOST:PORT or the path of a UNIX socket.
//!
//! Each connection has a thread, which waits for the reply before it sends the next request. So both protocols are
//! measured by the same program in the same way, and its own cost is small: no parsing beyond the length of a reply.
#![forbid(unsafe_code)]

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// Length of a value in bytes.
const VALUE_BYTES: usize = 32;

/// Returns a value that no earlier request had.
fn new_value(number: u64) -> [u8; VALUE_BYTES] {
    let text = format!("{number:0>VALUE_BYTES$}");
    text.as_bytes().try_into().expect("a number is shorter")
}

/// A connection that sends requests for keys.
trait Requester: Send {
    /// Sends a request for this key and reads its reply. `number` is another one for each request.
    fn request(&mut self, key: u64, number: u64) -> io::Result<()>;
}

/// memcached's text protocol.
struct Memcached {
    socket: Box<dyn Stream>,
    /// Number of keys in a `get`; 0 is a `set`.
    keys: u64,
    request: Vec<u8>,
    reply: Box<[u8]>,
}

impl Memcached {
    fn connect(address: &str, keys: u64) -> io::Result<Memcached> {
        Ok(Memcached {
            socket: stream(address)?,
            keys,
            request: Vec::new(),
            reply: vec![0; 4096].into(),
        })
    }
}

impl Requester for Memcached {
    fn request(&mut self, key: u64, number: u64) -> io::Result<()> {
        self.request.clear();
        let (end, starts): (&[u8], &[u8]) = match self.keys {
            0 => {
                write!(self.request, "set k{key} 0 0 {}\r\n", VALUE_BYTES)?;
                self.request.extend_from_slice(&new_value(number));
                self.request.extend_from_slice(b"\r\n");
                (b"STORED\r\n", b"STORED")
            }
            keys => {
                self.request.extend_from_slice(b"get");
                for other in 0..keys {
                    write!(self.request, " k{}", key.saturating_sub(other * 7))?;
                }
                self.request.extend_from_slice(b"\r\n");
                (b"END\r\n", b"VALUE ")
            }
        };
        self.socket.write_all(&self.request)?;
        let mut length = 0;
        loop {
            let count = self.socket.read(&mut self.reply[length..])?;
            length += count;
            let reply = &self.reply[..length];
            if reply.ends_with(end) && reply.starts_with(starts) {
                return Ok(());
            }
            if count == 0 || reply.ends_with(b"\r\n") && !reply.starts_with(starts) {
                let text = String::from_utf8_lossy(reply).into_owned();
                return Err(io::Error::other(format!("unexpected reply: {text}")));
            }
        }
    }
}

/// A stream socket.
trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

fn stream(address: &str) -> io::Result<Box<dyn Stream>> {
    if address.starts_with('/') {
        return Ok(Box::new(UnixStream::connect(address)?));
    }
    let socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    Ok(Box::new(socket))
}

/// A prepared statement of the MariaDB protocol.
struct Prepared {
    socket: Box<dyn Stream>,
    packet: Vec<u8>,
    statement: u32,
    updates: bool,
    request: Vec<u8>,
}

impl Prepared {
    fn connect(address: &str, updates: bool) -> io::Result<Prepared> {
        let mut prepared = Prepared {
            socket: stream(address)?,
            packet: Vec::new(),
            statement: 0,
            updates,
            request: Vec::new(),
        };
        prepared.read_packet()?;
        // Protocol 4.1, secure connection, plugin authentication, end of results as OK.
        let capabilities: u32 = 0x0000_0200 | 0x0000_8000 | 0x0008_0000 | 0x0100_0000;
        let mut login = Vec::new();
        login.extend_from_slice(&capabilities.to_le_bytes());
        login.extend_from_slice(&(16u32 << 20).to_le_bytes());
        login.push(45);
        login.extend_from_slice(&[0; 23]);
        login.extend_from_slice(b"root\0\0mysql_native_password\0");
        prepared.write_packet(1, &login)?;
        prepared.read_packet()?;
        if prepared.packet.first() == Some(&0xFE) {
            prepared.write_packet(3, b"")?;
            prepared.read_packet()?;
        }
        prepared.expect_no_error()?;
        let text = match updates {
            true => "\x16UPDATE `load`.items SET value = ? WHERE id = ?",
            false => "\x16SELECT value FROM `load`.items WHERE id = ?",
        };
        prepared.write_packet(0, text.as_bytes())?;
        prepared.read_packet()?;
        prepared.expect_no_error()?;
        let number = |at: usize| u16::from_le_bytes([prepared.packet[at], prepared.packet[at + 1]]);
        let (columns, parameters) = (number(5), number(7));
        prepared.statement = u32::from_le_bytes(prepared.packet[1..5].try_into().expect("four bytes"));
        for _ in 0..parameters + columns {
            prepared.read_packet()?;
        }
        Ok(prepared)
    }

    fn write_packet(&mut self, sequence: u8, payload: &[u8]) -> io::Result<()> {
        let mut packet = (payload.len() as u32).to_le_bytes();
        packet[3] = sequence;
        self.request.clear();
        self.request.extend_from_slice(&packet);
        self.request.extend_from_slice(payload);
        self.socket.write_all(&self.request)
    }

    fn read_packet(&mut self) -> io::Result<()> {
        let mut header = [0; 4];
        self.socket.read_exact(&mut header)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        self.packet.resize(length, 0);
        self.socket.read_exact(&mut self.packet)
    }

    fn expect_no_error(&self) -> io::Result<()> {
        match self.packet.first() {
            Some(0xFF) => Err(io::Error::other(
                String::from_utf8_lossy(&self.packet[3..]).into_owned(),
            )),
            _ => Ok(()),
        }
    }
}

impl Requester for Prepared {
    fn request(&mut self, key: u64, number: u64) -> io::Result<()> {
        const LONG_LONG: u8 = 8;
        const VAR_STRING: u8 = 253;
        let mut execute = vec![0x17];
        execute.extend_from_slice(&self.statement.to_le_bytes());
        execute.push(0);
        execute.extend_from_slice(&1u32.to_le_bytes());
        // No NULL; the types follow.
        execute.extend_from_slice(&[0, 1]);
        if self.updates {
            execute.extend_from_slice(&[VAR_STRING, 0, LONG_LONG, 0, VALUE_BYTES as u8]);
            execute.extend_from_slice(&new_value(number));
        } else {
            execute.extend_from_slice(&[LONG_LONG, 0]);
        }
        execute.extend_from_slice(&key.to_le_bytes());
        self.write_packet(0, &execute)?;
        self.read_packet()?;
        self.expect_no_error()?;
        if self.updates {
            return Ok(());
        }
        // One column, and then one row.
        let mut packets = 0;
        while self.packet.first() != Some(&0xFE) {
            self.read_packet()?;
            self.expect_no_error()?;
            packets += 1;
        }
        match packets {
            3 => Ok(()),
            _ => Err(io::Error::other(format!("{packets} packets instead of a row"))),
        }
    }
}

fn connect(kind: &str, address: &str) -> io::Result<Box<dyn Requester>> {
    Ok(match kind {
        "set" => Box::new(Memcached::connect(address, 0)?),
        "get" => Box::new(Memcached::connect(address, 1)?),
        "get10" => Box::new(Memcached::connect(address, 10)?),
        "select" | "update" => Box::new(Prepared::connect(address, kind == "update")?),
        _ => return Err(io::Error::other(format!("unknown kind: {kind}"))),
    })
}

/// Returns the requests in a second.
fn run(kind: &str, address: &str, connections: usize, seconds: f64, keys: u64) -> io::Result<f64> {
    let requesters = (0..connections).map(|_| connect(kind, address));
    let requesters = requesters.collect::<io::Result<Vec<_>>>()?;
    let (ended, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let begin = Arc::new(Barrier::new(connections + 1));
    let threads = requesters.into_iter().enumerate().map(|(number, mut requester)| {
        let (ended, answered, begin) = (ended.clone(), answered.clone(), begin.clone());
        thread::spawn(move || -> io::Result<()> {
            // A sequence of its own in which all keys come.
            let mut key = number as u64 * keys / connections as u64;
            begin.wait();
            while !ended.load(Ordering::Relaxed) {
                key = (key
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407))
                    % keys;
                requester.request(key, answered.fetch_add(1, Ordering::Relaxed))?;
            }
            Ok(())
        })
    });
    let threads: Vec<_> = threads.collect();
    begin.wait();
    let began = Instant::now();
    thread::sleep(Duration::from_secs_f64(seconds));
    let rate = answered.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64();
    ended.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("no request panics")?;
    }
    Ok(rate)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = || {
        eprintln!("usage: request_load get|get10|set|select|update ADDRESS CONNECTIONS SECONDS KEYS");
        ExitCode::from(2)
    };
    let [kind, address, connections, seconds, keys] = &arguments[..] else {
        return usage();
    };
    let (Ok(connections @ 1..=10_000), Ok(seconds), Ok(keys @ 1..)) =
        (connections.parse(), seconds.parse(), keys.parse())
    else {
        return usage();
    };
    match run(kind, address, connections, seconds, keys) {
        Ok(rate) => {
            let keys = if kind == "get10" { 10.0 } else { 1.0 };
            println!("{:.0}", rate * keys);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{kind}: {error}");
            ExitCode::FAILURE
        }
    }
}
