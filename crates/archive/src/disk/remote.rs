//! Files in object storage, of which frames are read when needed.
//!
//! A stub remains in the directory: the first frame and the table of the compressed file. Most reads of the log concern
//! the first frame. So opening an archive of ten thousand files requires no request to the storage.

use super::framed::Frames;
use super::seekable::{Frame, SeekTable};
use super::{UNFINISHED, put_in_place, with_suffix};
use paceline_object_storage::{Bytes, ObjectStorage};
use parking_lot::Mutex;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;

/// Compressed bytes that one request reads ahead. A request takes tens of milliseconds, regardless of its size.
const READ_AHEAD: u64 = 2 << 20;
/// Number of attempts for a read, and the pause after the first one. The pause doubles each time.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

struct Request {
    object: String,
    range: Range<u64>,
    reply: std::sync::mpsc::SyncSender<io::Result<Bytes>>,
}

/// Reads from object storage for any thread. Uses a thread and a runtime of its own.
#[derive(Clone, Debug)]
pub struct Fetcher {
    requests: mpsc::UnboundedSender<Request>,
}

impl Fetcher {
    /// Starts the thread for a place.
    ///
    /// # Errors
    /// Fails if the place cannot be opened or the thread cannot be started.
    pub fn start(place: &str) -> io::Result<Self> {
        let (requests, mut received) = mpsc::unbounded_channel::<Request>();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let _inside = runtime.enter();
        let storage = ObjectStorage::open(place).map_err(io::Error::other)?;
        drop(_inside);
        thread::Builder::new()
            .name("archive-fetch".into())
            .spawn(move || {
                runtime.block_on(async {
                    while let Some(request) = received.recv().await {
                        let storage = storage.clone();
                        tokio::spawn(async move {
                            let read = fetch(&storage, &request).await;
                            // The requester may be gone.
                            let _ = request.reply.send(read);
                        });
                    }
                });
            })?;
        Ok(Fetcher { requests })
    }

    /// Reads exactly these bytes of an object. Blocks.
    fn read(&self, object: &str, range: Range<u64>) -> io::Result<Bytes> {
        let (reply, answer): (_, Receiver<_>) = sync_channel(1);
        let request = Request {
            object: object.to_owned(),
            range,
            reply,
        };
        let gone = || io::Error::other("nothing is read from object storage any more");
        self.requests.send(request).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }
}

async fn fetch(storage: &ObjectStorage, request: &Request) -> io::Result<Bytes> {
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        match storage.read(&request.object, request.range.clone()).await {
            Ok(bytes) => return Ok(bytes),
            Err(error @ paceline_object_storage::Error::NotFound { .. }) => {
                return Err(io::Error::new(io::ErrorKind::NotFound, error));
            }
            Err(error) if attempt == ATTEMPTS => return Err(io::Error::other(error)),
            Err(error) => tracing::warn!("{error}"),
        }
        attempt += 1;
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}

/// Frames of an object. The first one is in memory.
#[derive(Debug)]
pub struct RemoteFrames {
    object: String,
    fetcher: Fetcher,
    first: Vec<u8>,
    /// End of the frames and start of the table.
    frames_end: u64,
    /// The bytes read ahead, with their offset.
    ahead: Mutex<(u64, Bytes)>,
}

impl RemoteFrames {
    /// Opens a stub.
    ///
    /// # Errors
    /// Fails if the stub does not exist or is damaged.
    pub fn open(stub: &Path, object: String, fetcher: Fetcher) -> io::Result<(Self, SeekTable)> {
        let bytes = fs::read(stub)?;
        let damaged = || {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("'{}' is damaged", stub.display()),
            )
        };
        let table_length = SeekTable::length_at_end(&bytes)?;
        let first_length = bytes.len().checked_sub(table_length).ok_or_else(damaged)?;
        let table = SeekTable::decode(&bytes[first_length..])?;
        let expected = table.frame(0).map_or(0, |frame| frame.compressed.end);
        if first_length as u64 != expected {
            return Err(damaged());
        }
        let frames = RemoteFrames {
            object,
            fetcher,
            first: bytes[..first_length].to_vec(),
            frames_end: table.file_length() - table_length as u64,
            ahead: Mutex::default(),
        };
        Ok((frames, table))
    }
}

impl RemoteFrames {
    /// Opens an object without a local stub. `length` is its length in bytes. Blocks.
    ///
    /// # Errors
    /// Fails if the object does not exist or is not a compressed file.
    pub fn of_object(object: String, length: u64, fetcher: Fetcher) -> io::Result<(Self, SeekTable)> {
        let of_it = |error: io::Error| io::Error::new(error.kind(), format!("'{object}': {error}"));
        let table = SeekTable::read(length, |range| fetcher.read(&object, range)).map_err(of_it)?;
        let first = match table.frame(0) {
            Some(frame) => fetcher.read(&object, frame.compressed)?.to_vec(),
            None => Vec::new(),
        };
        let frames = RemoteFrames {
            frames_end: table.file_length() - table.encode().len() as u64,
            object,
            fetcher,
            first,
            ahead: Mutex::default(),
        };
        Ok((frames, table))
    }

    /// Returns the first frame, compressed.
    pub fn first(&self) -> &[u8] {
        &self.first
    }
}

impl Frames for RemoteFrames {
    fn read(&self, frame: &Frame) -> io::Result<Vec<u8>> {
        if frame.number == 0 {
            return Ok(self.first.clone());
        }
        let mut ahead = self.ahead.lock();
        let wanted = &frame.compressed;
        let (start, bytes) = &*ahead;
        if wanted.start < *start || wanted.end > start + bytes.len() as u64 {
            let end = wanted.end.max(self.frames_end.min(wanted.start + READ_AHEAD));
            *ahead = (wanted.start, self.fetcher.read(&self.object, wanted.start..end)?);
        }
        let (start, bytes) = &*ahead;
        let at = (wanted.start - start) as usize;
        Ok(bytes[at..at + (wanted.end - wanted.start) as usize].to_vec())
    }
}

/// Writes the stub of a compressed file, with the same modification time. It exists as a whole or not at all. `first`
/// is the first frame, compressed.
///
/// # Errors
/// Errors of the file system.
pub fn write_stub(stub: &Path, first: &[u8], table: &SeekTable, modified: SystemTime) -> io::Result<()> {
    let unfinished = with_suffix(stub, UNFINISHED);
    let mut out = File::create(&unfinished)?;
    out.write_all(first)?;
    out.write_all(&table.encode())?;
    put_in_place(&out, &unfinished, stub, modified)
}
