/* Variants of the fused step of a GPU: how cells lie in a row, how a cell learns of its links, and
 * how it loads and stores. The physics is cell_collide; walls are at rest, and cells that are not
 * fluid are half-way walls. nvcc and g++ compile the same source; variants.cu compares the bits
 * with cell_step and measures the rates.
 *
 * A lifted row of n = K L cells is K lines of L cells: cell x lies in line x % K, at place x / K.
 * The neighbour at x + 1 has the same place in the next line, so accesses along x are whole lines;
 * only in the last of K lines they are shifted by one cell. Ghost cells are behind the row: x = n,
 * then x = -1.
 *
 *   x = 0  K  2K  ...  | 1  K+1  2K+1  ... | ... | K-1  2K-1  ...  n-1 | n  -1 */
#ifndef TAGFLOW_VARIANT_STEP_H
#define TAGFLOW_VARIANT_STEP_H

#include "cell.h"
#include "touched.h"
#if TAGFLOW_STORAGE == 16
#include "cell_two.h"
#endif

enum { ROWS_plain, ROWS_lifted };

/* How a cell learns what it is.
 * tags:  its tag, then the tags of 18 neighbours if it is beside a wall
 * kinds: a byte, the number of a kind: cell type and links
 * lines: the same; one byte for 32 cells if they are alike, else a byte for each */
enum { KNOWN_tags, KNOWN_kinds, KNOWN_lines };

/* Where the population of a link from a wall is.
 * other:  in the other slot of its pair: a second load
 * stored: where links from fluid are loaded: the cell stores there what leaves into the wall */
enum { WALLS_other, WALLS_stored };

/* When populations are loaded.
 * late:  when it is known that the cell is stepped
 * early: at once; the assembler may move the exit of other cells before the loads
 * held:  at once; the exit depends on all values, so it cannot be moved */
enum { LOADS_late, LOADS_early, LOADS_held };

/* Where the relaxation rates of a cell are: in the table of cell types, or in the argument, as all
 * cells are of one type. */
enum { RATES_table, RATES_argument };

/* Hints of loads and stores, as PTX names them; lu: loads alone, wt: stores alone. */
enum { HINT_none, HINT_cs, HINT_no_allocate, HINT_evict_first, HINT_lu, HINT_wt };

struct way {
    int rows, known, walls, loads, rates, load_hint, store_hint;
    int cells; /* cells a thread, 1 or 2 */
};

enum {
    LINE = 32,        /* cells that share a byte of line_kinds */
    LINE_MIXED = 255, /* a byte of line_kinds: they are not alike */
};

/* Argument of a launch. */
struct variant_call {
    struct view view; /* of lifted rows: row, plane, origin; x is the position in the row */
    struct slots slots;
    struct cell_kinds kinds;   /* numbers of one byte */
    const uint8_t *line_kinds; /* [cells / LINE] */
    unsigned long long *sum;   /* of hashes */
    struct tag_row type;       /* RATES_argument */
    uint32_t zero;             /* 0, unknown to the compiler */
    int lines, places;         /* K and L of lifted rows; 0: plain rows */
    int stored;                /* WALLS_stored */
    int odd;
#ifndef __CUDACC__
    int wrong; /* number of the mutant, 0: none */
#endif
};

/* Errors on purpose: variants.py wants each to be noticed. Only in g++'s build. */
#ifdef __CUDACC__
#define MUTANT(number, right, other) (right)
#else
#define MUTANT(number, right, other) (c->wrong == (number) ? (other) : (right))
enum { MUTANTS = 15 };
#endif

/* ---- what the accesses of a warp touch ---- */

/* Numbers of accesses of a step: X_site + direction. The halves of a split store count apart. */
enum {
    SITE_what = 0,
    SITE_neighbours = 8,
    SITE_load = 32,
    SITE_other = 64,
    SITE_store = 96,
    SITE_second = 128,
    SITE_wall = 160,
    SITES = 192
};

/* A warp's accesses by site. Both halves of a split load are of one site: the second half finds its
 * lines in L1. */
struct trace {
    struct accesses site[SITES];
};
static struct trace *tracing; /* NULL: nothing is counted */

/* Counts an access, on the host alone. */
TAGFLOW_FN void traced(int site, const void *at, int bytes)
{
#ifndef __CUDA_ARCH__
    if (tracing)
        accesses_add(&tracing->site[site], at, bytes);
#else
    (void)site, (void)at, (void)bytes;
#endif
}

/* ---- populations of one or two cells ---- */

#if TAGFLOW_STORAGE == 16
struct word {
    uint32_t both; /* cell p in the low half */
};
TAGFLOW_FN number word_raw(struct word w, int k)
{
    return pair_half(w.both, k);
}
TAGFLOW_FN struct word word_of(number low, number high, int cells)
{
    const struct word w = {cells == 2 ? pair_of(low, high) : stored_raw(low).bits};
    return w;
}
TAGFLOW_FN stored word_part(struct word w, int k)
{
    const stored s = {(uint16_t)(w.both >> 16 * k)};
    return s;
}
TAGFLOW_FN struct word word_join(stored low, stored high, int cells)
{
    const struct word w = {low.bits | (cells == 2 ? (uint32_t)high.bits << 16 : 0)};
    return w;
}
/* `from` in the cells of the mask. */
TAGFLOW_FN struct word word_merge(struct word to, struct word from, int low, int high)
{
    const uint32_t mask = (low ? 0xffffu : 0) | (high ? 0xffff0000u : 0);
    const struct word w = {(to.both & ~mask) | (from.both & mask)};
    return w;
}
#else
struct word {
    stored at[2];
};
TAGFLOW_FN number word_raw(struct word w, int k)
{
    return raw_of(w.at[k]);
}
TAGFLOW_FN struct word word_of(number low, number high, int cells)
{
    const struct word w = {{stored_raw(low), cells == 2 ? stored_raw(high) : 0}};
    return w;
}
TAGFLOW_FN stored word_part(struct word w, int k)
{
    return w.at[k];
}
TAGFLOW_FN struct word word_join(stored low, stored high, int cells)
{
    const struct word w = {{low, cells == 2 ? high : 0}};
    return w;
}
TAGFLOW_FN struct word word_merge(struct word to, struct word from, int low, int high)
{
    const struct word w = {{low ? from.at[0] : to.at[0], high ? from.at[1] : to.at[1]}};
    return w;
}
#endif

/* The word is loaded before this line. */
TAGFLOW_FN void word_forget(struct word *w, int cells)
{
#if TAGFLOW_STORAGE == 16
    (void)cells;
    TAGFLOW_FORGET(w->both);
#else
    for (int k = 0; k < cells; k++)
        TAGFLOW_FORGET_REAL(w->at[k]);
#endif
}

/* Some bits of a word, which depend on its load. */
TAGFLOW_FN uint32_t word_bits(struct word w)
{
#if TAGFLOW_STORAGE == 16
    return w.both;
#elif TAGFLOW_STORAGE == 32
    return float_bits(w.at[0]);
#elif defined __CUDA_ARCH__
    return (uint32_t)__double2loint(w.at[0]);
#else
    return w.at[0] > 0;
#endif
}

#ifdef __CUDA_ARCH__
/* Policy of the L2 cache: its lines are evicted first. */
static __device__ __forceinline__ uint64_t evict_first(void)
{
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* PTX's types of one and two populations, and a word as operands. */
#if TAGFLOW_STORAGE == 16
#define ONE_TYPE ".u16"
#define TWO_TYPE ".u32"
#define ONE_OUT(s) "=h"((s).bits)
#define ONE_IN(s) "h"((s).bits)
#define TWO_OUT(w) "=r"((w).both)
#define TWO_IN(w) "r"((w).both)
#else
#if TAGFLOW_STORAGE == 32
#define ONE_TYPE ".f32"
#define LETTER "f"
#else
#define ONE_TYPE ".f64"
#define LETTER "d"
#endif
#define TWO_TYPE ".v2" ONE_TYPE
#define ONE_OUT(s) "=" LETTER(s)
#define ONE_IN(s) LETTER(s)
#define TWO_OUT(w) "=" LETTER((w).at[0]), "=" LETTER((w).at[1])
#define TWO_IN(w) LETTER((w).at[0]), LETTER((w).at[1])
#endif
/* Operand k of a word, of which the last is followed by address and policy. */
#if TAGFLOW_STORAGE == 16
#define LOAD_PAIR "%0, [%1]"
#define STORE_PAIR "[%0], %1"
#define LAST "%2"
#else
#define LOAD_PAIR "{%0, %1}, [%2]"
#define STORE_PAIR "[%0], {%1, %2}"
#define LAST "%3"
#endif

/* How: a hint of the instruction. */
#define LOAD_ONE(how) asm volatile("ld.global" how ONE_TYPE " %0, [%1];" : ONE_OUT(s) : "l"(p))
#define LOAD_TWO(how) asm volatile("ld.global" how TWO_TYPE " " LOAD_PAIR ";" : TWO_OUT(w) : "l"(p))
#define STORE_ONE(how)                                                                             \
    asm volatile("st.global" how ONE_TYPE " [%0], %1;" ::"l"(p), ONE_IN(s) : "memory")
#define STORE_TWO(how)                                                                             \
    asm volatile("st.global" how TWO_TYPE " " STORE_PAIR ";" ::"l"(p), TWO_IN(w) : "memory")
/* The same with the policy. */
#define WITH_POLICY ".L2::cache_hint"
#define POLICY "l"(evict_first())
#define LOAD_ONE_POLICY                                                                            \
    asm volatile("ld.global" WITH_POLICY ONE_TYPE " %0, [%1], %2;" : ONE_OUT(s) : "l"(p), POLICY)
#define LOAD_TWO_POLICY                                                                            \
    asm volatile("ld.global" WITH_POLICY TWO_TYPE " " LOAD_PAIR ", " LAST ";"                      \
                 : TWO_OUT(w)                                                                      \
                 : "l"(p), POLICY)
#define STORE_ONE_POLICY                                                                           \
    asm volatile("st.global" WITH_POLICY ONE_TYPE " [%0], %1, %2;" ::"l"(p), ONE_IN(s), POLICY     \
                 : "memory")
#define STORE_TWO_POLICY                                                                           \
    asm volatile("st.global" WITH_POLICY TWO_TYPE " " STORE_PAIR ", " LAST ";" ::"l"(p),           \
                 TWO_IN(w), POLICY                                                                 \
                 : "memory")

/* The access with the hint; only one is compiled. */
#define BY_HINT(ACCESS)                                                                            \
    do {                                                                                           \
        if (hint == HINT_cs)                                                                       \
            ACCESS(".cs");                                                                         \
        else if (hint == HINT_no_allocate)                                                         \
            ACCESS(".L1::no_allocate");                                                            \
        else if (hint == HINT_lu)                                                                  \
            ACCESS(".lu");                                                                         \
        else if (hint == HINT_wt)                                                                  \
            ACCESS(".wt");                                                                         \
        else if (hint == HINT_evict_first)                                                         \
            ACCESS##_POLICY;                                                                       \
        else                                                                                       \
            ACCESS("");                                                                            \
    } while (0)
#endif

TAGFLOW_FN stored load_one(const stored *p, int hint, int site)
{
    traced(site, p, (int)sizeof *p);
#ifdef __CUDA_ARCH__
    stored s;
    BY_HINT(LOAD_ONE);
    return s;
#else
    (void)hint;
    return *p;
#endif
}

TAGFLOW_FN void store_one(stored *p, stored s, int hint, int site)
{
    traced(site, p, (int)sizeof *p);
#ifdef __CUDA_ARCH__
    BY_HINT(STORE_ONE);
#else
    (void)hint;
    *p = s;
#endif
}

/* The populations of `cells` cells side by side, the first at a multiple of `cells`. */
TAGFLOW_FN struct word load_word(const stored *p, int hint, int cells, int site)
{
    if (cells == 1)
        return word_join(load_one(p, hint, site), word_part(word_of(0, 0, 2), 1), 1);
    traced(site, p, 2 * (int)sizeof *p);
#ifdef __CUDA_ARCH__
    struct word w;
    BY_HINT(LOAD_TWO);
    return w;
#else
    return word_join(p[0], p[1], 2);
#endif
}

TAGFLOW_FN void store_word(stored *p, struct word w, int hint, int cells, int site)
{
    if (cells == 1) {
        store_one(p, word_part(w, 0), hint, site);
        return;
    }
    traced(site, p, 2 * (int)sizeof *p);
#ifdef __CUDA_ARCH__
    BY_HINT(STORE_TWO);
#else
    p[0] = word_part(w, 0);
    p[1] = word_part(w, 1);
#endif
}

/* ---- rows ---- */

/* Position of owned cell x in its row. */
TAGFLOW_FN int row_position(const struct variant_call *c, int x)
{
    return c->lines ? x % c->lines * c->places + x / c->lines : x;
}

/* Index of an owned cell, or of one at most one cell beyond the block. */
TAGFLOW_FN cell_index row_index(const struct variant_call *c, int x, int y, int z)
{
    const struct view *const v = &c->view;
    if (!c->lines)
        return view_index(v, x, y, z);
    x = view_wrap(v, 0, x);
    const int p = x < 0 ? v->n[0] + 1 : x >= v->n[0] ? v->n[0] : row_position(c, x);
    return owned_index(v, p, view_wrap(v, 1, y), view_wrap(v, 2, z));
}

/* Index differences from the cell at position p of row (y, z) to its neighbours. */
TAGFLOW_FN struct around row_around(const struct variant_call *c, int rows, int p, int y, int z)
{
    const struct view *const v = &c->view;
    struct around a = around(v, p, y, z);
    if (rows == ROWS_lifted) {
        const int L = c->places, n = v->n[0], last = L * (c->lines - 1);
        const int end = v->ghost[0] ? 1 : MUTANT(2, 1 - n, 2 - n);
        const int begin = v->ghost[0] ? n + 1 : n - 1;
        a.up[0] = (cell_index)(p < last ? L : p == n - 1 ? end : MUTANT(1, 1 - last, -last));
        a.down[0] = (cell_index)(p >= L ? -L : p == 0 ? begin : MUTANT(3, last - 1, last));
    }
    return a;
}

/* ---- the step ---- */

/* Where a thread's cells are. */
struct spot {
    struct around a;
    cell_index n;
    cell_index second; /* from n to the second cell's neighbour at x + 1 */
    int split;         /* the neighbours at x + 1 of two cells are no word */
};

TAGFLOW_FN struct spot spot_of(const struct variant_call *c, int p, int y, int z, struct way way)
{
    struct spot s;
    s.a = row_around(c, way.rows, p, y, z);
    s.n = owned_index(&c->view, p, y, z);
    s.second = s.split = 0;
    if (way.cells == 2) {
        const struct around b = row_around(c, way.rows, p + 1, y, z);
        s.second = MUTANT(4, b.up[0] + 1, b.up[0]);
        s.split = way.rows == ROWS_plain || p >= c->places * (c->lines - 1);
    }
    return s;
}

/* Populations from these slots, site + direction. */
TAGFLOW_FN void words_load(stored *const *own, stored *const *next, const struct spot *s,
                           struct way way, int hint, int site, struct word f[Q])
{
#define X(i, j, cx, cy, cz, weight)                                                                \
    f[i] = load_word(own[i / 2] + s->n, hint, way.cells, site + (i));                              \
    if (way.cells == 1 || cx == 0)                                                                 \
        f[j] = load_word(next[i / 2] + (cell_index)(s->n + neighbour(&s->a, cx, cy, cz)), hint,    \
                         way.cells, site + (j));
    PAIR_LIST(X)
#undef X
    if (way.cells == 1)
        return;
    if (s->split) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx) {                                                                                      \
        const cell_index off = s->n + neighbour(&s->a, 0, cy, cz);                                 \
        const stored low =                                                                         \
            load_one(next[i / 2] + (cell_index)(off + s->a.up[0]), hint, site + (j));              \
        const stored high =                                                                        \
            load_one(next[i / 2] + (cell_index)(off + s->second), hint, site + (j));               \
        f[j] = word_join(low, high, 2);                                                            \
    }
        PAIR_LIST(X)
#undef X
    } else {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx)                                                                                        \
        f[j] = load_word(next[i / 2] + (cell_index)(s->n + neighbour(&s->a, cx, cy, cz)), hint, 2, \
                         site + (j));
        PAIR_LIST(X)
#undef X
    }
}

TAGFLOW_FN void words_store(const struct variant_call *c, stored *const *own, stored *const *next,
                            const struct spot *s, struct way way, const struct word f[Q])
{
    const int hint = way.store_hint;
#define X(i, j, cx, cy, cz, weight)                                                                \
    store_word(own[i / 2] + s->n, f[MUTANT(11, j, (j) == 8 ? 7 : (j))], hint, way.cells,           \
               SITE_store + (j));                                                                  \
    if (way.cells == 1 || cx == 0)                                                                 \
        store_word(next[i / 2] + (cell_index)(s->n + neighbour(&s->a, cx, cy, cz)), f[i], hint,    \
                   way.cells, SITE_store + (i));
    PAIR_LIST(X)
#undef X
    (void)c;
    if (way.cells == 1)
        return;
    if (s->split) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx) {                                                                                      \
        const cell_index off = s->n + neighbour(&s->a, 0, cy, cz);                                 \
        store_one(next[i / 2] + (cell_index)(off + s->a.up[0]), word_part(f[i], MUTANT(12, 0, 1)), \
                  hint, SITE_store + (i));                                                         \
        store_one(next[i / 2] + (cell_index)(off + s->second), word_part(f[i], MUTANT(12, 1, 0)),  \
                  hint, SITE_second + (i));                                                        \
    }
        PAIR_LIST(X)
#undef X
    } else {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (cx)                                                                                        \
        store_word(next[i / 2] + (cell_index)(s->n + neighbour(&s->a, cx, cy, cz)), f[i], hint, 2, \
                   SITE_store + (i));
        PAIR_LIST(X)
#undef X
    }
}

/* What is known of a thread's cells. */
struct known {
    int type[2];
    uint32_t links[2]; /* bit i: link i comes from a wall */
    uint32_t swept;    /* bit k: cell k is stepped */
};

/* The bytes that say what the cells are: tags or numbers of kinds, of cell p in the low byte. */
TAGFLOW_FN uint32_t known_load(const struct variant_call *c, cell_index n, struct way way)
{
    const uint8_t *const bytes = way.known == KNOWN_tags ? c->view.tags + n
                                 : way.known == KNOWN_kinds
                                     ? (const uint8_t *)c->kinds.number + n
                                     : c->line_kinds + MUTANT(14, n, n + LINE) / LINE;
    const int cells = way.known == KNOWN_lines ? 1 : way.cells;
    traced(SITE_what, bytes, cells);
    if (cells == 1)
        return *bytes;
#ifdef __CUDA_ARCH__
    return *(const uint16_t *)bytes;
#else
    return bytes[0] | (uint32_t)bytes[1] << 8;
#endif
}

TAGFLOW_FN uint32_t links_of_tags(const struct variant_call *c, struct way way, int p, int y, int z)
{
    const struct around a = row_around(c, way.rows, p, y, z);
    const cell_index n = owned_index(&c->view, p, y, z);
    const uint8_t *const tags = c->view.tags;
#define X(i, j, cx, cy, cz, weight)                                                                \
    traced(SITE_neighbours + (i), tags + (cell_index)(n + neighbour(&a, -(cx), -(cy), -(cz))), 1); \
    traced(SITE_neighbours + (j), tags + (cell_index)(n + neighbour(&a, cx, cy, cz)), 1);
    PAIR_LIST(X)
#undef X
    (void)tags;
    return kind_by_tags(&c->view, n, &a) & KIND_LINKS;
}

TAGFLOW_FN struct known known_of(const struct variant_call *c, uint32_t what, int p, int y, int z,
                                 struct way way)
{
    struct known known = {{0, 0}, {0, 0}, 0};
    if (way.known == KNOWN_lines && MUTANT(8, what == LINE_MIXED, 0)) {
        struct way each = way;
        each.known = KNOWN_kinds;
        what = known_load(c, owned_index(&c->view, p, y, z), each);
    } else if (way.known == KNOWN_lines && way.cells == 2)
        what |= what << 8;
    for (int k = 0; k < way.cells; k++) {
        const int byte = what >> 8 * k & 0xff;
        if (way.known == KNOWN_tags) {
            known.type[k] = byte & TAG_ROW;
            known.swept |= (uint32_t)type_in(&c->view.swept, byte) << k;
            if (byte & TAG_BESIDE)
                known.links[k] = links_of_tags(c, way, p + k, y, z);
        } else {
            const uint32_t kind = c->kinds.at_hand[byte].is;
            known.type[k] = kind >> KIND_TYPE & TAG_ROW;
            known.swept |= (uint32_t)((kind & KIND_SWEPT) != 0) << k;
            known.links[k] = kind & MUTANT(5, (1u << Q) - 2, (1u << 18) - 2);
        }
    }
    return known;
}

/* The step of the cells at position p of row (y, z), p a multiple of way.cells. Of two cells that
 * are not both stepped none is; returns bit k: cell k is to be stepped alone. */
TAGFLOW_FN uint32_t variant_cells(const struct variant_call *c, int p, int y, int z, struct way way)
{
    const struct view *const v = &c->view;
    stored *const *const own = (stored *const *)c->slots.own;
    stored *const *const next = (stored *const *)c->slots.next;
    stored *const rest = (stored *)c->slots.rest;
    const struct step_kind kind = step_kind(COLLISION_bgk, 0, 0, 0, 0, 0);
    const uint32_t all = way.cells == 2 ? 3 : 1;
    struct word f[Q], other[Q];
    struct spot s = spot_of(c, p, y, z, way);
    uint32_t what = known_load(c, s.n, way);
    struct known known;

    if (way.loads == LOADS_late) {
        TAGFLOW_BARRIER;
        known = known_of(c, what, p, y, z, way);
        if (known.swept != all)
            return known.swept;
    }
    f[0] = load_word(rest + s.n, way.load_hint, way.cells, SITE_load);
    words_load(own, next, &s, way, way.load_hint, SITE_load, f);
    for (int i = 0; i < Q; i++)
        word_forget(&f[i], way.cells);
    if (way.loads != LOADS_late) {
        if (way.loads == LOADS_held) {
            uint32_t bits = 0;
            for (int i = 0; i < Q; i++)
                bits |= word_bits(f[i]);
            what |= bits & c->zero;
        }
        known = known_of(c, what, p, y, z, way);
        if (known.swept != all)
            return MUTANT(9, known.swept, known.swept & 1);
    }
    if (way.walls == WALLS_other && way.cells == 2 && known.links[0] | known.links[1]) {
        /* All of the other slots at once, as words; then those of the links. */
        words_load(next, own, &s, way, HINT_none, SITE_other, other);
        for (int i = 1; i < Q; i++) {
            const int low = known.links[MUTANT(6, 0, 1)] >> i & 1, high = known.links[1] >> i & 1;
            word_forget(&other[i], 2);
            f[i] = word_merge(f[i], other[i], low, high);
        }
    }
    if (way.walls == WALLS_other && way.cells == 1 && known.links[0]) {
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (known.links[0] & 1u << (i))                                                                \
        f[i] = load_word(next[i / 2] + s.n, HINT_none, 1, SITE_other + (i));                       \
    if (known.links[0] & 1u << (j))                                                                \
        f[j] = load_word(own[i / 2] + (cell_index)(s.n + neighbour(&s.a, cx, cy, cz)), HINT_none,  \
                         1, SITE_other + (j));
        PAIR_LIST(X)
#undef X
    }
    real out[2][Q];
    TAGFLOW_UNROLL
    for (int k = 0; k < way.cells; k++) {
        const int at[3] = {p + k, y, z};
        real arrived[Q];
        for (int i = 0; i < Q; i++)
            arrived[i] = word_raw(f[i], k);
        const struct tag_row *const type = way.rates == RATES_argument
                                               ? MUTANT(15, &c->type, &v->rows[0])
                                               : &v->rows[known.type[k]];
        cell_collide(v, type, cell_parts(type), collision_parameters(v, type), at, kind, STORED_ONE,
                     arrived, out[k], NULL);
    }
    for (int i = 0; i < Q; i++)
        f[i] = word_of(out[0][i], out[MUTANT(10, way.cells - 1, 0)][i], way.cells);
    TAGFLOW_FORGET(p);
    TAGFLOW_FORGET(y);
    TAGFLOW_FORGET(z);
    s = spot_of(c, p, y, z, way);
    store_word(rest + s.n, f[0], way.store_hint, way.cells, SITE_store);
    words_store(c, own, next, &s, way, f);
    if (way.walls == WALLS_stored && known.links[0] | known.links[1])
        for (int k = 0; k < way.cells; k++) {
            const struct around b = row_around(c, way.rows, p + k, y, z);
            const cell_index n = s.n + (cell_index)k;
#define X(i, j, cx, cy, cz, weight)                                                                \
    if (known.links[k] & 1u << (i))                                                                \
        store_one(next[i / 2] + n, word_part(f[MUTANT(13, j, i)], k), HINT_none, SITE_wall + (i)); \
    if (known.links[k] & MUTANT(7, 1u << (j), 0u))                                                 \
        store_one(own[i / 2] + (cell_index)(n + neighbour(&b, cx, cy, cz)), word_part(f[i], k),    \
                  HINT_none, SITE_wall + (j));
            PAIR_LIST(X)
#undef X
        }
    return 0;
}

TAGFLOW_FN void variant_step(const struct variant_call *c, int p, int y, int z, struct way way)
{
    const uint32_t alone = variant_cells(c, p, y, z, way);
    struct way one = way;
    one.cells = 1;
    one.known = way.known == KNOWN_lines ? KNOWN_kinds : way.known;
    one.loads = LOADS_late;
    if (way.cells == 2) {
        TAGFLOW_ROLLED
        for (int k = 0; alone >> k; k++)
            if (alone >> k & 1)
                variant_cells(c, p + k, y, z, one);
    }
}

#endif
