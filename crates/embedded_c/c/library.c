/* The calls of the client API that differ from those of Connector/C. Its own ones have other names in the copy of its
 * archive that is linked here (renamed.symbols), and are called from here: so what it calls itself, for example
 * mysql_init the initialization, never starts a server. */

#include <mysql.h>
#include <stdarg.h>
#include <stddef.h>

#include "heart.h"

int connector_server_init(int argc, char **argv, char **groups);
void connector_server_end(void);
int connector_options(MYSQL *mysql, enum mysql_option option, const void *value);
int connector_optionsv(MYSQL *mysql, enum mysql_option option, ...);

int STDCALL mysql_server_init(int argc, char **argv, char **groups)
{
    if (connector_server_init(0, NULL, NULL))
        return 1;
    return paceline_heart_start(argc, argv, groups);
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
