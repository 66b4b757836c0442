/* The sections of a case, each from its map in the tree into its part of struct flow_case.
 * Called in this order: later ones use what earlier ones have read. */
#ifndef TAGFLOW_SECTIONS_H
#define TAGFLOW_SECTIONS_H

#include <locale.h>
#include <stdio.h>

#include "case/value.h"

enum status section_units(struct reader *r, struct flow_case *c);
enum status section_domain(struct reader *r, struct flow_case *c);
enum status section_fluid(struct reader *r, struct flow_case *c);
enum status section_solver(struct reader *r, struct flow_case *c);
enum status section_faces(struct reader *r, struct flow_case *c);
enum status section_subgrid(struct reader *r, struct flow_case *c);
enum status section_patches(struct reader *r, struct flow_case *c);
enum status section_initial(struct reader *r, struct flow_case *c);
enum status section_force(struct reader *r, struct flow_case *c);
enum status section_regions(struct reader *r, struct flow_case *c);
enum status section_bodies(struct reader *r, struct flow_case *c);
enum status section_run(struct reader *r, struct flow_case *c);
enum status section_checkpoint(struct reader *r, struct flow_case *c);
enum status section_check(struct reader *r, struct flow_case *c);
enum status section_output(struct reader *r, struct flow_case *c);

/* The whole case as YAML that reads back to the same struct; reynolds in place of viscosity when
 * the user gave that, so that rounding cannot part them. NULL, reported, without memory. */
char *case_resolve(const struct flow_case *c, bool by_reynolds);

/* The viscosity that follows; the one place where it is computed, so that its bits are the same. */
double viscosity_of(double reynolds, double velocity, double length);

/* How a value varies in time, by the keys ramp, sine and table of `map` (NULL: constant), whose row
 * in the key table is `path` and has SIGNAL_ROWS below it. */
enum status signal_read(const struct reader *r, const struct node *map, const char *path,
                        struct case_signal *s);
/* The same keys again, in a map on one line, with `before` (", ") in front if there are any. */
void signal_write(FILE *to, const char *before, const struct case_signal *s);
void signal_destroy(struct case_signal *s);

/* Faces and parts of them, as they are written back; what they own. */
void faces_write(FILE *to, const struct flow_case *c);
void patches_write(FILE *to, const struct flow_case *c);
void face_destroy(struct case_face *face);
void patch_destroy(struct case_patch *patch);

/* Bodies, as they are written back; what one owns. */
void bodies_write(FILE *to, const struct flow_case *c);
void body_destroy(struct case_body *body);

/* The shape that a map says, into *to, which is zeroed. */
enum status shape_read(const struct reader *r, const struct node *map, struct case_shape *to);
/* Is some of it in the box? */
enum status shape_check_box(const struct reader *r, const struct node *map,
                            const struct case_shape *shape, const struct flow_case *c);
void shape_write(FILE *to, const struct case_shape *s);
void shape_free(struct case_shape *s);

/* The mesh that a map says, into *to, which is zeroed. */
enum status mesh_read(const struct reader *r, const struct node *map, const struct flow_case *c,
                      struct case_mesh *to);
void mesh_write(FILE *to, const struct case_mesh *m);
void mesh_free(struct case_mesh *m);

/* What the map says reaches from lo to hi: is that somewhere, and in the box? */
enum status body_check_box(const struct reader *r, const struct node *map, const double lo[3],
                           const double hi[3], const struct flow_case *c);

/* What a body is by a file of voxels, the map bodies.*.image. */
enum status voxel_image_read(const struct reader *r, const struct node *map,
                             const struct flow_case *c, struct voxel_image *to);
void voxel_image_write(FILE *to, const struct voxel_image *v);
void voxel_image_destroy(struct voxel_image *v);

/* Pieces of resolved text (case_resolve.c): a number that reads back to the same bits, three of
 * them in brackets, a text in quotes, ", checksum: ". */
void put_number(FILE *to, const char *before, double value, const char *after);
void put_vector(FILE *to, const double v[3]);
void put_text(FILE *to, const char *utf8);
void put_checksum(FILE *to, uint64_t checksum);

/* Numbers are read and written with a point between these two, whatever the user's language. */
struct plain_locale {
    locale_t plain, before;
};
enum status plain_locale_enter(struct plain_locale *l);
void plain_locale_leave(struct plain_locale *l);

/* Cells whose centres lie within two corners, faces of the region included: a KEY_OR_MAP of `all`
 * and of the two keys for them. */
struct region_rows {
    const char *region, *from, *to;
};
enum status region_read(const struct reader *r, const struct node *entry, struct region_rows rows,
                        const int cells[3], struct case_region *region);

/* Has the initial flow this key? Shared by reader and writer. */
bool initial_has(enum initial_flow flow, enum initial_keys key);

/* What the collision operator leaves to choose: bits FREE_*. */
unsigned collision_free(enum collision collision);

#endif
