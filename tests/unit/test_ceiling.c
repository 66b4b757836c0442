/* The memory's ceiling: every way sweeps what it says, once; damage is found; memory that is not
 * there is reported. What the host says of itself is plausible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/message.h"
#include "bench/ceiling.h"
#include "bench/streams.h"
#include "scratch.h"

/* Each order alone, over a part of the streams that no block divides: every word in it one greater,
 * every other one as it was. */
static void every_order_changes_each_word_once(void **state)
{
    (void)state;
    enum { STREAM = 40 * 128, STRIDE = STREAM + STREAMS_LINE, LO = 3 * 128, HI = 38 * 128 };
    const size_t words = STREAMS * STRIDE / sizeof(uint64_t);
    uint64_t *const memory = aligned_alloc(4096, (STREAMS * STRIDE + 4095) / 4096 * 4096);
    assert_non_null(memory);
    const struct streams_order *order = streams_orders();
    for (; order->name; order++)
        for (size_t block = 128; block <= 4096; block *= 2) {
            for (size_t n = 0; n < words; n++)
                memory[n] = n * n;
            order->sweep((char *)memory, STRIDE, LO, HI, block);
            for (size_t n = 0; n < words; n++) {
                const size_t at = n * sizeof(uint64_t) % STRIDE;
                if (memory[n] != n * n + (at >= LO && at < HI))
                    fail_msg("%s, blocks of %zu bytes: word %zu", order->name, block, n);
            }
        }
    assert_true(order - streams_orders() > 5);
    free(memory);
}

/* Grids smaller than a thread's least share and not a multiple of anything: rates, a way's name and
 * untouched data. */
static void rates_are_positive_and_data_right(void **state)
{
    (void)state;
    static const struct {
        size_t cells, bytes;
        int threads;
    } tried[] = {{0, 4, 1}, {100, 8, 3}, {33000, 2, 1}, {33000, 4, 2}, {33000, 8, 1}, {5, 2, 2}};
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        struct ceiling *c;
        char order[40];
        int block;
        assert_int_equal(ceiling_create(&c, MPI_COMM_WORLD, tried[k].cells, tried[k].bytes,
                                        tried[k].threads, k % 2 ? 0.01 : 0),
                         STATUS_OK);
        assert_string_equal(ceiling_way(c), "");
        assert_true(ceiling_right(c));
        assert_true(ceiling_measure(c, 0) > 1e3);
        assert_int_equal(sscanf(ceiling_way(c), "%d %39s", &block, order), 2);
        assert_true(ceiling_right(c));
        ceiling_destroy(c);
    }
}

/* One bit of any word, be it of a stream or between two. */
static void a_flipped_bit_is_found(void **state)
{
    (void)state;
    struct ceiling *c;
    assert_int_equal(ceiling_create(&c, MPI_COMM_WORLD, 20000, 4, 2, 0), STATUS_OK);
    assert_true(ceiling_measure(c, 0) > 0);
    for (size_t n = 0; n < 3000000; n += 99991) {
        *ceiling_word(c, n) ^= UINT64_C(1) << n % 64;
        assert_false(ceiling_right(c));
        *ceiling_word(c, n) ^= UINT64_C(1) << n % 64;
        assert_true(ceiling_right(c));
    }
    *ceiling_word(c, 0) += 1; /* as if swept once too often */
    assert_true(ceiling_measure(c, 0) < 0);
    ceiling_destroy(c);
}

static void memory_that_is_not_there_is_reported(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* has no end of addresses mapped, and ends where it gets no more */
#endif
    struct rlimit limit, few;
    struct ceiling *c;
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    few = limit;
    few.rlim_cur = (rlim_t)pages * 4096 + (64 << 20); /* a little more than there is now */
    assert_int_equal(setrlimit(RLIMIT_AS, &few), 0);
    scratch_listen();
    const enum status status = ceiling_create(&c, MPI_COMM_WORLD, 4000000, 8, 1, 0);
    const char *const heard = scratch_heard();
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    assert_int_equal(status, STATUS_MACHINE);
    assert_null(c);
    assert_one_line(heard, "GB for the streams");
    ceiling_destroy(c);
}

static void the_host_is_plausible(void **state)
{
    (void)state;
    char name[128];
    double least, most;
    memset(name, 'x', sizeof name);
    machine_processor(name);
    assert_true(strlen(name) > 0 && strlen(name) < sizeof name && !strchr(name, '\n'));
    assert_in_range(machine_cores(), 1, 1 << 20);
    if (machine_clocks(&least, &most))
        assert_true(least > 10 && least <= most && most < 20000);
    else
        assert_true(most == 0);
    const double cache = cache_host();
    double free, all;
    memory_find(&free, &all);
    assert_true(cache == 0 || (cache >= 64 << 10 && cache < 1e12));
    assert_true(free > 1 << 20 && free <= all && all < 1e15);
}

/* Puts a file with this text below root. */
static void put(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *c = path + strlen(root) + 1; (c = strchr(c, '/')); *c++ = '/') {
        *c = '\0';
        mkdir(path, 0777);
    }
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* What is left in the control group of /proc/self/cgroup, and the bytes of all of it. */
static void expect_left(const char *root, const char *group, double left, double whole)
{
    double free, all;
    put(root, "proc/self/cgroup", group);
    memory_find_below(root, &free, &all);
    assert_true(free == left && all == whole);
}

static void limits_of_both_versions_of_control_groups_are_kept(void **state)
{
    (void)state;
    char root[] = "/tmp/tagflow-test-XXXXXX", command[64];
    assert_non_null(mkdtemp(root));
    put(root, "proc/meminfo", "MemTotal: 8000 kB\nMemFree: 1 kB\nMemAvailable: 6000 kB\n");
    put(root, "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000\n");
    put(root, "sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000\n");
    put(root, "sys/fs/cgroup/memory/job/memory.stat", "inactive_file 7\ntotal_inactive_file 200\n");
    put(root, "sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "sys/fs/cgroup/memory/job/step/memory.usage_in_bytes", "100\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "sys/fs/cgroup/new/memory.max", "2000\n");
    put(root, "sys/fs/cgroup/new/memory.current", "500\n");
    put(root, "sys/fs/cgroup/new/memory.stat", "inactive_file 100\n");
    put(root, "sys/fs/cgroup/new/user/memory.max", "max\n");
    expect_left(root, "3:memory:/\n0::/\n", 6000 * 1024, 8000 * 1024);
    expect_left(root, "3:cpu:/job\n2:memory_more:/job\n0::/none\n", 6000 * 1024, 8000 * 1024);
    expect_left(root, "9:name=systemd:/new\n4:memory:/job\n", 1200, 4000);
    expect_left(root, "4:cpu,memory:/job/step\n", 1200, 4000);
    expect_left(root, "4:memory,hugetlb:/job/not/shown/here\n", 1200, 4000);
    expect_left(root, "0::/new/user\n", 1600, 2000);
    expect_left(root, "4:memory:/job\n0::/new\n", 1200, 2000);
    expect_left(root, "4\n:\n4:\n4:memory\n4:memory:\n", 6000 * 1024, 8000 * 1024);
    put(root, "sys/fs/cgroup/memory/job/memory.usage_in_bytes", "4300\n");
    expect_left(root, "4:memory:/job\n", 1, 4000); /* 0 would be: not known */
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_changes_each_word_once),
        cmocka_unit_test(rates_are_positive_and_data_right),
        cmocka_unit_test(a_flipped_bit_is_found),
        cmocka_unit_test(memory_that_is_not_there_is_reported),
        cmocka_unit_test(the_host_is_plausible),
        cmocka_unit_test(limits_of_both_versions_of_control_groups_are_kept),
    };
    MPI_Init(&argc, &argv);
    message_set_rank(0, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
