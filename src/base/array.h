/* Arrays that grow by one element after the other, and arrays without duplicates. */
#ifndef TAGFLOW_ARRAY_H
#define TAGFLOW_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

enum { ARRAY_LEAST = 16 }; /* elements of the first allocation */

/* Makes room for element `count` of an array of elements of `size` bytes; `array` is the address
 * of the pointer to the first one, NULL for an empty array. The room is a power of two that follows
 * from the count, so no struct stores it. False: out of memory, and the array is as before. */
bool array_grow(void *array, size_t count, size_t size);

/* Room for element `count`, a whole number of any type. False: out of memory. */
#define ARRAY_ROOM(array, count) array_grow(&(array), (size_t)(count), sizeof *(array))

/* Appends an element and counts it. False: out of memory, nothing has changed. */
#define ARRAY_ADD(array, count, ...)                                                               \
    (ARRAY_ROOM(array, count) ? ((array)[(count)++] = (__VA_ARGS__), true) : false)

typedef int array_compare(const void *left, const void *right);

/* Sorts, and keeps one of equal elements. Returns their number. */
size_t array_unique(void *array, size_t count, size_t size, array_compare *compare);

/* Appends an element to an array in which most elements come several times: duplicates are removed
 * before it grows. `array` as above, *room: elements that fit. False: out of memory, nothing was
 * added. */
bool array_add_unique(void *array, size_t *count, size_t *room, const void *element, size_t size,
                      array_compare *compare);

#endif
