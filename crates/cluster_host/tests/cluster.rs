//! Three members with logs in memory, each in a thread of its own, over real TCP and a real etcd.

mod support;

use paceline_cluster::{Elections, LogIndex, LogOrigin, MemberId, Message, Progress, RoleName, Timing, Wait};
use paceline_cluster_host::commands::{self, Part, Remainder};
use paceline_cluster_host::etcd::Store;
use paceline_cluster_host::message_codec::{Hello, Packet, VERSION};
use paceline_cluster_host::messages::{PeerLogin, SILENCE_MAX, START_STATEMENT, UNACKNOWLEDGED_MAX};
use paceline_cluster_host::{
    ClusterHandle, ClusterSettings, ClusterThread, JoinRequest, MemberFile, PromiseFile, StartError,
    StoredMember,
};
use paceline_wire::client::Client;
use paceline_wire::tls::{ClientTls, ClusterKey};
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use support::etcd_server::EtcdServer;
use support::memory_host::{Fate, Hosts, MemoryHost};
use support::{PATIENCE, entry, until_status};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

const SECRET: &str = "a secret of a cluster";

fn start_statement() -> String {
    format!("{START_STATEMENT}{VERSION}")
}

/// Directory of a member, and its address.
struct Home {
    directory: TempDir,
    id: MemberId,
    port: u16,
}

struct Running {
    home: Home,
    host: Arc<MemoryHost>,
    thread: ClusterThread,
}

struct World {
    etcd: EtcdServer,
    store: Arc<Store>,
    hosts: Hosts,
    /// Transactions that were acknowledged.
    acknowledged: Arc<Mutex<Vec<u64>>>,
    numbers: Arc<AtomicU64>,
    clients: JoinSet<()>,
    key: ClusterKey,
}

impl Home {
    fn new() -> Home {
        let directory = tempfile::tempdir().unwrap();
        let (_, _) = PromiseFile::open(directory.path()).unwrap();
        let id = MemberFile::open(directory.path(), "test").unwrap().id();
        let port = support::etcd_server::free_port();
        Home { directory, id, port }
    }
}

impl World {
    fn new() -> World {
        let etcd = EtcdServer::start();
        World {
            store: Arc::new(etcd.store("test")),
            etcd,
            hosts: Hosts::new(),
            acknowledged: Arc::default(),
            numbers: Arc::new(AtomicU64::new(1)),
            clients: JoinSet::new(),
            key: ClusterKey::derive("test", SECRET).unwrap(),
        }
    }

    fn start(&self, home: Home) -> Running {
        let (log, published) = match self.hosts.get(home.id) {
            Some(_) => self.hosts.remove(home.id),
            None => (Vec::new(), 0),
        };
        let host = self.hosts.create(home.id, log, published);
        let (promise_file, promise) = PromiseFile::open(home.directory.path()).unwrap();
        let stored = StoredMember {
            id: home.id,
            promise_file,
            promise,
            applied: LogIndex(published as u64),
            origin: LogOrigin::Unknown,
        };
        let settings = ClusterSettings {
            cluster: "test".to_owned(),
            entry: entry(home.id.0, home.port),
            etcd: self.etcd.settings(),
            timing: Timing::default(),
            login: PeerLogin {
                secret: SECRET.to_owned(),
                key: self.key.clone(),
            },
            listener: listen(home.port),
            directory: Some(home.directory.path().to_owned()),
            join: JoinRequest::unmade(home.directory.path()).unwrap(),
        };
        let log: Arc<MemoryHost> = Arc::clone(&host);
        let fail = Box::new(|failure| panic!("the driver has failed: {failure}"));
        let thread = ClusterThread::start(settings, stored, log, fail).unwrap();
        Running { home, host, thread }
    }

    /// Lets clients write at whatever member is open, for ever.
    fn begin_load(&mut self) {
        for _ in 0..4 {
            let (hosts, numbers) = (self.hosts.clone(), Arc::clone(&self.numbers));
            let acknowledged = Arc::clone(&self.acknowledged);
            self.clients.spawn(async move {
                let mut changes = hosts.changes();
                loop {
                    changes.borrow_and_update();
                    let number = numbers.fetch_add(1, Ordering::Relaxed);
                    let fate = match hosts.primary() {
                        Some(primary) => primary.commit(number).await,
                        None => Fate::Refused,
                    };
                    match fate {
                        Fate::Acknowledged => acknowledged.lock().push(number),
                        Fate::Undecided => {}
                        Fate::Refused => changes.changed().await.unwrap(),
                    }
                    // A memory is too fast a disk: without a pause the log grows by thousands a second.
                    sleep(Duration::from_millis(2)).await;
                }
            });
        }
    }

    /// Waits until this many more transactions are acknowledged.
    async fn until_acknowledged(&self, what: &str, more: usize) {
        let goal = self.acknowledged.lock().len() + more;
        let mut changes = self.hosts.changes();
        let reached = async {
            while self.acknowledged.lock().len() < goal {
                changes.changed().await.unwrap();
                // Counted just after the change that acknowledges it.
                sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(timeout(PATIENCE, reached).await.is_ok(), "{what}");
    }

    /// Waits until a member is a log holder.
    async fn until_holder(&self, member: &Running) {
        let ends = Instant::now() + PATIENCE;
        loop {
            let members = commands::overview(&self.store).await.unwrap().members;
            let mut parts = members.iter().filter(|listed| listed.id == member.home.id);
            if parts.any(|listed| listed.part == Part::Holder) {
                return;
            }
            assert!(Instant::now() < ends, "{} is no log holder", member.home.id);
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Stops the clients, waits until all have the primary's log, and checks it.
    async fn check(mut self, members: &[&Running]) {
        self.clients.shutdown().await;
        let primary = self.hosts.primary().expect("one is open");
        let mut changes = self.hosts.changes();
        for member in members {
            let host = self.hosts.get(member.home.id).unwrap();
            let caught_up = async {
                while host.published() < primary.log().len() || host.log() != primary.log() {
                    changes.changed().await.unwrap();
                }
            };
            let is_in_time = timeout(PATIENCE, caught_up).await.is_ok();
            assert!(
                is_in_time,
                "{}: {}",
                member.home.id,
                member.thread.handle().status()
            );
        }
        let log: Vec<u64> = primary.log().iter().map(|entry| entry.number).collect();
        for number in self.acknowledged.lock().iter() {
            let count = log.iter().filter(|found| *found == number).count();
            assert_eq!(count, 1, "transaction {number} was acknowledged");
        }
        let mut opened: HashMap<_, MemberId> = HashMap::new();
        for (epoch, member) in self.hosts.opened() {
            let first = *opened.entry(epoch).or_insert(member);
            assert_eq!(first, member, "epoch {epoch} has one primary");
        }
    }
}

impl Running {
    fn handle(&self) -> ClusterHandle {
        self.thread.handle()
    }

    /// The log gets another owner within the process, as when a server opens its tables.
    fn replace_host(&mut self) {
        let hosts = self.host.hosts();
        let (log, published) = hosts.remove(self.home.id);
        self.host = hosts.create(self.home.id, log, published);
        let host: Arc<MemoryHost> = Arc::clone(&self.host);
        self.handle().set_host(host);
    }

    /// Ends the process.
    fn kill(self) -> Home {
        self.thread.stop();
        let id = self.home.id;
        let hosts = self.host.hosts();
        let (log, published) = hosts.remove(id);
        hosts.create(id, log, published);
        self.home
    }

    async fn until_open(&self) {
        until_status(&self.handle(), "it opens", |status| {
            status.role == RoleName::Primary && status.waits.is_none()
        })
        .await;
    }

    async fn until_follows(&self, primary: MemberId) {
        until_status(&self.handle(), "it follows", |status| {
            status.role == RoleName::Following && status.primary == Some(primary) && status.waits.is_none()
        })
        .await;
    }
}

fn listen(port: u16) -> TcpListener {
    // The port of a process that has just ended: its connections may linger.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(([127, 0, 0, 1], port).into()).unwrap();
    socket.listen(64).unwrap().into_std().unwrap()
}

/// A member founds a cluster, and two others join it under load.
async fn three() -> (World, [Running; 3]) {
    let mut world = World::new();
    let home = Home::new();
    let first = world.start(home);
    first.until_open().await;
    world.begin_load();
    world.until_acknowledged("one member alone", 5).await;
    let others = [world.start(Home::new()), world.start(Home::new())];
    for other in &others {
        world.until_holder(other).await;
        other.until_follows(first.home.id).await;
    }
    world.until_acknowledged("three members", 20).await;
    let [second, third] = others;
    (world, [first, second, third])
}

/// Returns the primary and the others.
async fn sorted(world: &World, members: Vec<Running>) -> (Running, Vec<Running>) {
    let mut changes = world.hosts.changes();
    let open = timeout(PATIENCE, async {
        loop {
            changes.borrow_and_update();
            let primary = world.hosts.primary();
            if let Some(at) = members
                .iter()
                .position(|member| Some(member.home.id) == primary.as_ref().map(|host| host.id))
            {
                return at;
            }
            changes.changed().await.unwrap();
        }
    });
    let at = open.await.expect("one opens");
    let mut members = members;
    let primary = members.swap_remove(at);
    (primary, members)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_member_joins_although_etcd_was_away_and_its_first_process_was_killed() {
    let (mut world, [first, second, third]) = three().await;
    world.etcd.kill();
    let home = world.start(Home::new()).kill();
    let mut fourth = world.start(home);
    fourth.replace_host();
    world.etcd.restart();
    world.until_holder(&fourth).await;
    fourth.until_follows(first.home.id).await;
    world.until_acknowledged("four members", 20).await;
    commands::remove(&world.store, fourth.home.id).await.unwrap();
    commands::await_wanted(&world.store, PATIENCE).await.unwrap();
    let home = fourth.kill();
    assert!(
        JoinRequest::unmade(home.directory.path()).unwrap().is_none(),
        "it does not add itself again"
    );
    world.check(&[&first, &second, &third]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_that_ends_is_replaced_and_follows_when_it_is_back() {
    let (world, [first, second, third]) = three().await;
    let begin = Instant::now();
    let home = first.kill();
    let (primary, others) = sorted(&world, vec![second, third]).await;
    println!("another has opened after {:?}", begin.elapsed());
    world.until_acknowledged("two members", 20).await;
    let back = world.start(home);
    back.until_follows(primary.home.id).await;
    let overview = commands::overview(&world.store).await.unwrap();
    let parts: Vec<_> = overview
        .members
        .iter()
        .map(|member| (member.id, member.part))
        .collect();
    assert!(parts.contains(&(primary.home.id, Part::Primary)), "{parts:?}");
    world.check(&[&primary, &others[0], &back]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_switches_and_pauses_through_etcd() {
    let (world, [first, second, third]) = three().await;
    let begin = Instant::now();
    let target = second.home.id;
    commands::switch(&world.store, target, PATIENCE).await.unwrap();
    second.until_open().await;
    println!("switched after {:?}", begin.elapsed());
    first.until_follows(target).await;
    third.until_follows(target).await;
    world.until_acknowledged("after the switch", 20).await;

    commands::pause(&world.store).await.unwrap();
    let knows = |elections| {
        let handles = [first.handle(), third.handle()];
        move || {
            let mut states = handles.iter().map(ClusterHandle::etcd_state);
            states.all(|state| state.is_some_and(|state| state.elections == elections))
        }
    };
    until("the pause is known", knows(Elections::Paused)).await;
    let home = second.kill();
    for other in [&first, &third] {
        until_status(&other.handle(), "it waits for the operator", |status| {
            status.waits == Some(Wait::Paused)
        })
        .await;
    }
    assert!(world.hosts.primary().is_none());
    commands::resume(&world.store).await.unwrap();
    let (primary, others) = sorted(&world, vec![first, third]).await;
    world.until_acknowledged("after the pause", 20).await;
    let back = world.start(home);
    back.until_follows(primary.home.id).await;
    world.check(&[&primary, &others[0], &back]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_go_on_without_etcd_and_elections_wait_for_it() {
    let (mut world, [first, second, third]) = three().await;
    world.etcd.kill();
    for member in [&first, &second, &third] {
        let handle = member.handle();
        until("etcd is missed", move || handle.is_etcd_away()).await;
    }
    world.until_acknowledged("without etcd", 20).await;
    // A member that starts now knows the others from its directory.
    let home = third.kill();
    let third = world.start(home);
    third.until_follows(first.home.id).await;
    let home = first.kill();
    for other in [&second, &third] {
        until_status(&other.handle(), "it waits for etcd", |status| {
            status.waits == Some(Wait::Etcd)
        })
        .await;
    }
    world.etcd.restart();
    let (primary, others) = sorted(&world, vec![second, third]).await;
    world.until_acknowledged("etcd is back", 20).await;
    let back = world.start(home);
    back.until_follows(primary.home.id).await;
    world.check(&[&primary, &others[0], &back]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_is_removed_and_what_is_left_of_a_disaster_goes_on() {
    let (world, [first, second, third]) = three().await;
    commands::remove(&world.store, third.home.id).await.unwrap();
    commands::await_wanted(&world.store, PATIENCE).await.unwrap();
    let gone = third.kill();
    world.until_acknowledged("two of two", 20).await;
    // Both copies are needed: nobody can lead without the other.
    let lost = first.kill();
    let remainder = Remainder {
        primary: second.home.id,
        holders: vec![second.home.id],
        copies: None,
        least: paceline_cluster::Epoch(0),
    };
    let forced = commands::restore_quorum(&world.store, &remainder).await.unwrap();
    second.until_open().await;
    assert!(
        second
            .host
            .calls()
            .iter()
            .any(|call| call.starts_with("may be lost after"))
    );
    world.until_acknowledged("alone again", 20).await;
    let store = Arc::clone(&world.store);
    let is_marked = move || {
        let store = Arc::clone(&store);
        async move {
            let record = commands::overview(&store).await.unwrap().newest;
            record.epoch == forced.epoch && record.progress == Progress::Opened
        }
    };
    let ends = Instant::now() + PATIENCE;
    while !is_marked().await {
        assert!(Instant::now() < ends);
    }
    // The old primary joins again.
    let back = world.start(lost);
    commands::add(&world.store, back.home.id).await.unwrap();
    commands::await_wanted(&world.store, PATIENCE).await.unwrap();
    back.until_follows(second.home.id).await;
    drop(gone);
    world.check(&[&second, &back]).await;
}

#[tokio::test]
async fn a_sender_without_the_secret_or_of_another_cluster_is_refused() {
    let world = World::new();
    let home = Home::new();
    let entry_of = entry(home.id.0, home.port);
    world.store.found(&entry_of).await.unwrap();
    let running = world.start(home);
    running.until_open().await;
    let address = format!("127.0.0.1:{}", running.home.port);
    let options = |user: &str, password: &str| paceline_wire::client::ConnectOptions {
        user: user.to_owned(),
        password: password.to_owned(),
        tls: Some(ClientTls::of_cluster(world.key.clone()).unwrap()),
        idle_timeout: Some(PATIENCE),
        ..Default::default()
    };
    for (user, password) in [
        ("paceline.cluster", "falsch"),
        ("paceline.cluster", ""),
        ("root", SECRET),
    ] {
        let refused = Client::connect_tcp(&address, &options(user, password)).await;
        assert!(refused.is_err(), "{user}");
    }
    let right = options("paceline.cluster", SECRET);
    let in_clear = paceline_wire::client::ConnectOptions {
        tls: None,
        ..right.clone()
    };
    assert!(Client::connect_tcp(&address, &in_clear).await.is_err());
    // A member with another secret sends nothing here.
    let other = ClusterKey::derive("test", "another long secret").unwrap();
    let distrusting = paceline_wire::client::ConnectOptions {
        tls: Some(ClientTls::of_cluster(other).unwrap()),
        ..right.clone()
    };
    let refused = Client::connect_tcp(&address, &distrusting)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("does not have the cluster's secret"),
        "{refused}"
    );
    let mut client = Client::connect_tcp(&address, &right).await.unwrap();
    assert!(
        client.query("SELECT 1").await.is_err(),
        "it is not a server for clients"
    );
    let hello = |cluster: &str, to: MemberId| {
        Packet::Hello(Hello {
            cluster: cluster.to_owned(),
            from: MemberId(7),
            to,
        })
    };
    let id = running.home.id;
    for packet in [hello("other", id), hello("test", MemberId(9)), Packet::Idle] {
        let mut client = Client::connect_tcp(&address, &right).await.unwrap();
        client.query(&start_statement()).await.unwrap();
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        client.send(&bytes).await.unwrap();
        assert!(client.receive().await.is_err(), "the connection is closed");
    }
    assert!(running.handle().peers().is_empty());
    let settings = ClusterSettings {
        cluster: "test".to_owned(),
        entry: entry_of,
        etcd: world.etcd.settings(),
        timing: Timing::default(),
        login: PeerLogin {
            secret: "short".to_owned(),
            key: world.key.clone(),
        },
        listener: TcpListener::bind("127.0.0.1:0").unwrap(),
        directory: None,
        join: None,
    };
    let directory = tempfile::tempdir().unwrap();
    let (promise_file, promise) = PromiseFile::open(directory.path()).unwrap();
    let stored = StoredMember {
        id,
        promise_file,
        promise,
        applied: LogIndex(0),
        origin: LogOrigin::Unknown,
    };
    let host = Arc::clone(&running.host);
    let refused = ClusterThread::start(settings, stored, host, Box::new(|_| {}));
    assert!(matches!(refused, Err(StartError::Secret)));
}

#[tokio::test]
async fn a_silent_sender_is_disconnected_and_signs_of_life_keep_a_connection() {
    let world = World::new();
    let home = Home::new();
    world.store.found(&entry(home.id.0, home.port)).await.unwrap();
    let running = world.start(home);
    let connect = async || {
        let options = paceline_wire::client::ConnectOptions {
            user: "paceline.cluster".to_owned(),
            password: SECRET.to_owned(),
            tls: Some(ClientTls::of_cluster(world.key.clone()).unwrap()),
            idle_timeout: Some(PATIENCE),
            ..Default::default()
        };
        let address = format!("127.0.0.1:{}", running.home.port);
        let mut client = Client::connect_tcp(&address, &options).await.unwrap();
        client.query(&start_statement()).await.unwrap();
        client
    };
    let send = async |client: &mut Client, packet: Packet| {
        let mut bytes = Vec::new();
        packet.encode(&mut bytes);
        client.send(&bytes).await.unwrap();
    };
    let hello = || {
        Packet::Hello(Hello {
            cluster: "test".to_owned(),
            from: MemberId(7),
            to: running.home.id,
        })
    };
    let mut client = connect().await;
    send(&mut client, hello()).await;
    send(&mut client, Packet::Message(Message::Missing)).await;
    let handle = running.handle();
    until("the message arrives", || {
        handle.peers().iter().any(|peer| peer.id == MemberId(7))
    })
    .await;
    let begin = Instant::now();
    assert!(client.receive().await.is_err(), "it is closed");
    assert!(
        begin.elapsed() >= SILENCE_MAX - Duration::from_millis(100),
        "{:?}",
        begin.elapsed()
    );
    // Signs of life keep it open.
    let mut client = connect().await;
    send(&mut client, hello()).await;
    let begin = Instant::now();
    while begin.elapsed() < SILENCE_MAX + Duration::from_secs(1) {
        send(&mut client, Packet::Idle).await;
        let closed = timeout(Duration::from_millis(500), client.receive()).await;
        assert!(closed.is_err(), "it is open");
    }
}

/// Number of accidents, unless `CLUSTER_ACCIDENTS` says another.
const ACCIDENTS: usize = 15;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accidents_in_any_order_lose_nothing() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("CLUSTER_SEED").unwrap_or_else(rand::random);
    let count = number("CLUSTER_ACCIDENTS").map_or(ACCIDENTS, |count| count as usize);
    println!("CLUSTER_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let (mut world, members) = three().await;
    let mut members = members.map(Some);
    for accident in 0..count {
        let at = random.random_range(0..members.len());
        let what = random.random_range(0..6);
        println!("accident {accident}: {what} at {at}");
        let down = match what {
            0 => None,
            // The process ends, and comes back before or after another has opened.
            1 | 2 => {
                let home = members[at].take().expect("it is up").kill();
                if what == 1 {
                    world.until_acknowledged("without one", 5).await;
                }
                Some(home)
            }
            3 => {
                world.etcd.kill();
                None
            }
            4 => {
                world.etcd.signal("-STOP");
                None
            }
            _ => {
                members[at].as_mut().expect("it is up").replace_host();
                None
            }
        };
        let target = members[random.random_range(0..members.len())]
            .as_ref()
            .map(|member| member.home.id);
        if let (Some(target), 0 | 5) = (target, what) {
            // It may be the primary, or not have caught up: any answer will do.
            let switched = commands::switch(&world.store, target, Duration::from_secs(2)).await;
            println!("switch to {target}: {switched:?}");
        }
        if what == 3 || what == 4 {
            world.until_acknowledged("without etcd", 5).await;
        }
        match what {
            3 => world.etcd.restart(),
            4 => world.etcd.signal("-CONT"),
            _ => {}
        }
        if let Some(home) = down {
            members[at] = Some(world.start(home));
        }
        world.until_acknowledged("after an accident", 10).await;
    }
    let [first, second, third] = members.map(|member| member.expect("it is up"));
    world.check(&[&first, &second, &third]).await;
}

/// Runs the next test in a network of its own, which can be cut.
#[test]
fn a_network_that_was_silent_heals_soon() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new("unshare")
        .args(["--map-root-user", "--net"])
        .arg(program)
        .args(["--exact", "a_cut_network", "--ignored", "--nocapture"])
        .output()
        .expect("unshare is a program of util-linux");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{errors}"
    );
    print!("{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "cuts the network: a_network_that_was_silent_heals_soon runs it"]
async fn a_cut_network() {
    let run = |program: &str, arguments: &str| {
        let mut command = std::process::Command::new(program);
        let status = command.args(arguments.split_whitespace()).status().unwrap();
        assert!(status.success(), "{program} {arguments}");
    };
    run("ip", "link set lo up");
    let (world, [first, second, third]) = three().await;
    // A queue without a place loses every packet.
    run("tc", "qdisc add dev lo root pfifo limit 0");
    for member in [&first, &second, &third] {
        let handle = member.handle();
        until("etcd is missed", || handle.is_etcd_away()).await;
    }
    let before = world.acknowledged.lock().len();
    // So long that TCP's own repetitions are seconds apart, and connections have ended on both sides.
    sleep(UNACKNOWLEDGED_MAX + SILENCE_MAX + Duration::from_secs(3)).await;
    assert_eq!(
        world.acknowledged.lock().len(),
        before,
        "nothing is acknowledged without the others"
    );
    run("tc", "qdisc del dev lo root");
    let begin = Instant::now();
    world.until_acknowledged("after the silence", 1).await;
    let healed = begin.elapsed();
    println!("healed after {healed:?}");
    assert!(healed < Duration::from_secs(5), "{healed:?}");
    world.until_acknowledged("in full", 20).await;
    world.check(&[&first, &second, &third]).await;
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let ends = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < ends, "{what}");
        // No notification tells of it.
        sleep(Duration::from_millis(10)).await;
    }
}
