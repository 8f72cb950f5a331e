"""KILL over HTTP: the rules of accounts and of the web, and the page's button."""

import contextlib
import http.client
import json
import os
import pwd
import ssl
import threading

import pytest
from support.waiting import wait_for

PASSWORD = "a-password-to-look-for"


def kill(server, connection, user="killer", password=PASSWORD, body=None, tls=None, method="POST", **headers):
    """Returns status and answer: an object, or a text."""
    client = http.client.HTTPSConnection("127.0.0.1", server.http_port, timeout=20, context=tls) if tls else \
        http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=20)
    body = body or json.dumps({"user": user, "password": password, "connection": connection})
    with contextlib.closing(client):
        client.request(method, "/api/kill", body=body, headers={"Content-Type": "application/json", **headers})
        answer = client.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if answer.headers["Content-Type"] == "application/json" else text.strip()


def refused(number):
    """What the server's error looks like."""
    return lambda answer: answer[0] == 403 and answer[1]["error"]["number"] == number


def account(server, name, options="", grant="grant connection admin on *.* to"):
    server.query(f"create user {name}@localhost identified by '{PASSWORD}' {options}")
    if grant:
        server.query(f"{grant} {name}@localhost")


def is_alive(server, connection):
    return server.query(f"select 1 from information_schema.processlist where id = {connection}") != ()


def test_accounts_and_their_rules(serve):
    server = serve("--max-password-errors=3")
    account(server, "killer")
    with server.connect() as victim:
        victim_id = victim.thread_id()
        account(server, "nobody", grant=None)
        account(server, "locked", "account lock")
        account(server, "expired", "password expire")
        account(server, "encrypted", "require ssl")
        me = pwd.getpwuid(os.getuid()).pw_name
        server.query("create user elsewhere@'10.%' identified by ''",
                     "drop user if exists root@'127.0.0.1', root@'::1'", f"create or replace user {me}@localhost identified via unix_socket",
                     f"grant all on *.* to {me}@localhost with grant option")
        assert refused(1045)(kill(server, victim_id, password="wrong"))
        assert refused(1045)(kill(server, victim_id, user="unknown"))
        assert refused(1045)(kill(server, victim_id, user="elsewhere", password=""))
        # The process that passes the request on is the server, which runs as this user. That proves nothing.
        assert refused(1698)(kill(server, victim_id, user=me, password=""))
        assert refused(1045)(kill(server, victim_id, user="encrypted"))
        assert refused(1095)(kill(server, victim_id, user="nobody"))
        assert refused(4151)(kill(server, victim_id, user="locked"))
        assert kill(server, victim_id, user="expired")[1]["error"]["number"] in (1820, 1862)
        assert refused(1094)(kill(server, 4_000_000))
        assert is_alive(server, victim_id)
        assert kill(server, victim_id) == (200, {"done": f"KILL CONNECTION {victim_id}"})
        wait_for("the end of the session", lambda: not is_alive(server, victim_id))
    # A role that gives the privilege.
    server.query("create role may_kill", "grant connection admin on *.* to may_kill", "grant may_kill to nobody@localhost",
                 "set default role may_kill for nobody@localhost")
    with server.connect() as victim:
        assert kill(server, victim.thread_id(), user="nobody")[0] == 200
    for _ in range(3):
        assert refused(1045)(kill(server, 1, user="nobody", password="wrong"))
    assert refused(4150)(kill(server, 1, user="nobody"))


def test_only_the_statement_is_killed_and_the_logs_see_it(serve):
    server = serve("--server-audit-logging=ON", "--general-log=ON", "--log-output=FILE", "--general-log-file=general.log")
    account(server, "killer")
    with server.connect() as victim:
        errors = []

        def wait():
            try:
                victim.cursor().execute("select sleep(1000)")
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        wait_for("the statement", lambda: server.query("select 1 from information_schema.processlist where state = 'User sleep'"))
        body = json.dumps({"user": "killer", "password": PASSWORD, "connection": victim.thread_id(), "statement_only": True})
        assert kill(server, 0, body=body)[0] == 200
        thread.join()
        assert is_alive(server, victim.thread_id())
        # The session of the request ends after its answer.
        audit_log = server.datadir / "server_audit.log"
        wait_for("the end of the session", lambda: any(
            '"DISCONNECT"' in line and '"killer"' in line for line in audit_log.read_text().splitlines()))
        kill(server, victim.thread_id(), password=PASSWORD + "-wrong")
    audit = [json.loads(line) for line in (server.datadir / "server_audit.log").read_text().splitlines()]
    of_killer = [event for event in audit if event["user"] == "killer"]
    assert [event["event"] for event in of_killer][:3] == ["CONNECT", "QUERY", "DISCONNECT"] and of_killer[0]["host"] == "localhost"
    assert of_killer[1]["statement"].startswith("KILL QUERY") and of_killer[-1]["event"] == "FAILED_CONNECT"
    assert "killer@localhost" in (server.datadir / "general.log").read_text()
    for path in ("server_audit.log", "general.log"):
        assert PASSWORD not in (server.datadir / path).read_text()
    assert PASSWORD not in server.said()


def test_other_sites_methods_and_bodies_are_refused(serve):
    server = serve()
    account(server, "killer")
    own = f"http://127.0.0.1:{server.http_port}"
    with server.connect() as victim:
        connection = victim.thread_id()
        for headers in ({"Origin": "http://example.com"}, {"Origin": "null"}, {"Origin": own, "Sec-Fetch-Site": "cross-site"}):
            assert kill(server, connection, **headers) == (403, "requests of other sites are refused"), headers
        assert kill(server, connection, Host="example.com")[0] == 421
        assert kill(server, connection, **{"Content-Type": "text/plain"})[0] == 415
        assert kill(server, connection, method="GET")[0] == 405
        assert kill(server, connection, body="{}")[0] == 400
        assert kill(server, connection, body="[" * 5000)[0] == 413
        assert is_alive(server, connection)
        assert kill(server, connection, Origin=own, **{"Sec-Fetch-Site": "same-origin"})[0] == 200
    while (answer := kill(server, 0, body="{}"))[0] == 400:
        pass
    assert answer == (429, "too many requests: wait a minute")


def test_tls_counts_for_accounts_that_require_it(serve, tmp_path):
    token = tmp_path / "token"
    token.write_text("a-token-of-enough-length")
    token.chmod(0o600)
    server = serve(f"--http-token-file={token}", host="0.0.0.0")
    account(server, "killer", "require ssl")
    account(server, "certified", "require x509")
    tls = ssl._create_unverified_context()
    bearer = {"Authorization": "Bearer a-token-of-enough-length"}
    with server.connect() as victim:
        assert kill(server, victim.thread_id(), tls=tls)[0] == 401
        assert refused(1045)(kill(server, victim.thread_id(), user="certified", tls=tls, **bearer))
        assert kill(server, victim.thread_id(), tls=tls, **bearer)[0] == 200


def test_the_button_of_the_page_asks_and_kills(serve, browse):
    server = serve()
    account(server, "killer")
    server.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    with server.connect() as holder, server.connect() as waiter:
        holder.begin()
        holder.cursor().execute("update d.t set a = 2")
        thread = threading.Thread(target=lambda: waiter.cursor().execute("update d.t set a = 3"))
        thread.start()
        page = browse(server.http)
        button = f"button[aria-label='kill connection {holder.thread_id()}']"
        page.click_until(button, f"Kill connection {holder.thread_id()}?")
        page.type("killer")
        page.click("input[name=password]")
        page.type("wrong")
        page.click("dialog form button:not([type])")
        page.wait_for_text("1045 (28000): Access denied for user 'killer'@'localhost' (using password: YES)")
        assert is_alive(server, holder.thread_id())
        assert page.value("document.querySelector('input[name=user]').value") == "killer"
        page.click("input[name=password]")
        page.value("document.querySelector('input[name=password]').select()")
        page.type(PASSWORD)
        page.click("dialog form button:not([type])")
        page.wait_for_text(f"KILL CONNECTION {holder.thread_id()}: done")
        thread.join()
        assert not is_alive(server, holder.thread_id())
        # What was typed is not kept.
        assert PASSWORD not in page.value("JSON.stringify([localStorage, sessionStorage, location.href])")
        page.click("dialog button")
        page.wait_for_text("No transaction is open.")
        assert page.value("document.querySelector('dialog')") is None
