"""Sequences through replication in both directions: rows, definitions, promotion, and kill -9."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.replication import wait_for_replica
from support.servers import MariaDb, Paceline

CHAINS = [(Paceline, MariaDb), (MariaDb, Paceline), (Paceline, Paceline)]
NAMES = ("a", "b", "c", "d")


def state(server):
    return [(server.query(f"select * from q.{name}"), server.query(f"show create sequence q.{name}")) for name in NAMES]


@pytest.mark.parametrize("chain", CHAINS, indirect=True, ids=lambda kinds: "-".join(kind.__name__.lower() for kind in kinds))
@pytest.mark.parametrize("image", ["full", "minimal"])
def test_a_promoted_replica_gives_out_other_values(chain, image):
    primary, replica = chain
    prefix = [f"set binlog_row_image={image}"] if isinstance(primary, MariaDb) else []
    options = "engine=innodb"
    primary.query(*prefix, "create database q", "use q", f"create sequence a cache 3 {options}", f"create sequence b nocache {options}",
                  f"create sequence c increment -2 maxvalue 5 minvalue 1 cycle cache 2 {options}", f"create sequence d {options}",
                  f"create table t (id bigint default nextval(b) primary key, v bigint default (nextval(a) * 10)) {options}",
                  "insert into t values (), ()", "begin", "insert into t values ()", "rollback",
                  "select nextval(c), nextval(c), nextval(c), nextval(c)", "select setval(a, 50)", "select nextval(a)",
                  "insert into d values (100, 1, 1000, 1, 1, 10, 0, 0)", "select nextval(d)",
                  "insert into d values (20, 1, 1000, 1, 1, 10, 0, 0)", "alter sequence b increment 5 cache 2",
                  "create sequence doomed", "drop sequence doomed", "rename table d to e", "alter table e rename d",
                  "create table filled as select nextval(d) as x", "insert into t (id, v) values (nextval(b), lastval(b))")
    wait_for_replica(replica, primary)
    assert state(replica) == state(primary)
    assert replica.query("select * from q.t order by id") == primary.query("select * from q.t order by id")
    given = {name: primary.query(f"select nextval(q.{name})")[0][0] for name in ("a", "b", "d")}
    wait_for_replica(replica, primary)
    assert state(replica) == state(primary)
    replica.query("stop slave")
    for server in (primary, replica):
        if isinstance(server, Paceline):
            server.kill()
            server.start()
    for name, value in given.items():
        for server in (primary, replica):
            assert server.query(f"select nextval(q.{name})")[0][0] > value


@pytest.mark.parametrize("chain", CHAINS, indirect=True, ids=lambda kinds: "-".join(kind.__name__.lower() for kind in kinds))
def test_a_replica_that_gives_out_values_itself_is_only_raised(chain):
    primary, replica = chain
    primary.query("create database q", "create sequence q.s cache 1 engine=innodb", "select nextval(q.s)")
    wait_for_replica(replica, primary)
    assert replica.query("select nextval(q.s), nextval(q.s)") == ((2, 3),)
    assert primary.query("select nextval(q.s)") == ((2,),)
    wait_for_replica(replica, primary)
    assert replica.query("select next_not_cached_value from q.s") == ((4,),)
    primary.query("select nextval(q.s), nextval(q.s), nextval(q.s)")
    wait_for_replica(replica, primary)
    assert replica.query("select * from q.s") == primary.query("select * from q.s")
    assert replica.query("select nextval(q.s)") == ((6,),)
    primary.query("insert into q.s values (2, 1, 1000, 1, 1, 1, 0, 0)")
    wait_for_replica(replica, primary)
    assert replica.query("select * from q.s") == primary.query("select * from q.s")


def test_no_value_is_given_out_twice(servers):
    """Neither by sessions at the same time, nor after kill -9 of the server."""
    server = servers(Paceline, 1)
    server.query("create database q", "create sequence q.s cache 7", "create sequence q.one nocache", "create table q.t (id bigint primary key)")
    seen = []
    for _ in range(3):
        def take(_):
            session = server.connect(database="q")
            with session, session.cursor() as cursor:
                values = []
                for number in range(40):
                    cursor.execute("select nextval(s), nextval(one)" if number % 2 else "select nextval(one), nextval(s)")
                    (row,) = cursor.fetchall()
                    values.append(row if number % 2 else row[::-1])
                return values
        with ThreadPoolExecutor(6) as pool:
            for values in pool.map(take, range(6)):
                seen += values
        server.kill()
        server.start()
    for column in range(2):
        values = [row[column] for row in seen]
        assert len(values) == len(set(values))
    assert max(row[1] for row in seen) == len(seen)
    # Beside the rows of the log, backup and recovery need nothing: the state is the same after another restart.
    before = server.query("select * from q.s")
    server.stop()
    server.start()
    assert server.query("select * from q.s") == before


@pytest.mark.parametrize("kinds", CHAINS[:2], ids=lambda kinds: "-".join(kind.__name__.lower() for kind in kinds))
def test_a_dump_with_sequences_can_be_loaded(kinds, servers):
    source, target = (servers(kind, number) for number, kind in enumerate(kinds, 1))
    source.query("create database q", "use q", "create sequence a cache 3 engine=innodb", "create sequence b increment -2 maxvalue 7 cycle nocache engine=innodb comment='x'",
                 "create table t (id bigint default nextval(a) primary key, v int) engine=innodb", "insert into t (v) values (1), (2), (3), (4)", "select nextval(b), nextval(b)")
    # Under LOCK TABLES MariaDB wants a lock on the sequence of a default, even for rows that have a value.
    arguments = ("--single-transaction", "--skip-comments", "--skip-add-locks", "--databases", "q")
    dump = source.client(*arguments, program="mariadb-dump")
    assert dump.count("CREATE SEQUENCE") == dump.count("SETVAL") == 2
    target.client(text=dump)
    for name in "ab":
        assert target.query(f"select next_not_cached_value from q.{name}") == source.query(f"select next_not_cached_value from q.{name}")
        assert target.query(f"show create sequence q.{name}") == source.query(f"show create sequence q.{name}")
    assert target.client(*arguments, program="mariadb-dump") == dump
