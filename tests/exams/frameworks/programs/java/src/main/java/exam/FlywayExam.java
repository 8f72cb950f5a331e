package exam;

import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;

/** Migrations with triggers, procedures and events; a failing one, its repair, two at the same time, and clean. */
final class FlywayExam {
    private FlywayExam() {}

    private static Flyway flyway(String driver, String... locations) {
        return Flyway.configure().dataSource("jdbc:" + driver + "://127.0.0.1:" + Exam.PORT + "/fly?useSSL=false&allowPublicKeyRetrieval=true", "root", "").locations(locations).cleanDisabled(false)
            .baselineOnMigrate(false).outOfOrder(true).load();
    }

    private static void seeState(Exam exam, Flyway flyway) {
        for (MigrationInfo each : flyway.info().all()) {
            exam.see(each.getVersion(), each.getDescription(), each.getState().getDisplayName(), each.getType().name());
        }
    }

    static void run() throws Exception {
        for (String driver : new String[] {"mariadb", "mysql"}) {
            Exam.prepare("drop database if exists fly", "create database fly character set utf8mb4");
            Flyway first = flyway(driver, "classpath:migrations");
            Exam.test(driver + " migrate", exam -> {
                seeState(exam, first);
                exam.see(first.migrate().migrationsExecuted);
                exam.see(first.migrate().migrationsExecuted);
                seeState(exam, first);
                first.validate();
            });
            Exam.test(driver + " schema", exam -> {
                try (Connection connection = Exam.connect("mariadb", "fly", ""); Statement statement = connection.createStatement()) {
                    for (String each : new String[] {"show create table item", "show create table history", "show create view totals", "show create procedure restock", "show create function tax",
                        "show create trigger item_changed", "show create event nightly", "show create table flyway_schema_history", "select * from item", "select * from history", "select * from totals",
                        "call restock(1, 5)", "select * from item", "select id, what from history order by id"}) {
                        if (statement.execute(each)) {
                            exam.see(statement.getResultSet());
                        }
                    }
                }
            });
            Exam.test(driver + " a migration fails", exam -> {
                Flyway failing = flyway(driver, "classpath:migrations", "classpath:late");
                try {
                    failing.migrate();
                    exam.see("migrated");
                } catch (FlywayException error) {
                    exam.see(error.getErrorCode(), error.getMessage().replaceAll("\\(conn=\\d+\\) |Location.*\n|.*jar!.*", ""));
                }
                seeState(exam, failing);
                exam.see(failing.repair().repairActions);
                seeState(exam, failing);
            });
            Exam.test(driver + " clean", exam -> {
                first.clean();
                try (Connection connection = Exam.connect("mariadb", "fly", ""); Statement statement = connection.createStatement()) {
                    exam.see(statement.executeQuery("select count(*) from information_schema.tables where table_schema = 'fly'"));
                    exam.see(statement.executeQuery("select count(*) from information_schema.routines where routine_schema = 'fly'"));
                    exam.see(statement.executeQuery("select count(*) from information_schema.events where event_schema = 'fly'"));
                }
            });
            Exam.test(driver + " two at the same time", exam -> {
                CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> flyway(driver, "classpath:migrations").migrate().migrationsExecuted);
                int mine = flyway(driver, "classpath:migrations").migrate().migrationsExecuted;
                exam.see(mine + other.get());
            });
            Exam.test(driver + " baseline", exam -> {
                first.clean();
                Exam.prepare("create table fly.old (a int)");
                try {
                    first.migrate();
                    exam.see("migrated");
                } catch (FlywayException error) {
                    exam.see(error.getErrorCode());
                }
                first.baseline();
                seeState(exam, first);
                Exam.prepare("drop database fly", "create database fly");
            });
        }
    }
}
