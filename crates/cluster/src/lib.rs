//! Cluster mode: which member is the primary, what is acknowledged, and what happens to the rest. A pure state
//! machine.
//!
//! A [`Member`] is told what happened ([`Input`]) and says what to do ([`Action`]). It has no clock, no threads, no
//! randomness, no disk and no sockets, so a simulation can run it through millions of failures (`tests/simulation`).
//! Its host, the server or the archive, does what it says, in its order.
//!
//! ```text
//!                 ┌──────────── etcd: epochs, settings ────────────┐
//!                 │ claim                                     read │
//!   candidate ────┘                                                └──▶ every member
//!      │  Ask(e)        Promised(e, log)         Pulse(e)          Copy(e, end)
//!      ├────────▶ holders ────────▶ candidate ────────▶ holders ────────▶ primary: publishes what W copies have
//!      │          promise durably   fetches the newest   cut, follow
//!      └ promises itself first      log, writes the start of e
//! ```
//!
//! # Terms
//! A *log holder* is a server or an archive; archives have only the log and never lead. An *epoch* has one primary
//! and one [`Configuration`]: N holders, of which W, the primary's copy included, must have a transaction (an
//! *acknowledgement quorum*; it can be required to span zones). A set of holders *blocks* if no acknowledgement
//! quorum exists without it; with one zone these are N − W + 1 holders. A [`LogIndex`] is a place in the log, because
//! files and offsets differ between servers; only the order of two has a meaning. The *start* of an epoch is an event
//! group in the log. The *rank* of a log is (its last epoch, its end).
//!
//! # The protocol
//! 1. **Claim.** A server appends (epoch e, itself, a configuration) to etcd's list by compare-and-swap. That gives
//!    out numbers and makes the configurations known. Nothing else rests on it.
//! 2. **Promise.** It promises e itself, then asks. A holder promises e to one primary, durably, if it has promised
//!    nothing higher. Then it acknowledges nothing of an older epoch any more. It answers with the epochs of its log
//!    and its end.
//! 3. **Newest log.** When promises of a blocking set *of every configuration since the last epoch that is known to
//!    have opened* are there, the log with the highest rank is the true one. The candidate cuts off where the two
//!    part, and fetches what it lacks.
//! 4. **Start.** It writes the start of e into its log and sends pulses. A holder that has promised e cuts its log
//!    where it leaves the primary's, follows, and acknowledges what is durable.
//! 5. **Open.** When a quorum of e's configuration has acknowledged the start, everything before it is acknowledged,
//!    too. The primary publishes it, opens for clients, and marks the epoch as opened in etcd.
//! 6. **Publish.** From then on it publishes up to the highest index that a quorum has, and says so at once.
//!    Followers publish what the primary says is published, as far as they have it.
//!
//! A member that starts is closed and publishes nothing. It follows a primary, or it goes through all of this. No
//! member continues an epoch that it began before a restart: what it wrote last may be lost.
//!
//! # Why nothing acknowledged is lost
//! *Log matching.* An epoch has one writer, which appends to a log that it has in full, and a log that follows is a
//! beginning of the writer's. So two logs that have a record of the same epoch (and primary) at the same index are
//! the same up to it, and logs of one rank are the same.
//!
//! *Claim.* If a quorum of epoch d has acknowledged an index a beyond the start of d, every primary of a later epoch
//! that gets as far as its start has the log of d up to a.
//!
//! *Proof*, by induction over the epochs e > d. Either the candidate of e needed a blocking set of d's configuration,
//! or an epoch between d and e has opened and it needed one of that. Take the first case. The set has a holder h in
//! common with the quorum. When h acknowledged a, it had not yet promised e, so what it acknowledged was in its log
//! when it promised e, unless it had been cut. It is cut only to agree with a primary of an epoch between d and e,
//! and that primary had the log of d up to a by the induction, so this part remained. So h's answer had a rank of at
//! least (d, a), and so has the log that was taken. If its last epoch is d, it is a beginning of the log of d and
//! long enough. If its last epoch is f > d, the primary of f had the log of d up to a, by the induction, and the log
//! that was taken agrees with that primary's up to the start of f. In the second case let g be the last epoch that
//! the candidate knew to have opened, d < g < e. By the induction its primary had the log of d up to a. A quorum has
//! acknowledged g's start, which is beyond a. The candidate needed a blocking set of g's configuration, so the first
//! case holds for g and e. ∎
//!
//! The same argument shows that cutting and taking another log are safe halfway: what a candidate or a follower cuts
//! off was acknowledged by no quorum, and what was acknowledged it keeps. So a candidate that crashes in the middle
//! of a fetch, or turns to another holder's log, has lost nothing.
//!
//! *One primary.* In an epoch two members could open only if etcd had given it out twice. Each would need a blocking
//! set that promised to *it*, and a quorum that acknowledged *it*; those of different members have a holder in
//! common, and that has promised the epoch to one of them.
//!
//! *Raft* has the same rule for the same reason (its figure 8): a leader does not count copies of records of earlier
//! terms; they are committed by the first record of its own. Here this record is always there, the start, and the
//! primary is not open before it is acknowledged. What Raft gets from voters that refuse candidates with older logs,
//! we get by fetching: any server with the right priority can lead, and archives can have the newest log.
//!
//! # Configurations
//! The members and W change only with the epoch: the open primary claims the next one for itself with the new
//! configuration, and needs a blocking set of the old and a quorum of the new. Such a claim may fail halfway, so a
//! later candidate asks in *all* configurations that may have opened ([`EtcdState::records`]); only the mark in step
//! 5 ends that. There are no joint configurations, and nothing is acknowledged under two rules. A configuration that
//! did not open is left to its claimant: elections keep the established one. Members are added when they have caught
//! up. Before it claims, the primary lets new transactions wait, for at most the time of a switch, until those under
//! way are acknowledged: a definition that is applied needs everything before it published, and after the claim nothing
//! is published before the start, which comes after the definition in the log.
//!
//! # Members that are no holders
//! Every other member of etcd's directory follows in the same way: it promises the epoch to a primary that sends
//! pulses, cuts its log, and answers. Its copy counts for nothing: nobody asks it for promises, it neither says that it
//! hears no primary nor claims, and [`Status::needed`] does not wait for it. For the proof it is like a holder that was
//! removed: it promises to a primary that has written its start (or, after a torn promise, to the claimant of etcd's
//! newest epoch, as holders do), and cuts only to agree with a primary's log. A member of either kind that refuses its
//! primary's epoch lets that begin a new one.
//!
//! # When a member claims
//! A member hears its primary if a pulse came within `silence` and that primary hears a quorum itself. A member that
//! hears none tells the others. A server claims when holders that *block*, and at least two, hear none: without them
//! no primary can commit, so nothing is lost by replacing it; one that loses only some followers, or etcd, stays. The
//! lease in etcd is neither necessary for this (a dead process is noticed earlier by its closed connections) nor
//! enough (etcd may be unreachable for a primary that commits happily). It only says for how long others leave a
//! candidate alone. Servers wait by rank: the format of the log that they write, then priority, then number. A primary
//! of a later format, in the middle of an upgrade, could be read by too few; one that would be read by too few to
//! commit anything does not claim and takes over from nobody. If etcd is away, nobody claims and the primary goes on.
//!
//! A holder that has promised a candidate which then failed cannot follow its primary any more. That primary begins a
//! new epoch by itself after `patience`, and takes the holder along.
//!
//! # Reads
//! The primary's reads are new until [`Action::ReadsUntil`]: a holder that has answered a pulse promises no later
//! epoch for `grant`, and a quorum has answered. A pulse of a primary that hears no quorum is granted no time: only
//! one of its holders may still hear it, and the others need its promise. This, and only this, rests on clocks: on
//! their speed, within `drift_percent`, never on what they show. etcd is not needed, so reads stay new when it is
//! away.
//!
//! # Planned switch
//! The primary lets new transactions wait, until the target has everything, then gives its consent: it revokes the
//! newness of its reads, and sends pulses that prove nothing more. Holders that have heard no later pulse promise
//! without waiting for their grant. If the target does not take over in time, the primary opens again; its next pulse
//! ends the consent.
//!
//! # Restoring a quorum by hand
//! When holders that block are gone for ever, an operator writes a *forced* epoch into etcd's list, with those that
//! are left. It needs the promises of all its holders and of no others. When it opens, [`Action::MayBeLost`] says
//! from where transactions may be missing. A server whose tables have more than the new log can be cut back no more;
//! it stays closed and must be copied anew.
//!
//! # A torn promise
//! A promise whose file is damaged counts as unknown: the member promises and acknowledges nothing until it has read
//! etcd. Every promise follows a claim, so the newest epoch there is at least as high as what was lost. It promises
//! that epoch to its claimant.
//!
//! # Orderings that the host must keep
//! - A promise is durable before [`Input::PromiseWritten`], a record before [`Input::LogEnd`]. Nothing of an older
//!   stream, fetch or client is appended once [`Action::WritePromise`] has begun.
//! - A primary serves only durable records, and only until its next promise. A holder serves a fetch only while its
//!   promise is that candidate's.
//! - A cut is complete before anything is appended, and never goes below what is published.
//! - Reads of etcd begin after the member has started.
//! - Every holder has the primary's event groups in the primary's order over all domains, with ascending sequence
//!   numbers in each, so that a log index means the same everywhere, whatever else a server has in its own files.
//!
//! # Limits
//! [`Configuration::HOLDERS_MAX`] holders, [`Configuration::ZONES_MAX`] zones, [`LogTail::SPANS_MAX`] epochs in which
//! two logs can meet. etcd's list has one record for each configuration that may have opened. Messages are repeated
//! each `pulse` and never queued.
//! - A disk that loses what it called durable, or a directory that is replaced under the same [`MemberId`], breaks
//!   the promises. A new directory is a new member.
//! - An etcd that is restored from a copy gives out epochs twice, which is harmless, unless it has also forgotten a
//!   change of the configuration, or a member's promise is torn at the same time.
//! - N = 2 with W = 2 loses nothing and survives nothing. Two servers and an archive survive any one loss.
//!
//! # Rejected alternatives
//! See `docs/decisions/0035-cluster-mode.md`: Raft of our own, a lease in etcd as the fence, Group Replication, a
//! monitor beside the servers.
#![forbid(unsafe_code)]

mod configuration;
mod epoch;
mod interface;
mod log_tail;
mod member;

pub use configuration::{Configuration, ConfigurationError, Holder, HolderKind, MemberId};
pub use epoch::{Epoch, EpochRecord, Origin, Progress, Promise};
pub use interface::{
    Action, Claimer, Consent, DurableState, Elections, EtcdState, Hearing, Input, Leave, ListedMember,
    LogOrigin, Message, Millis, StoredPromise, SwitchError, Timing, primary_order,
};
pub use log_tail::{EpochSpan, LogRank, LogTail};
pub use member::{Member, RoleName, Status, Wait};
pub use paceline_types::LogIndex;
