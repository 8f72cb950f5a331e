"""Session tracking: the changes that OK packets report, byte by byte as in MariaDB.

Only the order of system variables that one statement changes is not compared: in MariaDB it is that of a hash table of addresses,
and another one after each start.
"""

import pytest
from support.raw_protocol import DEPRECATE_EOF, SESSION_TRACK, USUAL, RawClient, read_lenenc
from support.servers import MariaDb, Paceline

NO_INDEX_USED = 0x20
STATE_CHANGED = 0x4000
SYSTEM_VARIABLE = 0
STATEMENTS = """
create or replace database tr
use tr
create table t (a int primary key)
set session_track_schema = 0
use mysql
set session_track_schema = 1
use mysql
use tr
set session_track_system_variables = '*'
set autocommit = 0
set autocommit = 1
set time_zone = '+01:00'
set session_track_system_variables = 'autocommit, time_zone'
set time_zone = '+02:00'
set sql_mode = 'ansi'
set session_track_system_variables = default
set names latin1
set names utf8mb4
set @x = 1
set session_track_state_change = 1
set @y = 2
set time_zone = '+03:00'
use tr
create temporary table tt (a int)
prepare s from 'select 1'
select 1
drop temporary table tt
set session_track_state_change = 0
set session_track_transaction_info = 'STATE'
begin
select * from t
insert into t values (1)
commit
start transaction read only
select * from t
commit
set autocommit = 0
select 1
select * from t
insert into t values (3)
rollback
set autocommit = 1
set session_track_transaction_info = 'CHARACTERISTICS'
set transaction isolation level read committed, read only
begin
commit
start transaction with consistent snapshot
select * from t
insert into t values (2)
rollback
begin
select 1
select * from t for update
update t set a = 7
savepoint s1
rollback to s1
rollback
begin
delete from t
create table t2 (a int)
select * from t
lock tables t write
select * from t
unlock tables
set session_track_transaction_info = 'OFF'
begin
commit
set session_track_system_variables = 'autocommit,time_zone,character_set_client'
create function set_zone() returns int deterministic begin set time_zone = '+05:00'; return 1; end
do set_zone()
create function set_client() returns int deterministic begin set names latin1; set time_zone = '+06:00'; return 1; end
do set_client()
set names utf8mb4
set session_track_system_variables = ''
set autocommit = 0
set autocommit = 1
set session_track_system_variables = 'nosuch'
set session_track_system_variables = 'autocommit,nosuch,time_zone'
set session_track_transaction_info = 'x'
set session_track_schema = 2
""".strip().splitlines()


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    started = [kind(tmp_path_factory.mktemp("tracking")).start() for kind in (Paceline, MariaDb)]
    yield started
    for server in started:
        server.close()


def last(packets):
    """Returns the last packet of an answer, without a status flag that Paceline never sets."""
    packet = bytearray(packets[-1])
    if packet[0] in (0, 0xFE):
        packet[3] &= ~NO_INDEX_USED
    return bytes(packet)


def in_order(packet):
    """Returns an OK packet with its changes of system variables sorted."""
    if packet[0] not in (0, 0xFE) or not int.from_bytes(packet[3:5], "little") & STATE_CHANGED:
        return packet
    info_length, at = read_lenenc(packet, 7)
    length, at = read_lenenc(packet, at + info_length)
    assert at + length == len(packet)
    changes, place = [], at
    while place < len(packet):
        length, data = read_lenenc(packet, place + 1)
        changes.append(packet[place:data + length])
        place = data + length
    variables = iter(sorted(change for change in changes if change[0] == SYSTEM_VARIABLE))
    return packet[:at], [next(variables) if change[0] == SYSTEM_VARIABLE else change for change in changes]


def test_ok_packets_report_changes(servers):
    answers = []
    for server in servers:
        client = RawClient(server, USUAL | SESSION_TRACK | DEPRECATE_EOF)
        answers.append(given := [last(client.query(statement)) for statement in STATEMENTS])
        client.query("set session_track_system_variables = '*', session_track_transaction_info = 'STATE', session_track_schema = 1")
        prepared, _ = client.prepare("set autocommit = ?")
        for command in (b"\x17" + prepared + b"\0\1\0\0\0\0\1\x03\0\0\0\0\0", b"\x02mysql", b"\x0e", b"\x1f", b"\x03begin"):
            given.append(last(client.command(command)))
        client.close()
    for statement, ours, theirs in zip([*STATEMENTS, "execute", "init db", "ping", "reset", "begin"], *answers):
        assert in_order(ours) == in_order(theirs), statement


def test_clients_without_session_tracking_get_no_changes(servers):
    for server in servers:
        client = RawClient(server, USUAL | DEPRECATE_EOF)
        client.query("set session_track_transaction_info = 'STATE', session_track_state_change = 1")
        assert last(client.query("use mysql"))[3:5] == last(client.query("begin"))[3:5].replace(b"\3", b"\2")
        client.close()
