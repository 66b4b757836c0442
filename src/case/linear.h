/* Values at points of an axis, and linear between them. */
#ifndef TAGFLOW_LINEAR_H
#define TAGFLOW_LINEAR_H

/* The value at x: linear between the points at[], which ascend, the first and last value beyond
 * them. points >= 1. Bit-identical on every machine. */
double linear_at(int points, const double *at, const double *value, double x);

#endif
