/* parity: every kernel of every variant of every backend beside the plain cell functions of
 * include/, bit for bit, with all memory that is not to change; and how long each takes.
 *
 *   parity.c          options, which variants there are, the report
 *   parity_expect.c   what is to come out, compiled once per precision
 *   parity_kernels.c  for each kernel: its buffer, which launches are tried, bytes it moves
 *   parity_seam.c     lists of a seam between two levels
 *   parity_ground.c   blocks of cells: layout, tags, states
 *   parity_check.c    launches against expectations
 *   parity_bench.c    times
 *
 * Memory of a backend is reached through its copies and kernels alone. */
#ifndef TAGFLOW_PARITY_H
#define TAGFLOW_PARITY_H

#include <jansson.h>

#include "kernel.h"
#include "solver/backend.h"

/* ---- what is to come out ---- */

struct expectation {
    int storage, arithmetic;
    /* On memory of the host: cell after cell of the box. */
    void (*kernel[KERNELS])(const struct view *, const struct work *);
};
extern const struct expectation *const expectations[]; /* NULL at the end */

/* ---- random numbers, the same everywhere ---- */

uint64_t random_bits(uint64_t *state);
int random_below(uint64_t *state, int n);
double random_uniform(uint64_t *state); /* -1 <= u < 1 */

/* ---- blocks of cells ---- */

/* The operators of the fluid rows; COLLISION_mixed: all of them, forced and not, with subgrid model
 * and without, with sponge and without. */
struct mixture {
    int collision;
    bool forced; /* all rows but the first */
    bool full;   /* subgrid models, likewise; and sponges */
    bool closed; /* no rule of an open boundary */
    bool sparse; /* populations only in lines of cells with fluid, as domain/sparse.h has it */
    int scalars; /* how many there are: up to SCALARS_MOST */
    bool one;    /* one scalar, which fluid cells alone hold */
};
/* Each operator plain, forced and full; mixed; the same again, full, with scalars; each operator
 * with one scalar. */
enum {
    MIXTURE_MIXED = 3 * COLLISIONS,
    MIXTURE_ONE = MIXTURE_MIXED + 1 + COLLISIONS + 1,
    MIXTURES = MIXTURE_ONE + COLLISIONS,
    SCALARS_MOST = 3
};
struct mixture mixture(int number); /* neither closed nor sparse; one scalar, or none */
const char *mixture_name(struct mixture);

/* How ghost cells and obstacles are laid out. */
enum scene {
    SCENE_random, /* obstacles, several fluids, a list; ghosts fluid, walls or both */
    SCENE_open,   /* fluid everywhere */
    SCENE_closed, /* fluid within, walls at rest all round */
    SCENE_body,   /* fluid, a ball in it that turns, and the list of the cells beside it */
};

struct ground {
    struct view view; /* without populations */
    size_t cells;     /* owned and ghost */
    uint8_t *tags;
    struct place_word *place, *link; /* the view's, NULL: all cells have populations */
    double *table;                   /* the view's */
    struct near_cell *near;
    float *crossing, *facing, *speed;
    size_t near_space; /* cells that there is room for, each with crossings of all links */
    struct tag_row rows[TAG_ROWS];
    struct scalar_row scalar[SCALARS_MOST * TAG_ROWS];
};

/* False: no memory. `bytes` of a stored population of the flow. */
bool ground_create(struct ground *g, const int n[3], const int ghost[3], struct mixture m,
                   enum scene scene, size_t bytes, uint64_t seed);
void ground_destroy(struct ground *g);
struct box ground_all(const struct ground *g);

/* An initial flow for `begin` in memory of the backend, [0], and of the host, [1]: of a kind and
 * settling or not by the seed. False: no memory. */
bool initial_create(struct initial *initial[2], struct backend *b, const struct view *v,
                    uint64_t seed);

/* What memory holds before a kernel runs. No NaN among them. */
#define STATE_LIST(X)                                                                              \
    X(random)     /* O(0.01) */                                                                    \
    X(denormal)   /* denormal numbers, the smallest normal ones, both zeros */                     \
    X(large)      /* O(1000) */                                                                    \
    X(cancelling) /* +-0.01 to a few units in the last place: differences are rounding alone */
enum state {
#define X(name) STATE_##name,
    STATE_LIST(X)
#undef X
        STATES
};
extern const char *const state_names[STATES];

/* `count` numbers of `bytes` each. */
void state_fill(void *memory, size_t count, size_t bytes, enum state state, uint64_t seed);

/* ---- kernels ---- */

/* Boxes in one go: the first `shell` in the queue of the shell, the others in that of the interior,
 * where both may run at once. Buffers are offsets until there is memory. */
struct launch {
    char what[48];
    int count, shell;
    struct work work[2 * WORK_MOST];
    size_t at[2 * WORK_MOST], bytes[2 * WORK_MOST]; /* of each buffer */
    size_t whole;                                   /* all buffers and what lies between them */
    uint64_t seed;                                  /* of lists */
};

enum { LAUNCHES_MOST = 32 };
struct plan {
    int count;
    struct launch launch[LAUNCHES_MOST];
};

struct kernel_test {
    const char *name, *model;               /* the bytes of `moved` in words */
    size_t (*element)(const struct view *); /* bytes of a number in its buffer; 1: there is none */
    size_t (*buffer)(const struct work *, const struct view *); /* bytes */
    double (*moved)(const struct work *, const struct view *);  /* bytes, from and to memory */
    void (*plan)(struct plan *, const struct ground *, uint64_t *random);
    /* Where a buffer need not be the same bytes everywhere: turn it into what has to be. NULL: as
     * it is. */
    void (*settle)(const struct work *, void *buffer);
};
extern const struct kernel_test kernel_tests[KERNELS]; /* from KERNEL_LIST */

/* Launches of a kernel on a block, buffers laid out. */
void plan_make(struct plan *p, enum kernel kernel, const struct ground *g, uint64_t seed);

/* The sender's last layer along `direction`, or the same cells among the receiver's ghosts. */
struct box message_box(const struct view *v, int direction, bool ghost);

/* ---- lists of a seam ---- */

/* Does the kernel go over such lists? They then lie in its work's buffer, of so many bytes, which
 * is not aligned. */
bool takes_seam(enum kernel);
size_t seam_bytes(const struct work *, const struct view *);
const struct seam_lists *seam_of(const void *buffer);

/* What numbers of the arithmetic are there: bytes of one, and their state. */
struct seam_numbers {
    size_t scalar;
    enum state state;
};

/* Writes the lists of a work of the launch into its buffer on the host, for use at `there`, which
 * is as far from a multiple of 8 bytes. `v` is the ground's view. */
void seam_fill(const struct launch *, int number, const struct view *v, const struct seam_numbers *,
               void *buffer, const void *there);

/* The same for measurements: the lists of a seam in planes across `axis`, in the order in which
 * programs make them. Four links read the same coarse population; a group ends four links. No wall
 * is met, and nothing is handed on. What kernels read and write are the bytes of seam_moved. */
void seam_fill_planes(const struct work *, const struct view *v, int axis, void *buffer,
                      const void *there);
double seam_moved(enum kernel, const struct work *, const struct view *, size_t scalar);

/* Makes buffers with the same lists the same, wherever they are for. */
void seam_settle(const struct work *, const struct view *v, const struct seam_numbers *,
                 void *buffer);

/* ---- variants ---- */

struct variant {
    const struct backend_type *type;
    const struct expectation *expect;
    enum isa isa;
    bool lifted;   /* rows, of blocks that allow it */
    char name[64]; /* "cpu x86-64-v3 fp32" */
};

enum status variant_open(struct backend **b, const struct variant *v, int threads);

/* One line for each kernel and state on stdout, and a row of `report` each. *failed counts the
 * lines that are not ok. STATUS_MACHINE, reported: the backend cannot go on. `quick`: a block or
 * two, no lines unless something fails. */
struct check {
    uint64_t seed;
    const int *cells; /* NULL: all sizes */
    int one_in;       /* one block of so many, at most of the 8 kinds of axes */
    int number;       /* of the variant: the next one tries the next blocks of all sizes */
    bool quick;
    bool first; /* ends at the first difference */
    json_t *report;
};
enum status check_variant(const struct variant *v, const struct check *c, int *failed);

struct bench {
    const int *cells; /* NULL: as large as suits the backend */
    double seconds;   /* for each kernel */
    const char *only; /* of this name, or "copy"; NULL: all */
    json_t *report;
};
enum status bench_variant(const struct variant *v, const struct bench *b);

#endif
