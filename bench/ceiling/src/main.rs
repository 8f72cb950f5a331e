//! The ceiling: a server that speaks just enough of the protocol for sysbench's `oltp_update_non_index` and
//! `oltp_point_select`, executes nothing, and answers at once. What sysbench reads against it is what the client, the
//! kernel and the wire cost: no real server on the same machine can be faster.
//!
//! ```text
//! ceiling SOCKET MODE [WORKERS]
//!   MODE none     an update is answered at once
//!        inline   after a group commit led in place by the first to arrive
//!        thread   after a group commit led on a separate thread, which goes on leading while there is work
//! ```
//! A commit is 300 bytes, written into a file of written zeros beside SOCKET, one fdatasync for a group. It prints one
//! line when it listens and runs until it is killed. A measuring tool, not a model of how to write a server.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;

const COMMIT_BYTES: usize = 300;
const LOG_BYTES: u64 = 64 << 20;

#[derive(Clone, Copy, PartialEq)]
enum Leader {
    None,
    Inline,
    Thread,
}

struct Log {
    file: File,
    offset: AtomicU64,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiters: Vec<oneshot::Sender<()>>,
    is_led: bool,
}

impl Log {
    fn create(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .open(path)?;
        let zeros = vec![0u8; 1 << 20];
        for offset in (0..LOG_BYTES).step_by(zeros.len()) {
            file.write_all_at(&zeros, offset)?;
        }
        file.sync_all()?;
        Ok(Self {
            file,
            offset: AtomicU64::new(0),
            queue: Mutex::default(),
        })
    }

    fn sync_group(&self, commits: usize) {
        let bytes = vec![b'x'; COMMIT_BYTES * commits];
        let offset = self.offset.fetch_add(bytes.len() as u64, Ordering::Relaxed) % (LOG_BYTES - (4 << 20));
        self.file
            .write_all_at(&bytes, offset)
            .expect("the prepared file takes the write");
        rustix::fs::fdatasync(&self.file).expect("fdatasync works");
    }

    async fn commit(self: &Arc<Self>, leader: Leader) {
        if leader == Leader::None {
            return;
        }
        let (sender, receiver) = oneshot::channel();
        let leads = {
            let mut queue = self.queue.lock().expect("no holder panics");
            queue.waiters.push(sender);
            !std::mem::replace(&mut queue.is_led, true)
        };
        if leads {
            let log = self.clone();
            match leader {
                Leader::Inline => tokio::task::block_in_place(move || while log.lead_one() {}),
                _ => drop(tokio::task::spawn_blocking(move || while log.lead_one() {})),
            }
        }
        let _ = receiver.await;
    }

    /// Syncs one group; false when none was waiting, and then nobody leads.
    fn lead_one(&self) -> bool {
        let waiters = {
            let mut queue = self.queue.lock().expect("no holder panics");
            if queue.waiters.is_empty() {
                queue.is_led = false;
                return false;
            }
            std::mem::take(&mut queue.waiters)
        };
        self.sync_group(waiters.len());
        for waiter in waiters {
            let _ = waiter.send(());
        }
        true
    }
}

fn packet(out: &mut Vec<u8>, sequence: &mut u8, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..3]);
    out.push(*sequence);
    *sequence = sequence.wrapping_add(1);
    out.extend_from_slice(payload);
}

fn column_definition(name: &str) -> Vec<u8> {
    let mut payload = vec![3, b'd', b'e', b'f', 0, 0, 0, name.len() as u8];
    payload.extend(name.bytes());
    payload.extend([0, 0x0c, 0x2d, 0, 255, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0]);
    payload
}

const OK: [u8; 7] = [0, 0, 0, 2, 0, 0, 0];
const EOF: [u8; 5] = [0xfe, 0, 0, 2, 0];
const SELECT: u32 = 1 << 20;

fn greeting() -> Vec<u8> {
    let capabilities: u32 = 0x000f_f7ff & !0x800 & !0x20 | 0x8_0000;
    let mut payload = vec![10u8];
    payload.extend(b"10.11.0-MariaDB\0\x01\0\0\x0012345678\0");
    payload.extend(&capabilities.to_le_bytes()[..2]);
    payload.extend([45, 2, 0]);
    payload.extend(&capabilities.to_le_bytes()[2..]);
    payload.push(21);
    payload.extend([0; 10]);
    payload.extend(b"123456789012\0mysql_native_password\0");
    payload
}

fn prepare_reply(out: &mut Vec<u8>, sequence: &mut u8, statement: u32, text: &[u8]) {
    let parameters = text.iter().filter(|byte| **byte == b'?').count() as u16;
    let selects = text.to_ascii_uppercase().starts_with(b"SELECT");
    let mut payload = vec![0u8];
    payload.extend((statement | if selects { SELECT } else { 0 }).to_le_bytes());
    payload.extend(u16::from(selects).to_le_bytes());
    payload.extend(parameters.to_le_bytes());
    payload.extend([0, 0, 0]);
    packet(out, sequence, &payload);
    for _ in 0..parameters {
        packet(out, sequence, &column_definition("?"));
    }
    if parameters > 0 {
        packet(out, sequence, &EOF);
    }
    if selects {
        packet(out, sequence, &column_definition("c"));
        packet(out, sequence, &EOF);
    }
}

async fn serve(mut stream: UnixStream, log: Arc<Log>, leader: Leader) -> std::io::Result<()> {
    let mut out = Vec::new();
    packet(&mut out, &mut 0, &greeting());
    stream.write_all(&out).await?;
    let mut buffer = vec![0u8; 65_536];
    let mut have = 0;
    let mut is_authenticated = false;
    let mut statements = 0u32;
    loop {
        let length = loop {
            let length = u32::from_le_bytes([buffer[0], buffer[1], buffer[2], 0]) as usize;
            if have >= 4 && have >= 4 + length {
                break length;
            }
            match stream.read(&mut buffer[have..]).await? {
                0 => return Ok(()),
                read => have += read,
            }
        };
        let mut sequence = buffer[3].wrapping_add(1);
        let command = buffer[4..4 + length].to_vec();
        buffer.copy_within(4 + length..have, 0);
        have -= 4 + length;
        out.clear();
        match command.first() {
            _ if !is_authenticated => {
                is_authenticated = true;
                packet(&mut out, &mut sequence, &OK);
            }
            Some(0x01) => return Ok(()), // COM_QUIT
            Some(0x19) => continue,      // COM_STMT_CLOSE
            Some(0x16) => {
                statements += 1;
                prepare_reply(&mut out, &mut sequence, statements, &command[1..]);
            }
            Some(0x17) if command.len() >= 5 => {
                let statement = u32::from_le_bytes([command[1], command[2], command[3], command[4]]);
                if statement & SELECT != 0 {
                    packet(&mut out, &mut sequence, &[1]);
                    packet(&mut out, &mut sequence, &column_definition("c"));
                    packet(&mut out, &mut sequence, &EOF);
                    let mut row = vec![0u8, 0, 120];
                    row.extend([b'a'; 120]);
                    packet(&mut out, &mut sequence, &row);
                    packet(&mut out, &mut sequence, &EOF);
                } else {
                    log.commit(leader).await;
                    packet(&mut out, &mut sequence, &OK);
                }
            }
            _ => packet(&mut out, &mut sequence, &OK),
        }
        stream.write_all(&out).await?;
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let usage = || -> ! {
        eprintln!("usage: ceiling SOCKET none|inline|thread [WORKERS]");
        std::process::exit(2)
    };
    let Some(socket) = arguments.get(1) else { usage() };
    let leader = match arguments.get(2).map(String::as_str) {
        Some("none") => Leader::None,
        Some("inline") => Leader::Inline,
        Some("thread") => Leader::Thread,
        _ => usage(),
    };
    let workers = arguments
        .get(3)
        .map_or(Ok(2), |text| text.parse())
        .unwrap_or_else(|_| usage());
    let log = Arc::new(Log::create(&Path::new(socket).with_extension("log"))?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?;
    let _ = std::fs::remove_file(socket);
    runtime.block_on(async move {
        let listener = UnixListener::bind(socket)?;
        println!("listening on {socket}");
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(serve(stream, log.clone(), leader));
        }
    })
}
