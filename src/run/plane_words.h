/* The words and numbers around a picture of a plane: title, axes, unit of the bar. */
#ifndef TAGFLOW_PLANE_WORDS_H
#define TAGFLOW_PLANE_WORDS_H

#include "case/case.h"
#include "io/image.h"

/* Horizontal and vertical axis of the picture, by the plane's normal axis. */
extern const int plane_across[3], plane_up[3];

/* A number of the unit that an image shows is zero + scale * (number in lattice units). */
struct shown_unit {
    double scale, zero; /* scale: of scalars 1 */
    const char *name;   /* "" : a number */
};

struct shown_unit plane_unit(const struct flow_case *c, const struct case_image *image);

struct plane_words {
    char title[160], when[64];
};

/* Fills the words and axes of `picture`, which point into *words. middle: of the plane along its
 * axis, in cells of level 0. */
void plane_words(const struct flow_case *c, const struct case_image *image, double middle,
                 long long step, struct plane_words *words, struct image *picture);

#endif
