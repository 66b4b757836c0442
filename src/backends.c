/* The backends of this program, the preferred one first, from the list that Meson makes. */
#include "solver/backend.h"

#define X(name) extern const struct backend_type backend_##name;
TAGFLOW_BACKENDS
#undef X

const struct backend_type *const backends[] = {
#define X(name) &backend_##name,
    TAGFLOW_BACKENDS
#undef X
        NULL,
};
