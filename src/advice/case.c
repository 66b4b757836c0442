/* All rules on the case; see advice.h. */
#include "advice/advice.h"

void advice_case(const struct flow_case *c)
{
#define X(name) advise_##name(c);
    ADVICE_CASE_LIST(X)
#undef X
}
