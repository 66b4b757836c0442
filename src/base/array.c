/* Growing arrays; see array.h. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Gives an array room. The copies are for pointers of any type. */
static bool resize(void *array, size_t room, size_t size)
{
    void *first;
    if (room > SIZE_MAX / size)
        return false;
    memcpy(&first, array, sizeof first);
    first = realloc(first, room * size);
    if (!first)
        return false;
    memcpy(array, &first, sizeof first);
    return true;
}

bool array_grow(void *array, size_t count, size_t size)
{
    const bool full = count == 0 || (count >= ARRAY_LEAST && (count & (count - 1)) == 0);
    return !full || resize(array, count ? 2 * count : ARRAY_LEAST, size);
}

size_t array_unique(void *array, size_t count, size_t size, array_compare *compare)
{
    char *const first = array;
    size_t kept = 0;
    if (count)
        qsort(array, count, size, compare);
    for (size_t k = 0; k < count; k++)
        if (!kept || compare(first + (kept - 1) * size, first + k * size) != 0)
            memmove(first + kept++ * size, first + k * size, size);
    return kept;
}

bool array_add_unique(void *array, size_t *count, size_t *room, const void *element, size_t size,
                      array_compare *compare)
{
    char *first;
    memcpy(&first, array, sizeof first);
    if (*count == *room) {
        *count = array_unique(first, *count, size, compare);
        if (2 * *count >= *room) {
            if (!resize(array, 2 * *room + 256, size))
                return false;
            *room = 2 * *room + 256;
            memcpy(&first, array, sizeof first);
        }
    }
    memcpy(first + (*count)++ * size, element, size);
    return true;
}
