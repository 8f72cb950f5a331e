/* libpaceline: MariaDB's client API with a database in the process (docs/embedding.md).
 *
 * <mysql.h> is all that a program needs: mysql_library_init opens the directory, and connections to no host or to
 * "localhost" stay in the process. This header adds what the embedded server of MariaDB did not have.
 */
#ifndef PACELINE_H
#define PACELINE_H

#include <mysql.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lets other programs connect to the database of this process: through a UNIX socket if `address` has a '/', else over
 * TCP, where port 0 chooses a free one. Returns the port, 0 for a UNIX socket, or -1 with a message on standard error.
 * They need an account (CREATE USER); this process needs none. */
int paceline_listen(const char *address, unsigned int port);

/* Stops to listen on all addresses. Connections that exist go on. */
void paceline_stop_listening(void);

#ifdef __cplusplus
}
#endif
#endif
