/* Pores of a case: of the place of each voxel image, and of the whole box. */
#ifndef TAGFLOW_PORE_SURVEY_H
#define TAGFLOW_PORE_SURVEY_H

#include "tags/pores.h"

struct pore_place {
    const char *name; /* of the image's body, in the case; NULL: the whole box */
    struct case_region region;
    struct pores pores;
};

/* All zero: nothing was looked for. The last place is the box. */
struct pore_survey {
    struct pore_place place[CASE_BODIES + 1];
    int count;
};

/* Cells of the box that an image covers. */
struct case_region image_region(const struct voxel_image *image);

/* Are there pores to look for: is there an image, or bodies and a series of the permeability
 * or a scalar with a mean gradient? */
bool pore_survey_wanted(const struct flow_case *c);

/* Analyses the places with the present tags. Collective, errors as of pores_find(). */
enum status pore_survey_make(struct pore_survey *s, const struct domain *d,
                             const struct flow_case *c);

/* Refuses isolated fluid where a scalar has a mean gradient: it would never settle there. */
enum status pore_survey_check(const struct pore_survey *s, const struct flow_case *c);
void pore_survey_destroy(struct pore_survey *s);

#endif
