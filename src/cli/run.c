/* tagflow run: reads the case and runs it, by the functions of the library. */
#include <string.h>

#include "base/message.h"
#include "base/signals.h"
#include "base/watchdog.h"
#include "cli/cli.h"
#include "lib/tagflow.h"

static enum status run(const struct tagflow_options *options)
{
    struct tagflow_run *run;
    int status = tagflow_open(options, &run);
    if (status)
        return (enum status)status;
    tagflow_step(run, INT64_MAX);
    status = tagflow_close(run);
    watchdog_wake(); /* MPI_Finalize() may wait for a lost rank */
    return (enum status)status;
}

enum status command_run(int count, char **arguments, MPI_Comm comm)
{
    static const char *const known[] = {"--set",     "--output",    "--restart", "--overwrite",
                                        "--backend", "--share-gpu", NULL};
    struct arguments a = {.count = count, .argument = arguments};
    struct case_arguments files = {0};
    struct tagflow_options options = TAGFLOW_OPTIONS;

    while (a.next < a.count) {
        if (cli_set(&a, &files)) {
            if (files.set_count > CLI_MAX_SETS)
                return STATUS_USAGE;
        } else if (cli_value(&a, "--output", &options.folder)) {
            if (!options.folder)
                return STATUS_USAGE;
            if (!*options.folder)
                return fail_user("--output needs the name of a folder");
        } else if (cli_value(&a, "--restart", &options.restart)) {
            if (!options.restart)
                return STATUS_USAGE;
            if (!*options.restart)
                return fail_user("--restart needs auto or the name of a checkpoint");
        } else if (cli_flag(&a, "--overwrite")) {
            options.overwrite = 1;
        } else if (cli_value(&a, "--backend", &options.backend)) {
            if (!options.backend)
                return STATUS_USAGE;
            if (strcmp(options.backend, "auto") != 0 && strcmp(options.backend, "cpu") != 0 &&
                strcmp(options.backend, "cuda") != 0)
                return fail_user("--backend %s: not a backend (auto, cpu or cuda)",
                                 options.backend);
        } else if (cli_flag(&a, "--share-gpu")) {
            options.share_gpu = 1;
        } else if (a.argument[a.next][0] == '-' || files.path) {
            return cli_unknown(&a, "run", known);
        } else {
            files.path = a.argument[a.next++];
        }
    }
    if (!files.path)
        return fail_user("tagflow run: which case? (tagflow run CASE.yaml)");

    if (options.restart && options.overwrite)
        return fail_user("--restart goes on with a run and --overwrite replaces it: give one of "
                         "them");

    signals_install();
    char name[CASE_NAME];
    case_name_of(name, files.path);
    options.file = files.path;
    options.set_count = files.set_count;
    options.sets = files.sets;
    options.folder = options.folder ? options.folder : name;
    options.comm = &comm;
    options.echo = 1;
    return run(&options);
}
