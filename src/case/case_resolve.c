/* A case as YAML with every default filled in, in lattice units; it reads back to the same case. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

static void write_section(struct writer *w, const char *section, unsigned kind, const void *from)
{
    fprintf(w->to, "%s:\n", section);
    record_write(w, section, kind, from);
}

static void write_method(struct writer *w, const struct flow_case *c)
{
    const struct case_initial *const initial = &c->initial;
    if (c->units.cell > 0)
        write_section(w, "units", c->units.given ? UNITS_OF_TIME : 0, c);
    write_section(w, "domain", 0, c);
    write_section(w, "fluid", fluid_kind(&c->fluid), c);
    write_section(w, "solver", collision_free(c->solver.collision), c);
    write_section(w, "initial",
                  initial_has(initial->flow) |
                      (initial->from.file ? INITIAL_HAS_from : INITIAL_HAS_flow),
                  initial);
}

/* A thing on each line; no things: no line. */
static void write_things(struct writer *w, const char *section, thing_writer *write)
{
    const struct key *const key = keys_row(section);
    if (things_of(key, w->c).count)
        fprintf(w->to, "%s:\n", section);
    things_write(w, key, w->c, write);
}

/* A force with an acceleration is written on one line. */
static void write_force(struct writer *w, const struct flow_case *c)
{
    if (c->flow_rate.given) {
        write_section(w, "force", 0, c);
        return;
    }
    w->indent = 0;
    write_open(w, "force");
    record_write(w, "force", FORCE_UNIFORM, c);
    write_close(w);
    w->indent = 2;
}

static void write_regions(struct writer *w, const struct flow_case *c)
{
    fprintf(w->to, "regions:%s\n", c->zone_count ? "" : " {}");
    w->indent = 4;
    for (int i = 0; i < c->zone_count; i++) {
        fprintf(w->to, "  %s:\n", c->zones[i].name);
        record_write(w, "regions.*", collision_free(c->zones[i].collision), &c->zones[i]);
    }
    w->indent = 2;
}

bool case_is_resolved(const char *text)
{
    static const char begins[] = "# as resolved by tagflow";
    return !strncmp(text, begins, strlen(begins));
}

int case_physics(const char *resolved)
{
    int version;
    return sscanf(resolved, "# as resolved by tagflow, physics %d;", &version) == 1 ? version : 1;
}

char *case_resolve(const struct flow_case *c)
{
    char *text = NULL;
    size_t size = 0;
    struct writer w = {.to = open_memstream(&text, &size), .c = c, .indent = 2};
    if (!w.to)
        goto no_memory;
    fprintf(w.to, "# as resolved by tagflow, physics %d; lattice units\n", CASE_PHYSICS);
    write_method(&w, c);
    write_things(&w, "scalars", scalar_write);
    faces_write(&w);
    write_things(&w, "patches", patch_write);
    write_force(&w, c);
    write_regions(&w, c);
    write_things(&w, "bodies", body_write);
    write_things(&w, "refine", refine_write);
    write_section(&w, "run", 0, c);
    write_section(&w, "checkpoint", 0, c);
    write_section(&w, "check", 0, c);
    write_section(&w, "output", 0, c);
    const bool failed = ferror(w.to);
    if (fclose(w.to) == 0 && !failed)
        return text;
    free(text);
no_memory:
    fail_machine("no memory to write the resolved case");
    return NULL;
}
