/* Time functions whose factor is set while the case runs. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/sections.h"

/* Names are parts of names in checkpoints. */
static bool is_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t length = strlen(name);
    return length && length < CASE_NAME && strspn(name, letters) == length;
}

static void call_steered(const struct case_signal *s,
                         void (*call)(const struct case_signal *s, void *to), void *to)
{
    if (s->kind == SIGNAL_steer && s->factor)
        call(s, to);
}

void case_steered(const struct flow_case *c, void (*call)(const struct case_signal *s, void *to),
                  void *to)
{
    call_steered(&c->force_signal, call, to);
    for (int k = 0; k < case_openings(c); k++)
        call_steered(&case_opening(c, k)->signal, call, to);
    for (int k = 0; k < case_caps(c); k++)
        call_steered(&case_cap(c, k)->signal, call, to);
    for (int k = 0; k < c->scalar_count; k++)
        for (int n = 0; n < case_conditions(c); n++)
            call_steered(&case_condition(c, n, k)->signal, call, to);
}

/* Looks for a function of the same name with another range or start. */
struct other {
    const struct case_signal *mine;
    bool differs;
};

static void compare(const struct case_signal *s, void *to)
{
    struct other *const o = to;
    const struct case_signal *const mine = o->mine;
    if (s != mine && strcmp(s->name, mine->name) == 0)
        o->differs = o->differs || s->first != mine->first || s->least != mine->least ||
                     s->most != mine->most;
}

enum status steer_read(struct map m, struct case_signal *s)
{
    struct other o = {.mine = s};
    const enum status status = record_read(m, 0, s);
    if (status)
        return status;
    if (!is_name(s->name))
        return fail_value(m.r, map_get(m, "name"),
                          ": it cannot be a name (letters, digits, _ and -, at most %d)",
                          CASE_NAME - 1);
    if (!(s->least < s->most) || s->first < s->least || s->first > s->most)
        return fail_key(m.r, m.node, ": its start %g is not between its min %g and its max %g",
                        s->first, s->least, s->most);
    s->factor = malloc(sizeof *s->factor);
    if (!s->factor)
        return fail_machine("out of memory for a time function");
    *s->factor = s->first;
    case_steered(m.r->c, compare, &o);
    if (o.differs)
        return fail_key(m.r, m.node,
                        ": another value has a steer of the name %s, with another start, min or "
                        "max (the same ones, or another name)",
                        s->name);
    return STATUS_OK;
}
