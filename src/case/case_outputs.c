/* The outputs of a resolved case, read line by line: any text will do, and nothing is reported. */
#include <stdio.h>
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

/* A line of the section that begins so, or NULL. */
static const char *line_in(const char *resolved, const char *section, const char *begin)
{
    const char *line = strstr(resolved, section);
    for (line = line ? strchr(line + 1, '\n') : NULL; line && line[1] == ' ';
         line = strchr(line + 1, '\n'))
        if (strncmp(line + 1, begin, strlen(begin)) == 0)
            return line + 1;
    return NULL;
}

/* A scalar whose value is from the file has no `initial`. */
bool case_recall_earlier(const char *resolved, const struct flow_case *c, const char *path,
                         struct case_earlier *e)
{
    static const char sum[] = "  checksum: ";
    const char *const checksum = line_in(resolved, "\ninitial:\n", sum);
    if (!checksum || !line_in(resolved, "\ninitial:\n", "  from: "))
        return false;
    *e = (struct case_earlier){.file = strdup(path),
                               .checksum = strtoull(checksum + sizeof sum - 1, NULL, 16)};
    memcpy(e->cells, c->cells, sizeof e->cells);
    for (int k = 0; k < c->scalar_count; k++) {
        char begin[CASE_NAME + 8];
        snprintf(begin, sizeof begin, "  %s: ", c->scalars[k].name);
        const char *const line = line_in(resolved, "\nscalars:\n", begin);
        if (!line || memmem(line, strcspn(line, "\n"), "initial: {", 10))
            continue;
        memcpy(e->scalar[e->scalar_count].name, c->scalars[k].name, CASE_NAME);
        e->scalar[e->scalar_count++].kind = (int)c->scalars[k].kind;
    }
    return e->file;
}

/* Definition of a series: its entry without `every`, the first key, and `statistics`, the last. */
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
