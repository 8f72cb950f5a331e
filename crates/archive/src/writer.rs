//! Writes event groups to the log: one thread, one write and one sync for all groups that have gathered.
//!
//! ```text
//!   followers ──▶ queue (at most 64 MiB) ──▶ drop duplicates ─▶ append ─▶ sync ─▶ wake replicas' streams and followers
//! ```
//!
//! While one batch is synced, the next one gathers. A full disk stops only this thread: it retries, and meanwhile
//! nothing is acknowledged. When the archive stops, it does not wait for space: groups that are not written were not
//! acknowledged, and are received again. Any other failure of a write or a sync is final, as everywhere in Paceline.

use crate::clock::unix_seconds;
use crate::closed_files::ClosedFiles;
use crate::error::{Error, Result};
use paceline_binlog::group::{CommitGroup, EventGroupBuffer, GroupOptions, GroupSize};
use paceline_binlog::{EpochHistory, EpochMark, EventGroup, GtidState, Log};
use paceline_txn::SendLimit;
use paceline_types::{DomainId, Gtid, ServerId};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

/// Limit of the queue in bytes. A group that is longer than the limit is queued alone.
const QUEUE_BYTES_MAX: u32 = 64 << 20;
/// Limit of a batch in bytes. A longer group forms a batch alone.
const BATCH_BYTES_MAX: usize = 8 << 20;
/// Pause between attempts to write to a full disk.
const FULL_DISK_PAUSE: Duration = Duration::from_secs(1);

/// Number of the last durable group of a follower.
pub type Progress = watch::Sender<u64>;

/// A group on its way to the log.
struct QueuedGroup {
    group: EventGroup,
    number: u64,
    progress: Arc<Progress>,
    room: QueuePermit,
}

/// Reserved space in the queue; released when the group is written.
#[derive(Debug)]
pub struct QueuePermit(#[allow(dead_code)] OwnedSemaphorePermit);

/// Requests to the thread, in order.
enum Work {
    Group(QueuedGroup),
    /// Lets the log begin after this state and these epochs.
    Begin(GtidState, EpochHistory, oneshot::Sender<()>),
    /// Appends the start of an epoch of the cluster.
    StartEpoch(ServerId, EpochMark, oneshot::Sender<()>),
    /// Continues the log in a new file.
    Rotate(oneshot::Sender<std::result::Result<(), RotateError>>),
}

/// Counters of the writer.
#[derive(Debug, Default)]
pub struct Counters {
    /// Number of groups written.
    pub groups: AtomicU64,
    /// Number of bytes of these groups.
    pub bytes: AtomicU64,
    /// Number of syncs.
    pub syncs: AtomicU64,
    /// Number of groups dropped because the log already contained them.
    pub duplicates: AtomicU64,
    /// Whether the disk is full.
    pub is_full: AtomicBool,
}

/// Handle with which followers write to the log.
#[derive(Clone)]
pub struct Writer {
    queue: mpsc::UnboundedSender<Work>,
    room: Arc<Semaphore>,
    counters: Arc<Counters>,
}

/// The writer has failed or ended, and accepts no more groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the archive takes no more transactions")]
pub struct WriterClosed;

/// The log was not continued in a new file.
#[derive(Debug, thiserror::Error)]
pub enum RotateError {
    /// The writer has ended.
    #[error(transparent)]
    Closed(#[from] WriterClosed),
    /// The disk has no space for another file.
    #[error("no new file could be begun: {0}")]
    NoSpace(paceline_binlog::Error),
}

/// A writer and its thread.
pub struct RunningWriter {
    /// Handle for followers.
    pub writer: Writer,
    /// Ends when every [`Writer`] is dropped, or with the error if writing fails.
    pub thread: thread::JoinHandle<Result<()>>,
}

impl Writer {
    /// Starts the thread. `stop` tells it that the archive stops; the thread also sets it if it cannot continue.
    /// `closed_files` is signalled after each full file.
    pub fn start(
        log: Log,
        sendable: Arc<SendLimit>,
        stop: watch::Sender<bool>,
        closed_files: Arc<ClosedFiles>,
    ) -> Result<RunningWriter> {
        let (queue, received) = mpsc::unbounded_channel();
        let counters = Arc::new(Counters::default());
        let (prepare, wanted) = sync_channel::<()>(1);
        let prepared = log.clone();
        thread::Builder::new()
            .name("archive-room".into())
            .spawn(move || {
                while wanted.recv().is_ok() {
                    if let Err(error) = prepared.prepare_ahead() {
                        tracing::warn!("no room could be prepared for the log: {error}");
                    }
                }
            })
            .map_err(Error::system("start a thread"))?;
        let mut worker = Worker {
            state: log.state(),
            log,
            sendable,
            received,
            counters: counters.clone(),
            prepare,
            group: CommitGroup::new(),
            closed_files,
            stop: stop.subscribe(),
        };
        let thread = thread::Builder::new()
            .name("archive-writer".into())
            .spawn(move || {
                let stop = StopOnPanic(stop);
                let done = worker.run();
                if let Err(error) = &done {
                    tracing::error!("the log cannot be written: {error}");
                    stop.0.send_replace(true);
                }
                done
            })
            .map_err(Error::system("start a thread"))?;
        let writer = Writer {
            queue,
            room: Arc::new(Semaphore::new(QUEUE_BYTES_MAX as usize)),
            counters,
        };
        Ok(RunningWriter { writer, thread })
    }

    /// Waits until the queue has space for a group.
    ///
    /// # Errors
    /// [`WriterClosed`] if the writer has ended.
    pub async fn room(&self, group: &EventGroup) -> std::result::Result<QueuePermit, WriterClosed> {
        let bytes = u32::try_from(group.bytes().len())
            .unwrap_or(u32::MAX)
            .min(QUEUE_BYTES_MAX);
        let room = self.room.clone().acquire_many_owned(bytes).await;
        room.map(QueuePermit).map_err(|_| WriterClosed)
    }

    /// Queues a group. `number` counts the follower's groups.
    ///
    /// # Errors
    /// [`WriterClosed`] if the writer has ended.
    pub fn write(
        &self,
        group: EventGroup,
        number: u64,
        progress: &Arc<Progress>,
        room: QueuePermit,
    ) -> std::result::Result<(), WriterClosed> {
        let incoming = QueuedGroup {
            group,
            number,
            progress: progress.clone(),
            room,
        };
        self.queue.send(Work::Group(incoming)).map_err(|_| WriterClosed)
    }

    /// Lets a log without transactions begin after `state`, before which `epochs` have started.
    ///
    /// # Errors
    /// [`WriterClosed`] if the writer has ended.
    pub async fn begin(
        &self,
        state: GtidState,
        epochs: EpochHistory,
    ) -> std::result::Result<(), WriterClosed> {
        let (done, ended) = oneshot::channel();
        self.queue
            .send(Work::Begin(state, epochs, done))
            .map_err(|_| WriterClosed)?;
        ended.await.map_err(|_| WriterClosed)
    }

    /// Appends the start of an epoch of which `primary`, this member, is the primary, and syncs it.
    ///
    /// # Errors
    /// [`WriterClosed`] if the writer has ended.
    pub async fn start_epoch(
        &self,
        server_id: ServerId,
        epoch: u64,
        primary: u32,
    ) -> std::result::Result<(), WriterClosed> {
        let (done, ended) = oneshot::channel();
        let work = Work::StartEpoch(server_id, EpochMark { epoch, primary }, done);
        self.queue.send(work).map_err(|_| WriterClosed)?;
        ended.await.map_err(|_| WriterClosed)
    }

    /// Continues the log in a new file (`FLUSH BINARY LOGS`).
    ///
    /// # Errors
    /// [`RotateError`] if the writer has ended or the disk is full.
    pub async fn rotate(&self) -> std::result::Result<(), RotateError> {
        let (done, ended) = oneshot::channel();
        self.queue.send(Work::Rotate(done)).map_err(|_| WriterClosed)?;
        ended.await.map_err(|_| WriterClosed)?
    }

    /// Returns the counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

/// Sets the stop signal if the thread panics. Otherwise the archive would seem to follow.
struct StopOnPanic(watch::Sender<bool>);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.send_replace(true);
        }
    }
}

struct Worker {
    log: Log,
    /// State after the written groups and the batch that is being built.
    state: GtidState,
    sendable: Arc<SendLimit>,
    received: mpsc::UnboundedReceiver<Work>,
    counters: Arc<Counters>,
    prepare: SyncSender<()>,
    group: CommitGroup,
    closed_files: Arc<ClosedFiles>,
    stop: watch::Receiver<bool>,
}

/// Result of writing a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Written,
    /// The disk is full and the archive stops. Later groups must not be written either: the log would have a hole.
    Abandoned,
}

impl Worker {
    fn run(&mut self) -> Result<()> {
        let mut next = None;
        while let Some(work) = next.take().or_else(|| self.received.blocking_recv()) {
            let first = match work {
                Work::Group(first) => first,
                // The receivers of the answers may be gone.
                Work::Begin(state, epochs, done) => {
                    self.begin(state, &epochs)?;
                    let _ = done.send(());
                    continue;
                }
                Work::StartEpoch(server_id, mark, done) => {
                    if self.start_epoch(server_id, mark)? == Outcome::Abandoned {
                        break;
                    }
                    let _ = done.send(());
                    continue;
                }
                Work::Rotate(done) => {
                    let rotated = self.rotate()?;
                    let _ = done.send(rotated);
                    continue;
                }
            };
            let mut bytes = first.group.bytes().len();
            let mut batch = vec![first];
            while bytes < BATCH_BYTES_MAX {
                match self.received.try_recv() {
                    Ok(Work::Group(group)) => {
                        bytes += group.group.bytes().len();
                        batch.push(group);
                    }
                    Ok(other) => {
                        next = Some(other);
                        break;
                    }
                    Err(_) => break,
                }
            }
            if self.write(batch)? == Outcome::Abandoned {
                break;
            }
        }
        self.log.close(unix_seconds())?;
        Ok(())
    }

    fn begin(&mut self, state: GtidState, epochs: &EpochHistory) -> Result<()> {
        if self.state.is_empty() {
            self.log.reset_to(None, &state, epochs, unix_seconds())?;
            self.sendable.advance(self.log.durable());
            self.state = state;
        }
        Ok(())
    }

    fn start_epoch(&mut self, server_id: ServerId, mark: EpochMark) -> Result<Outcome> {
        let gtid = Gtid {
            domain_id: DomainId(0),
            server_id,
            sequence: self
                .state
                .next_sequence(DomainId(0))
                .ok_or_else(|| Error::Failed("the sequence numbers of domain 0 are used up".into()))?,
        };
        let mut start = EventGroupBuffer::new(GroupOptions::new(server_id));
        start.start_epoch(unix_seconds(), mark);
        self.state.update(gtid);
        let bytes = start.len() + CommitGroup::GTID_EVENT_LENGTH_MAX;
        self.append_with(1, bytes, |group| {
            group.add(&mut start, gtid);
            Ok(())
        })
    }

    fn write(&mut self, batch: Vec<QueuedGroup>) -> Result<Outcome> {
        let mut reached: Vec<(Arc<Progress>, u64)> = Vec::new();
        let mut wanted = Vec::with_capacity(batch.len());
        let mut rooms = Vec::with_capacity(batch.len());
        let mut in_batch = HashSet::new();
        for incoming in batch {
            let QueuedGroup {
                group,
                number,
                progress,
                room,
            } = incoming;
            match reached
                .iter_mut()
                .find(|(known, _)| Arc::ptr_eq(known, &progress))
            {
                Some((_, last)) => *last = number,
                None => reached.push((progress, number)),
            }
            rooms.push(room);
            let gtid = group.gtid();
            if self.is_stored(gtid, &in_batch)? {
                self.counters.duplicates.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            in_batch.insert(gtid);
            self.state.update(gtid);
            wanted.push(group);
        }
        if !wanted.is_empty() && self.append(wanted)? == Outcome::Abandoned {
            return Ok(Outcome::Abandoned);
        }
        for (progress, number) in reached {
            progress.send_replace(number);
        }
        Ok(Outcome::Written)
    }

    /// Returns whether the log or the current batch already contains a transaction, received over another connection.
    fn is_stored(&self, gtid: Gtid, in_batch: &HashSet<Gtid>) -> Result<bool> {
        let last = self.state.last_of(gtid.domain_id, gtid.server_id);
        if last.is_none_or(|last| last.sequence < gtid.sequence) {
            return Ok(false);
        }
        if in_batch.contains(&gtid) || self.log.find(gtid)?.is_some() {
            return Ok(true);
        }
        tracing::warn!(
            "{gtid} is out of order: {} of that server is here already; it is kept as the primary has logged it",
            last.map(|last| last.to_string()).unwrap_or_default()
        );
        Ok(false)
    }

    fn append(&mut self, groups: Vec<EventGroup>) -> Result<Outcome> {
        let count = groups.len() as u64;
        let bytes: u64 = groups.iter().map(|group| group.bytes().len() as u64).sum();
        self.append_with(count, bytes, |commit| {
            groups
                .into_iter()
                .try_for_each(|group| commit.add_received(group).map(drop))
        })
    }

    /// Appends what `fill` adds to a group, `bytes` at most, and syncs it.
    fn append_with(
        &mut self,
        count: u64,
        bytes: u64,
        fill: impl FnOnce(&mut CommitGroup) -> paceline_binlog::Result<()>,
    ) -> Result<Outcome> {
        let start = loop {
            match self.log.reserve(bytes) {
                Ok(start) => break start,
                Err(error @ paceline_binlog::Error::NoSpace { .. }) => {
                    if !self.counters.is_full.swap(true, Ordering::Relaxed) {
                        tracing::error!("nothing is archived and acknowledged until there is room: {error}");
                    }
                    if *self.stop.borrow() {
                        tracing::warn!("what was received last is not archived: there is no room for it");
                        return Ok(Outcome::Abandoned);
                    }
                    thread::sleep(FULL_DISK_PAUSE);
                }
                Err(error) => return Err(error.into()),
            }
        };
        if self.counters.is_full.swap(false, Ordering::Relaxed) {
            tracing::info!("there is room again");
        }
        self.group.begin(start, GroupSize::Single);
        fill(&mut self.group)?;
        self.log.append(&self.group)?;
        self.log.sync()?;
        self.group.clear();
        self.sendable.advance(self.log.durable());
        self.counters.groups.fetch_add(count, Ordering::Relaxed);
        self.counters.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.counters.syncs.fetch_add(1, Ordering::Relaxed);
        if self.log.wants_preparation() {
            let _ = self.prepare.try_send(());
        }
        // Without space for a new file the log continues in the current one; the rotation is retried after
        // the next write.
        if self.log.rotation_due()
            && let Err(error) = self.rotate()?
        {
            tracing::warn!("{error}");
        }
        Ok(Outcome::Written)
    }

    /// Continues the log in a new file. If there is no space, the log stays in its file.
    ///
    /// # Errors
    /// Those that end the writer.
    fn rotate(&mut self) -> Result<std::result::Result<(), RotateError>> {
        let closing = self.closed_files.lock();
        let rotated = self.log.rotate(unix_seconds());
        drop(closing);
        match rotated {
            Ok(position) => {
                // After a crash only the last file is ever read.
                self.log.write_checkpoint(position, unix_seconds())?;
                self.sendable.advance(self.log.durable());
                self.closed_files.notify();
                Ok(Ok(()))
            }
            Err(error @ paceline_binlog::Error::NoSpace { .. }) => Ok(Err(RotateError::NoSpace(error))),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::group;
    use paceline_binlog::log::{LogConfig, OpenRequest, SyncMode};
    use paceline_simulated_disk::SimulatedDisk;
    use paceline_types::ServerId;
    use std::time::Instant;

    fn wait_for(what: &str, condition: impl Fn() -> bool) {
        let began = Instant::now();
        while !condition() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "waited in vain: {what}"
            );
            // The pause of a loop that waits.
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Opens the log of an archive on a simulated disk.
    fn open(disk: &SimulatedDisk) -> Log {
        let config = LogConfig {
            prepare_step: 8192,
            sync_mode: SyncMode::Deferred,
            ..LogConfig::new("/log", "archive", ServerId(9))
        };
        let opened = Log::open(Arc::new(disk.clone()), config, OpenRequest::new(1));
        opened.unwrap().0
    }

    /// A writer with its log.
    struct TestWriter {
        disk: SimulatedDisk,
        log: Log,
        stop: watch::Sender<bool>,
        running: RunningWriter,
        runtime: tokio::runtime::Runtime,
    }

    impl TestWriter {
        fn start() -> Self {
            let disk = SimulatedDisk::new();
            let log = open(&disk);
            let stop = watch::Sender::new(false);
            let sendable = Arc::new(SendLimit::new(log.durable()));
            let running = Writer::start(log.clone(), sendable, stop.clone(), Arc::default()).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            TestWriter {
                disk,
                log,
                stop,
                running,
                runtime,
            }
        }

        fn write(&self, gtid: &str, number: u64, progress: &Arc<Progress>) {
            let group = group(gtid, b"x");
            let room = self.runtime.block_on(self.running.writer.room(&group)).unwrap();
            self.running.writer.write(group, number, progress, room).unwrap();
        }

        fn wait_durable(&self, number: u64, progress: &Arc<Progress>) {
            wait_for("the group to be durable", || *progress.borrow() >= number);
        }
    }

    #[test]
    fn a_transaction_that_two_followers_bring_is_written_once_and_both_learn_that_it_is_durable() {
        let writer = TestWriter::start();
        let (one, two) = (Arc::new(Progress::new(0)), Arc::new(Progress::new(0)));
        for number in 1..=3 {
            writer.write(&format!("0-1-{number}"), number, &one);
            writer.write(&format!("0-1-{number}"), number, &two);
        }
        writer.wait_durable(3, &one);
        writer.wait_durable(3, &two);
        let counters = writer.running.writer.counters();
        assert_eq!(counters.groups.load(Ordering::Relaxed), 3);
        assert_eq!(counters.duplicates.load(Ordering::Relaxed), 3);
        assert_eq!(writer.log.state().to_string(), "0-1-3");
        // Also when it is no longer in the queue, and of another server of the domain.
        writer.write("0-1-2", 4, &two);
        writer.write("0-2-4", 5, &two);
        writer.wait_durable(5, &two);
        assert_eq!(counters.duplicates.load(Ordering::Relaxed), 4);
        assert_eq!(counters.groups.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_transaction_out_of_order_is_kept_as_the_primary_has_logged_it() {
        let writer = TestWriter::start();
        let progress = Arc::new(Progress::new(0));
        writer.write("0-1-10", 1, &progress);
        writer.write("0-1-7", 2, &progress);
        writer.wait_durable(2, &progress);
        assert_eq!(writer.running.writer.counters().groups.load(Ordering::Relaxed), 2);
        assert!(writer.log.find("0-1-7".parse().unwrap()).unwrap().is_some());
    }

    #[test]
    fn a_log_begins_after_a_state_only_while_it_has_no_transaction() {
        let writer = TestWriter::start();
        let begin = |state: &str| {
            let state = [state.parse().unwrap()]
                .into_iter()
                .collect::<paceline_binlog::GtidPosition>();
            let mut begin = GtidState::new();
            state.iter().for_each(|gtid| begin.update(gtid));
            writer
                .runtime
                .block_on(writer.running.writer.begin(begin, EpochHistory::default()))
                .unwrap();
        };
        begin("0-1-100");
        assert_eq!(writer.log.oldest_state().to_string(), "0-1-100");
        let progress = Arc::new(Progress::new(0));
        writer.write("0-1-101", 1, &progress);
        writer.wait_durable(1, &progress);
        begin("0-1-500");
        assert_eq!(writer.log.state().to_string(), "0-1-101");
    }

    #[test]
    fn a_rotation_without_space_leaves_the_log_in_its_file() {
        let writer = TestWriter::start();
        let progress = Arc::new(Progress::new(0));
        writer.write("0-1-1", 1, &progress);
        writer.wait_durable(1, &progress);
        let rotate = || writer.runtime.block_on(writer.running.writer.rotate());
        writer.disk.set_capacity(Some(writer.disk.used()));
        assert!(matches!(rotate(), Err(RotateError::NoSpace(_))));
        assert_eq!(writer.log.files().len(), 1);
        writer.disk.set_capacity(None);
        rotate().unwrap();
        assert_eq!(writer.log.files().len(), 2);
        assert!(!*writer.stop.borrow());
    }

    #[test]
    fn a_failed_sync_ends_the_writer_and_stops_the_archive_and_nothing_is_acknowledged() {
        let writer = TestWriter::start();
        let progress = Arc::new(Progress::new(0));
        writer.write("0-1-1", 1, &progress);
        writer.wait_durable(1, &progress);
        writer.disk.fail_sync(1);
        writer.write("0-1-2", 2, &progress);
        wait_for("the writer to end", || writer.running.thread.is_finished());
        assert_eq!(*progress.borrow(), 1);
        assert!(*writer.stop.borrow());
        let TestWriter { running, runtime, .. } = writer;
        assert!(running.thread.join().unwrap().is_err());
        assert_eq!(
            runtime.block_on(running.writer.begin(GtidState::new(), EpochHistory::default())),
            Err(WriterClosed)
        );
        let group = group("0-1-3", b"x");
        let room = runtime.block_on(running.writer.room(&group)).unwrap();
        assert_eq!(running.writer.write(group, 3, &progress, room), Err(WriterClosed));
    }

    #[test]
    fn an_archive_stops_while_its_disk_is_full_and_leaves_no_hole() {
        let disk = SimulatedDisk::new();
        let log = open(&disk);
        let stop = watch::Sender::new(false);
        let sendable = Arc::new(SendLimit::new(log.durable()));
        let RunningWriter { writer, thread } =
            Writer::start(log.clone(), sendable, stop.clone(), Arc::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let progress = Arc::new(Progress::new(0));
        let hand_over = |number: u64, text: &[u8]| {
            let group = group(&format!("0-1-{number}"), text);
            let room = runtime.block_on(writer.room(&group)).unwrap();
            writer.write(group, number, &progress, room).unwrap();
        };
        hand_over(1, b"short");
        wait_for("the first group", || *progress.borrow() == 1);
        disk.set_capacity(Some(disk.used()));
        hand_over(2, &vec![b'x'; 200_000]);
        wait_for("the disk to be full", || {
            writer.counters().is_full.load(Ordering::Relaxed)
        });
        // There is space for this group, but the one before it is missing.
        hand_over(3, b"short");
        stop.send_replace(true);
        drop(writer);
        wait_for("the end", || thread.is_finished());
        thread.join().unwrap().unwrap();
        assert_eq!(*progress.borrow(), 1);
        assert_eq!(log.state().to_string(), "0-1-1");
        disk.set_capacity(None);
        assert_eq!(open(&disk).state().to_string(), "0-1-1");
    }
}
