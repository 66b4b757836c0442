/* Openings: densities, outlets that meet, sound between them. */
#include <math.h>

#include "advice/advice.h"
#include "base/message.h"
#include "case/case_law.h"

/* p = rho / 3: a density far from 1 drives a flow that is far too fast. A pressure in lattice units
 * is proportional to the square of the time step. */
static void warn_density(const struct flow_case *c, const struct case_gate *gate)
{
    const double distance = fabs(gate->drho);
    if (distance > 0.05)
        warn(
            "density_held",
            "the density of %s differs by up to %.2g %% from the reference: velocities and scalars "
            "are wrong by about as much (keep it below 5 %%: half of %s leaves a quarter of the "
            "error; pressures count from that of the fluid at rest)",
            gate->name, 100 * distance,
            c->units.lattice > 0 ? "units.velocity.lattice"
            : c->units.given     ? "units.dt"
                                 : "the velocities");
}

/* A table of heights or distances of which the box holds a small part: they are in another unit. */
static void warn_far(const struct flow_case *c, const struct case_heights *h, enum profile profile,
                     const char *name, const char *of)
{
    static const double far = 20;
    const double box = profile_has(profile, PROFILE_HAS_radius)
                           ? fmax(c->cells[0], fmax(c->cells[1], c->cells[2]))
                           : c->cells[h->axis];
    if (h->points > 1 && h->at[h->points - 1] > far * box)
        warn("table_beyond",
             "%s%s: its table reaches to %.4g cells, and the box has %.4g there: the rest has no "
             "effect (is its length right?)",
             name, of, h->at[h->points - 1], box);
}

void advise_tables(const struct flow_case *c)
{
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        const struct case_gate gate = case_gate(c, k);
        warn_far(c, &what->heights, what->profile, gate.name, ", profile");
        for (int i = 0; i < c->scalar_count; i++)
            warn_far(c, &what->scalar[i].heights, what->scalar[i].profile, gate.name,
                     ", a scalar's value");
    }
}

void advise_density(const struct flow_case *c)
{
    for (int k = 0; k < case_gates(c); k++) {
        const struct case_gate gate = case_gate(c, k);
        warn_density(c, &gate);
    }
}

/* At an edge between two outflow faces sound and eddies grow: seen at cell Reynolds numbers from 20
 * on, not at 2. */
void advise_outflows(const struct flow_case *c)
{
    int axes = 0;
    for (int a = 0; a < 3; a++)
        axes += c->faces[2 * a].kind == FACE_outflow || c->faces[2 * a + 1].kind == FACE_outflow;
    if (axes > 1 && case_fastest_velocity(c) > 2 * case_thinnest(c))
        warn("outflow_edges",
             "outflow faces meet at an edge of the box: the flow there becomes wrong (take "
             "nonreflecting, or slip on the sides)");
}

/* One velocity everywhere, from the start on: nothing makes sound. */
static bool is_uniform_stream(const struct flow_case *c)
{
    if (c->initial.flow != INITIAL_uniform || c->body_count || c->patch_count)
        return false;
    for (int f = 0; f < 6; f++)
        for (int a = 0; a < 3; a++)
            if ((c->faces[f].kind == FACE_wall || c->faces[f].kind == FACE_velocity) &&
                (c->faces[f].profile != PROFILE_uniform ||
                 c->faces[f].velocity[a] != c->initial.velocity[a]))
                return false;
    return true;
}

/* Steps in which the longest sound wave along an axis decays to 1/e, between a face with given
 * velocity and one with given density. Decay rate in the fluid: k^2 (2/3 nu + zeta/2), zeta the
 * bulk viscosity (Landau, Lifshitz, Fluid Mechanics, section 79). Decay rate in the layers at walls
 * along the axis: (P / 2A) sqrt(nu k c_s / 2), P the perimeter of the cross-section, A its area
 * (Lighthill, Waves in Fluids, section 2.7). Walls of bodies are not counted. */
static double steps_of_sound(const struct flow_case *c, int axis)
{
    const double k = acos(-1) / (2.0 * c->cells[axis]), viscosity = case_thinnest(c);
    const double bulk = collision_on_pairs(c->solver.collision)
                            ? 2.0 / 3 * viscosity
                            : 2.0 / 9 * (1 / c->solver.rates.bulk - 0.5);
    double walls = 0; /* P / A */
    for (int f = 0; f < 6; f++)
        if (f / 2 != axis && c->faces[f].kind == FACE_wall)
            walls += 1.0 / c->cells[f / 2];
    return 1 / (k * k * (2.0 / 3 * viscosity + bulk / 2) +
                walls / 2 * sqrt(viscosity * k / sqrt(3.0) / 2));
}

/* Does the flow start at rest, and every inlet with a ramp of this many steps at least? */
static bool starts_smoothly(const struct flow_case *c, double steps)
{
    bool smooth = c->initial.flow == INITIAL_rest && !c->initial.from.file;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        if (what->kind == FACE_velocity)
            smooth = smooth && what->signal.kind == SIGNAL_ramp && what->signal.duration >= steps;
    }
    return smooth;
}

/* A velocity inlet and a pressure outlet reflect all sound. A flow that starts at rest with a ramp
 * over three periods of the longest wave, 4 L / c_s, makes a thirtieth of it. */
void advise_rings(const struct flow_case *c)
{
    static const double ramp = 20; /* in L */
    bool velocity = false;
    int outlet = -1;
    for (int k = 0; k < case_openings(c); k++) {
        const struct case_face *const what = case_opening(c, k);
        velocity = velocity || what->kind == FACE_velocity;
        if (what->kind == FACE_nonreflecting || what->kind == FACE_outflow)
            return;
        if (what->kind == FACE_pressure)
            outlet = case_opening_side(c, k);
    }
    for (int i = 0; i < c->zone_count; i++)
        if (c->zones[i].sponge.given)
            return;
    if (!velocity || outlet < 0 || is_uniform_stream(c) ||
        starts_smoothly(c, ramp * c->cells[outlet / 2]) ||
        (c->run.stop.every > 0 && c->run.stop.of == STOP_residual))
        return;
    const double steps = steps_of_sound(c, outlet / 2);
    if (c->run.steps >= 20 * (int64_t)c->cells[outlet / 2] && 5 * steps > (double)c->run.steps)
        warn(
            "sound_rings",
            "sound between the inlet and the pressure outlet falls by e in %.2g steps, and the "
            "run has %lld: pressure and forces ring (take nonreflecting with pressure's density, a "
            "sponge before the outlet, or a start at rest with a ramp of %.0f steps at the inlet)",
            steps, (long long)c->run.steps, ramp * c->cells[outlet / 2]);
}
