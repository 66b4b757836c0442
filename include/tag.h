/* What a cell is: one byte indexes a small table of rows that say what happens there.
 *
 * A row of a fluid cell names its collision operator and parameters; the row of a cell that is not
 * fluid names the boundary rule of every link that leads into it. The chain is data: a kernel does
 * `switch (row.collision)`, nothing is called through a pointer per cell. */
#ifndef TAGFLOW_TAG_H
#define TAGFLOW_TAG_H

#include <stdint.h>

#include "platform.h"

/* The byte: TAG_BESIDE says that at least one of the 18 neighbours is not fluid, so that rows need
 * not be doubled for cells beside a wall; the rest is the row. */
enum { TAG_BESIDE = 0x80, TAG_ROW = 0x7f, TAG_ROWS = 128 };

/* Signals scale what rows say, and change from step to step: the first is always 1. */
enum { SIGNAL_one = 0, SIGNALS = 16 };

/* A table along x that vectors are read from has so many values more. */
enum { DAMPING_GUARD = 16 };

/* Do populations live in a cell, and who steps it? */
enum {
    FLUID_none = 0,
    FLUID_swept = 1,  /* the kernel that sweeps over boxes */
    FLUID_listed = 2, /* that of a list of cells, see surface.h */
};

struct tag_row {
    uint8_t fluid;           /* FLUID_*: populations live here */
    uint8_t boundary;        /* enum boundary: rule of the links into this cell, if not fluid; what
                              * makes the populations that arrive, if fluid */
    uint8_t subgrid;         /* enum subgrid, if fluid */
    uint8_t collision;       /* enum collision, if fluid */
    uint8_t forced;          /* there is an acceleration, if not at every step */
    uint8_t signal;          /* scales the wall velocity */
    uint8_t force_signal;    /* scales the acceleration */
    uint8_t damped;          /* walls damp the subgrid model */
    uint8_t sponge;          /* 1 + axis along which it grows, 0: none; see sponge.h */
    uint8_t face;            /* of an open boundary: which, 0 .. 5 for xmin .. zmax */
    uint8_t outside;         /* of a fluid cell there: bit k: populations from beyond face k are not
                              * known, the rule makes them */
    uint8_t signal_velocity; /* scales the velocity that an open boundary gives */
    uint8_t signal_density;  /* scales drho */
    uint8_t body;            /* 1 + number of the body that the cell is part of; 0: none */
    uint32_t damping;        /* place in the table of the factors by which, see subgrid.h */
    uint32_t sponge_table;   /* place in the table of the sponge's target and strengths */
    uint32_t table;         /* 1 + place of the velocities over the face, see open.h; 0: none, it is
                             * wall_velocity everywhere */
    double omega_even;      /* relaxation rate of shear, or of all even parts: 1 / tau */
    double omega_odd;       /* of the odd part */
    double omega_bulk;      /* of the trace of the second moments */
    double omega_third;     /* of third moments */
    double omega_fourth;    /* of fourth moments */
    double smagorinsky;     /* 18 sqrt(2) constant^2 */
    double magic;           /* (tau+ - 1/2)(tau- - 1/2) where a subgrid model changes tau+ */
    double acceleration[3]; /* body force per mass, lattice units */
    double wall_velocity[3]; /* of a moving wall or given by an open boundary, lattice units */
    double wall_sixth[3];    /* a sixth of that: GPUs had better not divide for every link */
    double spin[3];          /* of a body's surface: angular velocity, radians a step, */
    double pivot[3];         /* about this point, coordinates of the whole box; */
    double period[3];        /* lengths after which a periodic box begins anew; 0: it does not */
    double drho;             /* given density - 1 */
    double reflection;       /* nonreflecting: part of the density's deviation that comes back */
};

/* Smagorinsky's model with that constant (a length in cells) for a row that has its rates. */
TAGFLOW_FN void tag_row_smagorinsky(struct tag_row *row, uint8_t subgrid, double constant)
{
    row->subgrid = subgrid;
    row->smagorinsky = 18 * 1.41421356237309504880 * (constant * constant);
    row->magic = (1 / row->omega_even - 0.5) * (1 / row->omega_odd - 0.5);
}

TAGFLOW_FN void tag_row_move(struct tag_row *row, const double velocity[3])
{
    for (int a = 0; a < 3; a++) {
        row->wall_velocity[a] = velocity[a];
        row->wall_sixth[a] = velocity[a] / 6;
    }
}

#endif
