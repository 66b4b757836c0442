/* Values on triangles as VTKHDF: an UnstructuredGrid of version 1.0, which VTK 9.1, ParaView 5.11
 * and all newer versions read. PolyData would hold the same, but VTK 9.1 and ParaView 5.11 refuse
 * it. Format: docs/formats.md.
 *
 *     vtkmesh_create .. h5file attributes .. vtkmesh_add .. h5file_write .. h5file_close
 *
 * h5file_write may be called on any rank. */
#ifndef TAGFLOW_VTKMESH_H
#define TAGFLOW_VTKMESH_H

#include "io/h5file.h"

/* Starts the file with its points [points][3] and its triangles [triangles][3], which are indices
 * of points. Only rank 0 needs to pass both. Creates the group /provenance. Collective: one status
 * on all ranks. If *out was set, close it with h5file_close(), also if this failed. */
enum status vtkmesh_create(struct h5file **out, MPI_Comm comm, const char *path, int64_t points,
                           int64_t triangles, const double (*point)[3],
                           const uint32_t (*triangle)[3]);

/* Adds an array on the triangles, [triangles] or [triangles][components]. The first array is
 * dataset VTKMESH_FIRST for h5file_write(). Collective. */
enum { VTKMESH_FIRST = 7 };
enum status vtkmesh_add(struct h5file *file, const char *name, int64_t triangles, int components,
                        enum sample sample);

#endif
