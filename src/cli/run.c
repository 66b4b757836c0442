/* tagflow run: reads the case and runs it. */
#include "run/run.h"

#include <string.h>

#include "base/message.h"
#include "base/signals.h"
#include "cli/cli.h"

enum status command_run(int count, char **arguments, MPI_Comm comm)
{
    static const char *const known[] = {"--set",     "--output",    "--restart", "--overwrite",
                                        "--backend", "--share-gpu", NULL};
    struct arguments a = {.count = count, .argument = arguments};
    struct case_arguments files = {0};
    struct run_options options = {0};
    const char *backend = "auto";

    while (a.next < a.count) {
        if (cli_set(&a, &files)) {
            if (files.set_count > CLI_MAX_SETS)
                return STATUS_USAGE;
        } else if (cli_value(&a, "--output", &options.dir)) {
            if (!options.dir)
                return STATUS_USAGE;
            if (!*options.dir)
                return fail_user("--output needs the name of a folder");
        } else if (cli_value(&a, "--restart", &options.restart)) {
            if (!options.restart)
                return STATUS_USAGE;
            if (!*options.restart)
                return fail_user("--restart needs auto or the name of a checkpoint");
        } else if (cli_flag(&a, "--overwrite")) {
            options.overwrite = true;
        } else if (cli_value(&a, "--backend", &backend)) {
            if (!backend)
                return STATUS_USAGE;
            if (strcmp(backend, "auto") != 0 && strcmp(backend, "cpu") != 0 &&
                strcmp(backend, "cuda") != 0)
                return fail_user("--backend %s: not a backend (auto, cpu or cuda)", backend);
        } else if (cli_flag(&a, "--share-gpu")) {
            options.share_gpu = true;
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
    struct flow_case c;
    files.goes_on = options.restart;
    files.folder = options.dir;
    enum status status = cli_read_case(&files, comm, &c);
    if (status)
        return status;
    if (!options.dir)
        options.dir = c.name;
    options.case_path = files.path;
    status = backend_choose(backend, comm, &options.backend, options.backend_reason);
    if (!status) {
        threads_choose(&c, comm, &options.threads);
        status = run_case(&c, &options, comm);
    }
    case_destroy(&c);
    return status;
}
