/* Triangle meshes from STL files, binary and ASCII: strict, and bounded in time and memory by the
 * length of the file. */
#ifndef TAGFLOW_STL_H
#define TAGFLOW_STL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STL_REASON = 192 };

/* Corners at equal coordinates are one vertex. Vertices are in ascending order of x, y, z. */
struct stl {
    size_t vertices, triangles;
    double (*vertex)[3];     /* finite, no -0 */
    uint32_t (*triangle)[3]; /* vertices, counterclockwise from outside */
};

/* Reads `length` bytes, followed by a NUL. A file is binary if its length fits the number of
 * triangles in its header (84 + 50 n), whatever it begins with; otherwise it is ASCII, with one or
 * several solids. Normals are ignored: the order of the corners has the same information. False:
 * the reason, in words that follow the file's name (":3:8: 'x' is not a number"), or "" without
 * memory; *m is zeroed.
 *
 * Numbers have a decimal point: the caller's locale must be plain. */
bool stl_read(const char *bytes, size_t length, struct stl *m, char reason[STL_REASON]);

void stl_destroy(struct stl *m);

#endif
