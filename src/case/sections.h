/* The sections of a case, each from its map in the tree into its part of struct flow_case. */
#ifndef TAGFLOW_SECTIONS_H
#define TAGFLOW_SECTIONS_H

#include <locale.h>
#include <stdio.h>

#include "case/record.h"

typedef enum status section_reader(struct map m, struct flow_case *c);
section_reader units_read, domain_read, fluid_read, scalars_read, solver_read, subgrid_read,
    faces_read, patches_check, shares_check, initial_read, force_read, scalars_check, refine_find,
    run_read, output_read;

/* Read all sections of a tree into *c, which is zeroed, and resolve it. The caller destroys it,
 * also after an error. */
enum status case_read_tree(const struct reader *r, struct flow_case *c);

/* Estimate the velocity that is driven, c->driven. STATUS_MACHINE, reported. */
enum status driven_find(struct flow_case *c);

/* Estimate of the difference of density, 3 dp, by friction between faces, where one of them gives a
 * velocity. */
double driven_density(const struct flow_case *c);

/* The width of the passage that takes most of it; 0: no velocity is given. */
double driven_width(const struct flow_case *c);

/* Defaults that depend on several sections. */
void choose_defaults(struct flow_case *c);

/* The whole case as YAML that reads back to the same struct. If the user gave reynolds, it is
 * written in place of the viscosity, so that rounding cannot change it. NULL, reported, without
 * memory. */
char *case_resolve(const struct flow_case *c);

/* Is it a text of case_resolve()? Its numbers are in lattice units and have none. */
bool case_is_resolved(const char *text);

/* Length of a vector. */
double magnitude(const double v[3]);

/* Are there no walls and no openings at both ends of the axis, so that a flow may be uniform along
 * it? */
bool axis_is_free(const struct flow_case *c, int axis);

/* The fastest velocity of the initial flow, without a perturbation. */
double initial_fastest(const struct flow_case *c);

/* Kinds of things by the keys that they have: bits for `where` of the key table. */
#define SERIES(kind) (1u << SERIES_KIND_##kind)
#define PROFILE(profile) (1u << PROFILE_##profile)
#define VOXELS(format) (1u << VOXEL_##format)
#define SCALAR_KIND(kind) (1u << SCALAR_KIND_##kind)
#define SCALAR_WALL(kind) (1u << SCALAR_WALL_##kind)
#define REFINE(kind) (1u << REFINE_##kind)
enum {
    SERIES_COEFFICIENTS = 1 << 16, /* of forces */
    SERIES_HEAT_OF_BODY = 1 << 17,
    SERIES_NUSSELT = 1 << 18,
    FACE_MOVES = 1 << 16, /* a velocity is given */
    UNITS_OF_TIME = 1,
    FLUID_BY_VISCOSITY = 1,
    FLUID_BY_REYNOLDS = 2,
    FORCE_UNIFORM = 1, /* an acceleration */
    SHAPE_TURNS = 1,   /* or scales */
    SHAPE_MOVES = 2,
    MESH_OPEN = 1,
    STOP_EVERY = 1, /* not a column: has its own interval */
    STOP_OVER = 2,
    ALL_KINDS = -1
};

/* Readers of things with names, and writers of keys that are not written by their type, comparers:
 * members `read`, `write` and `same` of struct key. */
thing_reader patch_read, region_read, body_read, label_read, shape_read, refine_read, scalar_read,
    scalar_part_read, series_read, field_read, average_read, surface_read, image_read;
key_writer law_write, reynolds_write, precision_write, subgrid_write, profile_write, signal_write,
    repeat_write, watched_write, stop_write, columns_write, entries_write, gravity_write,
    reference_write, gradient_write, scalar_initial_write, scalar_walls_write, labels_write,
    series_place_write, scalar_value_write;
key_comparer viscosity_same;

/* Ends the message about a difference between a case and the one of an earlier run. */
#define UNCHANGED                                                                                  \
    "(it may not change on a restart; --overwrite to begin anew, or --output DIR for another "     \
    "folder)"

/* Refuse a speed above MACH_MAX: "... WHAT 0.2 cells a step, Mach 0.346 (at most ...)". */
enum status check_mach(const struct reader *r, const struct node *value, double speed,
                       const char *what);

/* After all sections: refuses a tau so large that the flow is wrong, on any level. */
enum status tau_check(const struct reader *r, const struct flow_case *c);

/* "a smaller units.dt", or "a smaller units.velocity.lattice" where that gives the time step. */
const char *smaller_step(const struct flow_case *c);

/* The key with the value that makes the time step so many times as long. */
enum { TIME_STEP_TEXT = 48 };
const char *time_step_text(const struct flow_case *c, double times, char text[TIME_STEP_TEXT]);

/* Cell Reynolds number of level 0 up to which `auto` takes TRT with regions of finer cells. */
#define REFINE_MOST_CELL 4.0

/* After all sections: refuses what does not go with regions of finer cells. */
enum status refine_check(const struct reader *r, const struct flow_case *c);

/* The part of refined grids of case_say_derived(). */
void refine_say(const struct flow_case *c);

/* Estimate of the velocity that buoyancy makes; 0 without. */
double scalars_velocity(const struct flow_case *c);

/* case_fastest_velocity(), or what sources and fluxes with buoyancy are estimated to drive. */
double scalars_fastest(const struct flow_case *c);

/* Can the limiter act that a scalar asks for? m: of the scalar. STATUS_USAGE, reported. */
enum status limiter_check(struct map m, const struct flow_case *c, int k);

/* The limiter's part of scalars_say(), for scalar k. */
void limiter_say(const struct flow_case *c, int k);

/* The scalars' part of case_say_derived(). */
void scalars_say(const struct flow_case *c);

/* Read a time function by the keys ramp, sine, table and steer of a map whose row has SIGNAL_ROWS
 * below it. */
enum status signal_read(struct map m, struct case_signal *s);
/* That of the map steer. */
enum status steer_read(struct map m, struct case_signal *s);
void signal_destroy(struct case_signal *s);

/* Writers of sections that are not written key by key. */
void faces_write(struct writer *w);

/* Keys of a patch, of a body, of a region with finer cells and of a scalar. */
thing_writer patch_write, body_write, refine_write, scalar_write;

/* Read what scalars meet by the key `scalars` of a map, which may be empty, into wall[], one of
 * each scalar. `fallback`: the kind of those that are not named. `outwards`: the opening of a given
 * velocity has it out of the box. */
struct scalar_place {
    enum scalar_wall fallback;
    const struct opening_cells *cells; /* of a face or patch, where values may vary; else NULL */
    bool required; /* each must be named */
    bool outwards; /* the velocity points out of the box, so that `outflow` may be named */
};
enum status scalar_walls_read(struct map m, struct scalar_place place,
                              struct case_scalar_wall wall[CASE_SCALARS]);

/* Free what these own. */
void scalar_walls_destroy(struct case_scalar_wall wall[CASE_SCALARS]);
void scalar_destroy(struct case_scalar *scalar);
void face_destroy(struct case_face *face);
void patch_destroy(struct case_patch *patch);

void body_destroy(struct case_body *body);
void refine_destroy(struct case_refine *refine);

thing_writer shape_write;
void shape_free(struct case_shape *s);

/* Read the caps of a body, and one of them; write them; free them. */
enum status caps_read(struct map m, struct case_body *body);
enum status cap_read(struct map m, void *thing);
void caps_write(struct writer *w, const struct key *key, const void *from);
void caps_destroy(struct case_body *body);

/* Check the bodies together. */
enum status bodies_check(struct map m, struct flow_case *c);

/* Read the mesh of a map into *to, which is zeroed. */
enum status mesh_read(struct map m, struct case_mesh *to);
void mesh_free(struct case_mesh *m);

/* The body of the map reaches from lo to hi: is it not empty, not too far out, and does it overlap
 * the box? */
enum status body_check_box(struct map m, const double lo[3], const double hi[3]);

/* The labels of an image that a body gives conditions of their own, before the image is read: which
 * they are, for v->apart; after body->scalar: what they meet, into body->labels. `m`: of the body.
 */
enum status labels_find(struct map m, struct voxel_image *v);
enum status labels_read(struct map m, struct case_body *body);
void labels_destroy(struct case_body *body);

/* Read a voxel image, the map bodies.*.image. */
enum status voxel_image_read(struct map m, struct voxel_image *to);
void voxel_image_destroy(struct voxel_image *v);

/* Read run.stop; stop_find_series() completes it once the series are read. */
enum status stop_read(struct map run, struct case_stop *stop);
enum status stop_find_series(const struct reader *r, struct flow_case *c);

/* Between these two calls numbers are read and written with a decimal point, whatever the user's
 * locale. */
struct plain_locale {
    locale_t plain, before;
};
enum status plain_locale_enter(struct plain_locale *l);
void plain_locale_leave(struct plain_locale *l);

/* Read the map fluid.law, when fluid.viscosity is known. */
enum status law_read(struct map m, struct flow_case *c);

/* Refuse what does not go with a law in the map of a region, and of a subgrid model. */
enum status law_region(struct map m);
enum status law_subgrid(const struct flow_case *c, struct map solver, struct map model);

/* How the viscosity is given: FLUID_BY_*. */
unsigned fluid_kind(const struct case_fluid *f);

/* The keys that a series has: bits of its kind. */
unsigned series_kinds(const struct case_series *s);

/* The keys that an initial flow has: bits of enum initial_keys. */
unsigned initial_has(enum initial_flow flow);

#endif
