//! The simulated cluster: it lets time pass, does what members say, and shows it to the oracle.

use super::accidents::Rates;
use super::etcd::{Etcd, Request};
use super::fault::Fault;
use super::host::{Entry, Host, Stream, StreamKind};
use super::network::{Address, Body, DELAY_TICKS_MAX, Packet};
use super::oracle::{Oracle, Violation};
use super::random::Random;
use super::{HEAL_TICKS_MAX, Plan, Schedule, Statistics};
use paceline_cluster::{
    Action, Configuration, Epoch, EpochRecord, Holder, HolderKind, Input, ListedMember, LogIndex, LogTail,
    MemberId, Message, Millis, Origin, Progress, Promise, StoredPromise, Timing, Wait,
};
use std::sync::{Arc, Mutex};

pub(super) const TICK_MS: u64 = 25;
pub(super) const CHAOS_TICKS: u64 = 280;
/// Bound of the time of a planned switch in a healed cluster.
const SWITCH_TICKS_MAX: u64 = 2 * TIMING.switch / TICK_MS;
const SETTLE_TICKS: u64 = DELAY_TICKS_MAX as u64;
/// Longest line of a trace.
const LINE_MAX: usize = 600;

const TIMING: Timing = Timing {
    pulse: 50,
    silence: 200,
    grant: 200,
    drift_percent: 5,
    rank_step: 50,
    patience: 250,
    switch: 800,
};

pub(super) struct World {
    pub(super) schedule: Schedule,
    pub(super) rates: Rates,
    pub(super) timing: Timing,
    pub(super) random: Random,
    pub(super) tick: u64,
    pub(super) now: u64,
    pub(super) hosts: Vec<Host>,
    pub(super) etcd: Etcd,
    /// All records that etcd has ever had.
    pub(super) records: Vec<EpochRecord>,
    pub(super) is_etcd_up: bool,
    /// Packets by the tick in which they arrive, modulo the longest delay.
    pub(super) packets: Vec<Vec<Packet>>,
    /// Cut connections, in one direction each. The last row and column are etcd's.
    pub(super) cuts: Vec<Vec<bool>>,
    pub(super) loss_permille: u64,
    pub(super) is_chaos: bool,
    pub(super) numbers: u64,
    pub(super) oracle: Oracle,
    pub(super) violation: Option<Violation>,
    pub(super) statistics: Statistics,
    pub(super) lines: Option<Arc<Mutex<Vec<String>>>>,
}

/// Returns the configuration of an epoch.
pub(super) fn configuration(
    records: &[EpochRecord],
    epoch: Epoch,
    primary: MemberId,
) -> Option<&Configuration> {
    let mut records = records.iter();
    let record = records.find(|record| (record.epoch, record.primary) == (epoch, primary));
    record.map(|record| &record.configuration)
}

impl World {
    pub(super) fn new(schedule: Schedule, lines: Option<Arc<Mutex<Vec<String>>>>) -> Self {
        let mut random = Random::new(schedule.seed);
        let first = match schedule.plan {
            Plan::ForgetfulEtcd | Plan::Disaster => 3 + random.index(3),
            Plan::Accidents => [1, 2, 3, 3, 3, 3, 4, 4, 5, 5][random.index(10)],
        };
        let spare = usize::from(schedule.plan == Plan::Accidents);
        let zoned = random.chance(250);
        let holders: Vec<_> = (1..=first as u32)
            .map(|number| Holder {
                id: MemberId(number),
                kind: match number > 2 && random.chance(250) {
                    true => HolderKind::Archive,
                    false => HolderKind::Server,
                },
                zone: if zoned { random.below(2) as u8 } else { 0 },
                priority: random.below(3) as u8,
            })
            .collect();
        let copies = match random.chance(700) {
            true => first / 2 + 1,
            false => 1 + random.index(first),
        };
        let zones = if zoned { 2 } else { 1 };
        let plain = || Configuration::new(holders.clone(), copies, 1).expect("it is possible");
        let configuration = Configuration::new(holders.clone(), copies, zones).unwrap_or_else(|_| plain());
        let founding = EpochRecord {
            epoch: Epoch(1),
            primary: MemberId(1),
            configuration,
            origin: Origin::Regular,
            progress: Progress::Claimed,
        };
        let count = first + spare;
        let rates = Rates::new(&mut random);
        // A long grant makes elections slow, and shows reads that are not new.
        let grant = [TIMING.grant, 600][random.index(2)];
        let timing = Timing { grant, ..TIMING };
        let mut world = World {
            schedule,
            rates,
            timing,
            random,
            tick: 0,
            now: 0,
            hosts: (1..=count as u32)
                .map(|number| Host::new(MemberId(number)))
                .collect(),
            records: vec![founding.clone()],
            etcd: Etcd::new(founding),
            is_etcd_up: true,
            packets: vec![Vec::new(); DELAY_TICKS_MAX],
            cuts: vec![vec![false; count + 1]; count + 1],
            loss_permille: 0,
            is_chaos: true,
            numbers: 0,
            oracle: Oracle::default(),
            violation: None,
            statistics: Statistics::default(),
            lines,
        };
        if world.random.chance(500) {
            // Some of them are no holders.
            let listed = world.hosts.iter().map(|host| ListedMember {
                id: host.id,
                log_format: 1,
            });
            world.etcd.members = listed.collect();
        }
        world.oracle.clocks_are_honest = schedule.plan == Plan::Accidents && world.random.chance(500);
        for at in 0..count {
            world.start(at);
        }
        world
    }

    pub(super) fn run(mut self) -> Result<Statistics, Violation> {
        self.run_to_the_end();
        self.statistics.opened = self.oracle.opened() as u64;
        self.statistics.acknowledged = self.oracle.acknowledged() as u64;
        match self.violation {
            Some(violation) => Err(violation),
            None => Ok(self.statistics),
        }
    }

    pub(super) fn run_to_the_end(&mut self) {
        for _ in 0..CHAOS_TICKS {
            self.cause_accidents();
            self.step();
            if self.violation.is_some() {
                return;
            }
        }
        self.heal();
        let mut probe = None;
        for ticks in 0..HEAL_TICKS_MAX {
            self.step();
            if self.violation.is_some() {
                return;
            }
            probe = probe
                .filter(|number| self.has_probe(*number))
                .or_else(|| self.write_probe());
            if probe.is_some_and(|number| self.has_healed(number)) {
                self.statistics.heal_ticks_max = ticks;
                self.switch_over();
                return;
            }
        }
        let states = self.hosts.iter().filter_map(|host| {
            let status = host.member.as_ref()?.status();
            Some(format!("{}: {status}", host.id))
        });
        let states: Vec<_> = states.collect();
        self.violation = Some(format!("does not heal: {}", states.join("; ")));
    }

    pub(super) fn log(&mut self, line: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            let mut line = format!("{:5} {}", self.now, line());
            if let Some((end, _)) = line.char_indices().nth(LINE_MAX) {
                line.truncate(end);
            }
            lines.lock().expect("only one thread writes").push(line);
        }
    }

    pub(super) fn check(&mut self, result: Result<(), Violation>) {
        if let Err(violation) = result {
            self.log(|| format!("VIOLATION {violation}"));
            self.violation.get_or_insert(violation);
        }
    }

    pub(super) fn has_fault(&self, fault: Fault) -> bool {
        self.schedule.fault == Some(fault)
    }

    /// Returns the host of a member.
    pub(super) fn place(&self, id: MemberId) -> usize {
        id.0 as usize - 1
    }

    // --- Time -----------------------------------------------------------------------------------------------------

    pub(super) fn step(&mut self) {
        self.tick += 1;
        self.now += TICK_MS;
        let slot = self.tick as usize % DELAY_TICKS_MAX;
        let mut arriving = std::mem::take(&mut self.packets[slot]);
        while !arriving.is_empty() {
            let packet = arriving.swap_remove(self.random.index(arriving.len()));
            self.arrive(packet);
        }
        for at in 0..self.hosts.len() {
            if self.is_running(at) {
                self.run_disk(at);
                self.run_clients(at);
                self.run_stream(at);
                self.ask_etcd(at);
                self.input(at, Input::Tick);
            }
        }
    }

    pub(super) fn is_running(&self, at: usize) -> bool {
        let host = &self.hosts[at];
        host.member.is_some() && host.frozen_until <= self.now
    }

    pub(super) fn run_disk(&mut self, at: usize) {
        if let Some((done, promise)) = self.hosts[at].writing {
            if done > self.now {
                return;
            }
            let host = &mut self.hosts[at];
            host.writing = None;
            host.promise = StoredPromise::Whole(promise);
            let result = self.oracle.promise(host.id, promise);
            self.check(result);
            if !self.has_fault(Fault::PromiseNotDurable) {
                self.report_promise(at, promise);
            }
            return;
        }
        let host = &self.hosts[at];
        if host.log.len() > host.durable && self.random.chance(600) {
            self.hosts[at].durable = self.hosts[at].log.len();
            if !self.has_fault(Fault::RecordNotDurable) {
                self.report_log(at);
            }
        }
    }

    pub(super) fn report_promise(&mut self, at: usize, promise: Promise) {
        let host = &mut self.hosts[at];
        host.durable = host.log.len();
        let tail = host.tail(host.durable);
        self.input(at, Input::PromiseWritten(promise, tail));
    }

    /// Reports the whole log as durable.
    pub(super) fn report_log(&mut self, at: usize) {
        let host = &self.hosts[at];
        let tail = host.tail(host.log.len());
        let end = tail.end();
        // The faults: what a member would not do.
        if let Some(stream) = host.stream.filter(|_| self.has_fault(Fault::EpochUnchecked))
            && stream.kind == StreamKind::Follow
        {
            let copy = Message::Copy {
                epoch: stream.epoch,
                end,
                sent: Millis(0),
            };
            self.send(at, self.place(stream.source), copy);
            let StoredPromise::Whole(promise) = self.hosts[at].promise else {
                return;
            };
            if promise.epoch != stream.epoch {
                return;
            }
        }
        self.input(at, Input::LogEnd(tail.clone()));
        let epoch = tail.rank().epoch;
        let is_start = tail
            .start_of_last(epoch)
            .is_some_and(|start| start.0 + 1 == end.0);
        if self.has_fault(Fault::StartUnacknowledged) && is_start && self.hosts[at].serves == Some(epoch) {
            for other in 1..=self.hosts.len() as u32 {
                let copy = Message::Copy {
                    epoch,
                    end,
                    sent: Millis(0),
                };
                self.input(at, Input::Message(MemberId(other), copy));
            }
        }
    }

    pub(super) fn run_clients(&mut self, at: usize) {
        let Some(epoch) = self.hosts[at].accepts else {
            return;
        };
        if self.is_chaos && self.random.chance(self.rates.write) {
            for _ in 0..=self.random.below(2) {
                self.write(at, epoch);
            }
        }
    }

    pub(super) fn write(&mut self, at: usize, epoch: Epoch) -> u64 {
        self.numbers += 1;
        let number = self.numbers;
        let primary = self.hosts[at].id;
        self.append(
            at,
            &[Entry {
                epoch,
                primary,
                number,
            }],
        );
        number
    }

    pub(super) fn append(&mut self, at: usize, entries: &[Entry]) {
        self.hosts[at].log.extend_from_slice(entries);
        if self.has_fault(Fault::RecordNotDurable) {
            self.report_log(at);
        }
    }

    pub(super) fn run_stream(&mut self, at: usize) {
        let host = &self.hosts[at];
        let from = host.log.len() as u64;
        if let Some(stream) = host.stream.filter(|stream| from < stream.end)
            && self.random.chance(700)
        {
            let (kind, epoch) = (stream.kind, stream.epoch);
            let source = Address::Host(self.place(stream.source));
            self.transmit(Packet {
                from: Address::Host(at),
                to: source,
                body: Body::Pull { kind, epoch, from },
            });
        }
    }

    pub(super) fn ask_etcd(&mut self, at: usize) {
        let host = &self.hosts[at];
        if self.now >= host.etcd_heard + 400 {
            self.input(at, Input::EtcdAway);
        }
        if self.now >= self.hosts[at].etcd_asked + 150 {
            self.request(at, Request::Read);
        }
    }

    pub(super) fn request(&mut self, at: usize, request: Request) {
        let host = &mut self.hosts[at];
        host.etcd_asked = self.now;
        let incarnation = host.incarnation;
        self.transmit(Packet {
            from: Address::Host(at),
            to: Address::Etcd,
            body: Body::Request { incarnation, request },
        });
    }

    pub(super) fn input(&mut self, at: usize, input: Input) {
        if self.violation.is_some() {
            return;
        }
        let host = &mut self.hosts[at];
        let (id, clock) = (host.id, host.clock(self.now));
        let Some(member) = &mut host.member else {
            return;
        };
        let is_shown = self.lines.is_some() && input != Input::Tick;
        let shown = is_shown.then(|| format!("{id} ◀ {input:?}"));
        let actions = member.handle(clock, input);
        if let Some(shown) = shown {
            self.log(|| shown);
        }
        for action in actions {
            self.perform(at, action);
        }
    }

    pub(super) fn perform(&mut self, at: usize, action: Action) {
        let id = self.hosts[at].id;
        self.log(|| format!("{id} ▶ {action:?}"));
        match action {
            Action::Send(to, message) => self.perform_send(at, to, message),
            Action::WritePromise(promise) => {
                let is_checked = !self.has_fault(Fault::EpochUnchecked);
                let done = self.now + TICK_MS * (1 + self.random.below(3));
                let host = &mut self.hosts[at];
                host.writing = Some((done, promise));
                host.serves = None;
                if is_checked {
                    host.stream = None;
                    host.accepts = None;
                }
                if self.has_fault(Fault::PromiseNotDurable) {
                    self.report_promise(at, promise);
                }
            }
            Action::Claim { record, newest } => self.request(at, Request::Claim { record, newest }),
            Action::MarkOpened(record) => self.request(at, Request::MarkOpened(record)),
            Action::Fetch {
                from,
                epoch,
                at: length,
                upto,
            } => {
                self.cut(at, length, StreamKind::Fetch);
                self.hosts[at].stream = Some(Stream {
                    kind: StreamKind::Fetch,
                    source: from,
                    epoch,
                    end: upto.end.0,
                });
            }
            Action::Follow {
                primary,
                epoch,
                at: length,
            } => {
                self.cut(at, length, StreamKind::Follow);
                self.hosts[at].stream = Some(Stream {
                    kind: StreamKind::Follow,
                    source: primary,
                    epoch,
                    end: u64::MAX,
                });
            }
            Action::WriteStart(epoch) => {
                self.hosts[at].stream = None;
                self.hosts[at].serves = Some(epoch);
                self.append(
                    at,
                    &[Entry {
                        epoch,
                        primary: id,
                        number: 0,
                    }],
                );
            }
            Action::Publish(upto) => self.publish(at, upto),
            Action::Open(epoch) => {
                self.hosts[at].accepts = Some(epoch);
                let result = self.oracle.open(&self.hosts, at, epoch, self.now);
                self.check(result);
            }
            Action::Hold | Action::Close => self.hosts[at].accepts = None,
            Action::ReadsUntil(until) => {
                let epoch = self.hosts[at].serves.unwrap_or_default();
                self.hosts[at].reads = (until.0, epoch);
                let result = self.oracle.reads(&self.hosts[at], self.now);
                self.check(result);
            }
            Action::MayBeLost { .. } => {
                let host = &self.hosts[at];
                let epoch = host.serves.expect("a forced epoch has a primary");
                self.oracle.force(host, epoch);
            }
            Action::SwitchRefused(_) => {}
        }
    }

    pub(super) fn perform_send(&mut self, at: usize, to: MemberId, mut message: Message) {
        if let Message::Ask { epoch, .. } = message
            && self.has_fault(Fault::FewerPromises)
        {
            self.send_invented_promise(at, to, epoch);
        }
        if let Message::Promised { tail, .. } = &mut message
            && self.has_fault(Fault::NewestLogIgnored)
        {
            *tail = LogTail::default();
        }
        self.send(at, self.place(to), message);
    }

    pub(super) fn send_invented_promise(&mut self, to: usize, from: MemberId, epoch: Epoch) {
        let tail = LogTail::default();
        self.send(self.place(from), to, Message::Promised { epoch, tail });
    }

    pub(super) fn cut(&mut self, at: usize, length: LogIndex, kind: StreamKind) {
        let length = length.0 as usize;
        let result = self.oracle.cut(&self.hosts[at], length);
        self.check(result);
        if !(self.has_fault(Fault::TailKept) && kind == StreamKind::Follow) {
            self.hosts[at].cut(length);
        }
    }

    pub(super) fn publish(&mut self, at: usize, upto: LogIndex) {
        let upto = upto.0 as usize;
        let host = &self.hosts[at];
        let configuration = host
            .serves
            .and_then(|epoch| Some((epoch, configuration(&self.records, epoch, host.id)?)));
        let result = self.oracle.publish(&self.hosts, at, upto, configuration);
        self.check(result);
        self.hosts[at].published = upto;
    }

    /// Hands over to another server, if there is one. With nothing in its way that must be quick.
    fn switch_over(&mut self) {
        // Claims that were on their way have arrived.
        (0..SETTLE_TICKS).for_each(|_| self.step());
        let Some(first) = self.open_primary() else {
            return;
        };
        for ticks in 0..SWITCH_TICKS_MAX {
            match (self.open_primary(), self.switch_target(first)) {
                (_, None) => return,
                // It is refused while another change is under way, and repeated.
                (Some(primary), Some(target)) if primary == first => self.input(first, Input::Switch(target)),
                (Some(_), Some(_)) => {
                    self.statistics.switch_ticks_max = ticks;
                    return;
                }
                (None, Some(_)) => {}
            }
            self.step();
        }
        self.check(Err("a planned switch takes too long".to_owned()));
    }

    /// Returns another server of the configuration of the newest epoch that has opened.
    fn switch_target(&self, primary: usize) -> Option<MemberId> {
        let newest = self.oracle.newest_opened();
        let record = self.records.iter().rfind(|record| record.epoch == newest)?;
        let mut servers = record.configuration.holders().iter().filter(|holder| {
            let at = self.place(holder.id);
            holder.kind == HolderKind::Server && at != primary && !self.hosts[at].is_destroyed
        });
        servers.next().map(|server| server.id)
    }

    /// Returns the primary of the newest epoch that has opened, if it accepts transactions.
    pub(super) fn open_primary(&self) -> Option<usize> {
        let newest = self.oracle.newest_opened();
        self.hosts.iter().position(|host| host.accepts == Some(newest))
    }

    /// Writes a transaction if there is an open primary.
    pub(super) fn write_probe(&mut self) -> Option<u64> {
        let at = self.open_primary()?;
        Some(self.write(at, self.oracle.newest_opened()))
    }

    /// Returns whether the open primary's log has the transaction.
    pub(super) fn has_probe(&self, number: u64) -> bool {
        let primary = self.open_primary().map(|at| &self.hosts[at]);
        primary.is_some_and(|host| host.log.iter().any(|entry| entry.number == number))
    }

    /// Returns whether the transaction is published, and all holders and listed members have the primary's log.
    pub(super) fn has_healed(&self, number: u64) -> bool {
        let Some(primary) = self.open_primary().map(|at| &self.hosts[at]) else {
            return false;
        };
        let configuration = primary
            .serves
            .and_then(|epoch| configuration(&self.records, epoch, primary.id));
        let Some(configuration) = configuration else {
            return false;
        };
        let has_all = |id: MemberId| {
            let host = &self.hosts[self.place(id)];
            host.is_destroyed || host.log[..host.durable] == primary.log
        };
        let must_be_copied = |id: MemberId| {
            let member = self.hosts[self.place(id)].member.as_ref();
            member.is_some_and(|member| member.status().waits == Some(Wait::Copying))
        };
        let listed = self.etcd.members.iter().map(|member| member.id);
        let mut listed = listed.filter(|id| !must_be_copied(*id));
        let is_published = primary.published == primary.log.len();
        is_published
            && self.has_probe(number)
            && configuration.holders().iter().all(|holder| has_all(holder.id))
            && listed.all(has_all)
    }
}
