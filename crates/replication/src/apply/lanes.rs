//! The lanes of an applier and the workers that they share: distribution of transactions, and start and end of the
//! threads.

use super::lane::Lane;
use super::options::{ApplierParts, LANES_MAX};
use super::progress::PushedItem;
use super::queue::{Item, LaneQueue, Pass, Work};
use super::shared::{ApplierStopped, Shared};
use super::status::GroupCounts;
use super::worker::Pool;
use crate::received::ReceivedItem;
use paceline_apply::replicated::Failure;
use paceline_types::DomainId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Memory of a queued transaction besides its events, in bytes.
const ITEM_BYTES: usize = 256;

#[derive(Default)]
struct State {
    /// Number of lanes that have not ended.
    living: usize,
    /// By lane number: the domain, or a number shared by several domains if there are too many.
    queues: HashMap<u32, Arc<LaneQueue>>,
    threads: Vec<JoinHandle<()>>,
}

/// All lanes of an applier; see the module comment.
pub(super) struct Lanes {
    pub(super) shared: Arc<Shared>,
    pool: Arc<Pool>,
    state: Mutex<State>,
}

impl Lanes {
    pub(super) fn start(parts: ApplierParts) -> Arc<Self> {
        let shared = Arc::new(Shared::new(parts));
        let pool = Pool::start(&shared);
        Arc::new(Lanes {
            shared,
            pool,
            state: Mutex::default(),
        })
    }

    /// Adds a received item to the queue of its lane.
    pub(super) async fn push(self: &Arc<Self>, received: ReceivedItem) -> Result<(), ApplierStopped> {
        let mut received_at = None;
        let (work, end, timestamp_seconds, counts, bytes) = match received {
            ReceivedItem::Position(end) => {
                if self.shared.is_stopping() {
                    return Err(ApplierStopped);
                }
                self.shared.pass(end);
                return Ok(());
            }
            ReceivedItem::PrimaryRestarted => {
                // Earlier transactions may still need the temporary tables of its sessions.
                self.shared.until_idle().await?;
                self.shared.parts.statements.primary_restarted();
                return Ok(());
            }
            ReceivedItem::Passed {
                gtid,
                source_end,
                executed,
                numbers,
                skipped,
            } => (
                Work::Pass(Pass {
                    gtid,
                    end: source_end.clone(),
                    executed,
                    numbers,
                    skipped,
                }),
                source_end,
                None,
                GroupCounts::default(),
                ITEM_BYTES,
            ),
            ReceivedItem::Group(group) => {
                let end = group.source_end.clone();
                received_at = Some(group.received_at);
                let timestamp = group.group.events().next().map(|event| event.header().timestamp);
                let bytes = group.group.bytes().len() + ITEM_BYTES;
                // A malformed Gtid event is reported when the transaction is applied.
                let flags = group.group.gtid_event().map(|event| event.flags);
                let counts = flags.map_or_else(|_| GroupCounts::default(), GroupCounts::of);
                (Work::Apply(group), end, timestamp, counts, bytes)
            }
        };
        self.shared.room_for(bytes).await?;
        let gtid = work.gtid();
        let queue = self.lane(self.shared.lane_of(gtid))?;
        let pushed = PushedItem {
            gtid,
            timestamp_seconds,
            received_at,
            counts,
        };
        let number = self.shared.pushed(end, pushed);
        queue.push(Item { number, work, bytes });
        Ok(())
    }

    fn lane(self: &Arc<Self>, domain_id: DomainId) -> Result<Arc<LaneQueue>, ApplierStopped> {
        let mut state = self.state.lock();
        if let Some(queue) = state.queues.get(&domain_id.0) {
            return Ok(queue.clone());
        }
        let number = match state.queues.len() < LANES_MAX {
            true => domain_id.0,
            false => {
                let known = state.queues.keys().copied();
                known.min().expect("there are lanes")
            }
        };
        if let Some(queue) = state.queues.get(&number) {
            return Ok(queue.clone());
        }
        let queue = self.shared.new_queue()?;
        let lane = Lane::new(self.shared.clone(), self.pool.clone(), queue.clone());
        self.shared.add_lane(number, lane.observed());
        let lanes = self.clone();
        let thread = std::thread::Builder::new()
            .name(format!("apply-{number}"))
            // The same as for the server's workers: statements of any depth are planned here.
            .stack_size(8 << 20)
            .spawn(move || {
                lane.run();
                lanes.lane_ended();
            });
        match thread {
            Ok(thread) => {
                state.threads.push(thread);
                state.living += 1;
            }
            Err(error) => {
                drop(state);
                self.shared.raise(Failure::fatal(error), None, None);
                self.request_stop();
                return Err(ApplierStopped);
            }
        }
        state.queues.insert(number, queue.clone());
        Ok(queue)
    }

    /// Records the end of a lane's thread after the applier was stopped. The workers end with the last one.
    fn lane_ended(&self) {
        let mut state = self.state.lock();
        state.living -= 1;
        if state.living == 0 && self.shared.is_stopping() {
            self.pool.request_stop();
        }
    }

    /// Returns whether nothing is in progress: everything is done, or all threads have ended.
    pub(super) fn is_settled(&self) -> bool {
        self.shared.is_idle() || (self.shared.is_stopping() && self.state.lock().living == 0)
    }

    /// Tells all threads to end.
    pub(super) fn request_stop(&self) {
        self.shared.request_stop();
        if self.state.lock().living == 0 {
            self.pool.request_stop();
        }
    }

    pub(super) async fn stop(self: &Arc<Self>) {
        self.request_stop();
        let lanes = self.clone();
        let ended = tokio::task::spawn_blocking(move || lanes.join());
        if let Err(error) = ended.await {
            tracing::error!("the applier's threads could not be awaited: {error}");
        }
    }

    fn join(&self) {
        let threads = std::mem::take(&mut self.state.lock().threads);
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the applier has panicked");
            }
        }
        self.pool.join();
    }
}
