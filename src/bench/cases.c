/* The flows that `tagflow bench` measures; see cases.h.
 *
 * Speeds are about 0.05, so that the flow stays within the method's range in a run of any length.
 * The viscosity is so low that the flow does not decay during the measurement. */
#include "bench/cases.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/message.h"
#include "case/keys.h"

static const double viscosity = 0.01, speed = 0.05;

const char *const bench_cases[] = {
#define X(name, fewest, meaning) #name,
    BENCH_CASE_LIST(X)
#undef X
        NULL,
};

static int least(const int cells[3])
{
    const int two = cells[0] < cells[1] ? cells[0] : cells[1];
    return two < cells[2] ? two : cells[2];
}

/* Taylor-Green vortices in a cube; else a vortex carried by a uniform flow. */
static void write_periodic(FILE *to, const struct bench_subject *s)
{
    const int n = least(s->cells);
    fprintf(to, "faces: {x: periodic, y: periodic, z: periodic}\n");
    if (n >= 4 && s->cells[0] == s->cells[1] && s->cells[1] == s->cells[2])
        fprintf(to, "initial: {flow: taylor_green_3d, amplitude: %g}\n", speed);
    else
        fprintf(to, "initial: {flow: vortex, amplitude: %g, width: %g, velocity: [%g, %g, %g]}\n",
                0.5 * speed, n < 4 ? 1 : 0.25 * n, 0.6 * speed, -0.4 * speed, 0.2 * speed);
}

/* The initial flow moves against the walls, so that sound fills the box before the lid's flow
 * does. */
static void write_cavity(FILE *to, const struct bench_subject *s)
{
    (void)s;
    fprintf(to,
            "faces: {x: wall, ymin: wall, ymax: {wall: {velocity: [%g, 0, 0]}}, z: wall}\n"
            "initial: {flow: uniform, velocity: [%g, %g, %g]}\n",
            2 * speed, 0.4 * speed, 0.2 * speed, -0.3 * speed);
}

/* The force sustains a parabolic profile of that speed. */
static void write_channel(FILE *to, const struct bench_subject *s)
{
    const double half = 0.5 * s->cells[1];
    fprintf(to,
            "faces: {x: periodic, y: wall, z: periodic}\n"
            "initial: {flow: channel, amplitude: %g}\n"
            "force: {acceleration: [%.9g, 0, 0]}\n",
            speed, 2 * viscosity * speed / (half * half));
}

/* The force is about equal to the sphere's drag. */
static void write_sphere(FILE *to, const struct bench_subject *s)
{
    const double radius = least(s->cells) / 8.0;
    double center[3];
    for (int a = 0; a < 3; a++)
        center[a] = s->cells[a] / 2 + 0.5; /* a cell's centre: the sphere holds at least one */
    fprintf(to,
            "faces: {x: periodic, y: periodic, z: periodic}\n"
            "initial: {flow: uniform, velocity: [%g, %g, %g]}\n"
            "force: {acceleration: [%.9g, 0, 0]}\n"
            "bodies: {sphere: {wall: halfway, shape: {sphere: {center: [%g, %g, %g], radius: "
            "%g}}}}\n",
            speed, 0.2 * speed, 0.1 * speed,
            1.6 * radius * radius * speed * speed /
                ((double)s->cells[0] * s->cells[1] * s->cells[2]),
            center[0], center[1], center[2], radius < 0.6 ? 0.6 : radius);
}

static double uniform(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* One sphere of the rock and its periodic images that reach into the box. */
static void write_grain(FILE *to, const int cells[3], const double center[3], double radius,
                        int *number)
{
    for (int image = 0; image < 27; image++) {
        const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        double at[3];
        bool reaches = true;
        for (int a = 0; a < 3; a++) {
            at[a] = center[a] + shift[a] * cells[a];
            reaches = reaches && at[a] > -radius && at[a] < cells[a] + radius;
        }
        if (reaches)
            fprintf(to, "%sg%d: {sphere: {center: [%.4f, %.4f, %.4f], radius: %.4f}}",
                    *number ? ", " : "", *number, at[0], at[1], at[2], radius);
        *number += reaches;
    }
}

/* n spheres of volume v in a box of volume V, their centres anywhere, leave exp(-n v / V) of it. */
static void write_rock(FILE *to, const struct bench_subject *s)
{
    enum { GRAINS = 1000 };
    const double box = (double)s->cells[0] * s->cells[1] * s->cells[2], porosity = 0.4;
    const double solid = -log(porosity) * box / (4.0 / 3 * 3.141592653589793);
    double radius = fmax(2, least(s->cells) / 10.0);
    if (solid / (radius * radius * radius) > GRAINS)
        radius = cbrt(solid / GRAINS);
    const int grains = (int)lround(solid / (radius * radius * radius));
    uint64_t state = 1;
    int number = 0;
    fprintf(to,
            "faces: {x: periodic, y: periodic, z: periodic}\n"
            "initial: {flow: uniform, velocity: [%g, %g, %g]}\n"
            "force: {acceleration: [%.9g, 0, 0]}\n"
            "bodies: {rock: {wall: halfway, shape: {union: {",
            0.4 * speed, 0.1 * speed, 0.05 * speed, 0.5 * viscosity / (radius * radius));
    for (int k = 0; k < (grains > 0 ? grains : 1); k++) {
        double center[3];
        for (int a = 0; a < 3; a++)
            center[a] = uniform(&state) * s->cells[a];
        write_grain(to, s->cells, center, radius, &number);
    }
    fprintf(to, "}}}}\n");
}

enum status bench_case_text(const struct bench_subject *s, char **text, size_t *length)
{
    static void (*const write[])(FILE *, const struct bench_subject *) = {
#define X(name, fewest, meaning) write_##name,
        BENCH_CASE_LIST(X)
#undef X
    };
    static const int fewest[] = {
#define X(name, fewest, meaning) fewest,
        BENCH_CASE_LIST(X)
#undef X
    };
    if (least(s->cells) < fewest[s->which])
        return fail_user("--cells %d,%d,%d: the case %s needs at least %d along each axis",
                         s->cells[0], s->cells[1], s->cells[2], bench_cases[s->which],
                         fewest[s->which]);
    *text = NULL;
    FILE *const to = open_memstream(text, length);
    if (!to)
        return fail_machine("out of memory for a case");
    fprintf(to,
            "domain: {cells: [%d, %d, %d]}\n"
            "fluid: {viscosity: %g}\n"
            "solver: {collision: %s, storage: %s, arithmetic: %s}\n"
            "run: {steps: 1, threads: %d}\n"
            "check: {every: 0}\n"
            "output: {log: {every: 0}}\n",
            s->cells[0], s->cells[1], s->cells[2], viscosity, key_collisions[s->collision],
            precision_name(s->storage), precision_name(s->arithmetic), s->threads);
    write[s->which](to, s);
    const bool whole = !ferror(to);
    if (fclose(to) || !whole) {
        free(*text);
        *text = NULL;
        return fail_machine("out of memory for a case");
    }
    return STATUS_OK;
}
