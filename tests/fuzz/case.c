/* Fuzz target: a text read as a case. What reads is said and warned about, and its resolved text
 * reads back to the same case. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
        case_warn(&c);
        said_check_lines();
    }
    case_destroy(&c);
    fuzz_cut_free(&in);
    return 0;
}
