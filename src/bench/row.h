/* One row of the table: a case, verified and measured. */
#ifndef TAGFLOW_BENCH_ROW_H
#define TAGFLOW_BENCH_ROW_H

#include "bench/bench.h"
#include "bench/verify.h"

/* Values of all repeats. */
struct spread {
    int count;
    double *all; /* in the order of the repeats */
    double median, least, most;
};

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
    struct spread updates; /* cells updated a second, all ranks, solid ones counted */
    struct spread fluid;   /* fluid cells alone */
    struct spread ceiling; /* updates at the machine's ceiling, measured with each repeat */
    struct spread share;   /* fluid / ceiling, repeat by repeat */
    char way[128];         /* how the ceiling was measured */
    double phases[PHASES]; /* seconds of a step, mean over ranks */
    double joules;         /* of a billion updates of fluid cells; NAN: not known */
};

/* What the rows have in common. */
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
    bool live; /* progress goes to a terminal */
    struct bench_host host;
    /* The ceiling of the last row; the next row may reuse it. */
    struct ceiling *ceiling;
    size_t ceiling_cells, ceiling_bytes;
    int ceiling_threads;
};

/* Measures row->subject. Collective; the same status and row on all ranks. STATUS_OK with
 * row->verified false: the steps are wrong, and the row has no rate. */
enum status bench_measure(struct bench *b, struct bench_row *row);
void bench_row_destroy(struct bench_row *row);

/* Fluid cells / all cells of a verified row. */
double bench_porosity(const struct bench_row *row);

/* "128^3" or "64x96x128". */
void bench_cells_text(const int cells[3], char *text, size_t size);

/* ---- printing and writing, on rank 0 ---- */

/* The lines about the machine, before the first row is measured. */
void table_host(const struct bench *b);
/* The table's head; its columns are as wide as these rows need. */
void table_head(const struct bench_row *rows, int count);
void table_row(const struct bench_row *rows, int count, int at);
/* The lines after the last row. */
void table_tail(const struct bench_row *rows, int count);

enum status json_write(const struct bench *b, const struct bench_row *rows, int count);

#endif
