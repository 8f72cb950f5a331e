package exam;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.Lob;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ManyToMany;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.cfg.Configuration;
import org.hibernate.type.SqlTypes;

/** An application with entities of every kind: its schema is created, validated and updated, and HQL is run. */
public final class HibernateExam {
    public enum Kind { SMALL, LARGE }

    @Embeddable
    public static class Address {
        public String street;
        @Column(length = 10) public String zip;
    }

    @Entity(name = "Author")
    @Table(indexes = @Index(columnList = "name", unique = true))
    public static class Author {
        @Id @GeneratedValue(strategy = GenerationType.AUTO) public Long id;
        public String name;
        @Embedded public Address address;
        @OneToMany(mappedBy = "author", cascade = CascadeType.ALL, orphanRemoval = true) public List<Book> books = new ArrayList<>();
        @Version public int version;
    }

    @Entity(name = "Book")
    public static class Book {
        @Id @GeneratedValue(strategy = GenerationType.UUID) public UUID id;
        @Column(nullable = false, length = 200) public String title;
        @Column(precision = 12, scale = 3) public BigDecimal price;
        @ManyToOne(optional = false) public Author author;
        @ManyToMany public Set<Tag> tags = new TreeSet<>(java.util.Comparator.comparing(each -> each.word));
        @ElementCollection public Map<String, String> notes = new LinkedHashMap<>();
        @Enumerated(EnumType.STRING) public Kind kind;
        @Enumerated(EnumType.ORDINAL) public Kind size;
        @JdbcTypeCode(SqlTypes.JSON) public Map<String, String> data;
        public LocalDate printed;
        public Instant sold;
        public boolean available;
        @Lob public String text;
        @Lob public byte[] cover;
    }

    @Entity(name = "Tag")
    public static class Tag {
        @Id @GeneratedValue(strategy = GenerationType.IDENTITY) public int id;
        @Column(unique = true) public String word;
    }

    @Entity(name = "Vehicle")
    @Inheritance(strategy = InheritanceType.JOINED)
    public static class Vehicle {
        @Id @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "vehicles") @SequenceGenerator(name = "vehicles", sequenceName = "vehicles", allocationSize = 5) public long id;
        public LocalDateTime made;
        public LocalTime time;
        public Duration reach;
        public double weight;
        public float height;
        public short seats;
        public byte level;
        public char letter;
    }

    @Entity(name = "Car")
    public static class Car extends Vehicle {
        public int doors;
    }

    @Entity(name = "Bike")
    public static class Bike extends Vehicle {
        public boolean electric;
    }

    private HibernateExam() {}

    private static SessionFactory factory(String driver, String action) {
        Configuration configuration = new Configuration();
        for (Class<?> each : new Class<?>[] {Author.class, Book.class, Tag.class, Vehicle.class, Car.class, Bike.class}) {
            configuration.addAnnotatedClass(each);
        }
        configuration.setProperty("hibernate.connection.url", "jdbc:" + driver + "://127.0.0.1:" + Exam.PORT + "/hibernate?useSSL=false");
        configuration.setProperty("hibernate.dialect", "org.hibernate.dialect.MariaDBDialect");
        configuration.setProperty("hibernate.connection.username", "root");
        configuration.setProperty("hibernate.connection.password", "");
        configuration.setProperty("hibernate.hbm2ddl.auto", action);
        configuration.setProperty("hibernate.jdbc.batch_size", "20");
        configuration.setProperty("hibernate.jdbc.time_zone", "UTC");
        configuration.setProperty("hibernate.order_inserts", "true");
        return configuration.buildSessionFactory();
    }

    private static void validate(Exam exam, String driver) {
        try {
            factory(driver, "validate").close();
            exam.see("valid");
        } catch (RuntimeException error) {
            exam.see(error.getMessage());
        }
    }

    static void run() throws Exception {
        java.util.logging.LogManager.getLogManager().reset();
        for (String driver : new String[] {"mariadb", "mysql"}) {
            Exam.prepare("drop database if exists hibernate", "create database hibernate character set utf8mb4");
            Exam.test(driver + " schema", exam -> {
                factory(driver, "create").close();
                validate(exam, driver);
                Exam.prepare("alter table hibernate.Book drop column text");
                factory(driver, "update").close();
                validate(exam, driver);
                try (java.sql.Connection connection = Exam.connect("mariadb", "hibernate", ""); java.sql.Statement statement = connection.createStatement()) {
                    List<String> tables = new ArrayList<>();
                    try (java.sql.ResultSet rows = statement.executeQuery("select table_name from information_schema.tables where table_schema = 'hibernate' order by 1")) {
                        while (rows.next()) {
                            tables.add(rows.getString(1));
                        }
                    }
                    for (String table : tables) {
                        exam.see(statement.executeQuery("show create table `" + table + "`"));
                    }
                }
            });
            try (SessionFactory factory = factory(driver, "update")) {
                fill(driver, factory);
                queries(driver, factory);
                changes(driver, factory);
            }
            Exam.test(driver + " dropped", exam -> factory(driver, "create-drop").close());
        }
    }

    private static void fill(String driver, SessionFactory factory) throws Exception {
        Exam.test(driver + " persist", exam -> factory.inTransaction(session -> {
            List<Tag> tags = new ArrayList<>();
            for (String word : new String[] {"new", "old", "red"}) {
                Tag tag = new Tag();
                tag.word = word;
                session.persist(tag);
                tags.add(tag);
            }
            for (int number = 0; number < 10; number++) {
                Author author = new Author();
                author.name = "Author ü" + number;
                author.address = new Address();
                author.address.street = "street " + number;
                author.address.zip = number % 2 == 0 ? null : "z" + number;
                session.persist(author);
                for (int index = 0; index < number; index++) {
                    Book book = new Book();
                    book.title = "Book " + number + "." + index;
                    book.price = index == 3 ? null : new BigDecimal(number * 10 + index).movePointLeft(1);
                    book.author = author;
                    book.kind = Kind.values()[index % 2];
                    book.size = Kind.values()[(index + 1) % 2];
                    book.data = Map.of("number", "" + index);
                    book.printed = LocalDate.of(2020 + index, 1 + number, 1);
                    book.sold = Instant.parse("2026-01-01T00:00:00.123456Z").plusSeconds(index * 86_400L);
                    book.available = index % 3 == 0;
                    book.text = "t".repeat(1_000 * index);
                    book.cover = new byte[] {(byte) index, -1};
                    book.tags.add(tags.get(index % 3));
                    book.notes.put("k" + index, "v" + number);
                    author.books.add(book);
                }
            }
            for (int number = 0; number < 12; number++) {
                Vehicle vehicle = number % 2 == 0 ? new Car() : new Bike();
                if (vehicle instanceof Car car) {
                    car.doors = number;
                }
                vehicle.made = LocalDateTime.of(2026, 1, 1, number, 0, 0, 123_456_000);
                vehicle.time = LocalTime.of(number, 1, 2);
                vehicle.reach = Duration.ofMinutes(number);
                vehicle.weight = number / 3.0;
                vehicle.height = number / 7f;
                vehicle.letter = (char) ('a' + number);
                session.persist(vehicle);
                exam.see(vehicle.id);
            }
        }));
    }

    private static void queries(String driver, SessionFactory factory) throws Exception {
        for (String query : new String[] {
            "select a.name, count(b), sum(b.price), avg(b.price), max(b.printed) from Author a left join a.books b group by a.name having count(b) > 2 order by a.name",
            "select b.title from Book b where b.author.name like '%ü5' and b.price > 50 order by b.title",
            "select b.title, t.word from Book b join b.tags t where t.word in ('new', 'red') order by b.title, t.word",
            "select a.name from Author a where exists (select 1 from Book b where b.author = a and b.kind = LARGE) order by a.id",
            "select upper(a.name), lower(a.name), length(a.name), substring(a.name, 1, 3), concat(a.name, '!'), locate('ü', a.name), trim(a.name), replace(a.name, 'A', 'B'), left(a.name, 2), "
                + "right(a.name, 2), lpad(a.name, 12, '-') from Author a order by a.id",
            "select year(b.printed), month(b.printed), extract(day from b.printed), extract(week from b.printed), extract(quarter from b.printed), b.printed + 1 day, b.sold - 1 hour, "
                + "(b.sold - {ts '2026-01-01 00:00:00'}) by day, format(b.printed as 'yyyy-MM-dd'), truncate(b.printed, month) from Book b order by b.title",
            "select b.title, row_number() over (partition by b.author order by b.title), rank() over (order by b.size), sum(b.price) over (partition by b.author order by b.title rows between 1 preceding "
                + "and current row), lag(b.title) over (order by b.title) from Book b order by b.title",
            "with counted as (select b.author.name as name, count(*) as amount from Book b group by b.author.name) select c.name, c.amount from counted c where c.amount > 4 order by c.name",
            "select a.name from Author a where a.id < 3 union all select t.word from Tag t union select 'x' order by 1",
            "select a.name from Author a where a.id < 5 intersect select a.name from Author a where a.id > 2 order by 1",
            "select a.name from Author a where a.id < 5 except select a.name from Author a where a.id > 2 order by 1",
            "select abs(-b.price), ceiling(b.price), floor(b.price), round(b.price, 1), mod(b.size, 2), sqrt(16), power(2, 3), sign(b.price), greatest(b.price, 5), least(b.price, 5), "
                + "coalesce(b.price, 0), nullif(b.title, 'Book 1.0') from Book b order by b.title",
            "select case when b.available then 'yes' else 'no' end, cast(b.price as Integer), cast(b.price as String), str(b.printed) from Book b order by b.title",
            "select v.id, type(v), v.made, v.time, v.reach, v.weight, v.height, v.letter from Vehicle v order by v.id",
            "select c.doors from Car c where c.doors > 2 order by c.id desc",
            "select b.title from Book b where b.printed between {d '2021-01-01'} and {d '2023-01-01'} and b.text is not null and b.author.address.zip is null order by b.title",
            "select key(n), value(n) from Book b join b.notes n order by b.title",
            "select listagg(b.title, ', ') within group (order by b.title desc) from Book b group by b.author order by min(b.title)",
            "select (select max(b.price) from Book b where b.author = a) from Author a order by a.id nulls first",
            "select b.title from Book b order by b.price desc nulls last, b.title",
            "select a.name from Author a where a.id = any (select b.author.id from Book b where b.price > 70) order by a.id",
            "select every(b.available), any(b.available) from Book b",
            "select a.name, x.title from Author a join lateral (select b.title as title from Book b where b.author = a order by b.title limit 1) x order by a.name",
        }) {
            Exam.test(driver + " " + query, exam -> factory.inTransaction(session -> {
                for (Object row : session.createQuery(query, Object.class).list()) {
                    exam.see(row);
                }
            }));
        }
        Exam.test(driver + " pages", exam -> factory.inTransaction(session -> {
            for (int first = 0; first < 20; first += 7) {
                exam.see(session.createQuery("select b.title from Book b order by b.title", String.class).setFirstResult(first).setMaxResults(7).list());
            }
            exam.see(session.createQuery("from Author a left join fetch a.books order by a.id", Author.class).list().stream().map(each -> each.books.size()).toList());
            exam.see(session.createNativeQuery("select count(*), sum(price) from Book", Object[].class).list().get(0));
            try (var rows = session.createQuery("select b.title from Book b order by b.title", String.class).scroll()) {
                rows.next();
                exam.see(rows.get());
            }
        }));
        Exam.test(driver + " values", exam -> factory.inTransaction(session -> {
            for (Book book : session.createQuery("from Book b order by b.title", Book.class).list()) {
                exam.see(book.title, book.price, book.kind, book.size, book.data.toString(), book.printed, book.sold, book.available, book.text.length(), book.cover,
                    book.tags.stream().map(each -> each.word).toList(), book.notes.toString());
                exam.see(session.createQuery("select b.title from Book b where b.id = :id", String.class).setParameter("id", book.id).getSingleResult());
            }
        }));
    }

    private static void changes(String driver, SessionFactory factory) throws Exception {
        for (String statement : new String[] {
            "update Book b set b.price = b.price + 1 where b.author.id in (select a.id from Author a where a.name like '%ü3')",
            "update Vehicle v set v.weight = 5 where v.id > 3", "update Car c set c.doors = c.doors + 1, c.seats = 4 where c.doors < 6",
            "update versioned Author a set a.name = concat(a.name, '?') where a.id = 2",
            "delete from Book b where b.printed < {d '2020-03-01'}", "delete from Bike b where b.weight > 5",
            "insert into Tag (word) values ('inserted'), ('again')", "insert into Tag (word) select upper(t.word) || '-copy' from Tag t order by t.id",
            "insert into Tag (id, word) values (1, 'conflict') on conflict (id) do update set word = 'resolved'",
            "insert into Tag (id, word) values (1, 'conflict') on conflict do nothing",
            "insert into Car (made, weight, height, seats, level, letter, doors) select c.made, c.weight, c.height, c.seats, c.level, c.letter, c.doors from Car c where c.doors > 5",
        }) {
            Exam.test(driver + " " + statement, exam -> {
                factory.inTransaction(session -> exam.see(session.createMutationQuery(statement).executeUpdate()));
                factory.inTransaction(session -> {
                    exam.see(session.createQuery("select t.id, t.word from Tag t order by t.id", Object[].class).list().stream().map(java.util.Arrays::toString).toList());
                    exam.see(session.createQuery("select count(b), sum(b.price) from Book b", Object[].class).getSingleResult());
                    exam.see(session.createQuery("select count(v), sum(v.weight), sum(v.seats) from Vehicle v", Object[].class).getSingleResult());
                });
            });
        }
        Exam.test(driver + " versions", exam -> {
            Author[] stale = new Author[1];
            factory.inTransaction(session -> stale[0] = session.find(Author.class, 1L));
            factory.inTransaction(session -> session.find(Author.class, 1L).name = "first");
            try {
                factory.inTransaction(session -> {
                    stale[0].name = "second";
                    session.merge(stale[0]);
                });
                exam.see("merged");
            } catch (RuntimeException error) {
                exam.see(error.getClass().getSimpleName());
            }
        });
        Exam.test(driver + " locks", exam -> factory.inTransaction(session -> {
            session.find(Author.class, 1L, LockModeType.PESSIMISTIC_WRITE);
            for (Consumer<Session> each : List.<Consumer<Session>>of(
                other -> other.find(Author.class, 1L, LockModeType.PESSIMISTIC_WRITE, Map.of("jakarta.persistence.lock.timeout", 0)),
                other -> exam.see(other.createQuery("select a from Author a where a.id < 4 order by a.id", Author.class).setLockMode(LockModeType.PESSIMISTIC_WRITE)
                    .setHint("jakarta.persistence.lock.timeout", -2).list().stream().map(author -> author.id).toList()),
                other -> exam.see(other.find(Author.class, 2L, LockModeType.PESSIMISTIC_READ).name))) {
                try {
                    factory.inTransaction(each);
                    exam.see("locked");
                } catch (RuntimeException error) {
                    exam.see(error.getClass().getSimpleName());
                }
            }
        }));
        Exam.test(driver + " constraints", exam -> {
            for (Consumer<Session> each : List.<Consumer<Session>>of(session -> {
                Tag tag = new Tag();
                tag.word = "red";
                session.persist(tag);
            }, session -> session.createNativeMutationQuery("delete from Author where id = 9").executeUpdate(),
                session -> session.createNativeMutationQuery("insert into Book (id, author_id, available, title) values (uuid(), 9999, 1, 'x')").executeUpdate(),
                session -> session.createNativeMutationQuery("update Book set title = null").executeUpdate(),
                session -> session.createNativeMutationQuery("update Book set title = repeat('x', 300)").executeUpdate())) {
                try {
                    factory.inTransaction(each);
                    exam.see("no error");
                } catch (RuntimeException error) {
                    exam.see(error.getClass().getSimpleName(), error instanceof org.hibernate.exception.ConstraintViolationException violated ? violated.getConstraintName() : "");
                }
            }
        });
        Exam.test(driver + " removed", exam -> factory.inTransaction(session -> {
            Author author = session.createQuery("from Author a where a.name like '%ü9%'", Author.class).getSingleResult();
            author.books.remove(0);
            session.flush();
            exam.see(session.createQuery("select count(*) from Book", Long.class).getSingleResult());
            session.remove(author);
            session.flush();
            exam.see(session.createQuery("select count(*) from Book", Long.class).getSingleResult());
        }));
    }
}
