/* The table of `tagflow bench`, at most 100 columns wide; see row.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/row.h"
#include "case/keys.h"
#include "version.h"

enum { WIDTH = 100, CELLS_TEXT = 48 };

/* Widths of the columns that name a row's configuration, in characters. */
struct widths {
    int which, cells, collision, storage;
};

/* "fp32", or "fp32/fp64" where the arithmetic differs from the storage's default. */
static void storage_text(const struct bench_subject *s, char *text, size_t size)
{
    if (s->arithmetic == precision_computed(s->storage))
        snprintf(text, size, "%s", precision_name(s->storage));
    else
        snprintf(text, size, "%s/%s", precision_name(s->storage), precision_name(s->arithmetic));
}

static void widen(int *width, const char *text)
{
    *width = (int)strlen(text) > *width ? (int)strlen(text) : *width;
}

static struct widths widths_of(const struct bench_row *rows, int count)
{
    struct widths w = {4, 5, 9, 7}; /* of the head */
    for (int k = 0; k < count; k++) {
        char text[CELLS_TEXT];
        widen(&w.which, bench_cases[rows[k].subject.which]);
        widen(&w.collision, key_collisions[rows[k].subject.collision]);
        bench_cells_text(rows[k].subject.cells, text, sizeof text);
        widen(&w.cells, text);
        storage_text(&rows[k].subject, text, sizeof text);
        widen(&w.storage, text);
    }
    return w;
}

static void print_subject(const struct bench_row *row, struct widths w)
{
    char cells[CELLS_TEXT], storage[CELLS_TEXT];
    bench_cells_text(row->subject.cells, cells, sizeof cells);
    storage_text(&row->subject, storage, sizeof storage);
    printf("%-*s %-*s %-*s %-*s", w.which, bench_cases[row->subject.which], w.cells, cells,
           w.collision, key_collisions[row->subject.collision], w.storage, storage);
}

/* Prints text in lines that fit, all indented. */
static void print_wrapped(const char *text, int indent)
{
    int at = 0;
    for (const char *word = text; *word;) {
        const int length = (int)strcspn(word, " ");
        if (at > 0 && at + 1 + length > WIDTH) {
            putchar('\n');
            at = 0;
        }
        at += at ? printf(" %.*s", length, word) : printf("%*s%.*s", indent, "", length, word);
        word += length + strspn(word + length, " ");
    }
    putchar('\n');
}

void table_host(const struct bench *b)
{
    const struct bench_host *const h = &b->host;
    char line[1024];
    snprintf(line, sizeof line, "tagflow %s, commit %s, %s, %s", TAGFLOW_VERSION, TAGFLOW_COMMIT,
             TAGFLOW_COMPILER, h->mpi);
    print_wrapped(line, 0);
    snprintf(line, sizeof line, "%s; %s, %d core%s%s", h->device, h->processor, h->cores,
             h->cores == 1 ? "" : "s", h->hosts > 1 ? " a host" : "");
    print_wrapped(line, 0);
    snprintf(line, sizeof line, "%d rank%s on %d host%s, %d thread%s each; medians of %d repeat%s",
             h->ranks, h->ranks == 1 ? "" : "s", h->hosts, h->hosts == 1 ? "" : "s", h->threads,
             h->threads == 1 ? "" : "s", b->options->repeat, b->options->repeat == 1 ? "" : "s");
    print_wrapped(line, 0);
    putchar('\n');
}

/* The row of the periodic box with which row `at` is compared, measured or not; NULL: none. */
static const struct bench_row *box_of(const struct bench_row *rows, int count, int at)
{
    struct bench_subject wanted = rows[at].subject;
    if (wanted.which == BENCH_CASE_periodic)
        return NULL;
    for (int k = 0; k < count; k++) {
        const struct bench_subject *const s = &rows[k].subject;
        if (s->which == BENCH_CASE_periodic && s->collision == wanted.collision &&
            s->storage == wanted.storage && s->arithmetic == wanted.arithmetic &&
            memcmp(s->cells, wanted.cells, sizeof wanted.cells) == 0)
            return &rows[k];
    }
    return NULL;
}

/* Is any row compared with the periodic box? */
static bool has_boxes(const struct bench_row *rows, int count)
{
    bool any = false;
    for (int k = 0; k < count; k++)
        any = any || box_of(rows, count, k);
    return any;
}

void table_head(const struct bench_row *rows, int count)
{
    const struct widths w = widths_of(rows, count);
    printf("%-*s %-*s %-*s %-*s %*s (%s) %6s%s %6s %5s %7s %5s\n", w.which, "case", w.cells,
           "cells", w.collision, "collision", w.storage, "storage", 5, "MLUPS", "least-most",
           "MFLUPS", has_boxes(rows, count) ? "   box" : "", "GB/s", "share", "B/fluid", "sweep");
    fflush(stdout);
}

/* A rate in MLUPS, from 1000 on in GLUPS with a G, in six characters at most. */
static void rate_text(double rate, char text[16])
{
    if (rate < 999.95)
        snprintf(text, 16, rate < 9.995 ? "%.3f" : "%.1f", rate);
    else
        snprintf(text, 16, rate < 99995 ? "%.2fG" : "%.1fG", 1e-3 * rate);
}

/* Prints a row's rate as a part of the periodic box's, or no number if that has none. */
static void print_part(const struct bench_row *row, const struct bench_row *box)
{
    const double part = box && box->verified && box->fluid.count
                            ? 100 * row->fluid.median / box->fluid.median
                            : NAN;
    if (part < 999.5)
        printf(" %4.0f%%", part);
    else
        printf(" %5s", isnan(part) ? "" : ">999%");
}

static void print_rates(const struct bench_row *rows, int count, int at)
{
    const struct bench_row *const row = &rows[at];
    char median[16], least[16], most[16], fluid[16], range[40];
    rate_text(1e-6 * row->updates.median, median);
    rate_text(1e-6 * row->updates.least, least);
    rate_text(1e-6 * row->updates.most, most);
    rate_text(1e-6 * row->fluid.median, fluid);
    snprintf(range, sizeof range, "(%s-%s)", least, most);
    printf(" %5s %-12s %6s", median, range, fluid);
    if (has_boxes(rows, count))
        print_part(row, box_of(rows, count, at));
    printf(" %6.1f %4.0f%% %7.1f %5d\n", 1e-9 * row->fluid.median * row->bytes_per_update,
           100 * row->share.median, row->bytes_per_fluid, row->sweep);
}

void table_row(const struct bench_row *rows, int count, int at)
{
    const struct bench_row *const row = &rows[at];
    print_subject(row, widths_of(rows, count));
    if (row->verified) {
        print_rates(rows, count, at);
    } else {
        printf(" not verified: no rate\n");
        print_wrapped(row->why, 2);
    }
    fflush(stdout);
}

/* Prints the time of each phase in percent of a step. */
static void print_phases(const struct bench_row *rows, int count)
{
    static const enum phase shown[] = {PHASE_interior, PHASE_shell, PHASE_pack, PHASE_exchange,
                                       PHASE_unpack,   PHASE_wait,  PHASE_seam};
    static const char *const names[] = {"inner", "shell", "pack", "exch", "unpck", "wait", "seam"};
    const struct widths w = widths_of(rows, count);
    bool joules = false, swept = false, seams = false;
    for (int k = 0; k < count; k++) {
        seams = seams || (rows[k].verified && rows[k].phases[PHASE_seam] > 0);
        joules = joules || (rows[k].verified && isfinite(rows[k].joules));
        swept = swept || (rows[k].verified && rows[k].sweep > 1);
    }
    printf("\n%-*s %-*s %-*s %-*s", w.which, "case", w.cells, "cells", w.collision, "collision",
           w.storage, "storage");
    const size_t columns = sizeof names / sizeof *names - (seams ? 0 : 1);
    for (size_t i = 0; i < columns; i++)
        printf(" %5s", names[i]);
    printf(" %6s%s%s\n", "imbal.", swept ? "   of T" : "", joules ? "  J/GLU" : "");
    for (int k = 0; k < count; k++) {
        const struct bench_row *const row = &rows[k];
        if (!row->verified)
            continue;
        print_subject(row, w);
        for (size_t i = 0; i < columns; i++)
            printf(" %4.0f%%", 100 * row->phases[shown[i]] / row->phases[PHASE_step]);
        printf(" %6.3f", row->imbalance);
        if (swept)
            printf(" %5.0f%%", 100 * row->share.median / row->sweep);
        if (joules && isfinite(row->joules))
            printf(" %6.2f", row->joules);
        putchar('\n');
    }
}

/* Prints of each size of rock how much of it is open: all operators and precisions have the same.
 */
static void print_rocks(const struct bench_row *rows, int count)
{
    for (int k = 0; k < count; k++) {
        const struct bench_row *const row = &rows[k];
        const struct bench_rock rock = bench_rock(&row->subject);
        bool again = false;
        char line[256], cells[CELLS_TEXT];
        if (row->subject.which != BENCH_CASE_rock || !row->verified)
            continue;
        for (int other = 0; other < k; other++)
            again =
                again || (rows[other].subject.which == BENCH_CASE_rock && rows[other].verified &&
                          memcmp(rows[other].subject.cells, row->subject.cells,
                                 sizeof row->subject.cells) == 0);
        if (again)
            continue;
        bench_cells_text(row->subject.cells, cells, sizeof cells);
        snprintf(line, sizeof line,
                 "Rock of %s: porosity %.4f (asked for: %g), spheres of radius %.4g cells.", cells,
                 bench_porosity(row), rock.porosity, rock.radius);
        print_wrapped(line, 0);
    }
}

/* Prints by what the rows are right. */
static void print_checks(const struct bench_row *rows, int count)
{
    bool smaller = false, kept = false, open = false, compared = false, refined = false;
    char line[1024], steps[160] = "";
    for (int k = 0; k < count; k++) {
        const struct bench_row *const row = &rows[k];
        if (!row->verified)
            continue;
        refined = refined || row->levels > 1;
        compared = compared || row->levels == 1;
        smaller = smaller || (row->levels == 1 && memcmp(row->verified_cells, row->subject.cells,
                                                         sizeof row->subject.cells) != 0);
        kept = kept || row->keeps_mass;
        open = open || !row->keeps_mass;
    }
    if (compared)
        snprintf(steps, sizeof steps, "steps of every %s; ",
                 smaller
                     ? "case compared with plain ones, bit for bit, large ones on a smaller grid"
                     : "row compared with plain ones, bit for bit, before its repeats and after");
    snprintf(line, sizeof line, "Verified: %sstate finite%s%s.%s%s", steps,
             kept ? ", mass kept" : "",
             !open  ? ""
             : kept ? " (open faces, interpolated surfaces: density and flow near what is given)"
                    : ", density and flow near what is given",
             open ? " The rules of open faces and interpolated surfaces in these plain steps are "
                    "the program's own, for one cell at a time."
                  : "",
             refined ? " The plain step has one level: steps of the case refined are not compared."
                     : "");
    print_wrapped(line, 0);
}

void table_tail(const struct bench_row *rows, int count)
{
    const struct bench_row *right = NULL;
    bool swept = false;
    char line[1024];
    for (int k = 0; k < count; k++) {
        right = !right && rows[k].verified ? &rows[k] : right;
        swept = swept || (rows[k].verified && rows[k].sweep > 1);
    }
    if (!right)
        return;
    print_phases(rows, count);
    putchar('\n');
    print_rocks(rows, count);
    snprintf(line, sizeof line,
             "MLUPS: million cells updated a second (G: GLUPS, 1000 MLUPS); MFLUPS: fluid cells "
             "alone%s, of which GB/s (19 "
             "populations read and written and a tag: %.0f bytes in %s) and the share of the "
             "ceiling (%s) measured beside each repeat. B/fluid: bytes of memory for a fluid cell. "
             "Phases: hundredths of a step's time, mean "
             "of ranks; the exchange and the interior overlap.",
             has_boxes(rows, count) ? " (box: as a part of the periodic box's)" : "",
             right->bytes_per_update, precision_name(right->subject.storage), right->way);
    print_wrapped(line, 0);
    if (swept)
        print_wrapped(
            "Sweep: T steps in one sweep over memory (run.sweep). The ceiling has one step "
            "a sweep, so the share may exceed 100 %; T times the ceiling is a limit, of T "
            "is the share of it.",
            0);
    print_checks(rows, count);
}
