/* Messages of a run: its start, a line at each interval, its end or its failure. */
#ifndef TAGFLOW_NARRATE_H
#define TAGFLOW_NARRATE_H

#include "measure/flow.h"
#include "run/checkpoint.h"
#include "run/report.h"
#include "tags/survey.h"

/* State of the run for its messages. */
struct narrator {
    const struct flow_case *c;
    const struct solver *solver;
    const struct survey *survey;
    const char *dir;
    const char *backend_reason; /* why this is not the preferred backend, or "" */
    char transport[128];        /* how halos are transferred */
    struct progress progress;
    double lap_seconds; /* of steps since the last line */
    int64_t lap_steps;
    int seen[3];       /* fastest cell at the last good check */
    double seen_speed; /* its speed; 0: no check yet */
    bool live;         /* a progress line on the terminal */
    double live_last;
};

/* Is a progress line shown? */
bool narrate_live(const struct domain *d);

/* Version, hosts, derived numbers, warnings. Collective. from: the checkpoint's file, or NULL. */
void narrate_start(const struct narrator *n, const char *from);

/* Write the line of an interval, which ends a lap; and replace the progress line on the
 * terminal. */
void narrate_progress(struct narrator *n, const struct flow_sums *sums);
void narrate_live_progress(struct narrator *n);

void narrate_checkpoint(const char *name, const struct checkpoint_times *times, double bytes);
void narrate_stop(const struct narrator *n, const char *why);
void narrate_done(const struct narrator *n, const char *hash);

/* A cell in words: "[3, 4, 0]", with its position in m if the case has units. */
void narrate_place(const struct narrator *n, const int cell[3], char *text, size_t size);

/* A solver setting that is more stable than the case's; "": none. */
const char *narrate_operator_remedy(const struct flow_case *c);

/* If the flow has diverged: reports where and when as the user's error and returns
 * STATUS_DIVERGED. */
enum status narrate_divergence(const struct narrator *n, const struct flow_sums *sums,
                               int64_t last_good);

#endif
