/* Functions for all kinds of output; see output_kind.h. */
#include "run/output_kind.h"

#include <time.h>

#include "io/h5file.h"
#include "version.h"

enum status output_path(const struct output_entry *e, char path[FOLDER_PATH])
{
    return folder_file(path, e->dir, e->part, e->name, e->solver->step);
}

double output_velocity_unit(const struct flow_case *c)
{
    return c->units.dx / c->units.dt;
}

void output_provenance(struct h5file *file, const struct flow_case *c, const struct solver *s)
{
    static const char group[] = "/provenance";
    const double when = (double)s->step * c->units.dt;
    const int64_t ranks = s->domain->ranks;
    char date[64];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    h5file_text(file, group, "program", "tagflow " TAGFLOW_VERSION);
    h5file_text(file, group, "version", TAGFLOW_VERSION);
    h5file_text(file, group, "commit", TAGFLOW_COMMIT);
    h5file_text(file, group, "case", c->resolved);
    h5file_text(file, group, "backend", s->backend->description);
    h5file_text(file, group, "date", date);
    h5file_numbers(file, group, "ranks", SAMPLE_int64, 1, &ranks);
    h5file_numbers(file, group, "step", SAMPLE_int64, 1, &s->step);
    h5file_numbers(file, group, "time", SAMPLE_float64, 1, &when);
}
