/* Files that a case names; see input.h. */
#include "case/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/message.h"
#include "body/stl.h"
#include "case/csv.h"

/* Most bytes of a file: enough for a table, as text, of the largest face that can be made by
 * hand. */
enum { BYTES = 1 << 30 };

enum status input_wrong_at(const struct reader *r, const struct node *n, const char *what)
{
    char quoted[TEXT_QUOTE];
    return fail_value(r, n, ": %s%s", quote_text(n->text, quoted), what);
}

enum status input_wrong(const struct reader *r, const struct node *map, const char *format, ...)
{
    char what[320];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return input_wrong_at(r, node_get(map, "file"), what);
}

enum status input_said(const struct reader *r, const struct node *map, enum status s,
                       const char *reason)
{
    if (s == STATUS_USAGE)
        return input_wrong(r, map, "%s", reason);
    if (s == STATUS_STOPPED)
        say("%s%s; nothing was written: start again", node_get(map, "file")->text, reason);
    else if (s && message_rank() == 0)
        fail_machine("%s%s", node_get(map, "file")->text, reason);
    return s;
}

/* The text of the key `key` of the map whose row is `row`. */
static enum status text_of(const struct reader *r, const struct node *map, const char *row,
                           const char *key, const char **text)
{
    const struct key_path child = keys_below(row, key);
    return value_text(r, map, child.text, text);
}

enum status input_path_at(const struct reader *r, const struct node *map, const char *key,
                          char **path)
{
    const char *name, *slash = strrchr(r->document->path, '/');
    const enum status s = value_text(r, map, key, &name);
    if (s)
        return s;
    if (!r->files)
        return input_wrong_at(r, value_find(map, key), ": files cannot be read here");
    const int folder = slash && *name != '/' ? (int)(slash - r->document->path) + 1 : 0;
    const size_t room = (size_t)folder + strlen(name) + 1;
    *path = malloc(room);
    if (!*path)
        return fail_machine("no memory for a file name");
    snprintf(*path, room, "%.*s%s", folder, r->document->path, name);
    return STATUS_OK;
}

enum status input_path(const struct reader *r, const struct node *map, const char *row, char **path)
{
    const struct key_path key = keys_below(row, "file");
    return input_path_at(r, map, key.text, path);
}

/* The bytes of the file that the key `file` names. */
static enum status read_bytes(const struct reader *r, const struct node *map, const char *row,
                              char **bytes, size_t *length, char **file)
{
    char *path;
    const enum status s = input_path(r, map, row, &path);
    if (s)
        return s;
    const int reason = r->files->read(r->files->context, path, BYTES, bytes, length, file);
    free(path);
    if (reason == ENOMEM)
        return fail_machine("no memory for %s", node_get(map, "file")->text);
    if (reason == EFBIG)
        return input_wrong(r, map, " is larger than %d MiB", BYTES >> 20);
    if (reason == EINVAL)
        return input_wrong(r, map, " is not a file");
    if (reason)
        return input_wrong(r, map, ": %s (a path from the case file's folder, or from /)",
                           strerror(reason));
    return STATUS_OK;
}

enum status input_checksum(const struct reader *r, const struct node *map, const char *row,
                           uint64_t checksum)
{
    char quoted[TEXT_QUOTE], is[24];
    const char *text;
    const enum status s = text_of(r, map, row, "checksum", &text);
    if (s || !text)
        return s;
    const struct node *n = node_get(map, "checksum");
    quote_text(text, quoted);
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return fail_value(r, n, ": %s is not a checksum (16 digits of 0-9 and a-f)", quoted);
    snprintf(is, sizeof is, "%016" PRIx64, checksum);
    if (strcmp(is, text) != 0)
        return fail_value(r, n,
                          ": %s, but that of the file is now %s: it has changed (without this key "
                          "the case takes it as it is)",
                          quoted, is);
    return STATUS_OK;
}

static uint64_t checksum_of(const struct case_numbers *n, size_t count)
{
    uint64_t shape[4] = {(uint64_t)n->axes, n->size[0], n->size[1], n->axes > 2 ? n->size[2] : 0};
    return XXH3_64bits_withSeed(n->value, count * sizeof *n->value,
                                XXH3_64bits(shape, sizeof shape));
}

/* Decodes the file's bytes as a table: HDF5 if they begin with its signature, else CSV. */
static enum status decode(const struct reader *r, const struct node *map, const char *row,
                          bool hdf5, const char *bytes, size_t length, const char *file,
                          struct case_numbers *n, const char **dataset)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    char reason[CASE_REASON];
    const bool is_hdf5 = length >= 8 && !memcmp(bytes, signature, 8);
    enum status s = STATUS_OK;
    *dataset = NULL;
    if (is_hdf5 && !hdf5)
        return input_wrong(r, map, " is an HDF5 file, not CSV");
    if (is_hdf5) {
        if ((s = text_of(r, map, row, "dataset", dataset)))
            return s;
        if (!*dataset)
            *dataset = "profile";
        s = r->files->hdf5(r->files->context, file, *dataset, n, reason);
        return input_said(r, map, s, reason);
    }
    if (hdf5) {
        const struct key_path child = keys_below(row, "dataset");
        if ((s = value_refuse(r, map, child.text, "with a CSV file")))
            return s;
    }
    if (csv_read(bytes, length, n, reason))
        return STATUS_OK;
    return *reason ? input_wrong(r, map, "%s", reason)
                   : fail_machine("no memory for a table of numbers");
}

enum status input_numbers(const struct reader *r, const struct node *map, const char *row,
                          bool hdf5, struct case_numbers *n, char **file, char **dataset,
                          uint64_t *checksum)
{
    char *bytes = NULL, *absolute = NULL, *copy = NULL;
    const char *name = NULL;
    size_t length = 0;
    struct case_numbers numbers = {0};
    enum status s = read_bytes(r, map, row, &bytes, &length, &absolute);
    if (s)
        return s;
    s = decode(r, map, row, hdf5, bytes, length, absolute, &numbers, &name);
    free(bytes);
    if (s)
        goto failed;
    size_t count = 1;
    for (int a = 0; a < numbers.axes; a++)
        count *= numbers.size[a];
    *checksum = checksum_of(&numbers, count);
    if ((s = input_checksum(r, map, row, *checksum)))
        goto failed;
    if (name && !(copy = strdup(name))) {
        s = fail_machine("no memory for the name of a dataset");
        goto failed;
    }
    *n = numbers;
    *file = absolute;
    *dataset = copy;
    return STATUS_OK;

failed:
    free(numbers.value);
    free(absolute);
    return s;
}

enum status input_mask(const struct reader *r, const struct node *map, const char *row,
                       const int size[2], uint8_t **mask, char **file, uint64_t *checksum)
{
    char *bytes = NULL, *absolute = NULL, reason[CASE_REASON];
    uint8_t *pixels = NULL;
    size_t length = 0;
    enum status s = read_bytes(r, map, row, &bytes, &length, &absolute);
    if (s)
        return s;
    s = r->files->png(bytes, length, size, &pixels, reason) ? STATUS_OK
                                                            : input_wrong(r, map, "%s", reason);
    free(bytes);
    if (!s) {
        *checksum = XXH3_64bits(pixels, (size_t)size[0] * (size_t)size[1]);
        s = input_checksum(r, map, row, *checksum);
    }
    if (s) {
        free(pixels);
        free(absolute);
        return s;
    }
    *mask = pixels;
    *file = absolute;
    return STATUS_OK;
}

enum status input_mesh(const struct reader *r, const struct node *map, const char *row,
                       struct stl **stl, char **file, uint64_t *checksum)
{
    char *bytes = NULL, *absolute = NULL, reason[STL_REASON];
    struct stl *const mesh = calloc(1, sizeof *mesh);
    size_t length = 0;
    enum status s = mesh ? read_bytes(r, map, row, &bytes, &length, &absolute)
                         : fail_machine("no memory for a mesh");
    if (s)
        goto failed;
    if (!stl_read(bytes, length, mesh, reason))
        s = *reason ? input_wrong(r, map, "%s", reason) : fail_machine("no memory for a mesh");
    free(bytes);
    if (s)
        goto failed;
    *checksum =
        XXH3_64bits_withSeed(mesh->triangle, mesh->triangles * sizeof *mesh->triangle,
                             XXH3_64bits(mesh->vertex, mesh->vertices * sizeof *mesh->vertex));
    if ((s = input_checksum(r, map, row, *checksum))) {
        stl_destroy(mesh);
        goto failed;
    }
    *stl = mesh;
    *file = absolute;
    return STATUS_OK;

failed:
    free(mesh);
    free(absolute);
    return s;
}
