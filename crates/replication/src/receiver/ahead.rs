//! Reading without an applier: events are discarded, and only the position is kept.
//!
//! MariaDB's receiver continues to write its relay log while the SQL thread is stopped, and `Read_Master_Log_Pos` shows
//! its progress; programs wait for that. Here there is no relay log. Events that are read now are read again when there
//! is an applier, and until then only the primary has them. So nothing is acknowledged (semi-sync), and `Gtid_IO_Pos`,
//! which shows what this server has, does not move.

use super::state::{BATCH_EVENTS_MAX, End, Receiver};
use crate::received::SourcePosition;
use crate::status::ReceiverState;
use paceline_log_stream::source::assemble::{Assembler, GtidSupply};
use paceline_log_stream::source::definition::UseGtid;
use paceline_log_stream::source::options::ReplicaOptions;
use paceline_log_stream::source::{Source, SourceKind, StartAt};
use paceline_types::SequenceNumber;
use std::convert::Infallible;

impl Receiver {
    /// Returns whether there is no applier: it is stopped, or has ended with an error.
    pub(super) fn has_no_applier(&mut self) -> bool {
        let applier = self.appliers.borrow_and_update();
        applier
            .as_ref()
            .is_none_or(|applier| applier.status().error.is_some())
    }

    /// Reads until there is an applier.
    pub(super) async fn read_ahead(
        &mut self,
        mut source: Source,
        options: &ReplicaOptions,
    ) -> Result<Infallible, End> {
        debug_assert_eq!(
            source.kind,
            SourceKind::MariaDb,
            "MySQL's GTIDs are not followed here"
        );
        let options = ReplicaOptions {
            semi_sync: false,
            ..options.clone()
        };
        let (start, place) = self.start_ahead(&options);
        source.set_start(&start, None, &options).await?;
        source.start_dump(&start, &options).await?;
        let status = &self.shared.status;
        status.set_doing(ReceiverState::Connected, "Waiting for master to send event");
        let supply = GtidSupply {
            domain_id: options.domain_id,
            last: SequenceNumber(0),
        };
        let mut reader = Assembler::new(source.kind, source.checksum, place, supply);
        loop {
            for _ in 0..BATCH_EVENTS_MAX {
                let Some(event) = source.next_buffered()? else {
                    break;
                };
                reader.pass_over(event.bytes)?;
            }
            if !reader.place().file.is_empty() {
                status.update(|status| status.read.clone_from(reader.place()));
            }
            tokio::select! {
                biased;
                _ = self.appliers.changed() => return Err(End::ApplierGone),
                event = source.next_event() => reader.pass_over(event?.bytes)?,
            }
        }
    }

    /// Returns the start after the last received transaction, if it is known.
    fn start_ahead(&self, options: &ReplicaOptions) -> (StartAt, SourcePosition) {
        let received = self.shared.status.get();
        if self.definition.use_gtid != UseGtid::No {
            let here = self.own_position(options);
            let gtids = match received.gtid_position.covers(&here) {
                true => received.gtid_position,
                false => here,
            };
            return (StartAt::Gtids(gtids), SourcePosition::default());
        }
        let place = match received.read.file.is_empty() {
            false => received.read,
            true => self.source_position(),
        };
        (StartAt::Place(place.clone()), place)
    }
}
