/* status.json, replaced as the run goes on, and report.json, written at its end. */
#ifndef TAGFLOW_REPORT_H
#define TAGFLOW_REPORT_H

#include "solver/solver.h"

#define RUN_STATE_LIST(X) X(starting) X(running) X(done) X(stopped) X(diverged) X(failed)
enum run_state {
#define X(name) RUN_##name,
    RUN_STATE_LIST(X)
#undef X
};
const char *run_state_name(enum run_state state);

/* How far a run is and how fast it goes. */
struct progress {
    enum run_state state;
    int64_t step;          /* reached */
    int64_t steps_done;    /* by this job */
    double seconds;        /* this job's steps took, without set-up and output */
    double updates_now;    /* cells updated a second lately; 0: not known yet */
    int64_t checkpoint;    /* step of the newest; -1: there is none */
    double phases[PHASES]; /* seconds of each on this rank, in so many steps, one a batch */
    int64_t phases_steps;
    double permeability; /* as run.stop saw it last, cells^2; 0: it was not asked for */
    double remaining;    /* part of it that it may still change; NaN: not known */
};

/* Bytes a lattice update moves: each population read and written once, and the tag. */
double report_bytes_per_update(const struct backend *b);

/* Both on rank 0 only; failures reported. hash: 16 digits, or NULL when there is none. */
enum status report_status(const char *dir, const struct flow_case *c, const struct progress *p);
enum status report_write(const char *dir, const struct flow_case *c, const struct domain *d,
                         const struct backend *b, const struct progress *p, const char *hash);

#endif
