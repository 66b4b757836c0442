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
enum status section_initial(struct reader *r, struct flow_case *c);
enum status section_force(struct reader *r, struct flow_case *c);
enum status section_regions(struct reader *r, struct flow_case *c);
enum status section_run(struct reader *r, struct flow_case *c);
enum status section_checkpoint(struct reader *r, struct flow_case *c);
enum status section_check(struct reader *r, struct flow_case *c);
enum status section_output(struct reader *r, struct flow_case *c);

/* The whole case as YAML that reads back to the same struct; reynolds in place of viscosity when
 * the user gave that, so that rounding cannot part them. NULL, reported, without memory. */
char *case_resolve(const struct flow_case *c, bool by_reynolds);

/* The viscosity that follows; the one place where it is computed, so that its bits are the same. */
double viscosity_of(double reynolds, double velocity, double length);

/* Numbers are read and written with a point between these two, whatever the user's language. */
struct plain_locale {
    locale_t plain, before;
};
enum status plain_locale_enter(struct plain_locale *l);
void plain_locale_leave(struct plain_locale *l);

/* How a value varies in time: the keys ramp, sine and table, at most one of them, of the map that
 * has the value; none (or no map): constant. path: the row of that map ("force"), below which the
 * table has the rows of these keys. */
enum status signal_read(const struct reader *r, const struct node *map, const char *path,
                        struct case_signal *s);
void signal_destroy(struct case_signal *s);

/* Cells whose centres lie within two corners, faces of the region included: a KEY_OR_MAP of `all`
 * and of the two keys for them. */
struct region_rows {
    const char *region, *from, *to;
};
enum status region_read(const struct reader *r, const struct node *entry, struct region_rows rows,
                        const int cells[3], struct case_region *region);

/* Has the initial flow this key? Shared by reader and writer. */
bool initial_has(enum initial_flow flow, enum initial_keys key);

/* Has the collision operator the magic parameter? */
bool collision_has_magic(enum collision collision);

#endif
