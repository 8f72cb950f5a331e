//! The start of an epoch in the commit pipeline. It is a group of its own and takes no part in the queue.

use super::acknowledge::WrittenTransactions;
use super::core::{Core, unix_seconds};
use super::log_stage::{LogStage, Writing, WrittenGroup};
use super::ticket::Ticket;
use super::{CommitAttachments, CommitPlace, Completion, PlacedTransaction, ResultReceiver};
use crate::error::Result;
use paceline_binlog::group::{GroupOptions, GroupSize};
use paceline_binlog::{CommitGroup, EpochMark, EventGroupBuffer, PositionChange};
use paceline_storage::WriteSet;
use paceline_types::{DomainId, Gtid, ServerId};
use std::time::Instant;

impl LogStage {
    /// Refuses the transactions of clients and appliers from now on, or accepts them again.
    pub(crate) fn set_writing(&mut self, writing: Writing) {
        self.writing = writing;
    }
}

impl Core {
    /// Takes the start of an epoch through the log stage, into the publish queue.
    pub(crate) fn log_epoch_start(
        &self,
        mark: EpochMark,
        (domain_id, server_id): (DomainId, ServerId),
        attachments: Box<CommitAttachments>,
    ) -> Result<Gtid> {
        let mut stage = self.log_stage.lock();
        if let Some(error) = self.poisoned() {
            return Err(error);
        }
        let mut events = EventGroupBuffer::new(GroupOptions::new(server_id));
        events.start_epoch(unix_seconds(), mark);
        let start = match self
            .log
            .reserve(events.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)
        {
            Ok(start) => start,
            Err(error @ paceline_binlog::Error::NoSpace { .. }) => return Err(error.into()),
            Err(error) => {
                return Err(self.fatal(&format!("cannot prepare room in the binary log: {error}")));
            }
        };
        let gtid = stage.take_next_gtid(domain_id, server_id)?;
        stage.group.begin(start, GroupSize::Single);
        let placed = stage.group.add(&mut events, gtid);
        if let Err(error) = self.log.append(&stage.group) {
            return Err(self.fatal(&format!("cannot write the binary log: {error}")));
        }
        self.positions.advance_written(placed.end);
        if let Err(reason) = self.sync_log() {
            return Err(self.fatal(&reason));
        }
        let writes = WriteSet::new().complete().placed_at(placed.end);
        let transactions = vec![PlacedTransaction {
            committed: CommitPlace {
                gtid: Some(gtid),
                version: placed.end,
            },
            is_replicated: false,
            writes,
            built: None,
            // Nobody waits.
            receiver: ResultReceiver::Session(Ticket::new()),
            attachments,
            completion: Completion::Inline,
        }];
        self.acknowledge_durable_in_stage(WrittenTransactions::of(&transactions));
        self.publisher.push(WrittenGroup {
            transactions,
            end: placed.end,
            moves: PositionChange::None,
            durable_at: Instant::now(),
        });
        self.rotate_if_due(&mut stage);
        Ok(gtid)
    }
}
