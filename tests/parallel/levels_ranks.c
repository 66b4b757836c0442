/* Levels and their tags do not depend on ranks and cuts: every rank compares its part of each level
 * with the whole level on one process. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/case.h"
#include "tags/bodies.h"
#include "tags/create.h"
#include "tags/faces.h"
#include "tags/refine.h"

static int failed;

#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

static void check(int good, const char *what, int line)
{
    if (!good && failed++ < 10)
        fprintf(stderr, "levels_ranks.c:%d: rank %d: %s\n", line, message_rank(), what);
}

/* A case in cells that are f times finer; `more`: text behind, with lengths. */
static void read_case(int f, int variant, struct flow_case *c)
{
    static const char *const faces[] = {
        "x: periodic, y: wall, z: periodic",
        "xmin: {velocity: {value: [0.01, 0, 0]}}, xmax: {pressure: {}}, ymin: wall, ymax: {wall: "
        "{velocity: [0.02, 0, 0]}}, "
        "z: slip",
        "x: periodic, y: periodic, z: periodic",
    };
    char text[2048];
    const int length = snprintf(
        text, sizeof text,
        "domain: {cells: [%d, %d, %d]}\n"
        "faces: {%s}\n"
        "fluid: {viscosity: 0.05}\n"
        "bodies:\n"
        "  ball: {shape: {sphere: {center: [%g, %g, %g], radius: %g}}, wall: interpolated}\n"
        "  plate: {shape: {box: {from: [%g, %g, %g], to: [%g, %g, %g]}}}\n"
        "regions: {core: {box: {from: [%d, %d, %d], to: [%d, %d, %d]}, collision: bgk}}\n"
        "run: {steps: 1, sparse: %s}\n",
        52 * f, 33 * f, 38 * f, faces[variant], 20.3 * f, 16.1 * f, 17.2 * f, 2.3 * f, 40.0 * f,
        28.0 * f, 5.0 * f, 44.0 * f, 30.0 * f, 11.0 * f, 15 * f, 3 * f, 3 * f, 27 * f, 19 * f,
        30 * f, variant == 1 ? "always" : "never");
    if (length >= (int)sizeof text || case_read("case.yaml", text, length, 0, NULL, c)) {
        fprintf(stderr, "the case is not read\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Regions about the ball, and one that wraps where the box does. */
static int make_regions(struct case_refine *at, int variant)
{
    at[0] = (struct case_refine){.name = "near",
                                 .level = 2,
                                 .of = REFINE_around,
                                 .distance = 1.5,
                                 .behind = 6,
                                 .before = 2,
                                 .stream = {0.8, 0.6, 0}};
    at[1] = (struct case_refine){.name = "wall",
                                 .level = 1,
                                 .of = REFINE_box,
                                 .from = {variant == 1 ? 30 : -3, variant == 2 ? -4 : 0, 20},
                                 .to = {variant == 1 ? 36 : 4, 3, 30}};
    at[2] = (struct case_refine){.name = "tip", .level = 3, .of = REFINE_shape};
    at[2].shape = (struct case_shape){
        .kind = SHAPE_sphere, .center = {20.3, 16.1, 17.2}, .radius = 2.9, .scale = 1};
    return 3;
}

static bool same_levels(const struct refined *a, const struct refined *b)
{
    bool same = a->levels == b->levels;
    for (int l = 0; l < a->levels && same; l++) {
        const int *const n = a->level[l].n;
        const size_t words = ((size_t)n[0] * (size_t)n[1] * (size_t)n[2] + 63) / 64;
        same = !memcmp(a->level[l].cells, b->level[l].cells, sizeof a->level[l].cells) &&
               !memcmp(a->level[l].lo, b->level[l].lo, sizeof a->level[l].lo) &&
               !memcmp(a->level[l].hi, b->level[l].hi, sizeof a->level[l].hi) &&
               !memcmp(n, b->level[l].n, sizeof a->level[l].n) &&
               a->level[l].bricks == b->level[l].bricks && a->level[l].grown == b->level[l].grown &&
               (l == 0 || !memcmp(a->level[l].in, b->level[l].in, words * sizeof(uint64_t)));
    }
    return same;
}

/* The tag of a cell of the box, or one beyond it, in the whole level. */
static uint8_t tag_in(const struct domain *whole, const struct flow_case *c, const int g[3])
{
    const struct view *const v = &whole->view;
    int at[3];
    bool inside = true;
    for (int a = 0; a < 3; a++) {
        at[a] = domain_wrap(whole, a, g[a]) - whole->lo[a];
        inside = inside && at[a] >= 0 && at[a] < v->n[a];
    }
    const uint8_t beyond = faces_beyond(whole, c, g);
    if (beyond != TAG_FLUID)
        return beyond;
    return inside ? v->tags[view_index(v, at[0], at[1], at[2])] : TAG_ABSENT;
}

static void check_tags(const struct domain *d, const struct domain *whole,
                       const struct flow_case *c)
{
    const struct view *const v = &d->view;
    int wrong = 0;
    for (int z = -v->ghost[2]; z < v->n[2] + v->ghost[2]; z++)
        for (int y = -v->ghost[1]; y < v->n[1] + v->ghost[1]; y++)
            for (int x = -v->ghost[0]; x < v->n[0] + v->ghost[0]; x++) {
                const int g[3] = {d->lo[0] + x, d->lo[1] + y, d->lo[2] + z};
                const bool own =
                    x >= 0 && y >= 0 && z >= 0 && x < v->n[0] && y < v->n[1] && z < v->n[2];
                const uint8_t tag = d->tags[view_index(v, x, y, z)];
                const uint8_t is = tag_in(whole, c, g);
                /* Types that the list's kernel steps and others are the same for ghost cells. */
                uint8_t type = tag & TAG_ROW, other = is & TAG_ROW;
                if (!own) {
                    type = d->rows[type].fluid ? TAG_FLUID : type;
                    other = d->rows[other].fluid ? TAG_FLUID : other;
                }
                wrong += type != other || (own && tag != is);
                wrong += own && domain_owner(d, g) != d->rank;
            }
    CHECK(wrong == 0);
}

static void check_level(const struct refined *r, const struct refined *alone, int level,
                        struct flow_case *c, const int cuts[3], int64_t bodies[CASE_BODIES],
                        int64_t *fluid)
{
    struct domain d, whole;
    int64_t near, all;
    CHECK(domain_create_level(&whole, c, alone, level, ROW_BYTES, MPI_COMM_SELF) == STATUS_OK);
    memcpy(c->run.ranks, cuts, sizeof c->run.ranks);
    CHECK(domain_create_level(&d, c, r, level, ROW_BYTES, MPI_COMM_WORLD) == STATUS_OK);
    if (failed)
        return;
    CHECK(d.row_count == whole.row_count);
    CHECK(!memcmp(d.at, whole.at, sizeof d.at) && !memcmp(d.extent, whole.extent, sizeof d.at));
    CHECK(!memcmp(d.at, r->level[level].lo, sizeof d.at));
    CHECK(d.fluid_cells == whole.fluid_cells);
    CHECK(!memcmp(d.body_cells, whole.body_cells, sizeof d.body_cells));
    CHECK((c->run.sparse == SPARSE_always) == (d.place != NULL));
    CHECK(d.imbalance >= 1);
    near = (int64_t)d.view.near.count;
    MPI_Allreduce(&near, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == (int64_t)whole.view.near.count);
    for (int a = 0; a < 3; a++) {
        CHECK(d.cut[a][0] == d.at[a] && d.cut[a][d.cuts[a]] == d.at[a] + d.extent[a]);
        CHECK(d.periodic[a] == (d.box_periodic[a] && d.extent[a] == d.cells[a]));
    }
    for (int k = 0; k < CASE_BODIES; k++)
        bodies[k] += d.body_cells[k];
    *fluid = d.fluid_cells;
    check_tags(&d, &whole, c);
    domain_destroy(&d);
    domain_destroy(&whole);
}

/* Cells of the box that are in no body, and of the bodies, counted on the finest level that has
 * them, in cells of level 3. */
static void check_variant(int variant, const int cuts[3])
{
    enum { FINEST = 3 };
    struct case_refine regions[3];
    struct flow_case c[FINEST + 1];
    struct refined r, alone;
    int64_t bodies[CASE_BODIES] = {0}, fluid[FINEST + 1] = {0};
    for (int l = 0; l <= FINEST; l++) {
        read_case(1 << l, variant, &c[l]);
    }
    c[0].refines = regions;
    c[0].refine_count = make_regions(regions, variant);
    CHECK(refine_make(&r, &c[0], MPI_COMM_WORLD) == STATUS_OK);
    CHECK(refine_make(&alone, &c[0], MPI_COMM_SELF) == STATUS_OK);
    if (!failed) {
        CHECK(r.levels == FINEST + 1);
        CHECK(same_levels(&r, &alone));
    }
    for (int l = 0; l < r.levels && !failed; l++)
        check_level(&r, &alone, l, &c[l], cuts, bodies, &fluid[l]);
    CHECK(bodies_found(&c[0], bodies) == STATUS_OK);
    if (!failed) {
        int64_t cells = 0, ball = 0;
        for (int l = 0; l <= FINEST; l++)
            cells += fluid[l] << 3 * (FINEST - l);
        /* The plate is on level 0, the ball on the finest level. */
        ball = bodies[0];
        const int64_t solid = ball + (bodies[1] << 3 * FINEST);
        CHECK(bodies[1] == 4 * 2 * 6);
        CHECK(fabs((double)ball / (4.0 / 3 * 3.14159265 * pow(2.3 * 8, 3)) - 1) < 0.01);
        CHECK(cells + solid == (int64_t)(52 * 33 * 38) << 3 * FINEST);
    }
    c[0].refines = NULL;
    c[0].refine_count = 0;
    refined_destroy(&r);
    refined_destroy(&alone);
    for (int l = 0; l <= FINEST; l++)
        case_destroy(&c[l]);
}

/* A plate from x0 to x1, z0 to z1 and a box of level 1 from from to to of x, 4 to 12 of z, in a box
 * of nx cells that is periodic along x. level: that of the plate; says: part of the message, NULL:
 * there is enough room between the plate and the edge. */
static void check_room(int nx, double x0, double x1, double z0, double z1, double from, double to,
                       int level, const char *says)
{
    struct case_refine box = {.name = "near", .level = 1, .of = REFINE_box};
    struct flow_case c[2];
    struct refined r;
    struct domain d;
    for (int l = 0; l < 2; l++) {
        char text[1024];
        const int f = 1 << l;
        const int length =
            snprintf(text, sizeof text,
                     "domain: {cells: [%d, %d, %d]}\nfaces: {x: periodic, y: wall, z: wall}\n"
                     "fluid: {viscosity: 0.05}\nrun: {steps: 1}\n"
                     "bodies: {plate: {shape: {box: {from: [%g, %g, %g], to: [%g, %g, %g]}}}}\n",
                     nx * f, 40 * f, 30 * f, x0 * f, 16.0 * f, z0 * f, x1 * f, 20.0 * f, z1 * f);
        CHECK(case_read("case.yaml", text, length, 0, NULL, &c[l]) == STATUS_OK);
    }
    box.from[0] = from;
    box.to[0] = to;
    box.from[1] = 8;
    box.to[1] = 28;
    box.from[2] = 4;
    box.to[2] = 12;
    c[0].refines = &box;
    c[0].refine_count = 1;
    CHECK(refine_make(&r, &c[0], MPI_COMM_WORLD) == STATUS_OK);
    const enum status status =
        domain_create_level(&d, &c[level], &r, level, ROW_BYTES, MPI_COMM_WORLD);
    CHECK(status == (says ? STATUS_USAGE : STATUS_OK));
    if (says && status && message_rank() == 0) /* the one that prints */
        CHECK(message_error() && strstr(message_error(), says));
    if (!status)
        domain_destroy(&d);
    refined_destroy(&r);
    c[0].refines = NULL;
    c[0].refine_count = 0;
    for (int l = 0; l < 2; l++)
        case_destroy(&c[l]);
}

static void bodies_keep_away_from_edges(void)
{
    check_room(50, 20, 24, 5, 11, 12, 32, 1, NULL);
    check_room(50, 20, 24, 5, 11.5, 12, 32, 1,
               "bodies.plate comes within 2 fine cells of the edge of level 1 at (20.25, 16.25, "
               "11.25) (enlarge refine.near");
    check_room(50, 14, 24, 5, 11, 12, 32, 1, NULL);
    check_room(50, 12.5, 24, 5, 11, 12, 32, 1, "comes within 2 fine cells of the edge of level 1");
    check_room(50, 10, 24, 5, 11, 12, 32, 0, "comes within 3 coarse cells of the edge of level 1");
    check_room(50, 36, 40, 5, 11, 12, 32, 0, NULL);
    check_room(50, 35, 40, 5, 11, 12, 32, 0, NULL);
    check_room(50, 34, 40, 5, 11, 12, 32, 0,
               "comes within 3 coarse cells of the edge of level 1 at (34.5, 16.5, 5.5)");
    check_room(50, 1, 4, 5, 11, 40, 48, 0, NULL); /* across the periodic face */
    check_room(50, 0, 4, 5, 11, 40, 48, 0, "at (0.5, 16.5, 5.5)");
    check_room(49, 1, 4, 5, 11, 40, 48, 0, "at (1.5, 16.5, 5.5)");
    check_room(50, 20, 24, 14, 18, 12, 32, 0, "at (20.5, 16.5, 14.5)");
    check_room(50, 20, 24, 15, 18, 12, 32, 0, NULL);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    for (int variant = 0; variant < 3; variant++) {
        check_variant(variant, (const int[3]){0, 0, 0});
        check_variant(variant, (const int[3]){ranks, 1, 1});
        check_variant(variant, (const int[3]){1, ranks, 1});
    }
    bodies_keep_away_from_edges();
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed != 0;
}
