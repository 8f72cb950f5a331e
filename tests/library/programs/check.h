/* Assertions of the test programs, and the start of a database in the directory of their first argument. */
#ifndef CHECK_H
#define CHECK_H

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

/* Ends the program with the connection's message if `failed`. */
#define CHECK_MYSQL(mysql, failed) \
    ((failed) ? (fprintf(stderr, "%s:%d: %s: %u %s\n", __FILE__, __LINE__, #failed, mysql_errno(mysql), mysql_error(mysql)), exit(1)) \
              : (void)0)

static inline int start_database(const char *directory)
{
    char datadir[4096];
    char *arguments[] = {"program", "--no-defaults", datadir};

    snprintf(datadir, sizeof(datadir), "--datadir=%s", directory);
    return mysql_library_init(3, arguments, NULL);
}

static inline MYSQL *new_connection(const char *database)
{
    MYSQL *mysql = mysql_init(NULL);

    CHECK(mysql);
    CHECK_MYSQL(mysql, !mysql_real_connect(mysql, NULL, NULL, NULL, database, 0, NULL, CLIENT_MULTI_STATEMENTS | CLIENT_LOCAL_FILES));
    return mysql;
}

static inline void run(MYSQL *mysql, const char *sql)
{
    CHECK_MYSQL(mysql, mysql_query(mysql, sql));
}

/* Returns the first value of a query's first row, which has at most 255 bytes; "NULL" for NULL. */
static inline const char *value_of(MYSQL *mysql, const char *sql)
{
    static _Thread_local char value[256];
    MYSQL_RES *result;
    MYSQL_ROW row;

    run(mysql, sql);
    CHECK_MYSQL(mysql, !(result = mysql_store_result(mysql)));
    CHECK((row = mysql_fetch_row(result)));
    snprintf(value, sizeof(value), "%s", row[0] ? row[0] : "NULL");
    mysql_free_result(result);
    return value;
}

#define CHECK_VALUE(mysql, sql, expected)                                                                   \
    do {                                                                                                    \
        const char *found = value_of(mysql, sql);                                                           \
        if (strcmp(found, expected)) {                                                                      \
            fprintf(stderr, "%s:%d: %s: %s instead of %s\n", __FILE__, __LINE__, sql, found, expected);     \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

#endif
