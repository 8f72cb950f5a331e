//! Forms of replies: what a request wants to know.

/// Form of a reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplyForm {
    /// A line of the classic protocol.
    Classic,
    /// No reply, whatever happens: the client does not read one.
    Quiet,
    /// A meta reply.
    Meta(MetaFlags),
}

/// Flag that a meta reply returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EchoedFlag {
    /// `k`: the key, as the client wrote it.
    Key,
    /// `O`: an opaque value of the client.
    Opaque(Vec<u8>),
    /// `c`: the item's CAS.
    Cas,
    /// `f`: the client's flags.
    ClientFlags,
    /// `s`: the size of the value.
    Size,
    /// `t`: the time to live in seconds; -1: for ever.
    TimeToLive,
}

/// Flags of a meta command about its reply.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MetaFlags {
    /// Returned flags, in the order of the request.
    pub echoed: Vec<EchoedFlag>,
    /// The key, as the client wrote it.
    pub key: Vec<u8>,
    /// `b`: the key is base64. A reply with the key says so too.
    pub is_base64: bool,
    /// `q`: the usual reply is not sent.
    pub is_quiet: bool,
    /// `v`: the value is returned.
    pub wants_value: bool,
}
