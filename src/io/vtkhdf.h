/* Snapshots as VTKHDF ImageData, which ParaView and VTK open: one static file a snapshot, arrays on
 * points, a point being the centre of a cell. Format: docs/formats.md. A snapshot that is one cell
 * thick has two points there, on the two faces of the cell, with equal values: VTK's readers lose,
 * or crash on, one with a single layer of points.
 *
 *     vtkhdf_create .. vtkhdf_add .. vtkhdf_write .. vtkhdf_close
 *
 * A file that was created must be closed, whatever the calls between returned. */
#ifndef TAGFLOW_VTKHDF_H
#define TAGFLOW_VTKHDF_H

#include "io/h5file.h"

struct vtkhdf;

/* Starts the snapshot path (under a temporary name until it is closed).
 *   cells, origin, spacing: along x, y, z; origin is where the first point lies
 * Collective; the same status on all ranks; *out is set only on success. */
enum status vtkhdf_create(struct vtkhdf **out, MPI_Comm comm, const char *path, const int cells[3],
                          const double origin[3], const double spacing[3]);

/* Declares an array of `components` samples a point and reserves its place on disk. Arrays are
 * numbered 0, 1, .. as they are declared. Collective; the same status on all ranks. */
enum status vtkhdf_add(struct vtkhdf *file, const char *name, int components, enum sample sample);

/* Writes a box of an array: start and count along x, y, z, of the whole grid; data tightly packed
 * (z, y, x, component). Not collective: any number of times on any rank, or never. Boxes that
 * span x, and then y, are written in fewer pieces. On failure, reported once, this and all further
 * writes return STATUS_MACHINE. */
enum status vtkhdf_write(struct vtkhdf *file, int array, const int start[3], const int count[3],
                         const void *data);

/* The file itself, for attributes beside those of VTKHDF: in its group /provenance, which is there,
 * those that say where the snapshot comes from. */
struct h5file *vtkhdf_file(struct vtkhdf *file);

/* Ends the snapshot: on disk and under its name if `ok` and all went well on all ranks, gone
 * otherwise. Collective; the same status on all ranks. NULL: nothing. */
enum status vtkhdf_close(struct vtkhdf *file, bool ok);

#endif
