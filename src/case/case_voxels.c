/* Part of a body in a case: bodies.*.image, a file of voxels. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/level.h"
#include "case/record.h"
#include "case/sections.h"

/* Most labels that a message lists. */
enum { LABELS_SHOWN = 8 };

/* The given keys determine the file's format; keys of other formats are refused. */
static enum status read_keys(struct map m, struct voxel_image *to)
{
    to->format = map_get(m, "size") ? VOXEL_raw : map_get(m, "dataset") ? VOXEL_hdf5 : VOXEL_tiff;
    const unsigned format = 1u << to->format;
    const char *const why = to->format == VOXEL_raw ? "with a size, by which the file is a raw one"
                            : to->format == VOXEL_hdf5
                                ? "with a dataset, which says so itself"
                                : "with a TIFF stack or .npy file, which says so itself (a raw "
                                  "image needs its size, too)";
    const enum status s = record_refuse(m, format, why);
    return s ? s : record_read(m, format, to);
}

static enum status read_header(struct map m, struct voxel_image *to)
{
    char *path, reason[CASE_REASON] = "";
    enum status s = input_path(m, "file", &path);
    if (s)
        return s;
    s = m.r->files->voxel_header(m.r->files->context, path, to, reason);
    free(path);
    return input_said(m, s, reason);
}

static enum status read_crop(struct map m, struct voxel_image *to)
{
    const struct map crop = map_below(m, "crop");
    const int *const n = to->size;
    enum status s;
    memcpy(to->to, n, sizeof to->to);
    if (!crop.node)
        return STATUS_OK;
    if ((s = value_read(crop, "from", to->from)) || (s = value_read(crop, "to", to->to)))
        return s;
    for (int a = 0; a < 3; a++) {
        if (to->from[a] >= to->to[a])
            return fail_value(m.r, crop.node, ": from %d is not below to %d along %s", to->from[a],
                              to->to[a], key_axes[a]);
        if (to->to[a] > n[a])
            return fail_value(m.r, crop.node,
                              ": to %d along %s is beyond the image, which has %d x %d x %d voxels",
                              to->to[a], key_axes[a], n[0], n[1], n[2]);
    }
    return STATUS_OK;
}

/* The image must lie inside the box. */
static enum status check_place(struct map m, const struct voxel_image *v)
{
    char path[NODE_PATH];
    const int *const cells = m.r->c->cells;
    const struct node *const n = map_get(m, "at");
    node_path(m.node, path, sizeof path);
    for (int a = 0; a < 3; a++) {
        const int voxels = v->to[a] - v->from[a], beyond = v->at[a] + voxels - cells[a];
        if (beyond > 0)
            return fail_at(m.r->document, n ? n->at : m.node->key_at,
                           "%s reaches %d cells beyond %smax: its %d voxels along %s begin in cell "
                           "%d, and the box has %d (crop it, or another `at` or box)",
                           path, beyond, key_axes[a], voxels, key_axes[a], v->at[a], cells[a]);
    }
    return STATUS_OK;
}

/* "0, 1, 2" */
static void labels_text(const struct voxel_image *v, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (int k = 0; k < v->label_count && k < LABELS_SHOWN; k++)
        length += (size_t)snprintf(text + length, size - length, "%s%d", k ? ", " : "",
                                   v->labels[k].label);
    if (v->label_count > LABELS_SHOWN)
        snprintf(text + length, size - length, " and %d more", v->label_count - LABELS_SHOWN);
}

/* Every solid label must occur in the image: else the case is wrong, or the file is another one. */
static enum status check_labels(struct map m, const struct voxel_image *v)
{
    char known[128];
    const struct node *const n = map_get(m, "solid");
    for (int k = 0; k < v->solid_count; k++) {
        bool found = false;
        for (int i = 0; i < v->label_count; i++)
            found |= v->labels[i].label == v->solid[k];
        if (found)
            continue;
        labels_text(v, known, sizeof known);
        return fail_value(m.r, n,
                          ": label %d does not occur in the image, or in the part of it that is "
                          "taken (it has %s)",
                          v->solid[k], known);
    }
    return STATUS_OK;
}

enum status voxel_image_read(struct map m, struct voxel_image *to)
{
    char reason[CASE_REASON] = "";
    enum status s;
    if (m.r->origin)
        return level_image(m, to);
    if ((s = read_keys(m, to)) || (s = read_header(m, to)) || (s = read_crop(m, to)) ||
        (s = check_place(m, to)))
        return s;
    s = input_said(m, m.r->files->voxel_survey(m.r->files->context, to, reason), reason);
    if (!s)
        s = check_labels(m, to);
    return s ? s : input_checksum(m, to->checksum);
}

void voxel_image_destroy(struct voxel_image *v)
{
    free(v->file);
    free(v->dataset);
    free(v->labels);
    free(v->kept);
    *v = (struct voxel_image){0};
}
