//! The keys in a real etcd, and an etcd that is killed, stopped and comes back.

mod support;

use base64::prelude::{BASE64_STANDARD, Engine};
use paceline_cluster::{
    Claimer, Configuration, Elections, Epoch, EpochRecord, LogIndex, LogOrigin, LogTail, Origin, Progress,
    RoleName, Status,
};
use paceline_cluster_host::commands::{self, CommandError, Remainder};
use paceline_cluster_host::etcd::agent::{AWAY_AFTER, LEASE_SECONDS};
use paceline_cluster_host::etcd::store::Founding;
use paceline_cluster_host::etcd::{EtcdError, EtcdSettings, Store};
use paceline_cluster_host::register::Register;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use support::etcd_server::{EtcdServer, free_port};
use support::{PATIENCE, entry, member};
use tokio::time::{Instant, sleep};

async fn register(store: &Store) -> Register {
    store.read_founded().await.unwrap().register
}

fn claimed(register: &Register, epoch: u64, configuration: &Configuration) -> EpochRecord {
    EpochRecord {
        epoch: Epoch(epoch),
        configuration: configuration.clone(),
        ..register.newest().clone()
    }
}

#[tokio::test]
async fn a_cluster_is_founded_once_and_epochs_are_claimed_by_comparison() {
    let etcd = EtcdServer::start();
    let store = etcd.store("test");
    assert!(store.read().await.unwrap().is_none());
    assert!(matches!(store.read_founded().await, Err(EtcdError::NotFounded)));
    assert_eq!(store.found(&entry(1, 1)).await.unwrap(), Founding::Founded);
    assert_eq!(store.found(&entry(2, 1)).await.unwrap(), Founding::Exists);
    let founded = register(&store).await;
    assert_eq!(founded.members, [entry(1, 1)]);
    assert_eq!(founded.state().claimer, Claimer::Gone);
    assert_eq!(founded.newest().primary, member(1));

    store.enter(&entry(2, 7)).await.unwrap();
    store.enter(&entry(2, 8)).await.unwrap();
    assert_eq!(register(&store).await.members, [entry(1, 1), entry(2, 8)]);
    store.forget(member(2)).await.unwrap();
    assert_eq!(register(&store).await.members, [entry(1, 1)]);

    let lease = store.grant_lease(LEASE_SECONDS).await.unwrap();
    let alone = founded.newest().configuration.clone();
    let second = claimed(&founded, 2, &alone);
    store.claim(&second, Epoch(1), &lease).await.unwrap();
    // Another that has read the same.
    store
        .claim(&claimed(&founded, 3, &alone), Epoch(1), &lease)
        .await
        .unwrap();
    let claimed = register(&store).await;
    assert_eq!(
        claimed.records,
        std::slice::from_ref(&second),
        "it replaces the one that has not opened"
    );
    assert_eq!(claimed.state().claimer, Claimer::Alive);
    assert!(store.keep_lease(&lease).await.unwrap());

    let opened = EpochRecord {
        progress: Progress::Opened,
        ..second
    };
    store.mark_opened(&opened).await.unwrap();
    store.mark_opened(&opened).await.unwrap();
    assert_eq!(register(&store).await.records, [opened]);

    // Nobody keeps the lease.
    let ends = Instant::now() + PATIENCE;
    while register(&store).await.state().claimer == Claimer::Alive {
        assert!(Instant::now() < ends, "the lease never ends");
        // etcd ends it by its own clock.
        sleep(Duration::from_millis(100)).await;
    }
    assert!(!store.keep_lease(&lease).await.unwrap());
    // Another cluster in the same etcd, whose name begins alike.
    assert!(etcd.store("tes").read().await.unwrap().is_none());
    assert!(etcd.store("test2").read().await.unwrap().is_none());
}

#[tokio::test]
async fn claims_at_the_same_time_win_once() {
    let etcd = EtcdServer::start();
    let store = std::sync::Arc::new(etcd.store("test"));
    store.found(&entry(1, 1)).await.unwrap();
    let founded = register(&store).await;
    let lease = store.grant_lease(LEASE_SECONDS).await.unwrap();
    let mut claims = tokio::task::JoinSet::new();
    for number in 0..16 {
        let (store, lease) = (std::sync::Arc::clone(&store), lease.clone());
        let record = EpochRecord {
            primary: member(number + 1),
            ..claimed(&founded, 2, &founded.newest().configuration)
        };
        claims.spawn(async move { store.claim(&record, Epoch(1), &lease).await });
    }
    while let Some(claim) = claims.join_next().await {
        claim.unwrap().unwrap();
    }
    let records = register(&store).await.records;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].epoch, Epoch(2));
}

#[tokio::test]
async fn a_new_member_replaces_those_at_its_address_that_hold_no_log() {
    let etcd = EtcdServer::start();
    let store = etcd.store("test");
    store.found(&entry(1, 1)).await.unwrap();
    store.enter(&entry(2, 2)).await.unwrap();
    let settings = register(&store).await.settings;
    let holders = vec![entry(1, 1).holder(), entry(2, 2).holder()];
    let opened = EpochRecord {
        epoch: Epoch(2),
        configuration: settings.configuration(holders).unwrap(),
        progress: Progress::Opened,
        ..register(&store).await.newest().clone()
    };
    store.mark_opened(&opened).await.unwrap();
    store.enter(&entry(3, 3)).await.unwrap();
    for replacement in [4, 5, 6] {
        store
            .enter(&entry(replacement, replacement as u16 - 3))
            .await
            .unwrap();
    }
    let entered = register(&store).await.members;
    let mut entered: Vec<u32> = entered.iter().map(|entry| entry.id).collect();
    entered.sort_unstable();
    assert_eq!(entered, [1, 2, 4, 5, 6], "3 held no log");
}

/// A member that was removed and is dead is added again; then another one is started in its place. The dead one would
/// keep the wanted configuration from being established for ever.
#[tokio::test]
async fn a_new_member_replaces_a_dead_one_that_was_wanted_as_a_holder() {
    let etcd = EtcdServer::start();
    let store = etcd.store("test");
    store.found(&entry(1, 1)).await.unwrap();
    store.enter(&entry(2, 2)).await.unwrap();
    store.enter(&entry(3, 3)).await.unwrap();
    for wanted in [2, 3] {
        commands::add(&store, member(wanted)).await.unwrap();
    }
    store.enter(&entry(4, 2)).await.unwrap();
    let of = |register: &Register| {
        let mut entered: Vec<_> = register.members.iter().map(|entry| entry.id).collect();
        entered.sort_unstable();
        let wanted = register.settings.wanted.as_ref();
        let wanted = wanted.map(|wanted| {
            wanted
                .holders()
                .iter()
                .map(|holder| holder.id.0)
                .collect::<Vec<_>>()
        });
        (entered, wanted)
    };
    assert_eq!(of(&register(&store).await), (vec![1, 3, 4], Some(vec![1, 3])));
    store.enter(&entry(5, 3)).await.unwrap();
    assert_eq!(
        of(&register(&store).await),
        (vec![1, 4, 5], None),
        "what is wanted is what there is"
    );
}

#[tokio::test]
async fn operators_change_the_settings() {
    let etcd = EtcdServer::start();
    let store = etcd.store("test");
    assert!(matches!(
        commands::overview(&store).await,
        Err(CommandError::Etcd(EtcdError::NotFounded))
    ));
    store.found(&entry(1, 1)).await.unwrap();
    for id in 2..=3 {
        store.enter(&entry(id, id as u16)).await.unwrap();
    }
    assert!(matches!(
        commands::add(&store, member(9)).await,
        Err(CommandError::Unknown(_))
    ));
    assert_eq!(commands::find(&store, "m2").await.unwrap(), member(2));
    commands::add(&store, member(2)).await.unwrap();
    let wanted = commands::add(&store, member(3)).await.unwrap();
    assert_eq!((wanted.holders().len(), wanted.copies()), (3, 2));
    let fixed = commands::set_copies(&store, Some(3), 1).await.unwrap();
    assert_eq!(fixed.copies(), 3);
    assert!(matches!(
        commands::set_copies(&store, Some(4), 1).await,
        Err(CommandError::Configuration(_))
    ));
    assert!(matches!(
        commands::remove(&store, member(3)).await,
        Err(CommandError::Configuration(_))
    ));
    commands::set_copies(&store, None, 1).await.unwrap();
    commands::remove(&store, member(3)).await.unwrap();
    let wanted = register(&store).await.settings.wanted.unwrap();
    assert_eq!((wanted.holders().len(), wanted.copies()), (2, 2));
    commands::remove(&store, member(2)).await.unwrap();
    assert_eq!(register(&store).await.settings.wanted, None, "it is as it was");
    commands::remove(&store, member(3)).await.unwrap();
    assert_eq!(register(&store).await.members.len(), 2, "it is no longer listed");
    let waited = commands::await_wanted(&store, Duration::from_secs(5)).await;
    assert!(waited.is_ok());

    commands::pause(&store).await.unwrap();
    assert_eq!(register(&store).await.settings.elections, Elections::Paused);
    commands::resume(&store).await.unwrap();
    assert_eq!(register(&store).await.settings.elections, Elections::Active);

    let mut remainder = Remainder {
        primary: member(2),
        holders: vec![member(1)],
        copies: None,
        least: Epoch(0),
    };
    let before = register(&store).await;
    for refused in [
        commands::check_remainder(&store, &remainder).await,
        commands::restore_quorum(&store, &remainder).await.map(drop),
    ] {
        assert!(matches!(refused, Err(CommandError::NotLeft(_))), "{refused:?}");
    }
    assert_eq!(register(&store).await, before);
    remainder.holders.push(member(2));
    let forced = commands::restore_quorum(&store, &remainder).await.unwrap();
    assert_eq!(
        (forced.origin, forced.epoch, forced.primary),
        (Origin::Forced, Epoch(2), member(2))
    );
    remainder.least = Epoch(50);
    let forced = commands::restore_quorum(&store, &remainder).await.unwrap();
    assert_eq!(forced.epoch, Epoch(50));
    assert_eq!(register(&store).await.newest(), &forced);

    let limit = Duration::from_secs(1);
    let switched = commands::switch(&store, member(1), limit).await;
    assert!(
        matches!(switched, Err(CommandError::NoAnswer(_))),
        "there is no primary: {switched:?}"
    );
    let switched = commands::switch(&store, member(1), limit).await;
    assert!(
        matches!(switched, Err(CommandError::Busy)),
        "the request is still there: {switched:?}"
    );
}

#[tokio::test]
async fn another_url_answers_when_one_does_not() {
    let etcd = EtcdServer::start();
    // Nothing listens at the first; the second listens and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("http://{}", silent.local_addr().unwrap());
    let settings = EtcdSettings {
        urls: vec![
            format!("127.0.0.1:{}", free_port()),
            silent_url.clone(),
            etcd.url(),
        ],
        timeout: Duration::from_millis(300),
        ..etcd.settings()
    };
    let store = Store::new(&settings, "test").unwrap();
    store.found(&entry(1, 1)).await.unwrap();
    let begin = Instant::now();
    store.read_founded().await.unwrap();
    assert!(
        begin.elapsed() < Duration::from_millis(300),
        "the one that answered is asked first"
    );
    let settings = EtcdSettings {
        urls: vec![silent_url],
        ..settings
    };
    let error = Store::new(&settings, "test").unwrap().read().await.unwrap_err();
    assert!(matches!(error, EtcdError::Away(_)), "{error}");
}

#[tokio::test]
async fn a_user_logs_in_again_when_the_token_has_ended() {
    let etcd = EtcdServer::start_with(&["--auth-token-ttl".to_owned(), "1".to_owned()], "http");
    etcd.call("/v3/auth/user/add", json!({"name": "root", "password": "geheim"}))
        .await;
    etcd.call("/v3/auth/role/add", json!({"name": "root"})).await;
    etcd.call("/v3/auth/user/grant", json!({"user": "root", "role": "root"}))
        .await;
    etcd.call("/v3/auth/enable", json!({})).await;
    let error = etcd.store("test").read().await.unwrap_err();
    assert!(matches!(error, EtcdError::Refused(_)), "{error}");
    let with = |password: &str| EtcdSettings {
        user: Some(("root".to_owned(), password.to_owned())),
        ..etcd.settings()
    };
    let error = Store::new(&with("falsch"), "test")
        .unwrap()
        .read()
        .await
        .unwrap_err();
    assert!(matches!(error, EtcdError::Refused(_)), "{error}");
    assert!(!error.to_string().contains("falsch"));
    let store = Store::new(&with("geheim"), "test").unwrap();
    store.found(&entry(1, 1)).await.unwrap();
    // etcd ends a token by its own clock.
    sleep(Duration::from_secs(3)).await;
    store.read_founded().await.unwrap();
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    let lines = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap());
    let lines = lines.collect::<Vec<_>>().join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}

/// Writes an authority, and certificates of it for a server and a client. Returns their paths by name.
fn certificates(directory: &std::path::Path) -> impl Fn(&str) -> PathBuf {
    use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(vec![]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let directory = directory.to_owned();
    let path = move |name: &str| directory.join(name);
    std::fs::write(path("ca.pem"), pem("CERTIFICATE", authority_certificate.der())).unwrap();
    for name in ["server", "client"] {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        parameters.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let certificate = parameters.signed_by(&key, &issuer).unwrap();
        std::fs::write(
            path(&format!("{name}.pem")),
            pem("CERTIFICATE", certificate.der()),
        )
        .unwrap();
        std::fs::write(
            path(&format!("{name}.key")),
            pem("PRIVATE KEY", &key.serialize_der()),
        )
        .unwrap();
    }
    path
}

#[tokio::test]
async fn certificates_are_checked_on_both_sides() {
    let directory = tempfile::tempdir().unwrap();
    let path = certificates(directory.path());
    let argument = |name: &str| path(name).to_str().unwrap().to_owned();
    let arguments = [
        "--cert-file".to_owned(),
        argument("server.pem"),
        "--key-file".to_owned(),
        argument("server.key"),
        "--trusted-ca-file".to_owned(),
        argument("ca.pem"),
        "--client-cert-auth".to_owned(),
    ];
    let etcd = EtcdServer::start_with(&arguments, "https");
    let whole = EtcdSettings {
        authority: Some(path("ca.pem")),
        certificate: Some((path("client.pem"), path("client.key"))),
        ..etcd.settings()
    };
    let store = Store::new(&whole, "test").unwrap();
    let ends = Instant::now() + PATIENCE;
    // Its port is open before it serves.
    while store.found(&entry(1, 1)).await.is_err() {
        assert!(Instant::now() < ends);
        sleep(Duration::from_millis(50)).await;
    }
    store.read_founded().await.unwrap();
    let without_certificate = EtcdSettings {
        certificate: None,
        ..whole.clone()
    };
    let without_authority = EtcdSettings {
        authority: None,
        ..whole
    };
    for settings in [without_certificate, without_authority] {
        let error = Store::new(&settings, "test").unwrap().read().await.unwrap_err();
        assert!(matches!(error, EtcdError::Away(_)), "{error}");
    }
}

mod agent {
    use super::*;
    use paceline_cluster::{Message, Timing};
    use paceline_cluster_host::etcd::EtcdAgent;
    use paceline_cluster_host::{ClusterHandle, Driver, MessageSender, PromiseFile, StoredMember};
    use std::sync::Arc;
    use support::memory_host::Hosts;
    use support::until_status;
    use tokio::sync::{mpsc, watch};
    use tokio::task::JoinSet;

    struct NoPost;

    impl MessageSender for NoPost {
        fn send(&self, _to: paceline_cluster::MemberId, _message: Message) {}
    }

    struct Running {
        handle: ClusterHandle,
        _directory: tempfile::TempDir,
        _tasks: JoinSet<()>,
    }

    fn start(store: Store, hosts: &Hosts, id: u32) -> Running {
        let directory = tempfile::tempdir().unwrap();
        let (promise_file, promise) = PromiseFile::open(directory.path()).unwrap();
        let host = hosts.create(member(id), Vec::new(), 0);
        let stored = StoredMember {
            id: member(id),
            promise_file,
            promise,
            applied: LogIndex(0),
            origin: LogOrigin::Unknown,
        };
        let (requests, queue) = mpsc::channel(16);
        let directories = watch::Sender::default();
        let (handle, driver) = Driver::new(
            stored,
            Timing::default(),
            host,
            Arc::new(NoPost),
            directories,
            requests,
        );
        let agent = EtcdAgent::new(Arc::new(store), entry(id, id as u16), handle.clone(), queue);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            driver.run().await;
        });
        tasks.spawn(agent.run());
        Running {
            handle,
            _directory: directory,
            _tasks: tasks,
        }
    }

    fn is_open(status: &Status) -> bool {
        status.role == RoleName::Primary && status.waits.is_none()
    }

    #[tokio::test]
    async fn a_primary_goes_on_while_etcd_is_killed_or_stopped_and_learns_of_changes_at_once() {
        let mut etcd = EtcdServer::start();
        let store = etcd.store("test");
        store.found(&entry(1, 1)).await.unwrap();
        let hosts = Hosts::new();
        let running = start(etcd.store("test"), &hosts, 1);
        until_status(&running.handle, "it opens", is_open).await;
        let host = hosts.primary().unwrap();
        assert_eq!(host.log().len(), 1);

        // A member that only listens shows what its agent knows.
        let listener = start(etcd.store("test"), &hosts, 2);
        let knows_etcd = |status: &Status| status.waits != Some(paceline_cluster::Wait::Etcd);
        let misses_etcd = |status: &Status| status.waits == Some(paceline_cluster::Wait::Etcd);
        until_status(&listener.handle, "it hears etcd", knows_etcd).await;
        let mut directory = listener.handle.directory();
        directory.wait_for(|members| members.len() == 2).await.unwrap();
        let begin = Instant::now();
        store.enter(&entry(3, 3)).await.unwrap();
        directory.wait_for(|members| members.len() == 3).await.unwrap();
        println!("a change is known after {:?}", begin.elapsed());
        // An entry with the address of a running member is not its own: the member takes its place again.
        store.enter(&entry(9, 2)).await.unwrap();
        let mut ids = Vec::new();
        let ends = Instant::now() + PATIENCE;
        while ids != [1, 2, 3] {
            assert!(Instant::now() < ends, "{ids:?}");
            sleep(Duration::from_millis(10)).await;
            ids = register(&store)
                .await
                .members
                .iter()
                .map(|entry| entry.id)
                .collect();
        }

        for is_killed in [false, true] {
            match is_killed {
                true => etcd.kill(),
                false => etcd.signal("-STOP"),
            }
            let begin = Instant::now();
            until_status(&listener.handle, "etcd is away", misses_etcd).await;
            assert!(
                begin.elapsed() < AWAY_AFTER + Duration::from_secs(2),
                "{:?}",
                begin.elapsed()
            );
            let number = 1 + u64::from(is_killed);
            assert_eq!(
                host.commit(number).await,
                support::memory_host::Fate::Acknowledged
            );
            match is_killed {
                true => etcd.restart(),
                false => etcd.signal("-CONT"),
            }
            until_status(&listener.handle, "etcd is back", knows_etcd).await;
        }
        commands::pause(&store).await.unwrap();
        let is_paused = |handle: &ClusterHandle| {
            let state = handle.etcd_state();
            state.is_some_and(|state| state.elections == Elections::Paused)
        };
        let ends = Instant::now() + PATIENCE;
        while !is_paused(&listener.handle) {
            assert!(Instant::now() < ends);
            // The state of etcd is no part of the member's.
            sleep(Duration::from_millis(10)).await;
        }
        let records = register(&store).await.records;
        assert_eq!(records[0].progress, Progress::Opened);
        assert_eq!(records.len(), 1, "nobody has claimed meanwhile");
        assert_eq!(host.reads_until().0.cmp(&0), std::cmp::Ordering::Greater);
        assert_ne!(running.handle.status().end, LogTail::default().end());
    }

    #[tokio::test]
    async fn a_switch_to_the_primary_or_to_no_server_is_refused() {
        let etcd = EtcdServer::start();
        let store = etcd.store("test");
        store.found(&entry(1, 1)).await.unwrap();
        let hosts = Hosts::new();
        let running = start(etcd.store("test"), &hosts, 1);
        until_status(&running.handle, "it opens", is_open).await;
        let ends = Instant::now() + PATIENCE;
        while register(&store).await.newest().progress != Progress::Opened {
            assert!(Instant::now() < ends);
            // The primary writes it by itself.
            sleep(Duration::from_millis(10)).await;
        }
        let limit = Duration::from_secs(10);
        let switched = commands::switch(&store, member(1), limit).await;
        assert!(
            matches!(switched, Err(CommandError::IsPrimaryAlready(_))),
            "{switched:?}"
        );
        let switched = commands::switch(&store, member(2), limit).await;
        assert!(matches!(switched, Err(CommandError::NoServer(_))), "{switched:?}");
    }
}
