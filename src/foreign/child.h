/* A second process: the program again, with a special command, for work in which a library may
 * crash, loop, or use all memory.
 *
 * It is started with posix_spawn, which is safe with MPI: this process is not copied, and no fork
 * handler is called. The child shares only two pipes with this process, ends with it, and ignores
 * the signals that a batch system sends to all processes. */
#ifndef TAGFLOW_CHILD_H
#define TAGFLOW_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- in this process ---- */

struct child {
    pid_t pid; /* 0: none */
    int to, from;
};

/* The program to start in place of this one: of a library in another program. The name is copied;
 * NULL: this program. */
void child_program(const char *path);
/* Its name for messages. */
const char *child_name(void);

/* Start this program with these arguments; the first is its name, the last NULL. 0 or errno. */
int child_start(struct child *c, const char *const *arguments);

enum child_answer {
    CHILD_THERE,  /* all bytes were transferred */
    CHILD_ENDED,  /* the child ended before that */
    CHILD_STOPPED /* this process was asked to stop meanwhile (base/signals.h) */
};
enum child_answer child_read(struct child *c, void *data, size_t bytes);
enum child_answer child_write(struct child *c, const void *data, size_t bytes);

/* End the child, unless it has ended by itself. Returns its status as from waitpid(); 0 without a
 * child. */
int child_end(struct child *c);

/* ---- in the child ---- */

/* Set up the pipes to the parent. The child calls this first of all. Its other output is
 * discarded. */
void child_begin(struct child *parent);

/* Limit this process from now on. Allocations fail that take more than `bytes` beyond its present
 * size (not under the address sanitizer, which reserves terabytes). SIGXCPU ends it after `seconds`
 * more of processor time. */
void child_limit(size_t bytes, int seconds);

#endif
