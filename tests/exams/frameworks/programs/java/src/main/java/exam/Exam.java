package exam;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs the tests of one program. */
public final class Exam {
    public static final String PORT = System.getenv("EXAM_PORT");

    private final StringBuilder seen = new StringBuilder();

    public interface Test {
        void run(Exam exam) throws Throwable;
    }

    public static void main(String[] arguments) throws Throwable {
        switch (arguments[0]) {
            case "mariadb", "mysql" -> new ConnectorExam(arguments[0]).run();
            case "metadata-mariadb", "metadata-mysql" -> new MetadataExam(arguments[0].substring(9)).run();
            case "hibernate" -> HibernateExam.run();
            case "flyway" -> FlywayExam.run();
            case "liquibase" -> LiquibaseExam.run();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    public static Connection connect(String driver, String database, String options) throws SQLException {
        return DriverManager.getConnection("jdbc:" + driver + "://127.0.0.1:" + PORT + "/" + database + "?user=root&useSSL=false&" + options);
    }

    /** Runs statements in a session of their own. */
    public static void prepare(String... statements) throws SQLException {
        try (Connection connection = connect("mariadb", "", ""); Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    public static void test(String name, Test test) throws Exception {
        Exam exam = new Exam();
        String outcome = "passed";
        try {
            test.run(exam);
        } catch (Throwable error) {
            StringWriter trace = new StringWriter();
            error.printStackTrace(new PrintWriter(trace));
            outcome = "failed";
            exam.see(trace.toString());
        }
        Outcomes.add(name, outcome, exam.seen);
    }

    /** Adds what a test saw: it must be the same on both servers. */
    public void see(Object... values) {
        List<String> texts = new ArrayList<>();
        for (Object value : values) {
            texts.add(value instanceof byte[] bytes ? "bytes " + Arrays.toString(bytes) : value instanceof Object[] array ? Arrays.deepToString(array)
                : value instanceof Iterable<?> || value == null ? String.valueOf(value) : value + ":" + value.getClass().getSimpleName());
        }
        seen.append(String.join(" | ", texts)).append('\n');
    }

    /** Adds all rows, each value as the driver's default object. Moments of the last hour are all "now". */
    public void see(ResultSet rows) throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        Timestamp anHourAgo = Timestamp.from(Instant.now().minusSeconds(3600));
        while (rows.next()) {
            Object[] values = new Object[columns.getColumnCount()];
            for (int index = 0; index < values.length; index++) {
                Object value = rows.getObject(index + 1);
                values[index] = value instanceof Timestamp moment && moment.after(anHourAgo) ? "now" : value;
            }
            see(values);
        }
        rows.close();
    }

    /** Adds all rows in the order of their texts. */
    public void seeSorted(ResultSet rows) throws SQLException {
        Exam other = new Exam();
        other.see(rows);
        other.seen.toString().lines().sorted().forEach(line -> seen.append(line).append('\n'));
    }

    /** Adds the error that an action must give. */
    public void refused(Test action) throws Throwable {
        try {
            action.run(this);
        } catch (SQLException error) {
            String message = String.valueOf(error.getMessage()).replaceAll("\\(conn=\\d+\\) ", "");
            see(error.getClass().getSimpleName(), error.getErrorCode(), error.getSQLState(), message);
            return;
        }
        see("no error");
    }
}
