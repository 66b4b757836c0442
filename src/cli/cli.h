/* The commands. Each gets its arguments, without the names of the program and of the command, and
 * returns the exit status. For those that take a communicator MPI is initialised. */
#ifndef TAGFLOW_CLI_H
#define TAGFLOW_CLI_H

#include <mpi.h>

#include "case/case.h"

enum status command_run(int count, char **arguments, MPI_Comm comm);
enum status command_check(int count, char **arguments, MPI_Comm comm);
enum status command_info(int count, char **arguments, MPI_Comm comm);
enum status command_bench(int count, char **arguments);
enum status command_keys(int count, char **arguments);
enum status command_launch(int count, char **arguments);
enum status command_selftest(int count, char **arguments);

/* GPUs of this machine that the job may use; 0 if the program has no CUDA backend. */
int cli_gpus(void);

enum { CLI_MAX_SETS = 256 };

/* Options of a command, read one by one. */
struct arguments {
    int count, next;
    char **argument;
};

/* If the next argument is this option, takes it and returns 1; else returns 0. */
int cli_flag(struct arguments *a, const char *name);

/* If the next arguments are `name VALUE` or `name=VALUE`, takes them and returns 1; else returns 0.
 * If the value is missing, reports it and sets *value to NULL. */
int cli_value(struct arguments *a, const char *name, const char **value);

/* Reports that this command does not know the next argument, with the nearest of `known` (NULL at
 * the end). Returns STATUS_USAGE. */
enum status cli_unknown(const struct arguments *a, const char *command, const char *const *known);

/* The case file and --set arguments of `run` and `check`. */
struct case_arguments {
    const char *path;
    int set_count;
    const char *sets[CLI_MAX_SETS];
};

/* If the next argument is --set PATH=VALUE, takes it and returns 1; else returns 0. If the value is
 * missing or there are too many, reports it and sets set_count above CLI_MAX_SETS. */
int cli_set(struct arguments *a, struct case_arguments *files);

/* As read_case(). */
enum status cli_read_case(const struct case_arguments *a, MPI_Comm comm, struct flow_case *c);

#endif
