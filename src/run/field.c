/* Snapshots of fields; see field.h. */
#include "run/field.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "io/vtkhdf.h"
#include "measure/curl.h"
#include "run/folder.h"
#include "run/levels_file.h"
#include "run/output.h"

enum { MOST_COMPONENTS = 3 };

/* A snapshot that is being written. */
struct snapshot {
    struct solver *solver;
    const struct flow_case *c;
    const struct case_field *field;
    struct vtkhdf *file;
    void *out;                 /* a piece of an array in the file's type */
    int arrays[32];            /* enum field_array -> its number in the file */
    int scalars[CASE_SCALARS]; /* the same of scalars */
};

/* The points of a snapshot in a piece: cells first, first + stride, .. below hi, in cells of the
 * block. */
struct points {
    int first[3], count[3], stride;
    int start[3]; /* index of the first point in the file */
};

static bool points_of(const struct snapshot *o, const struct box *piece, struct points *p)
{
    const int stride = o->field->stride;
    p->stride = stride;
    for (int a = 0; a < 3; a++) {
        /* `before`: cells from the region's start to the piece; `skip`: from there to its first
         * point */
        const int before = o->solver->domain->lo[a] + piece->lo[a] - o->field->region.lo[a];
        const int skip = (stride - before % stride) % stride;
        const int cells = piece->hi[a] - piece->lo[a] - skip;
        p->first[a] = piece->lo[a] + skip;
        p->count[a] = cells <= 0 ? 0 : (cells - 1) / stride + 1;
        p->start[a] = p->count[a] ? (before + skip) / stride : 0;
    }
    return p->count[0] && p->count[1] && p->count[2];
}

/* Index of a point's cell among the cells of the piece. */
static size_t point_cell(const struct points *p, const struct box *piece, int i, int j, int k)
{
    const int x = p->first[0] + i * p->stride - piece->lo[0];
    const int y = p->first[1] + j * p->stride - piece->lo[1];
    const int z = p->first[2] + k * p->stride - piece->lo[2];
    const size_t nx = (size_t)(piece->hi[0] - piece->lo[0]);
    const size_t ny = (size_t)(piece->hi[1] - piece->lo[1]);
    return ((size_t)z * ny + (size_t)y) * nx + (size_t)x;
}

static int components_of(enum field_array array)
{
    return array == FIELD_velocity || array == FIELD_vorticity ? 3 : 1;
}

static enum sample sample_of(const struct case_field *field, enum field_array array)
{
    return array == FIELD_tags                  ? SAMPLE_uint8
           : field->precision == PRECISION_fp64 ? SAMPLE_float64
                                                : SAMPLE_float32;
}

static void put(const struct snapshot *o, size_t place, double value)
{
    if (o->field->precision == PRECISION_fp64)
        ((double *)o->out)[place] = value;
    else
        ((float *)o->out)[place] = (float)value;
}

/* Stores the array at one cell, in physical units if the case has them. flow: density - 1 and
 * velocity, NULL for tags. */
static void put_cell(const struct snapshot *o, enum field_array array, const double flow[4],
                     size_t cell, size_t place)
{
    const double u = output_velocity_unit(o->c), rho = o->c->units.density;
    switch (array) {
    case FIELD_velocity:
        for (size_t k = 0; k < 3; k++)
            put(o, 3 * place + k, flow[1 + k] * u);
        break;
    case FIELD_density:
        put(o, place, (1 + flow[0]) * rho);
        break;
    case FIELD_pressure:
        put(o, place, flow[0] / 3 * rho * u * u);
        break;
    case FIELD_tags:
        ((uint8_t *)o->out)[place] = o->solver->domain->tags[cell] & TAG_ROW;
        break;
    case FIELD_vorticity:
        break; /* needs neighbours: write_vorticity */
    }
}

/* Writes one array, not vorticity, at the points of a piece, from the flow of all its cells (NULL
 * for tags). */
static enum status write_array(struct snapshot *o, enum field_array array, const struct box *piece,
                               const struct points *p, const double *flow)
{
    const struct view *const v = &o->solver->domain->view;
    size_t place = 0;
    for (int k = 0; k < p->count[2]; k++)
        for (int j = 0; j < p->count[1]; j++)
            for (int i = 0; i < p->count[0]; i++) {
                const size_t cell = point_cell(p, piece, i, j, k);
                const size_t n =
                    view_index(v, p->first[0] + i * p->stride, p->first[1] + j * p->stride,
                               p->first[2] + k * p->stride);
                put_cell(o, array, flow ? flow + 4 * cell : NULL, n, place++);
            }
    return vtkhdf_write(o->file, o->arrays[array], p->start, p->count, o->out);
}

static bool asks_for(const struct snapshot *o, enum field_array array)
{
    return o->field->of & (1u << array);
}

/* Writes the arrays computed from density and velocity, which are fetched only if one is asked
 * for. */
static enum status write_flow(struct snapshot *o, const struct box *box)
{
    const unsigned others = 1u << FIELD_vorticity | 1u << FIELD_tags;
    enum status status = STATUS_OK;
    struct points p;
    struct box piece;
    struct fetch f;
    const double *flow;
    if (!(o->field->of & ~others))
        return status;
    fetch_start(&f, o->solver, KERNEL_flow, box);
    while (!status && (flow = fetch_next(&f, &piece))) {
        const bool any = points_of(o, &piece, &p);
#define X(array)                                                                                   \
    if (any && !status && asks_for(o, FIELD_##array) && !(others & 1u << FIELD_##array))           \
        status = write_array(o, FIELD_##array, &piece, &p, flow);
        FIELD_LIST(X)
#undef X
    }
    const enum status fetched = fetch_end(&f);
    return status ? status : fetched;
}

static enum status write_vorticity(struct snapshot *o, const struct box *box)
{
    const double unit = output_velocity_unit(o->c) / o->c->units.dx;
    enum status status = STATUS_OK;
    struct points p;
    struct box piece;
    struct fetch f;
    const double *curl;
    if (!asks_for(o, FIELD_vorticity))
        return status;
    fetch_start(&f, o->solver, KERNEL_curl, box);
    while (!status && (curl = fetch_next(&f, &piece))) {
        const bool any = points_of(o, &piece, &p);
        size_t place = 0;
        for (int k = 0; any && k < p.count[2]; k++)
            for (int j = 0; j < p.count[1]; j++)
                for (int i = 0; i < p.count[0]; i++)
                    for (size_t a = 0; a < 3; a++)
                        put(o, place++, curl[3 * point_cell(&p, &piece, i, j, k) + a] * unit);
        if (any)
            status = vtkhdf_write(o->file, o->arrays[FIELD_vorticity], p.start, p.count, o->out);
    }
    const enum status fetched = fetch_end(&f);
    return status ? status : fetched;
}

/* Writes a scalar's values; its reference where no cell holds it. */
static enum status write_scalar(struct snapshot *o, int scalar, const struct box *box)
{
    const double reference = o->c->scalars[scalar].reference;
    enum status status = STATUS_OK;
    struct points p;
    struct box piece;
    struct fetch f;
    const double *value;
    fetch_start_set(&f, o->solver, KERNEL_scalar, 1 + scalar, box, NULL, NULL);
    while (!status && (value = fetch_next(&f, &piece))) {
        const bool any = points_of(o, &piece, &p);
        size_t place = 0;
        for (int k = 0; any && k < p.count[2]; k++)
            for (int j = 0; j < p.count[1]; j++)
                for (int i = 0; i < p.count[0]; i++)
                    put(o, place++, reference + value[point_cell(&p, &piece, i, j, k)]);
        if (any)
            status = vtkhdf_write(o->file, o->scalars[scalar], p.start, p.count, o->out);
    }
    const enum status fetched = fetch_end(&f);
    return status ? status : fetched;
}

static enum status write_tags(struct snapshot *o, const struct box *box)
{
    enum status status = STATUS_OK;
    struct points p;
    struct box piece;
    for (int number = 0; !status && solver_piece(o->solver, box, number, &piece); number++)
        if (asks_for(o, FIELD_tags) && points_of(o, &piece, &p))
            status = write_array(o, FIELD_tags, &piece, &p, NULL);
    return status;
}

/* Writes this rank's part, in pieces; planes without a point are skipped. */
static enum status write_part(struct snapshot *o, const struct box *part)
{
    const int stride = o->field->stride;
    enum status status = STATUS_OK;
    struct points p;
    if (!points_of(o, part, &p))
        return status;
    for (int k = 0; !status && k < (stride > 1 ? p.count[2] : 1); k++) {
        struct box slab = *part;
        if (stride > 1) {
            slab.lo[2] = p.first[2] + k * stride;
            slab.hi[2] = slab.lo[2] + 1;
        }
        status = write_flow(o, &slab);
        if (!status)
            status = write_vorticity(o, &slab);
        if (!status)
            status = write_tags(o, &slab);
        for (int n = 0; n < o->c->scalar_count && !status; n++)
            if (o->field->scalars & 1u << n)
                status = write_scalar(o, n, &slab);
    }
    return status;
}

static bool path_of(char path[FOLDER_PATH], const char *dir, const struct case_field *field,
                    int64_t step)
{
    char name[CASE_NAME + 64];
    snprintf(name, sizeof name, "fields/%s_%010lld.vtkhdf", field->name, (long long)step);
    return folder_path(path, dir, name);
}

/* Creates the file and its arrays, without data. Collective. */
static enum status open_file(struct snapshot *o, const char *dir)
{
    const struct case_region *const region = &o->field->region;
    const double dx = o->c->units.dx, distance = dx * o->field->stride;
    const double spacing[3] = {distance, distance, distance};
    char path[FOLDER_PATH];
    double origin[3];
    int cells[3], count = 0;

    if (!path_of(path, dir, o->field, o->solver->step))
        return fail_user("the name of the output folder is too long");
    for (int a = 0; a < 3; a++) {
        origin[a] = (region->lo[a] + 0.5) * dx;
        cells[a] = (region->hi[a] - region->lo[a] - 1) / o->field->stride + 1;
    }
    enum status status =
        vtkhdf_create(&o->file, o->solver->domain->comm, path, cells, origin, spacing);
    if (status)
        return status;
    output_provenance(vtkhdf_file(o->file), o->c, o->solver);
#define X(array)                                                                                   \
    if (!status && asks_for(o, FIELD_##array)) {                                                   \
        o->arrays[FIELD_##array] = count++;                                                        \
        status = vtkhdf_add(o->file, #array, components_of(FIELD_##array),                         \
                            sample_of(o->field, FIELD_##array));                                   \
    }
    FIELD_LIST(X)
#undef X
    for (int k = 0; k < o->c->scalar_count; k++)
        if (!status && o->field->scalars & 1u << k) {
            o->scalars[k] = count++;
            status =
                vtkhdf_add(o->file, o->c->scalars[k].name, 1,
                           o->field->precision == PRECISION_fp64 ? SAMPLE_float64 : SAMPLE_float32);
        }
    return status;
}

/* The arrays of a snapshot of several levels; returns their number. */
static int arrays_of(const struct flow_case *c, const struct case_field *field,
                     struct levels_array to[])
{
    const double u = output_velocity_unit(c), rho = c->units.density, dx = c->units.dx;
    const struct levels_array velocity = {.of = &quantity_flow, .first = 1, .scale = {u, 1}},
                              density = {.of = &quantity_flow, .add = 1, .scale = {rho, 1}},
                              pressure = {.of = &quantity_flow, .scale = {rho * u, u / 3}},
                              vorticity = {.of = &quantity_curl, .scale = {u / dx, 1}},
                              tags = {.of = &quantity_tags, .scale = {1, 1}};
    int count = 0;
#define X(array)                                                                                   \
    if (field->of & 1u << FIELD_##array) {                                                         \
        to[count] = array;                                                                         \
        to[count].components = components_of(FIELD_##array);                                       \
        to[count].sample = sample_of(field, FIELD_##array);                                        \
        to[count].divide = 1;                                                                      \
        snprintf(to[count++].name, sizeof to->name, "%s", #array);                                 \
    }
    FIELD_LIST(X)
#undef X
    return count;
}

static enum status write_levels(struct grid *g, const struct flow_case *c,
                                const struct case_field *field, const char *path,
                                struct background *b, struct h5file **left)
{
    struct levels_array arrays[32];
    const struct case_region *const r = &field->region;
    struct h5file *file;
    const int count = arrays_of(c, field, arrays);
    const enum status status =
        levels_file_write(&file, g, path, r->lo, r->hi, c->units.dx, field->levels, count, arrays);
    if (!file)
        return status;
    if (status)
        return h5file_close(file, false);
    output_provenance(file, c, &g->level[0].solver);
    *left = file;
    return h5file_leave(file, b);
}

enum status field_write(struct grid *g, const struct flow_case *c, const struct case_field *field,
                        const char *dir, struct background *b, struct h5file **left)
{
    struct solver *const s = &g->level[0].solver;
    char path[FOLDER_PATH];
    if (g->levels > 1)
        return path_of(path, dir, field, s->step)
                   ? write_levels(g, c, field, path, b, left)
                   : fail_user("the name of the output folder is too long");
    struct snapshot o = {.solver = s, .c = c, .field = field};
    const struct box part = domain_part(s->domain, field->region.lo, field->region.hi);
    enum status status = open_file(&o, dir);
    if (!status && asks_for(&o, FIELD_vorticity))
        status = curl_prepare(s);
    if (!status) {
        o.out = malloc(s->piece_cells * MOST_COMPONENTS * sizeof(double));
        status =
            o.out ? write_part(&o, &part) : fail_machine("out of memory for a piece of a snapshot");
    }
    free(o.out);
    if (!o.file)
        return status;
    if (status_agree(s->domain->comm, status))
        return vtkhdf_close(o.file, false);
    *left = vtkhdf_release(o.file);
    return h5file_leave(*left, b);
}
