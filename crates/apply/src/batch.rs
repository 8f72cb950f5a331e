//! The thread that writes to the engines, and the batches on the way to it.
//!
//! Reading and decoding the log takes about as long as writing the tables, so that each has a core. Many event groups are one
//! batch: the engines take them with one write.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use paceline_storage::{FrozenWriteSet, Storage, WriteSet};
use paceline_types::LogPosition;

use crate::error::{Error, Result};
use crate::group::CurrentRows;

/// A batch goes to the engines at this many bytes.
const BATCH_BYTES: usize = 2 << 20;
/// … or at this many groups.
const BATCH_GROUPS: usize = 4096;
/// Batches that may wait for the writer.
const BATCHES_WAITING: usize = 2;

#[derive(Default)]
struct Batch {
    sets: Vec<Arc<FrozenWriteSet>>,
    /// Where the last group ends.
    position: LogPosition,
    groups: usize,
    bytes: usize,
}

enum Message {
    Write(Batch),
    /// Everything before is to be written; then the answer is given.
    Settle(SyncSender<()>),
}

/// Collects groups, and hands them to the writer in the log's order.
pub(crate) struct Batcher<'a> {
    storage: &'a Storage,
    batch: Batch,
    /// `None` when the writer has been told to end.
    sender: Option<SyncSender<Message>>,
    /// Something was sent since the last settling.
    unsettled: bool,
}

/// Runs `feed` with a batcher, and a thread that writes what comes out of it. Returns when all is written.
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
            unsettled: false,
        };
        let fed = feed(&mut batcher).and_then(|fed| batcher.send().map(|()| fed));
        drop(batcher);
        let written = writer
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the writer failed, the feeder only saw that nobody listens any more.
        written.map_err(Error::from)?;
        fed
    })
}

fn write_all(storage: &Storage, receiver: &Receiver<Message>) -> paceline_storage::Result<()> {
    while let Ok(message) = receiver.recv() {
        match message {
            Message::Write(batch) => storage.apply(&batch.sets, batch.position)?,
            Message::Settle(answer) => drop(answer.send(())),
        }
    }
    Ok(())
}

impl Batcher<'_> {
    /// Adds a group that ends at `position`.
    pub(crate) fn add(&mut self, writes: WriteSet, position: LogPosition) -> Result<()> {
        if writes.is_spilled() {
            let set = Arc::new(writes.assign_version(position));
            return Ok(self.settled()?.apply_large(&set, position)?);
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
        self.unsettled = true;
        let batch = std::mem::take(&mut self.batch);
        self.tell(Message::Write(batch))
    }

    fn tell(&self, message: Message) -> Result<()> {
        let sender = self
            .sender
            .as_ref()
            .expect("the writer runs as long as the batcher");
        sender.send(message).map_err(|_| writer_failed())
    }
}

/// Stands for the writer's own error, which [`with_writer`] returns instead.
fn writer_failed() -> Error {
    Error::Storage(paceline_storage::Error::Closing)
}

impl CurrentRows for Batcher<'_> {
    fn settled(&mut self) -> Result<&Storage> {
        self.send()?;
        if std::mem::take(&mut self.unsettled) {
            let (answer, answered) = sync_channel(1);
            self.tell(Message::Settle(answer))?;
            answered.recv().map_err(|_| writer_failed())?;
        }
        Ok(self.storage)
    }
}
