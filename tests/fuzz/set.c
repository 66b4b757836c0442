/* Fuzz target: --set arguments, on the text that follows them or, when nothing follows, on a case
 * that reads; and whether a run of the text alone may go on with the arguments. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char plain_case[] = "units: {dx: 5 mm, dt: 1 ms}\n"
                                 "domain: {cells: [16, 16, 16]}\n"
                                 "fluid: {viscosity: 0.1, velocity: 0.05, length: 16}\n"
                                 "solver: {collision: trt}\n"
                                 "faces: {x: periodic, y: wall, z: periodic}\n"
                                 "run: {steps: 1000}\n"
                                 "output:\n"
                                 "  series: {flow: {every: 10, of: [mass]}}\n"
                                 "  fields: {main: {every: 100, of: velocity}}\n"
                                 "  averages: {mean: {every: 10, of: velocity}}\n"
                                 "  images: {mid: {every: 100, of: speed}}\n";

/* What a restart must not change, bit by bit. */
static bool same_physics(const struct flow_case *a, const struct flow_case *b)
{
    bool same =
        a->units.given == b->units.given && a->units.dx == b->units.dx &&
        a->units.dt == b->units.dt && a->units.density == b->units.density &&
        !memcmp(a->cells, b->cells, sizeof a->cells) && a->levels == b->levels &&
        a->fluid.viscosity == b->fluid.viscosity && a->solver.collision == b->solver.collision &&
        a->solver.magic == b->solver.magic &&
        !memcmp(&a->solver.rates, &b->solver.rates, sizeof a->solver.rates) &&
        a->solver.subgrid == b->solver.subgrid && a->solver.smagorinsky == b->solver.smagorinsky &&
        a->solver.van_driest == b->solver.van_driest && a->solver.storage == b->solver.storage &&
        a->solver.arithmetic == b->solver.arithmetic && a->initial.flow == b->initial.flow &&
        !memcmp(a->initial.velocity, b->initial.velocity, sizeof a->initial.velocity) &&
        a->initial.amplitude == b->initial.amplitude && a->initial.axis == b->initial.axis &&
        a->initial.thickness == b->initial.thickness &&
        !memcmp(&a->initial.perturbation, &b->initial.perturbation,
                sizeof a->initial.perturbation) &&
        !memcmp(a->acceleration, b->acceleration, sizeof a->acceleration);
    for (int f = 0; f < 6; f++)
        same = same && a->faces[f].kind == b->faces[f].kind &&
               !memcmp(a->faces[f].velocity, b->faces[f].velocity, sizeof a->faces[f].velocity);
    return same;
}

static enum status try_same(const char *before, const char *now)
{
    said_clear();
    const enum status s = case_same_flow(before, now, "the checkpoint");
    said_check(s);
    if (s == STATUS_MACHINE)
        fuzz_wrong("the machine does not fail here");
    return s;
}

/* `before` is the text without the arguments, which may well not read; `c` the case with them. */
static void check_restart(const struct fuzz_input *with, const struct flow_case *c)
{
    struct fuzz_input without = *with;
    struct flow_case before;
    without.set_count = 0;
    char *raw = malloc(with->length + 1);
    if (!raw)
        fuzz_wrong("no memory");
    memcpy(raw, with->text, with->length);
    raw[with->length] = '\0';
    try_same(raw, c->resolved);
    try_same(c->resolved, raw);
    free(raw);
    if (try_same(c->resolved, c->resolved))
        fuzz_wrong("a case may not go on with itself:\n%s", c->resolved);
    if (!fuzz_read(&without, &before)) {
        const bool may = !try_same(before.resolved, c->resolved);
        if (may != !try_same(c->resolved, before.resolved))
            fuzz_wrong("a restart there, but not back:\n%s%s", before.resolved, c->resolved);
        if (may != same_physics(&before, c))
            fuzz_wrong("a restart %s:\n%s%s", may ? "of another flow" : "of the same flow refused",
                       before.resolved, c->resolved);
    }
    case_destroy(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in, plain;
    struct flow_case c;
    fuzz_cut(data, size, &in);
    fuzz_cut((const uint8_t *)plain_case, strlen(plain_case), &plain);
    if (!in.length) {
        char *const empty = in.text;
        in.text = plain.text;
        in.length = plain.length;
        plain.text = empty;
    }
    const enum status s = fuzz_read(&in, &c);
    if (s == STATUS_MACHINE)
        fuzz_wrong("the machine does not fail here");
    if (!s) {
        fuzz_check_resolved(&c);
        check_restart(&in, &c);
    }
    case_destroy(&c);
    fuzz_cut_free(&in);
    fuzz_cut_free(&plain);
    return 0;
}
