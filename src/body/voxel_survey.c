/* What is in a voxel image; see voxel_survey.h. */
#include "body/voxel_survey.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum status voxel_agree(MPI_Comm *comm, enum status mine, char reason[VOXEL_REASON])
{
    struct {
        int status, rank;
    } worst = {(int)mine, 0};
    if (!comm)
        return mine;
    MPI_Comm_rank(*comm, &worst.rank);
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_2INT, MPI_MAXLOC, *comm);
    if (worst.status)
        MPI_Bcast(reason, VOXEL_REASON, MPI_CHAR, worst.rank, *comm);
    return (enum status)worst.status;
}

/* This rank's share of the planes that are taken: counts[VOXEL_LABELS] and the sum of the rows'
 * checksums, each with the row's number as its seed. */
static enum status count_planes(const struct voxel_image *v, int first, int last, int32_t *plane,
                                int64_t *counts, uint64_t *sum, char reason[VOXEL_REASON])
{
    struct voxel_file f;
    const size_t width = (size_t)(v->to[0] - v->from[0]), height = (size_t)(v->to[1] - v->from[1]);
    enum status s = voxel_file_open(&f, v->file, v, reason);
    if (s)
        return s;
    for (int z = first; z < last && !s; z++) {
        s = voxel_file_plane(&f, z, v->from, v->to, plane, reason);
        for (size_t y = 0; y < height && !s; y++) {
            const int32_t *const row = plane + y * width;
            const uint64_t number = (uint64_t)(z - v->from[2]) * height + y;
            for (size_t x = 0; x < width; x++)
                counts[row[x] - VOXEL_LABEL_MIN]++;
            *sum += XXH3_64bits_withSeed(row, width * sizeof *row, number);
        }
    }
    voxel_file_close(&f);
    return s;
}

/* The labels that occur, from their counts. */
static enum status take_counts(struct voxel_image *v, const int64_t *counts,
                               char reason[VOXEL_REASON])
{
    int found = 0;
    for (int k = 0; k < VOXEL_LABELS; k++)
        found += counts[k] > 0;
    v->labels = malloc((size_t)found * sizeof *v->labels);
    if (!v->labels)
        return voxel_file_failed(reason, ": no memory for its %d labels", found);
    v->label_count = 0;
    for (int k = 0; k < VOXEL_LABELS; k++) {
        if (!counts[k])
            continue;
        struct voxel_label *const l = &v->labels[v->label_count++];
        *l = (struct voxel_label){.label = k + VOXEL_LABEL_MIN, .voxels = counts[k]};
        for (int i = 0; i < v->solid_count; i++)
            l->solid |= v->solid[i] == l->label;
    }
    return STATUS_OK;
}

enum status voxel_survey(struct voxel_image *v, MPI_Comm *comm, char reason[VOXEL_REASON])
{
    int rank = 0, ranks = 1;
    if (comm) {
        MPI_Comm_rank(*comm, &rank);
        MPI_Comm_size(*comm, &ranks);
    }
    const int64_t planes = v->to[2] - v->from[2];
    const int first = v->from[2] + (int)(planes * rank / ranks);
    const int last = v->from[2] + (int)(planes * (rank + 1) / ranks);
    const size_t area = (size_t)(v->to[0] - v->from[0]) * (size_t)(v->to[1] - v->from[1]);
    int64_t *const counts = calloc(VOXEL_LABELS, sizeof *counts);
    int32_t *const plane = malloc(area * sizeof *plane);
    uint64_t sum = 0;
    enum status s = STATUS_OK;
    if (!counts || !plane)
        s = voxel_file_failed(reason, ": no memory for a plane of %zu voxels", area);
    else if (first < last)
        s = count_planes(v, first, last, plane, counts, &sum, reason);
    s = voxel_agree(comm, s, reason);
    if (!s && comm) {
        MPI_Allreduce(MPI_IN_PLACE, counts, VOXEL_LABELS, MPI_INT64_T, MPI_SUM, *comm);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, *comm);
    }
    if (!s) {
        v->checksum = sum;
        s = voxel_agree(comm, take_counts(v, counts, reason), reason);
    }
    free(counts);
    free(plane);
    return s;
}
