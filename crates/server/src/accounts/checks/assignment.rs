//! Privileges for SET of a system variable.

use crate::accounts::Authority;
use crate::replica_filters::filter_kind;
use crate::variables::Variable;
use paceline_expression::session::{Privilege, VariableScope};
use paceline_syntax::Result;

/// Checks whether the account may assign a variable in this scope.
///
/// # Errors
/// 1227.
pub fn check_assignment(authority: Authority<'_>, variable: Variable, scope: VariableScope) -> Result<()> {
    match needed_to_assign(variable, scope) {
        [] => Ok(()),
        needed => authority.require_any(needed),
    }
}

/// Returns the privileges of which MariaDB requires one for this assignment; empty if it requires none.
fn needed_to_assign(variable: Variable, scope: VariableScope) -> &'static [Privilege] {
    use Privilege::*;
    use Variable as V;
    let global = scope == VariableScope::Global;
    match variable {
        V::SqlLogBin
        | V::BinlogFormat
        | V::BinlogAnnotateRowEvents
        | V::BinlogRowImage
        | V::BinlogDirectNonTransactionalUpdates => &[Super, BinlogAdmin],
        V::PacelineLoadGenerated => &[Super, BinlogReplay],
        V::GtidDomainId | V::ServerId | V::GtidSeqNo | V::PseudoThreadId | V::PseudoSlaveMode if !global => {
            &[Super, BinlogReplay]
        }
        _ if !global => &[],
        V::ReadOnly => &[ReadOnlyAdmin],
        V::GtidDomainId | V::ServerId | V::GtidBinlogState | V::MasterVerifyChecksum => {
            &[Super, ReplicationMasterAdmin]
        }
        V::GtidSlavePos
        | V::GtidStrictMode
        | V::GtidIgnoreDuplicates
        | V::GtidCleanupBatchSize
        | V::GtidPosAutoEngines
        | V::InitSlave
        | V::ReadBinlogSpeedLimit
        | V::RelayLogPurge
        | V::RelayLogRecovery
        | V::SlaveCompressedProtocol
        | V::SlaveDdlExecMode
        | V::SlaveDomainParallelThreads
        | V::SlaveExecMode
        | V::SlaveMaxAllowedPacket
        | V::SlaveNetTimeout
        | V::SlaveParallelMaxQueued
        | V::SlaveParallelMode
        | V::SlaveParallelThreads
        | V::SlaveParallelWorkers
        | V::SlaveRunTriggersForRbr
        | V::SlaveSqlVerifyChecksum
        | V::SlaveTransactionRetryInterval
        | V::SlaveTypeConversions
        | V::SyncMasterInfo
        | V::SyncRelayLog
        | V::SyncRelayLogInfo
        | V::SqlSlaveSkipCounter
        | V::MasterRetryCount
        | V::RplSemiSyncSlaveEnabled
        | V::RplSemiSyncSlaveDelayMaster
        | V::RplSemiSyncSlaveKillConnTimeout
        | V::RplSemiSyncSlaveTraceLevel
        | V::ReplicateEventsMarkedForSkip => &[Super, ReplicationSlaveAdmin],
        variable if filter_kind(variable).is_some() => &[Super, ReplicationSlaveAdmin],
        V::RplSemiSyncMasterEnabled
        | V::RplSemiSyncMasterTimeout
        | V::RplSemiSyncMasterTraceLevel
        | V::RplSemiSyncMasterWaitForSlaveCount
        | V::RplSemiSyncMasterWaitNoSlave
        | V::RplSemiSyncMasterWaitPoint => &[Super, ReplicationMasterAdmin],
        V::SyncBinlog
        | V::ExpireLogsDays
        | V::BinlogExpireLogsSeconds
        | V::MaxBinlogSize
        | V::MaxBinlogCacheSize
        | V::BinlogLargeCommitThreshold
        | V::BinlogCommitWaitCount
        | V::BinlogCommitWaitUsec
        | V::BinlogCacheSize
        | V::BinlogFileCacheSize
        | V::BinlogStmtCacheSize
        | V::BinlogRowMetadata
        | V::BinlogChecksum
        | V::LogBinCompress
        | V::LogBinCompressMinLen
        | V::LogBinTrustFunctionCreators
        | V::MaxBinlogStmtCacheSize => &[Super, BinlogAdmin],
        V::ConnectTimeout
        | V::MaxConnections
        | V::MaxConnectErrors
        | V::MaxPasswordErrors
        | V::DisconnectOnExpiredPassword
        | V::ExtraMaxConnections
        | V::InitConnect
        | V::ProxyProtocolNetworks
        | V::SecureAuth
        | V::ThreadPoolIdleTimeout
        | V::ThreadPoolMaxThreads
        | V::ThreadPoolOversubscribe
        | V::ThreadPoolStallLimit
        | V::SlowLaunchTime => &[Super, ConnectionAdmin],
        _ => &[Super],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::authority::tests::{Holder, outcome_of};

    #[test]
    fn a_session_may_set_its_own_values_except_those_of_the_log() {
        let check = |holder: &Holder, variable, scope| {
            outcome_of(check_assignment(holder.authority(), variable, scope)).0
        };
        let nobody = Holder::new(&[], &[]);
        assert_eq!(check(&nobody, Variable::SqlMode, VariableScope::Session), 0);
        assert_eq!(check(&nobody, Variable::SqlMode, VariableScope::Default), 0);
        assert_eq!(check(&nobody, Variable::SqlMode, VariableScope::Global), 1227);
        for variable in [Variable::SqlLogBin, Variable::ServerId, Variable::GtidSeqNo] {
            assert_eq!(check(&nobody, variable, VariableScope::Session), 1227);
        }
        let replayer = Holder::new(&[Privilege::BinlogReplay], &[]);
        assert_eq!(check(&replayer, Variable::GtidSeqNo, VariableScope::Session), 0);
        assert_eq!(
            check(&replayer, Variable::SqlLogBin, VariableScope::Session),
            1227
        );
    }

    #[test]
    fn global_values_belong_to_the_administrators_of_their_subject() {
        for (variable, privilege) in [
            (Variable::ReadOnly, Privilege::ReadOnlyAdmin),
            (Variable::GtidBinlogState, Privilege::ReplicationMasterAdmin),
            (Variable::SlaveExecMode, Privilege::ReplicationSlaveAdmin),
            (Variable::LogBinCompress, Privilege::BinlogAdmin),
            (Variable::ThreadPoolIdleTimeout, Privilege::ConnectionAdmin),
            (Variable::ServerId, Privilege::ReplicationMasterAdmin),
            (Variable::GtidSlavePos, Privilege::ReplicationSlaveAdmin),
            (Variable::ReplicateDoDb, Privilege::ReplicationSlaveAdmin),
            (Variable::SyncBinlog, Privilege::BinlogAdmin),
            (Variable::MaxConnections, Privilege::ConnectionAdmin),
            (Variable::SortBufferSize, Privilege::Super),
        ] {
            let holder = Holder::new(&[privilege], &[]);
            let done = check_assignment(holder.authority(), variable, VariableScope::Global);
            assert!(done.is_ok(), "{privilege:?}");
            let others = Holder::new(&[Privilege::Reload], &[]);
            assert!(check_assignment(others.authority(), variable, VariableScope::Global).is_err());
        }
    }
}
