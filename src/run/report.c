/* status.json and report.json; see report.h. */
#include "run/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "base/file.h"
#include "base/message.h"
#include "case/keys.h"
#include "run/folder.h"
#include "solver/permeability.h"
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

double report_bytes_per_update(const struct backend *b)
{
    return 2 * Q * (double)precision_bytes(b->storage) + 1;
}

/* Write a JSON object to dir/name and release it. */
static enum status replace_json(const char *dir, const char *name, json_t *object)
{
    char path[FOLDER_PATH];
    char *const text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    enum status status = STATUS_MACHINE;
    json_decref(object);
    if (!text)
        return fail_machine("out of memory for %s", name);
    const size_t length = strlen(text);
    text[length] = '\n'; /* in the place of the NUL: files have a length */
    if (folder_path(path, dir, name))
        status = file_replace(path, text, length + 1);
    free(text);
    return status;
}

static double all_cells(const struct flow_case *c)
{
    return (double)c->cells[0] * c->cells[1] * c->cells[2];
}

enum status report_status(const char *dir, const struct flow_case *c, const struct progress *p)
{
    char date[64], host[256] = "";
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    gethostname(host, sizeof host - 1);
    const double left = (double)(c->run.steps - p->step) * all_cells(c);
    char name[FOLDER_CHECKPOINT_NAME];
    folder_checkpoint_name(name, p->checkpoint);
    json_t *const checkpoint = p->checkpoint < 0 ? json_null()
                                                 : json_pack("{s:s, s:I}", "file", name, "step",
                                                             (json_int_t)p->checkpoint);
    json_t *const object = json_pack(
        "{s:s, s:I, s:I, s:f, s:f, s:o, s:o, s:s, s:s, s:i}", "state", run_state_name(p->state),
        "step", (json_int_t)p->step, "steps", (json_int_t)c->run.steps, "time",
        (double)p->step * c->units.dt, "glups", 1e-9 * p->updates_now, "eta_seconds",
        p->updates_now > 0 ? json_real(left / p->updates_now) : json_null(), "checkpoint",
        checkpoint, "updated", date, "host", host, "pid", (int)getpid());
    return replace_json(dir, "status.json", object);
}

/* Seconds of each phase in a step of rank 0. */
static json_t *phases_json(const struct progress *p)
{
    static const char *const names[] = {
#define X(name) #name,
        PHASE_LIST(X)
#undef X
    };
    json_t *const object = json_object();
    for (int k = 0; k < PHASES && p->phases_steps > 0; k++)
        json_object_set_new(object, names[k], json_real(p->phases[k] / (double)p->phases_steps));
    return object;
}

/* Not a number: null. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *permeability_json(const struct flow_case *c, const struct progress *p)
{
    const double area = c->units.cell * c->units.cell;
    const bool physical = area > 0;
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:s}", "series", c->series[c->run.stop.series].name, "axis",
        key_axes[c->series[c->run.stop.series].axis], "cells2", number(p->permeability), "m2",
        number(physical ? p->permeability * area : NAN), "millidarcy",
        number(physical ? p->permeability * area / (1e-3 * PERMEABILITY_DARCY) : NAN), "remaining",
        number(p->remaining), "formula", PERMEABILITY_FORMULA);
}

enum status report_write(const char *dir, const struct flow_case *c, const struct domain *d,
                         const struct backend *b, const struct progress *p, const char *hash)
{
    const double rate =
        p->seconds > 0 ? (double)p->steps_done / p->seconds : 0; /* steps a second */
    const double bytes = report_bytes_per_update(b);
    json_t *const object = json_pack(
        "{s:s, s:I, s:I, s:f, s:[i,i,i], s:I, s:f, s:f, s:f, s:i, s:i, s:s, s:s, s:s, s:s, s:s, "
        "s:f, "
        "s:f, s:o, s:s?, s:s, "
        "s:s, s:b, s:f}",
        "state", run_state_name(p->state), "step", (json_int_t)p->step, "steps",
        (json_int_t)p->steps_done, "seconds", p->seconds, "cells", c->cells[0], c->cells[1],
        c->cells[2], "fluid_cells", (json_int_t)d->fluid_cells, "imbalance", d->imbalance, "mlups",
        1e-6 * rate * all_cells(c), "mflups", 1e-6 * rate * (double)d->fluid_cells, "ranks",
        d->ranks, "threads", c->run.threads, "backend", b->type->name, "device", b->description,
        "collision", key_collisions[c->solver.collision], "storage",
        precision_name(c->solver.storage), "arithmetic", precision_name(c->solver.arithmetic),
        "bytes_per_update", bytes, "bandwidth_gbs", 1e-9 * rate * all_cells(c) * bytes, "phases",
        phases_json(p), "state_hash", hash, "version", TAGFLOW_VERSION, "commit", TAGFLOW_COMMIT,
        "sparse", d->view.line != NULL, "kept_share", d->kept_share);
    if (p->permeability != 0)
        json_object_set_new(object, "permeability", permeability_json(c, p));
    return replace_json(dir, "report.json", object);
}
