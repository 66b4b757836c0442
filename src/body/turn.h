/* Rotations by angles in degrees. */
#ifndef TAGFLOW_TURN_H
#define TAGFLOW_TURN_H

/* turn * v is v rotated about x, then about y, then about z by these angles, in degrees, right-hand
 * rule; |degrees| <= TURN_MAX. Multiples of 90 degrees are exact. */
#define TURN_MAX 3600.0
void turn_make(const double degrees[3], double turn[3][3]);

/* to = a b */
void turn_multiply(const double a[3][3], const double b[3][3], double to[3][3]);

/* to = turn v; v and to may be the same. */
void turn_apply(const double turn[3][3], const double v[3], double to[3]);

/* A rotation whose third row points along `axis` (any length but 0). For a coordinate axis it
 * contains only 0, 1 and -1. */
void turn_towards(const double axis[3], double frame[3][3]);

#endif
