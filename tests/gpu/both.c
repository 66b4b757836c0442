/* tagflow and parity in one file, which two names start: most of each are the same kernels. For
 * scripts/bundle.sh. */
#include <string.h>

int tagflow_main(int count, char **arguments);
int parity_main(int count, char **arguments);

int main(int count, char **arguments)
{
    const char *const slash = strrchr(arguments[0], '/');
    const char *const name = slash ? slash + 1 : arguments[0];
    return (strcmp(name, "parity") == 0 ? parity_main : tagflow_main)(count, arguments);
}
