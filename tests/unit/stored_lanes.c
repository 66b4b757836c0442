/* One variant's ways of loading and storing populations; see stored_lanes.h. */
#include "cpu/lanes.h" /* first: it says what a real is */

#include "cpu/kernels.h"
#include "stored_lanes.h"

#define NAME(token) NAME_(token)
#define NAME_(token) #token

typedef number any_lanes
    __attribute__((vector_size(LANES * sizeof(number)), aligned(sizeof(number)), may_alias));

/* One by one as f_i - w_i, in vectors in the unit of the storage: both ways must agree. */
static void values(const void *stored_populations, void *to, size_t count)
{
    for (size_t k = 0; k < count; k++)
        ((number *)to)[k] = value_of(((const stored *)stored_populations)[k]) * STORED_ONE;
}

static void store(void *to, const void *from, size_t count)
{
    for (size_t k = 0; k < count; k++)
        ((stored *)to)[k] = stored_of(((const number *)from)[k] / STORED_ONE);
}

static void lanes_values(const void *stored_populations, void *to, size_t count)
{
    for (size_t k = 0; k < count; k += LANES)
        *(any_lanes *)((number *)to + k) = load_lanes((const stored *)stored_populations + k);
}

static void store_first(void *to, const void *from, int count)
{
    store_lanes((stored *)to, *(const any_lanes *)from, count);
}

static void lanes_store(void *to, const void *from, size_t count)
{
    for (size_t k = 0; k < count; k += LANES)
        store_first((stored *)to + k, (const number *)from + k, LANES);
}

static void store_some_active(void *to, const void *from, uint32_t active)
{
    const lane_bits bit = (lane_bits){0} + 1;
    const lane_bits set = (((lane_bits){0} + (lane_bit)active) & (bit << lane_numbers)) != 0;
    store_active((stored *)to, *(const any_lanes *)from, set);
}

extern const struct stored_variant VARIANT(stored_variant);
const struct stored_variant VARIANT(stored_variant) = {
    .isa = NAME(TAGFLOW_ISA),
    .storage = TAGFLOW_STORAGE,
    .arithmetic = TAGFLOW_ARITHMETIC,
    .lanes = LANES,
    .values = values,
    .store = store,
    .lanes_values = lanes_values,
    .lanes_store = lanes_store,
    .store_first = store_first,
    .store_active = store_some_active,
};
