/* A line with ticks and numbers; see ruler.h. */
#include "io/ruler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 32, MOST_STEPS = 8 };

struct ticks {
    double step, first; /* distance of ticks; value of the first one, in steps */
    int count;
    double size; /* the largest |value| */
};

/* 1, 2 or 5 times a power of ten, so that the span has at most `wanted` steps, or a bit more. */
static double tick_step(double span, int wanted)
{
    const double raw = span / wanted, power = pow(10.0, floor(log10(raw))), ratio = raw / power;
    return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

static struct ticks ticks_of(const struct ruler *ruler, int wanted)
{
    struct ticks t = {.step = tick_step(ruler->high - ruler->low, wanted),
                      .size = fmax(fabs(ruler->low), fabs(ruler->high))};
    t.first = ceil(ruler->low / t.step - 1e-6);
    t.count = (int)(floor(ruler->high / t.step + 1e-6) - t.first) + 1;
    return t;
}

/* Text of a tick's value, with as few digits as tell ticks apart. */
static void tick_text(const struct ticks *t, double value, char text[LABEL])
{
    const int last = (int)floor(log10(t->step) + 1e-9), first = (int)floor(log10(t->size) + 1e-9);
    if (fabs(value) < 1e-6 * t->step) {
        snprintf(text, LABEL, "0");
    } else if (first >= -4 && first < 6) {
        snprintf(text, LABEL, "%.*f", last < 0 ? -last : 0, value);
    } else {
        const int digits = (int)floor(log10(fabs(value)) + 1e-9) - last;
        char long_form[LABEL];
        snprintf(long_form, sizeof long_form, "%.*e", digits > 0 ? digits : 0, value);
        char *const e = strchr(long_form, 'e');
        *e = '\0';
        snprintf(text, LABEL, "%.20se%d", long_form, atoi(e + 1));
    }
}

static struct lettering lettering_of(const struct ruler *ruler)
{
    return (struct lettering){.size = ruler->size};
}

static double value_of(const struct ticks *t, int k)
{
    return (t->first + k) * t->step;
}

static int text_length(const struct ruler *ruler, const struct ticks *t, int k)
{
    char text[LABEL];
    tick_text(t, value_of(t, k), text);
    return (int)ceil(canvas_text_length(text, lettering_of(ruler)));
}

static int widest_of(const struct ruler *ruler, const struct ticks *t)
{
    int widest = 0;
    for (int k = 0; k < t->count; k++) {
        const int length = text_length(ruler, t, k);
        widest = length > widest ? length : widest;
    }
    return widest;
}

/* As many ticks as have room for their numbers. */
static struct ticks choose_ticks(const struct ruler *ruler)
{
    for (int wanted = MOST_STEPS; wanted > 1; wanted--) {
        const struct ticks t = ticks_of(ruler, wanted);
        const double apart = ruler->length * t.step / (ruler->high - ruler->low);
        const double need = ruler->side == RULER_below ? widest_of(ruler, &t) + 1.5 * ruler->size
                                                       : 2.2 * ruler->size;
        if (apart >= need)
            return t;
    }
    return ticks_of(ruler, 1);
}

static int tick_length(const struct ruler *ruler)
{
    return (int)lround(0.5 * ruler->size);
}

int ruler_depth(const struct ruler *ruler)
{
    const struct ticks t = choose_ticks(ruler);
    const int beside = tick_length(ruler) + (int)lround(0.4 * ruler->size);
    return beside + (ruler->side == RULER_below ? (int)ceil(ruler->size) : widest_of(ruler, &t));
}

int ruler_beyond(const struct ruler *ruler)
{
    const struct ticks t = choose_ticks(ruler);
    return ruler->side == RULER_below ? widest_of(ruler, &t) / 2 : (int)ceil(0.6 * ruler->size);
}

void ruler_draw(const struct ruler *ruler, struct canvas *canvas, int x, int y)
{
    const struct ticks t = choose_ticks(ruler);
    const int tick = tick_length(ruler), gap = tick + (int)lround(0.4 * ruler->size);
    const int half = (int)lround(0.5 * ruler->size), thick = ruler->thickness;
    for (int k = 0; k < t.count; k++) {
        char text[LABEL];
        const double value = value_of(&t, k);
        double share = (value - ruler->low) / (ruler->high - ruler->low);
        tick_text(&t, value, text);
        share = fmin(fmax(share, 0.0), 1.0);
        const int along = (int)lround(share * (ruler->length - 1));
        const int up = y + ruler->length - 1 - along, length = text_length(ruler, &t, k);
        switch (ruler->side) {
        case RULER_below:
            canvas_fill(canvas, x + along - thick / 2, y, thick, tick, CANVAS_INK);
            canvas_text(canvas, x + along - length / 2, y + gap + (int)ceil(ruler->size),
                        lettering_of(ruler), text);
            break;
        case RULER_left:
            canvas_fill(canvas, x - tick, up - thick / 2, tick, thick, CANVAS_INK);
            canvas_text(canvas, x - gap - length, up + half, lettering_of(ruler), text);
            break;
        case RULER_right:
            canvas_fill(canvas, x, up - thick / 2, tick, thick, CANVAS_INK);
            canvas_text(canvas, x + gap, up + half, lettering_of(ruler), text);
            break;
        }
    }
}
