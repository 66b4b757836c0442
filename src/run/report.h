/* status.json, replaced during the run, and report.json, written at its end. */
#ifndef TAGFLOW_REPORT_H
#define TAGFLOW_REPORT_H

#include <jansson.h>

#include "run/lock.h"
#include "solver/grid.h"
#include "tags/pore_survey.h"

#define RUN_STATE_LIST(X) X(starting) X(running) X(done) X(stopped) X(diverged) X(failed)
enum run_state {
#define X(name) RUN_##name,
    RUN_STATE_LIST(X)
#undef X
};
const char *run_state_name(enum run_state state);

/* Progress of a run. */
struct progress {
    enum run_state state;
    int64_t step;          /* steps reached */
    int64_t steps_done;    /* by this job */
    int64_t first;         /* step from which this job goes on */
    double began;          /* clock_seconds() when it went on from there; 0: not yet */
    double seconds;        /* of this job's steps, without set-up and output */
    double updates_now;    /* rate of the last seconds, cell updates a second; 0: not known yet */
    int64_t checkpoint;    /* step of the newest checkpoint; -1: none */
    double phases[PHASES]; /* seconds of each phase on this rank, summed over phases_steps */
    int64_t phases_steps;
    int sweep;           /* most steps in one sweep over memory */
    double permeability; /* by run.stop, cells^2; 0: not asked for */
    double mean[3];      /* with it: mean velocity over all cells; NaN: not known */
    double gradient;     /* with it: driving acceleration along its axis; NaN: not known */
    double remaining;    /* estimated relative distance from its limit; NaN: not known */
    bool stop_met;       /* the run has ended by run.stop */
    double stop_change;  /* last change seen by run.stop; NaN: not known */
    const struct pore_survey *pores; /* of the tags; none: nothing was looked for */
    const char *transport;           /* as grid_transport; NULL: not known yet */
    struct exchange_bytes messages;  /* of a step */
    char hashes[SETS][17];           /* of the sets of populations, 16 digits; "": not known */
    json_t *files;                   /* tally_json(); NULL: not known */
    int exit_status;                 /* once the run has ended */
    const char *reason;              /* reason of its end; NULL: still running, or not known */
};

/* Seconds to the last step, at the pace of this job so far with its output; INFINITY: not known
 * yet. run.stop may end the run earlier. */
double progress_left(const struct progress *p, int64_t steps);

/* Write one of the files, unless another job has taken the folder. On rank 0 only; failures
 * reported. sound: the run ended with a good flow. */
enum status report_status(const char *dir, struct lock *lock, const struct flow_case *c,
                          const struct grid *g, const struct progress *p);
enum status report_write(const char *dir, struct lock *lock, const struct flow_case *c,
                         const struct grid *g, const struct progress *p, bool sound);

/* On every rank: prepare the content of both files for the case that the watchdog ends the run. */
void report_for_watchdog(const char *dir, const struct flow_case *c, const struct grid *g,
                         const struct progress *p);

/* Adds the scalars of a level of a refined grid, in units of the level: {name: {diffusivity,
 * cell_peclet}}. c: the case of level 0. */
void report_scalars(json_t *to, const struct flow_case *c, int level);

/* The warnings of this process: [{name, text, step}], step where there is one. */
json_t *report_warnings(void);

#endif
