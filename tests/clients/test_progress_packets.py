"""Progress packets for clients that ask for them (MARIADB_CLIENT_PROGRESS), beside MariaDB."""

import subprocess

import pytest
from support.raw_protocol import ERROR, USUAL, RawClient
from support.servers import MariaDb, Paceline

PROGRESS = 1 << 32
ROWS = 200_000


def start(kind, directory):
    server = kind(directory, *(["--secure-file-priv="] if kind is MariaDb else [])).start()
    server.query("create database d", "use d", f"create table t engine=innodb as select seq a, repeat('x', 100) b from seq_1_to_{ROWS}",
                 "alter table t add primary key (a)")
    return server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = start(Paceline, tmp_path_factory.mktemp("server"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    server = start(MariaDb, tmp_path_factory.mktemp("mariadb"))
    yield server
    server.close()


def parsed(packet):
    """Returns stage, number of stages, thousandths of a percent and state."""
    assert packet[:4] == b"\xff\xff\xff\x01"
    length = packet[9]
    assert len(packet) == 10 + length
    return packet[4], packet[5], int.from_bytes(packet[6:9], "little"), packet[10:].decode()


def reports(client, statement):
    """Returns the progress packets before the reply of a statement without rows, and the reply."""
    client.send(b"\x03" + statement.encode())
    seen, sequence = [], 0
    while True:
        packet = client.receive()
        sequence += 1
        assert client.sequence == sequence
        if packet[:3] != b"\xff\xff\xff":
            return seen, packet
        seen.append(parsed(packet))


def asking(server, capabilities=USUAL | PROGRESS):
    client = RawClient(server, capabilities)
    client.query("use d")
    return client


def rising(seen):
    stages = [stage for stage, *_ in seen]
    assert stages == sorted(stages) and all(of == 2 and 0 <= part <= 100_000 for _, of, part, _ in seen)
    for stage in set(stages):
        parts = [part for number, _, part, _ in seen if number == stage]
        assert parts == sorted(parts)
    return sorted(set(stages))


def test_the_first_report_of_a_rebuild_is_mariadbs(server, mariadb):
    alter = "alter table t force, algorithm=copy"
    (ours, our_reply), (theirs, their_reply) = (reports(asking(each), alter) for each in (server, mariadb))
    assert ours and theirs and our_reply[0] == their_reply[0] == 0
    assert rising(ours) == rising(theirs)
    # How much is done by then depends on how often each looks.
    assert (ours[0][:2], ours[0][3]) == (theirs[0][:2], theirs[0][3])


def test_create_index_and_check_and_load_report(server, tmp_path):
    client = asking(server)
    seen, reply = reports(client, "create index b on t (b)")
    assert rising(seen) == [1, 2] and reply[0] == 0
    server.query("use d", "drop index b on t")
    seen, _ = reports(client, "check table t")
    assert seen[0][3] == "Checking table"


def test_load_data_reports_as_mariadb(server, mariadb, tmp_path):
    file = tmp_path / "rows"
    file.write_text("".join(f"{number}\n" for number in range(300_000)))
    answers = []
    for each in (server, mariadb):
        each.query("use d", "create or replace table l (a int) engine=innodb")
        seen, reply = reports(asking(each), f"load data infile '{file}' into table l")
        assert reply[0] == 0 and each.query("select count(*) from d.l") == ((300_000,),)
        answers.append((seen[0][:2], seen[0][3]))
    assert answers[0] == answers[1]


def test_an_error_follows_the_reports(server):
    server.query("use d", "create or replace table u (a int, b int)", f"insert into u select seq, seq from seq_1_to_{ROWS}", "insert into u values (7, 7)")
    seen, reply = reports(asking(server), "alter table u add primary key (a)")
    assert seen and reply[0] == ERROR and int.from_bytes(reply[1:3], "little") == 1062


def test_clients_that_do_not_ask_get_none(server):
    client = RawClient(server)
    client.query("use d")
    assert reports(client, "alter table t force") == ([], client_ok(client))


def client_ok(client):
    seen, reply = reports(client, "alter table t force")
    assert seen == [] and reply[0] == 0
    return reply


def test_the_interval_can_be_changed_and_zero_is_none(server, mariadb):
    counts = []
    for each in (server, mariadb):
        client = asking(each)
        client.query("set progress_report_time = 0")
        counts.append([len(reports(client, "alter table t force, algorithm=copy")[0])])
        client.query("set progress_report_time = 1000")
        counts[-1].append(len(reports(client, "alter table t force, algorithm=copy")[0]))
        each.query("set global progress_report_time = 0")
        counts[-1].append(len(reports(client, "alter table t force, algorithm=copy")[0]))
        each.query("set global progress_report_time = default")
    assert counts[0] == counts[1] and counts[0][0] == counts[0][2] == 0


def test_a_prepared_statement_and_a_procedure_report(server):
    client = asking(server)
    client.query("prepare s from 'alter table t force'")
    seen, reply = reports(client, "execute s")
    assert rising(seen) and reply[0] == 0
    server.query("create or replace procedure d.p() alter table t force")
    seen, reply = reports(client, "call p()")
    assert rising(seen) and reply[0] == 0


def test_the_client_of_mariadb_shows_them(server):
    client = subprocess.run(["mariadb", "--no-defaults", f"--socket={server.socket}", "--user=root", "--progress-reports", "--force",
                             "--execute=alter table d.t force; select 'done'"], capture_output=True, text=True, check=True, timeout=60)
    assert "done" in client.stdout, client


def test_reports_are_encrypted_and_compressed_with_the_connection(server):
    for option in ("--ssl", "--compress"):
        client = subprocess.run(["mariadb", "--no-defaults", f"--socket={server.socket}", "--user=root", "--progress-reports", option,
                                 "--execute=alter table d.t force; select 'done'"], capture_output=True, text=True, check=True, timeout=60)
        assert "done" in client.stdout, (option, client)
