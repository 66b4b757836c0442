/* Files of output.surfaces: pressure and shear stress on the triangles of a body's mesh. Rank 0 has
 * the values and writes the file. */
#include <stdlib.h>

#include "base/agree.h"
#include "base/message.h"
#include "body/mesh.h"
#include "io/vtkmesh.h"
#include "measure/skin_flow.h"
#include "run/output_kind.h"

struct skin_file {
    const struct flow_case *c;
    const struct case_surface *what;
    struct levels all;
    double (*vertex)[3]; /* lattice units, then m if the case has units */
    struct skin skin;
    struct skin_flow flow;
    double (*value)[SKIN_VALUES]; /* rank 0 */
    void *out;                    /* an array in the file's type; rank 0 */
};

static const struct case_mesh *mesh_of(const struct skin_file *f)
{
    return &f->c->bodies[f->what->body].mesh;
}

static enum status create(struct output_entry *e)
{
    struct skin_file *const f = e->own;
    double lo[3], hi[3];
    *f = (struct skin_file){.c = e->c, .what = e->what, .all = levels_of(e->grid)};
    const size_t triangles = mesh_of(f)->stl->triangles;
    f->vertex = mesh_place(mesh_of(f), lo, hi);
    f->value = calloc(triangles + 1, sizeof *f->value);
    f->out = calloc(triangles + 1, 3 * sizeof(double));
    const bool good = f->vertex && f->value && f->out &&
                      skin_of_mesh(&f->skin, mesh_of(f), (const double(*)[3])f->vertex);
    enum status status = status_agree(
        f->all.solver[0]->domain->comm,
        good ? STATUS_OK : fail_machine("out of memory for output.surfaces.%s", e->name));
    if (!status)
        status = skin_flow_create(&f->flow, f->c, &f->all, &f->skin, f->what->body);
    for (size_t v = 0; !status && v < mesh_of(f)->stl->vertices; v++)
        for (int a = 0; a < 3; a++)
            f->vertex[v][a] *= f->c->units.dx;
    return status;
}

static enum status destroy(struct output_entry *e)
{
    struct skin_file *const f = e->own;
    skin_flow_destroy(&f->flow);
    skin_destroy(&f->skin);
    free(f->vertex);
    free(f->value);
    free(f->out);
    return STATUS_OK;
}

/* Rank 0: writes components first .. first + count - 1 of the values, in the case's units. */
static enum status put_array(struct skin_file *f, struct h5file *file, int dataset, int first,
                             int count)
{
    const double u = output_velocity_unit(f->c), unit = f->c->units.density * u * u;
    const size_t triangles = (size_t)f->skin.count;
    const int64_t start[2] = {0, 0}, size[2] = {f->skin.count, count};
    double *const wide = f->out;
    float *const narrow = f->out;
    size_t place = 0;
    for (size_t k = 0; k < triangles; k++)
        for (int a = first; a < first + count; a++, place++) {
            const double value = f->value[k][a] * unit;
            if (f->what->precision == PRECISION_fp64)
                wide[place] = value;
            else
                narrow[place] = (float)value;
        }
    return h5file_write(file, dataset, start, size, f->out);
}

/* The values are of the state before the next step. */
static enum status write(struct output_entry *e)
{
    struct skin_file *const f = e->own;
    struct solver *const s = f->all.solver[0];
    const struct stl *const stl = mesh_of(f)->stl;
    const bool root = s->domain->rank == 0;
    const int64_t triangles = f->skin.count;
    const enum sample sample =
        f->what->precision == PRECISION_fp64 ? SAMPLE_float64 : SAMPLE_float32;
    char path[FOLDER_PATH];
    struct h5file *file = NULL;
    int dataset = VTKMESH_FIRST;
    enum status status = output_path(e, path);
    if (!status)
        status = skin_flow_measure(&f->flow, &f->all, f->value);
    if (status)
        return status;
    status = vtkmesh_create(&file, s->domain->comm, path, (int64_t)stl->vertices, triangles,
                            (const double(*)[3])f->vertex, (const uint32_t(*)[3])stl->triangle);
    if (!file)
        return status;
    output_provenance(file, f->c, s);
    static const struct {
        enum surface_array array;
        int first, count; /* of the values */
    } arrays[] = {{SURFACE_pressure, 0, 1}, {SURFACE_shear_stress, 1, 3}};
    for (int k = 0; k < 2 && !status; k++) {
        if (!(f->what->of & (1u << arrays[k].array)))
            continue;
        status =
            vtkmesh_add(file, surface_name(arrays[k].array), triangles, arrays[k].count, sample);
        if (!status && root)
            status = put_array(f, file, dataset++, arrays[k].first, arrays[k].count);
        status = status_agree(s->domain->comm, status);
    }
    return h5file_close(file, status == STATUS_OK);
}

const struct output_kind output_surfaces = {
    OUTPUT_ENTRIES(surfaces, case_surface),
    .own = sizeof(struct skin_file),
    .create = create,
    .write = write,
    .close = destroy,
};
