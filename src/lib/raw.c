/* Arrays in memory of the backend; see tagflow.h. */
#include <string.h>

#include "base/agree.h"
#include "base/box.h"
#include "base/message.h"
#include "lib/library.h"

/* The set of a name; -1: there is none. */
static int set_of(const struct flow_case *c, const char *name)
{
    if (strcmp(name, "flow") == 0)
        return SET_flow;
    for (int k = 0; k < c->scalar_count; k++)
        if (strcmp(name, c->scalars[k].name) == 0)
            return 1 + k;
    return -1;
}

/* Has the kernel fill the array, a box of the whole block at once. */
static enum status fill(struct tagflow_run *r, int level, int set, void *data)
{
    struct solver *const s = &run_grid(r->run)->level[level].solver;
    const struct box all = domain_all(s->domain);
    if (!box_is_empty(&all))
        solver_launch(s, set == SET_flow ? KERNEL_flow : KERNEL_scalar, &all,
                      (struct task){.set = set, .buffer = data});
    return status_agree(r->comm, solver_wait(s));
}

static enum status raw(struct tagflow_run *r, const char *name, int level,
                       struct tagflow_array *array)
{
    struct grid *const g = run_grid(r->run);
    if (run_ended(r->run))
        return fail_user("the run has no flow to look at: it was done before, or has failed");
    const int set = name ? set_of(&r->c, name) : -1;
    if (set < 0)
        return fail_user("there is no raw array %s (flow, or the name of a scalar)",
                         name ? name : "");
    if (level < 0 || level >= g->levels)
        return fail_user("there is no level %d (0 to %d)", level, g->levels - 1);
    const int components = set == SET_flow ? 4 : 1;
    struct solver *const s = &g->level[level].solver;
    *array = (struct tagflow_array){.unit = "", .type = 64};
    library_shape(r, s->domain, components, array);
    void **const place = &r->raw[level][set];
    if (!*place)
        *place = solver_alloc(s, (size_t)array->bytes / sizeof(double) / (size_t)components + 1,
                              components, sizeof(double), "an array of the caller");
    enum status status = status_agree(r->comm, *place ? STATUS_OK : STATUS_MACHINE);
    if (!status)
        status = fill(r, level, set, *place);
    array->data = status || !array->bytes ? NULL : *place;
    array->device = s->backend->type->host_memory ? -1 : s->backend->number;
    return status;
}

int tagflow_raw(struct tagflow_run *run, const char *name, int level, struct tagflow_array *array)
{
    library_enter();
    return library_leave(run, raw(run, name, level, array));
}

void library_free_raw(struct tagflow_run *r)
{
    for (int l = 0; l < LEVELS; l++)
        for (int k = 0; k <= CASE_SCALARS; k++) {
            struct backend *const b = run_grid(r->run)->level[l].backend;
            if (r->raw[l][k])
                b->type->free(b, r->raw[l][k]);
        }
}
