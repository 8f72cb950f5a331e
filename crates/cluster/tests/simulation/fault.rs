//! Broken rules. Each must be found; otherwise the simulation proves nothing about that rule.
//!
//! Two rules are not among them, because no schedule was found that needs them: that a holder serves a fetch only
//! while its promise is the fetching candidate's (otherwise a log of just the right length would have to grow in the
//! middle of the fetch), and that a holder waits for its grant after a restart.

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
    /// A holder that follows keeps what its primary lacks.
    TailKept,
    /// A server publishes its whole log when it starts.
    TailPublished,
    /// The configurations of epochs that may not have opened are forgotten.
    ConfigurationsForgotten,
    /// The speeds of clocks differ by more than grants allow for.
    ClocksDrift,
}

impl Fault {
    pub const ALL: [Fault; 11] = [
        Fault::FewerPromises,
        Fault::NewestLogIgnored,
        Fault::EpochUnchecked,
        Fault::StartUnacknowledged,
        Fault::PromiseNotDurable,
        Fault::RecordNotDurable,
        Fault::TornPromiseIgnored,
        Fault::TailKept,
        Fault::TailPublished,
        Fault::ConfigurationsForgotten,
        Fault::ClocksDrift,
    ];
}
