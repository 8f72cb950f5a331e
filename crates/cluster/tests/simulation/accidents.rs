//! Failures, actions of operators, and the end of all failures.

use super::Plan;
use super::fault::Fault;
use super::random::Random;
use super::world::{CHAOS_TICKS, TICK_MS, World};
use paceline_cluster::{
    Configuration, Elections, EpochRecord, Holder, HolderKind, Input, LogIndex, MemberId, Origin, Progress,
    Promise, StoredPromise,
};

/// Frequency of each failure per 1,000 ticks, for some failures per host. Each schedule has other frequencies, because
/// some sequences of failures are only likely if other failures are rare.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    crash: u64,
    /// A crash while a promise is being written.
    tear: u64,
    freeze: u64,
    switch: u64,
    cut: u64,
    isolation: u64,
    loss: u64,
    etcd: u64,
    configuration: u64,
    pub(super) write: u64,
}

impl Rates {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut rate = |usual: u64| usual * [0, 0, 1, 4][random.index(4)];
        Rates {
            crash: rate(10),
            tear: rate(150),
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

impl World {
    pub(super) fn start(&mut self, at: usize) {
        let honest = self.oracle.clocks_are_honest && !self.has_fault(Fault::ClocksDrift);
        let (offset, speed) = (self.random.below(1_000_000), self.random.below(41));
        let publishes = self.has_fault(Fault::TailPublished);
        let ignores_torn = self.has_fault(Fault::TornPromiseIgnored);
        let (now, timing) = (self.now, self.timing);
        let host = &mut self.hosts[at];
        host.clock_offset = 10_000 + offset;
        host.clock_permille = if honest { 980 + speed } else { 200 + speed * 60 };
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

    pub(super) fn crash(&mut self, at: usize) {
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

    pub(super) fn cause_accidents(&mut self) {
        let (count, rates) = (self.hosts.len(), self.rates);
        for at in 0..count {
            let is_up = self.hosts[at].member.is_some();
            let is_writing = self.hosts[at].writing.is_some() && self.random.chance(rates.tear);
            if is_up && (is_writing || self.random.chance(rates.crash)) {
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
            self.log(|| format!("isolates {}", one + 1));
            // Mostly one alone, so that the others can go on.
            if self.random.chance(700) {
                self.cuts.iter_mut().for_each(|row| row.fill(false));
            }
            for peer in 0..=count {
                self.cuts[one][peer] = true;
                self.cuts[peer][one] = true;
            }
        }
        if self.random.chance(18) {
            self.log(|| "connects all".to_owned());
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
    pub(super) fn want_configuration(&mut self) {
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
    pub(super) fn cause_disaster(&mut self) {
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
    pub(super) fn heal(&mut self) {
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
}
