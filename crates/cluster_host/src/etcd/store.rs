//! The keys of a cluster in etcd ([`crate::register`]): one read of all, and changes by compare-and-swap.

use super::gateway::{EtcdError, EtcdSettings, Gateway};
use crate::member_file::is_cluster_name;
use crate::register::{
    MEMBERS_MAX, MemberEntry, Register, RegisterError, Settings, SwitchEntry, decode_member, decode_records,
    decode_settings, decode_switch, encode_member, encode_records, encode_settings, encode_switch,
};
use base64::prelude::{BASE64_STANDARD, Engine};
use paceline_cluster::{Epoch, EpochRecord, MemberId};
use reqwest::Response;
use serde_json::{Value, json};

/// Maximum number of keys of a cluster.
const KEYS_MAX: usize = MEMBERS_MAX + 16;
/// Number of times that a change is tried when others change the same key.
const TRIES: usize = 20;

/// Lease of etcd.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaseId(String);

/// Result of founding a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Founding {
    /// The cluster is new.
    Founded,
    /// Another was first.
    Exists,
}

/// Revision of a key; 0: it does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct KeyRevision(u64);

/// The cluster's keys at one revision of etcd.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Their content.
    pub register: Register,
    records: KeyRevision,
    settings: KeyRevision,
    switch: KeyRevision,
}

/// The keys of one cluster.
pub struct Store {
    gateway: Gateway,
    prefix: String,
}

impl Store {
    /// Creates a client; connects later.
    ///
    /// # Errors
    /// The settings cannot work, or the name is none for a cluster.
    pub fn new(settings: &EtcdSettings, cluster: &str) -> Result<Store, EtcdError> {
        if !is_cluster_name(cluster) {
            return Err(EtcdError::Settings(format!(
                "{cluster:?} is no name for a cluster"
            )));
        }
        Ok(Store {
            gateway: Gateway::new(settings)?,
            prefix: format!("/paceline/{cluster}/"),
        })
    }

    /// Reads all keys. `None`: the cluster was not founded.
    ///
    /// # Errors
    /// etcd does not answer, or a value is impossible.
    pub async fn read(&self) -> Result<Option<Snapshot>, EtcdError> {
        let body = json!({
            "key": encoded(&self.prefix),
            "range_end": encoded(&self.range_end()),
            "limit": KEYS_MAX.to_string(),
        });
        let answer = self.gateway.call("/v3/kv/range", &body).await?;
        self.snapshot(&answer)
    }

    /// Reads all keys of a cluster that must exist.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), and [`EtcdError::NotFounded`].
    pub async fn read_founded(&self) -> Result<Snapshot, EtcdError> {
        self.read().await?.ok_or(EtcdError::NotFounded)
    }

    /// Claims to found the cluster, before a directory for it is made. Returns whether the claim succeeded: the cluster
    /// does not exist, and no other claim holds. The claim ends with its lease.
    ///
    /// # Errors
    /// etcd does not answer, or the lease has ended.
    pub async fn claim_founding(&self, lease: &LeaseId) -> Result<bool, EtcdError> {
        let compare = [
            self.compare("epochs", KeyRevision(0)),
            self.compare("founder", KeyRevision(0)),
        ];
        let put = self.put("founder", "", Some(lease));
        self.transaction(&compare, &[put]).await
    }

    /// Founds the cluster with this member alone, unless it exists.
    ///
    /// # Errors
    /// etcd does not answer, or the member cannot be alone: an archive.
    pub async fn found(&self, entry: &MemberEntry) -> Result<Founding, EtcdError> {
        let register = Register::founded(entry.holder()).map_err(|error| RegisterError::Configuration {
            key: "members",
            error,
        })?;
        let compare = [self.compare("epochs", KeyRevision(0))];
        let changes = [
            self.put("epochs", &encode_records(&register.records), None),
            self.put("settings", &encode_settings(&register.settings), None),
            self.put(&member_key(entry.member()), &encode_member(entry), None),
        ];
        Ok(match self.transaction(&compare, &changes).await? {
            true => Founding::Founded,
            false => Founding::Exists,
        })
    }

    /// Writes the member's entry into the directory. It takes the place of members with its address that are no log
    /// holders: their directory of files was emptied, and they will not come back.
    ///
    /// # Errors
    /// etcd does not answer, or the directory is full.
    pub async fn enter(&self, entry: &MemberEntry) -> Result<(), EtcdError> {
        let give_up = |register: &mut Register| Ok::<_, EtcdError>(register.give_up_replaced(entry));
        let register = self.change(give_up).await?;
        let members = &register.members;
        let mut changes: Vec<_> = register
            .replaced_by(entry)
            .map(|other| self.delete(&member_key(other.member())))
            .collect();
        if members.contains(entry) && changes.is_empty() {
            return Ok(());
        }
        let is_known = members.iter().any(|member| member.id == entry.id);
        if !is_known && members.len() - changes.len() >= MEMBERS_MAX {
            return Err(EtcdError::Refused("the directory of members is full".to_owned()));
        }
        changes.push(self.put(&member_key(entry.member()), &encode_member(entry), None));
        self.transaction(&[], &changes).await.map(|_| ())
    }

    /// Removes the member's entry from the directory.
    ///
    /// # Errors
    /// etcd does not answer.
    pub async fn forget(&self, member: MemberId) -> Result<(), EtcdError> {
        let delete = self.delete(&member_key(member));
        self.transaction(&[], &[delete]).await.map(|_| ())
    }

    /// Appends a claim if the newest epoch is `newest` ([`Register::claim`]). The claimer's key is put under the
    /// lease. Whether it succeeded shows the next read.
    ///
    /// # Errors
    /// etcd does not answer; the claim may have been made.
    pub async fn claim(&self, record: &EpochRecord, newest: Epoch, lease: &LeaseId) -> Result<(), EtcdError> {
        let mut snapshot = self.read_founded().await?;
        if !snapshot.register.claim(record, newest) {
            return Ok(());
        }
        let changes = [
            self.put("epochs", &encode_records(&snapshot.register.records), None),
            self.put("claimer", &record.epoch.0.to_string(), Some(lease)),
        ];
        let compare = [
            self.compare("epochs", snapshot.records),
            // The claim was checked against these settings.
            self.compare("settings", snapshot.settings),
        ];
        self.transaction(&compare, &changes).await.map(|_| ())
    }

    /// Marks an epoch as opened ([`Register::mark_opened`]).
    ///
    /// # Errors
    /// etcd does not answer; the mark may have been made.
    pub async fn mark_opened(&self, record: &EpochRecord) -> Result<(), EtcdError> {
        self.change(|register| Ok(register.mark_opened(record)))
            .await
            .map(|_| ())
    }

    /// Changes the list of epochs and the settings, and tries again when another was faster. `change` returns whether
    /// it has changed anything. Returns the register as it is then.
    ///
    /// # Errors
    /// That of `change`; or etcd does not answer, and the change may have been made.
    pub async fn change<E: From<EtcdError>>(
        &self,
        mut change: impl FnMut(&mut Register) -> Result<bool, E>,
    ) -> Result<Register, E> {
        for _ in 0..TRIES {
            let mut snapshot = self.read_founded().await?;
            let before = snapshot.register.records.clone();
            if !change(&mut snapshot.register)? {
                return Ok(snapshot.register);
            }
            let register = snapshot.register;
            // A forced epoch ends what its forerunner's claimer was about to do.
            let mut changes = vec![self.put("settings", &encode_settings(&register.settings), None)];
            if register.records != before {
                changes.push(self.put("epochs", &encode_records(&register.records), None));
            }
            let compare = [
                self.compare("epochs", snapshot.records),
                self.compare("settings", snapshot.settings),
            ];
            if self.transaction(&compare, &changes).await? {
                return Ok(register);
            }
        }
        Err(EtcdError::Contended.into())
    }

    /// Writes a request for a switch, or its result, in the place of what `snapshot` has. Returns whether it did:
    /// another may be faster.
    ///
    /// # Errors
    /// etcd does not answer.
    pub async fn put_switch(
        &self,
        snapshot: &Snapshot,
        entry: &SwitchEntry,
        lease: &LeaseId,
    ) -> Result<bool, EtcdError> {
        let compare = [self.compare("switch", snapshot.switch)];
        let put = self.put("switch", &encode_switch(entry), Some(lease));
        self.transaction(&compare, &[put]).await
    }

    /// Takes a lease.
    ///
    /// # Errors
    /// etcd does not answer.
    pub async fn grant_lease(&self, seconds: u64) -> Result<LeaseId, EtcdError> {
        let body = json!({"TTL": seconds.to_string()});
        let answer = self.gateway.call("/v3/lease/grant", &body).await?;
        match answer["ID"].as_str() {
            Some(id) => Ok(LeaseId(id.to_owned())),
            None => Err(EtcdError::Malformed("a lease without a number")),
        }
    }

    /// Extends a lease. Returns whether it still exists.
    ///
    /// # Errors
    /// etcd does not answer.
    pub async fn keep_lease(&self, lease: &LeaseId) -> Result<bool, EtcdError> {
        let answer = self
            .gateway
            .call("/v3/lease/keepalive", &json!({"ID": lease.0}))
            .await?;
        Ok(number(&answer["result"]["TTL"]) > 0)
    }

    /// Opens a stream to which etcd sends something when it begins and when a key changes.
    pub(super) async fn watch(&self) -> Result<Response, EtcdError> {
        let create = json!({
            "key": encoded(&self.prefix),
            "range_end": encoded(&self.range_end()),
        });
        let body = json!({"create_request": create});
        self.gateway.stream("/v3/watch", &body).await
    }

    /// Executes the changes if all comparisons hold; returns whether they did.
    async fn transaction(&self, compare: &[Value], changes: &[Value]) -> Result<bool, EtcdError> {
        let body = json!({"compare": compare, "success": changes});
        let answer = self.gateway.call("/v3/kv/txn", &body).await?;
        // A false field is left out.
        Ok(answer["succeeded"].as_bool().unwrap_or(false))
    }

    fn compare(&self, key: &str, revision: KeyRevision) -> Value {
        json!({
            "key": encoded(&format!("{}{key}", self.prefix)),
            "target": "MOD",
            "result": "EQUAL",
            "mod_revision": revision.0.to_string(),
        })
    }

    fn put(&self, key: &str, value: &str, lease: Option<&LeaseId>) -> Value {
        let lease = lease.map_or("0", |lease| &lease.0);
        json!({"request_put": {
            "key": encoded(&format!("{}{key}", self.prefix)),
            "value": encoded(value),
            "lease": lease,
        }})
    }

    fn delete(&self, key: &str) -> Value {
        json!({"request_delete_range": {"key": encoded(&format!("{}{key}", self.prefix))}})
    }

    /// Returns the first key after those of the cluster: `0` comes after `/`.
    fn range_end(&self) -> String {
        format!("{}0", self.prefix.trim_end_matches('/'))
    }

    fn snapshot(&self, answer: &Value) -> Result<Option<Snapshot>, EtcdError> {
        if answer["more"].as_bool() == Some(true) {
            return Err(EtcdError::Malformed("the cluster has too many keys"));
        }
        let none = Vec::new();
        let pairs = answer["kvs"].as_array().unwrap_or(&none);
        let mut snapshot = Snapshot {
            register: Register {
                records: Vec::new(),
                settings: Settings::default(),
                claimed: None,
                members: Vec::new(),
                switch: None,
            },
            records: KeyRevision(0),
            settings: KeyRevision(0),
            switch: KeyRevision(0),
        };
        for pair in pairs {
            let key = decoded(&pair["key"])?;
            let key = key.strip_prefix(self.prefix.as_bytes());
            let key = key.ok_or(EtcdError::Malformed("a key of another cluster"))?;
            let value = decoded(&pair["value"])?;
            let revision = KeyRevision(number(&pair["mod_revision"]));
            let register = &mut snapshot.register;
            match key {
                b"epochs" => (register.records, snapshot.records) = (decode_records(&value)?, revision),
                b"settings" => (register.settings, snapshot.settings) = (decode_settings(&value)?, revision),
                b"switch" => (register.switch, snapshot.switch) = (decode_switch(&value).ok(), revision),
                b"claimer" => {
                    let epoch = std::str::from_utf8(&value)
                        .ok()
                        .and_then(|text| text.parse().ok());
                    register.claimed = epoch.map(Epoch);
                }
                key if key.starts_with(b"members/") => register.members.push(decode_member(&value)?),
                // A later version may have more.
                _ => {}
            }
        }
        match snapshot.register.records.is_empty() {
            true => Ok(None),
            false => Ok(Some(snapshot)),
        }
    }
}

fn member_key(member: MemberId) -> String {
    format!("members/{}", member.0)
}

fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn decoded(value: &Value) -> Result<Vec<u8>, EtcdError> {
    // An empty value is left out.
    let text = value.as_str().unwrap_or_default();
    BASE64_STANDARD
        .decode(text)
        .map_err(|_| EtcdError::Malformed("a key or a value is not in base 64"))
}

/// Returns a 64-bit number, which the gateway writes as a text; 0 is left out.
fn number(value: &Value) -> u64 {
    let number = value.as_str().and_then(|text| text.parse().ok());
    number.or_else(|| value.as_u64()).unwrap_or(0)
}
