/* Fuzz target: the input as the resolved case inside a checkpoint or snapshot, of which facts and
 * the version of the physics are read. Whatever it is, nothing is said, and what is taken is in
 * range. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct case_facts f;
    char *const text = malloc(size + 1);
    if (!text)
        fuzz_wrong("no memory");
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&f, 0, sizeof f);
    said_clear();
    if (case_facts(text, &f) && (f.scalar_count < 0 || f.scalar_count > CASE_SCALARS))
        fuzz_wrong("%d scalars", f.scalar_count);
    case_physics(text);
    said_check_lines();
    free(text);
    return 0;
}
