/* tagflow bench: the program tagflow-bench, in place of this process. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "cli/cli.h"

enum status command_bench(int count, char **arguments)
{
    static const char suffix[] = "-bench";
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof suffix);
    char **const words = calloc((size_t)count + 2, sizeof *words);
    if (length <= 0 || !words)
        return fail_machine("cannot tell where this program is");
    memcpy(program + length, suffix, sizeof suffix);
    words[0] = program;
    memcpy(words + 1, arguments, (size_t)count * sizeof *words);
    execv(program, words);
    free(words);
    if (errno == ENOENT)
        return fail_user("tagflow bench is a program of its own, and %s is not installed (meson "
                         "builds and installs it with tagflow: copy it into the same folder)",
                         program);
    return fail_machine("cannot start %s: %s", program, strerror(errno));
}
