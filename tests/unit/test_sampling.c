/* Samples of a box are the cells of its tags; with all cells sampled, cuts are those of the tags.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "case/case.h"
#include "domain/balance.h"
#include "predict/cluster.h"
#include "scratch.h"
#include "tags/create.h"
#include "tags/inputs.h"
#include "tags/sampling.h"

static void write_file(const char *name, const void *bytes, size_t length)
{
    FILE *const file = fopen(scratch_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* A wedge: half of a cube of edge 10, closed, outside by the right-hand rule. */
static void write_mesh(void)
{
    static const int corner[6][3] = {{0, 0, 0},  {10, 0, 0},  {0, 10, 0},
                                     {0, 0, 10}, {10, 0, 10}, {0, 10, 10}};
    static const int triangle[8][3] = {{0, 2, 1}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3},
                                       {1, 2, 5}, {1, 5, 4}, {2, 0, 3}, {2, 3, 5}};
    char text[8192] = "solid wedge\n";
    size_t length = strlen(text);
    for (int k = 0; k < 8; k++) {
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "facet normal 0 0 0\nouter loop\n");
        for (int i = 0; i < 3; i++) {
            const int *const p = corner[triangle[k][i]];
            length += (size_t)snprintf(text + length, sizeof text - length, "vertex %d %d %d\n",
                                       p[0], p[1], p[2]);
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "endloop\nendfacet\n");
    }
    length += (size_t)snprintf(text + length, sizeof text - length, "endsolid\n");
    write_file("wedge.stl", text, length);
}

static void write_image(void)
{
    static uint8_t labels[9 * 8 * 7];
    for (size_t k = 0; k < sizeof labels; k++)
        labels[k] = (k * 2654435761u >> 7) % 3 == 0;
    write_file("rock.raw", labels, sizeof labels);
}

/* Bodies of all kinds; ball and wedge reach through periodic faces. */
static void read_case(struct flow_case *c)
{
    static const char text[] =
        "domain: {cells: [45, 41, 38]}\n"
        "faces: {x: periodic, y: wall, z: periodic}\n"
        "fluid: {viscosity: 0.1}\n"
        "bodies:\n"
        "  ball: {shape: {sphere: {center: [1.3, 20.2, 36.7], radius: 8.4}}}\n"
        "  wedge: {mesh: {file: wedge.stl, scale: 1.37, rotate: [10, 20, 30], center: [42.3, 12.4, "
        "15.6]}}\n"
        "  rock: {image: {file: rock.raw, size: [9, 8, 7], at: [20, 25, 3], solid: [1]}}\n"
        "run: {steps: 1}\n";
    MPI_Comm comm = MPI_COMM_SELF;
    struct case_files files = inputs(&comm);
    write_mesh();
    write_image();
    assert_int_equal(
        case_read_files(scratch_path("case.yaml"), text, (long)strlen(text), 0, NULL, &files, c),
        STATUS_OK);
}

static bool fluid_at(const struct domain *d, int x, int y, int z)
{
    return d->rows[d->tags[view_index(&d->view, x, y, z)] & TAG_ROW].fluid != FLUID_none;
}

static void samples_are_the_cells_of_the_tags(void **state)
{
    struct flow_case c;
    struct domain d;
    (void)state;
    read_case(&c);
    assert_int_equal(domain_whole(&d, &c), STATUS_OK);
    for (int step = 1; step < 9; step += 2) {
        const double cells = (double)c.cells[0] * c.cells[1] * c.cells[2];
        struct sampling s;
        int64_t fluid = 0, all = 0;
        assert_int_equal(
            sampling_create(&s, &c, 1.001 * cells / (step * step * step), MPI_COMM_SELF),
            STATUS_OK);
        assert_int_equal(s.step, step);
        for (int k = 0; k < s.n[2]; k++)
            for (int j = 0; j < s.n[1]; j++)
                for (int i = 0; i < s.n[0]; i++, all++) {
                    const int half = step / 2;
                    const bool is = fluid_at(&d, half + i * step, half + j * step, half + k * step);
                    assert_int_equal(s.solid[(k * s.n[1] + j) * s.n[0] + i], !is);
                    fluid += is;
                }
        assert_true(all >= cells / (step * step * step) / 1.5);
        assert_true(fabs(s.share - (double)fluid / (double)all) < 1e-12);
        sampling_destroy(&s);
    }
    domain_destroy(&d);
    case_destroy(&c);
}

static void shares_and_cuts_are_those_of_the_tags(void **state)
{
    static const int cuts[3] = {3, 2, 4}, lo[3] = {0, 5, 3}, hi[3] = {14, 40, 38};
    struct flow_case c;
    struct domain d;
    struct sampling s;
    struct balance by_tags, by_samples;
    int64_t fluid = 0;
    (void)state;
    read_case(&c);
    assert_int_equal(domain_whole(&d, &c), STATUS_OK);
    assert_int_equal(sampling_create(&s, &c, 1e9, MPI_COMM_SELF), STATUS_OK);
    for (int z = lo[2]; z < hi[2]; z++)
        for (int y = lo[1]; y < hi[1]; y++)
            for (int x = lo[0]; x < hi[0]; x++)
                fluid += fluid_at(&d, x, y, z);
    assert_true(fabs(sampling_share(&s, lo, hi) - (double)fluid / (14 * 35 * 35)) < 1e-12);
    assert_int_equal(balance_create(&by_tags, &d, cuts), STATUS_OK);
    assert_int_equal(sampling_balance(&s, &by_samples, cuts), STATUS_OK);
    assert_int_equal(by_tags.even, by_samples.even);
    assert_int_equal(by_tags.most, by_samples.most);
    for (int a = 0; a < 3; a++)
        assert_memory_equal(by_tags.at[a], by_samples.at[a], (size_t)(cuts[a] + 1) * sizeof(int));
    balance_destroy(&by_tags);
    balance_destroy(&by_samples);
    sampling_destroy(&s);
    domain_destroy(&d);
    case_destroy(&c);
}

/* A tile has the tags of the box, bodies as walls. */
static void tiles_are_parts_of_the_box(void **state)
{
    static const int lo[3] = {2, 3, 1}, hi[3] = {44, 40, 37};
    struct flow_case c;
    struct domain box, tile;
    (void)state;
    read_case(&c);
    assert_int_equal(domain_whole(&box, &c), STATUS_OK);
    assert_int_equal(domain_tile(&tile, &c, lo, hi), STATUS_OK);
    for (int z = -1; z <= hi[2] - lo[2]; z++)
        for (int y = -1; y <= hi[1] - lo[1]; y++)
            for (int x = -1; x <= hi[0] - lo[0]; x++)
                assert_int_equal(fluid_at(&tile, x, y, z),
                                 fluid_at(&box, lo[0] + x, lo[1] + y, lo[2] + z));
    domain_destroy(&tile);
    domain_destroy(&box);
    case_destroy(&c);
}

static enum status read_machine(struct cluster *c, const char *text)
{
    write_file("machine.yaml", text, strlen(text));
    return cluster_read(c, scratch_path("machine.yaml"));
}

static void a_machine_file_sets_what_it_names(void **state)
{
    static const char *const wrong[] = {"",
                                        "- 1\n",
                                        "bandwith: 1 GB/s\n",
                                        "bandwidth: 1\n",
                                        "bandwidth: 1 GiB/s\n",
                                        "launch: 5 GB\n",
                                        "launch: -5 us\n",
                                        "launch: 0 us\n",
                                        "launch: 1e999 s\n",
                                        "shell: 1.5\n",
                                        "shell: 0\n",
                                        "ranks_per_node: 2.5\n",
                                        "ranks_per_node: 0\n",
                                        "memory: [1, 2]\n",
                                        "memory: nan GB\n",
                                        "bandwidth: 1 TB/s\nupdates: 3 GLUPS\n",
                                        "disk:\n",
                                        "disk: 1 GB/s x\n"};
    const struct cluster usual = cluster_default();
    struct cluster c;
    (void)state;
    assert_true(usual.assumed);
    assert_int_equal(read_machine(&c, "{}\n"), STATUS_OK);
    assert_memory_equal(&c, &usual, sizeof c);
    assert_int_equal(read_machine(&c, "launch: 250 ns\ndisk: 3 TB/s\nbandwidth: 2.5 GB/s\n"
                                      "ranks_per_node: 4\nshell: 0.25\nmemory: 8e4MB\n"),
                     STATUS_OK);
    assert_true(fabs(c.launch - 250e-9) < 1e-20 && c.disk == 3e12 && c.bandwidth == 2.5e9);
    assert_true(c.ranks_per_node == 4 && c.shell == 0.25 && c.memory == 8e10 && !c.assumed);
    assert_true(c.message == usual.message && c.network_bandwidth == usual.network_bandwidth);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(read_machine(&c, wrong[k]), STATUS_USAGE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_the_cells_of_the_tags),
        cmocka_unit_test(shares_and_cuts_are_those_of_the_tags),
        cmocka_unit_test(tiles_are_parts_of_the_box),
        cmocka_unit_test(a_machine_file_sets_what_it_names),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
    MPI_Finalize();
    return failed;
}
