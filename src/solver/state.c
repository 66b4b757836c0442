/* Arrays that a checkpoint holds; see state.h. */
#include "solver/state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/message.h"
#include "kernel.h"

static enum status add(struct state *s, const struct state_array *array)
{
    for (int i = 0; i < s->count; i++)
        assert(strcmp(s->array[i].name, array->name) != 0);
    return ARRAY_ADD(s->array, s->count, *array)
               ? STATUS_OK
               : fail_machine("out of memory for the arrays of a checkpoint");
}

static void set_names(struct state_array *array, const char *name, const char *definition)
{
    assert(strlen(name) < STATE_NAME && strlen(definition) < STATE_DEFINITION);
    snprintf(array->name, sizeof array->name, "%s", name);
    snprintf(array->definition, sizeof array->definition, "%s", definition);
}

enum status state_add_cells(struct state *s, const char *name, const char *definition,
                            enum sample sample, int components, const struct box *box,
                            struct solver *solver, void *data)
{
    struct state_array array = {.sample = sample,
                                .components = components,
                                .in_cells = true,
                                .box = *box,
                                .solver = solver,
                                .data = data};
    set_names(&array, name, definition);
    return add(s, &array);
}

enum status state_add_numbers(struct state *s, const char *name, const char *definition,
                              enum sample sample, int count, void *data)
{
    struct state_array array = {.sample = sample, .components = count, .data = data};
    set_names(&array, name, definition);
    return add(s, &array);
}

void state_optional(struct state *s)
{
    s->array[s->count - 1].optional = true;
}

double state_bytes(const struct state *s)
{
    double bytes = 0;
    for (const struct state_array *a = s->array; a < s->array + s->count; a++)
        bytes += (double)sample_bytes(a->sample) * a->components *
                 (a->in_cells ? (double)box_cells(&a->box) : 1);
    return bytes;
}

void state_destroy(struct state *s)
{
    free(s->array);
    *s = (struct state){0};
}
