//! The writer thread of recovery, and the batches it receives.
//!
//! Reading and decoding the log takes about as long as writing the tables, so each task gets a core of its own. Many
//! event groups form one batch, which the engines store with one write.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use paceline_storage::{FrozenWriteSet, Storage, WriteSet};
use paceline_types::LogPosition;

use crate::error::{Error, Result};
use crate::group::CurrentRows;

/// A batch is sent to the writer when its write sets take this many bytes…
const BATCH_BYTES: usize = 2 << 20;
/// … or when it holds this many event groups.
const BATCH_GROUPS: usize = 4096;
/// Number of batches that may wait for the writer.
const BATCHES_WAITING: usize = 2;

#[derive(Default)]
struct Batch {
    sets: Vec<Arc<FrozenWriteSet>>,
    /// End of the last group in the log.
    position: LogPosition,
    groups: usize,
    bytes: usize,
}

enum Message {
    Write(Batch),
    /// Asks for an answer on this channel when everything sent before is written.
    Flush(SyncSender<()>),
}

/// Collects event groups and passes them to the writer thread in log order.
pub(crate) struct Batcher<'a> {
    storage: &'a Storage,
    batch: Batch,
    /// `None` once the writer has been asked to end.
    sender: Option<SyncSender<Message>>,
    /// True if a batch was sent after the last [`Message::Flush`].
    unflushed: bool,
}

/// Calls `feed` with a batcher, and starts a thread that writes its batches. Returns when everything is written.
pub(crate) fn with_writer<T>(
    storage: &Storage,
    feed: impl FnOnce(&mut Batcher<'_>) -> Result<T>,
) -> Result<T> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        let writer = std::thread::Builder::new()
            .name("apply-writer".into())
            .spawn_scoped(scope, move || write_all(storage, &receiver))
            .expect("a thread can be started");
        let mut batcher = Batcher {
            storage,
            batch: Batch::default(),
            sender: Some(sender),
            unflushed: false,
        };
        let fed = feed(&mut batcher).and_then(|fed| batcher.send().map(|()| fed));
        drop(batcher);
        let written = writer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A failure of the writer reaches the feeder only as a closed channel. The writer's own error is the cause.
        written.map_err(Error::from)?;
        fed
    })
}

fn write_all(storage: &Storage, receiver: &Receiver<Message>) -> paceline_storage::Result<()> {
    while let Ok(message) = receiver.recv() {
        match message {
            Message::Write(batch) => storage.apply(&batch.sets, batch.position)?,
            Message::Flush(answer) => drop(answer.send(())),
        }
    }
    Ok(())
}

impl Batcher<'_> {
    /// Adds the writes of an event group that ends at `position`.
    pub(crate) fn add(&mut self, writes: WriteSet, position: LogPosition) -> Result<()> {
        if writes.is_spilled() {
            let set = Arc::new(writes.assign_version(position));
            return Ok(self.flushed()?.apply_large(&set, position)?);
        }
        self.batch.position = position;
        self.batch.groups += 1;
        if !writes.is_empty() {
            self.batch.bytes += writes.memory_bytes();
            self.batch.sets.push(Arc::new(writes.assign_version(position)));
        }
        if self.batch.bytes >= BATCH_BYTES || self.batch.groups >= BATCH_GROUPS {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        if self.batch.groups == 0 {
            return Ok(());
        }
        self.unflushed = true;
        let batch = std::mem::take(&mut self.batch);
        self.send_message(Message::Write(batch))
    }

    fn send_message(&self, message: Message) -> Result<()> {
        let sender = self
            .sender
            .as_ref()
            .expect("the writer runs as long as the batcher");
        sender.send(message).map_err(|_| writer_failed())
    }
}

/// Returns a placeholder for the writer's own error. [`with_writer`] returns the writer's error instead.
fn writer_failed() -> Error {
    Error::Storage(paceline_storage::Error::Closing)
}

impl CurrentRows for Batcher<'_> {
    fn flushed(&mut self) -> Result<&Storage> {
        self.send()?;
        if std::mem::take(&mut self.unflushed) {
            let (answer, answered) = sync_channel(1);
            self.send_message(Message::Flush(answer))?;
            answered.recv().map_err(|_| writer_failed())?;
        }
        Ok(self.storage)
    }
}
