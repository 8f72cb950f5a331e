"""AUTO_INCREMENT on a replica that becomes the primary continues after rows that the primary has deleted."""

import pytest
from support.replication import wait_for_replica
from support.servers import MariaDb, Paceline


@pytest.mark.parametrize("chain", [(Paceline, Paceline), (MariaDb, Paceline), (Paceline, MariaDb)], indirect=True)
@pytest.mark.parametrize("image", ["full", "minimal"])
def test_a_promoted_replica_continues(chain, image):
    primary, replica = chain
    rows = [] if isinstance(primary, Paceline) and image == "minimal" else [f"set binlog_row_image={image}"]
    primary.query("create database d", "create table d.t (id int auto_increment primary key, v int)", *rows,
                  "insert into d.t (v) values (1), (2), (3)", "delete from d.t where v = 3", "insert into d.t (v) values (4)", "delete from d.t where v > 1")
    wait_for_replica(replica, primary)
    if isinstance(replica, Paceline):
        replica.kill()
        replica.start()
    replica.query("stop slave", "insert into d.t (v) values (5)")
    assert replica.query("select id from d.t order by id") == ((1,), (5,))
