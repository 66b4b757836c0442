/* Paths of populations beside a seam; see seam_paths.h. */
#include "solver/seam_paths.h"

#include <stdbool.h>

#include "boundary.h"
#include "slip.h"
#include "tags/faces.h"

static const int c[Q][3] = LATTICE_VELOCITIES;

void paths_wrap(const struct paths *p, int at[3])
{
    for (int a = 0; a < 3; a++) {
        const int n = p->r->level[p->level].cells[a];
        if (p->r->periodic[a])
            at[a] = (at[a] % n + n) % n;
    }
}

static bool inside(const struct paths *p, const int at[3])
{
    bool in = true;
    for (int a = 0; a < 3; a++)
        in = in && (p->r->periodic[a] || (at[a] >= 0 && at[a] < p->r->level[p->level].cells[a]));
    return in;
}

int paths_plane(const struct paths *p, const int at[3])
{
    int wrapped[3] = {at[0], at[1], at[2]};
    paths_wrap(p, wrapped);
    const struct tag_row *const row = &p->d->rows[faces_beyond(p->d, p->c, wrapped)];
    return row->boundary == BOUNDARY_slip ? (int)row->face : -1;
}

/* As slip_from, for cells `beyond` a plane of symmetry: false if the link bounces back. */
static bool mirrors(const struct paths *p, const int at[3], int i, int face, struct hop *from)
{
    int beside[3];
    from->i = mirrored(i, face / 2);
    slip_beside(i, from->i, at[0], at[1], at[2], beside);
    for (int a = 0; a < 3; a++)
        from->at[a] = beside[a] - c[from->i][a];
    return inside(p, from->at) && !inside(p, beside) && paths_plane(p, beside) == face;
}

struct hop paths_back(const struct paths *p, const int at[3], int i)
{
    struct hop from = {.i = i, .wall = TAG_NONE};
    for (int a = 0; a < 3; a++)
        from.at[a] = at[a] - c[i][a];
    if (!inside(p, from.at)) {
        const int face = paths_plane(p, from.at);
        if (face < 0 || !mirrors(p, at, i, face, &from)) {
            int beyond[3] = {at[0] - c[i][0], at[1] - c[i][1], at[2] - c[i][2]};
            paths_wrap(p, beyond);
            const uint8_t type = faces_beyond(p->d, p->c, beyond);
            const int rule = p->d->rows[type].boundary;
            from = (struct hop){{at[0], at[1], at[2]}, opposite(i), TAG_NONE, (uint8_t)opposite(i)};
            if (!boundary_open(rule) && !(boundary_is(rule) & RULE_as_sent))
                from.wall = type;
        }
    }
    paths_wrap(p, from.at);
    return from;
}

/* Paths can be walked in both directions: time reversed, a population goes back along them. */
struct hop paths_forward(const struct paths *p, const int at[3], int i)
{
    struct hop to = paths_back(p, at, opposite(i));
    to.i = opposite(to.i);
    return to;
}

int paths_enters(const struct paths *p, const int at[3], int i)
{
    struct hop h = {{at[0], at[1], at[2]}, i, TAG_NONE, 0};
    for (int substep = 1; substep <= 2; substep++) {
        h = paths_forward(p, h.at, h.i);
        if (refined_holds(p->r, p->level, h.at[0], h.at[1], h.at[2]))
            return substep;
    }
    return 0;
}

void paths_child(const int coarse[3], int s, int fine[3])
{
    for (int a = 0; a < 3; a++)
        fine[a] = 2 * coarse[a] + (s >> a & 1);
}

void paths_offset(const struct paths *p, const int coarse[3], int i, int s, int8_t offset[3])
{
    enum { QUARTER = SEAM_PARTS / 4 };
    int sum[3] = {0, 0, 0}, mine[3] = {0, 0, 0}, entering = 0;
    for (int k = 0; k < 8; k++) {
        int fine[3];
        paths_child(coarse, k, fine);
        const int substep = paths_enters(p, fine, i);
        entering += substep > 0;
        for (int a = 0; a < 3; a++) {
            const int shift = substep == 1 ? -c[i][a] : substep == 2 ? c[i][a] : 0;
            const int at = QUARTER * ((k >> a & 1 ? 1 : -1) + shift);
            sum[a] += at;
            mine[a] = k == s ? at : mine[a];
        }
    }
    for (int a = 0; a < 3; a++)
        offset[a] = (int8_t)(mine[a] - (entering == 8 ? sum[a] / 8 : 0));
}
