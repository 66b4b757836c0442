/* tagflow keys: prints the keys of the case file, from the table that also reads it. */
#include "case/keys.h"

#include <string.h>

#include "base/message.h"
#include "case/nearest.h"
#include "case/search.h"
#include "cli/cli.h"

enum status command_keys(int count, char **arguments)
{
    static const char *const known[] = {"--search", NULL};
    struct arguments a = {.count = count, .argument = arguments, .next = 0};
    struct search_hit hit[SEARCH_SHOWN];
    const char *const prefix = count > 0 ? arguments[0] : "";
    char advice[512];
    if (cli_flag(&a, "--search")) {
        if (a.next == count)
            return fail_user("--search needs a word (for example tagflow keys --search outlet)");
        char *const *const words = arguments + a.next;
        const int number = count - a.next;
        for (; a.next < count; a.next++)
            if (!strncmp(arguments[a.next], "--", 2))
                return cli_unknown(&a, "keys", known);
        return search_print(stdout, number, words);
    }
    a.next = *prefix != '-';
    if (a.next < count)
        return cli_unknown(&a, "keys", known);
    if (keys_print(stdout, prefix) > 0)
        return STATUS_OK;
    nearest_key(prefix, advice, sizeof advice);
    const bool listed = !strncmp(advice, "known", 5);
    if (listed && search_keys(1, arguments, hit))
        return fail_user(
            "no key starts with %s (did you mean %s? Others: tagflow keys --search %s)", prefix,
            hit[0].key->path, prefix);
    return fail_user("no key starts with %s (%s)", prefix, advice);
}
