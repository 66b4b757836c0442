/* A run: from the case, or a checkpoint, to its last step; see run.h. */
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "case/keys.h"
#include "run/checkpoint.h"
#include "run/folder.h"
#include "run/lock.h"
#include "run/narrate.h"
#include "run/output.h"
#include "run/restart.h"
#include "run/signals.h"
#include "solver/permeability.h"
#include "solver/residual.h"
#include "solver/transport.h"

/* Ranks agree after so many seconds of steps: whether to stop, to write a checkpoint, and after how
 * many steps they will agree again. */
static const double agree_seconds = 0.1;
/* status.json is never older than about this while the run goes on. */
static const double status_seconds = 10;
/* What a checkpoint is taken to need before one was measured, in bytes a second. */
static const double disk_speed = 100e6;

/* What ranks ask for, of all of them the greatest. */
enum asked_by {
    ASKED_BY_NOBODY,
    ASKED_BY_SIGINT,
    ASKED_BY_SIGUSR1,
    ASKED_BY_SIGTERM,
    ASKED_BY_CLOCK
};
struct wishes {
    int64_t status, stop, checkpoint, batch;
};

struct run {
    const struct flow_case *c;
    const char *dir;
    MPI_Comm comm;
    int lock; /* rank 0 */
    struct domain domain;
    struct backend *backend;
    struct solver solver;
    struct state state;
    struct output *output;
    struct narrator n;
    int64_t batch;          /* steps until ranks agree again */
    int64_t looked;         /* the last step at which the flow was looked at, and good; -1: none */
    double status_last;     /* when status.json was written */
    double checkpoint_last; /* when the last was written */
    double checkpoint_seconds; /* the longest that one took */
    double attend_seconds;     /* the same of what is due at a step, output above all */
    /* Remembered from step to step, and so in checkpoints: */
    int64_t ended; /* the stop criterion has ended the run */
    /* Was its number looked at already, what was it, how much had it changed, and before that? */
    double stop[4];
    struct residual residual;
};

static bool over(const struct run *r)
{
    return r->ended || r->solver.step >= r->c->run.steps;
}

static enum status write_status(struct run *r)
{
    r->status_last = clock_seconds();
    return r->domain.rank == 0 ? report_status(r->dir, r->c, &r->n.progress) : STATUS_OK;
}

/* ---- at a step ---- */

/* Sums over the flow, and whether it has diverged. */
static enum status look(struct run *r, bool check, bool enstrophy, struct flow_sums *sums)
{
    enum status status = flow_measure(&r->solver, enstrophy, sums);
    if (!status && check)
        status = narrate_divergence(&r->n, sums, r->looked < 0 ? 0 : r->looked);
    if (!status && check)
        r->looked = r->solver.step;
    return status;
}

/* The number that the stop criterion watches. */
static double stop_number(const struct run *r, const struct flow_sums *sums)
{
    switch (r->c->run.stop.of) {
    case STOP_kinetic_energy:
        return sums->kinetic_energy;
    case STOP_enstrophy:
        return sums->enstrophy;
    case STOP_max_velocity:
        return sums->max_velocity;
    case STOP_permeability: /* measured for itself */
    case STOP_residual:     /* is a change itself */
        break;
    }
    return NAN;
}

/* How far a number is from where it goes, as a part of it, if its changes go on falling as the last
 * two did; NAN: they do not fall. */
static double remaining(double before, double change)
{
    const double ratio = change / before;
    return ratio < 1 ? change * ratio / (1 - ratio) : NAN;
}

/* Sets r->ended when the flow has become steady. */
static enum status look_at_stop(struct run *r, const struct flow_sums *sums)
{
    const struct flow_case *const c = r->c;
    double change = NAN;
    struct permeability k = {0};
    if (c->run.stop.of == STOP_permeability) {
        const struct case_series *const along = &c->series[c->run.stop.series];
        const enum status status = permeability_measure(&r->solver, c->fluid.viscosity, along->axis,
                                                        along->length_along, &k);
        if (status)
            return status;
    }
    if (c->run.stop.of == STOP_residual) {
        const enum status status = residual_measure(&r->residual, &r->solver, &change);
        if (status)
            return status;
    } else {
        const double now = c->run.stop.of == STOP_permeability ? k.value : stop_number(r, sums);
        const double before = r->stop[1];
        if (r->stop[0] > 0)
            change = now == before ? 0 : fabs(now - before) / fabs(now);
        r->stop[0] = 1;
        r->stop[1] = now;
    }
    r->stop[3] = r->stop[2];
    r->stop[2] = change;
    if (change < c->run.stop.change) { /* not so when it is not known yet */
        r->ended = 1;
        say("steady at step %lld: in %lld steps a change of %.3g, below run.stop.change %.3g",
            (long long)r->solver.step, (long long)c->run.stop.every, change, c->run.stop.change);
    }
    return STATUS_OK;
}

/* Everything due at the present step: sums, divergence check, stop criterion, log, status, output.
 */
static enum status attend(struct run *r)
{
    const struct flow_case *const c = r->c;
    const int64_t step = r->solver.step;
    const bool first = step == 0, stop = c->run.stop.given && output_due(step, c->run.stop.every);
    bool enstrophy = stop && c->run.stop.of == STOP_enstrophy;
    const bool series = output_needs_sums(r->output, step, &enstrophy);
    const bool log = output_due(step, c->log_every) || step == c->run.steps || first;
    /* Nothing is written from a state that was not looked at. */
    const bool check = output_due(step, c->check.every) || step == c->run.steps ||
                       (c->check.every && output_files_due(r->output, step));
    struct flow_sums sums = {0};
    enum status status = STATUS_OK;

    if (log || check || series || stop)
        status = look(r, c->check.every > 0, enstrophy, &sums);
    if (!status && stop)
        status = look_at_stop(r, &sums);
    if (status)
        return status;
    if ((log || r->ended) && r->domain.rank == 0) {
        narrate_progress(&r->n, &sums);
        status = message_log_state();
        if (!status)
            status = write_status(r);
    }
    status = status_agree(r->comm, status);
    return status ? status : output_write(r->output, &sums, over(r));
}

/* Steps from here to the next at which anything is due. */
static int64_t steps_to_next(const struct run *r)
{
    const struct flow_case *const c = r->c;
    const int64_t step = r->solver.step,
                  every[] = {c->log_every, c->check.every, c->checkpoint.every,
                             c->run.stop.given ? c->run.stop.every : 0};
    int64_t next = c->run.steps - step;
    for (size_t i = 0; i < sizeof every / sizeof *every; i++)
        if (every[i] > 0 && every[i] - step % every[i] < next)
            next = every[i] - step % every[i];
    const int64_t output = output_next(r->output, step);
    return output < next ? output : next;
}

/* ---- checkpoints ---- */

static bool keeps_checkpoints(const struct flow_case *c)
{
    return c->checkpoint.every > 0 || c->checkpoint.seconds > 0;
}

/* Write one of the present step, and let go of the oldest. */
static enum status write_checkpoint(struct run *r)
{
    char path[FOLDER_PATH], name[FOLDER_CHECKPOINT_NAME];
    struct flow_sums sums;
    enum status status = STATUS_OK;
    struct checkpoint_times times = {0, 0};
    if (r->n.progress.checkpoint == r->solver.step)
        return STATUS_OK;
    if (r->looked != r->solver.step) /* never from a bad state */
        status = look(r, true, false, &sums);
    if (!status) /* a checkpoint counts on what was written before it */
        status = output_sync(r->output);
    if (!status && !folder_checkpoint(path, r->dir, r->solver.step))
        status = fail_user("the name of the output folder is too long");
    if (!status)
        status = checkpoint_write(&r->solver, r->c, &r->state, path, &times);
    if (status)
        return status;
    folder_checkpoint_name(name, r->solver.step);
    narrate_checkpoint(name, &times, state_bytes(&r->state));
    r->n.progress.checkpoint = r->solver.step;
    r->checkpoint_last = clock_seconds();
    if (times.write + times.verify > r->checkpoint_seconds)
        r->checkpoint_seconds = times.write + times.verify;
    if (r->domain.rank == 0) {
        status = folder_prune(r->dir, r->c->checkpoint.keep);
        if (!status)
            status = write_status(r);
    }
    return status_agree(r->comm, status);
}

/* ---- steps ---- */

/* Rank 0: has this job so little time left that it has to stop now? What is due at the next step
 * may come in between; then a checkpoint has to fit in, with room for slower ones than so far, and
 * the end of the program. */
static bool out_of_time(const struct run *r)
{
    const double limit = r->c->run.time_limit;
    const double checkpoint =
        r->checkpoint_seconds > 0 ? r->checkpoint_seconds : state_bytes(&r->state) / disk_speed;
    const double reserve = 2 * (checkpoint + r->attend_seconds + agree_seconds) + 1;
    return limit > 0 && clock_seconds() + reserve > limit;
}

/* What this rank asks for. */
static void wish(const struct run *r, enum status status, double step_seconds, struct wishes *w)
{
    const char *const signal = signals_stop();
    const double due = r->c->checkpoint.seconds;
    *w = (struct wishes){.status = (int64_t)status, .checkpoint = signals_checkpoint()};
    if (signal)
        w->stop = strcmp(signal, "SIGTERM") == 0   ? ASKED_BY_SIGTERM
                  : strcmp(signal, "SIGUSR1") == 0 ? ASKED_BY_SIGUSR1
                                                   : ASKED_BY_SIGINT;
    if (r->domain.rank != 0)
        return;
    if (out_of_time(r))
        w->stop = ASKED_BY_CLOCK;
    if (due > 0 && clock_seconds() - r->checkpoint_last > due)
        w->checkpoint = 1;
    const double batch = agree_seconds / (step_seconds > 1e-9 ? step_seconds : 1e-9);
    w->batch = batch < 1 ? 1 : batch > 8 * (double)r->batch ? 8 * r->batch : (int64_t)batch;
}

/* Some steps, at most `most`, and what all ranks want then. */
static enum status run_batch(struct run *r, int64_t most, struct wishes *w)
{
    struct progress *const p = &r->n.progress;
    const int64_t steps = r->batch < most ? r->batch : most;
    const double start = clock_seconds();
    enum status status = STATUS_OK;
    int64_t done = 0;
    while (done < steps) {
        const bool last = done == steps - 1; /* whose phases stand for those of all */
        /* When one rank's fails, all the same to the end: the others do not know it yet. */
        if (last ? solver_step_timed(&r->solver, p->phases) : solver_step(&r->solver))
            status = STATUS_MACHINE;
        p->step = r->solver.step;
        done++;
        narrate_live_progress(&r->n);
    }
    p->phases_steps++;
    if (!status && r->domain.rank == 0 && clock_seconds() - r->status_last > status_seconds)
        status = write_status(r);
    struct wishes mine;
    wish(r, status, (clock_seconds() - start) / (double)steps, &mine);
    MPI_Allreduce(&mine, w, sizeof *w / sizeof(int64_t), MPI_INT64_T, MPI_MAX, r->comm);
    r->batch = w->batch;
    const double seconds = clock_seconds() - start;
    p->seconds += seconds;
    p->steps_done += done;
    r->n.lap_seconds += seconds;
    r->n.lap_steps += done;
    watchdog_progress();
    return (enum status)w->status;
}

static enum status stop_early(const struct run *r, int64_t why)
{
    static const char *const text[] = {
        [ASKED_BY_SIGINT] = "SIGINT",
        [ASKED_BY_SIGUSR1] = "SIGUSR1",
        [ASKED_BY_SIGTERM] = "SIGTERM",
        [ASKED_BY_CLOCK] = "run.time_limit",
    };
    narrate_stop(&r->n, text[why]);
    return STATUS_STOPPED;
}

static enum status advance(struct run *r, bool resumed)
{
    struct flow_sums sums;
    enum status status = resumed ? look(r, true, false, &sums) : attend(r);
    while (!status && !over(r)) {
        const int64_t due = r->solver.step + steps_to_next(r);
        struct wishes w = {0};
        MPI_Barrier(r->comm); /* output of one rank is not another's step time */
        while (!status && r->solver.step < due && !w.stop && !w.checkpoint)
            status = run_batch(r, due - r->solver.step, &w);
        const double start = clock_seconds();
        if (!status && r->solver.step == due)
            status = attend(r);
        if (clock_seconds() - start > r->attend_seconds)
            r->attend_seconds = clock_seconds() - start;
        if (!status &&
            (w.stop || w.checkpoint || output_due(r->solver.step, r->c->checkpoint.every)))
            status = write_checkpoint(r);
        if (!status && w.stop && !over(r))
            status = stop_early(r, w.stop);
    }
    if (!status && keeps_checkpoints(r->c)) /* so that more steps can follow another day */
        status = write_checkpoint(r);
    return status;
}

/* ---- start and end ---- */

/* Rank 0: the files that a run has from its start. */
static enum status start_files(struct run *r, bool resumed)
{
    char path[FOLDER_PATH];
    enum status status = STATUS_OK;
    if (folder_path(path, r->dir, "case.yaml"))
        status = file_replace(path, r->c->resolved, strlen(r->c->resolved));
    if (!status && folder_path(path, r->dir, "log.txt"))
        status = message_log_to(path, resumed);
    return status ? status : write_status(r);
}

/* Where the run begins, and its folder, locked, with nothing in it that would not be of this run.
 * *done: there is nothing left to do. */
static enum status open_folder(struct run *r, const struct run_options *options,
                               struct checkpoint *k, char from[FOLDER_PATH], bool *done)
{
    const enum folder_mode mode = options->restart     ? FOLDER_RESUME
                                  : options->overwrite ? FOLDER_OVERWRITE
                                                       : FOLDER_NEW;
    /* A file is looked at before a folder is made for nothing. */
    int first =
        options->restart && strcmp(options->restart, "auto") != 0 && access(r->dir, F_OK) != 0;
    enum restart_from begin = RESTART_BEGINNING;
    enum status status = STATUS_OK;
    MPI_Bcast(&first, 1, MPI_INT, 0, r->comm);
    if (first)
        status = restart_choose(options->restart, r->c, r->dir, r->comm, &begin, k, from);
    if (!status && r->domain.rank == 0)
        status = folder_open(r->dir, mode, options->case_path, &r->lock);
    status = status_agree(r->comm, status);
    if (!status && options->restart && !first)
        status = restart_choose(options->restart, r->c, r->dir, r->comm, &begin, k, from);
    *done = begin == RESTART_DONE;
    if (status || *done || r->domain.rank != 0)
        return status_agree(r->comm, status);

    char path[FOLDER_PATH];
    const bool resumed = begin == RESTART_CHECKPOINT;
    r->n.progress.step = resumed ? k->step : 0;
    if (resumed && folder_checkpoint(path, r->dir, k->step) && access(path, F_OK) == 0)
        r->n.progress.checkpoint = k->step;
    if (mode == FOLDER_RESUME && !resumed)
        status = folder_empty(r->dir);
    return status_agree(r->comm, status ? status : start_files(r, resumed));
}

/* What state the run is in, for programs; `status` that it has until now. On rank 0. */
static enum status write_reports(struct run *r, enum status status, const char *hash)
{
    struct progress *const p = &r->n.progress;
    p->state = status == STATUS_OK         ? RUN_done
               : status == STATUS_STOPPED  ? RUN_stopped
               : status == STATUS_DIVERGED ? RUN_diverged
                                           : RUN_failed;
    enum status written = report_write(r->dir, r->c, &r->domain, r->backend, p, hash);
    if (written && (status == STATUS_OK || status == STATUS_STOPPED))
        p->state = RUN_failed; /* not done without its report */
    if (write_status(r))
        written = STATUS_MACHINE;
    return written ? written : status;
}

/* The end, good or bad. */
static enum status finish(struct run *r, enum status status)
{
    char hash[17] = "";
    const bool sound = status == STATUS_OK || status == STATUS_STOPPED;
    if (sound) {
        uint64_t bits;
        const enum status hashed = solver_hash(&r->solver, &bits);
        status = hashed ? hashed : status;
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)bits);
    }
    if (output_close(r->output) && sound)
        status = STATUS_MACHINE;
    r->output = NULL;
    if (r->c->run.stop.given && r->c->run.stop.of == STOP_permeability && r->stop[0] > 0) {
        r->n.progress.permeability = r->stop[1];
        r->n.progress.remaining = remaining(r->stop[3], r->stop[2]);
    }
    if (status == STATUS_OK)
        narrate_done(&r->n, hash);
    if (r->domain.rank == 0) {
        if (message_log_state() && sound)
            status = STATUS_MACHINE;
        status = write_reports(r, status, sound ? hash : NULL);
    }
    if (message_log_to(NULL, 0) && sound)
        status = STATUS_MACHINE;
    if (r->domain.rank != 0 && sound) /* rank 0 knows how it ended */
        status = STATUS_OK;
    return status_agree(r->comm, status);
}

static enum status register_stop(struct run *r)
{
    const struct flow_case *const c = r->c;
    char definition[STATE_DEFINITION];
    snprintf(definition, sizeof definition, "%s every %lld steps: known, value, changes",
             key_stops[c->run.stop.of], (long long)c->run.stop.every);
    enum status status =
        state_add_numbers(&r->state, "run/stop", definition, SAMPLE_float64, 4, r->stop);
    if (!status && c->run.stop.of == STOP_residual) {
        status = residual_create(&r->residual, &r->solver);
        if (!status)
            status = residual_register(&r->residual, &r->solver, &r->state, "run/residual");
    }
    return status;
}

static enum status register_own(struct run *r)
{
    enum status status = checkpoint_register_populations(&r->state, &r->solver);
    if (!status)
        status =
            state_add_numbers(&r->state, "run/ended", "1: by run.stop", SAMPLE_int64, 1, &r->ended);
    if (!status)
        status = drive_register(&r->solver, &r->state);
    if (!status && r->c->run.stop.given)
        status = register_stop(r);
    return status_agree(r->comm, status);
}

/* From the folder to the last step. from: the checkpoint's file, NULL: from the beginning. */
static enum status carry_out(struct run *r, enum transport transport, const struct checkpoint *k,
                             const char *from)
{
    enum status status = solver_create(&r->solver, &r->domain, r->backend, transport);
    if (!status)
        status = register_own(r);
    if (!status)
        status = output_create(&r->output, r->c, &r->solver, &r->state, r->dir);
    if (!status)
        status = from ? checkpoint_load(k, from, &r->solver, &r->state)
                      : solver_initialise(&r->solver, r->c);
    if (!status && from) /* only now: the checkpoint may itself be one of a later past */
        status =
            status_agree(r->comm, r->domain.rank == 0 ? folder_rewind(r->dir, k->step) : STATUS_OK);
    if (from) { /* all ranks know what rank 0 found */
        r->n.progress.step = k->step;
        MPI_Bcast(&r->n.progress.checkpoint, 1, MPI_INT64_T, 0, r->comm);
    }
    /* Ended by a criterion that is gone, or stricter now. */
    if (r->ended && !(r->c->run.stop.given && r->stop[2] < r->c->run.stop.change))
        r->ended = 0;
    if (!status)
        narrate_start(&r->n, from);
    if (!status)
        status = output_start(r->output, from ? k->step : -1);
    r->n.progress.state = RUN_running;
    if (!status)
        status = advance(r, from != NULL);
    return status;
}

enum status run_case(const struct flow_case *c, const struct run_options *options, MPI_Comm comm)
{
    struct run r = {.c = c,
                    .dir = options->dir,
                    .comm = comm,
                    .lock = -1,
                    .batch = 1,
                    .looked = -1,
                    .stop = {0, 0, NAN}};
    struct checkpoint k = {0};
    char from[FOLDER_PATH];
    bool done = false;
    signals_install();
    enum status status = domain_create(&r.domain, c, comm);
    if (status)
        return status;
    r.n = (struct narrator){.c = c,
                            .solver = &r.solver,
                            .dir = options->dir,
                            .backend_reason = options->backend_reason};
    r.n.progress.checkpoint = -1;
    r.n.live = narrate_live(&r.domain);
    const struct backend_wanted wanted = {.c = c, .comm = comm, .share = options->share_gpu};
    status = status_agree(comm, options->backend->open(&r.backend, &wanted));
    enum transport transport = TRANSPORT_host;
    if (!status)
        status = transport_choose(c, r.backend, comm, &transport, r.n.transport);
    watchdog_start(c->check.hang);
    if (!status)
        status = open_folder(&r, options, &k, from, &done);
    if (!status && !done) {
        status = carry_out(&r, transport, &k, k.count > 0 ? from : NULL);
        status = finish(&r, status);
    }
    checkpoint_close(&k);
    residual_destroy(&r.residual);
    state_destroy(&r.state);
    solver_destroy(&r.solver);
    if (r.backend)
        r.backend->type->close(r.backend);
    domain_destroy(&r.domain);
    lock_release(r.lock);
    return status;
}
