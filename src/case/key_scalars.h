/* Rows of the table of keys about scalars, for key_table.c alone: the section `scalars`, and their
 * walls at faces, patches and bodies. */
#ifndef TAGFLOW_KEY_SCALARS_H
#define TAGFLOW_KEY_SCALARS_H

/* clang-format off */
#define VALUES BETWEEN(-SCALAR_MAX, SCALAR_MAX)

/* A given value at a wall, an opening or a body. */
#define SCALAR_VALUE_ROW(P)                                                                             \
    {ROW(P ".scalars.*.value", KEY_NUMBER), AT(case_scalar_wall, value), .where = SCALAR_WALL(value),   \
     .unit = UNIT_TEMPERATURE, .range = VALUES, .otherwise = "not given", .example = "310 K",           \
     .meaning = "the value there; a time function multiplies its difference from the scalar's reference"}

/* The same at a face or patch, where it may vary. */
#define SCALAR_VALUE_ROWS(P)                                                                            \
    {ROW(P ".scalars.*.value", KEY_VALUE), AT(case_scalar_wall, value), .late = true,                   \
     .where = SCALAR_WALL(value), .write = scalar_value_write, .unit = UNIT_TEMPERATURE,                \
     .range = VALUES, .otherwise = "not given", .example = "310 K",                                     \
     .meaning = "the value there, or a map: values by height or radius; a time function multiplies its " \
                "difference from the scalar's reference"},                                              \
    {ROW(P ".scalars.*.value.height", KEY_MAP), .also = "faces.<face>.velocity.profile.height",         \
     .otherwise = "the same value everywhere", .example = "{file: air.csv, axis: z, length: 1 m}",      \
     .meaning = "as faces.<face>.velocity.profile.height, but the file has values in place of factors"}, \
    {ROW(P ".scalars.*.value.radius", KEY_MAP), .also = "faces.<face>.velocity.profile.radius",         \
     .otherwise = "the same value everywhere", .example = "{file: jet.csv, length: 1 mm}",              \
     .meaning = "as faces.<face>.velocity.profile.radius, but the file has values in place of factors"}, \
    {ROW(P ".scalars.*.value.unit", KEY_CHOICE), AT(case_scalar_wall, unit), .late = true,              \
     .choices = key_temperature_units, .otherwise = "K", .example = "degC",                             \
     .meaning = "heat: the unit of the values in the file"}

/* Conditions of a scalar at a wall of a face or at a body; VALUE: rows of a given value, `other`: another kind, `unnamed`: the
 * default of a scalar that is not named. */
#define SCALAR_WALL_ROWS(P, VALUE, struct_, other, unnamed)                                                    \
    {ROW(P ".scalars", KEY_NAMES), AT(struct_, scalar), .late = true, .write = scalar_walls_write,      \
     .otherwise = unnamed " for each", .example = "{temperature: {value: 310 K}}",                      \
     .meaning = "what scalars meet there, each under its name"},                                        \
    {ROW(P ".scalars.*", KEY_OR_MAP), .choices = key_scalar_walls, .otherwise = unnamed,                \
     .example = "{value: 310 K}",                                                                       \
     .meaning = "adiabatic: nothing passes; or a map with value, flux" other " or transfer, and a time " \
                "function"},                                                                            \
    VALUE(P),                                                                                           \
    {ROW(P ".scalars.*.flux", KEY_NUMBER), AT(case_scalar_wall, flux), .where = SCALAR_WALL(flux),      \
     .unit = UNIT_HEAT_FLUX, .range = VALUES, .otherwise = "not given", .example = "100 W/m2",          \
     .meaning = "the flux into the fluid; a species: its value times a velocity, m/s"},                 \
    {ROW(P ".scalars.*.transfer", KEY_MAP), .otherwise = "not given",                                   \
     .example = "{coefficient: 10 W/m2/K, outside: 290 K}",                                             \
     .meaning = "the flux into the fluid is coefficient (outside - value at the wall)"},                \
    {ROW(P ".scalars.*.transfer.coefficient", KEY_NUMBER), AT(case_scalar_wall, coefficient),           \
     .late = true, .unit = UNIT_TRANSFER, .range = {0, SCALAR_MAX, true, false},                        \
     .otherwise = "this or resistance", .example = "10 W/m2/K",                                         \
     .meaning = "the coefficient; a species: m/s"},                                                     \
    {ROW(P ".scalars.*.transfer.resistance", KEY_NUMBER), .unit = UNIT_RESISTANCE,                      \
     .range = {1 / SCALAR_MAX, INFINITY, false, false}, .otherwise = "this or coefficient",             \
     .example = "0.1 m2 K/W",                                                                           \
     .meaning = "of a thin layer between fluid and outside: 1 / coefficient; a species: s/m"},          \
    {ROW(P ".scalars.*.transfer.outside", KEY_NUMBER), AT(case_scalar_wall, outside),                   \
     .unit = UNIT_TEMPERATURE, .range = VALUES, .required = true, .example = "290 K",                   \
     .meaning = "the value outside; a time function multiplies its difference from the scalar's "       \
                "reference"},                                                                           \
    SIGNAL_ROWS(P ".scalars.*", case_scalar_wall, signal)

/* A solid that holds a scalar. */
#define SCALAR_BODY_ROWS(P)                                                                             \
    {ROW(P ".scalars.*.conduct", KEY_MAP), .otherwise = "not given",                                    \
     .example = "{conductivity: 148 W/m/K, capacity: 1.6e6 J/m3/K}",                                    \
     .meaning = "the body holds the scalar, too, and conducts it"},                                     \
    {ROW(P ".scalars.*.conduct.conductivity", KEY_NUMBER), AT(case_scalar_wall, conductivity),          \
     .unit = UNIT_CONDUCTIVITY, .range = {0, SCALAR_MAX, true, false}, .required = true,                \
     .example = "148 W/m/K",                                                                            \
     .meaning = "its conductivity; in lattice units that of the fluid is its diffusivity; a species: "  \
                "its diffusivity times capacity, m2/s"},                                                \
    {ROW(P ".scalars.*.conduct.capacity", KEY_NUMBER), AT(case_scalar_wall, capacity),                  \
     .unit = UNIT_CAPACITY, .range = BETWEEN(1e-6, 1e6), .fallback = "1",                               \
     .example = "1.6e6 J/m3/K",                                                                         \
     .meaning = "its heat capacity of a volume; without a unit relative to that of the fluid"},         \
    {ROW(P ".scalars.*.conduct.source", KEY_NUMBER), AT(case_scalar_wall, source),                      \
     .unit = UNIT_HEAT_SOURCE, .range = VALUES, .fallback = "0", .example = "1e6 W/m3",                 \
     .meaning = "its source of a volume; a species: 1/s"}

/* The value of what comes in through an opening: required with `velocity`. */
#define SCALAR_OPENING_ROWS(P, VALUE, struct_, default_, words)                                                         \
    {ROW(P ".scalars", KEY_NAMES), AT(struct_, scalar), .late = true, .write = scalar_walls_write,    \
     .otherwise = default_, .example = "{temperature: {value: 300 K}}",                                 \
     .meaning = "scalars there, each under its name"},                                                  \
    {ROW(P ".scalars.*", KEY_OR_MAP), .choices = key_scalar_openings, .otherwise = default_,            \
     .example = "{value: 300 K}", .meaning = words},                                                    \
    VALUE(P),                                                                                           \
    SIGNAL_ROWS(P ".scalars.*", case_scalar_wall, signal)

#define SCALAR_ROWS                                                                                     \
    {ROW("scalars", KEY_NAMES), THINGS(flow_case, scalars, scalar_count, CASE_SCALARS, scalar_read),    \
     .otherwise = "none", .example = "{temperature: {kind: heat, diffusivity: 2.2e-5 m2/s}}",           \
     .meaning = "heat and species that the flow carries, each under a name you choose"},                \
    {ROW("scalars.*", KEY_MAP), .otherwise = "none",                                                    \
     .example = "{kind: heat, prandtl: 0.71, reference: 300 K}",                                        \
     .meaning = "one scalar"},                                                                          \
    {ROW("scalars.*.kind", KEY_CHOICE), AT(case_scalar, kind), .late = true,                            \
     .choices = key_scalar_kinds, .fallback = "species", .example = "heat",                             \
     .meaning = "heat: a temperature in K, and numbers of heat may have units; species: a "             \
                "concentration without a unit"},                                                        \
    {ROW("scalars.*.diffusivity", KEY_NUMBER), AT(case_scalar, diffusivity), .late = true,              \
     .unit = UNIT_DIFFUSIVITY, .range = {0, SCALAR_MAX, true, false},                                   \
     .otherwise = "this, prandtl or schmidt", .example = "2.2e-5 m2/s", .meaning = "diffusivity"},      \
    {ROW("scalars.*.prandtl", KEY_NUMBER), .level = LEVEL_SAME, .range = POSITIVE,                      \
     .otherwise = "heat: by diffusivity",                                                               \
     .example = "0.71", .meaning = "heat: viscosity / diffusivity, in place of the diffusivity"},       \
    {ROW("scalars.*.schmidt", KEY_NUMBER), .level = LEVEL_SAME, .range = POSITIVE,                      \
     .otherwise = "species: by diffusivity",                                                            \
     .example = "1.5", .meaning = "species: viscosity / diffusivity, in place of the diffusivity"},     \
    {ROW("scalars.*.reference", KEY_NUMBER), AT(case_scalar, reference), .late = true,                  \
     .write = reference_write, .unit = UNIT_TEMPERATURE, .range = VALUES, .fallback = "0",              \
     .example = "300 K",                                                                                \
     .meaning = "the value that the others are stored relative to: near them, or the flow's errors "\
                "make fluxes wrong; buoyancy is 0 there"},                                          \
    {ROW("scalars.*.expansion", KEY_NUMBER), AT(case_scalar, expansion), .unit = UNIT_EXPANSION,        \
     .range = VALUES, .fallback = "0", .example = "3.3e-3 1/K",                                         \
     .meaning = "buoyancy: the fluid's acceleration is -expansion (value - reference) force.gravity"},  \
    {ROW("scalars.*.turbulent_prandtl", KEY_NUMBER), AT(case_scalar, turbulent_prandtl), .late = true,  \
     .where = SCALAR_KIND(heat), .level = LEVEL_SAME, .range = POSITIVE,                                \
     .fallback = "0.85", .example = "0.85",                                                             \
     .meaning = "heat: eddy viscosity / eddy diffusivity of a subgrid model"},                          \
    {ROW("scalars.*.turbulent_schmidt", KEY_NUMBER), AT(case_scalar, turbulent_prandtl), .late = true,  \
     .where = SCALAR_KIND(species), .level = LEVEL_SAME, .range = POSITIVE,                             \
     .fallback = "0.85", .example = "0.85",                                                             \
     .meaning = "species: eddy viscosity / eddy diffusivity of a subgrid model"},                       \
    {ROW("scalars.*.source", KEY_NUMBER), AT(case_scalar, source), .unit = UNIT_HEATING,                \
     .range = VALUES, .fallback = "0", .example = "0.1 K/s",                                            \
     .meaning = "source in the fluid; a species: 1/s"},                                                 \
    {ROW("scalars.*.decay", KEY_NUMBER), AT(case_scalar, decay), .unit = UNIT_RATE,                     \
     .range = BETWEEN(0, 1), .fallback = "0", .example = "1e-4",                                        \
     .meaning = "rate of decay in the fluid, towards the reference"},                                   \
    {ROW("scalars.*.gradient", KEY_VECTOR), AT(case_scalar, gradient), .write = gradient_write,         \
     .unit = UNIT_GRADIENT, .range = MAGNITUDE(SCALAR_MAX), .refine = "its step knows no edges of levels: remove it", .otherwise = "none", \
     .example = "[1e-3, 0, 0]",                                                                         \
     .meaning = "mean gradient in a box that is periodic along it; the values are then the deviation "  \
                "from it"},                                                                             \
    {ROW("scalars.*.magic", KEY_AUTO), .level = LEVEL_SAME, .restart = RESTART_VERSION,                 \
     AT(case_scalar, magic), .range = BETWEEN(0.001, 10), .fallback = "auto", .example = "0.25",        \
     .meaning = "(tau+ - 1/2)(tau- - 1/2); auto: 1/6, and 1/4 where the diffusivity is below 0.005"},   \
    {ROW("scalars.*.limiter", KEY_CHOICE), .restart = RESTART_VERSION,                                  \
     AT(case_scalar, limiter), .choices = key_limiters, .fallback = "auto", .example = "on",            \
     .meaning = "keeps values between those given, where the flow carries the scalar much faster than " \
                "it diffuses; auto: on where velocity / diffusivity is above 10"},                      \
    {ROW("scalars.*.made_from", KEY_SCALAR), AT(case_scalar, made_from), .late = true,                  \
     .otherwise = "none", .example = "fuel",                                                            \
     .meaning = "species: the species that turns into this one"},                                       \
    {ROW("scalars.*.rate", KEY_NUMBER), AT(case_scalar, rate), .late = true, .optional = true,          \
     .unit = UNIT_RATE, .range = {0, 1, true, false}, .otherwise = "required with made_from",           \
     .example = "1e-4",                                                                                 \
     .meaning = "rate at which it does: a step moves this part of the other one's value"},              \
    {ROW("scalars.*.initial", KEY_VALUE), AT(case_scalar, initial), .late = true,                       \
     .write = scalar_initial_write, .unit = UNIT_TEMPERATURE, .range = VALUES,                          \
     .otherwise = "as in initial.from, or the reference", .example = "300 K",                           \
     .meaning = "value at step 0; or a map: value or linear, and wave and shapes on top"},              \
    {ROW("scalars.*.initial.value", KEY_NUMBER), AT(case_scalar_initial, value), .late = true,          \
     .unit = UNIT_TEMPERATURE, .range = VALUES, .otherwise = "the reference, or by linear",             \
     .example = "300 K", .meaning = "the same value everywhere"},                                       \
    {ROW("scalars.*.initial.linear", KEY_MAP), .otherwise = "value",                                    \
     .example = "{from: [0, 0, 0], to: [64, 0, 0], values: [310 K, 290 K]}",                            \
     .meaning = "linear between two planes, constant beyond them"},                                     \
    {ROW("scalars.*.initial.linear.from", KEY_POSITION), AT(case_scalar_initial, from),                 \
     .unit = UNIT_LENGTH, .range = FROM(0), .required = true, .example = "[0, 0, 0]",                   \
     .meaning = "a point of the first plane; the line to the other point is normal to both planes"},    \
    {ROW("scalars.*.initial.linear.to", KEY_POSITION), AT(case_scalar_initial, to),                     \
     .unit = UNIT_LENGTH, .range = FROM(0), .required = true, .example = "[64, 0, 0]",                  \
     .meaning = "a point of the second plane"},                                                         \
    {ROW("scalars.*.initial.linear.values", KEY_RANGE), AT(case_scalar_initial, ends), .late = true,    \
     .unit = UNIT_TEMPERATURE, .range = ANY, .required = true, .example = "[310 K, 290 K]",             \
     .meaning = "the values at the two planes"},                                                        \
    {ROW("scalars.*.initial.wave", KEY_MAP), .otherwise = "none",                                       \
     .example = "{amplitude: 0.1 K, waves: [1, 0, 0]}",                                                 \
     .meaning = "adds amplitude sin(2 pi (sum waves x / box + phase))"},                                \
    {ROW("scalars.*.initial.wave.amplitude", KEY_NUMBER), AT(case_scalar_initial, amplitude),           \
     .unit = UNIT_DIFFERENCE, .range = VALUES, .required = true, .example = "0.1 K",                    \
     .meaning = "its amplitude"},                                                                       \
    {ROW("scalars.*.initial.wave.waves", KEY_VECTOR), AT(case_scalar_initial, wave),                    \
     .level = LEVEL_SAME, .range = MAGNITUDE(1e6), .required = true, .example = "[1, 0, 0]",            \
     .meaning = "numbers of waves along x, y and z of the box"},                                        \
    {ROW("scalars.*.initial.wave.phase", KEY_NUMBER), AT(case_scalar_initial, phase),                   \
     .level = LEVEL_SAME, .range = BETWEEN(-1, 1), .fallback = "0", .example = "0.25",                  \
     .meaning = "phase at the corner 0, in parts of a wave; 0.25 makes a cosine"},                      \
    {ROW("scalars.*.initial.shapes", KEY_NAMES), .ordered = true,                                       \
     THINGS(case_scalar_initial, parts, part_count, INT_MAX, scalar_part_read), .late = true,           \
     .otherwise = "none",                                                                               \
     .example = "{hot: {sphere: {center: [32, 16, 16], radius: 6}, value: 310 K}}",                     \
     .meaning = "parts of the box with another value, each under a name you choose; if they overlap, "  \
                "the later one counts"},                                                                \
    {ROW("scalars.*.initial.shapes.*", KEY_MAP), .also = "bodies.*.shape", .otherwise = "none",         \
     .example = "{sphere: {center: [32, 16, 16], radius: 6}, value: 310 K}",                            \
     .meaning = "one part: a shape with the keys of bodies.*.shape, and its value"},                    \
    {ROW("scalars.*.initial.shapes.*.value", KEY_NUMBER), AT(case_scalar_part, value),                  \
     .unit = UNIT_TEMPERATURE, .range = VALUES, .required = true, .example = "310 K",                   \
     .meaning = "value of the cells whose centres are in it"}
/* clang-format on */

#endif
