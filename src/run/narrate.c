/* Messages of a run; see narrate.h. */
#include "run/narrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "advice/advice.h"
#include "base/clock.h"
#include "base/message.h"
#include "case/case_law.h"
#include "case/keys.h"
#include "measure/permeability.h"
#include "run/folder.h"
#include "run/output_kind.h"
#include "version.h"

enum { PLACE = 512 }; /* host and device of a rank */
/* Seconds of steps from which the present rate is taken. */
static const double rate_seconds = 2;
/* Seconds between two progress lines on a terminal. */
static const double live_seconds = 0.5;

/* ---- messages at the start ---- */

static void say_hosts(const struct narrator *n)
{
    const struct domain *const d = &n->grid->level->domain;
    char host[256] = "?", place[PLACE] = "";
    char *places = NULL;
    gethostname(host, sizeof host - 1);
    snprintf(place, sizeof place, "%s: %s", host, n->grid->level->backend->description);
    if (d->rank == 0)
        places = calloc((size_t)d->ranks, PLACE);
    if (d->rank == 0 && !places)
        MPI_Abort(n->grid->level->domain.comm, fail_machine("out of memory"));
    MPI_Gather(place, PLACE, MPI_CHAR, places, PLACE, MPI_CHAR, 0, n->grid->level->domain.comm);
    for (int rank = 0; d->rank == 0 && rank < d->ranks;) {
        int same = rank; /* consecutive ranks at one place share a line */
        while (same + 1 < d->ranks &&
               strcmp(places + (same + 1) * PLACE, places + rank * PLACE) == 0)
            same++;
        if (same == rank)
            say("rank %d on %s", rank, places + rank * PLACE);
        else
            say("ranks %d to %d on %s", rank, same, places + rank * PLACE);
        rank = same + 1;
    }
    free(places);
}

/* Describes the meshes of bodies, or with levels all bodies, as `check` does. */
static void say_bodies(const struct narrator *n)
{
    const struct flow_case *const c = n->c;
    struct paths_level level[LEVELS];
    for (int l = 0; l < n->grid->levels; l++)
        level[l] = (struct paths_level){&n->grid->level[l].domain, n->grid->level[l].c};
    if (n->grid->levels > 1) {
        survey_say_bodies(level, n->grid->levels, "");
        return;
    }
    char what[512];
    for (int k = 0; k < c->body_count; k++) {
        if (!c->bodies[k].mesh.file)
            continue;
        mesh_text(&c->bodies[k].mesh, what, sizeof what);
        say("body %s: %s", c->bodies[k].name, what);
    }
}

/* Steps in one sweep over memory, if there are several or the case wants them. */
static void say_sweep(const struct narrator *n)
{
    const struct solver *const s = &n->grid->level->solver;
    const char *const why = !s->backend->type->sweep        ? "on a GPU"
                            : n->grid->levels > 1           ? "refined grid"
                            : s->listed                     ? "interpolated surfaces"
                            : s->domain->view.place != NULL ? "sparse memory"
                                                            : "too few planes in a block";
    if (s->sweep > 1)
        say("steps in one sweep over memory: %d", s->sweep);
    else if (n->c->run.sweep > 1)
        say("steps in one sweep over memory: 1, not %d (%s)", n->c->run.sweep, why);
}

/* The scalars of a level: "; temperature: tau 0.9, u/D 0.2". */
static void level_scalars_text(const struct flow_case *c, int level, char *text, size_t size)
{
    size_t length = 0;
    char tau[32];
    *text = '\0';
    for (int k = 0; k < c->scalar_count && length < size; k++)
        length += (size_t)snprintf(
            text + length, size - length, "; %s: tau %s, u/D %.3g", c->scalars[k].name,
            case_tau_text(tau, 4 * ldexp(c->scalars[k].diffusivity, level) + 0.5, 6),
            ldexp(scalar_peclet(c, k), -level));
}

/* A line for each level of a refined grid. bytes: of the rank that needs most. */
static void say_levels(const struct narrator *n, double bytes)
{
    const struct grid *const g = n->grid;
    const double updates = grid_updates(g, false);
    int64_t fluid = 0;
    for (int l = 0; l < g->levels; l++)
        fluid += g->level[l].domain.fluid_cells;
    say("ranks: %d; %d levels, %lld fluid cells, %.4g updates a step; %.4g GB a rank",
        g->level->domain.ranks, g->levels, (long long)fluid, updates, 1e-9 * bytes);
    for (int l = 0; l < g->levels; l++) {
        const struct domain *const d = &g->level[l].domain;
        const double cells = (double)grid_cells(g, l);
        char tau[32], sparse[96] = "", imbalance[64] = "", scalars[CASE_SCALARS * (CASE_NAME + 48)];
        if (d->view.place)
            snprintf(sparse, sizeof sparse, "; populations of %.1f %% of its box",
                     100 * d->kept_share);
        if (d->ranks > 1)
            snprintf(imbalance, sizeof imbalance, ", load imbalance %.1f %%",
                     100 * (d->imbalance - 1));
        level_scalars_text(n->c, l, scalars, sizeof scalars);
        say("level %d: %.0f cells, %lld fluid, %.1f %% of the updates; tau %s, u/nu %.3g%s; blocks "
            "%d x %d x %d%s%s",
            l, cells, (long long)d->fluid_cells, 100 * ldexp(cells, l) / updates,
            case_tau_text(tau, case_tau(g->level[l].c), 6), case_cell_reynolds(n->c, l), scalars,
            d->cuts[0], d->cuts[1], d->cuts[2], imbalance, sparse);
    }
}

static void say_transport(const struct narrator *n)
{
    const struct exchanges *const halo = &n->grid->level->solver.halo;
    char how[PEERS_TEXT], before[PEERS_TEXT] = "";
    if (exchange_any(halo)) {
        peers_describe(&halo->peers, n->transport, how);
        say("halos: %s", how);
    }
    for (const struct seam *s = n->grid->seam; s < n->grid->seam + n->grid->seams; s++)
        if (s->messages > 0) {
            peers_describe(&s->exchange.peers, n->transport, how);
            if (!*before)
                say("messages between levels: %s", how);
            else if (strcmp(how, before) != 0)
                say("messages between levels %d and %d: %s", s->coarse->domain->level,
                    s->fine->domain->level, how);
            memcpy(before, how, sizeof before);
        }
}

void narrate_start(const struct narrator *n, const char *from)
{
    const struct domain *const d = &n->grid->level->domain;
    char date[64];
    const time_t t = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", gmtime(&t));
    say("tagflow %s (%s), %s", TAGFLOW_VERSION, TAGFLOW_COMMIT, date);
    say_hosts(n);
    if (*n->backend_reason)
        say("backend %s: no GPU is used (%s)", n->grid->level->backend->type->name,
            n->backend_reason);
    if (n->grid->level->backend->remark)
        say("%s", n->grid->level->backend->remark);
    if (from)
        say("goes on from %s, step %lld", from, (long long)n->grid->level->solver.step);
    case_say_derived(n->c);
    double bytes[2] = {grid_bytes(n->grid), n->grid->level->backend->loaded};
    MPI_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_MAX, n->grid->level->domain.comm);
    if (n->grid->levels > 1)
        say_levels(n, bytes[0]);
    else
        say("ranks: %d = %d x %d x %d; %lld fluid cells; %.4g GB a rank", d->ranks, d->cuts[0],
            d->cuts[1], d->cuts[2], (long long)d->fluid_cells, 1e-9 * bytes[0]);
    if (bytes[1] > 0)
        say("GPU memory besides, for kernels and the stacks of their threads: %.4g GB a rank",
            1e-9 * bytes[1]);
    if (d->ranks > 1 && n->grid->levels == 1)
        say("load imbalance: the rank with most fluid cells has %.1f %% more than the mean",
            100 * (d->imbalance - 1));
    if (d->view.place && n->grid->levels == 1) {
        double saved = ((double)d->all_stride - (double)d->view.set[SET_flow].stride) * Q *
                       (double)precision_bytes(n->grid->level->backend->storage);
        MPI_Allreduce(MPI_IN_PLACE, &saved, 1, MPI_DOUBLE, MPI_SUM, d->comm);
        say("sparse: fluid cells need %.1f %% of the populations of all cells, %.4g GB less in all",
            100 * d->kept_share, 1e-9 * saved);
    }
    say_bodies(n);
    if (d->filled_cells)
        say("isolated pores: %lld cells of them are made solid", (long long)d->filled_cells);
    if (*n->grid->level->backend->rows)
        say("rows: %s", n->grid->level->backend->rows);
    say_transport(n);
    if (n->progress.messages.all > 0)
        say("messages: %.4g MB a step through MPI, %.4g MB of them between hosts",
            1e-6 * n->progress.messages.all, 1e-6 * n->progress.messages.between_hosts);
    say_sweep(n);
    survey_say(n->survey, d, n->c);
    for (int l = 1; l < n->grid->levels; l++)
        survey_say_finer(&n->survey[l], &n->grid->level[l].domain, n->grid->level[l].c);
    advice_case(n->c);
    if (n->grid->level->backend->type->host_memory)
        threads_say(n->threads, n->c->run.threads);
}

/* ---- messages during the run ---- */

static const char *duration_text(char *text, size_t size, double seconds)
{
    const long long s = seconds < 1e9 ? (long long)(seconds + 0.5) : 0;
    if (!(seconds < 1e9))
        snprintf(text, size, "-");
    else if (s < 100)
        snprintf(text, size, "%lld s", s);
    else if (s < 6000)
        snprintf(text, size, "%lldm%02llds", s / 60, s % 60);
    else
        snprintf(text, size, "%lldh%02lldm", s / 3600, s / 60 % 60);
    return text;
}

/* Lattice updates a second: in MLUPS below 1000 of them, else in GLUPS. */
static const char *rate_text(char text[static 32], double updates)
{
    if (updates < 999.95e6)
        snprintf(text, 32, "%.1f MLUPS", 1e-6 * updates);
    else
        snprintf(text, 32, "%.4f GLUPS", 1e-9 * updates);
    return text;
}

static double seconds_left(const struct narrator *n)
{
    return progress_left(&n->progress, n->c->run.steps);
}

void narrate_begin(struct narrator *n)
{
    n->progress.first = n->progress.step;
    n->progress.began = clock_seconds();
    n->said = 0;
}

void narrate_steps(struct narrator *n, int64_t steps, double seconds)
{
    struct progress *const p = &n->progress;
    n->lap_steps += steps;
    n->lap_seconds += seconds;
    n->last_steps += steps;
    n->last_seconds += seconds;
    const bool enough = n->last_seconds >= rate_seconds;
    if (enough || (!n->rated && n->last_seconds > 0))
        p->updates_now = (double)n->last_steps * grid_updates(n->grid, false) / n->last_seconds;
    if (!enough)
        return;
    n->rated = true;
    n->last_steps = 0;
    n->last_seconds = 0;
}

bool narrate_line_due(const struct narrator *n)
{
    static const double early[] = {1, 2, 5, 10, 30, 60};
    double next = n->said + n->c->log.seconds;
    for (size_t i = 0; i < sizeof early / sizeof *early; i++)
        if (early[i] > n->said && early[i] < next)
            next = early[i];
    return n->c->log.seconds > 0 && clock_seconds() - n->progress.began >= next;
}

/* The extremes of all scalars: "  temperature 290.1 to 310". */
static void scalars_text(const struct narrator *n, char *text, size_t size)
{
    size_t length = 0;
    *text = '\0';
    for (int k = 0; k < n->c->scalar_count && length < size; k++) {
        const struct scalar_values *const fluid = &n->scalar[k].fluid, *const solid =
                                                                           &n->scalar[k].solid;
        const double reference = n->c->scalars[k].reference;
        length +=
            (size_t)snprintf(text + length, size - length, "  %s %.6g to %.6g",
                             n->c->scalars[k].name, reference + fmin(fluid->least, solid->least),
                             reference + fmax(fluid->most, solid->most));
    }
}

void narrate_progress(struct narrator *n, const struct flow_sums *sums)
{
    const struct flow_case *const c = n->c;
    char left[32], rate[32], time_text[48] = "", scalars[CASE_SCALARS * (CASE_NAME + 48)];
    const double updates =
        n->lap_seconds > 0 ? (double)n->lap_steps * grid_updates(n->grid, false) / n->lap_seconds
                           : 0;
    n->said = n->progress.began > 0 ? clock_seconds() - n->progress.began : 0;
    n->lap_seconds = 0;
    n->lap_steps = 0;
    if (c->units.given)
        snprintf(time_text, sizeof time_text, "  time %.6g s",
                 (double)n->progress.step * c->units.dt);
    const double u = output_velocity_unit(c);
    const double energy = c->units.density * c->units.dx * c->units.dx * c->units.dx * u * u;
    scalars_text(n, scalars, sizeof scalars);
    say("step %lld  %.1f %%%s  %s  left %s  energy %.8g  max |u| %.6g%s",
        (long long)n->progress.step, 100.0 * (double)n->progress.step / (double)c->run.steps,
        time_text, rate_text(rate, updates), duration_text(left, sizeof left, seconds_left(n)),
        sums->kinetic_energy * energy, sums->max_velocity * u, scalars);
}

void narrate_live(struct narrator *n)
{
    const struct progress *const p = &n->progress;
    const double t = clock_seconds();
    const double passed = t - p->began;
    const double updates =
        p->updates_now > 0 || !(passed > 0)
            ? p->updates_now
            : (double)(p->step - p->first) * grid_updates(n->grid, false) / passed;
    char text[256], left[32], rate[32], speed[64] = "";
    if (!n->terminal.to || (n->live_last > 0 && t - n->live_last < live_seconds) ||
        !terminal_in_front(&n->terminal))
        return;
    n->live_last = t;
    if (n->live_speed >= 0)
        snprintf(speed, sizeof speed, "  max |u| %.4g%s",
                 n->live_speed * output_velocity_unit(n->c), n->c->units.given ? " m/s" : "");
    snprintf(text, sizeof text, "%.1f %%  %s  %s left  step %lld of %lld%s",
             100.0 * (double)p->step / (double)n->c->run.steps, rate_text(rate, updates),
             duration_text(left, sizeof left, seconds_left(n)), (long long)p->step,
             (long long)n->c->run.steps, speed);
    const int width = terminal_width(&n->terminal); /* a longer line could not be replaced */
    if ((size_t)width < sizeof text)
        text[width > 0 ? width - 1 : 0] = '\0';
    message_show(n->terminal.to, text);
}

bool narrate_live_due(const struct narrator *n)
{
    const double age = clock_seconds() - n->live_looked;
    return n->terminal.to && age > live_seconds && age > 100 * n->live_cost;
}

void narrate_live_speed(struct narrator *n, double speed, double seconds)
{
    n->live_speed = speed;
    n->live_cost = seconds;
    n->live_looked = clock_seconds();
}

/* Cells from a face within which the face may be the cause. */
enum { NEAR_FACE = 3 };

static bool is_near(const struct flow_case *c, int face, const int cell[3])
{
    const int axis = face / 2, from_low = cell[axis];
    return (face % 2 ? c->cells[axis] - 1 - from_low : from_low) < NEAR_FACE;
}

/* The open face or patch near the cell, an outlet or a velocity inlet, and its side. NULL: none. */
static const struct case_face *open_face_near(const struct flow_case *c, const int cell[3],
                                              bool outlet, const char **side)
{
    for (int f = 0; f < case_openings(c); f++) {
        const struct case_face *const face = case_opening(c, f);
        const int on = case_opening_side(c, f);
        *side = key_sides[on];
        if ((outlet ? face_holds_density(face) : face->kind == FACE_velocity) &&
            is_near(c, on, cell))
            return face;
    }
    return NULL;
}

const char *narrate_operator_remedy(const struct flow_case *c)
{
    const enum collision collision = c->solver.collision;
    const double cell = case_fastest_velocity(c) / case_thinnest(c);
    const bool pairs = collision_on_pairs(collision), others = collision_noisy_at_rest(collision);
    if (!pairs && c->solver.rates.bulk > 1.7)
        return "solver.rates.bulk 1";
    if (c->solver.subgrid != SUBGRID_none)
        return pairs || others ? "solver.collision rr" : "";
    if (pairs || others)
        return cell > 40 ? "solver.collision rr with solver.subgrid {smagorinsky: {constant: 0.1}}"
                         : "solver.collision rr";
    return "solver.subgrid {smagorinsky: {constant: 0.1}}";
}

/* Mach number of a free fall through the box by the largest buoyancy: by the differences that the
 * case gives, or by the values that were seen last. *which: the scalar; -1: none has buoyancy. */
static double buoyancy_mach(const struct narrator *n, int *which)
{
    const struct flow_case *const c = n->c;
    double height = 0, most = -1;
    *which = -1;
    for (int a = 0; a < 3; a++)
        height += fabs(c->gravity[a]) * c->cells[a];
    for (int k = 0; k < c->scalar_count && height > 0; k++) {
        const double seen = n->scalar[k].finite ? n->scalar[k].size : 0;
        const double lift = fabs(c->scalars[k].expansion) * fmax(seen, scalar_difference(c, k));
        if (c->scalars[k].expansion != 0 && lift > most) {
            most = lift;
            *which = k;
        }
    }
    return *which < 0 ? 0 : sqrt(3 * most * height);
}

/* Advice for a flow that diverges soon after its start: what would make the start softer, and is
 * not in the case. */
static void start_advice(const struct narrator *n, char *text, size_t size)
{
    const struct flow_case *const c = n->c;
    const bool moves = c->initial.flow != INITIAL_rest || c->initial.from.file;
    const char *name = NULL;
    *text = '\0';
    if (n->progress.step == 0) {
        snprintf(text, size, "smaller velocities at the start, which is too fast itself");
        return;
    }
    for (int k = case_openings(c) - 1; k >= 0; k--)
        if (case_opening(c, k)->kind == FACE_velocity &&
            case_opening(c, k)->signal.kind == SIGNAL_constant)
            name = k < 6 ? face_name(k) : c->patches[k - 6].name;
    if (name && !moves)
        snprintf(text, size, "a ramp at %s, as the flow begins at rest", name);
    else if (moves && !c->initial.relax && c->levels == 1 && !c->initial.from.file)
        snprintf(text, size, "initial.relax, as the pressure does not fit the initial velocities");
}

/* Advice after a divergence, from the case and the place where it began. The remedy that helped
 * most flows comes first: a subgrid model before another outlet, but not with `outflow`
 * (docs/physics.md, "When a flow is wrong"). */
static void divergence_advice(const struct narrator *n, double speed, int level, const int cell[3],
                              char *text, size_t size)
{
    static const int64_t early = 1000;
    static const double much_buoyancy = 0.3; /* Mach number */
    const struct flow_case *const c = n->c;
    const int64_t step = n->progress.step;
    const struct flow_case *const own = n->grid->level[level].c;
    const double viscosity = case_thinnest(own), set = case_fastest_velocity(c);
    const double tau = 3 * viscosity + 0.5;
    /* the operator is the likely cause here */
    const bool beyond =
        collision_on_pairs(c->solver.collision) && set > case_most_cell(c) * viscosity;
    const bool thin = beyond || tau < 0.51 || set > 10 * viscosity;
    const char *const method = thin ? narrate_operator_remedy(c) : "";
    const char *side;
    const int parent[3] = {cell[0] >> level, cell[1] >> level, cell[2] >> level}; /* flat: 0 */
    char outlet[160] = "", inlet[96] = "", buoyancy[CASE_NAME + 160] = "";
    size_t length = 0;
    int lifts;
    const double fall = buoyancy_mach(n, &lifts);
    if (lifts >= 0)
        snprintf(buoyancy, sizeof buoyancy,
                 "a smaller time step, or smaller scalars.%s.expansion times its differences, as "
                 "buoyancy may drive velocities of Mach %.2g",
                 c->scalars[lifts].name, fall);
    const struct case_face *const out = open_face_near(c, parent, true, &side);
    const bool outflow = out && out->kind == FACE_outflow;
    if (out)
        snprintf(outlet, sizeof outlet, "at %s %sa sponge before the outlet (regions)", side,
                 outflow ? "nonreflecting in place of outflow, or " : "");
    const struct case_face *const in = open_face_near(c, parent, false, &side);
    const bool sudden = in && in->signal.kind == SIGNAL_constant,
               uniform = in && in->profile == PROFILE_uniform;
    if (sudden || uniform)
        snprintf(inlet, sizeof inlet, "at %s %s%s%s", side, sudden ? "a ramp" : "",
                 sudden && uniform ? ", or " : "",
                 uniform ? "a profile that is 0 beside walls" : "");
    char begin[CASE_NAME + 96];
    start_advice(n, begin, sizeof begin);
    const char *const advice[] = {
        fall > much_buoyancy ? buoyancy : "",
        (set > 0 ? set : speed) > 0.17 ? "a smaller velocity or time step" : "",
        beyond ? method : "",
        outflow ? outlet : "",
        beyond ? "" : method,
        thin ? "a finer grid or a larger viscosity" : "",
        outflow ? "" : outlet,
        inlet,
        tau > 2 ? (c->units.given ? "a smaller time step, which makes tau smaller"
                                  : "a smaller viscosity, with smaller velocities")
                : "",
        c->acceleration[0] != 0 || c->acceleration[1] != 0 || c->acceleration[2] != 0
            ? "force.ramp or a smaller force"
            : "",
        fall > much_buoyancy ? "" : buoyancy,
        step <= early ? begin : "",
    };
    const size_t count = sizeof advice / sizeof *advice;
    snprintf(text, size, "try a finer grid or smaller velocities");
    for (size_t i = 0; i < count && length < size; i++)
        if (*advice[i])
            length += (size_t)snprintf(text + length, size - length, "%s%s", length ? "; " : "try ",
                                       advice[i]);
}

void narrate_place(const struct narrator *n, int level, const int cell[3], char *text, size_t size)
{
    const bool many = n->grid->levels > 1, units = n->c->units.given;
    const double dx = units ? n->c->units.dx : 1;
    double at[3];
    char of[32] = "", where[96] = "";
    for (int a = 0; a < 3; a++)
        at[a] = refined_place(&n->grid->refined, level, a, cell[a] + 0.5) * dx;
    if (many)
        snprintf(of, sizeof of, " of level %d", level);
    if (units || many)
        snprintf(where, sizeof where, " (%.4g, %.4g, %.4g %s)", at[0], at[1], at[2],
                 units ? "m" : "in cells of level 0");
    snprintf(text, size, "[%d, %d, %d]%s%s", cell[0], cell[1], cell[2], of, where);
}

enum status narrate_divergence(const struct narrator *n, const struct flow_sums *sums,
                               int64_t last_good)
{
    const double limit = n->c->check.max_velocity;
    const char *const unit = n->c->units.given ? " m/s" : "";
    const int *const cell = sums->finite ? sums->max_cell : sums->bad_cell;
    const int level = sums->finite ? sums->max_level : sums->bad_level;
    const double u = output_velocity_unit(n->c);
    char place[192], before[320] = "";
    if (sums->finite && sums->max_velocity <= limit)
        return STATUS_OK;
    narrate_place(n, n->seen_level, n->seen, place, sizeof place);
    if (!sums->finite && n->seen_speed > 0) /* the first cell that is not finite tells little */
        snprintf(before, sizeof before, ", where |u| was largest, %.3g%s, in cell %s",
                 n->seen_speed * u, unit, place);
    narrate_place(n, level, cell, place, sizeof place);
    const double speed = sums->finite ? sums->max_velocity : n->seen_speed;
    const bool seen = !sums->finite && n->seen_speed > 0;
    const int *const origin = seen ? n->seen : cell, origin_level = seen ? n->seen_level : level;
    char what[128] = "not a finite number", method[96], text[32], advice[512];
    if (sums->finite)
        snprintf(what, sizeof what, "|u| = %.3g%s (Mach %.2g) above check.max_velocity %.3g%s",
                 sums->max_velocity * u, unit, sums->max_velocity * sqrt(3.0), limit * u, unit);
    snprintf(method, sizeof method, "%s, tau %s", key_collisions[n->c->solver.collision],
             case_tau_text(text, case_tau(n->grid->level[level].c), 6));
    divergence_advice(n, speed, origin_level, origin, advice, sizeof advice);
    fail_user("the flow diverged: %s at step %lld in cell %s, after step %lld%s (%s: %s)", what,
              (long long)n->progress.step, place, (long long)last_good, before, method, advice);
    return STATUS_DIVERGED;
}

/* The largest |value|, relative to the reference, that a wall or an opening gives a scalar.
 * Infinite if it adds some all the time. */
static double given_by(const struct case_scalar_wall *w)
{
    double range[2] = {0, 0};
    scalar_wall_values(w, range);
    const double given = fmax(fabs(range[0]), fabs(range[1]));
    if (w->kind == SCALAR_WALL_flux || w->source != 0)
        return INFINITY;
    return given != 0 ? given * fmax(1, signal_peak(&w->signal)) : 0;
}

/* The same of all walls and openings, and of a source. */
static double largest_given(const struct flow_case *c, int scalar)
{
    const struct case_scalar *const s = &c->scalars[scalar];
    double most = 0;
    if (s->source != 0 || s->made_from >= 0 || scalar_has_gradient(s))
        return INFINITY;
    for (int n = 0; n < case_conditions(c); n++)
        most = fmax(most, given_by(case_condition(c, n, scalar)));
    return most;
}

/* The same of all that the case gives, its initial values included. */
static double largest_begun(const struct flow_case *c, int scalar)
{
    const struct case_scalar_initial *const i = &c->scalars[scalar].initial;
    double most = fmax(fabs(i->value), fmax(fabs(i->ends[0]), fabs(i->ends[1])));
    most += fabs(i->amplitude);
    for (int k = 0; k < i->part_count; k++)
        most = fmax(most, fabs(i->parts[k].value));
    return i->earlier ? INFINITY : fmax(most, largest_given(c, scalar));
}

/* A scalar carried by the flow does not leave the range of the values that it begins with and is
 * given, but for waves of small grids. */
static const double most_beyond = 10;

static void scalar_advice(const struct narrator *n, int scalar, char *text, size_t size)
{
    const struct case_scalar *const s = &n->c->scalars[scalar];
    const double cell = n->seen_speed / s->diffusivity;
    const char *const advice =
        cell > 10 && n->seen_speed > 0.15
            ? "a smaller velocity or time step, a larger diffusivity, or a finer grid"
        : cell > 10 && !scalar_limited(n->c, scalar)
            ? "limiter: on, a larger diffusivity or a finer grid"
        : cell > 10 ? "a larger diffusivity or a finer grid"
        : s->decay > 0.1 || s->rate > 0.1
            ? "a smaller time step: decay or reaction takes more than a tenth in one"
            : "a smaller time step, or smaller sources and fluxes";
    snprintf(text, size,
             "diffusivity %.4g and |u| up to %.4g in lattice units, %.3g in a cell: try %s",
             s->diffusivity, n->seen_speed, cell, advice);
}

enum status narrate_scalars(const struct narrator *n, int64_t last_good)
{
    for (int k = 0; k < n->c->scalar_count; k++) {
        const struct scalar_found *const found = &n->scalar[k];
        const struct case_scalar *const s = &n->c->scalars[k];
        const double given = largest_begun(n->c, k);
        char place[192], what[160] = "not a finite number", advice[320];
        if (found->finite && (given == 0 || found->size <= most_beyond * given))
            continue;
        const struct level_cell *const at = found->finite ? &found->size_at : &found->bad_at;
        narrate_place(n, at->level, at->cell, place, sizeof place);
        if (found->finite)
            snprintf(what, sizeof what,
                     "%.4g from its reference, more than %g times the largest value given (%.4g)",
                     found->size, most_beyond, given);
        scalar_advice(n, k, advice, sizeof advice);
        fail_user("scalars.%s diverged: %s at step %lld in cell %s, after step %lld (%s)", s->name,
                  what, (long long)n->progress.step, place, (long long)last_good, advice);
        return STATUS_DIVERGED;
    }
    return STATUS_OK;
}

void narrate_checkpoint(const char *name, const struct checkpoint_times *times, double bytes)
{
    say("checkpoint %s: %.4g GB written in %.3g s, verified in %.3g s", name, 1e-9 * bytes,
        times->write, times->verify);
}

void narrate_stop(const struct narrator *n, const char *why)
{
    char name[FOLDER_CHECKPOINT_NAME];
    folder_checkpoint_name(name, n->progress.step);
    say("stopped at step %lld: %s; to go on from %s, start again with --restart auto",
        (long long)n->progress.step, why, name);
}

static void say_permeability(const struct narrator *n)
{
    const struct progress *const p = &n->progress;
    const struct case_series *const series = &n->c->series[n->c->run.stop.series];
    const double area = n->c->units.cell * n->c->units.cell;
    char physical[64] = "", within[64] = "";
    if (area > 0)
        snprintf(physical, sizeof physical, " (%.6g m2, %.6g mD)", p->permeability * area,
                 p->permeability * area / (1e-3 * PERMEABILITY_DARCY));
    if (isfinite(p->remaining))
        snprintf(within, sizeof within, ", estimated relative distance from its limit %.2g",
                 p->remaining);
    say("permeability along %s: %.8g cells^2%s%s; " PERMEABILITY_FORMULA, key_axes[series->axis],
        p->permeability, physical, within);
}

/* Warns that the run ended at run.steps, not by run.stop. */
static void warn_not_met(const struct narrator *n)
{
    const struct case_stop *const stop = &n->c->run.stop;
    const double change = n->progress.stop_change;
    char found[64] = "is not known (too few steps, or it is 0 or not a number)";
    if (isfinite(change))
        snprintf(found, sizeof found, "is %.3g", change);
    warn_at(
        n->progress.step, "stop_not_met",
        "run.stop was not met: the change of %s in the last %lld steps %s, and run.stop.change is "
        "%.3g (larger run.steps, and --restart auto, to go on)",
        stop->name, (long long)stop->over, found, stop->change);
}

void narrate_done(const struct narrator *n)
{
    const char *const hash = n->progress.hashes[SET_flow];
    const double updates = grid_updates(n->grid, false);
    const double rate =
        n->progress.seconds > 0 ? (double)n->progress.steps_done / n->progress.seconds : 0;
    char text[32], speed[32];
    say("done: step %lld; %lld steps in %s, %s, %.1f GB/s; state %s", (long long)n->progress.step,
        (long long)n->progress.steps_done, duration_text(text, sizeof text, n->progress.seconds),
        rate_text(speed, rate * updates),
        1e-9 * rate * updates * backend_bytes_per_update(n->grid->level->backend), hash);
    for (int k = 0; k < n->c->scalar_count; k++)
        say("state of %s: %s", n->c->scalars[k].name, n->progress.hashes[1 + k]);
    if (n->progress.permeability != 0)
        say_permeability(n);
    if (n->c->run.stop.given && !n->progress.stop_met)
        warn_not_met(n);
    say("results in %s", n->dir);
}
