/* The solver: populations of one rank's block, advanced in time. */
#ifndef TAGFLOW_SOLVER_H
#define TAGFLOW_SOLVER_H

#include "domain/domain.h"
#include "solver/backend.h"
#include "solver/halo.h"

struct solver {
    struct domain *domain;
    struct backend *backend;
    struct view view; /* for kernels, with the backend's arrays; domain->view has the host's */
    struct exchanges halo;
    int64_t step;         /* steps done */
    int64_t signal_step;  /* the step for which the view's signals are set; -1: none */
    const double *driven; /* acceleration of the flow-rate controller, in units of level 0; NULL:
                           * there is none */
    const double *held; /* density - 1 of openings, [openings], that the controller of shares holds;
                         * NULL: there is none */
    struct box shell[6], interior;
    int shells;
    int sweep;           /* most steps of a sweep over memory, the same on all ranks */
    bool listed;         /* a rank has cells that the list's kernel steps */
    void *buffer[2];     /* backend memory for pieces: one piece is in use, the next on its way */
    void *host[2];       /* copies on the host; equal to buffer[] if the backend uses host memory */
    size_t piece_cells;  /* most cells of a piece: a buffer has room for the populations of any set,
                          * or 4 doubles, in each of them */
    double *layers_host; /* copy of the view's layers, likewise */
    bool fetching;       /* a fetch is using the buffers */
    enum transport transport; /* of halos: device or host */
};

/* The case's requirements on the backend; share: several ranks may use one device. */
struct backend_wanted backend_wanted(const struct flow_case *c, MPI_Comm comm, bool share);

/* Allocates on the backend. All (shifted) populations are zero: fluid at rest. */
enum status solver_create(struct solver *s, struct domain *d, struct backend *b,
                          enum transport transport);
void solver_destroy(struct solver *s);

/* Waits for all work; reports and returns its errors. */
enum status solver_wait(struct solver *s);

/* Time functions at a step, from number 1 on. */
void solver_signals_at(const struct solver *s, int64_t step, double signal[SIGNALS]);
/* Sets the view's to their values in the next step; measurements before that step use them, too.
 * Kernels get the view by value, so a running kernel does not see the change. */
void solver_signals(struct solver *s);

/* Upper bound of a rank's backend memory in bytes: populations, tags, halo buffers and pieces. */
double solver_bytes(const struct domain *d);

/* Cuts a box into pieces that fit the buffers: piece 0, 1, ... in order of z, y. False: no more. A
 * piece is contiguous in a file of the box: whole lines along x. */
bool solver_piece(const struct solver *s, const struct box *box, int number, struct box *piece);

/* Canonical populations of a set in one piece, [q][cells of the piece], in the stored type. The
 * returned host memory is the solver's, valid until the next call; NULL when the backend failed. */
const void *solver_get(struct solver *s, int set, const struct box *piece);

/* The results of a kernel (flow, curl, or get for a set) in a box of any size, piece by piece in
 * the order of solver_piece. A piece is valid until the next call; the next piece is computed
 * meanwhile. Nothing else may use the buffers before fetch_end:
 *
 *   struct fetch f;
 *   for (fetch_start(&f, s, KERNEL_flow, &box); (flow = fetch_next(&f, &piece));)
 *       ...
 *   status = fetch_end(&f);  STATUS_MACHINE, reported, when the backend failed */
typedef bool fetch_cut(const void *how, int number, struct box *piece);
struct fetch {
    struct solver *solver;
    enum kernel kernel;
    int set; /* for get and scalar */
    struct box box, piece[2];
    fetch_cut *cut; /* gives the pieces; NULL: solver_piece cuts the box */
    const void *how;
    bool there[2]; /* a piece is on its way to host[k] */
    int number;    /* of the next piece to start */
    int at;        /* host[at] holds the next piece to return */
    enum status status;
};
void fetch_start(struct fetch *f, struct solver *s, enum kernel kernel, const struct box *box);
/* The same of a set, in a box or in those of `cut`, if not NULL: it gives piece 0, 1, .. until it
 * returns false. They must fit the buffers and must not be empty. */
void fetch_start_set(struct fetch *f, struct solver *s, enum kernel kernel, int set,
                     const struct box *box, fetch_cut *cut, const void *how);
const void *fetch_next(struct fetch *f, struct box *piece);
enum status fetch_end(struct fetch *f);

/* The partial results of a kernel of sums over a box or a range of a list that is not empty;
 * *workers: their number. task: the kernel's arguments. Memory and failure as solver_get. */
const void *solver_partials(struct solver *s, enum kernel kernel, const struct box *box,
                            struct task task, int *workers);

/* Launches a kernel that changes only memory from solver_alloc. On a GPU it may still be running on
 * return; all later work waits for it. task: arguments and buffer. */
void solver_launch(struct solver *s, enum kernel kernel, const struct box *box, struct task task);

/* Zeroed memory of the backend for `components` numbers of `bytes` in each of `cells` cells,
 * [components][cells]. NULL, reported: no room for `what`. */
void *solver_alloc(struct solver *s, size_t cells, int components, size_t bytes, const char *what);

/* Copies from such memory to the host, or from the host to it. STATUS_MACHINE, reported, when the
 * backend failed. */
enum status solver_copy_out(struct solver *s, void *to, const void *from, size_t bytes);
enum status solver_copy_in(struct solver *s, void *to, const void *from, size_t bytes);

/* Sets the populations of a piece: fill solver_host(s) in the layout of solver_get, then call
 * solver_put. */
void *solver_host(struct solver *s);
enum status solver_put(struct solver *s, int set, const struct box *piece);

/* Sets the populations of a scalar's set in a piece to the equilibrium of values in the flow: fill
 * solver_host(s) with a double a cell, then call this. */
enum status solver_put_scalar(struct solver *s, int set, const struct box *piece);

/* Density - 1 and velocity (half of a step's force included) of the state before the next step,
 * [cells of the piece][4], zeros where a cell is not fluid. Memory and failure as solver_get. */
const double *solver_flow(struct solver *s, const struct box *piece);

/* Values of a scalar's set before the next step, relative to its reference, [cells of the piece];
 * zeros where it is not held. Memory and failure as solver_get. */
const double *solver_scalar(struct solver *s, int set, const struct box *piece);

/* A flow from elsewhere: density - 1 and velocity of the block's cells and of a layer around them,
 * [z][y][x][4], lattice units. */
struct given_flow {
    int n[3]; /* cells, the layer included */
    double *value;
    /* Values of scalars in the same cells, relative to their references, [z][y][x]; NaN: the
     * initial value of the case, NULL: everywhere. */
    double *scalar[CASE_SCALARS];
    /* If the pressure in `value` balances another buoyancy than the case's: the factor on
     * `gravity` of its acceleration, [z][y][x]. NULL: the pressure fits. */
    double *lift, gravity[3];
};

/* Index of a cell of the block in these arrays. */
static inline size_t given_place(const struct given_flow *g, int x, int y, int z)
{
    const size_t nx = (size_t)g->n[0], ny = (size_t)g->n[1];
    return ((size_t)(z + 1) * ny + (size_t)(y + 1)) * nx + (size_t)(x + 1);
}

/* Makes the populations of a piece from an initial flow in memory of the backend. density: take
 * density - 1 from solver_host(s), a double a cell of the piece, not from the flow. */
enum status solver_begin(struct solver *s, const struct box *piece, const struct initial *in,
                         bool density);

/* Sets the initial flow of the case; formulas are in initial.h. given: use this flow instead, or
 * NULL. */
enum status solver_initialise(struct solver *s, const struct flow_case *c,
                              const struct given_flow *given);

/* Hash of all populations of a set in all fluid cells of all ranks (collective): the sum modulo
 * 2^64 over them of mix(bits ^ mix(q g + i + 1)), g the cell's global index, mix the splitmix64
 * finaliser. On level l of a refined grid g begins behind the indices of coarser levels: at the sum
 * of the cells of their boxes. */
enum status solver_hash(struct solver *s, int set, uint64_t *hash);

/* Contribution of one piece, as solver_get returns it, to that sum. */
uint64_t solver_piece_hash(const struct solver *s, int set, const struct box *piece,
                           const void *populations);

#endif
