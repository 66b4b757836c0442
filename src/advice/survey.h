/* Messages of `check` and the log about faces and bodies, after the cells are made; and errors. */
#ifndef TAGFLOW_SURVEY_H
#define TAGFLOW_SURVEY_H

#include "advice/narrow.h"
#include "advice/standing.h"
#include "tags/edges.h"
#include "tags/faces.h"
#include "tags/gaps.h"

enum {
    SURVEY_OPENINGS = 6 + CASE_PATCHES,
    SURVEY_NEAR = 3, /* distance in cells that bodies should keep from open faces */
};

struct survey {
    struct gaps shapes, images;
    /* Places within SURVEY_NEAR cells of an opening where a body begins or ends along the normal; a
     * body that goes straight through has none. Images are not counted. */
    struct gaps near[SURVEY_OPENINGS];
    struct standing standing;
    struct edges_close close;
    struct narrow narrow; /* of all levels; level 0 alone has it */
    bool idle_force;      /* see idle_force.h */
};

/* Fills *survey[l] of each level. Open faces and forces are looked at on level 0 alone. In
 * large boxes each look takes seconds: signals are looked for between them. Collective.
 * STATUS_USAGE, reported, as by paths_check(); STATUS_MACHINE, STATUS_STOPPED. */
enum status survey_make(struct survey *const survey[], const struct paths_level *level, int levels);

/* Warns of gaps, and of bodies that stand on what moves, on a level. */
void survey_say_finer(const struct survey *s, const struct domain *d, const struct flow_case *c);

/* Logs the cells and the mesh of each body of a refined grid, on the levels that hold it. lead: the
 * begin of the lines. */
void survey_say_bodies(const struct paths_level *level, int levels, const char *lead);

/* Logs which open faces are partly covered, and warns. */
void survey_say(const struct survey *s, const struct domain *d, const struct flow_case *c);

#endif
