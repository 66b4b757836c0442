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

/* counts[VOXEL_LABELS], value[VOXEL_LABELS], and the sum of the checksums of lines, each with the
 * line's number as seed. */
struct voxel_tally {
    struct voxel_image *image;
    int64_t *counts;
    uint8_t *value;
    uint64_t sum;
    int64_t ends[2]; /* pairs of a fluid and a solid voxel along x, along y */
};

/* Writes bit number `bit` of the values of a line of labels. */
static void keep_line(const uint8_t *value, const int32_t *labels, size_t width, int bit,
                      uint8_t *to)
{
    for (size_t x = 0; x < width; x += 8) {
        const size_t count = width - x < 8 ? width - x : 8;
        unsigned bits = 0;
        for (size_t k = 0; k < count; k++)
            bits |= ((unsigned)value[labels[x + k] - VOXEL_LABEL_MIN] >> bit & 1) << k;
        to[x / 8] = (uint8_t)bits;
    }
}

/* Counts ends of what is fluid in a line of labels, and beside the line before it (NULL: none). */
static void count_ends(struct voxel_tally *t, const int32_t *labels, const int32_t *before,
                       size_t width)
{
    for (size_t x = 0; x < width; x++) {
        const bool solid = t->value[labels[x] - VOXEL_LABEL_MIN] != 0;
        t->ends[0] += x && solid != (t->value[labels[x - 1] - VOXEL_LABEL_MIN] != 0);
        t->ends[1] += before && solid != (t->value[before[x] - VOXEL_LABEL_MIN] != 0);
    }
}

static enum status tally_rows(void *context, int z, const int lo[2], const int hi[2],
                              const int32_t *labels)
{
    struct voxel_tally *const t = context;
    const struct voxel_image *const v = t->image;
    const size_t width = (size_t)(hi[0] - lo[0]), lines = (size_t)(v->to[1] - v->from[1]);
    const size_t bytes = voxel_line(v, hi[0] - lo[0]), each = voxel_bit_line(hi[0] - lo[0]);
    uint8_t *const plane = v->kept + (size_t)(z - v->kept_from) * lines * bytes;
    const uint64_t first = (uint64_t)(z - v->from[2]) * (uint64_t)(v->to[1] - v->from[1]);
    for (int y = lo[1]; y < hi[1]; y++, labels += width) {
        for (size_t x = 0; x < width; x++)
            t->counts[labels[x] - VOXEL_LABEL_MIN]++;
        count_ends(t, labels, y > lo[1] ? labels - width : NULL, width);
        t->sum += XXH3_64bits_withSeed(labels, width * sizeof *labels,
                                       first + (uint64_t)(y - v->from[1]));
        uint8_t *const to = plane + (size_t)(y - v->from[1]) * bytes;
        for (int bit = 0; bit < voxel_bits(v); bit++)
            keep_line(t->value, labels, width, bit, to + (size_t)bit * each);
    }
    return STATUS_OK;
}

/* This rank's share of the used planes: whole blocks that are unpacked together. */
static void share_planes(struct voxel_image *v, int deep, int rank, int ranks)
{
    const int64_t first = v->from[2] / deep, blocks = (v->to[2] + deep - 1) / deep - first;
    const int64_t at[2] = {first + blocks * rank / ranks, first + blocks * (rank + 1) / ranks};
    v->kept_from = at[0] * deep > v->from[2] ? (int)(at[0] * deep) : v->from[2];
    v->kept_to = at[1] * deep < v->to[2] ? (int)(at[1] * deep) : v->to[2];
    if (v->kept_to < v->kept_from)
        v->kept_to = v->kept_from;
}

/* Tallies and keeps this rank's share of the used planes. `plane`: room for one. */
static enum status tally_planes(struct voxel_tally *t, int rank, int ranks, int32_t *plane,
                                char reason[VOXEL_REASON])
{
    struct voxel_image *const v = t->image;
    struct voxel_file f;
    enum status s = voxel_file_open(&f, v->file, v, reason);
    if (s)
        return s;
    share_planes(v, f.block[1], rank, ranks);
    const size_t planes = (size_t)(v->kept_to - v->kept_from);
    const size_t bytes =
        planes * (size_t)(v->to[1] - v->from[1]) * voxel_line(v, v->to[0] - v->from[0]);
    v->kept = malloc(bytes + 1);
    if (!v->kept)
        s = voxel_file_failed(reason, ": no memory for %zu bytes of its voxels", bytes);
    else if (planes)
        s = voxel_file_each(&f, (int[3]){v->from[0], v->from[1], v->kept_from},
                            (int[3]){v->to[0], v->to[1], v->kept_to}, plane, tally_rows, t, reason);
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

/* A gap has two ends. */
static double width_of(const struct voxel_image *v, const int64_t ends[2])
{
    const int64_t most = ends[0] > ends[1] ? ends[0] : ends[1];
    int64_t fluid = 0;
    for (int k = 0; k < v->label_count; k++)
        fluid += v->labels[k].solid ? 0 : v->labels[k].voxels;
    return most ? 2 * (double)fluid / (double)most : 0;
}

enum status voxel_survey(struct voxel_image *v, MPI_Comm *comm, char reason[VOXEL_REASON])
{
    int rank = 0, ranks = 1;
    if (comm) {
        MPI_Comm_rank(*comm, &rank);
        MPI_Comm_size(*comm, &ranks);
    }
    const size_t area = (size_t)(v->to[0] - v->from[0]) * (size_t)(v->to[1] - v->from[1]);
    int64_t *const counts = calloc(VOXEL_LABELS, sizeof *counts);
    uint8_t *const value = calloc(VOXEL_LABELS, 1);
    int32_t *const plane = malloc(area * sizeof *plane);
    struct voxel_tally t = {.image = v, .counts = counts, .value = value};
    enum status s = STATUS_OK;
    if (value)
        voxel_values(v, value);
    if (!counts || !value || !plane)
        s = voxel_file_failed(reason, ": no memory for a plane of %zu voxels", area);
    else
        s = tally_planes(&t, rank, ranks, plane, reason);
    s = voxel_agree(comm, s, reason);
    if (!s && comm) {
        MPI_Allreduce(MPI_IN_PLACE, counts, VOXEL_LABELS, MPI_INT64_T, MPI_SUM, *comm);
        MPI_Allreduce(MPI_IN_PLACE, &t.sum, 1, MPI_UINT64_T, MPI_SUM, *comm);
        MPI_Allreduce(MPI_IN_PLACE, t.ends, 2, MPI_INT64_T, MPI_SUM, *comm);
    }
    if (!s) {
        v->checksum = t.sum;
        s = voxel_agree(comm, take_counts(v, counts, reason), reason);
        v->width = s ? 0 : width_of(v, t.ends);
    }
    free(counts);
    free(value);
    free(plane);
    return s;
}
