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

/* The content of the file that the key `file` names. */
struct content {
    char *bytes; /* to be freed, also after an error */
    size_t length;
};

static enum status read_content(const struct reader *r, const struct node *map, const char *row,
                                struct content *content, char **file)
{
    char *path;
    *content = (struct content){0};
    const enum status s = input_path(r, map, row, &path);
    if (s)
        return s;
    const int reason =
        r->files->read(r->files->context, path, BYTES, &content->bytes, &content->length, file);
    free(path);
    if (reason)
        content->bytes = *file = NULL; /* the callback may have freed them */
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

/* Of the table's shape and numbers. */
static uint64_t checksum_of(const struct case_numbers *n)
{
    const uint64_t shape[4] = {(uint64_t)n->axes, n->size[0], n->size[1],
                               n->axes > 2 ? n->size[2] : 0};
    size_t count = 1;
    for (int a = 0; a < n->axes; a++)
        count *= n->size[a];
    return XXH3_64bits_withSeed(n->value, count * sizeof *n->value,
                                XXH3_64bits(shape, sizeof shape));
}

/* Reads the dataset of an HDF5 file. */
static enum status read_dataset(const struct reader *r, const struct node *map, const char *row,
                                const char *file, struct case_numbers *n, char **dataset)
{
    char reason[CASE_REASON];
    const char *name;
    const enum status s = text_of(r, map, row, "dataset", &name);
    if (s)
        return s;
    *dataset = strdup(name ? name : "profile");
    if (!*dataset)
        return fail_machine("no memory for the name of a dataset");
    return input_said(r, map, r->files->hdf5(r->files->context, file, *dataset, n, reason), reason);
}

/* Decodes the file's content as a table: HDF5 if it begins with its signature, else CSV. */
static enum status decode(const struct reader *r, const struct node *map, const char *row,
                          bool hdf5, const struct content *content, const char *file,
                          struct case_numbers *n, char **dataset)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    char reason[CASE_REASON];
    if (content->length >= 8 && !memcmp(content->bytes, signature, 8))
        return hdf5 ? read_dataset(r, map, row, file, n, dataset)
                    : input_wrong(r, map, " is an HDF5 file, not CSV");
    const enum status s =
        hdf5 ? value_refuse(r, map, keys_below(row, "dataset").text, "with a CSV file") : STATUS_OK;
    if (s || csv_read(content->bytes, content->length, n, reason))
        return s;
    return *reason ? input_wrong(r, map, "%s", reason)
                   : fail_machine("no memory for a table of numbers");
}

enum status input_numbers(const struct reader *r, const struct node *map, const char *row,
                          bool hdf5, struct case_numbers *n, char **file, char **dataset,
                          uint64_t *checksum)
{
    struct content content;
    enum status s = read_content(r, map, row, &content, file);
    if (!s)
        s = decode(r, map, row, hdf5, &content, *file, n, dataset);
    free(content.bytes);
    if (s)
        return s;
    *checksum = checksum_of(n);
    return input_checksum(r, map, row, *checksum);
}

enum status input_mask(const struct reader *r, const struct node *map, const char *row,
                       const int size[2], uint8_t **mask, char **file, uint64_t *checksum)
{
    char reason[CASE_REASON];
    struct content content;
    enum status s = read_content(r, map, row, &content, file);
    if (!s && !r->files->png(content.bytes, content.length, size, mask, reason))
        s = input_wrong(r, map, "%s", reason);
    free(content.bytes);
    if (s)
        return s;
    *checksum = XXH3_64bits(*mask, (size_t)size[0] * (size_t)size[1]);
    return input_checksum(r, map, row, *checksum);
}

enum status input_mesh(const struct reader *r, const struct node *map, const char *row,
                       struct stl **stl, char **file, uint64_t *checksum)
{
    char reason[STL_REASON];
    struct content content;
    struct stl *const mesh = *stl = calloc(1, sizeof *mesh);
    if (!mesh)
        return fail_machine("no memory for a mesh");
    enum status s = read_content(r, map, row, &content, file);
    if (!s && !stl_read(content.bytes, content.length, mesh, reason))
        s = *reason ? input_wrong(r, map, "%s", reason) : fail_machine("no memory for a mesh");
    free(content.bytes);
    if (s)
        return s;
    *checksum =
        XXH3_64bits_withSeed(mesh->triangle, mesh->triangles * sizeof *mesh->triangle,
                             XXH3_64bits(mesh->vertex, mesh->vertices * sizeof *mesh->vertex));
    return input_checksum(r, map, row, *checksum);
}
