/* All rules on the cells; see advice.h. */
#include "advice/advice.h"

void advice_cells(const struct domain *d, const struct flow_case *c)
{
#define X(name) advise_cells_##name(d, c);
    ADVICE_CELLS_LIST(X)
#undef X
}
