/* Starts a database with the options of its command line. */
#include <mysql.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    if (mysql_library_init(argc, argv, NULL))
        return 1;
    mysql_library_end();
    return 0;
}
