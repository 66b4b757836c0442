/* The short form of what `check` finds; see summary.h. */
#include "cli/summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "case/case_law.h"
#include "case/keys.h"
#include "case/scalar_extent.h"
#include "cli/levels.h"

/* Adds to a text with room for `size` characters. */
static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + length, size - length, format, list);
    va_end(list);
}

/* Width of the names of rows. */
static int name_width(const struct flow_case *c)
{
    static const int least = 8;
    int width = least;
    for (int k = 0; k < c->scalar_count; k++)
        width = (int)fmax(width, (double)strlen(c->scalars[k].name));
    return width;
}

static void say_row(const struct flow_case *c, const char *name, const char *text)
{
    say("%-*s %s", name_width(c), name, text);
}

/* The verdict, and the warnings. */
static void say_warnings(const struct scale *s)
{
    const int count = message_warnings();
    const bool fits = s->machine ? scale_fits_device(s) : scale_fits_node(s);
    const struct warning *w;
    char warnings[32] = "";
    int k = 0;
    if (count)
        snprintf(warnings, sizeof warnings, "; %d warning%s", count, count == 1 ? "" : "s");
    say("%s%s",
        fits         ? "runs"
        : s->machine ? "valid, but does not fit on its devices"
                     : "valid, but does not fit on this node",
        warnings);
    for (; (w = message_warning(k)); k++)
        say("%d. %s [%s]", k + 1, w->text, w->name);
    if (k < count)
        say("... and %d more", count - k);
    say("%s", "");
}

/* Was it found which cells are fluid, or estimated from a sample? */
static bool fluid_known(const struct scale *s)
{
    return s->refined ? s->levels->known : s->parts->box || s->parts->sample;
}

static void say_grid(const struct scale *s)
{
    const struct flow_case *const c = s->parts->c;
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2];
    char text[256] = "";
    append(text, sizeof text, "%d x %d x %d", c->cells[0], c->cells[1], c->cells[2]);
    if (!s->refined)
        append(text, sizeof text, " = %.0f", cells);
    append(text, sizeof text, " cells");
    if (c->units.given)
        append(text, sizeof text, " of %.4g m", c->units.dx);
    if (s->refined)
        append(text, sizeof text, "; %d levels: %.4g cells, %.4g updates",
               s->levels->refined.levels, s->fluid_cells, levels_updates(s->levels));
    else if (fluid_known(s))
        append(text, sizeof text, ", %s%.4g %% fluid", s->parts->sample ? "about " : "",
               100 * s->fluid_cells / cells);
    say_row(c, "grid", text);
}

static void say_steps(const struct flow_case *c)
{
    char text[128] = "", whole[32];
    append(text, sizeof text, "%lld", (long long)c->run.steps);
    if (c->units.given)
        append(text, sizeof text, " of %.4g s: %s", c->units.dt,
               seconds_text(whole, sizeof whole, (double)c->run.steps * c->units.dt));
    say_row(c, "steps", text);
}

static void say_flow(const struct flow_case *c)
{
    const double velocity = case_fastest_velocity(c);
    char text[256] = "", tau[32];
    if (velocity > 0)
        append(text, sizeof text, "Mach %.3g%s, ", sqrt(3.0) * velocity,
               c->driven.velocity == velocity ? " (estimated)" : "");
    append(text, sizeof text, "tau %s", case_tau_text(tau, case_tau(c), 4));
    if (c->fluid.reynolds > 0)
        append(text, sizeof text, ", Reynolds %.4g%s", c->fluid.reynolds, law_reynolds(c));
    if (velocity > 0)
        append(text, sizeof text, ", cell Reynolds %.3g", case_cell_reynolds(c, 0));
    say_row(c, "flow", text);
    snprintf(text, sizeof text, "%s%s%s, %s", key_collisions[c->solver.collision],
             c->solver.chosen ? " by auto" : "",
             c->solver.subgrid == SUBGRID_none ? "" : " with a subgrid model",
             precision_name(c->solver.storage));
    say_row(c, "method", text);
}

static void say_scalar(const struct flow_case *c, int k)
{
    const struct case_scalar *const s = &c->scalars[k];
    char text[320] = "", range[SCALAR_RANGE_TEXT];
    append(text, sizeof text, "Peclet %.3g of a cell, %s", scalar_peclet(c, k),
           scalar_limited(c, k)       ? "limiter on"
           : scalar_peclet(c, k) > 10 ? "no limiter: values may ring, see docs/scalars.md"
                                      : "up to 10 without limiter");
    if (scalar_range_text(c, k, range))
        append(text, sizeof text, "; given values %s", range);
    say_row(c, s->name, text);
}

/* With several ranks: how they share the grid and what they send. */
static void say_ranks(const struct scale *s)
{
    const struct parts *const p = s->parts;
    char text[320] = "", bytes[32];
    append(text, sizeof text, "%d", p->ranks);
    if (!s->refined)
        append(text, sizeof text, " = %d x %d x %d", p->cuts[0], p->cuts[1], p->cuts[2]);
    if (fluid_known(s))
        append(text, sizeof text, ", load imbalance %.1f %%%s", 100 * (scale_imbalance(s) - 1),
               p->sample ? " (estimated)" : "");
    if (s->sends.messages)
        append(text, sizeof text, "; a rank sends up to %s in %d message%s a step",
               bytes_text(bytes, sizeof bytes, s->sends.inside + s->sends.outside),
               s->sends.messages, s->sends.messages == 1 ? "" : "s");
    if (p->ranks > 1)
        say_row(p->c, "ranks", text);
}

static void say_memory(const struct scale *s)
{
    const double whole = s->bytes + s->remembered, room = memory_of_node();
    char text[320] = "", a[32], b[32];
    append(text, sizeof text, "%s%s", bytes_text(a, sizeof a, s->most),
           s->parts->ranks > 1 ? " a rank" : "");
    if (strcmp(a, bytes_text(b, sizeof b, s->most_on_gpu)) != 0)
        append(text, sizeof text, ", %s on a GPU", b);
    if (s->parts->ranks > 1)
        append(text, sizeof text, ", %s in all", bytes_text(a, sizeof a, whole));
    if (s->machine)
        append(text, sizeof text, "; %s on a device of %s",
               scale_fits_device(s) ? "fits" : "does NOT fit",
               bytes_text(a, sizeof a, s->cluster.memory));
    else
        append(text, sizeof text, "; %s on this node, which has %s",
               scale_fits_node(s) ? "fits" : "does NOT fit", bytes_text(a, sizeof a, room));
    say_row(s->parts->c, "memory", text);
}

static void say_time(const struct scale *s)
{
    const struct flow_case *const c = s->parts->c;
    char text[320] = "", time[32];
    append(text, sizeof text, "%s ",
           seconds_text(time, sizeof time, scale_seconds(s, (double)c->run.steps)));
    if (s->machine)
        append(
            text, sizeof text,
            "without output by the model: %s a step, %.4g GLUPS, %.1f %% of the devices, limited "
            "by %s",
            seconds_text(time, sizeof time, s->step.step), 1e-9 * scale_rate(s),
            100 * scale_efficiency(s),
            model_limit_name(
                model_limit(&s->cluster, scale_populations(c), &s->slowest, &s->step)));
    else
        append(text, sizeof text, "if a rank does %.0f MLUPS (assumed, about one CPU core)",
               1e-6 * scale_assumed_rate(c));
    say_row(c, "time", text);
}

static void say_disk(const struct scale *s, const struct volume *v)
{
    const int keep = s->parts->c->checkpoint.keep + 1;
    char text[256] = "", one[32], all[32];
    append(text, sizeof text, "%.0f output file%s", v->files, v->files == 1 ? "" : "s");
    if (v->bytes > 0)
        append(text, sizeof text, ", %s", bytes_text(all, sizeof all, v->bytes));
    append(text, sizeof text, "; checkpoints of %s, at most %d at a time",
           bytes_text(one, sizeof one, s->checkpoint), keep);
    if (s->machine && s->cluster.disk > 0)
        append(text, sizeof text, ", %s to write one",
               seconds_text(one, sizeof one, s->checkpoint / s->cluster.disk));
    say_row(s->parts->c, "disk", text);
}

void summary_say(const struct scale *s, const struct choices *choices, const struct volume *v)
{
    const struct flow_case *const c = s->parts->c;
    say_warnings(s);
    say_grid(s);
    say_steps(c);
    say_flow(c);
    for (int k = 0; k < c->scalar_count; k++)
        say_scalar(c, k);
    say_ranks(s);
    say_memory(s);
    say_time(s);
    say_disk(s, v);
    if (choices->count > 1)
        say("%s", "");
    choices_say(choices);
}
