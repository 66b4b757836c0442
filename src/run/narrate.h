/* What a run says: its start, a line an interval, its end; and why it ends badly. */
#ifndef TAGFLOW_NARRATE_H
#define TAGFLOW_NARRATE_H

#include "run/checkpoint.h"
#include "run/report.h"
#include "solver/flow.h"

/* How far the run is and how fast it goes, and all that is needed to say so. */
struct narrator {
    const struct flow_case *c;
    const struct solver *solver;
    const char *dir;
    const char *backend_reason; /* why it is not the preferred one, or "" */
    char transport[128];        /* how halos travel */
    struct progress progress;
    double lap_seconds; /* of steps since the last line */
    int64_t lap_steps;
    bool live; /* a progress line on the terminal */
    double live_last;
};

/* Will there be a progress line? */
bool narrate_live(const struct domain *d);

/* Version, hosts, derived numbers, warnings. Collective. from: the checkpoint's file, or NULL. */
void narrate_start(const struct narrator *n, const char *from);

/* The line of an interval, which ends a lap; on the terminal, the line that is replaced. */
void narrate_progress(struct narrator *n, const struct flow_sums *sums);
void narrate_live_progress(struct narrator *n);

void narrate_checkpoint(const char *name, const struct checkpoint_times *times, double bytes);
void narrate_stop(const struct narrator *n, const char *why);
void narrate_done(const struct narrator *n, const char *hash);

/* If the flow has diverged: where and since when at most, as the user's error, STATUS_DIVERGED. */
enum status narrate_divergence(const struct narrator *n, const struct flow_sums *sums,
                               int64_t last_good);

#endif
