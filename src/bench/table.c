/* The table of `tagflow bench`, at most 100 columns wide; see bench.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "case/keys.h"
#include "version.h"

enum { WIDTH = 100, TEXT = 48, WORDS = 4 };

/* Names of a row; row NULL: of the columns. */
static void words_of(const struct bench_row *row, char word[WORDS][TEXT])
{
    static const char *const head[WORDS] = {"case", "cells", "collision", "storage"};
    for (int k = 0; k < WORDS; k++)
        snprintf(word[k], TEXT, "%s", head[k]);
    if (!row)
        return;
    const struct bench_subject *const s = &row->subject;
    const bool usual = s->arithmetic == precision_computed(s->storage);
    snprintf(word[0], TEXT, "%s", bench_cases[s->which]);
    bench_cells_text(s->cells, word[1], TEXT);
    snprintf(word[2], TEXT, "%s", key_collisions[s->collision]);
    snprintf(word[3], TEXT, "%s%s%s", precision_name(s->storage), usual ? "" : "/",
             usual ? "" : precision_name(s->arithmetic));
}

/* Prints the words of a row or of the head, in columns as wide as all rows need. */
static void print_words(const struct bench_row *rows, int count, const struct bench_row *row)
{
    char word[WORDS][TEXT], other[WORDS][TEXT];
    size_t width[WORDS] = {0};
    for (int k = -1; k < count; k++) {
        words_of(k < 0 ? NULL : &rows[k], other);
        for (int w = 0; w < WORDS; w++)
            width[w] = strlen(other[w]) > width[w] ? strlen(other[w]) : width[w];
    }
    words_of(row, word);
    for (int w = 0; w < WORDS; w++)
        printf("%s%-*s", w ? " " : "", (int)width[w], word[w]);
}

/* Prints text in lines that fit, all indented. */
static void __attribute__((format(printf, 2, 3))) print_wrapped(int indent, const char *format, ...)
{
    char text[1024];
    int at = 0;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
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

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void print_host(const struct bench *b)
{
    const struct bench_host *const h = &b->host;
    print_wrapped(0, "tagflow %s, commit %s, %s, %s", TAGFLOW_VERSION, TAGFLOW_COMMIT,
                  TAGFLOW_COMPILER, h->mpi);
    print_wrapped(0, "%s; %s, %d core%s%s", h->device, h->processor, h->cores, plural(h->cores),
                  h->hosts > 1 ? " a host" : "");
    print_wrapped(0, "%d rank%s on %d host%s, %d thread%s each; medians of %d repeat%s", h->ranks,
                  plural(h->ranks), h->hosts, plural(h->hosts), h->threads, plural(h->threads),
                  b->options->repeat, plural(b->options->repeat));
}

/* The row of the periodic box with which row `at` is compared, measured or not; NULL: none. */
static const struct bench_row *box_of(const struct bench_row *rows, int count, int at)
{
    const struct bench_subject *const s = &rows[at].subject;
    for (int k = 0; k < count && s->which != BENCH_CASE_periodic; k++) {
        const struct bench_subject *const box = &rows[k].subject;
        if (box->which == BENCH_CASE_periodic && box->collision == s->collision &&
            box->storage == s->storage && box->arithmetic == s->arithmetic &&
            memcmp(box->cells, s->cells, sizeof s->cells) == 0)
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

void table_head(const struct bench *b, const struct bench_row *rows, int count)
{
    print_host(b);
    putchar('\n');
    print_words(rows, count, NULL);
    printf(" MLUPS (least-most) MFLUPS%s   GB/s share B/fluid sweep\n",
           has_boxes(rows, count) ? "   box" : "");
    fflush(stdout);
}

/* A rate in MLUPS, from 1000 on in GLUPS with a G, in six characters at most. */
static void rate_text(double rate, char text[16])
{
    rate *= 1e-6;
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

void table_row(const struct bench_row *rows, int count, int at)
{
    const struct bench_row *const row = &rows[at];
    char median[16], least[16], most[16], fluid[16], range[40];
    print_words(rows, count, row);
    if (!row->verified) {
        printf(" not verified: no rate\n");
        print_wrapped(2, "%s", row->why);
        fflush(stdout);
        return;
    }
    rate_text(row->updates.median, median);
    rate_text(row->updates.least, least);
    rate_text(row->updates.most, most);
    rate_text(row->fluid.median, fluid);
    snprintf(range, sizeof range, "(%s-%s)", least, most);
    printf(" %5s %-12s %6s", median, range, fluid);
    if (has_boxes(rows, count))
        print_part(row, box_of(rows, count, at));
    printf(" %6.1f %4.0f%% %7.1f %5d\n", 1e-9 * row->fluid.median * row->bytes_per_update,
           100 * row->share.median, row->bytes_per_fluid, row->sweep);
    fflush(stdout);
}

/* Properties that some verified rows have. */
struct some {
    bool seams, joules, swept, smaller;
};

static struct some some_of(const struct bench_row *rows, int count)
{
    struct some some = {0};
    for (const struct bench_row *row = rows; row < rows + count; row++) {
        if (!row->verified)
            continue;
        some.seams |= row->phases[PHASE_seam] > 0;
        some.joules |= isfinite(row->joules) != 0;
        some.swept |= row->sweep > 1;
        some.smaller |= row->levels == 1 && memcmp(row->verified_cells, row->subject.cells,
                                                   sizeof row->subject.cells) != 0;
    }
    return some;
}

/* Prints the time of each phase in percent of a step. */
static void print_phases(const struct bench_row *rows, int count, struct some some)
{
    static const struct {
        enum phase phase;
        const char *name;
    } shown[] = {{PHASE_interior, "inner"}, {PHASE_shell, "shell"},  {PHASE_pack, "pack"},
                 {PHASE_exchange, "exch"},  {PHASE_unpack, "unpck"}, {PHASE_wait, "wait"},
                 {PHASE_seam, "seam"}};
    const size_t columns = sizeof shown / sizeof *shown - (some.seams ? 0 : 1);
    putchar('\n');
    print_words(rows, count, NULL);
    for (size_t i = 0; i < columns; i++)
        printf(" %5s", shown[i].name);
    printf(" %6s%s%s\n", "imbal.", some.swept ? "   of T" : "", some.joules ? "  J/GLU" : "");
    for (const struct bench_row *row = rows; row < rows + count; row++) {
        if (!row->verified)
            continue;
        print_words(rows, count, row);
        for (size_t i = 0; i < columns; i++)
            printf(" %4.0f%%", 100 * row->phases[shown[i].phase] / row->phases[PHASE_step]);
        printf(" %6.3f", row->imbalance);
        if (some.swept)
            printf(" %5.0f%%", 100 * row->share.median / row->sweep);
        if (some.joules && isfinite(row->joules))
            printf(" %6.2f", row->joules);
        putchar('\n');
    }
}

/* Prints for each size of rock its porosity, which all operators and precisions share. */
static void print_rocks(const struct bench_row *rows, int count)
{
    const int *last = NULL;
    for (const struct bench_row *row = rows; row < rows + count; row++) {
        const int *const n = row->subject.cells;
        const struct bench_rock rock = bench_rock(&row->subject);
        char cells[TEXT];
        if (row->subject.which != BENCH_CASE_rock || !row->verified ||
            (last && memcmp(last, n, sizeof row->subject.cells) == 0))
            continue;
        last = n;
        bench_cells_text(n, cells, sizeof cells);
        print_wrapped(0, "Rock of %s: porosity %.4f (asked for: %g), spheres of radius %.4g cells.",
                      cells, bench_porosity(row), rock.porosity, rock.radius);
    }
}

void table_tail(const struct bench_row *rows, int count)
{
    const struct some some = some_of(rows, count);
    const struct bench_row *right = rows;
    while (right < rows + count && !right->verified)
        right++;
    if (right == rows + count)
        return;
    print_phases(rows, count, some);
    putchar('\n');
    print_rocks(rows, count);
    print_wrapped(
        0,
        "MLUPS: million cells updated a second (G: GLUPS, 1000 MLUPS); MFLUPS: fluid cells "
        "alone%s, of which GB/s (19 populations read and written and a tag: %.0f bytes in %s) and "
        "the share of the ceiling (%s) measured beside each repeat. B/fluid: bytes of memory for a "
        "fluid cell. Phases: hundredths of a step's time, mean of ranks; the exchange and the "
        "interior overlap.",
        has_boxes(rows, count) ? " (box: as a part of the periodic box's)" : "",
        right->bytes_per_update, precision_name(right->subject.storage), right->way);
    if (some.swept)
        print_wrapped(
            0, "Sweep: T steps in one sweep over memory (run.sweep). The ceiling has one step a "
               "sweep, so the share may exceed 100 %%; T times the ceiling is a limit, of T is the "
               "share of it.");
    print_wrapped(
        0,
        "Verified: the steps of every %s; state finite, mass kept, or density and flow near what "
        "is "
        "given at open faces and interpolated surfaces. The rules of these in the plain steps are "
        "the program's own, for one cell at a time. The plain step has one level: steps of the "
        "case refined are not compared.",
        some.smaller ? "case compared with plain ones, bit for bit, large ones on a smaller grid"
                     : "row compared with plain ones, bit for bit, before its repeats and after");
}
