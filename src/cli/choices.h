/* Other time steps and cells for a case, for `check`: its numbers as they are, with half or twice
 * the time step, and with half the cells at the same Mach number. */
#ifndef TAGFLOW_CHOICES_H
#define TAGFLOW_CHOICES_H

#include <jansson.h>

#include "cli/scale.h"

enum { CHOICES = 3, CHOICE_NAME = 64 };

/* Of level 0. In a case without units dx and dt are 1 as it is. */
struct choice {
    char name[CHOICE_NAME];
    double dx, dt;
    double mach, tau, density, cell_reynolds,
        cell_peclet[CASE_SCALARS]; /* density: relative error */
    double steps, seconds;
    bool about; /* seconds are an estimate by the number of cells */
};

struct choices {
    const struct flow_case *c;
    int count; /* the first one is the case as it is; 0: no velocity is known */
    struct choice choice[CHOICES];
};

/* The numbers are those that `check` would find for such a case. A choice that is not possible is
 * left out. On rank 0 alone. An error is one of the machine. */
enum status choices_find(struct choices *all, const struct scale *s);

/* Log them as a table. */
void choices_say(const struct choices *all);

/* The same for the file of --json. */
json_t *choices_json(const struct choices *all);

#endif
