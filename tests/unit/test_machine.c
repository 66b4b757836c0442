/* What the program says of the processor: its name, out of texts as Linux writes them on several
 * architectures, and the instruction sets of this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/isa.h"
#include "base/machine.h"
#include "scratch.h"

static const struct {
    const char *cpuinfo, *name; /* name NULL: there is none */
} texts[] = {
    {"processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\n"
     "model name\t: AMD EPYC 9654 96-Core Processor\ncpu MHz\t\t: 2400.0\n",
     "AMD EPYC 9654 96-Core Processor"},
    /* Grace; the cores of a machine may differ: the first tells */
    {"processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n"
     "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 0\n\n"
     "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n",
     "Arm Neoverse V2"},
    {"CPU implementer\t: 0x46\nCPU part\t: 0x001\n", "Fujitsu A64FX"},
    {"CPU implementer\t: 0x41\nCPU part\t: 0xfff\n", "Arm processor, part 0xfff"},
    {"CPU implementer\t: 0xee\nCPU part\t: 0x123\n", "processor of maker 0xee, part 0x123"},
    {"processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t: sifive,u74-mc\n",
     "sifive,u74-mc"},
    {"processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.0MHz\n",
     "POWER9, altivec supported"},
    {"processor\t: 0\nmodel name\t: \nCPU part\t: 0xd4f\n", NULL},
    {"", NULL},
};

static void processors_have_names(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const char *const path = scratch_path("cpuinfo");
        char name[128];
        FILE *const file = fopen(path, "w");
        assert_non_null(file);
        fputs(texts[k].cpuinfo, file);
        fclose(file);
        assert_int_equal(machine_processor_in(path, name), texts[k].name != NULL);
        assert_string_equal(name, texts[k].name ? texts[k].name : "");
    }
    char name[128] = "something";
    assert_false(machine_processor_in(scratch_path("none"), name));
    assert_string_equal(name, "");
    machine_processor(name);
    assert_true(strlen(name) > 0 && !strchr(name, '\n'));
}

/* Every program has generic kernels, and the best set is one of those that it has. */
static void instruction_sets_of_this_program(void **state)
{
    const enum isa best = isa_best();
    char text[ISA_TEXT];
    (void)state;
    assert_true(isa_built(ISA_generic) && isa_runs(ISA_generic));
    assert_false(isa_built(ISA_auto) || isa_runs(ISA_auto));
    assert_true(isa_runs(best));
    for (int isa = ISA_FIRST; isa < ISAS; isa++) {
        assert_true(isa_built((enum isa)isa) || !isa_runs((enum isa)isa));
        assert_true(isa <= (int)best || !isa_runs((enum isa)isa));
        assert_int_equal(isa_built((enum isa)isa),
                         strstr(isa_list(text), isa_name((enum isa)isa)) != NULL);
    }
#ifdef __x86_64__
#ifdef TAGFLOW_ALL_ISAS
    assert_string_equal(isa_list(text), "generic, v3, v4 (x86-64)");
#endif
    assert_string_equal(isa_title(ISA_v3), "x86-64-v3");
#elif defined __aarch64__
    assert_true(strncmp(isa_list(text), "generic, neon", 13) == 0);
    assert_true(isa_runs(ISA_neon) && !isa_built(ISA_v3));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processors_have_names, scratch_setup, scratch_teardown),
        cmocka_unit_test(instruction_sets_of_this_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
