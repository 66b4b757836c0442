/* The flow itself: populations of one rank's block, advanced in time. */
#ifndef TAGFLOW_SOLVER_H
#define TAGFLOW_SOLVER_H

#include "domain/domain.h"
#include "solver/backend.h"
#include "solver/drive.h"
#include "solver/halo.h"

struct solver {
    struct domain *domain;
    struct backend *backend;
    struct view view; /* the domain's, with populations */
    struct halo halo;
    int64_t step;        /* steps done */
    int64_t signal_step; /* the step for which the view's signals are set; -1: none */
    struct drive drive;  /* the flow-rate controller's */
    struct box shell[6], interior;
    int shells;
    void *buffer[2];    /* of the backend: pieces of get, put and flow, one used, one coming */
    void *host[2];      /* their copies on the host; the same where memory is the host's */
    size_t piece_cells; /* cells of a piece: buffers hold Q stored values or 4 doubles for each */
    double *layers;     /* of the backend: velocities beyond the block, of neighbours; see curl.h */
    double *layers_host;
    bool fetching;            /* a fetch has the buffers */
    enum transport transport; /* of halos: device or host */
};

/* Allocate on the backend; populations are all zero: fluid at rest. */
enum status solver_create(struct solver *s, struct domain *d, struct backend *b,
                          enum transport transport);
void solver_destroy(struct solver *s);

/* Advance by one step: shell, then exchange while the interior runs. On a GPU it may still be
 * under way when this returns; solver_wait waits for it, and whatever brings results to the host.
 * When the backend fails (STATUS_MACHINE, reported) the step is counted and messages are exchanged
 * all the same: ranks need agree on it only after as many steps as they agreed on. */
enum status solver_step(struct solver *s);
enum status solver_advance(struct solver *s); /* without the flow-rate controller */
enum status solver_wait(struct solver *s);

/* The same, done when it returns; adds the seconds that each of its phases took. */
enum status solver_step_timed(struct solver *s, double seconds[PHASES]);

/* Bytes of a rank's memory, populations, tags, halo buffers and pieces: on the backend, at most. */
double solver_bytes(const struct domain *d, enum precision storage);

/* Cut a box into pieces that fit the buffers; piece 0, 1, ... in order of z, y. False: no more.
 * Pieces are whole rows of the box, so that they are contiguous in a file. */
bool solver_piece(const struct solver *s, const struct box *box, int number, struct box *piece);

/* Canonical populations, [Q][cells of the piece], storage type; of one piece at a time. The
 * returned host memory is the solver's, valid until the next call; NULL when the backend failed. */
const void *solver_get(struct solver *s, const struct box *piece);

/* The results of a kernel (get or flow) for a box of any size, piece by piece in the order of
 * solver_piece: the next is on its way while one is used, which is valid until the next call.
 * Nothing else may use the buffers until it ends:
 *
 *   struct fetch f;
 *   for (fetch_start(&f, s, KERNEL_flow, &box); (flow = fetch_next(&f, &piece));)
 *       ...
 *   status = fetch_end(&f);  STATUS_MACHINE, reported, when the backend failed */
typedef bool fetch_cut(const void *how, int number, struct box *piece);
struct fetch {
    struct solver *solver;
    enum kernel kernel;
    struct box box, piece[2];
    fetch_cut *cut; /* what the pieces are instead of those of the box; or NULL */
    const void *how;
    bool there[2]; /* under way to host[k] */
    int number;    /* of the next piece to ask for */
    int at;        /* of the two, which is to be used next */
    enum status status;
};
void fetch_start(struct fetch *f, struct solver *s, enum kernel kernel, const struct box *box);
/* The same, but piece 0, 1, .. is what `cut` gives until it gives none: any boxes that are not
 * empty and fit the buffers. */
void fetch_start_by(struct fetch *f, struct solver *s, enum kernel kernel, fetch_cut *cut,
                    const void *how);
const void *fetch_next(struct fetch *f, struct box *piece);
enum status fetch_end(struct fetch *f);

/* The partial results of a kernel of sums over a box that is not empty, `bytes` each, and how many
 * workers left one. As solver_get. */
const void *solver_partials(struct solver *s, enum kernel kernel, const struct box *box,
                            size_t bytes, int *workers);
/* The same, of the body of that number (struct task). */
const void *solver_partials_of(struct solver *s, enum kernel kernel, const struct box *box,
                               int body, size_t bytes, int *workers);

/* Set them: fill solver_host(s) the same way, then put it. */
void *solver_host(struct solver *s);
enum status solver_put(struct solver *s, const struct box *piece);

/* Density - 1 and velocity (half of a step's force included) of the state before the next step,
 * [cells of the piece][4], zeros where a cell is not fluid. As solver_get. */
const double *solver_flow(struct solver *s, const struct box *piece);

/* The initial flow of the case; see initial.c for formulas. */
enum status solver_initialise(struct solver *s, const struct flow_case *c);

/* Hash of all populations of all fluid cells of all ranks (collective): the sum modulo 2^64 over
 * them of mix(bits ^ mix(19 g + i + 1)), g the cell's global index, mix the splitmix64 finaliser.
 */
enum status solver_hash(struct solver *s, uint64_t *hash);

/* What one piece, as solver_get gave it, contributes to that sum. */
uint64_t solver_piece_hash(const struct solver *s, const struct box *piece,
                           const void *populations);

#endif
