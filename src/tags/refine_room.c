/* Memory for levels; see refine_room.h. */
#include "tags/refine_room.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/signals.h"
#include "body/shape.h"
#include "tags/vicinity.h"

/* A region: cells of its level along each axis of the box that holds it, 0: none is certain; bytes
 * of its tree, on each rank. */
struct extent {
    double n[3], tree;
};

static double cells_of(const struct extent *e)
{
    return e->n[0] * e->n[1] * e->n[2];
}

/* Cells between two ends, in cells of the level, which is `cells` long; at most all of them. */
static void limit(struct extent *e, int axis, double from, double to, double cells, bool periodic)
{
    if (!periodic) {
        from = fmax(from, 0);
        to = fmin(to, cells);
    }
    e->n[axis] = fmin(fmax(floor(to - 0.5) - ceil(from - 0.5) + 1, 0), cells);
}

/* The bounding box of a region; empty if its level has more cells than can be numbered. */
static enum status most(const struct flow_case *c, const struct case_refine *what, struct extent *e)
{
    const double by = ldexp(1, what->level);
    double from[3], to[3];
    int cells[3], lo[3], hi[3];
    struct shape shape;
    *e = (struct extent){0};
    for (int a = 0; a < 3; a++) {
        if (c->cells[a] > INT_MAX >> (what->level + 1)) /* refine_make() refuses it */
            return STATUS_OK;
        cells[a] = c->cells[a] << case_halved(c, what->level, a);
    }
    memcpy(from, what->from, sizeof from);
    memcpy(to, what->to, sizeof to);
    if (what->of == REFINE_shape) {
        if (!shape_create(&shape, &what->shape))
            return fail_machine("out of memory for the region %s", what->name);
        memcpy(from, shape.lo, sizeof from);
        memcpy(to, shape.hi, sizeof to);
        shape_destroy(&shape);
    } else if (what->of == REFINE_around) {
        const enum status status = vicinity_most(c, what, cells, lo, hi, &e->tree);
        if (status)
            return status;
        for (int a = 0; a < 3; a++) {
            from[a] = lo[a] / by;
            to[a] = hi[a] / by;
        }
    }
    for (int a = 0; a < 3; a++)
        limit(e, a, by * from[a], by * to[a], cells[a], c->faces[2 * a].kind == FACE_periodic);
    return STATUS_OK;
}

/* Cells of level 0 from the first to the last one in the shape, along each axis; 0: there are none.
 */
static void look_at_shape(const struct flow_case *c, const struct shape *s, double n[3])
{
    int lo[3], size[3], first[3] = {INT_MAX, INT_MAX, INT_MAX}, last[3] = {-1, -1, -1};
    for (int a = 0; a < 3; a++) {
        lo[a] = (int)fmin(fmax(floor(s->lo[a]), 0), c->cells[a]);
        size[a] = (int)fmin(fmax(ceil(s->hi[a]), lo[a]), c->cells[a]) - lo[a];
    }
    uint8_t *const inside = malloc((size_t)size[0] + 1);
    for (int z = lo[2]; inside && z < lo[2] + size[2]; z++)
        for (int y = lo[1]; y < lo[1] + size[1] && !signals_number(); y++) {
            memset(inside, 0, (size_t)size[0]);
            shape_row(s, lo[0], size[0], y, z, inside);
            for (int x = 0; x < size[0]; x++)
                for (int a = 0; a < 3 && inside[x]; a++) {
                    const int at = a == 0 ? lo[0] + x : a == 1 ? y : z;
                    first[a] = at < first[a] ? at : first[a];
                    last[a] = at > last[a] ? at : last[a];
                }
        }
    free(inside);
    for (int a = 0; a < 3; a++)
        n[a] = last[a] < 0 ? 0 : last[a] - first[a] + 1;
}

/* The box that the region has at least, by the cells of level 0; of boxes and trees what `e` has.
 */
static enum status least(const struct flow_case *c, const struct case_refine *what, MPI_Comm comm,
                         struct extent *e)
{
    struct case_refine of_zero = *what;
    struct vicinity near;
    struct shape shape;
    double n[3] = {0};
    enum status status = STATUS_OK;
    bool none = true;
    of_zero.level = 0;
    if (what->of == REFINE_box)
        return STATUS_OK;
    if (what->of == REFINE_shape) {
        status =
            status_agree(comm, shape_create(&shape, &what->shape)
                                   ? STATUS_OK
                                   : fail_machine("out of memory for the region %s", what->name));
        if (!status)
            look_at_shape(c, &shape, n);
        shape_destroy(&shape);
    } else {
        status = vicinity_look(&near, c, &of_zero, c->cells, comm, &none);
        for (int a = 0; a < 3 && !status && !none; a++) {
            const struct vicinity_part *const all = near.layer[near.layers - 1].part;
            n[a] = all->hi[a] - all->lo[a];
        }
        if (!status)
            vicinity_destroy(&near);
    }
    for (int a = 0; a < 3 && !status; a++) /* between the first and the last centre */
        e->n[a] = fmin(n[a] > 0 ? ldexp(n[a] - 1, what->level) + 1 : 0, e->n[a]);
    return status ? status : stop_agree(comm);
}

/* Bytes on each rank: of tags, and of what finds the cells of one level at a time, trees and a bit
 * for each brick. *worst: the region with most. */
static void add_up(const struct flow_case *c, const struct extent *e, int ranks, double *tags,
                   double *survey, int *worst)
{
    double most_cells[LEVELS] = {0}, tree[LEVELS] = {0};
    *tags = *survey = 0;
    *worst = 0;
    for (int k = 0; k < c->refine_count; k++) {
        const int level = c->refines[k].level;
        most_cells[level] = fmax(most_cells[level], cells_of(&e[k]));
        tree[level] += e[k].tree;
        if (cells_of(&e[k]) + e[k].tree > cells_of(&e[*worst]) + e[*worst].tree)
            *worst = k;
    }
    for (int l = 0; l < LEVELS; l++) {
        *tags += most_cells[l] / ranks;
        *survey = fmax(*survey, tree[l] + most_cells[l] / (8. * BRICK * BRICK * BRICK));
    }
}

/* Do hosts have less memory than this, even if nothing else runs there? */
static bool exceeds(double need, MPI_Comm comm, struct memory_lack *lack)
{
    return memory_lacks(need, comm, lack) && lack->need > lack->all;
}

/* Reports the memory that a region needs, or warns of it. */
static enum status lacks(const struct case_refine *what, const struct extent *e, bool refuse,
                         const char *why, const struct memory_lack *lack)
{
    static const char remedy[] = "a lower level, which needs much less; or a smaller region";
    char text[512];
    snprintf(text, sizeof text,
             "refine.%s: level %d spans at least %.0f x %.0f x %.0f cells, %s needs %.4g GB on the "
             "host %s, which has %.4g GB (%s)",
             what->name, what->level, e->n[0], e->n[1], e->n[2], why, 1e-9 * lack->need, lack->host,
             1e-9 * lack->all, remedy);
    if (refuse)
        return fail_case(what->place, "%s", text);
    warn("refine_memory", "%s", text);
    return STATUS_OK;
}

/* Looks closer where bounding boxes are too large. */
static enum status look_closer(const struct flow_case *c, bool run, MPI_Comm comm, int ranks,
                               struct extent *e)
{
    struct memory_lack lack;
    double tags, survey;
    int worst;
    enum status status = STATUS_OK;
    for (int k = 0; k < c->refine_count && !status; k++)
        status = least(c, &c->refines[k], comm, &e[k]);
    if (status)
        return status;
    add_up(c, e, ranks, &tags, &survey, &worst);
    if (exceeds(survey, comm, &lack))
        return lacks(&c->refines[worst], &e[worst], true, "and to find them", &lack);
    if (exceeds(tags, comm, &lack))
        return lacks(&c->refines[worst], &e[worst], run, "whose description alone", &lack);
    return STATUS_OK;
}

enum status refine_look(const struct flow_case *c, bool run, MPI_Comm comm)
{
    struct memory_lack lack;
    double tags, survey;
    int ranks, worst;
    if (c->refine_count == 0)
        return STATUS_OK;
    MPI_Comm_size(comm, &ranks);
    struct extent *const e = calloc((size_t)c->refine_count, sizeof *e);
    enum status status =
        e ? STATUS_OK : fail_machine("out of memory for %d regions", c->refine_count);
    for (int k = 0; k < c->refine_count && !status; k++)
        status = most(c, &c->refines[k], &e[k]);
    status = status_agree(comm, status);
    if (!status) {
        add_up(c, e, ranks, &tags, &survey, &worst);
        if (exceeds(tags + survey, comm, &lack))
            status = look_closer(c, run, comm, ranks, e);
    }
    free(e);
    return status;
}

enum status refine_room(const struct refined *r, MPI_Comm comm)
{
    struct memory_lack lack;
    double tags = 0, most_cells = 0;
    int ranks, worst = 0;
    MPI_Comm_size(comm, &ranks);
    for (int l = 1; l < r->levels; l++) {
        double cells = 1;
        for (int a = 0; a < 3; a++)
            cells *= r->level[l].hi[a] - r->level[l].lo[a];
        tags += cells / ranks;
        if (cells > most_cells) {
            most_cells = cells;
            worst = l;
        }
    }
    if (!exceeds(tags, comm, &lack))
        return STATUS_OK;
    return fail_user(
        "refine: level %d spans %.4g cells, whose description alone needs %.4g GB on the "
        "host %s, which has %.4g GB (a lower level, smaller regions, or regions that "
        "lie closer together)",
        worst, most_cells, 1e-9 * lack.need, lack.host, 1e-9 * lack.all);
}
