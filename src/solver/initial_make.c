/* A case's initial flow for the kernels; see initial_make.h. */
#include "solver/initial_make.h"

#include <stdbool.h>

#include "case/signal.h"
#include "tags/profile.h"

static void shear_profile(const struct case_initial *f, int64_t i, int64_t cells, double *profile,
                          double *slope)
{
    const double y = (double)(2 * i + 1) / (double)(2 * cells);
    const bool lower = 2 * (2 * i + 1) <= 2 * cells;
    const double t = exact_tanh(f->thickness * (lower ? y - 0.25 : 0.75 - y));
    *profile = t;
    *slope = (lower ? 1 : -1) * f->thickness / (double)cells * (1 - t * t);
}

/* Values at the cells of an axis: the struct's starts, and the table from `start` on. Returns the
 * end. */
static size_t make_axis(struct initial *in, double *table, const struct flow_case *c, int a,
                        size_t start)
{
    struct initial_axis *const t = &in->axes[a];
    const int64_t n = c->cells[a];
    size_t *const starts[] = {&t->sine, &t->cosine, &t->cosine2, &t->profile, &t->slope};
    t->k = 2 * 3.141592653589793 / (double)n;
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++, start += (size_t)n)
        *starts[k] = start;
    for (int64_t i = 0; i < n; i++) {
        table[t->sine + (size_t)i] = sin_turns(2 * i + 1, 2 * n);
        table[t->cosine + (size_t)i] = cos_turns(2 * i + 1, 2 * n);
        table[t->cosine2 + (size_t)i] = cos_turns(2 * i + 1, n);
        if (c->initial.flow == INITIAL_shear_layer)
            shear_profile(&c->initial, i, n, &table[t->profile + (size_t)i],
                          &table[t->slope + (size_t)i]);
    }
    return start;
}

size_t initial_bytes(const struct flow_case *c)
{
    size_t doubles = 5 * ((size_t)c->cells[0] + (size_t)c->cells[1] + (size_t)c->cells[2]);
    if (c->initial.flow == INITIAL_inlet) {
        int axes[2];
        face_axes(c->initial.inlet, axes);
        doubles += 3 * (size_t)c->cells[axes[0]] * (size_t)c->cells[axes[1]];
    }
    return sizeof(struct initial) + doubles * sizeof(double);
}

/* Velocities of the inlet at step 0. If its profile is fitted to the open part of the face, it
 * spans only that part. */
static enum status make_inlet(struct initial *in, double *table, const struct flow_case *c,
                              const struct domain_opening *left)
{
    const struct case_face *const face = &c->faces[c->initial.inlet];
    const struct profile_open open = {{left->lo[0], left->lo[1]}, {left->hi[0], left->hi[1]}};
    const int *const axes = in->inlet_axes;
    const size_t values = 3 * (size_t)c->cells[axes[0]] * (size_t)c->cells[axes[1]];
    const double factor = signal_at(&face->signal, 0);
    double *const velocity = table + in->inlet;
    const enum status status =
        profile_values(c, c->initial.inlet, face, left->fitted ? &open : NULL, velocity);
    for (size_t n = 0; n < values && !status; n++)
        velocity[n] *= factor;
    return status;
}

enum status initial_make(struct initial *in, const struct flow_case *c,
                         const struct domain_opening *openings)
{
    const struct case_initial *const i = &c->initial;
    double *const table = (double *)(in + 1);
    *in = (struct initial){
        .flow = (int)i->flow,
        .axis = i->axis,
        .level = i->level,
        .cells = {c->cells[0], c->cells[1], c->cells[2]},
        .amplitude = i->amplitude,
        .perturbation = i->perturbation,
        .density = i->density,
        .width = i->width,
    };
    size_t end = 0;
    while (in->walls < 2 && c->faces[2 * in->walls].kind == FACE_periodic)
        in->walls++;
    for (int a = 0; a < 3; a++) {
        in->center[a] = i->center[a];
        in->velocity[a] = i->velocity[a];
        in->force[a] = c->acceleration[a] * signal_at(&c->force_signal, 0);
        end = make_axis(in, table, c, a, end);
    }
    in->inlet = end;
    if (i->flow != INITIAL_inlet || !openings)
        return STATUS_OK;
    face_axes(i->inlet, in->inlet_axes);
    return make_inlet(in, table, c, &openings[i->inlet]);
}
