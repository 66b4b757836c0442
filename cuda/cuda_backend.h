/* State of the CUDA backend, for its own files. */
#ifndef TAGFLOW_CUDA_BACKEND_H
#define TAGFLOW_CUDA_BACKEND_H

#include <cuda_runtime_api.h>

#include "kernels.h"
#include "solver/backend.h"

enum { ARRAYS = 13 }; /* at most, that `prepare` uploads */

/* In blocks of so many cells those in lists and beside open boundaries are stepped beside the
 * others. In smaller ones the events, some microseconds a step, may cost more than that gains: an
 * estimate, not measured yet. */
#ifndef CUDA_BESIDE
#define CUDA_BESIDE (1 << 20)
#endif

/* A second stream of a queue. Cells of one step may be stepped in any order: those that take long,
 * but are few, run in this stream beside the step that is launched next. */
struct cuda_beside {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    struct cuda_backend
        *user;    /* it runs beside the next step of this backend; NULL: nothing runs */
    bool stepped; /* that step was launched */
};

/* Shared by all backends of a run: queues, and a failure in one is a failure in all. */
struct cuda_shared {
    cudaStream_t stream[QUEUES]; /* see stream_of */
    struct cuda_beside beside[QUEUES];
    cudaEvent_t order[QUEUES];       /* events recorded for `after` */
    uint64_t put[QUEUES];            /* how often a queue was given something, waits included */
    uint64_t waited[QUEUES][QUEUES]; /* put[k] when the queue was last told to wait for queue k */
    cudaError_t error;               /* first error */
    const char *failed;              /* what failed */
    bool told;                       /* the error was reported */
    struct cuda_backend *users;      /* a list */
};

struct cuda_backend {
    struct backend base;
    struct cuda_shared *shared;
    struct cuda_backend *next; /* user of the same */
    struct cuda_variant variant;
    const void *step;          /* step kernel for the operators of the case */
    int step_cells;            /* cells along x that its thread does */
    const void *open_step;     /* the same beside open boundaries */
    bool open;                 /* the case has open boundaries */
    bool other;                /* it takes the kernels for these, or for scalars or resistance */
    bool lift;                 /* the rows of the next view, if they can be lifted */
    bool large;                /* the block has CUDA_BESIDE cells or more */
    struct box closed;         /* cells that no open boundary touches */
    const void *array[ARRAYS]; /* arrays of the view, kinds and `cells`, on the device */
    int arrays;
    const uint32_t *cells;   /* of cuda_call; NULL: all cells have places */
    struct cell_kinds kinds; /* of the cells */
    unsigned *plane;         /* [n[2] + 1] the first place of each plane of cells */
    unsigned char uuid[16];
    struct nvml *nvml; /* NULL: nothing is known of energy, clocks and driver */
    cudaEvent_t begin[PHASES][PHASE_SEAM_PARTS], end[PHASES][PHASE_SEAM_PARTS];
    int timed[PHASES];      /* how often a phase began */
    double seconds[PHASES]; /* of phases on the host */
};

/* Remembers the first error until `wait` reports it: launches and copies return nothing. Returns
 * whether there is none. what: for the message. */
bool cuda_good(struct cuda_backend *b, cudaError_t error, const char *what);

/* The queue's stream, for work behind all that was launched. */
cudaStream_t stream_of(struct cuda_backend *b, enum queue queue);

/* False: an error, or a peer is lost. */
bool launch_kernel(struct cuda_backend *b, cudaStream_t stream, const void *kernel, dim3 grid,
                   dim3 block, struct cuda_call *call);

/* `launch` of backend_type. */
void cuda_launch(struct backend *backend, enum queue queue, enum kernel kernel,
                 const struct view *v, const struct work *work, int count);

#endif
