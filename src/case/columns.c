/* The columns of each kind of series; see columns.h. Their meanings: docs/formats.md. */
#include "case/columns.h"

#include <stddef.h>

struct names {
    const char **name;
    int count;
};

static void add(struct names *n, const char *const *more, size_t count)
{
    for (size_t k = 0; k < count; k++)
        n->name[n->count++] = more[k];
}
#define ADD(list) add(&n, list, sizeof list / sizeof *list)

int series_coefficients(const struct case_series *s)
{
    return s->area > 0 ? s->length > 0 ? 6 : 3 : 0;
}

bool series_has_points(const struct case_series *s)
{
    return s->kind == SERIES_KIND_line || s->kind == SERIES_KIND_surface;
}

int series_columns(const struct case_series *s, const struct case_units *units,
                   const char *names[static SERIES_COLUMNS + 1])
{
    static const char *const all[] = {"step", "time"};
    static const char *const sums[] = {
#define X(name) #name,
        SERIES_LIST(X)
#undef X
    };
    static const char *const point[] = {"velocity_x", "velocity_y", "velocity_z", "density",
                                        "pressure"};
    static const char *const line[] = {"distance", "x", "y", "z"};
    static const char *const rate[] = {"volume_flow", "mass_flow", "mean_pressure", "area"};
    static const char *const residual[] = {"residual"};
    static const char *const forces[] = {"force_x",    "force_y",    "force_z",
                                         "pressure_x", "pressure_y", "pressure_z",
                                         "torque_x",   "torque_y",   "torque_z"};
    static const char *const coefficients[] = {"c_x",        "c_y",        "c_z",
                                               "c_torque_x", "c_torque_y", "c_torque_z"};
    static const char *const permeability[] = {"superficial_velocity", "gradient", "permeability"};
    static const char *const surface[] = {"angle",    "x",       "y",       "z",
                                          "pressure", "shear_x", "shear_y", "shear_z"};
    static const char *const c_p[] = {"c_p"};
    static const char *const physical[] = {"permeability_m2", "permeability_millidarcy"};
    struct names n = {names, 0};
    ADD(all);
    switch (s->kind) {
    case SERIES_KIND_flow:
        for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
            if (s->of & (1u << k))
                add(&n, sums + k, 1);
        break;
    case SERIES_KIND_line:
        ADD(line);
        /* fall through */
    case SERIES_KIND_probe:
        ADD(point);
        break;
    case SERIES_KIND_flow_rate:
        ADD(rate);
        break;
    case SERIES_KIND_residual:
        ADD(residual);
        break;
    case SERIES_KIND_forces:
        ADD(forces);
        add(&n, coefficients, (size_t)series_coefficients(s));
        break;
    case SERIES_KIND_permeability:
        ADD(permeability);
        if (units->cell > 0)
            ADD(physical);
        break;
    case SERIES_KIND_surface:
        ADD(surface);
        if (s->velocity > 0)
            ADD(c_p);
        break;
    }
    names[n.count] = NULL;
    return n.count;
}
