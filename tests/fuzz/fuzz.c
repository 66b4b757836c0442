/* What the fuzz targets share; see fuzz.h. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *count, char ***arguments);

enum { SAID = 1 << 16 };

static struct {
    size_t length;
    char text[SAID + 1];
} said;

void fuzz_wrong(const char *format, ...)
{
    va_list list;
    dprintf(STDERR_FILENO, "\nfuzz: ");
    va_start(list, format);
    vdprintf(STDERR_FILENO, format, list);
    va_end(list);
    dprintf(STDERR_FILENO, "\nfuzz: said: %s\n", said.text);
    abort();
}

static ssize_t take(void *cookie, const char *data, size_t size)
{
    (void)cookie;
    if (said.length + size > SAID)
        fuzz_wrong("more than %d bytes said", SAID);
    memcpy(said.text + said.length, data, size);
    said.length += size;
    said.text[said.length] = '\0';
    return (ssize_t)size;
}

/* libFuzzer and the sanitizers hold on to the real stderr. */
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    FILE *caught = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
    if (!caught || setvbuf(caught, NULL, _IOLBF, 4096) != 0)
        fuzz_wrong("cannot catch stderr");
    stderr = caught;
    stdout = caught;
    return 0;
}

void said_clear(void)
{
    fflush(stderr);
    said.length = 0;
    said.text[0] = '\0';
}

const char *said_text(void)
{
    fflush(stderr);
    return said.text;
}

void said_check_lines(void)
{
    fflush(stderr);
    for (const char *c = said.text; c < said.text + said.length; c++)
        if (*c != '\n' && (*c < ' ' || *c > '~'))
            fuzz_wrong("a message holds byte 0x%02x", (unsigned char)*c);
    if (said.length && said.text[said.length - 1] != '\n')
        fuzz_wrong("half a line");
}

void said_check(enum status s)
{
    static const char prefix[] = "tagflow: ";
    said_check_lines();
    if (!s && said.length)
        fuzz_wrong("status OK, but a message");
    if (!s)
        return;
    const char *end = strchr(said.text, '\n');
    if (strncmp(said.text, prefix, strlen(prefix)) != 0 || !end || end[1])
        fuzz_wrong("status %d and not one line that begins with \"%s\"", s, prefix);
}

void said_check_place(const char *text, size_t length)
{
    long line = 0, column = 0, lines = 1, longest = 1, run = 0;
    int end = 0;
    said_check_lines();
    if (sscanf(said.text, "tagflow: " FUZZ_PATH ":%ld:%ld: %n", &line, &column, &end) != 2 ||
        !end) {
        if (strncmp(said.text, "tagflow: --set '", 16) != 0)
            fuzz_wrong("a message without place");
        return;
    }
    /* libyaml breaks lines at CR, NEL, LS and PS too: bytes that may belong to one count as one */
    for (size_t i = 0; i < length; i++) {
        const bool breaks = strchr("\n\r\x85\xa8\xa9", text[i]) && text[i];
        lines += breaks;
        run = text[i] == '\n' ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    /* what is missing at the end of an unfinished last line, libyaml misses in the next */
    if (line < 1 || line > lines + (length && text[length - 1] != '\n') || column < 1 ||
        column > longest + 1)
        fuzz_wrong("the place %ld:%ld is outside the text (%ld lines)", line, column, lines);
}

static char *copy(const void *data, size_t size, size_t room)
{
    char *to = malloc(room ? room : 1);
    if (!to)
        fuzz_wrong("no memory");
    memcpy(to, data, size);
    return to;
}

void fuzz_cut(const uint8_t *data, size_t size, struct fuzz_input *in)
{
    static const char mark[] = "--set ";
    const size_t skip = strlen(mark);
    *in = (struct fuzz_input){0};
    while (in->set_count < FUZZ_SETS && size >= skip && !memcmp(data, mark, skip)) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t line = end ? (size_t)(end - data) : size;
        char *set = copy(data + skip, line - skip, line - skip + 1);
        set[line - skip] = '\0';
        for (char *c = set; *c; c++) /* a line feed within an argument */
            *c = *c == '\v' ? '\n' : *c;
        in->set[in->set_count++] = set;
        data += line + (end != NULL);
        size -= line + (end != NULL);
    }
    in->text = copy(data, size, size);
    in->length = size;
}

void fuzz_cut_free(struct fuzz_input *in)
{
    for (int i = 0; i < in->set_count; i++)
        free(in->set[i]);
    free(in->text);
}

static bool is_zero(const struct flow_case *c)
{
    const unsigned char *bytes = (const unsigned char *)c;
    for (size_t i = 0; i < sizeof *c; i++)
        if (bytes[i])
            return false;
    return true;
}

enum status fuzz_read(const struct fuzz_input *in, struct flow_case *c)
{
    said_clear();
    memset(c, 0xa5, sizeof *c);
    const enum status s = case_read(FUZZ_PATH, in->text, (long)in->length, in->set_count,
                                    (const char *const *)in->set, c);
    said_check(s);
    if (s == STATUS_USAGE)
        said_check_place(in->text, in->length);
    if (s && !is_zero(c))
        fuzz_wrong("status %d, but the case is not zeroed", s);
    if (!s && !c->resolved)
        fuzz_wrong("no resolved text");
    return s;
}

/* Numbers are compared bit by bit: -0 is not 0. */
#define SAME(member)                                                                               \
    do {                                                                                           \
        if (memcmp(&a->member, &b->member, sizeof a->member) != 0)                                 \
            fuzz_wrong("the resolved text changes " #member ":\n%s", resolved);                    \
    } while (0)

static void same_region(const struct case_region *a, const struct case_region *b,
                        const char *resolved)
{
    SAME(lo);
    SAME(hi);
}

static void same_series(const struct case_series *a, const struct case_series *b,
                        const char *resolved)
{
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the resolved text changes a name:\n%s", resolved);
    SAME(kind);
    SAME(every);
    SAME(of);
    SAME(from);
    SAME(to);
    SAME(points);
    SAME(axis);
    SAME(at);
    SAME(body);
    SAME(area);
    if (a->area > 0) /* what coefficients are made with */
        SAME(velocity);
    if (a->area > 0 || a->kind == SERIES_KIND_permeability)
        SAME(length);
    SAME(about_given);
    SAME(center_given);
    SAME(density_face);
    SAME(statistics);
    SAME(statistics_from);
    SAME(about);
}

static void same_field(const struct case_field *a, const struct case_field *b, const char *resolved)
{
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the resolved text changes a name:\n%s", resolved);
    SAME(every);
    SAME(of);
    same_region(&a->region, &b->region, resolved);
    SAME(stride);
    SAME(precision);
}

static void same_average(const struct case_average *a, const struct case_average *b,
                         const char *resolved)
{
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the resolved text changes a name:\n%s", resolved);
    SAME(every);
    SAME(from);
    SAME(to);
    SAME(of);
    same_region(&a->region, &b->region, resolved);
    SAME(precision);
}

static void same_image(const struct case_image *a, const struct case_image *b, const char *resolved)
{
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the resolved text changes a name:\n%s", resolved);
    SAME(every);
    SAME(of);
    SAME(axis);
    SAME(at);
    SAME(fixed_range);
    SAME(range);
}

static void same_signal(const struct case_signal *a, const struct case_signal *b,
                        const char *resolved)
{
    SAME(kind);
    SAME(duration);
    SAME(period);
    SAME(phase);
    SAME(mean);
    SAME(amplitude);
    SAME(points);
    SAME(unit);
    SAME(checksum);
    const size_t size = a->kind == SIGNAL_table ? (size_t)a->points * sizeof *a->times : 0;
    if (size && (memcmp(a->times, b->times, size) || memcmp(a->values, b->values, size)))
        fuzz_wrong("the resolved text changes a table:\n%s", resolved);
}

static void same_face(const struct case_face *a, const struct case_face *b, const char *resolved)
{
    SAME(kind);
    SAME(rule);
    SAME(velocity);
    SAME(density);
    SAME(profile);
    SAME(power);
    SAME(checksum);
    SAME(table_components);
    SAME(reflection);
    same_signal(&a->signal, &b->signal, resolved);
}

static void same_patch(const struct case_patch *a, const struct case_patch *b, const char *resolved)
{
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the resolved text changes a name:\n%s", resolved);
    SAME(face);
    SAME(shape);
    SAME(from);
    SAME(to);
    SAME(center);
    SAME(radius);
    SAME(checksum);
    same_face(&a->opening, &b->opening, resolved);
}

static void same_zone(const struct case_zone *a, const struct case_zone *b, const char *resolved)
{
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the resolved text changes a name:\n%s", resolved);
    same_region(&a->cells, &b->cells, resolved);
    SAME(collision);
    SAME(magic);
    SAME(viscosity);
    SAME(sponge.given);
    SAME(sponge.face);
    SAME(sponge.strength);
    SAME(sponge.power);
    SAME(sponge.density);
    SAME(sponge.velocity);
}

static void same_shape(const struct case_shape *a, const struct case_shape *b, const char *resolved)
{
    SAME(name);
    SAME(kind);
    SAME(from);
    SAME(to);
    SAME(center);
    SAME(radius);
    SAME(radii);
    SAME(tube);
    SAME(axis);
    SAME(length);
    SAME(pack);
    SAME(scale);
    SAME(rotate);
    SAME(move);
    SAME(about);
    SAME(count);
    for (int k = 0; k < a->count; k++)
        same_shape(&a->parts[k], &b->parts[k], resolved);
}

static void same_body(const struct case_body *a, const struct case_body *b, const char *resolved)
{
    SAME(name);
    same_shape(&a->shape, &b->shape, resolved);
    SAME(image.format);
    SAME(image.size);
    SAME(image.type);
    SAME(image.big_endian);
    SAME(image.skip);
    SAME(image.solid_count);
    SAME(image.solid);
    SAME(image.from);
    SAME(image.to);
    SAME(image.flip);
    SAME(image.at);
    SAME(image.fill);
    SAME(image.label_count);
    SAME(image.checksum);
    SAME(wall);
    SAME(velocity);
    SAME(spin);
    SAME(pivot_given);
    SAME(pivot);
}

static void same_case(const struct flow_case *a, const struct flow_case *b, const char *resolved)
{
    if (strcmp(a->name, b->name) != 0)
        fuzz_wrong("the case's name changes");
    SAME(units.given);
    SAME(units.dx);
    SAME(units.dt);
    SAME(units.density);
    SAME(cells);
    SAME(fluid.viscosity);
    SAME(fluid.velocity);
    SAME(fluid.length);
    SAME(fluid.reynolds);
    SAME(solver.collision);
    SAME(solver.magic);
    SAME(solver.rates.bulk);
    SAME(solver.rates.third);
    SAME(solver.rates.fourth);
    SAME(solver.subgrid);
    SAME(solver.smagorinsky);
    SAME(solver.van_driest);
    SAME(solver.storage);
    SAME(solver.arithmetic);
    SAME(initial.flow);
    SAME(initial.velocity);
    SAME(initial.amplitude);
    SAME(initial.axis);
    SAME(initial.thickness);
    SAME(initial.perturbation);
    SAME(initial.density);
    SAME(initial.center);
    SAME(initial.width);
    SAME(initial.level);
    SAME(initial.relax);
    for (int f = 0; f < 6; f++)
        same_face(&a->faces[f], &b->faces[f], resolved);
    SAME(patch_count);
    for (int i = 0; i < a->patch_count; i++)
        same_patch(&a->patches[i], &b->patches[i], resolved);
    SAME(zone_count);
    for (int i = 0; i < a->zone_count; i++)
        same_zone(&a->zones[i], &b->zones[i], resolved);
    SAME(body_count);
    for (int i = 0; i < a->body_count; i++)
        same_body(&a->bodies[i], &b->bodies[i], resolved);
    SAME(acceleration);
    same_signal(&a->force_signal, &b->force_signal, resolved);
    SAME(flow_rate.given);
    SAME(flow_rate.velocity);
    SAME(flow_rate.axis);
    SAME(flow_rate.every);
    SAME(flow_rate.time);
    SAME(run.steps);
    SAME(run.ranks);
    SAME(run.threads);
    SAME(run.isa);
    SAME(run.transport);
    SAME(run.exchange);
    SAME(run.sparse);
    SAME(run.time_limit);
    SAME(run.stop.given);
    SAME(run.stop.of);
    SAME(run.stop.change);
    SAME(run.stop.every);
    SAME(run.stop.over);
    SAME(run.stop.series);
    SAME(run.stop.column);
    SAME(checkpoint.every);
    SAME(checkpoint.seconds);
    SAME(checkpoint.keep);
    SAME(check.every);
    SAME(check.max_velocity);
    SAME(check.hang);
    SAME(log_every);
    SAME(series_count);
    SAME(fields_count);
    SAME(averages_count);
    SAME(surfaces_count);
    SAME(images_count);
    for (int i = 0; i < a->series_count; i++)
        same_series(&a->series[i], &b->series[i], resolved);
    for (int i = 0; i < a->fields_count; i++)
        same_field(&a->fields[i], &b->fields[i], resolved);
    for (int i = 0; i < a->averages_count; i++)
        same_average(&a->averages[i], &b->averages[i], resolved);
    for (int i = 0; i < a->images_count; i++)
        same_image(&a->images[i], &b->images[i], resolved);
}

void fuzz_check_resolved(const struct flow_case *c)
{
    struct fuzz_input again;
    struct flow_case d;
    fuzz_cut((const uint8_t *)c->resolved, strlen(c->resolved), &again);
    if (again.set_count || fuzz_read(&again, &d))
        fuzz_wrong("the resolved text does not read back:\n%s", c->resolved);
    same_case(c, &d, c->resolved);
    if (strcmp(c->resolved, d.resolved) != 0)
        fuzz_wrong("resolved:\n%sresolves to:\n%s", c->resolved, d.resolved);
    case_destroy(&d);
    fuzz_cut_free(&again);
}
