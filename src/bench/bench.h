/* `tagflow bench`: verified speeds of this machine, compared with the ceiling of its memory. */
#ifndef TAGFLOW_BENCH_BENCH_H
#define TAGFLOW_BENCH_BENCH_H

#include "bench/cases.h"
#include "bench/verify.h"

enum { BENCH_SIZES = 16 };

struct bench_options {
    int size_count, cells[BENCH_SIZES][3];
    /* Bit k: choice k of the key's list, or of bench_cases, is wanted; arithmetics 0: each
     * storage's own. */
    unsigned cases, storages, arithmetics, collisions;
    int steps;      /* of a repeat; 0: as many as take `seconds` */
    double seconds; /* of a repeat */
    int repeat;
    double porosity, radius; /* of the rock; 0: its default */
    int threads;             /* of a rank; 0: as many as there are cores for it */
    const struct backend_type *backend;
    bool share_gpu;
    int set_count;
    const char *const *sets; /* --set PATH=VALUE for all cases */
    const char *json;        /* file to write; NULL: none */
    const char *command;     /* command line, for the file */
};

/* Values of all repeats. */
struct spread {
    int count;
    double *all; /* in the order of the repeats */
    double median, least, most;
};

/* A row of the table. */
struct bench_row {
    struct bench_subject subject;
    bool verified;
    char why[VERIFY_WHY];  /* not verified: what is wrong */
    int verified_cells[3]; /* grid on which the steps were compared; 0: they were not, as the plain
                            * step has one level */
    int levels;
    double updates_per_step; /* of cells of all levels, in a step of level 0 */
    int64_t fluid_cells;     /* of all levels */
    int64_t steps;           /* of a repeat */
    int64_t state_step;      /* step of the state that `hash` is of */
    uint64_t hash;
    bool sparse;
    int sweep;               /* steps in one sweep over memory */
    const char *transport;   /* as grid_transport */
    double bytes_per_update; /* by the model */
    double bytes_per_cell;   /* of memory: bytes of all ranks / all cells */
    double bytes_per_fluid;  /* the same / fluid cells */
    int cuts[3];             /* blocks along each axis */
    bool keeps_mass;         /* no fluid passes its faces and surfaces, but for rounding */
    double imbalance;
    double *numbers;       /* of the spreads */
    struct spread updates; /* cells updated a second, all ranks, solid ones counted */
    struct spread fluid;   /* fluid cells alone */
    struct spread ceiling; /* updates at the machine's ceiling, measured with each repeat */
    struct spread share;   /* fluid / ceiling, repeat by repeat */
    char way[64];          /* how the ceiling was measured */
    double phases[PHASES]; /* seconds of a step, mean over ranks */
    double joules;         /* of a billion updates of fluid cells; NAN: not known */
};

/* Members that all rows share. */
struct bench_host {
    char device[128], processor[128], driver[64], mpi[256], name[256], time[64], isa[16];
    int cores, ranks, hosts, host_ranks, threads;
    double clock_least, clock_most; /* MHz, seen while measuring; 0: not known */
    double memory;                  /* bytes that were free on this rank's host */
};

struct bench {
    const struct bench_options *options;
    MPI_Comm comm;
    int rank, ranks;
    struct bench_host host;
    /* The ceiling of the last row; the next row may reuse it. */
    struct ceiling *ceiling;
    size_t ceiling_cells, ceiling_bytes;
};

/* Has this program kernels for this pair of precisions? */
bool bench_has(enum precision storage, enum precision arithmetic);

/* Measure every combination, one row after the other; the table goes to stdout. Collective; the
 * same status on all ranks. STATUS_USAGE, reported, when a case cannot be made; STATUS_MACHINE,
 * reported, when something failed, or when a row did not pass its check and so has no rate. */
enum status bench_run(const struct bench_options *o, MPI_Comm comm);

/* Measures row->subject. Collective; the same status and row on all ranks. STATUS_OK with
 * row->verified false: the steps are wrong, and the row has no rate. */
enum status bench_measure(struct bench *b, struct bench_row *row);

/* Fluid cells / all cells of a verified row. */
double bench_porosity(const struct bench_row *row);

/* "128^3" or "64x96x128". */
void bench_cells_text(const int cells[3], char *text, size_t size);

/* ---- printing and writing, on rank 0 ---- */

/* The lines about the machine and the table's head, as wide as these rows need, after the first row
 * is measured; a row; the lines after the last one. */
void table_head(const struct bench *b, const struct bench_row *rows, int count);
void table_row(const struct bench_row *rows, int count, int at);
void table_tail(const struct bench_row *rows, int count);

enum status json_write(const struct bench *b, const struct bench_row *rows, int count);

#endif
