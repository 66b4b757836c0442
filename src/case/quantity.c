/* Numbers with units; see quantity.h. */
#include "case/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* Multiply by `up`, divide by `down`: powers of ten are exact, so that 5 mm is the double 0.005. */
static const struct unit {
    const char *name;
    double up, down;
    struct dimension dimension;
} units[] = {
    {"nm", 1, 1e9, {1, 0, 0, 0}},   {"um", 1, 1e6, {1, 0, 0, 0}},   {"mm", 1, 1e3, {1, 0, 0, 0}},
    {"cm", 1, 1e2, {1, 0, 0, 0}},   {"m", 1, 1, {1, 0, 0, 0}},      {"km", 1e3, 1, {1, 0, 0, 0}},
    {"in", 254, 1e4, {1, 0, 0, 0}}, {"ft", 3048, 1e4, {1, 0, 0, 0}},
    {"ns", 1, 1e9, {0, 1, 0, 0}},   {"us", 1, 1e6, {0, 1, 0, 0}},   {"ms", 1, 1e3, {0, 1, 0, 0}},
    {"s", 1, 1, {0, 1, 0, 0}},      {"min", 60, 1, {0, 1, 0, 0}},   {"h", 3600, 1, {0, 1, 0, 0}},
    {"d", 86400, 1, {0, 1, 0, 0}},
    {"ug", 1, 1e9, {0, 0, 1, 0}},   {"mg", 1, 1e6, {0, 0, 1, 0}},   {"g", 1, 1e3, {0, 0, 1, 0}},
    {"kg", 1, 1, {0, 0, 1, 0}},     {"N", 1, 1, {1, -2, 1, 0}},     {"mPa", 1, 1e3, {-1, -2, 1, 0}},
    {"Pa", 1, 1, {-1, -2, 1, 0}},   {"hPa", 1e2, 1, {-1, -2, 1, 0}}, {"kPa", 1e3, 1, {-1, -2, 1, 0}},
    {"MPa", 1e6, 1, {-1, -2, 1, 0}}, {"mbar", 1e2, 1, {-1, -2, 1, 0}}, {"bar", 1e5, 1, {-1, -2, 1, 0}},
    {"atm", 101325, 1, {-1, -2, 1, 0}}, {"mmHg", 133322387415, 1e9, {-1, -2, 1, 0}},
    {"cP", 1, 1e3, {-1, -1, 1, 0}}, {"cSt", 1, 1e6, {2, -1, 0, 0}}, {"St", 1, 1e4, {2, -1, 0, 0}},
    {"L", 1, 1e3, {3, 0, 0, 0}},    {"mL", 1, 1e6, {3, 0, 0, 0}},
    {"uL", 1, 1e9, {3, 0, 0, 0}},
    {"J", 1, 1, {2, -2, 1, 0}},     {"kJ", 1e3, 1, {2, -2, 1, 0}},  {"MJ", 1e6, 1, {2, -2, 1, 0}},
    {"mW", 1, 1e3, {2, -3, 1, 0}},  {"W", 1, 1, {2, -3, 1, 0}},     {"kW", 1e3, 1, {2, -3, 1, 0}},
    {"MW", 1e6, 1, {2, -3, 1, 0}},  {"K", 1, 1, {0, 0, 0, 1}},
};
/* clang-format on */

static const char unknown_unit[] = "has an unknown unit (known: " QUANTITY_UNITS ", as in m2/s)";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One unit with its power at *text, such as "m2"; moves *text behind it. */
static bool read_one(const char **text, int sign, double *up, double *down,
                     struct dimension *dimension)
{
    const char *c = *text;
    const struct unit *unit = NULL;
    size_t length = 0;
    while (is_letter(c[length]))
        length++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length && !strncmp(units[i].name, c, length))
            unit = &units[i];
    if (!unit)
        return false;
    c += length;
    int power = 1;
    if (*c == '^')
        c++;
    else if (!is_digit(*c) && *c != '-')
        goto done;
    if (*c == '-') {
        sign = -sign;
        c++;
    }
    if (!is_digit(*c) || *c == '0' || is_digit(c[1]))
        return false;
    power = *c++ - '0';
done:
    for (int i = 0; i < power; i++) {
        *up *= sign > 0 ? unit->up : unit->down;
        *down *= sign > 0 ? unit->down : unit->up;
        dimension->m += sign * unit->dimension.m;
        dimension->s += sign * unit->dimension.s;
        dimension->kg += sign * unit->dimension.kg;
        dimension->kelvin += sign * unit->dimension.kelvin;
    }
    *text = c;
    return true;
}

/* One unit, or several in brackets: "m2", "(kg K)"; moves *text behind them. */
static bool read_factor(const char **text, int sign, double *up, double *down,
                        struct dimension *dimension)
{
    static const int most = 4; /* in brackets */
    if (**text != '(')
        return read_one(text, sign, up, down, dimension);
    for (int k = 0; k < most; k++) {
        ++*text;
        if (!read_one(text, sign, up, down, dimension))
            return false;
        if (**text == ')') {
            ++*text;
            return k > 0;
        }
        if (**text != ' ' && **text != '*')
            return false;
    }
    return false;
}

/* Units that stand alone: degC has another zero than K; a radian is no unit elsewhere. */
static bool read_alone(const char *text, struct quantity *q)
{
    static const double zero = 273.15;
    const bool celsius = !strcmp(text, "degC");
    if (!celsius && strcmp(text, "rad/s") != 0)
        return false;
    q->value += celsius ? zero : 0;
    q->bare = false;
    q->celsius = celsius;
    q->dimension = celsius ? (struct dimension){.kelvin = 1} : (struct dimension){.s = -1};
    return true;
}

const char *quantity_parse(const char *text, struct quantity *q)
{
    double up = 1, down = 1;
    int factors = 0, sign = 1;
    *q = (struct quantity){.bare = true};
    const char *problem = number_parse(text, &text, &q->value);
    if (problem)
        return problem;
    while (*text == ' ')
        text++;
    if (read_alone(text, q))
        return NULL;
    if (text[0] == '1' && text[1] == '/') /* "3 1/s" */
        text++;
    if (*text == '/') {
        sign = -1;
        text++;
    }
    while (*text || sign < 0) {
        if (++factors > 8 || !read_factor(&text, sign, &up, &down, &q->dimension))
            return unknown_unit;
        q->bare = false;
        sign = 1;
        if (*text == '*' || *text == ' ') {
            text++;
            if (!*text)
                return unknown_unit;
        } else if (*text == '/') {
            sign = -1;
            text++;
        } else if (*text) {
            return unknown_unit;
        }
    }
    q->value = q->value * up / down;
    if (!isfinite(q->value))
        return "is too large for a number";
    return NULL;
}

bool dimension_equal(struct dimension a, struct dimension b)
{
    return a.m == b.m && a.s == b.s && a.kg == b.kg && a.kelvin == b.kelvin;
}

/* pow() may differ in the last bit between C libraries and CPUs, and so would the case. */
static double whole_power(double base, int exponent)
{
    double product = 1;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        product *= base;
    return exponent < 0 ? 1 / product : product;
}

/* The unit of mass is density dx^3, the unit of temperature 1 K. */
double quantity_unit(struct dimension d, const struct quantity_scale *scale)
{
    return whole_power(scale->dx, d.m + 3 * d.kg) * whole_power(scale->dt, d.s) *
           whole_power(scale->density, d.kg);
}
