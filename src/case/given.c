/* A value of a case and its key; see given.h. */
#include "case/given.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/bare.h"
#include "case/unit_words.h"

bool node_is_null(const struct node *n)
{
    return n->kind == NODE_SCALAR && n->plain &&
           (!*n->text || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
}

bool node_is_single(const struct node *n)
{
    return n->kind == NODE_SCALAR && !node_is_null(n);
}

bool node_is_bare(const struct node *n)
{
    struct quantity q;
    return !quantity_parse(n->text, &q) && q.bare;
}

bool node_is_word(const struct node *n)
{
    return node_is_single(n) && *n->text;
}

struct given given_item(struct given list, const struct node *n)
{
    return (struct given){list.r, n, list.key, NULL};
}

enum status given_wrong(struct given g)
{
    return value_wrong(g.r, g.n, g.key);
}

/* More about a number out of range: pressures are relative; one without a unit beside `units` may
 * be meant in that unit. */
static void advice_of(struct given g, char text[192])
{
    const bool scalar = g.n->kind == NODE_SCALAR;
    const struct node *number = scalar ? g.n : g.n->first;
    struct quantity q = {.value = 0};
    *text = '\0';
    if (g.key->unit == UNIT_PRESSURE) {
        snprintf(
            text, 192,
            "; pressures are relative to that of the fluid at rest: write 0 for it, also where it "
            "is 1 bar, or the difference%s",
            g.r->c->units.given ? "; with a smaller units.dt larger ones fit" : "");
        return;
    }
    if (type_is(g.key, TYPE_SI) || !unit_info(g.key->unit)->dimension.s || !g.r->c->units.given)
        return;
    for (; number; number = scalar ? NULL : number->next)
        if (number->kind == NODE_SCALAR && !quantity_parse(number->text, &q) && q.bare && q.value) {
            snprintf(text, 192, "; %.40s %s has a unit", number->text,
                     unit_info(g.key->unit)->symbol);
            return;
        }
}

enum status given_out_of_range(struct given g, double value, bool computed)
{
    char range[128], quoted[TEXT_QUOTE], advice[192], also[64] = "";
    const char *unit = type_is(g.key, TYPE_STEPS)                ? " steps"
                       : type_is(g.key, TYPE_SI) || !g.key->unit ? ""
                                                                 : " in lattice units";
    range_text(g.key, range, sizeof range);
    advice_of(g, advice);
    if (g.n->kind != NODE_SCALAR)
        return fail_value(g.r, g.n, ": magnitude %g is out of range (%s%s%s)", value, range, unit,
                          advice);
    if (computed)
        snprintf(also, sizeof also, ", %g%s,", value, unit);
    return fail_value(g.r, g.n, ": %s%s is out of range (%s%s%s)", quote_text(g.n->text, quoted),
                      also, range, unit, advice);
}

static bool in_range(const struct key_range *range, double value)
{
    return (range->low_open ? value > range->low : value >= range->low) &&
           (range->high_open ? value < range->high : value <= range->high);
}

bool given_allowed(struct given g, double value)
{
    return g.r->origin || in_range(&g.key->range, value);
}

enum key_unit given_unit(struct given g)
{
    const bool species = g.r->scalar && g.r->scalar->kind == SCALAR_KIND_species;
    return species ? unit_of_species(g.key->unit) : g.key->unit;
}

/* Values of a scalar are kept relative to its reference. */
static double relative(struct given g, double value)
{
    const bool is_value =
        g.r->scalar && (g.key->unit == UNIT_TEMPERATURE || g.key->unit == UNIT_SHOWN);
    return is_value ? value - g.r->scalar->reference + 0.0 : value; /* no -0 */
}

/* A number with an energy is one of the fluid's heat capacity of a volume times a number without. A
 * temperature stays: 1 K. */
double lattice_unit(const struct case_units *units, enum key_unit unit)
{
    const struct quantity_scale scale = {units->cell, units->dt, units->density};
    const struct dimension energy = {0, 0, unit_info(unit)->dimension.kg, 0};
    const enum key_unit other = unit_of_species(unit);
    const struct quantity_scale heat = {1, 1, units->density * units->heat_capacity};
    return quantity_unit(unit_info(other)->dimension, &scale) *
           (other == unit ? 1 : quantity_unit(energy, &heat));
}

/* Have the case's units what this unit needs? */
static enum status check_units(struct given g, const struct quantity *q, enum key_unit unit,
                               const char *quoted)
{
    const struct case_units *const units = &g.r->c->units;
    const struct dimension d = unit_info(unit_of_species(unit))->dimension;
    const bool heat = unit_of_species(unit) != unit, energy = heat && q->dimension.kg;
    const bool length =
        d.s == 0 && d.kg == 0 && (heat && (d.m == 0 || energy) ? !energy : units->cell > 0);
    if (!units->given && !length)
        return fail_value(g.r, g.n,
                          ": %s has a unit, which needs units (units: {dx: 5 mm, dt: 1 ms}, or a "
                          "number in lattice units)",
                          quoted);
    if (q->dimension.kg && strcmp(g.key->path, "units.density") != 0 && !units->density_given)
        return fail_value(g.r, g.n,
                          ": %s has a unit of mass or force, which needs units.density of the fluid "
                          "(for example units: {density: 1000 kg/m3})",
                          quoted);
    if (energy && !(units->heat_capacity > 0))
        return fail_value(g.r, g.n,
                          ": %s has a unit of energy, which needs units.heat_capacity of the fluid "
                          "(for example units: {density: 1000 kg/m3, heat_capacity: 4180 J/kg/K})",
                          quoted);
    return STATUS_OK;
}

bool given_celsius(const struct node *n)
{
    struct quantity q;
    if (n->kind == NODE_SCALAR)
        return n->text && !quantity_parse(n->text, &q) && q.celsius;
    for (const struct node *c = n->first; c; c = c->next)
        if (given_celsius(c))
            return true;
    return false;
}

/* A temperature without a unit is in K, which is hardly meant where others are in degC. `path`: ""
 * of a default. */
static enum status check_bare(struct given g, const char *path, const char *quoted)
{
    if (!*path || !g.r->unitless)
        return STATUS_OK;
    g.r->unitless->temperatures++;
    if (!given_celsius(g.r->document->root))
        return STATUS_OK;
    return fail_value(g.r, g.n,
                      ": %s has no unit, so that it is in K, and other temperatures are in degC "
                      "(write %s degC or %s K)",
                      quoted, g.n->text, g.n->text);
}

enum status given_file_unit(struct map m)
{
    if (!m.r->unitless)
        return STATUS_OK;
    m.r->unitless->temperatures++;
    if (!given_celsius(m.r->document->root))
        return STATUS_OK;
    return fail_key(
        m.r, m.node,
        ": the file's values are in K, as it has no unit, and other temperatures are in "
        "degC (unit: degC, or unit: K)");
}

enum status given_number(struct given g, enum key_unit unit, double *value, bool *converted)
{
    char path[NODE_PATH], quoted[TEXT_QUOTE], reason[UNIT_REASON];
    struct quantity q;
    enum status s;
    const struct unit_info *info = unit_info(unit);
    const bool physical = type_is(g.key, TYPE_SI);
    const char *end;
    if (!node_is_single(g.n))
        return given_wrong(g);
    const char *problem = quantity_parse(g.n->text, &q);
    const bool starts = !number_parse(g.n->text, &end, value);
    node_path(g.n, path, sizeof path);
    quote_text(g.n->text, quoted);
    if (problem && !starts && !strstr(problem, "large"))
        return given_wrong(g);
    const bool wrong = problem || (!q.bare && !dimension_equal(q.dimension, info->dimension));
    if (wrong && unit_words(g.n->text, unit, g.r->c->units.density, reason))
        return fail_value(g.r, g.n, ": %s %s", quoted, reason);
    if (problem)
        return fail_value(g.r, g.n, ": %s %s", quoted, problem);
    if (q.bare && physical)
        return fail_value(g.r, g.n, ": %s has no unit (for example %s)", quoted, info->example);
    if (q.bare && unit == UNIT_TEMPERATURE && (s = check_bare(g, path, quoted)))
        return s;
    *converted = !q.bare && !physical;
    if (g.r->unitless && !q.bare && g.key->type != KEY_PHYSICAL)
        g.r->unitless->others++;
    if (wrong)
        return fail_value(g.r, g.n, ": %s is not %s (for example %s)", quoted, info->noun,
                          info->example);
    if (q.celsius && unit != UNIT_TEMPERATURE)
        return fail_value(g.r, g.n, ": %s is a temperature, not %s (write K)", quoted, info->noun);
    if (!q.bare && unit == UNIT_TEMPERATURE && q.value < 0)
        return fail_value(g.r, g.n, ": %s is below the absolute zero (is it in degC?)", quoted);
    if (*converted && (s = check_units(g, &q, unit, quoted)))
        return s;
    *value = *converted ? q.value / lattice_unit(&g.r->c->units, unit) : q.value;
    if (!isfinite(*value))
        return fail_value(g.r, g.n, ": %s is too large in lattice units", quoted);
    return STATUS_OK;
}

/* Reads a number with an exponent, such as 1e6 or 2.5e3. True if it is whole; above 2^53 every
 * double counts as whole and gives LLONG_MAX. */
static bool whole_power(const char *text, long long *value)
{
    static const double most = 9007199254740992; /* 2^53 */
    const char *end;
    double number;
    if (!strpbrk(text, "eE") || number_parse(text, &end, &number) || *end)
        return false;
    const bool whole = fabs(number) > most || floor(number) == number;
    *value = fabs(number) > most ? LLONG_MAX : (long long)number;
    return whole;
}

enum status given_whole(struct given g, void *to)
{
    char *end;
    if (!node_is_single(g.n))
        return given_wrong(g);
    errno = 0;
    long long parsed = strtoll(g.n->text, &end, 10);
    if (end == g.n->text || isspace((unsigned char)*g.n->text))
        return given_wrong(g);
    if (*end && !whole_power(g.n->text, &parsed))
        return given_wrong(g);
    if (errno || !given_allowed(g, (double)parsed))
        return given_out_of_range(g, 0, false);
    *(int64_t *)to = parsed;
    return STATUS_OK;
}

enum status given_checked(struct given g, void *to)
{
    double number = 0;
    bool converted = false, bare;
    const enum status s = given_number(g, given_unit(g), &number, &converted);
    if (s)
        return s;
    if (!given_allowed(g, number))
        return given_out_of_range(g, number, converted);
    bare = !converted && !type_is(g.key, TYPE_SI);
    bare_note(g.r, g.n, given_unit(g), &number, &bare, 1);
    *(double *)to = relative(g, number);
    return STATUS_OK;
}

enum status given_numbers(struct given g, enum key_unit unit, int count, double *value)
{
    bool bare[3];
    double square = 0;
    int i = 0;
    if (g.n->kind != NODE_SEQUENCE || g.n->count != count)
        return given_wrong(g);
    for (const struct node *c = g.n->first; c; c = c->next, i++) {
        bool converted = false;
        const enum status s = given_number(given_item(g, c), unit, &value[i], &converted);
        if (s)
            return s;
        bare[i] = !converted && !type_is(g.key, TYPE_SI);
        square += value[i] * value[i];
        if (g.key->type != KEY_VECTOR && !given_allowed(g, value[i]))
            return given_out_of_range(given_item(g, c), value[i], converted);
    }
    if (g.key->type == KEY_VECTOR && !given_allowed(g, sqrt(square)))
        return given_out_of_range(g, sqrt(square), true);
    bare_note(g.r, g.n, unit, value, bare, count);
    for (i = 0; i < count; i++)
        value[i] = relative(g, value[i]);
    return STATUS_OK;
}

/* Unit conversion gives 82.000000000000014 where the user means the face of a cell. */
static double snap_to_half(double position)
{
    const double half = round(2 * position) / 2;
    return fabs(position - half) <= 1e-9 * fmax(1, fabs(position)) ? half : position;
}

enum status given_position(struct given g, int axis, double *value, bool *bare)
{
    char quoted[TEXT_QUOTE], also[64] = "";
    const int cells = g.r->c->cells[axis];
    double position = 0;
    bool converted = false;
    const enum status s = given_number(g, g.key->unit, &position, &converted);
    if (s)
        return s;
    if (converted) {
        position = snap_to_half(position);
        snprintf(also, sizeof also, ", %g cells,", position);
    }
    if (!(position >= 0 && position <= cells))
        return fail_value(g.r, g.n, ": %s%s is outside the box (0 to %d%s along %s)",
                          quote_text(g.n->text, quoted), also, cells, converted ? " cells" : "",
                          key_axes[axis]);
    *value = position + 0.0; /* no -0 */
    *bare = !converted;
    return STATUS_OK;
}

enum status given_positions(struct given g, const int *axes, int count, double *value)
{
    enum status s = STATUS_OK;
    bool bare[3];
    int i = 0;
    if (g.n->kind != NODE_SEQUENCE || g.n->count != count)
        return given_wrong(g);
    for (const struct node *c = g.n->first; c && !s; c = c->next, i++)
        s = given_position(given_item(g, c), axes[i], &value[i], &bare[i]);
    if (!s)
        bare_note(g.r, g.n, g.key->unit, value, bare, count);
    return s;
}
