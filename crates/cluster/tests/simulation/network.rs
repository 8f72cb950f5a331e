//! The network between hosts and etcd: it loses, repeats and delays, and packets overtake each other.

use super::Plan;
use super::etcd::Request;
use super::fault::Fault;
use super::host::{Entry, StreamKind};
use super::world::{World, configuration};
use paceline_cluster::{Epoch, EtcdState, Input, Message, Progress, Promise, StoredPromise};

/// Number of ticks that a packet may be delayed, exclusive.
pub(super) const DELAY_TICKS_MAX: usize = 32;
/// Maximum number of records in a packet. During accidents there is one, so that copying takes long.
const BATCH_MAX: usize = 12;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Address {
    Host(usize),
    Etcd,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Message(Message),
    Pull {
        kind: StreamKind,
        epoch: Epoch,
        from: u64,
    },
    Records {
        kind: StreamKind,
        epoch: Epoch,
        at: u64,
        entries: Vec<Entry>,
    },
    Request {
        incarnation: u32,
        request: Request,
    },
    Answer {
        incarnation: u32,
        state: EtcdState,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) from: Address,
    pub(super) to: Address,
    pub(super) body: Body,
}

impl World {
    pub(super) fn send(&mut self, from: usize, to: usize, message: Message) {
        self.transmit(Packet {
            from: Address::Host(from),
            to: Address::Host(to),
            body: Body::Message(message),
        });
    }

    pub(super) fn row(&self, address: Address) -> usize {
        match address {
            Address::Host(at) => at,
            Address::Etcd => self.hosts.len(),
        }
    }

    pub(super) fn transmit(&mut self, packet: Packet) {
        if self.cuts[self.row(packet.from)][self.row(packet.to)] || self.random.chance(self.loss_permille) {
            return;
        }
        let copies = match self.is_chaos && self.random.chance(30) {
            true => 2,
            false => 1,
        };
        for _ in 0..copies {
            let delay = match (self.is_chaos, self.random.below(20)) {
                (true, 0) => 1 + self.random.index(DELAY_TICKS_MAX - 1),
                (_, number) => 1 + number as usize / 12,
            };
            let slot = (self.tick as usize + delay) % DELAY_TICKS_MAX;
            self.packets[slot].push(packet.clone());
        }
    }

    pub(super) fn arrive(&mut self, packet: Packet) {
        self.statistics.packets += 1;
        let (from, at) = match (packet.from, packet.to) {
            (Address::Host(from), Address::Etcd) => return self.arrive_at_etcd(from, packet.body),
            (from, Address::Host(at)) => (from, at),
            (Address::Etcd, Address::Etcd) => unreachable!("etcd is alone"),
        };
        if self.hosts[at].member.is_none() {
            return;
        }
        if !self.is_running(at) {
            // It waits in the host's buffers.
            let slot = (self.tick as usize + 1) % DELAY_TICKS_MAX;
            self.packets[slot].push(packet);
            return;
        }
        match (packet.body, from) {
            (Body::Message(message), Address::Host(from)) => {
                let from = self.hosts[from].id;
                self.input(at, Input::Message(from, message));
            }
            (
                Body::Pull {
                    kind,
                    epoch,
                    from: index,
                },
                Address::Host(from),
            ) => {
                self.serve(at, from, kind, epoch, index);
            }
            (
                Body::Records {
                    kind,
                    epoch,
                    at: index,
                    entries,
                },
                Address::Host(from),
            ) => {
                self.take_records(at, from, (kind, epoch), index as usize, &entries);
            }
            (Body::Answer { incarnation, state }, Address::Etcd) => {
                if self.hosts[at].incarnation == incarnation {
                    self.hosts[at].etcd_heard = self.now;
                    self.input(at, Input::Etcd(state));
                }
            }
            (body, from) => unreachable!("{body:?} from {from:?}"),
        }
    }

    pub(super) fn arrive_at_etcd(&mut self, from: usize, body: Body) {
        let Body::Request { incarnation, request } = body else {
            unreachable!("etcd gets only requests")
        };
        if !self.is_etcd_up {
            return;
        }
        if let Request::Claim { record, newest } = &request {
            let taken = self.etcd.newest().epoch;
            self.log(|| {
                format!(
                    "etcd: {} claims {} after {newest}, newest is {taken}",
                    record.primary, record.epoch
                )
            });
        }
        let is_claim = matches!(request, Request::Claim { .. });
        if self.schedule.plan == Plan::ForgetfulEtcd && is_claim && self.random.chance(300) {
            let newest = self.etcd.newest();
            if newest.progress == Progress::Claimed && self.etcd.records.len() > 1 {
                self.etcd.records.pop();
                self.log(|| "etcd forgets its newest epoch".to_owned());
            }
        }
        let id = self.hosts[from].id;
        let mut state = self.etcd.execute(id, request, self.now);
        let newest = self.etcd.newest();
        if configuration(&self.records, newest.epoch, newest.primary).is_none() {
            self.records.push(newest.clone());
        }
        if self.has_fault(Fault::ConfigurationsForgotten) {
            let newest = state.records.len() - 1;
            state.records.drain(..newest);
        }
        self.transmit(Packet {
            from: Address::Etcd,
            to: Address::Host(from),
            body: Body::Answer { incarnation, state },
        });
    }

    pub(super) fn serve(&mut self, at: usize, to: usize, kind: StreamKind, epoch: Epoch, from: u64) {
        let host = &self.hosts[at];
        let promise = Promise {
            epoch,
            primary: self.hosts[to].id,
        };
        let is_served = match kind {
            StreamKind::Follow => host.serves == Some(epoch),
            StreamKind::Fetch => host.promise == StoredPromise::Whole(promise) && host.writing.is_none(),
        };
        let from = from as usize;
        if is_served && from < host.durable {
            let batch = if self.is_chaos { 1 } else { BATCH_MAX };
            let entries = host.log[from..host.durable.min(from + batch)].to_vec();
            self.transmit(Packet {
                from: Address::Host(at),
                to: Address::Host(to),
                body: Body::Records {
                    kind,
                    epoch,
                    at: from as u64,
                    entries,
                },
            });
        }
    }

    pub(super) fn take_records(
        &mut self,
        at: usize,
        from: usize,
        of: (StreamKind, Epoch),
        index: usize,
        entries: &[Entry],
    ) {
        let source = self.hosts[from].id;
        let host = &self.hosts[at];
        let length = host.log.len();
        let Some(stream) = host
            .stream
            .filter(|stream| (stream.kind, stream.epoch, stream.source) == (of.0, of.1, source))
        else {
            return;
        };
        let end = stream.end.min((index + entries.len()) as u64) as usize;
        if index <= length && length < end {
            self.append(at, &entries[length - index..end - index]);
        }
    }
}
