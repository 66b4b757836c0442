/* Averages over time: running means and sums of products of deviations (B. P. Welford,
 * Technometrics 4:419, 1962):
 *
 *     m_n = m_(n-1) + (u - m_(n-1)) / n        M_ij += (u_i - m_i,(n-1)) (u_j - m_j,n)
 *
 * This keeps stresses accurate that are small beside the mean flow. Each cell is summed on its own:
 * no cut, thread count, backend or restart changes a bit. */
#ifndef TAGFLOW_MEANS_H
#define TAGFLOW_MEANS_H

#include <stddef.h>

#include "platform.h"

enum { AVERAGE_NONE = -1, STRESSES = 6 /* xx yy zz xy xz yz */ };

/* The first component of each quantity in the sums; AVERAGE_NONE: not needed. The stress needs the
 * mean velocity. Bit `set` of `sets`: a scalar; each has the mean and the sum of squares of its
 * deviations, and with a velocity the three sums of products with its deviations. They begin at
 * `scalar`, in the order of the sets. */
struct average_layout {
    int velocity, density, stress;
    int scalar, sets;
    int components;
};

TAGFLOW_FN struct average_layout average_layout(int velocity, int density, int stress)
{
    struct average_layout a = {AVERAGE_NONE, AVERAGE_NONE, AVERAGE_NONE, AVERAGE_NONE, 0, 0};
    if (velocity || stress) {
        a.velocity = a.components;
        a.components += 3;
    }
    if (density)
        a.density = a.components++;
    if (stress) {
        a.stress = a.components;
        a.components += STRESSES;
    }
    return a;
}

/* Components of a scalar. */
TAGFLOW_FN int average_of_scalar(struct average_layout a)
{
    return a.velocity == AVERAGE_NONE ? 2 : 5;
}

/* The same layout with scalars behind the rest. */
TAGFLOW_FN struct average_layout average_layout_scalars(struct average_layout a, int sets)
{
    a.sets = sets;
    a.scalar = a.components;
    for (int k = 0; sets >> k; k++)
        if (sets >> k & 1)
            a.components += average_of_scalar(a);
    return a;
}

/* A value's deviation from the mean before it was added, and after. */
struct average_deviation {
    double before, after;
};

/* Adds a value to a mean. n: number of samples, this one included. */
TAGFLOW_FN struct average_deviation average_mean(double *mean, double n, double value)
{
    struct average_deviation d;
    d.before = value - *mean;
    const double now = *mean + d.before / n;
    d.after = value - now;
    *mean = now;
    return d;
}

/* Adds a velocity to its mean and, if there are stresses, to the sums of products. sums: of this
 * cell; `apart`: numbers between its components. */
TAGFLOW_FN void average_velocity(double *sums, size_t apart, struct average_layout a, double n,
                                 const double u[3])
{
    double *const mean = sums + (size_t)a.velocity * apart;
    const struct average_deviation x = average_mean(mean, n, u[0]);
    const struct average_deviation y = average_mean(mean + apart, n, u[1]);
    const struct average_deviation z = average_mean(mean + 2 * apart, n, u[2]);
    if (a.stress == AVERAGE_NONE)
        return;
    double *const product = sums + (size_t)a.stress * apart;
    product[0] += x.before * x.after;
    product[apart] += y.before * y.after;
    product[2 * apart] += z.before * z.after;
    product[3 * apart] += x.before * y.after;
    product[4 * apart] += x.before * z.after;
    product[5 * apart] += y.before * z.after;
}

/* Adds a scalar's value; sum: of this cell and scalar. velocity: sums of its mean, before the
 * velocity u of this sample is added to them; NULL: there are none. */
TAGFLOW_FN void average_scalar(double *sum, const double *velocity, size_t apart, double n,
                               double value, const double u[3])
{
    const struct average_deviation t = average_mean(sum, n, value);
    sum[apart] += t.before * t.after;
    for (size_t k = 0; velocity && k < 3; k++)
        sum[(2 + k) * apart] += (u[k] - velocity[k * apart]) * t.after;
}

#endif
