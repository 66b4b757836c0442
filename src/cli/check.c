/* tagflow check: reports what a case means and which resources it needs, without doing a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advice/advice.h"
#include "base/agree.h"
#include "base/message.h"
#include "body/stl.h"
#include "case/columns.h"
#include "cli/cli.h"
#include "cli/levels.h"
#include "cli/summary.h"
#include "domain/decompose.h"
#include "run/room.h"
#include "run/threads.h"

enum { BOXES_SHOWN = 8 };

static void say_ranks(const struct scale *s)
{
    const struct parts *const p = s->parts;
    const bool known = !s->refined || s->levels->known;
    if (s->refined)
        say("ranks: %d; each level is cut among all of them", p->ranks);
    else
        say("ranks: %d = %d x %d x %d", p->ranks, p->cuts[0], p->cuts[1], p->cuts[2]);
    if (p->ranks > 1 && s->refined && known)
        say("load imbalance: steps take %.1f %% more than with equal numbers of fluid cells",
            100 * (levels_imbalance(s->levels) - 1));
    else if (p->ranks > 1 && (p->box || p->sample) && !s->refined)
        say("load imbalance: the rank with most fluid cells has %.1f %% more than the mean%s",
            100 * (p->balance.imbalance - 1), p->sample ? " (estimated)" : "");
    for (int rank = 0; rank < p->ranks && rank < BOXES_SHOWN && known; rank++) {
        struct domain d;
        struct needs needs;
        char text[32], cells[128] = "";
        parts_of(p, rank, &d, &needs);
        if (!s->refined)
            snprintf(cells, sizeof cells, "cells [%d, %d, %d] to [%d, %d, %d], ", d.lo[0], d.lo[1],
                     d.lo[2], d.lo[0] + d.view.n[0] - 1, d.lo[1] + d.view.n[1] - 1,
                     d.lo[2] + d.view.n[2] - 1);
        say("  rank %d: %s%s", rank, cells,
            bytes_text(text, sizeof text, levels_rank_bytes(s->levels, rank, true, false)));
    }
    if (p->ranks > BOXES_SHOWN && known)
        say("  ... and %d more", p->ranks - BOXES_SHOWN);
}

/* The same as say_storage for levels, each of which has its own. */
static void say_storage_of_levels(const struct scale *s)
{
    char bytes[32], which[96] = "";
    const char *const about = s->levels->known ? "" : "about ";
    size_t length = 0;
    int count = 0;
    for (int l = 0; l < s->levels->refined.levels; l++) {
        if (!s->levels->level[l].parts.sparse)
            continue;
        length +=
            (size_t)snprintf(which + length, sizeof which - length, "%s%d", count ? ", " : "", l);
        count++;
    }
    say("storage: %s%s%s: %s%s in all, %.0f bytes a fluid cell",
        !count                               ? "dense on all levels"
        : count == s->levels->refined.levels ? "sparse, fluid cells alone, on all levels"
        : count == 1                         ? "sparse, fluid cells alone, on level "
                                             : "sparse, fluid cells alone, on levels ",
        count == s->levels->refined.levels ? "" : which,
        count && count < s->levels->refined.levels ? ", else dense" : "", about,
        bytes_text(bytes, sizeof bytes, s->stored), s->stored / s->fluid_cells);
    if (s->lists > 0)
        say("  index lists, which a GPU does not need: %s in all, %.1f bytes a fluid "
            "cell",
            bytes_text(bytes, sizeof bytes, s->lists), s->lists / s->fluid_cells);
}

/* Logs the memory with sparse and with dense storage, and of lists. */
static void say_storage(const struct scale *s)
{
    const struct parts *const p = s->parts;
    const char *const about = p->sample ? "about " : "";
    char with[32], without[32];
    if (!p->box && !p->sample)
        return;
    if (p->c->run.sparse != SPARSE_never && s->sparse > 0) {
        say("storage: %s: %s%s in all, %.0f bytes a fluid cell",
            p->sparse ? "sparse, fluid cells alone" : "dense, all cells", about,
            bytes_text(with, sizeof with, p->sparse ? s->sparse : s->dense),
            (p->sparse ? s->sparse : s->dense) / s->updates);
        say("  %s would take %s, %.0f bytes a fluid cell (%.1f %% of the populations of all cells "
            "are needed)",
            p->sparse ? "dense" : "sparse",
            bytes_text(without, sizeof without, p->sparse ? s->dense : s->sparse),
            (p->sparse ? s->dense : s->sparse) / s->updates, 100 * p->kept_share);
    }
    if (s->lists > 0)
        say("  index lists, which a GPU does not need: %s%s in all, %.1f bytes a "
            "fluid cell",
            about, bytes_text(with, sizeof with, s->lists), s->lists / s->updates);
}

/* Cells of the face that belong to a patch. */
static double patch_cells(const struct flow_case *c, const struct case_patch *p)
{
    int axes[2];
    double cells = 0;
    face_axes(p->face, axes);
    for (int j = 0; j < c->cells[axes[1]]; j++)
        for (int i = 0; i < c->cells[axes[0]]; i++)
            cells += patch_holds(p, c->cells, i, j);
    return cells;
}

static void say_tags(const struct flow_case *c)
{
    const double n[3] = {c->cells[0], c->cells[1], c->cells[2]}, all = n[0] * n[1] * n[2];
    char what[512];
    if (c->levels == 1)
        say("cells: %.0f%s", all, c->body_count ? "" : ", all fluid");
    for (int face = 0; face < 6; face++) {
        face_text(&c->faces[face], what, sizeof what);
        if (c->levels == 1 || face_open(c->faces[face].kind)) /* no finer level comes near these */
            say("  %s: %s, %.0f cells beside it", face_name(face), what, all / n[face / 2]);
        else
            say("  %s: %s", face_name(face), what);
    }
    for (const struct case_patch *p = c->patches; p < c->patches + c->patch_count; p++) {
        face_text(&p->opening, what, sizeof what);
        say("  patch %s of %s: %s, %.0f cells beside it", p->name, face_name(p->face), what,
            patch_cells(c, p));
    }
    for (int i = 0; i < c->body_count; i++)
        if (c->bodies[i].mesh.file && c->levels == 1) {
            mesh_text(&c->bodies[i].mesh, what, sizeof what);
            say("  body %s: %s", c->bodies[i].name, what);
        }
}

/* Compares a rank with a device of the machine file. */
static void say_devices(const struct scale *s)
{
    char a[32], b[32];
    const double room = DEVICE_SHARE * s->cluster.memory;
    if (s->most_cells > UINT32_MAX)
        say("  a GPU takes at most %.0f cells, ghost cells included, and a rank has %.0f (use more "
            "ranks)",
            (double)UINT32_MAX, s->most_cells);
    else if (s->most_on_gpu <= room)
        say("  a device of %s has room for it", bytes_text(a, sizeof a, s->cluster.memory));
    else
        say("  a device of %s has no room for it: at most %s of them can be used; about %.0f ranks "
            "would do",
            bytes_text(a, sizeof a, s->cluster.memory), bytes_text(b, sizeof b, room),
            ceil(s->parts->ranks * s->most_on_gpu / room));
}

static void say_memory(const struct scale *s)
{
    const struct flow_case *const c = s->parts->c;
    char a[32], b[32], total[32];
    const double memory = memory_of_node();
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2];
    const double whole = s->bytes + s->remembered;
    char gpu[48] = ", on its GPU if it has one";
    bytes_text(a, sizeof a, s->most);
    if (strcmp(a, bytes_text(b, sizeof b, s->most_on_gpu)) != 0)
        snprintf(gpu, sizeof gpu, ", %s on a GPU", b);
    say("memory: %s a rank%s; %s in all; this node has %s", a, gpu,
        bytes_text(total, sizeof total, whole), bytes_text(b, sizeof b, memory));
    if (s->seams > 0)
        say("  of which for the edges of levels: %s in all", bytes_text(a, sizeof a, s->seams));
    if (s->listed > 0)
        say("  of which index lists: %s a rank", bytes_text(a, sizeof a, s->listed));
    if (s->remembered > 0)
        say("  of which for averages and residuals: %s a rank, %s in all",
            bytes_text(a, sizeof a, s->most_remembered),
            bytes_text(total, sizeof total, s->remembered));
    if (s->machine) {
        say_devices(s);
        return;
    }
    if (scale_fits_node(s)) {
        say("  fits on this node");
        return;
    }
    const double scale = cbrt(NODE_SHARE * memory / whole);
    say("  does not fit on this node: it takes %.0f nodes like this one; what would fit here is "
        "about %d x %d x %d "
        "(%.3g cells%s)",
        ceil(whole / (NODE_SHARE * memory)), (int)fmax(1, c->cells[0] * scale),
        (int)fmax(1, c->cells[1] * scale), (int)fmax(1, c->cells[2] * scale),
        cells * scale * scale * scale, s->refined ? " of level 0" : "");
    say("  or %.0f devices of 40 GB, %.0f of 80 GB, %.0f of 141 GB",
        ceil(whole / (DEVICE_SHARE * 40e9)), ceil(whole / (DEVICE_SHARE * 80e9)),
        ceil(whole / (DEVICE_SHARE * 141e9)));
}

/* Number of files: of step 0, of every multiple of `every`, and of the last step. */
static double files_of(const struct flow_case *c, int64_t every)
{
    return (double)(c->run.steps / every + 1 + (c->run.steps % every != 0));
}

static void add_files(struct volume *v, double files, double bytes)
{
    v->files += files;
    v->bytes += files * bytes;
}

static void say_averages(const struct flow_case *c, const struct checked_levels *k,
                         struct volume *v)
{
    char one[32];
    for (const struct case_average *a = c->averages; a < c->averages + c->averages_count; a++) {
        const double size = (double)precision_bytes(a->precision);
        const int64_t first = (a->from + a->every - 1) / a->every, last = a->to / a->every;
        const double bytes =
            size * room_average_numbers(a, true) * levels_written(k, &a->region, a->levels, 1);
        add_files(v, 1, bytes);
        say("output: averages.%s: %lld samples, a file of %s", a->name,
            (long long)(last - first + 1), bytes_text(one, sizeof one, bytes));
    }
}

static void say_output(const struct flow_case *c, const struct checked_levels *k, struct volume *v)
{
    char one[32], all[32];
    for (int i = 0; i < c->fields_count; i++) {
        const struct case_field *const f = &c->fields[i];
        const double size = (double)precision_bytes(f->precision);
        const double cells = levels_written(k, &f->region, f->levels, f->stride);
        double bytes = 0;
#define X(name, components)                                                                        \
    if (f->of & (1u << FIELD_##name))                                                              \
        bytes += cells * components * (FIELD_##name == FIELD_tags ? 1 : size);
        FIELD_LIST(X)
#undef X
        for (unsigned scalars = f->scalars; scalars; scalars >>= 1)
            bytes += scalars & 1 ? cells * size : 0;
        add_files(v, files_of(c, f->every), bytes);
        say("output: fields.%s: %.0f files of %s, %s in all", f->name, files_of(c, f->every),
            bytes_text(one, sizeof one, bytes),
            bytes_text(all, sizeof all, bytes * files_of(c, f->every)));
    }
    say_averages(c, k, v);
    for (const struct case_surface *f = c->surfaces; f < c->surfaces + c->surfaces_count; f++) {
        const struct stl *const stl = c->bodies[f->body].mesh.stl;
        const double size = (double)precision_bytes(f->precision);
        const double values = (f->of & (1u << SURFACE_pressure) ? 1 : 0) +
                              (f->of & (1u << SURFACE_shear_stress) ? 3 : 0);
        /* Mesh: connectivity 3 x 8, offset 8 and type 1 per triangle; 24 per point. */
        const double bytes =
            (double)stl->triangles * (values * size + 33) + 24 * (double)stl->vertices;
        add_files(v, files_of(c, f->every), bytes);
        say("output: surfaces.%s: %.0f files of %s, %s in all", f->name, files_of(c, f->every),
            bytes_text(one, sizeof one, bytes),
            bytes_text(all, sizeof all, bytes * files_of(c, f->every)));
    }
    for (int i = 0; i < c->images_count; i++) {
        add_files(v, files_of(c, c->images[i].every), 0); /* they are small */
        say("output: images.%s: %.0f files", c->images[i].name, files_of(c, c->images[i].every));
    }
    v->files += c->series_count;
    for (const struct case_series *s = c->series; s < c->series + c->series_count; s++)
        say("output: series.%s: %lld rows", s->name,
            (long long)((c->run.steps / s->every + 1) * (series_has_points(s) ? s->points : 1)));
}

/* Warns of checkpoints that take most of the time. seconds: to write one. */
static void warn_of_interval(const struct scale *s, double seconds)
{
    const struct flow_case *const c = s->parts->c;
    const double every = c->checkpoint.seconds > 0 ? c->checkpoint.seconds
                         : c->checkpoint.every > 0 && c->checkpoint.every < c->run.steps
                             ? scale_seconds(s, (double)c->checkpoint.every)
                             : 0;
    char one[32], between[32];
    if (s->machine && every > 0 && 2 * seconds > every)
        warn("checkpoint_often",
             "a checkpoint takes %s to write and to read back, with %s from one to the next: the "
             "run mostly writes (a longer checkpoint.every)",
             seconds_text(one, sizeof one, 2 * seconds),
             seconds_text(between, sizeof between, every));
}

/* Logs the size of checkpoints, their largest number (while a new one is written), and how much
 * work is lost if the job dies. */
static void say_checkpoints(const struct scale *s)
{
    const struct flow_case *const c = s->parts->c;
    const int files = c->checkpoint.keep + 1;
    const double seconds = s->cluster.disk > 0 ? s->checkpoint / s->cluster.disk : 0;
    char one[32], all[32], time[32];
    say("checkpoint: %s a file, at most %d files at a time, %s",
        bytes_text(one, sizeof one, s->checkpoint), files,
        bytes_text(all, sizeof all, files * s->checkpoint));
    if (s->machine && seconds > 0)
        say("  %s to write, and the same to read it back and compare",
            seconds_text(time, sizeof time, seconds));
    warn_of_interval(s, seconds);
    if (c->checkpoint.seconds > 0)
        say("  every %s of wall time: a job that dies loses no more than that",
            seconds_text(time, sizeof time, c->checkpoint.seconds));
    else if (c->checkpoint.every >= c->run.steps)
        say("  every %lld steps, which the run does not pass: only when the job is asked to stop; "
            "one that dies has to begin again",
            (long long)c->checkpoint.every);
    else if (c->checkpoint.every > 0)
        say("  every %lld steps: a job that dies loses no more than those, %s at the speed below",
            (long long)c->checkpoint.every,
            seconds_text(time, sizeof time, scale_seconds(s, (double)c->checkpoint.every)));
    else
        say("  only when the job is asked to stop: one that dies has to begin again");
}

static void say_time(const struct scale *s)
{
    char text[32];
    seconds_text(text, sizeof text, scale_seconds(s, (double)s->parts->c->run.steps));
    if (s->machine)
        say("time: %s for %lld steps by the model, without output", text,
            (long long)s->parts->c->run.steps);
    else
        say("time: %s if a rank does %.0f MLUPS (assumed, about one CPU core; not measured here)",
            text, 1e-6 * scale_assumed_rate(s->parts->c));
}

/* Arguments of the command line. */
struct wanted {
    struct case_arguments files;
    int ranks;
    bool ranks_given;
    const char *machine, *json;
    bool verbose;
};

static enum status read_ranks(const char *value, struct wanted *w)
{
    char *end;
    if (!value)
        return STATUS_USAGE;
    const long number = strtol(value, &end, 10);
    if (end == value || *end || number < 1 || number > 1 << 24)
        return fail_user("--ranks %s: not a number of ranks (1 to %d)", value, 1 << 24);
    w->ranks = (int)number;
    w->ranks_given = true;
    return STATUS_OK;
}

static enum status read_arguments(struct arguments *a, struct wanted *w)
{
    static const char *const known[] = {"--set",  "--ranks",   "--machine",
                                        "--json", "--verbose", NULL};
    while (a->next < a->count) {
        const char *value;
        enum status status = STATUS_OK;
        if (cli_set(a, &w->files))
            status = w->files.set_count > CLI_MAX_SETS ? STATUS_USAGE : STATUS_OK;
        else if (cli_value(a, "--ranks", &value))
            status = read_ranks(value, w);
        else if (cli_value(a, "--machine", &w->machine))
            status = w->machine ? STATUS_OK : STATUS_USAGE;
        else if (cli_value(a, "--json", &w->json))
            status = w->json ? STATUS_OK : STATUS_USAGE;
        else if (cli_flag(a, "--verbose"))
            w->verbose = true;
        else if (a->argument[a->next][0] == '-' || w->files.path)
            return cli_unknown(a, "check", known);
        else
            w->files.path = a->argument[a->next++];
        if (status)
            return status;
    }
    return w->files.path ? STATUS_OK
                         : fail_user("tagflow check: which case? (tagflow check CASE.yaml)");
}

/* Are both the same file? */
static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* --json must not replace what is read, nor a folder. */
static enum status check_json(const struct wanted *w)
{
    struct stat info;
    if (stat(w->json, &info) == 0 && S_ISDIR(info.st_mode))
        return fail_user("--json %s: that is a folder", w->json);
    if (same_file(w->json, w->files.path) || (w->machine && same_file(w->json, w->machine)))
        return fail_user("--json %s would replace the file that is read", w->json);
    return STATUS_OK;
}

/* Logs all that follows from the decomposition. */
static void say_scale(const struct scale *s, struct volume *v)
{
    if (s->refined)
        levels_say(s->levels, s);
    say_ranks(s);
    (s->refined ? say_storage_of_levels : say_storage)(s);
    scale_say_halo(s);
    say_memory(s);
    say_output(s->parts->c, s->levels, v);
    say_checkpoints(s);
    if (s->machine)
        scale_say_step(s);
    say_time(s);
}

/* Logs the lines that were kept back. */
static void say_lines(char *lines)
{
    char *next;
    for (char *line = lines; line && *line; line = next) {
        next = strchr(line, '\n');
        *next++ = '\0';
        say("%s", line);
    }
}

/* The short form, the file of --json, and with --verbose all lines that were kept back. */
static enum status tell(const struct scale *s, const struct volume *v, const struct wanted *w)
{
    struct choices choices;
    if (message_rank() != 0)
        return STATUS_OK;
    enum status status = choices_find(&choices, s);
    if (!status && w->json)
        status = scale_write(s, choices_json(&choices), w->files.path, w->json);
    if (status)
        return status;
    char *const lines = message_release(false);
    summary_say(s, &choices, v);
    say("%s", "");
    if (w->verbose)
        say_lines(lines);
    else
        say("--verbose: faces, bodies, blocks, storage, each output and more");
    free(lines);
    return STATUS_OK;
}

/* Looks at the cells of a case, and finds and logs what the ranks need. Collective. */
static enum status look_at_levels(const struct flow_case *c, const struct wanted *w,
                                  const struct cluster *cluster, MPI_Comm comm)
{
    struct checked_levels k;
    struct scale s;
    struct volume v = {0};
    enum status status = levels_make(&k, c, w->ranks, comm);
    if (!status)
        status = status_agree(comm, levels_scale(&k, w->ranks, cluster, w->machine != NULL, &s));
    if (!status) {
        say_scale(&s, &v);
        advice_case(c);
        status = tell(&s, &v, w);
    }
    levels_destroy(&k);
    return status_agree(comm, status);
}

/* All that follows from a case that was read. Collective. */
static enum status check_case(struct flow_case *c, struct wanted *w,
                              const struct cluster *cluster, MPI_Comm comm)
{
    struct threads threads;
    int cuts[3]; /* before bodies are looked at in vain */
    if (!w->ranks_given && c->run.ranks[0])
        w->ranks = c->run.ranks[0] * c->run.ranks[1] * c->run.ranks[2];
    threads_choose(c, comm, &threads);
    case_say_derived(c);
    say_tags(c);
    const enum status status = decompose(c->cells, c->run.ranks, w->ranks, cuts);
    return status ? status : look_at_levels(c, w, cluster, comm);
}

enum status command_check(int count, char **arguments, MPI_Comm comm)
{
    struct arguments a = {.count = count, .argument = arguments};
    struct wanted w = {.ranks = 1};
    struct flow_case c;
    struct cluster cluster = cluster_default();
    MPI_Comm_size(comm, &w.ranks);
    w.ranks_given = w.ranks > 1;
    enum status status = read_arguments(&a, &w);
    if (!status && w.json)
        status = check_json(&w);
    if (!status && w.machine)
        status = cluster_read(&cluster, w.machine);
    status = status_agree(comm, status); /* the file may be missing on a host */
    if (status)
        return status;
    message_hold();
    status = cli_read_case(&w.files, comm, &c);
    if (!status) {
        status = check_case(&c, &w, &cluster, comm);
        case_destroy(&c);
    }
    char *const lines = message_release(true); /* of a case that is refused */
    if (w.verbose)
        say_lines(lines);
    free(lines);
    return status;
}
