/* Choice of the backend; see backend.h. */
#include "solver/backend.h"

#include <stdio.h>
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
        /* All ranks know the reason; rank 0 reports it. */
        return message_rank() != 0
                   ? STATUS_MACHINE
                   : fail_machine("--backend %s: %s (--backend cpu, or auto)", name, reason);
    }
    for (const struct backend_type *const *b = backends; *b; b++)
        if ((*b)->present(comm, reason)) {
            *chosen = *b;
            return STATUS_OK;
        }
    return fail_machine("there is no backend that runs here: %s", reason);
}

double backend_bytes_per_update(const struct backend *b)
{
    return 2 * Q * (double)precision_bytes(b->storage) + 1;
}

enum status backend_no_room(struct backend *b, double bytes, const char *what)
{
    double available, all;
    char there[64] = "";
    b->type->memory(b, &available, &all);
    if (all > 0)
        snprintf(there, sizeof there, ", of %.4g GB there are %.4g free", 1e-9 * all,
                 1e-9 * available);
    return fail_machine("out of memory: %.4g GB for %s%s (use more ranks or nodes%s)", 1e-9 * bytes,
                        what, there,
                        b->storage == PRECISION_fp64   ? ", or solver.storage: fp32"
                        : b->storage == PRECISION_fp32 ? ", or solver.storage: fp16"
                                                       : "");
}

enum status backend_no_host_room(double bytes, const char *what)
{
    return fail_machine("out of memory on the host: %.4g GB that is not swapped out, for %s",
                        1e-9 * bytes, what);
}
