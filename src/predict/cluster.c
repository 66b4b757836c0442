/* The machine file; see cluster.h. */
#include "predict/cluster.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "case/document.h"
#include "case/nearest.h"

struct unit {
    const char *name;
    double size;
};

/* Units of each kind, the usual one first; no unit at the end. */
static const struct unit units[][6] = {
    [CLUSTER_bandwidth] =
        {{"GB/s", 1e9}, {"TB/s", 1e12}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}, {0}},
    [CLUSTER_time] = {{"us", 1e-6}, {"ns", 1e-9}, {"ms", 1e-3}, {"s", 1}, {0}},
    [CLUSTER_bytes] = {{"GB", 1e9}, {"TB", 1e12}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}, {0}},
    [CLUSTER_rate] = {{"GLUPS", 1e9}, {"MLUPS", 1e6}, {0}},
    [CLUSTER_share] = {{0}},
    [CLUSTER_count] = {{0}},
};

static const struct key {
    const char *name;
    enum cluster_unit unit;
    double value;
    size_t at;
} keys[] = {
#define X(name, unit, value, meaning)                                                              \
    {#name, CLUSTER_##unit, value, offsetof(struct cluster, name)},
    CLUSTER_LIST(X)
#undef X
};

static const char *const names[] = {
#define X(name, unit, value, meaning) #name,
    CLUSTER_LIST(X)
#undef X
        NULL};

enum { KEYS = sizeof keys / sizeof *keys, FILE_LIMIT = 1 << 16 };

struct cluster cluster_default(void)
{
    struct cluster c = {.assumed = true};
    for (const struct key *k = keys; k < keys + KEYS; k++)
        *(double *)((char *)&c + k->at) = k->value;
    return c;
}

/* Reads a value. Returns the error in its text, or NULL. */
static const char *read_value(const struct key *key, const char *text, double *value)
{
    static char why[96];
    const struct unit *unit = units[key->unit];
    const char *end;
    const char *const problem = number_parse(text, &end, value);
    if (problem)
        return problem;
    end += strspn(end, " ");
    if (key->unit == CLUSTER_share)
        return *end || !(*value > 0 && *value <= 1) ? "is not above 0 and at most 1" : NULL;
    if (key->unit == CLUSTER_count)
        return *end || !(*value >= 1 && *value <= 1 << 24) || *value != floor(*value)
                   ? "is not a whole number from 1"
                   : NULL;
    while (unit->name && strcmp(unit->name, end) != 0)
        unit++;
    if (!unit->name) {
        snprintf(why, sizeof why, "%s (for example %.4g %s)",
                 *end ? "has an unknown unit" : "has no unit",
                 key->value > 0 ? key->value / units[key->unit]->size : 20, units[key->unit]->name);
        return why;
    }
    *value *= unit->size;
    return *value > 0 && isfinite(*value) ? NULL : "is not above 0";
}

static enum status read_key(struct cluster *c, const struct document *d, const struct node *n)
{
    char quoted[TEXT_QUOTE];
    double value;
    for (const struct key *key = keys; key < keys + KEYS; key++) {
        if (strcmp(key->name, n->key) != 0)
            continue;
        if (n->kind != NODE_SCALAR)
            return fail_at(d, n->at, "%s is a number", key->name);
        const char *const problem = read_value(key, n->text, &value);
        if (problem)
            return fail_at(d, n->at, "%s: %s %s", key->name, quote_text(n->text, quoted), problem);
        *(double *)((char *)c + key->at) = value;
        return STATUS_OK;
    }
    const char *const nearest = nearest_choice(names, n->key);
    return nearest
               ? fail_at(d, n->key_at, "%s is no key of a machine file (did you mean %s?)",
                         quote_text(n->key, quoted), nearest)
               : fail_at(d, n->key_at, "%s is no key of a machine file (docs/scaling.md has them)",
                         quote_text(n->key, quoted));
}

enum status cluster_read(struct cluster *c, const char *path)
{
    static const struct document_kind kind = {"machine file", "bandwidth, memory",
                                              "bandwidth: 3 TB/s"};
    struct document d;
    char *text;
    size_t length;
    *c = cluster_default();
    enum status status = file_read_any(path, FILE_LIMIT, &text, &length);
    if (status)
        return status;
    status = document_read_as(&d, &kind, path, text, length);
    free(text);
    if (status)
        return status;
    const struct node *const bandwidth = node_get(d.root, "bandwidth");
    const struct node *const updates = node_get(d.root, "updates");
    c->assumed = !bandwidth && !updates;
    if (bandwidth && updates)
        status = fail_at(&d, updates->key_at,
                         "bandwidth and updates both tell how fast a device is (keep one)");
    for (const struct node *n = d.root->first; n && !status; n = n->next)
        status = read_key(c, &d, n);
    document_destroy(&d);
    return status;
}
