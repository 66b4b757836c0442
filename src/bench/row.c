/* One row of the table: verified, measured, verified again; see bench.h. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/message.h"
#include "bench/ceiling.h"
#include "bench/energy.h"
#include "boundary.h"
#include "measure/flow.h"
#include "measure/flow_rate.h"
#include "solver/grid.h"
#include "solver/transport.h"
#include "tags/inputs.h"

/* Most cells of a rank's block for which the slow plain step takes only seconds. */
static const double verify_cells = 128.0 * 128 * 128;
/* Steps that are verified before the first repeat and after the last, an even and an odd one; steps
 * whose phases are timed, after each repeat and not part of it. */
enum { VERIFY_STEPS = 2, PHASE_STEPS = 4 };

/* Time of the warm-up, at least, and of a ceiling measurement, divided by the time of a repeat. */
static const double warm_up_part = 0.4, ceiling_part = 0.35;
/* Time in which the best ways of the ceiling are chosen, once for a grid and storage, divided by
 * the time of a repeat; at most choose_seconds. */
static const double choose_part = 4, choose_seconds = 4;

/* Where mass may change: largest differences of the mean density from 1, and of the mass that flows
 * through the box from the mass that comes in, as a part of it. Sound of the start makes up to
 * 0.05 (24^3 cells). */
static const double most_density = 0.02, most_flow = 0.2;

/* A flow restarts when its speed has fallen below this part of the initial speed. */
static const double slowest = 0.2;

/* A case and everything needed to step it. */
struct flow {
    struct flow_case c;
    struct grid grid;
};

static struct solver *solver_of(struct flow *f)
{
    return &f->grid.level->solver;
}

static struct backend *backend_of(const struct flow *f)
{
    return f->grid.level->backend;
}

static void flow_destroy(struct flow *f)
{
    grid_destroy(&f->grid);
    case_destroy(&f->c);
    *f = (struct flow){0};
}

/* Do the hosts have so much memory? Asked before any allocation, because the system kills processes
 * when memory runs out. */
static enum status check_room(struct bench *b, const struct flow_case *c, double need)
{
    struct memory_lack lack;
    if (!memory_lacks(need, b->comm, &lack))
        return STATUS_OK;
    if (b->rank == 0)
        fail_machine("%d x %d x %d cells in %s need %.4g GB of memory on a host where %.4g GB are "
                     "free (give less --cells, or use more hosts)",
                     c->cells[0], c->cells[1], c->cells[2], precision_name(c->solver.storage),
                     1e-9 * lack.need, 1e-9 * lack.available);
    return STATUS_MACHINE;
}

static double cells_of(const struct bench *b, const struct bench_subject *s)
{
    return (double)s->cells[0] * s->cells[1] * s->cells[2] / b->ranks;
}

/* Reads the case of a row. Errors leave nothing to destroy. */
static enum status read_case(struct bench *b, const struct bench_subject *s, struct flow_case *c)
{
    const struct bench_options *const o = b->options;
    char name[64], *text;
    size_t length;
    enum status status = status_agree(b->comm, bench_case_text(s, &text, &length));
    if (status)
        return status;
    snprintf(name, sizeof name, "bench_%s.yaml", bench_cases[s->which]);
    const struct case_files files = inputs(&b->comm);
    status = case_read_files(name, text, (long)length, o->set_count, o->sets, &files, c);
    free(text);
    status = status_agree(b->comm, status);
    if (status)
        return status;
    const char *what = memcmp(c->cells, s->cells, sizeof c->cells) != 0 ? "--cells"
                       : c->solver.storage != s->storage                ? "--storage"
                       : c->solver.arithmetic != s->arithmetic          ? "--arithmetic"
                       : c->solver.collision != s->collision            ? "--collision"
                       : c->run.threads != s->threads                   ? "--threads"
                                                                        : NULL;
    if (what)
        status = fail_user("a --set changes what %s says: give %s alone", what, what);
    else if ((c->levels > 1) != (s->which == BENCH_CASE_refined))
        status = fail_user("--set refine: the case refined alone has levels (leave it out)");
    else
        status = check_room(b, c, cells_of(b, s)); /* for its tags */
    if (status)
        case_destroy(c);
    return status;
}

/* Creates everything from the case, which is read, to the initial flow. A device reports its own
 * lack of memory. */
static enum status flow_create(struct bench *b, bool verified, struct flow *f)
{
    char why[128];
    enum transport transport;
    enum status status = grid_create(&f->grid, &f->c, b->options->backend->row_bytes, b->comm);
    if (!status)
        status = check_room(b, &f->c,
                            (b->options->backend->host_memory ? grid_bytes(&f->grid) : 0) +
                                (verified ? verify_bytes(&f->grid.level->domain, &f->c) : 0));
    if (!status)
        status = grid_open(&f->grid, b->options->backend, b->options->share_gpu);
    if (!status)
        status = transport_choose(&f->c, backend_of(f), b->comm, &transport, why);
    if (!status)
        status = grid_start(&f->grid, transport);
    if (!status)
        status = status_agree(b->comm, grid_initialise(&f->grid, NULL));
    return status;
}

/* Makes so many steps, in sweeps of at most `most`; phases: adds their seconds, or NULL. A rank
 * that fails makes all steps, because the others do not know of it. */
static enum status advance(struct flow *f, int64_t steps, int64_t most, double *phases)
{
    const struct solver *const s = solver_of(f);
    enum status status = STATUS_OK;
    for (const int64_t end = s->step + steps; s->step < end;) {
        const int64_t sweep = end - s->step < most ? end - s->step : most;
        if (phases ? grid_sweep_timed(&f->grid, sweep, phases) : grid_sweep(&f->grid, sweep))
            status = STATUS_MACHINE;
    }
    return grid_wait(&f->grid) ? STATUS_MACHINE : status;
}

/* ---- is it right? ---- */

static enum status check_steps(struct flow *f, struct bench_row *row)
{
    memcpy(row->verified_cells, f->c.cells, sizeof row->verified_cells);
    row->verified = verify_knows(&f->grid.level->domain, &f->c, row->why);
    if (!row->verified)
        return STATUS_OK;
    return verify_steps(solver_of(f), &f->c, VERIFY_STEPS, NULL, &row->verified, row->why);
}

/* Compares sweeps over memory with single steps, which are verified themselves: a sweep of T steps
 * that begins at an even step, and one that begins at an odd step. Leaves the flow as it was made.
 */
static enum status check_sweeps(struct bench *b, struct flow *f, struct bench_row *row)
{
    const int sweep = solver_of(f)->sweep, steps[] = {sweep, 1, sweep};
    uint64_t hash[2] = {0, 0};
    enum status status = STATUS_OK;
    for (int k = 0; k < 2 && sweep > 1 && !status; k++) {
        for (int part = 0; part < 3 && !status; part++)
            status = status_agree(b->comm, advance(f, steps[part], k ? sweep : 1, NULL));
        if (!status)
            status = grid_hash(&f->grid, SET_flow, &hash[k]);
        if (!status)
            status = status_agree(b->comm, grid_initialise(&f->grid, NULL));
    }
    row->verified = hash[0] == hash[1];
    if (!row->verified)
        snprintf(row->why, sizeof row->why,
                 "sweeps of %d steps give another state than single steps: hashes %016llx and "
                 "%016llx",
                 sweep, (unsigned long long)hash[1], (unsigned long long)hash[0]);
    return status;
}

/* Verifies the same case on a grid small enough for the plain step. */
static enum status check_smaller(struct bench *b, struct bench_row *row, double scale)
{
    struct bench_subject s = row->subject;
    struct flow f = {0};
    for (int a = 0; a < 3; a++)
        s.cells[a] = (int)fmin(s.cells[a], fmax(bench_fewest(s.which), floor(s.cells[a] * scale)));
    s.radius = fmin(s.radius, 0.5 * fmin(s.cells[0], fmin(s.cells[1], s.cells[2])));
    enum status status = read_case(b, &s, &f.c);
    if (!status)
        status = flow_create(b, true, &f);
    if (!status)
        status = check_steps(&f, row);
    flow_destroy(&f);
    return status;
}

/* Planes of cells through which the flow is measured. */
enum { PLANES = 3 };

/* The flow at a step. */
struct look {
    int64_t step;
    struct flow_sums sums;
    double through[PLANES]; /* mass a step, in behind, between and out before open faces */
};

/* The face with a given velocity if the one opposite is open, too; -1: there is none. */
static int inlet_of(const struct flow_case *c)
{
    for (int face = 0; face < 6; face++)
        if (c->faces[face].kind == FACE_velocity && face_open(c->faces[face ^ 1].kind))
            return face;
    return -1;
}

static enum status look(struct flow *f, struct look *l)
{
    struct solver *const s = solver_of(f);
    const int inlet = inlet_of(&f->c), axis = inlet / 2;
    *l = (struct look){.step = s->step};
    const struct levels all = levels_of(&f->grid);
    enum status status = flow_measure(&all, false, &l->sums);
    for (int k = 0; k < PLANES && !status && inlet >= 0; k++) {
        struct flow_rate rate;
        status = flow_rate_measure(&all, axis, (f->c.cells[axis] - 1) * k / (PLANES - 1), &rate);
        l->through[k] = inlet & 1 ? -rate.mass : rate.mass;
    }
    return status;
}

/* Is there no open face, and no surface that crosses links? Their rules do not keep the mass. The
 * same on all ranks. */
static bool keeps_mass(const struct flow *f)
{
    int keeps = 1;
    for (int l = 0; l < f->grid.levels; l++) {
        const struct domain *const d = &f->grid.level[l].domain;
        for (int k = 0; k < d->row_count; k++) {
            const int rule = d->rows[k].boundary;
            if ((boundary_open(rule) && rule != BOUNDARY_slip) || boundary_is(rule) & RULE_listed)
                keeps = 0;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &keeps, 1, MPI_INT, MPI_MIN, f->grid.level->domain.comm);
    return keeps;
}

/* Largest change of mass that rounding explains. A rounding of what is stored or computed changes a
 * cell's mass by less than half a unit in the last place of the deviations f_i - w_i, whose sum is
 * at most about 4 |u| + 0.01. There are a few dozen roundings a step, at worst all of the same
 * sign. A wall or halo that loses one population in a thousand cells is far above that in fp32. */
static double mass_tolerance(const struct flow *f, const struct look *from, const struct look *to)
{
    static const double units[] = {
        [PRECISION_fp16] = 0x1p-11, [PRECISION_fp32] = 0x1p-24, [PRECISION_fp64] = 0x1p-53};
    const double unit = units[f->c.solver.storage];
    const double speed = fmax(from->sums.max_velocity, to->sums.max_velocity);
    double cells = 0; /* a level's mass counts 8^-l, its steps 2^l */
    for (int l = 0; l < f->grid.levels; l++)
        cells += ldexp((double)f->grid.level[l].domain.fluid_cells,
                       -(refined_dimensions(&f->grid.refined, 3) - 1) * l);
    return 8 * unit * (4 * speed + 0.01) * (double)(to->step - from->step + 1) * cells;
}

/* Where mass may change: the mean density is still near the one given, and what flows through the
 * box near what comes in. */
static bool flow_sound(const struct flow *f, const struct look *l, struct bench_row *row)
{
    const struct domain *const d = &f->grid.level->domain;
    const double density = l->sums.mass / (double)d->fluid_cells;
    const int inlet = inlet_of(&f->c);
    const double in = inlet < 0 ? 0 : d->opening[inlet].inflow;
    if (!(fabs(density - 1) <= most_density)) {
        snprintf(row->why, sizeof row->why, "after step %lld the mean density is %.6g, not about 1",
                 (long long)l->step, density);
        return false;
    }
    for (int k = 0; k < PLANES && inlet >= 0; k++) {
        if (fabs(l->through[k] - in) <= most_flow * fabs(in))
            continue;
        static const char *const where[PLANES] = {"beginning", "middle", "end"};
        snprintf(row->why, sizeof row->why,
                 "after step %lld a mass of %.6g a step flows through the %s of the box, %.6g "
                 "comes in",
                 (long long)l->step, l->through[k], where[k], in);
        return false;
    }
    return true;
}

/* Is the state finite, and has it kept its mass? */
static bool sound(const struct flow *f, const struct look *from, const struct look *to,
                  struct bench_row *row)
{
    const double change = to->sums.mass - from->sums.mass, most = mass_tolerance(f, from, to);
    if (!to->sums.finite)
        snprintf(row->why, sizeof row->why,
                 "after step %lld cell %d %d %d holds a number that is not finite or out of range",
                 (long long)to->step, to->sums.bad_cell[0], to->sums.bad_cell[1],
                 to->sums.bad_cell[2]);
    else if (row->keeps_mass && !(fabs(change) <= most))
        snprintf(row->why, sizeof row->why,
                 "from step %lld to %lld the mass changed by %.3g of %.9g; rounding explains %.3g",
                 (long long)from->step, (long long)to->step, change, from->sums.mass, most);
    else if (row->keeps_mass || flow_sound(f, to, row))
        return true;
    row->verified = false;
    return false;
}

/* ---- how fast is it? ---- */

/* Times `steps` steps; *seconds: of the slowest rank. */
static enum status timed(struct bench *b, struct flow *f, int64_t steps, double *seconds)
{
    MPI_Barrier(b->comm);
    const double start = clock_seconds();
    const enum status status = advance(f, steps, steps, NULL);
    *seconds = clock_seconds() - start;
    MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, b->comm);
    return status_agree(b->comm, status);
}

/* Makes steps until the machine has reached its speed; finds how many steps a repeat takes. */
static enum status warm_up(struct bench *b, struct flow *f, struct bench_row *row)
{
    const struct bench_options *const o = b->options;
    const double wanted = warm_up_part * o->seconds;
    double seconds;
    int64_t steps = o->steps ? o->steps : 2;
    for (;;) {
        const enum status status = timed(b, f, steps, &seconds);
        if (status)
            return status;
        if (o->steps || seconds >= wanted)
            break;
        /* seconds is the same on all ranks */
        const double more = seconds > 0.01 * wanted ? 1.2 * wanted / seconds : 100;
        steps = (int64_t)ceil((double)steps * fmin(more, 100));
    }
    row->steps =
        o->steps ? o->steps : (int64_t)fmax(1, round(o->seconds / seconds * (double)steps));
    return STATUS_OK;
}

static enum status make_ceiling(struct bench *b, const struct flow *f)
{
    size_t cells = 0;
    for (int l = 0; l < f->grid.levels; l++) {
        const struct box all = domain_all(&f->grid.level[l].domain);
        cells += box_cells(&all);
    }
    const size_t bytes = precision_bytes(f->c.solver.storage);
    int differs = !b->ceiling || cells != b->ceiling_cells || bytes != b->ceiling_bytes;
    MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, b->comm);
    if (!differs)
        return STATUS_OK;
    ceiling_destroy(b->ceiling);
    b->ceiling = NULL;
    b->ceiling_cells = cells;
    b->ceiling_bytes = bytes;
    return ceiling_create(&b->ceiling, b->comm, cells, bytes, f->c.run.threads,
                          fmin(choose_seconds, choose_part * b->options->seconds));
}

/* Measures the ceiling, updates a second of all ranks. */
static enum status measure_ceiling(struct bench *b, struct flow *f, struct bench_row *row,
                                   double *updates)
{
    const double seconds = ceiling_part * b->options->seconds;
    if (!backend_of(f)->type->host_memory) {
        double bytes;
        const enum status status =
            copy_measure(backend_of(f), b->comm, b->host.host_ranks, seconds, &bytes);
        *updates = bytes / row->bytes_per_update;
        snprintf(row->way, sizeof row->way, "the device's own copy");
        return status;
    }
    *updates = ceiling_measure(b->ceiling, seconds) *
               (backend_bytes_per_update(backend_of(f)) / row->bytes_per_update);
    snprintf(row->way, sizeof row->way, "%s", ceiling_way(b->ceiling));
    if (*updates > 0)
        return STATUS_OK;
    if (b->rank == 0)
        fail_machine("the data that the ceiling is measured with are wrong afterwards: this "
                     "machine's memory or processor is faulty");
    return STATUS_MACHINE;
}

/* Adds the seconds of each phase of a step, mean over ranks. */
static enum status look_at_phases(struct bench *b, struct flow *f, double sum[PHASES])
{
    double seconds[PHASES] = {0};
    MPI_Barrier(b->comm);
    const enum status status = advance(f, PHASE_STEPS, PHASE_STEPS, seconds);
    MPI_Allreduce(MPI_IN_PLACE, seconds, PHASES, MPI_DOUBLE, MPI_SUM, b->comm);
    for (int k = 0; k < PHASES; k++)
        sum[k] += seconds[k] / PHASE_STEPS / b->ranks;
    return status_agree(b->comm, status);
}

/* Reads the clocks of the device, or of the host, just after it was busy. */
static void look_at_clocks(const struct backend *b, struct bench_host *h)
{
    double mhz[2], least, most;
    if (b->type->clocks && b->type->clocks(b, mhz))
        least = most = mhz[0];
    else if (!b->type->host_memory || !machine_clocks(&least, &most))
        return;
    h->clock_least = h->clock_least > 0 && h->clock_least < least ? h->clock_least : least;
    h->clock_most = h->clock_most > most ? h->clock_most : most;
}

/* Makes repeat k of the row. */
static enum status repeat(struct bench *b, struct flow *f, struct energy *energy,
                          struct bench_row *row, int k, double *joules)
{
    double seconds, ceiling;
    const double before = energy_joules(energy);
    enum status status = timed(b, f, row->steps, &seconds);
    *joules += energy_joules(energy) - before;
    look_at_clocks(backend_of(f), &b->host);
    if (!status)
        status = measure_ceiling(b, f, row, &ceiling);
    if (!status)
        status = look_at_phases(b, f, row->phases);
    if (status)
        return status;
    row->updates.all[k] = grid_updates(&f->grid, false) * (double)row->steps / seconds;
    row->fluid.all[k] = grid_updates(&f->grid, true) * (double)row->steps / seconds;
    row->ceiling.all[k] = ceiling;
    row->share.all[k] = row->fluid.all[k] / ceiling;
    return STATUS_OK;
}

static void spread_sum_up(struct spread *s, double *sorted)
{
    memcpy(sorted, s->all, (size_t)s->count * sizeof *sorted);
    s->median = ceiling_median(sorted, s->count);
    s->least = sorted[0];
    s->most = sorted[s->count - 1];
}

static enum status all_repeats(struct bench *b, struct flow *f, struct energy *energy,
                               struct bench_row *row)
{
    const int repeats = b->options->repeat;
    struct look first, from, to;
    double joules = 0;
    enum status status = look(f, &first);
    from = first;
    if (!status && !sound(f, &first, &first, row))
        return STATUS_OK;
    if (!status)
        status = warm_up(b, f, row);
    for (int k = 0; k < repeats && !status; k++) {
        status = repeat(b, f, energy, row, k, &joules);
        if (!status)
            status = look(f, &to);
        if (!status && !sound(f, &from, &to, row))
            return STATUS_OK;
        if (!status && to.sums.max_velocity < slowest * first.sums.max_velocity) {
            status = status_agree(b->comm, grid_initialise(&f->grid, NULL));
            if (!status)
                status = look(f, &from);
        }
    }
    for (int k = 0; k < PHASES; k++)
        row->phases[k] /= repeats;
    row->joules =
        joules / (grid_updates(&f->grid, true) * (double)row->steps * (double)repeats) * 1e9;
    return status;
}

/* Bytes of the scalars' populations that an update reads and writes: fp32 at least. */
static double scalar_bytes(const struct flow *f)
{
    const size_t number = precision_bytes(f->c.solver.storage);
    return 2.0 * Q_AXES * f->c.scalar_count * (double)(number < 4 ? 4 : number);
}

/* Describes a row, apart from its rates. */
static enum status describe(struct bench *b, const struct flow *f, struct bench_row *row)
{
    const int repeats = b->options->repeat;
    const struct domain *const d = &f->grid.level->domain;
    double bytes = 0, cells = 0;
    int sparse = 0;
    for (int l = 0; l < f->grid.levels; l++) {
        const struct domain *const level = &f->grid.level[l].domain;
        bytes += solver_bytes(level) + (l > 0 ? f->grid.seam[l - 1].bytes : 0);
        cells += (double)grid_cells(&f->grid, l);
        row->fluid_cells += level->fluid_cells;
        sparse = sparse || level->view.place;
    }
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, b->comm);
    row->levels = f->grid.levels;
    row->updates_per_step = grid_updates(&f->grid, false);
    row->bytes_per_cell = bytes / cells;
    row->bytes_per_update = backend_bytes_per_update(backend_of(f)) + scalar_bytes(f);
    row->bytes_per_fluid = bytes / (double)row->fluid_cells;
    row->keeps_mass = keeps_mass(f);
    row->imbalance = grid_imbalance(&f->grid);
    for (int a = 0; a < 3; a++)
        row->cuts[a] = d->cuts[a];
    MPI_Allreduce(MPI_IN_PLACE, &sparse, 1, MPI_INT, MPI_MAX, b->comm);
    row->sparse = sparse;
    row->sweep = f->grid.level->solver.sweep;
    row->transport = grid_transport(&f->grid);
    snprintf(b->host.device, sizeof b->host.device, "%s", backend_of(f)->description);
    if (!backend_of(f)->type->driver || !backend_of(f)->type->driver(backend_of(f), b->host.driver))
        *b->host.driver = '\0';
    snprintf(b->host.isa, sizeof b->host.isa, "%s",
             backend_of(f)->isa == ISA_auto ? "" : isa_name(backend_of(f)->isa));
    row->numbers = calloc(5 * (size_t)repeats, sizeof *row->numbers); /* the fifth: to sort in */
    struct spread *const spreads[] = {&row->updates, &row->fluid, &row->ceiling, &row->share};
    for (int k = 0; k < 4; k++)
        *spreads[k] = (struct spread){.count = repeats, .all = row->numbers + k * repeats};
    return status_agree(
        b->comm, row->numbers ? STATUS_OK : fail_machine("out of memory for %d repeats", repeats));
}

/* Measures an initialised flow. own: the plain step knows it, and its grid is small enough. */
static enum status measure(struct bench *b, struct flow *f, bool own, struct bench_row *row)
{
    enum status status = describe(b, f, row);
    if (!status)
        status = check_sweeps(b, f, row);
    if (!status && own && row->verified)
        status = check_steps(f, row);
    if (!status && row->verified && backend_of(f)->type->host_memory)
        status = make_ceiling(b, f);
    if (status || !row->verified)
        return status;
    struct energy *const energy = energy_open(backend_of(f), b->comm);
    status = all_repeats(b, f, energy, row);
    energy_close(energy);
    if (!status && row->verified && own) /* verifies once more: the state that was measured */
        status = check_steps(f, row);
    row->state_step = f->grid.level->solver.step;
    if (!status && row->verified)
        status = grid_hash(&f->grid, SET_flow, &row->hash);
    struct spread *const spreads[] = {&row->updates, &row->fluid, &row->ceiling, &row->share};
    for (int k = 0; k < 4; k++)
        spread_sum_up(spreads[k], row->numbers + 4 * b->options->repeat);
    return status;
}

enum status bench_measure(struct bench *b, struct bench_row *row)
{
    const struct bench_subject *const s = &row->subject;
    const double cells = cells_of(b, s);
    const bool compared = s->which != BENCH_CASE_refined; /* the plain step has one level */
    const bool own = compared && cells <= 1.05 * verify_cells;
    struct flow f = {0};
    row->verified = true;
    enum status status = read_case(b, s, &f.c);
    if (!status && compared && !own)
        status = check_smaller(b, row, cbrt(verify_cells / cells));
    if (!status && row->verified)
        status = flow_create(b, own, &f);
    if (!status && row->verified)
        status = measure(b, &f, own, row);
    flow_destroy(&f);
    return status;
}

double bench_porosity(const struct bench_row *row)
{
    const int *const n = row->subject.cells;
    return (double)row->fluid_cells / ((double)n[0] * n[1] * n[2]);
}
