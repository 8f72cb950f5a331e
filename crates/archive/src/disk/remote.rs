//! Files in object storage, of which frames are read when needed.
//!
//! A stub remains in the directory: the first frame and the table of the compressed file. Most reads of the log concern
//! the first frame. So opening an archive of ten thousand files requires no request to the storage.

use super::framed::Frames;
use super::names::{UNFINISHED, with_suffix};
use super::replacement::put_in_place;
use super::seekable::{Frame, SeekTable};
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
const FIRST_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 200 });

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
        Self::start_with(|| ObjectStorage::open(place).map_err(io::Error::other))
    }

    /// Starts the thread for the place that `open` returns. The place belongs to the runtime in which it is opened.
    pub(crate) fn start_with(open: impl FnOnce() -> io::Result<ObjectStorage>) -> io::Result<Self> {
        let (requests, mut received) = mpsc::unbounded_channel::<Request>();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let storage = {
            let _inside = runtime.enter();
            open()?
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::framed::FramedFile;
    use crate::disk::read_only_file::Content;
    use crate::disk::seekable::compress;
    use crate::test_support::run;
    use paceline_simulated_store::{Failure, SimulatedStore};
    use std::sync::Arc;

    const OBJECT: &str = "archive.000001.zst";

    /// Returns content of seven frames that zstd cannot make small.
    fn content() -> Vec<u8> {
        let mut number = 1u32;
        let mut next = || {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 24) as u8
        };
        (0..6_000_000).map(|_| next()).collect()
    }

    /// Returns a store with one compressed file.
    fn filled_store(content: &[u8]) -> (SimulatedStore, u64) {
        let directory = tempfile::tempdir().unwrap();
        let (plain, compressed) = (directory.path().join("plain"), directory.path().join(OBJECT));
        fs::write(&plain, content).unwrap();
        compress(&plain, &compressed).unwrap();
        let bytes = fs::read(compressed).unwrap();
        let (store, length) = (SimulatedStore::new(), bytes.len() as u64);
        run(store.replace(OBJECT, bytes));
        (store, length)
    }

    fn fetcher(store: &SimulatedStore) -> Fetcher {
        let storage = ObjectStorage::of_store(Arc::new(store.clone()), "there");
        Fetcher::start_with(|| Ok(storage)).unwrap()
    }

    #[test]
    fn a_failed_read_is_repeated_and_a_missing_object_is_not_asked_for_again() {
        let (store, length) = filled_store(b"content");
        let fetcher = fetcher(&store);
        for request in 1..=4 {
            store.fail_at(request, Failure::Refused);
            let (frames, table) =
                RemoteFrames::of_object(OBJECT.to_owned(), length, fetcher.clone()).unwrap();
            assert!(store.has_failed());
            let mut read = [0; 9];
            assert_eq!(FramedFile::new(frames, table).read_at(&mut read, 0).unwrap(), 7);
            assert_eq!(&read[..7], b"content");
        }
        store.repair();
        store.take_requests();
        let missing = fetcher.read("archive.000002.zst", 0..9).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let asked = store.take_requests();
        assert!(asked.len() <= 2, "{asked:?}");
        // It ends before the range does: repeated, and refused in the end.
        let short = fetcher.read(OBJECT, length - 1..length + 1).unwrap_err();
        assert!(short.to_string().contains("ends at"), "{short}");
        let asked = store.take_requests();
        assert_eq!(
            asked.iter().filter(|request| request.starts_with("get")).count(),
            ATTEMPTS as usize
        );
    }

    #[test]
    fn reading_through_a_file_takes_a_request_for_each_two_megabytes() {
        let content = content();
        let (store, length) = filled_store(&content);
        let (frames, table) = RemoteFrames::of_object(OBJECT.to_owned(), length, fetcher(&store)).unwrap();
        let file = FramedFile::new(frames, table);
        store.take_requests();
        let mut read = vec![0; content.len()];
        let mut at = 0;
        while at < read.len() {
            let end = read.len().min(at + 100_000);
            at += file.read_at(&mut read[at..end], at as u64).unwrap();
        }
        assert!(read == content);
        let requests = store.take_requests();
        let gets = requests
            .iter()
            .filter(|request| request.starts_with("get"))
            .count();
        assert!((2..=6).contains(&gets), "{requests:?}");
        // Backwards and at random places.
        for at in [5_900_000, 3_000_000, 2_999_999, 320 << 10, 0] {
            let mut read = [0; 64];
            let length = file.read_at(&mut read, at as u64).unwrap();
            assert_eq!(read[..length], content[at..at + length], "{at}");
        }
    }

    #[test]
    fn a_stub_replaces_the_object_for_the_first_frame_and_a_damaged_one_is_refused() {
        let (store, length) = filled_store(&content());
        let (frames, table) = RemoteFrames::of_object(OBJECT.to_owned(), length, fetcher(&store)).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let stub = directory.path().join("archive.000001.stub");
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        write_stub(&stub, frames.first(), &table, modified).unwrap();
        assert_eq!(fs::metadata(&stub).unwrap().modified().unwrap(), modified);
        store.take_requests();
        let open = || RemoteFrames::open(&stub, OBJECT.to_owned(), fetcher(&store));
        let (frames, read_table) = open().unwrap();
        assert_eq!(read_table, table);
        let mut read = [0; 1000];
        assert_eq!(
            FramedFile::new(frames, read_table)
                .read_at(&mut read, 300_000)
                .unwrap(),
            1000
        );
        assert!(store.take_requests().is_empty());
        let whole = fs::read(&stub).unwrap();
        for length in (0..whole.len())
            .step_by(4099)
            .chain(whole.len() - 40..whole.len())
        {
            fs::write(&stub, &whole[..length]).unwrap();
            assert!(open().is_err(), "{length} of {} bytes", whole.len());
        }
        for damaged in [[&whole[..], b"x"], [b"x", &whole[..]]] {
            fs::write(&stub, damaged.concat()).unwrap();
            assert!(open().is_err());
        }
    }
}
