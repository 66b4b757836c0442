/* Rows of the table of keys about viscosity laws, for key_table.c alone. */
#ifndef TAGFLOW_KEY_LAW_H
#define TAGFLOW_KEY_LAW_H

/* clang-format off */
#define LAW_INDEX(P, low, high)                                                                         \
    {ROW("fluid.law." P ".index", KEY_NUMBER), .level = LEVEL_SAME, AT(case_law, index),                \
     .range = BETWEEN(low, high), .required = true, .example = "0.6",                                              \
     .meaning = "exponent of the stress over the shear rate: below 1 the fluid is thinner where it is " \
                "sheared, above 1 thicker"}
#define LAW_YIELD(P)                                                                                    \
    {ROW("fluid.law." P ".yield", KEY_NUMBER), AT(case_law, yield), .unit = UNIT_STRESS,                \
     .range = {0, INFINITY, true, false}, .required = true, .example = "5 mPa",                         \
     .meaning = "stress below which the fluid only creeps, with the viscosity law.most; Pa needs units.density"}
#define LAW_SHEAR_RATE(P, ...)                                                                     \
    {ROW("fluid.law." P ".shear_rate", KEY_NUMBER), AT(case_law, shear_rate), .unit = UNIT_RATE,        \
     .range = POSITIVE, __VA_ARGS__, .example = "100 1/s",                                                 \
     .meaning = "shear rate at which the fluid has fluid.viscosity"}
#define LAW_ROWS                                                                                        \
    {ROW("fluid.law", KEY_MAP), .within = true, .write = law_write, .otherwise = "the viscosity is constant", \
     .example = "{power: {index: 0.6, shear_rate: 100 1/s}}",                                           \
     .meaning = "a viscosity that depends on the shear rate sqrt(2 S:S), S the rate of strain: one of " \
                "power, carreau, casson and herschel_bulkley"},                                         \
    {ROW("fluid.law.power", KEY_MAP), .otherwise = "another law",                                       \
     .example = "{index: 0.6, shear_rate: 100 1/s}",                                                    \
     .meaning = "viscosity (shear rate / shear_rate)^(index - 1)"},                                     \
    LAW_INDEX("power", 0.1, 3),                                                          \
    LAW_SHEAR_RATE("power", .required = true),                                                          \
    {ROW("fluid.law.carreau", KEY_MAP), .otherwise = "another law",                                     \
     .example = "{infinite: 3.3e-6 m2/s, time: 3.3 s, index: 0.36}",                                    \
     .meaning = "Carreau and Yasuda: infinite + (viscosity - infinite) (1 + (time shear "               \
                "rate)^transition)^((index - 1) / transition); fluid.viscosity is the one at rest"},       \
    {ROW("fluid.law.carreau.infinite", KEY_NUMBER), AT(case_law, infinite), .unit = UNIT_VISCOSITY,     \
     .range = POSITIVE, .required = true, .example = "3.3e-6 m2/s",                                     \
     .meaning = "viscosity at the largest shear rates"},                                                \
    {ROW("fluid.law.carreau.time", KEY_NUMBER), AT(case_law, time), .unit = UNIT_TIME,                  \
     .range = POSITIVE, .required = true, .example = "3.3 s",                                           \
     .meaning = "1 / shear rate from which on the viscosity changes"},                                  \
    LAW_INDEX("carreau", 0, 1),                                                          \
    {ROW("fluid.law.carreau.transition", KEY_NUMBER), .level = LEVEL_SAME, AT(case_law, transition),    \
     .range = BETWEEN(0.1, 10), .fallback = "2", .example = "2",                                        \
     .meaning = "how sharp the bend at that shear rate is; 2: Carreau"},                                \
    {ROW("fluid.law.casson", KEY_MAP), .otherwise = "another law", .example = "{yield: 5 mPa}",         \
     .meaning = "Casson: (sqrt(viscosity) + sqrt(yield / shear rate))^2"},                              \
    LAW_YIELD("casson"),                                                                                \
    {ROW("fluid.law.herschel_bulkley", KEY_MAP), .otherwise = "another law",                            \
     .example = "{yield: 5 Pa, index: 0.6, shear_rate: 100 1/s}",                                       \
     .meaning = "Herschel and Bulkley: yield / shear rate + viscosity (shear rate / "                   \
                "shear_rate)^(index - 1); index 1: Bingham"},                                           \
    LAW_YIELD("herschel_bulkley"),                                                                      \
    LAW_INDEX("herschel_bulkley", 0.1, 3),                                               \
    LAW_SHEAR_RATE("herschel_bulkley", .optional = true, .otherwise = "required if index is not 1"),                      \
    {ROW("fluid.law.least", KEY_NUMBER), AT(flow_case, fluid.law.least), .unit = UNIT_VISCOSITY,        \
     .range = POSITIVE, .late = true,                                                                   \
     .otherwise = "carreau: its limit; index other than 1: fluid.viscosity / 1000; else fluid.viscosity", \
     .example = "1e-7 m2/s", .meaning = "the viscosity is never below this"},                           \
    {ROW("fluid.law.most", KEY_NUMBER), AT(flow_case, fluid.law.most), .unit = UNIT_VISCOSITY,          \
     .range = POSITIVE, .late = true,                                                                   \
     .otherwise = "carreau: its limit; else 1000 fluid.viscosity", .example = "1e-3 m2/s",              \
     .meaning = "the viscosity is never above this"}

#endif
