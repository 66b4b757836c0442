/* The D3Q19 lattice: velocities c_i and weights w_i, opposite directions adjacent.
 *
 * 0 rests; for odd i, opposite(i) = i + 1 and c_{i+1} = -c_i. */
#ifndef TAGFLOW_LATTICE_H
#define TAGFLOW_LATTICE_H

enum { Q = 19 };

/* The nine pairs: X(i, j = i + 1, cx, cy, cz of i, weight's denominator). */
/* clang-format off */
#define PAIR_LIST(X)             \
    X( 1,  2, 1,  0,  0, 18)     \
    X( 3,  4, 0,  1,  0, 18)     \
    X( 5,  6, 0,  0,  1, 18)     \
    X( 7,  8, 1,  1,  0, 36)     \
    X( 9, 10, 1,  0,  1, 36)     \
    X(11, 12, 0,  1,  1, 36)     \
    X(13, 14, 1, -1,  0, 36)     \
    X(15, 16, 1,  0, -1, 36)     \
    X(17, 18, 0,  1, -1, 36)
/* clang-format on */

/* c_i as a table, for loops over directions outside the bulk. */
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
