/* Packing and unpacking of messages value by value, for GPUs: a thread loads one population and
 * stores it. It waits for memory once, and neighbouring threads take neighbouring populations.
 * cell_pack and cell_unpack (kernel.h) do the same cell by cell.
 *
 * The host makes a job for each population of each message. Its cells are a box that is one cell
 * thick along at least one axis; they lie in rows. Value k of row r belongs to the cell with index
 * cell + k step[0] + r step[1], and is number k + r n[0] of the buffer. In lifted rows the cells of
 * a job along x are not evenly spaced: value k belongs to cell x + k. */
#ifndef TAGFLOW_VALUES_H
#define TAGFLOW_VALUES_H

#include "scalar.h"

/* Indices are modulo 2^32, as all indices on GPUs. */
struct value_job {
    char *slot;     /* to which the population is stored: its first element */
    char *buffer;   /* the job's first value */
    uint32_t cell;  /* index of its first cell; along lifted rows: of the first row's first cell */
    uint32_t shift; /* from a cell to the one at which its population lies */
    uint32_t n[2];  /* values of a row; rows */
    uint32_t step[2]; /* index steps within a row, and from row to row */
    uint32_t turn[2]; /* here the axis wraps between the two; or at no cell. Then `jump` */
    uint32_t jump[2]; /* is added to the shift */
    uint8_t set, bytes;
    int8_t pair;   /* of a population that lies at a neighbour; -1: it lies at the cell itself */
    uint8_t along; /* VALUES_* */
    int32_t x;     /* VALUES_along, VALUES_next: of value 0 */
};

/* Rows of values. even: evenly spaced; along: along lifted rows; next: the same, and the
 * populations lie at x + 1, which `shift` leaves out. */
enum { VALUES_even, VALUES_along, VALUES_next };

/* Index of the cell of value k of row r. */
TAGFLOW_FN uint32_t value_cell(const struct view *v, const struct value_job *j, uint32_t k,
                               uint32_t r)
{
    const uint32_t first = j->cell + r * j->step[1];
    return j->along == VALUES_even ? first + k * j->step[0]
                                   : first + (uint32_t)row_position(v, j->x + (int)k);
}

/* Index difference from a cell of a lifted row to the one at x + 1. */
TAGFLOW_FN uint32_t value_next(const struct view *v, int x)
{
    return (uint32_t)row_position(v, view_wrap(v, 0, x + 1)) - (uint32_t)row_position(v, x);
}

/* The place of its population. n: the cell. False: it has none, which occurs where only fluid cells
 * have places. */
TAGFLOW_FN int value_place(const struct view *v, const struct value_job *j, uint32_t k, uint32_t r,
                           uint32_t n, uint32_t *place)
{
    const uint32_t m = n + j->shift + (k == j->turn[0] ? j->jump[0] : 0) +
                       (r == j->turn[1] ? j->jump[1] : 0) +
                       (j->along == VALUES_next ? value_next(v, j->x + (int)k) : 0);
    *place = m;
    if (!v->place)
        return 1;
    if (!has_place(v->place, n))
        return 0;
    *place = (uint32_t)place_in(v->place, n);
    if (j->pair >= 0)
        *place = (uint32_t)sparse_next(v, j->pair, *place, m);
    return 1;
}

/* An element of 16, 32 or 64 bits. */
TAGFLOW_FN uint64_t element_load(int bytes, const void *from, size_t at)
{
    return bytes == 2   ? ((const uint16_t *)from)[at]
           : bytes == 4 ? ((const uint32_t *)from)[at]
                        : ((const uint64_t *)from)[at];
}

TAGFLOW_FN void element_store(int bytes, void *to, size_t at, uint64_t value)
{
    if (bytes == 2)
        ((uint16_t *)to)[at] = (uint16_t)value;
    else if (bytes == 4)
        ((uint32_t *)to)[at] = (uint32_t)value;
    else
        ((uint64_t *)to)[at] = value;
}

/* The kernels' work on value k of row r of a job. */

TAGFLOW_FN void value_pack(const struct view *v, const struct value_job *j, uint32_t k, uint32_t r)
{
    uint32_t place;
    const int found = value_place(v, j, k, r, value_cell(v, j, k, r), &place);
    element_store(j->bytes, j->buffer, k + (size_t)r * j->n[0],
                  found ? element_load(j->bytes, j->slot, place) : 0);
}

/* Value and tag are loaded at once. */
TAGFLOW_FN void value_unpack(const struct view *v, const struct value_job *j, uint32_t k,
                             uint32_t r)
{
    uint32_t place;
    const uint32_t cell = value_cell(v, j, k, r);
    int tag = v->tags[cell];
    TAGFLOW_FORGET(tag); /* first: what is done to the value waits for it */
    uint64_t value = element_load(j->bytes, j->buffer, k + (size_t)r * j->n[0]);
    TAGFLOW_FORGET_LONG(value); /* not after the tests */
    if (!value_place(v, j, k, r, cell, &place))
        return;
    if (j->set == SET_flow ? !type_in(&v->solid, tag) : type_holds(v, j->set, tag))
        element_store(j->bytes, j->slot, place, value);
}

#endif
