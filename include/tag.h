/* Cell types: each cell has a tag of one byte, which indexes a table of cell types (struct
 * tag_row).
 *
 * The type of a fluid cell names its collision operator and parameters. The type of a cell that is
 * not fluid names the boundary rule of every link into that cell. Kernels branch on this data
 * (`switch (row.collision)`); there is no indirect call per cell. */
#ifndef TAGFLOW_TAG_H
#define TAGFLOW_TAG_H

#include <stdint.h>

#include "platform.h"

/* The tag: TAG_BESIDE is set if at least one of the 18 neighbours is not fluid; a flag instead of a
 * second cell type for cells beside walls. The other bits are the index of the cell type. */
enum { TAG_BESIDE = 0x80, TAG_ROW = 0x7f, TAG_ROWS = 128 };

/* Time functions: factors on values of cell types, set at each step. The first is always 1. */
enum { SIGNAL_one = 0, SIGNALS = 16 };

/* Padding values after a table along x, for reads of whole vectors. */
enum { DAMPING_GUARD = 16 };

/* Which kernel steps a cell? FLUID_none: the cell holds no populations. */
enum {
    FLUID_none = 0,
    FLUID_swept = 1,  /* the kernel that goes through boxes */
    FLUID_listed = 2, /* the kernel for a list of cells, see surface.h */
};

struct tag_row {
    uint8_t fluid;           /* FLUID_* */
    uint8_t boundary;        /* enum boundary; not fluid: rule of the links into this cell;
                              * fluid: rule that makes the populations that arrive */
    uint8_t subgrid;         /* enum subgrid, if fluid */
    uint8_t collision;       /* enum collision, if fluid */
    uint8_t forced;          /* an acceleration acts, possibly not at every step */
    uint8_t signal;          /* time function of the wall velocity */
    uint8_t force_signal;    /* time function of the acceleration */
    uint8_t damped;          /* wall functions damp the subgrid model */
    uint8_t sponge;          /* 1 + axis along which the sponge grows, 0: no sponge; see sponge.h */
    uint8_t face;            /* open boundary: its face, 0 .. 5 for xmin .. zmax */
    uint8_t outside;         /* fluid cell on an open boundary: bit k: populations that come
                              * through face k are unknown, the rule makes them */
    uint8_t signal_velocity; /* time function of the velocity given on an open boundary */
    uint8_t signal_density;  /* time function of drho */
    uint8_t body;            /* 1 + number of the body that contains the cell; 0: none */
    uint32_t damping;        /* start of the damping factors in view.table, see subgrid.h */
    uint32_t law;            /* 1 + start of the tables of a viscosity law in view.table, see law.h;
                              * 0: none */
    uint32_t resist;         /* 1 + start of the resistance and rotation in view.table, see
                              * resist.h; 0: none; otherwise `forced` is set */
    uint32_t sponge_table;   /* start of the sponge's target and strengths in view.table */
    uint32_t table;          /* 1 + start of the face's velocities in view.table, see open.h; 0:
                              * all are wall_velocity */
    double omega_even;       /* 1 / tau: relaxation rate of shear, or of all even parts */
    double omega_odd;        /* rate of the odd part */
    double omega_bulk;       /* rate of the trace of the second moments */
    double omega_third;      /* rate of third moments */
    double omega_fourth;     /* rate of fourth moments */
    double smagorinsky;      /* 18 sqrt(2) constant^2 */
    double magic;            /* (tau+ - 1/2)(tau- - 1/2), which models of the viscosity keep */
    double acceleration[3];  /* body force per mass, lattice units */
    double wall_velocity[3]; /* of a moving wall, or given on an open boundary; lattice units */
    double wall_sixth[3];    /* wall_velocity / 6: GPUs avoid a division per link */
    double spin[3];          /* body surface: angular velocity, radians per step */
    double pivot[3];         /* point that `spin` turns about, coordinates of the whole box */
    double period[3];        /* length of the box along each periodic axis; 0: not periodic */
    double drho;             /* given density minus 1 */
    double reflection;       /* outlets: how strongly a step pulls the density to the given one,
                              * 0 .. 1; see open.h */
    double shear_lost;       /* node of an outlet: share of the shear along the face that it loses
                              * at omega = 2; see open.h */
};

/* Rules for links of a scalar's set whose next cell does not hold the set. g*_out is the
 * population that left, g_in the one that comes back.
 *
 * adiabatic: g_in = g*_out
 * given:     g_in = a g*_out + b, b times a time function. Value T_w: a = -1, b = T_w/4; flux q
 * into the cell: a = 1, b = q; flux h (T_o - T): a = (1 - 4 h)/(1 + 4 h), b = h T_o/(1 + 4 h)
 * free:      g_in = T/4 - g*_out, T of the cell: zero normal gradient
 * oblique:   flux or transfer through a surface whose unit normal has the component n along the
 * link: g_in = ((1 - n a) g*_out + n b)/(1 + n a). Flux q: a = 0, b = q; flux h (T_o - T): a = 4 h,
 * b = h T_o. The cell is in the list beside surfaces, which has n
 *
 * Rules for fluid cells of scalars with the limiter. k: conductivity of the cell, with the eddies';
 * u: its velocity into the box; C: its capacity.
 *
 * layer:     g_in = g*_out + (b - T)/(1/(2 k) + a). Value T_w: a = 0, b = T_w; flux h (T_o - T):
 *            a = 1/h, b = T_o. See scalar_layer_back() for other surfaces
 * open:      C u > 0 and a = 1: g_in = g*_out + C u b, value b flows in; otherwise zero gradient,
 *            g_in = (1/8 + C u/2) T */
enum {
    SCALAR_adiabatic,
    SCALAR_given,
    SCALAR_free,
    SCALAR_oblique,
    SCALAR_layer,
    SCALAR_open,
};

/* With the limiter k is below this, see scalar.h. Fluid that comes in through an opening is faster
 * than rounding makes it. */
#define LIMITED_MOST 0.125
#define OPEN_LEAST 0x1p-20

/* Which kernel steps a scalar's set in cells of a type? In fluid cells the flow's kernel. */
enum {
    HOLDS_none = 0,   /* the cell does not hold the set */
    HOLDS_swept = 1,  /* the kernel for boxes */
    HOLDS_listed = 2, /* the kernel for a list of cells, see surface.h */
};

/* Parameters of a scalar's set in cells of a type, see scalar.h; in the units of the populations:
 * the smallest capacity of the case is 1. */
struct scalar_row {
    uint8_t holds;    /* HOLDS_: do cells of this type hold the set? */
    uint8_t wall;     /* they do not: SCALAR_ */
    uint8_t signal;   /* time function of b */
    uint8_t surface;  /* given value, where a surface crosses the link */
    uint8_t oblique;  /* the component of the normal counts: SCALAR_oblique, SCALAR_layer */
    uint8_t limited;  /* fluid: the scalar has the limiter */
    uint8_t from;     /* set of the scalar that turns into this one; SET_flow: none */
    uint8_t slopes;   /* the scalar has a mean gradient */
    uint8_t across;   /* with a table: axis normal to the face */
    uint16_t opening; /* they do not: 1 + number of the face, patch or cap; 0: none */
    uint32_t table;   /* 1 + start of the face's b in view.table, see scalar.h; 0: all are b */
    double a, b;      /* of the wall's rule; b is multiplied by the time function */
    double inverse;   /* 1 / (capacity + decay/2) */
    double flow;      /* capacity of the fluid; 0 in a solid */
    double per_flow;  /* 1 / flow, in the fluid */
    double source, decay;
    double gain; /* rate at which scalar `from` turns into this one */
    double omega_odd, omega_even, tensor, conductivity, magic;
    double turbulent;   /* `flow` / turbulent Prandtl number; 0: no subgrid model */
    double buoyancy;    /* expansion coefficient; 0: the flow does not feel the scalar */
    double gradient[3]; /* the mean gradient, see scalar.h */
};

/* Sets `magic` from the rates of the cell type as rounded, so that cell types with equal rates have
 * equal products. */
TAGFLOW_FN void tag_row_magic(struct tag_row *row)
{
    row->magic = (1 / row->omega_even - 0.5) * (1 / row->omega_odd - 0.5);
}

/* Rates of a fluid cell type, such that (tau+ - 1/2)(tau- - 1/2) = magic. */
TAGFLOW_FN void tag_row_rates(struct tag_row *row, double tau, double magic)
{
    row->omega_even = 1 / tau;
    row->omega_odd = 1 / (magic / (tau - 0.5) + 0.5);
    tag_row_magic(row);
}

/* Smagorinsky's model with this constant (a length in cells). The rates must be set already. */
TAGFLOW_FN void tag_row_smagorinsky(struct tag_row *row, uint8_t subgrid, double constant)
{
    row->subgrid = subgrid;
    row->smagorinsky = 18 * 1.41421356237309504880 * (constant * constant);
    tag_row_magic(row);
}

TAGFLOW_FN void tag_row_move(struct tag_row *row, const double velocity[3])
{
    for (int a = 0; a < 3; a++) {
        row->wall_velocity[a] = velocity[a];
        row->wall_sixth[a] = velocity[a] / 6;
    }
}

#endif
