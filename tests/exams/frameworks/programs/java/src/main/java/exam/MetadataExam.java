package exam;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;

/** Everything that a driver tells of a database: tools and frameworks read a schema by it. */
final class MetadataExam {
    // Of the server itself, of its version or of rows that differ.
    private static final Set<String> OF_THE_SERVER = Set.of("getDatabaseProductVersion", "getURL", "getConnection", "getDatabaseMajorVersion", "getDatabaseMinorVersion", "getDatabaseProductName",
        "getUserName");

    private final String driver;

    MetadataExam(String driver) {
        this.driver = driver;
    }

    void run() throws Exception {
        Exam.prepare("drop database if exists meta", "create database meta character set utf8mb4", "use meta",
            "create table parent (id int auto_increment, code char(3) not null default 'abc', name varchar(50) comment 'its name', primary key (id), unique key by_code (code, name desc))",
            "create table child (id bigint unsigned not null, parent_id int, code char(3), name varchar(50), amount decimal(12,3) default 1.5, made timestamp(6) not null default current_timestamp(6) on update "
                + "current_timestamp(6), total decimal(14,3) as (amount * 2) virtual, stored int as (id + 1) persistent, e enum('a','b') default 'b', j json, u uuid, b bit(3), bo bool, y year, t text, bl longblob, "
                + "primary key (id), key by_made (made), constraint to_parent foreign key (parent_id) references parent (id) on delete cascade on update set null, "
                + "constraint to_code foreign key (code, name) references parent (code, name)) comment 'children'",
            "create table plain (a int, b varchar(20))", "create view seen as select id, name from parent", "create sequence numbers start with 5",
            "create procedure act(in a int, out b varchar(20), inout c decimal(10,2)) comment 'acts' begin set b = a; end", "create function twice(a int unsigned) returns bigint deterministic return a * 2",
            "create user if not exists reader@localhost", "grant select, insert on meta.parent to reader@localhost", "grant select (name) on meta.child to reader@localhost");
        for (String options : driver.equals("mysql") ? new String[] {"", "useInformationSchema=true", "databaseTerm=SCHEMA", "nullDatabaseMeansCurrent=true"} : new String[] {"", "useCatalogTerm=SCHEMA"}) {
            try (Connection connection = Exam.connect(driver, "meta", options)) {
                ofTheDatabase(options.isEmpty() ? "" : options + " ", connection.getMetaData());
            }
        }
    }

    private static void ofTheDatabase(String where, DatabaseMetaData meta) throws Exception {
        Method[] methods = DatabaseMetaData.class.getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        Exam.test(where + "properties", exam -> {
            for (Method method : methods) {
                if (method.getParameterCount() == 0 && method.getReturnType() != ResultSet.class && !OF_THE_SERVER.contains(method.getName()) && !method.getName().contains("Driver")) {
                    try {
                        exam.see(method.getName(), method.invoke(meta));
                    } catch (InvocationTargetException error) {
                        exam.see(method.getName(), error.getCause().getClass().getSimpleName());
                    }
                }
            }
        });
        rows(where + "tables", () -> meta.getTables("meta", "meta", "%", null));
        rows(where + "views only", () -> meta.getTables("meta", null, "s%", new String[] {"VIEW"}));
        rows(where + "system views", () -> meta.getTables("information_schema", null, "TABLE%", null));
        rows(where + "table types", meta::getTableTypes);
        rows(where + "columns", () -> meta.getColumns("meta", "meta", "%", "%"));
        rows(where + "columns of a view", () -> meta.getColumns("meta", null, "seen", null));
        rows(where + "primary keys", () -> meta.getPrimaryKeys("meta", "meta", "child"));
        rows(where + "indexes", () -> meta.getIndexInfo("meta", "meta", "parent", false, true));
        rows(where + "unique indexes", () -> meta.getIndexInfo("meta", "meta", "parent", true, true));
        rows(where + "imported keys", () -> meta.getImportedKeys("meta", "meta", "child"));
        rows(where + "exported keys", () -> meta.getExportedKeys("meta", "meta", "parent"));
        rows(where + "cross reference", () -> meta.getCrossReference("meta", "meta", "parent", "meta", "meta", "child"));
        rows(where + "procedures", () -> meta.getProcedures("meta", "meta", "%"));
        rows(where + "procedure columns", () -> meta.getProcedureColumns("meta", "meta", "%", "%"));
        rows(where + "functions", () -> meta.getFunctions("meta", "meta", "%"));
        rows(where + "function columns", () -> meta.getFunctionColumns("meta", "meta", "%", "%"));
        rows(where + "row identifier", () -> meta.getBestRowIdentifier("meta", "meta", "child", DatabaseMetaData.bestRowSession, true));
        rows(where + "version columns", () -> meta.getVersionColumns("meta", "meta", "child"));
        rows(where + "table privileges", () -> meta.getTablePrivileges("meta", "meta", "parent"));
        rows(where + "column privileges", () -> meta.getColumnPrivileges("meta", "meta", "child", "%"));
        rows(where + "types", meta::getTypeInfo);
        rows(where + "client properties", meta::getClientInfoProperties);
        rows(where + "pseudo columns", () -> meta.getPseudoColumns("meta", "meta", "child", "%"));
        rows(where + "attributes", () -> meta.getAttributes("meta", null, null, null));
    }

    private interface Source {
        ResultSet rows() throws Exception;
    }

    private static void rows(String name, Source source) throws Exception {
        Exam.test(name, exam -> {
            ResultSet rows = source.rows();
            for (int index = 1; index <= rows.getMetaData().getColumnCount(); index++) {
                exam.see(rows.getMetaData().getColumnLabel(index), rows.getMetaData().getColumnTypeName(index));
            }
            // The order of equal keys is not defined.
            exam.seeSorted(rows);
        });
    }
}
