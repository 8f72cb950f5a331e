package exam;

import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Debezium reads a snapshot and then the log; it is stopped and resumes; it reads a table again while the log goes on. */
public final class DebeziumExam {
    private static final Path DIRECTORY = Path.of(System.getenv("EXAM_DIRECTORY"));
    private static final String PORT = System.getenv("EXAM_PORT");
    private static final long PATIENCE_SECONDS = 60;
    private static final String EVERY = "create table every (id int auto_increment primary key, ti tinyint, tu tinyint unsigned, bo tinyint(1), si smallint, mi mediumint unsigned, i int, iu int unsigned, "
        + "bi bigint, bu bigint unsigned, d decimal(20,6), f float, db double, bits bit(10), b1 bit(1), y year, da date, dt datetime(6), ts timestamp(3) null, t time(2), c char(5), "
        + "vc varchar(100) charset utf8mb4, vl varchar(50) charset latin1, vb varbinary(20), bb binary(4), tx text, bl blob, e enum('a','b') default 'b', s set('x','y','z'), j json, "
        + "g int as (i + 1) stored, n int not null default 5)";
    private static final String ROW = "insert into every (ti, tu, bo, si, mi, i, iu, bi, bu, d, f, db, bits, b1, y, da, dt, ts, t, c, vc, vl, vb, bb, tx, bl, e, s, j) values (-128,255,1,-32768,16777215,-2147483648,"
        + "4294967295,-9223372036854775808,18446744073709551615,-1234567890.123456,1.5,-2.25e300,b'1100110011',b'1',2026,'2024-02-29','2026-11-20 01:02:03.456789','2026-01-02 03:04:05.678',"
        + "'-10:11:12.5','ab','größe 😀','größe',x'00ff10',x'01',repeat('t',300),x'deadbeef','b','x,z','{\"a\": [1, 2]}')";

    private final LinkedBlockingQueue<ChangeEvent<String, String>> events = new LinkedBlockingQueue<>();
    private final StringBuilder seen = new StringBuilder();
    private DebeziumEngine<ChangeEvent<String, String>> engine;
    private ExecutorService thread;
    private volatile String ended;

    private DebeziumExam() {}

    public static void main(String[] arguments) throws Exception {
        for (boolean gtid : new boolean[] {true, false}) {
            String name = gtid ? "gtid" : "positions";
            execute("", "drop database if exists capture", "create database capture character set utf8mb4");
            DebeziumExam exam = new DebeziumExam();
            exam.test(name, gtid);
        }
        System.exit(0);
    }

    private static void execute(String database, String... statements) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:mariadb://127.0.0.1:" + PORT + "/" + database + "?user=root"); Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    private void test(String name, boolean gtid) throws Exception {
        String[] parts = {"snapshot", "changes", "definitions", "resumed", "incremental snapshot"};
        execute("capture", EVERY, ROW, "insert into every () values ()", "create table key_less (a int, b varchar(20))", "insert into key_less values (1, 'one')",
            "create table signals (id varchar(64) primary key, type varchar(32), data text)", "create view seen as select id from every",
            "create table renamed (id int primary key, v varchar(10)) comment 'to be renamed'");
        for (String part : parts) {
            String outcome = "passed";
            seen.setLength(0);
            try {
                switch (part) {
                    case "snapshot" -> {
                        start(name, gtid);
                        collect("last row");
                    }
                    case "changes" -> {
                        execute("capture", ROW, "update every set vc = 'changed', j = '[1]', n = 6 where id = 1", "update every set id = 100 where id = 2", "delete from every where id = 3",
                            "insert into key_less values (2, null), (3, 'three')", "update key_less set b = 'x'", "delete from key_less where a = 1",
                            "set autocommit = 0", "insert into renamed values (1, 'a'), (2, 'b')", "update renamed set v = 'c'", "savepoint s", "insert into renamed values (3, 'undone')", "rollback to s",
                            "insert into renamed values (4, 'kept')", "commit", "set autocommit = 1", "replace into renamed values (4, 'replaced')", "insert into renamed values (4, 'x') on duplicate key update v = 'y'",
                            "insert into renamed select seq + 100, 'many' from seq_1_to_50", "truncate renamed", "insert into renamed values (9, 'end one')");
                        collect("end one");
                    }
                    case "definitions" -> {
                        execute("capture", "alter table renamed add column d datetime(3) default '2026-01-01', add w decimal(5,2) unsigned after id", "insert into renamed (id, w, v) values (10, 1.5, 'added')",
                            "alter table renamed drop column d, change v word varchar(30) character set latin1", "insert into renamed values (11, 2, 'wörd')", "create index by_word on renamed (word)",
                            "rename table renamed to other", "insert into other values (12, 3, 'renamed')", "create table made like other", "insert into made values (1, 1, 'made')",
                            "create table selected as select id, word from other order by id", "drop table made", "drop view seen",
                            "create trigger added after insert on other for each row insert into key_less values (new.id, 'trigger')", "insert into other values (13, 4, 'heard')", "insert into key_less values (14, 'end two')");
                        collect("end two");
                    }
                    case "resumed" -> {
                        stop();
                        execute("capture", "insert into other values (20, 5, 'while')", "flush binary logs", "insert into other values (21, 6, 'stopped')", "insert into key_less values (50, 'end three')");
                        start(name, gtid);
                        collect("end three");
                    }
                    default -> {
                        execute("capture", "insert into signals values ('s1', 'execute-snapshot', '{\"data-collections\": [\"capture.every\"], \"type\": \"incremental\"}')");
                        collect("snapshot-window-close");
                        execute("capture", "insert into key_less values (60, 'end four')");
                        collect("end four");
                    }
                }
            } catch (Throwable error) {
                outcome = "failed";
                seen.append(error).append('\n').append(ended).append('\n').append(Arrays.toString(error.getStackTrace()));
            }
            Outcomes.add(name + " " + part, outcome, seen);
        }
        stop();
    }

    private void start(String name, boolean gtid) {
        Properties properties = new Properties();
        properties.setProperty("name", name);
        properties.setProperty("connector.class", "io.debezium.connector.mysql.MySqlConnector");
        properties.setProperty("connector.adapter", gtid ? "mariadb" : "mysql");
        properties.setProperty("database.ssl.mode", "disabled");
        properties.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
        properties.setProperty("offset.storage.file.filename", DIRECTORY.resolve(name + ".offsets").toString());
        properties.setProperty("offset.flush.interval.ms", "0");
        properties.setProperty("schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory");
        properties.setProperty("schema.history.internal.file.filename", DIRECTORY.resolve(name + ".history").toString());
        properties.setProperty("database.hostname", "127.0.0.1");
        properties.setProperty("database.port", PORT);
        properties.setProperty("database.user", "root");
        properties.setProperty("database.password", "");
        properties.setProperty("database.server.id", gtid ? "5501" : "5502");
        properties.setProperty("database.include.list", "capture");
        properties.setProperty("signal.data.collection", "capture.signals");
        properties.setProperty("topic.prefix", "exam");
        properties.setProperty("include.schema.changes", "true");
        properties.setProperty("include.query", "false");
        properties.setProperty("provide.transaction.metadata", "true");
        properties.setProperty("converter.schemas.enable", "false");
        properties.setProperty("bigint.unsigned.handling.mode", "precise");
        properties.setProperty("connect.keep.alive.interval.ms", "1000");
        properties.setProperty("poll.interval.ms", "20");
        ended = null;
        engine = DebeziumEngine.create(Json.class).using(properties).notifying(events::add).using((success, message, error) -> ended = message + " " + error).build();
        thread = Executors.newSingleThreadExecutor();
        thread.execute(engine);
    }

    private void stop() throws Exception {
        if (engine != null) {
            engine.close();
            thread.shutdown();
            thread.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
            engine = null;
        }
    }

    /** Adds the events up to one that has this text. The end of a snapshot is known by its marker. */
    private void collect(String last) throws Exception {
        List<String> batch = new ArrayList<>();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            ChangeEvent<String, String> event = events.poll(100, TimeUnit.MILLISECONDS);
            if (event == null) {
                if (ended != null || System.nanoTime() > deadline) {
                    batch.forEach(each -> seen.append(each).append('\n'));
                    throw new IllegalStateException("no more events");
                }
                continue;
            }
            String value = String.valueOf(event.value());
            batch.add(event.destination() + " " + anonymous(event.key() + " " + value));
            boolean isLast = last.equals("last row") ? value.contains("\"snapshot\":\"last\"") : value.contains("\"" + last + "\"") && value.contains("\"op\":\"c\"");
            if (isLast) {
                break;
            }
        }
        batch.stream().filter(each -> !each.startsWith("exam.transaction")).forEach(each -> seen.append(each).append('\n'));
    }

    private static String anonymous(String value) {
        return value.replaceAll("\"(ts_ms|ts_us|ts_ns|pos|server_id|thread|id)\":(\"[^\"]*:[^\"]*\"|-?\\d{5,}|\\d+(?=,\"row\"|,\"gtid\"|,\"file\"))", "\"$1\":_").replaceAll("\"(gtid|file)\":(\"[^\"]*\"|null)", "\"$1\":_")
            .replaceAll("\"(pos|server_id|thread|ts_ms|ts_us|ts_ns)\":(\\d+|null)", "\"$1\":_").replaceAll("\"transaction\":\\{\"id\":\"[^\"]*\"", "\"transaction\":{\"id\":_").replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "uuid")
            .replaceAll("WindowTimestamp\\\\\": \\\\\"[^\\\\]*", "WindowTimestamp: _").replace("root`@`127.0.0.1", "root`@`localhost")
            // The definition that CREATE TABLE … SELECT logs has more clauses here.
            .replaceAll("\"ddl\":\"CREATE TABLE [^\"]*`selected`[^\"]*\"", "\"ddl\":_");
    }
}
