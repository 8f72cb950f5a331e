/* Several threads with a connection each; two transactions of one program that lock the same rows. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 8, TRANSACTIONS = 200 };

static void *transfer(void *unused)
{
    MYSQL *mysql;

    (void)unused;
    mysql_thread_init();
    mysql = new_connection("c");
    for (int done = 0; done < TRANSACTIONS;) {
        char sql[200];

        snprintf(sql, sizeof(sql), "BEGIN; UPDATE account SET amount = amount - 1 WHERE id = %d; UPDATE account SET amount = amount + 1 WHERE id = %d; COMMIT",
                 done % 5, (done + 1) % 5);
        CHECK_MYSQL(mysql, mysql_query(mysql, sql));
        int next, is_deadlock = 0;
        while ((next = mysql_next_result(mysql)) == 0)
            ;
        if (next > 0) {
            CHECK_MYSQL(mysql, (is_deadlock = mysql_errno(mysql) == 1213) == 0);
            run(mysql, "ROLLBACK");
        }
        done += !is_deadlock;
    }
    mysql_close(mysql);
    mysql_thread_end();
    return NULL;
}

int main(int argc, char **argv)
{
    MYSQL *mysql, *other;
    pthread_t threads[THREADS];

    CHECK(argc == 2 && start_database(argv[1]) == 0 && mysql_thread_safe());
    mysql = new_connection(NULL);
    run(mysql, "CREATE DATABASE c");
    CHECK_MYSQL(mysql, mysql_select_db(mysql, "c"));
    run(mysql, "CREATE TABLE account (id INT PRIMARY KEY, amount INT)");
    run(mysql, "INSERT INTO account VALUES (0, 100), (1, 100), (2, 100), (3, 100), (4, 100)");
    for (int index = 0; index < THREADS; index++)
        CHECK(!pthread_create(&threads[index], NULL, transfer, NULL));
    for (int index = 0; index < THREADS; index++)
        CHECK(!pthread_join(threads[index], NULL));
    CHECK_VALUE(mysql, "SELECT SUM(amount) FROM account", "500");

    other = new_connection("c");
    run(mysql, "BEGIN");
    run(mysql, "UPDATE account SET amount = 7 WHERE id = 1");
    CHECK_VALUE(other, "SELECT COUNT(*) FROM account WHERE amount = 7", "0");
    run(other, "SET innodb_lock_wait_timeout = 1");
    CHECK(mysql_query(other, "UPDATE account SET amount = 8 WHERE id = 1") && mysql_errno(other) == 1205);
    run(mysql, "COMMIT");
    CHECK_VALUE(other, "SELECT amount FROM account WHERE id = 1", "7");
    mysql_close(other);
    mysql_close(mysql);
    mysql_library_end();
    puts("done");
    return 0;
}
