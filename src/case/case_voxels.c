/* Part of a body in a case: bodies.*.image, a file of voxels. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/input.h"
#include "case/sections.h"

/* Labels that a message names. */
enum { LABELS_SHOWN = 8 };

/* Keys that say how a file is read, and files that have no use for them. */
static enum status refuse_others(const struct reader *r, const struct node *map,
                                 enum voxel_format format)
{
    static const char *const raw[] = {"bodies.*.image.size", "bodies.*.image.type",
                                      "bodies.*.image.order", "bodies.*.image.skip"};
    const char *const why = format == VOXEL_hdf5 ? "with a dataset, which says so itself"
                                                 : "with a TIFF stack, which says so itself (a raw "
                                                   "image needs its size, too)";
    enum status s = STATUS_OK;
    for (size_t k = 0; k < sizeof raw / sizeof *raw && !s && format != VOXEL_raw; k++)
        s = value_refuse(r, map, raw[k], why);
    if (!s && format == VOXEL_raw)
        s = value_refuse(r, map, "bodies.*.image.dataset",
                         "with a size, by which the file is a raw one");
    return s;
}

/* What the case says of the file. */
static enum status read_format(const struct reader *r, const struct node *map,
                               struct voxel_image *to)
{
    int type = VOXEL_uint8, order = 0;
    const char *dataset = NULL;
    enum status s;
    to->format = value_find(map, "bodies.*.image.size")      ? VOXEL_raw
                 : value_find(map, "bodies.*.image.dataset") ? VOXEL_hdf5
                                                             : VOXEL_tiff;
    if ((s = refuse_others(r, map, to->format)) ||
        (s = value_integers(r, map, "bodies.*.image.size", to->size)) ||
        (s = value_choice(r, map, "bodies.*.image.type", &type)) ||
        (s = value_choice(r, map, "bodies.*.image.order", &order)) ||
        (s = value_integer(r, map, "bodies.*.image.skip", &to->skip)) ||
        (s = value_text(r, map, "bodies.*.image.dataset", &dataset)))
        return s;
    to->type = (enum voxel_type)type;
    to->big_endian = order == 1;
    if (dataset && !(to->dataset = strdup(dataset)))
        return fail_machine("no memory for the name of a dataset");
    return STATUS_OK;
}

/* What came back from reading the file. */
static enum status report(const struct reader *r, const struct node *map, enum status s,
                          const char *reason)
{
    if (s == STATUS_USAGE)
        return input_wrong(r, map, "%s", reason);
    if (s && message_rank() == 0)
        fail_machine("%s%s", node_get(map, "file")->text, reason);
    return s;
}

static enum status read_header(const struct reader *r, const struct node *map,
                               struct voxel_image *to)
{
    char *path, reason[CASE_REASON] = "";
    enum status s = input_path(r, map, "bodies.*.image", &path);
    if (s)
        return s;
    s = r->files->voxel_header(r->files->context, path, to, reason);
    free(path);
    return report(r, map, s, reason);
}

static enum status read_crop(const struct reader *r, const struct node *map, struct voxel_image *to)
{
    char path[NODE_PATH];
    const struct node *const crop = value_find(map, "bodies.*.image.crop");
    const int *const n = to->size;
    enum status s;
    memcpy(to->to, n, sizeof to->to);
    if (!crop)
        return STATUS_OK;
    if ((s = value_integers(r, crop, "bodies.*.image.crop.from", to->from)) ||
        (s = value_integers(r, crop, "bodies.*.image.crop.to", to->to)))
        return s;
    node_path(crop, path, sizeof path);
    for (int a = 0; a < 3; a++) {
        if (to->from[a] >= to->to[a])
            return fail_at(r->document, crop->at, "%s: from %d is not below to %d along %s", path,
                           to->from[a], to->to[a], key_axes[a]);
        if (to->to[a] > n[a])
            return fail_at(r->document, crop->at,
                           "%s: to %d along %s is beyond the image, which has %d x %d x %d voxels",
                           path, to->to[a], key_axes[a], n[0], n[1], n[2]);
    }
    return STATUS_OK;
}

/* Where it lies must be in the box. */
static enum status read_place(const struct reader *r, const struct node *map,
                              const struct flow_case *c, struct voxel_image *to)
{
    char path[NODE_PATH];
    const struct node *const n = value_find(map, "bodies.*.image.at");
    const enum status s = value_integers(r, map, "bodies.*.image.at", to->at);
    if (s)
        return s;
    node_path(map, path, sizeof path);
    for (int a = 0; a < 3; a++) {
        const int voxels = to->to[a] - to->from[a], beyond = to->at[a] + voxels - c->cells[a];
        if (beyond > 0)
            return fail_at(r->document, n ? n->at : map->key_at,
                           "%s reaches %d cells beyond %smax: its %d voxels along %s begin in cell "
                           "%d, and the box has %d (crop it, or another `at` or box)",
                           path, beyond, key_axes[a], voxels, key_axes[a], to->at[a], c->cells[a]);
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

/* A label that is not there is a mistake in the case, or another file than was meant. */
static enum status check_labels(const struct reader *r, const struct node *map,
                                const struct voxel_image *v)
{
    char path[NODE_PATH], known[128];
    const struct node *const n = value_find(map, "bodies.*.image.solid");
    for (int k = 0; k < v->solid_count; k++) {
        bool found = false;
        for (int i = 0; i < v->label_count; i++)
            found |= v->labels[i].label == v->solid[k];
        if (found)
            continue;
        node_path(n, path, sizeof path);
        labels_text(v, known, sizeof known);
        return fail_at(r->document, n->at,
                       "%s: label %d does not occur in the image, or in the part of it that is "
                       "taken (it has %s)",
                       path, v->solid[k], known);
    }
    return STATUS_OK;
}

enum status voxel_image_read(const struct reader *r, const struct node *map,
                             const struct flow_case *c, struct voxel_image *to)
{
    char reason[CASE_REASON] = "";
    int isolated = 0;
    enum status s;
    if ((s = read_format(r, map, to)) ||
        (s = value_labels(r, map, "bodies.*.image.solid", VOXEL_SOLID, to->solid,
                          &to->solid_count)) ||
        (s = value_choices(r, map, "bodies.*.image.flip", &to->flip)) ||
        (s = value_choice(r, map, "bodies.*.image.isolated", &isolated)) ||
        (s = read_header(r, map, to)) || (s = read_crop(r, map, to)) ||
        (s = read_place(r, map, c, to)))
        return s;
    to->fill = isolated == 1;
    s = report(r, map, r->files->voxel_survey(r->files->context, to, reason), reason);
    if (!s)
        s = check_labels(r, map, to);
    return s ? s : input_checksum(r, map, "bodies.*.image", to->checksum);
}

static void put_integers(FILE *to, const char *before, const int v[3])
{
    fprintf(to, "%s[%d, %d, %d]", before, v[0], v[1], v[2]);
}

void voxel_image_write(FILE *to, const struct voxel_image *v)
{
    fprintf(to, "{file: ");
    put_text(to, v->file);
    if (v->format == VOXEL_raw) {
        put_integers(to, ", size: ", v->size);
        fprintf(to, ", type: %s, order: %s, skip: %lld", key_voxel_types[v->type],
                key_byte_orders[v->big_endian], (long long)v->skip);
    }
    if (v->format == VOXEL_hdf5) {
        fprintf(to, ", dataset: ");
        put_text(to, v->dataset);
    }
    fprintf(to, ", solid: ");
    for (int k = 0; k < v->solid_count; k++)
        fprintf(to, "%s%d", k ? ", " : "[", v->solid[k]);
    put_integers(to, "], crop: {from: ", v->from);
    put_integers(to, ", to: ", v->to);
    fputc('}', to);
    const char *before = ", flip: [";
    for (int a = 0; a < 3; a++)
        if (v->flip & 1u << a) {
            fprintf(to, "%s%s", before, key_axes[a]);
            before = ", ";
        }
    put_integers(to, v->flip ? "], at: " : ", at: ", v->at);
    fprintf(to, ", isolated: %s", key_isolated[v->fill]);
    put_checksum(to, v->checksum);
    fputc('}', to);
}

void voxel_image_destroy(struct voxel_image *v)
{
    free(v->file);
    free(v->dataset);
    free(v->labels);
    *v = (struct voxel_image){0};
}
