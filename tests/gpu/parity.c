/* The program: options, the variants that there are, the report. See parity.h for what it does. */
#include "parity.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "base/clock.h"
#include "base/isa.h"
#include "base/message.h"
#include "version.h"

static const char help[] =
    "parity [--backend NAME]... [--precision NAME] [--seed N] [--cells NX,NY,NZ] [--one-in N]\n"
    "       [--rows lifted] [--first] [--bench [--seconds S] [--kernel NAME]] [--json FILE]\n"
    "parity --list | --help\n"
    "\n"
    "Runs every kernel of every variant of the backends beside the plain cell functions and\n"
    "compares all memory bit for bit: a line for each variant, kernel and kind of state.\n"
    "\n"
    "  --backend NAME    only this backend (repeat for several); default: all that can run here\n"
    "  --precision NAME  only this precision, for example fp32 or fp32/fp64; default: all\n"
    "  --seed N          other random blocks and states; default 1\n"
    "  --cells NX,NY,NZ  blocks of this size only; with --bench the grid, default 128,128,128 on\n"
    "                    the host, else 512,512,512 or the largest cube that fits\n"
    "  --one-in N        only one block in N, of every size and every kind of axes; variants take\n"
    "                    turns; default 1\n"
    "  --rows lifted     as run.rows of a case: kernels other than those between two levels\n"
    "  --first           end a variant at its first difference\n"
    "  --bench           after a short comparison, time each kernel\n"
    "  --seconds S       how long for each, after warming up; default 1\n"
    "  --kernel NAME     with --bench, this one alone; copy: a copy from the memory to itself;\n"
    "                    levels: those between two levels\n"
    "  --json FILE       write all results there as well\n"
    "  --list            backends, variants, kernels, states\n"
    "\n"
    "Exit status: 0 all the same, 1 something differs or the machine failed, 2 wrong usage.\n";

enum { BACKENDS_MOST = 8 };

struct options {
    const char *backend[BACKENDS_MOST];
    int backends;
    unsigned long long seed;
    int cells[3], one_in;
    bool sized, first, bench, list, lifted;
    double seconds;
    const char *precision, *json, *kernel;
};

/* ---- options ---- */

/* As in fp32, or fp32/fp64 where arithmetic differs from storage. */
static void variant_precision(const struct expectation *e, char name[16])
{
    const size_t n = (size_t)snprintf(name, 16, "fp%d", e->storage);
    if (e->arithmetic != e->storage)
        snprintf(name + n, 16 - n, "/fp%d", e->arithmetic);
}

static bool is_precision(const char *name)
{
    char other[16] = "";
    for (int k = 0; expectations[k] && strcmp(other, name) != 0; k++)
        variant_precision(expectations[k], other);
    return strcmp(other, name) == 0;
}

static bool read_cells(const char *text, int cells[3])
{
    for (int a = 0; a < 3; a++) {
        char *end;
        errno = 0;
        const long n = strtol(text, &end, 10);
        if (end == text || errno || n < 1 || n > INT_MAX / 2 || *end != (a < 2 ? ',' : '\0'))
            return false;
        cells[a] = (int)n;
        text = end + 1;
    }
    return true;
}

static bool read_one_in(const char *text, int *one_in)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (end == text || *end != '\0' || n < 1 || n > 8)
        return false;
    *one_in = (int)n;
    return true;
}

static bool read_seed(const char *text, unsigned long long *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 10);
    return end != text && *end == '\0' && !errno && text[0] != '-';
}

static bool read_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds > 0 && *seconds < 1e6;
}

static enum status read_option(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "--backend") == 0) {
        if (o->backends == BACKENDS_MOST)
            return fail_user("--backend %s: at most %d of them", value, BACKENDS_MOST);
        o->backend[o->backends++] = value;
    } else if (strcmp(name, "--precision") == 0) {
        if (!is_precision(value))
            return fail_user("--precision %s: no such precision (parity --list)", value);
        o->precision = value;
    } else if (strcmp(name, "--seed") == 0) {
        if (!read_seed(value, &o->seed))
            return fail_user("--seed %s: not a number from 0 to 2^64 - 1", value);
    } else if (strcmp(name, "--cells") == 0) {
        if (!read_cells(value, o->cells))
            return fail_user("--cells %s: not three numbers of cells, as in 64,32,16", value);
        o->sized = true;
    } else if (strcmp(name, "--one-in") == 0) {
        if (!read_one_in(value, &o->one_in))
            return fail_user("--one-in %s: not a number from 1 to 8", value);
    } else if (strcmp(name, "--seconds") == 0) {
        if (!read_seconds(value, &o->seconds))
            return fail_user("--seconds %s: not a number of seconds", value);
    } else if (strcmp(name, "--kernel") == 0) {
        bool known = strcmp(value, "copy") == 0 || strcmp(value, "levels") == 0;
        for (int kernel = 0; kernel < KERNELS; kernel++)
            known = known || strcmp(value, kernel_tests[kernel].name) == 0;
        if (!known)
            return fail_user("--kernel %s: no such kernel (parity --list)", value);
        o->kernel = value;
    } else if (strcmp(name, "--rows") == 0) {
        o->lifted = strcmp(value, "lifted") == 0;
        if (!o->lifted && strcmp(value, "plain") != 0)
            return fail_user("--rows %s: plain or lifted", value);
    } else {
        o->json = value;
    }
    return STATUS_OK;
}

static enum status read_options(struct options *o, int count, char **arguments)
{
    static const char *const valued[] = {"--backend", "--precision", "--seed",
                                         "--cells",   "--one-in",    "--seconds",
                                         "--kernel",  "--json",      "--rows"};
    *o = (struct options){.seed = 1, .seconds = 1, .one_in = 1};
    for (int k = 1; k < count; k++) {
        const char *const name = arguments[k];
        bool takes = false;
        for (size_t i = 0; i < sizeof valued / sizeof *valued; i++)
            takes = takes || strcmp(name, valued[i]) == 0;
        if (strcmp(name, "--bench") == 0)
            o->bench = true;
        else if (strcmp(name, "--first") == 0)
            o->first = true;
        else if (strcmp(name, "--list") == 0)
            o->list = true;
        else if (!takes)
            return fail_user("%s is not an option (parity --help)", name);
        else if (k + 1 == count)
            return fail_user("%s needs a value (parity --help)", name);
        else if (read_option(o, name, arguments[++k]))
            return STATUS_USAGE;
    }
    if (o->kernel && !o->bench)
        return fail_user("--kernel is for --bench");
    return STATUS_OK;
}

/* ---- variants ---- */

/* One line per precision, made by Meson from its list. */
#define X(storage, arithmetic) extern const struct expectation expectation_##storage##_##arithmetic;
PARITY_PRECISIONS
#undef X

const struct expectation *const expectations[] = {
#define X(storage, arithmetic) &expectation_##storage##_##arithmetic,
    PARITY_PRECISIONS
#undef X
        NULL,
};

/* Instruction sets are the CPU's affair: others have one variant a precision. False: no more. */
static bool variant_at(const struct backend_type *type, int number, struct variant *v)
{
    const int each = type == &backend_cpu ? ISAS - ISA_FIRST : 1;
    *v = (struct variant){.type = type, .expect = expectations[number / each], .isa = ISA_auto};
    if (!v->expect)
        return false;
    size_t n = (size_t)snprintf(v->name, sizeof v->name, "%s", type->name);
    if (each > 1) {
        v->isa = (enum isa)(ISA_FIRST + number % each);
        n += (size_t)snprintf(v->name + n, sizeof v->name - n, " %s", isa_title(v->isa));
    }
    char name[16];
    variant_precision(v->expect, name);
    snprintf(v->name + n, sizeof v->name - n, " %s", name);
    return true;
}

static bool variant_runs(const struct variant *v)
{
    return v->isa == ISA_auto || isa_runs(v->isa);
}

static enum precision precision(int bits)
{
    return bits == 64 ? PRECISION_fp64 : bits == 32 ? PRECISION_fp32 : PRECISION_fp16;
}

enum status variant_open(struct backend **b, const struct variant *v, int threads)
{
    const struct backend_wanted wanted = {.storage = precision(v->expect->storage),
                                          .arithmetic = precision(v->expect->arithmetic),
                                          .isa = v->isa,
                                          .threads = threads,
                                          .lifted_rows = v->lifted,
                                          .comm = MPI_COMM_SELF,
                                          .share = true};
    return v->type->open(b, &wanted);
}

/* ---- what is done ---- */

struct results {
    json_t *checks, *bench;
    int variants, failed;
};

/* Blocks that are left out in one variant are tried in others: of the same precision with another
 * instruction set, and of the same instruction set in another precision. */
static enum status run_variant(const struct variant *v, int number, const struct options *o,
                               struct results *r)
{
    const struct check check = {.seed = o->seed,
                                .cells = o->sized && !o->bench ? o->cells : NULL,
                                .one_in = o->one_in,
                                .number = number + number / ISAS,
                                .quick = o->bench,
                                .first = o->first,
                                .report = r->checks};
    const int before = r->failed;
    const bool copy = o->bench && o->kernel && strcmp(o->kernel, "copy") == 0; /* no kernel */
    enum status status = copy ? STATUS_OK : check_variant(v, &check, &r->failed);
    if (o->bench && r->failed == before) {
        const struct bench bench = {.cells = o->sized ? o->cells : NULL,
                                    .seconds = o->seconds,
                                    .only = o->kernel,
                                    .report = r->bench};
        status = bench_variant(v, &bench);
    }
    return status;
}

static enum status run_backend(const struct backend_type *type, const struct options *o,
                               struct results *r)
{
    enum status status = STATUS_OK;
    struct variant v;
    for (int k = 0; variant_at(type, k, &v); k++) {
        char name[16];
        variant_precision(v.expect, name);
        if ((o->precision && strcmp(o->precision, name) != 0) ||
            (v.isa != ISA_auto && !isa_built(v.isa)))
            continue;
        if (!variant_runs(&v)) {
            printf("skip  %-24s this processor lacks the instruction set\n", v.name);
            continue;
        }
        r->variants++;
        v.lifted = o->lifted;
        const enum status one = run_variant(&v, k, o, r);
        status = status ? status : one;
    }
    return status;
}

/* Backends that were asked for have to run; else those that can. */
static enum status run(const struct options *o, struct results *r)
{
    enum status status = STATUS_OK;
    for (int k = 0; k < o->backends; k++) {
        const struct backend_type *type;
        char reason[256];
        enum status one = backend_choose(o->backend[k], MPI_COMM_SELF, &type, reason);
        if (!one)
            one = run_backend(type, o, r);
        status = status ? status : one;
    }
    for (const struct backend_type *const *b = backends; *b && o->backends == 0; b++) {
        char reason[256] = "";
        if (!(*b)->present(MPI_COMM_SELF, reason)) {
            printf("skip  %-24s %s\n", (*b)->name, reason);
            continue;
        }
        const enum status one = run_backend(*b, o, r);
        status = status ? status : one;
    }
    if (!status && r->variants == 0)
        status = fail_machine("nothing of this program runs here");
    return status;
}

static void list(void)
{
    for (const struct backend_type *const *b = backends; *b; b++) {
        char line[512];
        struct variant v;
        (*b)->describe(line);
        printf("backend  %s\n", line);
        for (int k = 0; variant_at(*b, k, &v); k++)
            printf("variant  %s%s\n", v.name, variant_runs(&v) ? "" : " (not on this processor)");
    }
    for (int kernel = 0; kernel < KERNELS; kernel++)
        printf("kernel   %s\n", kernel_tests[kernel].name);
    for (int k = 0; k < MIXTURES; k++)
        printf("rows     %s\n", mixture_name(mixture(k)));
    for (int state = 0; state < STATES; state++)
        printf("state    %s\n", state_names[state]);
}

static enum status write_report(const struct options *o, const struct results *r)
{
    json_t *const report =
        json_pack("{ss ss ss sI sb sO sO}", "program", "parity", "version", TAGFLOW_VERSION,
                  "commit", TAGFLOW_COMMIT, "seed", (json_int_t)o->seed, "same", r->failed == 0,
                  "checks", r->checks, "bench", r->bench);
    const int failed = !report || json_dump_file(report, o->json, JSON_INDENT(1));
    json_decref(report);
    return failed ? fail_machine("cannot write %s: %s", o->json, strerror(errno)) : STATUS_OK;
}

static enum status compare_and_report(const struct options *o)
{
    struct results r = {.checks = json_array(), .bench = json_array()};
    enum status status = run(o, &r);
    if (r.failed)
        printf("%d line%s FAIL\n", r.failed, r.failed == 1 ? "" : "s");
    if (o->json) {
        const enum status written = write_report(o, &r);
        status = status ? status : written;
    }
    json_decref(r.checks);
    json_decref(r.bench);
    if (fflush(stdout) || ferror(stdout))
        status = fail_machine("cannot write to standard output");
    return status ? status : r.failed ? STATUS_MACHINE : STATUS_OK;
}

int main(int count, char **arguments)
{
    struct options o;
    clock_start();
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was compared is known if a time limit ends it */
    for (int k = 1; k < count; k++)
        if (strcmp(arguments[k], "--help") == 0) {
            fputs(help, stdout);
            return STATUS_OK;
        }
    enum status status = read_options(&o, count, arguments);
    if (status)
        return status;
    MPI_Init(NULL, NULL);
    message_set_rank(0, 1);
    if (o.list)
        list();
    else
        status = compare_and_report(&o);
    MPI_Finalize();
    return status;
}
