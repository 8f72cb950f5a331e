//! The driver with logs in memory. Messages and etcd are function calls.

mod support;

use paceline_cluster::{
    Claimer, Elections, Epoch, LogIndex, LogOrigin, MemberId, Message, Progress, RoleName, SwitchError,
    Timing,
};
use paceline_cluster_host::register::Register;
use paceline_cluster_host::{
    ClusterHandle, Driver, DriverError, MemberFile, MessageSender, PromiseFile, RegisterRequest,
    StoredMember, SwitchFailure,
};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use support::memory_host::{Entry, Fate, Hosts, MemoryHost, Refusal};
use support::{PATIENCE, entry, member, until_status};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Members, their messages and a register in one process.
#[derive(Clone)]
struct World {
    hosts: Hosts,
    handles: Arc<Mutex<HashMap<MemberId, ClusterHandle>>>,
    register: Arc<Mutex<Register>>,
}

struct Post {
    from: MemberId,
    world: World,
}

impl MessageSender for Post {
    fn send(&self, to: MemberId, message: Message) {
        if let Some(handle) = self.world.handles.lock().get(&to) {
            handle.message(self.from, message);
        }
    }
}

struct Running {
    id: MemberId,
    world: World,
    handle: ClusterHandle,
    host: Arc<MemoryHost>,
    directory: TempDir,
    driver: JoinHandle<DriverError>,
    agent: JoinHandle<()>,
}

impl World {
    fn new() -> World {
        World {
            hosts: Hosts::new(),
            handles: Arc::default(),
            register: Arc::new(Mutex::new(Register::founded(entry(1, 1).holder()).unwrap())),
        }
    }

    fn start(&self, id: u32) -> Running {
        let host = self.hosts.create(member(id), Vec::new(), 0);
        self.start_in(member(id), tempfile::tempdir().unwrap(), host)
    }

    fn start_in(&self, id: MemberId, directory: TempDir, host: Arc<MemoryHost>) -> Running {
        let (promise_file, promise) = PromiseFile::open(directory.path()).unwrap();
        MemberFile::open(directory.path(), "test").unwrap();
        let stored = StoredMember {
            id,
            promise_file,
            promise,
            applied: LogIndex(host.published() as u64),
            origin: LogOrigin::Unknown,
        };
        let (requests, mut queue) = mpsc::channel(16);
        let post = Post {
            from: id,
            world: self.clone(),
        };
        let directory_sender = watch::Sender::default();
        let timing = Timing::default();
        let log: Arc<MemoryHost> = Arc::clone(&host);
        let (handle, driver) = Driver::new(stored, timing, log, Arc::new(post), directory_sender, requests);
        self.handles.lock().insert(id, handle.clone());
        let world = self.clone();
        let told = handle.clone();
        let agent = tokio::spawn(async move {
            loop {
                told.etcd(world.state());
                match timeout(Duration::from_millis(100), queue.recv()).await {
                    Ok(Some(request)) => world.execute(&request),
                    Ok(None) => return,
                    Err(_) => {}
                }
            }
        });
        Running {
            id,
            world: self.clone(),
            handle,
            host,
            directory,
            driver: tokio::spawn(driver.run()),
            agent,
        }
    }

    fn state(&self) -> paceline_cluster::EtcdState {
        paceline_cluster::EtcdState {
            claimer: Claimer::Gone,
            ..self.register.lock().state()
        }
    }

    fn execute(&self, request: &RegisterRequest) {
        let mut register = self.register.lock();
        match request {
            RegisterRequest::Claim { record, newest } => register.claim(record, *newest),
            RegisterRequest::MarkOpened(record) => register.mark_opened(record),
        };
    }

    /// Wants a configuration of these members, and waits until it has opened.
    async fn establish(&self, ids: &[u32]) {
        let holders = ids.iter().map(|id| entry(*id, 1).holder()).collect();
        {
            let mut register = self.register.lock();
            let wanted = register.settings.configuration(holders).unwrap();
            register.settings.wanted = Some(wanted);
        }
        self.until("the configuration opens", |world| {
            world.register.lock().settings.wanted.is_none()
        })
        .await;
    }

    async fn until(&self, what: &str, condition: impl Fn(&World) -> bool) {
        let waited = timeout(PATIENCE, async {
            while !condition(self) {
                // The register tells nobody of its changes.
                sleep(Duration::from_millis(5)).await;
            }
        });
        assert!(waited.await.is_ok(), "{what}");
    }
}

impl Running {
    async fn until_open(&self) {
        until_status(&self.handle, "the primary opens", |status| {
            status.role == RoleName::Primary && status.waits.is_none()
        })
        .await;
    }

    async fn until_follows(&self, primary: &Running) {
        until_status(&self.handle, "it follows", |status| {
            status.primary == Some(primary.id)
        })
        .await;
    }

    async fn until_published(&self, index: usize) {
        until_status(&self.handle, "it publishes", |status| {
            status.published >= LogIndex(index as u64)
        })
        .await;
    }

    /// Ends the process. The others notice.
    fn kill(self) -> (MemberId, TempDir, Arc<MemoryHost>) {
        self.driver.abort();
        self.agent.abort();
        self.world.handles.lock().remove(&self.id);
        let (log, published) = self.world.hosts.remove(self.id);
        for handle in self.world.handles.lock().values() {
            handle.disconnected(self.id);
        }
        let host = self.world.hosts.create(self.id, log, published);
        (self.id, self.directory, host)
    }
}

async fn three() -> (World, [Running; 3]) {
    let world = World::new();
    let members = [world.start(1), world.start(2), world.start(3)];
    members[0].until_open().await;
    world.establish(&[1, 2, 3]).await;
    members[0].until_open().await;
    let end = members[0].host.log().len();
    for follower in &members[1..] {
        follower.until_published(end).await;
    }
    (world, members)
}

#[tokio::test]
async fn a_member_alone_opens_commits_and_has_new_reads() {
    let world = World::new();
    let alone = world.start(1);
    alone.until_open().await;
    assert_eq!(alone.host.commit(1).await, Fate::Acknowledged);
    assert_eq!(alone.host.commit(2).await, Fate::Acknowledged);
    assert!(alone.host.reads_until() > paceline_cluster_host::clock::now());
    world
        .until("etcd knows", |world| {
            world.register.lock().newest().progress == Progress::Opened
        })
        .await;
    let calls = alone.host.calls();
    assert_eq!(
        calls,
        ["promised 0", "freeze", "promised 1", "write start of 1", "open 1"]
    );
}

#[tokio::test]
async fn another_takes_over_when_the_primary_is_gone_and_the_old_one_follows() {
    let (world, [first, second, third]) = three().await;
    for number in 1..=20 {
        assert_eq!(first.host.commit(number).await, Fate::Acknowledged);
    }
    let acknowledged = first.host.log().len();
    let (id, directory, host) = first.kill();
    // Whichever may leave the old primary first.
    world
        .until("another opens", |world| world.hosts.primary().is_some())
        .await;
    let (second, third) = match world.hosts.primary().is_some_and(|host| host.id == second.id) {
        true => (second, third),
        false => (third, second),
    };
    assert_eq!(second.host.commit(21).await, Fate::Acknowledged);
    third.until_follows(&second).await;
    let first = world.start_in(id, directory, host);
    first.until_follows(&second).await;
    assert_eq!(second.host.commit(22).await, Fate::Acknowledged);
    let end = second.host.log().len();
    first.until_published(end).await;
    third.until_published(end).await;
    assert_eq!(first.host.log(), second.host.log());
    assert_eq!(third.host.log(), second.host.log());
    assert_eq!(
        second.host.log()[..acknowledged]
            .iter()
            .filter(|entry| entry.number != 0)
            .count(),
        20
    );
}

#[tokio::test]
async fn a_switch_returns_when_the_old_primary_follows() {
    let (_, [first, second, third]) = three().await;
    let refused = third.handle.switch(second.id).await;
    assert_eq!(refused, Err(SwitchFailure::Refused(SwitchError::NotPrimary)));
    let refused = first.handle.switch(member(9)).await;
    assert_eq!(refused, Err(SwitchFailure::Refused(SwitchError::NoSuchServer)));
    assert_eq!(first.handle.switch(second.id).await, Ok(()));
    second.until_open().await;
    assert_eq!(first.handle.status().primary, Some(second.id));
    assert_eq!(second.host.commit(1).await, Fate::Acknowledged);
    assert_eq!(first.host.commit(2).await, Fate::Refused);
}

#[tokio::test]
async fn a_new_host_of_a_follower_is_told_what_lasts() {
    let (world, [first, second, _third]) = three().await;
    assert_eq!(first.host.commit(1).await, Fate::Acknowledged);
    second.until_published(first.host.log().len()).await;
    let old = Arc::clone(&second.host);
    let (log, published) = world.hosts.remove(second.id);
    // Without the tables, a part is published again.
    let new = world.hosts.create(second.id, log, published - 1);
    assert_eq!(
        first.host.commit(2).await,
        Fate::Acknowledged,
        "two of three are enough"
    );
    second.handle.set_host(Arc::clone(&new) as Arc<_>);
    let end = first.host.log().len();
    second.until_published(end).await;
    assert_eq!(new.log(), first.host.log());
    assert_eq!(new.published(), end);
    let epoch = second.handle.status().epoch.unwrap();
    let calls = new.calls();
    assert_eq!(
        calls[..2],
        [
            format!("promised {epoch}"),
            format!("follow 1 in {epoch} at {}", end - 1)
        ]
    );
    let calls = old.calls().len();
    assert_eq!(first.handle.switch(second.id).await, Ok(()));
    second.until_open().await;
    assert_eq!(new.commit(3).await, Fate::Acknowledged);
    assert_eq!(old.calls().len(), calls, "the old host is not called any more");
}

#[tokio::test]
async fn a_new_host_of_a_primary_goes_on_in_its_epoch() {
    let world = World::new();
    let alone = world.start(1);
    alone.until_open().await;
    assert_eq!(alone.host.commit(1).await, Fate::Acknowledged);
    let log = alone.host.log();
    let new = world.hosts.create(alone.id, log.clone(), 0);
    alone.handle.set_host(Arc::clone(&new) as Arc<_>);
    let mut changes = world.hosts.changes();
    while new.commit(2).await == Fate::Refused {
        timeout(PATIENCE, changes.changed())
            .await
            .expect("it opens")
            .unwrap();
    }
    assert_eq!(new.calls(), ["promised 1", "write start of 1", "open 1"]);
    assert_eq!(new.log()[..log.len()], log, "the start is written once");
}

#[tokio::test]
async fn a_new_host_waits_while_the_old_one_freezes() {
    let (world, [first, second, third]) = three().await;
    let frozen = second.host.delay_freeze();
    let old = Arc::clone(&second.host);
    let freezes = |host: &MemoryHost| host.calls().iter().filter(|call| *call == "freeze").count();
    let before = freezes(&old);
    // So its promise is needed: two of three.
    third.kill();
    let switch = tokio::spawn({
        let (handle, target) = (first.handle.clone(), second.id);
        async move { handle.switch(target).await }
    });
    world.until("it freezes", |_| freezes(&old) > before).await;
    let new = world.hosts.create(second.id, old.log(), old.published());
    second.handle.set_host(Arc::clone(&new) as Arc<_>);
    until_status(&second.handle, "ticks go on", |status| {
        status.waits == Some(paceline_cluster::Wait::Disk)
    })
    .await;
    assert!(new.calls().is_empty());
    frozen.notify_one();
    assert_eq!(switch.await.unwrap(), Ok(()));
    second.until_open().await;
    assert_eq!(new.commit(1).await, Fate::Acknowledged);
}

#[tokio::test]
async fn a_member_that_is_not_sent_the_log_acknowledges_nothing() {
    let (world, [first, second, third]) = three().await;
    assert_eq!(first.host.commit(1).await, Fate::Acknowledged);
    first.until_published(first.host.log().len()).await;
    third.until_published(first.host.log().len()).await;
    let (id, directory, stopped) = third.kill();
    let (_, _, _) = second.kill();
    // Its directory is changed by hand: its log is longer than the primary's, by records that the cluster lacks.
    let mut changed = stopped.log();
    changed.extend([8, 9].map(|number| Entry {
        number,
        ..changed[changed.len() - 1]
    }));
    let changed = world.hosts.create(id, changed, stopped.published());
    first.host.refuse(id, Refusal::Begins);
    let third = world.start_in(id, directory, changed);
    third.until_follows(&first).await;
    let waiting = {
        let host = first.host.clone();
        tokio::spawn(async move { host.commit(2).await })
    };
    // It has answered twice after the commit has begun.
    for _ in 0..2 {
        let asked = paceline_cluster_host::clock::now();
        world
            .until("the member answers", |_| {
                let peers = first.handle.peers();
                peers.iter().any(|peer| peer.id == id && peer.heard > asked)
            })
            .await;
    }
    assert!(!waiting.is_finished(), "nobody else has it");
    // The directory is what it was again.
    let (id, directory, changed) = third.kill();
    let restored = world.hosts.create(id, stopped.log(), changed.published());
    first.host.refuse(id, Refusal::Ends);
    let _third = world.start_in(id, directory, restored);
    assert_eq!(waiting.await.unwrap(), Fate::Acknowledged);
}

#[tokio::test]
async fn a_log_that_loses_what_was_durable_ends_the_driver() {
    let world = World::new();
    let alone = world.start(1);
    alone.until_open().await;
    assert_eq!(alone.host.commit(1).await, Fate::Acknowledged);
    alone.host.lose(1);
    let ended = timeout(PATIENCE, alone.driver).await.expect("it ends").unwrap();
    assert!(matches!(ended, DriverError::LogWentBack { .. }), "{ended}");
    let refused = alone.handle.switch(member(2)).await;
    assert_eq!(refused, Err(SwitchFailure::Ended));
}

#[tokio::test]
async fn a_promise_that_cannot_be_written_ends_the_driver() {
    let world = World::new();
    let host = world.hosts.create(member(1), Vec::new(), 0);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let (promise_file, promise) = PromiseFile::open(&path).unwrap();
    drop(directory);
    let stored = StoredMember {
        id: member(1),
        promise_file,
        promise,
        applied: LogIndex(0),
        origin: LogOrigin::Unknown,
    };
    let (requests, _queue) = mpsc::channel(1);
    let post = Post {
        from: member(1),
        world: world.clone(),
    };
    let (handle, driver) = Driver::new(
        stored,
        Timing::default(),
        host,
        Arc::new(post),
        watch::Sender::default(),
        requests,
    );
    handle.etcd(world.state());
    let ended = timeout(PATIENCE, driver.run()).await.expect("it ends");
    assert!(matches!(ended, DriverError::Promise(_)), "{ended}");
}

#[tokio::test]
async fn a_flood_of_messages_delays_no_tick() {
    let world = World::new();
    let alone = world.start(1);
    let flood = tokio::spawn({
        let handle = alone.handle.clone();
        async move {
            loop {
                for _ in 0..2000 {
                    handle.message(member(7), Message::Missing);
                }
                tokio::task::yield_now().await;
            }
        }
    });
    alone.until_open().await;
    assert_eq!(alone.host.commit(1).await, Fate::Acknowledged);
    world
        .until("the peer is shown", |_| {
            alone.handle.peers().iter().any(|peer| peer.id == member(7))
        })
        .await;
    flood.abort();
    assert_eq!(world.register.lock().settings.elections, Elections::Active);
    assert_eq!(world.hosts.opened(), [(Epoch(1), member(1))]);
}
