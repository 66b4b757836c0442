/* Kinds of cells (cuda/classify.c) beside their definition: type, links and walls of each cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"

enum {
    FLUID_BEFORE = 100
}; /* types below: fluid; from here on: walls, in turn at rest and moving */

struct scene {
    struct view view;
    struct tag_row rows[TAG_ROWS];
    uint8_t *tags;
    struct place_word *places;
};

static uint32_t random_below(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

/* fluids, walls: numbers of types; one cell in `walls_one_in` is a wall. */
static void make(struct scene *s, const int n[3], const int ghost[3], int fluids, int walls,
                 int walls_one_in)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    uint32_t state = 7;
    struct view *const v = &s->view;
    memset(s, 0, sizeof *s);
    for (int a = 0; a < 3; a++) {
        v->n[a] = n[a];
        v->ghost[a] = ghost[a];
    }
    view_lay_out(v, 8);
    for (int type = 0; type < TAG_ROWS; type++) {
        s->rows[type].fluid = type < FLUID_BEFORE ? FLUID_swept : FLUID_none;
        s->rows[type].boundary = type < FLUID_BEFORE ? BOUNDARY_none
                                 : type % 2          ? BOUNDARY_moving
                                                     : BOUNDARY_halfway;
    }
    s->rows[1].fluid = FLUID_listed;
    v->rows = s->rows;
    v->sets = 1;
    v->tags = s->tags = malloc(v->cells);
    assert_non_null(s->tags);
    for (size_t cell = 0; cell < v->cells; cell++)
        s->tags[cell] = random_below(&state, (uint32_t)walls_one_in) == 0
                            ? (uint8_t)(FLUID_BEFORE + (int)random_below(&state, (uint32_t)walls))
                            : (uint8_t)random_below(&state, (uint32_t)fluids);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                for (int i = 1; i < Q; i++) {
                    const int other = s->tags[view_index(v, x + c[i][0], y + c[i][1], z + c[i][2])];
                    if ((other & TAG_ROW) >= FLUID_BEFORE)
                        s->tags[view_index(v, x, y, z)] |= TAG_BESIDE;
                }
    view_derive(v);
}

/* Gives fluid cells alone places. */
static void place(struct scene *s)
{
    struct view *const v = &s->view;
    uint32_t count = 0;
    v->place_words = v->cells / 32 + 1;
    v->place = s->places = calloc(v->place_words, sizeof *s->places);
    assert_non_null(s->places);
    for (size_t cell = 0; cell < v->place_words * 32; cell++) {
        struct place_word *const w = &s->places[cell / 32];
        w->first = cell % 32 ? w->first : count;
        if (cell < v->cells && s->rows[s->tags[cell] & TAG_ROW].fluid) {
            w->bits |= 1u << cell % 32;
            count++;
        }
    }
}

/* By the definition of each bit. */
static struct cell_kind expected(const struct scene *s, int x, int y, int z)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    const struct view *const v = &s->view;
    const int type = s->tags[view_index(v, x, y, z)] & TAG_ROW;
    struct cell_kind kind = {(uint32_t)type << KIND_TYPE, 0};
    int wall = 0, several = 0;
    if (s->rows[type].fluid != FLUID_swept)
        return kind;
    kind.is |= KIND_SWEPT;
    for (int i = 1; i < Q; i++) {
        const int from = s->tags[view_index(v, x - c[i][0], y - c[i][1], z - c[i][2])] & TAG_ROW;
        if (from < FLUID_BEFORE)
            continue;
        kind.is |= 1u << i;
        if (s->rows[from].boundary != BOUNDARY_moving)
            continue;
        kind.is |= KIND_PUSHES;
        kind.walls |= 1u << i;
        several |= wall != 0 && wall != from;
        wall = from;
    }
    kind.is |= several ? KIND_SEVERAL : 0;
    if (!several)
        kind.walls |= (uint32_t)wall << KIND_TYPE;
    return kind;
}

static void check(struct scene *s, int bytes)
{
    const struct view *const v = &s->view;
    struct kinds made;
    size_t of_type[TAG_ROWS] = {0}, *cells;
    assert_int_equal(kinds_create(&made, v), STATUS_OK);
    assert_int_equal(made.bytes, bytes);
    struct cell_kinds k = {.number = made.number, .bytes = made.bytes, .more = made.kind};
    cells = calloc(made.count, sizeof *cells);
    assert_non_null(cells);
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++)
            for (int x = 0; x < v->n[0]; x++) {
                const cell_index n = owned_index(v, x, y, z);
                const struct cell_kind want = expected(s, x, y, z);
                if (v->place && !has_place(v->place, n))
                    continue;
                const uint32_t which = kind_number(&k, view_place(v, n));
                assert_true(which < made.count);
                assert_int_equal(made.kind[which].is, want.is);
                if (!(want.is & KIND_SEVERAL))
                    assert_int_equal(made.kind[which].walls, want.walls);
                cells[which]++;
                of_type[kind_type(want.is)] += want.is & KIND_SWEPT ? 1 : 0;
            }
    for (size_t n = 1; n < made.count; n++)
        assert_true(cells[n - 1] >= cells[n]);
    assert_true(cells[made.count - 1] > 0);
    for (int type = 0; type < TAG_ROWS; type++)
        assert_true(of_type[type] <= of_type[made.type]);
    free(cells);
    if (v->place)
        assert_int_equal(made.places, place_in(v->place, v->cells));
    else
        assert_int_equal(made.places, v->cells);
    kinds_destroy(&made);
}

static void every_cell_has_its_kind(void **state)
{
    static const struct {
        int n[3], ghost[3], fluids, walls, walls_one_in, bytes;
    } scenes[] = {
        {{9, 7, 5}, {1, 1, 1}, 1, 1, 1 << 20, 1}, {{9, 7, 5}, {0, 0, 0}, 2, 1, 1 << 20, 1},
        {{40, 9, 8}, {1, 0, 1}, 3, 3, 9, 2},      {{1, 1, 1}, {0, 0, 0}, 1, 1, 2, 1},
        {{33, 1, 6}, {0, 0, 1}, 2, 4, 40, 1},     {{70, 60, 50}, {0, 1, 0}, 4, 5, 3, 4},
    };
    struct scene s;
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        make(&s, scenes[k].n, scenes[k].ghost, scenes[k].fluids, scenes[k].walls,
             scenes[k].walls_one_in);
        check(&s, scenes[k].bytes);
        place(&s);
        check(&s, scenes[k].bytes);
        free(s.places);
        free(s.tags);
    }
}

/* A row of fluid in which every third cell has a kind of its own: a type, with or without walls on
 * both sides along y. */
static void make_row(struct scene *s, int cells)
{
    enum { TYPES = 90 };
    struct view *const v = &s->view;
    make(s, (const int[3]){3 * cells + 2, 1, 1}, (const int[3]){1, 1, 1}, 1, 1, 1 << 20);
    memset(s->tags, 0, v->cells);
    for (int k = 0; k < cells; k++) {
        const int x = 3 * k + 1;
        s->tags[view_index(v, x, 0, 0)] = (uint8_t)(2 + k % TYPES) | TAG_BESIDE;
        for (int side = 0; side < 2; side++)
            if (k / TYPES >> side & 1)
                s->tags[view_index(v, x, side ? 1 : -1, 0)] = FLUID_BEFORE;
        for (int step = -1; step <= 1; step += 2)
            s->tags[view_index(v, x + step, 0, 0)] |= TAG_BESIDE;
    }
}

/* 256 kinds have numbers of one byte, one more needs two. */
static void numbers_are_as_wide_as_they_need_to_be(void **state)
{
    struct scene s;
    struct kinds made;
    (void)state;
    for (size_t count = 255; count <= 258; count++) {
        size_t found = 0;
        for (int cells = (int)count - 16; found != count && cells <= (int)count; cells++) {
            make_row(&s, cells);
            assert_int_equal(kinds_create(&made, &s.view), STATUS_OK);
            found = made.count;
            kinds_destroy(&made);
            if (found == count)
                check(&s, count <= 256 ? 1 : 2);
            free(s.tags);
        }
        assert_int_equal(found, count);
    }
}

/* The kinds at hand and those behind them, as a kernel finds them. */
static void kinds_are_found_by_number(void **state)
{
    static struct cell_kind more[3] = {{11, 12}, {13, 14}, {15, 16}};
    static struct cell_kinds k = {.more = more};
    (void)state;
    for (uint32_t n = 0; n < KINDS_AT_HAND; n++)
        k.at_hand[n] = (struct cell_kind){n, 1000 + n};
    k.at_hand[KINDS_AT_HAND].is = KIND_MORE;
    for (uint32_t n = 0; n < KINDS_AT_HAND + 3; n++) {
        const struct cell_kind first = kind_at_hand(&k, n), kind = kind_of(&k, n, first);
        assert_int_equal((first.is & KIND_MORE) != 0, n >= KINDS_AT_HAND);
        assert_int_equal(kind.is, n < KINDS_AT_HAND ? n : 11 + 2 * (n - KINDS_AT_HAND));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_has_its_kind),
        cmocka_unit_test(numbers_are_as_wide_as_they_need_to_be),
        cmocka_unit_test(kinds_are_found_by_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
