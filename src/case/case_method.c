/* Sections of a case: units, domain, fluid, solver, its subgrid model. */
#include <math.h>
#include <string.h>

#include "base/message.h"
#include "case/case_law.h"
#include "case/limits.h"
#include "case/opening.h"
#include "case/record.h"
#include "case/sections.h"

/* Most cells in all: twice 19 populations of 8 bytes stay far below PTRDIFF_MAX. */
#define CELLS_MAX 1125899906842624.0 /* 2^50 */

enum status units_read(struct map m, struct flow_case *c)
{
    struct case_units units = {.given = true};
    double physical = 0, lattice = 0;
    enum status s;
    c->units = (struct case_units){.dx = 1, .dt = 1, .density = 1};
    if (!m.node)
        return STATUS_OK;
    if ((s = record_read(m, 0, c)))
        return s;
    units.dx = units.cell = c->units.cell;
    if (!map_get(m, "dt") && !map_get(m, "velocity")) {
        static const char why[] = "where no unit of time is given (units.dt or units.velocity)";
        s = value_refuse(m, "density", why);
        return s ? s : value_refuse(m, "heat_capacity", why);
    }
    if ((s = value_one_of(m, "dt", "velocity")) || (s = value_read(m, "dt", &units.dt)) ||
        (s = value_read(m, "density", &units.density)) ||
        (s = value_read(m, "heat_capacity", &units.heat_capacity)))
        return s;
    units.density_given = map_get(m, "density") != NULL;
    if (units.heat_capacity > 0 && !map_get(m, "density"))
        return value_missing(m, "density", ", which units.heat_capacity needs,");
    const struct map velocity = map_below(m, "velocity");
    if (velocity.node) {
        if ((s = value_read(velocity, "physical", &physical)) ||
            (s = value_read(velocity, "lattice", &lattice)))
            return s;
        units.dt = lattice / physical * units.dx;
        units.lattice = lattice;
        if (!isnormal(units.dt))
            return fail_value(m.r, velocity.node,
                              " gives a time step of %g s, which is out of range", units.dt);
    }
    c->units = units;
    return STATUS_OK;
}

/* Converts lengths to cells: each must be a multiple of dx, within 1e-6 of the length. */
static enum status cells_from_size(struct map m, int cells[3])
{
    const double dx = m.r->c->units.cell;
    const struct node *n = map_get(m, "size");
    double size[3] = {0, 0, 0};
    if (dx == 0)
        return fail_value(m.r, n, " needs units.dx (or domain.cells in its place)");
    const enum status s = value_read(m, "size", size);
    if (s)
        return s;
    for (int a = 0; a < 3; a++) {
        const double ratio = size[a] / dx, whole = round(ratio), below = floor(ratio);
        if (!(whole <= 2147483647.0))
            return fail_value(m.r, n, ": %g m along %s is %g cells of %g m (at most 2147483647)",
                              size[a], key_axes[a], ratio, dx);
        if (ratio < 1 - 1e-6)
            return fail_value(m.r, n, ": %g m along %s is less than a cell (at least %g m)",
                              size[a], key_axes[a], dx);
        if (fabs(ratio - whole) > 1e-6 * whole)
            return fail_value(m.r, n,
                              ": %g m along %s is %.9g cells of %g m, no whole number "
                              "(%.9g m or %.9g m would fit)",
                              size[a], key_axes[a], ratio, dx, below * dx, (below + 1) * dx);
        cells[a] = (int)whole;
    }
    return STATUS_OK;
}

enum status domain_read(struct map m, struct flow_case *c)
{
    enum status s;
    if ((s = value_one_of(m, "cells", "size")))
        return s;
    s = map_get(m, "size") ? cells_from_size(m, c->cells) : record_read(m, 0, c);
    if (s)
        return s;
    const double product = (double)c->cells[0] * c->cells[1] * c->cells[2];
    if (product > CELLS_MAX && !m.r->origin) /* a level above 0 is a part of its box */
        return fail_at(m.r->document, m.node->first->at,
                       "domain: %d x %d x %d are %g cells, out of range (at most %g)", c->cells[0],
                       c->cells[1], c->cells[2], product, CELLS_MAX);
    return STATUS_OK;
}

/* Computed only here, so that its bits are always the same. */
static double viscosity_of(double reynolds, double velocity, double length)
{
    return velocity * length / reynolds;
}

static bool number_under(const struct node *map, const char *key, double *value)
{
    const char *end;
    const struct node *n = node_get(map, key);
    return n && n->kind == NODE_SCALAR && !number_parse(n->text, &end, value) && !*end;
}

static bool viscosity_under(const struct node *fluid, double *viscosity)
{
    double reynolds, velocity, length;
    if (number_under(fluid, "viscosity", viscosity))
        return true;
    if (!number_under(fluid, "reynolds", &reynolds) ||
        !number_under(fluid, "velocity", &velocity) || !number_under(fluid, "length", &length))
        return false;
    *viscosity = viscosity_of(reynolds, velocity, length);
    return isfinite(*viscosity);
}

/* fluid.viscosity and fluid.reynolds agree if they give the same viscosity. */
enum status viscosity_same(const struct node *now, const struct node *before, const char *whose)
{
    double new, old;
    if (!viscosity_under(now, &new))
        return fail_user("the case says no viscosity");
    if (!viscosity_under(before, &old))
        return fail_user("%s was made by a case that says no viscosity (is it damaged?)", whose);
    if (new == old)
        return STATUS_OK;
    const struct node *reynolds = node_get(now, "reynolds");
    return fail_user("fluid.viscosity is %.17g%s%.40s, but %s was made with %.17g " UNCHANGED, new,
                     reynolds ? " by fluid.reynolds " : "", reynolds ? reynolds->text : "", whose,
                     old);
}

static enum status viscosity_from_reynolds(struct map m, struct case_fluid *f)
{
    const char *missing = !map_get(m, "velocity") ? "velocity"
                          : !map_get(m, "length") ? "length"
                                                  : NULL;
    if (missing)
        return value_missing(m, missing, ", which fluid.reynolds needs,");
    const enum status s = value_read(m, "reynolds", &f->reynolds);
    if (s)
        return s;
    f->viscosity = viscosity_of(f->reynolds, f->velocity, f->length);
    if (!isnormal(f->viscosity))
        return fail_value(m.r, map_get(m, "reynolds"),
                          ": gives a viscosity of %g (out of what numbers can hold)", f->viscosity);
    return STATUS_OK;
}

unsigned fluid_kind(const struct case_fluid *f)
{
    return f->by_reynolds ? FLUID_BY_REYNOLDS : FLUID_BY_VISCOSITY;
}

enum status fluid_read(struct map m, struct flow_case *c)
{
    struct case_fluid *f = &c->fluid;
    enum status s;
    f->by_reynolds = map_get(m, "reynolds");
    if ((s = value_one_of(m, "viscosity", "reynolds")) || (s = record_read(m, fluid_kind(f), c)))
        return s;
    if (f->by_reynolds && (s = viscosity_from_reynolds(m, f)))
        return s;
    if (!f->by_reynolds)
        f->reynolds = f->velocity * f->length / f->viscosity;
    return law_read(map_below(m, "law"), c);
}

void reynolds_write(struct writer *w, const struct key *key, const void *from)
{
    const struct flow_case *const c = from;
    (void)key;
    if (!c->fluid.by_reynolds)
        return;
    write_key(w, "reynolds");
    write_number(w, c->fluid.reynolds);
    fputs(" # viscosity", w->to);
    write_number(w, c->fluid.viscosity);
    write_end(w);
}

enum status solver_read(struct map m, struct flow_case *c)
{
    const struct node *storage = map_get(m, "storage");
    const struct node *arithmetic = map_get(m, "arithmetic");
    int collision = 0, choice = 0, given = PRECISION_fp32;
    enum status s;
    if ((s = value_read(m, "collision", &collision)) || (s = value_read(m, "storage", &choice)) ||
        (s = value_read(m, "arithmetic", &given)))
        return s;
    enum precision stored = (enum precision)given, computed = (enum precision)given;
    if (storage)
        precision_find(key_storages[choice], &stored);
    if (!arithmetic)
        computed = precision_computed(stored);
    if (!precisions_go(stored, computed))
        return fail_value(m.r, arithmetic,
                          " %s does not go with solver.storage %s (fp16 with fp32, "
                          "fp32 with fp32 or fp64, fp64 with fp64)",
                          precision_name(computed), precision_name(stored));
    c->solver.collision = (enum collision)collision;
    c->solver.storage = stored;
    c->solver.arithmetic = computed;
    char why[64];
    snprintf(why, sizeof why, "with collision %s", key_collision_choices[collision]);
    const unsigned free = collision_free(c->solver.collision);
    if ((s = record_refuse(m, free, why)) || (s = record_read(m, free, c)))
        return s;
    c->solver.magic_given = map_get(m, "magic");
    if (collision == COLLISION_auto && c->solver.magic_given)
        c->solver.collision = COLLISION_accurate;
    return STATUS_OK;
}

void precision_write(struct writer *w, const struct key *key, const void *from)
{
    (void)key;
    write_word(w, "storage", precision_name(((const struct flow_case *)from)->solver.storage));
}

enum status subgrid_read(struct map m, struct flow_case *c)
{
    struct map subgrid;
    bool wall = false;
    c->solver.subgrid_given = map_get(m, "subgrid");
    enum status s = value_or_map(m, "subgrid", &subgrid);
    if (s || !subgrid.node)
        return s;
    const struct map model = map_below(subgrid, "smagorinsky");
    if (model.node && model.node->kind != NODE_MAPPING)
        return value_wrong(m.r, model.node, keys_row(model.row));
    for (int f = 0; f < 6; f++)
        wall = wall || c->faces[f].kind == FACE_wall;
    if (!wall && (s = value_refuse(model, "van_driest", "without a face that is a wall")))
        return s;
    if ((s = law_subgrid(c, m, model)))
        return s;
    c->solver.subgrid = SUBGRID_smagorinsky;
    return record_read(subgrid, 0, c);
}

void subgrid_write(struct writer *w, const struct key *key, const void *from)
{
    const struct flow_case *const c = from;
    if (c->solver.subgrid == SUBGRID_none) {
        write_word(w, "subgrid", "none");
        return;
    }
    write_open(w, "subgrid");
    record_write(w, key->path, 0, from);
    write_close(w);
}

/* The operator that `auto` chooses at this viscosity: docs/physics.md, "Which operator"; for all
 * levels by level 0: docs/lab/refinement.md. */
static enum collision choose_collision(const struct flow_case *c, double viscosity)
{
    const double most = fmin(case_most_cell(c), c->levels > 1 ? REFINE_MOST_CELL : 10);
    const bool fast = case_fastest_velocity(c) > most * viscosity;
    return fast || c->driven.free || c->solver.subgrid != SUBGRID_none ? COLLISION_robust
                                                                       : COLLISION_accurate;
}

/* With open faces no operator was tested above its limit; most flows diverge there without a
 * subgrid model (docs/lab/open_faces.md), and some wakes below it. */
static void choose_subgrid(struct flow_case *c)
{
    c->solver.collision = COLLISION_robust;
    if (c->solver.subgrid_given || !law_mixes(c) || !case_is_open(c) ||
        (case_fastest_velocity(c) <= case_limit_cell(c) * case_thinnest(c) &&
         !limits_wake_passed(c)))
        return;
    c->solver.subgrid = SUBGRID_smagorinsky;
    c->solver.smagorinsky = 0.1;
}

/* Default of nonreflecting.velocity: the tangential part of initial.velocity. */
static void choose_velocity(const struct flow_case *c, int face, struct case_face *what)
{
    if (what->kind != FACE_nonreflecting || what->velocity_given)
        return;
    for (int a = 0; a < 3; a++)
        what->velocity[a] = a == face / 2 ? 0 : c->initial.velocity[a];
    what->velocity_given = true;
}

/* How many openings hold a density? *driven: a given velocity, or a difference of their densities,
 * drives the flow. */
static int count_outlets(const struct flow_case *c, bool *driven)
{
    double density = 0;
    int outlets = 0;
    *driven = false;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        *driven = *driven || what->kind == FACE_velocity;
        if (!face_holds_density(what))
            continue;
        *driven = *driven || (outlets && what->density != density);
        density = what->density;
        outlets++;
    }
    return outlets;
}

/* Default of `reflection` (docs/boundaries.md, "Holding the density"), L cells along the normal.
 * Between a face of given velocity and an outlet, the deviation d of the mean density obeys
 *
 *   L d'' + c_s d' + c_s r d = 0,
 *
 * whose two decay times are equal for r = c_s / (4 L): 2 L / c_s steps. But what varies over a
 * nonreflecting face, and how several outlets divide the flow, settles in 1 / (3 r c_s U) steps, U
 * the velocity through them. With r = c_s / L that is the time L / U in which the flow crosses the
 * box, and sound between an inlet and an outlet decays by e in 5.8 L steps. */
static void choose_reflection(const struct flow_case *c, int face, struct case_face *what)
{
    const double length = c->cells[face / 2], sound = 1 / sqrt(3.0);
    bool driven;
    const int outlets = count_outlets(c, &driven);
    const bool settles = driven && (outlets > 1 || what->kind == FACE_nonreflecting);
    if (what->reflection == REFLECTION_AUTO)
        what->reflection = settles ? sound / length : sound / (4 * length);
}

void choose_defaults(struct flow_case *c)
{
    for (int f = 0; f < 6; f++) {
        choose_velocity(c, f, &c->faces[f]);
        choose_reflection(c, f, &c->faces[f]);
    }
    for (int i = 0; i < c->patch_count; i++) {
        choose_velocity(c, c->patches[i].face, &c->patches[i].opening);
        choose_reflection(c, c->patches[i].face, &c->patches[i].opening);
    }
    c->solver.chosen = c->solver.collision == COLLISION_auto;
    if (c->solver.chosen) {
        choose_subgrid(c);
        c->solver.collision = choose_collision(c, case_thinnest(c));
    }
    for (int i = 0; i < c->zone_count; i++)
        if (c->zones[i].collision == COLLISION_auto)
            c->zones[i].collision = choose_collision(c, c->zones[i].viscosity);
}
