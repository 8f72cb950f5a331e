//! Packets of other members: a decoded packet is encoded to the same bytes.

use super::Target;
use paceline_cluster::{
    Consent, Epoch, EpochSpan, Hearing, Leave, LogIndex, LogTail, MemberId, Message, Millis, Promise,
};
use paceline_cluster_host::message_codec::{Hello, Packet};

pub(super) const TARGET: Target = Target {
    name: "cluster_messages",
    run,
    samples,
    words: &[
        b"\x01\x03",
        b"\x01\x05",
        b"\x00\x00\x00\x00\x00\x00\x00\x00",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
    ],
};

fn run(bytes: &[u8]) {
    if let Ok(packet) = Packet::decode(bytes) {
        let mut encoded = Vec::new();
        packet.encode(&mut encoded);
        assert_eq!(encoded, bytes);
    }
}

fn samples() -> Vec<Vec<u8>> {
    let spans = |count: u64| {
        let spans = (1..=count).map(|number| EpochSpan {
            epoch: Epoch(number),
            primary: MemberId(7),
            start: LogIndex(number * 10),
        });
        spans.collect::<Vec<_>>()
    };
    let tail = |count: u64| LogTail::new(spans(count), LogIndex(count * 10 + 5));
    let consent = Consent {
        epoch: Epoch(3),
        pulse: Millis(5000),
    };
    let ask = |leave| Message::Ask {
        epoch: Epoch(4),
        leave,
    };
    let messages = [
        Message::Missing,
        ask(Leave::WhenSilent),
        ask(Leave::ByConsent(consent)),
        ask(Leave::Forced),
        Message::Promised {
            epoch: Epoch(4),
            tail: tail(3),
        },
        Message::Refused {
            epoch: Epoch(4),
            promise: Promise {
                epoch: Epoch(5),
                primary: MemberId(9),
            },
        },
        Message::Pulse {
            epoch: Epoch(64),
            log: tail(64),
            published: LogIndex(7),
            needed: LogIndex(6),
            sent: Millis(8),
            hearing: Hearing::Enough,
        },
        Message::Copy {
            epoch: Epoch(4),
            end: LogIndex(99),
            sent: Millis(8),
        },
        Message::TakeOver { consent },
    ];
    let hello = Packet::Hello(Hello {
        cluster: "shop".to_owned(),
        from: MemberId(7),
        to: MemberId(9),
    });
    let packets = [hello, Packet::Idle].into_iter();
    let packets = packets.chain(messages.map(Packet::Message));
    let encode = |packet: Packet| {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        bytes
    };
    packets.map(encode).collect()
}
