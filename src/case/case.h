/* A case: what the user asked for, read from YAML by the key table, checked and resolved.
 *
 * Every value is in lattice units (cell = 1, step = 1, reference density = 1); `units` says what
 * one of them is in m, s and kg. Nothing here depends on rank count, backend or machine. */
#ifndef TAGFLOW_CASE_H
#define TAGFLOW_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/isa.h"
#include "base/precision.h"
#include "base/status.h"
#include "body/mesh_cap.h"
#include "body/solid.h"
#include "collision.h" /* enum collision, COLLISION_LIST */
#include "initial.h"   /* enum initial_flow, INITIAL_LIST */
#include "subgrid.h"   /* enum subgrid */

enum {
    CASE_NAME = BODY_NAME, /* bytes of a name */
    CASE_ENTRIES = 1024,   /* entries of output; the reader must accept the resolved text */
    CASE_ZONES = 32,       /* regions */
    CASE_REFINES = 64,     /* regions with finer cells */
    CASE_BODIES = 64,      /* each takes a few tags */
    CASE_REMEMBERED = 54,  /* averages and residuals, each an array in every checkpoint */
    CASE_ARRAYS = 72,      /* arrays in cells of a checkpoint */
    CASE_CAPS = 48,        /* each takes a tag */
    CASE_GATES = 64,       /* faces, patches and caps together */
    CASE_PATCHES = 48,     /* each takes a few tags */
    CASE_REASON = 192,     /* bytes of an error text about a file */
    CASE_LOOKS = 100000,   /* most values that run.stop keeps */
    CASE_SCALARS = 6,      /* scalars */
    CASE_UNITS = 32,       /* kinds of units, of which keys.h has fewer */
};

/* Largest value of a scalar: they are stored in fp32 at least. */
#define SCALAR_MAX 1e9

/* Properties of a kind of face. */
enum {
    FACE_HAS_none = 0,
    FACE_HAS_flow = 1,    /* fluid can pass it */
    FACE_HAS_density = 2, /* it prescribes a density */
    FACE_HAS_profile = 4, /* a velocity with a profile, and an enum face_rule */
    FACE_HAS_edge = 8,    /* the profile of a face beside it vanishes there */
};

/* X(name, FACE_HAS_: properties, boundary rule by links, on wet nodes): kinds of boundary condition
 * of a face of the box, or of a part of one. Periodic faces come in pairs. A wall that moves has
 * the rule `moving`. */
/* clang-format off */
#define FACE_LIST(X)                                                                               \
    X(periodic, FACE_HAS_none, none, none)                                                         \
    X(wall, FACE_HAS_edge, halfway, halfway) /* half-way bounce-back, at rest or moving */         \
    X(slip, FACE_HAS_none, slip, slip)       /* a plane of symmetry: free slip */                  \
    X(velocity, FACE_HAS_flow | FACE_HAS_profile | FACE_HAS_edge,                                  \
      velocity_links, velocity_regularised)                                                        \
    X(pressure, FACE_HAS_flow | FACE_HAS_density | FACE_HAS_profile, /* p = rho / 3 is given */    \
      pressure_links, pressure_regularised)                                                        \
    X(outflow, FACE_HAS_flow | FACE_HAS_density, outflow, outflow) /* convective outlet */         \
    X(nonreflecting, FACE_HAS_flow | FACE_HAS_density, nonreflecting, nonreflecting)
/* clang-format on */
#define X(name, ...) FACE_##name,
enum face_kind { FACE_LIST(X) };
#undef X

/* How a velocity or pressure face imposes its value. Wet nodes: the face lies on the centres of the
 * outermost fluid cells. Links: it lies half a cell beyond them. */
#define FACE_RULE_LIST(X)                                                                          \
    X(regularised) /* wet nodes, all populations from density, velocity and stress */              \
    X(links)       /* velocity: moving bounce-back; pressure: anti-bounce-back */
#define X(name) FACE_RULE_##name,
enum face_rule { FACE_RULE_LIST(X) };
#undef X

/* Properties of a profile. */
enum {
    PROFILE_HAS_edges = 1,   /* 0 at edges beside walls, 1 at its largest; it spans the open part */
    PROFILE_HAS_numbers = 2, /* from a file: of any sign */
    PROFILE_HAS_height = 4,  /* varies along one axis, by the position: struct case_heights */
    PROFILE_HAS_radius = 8,  /* by the distance from a point: struct case_heights */
};

/* Profile of a velocity over its face: a factor. */
/* clang-format off */
#define PROFILE_LIST(X)                                                                            \
    X(uniform, 0)                                                                                  \
    X(parabola, PROFILE_HAS_edges) /* product of parabolas, along each axis with an edge */        \
    X(duct, PROFILE_HAS_edges)     /* developed flow in the rectangle of the face (a series) */    \
    X(power, PROFILE_HAS_edges)    /* (distance from the edge / half width)^(1 / power) */         \
    X(table, PROFILE_HAS_numbers)  /* from a file, for each cell */                                \
    X(height, PROFILE_HAS_numbers | PROFILE_HAS_height) /* from a file, by the height */           \
    X(radius, PROFILE_HAS_numbers | PROFILE_HAS_radius) /* from a file, by the distance */         \
    X(log, PROFILE_HAS_height)     /* logarithmic law of the height over rough ground */           \
    X(shear, PROFILE_HAS_height)   /* power law of the height */
/* clang-format on */
#define X(name, ...) PROFILE_##name,
enum profile { PROFILE_LIST(X) };
#undef X

/* Time functions: a factor on a value. */
#define SIGNAL_LIST(X)                                                                             \
    X(constant)                                                                                    \
    X(ramp)  /* from 0 to 1 in `duration`, smooth at both ends: s^2 (3 - 2 s) */                   \
    X(sine)  /* mean + amplitude sin(2 pi (t / period + phase)) */                                 \
    X(table) /* linear between points in time, the first and last value beyond them */             \
    X(steer) /* set from step to step by the program that runs the case (run/steer.h) */
#define X(name) SIGNAL_##name,
enum signal_kind { SIGNAL_LIST(X) };
#undef X

/* Kinds of scalars. heat: its unit is kelvin, and conductivity, capacity and fluxes of heat have
 * units of energy; species: a concentration without a unit. */
#define SCALAR_KIND_LIST(X) X(heat) X(species)
#define X(name) SCALAR_KIND_##name,
enum scalar_kind { SCALAR_KIND_LIST(X) };
#undef X

/* Conditions of a scalar at a face or body: name, the member of struct case_scalar_wall with a
 * value that it gives (`none`: no value), does it give a flux. */
#define SCALAR_WALL_LIST(X)                                                                        \
    X(adiabatic, none, false)  /* walls, planes of symmetry: nothing passes */                     \
    X(value, value, false)     /* walls and openings: the value is given */                        \
    X(flux, none, true)        /* walls: the flux into the fluid is given */                       \
    X(transfer, outside, true) /* walls: its flux is coefficient (outside - value) */              \
    X(outflow, none, false)    /* openings: zero normal gradient */                                \
    X(conduct, none, false)    /* bodies: the body holds the scalar, too */                        \
    X(inherited, none, false)  /* labels of images: as the body */
#define X(name, ...) SCALAR_WALL_##name,
enum scalar_wall { SCALAR_WALL_LIST(X) };
#undef X

/* Columns of a flow series, in the order in which they are written after step and time. */
#define SERIES_LIST(X) X(mass) X(kinetic_energy) X(enstrophy) X(max_velocity) X(acceleration)
#define X(name) SERIES_##name,
enum series_column { SERIES_LIST(X) };
#undef X

/* Kinds of series: name, columns after step and time. columns.c says which of them a series has,
 * and run/series.h how they are measured. */
/* clang-format off */
#define SERIES_NAME(name) #name,
#define SERIES_POINT "velocity_x", "velocity_y", "velocity_z", "density", "pressure"
#define SERIES_KIND_LIST(X)                                                                        \
    /* sums over the whole flow */                                                                 \
    X(flow, SERIES_LIST(SERIES_NAME))                                                              \
    /* velocity, density and pressure at a point */                                                \
    X(probe, SERIES_POINT)                                                                         \
    /* the same at points along a line */                                                          \
    X(line, "distance", "x", "y", "z", SERIES_POINT)                                               \
    /* through a plane of cells */                                                                 \
    X(flow_rate, "volume_flow", "mass_flow", "mean_pressure", "area")                              \
    /* relative change of the velocity field between rows */                                       \
    X(residual, "residual")                                                                        \
    /* between two planes of cells */                                                              \
    X(pressure_drop, "mean_pressure", "second_pressure", "pressure_drop")                          \
    /* out of the box through an opening */                                                        \
    X(outlet, "volume_flow", "mass_flow", "mean_pressure", "area", "share")                        \
    /* force and torque on a body */                                                               \
    X(forces, "force_x", "force_y", "force_z", "pressure_x", "pressure_y", "pressure_z",           \
      "torque_x", "torque_y", "torque_z", "c_x", "c_y", "c_z", "c_torque_x", "c_torque_y",         \
      "c_torque_z")                                                                                \
    /* by Darcy's law along an axis */                                                             \
    X(permeability, "superficial_velocity", "gradient", "permeability", "permeability_m2",         \
      "permeability_millidarcy")                                                                   \
    /* pressure and shear stress on a ring of points of a body's surface */                        \
    X(surface, "angle", "x", "y", "z", "pressure", "shear_x", "shear_y", "shear_z", "c_p")         \
    /* mean, extremes, variance and sum of a scalar */                                             \
    X(scalar, "mean", "minimum", "maximum", "variance", "sum", "solid_mean", "solid_minimum",      \
      "solid_maximum", "solid_variance")                                                           \
    /* flux of a scalar through a face, a patch or the surface of a body */                        \
    X(heat, "heat", "flux", "nusselt")                                                             \
    /* of a scalar with a mean gradient */                                                         \
    X(dispersion, "mean", "velocity_x", "velocity_y", "velocity_z", "dispersion", "ratio",         \
      "effective", "ratio_x", "ratio_y", "ratio_z", "peclet")                                      \
    /* means of a scalar over a plane of cells */                                                  \
    X(mixing_cup, "mixing_cup", "mean", "volume_flow", "area")
/* clang-format on */
#define X(name, ...) SERIES_KIND_##name,
enum series_kind { SERIES_KIND_LIST(X) };
#undef X

/* Arrays of a field snapshot: name, components. */
#define FIELD_LIST(X) X(velocity, 3) X(density, 1) X(pressure, 1) X(vorticity, 3) X(tags, 1)
#define X(name, ...) FIELD_##name,
enum field_array { FIELD_LIST(X) };
#undef X

/* Arrays on the triangles of a mesh: stresses of the fluid. */
#define SURFACE_LIST(X) X(pressure) X(shear_stress)
#define X(name) SURFACE_##name,
enum surface_array { SURFACE_LIST(X) };
#undef X

/* Arrays of an average: means, and the Reynolds stresses <u_i' u_j'>. */
#define AVERAGE_LIST(X) X(velocity) X(density) X(stress)
#define X(name) AVERAGE_##name,
enum average_array { AVERAGE_LIST(X) };
#undef X

/* Quantities for run.stop: the run ends when the relative change of one over a time is small.
 * STOP_COLUMN: a column of a series. */
#define STOP_LIST(X) X(residual) X(kinetic_energy) X(enstrophy) X(max_velocity) X(permeability)
enum stop_quantity {
#define X(name) STOP_##name,
    STOP_LIST(X)
#undef X
        STOP_COLUMN
};

/* X(name, unit): what an image shows; vorticity is its component along the image's axis. */
#define IMAGE_LIST(X)                                                                              \
    X(speed, VELOCITY)                                                                             \
    X(velocity_x, VELOCITY)                                                                        \
    X(velocity_y, VELOCITY)                                                                        \
    X(velocity_z, VELOCITY)                                                                        \
    X(density, DENSITY)                                                                            \
    X(pressure, PRESSURE)                                                                          \
    X(vorticity, RATE)
enum image_quantity {
#define X(name, ...) IMAGE_##name,
    IMAGE_LIST(X)
#undef X
        IMAGE_scalar /* struct case_image.scalar */
};

/* Units of temperatures in images. */
#define TEMPERATURE_UNIT_LIST(X) X(K) X(degC)
enum temperature_unit {
#define X(name) TEMPERATURE_UNIT_##name,
    TEMPERATURE_UNIT_LIST(X)
#undef X
};

/* How halos get from one GPU to another; and which axes exchange them besides those that are cut: a
 * bit for each word. */
#define TRANSPORT_LIST(X) X(auto) X(ipc) X(device) X(host)
enum transport { TRANSPORT_auto, TRANSPORT_ipc, TRANSPORT_device, TRANSPORT_host };
#define EXCHANGE_LIST(X) X(x) X(y) X(z) X(cut) X(all)
enum exchange {
    EXCHANGE_x = 1,
    EXCHANGE_y = 2,
    EXCHANGE_z = 4,
    EXCHANGE_cut = 8,
    EXCHANGE_all = 16,
    EXCHANGE_others = EXCHANGE_x | EXCHANGE_y | EXCHANGE_z | EXCHANGE_all
};

/* Whether memory holds populations only of the cells that need them (domain/sparse.h). */
#define SPARSE_LIST(X) X(auto) X(always) X(never)
enum sparse_use { SPARSE_auto, SPARSE_always, SPARSE_never };
/* How rows of cells lie in the memory of a GPU, see struct lifted_rows. */
#define ROW_ORDER_LIST(X) X(plain) X(lifted)
enum row_order { ROW_ORDER_plain, ROW_ORDER_lifted };

/* Laws of the viscosity, beside LAW_constant. */
#define LAW_LIST(X) X(power) X(carreau) X(casson) X(herschel_bulkley)
enum law {
    LAW_constant,
#define X(name) LAW_##name,
    LAW_LIST(X)
#undef X
};

/* One lattice unit of length, time and density in m, s and kg/m3; all 1 and given = false
 * when the case has no `units`. */
struct case_units {
    bool given;
    bool density_given; /* not the default: masses may have units */
    double dx, dt, density;
    double cell; /* edge of a cell in m, may be known without dt and density; 0: not known */
    double heat_capacity; /* of the fluid, J/(kg K); 0: not given */
    double lattice;       /* units.velocity.lattice, if that gives dt; else 0 */
};

/* A viscosity that depends on the shear rate; see case_law.h. Viscosities and stresses are
 * kinematic. */
struct case_law {
    enum law kind;
    double index, shear_rate;          /* power, herschel_bulkley */
    double infinite, time, transition; /* carreau; and the index */
    double yield;                      /* casson, herschel_bulkley */
    double least, most;                /* limits of the viscosity */
};

struct case_fluid {
    double viscosity;                  /* kinematic, > 0 */
    double velocity, length, reynolds; /* references; 0 when not given */
    bool by_reynolds;                  /* the case gives reynolds, not the viscosity */
    struct case_law law;
};

/* Times are in steps. */
struct case_signal {
    enum signal_kind kind;
    double duration;                       /* ramp */
    double period, phase, mean, amplitude; /* sine */
    int points;                            /* table, at least 1, times ascending */
    double *times, *values;
    char *file;                /* source of the table */
    double unit;               /* steps per unit of the file's times */
    bool repeat;               /* table: again and again, from its first time to its last */
    uint64_t checksum;         /* of the numbers in the file */
    char *name;                /* steer: functions of one name are one */
    double first, least, most; /* steer: factor at the start, and its range */
    double *factor;            /* steer: the present factor, which is no part of the case */
};

/* A prescribed mean velocity, held by an acceleration along the same axis; see solver/drive.h. */
struct case_flow_rate {
    bool given;
    double velocity; /* mean over all fluid cells of the component along the axis */
    int axis;
    int64_t every; /* steps between measurements */
    double time;   /* steps in which a deviation falls to 1/e */
};

/* A factor, or the value of a scalar, by the height over a position along an axis, or by the
 * distance from a point of the face. Unused members are 0. */
struct case_heights {
    int axis;           /* height, log, shear: along which height is measured */
    double from;        /* position of height 0; cell i spans [i, i + 1] */
    double roughness;   /* log: length, positive */
    double reference;   /* log, shear: the height of factor 1, positive */
    double exponent;    /* shear */
    double center[2];   /* radius: the point, along the face's axes */
    char *file;         /* height, radius: CSV, a height or distance and a number in each line */
    uint64_t checksum;  /* of its numbers */
    double unit;        /* of its heights, cells */
    int points;         /* of its lines, >= 2 */
    double *at, *value; /* [points] heights in cells, ascending, and factors or values */
    double low, high;   /* of factors at the opening's cells, of values all over the opening */
};

/* Condition of one scalar at a face, patch or body. Values are relative to the scalar's reference.
 * In lattice units the fluid's heat capacity (per volume) is 1, and so is a kelvin: a conductivity
 * is a diffusivity, a flux of heat K cells a step. Unused members are 0. */
struct case_scalar_wall {
    enum scalar_wall kind;
    double value;                /* value, if it is uniform */
    enum profile profile;        /* value over a face or patch: PROFILE_uniform, _height, _radius */
    struct case_heights heights; /* not uniform: values */
    enum temperature_unit unit;  /* not uniform, heat: of the numbers in the file */
    double flux;                 /* flux */
    double coefficient, outside; /* transfer */
    double conductivity;         /* conduct */
    double capacity;             /* conduct: per volume, relative to the fluid's */
    double source;               /* conduct: per volume and step */
    struct case_signal signal;   /* factor on value, flux, or outside */
};

/* The least and the largest value that it gives, relative to the reference, without its time
 * function; false: none. */
bool scalar_wall_values(const struct case_scalar_wall *w, double range[2]);

/* The value given at a position of a face, which is along the face's axes in cells. Only for kind
 * value. */
double scalar_wall_at(const struct case_scalar_wall *w, int face, const double at[2]);

bool scalar_wall_flux(enum scalar_wall kind);

/* A label of an image that has other conditions than the body. */
struct case_label {
    char name[CASE_NAME]; /* the number as text */
    int label;            /* image.apart has it at the same place */
    struct case_scalar_wall scalar[CASE_SCALARS];
};

/* Kinds of caps, and the profile of the velocity over one. */
#define CAP_LIST(X)                                                                                \
    X(velocity) /* the flow rate through it is given */                                            \
    X(pressure)
#define X(name) CAP_##name,
enum cap_kind { CAP_LIST(X) };
#undef X
#define CAP_PROFILE_LIST(X)                                                                        \
    X(parabola) /* of the distance from its outline */                                             \
    X(flat)
#define X(name) CAP_PROFILE_##name,
enum cap_profile { CAP_PROFILE_LIST(X) };
#undef X

/* A flat part of a body's mesh through which fluid enters or leaves, see docs/bodies.md. */
struct case_cap {
    char name[CASE_NAME];
    char *place; /* position in the case file, for fail_case(); or NULL */
    struct mesh_cap at;
    enum cap_kind kind;
    double flow_rate;          /* velocity: into the fluid */
    enum cap_profile profile;  /* velocity */
    double density;            /* pressure: rho, 1 + 3 p */
    struct case_signal signal; /* scales the velocity and the density's distance from 1 */
    struct case_scalar_wall scalar[CASE_SCALARS];
};

/* Condition of a scalar at a part of a body: 0: the body without its labels, k: labels[k - 1]. */
const struct case_scalar_wall *case_body_wall(const struct case_body *body, int part, int scalar);

/* Does any part conduct the scalar? */
bool case_body_conducts(const struct case_body *body, int scalar);

/* The boundary condition of a face, or of a part of one. */
struct case_face {
    char *place; /* position in the case file, for fail_case(); or NULL */
    enum face_kind kind;
    enum face_rule rule;       /* velocity, pressure */
    double velocity[3];        /* of the wall; of the flow at the face where the profile is 1 */
    double density;            /* pressure, outlets: rho, 1 + 3 p' */
    enum profile profile;      /* velocity */
    double power;              /* profile power: its exponent is 1 / power */
    char *file, *dataset;      /* profile table: CSV, or HDF5 and the dataset in it (else NULL) */
    uint64_t checksum;         /* of the table's numbers */
    int table_size[2];         /* cells of the face along its two axes */
    double *table;             /* [size 1][size 0][table_components] factors */
    int table_components;      /* 1 or 3 */
    double reflection;         /* outlets: how strongly the density is held, 0 not at all */
    bool velocity_given;       /* nonreflecting */
    double share;              /* of the flow out of the box, see solver/shares.h; 0: free */
    double share_time;         /* steps in which a deviation falls to 1/e; 0: chosen */
    struct case_signal signal; /* scales the velocity and the density's distance from 1 */
    struct case_scalar_wall scalar[CASE_SCALARS];
    struct case_heights heights; /* profiles by height or radius */
};

/* Shapes of parts of faces. */
#define PATCH_LIST(X) X(rectangle) X(disc) X(mask)
#define X(name) PATCH_##name,
enum patch_shape { PATCH_LIST(X) };
#undef X

/* A part of a face with its own boundary condition. Coordinates are along the face's two axes, in
 * ascending order. A cell belongs to the patch if its centre does. */
struct case_patch {
    char name[CASE_NAME];
    int face;
    enum patch_shape shape;
    double from[2], to[2];    /* rectangle */
    double center[2], radius; /* disc */
    char *file;               /* mask: a grey PNG, [height][width] of the face, white is inside */
    uint8_t *mask;            /* [cells of axis 2][cells of axis 1], 1 inside */
    uint64_t checksum;        /* of the mask */
    struct case_face opening;
};

/* A file with an earlier result, see run/earlier.h. */
struct case_earlier {
    char *file;        /* absolute path; NULL: none */
    uint64_t checksum; /* of the file's content */
    int cells[3];      /* of its grid */
    int stride;        /* cells of its grid from a value to the next; 0: not known */
    int scalar_count;
    struct { /* scalars whose values it holds */
        char name[CASE_NAME];
        int kind; /* enum scalar_kind */
    } scalar[CASE_SCALARS];
};

/* Unused members are 0. */
struct case_initial {
    struct case_earlier from; /* in place of a flow by a formula */
    enum initial_flow flow;
    int inlet;           /* inlet: the face */
    double velocity[3];  /* uniform: the flow; vortex, pulse, wave: the flow that carries them */
    double amplitude;    /* of the vortices or of the layer; default fluid.velocity */
    int axis;            /* along which nothing varies, or the wave travels; default z = 2 */
    double thickness;    /* shear_layer: kappa of tanh(kappa (y/L - 1/4)), default 80 */
    double perturbation; /* divided by the amplitude (delta of shear_layer); default 0.05 */
    double density;      /* pulse, wave: largest deviation of the density from 1 */
    double center[3];    /* cell i spans [i, i + 1]; default: the centre of the box */
    double width;        /* b of exp(-r^2 / b^2) */
    bool level;          /* the density starts at 1, not at the flow's pressure */
    int64_t relax;       /* steps that find the pressure before step 0, see solver/initial.c */
};

/* A part of the box with its own initial value of a scalar. */
struct case_scalar_part {
    char name[CASE_NAME];
    struct case_shape shape;
    double value;
};

/* A scalar at step 0: the sum of a constant, a linear part and a wave; then the parts, of which the
 * later one counts where they overlap. Values are relative to the reference. Unused members are 0.
 */
struct case_scalar_initial {
    bool given;   /* in the case file */
    bool earlier; /* values of initial.from instead */
    double value;
    bool linear;                      /* from ends[0] at `from` to ends[1] at `to`, constant */
    double from[3], to[3], ends[2];   /* beyond; in place of `value` */
    double amplitude, wave[3], phase; /* amplitude sin(2 pi (sum wave x / n + phase)), n the
                                       * cells of the box along each axis */
    int part_count;
    struct case_scalar_part *parts;
};

/* Are values kept between those that the case gives? auto: where a cell's Peclet number is large.
 */
#define LIMITER_LIST(X) X(auto) X(on) X(none)
enum limiter { LIMITER_auto, LIMITER_on, LIMITER_none };

/* A scalar carried by the flow: dT/dt + div(u T) = diffusivity lap T + source - decay T. */
struct case_scalar {
    char name[CASE_NAME];
    enum scalar_kind kind;
    double diffusivity;       /* > 0 */
    double reference;         /* in the unit of the case file: kelvin for heat */
    double expansion;         /* per unit of the scalar: acceleration -expansion T gravity; 0: the
                               * flow does not feel it */
    double turbulent_prandtl; /* eddy viscosity over eddy diffusivity */
    double source, decay;     /* in the fluid */
    double gradient[3];       /* mean gradient; 0: the box is not a cell of a periodic medium */
    double magic;             /* 0: auto, see scalar_magic() */
    enum limiter limiter;     /* see scalar_limited() */
    int made_from;            /* species: index of the scalar that turns into this one, or -1 */
    double rate;              /* at which it does, a step */
    struct case_scalar_initial initial;
};

/* Numbers of caps among openings. */
enum { SERIES_CAP = 6 + CASE_PATCHES };

struct case_series {
    char name[CASE_NAME];
    enum series_kind kind;
    int64_t every;
    unsigned of;           /* flow: bit s: column s of SERIES_LIST */
    double from[3], to[3]; /* line: its ends; probe: the first; cell i spans [i, i + 1] */
    int points;            /* line: number, both ends included, >= 2; surface: on the ring */
    int axis, at;          /* flow_rate, mixing_cup, pressure_drop: plane of cells `at`; surface:
                            * normal of the ring */
    int second;            /* pressure_drop: the other plane */
    bool center_given;     /* surface: the ring's centre is `from`; else the middle of the body */
    int body;              /* forces, surface, heat: index of the body */
    int scalar;            /* scalar, heat, dispersion, mixing_cup: index of the scalar */
    int opening;           /* heat, outlet: number of the face or patch, see case_opening();
                            * SERIES_CAP + k: cap k; -1: a body */
    double difference;     /* heat: of the Nusselt number, heat length / (area diffusivity
                            * difference); 0: without this column */
    double area, velocity; /* forces: references of coefficients; area 0: no coefficients */
    double
        length; /* forces, heat, dispersion: reference; permeability: of the sample; 0: the box's */
    int density_face;        /* forces: face whose density coefficients take; -1: reference */
    double about[3];         /* forces: point of the torque */
    bool about_given;        /* else the body's pivot */
    bool statistics;         /* compute statistics of the columns */
    int64_t statistics_from; /* first step that counts */
};

/* The criterion that ends a run before its last step, see run/stop.h. */
struct case_stop {
    bool given;
    enum stop_quantity of;
    double change;            /* the run is done when the relative change is below this */
    int64_t every;            /* steps between values; column: steps between the series' rows */
    int64_t over;             /* steps over which the change is taken, at least `every` */
    int series;               /* permeability, column: the series */
    int column;               /* index of the column in the series; 0: step */
    char name[2 * CASE_NAME]; /* as in the case file: "enstrophy", "drag.c_x" */
};

/* Cells lo <= cell < hi of the whole grid. */
struct case_region {
    int lo[3], hi[3];
};

/* Files of all levels. */
enum { CASE_LEVELS_all = -1 };

struct case_field {
    char name[CASE_NAME];
    int64_t every;
    unsigned of;      /* bit a: array a of FIELD_LIST */
    unsigned scalars; /* bit k: scalar k */
    struct case_region region;
    int stride; /* every stride-th cell of the region along each axis, from its first */
    int levels; /* CASE_LEVELS_all, or the level whose cells the file has */
    enum precision precision;
};

struct case_surface {
    char name[CASE_NAME]; /* differs from the names of fields and averages */
    int64_t every;
    int body;    /* a mesh */
    unsigned of; /* bit a: array a of SURFACE_LIST */
    enum precision precision;
};

struct case_average {
    char name[CASE_NAME]; /* differs from the names of fields: both are files in fields/ */
    int64_t every;        /* steps between samples */
    int64_t from, to;     /* samples at the multiples of `every` with from <= step <= to */
    unsigned of;          /* bit a: array a of AVERAGE_LIST */
    unsigned scalars;     /* bit k: mean and variance of scalar k, and with the velocity its flux
                           * <u_i' T'> */
    struct case_region region;
    int levels; /* as in struct case_field */
    enum precision precision;
};

struct case_image {
    char name[CASE_NAME];
    int64_t every;
    enum image_quantity of;
    int scalar;       /* IMAGE_scalar: index of the scalar */
    int axis, at;     /* the plane of cells `at` along `axis` */
    bool fixed_range; /* false: the slice's own minimum and maximum */
    double range[2];  /* in the unit of the quantity, lattice units; of a scalar relative to its
                       * reference */
    bool heat;        /* `of` is a temperature, which has */
    enum temperature_unit unit;
};

/* A layer that draws the flow towards a given state: each step removes strength (depth /
 * thickness)^power of the difference. The depth counts from the region's side opposite to `face`;
 * see sponge.h. */
struct case_sponge {
    bool given;
    int face; /* 0 .. 5: the strength grows towards this side */
    double strength, power;
    double density, velocity[3]; /* the given state */
};

/* Resistance of a porous medium, along each axis, or of a screen across one; see tags/resist.h. */
struct case_resist {
    bool medium, screen;
    double permeability[3]; /* cells^2; 0: none */
    double loss[3];         /* per cell: of dynamic pressures */
    int axis;
    double screen_loss;
};

/* A region with its own numerical method; omitted keys have the values of the whole case. */
struct case_zone {
    char name[CASE_NAME];
    struct case_region cells;
    enum collision collision;
    double magic, viscosity;
    struct case_sponge sponge;
    struct case_resist resist;
};

/* Kinds of regions of finer cells. */
#define REFINE_LIST(X)                                                                             \
    X(box)                                                                                         \
    X(shape)                                                                                       \
    X(around) /* a body and its neighbourhood */
#define X(name) REFINE_##name,
enum refine_of { REFINE_LIST(X) };
#undef X

/* A region with finer cells. Lengths are in cells of level 0. A cell gets the finest level of the
 * regions that hold its centre. */
struct case_refine {
    char name[CASE_NAME];
    char *place; /* position in the case file, for fail_case(); or NULL */
    int level;   /* its cells are 2^level times finer; 1 to 8 */
    enum refine_of of;
    double from[3], to[3];   /* box */
    struct case_shape shape; /* shape */
    int body;                /* around: index of the body */
    /* around: how far from the body the region reaches: on all sides, downstream, upstream. */
    double distance, behind, before;
    double stream[3];    /* around: direction of the mean flow, length 1 */
    double cells_across; /* around: wanted cells across the body, gives the level; 0: not given */
    double y_plus; /* around: wanted wall distance of the first cell centre, gives the level; 0 */
};

/* Numbers without a unit that may be slips in a case where other numbers have one. */
struct case_unitless {
    struct case_bare {
        char key[128]; /* the first: "faces.xmin.velocity.value"; of a body before others */
        double value;
        int count;
        char others[200]; /* the others' keys, as many as there is room for */
        int listed;
        bool body;      /* the first is of a body */
        bool sure;      /* a slip also where no other number has a unit */
    } bare[CASE_UNITS]; /* by enum key_unit */
    int others;         /* numbers with a unit */
    int temperatures;   /* without a unit */
};

/* Largest Mach number of inflow and of body surfaces: the method cannot represent faster flows. */
#define MACH_MAX 0.3

/* How the velocity that a force or pressures drive is estimated. */
#define DRIVEN_LIST(X)                                                                             \
    X(friction, "about", "by Poiseuille flow in the widest gap")                                   \
    X(bodies, "at most about",                                                                     \
      "by Poiseuille flow in the widest gap, 1 to 5 times the largest velocity between bodies in " \
      "order, up to 7 times in a bed without order")                                               \
    X(detour, "at most about",                                                                     \
      "by Poiseuille flow in the widest gap along the box, and the way through it is longer")      \
    X(pressure, "at most about", "by the pressure without friction, sqrt(2 dp / rho)")             \
    X(narrow, "at most about",                                                                     \
      "by the loss behind the narrowest section, sqrt(2 dp / rho) / (1 - its free share)")         \
    X(medium, "at most about", "by the regions with a resistance that the flow must cross")        \
    X(frame, "about", "by the rotation of the frame")                                              \
    X(swing, "about", "by the force's time function")
#define X(name, how, by) DRIVEN_##name,
enum driven_by { DRIVEN_LIST(X) };
#undef X

/* Flow driven by a force or a difference of pressures in a case that names no velocity. All 0: the
 * case names one, or nothing drives the flow. */
struct case_driven {
    double velocity; /* an estimate */
    enum driven_by by;
    bool free;           /* no wall holds the flow back: there is no estimate */
    double acceleration; /* free: a step */
};

struct flow_case {
    char name[CASE_NAME]; /* stem of the case file, also the default output folder */
    struct case_units units;
    struct case_unitless unitless;
    int cells[3];
    struct case_fluid fluid;
    struct {
        enum collision collision;
        bool chosen;  /* collision: auto, the program chose it, and perhaps a subgrid model */
        double magic; /* TRT's (tau+ - 1/2)(tau- - 1/2) */
        bool magic_given;
        struct {
            double bulk, third, fourth; /* 1 for operators without them */
        } rates;
        enum subgrid subgrid;
        bool subgrid_given;
        double smagorinsky; /* the model's constant, a length in cells */
        double van_driest;  /* friction velocity of Van Driest damping at walls; 0: no damping */
        enum precision storage, arithmetic;
    } solver;
    struct case_initial initial;
    struct case_face faces[6]; /* xmin xmax ymin ymax zmin zmax */
    int patch_count;
    struct case_patch *patches; /* the later one counts where they overlap */
    int zone_count;
    struct case_zone *zones; /* the later one counts where they overlap */
    int body_count;
    struct case_body *bodies; /* the later one counts where they overlap */
    int refine_count;
    struct case_refine *refines; /* regions with finer cells */
    int levels;                  /* 1 + the finest level of them; 1 without */
    int scalar_count;
    struct case_scalar *scalars; /* by name, but species behind those that they are made from */
    double gravity[3];           /* of buoyancy alone */
    double acceleration[3];
    struct case_signal force_signal; /* scales the acceleration */
    double rotation[3];              /* angular velocity of the frame, radians a step */
    struct case_flow_rate flow_rate;
    struct case_driven driven;
    struct {
        int64_t steps;
        int ranks[3]; /* ranks along x, y, z; 0 0 0: chosen by the program */
        int threads;  /* in each rank; 0: chosen by the program, see run/threads.h */
        enum isa isa;
        enum transport transport;
        unsigned exchange; /* bits of enum exchange */
        enum sparse_use sparse;
        enum row_order rows;
        int sweep;         /* most steps in one sweep over memory; 0: as many as pay */
        double time_limit; /* seconds this job may take; 0: none */
        struct case_stop stop;
    } run;
    struct {
        int64_t every;  /* steps between checkpoints, 0: not by steps */
        double seconds; /* wall time between them, 0: not by time; both 0: only when stopped */
        int keep;       /* number of newest checkpoints kept, >= 1 */
    } checkpoint;
    struct {
        int64_t every; /* steps between divergence checks; 0: never */
        double max_velocity;
        double hang; /* seconds without progress after which a rank gives up; 0: never */
    } check;
    struct {
        int64_t every;  /* steps between lines; 0: none by steps */
        double seconds; /* wall time after which a line comes anyway, see run/run.c; 0: none */
    } log;
    int series_count, fields_count, averages_count, surfaces_count, images_count;
    struct case_series *series;
    struct case_field *fields;
    struct case_average *averages;
    struct case_surface *surfaces;
    struct case_image *images;
    char *resolved; /* the case as YAML with every default filled in */
};

/* Numbers from a file, the last axis the fastest. */
struct case_numbers {
    int axes; /* at most 3 */
    size_t size[3];
    double *value;
};

/* Callbacks that read the files named by a case. In parallel they give all ranks the same
 * result. */
struct case_files {
    void *context;
    /* Read a regular file: its bytes, allocated, with a NUL behind them, and its absolute path.
     * Returns 0 or an errno, the same on all ranks. */
    int (*read)(void *context, const char *path, size_t limit, char **bytes, size_t *length,
                char **absolute);
    /* Read a dataset of an HDF5 file. Errors (STATUS_USAGE, STATUS_MACHINE or STATUS_STOPPED, the
     * same on all ranks) are not reported; `reason` then holds words that follow the file's
     * name. */
    enum status (*hdf5)(void *context, const char *path, const char *dataset,
                        struct case_numbers *n, char reason[CASE_REASON]);
    /* Decode a grey PNG of width size[0] and height size[1] into [height][width], lowest line
     * first, 1 where it is white. False: `reason` is set likewise; empty: there is no memory. */
    bool (*png)(const char *bytes, size_t length, const int size[2], uint8_t **mask,
                char reason[CASE_REASON]);
    /* voxel_header: size and type of the voxel image at `path`, and v->file, its absolute path.
     * voxel_survey: the content of the cropped part, see body/voxel_survey.h. Errors as with
     * `hdf5`. */
    enum status (*voxel_header)(void *context, const char *path, struct voxel_image *v,
                                char reason[CASE_REASON]);
    enum status (*voxel_survey)(void *context, struct voxel_image *v, char reason[CASE_REASON]);
    /* The header of an earlier result; errors as with `hdf5`. NULL: such files cannot be read
     * here. */
    enum status (*earlier)(void *context, const char *path, struct case_earlier *e,
                           char reason[CASE_REASON]);
    /* The resolved case of a run that goes on from a checkpoint, or NULL: it needs its earlier
     * result no more. */
    const char *before;
};

/* Report a mistake that is found after the case is read: fail_user() with `place` (of a face, patch
 * or body; may be NULL) before the message. */
enum status fail_case(const char *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Names of the enumerators above, as the case file spells them. */
const char *surface_name(enum surface_array);
const char *image_name(enum image_quantity);
const char *face_name(int face); /* "xmin" ... "zmax" */

/* The two axes in the plane of a face, ascending. */
void face_axes(int face, int axes[2]);

/* The caps of a case; they belong to the body that surrounds the fluid. */
int case_caps(const struct flow_case *c);
const struct case_cap *case_cap(const struct flow_case *c, int k);

/* Conditions of scalars in a case: at faces and patches, then at caps, then at parts of bodies.
 * Their number for one scalar, and number n. */
int case_conditions(const struct flow_case *c);
const struct case_scalar_wall *case_condition(const struct flow_case *c, int n, int scalar);

/* The greatest velocity that a cap of a velocity gives: that of its profile in a tube. */
double cap_speed(const struct case_cap *cap);

/* Openings are numbered: the six faces, then the patches. case_opening_side(): the face of opening
 * k or the one that has it as a patch. */
int case_openings(const struct flow_case *c);
const struct case_face *case_opening(const struct flow_case *c, int k);
int case_opening_side(const struct flow_case *c, int k);

/* What faces, patches and caps have in common. Those who ask only this need not know which it is.
 */
struct case_gate {
    char name[CASE_NAME + 16]; /* "faces.xmin", "patches.jet", "caps.inlet" */
    int side;                  /* the face that it is on; -1: a cap */
    bool open;                 /* fluid passes */
    bool gives, holds;         /* a velocity; a density */
    double speed;              /* the greatest velocity that it gives, walls that move too */
    double drho;               /* holds: the density's largest distance from 1, with its sign */
    const struct case_signal *signal;      /* its time function, in the case */
    const struct case_scalar_wall *scalar; /* [scalar_count] what scalars meet there, in the case */
};

/* Gates are numbered: the openings, then the caps. */
int case_gates(const struct flow_case *c);
struct case_gate case_gate(const struct flow_case *c, int k);

/* Are all faces of the body normal to an axis? */
bool case_straight(const struct case_body *body);

/* Does the body give a flux or a transfer of a scalar through faces that are not? */
bool case_oblique_flux(const struct flow_case *c, int body);

/* Does the value that the opening gives to scalar k hold half-way beyond its cells also where
 * sources change the value along the stream? */
bool scalar_inlet_allows(const struct flow_case *c, int k, int opening);

/* The rate at which a scalar disappears in the fluid: by decay, and into others. */
double case_scalar_decay(const struct flow_case *c, int scalar);

/* The smallest capacity per volume that a scalar finds, relative to the fluid's: at most 1.
 * Populations are in units of it, so that their weights are positive. */
double case_scalar_capacity(const struct flow_case *c, int scalar);

/* Values that a case gives scalar k, relative to its reference, and how fast it takes them beyond.
 */
struct scalar_given {
    bool any;
    double low, high;    /* of initial and given values; the reference, where there is decay */
    double falls, rises; /* most that sources and fluxes change in a step, reactions aside */
    bool opens_down, opens_up; /* sources, fluxes or reactions lead beyond low or high */
    bool earlier;              /* initial values of an earlier result are not among them */
};
struct scalar_given scalar_given(const struct flow_case *c, int k);

/* Peclet number of a cell, by the fastest velocity of the case. */
double scalar_peclet(const struct flow_case *c, int k);

/* The point about which the body turns: given, or the middle of its bounds, where infinite of the
 * box. */
void case_pivot(const struct flow_case *c, const struct case_body *body, double pivot[3]);

/* Is an axis flat? Along a periodic axis of one cell nothing varies, and the length of a cell has
 * no meaning: all levels of `refine` have one cell there. */
static inline bool case_axis_flat(int cells, bool periodic)
{
    return periodic && cells == 1;
}

bool case_flat(const struct flow_case *c, int axis);
/* How often `level` levels halve the cells along the axis. */
int case_halved(const struct flow_case *c, int level, int axis);

/* May the body cross the periodic faces of an axis? Not if its bounds fill the period. */
bool case_crosses(const struct flow_case *c, const struct case_body *body, int axis);

/* Has it the limiter? */
bool scalar_limited(const struct flow_case *c, int k);

/* Describe an opening in words: "velocity, at most 0.05 (Mach 0.0866), profile duct, ...". */
void face_text(const struct case_face *face, char *text, size_t size);

/* Describe a mesh in words: "mesh of 912 triangles, parts 1, ...". */
void mesh_text(const struct case_mesh *mesh, char *text, size_t size);

/* Does the cell belong to the patch? i and j count along the two axes of its face. */
bool patch_holds(const struct case_patch *p, const int cells[3], int i, int j);

/* Call a function for each time function of a case whose factor is set: of the force, of openings,
 * and of scalars at openings and bodies. */
void case_steered(const struct flow_case *c, void (*call)(const struct case_signal *s, void *to),
                  void *to);

/* Largest magnitude of the factor of a time function; its lowest and highest value. */
double signal_peak(const struct case_signal *s);
void signal_range(const struct case_signal *s, double range[2]);

/* Are some of its factors negative, and others positive? */
bool signal_changes_sign(const struct case_signal *s);

/* Has a kind of face one of these properties (FACE_HAS_)? */
bool face_has(enum face_kind kind, unsigned properties);

/* Has a profile one of these properties (PROFILE_HAS_)? */
bool profile_has(enum profile profile, unsigned properties);

/* Can fluid pass a face of that kind? */
bool face_open(enum face_kind kind);

/* Can fluid pass opening k: an open face or patch, or a wall with a velocity across it? */
bool case_opening_passes(const struct flow_case *c, int k);

/* Steps in which the share of opening k, which has one, comes near the wanted one. */
double case_share_time(const struct flow_case *c, int k);

/* Can fluid pass any face or patch? Periodic faces do not count. */
bool case_is_open(const struct flow_case *c);

/* Does the face prescribe a density? */
bool face_holds_density(const struct case_face *face);

/* Does anything hold the density of the box: an outlet, a face with a pressure, a sponge? */
bool case_holds_density(const struct flow_case *c);

/* Does the body reach through the box along another axis than this one, so that the flow about it
 * is a cylinder's? axis -1: along any. */
bool case_is_across(const struct flow_case *c, const struct case_body *body, int axis);

/* Does the face's plane lie on the centres of the outermost cells? */
bool face_on_nodes(const struct case_face *face);

/* Mean of a time function over the first `steps` steps; of a sine over whole periods. */
double signal_mean(const struct case_signal *s, int64_t steps);

/* The largest speed that an opening or a wall ever sets. */
double face_speed(const struct case_face *face);

/* The fastest velocity that the case sets: references, initial flow, faces, sponges, bodies,
 * estimates of what buoyancy, a force or pressures make; 0 when it sets none. */
double case_fastest_velocity(const struct flow_case *c);

/* This velocity over the viscosity, in cells of a level. */
double case_cell_reynolds(const struct flow_case *c, int level);

/* Cell Reynolds number (velocity / viscosity) up to which tests found TRT and BGK accurate, with
 * the boundaries of this case: openings, walls at rest, moving walls. */
double case_most_cell(const struct flow_case *c);

/* The same for the operator that the case has: where advice warns of it. INFINITY: nowhere. */
double case_limit_cell(const struct flow_case *c);

/* Relaxation time tau = 3 viscosity + 1/2. */
double case_tau(const struct flow_case *c);

/* A relaxation time in words, or 1 / tau: at least so many digits, and enough to show its distance
 * from 1/2 (2) to three digits. */
const char *case_tau_text(char text[static 32], double tau, int digits);
const char *case_omega_text(char text[static 32], double tau);

/* Read and resolve a case. case_read() is for cases that name no files; it passes files NULL.
 *   path: the file's name, for messages (and its stem for the run's name)
 *   text: its content, length bytes; every rank passes the same
 *   sets: `--set PATH=VALUE` arguments, set_count of them, applied in order
 * Returns STATUS_OK and fills *c. On an error reports one line (file:line:column, or the --set
 * argument quoted, what is wrong, what would be right), zeroes *c and returns STATUS_USAGE
 * (STATUS_MACHINE without memory). */
enum status case_read(const char *path, const char *text, long length, int set_count,
                      const char *const *sets, struct flow_case *c);
enum status case_read_files(const char *path, const char *text, long length, int set_count,
                            const char *const *sets, const struct case_files *files,
                            struct flow_case *c);

void case_destroy(struct flow_case *c);

/* The case in units of level `level`, of a case that was read: cells are 2^level times finer, and
 * steps 2^level times shorter. Velocities and densities stay the same numbers; lengths, times and
 * the viscosity grow. It has no `refine` and no output. Destroy it with case_destroy().
 * STATUS_MACHINE, reported; STATUS_USAGE, reported: the case is not possible on this level (for
 * example tau). */
enum status case_of_level(const struct flow_case *c, int level, struct flow_case *of_level);

/* The same flow in cells 2^finer times finer, with steps 2^shorter times shorter, or longer if that
 * is negative, for what follows from its numbers: Mach, tau, Peclet. It has no `refine`, no output
 * and no initial.from. Destroy it with case_destroy(). Returns as case_of_level() does. */
enum status case_with_steps(const struct flow_case *c, int finer, int shorter,
                            struct flow_case *to);

/* Estimate of the largest relative difference of the density from the reference: by the dynamic
 * pressure of the largest velocity, half of Mach^2, by friction between openings, and by what they
 * hold. Velocities are wrong by about as much. */
double case_density_error(const struct flow_case *c);

/* Shortest edge of the body's box in the grid, without axes along which it spans the grid, and
 * without the thickness of plates; 0: there is none. */
double case_body_size(const struct flow_case *c, const struct case_body *body);

/* Version of the physics: it rises when a change of the lattice update changes bits of the result.
 * case_physics() reads it from a resolved case (also part of every checkpoint). */
enum { CASE_PHYSICS = 6 };
int case_physics(const char *resolved);

/* May a run that began with the resolved case `before` continue with `now` (both texts of struct
 * flow_case.resolved)? Compares every key that the key table does not mark `restart`; if `before`
 * has an older physics version, keys whose defaults depend on the version are skipped.
 * STATUS_USAGE, reported with the key and both values, if one differs. `whose` names the earlier
 * run in the message ("checkpoints/step_0000001000.h5"). */
enum status case_same_flow(const char *before, const char *now, const char *whose);

/* The outputs of a resolved case. With *o zeroed and *at the text, each call finds the next one;
 * false: there are no more. The texts are parts of the case. */
struct case_output {
    const char *section;      /* "series:" .. */
    const char *name, *entry; /* "drag", "{every: 5, of: forces, body: ball}" */
    int name_length, entry_length;
};
bool case_output_next(const char **at, struct case_output *o);
bool case_output_is(const struct case_output *o, const char *section);

/* Fills *e with the earlier result of a resolved case; cells and names of scalars are taken from c,
 * `path` is copied. False: it has none, or no memory. */
bool case_recall_earlier(const char *resolved, const struct flow_case *c, const char *path,
                         struct case_earlier *e);

/* The name of the case in the file `path`. */
void case_name_of(char name[CASE_NAME], const char *path);

/* run.steps of a resolved case; 0: the text is none. */
int64_t case_last_step(const char *resolved);

/* Definition of the series `name` of a resolved case, as text: "of: forces, body: ball". False: the
 * case has no such series. */
bool case_series_text(const char *resolved, const char *name, const char **text, int *length);

/* A scalar of an earlier run. The enthalpy of a cell is capacity times value - source/2, in the
 * fluid also + decay/2 times value - rate/2 times the value of the scalar it is made from. */
struct case_facts_scalar {
    char name[CASE_NAME];
    int kind; /* enum scalar_kind */
    double reference, expansion;
    double capacity, source, decay, rate; /* of the fluid, as populations have them */
    int made_from;                        /* index of a scalar before this one, or -1 */
    bool everywhere;                      /* all cells hold it: all bodies conduct it */
    int solids;                           /* materials that conduct it */
    struct {
        double capacity, source;
    } solid[2 * CASE_BODIES]; /* as many as there are types of cells */
};

/* Facts of an earlier run, from its resolved case, for a run that starts from its flow. False: the
 * text is no resolved case. Lattice units. */
struct case_facts {
    int cells[3];
    struct case_units units; /* all 1 and given = false without a time */
    bool open[6];            /* faces that let flow through, or have patches */
    bool periodic[3];        /* axes */
    double acceleration[3];  /* the constant one */
    double gravity[3];
    bool resists; /* a rotating frame, porous regions or screens */
    int scalar_count;
    struct case_facts_scalar scalar[CASE_SCALARS];
};
bool case_facts(const char *resolved, struct case_facts *f);

/* The magic number of a scalar, (tau+ - 1/2)(tau- - 1/2): 1/6 by auto, 1/4 for small
 * diffusivities. */
double scalar_magic(const struct case_scalar *s);

/* Largest difference between values of scalar k that the case gives, or that sources and fluxes are
 * estimated to make where it has buoyancy. */
double scalar_difference(const struct flow_case *c, int k);

/* Has it a mean gradient? */
bool scalar_has_gradient(const struct case_scalar *s);

/* Threads of a rank: 1 if run.threads is not chosen yet. */
int case_threads(const struct flow_case *c);

/* Log the numbers derived from a case: grid, units, dx, dt, tau, omega, Mach, Reynolds. */
void case_say_derived(const struct flow_case *c);

#endif
