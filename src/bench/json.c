/* The file of `tagflow bench --json`: the measurements, and everything needed to repeat them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "base/message.h"
#include "bench/bench.h"
#include "bench_flags.h"
#include "case/keys.h"
#include "version.h"

enum { FORMAT = 1 };

/* null if not finite. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text(const char *s)
{
    return *s ? json_string(s) : json_null();
}

static json_t *triple(const int cells[3])
{
    return json_pack("[i,i,i]", cells[0], cells[1], cells[2]);
}

static json_t *spread(const struct spread *s, double scale)
{
    json_t *const all = json_array();
    for (int k = 0; k < s->count; k++)
        json_array_append_new(all, json_real(scale * s->all[k]));
    return json_pack("{s:f, s:f, s:f, s:o}", "median", scale * s->median, "least", scale * s->least,
                     "most", scale * s->most, "all", all);
}

static json_t *phases(const struct bench_row *row)
{
    static const char *const names[] = {
#define X(name) #name,
        PHASE_LIST(X)
#undef X
    };
    json_t *const object = json_object();
    for (int k = 0; k < PHASES; k++)
        if (k != PHASE_seam || row->phases[k] > 0) /* one level has none */
            json_object_set_new(object, names[k], number(row->phases[k] / row->phases[PHASE_step]));
    return object;
}

/* Requested rock, and its porosity if it was measured. */
static json_t *rock_json(const struct bench_row *row)
{
    const struct bench_rock rock = bench_rock(&row->subject);
    json_t *const object =
        json_pack("{s:f, s:f}", "porosity_asked", rock.porosity, "radius", rock.radius);
    if (row->verified)
        json_object_set_new(object, "porosity", number(bench_porosity(row)));
    return object;
}

static json_t *subject(const struct bench_row *row)
{
    const struct bench_subject *const s = &row->subject;
    json_t *const object = json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:b}", "case", bench_cases[s->which], "cells", triple(s->cells),
        "collision", key_collisions[s->collision], "storage", precision_name(s->storage),
        "arithmetic", precision_name(s->arithmetic), "verified", row->verified);
    if (s->which == BENCH_CASE_rock)
        json_object_set_new(object, "rock", rock_json(row));
    return object;
}

static json_t *row_json(const struct bench *b, const struct bench_row *row)
{
    json_t *const object = subject(row);
    char hash[17];
    if (!row->verified) {
        json_object_set_new(object, "why", json_string(row->why));
        return object;
    }
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)row->hash);
    json_t *const ceiling =
        json_pack("{s:o, s:f, s:s}", "mlups", spread(&row->ceiling, 1e-6), "gbs",
                  1e-9 * row->ceiling.median * row->bytes_per_update, "way", row->way);
    json_t *const more = json_pack(
        "{s:o, s:I, s:I, s:i, s:o, s:o, s:f, s:f, s:f, s:o, s:o, s:o, s:f, s:f, s:b, s:s, s:o, "
        "s:s, s:I, s:f, s:b, s:i, s:o}",
        "verified_cells", row->verified_cells[0] ? triple(row->verified_cells) : json_null(),
        "fluid_cells", (json_int_t)row->fluid_cells, "steps", (json_int_t)row->steps, "repeats",
        row->updates.count, "mlups", spread(&row->updates, 1e-6), "mflups",
        spread(&row->fluid, 1e-6), "mlups_per_rank", 1e-6 * row->updates.median / b->ranks,
        "bytes_per_update", row->bytes_per_update, "gbs",
        1e-9 * row->fluid.median * row->bytes_per_update, "ceiling", ceiling, "share",
        spread(&row->share, 1), "phases", phases(row), "imbalance", row->imbalance,
        "bytes_per_cell", row->bytes_per_cell, "sparse", row->sparse, "transport", row->transport,
        "joules_per_giga_update", number(row->joules), "state_hash", hash, "state_step",
        (json_int_t)row->state_step, "bytes_per_fluid_cell", row->bytes_per_fluid, "mass_kept",
        row->keeps_mass, "sweep", row->sweep, "share_of_sweep",
        spread(&row->share, 1.0 / row->sweep));
    json_object_update(object, more);
    json_object_set_new(object, "cut", triple(row->cuts));
    json_decref(more);
    if (row->levels > 1) {
        json_object_set_new(object, "levels", json_integer(row->levels));
        json_object_set_new(object, "updates_per_step", json_real(row->updates_per_step));
    }
    return object;
}

enum status json_write(const struct bench *b, const struct bench_row *rows, int count)
{
    const struct bench_host *const h = &b->host;
    json_t *const list = json_array();
    for (int k = 0; k < count; k++)
        json_array_append_new(list, row_json(b, &rows[k]));
    json_t *const clocks =
        h->clock_most > 0 ? json_pack("{s:f, s:f}", "least", h->clock_least, "most", h->clock_most)
                          : json_null();
    json_t *const object = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:s, s:i, "
        "s:i, s:i, s:o, s:o, s:f, s:o}",
        "tagflow", "bench", "format", FORMAT, "version", TAGFLOW_VERSION, "commit", TAGFLOW_COMMIT,
        "command", b->options->command, "time", h->time, "host", h->name, "compiler",
        TAGFLOW_COMPILER, "flags", TAGFLOW_FLAGS, "buildtype", TAGFLOW_BUILDTYPE, "backend",
        b->options->backend->name, "device", h->device, "processor", h->processor, "cores",
        h->cores, "driver", text(h->driver), "mpi", h->mpi, "ranks", h->ranks, "hosts", h->hosts,
        "threads", h->threads, "isa", text(h->isa), "clocks_mhz", clocks, "memory_gb",
        1e-9 * h->memory, "rows", list);
    char *const dump = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    if (!dump)
        return fail_machine("out of memory for %s", b->options->json);
    const size_t length = strlen(dump);
    dump[length] = '\n'; /* replaces the NUL: files have a length */
    const enum status status = file_write(b->options->json, dump, length + 1);
    free(dump);
    return status;
}
