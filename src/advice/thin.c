/* Parts of bodies that the grid loses; see thin.h. */
#include "advice/thin.h"

#include <stdio.h>

#include "base/message.h"
#include "body/shape.h"

/* Least area of thin sheets, in faces of cells: less is a sharp corner. */
static const double least_sheets = 4;

static void warn_shape(const struct case_body *body)
{
    struct shape_thin found;
    char others[48] = "";
    if (!shape_find_thin(&body->shape, &found) || !found.parts)
        return; /* no memory for a warning is no error */
    if (found.parts > 1)
        snprintf(others, sizeof others, ", and %d more parts are thin", found.parts - 1);
    warn("body_thin",
         "bodies.%s: %s%s is %.3g cells thick%s, and %d hold the centre of no cell: such parts "
         "vanish in whole or in part, or become a cell thick (a finer grid, or thicker parts)",
         body->name, *found.name ? "its part " : "it", found.name, found.thickness, others,
         found.lost);
}

static void warn_doubt(const struct case_body *body)
{
    const struct mesh_doubt *const d = &body->mesh.facts.doubt;
    char others[48] = "";
    if (d->parts > 1)
        snprintf(others, sizeof others, ", and so are %u more parts", (unsigned)d->parts - 1);
    if (d->parts)
        warn("mesh_inside_out",
             "bodies.%s: a part of its mesh of %zu triangles, from [%.4g, %.4g, %.4g] to [%.4g, "
             "%.4g, %.4g] on the coarsest grid, is inside out and only partly within another "
             "part%s: it is taken as %s (turn its triangles round, or unite the parts)",
             body->name, d->triangles, d->lo[0], d->lo[1], d->lo[2], d->hi[0], d->hi[1], d->hi[2],
             others, d->cavity ? "a cavity" : "solid");
}

void thin_warn(const struct case_body *body)
{
    const struct mesh_facts *const f = &body->mesh.facts;
    if (body->image.file)
        return;
    if (!body->mesh.file) {
        warn_shape(body);
        return;
    }
    warn_doubt(body);
    if (f->sheets >= least_sheets)
        warn("mesh_thin",
             "bodies.%s: its mesh has sheets or needles that are thinner than a cell, of about "
             "%.3g cells in all (%.2g %% of its surface): they vanish in whole or in part, or "
             "become a cell thick (a finer grid, or a thicker mesh)",
             body->name, f->sheets, 200 * f->sheets / f->area);
    if (f->lost)
        warn("mesh_parts_lost",
             "bodies.%s: %u of the %u parts of its mesh hold the centre of no cell: they are "
             "missing (a finer grid, or remove them)",
             body->name, (unsigned)f->lost, (unsigned)f->parts);
}
