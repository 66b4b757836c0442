/* Profiles by height or radius; see heights.h. They use only + - * /, square roots and the
 * functions of elementary.h. */
#include "case/heights.h"

#include <math.h>

#include "case/linear.h"
#include "elementary.h"

double heights_at(enum profile profile, const struct case_heights *h, double at)
{
    const double height = at - h->from, z0 = h->roughness;
    if (profile_has(profile, PROFILE_HAS_numbers))
        return linear_at(h->points, h->at, h->value, height);
    if (height <= 0)
        return 0;
    return profile == PROFILE_log
               ? exact_log((height + z0) / z0) / exact_log((h->reference + z0) / z0)
               : exact_exp(h->exponent * exact_log(height / h->reference));
}

double heights_on_face(enum profile profile, const struct case_heights *h, int face,
                       const double at[2])
{
    int axes[2];
    face_axes(face, axes);
    if (profile_has(profile, PROFILE_HAS_height))
        return heights_at(profile, h, at[h->axis == axes[1]]);
    const double x = at[0] - h->center[0], y = at[1] - h->center[1];
    return heights_at(profile, h, sqrt(x * x + y * y));
}
