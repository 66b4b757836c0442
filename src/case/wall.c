/* Wall times; see wall.h. */
#include "case/wall.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "case/quantity.h"

static const char not_a_time[] = "is not a wall time (as in 11h50m, 30 min, 90 s or 11:50:00)";
static const char too_large[] = "is too large for a number";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Two digits below 60 at *text; moves *text behind them. */
static bool read_sixtieth(const char **text, int *value)
{
    const char *c = *text;
    if (!is_digit(c[0]) || !is_digit(c[1]) || is_digit(c[2]) || c[0] > '5')
        return false;
    *value = 10 * (c[0] - '0') + c[1] - '0';
    *text = c + 2;
    return true;
}

/* HH:MM or HH:MM:SS; the hours may have any number of digits. */
static const char *parse_clock(const char *text, struct wall *w)
{
    static const char wrong[] = "is not a wall time of hours, minutes and seconds (HH:MM or "
                                "HH:MM:SS, as in 11:50:00)";
    const char *c = text;
    double hours = 0;
    int minutes, seconds = 0;
    for (; is_digit(*c); c++)
        hours = 10 * hours + (*c - '0');
    if (*c++ != ':' || !read_sixtieth(&c, &minutes))
        return wrong;
    if (*c == ':') {
        c++;
        if (!read_sixtieth(&c, &seconds))
            return wrong;
    }
    if (*c)
        return wrong;
    w->seconds = 3600 * hours + 60 * minutes + seconds;
    return isfinite(w->seconds) ? NULL : too_large;
}

/* The size of a unit in seconds; 0 when there is none of that name. */
static double unit_seconds(const char *name, size_t length)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"min", 60}, {"s", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length && !strncmp(units[i].name, name, length))
            return units[i].seconds;
    return 0;
}

static const char *skip_spaces(const char *c)
{
    while (*c == ' ')
        c++;
    return c;
}

const char *wall_parse(const char *text, struct wall *w)
{
    const char *c = text;
    double above = INFINITY; /* the previous unit, in seconds */
    *w = (struct wall){0};
    if (is_digit(*c) && c[strspn(c, "0123456789")] == ':')
        return parse_clock(text, w);
    do {
        double value;
        if (c != text && !is_digit(*c) && *c != '.')
            return not_a_time;
        const char *problem = number_parse(c, &c, &value);
        if (problem)
            return strstr(problem, "large") ? problem : not_a_time;
        c = skip_spaces(c);
        if (!*c && isinf(above)) {
            *w = (struct wall){.seconds = value, .bare = true};
            return NULL;
        }
        if (!*c)
            return "ends in a number without a unit (as in 11h50m)";
        const size_t length = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const double unit = unit_seconds(c, length);
        if (unit == 0)
            return length ? "has an unknown unit (of wall time: d, h, m or min, s, as in 11h50m)"
                          : not_a_time;
        if (unit >= above)
            return "has its units in the wrong order (the largest first, each once, as in 11h50m)";
        above = unit;
        w->seconds += value * unit;
        c = skip_spaces(c + length);
    } while (*c);
    return isfinite(w->seconds) ? NULL : too_large;
}
