/* Other time steps and cells; see choices.h. */
#include "cli/choices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice/advice.h"
#include "base/message.h"

enum { COLUMNS = 7 + CASE_SCALARS, WIDTH = CASE_NAME + 16 };

/* A longer time step is shown up to these. */
static const double most_mach = 0.1, most_density = 0.01;

static double mach_of(const struct flow_case *c)
{
    return sqrt(3.0) * case_fastest_velocity(c);
}

/* Cells of half the width, by those of now; a flow in two dimensions stays one cell wide. */
static double more_cells(const struct flow_case *c)
{
    double times = 1;
    for (int a = 0; a < 3; a++)
        times *= c->cells[a] > 1 ? 2 : 1;
    return times;
}

/* Adds a choice. c: its case, in cells 2^finer times finer and steps 2^shorter times shorter. */
static void add(struct choices *all, const struct flow_case *c, const struct scale *s,
                const char *name, int finer, int shorter)
{
    struct choice *const to = &all->choice[all->count++];
    const double cells = finer ? more_cells(s->parts->c) : 1;
    *to = (struct choice){.dx = c->units.given ? c->units.dx : ldexp(1, -finer),
                          .dt = c->units.given ? c->units.dt : ldexp(1, -shorter),
                          .mach = mach_of(c),
                          .tau = case_tau(c),
                          .density = case_density_error(c),
                          .cell_reynolds = case_cell_reynolds(c, 0),
                          .steps = (double)c->run.steps,
                          .seconds = cells * scale_seconds(s, (double)c->run.steps),
                          .about = finer != 0};
    snprintf(to->name, sizeof to->name, "%s", name);
    for (int k = 0; k < c->scalar_count; k++)
        to->cell_peclet[k] = scalar_peclet(c, k);
}

/* Twice the time step where Mach allows it, else half, or less until Mach is low enough: the power
 * of 1/2. */
static int shorter_step(const struct flow_case *c)
{
    const double mach = mach_of(c);
    return 2 * mach <= most_mach && 4 * case_density_error(c) <= most_density
               ? -1
               : (int)fmax(1, ceil(log2(mach / ADVICE_MACH)));
}

/* A number in at most 5 digits if it has no more, else in as many as it needs. */
static const char *given_number(double value, char text[32])
{
    for (int digits = 5; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (fabs(strtod(text, NULL) - value) <= 1e-12 * fabs(value))
            break;
    }
    return text;
}

/* What the user has to give for it. */
static void name_step(const struct flow_case *c, const struct flow_case *other, int shorter,
                      char name[CHOICE_NAME])
{
    char number[32];
    if (c->units.lattice > 0)
        snprintf(name, CHOICE_NAME, "lattice %s",
                 given_number(ldexp(c->units.lattice, -shorter), number));
    else if (c->units.given)
        snprintf(name, CHOICE_NAME, "dt %s s", given_number(other->units.dt, number));
    else if (shorter < 0)
        snprintf(name, CHOICE_NAME, "2 dt");
    else
        snprintf(name, CHOICE_NAME, "dt/%d", 1 << shorter);
}

static void name_cells(const struct flow_case *c, const struct flow_case *other,
                       char name[CHOICE_NAME])
{
    char number[32];
    if (c->units.given)
        snprintf(name, CHOICE_NAME, "dx %s m%s", given_number(other->units.dx, number),
                 c->units.lattice > 0 ? "" : ", dt/2");
    else
        snprintf(name, CHOICE_NAME, "dx/2, dt/2");
}

/* A case that the user could not give is left out. */
static enum status try_other(struct choices *all, const struct scale *s, int finer, int shorter)
{
    const struct flow_case *const c = all->c;
    struct flow_case other;
    char name[CHOICE_NAME];
    message_mute(true);
    const enum status status = case_with_steps(c, finer, shorter, &other);
    message_mute(false);
    if (status)
        return status == STATUS_USAGE ? STATUS_OK : status;
    if (finer)
        name_cells(c, &other, name);
    else
        name_step(c, &other, shorter, name);
    add(all, &other, s, name, finer, shorter);
    case_destroy(&other);
    return STATUS_OK;
}

enum status choices_find(struct choices *all, const struct scale *s)
{
    const struct flow_case *const c = s->parts->c;
    *all = (struct choices){.c = c};
    if (!(case_fastest_velocity(c) > 0))
        return STATUS_OK;
    add(all, c, s, "now", 0, 0);
    if (c->initial.from.file) /* its velocities are in the file */
        return STATUS_OK;
    const enum status status = try_other(all, s, 0, shorter_step(c));
    return status ? status : try_other(all, s, 1, 1);
}

/* ---- table ---- */

static void column(char text[COLUMNS][WIDTH], int *count, const char *value)
{
    snprintf(text[(*count)++], WIDTH, "%s", value);
}

static int head(const struct choices *all, char text[COLUMNS][WIDTH])
{
    static const char *const names[] = {"Mach", "tau", "density", "cell Re"};
    int count = 0;
    column(text, &count, "");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        column(text, &count, names[k]);
    for (int k = 0; k < all->c->scalar_count; k++)
        snprintf(text[count++], WIDTH, "cell Pe%s%s", all->c->scalar_count > 1 ? " " : "",
                 all->c->scalar_count > 1 ? all->c->scalars[k].name : "");
    column(text, &count, "steps");
    column(text, &count, "time");
    return count;
}

static int row(const struct choices *all, int which, char text[COLUMNS][WIDTH])
{
    const struct choice *const one = &all->choice[which];
    int count = 0;
    char tau[32], seconds[32];
    column(text, &count, one->name);
    snprintf(text[count++], WIDTH, "%.3g", one->mach);
    column(text, &count, case_tau_text(tau, one->tau, 4));
    snprintf(text[count++], WIDTH, "%.2g %%", 100 * one->density);
    snprintf(text[count++], WIDTH, "%.3g", one->cell_reynolds);
    for (int k = 0; k < all->c->scalar_count; k++)
        snprintf(text[count++], WIDTH, "%.3g", one->cell_peclet[k]);
    snprintf(text[count++], WIDTH, "%.0f", one->steps);
    snprintf(text[count++], WIDTH, "%s%s", one->about ? "~" : "",
             seconds_text(seconds, sizeof seconds, one->seconds));
    return count;
}

void choices_say(const struct choices *all)
{
    char text[1 + CHOICES][COLUMNS][WIDTH];
    int columns = 0, width[COLUMNS] = {0};
    if (all->count < 2)
        return;
    for (int line = 0; line <= all->count; line++) {
        columns = line ? row(all, line - 1, text[line]) : head(all, text[line]);
        for (int k = 0; k < columns; k++)
            width[k] = (int)fmax(width[k], (double)strlen(text[line][k]));
    }
    for (int line = 0; line <= all->count; line++) {
        char whole[COLUMNS * (WIDTH + 2)];
        int length = 0;
        for (int k = 0; k < columns; k++)
            length += snprintf(whole + length, sizeof whole - (size_t)length, "%s%*s",
                               k ? "  " : "", k ? width[k] : -width[k], text[line][k]);
        say("%s", whole);
    }
    say("(a case that gives run.steps must change them, too)");
}

json_t *choices_json(const struct choices *all)
{
    json_t *const list = json_array();
    for (int n = 0; n < all->count; n++) {
        const struct choice *const one = &all->choice[n];
        json_t *const peclet = json_object();
        for (int k = 0; k < all->c->scalar_count; k++)
            json_object_set_new(peclet, all->c->scalars[k].name, json_real(one->cell_peclet[k]));
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:f}", "name", one->name,
                            "dx", one->dx, "dt", one->dt, "mach", one->mach, "tau", one->tau,
                            "density_error", one->density, "cell_reynolds", one->cell_reynolds,
                            "cell_peclet", peclet, "steps", one->steps, "seconds", one->seconds));
    }
    return list;
}
