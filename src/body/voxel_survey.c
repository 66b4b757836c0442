/* The content of a voxel image; see voxel_survey.h. */
#include "body/voxel_survey.h"

#include <limits.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/agree.h"

enum status voxel_agree(MPI_Comm *comm, enum status mine, char reason[VOXEL_REASON])
{
    int rank;
    if (!comm)
        return mine;
    const enum status worst = status_agree(*comm, mine);
    if (!worst)
        return worst;
    MPI_Comm_rank(*comm, &rank);
    if (mine != worst)
        rank = INT_MAX;
    MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN, *comm);
    MPI_Bcast(reason, VOXEL_REASON, MPI_CHAR, rank, *comm);
    return worst;
}

/* counts[VOXEL_LABELS], and the sum of the checksums of lines, each with the line's number as
 * seed. */
struct tally {
    const struct voxel_image *image;
    int64_t *counts;
    uint64_t sum;
};

static enum status tally_rows(void *context, int z, const int lo[2], const int hi[2],
                              const int32_t *labels)
{
    struct tally *const t = context;
    const struct voxel_image *const v = t->image;
    const size_t width = (size_t)(hi[0] - lo[0]);
    const uint64_t first = (uint64_t)(z - v->from[2]) * (uint64_t)(v->to[1] - v->from[1]);
    for (int y = lo[1]; y < hi[1]; y++, labels += width) {
        for (size_t x = 0; x < width; x++)
            t->counts[labels[x] - VOXEL_LABEL_MIN]++;
        t->sum += XXH3_64bits_withSeed(labels, width * sizeof *labels,
                                       first + (uint64_t)(y - v->from[1]));
    }
    return STATUS_OK;
}

/* Tallies this rank's share of the used planes. */
static enum status tally_planes(struct tally *t, int first, int last, int32_t *plane,
                                char reason[VOXEL_REASON])
{
    const struct voxel_image *const v = t->image;
    struct voxel_file f;
    enum status s = voxel_file_open(&f, v->file, v, reason);
    if (s)
        return s;
    s = voxel_file_each(&f, (int[3]){v->from[0], v->from[1], first},
                        (int[3]){v->to[0], v->to[1], last}, plane, tally_rows, t, reason);
    voxel_file_close(&f);
    return s;
}

/* Makes the list of labels from their counts. */
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
    struct tally t = {.image = v, .counts = counts};
    enum status s = STATUS_OK;
    if (!counts || !plane)
        s = voxel_file_failed(reason, ": no memory for a plane of %zu voxels", area);
    else if (first < last)
        s = tally_planes(&t, first, last, plane, reason);
    s = voxel_agree(comm, s, reason);
    if (!s && comm) {
        MPI_Allreduce(MPI_IN_PLACE, counts, VOXEL_LABELS, MPI_INT64_T, MPI_SUM, *comm);
        MPI_Allreduce(MPI_IN_PLACE, &t.sum, 1, MPI_UINT64_T, MPI_SUM, *comm);
    }
    if (!s) {
        v->checksum = t.sum;
        s = voxel_agree(comm, take_counts(v, counts, reason), reason);
    }
    free(counts);
    free(plane);
    return s;
}
