/* Meshes: what is wrong with them, cells inside and links cut, against solids known by formula. */
#include "body/mesh.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "body/shape.h"
#include "lattice.h"

#define PI 3.14159265358979323846

enum { N = 32, ROOM = 40000 };

/* A mesh in the making: corners as they come, three a triangle. */
static struct {
    double corner[3 * ROOM][3];
    size_t count;
} made;

static void add(const double a[3], const double b[3], const double c[3])
{
    assert_true(made.count + 3 <= 3 * (size_t)ROOM);
    memcpy(made.corner[made.count++], a, 3 * sizeof *a);
    memcpy(made.corner[made.count++], b, 3 * sizeof *b);
    memcpy(made.corner[made.count++], c, 3 * sizeof *c);
}

static void add_square(const double a[3], const double b[3], const double c[3], const double d[3])
{
    add(a, b, c);
    add(a, c, d);
}

/* The six faces of a box, outwards; faces: bits of those that are there. */
static void add_box(const double lo[3], const double hi[3], unsigned faces)
{
    for (int f = 0; f < 6; f++) {
        const int n = f / 2, u = (n + 1) % 3, v = (n + 2) % 3;
        double p[4][3];
        for (int k = 0; k < 4; k++) {
            p[k][n] = f % 2 ? hi[n] : lo[n];
            p[k][u] = (k == 1 || k == 2) ? hi[u] : lo[u];
            p[k][v] = k >= 2 ? hi[v] : lo[v];
        }
        if (faces >> f & 1)
            f % 2 ? add_square(p[0], p[1], p[2], p[3]) : add_square(p[3], p[2], p[1], p[0]);
    }
}

static void torus_point(int i, int j, int n, double to[3])
{
    const double a = 2 * PI * (i % n) / n, b = 2 * PI * (j % n) / n;
    to[0] = 16.1 + (9 + 4 * cos(b)) * cos(a);
    to[1] = 15.7 + (9 + 4 * cos(b)) * sin(a);
    to[2] = 16.3 + 4 * sin(b);
}

static void add_torus(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double p[4][3];
            torus_point(i, j, n, p[0]);
            torus_point(i + 1, j, n, p[1]);
            torus_point(i + 1, j + 1, n, p[2]);
            torus_point(i, j + 1, n, p[3]);
            add_square(p[0], p[1], p[2], p[3]);
        }
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(double));
}

/* The mesh made, its equal corners one vertex each. */
static void take(struct stl *m)
{
    double(*const sorted)[3] = malloc(made.count * sizeof *sorted);
    *m = (struct stl){.triangles = made.count / 3,
                      .vertex = malloc(made.count * sizeof *m->vertex),
                      .triangle = malloc(made.count / 3 * sizeof *m->triangle)};
    assert_true(sorted && m->vertex && m->triangle);
    memcpy(sorted, made.corner, made.count * sizeof *sorted);
    qsort(sorted, made.count, sizeof *sorted, compare);
    for (size_t k = 0; k < made.count; k++)
        if (!k || compare(sorted[k], sorted[k - 1]))
            memcpy(m->vertex[m->vertices++], sorted[k], sizeof *sorted);
    for (size_t k = 0; k < made.count; k++) {
        const double(*const at)[3] =
            bsearch(made.corner[k], m->vertex, m->vertices, sizeof *m->vertex, compare);
        assert_non_null(at);
        m->triangle[k / 3][k % 3] = (uint32_t)(at - (const double(*)[3])m->vertex);
    }
    free(sorted);
    made.count = 0;
}

struct solid {
    struct stl stl;
    struct mesh_facts facts;
    struct case_mesh from;
    struct mesh mesh;
};

static const int box_lo[3] = {-1, -1, -1}, box_hi[3] = {N + 1, N + 1, N + 1};

static void finish(struct solid *s)
{
    double lo[3], hi[3];
    take(&s->stl);
    s->from = (struct case_mesh){.stl = &s->stl, .scale = 1};
    mesh_extent(&s->stl, s->from.rotate, lo, hi);
    for (int a = 0; a < 3; a++)
        s->from.center[a] = 0.5 * (lo[a] + hi[a]);
    assert_true(mesh_look(&s->stl, &s->from.facts));
    assert_true(mesh_turn_parts(&s->from));
    assert_true(mesh_measure(&s->from));
    s->facts = s->from.facts;
    assert_true(mesh_create(&s->mesh, &s->from, box_lo, box_hi, MESH_LINKS_all));
}

static void forget(struct solid *s)
{
    mesh_destroy(&s->mesh);
    stl_destroy(&s->stl);
}

static bool in_mesh(const struct mesh *m, int x, int y, int z)
{
    uint8_t inside = 0;
    mesh_row(m, x, 1, y, z, &inside);
    return inside;
}

static int64_t cells_of(const struct mesh *m)
{
    uint8_t row[N + 2];
    int64_t cells = 0;
    for (int z = -1; z <= N; z++)
        for (int y = -1; y <= N; y++) {
            memset(row, 0, sizeof row);
            mesh_row(m, -1, N + 2, y, z, row);
            for (int x = 0; x < N + 2; x++)
                cells += row[x];
        }
    return cells;
}

/* Faces on the planes of centres, edges and corners on centres: [lo, hi) along each axis. */
static void faces_on_centres_leave_no_gap(void **state)
{
    static const double lo[3] = {4.5, 6.5, 8.5}, hi[3] = {14.5, 12.5, 19.5};
    struct solid s = {0};
    (void)state;
    add_box(lo, hi, 63);
    finish(&s);
    assert_true(s.facts.triangles == 12 && !s.facts.open && !s.facts.crowded && !s.facts.turned);
    assert_true(fabs(s.facts.volume - 660) < 1e-9 && s.facts.area == 2 * (60 + 66 + 110) &&
                s.facts.parts == 1);
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                assert_int_equal(in_mesh(&s.mesh, x, y, z),
                                 x >= 4 && x < 14 && y >= 6 && y < 12 && z >= 8 && z < 19);
    assert_true(s.facts.cells == 660 && cells_of(&s.mesh) == 660);
    assert_true(!s.facts.thin && !s.facts.lost);
    forget(&s);
}

/* Two boxes that share a face, as one L: 4 triangles at an edge where the faces stay, or the same
 * triangle with both orientations. */
static void bodies_that_touch_are_one(void **state)
{
    static const double a[2][3] = {{4.5, 4.5, 4.5}, {20.5, 10.5, 12.5}},
                        b[2][3] = {{4.5, 10.5, 4.5}, {10.5, 20.5, 12.5}},
                        c[2][3] = {{4.5, 10.5, 4.5}, {20.5, 20.5, 12.5}};
    struct solid s = {0};
    (void)state;
    add_box(a[0], a[1], 63);
    add_box(b[0], b[1], 63);
    finish(&s);
    assert_true(!s.facts.open && !s.facts.turned && s.facts.triangles == 24);
    assert_true(fabs(s.facts.volume - 16 * 6 * 8 - 6 * 10 * 8) < 1e-9);
    assert_true(cells_of(&s.mesh) == 16 * 6 * 8 + 6 * 10 * 8);
    for (int x = 0; x < N; x++)
        assert_int_equal(in_mesh(&s.mesh, x, 10, 7), x >= 4 && x < 10);
    forget(&s);
    add_box(a[0], a[1], 63);
    add_box(c[0], c[1], 63);
    finish(&s);
    assert_true(!s.facts.open && s.facts.crowded >= 4 && s.facts.parts == 1);
    assert_true(cells_of(&s.mesh) == 16 * 16 * 8);
    forget(&s);
}

/* Overlapping parts, a cavity, a mesh inside out. */
static void windings_decide(void **state)
{
    static const double a[2][3] = {{4, 4, 4}, {16, 16, 16}}, b[2][3] = {{10, 10, 10}, {24, 24, 24}},
                        c[2][3] = {{6, 6, 6}, {9, 9, 9}};
    struct solid s = {0};
    (void)state;
    add_box(a[0], a[1], 63);
    add_box(b[0], b[1], 63);
    finish(&s);
    assert_true(s.facts.parts == 2 && cells_of(&s.mesh) == 12 * 12 * 12 + 14 * 14 * 14 - 216);
    forget(&s);

    add_box(a[0], a[1], 63);
    add_box((const double[3]){6, 6, 6}, c[1], 63);
    for (size_t k = 36; k < made.count; k += 3) { /* turn the second one */
        double keep[3];
        memcpy(keep, made.corner[k], sizeof keep);
        memcpy(made.corner[k], made.corner[k + 1], sizeof keep);
        memcpy(made.corner[k + 1], keep, sizeof keep);
    }
    finish(&s);
    assert_true(fabs(s.facts.volume - 1728 + 27) < 1e-9 && cells_of(&s.mesh) == 1728 - 27);
    forget(&s);

    add_box(a[1], a[0], 63); /* corners exchanged: inside out */
    finish(&s);
    assert_true(fabs(s.facts.volume + 1728) < 1e-9 && cells_of(&s.mesh) == 1728 &&
                s.mesh.outward == -1);
    forget(&s);

    add_box(a[0], a[1], 63); /* one triangle turned: its neighbours turn it back */
    double keep[3];
    memcpy(keep, made.corner[7], sizeof keep);
    memcpy(made.corner[7], made.corner[8], sizeof keep);
    memcpy(made.corner[8], keep, sizeof keep);
    finish(&s);
    assert_true(!s.facts.turned && s.facts.righted == 1 && !s.facts.open);
    assert_true(cells_of(&s.mesh) == 1728 && s.mesh.agreed);
    forget(&s);
}

/* Turns the triangles that were added after `from` corners. */
static void turn_since(size_t from)
{
    for (size_t k = from; k < made.count; k += 3) {
        double keep[3];
        memcpy(keep, made.corner[k], sizeof keep);
        memcpy(made.corner[k], made.corner[k + 1], sizeof keep);
        memcpy(made.corner[k + 1], keep, sizeof keep);
    }
}

/* A box that is inside out beside, partly in or in another one; cells of both, of each by itself.
 */
static void parts_that_are_inside_out_leave_no_hollow(void **state)
{
    static const double a[2][3] = {{4, 4, 4}, {16, 16, 16}};
    static const struct {
        double lo[3], hi[3];
        int64_t cells, shared;
        size_t inverted;
        uint32_t doubt;
        bool cavity;
    } tries[] = {
        {{14, 6, 6}, {24, 14, 14}, 1728 + 640 - 128, 128, 1, 1, false}, /* a fifth of it */
        {{4, 4, 4}, {8, 8, 30}, 1728 + 224, 192, 1, 1, false},          /* a common corner */
        {{20, 6, 6}, {24, 14, 14}, 1728 + 256, 0, 1, 0, false},         /* beside it */
        {{6, 6, 6}, {10, 10, 10}, 1728 - 64, 0, 0, 0, true},            /* in it */
        {{8, 4, 4}, {12, 16, 16}, 1728 - 576, 0, 0, 0, true},           /* a hole through it */
        {{8, 8, 3}, {12, 12, 16}, 1728 - 192, 0, 0, 1, true},   /* and one that ends outside */
        {{4, 16, 4}, {16, 20, 16}, 1728 + 576, 0, 0, 0, false}, /* on it: one part */
    };
    struct solid s = {0};
    (void)state;
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        for (int larger = 0; larger < 2; larger++) { /* which of both is turned */
            add_box(a[0], a[1], 63);
            const size_t first = made.count;
            add_box(tries[k].lo, tries[k].hi, 63);
            turn_since(first);
            if (larger)
                turn_since(0);
            finish(&s);
            if (s.facts.cells != tries[k].cells || cells_of(&s.mesh) != tries[k].cells)
                fail_msg("box %zu: %lld cells", k, (long long)s.facts.cells);
            assert_int_equal(s.facts.shared, tries[k].shared);
            assert_int_equal(s.facts.doubt.parts, tries[k].doubt);
            assert_int_equal(s.facts.hollow, tries[k].cavity);
            assert_true(s.facts.sheets == 0);
            assert_true(!tries[k].doubt || s.facts.doubt.triangles == 12);
            assert_true(larger || s.facts.inverted == tries[k].inverted);
            forget(&s);
        }
    }
}

/* Hollow balls side by side, one inside out as a whole; cavities that overlap are empty; a triangle
 * that is turned does not make parity decide where parts overlap. */
static void nested_parts_turn_together(void **state)
{
    struct solid s = {0};
    (void)state;
    add_box((const double[3]){2, 2, 2}, (const double[3]){14, 14, 14}, 63);
    const size_t first = made.count;
    add_box((const double[3]){16, 2, 2}, (const double[3]){26, 12, 12}, 63);
    turn_since(first);
    add_box((const double[3]){18, 4, 4}, (const double[3]){24, 10, 10}, 63); /* its hollow */
    finish(&s);
    assert_true(s.facts.cells == 1728 + 1000 - 216 && cells_of(&s.mesh) == s.facts.cells);
    assert_true(s.facts.inverted == 2 && !s.facts.doubt.parts);
    forget(&s);

    add_box((const double[3]){2, 2, 2}, (const double[3]){22, 22, 22}, 63);
    const size_t cavities = made.count;
    add_box((const double[3]){4, 4, 4}, (const double[3]){12, 12, 12}, 63);
    add_box((const double[3]){8, 8, 8}, (const double[3]){16, 16, 16}, 63);
    turn_since(cavities);
    finish(&s);
    assert_true(cells_of(&s.mesh) == 8000 - 2 * 512 + 64 && s.facts.cells == cells_of(&s.mesh));
    forget(&s);

    add_box((const double[3]){2, 2, 2}, (const double[3]){14, 14, 14}, 63);
    add_box((const double[3]){10, 4, 4}, (const double[3]){22, 12, 12}, 63);
    double keep[3];
    memcpy(keep, made.corner[7], sizeof keep);
    memcpy(made.corner[7], made.corner[8], sizeof keep);
    memcpy(made.corner[8], keep, sizeof keep);
    finish(&s);
    assert_true(s.facts.righted == 1 && cells_of(&s.mesh) == 1728 + 768 - 256);
    assert_true(s.facts.cells == cells_of(&s.mesh) && s.facts.shared == 256);
    forget(&s);
}

static void flat_and_double_triangles_are_left_out(void **state)
{
    static const double lo[3] = {4, 4, 4}, hi[3] = {16, 16, 16}, p[3] = {1, 2, 3}, q[3] = {9, 9, 9};
    struct solid s = {0};
    (void)state;
    add_box(lo, hi, 63);
    add_box(lo, hi, 5); /* two faces again */
    add(p, p, q);
    finish(&s);
    assert_true(s.facts.triangles == 12 && s.facts.twice == 4 && s.facts.flat == 1);
    assert_true(!s.facts.open && !s.facts.crowded && s.facts.parts == 1);
    assert_true(cells_of(&s.mesh) == 1728);
    forget(&s);
}

/* A box without a lid, and one with a triangle missing on a side: the axes' votes close them. */
static void votes_close_open_meshes(void **state)
{
    static const double lo[3] = {4, 4, 4}, hi[3] = {16, 18, 20};
    struct solid s = {0};
    (void)state;
    for (int f = 0; f < 6; f++) {
        add_box(lo, hi, 63 & ~(1u << f));
        finish(&s);
        assert_true(s.facts.open == 4 && !s.mesh.closed);
        assert_true(cells_of(&s.mesh) == 12 * 14 * 16 && in_mesh(&s.mesh, 10, 10, 10));
        forget(&s);
    }
    add_box(lo, hi, 63);
    made.count -= 3;
    finish(&s);
    assert_true(s.facts.open == 3 && cells_of(&s.mesh) == 12 * 14 * 16);
    forget(&s);
}

static void parts_that_the_grid_loses_are_counted(void **state)
{
    struct solid s = {0};
    (void)state;
    add_box((const double[3]){2, 2, 2}, (const double[3]){12, 12, 12}, 63);
    add_box((const double[3]){14.6, 2, 2}, (const double[3]){15.4, 12, 12},
            63); /* between centres */
    add_box((const double[3]){18.1, 2, 2}, (const double[3]){19.7, 12, 12}, 63); /* a sheet */
    add_box((const double[3]){22, 22, 22}, (const double[3]){24, 24, 24}, 63);
    finish(&s);
    assert_true(s.facts.parts == 4 && s.facts.lost == 1 && s.facts.thin == 1);
    forget(&s);
}

/* Adds a prism along z whose section is a polygon that is convex, counterclockwise. */
static void add_prism(int count, const double (*at)[2], double z0, double z1)
{
    for (int k = 0; k < count; k++) {
        const double *const p = at[k], *const q = at[(k + 1) % count];
        const double a[3] = {p[0], p[1], z0}, b[3] = {q[0], q[1], z0}, c[3] = {p[0], p[1], z1},
                     d[3] = {q[0], q[1], z1};
        add(a, b, d);
        add(a, d, c);
        if (k < 2 || k == count)
            continue;
        const double o[3] = {at[0][0], at[0][1], z0}, e[3] = {at[k - 1][0], at[k - 1][1], z0},
                     u[3] = {at[0][0], at[0][1], z1}, v[3] = {at[k - 1][0], at[k - 1][1], z1};
        add(o, a, e);
        add(u, v, c);
    }
}

/* Sheets are found at any place and tilt, with their area to a quarter; edges of wedges and of
 * thick bodies are none. */
static void thin_sheets_are_told_from_sharp_edges(void **state)
{
    static const struct {
        int count;
        double at[4][2], z0, z1, area; /* of sheets */
    } tries[] = {
        {4, {{4.3, 4}, {4.7, 4}, {4.7, 20}, {4.3, 20}}, 4, 14, 160}, /* between centres */
        {4, {{4.1, 4}, {4.9, 4}, {4.9, 20}, {4.1, 20}}, 4, 14, 160}, /* about them */
        {4, {{4, 4.5}, {4.5, 4}, {16.5, 16}, {16, 16.5}}, 4, 14, 170},
        {4, {{4, 4.2}, {4.1, 4}, {24.1, 14}, {24, 14.2}}, 4, 14, 224},
        {4, {{4, 4}, {5.2, 4}, {5.2, 20}, {4, 20}}, 4, 14, 0},
        {3, {{4, 4}, {24, 6}, {4, 8}}, 4, 24, 0},     /* a wedge of 23 degrees */
        {3, {{4, 4}, {28, 5.2}, {4, 6.4}}, 4, 24, 0}, /* 11 */
        {4, {{14, 4}, {24, 14}, {14, 24}, {4, 14}}, 4, 24, 0},
        {4, {{4, 4}, {24, 4}, {24, 24}, {4, 24}}, 4, 24, 0},
    };
    struct solid s = {0};
    (void)state;
    for (size_t k = 0; k < sizeof tries / sizeof *tries; k++) {
        add_prism(tries[k].count, tries[k].at, tries[k].z0, tries[k].z1);
        finish(&s);
        assert_true(!s.facts.open && !s.facts.turned && s.facts.volume > 0);
        if (fabs(s.facts.sheets - tries[k].area) > 0.25 * tries[k].area + 1)
            fail_msg("prism %zu: %g cells of sheets, not %g", k, s.facts.sheets, tries[k].area);
        forget(&s);
    }
    /* needles: one of 20 cells, turned a little, so that some lines meet it */
    add_prism(4, (const double[4][2]){{4, 4.3}, {4.4, 4}, {24.4, 14}, {24, 14.3}}, 4.2, 4.8);
    finish(&s);
    assert_true(s.facts.sheets > 4);
    forget(&s);
}

/* A torus of tiny triangles against the formula, any piece of a row, and any box of a rank. */
static void a_torus_is_the_formula(void **state)
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    const struct case_shape ring = {.kind = SHAPE_torus,
                                    .center = {16.1, 15.7, 16.3},
                                    .radius = 9,
                                    .tube = 4,
                                    .axis = {0, 0, 1},
                                    .scale = 1};
    struct shape exact;
    struct solid s = {0};
    struct mesh half;
    int wrong = 0, links = 0;
    (void)state;
    add_torus(140);
    finish(&s);
    assert_true(shape_create(&exact, &ring));
    assert_true(s.facts.triangles == 39200 && !s.facts.open && !s.facts.crowded);
    assert_true(fabs(s.facts.volume - 2 * PI * PI * 9 * 16) < 2e-3 * s.facts.volume);
    assert_true(fabs(s.facts.area - 4 * PI * PI * 9 * 4) < 2e-3 * s.facts.area);
    const int lo[3] = {3, 9, 8}, hi[3] = {17, 20, 21};
    assert_true(mesh_create(&half, &s.from, lo, hi, MESH_LINKS_all));
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++) {
            uint8_t row[N] = {0};
            mesh_row(&s.mesh, 0, N, y, z, row);
            for (int x = 0; x < N; x++) {
                const double at[3] = {x + 0.5, y + 0.5, z + 0.5};
                const int cell[3] = {x, y, z};
                const bool near =
                    x >= lo[0] && x < hi[0] && y >= lo[1] && y < hi[1] && z >= lo[2] && z < hi[2];
                wrong += row[x] != shape_holds(&exact, at);
                assert_int_equal(in_mesh(&s.mesh, x, y, z), row[x]);
                if (near)
                    assert_int_equal(in_mesh(&half, x, y, z), row[x]);
                for (int i = 1; i < Q && !row[x]; i++) {
                    const int *const c = velocity[i];
                    if (!in_mesh(&s.mesh, x + c[0], y + c[1], z + c[2]))
                        continue;
                    const double q = mesh_crossing(&s.mesh, cell, c);
                    links++;
                    if (fabs(q - shape_crossing(&exact, cell, c)) > 0.05)
                        wrong++;
                    if (near)
                        assert_true(mesh_crossing(&half, cell, c) == q);
                }
            }
        }
    assert_true(s.facts.cells == cells_of(&s.mesh));
    assert_true(links > 5000);
    if (wrong > 30)
        fail_msg("%d cells and links of %d differ from the formula's", wrong, links);
    mesh_destroy(&half);
    shape_destroy(&exact);
    forget(&s);
}

/* Links into a box with faces between centres, at a quarter, and on centres. */
static void links_are_cut_at_the_faces(void **state)
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    static const double lo[3] = {4.75, 6.5, 8.25}, hi[3] = {14.75, 12.5, 19};
    struct solid s = {0};
    int links = 0;
    (void)state;
    add_box(lo, hi, 63);
    finish(&s);
    for (int n = 0; n < N * N * N; n++)
        for (int i = 1; i < Q; i++) {
            const int cell[3] = {n % N, n / N % N, n / N / N}, *const c = velocity[i];
            if (in_mesh(&s.mesh, cell[0], cell[1], cell[2]) ||
                !in_mesh(&s.mesh, cell[0] + c[0], cell[1] + c[1], cell[2] + c[2]))
                continue;
            double enter = 0x1p-40;
            for (int a = 0; a < 3; a++) {
                const double p = cell[a] + 0.5;
                enter = fmax(enter, c[a] > 0 ? lo[a] - p : c[a] < 0 ? p - hi[a] : 0);
            }
            links++;
            if (fabs(mesh_crossing(&s.mesh, cell, c) - enter) > 1e-12)
                fail_msg("%d %d %d along %d: %g, not %g", cell[0], cell[1], cell[2], i,
                         mesh_crossing(&s.mesh, cell, c), enter);
        }
    assert_true(links > 1000);
    forget(&s);
}

/* Links out of two boxes that overlap, or of which one is a cavity of the other, leave where the
 * formula says; also if the mesh is inside out as a whole. */
static void links_leave_where_the_mesh_ends(void **state)
{
    static const int velocity[Q][3] = LATTICE_VELOCITIES;
    static const double lo[2][3] = {{4.75, 6.7, 8.25}, {9.25, 9.75, 11.6}},
                        hi[3] = {14.75, 12.3, 19}, far[2][3] = {{18.6, 16, 15.25}, {12.7, 11, 15}};
    for (int way = 0; way < 4; way++) {
        const bool cavity = way % 2, inverted = way / 2;
        struct solid s = {0};
        int links = 0, wrong = 0;
        (void)state;
        add_box(lo[0], hi, 63);
        const size_t first = made.count;
        add_box(lo[1], far[cavity], 63);
        for (size_t k = 0; k < made.count; k += 3)
            if ((cavity && k >= first) != inverted) {
                double corner[3];
                memcpy(corner, made.corner[k], sizeof corner);
                memcpy(made.corner[k], made.corner[k + 1], sizeof corner);
                memcpy(made.corner[k + 1], corner, sizeof corner);
            }
        finish(&s);
        for (int n = 0; n < N * N * N; n++)
            for (int i = 1; i < Q; i++) {
                const int cell[3] = {n % N, n / N % N, n / N / N}, *const c = velocity[i];
                if (!in_mesh(&s.mesh, cell[0], cell[1], cell[2]) ||
                    in_mesh(&s.mesh, cell[0] + c[0], cell[1] + c[1], cell[2] + c[2]))
                    continue;
                const double q = mesh_leaving(&s.mesh, cell, c);
                /* held just before the crossing, and not just behind it */
                bool held[2];
                for (int k = 0; k < 2; k++) {
                    bool in[2] = {true, true};
                    for (int a = 0; a < 3; a++) {
                        const double at = cell[a] + 0.5 + (q + (k ? 1e-9 : -1e-9)) * c[a];
                        in[0] = in[0] && at > lo[0][a] && at < hi[a];
                        in[1] = in[1] && at > lo[1][a] && at < far[cavity][a];
                    }
                    held[k] = cavity ? in[0] && !in[1] : in[0] || in[1];
                }
                links++;
                wrong += !(q > 0 && q <= 1) || !held[0] || held[1];
            }
        assert_true(links > 1000);
        if (wrong)
            fail_msg("way %d: %d of %d links leave elsewhere", way, wrong, links);
        forget(&s);
    }
}

static void meshes_go_where_the_case_puts_them(void **state)
{
    struct stl m;
    double lo[3], hi[3];
    (void)state;
    add_box((const double[3]){1, 2, 3}, (const double[3]){3, 3, 6}, 63);
    take(&m);
    const struct case_mesh how = {
        .stl = &m, .scale = 2, .rotate = {0, 90, 90}, .center = {10, 11, 12}};
    /* (x, y, z) -> (z, y, -x) -> (-y, z, -x): edges 2, 1, 3 become 1, 3, 2 */
    double(*const at)[3] = mesh_place(&how, lo, hi);
    assert_non_null(at);
    assert_true(lo[0] == 9 && hi[0] == 11 && lo[1] == 8 && hi[1] == 14 && lo[2] == 10 &&
                hi[2] == 14);
    for (size_t v = 0; v < m.vertices; v++) {
        const double *const p = m.vertex[v];
        assert_true(at[v][0] == 9 + 2 * (3 - p[1]) && at[v][1] == 8 + 2 * (p[2] - 3) &&
                    at[v][2] == 10 + 2 * (3 - p[0]));
    }
    free(at);
    stl_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_on_centres_leave_no_gap),
        cmocka_unit_test(bodies_that_touch_are_one),
        cmocka_unit_test(windings_decide),
        cmocka_unit_test(parts_that_are_inside_out_leave_no_hollow),
        cmocka_unit_test(nested_parts_turn_together),
        cmocka_unit_test(thin_sheets_are_told_from_sharp_edges),
        cmocka_unit_test(flat_and_double_triangles_are_left_out),
        cmocka_unit_test(votes_close_open_meshes),
        cmocka_unit_test(parts_that_the_grid_loses_are_counted),
        cmocka_unit_test(a_torus_is_the_formula),
        cmocka_unit_test(links_are_cut_at_the_faces),
        cmocka_unit_test(links_leave_where_the_mesh_ends),
        cmocka_unit_test(meshes_go_where_the_case_puts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
