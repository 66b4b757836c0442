/* Rows of the table of keys about porous regions, screens and rotating frames, for key_table.c
 * alone. */
#ifndef TAGFLOW_KEY_RESIST_H
#define TAGFLOW_KEY_RESIST_H

/* clang-format off */
#define ROTATION_ROW                                                                                    \
    {ROW("force.rotation", KEY_VECTOR), AT(flow_case, rotation), .unit = UNIT_ROTATION,                 \
     .range = MAGNITUDE(0.1), .fallback = "[0, 0, 0]", .example = "[0, 0, 0.5 rad/s]",                  \
     .meaning = "angular velocity of the frame in which the case is given, for the Coriolis "           \
                "acceleration; pressures are without the centrifugal part"}
#define RESIST_ROWS                                                                                     \
    {ROW("regions.*.resistance", KEY_MAP), .within = true, BESIDE(case_zone, resist.medium),            \
     .otherwise = "none", .example = "{permeability: 1e-9 m2, loss: 200 1/m}",                          \
     .meaning = "a porous medium: the pressure falls along the flow by viscosity / permeability u + "   \
                "loss |u| u / 2, times the density"},                                                   \
    {ROW("regions.*.resistance.permeability", KEY_EACH), AT(case_zone, resist.permeability),            \
     .unit = UNIT_AREA, .bare = BARE_ALWAYS, .range = POSITIVE, .optional = true, .otherwise = "no viscous resistance",      \
     .example = "1e-9 m2", .meaning = "Darcy's permeability; u is the flow rate of an area with its "   \
                                      "solids"},                                                        \
    {ROW("regions.*.resistance.loss", KEY_EACH), AT(case_zone, resist.loss), .unit = UNIT_SLOPE,        \
     .bare = BARE_ALWAYS, .range = FROM(0), .fallback = "0", .example = "200 1/m",                      \
     .meaning = "Forchheimer's resistance: dynamic pressures lost in a length"},                        \
    {ROW("regions.*.screen", KEY_MAP), .within = true, BESIDE(case_zone, resist.screen),                \
     .otherwise = "none", .example = "{axis: x, loss: 1.8}",                                            \
     .meaning = "a screen, grille or filter across an axis, as thick as the region"},                   \
    {ROW("regions.*.screen.axis", KEY_CHOICE), AT(case_zone, resist.axis), .choices = key_axes,         \
     .required = true, .example = "x", .meaning = "the axis that it lies across"},                      \
    {ROW("regions.*.screen.loss", KEY_NUMBER), .level = LEVEL_SAME, AT(case_zone, resist.screen_loss),  \
     .range = FROM(0), .required = true, .example = "1.8",                                              \
     .meaning = "loss coefficient: the pressure falls by loss times density u^2 / 2, u the velocity "   \
                "along the axis"}
/* clang-format on */

#endif
