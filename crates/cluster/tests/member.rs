//! Behaviour of one member, step by step. The tests act as its host and as the other members.

use paceline_cluster::{
    Action, Claimer, Configuration, Consent, DurableState, Elections, Epoch, EpochRecord, EpochSpan,
    EtcdState, Hearing, Holder, HolderKind, Input, Leave, ListedMember, LogIndex, LogOrigin, LogTail, Member,
    MemberId, Message, Millis, Origin, Progress, Promise, StoredPromise, SwitchError, Timing,
};

const ONE: MemberId = MemberId(1);
const TWO: MemberId = MemberId(2);
const THREE: MemberId = MemberId(3);

fn configuration(count: u32, copies: usize) -> Configuration {
    let holders = (1..=count).map(|number| Holder {
        id: MemberId(number),
        kind: HolderKind::Server,
        zone: 0,
        priority: 0,
    });
    Configuration::new(holders.collect(), copies, 1).unwrap()
}

fn record(epoch: u64, primary: MemberId, configuration: Configuration, progress: Progress) -> EpochRecord {
    EpochRecord {
        epoch: Epoch(epoch),
        primary,
        configuration,
        origin: Origin::Regular,
        progress,
    }
}

fn etcd(records: Vec<EpochRecord>) -> Input {
    Input::Etcd(EtcdState {
        records,
        claimer: Claimer::Gone,
        wanted: None,
        elections: Elections::Active,
        members: Vec::new(),
    })
}

fn listed((id, log_format): (MemberId, u32)) -> ListedMember {
    ListedMember { id, log_format }
}

fn promise(epoch: u64, primary: MemberId) -> Promise {
    Promise {
        epoch: Epoch(epoch),
        primary,
    }
}

fn tail(spans: &[(u64, MemberId, u64)], end: u64) -> LogTail {
    let spans = spans.iter().map(|(epoch, primary, start)| EpochSpan {
        epoch: Epoch(*epoch),
        primary: *primary,
        start: LogIndex(*start),
    });
    LogTail::new(spans.collect(), LogIndex(end))
}

/// A member and a clock that stands still unless it is told.
struct Driver {
    member: Member,
    now: u64,
}

impl Driver {
    fn new(id: MemberId, promise: StoredPromise, tail: LogTail, applied: u64) -> Self {
        let durable = DurableState {
            promise,
            tail,
            applied: LogIndex(applied),
            origin: LogOrigin::Unknown,
        };
        Self::of(id, durable)
    }

    fn of(id: MemberId, durable: DurableState) -> Self {
        Driver {
            member: Member::new(id, Timing::default(), durable, Millis(0)),
            now: 0,
        }
    }

    fn input(&mut self, input: Input) -> Vec<Action> {
        self.member.handle(Millis(self.now), input)
    }

    fn message(&mut self, from: MemberId, message: Message) -> Vec<Action> {
        self.input(Input::Message(from, message))
    }

    fn pulse(&mut self, from: MemberId, epoch: u64, log: LogTail, published: u64) -> Vec<Action> {
        let pulse = Message::Pulse {
            epoch: Epoch(epoch),
            log,
            published: LogIndex(published),
            needed: LogIndex(published.saturating_sub(1)),
            sent: Millis(5000 + self.now),
            hearing: Hearing::Enough,
        };
        self.message(from, pulse)
    }

    fn status(&self) -> String {
        self.member.status().to_string()
    }
}

/// Member 1 as the open primary of epoch 1, with member 2 as the other copy of three.
fn open_primary() -> Driver {
    let mut one = Driver::new(ONE, StoredPromise::Whole(Promise::NONE), tail(&[], 0), 0);
    let founding = record(1, ONE, configuration(3, 2), Progress::Claimed);
    one.message(TWO, Message::Missing);
    assert_eq!(
        one.input(etcd(vec![founding])),
        [Action::WritePromise(promise(1, ONE))]
    );
    let asks = one.input(Input::PromiseWritten(promise(1, ONE), tail(&[], 0)));
    let ask = Message::Ask {
        epoch: Epoch(1),
        leave: Leave::WhenSilent,
    };
    assert_eq!(asks, [Action::Send(TWO, ask.clone()), Action::Send(THREE, ask)]);
    let promised = Message::Promised {
        epoch: Epoch(1),
        tail: tail(&[], 0),
    };
    assert_eq!(one.message(TWO, promised), [Action::WriteStart(Epoch(1))]);
    let pulses = one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 1)));
    assert_eq!(pulses.len(), 2, "it is not open yet: {pulses:?}");
    let opening = one.message(TWO, copy(1, 1, 0));
    assert_eq!(
        opening[..3],
        [
            Action::Publish(LogIndex(1)),
            Action::Send(TWO, published(1, 1)),
            Action::Open(Epoch(1))
        ]
    );
    one
}

fn published(epoch: u64, upto: u64) -> Message {
    Message::Published {
        epoch: Epoch(epoch),
        upto: LogIndex(upto),
    }
}

fn copy(epoch: u64, end: u64, sent: u64) -> Message {
    Message::Copy {
        epoch: Epoch(epoch),
        end: LogIndex(end),
        sent: Millis(sent),
    }
}

#[test]
fn a_single_server_opens_when_its_start_is_durable() {
    let mut one = Driver::new(ONE, StoredPromise::Whole(Promise::NONE), tail(&[], 0), 0);
    one.input(etcd(vec![record(1, ONE, configuration(1, 1), Progress::Claimed)]));
    let start = one.input(Input::PromiseWritten(promise(1, ONE), tail(&[], 0)));
    assert_eq!(start, [Action::WriteStart(Epoch(1))]);
    let opening = one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 1)));
    assert_eq!(
        opening[..2],
        [Action::Publish(LogIndex(1)), Action::Open(Epoch(1))]
    );
    assert_eq!(one.status(), "primary, epoch 1, log 1, published 1");
}

#[test]
fn a_primary_publishes_what_enough_holders_have() {
    let mut one = open_primary();
    assert_eq!(one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 4))), []);
    let acknowledged = one.message(THREE, copy(1, 3, 0));
    for told in [
        Action::Publish(LogIndex(3)),
        Action::Send(TWO, published(1, 3)),
        Action::Send(THREE, published(1, 3)),
    ] {
        assert!(acknowledged.contains(&told), "{acknowledged:?}");
    }
    assert!(
        !one.message(TWO, copy(1, 2, 0))
            .contains(&Action::Send(TWO, published(1, 3)))
    );
    let of_another_epoch = one.message(THREE, copy(2, 4, 0));
    assert_eq!(of_another_epoch, []);
}

#[test]
fn a_replica_publishes_what_it_has_as_soon_as_it_is_told() {
    let mut two = Driver::new(
        TWO,
        StoredPromise::Whole(promise(1, ONE)),
        tail(&[(1, ONE, 0)], 3),
        0,
    );
    assert_eq!(two.message(ONE, published(1, 2)), [], "it does not follow yet");
    two.pulse(ONE, 1, tail(&[(1, ONE, 0)], 20), 1);
    assert_eq!(two.message(ONE, published(1, 2)), [Action::Publish(LogIndex(2))]);
    assert_eq!(two.message(ONE, published(1, 9)), [Action::Publish(LogIndex(3))]);
    let longer = two.input(Input::LogEnd(tail(&[(1, ONE, 0)], 5)));
    assert!(longer.contains(&Action::Publish(LogIndex(5))), "{longer:?}");
    assert_eq!(two.message(ONE, published(2, 9)), [], "another epoch");
    assert_eq!(two.message(THREE, published(1, 9)), [], "not its primary");
}

#[test]
fn an_unacknowledged_tail_is_cut_and_never_published() {
    let durable = tail(&[(1, ONE, 0)], 9);
    let mut one = Driver::new(ONE, StoredPromise::Whole(promise(1, ONE)), durable.clone(), 5);
    let of_two = tail(&[(1, ONE, 0), (2, TWO, 7)], 20);
    assert_eq!(
        one.pulse(TWO, 2, of_two.clone(), 8),
        [Action::WritePromise(promise(2, TWO))]
    );
    one.input(Input::PromiseWritten(promise(2, TWO), durable));
    let follow = Action::Follow {
        primary: TWO,
        epoch: Epoch(2),
        at: LogIndex(7),
    };
    let actions = one.pulse(TWO, 2, of_two, 8);
    assert_eq!(actions[0], follow);
    assert_eq!(actions[2], Action::Publish(LogIndex(7)));
    assert_eq!(one.status(), "replica, epoch 2, log 7, published 7");
}

#[test]
fn published_records_are_never_cut() {
    let durable = tail(&[(1, ONE, 0)], 9);
    let mut one = Driver::new(ONE, StoredPromise::Whole(promise(2, TWO)), durable, 8);
    assert_eq!(one.pulse(TWO, 2, tail(&[(1, ONE, 0), (2, TWO, 7)], 20), 8), []);
    assert_eq!(
        one.status(),
        "no primary known, epoch 2, log 9, published 8; waits for an operator: its tables have transactions that the cluster gave up, or its log \
         is too old. Remove it (paceline cluster remove), empty its directory and start it: it copies the primary"
    );
}

#[test]
fn a_torn_promise_waits_for_etcd() {
    let mut one = Driver::new(ONE, StoredPromise::Torn, tail(&[(1, TWO, 0)], 9), 0);
    let ask = Message::Ask {
        epoch: Epoch(4),
        leave: Leave::Forced,
    };
    assert_eq!(one.message(THREE, ask), []);
    assert_eq!(one.pulse(TWO, 1, tail(&[(1, TWO, 0)], 9), 9), []);
    assert_eq!(
        one.status(),
        "no primary known, log 9, published 0; waits for etcd: the file of the promise is damaged, and etcd bounds what it said"
    );
    let newest = record(3, TWO, configuration(3, 2), Progress::Opened);
    assert_eq!(
        one.input(etcd(vec![newest])),
        [Action::WritePromise(promise(3, TWO))]
    );
}

#[test]
fn a_holder_that_hears_its_primary_promises_only_with_its_consent() {
    let durable = tail(&[(1, ONE, 0)], 1);
    let mut two = Driver::new(TWO, StoredPromise::Whole(promise(1, ONE)), durable.clone(), 0);
    two.pulse(ONE, 1, durable, 1);
    let ask = |leave| Message::Ask {
        epoch: Epoch(2),
        leave,
    };
    two.now = Timing::default().grant + 1;
    assert_eq!(two.message(THREE, ask(Leave::WhenSilent)), []);
    // The primary has sent a pulse since it gave this consent: it went on.
    let consent = |pulse| {
        Leave::ByConsent(Consent {
            epoch: Epoch(1),
            pulse: Millis(pulse),
        })
    };
    assert_eq!(two.message(THREE, ask(consent(4999))), []);
    let promised = two.message(THREE, ask(consent(5000)));
    assert_eq!(promised, [Action::WritePromise(promise(2, THREE))]);
}

/// Member 2 of three, whose primary was member 1 and is silent.
fn orphan() -> Driver {
    let durable = tail(&[(1, ONE, 0)], 3);
    let mut two = Driver::new(TWO, StoredPromise::Whole(promise(1, ONE)), durable, 0);
    two.input(etcd(vec![record(1, ONE, configuration(3, 2), Progress::Opened)]));
    two.now = Timing::default().grant;
    two
}

fn claims(actions: &[Action]) -> bool {
    actions
        .iter()
        .any(|action| matches!(action, Action::Claim { .. }))
}

#[test]
fn one_opinion_is_not_enough_to_claim() {
    let mut two = orphan();
    assert!(!claims(&two.input(Input::Tick)));
    two.message(THREE, Message::Missing);
    assert!(claims(&two.input(Input::Tick)));
}

#[test]
fn nobody_claims_without_etcd_or_in_a_pause() {
    let mut two = orphan();
    two.input(Input::EtcdAway);
    two.message(THREE, Message::Missing);
    assert!(!claims(&two.input(Input::Tick)));
    assert!(
        two.status()
            .ends_with("waits for etcd: nobody can become the primary without it")
    );
    let mut two = orphan();
    two.input(Input::Etcd(EtcdState {
        records: vec![record(1, ONE, configuration(3, 2), Progress::Opened)],
        claimer: Claimer::Gone,
        wanted: None,
        elections: Elections::Paused,
        members: Vec::new(),
    }));
    two.message(THREE, Message::Missing);
    assert!(!claims(&two.input(Input::Tick)));
    assert!(two.status().contains("elections are paused"));
}

/// A follower that hears no primary claims at once, or when others that hear none have had their turn.
#[test]
fn a_server_whose_log_others_cannot_read_comes_last() {
    for (formats, claims_at_once) in [
        (vec![], true),
        (vec![(TWO, 2), (THREE, 1)], false),
        (vec![(THREE, 2)], true),
    ] {
        let mut two = orphan();
        two.input(Input::Etcd(EtcdState {
            records: vec![record(1, ONE, configuration(3, 2), Progress::Opened)],
            claimer: Claimer::Gone,
            wanted: None,
            elections: Elections::Active,
            members: formats.into_iter().map(listed).collect(),
        }));
        two.message(THREE, Message::Missing);
        assert_eq!(claims(&two.input(Input::Tick)), claims_at_once);
        two.now += Timing::default().rank_step;
        assert_eq!(claims(&two.input(Input::Tick)), !claims_at_once);
    }
}

#[test]
fn a_server_whose_log_too_few_could_read_does_not_claim() {
    let state = |formats: [(MemberId, u32); 3]| EtcdState {
        records: vec![record(1, ONE, configuration(3, 2), Progress::Opened)],
        claimer: Claimer::Gone,
        wanted: None,
        elections: Elections::Active,
        members: formats.into_iter().map(listed).collect(),
    };
    let mut two = orphan();
    two.input(Input::Etcd(state([(ONE, 1), (TWO, 2), (THREE, 1)])));
    for _ in 0..20 {
        two.message(THREE, Message::Missing);
        assert!(!claims(&two.input(Input::Tick)));
        two.now += Timing::default().rank_step;
    }
    two.message(THREE, Message::Missing);
    assert!(
        two.status().contains("an upgrade of those that cannot read"),
        "{}",
        two.status()
    );
    two.input(Input::Etcd(state([(ONE, 1), (TWO, 2), (THREE, 2)])));
    two.message(THREE, Message::Missing);
    assert!(claims(&two.input(Input::Tick)));
}

#[test]
fn a_primary_does_not_hand_over_to_a_server_whose_log_too_few_could_read() {
    let mut one = open_primary();
    let state = |format_of_three| EtcdState {
        records: vec![record(1, ONE, configuration(3, 2), Progress::Opened)],
        claimer: Claimer::Alive,
        wanted: None,
        elections: Elections::Active,
        members: [(ONE, 1), (TWO, 2), (THREE, format_of_three)]
            .map(listed)
            .to_vec(),
    };
    one.input(Input::Etcd(state(1)));
    let refused = Action::SwitchRefused(SwitchError::Unreadable);
    assert_eq!(one.input(Input::Switch(TWO)), [refused]);
    one.input(Input::Etcd(state(2)));
    assert_eq!(one.input(Input::Switch(TWO)).first(), Some(&Action::Hold));
}

#[test]
fn a_server_of_lower_rank_waits() {
    let mut two = orphan();
    two.message(ONE, Message::Missing);
    assert!(!claims(&two.input(Input::Tick)));
    two.now += Timing::default().rank_step;
    assert!(claims(&two.input(Input::Tick)));
}

#[test]
fn a_server_of_lower_rank_waits_when_the_grants_have_ended() {
    let mut two = orphan();
    two.pulse(ONE, 1, tail(&[(1, ONE, 0)], u64::MAX), 0);
    two.message(ONE, Message::Missing);
    assert!(!claims(&two.input(Input::Tick)));
    two.now += Timing::default().grant;
    two.message(ONE, Message::Missing);
    assert!(!claims(&two.input(Input::Tick)));
    two.now += Timing::default().rank_step;
    assert!(claims(&two.input(Input::Tick)));
}

#[test]
fn a_member_that_has_promised_leaves_the_candidate_alone() {
    let mut two = orphan();
    let ask = Message::Ask {
        epoch: Epoch(2),
        leave: Leave::WhenSilent,
    };
    two.message(THREE, ask);
    two.input(Input::PromiseWritten(promise(2, THREE), tail(&[(1, ONE, 0)], 3)));
    two.message(THREE, Message::Missing);
    assert!(!claims(&two.input(Input::Tick)));
    two.now += Timing::default().grant + Timing::default().patience;
    two.message(THREE, Message::Missing);
    assert!(claims(&two.input(Input::Tick)));
}

/// Its messages arrive, but those of a quorum do not arrive there. The others need this holder's promise.
#[test]
fn a_primary_that_hears_too_few_is_granted_no_time() {
    let log = tail(&[(1, ONE, 0)], 3);
    let mut three = Driver::new(THREE, StoredPromise::Whole(promise(1, ONE)), log, 0);
    let ask = Message::Ask {
        epoch: Epoch(2),
        leave: Leave::WhenSilent,
    };
    let copy = |actions: &[Action]| {
        actions.iter().find_map(|action| match action {
            Action::Send(ONE, Message::Copy { sent, .. }) => Some(*sent),
            _ => None,
        })
    };
    let answered = three.pulse(ONE, 1, tail(&[(1, ONE, 0)], u64::MAX), 0);
    assert_eq!(copy(&answered), Some(Millis(5000)));
    let ends = Timing::default().grant.max(Timing::default().silence);
    for step in 1..=10 {
        three.now = ends * step / 10;
        let pulse = Message::Pulse {
            epoch: Epoch(1),
            log: tail(&[(1, ONE, 0)], u64::MAX),
            published: LogIndex(0),
            needed: LogIndex(0),
            sent: Millis(5000 + three.now),
            hearing: Hearing::TooFew,
        };
        let answered = three.message(ONE, pulse);
        assert_eq!(copy(&answered), Some(Millis(5000)), "it proves nothing newer");
        let promised = three.message(TWO, ask.clone());
        assert_eq!(
            promised.is_empty(),
            step < 10,
            "at {} of {ends} ms: {promised:?}",
            three.now
        );
    }
}

#[test]
fn an_epoch_is_promised_to_one_primary() {
    let durable = tail(&[(1, ONE, 0)], 3);
    let mut three = Driver::new(THREE, StoredPromise::Whole(promise(2, TWO)), durable.clone(), 0);
    let refused = Action::Send(
        ONE,
        Message::Refused {
            epoch: Epoch(2),
            promise: promise(2, TWO),
        },
    );
    let ask = Message::Ask {
        epoch: Epoch(2),
        leave: Leave::Forced,
    };
    assert_eq!(three.message(ONE, ask.clone()), std::slice::from_ref(&refused));
    assert_eq!(
        three.pulse(ONE, 2, tail(&[(1, ONE, 0), (2, ONE, 3)], 4), 3),
        [refused]
    );
    let promised = Message::Promised {
        epoch: Epoch(2),
        tail: durable,
    };
    assert_eq!(three.message(TWO, ask), [Action::Send(TWO, promised)]);
}

#[test]
fn a_switch_waits_for_the_target_and_is_taken_back() {
    let mut one = open_primary();
    one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 4)));
    assert_eq!(
        one.input(Input::Switch(MemberId(9))),
        [Action::SwitchRefused(SwitchError::NoSuchServer)]
    );
    assert_eq!(one.input(Input::Switch(TWO)), [Action::Hold]);
    // The target lacks something.
    assert_eq!(
        one.message(THREE, copy(1, 4, 0)),
        [
            Action::Publish(LogIndex(4)),
            Action::Send(TWO, published(1, 4)),
            Action::Send(THREE, published(1, 4))
        ]
    );
    let handed_over = one.message(TWO, copy(1, 4, 0));
    let consent = Consent {
        epoch: Epoch(1),
        pulse: Millis(0),
    };
    let take_over = Action::Send(TWO, Message::TakeOver { consent });
    assert_eq!(handed_over, [Action::ReadsUntil(Millis(0)), take_over]);
    one.now += Timing::default().switch;
    let taken_back = one.input(Input::Tick);
    let refused = Action::SwitchRefused(SwitchError::TimedOut);
    assert_eq!(taken_back[..2], [Action::Open(Epoch(1)), refused]);
}

/// The open primary's etcd, with its mark, when an operator wants these holders.
fn wanting(wanted: Configuration) -> Input {
    Input::Etcd(EtcdState {
        records: vec![record(1, ONE, configuration(3, 2), Progress::Opened)],
        claimer: Claimer::Gone,
        wanted: Some(wanted),
        elections: Elections::Active,
        members: Vec::new(),
    })
}

#[test]
fn a_change_of_the_members_waits_for_the_transactions_under_way() {
    let mut one = open_primary();
    one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 4)));
    one.message(TWO, copy(1, 3, 0));
    let mut acted = one.input(wanting(configuration(2, 2)));
    acted.extend(one.input(Input::Tick));
    assert!(acted.contains(&Action::Hold) && !claims(&acted), "{acted:?}");
    // Acknowledged, but not by the member that remains.
    let mut acted = one.message(THREE, copy(1, 4, 0));
    acted.extend(one.input(Input::Tick));
    assert!(
        acted.contains(&Action::Publish(LogIndex(4))) && !claims(&acted),
        "{acted:?}"
    );
    assert_eq!(
        one.input(Input::Switch(TWO)),
        [Action::SwitchRefused(SwitchError::Busy)]
    );
    let mut acted = one.message(TWO, copy(1, 4, 0));
    acted.extend(one.input(Input::Tick));
    assert!(
        claims(&acted) && !acted.contains(&Action::Open(Epoch(1))),
        "{acted:?}"
    );
}

#[test]
fn a_change_of_the_members_does_not_wait_forever_and_not_in_vain() {
    let mut one = open_primary();
    one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 4)));
    one.message(TWO, copy(1, 3, 0));
    let mut acted = one.input(wanting(configuration(2, 2)));
    acted.extend(one.input(Input::Tick));
    assert!(acted.contains(&Action::Hold));
    // The operator wants it no more.
    let mut acted = one.input(wanting(configuration(3, 2)));
    acted.extend(one.input(Input::Tick));
    assert!(
        acted.contains(&Action::Open(Epoch(1))) && !claims(&acted),
        "{acted:?}"
    );
    let mut acted = one.input(wanting(configuration(2, 2)));
    acted.extend(one.input(Input::Tick));
    assert!(acted.contains(&Action::Hold));
    one.now += Timing::default().switch;
    one.message(TWO, copy(1, 3, 0));
    let acted = one.input(Input::Tick);
    assert!(
        acted.contains(&Action::Open(Epoch(1))) && claims(&acted),
        "{acted:?}"
    );
    assert!(!one.input(Input::Tick).contains(&Action::Hold));
}

#[test]
fn a_forced_epoch_says_what_may_be_lost() {
    let durable = tail(&[(1, TWO, 0)], 6);
    let mut one = Driver::new(ONE, StoredPromise::Whole(promise(1, TWO)), durable.clone(), 3);
    let forced = EpochRecord {
        origin: Origin::Forced,
        ..record(2, ONE, configuration(1, 1), Progress::Claimed)
    };
    let old = record(1, TWO, configuration(3, 2), Progress::Opened);
    assert_eq!(
        one.input(etcd(vec![old, forced])),
        [Action::WritePromise(promise(2, ONE))]
    );
    let start = one.input(Input::PromiseWritten(promise(2, ONE), durable));
    assert_eq!(start, [Action::WriteStart(Epoch(2))]);
    let opening = one.input(Input::LogEnd(tail(&[(1, TWO, 0), (2, ONE, 6)], 7)));
    assert_eq!(opening[0], Action::MayBeLost { after: LogIndex(6) });
    assert_eq!(opening[2], Action::Open(Epoch(2)));
}

#[test]
fn a_log_that_was_received_before_its_first_epoch_is_a_beginning_of_the_primarys() {
    let primarys = tail(&[(7, ONE, 50)], 60);
    // How the log looks, and from where it follows.
    let cases = [
        (LogOrigin::Received, tail(&[], 0), Some(0)),
        (LogOrigin::Received, tail(&[], 30), Some(30)),
        (LogOrigin::Received, tail(&[(7, ONE, 50)], 55), Some(55)),
        (LogOrigin::Received, tail(&[(6, TWO, 40)], 45), None),
        (LogOrigin::Unknown, tail(&[], 0), None),
        (LogOrigin::Unknown, tail(&[], 30), None),
    ];
    for (origin, log, expected) in cases {
        let durable = DurableState {
            promise: StoredPromise::Whole(promise(7, ONE)),
            tail: log.clone(),
            applied: LogIndex(0),
            origin,
        };
        let mut archive = Driver::of(THREE, durable);
        let actions = archive.pulse(ONE, 7, primarys.clone(), 58);
        let follow = expected.map(|at| Action::Follow {
            primary: ONE,
            epoch: Epoch(7),
            at: LogIndex(at),
        });
        assert_eq!(actions.first(), follow.as_ref(), "{origin:?} {log:?}");
    }
}

#[test]
fn a_primary_says_what_every_server_has() {
    let mut one = open_primary();
    let needed = |one: &Driver| one.member.status().needed;
    // Member 3 has not been heard.
    assert_eq!(needed(&one), LogIndex(0));
    one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 9)));
    one.message(TWO, copy(1, 9, 0));
    assert_eq!(needed(&one), LogIndex(0));
    one.message(THREE, copy(1, 4, 0));
    assert_eq!(needed(&one), LogIndex(4));
    one.message(THREE, copy(1, 9, 0));
    assert_eq!(needed(&one), LogIndex(9));
    // The rest of the log may still be cut off.
    one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 12)));
    assert_eq!(needed(&one), LogIndex(9));
    let mut two = Driver::new(
        TWO,
        StoredPromise::Whole(promise(1, ONE)),
        tail(&[(1, ONE, 0)], 9),
        0,
    );
    two.pulse(ONE, 1, tail(&[(1, ONE, 0)], 12), 9);
    assert_eq!(needed(&two), LogIndex(8));
}

const NINE: MemberId = MemberId(9);

/// The open primary, whose directory has member 9, which is no holder.
fn primary_with_listed() -> Driver {
    let mut one = open_primary();
    one.input(Input::Etcd(EtcdState {
        records: vec![record(1, ONE, configuration(3, 2), Progress::Opened)],
        claimer: Claimer::Gone,
        wanted: None,
        elections: Elections::Active,
        members: vec![listed((ONE, 1)), listed((NINE, 1))],
    }));
    one.now += Timing::default().pulse;
    let pulsed = one
        .input(Input::Tick)
        .into_iter()
        .filter_map(|action| match action {
            Action::Send(to, Message::Pulse { .. }) => Some(to),
            _ => None,
        });
    assert_eq!(pulsed.collect::<Vec<_>>(), [TWO, THREE, NINE]);
    one
}

#[test]
fn a_listed_member_follows_and_its_copy_counts_for_nothing() {
    let mut one = primary_with_listed();
    one.input(Input::LogEnd(tail(&[(1, ONE, 0)], 4)));
    let acted = one.message(NINE, copy(1, 4, one.now));
    assert!(
        !acted.iter().any(|action| matches!(action, Action::Publish(_))),
        "{acted:?}"
    );
    let acted = one.message(TWO, copy(1, 4, one.now));
    assert!(
        acted.contains(&Action::Publish(LogIndex(4))) && acted.contains(&Action::Send(NINE, published(1, 4))),
        "{acted:?}"
    );
    // Nothing is kept for it, and it cannot become the primary.
    one.message(THREE, copy(1, 4, one.now));
    one.message(NINE, copy(1, 1, one.now));
    assert_eq!(one.member.status().needed, LogIndex(4));
    assert_eq!(
        one.input(Input::Switch(NINE)),
        [Action::SwitchRefused(SwitchError::NoSuchServer)]
    );
}

#[test]
fn a_listed_member_that_has_promised_more_is_taken_along() {
    let mut one = primary_with_listed();
    let refused = Message::Refused {
        epoch: Epoch(1),
        promise: promise(2, TWO),
    };
    one.message(NINE, refused);
    one.now += Timing::default().patience;
    for holder in [TWO, THREE] {
        one.message(holder, copy(1, 1, one.now));
    }
    assert!(claims(&one.input(Input::Tick)));
}

#[test]
fn a_listed_member_without_a_primary_waits_and_says_nothing_to_anybody() {
    let mut nine = Driver::new(
        NINE,
        StoredPromise::Whole(promise(1, ONE)),
        tail(&[(1, ONE, 0)], 3),
        3,
    );
    nine.input(etcd(vec![record(1, ONE, configuration(3, 2), Progress::Opened)]));
    for _ in 0..100 {
        nine.now += 100;
        nine.message(TWO, Message::Missing);
        nine.message(THREE, Message::Missing);
        assert_eq!(nine.input(Input::Tick), []);
    }
    assert!(nine.status().contains("waits for a primary"), "{}", nine.status());
    let pulsed = nine.pulse(TWO, 2, tail(&[(1, ONE, 0), (2, TWO, 3)], u64::MAX), 3);
    assert_eq!(pulsed, [Action::WritePromise(promise(2, TWO))]);
}
