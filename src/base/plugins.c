/* Keeping shared libraries; see plugins.h. */
#include "base/plugins.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct plugin_names {
    char **name;
    size_t count;
};

static int add(struct dl_phdr_info *library, size_t size, void *data)
{
    struct plugin_names *const n = data;
    char *const name = *library->dlpi_name ? strdup(library->dlpi_name) : NULL;
    (void)size;
    if (!name || !ARRAY_ADD(n->name, n->count, name))
        free(name);
    return 0;
}

void plugins_keep(void)
{
    struct plugin_names n = {NULL, 0};
    dl_iterate_phdr(add, &n); /* dlopen inside of it could wait for ever */
    for (size_t k = 0; k < n.count; k++) {
        dlopen(n.name[k], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        free(n.name[k]);
    }
    free(n.name);
}
