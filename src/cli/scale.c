/* The cost of a step; see scale.h. */
#include "cli/scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "base/precision.h"
#include "cli/levels.h"
#include "run/report.h"
#include "version.h"

enum { FORMAT = 1 };

/* Assumed speed for estimates of time: million lattice updates per second and rank, without
 * scalars. A scalar takes these multiples of the flow's time, with and without the limiter
 * (docs/lab/speed.md). */
static const double assumed_mlups_fp32 = 150, assumed_mlups_fp64 = 75;
static const double limited_time = 1.2, scalar_time = 0.6;

const char *bytes_text(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int u = 0;
    for (; bytes >= 1000 && u < 5; u++)
        bytes /= 1000;
    snprintf(text, size, "%.4g %s", bytes, units[u]);
    return text;
}

const char *seconds_text(char *text, size_t size, double seconds)
{
    if (seconds < 1e-3)
        snprintf(text, size, "%.3g us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, size, "%.3g ms", 1e3 * seconds);
    else if (seconds < 120)
        snprintf(text, size, "%.3g s", seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.3g min", seconds / 60);
    else
        snprintf(text, size, "%.4g h", seconds / 3600);
    return text;
}

static double sent(const struct load *l)
{
    return l->inside + l->outside;
}

static void add_rank(struct scale *s, const struct domain *block, const struct needs *needs)
{
    const int *const n = block->view.n;
    const double share = needs->own / ((double)n[0] * n[1] * n[2]);
    const double bytes = parts_bytes(s->parts, needs);
    struct load l;
    struct domain on_gpu = *block;
    domain_align_rows(&on_gpu, GPU_ROW_BYTES);
    s->most_cells = fmax(s->most_cells, (double)on_gpu.view.cells);
    load_find(&l, block, (int)s->cluster.ranks_per_node, (int)s->cluster.sector);
    l.interior *= share;
    l.shell *= share;
    s->dense += needs->dense;
    s->sparse += needs->sparse;
    s->lists += needs->lists;
    s->bytes += bytes;
    s->updates += needs->own;
    s->fluid_cells += needs->own;
    s->largest = fmax(s->largest, bytes);
    s->largest_on_gpu = fmax(s->largest_on_gpu, bytes + parts_bytes_more(s->parts, block, needs));
    s->listed = fmax(s->listed, needs->lists);
    for (int a = 0; a < 3; a++)
        s->longest[a] = n[a] > s->longest[a] ? n[a] : s->longest[a];
    load_add(&s->mean, &l, 1.0 / s->parts->ranks);
    if (sent(&l) > sent(&s->sends))
        s->sends = l;
    const struct model_step step = model_step(&s->cluster, scale_populations(s->parts->c), &l);
    if (step.step > s->step.step) {
        s->step = step;
        s->slowest = l;
    }
}

void scale_find(struct scale *s, const struct parts *p, const struct cluster *cluster, bool machine)
{
    *s = (struct scale){.parts = p, .cluster = *cluster, .machine = machine};
    for (int rank = 0; rank < p->ranks; rank++) {
        struct domain block;
        struct needs needs;
        parts_of(p, rank, &block, &needs);
        add_rank(s, &block, &needs);
    }
}

double scale_populations(const struct flow_case *c)
{
    const double flow = (double)precision_bytes(c->solver.storage);
    return Q * flow + c->scalar_count * Q_AXES * fmax(flow, sizeof(float));
}

double scale_rate(const struct scale *s)
{
    return s->updates / s->step.step;
}

double scale_efficiency(const struct scale *s)
{
    return scale_rate(s) / s->parts->ranks /
           model_rate(&s->cluster, scale_populations(s->parts->c));
}

double scale_assumed_rate(const struct flow_case *c)
{
    double time = 1;
    for (int k = 0; k < c->scalar_count; k++)
        time += scalar_limited(c, k) ? limited_time : scalar_time;
    return 1e6 * (c->solver.storage == PRECISION_fp64 ? assumed_mlups_fp64 : assumed_mlups_fp32) /
           time;
}

double scale_seconds(const struct scale *s, double steps)
{
    return s->machine ? steps * s->step.step
                      : s->updates * steps / (scale_assumed_rate(s->parts->c) * s->parts->ranks);
}

double scale_imbalance(const struct scale *s)
{
    const struct parts *const p = s->parts;
    if (s->refined)
        return levels_imbalance(s->levels);
    return p->box || p->sample ? p->balance.imbalance : 1;
}

double memory_of_node(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

bool scale_fits_node(const struct scale *s)
{
    return s->bytes + s->remembered <= NODE_SHARE * memory_of_node();
}

bool scale_fits_device(const struct scale *s)
{
    return s->most_cells <= UINT32_MAX && s->most_on_gpu <= DEVICE_SHARE * s->cluster.memory;
}

void scale_say_halo(const struct scale *s)
{
    char text[32], outside[32], more[96] = "";
    const bool counted = s->refined && s->levels->level[s->levels->refined.levels - 1].sends;
    const char *const seams = !s->refined ? ""
                              : counted   ? ", those between levels included"
                                          : "; messages between levels are not counted";
    const struct load *const l = &s->sends;
    if (!l->messages) {
        say("halo: no messages");
        return;
    }
    if (s->machine)
        snprintf(more, sizeof more, ", %s of it to other nodes (%.0f ranks a node)",
                 bytes_text(outside, sizeof outside, l->outside), s->cluster.ranks_per_node);
    say("halo: in a step a rank sends at most %s in %d message%s%s%s",
        bytes_text(text, sizeof text, sent(l)), l->messages, l->messages == 1 ? "" : "s", more,
        seams);
}

void scale_say_step(const struct scale *s)
{
    char step[32], interior[32], shell[32], packing[32], launches[32], messages[32], text[32],
        seam[48] = "";
    const struct model_step *const m = &s->step;
    const double rate = scale_rate(s),
                 device = model_rate(&s->cluster, scale_populations(s->parts->c));
    const enum limit limit =
        model_limit(&s->cluster, scale_populations(s->parts->c), &s->slowest, m);
    if (s->refined && m->seam > 0)
        snprintf(seam, sizeof seam, ", messages between levels %s",
                 seconds_text(text, sizeof text, m->seam));
    say("model: a step takes %s on the slowest rank: interior %s, shell %s, packing %s, launches "
        "%s%s; messages %s%s",
        seconds_text(step, sizeof step, m->step),
        seconds_text(interior, sizeof interior, m->interior),
        seconds_text(shell, sizeof shell, m->shell),
        seconds_text(packing, sizeof packing, m->packing),
        seconds_text(launches, sizeof launches, m->launches), seam,
        seconds_text(messages, sizeof messages, m->bandwidth + m->latency),
        m->bandwidth + m->latency > m->interior ? ", longer than the interior"
                                                : ", hidden behind the interior");
    say("  %.4g GLUPS, %.1f %% of %d devices of %.4g GLUPS%s; limited by %s%s", 1e-9 * rate,
        100 * scale_efficiency(s), s->parts->ranks, 1e-9 * device,
        s->cluster.assumed ? " (assumed)" : "", limit == LIMIT_interior ? "the devices: the " : "",
        model_limit_name(limit));
}

/* ---- JSON ---- */

static json_t *triple(const int n[3])
{
    return json_pack("[i,i,i]", n[0], n[1], n[2]);
}

/* counts: numbers of messages, which a mean does not have. */
static json_t *load_json(const struct load *l, bool counts)
{
    json_t *const object =
        json_pack("{s:f, s:f, s:f, s:f, s:f}", "interior", l->interior, "shell", l->shell, "bytes",
                  sent(l), "bytes_outside", l->outside, "packed", l->packed);
    if (counts) {
        json_object_set_new(object, "messages", json_integer(l->messages));
        json_object_set_new(object, "messages_outside", json_integer(l->outside_messages));
    }
    return object;
}

static json_t *step_json(const struct scale *s)
{
    const struct model_step *const m = &s->step;
    json_t *const object = json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:o}", "interior", m->interior, "shell",
        m->shell, "packing", m->packing, "launches", m->launches, "bandwidth", m->bandwidth,
        "latency", m->latency, "step", m->step, "glups", 1e-9 * scale_rate(s), "efficiency",
        scale_efficiency(s), "limit",
        model_limit_name(model_limit(&s->cluster, scale_populations(s->parts->c), &s->slowest, m)),
        "load", load_json(&s->slowest, true));
    if (s->refined)
        json_object_set_new(object, "seam", json_real(m->seam));
    return object;
}

static json_t *cluster_json(const struct cluster *c)
{
    json_t *const object = json_pack("{s:b}", "assumed", c->assumed);
#define X(name, unit, value, meaning)                                                              \
    json_object_set_new(object, #name, c->name > 0 ? json_real(c->name) : json_null());
    CLUSTER_LIST(X)
#undef X
    return object;
}

enum status scale_write(const struct scale *s, json_t *choices, const char *path, const char *file)
{
    const struct parts *const p = s->parts;
    const double seconds = s->cluster.disk > 0 ? s->checkpoint / s->cluster.disk : 0;
    json_t *const object = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:o, s:f, s:s, s:i, s:o, s:f, s:b, s:b, s:f, s:f, s:o, s:o, "
        "s:f, s:o, s:o, s:o, s:f}",
        "tagflow", "check", "format", FORMAT, "version", TAGFLOW_VERSION, "commit", TAGFLOW_COMMIT,
        "case", path, "cells", triple(p->c->cells), "fluid_cells", s->fluid_cells, "storage",
        precision_name(p->c->solver.storage), "ranks", p->ranks, "cut", triple(p->cuts),
        "imbalance", scale_imbalance(s), "sparse", p->sparse, "sampled", p->sample != NULL, "bytes",
        s->bytes, "largest_rank_bytes", s->largest, "sends", load_json(&s->sends, true), "mean",
        load_json(&s->mean, false), "checkpoint_bytes", s->checkpoint, "checkpoint_seconds",
        seconds > 0 ? json_real(seconds) : json_null(), "machine",
        s->machine ? cluster_json(&s->cluster) : json_null(), "model",
        s->machine ? step_json(s) : json_null(), "largest_rank_bytes_on_gpu", s->largest_on_gpu);
    json_object_set_new(object, "fits",
                        json_boolean(s->machine ? scale_fits_device(s) : scale_fits_node(s)));
    json_object_set_new(object, "warnings", report_warnings());
    json_object_set_new(object, "choices", choices);
    if (s->refined && object) {
        json_object_set_new(object, "levels", levels_json(s->levels));
        json_object_set_new(object, "updates_per_step", json_real(levels_updates(s->levels)));
    }
    char *const dump = object ? json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    if (!dump)
        return fail_machine("out of memory for %s", file);
    const size_t length = strlen(dump);
    dump[length] = '\n'; /* replaces the NUL: files have a length */
    const enum status status = file_write(file, dump, length + 1);
    free(dump);
    return status;
}
