/* Openings in words for the user, and as YAML. */
#include <math.h>
#include <stdio.h>

#include "case/opening.h"

/* Where friction balances the pressure, the plane of `pressure` by links lies on the centres:
 * measured, docs/boundaries.md. */
static const char *plane_text(const struct case_face *face)
{
    return face->rule == FACE_RULE_regularised
               ? "regularised, plane on the outermost cells' centres"
           : face->kind == FACE_pressure
               ? "by links, plane half a cell beyond the cells (on their centres where friction "
                 "balances the pressure)"
               : "by links, plane half a cell beyond the cells";
}

static void signal_text(const struct case_signal *s, char *text, size_t size)
{
    *text = '\0';
    switch (s->kind) {
    case SIGNAL_constant:
        break;
    case SIGNAL_ramp:
        snprintf(text, size, ", smooth start in %g steps", s->duration);
        break;
    case SIGNAL_sine:
        snprintf(text, size, ", times %g + %g sin with a period of %g steps", s->mean, s->amplitude,
                 s->period);
        break;
    case SIGNAL_steer:
        snprintf(text, size, ", times %s, which is set from %g to %g", s->name, s->least, s->most);
        break;
    case SIGNAL_table:
        snprintf(text, size, ", times a table from step %g to step %g%s", s->times[0],
                 s->times[s->points - 1], s->repeat ? ", again and again" : "");
        break;
    }
}

static const char *profile_text(const struct case_face *face)
{
    static const char *const words[] = {
        "uniform",
        "parabola",
        "duct",
        "of a power",
        "from a file",
        "by height from a file",
        "by radius from a file",
        "by the logarithmic law",
        "by a power of the height",
    };
    return words[face->profile];
}

static void share_text(const struct case_face *face, char *text, size_t size)
{
    if (face->share > 0)
        snprintf(text, size, ", adjusted for a share of %g of the flow out", face->share);
}

void face_text(const struct case_face *face, char *text, size_t size)
{
    const double *v = face->velocity, speed = face_speed(face);
    char signal[128], along[128] = "";
    signal_text(&face->signal, signal, sizeof signal);
    switch (face->kind) {
    case FACE_periodic:
        snprintf(text, size, "periodic");
        break;
    case FACE_wall:
        snprintf(text, size, "%swall", v[0] || v[1] || v[2] ? "moving " : "");
        break;
    case FACE_slip:
        snprintf(text, size, "free slip, plane half a cell beyond the cells");
        break;
    case FACE_velocity:
        snprintf(text, size, "velocity, at most %g (Mach %.3g), profile %s, %s%s", speed,
                 speed * sqrt(3.0), profile_text(face), plane_text(face), signal);
        break;
    case FACE_pressure:
        share_text(face, signal, sizeof signal);
        if (speed > 0)
            snprintf(along, sizeof along, ", velocity along it at most %g, profile %s", speed,
                     profile_text(face));
        snprintf(text, size, "pressure, density %.10g%s, %s%s", face->density, along,
                 plane_text(face), signal);
        break;
    case FACE_outflow:
        snprintf(text, size, "convective outlet, density %.10g, reflection %.4g", face->density,
                 face->reflection);
        break;
    case FACE_nonreflecting:
        if (speed > 0)
            snprintf(along, sizeof along, ", velocity along it (%g, %g, %g)", v[0], v[1], v[2]);
        share_text(face, signal, sizeof signal);
        snprintf(text, size, "non-reflecting outlet, density %.10g, reflection %.4g%s%s",
                 face->density, face->reflection, along, signal);
        break;
    }
}

void profile_write(struct writer *w, const struct key *key, const void *from)
{
    const struct case_face *const face = from;
    const bool heights = profile_has(face->profile, PROFILE_HAS_height | PROFILE_HAS_radius);
    if (face->profile < PROFILE_power) {
        write_word(w, "profile", key_profiles[face->profile]);
        return;
    }
    write_open(w, "profile");
    record_write(w, key->path, 1u << face->profile, face);
    if (heights) {
        const char *const name = profile_heights[face->profile - PROFILE_height];
        write_open(w, name);
        record_write(w, heights_row(keys_below(key->path, name).text), 0, &face->heights);
        write_close(w);
    }
    write_close(w);
}

void opening_write(struct writer *w, const struct case_face *face)
{
    const double *const v = face->velocity;
    const bool moves = face->kind == FACE_velocity || v[0] || v[1] || v[2];
    const char *const kind = key_face_kinds[face->kind];
    write_open(w, kind);
    record_write(w, keys_below("faces.<face>", kind).text, moves ? FACE_MOVES : 0, face);
    write_close(w);
}
