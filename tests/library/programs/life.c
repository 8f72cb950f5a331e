/* Opening and closing: twice, again after a close, in the child of a fork, and what connects where. */
#include "check.h"
#include <errmsg.h>
#include <paceline.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in a child of fork, which must not speak on its parent's connection. */
static int child(const char *directory, MYSQL *inherited)
{
    MYSQL *mysql = mysql_init(NULL);

    CHECK(mysql_query(inherited, "INSERT INTO t VALUES (99)") != 0);
    CHECK(mysql_errno(inherited) == CR_SERVER_GONE_ERROR || mysql_errno(inherited) == CR_SERVER_LOST);
    mysql_close(inherited);
    mysql_options(mysql, MYSQL_OPT_USE_EMBEDDED_CONNECTION, NULL);
    CHECK(!mysql_real_connect(mysql, NULL, NULL, NULL, NULL, 0, NULL, 0));
    CHECK(mysql_errno(mysql) == CR_CONNECTION_ERROR);
    mysql_close(mysql);
    CHECK(start_database(directory) != 0);
    mysql_library_end();
    return 0;
}

static void check_fork(const char *directory)
{
    MYSQL *mysql = new_connection("a");
    pid_t process = fork();
    int status;

    if (process == 0)
        exit(child(directory, mysql));
    CHECK(process > 0 && waitpid(process, &status, 0) == process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_VALUE(mysql, "SELECT COUNT(*) FROM t", "1");
    mysql_close(mysql);
}

/* A child that lives on has the lock of the directory open, and must not keep it. */
static pid_t lasting_child(int *to_child)
{
    int ends[2];
    char byte;
    pid_t process;

    CHECK(pipe(ends) == 0);
    if ((process = fork()) == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ends[0]);
    *to_child = ends[1];
    return process;
}

static void check_choice_of_server(const char *directory)
{
    MYSQL *mysql = mysql_init(NULL);
    char path[4096];

    snprintf(path, sizeof(path), "%s/clients.sock", directory);
    CHECK(paceline_listen(path, 0) == 0);
    /* A named socket is one: whoever comes through it needs an account. */
    CHECK(!mysql_real_connect(mysql, "localhost", "nobody", "wrong", NULL, 0, path, 0));
    CHECK(mysql_errno(mysql) == 1045);
    mysql_close(mysql);
    mysql = mysql_init(NULL);
    CHECK(mysql_real_connect(mysql, "localhost", "visitor", "secret", "a", 0, path, 0));
    CHECK_VALUE(mysql, "SELECT CURRENT_USER()", "visitor@localhost");
    mysql_close(mysql);
    /* The server offers TLS to others now. Within the process there is none, also if it is demanded. */
    mysql = mysql_init(NULL);
    mysql_ssl_set(mysql, NULL, NULL, NULL, NULL, NULL);
    mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &(my_bool){1});
    mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &(my_bool){1});
    CHECK_MYSQL(mysql, !mysql_real_connect(mysql, NULL, NULL, NULL, "a", 0, NULL, 0));
    CHECK(!mysql_get_ssl_cipher(mysql));
    mysql_close(mysql);
    paceline_stop_listening();
    CHECK(access(path, F_OK) != 0);
    mysql = mysql_init(NULL);
    mysql_options(mysql, MYSQL_OPT_USE_REMOTE_CONNECTION, NULL);
    CHECK(!mysql_real_connect(mysql, "localhost", NULL, NULL, NULL, 0, path, 0));
    CHECK(mysql_errno(mysql) == CR_CONNECTION_ERROR);
    mysql_close(mysql);
    mysql = mysql_init(NULL);
    CHECK_MYSQL(mysql, !mysql_real_connect(mysql, "localhost", "anybody", "anything", "a", 3306, NULL, 0));
    CHECK_VALUE(mysql, "SELECT CURRENT_USER()", "root@localhost");
    mysql_close(mysql);
}

int main(int argc, char **argv)
{
    const char *directory = argv[1];
    MYSQL *mysql;
    pid_t process;
    int to_child, status;

    CHECK(argc == 2 && mysql_embedded());
    /* A client of other servers starts none. */
    mysql = mysql_init(NULL);
    mysql_options(mysql, MYSQL_OPT_USE_EMBEDDED_CONNECTION, NULL);
    CHECK(!mysql_real_connect(mysql, NULL, NULL, NULL, NULL, 0, NULL, 0));
    CHECK(mysql_errno(mysql) == CR_CONNECTION_ERROR);
    mysql_close(mysql);

    CHECK(start_database(directory) == 0 && start_database(directory) == 0);
    mysql = new_connection(NULL);
    run(mysql, "CREATE DATABASE a");
    run(mysql, "CREATE TABLE a.t (id INT PRIMARY KEY)");
    run(mysql, "INSERT INTO a.t VALUES (1)");
    run(mysql, "CREATE USER visitor@localhost IDENTIFIED BY 'secret'");
    run(mysql, "GRANT ALL ON a.* TO visitor@localhost");
    CHECK(strstr(mysql_get_server_info(mysql), "paceline"));
    CHECK(mysql_query(mysql, "SHUTDOWN") != 0 && mysql_errno(mysql) == 1235);
    mysql_close(mysql);
    check_fork(directory);
    check_choice_of_server(directory);
    process = lasting_child(&to_child);

    /* A connection that the program forgets does not hold up the end. */
    mysql = new_connection("a");
    mysql_library_end();
    mysql_library_end();
    CHECK(mysql_query(mysql, "SELECT 1") != 0);
    mysql_close(mysql);
    CHECK(start_database(directory) == 0);
    mysql = new_connection("a");
    CHECK_VALUE(mysql, "SELECT COUNT(*) FROM t", "1");
    mysql_close(mysql);
    close(to_child);
    CHECK(waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    /* The database is closed at the exit. */
    puts("done");
    return 0;
}
