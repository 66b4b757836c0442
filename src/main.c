/* tagflow: a lattice Boltzmann flow solver. Selects the command; starts and ends MPI. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/cores.h"
#include "base/launcher.h"
#include "base/message.h"
#include "base/plugins.h"
#include "base/signals.h"
#include "case/nearest.h"
#include "cli/cli.h"
#include "foreign/hdf5.h"
#include "run/earlier_open.h"
#include "version.h"

static const char general_help[] =
    "tagflow: a lattice Boltzmann flow solver\n"
    "\n"
    "  tagflow run   CASE.yaml [options]   run a case, with all cores; several ranks by mpirun, "
    "srun\n"
    "  tagflow launch CASE.yaml [options]  run a case with the ranks that suit this machine or "
    "job\n"
    "  tagflow check CASE.yaml [options]   validate, derive, decompose, estimate; no step taken\n"
    "  tagflow bench [options]             speed of this machine, checked and beside its ceiling\n"
    "  tagflow selftest [--print]          small flows, compared with their states on every "
    "machine\n"
    "  tagflow keys  [PREFIX]              every key of a case file\n"
    "  tagflow info  [FILE.h5]             what this program is made of and finds here, or what a\n"
    "                                      checkpoint holds and whether it is whole\n"
    "  tagflow --help, tagflow COMMAND --help, tagflow --version\n"
    "\n"
    "Exit status: 0 done, 1 the machine failed, 2 wrong usage, case or\n"
    "restart file, 3 the flow diverged, 75 stopped early with a good checkpoint: start again.\n";

static const char run_help[] =
    "tagflow run CASE.yaml [--set PATH=VALUE]... [--output DIR] [--restart auto|FILE]\n"
    "                      [--overwrite] [--backend auto|cpu|cuda] [--share-gpu]\n"
    "\n"
    "  --set PATH=VALUE  change a key of the case, e.g. --set run.steps=100 (repeat; the last "
    "wins)\n"
    "  --output DIR      the run's folder; default: the case file's name without .yaml\n"
    "  --restart auto    go on from the newest whole checkpoint in the folder; from the beginning "
    "if\n"
    "                    there is none; nothing to do if the run is done\n"
    "  --restart FILE    go on from this checkpoint\n"
    "  --overwrite       replace the run that the folder holds\n"
    "  --backend NAME    auto (default), cpu, or cuda where it is built in\n"
    "  --share-gpu       several ranks may use one GPU: for trials, it is not faster\n"
    "\n"
    "Several ranks: mpirun -n 4 tagflow run CASE.yaml, or tagflow launch CASE.yaml\n"
    "\n"
    "The folder then holds case.yaml, log.txt, status.json, report.json, fields/, images/, "
    "series/,\n"
    "checkpoints/. SIGTERM, SIGUSR1, SIGHUP, SIGXCPU and run.time_limit stop the run with a\n"
    "checkpoint and exit status 75, SIGUSR2 writes a checkpoint and goes on.\n";

static const char launch_help[] =
    "tagflow launch CASE.yaml [--ranks N] [--threads N] [--dry-run] [--set PATH=VALUE]...\n"
    "                         [--output DIR] [--restart auto|FILE] [--overwrite]\n"
    "                         [--backend auto|cpu|cuda] [--share-gpu]\n"
    "\n"
    "Runs `tagflow run` on all that this machine or Slurm job has: a rank for each GPU, or a rank "
    "for\n"
    "each memory node (NUMA) of the processors, with a thread on each of its cores. In a Slurm "
    "job\n"
    "there are as many ranks as it has tasks. The command line is printed first.\n"
    "\n"
    "  --ranks N         so many ranks\n"
    "  --threads N       so many threads in each rank\n"
    "  --dry-run         print the command line and do nothing\n"
    "\n"
    "All other options go to `tagflow run`. Ctrl-C and SIGTERM end the run with a checkpoint and\n"
    "exit status 75; a second Ctrl-C ends it at once.\n";

static const char check_help[] =
    "tagflow check CASE.yaml [--set PATH=VALUE]... [--ranks N] [--machine FILE] [--json FILE]\n"
    "\n"
    "Reads the case as `run` would and says what follows from it: grid, relaxation time, Mach and\n"
    "Reynolds numbers, how N ranks would share it, memory, output, time, and what looks wrong.\n"
    "\n"
    "  --set PATH=VALUE  change a key of the case (repeat; the last wins)\n"
    "  --ranks N         the ranks of the run, up to 16777216; none are started\n"
    "  --machine FILE    predict the time of a step on this machine: bandwidths, latencies, "
    "memory,\n"
    "                    file system (docs/scaling.md has the keys)\n"
    "  --json FILE       write cut, messages, memory and prediction for programs\n";

static const char bench_help[] =
    "tagflow bench [--cells N|NX,NY,NZ]... [--case LIST] [--collision LIST] [--storage LIST]\n"
    "              [--arithmetic LIST] [--porosity P] [--radius R] [--steps N | --seconds S]\n"
    "              [--repeat N] [--threads N] [--backend auto|cpu|cuda] [--share-gpu]\n"
    "              [--set PATH=VALUE]... [--json FILE]\n"
    "\n"
    "Measures how many cells are updated a second. Each combination of what the lists name is a "
    "row;\n"
    "its steps are compared with plain ones, bit for bit, and a row that is not right has no "
    "rate.\n"
    "\n"
    "  --cells N         a cube of N cells along each axis, or NX,NY,NZ; repeat it for several "
    "sizes;\n"
    "                    default: 128, or less where memory is short\n"
    "  --case LIST       of periodic, refined, cavity, heat, channel, slip, inlet, sphere,\n"
    "                    curved, tunnel, rock, or all; default: periodic,cavity\n"
    "  --collision LIST  of the operators of `tagflow keys solver.collision`, or all; default: "
    "bgk\n"
    "  --storage LIST    precisions in which populations are stored, or all; default: all\n"
    "  --arithmetic LIST precisions of the arithmetic, or all; default: what goes with the "
    "storage\n"
    "  --porosity P      of the rock: fluid cells / all cells, 0.05 to 0.95; default: 0.4\n"
    "  --radius R        of the rock's spheres, in cells, from 1 to half the least width;\n"
    "                    default: a tenth of it, at least 2, more where it takes 1000 spheres\n"
    "  --steps N         steps of a repeat\n"
    "  --seconds S       seconds of a repeat; default: 1\n"
    "  --repeat N        repeats; default: 5\n"
    "  --threads N       threads of each rank; default: the cores shared among a host's ranks\n"
    "  --backend NAME    auto (default), cpu, or cuda where it is built in\n"
    "  --share-gpu       several ranks may use one GPU: for trials, it is not faster\n"
    "  --set PATH=VALUE  change a key of all cases, e.g. --set run.sparse=always\n"
    "  --json FILE       write what was measured, with all that it takes to repeat it\n"
    "\n"
    "Several ranks: mpirun -n 4 tagflow bench. Exit status 1: a row is not right.\n";

static const char selftest_help[] =
    "tagflow selftest [--print]\n"
    "\n"
    "Runs a dozen small flows on 1 to 3 ranks, with a restart, on each backend of this machine, "
    "and\n"
    "compares their states with those that the program knows: they are the same on every machine.\n"
    "Takes less than a minute. Exit status 1: a flow is wrong.\n"
    "\n"
    "  --print           print the states, for who changes the physics\n";

static const char keys_help[] =
    "tagflow keys [PREFIX]\n"
    "\n"
    "Every key of a case file: type, unit, default, range, meaning; with PREFIX only\n"
    "those below it, e.g. tagflow keys output.fields\n";

static const char info_help[] = "tagflow info [FILE.h5]\n"
                                "\n"
                                "Version, commit, compiler, MPI, HDF5, backends and cores; or what "
                                "a checkpoint holds, after every\n"
                                "byte of it was verified (exit status 2 if it is damaged).\n";

static const struct command {
    const char *name, *help;
    enum status (*with_mpi)(int, char **, MPI_Comm);
    enum status (*alone)(int, char **);
} commands[] = {
    {"run", run_help, command_run, NULL},
    {"launch", launch_help, NULL, command_launch},
    {"check", check_help, command_check, NULL},
    {"bench", bench_help, command_bench, NULL},
    {"keys", keys_help, NULL, command_keys},
    {"info", info_help, command_info, NULL},
    {"selftest", selftest_help, NULL, command_selftest},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

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

static enum status dispatch(const struct command *command, int count, char **arguments)
{
    for (int i = 0; i < count; i++)
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0) {
            fputs(command->help, stdout);
            return STATUS_OK;
        }
    if (command->alone)
        return command->alone(count, arguments);

    int rank, ranks, provided;
    launcher_find();
    enum status status = launcher_check_before();
    if (status)
        return status;
    /* MPI asks hwloc, whose GL plugin asks X servers for GPUs: if one goes meanwhile, the plugin
     * ends the program. */
    setenv("HWLOC_COMPONENTS", "-opencl,-gl", 0);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    plugins_keep();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    status = launcher_check(ranks);
    if (status) {
        finalize(status);
        return status;
    }
    message_set_rank(rank, ranks);
    if (provided < MPI_THREAD_FUNNELED && rank == 0)
        status = fail_machine("this MPI does not allow threads (MPI_THREAD_FUNNELED): it was built "
                              "without them, or a setting forbids them");
    status = status_agree(MPI_COMM_WORLD, status);
    if (!status)
        status = command->with_mpi(count, arguments, MPI_COMM_WORLD);
    finalize(status);
    return status;
}

/* A command's result goes to stdout: a failed write is an error, unless the reader has closed it.
 * Not for `run`, which has its log as well. */
static enum status written(enum status status)
{
    if ((fflush(stdout) || ferror(stdout)) && status == STATUS_OK && !message_unread(STDOUT_FILENO))
        return fail_machine("cannot write to standard output");
    return status;
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], FOREIGN_COMMAND) == 0)
        return foreign_serve(count - 2, arguments + 2);
    if (count > 1 && strcmp(arguments[1], EARLIER_COMMAND) == 0)
        return earlier_serve(count - 2, arguments + 2);
    clock_start();
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is then an error like a full disk */
    signal(SIGPIPE, SIG_IGN); /* a closed stdout is no reason to end a run */
    if (count > 1 && (!strcmp(arguments[1], "run") || !strcmp(arguments[1], "bench")))
        cores_wait_briefly(arguments);
    if (count > 1 && !strcmp(arguments[1], "run"))
        signals_install();
    if (count < 2) {
        fputs(general_help, stderr);
        return STATUS_USAGE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) {
        fputs(general_help, stdout);
        return written(STATUS_OK);
    }
    if (strcmp(arguments[1], "--version") == 0) {
        printf("tagflow %s (%s)\n", TAGFLOW_VERSION, TAGFLOW_COMMIT);
        return written(STATUS_OK);
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(arguments[1], commands[i].name) == 0) {
            const enum status status = dispatch(&commands[i], count - 2, arguments + 2);
            return commands[i].with_mpi == command_run ? status : written(status);
        }

    static const char *const known[] = {"run",  "launch", "check",    "bench",
                                        "keys", "info",   "selftest", NULL};
    const char *const nearest = nearest_choice(known, arguments[1]);
    if (nearest)
        return fail_user("%s is not a command (did you mean %s?)", arguments[1], nearest);
    return fail_user(
        "%s is not a command (run, launch, check, bench, selftest, keys or info; tagflow --help)",
        arguments[1]);
}
