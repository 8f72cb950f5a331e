//! State of a cluster in etcd, and its encoding. No I/O.
//!
//! ```text
//!   /paceline/NAME/epochs       JSON: list of the newest epochs' records      changed by compare-and-swap
//!                 /settings     JSON: wanted configuration, elections         changed by compare-and-swap
//!                 /claimer      number of an epoch, under its claimer's lease
//!                 /members/ID   JSON: name, address, kind, zone, priority, version, format of the log
//!                 /switch       JSON: request for a planned switch, under a lease; then its result
//! ```
//! All of them are read in one request, so a [`Register`] is the state at one revision.
//!
//! # Limits
//! [`RECORDS_MAX`] records, [`MEMBERS_MAX`] members. The members' directory is only an address book: who holds the log
//! is said by the configurations in `epochs`.

use paceline_cluster::{
    Claimer, Configuration, ConfigurationError, Elections, Epoch, EpochRecord, EtcdState, Holder, HolderKind,
    ListedMember, MemberId, Origin, Progress,
};
use serde::{Deserialize, Serialize};

/// Maximum number of records in the list. It has one for each configuration that may have opened.
pub const RECORDS_MAX: usize = 64;
/// Maximum number of members in the directory.
pub const MEMBERS_MAX: usize = 128;

/// Reason why a value in etcd cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RegisterError {
    #[error("{key}: {error}")]
    Json {
        key: &'static str,
        error: serde_json::Error,
    },
    #[error("{key}: {error}")]
    Configuration {
        key: &'static str,
        error: ConfigurationError,
    },
    #[error("{key}: {reason}")]
    Impossible { key: &'static str, reason: &'static str },
}

/// Entry of the members' directory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemberEntry {
    /// Identity of its directory.
    pub id: u32,
    /// Name for people.
    pub name: String,
    /// Host and port for clients, and for those that fetch or follow its log.
    pub host: String,
    /// See `host`.
    pub port: u16,
    /// Host and port for messages of other members.
    pub cluster_host: String,
    /// See `cluster_host`.
    pub cluster_port: u16,
    /// Kind.
    pub kind: KindText,
    /// Zone, below [`Configuration::ZONES_MAX`].
    pub zone: u8,
    /// Priority among the servers that could become the primary.
    pub priority: u8,
    /// Version of the program.
    pub version: String,
    /// Format of the log that it writes, and newest one that it reads.
    #[serde(default)]
    pub log_format: u32,
}

impl MemberEntry {
    /// Returns the identity.
    pub fn member(&self) -> MemberId {
        MemberId(self.id)
    }

    /// Returns what the other members' state machines know of it.
    fn listed(&self) -> ListedMember {
        ListedMember {
            id: self.member(),
            log_format: self.log_format,
        }
    }

    /// Returns the member as a log holder.
    pub fn holder(&self) -> Holder {
        Holder {
            id: self.member(),
            kind: self.kind.into(),
            zone: self.zone,
            priority: self.priority,
        }
    }
}

/// Kind of a member, as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum KindText {
    Server,
    Archive,
}

impl From<KindText> for HolderKind {
    fn from(kind: KindText) -> HolderKind {
        match kind {
            KindText::Server => HolderKind::Server,
            KindText::Archive => HolderKind::Archive,
        }
    }
}

impl From<HolderKind> for KindText {
    fn from(kind: HolderKind) -> KindText {
        match kind {
            HolderKind::Server => KindText::Server,
            HolderKind::Archive => KindText::Archive,
        }
    }
}

/// The operator's settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Configuration that the primary should establish. `None`: as it is.
    pub wanted: Option<Configuration>,
    /// Copies that each transaction needs, if the operator has fixed them. `None`: a majority.
    pub copies: Option<usize>,
    /// Zones that the copies must span.
    pub zones: u32,
    /// Whether members claim epochs by themselves.
    pub elections: Elections,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            wanted: None,
            copies: None,
            zones: 1,
            elections: Elections::Active,
        }
    }
}

impl Settings {
    /// Returns the configuration of these holders by the settings.
    ///
    /// # Errors
    /// It is impossible: fewer holders than copies, for example.
    pub fn configuration(&self, holders: Vec<Holder>) -> Result<Configuration, ConfigurationError> {
        let copies = self.copies.unwrap_or(holders.len() / 2 + 1);
        Configuration::new(holders, copies, self.zones)
    }
}

/// Request for a planned switch, and its result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SwitchEntry {
    /// Random number of the request.
    pub request: u64,
    /// The server that should become the primary.
    pub target: u32,
    /// `None`: not done yet. An empty text: done. Otherwise the reason why not.
    pub result: Option<String>,
}

/// Everything that etcd keeps for a cluster that was founded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// Records of the newest epochs. Not empty.
    pub records: Vec<EpochRecord>,
    /// Settings.
    pub settings: Settings,
    /// Epoch whose claimer holds its lease.
    pub claimed: Option<Epoch>,
    /// Directory of the members.
    pub members: Vec<MemberEntry>,
    /// Planned switch.
    pub switch: Option<SwitchEntry>,
}

impl Register {
    /// Creates the state of a cluster that is being founded by this holder.
    ///
    /// # Errors
    /// The holder alone is no configuration.
    pub fn founded(holder: Holder) -> Result<Register, ConfigurationError> {
        let settings = Settings::default();
        let founding = EpochRecord {
            epoch: Epoch(1),
            primary: holder.id,
            configuration: settings.configuration(vec![holder])?,
            origin: Origin::Regular,
            progress: Progress::Claimed,
        };
        Ok(Register {
            records: vec![founding],
            settings,
            claimed: None,
            members: Vec::new(),
            switch: None,
        })
    }

    /// Returns the newest record.
    pub fn newest(&self) -> &EpochRecord {
        self.records.last().expect("the list of epochs is never empty")
    }

    /// Returns whether a configuration that may count has this member.
    pub fn is_holder(&self, member: MemberId) -> bool {
        let mut configurations = self.records.iter().map(|record| &record.configuration);
        configurations.any(|configuration| configuration.holder(member).is_some())
    }

    /// Returns the members that this one has replaced: they have its address, and are no log holders. One that an
    /// operator wants as a holder is among them: with its address taken, it can never become one.
    pub fn replaced_by(&self, entry: &MemberEntry) -> impl Iterator<Item = &MemberEntry> {
        let is_replaced = move |other: &&MemberEntry| {
            let has_address =
                (&other.cluster_host, other.cluster_port) == (&entry.cluster_host, entry.cluster_port);
            other.id != entry.id && has_address && !self.is_holder(other.member())
        };
        self.members.iter().filter(is_replaced)
    }

    /// Takes the members that this one has replaced out of the wanted configuration, which could never be established.
    /// Returns whether anything has changed.
    pub fn give_up_replaced(&mut self, entry: &MemberEntry) -> bool {
        let replaced: Vec<_> = self.replaced_by(entry).map(MemberEntry::member).collect();
        let Some(wanted) = &self.settings.wanted else {
            return false;
        };
        let left = wanted
            .holders()
            .iter()
            .filter(|holder| !replaced.contains(&holder.id));
        let left: Vec<_> = left.copied().collect();
        if left.len() == wanted.holders().len() {
            return false;
        }
        // Too few holders may remain for a fixed number of copies. The operator has to decide then.
        let Ok(wanted) = self.settings.configuration(left) else {
            return false;
        };
        self.want(wanted);
        true
    }

    /// Sets the wanted configuration. Nothing is wanted if it is the present one, unless a claim with another one may
    /// still open.
    pub fn want(&mut self, wanted: Configuration) {
        let is_wanted = |record: &EpochRecord| record.configuration == wanted;
        let is_present =
            self.state().established_configuration() == &wanted && self.records.iter().all(is_wanted);
        self.settings.wanted = Some(wanted).filter(|_| !is_present);
    }

    /// Returns the name of a member, or its number in words.
    pub fn name_of(&self, member: MemberId) -> String {
        let entry = self.members.iter().find(|entry| entry.member() == member);
        entry.map_or_else(|| member.to_string(), |entry| entry.name.clone())
    }

    /// Returns what a member has to know.
    pub fn state(&self) -> EtcdState {
        EtcdState {
            records: self.records.clone(),
            claimer: match self.claimed == Some(self.newest().epoch) {
                true => Claimer::Alive,
                false => Claimer::Gone,
            },
            wanted: self.settings.wanted.clone(),
            elections: self.settings.elections,
            members: self.members.iter().map(MemberEntry::listed).collect(),
        }
    }

    /// Appends a claim if the newest epoch is `newest`, and removes the regular record with the same configuration that
    /// has not opened. A configuration that is wanted no more is not claimed. Returns whether anything has changed.
    pub fn claim(&mut self, record: &EpochRecord, newest: Epoch) -> bool {
        if self.newest().epoch != newest || record.epoch <= newest {
            return false;
        }
        let mut known = self.records.iter().map(|record| &record.configuration);
        if self.settings.wanted.as_ref() != Some(&record.configuration)
            && !known.any(|it| *it == record.configuration)
        {
            return false;
        }
        let is_replaced = |older: &EpochRecord| {
            let has_not_opened = older.progress == Progress::Claimed && older.origin == Origin::Regular;
            has_not_opened && older.configuration == record.configuration
        };
        self.records.retain(|older| !is_replaced(older));
        if self.records.len() >= RECORDS_MAX {
            return false;
        }
        self.records.push(record.clone());
        true
    }

    /// Puts an epoch that has opened in the place of those up to it, unless a later one has opened. Returns whether
    /// anything has changed.
    pub fn mark_opened(&mut self, opened: &EpochRecord) -> bool {
        let is_later =
            |record: &EpochRecord| record.epoch >= opened.epoch && record.progress == Progress::Opened;
        if self.records.iter().any(is_later) {
            return false;
        }
        let wanted = self.settings.wanted.take();
        self.settings.wanted = wanted.filter(|wanted| *wanted != opened.configuration);
        self.records.retain(|record| record.epoch > opened.epoch);
        self.records.insert(0, opened.clone());
        true
    }
}

#[derive(Serialize, Deserialize)]
struct HolderText {
    id: u32,
    kind: KindText,
    zone: u8,
    priority: u8,
}

#[derive(Serialize, Deserialize)]
struct ConfigurationText {
    copies: usize,
    zones: u32,
    holders: Vec<HolderText>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OriginText {
    Regular,
    Forced,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProgressText {
    Claimed,
    Opened,
}

#[derive(Serialize, Deserialize)]
struct RecordText {
    epoch: u64,
    primary: u32,
    origin: OriginText,
    progress: ProgressText,
    configuration: ConfigurationText,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ElectionsText {
    Active,
    Paused,
}

#[derive(Serialize, Deserialize)]
struct SettingsText {
    wanted: Option<ConfigurationText>,
    copies: Option<usize>,
    zones: u32,
    elections: ElectionsText,
}

impl ConfigurationText {
    fn of(configuration: &Configuration) -> Self {
        let holders = configuration.holders().iter().map(|holder| HolderText {
            id: holder.id.0,
            kind: holder.kind.into(),
            zone: holder.zone,
            priority: holder.priority,
        });
        ConfigurationText {
            copies: configuration.copies(),
            zones: configuration.zones(),
            holders: holders.collect(),
        }
    }

    fn configuration(self, key: &'static str) -> Result<Configuration, RegisterError> {
        let holders = self.holders.into_iter().map(|holder| Holder {
            id: MemberId(holder.id),
            kind: holder.kind.into(),
            zone: holder.zone,
            priority: holder.priority,
        });
        Configuration::new(holders.collect(), self.copies, self.zones)
            .map_err(|error| RegisterError::Configuration { key, error })
    }
}

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("numbers and texts can be written")
}

fn parsed<'a, T: Deserialize<'a>>(key: &'static str, bytes: &'a [u8]) -> Result<T, RegisterError> {
    serde_json::from_slice(bytes).map_err(|error| RegisterError::Json { key, error })
}

/// Writes `epochs`.
pub fn encode_records(records: &[EpochRecord]) -> String {
    let records = records.iter().map(|record| RecordText {
        epoch: record.epoch.0,
        primary: record.primary.0,
        origin: match record.origin {
            Origin::Regular => OriginText::Regular,
            Origin::Forced => OriginText::Forced,
        },
        progress: match record.progress {
            Progress::Claimed => ProgressText::Claimed,
            Progress::Opened => ProgressText::Opened,
        },
        configuration: ConfigurationText::of(&record.configuration),
    });
    text(&records.collect::<Vec<_>>())
}

/// Reads `epochs`.
///
/// # Errors
/// It is empty, not in order, or not what [`encode_records`] writes.
pub fn decode_records(bytes: &[u8]) -> Result<Vec<EpochRecord>, RegisterError> {
    let key = "epochs";
    let texts: Vec<RecordText> = parsed(key, bytes)?;
    let records = texts.into_iter().map(|record| {
        Ok(EpochRecord {
            epoch: Epoch(record.epoch),
            primary: MemberId(record.primary),
            origin: match record.origin {
                OriginText::Regular => Origin::Regular,
                OriginText::Forced => Origin::Forced,
            },
            progress: match record.progress {
                ProgressText::Claimed => Progress::Claimed,
                ProgressText::Opened => Progress::Opened,
            },
            configuration: record.configuration.configuration(key)?,
        })
    });
    let records: Vec<_> = records.collect::<Result<_, RegisterError>>()?;
    let impossible = |reason| Err(RegisterError::Impossible { key, reason });
    if records.is_empty() || records.len() > RECORDS_MAX {
        return impossible("the number of records is impossible");
    }
    if !records.windows(2).all(|pair| pair[0].epoch < pair[1].epoch) {
        return impossible("epochs do not ascend");
    }
    if records
        .last()
        .is_some_and(|last| last.epoch > crate::message_codec::EPOCH_MAX)
    {
        return impossible("the newest epoch is too high");
    }
    Ok(records)
}

/// Writes `settings`.
pub fn encode_settings(settings: &Settings) -> String {
    text(&SettingsText {
        wanted: settings.wanted.as_ref().map(ConfigurationText::of),
        copies: settings.copies,
        zones: settings.zones,
        elections: match settings.elections {
            Elections::Active => ElectionsText::Active,
            Elections::Paused => ElectionsText::Paused,
        },
    })
}

/// Reads `settings`.
///
/// # Errors
/// It is not what [`encode_settings`] writes.
pub fn decode_settings(bytes: &[u8]) -> Result<Settings, RegisterError> {
    let key = "settings";
    let settings: SettingsText = parsed(key, bytes)?;
    let wanted = settings.wanted.map(|wanted| wanted.configuration(key));
    Ok(Settings {
        wanted: wanted.transpose()?,
        copies: settings.copies,
        zones: settings.zones,
        elections: match settings.elections {
            ElectionsText::Active => Elections::Active,
            ElectionsText::Paused => Elections::Paused,
        },
    })
}

/// Writes an entry of the directory.
pub fn encode_member(member: &MemberEntry) -> String {
    text(member)
}

/// Reads an entry of the directory.
///
/// # Errors
/// It is not what [`encode_member`] writes.
pub fn decode_member(bytes: &[u8]) -> Result<MemberEntry, RegisterError> {
    let member: MemberEntry = parsed("members", bytes)?;
    match member.zone < Configuration::ZONES_MAX && member.id != 0 {
        true => Ok(member),
        false => Err(RegisterError::Impossible {
            key: "members",
            reason: "a zone or a number of a member is impossible",
        }),
    }
}

/// Writes a switch.
pub fn encode_switch(switch: &SwitchEntry) -> String {
    text(switch)
}

/// Reads a switch.
///
/// # Errors
/// It is not what [`encode_switch`] writes.
pub fn decode_switch(bytes: &[u8]) -> Result<SwitchEntry, RegisterError> {
    parsed("switch", bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(id: u32) -> Holder {
        Holder {
            id: MemberId(id),
            kind: match id == 3 {
                true => HolderKind::Archive,
                false => HolderKind::Server,
            },
            zone: id as u8,
            priority: 1,
        }
    }

    fn record(epoch: u64, holders: &[u32]) -> EpochRecord {
        let holders = holders.iter().map(|id| holder(*id)).collect();
        EpochRecord {
            epoch: Epoch(epoch),
            primary: MemberId(1),
            configuration: Settings::default().configuration(holders).unwrap(),
            origin: Origin::Regular,
            progress: Progress::Claimed,
        }
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        let forced = EpochRecord {
            origin: Origin::Forced,
            progress: Progress::Opened,
            ..record(9, &[1, 2, 3])
        };
        let records = vec![record(7, &[1]), forced];
        let text = encode_records(&records);
        assert_eq!(decode_records(text.as_bytes()).unwrap(), records);
        let settings = Settings {
            wanted: Some(records[1].configuration.clone()),
            copies: Some(2),
            zones: 2,
            elections: Elections::Paused,
        };
        let text = encode_settings(&settings);
        assert_eq!(decode_settings(text.as_bytes()).unwrap(), settings);
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for records in [
            vec![],
            vec![record(7, &[1]), record(7, &[1])],
            vec![record(u64::MAX, &[1])],
        ] {
            let text = encode_records(&records);
            assert!(decode_records(text.as_bytes()).is_err(), "{text}");
        }
        let text = encode_records(&[record(7, &[1, 2, 3])]);
        for changed in [
            text.replace("\"copies\":2", "\"copies\":4"),
            text.replace("\"id\":2", "\"id\":1"),
            text.replace("claimed", "closed"),
            text[..text.len() - 1].to_owned(),
        ] {
            assert_ne!(changed, text);
            assert!(decode_records(changed.as_bytes()).is_err(), "{changed}");
        }
    }

    #[test]
    fn a_claim_replaces_one_with_the_same_configuration_that_has_not_opened() {
        let mut register = Register::founded(holder(1)).unwrap();
        assert!(
            !register.claim(&record(2, &[1]), Epoch(7)),
            "another epoch is the newest"
        );
        assert!(!register.claim(&record(1, &[1]), Epoch(1)), "the number is used");
        assert!(
            !register.claim(&record(3, &[1, 2]), Epoch(1)),
            "nobody wants that"
        );
        register.want(record(3, &[1, 2]).configuration);
        assert!(register.claim(&record(3, &[1, 2]), Epoch(1)));
        assert!(register.claim(&record(4, &[1, 2]), Epoch(3)));
        let epochs: Vec<_> = register.records.iter().map(|record| record.epoch.0).collect();
        assert_eq!(epochs, [1, 4]);
    }

    #[test]
    fn an_opened_epoch_ends_those_before_it_and_the_wish_for_it() {
        let mut register = Register::founded(holder(1)).unwrap();
        register.want(record(5, &[1, 2, 3]).configuration);
        register.want(record(3, &[1, 2]).configuration);
        assert!(register.claim(&record(3, &[1, 2]), Epoch(1)));
        register.want(record(5, &[1, 2, 3]).configuration);
        assert!(register.claim(&record(5, &[1, 2, 3]), Epoch(3)));
        register.want(record(3, &[1, 2]).configuration);
        let opened = EpochRecord {
            progress: Progress::Opened,
            ..record(3, &[1, 2])
        };
        assert!(register.mark_opened(&opened));
        assert!(!register.mark_opened(&opened), "it is marked");
        assert_eq!(register.records, [opened, record(5, &[1, 2, 3])]);
        assert_eq!(register.settings.wanted, None);
        assert_eq!(register.newest().epoch, Epoch(5));
    }

    /// The primary has claimed an epoch without a member, and the operator wants the member after all.
    #[test]
    fn a_wish_that_is_taken_back_stays_one_while_its_claim_may_open() {
        let mut register = Register::founded(holder(1)).unwrap();
        let present = register.records[0].configuration.clone();
        register.want(record(3, &[1, 2]).configuration);
        assert!(register.claim(&record(3, &[1, 2]), Epoch(1)));
        register.want(present.clone());
        assert_eq!(register.settings.wanted, Some(present.clone()));
        let opened = |record| EpochRecord {
            progress: Progress::Opened,
            ..record
        };
        let mut without = register.clone();
        assert!(without.mark_opened(&opened(record(4, &[1]))));
        assert_eq!(without.settings.wanted, None, "the claim has failed");
        assert!(register.mark_opened(&opened(record(3, &[1, 2]))));
        assert_eq!(register.settings.wanted, Some(present.clone()), "it has opened");
        register.want(record(3, &[1, 2]).configuration);
        assert_eq!(register.settings.wanted, None);
    }
}
