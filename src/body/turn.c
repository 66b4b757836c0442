/* Rotations; see turn.h. */
#include "body/turn.h"

#include <math.h>
#include <string.h>

#include "elementary.h"

/* Angles are rounded to multiples of 2^-40 degrees, so that they are exact fractions of a turn. */
#define PARTS (1ll << 40)

static void about_axis(int axis, double degrees, double turn[3][3])
{
    const int64_t parts = llround(degrees * (double)PARTS);
    const double c = cos_turns(parts, 360 * PARTS), s = sin_turns(parts, 360 * PARTS);
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    memset(turn, 0, 9 * sizeof(double));
    turn[axis][axis] = 1;
    turn[j][j] = turn[k][k] = c;
    turn[j][k] = -s;
    turn[k][j] = s;
}

void turn_multiply(const double a[3][3], const double b[3][3], double to[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

void turn_apply(const double turn[3][3], const double v[3], double to[3])
{
    const double x = v[0], y = v[1], z = v[2];
    for (int i = 0; i < 3; i++)
        to[i] = turn[i][0] * x + turn[i][1] * y + turn[i][2] * z;
}

void turn_make(const double degrees[3], double turn[3][3])
{
    double about[3][3][3], xy[3][3];
    for (int a = 0; a < 3; a++)
        about_axis(a, degrees[a], about[a]);
    turn_multiply((const double(*)[3])about[1], (const double(*)[3])about[0], xy);
    turn_multiply((const double(*)[3])about[2], (const double(*)[3])xy, turn);
}

static void normalise(double v[3])
{
    double largest = 0; /* divide by it first, so that squares neither overflow nor vanish */
    for (int a = 0; a < 3; a++)
        largest = fabs(v[a]) > largest ? fabs(v[a]) : largest;
    for (int a = 0; a < 3; a++)
        v[a] /= largest;
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int a = 0; a < 3; a++)
        v[a] /= length;
}

static void cross(const double a[3], const double b[3], double to[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        to[i] = a[j] * b[k] - a[k] * b[j];
    }
}

void turn_towards(const double axis[3], double frame[3][3])
{
    int least = 0;
    memcpy(frame[2], axis, sizeof frame[2]);
    normalise(frame[2]);
    for (int a = 1; a < 3; a++)
        if (fabs(frame[2][a]) < fabs(frame[2][least]))
            least = a;
    const double other[3] = {least == 0, least == 1, least == 2};
    cross(other, frame[2], frame[1]);
    normalise(frame[1]);
    cross(frame[1], frame[2], frame[0]);
}
