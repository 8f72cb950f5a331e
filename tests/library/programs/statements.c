/* Prepared statements, several statements in one text, LOAD DATA LOCAL, long values, errors, and the end of a statement by
 * another connection. */
#include "check.h"
#include <errmsg.h>
#include <pthread.h>
#include <unistd.h>

enum { LONG_BYTES = 20 << 20 };

static void check_prepared(MYSQL *mysql)
{
    MYSQL_STMT *statement = mysql_stmt_init(mysql);
    MYSQL_BIND given[3] = {0}, found[3] = {0};
    const char insert[] = "INSERT INTO p VALUES (?, ?, ?)", select[] = "SELECT id, name, at FROM p WHERE id >= ? ORDER BY id";
    int id;
    char name[20];
    unsigned long length;
    my_bool is_null;
    MYSQL_TIME at = {.year = 2026, .month = 11, .day = 27, .hour = 13, .second_part = 250000, .time_type = MYSQL_TIMESTAMP_DATETIME};

    run(mysql, "CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(20), at DATETIME(6))");
    given[0] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONG, .buffer = &id};
    given[1] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING, .buffer = name, .length = &length, .is_null = &is_null};
    given[2] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_DATETIME, .buffer = &at};
    CHECK(!mysql_stmt_prepare(statement, insert, strlen(insert)));
    CHECK(mysql_stmt_param_count(statement) == 3);
    CHECK(!mysql_stmt_bind_param(statement, given));
    for (id = 1; id <= 100; id++) {
        length = snprintf(name, sizeof(name), "name %d", id);
        is_null = id % 10 == 0;
        CHECK(!mysql_stmt_execute(statement) && mysql_stmt_affected_rows(statement) == 1);
    }
    id = 100;
    CHECK(mysql_stmt_execute(statement) && mysql_stmt_errno(statement) == 1062);
    CHECK(!strcmp(mysql_stmt_sqlstate(statement), "23000"));

    CHECK(!mysql_stmt_prepare(statement, select, strlen(select)));
    id = 99;
    CHECK(!mysql_stmt_bind_param(statement, given) && !mysql_stmt_execute(statement));
    memset(&at, 0, sizeof(at));
    found[0] = given[0];
    found[1] = given[1];
    found[1].buffer_length = sizeof(name);
    found[2] = given[2];
    CHECK(!mysql_stmt_bind_result(statement, found));
    CHECK(mysql_stmt_fetch(statement) == 0 && id == 99 && length == 7 && !memcmp(name, "name 99", 7) && !is_null);
    CHECK(at.year == 2026 && at.hour == 13 && at.second_part == 250000);
    CHECK(mysql_stmt_fetch(statement) == 0 && id == 100 && is_null);
    CHECK(mysql_stmt_fetch(statement) == MYSQL_NO_DATA);
    CHECK(!mysql_stmt_close(statement));
}

static void check_several(MYSQL *mysql)
{
    int results = 0, next;

    run(mysql, "CREATE TABLE s (id INT); INSERT INTO s VALUES (1), (2); SELECT * FROM s; SELECT COUNT(*) FROM s");
    do {
        MYSQL_RES *result = mysql_store_result(mysql);

        if (result) {
            results++;
            CHECK(mysql_num_rows(result) == (results == 1 ? 2 : 1));
            mysql_free_result(result);
        }
        next = mysql_next_result(mysql);
        CHECK_MYSQL(mysql, next > 0);
    } while (next == 0);
    CHECK(results == 2);
}

static void check_load(MYSQL *mysql, const char *directory)
{
    char path[4096], sql[8192];
    FILE *file;

    snprintf(path, sizeof(path), "%s.txt", directory);
    CHECK((file = fopen(path, "w")));
    for (int id = 0; id < 10000; id++)
        fprintf(file, "%d\trow %d\n", id, id);
    fclose(file);
    run(mysql, "CREATE TABLE l (id INT PRIMARY KEY, name VARCHAR(20))");
    snprintf(sql, sizeof(sql), "LOAD DATA LOCAL INFILE '%s' INTO TABLE l", path);
    run(mysql, sql);
    CHECK(mysql_affected_rows(mysql) == 10000);
    CHECK(!strcmp(mysql_info(mysql), "Records: 10000  Deleted: 0  Skipped: 0  Warnings: 0"));
    CHECK_VALUE(mysql, "SELECT name FROM l WHERE id = 9999", "row 9999");
    unlink(path);
}

/* Both directions exceed what a descriptor accepts at once. */
static void check_long_value(MYSQL *mysql)
{
    char *sql = malloc(LONG_BYTES + 100);
    MYSQL_RES *result;
    MYSQL_ROW row;

    run(mysql, "SET GLOBAL max_allowed_packet = 67108864");
    mysql_close(mysql);
    mysql = new_connection("b");
    memset(sql, 'x', LONG_BYTES + 100);
    memcpy(sql, "SELECT '", 8);
    strcpy(sql + 8 + LONG_BYTES, "'");
    run(mysql, sql);
    CHECK_MYSQL(mysql, !(result = mysql_use_result(mysql)));
    CHECK((row = mysql_fetch_row(result)));
    CHECK(mysql_fetch_lengths(result)[0] == LONG_BYTES && row[0][LONG_BYTES - 1] == 'x');
    CHECK(!mysql_fetch_row(result));
    mysql_free_result(result);
    free(sql);
    mysql_close(mysql);
}

static void *sleep_long(void *mysql)
{
    mysql_thread_init();
    CHECK(mysql_query(mysql, "SELECT * FROM s WHERE SLEEP(1000)") == 0);
    MYSQL_RES *result = mysql_store_result(mysql);
    unsigned int error = mysql_errno(mysql);
    if (result)
        mysql_free_result(result);
    mysql_thread_end();
    return (void *)(size_t)error;
}

static void *killed_connection(void *mysql)
{
    mysql_thread_init();
    CHECK(mysql_query(mysql, "DO SLEEP(1000)") != 0);
    unsigned int error = mysql_errno(mysql);
    mysql_thread_end();
    return (void *)(size_t)error;
}

/* Waits until another connection executes a statement. */
static void await_statement(MYSQL *mysql, unsigned long connection)
{
    char sql[200];

    snprintf(sql, sizeof(sql), "SELECT COUNT(*) FROM information_schema.processlist WHERE id = %lu AND info LIKE '%%SLEEP(%%'", connection);
    while (strcmp(value_of(mysql, sql), "1"))
        usleep(1000);
}

static void check_kill(MYSQL *mysql)
{
    MYSQL *other = new_connection("b");
    pthread_t thread;
    void *error;
    char sql[100];

    CHECK(!pthread_create(&thread, NULL, sleep_long, other));
    await_statement(mysql, mysql_thread_id(other));
    snprintf(sql, sizeof(sql), "KILL QUERY %lu", mysql_thread_id(other));
    run(mysql, sql);
    CHECK(!pthread_join(thread, &error) && (size_t)error == 1317);
    CHECK_VALUE(other, "SELECT 'alive'", "alive");

    CHECK(!pthread_create(&thread, NULL, killed_connection, other));
    await_statement(mysql, mysql_thread_id(other));
    CHECK(!mysql_kill(mysql, mysql_thread_id(other)));
    CHECK(!pthread_join(thread, &error));
    CHECK((size_t)error == CR_SERVER_LOST || (size_t)error == 1927 || (size_t)error == 1317);
    CHECK(mysql_ping(other) != 0);
    mysql_close(other);
}

static void check_timeout(void)
{
    MYSQL *mysql = mysql_init(NULL);
    unsigned int seconds = 1;

    mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &seconds);
    CHECK_MYSQL(mysql, !mysql_real_connect(mysql, NULL, NULL, NULL, NULL, 0, NULL, 0));
    CHECK(mysql_query(mysql, "DO SLEEP(1000)") && mysql_errno(mysql) == CR_SERVER_LOST);
    mysql_close(mysql);
}

static void check_errors(MYSQL *mysql)
{
    CHECK(mysql_query(mysql, "SELEKT 1") && mysql_errno(mysql) == 1064 && !strcmp(mysql_sqlstate(mysql), "42000"));
    CHECK(mysql_query(mysql, "SELECT * FROM nothing") && mysql_errno(mysql) == 1146);
    CHECK_VALUE(mysql, "SELECT 1", "1");
}

int main(int argc, char **argv)
{
    MYSQL *mysql;

    CHECK(argc == 2 && start_database(argv[1]) == 0);
    mysql = new_connection(NULL);
    run(mysql, "CREATE DATABASE b");
    CHECK_MYSQL(mysql, mysql_select_db(mysql, "b"));
    run(mysql, "SET GLOBAL local_infile = 1");
    check_prepared(mysql);
    check_several(mysql);
    check_load(mysql, argv[1]);
    check_errors(mysql);
    check_kill(mysql);
    check_timeout();
    check_long_value(mysql);
    mysql_library_end();
    puts("done");
    return 0;
}
