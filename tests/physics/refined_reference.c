/* Refined grids the plain way, in double precision: what tests/physics/refined_*.py compare with.
 *
 *   refined_reference INPUT OUTPUT
 *
 * Each level has two lattices of the whole box and a kind for each cell. Cells of level l + 1 that
 * lie over the coarse cells around the level are transit cells: they pass populations on as they
 * are. A coarse step (`advance`) explodes what left coarse cells into transit cells, takes two
 * steps of the next level, and coalesces what transit cells hold then. All populations that nobody
 * wrote are NaN.
 *
 * INPUT has a key and its values on each line; cells and lengths are of level 0, steps too:
 *
 *   cells NX NY NZ                          tau T, magic M, collision trt | bgk
 *   xmin .. zmax periodic | slip | wall UX UY UZ
 *   acceleration AX AY AZ                   steps N, every N (0: the end alone)
 *   box LEVEL X0 Y0 Z0 X1 Y1 Z1             cells of level LEVEL - 1, the end not included
 *   flow NAME, amplitude U, axis x, thickness K, perturbation D, density E, center X Y Z, width B,
 *   velocity UX UY UZ                       as in a case file
 *   noise SIZE SEED                         added to each population, times its weight
 *
 * OUTPUT gets density - 1 and the velocity, doubles, [level][z][y][x][4], NaN in cells that are not
 * of a level, at step 0, at each multiple of `every` and at the end (`every` 0: at the end alone).
 * Standard output gets a line for each of these: the step, the mass beyond that at density 1 and
 * the momentum, in units of level 0's cells. Exit status 1: a check of the scheme failed. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lattice.h"

enum { LEVELS = 9, SUBCELLS = 8 };
enum kind { ABSENT, PROPER, TRANSIT };
enum face_kind { PERIODIC, SLIP, WALL };
static const int c[Q][3] = LATTICE_VELOCITIES;
static const double pi = 3.14159265358979323846;

struct face {
    enum face_kind kind;
    double velocity[3];
};

/* A population of a cell. `add`: what a moving wall adds on the way to it. */
struct place {
    int x[3], i;
    double add;
};

/* Where a population of an active cell goes in a step: a number in `arrived`; SIZE_MAX: lost. */
struct target {
    size_t to;
    double add;
};

struct level {
    int n[3]; /* of the whole box */
    size_t cells;
    uint8_t *held; /* by this level, covered by the next one or not */
    uint8_t *kind;
    size_t count; /* active cells: proper and transit */
    size_t *active;
    struct target *target;  /* [count][Q] */
    double *arrived, *sent; /* [cells][Q] */
    double tau, omega_even, omega_odd, acceleration[3];
};

/* A coarse cell under transit cells. */
struct edge {
    int x[3];
    uint8_t k[Q][SUBCELLS]; /* substep at which the population enters the fine level; 0: never */
    int n[Q];               /* how many of them do */
    struct place place[Q];  /* where it arrives on the coarse level */
};

static struct {
    int levels, cells[3], steps, every, axis;
    struct face face[6];
    double tau, magic, acceleration[3];
    bool bgk;
    char flow[32];
    double amplitude, thickness, perturbation, density, center[3], width, velocity[3], noise;
    uint64_t seed;
    size_t edges[LEVELS];
    struct edge *edge[LEVELS]; /* between level l and l + 1 */
    struct level level[LEVELS];
} grid = {.levels = 1, .tau = 0.8, .magic = 3.0 / 16, .flow = "rest", .axis = 2, .width = 1};

static void fail(const char *what)
{
    fprintf(stderr, "refined_reference: %s\n", what);
    exit(1);
}

static void *need(size_t count, size_t size)
{
    void *const memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("no memory");
    return memory;
}

static int opposite(int i)
{
    return i == 0 ? 0 : i % 2 ? i + 1 : i - 1;
}

static size_t cell_at(const struct level *l, const int x[3])
{
    return ((size_t)x[2] * (size_t)l->n[1] + (size_t)x[1]) * (size_t)l->n[0] + (size_t)x[0];
}

/* Of a population in `arrived` and `sent`. */
static size_t slot(size_t cell, int i)
{
    return cell * Q + (size_t)i;
}

static void cell_of(const struct level *l, size_t cell, int x[3])
{
    x[0] = (int)(cell % (size_t)l->n[0]);
    x[1] = (int)(cell / (size_t)l->n[0] % (size_t)l->n[1]);
    x[2] = (int)(cell / (size_t)l->n[0] / (size_t)l->n[1]);
}

/* Wraps along periodic axes. Returns whether the cell is in the box. */
static bool wrap(const struct level *l, int x[3])
{
    bool inside = true;
    for (int a = 0; a < 3; a++) {
        if (grid.face[2 * a].kind == PERIODIC)
            x[a] = (x[a] + l->n[a]) % l->n[a];
        inside &= x[a] >= 0 && x[a] < l->n[a];
    }
    return inside;
}

/* One step along direction i: to the next cell; back from a wall; mirrored at a plane of symmetry.
 * Beyond an edge a wall comes before a plane of symmetry; two walls are a wall at rest, and two
 * planes send the population back. */
static struct place moved(const struct level *l, struct place from)
{
    struct place to = from;
    int beyond = 0, walls = 0, face = -1, axis = -1;
    for (int a = 0; a < 3; a++)
        to.x[a] += c[from.i][a];
    to.add = 0;
    if (wrap(l, to.x))
        return to;
    for (int a = 0; a < 3; a++) {
        if (to.x[a] >= 0 && to.x[a] < l->n[a])
            continue;
        const int here = 2 * a + (to.x[a] >= l->n[a]);
        beyond++;
        walls += grid.face[here].kind == WALL;
        if (face < 0 || grid.face[here].kind == WALL)
            face = here, axis = a;
    }
    if (beyond == 1 && !walls) {
        to.x[axis] = from.x[axis];
        for (int i = 0; i < Q; i++) {
            bool mirror = true;
            for (int a = 0; a < 3; a++)
                mirror &= c[i][a] == (a == axis ? -c[from.i][a] : c[from.i][a]);
            if (mirror)
                to.i = i;
        }
        return to;
    }
    memcpy(to.x, from.x, sizeof to.x);
    to.i = opposite(from.i);
    if (walls == 1)
        for (int a = 0; a < 3; a++)
            to.add -=
                6 * LATTICE_WEIGHT(double, from.i) * c[from.i][a] * grid.face[face].velocity[a];
    return to;
}

/* ---- input ---- */

struct region {
    int level, from[3], to[3];
};
static struct region regions[256];
static int region_count;

static void read_face(int face, const char *text)
{
    struct face *const f = &grid.face[face];
    char word[32];
    if (sscanf(text, "%31s", word) != 1)
        fail("a face without a kind");
    f->kind = strcmp(word, "periodic") == 0 ? PERIODIC : strcmp(word, "slip") == 0 ? SLIP : WALL;
    if (f->kind == WALL &&
        (strcmp(word, "wall") != 0 ||
         sscanf(text, "%*s %lf %lf %lf", &f->velocity[0], &f->velocity[1], &f->velocity[2]) != 3))
        fail("not a face: periodic, slip or wall UX UY UZ");
}

static int read_numbers(const char *text, double *to, int count)
{
    char *end;
    int found = 0;
    for (; found < count; found++) {
        to[found] = strtod(text, &end);
        if (end == text)
            break;
        text = end;
    }
    return found;
}

static void read_line(const char *key, const char *text)
{
    static const char *const faces[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
    const struct {
        const char *key;
        double *to;
        int count;
    } numbers[] = {
        {"tau", &grid.tau, 1},
        {"magic", &grid.magic, 1},
        {"acceleration", grid.acceleration, 3},
        {"amplitude", &grid.amplitude, 1},
        {"thickness", &grid.thickness, 1},
        {"perturbation", &grid.perturbation, 1},
        {"density", &grid.density, 1},
        {"center", grid.center, 3},
        {"width", &grid.width, 1},
        {"velocity", grid.velocity, 3},
    };
    double v[7];
    for (int face = 0; face < 6; face++)
        if (strcmp(key, faces[face]) == 0) {
            read_face(face, text);
            return;
        }
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (strcmp(key, numbers[k].key) == 0) {
            if (read_numbers(text, numbers[k].to, numbers[k].count) != numbers[k].count)
                fail(key);
            return;
        }
    if (strcmp(key, "cells") == 0 && read_numbers(text, v, 3) == 3) {
        for (int a = 0; a < 3; a++)
            grid.cells[a] = (int)v[a];
    } else if (strcmp(key, "box") == 0 && read_numbers(text, v, 7) == 7) {
        if (region_count == sizeof regions / sizeof *regions || v[0] < 1 || v[0] >= LEVELS)
            fail("too many boxes, or no such level");
        struct region *const r = &regions[region_count++];
        r->level = (int)v[0];
        for (int a = 0; a < 3; a++) {
            r->from[a] = (int)v[1 + a];
            r->to[a] = (int)v[4 + a];
        }
        if (r->level >= grid.levels)
            grid.levels = r->level + 1;
    } else if (strcmp(key, "collision") == 0) {
        grid.bgk = strcmp(text, "bgk") == 0;
        if (!grid.bgk && strcmp(text, "trt") != 0)
            fail("collision is neither trt nor bgk");
    } else if (strcmp(key, "flow") == 0 && strlen(text) < sizeof grid.flow) {
        strcpy(grid.flow, text);
    } else if (strcmp(key, "axis") == 0 && text[0] >= 'x' && text[0] <= 'z') {
        grid.axis = text[0] - 'x';
    } else if (strcmp(key, "steps") == 0 && read_numbers(text, v, 1) == 1) {
        grid.steps = (int)v[0];
    } else if (strcmp(key, "every") == 0 && read_numbers(text, v, 1) == 1) {
        grid.every = (int)v[0];
    } else if (strcmp(key, "noise") == 0 && read_numbers(text, v, 2) == 2) {
        grid.noise = v[0];
        grid.seed = (uint64_t)v[1];
    } else {
        fail(key);
    }
}

static void read_input(const char *path)
{
    FILE *const file = fopen(path, "r");
    char line[512];
    if (!file)
        fail("cannot open the input");
    while (fgets(line, sizeof line, file)) {
        char key[32] = "";
        int start = 0;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%31s %n", key, &start) == 1)
            read_line(key, line + start);
    }
    if (ferror(file) || fclose(file))
        fail("cannot read the input");
}

/* ---- levels ---- */

static void make_held(int number)
{
    struct level *const l = &grid.level[number];
    for (size_t cell = 0; cell < l->cells; cell++) {
        int x[3];
        cell_of(l, cell, x);
        l->held[cell] = number == 0;
        for (int k = 0; k < region_count; k++) {
            const struct region *const r = &regions[k];
            bool in = r->level == number;
            for (int a = 0; a < 3; a++)
                in &= x[a] / 2 >= r->from[a] && x[a] / 2 < r->to[a];
            l->held[cell] |= in;
        }
        if (number && l->held[cell]) {
            const struct level *const parent = &grid.level[number - 1];
            if (!parent->held[cell_at(parent, (int[3]){x[0] / 2, x[1] / 2, x[2] / 2})])
                fail("a level is not inside the one before");
        }
    }
}

/* Is a cell in the box held by the level, or one of its 26 neighbours? `x`: a cell of the level
 * before, whose fine cells are held all or none. */
static bool touches(int number, const int x[3])
{
    const struct level *const l = &grid.level[number], *const parent = &grid.level[number - 1];
    for (int n = 0; n < 27; n++) {
        int y[3] = {x[0] + n % 3 - 1, x[1] + n / 3 % 3 - 1, x[2] + n / 9 - 1};
        if (wrap(parent, y) && l->held[cell_at(l, (int[3]){2 * y[0], 2 * y[1], 2 * y[2]})])
            return true;
    }
    return false;
}

static void make_kinds(int number)
{
    struct level *const l = &grid.level[number];
    const struct level *const next = number + 1 < grid.levels ? l + 1 : NULL;
    for (size_t cell = 0; cell < l->cells; cell++) {
        int x[3];
        cell_of(l, cell, x);
        const bool covered =
            next && next->held[cell_at(next, (int[3]){2 * x[0], 2 * x[1], 2 * x[2]})];
        if (l->held[cell])
            l->kind[cell] = covered ? ABSENT : PROPER;
        else if (touches(number, (int[3]){x[0] / 2, x[1] / 2, x[2] / 2}))
            l->kind[cell] = TRANSIT;
        l->count += l->kind[cell] != ABSENT;
    }
}

static void make_targets(struct level *l)
{
    size_t n = 0;
    l->active = need(l->count, sizeof *l->active);
    l->target = need(l->count * Q, sizeof *l->target);
    for (size_t cell = 0; cell < l->cells; cell++) {
        if (l->kind[cell] == ABSENT)
            continue;
        l->active[n] = cell;
        for (int i = 0; i < Q; i++) {
            struct place from = {.i = i};
            cell_of(l, cell, from.x);
            const struct place to = moved(l, from);
            const size_t at = cell_at(l, to.x);
            l->target[n * Q + (size_t)i] =
                (struct target){l->kind[at] == ABSENT ? SIZE_MAX : slot(at, to.i), to.add};
        }
        n++;
    }
}

static void make_level(int number)
{
    struct level *const l = &grid.level[number];
    const double times = ldexp(1, number);
    l->cells = 1;
    for (int a = 0; a < 3; a++) {
        l->n[a] = grid.cells[a] << number;
        l->cells *= (size_t)l->n[a];
        l->acceleration[a] = grid.acceleration[a] / times;
    }
    l->tau = times * (grid.tau - 0.5) + 0.5;
    l->omega_even = 1 / l->tau;
    l->omega_odd = grid.bgk ? l->omega_even : 1 / (grid.magic / (l->tau - 0.5) + 0.5);
    l->held = need(l->cells, 1);
    l->kind = need(l->cells, 1);
    l->arrived = need(Q * l->cells, sizeof *l->arrived);
    l->sent = need(Q * l->cells, sizeof *l->sent);
    for (size_t k = 0; k < Q * l->cells; k++)
        l->arrived[k] = l->sent[k] = NAN;
    make_held(number);
}

/* ---- seams ---- */

/* Fine cell s of a coarse one. */
static void subcell(const int x[3], int s, int to[3])
{
    for (int a = 0; a < 3; a++)
        to[a] = 2 * x[a] + (s >> a & 1);
}

static void fail_at(const char *what, int number, const struct edge *e, int i)
{
    fprintf(stderr, "level %d, cell %d %d %d, direction %d %d %d, %d paths: ", number, e->x[0],
            e->x[1], e->x[2], c[i][0], c[i][1], c[i][2], e->n[i]);
    fail(what);
}

/* Paths of what leaves a coarse cell. 2 paths enter past an edge of the fine level, 4 where two of
 * its edges meet in a line with nothing fine beside it. */
static void make_paths(int number, struct edge *e)
{
    const struct level *const coarse = &grid.level[number], *const fine = coarse + 1;
    for (int i = 0; i < Q; i++) {
        struct place from = {.i = i};
        for (int s = 0; s < SUBCELLS; s++) {
            struct place at = {.i = i};
            subcell(e->x, s, at.x);
            for (int substep = 1; substep <= 2 && !e->k[i][s]; substep++) {
                at = moved(fine, at);
                if (fine->held[cell_at(fine, at.x)])
                    e->k[i][s] = (uint8_t)substep;
            }
            e->n[i] += e->k[i][s] > 0;
        }
        memcpy(from.x, e->x, sizeof from.x);
        e->place[i] = moved(coarse, from);
        const bool arrives = coarse->kind[cell_at(coarse, e->place[i].x)] == PROPER;
        if (e->n[i] != 0 && e->n[i] != 2 && e->n[i] != 4 && e->n[i] != 8)
            fail_at("other than 0, 2, 4 or 8 paths enter the next level", number, e, i);
        if (arrives == (e->n[i] == 8))
            fail_at("a link has no cell to arrive in, or one that it should not have", number, e,
                    i);
    }
}

/* As many populations come out of the fine level into each group of transit cells as go in: each
 * one where the reversed path goes in. */
static void check_exits(int number)
{
    const struct level *const fine = &grid.level[number + 1];
    uint8_t *const exits = need(Q * fine->cells, 1);
    for (size_t cell = 0; cell < fine->cells; cell++)
        for (int i = 0; i < Q && fine->held[cell]; i++) {
            struct place at = {.i = i};
            cell_of(fine, cell, at.x);
            at = moved(fine, at);
            for (int substep = 2; substep >= 1 && !fine->held[cell_at(fine, at.x)]; substep--) {
                if (fine->kind[cell_at(fine, at.x)] != TRANSIT)
                    fail("a population leaves transit cells");
                exits[slot(cell_at(fine, at.x), at.i)]++;
                at = moved(fine, at);
            }
        }
    for (size_t n = 0; n < grid.edges[number]; n++)
        for (int i = 0; i < Q; i++)
            for (int s = 0; s < SUBCELLS; s++) {
                const struct edge *const e = &grid.edge[number][n];
                int x[3];
                subcell(e->x, s, x);
                uint8_t *const exit = &exits[slot(cell_at(fine, x), opposite(i))];
                if (*exit != (e->k[i][s] > 0))
                    fail("not as many populations leave the fine level as enter it");
                *exit = 0;
            }
    for (size_t k = 0; k < Q * fine->cells; k++)
        if (exits[k])
            fail("a population leaves the fine level for no group");
    free(exits);
}

static void make_seam(int number)
{
    const struct level *const coarse = &grid.level[number];
    for (int pass = 0; pass < 2; pass++) {
        size_t n = 0;
        for (size_t cell = 0; cell < coarse->cells; cell++) {
            int x[3];
            cell_of(coarse, cell, x);
            const struct level *const fine = coarse + 1;
            if (fine->kind[cell_at(fine, (int[3]){2 * x[0], 2 * x[1], 2 * x[2]})] != TRANSIT)
                continue;
            if (coarse->kind[cell] != PROPER)
                fail("a level is too close to the edge of the one before");
            if (pass) {
                memcpy(grid.edge[number][n].x, x, sizeof x);
                make_paths(number, &grid.edge[number][n]);
            }
            n++;
        }
        grid.edges[number] = n;
        if (!pass)
            grid.edge[number] = need(n, sizeof *grid.edge[number]);
    }
    check_exits(number);
}

/* ---- a step ---- */

struct flow {
    double drho, u[3];
};

/* Moments of what arrived; the velocity with half a step's force. */
static struct flow flow_at(const struct level *l, size_t cell)
{
    struct flow f = {0};
    for (int i = 0; i < Q; i++) {
        f.drho += l->arrived[slot(cell, i)];
        for (int a = 0; a < 3; a++)
            f.u[a] += c[i][a] * l->arrived[slot(cell, i)];
    }
    for (int a = 0; a < 3; a++)
        f.u[a] = f.u[a] / (1 + f.drho) + 0.5 * l->acceleration[a];
    return f;
}

/* Two relaxation times, equilibrium of second order, Guo's force; populations are less their
 * weights. */
static void collide(struct level *l, size_t cell)
{
    const struct flow f = flow_at(l, cell);
    const double *const arrived = &l->arrived[slot(cell, 0)];
    const double rho = 1 + f.drho;
    double square = 0, uF = 0, equilibrium[Q], force[Q];
    for (int a = 0; a < 3; a++) {
        square += f.u[a] * f.u[a];
        uF += f.u[a] * rho * l->acceleration[a];
    }
    for (int i = 0; i < Q; i++) {
        const double w = LATTICE_WEIGHT(double, i);
        double cu = 0, cF = 0;
        for (int a = 0; a < 3; a++) {
            cu += c[i][a] * f.u[a];
            cF += c[i][a] * rho * l->acceleration[a];
        }
        equilibrium[i] = w * (f.drho + rho * (3 * cu + 4.5 * cu * cu - 1.5 * square));
        force[i] = w * (3 * (cF - uF) + 9 * cu * cF);
    }
    for (int i = 0; i < Q; i++) {
        const int j = opposite(i);
        const double here = arrived[i], other = arrived[j];
        const double even = 0.5 * (equilibrium[i] + equilibrium[j] - here - other),
                     odd = 0.5 * (equilibrium[i] - equilibrium[j] - here + other);
        l->sent[slot(cell, i)] = here + l->omega_even * even + l->omega_odd * odd +
                                 (1 - 0.5 * l->omega_even) * 0.5 * (force[i] + force[j]) +
                                 (1 - 0.5 * l->omega_odd) * 0.5 * (force[i] - force[j]);
    }
}

static void step(struct level *l)
{
    for (size_t n = 0; n < l->count; n++) {
        const size_t cell = l->active[n];
        if (l->kind[cell] == PROPER)
            collide(l, cell);
        for (int i = 0; i < Q && l->kind[cell] == TRANSIT; i++)
            l->sent[slot(cell, i)] = l->arrived[slot(cell, i)];
    }
    for (size_t n = 0; n < l->count; n++)
        for (int i = 0; i < Q; i++)
            l->arrived[slot(l->active[n], i)] = NAN;
    for (size_t n = 0; n < l->count; n++)
        for (int i = 0; i < Q; i++) {
            const struct target t = l->target[n * Q + (size_t)i];
            if (t.to != SIZE_MAX)
                l->arrived[t.to] = l->sent[slot(l->active[n], i)] + t.add;
        }
}

/* Population i of a coarse cell's neighbour along an axis, after collision. Beyond a plane of
 * symmetry the neighbour is the cell's mirror image. False: it is no fluid cell of the level. */
static bool beside(const struct level *l, const int x[3], int axis, int side, int i, double *f)
{
    int y[3] = {x[0], x[1], x[2]};
    y[axis] += side;
    if ((y[axis] < 0 || y[axis] >= l->n[axis]) && grid.face[2 * axis + (side > 0)].kind == SLIP) {
        int image = 0;
        while (c[image][axis] != -c[i][axis] || c[image][(axis + 1) % 3] != c[i][(axis + 1) % 3] ||
               c[image][(axis + 2) % 3] != c[i][(axis + 2) % 3])
            image++;
        *f = l->sent[slot(cell_at(l, x), image)];
        return true;
    }
    if (!wrap(l, y) || l->kind[cell_at(l, y)] != PROPER)
        return false;
    *f = l->sent[slot(cell_at(l, y), i)];
    return true;
}

static void slopes(const struct level *l, const int x[3], int i, double g[3])
{
    const double here = l->sent[slot(cell_at(l, x), i)];
    for (int a = 0; a < 3; a++) {
        double low, high;
        const bool down = beside(l, x, a, -1, i, &low), up = beside(l, x, a, 1, i, &high);
        g[a] = down && up ? (high - low) / 2 : up ? high - here : down ? here - low : 0;
    }
}

/* What a wall adds to a population on its way from a transit cell into the fine level; `other`, if
 * it meets none. */
static double added(const struct level *fine, const int x[3], int i, double other)
{
    struct place at = {.i = i};
    memcpy(at.x, x, sizeof at.x);
    for (int substep = 0; substep < 2 && (!substep || !fine->held[cell_at(fine, at.x)]);
         substep++) {
        const int before = at.i;
        at = moved(fine, at);
        if (before && at.i == opposite(before))
            return at.add;
    }
    return other;
}

/* Puts what left a coarse cell along direction i into its transit cells; takes it from where it
 * arrives on the coarse level. */
static void explode(struct level *coarse, struct level *fine, const struct edge *e, int i)
{
    double g[3], offset[SUBCELLS][3], mean[3] = {0}, taken = 0;
    slopes(coarse, e->x, i, g);
    for (int s = 0; s < SUBCELLS; s++)
        for (int a = 0; a < 3; a++) {
            offset[s][a] = (s >> a & 1) ? 0.25 : -0.25;
            if (e->k[i][s] == 1)
                offset[s][a] -= 0.25 * c[i][a];
            if (e->k[i][s] == 2)
                offset[s][a] += 0.25 * c[i][a];
            mean[a] += offset[s][a] / SUBCELLS;
        }
    for (int s = 0; s < SUBCELLS; s++) {
        double value = coarse->sent[slot(cell_at(coarse, e->x), i)];
        int x[3];
        if (!e->k[i][s])
            continue;
        for (int a = 0; a < 3; a++)
            value += (offset[s][a] - (e->n[i] == 8 ? mean[a] : 0)) * g[a];
        subcell(e->x, s, x);
        fine->arrived[slot(cell_at(fine, x), i)] = value;
        taken += value + added(fine, x, i, e->place[i].add);
    }
    if (e->n[i] && e->n[i] < 8)
        coarse->arrived[slot(cell_at(coarse, e->place[i].x), e->place[i].i)] -= taken / SUBCELLS;
}

static void explode_all(int number)
{
    struct level *const coarse = &grid.level[number], *const fine = coarse + 1;
    for (size_t n = 0; n < fine->count; n++)
        for (int i = 0; i < Q && fine->kind[fine->active[n]] == TRANSIT; i++)
            fine->arrived[slot(fine->active[n], i)] = NAN;
    for (size_t n = 0; n < grid.edges[number]; n++)
        for (int i = 0; i < Q; i++)
            if (grid.edge[number][n].n[i])
                explode(coarse, fine, &grid.edge[number][n], i);
}

/* What came out of the fine level along direction j arrives in coarse cells. */
static void coalesce_all(int number)
{
    struct level *const coarse = &grid.level[number];
    const struct level *const fine = coarse + 1;
    for (size_t n = 0; n < grid.edges[number]; n++)
        for (int j = 0; j < Q; j++) {
            const struct edge *const e = &grid.edge[number][n];
            const int in = opposite(j);
            double *const f = &coarse->arrived[slot(cell_at(coarse, e->x), j)];
            double given = 0;
            if (!e->n[in])
                continue;
            for (int s = 0; s < SUBCELLS; s++) {
                int x[3];
                subcell(e->x, s, x);
                if (e->k[in][s])
                    given += fine->arrived[slot(cell_at(fine, x), j)];
            }
            *f = e->n[in] == 8 ? given / SUBCELLS : *f + given / SUBCELLS;
        }
}

static void advance(int number)
{
    step(&grid.level[number]);
    if (number + 1 == grid.levels)
        return;
    explode_all(number);
    advance(number + 1);
    advance(number + 1);
    coalesce_all(number);
}

/* ---- the flow at the start ---- */

struct start {
    struct flow f;
    double gradient[3][3]; /* [a][b] = d u_b / d x_a */
};

static double gaussian(double square)
{
    return square < 700 ? exp(-square) : 0;
}

/* The flows of include/initial.h in a cell of a level: angle[a] = 2 pi (x + 1/2) / n. */
static struct start start_at(int number, const int g[3])
{
    const struct level *const l = &grid.level[number];
    const double U = grid.amplitude, width = ldexp(grid.width, number);
    const int z = grid.axis, x = (z + 1) % 3, y = (z + 2) % 3;
    struct start t = {0};
    double k[3], s[3], co[3], co2[3], d[3], square = 0;
    for (int a = 0; a < 3; a++) {
        k[a] = 2 * pi / l->n[a];
        s[a] = sin(k[a] * (g[a] + 0.5));
        co[a] = cos(k[a] * (g[a] + 0.5));
        co2[a] = cos(2 * k[a] * (g[a] + 0.5));
        d[a] = (g[a] + 0.5 - ldexp(grid.center[a], number)) / width;
    }
    if (strcmp(grid.flow, "taylor_green_2d") == 0) {
        const double ratio = k[x] / k[y];
        t.f.u[x] = -U * co[x] * s[y];
        t.f.u[y] = U * ratio * s[x] * co[y];
        t.gradient[x][x] = U * k[x] * s[x] * s[y];
        t.gradient[y][x] = -U * k[y] * co[x] * co[y];
        t.gradient[x][y] = U * ratio * k[x] * co[x] * co[y];
        t.gradient[y][y] = -U * ratio * k[y] * s[x] * s[y];
        t.f.drho = -0.75 * U * U * (co2[x] + ratio * ratio * co2[y]);
    } else if (strcmp(grid.flow, "taylor_green_3d") == 0) {
        t.f.u[0] = U * s[0] * co[1] * co[2];
        t.f.u[1] = -U * co[0] * s[1] * co[2];
        for (int a = 0; a < 3; a++) {
            const double dx[3] = {a == 0 ? k[0] * co[0] : s[0], a == 1 ? -k[1] * s[1] : co[1],
                                  a == 2 ? -k[2] * s[2] : co[2]};
            const double dy[3] = {a == 0 ? -k[0] * s[0] : co[0], a == 1 ? k[1] * co[1] : s[1],
                                  a == 2 ? -k[2] * s[2] : co[2]};
            t.gradient[a][0] = U * dx[0] * dx[1] * dx[2];
            t.gradient[a][1] = -U * dy[0] * dy[1] * dy[2];
        }
        t.f.drho = 3.0 / 16 * U * U * (co2[0] + co2[1]) * (co2[2] + 2);
    } else if (strcmp(grid.flow, "abc") == 0) {
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, e = (a + 2) % 3;
            t.f.u[a] = U * (s[e] + co[b]);
            t.gradient[e][a] = U * k[e] * co[e];
            t.gradient[b][a] = -U * k[b] * s[b];
            t.f.drho -= 3 * U * U * s[e] * co[b];
        }
    } else if (strcmp(grid.flow, "shear_layer") == 0) {
        const double at = (g[y] + 0.5) / l->n[y];
        const bool lower = at <= 0.5;
        const double profile = tanh(grid.thickness * (lower ? at - 0.25 : 0.75 - at));
        t.f.u[x] = U * profile;
        t.f.u[y] = grid.perturbation * U * co[x];
        t.gradient[y][x] =
            U * (lower ? 1 : -1) * grid.thickness / l->n[y] * (1 - profile * profile);
        t.gradient[x][y] = -grid.perturbation * U * k[x] * s[x];
    } else if (strcmp(grid.flow, "vortex") == 0) {
        const double r2 = d[x] * d[x] + d[y] * d[y], e = r2 < 1400 ? exp(0.5 * (1 - r2)) : 0;
        t.f.u[x] = -U * d[y] * e;
        t.f.u[y] = U * d[x] * e;
        t.gradient[x][x] = U * d[x] * d[y] * e / width;
        t.gradient[y][x] = -U * (1 - d[y] * d[y]) * e / width;
        t.gradient[x][y] = U * (1 - d[x] * d[x]) * e / width;
        t.gradient[y][y] = -t.gradient[x][x];
        t.f.drho = -1.5 * U * U * e * e;
    } else if (strcmp(grid.flow, "pulse") == 0) {
        for (int a = 0; a < 3; a++)
            square += d[a] * d[a];
        t.f.drho = grid.density * gaussian(square);
    } else if (strcmp(grid.flow, "wave") == 0) {
        t.f.drho = grid.density * gaussian(d[z] * d[z]);
        t.f.u[z] = t.f.drho / sqrt(3);
        t.gradient[z][z] = -2 * d[z] / width * t.f.u[z];
    } else if (strcmp(grid.flow, "rest") != 0 && strcmp(grid.flow, "uniform") != 0) {
        fail("no such flow");
    }
    for (int a = 0; a < 3; a++)
        t.f.u[a] += grid.velocity[a];
    return t;
}

/* In [-1, 1). */
static double random_number(void)
{
    uint64_t x = grid.seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)(int64_t)(x ^ x >> 31) * 0x1p-63;
}

static void start_level(int number)
{
    struct level *const l = &grid.level[number];
    for (size_t cell = 0; cell < l->cells; cell++) {
        int x[3];
        cell_of(l, cell, x);
        if (l->kind[cell] != PROPER)
            continue;
        const struct start t = start_at(number, x);
        const double rho = 1 + t.f.drho;
        for (int i = 0; i < Q; i++) {
            const double w = LATTICE_WEIGHT(double, i);
            double cu = 0, ca = 0, square = 0, strain = 0;
            for (int a = 0; a < 3; a++) {
                cu += c[i][a] * t.f.u[a];
                ca += c[i][a] * l->acceleration[a];
                square += t.f.u[a] * t.f.u[a];
                for (int b = 0; b < 3; b++)
                    strain += (c[i][a] * c[i][b] - (a == b) / 3.0) * t.gradient[a][b];
            }
            l->arrived[slot(cell, i)] =
                w * (t.f.drho + rho * (3 * cu + 4.5 * cu * cu - 1.5 * square) -
                     3 * rho * (l->tau * strain + ca / 2) + grid.noise * random_number());
        }
    }
}

/* ---- output ---- */

static void write_state(FILE *file, int at)
{
    long double mass = 0, momentum[3] = {0};
    for (int number = 0; number < grid.levels; number++) {
        const struct level *const l = &grid.level[number];
        double *const values = need(4 * l->cells, sizeof *values);
        for (size_t cell = 0; cell < l->cells; cell++) {
            const struct flow f = flow_at(l, cell);
            const double v[4] = {f.drho, f.u[0], f.u[1], f.u[2]};
            const bool proper = l->kind[cell] == PROPER;
            for (int k = 0; k < 4; k++)
                values[4 * cell + (size_t)k] = proper ? v[k] : NAN;
            if (!proper)
                continue;
            if (!isfinite(v[0] + v[1] + v[2] + v[3]))
                fail("a cell has populations that nobody wrote, or the flow diverged");
            mass += ldexpl(f.drho, -3 * number);
            for (int a = 0; a < 3; a++)
                momentum[a] += ldexpl(
                    (long double)(1 + f.drho) * (f.u[a] - 0.5L * l->acceleration[a]), -3 * number);
        }
        if (fwrite(values, sizeof *values, 4 * l->cells, file) != 4 * l->cells)
            fail("cannot write the output");
        free(values);
    }
    printf("%d %.17Lg %.17Lg %.17Lg %.17Lg\n", at, mass, momentum[0], momentum[1], momentum[2]);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: refined_reference INPUT OUTPUT");
    read_input(argv[1]);
    for (int number = 0; number < grid.levels; number++)
        make_level(number);
    for (int number = 0; number < grid.levels; number++) {
        make_kinds(number);
        make_targets(&grid.level[number]);
        start_level(number);
    }
    for (int number = 0; number + 1 < grid.levels; number++)
        make_seam(number);
    FILE *const file = fopen(argv[2], "wb");
    if (!file)
        fail("cannot create the output");
    for (int at = 0; at <= grid.steps; at++) {
        if (at == grid.steps || (grid.every && at % grid.every == 0))
            write_state(file, at);
        if (at < grid.steps)
            advance(0);
    }
    if (fclose(file))
        fail("cannot write the output");
    for (int number = 0; number < grid.levels; number++) {
        struct level *const l = &grid.level[number];
        free(l->held);
        free(l->kind);
        free(l->active);
        free(l->target);
        free(l->arrived);
        free(l->sent);
        free(grid.edge[number]);
    }
    return 0;
}
