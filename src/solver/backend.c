/* Which backend runs; see backend.h. */
#include "solver/backend.h"

#include <string.h>

#include "base/message.h"

static const struct backend_type *find(const char *name)
{
    for (const struct backend_type *const *b = backends; *b; b++)
        if (strcmp((*b)->name, name) == 0)
            return *b;
    return NULL;
}

enum status backend_choose(const char *name, MPI_Comm comm, const struct backend_type **chosen,
                           char reason[256])
{
    reason[0] = '\0';
    if (strcmp(name, "auto") != 0) {
        *chosen = find(name);
        if (!*chosen)
            return fail_user("--backend %s: this program was built without it (tagflow info)",
                             name);
        if ((*chosen)->present(comm, reason))
            return STATUS_OK;
        return fail_machine("--backend %s: %s (--backend cpu, or auto)", name, reason);
    }
    for (const struct backend_type *const *b = backends; *b; b++)
        if ((*b)->present(comm, reason)) {
            *chosen = *b;
            return STATUS_OK;
        }
    return fail_machine("there is no backend that runs here: %s", reason);
}
