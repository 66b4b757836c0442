/* Growing arrays and disjoint sets, beside plain ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sets.h"

struct pair {
    int major, minor;
};

static int by_pair(const void *left, const void *right)
{
    const struct pair *const a = left, *const b = right;
    return a->major != b->major ? (a->major > b->major) - (a->major < b->major)
                                : (a->minor > b->minor) - (a->minor < b->minor);
}

static unsigned random_below(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % below;
}

/* Every element stays, whatever the count was reduced to meanwhile. */
static void elements_stay(void **unused)
{
    enum { MOST = 3000 };
    struct pair *array = NULL;
    int count = 0, wanted[MOST], kept = 0;
    uint64_t random = 1;
    (void)unused;
    for (int step = 0; step < 4 * MOST; step++) {
        if (kept == MOST || random_below(&random, 500) == 0)
            count = kept = (int)random_below(&random, (unsigned)kept + 1);
        const int value = (int)random_below(&random, 1000000);
        assert_true(ARRAY_ADD(array, count, (struct pair){value, step}));
        wanted[kept++] = value;
        assert_int_equal(count, kept);
        assert_int_equal(array[random_below(&random, (unsigned)count)].major >= 0, 1);
    }
    for (int k = 0; k < count; k++)
        assert_int_equal(array[k].major, wanted[k]);
    free(array);
}

static void too_large_is_no_memory(void **unused)
{
    char *array = malloc(1);
    char *const before = array;
    (void)unused;
    assert_false(array_grow(&array, (size_t)1 << 62, 8));
    assert_ptr_equal(array, before);
    free(array);
}

/* The pairs of a small range, each once and in order. */
static void duplicates_go(void **unused)
{
    enum { RANGE = 40, TIMES = 100000 };
    struct pair *array = NULL;
    size_t count = 0, room = 0;
    bool seen[RANGE][RANGE] = {{false}};
    uint64_t random = 2;
    (void)unused;
    for (int k = 0; k < TIMES; k++) {
        const struct pair p = {(int)random_below(&random, RANGE),
                               (int)random_below(&random, RANGE)};
        assert_true(array_add_unique(&array, &count, &room, &p, sizeof p, by_pair));
        seen[p.major][p.minor] = true;
        assert_true(count <= room && room <= 8 * RANGE * RANGE);
    }
    count = array_unique(array, count, sizeof *array, by_pair);
    size_t next = 0;
    for (int a = 0; a < RANGE; a++)
        for (int b = 0; b < RANGE; b++)
            if (seen[a][b]) {
                assert_true(next < count && array[next].major == a && array[next].minor == b);
                next++;
            }
    assert_int_equal(next, count);
    assert_int_equal(array_unique(array, 0, sizeof *array, by_pair), 0);
    free(array);
}

/* Beside labels that are all replaced at each join. */
static void sets_join_all(void **unused)
{
    enum { COUNT = 300 };
    uint32_t *const set = sets_create(COUNT);
    uint32_t label[COUNT];
    uint64_t random = 3;
    (void)unused;
    assert_non_null(set);
    for (uint32_t k = 0; k < COUNT; k++)
        label[k] = k;
    for (int join = 0; join < COUNT; join++) {
        const uint32_t a = random_below(&random, COUNT), b = random_below(&random, COUNT);
        const uint32_t low = label[a] < label[b] ? label[a] : label[b],
                       high = label[a] < label[b] ? label[b] : label[a];
        for (uint32_t k = 0; k < COUNT; k++)
            label[k] = label[k] == high ? low : label[k];
        sets_join(set, a, b);
        for (uint32_t k = 0; k < COUNT; k++)
            assert_int_equal(sets_root(set, k), label[k]);
    }
    free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stay),
        cmocka_unit_test(too_large_is_no_memory),
        cmocka_unit_test(duplicates_go),
        cmocka_unit_test(sets_join_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
