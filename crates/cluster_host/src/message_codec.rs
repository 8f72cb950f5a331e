//! Messages between members as bytes.
//!
//! ```text
//!   packet        version u8   kind u8   fields
//!   hello         to u32   from u32   length u8, cluster's name      the first packet of a connection
//!   log tail      count u8, count × (epoch u64, primary u32, start u64), end u64
//! ```
//! All numbers are little-endian; `index`, `epoch` and times are u64, members u32. A packet is refused if its version
//! or its kind is unknown, if it is too short or too long, and if it says what no member can say: a tail whose epochs
//! do not ascend or that has more than [`LogTail::SPANS_MAX`] of them, an epoch beyond [`EPOCH_MAX`]. The connection
//! then ends. A packet without kind, of one byte, is a sign of life and no message.
//!
//! A member of another version of this format is not understood at all, rather than by halves: a change of the format
//! needs a version that both sides know, which the hello would agree on.

use paceline_cluster::{
    Consent, Epoch, EpochSpan, Hearing, Leave, LogIndex, LogTail, MemberId, Message, Millis, Promise,
};

/// Version of the format.
pub const VERSION: u8 = paceline_program_version::MESSAGE_FORMAT;
/// Maximum number of bytes of a packet.
pub const PACKET_BYTES_MAX: usize = 2 + 8 + 1 + LogTail::SPANS_MAX * 20 + 4 * 8 + 1;
/// Highest epoch that is accepted. Epochs count elections; a higher one is an error, and the next number must exist.
pub const EPOCH_MAX: Epoch = Epoch(1 << 62);

/// Reason why a packet is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CodecError {
    #[error("a message of format {0}, which this version does not know")]
    Version(u8),
    #[error("an unknown kind of message, {0}")]
    Kind(u8),
    #[error("a message that ends too early")]
    Short,
    #[error("a message with {0} bytes after its end")]
    Long(usize),
    #[error("a message with an impossible {0}")]
    Value(&'static str),
}

/// First packet of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hello {
    /// Name of the cluster.
    pub cluster: String,
    /// The sender.
    pub from: MemberId,
    /// The member that the sender wants to reach. Another member may have its address now.
    pub to: MemberId,
}

/// Packet of a connection between members.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Packet {
    Hello(Hello),
    Message(Message),
    /// A sign of life.
    Idle,
}

mod kind {
    pub const HELLO: u8 = 0;
    pub const MISSING: u8 = 1;
    pub const ASK: u8 = 2;
    pub const PROMISED: u8 = 3;
    pub const REFUSED: u8 = 4;
    pub const PULSE: u8 = 5;
    pub const COPY: u8 = 6;
    pub const TAKE_OVER: u8 = 7;
    pub const PUBLISHED: u8 = 8;
}

mod leave {
    pub const WHEN_SILENT: u8 = 0;
    pub const BY_CONSENT: u8 = 1;
    pub const FORCED: u8 = 2;
}

impl Packet {
    /// Appends the packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        match self {
            Packet::Idle => {}
            Packet::Hello(hello) => {
                out.push(kind::HELLO);
                put_member(out, hello.to);
                put_member(out, hello.from);
                let length = u8::try_from(hello.cluster.len()).expect("a cluster's name is short");
                out.push(length);
                out.extend_from_slice(hello.cluster.as_bytes());
            }
            Packet::Message(message) => encode_message(out, message),
        }
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// It is none of this version.
    pub fn decode(bytes: &[u8]) -> Result<Packet, CodecError> {
        let mut fields = Fields(bytes);
        let version = fields.byte()?;
        if version != VERSION {
            return Err(CodecError::Version(version));
        }
        if fields.0.is_empty() {
            return Ok(Packet::Idle);
        }
        let packet = match fields.byte()? {
            kind::HELLO => {
                let (to, from) = (fields.member()?, fields.member()?);
                let length = usize::from(fields.byte()?);
                let cluster =
                    std::str::from_utf8(fields.take(length)?).map_err(|_| CodecError::Value("name"))?;
                Packet::Hello(Hello {
                    cluster: cluster.to_owned(),
                    from,
                    to,
                })
            }
            kind => Packet::Message(decode_message(kind, &mut fields)?),
        };
        match fields.0.len() {
            0 => Ok(packet),
            surplus => Err(CodecError::Long(surplus)),
        }
    }
}

fn encode_message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::Missing => out.push(kind::MISSING),
        Message::Ask { epoch, leave } => {
            out.push(kind::ASK);
            put(out, epoch.0);
            match leave {
                Leave::WhenSilent => out.push(leave::WHEN_SILENT),
                Leave::ByConsent(consent) => {
                    out.push(leave::BY_CONSENT);
                    put_consent(out, *consent);
                }
                Leave::Forced => out.push(leave::FORCED),
            }
        }
        Message::Promised { epoch, tail } => {
            out.push(kind::PROMISED);
            put(out, epoch.0);
            put_tail(out, tail);
        }
        Message::Refused { epoch, promise } => {
            out.push(kind::REFUSED);
            put(out, epoch.0);
            put(out, promise.epoch.0);
            put_member(out, promise.primary);
        }
        Message::Pulse {
            epoch,
            log,
            published,
            needed,
            sent,
            hearing,
        } => {
            out.push(kind::PULSE);
            put(out, epoch.0);
            put_tail(out, log);
            put(out, published.0);
            put(out, needed.0);
            put(out, sent.0);
            out.push(match hearing {
                Hearing::TooFew => 0,
                Hearing::Enough => 1,
            });
        }
        Message::Copy { epoch, end, sent } => {
            out.push(kind::COPY);
            put(out, epoch.0);
            put(out, end.0);
            put(out, sent.0);
        }
        Message::Published { epoch, upto } => {
            out.push(kind::PUBLISHED);
            put(out, epoch.0);
            put(out, upto.0);
        }
        Message::TakeOver { consent } => {
            out.push(kind::TAKE_OVER);
            put_consent(out, *consent);
        }
    }
}

fn decode_message(kind: u8, fields: &mut Fields<'_>) -> Result<Message, CodecError> {
    Ok(match kind {
        kind::MISSING => Message::Missing,
        kind::ASK => Message::Ask {
            epoch: fields.epoch()?,
            leave: match fields.byte()? {
                leave::WHEN_SILENT => Leave::WhenSilent,
                leave::BY_CONSENT => Leave::ByConsent(fields.consent()?),
                leave::FORCED => Leave::Forced,
                _ => return Err(CodecError::Value("leave")),
            },
        },
        kind::PROMISED => Message::Promised {
            epoch: fields.epoch()?,
            tail: fields.tail()?,
        },
        kind::REFUSED => Message::Refused {
            epoch: fields.epoch()?,
            promise: Promise {
                epoch: fields.epoch()?,
                primary: fields.member()?,
            },
        },
        kind::PULSE => Message::Pulse {
            epoch: fields.epoch()?,
            log: fields.tail()?,
            published: fields.index()?,
            needed: fields.index()?,
            sent: fields.millis()?,
            hearing: match fields.byte()? {
                0 => Hearing::TooFew,
                1 => Hearing::Enough,
                _ => return Err(CodecError::Value("hearing")),
            },
        },
        kind::COPY => Message::Copy {
            epoch: fields.epoch()?,
            end: fields.index()?,
            sent: fields.millis()?,
        },
        kind::PUBLISHED => Message::Published {
            epoch: fields.epoch()?,
            upto: fields.index()?,
        },
        kind::TAKE_OVER => Message::TakeOver {
            consent: fields.consent()?,
        },
        unknown => return Err(CodecError::Kind(unknown)),
    })
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_member(out: &mut Vec<u8>, member: MemberId) {
    out.extend_from_slice(&member.0.to_le_bytes());
}

fn put_consent(out: &mut Vec<u8>, consent: Consent) {
    put(out, consent.epoch.0);
    put(out, consent.pulse.0);
}

fn put_tail(out: &mut Vec<u8>, tail: &LogTail) {
    let spans = tail.spans();
    out.push(u8::try_from(spans.len()).expect("a tail has few spans"));
    for span in spans {
        put(out, span.epoch.0);
        put_member(out, span.primary);
        put(out, span.start.0);
    }
    put(out, tail.end().0);
}

/// The bytes that have not been read.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(CodecError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, CodecError> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Result<u64, CodecError> {
        let bytes = self.take(8)?.try_into().expect("eight bytes");
        Ok(u64::from_le_bytes(bytes))
    }

    fn member(&mut self) -> Result<MemberId, CodecError> {
        let bytes = self.take(4)?.try_into().expect("four bytes");
        Ok(MemberId(u32::from_le_bytes(bytes)))
    }

    fn epoch(&mut self) -> Result<Epoch, CodecError> {
        let epoch = Epoch(self.number()?);
        match epoch <= EPOCH_MAX {
            true => Ok(epoch),
            false => Err(CodecError::Value("epoch")),
        }
    }

    fn index(&mut self) -> Result<LogIndex, CodecError> {
        Ok(LogIndex(self.number()?))
    }

    fn millis(&mut self) -> Result<Millis, CodecError> {
        Ok(Millis(self.number()?))
    }

    fn consent(&mut self) -> Result<Consent, CodecError> {
        Ok(Consent {
            epoch: self.epoch()?,
            pulse: self.millis()?,
        })
    }

    fn tail(&mut self) -> Result<LogTail, CodecError> {
        let count = usize::from(self.byte()?);
        if count > LogTail::SPANS_MAX {
            return Err(CodecError::Value("number of epochs"));
        }
        let mut spans = Vec::with_capacity(count);
        for _ in 0..count {
            spans.push(EpochSpan {
                epoch: self.epoch()?,
                primary: self.member()?,
                start: self.index()?,
            });
        }
        let end = self.index()?;
        LogTail::received(spans, end).ok_or(CodecError::Value("log"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(packet: &Packet) -> Vec<u8> {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        bytes
    }

    fn epochs() -> impl Strategy<Value = Epoch> {
        (0..=EPOCH_MAX.0).prop_map(Epoch)
    }

    fn tails() -> impl Strategy<Value = LogTail> {
        let steps = proptest::collection::vec((1u64..9, any::<u32>(), 1u64..9), 0..=LogTail::SPANS_MAX);
        (steps, 1u64..=u64::MAX / 2).prop_map(|(steps, rest)| {
            let (mut epoch, mut start) = (0, 0);
            let spans = steps.into_iter().map(|(epochs, primary, records)| {
                (epoch, start) = (epoch + epochs, start + records);
                EpochSpan {
                    epoch: Epoch(epoch),
                    primary: MemberId(primary),
                    start: LogIndex(start),
                }
            });
            let spans: Vec<_> = spans.collect();
            let last = spans.last().map_or(0, |span| span.start.0);
            LogTail::new(spans, LogIndex(last + rest))
        })
    }

    fn consents() -> impl Strategy<Value = Consent> {
        (epochs(), any::<u64>()).prop_map(|(epoch, pulse)| Consent {
            epoch,
            pulse: Millis(pulse),
        })
    }

    fn messages() -> impl Strategy<Value = Message> {
        let leave = prop_oneof![
            Just(Leave::WhenSilent),
            consents().prop_map(Leave::ByConsent),
            Just(Leave::Forced)
        ];
        let hearing = prop_oneof![Just(Hearing::Enough), Just(Hearing::TooFew)];
        prop_oneof![
            Just(Message::Missing),
            (epochs(), leave).prop_map(|(epoch, leave)| Message::Ask { epoch, leave }),
            (epochs(), tails()).prop_map(|(epoch, tail)| Message::Promised { epoch, tail }),
            (epochs(), epochs(), any::<u32>()).prop_map(|(epoch, promised, primary)| Message::Refused {
                epoch,
                promise: Promise {
                    epoch: promised,
                    primary: MemberId(primary)
                },
            }),
            (epochs(), tails(), any::<[u64; 3]>(), hearing).prop_map(
                |(epoch, log, [published, needed, sent], hearing)| Message::Pulse {
                    epoch,
                    log,
                    published: LogIndex(published),
                    needed: LogIndex(needed),
                    sent: Millis(sent),
                    hearing,
                }
            ),
            (epochs(), any::<u64>(), any::<u64>()).prop_map(|(epoch, end, sent)| Message::Copy {
                epoch,
                end: LogIndex(end),
                sent: Millis(sent),
            }),
            (epochs(), any::<u64>()).prop_map(|(epoch, upto)| Message::Published {
                epoch,
                upto: LogIndex(upto),
            }),
            consents().prop_map(|consent| Message::TakeOver { consent }),
        ]
    }

    proptest! {
        #[test]
        fn a_message_is_read_as_it_was_written(message in messages()) {
            let packet = Packet::Message(message);
            let bytes = encoded(&packet);
            prop_assert!(bytes.len() <= PACKET_BYTES_MAX);
            prop_assert_eq!(Packet::decode(&bytes), Ok(packet));
            for length in 2..bytes.len() {
                prop_assert_eq!(Packet::decode(&bytes[..length]), Err(CodecError::Short));
            }
            let longer = [&bytes[..], &[0]].concat();
            prop_assert_eq!(Packet::decode(&longer), Err(CodecError::Long(1)));
        }

        #[test]
        fn any_bytes_are_a_packet_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first = VERSION;
            }
            if let Ok(packet) = Packet::decode(&bytes) {
                prop_assert_eq!(encoded(&packet), bytes);
            }
        }
    }

    #[test]
    fn a_hello_is_read_as_it_was_written() {
        let hello = Packet::Hello(Hello {
            cluster: "shop".to_owned(),
            from: MemberId(7),
            to: MemberId(u32::MAX),
        });
        assert_eq!(Packet::decode(&encoded(&hello)), Ok(hello));
        assert_eq!(Packet::decode(&encoded(&Packet::Idle)), Ok(Packet::Idle));
    }

    #[test]
    fn malformed_packets_are_refused() {
        let copy = |epoch: u64| {
            let mut bytes = vec![VERSION, kind::COPY];
            [epoch, 1, 1].iter().for_each(|number| put(&mut bytes, *number));
            bytes
        };
        let promised = |spans: &[(u64, u64)], end: u64| {
            let mut bytes = vec![VERSION, kind::PROMISED];
            put(&mut bytes, 9);
            bytes.push(spans.len() as u8);
            for (epoch, start) in spans {
                put(&mut bytes, *epoch);
                put_member(&mut bytes, MemberId(1));
                put(&mut bytes, *start);
            }
            put(&mut bytes, end);
            bytes
        };
        let many: Vec<_> = (1..=65).map(|at| (at, at)).collect();
        let cases = [
            (vec![], CodecError::Short),
            (vec![2, kind::MISSING], CodecError::Version(2)),
            (vec![VERSION, 99], CodecError::Kind(99)),
            (vec![VERSION, kind::MISSING, 0], CodecError::Long(1)),
            (copy(EPOCH_MAX.0 + 1), CodecError::Value("epoch")),
            (copy(u64::MAX), CodecError::Value("epoch")),
            (promised(&many, 99), CodecError::Value("number of epochs")),
            (promised(&[(2, 1), (2, 3)], 9), CodecError::Value("log")),
            (promised(&[(1, 3), (2, 3)], 9), CodecError::Value("log")),
            (promised(&[(1, 3)], 3), CodecError::Value("log")),
        ];
        for (bytes, error) in cases {
            assert_eq!(Packet::decode(&bytes), Err(error), "{bytes:?}");
        }
    }
}
