"""The page, in a headless browser: what it shows while it loads, with data, without, with a token, and without a server."""

import html
import http.server
import re
import shutil
import struct
import subprocess
import threading
import urllib.request
import zlib
from pathlib import Path

import pymysql
import pytest
from support.archive import Archive
from support.line import Tampering
from support.replication import change_master, replication_user, wait_for_replica
from support.servers import BINARY
from support.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent


def browser(directory, *arguments):
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={directory / 'browser'}", *arguments]
    return subprocess.run(command, capture_output=True, timeout=120, check=True)


def seen(url, directory, milliseconds=7000):
    """Returns the text of the page after so much of the browser's own time, which does not depend on the machine's."""
    dom = browser(directory, "--dump-dom", f"--virtual-time-budget={milliseconds}", url).stdout.decode()
    body = re.sub(r"<(script|style).*?</\1>", "", dom, flags=re.S)
    # The labels of plots and graphs are what a screen reader says.
    labels = " ".join(re.findall(r'aria-label="([^"]*)"', body))
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body) + " " + labels))


def test_a_primary_with_a_replica_load_and_waits(serve, tmp_path):
    primary, replica = serve(), serve("--report-host=replica.example")
    replication_user(primary)
    change_master(replica, primary, master_use_gtid="slave_pos")
    replica.query("start slave")
    primary.query("create database d", "create table d.t (a int primary key, b int)", "insert into d.t values (1,1)")
    wait_for_replica(replica, primary)
    with primary.connect(database="d") as holder, primary.connect(database="d") as other:
        cursor = holder.cursor()
        cursor.execute("begin")
        cursor.execute("update t set b = 2 where a = 1")
        waiter = threading.Thread(target=lambda: other.cursor().execute("update t set b = 3 where a = 1"))
        waiter.start()
        wait_for("the wait", lambda: primary.query("select count(*) from information_schema.innodb_lock_waits")[0][0])
        text = seen(primary.http, tmp_path)
        assert "primary" in text and f":{primary.port}" in text and "replica.example" in text
        assert "INSERT INTO `d` . `t` VALUES (...)" in text
        assert f"{other.thread_id()} waits for {holder.thread_id()} at `d`.`t`" in text
        assert "(idle)" in text and "update t set b = 3 where a = 1" in text
        # Two answers have come, so the plots have points.
        assert re.search(r"commits per second: now \d", text)
        cursor.execute("rollback")
        waiter.join()
    text = seen(replica.http, tmp_path)
    assert f"127.0.0.1:{primary.port}" in text and "behind 0 s" in text and "held back by nothing" in text
    assert "No transaction is open." in text and "No replica is connected." in text


def test_waits_for_metadata_locks_are_edges_of_the_graph(serve, tmp_path):
    """A definition waits for a transaction that reads the table, and a reader waits for the definition."""
    server = serve()
    server.query("create database d", "create table d.t (a int primary key)")
    connections = [server.connect(database="d") for _ in range(3)]
    holder, definer, reader = connections
    cursor = holder.cursor()
    cursor.execute("begin")
    cursor.execute("select * from t")
    waiters = []

    def wait(connection, statement):
        waiters.append(threading.Thread(target=lambda: connection.cursor().execute(statement)))
        waiters[-1].start()
        waiting = ("select count(*) from information_schema.processlist where state like 'Waiting for table metadata lock' "
                   f"and id = {connection.thread_id()}")
        wait_for("the wait", lambda: server.query(waiting)[0][0])

    try:
        wait(definer, "alter table t add column b int")
        wait(reader, "select count(*) from t")
        text = seen(server.http, tmp_path)
        assert f"{definer.thread_id()} waits for {holder.thread_id()} at the definition of `d`.`t`" in text
        assert f"{reader.thread_id()} waits for {definer.thread_id()} at the definition of `d`.`t`" in text
        assert "alter table t add column b int" in text and f"kill connection {definer.thread_id()}" in text
    finally:
        cursor.execute("rollback")
        for waiter in waiters:
            waiter.join()
        for connection in connections:
            connection.close()


def test_a_replica_that_is_not_sent_everything_has_a_lag_in_bytes_and_seconds(serve, tmp_path):
    primary, replica = serve(), serve("--report-host=replica.example")
    replication_user(primary)
    line = Tampering(primary.port)
    try:
        primary.query("create database d", "create table d.t (a int primary key, b longtext)")
        change_master(replica, primary, master_use_gtid="slave_pos", port=line.port)
        replica.query("start slave")
        wait_for_replica(replica, primary)
        assert re.search(r"replica\.example(:\d+)? replica server id 2 to send 0 B, 0 s sent up to 0-1-\d+", seen(primary.http, tmp_path))
        line.holds_after = line.passed_bytes
        for number in range(1, 21):
            primary.query(f"insert into d.t values ({number}, repeat('x', 1000000))")
        line.holding.wait(60)
        # The newest event that was sent is older than that.
        wait_for("the lag", lambda: re.search(r"to send [\d.]+ MiB, (?:[2-9]|\d\d+) s sent up to 0-1-\d+", seen(primary.http, tmp_path)), 60)
    finally:
        line.close()


def test_latency_backups_and_archives_are_shown(serve, tmp_path):
    server = serve()
    text = seen(server.http, tmp_path)
    assert "No archive is connected." in text and "No backup has been made." in text
    replication_user(server)
    server.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)")
    command = [BINARY, "backup", "--from", str(server.socket), "--user", "root", "--to", str(tmp_path / "backup")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    subprocess.run([*command, "--incremental"], check=True, capture_output=True, timeout=120)
    archive = Archive(tmp_path / "archive", server, account=("repl", "secret"))
    try:
        archive.start()
        archive.wait_for(server)
        ended = threading.Event()

        def statements():
            while not ended.is_set():
                server.query("select 1")

        load = threading.Thread(target=statements)
        load.start()
        try:
            text = seen(server.http, tmp_path)
        finally:
            ended.set()
            load.join()
    finally:
        archive.close()
    assert re.search(r"archive to send 0 B, 0 s sent up to 0-1-\d+", text)
    assert re.search(r"increment root@localhost .* complete .* whole root@localhost .* 0-1-\d+ complete", text)
    # Two answers have come with statements in between, so the plot has a point.
    assert re.search(r"statement latency: p50 \d", text)


def test_slow_statements_are_shown_with_their_plans_and_without_literals(serve, tmp_path):
    server = serve("--long-query-time=0.1")
    server.query("create database d", "create table d.t (a int primary key, b varchar(20))", "insert into d.t values (1, 'hidden')")
    assert "No statement has taken longer than long_query_time (100 ms)." in seen(server.http, tmp_path)
    server.query("select sleep(0.11), b from t where b = 'hidden' order by a + 0", "do sleep(0.12)", database="d")
    with pytest.raises(pymysql.MySQLError):
        server.query("select sleep(0.13) from t where a = 'x' * 2 and nosuch", database="d")
    text = seen(server.http, tmp_path)
    assert "SELECT `sleep` (?) , `b` FROM `t` WHERE `b` = ? ORDER BY `a` + ?" in text
    assert "in d · 1 rows read, 1 sent, 0 changed" in text
    assert "Using where; Using filesort" in text and "It has no plan." in text
    assert "hidden" not in text


def test_a_long_statement_is_folded_and_can_be_opened(serve, browse):
    server = serve()
    columns = ", ".join(f"column_{number} int" for number in range(20))
    server.query("create database d", f"create table d.wide ({columns})")
    page = browse(server.http)
    page.wait_for_text("CREATE TABLE `d` . `wide`")
    assert "column_19" not in page.text()
    page.click_until("td summary", "column_19")
    page.wait_for_text("`column_19` INTEGER")


def test_everything_works_with_the_keyboard_and_has_a_name(serve, browse):
    server = serve("--long-query-time=0.1")
    server.query("create database d", "create table d.t (a int primary key)", "insert into d.t values (1)", "do sleep(0.11)")
    server.query("select sleep(0.12) from d.t")
    server.query("create user killer identified by 'a-password'", "grant connection admin on *.* to killer")
    with server.connect() as holder, server.connect() as waiter:
        holder.begin()
        holder.cursor().execute("update d.t set a = 2")
        errors = []

        def update():
            try:
                waiter.cursor().execute("update d.t set a = 3")
            except pymysql.MySQLError as error:
                errors.append(error)

        thread = threading.Thread(target=update)
        thread.start()
        page = browse(server.http)
        killed = waiter.thread_id()
        button = f"kill connection {killed}"
        page.wait_for_text(f"{killed} root")
        named = page.names("button", "textbox", "image", "img", "region", "group", "list", "link")
        assert [name for name in named if name == ("button", button)]
        # A list within another may go without.
        assert not [role for role, name in named if not name and role not in ("list", "group")], named
        focused = "document.activeElement.getAttribute('aria-label')"
        for part in ("statements by digest", "open transactions"):
            page.press_until("Tab", f"{focused} === '{part}'")
            page.value("document.activeElement.blur()")
        page.press_until("Tab", "document.activeElement.textContent === 'errors'")
        page.press("Enter")
        page.press_until("Tab", "document.activeElement.textContent === 'plan'")
        assert page.value("document.querySelector('button[aria-pressed=true]').textContent") == "errors"
        page.press("Enter")
        page.wait_for_text("select_type")
        page.press_until("Tab", f"{focused} === '{button}'")
        page.press("Enter")
        page.wait_for_text(f"Kill connection {killed}?")
        page.press("Escape")
        wait_for("the end of the question", lambda: page.value("document.querySelector('dialog')") is None)
        assert thread.is_alive()
        page.press_until("Tab", f"{focused} === '{button}'")
        page.press("Enter")
        page.wait_for_text(f"Kill connection {killed}?")
        page.press_until("Tab", "document.activeElement.name === 'user'")
        page.type("killer")
        page.press("Tab")
        page.type("a-password")
        page.press("Enter")
        page.wait_for_text(f"KILL CONNECTION {killed}: done")
        thread.join()
        assert len(errors) == 1
        page.press("Enter")
        page.wait_for_text("Nobody waits for a lock.")


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves the page's files, and answers none of its questions until the end."""

    ended = threading.Event()

    def do_GET(self):
        if self.path.startswith("/api/"):
            self.ended.wait(60)
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


def test_while_no_answer_has_come_it_says_that_it_loads(serve, browse, tmp_path):
    server = serve()
    for name in ("", "page.js", "page.css"):
        with urllib.request.urlopen(f"{server.http}/{name}", timeout=20) as answer:
            (tmp_path / (name or "index.html")).write_bytes(answer.read())
    files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *request: Silent(*request, directory=str(tmp_path)))
    thread = threading.Thread(target=files.serve_forever)
    thread.start()
    try:
        page = browse(f"http://127.0.0.1:{files.server_port}/")
        page.wait_for_text("Loading …")
        parts = page.value("[...document.querySelectorAll('section')].map(one => one.innerText)")
        assert len(parts) == 5 and all("Loading …" in part for part in parts), parts
        assert page.value("document.querySelectorAll('[role=alert]').length") == 0
    finally:
        Silent.ended.set()
        files.shutdown()
        thread.join()
        files.server_close()


def test_the_token_is_asked_for(serve, tmp_path):
    token = tmp_path / "token"
    token.write_text("a-token-of-enough-length")
    token.chmod(0o600)
    text = seen(serve(f"--http-token-file={token}").http, tmp_path)
    assert "Token of this server" in text and "commits" not in text


def test_without_statistics_of_statements_the_page_says_so(serve, tmp_path):
    assert "Is performance_schema OFF?" in seen(serve("--performance-schema=OFF").http, tmp_path)


def test_a_server_that_ends_is_an_error_and_not_a_blank_page(serve, tmp_path):
    server = serve()
    page = tmp_path / "page"
    page.mkdir()
    # The page of a server that is gone: its files, and nobody who answers their requests.
    for name in ("index.html", "page.js", "page.css"):
        with urllib.request.urlopen(f"{server.http}/{'' if name == 'index.html' else name}", timeout=20) as answer:
            (page / name).write_bytes(answer.read())
    server.stop()
    files = subprocess.Popen(["python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(page),
                              str(server.http_port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def answers():
            try:
                urllib.request.urlopen(server.http, timeout=20).close()
                return True
            except OSError:
                return False

        wait_for("the files", answers)
        assert "File not found" in seen(server.http, tmp_path)
    finally:
        files.terminate()
        files.wait()


def first_pixel(picture):
    """Returns red, green and blue of the pixel in the upper left corner of a PNG with eight bits per colour."""
    data, at, compressed = picture.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IDAT":
            compressed += data[at + 8:at + 8 + length]
        at += length + 12
    # Every filter of a line leaves its first pixel as it is if there is no line above.
    return tuple(zlib.decompress(compressed)[1:4])


@pytest.mark.parametrize("scheme, size", [("light", "1280,900"), ("dark", "420,900")])
def test_the_page_is_drawn_in_both_schemes_and_sizes(serve, tmp_path, scheme, size):
    picture = tmp_path / f"{scheme}.png"
    options = ["--force-dark-mode"] if scheme == "dark" else []
    browser(tmp_path, f"--screenshot={picture}", f"--window-size={size}", "--virtual-time-budget=5000", *options, serve().http)
    # A page without content is compressed to a few KiB.
    assert picture.stat().st_size > 20_000
    brightness = sum(first_pixel(picture)) / 3
    assert brightness < 64 if scheme == "dark" else brightness > 192, brightness


def test_nothing_is_loaded_from_elsewhere(serve):
    server = serve()
    with urllib.request.urlopen(server.http, timeout=20) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "http" not in policy


def test_the_files_are_what_their_sources_give(tmp_path):
    for name in ("page", "crates/server/src/http/page"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("node_modules"))
    for command in (["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], ["node", "build.js", "--check"]):
        done = subprocess.run(command, cwd=tmp_path / "page", capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
