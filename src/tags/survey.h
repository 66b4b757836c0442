/* Messages of `check` and the log about faces and bodies, after the cells are made; and errors. */
#ifndef TAGFLOW_SURVEY_H
#define TAGFLOW_SURVEY_H

#include "tags/faces.h"
#include "tags/gaps.h"
#include "tags/standing.h"

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
};

/* Of one level; c: the case in units of the level. Paths through other levels are not followed.
 * Collective. STATUS_USAGE, reported, as by paths_check(); STATUS_MACHINE. */
enum status survey_make(struct survey *s, const struct domain *d, const struct flow_case *c);

/* The same for a level above 0 of a refined grid: gaps, and bodies that stand on what moves. Open
 * faces belong to level 0. Collective; STATUS_MACHINE, reported. */
enum status survey_make_finer(struct survey *s, const struct domain *d, const struct flow_case *c);
void survey_say_finer(const struct survey *s, const struct domain *d, const struct flow_case *c);

/* Logs which open faces are partly covered, and warns. */
void survey_say(const struct survey *s, const struct domain *d, const struct flow_case *c);

#endif
