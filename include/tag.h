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

struct tag_row {
    uint8_t fluid;           /* populations live here */
    uint8_t boundary;        /* enum boundary: rule of the links into this cell, if not fluid */
    uint8_t collision;       /* enum collision, if fluid */
    uint8_t forced;          /* there is an acceleration, if not at every step */
    uint8_t signal;          /* scales the wall velocity */
    uint8_t force_signal;    /* scales the acceleration */
    uint8_t sponge;          /* 1 + axis along which it grows, 0: none; see sponge.h */
    uint32_t sponge_table;   /* its place in the view's table */
    double omega_even;       /* relaxation rate of the even part of the populations: 1 / tau */
    double omega_odd;        /* of the odd part */
    double acceleration[3];  /* body force per mass, lattice units */
    double wall_velocity[3]; /* of a moving wall, lattice units */
    double wall_sixth[3];    /* a sixth of that: GPUs had better not divide for every link */
};

TAGFLOW_FN void tag_row_move(struct tag_row *row, const double velocity[3])
{
    for (int a = 0; a < 3; a++) {
        row->wall_velocity[a] = velocity[a];
        row->wall_sixth[a] = velocity[a] / 6;
    }
}

#endif
