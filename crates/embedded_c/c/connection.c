/* Connections to the server of this process, as a kind of connection of Connector/C.
 *
 *   mysql_real_connect ──▶ chooser ──┬──▶ in this process: a pair of descriptors; the other one is a session's
 *                                    └──▶ Connector/C's own sockets
 *
 * Connector/C reaches its peer through a table of methods (ma_pvio.h), and the table for sockets through the symbol
 * pvio_socket_client_plugin. The linker gives it the one below instead (--wrap). Its connect decides, and puts the table
 * of the chosen kind in its place. The method that reads is not the chooser's: nothing is decided twice.
 */

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <mysql.h>
#include <errmsg.h>
#include <ma_pvio.h>

#include "heart.h"

int connector_options(MYSQL *mysql, enum mysql_option option, const void *value);

/* Connector/C's table for sockets, and the name of the socket that is used if none is given. */
extern PVIO_METHODS pvio_socket_methods;
extern char *mysql_unix_port;

/* A plugin of this kind, as <mysql/client_plugin.h> has it. That header includes one which no package installs. */
enum { PLUGIN_TYPE = 101, PLUGIN_INTERFACE_VERSION = 0x0100 };

typedef struct {
    int type;
    unsigned int interface_version;
    const char *name;
    const char *author;
    const char *description;
    unsigned int version[3];
    const char *license;
    void *client_api;
    int (*init)(char *message, size_t size, int count, va_list arguments);
    int (*deinit)(void);
    int (*options)(const char *option, const void *value);
    PVIO_METHODS *methods;
} PVIO_PLUGIN;

/* The descriptor is in the pointer: nothing has to be allocated. */
static int descriptor_of(const MARIADB_PVIO *pvio)
{
    return (int)(intptr_t)pvio->data;
}

/* A child of fork shares the descriptor with its parent: what it sent there would be its parent's statements. */
static int is_usable(void)
{
    if (!paceline_heart_is_forked())
        return 1;
    errno = EBADF;
    return 0;
}

static long long milliseconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for at most `timeout` milliseconds; forever if it is negative. Returns 1 if the descriptor is ready, 0 after the
 * time, -1 on an error. */
static int await_ready(int descriptor, short events, int timeout)
{
    struct pollfd ready = {descriptor, events, 0};
    long long end = timeout < 0 ? 0 : milliseconds_now() + timeout;
    int count;

    while ((count = poll(&ready, 1, timeout)) < 0 && errno == EINTR) {
        if (timeout >= 0) {
            long long left = end - milliseconds_now();
            timeout = left > 0 ? (int)left : 0;
        }
    }
    if (count == 0)
        errno = ETIMEDOUT;
    return count > 0 ? 1 : count;
}

static my_bool set_timeout(MARIADB_PVIO *pvio, enum enum_pvio_timeout type, int seconds)
{
    pvio->timeout[type] = seconds > 0 ? seconds * 1000 : -1;
    return 0;
}

static int get_timeout(MARIADB_PVIO *pvio, enum enum_pvio_timeout type)
{
    return pvio->timeout[type] / 1000;
}

static ssize_t receive_now(MARIADB_PVIO *pvio, uchar *buffer, size_t length)
{
    ssize_t count;

    if (!is_usable())
        return -1;
    while ((count = recv(descriptor_of(pvio), buffer, length, MSG_DONTWAIT)) < 0 && errno == EINTR)
        ;
    return count;
}

static ssize_t send_now(MARIADB_PVIO *pvio, const uchar *buffer, size_t length)
{
    ssize_t count;

    if (!is_usable())
        return -1;
    while ((count = send(descriptor_of(pvio), buffer, length, MSG_DONTWAIT | MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return count;
}

static int would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

static ssize_t receive(MARIADB_PVIO *pvio, uchar *buffer, size_t length)
{
    ssize_t count;

    while ((count = receive_now(pvio, buffer, length)) < 0 && would_block()) {
        if (await_ready(descriptor_of(pvio), POLLIN, pvio->timeout[PVIO_READ_TIMEOUT]) < 1)
            return -1;
    }
    return count;
}

static ssize_t send_all(MARIADB_PVIO *pvio, const uchar *buffer, size_t length)
{
    size_t sent = 0;

    while (sent < length) {
        ssize_t count = send_now(pvio, buffer + sent, length - sent);

        if (count >= 0) {
            sent += count;
        } else if (!would_block() ||
                   await_ready(descriptor_of(pvio), POLLOUT, pvio->timeout[PVIO_WRITE_TIMEOUT]) < 1) {
            return -1;
        }
    }
    return (ssize_t)sent;
}

static int wait_for(MARIADB_PVIO *pvio, my_bool is_read, int timeout)
{
    return is_usable() ? await_ready(descriptor_of(pvio), is_read ? POLLIN : POLLOUT, timeout) : -1;
}

/* Sends and receives never block by themselves, so that there is no mode to be switched. */
static int switch_blocking(MARIADB_PVIO *pvio, my_bool is_blocking, my_bool *before)
{
    (void)pvio;
    (void)is_blocking;
    if (before)
        *before = 1;
    return 0;
}

static my_bool is_blocking(MARIADB_PVIO *pvio)
{
    (void)pvio;
    return 1;
}

static my_bool close_connection(MARIADB_PVIO *pvio)
{
    int result = close(descriptor_of(pvio));

    pvio->data = (void *)(intptr_t)-1;
    return result != 0;
}

static int nothing_to_do(MARIADB_PVIO *pvio)
{
    (void)pvio;
    return 0;
}

static my_bool get_handle(MARIADB_PVIO *pvio, void *handle)
{
    *(my_socket *)handle = descriptor_of(pvio);
    return 0;
}

static my_bool is_alive(MARIADB_PVIO *pvio)
{
    struct pollfd state = {descriptor_of(pvio), POLLIN | POLLRDHUP, 0};

    if (!is_usable() || poll(&state, 1, 0) < 0)
        return 0;
    return (state.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0;
}

static my_bool has_data(MARIADB_PVIO *pvio, ssize_t *length)
{
    int count = 0;

    if (ioctl(descriptor_of(pvio), FIONREAD, &count) < 0)
        return 0;
    *length = count;
    return 1;
}

static int shut_down(MARIADB_PVIO *pvio)
{
    return is_usable() ? shutdown(descriptor_of(pvio), SHUT_RDWR) : -1;
}

static my_bool connected_already(MARIADB_PVIO *pvio, MA_PVIO_CINFO *info)
{
    (void)pvio;
    (void)info;
    return 1;
}

static PVIO_METHODS methods_in_process = {
    .set_timeout = set_timeout,
    .get_timeout = get_timeout,
    .read = receive,
    .async_read = receive_now,
    .write = send_all,
    .async_write = send_now,
    .wait_io_or_timeout = wait_for,
    .blocking = switch_blocking,
    .connect = connected_already,
    .close = close_connection,
    .fast_send = nothing_to_do,
    .keepalive = nothing_to_do,
    .get_handle = get_handle,
    .is_blocking = is_blocking,
    .is_alive = is_alive,
    .has_data = has_data,
    .shutdown = shut_down,
};

/* Returns whether a connection stays in this process: as with MariaDB's embedded server one to no host or to
 * "localhost". But a program that names a socket, or a protocol, means a server elsewhere. */
static int is_to_this_process(const MA_PVIO_CINFO *info)
{
    const struct st_mysql_options *options = &info->mysql->options;

    switch (options->methods_to_use) {
    case MYSQL_OPT_USE_REMOTE_CONNECTION:
        return 0;
    case MYSQL_OPT_USE_EMBEDDED_CONNECTION:
        return 1;
    default:
        return paceline_heart_runs() && info->type == PVIO_TYPE_UNIXSOCKET &&
               options->protocol != MYSQL_PROTOCOL_SOCKET && info->unix_socket && mysql_unix_port &&
               strcmp(info->unix_socket, mysql_unix_port) == 0;
    }
}

static my_bool connect_in_process(MARIADB_PVIO *pvio, MA_PVIO_CINFO *info)
{
    int descriptor = paceline_heart_connect();
    const my_bool off = 0;

    if (descriptor < 0) {
        int error = errno;

        pvio->set_error(info->mysql, CR_CONNECTION_ERROR, "HY000",
                        "Can't connect to the server in this process (%d)", error);
        return 1;
    }
    /* What is sent never leaves the process, so that there is nothing to encrypt or to verify. With shared memory the
     * client does not begin TLS, whatever the server offers to others. */
    connector_options(info->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &off);
    connector_options(info->mysql, MYSQL_OPT_SSL_ENFORCE, &off);
    pvio->type = PVIO_TYPE_SHAREDMEM;
    pvio->data = (void *)(intptr_t)descriptor;
    return 0;
}

static my_bool nothing_to_close(MARIADB_PVIO *pvio)
{
    (void)pvio;
    return 0;
}

static my_bool choose_and_connect(MARIADB_PVIO *pvio, MA_PVIO_CINFO *info);

static PVIO_METHODS methods_of_chooser = {
    .set_timeout = set_timeout,
    .get_timeout = get_timeout,
    .connect = choose_and_connect,
    .close = nothing_to_close,
};

static my_bool choose_and_connect(MARIADB_PVIO *pvio, MA_PVIO_CINFO *info)
{
    int is_in_process = is_to_this_process(info);

    pvio->mysql = info->mysql;
    pvio->methods = is_in_process ? &methods_in_process : &pvio_socket_methods;
    if (!is_in_process)
        return pvio->methods->connect(pvio, info);
    if (connect_in_process(pvio, info)) {
        /* There is nothing to be closed. */
        pvio->methods = &methods_of_chooser;
        return 1;
    }
    return 0;
}

static int plugin_init(char *message, size_t size, int count, va_list arguments)
{
    (void)message;
    (void)size;
    (void)count;
    (void)arguments;
    return 0;
}

PVIO_PLUGIN __wrap_pvio_socket_client_plugin = {
    .type = PLUGIN_TYPE,
    .interface_version = PLUGIN_INTERFACE_VERSION,
    .name = "pvio_socket",
    .author = "The Paceline developers",
    .description = "Connections to the server of this process, and to others through sockets",
    .version = {1, 0, 0},
    .license = "Apache-2.0",
    .init = plugin_init,
    .methods = &methods_of_chooser,
};
