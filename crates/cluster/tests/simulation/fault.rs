//! Broken rules. Each must be found; otherwise the simulation proves nothing about that rule.

/// Rule that is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A candidate has one promise that was never given: N − W suffice.
    FewerPromises,
    /// A candidate learns nothing about the logs of those that have promised.
    NewestLogIgnored,
    /// A holder acknowledges records of an epoch that is older than its promise.
    EpochUnchecked,
    /// A primary opens before the start of its epoch is acknowledged.
    StartUnacknowledged,
    /// A promise is told before it is durable.
    PromiseNotDurable,
    /// A record is acknowledged before it is durable.
    RecordNotDurable,
    /// A torn promise counts as none.
    TornPromiseIgnored,
    /// A candidate fetches from a holder that has meanwhile promised another.
    FetchUnchecked,
    /// A holder that follows keeps what its primary lacks.
    TailKept,
    /// A server publishes its whole log when it starts.
    TailPublished,
    /// The configurations of epochs that may not have opened are forgotten.
    ConfigurationsForgotten,
    /// A holder forgets at a restart that it has answered a pulse.
    GrantForgotten,
}

impl Fault {
    pub const ALL: [Fault; 12] = [
        Fault::FewerPromises,
        Fault::NewestLogIgnored,
        Fault::EpochUnchecked,
        Fault::StartUnacknowledged,
        Fault::PromiseNotDurable,
        Fault::RecordNotDurable,
        Fault::TornPromiseIgnored,
        Fault::FetchUnchecked,
        Fault::TailKept,
        Fault::TailPublished,
        Fault::ConfigurationsForgotten,
        Fault::GrantForgotten,
    ];
}
