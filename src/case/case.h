/* A case: what the user asked for, read from YAML by the key table, checked and resolved.
 *
 * Every value is in lattice units (cell = 1, step = 1, reference density = 1); `units` says what
 * one of them is in m, s and kg. Nothing here depends on rank count, backend or machine. */
#ifndef TAGFLOW_CASE_H
#define TAGFLOW_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "body/voxel_image.h"
#include "collision.h" /* enum collision, COLLISION_LIST */
#include "subgrid.h"   /* enum subgrid */

enum {
    CASE_NAME = 64,
    CASE_ZONES = 32,      /* regions */
    CASE_BODIES = 64,     /* each takes a few tags */
    CASE_REMEMBERED = 60, /* averages and residuals, each an array in every checkpoint */
    CASE_PATCHES = 48,    /* each takes a few tags */
    CASE_REASON = 192,    /* bytes of what is wrong with a file */
};

/* Precision of arithmetic and of written fields; populations may be stored in fp16, too. */
#define PRECISION_LIST(X) X(fp32) X(fp64)
#define STORAGE_LIST(X) X(fp16) PRECISION_LIST(X)
enum precision { PRECISION_fp32, PRECISION_fp64, PRECISION_fp16 };

/* What a face of the box, or a part of one, is. Periodic faces come in pairs. */
#define FACE_LIST(X)                                                                               \
    X(periodic)                                                                                    \
    X(wall)          /* half-way bounce-back, with any velocity or none */                         \
    X(slip)          /* a plane of symmetry: free slip */                                          \
    X(velocity)      /* the velocity is given */                                                   \
    X(pressure)      /* the density is given: p = rho / 3 */                                       \
    X(outflow)       /* convective outlet */                                                       \
    X(nonreflecting) /* characteristic outlet */
enum face_kind {
#define X(name) FACE_##name,
    FACE_LIST(X)
#undef X
};

/* How a velocity or pressure face gives its value: wet nodes lie on the face (the outermost fluid
 * cells are the boundary), links cross it half a cell beyond the outermost. */
#define FACE_RULE_LIST(X)                                                                          \
    X(regularised) /* wet nodes, all populations from density, velocity and stress */              \
    X(links)       /* velocity: moving bounce-back; pressure: anti-bounce-back */
enum face_rule {
#define X(name) FACE_RULE_##name,
    FACE_RULE_LIST(X)
#undef X
};

/* How a velocity varies over its face; 1 at its largest. */
#define PROFILE_LIST(X)                                                                            \
    X(uniform)                                                                                     \
    X(parabola) /* along each axis that has edges which hold the flow; their product */            \
    X(duct)     /* developed flow in the rectangle of the face (a series) */                       \
    X(power)    /* (distance from the edge / half width)^(1 / power), likewise; turbulent */       \
    X(table)    /* from a file */
enum profile {
#define X(name) PROFILE_##name,
    PROFILE_LIST(X)
#undef X
};

/* How something varies in time: a factor on its value. */
#define SIGNAL_LIST(X)                                                                             \
    X(constant)                                                                                    \
    X(ramp)  /* from 0 to 1 in `duration`, smooth at both ends: s^2 (3 - 2 s) */                   \
    X(sine)  /* mean + amplitude sin(2 pi (t / period + phase)) */                                 \
    X(table) /* linear between points in time, the first and last value beyond them */
enum signal_kind {
#define X(name) SIGNAL_##name,
    SIGNAL_LIST(X)
#undef X
};

/* Initial flows, and the keys of `initial` that each has; formulas in solver/initial.c. */
#define INITIAL_LIST(X)                                                                            \
    X(rest, 0)                                                                                     \
    X(uniform, INITIAL_HAS_velocity)                                                               \
    X(taylor_green_2d, INITIAL_HAS_amplitude | INITIAL_HAS_axis)                                   \
    X(taylor_green_3d, INITIAL_HAS_amplitude)                                                      \
    X(abc, INITIAL_HAS_amplitude)                                                                  \
    X(shear_layer,                                                                                 \
      INITIAL_HAS_amplitude | INITIAL_HAS_axis | INITIAL_HAS_thickness | INITIAL_HAS_perturbation) \
    X(channel, INITIAL_HAS_amplitude | INITIAL_HAS_perturbation)                                   \
    X(vortex, INITIAL_HAS_amplitude | INITIAL_HAS_axis | INITIAL_HAS_velocity |                    \
                  INITIAL_HAS_center | INITIAL_HAS_width)                                          \
    X(pulse, INITIAL_HAS_density | INITIAL_HAS_velocity | INITIAL_HAS_center | INITIAL_HAS_width)  \
    X(wave, INITIAL_HAS_density | INITIAL_HAS_axis | INITIAL_HAS_velocity | INITIAL_HAS_center |   \
                INITIAL_HAS_width)
enum initial_flow {
#define X(name, keys) INITIAL_##name,
    INITIAL_LIST(X)
#undef X
};
enum initial_keys {
    INITIAL_HAS_velocity = 1,
    INITIAL_HAS_amplitude = 2,
    INITIAL_HAS_axis = 4,
    INITIAL_HAS_thickness = 8,
    INITIAL_HAS_perturbation = 16,
    INITIAL_HAS_density = 32,
    INITIAL_HAS_center = 64,
    INITIAL_HAS_width = 128,
};

/* What a series is about. */
#define SERIES_KIND_LIST(X)                                                                        \
    X(flow)         /* sums over the whole flow, columns of SERIES_LIST */                         \
    X(probe)        /* velocity, density and pressure at a point */                                \
    X(line)         /* the same at points along a line */                                          \
    X(flow_rate)    /* through a plane of cells */                                                 \
    X(residual)     /* relative change of the velocity field between rows */                       \
    X(forces)       /* force and torque on a body */                                               \
    X(permeability) /* by Darcy's law along an axis */
enum series_kind {
#define X(name) SERIES_KIND_##name,
    SERIES_KIND_LIST(X)
#undef X
};

/* Columns of a flow series, in the order in which they are written after step and time. */
#define SERIES_LIST(X) X(mass) X(kinetic_energy) X(enstrophy) X(max_velocity) X(acceleration)
enum series_column {
#define X(name) SERIES_##name,
    SERIES_LIST(X)
#undef X
};

/* Arrays of a field snapshot. */
#define FIELD_LIST(X) X(velocity) X(density) X(pressure) X(vorticity) X(tags)
enum field_array {
#define X(name) FIELD_##name,
    FIELD_LIST(X)
#undef X
};

/* What an average is made of: means, and the Reynolds stresses <u_i' u_j'>. */
#define AVERAGE_LIST(X) X(velocity) X(density) X(stress)
enum average_array {
#define X(name) AVERAGE_##name,
    AVERAGE_LIST(X)
#undef X
};

/* Numbers whose relative change between two looks ends a run when it is small. */
#define STOP_LIST(X) X(residual) X(kinetic_energy) X(enstrophy) X(max_velocity) X(permeability)
enum stop_quantity {
#define X(name) STOP_##name,
    STOP_LIST(X)
#undef X
};

/* What an image shows; vorticity is its component along the image's axis. */
#define IMAGE_LIST(X)                                                                              \
    X(speed) X(velocity_x) X(velocity_y) X(velocity_z) X(density) X(pressure) X(vorticity)
enum image_quantity {
#define X(name) IMAGE_##name,
    IMAGE_LIST(X)
#undef X
};

/* Instruction sets of the CPU kernels: x86-64-v2, -v3, -v4; auto takes the best this CPU has. */
#define ISA_LIST(X) X(auto) X(v2) X(v3) X(v4)
enum isa { ISA_auto, ISA_v2, ISA_v3, ISA_v4 };

/* How halos get from one GPU to another; and which axes exchange them. */
#define TRANSPORT_LIST(X) X(auto) X(device) X(host)
enum transport { TRANSPORT_auto, TRANSPORT_device, TRANSPORT_host };
#define EXCHANGE_LIST(X) X(cut) X(all)
enum exchange { EXCHANGE_cut, EXCHANGE_all };

/* Whether populations are kept of those cells alone that need them (domain/sparse.h). */
#define SPARSE_LIST(X) X(auto) X(always) X(never)
enum sparse_use { SPARSE_auto, SPARSE_always, SPARSE_never };

/* One lattice unit of length, time and density in m, s and kg/m3; all 1 and given = false
 * when the case has no `units`. */
struct case_units {
    bool given;
    double dx, dt, density;
    double cell; /* edge of a cell in m, known without the others too; 0: not known */
};

struct case_fluid {
    double viscosity;                  /* kinematic, > 0 */
    double velocity, length, reynolds; /* references; 0 when not given */
};

/* Times are in steps. */
struct case_signal {
    enum signal_kind kind;
    double duration;                       /* ramp */
    double period, phase, mean, amplitude; /* sine */
    int points;                            /* table, at least 1, times ascending */
    double *times, *values;
    char *file;        /* that it is from */
    double unit;       /* steps in a unit of the file's times */
    uint64_t checksum; /* of the numbers in the file */
};

/* A mean velocity that is held by an acceleration along its axis, see solver/drive.h. */
struct case_flow_rate {
    bool given;
    double velocity; /* the mean over all fluid cells of its component along the axis */
    int axis;
    int64_t every; /* steps between looks */
    double time;   /* steps in which a deviation falls to 1/e */
};

/* What a face, or a part of one, does. */
struct case_face {
    enum face_kind kind;
    enum face_rule rule;       /* velocity, pressure */
    double velocity[3];        /* of a wall; of a velocity face where the profile is 1 */
    double density;            /* pressure, nonreflecting: rho, 1 + 3 p' */
    enum profile profile;      /* velocity */
    double power;              /* profile power: its exponent is 1 / power */
    char *file, *dataset;      /* profile table: CSV, or HDF5 and the dataset in it (else NULL) */
    uint64_t checksum;         /* of its numbers */
    int table_size[2];         /* cells of the face along its two axes */
    double *table;             /* [size 1][size 0] factors, or of 3 components each */
    int table_components;      /* 1 or 3 */
    double reflection;         /* nonreflecting: how strongly the density is held, 0 not at all */
    struct case_signal signal; /* scales the velocity, or the density's distance from 1 */
};

/* Shapes of parts of faces. */
#define PATCH_LIST(X) X(rectangle) X(disc) X(mask)
enum patch_shape {
#define X(name) PATCH_##name,
    PATCH_LIST(X)
#undef X
};

/* A part of a face with rules of its own; coordinates along the face's two axes, in order. A cell
 * belongs to it when its centre does. */
struct case_patch {
    char name[CASE_NAME];
    int face;
    enum patch_shape shape;
    double from[2], to[2];    /* rectangle */
    double center[2], radius; /* disc */
    char *file;               /* mask: a grey PNG, [height][width] of the face, white is inside */
    uint8_t *mask;            /* [cells of axis 2][cells of axis 1], 1 inside */
    uint64_t checksum;        /* of it */
    struct case_face opening;
};

/* What a flow has not is 0. */
struct case_initial {
    enum initial_flow flow;
    double velocity[3];  /* the uniform flow, of that which the rest is added to */
    double amplitude;    /* of the vortices or of the layer; default fluid.velocity */
    int axis;            /* along which nothing varies, or the wave travels; default z = 2 */
    double thickness;    /* shear_layer: kappa of tanh(kappa (y/L - 1/4)), default 80 */
    double perturbation; /* as a part of the amplitude: shear_layer's delta; default 0.05 */
    double density;      /* pulse, wave: largest deviation of the density from 1 */
    double center[3];    /* cell i spans [i, i + 1]; default: that of the box */
    double width;        /* b of exp(-r^2 / b^2) */
    bool level;          /* the density begins at 1, whatever the flow's pressure is */
    int64_t relax;       /* steps in which it settles before the first, see solver/initial.c */
};

struct case_series {
    char name[CASE_NAME];
    enum series_kind kind;
    int64_t every;
    unsigned of;           /* flow: bit s: column s of SERIES_LIST */
    double from[3], to[3]; /* positions: probe the first, line both; cell i spans [i, i + 1] */
    int points;            /* line: so many from one end to the other, >= 2 */
    int axis, at;          /* flow_rate: the plane of cells `at` along `axis` */
    int body;              /* forces: on which */
    double length_along;   /* permeability: of the sample in cells; 0: the whole box */
    double area, velocity, length; /* forces: references of coefficients; area 0: none are wanted */
    double about[3];               /* forces: point of the torque */
    bool about_given;              /* else the body's pivot */
};

/* Cells lo <= cell < hi of the whole grid. */
struct case_region {
    int lo[3], hi[3];
};

struct case_field {
    char name[CASE_NAME];
    int64_t every;
    unsigned of; /* bit a: array a of FIELD_LIST */
    struct case_region region;
    int stride; /* every stride-th cell of the region along each axis, from its first */
    enum precision precision;
};

struct case_average {
    char name[CASE_NAME]; /* none that a field has: both are files in fields/ */
    int64_t every;        /* steps between samples */
    int64_t from, to;     /* samples at the multiples of `every` with from <= step <= to */
    unsigned of;          /* bit a: array a of AVERAGE_LIST */
    struct case_region region;
    enum precision precision;
};

struct case_image {
    char name[CASE_NAME];
    int64_t every;
    enum image_quantity of;
    int axis, at;     /* the plane of cells `at` along `axis` */
    bool fixed_range; /* false: the slice's own minimum and maximum */
    double range[2];  /* in the unit of the quantity, lattice units */
};

/* A layer that draws the flow towards a state: strength ((depth) / (thickness))^power of the
 * difference in each step, the depth from the region's side away from `face`; see sponge.h. */
struct case_sponge {
    bool given;
    int face; /* 0 .. 5: the strength grows towards this side */
    double strength, power;
    double density, velocity[3]; /* that state */
};

/* A region with a method of its own; what it does not say is the whole case's. */
struct case_zone {
    char name[CASE_NAME];
    struct case_region cells;
    enum collision collision;
    double magic, viscosity;
    struct case_sponge sponge;
};

/* What a body is made of. Coordinates and lengths in lattice units; cell i spans [i, i + 1], so
 * that its centre is i + 1/2. A cell is the body's when its centre is. */
#define SHAPE_LIST(X)                                                                              \
    X(box)          /* between two corners */                                                      \
    X(sphere)       /* about a centre */                                                           \
    X(ellipsoid)    /* about a centre, half its axes along x, y and z */                           \
    X(cylinder)     /* about an axis through a centre, of finite length or without ends */         \
    X(capsule)      /* all that is not farther than a radius from the line between two points */   \
    X(torus)        /* a tube about a circle about an axis */                                      \
    X(half_space)   /* all behind a plane */                                                       \
    X(pack)         /* spheres that repeat in all of space */                                      \
    X(union)        /* of parts: what is in any of them */                                         \
    X(difference)   /* of parts: the first without the others */                                   \
    X(intersection) /* of parts: what is in all of them */                                         \
    X(complement)   /* of parts: what is in none of them */
enum shape_kind {
#define X(name) SHAPE_##name,
    SHAPE_LIST(X)
#undef X
};

/* Where the spheres of a pack are in its cubic cell: at its corners; and in its centre; and in the
 * centres of its faces. */
#define PACK_LIST(X) X(simple) X(body_centred) X(face_centred)
enum shape_pack {
#define X(name) PACK_##name,
    PACK_LIST(X)
#undef X
};

/* What is not of its kind is 0. */
struct case_shape {
    enum shape_kind kind;
    char name[CASE_NAME];  /* as a part of another */
    double from[3], to[3]; /* box: corners; capsule: ends of its line */
    double center[3];      /* others; half_space: a point of its plane; pack: centre of a sphere */
    double radius;         /* sphere, cylinder, capsule, torus (of the circle), pack */
    double radii[3];       /* ellipsoid */
    double tube;           /* torus: radius of the tube */
    double axis[3];        /* cylinder, torus: any length; half_space: points out of it */
    double length;         /* cylinder: INFINITY without ends; pack: edge of its cubic cell */
    enum shape_pack pack;
    int count;                        /* of parts */
    struct case_shape *parts;         /* of their own */
    double scale, rotate[3], move[3]; /* then scaled and rotated (degrees about x, then y, then z)
                                         about `about`, then moved */
    double about[3];
};

/* What there is to say of a mesh; volume and area in cells and their faces where it is placed. */
struct mesh_facts {
    size_t triangles; /* without the following two kinds, which are left out */
    size_t flat;      /* with two corners at one place */
    size_t twice;     /* the same corners in the same order as another one */
    size_t open;      /* edges of an odd number of triangles: there the mesh is not closed */
    size_t crowded;   /* edges of more than two */
    size_t turned;    /* edges of an even number that do not agree on which side is outside */
    double volume;    /* that it encloses, negative when it is inside out */
    double area;
    uint32_t parts; /* that have no vertex in common */
    uint32_t thin;  /* of them: less than two cells thick on the mean along one of the axes */
    uint32_t lost;  /* of them: no cell has its centre there */
    int64_t cells;  /* in all parts, on a grid without ends; 0: they were not counted, because it
                       is open or very large */
};

struct stl;
/* A triangle mesh from an STL file, placed. */
struct case_mesh {
    char *file;        /* absolute path; NULL: the body is no mesh */
    uint64_t checksum; /* of its triangles */
    struct stl *stl;   /* as in the file, see body/stl.h */
    bool open;         /* it need not be closed */
    double scale;      /* cells in a length of 1 in the file */
    double rotate[3];  /* degrees about x, then y, then z */
    double center[3];  /* of the box that then holds it */
    struct mesh_facts facts;
};

/* Where the wall of a body is. */
#define BODY_WALL_LIST(X)                                                                          \
    X(halfway)      /* half-way between the centres of fluid and solid cells */                    \
    X(interpolated) /* where the surface is; see surface.h */
enum body_wall {
#define X(name) BODY_WALL_##name,
    BODY_WALL_LIST(X)
#undef X
};

/* Neither what comes in through faces nor surfaces of bodies may be faster: it is no flow that the
 * method could represent. */
#define MACH_MAX 0.3

/* A solid in the flow. */
struct case_body {
    char name[CASE_NAME];
    struct case_shape shape; /* when it is neither mesh nor image */
    struct case_mesh mesh;
    struct voxel_image image; /* image.file NULL: the body is no image */
    enum body_wall wall;
    double velocity[3]; /* of its surface; the body itself stays where it is */
    double spin[3];     /* angular velocity of its surface, radians a step */
    bool pivot_given;
    double pivot[3]; /* a point on the axis of that; else the middle of the body */
};

struct flow_case {
    char name[CASE_NAME]; /* stem of the case file, also the default output folder */
    struct case_units units;
    int cells[3];
    struct case_fluid fluid;
    struct {
        enum collision collision;
        double magic; /* TRT's (tau+ - 1/2)(tau- - 1/2) */
        struct {
            double bulk, third, fourth; /* of operators that have them; others 1 */
        } rates;
        enum subgrid subgrid;
        double smagorinsky; /* its constant, a length in cells */
        double van_driest;  /* friction velocity of the walls that damp it; 0: none */
        enum precision storage, arithmetic;
    } solver;
    struct case_initial initial;
    struct case_face faces[6]; /* xmin xmax ymin ymax zmin zmax */
    int patch_count;
    struct case_patch *patches; /* the later one where they overlap */
    int zone_count;
    struct case_zone *zones; /* the later one where they overlap */
    int body_count;
    struct case_body *bodies; /* the later one where they overlap */
    double acceleration[3];
    struct case_signal force_signal; /* scales it */
    struct case_flow_rate flow_rate;
    struct {
        int64_t steps;
        int ranks[3]; /* cuts along x, y, z; 0 0 0: chosen by the program */
        int threads;  /* in each rank */
        enum isa isa;
        enum transport transport;
        enum exchange exchange;
        enum sparse_use sparse;
        double time_limit; /* seconds this job may take; 0: none */
        struct {
            bool given;
            enum stop_quantity of;
            double change; /* the run is done when the relative change between looks is below */
            int64_t every; /* steps between looks */
            int series;    /* permeability: the series that says along which axis */
        } stop;
    } run;
    struct {
        int64_t every;  /* steps between checkpoints, 0: not by steps */
        double seconds; /* wall time between them, 0: not by time; both 0: only when stopped */
        int keep;       /* the newest so many are kept, >= 1 */
    } checkpoint;
    struct {
        int64_t every; /* steps between looks for divergence; 0: never */
        double max_velocity;
        double hang; /* seconds without progress after which a rank gives up; 0: never */
    } check;
    int64_t log_every; /* steps between log lines; 0: none */
    int series_count, fields_count, averages_count, images_count;
    struct case_series *series;
    struct case_field *fields;
    struct case_average *averages;
    struct case_image *images;
    char *resolved; /* the case as YAML with every default filled in */
};

/* Numbers from a file, the last axis the fastest. */
struct case_numbers {
    int axes; /* at most 3 */
    size_t size[3];
    double *value;
};

/* How the files that a case names get in; whoever reads the case in parallel sees to it that all
 * ranks get the same. */
struct case_files {
    void *context;
    /* The bytes of a regular file, allocated, with a NUL behind them, and its absolute path: 0, or
     * an errno, the same on all ranks. */
    int (*read)(void *context, const char *path, size_t limit, char **bytes, size_t *length,
                char **absolute);
    /* What they hold: a dataset of an HDF5 file, a grey PNG of width size[0] and height size[1] as
     * [height][width], the lowest row first, 1 where it is white. False: the reason, in words that
     * follow the file's name. */
    bool (*hdf5)(const char *bytes, size_t length, const char *dataset, struct case_numbers *n,
                 char reason[CASE_REASON]);
    bool (*png)(const char *bytes, size_t length, const int size[2], uint8_t **mask,
                char reason[CASE_REASON]);
    /* A voxel image by its path: its size and type and v->file, the absolute path; then what is in
     * the part that is taken, see body/voxel_survey.h. STATUS_USAGE or STATUS_MACHINE, not
     * reported, the same on all ranks, come with a reason, likewise. */
    enum status (*voxel_header)(void *context, const char *path, struct voxel_image *v,
                                char reason[CASE_REASON]);
    enum status (*voxel_survey)(void *context, struct voxel_image *v, char reason[CASE_REASON]);
};

/* Names of the enumerators above, as the case file spells them. */
const char *precision_name(enum precision);
/* The one of that name; false: none. */
bool precision_find(const char *name, enum precision *p);
/* Bytes of a number, and its bits. */
size_t precision_bytes(enum precision);
int precision_bits(enum precision);
/* In what is computed, unless the case says so, with populations stored like that; and whether that
 * pair is offered. */
enum precision precision_computed(enum precision storage);
bool precisions_go(enum precision storage, enum precision arithmetic);
const char *initial_name(enum initial_flow);
const char *series_name(enum series_column);
const char *field_name(enum field_array);
const char *image_name(enum image_quantity);
const char *isa_name(enum isa);
const char *face_name(int face); /* "xmin" ... "zmax" */

/* The two axes in the plane of a face, ascending. */
void face_axes(int face, int axes[2]);

/* An opening in words, after its name: "velocity, at most 0.05 (Mach 0.0866), profile duct, ...".
 */
void face_text(const struct case_face *face, char *text, size_t size);

/* What there is to say of a mesh, after its body's name: "mesh of 912 triangles, parts 1, ...". */
void mesh_text(const struct case_mesh *mesh, char *text, size_t size);

/* Does the cell belong to the patch? i and j count along the two axes of its face. */
bool patch_holds(const struct case_patch *p, const int cells[3], int i, int j);

/* The largest magnitude of the factor that a signal is. */
double signal_peak(const struct case_signal *s);

/* The largest speed that an opening or a wall ever sets. */
double face_speed(const struct case_face *face);

/* Relaxation time tau = 3 viscosity + 1/2. */
double case_tau(const struct flow_case *c);

/* Read and resolve a case that names no files (files NULL, in case_read_files), or one that does.
 *   path: the file's name, for messages (and its stem for the run's name)
 *   text: its content, length bytes; every rank passes the same
 *   sets: `--set PATH=VALUE` arguments, set_count of them, applied in order
 * Returns STATUS_OK and fills *c, or reports one line (file:line:column, or the --set argument
 * quoted, what is wrong, what would be right) and returns STATUS_USAGE (without memory
 * STATUS_MACHINE) with *c zeroed. */
enum status case_read(const char *path, const char *text, long length, int set_count,
                      const char *const *sets, struct flow_case *c);
enum status case_read_files(const char *path, const char *text, long length, int set_count,
                            const char *const *sets, const struct case_files *files,
                            struct flow_case *c);

void case_destroy(struct flow_case *c);

/* May a run that began with the resolved case `before` go on with `now` (both texts of
 * struct flow_case.resolved)? Compares every key that the key table does not mark as one that may
 * change. STATUS_USAGE, reported with the key and both values, when one differs; `whose` names the
 * earlier run in the message ("checkpoints/step_0000001000.h5"). */
enum status case_same_flow(const char *before, const char *now, const char *whose);

/* What follows from a case, through say(): grid, units, dx, dt, tau, omega, Mach, Reynolds. */
void case_say_derived(const struct flow_case *c);

/* Advice through warn(): Mach above 0.15, operators where they are known to fail (BGK and TRT above
 * a Reynolds number of a cell, raw and central moments near tau = 1/2), faces that let no mass go
 * as it must, densities far from 1. */
void case_warn(const struct flow_case *c);

#endif
