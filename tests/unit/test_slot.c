/* Addresses of populations: in-place streaming moves them from store to load, cells do not share
 * them, walls give back what they got, and none is outside the allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "tags/create.h"

static const int sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 3}, {3, 3, 3}, {5, 4, 3}, {17, 2, 2}};
static const char *const faces[] = {"pppppp", "wwwwww", "ppwwww", "wwppww", "wwwwpp", "ppppcc"};
enum { SIZES = sizeof sizes / sizeof *sizes, FACES = sizeof faces / sizeof *faces };

/* Is the neighbour at distance (dx, dy, dz) not fluid, by the reference? */
static int solid(const struct reference *r, int x, int y, int z, int i, int sign)
{
    size_t cell;
    const int at[3] = {x + sign * reference_velocity(i, 0), y + sign * reference_velocity(i, 1),
                       z + sign * reference_velocity(i, 2)};
    return reference_wall(r, at, &cell) != NULL;
}

typedef void visit(const struct reference *, const struct view *, int odd, int x, int y, int z);

/* Every fluid cell of every box, without and with obstacles, at an even and an odd step. */
static void everywhere(visit *check, void (*before)(size_t count), void (*after)(void))
{
    for (int k = 0; k < SIZES; k++)
        for (int f = 0; f < FACES; f++)
            for (int obstacles = 0; obstacles < 3; obstacles++) {
                struct flow_case c = reference_case(sizes[k][0], sizes[k][1], sizes[k][2]);
                struct reference r;
                struct domain d;
                reference_faces(&c, faces[f]);
                reference_create(&r, &c);
                if (obstacles)
                    reference_obstacles(&r, (uint64_t)obstacles, 5, false);
                assert_int_equal(reference_domain(&r, &d, &c, MPI_COMM_SELF), STATUS_OK);
                for (int odd = 0; odd < 2; odd++) {
                    if (before)
                        before(Q * d.view.set[SET_flow].stride);
                    for (int z = 0; z < c.cells[2]; z++)
                        for (int y = 0; y < c.cells[1]; y++)
                            for (int x = 0; x < c.cells[0]; x++)
                                if (r.row[r.tag[reference_cell(&r, x, y, z)]].fluid)
                                    check(&r, &d.view, odd, x, y, z);
                    if (after)
                        after();
                }
                domain_destroy(&d);
                reference_destroy(&r);
            }
}

static void streams(const struct reference *r, const struct view *v, int odd, int x, int y, int z)
{
    for (int i = 0; i < Q; i++) {
        int to[3] = {x + reference_velocity(i, 0), y + reference_velocity(i, 1),
                     z + reference_velocity(i, 2)};
        if (solid(r, x, y, z, i, 1)) /* the wall gives it back to where it came from */
            assert_int_equal(store_address(v, SET_flow, odd, i, x, y, z),
                             load_address(v, SET_flow, !odd, opposite(i), x, y, z, 1));
        else {
            for (int a = 0; a < 3; a++)
                to[a] = (to[a] + v->n[a]) % v->n[a];
            assert_int_equal(store_address(v, SET_flow, odd, i, x, y, z),
                             load_address(v, SET_flow, !odd, i, to[0], to[1], to[2], 0));
        }
    }
}

static void what_is_stored_is_loaded_where_it_goes(void **state)
{
    (void)state;
    everywhere(streams, NULL, NULL);
}

static void agrees(const struct reference *r, const struct view *v, int odd, int x, int y, int z)
{
    (void)odd;
    bool beside = false;
    for (int i = 1; i < Q; i++) {
        assert_int_equal(!!view_bounces(v, i, x, y, z), solid(r, x, y, z, i, -1));
        beside = beside || solid(r, x, y, z, i, -1);
    }
    const uint8_t tag = v->tags[view_index(v, x, y, z)];
    assert_true(view_fluid(v, view_index(v, x, y, z)));
    assert_int_equal(!!(tag & TAG_BESIDE), beside);
}

static void links_from_walls_are_recognised(void **state)
{
    (void)state;
    everywhere(agrees, NULL, NULL);
}

/* Which cell loads and which stores at an address in this step; 0: none. */
static struct user {
    int load, store;
} * users;
static size_t addresses;

static void forget(size_t count)
{
    free(users);
    users = calloc(count, sizeof *users);
    addresses = count;
    assert_non_null(users);
}

static void claims(const struct reference *r, const struct view *v, int odd, int x, int y, int z)
{
    const int me = 1 + (int)reference_cell(r, x, y, z);
    for (int i = 0; i < Q; i++) {
        const size_t load =
            load_address(v, SET_flow, odd, i, x, y, z, i > 0 && solid(r, x, y, z, i, -1));
        const size_t store = store_address(v, SET_flow, odd, i, x, y, z);
        assert_true(load < addresses && store < addresses);
        assert_int_equal(users[load].load, 0);
        assert_int_equal(users[store].store, 0);
        users[load].load = me;
        users[store].store = me;
    }
}

/* Where there is a load and a store, both are of one cell: any order of cells, no race. An address
 * that is only loaded or only stored is the pair of slots of a wall link, which alternate. */
static void compare_users(void)
{
    for (size_t k = 0; k < addresses; k++)
        if (users[k].load && users[k].store)
            assert_int_equal(users[k].load, users[k].store);
    free(users);
    users = NULL;
}

static void cells_share_no_address(void **state)
{
    (void)state;
    everywhere(claims, forget, compare_users);
}

/* In a box without walls each cell stores exactly where it loaded. */
static void without_walls_a_step_is_in_place(void **state)
{
    struct flow_case c = reference_case(5, 3, 4);
    struct domain d;
    (void)state;
    assert_int_equal(domain_create(&d, &c, MPI_COMM_SELF), STATUS_OK);
    for (int odd = 0; odd < 2; odd++)
        for (int z = 0; z < 4; z++)
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 5; x++)
                    for (int i = 0; i < Q; i++)
                        assert_int_equal(
                            store_address(&d.view, SET_flow, odd, i, x, y, z),
                            load_address(&d.view, SET_flow, odd, opposite(i), x, y, z, 0));
    domain_destroy(&d);
}

/* More than 2^32 populations: nothing is computed in int. */
static void addresses_are_wide(void **state)
{
    struct flow_case c = reference_case(1100, 1100, 1100);
    const int cuts[3] = {1, 1, 1};
    static struct domain d;
    (void)state;
    reference_faces(&c, "wwwwww");
    domain_layout(&d, &c, cuts, 0);
    const size_t row = (size_t)d.view.row, from = view_index(&d.view, -1, -1, -1);
    assert_in_range(row, 1102, 1102 + 32 / sizeof(stored) - 1);
    assert_int_equal(d.view.plane, 1102 * row);
    assert_int_equal(from, view_first(&d.view));
    assert_int_equal(view_index(&d.view, 1100, 1100, 1100), from + 1101 * (1 + row + 1102 * row));
    assert_true(view_index(&d.view, 1100, 1100, 1100) < d.view.cells);
    assert_int_equal(load_address(&d.view, SET_flow, 1, 17, 1099, 1099, 1099, 0),
                     17 * d.view.set[SET_flow].stride + view_index(&d.view, 1099, 1099, 1099));
    assert_true(load_address(&d.view, SET_flow, 1, 17, 1099, 1099, 1099, 0) > (size_t)22000000000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_is_loaded_where_it_goes),
        cmocka_unit_test(links_from_walls_are_recognised),
        cmocka_unit_test(cells_share_no_address),
        cmocka_unit_test(without_walls_a_step_is_in_place),
        cmocka_unit_test(addresses_are_wide),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
