/* Section of a case: scalars, which are heat and species that the flow carries. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/record.h"
#include "case/sections.h"

#define INITIAL "scalars.*.initial"

/* The diffusivity, or the fluid's viscosity over the Prandtl or Schmidt number. */
static enum status read_diffusivity(struct map m, struct case_scalar *to)
{
    static const char *const numbers[] = {"prandtl", "schmidt"};
    const bool heat = to->kind == SCALAR_KIND_heat;
    const char *const number = numbers[!heat];
    double ratio = 0;
    enum status s = value_refuse(m, numbers[heat],
                                 heat ? "with kind heat, which has prandtl"
                                      : "with kind species, which has schmidt");
    if (s || (s = value_one_of(m, "diffusivity", number)))
        return s;
    if (map_get(m, "diffusivity"))
        return value_read(m, "diffusivity", &to->diffusivity);
    if ((s = value_read(m, number, &ratio)))
        return s;
    to->diffusivity = m.r->c->fluid.viscosity / ratio;
    if (isnormal(to->diffusivity))
        return STATUS_OK;
    return fail_value(m.r, map_get(m, number), ": gives a diffusivity of %g", to->diffusivity);
}

/* Number of an eddy diffusivity, by the name that it has with this kind. */
static enum status read_turbulent(struct map m, struct case_scalar *to)
{
    static const char *const names[] = {"turbulent_prandtl", "turbulent_schmidt"};
    const bool heat = to->kind == SCALAR_KIND_heat;
    const enum status s = value_refuse(m, names[heat],
                                       heat ? "with kind heat, which has turbulent_prandtl"
                                            : "with kind species, which has turbulent_schmidt");
    return s ? s : value_read(m, names[!heat], &to->turbulent_prandtl);
}

static enum status read_linear(struct map m, struct case_scalar_initial *to)
{
    const struct key *const values = map_row(m, "values");
    const struct node *const n = map_get(m, "values");
    enum status s = record_read(m, 0, to);
    to->linear = true;
    if (s)
        return s;
    if (!n)
        return value_missing(m, "values", "");
    const bool species = m.r->scalar->kind == SCALAR_KIND_species;
    if ((s = value_range(m, "values", species ? unit_of_species(values->unit) : values->unit,
                         to->ends)))
        return s;
    for (int k = 0; k < 2; k++)
        if (fabs(to->ends[k]) > SCALAR_MAX)
            return fail_value(m.r, n, ": %g is out of range (at most %g)", to->ends[k], SCALAR_MAX);
    if (memcmp(to->from, to->to, sizeof to->from) != 0)
        return STATUS_OK;
    return fail_value(m.r, map_get(m, "to"), " is the point from (the two must differ)");
}

static enum status read_wave(struct map m, struct case_scalar_initial *to)
{
    const enum status s = record_read(m, 0, to);
    if (s || to->amplitude != 0)
        return s;
    return fail_value(m.r, map_get(m, "amplitude"), " is 0, which is no wave (remove it)");
}

static enum status read_initial(struct map m, struct case_scalar *to)
{
    struct case_scalar_initial *const initial = &to->initial;
    struct node *const n = map_get(m, "initial");
    enum status s;
    if (!n)
        return STATUS_OK;
    initial->given = true;
    if (n->kind != NODE_MAPPING)
        return value_read(m, "initial", &initial->value);
    const struct map inner = map_below(m, "initial");
    const struct map linear = map_below(inner, "linear"), wave = map_below(inner, "wave");
    if (!n->count)
        return value_wrong(m.r, n, map_row(m, "initial"));
    if (linear.node && map_get(inner, "value"))
        return value_one_of(inner, "value", "linear");
    if ((s = value_read(inner, "value", &initial->value)) ||
        (linear.node && (s = read_linear(linear, initial))) ||
        (wave.node && (s = read_wave(wave, initial))))
        return s;
    return things_read(map_below(inner, "shapes"), initial);
}

enum status scalar_part_read(struct map m, void *thing)
{
    struct case_scalar_part *const part = thing;
    const enum status s = shape_read(m, &part->shape);
    return s ? s : record_read(m, 0, part);
}

enum status scalar_read(struct map m, void *thing)
{
    static const double least_gradient = 1e-12;
    struct case_scalar *const to = thing;
    struct reader r = *m.r;
    int kind = 0;
    enum status s = value_read(m, "kind", &kind);
    if (s)
        return s;
    to->kind = (enum scalar_kind)kind;
    to->made_from = -1;
    r.scalar = to;
    m.r = &r;
    if ((s = value_read(m, "reference", &to->reference)) || (s = read_diffusivity(m, to)) ||
        (s = record_read(m, 0, to)) || (s = read_turbulent(m, to)))
        return s;
    if (map_get(m, "gradient") && !scalar_has_gradient(to))
        return fail_value(m.r, map_get(m, "gradient"), " is 0, which is no gradient (remove it)");
    double square = 0;
    for (int a = 0; a < 3; a++)
        square += to->gradient[a] * to->gradient[a];
    if (map_get(m, "gradient") && sqrt(square) < least_gradient)
        return fail_value(
            m.r, map_get(m, "gradient"),
            " is below %g a cell, too small for the precision (D* does not depend on it: "
            "take 1e-3)",
            least_gradient);
    return read_initial(m, to);
}

/* Names that columns and arrays have already. */
static enum status check_names(struct map m)
{
    static const char *const taken[] = {"velocity", "density", "pressure", "vorticity", "tags",
                                        "stress",   "step",    "time",     "distance",  "x",
                                        "y",        "z",       "flow",     "mass",      NULL};
    for (const struct node *n = m.node->first; n; n = n->next)
        if (choice_index(taken, n->key) >= 0 || choice_index(key_images, n->key) >= 0)
            return fail_key(m.r, n, ": %s is an array or a column of the flow (take another name)",
                            n->key);
    return STATUS_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct case_scalar *)a)->name, ((const struct case_scalar *)b)->name);
}

/* Follows the species from which k is made: back to k? */
static bool goes_round(const struct flow_case *c, int k)
{
    int from = c->scalars[k].made_from;
    for (int steps = 0; from >= 0 && steps < c->scalar_count; steps++) {
        if (from == k)
            return true;
        from = c->scalars[from].made_from;
    }
    return false;
}

/* The species from which another one is made. */
static enum status read_made_from(struct map m, struct case_scalar *to)
{
    const struct flow_case *const c = m.r->c;
    const struct node *const n = map_get(m, "made_from");
    enum status s;
    if (!n)
        return value_refuse(m, "rate", "without made_from");
    if ((s = value_read(m, "made_from", &to->made_from)))
        return s;
    if (to->kind != SCALAR_KIND_species || c->scalars[to->made_from].kind != SCALAR_KIND_species)
        return fail_value(m.r, n, ": heat is no species, only a species turns into another one");
    if (goes_round(c, (int)(to - c->scalars)))
        return fail_value(m.r, n, ": %s is made from itself, by a chain of made_from that closes",
                          to->name);
    if (!map_get(m, "rate"))
        return value_missing(m, "rate", ", which made_from needs,");
    return value_read(m, "rate", &to->rate);
}

/* Moves species behind those that they are made from: a step computes their values in this order.
 * Otherwise the order stays. */
static enum status order_by_source(struct flow_case *c)
{
    int depth[CASE_SCALARS] = {0}, place[CASE_SCALARS], count = 0;
    if (!c->scalar_count)
        return STATUS_OK;
    struct case_scalar *const ordered = calloc(CASE_SCALARS, sizeof *ordered);
    if (!ordered)
        return fail_machine("out of memory");
    for (int k = 0; k < c->scalar_count; k++)
        for (int from = c->scalars[k].made_from; from >= 0; from = c->scalars[from].made_from)
            depth[k]++;
    for (int level = 0; level < c->scalar_count; level++)
        for (int k = 0; k < c->scalar_count; k++)
            if (depth[k] == level) {
                place[k] = count;
                ordered[count++] = c->scalars[k];
            }
    for (int k = 0; k < count; k++)
        if (ordered[k].made_from >= 0)
            ordered[k].made_from = place[ordered[k].made_from];
    memcpy(c->scalars, ordered, (size_t)count * sizeof *ordered);
    free(ordered);
    return STATUS_OK;
}

enum status scalars_read(struct map m, struct flow_case *c)
{
    enum status s = STATUS_OK;
    if (!m.node || (s = check_names(m)) || (s = things_read(m, c)))
        return s;
    if (c->scalar_count)
        qsort(c->scalars, (size_t)c->scalar_count, sizeof *c->scalars, by_name);
    for (int k = 0; k < c->scalar_count && !s; k++) {
        const struct map one = {m.r, map_get(m, c->scalars[k].name), "scalars.*"};
        s = read_made_from(one, &c->scalars[k]);
    }
    return s ? s : order_by_source(c);
}

/* A body that conducts holds the scalar in its own cells. */
static enum status check_sparse(struct map m, const struct flow_case *c)
{
    const struct node *const n = node_get(node_get(m.r->document->root, "run"), "sparse");
    for (int i = 0; i < c->body_count && c->run.sparse == SPARSE_always; i++)
        for (int k = 0; k < c->scalar_count; k++)
            if (case_body_conducts(&c->bodies[i], k))
                return fail_value(m.r, n,
                                  ": always leaves out the cells of solids, but bodies.%s conducts "
                                  "%s (auto or never)",
                                  c->bodies[i].name, c->scalars[k].name);
    return STATUS_OK;
}

/* Keys of a scalar whose effect depends on the values, which grow along a mean gradient without
 * end; and initial values: the deviation from the gradient begins at 0, and stays small. */
static enum status check_sources(struct map m, const struct flow_case *c, int k)
{
    static const char *const keys[] = {"source", "decay", "made_from", "expansion", "initial"};
    const struct case_scalar *const s = &c->scalars[k];
    const struct case_scalar_initial *const begin = &s->initial;
    const bool starts = begin->value != 0 || begin->linear || begin->amplitude != 0;
    const bool has[] = {s->source != 0, s->decay != 0, s->made_from >= 0, s->expansion != 0,
                        starts || begin->part_count};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (has[i])
            return fail_value(m.r, node_get(map_get(m, s->name), keys[i]),
                              " does not go with a mean gradient (remove it or "
                              "scalars.%s.gradient)",
                              s->name);
    for (int i = 0; i < c->scalar_count; i++)
        if (c->scalars[i].made_from == k)
            return fail_value(m.r, node_get(map_get(m, c->scalars[i].name), "made_from"),
                              ": %s has a mean gradient, and does not turn into another one",
                              s->name);
    return STATUS_OK;
}

/* Does the scalar meet anything but an adiabatic wall at the body, or at one of its labels? */
static bool body_acts(const struct case_body *body, int k)
{
    bool acts = false;
    for (int part = 0; part <= body->label_count; part++)
        acts = acts || case_body_wall(body, part, k)->kind != SCALAR_WALL_adiabatic;
    return acts;
}

/* The scalar of a periodic medium: the box is one cell of it, and all walls are adiabatic. */
static enum status check_gradient(struct map m, const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct node *const n = node_get(map_get(m, s->name), "gradient");
    for (int face = 0; face < 6; face++) {
        const enum face_kind kind = c->faces[face].kind;
        if (s->gradient[face / 2] != 0 && kind != FACE_periodic)
            return fail_value(m.r, n,
                              ": it has a component along %s, but face %s is of kind %s (both must "
                              "be periodic)",
                              key_axes[face / 2], key_sides[face], key_face_kinds[kind]);
    }
    if (case_caps(c))
        return fail_value(m.r, n, ": the cap %s is an opening (no opening goes with a gradient)",
                          case_cap(c, 0)->name);
    for (int i = 0; i < case_openings(c) + c->body_count; i++) {
        const int body = i - case_openings(c);
        const struct case_face *const face = body < 0 ? case_opening(c, i) : NULL;
        const char *const name = body >= 0 ? c->bodies[body].name
                                 : i < 6   ? key_sides[i]
                                           : c->patches[i - 6].name;
        const char *const section = body >= 0 ? "bodies" : i < 6 ? "faces" : "patches";
        if (face && face_open(face->kind))
            return fail_value(m.r, n, ": %s.%s is of kind %s (no opening goes with a gradient)",
                              section, name, key_face_kinds[face->kind]);
        if (face ? face->scalar[k].kind != SCALAR_WALL_adiabatic : body_acts(&c->bodies[body], k))
            return fail_value(m.r, n,
                              ": %s.%s.scalars.%s is not adiabatic (no other wall goes with a "
                              "gradient)",
                              section, name, s->name);
    }
    return STATUS_OK;
}

enum status scalars_check(struct map m, struct flow_case *c)
{
    const double *const g = c->gravity;
    enum status s = check_sparse(m, c);
    for (int k = 0; k < c->scalar_count && !s; k++)
        if (scalar_has_gradient(&c->scalars[k]) && !(s = check_sources(m, c, k)))
            s = check_gradient(m, c, k);
    if (s)
        return s;
    for (int k = 0; k < c->scalar_count && !s; k++)
        s = limiter_check((struct map){m.r, map_get(m, c->scalars[k].name), "scalars.*"}, c, k);
    for (int k = 0; k < c->scalar_count && !s; k++)
        if (c->scalars[k].expansion != 0 && g[0] == 0 && g[1] == 0 && g[2] == 0)
            return fail_value(m.r, node_get(map_get(m, c->scalars[k].name), "expansion"),
                              " has no effect without force.gravity (for example force: {gravity: "
                              "[0, %s, 0]})",
                              c->units.given ? "-9.81 m/s2" : "-1e-5");
    return s;
}

void gravity_write(struct writer *w, const struct key *key, const void *from)
{
    const double *const g = ((const struct flow_case *)from)->gravity;
    if (g[0] == 0 && g[1] == 0 && g[2] == 0)
        return;
    write_key(w, keys_name(key));
    write_numbers(w, g, 3);
    write_end(w);
}

void gradient_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_scalar *const scalar = from;
    if (!scalar_has_gradient(scalar))
        return;
    write_key(w, keys_name(key));
    write_numbers(w, scalar->gradient, 3);
    write_end(w);
}

void reference_write(struct writer *w, const struct key *key, const void *from)
{
    write_key(w, keys_name(key));
    write_number(w, ((const struct case_scalar *)from)->reference);
    write_end(w);
}

static void part_write(struct writer *w, const char *row, const void *thing)
{
    const struct case_scalar_part *const part = thing;
    shape_write(w, row, &part->shape);
    record_write(w, row, 0, part);
}

/* A map, whose keys are read by the code above. */
static void write_map(struct writer *w, const char *key, const struct case_scalar_initial *from)
{
    write_open(w, key);
    record_write(w, keys_below(INITIAL, key).text, 0, from);
    write_close(w);
}

void scalar_initial_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_scalar *const scalar = from;
    const struct case_scalar_initial *const initial = &scalar->initial;
    if (initial->earlier)
        return;
    write_open(w, keys_name(key));
    if (initial->linear) {
        write_map(w, "linear", initial);
    } else {
        write_key(w, "value");
        write_number(w, scalar_absolute(scalar, initial->value));
        write_end(w);
    }
    if (initial->amplitude != 0)
        write_map(w, "wave", initial);
    if (initial->part_count) {
        write_open(w, "shapes");
        things_write(w, keys_row(INITIAL ".shapes"), initial, part_write);
        write_close(w);
    }
    write_close(w);
}

void scalar_write(struct writer *w, const char *row, const void *thing)
{
    const struct case_scalar *const scalar = thing;
    w->scalar = scalar;
    record_write(w, row, 1u << scalar->kind, scalar);
    w->scalar = NULL;
}

void scalar_destroy(struct case_scalar *scalar)
{
    struct case_scalar_initial *const initial = &scalar->initial;
    for (int k = 0; k < initial->part_count; k++)
        shape_free(&initial->parts[k].shape);
    free(initial->parts);
    *scalar = (struct case_scalar){0};
}

double case_scalar_decay(const struct flow_case *c, int scalar)
{
    double rate = c->scalars[scalar].decay;
    for (int k = 0; k < c->scalar_count; k++)
        rate += c->scalars[k].made_from == scalar ? c->scalars[k].rate : 0;
    return rate;
}

double case_scalar_capacity(const struct flow_case *c, int scalar)
{
    double least = 1;
    for (int k = 0; k < c->body_count; k++)
        for (int part = 0; part <= c->bodies[k].label_count; part++) {
            const struct case_scalar_wall *const w = case_body_wall(&c->bodies[k], part, scalar);
            if (w->kind == SCALAR_WALL_conduct && w->capacity < least)
                least = w->capacity;
        }
    return least;
}

/* With a subgrid model the rates are not known beforehand. Sources do not follow a time function.
 */
bool scalar_inlet_allows(const struct flow_case *c, int k, int opening)
{
    const struct case_scalar *const s = &c->scalars[k];
    const struct case_face *const face = case_opening(c, opening);
    const int side = case_opening_side(c, opening);
    const double inwards = (side & 1 ? -1 : 1) * face->velocity[side / 2];
    const bool steady = face->scalar[k].signal.kind == SIGNAL_constant;
    return face->kind == FACE_velocity && inwards > 0 && c->solver.subgrid == SUBGRID_none &&
           (steady || (s->source == 0 && s->made_from < 0));
}
