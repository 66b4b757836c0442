/* Snapshots of fields as VTKHDF: the cells of a region, or every stride-th of them; of all levels
 * of a refined grid. */
#include <stdio.h>
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "io/vtkhdf.h"
#include "measure/curl.h"
#include "run/levels_file.h"
#include "run/output_kind.h"

/* Arrays of a snapshot: those of FIELD_LIST, and scalars from FIRST_SCALAR on. */
enum { MOST_COMPONENTS = 3, FIRST_SCALAR = 32, ARRAYS = FIRST_SCALAR + CASE_SCALARS };
static const uint64_t of_flow = 1u << FIELD_velocity | 1u << FIELD_density | 1u << FIELD_pressure,
                      of_curl = 1u << FIELD_vorticity, of_tags = 1u << FIELD_tags;
_Static_assert(ARRAYS <= 64, "a bit for each array");

/* A snapshot that is being written. */
struct snapshot {
    struct solver *solver;
    const struct flow_case *c;
    const struct case_field *field;
    struct vtkhdf *file;
    void *out;          /* a piece of an array in the file's type */
    uint64_t of;        /* bit a: array a is asked for */
    int number[ARRAYS]; /* of the arrays in the file */
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

static enum sample sample_of(const struct case_field *field, int array)
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

/* Stores the array at one cell, in physical units if the case has them. values: of the kernel that
 * gives the array, NULL for tags. A scalar has its reference where no cell holds it. */
static void put_cell(const struct snapshot *o, int array, const double *values, size_t cell,
                     size_t place)
{
    const double u = output_velocity_unit(o->c), rho = o->c->units.density;
    switch (array) {
    case FIELD_velocity:
        for (size_t k = 0; k < 3; k++)
            put(o, 3 * place + k, values[1 + k] * u);
        break;
    case FIELD_density:
        put(o, place, (1 + values[0]) * rho);
        break;
    case FIELD_pressure:
        put(o, place, values[0] / 3 * rho * u * u);
        break;
    case FIELD_vorticity:
        for (size_t k = 0; k < 3; k++)
            put(o, 3 * place + k, values[k] * (u / o->c->units.dx));
        break;
    case FIELD_tags:
        ((uint8_t *)o->out)[place] = o->solver->domain->tags[cell] & TAG_ROW;
        break;
    default:
        put(o, place, o->c->scalars[array - FIRST_SCALAR].reference + values[0]);
        break;
    }
}

/* Writes arrays at the points of a piece, from `values` of all its cells, `width` of each. */
static enum status write_arrays(struct snapshot *o, uint64_t arrays, const struct box *piece,
                                const double *values, size_t width)
{
    const struct view *const v = &o->solver->domain->view;
    enum status status = STATUS_OK;
    struct points p;
    if (!points_of(o, piece, &p))
        return status;
    for (int array = 0; array < ARRAYS && !status; array++) {
        size_t place = 0;
        if (!(arrays >> array & 1))
            continue;
        for (int k = 0; k < p.count[2]; k++)
            for (int j = 0; j < p.count[1]; j++)
                for (int i = 0; i < p.count[0]; i++) {
                    const size_t at = point_cell(&p, piece, i, j, k);
                    const size_t cell =
                        view_index(v, p.first[0] + i * p.stride, p.first[1] + j * p.stride,
                                   p.first[2] + k * p.stride);
                    put_cell(o, array, values ? values + width * at : NULL, cell, place++);
                }
        status = vtkhdf_write(o->file, o->number[array], p.start, p.count, o->out);
    }
    return status;
}

/* Writes the arrays that a kernel gives, `width` values of each cell. It is not started if none is
 * asked for. */
static enum status write_kernel(struct snapshot *o, enum kernel kernel, int set, size_t width,
                                uint64_t arrays, const struct box *box)
{
    enum status status = STATUS_OK;
    struct box piece;
    struct fetch f;
    const double *values;
    if (!(o->of & arrays))
        return status;
    fetch_start_set(&f, o->solver, kernel, set, box, NULL, NULL);
    while (!status && (values = fetch_next(&f, &piece)))
        status = write_arrays(o, o->of & arrays, &piece, values, width);
    const enum status fetched = fetch_end(&f);
    return status ? status : fetched;
}

static enum status write_tags(struct snapshot *o, const struct box *box)
{
    enum status status = STATUS_OK;
    struct box piece;
    for (int n = 0; !status && o->of & of_tags && solver_piece(o->solver, box, n, &piece); n++)
        status = write_arrays(o, of_tags, &piece, NULL, 0);
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
        status = write_kernel(o, KERNEL_flow, SET_flow, 4, of_flow, &slab);
        if (!status)
            status = write_kernel(o, KERNEL_curl, SET_flow, 3, of_curl, &slab);
        if (!status)
            status = write_tags(o, &slab);
        for (int n = 0; n < o->c->scalar_count && !status; n++)
            status =
                write_kernel(o, KERNEL_scalar, 1 + n, 1, (uint64_t)1 << (FIRST_SCALAR + n), &slab);
    }
    return status;
}

/* Creates the file and its arrays, without data. Collective. */
static enum status open_file(struct snapshot *o, const char *path)
{
    const struct case_region *const region = &o->field->region;
    const double dx = o->c->units.dx, distance = dx * o->field->stride;
    const double spacing[3] = {distance, distance, distance};
    double origin[3];
    int cells[3], count = 0;
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
    if (!status && o->of >> FIELD_##array & 1) {                                                   \
        o->number[FIELD_##array] = count++;                                                        \
        status = vtkhdf_add(o->file, #array, components_of(FIELD_##array),                         \
                            sample_of(o->field, FIELD_##array));                                   \
    }
    FIELD_LIST(X)
#undef X
    for (int k = 0; k < o->c->scalar_count; k++)
        if (!status && o->field->scalars & 1u << k) {
            o->number[FIRST_SCALAR + k] = count++;
            status = vtkhdf_add(o->file, o->c->scalars[k].name, 1,
                                sample_of(o->field, FIRST_SCALAR + k));
        }
    return status;
}

/* The arrays of a snapshot of several levels; returns their number. scalar: room for quantities. */
static int arrays_of(const struct flow_case *c, const struct case_field *field,
                     struct cover_quantity scalar[CASE_SCALARS], struct levels_array to[])
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
    for (int k = 0; k < c->scalar_count; k++) {
        if (!(field->scalars & 1u << k))
            continue;
        scalar[k] = quantity_scalar(1 + k);
        to[count] = (struct levels_array){.of = &scalar[k],
                                          .components = 1,
                                          .sample = sample_of(field, FIRST_SCALAR + k),
                                          .add = c->scalars[k].reference,
                                          .divide = 1,
                                          .scale = {1, 1}};
        snprintf(to[count++].name, sizeof to->name, "%s", c->scalars[k].name);
    }
    return count;
}

/* Lets the background bring the file to disk. */
static enum status leave(struct output_entry *e, struct h5file *file)
{
    const enum status status = h5file_leave(file, e->background);
    e->left = status ? NULL : file;
    return status;
}

static enum status write_levels(struct output_entry *e, const char *path)
{
    struct levels_array arrays[ARRAYS];
    struct cover_quantity scalar[CASE_SCALARS];
    const struct case_field *const field = e->what;
    const struct case_region *const r = &field->region;
    struct h5file *file;
    const int count = arrays_of(e->c, field, scalar, arrays);
    const enum status status = levels_file_write(&file, e->grid, path, r->lo, r->hi, e->c->units.dx,
                                                 field->levels, count, arrays);
    if (!file)
        return status;
    if (status)
        return h5file_close(file, false);
    output_provenance(file, e->c, e->solver);
    return leave(e, file);
}

static enum status write(struct output_entry *e)
{
    struct snapshot o = {.solver = e->solver, .c = e->c, .field = e->what};
    o.of = o.field->of | (uint64_t)o.field->scalars << FIRST_SCALAR;
    const struct box part = domain_part(o.solver->domain, o.field->region.lo, o.field->region.hi);
    char path[FOLDER_PATH];
    enum status status = output_path(e, path);
    if (status || e->grid->levels > 1)
        return status ? status : write_levels(e, path);
    status = open_file(&o, path);
    if (!status && o.of & of_curl)
        status = curl_prepare(o.solver);
    if (!status) {
        o.out = malloc(o.solver->piece_cells * MOST_COMPONENTS * sizeof(double));
        status =
            o.out ? write_part(&o, &part) : fail_machine("out of memory for a piece of a snapshot");
    }
    free(o.out);
    if (!o.file)
        return status;
    if (status_agree(o.solver->domain->comm, status))
        return vtkhdf_close(o.file, false);
    return leave(e, vtkhdf_release(o.file));
}

const struct output_kind output_fields = {
    OUTPUT_ENTRIES(fields, case_field),
    .late = true,
    .write = write,
};
