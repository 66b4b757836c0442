/* tagflow keys: prints the keys of the case file, from the table that also reads it. */
#include "case/keys.h"

#include "base/message.h"
#include "case/nearest.h"
#include "cli/cli.h"

enum status command_keys(int count, char **arguments)
{
    static const char *const known[] = {NULL};
    struct arguments a = {.count = count, .argument = arguments, .next = 1};
    const char *const prefix = count > 0 ? arguments[0] : "";
    char advice[512];
    if (count > 1)
        return cli_unknown(&a, "keys", known);
    if (keys_print(stdout, prefix) > 0)
        return STATUS_OK;
    nearest_key(prefix, advice, sizeof advice);
    return fail_user("no key starts with %s (%s)", prefix, advice);
}
