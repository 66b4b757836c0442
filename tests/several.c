/* Several runs in one process, that is, in one start of MPI: most of the time of a short run is its
 * start. For tests whose runs are to end well; tests of starts, signals and failures use the
 * program.
 *
 *     several FILE    a run for each line: the arguments of `tagflow run`, separated by tabs
 *
 * Prints "several: N STATUS" for each run, from 1, and goes on with the next one. Cases need
 * check.hang: none, as a watchdog is started once a process. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/clock.h"
#include "base/message.h"
#include "cli/cli.h"
#include "foreign/hdf5.h"
#include "run/earlier_open.h"

enum { ARGUMENTS = 64 };

/* One run; its line is cut at the tabs. */
static enum status run(char *line)
{
    char *argument[ARGUMENTS], *rest = NULL;
    int count = 0;
    for (char *a = strtok_r(line, "\t\n", &rest); a; a = strtok_r(NULL, "\t\n", &rest)) {
        if (count == ARGUMENTS)
            return fail_user("several: more than %d arguments", ARGUMENTS);
        argument[count++] = a;
    }
    return command_run(count, argument, MPI_COMM_WORLD);
}

int main(int count, char **arguments)
{
    /* A run starts its program again for files that others wrote. */
    if (count > 1 && strcmp(arguments[1], FOREIGN_COMMAND) == 0)
        return foreign_serve(count - 2, arguments + 2);
    if (count > 1 && strcmp(arguments[1], EARLIER_COMMAND) == 0)
        return earlier_serve(count - 2, arguments + 2);
    int rank, ranks, provided, number = 0, failed = 0;
    clock_start();
    FILE *const file = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (!file)
        return fail_user("several FILE: there is no such file");
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        const enum status status = run(line);
        number++;
        failed += status != STATUS_OK;
        if (rank == 0)
            printf("several: %d %d\n", number, (int)status);
        fflush(stdout);
    }
    free(line);
    fclose(file);
    MPI_Finalize();
    return failed || number == 0;
}
