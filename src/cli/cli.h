/* The commands. Each gets its arguments without the program's and its own name and returns the exit
 * status. MPI is up in those that take a communicator. */
#ifndef TAGFLOW_CLI_H
#define TAGFLOW_CLI_H

#include <mpi.h>

#include "case/case.h"

enum status command_run(int count, char **arguments, MPI_Comm comm);
enum status command_bench(int count, char **arguments, MPI_Comm comm);
enum status command_check(int count, char **arguments, MPI_Comm comm);
enum status command_info(int count, char **arguments, MPI_Comm comm);
enum status command_keys(int count, char **arguments);

enum { CLI_MAX_SETS = 256 };

/* Options of a command, read one by one. */
struct arguments {
    int count, next;
    char **argument;
};

/* Is the next argument this option? Then it is taken. */
int cli_flag(struct arguments *a, const char *name);

/* Is the next argument `name VALUE` or `name=VALUE`? Then both are taken; *value NULL, and the
 * error reported, if there is no value. */
int cli_value(struct arguments *a, const char *name, const char **value);

/* The next argument is nothing this command knows: say so, with the nearest of `known` (NULL at the
 * end). Returns STATUS_USAGE. */
enum status cli_unknown(const struct arguments *a, const char *command, const char *const *known);

/* The case file and --set arguments of `run` and `check`. */
struct case_arguments {
    const char *path;
    int set_count;
    const char *sets[CLI_MAX_SETS];
};

/* Is the next argument --set PATH=VALUE? Then it is taken; set_count above CLI_MAX_SETS, and the
 * error reported, if that could not be. */
int cli_set(struct arguments *a, struct case_arguments *files);

/* For `check`: what is wrong with bodies where the cells in them are known, the fluid that they
 * leave, and what voxel images hold, their porosity, and whether flow can go through them. Makes
 * the tags of the whole box among the ranks of comm; says nothing where there are no bodies. */
enum status check_bodies(const struct flow_case *c, MPI_Comm comm);

/* Read the file on rank 0, hand it to all, read the case on each. */
enum status cli_read_case(const struct case_arguments *a, MPI_Comm comm, struct flow_case *c);

#endif
