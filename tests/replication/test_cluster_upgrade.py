"""Rolling upgrades of a cluster, from this version to a later one, and what members of different versions refuse.

The later version is this program with other numbers (tests/other_version): what is checked is what members of two versions do
with each other. `make torture` also upgrades from an earlier state of the code, which tools/earlier_build.sh builds."""

import os
import re
import subprocess
from pathlib import Path

import pymysql
import pytest
from support.clusters import Writer
from support.servers import Program
from support.waiting import wait_for

PRESENT = Program()


def number_of(program):
    done = subprocess.run([program.path, "--version"], capture_output=True, text=True, check=True, timeout=60, env=dict(program.environment))
    return done.stdout.split()[-1]


VERSION = number_of(PRESENT)
MAJOR, MINOR, PATCH = map(int, VERSION.split("."))
NEXT = f"{MAJOR}.{MINOR + 1}.0"
# A data directory of it can be opened by this version again.
NEXT_PATCH = f"{MAJOR}.{MINOR}.{PATCH + 1}"


def versions(cluster):
    """Returns part and version of each member by its name, as `paceline cluster status` shows them."""
    members, _ = cluster.command("status").split("\nepoch ")
    return {words[0]: (words[1], words[6]) for words in map(str.split, members.splitlines()[1:])}


def next_upgrade(cluster):
    """Returns name and old version of the member that is to be upgraded next, or `None`."""
    found = re.search(r"^upgrade next: (\S+), from (\S+) to (\S+?),?( .*)?$", cluster.command("status"), re.M)
    return found and found.groups()[:3]


def restart(cluster, member, program):
    """Stops a member as for an upgrade, and starts it as another version. Returns whether it was the primary."""
    was_primary = member.is_primary()
    assert member.stop() == 0, member.said()[-2000:]
    member.program = program
    member.start()
    name = member.directory.name
    version = number_of(program)
    wait_for(f"{name} to be shown as {version}", lambda: versions(cluster)[name][1] == version)
    return was_primary


def wait_until_whole(cluster, member):
    """Waits until a member has all of the primary's log of now."""
    [(position,)] = cluster.primary().query("select @@global.gtid_binlog_pos")
    wait_for(f"{member} to follow", lambda: has(member, position))


def has(member, position):
    try:
        return member.query(f"select master_gtid_wait('{position}', 1)") == ((0,),)
    except pymysql.err.Error:
        # It is not open yet.
        return False


def check_rows(cluster, writer):
    rows = cluster.primary().query("select i from t.n order by i")
    assert set(writer.committed) <= {number for (number,) in rows}
    cluster.wait_for_rows("select i from t.n order by i", rows)
    for archive in cluster.archives:
        wait_until_whole(cluster, archive)
    assert writer.errors <= {1047, 1053, 1290, 2003, 2006, 2013}, writer.errors


def upgrade(cluster, later):
    """Upgrades a cluster member by member, under load, in the order that the status names."""
    earlier_number, later_number = number_of(cluster.members[0].program), number_of(later)
    members = {member.directory.name: member for member in (*cluster.members, *cluster.archives)}
    assert next_upgrade(cluster) is None
    writer = Writer(cluster)
    writer.wait_for_more()
    # All have the same version; the operator begins with any that is no primary.
    first = cluster.others()[0].directory.name
    upgraded, primaries, name = [], [], first
    while name:
        assert versions(cluster)[name][1] == earlier_number
        primaries.append(restart(cluster, members[name], later))
        upgraded.append(name)
        wait_until_whole(cluster, members[name])
        writer.wait_for_more()
        shown = versions(cluster)
        assert {name for name, (_, version) in shown.items() if version == later_number} == set(upgraded)
        assert all(part in ("primary", "holder") for part, _ in shown.values()), shown
        named = next_upgrade(cluster)
        assert named is None or named[1:] == (earlier_number, later_number)
        name = named and named[0]
    writer.stop()
    # The primary was the last one.
    assert sorted(upgraded) == sorted(members) and primaries == [False, False, True], (upgraded, primaries)
    check_rows(cluster, writer)


SIZES = pytest.mark.parametrize("servers, archives", [(2, 1), (3, 0)], ids=["two servers and an archive", "three servers"])


@SIZES
def test_a_cluster_is_upgraded_member_by_member_under_load(clusters, servers, archives):
    """The later version writes a later format of the log, so the order matters."""
    cluster = clusters(servers, archives=archives)
    upgrade(cluster, Program.of_version(NEXT, log_format=2))
    # There is no way back with the same directory.
    member = cluster.others()[0]
    member.stop()
    member.program = PRESENT
    member.spawn()
    assert member.process.wait(60) == 1
    assert f"was written by Paceline {NEXT}" in member.said() and "cannot be downgraded" in member.said()


@SIZES
def test_a_cluster_of_earlier_code_is_upgraded_under_load(clusters, servers, archives):
    if not os.environ.get("PACELINE_EARLIER"):
        pytest.skip("PACELINE_EARLIER does not name a program of an earlier state of the code: make torture builds one")
    upgrade(clusters(servers, archives=archives, program=Program(Path(os.environ["PACELINE_EARLIER"]))), PRESENT)


@pytest.mark.parametrize("format", [0, 2], ids=["older", "newer"])
def test_members_with_other_messages_are_refused_and_both_sides_say_so(clusters, format):
    cluster = clusters(3)
    stranger = cluster.others()[0]
    primary = cluster.primary()
    writer = Writer(cluster)
    writer.wait_for_more()
    stranger.stop()
    stranger.program = Program.of_version(NEXT_PATCH, message_format=format)
    stranger.spawn()
    # Members that are no primary have nothing to say to it.
    refusals = {primary: (NEXT_PATCH, format, 1), stranger: (VERSION, 1, format)}
    for member, (version, known, sent) in refusals.items():
        refusal = f"(version {version}) knows messages of format {known}, the one that asks sends format {sent}: upgrade the older one"
        wait_for(f"{member} to say why it is refused", lambda member=member, refusal=refusal: refusal in member.said())
    # The others go on, and the status can still be asked for.
    writer.wait_for_more()
    assert versions(cluster)[stranger.directory.name] == ("holder", NEXT_PATCH)
    assert not stranger.answers()
    lines = cluster.command("status", f"--cluster-secret-file={cluster.secret_file}").splitlines()
    [line] = [line for line in lines if line.startswith(f"{stranger.directory.name} ")]
    assert line.split()[3] == NEXT_PATCH and " starting" in line, line
    stranger.stop()
    stranger.program = PRESENT
    stranger.start()
    wait_until_whole(cluster, stranger)
    writer.stop()
    check_rows(cluster, writer)


@SIZES
def test_a_server_with_a_later_log_leads_only_when_enough_members_read_it(clusters, servers, archives):
    """The primary is upgraded first, against the order. Nothing is lost, and commits go on."""
    cluster = clusters(servers, archives=archives)
    later = Program.of_version(NEXT_PATCH, log_format=2)
    early = cluster.primary()
    writer = Writer(cluster)
    writer.wait_for_more()
    assert restart(cluster, early, later)
    # It has handed over, and follows a primary whose log it reads.
    wait_until_whole(cluster, early)
    writer.wait_for_more()
    last = cluster.primary()
    refused = cluster.try_command("switch", "--to", early.directory.name)
    assert refused.returncode == 1 and "too few log holders read the format of the log" in refused.stderr, refused
    writer.wait_for_more()
    assert cluster.primary() is last
    [second] = [member for member in (*cluster.members, *cluster.archives) if member not in (early, last)]
    restart(cluster, second, later)
    wait_until_whole(cluster, second)
    # Two of three read it now. The third is not served.
    cluster.command("switch", "--to", early.directory.name)
    wait_for(f"{last} to be refused", lambda: refusals(last))
    for _ in range(5):
        writer.wait_for_more()
    # Once, though it tries again and again.
    assert refusals(last) == 1
    restart(cluster, last, later)
    wait_until_whole(cluster, last)
    writer.stop()
    check_rows(cluster, writer)


def refusals(member):
    return member.said().count("the log has format 2, and the member reads up to format 1: upgrade the member first")
