/* Command-line options and the case they name; see cli.h. */
#include <string.h>

#include "base/message.h"
#include "case/nearest.h"
#include "cli/cli.h"
#include "run/read_case.h"

int cli_flag(struct arguments *a, const char *name)
{
    if (a->next >= a->count || strcmp(a->argument[a->next], name) != 0)
        return 0;
    a->next++;
    return 1;
}

int cli_value(struct arguments *a, const char *name, const char **value)
{
    const size_t length = strlen(name);
    if (a->next >= a->count || strncmp(a->argument[a->next], name, length) != 0)
        return 0;
    const char *const rest = a->argument[a->next] + length;
    if (*rest == '=') {
        a->next++;
        *value = rest + 1;
        return 1;
    }
    if (*rest != '\0')
        return 0;
    a->next++;
    /* An option is not a value: --output --overwrite lacks one, --output=--overwrite has one. */
    const bool given = a->next < a->count && strncmp(a->argument[a->next], "--", 2) != 0;
    *value = given ? a->argument[a->next++] : NULL;
    if (!*value)
        fail_user("%s needs a value", name);
    return 1;
}

int cli_set(struct arguments *a, struct case_arguments *files)
{
    const char *value;
    if (!cli_value(a, "--set", &value))
        return 0;
    if (value && files->set_count < CLI_MAX_SETS) {
        files->sets[files->set_count++] = value;
        return 1;
    }
    if (value)
        fail_user("more than %d --set (put them into the case file)", CLI_MAX_SETS);
    files->set_count = CLI_MAX_SETS + 1;
    return 1;
}

enum status cli_unknown(const struct arguments *a, const char *command, const char *const *known)
{
    const char *const argument = a->argument[a->next];
    const char *const nearest = nearest_choice(known, argument);
    if (nearest)
        return fail_user("tagflow %s: %s is not known here (did you mean %s?)", command, argument,
                         nearest);
    return fail_user("tagflow %s: %s is not known here (tagflow %s --help)", command, argument,
                     command);
}

enum status cli_read_case(const struct case_arguments *a, MPI_Comm comm, struct flow_case *c)
{
    const struct case_source source = {.path = a->path, .set_count = a->set_count, .sets = a->sets};
    return read_case(&source, comm, c);
}
