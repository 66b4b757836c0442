/* The series of a case on any number of ranks: every file has the same bytes as that of one rank,
 * and the values are those of a plain computation from the whole flow.
 *
 *     mpirun -n N tables_ranks
 *
 * For every way to cut boxes into N blocks, some of them one cell thick, with walls in them, and
 * for series of all kinds at all kinds of places: rank 0 alone runs the case once more, keeps the
 * flow of every step, and computes from it what has to be in the files. The run on all ranks is
 * stopped half-way, after rows that a restart has to drop, and goes on from the arrays that were
 * registered. At last, one rank fails: all must say so.
 *
 * Exit status: 0, or 1 after a line from each rank that found something. */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "reference.h"
#include "run/output.h"

enum {
    STEPS = 9,
    KEPT = 4, /* the step of the checkpoint */
    LOST = 6, /* steps that the job came to after it */
    SERIES = 20,
    POINTS = 301 /* of a line, more than are written in one go */
};

static char folder[256];
static int failures, comparisons;

static void complain(const struct flow_case *c, const char *what, const char *name)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    failures++;
    fprintf(stderr, "rank %d: %d x %d x %d cells cut into %d x %d x %d, faces %d %d %d: %s%s\n",
            rank, c->cells[0], c->cells[1], c->cells[2], c->run.ranks[0], c->run.ranks[1],
            c->run.ranks[2], c->faces[0].kind, c->faces[2].kind, c->faces[4].kind, name, what);
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "tables_ranks: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *need(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    must(memory, "out of memory");
    return memory;
}

/* ---- the series ---- */

static struct case_series *add(struct flow_case *c, const char *name, enum series_kind kind,
                               int64_t every)
{
    struct case_series *const s = &c->series[c->series_count++];
    must(c->series_count <= SERIES, "too many series");
    *s = (struct case_series){.kind = kind, .every = every};
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

static void set(double to[3], double x, double y, double z)
{
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

static void add_series(struct flow_case *c, uint64_t *seed)
{
    static const char *const planes[3] = {"plane_x", "plane_y", "plane_z"};
    const double nx = c->cells[0], ny = c->cells[1], nz = c->cells[2];
    struct case_series *s;
    c->series = need(SERIES, sizeof *c->series);
    add(c, "flow", SERIES_KIND_flow, 3)->of = 1u << SERIES_mass | 1u << SERIES_max_velocity;
    add(c, "more", SERIES_KIND_flow, 2)->of = 0xf;
    set(add(c, "corner", SERIES_KIND_probe, 1)->from, 0, 0, 0);
    set(add(c, "other_corner", SERIES_KIND_probe, 2)->from, nx, ny, nz);
    set(add(c, "edge_point", SERIES_KIND_probe, 2)->from, 0, ny, nz / 2);
    for (int k = 0; k < 3; k++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", k);
        s = add(c, name, SERIES_KIND_probe, 1 + k);
        for (int a = 0; a < 3; a++) {
            s->from[a] = 0.5 * c->cells[a] * (1 + reference_uniform(seed));
            if (k == 2) /* a cell's centre */
                s->from[a] = fmin(floor(s->from[a]), c->cells[a] - 1) + 0.5;
        }
    }
    s = add(c, "diagonal", SERIES_KIND_line, 3);
    set(s->to, nx, ny, nz);
    s->points = POINTS;
    s = add(c, "edge", SERIES_KIND_line, 2);
    set(s->from, 0, ny, 0);
    set(s->to, nx, ny, 0);
    s->points = 33;
    s = add(c, "centres", SERIES_KIND_line, 1);
    set(s->from, nx - 0.5, 0.5, nz - 0.5);
    set(s->to, 0.5, 0.5, nz - 0.5);
    s->points = c->cells[0] < 2 ? 2 : c->cells[0];
    for (int a = 0; a < 3; a++) {
        s = add(c, planes[a], SERIES_KIND_flow_rate, 1 + a);
        s->axis = a;
        s->at = a == 0 ? c->cells[a] - 1 : a == 1 ? 0 : c->cells[a] / 2;
    }
    add(c, "change", SERIES_KIND_residual, 1);
    add(c, "slow_change", SERIES_KIND_residual, 4);
    add(c, "never", SERIES_KIND_residual, 0);
}

/* ---- a run ---- */

struct flow {
    const struct flow_case *c;
    struct grid g; /* of one level */
};

static void start(struct flow *f, const struct flow_case *c, const struct reference *r,
                  MPI_Comm comm)
{
    *f = (struct flow){.c = c, .g = {.levels = 1}};
    f->g.level->c = c;
    must(!reference_domain(r, &f->g.level->domain, c, comm) &&
             !reference_open(&f->g.level->backend, c, comm),
         "no domain or backend");
    must(!reference_solver(&f->g.level->solver, &f->g.level->domain, f->g.level->backend, c),
         "no solver");
    reference_poison(&f->g.level->solver);
    reference_put(r, &f->g.level->solver);
}

static void stop(struct flow *f)
{
    grid_destroy(&f->g);
}

static void make_folders(const char *dir, MPI_Comm comm)
{
    int rank;
    char path[512];
    MPI_Comm_rank(comm, &rank);
    snprintf(path, sizeof path, "%s/series", dir);
    if (rank == 0)
        must(!folder_create(dir) && !folder_create(path), "no folder");
}

static void rows(struct flow *f, struct output *t)
{
    struct flow_sums sums = {0};
    bool enstrophy = false, other = true;
    const bool any = output_needs_sums(t, f->g.level->solver.step, &enstrophy);
    output_needs_sums(t, f->g.level->solver.step, &other);
    if (any != (f->g.level->solver.step % 2 == 0 || f->g.level->solver.step % 3 == 0) ||
        enstrophy != (f->g.level->solver.step % 2 == 0) || !other)
        complain(f->c, "sums are needed at other steps", "");
    if (any)
        must(!flow_measure(ONE_LEVEL(&f->g.level->solver), enstrophy, &sums), "no sums");
    if (output_rows(t, &sums))
        complain(f->c, "rows cannot be written", "");
}

/* What a checkpoint holds: the registered arrays, and here the populations too. */
static size_t bytes_of(const struct flow *f, const struct state_array *array)
{
    const struct box all = domain_all(&f->g.level->domain);
    const size_t one = array->sample == SAMPLE_float32 ? 4 : 8;
    return one * (size_t)array->components * (array->in_cells ? box_cells(&all) : 1);
}

static void **save(const struct flow *f, const struct state *state)
{
    void **const out = need((size_t)state->count + 1, sizeof *out);
    for (int k = 0; k < state->count; k++) {
        out[k] = need(bytes_of(f, &state->array[k]), 1);
        memcpy(out[k], state->array[k].data, bytes_of(f, &state->array[k]));
    }
    return out;
}

static void bring_back(const struct flow *f, const struct state *state, void **from)
{
    for (int k = 0; k < state->count; k++) {
        memcpy(state->array[k].data, from[k], bytes_of(f, &state->array[k]));
        free(from[k]);
    }
    free(from);
}

/* All steps; with `interrupt` the job dies at step LOST and is resumed from step KEPT. The flow of
 * every step goes to history[STEPS + 1][cells][4], if that is not NULL. */
static void run(const struct flow_case *c, struct reference *r, MPI_Comm comm, const char *dir,
                bool interrupt, double *history)
{
    struct flow f;
    struct output *t = NULL;
    struct state state = {0};
    void **kept = NULL, *populations = NULL;
    size_t bytes = 0;
    make_folders(dir, comm);
    start(&f, c, r, comm);
    must(!output_create(&t, c, &f.g, &state, dir), "no tables");
    must(!output_start(t, &(struct output_start){.resumed = -1}), "tables do not start");
    for (;;) {
        rows(&f, t);
        if (history) {
            const struct box all = domain_all(&f.g.level->domain);
            struct box piece;
            double *to = history + 4 * (size_t)f.g.level->solver.step * r->count;
            for (int index = 0; solver_piece(&f.g.level->solver, &all, index, &piece); index++) {
                memcpy(to, solver_flow(&f.g.level->solver, &piece),
                       4 * box_cells(&piece) * sizeof *to);
                to += 4 * box_cells(&piece);
            }
        }
        if (interrupt && !kept && f.g.level->solver.step == KEPT) {
            kept = save(&f, &state);
            bytes = Q * f.g.level->solver.view.set[SET_flow].stride * sizeof(stored);
            populations = need(bytes, 1);
            reference_memory_get(f.g.level->backend, populations,
                                 f.g.level->solver.view.set[SET_flow].populations, bytes);
            if (output_sync(t))
                complain(c, "rows cannot be synced", "");
        }
        if (f.g.level->solver.step == STEPS)
            break;
        must(!solver_step(&f.g.level->solver), "no step");
        if (populations && f.g.level->solver.step == LOST) {
            rows(&f, t);
            must(!output_close(t, NULL), "tables cannot be closed");
            state_destroy(&state);
            f.g.level->solver.step = KEPT;
            reference_memory_put(f.g.level->backend,
                                 f.g.level->solver.view.set[SET_flow].populations, populations,
                                 bytes);
            free(populations);
            populations = NULL;
            must(!output_create(&t, c, &f.g, &state, dir), "no tables again");
            bring_back(&f, &state, kept);
            must(!output_start(t, &(struct output_start){.resumed = KEPT}), "tables do not go on");
            must(!solver_step(&f.g.level->solver), "no step");
        }
    }
    if (output_close(t, NULL))
        complain(c, "tables cannot be closed", "");
    state_destroy(&state);
    stop(&f);
}

/* ---- what has to be in the files ---- */

struct truth {
    const struct flow_case *c;
    const struct reference *r;
    const double *history;
};

static const double *flow_at(const struct truth *t, int64_t step, int x, int y, int z)
{
    const size_t n = reference_cell(t->r, x, y, z);
    return t->r->row[t->r->tag[n]].fluid ? t->history + 4 * ((size_t)step * t->r->count + n) : NULL;
}

/* The cells along an axis that a place lies between, with the share of each: those less than a cell
 * away, or with an image of a periodic box there. */
struct shares {
    int count, cell[3];
    long double share[3];
};

static struct shares shares_of(const struct truth *t, int axis, long double place)
{
    const int n = t->c->cells[axis];
    const bool periodic = t->r->periodic[axis];
    struct shares found = {0};
    if (!periodic)
        place = fminl(fmaxl(place, 0.5L), n - 0.5L);
    for (int cell = 0; cell < n; cell++) {
        long double share = 0;
        for (int image = -periodic; image <= periodic; image++) {
            const long double away = fabsl(place - (cell + 0.5L + image * n));
            share += away < 1 ? 1 - away : 0;
        }
        if (share == 0)
            continue;
        must(found.count < 3, "a place lies between more than three cells");
        found.cell[found.count] = cell;
        found.share[found.count++] = share;
    }
    return found;
}

/* From the distance to each cell of the whole box. */
static void interpolate(const struct truth *t, int64_t step, const double at[3], double out[4])
{
    long double sum[4] = {0}, weights = 0;
    struct shares s[3];
    for (int a = 0; a < 3; a++)
        s[a] = shares_of(t, a, at[a]);
    for (int z = 0; z < s[2].count; z++)
        for (int y = 0; y < s[1].count; y++)
            for (int x = 0; x < s[0].count; x++) {
                const long double weight = s[0].share[x] * s[1].share[y] * s[2].share[z];
                const double *const flow =
                    flow_at(t, step, s[0].cell[x], s[1].cell[y], s[2].cell[z]);
                if (weight < 1e-9L || !flow)
                    continue;
                weights += weight;
                for (int k = 0; k < 4; k++)
                    sum[k] += weight * flow[k];
            }
    for (int k = 0; k < 4; k++)
        out[k] = weights > 0 ? (double)(sum[k] / weights) : NAN;
}

/* Velocity, density, pressure, and of what size each is in lattice units. */
/* Is a position within half a cell of a wall of the box? Its velocities go on to the wall's there,
 * which series_ranks and couette look at: any number passes. */
static bool beside_wall(const struct flow_case *c, const double at[3])
{
    bool beside = false;
    for (int a = 0; a < 3; a++)
        beside = beside || (c->faces[2 * a].kind == FACE_wall && at[a] < 0.5) ||
                 (c->faces[2 * a + 1].kind == FACE_wall && at[a] > c->cells[a] - 0.5);
    return beside;
}

static int point_values(const struct truth *t, int64_t step, const double at[3], double *out,
                        double *scale)
{
    const struct case_units *const units = &t->c->units;
    const double u = units->dx / units->dt;
    double flow[4];
    interpolate(t, step, at, flow);
    for (int a = 0; a < 3; a++) {
        out[a] = flow[1 + a] * u;
        scale[a] = beside_wall(t->c, at) ? INFINITY : u;
    }
    out[3] = (1 + flow[0]) * units->density;
    out[4] = flow[0] / 3 * units->density * u * u;
    scale[3] = units->density;
    scale[4] = units->density * u * u;
    return 5;
}

static int rate_values(const struct truth *t, int64_t step, const struct case_series *s,
                       double *out, double *scale)
{
    const struct case_units *const units = &t->c->units;
    const double u = units->dx / units->dt, area = units->dx * units->dx;
    long double volume = 0, mass = 0, drho = 0;
    int count = 0;
    for (int z = 0; z < t->c->cells[2]; z++)
        for (int y = 0; y < t->c->cells[1]; y++)
            for (int x = 0; x < t->c->cells[0]; x++) {
                const int at[3] = {x, y, z};
                const double *const flow = flow_at(t, step, x, y, z);
                if (at[s->axis] != s->at || !flow)
                    continue;
                count++;
                volume += flow[1 + s->axis];
                mass += (1 + flow[0]) * flow[1 + s->axis];
                drho += flow[0];
            }
    out[0] = (double)volume * u * area;
    out[1] = (double)mass * units->density * u * area;
    out[2] = (double)(drho / 3 / count) * units->density * u * u;
    out[3] = count * area;
    scale[0] = u * area;
    scale[1] = units->density * u * area;
    scale[2] = units->density * u * u;
    return 4;
}

static double as_kept(double u)
{
    return sizeof(stored) < 8 ? (double)(float)u : u;
}

static double residual_value(const struct truth *t, int64_t step, int64_t every)
{
    long double change = 0, whole = 0;
    if (step == 0)
        return NAN;
    for (size_t n = 0; n < t->r->count; n++)
        for (size_t a = 1; a < 4; a++) {
            const double now = as_kept(t->history[4 * ((size_t)step * t->r->count + n) + a]);
            const double before =
                as_kept(t->history[4 * ((size_t)(step - every) * t->r->count + n) + a]);
            change += ((long double)now - before) * ((long double)now - before);
            whole += (long double)now * now;
        }
    return change > 0 ? (double)sqrtl(change / whole) : 0;
}

static bool near(double got, double wanted, double scale)
{
    return isnan(wanted) ? isnan(got) : fabs(got - wanted) <= 1e-13 * (fabs(wanted) + scale);
}

/* Every number of a file. */
static void check_values(const struct truth *t, const struct case_series *s, const char *text)
{
    const struct case_units *const units = &t->c->units;
    const int points = s->kind == SERIES_KIND_line ? s->points : 1;
    const char *row = strchr(text, '\n') + 1;
    double span = 0;
    for (int a = 0; a < 3; a++)
        span += (s->to[a] - s->from[a]) * (s->to[a] - s->from[a]);
    for (int64_t step = 0; s->every && step <= STEPS; step += s->every)
        for (int k = 0; k < points; k++) {
            double wanted[12], scale[12] = {0};
            int count = 0, got = 0;
            wanted[count++] = (double)step;
            wanted[count++] = (double)step * units->dt;
            if (s->kind == SERIES_KIND_line) {
                double at[3];
                wanted[count++] = sqrt(span) * k / (points - 1) * units->dx;
                for (int a = 0; a < 3; a++) {
                    at[a] = s->from[a] + (s->to[a] - s->from[a]) * k / (points - 1);
                    wanted[count++] = at[a] * units->dx;
                }
                count += point_values(t, step, at, wanted + count, scale + count);
            } else if (s->kind == SERIES_KIND_probe) {
                count += point_values(t, step, s->from, wanted + count, scale + count);
            } else if (s->kind == SERIES_KIND_flow_rate) {
                count += rate_values(t, step, s, wanted + count, scale + count);
            } else
                wanted[count++] = residual_value(t, step, s->every);
            for (char *end; got < count; got++) {
                const double value = strtod(row, &end);
                if (end == row || *end != (got + 1 < count ? ',' : '\n') ||
                    !near(value, wanted[got], scale[got]))
                    break;
                row = end + 1;
            }
            comparisons += got;
            if (got < count) {
                char what[256];
                snprintf(what, sizeof what, " at step %d, point %d, column %d: %.30s, not %.17g",
                         (int)step, k, got, row, wanted[got]);
                complain(t->c, what, s->name);
                return;
            }
        }
    if (*row)
        complain(t->c, " has more rows than it should", s->name);
}

/* A probe at a cell's centre has just what the cell has. */
static void check_centre(const struct truth *t, const struct case_series *s, const char *text)
{
    const struct case_units *const units = &t->c->units;
    const double u = units->dx / units->dt;
    const char *row = strchr(text, '\n') + 1;
    for (int64_t step = 0; step <= STEPS; step += s->every) {
        const double *const flow =
            flow_at(t, step, (int)s->from[0], (int)s->from[1], (int)s->from[2]);
        double value[7];
        for (int k = 0; k < 7; k++) {
            char *end;
            value[k] = strtod(row, &end);
            row = end + 1;
        }
        if (flow ? value[2] != flow[1] * u || value[3] != flow[2] * u || value[4] != flow[3] * u ||
                       value[5] != (1 + flow[0]) * units->density
                 : !isnan(value[2]))
            complain(t->c, " is not what its cell has", s->name);
    }
}

/* A series' file, which is removed. */
static void take(const char *dir, const char *name, char **text, size_t *length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/series/%s.csv", dir, name);
    must(!file_read(path, 1 << 28, text, length), "no file");
    must(unlink(path) == 0, "the file stays");
}

static void remove_folders(const char *dir)
{
    char path[512];
    snprintf(path, sizeof path, "%s/series", dir);
    must(rmdir(path) == 0 && rmdir(dir) == 0, "a file was left over");
}

static void compare(const struct flow_case *c, struct reference *r)
{
    char one[300], all[300];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(all, sizeof all, "%s/all", folder);
    run(c, r, MPI_COMM_WORLD, all, true, NULL);
    if (rank != 0)
        return;
    struct flow_case alone = *c;
    for (int a = 0; a < 3; a++)
        alone.run.ranks[a] = 1;
    double *const history = need(4 * (STEPS + 1) * r->count, sizeof *history);
    const struct truth t = {.c = c, .r = r, .history = history};
    run(&alone, r, MPI_COMM_SELF, one, false, history);
    for (int k = 0; k < c->series_count; k++) {
        const struct case_series *const s = &c->series[k];
        size_t length, other_length;
        char *text, *other;
        take(all, s->name, &text, &length);
        take(one, s->name, &other, &other_length);
        if (length != other_length || memcmp(text, other, length) != 0)
            complain(c, " is not the file of one rank", s->name);
        if (s->kind != SERIES_KIND_flow)
            check_values(&t, s, other);
        if (strcmp(s->name, "p2") == 0)
            check_centre(&t, s, other);
        free(text);
        free(other);
    }
    remove_folders(one);
    remove_folders(all);
    free(history);
}

/* ---- every cut ---- */

/* Wait for rank 0, which works alone, without taking its core from it as MPI's own waiting would.
 */
static void wait_for_all(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        usleep(1000);
}

static void every_cut(int ranks)
{
    static const char *const faces[] = {"pppppp", "wwwwww", "ppwcpp", "cwppaw"};
    static const int extra[3][3] = {{0, 0, 0}, {1, 2, 0}, {13, 4, 5}};
    uint64_t seed = 1;
    for (int pz = 1; pz <= ranks; pz++)
        for (int py = 1; ranks % pz == 0 && py <= ranks / pz; py++)
            for (int kind = 0; ranks / pz % py == 0 && kind < 3; kind++)
                for (size_t k = 0; k < sizeof faces / sizeof *faces; k++) {
                    if (ranks > 3 &&
                        (k + (size_t)(pz + py + kind)) % 3) /* more cuts, fewer of each */
                        continue;
                    const int cuts[3] = {ranks / pz / py, py, pz};
                    struct flow_case c =
                        reference_case(cuts[0] + extra[kind][0], cuts[1] + extra[kind][1],
                                       cuts[2] + extra[kind][2]);
                    struct reference r;
                    reference_faces(&c, faces[k]);
                    memcpy(c.run.ranks, cuts, sizeof cuts);
                    if (++seed % 2) {
                        c.units = (struct case_units){.given = true,
                                                      .density_given = true,
                                                      .dx = 1e-3,
                                                      .dt = 1e-4,
                                                      .density = 1.2,
                                                      .cell = 1e-3};
                        c.acceleration[seed / 2 % 3] = 1e-3;
                    }
                    add_series(&c, &(uint64_t){seed});
                    reference_create(&r, &c);
                    if (k != 0)
                        reference_obstacles(&r, seed, 9, seed % 3 == 0);
                    reference_fill(&r, seed);
                    compare(&c, &r);
                    wait_for_all();
                    reference_destroy(&r);
                    free(c.series);
                }
}

/* ---- failures ---- */

static int failing_wait_calls;

static enum status failing_wait(struct backend *b, enum queue queue)
{
    (void)b;
    (void)queue;
    failing_wait_calls++;
    return STATUS_MACHINE;
}

/* All ranks must have this status. */
static void all_have(const struct flow_case *c, enum status status, enum status wanted,
                     const char *what)
{
    int mine = status, least, most;
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (least != (int)wanted || most != (int)wanted)
        complain(c, what, "not all ranks have the right status: ");
}

static void failures_reach_all_ranks(int rank, int ranks)
{
    struct flow_case c = reference_case(3 * ranks, 4, 2);
    struct backend_type broken = TAGFLOW_BACKEND;
    struct flow_sums sums = {0};
    struct reference r;
    struct flow f;
    struct state state = {0};
    struct output *t = NULL;
    char dir[300], path[400];
    uint64_t seed = 3;
    snprintf(dir, sizeof dir, "%s/bad", folder);
    broken.wait = failing_wait;
    c.run.ranks[0] = ranks;
    c.run.ranks[1] = c.run.ranks[2] = 1;
    add_series(&c, &seed);
    reference_create(&r, &c);
    reference_fill(&r, 1);
    start(&f, &c, &r, MPI_COMM_WORLD);
    must(!output_create(&t, &c, &f.g, &state, dir), "no tables");

    all_have(&c, output_start(t, &(struct output_start){.resumed = -1}), STATUS_MACHINE,
             "no folder");
    must(!output_close(t, NULL), "tables cannot be closed");
    state_destroy(&state);

    make_folders(dir, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/series/centres.csv", dir);
    if (rank == 0)
        must(!file_replace(path, "step,other\n", 11), "no file");
    must(!output_create(&t, &c, &f.g, &state, dir), "no tables");
    all_have(&c, output_start(t, &(struct output_start){.resumed = 0}), STATUS_USAGE,
             "other columns");
    must(!output_close(t, NULL), "tables cannot be closed");
    state_destroy(&state);

    must(!output_create(&t, &c, &f.g, &state, dir), "no tables");
    must(!output_start(t, &(struct output_start){.resumed = -1}), "tables do not start");
    /* the backend of the last rank fails, whatever is measured */
    if (rank == ranks - 1)
        f.g.level->backend->type = &broken;
    all_have(&c, output_rows(t, &sums), STATUS_MACHINE, "the backend");
    if (rank == ranks - 1 && failing_wait_calls == 0)
        complain(&c, "the backend was not asked", "");
    f.g.level->backend->type = &TAGFLOW_BACKEND;
    /* rank 0's disk is full */
    struct rlimit before, small = {.rlim_cur = 100};
    must(getrlimit(RLIMIT_FSIZE, &before) == 0, "no limit");
    small.rlim_max = before.rlim_max;
    if (rank == 0)
        must(setrlimit(RLIMIT_FSIZE, &small) == 0, "no limit");
    f.g.level->solver.step = 12;
    all_have(&c, output_rows(t, &sums), STATUS_MACHINE, "a full disk");
    if (rank == 0)
        must(setrlimit(RLIMIT_FSIZE, &before) == 0, "no limit");
    all_have(&c, output_sync(t), STATUS_MACHINE, "a full disk, synced");
    all_have(&c, output_close(t, NULL), STATUS_MACHINE, "a full disk, closed");
    state_destroy(&state);
    for (int k = 0; rank == 0 && k < c.series_count; k++) {
        char *text;
        take(dir, c.series[k].name, &text, NULL);
        free(text);
    }
    if (rank == 0)
        remove_folders(dir);
    stop(&f);
    reference_destroy(&r);
    free(c.series);
}

int main(int argc, char **argv)
{
    int rank, ranks, any;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    signal(SIGXFSZ, SIG_IGN);
    if (rank == 0) {
        const char *const in = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/tagflow-tables-XXXXXX", in ? in : "/tmp");
        must(mkdtemp(folder), "no folder");
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    every_cut(ranks);
    failures_reach_all_ranks(rank, ranks);
    if (rank == 0)
        must(rmdir(folder) == 0, "a file was left over");
    MPI_Allreduce(&failures, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d numbers on %d ranks: %s\n", comparisons, ranks, any ? "FAILED" : "all right");
    MPI_Finalize();
    return any != 0;
}
