/* The interface between the C part of libpaceline and the server's heart, which is in Rust (src/lib.rs). */
#ifndef PACELINE_HEART_H
#define PACELINE_HEART_H

/* Starts the server of this process, if the arguments, the option files or the groups ask for one. Returns 0 also if one
   is running or none is asked for. Messages are on standard error. */
int paceline_heart_start(int argc, char **argv, char **groups);

/* Closes the server of this process. Does nothing if there is none. */
void paceline_heart_stop(void);

/* Returns whether this process has a server. The child of a fork has none. */
int paceline_heart_runs(void);

/* Returns the descriptor of a new connection to the server of this process, or -1 with errno. The caller closes it. */
int paceline_heart_connect(void);

/* Returns whether this process is the child of the one that started the server. */
int paceline_heart_is_forked(void);

#endif
