//! An etcd that keeps what it is told. Whether it answers is the network's affair.

use paceline_cluster::{
    Claimer, Configuration, Elections, Epoch, EpochRecord, EtcdState, ListedMember, MemberId, Origin,
    Progress,
};

/// Time after which a lease expires.
const LEASE_MS: u64 = 300;

#[derive(Clone, Debug)]
pub enum Request {
    Read,
    Claim { record: EpochRecord, newest: Epoch },
    MarkOpened(EpochRecord),
}

pub struct Etcd {
    pub records: Vec<EpochRecord>,
    pub wanted: Option<Configuration>,
    pub elections: Elections,
    /// The directory.
    pub members: Vec<ListedMember>,
    /// When the newest epoch's claimer was heard last.
    claimer_heard: u64,
}

impl Etcd {
    pub fn new(founding: EpochRecord) -> Self {
        Etcd {
            records: vec![founding],
            wanted: None,
            elections: Elections::Active,
            members: Vec::new(),
            claimer_heard: 0,
        }
    }

    pub fn newest(&self) -> &EpochRecord {
        self.records.last().expect("there is always a record")
    }

    /// Executes the request and returns the state after it.
    pub fn execute(&mut self, from: MemberId, request: Request, now: u64) -> EtcdState {
        match request {
            Request::Read => {}
            Request::Claim { record, newest } => {
                if self.newest().epoch == newest {
                    let is_replaced = |older: &EpochRecord| {
                        let has_not_opened =
                            older.progress == Progress::Claimed && older.origin == Origin::Regular;
                        has_not_opened && older.configuration == record.configuration
                    };
                    self.records.retain(|older| !is_replaced(older));
                    self.records.push(record);
                }
            }
            Request::MarkOpened(opened) => {
                let is_later = |record: &EpochRecord| {
                    record.epoch >= opened.epoch && record.progress == Progress::Opened
                };
                if !self.records.iter().any(is_later) {
                    self.wanted = self
                        .wanted
                        .take()
                        .filter(|wanted| *wanted != opened.configuration);
                    self.records.retain(|record| record.epoch > opened.epoch);
                    self.records.insert(0, opened);
                }
            }
        }
        if self.newest().primary == from {
            self.claimer_heard = now;
        }
        EtcdState {
            records: self.records.clone(),
            claimer: match now <= self.claimer_heard + LEASE_MS {
                true => Claimer::Alive,
                false => Claimer::Gone,
            },
            wanted: self.wanted.clone(),
            elections: self.elections,
            members: self.members.clone(),
        }
    }
}
