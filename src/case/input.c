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
#include "case/level.h"

/* Most bytes of a file: enough for a table, as text, of the largest face that can be made by
 * hand. */
enum { BYTES = 1 << 30 };

enum status input_wrong_at(const struct reader *r, const struct node *n, const char *what)
{
    char quoted[TEXT_QUOTE];
    return fail_value(r, n, ": %s%s", quote_text(n->text, quoted), what);
}

enum status input_wrong(struct map m, const char *format, ...)
{
    char what[320];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return input_wrong_at(m.r, map_get(m, "file"), what);
}

enum status input_said(struct map m, enum status s, const char *reason)
{
    if (s == STATUS_USAGE)
        return input_wrong(m, "%s", reason);
    if (s == STATUS_STOPPED)
        say("%s%s; nothing was written: start again", map_get(m, "file")->text, reason);
    else if (s && message_rank() == 0)
        fail_machine("%s%s", map_get(m, "file")->text, reason);
    return s;
}

enum status input_path(struct map m, const char *key, char **path)
{
    const char *const from = m.r->document->path, *const slash = strrchr(from, '/');
    const char *name;
    const enum status s = value_text(m, key, &name);
    if (s)
        return s;
    if (!m.r->files)
        return input_wrong_at(m.r, map_get(m, key), ": files cannot be read here");
    const int folder = slash && *name != '/' ? (int)(slash - from) + 1 : 0;
    const size_t room = (size_t)folder + strlen(name) + 1;
    *path = malloc(room);
    if (!*path)
        return fail_machine("no memory for a file name");
    snprintf(*path, room, "%.*s%s", folder, from, name);
    return STATUS_OK;
}

/* The content of the file that the key `file` names. */
struct content {
    char *bytes; /* to be freed, also after an error */
    size_t length;
};

static enum status read_content(struct map m, struct content *content, char **file)
{
    char *path;
    *content = (struct content){0};
    const enum status s = input_path(m, "file", &path);
    if (s)
        return s;
    const int reason =
        m.r->files->read(m.r->files->context, path, BYTES, &content->bytes, &content->length, file);
    free(path);
    if (reason)
        content->bytes = *file = NULL; /* the callback may have freed them */
    if (reason == ENOMEM)
        return input_said(m, STATUS_MACHINE, ": no memory to read it");
    if (reason == EFBIG)
        return input_wrong(m, " is larger than %d MiB", BYTES >> 20);
    if (reason == EINVAL)
        return input_wrong(m, " is not a file");
    if (reason)
        return input_wrong(m, ": %s (a path from the case file's folder, or from /)",
                           strerror(reason));
    return STATUS_OK;
}

enum status input_checksum(struct map m, uint64_t checksum)
{
    char quoted[TEXT_QUOTE], is[24];
    const char *text;
    const enum status s = value_text(m, "checksum", &text);
    if (s || !text)
        return s;
    const struct node *n = map_get(m, "checksum");
    quote_text(text, quoted);
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return fail_value(m.r, n, ": %s is not a checksum (16 digits of 0-9 and a-f)", quoted);
    snprintf(is, sizeof is, "%016" PRIx64, checksum);
    if (strcmp(is, text) != 0)
        return fail_value(m.r, n,
                          ": %s, but that of the file is now %s: it has changed (without this key "
                          "the case takes it as it is)",
                          quoted, is);
    return STATUS_OK;
}

/* Checksum of the table's shape and numbers. */
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
static enum status read_dataset(struct map m, const char *file, struct case_numbers *n,
                                char **dataset)
{
    char reason[CASE_REASON];
    const char *name;
    const enum status s = value_text(m, "dataset", &name);
    if (s)
        return s;
    *dataset = strdup(name ? name : "profile");
    if (!*dataset)
        return fail_machine("no memory for the name of a dataset");
    return input_said(m, m.r->files->hdf5(m.r->files->context, file, *dataset, n, reason), reason);
}

/* Decodes the file's content as a table: HDF5 if it begins with its signature, else CSV. */
static enum status decode(struct map m, bool hdf5, const struct content *content, const char *file,
                          struct case_numbers *n, char **dataset)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    char reason[CASE_REASON];
    if (content->length >= 8 && !memcmp(content->bytes, signature, 8))
        return hdf5 ? read_dataset(m, file, n, dataset)
                    : input_wrong(m, " is an HDF5 file, not CSV");
    const enum status s = hdf5 ? value_refuse(m, "dataset", "with a CSV file") : STATUS_OK;
    if (s || csv_read(content->bytes, content->length, n, reason))
        return s;
    return *reason ? input_wrong(m, "%s", reason)
                   : fail_machine("no memory for a table of numbers");
}

enum status input_numbers(struct map m, bool hdf5, struct case_numbers *n, char **file,
                          char **dataset, uint64_t *checksum)
{
    struct content content;
    enum status s = read_content(m, &content, file);
    if (!s)
        s = decode(m, hdf5, &content, *file, n, dataset);
    free(content.bytes);
    if (s)
        return s;
    *checksum = checksum_of(n);
    return input_checksum(m, *checksum);
}

enum status input_mask(struct map m, const int size[2], uint8_t **mask, char **file,
                       uint64_t *checksum)
{
    char reason[CASE_REASON];
    struct content content;
    if (m.r->origin)
        return level_mask(m, size, mask, file, checksum);
    enum status s = read_content(m, &content, file);
    if (!s && !m.r->files->png(content.bytes, content.length, size, mask, reason))
        s = *reason ? input_wrong(m, "%s", reason) : fail_machine("no memory for a picture");
    free(content.bytes);
    if (s)
        return s;
    *checksum = XXH3_64bits(*mask, (size_t)size[0] * (size_t)size[1]);
    return input_checksum(m, *checksum);
}

enum status input_mesh(struct map m, struct stl **stl, char **file, uint64_t *checksum)
{
    char reason[STL_REASON];
    struct content content;
    if (m.r->origin)
        return level_mesh(m, stl, file, checksum);
    struct stl *const mesh = *stl = calloc(1, sizeof *mesh);
    if (!mesh)
        return fail_machine("no memory for a mesh");
    enum status s = read_content(m, &content, file);
    if (!s && !stl_read(content.bytes, content.length, mesh, reason))
        s = *reason ? input_wrong(m, "%s", reason) : fail_machine("no memory for a mesh");
    free(content.bytes);
    if (s)
        return s;
    *checksum =
        XXH3_64bits_withSeed(mesh->triangle, mesh->triangles * sizeof *mesh->triangle,
                             XXH3_64bits(mesh->vertex, mesh->vertices * sizeof *mesh->vertex));
    return input_checksum(m, *checksum);
}
