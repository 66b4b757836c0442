/* Reading a case: tree, --set, outline, sections, resolved text; see case.h. */
#include "case/case.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "case/outline.h"
#include "case/sections.h"
#include "case/set.h"

enum status fail_case(const char *place, const char *format, ...)
{
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return fail_user("%s%s%s", place ? place : "", place ? ": " : "", message);
}

const char *surface_name(enum surface_array array)
{
    return key_surfaces[array];
}

const char *image_name(enum image_quantity quantity)
{
    return quantity == IMAGE_scalar ? "scalar" : key_images[quantity];
}

const char *face_name(int face)
{
    assert(face >= 0 && face < 6);
    return key_faces[face];
}

/* "configs/cavity.yaml" is the case cavity. */
void case_name_of(char name[CASE_NAME], const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    snprintf(name, CASE_NAME, "%.*s", (int)(length < CASE_NAME ? length : CASE_NAME - 1), base);
    if (!name[strspn(name, ".")]) /* no name, or one of another folder */
        strcpy(name, "case");
}

/* In the order in which they are read: later ones use values of earlier ones. Without a function,
 * all keys of a section are read by their rows. */
static const struct section {
    const char *key;
    section_reader *read;
} sections[] = {
    /* clang-format off */
    {"units", units_read},
    {"domain", domain_read},
    {"fluid", fluid_read},
    {"scalars", scalars_read},
    {"solver", solver_read},
    {"faces", faces_read},
    {"patches", NULL},
    {"patches", patches_check},
    {"faces", shares_check},
    {"solver", subgrid_read},
    {"initial", initial_read},
    {"force", force_read},
    {"regions", NULL},
    {"bodies", NULL},
    {"bodies", bodies_check},
    {"refine", refine_find},
    {"run", run_read},
    {"scalars", scalars_check},
    {"checkpoint", NULL},
    {"check", NULL},
    {"output", output_read},
    /* clang-format on */
};

static enum status read_section(const struct reader *r, const struct section *section,
                                struct flow_case *c)
{
    const struct map whole = {r, r->document->root, ""}, m = map_below(whole, section->key);
    const struct key *const key = keys_row(section->key);
    if (!m.node && key->required)
        return value_missing(whole, section->key, "");
    if (section->read)
        return section->read(m, c);
    return key->type == KEY_NAMES ? things_read(m, c) : record_read(m, 0, c);
}

static enum status read_sections(const struct reader *r, struct flow_case *c)
{
    enum status s = outline_check(r);
    for (size_t i = 0; !s && i < sizeof sections / sizeof *sections; i++)
        s = read_section(r, &sections[i], c);
    if (!s && r->origin && !r->whole)
        c->driven = r->origin->driven; /* a level has no open faces */
    else if (!s)
        s = driven_find(c);
    if (!s) {
        choose_defaults(c);
        s = tau_check(r, c);
    }
    if (!s)
        s = refine_check(r, c);
    return s ? s : outline_check_used(r);
}

enum status case_read_tree(const struct reader *r, struct flow_case *c)
{
    const enum status s = read_sections(r, c);
    if (!s && !(c->resolved = case_resolve(c)))
        return STATUS_MACHINE;
    return s;
}

static enum status read_case(const char *path, const char *text, size_t length, int set_count,
                             const char *const *sets, const struct case_files *files,
                             struct flow_case *c)
{
    struct document document;
    enum status s = document_read(&document, path, text, length);
    for (int i = 0; !s && i < set_count; i++)
        s = set_apply(&document, sets[i]);
    if (!s) {
        struct reader r = {.document = &document,
                           .c = c,
                           .files = files,
                           .unitless = case_is_resolved(text) ? NULL : &c->unitless};
        s = case_read_tree(&r, c);
    }
    document_destroy(&document);
    return s;
}

enum status plain_locale_enter(struct plain_locale *l)
{
    l->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!l->plain)
        return fail_machine("no memory for the C locale");
    l->before = uselocale(l->plain);
    return STATUS_OK;
}

void plain_locale_leave(struct plain_locale *l)
{
    uselocale(l->before);
    freelocale(l->plain);
}

enum status case_read(const char *path, const char *text, long length, int set_count,
                      const char *const *sets, struct flow_case *c)
{
    return case_read_files(path, text, length, set_count, sets, NULL, c);
}

enum status case_read_files(const char *path, const char *text, long length, int set_count,
                            const char *const *sets, const struct case_files *files,
                            struct flow_case *c)
{
    struct plain_locale locale;
    assert(length >= 0);
    *c = (struct flow_case){0};
    enum status s = plain_locale_enter(&locale);
    if (s)
        return s;
    case_name_of(c->name, path);
    s = read_case(path, text, (size_t)length, set_count, sets, files, c);
    plain_locale_leave(&locale);
    if (s)
        case_destroy(c);
    return s;
}

void case_destroy(struct flow_case *c)
{
    for (int f = 0; f < 6; f++)
        face_destroy(&c->faces[f]);
    for (int i = 0; i < c->patch_count; i++)
        patch_destroy(&c->patches[i]);
    free(c->patches);
    free(c->initial.from.file);
    free(c->zones);
    for (int i = 0; i < c->body_count; i++)
        body_destroy(&c->bodies[i]);
    free(c->bodies);
    for (int i = 0; i < c->refine_count; i++)
        refine_destroy(&c->refines[i]);
    free(c->refines);
    for (int i = 0; i < c->scalar_count; i++)
        scalar_destroy(&c->scalars[i]);
    free(c->scalars);
    free(c->series);
    free(c->fields);
    free(c->averages);
    free(c->surfaces);
    free(c->images);
    signal_destroy(&c->force_signal);
    free(c->resolved);
    *c = (struct flow_case){0};
}

int case_threads(const struct flow_case *c)
{
    return c->run.threads > 1 ? c->run.threads : 1;
}
