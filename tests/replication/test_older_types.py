"""Columns in forms that only MariaDB writes: temporal types of `mysql56_temporal_format=OFF`, compressed columns."""

import random

import pytest
from support.replication import assert_same, change_master, replication_user, wait_for_replica
from support.servers import MariaDb, Paceline


@pytest.fixture
def pair(tmp_path):
    primary = MariaDb(tmp_path / "primary", "--server-id=1", "--mysql56-temporal-format=0", "--default-time-zone=+00:00").start()
    replica = Paceline(tmp_path / "replica", "--server-id=2").start()
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    yield primary, replica
    for server in (primary, replica):
        server.close()


def test_old_temporal_types(pair):
    primary, replica = pair
    columns = ", ".join(f"t{d} time({d}), d{d} datetime({d}), s{d} timestamp({d}) null" for d in range(7))
    primary.query("create database d", f"create table d.t (id int primary key, {columns}, e int)",
                  "create table d.k (d datetime(3), t time, s timestamp(1) not null default '2000-01-01', v int, primary key (d, t), key (s))")
    assert "mariadb-5.3" in primary.query("select column_type from information_schema.columns where table_name='t' and column_name='d0'")[0][0]
    times = ["0", "-838:59:59.999999", "838:59:59.999999", "-00:00:00.000001", "-00:00:01", "12:34:56.789012", None]
    dates = ["0000-00-00", "9999-12-31 23:59:59.999999", "2024-02-29 00:00:00.000001", "1000-01-01", "2024-00-00 01:02:03.5", None]
    stamps = ["1970-01-01 00:00:01", "2038-01-19 03:14:07.999999", "2024-02-29 12:34:56.654321", "0000-00-00", None]
    with primary.connect() as session, session.cursor() as cursor:
        cursor.execute("set sql_mode='', time_zone='+00:00'")
        rng = random.Random(1)
        for number in range(40):
            row = [value for _ in range(7) for value in (rng.choice(times), rng.choice(dates), rng.choice(stamps))]
            cursor.execute(f"insert into d.t values (%s, {'%s, ' * 21} %s)", [number, *row, number])
            cursor.execute("insert ignore into d.k values (%s, %s, %s, %s)", [rng.choice(dates[:-1]), rng.choice(times[:-1]),
                                                                             rng.choice(stamps[:-1]), number])
        cursor.execute("update d.t set t3=addtime(t3, '00:00:01.5'), d0=d0 + interval 1 second, e=e+1 where id % 3 = 0")
        cursor.execute("update d.k set v=v+100, s='2001-02-03 04:05:06.7' where v % 2 = 0")
        cursor.execute("delete from d.k where v % 3 = 0")
        cursor.execute("delete from d.t where id > 35")
        # With images that lack some columns.
        cursor.execute("set binlog_row_image=minimal")
        cursor.execute("update d.t set d6=s6, t6=null where id % 5 = 0")
        cursor.execute("update d.k set s='2002-02-03 04:05:06.1' where v > 100")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert len(replica.query("select id from d.t")) == 36
    exact = "select id, " + ", ".join(f"cast(t{d} as char), cast(d{d} as char), cast(s{d} as char)" for d in range(7)) + " from d.t order by id"
    with primary.connect(init_command="set time_zone='+00:00'") as one, replica.connect(init_command="set time_zone='+00:00'") as other:
        with one.cursor() as ours, other.cursor() as theirs:
            ours.execute(exact)
            theirs.execute(exact)
            assert ours.fetchall() == theirs.fetchall()


def test_compressed_columns(pair):
    primary, replica = pair
    primary.query("create database d", "create table d.t (id int primary key, v varchar(300) compressed, w varchar(200) compressed=zlib character set "
                  "latin1, b blob compressed, l longtext compressed, x varbinary(500) compressed, plain varchar(300))")
    with primary.connect() as session, session.cursor() as cursor:
        for level, wrap, threshold in ((6, 0, 100), (1, 1, 0), (0, 0, 0), (9, 0, 5000)):
            cursor.execute(f"set column_compression_zlib_level={level}, global column_compression_threshold={threshold}, column_compression_zlib_wrap={wrap}")
            begin = cursor.execute("select id from d.t") * 10
            for number, text in enumerate(["", "a", "ä" * 150, "abc" * 60, None]):
                cursor.execute("insert into d.t values (%s, %s, %s, %s, %s, %s, %s)",
                               [begin + number, text, text, text and text.encode() * 20, text and text * 5000, text and text.encode() + b"\0\xff", text])
            cursor.execute("update d.t set v=concat(v, '!'), l=repeat('long ', 20000) where id % 2 = 0 and length(v) < 250")
        cursor.execute("delete from d.t where b=''")
        cursor.execute("set binlog_row_image=minimal")
        cursor.execute("update d.t set w='minimal' where id % 4 = 1")
    wait_for_replica(replica, primary)
    assert_same(primary, replica)
    assert len(replica.query("select id from d.t")) > 10
    # Our own log has whole values, so it suffices without the primary.
    replica.kill()
    replica.start("--skip-slave-start")
    assert_same(primary, replica)
