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

/* Reads length bytes, a NUL after them. A file is binary when its length is that of as many
 * triangles as it says (84 + 50 n), whatever it begins with; otherwise ASCII, one or several
 * solids. Normals are not used: the order of the corners says as much. False: the reason, in words
 * that follow the file's name (":3:8: 'x' is not a number"), or "" without memory; *m is zeroed.
 *
 * Numbers have a point between whole and part: the caller's locale must be plain. */
bool stl_read(const char *bytes, size_t length, struct stl *m, char reason[STL_REASON]);

void stl_destroy(struct stl *m);

#endif
