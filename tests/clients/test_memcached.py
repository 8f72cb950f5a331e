"""The memcached port: real clients, replies beside a real memcached, durability, privileges, containers."""

import itertools
import socket
import ssl
import subprocess
import threading

import pytest
from pymemcache.client.base import Client
from support.memcached import Memcached, TextConnection, without_cas
from support.replication import change_master, replication_user, wait_for_replica
from support.servers import Paceline, ReservedPort
from support.waiting import wait_for


def with_port(directory, *options):
    port = ReservedPort()
    server = Paceline(directory, f"--memcached-port={port.number}", *options)
    server.memcached_port = port.number
    server.reserved_memcached_port = port
    return server


def tables(server):
    [(count,)] = server.query("select count(*) from information_schema.tables where table_schema = 'paceline'")
    return count


@pytest.fixture
def open_server(tmp_path):
    """A server whose port lets local clients in as root."""
    server = with_port(tmp_path / "server", "--memcached-account=root")
    server.start()
    wait_for("the tables", lambda: tables(server) == 2)
    yield server
    server.close()


def changed(server, *statements):
    """Changes containers, and waits until the port knows them."""
    server.query(*statements)
    server.query("insert into paceline.memcached_containers values ('marker', 'none', 'none', 'k', 'v', '|', null, null, null, 0, 1) "
                 "on duplicate key update `table` = concat(`table`, 'x')")
    [(table,)] = server.query("select `table` from paceline.memcached_containers where prefix = 'marker'")
    client = TextConnection(server.memcached_port)
    wait_for("the change", lambda: f"`{table}`".encode() in client.ask(b"get marker"))
    client.close()


REQUESTS = [
    # Classic commands, right and wrong.
    b"version x", b"verbosity", b"verbosity noreply", b"verbosity 0", b"verbosity x", b"verbosity 1 2", b"verbosity 1 2 3",
    b"get", b"gat", b"gat x a", b"gat 0 a", b"delete", b"delete a", b"delete a 0", b"delete a 1", b"delete a noreply", b"incr",
    b"incr a", b"incr a 1", b"incr a x", b"incr a -1", b"incr a 18446744073709551616", b"decr a 1 noreply", b"touch", b"touch a",
    b"touch a x", b"touch a 0", b"touch a 0 noreply", b"set a 0 0 1\r\nx", b"set a 0 0", b"set a 0 0 -1", b"set a 4294967295 0 1\r\nx",
    b"set a 0 0 1 noreply\r\ny", b"set a 0 0 1 foo\r\nz", b"get a", b"set a 0 0 1\r\nxyz", b"cas nokey 0 0 1 1\r\nx",
    b"cas a 0 0 1 1\r\nx", b"add a 0 0 1\r\nx", b"replace nokey 0 0 1\r\nx", b"append nokey 0 0 1\r\nx", b"prepend a 0 0 1\r\nx",
    b"get a nokey a", b"gets a", b"set n 5 0 2\r\n10", b"incr n 5", b"get n", b"decr n 20", b"set n 5 0 20\r\n18446744073709551615",
    b"incr n 2", b"set n 0 0 1\r\nx", b"incr n 1", b"set n 0 0 0\r\n", b"get n", b"get " + b"k" * 251, b"get " + b"k" * 250,
    b"delete " + b"k" * 251, b"foo", b"", b" get a", b"GET a", b"get  a   n", b"set t 0 -1 1\r\nx", b"get t", b"set t 0 100 1\r\nx",
    b"stats nothing",
    # Meta commands.
    b"mg a", b"mg a v", b"mg nokey v", b"mg nokey v q", b"mg a k O123 f s t v", b"mg", b"mg a z", b"mg a v v", b"mg t t", b"gat 50 t",
    b"mg t t", b"ms a 2\r\nhi", b"ms a 2 MX\r\nhi", b"ms a 2 q\r\nhi", b"ms nokey 2 MR\r\nhi", b"ms a 2 ME\r\nhi",
    b"ms a 2 MA k O1\r\nhi", b"mg a v", b"ms a 2 Fx\r\nhi", b"ms a 2 Tx\r\nhi", b"ms YWJj 2 b k\r\nhi", b"mg YWJj b k v",
    b"ms a! 2 b\r\nhi", b"ma n", b"ma new N0 J13 v", b"ma new v", b"ma new MD D3 v", b"ma new M- D300 v t k O1", b"ma new Mx", b"ma a v",
    b"md new k O1", b"md new k O1", b"md new q", b"me nokey", b"mg a C1 v", b"md a C1", b"ms a 2 C1\r\nhi",
]


def test_replies_are_those_of_a_real_memcached(open_server):
    real = Memcached()
    try:
        ours, theirs = TextConnection(open_server.memcached_port), TextConnection(real.port)
        for request in REQUESTS:
            expected = without_cas(theirs.ask(request))
            if request.startswith(b"version"):
                expected = expected.rstrip(b"\r\n") + b"-paceline-"
                assert ours.ask(request).startswith(expected)
            else:
                assert without_cas(ours.ask(request)) == expected, request
        for connection in (ours, theirs):
            connection.send(b"quit now\r\n")
            assert connection.receive() == b"<closed>"
    finally:
        real.close()


def test_libmemcacheds_own_test(open_server):
    changed(open_server, "update paceline.memcached_containers set allow_flush = 1 where prefix = ''")
    done = subprocess.run(["memccapable", "-h", "127.0.0.1", "-p", str(open_server.memcached_port), "-a"], capture_output=True, text=True,
                          timeout=300)
    assert "All tests passed" in done.stdout, done.stdout + done.stderr


def test_pymemcache(open_server):
    client = Client(("127.0.0.1", open_server.memcached_port))
    assert client.set("a", b"1", expire=1000, noreply=False, flags=7)
    assert client.get_many(["a", "b"]) == {"a": b"1"}
    value, cas = client.gets("a")
    assert client.cas("a", b"2", cas) is True
    assert client.cas("a", b"3", cas) is False
    assert client.incr("a", 40) == 42
    assert client.append("a", b"!", noreply=False)
    assert client.delete("a", noreply=False)
    assert client.get("a") is None
    assert int(client.stats()[b"get_hits"]) > 0


def test_a_php_session_store(open_server, tmp_path):
    """Two requests of a web application: the second finds what the first has stored."""
    script = tmp_path / "session.php"
    script.write_text("""<?php
        session_id('paceline-test'); session_start();
        $_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
        echo $_SESSION['visits'];
        session_write_close();
    """)
    settings = ["session.save_handler=memcached", f"session.save_path=127.0.0.1:{open_server.memcached_port}", "memcached.sess_binary_protocol=0",
                "memcached.sess_lock_expire=5"]
    command = ["php", *itertools.chain(*(("-d", setting) for setting in settings)), str(script)]
    for expected in ("1", "2", "3"):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.stdout == expected, done.stdout + done.stderr
    assert (b"memc.sess.key.paceline-test", b"visits|i:3;") in open_server.query("select `key`, value from paceline.memcached_items")


def test_what_is_stored_is_a_row_and_survives_a_kill(open_server):
    client = TextConnection(open_server.memcached_port)
    stored = []

    def store():
        for number in itertools.count():
            try:
                reply = client.ask(b"set key%d 3 0 4\r\nabcd" % number)
            except OSError:
                return
            if reply != b"STORED\r\n":
                return
            stored.append(number)

    writer = threading.Thread(target=store)
    writer.start()
    wait_for("values to be stored", lambda: len(stored) > 200)
    open_server.kill()
    writer.join()
    open_server.start()
    rows = open_server.query("select `key`, value, flags from paceline.memcached_items")
    found = {key: (value, flags) for key, value, flags in rows}
    for number in stored:
        assert found[f"key{number}".encode()] == (b"abcd", 3)
    assert TextConnection(open_server.memcached_port).ask(b"get key0") == b"VALUE key0 3 4\r\nabcd\r\nEND\r\n"


def test_counters_and_conditions_are_atomic(open_server):
    """Eight clients each: an increment is never lost, and of those that add, or compare the same CAS, one succeeds."""
    clients = [TextConnection(open_server.memcached_port) for _ in range(8)]
    clients[0].ask(b"set n 0 0 1\r\n0")
    replies = [[] for _ in clients]

    def run(number):
        client, own = clients[number], replies[number]
        for turn in range(50):
            own.append(client.ask(b"incr n 1"))
            own.append(client.ask(b"add once%d 0 0 1\r\nx" % turn))
            item = client.ask(b"gets shared").split(b"\r\n")[0].split(b" ")
            cas = item[4] if len(item) > 4 else b"0"
            own.append(client.ask(b"cas shared 0 0 1 %s\r\nx" % cas))

    clients[0].ask(b"set shared 0 0 1\r\nx")
    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [reply for own in replies for reply in own]
    assert sorted(int(reply) for own in replies for reply in own[0::3]) == list(range(1, 401))
    assert sum(reply == b"STORED\r\n" for own in replies for reply in own[1::3]) == 50
    compared = [reply for own in replies for reply in own[2::3]]
    assert set(compared) <= {b"STORED\r\n", b"EXISTS\r\n"}, set(compared)
    assert b"STORED\r\n" in compared
    assert not any(b"ERROR" in reply for reply in everything)


def test_a_container_of_several_columns(open_server):
    open_server.query("create database shop", "create table shop.customers (id int primary key, name varchar(10), city varchar(10), "
                      "born date, check (name <> 'nobody'))", "insert into shop.customers values (17, 'Ada', null, '1815-12-10')")
    changed(open_server, "insert into paceline.memcached_containers (prefix, `database`, `table`, key_column, value_columns) values "
            "('1', 'shop', 'customers', 'id', 'name, city, born')")
    client = TextConnection(open_server.memcached_port)
    assert client.ask(b"get 17") == b"VALUE 17 0 15\r\nAda||1815-12-10\r\nEND\r\n"
    assert client.ask(b"set 18 0 0 21\r\nBob|London|1990-01-02") == b"STORED\r\n"
    assert open_server.query("select * from shop.customers where id = 18")[0][:3] == (18, "Bob", "London")
    # Nothing is dropped silently.
    for request, words in [
        (b"set 18 0 0 3\r\nBob", b"CLIENT_ERROR the value has 1 parts, and its container 3 columns"),
        (b"set 18 7 0 21\r\nBob|London|1990-01-02", b"CLIENT_ERROR the container has no column for flags"),
        (b"set 18 0 9 21\r\nBob|London|1990-01-02", b"CLIENT_ERROR the container has no column for a time to live"),
        (b"cas 18 0 0 21 5\r\nBob|London|1990-01-02", b"CLIENT_ERROR the container has no column for CAS"),
        (b"set 18 0 0 33\r\nBob-of-the-long|London|1990-01-02", b"CLIENT_ERROR 1406 "),
        (b"set 18 0 0 16\r\nBob|London|never", b"CLIENT_ERROR 1292 "),
        (b"set 18 0 0 24\r\nnobody|London|1990-01-02", b"CLIENT_ERROR 4025 "),
        (b"set 1x 0 0 21\r\nBob|London|1990-01-02", b"CLIENT_ERROR the key column cannot have this key"),
        (b"set 18 0 0 5\r\n\xff|a|b", b"CLIENT_ERROR the column needs UTF-8"),
    ]:
        assert client.ask(request).startswith(words), (request, client.ask(request))
    # 017 and 17 are one number, but two keys.
    assert client.ask(b"get 1017 1x 18") == b"VALUE 18 0 21\r\nBob|London|1990-01-02\r\nEND\r\n"
    assert client.ask(b"delete 18") == b"DELETED\r\n"
    assert open_server.query("select count(*) from shop.customers") == ((1,),)
    # A table that changes takes its statements with it; one that no longer fits says so.
    open_server.query("alter table shop.customers add column first int first")
    assert client.ask(b"get 17") == b"VALUE 17 0 15\r\nAda||1815-12-10\r\nEND\r\n"
    changed(open_server, "alter table shop.customers drop column city")
    assert b"SERVER_ERROR the container of the prefix '1' (`shop`.`customers`): the table has no column 'city'" in client.ask(b"get 17")


@pytest.fixture
def unsynced(open_server):
    """The server with a container whose sets are answered before they are committed. Its keys begin with u."""
    open_server.query("create database d", "create table d.t (k varchar(20) primary key, v varchar(5)) character set utf8mb4")
    changed(open_server, "insert into paceline.memcached_containers (prefix, `database`, `table`, key_column, value_columns, sync) "
            "values ('u', 'd', 't', 'k', 'v', 0)")
    return open_server


def sequence_number(server):
    [(position,)] = server.query("select @@gtid_binlog_pos")
    return int(position.split("-")[2])


def lost_values(server):
    return int(server.query("show global status like 'Paceline_memcached_unsynced_lost'")[0][1])


def test_sets_before_the_commit_share_transactions(unsynced):
    client, other = TextConnection(unsynced.memcached_port), TextConnection(unsynced.memcached_port)
    before = sequence_number(unsynced)
    client.send(b"".join(b"set u%d 0 0 1\r\nx\r\n" % number for number in range(1000)))
    assert client.receive(b"STORED\r\n" * 1000) == b"STORED\r\n" * 1000
    # Nobody asks, and they are committed.
    wait_for("the rows", lambda: unsynced.query("select count(*) from d.t") == ((1000,),))
    assert sequence_number(unsynced) - before < 500
    unsynced.kill()
    unsynced.start()
    assert unsynced.query("select count(*) from d.t") == ((1000,),), "what others have seen is durable"
    client, other = TextConnection(unsynced.memcached_port), TextConnection(unsynced.memcached_port)
    # A connection sees its own sets at once, and so does everybody after its next request.
    for number in range(50):
        client.send(b"set u1 0 0 2\r\n%02d\r\nget u1\r\n" % number)
        assert client.receive(b"END\r\n") == b"STORED\r\nVALUE u1 0 2\r\n%02d\r\nEND\r\n" % number
        assert other.ask(b"get u1") == b"VALUE u1 0 2\r\n%02d\r\nEND\r\n" % number
    client.send(b"set u2 0 0 3\r\nend\r\nquit\r\n")
    wait_for("the last one", lambda: unsynced.query("select v from d.t where k = 'u2'") == (("end",),))
    assert lost_values(unsynced) == 0


def test_a_value_that_does_not_fit_is_refused_before_the_commit(unsynced):
    client = TextConnection(unsynced.memcached_port)
    reply = client.ask(b"set ua 0 0 1\r\nx\r\nset ub 0 0 6\r\nlonger\r\nset uc 0 0 1\r\nx")
    assert reply.startswith(b"STORED\r\nCLIENT_ERROR 1406 ") and reply.endswith(b"\r\nSTORED\r\n"), reply
    assert unsynced.query("select k from d.t order by k") == (("ua",), ("uc",))
    # One that is refused alone leaves no transaction.
    assert client.ask(b"set ub 0 0 6\r\nlonger").startswith(b"CLIENT_ERROR 1406 ")
    unsynced.query("insert into d.t values ('ub', 'sql')")
    assert client.ask(b"get ub") == b"VALUE ub 0 3\r\nsql\r\nEND\r\n"
    unsynced.query("delete from d.t", "alter table d.t add unique (v)")
    assert client.ask(b"set ub 0 0 1\r\nx").startswith(b"SERVER_ERROR the container of the prefix 'u' (`d`.`t`): sync = 0 needs a table")


def test_sets_before_the_commit_survive_a_deadlock(unsynced):
    unsynced.query("insert into d.t select concat('w', seq), 'x' from seq_1_to_100", "insert into d.t values ('ub', 'x')", database="d")
    sql = unsynced.connect(database="d")
    client = TextConnection(unsynced.memcached_port)
    with sql.cursor() as cursor:
        # It has more to lose, so the client's transaction is the victim.
        cursor.execute("begin")
        cursor.execute("update t set v = 'y'")
        client.send(b"set ua 0 0 1\r\n1\r\nset ub 0 0 1\r\n2\r\nset uc 0 0 1\r\n3\r\n")
        wait_for("the lock wait", lambda: unsynced.query("select count(*) from information_schema.innodb_lock_waits") == ((1,),))
        cursor.execute("insert into t values ('ua', 'z') on duplicate key update v = 'z'")
        cursor.execute("commit")
    assert client.receive(b"STORED\r\n" * 3) == b"STORED\r\n" * 3
    assert client.ask(b"get ua ub uc") == b"VALUE ua 0 1\r\n1\r\nVALUE ub 0 1\r\n2\r\nVALUE uc 0 1\r\n3\r\nEND\r\n"
    assert lost_values(unsynced) == 0
    sql.close()


def test_a_batch_that_cannot_be_committed_is_counted(unsynced):
    """A killed connection, caught while its commit waits for a global read lock."""
    locker = unsynced.connect()
    waiting = "select id from information_schema.processlist where info = 'COMMIT' and command <> 'Sleep'"
    for attempt in range(200):
        client = TextConnection(unsynced.memcached_port)
        client.send(b"set ux 0 0 3\r\n%03d\r\n" % attempt)
        assert client.receive() == b"STORED\r\n"
        with locker.cursor() as cursor:
            cursor.execute("flush tables with read lock")
            if unsynced.query("select v from d.t where k = 'ux'") == (("%03d" % attempt,),):
                cursor.execute("unlock tables")
                continue
            wait_for("the commit to wait", lambda: unsynced.query(waiting))
            [(session,)] = unsynced.query(waiting)
            cursor.execute(f"kill {session}")
            wait_for("the loss", lambda: lost_values(unsynced) == 1)
            cursor.execute("unlock tables")
        break
    assert unsynced.query("select count(*) from d.t where v = '%03d'" % attempt) == ((0,),)
    assert "1 values that were answered (sync = 0) could not be committed" in unsynced.said()
    locker.close()


def test_a_table_of_containers_without_the_column_sync(open_server):
    changed_table = "alter table paceline.memcached_containers drop column sync"
    open_server.query(changed_table)
    client = TextConnection(open_server.memcached_port)
    assert client.ask(b"set a 0 0 1\r\nx\r\nget a") == b"STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n"
    open_server.query("alter table paceline.memcached_containers add sync boolean not null default true")
    assert client.ask(b"set a 0 0 1\r\ny\r\nget a") == b"STORED\r\nVALUE a 0 1\r\ny\r\nEND\r\n"


def test_definitions_of_tables_are_heeded_at_once(open_server):
    """With another unique index a single statement could overwrite the row that has the value already."""
    open_server.query("create database d", "create table d.t (k varchar(20) primary key, v varchar(20))")
    changed(open_server, "insert into paceline.memcached_containers (prefix, `database`, `table`, key_column, value_columns) values "
            "('d:', 'd', 't', 'k', 'v')")
    client = TextConnection(open_server.memcached_port)
    assert client.ask(b"set d:a 0 0 1\r\nx") == b"STORED\r\n"
    open_server.query("alter table d.t add unique (v)")
    assert client.ask(b"set d:b 0 0 1\r\nx").startswith(b"SERVER_ERROR 1062 ")
    assert open_server.query("select * from d.t") == (("d:a", "x"),)
    open_server.query("drop table d.t")
    assert client.ask(b"get d:a").startswith(b"SERVER_ERROR the container of the prefix 'd:'")


def test_what_wants_no_reply_has_none(open_server):
    client = TextConnection(open_server.memcached_port)
    client.send(b"set n 0 0 1 noreply\r\nx\r\nincr n 1 noreply\r\nincr n y noreply\r\nset m 0 0 1 noreply\r\nxyz\r\n"
                b"set n 0 0 99999999 noreply\r\n" + b"x" * 99999999 + b"\r\n")
    # What is left of a value that is too long is a command, as in memcached.
    assert client.ask(b"get n m") == b"ERROR\r\nVALUE n 0 1\r\nx\r\nEND\r\n"
    assert client.ask(b"stats").count(b"STAT noreply_errors 1\r\n") == 1
    client.ask(b"ms AAE= 1 b\r\nx")
    assert client.ask(b"me AAE= b").startswith(b"ME AAE= exp=-1 ")


def test_connections_have_the_servers_limits(tmp_path):
    server = with_port(tmp_path / "server", "--max-connections=10", "--max-connect-errors=2", "--connect-timeout=2")
    server.start()
    try:
        server.query("create user app@localhost identified by 'x'", "create user a@localhost identified by 'x' with max_user_connections 1")
        first, second = TextConnection(server.memcached_port), TextConnection(server.memcached_port)
        assert first.log_in("a", "x") == b"STORED\r\n"
        assert second.log_in("a", "x") == b"CLIENT_ERROR authentication failure\r\n"
        first.close()
        others = [TextConnection(server.memcached_port) for _ in range(12)]
        refused = [client for client in others if client.log_in("app", "x").startswith(b"SERVER_ERROR 1040 ")]
        assert refused
        for client in others:
            client.close()
        silent = TextConnection(server.memcached_port)
        assert silent.receive() == b"<closed>", "a login has connect_timeout"
        wait_for("the host to be blocked", lambda: is_blocked(server.memcached_port))
        server.query("flush hosts")
        assert TextConnection(server.memcached_port, "127.0.0.2").log_in("app", "x") == b"CLIENT_ERROR authentication failure\r\n"
        assert TextConnection(server.memcached_port).log_in("app", "x") == b"STORED\r\n"
    finally:
        server.close()


def is_blocked(port):
    """Returns whether the port refuses this host with 1129. A connection that says nothing is an error of the host."""
    client = TextConnection(port, "127.0.0.2")
    try:
        client.socket.shutdown(socket.SHUT_WR)
        return client.receive().startswith(b"SERVER_ERROR 1129 ")
    finally:
        client.close()


def test_triggers_other_unique_keys_and_the_log(open_server):
    open_server.query("create database d", "create table d.t (k varchar(20) primary key, v varchar(20), u int unique default null)",
                      "create table d.audit (k varchar(20), v varchar(20))",
                      "create trigger d.tr before update on d.t for each row insert into d.audit values (old.k, new.v)",
                      "insert into d.t values ('d:b', 'old', 1)")
    changed(open_server, "insert into paceline.memcached_containers (prefix, `database`, `table`, key_column, value_columns) values "
            "('d:', 'd', 't', 'k', 'v')")
    client = TextConnection(open_server.memcached_port)
    assert client.ask(b"set d:b 0 0 3\r\nnew") == b"STORED\r\n"
    assert client.ask(b"set d:c 0 0 3\r\nnew") == b"STORED\r\n"
    assert open_server.query("select * from d.t order by k") == (("d:b", "new", 1), ("d:c", "new", None))
    assert open_server.query("select * from d.audit") == (("d:b", "new"),)
    assert client.ask(b"append d:c 0 0 30\r\n" + b"x" * 30).startswith(b"CLIENT_ERROR 1406 ")
    # The failed one has left no transaction open.
    assert open_server.query("select count(*) from information_schema.innodb_trx") == ((0,),)


def test_clients_log_in_with_accounts(tmp_path):
    server = with_port(tmp_path / "server")
    server.start()
    try:
        wait_for("the tables", lambda: tables(server) == 2)
        server.query("create user app@localhost identified by 'se cret'", "grant select on paceline.memcached_items to app@localhost",
                     "create user locked@localhost identified by 'x' account lock", "create user tls@localhost identified by 'x' require ssl",
                     "create user e@localhost identified via ed25519 using password('pw')",
                     "grant all on paceline.* to e@localhost")
        for user, password in [("app", "wrong"), ("nobody", "x"), ("locked", "x"), ("tls", "x"), ("app", "")]:
            client = TextConnection(server.memcached_port)
            assert client.log_in(user, password) == b"CLIENT_ERROR authentication failure\r\n", user
            assert client.receive() == b"<closed>"
        client = TextConnection(server.memcached_port)
        client.send(b"get a\r\n")
        assert client.receive() == b"CLIENT_ERROR unauthenticated\r\n"
        assert client.receive() == b"<closed>"
        client = TextConnection(server.memcached_port)
        # Before the login nothing large is accepted.
        client.send(b"set login 0 0 100000\r\n")
        assert client.receive() == b"SERVER_ERROR object too large for cache\r\n"

        reader, writer = TextConnection(server.memcached_port), TextConnection(server.memcached_port)
        assert reader.log_in("app", "se cret") == b"STORED\r\n"
        assert writer.log_in("e", "pw") == b"STORED\r\n"
        assert writer.ask(b"set a 0 0 1\r\n5") == b"STORED\r\n"
        assert reader.ask(b"get a") == b"VALUE a 0 1\r\n5\r\nEND\r\n"
        assert reader.ask(b"set a 0 0 1\r\ny").startswith(b"SERVER_ERROR 1142 ")
        assert reader.ask(b"incr a 1").startswith(b"SERVER_ERROR 1142 ")
        [(connection,)] = server.query("select id from information_schema.processlist where user = 'app'")
        server.query(f"kill {connection}")
        assert reader.receive() == b"<closed>"
        assert dict(server.query("show global status like 'Paceline_memcached_auth_errors'")) == {"Paceline_memcached_auth_errors": "5"}
        assert "se cret" not in server.said()
    finally:
        server.close()


def test_encrypted_connections(tmp_path):
    server = with_port(tmp_path / "server", "--memcached-account=root", "--memcached-tls")
    server.start()
    try:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        client = TextConnection(server.memcached_port, wrap=context.wrap_socket)
        assert client.ask(b"set a 0 0 1\r\nx") == b"STORED\r\n"
        plain = TextConnection(server.memcached_port)
        plain.send(b"get a\r\n" + b"x" * 1000)
        assert b"x" not in plain.receive(b"\n")
    finally:
        server.close()


@pytest.mark.parametrize("options, message", [
    (["--memcached-address=0.0.0.0"], "it needs --memcached-tls"),
    (["--memcached-address=0.0.0.0", "--memcached-tls", "--memcached-account=root"], "lets clients in without a password"),
    (["--memcached-tls", "--skip-ssl"], "--memcached-tls needs TLS"),
])
def test_options_that_do_not_fit_are_refused(tmp_path, options, message):
    server = with_port(tmp_path / "server", *options)
    server.spawn()
    assert server.process.wait(60) != 0
    assert message in server.said()


def test_a_replica_serves_the_same_keys(tmp_path):
    primary = with_port(tmp_path / "primary", "--memcached-account=root", "--server-id=1")
    replica = with_port(tmp_path / "replica", "--memcached-account=app", "--server-id=2", "--read-only")
    try:
        primary.start()
        wait_for("the tables", lambda: tables(primary) == 2)
        replication_user(primary)
        primary.query("create user app@localhost", "grant all on paceline.* to app@localhost")
        replica.start()
        change_master(replica, primary, master_use_gtid="slave_pos")
        replica.query("start slave")
        client = TextConnection(primary.memcached_port)
        assert client.ask(b"set a 9 0 1\r\nx") == b"STORED\r\n"
        wait_for_replica(replica, primary)
        reader = TextConnection(replica.memcached_port)
        wait_for("the container", lambda: reader.ask(b"get a") == b"VALUE a 9 1\r\nx\r\nEND\r\n")
        assert client.ask(b"incr a 1").startswith(b"CLIENT_ERROR")
        assert client.ask(b"set a 9 0 1\r\ny") == b"STORED\r\n"
        wait_for("the new value", lambda: reader.ask(b"get a") == b"VALUE a 9 1\r\ny\r\nEND\r\n")
        for request in (b"set a 0 0 1\r\nx", b"delete a", b"touch a 1", b"add b 0 0 1\r\nx"):
            assert reader.ask(request).startswith(b"SERVER_ERROR 1290 "), request
    finally:
        primary.close()
        replica.close()


def test_bytes_that_are_no_requests(open_server):
    """One client harms only itself."""
    for garbage in (b"x" * 100_000, b"\0" * 5000 + b"\r\n", b"\x80\x01\x00\x05" * 100 + b"\r\n", b"set a 0 0 99999999999999999999\r\n", b"set a 0 0 "):
        client = socket.create_connection(("127.0.0.1", open_server.memcached_port))
        try:
            client.sendall(garbage)
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass
        except OSError:
            pass
        client.close()
    client = TextConnection(open_server.memcached_port)
    # A gigabyte that is announced is passed over, not kept.
    client.send(b"set big 0 0 50000000\r\n")
    assert client.receive() == b"SERVER_ERROR object too large for cache\r\n"
    client.send(b"x" * 50_000_000 + b"\r\n")
    assert client.ask(b"get big") == b"END\r\n"
    value = bytes(range(256)) * 4000
    assert client.ask(b"set big 0 0 %d\r\n%s" % (len(value), value)) == b"STORED\r\n"
    assert client.ask(b"get big") == b"VALUE big 0 %d\r\n%s\r\nEND\r\n" % (len(value), value)
    # Pipelined requests are answered in order.
    client.send(b"".join(b"set k%d 0 0 1 noreply\r\nx\r\nget k%d\r\n" % (n, n) for n in range(500)) + b"mn\r\n")
    assert client.receive(b"MN\r\n") == b"".join(b"VALUE k%d 0 1\r\nx\r\nEND\r\n" % n for n in range(500)) + b"MN\r\n"
