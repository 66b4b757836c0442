/* Change of the velocity field; see residual.h.
 *
 * Near convergence the differences are 1e-16 or less, in creeping flows much less; their squares
 * are far below the steps of exact.h. So the sums here cover the whole range of a double, in limbs
 * of 32 bits. No term is rounded: the sum is bit-identical for every decomposition. */
#include "measure/residual.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

enum {
    LIMBS = 36,     /* of 32 bits each */
    LOWEST = -1088, /* exponent of the first limb's unit, below the smallest double; sums to 2^64 */
};

/* sum of limb[k] 2^(LOWEST + 32 k); each may grow to 2^63 before it must be carried. */
struct wide_sum {
    int64_t limb[LIMBS];
};

/* Bound of a square that may be added: 2^33 of them fit. */
static const double sane = 1e9;

/* Adds 0 <= x < 2^31; for at most 2^30 calls between two calls of wide_carry. */
static void wide_add(struct wide_sum *s, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52);
    if (exponent == 0)
        return; /* 0 or denormal (below 1e-307) */
    const uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    const int shift = exponent - 1075 - LOWEST; /* x is mantissa 2^(exponent - 1075) */
    int64_t *const limb = s->limb + shift / 32;
    const uint64_t low = (mantissa & 0xffffffffu) << (shift % 32),
                   high = (mantissa >> 32) << (shift % 32); /* 64 bits each at most */
    limb[0] += (int64_t)(low & 0xffffffffu);
    limb[1] += (int64_t)(low >> 32) + (int64_t)(high & 0xffffffffu);
    limb[2] += (int64_t)(high >> 32);
}

/* Makes all limbs but the last smaller than 2^32: limbs of many ranks can then be added. */
static void wide_carry(struct wide_sum *s)
{
    for (int k = 0; k + 1 < LIMBS; k++) {
        s->limb[k + 1] += s->limb[k] >> 32;
        s->limb[k] &= 0xffffffff;
    }
}

/* The sum as a double. The limbs must be carried. */
static double wide_value(const struct wide_sum *s)
{
    double value = 0; /* smallest limb first, to round least */
    for (int k = 0; k < LIMBS; k++)
        value += ldexp((double)s->limb[k], LOWEST + 32 * k);
    return value;
}

static size_t owned(const struct solver *s)
{
    const struct box all = domain_all(s->domain);
    return box_cells(&all);
}

enum status residual_create(struct residual *r, const struct solver *s)
{
    *r = (struct residual){.narrow = s->backend->storage != PRECISION_fp64,
                           .step = RESIDUAL_NO_STEP};
    const size_t bytes = 3 * owned(s) * (r->narrow ? sizeof(float) : sizeof(double));
    r->velocity = calloc(bytes, 1);
    int failed = !r->velocity, anyone;
    if (failed)
        fail_machine("out of memory: %.3g GB for the velocity field that a residual remembers "
                     "(use more ranks or nodes)",
                     1e-9 * (double)bytes);
    MPI_Allreduce(&failed, &anyone, 1, MPI_INT, MPI_MAX, s->domain->comm);
    if (anyone)
        residual_destroy(r);
    return anyone ? STATUS_MACHINE : STATUS_OK;
}

void residual_destroy(struct residual *r)
{
    free(r->velocity);
    *r = (struct residual){.step = RESIDUAL_NO_STEP};
}

enum status residual_register(struct residual *r, const struct solver *s, struct state *state,
                              const char *name)
{
    static const char definition[] = "velocity at the look before, lattice units";
    const int *const cells = s->domain->cells;
    const struct box all = {{0, 0, 0}, {cells[0], cells[1], cells[2]}};
    char full[STATE_NAME];
    const int length = snprintf(full, sizeof full, "%s/velocity", name);
    assert(length < STATE_NAME);
    (void)length;
    enum status status = state_add_cells(
        state, full, definition, r->narrow ? SAMPLE_float32 : SAMPLE_float64, 3, &all, r->velocity);
    snprintf(full, sizeof full, "%s/step", name);
    return status ? status : state_add_numbers(state, full, definition, SAMPLE_int64, 1, &r->step);
}

/* now: velocity u of cell n of `cells`, rounded to the stored precision; before: the stored
 * velocity. replace: store u. */
static void compare(struct residual *r, size_t n, size_t cells, const double u[3], bool replace,
                    double now[3], double before[3])
{
    float *const narrow = r->velocity;
    double *const wide = r->velocity;
    for (size_t a = 0; a < 3; a++) {
        const size_t place = a * cells + n;
        const float rounded = r->narrow ? (float)u[a] : 0;
        before[a] = r->narrow ? (double)narrow[place] : wide[place];
        now[a] = r->narrow ? (double)rounded : u[a];
        if (replace && r->narrow)
            narrow[place] = rounded;
        else if (replace)
            wide[place] = u[a];
    }
}

static enum status measure(struct residual *r, struct solver *s, bool replace, double *value)
{
    const size_t cells = owned(s);
    const struct box all = domain_all(s->domain);
    struct {
        struct wide_sum change, whole;
        int64_t bad, failed;
    } sum = {.bad = 0};
    struct box piece;
    struct fetch f;
    const double *flow;
    size_t n = 0; /* pieces come in the order of memory: number of the cell in the block */
    for (fetch_start(&f, s, KERNEL_flow, &all); (flow = fetch_next(&f, &piece));) {
        /* The velocity of a cell that is not fluid is 0. */
        for (size_t left = box_cells(&piece); left > 0; left--, n++, flow += 4) {
            double now[3], before[3], change = 0, whole = 0;
            compare(r, n, cells, flow + 1, replace, now, before);
            for (int a = 0; a < 3; a++) {
                change += (now[a] - before[a]) * (now[a] - before[a]);
                whole += now[a] * now[a];
            }
            if (!(change < sane && whole < sane)) {
                sum.bad++;
                continue;
            }
            wide_add(&sum.change, change);
            wide_add(&sum.whole, whole);
        }
        wide_carry(&sum.change);
        wide_carry(&sum.whole);
    }
    sum.failed = fetch_end(&f) != STATUS_OK;
    MPI_Allreduce(MPI_IN_PLACE, &sum, sizeof sum / sizeof(int64_t), MPI_INT64_T, MPI_SUM,
                  s->domain->comm);
    wide_carry(&sum.change);
    wide_carry(&sum.whole);
    const double change = wide_value(&sum.change), whole = wide_value(&sum.whole);
    const bool first = r->step == RESIDUAL_NO_STEP;
    if (replace)
        r->step = s->step;
    *value = first || sum.bad ? NAN : change == 0 ? 0 : sqrt(change / whole);
    return sum.failed ? STATUS_MACHINE : STATUS_OK;
}

enum status residual_measure(struct residual *r, struct solver *s, double *value)
{
    return measure(r, s, true, value);
}

enum status residual_compare(struct residual *r, struct solver *s, double *value)
{
    return measure(r, s, false, value);
}
