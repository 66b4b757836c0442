/* Profiles by height or radius; see heights.h. They use only + - * / and the functions of
 * elementary.h. */
#include "case/heights.h"

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
