/* Runs the statements of its second argument and prints their rows. */
#include "check.h"

int main(int argc, char **argv)
{
    MYSQL *mysql;
    int next = 0;

    CHECK(argc == 3 && start_database(argv[1]) == 0);
    mysql = new_connection(NULL);
    for (run(mysql, argv[2]); next == 0; next = mysql_next_result(mysql)) {
        MYSQL_RES *result = mysql_store_result(mysql);
        MYSQL_ROW row;

        while (result && (row = mysql_fetch_row(result)))
            for (unsigned int column = 0; column < mysql_num_fields(result); column++)
                printf("%s%c", row[column] ? row[column] : "NULL", column + 1 < mysql_num_fields(result) ? ' ' : '\n');
        mysql_free_result(result);
    }
    CHECK_MYSQL(mysql, next > 0);
    mysql_close(mysql);
    mysql_library_end();
    return 0;
}
