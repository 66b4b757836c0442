/* tagflow: a lattice Boltzmann flow solver. Selects the command. */
#include <stdio.h>
#include <string.h>

#include "base/cores.h"
#include "base/message.h"
#include "base/signals.h"
#include "case/nearest.h"
#include "cli/cli.h"
#include "cli/program.h"
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
    "  tagflow keys  [PREFIX]              every key of a case file; --search WORD: keys by words\n"
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
    "              [--verbose]\n"
    "\n"
    "Reads the case as `run` would and says what follows from it: first whether it runs and what\n"
    "looks wrong, then a table of grid, steps, Mach and Reynolds numbers, memory, time and disk,\n"
    "then the same with another time step and finer cells. Takes no step.\n"
    "\n"
    "  --set PATH=VALUE  change a key of the case (repeat; the last wins)\n"
    "  --ranks N         the ranks of the run, up to 16777216; none are started\n"
    "  --machine FILE    predict the time of a step on this machine: bandwidths, latencies, "
    "memory,\n"
    "                    file system (docs/scaling.md has the keys)\n"
    "  --json FILE       write warnings, cut, messages, memory and prediction for programs\n"
    "  --verbose         then also faces, bodies, blocks, storage, each output, ...\n"
    "\n"
    "Warnings go to standard output and to standard error; if both are one terminal, file or\n"
    "pipe, to standard output alone.\n";

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
    "tagflow keys [PREFIX | --search WORD...]\n"
    "\n"
    "Every key of a case file: type, unit, default, range, meaning; with PREFIX only\n"
    "those below it, e.g. tagflow keys output.fields\n"
    "\n"
    "  --search WORD...  the keys that have to do with these words, the best first: by name, by "
    "meaning\n"
    "                    and by other words of the field, e.g. outlet, rpm, pressure drop, "
    "ParaView\n";

static const char info_help[] = "tagflow info [FILE.h5]\n"
                                "\n"
                                "Version, commit, compiler, MPI, HDF5, backends and cores; or what "
                                "a checkpoint holds, after every\n"
                                "byte of it was verified (exit status 2 if it is damaged).\n";

static const struct command commands[] = {
    {"run", run_help, command_run, NULL},
    {"launch", launch_help, NULL, command_launch},
    {"check", check_help, command_check, NULL},
    {"bench", NULL, NULL, command_bench},
    {"keys", keys_help, NULL, command_keys},
    {"info", info_help, command_info, NULL},
    {"selftest", selftest_help, NULL, command_selftest},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

int main(int count, char **arguments)
{
    program_start(count, arguments);
    if (count > 1 && !strcmp(arguments[1], "run")) {
        cores_wait_briefly(arguments);
        signals_install();
    }
    if (count < 2) {
        fputs(general_help, stderr);
        return STATUS_USAGE;
    }
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) {
        fputs(general_help, stdout);
        return program_written(STATUS_OK);
    }
    if (strcmp(arguments[1], "--version") == 0) {
        printf("tagflow %s (%s)\n", TAGFLOW_VERSION, TAGFLOW_COMMIT);
        return program_written(STATUS_OK);
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(arguments[1], commands[i].name) == 0) {
            const enum status status = program_call(&commands[i], count - 2, arguments + 2);
            if (commands[i].with_mpi == command_run)
                return status; /* it has its log as well */
            return program_written(status);
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
