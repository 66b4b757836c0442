/* The table of keys; see keys.h. One row a key, in the order in which resolved cases have them. */
#include "case/keys.h"

#include <limits.h>
#include <math.h>

#include "case/record.h"
#include "case/sections.h"

/* Below the speed of sound, 1/sqrt(3). */
#define SUBSONIC 0.577
/* Largest length or distance of a body, in cells. */
#define FAR 1e7
/* Most bytes of a header. */
#define SKIP_MAX 1e12
/* File names hold ten digits of the step. */
#define STEPS_MAX 9999999999.0

/* clang-format off */
#define ANY          {-INFINITY, INFINITY, false, false}
#define POSITIVE     {0, INFINITY, true, false}
#define FROM(a)      {a, INFINITY, false, false}
#define BETWEEN(a,b) {a, b, false, false}
#define SPEED        {0, SUBSONIC, true, false}
#define WALL         {0, WALL_MAX, true, false}
#define MAGNITUDE(b) {0, b, false, false}
#define PRESSURE     BETWEEN(-1.0 / 6, 1.0 / 6) /* of densities from 0.5 to 1.5 */

#define X(name, ...) const char *const key_##name[] = {__VA_ARGS__ NULL};
KEY_WORDS_LIST(X)
#undef X

#define ROW(name, kind) .path = name, .type = kind
/* The members for the value and its second part; see keys.h. */
#define AT(struct_, member)     .at = offsetof(struct struct_, member), .size = sizeof((struct struct_ *)0)->member
#define BESIDE(struct_, member) .beside = offsetof(struct struct_, member)
/* An array of things with names and their number; see struct key.read. */
#define THINGS(struct_, array, count, most_, reader)                                               \
    .at = offsetof(struct struct_, array), .size = sizeof *((struct struct_ *)0)->array,           \
    .beside = offsetof(struct struct_, count), .most = most_, .read = reader

/* Rows that several places share, but for a few words. */
#define CHECKSUM_ROW(name, rule, struct_, member, kinds, what)                                          \
    {ROW(name, KEY_CHECKSUM), .level = rule,                                                           \
     AT(struct_, member), .late = true, .where = kinds, .otherwise = "none",                           \
     .example = "0123456789abcdef",                                                                     \
     .meaning = "checksum of " what ", in resolved cases: a changed file is refused"}
#define PRECISION_ROW(name, struct_)                                                                    \
    {ROW(name, KEY_CHOICE), AT(struct_, precision), .choices = key_precisions, .fallback = "fp32",      \
     .example = "fp32", .meaning = "precision of the file"}
#define LEVELS_ROW(name, struct_)                                                                       \
    {ROW(name, KEY_CHOICE), AT(struct_, levels), .choices = key_levels, .first = CASE_LEVELS_all,       \
     .fallback = "all", .example = "0",                                                                 \
     .meaning = "with `refine`: all levels as they are, or everything in cells of this level: finer "   \
                "cells are averaged, coarser ones copied"}
#define ENTRIES(things, reader)                                                                    \
    ROW("output." #things, KEY_NAMES),                                                             \
        THINGS(flow_case, things, things##_count, CASE_ENTRIES, reader), .write = entries_write
#define REGION_ROWS(name, struct_, what)                                                                \
    {ROW(name, KEY_REGION), AT(struct_, region), .choices = key_regions, .fallback = "all",             \
     .example = "{from: [0, 0, 0], to: [64, 64, 4]}",                                                   \
     .meaning = what "; in a map, those whose centres lie between two corners"},                        \
    {ROW(name ".from", KEY_POSITION), .unit = UNIT_LENGTH, .range = FROM(0), .fallback = "[0, 0, 0]",   \
     .example = "[0, 0, 0]", .meaning = "corner with the lowest coordinates; cell i spans i to i + 1"}, \
    {ROW(name ".to", KEY_POSITION), .unit = UNIT_LENGTH, .range = FROM(0),                              \
     .otherwise = "the corner of the box", .example = "[64, 64, 4]",                                    \
     .meaning = "corner with the highest coordinates"}
#define SHAPE_POINT(name, member, like, what)                                                           \
    {ROW("bodies.*.shape." name, KEY_VECTOR), AT(case_shape, member), .unit = UNIT_LENGTH,              \
     .range = MAGNITUDE(FAR), .required = true, .example = like, .meaning = what}
#define SHAPE_LENGTH(name, member, like, what)                                                          \
    {ROW("bodies.*.shape." name, KEY_NUMBER), AT(case_shape, member), .unit = UNIT_LENGTH,              \
     .range = {0, FAR, true, false}, .required = true, .example = like, .meaning = what}
#define SHAPE_AXIS(name, what)                                                                          \
    {ROW("bodies.*.shape." name, KEY_AXIS), AT(case_shape, axis), .range = ANY, .choices = key_axes,    \
     .fallback = "z", .example = "[1, 0, 1]", .meaning = what}
#define SHAPE_PARTS(name, ordered_, what)                                                               \
    {ROW("bodies.*.shape." name, KEY_NAMES), THINGS(case_shape, parts, count, INT_MAX, shape_read),      \
     .each = "bodies.*.shape", .ordered = ordered_, .late = true, .otherwise = "none",                  \
     .example = "{body: {box: {from: [8, 8, 8], to: [24, 24, 24]}}, part: {sphere: {center: [24, 24, "  \
                "24], radius: 6}}}",                                                                    \
     .meaning = what}

/* Rows of a time function of the value beside it. */
#define SIGNAL_ROWS(P, type, member)                                                                             \
    {ROW(P ".ramp", KEY_NUMBER), AT(type, member), .late = true, .write = signal_write,                 \
     .unit = UNIT_TIME, .range = POSITIVE, .otherwise = "constant in time", .example = "1000",          \
     .meaning = "smooth start: the value times s^2 (3 - 2 s), where s goes from 0 to 1 in this time"},  \
    {ROW(P ".sine", KEY_MAP), .otherwise = "constant in time",                                          \
     .example = "{period: 1000, mean: 1, amplitude: 0.5}",                                              \
     .meaning = "the value times mean + amplitude sin(2 pi (t / period + phase))"},                     \
    {ROW(P ".sine.period", KEY_NUMBER), AT(case_signal, period), .unit = UNIT_TIME, .range = FROM(2),   \
     .required = true, .example = "1000", .meaning = "period of the oscillation"},                      \
    {ROW(P ".sine.phase", KEY_NUMBER), .level = LEVEL_SAME,                                             \
     AT(case_signal, phase), .range = BETWEEN(-1, 1), .fallback = "0", .example = "0.25",               \
     .meaning = "phase at step 0 in parts of a period; 0.25 makes a cosine"},                           \
    {ROW(P ".sine.mean", KEY_NUMBER), .level = LEVEL_SAME,                                              \
     AT(case_signal, mean), .range = BETWEEN(-1000, 1000),                                              \
     .fallback = "0", .example = "1", .meaning = "mean of the factor"},                                 \
    {ROW(P ".sine.amplitude", KEY_NUMBER), .level = LEVEL_SAME,                                         \
     AT(case_signal, amplitude), .range = BETWEEN(-1000, 1000),                                         \
     .fallback = "1", .example = "0.5", .meaning = "amplitude of the factor"},                          \
    {ROW(P ".table", KEY_MAP), .otherwise = "constant in time",                                         \
     .example = "{file: pulse.csv, time: 1 ms}",                                                        \
     .meaning = "the value times a factor from a file, linear between the times of the file, constant " \
                "before and after them"},                                                               \
    {ROW(P ".table.file", KEY_TEXT), AT(case_signal, file), .late = true, .required = true,             \
     .restart = RESTART_FREE, .example = "pulse.csv",                                                   \
     .meaning = "CSV: a time and a factor in each line; the path is relative to the case file; its "    \
                "numbers may not change on a restart"},                                                 \
    {ROW(P ".table.time", KEY_NUMBER), AT(case_signal, unit), .unit = UNIT_TIME, .range = POSITIVE,     \
     .fallback = "1", .example = "1 ms", .meaning = "unit of the times in the file"},                   \
    {ROW(P ".table.repeat", KEY_CHOICE), AT(case_signal, repeat), .write = repeat_write,                \
     .choices = key_switches, .fallback = "false", .example = "true",                                   \
     .meaning = "true: the table begins again at its last time, whose factor must be the first one"},   \
    CHECKSUM_ROW(P ".table.checksum", LEVEL_SAME, case_signal, checksum, 0, "the numbers in the file"), \
    {ROW(P ".steer", KEY_MAP), .otherwise = "constant in time", .example = "{name: pump, max: 2}",      \
     .meaning = "the value times a factor that the program which runs the case sets while it runs, by " \
                "libtagflow or from Python; checkpoints hold it"},                                      \
    {ROW(P ".steer.name", KEY_TEXT), AT(case_signal, name), .required = true, .example = "pump",        \
     .meaning = "name of the factor; values with the same name have the same one"},                     \
    {ROW(P ".steer.start", KEY_NUMBER), .level = LEVEL_SAME,                                            \
     AT(case_signal, first), .range = BETWEEN(-1000, 1000),                                             \
     .fallback = "1", .example = "0.5", .meaning = "factor until it is set"},                           \
    {ROW(P ".steer.min", KEY_NUMBER), .level = LEVEL_SAME,                                              \
     AT(case_signal, least), .range = BETWEEN(-1000, 1000),                                             \
     .fallback = "0", .example = "-1", .meaning = "least factor that may be set"},                      \
    {ROW(P ".steer.max", KEY_NUMBER), .level = LEVEL_SAME,                                              \
     AT(case_signal, most), .range = BETWEEN(-1000, 1000),                                              \
     .fallback = "1", .example = "2", .meaning = "largest factor that may be set"}

#include "case/key_law.h"
#include "case/key_resist.h"
#include "case/key_scalars.h"

/* Rows of profiles by height or by the distance from a point. */
#define HEIGHTS_FILE_ROWS(P, word, like)                                                            \
    {ROW(P ".file", KEY_TEXT), AT(case_heights, file), .late = true, .required = true,                  \
     .restart = RESTART_FREE, .example = like,                                                          \
     .meaning = "CSV: a " word " and a factor in each line; the path is relative to the case file; its "  \
                "numbers may not change on a restart"},                                                 \
    {ROW(P ".length", KEY_NUMBER), AT(case_heights, unit), .unit = UNIT_LENGTH, .range = POSITIVE, .bare = BARE_ALWAYS, \
     .fallback = "1", .example = "1 m", .meaning = "unit of each " word " in the file"},                \
    CHECKSUM_ROW(P ".checksum", LEVEL_SAME, case_heights, checksum, 0, "the numbers in the file")
#define HEIGHTS_REFERENCE_ROW(P)                                                                    \
    {ROW(P ".reference", KEY_NUMBER), AT(case_heights, reference), .unit = UNIT_LENGTH, .bare = BARE_ALWAYS, \
     .range = POSITIVE, .required = true, .example = "10 m",                                            \
     .meaning = "height at which the velocity is the given one"}
#define HEIGHTS_AXIS_ROWS(P)                                                                        \
    {ROW(P ".axis", KEY_CHOICE), AT(case_heights, axis), .choices = key_axes, .required = true,         \
     .example = "z", .meaning = "the axis along which height is measured, one of the face"},            \
    {ROW(P ".from", KEY_NUMBER), AT(case_heights, from), .unit = UNIT_LENGTH, .bare = BARE_ALWAYS, \
     .range = BETWEEN(-FAR, FAR),                                                                       \
     .fallback = "0", .example = "2 m", .meaning = "position of height 0, the ground"}

#define HEIGHTS_ROWS(P)                                                                            \
    {ROW(P ".profile.height", KEY_MAP), .otherwise = "another profile",                                 \
     .example = "{file: wind.csv, axis: z, length: 1 m}",                                               \
     .meaning = "a factor by height from a file, linear between the heights of the file, constant below " \
                "and above them"},                                                                      \
    HEIGHTS_FILE_ROWS(P ".profile.height", "height", "wind.csv"),                                       \
    HEIGHTS_AXIS_ROWS(P ".profile.height"),                                                             \
    {ROW(P ".profile.radius", KEY_MAP), .otherwise = "another profile",                                 \
     .example = "{file: pipe.csv, length: 1 mm}",                                                       \
     .meaning = "a factor by the distance from the middle of the face, rectangle or disc, from a file, "  \
                "as with height"},                                                                      \
    HEIGHTS_FILE_ROWS(P ".profile.radius", "distance", "pipe.csv"),                                     \
    {ROW(P ".profile.log", KEY_MAP), .otherwise = "another profile",                                    \
     .example = "{axis: z, roughness: 0.03 m, reference: 10 m}",                                        \
     .meaning = "wind over rough ground: ln((z + roughness) / roughness) of the height z, over its "    \
                "value at the reference height; 0 below the ground"},                                   \
    {ROW(P ".profile.log.roughness", KEY_NUMBER), AT(case_heights, roughness), .unit = UNIT_LENGTH, .bare = BARE_ALWAYS, \
     .range = POSITIVE, .required = true, .example = "0.03 m",                                          \
     .meaning = "roughness length of the ground upstream"},                                             \
    HEIGHTS_REFERENCE_ROW(P ".profile.log"),                                                            \
    HEIGHTS_AXIS_ROWS(P ".profile.log"),                                                                \
    {ROW(P ".profile.shear", KEY_MAP), .otherwise = "another profile",                                  \
     .example = "{axis: z, exponent: 0.14, reference: 10 m}",                                           \
     .meaning = "wind by a power of the height z: (z / reference)^exponent; 0 below the ground"},       \
    {ROW(P ".profile.shear.exponent", KEY_NUMBER), .level = LEVEL_SAME, AT(case_heights, exponent),     \
     .range = BETWEEN(0, 2), .required = true, .example = "0.14", .meaning = "the power"},              \
    HEIGHTS_REFERENCE_ROW(P ".profile.shear"),                                                          \
    HEIGHTS_AXIS_ROWS(P ".profile.shear")

/* The same rows, where openings of faces have them with `velocity`. */
#define HEIGHTS_LIKE(P, kind, what)                                                                 \
    {ROW(P ".profile." kind, KEY_MAP), .also = "faces.<face>.velocity.profile." kind,                   \
     .otherwise = "another profile", .example = what,                                                   \
     .meaning = "as faces.<face>.velocity.profile." kind}
#define HEIGHTS_AGAIN(P)                                                                            \
    HEIGHTS_LIKE(P, "height", "{file: wind.csv, axis: z, length: 1 m}"),                                \
    HEIGHTS_LIKE(P, "radius", "{file: pipe.csv, length: 1 mm}"),                                        \
    HEIGHTS_LIKE(P, "log", "{axis: z, roughness: 0.03 m, reference: 10 m}"),                            \
    HEIGHTS_LIKE(P, "shear", "{axis: z, exponent: 0.14, reference: 10 m}")

/* Rows of the profile of a velocity over its face; HEIGHTS: of profiles by height or radius. */
#define PROFILE_ROWS(P, HEIGHTS)                                                                            \
    {ROW(P ".profile", KEY_OR_MAP), AT(case_face, profile), .late = true, .where = FACE_MOVES,          \
     .write = profile_write, .choices = key_profiles, .fallback = "uniform", .example = "{power: 7}",   \
     .meaning = "profile over the face, at most 1; 0 at edges that border on a wall or a velocity "     \
                "face; a map gives a power law, a file, or a profile by height or radius"},                                             \
    {ROW(P ".profile.power", KEY_NUMBER), .level = LEVEL_SAME,                                          \
     AT(case_face, power), .where = PROFILE(power),                                                     \
     .range = BETWEEN(1, 100), .otherwise = "another profile", .example = "7",                             \
     .meaning = "n of (distance from the edge / half the width)^(1 / n)"},                              \
    {ROW(P ".profile.file", KEY_TEXT), AT(case_face, file), .late = true, .where = PROFILE(table),      \
     .restart = RESTART_FREE, .otherwise = "another profile", .example = "profile.csv",                   \
     .meaning = "CSV or HDF5: a factor, or one for each component, for every cell of the face; its "    \
                "numbers may not change on a restart"},                                                 \
    {ROW(P ".profile.dataset", KEY_TEXT), AT(case_face, dataset), .late = true,                         \
     .where = PROFILE(table), .restart = RESTART_FREE, .otherwise = "profile", .example = "inlet/profile",      \
     .meaning = "HDF5: the dataset in the file"},                                                       \
    CHECKSUM_ROW(P ".profile.checksum", LEVEL_SAME, case_face, checksum, PROFILE(table), "the numbers in the file"), \
    HEIGHTS(P)

/* Rows of the boundary conditions of a face, or of a part of one. */
#define OUTLET_ROWS(P)                                                                             \
    {ROW(P ".density", KEY_NUMBER), AT(case_face, density), .late = true, .unit = UNIT_DENSITY,         \
     .range = BETWEEN(0.5, 1.5), .otherwise = "1, or by pressure", .example = "1",                      \
     .meaning = "density far outside"},                                                                 \
    {ROW(P ".pressure", KEY_NUMBER), .unit = UNIT_PRESSURE, .range = PRESSURE,                          \
     .otherwise = "by density", .example = "100 Pa", .meaning = "pressure far outside, instead of the " \
                                                                "density"},                             \
    {ROW(P ".reflection", KEY_NUMBER), .level = LEVEL_SHARE, .restart = RESTART_VERSION,                \
     AT(case_face, reflection), .range = BETWEEN(0, 1),                                                 \
     .otherwise = "0.1443 / L, L the cells of the box along the face's axis; 0.5774 / L if a given "    \
                  "velocity or different densities drive the flow and the face is nonreflecting or "    \
                  "several openings hold the density",                                                  \
     .example = "0.001",                                                                                \
     .meaning = "part of the density's deviation that each step removes: it falls to 1/e in 1/reflection "         \
                "steps, by default while sound crosses the box four times (0.1443 / L) or once (0.5774 / L); " \
                "0: the density is not held"}

#define SHARE_ROWS(P)                                                                              \
    {ROW(P ".share", KEY_NUMBER), .level = LEVEL_SAME, AT(case_face, share), .optional = true,          \
     .range = {0, 1, true, true}, .otherwise = "free", .example = "0.3",                                \
     .meaning = "share of the flow out of the box that leaves here: a controller changes the pressure "  \
                "until it does, from the given one on"},                                                \
    {ROW(P ".share_time", KEY_NUMBER), AT(case_face, share_time), .optional = true,                     \
     .unit = UNIT_TIME, .range = FROM(10),                                                              \
     .otherwise = "in which sound crosses the longest side of the box eight times", .example = "2000",  \
     .meaning = "with share: time in which a deviation from it falls to 1/e, where inertia holds the "  \
                "flow back; with much friction it takes longer, and this time may be short"}

#define OPENING_ROWS(P, wall, HEIGHTS)                                                                      \
    {ROW(P ".wall", KEY_MAP), .example = "{velocity: [0.1, 0, 0]}", .otherwise = wall,                  \
     .meaning = "a wall by half-way bounce-back, half a cell beyond the cells"},                        \
    {ROW(P ".wall.velocity", KEY_VECTOR), AT(case_face, velocity), .unit = UNIT_VELOCITY,               \
     .range = MAGNITUDE(SUBSONIC), .fallback = "[0, 0, 0]", .example = "[0.1, 0, 0]",                   \
     .meaning = "velocity of the wall; with a normal component fluid goes through the wall"},           \
    SCALAR_WALL_ROWS(P ".wall", SCALAR_VALUE_ROWS, case_face, "", "adiabatic"),                                       \
    {ROW(P ".slip", KEY_EMPTY), .otherwise = "none", .example = "{}",                             \
     .meaning = "free slip, a plane of symmetry half a cell beyond the cells"},                         \
    {ROW(P ".velocity", KEY_MAP), .otherwise = "none",                                            \
     .example = "{value: [0.05, 0, 0], profile: duct}", .meaning = "the velocity is given"},            \
    {ROW(P ".velocity.value", KEY_VECTOR), AT(case_face, velocity), .unit = UNIT_VELOCITY,              \
     .range = MAGNITUDE(SUBSONIC), .required = true, .example = "[0.05, 0, 0]",                         \
     .meaning = "velocity where the profile is 1; the largest must stay below Mach 0.3"},               \
    PROFILE_ROWS(P ".velocity", HEIGHTS),                                                                   \
    {ROW(P ".velocity.rule", KEY_CHOICE), AT(case_face, rule), .choices = key_face_rules,               \
     .fallback = "regularised", .example = "links",                                                     \
     .meaning = "regularised: wet nodes, the plane lies on the outermost cells' centres; links: "       \
                "moving bounce-back, half a cell beyond them"},                                         \
    SIGNAL_ROWS(P ".velocity", case_face, signal),                                                                    \
    SCALAR_OPENING_ROWS(P ".velocity", SCALAR_VALUE_ROWS, case_face, "required for each scalar",                                 \
                        "the value of the fluid that comes in; or outflow, where the velocity points "  \
                        "out of the box"),                                                         \
    {ROW(P ".pressure", KEY_VALUE), .unit = UNIT_PRESSURE, .range = PRESSURE,                           \
     .otherwise = "none", .example = "100 Pa",                                                    \
     .meaning = "prescribed pressure, relative to that of the reference density; in a map, by `value` "  \
                "or by `density`"},                                                                   \
    {ROW(P ".pressure.value", KEY_NUMBER), .unit = UNIT_PRESSURE, .range = PRESSURE,                    \
     .otherwise = "by density", .example = "100 Pa", .meaning = "the pressure; a time function "        \
                                                                "multiplies it"},                       \
    {ROW(P ".pressure.density", KEY_NUMBER), AT(case_face, density), .late = true,                      \
     .unit = UNIT_DENSITY, .range = BETWEEN(0.5, 1.5), .otherwise = "1, or by value",                   \
     .example = "1.001",                                                                                \
     .meaning = "density, 1 + 3 p / (reference density); a time function multiplies its difference "    \
                "from 1"},                                                                              \
    {ROW(P ".pressure.velocity", KEY_VECTOR), AT(case_face, velocity), .where = FACE_MOVES,             \
     .unit = UNIT_VELOCITY, .range = MAGNITUDE(SUBSONIC), .fallback = "[0, 0, 0]",                      \
     .example = "[0, 0.01, 0]",                                                                         \
     .meaning = "tangential velocity where the profile is 1, with rule regularised only (links leaves " \
                "it free); its normal component must be 0; a time function multiplies it, too"},        \
    PROFILE_ROWS(P ".pressure", HEIGHTS_AGAIN),                                                                   \
    {ROW(P ".pressure.rule", KEY_CHOICE), AT(case_face, rule), .choices = key_face_rules,               \
     .fallback = "regularised", .example = "links",                                                     \
     .meaning = "regularised: wet nodes, the plane lies on the outermost cells' centres; links: "       \
                "anti-bounce-back, half a cell beyond them"},                                           \
    SHARE_ROWS(P ".pressure"),                                                                          \
    SIGNAL_ROWS(P ".pressure", case_face, signal),                                                                    \
    SCALAR_OPENING_ROWS(P ".pressure", SCALAR_VALUE_ROWS, case_face, "outflow",                                                  \
                        "outflow: no gradient across the face; a map gives the value, where fluid "     \
                        "comes in"),                                                               \
    {ROW(P ".outflow", KEY_MAP), .restart = RESTART_VERSION,                                            \
     .otherwise = "none", .example = "{density: 1}", .meaning = "a convective outlet"},                 \
    OUTLET_ROWS(P ".outflow"),                                                                     \
    {ROW(P ".nonreflecting", KEY_MAP), .otherwise = "none", .example = "{density: 1}",            \
     .meaning = "a characteristic outlet: sound leaves"},                                               \
    OUTLET_ROWS(P ".nonreflecting"),                                                               \
    SHARE_ROWS(P ".nonreflecting"),                                                                \
    {ROW(P ".nonreflecting.velocity", KEY_VECTOR), .restart = RESTART_VERSION, AT(case_face, velocity), \
     BESIDE(case_face, velocity_given), .unit = UNIT_VELOCITY, .range = MAGNITUDE(SUBSONIC),            \
     .otherwise = "initial.velocity without its component across the face", .example = "[0.05, 0, 0]",                 \
     .meaning = "tangential velocity of the stream outside; its normal component must be 0"}

const struct key key_table[] = {
    {ROW("units", KEY_MAP), .otherwise = "lattice units only",
     .example = "{dx: 5 mm, dt: 1 ms, density: 1 kg/m3}",
     .meaning = "lengths and times of the lattice in physical units; needed for numbers with a unit"},
    {ROW("units.dx", KEY_PHYSICAL), AT(flow_case, units.cell), .unit = UNIT_LENGTH, .range = POSITIVE,
     .required = true, .example = "5 mm", .meaning = "edge of a cell"},
    {ROW("units.dt", KEY_PHYSICAL), AT(flow_case, units.dt), .where = UNITS_OF_TIME, .late = true,
     .unit = UNIT_TIME, .range = POSITIVE,
     .otherwise = "this or units.velocity; without both only lengths have units", .example = "1 ms",
     .meaning = "time of a step"},
    {ROW("units.velocity", KEY_MAP), .level = LEVEL_ABSENT, .otherwise = "this or units.dt",
     .example = "{physical: 0.2 m/s, lattice: 0.04}",
     .meaning = "the same velocity in both units, which gives the time of a step"},
    {ROW("units.velocity.physical", KEY_PHYSICAL), .unit = UNIT_VELOCITY, .range = POSITIVE,
     .required = true, .example = "0.2 m/s", .meaning = "the velocity in physical units"},
    {ROW("units.velocity.lattice", KEY_NUMBER), .range = SPEED, .required = true, .example = "0.04",
     .meaning = "the same velocity in cells per step"},
    {ROW("units.density", KEY_PHYSICAL), AT(flow_case, units.density), .where = UNITS_OF_TIME,
     .late = true, .unit = UNIT_DENSITY, .range = POSITIVE, .fallback = "1 kg/m3",
     .example = "1000 kg/m3", .meaning = "the reference density"},
    {ROW("units.heat_capacity", KEY_PHYSICAL), AT(flow_case, units.heat_capacity),
     .where = UNITS_OF_TIME, .late = true, .optional = true, .unit = UNIT_HEAT_CAPACITY,
     .range = POSITIVE, .otherwise = "required with units of energy", .example = "4180 J/kg/K",
     .meaning = "heat capacity of the fluid; needs units.density"},

    {ROW("domain", KEY_MAP), .required = true, .example = "{cells: [128, 128, 4]}",
     .meaning = "the box"},
    {ROW("domain.cells", KEY_INTEGERS), .level = LEVEL_CELLS,
     AT(flow_case, cells), .range = BETWEEN(1, 2147483647),
     .otherwise = "this or domain.size", .example = "[128, 128, 4]",
     .meaning = "cells along x, y and z"},
    {ROW("domain.size", KEY_SIZE), .unit = UNIT_LENGTH, .range = POSITIVE,
     .otherwise = "this or domain.cells", .example = "[2.5 m, 0.41 m, 0.41 m]",
     .meaning = "lengths along x, y and z, whole multiples of units.dx"},

    {ROW("fluid", KEY_MAP), .same = viscosity_same, .required = true, .example = "{viscosity: 0.01}",
     .meaning = "the fluid and its reference numbers"},
    {ROW("fluid.viscosity", KEY_NUMBER), .restart = RESTART_TOGETHER,
     AT(flow_case, fluid.viscosity), .where = FLUID_BY_VISCOSITY,
     .unit = UNIT_VISCOSITY, .range = POSITIVE, .otherwise = "this or fluid.reynolds",
     .example = "0.01", .meaning = "kinematic viscosity"},
    {ROW("fluid.reynolds", KEY_NUMBER), .level = LEVEL_SAME, .restart = RESTART_TOGETHER,
     AT(flow_case, fluid.reynolds), .late = true, .where = FLUID_BY_REYNOLDS,
     .write = reynolds_write, .range = POSITIVE, .otherwise = "this or fluid.viscosity",
     .example = "1000", .meaning = "Reynolds number; needs fluid.velocity and fluid.length"},
    {ROW("fluid.velocity", KEY_NUMBER), AT(flow_case, fluid.velocity), .optional = true,
     .unit = UNIT_VELOCITY, .range = SPEED, .restart = RESTART_FREE,
     .otherwise = "none; required with fluid.reynolds", .example = "0.1",
     .meaning = "reference velocity of the Reynolds and Mach numbers; the viscosity that follows from "
                "it may not change on a restart"},
    {ROW("fluid.length", KEY_NUMBER), AT(flow_case, fluid.length), .optional = true,
     .unit = UNIT_LENGTH, .range = POSITIVE, .restart = RESTART_FREE,
     .otherwise = "none; required with fluid.reynolds", .example = "128",
     .meaning = "reference length of the Reynolds number; the viscosity that follows from it may not "
                "change on a restart"},
    LAW_ROWS,

    {ROW("solver", KEY_MAP), .otherwise = "defaults", .example = "{collision: trt}",
     .meaning = "the numerical method"},
    {ROW("solver.collision", KEY_CHOICE), .restart = RESTART_VERSION,
     AT(flow_case, solver.collision), .late = true,
     .choices = key_collision_choices, .fallback = "auto", .example = "trt",
     .meaning = "collision operator; auto takes trt if the cell Reynolds number (largest given "
                "velocity / viscosity) is at most 10 (8 with open faces or moving walls, 4 with both or "
                "with refine), else rr; with a subgrid model always rr; the same on all levels of refine; "
                "with solver.magic trt; with open faces it takes solver.subgrid, too, above 100, 40 behind boxes and 55 behind bodies across the box, unless that is given"},
    {ROW("solver.magic", KEY_NUMBER), .level = LEVEL_SAME, /* docs/lab/refinement.md, "What to do" */
     .restart = RESTART_VERSION, AT(flow_case, solver.magic), .where = FREE_magic,
     .range = POSITIVE, .fallback = "0.1875", .example = "0.1875",
     .meaning = "TRT's (tau+ - 1/2)(tau- - 1/2); 3/16 puts walls half-way between cells"},
    {ROW("solver.rates", KEY_MAP), .level = LEVEL_SAME, .restart = RESTART_VERSION,
     .within = true, .where = FREE_rates, .otherwise = "1 each",
     .example = "{bulk: 1, third: 1, fourth: 1}",
     .meaning = "rates of the moment operators that do not follow from the viscosity; rr and "
                "gauss_hermite have bulk only"},
    {ROW("solver.rates.bulk", KEY_NUMBER), AT(flow_case, solver.rates.bulk), .where = FREE_rates,
     .range = {0, 2, true, true}, .fallback = "1", .example = "1",
     .meaning = "rate of the trace of the second moments; the bulk viscosity is (2/9)(1/rate - 1/2)"},
    {ROW("solver.rates.third", KEY_NUMBER), AT(flow_case, solver.rates.third), .where = FREE_third,
     .range = {0, 2, true, true}, .fallback = "1", .example = "1",
     .meaning = "rate of the third moments; 1 is the most stable"},
    {ROW("solver.rates.fourth", KEY_NUMBER), AT(flow_case, solver.rates.fourth), .where = FREE_fourth,
     .range = {0, 2, true, true}, .fallback = "1", .example = "1",
     .meaning = "rate of the fourth moments; 1 is the most stable"},
    {ROW("solver.subgrid", KEY_OR_MAP), .restart = RESTART_VERSION,
     AT(flow_case, solver.subgrid), .late = true, .write = subgrid_write,
     .choices = key_nones, .otherwise = "none, or by collision auto", .example = "{smagorinsky: {constant: 0.1}}",
     .meaning = "model of turbulence smaller than a cell"},
    {ROW("solver.subgrid.smagorinsky", KEY_MAP), .within = true, .required = true, .example = "{constant: 0.1}",
     .meaning = "eddy viscosity (constant cell)^2 sqrt(2 S:S), S the rate of strain"},
    {ROW("solver.subgrid.smagorinsky.constant", KEY_NUMBER), .level = LEVEL_SAME, /* in cells of the level */
     AT(flow_case, solver.smagorinsky),
     .range = {0, 1, true, false}, .fallback = "0.1", .example = "0.1",
     .meaning = "Smagorinsky's constant: 0.1 for flow along walls, 0.17 for isotropic turbulence"},
    {ROW("solver.subgrid.smagorinsky.van_driest", KEY_NUMBER), AT(flow_case, solver.van_driest),
     .optional = true, .unit = UNIT_VELOCITY, .range = SPEED, .otherwise = "not damped",
     .example = "0.005",
     .meaning = "friction velocity u at the wall faces; damps the eddy viscosity by (1 - exp(-y u/(26 "
                "viscosity)))^2, y the distance from the wall"},
    {ROW("solver.storage", KEY_CHOICE), AT(flow_case, solver.storage), .late = true,
     .write = precision_write, .choices = key_storages, .otherwise = "as solver.arithmetic, or fp32",
     .example = "fp32",
     .meaning = "precision in which populations are stored; fp16: half the memory of fp32, each "
                "rounded to 2^-11 of its deviation from rest"},
    {ROW("solver.arithmetic", KEY_CHOICE), AT(flow_case, solver.arithmetic), .late = true,
     .choices = key_precisions, .otherwise = "as solver.storage; fp32 with fp16", .example = "fp32",
     .meaning = "precision of the arithmetic: that of solver.storage, fp32 with storage fp16, or fp64 "
                "with storage fp32"},

    {ROW("initial", KEY_MAP), .otherwise = "rest", .example = "{flow: rest}",
     .meaning = "the flow at step 0"},
    {ROW("initial.flow", KEY_CHOICE), AT(case_initial, flow), .late = true, .where = INITIAL_HAS_flow,
     .choices = key_flows, .fallback = "rest", .example = "rest",
     .meaning = "initial flow; inlet: the velocity of the inlet face, everywhere"},
    {ROW("initial.from", KEY_TEXT), .level = LEVEL_ABSENT,
     AT(case_initial, from.file), .late = true,
     .where = INITIAL_HAS_from, .restart = RESTART_FREE, .otherwise = "a flow by a formula",
     .example = "coarse/checkpoints/step_0000020000.h5",
     .meaning = "an earlier result instead: a checkpoint, or a snapshot with velocity and density or "
                "pressure, of a box of the same shape; scalars in it, too, unless they have an initial; "
                "the path is relative to the case file; the values in it may not change on a restart"},
    CHECKSUM_ROW("initial.checksum", LEVEL_ABSENT, case_initial, from.checksum, INITIAL_HAS_from, "that file"),
    {ROW("initial.velocity", KEY_VECTOR), AT(case_initial, velocity), .where = INITIAL_HAS_velocity,
     .unit = UNIT_VELOCITY, .range = MAGNITUDE(SUBSONIC),
     .otherwise = "required with uniform, else at rest", .example = "[0.05, 0, 0]",
     .meaning = "velocity of the uniform flow, or of the flow that carries a vortex, pulse or wave"},
    {ROW("initial.amplitude", KEY_NUMBER), AT(case_initial, amplitude), .where = INITIAL_HAS_amplitude,
     .unit = UNIT_VELOCITY, .range = SPEED, .otherwise = "fluid.velocity", .example = "0.05",
     .meaning = "velocity of the vortices or of the layer; channel: velocity in the middle"},
    {ROW("initial.axis", KEY_CHOICE), AT(case_initial, axis), .where = INITIAL_HAS_axis,
     .choices = key_axes, .fallback = "z", .example = "z",
     .meaning = "taylor_green_2d, shear_layer, vortex: the axis along which nothing varies; wave: the "
                "axis along which it travels"},
    {ROW("initial.thickness", KEY_NUMBER), .level = LEVEL_SAME,
     AT(case_initial, thickness), .where = INITIAL_HAS_thickness,
     .range = POSITIVE, .fallback = "80", .example = "80",
     .meaning = "shear_layer: k of tanh(k (y/L - 1/4)); larger is thinner"},
    {ROW("initial.perturbation", KEY_NUMBER), .level = LEVEL_SAME, AT(case_initial, perturbation),
     .where = INITIAL_HAS_perturbation, .range = BETWEEN(0, 1), .fallback = "0.05", .example = "0.05",
     .meaning = "shear_layer, channel: velocity of the perturbation over the amplitude"},
    {ROW("initial.density", KEY_NUMBER), .level = LEVEL_SAME,
     AT(case_initial, density), .where = INITIAL_HAS_density,
     .range = BETWEEN(-0.5, 0.5), .fallback = "0.001", .example = "0.001",
     .meaning = "pulse, wave: largest relative deviation of the density"},
    {ROW("initial.center", KEY_POSITION), AT(case_initial, center), .where = INITIAL_HAS_center,
     .unit = UNIT_LENGTH, .range = FROM(0), .otherwise = "that of the box", .example = "[32, 16, 16]",
     .meaning = "centre of the vortex, pulse or wave; cell i spans [i, i + 1]"},
    {ROW("initial.width", KEY_NUMBER), AT(case_initial, width), .where = INITIAL_HAS_width,
     .unit = UNIT_LENGTH, .range = POSITIVE, .otherwise = "required with vortex, pulse and wave",
     .example = "8", .meaning = "b in exp(-r^2 / b^2): half the width of the vortex, pulse or wave"},
    {ROW("initial.pressure", KEY_CHOICE), AT(case_initial, level), .choices = key_pressures,
     .fallback = "exact", .example = "uniform",
     .meaning = "exact: the pressure of the flow's formula or of the earlier result (uniform where "
                "there is none); uniform: the same everywhere"},
    {ROW("initial.relax", KEY_INTEGER), .refine = "its iterations make mass at edges of levels: remove it",
     AT(case_initial, relax), .range = BETWEEN(0, 10000000), .fallback = "0", .example = "2000",
     .meaning = "iterations before the first step that hold the velocity and let the pressure settle"},

    SCALAR_ROWS,

    {ROW("faces", KEY_MAP), .required = true, .example = "{x: periodic, y: wall, z: periodic}",
     .meaning = "the six faces: xmin xmax ymin ymax zmin zmax; x, y and z name both of a pair"},
    {ROW("faces.<face>", KEY_FACE), .choices = key_face_kinds, .otherwise = "required for all six",
     .example = "wall", .meaning = "kind of the face; a map also gives its values"},
    OPENING_ROWS("faces.<face>", "a wall at rest", HEIGHTS_ROWS),

    {ROW("patches", KEY_NAMES), .ordered = true,
     THINGS(flow_case, patches, patch_count, CASE_PATCHES, patch_read), .otherwise = "none",
     .example = "{inlet: {face: xmin, disc: {center: [8, 8], radius: 4}, velocity: {value: [0.05, 0, "
                "0]}}}",
     .meaning = "parts of faces with another boundary condition, each under a name that you choose; if "
                "parts overlap, the later one counts"},
    {ROW("patches.*", KEY_MAP), .otherwise = "none",
     .example = "{face: xmin, disc: {center: [8, 8], radius: 4}, outflow: {}}",
     .meaning = "one part: its face, its shape and its kind; a cell belongs to it if its centre does"},
    {ROW("patches.*.face", KEY_CHOICE), AT(case_patch, face), .choices = key_sides, .required = true,
     .example = "xmin", .meaning = "the face, which must not be periodic"},
    {ROW("patches.*.rectangle", KEY_MAP), .otherwise = "this, disc or mask",
     .example = "{from: [4, 4], to: [12, 12]}", .meaning = "a rectangle"},
    {ROW("patches.*.rectangle.from", KEY_POINT), AT(case_patch, from), .unit = UNIT_LENGTH,
     .range = FROM(0), .required = true, .example = "[4, 4]",
     .meaning = "corner with the lowest coordinates, along the face's two axes in the order x, y, z; "
                "cell i spans i to i + 1"},
    {ROW("patches.*.rectangle.to", KEY_POINT), AT(case_patch, to), .unit = UNIT_LENGTH,
     .range = FROM(0), .required = true, .example = "[12, 12]",
     .meaning = "corner with the highest coordinates"},
    {ROW("patches.*.disc", KEY_MAP), .otherwise = "this, rectangle or mask",
     .example = "{center: [8, 8], radius: 4}", .meaning = "a disc"},
    {ROW("patches.*.disc.center", KEY_POINT), AT(case_patch, center), .unit = UNIT_LENGTH,
     .range = FROM(0), .required = true, .example = "[8, 8]",
     .meaning = "its centre, along the face's two axes in the order x, y, z"},
    {ROW("patches.*.disc.radius", KEY_NUMBER), AT(case_patch, radius), .unit = UNIT_LENGTH,
     .range = POSITIVE, .required = true, .example = "4", .meaning = "its radius"},
    {ROW("patches.*.mask", KEY_MAP), .otherwise = "this, rectangle or disc",
     .example = "{file: inlet.png}", .meaning = "any shape, from a picture"},
    {ROW("patches.*.mask.file", KEY_TEXT), AT(case_patch, file), .late = true, .required = true,
     .restart = RESTART_FREE, .example = "inlet.png",
     .meaning = "grey PNG with a pixel for each cell of the face, the first axis to the right, the "
                "second one up, white inside; what it shows may not change on a restart"},
    CHECKSUM_ROW("patches.*.mask.checksum", LEVEL_SAME, case_patch, checksum, 0, "the mask"),
    OPENING_ROWS("patches.*", "none", HEIGHTS_AGAIN),

    {ROW("force", KEY_MAP), .otherwise = "none", .example = "{acceleration: [1e-6, 0, 0]}",
     .meaning = "body force"},
    {ROW("force.acceleration", KEY_VECTOR), AT(flow_case, acceleration), .where = FORCE_UNIFORM,
     .unit = UNIT_ACCELERATION, .range = MAGNITUDE(0.1), .fallback = "[0, 0, 0]",
     .example = "[1e-6, 0, 0]", .meaning = "acceleration of the fluid, the same everywhere"},
    {ROW("force.gravity", KEY_VECTOR), AT(flow_case, gravity), .write = gravity_write,
     .unit = UNIT_ACCELERATION, .range = MAGNITUDE(1000), .otherwise = "none",
     .example = "[0, -9.81 m/s2, 0]",
     .meaning = "gravity for buoyancy alone: scalars with an expansion make the acceleration -expansion "
                "(value - reference) gravity"},
    SIGNAL_ROWS("force", flow_case, force_signal),
    ROTATION_ROW,
    {ROW("force.flow_rate", KEY_MAP), .within = true, BESIDE(flow_case, flow_rate.given),
     .otherwise = "none", .example = "{velocity: 0.05, axis: x}",
     .meaning = "a controller in place of an acceleration: it holds a mean velocity along a periodic "
                "axis"},
    {ROW("force.flow_rate.velocity", KEY_NUMBER), AT(flow_case, flow_rate.velocity),
     .unit = UNIT_VELOCITY, .range = BETWEEN(-0.173, 0.173), /* Mach 0.3 */
     .required = true, .example = "0.05",
     .meaning = "the mean velocity of all fluid cells along the axis"},
    {ROW("force.flow_rate.axis", KEY_CHOICE), AT(flow_case, flow_rate.axis), .choices = key_axes,
     .fallback = "x", .example = "x", .meaning = "the axis of the flow"},
    {ROW("force.flow_rate.every", KEY_INTERVAL), AT(flow_case, flow_rate.every), .unit = UNIT_TIME,
     .range = BETWEEN(1, STEPS_MAX), .fallback = "10", .example = "10",
     .meaning = "interval between measurements, after each of which the acceleration is set anew"},
    {ROW("force.flow_rate.time", KEY_NUMBER), AT(flow_case, flow_rate.time), .unit = UNIT_TIME,
     .range = FROM(1), .fallback = "1000", .example = "1000",
     .meaning = "time in which a deviation from the wanted velocity falls to 1/e"},

    {ROW("regions", KEY_NAMES), .ordered = true,
     THINGS(flow_case, zones, zone_count, CASE_ZONES, region_read), .otherwise = "none",
     .example = "{outlet: {box: {from: [96, 0, 0], to: [128, 32, 32]}, viscosity: 0.1}}",
     .meaning = "parts of the box with another operator, viscosity, sponge or resistance, each under a name you "
                "choose; if they overlap, the later one counts"},
    {ROW("regions.*", KEY_MAP), .otherwise = "none",
     .example = "{box: {from: [96, 0, 0], to: [128, 32, 32]}, collision: bgk}",
     .meaning = "one region; other values are those of the rest of the box"},
    {ROW("regions.*.box", KEY_REGION), AT(case_zone, cells), .choices = key_regions, .required = true,
     .example = "{from: [96, 0, 0], to: [128, 32, 32]}",
     .meaning = "its cells, all or those whose centres lie between two corners"},
    {ROW("regions.*.box.from", KEY_POSITION), .unit = UNIT_LENGTH, .range = FROM(0),
     .fallback = "[0, 0, 0]", .example = "[96, 0, 0]",
     .meaning = "corner with the lowest coordinates; cell i spans i to i + 1"},
    {ROW("regions.*.box.to", KEY_POSITION), .unit = UNIT_LENGTH, .range = FROM(0),
     .otherwise = "the corner of the box", .example = "[128, 32, 32]",
     .meaning = "corner with the highest coordinates"},
    {ROW("regions.*.collision", KEY_CHOICE), .restart = RESTART_VERSION,
     AT(case_zone, collision), .late = true,
     .choices = key_collision_choices, .otherwise = "solver.collision", .example = "bgk",
     .meaning = "collision operator"},
    {ROW("regions.*.magic", KEY_NUMBER), .level = LEVEL_SAME, .restart = RESTART_VERSION,
     AT(case_zone, magic), .where = FREE_magic, .range = POSITIVE,
     .otherwise = "solver.magic", .example = "0.25", .meaning = "TRT's magic parameter"},
    {ROW("regions.*.viscosity", KEY_NUMBER), AT(case_zone, viscosity), .unit = UNIT_VISCOSITY,
     .range = POSITIVE, .otherwise = "that of the fluid", .example = "0.1",
     .meaning = "kinematic viscosity"},
    {ROW("regions.*.sponge", KEY_MAP), .within = true, BESIDE(case_zone, sponge.given),
     .otherwise = "none", .example = "{towards: xmax, strength: 0.1}",
     .meaning = "draws the flow towards a given state, most strongly at one side"},
    {ROW("regions.*.sponge.towards", KEY_CHOICE), AT(case_zone, sponge.face), .choices = key_sides,
     .required = true, .example = "xmax", .meaning = "the side of the region at which it is strongest"},
    {ROW("regions.*.sponge.strength", KEY_NUMBER), .level = LEVEL_SHARE, .bare = BARE_NEVER,
     AT(case_zone, sponge.strength), .unit = UNIT_RATE,
     .range = {0, 1, true, false}, .required = true, .example = "0.1",
     .meaning = "part of the difference that each step removes at that side"},
    {ROW("regions.*.sponge.power", KEY_NUMBER), .level = LEVEL_SAME,
     AT(case_zone, sponge.power), .range = BETWEEN(1, 8),
     .fallback = "2", .example = "3", .meaning = "power of the depth with which the strength grows"},
    {ROW("regions.*.sponge.density", KEY_NUMBER), AT(case_zone, sponge.density), .unit = UNIT_DENSITY,
     .range = BETWEEN(0.5, 2), .otherwise = "1", .example = "1.01", .meaning = "density of that state"},
    {ROW("regions.*.sponge.velocity", KEY_VECTOR), AT(case_zone, sponge.velocity),
     .unit = UNIT_VELOCITY, .range = MAGNITUDE(SUBSONIC), .fallback = "[0, 0, 0]",
     .example = "[0.05, 0, 0]", .meaning = "velocity of that state"},
    RESIST_ROWS,

    {ROW("bodies", KEY_NAMES), .bare = BARE_BODY, .ordered = true,
     THINGS(flow_case, bodies, body_count, CASE_BODIES, body_read), .otherwise = "none",
     .example = "{ball: {shape: {sphere: {center: [32, 16, 16], radius: 6}}}}",
     .meaning = "solids in the flow, each under a name you choose; if they overlap, the later one "
                "counts"},
    {ROW("bodies.*", KEY_MAP), .otherwise = "none",
     .example = "{shape: {sphere: {center: [32, 16, 16], radius: 6}}}",
     .meaning = "one body; a cell is solid when its centre is in it; beyond a periodic face it goes "
                "on at the other end"},
    {ROW("bodies.*.shape", KEY_MAP), .otherwise = "this, mesh or image",
     .example = "{sphere: {center: [32, 16, 16], radius: 6}}",
     .meaning = "a body by formulas: one of the shapes below, placed by scale, rotate, about and move"},
    {ROW("bodies.*.shape.box", KEY_MAP), .otherwise = "none",
     .example = "{from: [8, 8, 8], to: [16, 16, 16]}", .meaning = "a box along the axes"},
    SHAPE_POINT("box.from", from, "[8, 8, 8]",
                "corner with the lowest coordinates; cell i spans i to i + 1"),
    SHAPE_POINT("box.to", to, "[16, 16, 16]", "corner with the highest coordinates"),
    {ROW("bodies.*.shape.sphere", KEY_MAP), .otherwise = "none",
     .example = "{center: [32, 16, 16], radius: 6}", .meaning = "a sphere"},
    SHAPE_POINT("sphere.center", center, "[32, 16, 16]", "its centre; cell i spans i to i + 1"),
    SHAPE_LENGTH("sphere.radius", radius, "6", "its radius"),
    {ROW("bodies.*.shape.ellipsoid", KEY_MAP), .otherwise = "none",
     .example = "{center: [32, 16, 16], radii: [8, 4, 4]}", .meaning = "an ellipsoid"},
    SHAPE_POINT("ellipsoid.center", center, "[32, 16, 16]", "its centre"),
    SHAPE_POINT("ellipsoid.radii", radii, "[8, 4, 4]", "semi-axes along x, y and z"),
    {ROW("bodies.*.shape.cylinder", KEY_MAP), .otherwise = "none",
     .example = "{center: [32, 16, 16], axis: z, radius: 6}", .meaning = "a cylinder"},
    SHAPE_POINT("cylinder.center", center, "[32, 16, 16]", "its centre; without length a point on its axis"),
    SHAPE_AXIS("cylinder.axis", "direction of its axis"),
    SHAPE_LENGTH("cylinder.radius", radius, "6", "its radius"),
    {ROW("bodies.*.shape.cylinder.length", KEY_NUMBER), AT(case_shape, length), .unit = UNIT_LENGTH,
     .range = {0, FAR, true, false}, .otherwise = "without ends", .example = "20",
     .meaning = "length from end to end"},
    {ROW("bodies.*.shape.capsule", KEY_MAP), .otherwise = "none",
     .example = "{from: [16, 16, 16], to: [32, 16, 16], radius: 6}",
     .meaning = "a cylinder with half a sphere at both ends"},
    SHAPE_POINT("capsule.from", from, "[16, 16, 16]", "centre of the half sphere at one end"),
    SHAPE_POINT("capsule.to", to, "[32, 16, 16]", "centre of the half sphere at the other end"),
    SHAPE_LENGTH("capsule.radius", radius, "6", "its radius"),
    {ROW("bodies.*.shape.torus", KEY_MAP), .otherwise = "none",
     .example = "{center: [32, 16, 16], axis: z, radius: 8, tube: 3}", .meaning = "a torus"},
    SHAPE_POINT("torus.center", center, "[32, 16, 16]", "its centre"),
    SHAPE_AXIS("torus.axis", "direction of its axis"),
    SHAPE_LENGTH("torus.radius", radius, "8", "radius of the circle in the middle of the tube"),
    SHAPE_LENGTH("torus.tube", tube, "3", "radius of the tube"),
    {ROW("bodies.*.shape.half_space", KEY_MAP), .otherwise = "none",
     .example = "{point: [0, 0, 8], normal: z}", .meaning = "everything behind a plane"},
    SHAPE_POINT("half_space.point", center, "[0, 0, 8]", "a point of the plane"),
    SHAPE_AXIS("half_space.normal", "normal of the plane, out of the solid"),
    {ROW("bodies.*.shape.pack", KEY_MAP), .otherwise = "none",
     .example = "{lattice: simple, length: 32, share: 0.5}",
     .meaning = "spheres that repeat in all of space"},
    {ROW("bodies.*.shape.pack.lattice", KEY_CHOICE), AT(case_shape, pack), .choices = key_packs,
     .fallback = "simple", .example = "face_centred",
     .meaning = "where the spheres are in a cube: at the corners; in the centre, too; or in the "
                "centres of the faces, too"},
    SHAPE_LENGTH("pack.length", length, "32",
                "edge of the cube; along periodic axes the box should hold a whole number of cubes"),
    {ROW("bodies.*.shape.pack.center", KEY_VECTOR), AT(case_shape, center), .unit = UNIT_LENGTH,
     .range = MAGNITUDE(FAR), .fallback = "[0, 0, 0]", .example = "[16, 16, 16]",
     .meaning = "centre of one of the spheres"},
    {ROW("bodies.*.shape.pack.radius", KEY_NUMBER), AT(case_shape, radius), .late = true,
     .unit = UNIT_LENGTH, .range = {0, FAR, true, false}, .otherwise = "this or share", .example = "12",
     .meaning = "radius of the spheres, which may overlap"},
    {ROW("bodies.*.shape.pack.share", KEY_NUMBER), .level = LEVEL_SAME, .range = {0, 1, true, true},
     .otherwise = "this or radius", .example = "0.5",
     .meaning = "share of space in the spheres; the radius follows"},
    SHAPE_PARTS("union", false, "named parts, each a shape or again a combination of shapes: the cells in any of them"),
    SHAPE_PARTS("difference", true, "named parts, as in union: the cells in the first and in none of the others"),
    SHAPE_PARTS("intersection", false, "named parts, as in union: the cells in all of them"),
    SHAPE_PARTS("complement", false, "named parts, as in union: the cells in none of them"),
    {ROW("bodies.*.shape.scale", KEY_NUMBER), .level = LEVEL_SAME,
     AT(case_shape, scale), .where = SHAPE_TURNS,
     .range = {0, FAR, true, false}, .fallback = "1", .example = "2",
     .meaning = "factor of all lengths, from the point about"},
    {ROW("bodies.*.shape.rotate", KEY_VECTOR), .level = LEVEL_SAME,
     AT(case_shape, rotate), .where = SHAPE_TURNS,
     .range = MAGNITUDE(3600), .fallback = "[0, 0, 0]", .example = "[0, 0, 30]",
     .meaning = "rotation after the scaling: angles in degrees about x, then y, then z, by the "
                "right-hand rule"},
    {ROW("bodies.*.shape.about", KEY_VECTOR), AT(case_shape, about), .late = true, .where = SHAPE_TURNS,
     .unit = UNIT_LENGTH, .range = MAGNITUDE(FAR),
     .otherwise = "its centre, or that of the box around it", .example = "[32, 16, 16]",
     .meaning = "fixed point of scale and rotate"},
    {ROW("bodies.*.shape.move", KEY_VECTOR), AT(case_shape, move), .where = SHAPE_MOVES,
     .unit = UNIT_LENGTH, .range = MAGNITUDE(FAR), .fallback = "[0, 0, 0]", .example = "[0, 0, 4]",
     .meaning = "translation after the rotation"},
    {ROW("bodies.*.mesh", KEY_MAP), .otherwise = "this, shape or image",
     .example = "{file: body.stl, size: 32, center: [32, 16, 16]}",
     .meaning = "a body by a closed surface of triangles"},
    {ROW("bodies.*.mesh.file", KEY_TEXT), AT(case_mesh, file), .late = true, .required = true,
     .restart = RESTART_FREE, .example = "body.stl",
     .meaning = "STL, binary or ASCII; the path is relative to the case file; its triangles may not "
                "change on a restart"},
    CHECKSUM_ROW("bodies.*.mesh.checksum", LEVEL_SAME, case_mesh, checksum, 0, "the triangles in the file"),
    {ROW("bodies.*.mesh.scale", KEY_NUMBER), .bare = BARE_NEVER,
     AT(case_mesh, scale), .late = true, .unit = UNIT_LENGTH,
     .range = {0, FAR, true, false}, .otherwise = "1, or by size", .example = "16",
     .meaning = "the length 1 of the file"},
    {ROW("bodies.*.mesh.size", KEY_NUMBER), .unit = UNIT_LENGTH, .range = {0, FAR, true, false},
     .otherwise = "by scale", .example = "32",
     .meaning = "longest edge of the box around the rotated mesh"},
    {ROW("bodies.*.mesh.rotate", KEY_VECTOR), .level = LEVEL_SAME,
     AT(case_mesh, rotate), .range = MAGNITUDE(3600), .fallback = "[0, 0, 0]", .example = "[0, 0, 30]",
     .meaning = "angles in degrees about x, then y, then z, by the right-hand rule"},
    {ROW("bodies.*.mesh.center", KEY_VECTOR), AT(case_mesh, center), .late = true, .unit = UNIT_LENGTH,
     .range = MAGNITUDE(FAR), .otherwise = "this or min, or where the file has it",
     .example = "[32, 16, 16]",
     .meaning = "centre of the box around the rotated mesh"},
    {ROW("bodies.*.mesh.min", KEY_VECTOR), .unit = UNIT_LENGTH, .range = MAGNITUDE(FAR),
     .otherwise = "this or center, or where the file has it", .example = "[8, 4, 4]",
     .meaning = "lowest corner of that box"},
    {ROW("bodies.*.mesh.fluid", KEY_CHOICE), AT(case_mesh, fluid), .choices = key_mesh_fluids,
     .fallback = "outside", .example = "inside",
     .meaning = "the side of the surface on which the fluid is; inside: all else is solid, as around a "
                "vessel or in a pipe"},
    {ROW("bodies.*.mesh.open", KEY_CHOICE), AT(case_mesh, open), .where = MESH_OPEN,
     .choices = key_opens, .fallback = "refuse", .example = "accept",
     .meaning = "a mesh that is not closed; accept: a cell is inside if more than three of the six "
                "directions along the axes say so"},
    {ROW("bodies.*.image", KEY_MAP), .level = LEVEL_SAME,
     .otherwise = "this, shape or mesh",
     .example = "{file: rock.raw, size: [64, 64, 64], solid: [1], at: [8, 0, 0]}",
     .meaning = "a body by a file of voxels, one for each cell: raw with `size`, HDF5 with `dataset`, "
                "else a TIFF stack or .npy"},
    {ROW("bodies.*.image.file", KEY_TEXT), AT(voxel_image, file), .late = true, .required = true,
     .restart = RESTART_FREE, .example = "rock.raw",
     .meaning = "the file, the path is relative to the case file; its labels may not change on a "
                "restart"},
    {ROW("bodies.*.image.size", KEY_INTEGERS), AT(voxel_image, size), .where = VOXELS(raw),
     .range = BETWEEN(1, VOXEL_AXIS), .restart = RESTART_FREE, .otherwise = "the file's",
     .example = "[64, 64, 64]",
     .meaning = "raw: voxels along x, y and z; x is the fastest in the file, z the slowest"},
    {ROW("bodies.*.image.type", KEY_CHOICE), AT(voxel_image, type), .where = VOXELS(raw),
     .choices = key_voxel_types, .restart = RESTART_FREE,
     .otherwise = "uint8; with other files than raw ones theirs", .example = "int16",
     .meaning = "raw: type of a label"},
    {ROW("bodies.*.image.order", KEY_CHOICE), AT(voxel_image, big_endian), .where = VOXELS(raw),
     .choices = key_byte_orders, .restart = RESTART_FREE, .otherwise = "little", .example = "big",
     .meaning = "raw: which byte of a label of several comes first"},
    {ROW("bodies.*.image.skip", KEY_INTEGER), AT(voxel_image, skip), .where = VOXELS(raw),
     .range = BETWEEN(0, SKIP_MAX), .restart = RESTART_FREE, .otherwise = "0", .example = "512",
     .meaning = "raw: bytes before the first voxel"},
    {ROW("bodies.*.image.dataset", KEY_TEXT), AT(voxel_image, dataset), .where = VOXELS(hdf5),
     .restart = RESTART_FREE, .otherwise = "none", .example = "scan/labels",
     .meaning = "HDF5: the dataset, of three axes z, y, x"},
    {ROW("bodies.*.image.solid", KEY_LABELS), AT(voxel_image, solid), BESIDE(voxel_image, solid_count),
     .range = BETWEEN(-32768, 65535), .required = true, .example = "[1, 2]",
     .meaning = "labels of the voxels that are solid; each must occur"},
    {ROW("bodies.*.image.crop", KEY_MAP), .within = true, .otherwise = "all of it",
     .example = "{from: [0, 0, 8], to: [64, 64, 56]}", .meaning = "the part of the image that is taken"},
    {ROW("bodies.*.image.crop.from", KEY_INTEGERS), AT(voxel_image, from), .late = true,
     .range = BETWEEN(0, VOXEL_AXIS), .otherwise = "[0, 0, 0]", .example = "[0, 0, 8]",
     .meaning = "its first voxel"},
    {ROW("bodies.*.image.crop.to", KEY_INTEGERS), AT(voxel_image, to), .late = true,
     .range = BETWEEN(1, VOXEL_AXIS), .otherwise = "the image's size", .example = "[64, 64, 56]",
     .meaning = "the voxel after its last one"},
    {ROW("bodies.*.image.flip", KEY_CHOICES), AT(voxel_image, flip), .choices = key_axes,
     .otherwise = "none", .example = "[y]", .meaning = "axes along which the part is reversed"},
    {ROW("bodies.*.image.at", KEY_INTEGERS), AT(voxel_image, at), .range = BETWEEN(0, FAR),
     .otherwise = "[0, 0, 0]", .example = "[8, 0, 0]",
     .meaning = "cell of the part's first voxel; cells around the image are as without it"},
    {ROW("bodies.*.image.isolated", KEY_CHOICE), .refine = "pores are joined on one level alone: isolated: keep", AT(voxel_image, fill), .choices = key_isolated,
     .fallback = "keep", .example = "fill",
     .meaning = "fluid in the image that is joined neither to an open face nor to itself through "
                "periodic faces: left as it is, or made solid"},
    CHECKSUM_ROW("bodies.*.image.checksum", LEVEL_SAME, voxel_image, checksum, 0, "the labels that are taken"),
    {ROW("bodies.*.wall", KEY_CHOICE), AT(case_body, wall), .choices = key_body_walls,
     .fallback = "halfway", .example = "interpolated",
     .meaning = "halfway: between the centres of fluid and solid cells, a staircase that loses no "
                "mass; interpolated: where the surface is, second order"},
    {ROW("bodies.*.velocity", KEY_VECTOR), AT(case_body, velocity), .unit = UNIT_VELOCITY,
     .range = MAGNITUDE(SUBSONIC), .fallback = "[0, 0, 0]", .example = "[0.05, 0, 0]",
     .meaning = "velocity of its surface, like that of a belt; the body stays where it is"},
    {ROW("bodies.*.rotation", KEY_MAP), .within = true, BESIDE(case_body, turns), .otherwise = "none",
     .example = "{rate: [0, 0, 0.001], about: [32, 16, 16]}",
     .meaning = "its surface rotates like a roller; the cells of the body stay the same"},
    {ROW("bodies.*.rotation.rate", KEY_VECTOR), AT(case_body, spin), .unit = UNIT_ROTATION,
     .range = MAGNITUDE(1), .required = true, .example = "[0, 0, 0.001]",
     .meaning = "angular velocity; the surface must stay below Mach 0.3"},
    {ROW("bodies.*.rotation.about", KEY_VECTOR), AT(case_body, pivot), BESIDE(case_body, pivot_given),
     .unit = UNIT_LENGTH, .range = MAGNITUDE(FAR), .otherwise = "the middle of the body",
     .example = "[32, 16, 16]", .meaning = "a point on its axis"},
    {ROW("bodies.*.caps", KEY_NAMES), THINGS(case_body, caps, cap_count, CASE_CAPS, cap_read),
     .late = true, .write = caps_write, .otherwise = "none",
     .example = "{inlet: {center: [2, 16, 16], velocity: {mean: 0.02}}, outlet: {center: [60, 16, 16], "
                "pressure: 0}}",
     .meaning = "mesh with fluid: inside: flat parts of its surface through which fluid enters and "
                "leaves, each under a name that you choose"},
    {ROW("bodies.*.caps.*", KEY_MAP), .otherwise = "none",
     .example = "{center: [2, 16, 16], velocity: {mean: 0.02}}",
     .meaning = "one cap: where it is, and what holds there"},
    {ROW("bodies.*.caps.*.center", KEY_VECTOR), AT(case_cap, at.center), .unit = UNIT_LENGTH,
     .range = MAGNITUDE(FAR), .required = true, .example = "[2, 16, 16]",
     .meaning = "a point near it: the cap is the flat part of the surface around the nearest point of "
                "the surface"},
    {ROW("bodies.*.caps.*.radius", KEY_NUMBER), AT(case_cap, at.radius), .optional = true,
     .unit = UNIT_LENGTH, .range = POSITIVE, .otherwise = "all of the flat part", .example = "6",
     .meaning = "the cap is a disc about the center, in a flat part that is larger"},
    {ROW("bodies.*.caps.*.velocity", KEY_MAP), .otherwise = "this or pressure",
     .example = "{mean: 0.02}",
     .meaning = "the flow rate into the fluid, along the cap's normal; negative: out of it"},
    {ROW("bodies.*.caps.*.velocity.mean", KEY_NUMBER), .unit = UNIT_VELOCITY, .range = BETWEEN(-SUBSONIC, SUBSONIC), .otherwise = "this or flow_rate",
     .example = "0.02", .meaning = "mean velocity over the cap; in a tube the largest is twice as high"},
    {ROW("bodies.*.caps.*.velocity.flow_rate", KEY_NUMBER), AT(case_cap, flow_rate), .late = true,
     .unit = UNIT_FLOW_RATE, .range = BETWEEN(-FAR, FAR), .otherwise = "this or mean", .example = "4.5",
     .meaning = "volume in a time"},
    {ROW("bodies.*.caps.*.velocity.profile", KEY_CHOICE), AT(case_cap, profile),
     .choices = key_cap_profiles, .fallback = "parabola", .example = "flat",
     .meaning = "parabola: by the distance from the cap's outline, as in a developed flow; flat: the "
                "same everywhere"},
    SIGNAL_ROWS("bodies.*.caps.*.velocity", case_cap, signal),
    SCALAR_OPENING_ROWS("bodies.*.caps.*.velocity", SCALAR_VALUE_ROW, case_cap, "required for each scalar",
                        "the value of the fluid that comes in; where fluid goes out, `outflow`: zero gradient"),
    {ROW("bodies.*.caps.*.pressure", KEY_VALUE), .unit = UNIT_PRESSURE, .range = PRESSURE,
     .otherwise = "this or velocity", .example = "100 Pa",
     .meaning = "prescribed pressure, relative to that of the reference density; in a map, by `value` "
                "or by `density`"},
    {ROW("bodies.*.caps.*.pressure.value", KEY_NUMBER), .unit = UNIT_PRESSURE, .range = PRESSURE,
     .otherwise = "by density", .example = "100 Pa",
     .meaning = "the pressure; a time function multiplies it"},
    {ROW("bodies.*.caps.*.pressure.density", KEY_NUMBER), AT(case_cap, density), .late = true,
     .unit = UNIT_DENSITY, .range = BETWEEN(0.5, 1.5), .otherwise = "1, or by value",
     .example = "1.001",
     .meaning = "density, 1 + 3 p / (reference density); a time function multiplies its difference "
                "from 1"},
    SIGNAL_ROWS("bodies.*.caps.*.pressure", case_cap, signal),
    SCALAR_OPENING_ROWS("bodies.*.caps.*.pressure", SCALAR_VALUE_ROW, case_cap, "outflow",
                        "outflow: zero gradient; or a map with the value of the fluid that comes in"),
    SCALAR_WALL_ROWS("bodies.*", SCALAR_VALUE_ROW, case_body, ", conduct", "adiabatic"),
    SCALAR_BODY_ROWS("bodies.*"),
    {ROW("bodies.*.labels", KEY_NAMES),
     THINGS(case_body, labels, label_count, VOXEL_SOLID, label_read),
     .late = true, .write = labels_write, .otherwise = "none",
     .example = "{2: {scalars: {temperature: {value: 310 K}}}}",
     .meaning = "image: conditions of scalars at single labels of `solid`, by their numbers"},
    {ROW("bodies.*.labels.*", KEY_MAP), .otherwise = "none",
     .example = "{scalars: {temperature: {value: 310 K}}}", .meaning = "one label"},
    SCALAR_WALL_ROWS("bodies.*.labels.*", SCALAR_VALUE_ROW, case_label, ", conduct", "that of the body"),
    SCALAR_BODY_ROWS("bodies.*.labels.*"),

    {ROW("refine", KEY_NAMES), .level = LEVEL_ABSENT,
     THINGS(flow_case, refines, refine_count, CASE_REFINES, refine_read), .otherwise = "none",
     .example = "{wake: {level: 1, box: {from: [60, 40, 0], to: [260, 120, 80]}}}",
     .meaning = "regions with finer cells, each under a name you choose; a cell gets the finest level "
                "of the regions that hold its centre; all other lengths and steps of the case are "
                "those of level 0, the cells of domain.cells"},
    {ROW("refine.*", KEY_MAP), .otherwise = "none",
     .example = "{level: 3, around: car, distance: 0.08 m, behind: 0.3 m}",
     .meaning = "one region: a box, a shape, or what is around a body"},
    {ROW("refine.*.level", KEY_INTEGER), AT(case_refine, level), .late = true, .range = BETWEEN(1, 8),
     .otherwise = "required; with around this, cells_across or y_plus", .example = "2",
     .meaning = "its cells are 2^level times finer, and its steps 2^level times shorter"},
    {ROW("refine.*.cells_across", KEY_NUMBER), AT(case_refine, cells_across), .late = true,
     .where = REFINE(around), .optional = true, .restart = RESTART_FREE, .range = {0, 1e9, true, false},
     .otherwise = "this, level or y_plus", .example = "60",
     .meaning = "around: the smallest level with at least so many cells across the body: across the "
                "smaller extent of the box around it along the two axes that the stream is not along; "
                "an extent from one end of the box to the other does not count"},
    {ROW("refine.*.y_plus", KEY_NUMBER), AT(case_refine, y_plus), .late = true,
     .where = REFINE(around), .optional = true, .restart = RESTART_FREE, .range = {0, 1e9, true, false},
     .otherwise = "this, level or cells_across", .example = "100",
     .meaning = "around: the smallest level at which the first cell's centre, half a cell from the "
                "wall, is at most so many viscous lengths from it, by the friction of a turbulent "
                "boundary layer on a flat plate: c_f = 0.027 / Re^(1/7), Re by fluid.velocity (or "
                "the largest velocity that the case sets) and fluid.length (or the body's length "
                "along the stream)"},
    {ROW("refine.*.box", KEY_MAP), .within = true, .where = REFINE(box),
     .otherwise = "this, shape or around", .example = "{from: [60, 40, 0], to: [260, 120, 80]}",
     .meaning = "a box along the axes"},
    {ROW("refine.*.box.from", KEY_POSITION), AT(case_refine, from), .unit = UNIT_LENGTH,
     .range = FROM(0), .fallback = "[0, 0, 0]", .example = "[60, 40, 0]",
     .meaning = "corner with the lowest coordinates; cell i spans i to i + 1"},
    {ROW("refine.*.box.to", KEY_POSITION), AT(case_refine, to), .unit = UNIT_LENGTH, .range = FROM(0),
     .otherwise = "the corner of the box", .example = "[260, 120, 80]",
     .meaning = "corner with the highest coordinates"},
    {ROW("refine.*.shape", KEY_MAP), .also = "bodies.*.shape", .otherwise = "this, box or around",
     .example = "{capsule: {from: [90, 60, 12], to: [90, 100, 12], radius: 5}}",
     .meaning = "a shape, with the keys of bodies.*.shape"},
    {ROW("refine.*.around", KEY_BODY), AT(case_refine, body), .where = REFINE(around),
     .otherwise = "this, box or shape", .example = "car",
     .meaning = "a body and its neighbourhood; its name in bodies"},
    {ROW("refine.*.distance", KEY_NUMBER), AT(case_refine, distance), .where = REFINE(around),
     .unit = UNIT_LENGTH, .range = {0, FAR, true, false}, .otherwise = "4 cells of its level",
     .example = "0.5", .meaning = "around: how far the region reaches from the body, on all sides"},
    {ROW("refine.*.behind", KEY_NUMBER), AT(case_refine, behind), .late = true,
     .where = REFINE(around), .unit = UNIT_LENGTH, .range = {0, FAR, true, false},
     .otherwise = "refine.*.distance", .example = "20",
     .meaning = "around: how far it reaches from the body downstream"},
    {ROW("refine.*.before", KEY_NUMBER), AT(case_refine, before), .late = true,
     .where = REFINE(around), .unit = UNIT_LENGTH, .range = {0, FAR, true, false},
     .otherwise = "refine.*.distance", .example = "2",
     .meaning = "around: how far it reaches from the body upstream"},
    {ROW("refine.*.stream", KEY_AXIS), AT(case_refine, stream), .late = true, .range = ANY,
     .where = REFINE(around), .choices = key_axes,
     .otherwise = "that of initial.velocity, else of a velocity face or patch through which fluid "
                  "comes in, else x",
     .example = "x", .meaning = "around: direction of the stream"},

    {ROW("run", KEY_MAP), .required = true, .restart = RESTART_FREE, .example = "{steps: 1000}",
     .meaning = "length of the run, and resources"},
    {ROW("run.steps", KEY_INTEGER), .level = LEVEL_STEPS,
     AT(flow_case, run.steps), .range = BETWEEN(1, STEPS_MAX),
     .otherwise = "this or run.duration", .example = "1000", .meaning = "steps from the beginning"},
    {ROW("run.duration", KEY_NUMBER), .bare = BARE_ALWAYS,
     .unit = UNIT_TIME, .range = POSITIVE,
     .otherwise = "this or run.steps", .example = "30 s",
     .meaning = "time from the beginning, rounded to whole steps"},
    {ROW("run.ranks", KEY_RANKS), .level = LEVEL_SAME,
     AT(flow_case, run.ranks), .range = BETWEEN(1, 2147483647),
     .fallback = "auto", .example = "[2, 2, 1]", .meaning = "numbers of ranks along x, y and z"},
    {ROW("run.threads", KEY_COUNT), .level = LEVEL_SAME,
     AT(flow_case, run.threads), .range = BETWEEN(1, 1024), .fallback = "auto", .example = "4",
     .meaning = "threads of each rank; auto: OMP_NUM_THREADS, or else its share of the cores that the "
                "ranks of its host may use, fewer in a small box"},
    {ROW("run.isa", KEY_CHOICE), AT(flow_case, run.isa), .choices = key_isas, .fallback = "auto",
     .example = "generic",
     .meaning = "instruction set of the CPU kernels: v3, v4 of x86-64; neon, sve512 (SVE with 512 "
                "bits) of aarch64; generic of any processor; auto: the best of this processor; the "
                "bits are the same"},
    {ROW("run.transport", KEY_CHOICE), AT(flow_case, run.transport), .choices = key_transports,
     .fallback = "auto", .example = "host",
     .meaning = "how halos leave a GPU: into the memory of GPUs of the same host (ipc), or through MPI, "
                "which reads its memory (device) or copies on the host (host); auto: the first "
                "that is possible, for each pair of ranks"},
    {ROW("run.exchange", KEY_CHOICES), AT(flow_case, run.exchange), .choices = key_exchanges,
     .fallback = "cut", .example = "[y, z]",
     .meaning = "axes that exchange halos: always those that are cut; to measure what it costs, also "
                "these, which must be periodic, or all periodic ones"},
    {ROW("run.sparse", KEY_CHOICE), AT(flow_case, run.sparse), .choices = key_sparse,
     .fallback = "auto", .example = "never",
     .meaning = "memory for the populations of fluid cells alone; auto: if these are at most 0.65 of "
                "those of all cells, with scalars 0.2: they are slower so on the CPU"},
    {ROW("run.rows", KEY_CHOICE), .level = LEVEL_SAME, AT(flow_case, run.rows),
     .choices = key_row_orders, .fallback = "plain", .example = "lifted",
     .meaning = "order of a row's cells in the memory of a GPU; lifted: most neighbours along x are whole "
                "lines of memory apart, if a rank's cells along x allow it; a CPU ignores it; the bits "
                "are the same"},
    {ROW("run.sweep", KEY_COUNT), .level = LEVEL_SAME,
     AT(flow_case, run.sweep), .range = BETWEEN(1, SWEEP_STEPS), .fallback = "auto", .example = "1",
     .meaning = "most steps in one sweep over memory; auto: several where the CPU waits for memory; "
                "1 on a GPU, with `refine`, sparse memory and interpolated surfaces"},
    {ROW("run.time_limit", KEY_WALL), .level = LEVEL_ABSENT,
     AT(flow_case, run.time_limit), .range = WALL, .fallback = "none", .example = "11h50m",
     .meaning = "wall time of this job, its last checkpoint included; then it stops and can be "
                "continued"},
    {ROW("run.stop", KEY_OR_MAP), .level = LEVEL_ABSENT,
     AT(flow_case, run.stop), .late = true, .write = stop_write,
     .choices = key_nones, .fallback = "none", .example = "{of: residual, change: 1e-6, every: 500}",
     .meaning = "ends the run before its last step, when a number hardly changes any more"},
    {ROW("run.stop.of", KEY_WATCHED), AT(case_stop, of), .late = true, .write = watched_write,
     .choices = key_stops, .required = true, .example = "residual",
     .meaning = "the number; residual is the relative change of the velocity field"},
    {ROW("run.stop.change", KEY_NUMBER), AT(case_stop, change), .range = {0, 1, true, false},
     .required = true, .example = "1e-6",
     .meaning = "relative change below which the run is done"},
    {ROW("run.stop.every", KEY_INTERVAL), AT(case_stop, every), .where = STOP_EVERY, .unit = UNIT_TIME,
     .range = BETWEEN(1, STEPS_MAX), .otherwise = "1000; a column is checked in each of its rows",
     .example = "500", .meaning = "interval between checks"},
    {ROW("run.stop.over", KEY_INTERVAL), AT(case_stop, over), .late = true, .where = STOP_OVER,
     .unit = UNIT_TIME, .range = BETWEEN(1, STEPS_MAX),
     .otherwise = "run.stop.every; required with a column", .example = "2000",
     .meaning = "time of the change, which is the largest minus the smallest value over the last "
                "value; residual: the largest value"},

    {ROW("checkpoint", KEY_MAP), .level = LEVEL_ABSENT, .otherwise = "defaults", .restart = RESTART_FREE,
     .example = "{every: 20000, keep: 2}",
     .meaning = "what a run is continued from after its job has ended: checkpoints/"},
    {ROW("checkpoint.every", KEY_DUE), AT(flow_case, checkpoint.every),
     BESIDE(flow_case, checkpoint.seconds), .range = BETWEEN(0, STEPS_MAX), .fallback = "30 min",
     .example = "20000",
     .meaning = "interval between checkpoints; 0: only when the job is asked to stop"},
    {ROW("checkpoint.keep", KEY_INTEGER), AT(flow_case, checkpoint.keep), .range = BETWEEN(1, 1000000),
     .fallback = "2", .example = "2", .meaning = "number of newest checkpoints that are kept"},

    {ROW("check", KEY_MAP), .bare = BARE_NEVER,
     .otherwise = "defaults", .restart = RESTART_FREE, .example = "{every: 1000}",
     .meaning = "checks for a flow that diverges and for ranks that hang"},
    {ROW("check.every", KEY_INTERVAL), AT(flow_case, check.every), .unit = UNIT_TIME,
     .range = BETWEEN(0, STEPS_MAX), .fallback = "1000", .example = "1000",
     .meaning = "interval between checks of the flow; 0: never"},
    {ROW("check.max_velocity", KEY_NUMBER), AT(flow_case, check.max_velocity), .unit = UNIT_VELOCITY,
     .range = SPEED, .fallback = "0.4", .example = "0.4",
     .meaning = "velocity above which the flow counts as diverged"},
    {ROW("check.hang", KEY_WALL), .level = LEVEL_SAME,
     AT(flow_case, check.hang), .range = WALL, .fallback = "10 min",
     .example = "10 min", .meaning = "the job ends if a rank makes no progress for this time"},

    {ROW("output", KEY_OR_MAP), .level = LEVEL_ABSENT, .bare = BARE_NEVER, .choices = key_nones,
     .otherwise = "a series of the flow and pictures of its speed", .restart = RESTART_FREE, .example = "{log: {every: 1000}}",
     .meaning = "what is written and when; none or an empty map: a log only"},
    {ROW("output.log", KEY_MAP), .within = true, .otherwise = "defaults", .example = "{every: 1000}",
     .meaning = "lines in the log"},
    {ROW("output.log.every", KEY_INTERVAL), AT(flow_case, log.every), .unit = UNIT_TIME,
     .range = BETWEEN(0, STEPS_MAX), .otherwise = "a twentieth of the steps", .example = "1000",
     .meaning = "interval between lines; 0: none"},
    {ROW("output.log.wall_time", KEY_WALL), AT(flow_case, log.seconds), .late = true, .range = WALL,
     .otherwise = "10 min; with every: 0 none", .example = "30 s",
     .meaning = "a line also after so much wall time without one, and in the first minute after 1, "
                "2, 5, 10, 30 and 60 s"},
    {ENTRIES(series, series_read), .bare = BARE_UNIT,
     .otherwise = "none",
     .example = "{flow: {every: 100, of: [mass, kinetic_energy]}}",
     .meaning = "tables over time, each under a name you choose: series/<name>.csv"},
    {ROW("output.series.*", KEY_MAP), .otherwise = "none", .example = "{every: 100, of: mass}",
     .meaning = "one table"},
    {ROW("output.series.*.every", KEY_INTERVAL), AT(case_series, every), .late = true,
     .unit = UNIT_TIME, .range = BETWEEN(1, STEPS_MAX), .required = true, .example = "100",
     .meaning = "interval between rows"},
    {ROW("output.series.*.of", KEY_COLUMNS), AT(case_series, kind), .late = true,
     .write = columns_write, .choices = key_series, .alone = key_series_kinds + 1, .required = true,
     .example = "[mass, kinetic_energy]",
     .meaning = "columns of sums over the flow, or another kind of table: velocity, density and "
                "pressure at a point or along a line, the flow through a plane of cells, the relative "
                "change of the velocity field between rows, the pressure drop between two planes, "
                "the mean of a scalar over a plane weighted by the flow, the flow out of the box "
                "through an opening and its share, forces on a body, pressure and shear "
                "stress around it, a scalar's mean and extremes, its flux through a surface, its dispersion"},
    {ROW("output.series.*.scalar", KEY_SCALAR), AT(case_series, scalar),
     .where = SERIES(scalar) | SERIES(heat) | SERIES(dispersion) | SERIES(mixing_cup),
     .needed = SERIES(scalar) | SERIES(heat) | SERIES(dispersion) | SERIES(mixing_cup),
     .otherwise = "required with scalar, heat, dispersion and mixing_cup", .example = "temperature",
     .meaning = "scalar, heat, dispersion, mixing_cup: the scalar"},
    {ROW("output.series.*.face", KEY_CHOICE), AT(case_series, opening), .late = true,
     .where = SERIES(heat) | SERIES(outlet), .write = series_place_write, .choices = key_sides,
     .otherwise = "this, patch, body or cap; with outlet this, patch or cap", .example = "xmin",
     .meaning = "heat: the flux into the fluid through this face, without its patches; outlet: the "
                "flow out of the box through it, without its patches"},
    {ROW("output.series.*.patch", KEY_TEXT), .where = SERIES(heat) | SERIES(outlet),
     .otherwise = "this, face, body or cap; with outlet this, face or cap", .example = "inlet",
     .meaning = "heat: the flux into the fluid through this patch; outlet: the flow out of the box "
                "through it"},
    {ROW("output.series.*.cap", KEY_TEXT), .where = SERIES(heat) | SERIES(outlet),
     .otherwise = "this, face or patch", .example = "inlet",
     .meaning = "heat: the flux into the fluid through this cap; outlet: the flow out of the mesh through "
                "it, by the links that cross it"},
    {ROW("output.series.*.body", KEY_BODY), AT(case_series, body),
     .where = SERIES(forces) | SERIES(surface) | SERIES_HEAT_OF_BODY,
     .needed = SERIES(forces) | SERIES(surface),
     .otherwise = "required with forces and surface; with heat this, face, patch or cap",
     .example = "ball",
     .meaning = "forces, surface: the body on which they act; heat: the flux into the fluid through its "
                "surface"},
    {ROW("output.series.*.axis", KEY_CHOICE), AT(case_series, axis),
     .where = SERIES(flow_rate) | SERIES(pressure_drop) | SERIES(mixing_cup) |
              SERIES(permeability) | SERIES(surface), .choices = key_axes,
     .otherwise = "x; with permeability the axis along which the flow is driven; with surface z",
     .example = "x",
     .meaning = "flow_rate, pressure_drop, mixing_cup: axis normal to the plane; permeability: along "
                "which; surface: normal to the ring"},
    {ROW("output.series.*.at", KEY_PLANE), AT(case_series, at),
     .where = SERIES(flow_rate) | SERIES(pressure_drop) | SERIES(mixing_cup),
     .needed = SERIES(pressure_drop),
     .late = true, .unit = UNIT_LENGTH, .range = BETWEEN(0, 2147483646),
     .otherwise = "the middle cell; required with pressure_drop",
     .example = "40",
     .meaning = "flow_rate, mixing_cup: the plane, index of its cells along the axis, from 0, or a "
                "length that lies in them; pressure_drop: the first plane"},
    {ROW("output.series.*.second", KEY_PLANE), AT(case_series, second),
     .where = SERIES(pressure_drop), .needed = SERIES(pressure_drop),
     .late = true, .unit = UNIT_LENGTH, .range = BETWEEN(0, 2147483646),
     .otherwise = "required with pressure_drop", .example = "100",
     .meaning = "pressure_drop: the second plane, as `at`; the drop is the mean pressure in the first "
                "plane minus that in the second"},
    {ROW("output.series.*.from", KEY_POSITION), AT(case_series, from), .where = SERIES(line),
     .needed = SERIES(line), .unit = UNIT_LENGTH, .range = FROM(0), .otherwise = "required with line",
     .example = "[0, 8, 2.5]", .meaning = "line: the first point"},
    {ROW("output.series.*.to", KEY_POSITION), AT(case_series, to), .where = SERIES(line),
     .needed = SERIES(line), .unit = UNIT_LENGTH, .range = FROM(0), .otherwise = "required with line",
     .example = "[16, 8, 2.5]", .meaning = "line: the last point"},
    {ROW("output.series.*.points", KEY_INTEGER), AT(case_series, points),
     .where = SERIES(line) | SERIES(surface), .needed = SERIES(line) | SERIES(surface),
     .range = BETWEEN(2, 100000), .otherwise = "required with line and surface", .example = "65",
     .meaning = "line: points at equal distances, both ends among them; surface: at equal angles"},
    {ROW("output.series.*.point", KEY_POSITION), AT(case_series, from),
     BESIDE(case_series, center_given), .where = SERIES(probe) | SERIES(surface),
     .needed = SERIES(probe), .unit = UNIT_LENGTH, .range = FROM(0),
     .otherwise = "required with probe; with surface the middle of the body", .example = "[8, 8, 2.5]",
     .meaning = "probe: the point; cell i spans i to i + 1, its centre is i + 0.5; surface: the "
                "centre of the ring"},
    {ROW("output.series.*.area", KEY_NUMBER), AT(case_series, area), .where = SERIES(forces),
     .optional = true, .unit = UNIT_AREA, .range = POSITIVE, .otherwise = "no coefficients",
     .example = "113.1", .meaning = "forces: adds coefficients, force / (density velocity^2 area / 2)"},
    {ROW("output.series.*.velocity", KEY_NUMBER), AT(case_series, velocity),
     .where = SERIES_COEFFICIENTS | SERIES(surface), .optional = true, .unit = UNIT_VELOCITY,
     .range = SPEED, .otherwise = "fluid.velocity", .example = "0.05",
     .meaning = "forces, surface: the velocity of coefficients"},
    {ROW("output.series.*.density", KEY_CHOICE), AT(case_series, density_face),
     .where = SERIES_COEFFICIENTS, .first = -1, .choices = key_densities, .fallback = "reference",
     .example = "xmin",
     .meaning = "forces: the density of coefficients: the reference density, or the mean over the "
                "fluid cells beside an open face, in each row"},
    {ROW("output.series.*.length", KEY_NUMBER), AT(case_series, length),
     .where = SERIES_COEFFICIENTS | SERIES(permeability) | SERIES_NUSSELT | SERIES(dispersion),
     .optional = true,
     .unit = UNIT_LENGTH, .range = POSITIVE,
     .otherwise = "fluid.length; with permeability that of the box", .example = "12",
     .meaning = "forces: torque / (density velocity^2 area length / 2) is its coefficient; "
                "permeability: of the sample, where the box is longer; heat: of the Nusselt number; "
                "dispersion: of the Peclet number"},
    {ROW("output.series.*.difference", KEY_NUMBER), AT(case_series, difference),
     .where = SERIES(heat), .optional = true, .unit = UNIT_DIFFERENCE,
     .range = {0, SCALAR_MAX, true, false}, .otherwise = "no Nusselt number", .example = "20 K",
     .meaning = "heat: adds the Nusselt number, flux / area length / (conductivity difference)"},
    {ROW("output.series.*.about", KEY_VECTOR), AT(case_series, about), BESIDE(case_series, about_given),
     .where = SERIES(forces), .unit = UNIT_LENGTH, .range = MAGNITUDE(FAR),
     .otherwise = "what the body turns about, or its middle", .example = "[32, 16, 16]",
     .meaning = "forces: the point about which the torque is"},
    {ROW("output.series.*.statistics", KEY_OR_MAP), .within = true, BESIDE(case_series, statistics),
     .choices = key_nones, .fallback = "none", .example = "{from: 2000}",
     .meaning = "statistics of its columns in report.json: mean, extremes, rms, dominant frequency"},
    {ROW("output.series.*.statistics.from", KEY_STEP), AT(case_series, statistics_from),
     .unit = UNIT_TIME, .range = BETWEEN(0, STEPS_MAX), .required = true, .example = "2000",
     .meaning = "first step of the rows"},
    {ENTRIES(fields, field_read),
     .otherwise = "none",
     .example = "{main: {every: 20000, of: [velocity, density]}}",
     .meaning = "snapshots in three dimensions, each under a name you choose: fields/<name>_*"},
    {ROW("output.fields.*", KEY_MAP), .otherwise = "none", .example = "{every: 20000, of: velocity}",
     .meaning = "one file series"},
    {ROW("output.fields.*.every", KEY_INTERVAL), AT(case_field, every), .unit = UNIT_TIME,
     .range = BETWEEN(1, STEPS_MAX), .required = true, .example = "20000",
     .meaning = "interval between snapshots"},
    {ROW("output.fields.*.of", KEY_ARRAYS), AT(case_field, of), BESIDE(case_field, scalars),
     .choices = key_fields, .required = true, .example = "[velocity, density]",
     .meaning = "arrays"},
    REGION_ROWS("output.fields.*.region", case_field, "cells that are written"),
    {ROW("output.fields.*.stride", KEY_INTEGER), AT(case_field, stride), .range = BETWEEN(1, 2147483647),
     .fallback = "1", .example = "2",
     .meaning = "every stride-th cell along each axis, from the first cell of the region; with "
                "`refine` of the cells of one level (`levels`)"},
    LEVELS_ROW("output.fields.*.levels", case_field),
    PRECISION_ROW("output.fields.*.precision", case_field),
    {ENTRIES(averages, average_read),
     .otherwise = "none",
     .example = "{mean: {every: 10, of: [velocity, stress], from: 1000}}",
     .meaning = "means over time, each under a name you choose: fields/<name>_*"},
    {ROW("output.averages.*", KEY_MAP), .otherwise = "none", .example = "{every: 10, of: velocity}",
     .meaning = "one average; its name must not be that of an entry of output.fields"},
    {ROW("output.averages.*.every", KEY_INTERVAL), AT(case_average, every), .unit = UNIT_TIME,
     .range = BETWEEN(1, STEPS_MAX), .required = true, .example = "10",
     .meaning = "interval between samples, which are taken at its multiples"},
    {ROW("output.averages.*.of", KEY_ARRAYS), AT(case_average, of), BESIDE(case_average, scalars),
     .choices = key_averages, .required = true, .example = "[velocity, stress]",
     .meaning = "arrays; stress: the Reynolds stresses, covariances of the velocity; a scalar: its mean "
                "and variance, and with velocity the covariances of both"},
    {ROW("output.averages.*.from", KEY_STEP), AT(case_average, from), .unit = UNIT_TIME,
     .range = BETWEEN(0, STEPS_MAX), .fallback = "0", .example = "1000",
     .meaning = "no sample before this step"},
    {ROW("output.averages.*.to", KEY_STEP), AT(case_average, to), .unit = UNIT_TIME,
     .range = BETWEEN(0, STEPS_MAX), .otherwise = "the last step of the run", .example = "5000",
     .meaning = "no sample after this step"},
    REGION_ROWS("output.averages.*.region", case_average, "cells that are averaged"),
    LEVELS_ROW("output.averages.*.levels", case_average),
    PRECISION_ROW("output.averages.*.precision", case_average),
    {ENTRIES(surfaces, surface_read),
     .otherwise = "none",
     .example = "{skin: {every: 5000, body: car, of: [pressure, shear_stress]}}",
     .meaning = "stresses of the fluid on the triangles of bodies that are meshes, each under a name "
                "you choose: fields/<name>_*"},
    {ROW("output.surfaces.*", KEY_MAP), .otherwise = "none",
     .example = "{every: 5000, body: car, of: pressure}",
     .meaning = "one file series; its name must not be that of an entry of output.fields or "
                "output.averages"},
    {ROW("output.surfaces.*.every", KEY_INTERVAL), AT(case_surface, every), .unit = UNIT_TIME,
     .range = BETWEEN(1, STEPS_MAX), .required = true, .example = "5000",
     .meaning = "interval between files"},
    {ROW("output.surfaces.*.body", KEY_BODY), AT(case_surface, body), .required = true,
     .example = "car", .meaning = "the body, which must be a mesh"},
    {ROW("output.surfaces.*.of", KEY_CHOICES), AT(case_surface, of), .choices = key_surfaces,
     .required = true, .example = "[pressure, shear_stress]", .meaning = "arrays"},
    PRECISION_ROW("output.surfaces.*.precision", case_surface),
    {ENTRIES(images, image_read),
     .otherwise = "none",
     .example = "{mid: {every: 20000, of: speed}}",
     .meaning = "pictures of a plane of cells, each under a name you choose: images/<name>_*"},
    {ROW("output.images.*", KEY_MAP), .otherwise = "none", .example = "{every: 20000, of: speed}",
     .meaning = "one series of pictures"},
    {ROW("output.images.*.every", KEY_INTERVAL), AT(case_image, every), .unit = UNIT_TIME,
     .range = BETWEEN(1, STEPS_MAX), .required = true, .example = "20000",
     .meaning = "interval between pictures"},
    {ROW("output.images.*.of", KEY_SHOWN), AT(case_image, of), BESIDE(case_image, scalar),
     .choices = key_images, .required = true, .example = "speed",
     .meaning = "what is shown; vorticity is its component along the axis"},
    {ROW("output.images.*.axis", KEY_CHOICE), AT(case_image, axis), .choices = key_axes,
     .fallback = "z", .example = "z", .meaning = "axis normal to the plane"},
    {ROW("output.images.*.at", KEY_PLANE), AT(case_image, at), .late = true, .unit = UNIT_LENGTH,
     .range = BETWEEN(0, 2147483646), .otherwise = "the middle cell", .example = "2",
     .meaning = "the plane: index of its cells along the axis, from 0, or a length that lies in them"},
    {ROW("output.images.*.range", KEY_RANGE), AT(case_image, range), BESIDE(case_image, fixed_range),
     .late = true, .unit = UNIT_SHOWN, .range = ANY, .otherwise = "each picture's own",
     .example = "[0, 0.1]", .meaning = "values at the two ends of the colour map"},
    {ROW("output.images.*.unit", KEY_CHOICE), AT(case_image, unit), BESIDE(case_image, heat),
     .late = true, .choices = key_temperature_units,
     .otherwise = "degC if the case has a value of the scalar in degC, else K", .example = "degC",
     .meaning = "unit of a temperature in the picture"},
    {.path = NULL},
};
/* clang-format on */
