import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/**
 * An application with MariaDB's Connector/J and a list of hosts: inserts numbers into t.n, and prints those that were
 * committed. It closes a connection after an error, as a pool does, and lets the driver choose a host for the next.
 */
public class HostList {
    public static void main(String[] arguments) throws Exception {
        Connection connection = null;
        for (int number = 1;; number++) {
            try {
                if (connection == null) {
                    connection = DriverManager.getConnection(arguments[0]);
                }
                connection.createStatement().executeUpdate("insert into t.n values (" + number + ")");
                System.out.println("committed " + number);
            } catch (SQLException error) {
                System.out.println("error " + error.getErrorCode() + " " + error.getSQLState());
                if (connection != null) {
                    try {
                        connection.close();
                    } catch (SQLException gone) {
                        // It is lost anyway.
                    }
                }
                connection = null;
                Thread.sleep(20);
            }
        }
    }
}
