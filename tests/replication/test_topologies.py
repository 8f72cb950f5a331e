"""Chains of servers, ours and MariaDB's, under a random load with kills: at the end all have the same rows and
positions."""

import random

import pymysql
from support import workload
from support.chains import chains, wait_for_all
from support.replication import assert_same, gtid_position, slave_status, wait_for_replica
from support.servers import ROOT, MariaDb, Paceline
from support.waiting import let_run, wait_for

SCRIPT = (ROOT / "tests/log/every_type.sql").read_text()
CHAINS = {
    "mariadb-paceline": [MariaDb, Paceline],
    "paceline-paceline": [Paceline, Paceline],
    "mariadb-paceline-mariadb": [MariaDb, Paceline, MariaDb],
    "paceline-mariadb-paceline": [Paceline, MariaDb, Paceline],
}


def every(*names):
    return chains(CHAINS, names)


@every("mariadb-paceline", "paceline-mariadb-paceline")
def test_every_type_goes_through(chain):
    chain[0].client("--default-character-set=utf8mb4", text=SCRIPT)
    wait_for_all(chain)
    for replica in chain[1:]:
        assert_same(chain[0], replica)


@every()
def test_a_random_load_with_kills(chain, seed, effort):
    rng = random.Random(seed)
    first = chain[0]
    workload.create(first)
    wait_for_all(chain)
    load = workload.Load(first, 6, seed).start()
    for number in range(int(4 * effort)):
        workload.for_a_while(rng, 0.1, 0.6)
        first.query(f"create table load_test.extra{number} (a int primary key, b varchar(10))",
                    f"insert into load_test.extra{number} values (1, 'x')", f"alter table load_test.extra{number} add c int default 5")
        place = rng.randrange(1, len(chain))
        victim = chain[place]
        if isinstance(victim, MariaDb):
            # MariaDB 10.11 has a definition in its tables before its GTID is in mysql.gtid_slave_pos: killed in
            # between, it stops with 1050 or 1060.
            for replica, primary in zip(chain[1:place + 1], chain):
                wait_for_replica(replica, primary)
        victim.kill()
        let_run(rng.uniform(0, 0.2))
        victim.start()
        # Every state that a reader of a replica sees was one of the primary's.
        for replica in chain[1:]:
            if isinstance(replica, Paceline):
                try:
                    workload.check(replica, load, loses_acknowledged=True)
                except pymysql.err.ProgrammingError:
                    pass  # it has not got that far
    load.stop()
    wait_for_all(chain)
    for replica in chain[1:]:
        workload.check(replica, load)
        assert_same(first, replica)
        assert gtid_position(replica) == gtid_position(first)
        status = wait_for("to be up to date", lambda: (found := slave_status(replica))["Seconds_Behind_Master"] == 0 and found)
        assert (status["Slave_IO_Running"], status["Slave_SQL_Running"]) == ("Yes", "Yes")
