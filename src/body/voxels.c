/* A body that is a voxel image; see voxels.h. */
#include "body/voxels.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "body/voxel_file.h"
#include "body/voxel_survey.h"

/* Along an axis a rank needs one run of voxels, or one at each end of the image. */
enum { RUNS = 2 };

struct voxel_run {
    int lo, hi; /* voxels of the file */
};

/* Is a cell of voxel i along an axis of the box among lo .. hi - 1 or their periodic images? */
static bool wanted(const struct voxel_image *image, int axis, int i, int cells, bool periodic,
                   int lo, int hi)
{
    const int g = image->at[axis] + (i << image->level), last = g + (1 << image->level) - 1;
    return (last >= lo && g < hi) || (periodic && ((last - cells >= lo && g - cells < hi) ||
                                                   (last + cells >= lo && g + cells < hi)));
}

static bool place_axis(struct voxels *v, int axis, int cells, bool periodic, int lo, int hi)
{
    const int n = v->n[axis];
    int *const place = v->place[axis] = malloc((size_t)n * sizeof *place);
    for (int i = 0; place && i < n; i++)
        place[i] = wanted(v->image, axis, i, cells, periodic, lo, hi) ? v->kept[axis]++ : -1;
    return place != NULL;
}

/* The index, in the grid's order, of voxel f of the file. */
static int turned(const struct voxel_image *image, int axis, int f)
{
    return image->flip & 1u << axis ? image->to[axis] - 1 - f : f - image->from[axis];
}

/* Finds the runs of voxels of the file that are kept along an axis; returns their number. */
static int runs_of(const struct voxels *v, int axis, struct voxel_run runs[RUNS])
{
    int count = 0;
    for (int f = v->image->from[axis]; f < v->image->to[axis]; f++) {
        if (v->place[axis][turned(v->image, axis, f)] < 0)
            continue;
        if (count && runs[count - 1].hi == f) {
            runs[count - 1].hi++;
            continue;
        }
        assert(count < RUNS);
        runs[count++] = (struct voxel_run){f, f + 1};
    }
    return count;
}

/* Line y of plane z of the kept voxels; y, z: of the file. */
static uint8_t *line_of(const struct voxels *v, int y, int z)
{
    const size_t plane = (size_t)v->place[2][turned(v->image, 2, z)] * (size_t)v->kept[1];
    return v->solid +
           (plane + (size_t)v->place[1][turned(v->image, 1, y)]) * voxel_line(v->image, v->kept[0]);
}

struct keeper {
    struct voxels *v;
    const uint8_t *value; /* [VOXEL_LABELS] */
};

/* Keeps a rectangle of a plane of the file. */
static enum status keep(void *context, int z, const int lo[2], const int hi[2],
                        const int32_t *labels)
{
    const struct keeper *const k = context;
    const struct voxels *const v = k->v;
    const size_t each = voxel_bit_line(v->kept[0]);
    for (int y = lo[1]; y < hi[1]; y++) {
        uint8_t *const line = line_of(v, y, z);
        for (int x = lo[0]; x < hi[0]; x++) {
            const int place = v->place[0][turned(v->image, 0, x)];
            uint8_t *to = line + place / 8;
            for (unsigned value = k->value[*labels++ - VOXEL_LABEL_MIN]; value; value >>= 1) {
                *to |= (uint8_t)((value & 1) << (unsigned)place % 8);
                to += each;
            }
        }
    }
    return STATUS_OK;
}

static enum status read_part(struct voxels *v, const uint8_t *value, int32_t *labels,
                             char reason[VOXEL_REASON])
{
    struct voxel_file f;
    struct voxel_run runs[3][RUNS];
    struct keeper keeper = {v, value};
    const int count[3] = {runs_of(v, 0, runs[0]), runs_of(v, 1, runs[1]), runs_of(v, 2, runs[2])};
    enum status s = voxel_file_open(&f, v->image->file, v->image, reason);
    if (s)
        return s;
    if (memcmp(f.size, v->image->size, sizeof f.size) != 0)
        s = voxel_file_wrong(reason, " has changed since the case was read");
    for (int k = 0; k < count[0] * count[1] * count[2] && !s; k++) {
        const struct voxel_run *const x = &runs[0][k % count[0]],
                                      *const y = &runs[1][k / count[0] % count[1]],
                                      *const z = &runs[2][k / count[0] / count[1]];
        s = voxel_file_each(&f, (int[3]){x->lo, y->lo, z->lo}, (int[3]){x->hi, y->hi, z->hi},
                            labels, keep, &keeper, reason);
    }
    voxel_file_close(&f);
    return s;
}

/* Reads this rank's part from the file. */
static enum status read_kept(struct voxels *v, char reason[VOXEL_REASON])
{
    const size_t area = (size_t)v->kept[0] * (size_t)v->kept[1];
    uint8_t *const value = calloc(VOXEL_LABELS, 1);
    int32_t *const labels = malloc(area * sizeof *labels);
    enum status s = STATUS_OK;
    if (value)
        voxel_values(v->image, value);
    if (!value || !labels)
        s = voxel_file_failed(reason, ": no memory for a plane of %zu voxels", area);
    else
        s = read_part(v, value, labels, reason);
    free(value);
    free(labels);
    return s;
}

/* Takes some bits of a line: those of the voxels that are kept. */
static void take_line(const struct voxels *v, const uint8_t *line, uint8_t *to)
{
    const struct voxel_image *const image = v->image;
    for (int x = image->from[0]; x < image->to[0]; x++) {
        const int k = x - image->from[0], place = v->place[0][turned(image, 0, x)];
        if (place >= 0)
            to[place / 8] |= (uint8_t)((line[k / 8] >> (unsigned)k % 8 & 1) << (unsigned)place % 8);
    }
}

/* Takes plane z of the file from all of its bits, [lines of the image][voxel_line]. */
static void take_plane(const struct voxels *v, int z, const uint8_t *plane)
{
    const struct voxel_image *const image = v->image;
    const size_t bytes = voxel_line(image, v->n[0]);
    const bool whole = v->kept[0] == v->n[0] && !(image->flip & 1u);
    for (int y = image->from[1]; y < image->to[1]; y++, plane += bytes) {
        if (v->place[1][turned(image, 1, y)] < 0)
            continue;
        uint8_t *const to = line_of(v, y, z);
        if (whole)
            memcpy(to, plane, bytes);
        for (size_t bit = 0; bit < (size_t)voxel_bits(image) && !whole; bit++)
            take_line(v, plane + bit * voxel_bit_line(v->n[0]),
                      to + bit * voxel_bit_line(v->kept[0]));
    }
}

/* The planes that a rank keeps and those that it needs. */
struct share {
    int from, to;     /* of the file: kept */
    int lo, hi;       /* of the box, as voxels_open */
    int needs, keeps; /* any voxel? */
};

static bool needs_plane(const struct voxels *v, const struct share *s, int cells, bool periodic,
                        int z)
{
    return s->needs && wanted(v->image, 2, turned(v->image, 2, z), cells, periodic, s->lo, s->hi);
}

/* Do the ranks together keep every plane, each once and in the order of the ranks? */
static bool complete(const struct voxel_image *image, const struct share *share, int ranks)
{
    int next = image->from[2];
    bool all = true;
    for (int k = 0; k < ranks; k++) {
        all = all && share[k].keeps && (share[k].from == next || share[k].from == share[k].to);
        next = share[k].to > share[k].from ? share[k].to : next;
    }
    return all && next == image->to[2];
}

/* Sends the kept planes to the ranks that need them, in the order of the planes. So a rank waits
 * for earlier planes only. */
static void pass_planes(struct voxels *v, const struct share *share, int cells, bool periodic,
                        uint8_t *buffer, size_t bytes, MPI_Comm comm)
{
    const struct voxel_image *const image = v->image;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int owner = 0; owner < ranks; owner++)
        for (int z = share[owner].from; z < share[owner].to; z++) {
            const uint8_t *const mine = image->kept + (size_t)(z - image->kept_from) * bytes;
            const bool needed = needs_plane(v, &share[rank], cells, periodic, z);
            for (int k = 0; k < ranks && owner == rank; k++)
                if (k != rank && needs_plane(v, &share[k], cells, periodic, z))
                    MPI_Send(mine, (int)bytes, MPI_BYTE, k, 0, comm);
            if (needed && owner != rank)
                MPI_Recv(buffer, (int)bytes, MPI_BYTE, owner, 0, comm, MPI_STATUS_IGNORE);
            if (needed)
                take_plane(v, z, owner == rank ? mine : buffer);
        }
}

/* Takes this rank's part from what the ranks kept; *done: they kept all of the image. */
static enum status take_kept(struct voxels *v, int cells, bool periodic, int lo, int hi,
                             MPI_Comm comm, bool *done, char reason[VOXEL_REASON])
{
    const struct voxel_image *const image = v->image;
    const size_t bytes = (size_t)v->n[1] * voxel_line(image, v->n[0]);
    int ranks;
    MPI_Comm_size(comm, &ranks);
    struct share *const share = malloc((size_t)ranks * sizeof *share);
    uint8_t *const buffer = malloc(bytes);
    const struct share own = {.from = image->kept_from,
                              .to = image->kept_to,
                              .lo = lo,
                              .hi = hi,
                              .needs = v->solid != NULL,
                              .keeps = image->kept != NULL};
    enum status s = STATUS_OK;
    if (!share || !buffer)
        s = voxel_file_failed(reason, ": no memory for a plane of %zu bytes", bytes);
    s = voxel_agree(&comm, s, reason);
    if (!s) {
        MPI_Allgather(&own, sizeof own, MPI_BYTE, share, sizeof own, MPI_BYTE, comm);
        *done = bytes <= INT_MAX && complete(image, share, ranks);
        if (*done)
            pass_planes(v, share, cells, periodic, buffer, bytes, comm);
    }
    free(share);
    free(buffer);
    return s;
}

enum status voxels_open(struct voxels *v, const struct voxel_image *image, const char *name,
                        const int cells[3], const bool periodic[3], const int lo[3],
                        const int hi[3], MPI_Comm comm)
{
    char reason[VOXEL_REASON] = "";
    enum status s = STATUS_OK;
    *v = (struct voxels){.image = image};
    for (int a = 0; a < 3; a++) {
        v->cells[a] = cells[a];
        v->periodic[a] = periodic[a];
        v->n[a] = image->to[a] - image->from[a];
        if (!place_axis(v, a, cells[a], periodic[a], lo[a], hi[a]) && !s)
            s = voxel_file_failed(reason, ": no memory for %d voxels along an axis", v->n[a]);
    }
    const size_t bytes = voxel_line(image, v->kept[0]) * (size_t)v->kept[1] * (size_t)v->kept[2];
    bool done = false;
    if (!s && bytes && !(v->solid = calloc(bytes, 1)))
        s = voxel_file_failed(reason, ": no memory for %zu bytes of its voxels", bytes);
    s = voxel_agree(&comm, s, reason);
    if (!s)
        s = take_kept(v, cells[2], periodic[2], lo[2], hi[2], comm, &done, reason);
    if (!s && !done) {
        if (v->solid)
            s = read_kept(v, reason);
        s = voxel_agree(&comm, s, reason);
    }
    if (s)
        voxels_close(v);
    if (s == STATUS_USAGE)
        return fail_user("bodies.%s.image.file: %s%s", name, image->file, reason);
    if (s == STATUS_STOPPED)
        say("%s%s; nothing was written: start again", image->file, reason);
    else if (s && message_rank() == 0)
        fail_machine("bodies.%s.image.file: %s%s", name, image->file, reason);
    return s;
}

void voxels_close(struct voxels *v)
{
    for (int a = 0; a < 3; a++)
        free(v->place[a]);
    free(v->solid);
    *v = (struct voxels){0};
}

void voxels_bounds(const struct voxels *v, double lo[3], double hi[3])
{
    for (int a = 0; a < 3; a++) {
        lo[a] = v->image->at[a];
        hi[a] = v->image->at[a] + voxel_image_cells(v->image, a);
    }
}

void voxels_row(const struct voxels *v, int x, int count, int y, int z, uint8_t *inside)
{
    const int *const at = v->image->at, level = v->image->level;
    const int row[2] = {(y - at[1]) >> level, (z - at[2]) >> level};
    const int first = x > at[0] ? x : at[0], end = at[0] + (v->n[0] << level);
    const int last = x + count < end ? x + count : end;
    if (row[0] < 0 || row[0] >= v->n[1] || row[1] < 0 || row[1] >= v->n[2] || first >= last)
        return;
    assert(v->place[1][row[0]] >= 0 && v->place[2][row[1]] >= 0);
    const size_t number =
        (size_t)v->place[2][row[1]] * (size_t)v->kept[1] + (size_t)v->place[1][row[0]];
    const uint8_t *from = v->solid + number * voxel_line(v->image, v->kept[0]);
    const int *const place = v->place[0] + ((first - at[0]) >> level);
    const int part = (first - at[0]) & ((1 << level) - 1); /* cells of the first voxel left out */
    assert(place[0] >= 0 && place[(part + last - first - 1) >> level] - place[0] ==
                                (part + last - first - 1) >> level);
    for (int bit = 0; bit < voxel_bits(v->image); bit++, from += voxel_bit_line(v->kept[0]))
        for (int j = 0; j < last - first; j++) {
            const int k = place[0] + ((part + j) >> level);
            inside[first - x + j] |= (uint8_t)((from[k / 8] >> (unsigned)k % 8 & 1) << bit);
        }
}

/* The value of a cell, 0 where it is not solid, or -1 beyond a face of the box. */
static int value_at(const struct voxels *v, const int cell[3])
{
    int at[3];
    uint8_t inside = 0;
    for (int a = 0; a < 3; a++) {
        const int n = v->cells[a];
        at[a] = v->periodic[a] ? (cell[a] % n + n) % n : cell[a];
        if (at[a] < 0 || at[a] >= n)
            return -1;
    }
    voxels_row(v, at[0], 1, at[1], at[2], &inside);
    return inside;
}

/* Is a voxel of this value behind the surface between voxels of values `own` and `other`? Between
 * two solid ones only the other label is. */
static int counts(int value, int own, int other)
{
    return own ? value == other : value != 0;
}

/* Is the surface at a link flat along an axis across it? It may end at edges to one side of it
 * alone that are two cells high at least: those of a box, or the corners that it makes with another
 * one. A staircase has edges to both sides, or steps of one cell. */
static bool is_flat(const struct voxels *v, const int cell[3], const int c[3], int axis, int own,
                    int other)
{
    bool sharp = true, ends[2] = {false, false}; /* falls away, rises */
    for (int way = -1; way < 2; way += 2)
        for (int step = 1; step <= VOXELS_REACH; step++) {
            int at[4][3]; /* above the cell outside, that, the solid one, below it */
            bool solid[4], inside = true;
            for (int k = 0; k < 4; k++) {
                for (int a = 0; a < 3; a++)
                    at[k][a] = cell[a] + (k - 1) * c[a] + (a == axis ? way * step : 0);
                const int value = value_at(v, at[k]);
                solid[k] = value >= 0 && counts(value, own, other);
                inside = inside && (value >= 0 || k == 0 || k == 3);
            }
            if (!inside || (!solid[1] && solid[2]))
                continue; /* it goes on, as beyond a face of the box */
            ends[solid[1]] = true;
            sharp = sharp && (solid[1] ? solid[0] : !solid[3]);
            break;
        }
    return sharp && !(ends[0] && ends[1]);
}

/* Two cells opposite to each other about the middle of the link count, weighted by 1 - r / 4.5, if
 * both are in the box: so a wall that meets a face of the box at a right angle stays straight. Sums
 * over links were the area of spheres of radius 3 to 30 to 0.7 %, of planes of any direction to 1.7
 * %, and of upright boxes exactly, however thin. Without is_flat() boxes of 16 to 4 cells had
 * 7 to 20 % too little. */
double voxels_facing(const struct voxels *v, const int cell[3], const int c[3])
{
    static const double radius = 4, fall = 4.5;
    const int along = c[0] ? 0 : c[1] ? 1 : 2, i = (along + 1) % 3, j = (along + 2) % 3;
    const int next[3] = {cell[0] + c[0], cell[1] + c[1], cell[2] + c[2]};
    const int own = value_at(v, cell), other = value_at(v, next);
    double slope[3] = {0};
    if (is_flat(v, cell, c, i, own, other) && is_flat(v, cell, c, j, own, other))
        return 1;
    for (int k = 0; k <= VOXELS_REACH; k++)
        for (int q = -VOXELS_REACH; q <= VOXELS_REACH; q++)
            for (int p = -VOXELS_REACH; p <= VOXELS_REACH; p++) {
                const double h = k + 0.5, r = sqrt(h * h + p * p + q * q);
                int ahead[3], behind[3];
                if (r > radius)
                    continue;
                ahead[along] = cell[along] + c[along] * (k + 1);
                behind[along] = cell[along] - c[along] * k;
                ahead[i] = cell[i] + p;
                behind[i] = cell[i] - p;
                ahead[j] = cell[j] + q;
                behind[j] = cell[j] - q;
                const int s = value_at(v, ahead), t = value_at(v, behind);
                if (s < 0 || t < 0)
                    continue;
                const double weight =
                    (counts(s, own, other) - counts(t, own, other)) * (1 - r / fall);
                slope[0] += weight * h;
                slope[1] += weight * p;
                slope[2] += weight * q;
            }
    const double square = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
    return square > 0 ? fmin(fabs(slope[0]) / sqrt(square), 1) : 1;
}
