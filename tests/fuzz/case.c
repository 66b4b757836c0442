/* Fuzz target: a text read as a case. What reads is said and warned about, and its resolved text
 * reads back to the same case; cases of finer levels are made of it. */
#include "fuzz.h"
#include "advice/advice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A level may be impossible, but then one line says so; and its case reads back, too. */
static void check_levels(const struct flow_case *c)
{
    for (int level = 1; level <= 8; level += level < 2 ? 1 : 6) {
        struct flow_case of;
        said_clear();
        const enum status s = case_of_level(c, level, &of);
        if (s == STATUS_MACHINE)
            fuzz_wrong("the machine does not fail here");
        said_check(s);
        if (!s && (of.levels != 1 || of.cells[0] != c->cells[0] << level))
            fuzz_wrong("level %d is not in its units", level);
        case_destroy(&of);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in;
    struct flow_case c;
    fuzz_cut(data, size, &in);
    const enum status s = fuzz_read(&in, &c);
    if (s == STATUS_MACHINE)
        fuzz_wrong("the machine does not fail here");
    if (!s) {
        fuzz_check_resolved(&c);
        case_say_derived(&c);
        advice_case(&c);
        said_check_lines();
        if (c.levels > 1)
            check_levels(&c);
    }
    case_destroy(&c);
    fuzz_cut_free(&in);
    return 0;
}
