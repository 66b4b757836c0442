/* Linear between points; see linear.h. */
#include "case/linear.h"

double linear_at(int points, const double *at, const double *value, double x)
{
    int below = 0, above = points - 1;
    if (x <= at[below])
        return value[below];
    if (x >= at[above])
        return value[above];
    while (above - below > 1) {
        const int middle = below + (above - below) / 2;
        if (at[middle] <= x)
            below = middle;
        else
            above = middle;
    }
    const double part = (x - at[below]) / (at[above] - at[below]);
    return value[below] + part * (value[above] - value[below]);
}
