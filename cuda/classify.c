/* Kinds of cells; see classify.h. */
#include "classify.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

/* A kind and how many cells have it; later its number. */
struct entry {
    struct cell_kind kind;
    size_t cells; /* 0: no entry */
    uint32_t number;
};

/* A set of kinds, by open addressing. */
struct kind_set {
    struct entry *entry;
    size_t places, count; /* places: a power of two, at least twice count */
};

static uint64_t key_of(struct cell_kind kind)
{
    return kind.is | (uint64_t)kind.walls << 32;
}

/* The kind's entry, or the empty place where it belongs. */
static struct entry *find(const struct kind_set *s, struct cell_kind kind)
{
    const uint64_t key = key_of(kind);
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (s->places - 1);
    while (s->entry[at].cells && key_of(s->entry[at].kind) != key)
        at = (at + 1) & (s->places - 1);
    return &s->entry[at];
}

static bool grow(struct kind_set *s)
{
    struct kind_set larger = {.places = s->places ? 2 * s->places : 64, .count = s->count};
    larger.entry = calloc(larger.places, sizeof *larger.entry);
    if (!larger.entry)
        return false;
    for (size_t k = 0; k < s->places; k++)
        if (s->entry[k].cells)
            *find(&larger, s->entry[k].kind) = s->entry[k];
    free(s->entry);
    *s = larger;
    return true;
}

static bool add(struct kind_set *s, struct cell_kind kind, size_t cells)
{
    if (2 * (s->count + 1) > s->places && !grow(s))
        return false;
    struct entry *const e = find(s, kind);
    s->count += e->cells == 0;
    e->kind = kind;
    e->cells += cells;
    return true;
}

/* Only cells that have a place need a kind. */
static bool has_kind(const struct view *v, int x, int y, int z)
{
    return !v->place || has_place(v->place, owned_index(v, x, y, z));
}

static struct cell_kind kind_at(const struct view *v, int x, int y, int z)
{
    const struct around a = around(v, x, y, z);
    return kind_with_walls(v, owned_index(v, x, y, z), &a);
}

/* All kinds of the owned cells. Neighbours along x are often alike: they are counted together. */
static bool collect(struct kind_set *all, const struct view *v)
{
    bool made = true;
#pragma omp parallel
    {
        struct kind_set own = {.places = 0};
        bool good = true;
#pragma omp for collapse(2)
        for (int z = 0; z < v->n[2]; z++)
            for (int y = 0; y < v->n[1]; y++) {
                struct cell_kind last = {0, 0};
                size_t alike = 0;
                for (int x = 0; x < v->n[0] && good; x++) {
                    if (!has_kind(v, x, y, z))
                        continue;
                    const struct cell_kind kind = kind_at(v, x, y, z);
                    if (alike > 0 && key_of(kind) != key_of(last)) {
                        good = add(&own, last, alike);
                        alike = 0;
                    }
                    last = kind;
                    alike++;
                }
                good = good && (alike == 0 || add(&own, last, alike));
            }
#pragma omp critical
        {
            for (size_t k = 0; k < own.places && good; k++)
                if (own.entry[k].cells)
                    good = add(all, own.entry[k].kind, own.entry[k].cells);
            made = made && good;
        }
        free(own.entry);
    }
    return made;
}

/* The most frequent first, so that it does not depend on threads. */
static int compare(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    if (x->cells != y->cells)
        return x->cells < y->cells ? 1 : -1;
    return key_of(x->kind) < key_of(y->kind) ? -1 : key_of(x->kind) > key_of(y->kind);
}

/* Numbers the kinds, and lists them. */
static bool number_all(struct kinds *k, struct kind_set *s)
{
    struct entry *const list = malloc((s->count + 1) * sizeof *list);
    size_t of_type[TAG_ROWS] = {0};
    k->kind = malloc((s->count + 1) * sizeof *k->kind);
    for (size_t place = 0; place < s->places && list && k->kind; place++)
        if (s->entry[place].cells)
            list[k->count++] = s->entry[place];
    if (list && k->kind)
        qsort(list, k->count, sizeof *list, compare);
    for (size_t n = 0; n < k->count; n++) {
        k->kind[n] = list[n].kind;
        find(s, list[n].kind)->number = (uint32_t)n;
        of_type[kind_type(list[n].kind.is)] += list[n].kind.is & KIND_SWEPT ? list[n].cells : 0;
    }
    for (int type = 0; type < TAG_ROWS; type++)
        k->type = of_type[type] > of_type[k->type] ? type : k->type;
    free(list);
    return list && k->kind;
}

static void set_number(const struct kinds *k, size_t place, uint32_t number)
{
    if (k->bytes == 1)
        ((uint8_t *)k->number)[place] = (uint8_t)number;
    else if (k->bytes == 2)
        ((uint16_t *)k->number)[place] = (uint16_t)number;
    else
        ((uint32_t *)k->number)[place] = number;
}

enum status kinds_create(struct kinds *k, const struct view *v)
{
    struct kind_set all = {.places = 0};
    *k = (struct kinds){.bytes = 1, .type = 0};
    bool made = collect(&all, v) && number_all(k, &all);
    k->bytes = k->count <= 0x100 ? 1 : k->count <= 0x10000 ? 2 : 4;
    const size_t places = k->places = v->place ? place_in(v->place, v->cells) : v->cells;
    k->number = made ? calloc(places + 1, (size_t)k->bytes) : NULL;
    if (!k->number) {
        free(all.entry);
        kinds_destroy(k);
        return fail_machine("out of memory on the host for the kinds of %zu cells (more hosts, or "
                            "fewer cells)",
                            places);
    }
#pragma omp parallel for collapse(2)
    for (int z = 0; z < v->n[2]; z++)
        for (int y = 0; y < v->n[1]; y++) {
            const struct entry *last = NULL;
            for (int x = 0; x < v->n[0]; x++) {
                if (!has_kind(v, x, y, z))
                    continue;
                const struct cell_kind kind = kind_at(v, x, y, z);
                if (!last || key_of(kind) != key_of(last->kind))
                    last = find(&all, kind);
                set_number(k, view_place(v, owned_index(v, x, y, z)), last->number);
            }
        }
    free(all.entry);
    return STATUS_OK;
}

void kinds_destroy(struct kinds *k)
{
    free(k->number);
    free(k->kind);
    *k = (struct kinds){0};
}
