/* tagflow-bench, which `tagflow bench` starts: reads the options and runs the benchmark. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"
#include "base/message.h"
#include "bench/bench.h"
#include "case/keys.h"
#include "case/nearest.h"
#include "cli/cli.h"
#include "cli/program.h"

static const char help[] =
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
    "                    default: 128\n"
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

/* An option with a value; a whole number is an int, a LIST an unsigned with a bit for each choice.
 */
struct option {
    const char *name;
    enum { BACKEND, CELLS, FILE_NAME, LIST, REAL, WHOLE } type;
    void *at;
    const char *const *choices;
    double least, most;
    const char *unit; /* " of seconds" */
};

/* Sets the bits of the names in a comma-separated list; "all" sets all bits. */
static enum status read_list(const struct option *p, const char *value)
{
    char known[512];
    unsigned *const bits = p->at;
    choice_text(p->choices, known, sizeof known);
    *bits = 0;
    for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        const int k = choice_index(p->choices, name);
        const char *const nearest = nearest_choice(p->choices, name);
        if (k >= 0)
            *bits |= 1u << k;
        else if (strcmp(name, "all") == 0)
            for (int all = 0; p->choices[all]; all++)
                *bits |= 1u << all;
        else if (nearest)
            return fail_user("%s %s: %s is not known (did you mean %s?)", p->name, value, name,
                             nearest);
        else
            return fail_user("%s %s: %s is not known (%s, or all)", p->name, value,
                             *name ? name : "an empty name", known);
    }
    return STATUS_OK;
}

/* Reads a whole number from 1 to `most` at *text, and moves *text past it. */
static bool whole(const char **text, double most, int *number)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9')
        return false;
    const long long n = strtoll(*text, &end, 10);
    *text = end;
    *number = (int)n;
    return errno == 0 && n >= 1 && (double)n <= most;
}

/* N, NX,NY,NZ or NXxNYxNZ */
static enum status read_cells(const char *value, struct bench_options *o)
{
    const char *at = value;
    int n[3];
    bool good = whole(&at, 2147483647, &n[0]);
    const char between = *at;
    n[1] = n[2] = n[0];
    for (int a = 1; a < 3 && good && between; a++)
        good = (between == ',' || between == 'x') && *at == between && at++ &&
               whole(&at, 2147483647, &n[a]);
    if (!good || *at)
        return fail_user("--cells %s: not a number of cells (N, or NX,NY,NZ; repeat the option for "
                         "several sizes)",
                         value);
    if (o->size_count == BENCH_SIZES)
        return fail_user("more than %d --cells", BENCH_SIZES);
    memcpy(o->cells[o->size_count++], n, sizeof n);
    return STATUS_OK;
}

static enum status read_option(const struct option *p, const char *value, struct bench_options *o)
{
    const char *end = value;
    char *rest;
    if (p->type == CELLS)
        return read_cells(value, o);
    if (p->type == LIST)
        return read_list(p, value);
    if (p->type == WHOLE) {
        if (!whole(&end, p->most, p->at) || *end)
            return fail_user("%s %s: not a whole number from 1 to %.0f", p->name, value, p->most);
    } else if (p->type == REAL) {
        double *const number = p->at;
        *number = strtod(value, &rest);
        if (rest == value || *rest || !(*number >= p->least && *number <= p->most))
            return fail_user("%s %s: not a number%s from %g to %g", p->name, value, p->unit,
                             p->least, p->most);
    } else if (p->type == FILE_NAME && !*value) {
        return fail_user("%s needs the name of a file", p->name);
    } else if (p->type == BACKEND && strcmp(value, "auto") != 0 && strcmp(value, "cpu") != 0 &&
               strcmp(value, "cuda") != 0) {
        return fail_user("%s %s: not a backend (auto, cpu or cuda)", p->name, value);
    } else {
        *(const char **)p->at = value;
    }
    return STATUS_OK;
}

static enum status read_options(struct arguments *a, struct bench_options *o,
                                struct case_arguments *sets, const char **backend)
{
    const struct option options[] = {
        {"--cells", CELLS, NULL, NULL, 0, 0, ""},
        {"--case", LIST, &o->cases, bench_cases, 0, 0, ""},
        {"--storage", LIST, &o->storages, key_storages, 0, 0, ""},
        {"--arithmetic", LIST, &o->arithmetics, key_precisions, 0, 0, ""},
        {"--collision", LIST, &o->collisions, key_collisions, 0, 0, ""},
        {"--porosity", REAL, &o->porosity, NULL, 0.05, 0.95, ""},
        {"--radius", REAL, &o->radius, NULL, 1, 10000, " of cells"},
        {"--steps", WHOLE, &o->steps, NULL, 1, 1e9, ""},
        {"--seconds", REAL, &o->seconds, NULL, 0.001, 3600, " of seconds"},
        {"--repeat", WHOLE, &o->repeat, NULL, 1, 1000, ""},
        {"--threads", WHOLE, &o->threads, NULL, 1, 1024, ""},
        {"--json", FILE_NAME, &o->json, NULL, 0, 0, ""},
        {"--backend", BACKEND, backend, NULL, 0, 0, ""},
    };
    enum { OPTIONS = sizeof options / sizeof *options };
    const char *known[OPTIONS + 3] = {"--set", "--share-gpu"};
    for (int k = 0; k < OPTIONS; k++)
        known[2 + k] = options[k].name;
    while (a->next < a->count) {
        const char *value = NULL;
        int k = 0;
        if (cli_set(a, sets)) {
            if (sets->set_count > CLI_MAX_SETS)
                return STATUS_USAGE;
            continue;
        }
        if (cli_flag(a, "--share-gpu")) {
            o->share_gpu = true;
            continue;
        }
        while (k < OPTIONS && !cli_value(a, options[k].name, &value))
            k++;
        if (k == OPTIONS)
            return cli_unknown(a, "bench", known);
        if (!value || read_option(&options[k], value, o))
            return STATUS_USAGE;
    }
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
        const bool quoted =
            !*argument || argument[strcspn(argument, " \t\n'\"\\$`*?[]{}()<>|&;#~!")];
        fputs(quoted ? " '" : " ", to);
        for (const char *c = argument; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, to);
        fputs(quoted ? "'" : "", to);
    }
    const bool good = !ferror(to);
    if (fclose(to) || !good) {
        free(text);
        return NULL;
    }
    return text;
}

static enum status bench(int count, char **arguments, MPI_Comm comm)
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
    if (!o.size_count)
        read_cells("128", &o);
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

int main(int count, char **arguments)
{
    static const struct command command = {"bench", help, bench, NULL};
    program_start(count, arguments);
    cores_wait_briefly(arguments);
    return program_written(program_call(&command, count - 1, arguments + 1));
}
