package exam;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.BatchUpdateException;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/** A driver's statements, types, transactions and errors, with prepared statements of the client and of the server. */
final class ConnectorExam {
    private static final String TABLE = "create table every (id int auto_increment primary key, ti tinyint, tu tinyint unsigned, bo tinyint(1), si smallint, "
        + "mi mediumint unsigned, i int, iu int unsigned, bi bigint, bu bigint unsigned, d decimal(20,6), f float, db double, bits bit(10), b1 bit(1), y year, "
        + "da date, dt datetime(6), ts timestamp(3) null, t time(2), c char(5), vc varchar(100), vb varbinary(20), bb binary(4), tx text, lt longtext, bl blob, "
        + "e enum('a','b'), s set('x','y','z'), j json, u uuid, ip inet6, lob longblob)";
    private static final String ROW = "insert into every values (null,-128,255,1,-32768,16777215,-2147483648,4294967295,-9223372036854775808,18446744073709551615,"
        + "-1234567890.123456,1.5,-2.25e300,b'1100110011',b'1',2026,'2024-02-29','2026-11-20 01:02:03.456789','2026-01-02 03:04:05.678','10:11:12.5','ab','größe 😀',"
        + "x'00ff10',x'01',repeat('t',300),'long',x'deadbeef','b','x,z','{\"a\": [1, 2]}','123e4567-e89b-12d3-a456-426655440000','2001:db8::1',repeat('z',70000)),"
        + "(null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null)";

    private final String driver;
    private final String serverPrepared;

    ConnectorExam(String driver) {
        this.driver = driver;
        this.serverPrepared = "useServerPrepStmts=true&allowPublicKeyRetrieval=true";
    }

    void run() throws Exception {
        Exam.prepare("create database if not exists exam");
        for (String options : new String[] {"", serverPrepared, serverPrepared + "&cachePrepStmts=true&rewriteBatchedStatements=true", "useCompression=true&allowMultiQueries=true"}) {
            String where = options.isEmpty() ? "text" : options;
            Exam.test("types " + where, exam -> in(options, exam, this::types));
            Exam.test("parameters " + where, exam -> in(options, exam, this::parameters));
            Exam.test("generated keys " + where, exam -> in(options, exam, this::generatedKeys));
            Exam.test("batches " + where, exam -> in(options, exam, this::batches));
            Exam.test("transactions " + where, exam -> in(options, exam, this::transactions));
            Exam.test("errors " + where, exam -> in(options, exam, this::errors));
            Exam.test("routines " + where, exam -> in(options, exam, this::routines));
            Exam.test("cursors " + where, exam -> in(options + "&useCursorFetch=true", exam, this::cursors));
            Exam.test("updatable rows " + where, exam -> in(options, exam, this::updatableRows));
            Exam.test("session " + where, exam -> in(options, exam, this::session));
        }
        Exam.test("several statements", exam -> in("allowMultiQueries=true", exam, this::severalStatements));
        Exam.test("local infile", exam -> in("allowLocalInfile=true&allowLoadLocalInfile=true", exam, this::localInfile));
        Exam.test("timeouts and cancel", exam -> in("", exam, this::timeouts));
        Exam.test("locks", exam -> in("", exam, this::locks));
        Exam.test("zones", this::zones);
    }

    private interface Body {
        void run(Exam exam, Connection connection) throws Throwable;
    }

    private void in(String options, Exam exam, Body body) throws Throwable {
        Exam.prepare("drop database exam", "create database exam character set utf8mb4");
        try (Connection connection = Exam.connect(driver, "exam", options)) {
            body.run(exam, connection);
        }
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    private void types(Exam exam, Connection connection) throws Throwable {
        execute(connection, TABLE, ROW);
        try (PreparedStatement select = connection.prepareStatement("select * from every where id > ? order by id")) {
            select.setInt(1, 0);
            ResultSet rows = select.executeQuery();
            ResultSetMetaData columns = rows.getMetaData();
            for (int index = 1; index <= columns.getColumnCount(); index++) {
                exam.see(columns.getColumnName(index), columns.getColumnTypeName(index), columns.getColumnType(index), columns.getColumnClassName(index), columns.getPrecision(index),
                    columns.getScale(index), columns.isSigned(index), columns.isNullable(index), columns.isAutoIncrement(index), columns.getColumnDisplaySize(index),
                    columns.isCaseSensitive(index), columns.getTableName(index), columns.getCatalogName(index));
            }
            exam.see(rows);
            rows = select.executeQuery();
            rows.next();
            exam.see(rows.getString("ts"), rows.getString("dt"), rows.getString("t"), rows.getString("f"), rows.getString("db"), rows.getString("d"), rows.getString("y"), rows.getString("bo"));
            exam.see(rows.getObject("da", LocalDate.class), rows.getObject("dt", LocalDateTime.class), rows.getBigDecimal("bu"), rows.getBytes("u"), rows.getString("u"), rows.getString("ip"));
        }
        try (Statement statement = connection.createStatement()) {
            exam.see(statement.executeQuery("select count(*), sum(i), avg(i), max(d), sum(d), 1+1, 1.5*2, 'x', null, now() > '2020-01-01', cast(1 as unsigned), concat(vc, 1), date(dt), "
                + "if(1, 1, 'a'), group_concat(ti), json_extract(j, '$.a'), unhex('00'), cast('10' as char), 1e0, true from every"));
        }
    }

    private void parameters(Exam exam, Connection connection) throws Throwable {
        execute(connection, TABLE);
        try (PreparedStatement insert = connection.prepareStatement("insert into every (ti, bi, bu, d, f, db, da, dt, t, vc, vb, bl, j, bo, bits) values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")) {
            insert.setByte(1, (byte) -5);
            insert.setLong(2, Long.MIN_VALUE);
            insert.setBigDecimal(3, new BigDecimal("18446744073709551615"));
            insert.setBigDecimal(4, new BigDecimal("-99.000001"));
            insert.setFloat(5, 0.1f);
            insert.setDouble(6, 1e-300);
            insert.setObject(7, LocalDate.of(2026, 1, 2));
            insert.setObject(8, LocalDateTime.of(2026, 1, 2, 3, 4, 5, 678_901_000));
            insert.setObject(9, LocalTime.of(23, 59, 58));
            insert.setString(10, "it's \\ \" \0 \n 😀");
            insert.setBytes(11, new byte[] {0, -1, 39, 92});
            insert.setBinaryStream(12, new ByteArrayInputStream(new byte[50_000]), 50_000);
            insert.setCharacterStream(13, new java.io.StringReader("[1]"));
            insert.setBoolean(14, true);
            insert.setInt(15, 513);
            exam.see(insert.executeUpdate());
            for (int index = 1; index <= 15; index++) {
                insert.setNull(index, Types.VARCHAR);
            }
            exam.see(insert.executeUpdate());
        }
        try (PreparedStatement select = connection.prepareStatement("select ti, bi, bu, d, f, db, da, dt, t, vc, vb, length(bl), j, bo, bits, ? + 1, ?, ? from every where vc <=> ? or bi = ?")) {
            select.setInt(1, 41);
            select.setString(2, "text");
            select.setObject(3, LocalDateTime.of(2026, 1, 2, 3, 4, 5));
            select.setString(4, null);
            select.setLong(5, Long.MIN_VALUE);
            exam.see(select.executeQuery());
            exam.see(select.getParameterMetaData().getParameterCount());
        }
    }

    private void generatedKeys(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table g (id bigint unsigned auto_increment primary key, v varchar(10) unique)");
        try (PreparedStatement insert = connection.prepareStatement("insert into g (v) values (?),(?)", Statement.RETURN_GENERATED_KEYS)) {
            insert.setString(1, "a");
            insert.setString(2, "b");
            exam.see(insert.executeUpdate());
            exam.see(insert.getGeneratedKeys());
        }
        try (Statement statement = connection.createStatement()) {
            exam.see(statement.executeUpdate("insert into g (v) values ('a') on duplicate key update v = 'c'", Statement.RETURN_GENERATED_KEYS));
            exam.see(statement.getGeneratedKeys());
            exam.see(statement.executeUpdate("replace into g (v) values ('c')", Statement.RETURN_GENERATED_KEYS));
            exam.see(statement.getGeneratedKeys());
            exam.see(statement.executeUpdate("insert ignore into g (v) values ('c'), ('d')", Statement.RETURN_GENERATED_KEYS));
            exam.see(statement.getGeneratedKeys());
            exam.see(statement.executeUpdate("update g set v = v"), statement.getUpdateCount(), statement.executeUpdate("update g set v = concat(v, 'x') where id > 2"));
            exam.see(statement.execute("insert into g (v) values ('r1'), ('r2') returning id, v"));
            exam.see(statement.getResultSet());
            exam.see(statement.executeQuery("select * from g order by id"));
            exam.see(statement.executeLargeUpdate("delete from g"));
        }
    }

    private void batches(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table b (id int primary key auto_increment, v varchar(20), n int)");
        try (PreparedStatement insert = connection.prepareStatement("insert into b (v, n) values (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int number = 0; number < 50; number++) {
                insert.setString(1, "v" + number);
                if (number % 3 == 0) {
                    insert.setNull(2, Types.INTEGER);
                } else {
                    insert.setInt(2, number);
                }
                insert.addBatch();
            }
            exam.see(insert.executeBatch().length);
        }
        try (PreparedStatement update = connection.prepareStatement("update b set n = ? where id = ?")) {
            for (int number = 1; number < 9; number++) {
                update.setInt(1, -number);
                update.setInt(2, number);
                update.addBatch();
            }
            exam.see(Arrays.toString(update.executeBatch()));
        }
        try (Statement statement = connection.createStatement()) {
            exam.see(statement.executeQuery("select count(*), sum(n), min(id), max(id) from b"));
            statement.addBatch("insert into b values (1000, 'x', 1)");
            statement.addBatch("insert into b values (1000, 'y', 1)");
            statement.addBatch("insert into b values (1001, 'z', 1)");
            try {
                exam.see(Arrays.toString(statement.executeBatch()));
            } catch (BatchUpdateException error) {
                exam.see(Arrays.toString(error.getUpdateCounts()), error.getErrorCode(), error.getSQLState());
            }
            exam.see(statement.executeQuery("select * from b where id >= 1000"));
        }
    }

    private void transactions(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table x (id int primary key)");
        connection.setAutoCommit(false);
        execute(connection, "insert into x values (1)");
        Savepoint first = connection.setSavepoint("first");
        execute(connection, "insert into x values (2)");
        connection.rollback(first);
        Savepoint second = connection.setSavepoint();
        execute(connection, "insert into x values (3)");
        connection.releaseSavepoint(second);
        connection.commit();
        execute(connection, "insert into x values (4)");
        connection.rollback();
        for (int level : new int[] {Connection.TRANSACTION_READ_UNCOMMITTED, Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) {
            connection.setTransactionIsolation(level);
            exam.see(connection.getTransactionIsolation());
        }
        connection.setReadOnly(true);
        exam.refused(each -> execute(connection, "insert into x values (5)"));
        connection.setReadOnly(false);
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            exam.see(statement.executeQuery("select * from x order by id"));
            exam.see(statement.executeQuery("select @@autocommit, @@tx_isolation, @@tx_read_only"));
        }
    }

    private void errors(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table p (id int primary key, v varchar(3) not null, check (id < 100))", "create table c (id int primary key, p int, constraint fk foreign key (p) references p (id))",
            "insert into p values (1, 'a')", "insert into c values (1, 1)");
        for (String each : new String[] {"insert into p values (1, 'b')", "insert into p values (2, null)", "insert into p values (2, 'toolong')", "insert into p values (200, 'a')",
            "insert into c values (2, 2)", "delete from p", "select * from nowhere", "select nope from p", "selec 1", "insert into p (id) values (3)", "select 1 from p where (1,2) = 1",
            "drop table nowhere", "insert into p values ('x', 'y')", "select cast(1e400 as double)", "update p set v = repeat('x', 5)", "signal sqlstate '45000' set message_text = 'own', mysql_errno = 31000",
            "call nothing()", "create table p (id int)", "alter table p drop column nope", "truncate p", "lock tables nowhere read", "kill 99999999", "use nowhere", "set session nope = 1"}) {
            exam.refused(ignored -> execute(connection, each));
            exam.refused(ignored -> {
                try (PreparedStatement prepared = connection.prepareStatement(each)) {
                    prepared.execute();
                }
            });
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("set sql_mode = ''");
            statement.execute("insert into p values (50, 'toolong')");
            for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
                exam.see(warning.getErrorCode(), warning.getSQLState(), warning.getMessage());
            }
            statement.executeQuery("select 1/0, cast('x' as signed)").close();
            for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
                exam.see(warning.getErrorCode(), warning.getSQLState(), warning.getMessage());
            }
        }
    }

    private void routines(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create procedure two(in a int, inout b varchar(50), out c decimal(10,2)) begin set c = a * 1.5; set b = concat(b, '!'); select a, b; select c; end",
            "create function twice(a int) returns int deterministic return a * 2", "create procedure none() select 1 from dual where 0",
            "create procedure fails() begin select 1; signal sqlstate '45000' set message_text = 'late'; end");
        try (CallableStatement call = connection.prepareCall("{call two(?, ?, ?)}")) {
            call.setInt(1, 3);
            call.setString(2, "hey");
            call.registerOutParameter(2, Types.VARCHAR);
            call.registerOutParameter(3, Types.DECIMAL);
            boolean rows = call.execute();
            while (rows || call.getUpdateCount() != -1) {
                if (rows) {
                    exam.see(call.getResultSet());
                } else {
                    exam.see("count", call.getUpdateCount());
                }
                rows = call.getMoreResults();
            }
            exam.see(call.getString(2), call.getBigDecimal(3));
            exam.see(call.getParameterMetaData().getParameterCount(), call.getParameterMetaData().getParameterTypeName(3), call.getParameterMetaData().getParameterMode(2));
        }
        try (CallableStatement call = connection.prepareCall("{? = call twice(?)}")) {
            call.registerOutParameter(1, Types.INTEGER);
            call.setInt(2, 21);
            call.execute();
            exam.see(call.getInt(1));
        }
        try (CallableStatement call = connection.prepareCall("{call none()}")) {
            exam.see(call.execute(), call.getUpdateCount());
        }
        exam.refused(each -> {
            try (CallableStatement call = connection.prepareCall("call fails()")) {
                exam.see(call.execute());
                exam.see(call.getResultSet());
                exam.see(call.getMoreResults());
            }
        });
    }

    private void cursors(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table big (id int primary key, v varchar(50))", "insert into big select seq, repeat('v', seq % 50) from seq_1_to_5000");
        for (int type : new int[] {ResultSet.TYPE_FORWARD_ONLY, ResultSet.TYPE_SCROLL_INSENSITIVE}) {
            try (PreparedStatement select = connection.prepareStatement("select * from big where id > ? order by id", type, ResultSet.CONCUR_READ_ONLY)) {
                select.setFetchSize(100);
                select.setInt(1, 10);
                try (ResultSet rows = select.executeQuery()) {
                    int count = 0;
                    long sum = 0;
                    while (rows.next()) {
                        count++;
                        sum += rows.getInt(1) * 31L + rows.getString(2).length();
                    }
                    exam.see(count, sum);
                    if (type == ResultSet.TYPE_SCROLL_INSENSITIVE) {
                        exam.see(rows.last(), rows.getRow(), rows.absolute(7), rows.getInt(1), rows.previous(), rows.getInt(1), rows.relative(-2), rows.getInt(1));
                    }
                }
                select.setMaxRows(5);
                exam.see(select.executeQuery());
            }
        }
        try (Statement statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            statement.setFetchSize(driver.equals("mysql") ? Integer.MIN_VALUE : 1);
            try (ResultSet rows = statement.executeQuery("select a.id from big a join big b on a.id = b.id order by 1")) {
                rows.next();
                exam.see(rows.getInt(1));
            }
            exam.see(statement.executeQuery("select count(*) from big"));
        }
    }

    private void updatableRows(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table u (id int primary key auto_increment, v varchar(50), d datetime default '2026-01-01')", "insert into u (v) values ('a'), ('b'), ('c')");
        try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet rows = statement.executeQuery("select id, v, d from u order by id");
            rows.next();
            rows.updateString("v", "changed");
            rows.updateRow();
            rows.next();
            rows.deleteRow();
            rows.moveToInsertRow();
            rows.updateString("v", "new");
            rows.insertRow();
            rows.close();
            exam.see(statement.executeQuery("select * from u order by id"));
        }
    }

    private void session(Exam exam, Connection connection) throws Throwable {
        exam.see(connection.isValid(5), connection.getCatalog(), connection.getAutoCommit(), connection.getMetaData().getDatabaseMajorVersion() >= 5);
        execute(connection, "create database if not exists exam_other");
        connection.setCatalog("exam_other");
        exam.see(connection.getCatalog());
        try (Statement statement = connection.createStatement()) {
            exam.see(statement.executeQuery("select database(), @@character_set_client, @@collation_connection, @@sql_mode, @@time_zone, @@autocommit, @@sql_auto_is_null"));
        }
        execute(connection, "drop database exam_other");
        exam.see(connection.nativeSQL("select {fn now()}").length() > 5);
        try (Statement statement = connection.createStatement()) {
            exam.see(statement.executeQuery("select {fn concat('a', 'b')}, {d '2026-01-02'}, {ts '2026-01-02 03:04:05'}, {fn timestampdiff(SQL_TSI_DAY, {d '2026-01-01'}, {d '2026-02-01'})}"));
        }
    }

    private void severalStatements(Exam exam, Connection connection) throws Throwable {
        try (Statement statement = connection.createStatement()) {
            boolean rows = statement.execute("create table m (a int); insert into m values (1), (2); select * from m; update m set a = a + 1; select sum(a) from m");
            while (rows || statement.getUpdateCount() != -1) {
                if (rows) {
                    exam.see(statement.getResultSet());
                } else {
                    exam.see(statement.getUpdateCount());
                }
                rows = statement.getMoreResults();
            }
        }
    }

    private void localInfile(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table l (a int, b varchar(20))");
        try (Statement statement = connection.createStatement()) {
            InputStream rows = new ByteArrayInputStream("1\tone\n2\t\\N\n3\tgröße\nx\tbad\n".getBytes(StandardCharsets.UTF_8));
            if (driver.equals("mysql")) {
                ((com.mysql.cj.jdbc.JdbcStatement) statement).setLocalInfileInputStream(rows);
            } else {
                ((org.mariadb.jdbc.Statement) statement).setLocalInfileInputStream(rows);
            }
            exam.see(statement.executeUpdate("load data local infile 'any' into table l character set utf8mb4"));
            exam.see(statement.executeQuery("select * from l"));
        }
    }

    private void timeouts(Exam exam, Connection connection) throws Throwable {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            exam.refused(each -> statement.executeQuery("select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq = 0"));
            statement.setQueryTimeout(0);
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
                try (Connection own = Exam.connect(driver, "exam", ""); Statement watch = own.createStatement()) {
                    boolean runs = false;
                    while (!runs) {
                        try (ResultSet rows = watch.executeQuery("select count(*) from information_schema.processlist where info like 'select sleep(30%'")) {
                            rows.next();
                            runs = rows.getInt(1) > 0;
                        }
                    }
                    statement.cancel();
                } catch (SQLException error) {
                    throw new IllegalStateException(error);
                }
            });
            // Which error it is depends on whether the answer to KILL or the end of the statement comes first.
            try {
                statement.executeQuery("select sleep(30)").close();
                exam.see("not cancelled");
            } catch (SQLException error) {
                exam.see("cancelled");
            }
            other.join();
            exam.see(statement.executeQuery("select 1"));
        }
    }

    private void locks(Exam exam, Connection connection) throws Throwable {
        execute(connection, "create table k (id int primary key, v int)", "insert into k values (1, 1), (2, 2)");
        connection.setAutoCommit(false);
        try (Connection other = Exam.connect(driver, "exam", "")) {
            other.setAutoCommit(false);
            execute(other, "set innodb_lock_wait_timeout = 1");
            execute(connection, "update k set v = 10 where id = 1");
            exam.refused(each -> execute(other, "update k set v = 20 where id = 1"));
            exam.refused(each -> execute(other, "select * from k where id = 1 for update nowait"));
            try (Statement statement = other.createStatement()) {
                exam.see(statement.executeQuery("select * from k order by id for update skip locked"));
            }
            other.rollback();
            connection.rollback();
            execute(connection, "update k set v = 10 where id = 1");
            execute(other, "set innodb_lock_wait_timeout = 50", "update k set v = 20 where id = 2");
            CompletableFuture<String> waiting = CompletableFuture.supplyAsync(() -> {
                try {
                    execute(other, "update k set v = 21 where id = 1");
                    return "done";
                } catch (SQLException error) {
                    return error.getErrorCode() + " " + error.getSQLState();
                }
            });
            String mine;
            try {
                execute(connection, "update k set v = 11 where id = 2");
                mine = "done";
            } catch (SQLException error) {
                mine = error.getErrorCode() + " " + error.getSQLState();
            }
            connection.rollback();
            String[] both = {mine, waiting.get()};
            Arrays.sort(both);
            exam.see((Object[]) both);
            other.rollback();
        }
    }

    private void zones(Exam exam) throws Throwable {
        String options = driver.equals("mysql") ? "connectionTimeZone=%2B02:00&forceConnectionTimeZoneToSession=true" : "connectionTimeZone=+02:00&forceConnectionTimeZoneToSession=true";
        in(options, exam, (ignored, connection) -> {
            execute(connection, "create table z (t timestamp(6) null, d datetime(6))");
            try (PreparedStatement insert = connection.prepareStatement("insert into z values (?, ?)")) {
                insert.setTimestamp(1, java.sql.Timestamp.from(java.time.Instant.parse("2026-07-01T10:00:00.123456Z")));
                insert.setTimestamp(2, java.sql.Timestamp.from(java.time.Instant.parse("2026-07-01T10:00:00.123456Z")));
                insert.executeUpdate();
            }
            try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("select t, d, @@time_zone, cast(t as char) from z")) {
                rows.next();
                exam.see(rows.getTimestamp(1).toInstant(), rows.getTimestamp(2).toInstant(), rows.getString(3), rows.getString(4));
            }
        });
    }
}
