/* Images of a body in a periodic box; see body.h. */
#include "body/body.h"

#include <math.h>

void body_images(double lo, double hi, int n, int *first, int *last)
{
    *first = (int)ceil(-hi / n);
    *last = (int)floor((n - lo) / n);
    if (*last - *first > 2 * BODY_IMAGES) {
        *first = *first > -BODY_IMAGES ? *first : -BODY_IMAGES;
        *last = *last < BODY_IMAGES ? *last : BODY_IMAGES;
    }
}
