/* The start and the end that `tagflow` and `tagflow-bench` share, and MPI around a command. */
#ifndef TAGFLOW_CLI_PROGRAM_H
#define TAGFLOW_CLI_PROGRAM_H

#include <mpi.h>

#include "base/status.h"

struct command {
    const char *name, *help; /* help NULL: the command prints its own */
    enum status (*with_mpi)(int, char **, MPI_Comm);
    enum status (*alone)(int, char **);
};

/* For main() to begin with. If the program was started to read a file of another program, does so
 * and ends. */
void program_start(int count, char **arguments);

/* Calls the command with its arguments, between the start and the end of MPI if it takes a
 * communicator; or prints its help if one of them asks for it. */
enum status program_call(const struct command *command, int count, char **arguments);

/* A command's result goes to stdout: a failed write is an error, unless the reader has closed it.
 */
enum status program_written(enum status status);

#endif
