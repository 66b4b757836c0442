/* Fields of a run as arrays; see tagflow.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"
#include "case/nearest.h"
#include "lib/library.h"
#include "run/field.h"

static const char *const field_names[] = {
#define X(name, ...) #name,
    FIELD_LIST(X)
#undef X
        NULL};
enum { NAMES = sizeof field_names / sizeof *field_names - 1 };

/* Asks for the field of this name; returns its number, -1: there is none. */
static int find_field(const struct flow_case *c, const char *name, struct case_field *wanted)
{
    *wanted = (struct case_field){.precision = PRECISION_fp64, .stride = 1};
    for (int k = 0; k < NAMES; k++)
        if (strcmp(name, field_names[k]) == 0) {
            wanted->of = 1u << k;
            return k;
        }
    for (int k = 0; k < c->scalar_count; k++)
        if (strcmp(name, c->scalars[k].name) == 0) {
            wanted->scalars = 1u << k;
            return NAMES + k;
        }
    return -1;
}

/* Reports that there is no field of this name. */
static enum status no_field(const struct flow_case *c, const char *name)
{
    const char *known[NAMES + CASE_SCALARS + 1];
    memcpy(known, field_names, sizeof field_names);
    for (int k = 0; k < c->scalar_count; k++)
        known[NAMES + k] = c->scalars[k].name;
    known[NAMES + c->scalar_count] = NULL;
    const char *const nearest = nearest_choice(known, name);
    if (nearest)
        return fail_user("there is no field %s (did you mean %s?)", name, nearest);
    return fail_user("there is no field %s (velocity, density, pressure, vorticity, tags, or the "
                     "name of a scalar)",
                     name);
}

static const char *unit_of(const struct flow_case *c, int number)
{
    static const char *const units[NAMES] = {
        [FIELD_velocity] = "m/s",  [FIELD_density] = "kg/m3", [FIELD_pressure] = "Pa",
        [FIELD_vorticity] = "1/s", [FIELD_tags] = "1",
    };
    if (!c->units.given)
        return "";
    return number < NAMES                                        ? units[number]
           : c->scalars[number - NAMES].kind == SCALAR_KIND_heat ? "K"
                                                                 : "1";
}

/* An array that is being filled. */
struct filled {
    const struct domain *d;
    const struct levels_array *array;
    int components; /* of the quantity */
    void *data;
};

static enum status fill_piece(void *to, int level, const struct box *piece, const double *values)
{
    const struct filled *const f = to;
    const int *const n = f->d->view.n, count = f->array->components;
    (void)level;
    for (int z = piece->lo[2]; z < piece->hi[2]; z++)
        for (int y = piece->lo[1]; y < piece->hi[1]; y++) {
            size_t place =
                (((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)piece->lo[0]) *
                (size_t)count;
            for (int x = piece->lo[0]; x < piece->hi[0]; x++, values += f->components)
                for (int k = 0; k < count; k++)
                    levels_array_put(f->array, f->data, place++, values[f->array->first + k]);
        }
    return STATUS_OK;
}

/* Fills the array of a level. Cells that are not of the level keep what is there. */
static enum status fill(struct tagflow_run *r, const struct levels_array *array, int level,
                        void *data)
{
    struct grid *const g = run_grid(r->run);
    struct case_region all = {.lo = {0, 0, 0}};
    struct cover cover;
    memcpy(all.hi, r->c.cells, sizeof all.hi);
    enum status status = cover_create(&cover, g, &all, 1);
    if (status)
        return status;
    struct filled f = {&g->level[level].domain, array, array->of->components, data};
    status = cover_prepare(&cover, array->of, level);
    if (!status && level < cover.levels)
        status = cover_each(&cover, level, fill_piece, &f);
    cover_destroy(&cover);
    return status_agree(r->comm, status);
}

void library_shape(const struct tagflow_run *r, const struct domain *d, int components,
                   struct tagflow_array *array)
{
    for (int a = 0; a < 3; a++) {
        array->first[a] = d->lo[a];
        array->cells[a] = d->cells[a];
        array->shape[2 - a] = d->view.n[a];
    }
    array->shape[3] = components;
    array->stride[3] = 1;
    for (int k = 2; k >= 0; k--)
        array->stride[k] = array->stride[k + 1] * array->shape[k + 1];
    array->bytes = array->stride[0] * array->shape[0] * (array->type / 8);
    array->spacing = ldexp(r->c.units.dx, -d->level);
    array->device = -1;
}

enum status library_field(struct tagflow_run *r, const char *name, struct asked *q)
{
    struct case_field wanted;
    if (run_ended(r->run))
        return fail_user("the run has no flow to look at: it was done before, or has failed");
    q->number = name ? find_field(&r->c, name, &wanted) : -1;
    if (q->number < 0)
        return no_field(&r->c, name ? name : "");
    field_arrays(&r->c, run_grid(r->run)->levels, &wanted, q->scalar, q->array);
    return STATUS_OK;
}

/* Finds the field and describes it. */
static enum status describe(struct tagflow_run *r, const char *name, int level, struct asked *q,
                            struct tagflow_array *array)
{
    const struct grid *const g = run_grid(r->run);
    const enum status status = library_field(r, name, q);
    if (status)
        return status;
    if (level < 0 || level >= g->levels)
        return fail_user("there is no level %d (0 to %d)", level, g->levels - 1);
    *array = (struct tagflow_array){.unit = unit_of(&r->c, q->number),
                                    .type = q->array->sample == SAMPLE_uint8 ? 8 : 64};
    library_shape(r, &g->level[level].domain, q->array->components, array);
    return STATUS_OK;
}

/* Cells that are not of the level. */
static void fill_absent(const struct tagflow_array *array, void *data)
{
    const int64_t values = array->bytes / (array->type / 8);
    for (int64_t k = 0; k < values; k++)
        if (array->type == 8)
            ((uint8_t *)data)[k] = TAG_ABSENT;
        else
            ((double *)data)[k] = NAN;
}

static enum status read_field(struct tagflow_run *r, const char *name, int level, void *data)
{
    struct asked q;
    struct tagflow_array array;
    const enum status status = describe(r, name, level, &q, &array);
    if (status)
        return status;
    if (run_grid(r->run)->levels > 1)
        fill_absent(&array, data);
    return fill(r, q.array, level, data);
}

/* Reads into memory of the library, made once. */
static enum status own_field(struct tagflow_run *r, const char *name, int level,
                             struct tagflow_array *array)
{
    struct asked q;
    enum status status = describe(r, name, level, &q, array);
    if (status)
        return status;
    void **const place = &r->field[level][q.number];
    if (!*place)
        *place = malloc((size_t)array->bytes + 1);
    status = status_agree(r->comm, *place ? STATUS_OK
                                          : fail_machine("out of memory for the field %s: %.4g GB",
                                                         name, 1e-9 * (double)array->bytes));
    if (!status)
        status = read_field(r, name, level, *place);
    array->data = status || !array->bytes ? NULL : *place;
    return status;
}

int tagflow_field(struct tagflow_run *run, const char *name, int level, struct tagflow_array *array)
{
    library_enter();
    return library_leave(run, own_field(run, name, level, array));
}

int tagflow_describe(struct tagflow_run *run, const char *name, int level,
                     struct tagflow_array *array)
{
    struct asked q;
    library_enter();
    return library_leave(run, describe(run, name, level, &q, array));
}

int tagflow_read(struct tagflow_run *run, const char *name, int level, void *data)
{
    library_enter();
    return library_leave(run, read_field(run, name, level, data));
}

void library_free_fields(struct tagflow_run *r)
{
    for (int l = 0; l < LEVELS; l++)
        for (int k = 0; k < LIBRARY_FIELDS; k++)
            free(r->field[l][k]);
}
