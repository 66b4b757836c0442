/* Profiles of openings; see profile.h. */
#include "tags/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/heights.h"
#include "elementary.h"

static const double pi = 3.141592653589793;

struct profile_stretch profile_stretch(const struct flow_case *c, int axis)
{
    const struct case_face *const faces = &c->faces[2 * axis];
    double at[2];
    bool held[2];
    for (int side = 0; side < 2; side++) {
        at[side] = side ? c->cells[axis] : 0;
        if (face_on_nodes(&faces[side]))
            at[side] += side ? -0.5 : 0.5;
        held[side] = face_has(faces[side].kind, FACE_HAS_edge);
    }
    struct profile_stretch s = {held[0] || held[1], at[0], at[1]};
    if (held[0] && !held[1])
        s.high = at[1] + (at[1] - at[0]);
    if (held[1] && !held[0])
        s.low = at[0] - (at[1] - at[0]);
    s.varies = s.varies && s.high > s.low;
    return s;
}

/* Developed flow in a rectangle of width[0] x width[1], at distances from[] from the nearer walls,
 * times 8 / width[0]^2 over (dp/dx) / viscosity (White, Viscous Fluid Flow, section 3-3.3): the
 * parabola along the first axis, less the drag of the walls across it,
 *
 *     4 p (1 - p) - 32/pi^3 sum_{n odd} sin(n pi p) / n^3 r_n,      p = from[0] / width[0],
 *     r_n = cosh(n k z) / cosh(n k width[1] / 2)
 *         = (exp(-n k d) + exp(-n k (width[1] - d))) / (1 + exp(-n k width[1])),
 *
 * with k = pi / width[0], z measured from the middle and d = from[1]. No term can overflow. */
static double series(const double width[2], const double from[2])
{
    /* from[0] / width[0] in units of 2^-45, finer than positions are given */
    const int64_t parts = (int64_t)1 << 45;
    const double p = from[0] / width[0], k = pi / width[0];
    const int64_t turn = (int64_t)(p * (double)parts + 0.5);
    const double sine = sin_turns(turn, 2 * parts), cosine = cos_turns(turn, 2 * parts);
    const double sine2 = 2 * sine * cosine, cosine2 = 1 - 2 * sine * sine;
    const double far = width[1] - from[1];
    const double step[3] = {k * from[1], k * far, k * width[1]};
    double e[3], e2[3], s = sine, c = cosine, sum = 0;
    for (int i = 0; i < 3; i++) {
        e[i] = step[i] < 350 ? exact_exp(-step[i]) : 0;
        e2[i] = e[i] * e[i];
    }
    /* until terms are below 1e-17 of a parabola */
    for (double n = 1; n < 1e6; n += 2) {
        const double weight = (e[0] + e[1]) / ((1 + e[2]) * (n * n * n));
        if (weight < 1e-17)
            break;
        sum += s * weight;
        const double turned = s * cosine2 + c * sine2;
        c = c * cosine2 - s * sine2;
        s = turned;
        for (int i = 0; i < 3; i++)
            e[i] *= e2[i];
    }
    return 4 * p * (1 - p) - 32 / (pi * pi * pi) * sum;
}

/* In a square the mean over both orders of the axes, so that exchanging them changes no bit. */
static double either_series(const double width[2], const double from[2])
{
    const double turned_width[2] = {width[1], width[0]}, turned_from[2] = {from[1], from[0]};
    if (from[0] <= 0 || from[1] <= 0)
        return 0; /* here the series would converge most slowly */
    if (width[0] < width[1])
        return series(width, from);
    if (width[0] > width[1])
        return series(turned_width, turned_from);
    return 0.5 * (series(width, from) + series(turned_width, turned_from));
}

/* Distance of the centre of cell i from the nearer end, bit-identical from either side. */
static double nearer(const struct profile_stretch *s, int i)
{
    const double low = (i + 0.5) - s->low, high = s->high - (i + 0.5);
    const double least = low < high ? low : high;
    return least > 0 ? least : 0;
}

/* A profile along one axis of the box; by the distance from its ends it is 1 in the middle. */
static double along(const struct case_face *what, const struct profile_stretch *s, int axis, int i)
{
    if (profile_has(what->profile, PROFILE_HAS_height))
        return axis == what->heights.axis ? heights_at(what->profile, &what->heights, i + 0.5) : 1;
    if (!s->varies)
        return 1;
    const double width = s->high - s->low, p = nearer(s, i) / width;
    if (what->profile == PROFILE_power)
        return p > 0 ? exact_exp(exact_log(2 * p) / what->power) : 0;
    return 4 * p * (1 - p);
}

/* A profile in a pipe, 1 in the middle. */
static double in_disc(const struct case_face *what, const struct case_patch *p, int i, int j)
{
    const double x = (i + 0.5) - p->center[0], y = (j + 0.5) - p->center[1];
    const double square = (x * x + y * y) / (p->radius * p->radius);
    if (square >= 1)
        return 0;
    return what->profile == PROFILE_power ? exact_exp(exact_log(1 - sqrt(square)) / what->power)
                                          : 1 - square;
}

/* A profile by the distance from a point. */
static double by_radius(const struct case_face *what, int face, int i, int j)
{
    const double at[2] = {i + 0.5, j + 0.5};
    return heights_on_face(what->profile, &what->heights, face, at);
}

static const struct case_patch *patch_of(const struct flow_case *c, const struct case_face *what)
{
    for (int i = 0; i < c->patch_count; i++)
        if (what == &c->patches[i].opening)
            return &c->patches[i];
    return NULL;
}

/* The stretch along one axis of a face or of a rectangular patch. The patch's own edges count,
 * except where it reaches an edge of the face. Covered cells end the stretch like a wall, at the
 * side of the last covered cell. */
static struct profile_stretch stretch_of(const struct flow_case *c, const struct case_patch *patch,
                                         const struct profile_open *open, int axis, int k)
{
    const bool rectangle = patch && patch->shape == PATCH_rectangle;
    struct profile_stretch s = profile_stretch(c, axis);
    double from = rectangle ? patch->from[k] : 0, to = rectangle ? patch->to[k] : c->cells[axis];
    if (open && open->lo[k] - 0.5 >= from) /* the previous cell is covered */
        from = open->lo[k];
    if (open && open->hi[k] + 0.5 <= to)
        to = open->hi[k];
    const bool low = from > 0, high = to < c->cells[axis];
    const bool symmetric_low = !s.varies || s.low < 0,
               symmetric_high = !s.varies || s.high > c->cells[axis];
    if (low)
        s.low = from;
    if (high)
        s.high = to;
    if (!low && symmetric_low) /* the plane of symmetry, at 0 */
        s.low = high ? -to : s.low;
    if (!high && symmetric_high)
        s.high = low ? 2 * c->cells[axis] - from : s.high;
    s.varies = (low || high || s.varies) && s.high > s.low;
    return s;
}

/* Developed flow in a rectangle. Between two walls only, it is the parabola. */
static double duct(const struct profile_stretch s[2], int i, int j)
{
    const double width[2] = {s[0].high - s[0].low, s[1].high - s[1].low};
    const double from[2] = {nearer(&s[0], i), nearer(&s[1], j)};
    return either_series(width, from);
}

static void fill(const struct case_face *what, const int size[2], const double *factor,
                 double *values)
{
    const size_t cells = (size_t)size[0] * (size_t)size[1];
    for (size_t n = 0; n < cells; n++)
        for (int a = 0; a < 3; a++)
            values[3 * n + (size_t)a] = what->velocity[a] * factor[n];
}

enum status profile_values(const struct flow_case *c, int face, const struct case_face *what,
                           const struct profile_open *open, double *values)
{
    int axes[2];
    face_axes(face, axes);
    const int size[2] = {c->cells[axes[0]], c->cells[axes[1]]};
    const size_t cells = (size_t)size[0] * (size_t)size[1];
    const struct case_patch *const patch = patch_of(c, what);
    const bool has = face_has(what->kind, FACE_HAS_profile);
    const bool flat = !has || what->profile == PROFILE_uniform;
    const bool pipe =
        patch && patch->shape == PATCH_disc && profile_has(what->profile, PROFILE_HAS_edges);
    const bool round = pipe || (has && profile_has(what->profile, PROFILE_HAS_radius));
    struct profile_stretch s[2];

    if (has && what->profile == PROFILE_table) {
        const bool each = what->table_components == 3;
        for (size_t n = 0; n < cells; n++)
            for (size_t a = 0; a < 3; a++)
                values[3 * n + a] = what->velocity[a] * what->table[each ? 3 * n + a : n];
        return STATUS_OK;
    }
    double *const factor = malloc(cells * sizeof *factor), *const line = malloc((size_t)size[0] *
                                                                                sizeof *line);
    if (!factor || !line) {
        free(factor);
        free(line);
        return fail_machine("out of memory for a profile of %zu cells", cells);
    }
    for (int k = 0; k < 2; k++)
        s[k] = stretch_of(c, patch, open, axes[k], k);
    const bool series_needed =
        !flat && !round && what->profile == PROFILE_duct && s[0].varies && s[1].varies;
    for (int i = 0; i < size[0]; i++)
        line[i] = flat || round || series_needed ? 1 : along(what, &s[0], axes[0], i);
    double peak = 1;
    if (series_needed) {
        const double width[2] = {s[0].high - s[0].low, s[1].high - s[1].low};
        const double middle[2] = {width[0] / 2, width[1] / 2};
        peak = either_series(width, middle);
    }
    for (int j = 0; j < size[1]; j++) {
        const double other = flat || round || series_needed ? 1 : along(what, &s[1], axes[1], j);
        for (int i = 0; i < size[0]; i++)
            factor[(size_t)j * (size_t)size[0] + (size_t)i] = flat    ? 1
                                                              : pipe  ? in_disc(what, patch, i, j)
                                                              : round ? by_radius(what, face, i, j)
                                                              : series_needed ? duct(s, i, j) / peak
                                                                              : line[i] * other;
    }
    fill(what, size, factor, values);
    free(factor);
    free(line);
    return STATUS_OK;
}
