/* What a run writes while it goes on; see output.h. */
#include "run/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/message.h"
#include "io/vtkhdf.h"
#include "run/folder.h"
#include "run/plane.h"
#include "version.h"

bool output_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

double output_velocity_unit(const struct flow_case *c)
{
    return c->units.dx / c->units.dt;
}

static enum status agree(const struct output *o, enum status status)
{
    int mine = status, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, o->solver->domain->comm);
    return (enum status)worst;
}

bool output_needs_sums(const struct output *o, int64_t step, bool *enstrophy)
{
    bool any = false;
    for (int i = 0; i < o->c->series_count; i++)
        if (output_due(step, o->c->series[i].every)) {
            any = true;
            *enstrophy = *enstrophy || o->c->series[i].of & (1u << SERIES_enstrophy);
        }
    return any;
}

enum status output_open(struct output *o, const struct flow_case *c, struct solver *s,
                        const char *dir)
{
    enum status status = STATUS_OK;
    *o = (struct output){.c = c, .solver = s, .dir = dir};
    if (s->domain->rank == 0) {
        o->series = calloc((size_t)c->series_count + 1, sizeof(struct series *));
        if (!o->series)
            status = fail_machine("out of memory");
    }
    for (int i = 0; s->domain->rank == 0 && !status && i < c->series_count; i++) {
        const char *names[2 + 32] = {"step", "time"};
        char path[FOLDER_PATH], file[CASE_NAME + 16];
        int columns = 2;
#define X(name)                                                                                    \
    if (c->series[i].of & (1u << SERIES_##name))                                                   \
        names[columns++] = #name;
        SERIES_LIST(X)
#undef X
        snprintf(file, sizeof file, "series/%s.csv", c->series[i].name);
        status = folder_path(path, dir, file)
                     ? series_create(&o->series[i], path, columns, names)
                     : fail_user("the name of the output folder is too long");
    }
    return agree(o, status);
}

static enum status write_series(struct output *o, const struct flow_sums *sums)
{
    const struct flow_case *const c = o->c;
    const double dx = c->units.dx, u = output_velocity_unit(c), rho = c->units.density;
    const double volume = dx * dx * dx;
    enum status status = STATUS_OK;
    for (int i = 0; o->series && i < c->series_count; i++) {
        double values[1 + 32];
        int count = 0;
        if (!output_due(o->solver->step, c->series[i].every))
            continue;
        values[count++] = (double)o->solver->step * c->units.dt;
        for (int column = 0; column < 32; column++) {
            if (!(c->series[i].of & (1u << column)))
                continue;
            switch ((enum series_column)column) {
            case SERIES_mass:
                values[count++] = sums->mass * rho * volume;
                break;
            case SERIES_kinetic_energy:
                values[count++] = sums->kinetic_energy * rho * volume * u * u;
                break;
            case SERIES_enstrophy:
                values[count++] = sums->enstrophy * volume * (u / dx) * (u / dx);
                break;
            case SERIES_max_velocity:
                values[count++] = sums->max_velocity * u;
                break;
            }
        }
        if (series_append(o->series[i], o->solver->step, values))
            status = STATUS_MACHINE;
    }
    return status;
}

/* Where a file comes from. */
static void note_provenance(struct vtkhdf *file, const struct output *o)
{
    const struct flow_case *const c = o->c;
    char date[64];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    vtkhdf_note_text(file, "program", "tagflow " TAGFLOW_VERSION);
    vtkhdf_note_text(file, "commit", TAGFLOW_COMMIT);
    vtkhdf_note_text(file, "case", c->resolved);
    vtkhdf_note_text(file, "backend", o->solver->backend->description);
    vtkhdf_note_text(file, "date", date);
    vtkhdf_note_integer(file, "ranks", o->solver->domain->ranks);
    vtkhdf_note_integer(file, "step", o->solver->step);
    vtkhdf_note_number(file, "time", (double)o->solver->step * c->units.dt);
}

static int components_of(enum field_array array)
{
    return array == FIELD_velocity ? 3 : 1;
}

/* One array of one piece, in physical units if the case has them, from density - 1 and velocity. */
static void convert(const struct output *o, enum field_array array, enum precision precision,
                    const struct box *piece, const double *flow, void *out)
{
    const struct flow_case *const c = o->c;
    const double u = output_velocity_unit(c), rho = c->units.density;
    const size_t cells = box_cells(piece);
    float *const narrow = out;
    double *const wide = out;
    uint8_t *tags = out;
    if (array == FIELD_tags) {
        for (int z = piece->lo[2]; z < piece->hi[2]; z++)
            for (int y = piece->lo[1]; y < piece->hi[1]; y++)
                for (int x = piece->lo[0]; x < piece->hi[0]; x++)
                    *tags++ = o->solver->view.tags[view_index(&o->solver->view, x, y, z)] & TAG_ROW;
        return;
    }
    const size_t components = (size_t)components_of(array);
    for (size_t cell = 0; cell < cells; cell++)
        for (size_t k = 0; k < components; k++) {
            const double value = array == FIELD_velocity  ? flow[4 * cell + 1 + k] * u
                                 : array == FIELD_density ? (1 + flow[4 * cell]) * rho
                                                          : flow[4 * cell] / 3 * rho * u * u;
            if (precision == PRECISION_fp64)
                wide[cell * components + k] = value;
            else
                narrow[cell * components + k] = (float)value;
        }
}

static enum status write_field(struct output *o, const struct case_field *field)
{
    const struct domain *const d = o->solver->domain;
    const double dx = o->c->units.dx, origin[3] = {0.5 * dx, 0.5 * dx, 0.5 * dx},
                 spacing[3] = {dx, dx, dx};
    char path[FOLDER_PATH], name[CASE_NAME + 64];
    struct vtkhdf *file = NULL;
    enum field_array arrays[32];
    int count = 0;

    snprintf(name, sizeof name, "fields/%s_%010lld.vtkhdf", field->name,
             (long long)o->solver->step);
    if (!folder_path(path, o->dir, name))
        return fail_user("the name of the output folder is too long");
    enum status status = vtkhdf_create(&file, d->comm, path, d->cells, origin, spacing);
    if (status)
        return status;
    note_provenance(file, o);
#define X(array)                                                                                   \
    if (!status && field->of & (1u << FIELD_##array)) {                                            \
        arrays[count++] = FIELD_##array;                                                           \
        status = vtkhdf_add(file, #array, components_of(FIELD_##array),                            \
                            FIELD_##array == FIELD_tags          ? SAMPLE_uint8                    \
                            : field->precision == PRECISION_fp64 ? SAMPLE_float64                  \
                                                                 : SAMPLE_float32);                \
    }
    FIELD_LIST(X)
#undef X

    void *const out = malloc(o->solver->piece_cells * 3 * sizeof(double));
    if (!out)
        status = fail_machine("out of memory for a piece of a snapshot");
    const struct box all = domain_all(d);
    struct box piece;
    for (int number = 0; !status && solver_piece(o->solver, &all, number, &piece); number++) {
        const double *const flow = solver_flow(o->solver, &piece);
        int start[3], size[3];
        for (int a = 0; a < 3; a++) {
            start[a] = d->lo[a] + piece.lo[a];
            size[a] = piece.hi[a] - piece.lo[a];
        }
        if (!flow)
            status = STATUS_MACHINE;
        for (int k = 0; k < count && !status; k++) {
            convert(o, arrays[k], field->precision, &piece, flow, out);
            status = vtkhdf_write(file, k, start, size, out);
        }
    }
    free(out);
    return vtkhdf_close(file, status == STATUS_OK);
}

enum status output_write(struct output *o, const struct flow_sums *sums, bool last)
{
    const int64_t step = o->solver->step;
    enum status status = agree(o, write_series(o, sums));
    for (int i = 0; i < o->c->fields_count && !status; i++)
        if (output_due(step, o->c->fields[i].every) || last)
            status = write_field(o, &o->c->fields[i]);
    for (int i = 0; i < o->c->images_count && !status; i++)
        if (output_due(step, o->c->images[i].every) || last)
            status = agree(o, plane_image(o->solver, o->c, &o->c->images[i], o->dir));
    return status;
}

enum status output_close(struct output *o)
{
    enum status status = STATUS_OK;
    if (!o->solver)
        return status;
    for (int i = 0; o->series && i < o->c->series_count; i++)
        if (series_close(o->series[i]))
            status = STATUS_MACHINE;
    free(o->series);
    status = agree(o, status);
    *o = (struct output){0};
    return status;
}
