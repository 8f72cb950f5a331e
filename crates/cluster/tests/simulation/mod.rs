//! A simulated cluster: members, their disks and clocks, a network and an etcd, all of which fail.
//!
//! ```text
//!   operator, accidents ──▶ hosts: member ⇄ disk, clock, log ⇄ network ⇄ etcd
//!                              └── every action ──▶ oracle: what must always hold
//! ```
//!
//! A seed determines a schedule: first a time of accidents, then a time in which everything works. At each step the
//! oracle checks safety. At the end a primary must open within [`HEAL_TICKS_MAX`] ticks, publish a transaction, and
//! have it on every holder. With the same seed the same happens; a failure is repeated with a trace of it.
#![allow(dead_code, reason = "tests and the example use different parts of it")]

mod etcd;
mod fault;
mod host;
mod oracle;
mod random;

use etcd::{Etcd, Request};
pub use fault::Fault;
use host::{Entry, Host, Stream, StreamKind};
use oracle::{Oracle, Violation};
use paceline_cluster::{
    Action, Configuration, Elections, Epoch, EpochRecord, EtcdState, Holder, HolderKind, Input, Leave,
    LogIndex, LogTail, MemberId, Message, Millis, Origin, Progress, Promise, StoredPromise, Timing,
};
use random::Random;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

const TICK_MS: u64 = 25;
const CHAOS_TICKS: u64 = 160;
/// Bound of the time in which a healed cluster must work again.
pub const HEAL_TICKS_MAX: u64 = 400;
/// Number of ticks that a packet may be delayed, exclusive.
const DELAY_TICKS_MAX: usize = 32;
/// Number of lines of a trace that a failure shows.
const TRACE_LINES_MAX: usize = 100;
/// Longest line of a trace, in bytes.
const LINE_MAX: usize = 600;
/// Maximum number of records in a packet. During accidents there is one, so that copying takes long.
const BATCH_MAX: usize = 12;

const TIMING: Timing = Timing {
    pulse: 50,
    silence: 200,
    grant: 200,
    drift_percent: 5,
    rank_step: 50,
    patience: 250,
    switch: 300,
};

/// What a schedule is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Accidents from which a cluster recovers by itself.
    Accidents,
    /// Too many disks are lost, and an operator forces an epoch.
    Disaster,
    /// etcd gives out epochs twice, as if it were restored from a copy.
    ForgetfulEtcd,
}

impl Plan {
    pub const ALL: [Plan; 3] = [Plan::Accidents, Plan::Disaster, Plan::ForgetfulEtcd];
}

/// A schedule.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub seed: u64,
    pub plan: Plan,
    pub fault: Option<Fault>,
}

/// What has happened in a schedule, or in many.
#[derive(Clone, Copy, Default, Debug)]
pub struct Statistics {
    pub opened: u64,
    pub acknowledged: u64,
    pub packets: u64,
    pub heal_ticks_max: u64,
}

impl Statistics {
    pub fn add(&mut self, other: Statistics) {
        self.opened += other.opened;
        self.acknowledged += other.acknowledged;
        self.packets += other.packets;
        self.heal_ticks_max = self.heal_ticks_max.max(other.heal_ticks_max);
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics {
            opened,
            acknowledged,
            packets,
            heal_ticks_max,
        } = self;
        let heal_ms = heal_ticks_max * TICK_MS;
        write!(
            f,
            "{opened} epochs opened, {acknowledged} transactions acknowledged, {packets} packets, healed within {heal_ms} ms"
        )
    }
}

/// Runs a schedule.
///
/// # Errors
/// The violated property.
pub fn run(schedule: Schedule) -> Result<Statistics, Violation> {
    World::new(schedule, None).run()
}

/// Runs a schedule. That a member panics is a violation, too.
///
/// # Errors
/// The violated property.
pub fn run_caught(schedule: Schedule) -> Result<Statistics, Violation> {
    let result = catch_unwind(AssertUnwindSafe(|| run(schedule)));
    result.unwrap_or_else(|_| Err("a member panicked".to_owned()))
}

/// Runs schedules with these seeds, on two threads.
///
/// # Errors
/// The trace of a schedule that failed.
pub fn run_many(plan: Plan, seeds: Range<u64>) -> Result<Statistics, String> {
    const THREADS: u64 = 2;
    let run_part = |part: u64| {
        let mut statistics = Statistics::default();
        for seed in seeds.clone().filter(|seed| seed % THREADS == part) {
            let schedule = Schedule {
                seed,
                plan,
                fault: None,
            };
            match run_caught(schedule) {
                Ok(of_one) => statistics.add(of_one),
                Err(_) => return Err(trace(schedule, TRACE_LINES_MAX)),
            }
        }
        Ok(statistics)
    };
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|part| scope.spawn(move || run_part(part)))
            .collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().expect("panics are caught"));
        results.collect::<Result<Vec<_>, _>>()
    });
    let mut statistics = Statistics::default();
    parts?.into_iter().for_each(|part| statistics.add(part));
    Ok(statistics)
}

/// Runs a schedule again and returns the last lines of its trace, and how it ended.
pub fn trace(schedule: Schedule, lines_max: usize) -> String {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let world = World::new(schedule, Some(lines.clone()));
    let result = catch_unwind(AssertUnwindSafe(|| world.run()));
    let result = result.unwrap_or_else(|_| Err("a member panicked".to_owned()));
    let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    let from = lines.len().saturating_sub(lines_max);
    format!("{}\n{schedule:?}: {result:?}", lines[from..].join("\n"))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Address {
    Host(usize),
    Etcd,
}

#[derive(Clone, Debug)]
enum Body {
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
struct Packet {
    from: Address,
    to: Address,
    body: Body,
}

/// How often what happens, per 1,000 ticks, and for some of it per host. Each schedule has its own: what is rare
/// together is frequent when other things do not disturb it.
#[derive(Clone, Copy, Debug)]
struct Rates {
    crash: u64,
    freeze: u64,
    switch: u64,
    cut: u64,
    isolation: u64,
    loss: u64,
    etcd: u64,
    configuration: u64,
    write: u64,
}

impl Rates {
    fn new(random: &mut Random) -> Self {
        let mut rate = |usual: u64| usual * [0, 1, 1, 4][random.index(4)];
        Rates {
            crash: rate(10),
            freeze: rate(5),
            switch: rate(10),
            cut: rate(30),
            isolation: rate(15),
            loss: rate(10),
            etcd: rate(10),
            configuration: rate(20),
            write: 200 + rate(150),
        }
    }
}

struct World {
    schedule: Schedule,
    rates: Rates,
    timing: Timing,
    random: Random,
    tick: u64,
    now: u64,
    hosts: Vec<Host>,
    etcd: Etcd,
    /// All records that etcd has ever had.
    records: Vec<EpochRecord>,
    is_etcd_up: bool,
    /// Packets by the tick in which they arrive, modulo the longest delay.
    packets: Vec<Vec<Packet>>,
    /// Cut connections, in one direction each. The last row and column are etcd's.
    cuts: Vec<Vec<bool>>,
    loss_permille: u64,
    is_chaos: bool,
    numbers: u64,
    oracle: Oracle,
    violation: Option<Violation>,
    statistics: Statistics,
    lines: Option<Arc<Mutex<Vec<String>>>>,
}

/// Returns the configuration of an epoch.
fn configuration(records: &[EpochRecord], epoch: Epoch, primary: MemberId) -> Option<&Configuration> {
    let mut records = records.iter();
    let record = records.find(|record| (record.epoch, record.primary) == (epoch, primary));
    record.map(|record| &record.configuration)
}

impl World {
    fn new(schedule: Schedule, lines: Option<Arc<Mutex<Vec<String>>>>) -> Self {
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
        let grant = [TIMING.grant, TIMING.grant, 1500][random.index(3)];
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
        world.oracle.clocks_are_honest = schedule.plan == Plan::Accidents && world.random.chance(500);
        for at in 0..count {
            world.start(at);
        }
        world
    }

    fn run(mut self) -> Result<Statistics, Violation> {
        self.run_to_the_end();
        self.statistics.opened = self.oracle.opened() as u64;
        self.statistics.acknowledged = self.oracle.acknowledged() as u64;
        match self.violation {
            Some(violation) => Err(violation),
            None => Ok(self.statistics),
        }
    }

    fn run_to_the_end(&mut self) {
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

    fn log(&mut self, line: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            let mut line = format!("{:5} {}", self.now, line());
            line.truncate(line.floor_char_boundary(LINE_MAX));
            lines.lock().expect("only one thread writes").push(line);
        }
    }

    fn check(&mut self, result: Result<(), Violation>) {
        if let Err(violation) = result {
            self.log(|| format!("VIOLATION {violation}"));
            self.violation.get_or_insert(violation);
        }
    }

    fn has_fault(&self, fault: Fault) -> bool {
        self.schedule.fault == Some(fault)
    }

    /// Returns the host of a member.
    fn place(&self, id: MemberId) -> usize {
        id.0 as usize - 1
    }

    // --- Time -----------------------------------------------------------------------------------------------------

    fn step(&mut self) {
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

    fn is_running(&self, at: usize) -> bool {
        let host = &self.hosts[at];
        host.member.is_some() && host.frozen_until <= self.now
    }

    fn run_disk(&mut self, at: usize) {
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

    fn report_promise(&mut self, at: usize, promise: Promise) {
        let host = &mut self.hosts[at];
        host.durable = host.log.len();
        let tail = host.tail(host.durable);
        self.input(at, Input::PromiseWritten(promise, tail));
    }

    /// Reports the whole log as durable.
    fn report_log(&mut self, at: usize) {
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

    fn run_clients(&mut self, at: usize) {
        let Some(epoch) = self.hosts[at].accepts else {
            return;
        };
        if self.is_chaos && self.random.chance(self.rates.write) {
            for _ in 0..=self.random.below(2) {
                self.write(at, epoch);
            }
        }
    }

    fn write(&mut self, at: usize, epoch: Epoch) -> u64 {
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

    fn append(&mut self, at: usize, entries: &[Entry]) {
        self.hosts[at].log.extend_from_slice(entries);
        if self.has_fault(Fault::RecordNotDurable) {
            self.report_log(at);
        }
    }

    fn run_stream(&mut self, at: usize) {
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

    fn ask_etcd(&mut self, at: usize) {
        let host = &self.hosts[at];
        if self.now >= host.etcd_heard + 400 {
            self.input(at, Input::EtcdAway);
        }
        if self.now >= self.hosts[at].etcd_asked + 150 {
            self.request(at, Request::Read);
        }
    }

    fn request(&mut self, at: usize, request: Request) {
        let host = &mut self.hosts[at];
        host.etcd_asked = self.now;
        let incarnation = host.incarnation;
        self.transmit(Packet {
            from: Address::Host(at),
            to: Address::Etcd,
            body: Body::Request { incarnation, request },
        });
    }

    // --- Network --------------------------------------------------------------------------------------------------

    fn send(&mut self, from: usize, to: usize, message: Message) {
        self.transmit(Packet {
            from: Address::Host(from),
            to: Address::Host(to),
            body: Body::Message(message),
        });
    }

    fn row(&self, address: Address) -> usize {
        match address {
            Address::Host(at) => at,
            Address::Etcd => self.hosts.len(),
        }
    }

    fn transmit(&mut self, packet: Packet) {
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

    fn arrive(&mut self, packet: Packet) {
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

    fn arrive_at_etcd(&mut self, from: usize, body: Body) {
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

    fn serve(&mut self, at: usize, to: usize, kind: StreamKind, epoch: Epoch, from: u64) {
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

    fn take_records(
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

    // --- Members --------------------------------------------------------------------------------------------------

    fn input(&mut self, at: usize, input: Input) {
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

    fn perform(&mut self, at: usize, action: Action) {
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
                self.hosts[at].reads_until = until.0;
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

    fn perform_send(&mut self, at: usize, to: MemberId, mut message: Message) {
        if let Message::Ask { epoch, leave } = &mut message {
            if self.has_fault(Fault::GrantIgnored) {
                *leave = Leave::Forced;
            }
            if self.has_fault(Fault::FewerPromises) {
                self.send_invented_promise(at, to, *epoch);
            }
        }
        if let Message::Promised { tail, .. } = &mut message
            && self.has_fault(Fault::NewestLogIgnored)
        {
            *tail = LogTail::default();
        }
        self.send(at, self.place(to), message);
    }

    fn send_invented_promise(&mut self, to: usize, from: MemberId, epoch: Epoch) {
        let tail = LogTail::default();
        self.send(self.place(from), to, Message::Promised { epoch, tail });
    }

    fn cut(&mut self, at: usize, length: LogIndex, kind: StreamKind) {
        let length = length.0 as usize;
        let result = self.oracle.cut(&self.hosts[at], length);
        self.check(result);
        if !(self.has_fault(Fault::TailKept) && kind == StreamKind::Follow) {
            self.hosts[at].cut(length);
        }
    }

    fn publish(&mut self, at: usize, upto: LogIndex) {
        let upto = upto.0 as usize;
        let host = &self.hosts[at];
        let configuration = host
            .serves
            .and_then(|epoch| Some((epoch, configuration(&self.records, epoch, host.id)?)));
        let result = self.oracle.publish(&self.hosts, at, upto, configuration);
        self.check(result);
        self.hosts[at].published = upto;
    }

    // --- Accidents and operators ----------------------------------------------------------------------------------

    fn start(&mut self, at: usize) {
        let honest = self.oracle.clocks_are_honest;
        let (offset, speed) = (self.random.below(1_000_000), self.random.below(41));
        let publishes = self.has_fault(Fault::TailPublished);
        let ignores_torn = self.has_fault(Fault::TornPromiseIgnored);
        let (now, timing) = (self.now, self.timing);
        let host = &mut self.hosts[at];
        host.clock_offset = 10_000 + offset;
        host.clock_permille = if honest { 980 + speed } else { 500 + speed * 25 };
        host.etcd_asked = 0;
        host.etcd_heard = now;
        if ignores_torn && host.promise == StoredPromise::Torn {
            host.promise = StoredPromise::Whole(Promise::NONE);
        }
        let clock = host.clock(now);
        host.start(timing, clock);
        let id = host.id;
        if publishes {
            let end = self.hosts[at].durable as u64;
            self.publish(at, LogIndex(end));
        }
        self.log(|| format!("{id} starts"));
    }

    fn crash(&mut self, at: usize) {
        if self.hosts[at].member.is_none() {
            return;
        }
        let id = self.hosts[at].id;
        self.log(|| format!("{id} crashes"));
        let host = &mut self.hosts[at];
        let survives = host.durable + self.random.index(host.log.len() - host.durable + 1);
        host.log.truncate(survives);
        host.durable = survives;
        if let Some((_, promise)) = host.writing.take() {
            match self.random.below(3) {
                0 => {}
                1 => {
                    host.promise = StoredPromise::Whole(promise);
                    let result = self.oracle.promise(id, promise);
                    self.check(result);
                }
                // Only an etcd that forgets nothing bounds a promise that is lost.
                _ if self.schedule.plan == Plan::ForgetfulEtcd => {}
                _ => host.promise = StoredPromise::Torn,
            }
        }
        let host = &mut self.hosts[at];
        host.applied += self.random.index(host.published - host.applied + 1);
        host.stop();
        for other in 0..self.hosts.len() {
            if other != at && self.is_running(other) && !self.cuts[at][other] && self.random.chance(700) {
                self.input(other, Input::Disconnected(id));
            }
        }
    }

    fn cause_accidents(&mut self) {
        let (count, rates) = (self.hosts.len(), self.rates);
        for at in 0..count {
            let is_up = self.hosts[at].member.is_some();
            if is_up && self.random.chance(rates.crash) {
                self.crash(at);
                if self.random.chance(300) {
                    self.start(at);
                }
            }
            if is_up && self.random.chance(rates.freeze) {
                self.hosts[at].frozen_until = self.now + TICK_MS * self.random.below(40);
            }
            if self.is_running(at) && self.hosts[at].accepts.is_some() && self.random.chance(rates.switch) {
                let target = MemberId(1 + self.random.below(count as u64) as u32);
                self.input(at, Input::Switch(target));
            }
            if !self.oracle.clocks_are_honest && self.random.chance(10) {
                self.hosts[at].clock_offset += self.random.below(3_600_000);
            }
            if !is_up && !self.hosts[at].is_destroyed && self.random.chance(60) {
                self.start(at);
            }
        }
        let (one, other) = (self.random.index(count + 1), self.random.index(count + 1));
        if self.random.chance(rates.cut) {
            self.cuts[one][other] = true;
            self.cuts[other][one] = self.cuts[other][one] || self.random.chance(500);
        }
        if self.random.chance(rates.cut) {
            self.cuts[other][one] = false;
        }
        if self.random.chance(rates.isolation) {
            for peer in 0..=count {
                self.cuts[one][peer] = true;
                self.cuts[peer][one] = true;
            }
        }
        if self.random.chance(35) {
            self.cuts.iter_mut().for_each(|row| row.fill(false));
        }
        if self.random.chance(rates.loss) {
            self.loss_permille = self.random.below(400);
        }
        if self.random.chance(rates.etcd) {
            self.is_etcd_up = !self.is_etcd_up;
        }
        if self.random.chance(rates.configuration) && self.schedule.plan == Plan::Accidents {
            self.want_configuration();
        }
        match self.random.below(1000) {
            0..5 => self.etcd.elections = Elections::Paused,
            5..25 => self.etcd.elections = Elections::Active,
            25..28 => (0..count).for_each(|at| self.crash(at)),
            _ => {}
        }
        if self.schedule.plan == Plan::Disaster && self.tick == CHAOS_TICKS / 2 {
            self.cause_disaster();
        }
    }

    /// An operator wants another member or number of copies.
    fn want_configuration(&mut self) {
        let newest = self.etcd.newest().clone();
        let mut holders = newest.configuration.holders().to_vec();
        let id = MemberId(1 + self.random.below(self.hosts.len() as u64) as u32);
        match holders.iter().position(|holder| holder.id == id) {
            Some(at) if id != newest.primary && self.random.chance(700) => {
                holders.remove(at);
            }
            Some(_) => {}
            None => holders.push(Holder {
                id,
                kind: HolderKind::Server,
                zone: 1,
                priority: 1,
            }),
        }
        let copies = match self.random.chance(600) {
            true => holders.len() / 2 + 1,
            false => 1 + self.random.index(holders.len()),
        };
        if let Ok(wanted) = Configuration::new(holders, copies, 1) {
            self.log(|| format!("wanted: {wanted:?}"));
            self.etcd.wanted = Some(wanted);
        }
    }

    /// Disks are lost, and the operator makes do with the others.
    fn cause_disaster(&mut self) {
        let newest = self.etcd.newest().clone();
        let servers: Vec<_> = (0..self.hosts.len())
            .filter(|at| newest.configuration.has_server(self.hosts[*at].id))
            .collect();
        let primary = servers[self.random.index(servers.len())];
        let mut survivors = vec![
            *newest
                .configuration
                .holder(self.hosts[primary].id)
                .expect("it is one"),
        ];
        for at in 0..self.hosts.len() {
            if at == primary {
                continue;
            }
            match self.random.below(3) {
                // Lost.
                0 => {
                    self.crash(at);
                    self.hosts[at].is_destroyed = true;
                }
                // Cut off, and perhaps still writing.
                1 => {
                    for peer in 0..=self.hosts.len() {
                        self.cuts[at][peer] = self.cuts[at][peer] || self.random.chance(800);
                        self.cuts[peer][at] = self.cuts[peer][at] || self.random.chance(800);
                    }
                }
                _ => survivors.extend(newest.configuration.holder(self.hosts[at].id)),
            }
        }
        let copies = survivors.len() / 2 + 1;
        let record = EpochRecord {
            epoch: newest.epoch.next(),
            primary: self.hosts[primary].id,
            configuration: Configuration::new(survivors, copies, 1).expect("it is possible"),
            origin: Origin::Forced,
            progress: Progress::Claimed,
        };
        self.log(|| format!("forced: {record:?}"));
        self.records.push(record.clone());
        self.etcd.records.push(record);
    }

    /// Everything works again.
    fn heal(&mut self) {
        self.log(|| "heals".to_owned());
        self.is_chaos = false;
        self.is_etcd_up = true;
        self.etcd.elections = Elections::Active;
        self.etcd.wanted = None;
        self.loss_permille = 0;
        self.cuts.iter_mut().for_each(|row| row.fill(false));
        for at in 0..self.hosts.len() {
            self.hosts[at].frozen_until = 0;
            if self.hosts[at].member.is_none() && !self.hosts[at].is_destroyed {
                self.start(at);
            }
            self.hosts[at].clock_permille = 1000;
            self.hosts[at].clock_offset += 1_000_000;
        }
    }

    /// Returns the primary of the newest epoch that has opened, if it accepts transactions.
    fn open_primary(&self) -> Option<usize> {
        let newest = self.oracle.newest_opened();
        self.hosts.iter().position(|host| host.accepts == Some(newest))
    }

    /// Writes a transaction if there is an open primary.
    fn write_probe(&mut self) -> Option<u64> {
        let at = self.open_primary()?;
        Some(self.write(at, self.oracle.newest_opened()))
    }

    /// Returns whether the open primary's log has the transaction.
    fn has_probe(&self, number: u64) -> bool {
        let primary = self.open_primary().map(|at| &self.hosts[at]);
        primary.is_some_and(|host| host.log.iter().any(|entry| entry.number == number))
    }

    /// Returns whether the transaction is published, and all holders have the primary's log.
    fn has_healed(&self, number: u64) -> bool {
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
        let is_published = primary.published == primary.log.len();
        is_published
            && self.has_probe(number)
            && configuration.holders().iter().all(|holder| has_all(holder.id))
    }
}
