//! A session with a primary, from the handshake to its end.

use super::candidates::{ConnectedCandidate, connect_best, replica_options};
use super::follower::Follower;
use super::primary_monitor;
use super::status::FollowState;
use crate::context::ArchiveContext;
use crate::log_start::{StartDecision, domain_without_beginning};
use crate::options::Address;
use crate::writer::{Progress, Writer, WriterClosed};
use paceline_binlog::SourcePosition;
use paceline_log_stream::source::assemble::{Assembler, AssemblyResult, GtidSupply};
use paceline_log_stream::source::error::SourceError;
use paceline_log_stream::source::{SentEvent, Source, SourceKind, StartAt};
use paceline_types::error_code::ER_SLAVE_FATAL_ERROR;
use paceline_types::{DomainId, SequenceNumber};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::watch;

/// Number of events processed in a row before acknowledgements are considered.
const BATCH_EVENTS_MAX: usize = 256;
/// A transaction of more bytes is assembled in a temporary file in the archive's directory, so that the archive's
/// memory remains small.
const SPILL_FROM_BYTES: u64 = 8 << 20;
/// Maximum bytes of a transaction in memory if there is no space for such a file.
const MEMORY_BYTES_MAX: usize = 128 << 20;
/// `Last_IO_Errno` for a full disk.
const EE_DISK_FULL: u16 = 20;

/// Reason for the end of a session with a primary.
#[derive(Debug)]
pub enum SessionEnd {
    /// An error.
    Failed(SourceError),
    /// Another candidate has become the primary.
    Replaced,
    /// The archive accepts no more transactions.
    Closed,
}

impl From<SourceError> for SessionEnd {
    fn from(error: SourceError) -> Self {
        SessionEnd::Failed(error)
    }
}

impl From<WriterClosed> for SessionEnd {
    fn from(_: WriterClosed) -> Self {
        SessionEnd::Closed
    }
}

/// Connects, and receives until an error occurs. When this returns, groups passed to the writer may not be durable yet;
/// the next session waits for them.
pub async fn run(follower: &Follower, context: &ArchiveContext) -> SessionEnd {
    match try_run(follower, context).await {
        Ok(never) => match never {},
        Err(end) => end,
    }
}

async fn try_run(follower: &Follower, context: &ArchiveContext) -> Result<Infallible, SessionEnd> {
    let Some(writer) = context.writer.lock().clone() else {
        return Err(SessionEnd::Closed);
    };
    let candidates = follower.candidates();
    let refused_candidate = follower.refused_candidate();
    follower.update(|status| {
        status.state = FollowState::Connecting;
        status.doing = "Connecting to master";
    });
    let chosen = connect_best(
        context,
        &candidates,
        refused_candidate.as_ref(),
        follower.reader(),
    )
    .await;
    let ConnectedCandidate { mut source, address } = chosen.map_err(|(address, error)| {
        follower.update(|status| status.address = Some(address));
        SessionEnd::Failed(error)
    })?;
    follower.update(|status| {
        status.address = Some(address.clone());
        status.server_id = source.server_id.0;
        status.clock_difference_seconds = source.clock_difference_seconds;
        status.doing = "Checking master version";
    });
    if source.kind != SourceKind::MariaDb {
        return Err(SourceError::fatal_with(
            ER_SLAVE_FATAL_ERROR,
            &"it has no GTIDs of MariaDB's kind: an archive follows MariaDB from 10.0 on, and Paceline",
        )
        .into());
    }
    start_log(follower, context, &writer, &mut source).await?;
    follower.written().await;
    let options = replica_options(context);
    let start = StartAt::Gtids(context.position());
    source.set_start(&start, None, &options).await?;
    source.start_dump(&start, &options).await?;
    let stream = Stream {
        follower,
        context,
        address: &address,
        semi_sync: source.semi_sync,
        is_served: false,
        writer,
        progress: follower.progress().clone(),
        awaited: VecDeque::new(),
        groups: 0,
        bytes: 0,
    };
    tokio::select! {
        ended = stream.run(source) => ended,
        () = primary_monitor::wait_until_replaced(context, &candidates, &address) => Err(SessionEnd::Replaced),
    }
}

/// Makes sure that the archive's log has begun and that it can accept this primary's domains.
async fn start_log(
    follower: &Follower,
    context: &ArchiveContext,
    writer: &Writer,
    source: &mut Source,
) -> Result<(), SessionEnd> {
    let oldest = source.oldest_position().await?;
    let log_start = &context.log_start;
    if !log_start.has_started() {
        match log_start.report(follower.name(), &oldest) {
            StartDecision::BeginWith(state) => {
                if !state.is_empty() {
                    tracing::info!("the archive begins behind '{}'", state.position());
                    let epochs = log_start.epochs_before(&state);
                    writer.begin(state, epochs).await?;
                }
                log_start.mark_started();
            }
            StartDecision::Wait => {
                tracing::info!("waiting until all primaries have told where their logs begin");
                log_start.wait().await;
            }
        }
    }
    match domain_without_beginning(&context.position(), &oldest) {
        None => Ok(()),
        Some(gtid) => Err(SourceError::fatal_with(
            ER_SLAVE_FATAL_ERROR,
            &format!(
                "its log begins behind {gtid}, and this archive has nothing of domain {}: what is before would be missing. Start an archive of its \
                 own for it",
                gtid.domain_id
            ),
        )
        .into()),
    }
}

/// The state of receiving from a connection.
struct Stream<'a> {
    follower: &'a Follower,
    context: &'a ArchiveContext,
    address: &'a Address,
    semi_sync: bool,
    /// Whether the primary has sent an event. It may also answer the request for its log with an error.
    is_served: bool,
    writer: Writer,
    progress: Arc<Progress>,
    /// Acknowledgements that the primary waits for: when this many groups are durable, this position of its log is
    /// acknowledged.
    awaited: VecDeque<(u64, SourcePosition)>,
    /// Groups and bytes since the last [`Stream::show`].
    groups: u64,
    bytes: u64,
}

impl Stream<'_> {
    async fn run(mut self, mut source: Source) -> Result<Infallible, SessionEnd> {
        // A MariaDB primary assigns its own GTIDs, so none have to be supplied.
        let supply = GtidSupply {
            domain_id: DomainId(0),
            last: SequenceNumber(0),
        };
        let mut assembler = Assembler::new(source.kind, source.checksum, SourcePosition::default(), supply);
        assembler.spill_in(&self.context.datadir, SPILL_FROM_BYTES);
        let mut durable = self.progress.subscribe();
        loop {
            for _ in 0..BATCH_EVENTS_MAX {
                let Some(event) = source.next_buffered()? else {
                    break;
                };
                self.take(&mut assembler, &event).await?;
            }
            self.show(&assembler);
            let event = tokio::select! {
                biased;
                () = reached(&mut durable, self.awaited.front()) => {
                    self.acknowledge(&mut source).await?;
                    continue;
                }
                event = source.next_event() => event?,
            };
            self.take(&mut assembler, &event).await?;
        }
    }

    /// Notes that the primary sends its log.
    fn begin(&mut self) {
        self.is_served = true;
        self.follower.update(|status| {
            status.state = FollowState::Connected;
            status.doing = "Waiting for master to send event";
            status.connects += 1;
            status.semi_sync = self.semi_sync;
            status.error_number = 0;
            status.error.clear();
        });
        match self.context.position() {
            position if position.is_empty() => {
                tracing::info!("following {} from the beginning of its log on", self.address)
            }
            position => tracing::info!("following {} from '{position}' on", self.address),
        }
    }

    async fn take(&mut self, assembler: &mut Assembler, event: &SentEvent<'_>) -> Result<(), SessionEnd> {
        if !self.is_served {
            self.begin();
        }
        self.bytes += event.bytes.len() as u64;
        if let AssemblyResult::Group(group) = assembler.take(event.bytes)? {
            self.groups += 1;
            self.follower
                .update(|status| status.executed_at_seconds = group.timestamp);
            let room = self.writer.room(&group.group).await?;
            // No await from here on: a group that has a number must reach the queue.
            let number = self.follower.next_number();
            self.writer.write(group.group, number, &self.progress, room)?;
        } else if assembler.memory_bytes() > MEMORY_BYTES_MAX {
            // The transaction is received again when there is space.
            return Err(SourceError::lost(
                EE_DISK_FULL,
                format!(
                    "there is no room in '{}' for a transaction of more than {} MB",
                    self.context.datadir.display(),
                    MEMORY_BYTES_MAX >> 20
                ),
            )
            .into());
        }
        if event.wants_acknowledgement {
            self.awaited
                .push_back((self.follower.handed_over(), assembler.place().clone()));
        }
        Ok(())
    }

    /// Acknowledges to the primary what is durable here.
    async fn acknowledge(&mut self, source: &mut Source) -> Result<(), SessionEnd> {
        let durable = *self.progress.borrow();
        let mut place = None;
        while let Some((number, _)) = self.awaited.front()
            && *number <= durable
        {
            place = self.awaited.pop_front().map(|(_, place)| place);
        }
        if let Some(place) = place {
            source.acknowledge(&place).await?;
            self.follower.update(|status| status.acknowledgements += 1);
        }
        Ok(())
    }

    fn show(&mut self, assembler: &Assembler) {
        let (groups, bytes) = (std::mem::take(&mut self.groups), std::mem::take(&mut self.bytes));
        self.follower.update(|status| {
            status.groups += groups;
            status.bytes += bytes;
            status.heard = Some(SystemTime::now());
            status.read.clone_from(assembler.place());
        });
    }
}

/// Waits until the first awaited group is durable; forever if none is awaited.
async fn reached(durable: &mut watch::Receiver<u64>, awaited: Option<&(u64, SourcePosition)>) {
    match awaited {
        Some((number, _)) => {
            // This cannot fail: the sender lives as long as the follower.
            let _ = durable.wait_for(|durable| *durable >= *number).await;
        }
        None => std::future::pending().await,
    }
}
