/* The flows that `tagflow bench` measures; see cases.h.
 *
 * Speeds are about 0.05, so that the flow stays within the method's range in a run of any length.
 * The viscosity is so low that the flow does not decay during the measurement. */
#include "bench/cases.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/keys.h"

static const double viscosity = 0.01, speed = 0.05;

const char *const bench_cases[] = {
#define X(name, fewest, meaning) #name,
    BENCH_CASE_LIST(X)
#undef X
        NULL,
};

int bench_fewest(enum bench_case which)
{
    static const int fewest[] = {
#define X(name, fewest, meaning) fewest,
        BENCH_CASE_LIST(X)
#undef X
    };
    return fewest[which];
}

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

/* The box in the middle has half the width along each axis; its faces are those of bricks, at
 * multiples of 4 cells. */
static void write_refined(FILE *to, const struct bench_subject *s)
{
    int from[3], end[3];
    for (int a = 0; a < 3; a++) {
        from[a] = (s->cells[a] + 8) / 16 * 4;
        end[a] = (s->cells[a] - from[a]) / 4 * 4;
    }
    write_periodic(to, s);
    fprintf(to, "refine: {middle: {level: 1, box: {from: [%d, %d, %d], to: [%d, %d, %d]}}}\n",
            from[0], from[1], from[2], end[0], end[1], end[2]);
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

/* A free fall through the box would reach twice `speed`; the heat convects about half as fast. */
static void write_heat(FILE *to, const struct bench_subject *s)
{
    static const double prandtl = 0.71, hot = 0.6, cold = -0.4;
    fprintf(to,
            "faces: {xmin: {wall: {scalars: {heat: {value: %g}}}}, "
            "xmax: {wall: {scalars: {heat: {value: %g}}}}, y: wall, z: wall}\n"
            "initial: {flow: uniform, velocity: [%g, %g, %g]}\n"
            "force: {gravity: [0, %.9g, 0]}\n"
            "scalars: {heat: {kind: heat, prandtl: %g, expansion: 1, "
            "initial: {linear: {from: [0, 0, 0], to: [%d, 0, 0], values: [%g, %g]}}}}\n",
            hot, cold, 0.4 * speed, 0.2 * speed, -0.3 * speed,
            -4 * speed * speed / (s->cells[1] * (hot - cold)), prandtl, s->cells[0], hot, cold);
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

/* Sound from the planes crosses the box for long: nothing damps it but viscosity. */
static void write_slip(FILE *to, const struct bench_subject *s)
{
    (void)s;
    fprintf(to,
            "faces: {x: periodic, y: slip, z: slip}\n"
            "initial: {flow: uniform, velocity: [%g, %g, %g]}\n",
            speed, 0.4 * speed, -0.3 * speed);
}

static void write_inlet(FILE *to, const struct bench_subject *s)
{
    (void)s;
    fprintf(
        to,
        "faces: {xmin: {velocity: {value: [%g, 0, 0], profile: duct}}, xmax: pressure, y: wall, "
        "z: wall}\n"
        "initial: {flow: inlet}\n",
        speed);
}

static double ball_radius(const struct bench_subject *s)
{
    return fmax(0.6, least(s->cells) / 8.0);
}

/* The force is about equal to the sphere's drag. */
static void write_ball(FILE *to, const struct bench_subject *s, const char *wall)
{
    const double radius = least(s->cells) / 8.0;
    double center[3];
    for (int a = 0; a < 3; a++)
        center[a] = s->cells[a] / 2 + 0.5; /* a cell's centre: the sphere holds at least one */
    fprintf(to,
            "faces: {x: periodic, y: periodic, z: periodic}\n"
            "initial: {flow: uniform, velocity: [%g, %g, %g]}\n"
            "force: {acceleration: [%.9g, 0, 0]}\n"
            "bodies: {sphere: {wall: %s, shape: {sphere: {center: [%g, %g, %g], radius: %g}}}}\n",
            speed, 0.2 * speed, 0.1 * speed,
            1.6 * radius * radius * speed * speed /
                ((double)s->cells[0] * s->cells[1] * s->cells[2]),
            wall, center[0], center[1], center[2], ball_radius(s));
}

static void write_sphere(FILE *to, const struct bench_subject *s)
{
    write_ball(to, s, "halfway");
}

static void write_curved(FILE *to, const struct bench_subject *s)
{
    write_ball(to, s, "interpolated");
}

/* The sphere stands in the first half of the tunnel. */
static void write_tunnel(FILE *to, const struct bench_subject *s)
{
    fprintf(to,
            "faces: {xmin: {velocity: {value: [%g, 0, 0]}}, xmax: pressure, y: slip, z: slip}\n"
            "initial: {flow: inlet}\n"
            "bodies: {sphere: {wall: interpolated, shape: {sphere: {center: [%g, %g, %g], radius: "
            "%g}}}}\n",
            speed, s->cells[0] / 3 + 0.5, s->cells[1] / 2 + 0.5, s->cells[2] / 2 + 0.5,
            ball_radius(s));
}

static double uniform(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* Most spheres of a rock by default; most spheres and images of them at all, for which a case file
 * has room; those of one list. */
enum { GRAINS = 1000, GRAINS_MOST = 8000, GRAINS_LIST = 4000, IMAGES = 27 };

/* How many spheres at random leave this porosity: n of volume v in a box of volume V, their centres
 * anywhere, leave exp(-n v / V) of it. */
static double spheres_for(double porosity, const int cells[3], double radius)
{
    const double box = (double)cells[0] * cells[1] * cells[2];
    return -log(porosity) * box / (4.0 / 3 * 3.141592653589793 * radius * radius * radius);
}

/* Radius 0.1 of the least width, larger where that would be too many spheres. */
struct bench_rock bench_rock(const struct bench_subject *s)
{
    struct bench_rock rock = {s->porosity > 0 ? s->porosity : 0.4, s->radius};
    if (!(rock.radius > 0))
        rock.radius = fmax(fmax(2, least(s->cells) / 10.0),
                           cbrt(spheres_for(rock.porosity, s->cells, 1) / GRAINS));
    return rock;
}

/* Points at which the rock is measured while it grows: the centres of cells, at most POINTS of them
 * along an axis. */
enum { POINTS = 64 };
struct points {
    int n[3], stride[3], solid;
    bool is_solid[POINTS][POINTS][POINTS];
};

/* Marks the points in a sphere. */
static void points_mark(struct points *p, const double center[3], double radius)
{
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) {
        lo[a] = (int)fmax(0, ceil((center[a] - radius - 0.5) / p->stride[a]));
        hi[a] = (int)fmin(p->n[a] - 1, floor((center[a] + radius - 0.5) / p->stride[a]));
    }
    for (int z = lo[2]; z <= hi[2]; z++)
        for (int y = lo[1]; y <= hi[1]; y++)
            for (int x = lo[0]; x <= hi[0]; x++) {
                const double d[3] = {x * p->stride[0] + 0.5 - center[0],
                                     y * p->stride[1] + 0.5 - center[1],
                                     z * p->stride[2] + 0.5 - center[2]};
                bool *const solid = &p->is_solid[z][y][x];
                if (*solid || !(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < radius * radius))
                    continue;
                *solid = true;
                p->solid++;
            }
}

/* A periodic image of a sphere; false: it does not reach into the box. */
static bool image_of(const int cells[3], const double center[3], double radius, int image,
                     double at[3])
{
    const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
    bool reaches = true;
    for (int a = 0; a < 3; a++) {
        at[a] = center[a] + shift[a] * cells[a];
        reaches = reaches && at[a] > -radius && at[a] < cells[a] + radius;
    }
    return reaches;
}

/* Sphere `number` in nested lists: "union: {g0: .., g1: .., .., more: {union: {.., ..". */
static void write_grain(FILE *to, int number, const double center[3], double radius)
{
    if (number % GRAINS_LIST == 0)
        fputs(number ? ", more: {union: {" : "{union: {", to);
    fprintf(to, "%sg%d: {sphere: {center: [%.4f, %.4f, %.4f], radius: %.4f}}",
            number % GRAINS_LIST ? ", " : "", number, center[0], center[1], center[2], radius);
}

/* Writes spheres at random, always the same: as many as bring the porosity closest to the one asked
 * for, one at least. */
static void write_grains(FILE *to, const int cells[3], struct bench_rock rock)
{
    struct points p = {.solid = 0};
    uint64_t state = 1;
    double points = 1, at[3], last[3] = {0, 0, 0};
    int number = 0;
    for (int a = 0; a < 3; a++) {
        p.stride[a] = (cells[a] + POINTS - 1) / POINTS;
        p.n[a] = (cells[a] + p.stride[a] - 1) / p.stride[a];
        points *= p.n[a];
    }
    const double wanted = (1 - rock.porosity) * points;
    for (int grain = 0; p.solid < wanted && number + IMAGES <= GRAINS_MOST; grain++) {
        double center[3];
        const int before = p.solid;
        for (int a = 0; a < 3; a++)
            center[a] = uniform(&state) * cells[a];
        for (int image = 0; image < IMAGES; image++)
            if (image_of(cells, center, rock.radius, image, at))
                points_mark(&p, at, rock.radius);
        if (grain > 0 && p.solid - wanted > wanted - before)
            break; /* closer without it */
        for (int image = 0; image < IMAGES; image++) {
            if (!image_of(cells, center, rock.radius, image, at))
                continue;
            write_grain(to, number, at, rock.radius);
            memcpy(last, at, sizeof last);
            number++;
        }
    }
    if (number % GRAINS_LIST == 1) /* a union of two parts at least */
        write_grain(to, number++, last, rock.radius);
    for (int list = 0; list < (number + GRAINS_LIST - 1) / GRAINS_LIST; list++)
        fputs("}}", to);
}

/* The force would move the fluid past spheres far apart at 2.4 times `speed`; it moves it more
 * slowly where they are close. */
static void write_rock(FILE *to, const struct bench_subject *s)
{
    const struct bench_rock rock = bench_rock(s);
    fprintf(to,
            "faces: {x: periodic, y: periodic, z: periodic}\n"
            "initial: {flow: uniform, velocity: [%g, %g, %g]}\n"
            "force: {acceleration: [%.9g, 0, 0]}\n"
            "bodies: {rock: {wall: halfway, shape: ",
            0.4 * speed, 0.1 * speed, 0.05 * speed,
            -0.55 * log(rock.porosity) * viscosity / (rock.radius * rock.radius));
    write_grains(to, s->cells, rock);
    fputs("}}\n", to);
}

/* About how many spheres and images a rock has. */
static double rock_size(const int cells[3], struct bench_rock rock)
{
    double number = spheres_for(rock.porosity, cells, rock.radius);
    for (int a = 0; a < 3; a++)
        number *= 1 + 2 * rock.radius / cells[a];
    return number;
}

/* Can the box hold such a rock? */
static enum status check_rock(const struct bench_subject *s)
{
    const struct bench_rock rock = bench_rock(s);
    const double widest = 0.5 * least(s->cells), most = 0.9 * GRAINS_MOST;
    struct bench_rock larger = rock;
    if (rock.radius > widest)
        return fail_user("--radius %g: spheres in a box of %d x %d x %d cells have at most a "
                         "radius of %g",
                         rock.radius, s->cells[0], s->cells[1], s->cells[2], widest);
    while (rock_size(s->cells, larger) > most)
        larger.radius = floor(10 * larger.radius + 1) / 10;
    if (larger.radius > rock.radius)
        return fail_user("--radius %g: a rock of porosity %g in %d x %d x %d cells would have "
                         "about %.0f spheres (at most %.0f: at least --radius %g)",
                         rock.radius, rock.porosity, s->cells[0], s->cells[1], s->cells[2],
                         rock_size(s->cells, rock), most, larger.radius);
    return STATUS_OK;
}

enum status bench_case_text(const struct bench_subject *s, char **text, size_t *length)
{
    static void (*const write[])(FILE *, const struct bench_subject *) = {
#define X(name, fewest, meaning) write_##name,
        BENCH_CASE_LIST(X)
#undef X
    };
    if (least(s->cells) < bench_fewest(s->which))
        return fail_user("--cells %d,%d,%d: the case %s needs at least %d along each axis",
                         s->cells[0], s->cells[1], s->cells[2], bench_cases[s->which],
                         bench_fewest(s->which));
    if (s->which == BENCH_CASE_rock && check_rock(s))
        return STATUS_USAGE;
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
