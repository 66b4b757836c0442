/* What is known of a GPU with NVML there, in an old version, with calls that fail, and without it:
 *
 *   test_nvml whole|old|none, with LD_LIBRARY_PATH pointing to the library to be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvml.h"

static const unsigned char here[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const unsigned char elsewhere[16] = {1, 2, 3};
static const char *library;

/* Knows it, of this GPU, energy, clocks and the driver? */
static void expect(const unsigned char uuid[16], bool energy, bool clocks, bool driver)
{
    double joules = -1, later = -1, mhz[2] = {-1, -1};
    char version[64] = "?";
    struct nvml *const n = nvml_create(uuid);
    assert_non_null(n);
    assert_int_equal(nvml_energy(n, &joules), energy);
    assert_int_equal(nvml_energy(n, &later), energy);
    assert_int_equal(nvml_clocks(n, mhz), clocks);
    assert_int_equal(nvml_driver(n, version), driver);
    if (energy) /* the counter is large, as after months */
        assert_true(joules > 1.09e9 && later > joules && later - joules < 2);
    else
        assert_true(joules == -1 && later == -1);
    if (clocks)
        assert_true(mhz[0] == 1980 && mhz[1] == 3201);
    assert_string_equal(version, driver ? "550.54.15" : "?");
    nvml_destroy(n);
}

static void what_there_is_is_known(void **state)
{
    (void)state;
    const bool whole = strcmp(library, "whole") == 0, some = strcmp(library, "none") != 0;
    expect(here, whole, some, some);
    expect(here, whole, some, some); /* opened once more */
    expect(elsewhere, false, false, false);
}

static void what_fails_is_not_known(void **state)
{
    (void)state;
    const bool whole = strcmp(library, "whole") == 0, some = strcmp(library, "none") != 0;
    static const char *const failing[] = {"nvmlInit_v2", "nvmlDeviceGetHandleByUUID",
                                          "nvmlDeviceGetTotalEnergyConsumption",
                                          "nvmlDeviceGetClockInfo", "nvmlSystemGetDriverVersion"};
    for (int k = 0; k < 5; k++) {
        setenv("TAGFLOW_FAKE_NVML", failing[k], 1);
        expect(here, whole && k > 2, some && k > 1 && k != 3, some && k > 1 && k != 4);
    }
    unsetenv("TAGFLOW_FAKE_NVML");
}

/* Two of one GPU at a time, and none. */
static void several_at_once(void **state)
{
    (void)state;
    struct nvml *const one = nvml_create(here), *const two = nvml_create(here);
    char version[64];
    double joules, mhz[2];
    const bool known = nvml_driver(one, version);
    assert_int_equal(nvml_driver(two, version), known);
    nvml_destroy(one);
    assert_int_equal(nvml_driver(two, version), known);
    nvml_destroy(two);
    assert_false(nvml_energy(NULL, &joules) || nvml_clocks(NULL, mhz) ||
                 nvml_driver(NULL, version));
    nvml_destroy(NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_there_is_is_known),
        cmocka_unit_test(what_fails_is_not_known),
        cmocka_unit_test(several_at_once),
    };
    library = argc == 2 ? argv[1] : "";
    if (strcmp(library, "whole") != 0 && strcmp(library, "old") != 0 &&
        strcmp(library, "none") != 0) {
        fprintf(stderr, "usage: test_nvml whole|old|none\n");
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
