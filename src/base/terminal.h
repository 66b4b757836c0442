/* The terminal on which somebody watches this program, if there is one. */
#ifndef TAGFLOW_TERMINAL_H
#define TAGFLOW_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct terminal {
    FILE *to;      /* stream that ends there; NULL: there is no terminal */
    int fd;        /* the terminal itself */
    pid_t process; /* whose output it shows: this process or its mpirun */
};

/* Find it. Under mpirun a rank's own descriptors tell nothing, because mpirun gives ranks a
 * pseudo-terminal even where its own output goes into a file: so mpirun's standard output decides,
 * which is known only on mpirun's host. Where nothing is known there is no terminal. */
void terminal_find(struct terminal *t);
void terminal_close(struct terminal *t);

/* Is the program in the foreground there? The shell may put it into the background and back. */
bool terminal_in_front(const struct terminal *t);

/* Its width in characters; 80 if not known. */
int terminal_width(const struct terminal *t);

#endif
