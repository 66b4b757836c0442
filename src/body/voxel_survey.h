/* The content of a voxel image, found by all ranks together: each reads a part of the planes, and
 * keeps the values of its voxels (voxel_values), so that the file is read once. */
#ifndef TAGFLOW_VOXEL_SURVEY_H
#define TAGFLOW_VOXEL_SURVEY_H

#include <mpi.h>

#include "body/voxel_file.h"

/* Count the labels of the used part, v->from to v->to, which lies in the image and is not empty,
 * and compute its checksum. Reads v->file; sets v->labels and v->kept (allocated) and v->checksum.
 * Labels and checksum are the same for every number of ranks. Collective on *comm; NULL: this
 * process alone, without MPI. Errors are not reported; all ranks get the same status and a reason.
 */
enum status voxel_survey(struct voxel_image *v, MPI_Comm *comm, char reason[VOXEL_REASON]);

/* The worst status of all ranks, and the reason of the first rank that has it. */
enum status voxel_agree(MPI_Comm *comm, enum status mine, char reason[VOXEL_REASON]);

#endif
