/* Letters as strokes; see font.h.
 *
 * A letter is its width and its strokes. A stroke is a chain of points, two characters each: x, and
 * y from 4 below the baseline; 0 to 9, then a for 10, and so on. A capital is 14 high, an x is 10.
 *
 *      i (18)  height of capitals      ~   the next point is a corner that is rounded: the control
 *      e (14)  height of an x              point of a parabola, which begins and ends at its
 *      4       baseline                    neighbours; half-way to those that are rounded too
 *      0       lowest                  *   the stroke is closed, all its corners are rounded */
#include "io/font.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    UNITS = 14,      /* height of a capital */
    BASELINE = 4,    /* y */
    GAP = 4,         /* between letters */
    CURVE = 8,       /* lines of a parabola */
    MOST_POINTS = 16 /* of a stroke */
};

/* clang-format off */
static const char *const letters[] = {
    "3",                                           /*   */
    "0 0i09 0405",                                 /* ! */
    "3 0i0e 3i3e",                                 /* " */
    "8 143i 557i 0989 0d8d",                       /* # */
    "8 8g~8i~0i~0b~8b~84~0406 4k42",               /* $ */
    "c *~0i~5i~5c~0c *~7a~ca~c4~74 24ai",          /* % */
    "a a40f~2i~6h~7d0a~04~74~99",                  /* & */
    "0 0i0e",                                      /* ' */
    "3 3j~0g~0633",                                /* ( */
    "3 0j~3g~3603",                                /* ) */
    "6 3c3i 0d6h 0h6d",                            /* * */
    "8 0a8a 464e",                                 /* + */
    "1 1502",                                      /* , */
    "6 0a6a",                                      /* - */
    "0 0405",                                      /* . */
    "6 036j",                                      /* / */
    "8 *~0i~8i~84~04",                             /* 0 */
    "8 1f5i54",                                    /* 1 */
    "8 0e~0i~8i~8c0484",                           /* 2 */
    "8 0g~0i~7i~7b3b~8b~84~0406",                  /* 3 */
    "8 646i0888",                                  /* 4 */
    "8 7i1i0b~0d~8d~84~0406",                      /* 5 */
    "8 7i~0i08 *~0d~8d~84~04",                     /* 6 */
    "8 0i8i24",                                    /* 7 */
    "8 *~1i~7i~7b~1b *~0b~8b~84~04",               /* 8 */
    "8 14~848e *~89~09~0i~8i",                     /* 9 */
    "0 0405 0d0e",                                 /* : */
    "1 1502 1d1e",                                 /* ; */
    "7 7e0a76",                                    /* < */
    "8 0888 0c8c",                                 /* = */
    "7 0e7a06",                                    /* > */
    "7 0f~0i~7i~7c~3c38 3435",                     /* ? */
    "e a5~84~04~0i~ei~e7~a7ad *~3d~ad~a7~37",      /* @ */
    "a 045ia4 2989",                               /* A */
    "8 040i4i~7i~7b4b0b 4b~8b~844404",             /* B */
    "9 9g~9i~0i~04~9496",                          /* C */
    "9 040i4i~9i~944404",                          /* D */
    "7 7i0i0474 0b6b",                             /* E */
    "7 7i0i04 0b6b",                               /* F */
    "9 9g~9i~0i~04~949b5b",                        /* G */
    "9 040i 949i 0b9b",                            /* H */
    "0 040i",                                      /* I */
    "6 6i~64~0408",                                /* J */
    "8 040i 8i09 3c84",                            /* K */
    "7 0i0474",                                    /* L */
    "a 040i59aia4",                                /* M */
    "9 040i949i",                                  /* N */
    "a *~0i~ai~a4~04",                             /* O */
    "8 040i4i~8i~8a4a0a",                          /* P */
    "a *~0i~ai~a4~04 78a3",                        /* Q */
    "8 040i4i~8i~8a4a0a 4a84",                     /* R */
    "8 8g~8i~0i~0b~8b~84~0406",                    /* S */
    "8 0i8i 4i44",                                 /* T */
    "9 0i09~04~94999i",                            /* U */
    "a 0i54ai",                                    /* V */
    "e 0i347ib4ei",                                /* W */
    "8 0i84 048i",                                 /* X */
    "8 0i4b8i 4b44",                               /* Y */
    "8 0i8i0484",                                  /* Z */
    "3 3j0j0333",                                  /* [ */
    "6 0j63",                                      /* \ */
    "3 0j3j3303",                                  /* ] */
    "6 0d3i6d",                                    /* ^ */
    "7 0272",                                      /* _ */
    "2 0i2f",                                      /* ` */
    "7 0d~1e~7e7974 *~0a~7a~74~04",                /* a */
    "7 0i04 *~0e~7e~74~04",                        /* b */
    "6 6d~5e~0e~04~5465",                          /* c */
    "7 7i74 *~0e~7e~74~04",                        /* d */
    "7 0979~7e~0e~04~6475",                        /* e */
    "5 5i~2i2e24 0e5e",                            /* f */
    "7 7e74~70~0001 *~0e~7e~74~04",                /* g */
    "7 0i04 09~0e~7e7974",                         /* h */
    "0 0e04 0h0i",                                 /* i */
    "3 3e33~3000 3h3i",                            /* j */
    "6 0i04 6e08 2a64",                            /* k */
    "2 0i06~0424",                                 /* l */
    "c 0e04 09~0e~6e6964 69~6e~cec9c4",            /* m */
    "7 0e04 09~0e~7e7974",                         /* n */
    "7 *~0e~7e~74~04",                             /* o */
    "7 0e00 *~0e~7e~74~04",                        /* p */
    "7 7e70 *~0e~7e~74~04",                        /* q */
    "4 0e04 09~0e4e",                              /* r */
    "6 6d~5e~0e~09~69~64~1405",                    /* s */
    "5 2h26~2454 0e5e",                            /* t */
    "7 0e09~04~7479 7e74",                         /* u */
    "8 0e448e",                                    /* v */
    "c 0e346e94ce",                                /* w */
    "7 0e74 047e",                                 /* x */
    "8 0e44 8e20",                                 /* y */
    "7 0e7e0474",                                  /* z */
    "4 4j~2j2d~2b0b~2b29~2343",                    /* { */
    "0 0k01",                                      /* | */
    "4 0j~2j2d~2b4b~2b29~2303",                    /* } */
    "8 0a~2e~688c",                                /* ~ */
};
/* clang-format on */

struct point {
    double x, y;
    bool round;
};

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static struct point half_way(struct point a, struct point b)
{
    return (struct point){(a.x + b.x) / 2, (a.y + b.y) / 2, false};
}

static void add_line(struct font_letter *to, struct point from, struct point end)
{
    assert(to->count < FONT_LINES);
    double *const line = to->line[to->count++];
    line[0] = from.x;
    line[1] = from.y;
    line[2] = end.x;
    line[3] = end.y;
}

static void add_parabola(struct font_letter *to, struct point from, struct point control,
                         struct point end)
{
    struct point last = from;
    for (int k = 1; k <= CURVE; k++) {
        const double t = (double)k / CURVE, a = (1 - t) * (1 - t), b = 2 * t * (1 - t), c = t * t;
        const struct point next = {a * from.x + b * control.x + c * end.x,
                                   a * from.y + b * control.y + c * end.y, false};
        add_line(to, last, next);
        last = next;
    }
}

/* A stroke from its first to its last point; a closed one from half-way between its last and its
 * first point, and back. */
static void add_stroke(struct font_letter *to, const struct point *point, int count, bool closed)
{
    struct point at = closed ? half_way(point[count - 1], point[0]) : point[0];
    for (int k = closed ? 0 : 1; k < count; k++) {
        if (!point[k].round) {
            add_line(to, at, point[k]);
            at = point[k];
            continue;
        }
        const struct point next = point[(k + 1) % count];
        const struct point end = next.round ? half_way(point[k], next) : next;
        add_parabola(to, at, point[k], end);
        at = end;
        k += !next.round;
    }
}

void font_letter(char letter, struct font_letter *to)
{
    const char *text = letters[(letter < ' ' || letter > '~' ? '?' : letter) - ' '];
    *to = (struct font_letter){.advance = (double)(digit(*text++) + GAP) / UNITS};
    while (*text == ' ') {
        struct point point[MOST_POINTS];
        const bool closed = *++text == '*';
        int count = 0;
        for (text += closed; *text && *text != ' '; text += 2, count++) {
            const bool round = *text == '~';
            text += round;
            assert(count < MOST_POINTS);
            point[count] = (struct point){(double)digit(text[0]) / UNITS,
                                          (double)(digit(text[1]) - BASELINE) / UNITS, round};
        }
        add_stroke(to, point, count, closed);
    }
}
