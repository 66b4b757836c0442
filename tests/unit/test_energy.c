/* Energy of the processor's packages, out of a tree like Linux's; energy of all ranks' devices out
 * of a backend that tells, does not tell or stops telling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "bench/energy.h"
#include "cpu/energy.h"
#include "scratch.h"

static const char *const files[] = {"name", "max_energy_range_uj", "energy_uj"};
enum { NAME, RANGE, ENERGY, FILES };

static const char *in_zone(const char *zone, int file)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", zone, files[file]);
    return scratch_path(path);
}

/* Text NULL: no such file any more. */
static void put(const char *zone, int file, const char *text)
{
    const char *const path = in_zone(zone, file);
    if (!text) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void make_zone(const char *zone, const char *name, const char *range, const char *energy)
{
    assert_int_equal(mkdir(scratch_path(zone), 0755), 0);
    put(zone, NAME, name);
    put(zone, RANGE, range);
    put(zone, ENERGY, energy);
}

static void remove_zone(const char *zone)
{
    for (int k = 0; k < FILES; k++)
        if (unlink(in_zone(zone, k)) != 0)
            rmdir(in_zone(zone, k));
    assert_int_equal(rmdir(scratch_path(zone)), 0);
}

static void assert_joules(struct packages *p, double expected)
{
    double joules = -1;
    assert_true(packages_joules(p, &joules));
    assert_true(fabs(joules - expected) < 1e-9);
}

/* Two packages; their parts, the platform and other zones are not counted a second time. */
static void packages_are_added_up(void **state)
{
    (void)state;
    make_zone("intel-rapl:0", "package-0\n", "262143328850\n", "1000000\n");
    make_zone("intel-rapl:0:0", "core\n", "262143328850\n", "500\n");
    make_zone("intel-rapl:1", "package-1\n", "65532610987\n", "0\n");
    make_zone("intel-rapl:2", "psys\n", "262143328850\n", "7\n");
    make_zone("intel-rapl-mmio:0", "package-0\n", "262143328850\n", "1000000\n");
    struct packages *const p = packages_open(scratch);
    assert_non_null(p);
    assert_joules(p, 0);
    put("intel-rapl:0", ENERGY, "3500000\n");
    put("intel-rapl:0:0", ENERGY, "9999999\n");
    put("intel-rapl:1", ENERGY, "1\n");
    put("intel-rapl:2", ENERGY, "9999999\n");
    put("intel-rapl-mmio:0", ENERGY, "3500000\n");
    assert_joules(p, 2.500001);
    assert_joules(p, 2.500001);
    put("intel-rapl:1", ENERGY, "65532610987\n");
    assert_joules(p, 2.5 + 65532.610987);
    packages_close(p);
    remove_zone("intel-rapl:0");
    remove_zone("intel-rapl:0:0");
    remove_zone("intel-rapl:1");
    remove_zone("intel-rapl:2");
    remove_zone("intel-rapl-mmio:0");
}

/* 0 follows `range`; again and again. */
static void a_counter_starts_again(void **state)
{
    (void)state;
    make_zone("intel-rapl:0", "package-0\n", "9999\n", "9990\n");
    struct packages *const p = packages_open(scratch);
    assert_non_null(p);
    put("intel-rapl:0", ENERGY, "0\n");
    assert_joules(p, 1e-5);
    put("intel-rapl:0", ENERGY, "9999\n");
    assert_joules(p, 1e-5 + 9999e-6);
    put("intel-rapl:0", ENERGY, "9998\n");
    assert_joules(p, 1e-5 + 9999e-6 + 9999e-6);
    packages_close(p);
    remove_zone("intel-rapl:0");
}

/* No sum is better than a wrong one: of two packages one that cannot be read, or is not one. */
static void what_cannot_be_read_is_not_known(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "x\n", "-5\n",  "12",      "1e3\n",
                                      "0x1\n", "\n",  "5 6\n", "10000\n", " 5\n"};
    assert_null(packages_open(scratch_path("nothing")));
    assert_null(packages_open(scratch));
    make_zone("intel-rapl:1", "psys\n", "9999\n", "5\n");
    assert_null(packages_open(scratch));
    make_zone("intel-rapl:0", "package-0\n", "9999\n", "5\n");
    put("intel-rapl:1", NAME, "package-1\n");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        put("intel-rapl:1", ENERGY, bad[k]);
        assert_null(packages_open(scratch));
    }
    /* As root everything may be opened: what may not be read is a folder here. */
    put("intel-rapl:1", ENERGY, NULL);
    assert_null(packages_open(scratch));
    assert_int_equal(mkdir(in_zone("intel-rapl:1", ENERGY), 0755), 0);
    assert_null(packages_open(scratch));
    assert_int_equal(rmdir(in_zone("intel-rapl:1", ENERGY)), 0);
    put("intel-rapl:1", ENERGY, "5\n");
    put("intel-rapl:1", RANGE, NULL);
    assert_null(packages_open(scratch));
    put("intel-rapl:1", RANGE, "9999\n");

    /* One that goes away meanwhile: not known from then on, though it comes back. */
    struct packages *const p = packages_open(scratch);
    double joules;
    assert_non_null(p);
    assert_joules(p, 0);
    put("intel-rapl:0", ENERGY, NULL);
    assert_false(packages_joules(p, &joules));
    put("intel-rapl:0", ENERGY, "9\n");
    assert_false(packages_joules(p, &joules));
    packages_close(p);
    packages_close(NULL);
    remove_zone("intel-rapl:0");
    remove_zone("intel-rapl:1");
}

/* A backend whose device has used one joule more every time it is asked. */
static int asked, fails_at;

static bool tell(const struct backend *b, double *joules)
{
    (void)b;
    *joules = 100 + asked;
    return ++asked != fails_at;
}

static void name(const struct backend *b, char text[64])
{
    (void)b;
    memset(text, 'x', 64); /* all of it */
}

static void energy_of_a_backend(void **state)
{
    (void)state;
    const struct backend_type silent = {.name = "silent"};
    const struct backend_type telling = {.name = "telling", .energy = tell, .device = name};
    const struct backend quiet = {.type = &silent}, b = {.type = &telling};
    assert_null(energy_open(NULL, MPI_COMM_WORLD));
    assert_null(energy_open(&quiet, MPI_COMM_WORLD));
    assert_true(isnan(energy_joules(NULL)));
    energy_close(NULL);

    asked = 0;
    fails_at = 4;
    struct energy *const e = energy_open(&b, MPI_COMM_WORLD);
    assert_non_null(e);
    assert_true(energy_joules(e) == 1);
    assert_true(energy_joules(e) == 2);
    assert_true(isnan(energy_joules(e)));
    assert_true(energy_joules(e) == 4);
    energy_close(e);

    asked = 0;
    fails_at = 1;
    assert_null(energy_open(&b, MPI_COMM_WORLD));
}

/* This host's own, whatever it says. */
static void energy_of_this_host(void **state)
{
    (void)state;
    struct packages *const p = packages_open(PACKAGES_FOLDER);
    double joules;
    if (p)
        assert_true(packages_joules(p, &joules) && joules >= 0);
    packages_close(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(packages_are_added_up),
        SCRATCH_TEST(a_counter_starts_again),
        SCRATCH_TEST(what_cannot_be_read_is_not_known),
        cmocka_unit_test(energy_of_a_backend),
        cmocka_unit_test(energy_of_this_host),
    };
    MPI_Init(&argc, &argv);
    message_set_rank(0, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
