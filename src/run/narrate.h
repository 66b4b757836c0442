/* Messages of a run: its start, a line at each interval, its end or its failure. */
#ifndef TAGFLOW_NARRATE_H
#define TAGFLOW_NARRATE_H

#include "base/terminal.h"
#include "measure/flow.h"
#include "measure/scalar.h"
#include "run/checkpoint.h"
#include "run/report.h"
#include "run/threads.h"
#include "advice/survey.h"

/* State of the run for its messages. */
struct narrator {
    const struct flow_case *c;
    const struct grid *grid;
    const struct survey *survey; /* [levels] */
    const struct threads *threads;
    const char *dir;
    const char *backend_reason; /* why this is not the preferred backend, or "" */
    char transport[128];        /* how halos are transferred */
    struct progress progress;
    double lap_seconds; /* of steps since the last line */
    int64_t lap_steps;
    double last_seconds; /* of the last steps, for the present rate */
    int64_t last_steps;
    bool rated;  /* there were enough of them once */
    double said; /* when the last line was written, seconds since the first step */
    int seen[3]; /* fastest cell at the last good check, in cells of level seen_level */
    int seen_level;
    double seen_speed;                        /* its speed; 0: no check yet */
    struct scalar_found scalar[CASE_SCALARS]; /* extremes at the last check or line */
    struct terminal terminal;                 /* rank 0: where a progress line is shown */
    double live_last;                         /* when it was shown */
    double live_speed;                        /* largest velocity; < 0: not known yet */
    double live_looked;                       /* when it was measured */
    double live_cost;                         /* seconds that this took */
};

/* Version, hosts, derived numbers, warnings. Collective. from: the checkpoint's file, or NULL. */
void narrate_start(const struct narrator *n, const char *from);

/* Call it before the first step of this job. */
void narrate_begin(struct narrator *n);

/* Count steps and the seconds that they took. */
void narrate_steps(struct narrator *n, int64_t steps, double seconds);

/* On rank 0: is a line due because there was none for long? */
bool narrate_line_due(const struct narrator *n);

/* Write the line of an interval, which ends a lap. */
void narrate_progress(struct narrator *n, const struct flow_sums *sums);

/* The progress line on a terminal, on rank 0. narrate_live(): show it if it is time.
 * narrate_live_due(): should its velocity be measured? It may cost a hundredth of the time.
 * narrate_live_speed(): it was. */
void narrate_live(struct narrator *n);
bool narrate_live_due(const struct narrator *n);
void narrate_live_speed(struct narrator *n, double speed, double seconds);

void narrate_checkpoint(const char *name, const struct checkpoint_times *times, double bytes);
void narrate_stop(const struct narrator *n, const char *why);
void narrate_done(const struct narrator *n);

/* A cell of a level in words: "[3, 4, 0]", with its position in m if the case has units. On a
 * refined grid also the level, and the position of the cell's centre in cells of level 0 without
 * units. */
void narrate_place(const struct narrator *n, int level, const int cell[3], char *text, size_t size);

/* A solver setting that is more stable than the case's; "": none. */
const char *narrate_operator_remedy(const struct flow_case *c);

/* If a scalar has diverged, by its extremes in n: reports which, where and when as the user's error
 * and returns STATUS_DIVERGED. */
enum status narrate_scalars(const struct narrator *n, int64_t last_good);

/* If the flow has diverged: reports where and when as the user's error and returns
 * STATUS_DIVERGED. */
enum status narrate_divergence(const struct narrator *n, const struct flow_sums *sums,
                               int64_t last_good);

#endif
