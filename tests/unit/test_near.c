/* The step of the cells beside surfaces: what a backend makes of the whole list and of parts of it,
 * against near_step for one cell after the other. Bit for bit, in all memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "case/keys.h"
#include "cell.h"
#include "reference.h"
#include "tags/create.h"
#include "tags/inputs.h"

#define PRECISION_(storage, arithmetic) "storage: fp" #storage ", arithmetic: fp" #arithmetic
#define PRECISION_OF(storage, arithmetic) PRECISION_(storage, arithmetic)
#define PRECISION PRECISION_OF(TAGFLOW_STORAGE, TAGFLOW_ARITHMETIC)

/* Surfaces at rest, sliding and turning beside each other and beside bodies of other rules; across
 * periodic faces, walls, planes of symmetry and open faces. A sponge and another operator begin
 * within a body. */
static const char text_of_case[] =
    "domain: {cells: [23, 13, 11]}\nfluid: {viscosity: 0.02}\n"
    "solver: {collision: %s, " PRECISION "%s}\n"
    "faces: {%s}\ninitial: {flow: rest}\n%s"
    "run: {steps: 9, isa: %s, sparse: %s, threads: %d}\n"
    "regions:\n"
    "  end: {box: {from: [18, 0, 0], to: [23, 13, 11]}, sponge: {towards: %s, strength: 0.3}}\n"
    "  other: {box: {from: [3, 0, 5], to: [9, 13, 11]}, collision: trt, viscosity: 0.05, "
    "resistance: {permeability: [0.2, 3, 1], loss: 9}}\n"
    "bodies:\n"
    "  ball: {shape: {sphere: {center: [2.3, 6.1, 9.4], radius: 3.3}}, wall: interpolated, "
    "velocity: [0.01, -0.02, 0.005], rotation: {rate: [0.004, -0.003, 0.01]}}\n"
    "  rod: {shape: {cylinder: {center: [8, 5.2, 5], axis: y, radius: 1.6}}}\n"
    "  brick: {shape: {box: {from: [11.6, 0, 2], to: [13.6, 2.4, 4]}}, velocity: [0.03, 0, "
    "0.01]}\n"
    "  bar: {shape: {box: {from: [9.2, 7.3, 1.1], to: [14.7, 9.9, 3.2]}}, wall: interpolated}\n"
    "  belt: {shape: {box: {from: [17.3, 2.4, 3], to: [19.8, 5.7, 8.2]}}, wall: interpolated, "
    "velocity: [0, 0.02, 0]}\n"
    "  end: {shape: {sphere: {center: [21.2, 9.7, 1.3], radius: 2.7}}, wall: interpolated}\n";

struct kind {
    const char *faces, *towards;
};
static const struct kind kinds[] = {
    {"x: periodic, y: periodic, z: periodic", "ymax"},
    {"x: periodic, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0.01]}}, z: periodic", "zmin"},
    {"x: slip, y: slip, z: periodic", "xmax"},
    {"xmin: {velocity: {value: [0.03, 0, 0]}}, xmax: pressure, y: slip, z: wall", "xmax"},
    {"xmin: {velocity: {value: [0.03, 0, 0], rule: links}}, xmax: {pressure: {rule: links}}, "
     "ymin: {wall: {velocity: [0.05, 0, 0.01]}}, ymax: slip, z: periodic",
     "xmax"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct flow {
    struct flow_case c;
    struct domain d;
    struct backend *b;
    struct solver s;
};

static void open_flow(struct flow *f, const char *text)
{
    const struct case_files files = inputs(NULL);
    *f = (struct flow){0};
    if (case_read_files("case.yaml", text, (long)strlen(text), 0, NULL, &files, &f->c))
        fail_msg("not read:\n%s", text);
    if (domain_create(&f->d, &f->c, MPI_COMM_SELF))
        fail_msg("no domain of\n%s", text);
    assert_int_equal(reference_open(&f->b, &f->c, MPI_COMM_SELF), STATUS_OK);
    assert_int_equal(reference_solver(&f->s, &f->d, f->b, &f->c), STATUS_OK);
}

static void close_flow(struct flow *f)
{
    solver_destroy(&f->s);
    TAGFLOW_BACKEND.close(f->b);
    domain_destroy(&f->d);
    case_destroy(&f->c);
}

/* Cells from .. to - 1 of the list, by the backend and one by one from the same random numbers. */
static void compare(struct flow *f, int odd, int from, int to, uint64_t seed, const char *text)
{
    struct view plain = f->d.view;
    const size_t count = Q * plain.set[SET_flow].stride, bytes = count * sizeof(stored);
    stored *const wanted = malloc(bytes), *const is = malloc(bytes);
    const struct work work = {list_range(from, to), {.odd = odd}};
    assert_true(wanted && is);
    for (size_t k = 0; k < count; k++)
        wanted[k] = stored_of((number)(0.01 * reference_uniform(&seed)));
    reference_memory_put(f->b, f->s.view.set[SET_flow].populations, wanted, bytes);
    for (int k = 0; k < SIGNALS; k++)
        plain.signal[k] = f->s.view.signal[k] = k == SIGNAL_one ? 1 : 0.3 * k;
    plain.set[SET_flow].populations = wanted;
    view_derive(&plain);
    for (int n = from; n < to; n++)
        near_step(&plain, odd, &plain.near.cell[n]);
    f->b->type->launch(f->b, QUEUE_INTERIOR, KERNEL_near, &f->s.view, &work, 1);
    reference_memory_get(f->b, is, f->s.view.set[SET_flow].populations, bytes);
    for (size_t k = 0; k < count; k++)
        if (memcmp(&is[k], &wanted[k], sizeof *is) != 0)
            fail_msg("cells %d to %d of the list, odd %d: place %zu of slot %zu is %.17g, not "
                     "%.17g, of\n%s",
                     from, to - 1, odd, k % plain.set[SET_flow].stride,
                     k / plain.set[SET_flow].stride, (double)value_of(is[k]),
                     (double)value_of(wanted[k]), text);
    free(is);
    free(wanted);
}

static bool has(enum isa isa)
{
    return strcmp(TAGFLOW_BACKEND.name, "cpu") != 0 ? isa == ISA_FIRST : isa_runs(isa);
}

/* Which rules there are beyond the links of a list. */
static unsigned rules_beyond(const struct view *v)
{
    static const int c[Q][3] = LATTICE_VELOCITIES;
    unsigned rules = 0;
    for (size_t n = 0; n < v->near.count; n++)
        for (int i = 1; i < Q; i++) {
            const int *const at = v->near.cell[n].at;
            const size_t from = view_index(v, at[0] - c[i][0], at[1] - c[i][1], at[2] - c[i][2]);
            if (v->near.cell[n].links >> i & 1)
                rules |= 1u << v->rows[v->tags[from] & TAG_ROW].boundary;
        }
    return rules;
}

/* Every operator with every instruction set, in turn with and without force and subgrid model. */
static void lists_are_stepped_as_single_cells_are(void **state)
{
    uint64_t random = 5;
    unsigned rules = 0;
    (void)state;
    for (int index = 0; index < COLLISIONS * KINDS * (ISAS - ISA_FIRST); index++) {
        const int collision = index / KINDS % COLLISIONS;
        const enum isa isa = (enum isa)(ISA_FIRST + index / KINDS / COLLISIONS);
        const struct kind *const kind = &kinds[index % KINDS];
        const bool subgrid = index % 3 == 1, forced = index % 2;
        char text[8192];
        struct flow f;
        if (!has(isa))
            continue;
        snprintf(text, sizeof text, text_of_case, key_collisions[collision],
                 subgrid ? ", subgrid: {smagorinsky: {constant: 0.2}}" : "", kind->faces,
                 forced ? "force: {acceleration: [1e-3, -3e-4, 0], rotation: [0.01, 0.02, -0.03]}\n"
                        : "",
                 isa_name(isa), index / 2 % 2 ? "always" : "never", 1 + index % 3, kind->towards);
        open_flow(&f, text);
        const int all = f.d.near_stepped;
        assert_true(all > 300);
        rules |= rules_beyond(&f.d.view);
        for (int odd = 0; odd < 2; odd++) {
            const int from = (int)(reference_random(&random) % (uint64_t)all);
            const int some = (int)(reference_random(&random) % (uint64_t)(all - from));
            compare(&f, odd, 0, all, reference_random(&random), text);
            compare(&f, odd, from, from + some, reference_random(&random), text);
        }
        close_flow(&f);
    }
    const unsigned wanted = 1u << BOUNDARY_surface | 1u << BOUNDARY_halfway |
                            1u << BOUNDARY_moving | 1u << BOUNDARY_slip |
                            1u << BOUNDARY_velocity_links | 1u << BOUNDARY_pressure_links;
    assert_int_equal(rules & wanted, wanted);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_stepped_as_single_cells_are),
    };
    MPI_Init(&argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
