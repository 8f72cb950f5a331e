/* The calls of the client API that differ from those of Connector/C. Its own ones have other names in the copy of its
 * archive that is linked here (renamed.symbols), and are called from here: what it calls itself, for example for a
 * reconnect, never starts a server. */

#include <mysql.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "heart.h"

MYSQL *connector_init(MYSQL *mysql);
int connector_server_init(int argc, char **argv, char **groups);
void connector_server_end(void);
int connector_options(MYSQL *mysql, enum mysql_option option, const void *value);
int connector_optionsv(MYSQL *mysql, enum mysql_option option, ...);

int __real___cxa_atexit(void (*function)(void *), void *argument, void *library);

/* Registers no destructor of this library's static objects. They would run in the child of a fork too, where RocksDB's
 * join threads that do not exist, and in the parent beside threads of a database that is still open. Nothing needs them:
 * the library is never unloaded. */
int __wrap___cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    (void)function;
    (void)argument;
    (void)library;
    return 0;
}

/* Closes the database of a program that exits without mysql_server_end. */
static void close_at_exit(void *unused)
{
    (void)unused;
    paceline_heart_stop();
}

static void register_exit(void)
{
    __real___cxa_atexit(close_at_exit, NULL, NULL);
}

/* Whether the program has said whether it wants a server. */
static atomic_int is_asked;

int STDCALL mysql_server_init(int argc, char **argv, char **groups)
{
    static pthread_once_t is_registered = PTHREAD_ONCE_INIT;

    atomic_store(&is_asked, 1);
    if (connector_server_init(0, NULL, NULL) || paceline_heart_start(argc, argv, groups))
        return 1;
    if (paceline_heart_runs())
        pthread_once(&is_registered, register_exit);
    return 0;
}

static int has_failed_by_files;

static void start_by_files(void)
{
    if (!atomic_load(&is_asked))
        has_failed_by_files = mysql_server_init(0, NULL, NULL);
}

/* The first one stands for mysql_server_init in a program that does not call it, as with MariaDB's embedded server. */
MYSQL *STDCALL mysql_init(MYSQL *mysql)
{
    static pthread_once_t is_started = PTHREAD_ONCE_INIT;

    pthread_once(&is_started, start_by_files);
    return has_failed_by_files ? NULL : connector_init(mysql);
}

void STDCALL mysql_server_end(void)
{
    paceline_heart_stop();
    connector_server_end();
}

my_bool STDCALL mysql_embedded(void)
{
    return 1;
}

/* Takes the options that choose between the server of this process and others, which Connector/C refuses. Returns
 * whether `option` is one of them. */
static int choose_method(MYSQL *mysql, enum mysql_option option)
{
    switch (option) {
    case MYSQL_OPT_USE_REMOTE_CONNECTION:
    case MYSQL_OPT_USE_EMBEDDED_CONNECTION:
    case MYSQL_OPT_GUESS_CONNECTION:
        mysql->options.methods_to_use = option;
        return 1;
    default:
        return 0;
    }
}

int STDCALL mysql_options(MYSQL *mysql, enum mysql_option option, const void *value)
{
    return choose_method(mysql, option) ? 0 : connector_options(mysql, option, value);
}

/* Connector/C reads one or two pointers, depending on the option. To read one more than the caller has passed is
 * harmless on the platforms that this library is built for: the first arguments of a call are in registers, which are
 * saved whatever they contain. */
int mysql_optionsv(MYSQL *mysql, enum mysql_option option, ...)
{
    va_list rest;
    void *first, *second;

    if (choose_method(mysql, option))
        return 0;
    va_start(rest, option);
    first = va_arg(rest, void *);
    second = va_arg(rest, void *);
    va_end(rest);
    return connector_optionsv(mysql, option, first, second);
}
