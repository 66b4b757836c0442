/* The case of a level above 0: how its keys follow from those of level 0; and what level 0 read
 * from files, in units of the level. */
#ifndef TAGFLOW_LEVEL_H
#define TAGFLOW_LEVEL_H

#include "case/value.h"

/* The rule that counts for a key. LEVEL_UNKNOWN: the table has to say it. */
enum level_rule level_rule_of(const struct key *key);

/* The powers of 2^l of a key whose rule is LEVEL_UNIT, where cells are 2^l times finer and where
 * steps are 2^l times shorter: 1 and 0 of a length. */
struct level_powers {
    int cells, steps;
};
struct level_powers level_powers(const struct key *key);

/* The functions below are for a map whose reader has an origin. They copy from the thing of level 0
 * at the same place; outputs are allocated as by input.h. STATUS_MACHINE, reported. */

/* The image of a body, whose voxels span several cells of the level. */
enum status level_image(struct map m, struct voxel_image *to);

/* As input_mesh() and input_mask(). level_facts: of a mesh, as mesh_look() finds them. */
enum status level_mesh(struct map m, struct stl **stl, char **file, uint64_t *checksum);
struct mesh_facts level_facts(struct map m);
enum status level_mask(struct map m, const int size[2], uint8_t **mask, char **file,
                       uint64_t *checksum);

/* The table of a time function, the map `table`. */
enum status level_table(struct map m, struct case_signal *s);

/* The table of a profile, the map `profile`, for a face of size[0] x size[1] cells: linear between
 * the centres of cells of level 0. */
enum status level_profile(struct map m, const int size[2], struct case_face *to);

/* The table of a profile by height or radius, the map `height` or `radius`. */
enum status level_heights(struct map m, struct case_heights *to);

#endif
