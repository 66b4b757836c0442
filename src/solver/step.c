/* A step of a level, or several in one sweep over memory: which kernels, in which order, and the
 * messages between them. */
#include "solver/step.h"

#include <assert.h>

#include "solver/mean_flow.h"
#include "solver/scalar_range.h"

/* Number of slabs of the interior; MPI can progress between two launches. */
enum { SLABS = 8 };

/* A step runs these stages one after the other. A stage updates all cells, by kernel `cells` over
 * boxes and kernel `listed` over the view's list, and then exchanges populations: pack -> messages
 * -> unpack. */
struct stage {
    enum kernel cells, listed, pack, unpack;
};
static const struct stage stages[] = {{KERNEL_step, KERNEL_near, KERNEL_pack, KERNEL_unpack}};

static void launch_boxes(struct solver *s, const struct stage *stage, enum queue queue,
                         const struct box *boxes, int count)
{
    struct work work[6];
    solver_signals(s);
    for (int k = 0; k < count; k++)
        work[k] = (struct work){boxes[k], {.odd = (int)(s->step & 1)}};
    s->backend->type->launch(s->backend, queue, stage->cells, &s->view, work, count);
}

/* Launches `listed` on cells `from` to `to` - 1 of the view's list. */
static void launch_listed(struct solver *s, const struct stage *stage, enum queue queue, int from,
                          int to)
{
    const struct work work = {list_range(from, to), {.odd = (int)(s->step & 1)}};
    if (to > from)
        s->backend->type->launch(s->backend, queue, stage->listed, &s->view, &work, 1);
}

/* Launches the interior in slabs and lets MPI progress between them; for backends whose launches
 * return only when the kernel is done. */
static void launch_slabs(struct solver *s, const struct stage *stage)
{
    const int lo = s->interior.lo[2], height = s->interior.hi[2] - lo;
    for (int k = 0; k < SLABS; k++) {
        struct box slab = s->interior;
        slab.lo[2] = lo + height * k / SLABS;
        slab.hi[2] = lo + height * (k + 1) / SLABS;
        launch_boxes(s, stage, QUEUE_INTERIOR, &slab, 1);
        exchange_progress(&s->halo);
    }
}

static void launch_interior(struct solver *s, const struct stage *stage)
{
    struct backend *const b = s->backend;
    b->type->phase(b, QUEUE_INTERIOR, PHASE_interior, true);
    solver_signals(s);
    launch_listed(s, stage, QUEUE_INTERIOR, exchange_any(&s->halo) ? s->domain->near_shell : 0,
                  s->domain->near_stepped);
    if (b->type->asynchronous || !exchange_any(&s->halo))
        launch_boxes(s, stage, QUEUE_INTERIOR, &s->interior, 1);
    else
        launch_slabs(s, stage);
    b->type->phase(b, QUEUE_INTERIOR, PHASE_interior, false);
}

/* Updates the cells that other ranks wait for, and packs what they get. */
static void shell_and_pack(struct solver *s, const struct stage *stage, const struct box *shell,
                           int shells)
{
    struct backend *const b = s->backend;
    b->type->after(b, QUEUE_SHELL, QUEUE_INTERIOR);
    b->type->phase(b, QUEUE_SHELL, PHASE_shell, true);
    launch_boxes(s, stage, QUEUE_SHELL, shell, shells);
    launch_listed(s, stage, QUEUE_SHELL, 0, s->domain->near_shell);
    b->type->phase(b, QUEUE_SHELL, PHASE_shell, false);
    halo_pack(&s->halo, &s->view, stage->pack, (int)(s->step & 1));
}

/* The shell, the interior and the unpacking of one step use different addresses, so they may run in
 * any order or at once. The shell starts after the whole previous step. The interior starts after
 * the previous step's shell and packing, because of halo_send. It does not wait for the previous
 * step's unpacking: that writes only populations of shell cells. */
static enum status stage_exchanging(struct solver *s, const struct stage *stage)
{
    const int odd = (int)(s->step & 1);
    struct backend *const b = s->backend;
    shell_and_pack(s, stage, s->shell, s->shells);
    if (b->type->asynchronous)
        launch_interior(s, stage);
    const enum status status = halo_send(&s->halo);
    if (!b->type->asynchronous)
        launch_interior(s, stage);
    halo_finish(&s->halo, &s->view, stage->unpack, odd);
    return status;
}

enum status solver_advance(struct solver *s)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
        if (!exchange_any(&s->halo))
            launch_interior(s, &stages[k]);
        else if (stage_exchanging(s, &stages[k]))
            status = STATUS_MACHINE;
    s->step++;
    return status;
}

enum status solver_adjust(struct solver *s)
{
    const enum status mean = mean_flow_adjust(s), range = scalar_range_adjust(&s, 1);
    return mean ? mean : range;
}

enum status solver_step(struct solver *s)
{
    const enum status status = solver_advance(s);
    return solver_adjust(s) ? STATUS_MACHINE : status;
}

/* Several steps of the cells that wait for no message meanwhile. Step k > 0 leaves out k layers at
 * exchanged faces; step 0 leaves out the shell. */
static void sweep_interior(struct solver *s, int steps)
{
    struct backend *const b = s->backend;
    struct view v[SWEEP_STEPS];
    struct box layers[6], cells[SWEEP_STEPS] = {s->interior};
    solver_signals(s);
    for (int k = 0; k < steps; k++) {
        v[k] = s->view;
        solver_signals_at(s, s->step + k, v[k].signal);
        if (k > 0)
            domain_layers(s->domain, k, layers, &cells[k]);
    }
    b->type->phase(b, QUEUE_INTERIOR, PHASE_interior, true);
    b->type->sweep(b, v, cells, (int)(s->step & 1), steps);
    b->type->phase(b, QUEUE_INTERIOR, PHASE_interior, false);
}

/* Makes `steps` steps in one sweep over memory. Messages of step 0 are sent before the sweep.
 * Afterwards the layers that step 1, 2, ... left out are updated, each when the messages of the
 * step before have arrived. */
static enum status advance_sweep(struct solver *s, int steps)
{
    const struct stage *const stage = stages;
    enum status status = STATUS_OK;
    static_assert(sizeof stages == sizeof *stages, "a sweep makes the steps of one stage");
    if (!exchange_any(&s->halo)) {
        sweep_interior(s, steps);
        s->step += steps;
        return status;
    }
    for (int k = 0; k < steps; k++, s->step++) {
        struct box layers[6], rest;
        if (k == 0)
            shell_and_pack(s, stage, s->shell, s->shells);
        else
            shell_and_pack(s, stage, layers, domain_layers(s->domain, k, layers, &rest));
        if (halo_send(&s->halo))
            status = STATUS_MACHINE;
        if (k == 0)
            sweep_interior(s, steps);
        halo_finish(&s->halo, &s->view, stage->unpack, (int)(s->step & 1));
    }
    return status;
}

enum status solver_sweep(struct solver *s, int64_t most)
{
    const int64_t mean = mean_flow_next(s), range = scalar_range_next(s);
    most = most < s->sweep ? most : s->sweep;
    most = mean && mean < most ? mean : most;
    most = range && range < most ? range : most;
    if (most <= 1)
        return solver_step(s);
    const enum status status = advance_sweep(s, (int)most);
    return solver_adjust(s) ? STATUS_MACHINE : status;
}

enum status solver_sweep_timed(struct solver *s, int64_t most, double seconds[PHASES])
{
    struct backend *const b = s->backend;
    double more[PHASES];
    enum status status = solver_wait(s);
    b->timing = true;
    b->type->phase(b, QUEUE_INTERIOR, PHASE_step, true);
    const enum status swept = solver_sweep(s, most), waited = solver_wait(s);
    status = status || swept || waited ? STATUS_MACHINE : STATUS_OK;
    b->type->phase(b, QUEUE_INTERIOR, PHASE_step, false);
    b->timing = false;
    b->type->phases(b, more);
    for (int k = 0; k < PHASES; k++)
        seconds[k] += more[k];
    return status;
}
