/* The colours of images; see colormap.h.
 *
 * A map is a curve in Oklab, where the distance of two colours is close to their visible
 * difference. Lightness is linear along the curve; the hue passes smoothly through a few chosen
 * points. Oklab: B. Ottosson, "A perceptual color space for image processing" (2020). */
#include "io/colormap.h"

#include <math.h>

enum { POINTS = 5 };

struct point {
    double chroma, hue; /* Oklab's a + i b in polar form, degrees */
};

/* Lightness from `first` to `last`, hue through `point` at t = 0, 1/4, .. 1. */
struct path {
    double first, last;
    struct point point[POINTS];
};

/* Violet, blue, teal, green, yellow. */
static const struct path magnitude = {
    0.24, 0.93, {{0.11, 302}, {0.115, 265}, {0.092, 207}, {0.15, 148}, {0.165, 103}}};

/* From the light middle to the end: blue below, red above. */
static const struct path below = {
    0.96, 0.36, {{0.0, 250}, {0.055, 240}, {0.105, 248}, {0.14, 258}, {0.125, 264}}};
static const struct path above = {
    0.96, 0.36, {{0.0, 60}, {0.055, 52}, {0.115, 42}, {0.155, 30}, {0.13, 22}}};

/* One coordinate of the Catmull-Rom curve through the points, at s in [0, 1] between point `from`
 * and the next. Neighbours missing at the ends are extrapolated linearly. */
static double between(const double *at, int from, double s)
{
    double p1 = at[from], p2 = at[from + 1];
    double p0 = from > 0 ? at[from - 1] : 2 * p1 - p2;
    double p3 = from + 2 < POINTS ? at[from + 2] : 2 * p2 - p1;
    return p1 +
           0.5 * s *
               (p2 - p0 + s * (2 * p0 - 5 * p1 + 4 * p2 - p3 + s * (3 * p1 - p0 - 3 * p2 + p3)));
}

static unsigned char to_srgb(double linear)
{
    double c = fmin(fmax(linear, 0.0), 1.0);
    c = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055; /* IEC 61966-2-1 */
    return (unsigned char)(255.0 * c + 0.5);
}

static void color_on(const struct path *path, double t, unsigned char srgb[3])
{
    double a[POINTS], b[POINTS];
    for (int i = 0; i < POINTS; ++i) {
        double angle = path->point[i].hue * acos(-1.0) / 180.0;
        a[i] = path->point[i].chroma * cos(angle);
        b[i] = path->point[i].chroma * sin(angle);
    }
    double place = t * (POINTS - 1);
    int from = place < POINTS - 2 ? (int)place : POINTS - 2;
    double lightness = path->first + t * (path->last - path->first);
    double green_red = between(a, from, place - from), blue_yellow = between(b, from, place - from);

    /* Oklab to linear sRGB, Ottosson's matrices. */
    double l = lightness + 0.3963377774 * green_red + 0.2158037573 * blue_yellow;
    double m = lightness - 0.1055613458 * green_red - 0.0638541728 * blue_yellow;
    double s = lightness - 0.0894841775 * green_red - 1.2914855480 * blue_yellow;
    l *= l * l;
    m *= m * m;
    s *= s * s;
    srgb[0] = to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    srgb[1] = to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    srgb[2] = to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

void colormap_color(enum colormap map, double t, unsigned char srgb[3])
{
    t = fmin(fmax(t, 0.0), 1.0);
    if (map == COLORMAP_sequential)
        color_on(&magnitude, t, srgb);
    else if (t < 0.5)
        color_on(&below, 1 - 2 * t, srgb);
    else
        color_on(&above, 2 * t - 1, srgb);
}
