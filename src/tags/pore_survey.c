/* Pores of the images and of the box; see pore_survey.h. */
#include "tags/pore_survey.h"

#include <string.h>

#include "base/message.h"

struct case_region image_region(const struct voxel_image *image)
{
    struct case_region region;
    for (int a = 0; a < 3; a++) {
        region.lo[a] = image->at[a];
        region.hi[a] = image->at[a] + voxel_image_cells(image, a);
    }
    return region;
}

/* Fluid in an image that fills the box is the box's. */
static bool same_region(const struct case_region *a, const struct case_region *b)
{
    return memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0;
}

bool pore_survey_wanted(const struct flow_case *c)
{
    bool wanted = false;
    for (int k = 0; k < c->body_count; k++)
        wanted |= c->bodies[k].image.file != NULL;
    for (int k = 0; k < c->series_count; k++)
        wanted |= c->body_count > 0 && c->series[k].kind == SERIES_KIND_permeability;
    for (int k = 0; k < c->scalar_count; k++)
        wanted |= c->body_count > 0 && scalar_has_gradient(&c->scalars[k]);
    return wanted;
}

enum status pore_survey_check(const struct pore_survey *s, const struct flow_case *c)
{
    const int64_t isolated = s->count ? s->place[s->count - 1].pores.isolated_cells : 0;
    for (int k = 0; k < c->scalar_count && isolated; k++)
        if (scalar_has_gradient(&c->scalars[k]))
            return fail_user("scalars.%s.gradient: %lld fluid cells are isolated; a scalar with a "
                             "gradient never settles there (make them solid; in an image with "
                             "bodies.*.image.isolated: fill)",
                             c->scalars[k].name, (long long)isolated);
    const struct pores *const box = s->count ? &s->place[s->count - 1].pores : NULL;
    for (int k = 0; k < c->scalar_count && box && box->parts > 1; k++)
        if (scalar_has_gradient(&c->scalars[k]))
            warn("gradient_parts",
                 "scalars.%s.gradient: the fluid is in %lld parts that do not exchange the scalar: "
                 "where they move at different speeds D* grows for ever (keep one part)",
                 c->scalars[k].name, (long long)box->parts);
    return STATUS_OK;
}

enum status pore_survey_make(struct pore_survey *s, const struct domain *d,
                             const struct flow_case *c)
{
    enum status status = STATUS_OK;
    *s = (struct pore_survey){.count = 0};
    for (int k = 0; k <= c->body_count && !status; k++) {
        struct pore_place *const place = &s->place[s->count];
        const bool box = k == c->body_count;
        if (!box && !c->bodies[k].image.file)
            continue;
        place->name = box ? NULL : c->bodies[k].name;
        place->region =
            box ? (struct case_region){{0, 0, 0}, {c->cells[0], c->cells[1], c->cells[2]}}
                : image_region(&c->bodies[k].image);
        const struct pore_place *const before = s->count ? place - 1 : NULL;
        status = before && same_region(&before->region, &place->region)
                     ? pores_copy(d, &before->pores, &place->pores, &place->region)
                     : pores_find(d, c, &place->region, &place->pores);
        s->count += !status;
    }
    if (status)
        pore_survey_destroy(s);
    return status;
}

void pore_survey_destroy(struct pore_survey *s)
{
    for (int k = 0; k < s->count; k++)
        pores_destroy(&s->place[k].pores);
    s->count = 0;
}
