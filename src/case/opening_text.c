/* What a face or a part of one is, in words for the user and as YAML. */
#include <math.h>
#include <stdio.h>

#include "case/opening.h"

static const char *plane_text(enum face_rule rule)
{
    return rule == FACE_RULE_regularised ? "regularised, plane on the outermost cells' centres"
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
    case SIGNAL_table:
        snprintf(text, size, ", times a table from step %g to step %g", s->times[0],
                 s->times[s->points - 1]);
        break;
    }
}

static const char *profile_text(const struct case_face *face)
{
    return face->profile == PROFILE_power   ? "of a power"
           : face->profile == PROFILE_table ? "from a file"
                                            : key_profiles[face->profile];
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
                 speed * sqrt(3.0), profile_text(face), plane_text(face->rule), signal);
        break;
    case FACE_pressure:
        if (speed > 0)
            snprintf(along, sizeof along, ", velocity along it at most %g, profile %s", speed,
                     profile_text(face));
        snprintf(text, size, "pressure, density %.10g%s, %s%s", face->density, along,
                 plane_text(face->rule), signal);
        break;
    case FACE_outflow:
        snprintf(text, size, "convective outlet");
        break;
    case FACE_nonreflecting:
        snprintf(text, size, "non-reflecting outlet, density %.10g, reflection %g", face->density,
                 face->reflection);
        break;
    }
}

static void write_profile(FILE *to, const struct case_face *face)
{
    fprintf(to, ", profile: ");
    if (face->profile == PROFILE_power) {
        put_number(to, "{power: ", face->power, "}");
    } else if (face->profile == PROFILE_table) {
        fprintf(to, "{file: ");
        put_text(to, face->file);
        if (face->dataset) {
            fprintf(to, ", dataset: ");
            put_text(to, face->dataset);
        }
        put_checksum(to, face->checksum);
        fputc('}', to);
    } else {
        fprintf(to, "%s", key_profiles[face->profile]);
    }
}

/* What velocity and pressure end with. */
static void write_rule(FILE *to, const struct case_face *face)
{
    fprintf(to, ", rule: %s", key_face_rules[face->rule]);
    signal_write(to, ", ", &face->signal);
    fputc('}', to);
}

static void write_velocity(FILE *to, const struct case_face *face)
{
    fprintf(to, "velocity: {value: ");
    put_vector(to, face->velocity);
    write_profile(to, face);
    write_rule(to, face);
}

static void write_pressure(FILE *to, const struct case_face *face)
{
    put_number(to, "pressure: {density: ", face->density, "");
    if (face->velocity[0] || face->velocity[1] || face->velocity[2]) {
        fprintf(to, ", velocity: ");
        put_vector(to, face->velocity);
        write_profile(to, face);
    }
    write_rule(to, face);
}

void opening_write(FILE *to, const struct case_face *face)
{
    switch (face->kind) {
    case FACE_wall:
        fprintf(to, "wall: {velocity: ");
        put_vector(to, face->velocity);
        fputc('}', to);
        break;
    case FACE_velocity:
        write_velocity(to, face);
        break;
    case FACE_pressure:
        write_pressure(to, face);
        break;
    case FACE_nonreflecting:
        put_number(to, "nonreflecting: {density: ", face->density, "");
        put_number(to, ", reflection: ", face->reflection, "}");
        break;
    case FACE_slip:
    case FACE_outflow:
    case FACE_periodic:
        fprintf(to, "%s: {}", key_face_kinds[face->kind]);
        break;
    }
}
