/* A run: from the case or a checkpoint to its last step; see run.h. */
#include "run/run.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/message.h"
#include "base/signals.h"
#include "base/watchdog.h"
#include "case/keys.h"
#include "measure/permeability.h"
#include "run/checkpoint.h"
#include "run/earlier.h"
#include "run/folder.h"
#include "run/lock.h"
#include "run/narrate.h"
#include "run/output.h"
#include "run/restart.h"
#include "run/room.h"
#include "run/sanity.h"
#include "run/schedule.h"
#include "run/steer.h"
#include "run/stop.h"
#include "solver/mean_flow.h"
#include "solver/scalar_range.h"
#include "solver/transport.h"
#include "tags/paths.h"

/* Seconds of steps after which ranks agree again: whether to stop, whether to write a checkpoint,
 * and after how many steps to agree next. */
static const double agree_seconds = 0.1;
/* Seconds after which status.json is written again, about: the first time, and later. */
static const double status_first = 0.5, status_seconds = 5;
/* Largest age of the report that the watchdog would write. */
static const double watchdog_seconds = 0.1;
/* A checkpoint that is younger meets a request for one: ranks get a signal to mpirun at different
 * times. */
static const double request_seconds = 1;
/* Assumed speed of checkpoints before one was measured, in bytes a second. */
static const double disk_speed = 100e6;

/* Why a run is asked to stop; among the ranks the greatest counts. */
enum asked_by {
    ASKED_BY_NOBODY,
    ASKED_BY_SIGINT,
    ASKED_BY_SIGUSR1,
    ASKED_BY_SIGHUP,
    ASKED_BY_SIGXCPU,
    ASKED_BY_SIGTERM,
    ASKED_BY_CLOCK,
    ASKED_BY_CALLER,
    ASKED_BY_COUNT
};
static const char *const asked_by[ASKED_BY_COUNT] = {
    [ASKED_BY_SIGINT] = "SIGINT",       [ASKED_BY_SIGUSR1] = "SIGUSR1",
    [ASKED_BY_SIGHUP] = "SIGHUP",       [ASKED_BY_SIGTERM] = "SIGTERM",
    [ASKED_BY_SIGXCPU] = "SIGXCPU",     [ASKED_BY_CLOCK] = "run.time_limit",
    [ASKED_BY_CALLER] = "tagflow_stop",
};
static const char closed_early[] = "tagflow_close";
struct wishes {
    int64_t status, stop, checkpoint, batch, look, busy, interrupted;
};

/* Use of sums over the flow at a step that wall time chooses: none, live line, line of the log. */
enum { LOOK_NOT, LOOK_LIVE, LOOK_LINE };

enum { RUN_ERROR = 1024 };

struct run {
    char error[RUN_ERROR]; /* why it ended */
    const struct flow_case *c;
    const struct run_options *options;
    const char *dir;
    MPI_Comm comm;
    struct lock *lock;      /* rank 0 */
    struct results results; /* rank 0: names of this run's files, and of earlier jobs' */
    struct grid grid;
    struct survey survey[LEVELS];
    struct pore_survey pores;
    struct state state;
    struct sanity sanity;
    struct output *output;
    struct narrator n;
    int64_t batch;               /* steps until ranks agree again */
    int64_t looked;              /* last step at which the flow was checked and good; -1: none */
    int64_t looked_scalars;      /* the same of the scalars */
    double status_last;          /* when status.json was written */
    bool status_again;           /* it was written between two steps */
    double watchdog_last;        /* when the watchdog got its report */
    double checkpoint_last;      /* when the last was written; 0: none yet */
    double checkpoint_seconds;   /* longest duration of one */
    double attend_seconds;       /* longest duration of what is due at a step, mostly output */
    enum status status;          /* a failure, or STATUS_STOPPED, ends the run */
    bool done;                   /* an earlier job has finished it: nothing is opened */
    bool resumed;                /* it goes on from a checkpoint */
    volatile sig_atomic_t asked; /* run_ask_to_stop() */
    struct wishes wishes;        /* of the last batch */
    struct stop stop;
    struct steering steering;
    struct given_flow given[LEVELS]; /* an earlier result, until step 0 is set up */
};

static int64_t step_of(const struct run *r)
{
    return r->grid.level->solver.step;
}

static bool is_root(const struct run *r)
{
    return r->grid.level->domain.rank == 0;
}

static bool over(const struct run *r)
{
    return r->stop.met || step_of(r) >= r->c->run.steps;
}

static enum status write_status(struct run *r)
{
    r->status_last = clock_seconds();
    if (!is_root(r))
        return STATUS_OK;
    return report_status(r->dir, r->lock, r->c, &r->grid, &r->n.progress);
}

static void tell_watchdog(struct run *r)
{
    r->watchdog_last = clock_seconds();
    report_for_watchdog(r->dir, r->c, &r->grid, &r->n.progress);
}

/* ---- at a step ---- */

/* Measures sums over the flow; if `check`, also whether it has diverged. */
static enum status look(struct run *r, bool check, bool enstrophy, struct flow_sums *sums)
{
    const double start = clock_seconds();
    const struct levels all = levels_of(&r->grid);
    enum status status = flow_measure(&all, enstrophy, sums);
    if (!status)
        narrate_live_speed(&r->n, sums->max_velocity, clock_seconds() - start);
    if (!status && check)
        status = narrate_divergence(&r->n, sums, r->looked < 0 ? 0 : r->looked);
    if (!status && check) {
        r->looked = step_of(r);
        memcpy(r->n.seen, sums->max_cell, sizeof r->n.seen);
        r->n.seen_level = sums->max_level;
        r->n.seen_speed = sums->max_velocity;
    }
    return status;
}

/* Finds the extremes of all scalars; if `check`, also whether one has diverged. */
static enum status look_at_scalars(struct run *r, bool check)
{
    const struct levels all = levels_of(&r->grid);
    enum status status = STATUS_OK;
    for (int k = 0; k < r->c->scalar_count && !status; k++)
        status = scalar_extremes(&all, 1 + k, &r->n.scalar[k]);
    if (!status && check)
        status = narrate_scalars(&r->n, r->looked_scalars < 0 ? 0 : r->looked_scalars);
    if (!status && check)
        status = sanity_scalars(&r->sanity, &r->n);
    if (!status && check)
        r->looked_scalars = step_of(r);
    return status;
}

/* Checks the stop criterion, after the due rows of series are written, since it may watch one. When
 * it is met, all other series get their last row. */
static enum status look_at_stop(struct run *r, const struct flow_sums *sums)
{
    const struct case_stop *const wanted = &r->c->run.stop;
    double column = NAN;
    if (wanted->of == STOP_COLUMN)
        column = output_value(r->output, wanted->series, wanted->column);
    const enum status status = stop_look(&r->stop, r->c, &r->grid, sums, column);
    return status || !r->stop.met ? status : output_last_rows(r->output);
}

/* Is a line of the log due at this step, whatever the time? */
static bool line_due(const struct run *r)
{
    const int64_t step = step_of(r);
    return schedule_due(step, r->c->log.every) || step == r->c->run.steps || step == 0;
}

/* Does everything due at the present step: sums, divergence check, stop criterion, log, status,
 * output. */
static enum status attend(struct run *r)
{
    const struct flow_case *const c = r->c;
    const int64_t step = step_of(r);
    const bool stop = stop_due(&r->stop, step);
    bool enstrophy = stop && c->run.stop.of == STOP_enstrophy;
    const bool series = output_needs_sums(r->output, step, &enstrophy);
    const bool log = line_due(r);
    /* No files are written before the flow was checked. */
    const bool check = schedule_due(step, c->check.every) || step == c->run.steps ||
                       (c->check.every && output_files_due(r->output, step));
    struct flow_sums sums = {0};
    enum status status = STATUS_OK;

    if (log || check || series || stop)
        status = look(r, c->check.every > 0, enstrophy, &sums);
    if (!status && (log || check))
        status = look_at_scalars(r, c->check.every > 0);
    if (!status && check)
        sanity_velocity(&r->sanity, &r->n, &sums);
    if (!status && (log || check))
        status = sanity_mass(&r->sanity, sums.mass, log);
    if (!status)
        status = sanity_look(&r->sanity, &r->n);
    if (!status)
        status = output_rows(r->output, &sums);
    if (!status && stop)
        status = look_at_stop(r, &sums);
    if (status)
        return status;
    if (r->stop.met && !log)
        status = look_at_scalars(r, false);
    if ((log || r->stop.met) && is_root(r)) {
        narrate_progress(&r->n, &sums);
        status = message_log_state();
        if (!status)
            status = write_status(r);
    }
    status = status_agree(r->comm, status);
    return status ? status : output_write(r->output, over(r));
}

/* Steps to the next one at which anything is due. */
static int64_t steps_to_next(const struct run *r)
{
    const struct flow_case *const c = r->c;
    const int64_t step = step_of(r), every[] = {c->log.every, c->check.every, c->checkpoint.every,
                                                c->run.stop.given ? c->run.stop.every : 0};
    int64_t next = c->run.steps - step;
    for (size_t i = 0; i < sizeof every / sizeof *every; i++)
        next = schedule_nearer(next, step, every[i]);
    const int64_t output = output_next(r->output, step), sample = sanity_next(&r->sanity, step);
    next = sample < next ? sample : next;
    return output < next ? output : next;
}

/* ---- checkpoints ---- */

static bool keeps_checkpoints(const struct flow_case *c)
{
    return c->checkpoint.every > 0 || c->checkpoint.seconds > 0;
}

/* Writes a checkpoint of the present step and removes the oldest. */
static enum status write_checkpoint(struct run *r)
{
    char path[FOLDER_PATH], name[FOLDER_CHECKPOINT_NAME];
    struct flow_sums sums;
    enum status status = STATUS_OK;
    struct checkpoint_times times = {0, 0};
    if (r->n.progress.checkpoint == step_of(r))
        return STATUS_OK;
    if (r->looked != step_of(r)) /* never from a bad state */
        status = look(r, true, false, &sums);
    if (!status && r->looked_scalars != step_of(r))
        status = look_at_scalars(r, true);
    if (!status) /* a checkpoint relies on the rows written before it */
        status = output_sync(r->output);
    if (!status && !folder_checkpoint(path, r->dir, step_of(r)))
        status = fail_user("the name of the output folder is too long");
    if (!status)
        status = checkpoint_write(&r->grid, r->c, &r->state, path, &times);
    if (status)
        return status;
    r->n.progress.checkpoint = step_of(r);
    r->checkpoint_last = clock_seconds();
    if (times.write + times.verify > r->checkpoint_seconds)
        r->checkpoint_seconds = times.write + times.verify;
    tell_watchdog(r); /* before the message, which may wait for a reader */
    folder_checkpoint_name(name, step_of(r));
    narrate_checkpoint(name, &times, state_bytes(&r->state));
    if (is_root(r)) {
        status = folder_prune(r->dir, r->c->checkpoint.keep);
        if (!status)
            status = write_status(r);
    }
    return status_agree(r->comm, status);
}

/* ---- steps ---- */

/* Measures the flow because of the time, for the terminal and, if `line`, for a line of the log.
 * Limits are checked at other steps, which do not depend on the time; but a flow that is not finite
 * ends the run now. */
static enum status look_meanwhile(struct run *r, bool line)
{
    struct flow_sums sums;
    enum status status = look(r, false, false, &sums);
    if (!status && !sums.finite && r->c->check.every > 0)
        status = narrate_divergence(&r->n, &sums, r->looked < 0 ? 0 : r->looked);
    if (!status && line)
        status = look_at_scalars(r, false);
    if (!status && line && is_root(r)) {
        narrate_progress(&r->n, &sums);
        status = message_log_state();
        if (!status)
            status = write_status(r);
    }
    return status_agree(r->comm, status);
}

/* Rank 0: must this job stop now to keep run.time_limit? The reserve holds what is due at the next
 * step, what is written beside the steps, a checkpoint, all with a factor of 2, and a second for
 * the program's end. */
static bool out_of_time(const struct run *r)
{
    const double limit = r->c->run.time_limit;
    const double checkpoint =
        r->checkpoint_seconds > 0 ? r->checkpoint_seconds : state_bytes(&r->state) / disk_speed;
    const double reserve =
        2 * (checkpoint + r->attend_seconds + output_seconds(r->output) + agree_seconds) + 1;
    return limit > 0 && clock_seconds() + reserve > limit;
}

/* Who asked this rank to stop: the caller, or a signal. */
static enum asked_by asked_to_stop(const struct run *r)
{
    const char *const signal = signals_stop();
    if (r->asked)
        return ASKED_BY_CALLER;
    for (int k = ASKED_BY_SIGINT; signal && k < ASKED_BY_COUNT; k++)
        if (strcmp(signal, asked_by[k]) == 0)
            return (enum asked_by)k;
    return ASKED_BY_NOBODY;
}

static bool is_interrupted(const struct run *r)
{
    return r->options->interrupted && r->options->interrupted(r->options->asked);
}

/* Collects the wishes of this rank. */
static void wish(const struct run *r, enum status status, double step_seconds, struct wishes *w)
{
    const double due = r->c->checkpoint.seconds, age = clock_seconds() - r->checkpoint_last;
    const bool young = r->checkpoint_last > 0 && age < request_seconds;
    *w = (struct wishes){.status = (int64_t)status,
                         .stop = asked_to_stop(r),
                         .checkpoint = signals_checkpoint() && !young,
                         .busy = output_busy(r->output),
                         .interrupted = is_interrupted(r)};
    if (!is_root(r))
        return;
    if (lock_lost(r->lock))
        w->status = STATUS_MACHINE;
    if (out_of_time(r))
        w->stop = ASKED_BY_CLOCK;
    if (due > 0 && age > due)
        w->checkpoint = 1;
    w->look = narrate_line_due(&r->n) ? LOOK_LINE : narrate_live_due(&r->n) ? LOOK_LIVE : LOOK_NOT;
    const double batch = agree_seconds / (step_seconds > 1e-9 ? step_seconds : 1e-9);
    const int64_t sweep = r->grid.level->solver.sweep;
    w->batch = batch < 1 ? 1 : batch > 8 * (double)r->batch ? 8 * r->batch : (int64_t)batch;
    w->batch = w->batch < sweep ? sweep : w->batch / sweep * sweep;
}

/* Runs a batch of steps, at most `most`. *w: what any rank wishes now or wished before. */
static enum status run_batch(struct run *r, int64_t most, struct wishes *w)
{
    struct progress *const p = &r->n.progress;
    const int64_t steps = r->batch < most ? r->batch : most;
    const double start = clock_seconds();
    enum status status = STATUS_OK;
    struct grid *const g = &r->grid;
    const struct solver *const s = &g->level->solver;
    const int64_t first = s->step, end = first + steps;
    while (s->step < end) {
        const int64_t left = end - s->step, step = s->step;
        /* The phases of a whole sweep, or of the last step, stand for those of all steps. */
        const bool timed = s->sweep > 1 ? step == first : left == 1;
        /* A rank that failed completes the batch, too: the others do not know it yet. */
        if (timed ? grid_sweep_timed(g, left, p->phases) : grid_sweep(g, left))
            status = STATUS_MACHINE;
        p->phases_steps += timed ? s->step - step : 0;
        p->step = s->step;
        narrate_live(&r->n);
    }
    const double oldest = r->status_again ? status_seconds : status_first;
    if (!status && is_root(r) && clock_seconds() - r->status_last > oldest) {
        status = write_status(r);
        r->status_again = true;
    }
    struct wishes mine;
    wish(r, status, (clock_seconds() - start) / (double)steps, &mine);
    mine.stop = mine.stop > w->stop ? mine.stop : w->stop;
    mine.checkpoint |= w->checkpoint;
    MPI_Allreduce(&mine, w, sizeof *w / sizeof(int64_t), MPI_INT64_T, MPI_MAX, r->comm);
    r->batch = w->batch;
    const double seconds = clock_seconds() - start;
    p->seconds += seconds;
    p->steps_done += steps;
    narrate_steps(&r->n, steps, seconds);
    if (clock_seconds() - r->watchdog_last > watchdog_seconds)
        tell_watchdog(r);
    watchdog_progress();
    return (enum status)w->status;
}

static enum status stop_early(struct run *r, const char *why)
{
    r->n.progress.reason = why;
    narrate_stop(&r->n, why);
    return STATUS_STOPPED;
}

/* Does everything due at the first step. */
static enum status attend_first(struct run *r, bool resumed)
{
    struct flow_sums sums;
    enum status status = resumed ? look(r, true, false, &sums) : attend(r);
    if (!status && resumed)
        status = look_at_scalars(r, true);
    narrate_begin(&r->n);
    return status;
}

/* Runs to step `end`, at which nothing may be due, or to a wish that is granted now. */
static enum status run_batches(struct run *r, int64_t end, bool waits)
{
    struct wishes *const w = &r->wishes;
    enum status status = STATUS_OK;
    while (!status && step_of(r) < end && !w->interrupted &&
           (waits || (!w->stop && !w->checkpoint))) {
        status = run_batch(r, end - step_of(r), w);
        if (!status && !w->busy) /* files get their names soon after they are on disk */
            status = output_complete(r->output);
        if (!status && w->look && !line_due(r))
            status = look_meanwhile(r, w->look == LOOK_LINE);
    }
    return status;
}

/* Runs to the next step at which anything is due, or to `until` if that is nearer. */
static enum status advance(struct run *r, int64_t until)
{
    struct wishes *const w = &r->wishes;
    const int64_t due = step_of(r) + steps_to_next(r);
    const bool waits = sanity_waits(&r->sanity, step_of(r)); /* wishes are kept, too */
    if (!waits)
        *w = (struct wishes){0};
    w->interrupted = 0;
    enum status status = output_sample(r->output);
    if (status)
        return status;
    MPI_Barrier(r->comm); /* one rank's output must not count as another's step time */
    status = run_batches(r, due < until ? due : until, waits);
    const double start = clock_seconds();
    if (!status && step_of(r) == due)
        status = attend(r);
    if (clock_seconds() - start > r->attend_seconds)
        r->attend_seconds = clock_seconds() - start;
    if (!status && sanity_waits(&r->sanity, step_of(r)) && !over(r))
        return status;
    if (!status && (w->stop || w->checkpoint || schedule_due(step_of(r), r->c->checkpoint.every)))
        status = write_checkpoint(r);
    if (!status && w->stop && !over(r))
        status = stop_early(r, asked_by[w->stop]);
    return status;
}

/* ---- start and end ---- */

/* Rank 0: writes the files that a run has from its start. */
static enum status start_files(struct run *r, bool goes_on)
{
    char path[FOLDER_PATH];
    enum status status = folder_tidy(r->dir);
    if (!status && folder_path(path, r->dir, "case.yaml"))
        status = file_replace(path, r->c->resolved, strlen(r->c->resolved));
    if (!status && folder_path(path, r->dir, "log.txt"))
        status = message_log_to(path, goes_on);
    return status ? status : write_status(r);
}

/* Rank 0: removes what an earlier run left. If this job dies meanwhile, status.json says that a run
 * begins here, so that the next one may do so. */
static enum status empty_folder(struct run *r)
{
    enum status status = folder_forget_end(r->dir);
    if (!status)
        status = write_status(r);
    return status ? status : folder_empty(r->dir, &r->results);
}

/* Rank 0 may watch the folder for some seconds. The other ranks wait here, and are not hanging. */
static void wait_for_folder(MPI_Comm comm)
{
    const double start = clock_seconds();
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm, &request);
    while (!done && clock_seconds() - start < 2 * LOCK_WATCH) {
        nanosleep(&(struct timespec){.tv_nsec = 2 * 1000 * 1000}, NULL);
        watchdog_progress();
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Tells the watchdog of each rank how it recognises that this job has the folder. */
static void tell_owner(struct run *r)
{
    char path[FOLDER_PATH], id[LOCK_ID] = "";
    if (r->lock)
        lock_id(r->lock, id);
    MPI_Bcast(id, LOCK_ID, MPI_CHAR, 0, r->comm);
    if (folder_path(path, r->dir, ".lock"))
        watchdog_owner(path, id);
}

/* Finds where the run begins and opens its folder, locked and without results of other runs. *done:
 * there is nothing left to do. */
static enum status open_folder(struct run *r, const struct run_options *options,
                               struct checkpoint *k, char from[FOLDER_PATH], bool *done)
{
    const enum folder_mode mode = options->restart     ? FOLDER_RESUME
                                  : options->overwrite ? FOLDER_OVERWRITE
                                                       : FOLDER_NEW;
    /* Read a given checkpoint before a folder is created in vain. */
    int first =
        options->restart && strcmp(options->restart, "auto") != 0 && access(r->dir, F_OK) != 0;
    enum restart_from begin = RESTART_BEGINNING;
    enum status status = STATUS_OK;
    MPI_Bcast(&first, 1, MPI_INT, 0, r->comm);
    if (first)
        status = restart_choose(options->restart, r->c, r->dir, NULL, r->comm, &begin, k, from);
    if (!status && is_root(r))
        status = folder_open(r->dir, mode, options->case_path, &r->lock);
    if (!status && is_root(r))
        status = results_add(&r->results, r->c->resolved);
    if (!status && is_root(r)) /* an earlier job's, before this job's case replaces it */
        status = folder_learn(r->dir, &r->results);
    wait_for_folder(r->comm);
    status = status_agree(r->comm, status);
    if (!status)
        tell_owner(r);
    if (!status && options->restart && !first)
        status =
            restart_choose(options->restart, r->c, r->dir, &r->results, r->comm, &begin, k, from);
    *done = begin == RESTART_DONE;
    if (status || *done || !is_root(r))
        return status_agree(r->comm, status);

    char path[FOLDER_PATH];
    const bool resumed = begin == RESTART_CHECKPOINT;
    r->n.progress.step = resumed ? k->step : 0;
    if (resumed && folder_checkpoint(path, r->dir, k->step) && access(path, F_OK) == 0)
        r->n.progress.checkpoint = k->step;
    if (resumed)
        status = results_add(&r->results, k->case_text);
    if (!status && mode == FOLDER_OVERWRITE)
        status = empty_folder(r);
    return status_agree(r->comm, status ? status : start_files(r, mode == FOLDER_RESUME));
}

/* Writes status.json and report.json of a run that ends with `status`. On rank 0. */
static enum status write_reports(struct run *r, enum status status, bool sound)
{
    struct progress *const p = &r->n.progress;
    p->state = status == STATUS_OK         ? RUN_done
               : status == STATUS_STOPPED  ? RUN_stopped
               : status == STATUS_DIVERGED ? RUN_diverged
                                           : RUN_failed;
    p->exit_status = (int)status;
    if (p->state == RUN_done)
        p->reason = p->stop_met ? "run.stop" : "run.steps";
    else if (p->state != RUN_stopped)
        p->reason = message_error() ? message_error()
                    : *r->error     ? r->error
                                    : "another rank failed; it says why on "
                                      "standard error";
    enum status written = report_write(r->dir, r->lock, r->c, &r->grid, p, sound);
    if (written && (status == STATUS_OK || status == STATUS_STOPPED)) {
        p->state = RUN_failed; /* a run without its report is not done */
        p->exit_status = (int)written;
        p->reason = message_error();
    }
    if (write_status(r))
        written = STATUS_MACHINE;
    return written ? written : status;
}

/* The permeability of a run that ends: the last value of run.stop; with a sound flow the present
 * one, and what it is made of. */
static enum status find_permeability(struct run *r, bool sound)
{
    struct progress *const p = &r->n.progress;
    const struct case_series *const along = &r->c->series[r->c->run.stop.series];
    struct permeability k = {.mean = {NAN, NAN, NAN}, .gradient = NAN};
    enum status status = STATUS_OK;
    if (r->c->run.stop.of != STOP_permeability || !stop_value(&r->stop, &p->permeability))
        return STATUS_OK;
    if (sound) {
        const struct levels all = levels_of(&r->grid);
        status = permeability_measure(&all, r->c->fluid.viscosity, along->axis, along->length, &k);
        p->permeability = k.value;
    }
    memcpy(p->mean, k.mean, sizeof p->mean);
    p->gradient = k.gradient;
    p->remaining = stop_remaining(&r->stop);
    return status_agree(r->comm, status);
}

/* Ends the run, good or bad. */
static enum status finish(struct run *r, enum status status)
{
    const bool sound = status == STATUS_OK || status == STATUS_STOPPED;
    for (int set = 0; sound && set <= r->c->scalar_count; set++) {
        uint64_t bits;
        const enum status hashed = grid_hash(&r->grid, set, &bits);
        status = hashed ? hashed : status;
        snprintf(r->n.progress.hashes[set], sizeof r->n.progress.hashes[set], "%016llx",
                 (unsigned long long)bits);
    }
    if (sound && status != STATUS_MACHINE) {
        const enum status judged =
            shares_judge(&r->grid.shares, &r->grid.level->solver, r->grid.level->c);
        status = judged ? judged : status;
    }
    if (output_close(r->output, &r->n.progress.files) && sound)
        status = STATUS_MACHINE;
    r->output = NULL;
    const enum status found = find_permeability(r, sound && status != STATUS_MACHINE);
    status = found ? found : status;
    r->n.progress.stop_met = r->stop.met;
    r->n.progress.stop_change = stop_change(&r->stop);
    if (status == STATUS_OK)
        narrate_done(&r->n);
    if (is_root(r)) {
        if (message_log_state() && sound)
            status = STATUS_MACHINE;
        if (!lock_lost(r->lock)) /* they would replace those of the run that has the folder */
            status = write_reports(r, status, sound);
    }
    if (message_log_to(NULL, 0) && sound)
        status = STATUS_MACHINE;
    json_decref(r->n.progress.files);
    r->n.progress.files = NULL;
    status = status_agree(r->comm, status);
    watchdog_files(NULL, NULL);
    return status;
}

static enum status register_own(struct run *r)
{
    enum status status = checkpoint_register_populations(&r->state, &r->grid);
    if (!status)
        status = drive_register(&r->grid, &r->state);
    if (!status)
        status = shares_register(&r->grid.shares, r->c, &r->state);
    if (!status)
        status = mean_flow_register(&r->grid.level->solver, &r->state);
    if (!status)
        status = scalar_range_register(&r->grid.level->solver, &r->state);
    if (!status)
        status = hold_register(&r->grid, &r->state);
    if (!status)
        status = steer_create(&r->steering, r->c, &r->state);
    status = status_agree(r->comm, status);
    if (!status)
        status = sanity_create(&r->sanity, r->c, &r->grid, &r->state);
    return status ? status : stop_create(&r->stop, r->c, &r->grid, &r->state);
}

/* Sets up the flow at step 0. */
static enum status begin(struct run *r)
{
    const bool earlier = r->c->initial.from.file;
    enum status status = STATUS_OK;
    if (earlier && !r->given->value)
        status = earlier_load(&r->grid, r->given);
    if (!status)
        status = grid_initialise(&r->grid, earlier ? r->given : NULL);
    earlier_free(r->given);
    return status;
}

/* Is the checkpoint one of this run's folder? */
static bool is_own(const struct run *r, const char *from, int64_t step)
{
    char path[FOLDER_PATH];
    struct stat ours, its;
    return folder_checkpoint(path, r->dir, step) && stat(path, &ours) == 0 &&
           stat(from, &its) == 0 && ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

/* Sets up the flow of the first step. from: the checkpoint's file, NULL: from the beginning. */
static enum status set_up(struct run *r, enum transport transport, const struct checkpoint *k,
                          const char *from)
{
    if (from) { /* tells all ranks what rank 0 found */
        r->n.progress.step = k->step;
        MPI_Bcast(&r->n.progress.checkpoint, 1, MPI_INT64_T, 0, r->comm);
    }
    tell_watchdog(r);
    enum status status = grid_start(&r->grid, transport);
    r->n.progress.sweep = r->grid.level->solver.sweep;
    if (!status) {
        r->n.progress.transport = grid_transport(&r->grid);
        r->n.progress.messages = grid_messages(&r->grid);
    }
    if (!status)
        status = register_own(r);
    if (!status)
        status = output_create(&r->output, r->c, &r->grid, &r->state, r->dir);
    if (!status)
        status = from ? checkpoint_load(k, from, &r->grid, &r->state) : begin(r);
    steer_apply(&r->steering, &r->grid);
    if (!status) /* only now: it may rename the checkpoint that was loaded */
        status = status_agree(r->comm, is_root(r)
                                           ? folder_rewind(r->dir, &r->results, from ? k->step : -1)
                                           : STATUS_OK);
    stop_resume(&r->stop, r->c, from ? k->case_text : NULL, step_of(r));
    if (!status)
        narrate_start(&r->n, from);
    if (!status)
        status =
            output_start(r->output, &(struct output_start){.resumed = from ? k->step : -1,
                                                           .before = from ? k->case_text : NULL,
                                                           .here = from && is_own(r, from, k->step),
                                                           .over = over(r)});
    r->n.progress.state = RUN_running;
    r->resumed = from != NULL;
    return status ? status : attend_first(r, r->resumed);
}

/* Looks at the tags of all levels. */
static enum status make_surveys(struct run *r)
{
    struct grid *const g = &r->grid;
    struct paths_level level[LEVELS];
    struct survey *survey[LEVELS];
    for (int l = 0; l < g->levels; l++) {
        level[l] = (struct paths_level){&g->level[l].domain, g->level[l].c};
        survey[l] = &r->survey[l];
    }
    enum status status = stop_agree(r->comm);
    if (!status)
        status = survey_make(survey, level, g->levels);
    if (!status && pore_survey_wanted(r->c))
        status = pore_survey_make(&r->pores, &g->level->domain, r->c);
    if (!status)
        status = pore_survey_check(&r->pores, r->c);
    return status ? status : stop_agree(r->comm);
}

static void destroy(struct run *r)
{
    terminal_close(&r->n.terminal);
    earlier_free(r->given);
    stop_destroy(&r->stop);
    sanity_destroy(&r->sanity);
    state_destroy(&r->state);
    grid_destroy(&r->grid);
    pore_survey_destroy(&r->pores);
    results_free(&r->results);
    lock_release(r->lock);
    free(r);
}

/* Makes the grid of a run and looks at it. Nothing is written. */
static enum status make_grid(struct run *r, enum transport *transport)
{
    const struct flow_case *const c = r->c;
    const struct run_options *const options = r->options;
    r->n = (struct narrator){.c = c,
                             .survey = r->survey,
                             .grid = &r->grid,
                             .threads = &options->threads,
                             .dir = options->dir,
                             .backend_reason = options->backend_reason,
                             .terminal.fd = -1};
    r->n.progress.checkpoint = -1;
    r->n.progress.pores = &r->pores;
    if (is_root(r) && !options->silent)
        terminal_find(&r->n.terminal);
    enum status status = grid_open(&r->grid, options->backend, options->share_gpu);
    if (!status)
        status = room_check(&r->grid);
    if (!status)
        status = transport_choose(c, r->grid.level->backend, r->comm, transport, r->n.transport);
    if (!status)
        status = status_agree(r->comm, watchdog_start(c->check.hang));
    /* A wrong file is reported before anything is written, unless the run may continue from a
     * checkpoint and not need it. */
    if (!status && c->initial.from.file && !options->restart)
        status = earlier_load(&r->grid, r->given);
    return status ? status : stop_agree(r->comm);
}

/* Opens the folder and sets up the flow. */
static enum status start(struct run *r, enum transport transport)
{
    struct checkpoint k = {0};
    char from[FOLDER_PATH];
    enum status status = open_folder(r, r->options, &k, from, &r->done);
    if (!status && !r->done) {
        status = set_up(r, transport, &k, k.count > 0 ? from : NULL);
        if (status)
            status = finish(r, status);
    }
    checkpoint_close(&k);
    return status;
}

enum status run_open(struct run **out, const struct flow_case *c, const struct run_options *options,
                     MPI_Comm comm)
{
    struct run *const r = calloc(1, sizeof *r);
    enum transport transport = TRANSPORT_host;
    enum status status = status_agree(comm, r ? STATUS_OK : fail_machine("out of memory"));
    if (!status)
        status = stop_agree(comm);
    if (!status)
        status = room_before_tags(c, options->backend, comm);
    if (!status) {
        *r = (struct run){.c = c,
                          .options = options,
                          .dir = options->dir,
                          .comm = comm,
                          .n.terminal.fd = -1,
                          .batch = 1,
                          .looked = -1,
                          .looked_scalars = -1};
        status = grid_create(&r->grid, c, options->backend->row_bytes, comm);
    }
    if (status) {
        free(r);
        return status;
    }
    status = make_surveys(r);
    if (!status)
        status = make_grid(r, &transport);
    if (!status)
        status = start(r, transport);
    if (status)
        destroy(r);
    else
        *out = r;
    return status;
}

/* Keeps the error that ended the run for its reports: other calls may forget it. */
static enum status keep_error(struct run *r)
{
    if (r->status && !*r->error && message_error())
        snprintf(r->error, sizeof r->error, "%s", message_error());
    return r->status;
}

enum status run_advance(struct run *r, int64_t until)
{
    r->wishes.interrupted = 0;
    while (!r->status && !run_over(r) && step_of(r) < until && !r->wishes.interrupted)
        r->status = advance(r, until);
    return keep_error(r);
}

enum status run_checkpoint(struct run *r)
{
    if (!r->status && !r->done) {
        sanity_forget(&r->sanity);
        r->status = write_checkpoint(r);
    }
    return keep_error(r);
}

void run_ask_to_stop(struct run *r)
{
    r->asked = 1;
}

/* The last checkpoint, with which the run can be continued later. */
static enum status conclude(struct run *r, bool early)
{
    const bool wanted = early ? !r->options->temporary : keeps_checkpoints(r->c);
    const enum status status = wanted ? run_checkpoint(r) : r->status;
    return status || !early ? status : stop_early(r, closed_early);
}

enum status run_close(struct run *r)
{
    if (!r)
        return STATUS_OK;
    enum status status = r->status;
    const bool early = !status && !run_over(r);
    if (!status && !r->done)
        status = conclude(r, early);
    if (!r->done)
        status = finish(r, status);
    destroy(r);
    return early && status == STATUS_STOPPED ? STATUS_OK : status;
}

bool run_over(const struct run *r)
{
    return r->done || over(r);
}

bool run_ended(const struct run *r)
{
    return r->done || (r->status && r->status != STATUS_STOPPED);
}

int64_t run_step(const struct run *r)
{
    return step_of(r);
}

struct grid *run_grid(struct run *r)
{
    return &r->grid;
}

const char *run_folder(const struct run *r)
{
    return r->dir;
}

enum status run_steer(struct run *r, const char *name, double factor)
{
    double ends[2] = {factor, -factor};
    enum status status = steer_known(&r->steering, name, factor);
    status = status_agree(r->comm, status);
    if (status)
        return status;
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MIN, r->comm);
    if (ends[0] != -ends[1])
        return fail_user("%s is set to %g by one rank and to %g by another: give all ranks the "
                         "same factor",
                         name, ends[0], -ends[1]);
    if (*steer_get(&r->steering, name) != factor)
        r->n.progress.checkpoint = -1; /* that of this step lacks the factor */
    steer_set(&r->steering, name, factor);
    steer_apply(&r->steering, &r->grid);
    return STATUS_OK;
}

const double *run_steered(const struct run *r, const char *name)
{
    return steer_get(&r->steering, name);
}

double run_value(const struct run *r, int series, int column)
{
    const int64_t every = r->c->series[series].every, row = step_of(r) / every * every,
                  first = r->n.progress.first;
    return row > first || (row == first && !r->resumed) ? output_value(r->output, series, column)
                                                        : NAN;
}
