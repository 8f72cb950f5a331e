//! An etcd that keeps what it is told. Whether it answers is the network's affair.

use paceline_cluster::{
    Claimer, Configuration, Elections, Epoch, EpochRecord, EtcdState, MemberId, Progress,
};

/// Time after which a lease expires.
const LEASE_MS: u64 = 300;

#[derive(Clone, Debug)]
pub enum Request {
    Read,
    Claim { record: EpochRecord, newest: Epoch },
    MarkOpened(Epoch),
}

pub struct Etcd {
    pub records: Vec<EpochRecord>,
    pub wanted: Option<Configuration>,
    pub elections: Elections,
    /// When the newest epoch's claimer was heard last.
    claimer_heard: u64,
}

impl Etcd {
    pub fn new(founding: EpochRecord) -> Self {
        Etcd {
            records: vec![founding],
            wanted: None,
            elections: Elections::Active,
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
                    self.records.push(record);
                }
            }
            Request::MarkOpened(epoch) => {
                if let Some(at) = self.records.iter().position(|record| record.epoch == epoch) {
                    self.records[at].progress = Progress::Opened;
                    self.records.drain(..at);
                    let opened = &self.records[0].configuration;
                    self.wanted = self.wanted.take().filter(|wanted| wanted != opened);
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
        }
    }
}
