/* The outputs of a resolved case, read line by line: any text will do, and nothing is reported. */
#include <stdlib.h>
#include <string.h>

#include "case/sections.h"

/* A thing is a line "    name: {...}"; the section before it "  section:". */
bool case_output_next(const char **at, struct case_output *o)
{
    static const char begin[] = "\noutput:\n";
    if (!o->section) {
        const char *const output = strstr(*at, begin);
        *at = output ? output + sizeof begin - 1 : "";
    }
    while (**at == ' ') {
        const char *const line = *at + strspn(*at, " "), *const end = line + strcspn(line, "\n");
        const char *const colon = line + strcspn(line, ":\n");
        const bool thing = line == *at + 4;
        *at = *end ? end + 1 : end;
        if (thing && o->section && *colon == ':' && colon[1] == ' ') {
            *o = (struct case_output){o->section, line, colon + 2, (int)(colon - line),
                                      (int)(end - colon - 2)};
            return true;
        }
        if (!thing)
            o->section = line;
    }
    return false;
}

bool case_output_is(const struct case_output *o, const char *section)
{
    const size_t length = strlen(section);
    return strncmp(o->section, section, length) == 0 && o->section[length] == ':';
}

int64_t case_last_step(const char *resolved)
{
    static const char begin[] = "\n  steps: ";
    const char *const run = strstr(resolved, "\nrun:\n"), *const steps =
                                                              run ? strstr(run, begin) : NULL;
    return steps ? strtoll(steps + sizeof begin - 1, NULL, 10) : 0;
}

/* What a series measures: its entry without `every`, the first key, and `statistics`, the last. */
bool case_series_text(const char *resolved, const char *name, const char **text, int *length)
{
    static const char last[] = ", statistics: ";
    struct case_output o = {0};
    for (const char *at = resolved; case_output_next(&at, &o);) {
        const char *const end = o.entry + o.entry_length;
        if (!case_output_is(&o, "series") || strlen(name) != (size_t)o.name_length ||
            strncmp(o.name, name, (size_t)o.name_length) != 0)
            continue;
        const char *const of = memmem(o.entry, (size_t)o.entry_length, "of: ", 4);
        const char *const statistics =
            memmem(o.entry, (size_t)o.entry_length, last, sizeof last - 1);
        *text = of ? of : end;
        *length = (int)((statistics ? statistics : end - (of && end[-1] == '}')) - *text);
        return *length > 0;
    }
    return false;
}
