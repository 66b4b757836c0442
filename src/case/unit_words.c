/* Advice on wrong units; see unit_words.h. */
#include "case/unit_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "case/quantity.h"
#include "case/words.h"

/* clang-format off */
/* Other spellings of a unit, and ours; compared without case and plural. */
static const struct spelling {
    const char *words, *unit;
} spellings[] = {
    {"c, degree c, deg c, celsius, centigrade, °c, º c", "degC"}, {"kelvin, degK, °k", "K"},
    {"sec, second", "s"}, {"minute, mins", "min"}, {"hr, hour, hrs", "h"}, {"day", "d"}, {"msec, millisecond", "ms"},
    {"meter, metre", "m"}, {"millimeter, millimetre", "mm"}, {"centimeter, centimetre", "cm"},
    {"micron, micrometer, micrometre, µm, μm, mum", "um"}, {"µs, μs", "us"}, {"µl, μl", "uL"}, {"inch, inches", "in"}, {"foot, feet", "ft"},
    {"l, liter, litre", "L"}, {"ml, milliliter, millilitre", "mL"}, {"pascal", "Pa"}, {"newton", "N"}, {"watt", "W"}, {"joule", "J"},
    {"torr, mm hg", "mmHg"}, {"kgm3", "kg/m3"}, {"stoke", "St"}, {"centipoise", "cP"}, {"centistoke", "cSt"},
    {"mps", "m/s"}, {"kph, kmh", "km/h"},
};

/* Units of a rotation or a frequency, in turns a second. */
static const struct turning {
    const char *words;
    double turns;
} turnings[] = {
    {"Hz, hertz, rps, cps", 1}, {"kHz", 1e3}, {"rpm, r/min, rev/min, bpm", 1.0 / 60},
    {"rad/s", 0.15915494309189535}, {"deg/s, °/s", 1.0 / 360},
};

/* Quantities that are taken for others: by the dimension of `like`, where `unit` is expected. */
static const struct mistaken {
    const char *like;
    enum key_unit unit;
    const char *name, *remedy;
    bool by_density; /* divided by the density it has the right unit */
} mistakes[] = {
    {"1 Pa s", UNIT_VISCOSITY, "a dynamic viscosity", "divide it by the density", true},
    {"1 Pa s", UNIT_DIFFUSIVITY, "a dynamic viscosity", "divide it by the density", true},
    {"1 W/m/K", UNIT_DIFFUSIVITY, "a thermal conductivity", "divide it by density and heat capacity", false},
    {"1 m3/s", UNIT_VELOCITY, "a volume flow", "divide it by the area", false},
    {"1 kg/s", UNIT_VELOCITY, "a mass flow", "divide it by density and area", false},
    {"1 Pa/m", UNIT_ACCELERATION, "a pressure gradient", "divide it by the density", true},
    {"1 Pa", UNIT_ACCELERATION, "a pressure", "divide it by density and length", false},
    {"1 N", UNIT_ACCELERATION, "a force", "divide it by the mass of the fluid", false},
    {"1 m2/s2", UNIT_PRESSURE, "a pressure over a density", "multiply it by the density", false},
    {"1 m2/s2", UNIT_STRESS, "a stress over a density", "multiply it by the density", false},
    {"1 m", UNIT_PRESSURE, "a height", "multiply it by density and gravity", false},
    {"1 W", UNIT_HEAT_FLUX, "a power", "divide it by the area", false},
    {"1 W", UNIT_HEAT_SOURCE, "a power", "divide it by the volume", false},
    {"1 W/m3", UNIT_HEATING, "a heat source", "divide it by density and heat capacity", false},
    {"1 m3/kg", UNIT_DENSITY, "a specific volume", "write 1 over it", false},
};

/* Signs of units written otherwise than in plain ASCII. */
static const struct sign {
    const char *text, *plain;
} signs[] = {{"²", "2"}, {"³", "3"}, {"·", "*"}, {"⋅", "*"}, {"⁻", "-"}, {"¹", "1"}, {".", "*"}};
/* clang-format on */

enum { LENGTH = 96 };

/* A text whose length is known. */
struct piece {
    const char *text;
    size_t length;
};

static const struct sign *sign_at(const char *text)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(text, signs[i].text, strlen(signs[i].text)))
            return &signs[i];
    return NULL;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* The sign, word or character at *unit, as we spell it; moves *unit behind it. */
static struct piece spell_one(const char **unit)
{
    char word[WORD_SIZE];
    const char *const begin = *unit;
    const struct sign *const sign = sign_at(begin);
    size_t length = sign ? strlen(sign->text) : 0;
    while (!sign && is_letter(begin[length]) && !(length && sign_at(begin + length)))
        length++;
    length += !length;
    *unit += length;
    if (sign)
        return (struct piece){sign->plain, strlen(sign->plain)};
    word_plain(begin, length, word);
    for (size_t i = 0; *word && i < sizeof spellings / sizeof *spellings; i++)
        if (word_listed(spellings[i].words, word))
            return (struct piece){spellings[i].unit, strlen(spellings[i].unit)};
    return (struct piece){begin, length};
}

/* Temperatures in a product or quotient are differences: "W/m2/degC" becomes "W/m2/K". */
static void make_kelvin(char *ours)
{
    static const char celsius[] = "degC";
    for (char *at; strcmp(ours, celsius) != 0 && (at = strstr(ours, celsius));) {
        *at = 'K';
        memmove(at + 1, at + strlen(celsius), strlen(at + strlen(celsius)) + 1);
    }
}

/* The unit in a text as we spell it: "m³/sec" gives "m3/s". Words that are not known stay. */
static void spell(const char *unit, char ours[static LENGTH])
{
    size_t used = 0;
    while (*unit) {
        const struct piece p = spell_one(&unit);
        if (used + p.length >= LENGTH)
            break;
        memcpy(ours + used, p.text, p.length);
        used += p.length;
    }
    ours[used] = '\0';
    make_kelvin(ours);
}

/* Turns a second of one such unit; 0: it is none. A rate in 1/s counts as a frequency. */
static double turns_of(const char *unit, const struct quantity *q)
{
    char lower[WORD_SIZE];
    word_plain(unit, strlen(unit), lower);
    for (size_t i = 0; i < sizeof turnings / sizeof *turnings; i++)
        if (word_listed(turnings[i].words, lower))
            return turnings[i].turns;
    const bool rate = q && dimension_equal(q->dimension, unit_info(UNIT_RATE)->dimension);
    return rate ? 1 : 0;
}

/* Frequencies and rotations, where a time, a rate or an angular velocity is expected. */
static bool tell_turning(double number, double turns, enum key_unit unit, char reason[UNIT_REASON])
{
    static const double two_pi = 6.283185307179586;
    const double frequency = number * turns;
    if (unit == UNIT_TIME && frequency > 0)
        snprintf(reason, UNIT_REASON, "is a frequency (its period is %.10g s)", 1 / frequency);
    else if (unit == UNIT_ROTATION)
        snprintf(reason, UNIT_REASON, "is a rate of turns (as an angular velocity: %.10g rad/s)",
                 two_pi * frequency);
    else if (unit == UNIT_RATE)
        snprintf(reason, UNIT_REASON, "is a frequency (write %.10g 1/s)", frequency);
    else
        return false;
    return true;
}

static bool tell_mistaken(const struct quantity *q, enum key_unit unit, double density,
                          char reason[UNIT_REASON])
{
    struct quantity like;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistaken *const m = &mistakes[i];
        if (m->unit != unit || quantity_parse(m->like, &like) ||
            !dimension_equal(like.dimension, q->dimension))
            continue;
        if (m->by_density && density > 0 && density != 1)
            snprintf(reason, UNIT_REASON, "is %s (%s: over %g kg/m3 it is %.10g %s)", m->name,
                     m->remedy, density, q->value / density, unit_info(unit)->symbol);
        else
            snprintf(reason, UNIT_REASON, "is %s, not %s (%s)", m->name, unit_info(unit)->noun,
                     m->remedy);
        return true;
    }
    return false;
}

bool unit_words(const char *text, enum key_unit unit, double density, char reason[UNIT_REASON])
{
    char ours[LENGTH], spelt[2 * LENGTH];
    struct quantity q;
    const char *rest;
    double number;
    if (number_parse(text, &rest, &number))
        return false;
    rest += strspn(rest, " ");
    spell(rest, ours);
    const int digits = (int)(rest - text);
    snprintf(spelt, sizeof spelt, "%.*s%s", digits < LENGTH ? digits : LENGTH, text, ours);
    const bool known = !quantity_parse(spelt, &q) && !q.bare;
    const double turns = turns_of(ours, known ? &q : NULL);
    if (turns > 0 && tell_turning(number, turns, unit, reason))
        return true;
    if (known && dimension_equal(q.dimension, unit_info(unit)->dimension) && strcmp(ours, rest)) {
        snprintf(reason, UNIT_REASON, "has an unknown unit (write %s)", spelt);
        return true;
    }
    return known && tell_mistaken(&q, unit, density, reason);
}
