/* A run: from the case to its last step; see run.h. */
#include "run/run.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "run/folder.h"
#include "run/output.h"
#include "run/report.h"
#include "version.h"

enum { HOST_NAME = 64 };

struct run {
    const struct flow_case *c;
    const char *dir;
    MPI_Comm comm;
    struct domain domain;
    struct backend *backend;
    struct solver solver;
    struct output output;
    struct progress progress;
    double lap_seconds; /* of steps since the last log line */
    int64_t lap_steps;
    bool live; /* live: a progress line on the terminal */
    double live_last;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum status agree(const struct run *r, enum status status)
{
    int mine = status, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, r->comm);
    return (enum status)worst;
}

/* ---- what is said at the start ---- */

static void say_hosts(const struct run *r)
{
    const struct domain *const d = &r->domain;
    char host[HOST_NAME] = "?";
    char *hosts = NULL;
    gethostname(host, sizeof host - 1);
    if (d->rank == 0)
        hosts = calloc((size_t)d->ranks, HOST_NAME);
    if (d->rank == 0 && !hosts)
        MPI_Abort(r->comm, fail_machine("out of memory"));
    MPI_Gather(host, HOST_NAME, MPI_CHAR, hosts, HOST_NAME, MPI_CHAR, 0, r->comm);
    for (int rank = 0; d->rank == 0 && rank < d->ranks;) {
        int same = rank; /* ranks in a row on one host share a line */
        while (same + 1 < d->ranks &&
               strcmp(hosts + (same + 1) * HOST_NAME, hosts + rank * HOST_NAME) == 0)
            same++;
        if (same == rank)
            say("rank %d on %s: %s", rank, hosts + rank * HOST_NAME, r->backend->description);
        else
            say("ranks %d to %d on %s: %s", rank, same, hosts + rank * HOST_NAME,
                r->backend->description);
        rank = same + 1;
    }
    free(hosts);
}

/* Ranks of this node that may use each of its cores, times threads: more than one is a waste. */
static void warn_threads(const struct run *r)
{
    cpu_set_t allowed;
    MPI_Comm node;
    int ranks;
    MPI_Comm_split_type(r->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    const int cores = CPU_COUNT(&allowed), online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (r->c->run.threads > cores)
        warn("run.threads is %d, but a rank may use %d core%s (mpirun --bind-to none, or fewer "
             "threads)",
             r->c->run.threads, cores, cores == 1 ? "" : "s");
    else if (r->c->run.threads * ranks > online)
        warn("%d ranks of %d thread%s on the %d cores of this node: fewer would be faster", ranks,
             r->c->run.threads, r->c->run.threads == 1 ? "" : "s", online);
}

static void say_start(const struct run *r)
{
    const struct domain *const d = &r->domain;
    const struct view *const v = &r->solver.view;
    char date[64];
    const time_t t = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", gmtime(&t));
    say("tagflow %s (%s), %s", TAGFLOW_VERSION, TAGFLOW_COMMIT, date);
    say_hosts(r);
    case_say_derived(r->c);
    double bytes = (double)v->stride * Q * (r->backend->storage == PRECISION_fp64 ? 8 : 4) +
                   (double)d->view_cells;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_MAX, r->comm);
    say("ranks: %d = %d x %d x %d; %lld fluid cells; %.4g GB a rank", d->ranks, d->cuts[0],
        d->cuts[1], d->cuts[2], (long long)d->fluid_cells, 1e-9 * bytes);
    case_warn(r->c);
    warn_threads(r);
}

/* ---- what is said on the way ---- */

static const char *duration_text(char *text, size_t size, double seconds)
{
    const long long s = (long long)(seconds + 0.5);
    if (!(seconds < 1e9))
        snprintf(text, size, "-");
    else if (s < 100)
        snprintf(text, size, "%lld s", s);
    else if (s < 6000)
        snprintf(text, size, "%lldm%02llds", s / 60, s % 60);
    else
        snprintf(text, size, "%lldh%02lldm", s / 3600, s / 60 % 60);
    return text;
}

static double seconds_left(const struct run *r)
{
    const double rate =
        r->progress.seconds > 0 ? (double)r->progress.steps_done / r->progress.seconds : 0;
    return rate > 0 ? (double)(r->c->run.steps - r->progress.step) / rate : INFINITY;
}

static void say_progress(struct run *r, const struct flow_sums *sums)
{
    const struct flow_case *const c = r->c;
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2];
    char left[32], time_text[48] = "";
    if (r->lap_seconds > 0)
        r->progress.updates_now = (double)r->lap_steps * cells / r->lap_seconds;
    r->lap_seconds = 0;
    r->lap_steps = 0;
    if (c->units.given)
        snprintf(time_text, sizeof time_text, "  time %.6g s",
                 (double)r->progress.step * c->units.dt);
    if (r->live)
        fputs("\r\033[K", stderr);
    const double u = output_velocity_unit(c);
    const double energy = c->units.density * c->units.dx * c->units.dx * c->units.dx * u * u;
    say("step %lld  %.1f %%%s  %.4f GLUPS  left %s  energy %.8g  max |u| %.6g",
        (long long)r->progress.step, 100.0 * (double)r->progress.step / (double)c->run.steps,
        time_text, 1e-9 * r->progress.updates_now,
        duration_text(left, sizeof left, seconds_left(r)), sums->kinetic_energy * energy,
        sums->max_velocity * u);
}

/* On a terminal, twice a second. Under mpirun and srun isatty is no evidence. (PMIX_RANK is none of
 * a launcher: Open MPI sets it itself in a program that was started alone.) */
static bool on_a_terminal(const struct domain *d)
{
    return d->rank == 0 && isatty(STDERR_FILENO) && !getenv("OMPI_COMM_WORLD_SIZE") &&
           !getenv("PMI_RANK") && !getenv("SLURM_PROCID");
}

static void live_progress(struct run *r)
{
    char left[32];
    const double t = now();
    if (!r->live || t - r->live_last < 0.5)
        return;
    r->live_last = t;
    fprintf(stderr, "\r\033[Kstep %lld of %lld (%.0f %%), %s left", (long long)r->progress.step,
            (long long)r->c->run.steps, 100.0 * (double)r->progress.step / (double)r->c->run.steps,
            duration_text(left, sizeof left, seconds_left(r)));
    fflush(stderr);
}

/* ---- the run ---- */

static enum status check_divergence(const struct run *r, const struct flow_sums *sums,
                                    int64_t last_good)
{
    const double limit = r->c->check.max_velocity;
    const char *const unit = r->c->units.given ? " m/s" : "";
    const int *const cell = sums->finite ? sums->max_cell : sums->bad_cell;
    const double dx = r->c->units.dx, u = output_velocity_unit(r->c);
    char position[128] = "";
    if (sums->finite && sums->max_velocity <= limit)
        return STATUS_OK;
    if (r->live)
        fputs("\r\033[K", stderr);
    if (r->c->units.given)
        snprintf(position, sizeof position, " (%.4g, %.4g, %.4g m)", (cell[0] + 0.5) * dx,
                 (cell[1] + 0.5) * dx, (cell[2] + 0.5) * dx);
    if (sums->finite)
        fail_user("the flow diverged: |u| = %.3g%s above check.max_velocity %.3g%s at step %lld in "
                  "cell [%d, %d, %d]%s, "
                  "after step %lld (try a smaller velocity or time step, a finer grid, or a larger "
                  "viscosity)",
                  sums->max_velocity * u, unit, limit * u, unit, (long long)r->progress.step,
                  cell[0], cell[1], cell[2], position, (long long)last_good);
    else
        fail_user("the flow diverged: not a finite number at step %lld in cell [%d, %d, %d]%s, "
                  "after step %lld "
                  "(try a smaller velocity or time step, a finer grid, or a larger viscosity)",
                  (long long)r->progress.step, cell[0], cell[1], cell[2], position,
                  (long long)last_good);
    return STATUS_DIVERGED;
}

static bool files_due(const struct flow_case *c, int64_t step)
{
    bool due = false;
    for (int i = 0; i < c->fields_count; i++)
        due |= output_due(step, c->fields[i].every);
    for (int i = 0; i < c->images_count; i++)
        due |= output_due(step, c->images[i].every);
    return due;
}

/* Everything due at the present step: sums, divergence check, log, status, output. */
static enum status attend(struct run *r, int64_t *last_good)
{
    const struct flow_case *const c = r->c;
    const int64_t step = r->solver.step;
    const bool last = step == c->run.steps, first = step == 0;
    const bool log = output_due(step, c->log_every) || last || first;
    /* Nothing is written from a state that was not looked at. */
    const bool check =
        output_due(step, c->check.every) || last || (c->check.every && files_due(c, step));
    bool enstrophy = false;
    const bool series = output_needs_sums(&r->output, step, &enstrophy);
    struct flow_sums sums = {0};
    enum status status = STATUS_OK;

    if (log || check || series) {
        status = flow_measure(&r->solver, enstrophy, &sums);
        if (!status && c->check.every)
            status = check_divergence(r, &sums, *last_good);
        if (status)
            return status;
        *last_good = step;
    }
    if (log && r->domain.rank == 0) {
        say_progress(r, &sums);
        status = message_log_state();
        if (!status)
            status = report_status(r->dir, c, &r->progress);
    }
    status = agree(r, status);
    return status ? status : output_write(&r->output, &sums, last);
}

/* Steps from here to the next at which anything is due. */
static int64_t steps_to_next(const struct run *r)
{
    const struct flow_case *const c = r->c;
    const int64_t step = r->solver.step;
    int64_t next = c->run.steps - step;
#define DUE(every)                                                                                 \
    if ((every) > 0 && (every)-step % (every) < next)                                              \
        next = (every)-step % (every);
    DUE(c->log_every)
    DUE(c->check.every)
    for (int i = 0; i < c->series_count; i++)
        DUE(c->series[i].every)
    for (int i = 0; i < c->fields_count; i++)
        DUE(c->fields[i].every)
    for (int i = 0; i < c->images_count; i++)
        DUE(c->images[i].every)
#undef DUE
    return next;
}

static enum status advance(struct run *r)
{
    int64_t last_good = 0;
    r->progress.state = RUN_running;
    enum status status = attend(r, &last_good);
    while (!status && r->solver.step < r->c->run.steps) {
        const int64_t steps = steps_to_next(r);
        MPI_Barrier(r->comm); /* output of one rank is not another's step time */
        const double start = now();
        for (int64_t k = 0; k < steps && !status; k++) {
            status = solver_step(&r->solver);
            r->progress.step = r->solver.step;
            live_progress(r);
        }
        MPI_Barrier(r->comm);
        const double seconds = now() - start;
        r->progress.seconds += seconds;
        r->progress.steps_done += steps;
        r->lap_seconds += seconds;
        r->lap_steps += steps;
        status = agree(r, status);
        if (!status)
            status = attend(r, &last_good);
    }
    return status;
}

static enum status open_folder(struct run *r, const struct run_options *options)
{
    char path[FOLDER_PATH];
    enum status status = STATUS_OK;
    if (r->domain.rank == 0) {
        status = folder_open(r->dir, options->overwrite, options->case_path);
        if (!status && folder_path(path, r->dir, "case.yaml"))
            status = file_replace(path, r->c->resolved, strlen(r->c->resolved));
        if (!status && folder_path(path, r->dir, "log.txt"))
            status = message_log_to(path, 0);
        if (!status)
            status = report_status(r->dir, r->c, &r->progress);
    }
    return agree(r, status);
}

static void say_done(const struct run *r, const char *hash)
{
    const double cells = (double)r->c->cells[0] * r->c->cells[1] * r->c->cells[2];
    const double rate =
        r->progress.seconds > 0 ? (double)r->progress.steps_done / r->progress.seconds : 0;
    char text[32];
    say("done: %lld steps in %s, %.4f GLUPS, %.1f GB/s; state %s",
        (long long)r->progress.steps_done, duration_text(text, sizeof text, r->progress.seconds),
        1e-9 * rate * cells, 1e-9 * rate * cells * report_bytes_per_update(r->backend), hash);
    say("results in %s", r->dir);
}

/* What state the run is in, for programs; `status` that it has until now. On rank 0. */
static enum status write_reports(struct run *r, enum status status, const char *hash)
{
    r->progress.state = status == STATUS_OK         ? RUN_done
                        : status == STATUS_DIVERGED ? RUN_diverged
                                                    : RUN_failed;
    enum status written = report_status(r->dir, r->c, &r->progress);
    if (!written)
        written = report_write(r->dir, r->c, &r->domain, r->backend, &r->progress, hash);
    if (written && status == STATUS_OK) { /* not done without its report */
        r->progress.state = RUN_failed;
        report_status(r->dir, r->c, &r->progress);
    }
    return status ? status : written;
}

/* The end, good or bad. */
static enum status finish(struct run *r, enum status status)
{
    char hash[17] = "";
    const bool sound = status == STATUS_OK;
    if (sound) {
        uint64_t bits;
        status = solver_hash(&r->solver, &bits);
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)bits);
    }
    if (output_close(&r->output) && !status)
        status = STATUS_MACHINE;
    status = agree(r, status);
    if (status == STATUS_OK)
        say_done(r, hash);
    if (r->domain.rank == 0) {
        status = status ? status : message_log_state();
        status = write_reports(r, status, sound ? hash : NULL);
    }
    if (message_log_to(NULL, 0) && !status)
        status = STATUS_MACHINE;
    return agree(r, status);
}

enum status run_case(const struct flow_case *c, const struct run_options *options, MPI_Comm comm)
{
    struct run r = {.c = c, .dir = options->dir, .comm = comm};
    enum status status = domain_create(&r.domain, c, comm);
    if (status)
        return status;
    status = agree(&r, options->backend->open(&r.backend, c));
    if (!status)
        status = open_folder(&r, options);
    if (!status) {
        r.live = on_a_terminal(&r.domain);
        status = solver_create(&r.solver, &r.domain, r.backend);
        if (!status)
            say_start(&r);
        if (!status)
            status = solver_initialise(&r.solver, c);
        if (!status)
            status = output_open(&r.output, c, &r.solver, r.dir);
        if (!status)
            status = advance(&r);
        status = finish(&r, status);
    }
    solver_destroy(&r.solver);
    if (r.backend)
        r.backend->type->close(r.backend);
    domain_destroy(&r.domain);
    return status;
}
