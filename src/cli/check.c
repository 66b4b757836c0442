/* tagflow check: reports what a case means and which resources it needs, without doing a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/message.h"
#include "body/stl.h"
#include "case/columns.h"
#include "cli/cli.h"
#include "domain/balance.h"
#include "domain/decompose.h"
#include "domain/sparse.h"
#include "run/threads.h"
#include "solver/backend.h"
#include "solver/solver.h"
#include "tags/part.h"

/* Assumed speed for estimates of time: million lattice updates per second and rank. */
static const double assumed_mlups_fp32 = 150, assumed_mlups_fp64 = 75;

enum { BOXES_SHOWN = 8 };

static const char *bytes_text(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int u = 0;
    for (; bytes >= 1000 && u < 5; u++)
        bytes /= 1000;
    snprintf(text, size, "%.4g %s", bytes, units[u]);
    return text;
}

static double stored_size(const struct flow_case *c)
{
    return (double)precision_bytes(c->solver.storage);
}

static const char *seconds_text(char *text, size_t size, double seconds)
{
    if (seconds < 120)
        snprintf(text, size, "%.3g s", seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.3g min", seconds / 60);
    else
        snprintf(text, size, "%.4g h", seconds / 3600);
    return text;
}

/* Seconds for so many steps at the assumed speed. */
static double assumed_seconds(const struct flow_case *c, double steps, int ranks, double *mlups)
{
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2];
    *mlups = c->solver.storage == PRECISION_fp64 ? assumed_mlups_fp64 : assumed_mlups_fp32;
    return cells * steps / (*mlups * 1e6 * ranks);
}

/* Numbers per cell of an average: means, and sums of products of deviations from them. A file holds
 * only those that were asked for; in memory the stress also needs the mean velocity. */
static int average_numbers(unsigned of, bool in_file)
{
    const bool stress = of & (1u << AVERAGE_stress), velocity = of & (1u << AVERAGE_velocity);
    return (velocity || (stress && !in_file) ? 3 : 0) + (of & (1u << AVERAGE_density) ? 1 : 0) +
           (stress ? 6 : 0);
}

/* Bytes of backend memory that averages and residuals need for a block of n cells that begins at
 * `lo`. lo NULL: an upper bound for a block anywhere. A checkpoint holds the same bytes. */
static double remembered_bytes(const struct flow_case *c, const int *lo, const int n[3])
{
    int residuals = c->run.stop.given && c->run.stop.of == STOP_residual;
    const double kept = c->solver.storage == PRECISION_fp64 ? sizeof(double) : sizeof(float);
    double bytes = 0;
    for (int i = 0; i < c->series_count; i++)
        residuals += c->series[i].kind == SERIES_KIND_residual;
    bytes += residuals * 3 * kept * ((double)n[0] * n[1] * n[2]);
    for (const struct case_average *a = c->averages; a < c->averages + c->averages_count; a++) {
        double cells = 1;
        for (int axis = 0; axis < 3; axis++) {
            const int from = a->region.lo[axis], to = a->region.hi[axis];
            cells *= lo ? fmax(0, fmin(to, (double)lo[axis] + n[axis]) - fmax(from, lo[axis]))
                        : fmin(to - from, n[axis]);
        }
        bytes += 8.0 * average_numbers(a->of, false) * cells;
    }
    return bytes;
}

/* Three blocks along an axis: the first, the longest of those with two neighbours (the last if
 * there are none), and the last. */
static void blocks_of_note(const int *at, int parts, int block[3])
{
    block[0] = 0;
    block[1] = block[2] = parts - 1;
    for (int k = 1; k < parts - 1; k++)
        if (block[1] == parts - 1 || at[k + 1] - at[k] > at[block[1] + 1] - at[block[1]])
            block[1] = k;
}

/* Bytes of a rank's memory: with dense and with sparse storage, and of lists of the CPU's loops;
 * and the places of sparse storage. */
struct needs {
    double dense, sparse, lists, fluid, places, cells;
};

/* The decomposition of the box. */
struct parts {
    int cuts[3];
    struct balance balance;
    const struct domain *box; /* this process' part of the tags; NULL: all cells are fluid */
    struct needs *needs;      /* [ranks] if there are tags */
    bool sparse;
    double kept_share; /* of all places, see sparse.h */
};

/* Finds what a rank with this block needs: first without lists, then the lists. */
typedef enum status look(const struct parts *p, const struct flow_case *c, struct domain *part,
                         struct needs *needs);

static enum status look_at_places(const struct parts *p, const struct flow_case *c,
                                  struct domain *part, struct needs *needs)
{
    struct sparse s;
    (void)p;
    sparse_survey(&s, part, case_threads(c));
    needs->fluid = (double)s.fluid;
    needs->places = (double)s.places;
    needs->cells = (double)s.cells;
    needs->dense = solver_bytes(part);
    sparse_layout(part, &s);
    needs->sparse = solver_bytes(part);
    return STATUS_OK;
}

static enum status look_at_lists(const struct parts *p, const struct flow_case *c,
                                 struct domain *part, struct needs *needs)
{
    const struct sparse s = {.fluid = (size_t)needs->fluid, .places = (size_t)needs->places};
    enum status status = p->sparse ? sparse_keep(part, &s, case_threads(c)) : STATUS_OK;
    if (!status)
        status = backend_cpu.list_bytes(&part->view, case_threads(c), &needs->lists);
    free(part->place);
    free(part->link);
    return status;
}

/* Lays out a rank's block and gives it tags: its own copy, or this process'. */
static enum status open_part(const struct parts *p, const struct flow_case *c, int rank,
                             struct domain *part)
{
    domain_layout_at(part, c, p->cuts, p->balance.at, rank);
    part->view.rows = p->box->rows;
    part->view.table = p->box->table;
    part->tags = part_same(part, p->box) ? p->box->tags : malloc(part->view.cells);
    part->view.tags = part->tags;
    return part->tags ? STATUS_OK
                      : fail_machine("out of memory for the tags of %zu cells", part->view.cells);
}

/* Looks at the blocks of all ranks. The processes share them. Collective. */
static enum status each_part(const struct parts *p, const struct flow_case *c, look *at)
{
    const struct domain *const box = p->box;
    const int ranks = p->cuts[0] * p->cuts[1] * p->cuts[2];
    enum status status = STATUS_OK;
    for (int first = 0; first < ranks && !status; first += box->ranks) {
        const int rank = first + box->rank;
        const bool mine = rank < ranks;
        struct domain part = {.tags = NULL};
        status = status_agree(box->comm, mine ? open_part(p, c, rank, &part) : STATUS_OK);
        const bool other = mine && part.tags != box->tags;
        if (!status)
            status = part_tags(other ? &part : NULL, box);
        if (!status)
            status = status_agree(box->comm, mine ? at(p, c, &part, &p->needs[rank]) : STATUS_OK);
        if (other)
            free(part.tags);
    }
    return status;
}

/* Tells all processes what each found. */
static void share_needs(const struct parts *p, int ranks)
{
    enum { EACH = sizeof(struct needs) / sizeof(double) };
    for (int rank = 0; rank < ranks; rank++)
        if (rank % p->box->ranks != p->box->rank)
            p->needs[rank] = (struct needs){0};
    for (int first = 0; first < ranks; first += 1 << 20) {
        const int count = ranks - first < 1 << 20 ? ranks - first : 1 << 20;
        MPI_Allreduce(MPI_IN_PLACE, p->needs + first, count * EACH, MPI_DOUBLE, MPI_SUM,
                      p->box->comm);
    }
}

/* Bytes that a rank keeps of the images that it read. */
static double image_bytes(const struct flow_case *c, int ranks)
{
    double bytes = 0;
    for (int k = 0; k < c->body_count; k++) {
        const struct voxel_image *const v = &c->bodies[k].image;
        if (v->file)
            bytes += (double)voxel_line(v->to[0] - v->from[0]) * (v->to[1] - v->from[1]) *
                     ceil((double)(v->to[2] - v->from[2]) / ranks);
    }
    return bytes;
}

/* Bytes of a rank. */
static double rank_bytes(const struct parts *p, const struct flow_case *c, int rank)
{
    struct domain d;
    if (p->box)
        return (p->sparse ? p->needs[rank].sparse : p->needs[rank].dense) + p->needs[rank].lists +
               image_bytes(c, p->cuts[0] * p->cuts[1] * p->cuts[2]);
    domain_layout_at(&d, c, p->cuts, p->balance.at, rank);
    return solver_bytes(&d);
}

/* Bytes of the rank that needs most. Blocks without solids need most if they are long or, for their
 * halos, have neighbours on both sides: it is enough to look at blocks_of_note(). */
static double largest_bytes(const struct parts *p, const struct flow_case *c)
{
    const int *const cuts = p->cuts, ranks = cuts[0] * cuts[1] * cuts[2];
    enum { CORNERS = 27 };
    int block[3][3];
    double largest = 0;
    for (int a = 0; a < 3; a++)
        blocks_of_note(p->balance.at[a], cuts[a], block[a]);
    for (int k = 0; k < (p->box ? ranks : CORNERS); k++) {
        const int corner =
            (block[2][k / 9 % 3] * cuts[1] + block[1][k / 3 % 3]) * cuts[0] + block[0][k % 3];
        largest = fmax(largest, rank_bytes(p, c, p->box ? k : corner));
    }
    return largest;
}

/* Finds the cuts of the box, whether storage is sparse, and what the ranks need. box: NULL, or the
 * tags, cut among the processes. Collective. */
static enum status share_out(struct parts *p, const struct flow_case *c, int ranks,
                             const struct domain *box)
{
    double places = 0, cells = 0;
    *p = (struct parts){.kept_share = 1, .box = box};
    enum status status = decompose(c->cells, c->run.ranks, ranks, p->cuts);
    if (status || !box)
        return status ? status : balance_evenly(&p->balance, c->cells, p->cuts);
    status = balance_create(&p->balance, box, p->cuts);
    p->needs = calloc((size_t)ranks, sizeof *p->needs);
    if (!p->needs && !status)
        status = fail_machine("out of memory for %d ranks", ranks);
    status = status_agree(box->comm, status);
    if (!status)
        status = each_part(p, c, look_at_places);
    if (status)
        return status;
    share_needs(p, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        places += p->needs[rank].places;
        cells += p->needs[rank].cells;
    }
    p->kept_share = places / cells;
    p->sparse = sparse_wanted(c->run.sparse, box, p->kept_share);
    status = each_part(p, c, look_at_lists);
    if (!status)
        share_needs(p, ranks);
    return status;
}

static void parts_destroy(struct parts *p)
{
    balance_destroy(&p->balance);
    free(p->needs);
}

static void say_parts(const struct parts *p, const struct flow_case *c, int ranks)
{
    say("ranks: %d = %d x %d x %d", ranks, p->cuts[0], p->cuts[1], p->cuts[2]);
    if (ranks > 1 && c->body_count)
        say("load imbalance: the rank with most fluid cells has %.1f %% more than the mean",
            100 * (p->balance.imbalance - 1));
    for (int rank = 0; rank < ranks && rank < BOXES_SHOWN; rank++) {
        struct domain d;
        char text[32];
        domain_layout_at(&d, c, p->cuts, p->balance.at, rank);
        const double bytes = rank_bytes(p, c, rank) + remembered_bytes(c, d.lo, d.view.n);
        say("  rank %d: cells [%d, %d, %d] to [%d, %d, %d], %s", rank, d.lo[0], d.lo[1], d.lo[2],
            d.lo[0] + d.view.n[0] - 1, d.lo[1] + d.view.n[1] - 1, d.lo[2] + d.view.n[2] - 1,
            bytes_text(text, sizeof text, bytes));
    }
    if (ranks > BOXES_SHOWN)
        say("  ... and %d more", ranks - BOXES_SHOWN);
}

/* Logs the memory with sparse and with dense storage, and of lists. *lists: most of a rank. */
static void say_storage(const struct parts *p, const struct flow_case *c, int ranks, double *lists)
{
    double dense = 0, sparse = 0, listed = 0;
    char with[32], without[32];
    *lists = 0;
    if (!p->box)
        return;
    const double fluid = (double)p->box->fluid_cells;
    for (int rank = 0; rank < ranks; rank++) {
        dense += p->needs[rank].dense;
        sparse += p->needs[rank].sparse;
        listed += p->needs[rank].lists;
        *lists = fmax(*lists, p->needs[rank].lists);
    }
    if (c->run.sparse != SPARSE_never) {
        say("storage: %s: %s in all, %.0f bytes a fluid cell",
            p->sparse ? "sparse, fluid cells alone" : "dense, all cells",
            bytes_text(with, sizeof with, p->sparse ? sparse : dense),
            (p->sparse ? sparse : dense) / fluid);
        say("  %s would take %s, %.0f bytes a fluid cell (%.1f %% of the populations of all cells "
            "are needed)",
            p->sparse ? "dense" : "sparse",
            bytes_text(without, sizeof without, p->sparse ? dense : sparse),
            (p->sparse ? dense : sparse) / fluid, 100 * p->kept_share);
    }
    say("  lists of the CPU's loops, which a GPU does not need: %s in all, %.1f bytes a fluid cell",
        bytes_text(with, sizeof with, listed), listed / fluid);
}

/* What the rank that needs most needs: without averages and residuals, an upper bound for these,
 * and lists of the CPU's loops, which are part of the first. */
struct largest {
    double bytes, remembered, lists;
};

static enum status say_ranks(const struct flow_case *c, int ranks, const struct domain *box,
                             struct largest *largest)
{
    struct parts p;
    int block[3] = {0, 0, 0};
    enum status status = share_out(&p, c, ranks, box);
    if (!status) {
        say_parts(&p, c, ranks);
        say_storage(&p, c, ranks, &largest->lists);
        largest->bytes = largest_bytes(&p, c);
    }
    for (int a = 0; a < 3 && !status; a++)
        for (int k = 0; k < p.cuts[a]; k++) {
            const int length = p.balance.at[a][k + 1] - p.balance.at[a][k];
            block[a] = length > block[a] ? length : block[a];
        }
    largest->remembered = remembered_bytes(c, NULL, block);
    parts_destroy(&p);
    return status;
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
    say("cells: %.0f%s", all, c->body_count ? "" : ", all fluid");
    for (int face = 0; face < 6; face++) {
        face_text(&c->faces[face], what, sizeof what);
        say("  %s: %s, %.0f cells beside it", face_name(face), what, all / n[face / 2]);
    }
    for (const struct case_patch *p = c->patches; p < c->patches + c->patch_count; p++) {
        face_text(&p->opening, what, sizeof what);
        say("  patch %s of %s: %s, %.0f cells beside it", p->name, face_name(p->face), what,
            patch_cells(c, p));
    }
    for (int i = 0; i < c->body_count; i++)
        if (c->bodies[i].mesh.file) {
            mesh_text(&c->bodies[i].mesh, what, sizeof what);
            say("  body %s: %s", c->bodies[i].name, what);
        }
}

static void say_memory(const struct flow_case *c, int ranks, const struct largest *largest)
{
    static const int origin[3] = {0, 0, 0};
    char a[32], b[32], total[32];
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2];
    const double remembered = remembered_bytes(c, origin, c->cells);
    const double whole = largest->bytes * ranks + remembered;
    say("memory: %s a rank, on its GPU if it has one; %s in all; this node has %s",
        bytes_text(a, sizeof a, largest->bytes + largest->remembered),
        bytes_text(total, sizeof total, whole), bytes_text(b, sizeof b, memory));
    if (largest->lists > 0)
        say("  of which lists of the CPU's loops: %s a rank",
            bytes_text(a, sizeof a, largest->lists));
    if (remembered > 0)
        say("  of which for averages and residuals: %s a rank, %s in all",
            bytes_text(a, sizeof a, largest->remembered),
            bytes_text(total, sizeof total, remembered));
    if (whole <= 0.9 * memory) {
        say("  fits on this node");
        return;
    }
    const double scale = cbrt(0.9 * memory / whole);
    say("  does not fit on this node: it takes %.0f nodes like this one; what would fit here is "
        "about %d x %d x %d "
        "(%.3g cells)",
        ceil(whole / (0.9 * memory)), (int)fmax(1, c->cells[0] * scale),
        (int)fmax(1, c->cells[1] * scale), (int)fmax(1, c->cells[2] * scale),
        cells * scale * scale * scale);
    say("  or %.0f devices of 40 GB, %.0f of 80 GB, %.0f of 141 GB", ceil(whole / 38e9),
        ceil(whole / 76e9), ceil(whole / 137e9));
}

/* Number of files: of step 0, of every multiple of `every`, and of the last step. */
static double files_of(const struct flow_case *c, int64_t every)
{
    return (double)(c->run.steps / every + 1 + (c->run.steps % every != 0));
}

/* Number of a region's cells that are written: every stride-th along each axis. */
static double written_cells(const struct case_region *region, int stride)
{
    double cells = 1;
    for (int a = 0; a < 3; a++)
        cells *= (region->hi[a] - region->lo[a] - 1) / stride + 1;
    return cells;
}

static void say_averages(const struct flow_case *c)
{
    char one[32];
    for (const struct case_average *a = c->averages; a < c->averages + c->averages_count; a++) {
        const double size = (double)precision_bytes(a->precision);
        const int64_t first = (a->from + a->every - 1) / a->every, last = a->to / a->every;
        say("output: averages.%s: %lld samples, a file of %s", a->name,
            (long long)(last - first + 1),
            bytes_text(one, sizeof one,
                       size * average_numbers(a->of, true) * written_cells(&a->region, 1)));
    }
}

static void say_output(const struct flow_case *c)
{
    char one[32], all[32];
    for (int i = 0; i < c->fields_count; i++) {
        const struct case_field *const f = &c->fields[i];
        const double size = (double)precision_bytes(f->precision);
        const double cells = written_cells(&f->region, f->stride);
        double bytes = 0;
#define X(name)                                                                                    \
    if (f->of & (1u << FIELD_##name))                                                              \
        bytes += cells * (FIELD_##name == FIELD_tags ? 1                                           \
                          : FIELD_##name == FIELD_velocity || FIELD_##name == FIELD_vorticity      \
                              ? 3 * size                                                           \
                              : size);
        FIELD_LIST(X)
#undef X
        say("output: fields.%s: %.0f files of %s, %s in all", f->name, files_of(c, f->every),
            bytes_text(one, sizeof one, bytes),
            bytes_text(all, sizeof all, bytes * files_of(c, f->every)));
    }
    say_averages(c);
    for (const struct case_surface *f = c->surfaces; f < c->surfaces + c->surfaces_count; f++) {
        const struct stl *const stl = c->bodies[f->body].mesh.stl;
        const double size = (double)precision_bytes(f->precision);
        const double values = (f->of & (1u << SURFACE_pressure) ? 1 : 0) +
                              (f->of & (1u << SURFACE_shear_stress) ? 3 : 0);
        /* Mesh: connectivity 3 x 8, offset 8 and type 1 per triangle; 24 per point. */
        const double bytes =
            (double)stl->triangles * (values * size + 33) + 24 * (double)stl->vertices;
        say("output: surfaces.%s: %.0f files of %s, %s in all", f->name, files_of(c, f->every),
            bytes_text(one, sizeof one, bytes),
            bytes_text(all, sizeof all, bytes * files_of(c, f->every)));
    }
    for (int i = 0; i < c->images_count; i++)
        say("output: images.%s: %.0f files", c->images[i].name, files_of(c, c->images[i].every));
    for (const struct case_series *s = c->series; s < c->series + c->series_count; s++)
        say("output: series.%s: %lld rows", s->name,
            (long long)((c->run.steps / s->every + 1) * (series_has_points(s) ? s->points : 1)));
}

/* Logs the size of checkpoints, their largest number (while a new one is written), and how much
 * work is lost if the job dies. */
static void say_checkpoints(const struct flow_case *c, int ranks)
{
    static const int origin[3] = {0, 0, 0};
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2];
    const double bytes = Q * stored_size(c) * cells + remembered_bytes(c, origin, c->cells);
    const int files = c->checkpoint.keep + 1;
    char one[32], all[32], time[32];
    double mlups;
    say("checkpoint: %s a file, at most %d files at a time, %s", bytes_text(one, sizeof one, bytes),
        files, bytes_text(all, sizeof all, files * bytes));
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
            seconds_text(time, sizeof time,
                         assumed_seconds(c, (double)c->checkpoint.every, ranks, &mlups)));
    else
        say("  only when the job is asked to stop: one that dies has to begin again");
}

static void say_time(const struct flow_case *c, int ranks)
{
    char text[32];
    double mlups;
    const double seconds = assumed_seconds(c, (double)c->run.steps, ranks, &mlups);
    say("time: %s if a rank does %.0f MLUPS (assumed, about one CPU core; not measured here)",
        seconds_text(text, sizeof text, seconds), mlups);
}

enum status command_check(int count, char **arguments, MPI_Comm comm)
{
    static const char *const known[] = {"--set", "--ranks", NULL};
    struct arguments a = {.count = count, .argument = arguments};
    struct case_arguments files = {0};
    const char *value;
    int ranks;
    MPI_Comm_size(comm, &ranks);

    bool ranks_given = ranks > 1;
    while (a.next < a.count) {
        if (cli_set(&a, &files)) {
            if (files.set_count > CLI_MAX_SETS)
                return STATUS_USAGE;
        } else if (cli_value(&a, "--ranks", &value)) {
            char *end;
            if (!value)
                return STATUS_USAGE;
            const long number = strtol(value, &end, 10);
            if (end == value || *end || number < 1 || number > 1 << 24)
                return fail_user("--ranks %s: not a number of ranks (1 to %d)", value, 1 << 24);
            ranks = (int)number;
            ranks_given = true;
        } else if (a.argument[a.next][0] == '-' || files.path) {
            return cli_unknown(&a, "check", known);
        } else {
            files.path = a.argument[a.next++];
        }
    }
    if (!files.path)
        return fail_user("tagflow check: which case? (tagflow check CASE.yaml)");

    struct flow_case c;
    struct checked checked = {.made = false};
    struct largest largest = {0};
    struct threads threads;
    enum status status = cli_read_case(&files, comm, &c);
    if (status)
        return status;
    if (!ranks_given && c.run.ranks[0])
        ranks = c.run.ranks[0] * c.run.ranks[1] * c.run.ranks[2];
    threads_choose(&c, comm, &threads);
    case_say_derived(&c);
    say_tags(&c);
    status = check_bodies(&c, comm, &checked);
    if (!status)
        status = say_ranks(&c, ranks, checked.made ? &checked.domain : NULL, &largest);
    if (!status) {
        say_memory(&c, ranks, &largest);
        say_output(&c);
        say_checkpoints(&c, ranks);
        say_time(&c, ranks);
        case_warn(&c);
    }
    checked_destroy(&checked);
    case_destroy(&c);
    return status;
}
