/* tagflow bench: reads the options and runs the benchmark. */
#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/keys.h"
#include "case/nearest.h"
#include "cli/cli.h"

/* Sets bit k of *bits for each name choices[k] in a comma-separated list; "all" sets all bits. */
static enum status read_list(const char *option, const char *value, const char *const *choices,
                             unsigned *bits)
{
    char known[512];
    choice_text(choices, known, sizeof known);
    *bits = 0;
    for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        const int k = choice_index(choices, name);
        if (k >= 0) {
            *bits |= 1u << k;
        } else if (strcmp(name, "all") == 0) {
            for (int all = 0; choices[all]; all++)
                *bits |= 1u << all;
        } else {
            const char *const nearest = nearest_choice(choices, name);
            if (nearest)
                return fail_user("%s %s: %s is not known (did you mean %s?)", option, value, name,
                                 nearest);
            return fail_user("%s %s: %s is not known (%s, or all)", option, value,
                             *name ? name : "an empty name", known);
        }
    }
    return STATUS_OK;
}

/* Reads a whole number from 1 to `most` at *text, and moves *text past it. */
static bool whole(const char **text, long long most, long long *number)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0 && *number >= 1 && *number <= most;
}

static enum status read_number(const char *option, const char *value, long long most,
                               long long *number)
{
    const char *end = value;
    if (whole(&end, most, number) && *end == '\0')
        return STATUS_OK;
    return fail_user("%s %s: not a whole number from 1 to %lld", option, value, most);
}

/* N, NX,NY,NZ or NXxNYxNZ */
static enum status read_cells(const char *value, struct bench_options *o)
{
    const char *at = value;
    long long n[3];
    bool good = whole(&at, 2147483647, &n[0]);
    const char between = *at;
    n[1] = n[2] = n[0];
    if (good && between)
        for (int a = 1; a < 3 && good; a++)
            good = (between == ',' || between == 'x') && *at == between && at++ &&
                   whole(&at, 2147483647, &n[a]);
    if (!good || *at)
        return fail_user("--cells %s: not a number of cells (N, or NX,NY,NZ; repeat the option for "
                         "several sizes)",
                         value);
    if (o->size_count == BENCH_SIZES)
        return fail_user("more than %d --cells", BENCH_SIZES);
    for (int a = 0; a < 3; a++)
        o->cells[o->size_count][a] = (int)n[a];
    o->size_count++;
    return STATUS_OK;
}

/* what: " of seconds", " of cells" */
static enum status read_real(const char *option, const char *value, const char *what, double least,
                             double most, double *number)
{
    char *end;
    *number = strtod(value, &end);
    if (end == value || *end || !(*number >= least && *number <= most))
        return fail_user("%s %s: not a number%s from %g to %g", option, value, what, least, most);
    return STATUS_OK;
}

/* The command line, quoted for a shell, allocated; NULL: out of memory. */
static char *command_text(int count, char **arguments)
{
    char *text = NULL;
    size_t length;
    FILE *const to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    fputs("tagflow bench", to);
    for (int k = 0; k < count; k++) {
        const char *const argument = arguments[k];
        const bool plain =
            *argument && !argument[strcspn(argument, " \t\n'\"\\$`*?[]{}()<>|&;#~!")];
        if (plain) {
            fprintf(to, " %s", argument);
            continue;
        }
        fputs(" '", to);
        for (const char *c = argument; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, to);
        fputc('\'', to);
    }
    const bool good = !ferror(to);
    if (fclose(to) || !good) {
        free(text);
        return NULL;
    }
    return text;
}

/* Reads --porosity or --radius. *known: it was one of them. */
static enum status read_rock(struct arguments *a, struct bench_options *o, bool *known)
{
    const char *value;
    if (cli_value(a, "--porosity", &value))
        return value ? read_real("--porosity", value, "", BENCH_POROSITY_LEAST, BENCH_POROSITY_MOST,
                                 &o->porosity)
                     : STATUS_USAGE;
    if (cli_value(a, "--radius", &value))
        return value ? read_real("--radius", value, " of cells", BENCH_RADIUS_LEAST,
                                 BENCH_RADIUS_MOST, &o->radius)
                     : STATUS_USAGE;
    *known = false;
    return STATUS_OK;
}

/* Reads any option except --set, --backend and --share-gpu. *known: there was one. */
static enum status read_option(struct arguments *a, struct bench_options *o, bool *known)
{
    const char *value;
    long long number = 0;
    enum status status = STATUS_OK;
    *known = true;
    if (cli_value(a, "--cells", &value)) {
        status = value ? read_cells(value, o) : STATUS_USAGE;
    } else if (cli_value(a, "--case", &value)) {
        status = value ? read_list("--case", value, bench_cases, &o->cases) : STATUS_USAGE;
    } else if (cli_value(a, "--storage", &value)) {
        status = value ? read_list("--storage", value, key_storages, &o->storages) : STATUS_USAGE;
    } else if (cli_value(a, "--arithmetic", &value)) {
        status = value ? read_list("--arithmetic", value, key_precisions, &o->arithmetics)
                       : STATUS_USAGE;
    } else if (cli_value(a, "--collision", &value)) {
        status =
            value ? read_list("--collision", value, key_collisions, &o->collisions) : STATUS_USAGE;
    } else if (cli_value(a, "--steps", &value)) {
        status = value ? read_number("--steps", value, 1000000000, &number) : STATUS_USAGE;
        o->steps = status ? 0 : number;
    } else if (cli_value(a, "--seconds", &value)) {
        status = value ? read_real("--seconds", value, " of seconds", 0.001, 3600, &o->seconds)
                       : STATUS_USAGE;
    } else if (cli_value(a, "--repeat", &value)) {
        status = value ? read_number("--repeat", value, BENCH_REPEATS, &number) : STATUS_USAGE;
        o->repeat = status ? 0 : (int)number;
    } else if (cli_value(a, "--threads", &value)) {
        status = value ? read_number("--threads", value, 1024, &number) : STATUS_USAGE;
        o->threads = status ? 0 : (int)number;
    } else if (cli_value(a, "--json", &o->json)) {
        if (!o->json)
            status = STATUS_USAGE;
        else if (!*o->json)
            status = fail_user("--json needs the name of a file");
    } else {
        status = read_rock(a, o, known);
    }
    return status;
}

static enum status read_options(struct arguments *a, struct bench_options *o,
                                struct case_arguments *sets, const char **backend)
{
    static const char *const options[] = {"--cells",     "--case",     "--storage", "--arithmetic",
                                          "--collision", "--porosity", "--radius",  "--steps",
                                          "--seconds",   "--repeat",   "--backend", "--threads",
                                          "--share-gpu", "--set",      "--json",    NULL};
    while (a->next < a->count) {
        bool known;
        const enum status status = read_option(a, o, &known);
        if (status)
            return status;
        if (known)
            continue;
        if (cli_set(a, sets)) {
            if (sets->set_count > CLI_MAX_SETS)
                return STATUS_USAGE;
        } else if (cli_value(a, "--backend", backend)) {
            if (!*backend)
                return STATUS_USAGE;
            if (strcmp(*backend, "auto") != 0 && strcmp(*backend, "cpu") != 0 &&
                strcmp(*backend, "cuda") != 0)
                return fail_user("--backend %s: not a backend (auto, cpu or cuda)", *backend);
        } else if (cli_flag(a, "--share-gpu")) {
            o->share_gpu = true;
        } else {
            return cli_unknown(a, "bench", options);
        }
    }
    return STATUS_OK;
}

enum status command_bench(int count, char **arguments, MPI_Comm comm)
{
    struct arguments a = {.count = count, .argument = arguments};
    struct case_arguments sets = {0};
    struct bench_options o = {.repeat = 5,
                              .cases = 1u << BENCH_CASE_periodic | 1u << BENCH_CASE_cavity,
                              .collisions = 1u << COLLISION_bgk};
    const char *backend = "auto";
    char reason[256];
    for (int k = 0; key_storages[k]; k++)
        o.storages |= 1u << k;
    enum status status = read_options(&a, &o, &sets, &backend);
    if (status)
        return status;
    if (o.steps && o.seconds > 0)
        return fail_user("--steps and --seconds both say how long a repeat is: give one of them");
    if ((o.porosity > 0 || o.radius > 0) && !(o.cases >> BENCH_CASE_rock & 1))
        return fail_user("%s is of the rock alone: give --case rock as well",
                         o.porosity > 0 ? "--porosity" : "--radius");
    if (!(o.seconds > 0)) /* default; with --steps only for the ceiling */
        o.seconds = 1;
    o.set_count = sets.set_count;
    o.sets = sets.sets;
    status = backend_choose(backend, comm, &o.backend, reason);
    if (status)
        return status;
    if (*reason)
        say("%s", reason);
    char *const command = command_text(count, arguments);
    if (!command)
        return fail_machine("out of memory");
    o.command = command;
    status = bench_run(&o, comm);
    free(command);
    return status;
}
