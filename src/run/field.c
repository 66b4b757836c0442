/* Snapshots of fields: the cells of a region, or every stride-th of them. */
#include "run/field.h"

#include <stdio.h>

int field_arrays(const struct flow_case *c, int levels, const struct case_field *field,
                 struct cover_quantity scalar[CASE_SCALARS], struct levels_array to[FIELD_ARRAYS])
{
    const double u = output_velocity_unit(c), rho = c->units.density, dx = c->units.dx;
    const bool one = levels == 1;
    /* Files of one grid keep the sign of a zero, and round the pressure in another order. */
    const double none = one ? -0.0 : 0;
    const struct levels_array velocity = {.of = &quantity_flow,
                                          .first = 1,
                                          .add = none,
                                          .scale = {u}},
                              density = {.of = &quantity_flow, .add = 1, .scale = {rho}},
                              pressure = {.of = &quantity_flow,
                                          .add = none,
                                          .divide = one ? 3 : 0,
                                          .scale = {one ? rho : rho * u, one ? u : u / 3,
                                                    one ? u : 0}},
                              vorticity = {.of = &quantity_curl, .add = none, .scale = {u / dx}},
                              tags = {.of = &quantity_tags};
    int count = 0;
#define X(array, number)                                                                           \
    if (field->of & 1u << FIELD_##array) {                                                         \
        to[count] = array;                                                                         \
        to[count].components = number;                                                             \
        snprintf(to[count++].name, sizeof to->name, "%s", #array);                                 \
    }
    FIELD_LIST(X)
#undef X
    for (int k = 0; k < c->scalar_count; k++) {
        if (!(field->scalars & 1u << k))
            continue;
        scalar[k] = quantity_scalar(1 + k);
        to[count] = (struct levels_array){
            .of = &scalar[k], .components = 1, .add = c->scalars[k].reference};
        snprintf(to[count++].name, sizeof to->name, "%s", c->scalars[k].name);
    }
    for (int k = 0; k < count; k++)
        to[k].sample = to[k].of->is_tag                     ? SAMPLE_uint8
                       : field->precision == PRECISION_fp64 ? SAMPLE_float64
                                                            : SAMPLE_float32;
    return count;
}

/* Lets the background bring the file to disk. */
static enum status write(struct output_entry *e)
{
    const struct case_field *const field = e->what;
    struct levels_array arrays[FIELD_ARRAYS];
    struct cover_quantity scalar[CASE_SCALARS];
    const struct levels_file content = {
        .region = &field->region,
        .levels = field->levels,
        .stride = field->stride,
        .arrays = field_arrays(e->c, e->grid->levels, field, scalar, arrays),
        .array = arrays,
        .provenance_first = e->grid->levels == 1};
    struct h5file *file;
    enum status status = levels_file_write(&file, e, &content);
    if (!file)
        return status;
    if (status)
        return h5file_close(file, false);
    status = h5file_leave(file, e->background);
    e->left = status ? NULL : file;
    return status;
}

const struct output_kind output_fields = {
    OUTPUT_ENTRIES(fields, case_field),
    .late = true,
    .write = write,
};
