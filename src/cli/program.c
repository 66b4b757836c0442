/* How a program starts and ends; see program.h. */
#include "cli/program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/start.h"
#include "foreign/hdf5.h"
#include "run/earlier_open.h"

void program_start(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], FOREIGN_COMMAND) == 0)
        exit(foreign_serve(count - 2, arguments + 2));
    if (count > 1 && strcmp(arguments[1], EARLIER_COMMAND) == 0)
        exit(earlier_serve(count - 2, arguments + 2));
    clock_start();
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is then an error like a full disk */
    signal(SIGPIPE, SIG_IGN); /* a closed stdout is no reason to end a run */
}

/* Ends MPI. In MPI_Finalize of Open MPI 4 a thread may wait for ever for a lock that is freed
 * already. It is rare, and was seen on busy machines. All work is done then: after a while the
 * process ends without it. */
enum { FINALIZE_SECONDS = 60 };
static volatile sig_atomic_t last_status;

static void leave(int number)
{
    (void)number;
    _exit(last_status);
}

static void finalize(enum status status)
{
    last_status = (sig_atomic_t)status;
    fflush(NULL);
    signal(SIGALRM, leave);
    alarm(FINALIZE_SECONDS);
    MPI_Finalize();
    alarm(0);
}

enum status program_call(const struct command *command, int count, char **arguments)
{
    for (int i = 0; i < count && command->help; i++)
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0) {
            fputs(command->help, stdout);
            return STATUS_OK;
        }
    if (command->alone)
        return command->alone(count, arguments);

    bool ours;
    enum status status = start_mpi(&ours, MPI_COMM_WORLD);
    if (!status)
        status = command->with_mpi(count, arguments, MPI_COMM_WORLD);
    if (ours)
        finalize(status);
    return status;
}

enum status program_written(enum status status)
{
    if ((fflush(stdout) || ferror(stdout)) && status == STATUS_OK && !message_unread(STDOUT_FILENO))
        return fail_machine("cannot write to standard output");
    return status;
}
