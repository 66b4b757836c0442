/* Messages of `tagflow check` about bodies, from their tags: the remaining fluid; for voxel images,
 * their contents and the axes along which flow can pass. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/survey.h"
#include "base/agree.h"
#include "base/message.h"
#include "cli/levels.h"
#include "tags/create.h"
#include "tags/pore_survey.h"

enum { LABELS_SHOWN = 16, SLABS_SHOWN = 10 };

/* Most cells per process of which `check` makes tags, without images and with. Each cell takes a
 * byte and up to 0.2 us. Of larger boxes so many cells in all are samples. */
#define CELLS_LOOKED_AT 0x1p28
#define CELLS_WITH_IMAGES 0x1p30
#define SAMPLES 0x1p27

static const char *const types[] = {
#define X(name, number, lowest, highest) #name,
    VOXEL_TYPE_LIST(X)
#undef X
};
static const char *const formats[] = {
#define X(name) #name,
    VOXEL_FORMAT_LIST(X)
#undef X
};

static void say_labels(const char *name, const struct voxel_image *v)
{
    const struct case_region r = image_region(v);
    int64_t all = 0;
    say("bodies.%s: %s image of %d x %d x %d voxels, %s; voxels [%d, %d, %d] to [%d, %d, %d] "
        "are cells [%d, %d, %d] to [%d, %d, %d]",
        name, formats[v->format], v->size[0], v->size[1], v->size[2], types[v->type], v->from[0],
        v->from[1], v->from[2], v->to[0] - 1, v->to[1] - 1, v->to[2] - 1, r.lo[0], r.lo[1], r.lo[2],
        r.hi[0] - 1, r.hi[1] - 1, r.hi[2] - 1);
    for (int k = 0; k < v->label_count; k++)
        all += v->labels[k].voxels;
    for (int k = 0; k < v->label_count && k < LABELS_SHOWN; k++)
        say("  label %d, %s: %lld voxels, %.4g %%", v->labels[k].label,
            v->labels[k].solid ? "solid" : "fluid", (long long)v->labels[k].voxels,
            100 * (double)v->labels[k].voxels / (double)all);
    if (v->white_zero)
        say("  labels are the numbers in the file; programs that show it draw 0 white");
    if (v->label_count > LABELS_SHOWN)
        say("  ... and %d more labels", v->label_count - LABELS_SHOWN);
}

/* The axes with this value, as "x and z"; "" if there are none. */
static void axes_text(const bool wanted[3], bool value, char text[16])
{
    int left = 0;
    *text = '\0';
    for (int a = 0; a < 3; a++)
        left += wanted[a] == value;
    for (int a = 0; a < 3; a++) {
        if (wanted[a] != value)
            continue;
        const size_t length = strlen(text);
        text[length] = (char)('x' + a);
        strcpy(text + length + 1, --left > 1 ? ", " : left ? " and " : "");
    }
}

/* Lowest and highest porosity of the planes across an axis. */
static void plane_range(const struct pores *p, const struct case_region *r, int axis,
                        double range[2])
{
    const int planes = r->hi[axis] - r->lo[axis];
    const double area = (double)p->cells / planes;
    range[0] = range[1] = (double)p->plane[axis][0] / area;
    for (int k = 1; k < planes; k++) {
        const double share = (double)p->plane[axis][k] / area;
        range[0] = share < range[0] ? share : range[0];
        range[1] = share > range[1] ? share : range[1];
    }
}

static double percent(int64_t part, int64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* Logs the porosity of slabs of about equally many planes across the axis. */
static void say_slabs(const struct pores *p, const struct case_region *r, int axis)
{
    const int planes = r->hi[axis] - r->lo[axis];
    const int slabs = planes < SLABS_SHOWN ? planes : SLABS_SHOWN;
    char text[SLABS_SHOWN * 8] = "";
    for (int s = 0, k = 0; s < slabs; s++) {
        const int begin = k, end = (int)((int64_t)(s + 1) * planes / slabs);
        int64_t fluid = 0;
        while (k < end)
            fluid += p->plane[axis][k++];
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, " %.3f",
                 (double)fluid * planes / ((double)p->cells * (end - begin)));
    }
    say("  porosity of %d slabs along %c:%s", slabs, 'x' + axis, text);
}

static void say_region(const struct pores *p, const struct case_region *r)
{
    char yes[16], no[16];
    double range[3][2];
    for (int a = 0; a < 3; a++)
        plane_range(p, r, a, range[a]);
    say("  porosity %.4f (%lld of %lld cells are fluid); of planes across x %.4f to %.4f, y %.4f "
        "to %.4f, z %.4f to %.4f",
        (double)p->fluid / (double)p->cells, (long long)p->fluid, (long long)p->cells, range[0][0],
        range[0][1], range[1][0], range[1][1], range[2][0], range[2][1]);
    axes_text(p->through, true, yes);
    axes_text(p->through, false, no);
    if (*yes)
        say("  pores lead from end to end along %s%s%s%s", yes, *no ? ", not along " : "", no,
            *no ? " (nothing flows through there)" : "");
    else
        say("  pores lead from end to end along no axis: nothing flows through");
    for (int a = 0; a < 3; a++)
        say("  fluid along %c: %lld cells, %.4g %%, connect the ends; %lld, %.3g %%, reach an end "
            "only; %lld, %.3g %%, reach none",
            'x' + a, (long long)p->connected[a], percent(p->connected[a], p->fluid),
            (long long)p->dead_end[a], percent(p->dead_end[a], p->fluid), (long long)p->closed[a],
            percent(p->closed[a], p->fluid));
    for (int a = 0; a < 3; a++)
        say_slabs(p, r, a);
}

static void say_parts(const struct pores *p, bool fills, bool images)
{
    say("pores: the fluid is in %lld separate part%s, the largest has %lld cells",
        (long long)p->parts, p->parts == 1 ? "" : "s", (long long)p->largest);
    if (p->isolated_parts)
        say("pores: %lld part%s, %lld cells in all, can have no flow through: no open face, "
            "and no way round a periodic axis%s",
            (long long)p->isolated_parts, p->isolated_parts == 1 ? "" : "s",
            (long long)p->isolated_cells,
            fills    ? " (those in images with isolated: fill become solid)"
            : images ? " (bodies.*.image.isolated: fill makes them solid)"
                     : "");
}

/* Logs contents and pores of the images, before isolated pores are filled; without images those of
 * the box. */
static enum status say_pores(const struct flow_case *c, const struct domain *d)
{
    struct pore_survey found;
    bool fills = false;
    const enum status s = pore_survey_make(&found, d, c);
    if (s)
        return s;
    for (int k = 0, place = 0; k < c->body_count; k++)
        if (c->bodies[k].image.file) {
            say_labels(c->bodies[k].name, &c->bodies[k].image);
            say_region(&found.place[place].pores, &found.place[place].region);
            place++;
            fills |= c->bodies[k].image.fill;
        }
    const struct pore_place *const box = &found.place[found.count - 1];
    if (found.count == 1) {
        say("pores of the box:");
        say_region(&box->pores, &box->region);
    }
    say_parts(&box->pores, fills, found.count > 1);
    const enum status good = fills ? STATUS_OK : pore_survey_check(&found, c);
    pore_survey_destroy(&found);
    return good;
}

/* Makes the tags, with or without filling of pores. */
static enum status make(struct checked_levels *k, bool fill, MPI_Comm comm)
{
    struct checked_level *const level = k->level;
    for (int body = 0; body < k->c->body_count; body++)
        k->bodies[body].image.fill = fill && k->c->bodies[body].image.fill;
    if (level->made)
        domain_destroy(&level->domain);
    const enum status s = domain_create(&level->domain, &level->plain, comm);
    level->made = !s;
    return s;
}

enum status check_faces(const struct flow_case *c)
{
    struct domain d;
    struct survey survey;
    bool known;
    enum status s = faces_alone(&d, c, &known);
    if (!s && known)
        s = survey_make(&(struct survey *){&survey}, &(struct paths_level){&d, c}, 1);
    if (!s && known)
        survey_say(&survey, &d, c);
    domain_destroy(&d);
    return s;
}

static void say_survey(const struct survey *s, const struct domain *d, const struct flow_case *c)
{
    if (s->images.cells)
        say("pores: %lld fluid cells, %.3g %%, are in throats of one or two voxels",
            (long long)s->images.cells, 100 * (double)s->images.cells / (double)d->fluid_cells);
    survey_say(s, d, c);
}

/* Logs what the tags tell of bodies. */
static enum status look_at_bodies(const struct flow_case *c, const struct domain *d)
{
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2];
    struct survey survey;
    enum status s = STATUS_OK;
    say("bodies: %lld of %.0f cells are fluid, %.4g %%", (long long)d->fluid_cells, cells,
        100 * (double)d->fluid_cells / cells);
    if (pore_survey_wanted(c))
        s = say_pores(c, d);
    if (!s)
        s = survey_make(&(struct survey *){&survey}, &(struct paths_level){d, c}, 1);
    if (!s)
        say_survey(&survey, d, c);
    return s;
}

/* Looks at a part of the cells of a large box. */
static enum status look_at_sample(struct checked_levels *k, MPI_Comm comm, double most)
{
    const enum status s = sampling_create(&k->sample, k->c, SAMPLES, comm);
    if (s)
        return s;
    k->sampled = true;
    say("bodies: about %.4g %% of %.4g cells are fluid; one cell in %d^3 was looked at (check on "
        "%.0f processes looks at all)",
        100 * k->sample.share, k->level->cells, k->sample.step, ceil(k->level->cells / most));
    return STATUS_OK;
}

enum status check_one_level(struct checked_levels *k, MPI_Comm comm)
{
    const struct flow_case *const c = k->c;
    bool images = false, fills = false;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    for (int body = 0; body < c->body_count; body++) {
        images |= c->bodies[body].image.file != NULL;
        fills |= c->bodies[body].image.fill;
    }
    const double most = images ? CELLS_WITH_IMAGES : CELLS_LOOKED_AT;
    enum status s = c->body_count ? STATUS_OK : check_faces(c);
    if (s || (!c->body_count && c->run.sparse != SPARSE_always))
        return s;
    if (k->level->cells > most * ranks)
        return look_at_sample(k, comm, most);
    k->bodies = malloc(((size_t)c->body_count + 1) * sizeof *k->bodies);
    s = status_agree(comm, k->bodies ? STATUS_OK : fail_machine("out of memory for the bodies"));
    if (s)
        return s;
    if (c->body_count)
        memcpy(k->bodies, c->bodies, (size_t)c->body_count * sizeof *k->bodies);
    k->level->plain.bodies = k->bodies;
    s = make(k, false, comm);
    if (!s && c->body_count)
        s = look_at_bodies(c, &k->level->domain);
    return !s && fills ? make(k, true, comm) : s;
}
