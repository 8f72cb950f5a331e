package exam;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import liquibase.Liquibase;
import liquibase.database.Database;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.diff.DiffResult;
import liquibase.diff.compare.CompareControl;
import liquibase.diff.output.DiffOutputControl;
import liquibase.diff.output.changelog.DiffToChangeLog;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.snapshot.SnapshotControl;
import liquibase.snapshot.SnapshotGeneratorFactory;
import liquibase.structure.core.Schema;

/** A change log with every kind of change: applied, rolled back, generated again from the schema, dropped. */
final class LiquibaseExam {
    private LiquibaseExam() {}

    private interface Body {
        void run(Liquibase liquibase, Database database) throws Throwable;
    }

    private static void in(String driver, String schema, Body body) throws Throwable {
        try (Connection connection = Exam.connect(driver, schema, "allowPublicKeyRetrieval=true")) {
            Database database = DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
            try (Liquibase liquibase = new Liquibase("changes.xml", new ClassLoaderResourceAccessor(), database)) {
                body.run(liquibase, database);
            }
        }
    }

    private static void seeSchema(Exam exam) throws Throwable {
        try (Connection connection = Exam.connect("mariadb", "liqui", ""); Statement statement = connection.createStatement()) {
            List<String> tables = new ArrayList<>();
            try (java.sql.ResultSet rows = statement.executeQuery("select table_name from information_schema.tables where table_schema = 'liqui' order by 1")) {
                while (rows.next()) {
                    tables.add(rows.getString(1));
                }
            }
            for (String table : tables) {
                exam.see(statement.executeQuery("show create table `" + table + "`"));
                if (!table.startsWith("DATABASECHANGELOG") && !table.equals("numbers")) {
                    exam.see(statement.executeQuery("select * from `" + table + "`"));
                }
            }
            exam.see(statement.executeQuery("select id, author, filename, orderexecuted, exectype, md5sum, description, comments, tag from DATABASECHANGELOG order by orderexecuted"));
        }
    }

    static void run() throws Exception {
        java.util.logging.LogManager.getLogManager().reset();
        // Its summaries are of no interest.
        System.setOut(new PrintStream(new ByteArrayOutputStream()));
        for (String driver : new String[] {"mariadb", "mysql"}) {
            Exam.prepare("drop database if exists liqui", "create database liqui character set utf8mb4");
            Exam.test(driver + " update", exam -> {
                in(driver, "liqui", (liquibase, database) -> {
                    liquibase.update("");
                    liquibase.update("");
                    liquibase.validate();
                    exam.see(liquibase.listUnrunChangeSets(null, null).size());
                });
                seeSchema(exam);
            });
            Exam.test(driver + " generated change log", exam -> in(driver, "liqui", (liquibase, database) -> {
                DiffResult difference = liquibase.diff(database, null, new CompareControl());
                ByteArrayOutputStream written = new ByteArrayOutputStream();
                new DiffToChangeLog(difference, new DiffOutputControl(false, false, false, null)).print(new PrintStream(written, true, "UTF-8"));
                exam.see(written.toString("UTF-8").replaceAll("id=\"\\d+-", "id=\""));
            }));
            Exam.test(driver + " snapshot", exam -> in(driver, "liqui", (liquibase, database) -> {
                var snapshot = SnapshotGeneratorFactory.getInstance().createSnapshot(database.getDefaultSchema(), database, new SnapshotControl(database));
                for (var kind : List.of(liquibase.structure.core.Table.class, liquibase.structure.core.View.class, liquibase.structure.core.Index.class, liquibase.structure.core.ForeignKey.class,
                    liquibase.structure.core.UniqueConstraint.class, liquibase.structure.core.PrimaryKey.class, liquibase.structure.core.Column.class)) {
                    exam.see(snapshot.get(kind).stream().map(Object::toString).sorted().toList());
                }
            }));
            Exam.test(driver + " SQL of an update", exam -> in(driver, "liqui", (liquibase, database) -> {
                StringWriter written = new StringWriter();
                liquibase.futureRollbackSQL(new liquibase.Contexts(), new liquibase.LabelExpression(), written);
                exam.see(written.toString().replaceAll("(?m)^--.*$|SET LOCKEDBY.*|\\d\\.\\d\\.\\d|'\\d{10}'", ""));
            }));
            Exam.test(driver + " rollback", exam -> {
                in(driver, "liqui", (liquibase, database) -> liquibase.rollback("halfway", ""));
                seeSchema(exam);
                in(driver, "liqui", (liquibase, database) -> liquibase.update(""));
            });
            Exam.test(driver + " the lock", exam -> in(driver, "liqui", (liquibase, database) -> {
                exam.see(liquibase.listLocks().length);
                liquibase.forceReleaseLocks();
                liquibase.clearCheckSums();
            }));
            Exam.test(driver + " drop all", exam -> {
                in(driver, "liqui", (liquibase, database) -> liquibase.dropAll());
                try (Connection connection = Exam.connect("mariadb", "liqui", ""); Statement statement = connection.createStatement()) {
                    exam.see(statement.executeQuery("select count(*) from information_schema.tables where table_schema = 'liqui'"));
                }
            });
        }
    }
}
