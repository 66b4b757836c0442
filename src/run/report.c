/* status.json and report.json; see report.h. */
#include "run/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/message.h"
#include "base/watchdog.h"
#include "case/keys.h"
#include "measure/permeability.h"
#include "run/folder.h"
#include "run/report_series.h"
#include "version.h"

const char *run_state_name(enum run_state state)
{
    static const char *const names[] = {
#define X(name) #name,
        RUN_STATE_LIST(X)
#undef X
    };
    return names[state];
}

static const char status_name[] = "status.json", report_name[] = "report.json";

/* Puts each array of a JSON text on one line, so that long ones do not hide the rest. */
static void join_arrays(char *text)
{
    char *to = text;
    bool quoted = false;
    int depth = 0;
    for (const char *from = text; *from; from++) {
        if (quoted && *from == '\\')
            *to++ = *from++;
        else if (*from == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (*from == '[') - (*from == ']');
        const char *const next = from + 1 + strspn(from + 1, " \n");
        *to++ = *from;
        if (!quoted && from[1] == '\n' && (depth > 0 || *next == ']')) {
            if (*from == ',')
                *to++ = ' ';
            from = next - 1;
        }
    }
    *to = '\0';
}

/* The text of a JSON object, allocated, NULL without memory; releases the object. */
static char *text_of(json_t *object)
{
    char *const text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    if (text)
        join_arrays(text);
    return text;
}

/* A number that no other process has. Another job may have taken the folder while this one was
 * suspended: neither must take the temporary file of the other. */
static unsigned long long own_number(void)
{
    static unsigned long long number;
    struct timespec now = {0};
    if (!number) {
        clock_gettime(CLOCK_REALTIME, &now);
        number = (unsigned long long)now.tv_sec << 30 ^ (unsigned long long)now.tv_nsec ^
                 (unsigned long long)getpid() << 40;
    }
    return number;
}

/* Gives the file its name, unless another job has taken the folder: that job also removes temporary
 * files of this one. */
static enum status give_name(struct lock *lock, const char *temporary, const char *path)
{
    const bool lost = lock_look(lock);
    if (!lost && rename(temporary, path) == 0)
        return file_sync_folder(path);
    const int reason = errno;
    unlink(temporary);
    if (lost || lock_look(lock))
        return STATUS_MACHINE;
    return fail_machine("cannot rename %s to %s: %s", temporary, path, strerror(reason));
}

/* Write a JSON object to dir/name and release it. begins: a hang reported in the old file is of an
 * earlier job; otherwise watchdog_hold() applies. */
static enum status replace_json(const char *dir, const char *name, struct lock *lock,
                                json_t *object, bool begins)
{
    char path[FOLDER_PATH], temporary[FOLDER_PATH];
    char *const text = text_of(object);
    if (!text)
        return fail_machine("out of memory for %s", name);
    const size_t length = strlen(text);
    text[length] = '\n'; /* replaces the NUL: files have a length */
    enum status status = STATUS_MACHINE;
    if (folder_path(path, dir, name) &&
        snprintf(temporary, sizeof temporary, "%s.%llx" FILE_TEMPORARY, path, own_number()) <
            FOLDER_PATH)
        status = file_prepare(path, temporary, text, length + 1);
    if (!status && !begins)
        watchdog_hold(path);
    if (!status)
        status = give_name(lock, temporary, path);
    free(text);
    return status;
}

/* Adds how the run ended, null while it has not. */
static void add_end(json_t *to, const struct progress *p)
{
    const bool ended = p->state != RUN_starting && p->state != RUN_running;
    json_object_set_new(to, "exit_status", ended ? json_integer(p->exit_status) : json_null());
    json_object_set_new(to, "reason", ended && p->reason ? json_string(p->reason) : json_null());
}

double progress_left(const struct progress *p, int64_t steps)
{
    const int64_t done = p->step - p->first;
    if (p->step >= steps)
        return 0;
    return done > 0 && p->began > 0
               ? (clock_seconds() - p->began) / (double)done * (double)(steps - p->step)
               : INFINITY;
}

void report_scalars(json_t *to, const struct flow_case *c, int level)
{
    json_t *const scalars = json_object();
    for (int k = 0; k < c->scalar_count; k++)
        json_object_set_new(scalars, c->scalars[k].name,
                            json_pack("{s:f, s:f}", "diffusivity",
                                      ldexp(c->scalars[k].diffusivity, level), "cell_peclet",
                                      ldexp(scalar_peclet(c, k), -level)));
    if (c->scalar_count > 0)
        json_object_set(to, "scalars", scalars);
    json_decref(scalars);
}

/* Adds the levels of a refined grid. */
static void add_levels(json_t *to, const struct grid *g)
{
    json_t *const levels = json_array();
    for (int l = 0; l < g->levels && g->levels > 1; l++) {
        const struct domain *const d = &g->level[l].domain;
        const double cells = (double)grid_cells(g, l);
        json_t *const level = json_pack(
            "{s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "cells", (json_int_t)cells, "fluid_cells",
            (json_int_t)d->fluid_cells, "updates", ldexp(cells, l), "tau", case_tau(g->level[l].c),
            "cell_reynolds", case_cell_reynolds(g->level[0].c, l), "imbalance", d->imbalance,
            "kept_share", d->kept_share);
        report_scalars(level, g->level[0].c, l);
        json_array_append_new(levels, level);
    }
    if (g->levels > 1) {
        json_object_set(to, "levels", levels);
        json_object_set_new(to, "updates_per_step", json_real(grid_updates(g, false)));
    }
    json_decref(levels);
}

static json_t *status_json(const struct flow_case *c, const struct grid *g,
                           const struct progress *p)
{
    char date[64], host[256] = "";
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    gethostname(host, sizeof host - 1);
    const double left = progress_left(p, c->run.steps);
    char name[FOLDER_CHECKPOINT_NAME];
    folder_checkpoint_name(name, p->checkpoint);
    json_t *const checkpoint = p->checkpoint < 0 ? json_null()
                                                 : json_pack("{s:s, s:I}", "file", name, "step",
                                                             (json_int_t)p->checkpoint);
    json_t *const object = json_pack(
        "{s:s, s:I, s:I, s:f, s:f, s:o, s:o, s:s, s:s, s:i}", "state", run_state_name(p->state),
        "step", (json_int_t)p->step, "steps", (json_int_t)c->run.steps, "time",
        (double)p->step * c->units.dt, "glups", 1e-9 * p->updates_now, "eta_seconds",
        isfinite(left) ? json_real(left) : json_null(), "checkpoint", checkpoint, "updated", date,
        "host", host, "pid", (int)getpid());
    add_end(object, p);
    add_levels(object, g);
    return object;
}

enum status report_status(const char *dir, struct lock *lock, const struct flow_case *c,
                          const struct grid *g, const struct progress *p)
{
    return replace_json(dir, status_name, lock, status_json(c, g, p), p->state == RUN_starting);
}

/* Seconds of each phase of a step on rank 0. One level has no seam. */
static json_t *phases_json(const struct progress *p, int levels)
{
    static const char *const names[] = {
#define X(name) #name,
        PHASE_LIST(X)
#undef X
    };
    json_t *const object = json_object();
    for (int k = 0; k < PHASES && p->phases_steps > 0; k++)
        if (k != PHASE_seam || levels > 1)
            json_object_set_new(object, names[k],
                                json_real(p->phases[k] / (double)p->phases_steps));
    return object;
}

static json_t *point_json(const int at[3])
{
    return json_pack("[i,i,i]", at[0], at[1], at[2]);
}

/* Numbers of the fluid along one axis of a place. */
static json_t *pores_axis_json(const struct pore_place *place, int axis)
{
    const struct pores *const p = &place->pores;
    json_t *const planes = json_array();
    for (int k = 0; k < place->region.hi[axis] - place->region.lo[axis]; k++)
        json_array_append_new(planes, json_integer((json_int_t)p->plane[axis][k]));
    return json_pack("{s:b, s:I, s:I, s:I, s:o}", "through", p->through[axis], "connected",
                     (json_int_t)p->connected[axis], "dead_end", (json_int_t)p->dead_end[axis],
                     "closed", (json_int_t)p->closed[axis], "planes", planes);
}

/* The box alone has isolated parts: within an image nothing is known of the flow around it. */
static json_t *pores_place_json(const struct pore_place *place)
{
    const struct pores *const p = &place->pores;
    json_t *const object =
        json_pack("{s:o, s:o, s:I, s:I, s:f, s:I, s:I}", "from", point_json(place->region.lo), "to",
                  point_json(place->region.hi), "cells", (json_int_t)p->cells, "fluid_cells",
                  (json_int_t)p->fluid, "porosity", (double)p->fluid / (double)p->cells, "parts",
                  (json_int_t)p->parts, "largest", (json_int_t)p->largest);
    if (!place->name) {
        json_object_set_new(object, "isolated_parts", json_integer((json_int_t)p->isolated_parts));
        json_object_set_new(object, "isolated_cells", json_integer((json_int_t)p->isolated_cells));
    }
    for (int a = 0; a < 3; a++)
        json_object_set_new(object, key_axes[a], pores_axis_json(place, a));
    return object;
}

static json_t *pores_json(const struct pore_survey *s, const struct domain *d)
{
    json_t *const images = json_object();
    for (int k = 0; k < s->count - 1; k++)
        json_object_set_new(images, s->place[k].name, pores_place_json(&s->place[k]));
    return json_pack("{s:I, s:o, s:o}", "filled_cells", (json_int_t)d->filled_cells, "images",
                     images, "box", pores_place_json(&s->place[s->count - 1]));
}

static json_t *permeability_json(const struct flow_case *c, const struct progress *p)
{
    const double area = c->units.cell * c->units.cell;
    const bool physical = area > 0;
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:[o,o,o], s:o, s:f, s:s}", "series",
        c->series[c->run.stop.series].name, "axis", key_axes[c->series[c->run.stop.series].axis],
        "cells2", json_number(p->permeability), "m2",
        json_number(physical ? p->permeability * area : NAN), "millidarcy",
        json_number(physical ? p->permeability * area / (1e-3 * PERMEABILITY_DARCY) : NAN),
        "remaining", json_number(p->remaining), "mean_velocity", json_number(p->mean[0]),
        json_number(p->mean[1]), json_number(p->mean[2]), "gradient", json_number(p->gradient),
        "viscosity", c->fluid.viscosity, "formula", PERMEABILITY_FORMULA);
}

static json_t *stop_json(const struct case_stop *stop, const struct progress *p)
{
    return json_pack("{s:s, s:f, s:I, s:b, s:o}", "of", stop->name, "change", stop->change, "over",
                     (json_int_t)stop->over, "met", p->stop_met, "last_change",
                     json_number(p->stop_change));
}

/* Hashes of all sets of populations; null: not known. */
static json_t *hashes_json(const struct flow_case *c, const struct progress *p)
{
    json_t *const object = json_object();
    for (int set = 0; set <= c->scalar_count; set++)
        json_object_set_new(object, set == SET_flow ? "flow" : c->scalars[set - 1].name,
                            *p->hashes[set] ? json_string(p->hashes[set]) : json_null());
    return object;
}

json_t *report_warnings(void)
{
    json_t *const array = json_array();
    const struct warning *w;
    for (int k = 0; (w = message_warning(k)); k++) {
        json_t *const object = json_pack("{s:s, s:s}", "name", w->name, "text", w->text);
        if (w->step >= 0)
            json_object_set_new(object, "step", json_integer((json_int_t)w->step));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *report_json(const struct flow_case *c, const struct grid *g,
                           const struct progress *p)
{
    const struct domain *const d = &g->level->domain;
    const struct backend *const b = g->level->backend;
    const double updates = grid_updates(g, false);
    int64_t fluid = 0;
    bool sparse = false;
    for (int l = 0; l < g->levels; l++) {
        fluid += g->level[l].domain.fluid_cells;
        sparse = sparse || g->level[l].domain.view.place;
    }
    const double rate =
        p->seconds > 0 ? (double)p->steps_done / p->seconds : 0; /* steps a second */
    const double bytes = backend_bytes_per_update(b);
    json_t *const object = json_pack(
        "{s:s, s:I, s:I, s:f, s:[i,i,i], s:I, s:f, s:f, s:f, s:i, s:i, s:s, s:s, s:s, s:s, s:s, "
        "s:f, "
        "s:f, s:o, s:s?, s:o, s:s, "
        "s:s, s:b, s:f, s:s?, s:i, s:f, s:f}",
        "state", run_state_name(p->state), "step", (json_int_t)p->step, "steps",
        (json_int_t)p->steps_done, "seconds", p->seconds, "cells", c->cells[0], c->cells[1],
        c->cells[2], "fluid_cells", (json_int_t)fluid, "imbalance", grid_imbalance(g), "mlups",
        1e-6 * rate * updates, "mflups", 1e-6 * rate * grid_updates(g, true), "ranks", d->ranks,
        "threads", c->run.threads, "backend", b->type->name, "device", b->description, "collision",
        key_collisions[c->solver.collision], "storage", precision_name(c->solver.storage),
        "arithmetic", precision_name(c->solver.arithmetic), "bytes_per_update", bytes,
        "bandwidth_gbs", 1e-9 * rate * updates * bytes, "phases", phases_json(p, g->levels),
        "state_hash", *p->hashes[SET_flow] ? p->hashes[SET_flow] : NULL, "hashes",
        hashes_json(c, p), "version", TAGFLOW_VERSION, "commit", TAGFLOW_COMMIT, "sparse", sparse,
        "kept_share", d->kept_share, "transport", p->transport, "sweep",
        p->sweep > 1 ? p->sweep : 1, "message_bytes", p->messages.all,
        "message_bytes_between_hosts", p->messages.between_hosts);
    add_end(object, p);
    add_levels(object, g);
    if (p->files)
        json_object_set(object, "files", p->files);
    json_object_set_new(object, "warnings", report_warnings());
    if (p->permeability != 0)
        json_object_set_new(object, "permeability", permeability_json(c, p));
    if (c->run.stop.given)
        json_object_set_new(object, "stop", stop_json(&c->run.stop, p));
    if (p->pores && p->pores->count)
        json_object_set_new(object, "pores", pores_json(p->pores, d));
    return object;
}

enum status report_write(const char *dir, struct lock *lock, const struct flow_case *c,
                         const struct grid *g, const struct progress *p, bool sound)
{
    json_t *const object = report_json(c, g, p);
    if (sound && report_statistics(object, dir, c)) {
        json_decref(object);
        return STATUS_MACHINE;
    }
    return replace_json(dir, report_name, lock, object, true);
}

void report_for_watchdog(const char *dir, const struct flow_case *c, const struct grid *g,
                         const struct progress *p)
{
    struct progress end = *p;
    end.state = RUN_failed;
    end.exit_status = STATUS_MACHINE;
    end.reason = watchdog_reason();
    end.pores = NULL; /* would take time whenever this is prepared */
    if (!end.reason)
        return;
    char *const report = text_of(report_json(c, g, &end));
    char *const status = text_of(status_json(c, g, &end));
    if (report && status)
        watchdog_files(
            dir, (const struct watchdog_file[]){{report_name, report}, {status_name, status}});
    free(report);
    free(status);
}
