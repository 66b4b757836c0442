/* Snapshots as VTKHDF ImageData, which ParaView and VTK open: one static file per snapshot, with
 * arrays on points; the points are the centres of cells. Format: docs/formats.md. Along an axis
 * with one cell, a snapshot has two points, on the two faces of the cell, with equal values: VTK's
 * readers ignore a single layer of points, or crash.
 *
 *     vtkhdf_create .. vtkhdf_add .. vtkhdf_write .. vtkhdf_close
 *
 * A file that was created must be closed, also if a call in between failed. */
#ifndef TAGFLOW_VTKHDF_H
#define TAGFLOW_VTKHDF_H

#include "io/h5file.h"

struct vtkhdf;

/* Starts a VTKHDF file of any type, with the group /VTKHDF and its attributes Version and Type.
 * Collective; errors and *out as h5file_create. */
enum status vtkhdf_start(struct h5file **out, MPI_Comm comm, const char *path, const char *type);

/* Starts the snapshot `path`, which has a temporary name until it is closed.
 *   cells, origin, spacing: along x, y, z; origin: centre of the first cell
 * Collective: one status on all ranks; *out is set only on success. */
enum status vtkhdf_create(struct vtkhdf **out, MPI_Comm comm, const char *path, const int cells[3],
                          const double origin[3], const double spacing[3]);

/* Declares an array with `components` numbers per point and reserves its place on disk. Arrays are
 * numbered 0, 1, .. in the order of the calls. Collective: one status on all ranks. */
enum status vtkhdf_add(struct vtkhdf *file, const char *name, int components, enum sample sample);

/* Writes a box of an array: start and count along x, y, z, of the whole grid; data tightly packed
 * (z, y, x, component). Not collective: any number of times on any rank, or never. A box that spans
 * the grid along x, or along x and y, is written in fewer pieces. On failure, reported once, this
 * and all later writes return STATUS_MACHINE. */
enum status vtkhdf_write(struct vtkhdf *file, int array, const int start[3], const int count[3],
                         const void *data);

/* The HDF5 file, for attributes other than those of VTKHDF. Its group /provenance, which exists, is
 * for attributes that say where the snapshot comes from. */
struct h5file *vtkhdf_file(struct vtkhdf *file);

/* Frees the snapshot but not its file, which h5file_leave or h5file_close ends. */
struct h5file *vtkhdf_release(struct vtkhdf *file);

/* Ends the snapshot. If `ok` and nothing failed on any rank, it is on disk under its name; else it
 * is deleted. Collective: one status on all ranks. NULL: does nothing. */
enum status vtkhdf_close(struct vtkhdf *file, bool ok);

#endif
