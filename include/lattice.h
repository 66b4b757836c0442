/* The D3Q19 lattice: velocities c_i and weights w_i, opposite directions adjacent; and D3Q7, its
 * first 7 velocities.
 *
 * Direction 0 is rest. For odd i: opposite(i) = i + 1 and c_{i+1} = -c_i. */
#ifndef TAGFLOW_LATTICE_H
#define TAGFLOW_LATTICE_H

enum { Q = 19, Q_AXES = 7 };

/* The nine pairs of directions, those of D3Q7 first: X(i, j = i + 1, cx, cy, cz of i, denominator
 * of the D3Q19 weight). */
/* clang-format off */
#define AXIS_LIST(X)             \
    X( 1,  2, 1,  0,  0, 18)     \
    X( 3,  4, 0,  1,  0, 18)     \
    X( 5,  6, 0,  0,  1, 18)
#define PAIR_LIST(X)             \
    AXIS_LIST(X)                 \
    X( 7,  8, 1,  1,  0, 36)     \
    X( 9, 10, 1,  0,  1, 36)     \
    X(11, 12, 0,  1,  1, 36)     \
    X(13, 14, 1, -1,  0, 36)     \
    X(15, 16, 1,  0, -1, 36)     \
    X(17, 18, 0,  1, -1, 36)
/* clang-format on */

/* w_i, rounded to a type. */
#define LATTICE_WEIGHT(type, i)                                                                    \
    ((i) == 0 ? (type)(1.0 / 3) : (i) <= 6 ? (type)(1.0 / 18) : (type)(1.0 / 36))

/* c_i as a table. Kernels of the bulk use PAIR_LIST instead. */
#define LATTICE_VELOCITIES                                                                         \
    {                                                                                              \
        {0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {1, 1, 0}, \
            {-1, -1, 0}, {1, 0, 1}, {-1, 0, -1}, {0, 1, 1}, {0, -1, -1}, {1, -1, 0}, {-1, 1, 0},   \
            {1, 0, -1}, {-1, 0, 1}, {0, 1, -1},                                                    \
        {                                                                                          \
            0, -1, 1                                                                               \
        }                                                                                          \
    }

#endif
