/* tagflow, tagflow-bench and parity in one file, which three names start: most of each are the same
 * kernels. For scripts/bundle.sh. */
#include <string.h>

int tagflow_main(int count, char **arguments);
int bench_main(int count, char **arguments);
int parity_main(int count, char **arguments);

int main(int count, char **arguments)
{
    const char *const slash = strrchr(arguments[0], '/');
    const char *const name = slash ? slash + 1 : arguments[0];
    return (strcmp(name, "parity") == 0          ? parity_main
            : strcmp(name, "tagflow-bench") == 0 ? bench_main
                                                 : tagflow_main)(count, arguments);
}
